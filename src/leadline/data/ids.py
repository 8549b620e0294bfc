"""Ids: a column of them as bytes, and the vocabulary that codes them by byte order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from leadline.data.arrays import Bytes, Floats, Integers, bytes_of, freeze
from leadline.errors import InputError


def to_bytes(name: object) -> bytes:
    """Return the bytes of an id; ids are strings and nothing else.

    >>> to_bytes("d01")
    b'd01'
    """
    if not isinstance(name, str):
        raise InputError(
            f"id {name!r} is of type {type(name).__name__}", expected="a string", hint="str(...) makes one"
        )
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InputError(f"id {name!r} is not valid text", expected="a Unicode string") from None


def encoded(name: object) -> bytes:
    """Return the bytes of an id that is text or bytes already.

    >>> encoded("d01"), encoded(b"d01")
    (b'd01', b'd01')
    """
    return name if isinstance(name, bytes) else to_bytes(name)


def to_text(name: bytes) -> str:
    """Return the text of an id; bytes that are not UTF-8 survive the way back.

    >>> to_text(b"d01")
    'd01'
    """
    return name.decode("utf-8", "surrogateescape")


def coded_rows(
    rows: Iterable[tuple[bytes | str, bytes | str, float]], what: str, path: str
) -> tuple[list[tuple[bytes, bytes]], Floats]:
    """Return the ids of (query, document, number) rows as bytes, and the numbers.

    >>> coded_rows([("q1", b"d1", 1)], "grade", "")
    ([(b'q1', b'd1')], array([1.]))
    """
    ids: list[tuple[bytes, bytes]] = []
    numbers: list[float] = []
    try:
        for query, document, number in rows:
            ids.append((encoded(query), encoded(document)))
            numbers.append(number * 1.0)  # text is an error here
        return ids, np.array(numbers, dtype=np.float64)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"row {max(len(ids), len(numbers) + 1)} of {type(rows).__name__} is something else",
            expected=f"rows of (query, document, {what})",
            path=path,
        ) from error


def is_utf8(name: str) -> bool:
    r"""Return whether an id is text that UTF-8 can hold: not where bytes of another encoding survive in it.

    >>> is_utf8("d01"), is_utf8(to_text(b"d\xff"))
    (True, False)
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class Ids(Sequence[bytes]):
    """A read-only column of ids, kept as places in one text.

    >>> list(Ids.of([b"d1", b"d22"]))
    [b'd1', b'd22']
    """

    def __init__(self, text: Bytes, start: Integers, stop: Integers) -> None:
        freeze(text, start, stop)
        self.text = text
        self.start = start
        self.stop = stop

    @classmethod
    def of(cls, names: Iterable[bytes]) -> Ids:
        """Make a column from ids."""
        names = list(names)
        stop = np.cumsum([0, *map(len, names)], dtype=np.int64)
        text = np.frombuffer(bytearray(b"".join(names)), dtype=np.uint8)
        return cls(text, stop[:-1].copy(), stop[1:].copy())

    @classmethod
    def together(cls, parts: Sequence[Ids]) -> Ids:
        """Put columns one after the other, as copies.

        >>> list(Ids.together([Ids.of([b"d1"]), Ids.of([b"d22"])]))
        [b'd1', b'd22']
        """
        nothing = np.empty(0, dtype=np.int64)
        ends = np.cumsum([0, *(len(part.text) for part in parts)])[:-1].tolist()
        return cls(
            np.concatenate([np.empty(0, dtype=np.uint8), *(part.text for part in parts)]),
            np.concatenate([nothing, *(part.start + end for part, end in zip(parts, ends, strict=True))]),
            np.concatenate([nothing, *(part.stop + end for part, end in zip(parts, ends, strict=True))]),
        )

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, place: int) -> bytes:  # type: ignore[override]  # no slices: `take` is for that
        return self.text[self.start[place] : self.stop[place]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        text = bytes_of(self.text)
        for start, stop in zip(self.start.tolist(), self.stop.tolist(), strict=True):
            yield text[start:stop].tobytes()

    def take(self, places: Integers) -> Ids:
        """Return the ids at some places, in that order."""
        return Ids(self.text, self.start[places], self.stop[places])


class Vocabulary(Sequence[str]):
    """Unique ids sorted by their bytes; the code of an id is its place, so codes compare as ids do.

    >>> words = Vocabulary(["b", "a", "b"])
    >>> list(words), words.code("b")
    (['a', 'b'], 1)
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: tuple[bytes, ...] = tuple(sorted(set(map(to_bytes, names))))

    @classmethod
    def of_bytes(cls, names: Iterable[bytes]) -> Vocabulary:
        """Make a vocabulary from the bytes of ids."""
        made = cls()
        made.names = tuple(sorted(set(names)))
        return made

    @cached_property
    def codes(self) -> dict[bytes, int]:
        """Return the code of every id by its bytes."""
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def digest(self) -> str:
        """Return a short digest of the content; equal vocabularies have equal digests."""
        import hashlib

        lengths = np.array([len(name) for name in self.names], dtype="<i8").tobytes()
        return hashlib.sha256(lengths + b"".join(self.names)).hexdigest()[:16]

    def code(self, name: str) -> int | None:
        """Return the code of an id, or None when the vocabulary lacks it."""
        return self.codes.get(to_bytes(name))

    def find(self, name: object) -> int | None:
        """Return the code of an id, or None for an id that the vocabulary lacks and for what is no text.

        >>> words = Vocabulary(["a"])
        >>> words.find("a"), words.find("b"), words.find(7)
        (0, None, None)
        """
        try:
            return self.codes.get(to_bytes(name))
        except InputError:
            return None

    def encode(self, names: Iterable[bytes]) -> Integers:
        """Return the code of every id, -1 where the vocabulary lacks it."""
        codes = self.codes
        return np.array([codes.get(name, -1) for name in names], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, code: int) -> str:  # type: ignore[override]  # codes only, no slices
        return to_text(self.names[code])

    def __iter__(self) -> Iterator[str]:
        return map(to_text, self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        shown = ", ".join(list(self)[:3]) + (", ..." if len(self) > 3 else "")
        return f"Vocabulary({len(self)}: {shown})"
