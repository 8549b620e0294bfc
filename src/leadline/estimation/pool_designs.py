"""Pools for given measures: documents to judge, inclusion probabilities, and expected precision."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judgment_tables import DrawnPool
from leadline.data.reading import Reading, RunsOptions
from leadline.data.table import ResultWarning
from leadline.data.validation import check_whole
from leadline.data.wording import beyond, counted
from leadline.data.wording import listed as listed_in_words
from leadline.errors import UsageError, either, one_of
from leadline.estimation.designs import (
    DEEPEST,
    NEW_RUNS,
    SMALLEST,
    Draw,
    Frame,
    Kind,
    Linear,
    Listed,
    Ratio,
    draw,
    enlarged,
    has_interval,
    kind_of,
    kinds_of,
    listed_frame,
    probabilities,
    random_numbers,
)
from leadline.estimation.estimate import estimate
from leadline.estimation.measured_pool import MeasuredPool, simulated_half_width
from leadline.estimation.sampling_errors import (
    FEWEST_JUDGMENTS,
    FEWEST_QUERIES,
    MOST_GUESSED,
    MOST_GUESSED_OF_NEW,
    ROUNDING,
    SIMULATED,
)
from leadline.estimation.system_lists import Systems, read_systems
from leadline.evaluation.lookups import place_of
from leadline.evaluation.profiles import profile_of
from leadline.io.id_lists import teams_of
from leadline.io.objects import read_qrels
from leadline.io.pool_files import pool_of
from leadline.io.read import QrelsLike, RunLike
from leadline.measures import Measure
from leadline.result import Result

LEAST_REST = 0.1  # mean probability below the cutoff where an ideal list depends on these documents too
RATE = 0.5  # assumed rate of relevant pairs in forecasts without machine labels, or if all labels are alike
FEWEST_CHECKED = 20  # judged pairs with 0 < p < 1 from which it is checked whether this seed drew them
MOST_DEVIATIONS = 5.0  # standard deviations above the expected number that this seed would draw
ALIKE = (
    "the divisor of {} also depends on documents that both runs put at the same rank, and a "
    "pool for a pair leaves these documents out"
)


def pool_for(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: str | Measure | Iterable[str | Measure],
    *,
    budget: float | None = None,
    total: int | None = None,
    rel: float = 1.0,
    depth: int | None = None,
    new_runs: float = NEW_RUNS,
    pair: tuple[str, str] | None = None,
    machine: QrelsLike | None = None,
    judged: QrelsLike | None = None,
    earlier: str | os.PathLike[str] | DrawnPool | MeasuredPool | None = None,
    looks: int = 1,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[RunsOptions],
) -> MeasuredPool:
    """Draw the documents to judge so that given measures of the runs can be estimated.

    The sampling frame consists of the documents at ranks 1 to 2k of any run, where k is the deepest cutoff of
    the measures. Documents on which a measure depends are drawn with probability proportional to their root
    mean square weight over the runs; the rest of the frame is drawn uniformly with a share `new_runs` of the
    budget. Draws use permanent random numbers, so that a larger budget only adds pairs.

    Parameters are those of `leadline.pool`; `earlier` is a pool to enlarge. Judged pairs are included with
    probability 1 and not requested again; they must not depend on the permanent random numbers of `seed`.

    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
    >>> result = pool_for(runs, "P@2", budget=3)
    >>> result.pairs, result.pool.probability.tolist()
    (3, [1.0, 1.0, 1.0])
    """
    reading = Reading.of(pool_for, options, RunsOptions)
    check_whole(0, seed=seed)
    check_whole(1, depth=depth, total=total)
    one_of({"`--budget` (judgments per query)": budget is not None, "`--total`": total is not None})
    if budget is None and total is None:
        raise UsageError("a pool drawn for a measure needs `--budget` (judgments per query) or `--total`")
    check_whole(1, looks=looks)
    if not 0 <= new_runs < 1:
        raise UsageError(
            f"`--config pool.new_runs` must be a share of the budget, at least 0 and below 1, not {new_runs}"
        )
    wanted = profile_of("leadline").measures(measures, rel=rel)
    kinds = kinds_of(wanted)  # refuses all that have no estimate together
    weights = {str(measure): rank_weights(measure) for measure in wanted}
    deepest = max(len(weight) for weight in weights.values())
    limit = 2 * deepest if depth is None else depth
    systems = read_systems(runs, reading, depth=max(limit, deepest), on_run=on_run)
    names = list(systems.queries.names)
    run_names = [info.name for info in systems.infos]
    size = float(total or 0) if budget is None else float(budget) * len(names)
    if size <= 0 or not math.isfinite(size):
        raise UsageError(f"the budget must be a finite number above 0, not {budget}")
    lists = [
        [[systems.documents[code] for code in ranked[:limit].tolist()] for ranked in systems.lists(name)]
        for name in names
    ]
    frame, listed, squares = listed_frame(names, lists, list(weights.values()), limit)
    ideal = any(isinstance(kind, Ratio) and kind.ideal for kind in kinds)
    if ideal and pair is None and new_runs > 0:
        frame = frame._replace(least_rest=LEAST_REST)
    warnings: list[ResultWarning] = []
    if pair is not None:
        first, second = (place_of(run_names, name) for name in pair)
        if first == second:
            raise UsageError(f"run '{pair[0]}' is given twice. Choose two different runs.")
        pair = (run_names[first], run_names[second])
        gaps = _gaps(frame, listed, first, second, list(weights.values()))
        importance = sum((gap / gap.sum() for gap in gaps if gap.sum() > 0), np.zeros(len(frame.query)))
        if not importance.any():
            raise UsageError(
                "there is nothing to judge, because every document that could be drawn has the same weight "
                f"in run '{pair[0]}' as in run '{pair[1]}'. Choose two runs that differ at the ranks on "
                "which a measure depends."
            )
        frame = frame._replace(importance=importance)
        squares = [gap * gap for gap in gaps]
        new_runs = 0.0
    pairs = frame.names()
    known = {} if judged is None else read_qrels(judged).to_dict()
    already_judged = np.array([known.get(query, {}).get(name, -1) >= 0 for query, name in pairs], np.bool_)
    design = draw(frame.without(already_judged), size, new_runs=new_runs, seed=seed)
    if isinstance(earlier, Result):
        earlier = getattr(earlier, "pool", None) or getattr(earlier, "whole", earlier)
    before = None if earlier is None else pool_of(earlier, "earlier")
    asked = already_judged  # pairs that need no new judgment
    if before is not None:
        passed = int(before.design.get("looks", 1))
        words = (
            f"the earlier pool was drawn for {passed} looks. If you have seen a verdict from it, the error "
            "rate over the verdicts from both pools may exceed alpha."
        )
        warnings += [ResultWarning("earlier_looks", words, passed)] * (passed > 1)
        design, asked = _larger(frame, pairs, design, before, already_judged, seed)
        asked = asked | already_judged
    elif already_judged.any():
        _check_independent(frame, draw(frame, size, new_runs=new_runs, seed=seed), already_judged, seed)
    probability = np.where(already_judged, 1.0, design.probability)
    drawn = design.drawn & ~already_judged
    if design.cut:
        words = (
            f"{counted(design.cut, 'pair')} cannot be drawn with this budget (inclusion probability below "
            f"{SMALLEST:g})"
        )
        warnings.append(ResultWarning("frame_cut", words, design.cut))
    # Pairs that cannot be drawn are listed too: the ideal list of nDCG is that of the whole frame, and both
    # runs of a pair have documents on which their difference does not depend.
    kept = (probability > 0) | (frame.importance > 0) | (new_runs > 0)
    sampled = bool((probability[kept] < 1).any())
    shown: dict[str, Any] = {
        "measures": list(weights),
        "budget": budget,
        "total": total,
        "rel": rel,
        "depth": limit,
        "new_runs": new_runs,
        "for_pair": None if pair is None else list(pair),
        "looks": looks,
        **reading.options(RunsOptions),
        "seed": seed,
    }
    header = {
        "format": 1,
        **{name: shown[name] for name in ("measures", "rel", "depth", "seed")},
        "scale": design.scale,
        "runs": run_names,
        "machine": os.fspath(machine) if isinstance(machine, (str, os.PathLike)) else None,
        **({} if pair is None else {"for_pair": list(pair)}),
        **({} if looks == 1 else {"looks": looks}),
    }
    ranks: list[dict[str, int]] = [{} for _ in pairs]  # of each pair, in every run that has it in the frame
    for row, run, rank in zip(*(column.tolist() for column in listed), strict=True):
        ranks[row][run_names[run]] = rank
    pool = DrawnPool(
        [query for query, _ in pairs],
        [document for _, document in pairs],
        probability,
        np.where(already_judged, 0.0, design.order),
        list(ranks),
        drawn | already_judged,
        header,
    )
    pool = pool.part(kept | ((frame.best <= deepest) & (pair is not None)))
    expected = {}
    judgments = int(drawn.sum())
    new = " new" * bool(already_judged.any())  # judgments made before the draw do not count
    pooled_queries = len(np.unique(frame.query[probability > 0]))
    longest = max((len(ranked) for name in names for ranked in systems.lists(name)), default=0)
    if pair and all(isinstance(kind, Ratio) for kind in kinds):
        instead = ", or draw the pool for all runs" * (set(weights) == {SIMULATED})  # others have none there
        raise UsageError(
            "a pool for a pair of runs gives no interval, and so no verdict, for "
            f"{listed_in_words(list(weights))}, because {ALIKE.format('such a measure')}. Use "
            f"P@10, DCG@10 or a similar measure{instead}."
        )
    labels: Floats | None = None
    if machine is not None:
        given = read_qrels(machine, kind="qrels").to_dict()
        labels = np.array([given.get(query, {}).get(name, np.nan) for query, name in pairs])
        for query, documents in known.items():  # where both are given, a judgment counts
            judgments_of = {name: grade for name, grade in documents.items() if grade >= 0}
            given[query] = given.get(query, {}) | judgments_of
        known = given
    whole = (frame.importance > 0) if new_runs == 0 else (frame.importance >= 0)
    most = int((whole & ~already_judged).sum())  # new judgments with the largest budget
    for measure, weight, square in zip(wanted, weights.values(), squares, strict=True):
        kind, text = kind_of(measure), str(measure)
        rates = np.full(len(pairs), RATE if labels is None else _rate(labels, measure))
        expected[text] = one = _expected(frame, square, probability, already_judged, size, new_runs, rates)
        outside, deeper = _weight_outside(
            systems, listed, limit, weight, square if pair else None, probability
        )
        larger = outside > deeper + ROUNDING or judgments < FEWEST_JUDGMENTS <= most
        ways = ["a larger budget"] * larger
        least = min(len(weight), longest)
        if sampled and isinstance(kind, Ratio) and kind.ideal and least == len(weight):
            least += 1  # intervals of nDCG were simulated for pools deeper than its cutoff
        ways += [f"a depth of at least {least}"] * (deeper > MOST_GUESSED + ROUNDING)
        hint = f" (use {either(ways, 'and')})" if ways else ""
        why = _no_forecast(
            kind, one["half_width"], outside, hint, judgments, new, pooled_queries, sampled=sampled
        )
        if pair and isinstance(kind, Ratio):
            why = ALIKE.format(text)
        if not why and isinstance(kind, Ratio) and kind.ideal and sampled:
            one["half_width"], why = simulated_half_width(pool, names, lists, kind, known, seed)
            one["half_budget"] = None
            if not why and machine is not None:
                words = (
                    f"{text}: the labels are used for this forecast only. After judging, evaluate with "
                    f"--machine none, because {text} has no interval with labels."
                )
                warnings.append(ResultWarning("without_labels", words, 1))
        if why or not has_interval(kind):
            one |= {"half_width": None, "half_budget": None}
        if why and (has_interval(kind) or pair):
            warnings.append(ResultWarning("no_forecast", f"{text}: no expected half-width, because {why}", 1))
        reach = limit if new_runs > 0 else min(limit, len(weight))
        inexact = _inexact(kind, longest, limit, max(limit, deepest), reach, pair=pair is not None)
        if inexact:
            one["exact_budget"] = None
            if not why:
                exact = "an exact difference" if pair else "exact values"
                words = f"{text}: no budget gives {exact}, because {inexact}"
                warnings.append(ResultWarning("no_exact_budget", words, 1))
        elif kind.cutoff is None or isinstance(kind, Ratio):
            one["exact_budget"] = float((whole & ~already_judged).sum()) / len(names)
    added = int((drawn & ~asked).sum())
    if pool.drawn.sum() == (pool.probability > 0).sum() and judgments < (budget or 0.0) * len(names):
        words = (
            "the budget exceeds the number of available pairs per query. To set the budget for all queries "
            "together, use `--total N`."
        )
        warnings.append(ResultWarning("large_budget", words, 1))
    return MeasuredPool(pool, systems.infos, len(names), expected, added, warnings=warnings, options=shown)


def rank_weights(measure: Measure) -> Floats:
    """Return the weights of ranks 1 to the cutoff of a measure, or to 100 if it has none.

    Those of nDCG are divided by their sum, the ideal if at least that many documents have the largest grade.
    """
    kind = kind_of(measure)
    size = DEEPEST if kind.cutoff is None else kind.cutoff
    ranks = np.arange(1.0, size + 1)
    weight = kind.weights(ranks)
    return weight / weight.sum() if isinstance(kind, Ratio) and kind.ideal else weight


def _gaps(frame: Frame, listed: Listed, first: int, second: int, weights: Sequence[Floats]) -> list[Floats]:
    """Return the absolute difference of the weights of each pair in two runs, for each measure."""
    found = []
    for weight in weights:
        gap = np.zeros(len(frame.query))
        for run, sign in ((first, 1.0), (second, -1.0)):
            kept = (listed.run == run) & (listed.rank <= len(weight))
            gap[listed.pair[kept]] += sign * weight[listed.rank[kept] - 1]
        found.append(np.abs(np.where(np.abs(gap) < 1e-12, 0.0, gap)))
    return found


def _weight_outside(
    systems: Systems, listed: Listed, limit: int, weight: Floats, gaps: Floats | None, probability: Floats
) -> tuple[float, float]:
    """Return the shares of a measure's weight that have no probability, and that are below the depth."""
    kept = listed.rank <= len(weight)
    pair, values = listed.pair[kept], weight[listed.rank[kept] - 1]
    if gaps is not None:
        values = np.where(gaps[pair] > 0, values, 0.0)
    deeper = sum(
        float(weight[limit : len(ranked)].sum())
        for name in systems.queries.names
        for ranked in systems.lists(name)
    )
    total = float(values.sum()) + deeper
    if not total > 0:
        return 0.0, 0.0
    return 1.0 - float(np.where(probability[pair] > 0, values, 0.0).sum()) / total, deeper / total


