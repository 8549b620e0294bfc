"""Pooling: selection of the query-document pairs to judge."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Unpack, overload

import numpy as np

from leadline.data.arrays import Hashes, Integers, document_keys, draw_documents
from leadline.data.ids import Vocabulary, to_bytes, to_text
from leadline.data.judgment_tables import DrawnPool, Pooled
from leadline.data.reading import Reading, RunsOptions
from leadline.data.table import Column, ResultWarning, RunInfo, columns_of
from leadline.data.validation import check_flags, check_whole
from leadline.data.wording import counted, first_few
from leadline.data.wording import queries as queries_of
from leadline.errors import InputError, UsageError, both, either, one_of
from leadline.estimation.measured_pool import MeasuredPool
from leadline.estimation.pool_designs import pool_for
from leadline.estimation.system_lists import Systems, read_systems
from leadline.evaluation.run_warnings import selection_warnings
from leadline.io import pool_files
from leadline.io.formats import suffix_of
from leadline.io.objects import Qrels, read_qrels
from leadline.io.pool_files import read_pool
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import path_of, public, refuse_sources
from leadline.io.texts import TextsLike, read_queries
from leadline.io.write import checked_path
from leadline.judging.pooling_methods import POOLS, PoolMethod, RankedLists
from leadline.measures import Measure
from leadline.result import Result
from leadline.retrieval.collection import ids_of

Row = tuple[str, str, float, Mapping[str, int]]  # query, document, probability, rank by run


@dataclass
class Pool(Result):
    """A pool of pairs to judge.

    Attributes
    ----------
    whole : Pooled
        All pairs of the pool.
    new : Pooled
        The pairs to judge: those not judged before.
    brought : dict of str to (int, int)
        By run: number of documents that it contributed, and of those that no other run contributed.
    read : dict of str to int
        Numbers of rows of the inputs other than runs.
    """

    whole: Pooled
    new: Pooled
    runs: list[RunInfo]
    brought: dict[str, tuple[int, int]]
    read: dict[str, int] = field(default_factory=dict)  # rows of the inputs other than runs

    def __repr__(self) -> str:
        queries, pairs = queries_of(len(set(self.new.queries))), counted(len(self), "pair")
        return f"Pool({queries}, {pairs} to judge, {len(self.whole.documents):,} pooled)"

    def __len__(self) -> int:
        return len(self.new.documents)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "queries": len(set(self.new.queries)),
            "pairs": len(self),
            "pooled": len(self.whole.documents),
            "drawn": int((self.whole.probability < 1).sum()),
            "runs": [
                {"name": name, "brought": brought, "alone": alone}
                for name, (brought, alone) in self.brought.items()
            ],
        }

    def _columns(self) -> list[Column]:
        rows = [(name, *counts) for name, counts in self.brought.items()]
        drawn = self.to_dict()["drawn"]
        more = [("random sample", drawn, None)] * bool(drawn)
        runs, *counts = columns_of(("run", "documents", "unique"), [*rows, *more])
        return [runs, *(column._replace(form=",") for column in counts)]

    def _notes(self) -> list[str]:
        data = self.to_dict()
        verb = "is" if 1 in (data["pairs"], data["pooled"]) else "are"
        new = "new" if self.options.get("batch") is None else "in the batch"
        note = (
            f"{data['pairs']:,} of {counted(data['pooled'], 'pooled pair')} {verb} {new} "
            f"({queries_of(data['queries'])}, {data['pairs'] / max(data['queries'], 1):.1f} per query)"
        )
        return [note, *super()._notes()]

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the pairs to judge if the suffix is .tsv, and the counts otherwise; see `Result.write`."""
        name = checked_path(path, expected="a path")
        if suffix_of(name) != ".tsv" or options:
            super().write(path, **options)
            return
        refuse_sources(name, self.sources)
        pool_files.write_pool(self.new, name)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the pairs to judge as columns: query_id, doc_id, probability."""
        return self.new.to_columns()


class _Collection(NamedTuple):
    """The ids to draw from, sorted by bytes, with their keys, and the place there of a run's document."""

    names: Sequence[bytes]
    keys: Hashes
    place: Integers
    given: bool


