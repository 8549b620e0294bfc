"""Run: the ranked lists of one system; and lists matched with judgments, from which they are joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers, freeze
from leadline.data.ids import Ids, QueryTable, Vocabulary, encode_rows, to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Cut
from leadline.data.validation import check_run_name
from leadline.data.wording import counted, queries
from leadline.errors import InputError, UnknownIdError, repeated


class RunColumns(QueryTable):
    """The ranked lists of one system: the columns of a `Run`, which describes them and reads files."""

    queries: Vocabulary
    offsets: Integers
    scores: Floats
    sources: tuple[str, ...] = ()  # files that were read for it; they are not written over
    name: str
    tag: str

    @classmethod
    def of_columns(
        cls,
        queries: Vocabulary,
        offsets: Integers,
        documents: Vocabulary,
        document: Codes,
        scores: Floats,
        *,
        name: str = "",
        tag: str = "",
    ) -> Self:
        """Return the run with these columns, in order, which become read-only, without checks or copies.

        >>> import numpy as np
        >>> queries, documents = Vocabulary(["q1"]), Vocabulary(["d1", "d2"])
        >>> ends, codes = np.array([0, 2]), np.array([1, 0], dtype=np.int32)
        >>> RunColumns.of_columns(queries, ends, documents, codes, np.array([0.7, 0.5])).to_dict()
        {'q1': {'d2': 0.7, 'd1': 0.5}}
        """
        freeze(offsets, document, scores)
        run = cls._of_lists(queries, offsets, scores, name, tag)
        vars(run).update(documents=documents, document=document)
        return run

    @classmethod
    def of_ids(
        cls, queries: Vocabulary, offsets: Integers, ids: Ids, scores: Floats, *, name: str, tag: str
    ) -> Self:
        """Return the run with these columns, as `of_columns`; documents are coded where codes are asked for.

        >>> ends, names = np.array([0, 2]), Ids.of([b"d2", b"d1"])
        >>> run = RunColumns.of_ids(Vocabulary(["q1"]), ends, names, np.array([0.7, 0.5]), name="", tag="")
        >>> run.to_dict(), run.document.tolist()
        ({'q1': {'d2': 0.7, 'd1': 0.5}}, [1, 0])
        """
        freeze(offsets, scores)
        run = cls._of_lists(queries, offsets, scores, name, tag)
        vars(run).update(ids=ids)
        return run

    @classmethod
    def _of_lists(cls, queries: Vocabulary, offsets: Integers, scores: Floats, name: str, tag: str) -> Self:
        run = cls.__new__(cls)
        run.queries, run.offsets, run.scores = queries, offsets, scores
        run.name, run.tag = name, tag
        return run

    @cached_property
    def ids(self) -> Ids:
        """Document of each row."""
        return Ids.of(self.documents.names).take(self.document.astype(np.int64))

    @cached_property
    def _coded(self) -> tuple[Vocabulary, Codes]:
        documents, document = self.ids.coded()
        freeze(document)
        return documents, document

    @cached_property
    def documents(self) -> Vocabulary:
        """Ids of all documents."""
        return self._coded[0]

    @cached_property
    def document(self) -> Codes:
        """Code of the document of each row in `documents`."""
        return self._coded[1]

    @classmethod
    def of(
        cls, rows: Iterable[tuple[bytes | str, bytes | str, float]], *, name: str = "", tag: str = ""
    ) -> Self:
        """Return the run of (query, document, score) rows, with ids as strings or bytes.

        >>> RunColumns.of([(b"q1", b"d1", 0.5), (b"q1", b"d2", 0.5)], name="tied").to_dict()
        {'q1': {'d2': 0.5, 'd1': 0.5}}
        """
        ids, scores = encode_rows(rows, "score", name)
        queries = Vocabulary.of_bytes(row[0] for row in ids)
        documents = Vocabulary.of_bytes(row[1] for row in ids)
        query = queries.encode(row[0] for row in ids)
        document = documents.encode(row[1] for row in ids)
        for row in np.flatnonzero(np.isnan(scores))[:1]:
            raise InputError(
                f"document '{to_text(ids[row][1])}' for query '{to_text(ids[row][0])}' has score NaN",
                path=name,
                hint="Every score must be a number",
            )
        pairs, counts = np.unique(query * (len(documents) + 1) + document, return_counts=True)
        for pair in pairs[counts > 1][:1]:
            query_code, code = divmod(int(pair), len(documents) + 1)
            raise repeated(f"document '{documents[code]}'", of=f"query '{queries[query_code]}'", path=name)
        order = np.lexsort((-document, -scores, query))
        offsets = np.searchsorted(query[order], np.arange(len(queries) + 1)).astype(np.int64)
        return cls.of_columns(
            queries, offsets, documents, document[order].astype(np.int32), scores[order], name=name, tag=tag
        )

    def renamed(self, name: str) -> Self:
        """Return the same run under another name.

        >>> import leadline as ll
        >>> ll.Run({"q1": ["d1", "d2"]}, name="a").renamed("b")
        Run('b', 1 query, 2 rows)
        """
        check_run_name(name)
        run = copy(self)
        run.name = name
        return run

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return the list of a query as `{document: score}` in rank order."""
        code = self.queries.find(query)
        if code is None:
            name = self.name or self.tag
            raise UnknownIdError(query, self.queries, f"in run '{name}'" if name else "in the run")
        rows = slice(int(self.offsets[code]), int(self.offsets[code + 1]))
        names = self.ids.take(np.arange(rows.start, rows.stop)).texts()
        return dict(zip(names, self.scores[rows].tolist(), strict=True))

    def __repr__(self) -> str:
        size = f"{queries(len(self.queries))}, {counted(len(self.scores), 'row')}"
        return f"Run({self.name or self.tag!r}, {size})"

    def __eq__(self, other: object) -> bool:
        """Return whether lists and scores are equal; names may differ."""
        if not isinstance(other, RunColumns):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # mutable, and equal by content

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: score}}`, each list in rank order.

        >>> import leadline as ll
        >>> ll.Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_dict()
        {'q1': {'d2': 0.7, 'd1': 0.5}}
        """
        names, scores, bounds = self.ids.texts(), self.scores.tolist(), self.offsets.tolist()
        return {
            query: dict(zip(names[low:high], scores[low:high], strict=True))
            for query, low, high in zip(self.queries, bounds[:-1], bounds[1:], strict=True)
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns query_id, doc_id and score as lists, ordered by query and rank.

        >>> import leadline as ll
        >>> ll.Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_columns()
        {'query_id': ['q1', 'q1'], 'doc_id': ['d2', 'd1'], 'score': [0.7, 0.5]}
        """
        sizes = np.diff(self.offsets).tolist()
        return {
            "query_id": [query for query, size in zip(self.queries, sizes, strict=True) for _ in range(size)],
            "doc_id": self.ids.texts(),
            "score": self.scores.tolist(),
        }


class MatchedLists(NamedTuple):
    """Ranked lists matched with the qrels: qrels row (-1: unjudged), score, and id if kept, of every row.

    `queries` holds the query code of each list, -1 for a query without judgments; `bounds` the first row of
    each list and the end of the last; `costs` the length of each document and all above it.
    """

    queries: Integers
    bounds: Integers
    rows: Codes
    scores: Floats
    ids: Ids | None = None
    costs: Floats | None = None

    @classmethod
    def concatenate(cls, parts: Sequence[MatchedLists]) -> MatchedLists:
        """Return the concatenation of lists, as a copy, so that read buffers can be reused."""
        ends = np.cumsum([0, *(len(part.rows) for part in parts)])
        bounds = [part.bounds[1:] + start for part, start in zip(parts, ends[:-1], strict=True)]
        return cls(
            np.concatenate([np.empty(0, dtype=np.int64), *(part.queries for part in parts)]),
            np.concatenate([np.zeros(1, dtype=np.int64), *bounds]),
            np.concatenate([np.empty(0, dtype=np.int32), *(part.rows for part in parts)]),
            np.concatenate([np.empty(0), *(part.scores for part in parts)]),
            Ids.concatenate([part.ids for part in parts if part.ids is not None]),
        )


class TieGroups(NamedTuple):
    """Groups of equal scores without a judged document, by first and last rank."""

    query: Codes
    first: Codes
    last: Codes


class JoinedLists(NamedTuple):
    """Judged rows of some ranked lists, with rank and tie group; lists of judged queries only."""

    query: Codes
    length: Codes
    judged: Codes  # number of judged rows of each list
    rank: Codes
    row: Codes
    around: tuple[Codes, Codes] | None  # number of rows of the same score above and below; None if all are 0
    ties: TieGroups
    cut_in_ties: Flags


def join_lists(qrels: QrelsColumns, part: MatchedLists, cut: Cut) -> JoinedLists:
    """Return rank and tie group of the judged rows of lists, without lists of unjudged queries."""
    queries, bounds, rows, scores = part[:4]
    depth = cut.depth
    cut_in_ties = _cut_in_ties(part, depth)
    if cut.judged_only:
        keep = kept_rows(qrels, part, cut)
        bounds = np.concatenate(([0], np.cumsum(keep)))[bounds]
        rows, scores = rows[keep], scores[keep]
    if not np.all(queries >= 0):
        judged_query = queries >= 0
        keep = np.repeat(judged_query, np.diff(bounds))
        rows, scores = rows[keep], scores[keep]
        bounds = np.concatenate(([0], np.cumsum(np.diff(bounds)[judged_query])))
        queries, cut_in_ties = queries[judged_query], cut_in_ties[judged_query]
    positions = np.flatnonzero(rows >= 0)
    list_index = np.searchsorted(bounds, positions, side="right") - 1
    start = bounds[list_index]
    groups = _tie_groups(positions, queries, bounds, scores)
    length = np.diff(bounds)
    rank = positions - start + 1
    if depth is not None:
        length = np.minimum(length, depth)
        within = rank <= depth
        positions, list_index, rank = positions[within], list_index[within], rank[within]
        start = start[within]
        groups = groups and (groups[0][within], groups[1][within], groups[2])
    ranks = rank.astype(np.int32)
    empty = np.empty(0, dtype=np.int32)
    return JoinedLists(
        query=queries.astype(np.int32),
        length=length.astype(np.int32),
        judged=np.bincount(list_index, minlength=len(queries)).astype(np.int32),
        rank=ranks,
        row=rows[positions],
        around=groups
        and ((positions - groups[0]).astype(np.int32), (groups[1] - 1 - positions).astype(np.int32)),
        ties=groups[2] if groups else TieGroups(empty, empty, empty),
        cut_in_ties=cut_in_ties,
    )


def kept_rows(qrels: QrelsColumns, part: MatchedLists, cut: Cut) -> Flags:
    """Return flags of the rows of judged documents, of those within the depth."""
    rows, bounds = part.rows, part.bounds
    keep = (rows >= 0) & (qrels.levels[rows] >= 0)
    if cut.depth is not None:
        keep &= np.arange(len(rows)) - np.repeat(bounds[:-1], np.diff(bounds)) < cut.depth
    return np.asarray(keep)


def _cut_in_ties(part: MatchedLists, depth: int | None) -> Flags:
    """Return flags of the lists that the depth cuts within a group of equal scores with a judged document."""
    flags = np.zeros(len(part.queries), dtype=np.bool_)
    if depth is None:
        return flags
    begin, end = part.bounds[:-1], part.bounds[1:]
    longer = np.flatnonzero(end - begin > depth)
    edge = begin[longer] + depth
    for index in longer[part.scores[edge - 1] == part.scores[edge]].tolist():
        span = slice(int(begin[index]), int(end[index]))
        score = part.scores[span.start + depth]
        flags[index] = np.any(part.rows[span][part.scores[span] == score] >= 0)
    return flags


def _tie_groups(
    positions: Integers, queries: Integers, bounds: Integers, scores: Floats
) -> tuple[Integers, Integers, TieGroups] | None:
    """Return begin and end of the tie group of each judged row, and the groups without a judged row."""
    equal = scores[1:] == scores[:-1]
    inner = bounds[1:-1]
    equal[inner[(inner > 0) & (inner < len(scores))] - 1] = False
    if not equal.any():
        return None
    starts = np.flatnonzero(np.concatenate(([True], ~equal)))
    ends = np.append(starts[1:], len(scores))
    group = np.searchsorted(starts, positions, side="right") - 1
    unjudged = ends - starts > 1
    unjudged[group] = False
    begin = starts[unjudged]
    list_index = np.searchsorted(bounds, begin, side="right") - 1
    ties = TieGroups(
        queries[list_index].astype(np.int32),
        (begin - bounds[list_index] + 1).astype(np.int32),
        (ends[unjudged] - bounds[list_index]).astype(np.int32),
    )
    return starts[group], ends[group], ties
