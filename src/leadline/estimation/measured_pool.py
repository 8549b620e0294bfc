"""A pool drawn for measures: the expected precision of estimates, its looks, and pairs that are judged twice.

Looks are the numbers of judgments after which a verdict may be asked for.

In a two-phase sample some of the drawn pairs are judged again by a second judge, whose values are estimated.
With I and J the indicators that a pair is drawn (p) and judged again (q, given I), y and z the grades by the
first and the second judge, the pseudo-grade m + (I / p) (y - m + (J / q) (z - y)) has the expectation z.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import DrawnPool
from leadline.data.table import Column, ResultWarning, RunInfo
from leadline.data.wording import counted, listed, percent, queries
from leadline.errors import UsageError, either
from leadline.estimation.designs import (
    SMALLEST,
    Cascade,
    Kind,
    Linear,
    Ratio,
    at_scale,
    random_numbers_of,
    scaled,
)
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.guesses import VOTE_CONSTANT
from leadline.estimation.ideal_lists import vote_ranks
from leadline.estimation.samples import Evidence, evidence_of, judged_part
from leadline.estimation.sampling_errors import (
    CUTOFF,
    FEWEST_JUDGMENTS,
    FEWEST_QUERIES,
    NoInterval,
    Withheld,
    design_withheld,
    half_width,
)
from leadline.io.formats import suffix_of
from leadline.io.objects import Run, read_qrels
from leadline.io.pool_files import PoolLike, write_drawn_pool
from leadline.io.read import QrelsLike
from leadline.io.read_paths import refuse_sources
from leadline.io.write import checked_path
from leadline.measures import Measure
from leadline.result import Result

FORECAST = ("half_width", "half_budget", "exact_budget")


@dataclass(repr=False)
class MeasuredPool(Result):
    """A pool drawn to estimate measures, with the expected precision of the estimates.

    Attributes
    ----------
    pool : DrawnPool
        Sampling frame, inclusion probabilities and drawn pairs.
    runs : list of RunInfo
        The pooled runs.
    queries : int
        Number of queries.
    expected : dict
        By measure: half-width of a run's 95 % interval (of that of the difference, for a pair of runs) at
        this budget, the budget per query that would halve it (not for nDCG), and the number of judgments per
        query that make the measure (the difference, for a pair) exact for these runs. None where `evaluate`
        would give no interval, where no judgments of the frame make the measure exact, and for nDCG without
        labels or judgments that show how many documents are relevant; `warnings` have the reasons.
    added : int
        Number of drawn pairs that the earlier pool did not contain.
    """

    pool: DrawnPool
    runs: list[RunInfo]
    queries: int
    expected: dict[str, dict[str, float | None]]
    added: int

    @property
    def pairs(self) -> int:
        """Return the number of drawn pairs."""
        return int(self.pool.drawn.sum())

    @property
    def frame(self) -> int:
        """Return the number of pairs that could be drawn."""
        return int((self.pool.probability > 0).sum())

    def __repr__(self) -> str:
        pairs = f"{self.pairs:,} of {counted(self.frame, 'pair')} drawn for {', '.join(self.expected)}"
        return f"MeasuredPool({queries(self.queries)}, {pairs})"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys queries, pairs, added, frame and expected."""
        return {
            "queries": self.queries,
            "pairs": self.pairs,
            "added": self.added,
            "frame": self.frame,
            "expected": self.expected,
        }

    def _columns(self) -> list[Column]:
        exact = "an exact difference" if self.options.get("for_pair") else "exact values"
        heads = ("half-width", "judgments per query to halve it", f"judgments per query for {exact}")
        return [
            Column("measure", list(self.expected)),
            *(
                Column(head, [one[key] for one in self.expected.values()])
                for head, key in zip(heads, FORECAST, strict=True)
            ),
        ]

    def _notes(self) -> list[str]:
        return [*self.forecast(), *super()._notes()]

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the pool if the suffix is .tsv, and the forecast otherwise; see `Result.write`."""
        name = checked_path(path, expected="a path")
        if suffix_of(name) != ".tsv" or options:
            super().write(path, **options)
            return
        refuse_sources(name, self.sources)
        write_drawn_pool(self.pool, name, [])

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the pairs to judge as columns: query_id, doc_id, probability."""
        new = self.pool.drawn & ~self.pool.judged_before
        return self.pool.pairs(np.flatnonzero(new).tolist()).to_columns()

    def forecast(self) -> list[str]:
        """Return sentences on the size of the pool and the expected half-widths."""
        mean = self.pairs / max(self.queries, 1)
        size = f"{counted(self.pairs, 'pair')} for {queries(self.queries)}, {mean:.1f} per query"
        lines = [f"{size}, sampled with known probabilities from {self.frame:,} pairs"]
        if self.pairs == self.frame:
            lines = [f"{size} (all available pairs)"]
        if self.added != self.pairs:
            lines.append(f"new pairs: {self.added:,} (not counting pairs judged or sampled before)")
        before = int(self.pool.judged_before.sum())
        new = "new " * bool(before)
        places = [place - before for place in looks_of(self.pool)]
        if places:
            each = f", each at alpha / {len(places)}" * (len(places) > 1)
            noun = "verdicts" if each else "one verdict,"
            lines.append(f"{noun} after {_numbers(places)} {new}judgments{each}")
        pair = bool(self.options.get("for_pair"))
        of = "for the difference" if pair else "per run"
        mean -= before / max(self.queries, 1)
        for name, expected in self.expected.items():
            half_width, half, exact = (expected[key] for key in FORECAST)
            first = (
                f"{name}: no expected half-width"
                if half_width is None
                else f"expected 95 % interval half-width of {name}: {half_width:.3f} {of}"
            )
            said = half_width is None and any(str(notice).startswith(f"{name}: ") for notice in self.warnings)
            parts = []
            if half is not None:
                parts.append(f"{half:.1f} {new}judgments per query would halve it")
            if exact:  # 0 where all is judged
                noun = "" if parts else f" {new}judgments per query"
                made = (
                    f"the difference{f' in {name}' * said} exact" if pair else f"{name} exact for these runs"
                )
                verb = "would make" if exact > mean else "are enough to make"  # more are wasted
                parts.append(f"{exact:.1f}{noun} {verb} {made}")
            budgets = ", and ".join(parts)
            if parts or not said:
                lines.append(budgets if said else f"{first} ({budgets})" if parts else first)
        return lines