@overload
def pool(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    measure: str | Measure | Iterable[str | Measure],
    budget: float | None = None,
    total: int | None = None,
    pair: tuple[str, str] | None = None,
    machine: QrelsLike | None = None,
    earlier: str | os.PathLike[str] | DrawnPool | MeasuredPool | None = None,
    looks: int = 1,
    depth: int | None = None,
    judged: QrelsLike | None = None,
    rel: float = 1.0,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[RunsOptions],
) -> MeasuredPool: ...


@overload
def pool(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike] = (),
    *,
    method: str | PoolMethod | None = None,
    depth: int | None = None,
    random: int = 0,
    everything: bool = False,
    documents: TextsLike | None = None,
    queries: TextsLike | None = None,
    known: str | os.PathLike[str] | Iterable[tuple[str, str]] | None = None,
    judged: QrelsLike | None = None,
    rel: float = 1.0,
    batch: int | None = None,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    on_query: Callable[[int, int], None] | None = None,
    **options: Unpack[RunsOptions],
) -> Pool: ...


@public
def pool(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike] = (),
    *,
    method: str | PoolMethod | None = None,
    depth: int | None = None,
    random: int = 0,
    everything: bool = False,
    documents: TextsLike | None = None,
    queries: TextsLike | None = None,
    known: str | os.PathLike[str] | Iterable[tuple[str, str]] | None = None,
    judged: QrelsLike | None = None,
    rel: float = 1.0,
    batch: int | None = None,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    on_query: Callable[[int, int], None] | None = None,
    measure: str | Measure | Iterable[str | Measure] | None = None,
    budget: float | None = None,
    total: int | None = None,
    pair: tuple[str, str] | None = None,
    machine: QrelsLike | None = None,
    earlier: str | os.PathLike[str] | DrawnPool | MeasuredPool | None = None,
    looks: int = 1,
    **options: Unpack[RunsOptions],
) -> Pool | MeasuredPool:
    """Select the query-document pairs to judge.

    With `measure` pairs are drawn so that the measure can be estimated, as `leadline pool --for` draws them:
    `budget` is the mean number of judgments per query or `total` that of all, `pair` the names of two runs of
    which only the difference matters, `machine` has labels for the forecast of the precision, `earlier` is a
    pool to enlarge, and `looks` is the number of verdicts (one, at the end, by default).
    `evaluate(judgments, runs, pool=...)` then estimates the measure; `write_pool` writes the file for
    `leadline judge`.

    Without `measure`, `method` is a pooling method: "Depth(k=100)", the union of the top k of every run;
    "RRF", "RBP" and "MoveToFront" select a number of documents per query. `depth` is short for Depth.
    `random` adds that many documents per query, drawn with equal probability from the rest of the collection
    `documents` (texts or an index; by default, all retrieved documents). The inclusion probability of a
    pooled document is 1, that of a drawn one random / rest. `everything` takes the whole collection.
    `queries` adds queries that no run has.

    `known` are pairs (qrels, a pool, or pairs) and `judged` existing judgments: `new` excludes both, and
    adaptive methods use `judged`. `batch` limits the new pairs per query. Random draws are by hash: with the
    same seed, a pool of more runs keeps the documents drawn for a smaller one unless it now pools them, with
    updated probabilities in `whole`. `options` are those
    of reading runs: `order`, `on_duplicate`, `on_nan`, `name_by` of `leadline.data.reading.Reading`.

    >>> found = pool({"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}, depth=1)
    >>> found.new.pairs(), found.new.contributors
    ([('q', 'd3'), ('q', 'd1')], [{'b': 1}, {'a': 1}])
    """
    reading = Reading.of(pool, options, RunsOptions)
    drawing: dict[str, Any] = {"budget": budget, "total": total, "pair": pair, "machine": machine}
    drawing |= {"earlier": earlier}
    if measure is not None:
        pooling: dict[str, Any] = {"method": method, "random": random, "everything": everything}
        pooling |= {"documents": documents, "queries": queries, "known": known, "batch": batch}
        for other, value in pooling.items():
            one_of({other: value, "measure": measure})
        drawing |= {"depth": depth, "judged": judged, "rel": rel, "seed": seed, "on_run": on_run}
        return pool_for(runs, measure, looks=looks, **drawing, **options)
    both(drawing | {"looks": looks != 1}, {"measure": None})
    check_whole(0, random=random, seed=seed)
    check_whole(1, batch=batch)
    check_flags(everything=everything)
    none = isinstance(runs, Sequence) and not runs
    if none and method is None and depth is None and (documents is None or queries is None):
        raise UsageError(
            "there is nothing to pool. Pass runs, or both --docs DOCUMENTS and --queries QUERIES, with "
            "--config pool.random=N or --config pool.everything."
        )
    able = [] if none else ["--depth K", "--method NAME"]  # options that select documents here
    if able and all(value is None for value in (documents, queries, known, batch)):
        able = ["--for MEASURE", *able]
    chosen = _method(method, depth, able, random=random, everything=everything)
    if none and chosen is not None:
        raise UsageError(
            f"{chosen} needs runs. Pass runs, or use --config pool.random=N or --config pool.everything "
            "instead, with --docs DOCUMENTS and --queries QUERIES."
        )
    systems = Systems([], [], []) if none else read_systems(runs, reading, on_run=on_run)
    more_queries = [] if queries is None else [to_bytes(query.id) for query in read_queries(queries)]
    table = None if judged is None else read_qrels(judged)
    before = _known_pairs(known, table)
    collection = _collection(systems, documents, seed)
    maker = _PoolBuilder(systems, collection, chosen, random, everything, table, rel)
    names = list(Vocabulary.of_bytes([*systems.queries.names, *more_queries]).names)
    rows: list[Row] = []
    for done, name in enumerate(names, start=1):
        rows += maker.rows(name)
        if on_query:
            on_query(done, len(names))
    brought = Counter(run for *_, ranks in rows for run in ranks)
    alone = Counter(next(iter(ranks)) for *_, ranks in rows if len(ranks) == 1)
    return Pool(
        _pooled(rows),
        _pooled(_new(rows, before, batch)),
        systems.infos,
        {info.name: (brought[info.name], alone[info.name]) for info in systems.infos},
        warnings=_warnings(systems, more_queries, chosen, maker, table, known, rows),
        options={
            "method": None if chosen is None else str(chosen),
            "random": random,
            "everything": everything,
            "batch": batch,
            "rel": rel,
            "seed": seed,
            **reading.options(RunsOptions),
        },
        read={
            "documents": len(collection.names),
            "queries": len(more_queries),
            "known": len(before),
            "judged": 0 if table is None else len(table.grades),
        },
    )


