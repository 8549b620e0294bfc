"""Estimate measures from a sample of judgments, with intervals over draws and over queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Flags
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading, RunsOptions
from leadline.data.results import Results, ResultWarning, plain
from leadline.data.validation import check_flags, check_whole
from leadline.errors import UsageError
from leadline.estimation.estimators import Estimator, RunEstimate, Sample, variance
from leadline.estimation.measure_targets import AveragePrecision, Cascade, Kind, Ratio, kind_of
from leadline.estimation.samples import PoolLike, evidence_of
from leadline.evaluation.join import judge_runs
from leadline.evaluation.profiles import profile_of
from leadline.io.read import QrelsLike, RunLike
from leadline.measures import Measure
from leadline.stats import INTERVALS, checked_level

DEFAULT_MEASURES = ("P@10", "nDCG@10")
FEWEST_JUDGMENTS = 50
FEWEST_QUERIES = 10
MOST_GUESSED = 0.05  # weight of guessed and unknown pairs with which an interval is still given
# Lowest and highest coverage of 95 % intervals of pooled runs in docs/studies/estimate.md, in percent, of
# measures that are products (RR, Success, ERR) and of nDCG.
COVERAGE = {"RR": (79, 96), "nDCG": (87, 97)}
SMALL = 0.2  # inclusion probability at ranks 1 to 3 below which estimates of products vary much


class Estimate(NamedTuple):
    """One estimated mean.

    Attributes
    ----------
    value : float
        The estimate; NaN where undefined.
    low, high : float
        Confidence interval over draws, for these queries; NaN where it is withheld.
    queries_low, queries_high : float
        Confidence interval over queries as well: for other queries of the same kind.
    judged, drawn, guessed, unknown : float
        Weight of the value by source; they add up to 1.
    reason : str
        Why the interval is withheld; empty where it is given.
    """

    value: float
    low: float
    high: float
    queries_low: float
    queries_high: float
    judged: float
    drawn: float
    guessed: float
    unknown: float
    reason: str


class Difference(NamedTuple):
    """An estimated difference of two runs, with its interval over draws, for these queries."""

    a: str
    b: str
    measure: str
    difference: float
    low: float
    high: float


class EstimatedResults(Results):
    """Results whose values are estimates from a sample of judgments.

    `compare` and `report` take them as any other results; the intervals that they compute are over queries.

    Attributes
    ----------
    new : ndarray of bool, shape (n_runs,)
        Runs that did not contribute to the pool.
    confidence : float
        Confidence level of the intervals.
    proxy : str
        What unjudged pairs were guessed from: machine, votes, centred or none.
    """

    new: Flags
    confidence: float
    proxy: str
    _parts: list[list[RunEstimate]]
    _kinds: list[Kind]
    judgments: int

    def estimate(self, run: str, measure: object) -> Estimate:
        """Return one estimated mean with its intervals and sources."""
        return self._estimate(self._run(run), self.place(measure))

    def _estimate(self, run: int, place: int) -> Estimate:
        part = self._parts[run][place]
        value = float(self.means[run, place])
        reason = self._reason(part, place)
        low = high = math.nan
        if not reason and not math.isnan(value):
            half = _quantile(self.confidence) * math.sqrt(variance(part.errors, scaled=part.scaled))
            low, high = (value - math.hypot(half, part.doubt[0]), value + math.hypot(half, part.doubt[1]))
        column = self.counted(place)[run][:, None]
        below, above = INTERVALS.parse("Student").limits(column, level=self.confidence)
        judged, drawn, guessed, unknown = part.shares.tolist()
        return Estimate(
            value, low, high, float(below[0]), float(above[0]), judged, drawn, guessed, unknown, reason
        )

    def _reason(self, part: RunEstimate, place: int) -> str:  # noqa: PLR0911  # a reason each
        """Return why no interval is given; empty where one is."""
        queries = int(self.averaged[0, :, place].sum())
        if part.shares[0] == 1.0:
            return ""
        if self.judgments < FEWEST_JUDGMENTS:
            return f"{self.judgments} judgments, fewer than {FEWEST_JUDGMENTS}"
        if queries < FEWEST_QUERIES:
            return f"{queries} queries, fewer than {FEWEST_QUERIES}"
        kind = self._kinds[place]
        if isinstance(kind, AveragePrecision):
            return "no interval of AP holds from drawn judgments"
        if isinstance(kind, Ratio) and not kind.ideal:
            return "no interval of a share of all relevant documents holds from drawn judgments"
        if isinstance(kind, Ratio) and self.proxy == "none":
            return "the ideal list cannot be estimated without guesses"
        outside = float(part.shares[2] + part.shares[3])
        if outside > MOST_GUESSED:
            return f"{outside:.0%} of the weight is guessed or unknown"
        return ""

    def differences(self, measure: object | None = None) -> list[Difference]:
        """Return the differences of all pairs of runs with their intervals over draws."""
        places = range(len(self.measures)) if measure is None else [self.place(measure)]
        z = _quantile(self.confidence)
        found = []
        for place in places:
            kind = self._kinds[place]
            for first in range(len(self.runs)):
                for second in range(first + 1, len(self.runs)):
                    a, b = self._parts[first][place], self._parts[second][place]
                    gap = float(self.means[first, place] - self.means[second, place])
                    reasons = self._pair_reason(a, b, kind, place)
                    half = math.nan
                    if not reasons:
                        half = z * math.sqrt(variance(a.errors - b.errors, scaled=a.scaled))
                    found.append(
                        Difference(
                            self.names[first],
                            self.names[second],
                            str(self.measures[place]),
                            gap,
                            gap - math.hypot(half, a.doubt[0] + b.doubt[1]),
                            gap + math.hypot(half, a.doubt[1] + b.doubt[0]),
                        )
                    )
        return found

    def _pair_reason(self, a: RunEstimate, b: RunEstimate, kind: Kind, place: int) -> str:
        if isinstance(kind, AveragePrecision):
            return "AP"
        if isinstance(kind, Ratio) and not kind.ideal:
            return "recall"
        return self._reason(a, place) or self._reason(b, place)

    def to_dict(self, *, per_query: bool = False, pairs: bool = False) -> dict[str, Any]:
        """Return plain data: `measures`, `queries`, `runs` with their estimates, `pairs` on request."""
        found = super().to_dict(per_query=per_query)
        for run, entry in enumerate(found["runs"]):
            entry["new"] = bool(self.new[run])
            entry["mean"] = {
                str(measure): {
                    key: one if isinstance(one, str) else plain(one)
                    for key, one in self._estimate(run, place)._asdict().items()
                }
                for place, measure in enumerate(self.measures)
            }
        if pairs:
            found["pairs"] = [
                {key: one if isinstance(one, str) else plain(one) for key, one in pair._asdict().items()}
                for pair in self.differences()
            ]
        return found | {"proxy": self.proxy}


def _quantile(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def estimate(
    judgments: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure | None = None,
    *,
    pool: PoolLike | None = None,
    machine: QrelsLike | None = None,
    proxy: str | None = None,
    rel: float | None = None,
    skipped: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[RunsOptions],
) -> EstimatedResults:
    """Estimate measures of runs from a sample of judgments.

    Every pair of query and document has a pseudo-grade m + (I / p) (y - m): p its inclusion probability, I
    whether it was drawn and judged, y its grade and m a guess made without the judgments of that query. Its
    expectation is y whatever m is, so that sums over documents are unbiased.

    Parameters
    ----------
    judgments : qrels
        Grades of the judged pairs.
    runs : run, sequence of runs or mapping
        The runs, also such as did not contribute to the pool.
    measures : measure names, default P@10 and nDCG@10
        P, CG, DCG, RBP, RR, Success, ERR, nDCG, R, F and AP can be estimated.
    pool : path, DrawnPool or `{query: {document: probability}}`, optional
        Inclusion probabilities. Without it judged pairs are certain, and others guessed or unknown.
    machine : qrels, optional
        Labels of a machine judge; calibrated by the judgments.
    proxy : {"centred", "votes", "none"}, optional
        The guess without labels: the mean of the judged pairs, the mean by votes of the pooled runs, or 0
        (Horvitz and Thompson). Default centred where pairs were drawn, else none.
    rel : float, optional
        Minimum relevant grade of measures that have `rel`.
    skipped : bool, default False
        Go on where drawn pairs lack a judgment; counted, and estimates may be biased.
    confidence : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Seed of the replicates behind intervals of nDCG.
    on_run : callable, optional
        Called with (done, total) after each run.
    **options
        `order`, `on_duplicate`, `on_nan` and `name_by` of `leadline.data.reading.Reading`.

    Returns
    -------
    EstimatedResults

    Raises
    ------
    UsageError
        If a measure cannot be estimated, or judgments, pool and labels do not go together.
    InputError
        If a file cannot be read.

    References
    ----------
    Horvitz and Thompson (1952), JASA 47; Sarndal, Swensson and Wretman (1992), Model Assisted Survey
    Sampling; Yilmaz, Kanoulas and Aslam (2008), SIGIR.

    Examples
    --------
    >>> pool = {"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d3": 1.0}}
    >>> judged = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 0}}
    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}}
    >>> found = estimate(judged, {"mine": run}, "P@2", pool=pool, proxy="none")
    >>> found.mean("mine", "P@2")  # d2 stands for two documents: (3 / 2 + 0) / 2
    0.75
    """
    reading = Reading.of(estimate, options, RunsOptions)
    check_flags(skipped=skipped)
    check_whole(0, seed=seed)
    level = checked_level(confidence)
    profile = profile_of("leadline")
    given = DEFAULT_MEASURES if measures is None else measures
    listed = [given] if isinstance(given, (str, Measure)) else list(given)
    wanted = profile.measures(listed, rel=rel, documents=None)
    kinds = [kind_of(measure) for measure in wanted]
    evidence = evidence_of(judgments, pool, machine, proxy, skipped=skipped, seed=seed)
    sample = evidence.sample
    estimators = [Estimator(sample, kind) for kind in kinds]

    def one(judged: JudgedRun) -> list[RunEstimate]:
        found = [estimator.of(judged) for estimator in estimators]
        if sample.exact:
            found = [
                part._replace(values=measure.values(judged))
                for part, measure in zip(found, wanted, strict=True)
            ]
        return found

    infos, parts = judge_runs(runs, sample.table, one, reading=reading, measures=wanted, on_run=on_run)
    values = np.array([[part.values for part in run] for run in parts]).transpose(0, 2, 1)
    results = EstimatedResults(
        infos,
        sample.table.queries,
        wanted,
        np.ascontiguousarray(values),
        np.ones(values.shape, dtype=np.bool_),
        warnings=evidence.warnings,
        options={
            "measures": list(map(str, wanted)),
            "rel": rel,
            "proxy": evidence.proxy,
            "skipped": skipped,
            "confidence": level,
            **reading.options(RunsOptions),
            "seed": seed,
        },
    )
    results.new = np.array(
        [evidence.pooled is not None and info.name not in evidence.pooled for info in infos]
    )
    results.confidence, results.proxy = level, evidence.proxy
    results._parts, results._kinds = parts, kinds  # noqa: SLF001  # same module
    results.judgments = evidence.judgments
    results.warnings += _notices(results, sample)
    return results


def _notices(results: EstimatedResults, sample: Sample) -> list[ResultWarning]:
    found = []
    rows = sample.drawn
    if any(isinstance(kind, Cascade) for kind in results._kinds) and len(rows):  # noqa: SLF001  # same module
        brought, ranks = sample.brought
        top = np.zeros(len(sample.probability), dtype=np.bool_)
        top[brought[ranks <= 3]] = True
        count = int((top & (sample.probability < SMALL) & (sample.probability > 0)).sum())
        if count:
            words = (
                f"pairs at ranks 1 to 3 with inclusion probability below {SMALL}: {count:,}; estimates of "
                "RR, Success and ERR vary much"
            )
            found.append(ResultWarning("small_probabilities", words, count))
    reasons: dict[str, int] = {}
    for run in range(len(results.runs)):
        for place, measure in enumerate(results.measures):
            reason = results._reason(results._parts[run][place], place)  # noqa: SLF001  # same module
            if reason:
                text = f"{measure}: {'too much guessed or unknown' if 'weight' in reason else reason}"
                reasons[text] = reasons.get(text, 0) + 1
    found += [
        ResultWarning(
            "no_interval", f"no interval for {count:,} of {len(results.runs):,} runs by {text}", count
        )
        for text, count in reasons.items()
    ]
    for kind, (low, high) in COVERAGE.items():
        wanted = Cascade if kind == "RR" else Ratio
        names = [
            str(measure)
            for place, measure in enumerate(results.measures)
            if isinstance(results._kinds[place], wanted)  # noqa: SLF001  # same module
            and any(not results._reason(parts[place], place) for parts in results._parts)  # noqa: SLF001
        ]
        if names and len(rows):
            words = (
                f"intervals of {', '.join(names)}: approximate; at 95 % they held {low} to {high} % of the "
                "time in simulations"
            )
            found.append(ResultWarning("approximate_intervals", words, len(names)))
    if not math.isfinite(float(np.nan_to_num(results.means).sum())):
        raise UsageError("an estimate is infinite; expected smaller grades")
    return found


__all__ = ["Difference", "Estimate", "EstimatedResults", "estimate"]
