"""Samples by hash: the documented key, the same sample for everybody, the smallest keys of each query."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leadline.data.arrays import sampled_documents, sampling_keys, smallest_keys

DOCUMENTS = [b"d%d" % number for number in range(50)]


def test_a_key_is_the_first_64_bits_of_sha256_of_seed_query_and_document() -> None:
    wanted = int.from_bytes(sha256(b"7\tq1\td1").digest()[:8], "big")
    assert sampling_keys(b"q1", [b"d1"], 7).tolist() == [wanted]


def test_no_documents_have_no_keys() -> None:
    assert sampling_keys(b"q1", [], 0).tolist() == []
    assert sampled_documents(b"q1", [], 3, 0) == []


def test_a_sample_does_not_hang_on_the_order_of_the_documents() -> None:
    chosen = sampled_documents(b"q1", DOCUMENTS, 5, 0)
    assert chosen == sampled_documents(b"q1", DOCUMENTS[::-1], 5, 0)
    assert len(chosen) == 5


def test_a_larger_sample_holds_the_smaller_one() -> None:
    small, large = (set(sampled_documents(b"q1", DOCUMENTS, n, 0)) for n in (5, 20))
    assert small < large


def test_seeds_and_queries_draw_other_samples() -> None:
    first = sampled_documents(b"q1", DOCUMENTS, 10, 0)
    assert first != sampled_documents(b"q1", DOCUMENTS, 10, 1)
    assert first != sampled_documents(b"q2", DOCUMENTS, 10, 0)


def test_a_sample_larger_than_the_collection_is_the_collection() -> None:
    assert sampled_documents(b"q1", DOCUMENTS, 500, 0) == sorted(DOCUMENTS)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**6)), unique=True), st.integers(0, 4))
def test_the_smallest_are_those_of_sorting_each_query(rows: list[tuple[int, int]], count: int) -> None:
    query = np.array([one for one, _ in rows], dtype=np.int64)
    keys = np.array([key for _, key in rows], dtype=np.uint64)
    wanted = {(one, key) for one in range(4) for key in sorted(k for q, k in rows if q == one)[:count]}
    chosen = smallest_keys(keys, query, count)
    assert {row for row, flag in zip(rows, chosen.tolist(), strict=True) if flag} == wanted
