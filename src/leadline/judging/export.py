"""Write the judgments of a store as qrels: one grade a pair, and in a table what every judge gave."""

from __future__ import annotations

import csv
import io
from contextlib import closing
from typing import NamedTuple

from leadline.errors import InputError
from leadline.formats import sqlite, table
from leadline.formats.kinds import suffix_of
from leadline.formats.merging import Judgment, Merged, merge
from leadline.formats.table import QRELS_COLUMNS
from leadline.formats.writing import compressed, write_judgments, write_whole

DELIMITERS = {".csv": ",", ".tsv": "\t"}


class Exported(NamedTuple):
    """What was written: judgments of all judges, pairs after merging, how many have a note."""

    judges: dict[str, int]
    merged: Merged
    notes: int


class _Row(NamedTuple):
    judgment: Judgment
    probability: float
    note: str


def export(store: str, target: str, *, rule: str = "majority") -> Exported:
    """Write the judgments of a store to a file, in the format of its suffix.

    CSV and TSV have the columns query_id, doc_id, relevance, probability, then one for each judge, then note.
    All other formats hold the merged grade only. The page may be judging meanwhile.
    """
    rows = _rows(store)
    merged = merge((row.judgment for row in rows), rule)
    suffix = suffix_of(target)
    if suffix in DELIMITERS:
        text = _table(rows, merged, DELIMITERS[suffix])
        write_whole(target, compressed(target, text.encode("utf-8")))
    else:
        judged = [(query, name, grade) for (query, name), grade in merged.grades.items()]
        write_judgments(table.Table(QRELS_COLUMNS, judged), target)
    judges: dict[str, int] = {}
    for row in rows:
        judges[row.judgment.judge] = judges.get(row.judgment.judge, 0) + 1
    return Exported(judges, merged, sum(bool(row.note) for row in rows))


def _rows(store: str) -> list[_Row]:
    with sqlite.faults(store), closing(sqlite.connect(store)) as connection:
        rows = connection.execute(
            "SELECT query, document, judge, grade, probability, note FROM judgments "
            "ORDER BY query, document, judge"
        )
        found = [_Row(Judgment(*row[:4]), *row[4:]) for row in rows]
    if not found:
        raise InputError("holds no judgments yet", expected="judged documents", path=store)
    return found


def _table(rows: list[_Row], merged: Merged, delimiter: str) -> str:
    judges = sorted({row.judgment.judge for row in rows})
    by_pair: dict[tuple[str, str], dict[str, _Row]] = {}
    for row in rows:
        by_pair.setdefault(row.judgment[:2], {})[row.judgment.judge] = row
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow([*QRELS_COLUMNS, "probability", *judges, "note"])
    for pair, grade in merged.grades.items():
        given = by_pair[pair]
        writer.writerow(
            [*pair, grade, next(iter(given.values())).probability,
             *(given[judge].judgment.grade if judge in given else "" for judge in judges),
             " | ".join(f"{judge}: {_line(row.note)}" for judge, row in given.items() if row.note)]
        )  # fmt: skip
    return file.getvalue()


def _line(note: str) -> str:
    return " ".join(note.split())