class Look(NamedTuple):
    """One of the looks of a pool: `number` of `looks`, after `pairs` of the `drawn` pairs in order.

    The number is 0 if all judgments were taken, whichever look they reach.
    """

    number: int
    looks: int
    pairs: int
    drawn: int

    @property
    def message(self) -> str:
        """Return a note on the look and the level of its verdict."""
        where = f"look {self.number} of {self.looks}, after {self.pairs:,} of {self.drawn:,} judgments"
        share = f" (the verdict at each look uses alpha / {self.looks}, Bonferroni)"
        return where + share * (self.looks > 1)


def places_of_looks(pairs: int, looks: int, judged: int = 0) -> list[int]:
    """Return the numbers of judgments of the looks, at equal steps of the pool.

    Those with fewer than 50 judgments, or with no more than `judged`, are left out.

    >>> places_of_looks(200, 5)
    [80, 120, 160, 200]
    """
    looks = min(looks, pairs)  # more would fall on the same judgments
    positions = {math.ceil(pairs * number / looks) for number in range(1, looks + 1)}
    return sorted(position for position in positions if position >= FEWEST_JUDGMENTS and position > judged)


def looks_of(pool: DrawnPool) -> list[int]:
    """Return the numbers of judgments of the looks of a pool: those made before the draw, and new ones.

    None where the pool was drawn without looks. Of several looks, one may be left.
    """
    looks, before = int(pool.design.get("looks", 1)), int(pool.judged_before.sum())
    places = places_of_looks(int(pool.drawn.sum()) - before, looks) if looks > 1 else []
    return [before + place for place in places]


