"""Join many runs with one qrels, several at a time, and do one thing to each: no join is kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from leadline.data.arrays import Codes
from leadline.data.ids import to_text
from leadline.data.judged_run import Join, JudgedRun, Lists
from leadline.data.qrels import Qrels
from leadline.data.reading import DEFAULT_READING, UNCUT, Cut, Reading
from leadline.data.results import RunInfo
from leadline.data.run import Run
from leadline.data.threads import in_order
from leadline.data.validation import check_run_name
from leadline.errors import InputError, UsageError
from leadline.evaluation.run_warnings import counts_of
from leadline.io.opening import STANDARD_INPUT, Buffers
from leadline.io.read import UNNAMED, RunLike, counted_run, is_ranked_lists, is_row, stream_lists
from leadline.io.trec_lists import RankedLists
from leadline.io.trec_runs import ReadCounts
from leadline.measures import Measure

T = TypeVar("T")


class _Joining:
    """The join of a run with the qrels, list by list as it is read."""

    def __init__(self, qrels: Qrels, cut: Cut, *, keep: bool) -> None:
        self.qrels = qrels
        self.keep = keep
        self.join = Join(qrels, cut, keep=keep)
        self.restart()

    def restart(self) -> None:
        """Forget all lists."""
        self.join.clear()
        self.unjudged: list[bytes] = []
        self.matched = False  # a document is judged
        self.first = (b"", b"")  # the query that sorts first, and its first document, until one is judged

    def take(self, lists: RankedLists) -> bool:
        """Join some lists, unless one names a document twice."""
        codes = self.qrels.queries.encode(lists.queries)
        rows = lists.rows_in(self.qrels, codes)
        if rows is None:
            return False
        self._look(lists, rows)
        ids = lists.ids() if self.keep else None
        self.join.add(Lists(codes, lists.bounds, rows, lists.scores, ids))
        self.unjudged += [lists.queries[place] for place in np.flatnonzero(codes < 0).tolist()]
        return True

    def _look(self, lists: RankedLists, rows: Codes) -> None:
        """Keep an example of the documents as long as none is judged."""
        self.matched = self.matched or bool((rows >= 0).any())
        filled = np.flatnonzero(np.diff(lists.bounds)).tolist()
        if self.matched or not filled:
            return
        query, place = min((lists.queries[place], place) for place in filled)
        if not self.first[1] or query < self.first[0]:
            self.first = (query, lists.ids()[int(lists.bounds[place])])

    def judged_run(self) -> JudgedRun:
        """Return the join of all lists."""
        judged = self.join.judged_run()
        judged.example = "" if self.matched else to_text(self.first[1])
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
    """Join any run with the qrels while it is read; gives its name and what was counted too.

    `keep`: the join keeps all rows.
    """
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
    judged = JudgedRun.of_run(run, qrels, reading=reading, cut=cut, keep=keep)
    judged.example = "" if len(judged.row) else to_text(run.documents.names[int(run.document[0])])
    unjudged = [query for query in run.queries if qrels.queries.code(query) is None]
    counts = ReadCounts(
        rows=len(run.scores),
        queries=len(run.queries),
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
    """Join every run with the qrels and do one thing to each join; runs must have different names.

    `measures` tell which cutoffs to look for in ties; `on_run(done, total)` is called after each run.
    `keep` keeps all rows of a run in its join.
    """

    def one(name: str | None, source: RunLike, workspaces: Sequence[Buffers]) -> tuple[RunInfo, T]:
        name, judged, tally = judge(
            source, qrels, name=name, reading=reading, cut=cut, workspaces=workspaces, keep=keep
        )
        info = RunInfo(
            name=(tally.tag or name) if reading.by_tag else name,
            tag=tally.tag,
            path=os.fspath(source) if isinstance(source, (str, os.PathLike)) else "",
            counts=counts_of(judged, tally, measures),
        )
        return info, do(judged)

    found = list(_each(one, named_sources(runs), on_run))
    infos = [info for info, _ in found]
    refuse_equal_names(infos)
    return infos, [result for _, result in found]


def _each(
    one: Callable[[str | None, RunLike, Sequence[Buffers]], T],
    sources: Sequence[tuple[str | None, RunLike]],
    on_run: Callable[[int, int], None] | None,
) -> Iterator[T]:
    """Do one thing to every run, in order, on as many threads as help; the kernels release the lock.

    The first run goes alone, reads ahead, and fills what the qrels keep for all.
    """
    total = len(sources)
    own = threading.local()

    def work(named: tuple[str | None, RunLike]) -> T:
        if not hasattr(own, "workspaces"):
            own.workspaces = [Buffers()]
        return one(*named, own.workspaces)

    def told(place: int, found: T) -> T:
        if on_run:
            on_run(place, total)
        return found

    processors = os.cpu_count() or 1
    yield told(1, one(*sources[0], [Buffers() for _ in range(min(2, processors))]))
    for place, found in enumerate(in_order(work, sources[1:]), start=2):
        yield told(place, found)


def named_sources(runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike]) -> list[tuple[str | None, Any]]:
    """Return each run with the name that it was given, if any; one run may stand alone."""
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
        return [(None, run) for run in runs]
    return [(None, runs)]


def listed_runs(runs: Any) -> Any:
    """Return runs that come one by one, as from a generator of paths, as a list; all else as it is.

    An iterator of rows is one run, whose rows stay to be read.

    >>> listed_runs(path for path in ["a.run", "b.run"])
    ['a.run', 'b.run']
    """
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
    """Return whether something that an iterable gave is a run rather than a row of one."""
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
    """Return the same runs, with what can be read only once (standard input, iterators) in memory."""
    sources = [
        (name, counted_run(source, name=name, reading=reading)[0] if _only_once(source) else source)
        for name, source in named_sources(runs)
    ]
    return [source for _, source in sources] if sources[0][0] is None else dict(sources)


def each_run(
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    reading: Reading,
    *,
    on_run: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[RunInfo, Run]]:
    """Read runs one after the other, without judgments; they must hold documents and differ in name."""
    infos: list[RunInfo] = []
    sources = named_sources(runs)
    for name, source in sources:
        run, tally = counted_run(source, name=name, reading=reading)
        if not len(run.scores):
            raise InputError("contains no documents", expected="a run", path=run.name)
        shown = (run.tag or run.name) if reading.by_tag else name or run.name
        path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        infos.append(RunInfo(shown, run.tag, path, {"documents_read": tally.rows}))
        refuse_equal_names(infos)
        yield infos[-1], run
        if on_run:
            on_run(len(infos), len(sources))


class _FirstDocuments:
    """The first documents of every list of a run, kept while it is read."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.restart()

    def restart(self) -> None:
        """Forget all lists."""
        self.found: dict[bytes, list[bytes]] = {}

    def take(self, lists: RankedLists) -> bool:
        """Keep the first documents of some lists, unless one names a document twice."""
        if lists.rows_in(_NOTHING_JUDGED, np.full(len(lists.queries), -1)) is None:
            return False
        low, high = lists.bounds[:-1], np.minimum(lists.bounds[1:], lists.bounds[:-1] + self.depth)
        ends = np.cumsum(high - low)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(high - ends, high - low)
        names = list(lists.ids().take(places))
        starts = (ends - (high - low)).tolist()
        for query, start, end in zip(lists.queries, starts, ends.tolist(), strict=True):
            self.found[query] = names[start:end]
        return True


