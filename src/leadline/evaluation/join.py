"""Joins of runs with relevance judgments, several runs in parallel; no join is kept in memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from leadline.data.arrays import Codes, Integers
from leadline.data.ids import DocumentNumbers, to_text
from leadline.data.judged_run import Join, JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, UNCUT, Cut, Reading
from leadline.data.run import MatchedLists, RunColumns
from leadline.data.table import RunInfo
from leadline.data.validation import check_run_name
from leadline.data.wording import listed
from leadline.errors import InputError, UsageError
from leadline.evaluation.run_warnings import counts_of, counts_of_reading
from leadline.io.opening import Buffers
from leadline.io.read import (
    UNNAMED,
    RunLike,
    counted_run,
    is_ranked_lists,
    is_row,
    refuse_unnamed_lists,
    stream_lists,
)
from leadline.io.read_paths import path_of
from leadline.io.row_columns import LISTED, ORDER, QUERY, TAG, find
from leadline.io.run_lists import JoinedText, RankedLists, ReadCounts
from leadline.io.run_names import named_files, run_name, told_apart
from leadline.io.swapped_arguments import like_scores, refuse_swapped
from leadline.kernels import parallel_map
from leadline.measures import Measure
from leadline.result import Result

T = TypeVar("T")
WITH_FILES, IN_PYTHON = " with NAME=FILE", ', as in {"A": a, "B": b}'
NAMES = ("name", "model", "method")  # columns that may name runs, or what a row is about
MOST_CHUNKS = 4  # of one run at the same time: more would wait for what is read


class _Joining:
    """Join of a run with the qrels, list by list while the run is read."""

    def __init__(
        self, qrels: QrelsColumns, cut: Cut, *, keep: bool, tops: int, budgets: Collection[int]
    ) -> None:
        self.qrels = qrels
        self.takes_joined = cut == UNCUT and not (keep or tops or budgets)
        self.keep = keep or bool(tops)
        self.join = Join(qrels, cut, keep=keep, tops=tops, budgets=budgets)
        self.path = ""
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
        if lists.unordered.unmeasured:
            self._refuse_unmeasured(lists, codes)
        self.join.add(MatchedLists(codes, lists.bounds, rows, lists.scores, ids, lists.costs))
        self.unjudged += [lists.queries[index] for index in np.flatnonzero(codes < 0).tolist()]
        return True

    def take_joined(self, lists: JoinedText) -> None:
        """Take lists that are joined."""
        self.matched = self.matched or bool(len(lists.joined.rank))
        if lists.queries and not self.matched:
            query, index = min((query, index) for index, query in enumerate(lists.queries))
            self._store_first(query, lambda: lists.first(index))
        self.join.add_joined(lists.joined)
        self.unjudged += lists.unjudged

    def _refuse_unmeasured(self, lists: RankedLists, codes: Integers) -> None:
        """Refuse a list of a judged query in which a document of unknown length may fit in a budget."""
        largest = max(self.join.budgets, default=0)
        for place, query in enumerate(lists.queries):
            first = lists.unordered.unmeasured.get(query)
            if codes[place] >= 0 and first is not None and first.above < largest:
                raise InputError(
                    f"document '{to_text(first.document)}' at rank {first.rank} for query "
                    f"'{to_text(query)}' has no length",
                    path=self.path,
                    hint="Add its length to the table given as `--config read.lengths=FILE:COLUMN`",
                )

    def _store_example(self, lists: RankedLists, rows: Codes) -> None:
        """Store an example document id as long as no document is judged."""
        self.matched = self.matched or bool((rows >= 0).any())
        filled = np.flatnonzero(np.diff(lists.bounds)).tolist()
        if self.matched or not filled:
            return
        query, index = min((lists.queries[index], index) for index in filled)
        self._store_first(query, lambda: lists.ids()[int(lists.bounds[index])])

    def _store_first(self, query: bytes, document: Callable[[], bytes]) -> None:
        if not self.first[1] or query < self.first[0]:
            self.first = (query, document())

    def judged_run(self) -> JudgedRun:
        """Return the join of all lists."""
        judged = self.join.judged_run()
        if not self.matched:
            judged.example = to_text(self.first[0]), to_text(self.first[1])
        judged.unjudged = self.unjudged
        return judged


def judge(
    source: RunLike,
    qrels: QrelsColumns,
    *,
    reading: Reading = DEFAULT_READING,
    cut: Cut = UNCUT,
    name: str | None = None,
    workspaces: Sequence[Buffers] = (),
    keep: bool = False,
    measures: Sequence[Measure] = (),
) -> tuple[str, JudgedRun, ReadCounts]:
    """Join a run with the qrels while it is read, with what measures need."""
    tops = max((measure.scored for measure in measures), default=0)
    budgets = {measure.budget.size for measure in measures if measure.budget is not None}
    joining = _Joining(qrels, cut, keep=keep, tops=tops, budgets=budgets)
    joining.path = path_of(source)
    name, counts = stream_lists(source, joining, reading=reading, name=name, workspaces=workspaces)
    counts.unjudged_queries = len(joining.unjudged)
    return name, joining.judged_run(), counts


def judge_runs(
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    qrels: QrelsColumns,
    do: Callable[[JudgedRun], T],
    *,
    reading: Reading,
    cut: Cut = UNCUT,
    keep: bool = False,
    measures: Sequence[Measure] = (),
    on_run: Callable[[int, int], None] | None = None,
) -> tuple[list[RunInfo], list[T]]:
    """Join every run with the qrels and apply a function to each join."""

    def judge_one(name: str | None, source: RunLike, workspaces: list[Buffers]) -> tuple[RunInfo, T]:
        name, judged, counts = judge(
            source,
            qrels,
            name=name,
            reading=reading,
            cut=cut,
            workspaces=workspaces,
            keep=keep,
            measures=measures,
        )
        if len(workspaces) > 1:  # of the first run; measures need the memory
            workspaces.clear()
        info = RunInfo(
            name=(counts.tag or name) if reading.by_tag else name,
            tag=counts.tag,
            path=path_of(source),
            counts=counts_of(judged, counts, measures),
        )
        try:
            return info, do(judged)
        except InputError as error:
            raise error if error.path else error.at(info.path or name) from None

    sources = named_sources(runs)
    if like_scores(qrels):
        for name, source in sources:
            if not isinstance(source, Iterator):
                refuse_swapped(qrels, counted_run(source, reading=reading, name=name)[0])
    results = list(_each(judge_one, sources, on_run))
    infos = [info for info, _ in results]
    refuse_equal_names(infos, by_tag=reading.by_tag)
    return infos, [result for _, result in results]


def _each(
    function: Callable[[str | None, RunLike, list[Buffers]], T],
    sources: Sequence[tuple[str | None, RunLike]],
    on_run: Callable[[int, int], None] | None,
) -> Iterator[T]:
    """Yield the result of a function for every run, in order, computed by several threads."""
    total = len(sources)
    own = threading.local()
    first, *others = sources

    def work(named: tuple[str | None, RunLike]) -> T:
        if not hasattr(own, "workspaces"):
            own.workspaces = [Buffers()]
        return function(*named, own.workspaces)

    def report(number: int, result: T) -> T:
        if on_run:
            on_run(number, total)
        return result

    together = min(MOST_CHUNKS, 1 + (os.cpu_count() or 1)) if path_of(first[1]) else 0
    yield report(1, function(*first, [Buffers() for _ in range(together)]))
    for number, result in enumerate(parallel_map(work, others) if others else (), start=2):
        yield report(number, result)


def named_sources(runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike]) -> list[tuple[str | None, Any]]:
    """Return each run with its given name or None; a single run need not be in a list.

    A folder, or a pattern such as `runs/*.run`, stands for all its files; NAME=FILE names a file. Of several
    runs, those in memory without a name are called "run 1", "run 2", ... by their places.
    """
    return _named(_sources(listed_runs(runs)))


def joined_runs(several: Sequence[Any]) -> dict[str, Any]:
    """Return arguments, each a run or several, as one dictionary of runs by name.

    >>> list(joined_runs([{"q1": ["d1"]}, {"new": {"q1": ["d2"]}}, "bm25.run"]))
    ['run 1', 'new', 'bm25']
    """
    sources = _named([each for runs in several for each in _sources(listed_runs(runs))])
    found = [
        (name or (run.name if isinstance(run, RunColumns) else run_name(run)), run) for name, run in sources
    ]
    refuse_equal_names([RunInfo(name, path=path_of(run)) for name, run in found])
    return dict(found)


def _sources(runs: Any) -> list[tuple[str | None, Any]]:
    if isinstance(runs, (Mapping, list, tuple)) and not runs:
        raise UsageError("no runs were given. Pass at least one run.")
    if isinstance(runs, Mapping):
        first = next((one for one in runs.values() if not isinstance(one, Mapping) or one), {})
        inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
        lists = isinstance(inner, (Mapping, list, tuple)) or hasattr(inner, "column_names")
        if isinstance(first, Mapping) and not lists:
            return [(None, runs)]
        if is_ranked_lists(runs):
            return [(None, runs)]
        for name in runs:
            check_run_name(name)
        return list(runs.items())
    if isinstance(runs, (list, tuple)):
        if is_row(runs[0]) or hasattr(runs, "_fields"):
            return [(None, runs)]
        refuse_unnamed_lists(runs)
        return [each for run in runs for each in _files(run)]
    return _files(runs)


def _files(run: Any) -> list[tuple[str | None, Any]]:
    if isinstance(run, (RunColumns, Mapping)) or not hasattr(type(run), "columns"):
        return named_files(run)
    return list(_in_frame(run))


def _in_frame(run: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield the runs that a frame names; in a column of `NAMES` only if pairs occur several times."""
    from leadline.io.python_inputs import open_frame

    frame = open_frame(run)
    if frame is None:
        yield None, run
        return
    names = frame.columns
    pair = [find(names, QUERY), find(names, LISTED)]
    named, perhaps = [find(names, TAG)], find(names, NAMES)
    if perhaps and None not in pair and frame.select(pair).is_duplicated().any():
        named.insert(0, perhaps)
    name = next((each for each in named if each and frame[each].drop_nulls().n_unique() > 1), None)
    if name is None:
        yield None, frame.to_native()  # a lazy frame is collected once
        return
    for value in frame[name].unique(maintain_order=True).to_list():
        shown = str(value) if type(value) is int else value
        check_run_name(shown)
        yield shown, frame.filter(frame[name] == value).to_native()


