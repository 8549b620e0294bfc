"""The two sets of scores of one run: V_R of relevant documents and V_NR of non-relevant ones, by query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Flags, Floats, Hashes, Integers
from leadline.errors import InputError, UsageError
from leadline.histograms.bins import bin_of
from leadline.histograms.recipe import Recipe
from leadline.judged import Judged, Lists
from leadline.sampling.hashed import keys_of, smallest
from leadline.vocabulary import Ids


class Values(NamedTuple):
    """Scores with the query and the relevance of each, and by query how many `found` documents are relevant.

    A query without a relevant document is not in it, nor one that the run lacks.
    """

    query: Integers
    relevant: Flags
    value: Floats
    found: Integers


class Rows(NamedTuple):
    """The rows of a run's lists as cut that take part: query, rank, what the judgments say, place."""

    query: Integers
    rank: Integers
    relevant: Flags
    known: Flags
    place: Integers


def rows_of(judged: Judged, recipe: Recipe) -> Rows:
    """Cut the lists and leave out queries without judgments or without a relevant document."""
    lists, qrels = _lists(judged), judged.qrels
    owner = np.repeat(lists.queries, np.diff(lists.bounds))
    rank = np.arange(len(owner)) - np.repeat(lists.bounds[:-1], np.diff(lists.bounds)) + 1
    wanted = np.append(qrels.relevant(recipe.rel) > 0, False)  # code -1 is the last one
    keep = wanted[owner]
    if recipe.depth is not None:
        keep &= rank <= recipe.depth
    place = np.flatnonzero(keep)
    row = lists.rows[place]
    known = row >= 0
    grade = np.append(qrels.grades, -np.inf)[row]
    return Rows(owner[place], rank[place], known & (grade >= recipe.rel), known, place)


def _lists(judged: Judged) -> Lists:
    if judged.lists is None:
        raise UsageError("this join keeps no lists; expected one made with keep=True")
    return judged.lists


def candidates(rows: Rows, recipe: Recipe) -> Flags:
    """Say which rows are non-relevant documents that may be used."""
    return rows.known & ~rows.relevant if recipe.nonrelevant == "judged" else ~rows.relevant


def row_keys(judged: Judged, rows: Rows, chosen: Flags, seed: int) -> Hashes:
    """Give the sample key of some rows, in their order."""
    ids = _lists(judged).ids
    assert isinstance(ids, Ids)
    found = []
    query = rows.query[chosen]
    places = rows.place[chosen]
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    ends = np.append(starts[1:], len(query)).tolist() if len(starts) else []
    for low, high in zip(starts.tolist(), ends, strict=True):
        name = judged.qrels.queries.names[int(query[low])]
        found.append(keys_of(name, ids.take(places[low:high]), seed))
    return np.concatenate([np.empty(0, dtype=np.uint64), *found])


class Taken(NamedTuple):
    """The rows of a run that a recipe takes, whatever is made of them: scores or ranks.

    `start` are the places of the first rows of the lists, cut or not taken rows included; `found` counts
    the relevant documents taken by query, `lacking` those that the list lacks, `absent` the documents of a
    shared sample that it lacks.
    """

    rows: Rows
    start: Integers
    used: Integers
    found: Integers
    lacking: Integers
    absent: Integers


def taken(judged: Judged, recipe: Recipe, drawn: list[set[int]] | None = None) -> Taken:
    """Take the relevant documents and the others that a recipe asks for.

    `drawn` are the keys of the sampled documents of every query, where all runs share a sample; otherwise
    each run's own lists are sampled.
    """
    rows = rows_of(judged, recipe)
    size = len(judged.present)
    other = candidates(rows, recipe)
    absent = np.zeros(size, dtype=np.int64)
    if recipe.sample is not None:
        keys = row_keys(judged, rows, other, recipe.seed)
        places = np.flatnonzero(other)
        if drawn is None:
            in_sample = smallest(keys, rows.query[places], recipe.sample)
        else:
            pairs = zip(rows.query[places].tolist(), keys.tolist(), strict=True)
            in_sample = np.array([key in drawn[query] for query, key in pairs], dtype=np.bool_)
            absent = np.array([len(one) for one in drawn], dtype=np.int64)
            absent -= np.bincount(rows.query[places[in_sample]], minlength=size)
        other[places[~in_sample]] = False
    found = np.bincount(rows.query[rows.relevant], minlength=size).astype(np.int64)
    start = np.flatnonzero(np.diff(rows.query, prepend=-1))
    here = np.zeros(size, dtype=np.bool_)
    here[rows.query[start]] = True
    lacking = np.where(here, judged.qrels.relevant(recipe.rel) - found, 0)
    used = np.flatnonzero(rows.relevant | other)
    return Taken(rows, start, used, found, lacking, np.where(here, absent, 0))


