"""Two runs query by query: who wins how many, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats
from leadline.statistics.effects import outcomes
from leadline.wording import counted

ABOVE, BELOW = 0, 4  # places in LOOKS: dark and light, so that they differ in grey


class Sides(NamedTuple):
    """How many differences are above zero, zero, below zero, and undefined."""

    above: int
    equal: int
    below: int
    undefined: int


def sides_of(differences: Floats) -> Sides:
    """Count the queries on both sides of zero; NaN is undefined.

    >>> sides_of(np.array([0.1, 0.0, -0.2, 0.3, np.nan]))
    Sides(above=2, equal=1, below=1, undefined=1)
    """
    wins, ties, losses = outcomes(differences[:, None])
    return Sides(int(wins[0]), int(ties[0]), int(losses[0]), int(np.isnan(differences).sum()))


def winners(first: str, second: str, measure: object) -> list[str]:
    """Give the run that wins where the first has the higher value, and the run that wins elsewhere.

    Of a measure whose low values are good (`measure.rising` is false) the higher value loses.

    >>> winners("bm25", "dense", "AP")
    ['bm25', 'dense']
    """
    return [first, second] if getattr(measure, "rising", True) else [second, first]


def for_run(count: int, name: str) -> str:
    """Say how many queries are for a run.

    >>> for_run(27, "bm25")
    '27 queries for bm25'
    """
    return f"{counted(count, 'query', 'queries')} for {name}"


def left_out(count: int) -> str:
    """Say how many queries are left out.

    >>> left_out(1)
    '1 query undefined in one of the two, left out'
    """
    return f"{counted(count, 'query', 'queries')} undefined in one of the two, left out"