def _named(sources: Sequence[tuple[str | None, Any]]) -> list[tuple[str | None, Any]]:
    """Return runs with the names given; files of equal names are told apart, unnamed runs have numbers."""
    found = told_apart(sources)
    refuse_equal_names([RunInfo(name, path=run) for name, run in found if name and isinstance(run, str)])
    return [
        (f"{UNNAMED} {number}" if name is None and len(found) > 1 and _is_unnamed(run) else name, run)
        for number, (name, run) in enumerate(found, start=1)
    ]


def _is_unnamed(source: object) -> bool:
    if isinstance(source, RunColumns):
        return source.name == UNNAMED and not source.sources
    return not isinstance(source, (str, os.PathLike))


def listed_runs(runs: Any) -> Any:
    """Return an iterator of runs, such as a generator of paths, as a list; other input unchanged.

    An iterator of rows is a single run and is not consumed.

    >>> listed_runs(path for path in ["a.run", "b.run"])
    ['a.run', 'b.run']
    """
    if isinstance(runs, QrelsColumns):
        raise InputError("a Qrels object was passed where a run is expected", hint=ORDER)
    if isinstance(runs, Result):  # some can be iterated
        return [runs]
    if isinstance(runs, (str, bytes, os.PathLike, RunColumns, Mapping, list, tuple)) or callable(runs):
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
    if isinstance(value, (str, os.PathLike, RunColumns)):
        return True
    if isinstance(value, Mapping):
        return not is_row(value) and isinstance(next(iter(value.values()), None), (Mapping, list, tuple))
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
) -> Iterator[tuple[RunInfo, RunColumns]]:
    """Yield runs one after the other, without judgments."""
    infos: list[RunInfo] = []
    sources = named_sources(runs)
    for name, source in sources:
        run, counts = counted_run(source, name=name, reading=reading)
        if not len(run.scores):
            raise InputError("contains no documents", path=run.name)
        label = (run.tag or run.name) if reading.by_tag else name or run.name
        infos.append(RunInfo(label, run.tag, path_of(source), counts_of_reading(counts, reading)))
        refuse_equal_names(infos, by_tag=reading.by_tag)
        yield infos[-1], run
        if on_run:
            on_run(len(infos), len(sources))