@public
def write_pool(pool: Pool | MeasuredPool, path: str | os.PathLike[str]) -> None:
    """Write the pairs to judge to a file, which `leadline judge` and `evaluate(..., pool=...)` take.

    Parameters
    ----------
    pool : Pool or MeasuredPool
        Result of `pool`.
    path : path
        File; `-` is standard output.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "pool.tsv")
    >>> write_pool(pool({"a": {"q": ["d1", "d2"]}}, depth=1), path)
    >>> with open(path) as lines:
    ...     lines.read().split()[-4:-2]
    ['q', 'd1']
    """
    if isinstance(pool, Pool):
        pool_files.write_pool(pool.new, path)
    else:
        pool_files.write_drawn_pool(pool.pool, path, [])


@dataclass
class _PoolBuilder:
    """Makes the pool of one query after the other, and counts what the collection lacks."""

    systems: Systems
    collection: _Collection
    method: PoolMethod | None
    random: int
    everything: bool
    judged: Qrels | None
    rel: float
    lacking: Counter[str] = field(default_factory=Counter)
    short: int = 0

    def __post_init__(self) -> None:
        self.number = np.empty(len(self.systems.documents), dtype=np.int64)  # in the union of a query

    def rows(self, query: bytes) -> Iterator[Row]:
        """Return the rows of a query: the pooled documents, then those drawn."""
        lists = self.systems.lists(query)
        union = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *lists]))
        pooled = self._pooled(query, lists, union)
        index = self.collection.place[pooled]
        for code in pooled[index < 0].tolist():
            self.lacking[to_text(self.systems.documents[code])] += 1
        index = index[index >= 0]
        every = np.arange(len(self.collection.names)) if self.collection.given else union
        rest = every if self.random or self.everything else union[:0]
        if self.everything:
            index = np.concatenate([index, np.setdiff1d(rest, index, assume_unique=True)])
        rest = np.setdiff1d(rest, index, assume_unique=True)
        more = draw_documents(query, self.collection.keys, self.random, among=rest)
        self.short += len(more) < self.random and len(index) + len(rest) > 0
        ranks = self._ranks(lists)
        share = len(more) / len(rest) if len(rest) else 1.0
        shares = [1.0] * len(index) + [share] * len(more)
        for number, probability in zip([*index.tolist(), *more.tolist()], shares, strict=True):
            name = to_text(self.collection.names[number])
            contributors = ranks.get(number, {}) if probability == 1 else {}
            yield to_text(query), name, probability, contributors

    def _pooled(self, query: bytes, lists: Sequence[Any], union: Integers) -> Integers:
        """Return the documents that the method chooses, the first first."""
        if self.method is None or not len(union):
            return union[:0]
        self.number[union] = np.arange(len(union))
        offered = RankedLists([self.number[documents] for documents in lists], len(union))
        selected: Integers = union[self.method.order(offered, self._judged(query, union))]
        return selected

    def _judged(self, query: bytes, union: Integers) -> dict[int, bool]:
        """Return the judged documents of the union, and whether each is relevant."""
        code = None if self.judged is None else self.judged.queries.codes.get(query)
        if self.judged is None or code is None:
            return {}
        names = {self.systems.documents[at]: number for number, at in enumerate(union.tolist())}
        rows = range(int(self.judged.begin[code]), int(self.judged.end[code]))
        return {
            names[document]: grade >= self.rel
            for row in rows
            if (document := self.judged.documents[row]) in names
            and (grade := float(self.judged.grades[row])) >= 0
        }

    def _ranks(self, lists: Sequence[Any]) -> dict[int, dict[str, int]]:
        """Return, by index in the collection, the rank in every run that contributed the document."""
        ranks: dict[int, dict[str, int]] = {}
        reach = None if self.method is None else self.method.reach
        for info, documents in zip(self.systems.infos, lists, strict=True):
            for rank, index in enumerate(self.collection.place[documents[:reach]].tolist(), start=1):
                ranks.setdefault(index, {})[info.name] = rank
        return ranks


