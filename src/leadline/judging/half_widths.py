"""Precision of the estimates from a drawn pool while it is judged, and rules for stopping.

The pairs of a pool of `leadline pool --for` are judged in its order, so that the first n pairs are a smaller
draw. Half-widths after n pairs are those that `leadline evaluate` gives for the pooled runs, whose lists are
recovered from the pool; for a pool drawn for a pair of runs, that of their difference.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from leadline.comparison.compare import compare
from leadline.data.arrays import Floats
from leadline.data.judgment_tables import DrawnPool, Judgment
from leadline.data.wording import counted, listed
from leadline.errors import UsageError
from leadline.estimation.designs import SMALLEST, Linear, Ratio, has_interval, kind_of, random_numbers_of
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.estimated_columns import Difference, Estimate, variance_of
from leadline.estimation.measured_pool import (
    first_pairs,
    in_order,
    looks_of,
    places_of_looks,
    probabilities_after,
)
from leadline.estimation.pool_designs import RATE, rank_weights
from leadline.estimation.sampling_errors import FEWEST_JUDGMENTS, FEWEST_QUERIES
from leadline.evaluation.profiles import profile_of
from leadline.io.objects import Qrels, read_qrels
from leadline.judging.queue import Queues
from leadline.judging.store import Store
from leadline.measures import Measure
from leadline.stats import INTERVALS
from leadline.stats.power import half_width_of, queries_for_half_width, queries_needed

RULE = re.compile(r"(.+?)\s+half-width\s*<\s*(\S+)")
EXPECTED_RULE = '"MEASURE half-width < NUMBER", such as "P@10 half-width < 0.05"'
LOOKS = 10
NEVER = (
    f"never checked, because the pool has fewer than {FEWEST_JUDGMENTS} pairs or all were judged or "
    "skipped before the rule was set"
)
STEPS = 20  # of the curve
NEW_POINTS = 2  # of the curve that one request computes, so that none takes long
PAUSE = 10  # times the seconds that the half-width took, before it is computed again
Z = 1.959964
DISAGREE = 0.2  # assumed share of pairs on which two judges differ
MOST_SENTENCES = 6  # of a verdict
STUDENT = INTERVALS.parse("Student")
Pair = tuple[str, str]
Judgments = Mapping[Pair, tuple[Judgment, ...]]  # of every judge


class StopRule(NamedTuple):
    """Judging stops when the half-width of a measure, as in `HalfWidth`, is below `width`."""

    measure: str
    width: float

    def __str__(self) -> str:
        return f"{self.measure} half-width < {self.width:g}"


def _measure(name: str, rel: float | None = None) -> Measure:
    (measure,) = profile_of("leadline").measures([name], rel=rel, documents=None)
    return measure


def _has_forecast(name: str) -> bool:
    """Return whether precision can be forecast: not where the grades or the lengths of lists decide."""
    kind = kind_of(_measure(name))
    unknown = isinstance(kind, Ratio) or (isinstance(kind, Linear) and kind.share)
    return has_interval(kind) and not unknown


def parse_rule(text: str, measures: Sequence[str], rel: float | None = None) -> StopRule:
    """Parse a stopping rule about one of the measures of a pool.

    >>> str(parse_rule("precision@10 half-width < .05", ["P@10"]))
    'P@10 half-width < 0.05'
    """
    match = RULE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"the stopping rule '{text}' is not valid. Use {EXPECTED_RULE}.")
    measure = _measure(match[1], rel)
    if str(measure) not in measures:
        raise UsageError(f"the stopping rule uses {measure}, but the pool was drawn for {listed(measures)}")
    if not has_interval(kind_of(measure)):
        raise UsageError(
            f"the stopping rule cannot use {measure}, which has no confidence interval with sampled judgments"
        )
    try:
        width = float(match[2])
    except ValueError:
        width = math.nan
    if not 0 < width < math.inf:
        raise UsageError(f"the half-width in a stopping rule must be a number above 0, not '{match[2]}'")
    return StopRule(str(measure), width)


def _fixed(pool: DrawnPool, rule: str, looks: int | None) -> dict[str, Any]:
    """Return what a rule fixes: by default with the looks of the pool, or 10 if it has only one."""
    rows = in_order(pool)
    names, order = pool.names(), pool.order[rows].tolist()
    drawn = ascii((pool.design, [names[row] for row in rows.tolist()], order))
    of_pool = int(pool.design.get("looks", 1))
    number = looks or (of_pool if of_pool > 1 else LOOKS)
    return {"rule": rule, "number": number, "pairs": len(rows), "pool": crc32(drawn.encode())}


def _differing(now: Mapping[str, Any], saved: Mapping[str, Any]) -> set[str]:
    return {name for name, value in now.items() if saved.get(name, value) != value}


def fixed_facts(store: Store, pool: DrawnPool, rule: StopRule, looks: int | None) -> dict[str, Any]:
    """Return what a rule fixes in a store; raise UsageError if it is not what was fixed before."""
    now = _fixed(pool, str(rule), looks)
    saved = store.stopping() or {}  # of an earlier version without the pool
    if differing := _differing(now, saved):
        before, other = now | saved, not differing.isdisjoint({"pairs", "pool"})
        which = "another" if other else "the same"
        known = f" and {which} pool of {counted(now['pairs'], 'pair')}" if other or "pool" in saved else ""
        raise UsageError(
            f"the store has the stopping rule '{before['rule']}', judge.looks={before['number']} and a pool "
            f"of {counted(before['pairs'], 'pair')}, but now the rule is '{rule}', with judge.looks="
            f"{now['number']}{known}. Use the same rule and pool with --config judge.looks="
            f"{before['number']}, or another store."
        )
    return now


def runs_of(pool: DrawnPool) -> dict[str, dict[str, list[str]]]:
    """Return the top of the pooled runs, as deep as the frame of the pool.

    Ranks whose document was removed from the frame hold a placeholder, which is outside the frame too, as do
    the ranks that a measure reads below the depth of the pool, where a list may go on.
    """
    deepest = max(len(rank_weights(_measure(name))) for name in pool.design["measures"])
    ranked: dict[str, dict[str, dict[int, str]]] = {name: {} for name in pool.design.get("runs", ())}
    for query, document, ranks in zip(pool.queries, pool.documents, pool.contributors, strict=True):
        for name, rank in ranks.items():
            ranked.setdefault(name, {}).setdefault(query, {})[rank] = document

    def whole(by_rank: Mapping[int, str]) -> list[str]:
        last = max(by_rank)
        end = max(last, deepest) if last == pool.design["depth"] else last
        return [by_rank.get(rank, f"rank {rank}, outside the frame") for rank in range(1, end + 1)]

    return {
        name: {query: whole(by_rank) for query, by_rank in by_query.items()}
        for name, by_query in ranked.items()
        if by_query
    }


class HalfWidth(NamedTuple):
    """Largest half-width of the intervals of the pooled runs; None with the reason if one has no interval.

    For a pool drawn for a pair of runs, that of their difference. `value` is for these queries, `over` for
    other queries of the kind.
    """

    value: float | None
    reason: str
    over: float | None = None


class PoolPrecision:
    """Half-widths of a pool of `leadline pool --for` after the first pairs in its order.

    `pair` are the two runs whose difference the pool was drawn for, empty if for single runs; `missing` is
    the path of the machine labels that the pool names, if they do not exist: half-widths do without them.
    """

    def __init__(self, pool: DrawnPool) -> None:
        self.pool = pool
        rows, names = in_order(pool), pool.names()
        self.pairs: list[Pair] = [names[row] for row in rows.tolist()]
        self.orders: list[float] = [*pool.order[rows].tolist(), math.inf]
        self.measures: list[str] = list(pool.design["measures"])
        self.runs = runs_of(pool)
        self.pair: tuple[str, ...] = tuple(pool.design.get("for_pair") or ())
        path = pool.design.get("machine")
        self.machine = path if isinstance(path, str) and os.path.exists(path) else None
        self.missing: str = "" if self.machine or not isinstance(path, str) else path
        self._numbers = random_numbers_of(names, int(pool.design["seed"]))
        self._queries = len(set(pool.queries))
        self._squares = {measure: self._mean_squares(measure) for measure in self.measures}

    def _mean_squares(self, measure: str) -> Floats:
        """Return the mean squared weight of each pair over the pooled runs, or that of the difference."""
        weights = rank_weights(_measure(measure)).tolist()

        def weight(rank: int | None) -> float:
            return 0.0 if rank is None or rank > len(weights) else float(weights[rank - 1])

        if self.pair:
            a, b = self.pair
            gaps = [weight(ranks.get(a)) - weight(ranks.get(b)) for ranks in self.pool.contributors]
            return np.array(gaps) ** 2
        squares = [sum(weight(rank) ** 2 for rank in ranks.values()) for ranks in self.pool.contributors]
        return np.array(squares) / max(len(self.runs), 1)

    def _judged(self, count: int, judgments: Judgments) -> Qrels:
        """Return the judgments of the first pairs in order, as those of a store are read."""
        return read_qrels([one for pair in self.pairs[:count] for one in judgments.get(pair, ())])

    def _too_few(self, count: int, judgments: Judgments) -> str:
        number = sum(pair in judgments for pair in self.pairs[:count])
        few = f"{counted(number, 'pair')} judged so far, but at least {FEWEST_JUDGMENTS} are needed"
        return few if number < FEWEST_JUDGMENTS else ""

    def after(self, count: int, judgments: Judgments) -> dict[str, HalfWidth]:
        """Return the half-width of each measure after `count` pairs; those without a judgment are gaps."""
        few = self._too_few(count, judgments)
        if few:
            return dict.fromkeys(self.measures, HalfWidth(None, few))
        runs = {name: self.runs[name] for name in self.pair or self.runs}
        smaller = first_pairs(self.pool, count, self._numbers)
        judged = self._judged(count, judgments)
        results = estimate(judged, runs, self.measures, pool=smaller, machine=self.machine, skipped=True)
        return {measure: self._half_width(results, measure) for measure in self.measures}

    def _half_width(self, results: EstimatedResults, measure: str) -> HalfWidth:
        """Return the largest half-width of the runs, or that of the difference, from their estimates."""
        estimates: Sequence[Estimate | Difference]
        if self.pair:
            estimates = results.differences(measure)
            a, b = results.averaged_values(results.measure_index(measure))
            (low,), (high,) = STUDENT.limits((a - b)[:, None], level=results.confidence)
            over = float(high - low) / 2
        else:
            estimates = runs = [results.estimate(name, measure) for name in self.runs]
            over = max(((one.high - one.low) / 2 for one in runs), default=math.nan)
        reason = next((one.reason for one in estimates if one.reason), "")
        wide = max(((one.these_high - one.these_low) / 2 for one in estimates), default=math.nan)
        return HalfWidth(None, reason) if reason or math.isnan(wide) else HalfWidth(wide, "", over)

    def verdict(self, count: int, judgments: Judgments) -> str:
        """Return what `leadline compare` says after `count` pairs, or why it says nothing."""
        # The pool is for a - b, which `compare` says of runs in the order b, a.
        runs = {name: self.runs[name] for name in self.pair[::-1] or self.runs}
        few = self._too_few(count, judgments)
        if few:
            return f"No verdict: {few}."
        judged = self._judged(count, judgments)
        try:
            compared = compare(judged, runs, self.measures, pool=self.pool, machine=self.machine)
        except UsageError as error:
            return str(error)
        return "\n".join(compared.sentences()[:MOST_SENTENCES])

    def judged_twice(self, measure: str, chance: Floats) -> float | None:
        """Return the half-width to expect if each drawn pair is judged again with such a probability."""
        alone = self.forecast(measure, len(self.pairs))
        if alone is None:
            return None
        rows = np.flatnonzero(self.pool.drawn)
        p, squares = self.pool.probability[rows], self._squares[measure][rows]
        added = float((squares * DISAGREE * (1.0 - chance) / (chance * p**2)).sum())
        return math.hypot(alone, Z * math.sqrt(added) / self._queries)

    def budgets(self, measure: str) -> list[tuple[float, float]]:
        """Return judgments per query, and the variance due to the draw as a share of that at this budget.

        Budgets are about half to four times this one, and that of all documents that matter.
        """
        order, p, squares = self.pool.order, self.pool.probability, self._squares[measure]
        unscaled = np.divide(self._numbers, order, out=np.full(len(order), np.inf), where=order > 0)

        def chance(scale: float) -> Floats:
            return np.where(p > 0, np.clip(scale * unscaled, SMALLEST, 1.0), 0.0)

        def spread(chance: Floats) -> float:
            inside = chance > 0
            return float(((1 - chance[inside]) / chance[inside] * squares[inside]).sum())

        now, scale = spread(p), float(self.pool.design["scale"])
        whole = float((1.0 / unscaled[(p > 0) & (squares > 0)]).max(initial=0.0))
        found = {float(p.sum()) / self._queries: 1.0}
        for wanted in [scale / 2, 2 * scale, 4 * scale, whole] if now > 0 else []:
            if wanted <= whole:
                other = chance(wanted)
                found[float(other.sum()) / self._queries] = spread(other) / now
        return sorted(found.items())

    def forecast(self, measure: str, count: int) -> float | None:
        """Return the half-width to expect after `count` pairs, as `leadline pool` does without labels."""
        if not _has_forecast(measure):
            return None
        p = self.pool.probability
        if count < len(self.pairs):
            p = probabilities_after(self.pool, self.orders[count], self._numbers)
        inside = (p > 0) & (p < 1)
        spread = ((1 - p[inside]) / p[inside] * self._squares[measure][inside]).sum()
        return Z * math.sqrt(float(spread) * RATE * (1 - RATE)) / self._queries


class Plan(NamedTuple):
    """What a number of judgments per query would give for a measure of a run, or of a difference "a - b".

    `half_widths` are those to expect of the 95 % interval over queries, by number of queries; `queries` reach
    the goal, None if ten million do not.
    """

    measure: str
    of: str
    per_query: float
    half_widths: dict[int, float]
    queries: int | None

    @property
    def judgments(self) -> int | None:
        """Number of judgments of all these queries."""
        return None if self.queries is None else math.ceil(self.queries * self.per_query)


def plans(
    results: EstimatedResults,
    pool: DrawnPool,
    *,
    half_width: float | None = None,
    smallest: float | None = None,
    power: float = 0.8,
    differences: bool = False,
) -> list[Plan]:
    """Plan queries and judgments per query from estimates of a pilot study.

    The variance over queries of estimated values is that of the true values and that of the draw. The first
    is what the draw does not explain; the second changes with the inclusion probabilities of the pool, which
    are scaled to other budgets. The plan is for the run, or the difference, with the most variable values.

    The goal is a half-width of the 95 % interval over queries, or a `smallest` difference to detect with a
    power. `differences` plans for a difference even if the pool was not drawn for a pair.
    """
    name, goal = ("half_width", half_width) if smallest is None else ("smallest", smallest)
    if goal is None or (half_width is not None and smallest is not None):
        raise UsageError("a plan needs exactly one of --config test.half_width and --config test.smallest")
    if not 0 < goal < math.inf:
        raise UsageError(f"--config test.{name} must be a number above 0, not {goal:g}")
    precision, found = PoolPrecision(pool), list[Plan]()
    differ = differences or smallest is not None or bool(precision.pair)
    for place, measure in enumerate(map(str, results.measures)):
        if measure not in precision.measures:
            drawn_for = listed(precision.measures)
            raise UsageError(
                f"leadline cannot plan for {measure}, because the pool was drawn only for {drawn_for}"
            )
        if not _has_forecast(measure):
            raise UsageError(
                f"leadline cannot plan for {measure}, because its half-width cannot be forecast. Use CG, "
                "DCG, ERR, P@k, RBP, RR or Success with a pool drawn for that measure, as in `leadline pool "
                "--for P@10`."
            )
        of, total, drawn, size = _most_variable(results, place, differ=differ)
        for per_query, share in precision.budgets(measure):
            spread = max(total - drawn, 0.0) + drawn * share
            if spread <= 0:  # the pilot shows nothing but the noise of the draw
                continue
            sizes = (size, 2 * size, 4 * size)
            deviation = math.sqrt(spread)
            if smallest is None:
                queries = queries_for_half_width(deviation, goal)
            else:
                queries = queries_needed(goal / deviation, power_wanted=power)
            widths = {number: half_width_of(deviation, number) for number in sizes}
            found.append(Plan(measure, of, per_query, widths, queries))
    if not found:
        raise UsageError(
            "leadline cannot make a plan, because the scores (or their differences) are the same for all "
            "queries. Judge more documents, or use other runs."
        )
    return found


def _most_variable(results: EstimatedResults, place: int, *, differ: bool) -> tuple[str, float, float, int]:
    """Return a run or difference, the variance of its values and that due to draws, and their number."""
    values, names = results.averaged_values(place), results.names
    size = values.shape[1]
    ones: list[tuple[int, int | None]] = [(run, None) for run in range(len(names))]
    if differ:
        ones = [(a, b) for a in range(len(names)) for b in range(a)]
    if not ones:
        raise UsageError("a plan for a difference needs at least two runs")
    if size < FEWEST_QUERIES:
        raise UsageError(f"a plan needs at least {FEWEST_QUERIES} queries, not {size}")
    found = []
    for a, b in ones:
        column = values[a] if b is None else values[a] - values[b]
        name = names[a] if b is None else f"{names[a]} - {names[b]}"
        if not np.isnan(column).any():
            found.append((float(column.var(ddof=1)), name, size * variance_of(results, place, a, b)))
    if not found:
        raise UsageError(
            f"leadline cannot plan for {results.measures[place]}, because some queries have no score yet. "
            "Judge more documents."
        )
    total, name, drawn = max(found)
    return name, total, drawn, size


class Precision:
    """Half-widths during judging, the looks of a stopping rule, and what they mean for the queues.

    The rule is written to the store with the places of its looks before the first judgment that it concerns,
    and every look with its result. `fixed` is what `fixed_facts` returns of the rule.
    """

    def __init__(
        self,
        pool: DrawnPool,
        queues: Queues,
        *,
        rule: StopRule | None = None,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        self.pool = PoolPrecision(pool)
        self.queues = queues
        ids = {(pair.query, pair.document): pair.id for pair in queues.pairs.values()}
        self._ids = [ids.get(pair) for pair in self.pool.pairs]  # None: no text, so it is skipped
        self._lock = Lock()
        self._known: dict[int, tuple[int, dict[str, HalfWidth]]] = {}
        self._now, self._again = 0, 0.0
        self._verdict: tuple[int, int, str] = 0, 0, ""  # place of the look, hash of the judgments, and words
        total = len(self.pool.pairs)
        self.looks = looks_of(pool) or [total]
        self.state = queues.store.stopping()
        self.rule = rule
        if fixed is not None:
            if self.state is None:
                places = places_of_looks(total, fixed["number"], self._front())
                self.state = {**fixed, "looks": places, "taken": [], "stopped": False}
                self._save()
            self.advance()

    def _save(self) -> None:
        self.queues.store.set_fact("stopping", json.dumps(self.state))

    def _front(self) -> int:
        """Return how many of the first pairs in order were judged or skipped, without a gap."""
        settled = self.queues.settled()
        return next(
            (position for position, pair in enumerate(self._ids) if pair is not None and pair not in settled),
            len(self._ids),
        )

    def _judgments(self) -> Judgments:
        judges = self.queues.judgments().items()
        found: dict[Pair, tuple[Judgment, ...]] = {}
        for pair, number in zip(self.pool.pairs, self._ids, strict=True):
            for judge, acts in judges:
                if number in acts:
                    found[pair] = (*found.get(pair, ()), Judgment(*pair, judge, acts[number].grade or 0))
        return found

    def _key(self, count: int, judgments: Judgments) -> int:
        return hash(tuple(judgments.get(pair) for pair in self.pool.pairs[:count]))

    def _after(self, count: int, judgments: Judgments) -> dict[str, HalfWidth]:
        key = self._key(count, judgments)
        if self._known.get(count, (None,))[0] != key:
            self._known[count] = key, self.pool.after(count, judgments)
        return self._known[count][1]

    def advance(self) -> None:
        """Take the looks that are due, and open the queues up to the next one."""
        if self.rule is None or self.state is None:
            return
        with self._lock:
            looks, taken = self.state["looks"], self.state["taken"]
            front = self._front()
            while len(taken) < len(looks) and looks[len(taken)] <= front and not self.state["stopped"]:
                count = looks[len(taken)]
                judgments = self._judgments()
                half_width = self._after(count, judgments)[self.rule.measure].value
                self.state["stopped"] = half_width is not None and half_width < self.rule.width
                taken.append(
                    {
                        "pairs": count,
                        "skipped": sum(pair not in judgments for pair in self.pool.pairs[:count]),
                        "half_width": half_width,
                        "time": datetime.now(UTC).isoformat(timespec="seconds"),
                    }
                )
                self._save()
            if self.state["stopped"]:
                last = taken[-1]
                shown = math.floor(last["half_width"] * 1e4) / 1e4  # not rounded up to the width
                self.queues.stop(
                    f"You have judged enough: the half-width of {self.rule.measure} is "
                    f"{shown:.4f}, below {self.rule.width:g}, after {last['pairs']:,} of "
                    f"{len(self._ids):,} documents. Thank you."
                )
            else:
                following = looks[len(taken)] if len(taken) < len(looks) else len(self._ids)
                self.queues.limit = self.pool.orders[following]

    def facts(self) -> list[str]:
        """Return a summary: the order, the rule and its looks."""
        facts = ["documents appear in pool order"]
        if self.pool.pair:
            facts.append("half-widths are for the difference between " + " and ".join(self.pool.pair))
        if self.pool.missing:
            facts.append(
                f"the LLM labels of the pool are missing ({self.pool.missing}), so half-widths are computed "
                "without them"
            )
        if self.rule is not None and self.state is not None:
            looks = [f"{look:,}" for look in self.state["looks"]]
            stops = f"judging stops when {self.rule} (checked after {listed(looks)} pairs)" if looks else ""
            facts.append(stops or f"the stopping rule {self.rule} is {NEVER}")
        elif self.state is not None:
            rule, number = self.state["rule"], self.state["number"]
            how = f"does not apply now; to apply it, add --stop-when '{rule}' --config judge.looks={number}"
            if _differing(_fixed(self.pool.pool, rule, number), self.state):
                how = f"is for another pool, so it does not apply: {rule}"
            facts.append(f"the store has a stopping rule that {how}")
        return facts

    def numbers(self) -> dict[str, Any]:
        """Return the half-widths so far, to be expected, and the looks, as plain data."""
        with self._lock:
            front, judgments, total = self._front(), self._judgments(), len(self._ids)
            if monotonic() >= self._again:
                began = monotonic()
                self._after(front, judgments)
                self._now, self._again = front, monotonic() + PAUSE * (monotonic() - began)
            self._compute(front, judgments)
            shown = sorted(count for count in self._known if count <= front)
            return {
                "pairs": total,
                "front": front,
                "skipped": sum(pair not in judgments for pair in self.pool.pairs[:front]),
                "beyond": sum(pair in judgments for pair in self.pool.pairs[front:]),
                "runs": len(self.pool.runs),
                "pair": list(self.pool.pair),
                "missing_labels": self.pool.missing,
                "looks": self.looks if len(self.pool.runs) > 1 else [],
                "verdict": self._verdict_at(front, judgments),
                "measures": [self._measure(measure, shown, total) for measure in self.pool.measures],
                "stopping": None if self.state is None else self.state | {"used": self.rule is not None},
            }

    def _verdict_at(self, front: int, judgments: Judgments) -> dict[str, Any] | None:
        """Return the verdict of the last look that was reached, and where that was; None before the first."""
        place = max((look for look in self.looks if look <= front), default=0)
        if not place or len(self.pool.runs) < 2:
            return None
        key = self._key(place, judgments)
        if self._verdict[:2] != (place, key):
            self._verdict = place, key, self.pool.verdict(place, judgments)
        return {"after": place, "words": self._verdict[2]}

    def _compute(self, front: int, judgments: Judgments) -> None:
        """Compute a few points of the curve that are missing or out of date."""
        total = len(self._ids)
        left = NEW_POINTS
        for count in (math.ceil(total * step / STEPS) for step in range(STEPS, 0, -1)):
            if left and FEWEST_JUDGMENTS <= count <= front:
                before = self._known.get(count)
                self._after(count, judgments)
                left -= self._known[count] is not before

    def _measure(self, measure: str, shown: Sequence[int], total: int) -> dict[str, Any]:
        now = self._known[self._now][1][measure] if self._now in self._known else HalfWidth(None, "")
        at = self._now if now.value is not None else 0
        typical = self.pool.forecast(measure, at) if at else None
        ahead = []
        for count in sorted({at, *(math.ceil(total * step / STEPS) for step in range(1, STEPS + 1))}):
            expected = self.pool.forecast(measure, count) if count >= max(at, FEWEST_JUDGMENTS) else None
            if expected is not None:
                scale = 1.0 if now.value is None or not typical else now.value / typical
                ahead.append([count, expected * scale])
        points = [
            [count, half.value]
            for count in shown
            if (half := self._known[count][1][measure]).value is not None
        ]
        return {
            "measure": measure,
            "now": now.value,
            "over": now.over,
            "at": self._now,
            "reason": now.reason,
            "end": ahead[-1][1] if ahead else None,
            "points": points,
            "ahead": ahead,
        }
