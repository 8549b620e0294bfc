"""Open any input as plain bytes or lines: files, compressed files, standard input."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from os.path import exists, isdir, isfile
from typing import Any, BinaryIO, Self, cast

import numpy as np

from leadline.data.arrays import Bytes, bytes_of, zeros
from leadline.errors import InputError, MissingPackageError, UsageError
from leadline.io.archives import COMPRESSIONS, LZ4, ZIP, broken_archives, decompressed
from leadline.io.read_paths import SteadyFile, pipe_copies, record_input
from leadline.io.run_names import STANDARD_INPUT, split_part
from leadline.kernels.plain import NUL

BOM = b"\xef\xbb\xbf"
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
URLS = (
    "Download the file or, if it is a run, pass its URL to `leadline evaluate --parts` or "
    "leadline.scale.evaluate_parts"
)
HEAD = 8  # number of bytes that identify any compression
PARQUET, ARROW, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
BINARY_TABLES = (PARQUET, ARROW, STREAM)  # first bytes of a file
SQLITE = b"SQLite format 3\0"
LONGEST_LINE = 1 << 20  # maximum number of bytes of a line of a run or qrels
LONGEST_TOML = 1 << 24  # maximum number of bytes of a TOML file
LONGEST_TEXT = 1 << 26  # maximum number of bytes of a line, or of one document, of texts
BLOCK = LONGEST_LINE >> 2  # a longer line fills at least one block of this size
DAMAGED = "The file may be damaged or incomplete"
STEP = 1 << 22  # number of bytes read between checks
PACKED = 6  # number of bytes of text in a byte of a compressed file, about
PROBE = 1 << 12  # number of bytes within which nearly every text has a line end


def open_bytes(path: str) -> tuple[io.BufferedReader, io.BufferedReader]:
    """Open a path (or `-` for standard input) and decompress it, recognized by content.

    Gives the plain bytes and the file below them; whoever reads closes both.
    """
    record_input(path)
    raw = open_raw(path)
    try:
        head = raw.read(HEAD)
    except OSError as error:
        raw.close()
        raise InputError(f"cannot be read ({error.strerror or error})", path=path) from None
    raw.seek(0)
    kind = next((kind for magic, kind in COMPRESSIONS.items() if head.startswith(magic)), "")
    try:
        return (decompressed(raw, kind) if kind else raw), raw
    except MissingPackageError:
        raw.close()
        raise


def open_raw(path: str) -> io.BufferedReader:
    """Open a file, or the copy of a pipe, which is made when it is opened first."""
    if path == STANDARD_INPUT and sys.stdin is None:
        raise InputError("standard input is closed", path=path, hint="Pass a file or a pipe")
    try:
        if path != STANDARD_INPUT and isfile(path):
            return io.BufferedReader(SteadyFile(path), 1 << 16)
        copies = pipe_copies()
        if path not in copies:
            if path == STANDARD_INPUT:
                copies[path] = _copied(path, sys.stdin.buffer)
            else:
                with SteadyFile(path) as pipe:
                    copies[path] = _copied(path, cast(BinaryIO, pipe))
        return io.BufferedReader(_CopyReader(copies[path]))
    except IsADirectoryError:
        raise InputError("is a folder, not a file", path=path) from None
    except OSError as error:
        hint = URLS if "://" in path else ""
        missing = isinstance(error, FileNotFoundError)
        raise InputError(
            "no such file" if missing else error.strerror or str(error), path=path, hint=hint
        ) from None


def _copied(path: str, source: BinaryIO) -> BinaryIO:
    """Copy a pipe to a temporary file without a name, so that nothing is left however the program ends."""
    import tempfile  # takes as long to import as a small run to read

    piece = b""
    while len(piece) < PROBE and (more := source.read(PROBE - len(piece))):  # a pipe may return fewer
        piece += more
    if piece.startswith(SQLITE):
        hint = "Pass the path of the database file"
        raise InputError("databases cannot be read from a pipe or standard input", path=path, hint=hint)
    text = not piece.startswith((*COMPRESSIONS, *BINARY_TABLES))
    if text:
        check_head(piece, path)
    try:
        with ExitStack() as failing:
            copy = cast(BinaryIO, failing.enter_context(tempfile.TemporaryFile()))
            while piece:
                if text and piece.count(b"\0") > len(piece) >> 9:  # random bytes have twice as many
                    raise InputError(NUL, path=path)
                copy.write(piece)
                piece = source.read(STEP) or b""
            copy.flush()
            failing.pop_all()  # it is closed with the command or call that reads
    except OSError as error:
        raise UsageError(
            f"{path}: this input cannot be copied to {tempfile.tempdir or 'a temporary folder'} "
            f"({error.strerror or error}). Set TMPDIR to a folder with enough space"
        ) from None
    return copy


class _CopyReader(io.RawIOBase):
    """A reading of the copy of a pipe, with a place of its own."""

    def __init__(self, copy: BinaryIO) -> None:
        self.copy = copy
        self.place = 0

    def readable(self) -> bool:
        """Return True: the copy can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: the copy is a file."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a place."""
        if whence == os.SEEK_CUR:
            offset, whence = self.place + offset, os.SEEK_SET
        self.place = self.copy.seek(offset, whence)
        return self.place

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]  # narrower than Buffer
        """Read into a buffer."""
        self.copy.seek(self.place)
        size: int = self.copy.readinto(target)  # type: ignore[attr-defined]  # typeshed
        self.place += size
        return size


