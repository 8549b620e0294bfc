"""Reproduction and replication of an experiment: measures of Breuer et al. (2020), with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.comparison.compare import COMPARED
from leadline.comparison.joint_tables import orders_of
from leadline.comparison.pairing import check_averages, check_judged
from leadline.comparison.replication_result import RUNS, Replication, ReplicationValue
from leadline.comparison.similarity_baselines import (
    RBO,
    SIMILARITIES,
    Kendall,
    RankedLists,
    Similarity,
    SystemLists,
    ranked_lists,
    system_lists,
)
from leadline.data.arrays import Floats
from leadline.data.ids import DocumentNumbers
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import refuse_unknown
from leadline.data.table import ResultWarning, raised
from leadline.data.validation import check_whole
from leadline.data.wording import percent
from leadline.data.wording import queries as counted_queries
from leadline.errors import InputError, UnknownNameError, UsageError
from leadline.evaluation.evaluate import EvaluateOptions, Evaluation, RunValues
from leadline.evaluation.join import judge_runs
from leadline.evaluation.results import Results
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.stats import checked_level, checked_seed
from leadline.stats.intervals import Student
from leadline.stats.paired_tests import T
from leadline.stats.ratios import effect_ratio_limits, improvement_difference_limits, studentised_ratio, welch

DRAWS = 10_000
LEAST_DRAWS = 99
ORIGINAL = tuple(f"original {run}" for run in RUNS)
REPRODUCED = tuple(f"reproduced {run}" for run in RUNS)
NO_DRAWS = "the number of draws is 0"
ONE_QUERY = "one query is too few"
NO_LIMITS = (math.nan, math.nan)


@public
def replicate(
    original: Sequence[RunLike],
    reproduced: Sequence[RunLike],
    *,
    qrels: QrelsLike,
    qrels2: QrelsLike | None = None,
    measures: Iterable[str | Measure | type[Measure]] | str | Measure | type[Measure] | None = None,
    rbo: str | Similarity = "RBO(p=0.95)",
    draws: int = DRAWS,
    confidence: float = 0.95,
    seed: int = 0,
    **options: Unpack[EvaluateOptions],
) -> Replication:
    """Measure how far an experiment was reproduced, or replicated on another collection.

    An experiment is a baseline run and an advanced run, whose difference is the effect.

    Parameters
    ----------
    original, reproduced : (run, run)
        Baseline and advanced run of both experiments.
    qrels : qrels
        Judgments of the original queries.
    qrels2 : qrels, optional
        Judgments of other queries, of which the second experiment is a replication; by default it is a
        reproduction on the queries of the original one.
    measures : str, Measure, or iterable of these, optional
        Measures of effectiveness; by default AP and nDCG@10.
    rbo : str or RBO, default "RBO(p=0.95)"
        Rank-biased overlap, with its persistence.
    draws : int, default 10,000
        Number of bootstrap resamples of the queries, for the intervals of RMSE; 0 for none.
    confidence : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Seed of the random number generator.
    **options
        Options of `evaluate`. `depth` also cuts the lists that are compared.

    Returns
    -------
    Replication

    Raises
    ------
    InputError
        If no document of a run is judged, or no query counts in all four means.
    UsageError
        If options are invalid.

    Notes
    -----
    Kendall's tau union (of the first n documents of both lists, n being the length of the shorter one) is
    that of the positions of both lists in their union: the original list, then the documents that only the
    reproduced one has. RMSE is of original and reproduced per-query values; divided by the largest one
    possible for the original values it is the normalized RMSE. The effect ratio is the mean difference of
    advanced and baseline run, reproduced divided by original; delta RI is the relative improvement of the
    original means minus that of the reproduced ones. docs/replication.md says how each interval is made and
    how often it contained the true value. The interval of the effect ratio is withheld where that of the
    original effect contains 0.

    References
    ----------
    Breuer, Ferro, Fuhr, Maistro, Sakai, Schaer and Soboroff (2020), How to measure the reproducibility of
    system-oriented IR experiments, SIGIR.

    Examples
    --------
    >>> qrels = {f"q{n}": {"d": 1} for n in range(4)}
    >>> first = {query: {"x": 2.0, "d": 1.0} for query in qrels}
    >>> better = {query: {"d": 2.0, "x": 1.0} for query in qrels}
    >>> worse = {**better, "q3": first["q3"]}
    >>> result = replicate((first, better), (first, worse), qrels=qrels, measures="AP")
    >>> result.value("effect_ratio").value, result.value("rmse", run="advanced").value
    (0.75, 0.25)
    """
    refuse_unknown(replicate, options, EvaluateOptions.__annotations__.keys() - {"name_by"})
    check_whole(0, draws=draws)
    checked_level(confidence)
    checked_seed(seed)
    if 0 < draws < LEAST_DRAWS:
        raise UsageError(
            f"--config test.draws={draws} is too low. Use at least {LEAST_DRAWS}, or 0 for no RMSE intervals."
        )
    overlap = _overlap(rbo)
    evaluating: dict[str, Any] = {name: value for name, value in options.items() if name != "on_run"}
    rules = ReplicationRules(draws, confidence, seed)
    first, second = (
        dict(zip(roles, _pair(runs, name), strict=True))
        for roles, runs, name in ((ORIGINAL, original, "original"), (REPRODUCED, reproduced, "reproduced"))
    )
    experiments = [("", qrels, first | second)]
    if qrels2 is not None:
        experiments = [("original: ", qrels, first), ("replication: ", qrels2, second)]
    parts: list[Results] = []
    warnings: list[ResultWarning] = []
    orders: dict[str, Floats] = {}
    digests: list[str] = []
    for of, table, runs in experiments:
        evaluation = Evaluation(table, COMPARED if measures is None else measures, **evaluating)
        digests += [evaluation.qrels.digest] if of else []
        infos, judged = judge_runs(
            runs,
            evaluation.qrels,
            partial(_judged, evaluation, None if of else DocumentNumbers()),
            reading=evaluation.reading,
            cut=evaluation.cut,
            keep=not of,
            measures=evaluation.measures,
            on_run=options.get("on_run"),
        )
        values = [each for each, _ in judged]
        rows = (slice(row, row + 2) for row in range(0, len(infos), 2))
        parts += [evaluation.results(infos[pair], values[pair]) for pair in rows]
        notices = evaluation.results(infos, values).warnings
        warnings += [replace(notice, message=of + notice.message) for notice in notices]
        systems = [lists for _, lists in judged if lists is not None]
        if systems:
            orders = _orders(systems, len(evaluation.qrels.queries), overlap)
    if len(digests) > len(set(digests)):
        same = "both experiments have the same judgments, but the tests treat their queries as different. "
        same += "For a reproduction, pass the judgments once"
        warnings.append(ResultWarning("same_judgments", same, len(parts[0].queries)))
    for results in parts:
        check_averages(results)
        check_judged(results)
    found = list(replication_values(parts[0], parts[1], orders, rules, overlap=str(overlap)))
    unreliable = parts[0].unreliable or parts[1].unreliable
    if unreliable:
        found = [
            one
            if one.statistic in orders
            else one._replace(low=math.nan, high=math.nan, p=math.nan, withheld=unreliable)
            for one in found
        ]
    return Replication(
        parts[0],
        parts[1],
        found,
        orders=orders,
        warnings=warnings + (_warnings(parts[0], parts[1], orders) if orders else []),
        options=parts[0].options
        | {"rbo": str(overlap), "draws": draws, "confidence": confidence, "seed": seed},
    )


class ReplicationRules(NamedTuple):
    """Options of the intervals: number of resamples, confidence level, seed."""

    draws: int
    confidence: float
    seed: int


def _overlap(rbo: str | Similarity) -> RBO:
    try:
        found = SIMILARITIES.parse(rbo) if isinstance(rbo, str) else rbo
    except UnknownNameError:
        found = None
    if not isinstance(found, RBO):
        raise UsageError(f"{rbo!r} is not valid for --rbo. Pass RBO with its parameter, such as RBO(p=0.95).")
    return found


def _pair(runs: Sequence[RunLike], name: str) -> tuple[RunLike, RunLike]:
    if not isinstance(runs, (list, tuple)) or len(runs) != 2:
        raise UsageError(f"`{name}` must be a pair of runs, (baseline, advanced)")
    return runs[0], runs[1]


def _judged(
    evaluation: Evaluation, numbers: DocumentNumbers | None, judged: JudgedRun
) -> tuple[RunValues, SystemLists | None]:
    """Return the values of a run, and its lists if documents are numbered."""
    return evaluation.values_of(judged), None if numbers is None else system_lists(judged, numbers)


def _orders(systems: Sequence[SystemLists], queries: int, overlap: RBO) -> dict[str, Floats]:
    """Return tau union and RBO of baseline and advanced run by query; NaN where a run lacks the query."""
    tau, rbo = np.full((2, 2, queries), np.nan)
    for query, ranked in enumerate(ranked_lists(systems, queries)):
        similar = overlap.values(ranked)
        for run in range(2):
            if min(ranked.lengths[run], ranked.lengths[run + 2]) > 0:
                tau[run, query] = tau_union(ranked, run, run + 2)
                rbo[run, query] = similar[run, run + 2]
    return {"tau_union": tau, "rbo": rbo}


def tau_union(ranked: RankedLists, original: int, reproduced: int) -> float:
    """Return Kendall's tau union of two lists of one query; NaN for fewer than two documents.

    The first n documents of both lists are replaced by their positions in the union of both, where n is the
    length of the shorter list. The union has the original documents first, in their order, and then the
    others in the order of the reproduced list. The value depends on this order, and is not symmetric.

    >>> tau_union(RankedLists.of([["a", "b", "c"], ["a", "b", "d"]]), 0, 1)  # positions 1 2 3 and 1 2 4
    1.0
    >>> tau_union(RankedLists.of([["a", "b", "c"], ["d", "a", "b"]]), 0, 1).__round__(4)  # and 4 1 2
    -0.3333
    """
    depth = int(min(ranked.lengths[original], ranked.lengths[reproduced]))
    if depth < 2:
        return math.nan
    bounds, order, position = ranked.orders
    begin = int(bounds[reproduced])
    place = position[original, order[begin : begin + depth]].astype(np.int64)
    known = (place >= 0) & (place < depth)
    place[~known] = depth + np.arange(np.count_nonzero(~known))
    numbers = np.arange(depth, dtype=np.int32)
    lists = [numbers, np.argsort(place).astype(np.int32)]
    both = RankedLists(orders_of(lists, depth), np.concatenate([numbers, numbers]) + np.int32(1))
    return float(Kendall().values(both)[0, 1])


def replication_values(
    original: Results,
    reproduced: Results,
    orders: Mapping[str, Floats],
    rules: ReplicationRules,
    *,
    overlap: str = "RBO",
) -> Iterator[ReplicationValue]:
    """Yield all values of two evaluated experiments."""
    for key, table in orders.items():
        name = overlap if key == "rbo" else None
        for run, column in zip(RUNS, table, strict=True):
            yield _order_value(key, name, run, column[~np.isnan(column)], rules)
    for index, measure in enumerate(original.measures):
        parts = [(original, reproduced)] if orders else [(original,), (reproduced,)]
        first, second = (pair for part in parts for pair in _complete(part, index))
        if orders:
            for run, before, after in zip(RUNS, first, second, strict=True):
                yield from _errors(measure, run, before, after, rules)
        yield from _effects(str(measure), first, second, bool(orders), rules)


def _complete(parts: Sequence[Results], index: int) -> list[tuple[Floats, Floats]]:
    """Return the values of baseline and advanced run of each part, of the queries that count in all means."""
    values = np.concatenate([results.averaged_values(index) for results in parts])
    kept = values[:, ~np.isnan(values).any(axis=0)]
    if not kept.shape[1]:
        names = " and ".join(parts[0].names)
        runs = f"the {names} runs" if len(parts) == 1 else "all four runs"
        measure = parts[0].measures[index]
        raise InputError(
            f"no query counts toward the {measure} means of {runs}", hint="Check their queries and judgments"
        )
    return [(kept[row], kept[row + 1]) for row in range(0, len(kept), 2)]


def _order_value(
    key: str, name: str | None, run: str, values: Floats, rules: ReplicationRules
) -> ReplicationValue:
    """Return the mean of a measure of document order over queries."""
    if not len(values):
        short = "has fewer than two documents" if key == "tau_union" else "is empty"
        why = f"for every query, the original or the reproduced list {short}"
        return ReplicationValue(key, name, run, math.nan, withheld=why)
    found = _tested(key, name, run, values, rules)
    least = -1.0 if key == "tau_union" else 0.0
    return found._replace(low=max(found.low, least), high=min(found.high, 1.0), p=math.nan)


def _errors(
    kind: Any, run: str, original: Floats, reproduced: Floats, rules: ReplicationRules
) -> Iterator[ReplicationValue]:
    """Yield RMSE, normalized RMSE and mean difference of one run."""
    measure, size = str(kind), len(original)
    lowest, highest = (float(getattr(kind, side, math.nan)) for side in ("low", "high"))
    difference = reproduced - original
    squares = difference**2
    largest = np.maximum(original - lowest, highest - original) ** 2
    for key, divisor in (("rmse", np.ones(size)), ("nrmse", largest)):
        if not np.isfinite(divisor).all():
            why = f"the range of {measure} is unbounded or unknown"
            yield ReplicationValue(key, measure, run, math.nan, queries=size, withheld=why)
            continue
        value, why = math.sqrt(squares.sum() / divisor.sum()), NO_DRAWS
        low = high = math.nan
        if rules.draws:
            ends = studentised_ratio(
                squares, divisor, draws=rules.draws, level=rules.confidence, seed=rules.seed
            )
            low, high = map(math.sqrt, ends)
            why = ONE_QUERY if size == 1 else ""
        if math.isnan(low + high):
            low = high = math.nan
            few = f"the nonzero differences are too few ({np.count_nonzero(squares):,}) or too similar"
            why = why or (few if squares.any() else "every difference is 0")
        yield ReplicationValue(key, measure, run, value, low, high, queries=size, withheld=why)
    yield _tested("difference", measure, run, difference, rules)


def _tested(
    key: str, measure: str | None, run: str | None, values: Floats, rules: ReplicationRules
) -> ReplicationValue:
    """Return a mean with its t interval and the p of the t test."""
    limits = Student().of(values, level=rules.confidence)
    withheld = ONE_QUERY if len(values) == 1 else ""
    mean = float(values.mean())
    return ReplicationValue(key, measure, run, mean, *limits, T().p(values), len(values), withheld)


def _effects(
    measure: str,
    original: tuple[Floats, Floats],
    reproduced: tuple[Floats, Floats],
    paired: bool,
    rules: ReplicationRules,
) -> Iterator[ReplicationValue]:
    """Yield differences of means of independent queries, both effects, effect ratio and delta RI."""
    level = rules.confidence
    one_query = ONE_QUERY if min(len(original[0]), len(reproduced[0])) == 1 else ""
    if not paired:
        for run, before, after in zip(RUNS, original, reproduced, strict=True):
            size = len(before) + len(after)
            tested = welch(after, before, level=level)
            yield ReplicationValue("difference", measure, run, *tested, size, one_query)
    first, second = original[1] - original[0], reproduced[1] - reproduced[0]
    size = len(first) if paired else len(first) + len(second)
    effects = [
        _tested(key, measure, None, values, rules)
        for key, values in (("original_effect", first), ("reproduced_effect", second))
    ]
    yield from effects
    ratio, limits, why = math.nan, NO_LIMITS, "the original effect is 0"
    if effects[0].value:
        ratio = effects[1].value / effects[0].value
        limits = effect_ratio_limits(second, first, paired=paired, level=level)
        unclear = "the replicated effect has too few queries for an interval of the ratio"
        if effects[0].low <= 0 <= effects[0].high:
            unclear = (
                f"the {percent(level)} interval of the original effect contains 0, so the ratio means little"
            )
        why = "" if math.isfinite(limits[0]) else unclear
    yield ReplicationValue(
        "effect_ratio", measure, None, ratio, *limits, queries=size, withheld=one_query or why
    )
    change, limits, why = math.nan, NO_LIMITS, "the mean of a baseline is not above 0"
    if min(original[0].mean(), reproduced[0].mean()) > 0:
        change = float(first.mean() / original[0].mean() - second.mean() / reproduced[0].mean())
        limits = improvement_difference_limits((original, reproduced), paired=paired, level=level)
        why = one_query
    yield ReplicationValue("delta_ri", measure, None, change, *limits, queries=size, withheld=why)


def _warnings(original: Results, reproduced: Results, orders: Mapping[str, Floats]) -> list[ResultWarning]:
    """Return the warnings of queries of a reproduction that not all four runs have."""
    lacking = np.isnan(orders["rbo"])
    by_run = dict(zip(RUNS, lacking.sum(axis=1).tolist(), strict=True))
    left_out = " and ".join(f"{counted_queries(number)} ({run})" for run, number in by_run.items() if number)
    excluded = []
    for index in range(len(original.measures)):
        absent = np.isnan(np.concatenate([each.averaged_values(index) for each in (original, reproduced)]))
        excluded.append(int(np.count_nonzero(absent.any(axis=0) & ~absent.all(axis=0))))
    most = "up to " * (min(excluded) < max(excluded)) + counted_queries(max(excluded))
    each = " per measure" * (len(excluded) > 1)
    outside = f"left out {most}{each} without a value in one or more runs"
    lacks = "the original or reproduced run has no documents"
    return raised(
        (
            "missing_from_order",
            f"tau union and RBO leave out {left_out} for which {lacks}",
            int(lacking.any(axis=0).sum()),
        ),
        ("uncommon_queries", outside, max(excluded)),
    )
