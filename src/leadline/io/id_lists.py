"""Small tables about ids: labels of one column, pairs, known documents, population sizes, judges."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leadline.data.ids import to_bytes, to_text
from leadline.data.reading import DEFAULT_READING
from leadline.data.wording import counted, first_few
from leadline.errors import InputError, UsageError, place_of, repeated
from leadline.io import row_columns
from leadline.io.formats import opened, records_of
from leadline.io.opening import first_bytes, read_whole, text_of, whole_text
from leadline.io.row_checks import identify, qrels
from leadline.io.score_cells import json_or_none, number_in
from leadline.io.small_tables import FIELD, Rows, column_of, need_columns, records
from leadline.io.trec_lists import looks_trec
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.read import KnownLike

OWNERS = ("run", "name")
NO_PAIRS = "contains no query-document pairs"
PAIRS = "Use qrels, a run, or a table with the columns query_id and doc_id"
NO_ID = "the query id or the document id is empty"
Row = tuple[bytes, bytes, float]


def read_labels(place: str) -> dict[str, str]:
    """Return what a column says of every run; `place` is FILE:COLUMN, a table with a header.

    The column called run or name, or else the first one, names the run.
    """
    path, rows = column_of(place, OWNERS, example="systems.tsv:team")
    column = place.rpartition(":")[2]
    found: dict[str, str] = {}
    for line, *cells in rows:
        name, label = ("" if cell is None else str(cell) for cell in cells)
        if found.setdefault(name, label) != label:
            raise InputError(
                f"run '{name}' has both '{found[name]}' and '{label}' in column '{column}'",
                path=path,
                line=line,
            )
    return found


def teams_of(labels: str | Mapping[str, str], names: Iterable[str], place: str = "") -> list[str]:
    """Return the team of every run; an error where one has none. `place` says where labels are from.

    Labels may also be FILE:COLUMN.

    >>> teams_of({"a": "one", "b": "two"}, ["b", "a"])
    ['two', 'one']
    """
    if isinstance(labels, str):
        return teams_of(read_labels(labels), names, labels)
    wanted = list(names)
    missing = [name for name in wanted if not labels.get(name)]
    if missing:
        where = f" in {place}" if place else ""
        raise UsageError(
            f"{len(missing):,} of {counted(len(wanted), 'run')} {'has' if len(missing) == 1 else 'have'} no "
            f"team{where} ({first_few(missing)}). Add a team for every run"
        )
    return [labels[name] for name in wanted]


def read_pairs(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Read pairs from a TSV, CSV, JSON Lines or Parquet table, or from qrels or a run in TREC's format.

    In TREC's formats the query is the first column and the document the third.
    """
    return [pair[1:] for pair in numbered_pairs(os.fspath(path))]


def numbered_pairs(path: str) -> list[tuple[int | None, str, str]]:
    """Return the pairs of `read_pairs`, each after its line number, which is None if unknown."""
    found = list(_pairs(path))
    if not found:
        raise InputError(NO_PAIRS, path=path, hint=PAIRS)
    return found


def _pairs(path: str) -> Iterator[tuple[int | None, str, str]]:
    head = first_bytes(path)
    if head is not None and looks_trec(head):
        for number, line in plain.data_lines(whole_text(path).encode()):
            cells = plain.fields_of(line)
            if len(cells) < 4:
                raise InputError(
                    f"the line has {counted(len(cells), 'column')}",
                    path=path,
                    line=number,
                    hint="Qrels need 4 columns, and a run needs 6",
                )
            yield number, to_text(cells[0]), to_text(cells[2])
        return
    if head is not None and path.endswith(".json") and not is_table(path):
        for query, documents in qrels(records_of(opened(path), "grade", DEFAULT_READING)).to_dict().items():
            yield from ((None, query, document) for document in documents)
        return
    for place, row in records(path, quoted=True):
        try:
            yield place, *pair_of(row, place)
        except InputError as error:
            error.hint += f". {PAIRS}" * error.found.startswith("no column")
            raise error.at(path, error.line or place) from None


def is_table(path: str) -> bool:
    """Return whether a JSON file is empty, or a list of objects with the ids of a query and a document."""
    found = json_or_none(whole_text(path))
    if found in ([], {}):
        return True
    first = found[0] if isinstance(found, list) and found else None
    known = (row_columns.QUERY, row_columns.DOCUMENT)
    return isinstance(first, dict) and all(row_columns.find(first, names) for names in known)


def pair_of(row: Mapping[str, Any], place: int) -> tuple[str, str]:
    """Return the query and the document of a row; a whole number is its decimal text."""
    top = getattr(place, "header", place)
    known = (row_columns.QUERY, row_columns.DOCUMENT)
    query, document = (row_columns.find(row, names) or names[0] for names in known)
    if query not in row or document not in row:
        if "half-width" in row or "unique" in row:
            hint = "Write the pool with `leadline.write_pool`, or with `leadline pool -o POOL`"
            found = "these are statistics about a pool, not its query-document pairs"
            raise InputError(found, line=top, hint=hint)
        if row.keys() == {"id", "text"}:  # so two columns without a header are read
            found = f"the table has no header with the columns {query} and {document}"
            raise InputError(found, line=top, hint="Name the columns in its first line")
        need_columns(row, [query, document], "", top)
    if "" in (row[query], row[document]):
        raise InputError(NO_ID)
    return to_text(identify(row[query], query)), to_text(identify(row[document], document))