def _numbers(places: Sequence[int]) -> str:
    return listed([f"{place:,}" for place in places])


def in_order(pool: DrawnPool) -> Integers:
    """Return the rows of the drawn pairs in the order in which they are judged."""
    rows = np.flatnonzero(pool.drawn)
    return rows[np.argsort(pool.order[rows], kind="stable")]


def probabilities_after(pool: DrawnPool, end: float, numbers: Floats | None = None) -> Floats:
    """Return the inclusion probabilities of the smaller draw of the pairs with an order below `end`."""
    if numbers is None:
        numbers = random_numbers_of(pool.names(), int(pool.design["seed"]))
    return at_scale(pool.probability, pool.order, numbers, end)


def first_pairs(pool: DrawnPool, count: int, numbers: Floats | None = None) -> DrawnPool:
    """Return the smaller draw of the first pairs in order; `numbers` are the random numbers of the pairs."""
    rows = in_order(pool)
    if count >= len(rows):
        return pool
    end = float(pool.order[rows[count]])
    return replace(
        pool, probability=probabilities_after(pool, end, numbers), drawn=pool.drawn & (pool.order < end)
    )


def at_look(pool: DrawnPool, grades: Mapping[str, Mapping[str, float]]) -> tuple[DrawnPool, Look | None]:
    """Return the part of a pool that was judged up to its last look, and that look.

    The pool itself and None if it was drawn without looks.

    Raises
    ------
    UsageError
        If fewer pairs were judged than the first look needs.
    """
    rows = in_order(pool).tolist()
    places = looks_of(pool)
    if not places:
        return pool, None
    judged = (grades.get(pool.queries[row], {}).get(pool.documents[row], -1) >= 0 for row in rows)
    front = next((place for place, one in enumerate(judged) if not one), len(rows))
    reached = sum(place <= front for place in places)
    if not reached:
        merge = "Merge the judgments from before the draw with the new ones. "
        merge *= bool(pool.judged_before[rows[front]])
        raise UsageError(
            f"there is no verdict yet. Verdicts come after the first {_numbers(places)} pairs in judging "
            "order (column `order` of the pool). So far, "
            f"{counted(front, 'pair is', 'pairs are')} judged without a gap. {merge}"
            "`leadline evaluate JUDGMENTS RUN... --pool POOL` shows the values so far."
        )
    look = Look(reached, len(places), places[reached - 1], len(rows))
    return first_pairs(pool, look.pairs), look


FEWEST_AGAIN = 25  # pairs; with 11, intervals of runs held .83 (docs/howto/machine-labels.md)
Pair: TypeAlias = "tuple[str, str]"


