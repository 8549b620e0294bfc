"""The files of an index: plain arrays and a header that says what each must be."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.errors import InputError

FORMAT = "leadline index"
VERSION = 1
HEADER = "index.json"
Array = npt.NDArray[Any]

# What is in each file. Offsets have one more entry than there are things.
ARRAYS: dict[str, str] = {
    "term_text": "u1", "term_offset": "<i8",
    "id_text": "u1", "id_offset": "<i8", "by_id": "<i4",
    "length": "<i4", "stream": "<i4",
    "posting_offset": "<i8", "position_offset": "<i8",
    "document": "<i4", "counts": "<i4", "position": "<i4",
    "record_text": "u1", "record_offset": "<i8",
}  # fmt: skip
STORED: dict[str, str] = {
    "text": "u1", "text_offset": "<i8",
    "token_offset": "<i8", "token_begin": "<i4", "token_end": "<i4",
}  # fmt: skip
TYPES = ARRAYS | STORED


def file_of(folder: str, name: str) -> str:
    """Give the file of an array."""
    return os.path.join(folder, name + ".bin")


def create(folder: str, name: str, length: int) -> Array:
    """Make the file of an array of known length; give the array to be filled."""
    path = file_of(folder, name)
    if length == 0:
        with open(path, "wb"):
            return np.empty(0, dtype=TYPES[name])
    return np.memmap(path, dtype=TYPES[name], mode="w+", shape=(length,))


def save(folder: str, name: str, values: Any) -> None:
    """Write a whole array."""
    np.asarray(values).astype(TYPES[name]).tofile(file_of(folder, name))


def load(folder: str, name: str, length: int) -> Array:
    """Map an array that is checked to be there."""
    if length == 0:
        return np.empty(0, dtype=TYPES[name])
    mapped = np.memmap(file_of(folder, name), dtype=TYPES[name], mode="r", shape=(length,))
    return np.asarray(mapped)  # the plain view: each slice of a memmap would cost more


def write_header(folder: str, facts: dict[str, Any]) -> None:
    """Write the header, with size and checksum of every file that is there."""
    arrays = {}
    for name, kind in TYPES.items():
        path = file_of(folder, name)
        if os.path.exists(path):
            size = os.path.getsize(path)
            arrays[name] = {"length": size // np.dtype(kind).itemsize, "crc32": _checksum(path)}
    header = {"format": FORMAT, "version": VERSION} | facts | {"arrays": arrays}
    with open(os.path.join(folder, HEADER), "w", encoding="utf-8") as file:
        json.dump(header, file, indent=2)
        file.write("\n")


def _checksum(path: str) -> int:
    found = 0
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            found = zlib.crc32(part, found)
    return found


def read_header(folder: str, *, verify: bool = False) -> dict[str, Any]:
    """Read and check the header: what it is, how old, whether every file is whole.

    Sizes are always compared; `verify` also reads all files and compares checksums.
    """
    path = os.path.join(folder, HEADER)
    try:
        with open(path, encoding="utf-8") as file:
            header: dict[str, Any] = json.load(file)
    except OSError:
        raise InputError(
            "is no index", expected="a folder that `leadline index` made", path=folder
        ) from None
    except ValueError:
        raise _broken(folder, HEADER, "cannot be read") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _broken(folder, HEADER, "is not the header of an index")
    if header.get("version") != VERSION:
        raise InputError(
            f"an index of version {header.get('version')}", expected=f"version {VERSION}", path=folder,
            hint="make it again: `leadline index DOCS -o INDEX`",
        )  # fmt: skip
    try:
        _check_files(folder, header["arrays"], verify=verify)
    except (KeyError, TypeError):
        raise _broken(folder, HEADER, "lacks an entry") from None
    return header


def _check_files(folder: str, arrays: dict[str, Any], *, verify: bool) -> None:
    for name in {**ARRAYS, **arrays}:
        path = file_of(folder, name)
        wanted = arrays[name]["length"] * np.dtype(TYPES[name]).itemsize
        found = os.path.getsize(path) if os.path.isfile(path) else None
        if found != wanted:
            what = "is missing" if found is None else f"has {found} bytes and not {wanted}"
            raise _broken(folder, os.path.basename(path), what)
        if verify and _checksum(path) != arrays[name]["crc32"]:
            raise _broken(folder, os.path.basename(path), "has other content than was written")


def _broken(folder: str, name: str, what: str) -> InputError:
    return InputError(
        f"a broken index: {name} {what}", expected="a whole index", path=folder,
        hint="make it again: `leadline index DOCS -o INDEX`",
    )  # fmt: skip