def _method(
    method: str | PoolMethod | None, depth: int | None, able: Sequence[str], *, random: int, everything: bool
) -> PoolMethod | None:
    """Return the pooling method; None if documents are only drawn, or all are taken."""
    one_of({"--method": method, "--depth": depth})
    if depth is not None:
        check_whole(1, depth=depth)
        return POOLS.parse(f"Depth(k={depth})")
    if method is None:
        if not random and not everything:
            able = either([*able, "--config pool.random=N", "--config pool.everything"])
            raise UsageError(f"no option selects the documents to pool. Use {able}.")
        return None
    return POOLS.parse(method) if isinstance(method, str) else method


def _collection(systems: Systems, documents: TextsLike | None, seed: int) -> _Collection:
    """Return the collection to draw from; by default all retrieved documents."""
    if documents is None:
        every = np.arange(len(systems.documents))
        return _Collection(systems.documents, document_keys(systems.documents, seed), every, False)
    names = sorted(ids_of(documents))
    if not names:
        raise InputError("no documents found", path=path_of(documents))
    index_of = {name: index for index, name in enumerate(names)}
    indices = np.array([index_of.get(name, -1) for name in systems.documents], dtype=np.int64)
    return _Collection(names, document_keys(names, seed), indices, True)


def _pairs_of(known: Any) -> Iterable[tuple[str, str]]:
    """Return the pairs of a file, a pool, qrels, `{query: documents}`, or given one by one."""
    if isinstance(known, (str, os.PathLike)):
        return read_pool(known).pairs()
    if isinstance(known, (Pool, Pooled)):
        return (known.whole if isinstance(known, Pool) else known).pairs()
    if isinstance(known, Qrels):
        known = known.to_dict()
    if isinstance(known, Mapping):
        known = [
            (query, document)
            for query, documents in known.items()
            for document in ((documents,) if isinstance(documents, str) else documents)
        ]
    if not isinstance(known, Iterable):
        raise UsageError(f"`known` cannot be of type {type(known).__name__}. Pass qrels, a pool, or pairs.")
    pairs = list(known)
    for pair in pairs:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(x, str) for x in pair)):
            text = " ".join(repr(pair).split())[:60]
            raise UsageError(f"`known` contains {text}, which is not a (query, document) pair of strings")
    return [(query, document) for query, document in pairs]


