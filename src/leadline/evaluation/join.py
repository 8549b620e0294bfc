"""Joins of runs with relevance judgments, several runs in parallel; no join is kept in memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from leadline.data.arrays import Codes
from leadline.data.ids import to_bytes, to_text
from leadline.data.judged_run import Join, JudgedRun, MatchedLists
from leadline.data.qrels import Qrels
from leadline.data.reading import DEFAULT_READING, UNCUT, Cut, Reading
from leadline.data.results import RunInfo
from leadline.data.run import Run
from leadline.data.validation import check_run_name
from leadline.errors import InputError, UsageError
from leadline.evaluation.run_warnings import counts_of, counts_of_reading
from leadline.io.opening import Buffers, run_name
from leadline.io.read import UNNAMED, RunLike, counted_run, is_ranked_lists, is_row, stream_lists
from leadline.io.run_names import distinct_names, named_files
from leadline.io.selection import selected_run
from leadline.io.swapped_arguments import ORDER, like_scores, refuse_swapped
from leadline.io.trec_lists import RankedLists
from leadline.io.trec_runs import ReadCounts
from leadline.kernels import parallel_map
from leadline.measures import Measure

T = TypeVar("T")


class _Joining:
    """Join of a run with the qrels, list by list while the run is read."""

    def __init__(self, qrels: Qrels, cut: Cut, *, keep: bool) -> None:
        self.qrels = qrels
        self.keep = keep
        self.join = Join(qrels, cut, keep=keep)
        self.restart()

    def restart(self) -> None:
        """Discard all lists."""
        self.join.clear()
        self.unjudged: list[bytes] = []
        self.matched = False  # whether any document is judged
        self.first = (b"", b"")  # smallest query id and its first document, until a document is judged

    def take(self, lists: RankedLists) -> bool:
        """Join lists; return False if one contains a duplicate document."""
        codes = self.qrels.queries.encode(lists.queries)
        rows = lists.rows_in(self.qrels, codes)
        if rows is None:
            return False
        self._store_example(lists, rows)
        ids = lists.ids() if self.keep else None
        self.join.add(MatchedLists(codes, lists.bounds, rows, lists.scores, ids))
        self.unjudged += [lists.queries[index] for index in np.flatnonzero(codes < 0).tolist()]
        return True

    def _store_example(self, lists: RankedLists, rows: Codes) -> None:
        """Store an example document id as long as no document is judged."""
        self.matched = self.matched or bool((rows >= 0).any())
        filled = np.flatnonzero(np.diff(lists.bounds)).tolist()
        if self.matched or not filled:
            return
        query, index = min((lists.queries[index], index) for index in filled)
        if not self.first[1] or query < self.first[0]:
            self.first = (query, lists.ids()[int(lists.bounds[index])])

    def judged_run(self) -> JudgedRun:
        """Return the join of all lists."""
        judged = self.join.judged_run()
        if not self.matched:
            judged.example_query, judged.example = map(to_text, self.first)
        judged.unjudged = self.unjudged
        return judged


def judge(
    source: RunLike,
    qrels: Qrels,
    *,
    reading: Reading = DEFAULT_READING,
    cut: Cut = UNCUT,
    name: str | None = None,
    workspaces: Sequence[Buffers] = (),
    keep: bool = False,
) -> tuple[str, JudgedRun, ReadCounts]:
    """Join a run with the qrels while it is read."""
    if isinstance(source, Run):
        return name or source.name, *_judge_run(source, qrels, reading, cut, keep=keep)
    joining = _Joining(qrels, cut, keep=keep)
    name, counts = stream_lists(source, joining, reading=reading, name=name, workspaces=workspaces)
    counts.unjudged_queries = len(joining.unjudged)
    counts.unjudged_query = next(map(to_text, joining.unjudged), "")
    return name, joining.judged_run(), counts


def _judge_run(
    run: Run, qrels: Qrels, reading: Reading, cut: Cut, *, keep: bool
) -> tuple[JudgedRun, ReadCounts]:
    if not len(run.scores):
        raise InputError("contains no documents", expected="a run", path=run.name)
    run, identical = selected_run(run, reading)
    judged = JudgedRun.of_run(run, qrels, reading=reading, cut=cut, keep=keep)
    if not len(judged.row):
        judged.example_query = run.queries[0]
        judged.example = to_text(run.documents.names[int(run.document[0])])
    unjudged = [query for query in run.queries if qrels.queries.code(query) is None]
    judged.unjudged = [to_bytes(query) for query in unjudged]
    counts = ReadCounts(
        rows=len(run.scores),
        queries=len(run.queries),
        identical=identical,
        tag=run.tag,
        unjudged_queries=len(unjudged),
        unjudged_query=next(iter(unjudged), ""),
    )
    return judged, counts


def judge_runs(
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    qrels: Qrels,
    do: Callable[[JudgedRun], T],
    *,
    reading: Reading,
    cut: Cut = UNCUT,
    keep: bool = False,
    measures: Sequence[Measure] = (),
    on_run: Callable[[int, int], None] | None = None,
) -> tuple[list[RunInfo], list[T]]:
    """Join every run with the qrels and apply a function to each join."""

    def judge_one(name: str | None, source: RunLike, workspaces: Sequence[Buffers]) -> tuple[RunInfo, T]:
        name, judged, counts = judge(
            source, qrels, name=name, reading=reading, cut=cut, workspaces=workspaces, keep=keep
        )
        info = RunInfo(
            name=(counts.tag or name) if reading.by_tag else name,
            tag=counts.tag,
            path=os.fspath(source) if isinstance(source, (str, os.PathLike)) else "",
            counts=counts_of(judged, counts, measures),
        )
        return info, do(judged)

    sources = named_sources(runs)
    if like_scores(qrels) and not isinstance(sources[0][1], Iterator):
        refuse_swapped(qrels, counted_run(sources[0][1], reading=reading)[0])
    results = list(_each(judge_one, sources, on_run))
    infos = [info for info, _ in results]
    refuse_equal_names(infos)
    return infos, [result for _, result in results]


def _each(
    function: Callable[[str | None, RunLike, Sequence[Buffers]], T],
    sources: Sequence[tuple[str | None, RunLike]],
    on_run: Callable[[int, int], None] | None,
) -> Iterator[T]:
    """Yield the result of a function for every run, in order, computed by several threads."""
    total = len(sources)
    own = threading.local()

    def work(named: tuple[str | None, RunLike]) -> T:
        if not hasattr(own, "workspaces"):
            own.workspaces = [Buffers()]
        return function(*named, own.workspaces)

    def report(number: int, result: T) -> T:
        if on_run:
            on_run(number, total)
        return result

    processors = os.cpu_count() or 1
    yield report(1, function(*sources[0], [Buffers() for _ in range(min(2, processors))]))
    for number, result in enumerate(parallel_map(work, sources[1:]), start=2):
        yield report(number, result)


def named_sources(runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike]) -> list[tuple[str | None, Any]]:
    """Return each run with its given name or None; a single run need not be in a list.

    A folder, or a pattern such as `runs/*.run`, stands for all its files; NAME=FILE names a file.
    """
    runs = listed_runs(runs)
    if isinstance(runs, Mapping) and not runs:
        raise UsageError("no runs; expected at least one")
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
        if isinstance(first, Mapping) and not isinstance(inner, (Mapping, list, tuple)):
            return [(None, runs)]
        if is_ranked_lists(runs):
            return [(None, runs)]
        for name in runs:
            check_run_name(name)
        return list(runs.items())
    if isinstance(runs, (list, tuple)):
        if not runs:
            raise UsageError("no runs; expected at least one")
        if is_row(runs[0]) or hasattr(runs, "_fields"):
            return [(None, runs)]
        return _named([each for run in runs for each in _files(run)])
    return _named(_files(runs))


def _files(run: Any) -> list[tuple[str | None, Any]]:
    return list(named_files(os.fspath(run))) if isinstance(run, (str, os.PathLike)) else [(None, run)]


def _named(sources: Sequence[tuple[str | None, Any]]) -> list[tuple[str | None, Any]]:
    """Return runs with the names given, and files of equal names with names that tell them apart."""
    files = [place for place, (_, source) in enumerate(sources) if isinstance(source, str)]
    given = [sources[place][0] for place in files]
    paths = [sources[place][1] for place in files]
    names = distinct_names(given, paths)
    if names == list(map(run_name, paths)):
        return list(sources)
    refuse_equal_names([RunInfo(name, path=path) for name, path in zip(names, paths, strict=True)])
    found = dict(zip(files, names, strict=True))
    return [(found.get(place), source) for place, (_, source) in enumerate(sources)]


def listed_runs(runs: Any) -> Any:
    """Return an iterator of runs, such as a generator of paths, as a list; other input unchanged.

    An iterator of rows is a single run and is not consumed.

    >>> listed_runs(path for path in ["a.run", "b.run"])
    ['a.run', 'b.run']
    """
    if isinstance(runs, Qrels):
        raise InputError("a Qrels in place of a run", expected=ORDER)
    if isinstance(runs, (str, bytes, os.PathLike, Run, Mapping, list, tuple)) or callable(runs):
        return runs
    if not isinstance(runs, Iterator):
        if not isinstance(runs, Iterable) or _is_frame(runs):
            return runs
        runs = iter(runs)
    first = list(islice(runs, 1))
    rest = chain(first, runs)
    return list(rest) if first and _is_run(first[0]) else rest


def _is_run(value: Any) -> bool:
    """Return whether an item of an iterable is a run rather than a row of a run."""
    if isinstance(value, (str, os.PathLike, Run)):
        return True
    if isinstance(value, Mapping):
        return isinstance(next(iter(value.values()), None), (Mapping, list, tuple))
    if isinstance(value, list):
        return isinstance(next(iter(value), None), (tuple, Mapping))
    return not isinstance(value, tuple) and _is_frame(value)


def _is_frame(value: object) -> bool:
    from leadline.io.python_inputs import open_frame

    return open_frame(value) is not None


def readable_twice(runs: Any, reading: Reading) -> Any:
    """Return the runs, with iterators, which can be read only once, in memory."""
    sources = [
        (name, counted_run(each, name=name, reading=reading)[0] if isinstance(each, Iterator) else each)
        for name, each in named_sources(runs)
    ]
    names = [name for name, _ in sources]
    return [source for _, source in sources] if None in names else dict(sources)


def each_run(
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    reading: Reading,
    *,
    on_run: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[RunInfo, Run]]:
    """Yield runs one after the other, without judgments."""
    infos: list[RunInfo] = []
    sources = named_sources(runs)
    for name, source in sources:
        run, counts = counted_run(source, name=name, reading=reading)
        if not len(run.scores):
            raise InputError("contains no documents", expected="a run", path=run.name)
        label = (run.tag or run.name) if reading.by_tag else name or run.name
        path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        infos.append(RunInfo(label, run.tag, path, counts_of_reading(counts, reading)))
        refuse_equal_names(infos)
        yield infos[-1], run
        if on_run:
            on_run(len(infos), len(sources))


class _FirstDocuments:
    """First documents of every list of a run, collected while the run is read."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.restart()

    def restart(self) -> None:
        """Discard all lists."""
        self.documents: dict[bytes, list[bytes]] = {}

    def take(self, lists: RankedLists) -> bool:
        """Store the first documents of lists; return False if a list contains a duplicate document."""
        if lists.rows_in(_NOTHING_JUDGED, np.full(len(lists.queries), -1)) is None:
            return False
        low, high = lists.bounds[:-1], np.minimum(lists.bounds[1:], lists.bounds[:-1] + self.depth)
        ends = np.cumsum(high - low)
        indices = np.arange(ends[-1] if len(ends) else 0) + np.repeat(high - ends, high - low)
        names = list(lists.ids().take(indices))
        starts = (ends - (high - low)).tolist()
        for query, start, end in zip(lists.queries, starts, ends.tolist(), strict=True):
            self.documents[query] = names[start:end]
        return True


