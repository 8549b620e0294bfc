"""Files of an index: plain arrays, mapped and verified block by block, their checksums, and a header."""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import shlex
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.data.arrays import Integers
from leadline.data.wording import counted
from leadline.errors import InputError, LeadlineError
from leadline.io.read_paths import record_input

FORMAT = "leadline index"
VERSION = 4
HEADER = "index.json"
CHECKSUMS = "checksums.bin"  # CRC-32 of every block of every array, in the order of TYPES
BLOCK = 1 << 18  # bytes that share a checksum: reading any part of a block verifies all of it
AGAIN = "Rebuild it with `leadline index DOCS -o INDEX --overwrite`."
Array = npt.NDArray[Any]

# Lists of all terms or documents are in one file, and in a second one where each begins.
ARRAYS: dict[str, str] = {
    "term_text": "u1",
    "term_offset": "<i8",
    "id_text": "u1",
    "id_offset": "<i8",
    "by_id": "<i4",
    "posting_offset": "<i8",
    "document": "<i4",
    "counts": "<i4",
    "position_offset": "<i8",
    "forward_offset": "<i8",
    "forward_term": "<i4",
    "forward_counts": "<i4",
    "length": "<i4",
    "record_text": "u1",
    "record_offset": "<i8",
}
POSITIONS: dict[str, str] = {"position": "<i4"}
STORED: dict[str, str] = {
    "text": "u1",
    "text_offset": "<i8",
    "token_offset": "<i8",
    "token_begin": "<i4",
    "token_end": "<i4",
}
TYPES = ARRAYS | POSITIONS | STORED


def file_of(folder: str, name: str) -> str:
    """Return the file name of an array."""
    return os.path.join(folder, name + ".bin")


def save(folder: str, name: str, values: Any) -> None:
    """Write a whole array."""
    with open(file_of(folder, name), "wb") as file:  # says why it fails, unlike `tofile`
        file.write(np.asarray(values).astype(TYPES[name]).data)


def create(folder: str, name: str, length: int) -> Array:
    """Create the file of an array and return it as a writable array."""
    if length == 0:
        save(folder, name, [])
        return np.empty(0, dtype=TYPES[name])
    size = length * np.dtype(TYPES[name]).itemsize
    with open(file_of(folder, name), "wb") as file:
        try:  # on a full disk, what is mapped without space ends the process
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # some file systems cannot reserve space
                raise
    return np.memmap(file_of(folder, name), dtype=TYPES[name], mode="r+", shape=(length,))


def offsets(sizes: Any) -> Integers:
    """Return where each of consecutive lists begins, and the end of the last."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def write_header(folder: str, facts: dict[str, Any]) -> None:
    """Write the checksums of all files, and the header with a build id."""
    arrays: dict[str, dict[str, int]] = {}
    checksums: list[int] = []
    for name, dtype in TYPES.items():
        path = file_of(folder, name)
        if os.path.exists(path):
            arrays[name] = {"length": os.path.getsize(path) // np.dtype(dtype).itemsize}
            with open(path, "rb") as array:
                while part := array.read(BLOCK):
                    checksums.append(zlib.crc32(part))
    content = np.array(checksums, dtype="<u4").tobytes()
    with open(os.path.join(folder, CHECKSUMS), "wb") as written:
        written.write(content)
    header = (
        {"format": FORMAT, "version": VERSION}
        | facts
        | {"arrays": arrays, "checksums": {"block": BLOCK, "crc32": zlib.crc32(content)}}
    )
    header["build"] = build_id(header)
    with open(os.path.join(folder, HEADER), "w", encoding="utf-8") as file:
        json.dump(header, file, indent=2)
        file.write("\n")


def build_id(header: dict[str, Any]) -> str:
    """Return the SHA-256 of a header, which covers the arrays by their checksums; equal for equal indexes."""
    facts = {name: value for name, value in header.items() if name != "build"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """Return the parts of a status that identify an unchanged file."""
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def read_header(folder: str) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Read the header and its stamp; raise an error if it is damaged or of another version."""
    path = os.path.join(folder, HEADER)
    record_input(path)
    try:
        with open(path, encoding="utf-8") as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            header: dict[str, Any] = json.load(file)
    except OSError as error:
        if isinstance(error, (FileNotFoundError, NotADirectoryError)) and not is_index(folder):
            raise _no_index(folder) from None
        raise unreadable(folder, HEADER, error) from None
    except (ValueError, RecursionError):
        raise broken(folder, HEADER, "is not valid JSON") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        is_broken = is_index(folder)  # rather than a folder of another program
        raise broken(folder, HEADER, "is not the header of an index") if is_broken else _no_index(folder)
    if header.get("version") != VERSION:
        raise InputError(
            f"the index has format version {str(header.get('version'))[:20]}, but leadline reads only "
            f"version {VERSION}",
            path=folder,
            hint=AGAIN,
        )
    if header.get("build") != build_id(header):
        raise broken(folder, HEADER, "has changed since it was written")
    return header, stamp