def values_of(judged: Judged, part: Taken, recipe: Recipe) -> Values:
    """Give the scores that the recipe asks for, not yet normalised."""
    rows = part.rows
    scores = (
        -rows.rank.astype(np.float64) if recipe.from_ranks else _lists(judged).scores[rows.place]
    )
    if not recipe.from_ranks:
        refuse_infinite(scores, rows, judged)
    query, relevant, value = rows.query[part.used], rows.relevant[part.used], scores[part.used]
    if recipe.missing == "min" and len(part.start):
        lowest = np.zeros(len(part.found))
        lowest[rows.query[part.start]] = np.minimum.reduceat(scores, part.start)
        codes = np.arange(len(lowest))
        codes = np.concatenate([np.repeat(codes, part.lacking), np.repeat(codes, part.absent)])
        query = np.concatenate([query, codes])
        relevant = np.concatenate([relevant, np.arange(len(codes)) < part.lacking.sum()])
        value = np.concatenate([value, lowest[codes]])
    return Values(query.astype(np.int64), relevant, value, part.found)


def refuse_infinite(scores: Floats, rows: Rows, judged: Judged) -> None:
    """Refuse scores that cannot be brought to [0, 1]."""
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        query = judged.qrels.queries[int(rows.query[wrong[0]])]
        raise InputError(
            f"score {scores[wrong[0]]} for query '{query}' ({len(wrong)} such scores)",
            expected="finite scores for histograms", hint="--from-ranks takes ranks as scores",
        )  # fmt: skip


def spans_of(values: Values) -> tuple[Floats, Floats]:
    """Give the lowest and the highest score of every query; infinite where it has none."""
    size = len(values.found)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, values.query, values.value)
    np.maximum.at(high, values.query, values.value)
    return low, high


def normalised(values: Values, norm: str, spans: tuple[Floats, Floats]) -> Floats:
    """Map the scores onto [0, 1], by query, for the whole run (`model`), or not at all (`none`).

    (x - min) / (max - min) over the relevant and non-relevant scores in use; equal scores become 0.5.
    `spans` are what `spans_of` gives.

    >>> two = Values(np.array([0, 0, 1, 1]), np.array([True, False] * 2), np.array([4., 2., 9., 9.]),
    ...              np.array([1, 1]))
    >>> normalised(two, "query", spans_of(two)).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    query, value = values.query, values.value
    if norm == "none":
        outside = int(np.count_nonzero((value < 0) | (value > 1)))
        if outside:
            raise InputError(
                f"{outside} scores outside 0 to 1", expected="scores from 0 to 1 with norm 'none'",
                hint="--norm query brings them there",
            )  # fmt: skip
        return value
    if not len(value):
        return value
    low, high = spans
    if norm == "query":
        low, high = low[query], high[query]
    else:
        low, high = low.min(keepdims=True), high.max(keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        span, above = high - low, value - low
        if not np.isfinite(span).all():  # the range of doubles is half as wide as their differences
            wide = ~np.isfinite(span)
            span = np.where(wide, high / 2 - low / 2, span)
            above = np.where(wide, value / 2 - low / 2, above)
    flat = span == 0
    found: Floats = above / np.where(flat, 1.0, span)
    found[np.broadcast_to(flat, found.shape)] = 0.5
    return found


def counts_of(
    values: Values, norm: str, bins: int, spans: tuple[Floats, Floats] | None = None
) -> Floats:
    """Count the scores: queries x (relevant, non-relevant) x bins."""
    place = bin_of(normalised(values, norm, spans or spans_of(values)), bins)
    cell = (values.query * 2 + ~values.relevant) * bins + place
    queries = len(values.found)
    found = np.bincount(cell, minlength=queries * 2 * bins).astype(np.float64)
    return found.reshape(queries, 2, bins)