class NumberedLists(NamedTuple):
    """The lists of a run by query: where each begins and ends, and the numbers of the documents."""

    spans: dict[bytes, tuple[int, int]]
    document: Codes


class _Numbering:
    """The documents of every list of a run as numbers, collected while the run is read."""

    def __init__(self, numbers: DocumentNumbers, depth: int | None) -> None:
        self.numbers = numbers
        self.depth = depth
        self.restart()

    def restart(self) -> None:
        """Discard all lists."""
        self.sizes: dict[bytes, int] = {}
        self.documents: list[Codes] = []

    def take(self, lists: RankedLists) -> bool:
        """Store the numbers of documents; return False if a list contains a document twice."""
        if lists.rows_in(_NOTHING_JUDGED, np.full(len(lists.queries), -1)) is None:
            return False
        bounds, document = lists.numbered(self.numbers, self.depth)
        self.sizes.update(zip(lists.queries, np.diff(bounds).tolist(), strict=True))
        self.documents.append(document)
        return True

    def lists(self) -> NumberedLists:
        """Return all lists."""
        ends = pairwise(accumulate(self.sizes.values(), initial=0))
        return NumberedLists(
            dict(zip(self.sizes, ends, strict=True)),
            np.concatenate([np.empty(0, dtype=np.int32), *self.documents]),
        )


