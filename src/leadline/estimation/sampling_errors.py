"""Estimates of one run, their variance over draws, their half-widths, and why an interval is withheld."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.table import ResultWarning
from leadline.data.wording import beyond, counted, listed, percent, queries
from leadline.estimation.designs import Kind, Ratio, Target, has_interval
from leadline.stats.intervals import t_quantile

if TYPE_CHECKING:
    from leadline.estimation.estimators import Sample

FEWEST_JUDGMENTS = 50
FEWEST_QUERIES = 10
# With judgments from before the draw. In 100 to 200 draws each on Cranfield, intervals of P@10 covered 73 to
# 89 % with 3 or 4 relevant documents among those sampled, and 90 to 98 % with 7 or more.
FEWEST_RELEVANT = 10
# The same, of the sampled documents that affect a score. RR of a run whose first documents were judged has
# few others, and its intervals covered 60 to 94 % with fewer than 30 of them, 93 % or more otherwise.
# Intervals of differences held with fewer, too (`benchmarks/estimated_differences.py DATA known`).
FEWEST_DEPENDED_ON = 30
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
    FEW_RELEVANT = (
        f"in a pool with existing judgments, intervals need at least {FEWEST_RELEVANT} relevant documents "
        "among the sampled ones, not {0}"
    )
    FEW_DEPENDED_ON = (
        f"in a pool with existing judgments, intervals for a run need at least {FEWEST_DEPENDED_ON} sampled "
        "documents that affect its score, not {0}"
    )
    NOT_EXACT = (
        "AP, R and F intervals need judgments of all pooled documents and of all retrieved documents (up to "
        "the cutoff, if any)"
    )
    UNKNOWN_IDEAL = (
        "without predicted grades, nDCG intervals need judgments of all pooled documents and of all "
        "retrieved documents (up to the cutoff, if any)"
    )
    NO_QUERY = "there is no query in common with the pool or the judgments"
    NO_RELEVANT = "no drawn document is relevant, so the variance cannot be estimated"
    ALL_RELEVANT = "all judged documents are relevant, so the ideal list cannot be estimated"
    NOT_SIMULATED = "intervals were not tested in simulations for {0}"
    NO_VARIANCE = (
        "every drawn document that affects the score got exactly its predicted grade, so the variance cannot "
        "be estimated"
    )
    GUESSED = "{0} of the weight is guessed or unknown (at most {1} is allowed)"
    NO_DIVISOR = "without predicted grades, the number of relevant documents cannot be estimated"
    GAPS = "judgments are missing for {0}"
    NO_FRAME = "the documents that were not drawn are known only with a pool from `leadline pool --for`"
    MACHINE = "the judgments are by an automatic judge"
    EXPLODED = "the interval would be wider than the range of the measure"


WITHOUT_VALUE = {NoInterval.NO_DIVISOR, NoInterval.EXPLODED, NoInterval.NO_FRAME}


class Withheld(NamedTuple):
    """A reason for withholding an interval, with the number or words that the reason is about."""

    code: NoInterval
    number: float | str = 0
    most: str = ""  # largest share of the weight that may be guessed or unknown

    @property
    def message(self) -> str:
        """Return the reason as text."""
        return self.code.value.format(self.number, self.most)

    @property
    def summary(self) -> str:
        """Return the reason as text that is the same for all runs with this reason."""
        guessed = self.code is NoInterval.GUESSED
        return f"more than {self.most} of the weight is guessed or unknown" if guessed else self.message


OUTSIDE_BY_SLICE = Withheld(NoInterval.NOT_SIMULATED, "slices where a run has documents outside the pool")


def of_another_frame(measures: Sequence[str], kinds: Sequence[Kind], drawn_for: Sequence[Kind]) -> list[str]:
    """Return the measures without an interval, such as R and F, that need another frame than a pool has."""
    known = {type(kind) for kind in drawn_for if not has_interval(kind)}
    return [
        measure
        for measure, kind in zip(measures, kinds, strict=True)
        if not has_interval(kind) and type(kind) not in known
    ]


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
        return "estimates with LLM labels"
    if kind.target != Target("linear") or (kind.weights(ranks) != 1.0 / np.log2(ranks + 1.0)).any():
        return "gains other than the grade, or discounts other than log2(rank + 1)"
    if drawn_for and set(drawn_for) != {SIMULATED}:
        return f"a pool drawn for {listed(drawn_for)} (only for pools drawn for {SIMULATED} alone)"
    p = sample.probability[sample.framed]
    size = len(sample.table.queries)
    return not_simulated(
        Design(
            size,
            float(p.sum()) / max(size, 1),
            0 if sample.run is None else int(sample.run.max(initial=-1)) + 1,
            int(sample.pool_pairs.best.max(initial=0)),
            float(p.min(initial=1.0)),
            float(sample.pool_pairs.probability.mean()),
            kind.cutoff,
        )
    )


def not_simulated(design: Design) -> str:
    """Return what of a design was not simulated for nDCG; empty if an interval may be given.

    >>> not_simulated(Design(50, 20.0, 3, 20, 0.05, 0.5, 10))
    ''
    >>> not_simulated(Design(50, 90.0, 3, 20, 0.05, 0.5, 10))
    '90 judgments per query (only for 5 to 40)'
    >>> not_simulated(Design(50, 1.0, 3, 20, 0.05, 0.5, 10))
    '1 judgment per query (only for 5 to 40)'
    >>> not_simulated(Design(50, 40.02, 3, 20, 0.05, 0.5, 10))
    '40.02 judgments per query (only for 5 to 40)'
    """
    low, high = SIMULATED_JUDGMENTS
    cutoff = 0 if design.cutoff is None else design.cutoff
    own = f"a cutoff of {cutoff}" if cutoff else "measures without a cutoff"
    judged = f"{beyond(100 * design.share, 100 * LARGEST_SHARE)} %"
    least = beyond(design.least, LEAST_PROBABILITY)
    number = beyond(design.judgments, low if design.judgments < low else high)
    each = f"{number} judgment{'s' * (number != '1')} per query"
    reasons = {
        "a pool that does not name its runs": not design.runs,
        f"{own} (only for a cutoff of {CUTOFF})": cutoff != CUTOFF,
        f"{queries(design.queries)} (only for {FEWEST_SIMULATED} or more)": design.queries < FEWEST_SIMULATED,
        f"{each} (only for {low:g} to {high:g})": not (
            low * (1 - SLACK) <= design.judgments <= high * (1 + SLACK)
        ),
        f"{design.runs} pooled runs (only for up to {MOST_RUNS})": design.runs > MOST_RUNS,
        f"a pool depth of {design.depth} (only for {CUTOFF + 1} to {2 * CUTOFF})": not (
            CUTOFF < design.depth <= 2 * CUTOFF
        ),
        f"a sample of {judged} of the pool (only for up to {percent(LARGEST_SHARE)}, or all of it)": (
            design.share > LARGEST_SHARE
        ),
        f"an inclusion probability of {least} (only for {LEAST_PROBABILITY:g} or more)": (
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
        f"{counted(count, 'pair')} at ranks 1 to 3 of the pooled runs {'has' if count == 1 else 'have'} an "
        f"inclusion probability below {SMALL}, so RR, Success and ERR estimates have a large variance"
    )
    return [ResultWarning("small_probabilities", words, count)] * bool(count)


MOST_DEGREES = 1e6  # of freedom; more are normal
ROUNDING = 1e-12  # coefficients, half-widths and shares below it are rounding errors of 0
NONE: Floats = np.zeros(0)


class RunEstimate(NamedTuple):
    """Estimate of one measure for one run."""

    values: Floats  # estimated value of each query; NaN where undefined
    # error terms of the mean by drawn pair, whose sum of squares is the variance of the mean; empty for nDCG.
    # Terms of a difference of runs are the differences of terms
    errors: Floats = NONE
    # replicates of the mean of a ratio, whose sample variance is its variance; empty for other measures
    replicates: Floats = NONE
    shares: Floats = NONE  # mean weight by source, in the order of `SOURCES`; sums to 1
    # largest possible decrease and increase of the mean due to predicted and unknown pairs
    doubt: Floats = np.zeros(2)
    # rows of the listed pairs outside the frame, and what each of them adds to the decrease and increase
    free: tuple[Integers, Floats, Floats] = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    sampled: bool = True  # whether the value depends on a pair with an inclusion probability in (0, 1)
    # rows of the listed pairs with an inclusion probability in (0, 1), drawn or not, and their error terms as
    # predicted by the cells; empty for measures whose variance is estimated from `errors` alone
    predicted: tuple[Integers, Floats] = (np.zeros(0, np.int64), np.zeros(0))
    # number of documents outside the frame in the lists above the cutoff, and the sum over them of the
    # product of what each adds to the decrease and the increase: its predicted variance. 0 for ratios
    open: tuple[float, float] = (0.0, 0.0)

    def predicted_difference(self, other: RunEstimate, pairs: int) -> Floats:
        """Return the predicted error terms of the difference of two runs, by row of the table."""
        if not len(self.predicted[0]) and not len(other.predicted[0]):
            return NONE
        terms = np.zeros(pairs)
        terms[self.predicted[0]] += self.predicted[1]
        terms[other.predicted[0]] -= other.predicted[1]
        return terms

    def doubt_of_difference(self, other: RunEstimate, pairs: int) -> tuple[Floats, float]:
        """Return the doubt of the difference of two runs, and its proportion to the sum of both doubts.

        The unknown grade of a pair that both runs list changes their difference only as far as its weights
        differ. `pairs` is the number of rows of the table.
        """
        down, up = np.zeros(pairs), np.zeros(pairs)
        down[self.free[0]] += self.free[1]
        up[self.free[0]] += self.free[2]
        down[other.free[0]] -= other.free[1]
        up[other.free[0]] -= other.free[2]
        listed = [np.array([one.free[1].sum(), one.free[2].sum()]) for one in (self, other)]
        beyond = np.maximum(self.doubt - listed[0], 0.0) + np.maximum(other.doubt - listed[1], 0.0)[::-1]
        gain, loss = np.maximum(up, 0) + np.maximum(-down, 0), np.maximum(down, 0) + np.maximum(-up, 0)
        doubt = beyond + np.array([loss.sum(), gain.sum()])
        both = float(self.doubt.sum() + other.doubt.sum())
        return doubt, float(doubt.sum()) / both if both > 0 else 0.0


def variance(errors: Floats, replicates: Floats, predicted: Floats = NONE) -> float:
    """Return the variance of the mean from its error terms, or from replicates if there are any.

    With predicted error terms, the variance is the mean of the sums of squares of both: the estimate from
    the drawn pairs is unbiased, but 0 where no drawn pair shows what an undrawn one could change.

    >>> variance(np.array([0.3]), NONE), variance(np.array([0.3]), NONE, np.array([0.1, 0.2]))
    (0.09, 0.07)
    """
    if len(replicates):
        return float(replicates.var(ddof=1))
    estimated = float((errors**2).sum())
    return (estimated + float((predicted**2).sum())) / 2 if len(predicted) else estimated


def second_errors(changes: Floats, first: Floats, second: Floats, *, halved: bool) -> Floats:
    """Return the error terms of pairs that were judged again: sqrt((1 - q) / p) / q times the change.

    p is the probability of the first draw, q that of the second one. Terms that have no predicted ones beside
    them are `halved` by `variance`.

    >>> second_errors(np.array([0.1]), np.array([1.0]), np.array([0.5]), halved=False).round(4).tolist()
    [0.1414]
    """
    factor = np.sqrt((1.0 - second) / first) / second
    return np.asarray(changes * factor * (math.sqrt(2.0) if halved else 1.0))


def degrees_of_freedom(errors: Floats, probability: Floats) -> float:
    """Return the degrees of freedom of an estimated variance (Satterthwaite 1946).

    The estimate V is the sum of the squared error terms of the drawn pairs. Its own variance is estimated by
    the sum of (1 - p) error^4, and 2 V^2 divided by that are the degrees of freedom.

    References
    ----------
    Satterthwaite (1946), An approximate distribution of estimates of variance components, Biometrics
    Bulletin 2.

    >>> degrees_of_freedom(np.array([0.1, 0.1, 0.1]), np.array([0.5, 0.5, 0.5]))  # 2 x 3^2 / (3 x 0.5)
    12.0
    """
    squares = errors**2 / max(float((errors**2).max(initial=0.0)), 1e-300)
    noise = float(((1.0 - probability) * squares**2).sum())
    return 2.0 * float(squares.sum()) ** 2 / noise if noise > 0 else np.inf


class Widening(NamedTuple):
    """How much the doubt about documents outside the frame widens an interval."""

    # distance of the limits from the value
    low: float
    high: float
    share: float  # share of the width that is due to the widening
    # number of documents outside the frame which, drawn at random and judged, are expected to halve the
    # widening; None for ratios and without predictions
    to_halve: int | None


def widening(half: float, part: RunEstimate, confidence: float) -> Widening:
    """Return the limits of an interval widened by the doubt of an estimate, and how to narrow it.

    A document that is drawn with probability r and judged leaves the variance (1 - r) / r m (1 - m) in place
    of the doubt, m being its prediction.

    >>> part = RunEstimate(NONE, doubt=np.array([0.04, 0.04]), open=(100.0, 0.0001))
    >>> widened = widening(0.03, part, 0.95)  # half of .05 - .03: .04^2 - .03^2 = 1.96^2 .0001 (1 - r) / r
    >>> round(widened.low, 3), round(widened.share, 3), widened.to_halve
    (0.05, 0.4, 36)
    """
    low, high = (math.hypot(half, float(doubt)) for doubt in part.doubt)
    width = low + high
    share = 1.0 - 2.0 * half / width if width > 0 else 0.0
    count, spread = part.open
    if share < ROUNDING:
        return Widening(low, high, 0.0, 0)
    if not spread:  # a ratio, or nothing is predicted
        return Widening(low, high, share, None)
    left = ((width / 2 + half) / 2) ** 2 - half**2  # of the square of the half-width, for the new draws
    drawn = t_quantile(MOST_DEGREES, 0.5 + confidence / 2) ** 2 * spread
    return Widening(low, high, share, math.ceil(count * drawn / (drawn + left)))


def half_width(
    errors: Floats, replicates: Floats, probability: Floats, confidence: float, predicted: Floats = NONE
) -> float:
    """Return the half-width of the confidence interval over draws, by Student's t."""
    degrees = MOST_DEGREES if len(replicates) else min(degrees_of_freedom(errors, probability), MOST_DEGREES)
    return t_quantile(degrees, 0.5 + confidence / 2) * float(np.sqrt(variance(errors, replicates, predicted)))