_NOTHING_JUDGED = Qrels.of([])


def first_documents(
    runs: RunLike | Iterable[RunLike] | Mapping[str, RunLike],
    depth: int,
    reading: Reading,
    *,
    on_run: Callable[[int, int], None] | None = None,
) -> list[tuple[RunInfo, dict[bytes, list[bytes]]]]:
    """Read the first `depth` documents of every list of some runs, several runs at a time.

    Documents come as by `each_run`; what lies deeper is read past and not kept.
    """

    def one(
        name: str | None, source: RunLike, workspaces: Sequence[Buffers]
    ) -> tuple[RunInfo, dict[bytes, list[bytes]]]:
        if isinstance(source, Run) or reading.on_duplicate == "hold":  # what is held has a name of its own
            run, counts = counted_run(source, name=name, reading=reading)
            if not len(run.scores):
                raise InputError("contains no documents", expected="a run", path=run.name)
            name, bounds = name or run.name, run.offsets.tolist()
            found = {
                query: [run.documents.names[code] for code in run.document[low : min(high, low + depth)]]
                for query, low, high in zip(run.queries.names, bounds[:-1], bounds[1:], strict=True)
            }
        else:
            kept = _FirstDocuments(depth)
            name, counts = stream_lists(source, kept, reading=reading, name=name, workspaces=workspaces)
            found = kept.found
        shown = (counts.tag or name) if reading.by_tag else name
        path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        return RunInfo(shown, counts.tag, path, {"documents_read": counts.rows}), found

    read = list(_each(one, named_sources(runs), on_run))
    refuse_equal_names([info for info, _ in read])
    return read


def _only_once(source: Any) -> bool:
    return isinstance(source, Iterator) or (isinstance(source, str) and source == STANDARD_INPUT)


def refuse_equal_names(infos: Sequence[RunInfo]) -> None:
    """Refuse two runs of one name: whoever reads the result could not tell them apart."""
    seen: dict[str, RunInfo] = {}
    for info in infos:
        other = seen.setdefault(info.name, info)
        if other is not info:
            if not info.path and not other.path:
                same = f"called '{info.name}'" if info.name != UNNAMED else "without a name"
                raise UsageError(
                    f'two runs are {same}; expected a dictionary that names them: {{"A": a, "B": b}}'
                )
            files = f" ({other.path} and {info.path})" if info.path else ""
            raise UsageError(
                f"two runs are called '{info.name}'{files}; expected different names "
                "(rename a file, or use --name-by tag)"
            )