def _no_forecast(
    kind: Kind,
    half_width: float | None,
    outside: float,
    hint: str,
    judgments: int,
    new: str,
    queries: int,
    *,
    sampled: bool,
) -> str:
    """Return why there is no forecast of a half-width, with what is expected; empty if there is one."""
    if outside > MOST_GUESSED + ROUNDING:
        return (
            f"{beyond(100 * outside, 100 * MOST_GUESSED)} % of the measure's weight is outside the sampling "
            f"frame, and intervals allow at most {100 * MOST_GUESSED:.0f} %{hint}"
        )
    ideal = isinstance(kind, Ratio) and kind.ideal
    if half_width == 0 and outside < ROUNDING and not (ideal and sampled):
        return ""  # known with certainty
    if isinstance(kind, Linear) and kind.share:
        return "it depends on the lengths of the ranked lists (use a measure with a cutoff, such as P@10)"
    if judgments < FEWEST_JUDGMENTS:
        return f"intervals need at least {FEWEST_JUDGMENTS}{new} judgments, not {judgments}{hint}"
    if queries < FEWEST_QUERIES:
        return f"intervals need at least {FEWEST_QUERIES} queries, not {queries}"
    return ""


def _inexact(kind: Kind, longest: int, limit: int, read: int, reach: int, *, pair: bool) -> str:
    """Return why no number of judgments of the frame makes a measure exact; empty if there is one."""
    if pair and isinstance(kind, Ratio):
        return ALIKE.format("such a measure")
    if kind.cutoff is None:
        longer = longest > reach or longest >= read
        return f"the measure has no cutoff and the sampling frame ends at rank {reach}" if longer else ""
    deepest = min(kind.cutoff, longest)
    if deepest > limit:
        ranks = f"ranks {limit + 1} to {deepest} are" if deepest > limit + 1 else f"rank {deepest} is"
        return f"{ranks} outside the sampling frame (use a depth of at least {deepest})"
    return ""


