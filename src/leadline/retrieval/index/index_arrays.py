"""Arrays of an open index: mapped on first use, and verified block by block before they are read."""

from __future__ import annotations

import mmap
import os
import zlib
from typing import Any

import numpy as np

from leadline.data.arrays import Integers
from leadline.errors import InputError, LeadlineError
from leadline.io.read_paths import record_input
from leadline.retrieval.index import index_files
from leadline.retrieval.index.index_files import ARRAYS, CHECKSUMS, POSITIONS, TYPES, Array

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
        self.left = len(checksums)
        path = index_files.file_of(folder, name)
        expected = length * self.size
        try:
            with open(path, "rb") as file:
                actual = os.fstat(file.fileno()).st_size
                raw: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if actual else b""
        except FileNotFoundError:
            raise self._damaged("is missing") from None
        except (OSError, ValueError) as error:
            raise self._damaged(f"cannot be read ({error})") from None
        if actual != expected:
            raise self._damaged(f"has {actual} bytes instead of {expected}")
        self.bytes = memoryview(raw)
        self.array: Array = np.frombuffer(raw, dtype=kind)

    def verify(self, begin: int, end: int) -> None:
        """Compare the checksums of the blocks that contain the given entries."""
        if not self.left or begin >= end:
            return
        size = self.block
        for block in range(begin * self.size // size, (end * self.size - 1) // size + 1):
            if not self.verified[block]:
                content = self.bytes[block * size : (block + 1) * size]
                if zlib.crc32(content) != self.checksums[block]:
                    raise self._damaged("has changed since it was written")
                self.verified[block] = 1
        if all(self.verified):
            self.left = 0

    def _damaged(self, problem: str) -> InputError:
        return index_files.broken(self.folder, self.name + ".bin", problem)


class IndexArrays:
    """Arrays of one build of an index; raises an error if another build replaces it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.header, self._stamp = index_files.read_header(folder)
        try:
            self.lengths = {name: int(facts["length"]) for name, facts in self.header["arrays"].items()}
            self._checksums = self._read_checksums()
            self._check_lengths()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, LeadlineError):
                raise
            raise index_files.broken(folder, index_files.HEADER, "is incomplete") from None
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
            raise index_files.broken(self.folder, CHECKSUMS, f"cannot be read ({error.strerror})") from None
        facts = self.header["checksums"]
        if zlib.crc32(content) != facts["crc32"]:
            raise index_files.broken(self.folder, CHECKSUMS, "has changed since it was written")
        values = np.frombuffer(content, dtype="<u4").tolist()
        checksums: dict[str, list[int]] = {}
        position = 0
        for name in filter(self.lengths.__contains__, TYPES):
            expected = self.lengths[name] * np.dtype(TYPES[name]).itemsize
            blocks = -(-expected // facts["block"])
            checksums[name] = values[position : position + blocks]
            position += blocks
            array = index_files.file_of(self.folder, name)
            record_input(array)
            try:
                size = os.path.getsize(array)
            except OSError:
                raise index_files.broken(self.folder, os.path.basename(array), "is missing") from None
            if size != expected:
                problem = f"has {size} bytes instead of {expected}"
                raise index_files.broken(self.folder, os.path.basename(array), problem)
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
            raise index_files.broken(self.folder, index_files.HEADER, f"does not match {name}.bin")

    def check_unchanged(self) -> None:
        """Raise an error if another index has replaced the one that was opened."""
        path = os.path.join(self.folder, index_files.HEADER)
        try:
            stamp = index_files.FileStamp.of(os.stat(path))
            if stamp == self._stamp:
                return
            header, stamp = index_files.read_header(self.folder)
        except (OSError, InputError):
            header = {}
        if header.get("build") != self.header["build"]:
            raise InputError(
                "the index was replaced or damaged after it was opened",
                path=self.folder,
                hint="Start again to read everything from the same index.",
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
                raise index_files.broken(self.folder, f"{name}.bin", UNFIT)
            self._whole[name] = array.array
        return self._whole[name]

    def part(self, name: str, begin: Any, end: Any) -> Array:
        """Return the entries from `begin` to `end`, verified."""
        begin, end = int(begin), int(end)
        array = self.mapped(name)
        if not 0 <= begin <= end <= len(array.array):
            raise index_files.broken(self.folder, f"{name}.bin", UNFIT)
        array.verify(begin, end)
        return array.array[begin:end]


def are_offsets(values: Integers, last: int) -> bool:
    """Return whether values increase from 0 to `last`.

    >>> are_offsets(np.array([0, 2, 2, 5]), 5), are_offsets(np.array([0, 3, 2, 5]), 5)
    (True, False)
    """
    return bool(len(values) and values[0] == 0 and values[-1] == last and (np.diff(values) >= 0).all())
