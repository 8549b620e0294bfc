"""Byte codes of lists: what is read is what was written, in the fewest bytes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leadline.retrieval.index.byte_codes import (
    TOPS,
    WIDTHS,
    decode,
    differences,
    encode,
    encode_one,
    numbers_in,
    parts,
    sums_in,
    units_of,
)

NUMBERS = st.one_of(
    st.integers(0, 3), st.integers(0, 300), st.sampled_from([254, 255, 256, 509, 510, 65_534, 65_535, 65_536])
)
LISTS = st.lists(st.lists(st.one_of(NUMBERS, st.integers(0, 2**20)), max_size=8), max_size=6)


def written(numbers: list[int], width: int) -> bytes:
    """Write numbers one by one as the module says."""
    top = 256**width - 1
    content = b""
    for number in numbers:
        content += top.to_bytes(width, "little") * (number // top)
        content += (number % top).to_bytes(width, "little")
    return content


def flat(lists: list[list[int]]) -> tuple[Any, Any]:
    values = np.array([number for numbers in lists for number in numbers], dtype=np.int64)
    return values, np.cumsum([0, *map(len, lists)])


@given(LISTS)
def test_every_list_is_written_in_the_shortest_units(lists: list[list[int]]) -> None:
    content, extent = encode(*flat(lists))
    wanted = [min((written(numbers, width) for width in WIDTHS), key=len) for numbers in lists]
    assert content.tobytes() == b"".join(wanted)
    assert (extent // 3).tolist() == list(map(len, wanted))
    for numbers, text, kind in zip(lists, wanted, (extent % 3).tolist(), strict=True):
        assert written(numbers, WIDTHS[kind]) == text


@given(LISTS)
def test_what_is_read_is_what_was_written(lists: list[list[int]]) -> None:
    content, extent = encode(*flat(lists))
    together = decode(content, extent)
    assert together.values.tolist() == flat(lists)[0].tolist()
    assert together.counts.tolist() == list(map(len, lists))
    running = [sum(numbers[: place + 1]) for numbers in lists for place in range(len(numbers))]
    assert together.running().tolist() == running
    offset = np.concatenate(([0], np.cumsum(extent // 3)))
    for row, numbers in enumerate(lists):
        kind = int(extent[row]) % 3
        units = units_of(content[offset[row] : offset[row + 1]], kind)
        assert numbers_in(units, kind).tolist() == numbers
        assert sums_in(units, kind, len(numbers)).tolist() == np.cumsum(numbers).astype(int).tolist()


@given(st.lists(NUMBERS, max_size=20))
def test_a_single_list_is_in_bytes(numbers: list[int]) -> None:
    content = encode_one(np.array(numbers, dtype=np.int64))
    assert content.tobytes() == written(numbers, 1)
    assert numbers_in(content, 0).tolist() == numbers


@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=8), max_size=6))
def test_differences_run_up_to_the_values(lists: list[list[int]]) -> None:
    rising = [sorted(numbers) for numbers in lists]
    values, bounds = flat(rising)
    less = differences(values, bounds[:-1])
    assert decode(*encode(less, bounds)).running().tolist() == values.tolist()


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12))
def test_parts_are_whole_lists_and_no_larger_than_need_be(sizes: list[int], most: int) -> None:
    bounds = np.cumsum([0, *sizes])
    found = parts(bounds, most)
    assert [row for begin, end in found for row in range(begin, end)] == list(range(len(sizes)))
    assert all(sum(sizes[begin:end]) <= most or end == begin + 1 for begin, end in found)
    for (begin, end), (_, following) in pairwise(found):
        assert sum(sizes[begin : end + 1]) > most
        assert following > end


def test_the_tops_are_the_largest_values_of_the_units() -> None:
    assert TOPS.tolist() == [255, 65_535, 4_294_967_295]