def draw_twice(pool: DrawnPool, number: int) -> DrawnPool:
    """Draw pairs of a pool that are to be judged again, `number` of them on average.

    The probability of a drawn pair is proportional to its importance over its probability in the pool, which
    minimizes the variance that differences of judges cause if these are of one size.

    References
    ----------
    Sarndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, section 9.

    >>> pairs = [f"d{number}" for number in range(4)]
    >>> every, order = np.ones(4, dtype=np.bool_), random_numbers_of([("q", name) for name in pairs], 0)
    >>> whole = DrawnPool(["q"] * 4, pairs, np.ones(4), order, [{}] * 4, every, {"seed": 0})
    >>> draw_twice(whole, 2).probability.tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    drawn = int(pool.drawn.sum())
    seed = pool.design.get("seed")
    if not isinstance(seed, int) or "twice" in pool.design:
        raise UsageError(
            "pairs to judge twice must come from a pool drawn with `leadline pool --for`. Pass that pool "
            "with `--from`."
        )
    if not 1 <= number <= drawn:
        raise UsageError(
            f"cannot draw {counted(number, 'pair')} to judge twice from a sample of "
            f"{counted(drawn, 'pair')}. Draw at most {drawn:,}."
        )
    part = pool.part(pool.drawn)
    names = part.names()
    first = random_numbers_of(names, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        importance = np.where(part.order > 0, first / part.order, np.nan)
    importance = np.where(np.isfinite(importance), importance, np.nanmax(importance, initial=1e-9))
    probability, scale = scaled(importance / part.probability, float(number))
    if probability.min() < SMALLEST:
        least = min(max(int(np.ceil(number * SMALLEST / probability.min())), FEWEST_AGAIN), drawn)
        raise UsageError(
            f"a sample of {counted(number, 'pair')} is too small for a second judge. Draw at least {least:,}."
        )
    seed = crc32(f"twice {seed}".encode())
    order = random_numbers_of(names, seed) / (probability / scale)
    design = {"twice": number, "seed": seed, "scale": scale}
    return replace(part, probability=probability, order=order, drawn=order < scale, design=design)


def judged_again(
    second: QrelsLike,
    pool: PoolLike | None,
    first: set[Pair],
    warnings: list[ResultWarning],
    selected: Collection[str] | None = None,
) -> dict[Pair, tuple[float, float]]:
    """Return probability and grade of every pair of the second judge; `first` are those of the first.

    Where queries are selected, only their pairs are returned.
    """
    table = read_qrels(second, kind="qrels")
    if not any(grade >= 0 for grade in table.grades.tolist()):
        raise UsageError(
            "the second judge made no judgments. Pass judgments of a pool from `leadline pool --twice`."
        )
    if table.by_machine:
        raise UsageError(
            "judgments by an automatic judge cannot correct those of the first judge. Pass human judgments "
            "with `--config read.second_judge=QRELS`."
        )
    found, gaps = judged_part(table, pool, warnings)
    if gaps:
        raise UsageError(
            f"the second judge skipped {counted(gaps, 'pair')} in the second pool (the column "
            "`order` gives the judging order). Have the skipped pairs judged, or use `--config "
            "read.second_pool=POOL` with the pool that the second judge was given."
        )
    if selected is not None:
        found = {pair: given for pair, given in found.items() if pair[0] in selected}
    certain = bool(found) and all(chance == 1 for chance, _ in found.values())
    if len(found) < FEWEST_AGAIN and not certain:
        raise UsageError(
            f"intervals need at least {FEWEST_AGAIN} pairs with a second judgment, not {len(found)}. Have "
            "more pairs judged a second time."
        )
    if certain:
        lacking = len(first - found.keys())
        if lacking:
            raise UsageError(
                f"the second judge did not judge {counted(lacking, 'pair')} that the first judge judged, so "
                "leadline needs the inclusion probabilities of the second judge's pairs. Pass the pool from "
                "`leadline pool --twice` with `--config read.second_pool=POOL`, or add a column "
                "`probability` to the second judge's judgments."
            )
    return found


def check_kinds(measures: Sequence[Measure], kinds: Sequence[Kind], twice: object) -> None:
    """Refuse measures whose divisor depends on grades that only one judge gave."""
    wrong = [
        str(one) for one, kind in zip(measures, kinds, strict=True) if not isinstance(kind, (Linear, Cascade))
    ]
    if twice and wrong:
        raise UsageError(
            f"{either(wrong, 'and')} cannot be estimated with a second judge. Use P, CG, DCG, RBP, RR, "
            "Success or ERR."
        )


def chances(sample: Sample) -> Floats:
    """Return the probability of each error term: of the drawn pairs, then of those that were judged again."""
    rows, chance, _ = sample.twice
    return np.concatenate([sample.probability[sample.drawn], sample.probability[rows] * chance])


def judge_warning(sample: Sample, judgments: int, *, intervals: bool) -> ResultWarning:
    """Return whose values the estimates are; `intervals`: whether any of them has an interval."""
    rows, _, grades = sample.twice
    if not len(rows):
        words = "values reflect these judgments, and another judge's values may differ"
        words += " by far more than the intervals suggest" * intervals
        return ResultWarning("one_judge", words, judgments)
    other = int((sample.table.grades[rows] != grades).sum())
    words = (
        f"values are estimates for the second judge, who rejudged {len(rows):,} of "
        f"{counted(judgments, 'pair')} ({percent(round(other / len(rows), 3))} with a different grade)"
    )
    return ResultWarning("second_judge", words, len(rows))


SIMULATIONS = 4
MOST_RUNS = 5  # runs whose half-widths are simulated, spread over the names
FEWEST_LABELS = 50  # at ranks up to the cutoff, for the rate of relevant documents
SPREAD = 1.5  # standard deviation of the level of the queries, in logits, where labels do not show it
WIDEST = 6.0  # largest standard deviation that is considered
FEWEST_OF_QUERY = 5  # labels of a query at ranks up to the cutoff, for the spread between queries
STEEPEST = 4.0  # slope of the logit by the log rank of votes; 1 where only the first documents have labels
STEPS = 20  # of the search for level, slope and spread
PASSES = 4  # in which slope and spread follow each other
NO_RATE = (
    f"it depends on how many documents are relevant (pass at least {FEWEST_LABELS} LLM labels of documents "
    f"at ranks 1 to {CUTOFF} with `--machine`, or as many judgments with `--judged`)"
)

Lists = Sequence[Sequence[Sequence[bytes]]]  # by query and run


class _Relevance(NamedTuple):
    """Model of relevance, by pair: query, log rank by votes, above the cutoff or not; and what labels show.

    The probability follows a logistic model: its level differs between queries, and it falls with the log
    rank by votes. Labels or existing judgments give the rates above and below the cutoff and their variance.
    `rest` is the relevant share of the other pairs, `spread` the variance between queries of the share above
    the cutoff; None if too few are labeled.
    """

    query: np.ndarray[tuple[int], np.dtype[np.intp]]
    depth: Floats
    top: Flags
    rate: float
    rest: float | None
    spread: float | None
    grades: Floats

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return simulated grades of all pairs."""
        level = rng.standard_normal(int(self.query.max()) + 1)[self.query]

        def at(slope: float, spread: float) -> Floats:
            """Return probabilities of relevance whose mean above the cutoff is the rate."""
            logit = spread * level - slope * self.depth
            first = logit[self.top]
            shift = _root(lambda one: self.rate - float(_logistic(first + one).mean()), -40.0, 40.0)
            return _logistic(logit + shift)

        def slope_at(spread: float) -> float:
            """Return the slope with which the mean probability below the cutoff is that of the labels."""
            rest = self.rest
            if rest is None:
                return 1.0
            return _root(lambda one: float(at(one, spread)[~self.top].mean()) - rest, 0.0, STEEPEST)

        def spread_at(slope: float) -> float:
            """Return the spread with which the variance between queries is that of the labels."""
            wanted = self.spread
            if wanted is None:
                return SPREAD
            return _root(lambda one: wanted - self._between(at(slope, one)), 0.0, WIDEST)

        spread = SPREAD
        slope = slope_at(spread)
        for _ in range(0 if self.spread is None else PASSES):
            spread = spread_at(slope)
            slope = slope_at(spread)
        relevant = rng.random(len(level)) < at(slope, spread)
        return np.where(relevant, rng.choice(self.grades, len(level)), 0.0)

    def _between(self, chance: Floats) -> float:
        """Return what `_variance_between` gives on average for documents above the cutoff."""
        query, p = self.query[self.top], chance[self.top]
        counts = np.maximum(np.bincount(query), 2)
        share, noise = np.bincount(query, p) / counts, np.bincount(query, p * (1 - p)) / counts**2
        return float(share.var() + (noise - (share * (1 - share) - noise) / (counts - 1)).mean())


