"""Columns of ids: whatever is done with many at a time gives what is done with each."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.data import ids as module
from leadline.data.ids import Ids, Vocabulary, to_text

LETTERS = [b"a", b"b", b"\xff", "\u00e9".encode(), b"7"]


def some_names(rng: np.random.Generator, *, odd: bool) -> list[bytes]:
    """Draw ids of equal or of different lengths, many of them more than once."""
    letters = [*LETTERS, b"\0", b"\n"] if odd else LETTERS
    longest = int(rng.choice([1, 3, 12, 90]))
    shortest = longest if rng.random() < 0.3 else 0
    many = int(rng.choice([0, 1, 5, 150, 400]))
    names = [
        b"".join(letters[place] for place in rng.integers(len(letters), size=size))
        for size in rng.integers(shortest, longest + 1, size=many).tolist()
    ]
    return [names[place] for place in rng.integers(len(names), size=many)] if rng.random() < 0.5 else names


@pytest.mark.parametrize("odd", [False, True])
def test_many_ids_at_a_time_are_what_each_is(monkeypatch: pytest.MonkeyPatch, *, odd: bool) -> None:
    monkeypatch.setattr(module, "ROWS", 64)
    rng = np.random.default_rng(11)
    for _ in range(150):
        names = some_names(rng, odd=odd)
        column = Ids.of(names)
        order = rng.permutation(len(names))
        shuffled = [names[place] for place in order.tolist()]
        around = b"".join(b"q Q0 " + name + b" 1 0.5 tag\n" for name in names)
        start = np.cumsum([5, *(len(name) + 16 for name in names)])[:-1]
        text = np.frombuffer(around, dtype=np.uint8)
        copied = Ids.copied(text, start, start + [len(name) for name in names])
        for found, expected in ((column, names), (column.take(order), shuffled), (copied, names)):
            assert list(found) == expected
            assert found.texts() == list(map(to_text, expected))
            vocabulary, codes = found.coded()
            assert vocabulary == Vocabulary.of_bytes(expected)
            assert codes.tolist() == vocabulary.encode(expected).tolist()


def test_a_copy_of_ids_does_not_hold_the_text_around_them() -> None:
    text = np.frombuffer(b"q1 Q0 d1 1 0.5 tag\nq1 Q0 d22 2 0.4 tag\n", dtype=np.uint8)
    copied = Ids.copied(text, np.array([6, 25]), np.array([8, 28]))
    assert list(copied) == [b"d1", b"d22"]
    assert len(copied.text) == 6
    assert not np.shares_memory(copied.text, text)
