"""Interpolated precision averaged over recall levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures.interpolated_precision import ELEVEN_LEVELS, interpolate
from leadline.naming import Parameter, Spellings, choice, number, show


class Levels(Parameter):
    """Some recall levels, written as 0.25/0.5/0.75; `eleven` means 0, 0.1 .. 1."""

    def expected(self) -> str:
        """Say in words what is allowed."""
        return "eleven, or levels from 0 to 1 as in 0.25/0.5/0.75"

    def read(self, value: object) -> object:
        """Turn text or numbers into the text of the levels."""
        if isinstance(value, str):
            parts: Sequence[object] = value.split("/")
        else:
            parts = value if isinstance(value, (tuple, list)) else [value]
        if value == "eleven" or not parts:
            return "eleven"
        levels = [super(Levels, self).read(part) for part in parts]
        return "eleven" if tuple(levels) == ELEVEN_LEVELS else "/".join(map(show, levels))


def recall_levels() -> Any:
    """Declare a parameter that holds recall levels."""
    return Levels("eleven", kind=float, low=0.0, high=1.0)


class AvgIPrec(Measure):
    """Mean of the interpolated precision at some recall levels, by default the eleven.

    `rule` as for IPrec, without the printed ones.

    >>> round(AvgIPrec().of([1, 0, 1, 0, 0, 1]), 4)  # 1 at 0 .. 0.3, 2/3 at 0.4 .. 0.6, then 1/2
    0.7273
    """

    title = "interpolated precision averaged over recall levels"
    formula = "mean over levels of IPrec"
    source = "trec_eval 11pt_avg"
    spellings: ClassVar[Spellings] = {"11pt_avg": {"rule": "trec10"}, "iprec11": {}}

    rule: str = choice("standard", "trec9", "trec10")
    levels: str = recall_levels()
    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        levels = (
            ELEVEN_LEVELS if self.levels == "eleven" else list(map(float, self.levels.split("/")))
        )
        columns = interpolate(judged, levels, rule=self.rule, rel=self.rel)
        total: Floats = columns[:, ::-1].cumsum(axis=1)[:, -1]  # from the last level to the first
        return total / len(levels)
