"""Which measures a sample can estimate: those that read nothing but ranks of documents of positive grade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.errors import UsageError
from leadline.histograms.strata import POSITIVE
from leadline.judged import Judged
from leadline.measures import Measure

# Lists that a measure must value alike with and without their other judged documents.
PROBES: tuple[tuple[float | None, ...], ...] = (
    (1, 0, None, 2, 0, 1), (0, 0, 1, 1), (None, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1), (0, None, 0, 0),
    (0, 0, 0, 0, 0, 1, 2), (1, 1, 0, 0), (-1, 0, 1, -1, 0, 0, 2, -1, 1),
)  # fmt: skip


def refuse_others(measures: Sequence[Measure]) -> None:
    """Refuse measures that depend on more than the ranks of documents of positive grade."""
    wrong = [str(measure) for measure in measures if not is_estimable(measure)]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} cannot be estimated from a sample; expected measures of the ranks of "
            "relevant documents, such as AP, nDCG@10, RR, P@10, R@100"
        )


def is_estimable(measure: Measure) -> bool:
    """Try a measure: it must not see other judged documents, and bear ranks that are not whole.

    >>> from leadline.measures import MEASURES
    >>> [is_estimable(MEASURES.parse(name)) for name in ("AP", "nDCG@10", "Bpref", "Judged@10")]
    [True, True, False, False]
    """
    if (
        measure.needs != "judgments"
        or getattr(measure, "rel", 1.0) <= 0
        or measure.average != "mean"
    ):
        return False
    for probe in PROBES:
        whole = Judged.of_grades(probe, [1, 1, 0, 3, *(one for one in probe if one is not None)])
        try:
            values = [
                measure.values(one)[0] for one in (whole, _thinned(whole, 0), _thinned(whole, 0.5))
            ]
        except (UsageError, IndexError, TypeError, ValueError):
            return False
        if not np.isclose(values[0], values[1], equal_nan=True):
            return False
    return True


def _thinned(judged: Judged, more: float) -> Judged:
    """Give the same list without its judged documents of no positive grade, ranks moved by a part."""
    kept = judged.grade >= POSITIVE
    rank: Any = judged.rank[kept] + more  # not whole here
    return Judged(
        judged.qrels, present=judged.present, length=judged.length,
        offsets=np.array([0, np.count_nonzero(kept)]), rank=rank, row=judged.row[kept],
        tie_first=rank, tie_last=rank, unjudged_ties=judged.unjudged_ties,
    )  # fmt: skip