def _check_independent(frame: Frame, design: Draw, judged: Flags, seed: int) -> None:
    """Refuse judged pairs with too many random numbers below p: their judgments were drawn with this seed."""
    rows = np.flatnonzero(judged & (design.probability > 0) & (design.probability < 1))
    if len(rows) < FEWEST_CHECKED:
        return
    p = design.probability[rows]
    count = int((random_numbers(frame, seed)[rows] < p).sum())
    if count - p.sum() > MOST_DEVIATIONS * math.sqrt(float((p * (1 - p)).sum())):
        raise UsageError(
            f"these judgments seem to come from a pool drawn with seed {seed}, because this seed would draw "
            f"{count:,} of {len(rows):,} judged pairs again ({p.sum():.1f} expected by chance). To enlarge "
            "that pool, use `--from EARLIER` without `--judged`. Otherwise, choose another `--seed`."
        )


def _larger(
    frame: Frame, pairs: Sequence[tuple[str, str]], design: Draw, before: DrawnPool, judged: Flags, seed: int
) -> tuple[Draw, Flags]:
    """Return the draw with the larger of both probabilities of each pair, and the pairs drawn earlier."""
    if "measures" not in before.design:
        raise UsageError(
            "the earlier pool was not drawn with `leadline pool --for`. Pass a pool that was, or "
            "pass the judgments of the earlier pool with `--judged QRELS` instead of "
            "`--from EARLIER`."
        )
    if before.design.get("seed") != seed:
        raise UsageError(
            f"the earlier pool was drawn with seed {before.design.get('seed')}, but the new pool has seed "
            f"{seed}. Use `--seed {before.design.get('seed')}` so that judged pairs stay in the sample."
        )
    rows = {pair: row for row, pair in enumerate(pairs)}
    old = np.zeros(len(frame.query))
    asked = np.zeros(len(frame.query), dtype=np.bool_)
    found = np.array([rows.get(pair, -1) for pair in before.names()], dtype=np.int64)
    old[found[found >= 0]] = before.probability[found >= 0]
    asked[found[found >= 0]] = before.drawn[found >= 0]
    lost = int((found < 0).sum())
    if lost:
        raise UsageError(
            f"the new pool would lack {lost:,} of the {len(found):,} pairs that the earlier pool was drawn "
            f"from. Pass all runs of that pool, and use `--depth {before.design.get('depth')}` or more."
        )
    known = int((judged & asked & (old < 1)).sum())
    if known:
        raise UsageError(
            f"`--judged` contains {counted(known, 'pair')} drawn for the earlier pool. Pass only judgments "
            "made before that pool was drawn. The judgments of the pool itself are for "
            "`leadline evaluate JUDGMENTS RUN... --pool POOL`."
        )
    return enlarged(design.probability, design.scale, old, frame, seed), asked


