"""Windows of two terms against brute force on random texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import windows

TEXTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=30), min_size=1, max_size=4)


def two_pointers(a: list[int], b: list[int], width: int) -> int:
    """Go through both lists of positions, advancing the smaller one."""
    i = j = found = 0
    while i < len(a) and j < len(b):
        found += abs(a[i] - b[j]) + 1 <= width
        if a[i] < b[j]:
            i += 1
        else:
            j += 1
    return found


def brute(words: list[str], first: str, second: str, *, ordered: bool, width: int) -> int:
    a = [place for place, word in enumerate(words) if word == first]
    b = [place for place, word in enumerate(words) if word == second]
    if ordered:
        return sum(any(0 < y - x <= width for y in b) for x in a)
    if first == second:
        return sum(y - x + 1 <= width for x, y in pairwise(a))
    return two_pointers(a, b, width)


@given(TEXTS, st.sampled_from("abc"), st.sampled_from("abc"), st.booleans(), st.integers(1, 9))
def test_windows_are_what_brute_force_counts(
    texts: list[list[str]], first: str, second: str, ordered: bool, width: int
) -> None:
    index = build_index(
        {f"d{place}": " ".join(words) for place, words in enumerate(texts)},
        analysis="Words(stop=none,stem=none)",
    )
    a, b = index.code(first), index.code(second)
    if a is None or b is None:
        return
    found = windows(index, a, b, ordered=ordered, width=width)
    assert dict(zip(found.document.tolist(), found.counts.tolist(), strict=True)) == {
        place: count
        for place, words in enumerate(texts)
        if (count := brute(words, first, second, ordered=ordered, width=width))
    }


def test_a_stop_word_between_two_terms_keeps_them_apart() -> None:
    index = build_index({"d1": "flow past the wing", "d2": "past wing"})
    past, wing = index.code("past"), index.code("wing")
    assert past is not None
    assert wing is not None
    assert windows(index, past, wing, ordered=True, width=1).document.tolist() == [1]
    assert windows(index, past, wing, ordered=True, width=2).document.tolist() == [0, 1]
