"""Read which documents a user knew before: lines of `query document`, or qrels (grade 1 or more is known)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from leadline.errors import InputError, UsageError
from leadline.formats import KnownLike
from leadline.formats.opening import read_whole
from leadline.kernels import plain
from leadline.vocabulary import to_bytes

EXPECTED = "a path, or {query: [document, ...]}"


def of(source: KnownLike) -> dict[bytes, set[bytes]]:
    """Give the known documents by query from a file or `{query: [document, ...]}`."""
    if isinstance(source, (str, os.PathLike)):
        return read(os.fspath(source))
    if not isinstance(source, Mapping):
        raise UsageError(f"known={type(source).__name__}; expected {EXPECTED}")
    return {
        to_bytes(query): set(map(to_bytes, _documents(query, source[query]))) for query in source
    }


def shown(source: KnownLike) -> str | dict[str, list[str]]:
    """Give the known documents as plain data, or the path of their file."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return {query: sorted(_documents(query, source[query])) for query in source}


def _documents(query: str, listed: object) -> list[str]:
    if isinstance(listed, (list, tuple, set, frozenset)):
        return list(listed)
    found = type(listed).__name__
    raise InputError(f"query {query!r} has {found}", expected="[document, ...]", path="known")


def read(path: str) -> dict[bytes, set[bytes]]:
    """Give the known documents by query."""
    window = read_whole(path)
    found: dict[bytes, set[bytes]] = {}
    for line, raw in enumerate(window.text[: window.end].tobytes().split(b"\n"), start=1):
        fields = raw.split()
        if not fields or raw.startswith(b"#"):
            continue
        if len(fields) == 2:
            found.setdefault(fields[0], set()).add(fields[1])
        elif len(fields) == 4:
            try:
                grade = plain.grade(fields[3], line)
            except InputError as error:
                raise error.at(path) from None
            if grade >= 1:
                found.setdefault(fields[0], set()).add(fields[2])
        else:
            raise InputError(
                f"{len(fields)} columns", expected="query document, or 4 columns of qrels",
                path=path, line=line,
            )  # fmt: skip
    if not found:
        raise InputError("holds no known documents", expected="lines of query document", path=path)
    return found