def _known_pairs(known: Any, judged: Qrels | None) -> set[tuple[str, str]]:
    """Return the pairs that are known already."""
    pairs = set() if known is None else set(_pairs_of(known))
    if judged is not None:
        pairs |= {
            (query, document)
            for query, grades in judged.to_dict().items()
            for document, grade in grades.items()
            if grade >= 0
        }
    return pairs


def _new(rows: Sequence[Row], before: set[tuple[str, str]], batch: int | None) -> Iterator[Row]:
    """Return the pool without known pairs and those beyond a batch."""
    counts: Counter[str] = Counter()
    for row in rows:
        if (row[0], row[1]) not in before and (batch is None or counts[row[0]] < batch):
            counts[row[0]] += 1
            yield row


def _pooled(rows: Iterable[Row]) -> Pooled:
    columns: list[list[Any]] = list(map(list, zip(*rows, strict=True))) or [[] for _ in range(4)]
    return Pooled(columns[0], columns[1], np.array(columns[2], dtype=np.float64), columns[3])


def _warnings(
    systems: Systems,
    queries: Sequence[bytes],
    method: PoolMethod | None,
    maker: _PoolBuilder,
    judged: Qrels | None,
    known: Any,
    rows: Sequence[Row],
) -> list[ResultWarning]:
    """Return the warnings about the pool."""
    warnings = selection_warnings(systems.infos)

    def say(code: str, count: int, message: str) -> None:
        if count:
            warnings.append(ResultWarning(code, message, count))

    everywhere = systems.present.all(axis=0)
    shared = int(everywhere.sum()) if systems.infos else 0
    partly = len(systems.queries) - shared
    if systems.infos and not shared and len(systems.infos) > 1:
        say("no_common_query", partly, "no query is in all runs; check whether the query ids match")
    else:
        verb = "is" if partly == 1 else "are"
        without = [run.name for run, row in zip(systems.infos, systems.present, strict=True) if not row.all()]
        two = len(systems.infos) == 2
        where = " or ".join(without) if two or len(without) < 2 else f"one or more of {first_few(without)}"
        others = "" if method is None else f" (pooled from the other run{'' if two else 's'})"
        say("partial_queries", partly, f"{queries_of(partly)} {verb} missing from {where}{others}")
    added = set(map(to_text, set(queries) - set(systems.queries.names))) if systems.infos else set()
    bare = added - {row[0] for row in rows}
    filled = len(added) - len(bare)
    say("queries_without_run", filled, f"added {queries_of(filled)} that no run contains")
    say(
        "empty_queries",
        len(bare),
        f"{queries_of(len(bare))} that no run contains got no documents. Pass --docs with -C "
        "pool.random=N or -C pool.everything",
    )
    lacking = maker.lacking
    number = sum(lacking.values())
    say(
        "unknown_documents",
        number,
        f"left out {counted(number, 'pooled pair whose document is', 'pooled pairs whose documents are')} "
        f"not in the collection ({first_few(sorted(lacking))})",
    )
    say(
        "short_draw",
        maker.short,
        f"{queries_of(maker.short)} had too few documents left for the random sample, so all the remaining "
        "documents were pooled",
    )
    if method is not None and method.adaptive and judged is None:
        say("no_judgments", 1, f"without judgments, {method} takes documents from the runs in turn")
    earlier = read_pool(known).by_query() if isinstance(known, (str, os.PathLike)) else {}
    if any(share < 1 for shares in earlier.values() for share in shares.values()):
        moved = sum(earlier.get(row[0], {}).get(row[1], row[2]) != row[2] for row in rows)
        say(
            "changed_probabilities",
            moved,
            f"the probability of {counted(moved, 'known pair')} changed; the whole pool has the new "
            "probabilities",
        )
    return warnings
