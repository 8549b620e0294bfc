"""Eligibility of measures for estimation from a sample of scored documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.estimation.strata import POSITIVE
from leadline.measures import Measure

# Grades of test lists: estimable measures do not change if judged non-relevant documents are removed.
PROBES: tuple[tuple[float | None, ...], ...] = (
    (1, 0, None, 2, 0, 1),
    (0, 0, 1, 1),
    (None, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    (0, None, 0, 0),
    (0, 0, 0, 0, 0, 1, 2),
    (1, 1, 0, 0),
    (-1, 0, 1, -1, 0, 0, 2, -1, 1),
)


def check_estimable(measures: Sequence[Measure]) -> None:
    """Raise UsageError for measures that depend on more than the ranks of documents of positive grade."""
    wrong = [str(measure) for measure in measures if not is_estimable(measure)]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} cannot be estimated from a sample. Use measures of the ranks of relevant "
            "documents, such as AP, nDCG@10, RR, P@10 or R@100."
        )


def is_estimable(measure: Measure) -> bool:
    """Return whether a measure depends only on ranks of documents of positive grade, integer or not.

    Examples
    --------
    >>> from leadline.measures import MEASURES
    >>> [is_estimable(MEASURES.parse(name)) for name in ("AP", "nDCG@10", "Bpref", "Judged@10")]
    [True, True, False, False]
    """
    if measure.needs != "judgments" or getattr(measure, "rel", 1.0) <= 0 or measure.average != "mean":
        return False
    for probe in PROBES:
        whole = JudgedRun.of_grades(probe, [1, 1, 0, 3, *(grade for grade in probe if grade is not None)])
        try:
            values = [
                measure.values(variant)[0]
                for variant in (whole, _positive_only(whole, 0), _positive_only(whole, 0.5))
            ]
        except (UsageError, IndexError, TypeError, ValueError):
            return False
        if not np.isclose(values[0], values[1], equal_nan=True):
            return False
    return True


def _positive_only(judged: JudgedRun, more: float) -> JudgedRun:
    """Return the list without judged documents of non-positive grade, with `more` added to all ranks."""
    kept = judged.grade >= POSITIVE
    rank: Any = judged.rank[kept] + more  # not integers
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=judged.length,
        offsets=np.array([0, np.count_nonzero(kept)]),
        rank=rank,
        row=judged.row[kept],
        tie_first=rank,
        tie_last=rank,
        unjudged_ties=judged.unjudged_ties,
    )
