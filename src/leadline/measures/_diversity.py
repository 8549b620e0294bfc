"""What measures share that read judgments by subtopic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.arrays import Codes, Flags, Floats, Integers
from leadline.errors import UsageError
from leadline.judged import Judged, Lists
from leadline.measures import Evidence, Measure
from leadline.qrels import Qrels, Subtopics


class Covered(NamedTuple):
    """Relevant documents, once for each subtopic that they cover, in order of query and rank.

    `nth` counts the documents of a subtopic within the query from 1.
    """

    query: Codes
    rank: Codes | Integers
    code: Codes
    nth: Integers

    def first(self, cutoff: int | None) -> Covered:
        """Give those at ranks up to the cutoff."""
        if cutoff is None:
            return self
        kept = self.rank <= cutoff
        return Covered(self.query[kept], self.rank[kept], self.code[kept], self.nth[kept])

    def gain(self, alpha: float) -> Floats:
        """Give what each adds: less by a share alpha for each earlier one of its subtopic."""
        return np.asarray(np.power(1.0 - alpha, self.nth - 1.0), dtype=np.float64)


class _Diversity(Measure):
    """A measure of how many subtopics of a query a list covers, and how soon."""

    needs: ClassVar[Evidence] = "subtopics"

    def of_subtopics(
        self, documents: Sequence[Iterable[str]], others: Sequence[Iterable[str]] = ()
    ) -> float:
        """Give the value of one list from the subtopics that each document covers.

        `others` are the subtopics of judged documents that the list lacks.
        """
        listed = enumerate([*documents, *others])
        found = {
            (b"1", str(row).encode()): {name.encode(): 1.0 for name in names}
            for row, names in listed
        }
        rows = np.arange(len(documents), dtype=np.int32)
        bounds = np.array([0, len(documents)], dtype=np.int64)
        part = Lists(np.zeros(1, np.int64), bounds, rows, -rows.astype(np.float64))
        return float(self.values(Judged.of_lists(Qrels.of_subtopics(found), [part]))[0])

    def table(self, judged: Judged) -> Subtopics:
        """Give the judgments by subtopic; an error when the qrels were read without."""
        if judged.qrels.subtopics is None:
            raise UsageError(f"{self} needs judgments by subtopic: --subtopics")
        return judged.qrels.subtopics

    def covered(self, judged: Judged, rel: float) -> Covered:
        """Give the retrieved documents that cover subtopics with grade `rel` or more."""
        table = self.table(judged)
        place, owner = table.of_rows(judged.row)
        good = table.grades[place] >= rel
        query, code = judged.query[owner[good]], table.code[place[good]]
        return Covered(query, judged.rank[owner[good]], code, _nth(query, code, table))

    def pairs(self, judged: Judged, rel: float) -> tuple[Integers, Integers]:
        """Give every query and subtopic that can be covered, as one number, and by how many."""
        table = self.table(judged)
        good = table.grades >= rel
        keys = table.keys(judged.qrels.query[table.row[good]], table.code[good])
        found, count = np.unique(keys, return_counts=True)
        return found, count.astype(np.int64)

    def size(self, judged: Judged, rel: float) -> Floats:
        """Count, per query, the subtopics that some judged document covers."""
        table = self.table(judged)
        return judged.total(table.queries_of(self.pairs(judged, rel)[0]))

    def ideal(self, judged: Judged, rel: float, alpha: float) -> Covered:
        """Give the ideal list, greedily: each rank takes the document that adds most.

        Among equals the largest id goes first, as in ndeval. It is made once for all runs.
        """
        table = self.table(judged)
        if (rel, alpha) not in table.ideals:
            table.ideals[rel, alpha] = _ideal(judged.qrels, table, rel, alpha)
        found: Covered = table.ideals[rel, alpha]
        return found


def _nth(query: Codes, code: Codes, table: Subtopics) -> Integers:
    """Count the rows of each query and subtopic from 1, in their order."""
    keys = table.keys(query, code)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    nth = np.empty(len(keys), dtype=np.int64)
    nth[order] = np.arange(1, len(keys) + 1) - np.searchsorted(sorted_keys, sorted_keys)
    return nth


def _ideal(qrels: Qrels, table: Subtopics, rel: float, alpha: float) -> Covered:
    good = np.flatnonzero(table.grades >= rel)
    row, code = table.row[good], table.code[good]
    ranks = np.zeros(len(qrels), dtype=np.int64)
    for begin, end in zip(qrels.begin.tolist(), qrels.end.tolist(), strict=True):
        part = slice(*np.searchsorted(row, [begin, end]))
        rows, document = np.unique(row[part], return_inverse=True)
        names, subtopic = np.unique(code[part], return_inverse=True)
        covers = np.zeros((len(rows), len(names)), dtype=np.bool_)
        covers[document, subtopic] = True
        by_id = sorted(
            range(len(rows)), key=lambda at: qrels.documents[int(rows[at])], reverse=True
        )
        ranks[rows[by_id]] = _greedy(covers[by_id], alpha)
    query, rank = qrels.query[row], ranks[row]
    order = np.lexsort((code, rank, query))
    query, code = query[order], code[order]
    return Covered(query, rank[order], code, _nth(query, code, table))


def _greedy(covers: Flags, alpha: float) -> Integers:
    """Give each document its rank; sums of gains that differ by rounding only are equal."""
    left = np.ones(covers.shape[1])
    waiting = np.ones(len(covers), dtype=np.bool_)
    ranks = np.empty(len(covers), dtype=np.int64)
    for rank in range(1, len(covers) + 1):
        adds = np.where(waiting, np.round(covers @ left, 12), -1.0)
        best = int(np.argmax(adds))
        ranks[best] = rank
        waiting[best] = False
        left[covers[best]] *= 1.0 - alpha
    return ranks
