"""Read many runs at once, keeping ids as codes, and give their lists query by query."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from leadline.arrays import Codes, Flags, Floats
from leadline.errors import InputError
from leadline.estimators.pool import Pool
from leadline.formats import Repair
from leadline.judged_runs import each_run
from leadline.results import RunInfo
from leadline.vocabulary import Vocabulary, to_text


class Topics(NamedTuple):
    """Topic vectors, and the one of each document (-1: none)."""

    theta: Floats
    row: Codes


class _System(NamedTuple):
    spans: dict[bytes, tuple[int, int]]
    document: Codes


class Systems:
    """The whole lists of many runs; documents are numbered over all of them in the order of their ids.

    `queries` are those that any run has, `present[s, q]` says which run has which.
    """

    def __init__(self, infos: list[RunInfo], names: list[bytes], lists: list[_System]) -> None:
        self.infos = infos
        self.documents = names
        self._lists = lists
        self.queries = Vocabulary.of_bytes(name for one in lists for name in one.spans)
        self.present: Flags = np.array(
            [[name in one.spans for name in self.queries.names] for one in lists], dtype=np.bool_
        )

    def lists(self, query: bytes) -> list[Codes]:
        """Give the list of a query of every run, best first; empty where a run has none."""
        spans = [slice(*one.spans.get(query, (0, 0))) for one in self._lists]
        return [one.document[span] for one, span in zip(self._lists, spans, strict=True)]

    def pool(self, query: int, team: Codes, *, seed: int = 0, topics: Topics | None = None) -> Pool:
        """Give the lists of one query; its random draws depend on the seed and its id alone."""
        name = self.queries.names[query]
        lists = self.lists(name)
        sizes = [len(one) for one in lists]
        known, document = np.unique(np.concatenate(lists), return_inverse=True)
        starts = np.cumsum([0, *sizes[:-1]])
        rank = np.arange(1, sum(sizes) + 1) - np.repeat(starts, sizes)
        return Pool(
            np.repeat(np.arange(len(sizes)), sizes).astype(np.int32), rank.astype(np.int32),
            document.astype(np.int32), len(known), team, (seed, zlib.crc32(name)),
            None if topics is None else topics.theta, None if topics is None else topics.row[known],
        )  # fmt: skip

    def pools(self, team: Codes, *, seed: int = 0, topics: Topics | None = None) -> Iterator[Pool]:
        """Give the lists of every query, one after the other."""
        return (
            self.pool(query, team, seed=seed, topics=topics) for query in range(len(self.queries))
        )

    def only(self, chosen: Sequence[int]) -> Systems:
        """Keep some systems, in the order given."""
        return Systems(
            [self.infos[place] for place in chosen], self.documents,
            [self._lists[place] for place in chosen],
        )  # fmt: skip

    def asked(self, queries: Iterable[bytes]) -> Systems:
        """Keep some queries; one that no system has is left out."""
        wanted = set(queries)
        return Systems(
            self.infos, self.documents,
            [one._replace(spans={name: span for name, span in one.spans.items() if name in wanted})
             for one in self._lists],
        )  # fmt: skip

    def first_documents(self, query: int, depth: int) -> list[str]:
        """Give the documents that any run has among its first ones."""
        lists = [one[:depth] for one in self.lists(self.queries.names[query])]
        return [to_text(self.documents[code]) for code in np.unique(np.concatenate(lists)).tolist()]

    def align(self, ids: list[str], theta: Floats) -> Topics:
        """Find the vector of every document; vectors of others are left alone."""
        places = {name.encode("utf-8", "surrogateescape"): row for row, name in enumerate(ids)}
        row = np.array([places.get(name, -1) for name in self.documents], dtype=np.int32)
        if not (row >= 0).any():
            raise InputError(
                "no retrieved document has a topic vector", expected="ids as in the runs",
            )  # fmt: skip
        return Topics(theta, row)


def read_systems(
    runs: Any, repair: Repair, *, name_by: str = "file", on_run: Callable[[int, int], None] | None = None
) -> Systems:  # fmt: skip
    """Read runs one after the other; they must have different names."""
    numbers: dict[bytes, int] = {}
    infos: list[RunInfo] = []
    lists: list[_System] = []
    for info, run in each_run(runs, repair, name_by=name_by, on_run=on_run):
        infos.append(info)
        codes = np.array(
            [numbers.setdefault(known, len(numbers)) for known in run.documents.names],
            dtype=np.int32,
        )
        bounds = run.offsets.tolist()
        spans = dict(zip(run.queries.names, pairwise(bounds), strict=True))
        lists.append(_System(spans, codes[run.document]))
    ordered = sorted(numbers)
    place = np.empty(len(numbers), dtype=np.int32)
    place[[numbers[name] for name in ordered]] = np.arange(len(numbers))
    return Systems(infos, ordered, [one._replace(document=place[one.document]) for one in lists])
