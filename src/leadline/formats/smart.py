"""SMART files (CACM, CISI, CRAN, MED): records begin with `.I`, fields with a dot and a letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from leadline.errors import InputError
from leadline.formats.lines import lines
from leadline.formats.opening import LONGEST_TEXT, too_long

FIELDS = {
    ".T": "title", ".W": "text", ".A": "author", ".B": "bib", ".K": "keywords", ".N": "entered",
    ".C": "categories", ".X": "references",
}  # fmt: skip
MARK = re.compile(r"\.[A-Z]\s*$")
START = re.compile(r"\.I\s+(\S+)\s*$")


def records(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Give every record with the number of its first line; its id is in column `id`.

    A field that comes twice, as the texts of some CISI records do, is one text.
    """
    found: dict[str, list[str]] = {}
    began, size, field = 0, 0, ""
    for number, line in lines(path, encoding=encoding):
        start = START.fullmatch(line)
        if start:
            if began:
                yield began, _record(found)
            began, size, field, found = number, 0, "", {"id": [start[1]]}
        elif not began and line.strip():
            raise InputError(f"'{line[:40]}'", expected="a record: .I", path=path, line=number)
        elif MARK.fullmatch(line):
            field = FIELDS.get(line.strip(), line.strip())
            found.setdefault(field, [])
        elif field:
            found[field].append(line)
            size += len(line)
            if size > LONGEST_TEXT:
                raise too_long(path, f"from line {began:,}", LONGEST_TEXT, noun="record")
        elif line.strip():
            raise InputError(
                f"'{line[:40]}'", expected="a field: .T, .W, ...", path=path, line=number
            )
    if began:
        yield began, _record(found)


def _record(found: dict[str, list[str]]) -> dict[str, Any]:
    texts = {name: "\n".join(parts).strip() for name, parts in found.items()}
    return {"title": "", "text": ""} | texts
