"""Files of an index: plain arrays, their checksums, and a header."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from leadline.data.arrays import Integers
from leadline.errors import InputError
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
    np.asarray(values).astype(TYPES[name]).tofile(file_of(folder, name))


def create(folder: str, name: str, length: int) -> Array:
    """Create the file of an array and return it as a writable array."""
    if length == 0:
        save(folder, name, [])
        return np.empty(0, dtype=TYPES[name])
    return np.memmap(file_of(folder, name), dtype=TYPES[name], mode="w+", shape=(length,))


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


class FileStamp(NamedTuple):
    """File status that identifies an unchanged header file."""

    device: int
    inode: int
    modified: int
    size: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Return the stamp of a file."""
        return cls(status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)


def read_header(folder: str) -> tuple[dict[str, Any], FileStamp]:
    """Read the header; raise an error if it is damaged or of another version."""
    path = os.path.join(folder, HEADER)
    record_input(path)
    try:
        with open(path, encoding="utf-8") as file:
            stamp = FileStamp.of(os.fstat(file.fileno()))
            header: dict[str, Any] = json.load(file)
    except (FileNotFoundError, NotADirectoryError):
        raise no_index(folder, wanted=True) from None
    except OSError as error:
        raise broken(folder, HEADER, f"cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise broken(folder, HEADER, "cannot be read") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise broken(folder, HEADER, "is not the header of an index")
    if header.get("version") != VERSION:
        raise InputError(
            f"this is an index of version {str(header.get('version'))[:20]}, not {VERSION}",
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


def no_index(folder: str, *, wanted: bool = False) -> InputError:
    """Return the error for a path that is not an index; `wanted`: documents are to be indexed first."""
    name = os.path.splitext(os.path.normpath(folder))[0] + ".index"
    documents = wanted and os.path.exists(folder) and not is_index(folder)
    hint = f"Index the documents first with `leadline index {folder} -o {name}`." if documents else ""
    return InputError("this is not an index written by `leadline index`", path=folder, hint=hint)


def broken(folder: str, name: str, problem: str) -> InputError:
    """Return the error for an index that is damaged."""
    return InputError(f"the index is broken, because {name} {problem}", path=folder, hint=AGAIN)


def digest(source: str) -> str | None:
    """Return the SHA-256 of a file; None if it is not a regular file."""
    if not os.path.isfile(source):
        return None
    import hashlib

    record_input(source)
    with open(source, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