def _rate(labels: Floats, measure: Measure) -> float:
    """Return the relevance rate of the pairs that have a label, which the forecast assumes for all pairs."""
    given = labels[~np.isnan(labels)]
    if not len(given):
        raise UsageError(
            "no pair that can be drawn has an LLM label. Check that the query and document ids of the labels "
            "match those of the runs."
        )
    rate = float(np.clip(kind_of(measure).target.of(given), 0.0, 1.0).mean())
    return rate if 0 < rate < 1 else RATE


def _expected(
    frame: Frame,
    squares: Floats,
    probability: Floats,
    judged: Flags,
    size: float,
    new_runs: float,
    rates: Floats,
) -> dict[str, float | None]:
    """Return the half-width of one measure, the budget that halves it, and the budget of exact values."""
    queries = len(frame.queries)
    matter = float(((frame.importance > 0) & ~judged).sum())
    rest = float(((frame.importance == 0) & ~judged).sum())
    certain = matter + frame.least_rest * rest * (matter > 0)  # the budget with which these pairs are
    spread = squares * rates * (1.0 - rates)

    def half_width(p: Floats) -> float:
        inside = (p > 0) & (p < 1)
        return 1.959964 * math.sqrt(float(((1 - p[inside]) / p[inside] * spread[inside]).sum())) / queries

    now = half_width(probability)
    if now == 0:
        return {"half_width": now, "half_budget": None, "exact_budget": certain / queries}
    low, high = size, max(matter / max(1 - new_runs, 1e-9), certain, size)
    for _ in range(40):
        middle = (low + high) / 2
        trial, *_ = probabilities(frame.without(judged), middle, new_runs=new_runs)
        if half_width(np.where(judged, 1.0, trial)) > now / 2:
            low = middle
        else:
            high = middle
        if high - low < 0.5:
            break
    return {"half_width": now, "half_budget": high / queries, "exact_budget": certain / queries}


