"""Judgments by subtopic, beside the rows of the qrels."""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers, freeze
from leadline.data.ids import Vocabulary


class Subtopics:
    """The judgments by subtopic: a row is a document judged for one; those of a document together.

    `row` is the row in the qrels, rising; `code` the subtopic in `names`, which all queries share.
    """

    def __init__(self, names: Vocabulary, row: Codes, code: Codes, grades: Floats, *, documents: int) -> None:
        freeze(row, code, grades)
        self.names = names
        self.row = row
        self.code = code
        self.grades = grades
        self.first = np.searchsorted(row, np.arange(documents + 1))
        self.ideals: dict[tuple[float, float], Any] = {}  # by level and alpha

    def of_rows(self, rows: Codes | Integers) -> tuple[Integers, Integers]:
        """Return the judgments of some rows of the qrels: their places here, and whose each is."""
        count = self.first[rows + 1] - self.first[rows]
        owner = np.repeat(np.arange(len(rows)), count)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        return self.first[rows][owner] + within, owner

    def keys(self, query: Codes, code: Codes) -> Integers:
        """Return one number for a query and a subtopic."""
        return np.asarray(query.astype(np.int64) * max(len(self.names), 1) + code)

    def queries_of(self, keys: Integers) -> Codes:
        """Return the query of such a number."""
        return (keys // max(len(self.names), 1)).astype(np.int32)

    def keep(self, rows: Integers) -> Subtopics:
        """Return the judgments of some rows of the qrels, which become all rows there."""
        place, owner = self.of_rows(rows)
        return Subtopics(
            self.names, owner.astype(np.int32), self.code[place], self.grades[place], documents=len(rows)
        )