def read_population(given: str) -> int | dict[str, int]:
    """Return one number of documents, or the numbers by query of a file.

    A line is a query and a number, with blanks or a comma between; a first line without a number is a header.

    >>> read_population("171332")
    171332
    """
    if given.isascii() and given.isdigit():
        return int(given)
    if number_in(given) is not None and not os.path.exists(given):
        raise UsageError(
            f"population {given!r} is not valid. Pass the number of documents in the collection, or a file "
            "with a query and its number of non-relevant documents on each line."
        )
    found: dict[str, int] = {}
    headed = False
    for number, raw in plain.data_lines(text_of(read_whole(given)).encode("utf-8", "surrogateescape")):
        line = to_text(raw)
        fields = FIELD.findall(line.replace(",", " "))
        begun, headed = headed, True
        if len(fields) != 2 or not (fields[1].isascii() and fields[1].isdigit()):
            if not begun and len(fields) == 2:
                continue
            raise InputError(
                "the line must consist of a query and its number of non-relevant documents, not "
                f"'{line.strip()[:60]}'",
                path=given,
                line=number,
            )
        if fields[0] in found:
            raise repeated(f"query '{fields[0]}'", path=given, line=number)
        found[fields[0]] = int(fields[1])
    if not found:
        raise InputError(
            "contains no lines with a query and its number of non-relevant documents", path=given
        )
    return found


TABLES = ("csv", "json", "jsonl", "parquet")
KNOWN = "a path or {query: [document, ...]}"


def of(source: KnownLike) -> dict[bytes, set[bytes]]:
    """Return the known documents by query from a file or `{query: [document, ...]}`."""
    if isinstance(source, (str, os.PathLike)):
        return read(os.fspath(source))
    if not isinstance(source, Mapping):
        raise UsageError(f"`known` cannot be of type {type(source).__name__}. Pass {KNOWN}.")
    return {to_bytes(query): set(map(to_bytes, _documents(query, source[query]))) for query in source}


def shown(source: KnownLike) -> str | dict[str, list[str]]:
    """Return the known documents as plain data, or the path of their file."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return {query: sorted(_documents(query, source[query])) for query in source}


def _documents(query: str, listed: object) -> list[str]:
    if isinstance(listed, (list, tuple, set, frozenset)):
        return list(listed)
    found = type(listed).__name__
    raise InputError(
        f"the value for query {query!r} is of type {found}", path="known", hint="Use the form [document, ...]"
    )


def read(path: str) -> dict[bytes, set[bytes]]:
    """Return the known documents by query: those that a table judges relevant, or those of lines of text."""
    file, found = opened(path), dict[bytes, set[bytes]]()
    if file.format.name in TABLES:
        for query, grades in qrels(records_of(file, "grade")).to_dict().items():
            known = {to_bytes(document) for document, grade in grades.items() if grade >= 1}
            found |= {to_bytes(query): known} if known else {}
    else:
        found = _in_lines(path)
    if not found:
        hint = "Write lines with a query and a known document, or judgments with a grade of at least 1"
        raise InputError("contains no known documents", path=path, hint=hint)
    return found


def _in_lines(path: str) -> dict[bytes, set[bytes]]:
    window = read_whole(path)
    found: dict[bytes, set[bytes]] = {}
    for line, raw in plain.data_lines(window.content()):
        fields = plain.fields_of(raw)
        try:
            if len(fields) not in (2, 4):
                raise InputError(
                    f"the line has {counted(len(fields), 'column')}",
                    hint="Write a query and a document separated by a space, or the 4 columns of qrels",
                )
            grade = 1.0 if len(fields) == 2 else plain.grade(fields[3], line)
        except InputError as error:
            raise error.at(path, line) from None
        if grade >= 1:
            found.setdefault(fields[0], set()).add(fields[1 if len(fields) == 2 else 2])
    return found


def rows_by_judge(
    rows: Rows, path: str, ids: tuple[str, str], chosen: Sequence[str], owner: str | None = None
) -> dict[str, list[Row]]:
    """Return query, document and grade of each row by column of grades, or by the judge in a column."""
    found: dict[str, list[Row]] = {} if owner else {name: [] for name in chosen}
    first: dict[tuple[str, bytes, bytes], int] = {}
    for place, row in rows:
        try:
            query, document = (identify(row.get(name) or None, name) for name in ids)
            judge = row.get(owner) if owner else ""
            if owner and judge in (None, ""):
                raise InputError("the row does not name a judge")
            for name in chosen:
                grade = grade_in(row.get(name), name, place)
                if grade is not None:
                    judged_by = str(judge) if owner else name
                    before = first.setdefault((judged_by, query, document), place)
                    if before != place:
                        what = f"document '{to_text(document)}'"
                        of = f"query '{to_text(query)}' by '{judged_by}'"
                        raise repeated(what, verb="is judged", of=of, first=place_of(path, before))
                    found.setdefault(judged_by, []).append((query, document, grade))
                elif owner:
                    raise InputError("the row has no grade")
        except InputError as error:
            raise error.at(path, place) from None
    return found


def grade_in(value: Any, column: str, place: int) -> float | None:
    """Read a grade; None where there is none."""
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    try:
        return plain.grade(text.encode(), place)
    except InputError as error:
        raise error.at("", place, found=f"{error.found} (column '{column}')") from None
