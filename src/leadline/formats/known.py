"""Read which documents a user knew before: lines of `query document`, or qrels (grade 1 or more is known)."""

from __future__ import annotations

from leadline.errors import InputError
from leadline.formats.opening import read_whole
from leadline.kernels import plain


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
