"""Reasons for withholding the interval, or the value, of an estimate.

Intervals of nDCG are given only in designs in which simulated 95 % intervals hold. Their limits are those of
the cells of `benchmarks/ndcg_intervals.py`; docs/ndcg-intervals.json has the coverage in each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline.data.records import ResultWarning
from leadline.data.wording import counted, listed, queries
from leadline.estimation.measure_targets import Kind, Ratio, Target

if TYPE_CHECKING:  # which has the design of a sample
    from leadline.estimation.estimators import Sample

FEWEST_JUDGMENTS = 50
FEWEST_QUERIES = 10
MOST_GUESSED = 0.05  # largest weight of guessed and unknown pairs with which an interval is given
MOST_GUESSED_OF_NEW = 0.2  # the same for runs that did not contribute to the pool, where grades are predicted
# Simulated designs of nDCG.
SIMULATED = "nDCG@10"
FEWEST_SIMULATED = 30  # queries
SIMULATED_JUDGMENTS = (5.0, 40.0)  # per query
MOST_RUNS = 37  # pooled
CUTOFF = 10
LEAST_PROBABILITY = 0.02
LARGEST_SHARE = 0.8  # of the pool that is judged; beyond, the error is 0 in most draws
SMALL = 0.2  # inclusion probability at ranks 1 to 3 below which cascade measures have a large variance
SLACK = 1e-6  # of numbers that are sums


class Design(NamedTuple):
    """Design of a sample of judgments, as far as the coverage of intervals depends on it."""

    queries: int  # number of queries
    judgments: float  # expected number of judgments per query
    runs: int  # number of pooled runs; 0 if the pool does not name them
    depth: int  # largest best rank of a document of the pool in any pooled run
    least: float  # smallest inclusion probability above 0
    share: float  # expected share of the pool that is judged
    cutoff: int | None  # cutoff of the measure


class NoInterval(Enum):
    """Reasons for which no confidence interval over draws is given; values are format strings."""

    FEW_JUDGMENTS = f"intervals need at least {FEWEST_JUDGMENTS} judgments, not {{0}}"
    FEW_QUERIES = f"intervals need at least {FEWEST_QUERIES} queries, not {{0}}"
    AVERAGE_PRECISION = "AP intervals are not valid with sampled judgments"
    SHARE_OF_RELEVANT = "R and F intervals are not valid with sampled judgments"
    UNKNOWN_IDEAL = "the ideal list cannot be estimated without predicted grades"
    NO_QUERY = "the run shares no query with the pool or the judgments"
    NO_RELEVANT = "no drawn document is relevant, so the variance cannot be estimated"
    ALL_RELEVANT = "all judged documents are relevant, so the ideal list cannot be estimated"
    NOT_SIMULATED = "coverage was not simulated for {0}"
    NO_VARIANCE = "all drawn judgments equal their predictions, so the variance cannot be estimated"
    GUESSED = "{0:.0%} of the weight is guessed or unknown"
    NO_DIVISOR = "without predicted grades, the number of relevant documents cannot be estimated"
    GAPS = "judgments are missing for {0}"
    NO_FRAME = "the pool does not list the pairs that were not drawn (`leadline pool --for` does)"
    EXPLODED = "the interval is wider than the range of the measure"


WITHOUT_VALUE = {NoInterval.NO_DIVISOR, NoInterval.EXPLODED, NoInterval.NO_FRAME}


class Withheld(NamedTuple):
    """A reason for withholding an interval, with the number or words that the reason is about."""

    code: NoInterval
    number: float | str = 0

    @property
    def message(self) -> str:
        """Return the reason as text."""
        return self.code.value.format(self.number)

    @property
    def summary(self) -> str:
        """Return the reason as text that is the same for all runs with this reason."""
        guessed = self.code is NoInterval.GUESSED
        return "too much of the weight is guessed or unknown" if guessed else self.message


def ideal_withheld(sample: Sample, kind: Kind, drawn_for: Sequence[str]) -> Withheld | None:
    """Return why there is no interval of a measure with an ideal list, or None.

    `drawn_for` are the measures that the pool was drawn for.
    """
    if not (isinstance(kind, Ratio) and kind.ideal):
        return None
    if not sample.guessing:
        return Withheld(NoInterval.UNKNOWN_IDEAL)
    relevant = sample.reached(Target("linear"))[sample.judged] > 0
    if relevant.all() or not relevant.any():
        return Withheld(NoInterval.ALL_RELEVANT if relevant.all() else NoInterval.NO_RELEVANT)
    reason = design_withheld(sample, kind, drawn_for)
    return Withheld(NoInterval.NOT_SIMULATED, reason) if reason else None


def design_withheld(sample: Sample, kind: Ratio, drawn_for: Sequence[str]) -> str:
    """Return what of a measure or of the design of a sample was not simulated; empty if all of it was."""
    ranks = np.arange(1.0, 11.0)
    if sample.cells > 1:
        return "estimates with labels or a proxy"
    if kind.target != Target("linear") or (kind.weights(ranks) != 1.0 / np.log2(ranks + 1.0)).any():
        return "gains other than the grade, or discounts other than log2(rank + 1)"
    if drawn_for and set(drawn_for) != {SIMULATED}:
        return f"a pool drawn for {listed(drawn_for)} (only for {SIMULATED})"
    return not_simulated(design_of(sample, kind.cutoff))


def design_of(sample: Sample, cutoff: int | None) -> Design:
    """Return the design of a sample, for a measure with this cutoff."""
    p = sample.probability[sample.framed]
    queries = len(sample.table.queries)
    return Design(
        queries,
        float(p.sum()) / max(queries, 1),
        0 if sample.run is None else int(sample.run.max(initial=-1)) + 1,
        int(sample.pool_pairs.best.max(initial=0)),
        float(p.min(initial=1.0)),
        float(sample.pool_pairs.probability.mean()),
        cutoff,
    )


def not_simulated(design: Design) -> str:
    """Return what of a design was not simulated for nDCG; empty if an interval may be given.

    >>> not_simulated(Design(50, 20.0, 3, 20, 0.05, 0.5, 10))
    ''
    >>> not_simulated(Design(50, 90.0, 3, 20, 0.05, 0.5, 10))
    '90 judgments per query (only for 5 to 40)'
    """
    low, high = SIMULATED_JUDGMENTS
    cutoff = 0 if design.cutoff is None else design.cutoff
    own = f"a cutoff of {cutoff}" if cutoff else "measures without a cutoff"
    reasons = {
        "a pool that does not name its runs": not design.runs,
        f"{own} (only for a cutoff of {CUTOFF})": cutoff != CUTOFF,
        f"{queries(design.queries)} (only for {FEWEST_SIMULATED} or more)": design.queries < FEWEST_SIMULATED,
        f"{design.judgments:.3g} judgments per query (only for {low:g} to {high:g})": not (
            low * (1 - SLACK) <= design.judgments <= high * (1 + SLACK)
        ),
        f"{design.runs} pooled runs (only for up to {MOST_RUNS})": design.runs > MOST_RUNS,
        f"a pool of ranks 1 to {design.depth} (only for ranks 1 to {2 * CUTOFF})": not (
            CUTOFF < design.depth <= 2 * CUTOFF
        ),
        f"{design.share:.0%} of the pool judged (only for up to {LARGEST_SHARE:.0%}, or all)": (
            design.share > LARGEST_SHARE
        ),
        f"an inclusion probability of {design.least:.3g} (only for {LEAST_PROBABILITY:g} or more)": (
            design.least < LEAST_PROBABILITY * (1 - SLACK)
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def small_probabilities(sample: Sample) -> list[ResultWarning]:
    """Return a warning of pairs near the top with a small inclusion probability, if there are any."""
    brought, ranks = sample.brought
    top = np.zeros(len(sample.probability), dtype=np.bool_)
    top[brought[ranks <= 3]] = True
    count = int((top & (sample.probability < SMALL) & (sample.probability > 0)).sum())
    words = (
        f"{counted(count, 'pair')} at ranks 1 to 3 with an inclusion probability below {SMALL}, so RR, "
        "Success and ERR estimates have a large variance"
    )
    return [ResultWarning("small_probabilities", words, count)] * bool(count)