def first_bytes(path: str, size: int = 1 << 12) -> bytes | None:
    """Return the first decompressed bytes of a file; None if there is none."""
    if path != STANDARD_INPUT and (isdir(path) or not exists(path)):
        return None
    stream, file = open_bytes(path)
    found = b""
    with file, stream, suppress(InputError), _read_to_the_end(path):  # reading the whole file reports a fault
        while len(found) < size and (more := stream.read1(size - len(found))):
            found += more
    return found


@contextmanager
def _read_to_the_end(path: str) -> Iterator[None]:
    """Refuse a file that cannot be read, or an archive that is damaged."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, (EOFError, OSError, *broken_archives())):
            raise
        raise InputError(f"cannot be read to the end ({error})", path=path, hint=DAMAGED) from None


def text_size(path: str) -> int:
    """Return the number of bytes of the text in a file; about that if it is compressed."""
    return file_size(path) * (PACKED if is_compressed(path) else 1)


def file_size(path: str) -> int:
    """Return the number of bytes of a file."""
    with open_raw(path) as raw:
        return raw.seek(0, os.SEEK_END)


def is_compressed(path: str) -> bool:
    """Return whether the content of a file is compressed."""
    with open_raw(path) as raw:
        return raw.read(HEAD).startswith(tuple(COMPRESSIONS))


# Types of the columns that kernels fill, by name; others are int64. Those of 32 bits have spare elements.
KINDS: dict[str, type[np.generic]] = {
    "hashes": np.uint64,
    "values": np.float64,
    "spare": np.int32,
    **dict.fromkeys(("ranks", "rank", "row", "above", "below"), np.int32),
    **dict.fromkeys(("tie_query", "tie_first", "tie_last"), np.int32),
}


class Buffers:
    """Memory reused while texts are read: new memory would cost more time than reading."""

    def __init__(self, size: int = 1 << 21) -> None:
        self.text: Bytes = zeros(size, np.uint8)
        self._columns: dict[tuple[str, ...], tuple[int, dict[str, Any]]] = {}

    def columns(self, names: tuple[str, ...], size: int) -> dict[str, Any]:
        """Return writable columns of at least a size."""
        if self._columns.get(names, (-1, {}))[0] < size:
            made = {name: np.empty(size, dtype=np.int64).view(KINDS.get(name, np.int64)) for name in names}
            self._columns[names] = size, made
        return self._columns[names][1]


class Chunk:
    """A chunk of a text in a reused buffer: `text[:end]` holds whole lines.

    `last` says whether the text ends here. The buffer grows when not even one list fits. With two
    workspaces they take turns, so that one chunk can be used while the next is read.
    """

    def __init__(self, path: str, *workspaces: Buffers, longest: int = LONGEST_LINE) -> None:
        self.path = path
        self.longest = longest
        self.size = 0  # of the buffer when it must grow, if known
        self.stream, self.file = open_bytes(path)
        self.workspaces = list(workspaces)
        self.filled = 0
        self.end = 0
        self.last = False
        self.read = 0
        self.begun = False
        self.ends = b""  # ends of a line, or of a JSON value; empty for binary tables
        self.checked = 0  # end of the bytes whose line lengths have been checked
        self.long = -1  # begin of a line that fills a block

    @classmethod
    def of_text(cls, path: str, workspace: Buffers, end: int) -> Chunk:
        """Return the chunk of a text in memory."""
        made = cls.__new__(cls)
        made.path, made.workspaces = path, [workspace]
        made.filled = made.end = made.read = end
        made.last = made.begun = True
        return made

    def check(self) -> None:
        """Refuse what is refused while a text is read, in a text that is in memory."""
        self.longest, self.checked, self.long = LONGEST_LINE, 0, -1
        self._check_start()
        self._check_lines(self.filled)

    def content(self) -> bytes:
        """Return the whole lines as bytes."""
        return self.text[: self.end].tobytes()

    @property
    def workspace(self) -> Buffers:
        """Return the workspace of this chunk."""
        return self.workspaces[0]

    @property
    def text(self) -> Bytes:
        """Return the buffer of this chunk."""
        return self.workspaces[0].text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self.file.close()

    def advance(self, begin: int) -> None:
        """Discard the text before `begin`, keep the rest and read more."""
        rest = self.text[begin : self.filled]
        self.workspaces.append(self.workspaces.pop(0))
        if len(rest) > len(self.text) // 2:
            size = max(self.size, 2 * max(len(rest), len(self.text)))
            self.workspace.text = np.empty(size, dtype=np.uint8)
        self.text[: len(rest)] = rest.copy() if len(self.workspaces) == 1 else rest
        self.filled = len(rest)
        self.checked, self.long = 0, -1
        self._fill()
        if self.last and self.filled and self.text[self.filled - 1] != ord("\n"):
            self.text[self.filled] = ord("\n")
            self.filled += 1
        self.end = self._whole_lines()

    def _fill(self) -> None:
        target = bytes_of(self.text)[:-1]  # one byte is reserved for a missing final newline
        while self.filled < len(target):
            stop = min(len(target), self.filled + STEP)
            with _read_to_the_end(self.path):
                size = self.stream.readinto(target[self.filled : stop])
            if not size:
                self.last = True
                break
            self.filled += size
            self.read += size
            if not self.begun and self.filled >= PROBE:
                self._check_start()
            if self.begun:
                self._check_lines(self.filled - self.filled % BLOCK)
        if not self.begun:
            self._check_start()
        self._check_lines(self.filled)

    def _check_start(self) -> None:
        """Refuse binary data; recognize binary tables, and texts that may be one line of JSON."""
        self.begun = True
        head = self.text[: min(self.filled, PROBE)].tobytes()
        check_head(head, self.path)
        if head.startswith(BOM):
            self.filled -= 3
            self.text[: self.filled] = self.text[3 : self.filled + 3].copy()
            head = head[3:]
        if head.startswith(BINARY_TABLES):
            self.ends = b""
        else:
            self.ends = b'\n"' if head.lstrip()[:1] in {b"{", b"["} else b"\n"

    def _check_lines(self, stop: int) -> None:
        """Refuse a line that is too long, in the unchecked bytes up to `stop`."""
        while self.ends and self.checked < stop:
            start = self.checked
            self.checked = min(start + BLOCK, stop)
            end = self._first_end(start, self.checked)
            if end < 0 and self.long < 0:
                self.long = self._line_of(start)
            if self.long >= 0 and (self.checked if end < 0 else end) - self.long > self.longest:
                place = self.read - self.filled + self.long
                noun = "line or JSON string" if len(self.ends) > 1 else "line"
                raise too_long(self.path, f"byte {place:,}", self.longest, noun=noun)
            if end >= 0:
                self.long = -1

    def _first_end(self, start: int, stop: int) -> int:
        """Return the position of the first line end from `start` to `stop`; -1 if there is none."""
        for low, high in ((start, min(start + PROBE, stop)), (start + PROBE, stop)):
            block = self.text[low:high]
            found = block == self.ends[0]
            for end in self.ends[1:]:
                found |= block == end
            if found.any():
                return low + int(found.argmax())
        return -1

    def _line_of(self, place: int) -> int:
        """Return the begin of the line that contains a position."""
        before = self.text[max(0, place - LONGEST_LINE) : place].tobytes()
        return place - len(before) + 1 + max(before.rfind(bytes([end])) for end in self.ends)

    def _whole_lines(self) -> int:
        if self.last:
            return self.filled
        step = 1 << 14
        for stop in range(self.filled, 0, -step):
            start = max(0, stop - step)
            ends = np.flatnonzero(self.text[start:stop] == ord("\n"))
            if len(ends):
                return start + int(ends[-1]) + 1
        return 0


BINARY = 4  # number of NUL bytes at the begin of a file that make it binary


# What is no text, by its first bytes, and what to do with it.
UNREADABLE: dict[bytes | tuple[bytes, ...], tuple[str, str]] = {
    WIDE_BOMS: ("starts with a UTF-16 byte order mark", "Convert the file to UTF-8"),
    LZ4: (
        "is compressed with lz4, but leadline does not support lz4",
        "Compress the file with gzip instead. In ranx, save the run as .json or .parquet",
    ),
    b"%PDF": ("is a PDF file", "Convert the file to text, for example with `pdftotext`"),
    ZIP: ("is a ZIP archive", "Unpack the archive and pass one of its files"),
    tuple(COMPRESSIONS): ("is compressed twice", "Compress the file only once"),
}


def check_head(head: bytes, path: str) -> None:
    """Refuse the first bytes of a file that is not text: UTF-16, a NUL byte in the first line, or several."""
    for begin, (found, hint) in UNREADABLE.items():
        if head.startswith(begin):
            raise InputError(found, path=path, hint=hint)
    if head.startswith((b"#", *BINARY_TABLES)):
        return
    if b"\0" in head.partition(b"\n")[0] or head.count(b"\0") >= BINARY:
        raise InputError(NUL, path=path, line=head[: head.index(b"\0")].count(b"\n") + 1)


def too_long(path: str, where: str, limit: int, *, noun: str) -> InputError:
    """Return the error for a line or text that is too long."""
    return InputError(f"contains a {noun} longer than {limit >> 20} MiB, starting at {where}", path=path)


def read_whole(
    path: str, *, longest: int = LONGEST_LINE, enough: Callable[[Chunk], bool] | None = None
) -> Chunk:
    """Read a whole text into one window."""
    with Chunk(path, Buffers(1 << 16), longest=longest) as window:
        window.size = file_size(path) + 2
        window.advance(0)
        while not window.last and not (enough is not None and enough(window)):
            window.advance(0)
    return window


def whole_content(path: str) -> bytes:
    """Return all bytes of a file, decompressed."""
    window = read_whole(path)
    return window.text[: window.read].tobytes()


def text_of(window: Chunk) -> str:
    """Return the text of a window; bytes that are not UTF-8 become surrogates."""
    return window.content().decode("utf-8", "surrogateescape")


def read_toml(path: str, *, hint: str = "") -> dict[str, Any]:
    """Return the tables of a TOML file."""
    import tomllib

    text = text_of(read_whole(path, longest=LONGEST_TOML))
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError("tables or arrays are nested too deeply", path=path, hint=hint) from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        found = re.sub(r" \(at .*\)$", "", " ".join(str(error).split()))
        place = int(line[1]) if line else None
        raise InputError(f"invalid TOML ({found})", path=path, line=place, hint=hint) from None


def digest_of(path: str) -> str | None:
    """Return the SHA-256 of a file; None for a pipe or the name of a collection."""
    path, _ = split_part(path)
    if path == STANDARD_INPUT or not isfile(path):
        return None
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def lines(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield number and text of every line, without its end; refuses what is not in the encoding."""
    decode = _decoder(encoding)
    for number, raw in raw_lines(path):
        yield number, _decoded(raw.rstrip(b"\r\n"), decode, encoding, path, number)