class LeftOut(NamedTuple):
    """A run and a measure, if the team of the run had not contributed to the pool."""

    team: str
    run: str
    measure: str
    outside: float  # mean over queries of the share of the run's weight that would be outside the frame
    lost: bool  # whether the run would have no interval
    bias: float | None = None  # estimate without the team minus estimate with it; None without judgments


def left_out(
    pool: DrawnPool,
    teams: str | Mapping[str, str],
    judgments: QrelsLike | None = None,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike] | None = None,
    **options: Unpack[RunsOptions],
) -> list[LeftOut]:
    """Leave each team out of a pool in turn: what new runs like its own would lose.

    Pairs that only runs of the team contributed are removed; the others keep their probabilities. With
    judgments and runs, the bias is the difference of the estimates with both pools.

    References
    ----------
    Buckley, Dimmick, Soboroff and Voorhees (2007), Bias and the limits of pooling for large collections.

    >>> lists = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d2", "d3"]}}
    >>> drawn = pool_for(lists, "P@2", budget=3).pool
    >>> [(one.run, one.outside) for one in left_out(drawn, {"a": "A", "b": "B"})]
    [('a', 0.5), ('b', 0.5)]
    """
    if "measures" not in pool.design:
        raise UsageError("the pool was not drawn for measures. Use a pool from `leadline pool --for`.")
    measures = profile_of("leadline").measures(pool.design["measures"], rel=pool.design.get("rel"))
    names = list(pool.design.get("runs", ()))
    team_of = dict(zip(names, teams_of(teams, names), strict=True))
    if len(set(team_of.values())) < 2:
        where = f" in {teams}" if isinstance(teams, str) else ""
        raise UsageError(f"all runs belong to one team{where}. Name at least two teams.")
    given = judgments is not None and runs is not None
    results = estimate(judgments, runs, measures, pool=pool, **options) if given else None  # type: ignore[arg-type]
    found = []
    for team in dict.fromkeys(team_of.values()):
        alone = np.array(
            [bool(one) and {team_of[name] for name in one} == {team} for one in pool.contributors]
        )
        if given and not pool.drawn[~alone].any():
            raise UsageError(
                f"every drawn pair comes from team '{team}' alone, so none would remain without this team. "
                "Use a pool to which other teams contributed, or split the team."
            )
        fewer = pool.part(~alone)
        without = estimate(judgments, runs, measures, pool=fewer, **options) if given else None  # type: ignore[arg-type]
        for name in (name for name in names if team_of[name] == team):
            for measure in measures:
                kind = kind_of(measure)
                share = _share_outside(pool, name, alone, kind)
                lost = share > MOST_GUESSED_OF_NEW or isinstance(kind, Ratio)
                bias = None
                if results is not None and without is not None:
                    bias = without.mean(name, measure) - results.mean(name, measure)
                found.append(LeftOut(team, name, str(measure), share, lost, bias))
    return found


def _share_outside(pool: DrawnPool, name: str, alone: Flags, kind: Kind) -> float:
    """Return the mean over queries of the share of a run's weight on flagged pairs."""
    rows = [row for row, one in enumerate(pool.contributors) if name in one]
    ranks = np.array([pool.contributors[row][name] for row in rows], dtype=np.float64)
    weight = kind.weights(ranks)
    if kind.cutoff is not None:
        weight = np.where(ranks <= kind.cutoff, weight, 0.0)
    _, query = np.unique([pool.queries[row] for row in rows], return_inverse=True)
    whole, outside = np.bincount(query, weight), np.bincount(query, weight * alone[rows])
    return float((outside / np.where(whole > 0, whole, 1.0)).mean()) if len(whole) else math.nan