_NOTHING_JUDGED = Qrels.of([])


def first_documents(
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    depth: int,
    reading: Reading,
    *,
    on_run: Callable[[int, int], None] | None = None,
) -> list[tuple[RunInfo, dict[bytes, list[bytes]]]]:
    """Return the first `depth` documents of every list of each run; several runs are read in parallel.

    Deeper documents are checked and not stored.
    """

    def read_one(
        name: str | None, source: RunLike, workspaces: Sequence[Buffers]
    ) -> tuple[RunInfo, dict[bytes, list[bytes]]]:
        if isinstance(source, Run) or reading.on_duplicate == "hold":  # repeats that are held get new ids
            run, counts = counted_run(source, name=name, reading=reading)
            if not len(run.scores):
                raise InputError("contains no documents", expected="a run", path=run.name)
            name, bounds = name or run.name, run.offsets.tolist()
            documents = {
                query: [run.documents.names[code] for code in run.document[low : min(high, low + depth)]]
                for query, low, high in zip(run.queries.names, bounds[:-1], bounds[1:], strict=True)
            }
        else:
            first = _FirstDocuments(depth)
            name, counts = stream_lists(source, first, reading=reading, name=name, workspaces=workspaces)
            documents = first.documents
        label = (counts.tag or name) if reading.by_tag else name
        path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        return RunInfo(label, counts.tag, path, counts_of_reading(counts, reading)), documents

    read = list(_each(read_one, named_sources(runs), on_run))
    refuse_equal_names([info for info, _ in read])
    return read


def refuse_equal_names(infos: Sequence[RunInfo]) -> None:
    """Raise UsageError if two runs have the same name, which would make results ambiguous."""
    seen: dict[str, RunInfo] = {}
    for info in infos:
        earlier = seen.setdefault(info.name, info)
        if earlier is not info:
            if not info.path and not earlier.path:
                same = f"called '{info.name}'" if info.name != UNNAMED else "without a name"
                raise UsageError(
                    f'two runs are {same}; expected a dictionary that names them: {{"A": a, "B": b}}'
                )
            files = f" ({earlier.path} and {info.path})" if info.path else ""
            raise UsageError(
                f"two runs are called '{info.name}'{files}; expected different names (NAME=FILE names a run)"
            )
