"""Write the judgments of a store as qrels: one grade a pair, and in a table what every judge gave."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from leadline.formats import sqlite, table
from leadline.formats.kinds import suffix_of
from leadline.formats.merging import Merged, merge
from leadline.formats.sqlite import Given
from leadline.formats.table import QRELS_COLUMNS
from leadline.formats.writing import compressed, write_judgments, write_whole

DELIMITERS = {".csv": ",", ".tsv": "\t"}


class Exported(NamedTuple):
    """What was written: judgments of all judges, pairs after merging, how many have a note."""

    judges: dict[str, int]
    merged: Merged
    notes: int


def export(store: str, target: str, *, rule: str = "majority") -> Exported:
    """Write the judgments of a store to a file, in the format of its suffix.

    CSV and TSV have the columns query_id, doc_id, relevance, probability, then one for each judge, then note.
    All other formats hold the merged grade only. The page may be judging meanwhile.
    """
    rows = sqlite.read(store)
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


def _table(rows: Sequence[Given], merged: Merged, delimiter: str) -> str:
    judges = sorted({row.judgment.judge for row in rows})
    by_pair: dict[tuple[str, str], dict[str, Given]] = {}
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
