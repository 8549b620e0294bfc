"""Ids: columns of bytes, plain or packed, the vocabulary that codes them in byte order, tables by query."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from leadline import kernels
from leadline.data.arrays import Bytes, Codes, Floats, Hashes, Integers, bytes_of, freeze
from leadline.data.optional import import_optional
from leadline.data.table import make_frame
from leadline.errors import Answering, InputError


def to_bytes(name: object) -> bytes:
    """Return an id as bytes; raise InputError unless it is a string.

    >>> to_bytes("d01")
    b'd01'
    """
    if not isinstance(name, str):
        raise InputError(
            f"ids must be strings, but {name!r} is of type {type(name).__name__}",
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


class QueryTable(Answering):
    """Base of runs and qrels: rows by query, with the methods of a mapping from query ids."""

    _words: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["items", "values", "get", "copy"], "to_dict()"),
        **dict.fromkeys(["evaluate", "measure"], "evaluate(qrels, run)"),
    }
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

        >>> import leadline as ll
        >>> print(ll.Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_pandas())
          query_id doc_id  score
        0       q1     d2    0.7
        1       q1     d1    0.5
        """
        return make_frame(import_optional("pandas").DataFrame, self.to_columns())

    def to_polars(self) -> Any:
        """Return a polars data frame with the columns of `to_columns`.

        >>> import leadline as ll
        >>> ll.Run({"q1": {"d1": 0.5, "d2": 0.7}}).to_polars().rows()
        [('q1', 'd2', 0.7), ('q1', 'd1', 0.5)]
        """
        polars = import_optional("polars")
        columns = self.to_columns()
        # Without rows, polars cannot infer that ids are strings.
        ids = {name: polars.String for name in columns if name in ("query_id", "doc_id", "subtopic")}
        return make_frame(polars.DataFrame, columns, schema_overrides=ids)


class PackedIds(Ids):
    """Ids without the bytes that all begin with, one after the other; `ends` begins with 0.

    The columns of `Ids` are made when something asks for them.

    >>> list(PackedIds(b"d", np.frombuffer(b"122", np.uint8), np.array([0, 1, 3])))
    [b'd1', b'd22']
    """

    def __init__(self, prefix: bytes, rest: Bytes, ends: Integers) -> None:
        freeze(rest, ends)
        self.prefix = prefix
        self.rest = rest
        self.ends = ends

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, row: int) -> bytes:  # type: ignore[override]  # no slices: use `take`
        start, stop = self.ends[:-1][row], self.ends[1:][row]
        return self.prefix + self.rest[start:stop].tobytes()

    @cached_property
    def text(self) -> Bytes:  # type: ignore[override]  # computed when used
        """The text of all ids."""
        if not self.prefix:
            return self.rest
        text = np.empty(int(self.stop[-1]) if len(self) else 0, dtype=np.uint8)
        others = np.ones(len(text), dtype=np.bool_)
        for place, byte in enumerate(self.prefix):
            text[self.start + place] = byte
            others[self.start + place] = False
        text[others] = self.rest
        freeze(text)
        return text

    @cached_property
    def start(self) -> Integers:  # type: ignore[override]  # computed when used
        """Begin of each id in the text."""
        start = self.ends[:-1] + len(self.prefix) * np.arange(len(self))
        freeze(start)
        return start

    @cached_property
    def stop(self) -> Integers:  # type: ignore[override]  # computed when used
        """End of each id in the text."""
        stop = self.ends[1:] + len(self.prefix) * np.arange(1, len(self) + 1)
        freeze(stop)
        return stop


class Slots(NamedTuple):
    """Hash tables of the judged documents, one per query, as arguments of the kernel `match`.

    The documents are a prefix and what follows it in the text, from start to stop; the rows of a query are
    begin to end, and its table begins at `offset` of `rows`.
    """

    prefix: Bytes
    text: Bytes
    start: Integers
    stop: Integers
    begin: Integers
    end: Integers
    offset: Integers
    rows: npt.NDArray[np.uint32]