def _variance_between(query: np.ndarray[tuple[int], np.dtype[np.intp]], relevant: Flags) -> float | None:
    """Return the variance between queries of their relevant shares, less that of chance."""
    counts = np.bincount(query)
    known = counts >= FEWEST_OF_QUERY
    if known.sum() < FEWEST_QUERIES:
        return None
    share = np.bincount(query, relevant)[known] / counts[known]
    return max(float(share.var() - (share * (1 - share) / (counts[known] - 1)).mean()), 0.0)


def _logistic(logit: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-logit)), dtype=np.float64)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0, by bisection."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return low


def simulated_half_width(
    pool: DrawnPool,
    queries: Sequence[bytes],
    lists: Lists,
    kind: Ratio,
    labels: Mapping[str, Mapping[str, float]],
    seed: int,
) -> tuple[float | None, str]:
    """Return the median half-width of 95 % intervals of nDCG of pooled runs, or None and why there is none.

    It is that of the estimator over simulated judgments, for other draws of the same design.
    `labels` are machine labels and judgments: they give the rate of relevant documents and their grades.
    """
    _, query = np.unique(np.array(pool.queries, dtype=object), return_inverse=True)
    cutoff = kind.cutoff or 0
    ranks = [list(one.values()) for one in pool.contributors]
    support = np.array([sum(1.0 / (VOTE_CONSTANT + rank) for rank in one) for one in ranks])
    top = np.array([min(one, default=cutoff + 1) <= cutoff for one in ranks])
    known = np.array(
        [labels.get(name, {}).get(document, np.nan) for name, document in pool.names()], np.float64
    )

    def evidence_for(drawn: Flags, judged: Floats, seed: int) -> Evidence:
        """Return the evidence of a draw of this design, with the grades of all pairs."""
        grades: dict[str, dict[str, float]] = {}
        for row in np.flatnonzero(drawn).tolist():
            grades.setdefault(pool.queries[row], {})[pool.documents[row]] = float(judged[row])
        return evidence_of(grades, replace(pool, drawn=drawn), None, "centered", skipped=False, seed=seed)

    evidence = evidence_for(pool.drawn, np.zeros(len(query)), seed)
    why = design_withheld(evidence.sample, kind, evidence.drawn_for)
    if why:
        return None, Withheld(NoInterval.NOT_SIMULATED, why).message
    first, others = top & (known >= 0), ~top & (known >= 0)
    rate = float((known[first] > 0).mean()) if first.any() else 0.0
    if first.sum() < FEWEST_LABELS:
        return None, NO_RATE
    if not 0 < rate < 1:
        all_of = "relevant" if rate else "non-relevant"
        words = f"all labeled or judged documents at ranks 1 to {cutoff} are {all_of} (label or judge more)"
        return None, words
    model = _Relevance(
        query,
        np.log(vote_ranks(query, support)),
        top,
        rate,
        float((known[others] > 0).mean()) if others.sum() >= FEWEST_LABELS else None,
        _variance_between(query[first], known[first] > 0),
        known[first & (known > 0)],
    )
    rng = np.random.default_rng([seed, len(pool.queries)])
    chosen = np.unique(np.linspace(0, len(lists[0]) - 1, MOST_RUNS).round().astype(int)).tolist()
    found = []
    for number in range(SIMULATIONS):
        drawn = rng.random(len(query)) < pool.probability
        sample = evidence_for(drawn, model.draw(rng), seed + number).sample
        estimator, p = Estimator(sample, kind), sample.probability[sample.drawn]
        for run in chosen:
            rows = (
                (name, document, -float(rank))
                for name, runs in zip(queries, lists, strict=True)
                for rank, document in enumerate(runs[run])
            )
            part = estimator.of(JudgedRun.of_run(Run.of(rows), sample.table))
            found.append(half_width(part.errors, part.replicates, p, 0.95, part.predicted[1]))
    return float(np.median(found)), ""
