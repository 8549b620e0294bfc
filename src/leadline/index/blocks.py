"""Invert a text block by block: sort a block by term, then put all blocks together on disk."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from leadline.arrays import Codes, Integers
from leadline.index import layout


class Block(NamedTuple):
    """Postings of some documents, grouped by term: terms that occur, and how much each has."""

    terms: Codes
    postings: Integers
    occurrences: Integers
    document: Codes
    counts: Codes
    position: Codes


def invert(term: Codes, document: Codes, position: Codes) -> Block:
    """Group tokens in text order by term, then document; -1 is a stop word and left out.

    >>> block = invert(*(np.array(x, dtype=np.int32) for x in ([1, 0, 1], [0, 0, 1], [0, 1, 0])))
    >>> block.terms.tolist(), block.document.tolist(), block.counts.tolist()
    ([0, 1], [0, 0, 1], [1, 1, 1])
    """
    order = stable_order(term)
    order = order[np.searchsorted(term[order], 0) :] if len(order) else order
    term, document, position = term[order], document[order], position[order]
    new = np.ones(len(term), dtype=np.bool_)
    new[1:] = (term[1:] != term[:-1]) | (document[1:] != document[:-1])
    first = np.flatnonzero(new)
    count = np.diff(first, append=len(term)).astype(np.int32)
    posting_term = term[first]
    start = np.flatnonzero(np.diff(posting_term, prepend=-1))
    postings = np.diff(start, append=len(first))
    occurrences = np.add.reduceat(count, start, dtype=np.int64) if len(start) else postings
    return Block(posting_term[start], postings, occurrences, document[first], count, position)


def stable_order(term: Codes) -> Integers:
    """Give the stable order of codes from -1, by two passes over 16 bits each: numpy sorts those by radix."""
    shifted = term.astype(np.int64) + 1
    order = np.argsort((shifted & 0xFFFF).astype(np.uint16), kind="stable")
    if len(term) and shifted.max() > 0xFFFF:
        high = (shifted >> 16).astype(np.uint16)[order]
        order = order[np.argsort(high, kind="stable")]
    return order


class Blocks:
    """The blocks of one build: all but the last wait in files."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.waiting = 0
        self.last: Block | None = None

    def add(self, block: Block) -> None:
        """Take the next block; the one before goes to disk."""
        if self.last is not None:
            np.savez(self._path(self.waiting), **self.last._asdict())
            self.waiting += 1
        self.last = block

    def _path(self, place: int) -> str:
        return os.path.join(self.folder, f"block{place}.npz")

    def _take(self, place: int) -> Block:
        if place == self.waiting:
            assert self.last is not None
            return self.last
        with np.load(self._path(place)) as file:
            return Block(**file)

    def _sizes(self, terms: int) -> tuple[Integers, Integers]:
        """Count postings and occurrences of every term over all blocks."""
        postings, occurrences = (np.zeros(terms, dtype=np.int64) for _ in range(2))
        for place in range(self.waiting + 1):
            block = self._take(place)
            postings[block.terms] += block.postings
            occurrences[block.terms] += block.occurrences
        return postings, occurrences

    def merge(self, rank: Codes) -> None:
        """Write the postings of all blocks in order of rank; `rank[t]` is the final code of term t."""
        for key, sizes in zip(
            ("posting_offset", "position_offset"), self._sizes(len(rank)), strict=True
        ):
            ordered = np.zeros(len(rank) + 1, dtype=np.int64)
            ordered[rank + 1] = sizes
            layout.save(self.folder, key, np.cumsum(ordered))
            starts = np.cumsum(ordered)[rank]
            names = ("document", "counts") if key == "posting_offset" else ("position",)
            files = {name: layout.create(self.folder, name, int(sizes.sum())) for name in names}
            for place in range(self.waiting + 1):
                block = self._take(place)
                grown = block.postings if key == "posting_offset" else block.occurrences
                source = np.cumsum(grown) - grown
                target = np.repeat(starts[block.terms] - source, grown) + np.arange(grown.sum())
                for name, file in files.items():
                    file[target] = getattr(block, name)
                starts[block.terms] += grown
        for place in range(self.waiting):
            os.unlink(self._path(place))
