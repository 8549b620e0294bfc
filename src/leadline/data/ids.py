"""Ids: columns of ids as bytes, the vocabulary that codes them in byte order, and tables by query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from leadline.data.arrays import Bytes, Codes, Floats, Integers, bytes_of, freeze
from leadline.data.optional import import_optional
from leadline.data.table import make_frame
from leadline.errors import InputError


def to_bytes(name: object) -> bytes:
    """Return an id as bytes; raise InputError unless it is a string.

    >>> to_bytes("d01")
    b'd01'
    """
    if not isinstance(name, str):
        raise InputError(
            f"id {name!r} is of type {type(name).__name__}, not a string",
            hint="Convert the id to a string",
            code="id",
        )
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InputError(
            f"id {name!r} contains a lone surrogate, so it is not valid Unicode",
            hint="Remove the surrogate",
            code="id",
        ) from None


def as_bytes(name: object) -> bytes:
    """Return an id, a string or bytes, as bytes.

    >>> as_bytes("d01"), as_bytes(b"d01")
    (b'd01', b'd01')
    """
    return name if isinstance(name, bytes) else to_bytes(name)


def to_text(name: bytes) -> str:
    """Return an id as a string; bytes that are not UTF-8 are kept as surrogate escapes.

    >>> to_text(b"d01")
    'd01'
    """
    return name.decode("utf-8", "surrogateescape")


def encode_rows(
    rows: Iterable[tuple[bytes | str, bytes | str, float]], what: str, path: str
) -> tuple[list[tuple[bytes, bytes]], Floats]:
    """Return the ids of (query, document, number) rows as bytes, and the numbers.

    >>> encode_rows([("q1", b"d1", 1)], "grade", "")
    ([(b'q1', b'd1')], array([1.]))
    """
    ids: list[tuple[bytes, bytes]] = []
    numbers: list[float] = []
    try:
        for query, document, number in rows:
            ids.append((as_bytes(query), as_bytes(document)))
            numbers.append(number * 1.0)  # a TypeError for text, which float() would convert
        return ids, np.array(numbers, dtype=np.float64)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"row {max(len(ids), len(numbers) + 1)} of the {type(rows).__name__} has the wrong form",
            path=path,
            hint=f"Each row must be (query, document, {what}), with a number as the {what}",
        ) from error


def is_utf8(name: str) -> bool:
    r"""Return whether an id can be encoded as UTF-8: it has no surrogate escapes of other encodings.

    >>> is_utf8("d01"), is_utf8(to_text(b"d\xff"))
    (True, False)
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class Ids(Sequence[bytes]):
    """Read-only column of ids, stored as offsets into one array of bytes.

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
        """Return a column of these ids."""
        names = list(names)
        stop = np.cumsum([0, *map(len, names)], dtype=np.int64)
        text = np.frombuffer(bytearray(b"".join(names)), dtype=np.uint8)
        return cls(text, stop[:-1].copy(), stop[1:].copy())

    @classmethod
    def copied(cls, text: Bytes, start: Integers, stop: Integers) -> Ids:
        """Return a column with a copy of the ids, and of the text around them where they are most of it.

        >>> Ids.copied(np.frombuffer(b"q1 Q0 d1 1", np.uint8), np.array([6]), np.array([8])).text.tobytes()
        b'd1'
        """
        lengths = stop - start
        width = int(lengths.max(initial=0))
        if not width or width * len(start) >= len(text):
            end = int(stop.max(initial=0))
            return cls(text[:end].copy(), start.copy(), stop.copy())
        begin = np.arange(len(start), dtype=np.int64) * width
        return cls(_cells(_padded(text, width), start, width).reshape(-1), begin, begin + lengths)

    @classmethod
    def concatenate(cls, parts: Sequence[Ids]) -> Ids:
        """Return the concatenation of columns, as a copy.

        >>> list(Ids.concatenate([Ids.of([b"d1"]), Ids.of([b"d22"])]))
        [b'd1', b'd22']
        """
        empty = np.empty(0, dtype=np.int64)
        shifts = np.cumsum([0, *(len(part.text) for part in parts)])[:-1].tolist()
        return cls(
            np.concatenate([np.empty(0, dtype=np.uint8), *(part.text for part in parts)]),
            np.concatenate([empty, *(part.start + shift for part, shift in zip(parts, shifts, strict=True))]),
            np.concatenate([empty, *(part.stop + shift for part, shift in zip(parts, shifts, strict=True))]),
        )

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, row: int) -> bytes:  # type: ignore[override]  # no slices: use `take`
        return self.text[self.start[row] : self.stop[row]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        for low, joined in self._lines():
            if joined is None:
                text, rows = bytes_of(self.text), slice(low, low + ROWS)
                for start, stop in zip(self.start[rows].tolist(), self.stop[rows].tolist(), strict=True):
                    yield text[start:stop].tobytes()
            else:
                yield from joined.split(b"\n")

    def texts(self) -> list[str]:
        """Return all ids as strings.

        >>> Ids.of([b"d1", b"d22"]).texts()
        ['d1', 'd22']
        """
        found: list[str] = []
        for low, joined in self._lines():
            if joined is None:
                found += [to_text(self[row]) for row in range(low, min(low + ROWS, len(self)))]
            else:
                found += to_text(joined).split("\n")
        return found

    def _lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield `ROWS` ids at a time, joined by newlines: splitting them is faster than slicing each."""
        lengths = self.stop - self.start
        widest = int(lengths.max(initial=0)) + 1
        text = _padded(self.text, widest) if len(self) > FEW else self.text
        for low in range(0, len(self), ROWS):
            sizes = lengths[low : low + ROWS]
            width, joined = int(sizes.max()) + 1, None
            if len(self) > FEW and width * len(sizes) <= 4 * int(sizes.sum() + len(sizes)):
                cells = _cells(text, self.start[low : low + ROWS], width, sizes)
                cells[:, -1] = ord("\n")
                joined = cells.tobytes().translate(None, b"\0")[:-1]
                ends = joined.count(b"\n") + 1
                if ends != len(sizes) or len(joined) + 1 != int(sizes.sum()) + ends:
                    joined = None
            yield low, joined

    def coded(self) -> tuple[Vocabulary, Codes]:
        """Return the vocabulary of the ids, and the code of each row.

        >>> vocabulary, codes = Ids.of([b"d2", b"d1", b"d2"]).coded()
        >>> list(vocabulary), codes.tolist()
        (['d1', 'd2'], [1, 0, 1])
        """
        lengths = self.stop - self.start
        width = -(-int(lengths.max(initial=0)) // 8) * 8
        if not 0 < width <= LONG:
            names = list(self)
            vocabulary = Vocabulary.of_bytes(names)
            return vocabulary, vocabulary.encode(names).astype(np.int32)
        cells = _cells(_padded(self.text, width), self.start, width, lengths)
        # Numbers of 8 bytes compare as the bytes do; the length tells NUL bytes of an id from the padding.
        keys = [lengths, *np.ascontiguousarray(cells.view(">u8").astype(np.uint64).T)[::-1]]
        keys = [key for key in keys if (key != key[0]).any()] or keys[:1]
        order = np.lexsort(keys)
        first = np.zeros(len(self), dtype=np.bool_)
        first[:1] = True
        for key in keys:
            first[1:] |= np.diff(key[order]) != 0
        codes = np.empty(len(self), dtype=np.int32)
        codes[order] = np.cumsum(first) - 1
        return Vocabulary.of_sorted(self.take(order[first])), codes

    def take(self, rows: Integers) -> Ids:
        """Return the ids of these rows, in this order."""
        return Ids(self.text, self.start[rows], self.stop[rows])


ROWS = 1 << 16  # ids that are joined at a time
FEW = 100  # ids that are sliced one by one sooner
LONG = 64  # bytes of an id, up to which ids are sorted as numbers


def _padded(text: Bytes, width: int) -> Bytes:
    """Return a text padded with NUL bytes at its end."""
    return np.concatenate([text, np.zeros(width, dtype=np.uint8)])


def _cells(text: Bytes, start: Integers, width: int, lengths: Integers | None = None) -> Bytes:
    """Return the bytes from each start, `width` a row; NUL bytes behind the lengths where these are given."""
    every = np.ndarray((len(text) - width + 1,), dtype=f"V{width}", buffer=text, strides=(1,))
    cells: Bytes = every[start].view(np.uint8).reshape(-1, width)
    if lengths is not None:
        cells[np.arange(width) >= lengths[:, np.newaxis]] = 0
    return cells


class Vocabulary(Sequence[str]):
    """Unique ids sorted by their bytes; the code of an id is its index, so codes sort as ids do.

    >>> words = Vocabulary(["b", "a", "b"])
    >>> list(words), words.code("b")
    (['a', 'b'], 1)
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: tuple[bytes, ...] = tuple(sorted(set(map(to_bytes, names))))

    @classmethod
    def of_bytes(cls, names: Iterable[bytes]) -> Vocabulary:
        """Return the vocabulary of ids given as bytes."""
        vocabulary = cls()
        vocabulary.names = tuple(sorted(set(names)))
        return vocabulary

    @classmethod
    def of_sorted(cls, names: Iterable[bytes]) -> Vocabulary:
        """Return the vocabulary of ids that are unique and sorted."""
        vocabulary = cls()
        vocabulary.names = tuple(names)
        return vocabulary

    @cached_property
    def codes(self) -> dict[bytes, int]:
        """Codes by id, as bytes."""
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def digest(self) -> str:
        """Short digest of the ids; equal for equal vocabularies."""
        import hashlib

        lengths = np.array([len(name) for name in self.names], dtype="<i8").tobytes()
        return hashlib.sha256(lengths + b"".join(self.names)).hexdigest()[:16]

    def code(self, name: str) -> int | None:
        """Return the code of an id; None if it is not in the vocabulary."""
        return self.codes.get(to_bytes(name))

    def find(self, name: object) -> int | None:
        """Return the code of an id; None if it is not in the vocabulary or not a string.

        >>> words = Vocabulary(["a"])
        >>> words.find("a"), words.find("b"), words.find(7)
        (0, None, None)
        """
        try:
            return self.codes.get(to_bytes(name))
        except InputError:
            return None

    def encode(self, names: Iterable[bytes]) -> Integers:
        """Return the code of every id; -1 if it is not in the vocabulary."""
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


class QueryTable:
    """Base of runs and qrels: rows by query, with the methods of a mapping from query ids."""

    queries: Vocabulary

    @classmethod
    def sharing(cls, table: QueryTable) -> Self:
        """Return an object of this class that shares the columns of another."""
        if isinstance(table, cls):
            return table
        made = cls.__new__(cls)
        vars(made).update(vars(table))
        return made

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the query ids in byte order."""
        return iter(self.queries)

    def keys(self) -> Iterator[str]:
        """Iterate over the query ids, for `dict`."""
        return iter(self)

    def __contains__(self, query: object) -> bool:
        """Return whether there are rows of a query."""
        return self.queries.find(query) is not None

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns by name."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return a pandas data frame with the columns of `to_columns`.

        Returns
        -------
        pandas.DataFrame
            Ids as strings, scores or grades as numbers.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.

        Examples
        --------
        >>> import leadline as ll
        >>> print(ll.Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_pandas())
          query_id doc_id  score
        0       q1     d2    0.7
        1       q1     d1    0.5
        """
        return make_frame(import_optional("pandas").DataFrame, self.to_columns())

    def to_polars(self) -> Any:
        """Return a polars data frame with the columns of `to_columns`.

        Returns
        -------
        polars.DataFrame
            Ids as strings, scores or grades as numbers.

        Raises
        ------
        MissingPackageError
            If polars is not installed.

        Examples
        --------
        >>> import leadline as ll
        >>> ll.Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_polars().rows()
        [('q1', 'd2', 0.7), ('q1', 'd1', 0.5)]
        """
        polars = import_optional("polars")
        columns = self.to_columns()
        # Without rows, polars cannot infer that ids are strings.
        ids = {name: polars.String for name in columns if name in ("query_id", "doc_id", "subtopic")}
        return make_frame(polars.DataFrame, columns, schema_overrides=ids)
