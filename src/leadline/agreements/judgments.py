"""What several judges said of the same pairs of query and document, as one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.arrays import Flags, Floats, Integers, freeze
from leadline.errors import UsageError
from leadline.formats.judges import Judge
from leadline.qrels import Qrels
from leadline.vocabulary import Vocabulary
from leadline.wording import counted


class Judgments:
    """Pairs x judges: the grade each judge gave, NaN where one did not judge.

    `query` is the code of every pair's query in `queries`, `documents` its document. Counts from a table have
    no queries.

    >>> from leadline.formats.judges import read_judges
    >>> judges = read_judges({"ann": {"q1": {"d1": 1, "d2": 0}}, "ben": {"q1": {"d1": 2}}})
    >>> Judgments.of_judges(judges).grades
    array([[ 1.,  2.],
           [ 0., nan]])
    """

    def __init__(
        self,
        names: Sequence[str],
        grades: Floats,
        *,
        queries: Vocabulary | None = None,
        query: Integers | None = None,
        documents: Sequence[bytes] = (),
        paths: Sequence[tuple[str, int]] = (),
    ) -> None:
        freeze(grades)
        self.names = list(names)
        self.grades = grades
        self.queries = queries or Vocabulary()
        self.query = np.zeros(len(grades), dtype=np.int64) if query is None else query
        self.documents = list(documents)
        self.paths = list(paths)

    @classmethod
    def of_judges(cls, judges: Sequence[Judge]) -> Judgments:
        """Put the qrels of judges side by side."""
        queries = Vocabulary.of_bytes(
            name for judge in judges for name in judge.qrels.queries.names
        )
        places: dict[tuple[int, bytes], int] = {}
        said: list[tuple[list[int], Floats]] = []
        for judge in judges:
            codes = queries.encode(judge.qrels.queries.names)[judge.qrels.query].tolist()
            pairs = zip(codes, judge.qrels.documents, strict=True)
            rows = [places.setdefault(pair, len(places)) for pair in pairs]
            said.append((rows, judge.qrels.grades))
        grades = np.full((len(places), len(judges)), np.nan)
        for column, (rows, given) in enumerate(said):
            grades[rows, column] = given
        pairs_found = list(places)
        order = sorted(range(len(pairs_found)), key=pairs_found.__getitem__)
        paths: dict[str, int] = {}
        for judge in judges:
            paths[judge.path] = paths.get(judge.path, 0) + len(judge.qrels)
        return cls(
            [judge.name for judge in judges], grades[order], queries=queries,
            query=np.array([pairs_found[place][0] for place in order], dtype=np.int64),
            documents=[pairs_found[place][1] for place in order], paths=list(paths.items()),
        )  # fmt: skip

    @classmethod
    def of_counts(cls, counts: Sequence[float]) -> Judgments:
        """Make the judgments of two judges from the cells of a square table, row by row.

        The row is the grade of the first judge, the column that of the second: 0, 1, 2, ...

        >>> len(Judgments.of_counts([300, 20, 10, 70]))
        400
        """
        size = round(len(counts) ** 0.5)
        if size < 2 or size * size != len(counts):
            raise UsageError(
                f"a table of {counted(len(counts), 'number')}; expected 4 (yes-yes, yes-no, no-yes, no-no), "
                "or 9, 16, ... row by row"
            )
        for count in counts:
            if not (0 <= count <= 10**7) or count != int(count):
                raise UsageError(f"{count:g} in the table; expected whole numbers, 0 to 10,000,000")
        if not sum(counts):
            raise UsageError("a table of nothing but 0; expected counts of pairs")
        cells = np.repeat(np.arange(len(counts)), np.asarray(counts, dtype=np.int64))
        grades = np.stack([cells // size, cells % size], axis=1).astype(np.float64)
        return cls(["judge 1", "judge 2"], grades)

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def by_all(self) -> Flags:
        """Say which pairs all judges judged."""
        return np.asarray(~np.isnan(self.grades).any(axis=1))

    def keep(self, chosen: Flags) -> Judgments:
        """Give some of the pairs only; every query stays."""
        rows = np.flatnonzero(chosen)
        documents = [self.documents[row] for row in rows.tolist()] if self.documents else []
        return Judgments(
            self.names, self.grades[rows], queries=self.queries, query=self.query[rows],
            documents=documents, paths=self.paths,
        )  # fmt: skip

    def binary(self, rel: float) -> Judgments:
        """Give 1 for grades of `rel` or more and 0 for those below."""
        grades = np.where(np.isnan(self.grades), np.nan, (self.grades >= rel).astype(np.float64))
        return Judgments(
            self.names, grades, queries=self.queries, query=self.query, documents=self.documents,
            paths=self.paths,
        )  # fmt: skip

    def qrels(self, judge: int) -> Qrels:
        """Give the judgments of one judge as qrels."""
        known = np.flatnonzero(~np.isnan(self.grades[:, judge])).tolist()
        return Qrels.of(
            (
                (self.queries.names[self.query[row]], self.documents[row], float(self.grades[row, judge]))
                for row in known
            ),
            source=self.names[judge],
        )  # fmt: skip
