"""Scores of relevant and non-relevant documents from runs, files or Python functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import Flags, Floats, Hashes, Integers
from leadline.data.hashing import sampled_documents, sampling_keys, smallest_keys
from leadline.data.ids import Ids, to_bytes, to_text
from leadline.data.judged_run import JudgedRun, MatchedLists
from leadline.data.qrels import Qrels
from leadline.data.reading import Negative, Reading
from leadline.data.run import Run
from leadline.data.validation import check_whole
from leadline.errors import InputError, UsageError
from leadline.estimation.score_histograms.bins import bin_of
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.evaluation.join import named_sources
from leadline.io.read import QrelsLike, RunLike, counted_run, read_qrels


class Certain(NamedTuple):
    """Documents without a positive grade included with certainty, by query code, and their depth."""

    documents: list[frozenset[bytes]]
    depth: int


def certain_documents(given: Any, qrels: Qrels, reading: Reading) -> Certain | None:
    """Return the first K documents of a baseline run that have no positive grade, by query.

    Parameters
    ----------
    given : tuple of (run, int), str or None
        The run, in any form that runs are read from, and K; or "RUN:K" with the path of the run.
    qrels : Qrels
        The judgments; queries that they lack are left out.
    reading : Reading
        How the run is read.

    Returns
    -------
    Certain or None
        None where nothing is given.

    """
    if given is None:
        return None
    source, depth = split(given)
    run, _ = counted_run(source, reading=reading)
    found: list[frozenset[bytes]] = [frozenset() for _ in qrels.queries]
    names = run.documents.names
    for place, code in enumerate(qrels.queries.encode(run.queries.names).tolist()):
        if code >= 0:
            low = int(run.offsets[place])
            high = min(int(run.offsets[place + 1]), low + depth)
            grades, judged = qrels.grades, qrels.lookup[code]
            found[code] = frozenset(
                names[item]
                for item in run.document[low:high].tolist()
                if (row := judged.get(names[item])) is None or not grades[row] > 0
            )
    return Certain(found, depth)


def split(given: Any) -> tuple[RunLike, int]:
    """Split RUN:K into the run and K.

    Examples
    --------
    >>> split("bm25.run:50")
    ('bm25.run', 50)

    """
    expected = "expected RUN:K, the first K documents of RUN, as in bm25.run:50"
    if isinstance(given, (str, os.PathLike)):
        path, _, depth = os.fspath(given).rpartition(":")
        if not path or not (depth.isascii() and depth.isdigit()) or not int(depth):
            raise UsageError(f"certain '{os.fspath(given)}'; {expected}")
        return path, int(depth)
    if isinstance(given, tuple) and len(given) == 2:
        source, depth = given
        if isinstance(depth, (int, np.integer)) and not isinstance(depth, bool) and depth > 0:
            return source, int(depth)
    raise UsageError(f"certain={given!r:.60}; {expected}, or a pair of a run and K")


def drawn_size(certain: Certain | None, sample: int | None) -> int | None:
    """Return the number of documents of a sample that are drawn, in addition to K certain ones."""
    if certain is None or sample is None:
        return sample
    if sample <= certain.depth:
        raise UsageError(
            f"sample={sample} with the first {certain.depth} documents of a run for certain; expected "
            f"more than {certain.depth}: half for certain and half drawn, as in {2 * certain.depth}"
        )
    return sample - certain.depth


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


def rows_of(judged: JudgedRun, recipe: HistogramOptions) -> Rows:
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


def _lists(judged: JudgedRun) -> MatchedLists:
    if judged.lists is None:
        raise UsageError("this join keeps no lists; expected one made with keep=True")
    return judged.lists


def candidates(rows: Rows, recipe: HistogramOptions) -> Flags:
    """Return flags of the rows that are eligible non-relevant documents."""
    return rows.known & ~rows.relevant if recipe.nonrelevant == "judged" else ~rows.relevant


def row_keys(judged: JudgedRun, rows: Rows, chosen: Flags, seed: int) -> Hashes:
    """Return the sampling keys of the chosen rows, in their order."""
    ids = _lists(judged).ids
    assert isinstance(ids, Ids)
    found = []
    query = rows.query[chosen]
    places = rows.place[chosen]
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    ends = np.append(starts[1:], len(query)).tolist() if len(starts) else []
    for low, high in zip(starts.tolist(), ends, strict=True):
        name = judged.qrels.queries.names[int(query[low])]
        found.append(sampling_keys(name, ids.take(places[low:high]), seed))
    return np.concatenate([np.empty(0, dtype=np.uint64), *found])


class SelectedRows(NamedTuple):
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


def select_rows(
    judged: JudgedRun, recipe: HistogramOptions, drawn: list[set[int]] | None = None
) -> SelectedRows:
    """Select the relevant documents and the other documents specified by the options.

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
            in_sample = smallest_keys(keys, rows.query[places], recipe.sample)
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
    return SelectedRows(rows, start, used, found, lacking, np.where(here, absent, 0))