def whole_text(path: str, *, encoding: str = "utf-8") -> str:
    """Return a whole text; a line of JSON may be of any length."""
    window = read_whole(path, longest=LONGEST_TEXT)
    return _decoded(window.content(), _decoder(encoding), encoding, path, 1)


def _decoded(raw: bytes, decode: codecs._Decoder, encoding: str, path: str, number: int) -> str:
    try:
        return decode(raw)[0]
    except UnicodeDecodeError as error:
        default = encoding == "utf-8"
        shown = "UTF-8" if default else encoding
        raise InputError(
            f"byte 0x{raw[error.start]:02x} is not valid {shown}",
            path=path,
            line=number + raw.count(b"\n", 0, error.start),
            hint="Convert the file to UTF-8. If it contains documents or queries, you can usually name its "
            "encoding instead, as in `--config read.encoding=latin-1`"
            if default
            else "Name the actual encoding of the file, as in `--config read.encoding=latin-1`",
        ) from None


def raw_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of every line; a line longer than any text should be is refused."""
    stream, file = open_bytes(path)
    with file, stream, _read_to_the_end(path):
        head = stream.peek(PROBE)[:PROBE]
        check_head(head, path)
        if head.startswith(BINARY_TABLES):
            kind = "a Parquet" if head.startswith(PARQUET) else "an Arrow"
            raise InputError(
                f"is {kind} file, not text",
                path=path,
                hint="Convert a table to CSV or JSON Lines, or a list to text with one item per line",
            )
        for number, raw in enumerate(iter(partial(stream.readline, LONGEST_TEXT), b""), start=1):
            if len(raw) == LONGEST_TEXT:
                found = f"the line is longer than {LONGEST_TEXT >> 20} MiB"
                raise InputError(found, path=path, line=number)
            yield number, raw.removeprefix(BOM) if number == 1 else raw


def _decoder(encoding: str) -> codecs._Decoder:
    try:
        " ".encode(encoding)  # LookupError for encodings of other things than text, such as hex
    except LookupError:
        raise UsageError(f"unknown encoding '{encoding}'. Use a name such as utf-8 or latin-1") from None
    return codecs.lookup(encoding).decode
