"""Byte codes of lists of small whole numbers, for postings.

A list is written in units of 1, 2 or 4 bytes (little-endian), whichever make it shortest. With m the largest
value of a unit, a number v is v // m units of m and one unit of v mod m: one unit for numbers below m. The
last unit of a number is the one below m, so that the running sum of the units at these places is the running
sum of the numbers, which is what lists of differences are read for.

The extent of a list is 3 times its number of bytes plus 0, 1 or 2 for the unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.data.arrays import Codes, Integers

Bytes = npt.NDArray[np.uint8]
WIDTHS = (1, 2, 4)
KINDS = tuple(np.dtype(f"<u{width}") for width in WIDTHS)
TOPS = np.array([256**width - 1 for width in WIDTHS])


class CodedLists(NamedTuple):
    """Bytes of consecutive lists, and the extent of each."""

    content: Bytes
    extent: Integers


def encode(values: Integers | Codes, bounds: Integers) -> CodedLists:
    """Encode lists of whole numbers from 0; list i is `values[bounds[i]:bounds[i + 1]]`.

    >>> coded = encode(np.array([3, 255, 7, 70_000]), np.array([0, 2, 2, 4]))
    >>> coded.content[:3].tolist(), coded.extent.tolist()  # 3 bytes, none, 3 units of 2 bytes
    ([3, 255, 0], [9, 0, 19])
    """
    values = np.asarray(values, dtype=np.int64)
    lengths = np.diff(bounds)
    sizes = np.multiply.outer(np.array(WIDTHS), lengths)
    large: list[Integers] = []  # the numbers that take several units, by width
    for row, (width, top) in enumerate(zip(WIDTHS, TOPS.tolist(), strict=True)):
        large.append(np.flatnonzero(values >= top) if not row else large[-1][values[large[-1]] >= top])
        owner = np.searchsorted(bounds, large[row], side="right") - 1
        more = np.bincount(owner, values[large[row]] // top, minlength=len(lengths))
        sizes[row] += width * more.astype(np.int64)
    kind = sizes.argmin(axis=0)
    kinds = np.repeat(kind.astype(np.uint8), lengths)
    length, rest = np.array(WIDTHS)[kinds], values.copy()
    for row, (width, top) in enumerate(zip(WIDTHS, TOPS.tolist(), strict=True)):
        several = large[row][kinds[large[row]] == row]
        length[several] += width * (values[several] // top)
        rest[several] %= top
    ends = np.cumsum(length)
    content = np.full(int(ends[-1]) if len(ends) else 0, 255, dtype=np.uint8)
    for row, width in enumerate(WIDTHS):
        chosen = np.flatnonzero(kinds == row)
        last, number = ends[chosen] - width, rest[chosen]
        for byte in range(width):
            content[last + byte] = (number >> (8 * byte)) & 255
    return CodedLists(content, sizes.min(axis=0) * 3 + kind)


def encode_one(values: Integers | Codes) -> Bytes:
    """Encode a single list in units of one byte; its extent is known from the number of bytes.

    >>> encode_one(np.array([0, 254, 256])).tolist()
    [0, 254, 255, 1]
    """
    values = np.asarray(values, dtype=np.int64)
    ends = np.cumsum(values // 255 + 1)
    content = np.full(int(ends[-1]) if len(ends) else 0, 255, dtype=np.uint8)
    content[ends - 1] = values % 255
    return content


def units_of(content: Bytes, kind: int) -> npt.NDArray[np.unsignedinteger]:
    """Return the units of the bytes of a list."""
    return content if kind == 0 else content.view(KINDS[kind])


def numbers_in(units: npt.NDArray[np.unsignedinteger], kind: int) -> Integers:
    """Return the numbers of a list.

    >>> numbers_in(np.array([0, 254, 255, 1], np.uint8), 0).tolist()
    [0, 254, 256]
    """
    last = units != TOPS[kind]
    if last.all():
        return units.astype(np.int64)
    return np.asarray(np.diff(np.cumsum(units, dtype=np.int64)[last], prepend=0), dtype=np.int64)


def sums_in(units: npt.NDArray[np.unsignedinteger], kind: int, count: int) -> npt.NDArray[np.int32]:
    """Return the running sums of a list of `count` numbers.

    >>> sums_in(np.array([0, 254, 255, 1], np.uint8), 0, 3).tolist()
    [0, 254, 510]
    """
    sums = np.cumsum(units, dtype=np.int32)
    return sums if len(units) == count else sums[units != TOPS[kind]]


class Numbers(NamedTuple):
    """Numbers of consecutive lists, and how many each has."""

    values: Integers
    counts: Integers

    @property
    def first(self) -> Integers:
        """Index of the first number of every list that is not empty."""
        starts = np.cumsum(self.counts) - self.counts
        return starts[self.counts > 0]

    def running(self) -> Integers:
        """Return the running sums within the lists.

        >>> Numbers(np.array([3, 1, 5]), np.array([2, 0, 1])).running().tolist()
        [3, 4, 5]
        """
        sums = np.cumsum(self.values)
        first = self.first
        before = sums[first] - self.values[first]
        return sums - np.repeat(before, self.counts[self.counts > 0])


def decode(content: Bytes, extent: Integers) -> Numbers:
    """Decode consecutive lists of any units.

    >>> decode(*encode(np.array([3, 255, 7, 70_000]), np.array([0, 2, 2, 4])))
    Numbers(values=array([    3,   255,     7, 70000]), counts=array([2, 0, 2]))
    """
    kind, size = extent % 3, extent // 3
    width = np.array(WIDTHS)[kind]
    units = size // width
    owner = np.repeat(np.arange(len(extent)), units)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(units) - units, units)
    start = np.repeat(np.cumsum(size) - size, units) + within * width[owner]
    value = content[start].astype(np.int64)
    for byte in range(1, 4):
        wide = np.flatnonzero(width[owner] > byte)
        value[wide] |= content[start[wide] + byte].astype(np.int64) << (8 * byte)
    last = value != TOPS[kind][owner]
    values = np.diff(np.cumsum(value)[last], prepend=0)
    return Numbers(values, np.bincount(owner[last], minlength=len(extent)))


def differences(values: Integers | Codes, first: Integers) -> Integers:
    """Return each value less the one before it; the `first` of every list remain as they are.

    >>> differences(np.array([4, 6, 1, 9]), np.array([0, 2])).tolist()
    [4, 2, 1, 8]
    """
    less: Integers = np.asarray(np.diff(values, prepend=values.dtype.type(0)), dtype=np.int64)
    first = first[first < len(values)]  # an empty list has none
    less[first] = values[first]
    return less


def parts(bounds: Integers, most: int) -> list[tuple[int, int]]:
    """Divide consecutive lists into parts of at most `most` numbers, or of one list.

    >>> parts(np.array([0, 2, 2, 4, 9]), 4)
    [(0, 3), (3, 4)]
    """
    divided = []
    begin, lists = 0, len(bounds) - 1
    while begin < lists:
        end = int(np.searchsorted(bounds, bounds[begin] + most, side="right")) - 1
        end = min(max(end, begin + 1), lists)
        divided.append((begin, end))
        begin = end
    return divided