def values_of(judged: JudgedRun, part: SelectedRows, recipe: HistogramOptions) -> Values:
    """Return the scores specified by the options, before normalisation."""
    rows = part.rows
    scores = -rows.rank.astype(np.float64) if recipe.from_ranks else _lists(judged).scores[rows.place]
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


def refuse_infinite(scores: Floats, rows: Rows, judged: JudgedRun) -> None:
    """Raise InputError for infinite scores, which cannot be normalised."""
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        query = judged.qrels.queries[int(rows.query[wrong[0]])]
        raise InputError(
            f"score {scores[wrong[0]]} for query '{query}' ({len(wrong)} such scores)",
            expected="finite scores for histograms",
            hint="--from-ranks takes ranks as scores",
        )


def score_ranges(values: Values) -> tuple[Floats, Floats]:
    """Return the lowest and highest score of each query; infinite without scores."""
    size = len(values.found)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, values.query, values.value)
    np.maximum.at(high, values.query, values.value)
    return low, high


def normalised(values: Values, norm: str, spans: tuple[Floats, Floats]) -> Floats:
    """Map the scores onto [0, 1], by query, for the whole run (`model`), or not at all (`none`).

    (x - min) / (max - min) over the relevant and non-relevant scores in use; equal scores become 0.5.
    `spans` are what `score_ranges` gives.

    >>> two = Values(np.array([0, 0, 1, 1]), np.array([True, False] * 2), np.array([4., 2., 9., 9.]),
    ...              np.array([1, 1]))
    >>> normalised(two, "query", score_ranges(two)).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    query, value = values.query, values.value
    if norm == "none":
        outside = int(np.count_nonzero((value < 0) | (value > 1)))
        if outside:
            raise InputError(
                f"{outside} scores outside 0 to 1",
                expected="scores from 0 to 1 with norm 'none'",
                hint="--norm query brings them there",
            )
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


def counts_of(values: Values, norm: str, bins: int, spans: tuple[Floats, Floats] | None = None) -> Floats:
    """Return histograms of the scores: queries x (relevant, non-relevant) x bins."""
    place = bin_of(normalised(values, norm, spans or score_ranges(values)), bins)
    cell = (values.query * 2 + ~values.relevant) * bins + place
    queries = len(values.found)
    found = np.bincount(cell, minlength=queries * 2 * bins).astype(np.float64)
    return found.reshape(queries, 2, bins)


class Pairs(NamedTuple):
    """Rows of queries and of documents, and which pairs are relevant; those of a query stand together."""

    query: Integers
    document: Integers
    relevant: Flags

    def histograms(self, scores: Floats, *, norm: str = "query", bins: int = 10) -> Floats:
        """Return histograms of the scores of the pairs: queries x (relevant, non-relevant) x bins.

        `norm` brings them to [0, 1] per `query` or per `model`.

        >>> pairs = Pairs(np.array([0, 0, 0]), np.array([3, 1, 2]), np.array([True, False, False]))
        >>> pairs.histograms(np.array([-0.1, -0.9, -0.8]), bins=2).tolist()
        [[[0.0, 1.0], [2.0, 0.0]]]
        """
        queries = int(self.query[-1]) + 1
        found = np.bincount(self.query[self.relevant], minlength=queries).astype(np.int64)
        return counts_of(Values(self.query, self.relevant, scores, found), norm, bins)


def draw_pairs(
    relevant: Mapping[str, Collection[str]],
    documents: Sequence[str],
    *,
    sample: int,
    seed: int = 0,
    own: bool = True,
) -> Pairs:
    """Return the relevant documents of each query and `sample` other documents with the smallest hashes.

    Rows of queries are their places in `relevant`, rows of documents those in `documents`. Without `own` a
    query's own id is never among the others. A query with no more others than `sample` has all of them.

    >>> pairs = draw_pairs({"a": ["b"]}, ["a", "b", "c"], sample=5, own=False)
    >>> pairs.document.tolist(), pairs.relevant.tolist()
    ([1, 2], [True, False])
    """
    check_whole(1, sample=sample)
    check_whole(0, seed=seed)
    row = {to_bytes(name): place for place, name in enumerate(documents)}
    names = sorted(row)
    query, document, flags = [], [], []
    for place, (asked, wanted) in enumerate(relevant.items()):
        key, known = to_bytes(asked), {to_bytes(one) for one in wanted}
        left_out = known if own else known | {key}
        others = [name for name in names if name not in left_out]
        chosen = sorted(known) + sampled_documents(key, others, sample, seed)
        query += [place] * len(chosen)
        document += [row[name] for name in chosen]
        flags += [True] * len(known) + [False] * (len(chosen) - len(known))
    return Pairs(
        np.array(query, dtype=np.int64), np.array(document, dtype=np.int64), np.array(flags, dtype=np.bool_)
    )


Scorer: TypeAlias = "Callable[[str, list[str]], ArrayLike]"


def scored(
    function: Scorer,
    qrels: QrelsLike,
    *,
    documents: Sequence[str] | None = None,
    sample: int | None = None,
    seed: int = 0,
    rel: float = 1.0,
    negative: Negative = "nonrelevant",
    name: str = "",
    certain: Certain | None = None,
) -> Run:
    """Score the relevant and some non-relevant documents with a function and return them as a run.

    `function(query, documents)` gives one score per document, larger is better; query and documents are ids.
    Non-relevant are the `documents` (of the collection) not judged relevant, or without them the judged
    ones; `sample` keeps those n of every query whose SHA-256 of seed, query and document is smallest: the
    same for every function. Queries without a relevant document are left out.

    >>> pairs = scored(lambda query, documents: map(len, documents), {"q1": {"d1": 1, "d200": 0}})
    >>> pairs.to_dict()
    {'q1': {'d200': 4.0, 'd1': 2.0}}
    """
    check_whole(0, seed=seed)
    table = read_qrels(qrels, negative=negative)
    pairs = pairs_to_score(table, documents, sample=sample, seed=seed, rel=rel, certain=certain)
    rows: list[tuple[bytes, bytes, float]] = []
    for query, wanted in pairs.items():
        values = _called(function, query, wanted)
        known = to_bytes(query)
        rows += [(known, to_bytes(one), value) for one, value in zip(wanted, values, strict=True)]
    return Run.of(rows, name=name or getattr(function, "__name__", "function").strip("<>"))


def pairs_to_score(
    qrels: Qrels,
    documents: Sequence[str] | None,
    *,
    sample: int | None = None,
    seed: int = 0,
    rel: float = 1.0,
    certain: Certain | None = None,
) -> dict[str, list[str]]:
    """Return the relevant documents and the sample of other documents of each query, to be scored.

    `certain` documents are part of the sample; the rest of it is drawn from the documents beside them.

    >>> table = read_qrels({"q1": {"d1": 1}})
    >>> pairs_to_score(table, ["d1", "d2", "d3"], sample=1)
    {'q1': ['d1', 'd3']}
    """
    check_whole(1, sample=sample)
    if documents is not None and (isinstance(documents, str) or not len(documents)):
        raise UsageError(f"documents={documents!r}; expected the ids of a collection, one or more")
    collection = None if documents is None else sorted({to_bytes(one) for one in documents})
    found = {}
    for code, query in enumerate(qrels.queries.names):
        wanted = _documents_of(qrels, code, collection, sample, seed, rel, certain)
        if wanted:
            found[to_text(query)] = [to_text(one) for one in wanted]
    if not found:
        raise InputError("no query has a relevant document", expected="at least one")
    return found


def _documents_of(
    qrels: Qrels,
    code: int,
    collection: Sequence[bytes] | None,
    sample: int | None,
    seed: int,
    rel: float,
    certain: Certain | None,
) -> list[bytes]:
    low, high = int(qrels.begin[code]), int(qrels.end[code])
    grades = dict(
        zip(qrels.documents.take(np.arange(low, high)), qrels.grades[low:high].tolist(), strict=True)
    )
    relevant = sorted(name for name, grade in grades.items() if grade >= rel)
    if not relevant:
        return []
    fixed = [] if certain is None else sorted(certain.documents[code].difference(relevant))
    known = {*relevant, *fixed}
    others = [name for name in (sorted(grades) if collection is None else collection) if name not in known]
    drawn = drawn_size(certain, sample)
    if drawn is not None:
        others = sampled_documents(qrels.queries.names[code], others, drawn, seed)
    return relevant + fixed + others


def _called(function: Scorer, query: str, documents: list[str]) -> list[float]:
    given: Any = function(query, documents)
    try:
        values = given if isinstance(given, (list, tuple, np.ndarray)) else list(given)
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f"a function gave no numbers for query '{query}' but a {type(given).__name__}; expected "
            f"{len(documents)} scores, one for each document"
        ) from None
    if found.shape != (len(documents),):
        raise UsageError(
            f"a function gave scores of shape {found.shape} for query '{query}'; expected "
            f"{len(documents)}, one for each document"
        )
    scores: list[float] = found.tolist()
    return scores


def scored_runs(runs: Any, qrels: Qrels, **options: Any) -> Any:
    """Return the runs, with functions replaced by runs of their scores."""
    if not callable(runs) and not any(callable(one) for one in _each(runs)):
        return runs
    sources = [
        (name, scored(source, qrels, name=name or "", **options) if callable(source) else source)
        for name, source in named_sources(runs)
    ]
    return [source for _, source in sources] if sources[0][0] is None else dict(sources)


def _each(runs: Any) -> Sequence[Any]:
    if isinstance(runs, Mapping):
        return list(runs.values())
    return runs if isinstance(runs, (list, tuple)) else []
