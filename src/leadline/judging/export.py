"""Export of a store as qrels: one merged grade per pair, and in tables the grades of every judge."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from leadline.io import judgment_store, tables
from leadline.io.formats import suffix_of
from leadline.io.judges import Merged, merge
from leadline.io.judgment_store import Given
from leadline.io.tables import QRELS_COLUMNS
from leadline.io.write import write_bytes, write_judgments

DELIMITERS = {".csv": ",", ".tsv": "\t"}


class ExportSummary(NamedTuple):
    """Summary of an export: numbers of judgments, of pairs after merging, and of notes.

    `uncertain` is the number of pairs with an inclusion probability below 1, which some formats cannot store.
    """

    judges: dict[str, int]
    merged: Merged
    notes: int
    uncertain: int
    lost: bool

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Return code, message and count of merged pairs and of what the format could not store."""
        if not (self.lost and self.uncertain):
            return self.merged.remarks
        message = f"probabilities left out: {self.uncertain:,}; a .csv keeps them, for estimated recall"
        return (*self.merged.remarks, ("probabilities", message, self.uncertain))


def export(store: str, target: str, *, rule: str = "majority") -> ExportSummary:
    """Write the judgments of a store to a file, in the format of its suffix.

    CSV and TSV have the columns query_id, doc_id, relevance, probability (for a sampled pool), one column per
    judge, and note. Other formats contain the merged grade only. The store may be in use by the judging page.
    """
    rows = judgment_store.read(store)
    merged = merge((row.judgment for row in rows), rule)
    suffix = suffix_of(target)
    if suffix in DELIMITERS:
        write_bytes(target, _table(rows, merged, DELIMITERS[suffix]).encode("utf-8"))
    else:
        judged = [(query, name, grade) for (query, name), grade in merged.grades.items()]
        write_judgments(tables.OutputTable(QRELS_COLUMNS, judged), target)
    judges: dict[str, int] = {}
    for row in rows:
        judges[row.judgment.judge] = judges.get(row.judgment.judge, 0) + 1
    uncertain = len({row.judgment[:2] for row in rows if row.probability != 1})
    notes = sum(bool(row.note) for row in rows)
    return ExportSummary(judges, merged, notes, uncertain, lost=suffix not in DELIMITERS)


def _table(rows: Sequence[Given], merged: Merged, delimiter: str) -> str:
    judges = sorted({row.judgment.judge for row in rows})
    by_pair: dict[tuple[str, str], dict[str, Given]] = {}
    for row in rows:
        by_pair.setdefault(row.judgment[:2], {})[row.judgment.judge] = row
    shares = {row.judgment[:2]: row.probability for row in rows}
    drawn = ["probability"] if any(share != 1 for share in shares.values()) else []
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow([*QRELS_COLUMNS, *drawn, *judges, "note"])
    for pair, grade in merged.grades.items():
        judged = by_pair[pair]
        grades = [judged[judge].judgment.grade if judge in judged else "" for judge in judges]
        notes = [f"{judge}: {_line(row.note)}" for judge, row in judged.items() if row.note]
        writer.writerow([*pair, grade, *(shares[pair] for _ in drawn), *grades, " | ".join(notes)])
    return file.getvalue()


def _line(note: str) -> str:
    return " ".join(note.split())
