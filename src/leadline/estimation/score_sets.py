"""Scores of relevant and non-relevant documents from runs, files or Python functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import (
    Flags,
    Floats,
    Hashes,
    Integers,
    sampled_documents,
    sampling_keys,
    smallest_keys,
)
from leadline.data.ids import Ids, to_bytes, to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Negative, Reading
from leadline.data.run import MatchedLists
from leadline.data.validation import check_whole
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.estimation.histogram_result import HistogramOptions, bin_of
from leadline.evaluation.join import judge, named_sources, readable_twice
from leadline.io.objects import Qrels, Run, read_qrels
from leadline.io.read import QrelsLike, RunLike, counted_run

POSITIVE = float(np.nextafter(0.0, 1.0))  # lowest grade above 0


class Certain(NamedTuple):
    """Documents without a positive grade that are sampled with certainty, by query code, and their depth."""

    documents: list[frozenset[bytes]]
    depth: int


def certain_documents(baseline: Any, qrels: Qrels, reading: Reading) -> Certain | None:
    """Return the first K documents of a baseline run that have no positive grade, by query."""
    if baseline is None:
        return None
    source, depth = split(baseline)
    run, _ = counted_run(source, reading=reading)
    documents: list[frozenset[bytes]] = [frozenset() for _ in qrels.queries]
    names = run.documents.names
    for index, code in enumerate(qrels.queries.encode(run.queries.names).tolist()):
        if code >= 0:
            begin = int(run.offsets[index])
            end = min(int(run.offsets[index + 1]), begin + depth)
            grades, judged = qrels.grades, qrels.lookup[code]
            documents[code] = frozenset(
                names[document_code]
                for document_code in run.document[begin:end].tolist()
                if (row := judged.get(names[document_code])) is None or not grades[row] > 0
            )
    return Certain(documents, depth)


def split(baseline: Any) -> tuple[RunLike, int]:
    """Split RUN:K into the run and K.

    >>> split("bm25.run:50")
    ('bm25.run', 50)
    """
    needs = "must be RUN:K with K at least 1, such as bm25.run:50 (the first 50 documents)"
    if isinstance(baseline, (str, os.PathLike)):
        path, _, depth = os.fspath(baseline).rpartition(":")
        if not path or not (depth.isascii() and depth.isdigit()) or not int(depth):
            raise UsageError(f"`--certain` {needs}, not '{os.fspath(baseline)}'")
        return path, int(depth)
    if isinstance(baseline, tuple) and len(baseline) == 2:
        source, depth = baseline
        if isinstance(depth, (int, np.integer)) and not isinstance(depth, bool) and depth > 0:
            return source, int(depth)
    raise UsageError(f"`--certain` {needs}, or a tuple (run, K), not {baseline!r:.60}")


def drawn_size(certain: Certain | None, sample: int | None) -> int | None:
    """Return the number of documents of a sample that are drawn, in addition to K certain ones."""
    if certain is None or sample is None:
        return sample
    if sample <= certain.depth:
        raise UsageError(
            f"--sample {sample} leaves no documents to draw after the "
            f"{counted(certain.depth, 'certain document')} per query. Pass more than "
            f"{certain.depth}, such as {2 * certain.depth} (half certain, half drawn)."
        )
    return sample - certain.depth


class Values(NamedTuple):
    """Scores with query and relevance of each, and the number of retrieved relevant documents by query.

    Queries without a relevant document and queries that are missing from the run have no scores.
    """

    query: Integers
    relevant: Flags
    value: Floats
    found: Integers


class Rows(NamedTuple):
    """Rows of the lists of a run, after the cut."""

    # query code and rank, from 1
    query: Integers
    rank: Integers
    # whether the document is relevant, and whether it is judged
    relevant: Flags
    judged: Flags
    position: Integers  # index of the row in the uncut lists


def rows_of(judged: JudgedRun, rel: float, depth: int | None = None) -> Rows:
    """Return the rows up to the depth, of judged queries with a relevant document."""
    lists, qrels = _lists(judged), judged.qrels
    owner = np.repeat(lists.queries, np.diff(lists.bounds))
    rank = np.arange(len(owner)) - np.repeat(lists.bounds[:-1], np.diff(lists.bounds)) + 1
    with_relevant = np.append(qrels.relevant(rel) > 0, False)  # code -1 is the last one
    keep = with_relevant[owner]
    if depth is not None:
        keep &= rank <= depth
    index = np.flatnonzero(keep)
    row = lists.rows[index]
    judged_rows = row >= 0
    grade = np.append(qrels.grades, -np.inf)[row]
    return Rows(owner[index], rank[index], judged_rows & (grade >= rel), judged_rows, index)


def _lists(judged: JudgedRun) -> MatchedLists:
    assert judged.lists is not None  # joined with keep=True
    return judged.lists


def candidates(rows: Rows, recipe: HistogramOptions) -> Flags:
    """Return flags of the rows that are eligible non-relevant documents."""
    return rows.judged & ~rows.relevant if recipe.nonrelevant == "judged" else ~rows.relevant


def row_keys(judged: JudgedRun, rows: Rows, selected: Flags, seed: int) -> Hashes:
    """Return the sampling keys of the selected rows, in order."""
    ids = _lists(judged).ids
    assert isinstance(ids, Ids)
    keys = []
    query = rows.query[selected]
    positions = rows.position[selected]
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    ends = np.append(starts[1:], len(query)).tolist() if len(starts) else []
    for low, high in zip(starts.tolist(), ends, strict=True):
        name = judged.qrels.queries.names[int(query[low])]
        keys.append(sampling_keys(name, ids.take(positions[low:high]), seed))
    return np.concatenate([np.empty(0, dtype=np.uint64), *keys])


def shared_sample(
    runs: Any, qrels: Qrels, recipe: HistogramOptions, reading: Reading
) -> tuple[Any, list[set[int]]]:
    """Return re-readable runs, and the keys of the documents sampled from their union, by query.

    The smallest keys of the union are among the smallest keys of the runs, so runs are read one by one.
    """
    assert recipe.sample is not None
    drawn: list[set[int]] = [set() for _ in qrels.queries]
    runs = readable_twice(runs, reading)
    for name, source in named_sources(runs):
        _, judged, _ = judge(source, qrels, name=name, reading=reading, keep=True)
        rows = rows_of(judged, recipe.rel, recipe.depth)
        eligible = candidates(rows, recipe)
        keys, query = row_keys(judged, rows, eligible, recipe.seed), rows.query[eligible]
        for code in np.unique(query).tolist():
            keys_seen = drawn[code].union(keys[query == code].tolist())
            drawn[code] = set(sorted(keys_seen)[: recipe.sample])
    return runs, drawn


class SelectedRows(NamedTuple):
    """Rows of a run that the options select."""

    rows: Rows  # all rows of the run
    start: Integers  # index of the first row of each list
    used: Integers  # indices of the selected rows
    # numbers of relevant documents in the list and missing from it
    found: Integers
    lacking: Integers
    absent: Integers  # number of documents of a shared sample that the list lacks
    sampled: int  # identifier of the set of sampled documents


def select_rows(
    judged: JudgedRun, recipe: HistogramOptions, drawn: list[set[int]] | None = None
) -> SelectedRows:
    """Select the relevant documents and the other documents specified by the options.

    `drawn` are the keys of the sampled documents by query if all runs share a sample; otherwise the lists of
    the run are sampled.
    """
    rows = rows_of(judged, recipe.rel, recipe.depth)
    size = len(judged.present)
    other = candidates(rows, recipe)
    absent, sampled = np.zeros(size, dtype=np.int64), 0
    if recipe.sample is not None:
        keys = row_keys(judged, rows, other, recipe.seed)
        positions = np.flatnonzero(other)
        if drawn is None:
            in_sample = smallest_keys(keys, rows.query[positions], recipe.sample)
        else:
            pairs = zip(rows.query[positions].tolist(), keys.tolist(), strict=True)
            in_sample = np.array([key in drawn[query] for query, key in pairs], dtype=np.bool_)
            absent = np.array([len(keys_of_query) for keys_of_query in drawn], dtype=np.int64)
            absent -= np.bincount(rows.query[positions[in_sample]], minlength=size)
        other[positions[~in_sample]] = False
        sampled = int(keys[in_sample].sum())
    retrieved = np.bincount(rows.query[rows.relevant], minlength=size).astype(np.int64)
    start = np.flatnonzero(np.diff(rows.query, prepend=-1))
    listed = np.zeros(size, dtype=np.bool_)
    listed[rows.query[start]] = True
    unretrieved = np.where(listed, judged.qrels.relevant(recipe.rel) - retrieved, 0)
    used = np.flatnonzero(rows.relevant | other)
    return SelectedRows(rows, start, used, retrieved, unretrieved, np.where(listed, absent, 0), sampled)


def values_of(judged: JudgedRun, selection: SelectedRows, recipe: HistogramOptions) -> Values:
    """Return the scores specified by the options, before normalization."""
    rows = selection.rows
    scores = -rows.rank.astype(np.float64) if recipe.from_ranks else _lists(judged).scores[rows.position]
    if not recipe.from_ranks:
        refuse_infinite(scores, rows, judged)
    query, relevant, value = rows.query[selection.used], rows.relevant[selection.used], scores[selection.used]
    if recipe.missing == "min" and len(selection.start):
        lowest = np.zeros(len(selection.found))
        lowest[rows.query[selection.start]] = np.minimum.reduceat(scores, selection.start)
        codes = np.arange(len(lowest))
        codes = np.concatenate([np.repeat(codes, selection.lacking), np.repeat(codes, selection.absent)])
        query = np.concatenate([query, codes])
        relevant = np.concatenate([relevant, np.arange(len(codes)) < selection.lacking.sum()])
        value = np.concatenate([value, lowest[codes]])
    return Values(query.astype(np.int64), relevant, value, selection.found)


def refuse_infinite(scores: Floats, rows: Rows, judged: JudgedRun) -> None:
    """Raise InputError for infinite scores, which cannot be normalized."""
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        query = judged.qrels.queries[int(rows.query[wrong[0]])]
        raise InputError(
            f"query '{query}' has a score of {scores[wrong[0]]}, but histograms need finite scores "
            f"({counted(len(wrong), 'score is', 'scores are')} not finite)",
            hint="To use ranks instead of scores, use --from-ranks.",
        )


def score_ranges(values: Values) -> tuple[Floats, Floats]:
    """Return the lowest and highest score of each query; infinite without scores."""
    size = len(values.found)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, values.query, values.value)
    np.maximum.at(high, values.query, values.value)
    return low, high


def normalised(values: Values, norm: str, spans: tuple[Floats, Floats]) -> Floats:
    """Return scores scaled to [0, 1] by query, over the whole run (`model`), or not at all (`none`).

    A score x becomes (x - min) / (max - min) over the selected scores; equal scores become 0.5. `spans` is
    the result of `score_ranges`.

    >>> two = Values(np.array([0, 0, 1, 1]), np.array([True, False] * 2), np.array([4., 2., 9., 9.]),
    ...              np.array([1, 1]))
    >>> normalised(two, "query", score_ranges(two)).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    query, value = values.query, values.value
    if norm == "none":
        if ((value < 0) | (value > 1)).any():
            found = " to ".join(str(float(end)).removesuffix(".0") for end in (value.min(), value.max()))
            raise InputError(
                f"--norm none needs scores from 0 to 1, but the scores range from {found}",
                hint="To scale the scores, use --norm query.",
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
        span, offset = high - low, value - low
        if not np.isfinite(span).all():  # differences of doubles may overflow
            overflowing = ~np.isfinite(span)
            span = np.where(overflowing, high / 2 - low / 2, span)
            offset = np.where(overflowing, value / 2 - low / 2, offset)
    constant = span == 0
    scaled: Floats = offset / np.where(constant, 1.0, span)
    scaled[np.broadcast_to(constant, scaled.shape)] = 0.5
    return scaled


def counts_of(values: Values, norm: str, bins: int, spans: tuple[Floats, Floats] | None = None) -> Floats:
    """Return histograms of the scores: queries x (relevant, non-relevant) x bins."""
    bin_index = bin_of(normalised(values, norm, spans or score_ranges(values)), bins)
    cell = (values.query * 2 + ~values.relevant) * bins + bin_index
    queries = len(values.found)
    histograms = np.bincount(cell, minlength=queries * 2 * bins).astype(np.float64)
    return histograms.reshape(queries, 2, bins)


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
    """Score relevant and non-relevant documents with a function and return them as a run.

    Queries without a relevant document are excluded.

    >>> pairs = scored(lambda query, documents: map(len, documents), {"q1": {"d1": 1, "d200": 0}})
    >>> pairs.to_dict()
    {'q1': {'d200': 4.0, 'd1': 2.0}}
    """
    check_whole(0, seed=seed)
    table = read_qrels(qrels, negative=negative)
    pairs = pairs_to_score(table, documents, sample=sample, seed=seed, rel=rel, certain=certain)
    rows: list[tuple[bytes, bytes, float]] = []
    for query, listed in pairs.items():
        values = _called(function, query, listed)
        query_name = to_bytes(query)
        rows += [
            (query_name, to_bytes(document), value) for document, value in zip(listed, values, strict=True)
        ]
    return Run.of(rows, name=name or getattr(function, "__name__", "function").strip("<>"))


class ToScore(NamedTuple):
    """Documents of a query that are to be scored."""

    sure: list[bytes]  # relevant documents, then others that are included with certainty
    drawn: list[bytes]
    others: int  # number of documents from which these were drawn


def pairs_to_score(qrels: Qrels, documents: Sequence[str] | None, **options: Any) -> dict[str, list[str]]:
    """Return the relevant documents and the sample of other documents of each query, to be scored.

    >>> table = read_qrels({"q1": {"d1": 1}})
    >>> pairs_to_score(table, ["d1", "d2", "d3"], sample=1)
    {'q1': ['d1', 'd3']}
    """
    return {
        query: [to_text(name) for name in (*one.sure, *one.drawn)]
        for query, one in drawn_to_score(qrels, documents, **options).items()
    }


def drawn_to_score(
    qrels: Qrels,
    documents: Sequence[str] | None,
    *,
    sample: int | None = None,
    seed: int = 0,
    rel: float = 1.0,
    certain: Certain | None = None,
) -> dict[str, ToScore]:
    """Return the documents of each query with a relevant one that are to be scored.

    The sample includes the `certain` documents; the rest is drawn from the other documents, which are those
    of the collection, or else the judged ones.
    """
    check_whole(1, sample=sample)
    if documents is not None and (isinstance(documents, str) or not len(documents)):
        raise UsageError(f"`documents` must be a list with at least one document id, not {documents!r}")
    collection = None if documents is None else sorted({to_bytes(name) for name in documents})
    number = drawn_size(certain, sample)
    pairs = {}
    for code, (query, low, high) in enumerate(zip(qrels.queries.names, qrels.begin, qrels.end, strict=True)):
        judged = qrels.documents.take(np.arange(low, high))
        grades = dict(zip(judged, qrels.grades[low:high].tolist(), strict=True))
        sure = sorted(name for name, grade in grades.items() if grade >= rel)
        if not sure:
            continue
        if certain is not None:
            sure += sorted(certain.documents[code].difference(sure))
        included = set(sure)
        others = [name for name in collection or sorted(grades) if name not in included]
        drawn = others if number is None else sampled_documents(query, others, number, seed)
        pairs[to_text(query)] = ToScore(sure, drawn, len(others))
    if not pairs:
        grade = "above 0" if rel == POSITIVE else f"{rel:g} or more"
        raise InputError(
            f"no query has a relevant document (grade {grade})",
            hint="Pass judgments with at least one relevant document.",
        )
    return pairs


def _called(function: Scorer, query: str, documents: list[str]) -> list[float]:
    returned: Any = function(query, documents)
    try:
        values = returned if isinstance(returned, (list, tuple, np.ndarray)) else list(returned)
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f"for query '{query}', the scoring function must return {counted(len(documents), 'number')} (one "
            f"per document), but returned a value of type {type(returned).__name__} that cannot be converted "
            "to a list of numbers"
        ) from None
    if array.shape != (len(documents),):
        raise UsageError(
            f"for query '{query}', the scoring function must return {counted(len(documents), 'number')} (one "
            f"per document), but its result has the shape {array.shape}"
        )
    scores: list[float] = array.tolist()
    return scores


def scored_runs(runs: Any, qrels: Qrels, **options: Any) -> Any:
    """Return the runs, with functions replaced by runs of their scores."""
    listed = (
        runs.values() if isinstance(runs, Mapping) else runs if isinstance(runs, (list, tuple)) else [runs]
    )
    if not any(map(callable, listed)):
        return runs
    sources = [
        (name, scored(source, qrels, name=name or "", **options) if callable(source) else source)
        for name, source in named_sources(runs)
    ]
    return [source for _, source in sources] if sources[0][0] is None else dict(sources)