def is_index(folder: str) -> bool:
    """Return whether a folder contains the files of an index only, which may be damaged."""
    if not os.path.isdir(folder):
        return False
    expected = {HEADER, CHECKSUMS, *(os.path.basename(file_of("", name)) for name in TYPES)}
    present = set(os.listdir(folder))
    return bool(present) and present <= expected


def holds_index(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder is an index, which may be damaged, and not a folder of documents."""
    return os.path.exists(os.path.join(folder, HEADER)) or is_index(os.fspath(folder))


def _no_index(folder: str) -> InputError:
    """Return the error for a path that is not an index."""
    if not os.path.exists(folder):
        return InputError("no such folder", path=folder)
    path = os.path.normpath(folder) if folder.strip("./") else os.path.abspath(folder)
    name = os.path.splitext(path)[0] + ".index"
    given, made = map(shlex.quote, (folder, name))
    hint = f"If it contains documents, index them first with `leadline index {given} -o {made}`."
    return InputError("this is not an index written by `leadline index`", path=folder, hint=hint)


def unreadable(folder: str, name: str, error: OSError) -> InputError:
    """Return the error for a file of an index that is missing or cannot be opened."""
    if isinstance(error, FileNotFoundError):
        return broken(folder, name, "is missing")
    return InputError(f"{name} cannot be read ({error.strerror})", path=folder)


def broken(folder: str, name: str, problem: str) -> InputError:
    """Return the error for an index that is damaged."""
    return InputError(f"the index is broken, because {name} {problem}", path=folder, hint=AGAIN)


def digest(source: str) -> str | None:
    """Return the SHA-256 of a file; None if it is not a regular file."""
    if not os.path.isfile(source):
        return None
    record_input(source)
    with open(source, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Offsets into another array: one entry more than there are things, rising from 0 to the length of the other.
OF_TERMS = {"term_offset": "term_text", "posting_offset": "document", "position_offset": "position"}
OF_DOCUMENTS = {
    "id_offset": "id_text",
    "forward_offset": "forward_term",
    "record_offset": "record_text",
    "text_offset": "text",
    "token_offset": "token_begin",
}
OFFSETS = OF_TERMS | OF_DOCUMENTS
UNFIT = "does not match the other files"
AS_LONG = {"counts": "document", "forward_counts": "forward_term", "token_end": "token_begin"}


class MappedArray:
    """One memory-mapped array, and which of its blocks have been verified."""

    def __init__(self, folder: str, name: str, length: int, block: int, checksums: list[int]) -> None:
        self.folder = folder
        self.block = block
        self.name = name
        kind = np.dtype(TYPES[name])
        self.size = kind.itemsize
        self.checksums = checksums
        self.verified = bytearray(len(checksums))
        self.whole = not checksums  # whether all blocks are verified
        path = file_of(folder, name)
        expected = length * self.size
        try:
            with open(path, "rb") as file:
                actual = os.fstat(file.fileno()).st_size
                raw: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if actual else b""
        except OSError as error:
            raise unreadable(folder, os.path.basename(path), error) from None
        except ValueError as error:  # truncated after its size was read
            raise self._damaged(f"cannot be read ({error})") from None
        if actual != expected:
            raise self._damaged(f"has {counted(actual, 'byte')} instead of {expected:,}")
        self.bytes = memoryview(raw)
        self.array: Array = np.frombuffer(raw, dtype=kind)

    def verify(self, begin: int, end: int) -> None:
        """Compare the checksums of the blocks that contain the given entries."""
        if self.whole or begin >= end:
            return
        size = self.block
        for block in range(begin * self.size // size, (end * self.size - 1) // size + 1):
            if not self.verified[block]:
                content = self.bytes[block * size : (block + 1) * size]
                if zlib.crc32(content) != self.checksums[block]:
                    raise self._damaged("has changed since it was written")
                self.verified[block] = 1
        self.whole = all(self.verified)

    def _damaged(self, problem: str) -> InputError:
        return broken(self.folder, self.name + ".bin", problem)


class IndexArrays:
    """Arrays of one build of an index; raises an error if another build replaces it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.header, self._stamp = read_header(folder)
        try:
            self.lengths = {name: int(facts["length"]) for name, facts in self.header["arrays"].items()}
            self._checksums = self._read_checksums()
            self._check_lengths()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, LeadlineError):
                raise
            raise broken(folder, HEADER, "is incomplete") from None
        self._block = int(self.header["checksums"]["block"])
        self._mapped: dict[str, MappedArray] = {}
        self._whole: dict[str, Array] = {}

    def _read_checksums(self) -> dict[str, list[int]]:
        """Read the checksums of every array, and check the size of every file."""
        path = os.path.join(self.folder, CHECKSUMS)
        record_input(path)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise unreadable(self.folder, CHECKSUMS, error) from None
        facts = self.header["checksums"]
        if zlib.crc32(content) != facts["crc32"]:
            raise broken(self.folder, CHECKSUMS, "has changed since it was written")
        values = np.frombuffer(content, dtype="<u4").tolist()
        checksums: dict[str, list[int]] = {}
        position = 0
        for name in filter(self.lengths.__contains__, TYPES):
            expected = self.lengths[name] * np.dtype(TYPES[name]).itemsize
            blocks = -(-expected // facts["block"])
            checksums[name] = values[position : position + blocks]
            position += blocks
            array = file_of(self.folder, name)
            record_input(array)
            try:
                size = os.path.getsize(array)
            except OSError as error:
                raise unreadable(self.folder, os.path.basename(array), error) from None
            if size != expected:
                problem = f"has {counted(size, 'byte')} instead of {expected:,}"
                raise broken(self.folder, os.path.basename(array), problem)
        return checksums

    def _check_lengths(self) -> None:
        """Check the lengths of the arrays against the counts in the header."""
        documents, lengths = self.header["documents"], self.lengths
        expected = {"by_id": documents, "length": documents}
        expected |= dict.fromkeys(OF_TERMS, self.header["terms"] + 1)
        expected |= dict.fromkeys(OF_DOCUMENTS, documents + 1)
        expected |= {name: lengths[other] for name, other in AS_LONG.items() if other in lengths}
        needed = [*ARRAYS, *(POSITIONS if self.header["positions"] else ())]
        wrong = [name for name in needed if name not in lengths]
        wrong += [name for name, length in lengths.items() if length != expected.get(name, length)]
        for name in wrong:
            raise broken(self.folder, HEADER, f"does not match {name}.bin")

    def check_unchanged(self) -> None:
        """Raise an error if another index has replaced the one that was opened."""
        path = os.path.join(self.folder, HEADER)
        try:
            stamp = stamp_of(os.stat(path))
            if stamp == self._stamp:
                return
            header, stamp = read_header(self.folder)
        except (OSError, InputError):
            header = {}
        if header.get("build") != self.header["build"]:
            raise InputError(
                "the index was replaced, damaged or removed after it was opened",
                path=self.folder,
                hint="Open it again, or rebuild it if that fails.",
            )
        self._stamp = stamp  # built again from the same documents in the same way

    def mapped(self, name: str) -> MappedArray:
        """Return an array of the opened build, not verified yet."""
        if name not in self._mapped:
            try:
                array = MappedArray(self.folder, name, self.lengths[name], self._block, self._checksums[name])
            finally:
                self.check_unchanged()  # after the file was opened: it is of the build of the header
            self._mapped[name] = array
        return self._mapped[name]

    def whole(self, name: str) -> Array:
        """Return a whole array, verified."""
        if name not in self._whole:
            array = self.mapped(name)
            array.verify(0, len(array.array))
            last = self.lengths.get(OFFSETS.get(name, ""))
            if last is not None and not are_offsets(array.array, last):
                raise broken(self.folder, f"{name}.bin", UNFIT)
            self._whole[name] = array.array
        return self._whole[name]

    def part(self, name: str, begin: Any, end: Any) -> Array:
        """Return the entries from `begin` to `end`, verified."""
        begin, end = int(begin), int(end)
        array = self.mapped(name)
        if not 0 <= begin <= end <= len(array.array):
            raise broken(self.folder, f"{name}.bin", UNFIT)
        array.verify(begin, end)
        return array.array[begin:end]


def are_offsets(values: Integers, last: int) -> bool:
    """Return whether values increase from 0 to `last`.

    >>> are_offsets(np.array([0, 2, 2, 5]), 5), are_offsets(np.array([0, 3, 2, 5]), 5)
    (True, False)
    """
    return bool(len(values) and values[0] == 0 and values[-1] == last and (np.diff(values) >= 0).all())