_NOTHING_JUDGED = QrelsColumns.of([])


def numbered_runs(
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    reading: Reading,
    numbers: DocumentNumbers,
    *,
    depth: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> list[tuple[RunInfo, NumberedLists]]:
    """Return the lists of each run, of `depth` documents at most; several runs are read in parallel.

    Deeper documents are checked and not kept. `numbers` may have more documents than the lists.
    """

    def read_one(
        name: str | None, source: RunLike, workspaces: Sequence[Buffers]
    ) -> tuple[RunInfo, NumberedLists]:
        found = _Numbering(numbers, depth)
        name, counts = stream_lists(source, found, reading=reading, name=name, workspaces=workspaces)
        label = (counts.tag or name) if reading.by_tag else name
        return RunInfo(label, counts.tag, path_of(source), counts_of_reading(counts, reading)), found.lists()

    read = list(_each(read_one, named_sources(runs), on_run))
    refuse_equal_names([info for info, _ in read], by_tag=reading.by_tag)
    return read


def refuse_equal_names(infos: Sequence[RunInfo], *, by_tag: bool = False) -> None:
    """Raise UsageError if two runs have the same name, which would make results ambiguous."""
    seen: dict[str, RunInfo] = {}
    for info in infos:
        earlier = seen.setdefault(info.name, info)
        if earlier is not info:
            files = list(filter(None, (earlier.path, info.path)))
            hint = f"Give them different names{WITH_FILES if len(files) == 2 else IN_PYTHON}"
            hint = "Leave out --config read.name_by=tag" if by_tag else hint
            which = f" ({listed(files)})" if files else ""
            raise UsageError(f"two runs are both named '{info.name}'{which}. {hint}.")
