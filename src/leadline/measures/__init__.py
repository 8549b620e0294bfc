"""One file per judged measure; `MEASURES` finds them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import Hits, JudgedRun
from leadline.data.registry import Parametric, Registry
from leadline.errors import UsageError

Average = Literal["mean", "defined", "geometric", "sum"]
Evidence = Literal["judgments", "known", "subtopics"]
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)  # of trec_eval, where it is given none


class Measure(Parametric):
    """A measure of one run against the judgments: one value per query.

    `low` and `high` are the range of a value; `average` says how the values of queries become one:
    `mean` counts undefined values as 0, `defined` leaves them out, `geometric` is the geometric
    mean with a floor of 0.00001, `sum` adds up. `needs` names evidence beyond the judgments
    (`known`: the documents that the user knew before; `subtopics`: judgments by subtopic). `quality` is
    false of what describes the judgments rather than the run, such as the share of judged documents: no run
    is best by it.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    rising: ClassVar[bool] = True
    average: ClassVar[Average] = "mean"
    needs: ClassVar[Evidence] = "judgments"
    quality: ClassVar[bool] = True

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query of the qrels; NaN where the measure is undefined."""
        raise NotImplementedError

    def of(self, grades: Sequence[float | None], judged: Sequence[float] | None = None) -> float:
        """Give the value of one list from the grades in its order; None is an unjudged document.

        `judged` holds the grades of all judged documents, by default those in the list.
        """
        return float(self.values(JudgedRun.of_grades(grades, judged))[0])


def over(part: Floats, whole: Floats | float) -> Floats:
    """Divide per query; undefined (NaN) where the divisor is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole == 0, np.nan, part / whole)


def found(judged: JudgedRun, hits: Hits, cutoff: int | None) -> Floats:
    """Count, per query, the relevant documents at ranks up to the cutoff."""
    if cutoff is None:
        return judged.total(hits.query)
    return judged.total(hits.query[hits.rank <= cutoff])


def finite(measure: Measure, values: Floats) -> Floats:
    """Give the values back; an error when a sum of gains is larger than a number can be."""
    if np.isinf(values).any():
        raise UsageError(f"{measure}: the gains add up to more than 1e308; expected smaller grades")
    return values


def relevant(judged: JudgedRun, rel: float) -> Floats:
    """Count, per query, the relevant documents that were judged: the field's R."""
    return judged.qrels.relevant(rel).astype(np.float64)


# How sentence-transformers says which similarity ranked: cosine_ndcg@10
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan", "max")
MEASURES: Registry[Measure] = Registry(sys.modules[__name__], Measure, "measure", prefixes=SIMILARITIES)


def __getattr__(name: str) -> type[Measure]:
    """Return a measure by its name: `from leadline.measures import nDCG`."""
    kind = MEASURES.class_named(name)
    if kind is None:
        raise AttributeError(f"module 'leadline.measures' has no attribute '{name}'")
    return kind


def __dir__() -> list[str]:
    return sorted({*globals(), *MEASURES.classes})
