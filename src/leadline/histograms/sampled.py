"""Rank measures estimated from the relevant documents and a sample of scored others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.arguments import check_numbers, check_whole, check_word
from leadline.arrays import Flags, Floats
from leadline.errors import UsageError
from leadline.formats import QrelsLike, RunLike, read_qrels, repair_of
from leadline.histograms.estimable import refuse_others
from leadline.histograms.estimates import Estimates
from leadline.histograms.notes import sampled_notices
from leadline.histograms.scoring import Scorer, scored_runs
from leadline.histograms.strata import POSITIVE, Population, Query, estimated, strata
from leadline.judged import Judged
from leadline.judged_runs import judge_runs
from leadline.measures import Measure
from leadline.notices import levels_of
from leadline.profiles import profile_of
from leadline.qrels import Qrels
from leadline.statistics.team_bootstrap import interval

DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100")
ROUNDING = 1e-12
AGAIN = 5  # times that queries are drawn again for each sample drawn again


class One(NamedTuple):
    """What one run came to: values by query and measure, intervals by measure, counts."""

    values: Floats
    known: Flags
    limits: Floats
    sampled: int
    weight: float
    lacking: int
    constant: int


def sampled(
    qrels: QrelsLike,
    scores: RunLike | Scorer | Sequence[RunLike] | Mapping[str, RunLike | Scorer],
    measures: Iterable[str | Measure] | str | Measure | None = None,
    *,
    population: Population = None,
    sample: int | None = None,
    rel: float | None = None,
    queries: str = "all",
    documents: Sequence[str] | None = None,
    draws: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
    negative: str = "nonrelevant",
    order: str = "score",
    on_duplicate: str = "refuse",
    on_nan: str = "refuse",
    name_by: str = "file",
    on_run: Callable[[int, int], None] | None = None,
) -> Estimates:
    """Estimate rank measures from scores of the relevant documents and of a sample of others.

    `scores` hold every document of positive grade and n others of each query; an other stands for N/n. The
    estimated rank of a relevant document is

        1 + relevant documents above it + (N/n) (sampled others above it + half of those tied with it),

    and a measure reads such ranks as any others. N is the number of documents in the collection
    (`population`) less those of positive grade, or given by query; without it all others that have scores.
    `sample` draws n of the scored others, by hash, as `leadline.histogram` does. `scores` may be Python
    functions `(query, documents) -> scores`, which score the relevant and a sample of the `documents`.

    Estimates of measures of the first ranks (AP, RR, nDCG) are too high where an other stands for many: a
    document with no sampled other above it counts as ranked first. They order systems well, but their height
    needs n near N. Intervals come from `draws` samples drawn again from the sample (`sampling`), and from
    queries and samples drawn again together; `bias` is how much higher these are: the least to expect. A
    full sample without ties gives the exact value, and a sampling interval of no width. A query with N > 0
    and no scored other has no estimate; it is left out and counted.

    >>> judgments = {"q1": {"d1": 1, "d2": 1}}
    >>> found = sampled(judgments, {"q1": {"d1": 3.0, "x": 2.0, "d2": 1.0}}, "AP", population=12)
    >>> round(found.mean("run", "AP"), 4)  # x stands for 10: ranks 1 and 12, (1 + 2/12) / 2
    0.5833
    """
    check_whole(1, sample=sample)
    check_whole(0, draws=draws, seed=seed)
    check_numbers(confidence=confidence)
    check_word(("all", "with_relevant"), queries=queries)
    wanted = _wanted(measures, rel)
    table = read_qrels(qrels, negative=negative)
    if isinstance(population, (bool, float)):
        raise UsageError(f"population={population!r}; expected a whole number, or one by query")
    if documents is not None and population is None:
        population = len(set(documents) | _positive(table))
    sources = scored_runs(
        scores, table, documents=documents, sample=sample, seed=seed, rel=POSITIVE
    )

    def one(judged: Judged) -> One:
        parts = strata(judged, population, sample, seed)
        return _measured(judged, parts, wanted, queries, draws, confidence, seed)

    infos, found = judge_runs(
        sources, table, one, repair=repair_of(order, on_duplicate, on_nan), keep=True, name_by=name_by,
        on_run=on_run,
    )  # fmt: skip
    return Estimates(
        infos, table.queries, wanted, np.stack([each.values for each in found]),
        np.stack([_counted(each.known, table, queries) for each in found]),
        np.stack([each.limits for each in found]),
        notices=sampled_notices(
            infos, table, found, wanted, levels_of(wanted), queries, whole=population is None
        ),
        options={
            "measures": list(map(str, wanted)),
            "population": dict(population) if isinstance(population, Mapping) else population,
            "sample": sample, "rel": rel, "queries": queries, "draws": draws, "confidence": confidence,
            "seed": seed, "negative": negative, "order": order, "on_duplicate": on_duplicate,
            "on_nan": on_nan, "name_by": name_by,
        },
    )  # fmt: skip


def _wanted(measures: Any, rel: float | None) -> list[Measure]:
    if rel is not None:
        check_numbers(rel=rel)
    given = DEFAULT_MEASURES if measures is None else measures
    listed = [given] if isinstance(given, (str, Measure)) else list(given)
    wanted = profile_of("leadline").measures(listed, rel=rel)
    refuse_others(wanted)
    return wanted


def _positive(qrels: Qrels) -> set[str]:
    return {
        name for grades in qrels.to_dict().values() for name, grade in grades.items() if grade > 0
    }


def _counted(known: Flags, qrels: Qrels, queries: str) -> Flags:
    """Say which queries take part in the mean."""
    return known & (qrels.relevant(POSITIVE) > 0) if queries == "with_relevant" else known


def _measured(
    judged: Judged, parts: dict[int, Query], measures: Sequence[Measure], queries: str, draws: int,
    confidence: float, seed: int,
) -> One:  # fmt: skip
    above = {code: one.above(one.cells) for code, one in parts.items()}
    values = _values(judged, parts, above, measures)
    known = np.ones(len(judged.present), dtype=np.bool_)
    known[[code for code, one in parts.items() if one.size and not one.sampled]] = False
    values[~known] = np.nan
    counted = _counted(known, judged.qrels, queries)
    limits = np.full((len(measures), 5), np.nan)
    if draws and counted.any():
        dice = np.random.default_rng([seed, 2])
        again = [
            np.nan_to_num(_values(judged, parts, drawn, measures))[counted]
            for drawn in _drawn(parts, above, draws, dice)
        ]
        limits = _limits(
            np.stack(again), np.nan_to_num(values)[counted], dice, confidence, measures
        )
    lacking = judged.qrels.relevant(POSITIVE).sum() - sum(len(one.row) for one in parts.values())
    weights = [one.size / one.sampled for one in parts.values() if one.sampled]
    return One(
        values, known, limits, sum(one.sampled for one in parts.values()), max(weights, default=1.0),
        int(lacking), sum(one.constant for one in parts.values()),
    )  # fmt: skip


def _values(
    judged: Judged, parts: dict[int, Query], above: dict[int, Floats], measures: Sequence[Measure]
) -> Floats:
    ranks = {code: one.ranks(above[code]) for code, one in parts.items()}
    join = estimated(judged, parts, ranks)
    return np.stack([measure.values(join) for measure in measures], axis=1)


def _drawn(
    parts: dict[int, Query], above: dict[int, Floats], draws: int, dice: np.random.Generator
) -> Iterable[dict[int, Floats]]:
    """Draw the sample of every query again from itself; the nearer n is to N, the less it moves."""
    moved = {}
    for code, one in parts.items():
        size = one.sampled
        cells = dice.multinomial(size, one.cells / size, draws) if size else np.zeros((draws, 1))
        free = np.sqrt(1 - size / one.size) if size else 0.0
        again = one.above(cells.astype(np.float64)) if size else np.tile(above[code], (draws, 1))
        moved[code] = above[code] + free * (again - above[code])
    for place in range(draws):
        yield {code: table[place] for code, table in moved.items()}


def _limits(
    again: Floats, seen: Floats, dice: np.random.Generator, confidence: float,
    measures: Sequence[Measure],
) -> Floats:  # fmt: skip
    """Give low, high of queries and samples together and of the sample alone, and the bias, by measure.

    Limits are 2 x estimate - the other percentile (basic bootstrap): samples drawn again are too high by as
    much as the sample is, where that can be seen.
    """
    draws, size, _ = again.shape
    chosen = dice.integers(0, size, (draws, AGAIN, size))
    both = np.stack([again[place][chosen[place]].mean(axis=1) for place in range(draws)])
    both = both.reshape(draws * AGAIN, -1)
    alone = again.mean(axis=1)
    estimate = seen.mean(axis=0)
    rows = []
    for place, measure in enumerate(measures):
        low, high = interval(both[:, place], confidence) if size > 1 else (np.nan, np.nan)
        sample_low, sample_high = interval(alone[:, place], confidence)
        ends = 2 * estimate[place] - np.array([high, low, sample_high, sample_low])
        ends = np.clip(ends, measure.low, measure.high)
        bias = alone[:, place].mean() - estimate[place]
        rows.append([*ends.tolist(), bias if abs(bias) > ROUNDING else 0.0])
    return np.array(rows)
