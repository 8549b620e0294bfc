"""Effectiveness measures of a run against relevance judgments, one module per family."""

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
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)  # trec_eval's default cutoffs


class Measure(Parametric):
    """Base class of the effectiveness measures: one value per query.

    Attributes
    ----------
    title, formula, source : str
        Name in words, definition, and the publication or program that defines the measure.
    low, high : float
        Range of a value.
    rising : bool
        Whether larger values are better.
    average : {"mean", "defined", "geometric", "sum"}
        How values are averaged over queries: `mean` counts undefined values as 0, `defined` omits
        them, `geometric` is the geometric mean of values of at least 0.00001, `sum` adds them.
    needs : {"judgments", "known", "subtopics"}
        Evidence required: relevance judgments; also the documents known to the user before the
        search; or judgments by subtopic.
    quality : bool
        False for statistics of the judgments, such as the fraction of judged documents, by which
        runs are not ranked.
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
        """Return one value per query of the qrels; NaN where the measure is undefined."""
        raise NotImplementedError

    def of(self, grades: Sequence[float | None], judged: Sequence[float] | None = None) -> float:
        """Return the value of a single ranked list.

        Parameters
        ----------
        grades : sequence of float or None
            Relevance grades in rank order; None for an unjudged document.
        judged : sequence of float, optional
            Grades of all judged documents of the query. Default: those of the list.

        Returns
        -------
        float
            NaN where the measure is undefined.
        """
        return float(self.values(JudgedRun.of_grades(grades, judged))[0])


def over(part: Floats, whole: Floats | float) -> Floats:
    """Return the ratio per query; NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole == 0, np.nan, part / whole)


def relevant_retrieved(judged: JudgedRun, hits: Hits, cutoff: int | None) -> Floats:
    """Return the number of relevant documents retrieved up to the cutoff, per query."""
    if cutoff is None:
        return judged.total(hits.query)
    return judged.total(hits.query[hits.rank <= cutoff])


def finite(measure: Measure, values: Floats) -> Floats:
    """Return `values` unchanged; raise UsageError if a sum of gains overflows."""
    if np.isinf(values).any():
        raise UsageError(f"{measure}: the sum of the gains exceeds 1e308; expected smaller grades")
    return values


def relevant(judged: JudgedRun, rel: float) -> Floats:
    """Return the number of documents judged relevant per query, R."""
    return judged.qrels.relevant(rel).astype(np.float64)


# Prefixes that sentence-transformers adds for the similarity that ranked, as in cosine_ndcg@10
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan", "max")
MEASURES: Registry[Measure] = Registry(sys.modules[__name__], Measure, "measure", prefixes=SIMILARITIES)


def __getattr__(name: str) -> type[Measure]:
    """Return the measure class of that name, for `from leadline.measures import nDCG`."""
    kind = MEASURES.class_named(name)
    if kind is None:
        raise AttributeError(f"module 'leadline.measures' has no attribute '{name}'")
    return kind


def __dir__() -> list[str]:
    return sorted({*globals(), *MEASURES.classes})