def table_sizes(counts: Integers) -> Integers:
    """Return the size of the table of each query, from its number of rows, as the kernels compute it.

    >>> table_sizes(np.array([0, 1, 2, 300])).tolist()
    [1, 2, 4, 512]
    """
    sizes: Integers = 2 ** np.ceil(np.log2(counts + counts // 2 + 1)).astype(np.int64)
    return sizes


def table_of(names: Iterable[bytes]) -> Slots:
    """Return the table of ids: they are the documents of a single query."""
    ids = Ids.of(names)
    return slots_of(ids, np.zeros(1, dtype=np.int64), np.array([len(ids)], dtype=np.int64), None)[0]


def slots_of(
    ids: Ids, begin: Integers, end: Integers, hashes: Hashes | None
) -> tuple[Slots, tuple[int, int] | None]:
    """Return the tables of judged documents, and two rows of a query with the same document if there are."""
    if kernels.compiled is None:
        raise RuntimeError("the hash tables of judged documents need the compiled kernels")
    if hashes is None:
        hashes = np.empty(len(ids), dtype=np.uint64)
        kernels.compiled.hash_ids(ids.text, ids.start, ids.stop, hashes)
    sizes = table_sizes(end - begin)
    offset = np.cumsum(sizes) - sizes
    rows = np.zeros(int(sizes.sum()), dtype=np.uint32)
    first = np.zeros(1, dtype=np.int64)
    second = kernels.compiled.fill_slots(
        ids.text, ids.start, ids.stop, hashes, begin, end, offset, rows, first
    )
    prefix = np.empty(0, dtype=np.uint8)
    slots = Slots(prefix, ids.text, ids.start, ids.stop, begin, end, offset, rows)
    return slots, (int(first[0]), second) if second >= 0 else None


class DocumentNumbers:
    """Number the documents of several runs in the order in which they come, in any thread.

    >>> numbers = DocumentNumbers()
    >>> [numbers.of(Ids.of(ids), np.array([0, 2])).tolist() for ids in ([b"d1", b"d2"], [b"d3", b"d1"])]
    [[0, 1], [2, 0]]
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes | int, int] = {}
        self._known = _Known.of_size(0, 0)
        self._lock = threading.Lock()

    def of(self, ids: Ids, bounds: Integers, hashes: Hashes | None = None) -> Codes:
        """Return the number of every row of some lists; a repeat in a list gets a number of its own."""
        compiled = kernels.compiled
        with self._lock:
            if compiled is None:
                return self._plain(ids, bounds)
            if hashes is None:
                hashes = np.empty(len(ids), dtype=np.uint64)
                compiled.hash_ids(ids.text, ids.start, ids.stop, hashes)
            numbers = np.empty(len(ids), dtype=np.int32)
            self._known = self._known.with_capacity(ids, compiled.number_ids)
            compiled.number_ids(ids.text, ids.start, ids.stop, hashes, bounds, *self._known, numbers)
            return numbers

    def ids(self) -> Ids:
        """Return the numbered documents in the order of their numbers."""
        if self._numbers:
            return Ids.of(name if isinstance(name, bytes) else b"" for name in self._numbers)
        many = int(self._known.tally[0])
        return Ids(self._known.text[:], self._known.start[:many], self._known.start[1 : many + 1])

    def _plain(self, ids: Ids, bounds: Integers) -> Codes:
        """Return the numbers of the documents of some lists."""
        numbers = np.fromiter(map(self._number, ids), dtype=np.int32, count=len(ids))
        owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((numbers, owner))  # stable: of equal documents the first place comes first
        again = (np.diff(numbers[order]) == 0) & (np.diff(owner[order]) == 0)
        for row in order[1:][again].tolist():
            numbers[row] = self._number(None)
        return numbers

    def _number(self, name: bytes | None) -> int:
        """Return the number of a document; of None, a new one."""
        return self._numbers.setdefault(len(self._numbers) if name is None else name, len(self._numbers))


class _Known(NamedTuple):
    """The documents that have a number, as the kernel `number_ids` keeps them."""

    text: Bytes
    start: Integers
    hashes: Hashes
    slots: Codes
    lister: Codes
    tally: Integers

    @classmethod
    def of_size(cls, documents: int, size: int) -> _Known:
        """Return an empty table with capacity for some documents, whose ids have `size` bytes together."""
        return cls(
            np.empty(size, dtype=np.uint8),
            np.zeros(documents + 1, dtype=np.int64),
            np.empty(documents, dtype=np.uint64),
            np.zeros(1 << (2 * documents).bit_length(), dtype=np.int32),
            np.empty(documents, dtype=np.int32),
            np.zeros(2, dtype=np.int64),
        )

    def with_capacity(self, ids: Ids, number_ids: Callable[..., Any]) -> _Known:
        """Return the same documents with capacity for more; the capacity at least doubles if it grows."""
        many = int(self.tally[0])
        documents, size = many + len(ids), int(self.start[many] + (ids.stop - ids.start).sum())
        if documents <= len(self.hashes) and size <= len(self.text):
            return self
        larger = self.of_size(2 * documents, 2 * size)
        if many:  # in their order, as one list, all get the numbers that they have
            spare = np.empty(many, dtype=np.int32)
            bounds = np.array([0, many], dtype=np.int64)
            number_ids(self.text, self.start[:-1], self.start[1:], self.hashes, bounds, *larger, spare)
        return larger
