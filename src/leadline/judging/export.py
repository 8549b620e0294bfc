"""Export of a store as qrels: one merged grade per pair, and in tables the grades of every judge."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from leadline.io import judgment_store, tables
from leadline.io.formats import BY_SUFFIX, TREC, suffix_of
from leadline.io.judges import BESIDE_JUDGE, Merged, merge
from leadline.io.judgment_store import Given
from leadline.io.tables import QRELS_COLUMNS
from leadline.io.write import write_bytes, write_judgments

DELIMITERS = {".csv": ",", ".tsv": "\t"}


class ExportSummary(NamedTuple):
    """Summary of an export: numbers of judgments, of pairs after merging, and of notes.

    `lost` is whether the pool was drawn, and the format has no place for probabilities.
    """

    judges: dict[str, int]
    merged: Merged
    notes: int
    lost: bool

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Return code, message and count of merged pairs and of what the format could not store."""
        if not self.lost:
            return self.merged.remarks
        pairs = len(self.merged.grades)
        message = (
            f"probabilities left out: {pairs:,}; the file does not say that its judgments are a sample, for "
            "`leadline evaluate --pool` only; a .csv does"
        )
        return (*self.merged.remarks, ("probabilities", message, pairs))


def export(store: str, target: str, *, rule: str = "majority") -> ExportSummary:
    """Write the judgments of a store to a file, in the format of its suffix.

    CSV and TSV have the columns query_id, doc_id, relevance, probability (of a drawn pool), one column per
    judge, and note; then for each judge the form of presentation, the seconds, and whether the full text was
    opened, if the page recorded them. Other tables have the merged grade and the probability, TREC files the
    grade only. The store may be in use by the judging page.
    """
    rows, drawn = judgment_store.read(store)
    merged = merge((row.judgment for row in rows), rule)
    suffix = suffix_of(target)
    if suffix in DELIMITERS:
        write_bytes(target, _table(rows, merged, DELIMITERS[suffix], drawn=drawn).encode("utf-8"))
    else:
        shares = _shares(rows) if drawn else None
        judged = [
            (*pair, grade) if shares is None else (*pair, grade, shares[pair])
            for pair, grade in merged.grades.items()
        ]
        places = {query: place for place, query in enumerate(dict.fromkeys(row[0] for row in judged))}
        judged.sort(key=lambda row: places[row[0]])  # judges leave a query and return to it
        more = () if shares is None else ("probability",)
        write_judgments(tables.OutputTable((*QRELS_COLUMNS, *more), judged), target)
    judges: dict[str, int] = {}
    for row in rows:
        judges[row.judgment.judge] = judges.get(row.judgment.judge, 0) + 1
    notes = sum(bool(row.note) for row in rows)
    lost = drawn and BY_SUFFIX.get(suffix, TREC) is TREC
    return ExportSummary(judges, merged, notes, lost)


def _shares(rows: Sequence[Given]) -> dict[tuple[str, str], float]:
    """Return the probability of every judged pair."""
    return {row.judgment[:2]: row.probability for row in rows}


def _table(rows: Sequence[Given], merged: Merged, delimiter: str, *, drawn: bool) -> str:
    judges = sorted({row.judgment.judge for row in rows})
    by_pair: dict[tuple[str, str], dict[str, Given]] = {}
    for row in rows:
        by_pair.setdefault(row.judgment[:2], {})[row.judgment.judge] = row
    shares = _shares(rows)
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    effort = judges if any(row.form or row.seconds is not None for row in rows) else []
    beside = [f"{judge} {column}" for judge in effort for column in BESIDE_JUDGE]
    writer.writerow([*QRELS_COLUMNS, *["probability"] * drawn, *judges, "note", *beside])
    for pair, grade in merged.grades.items():
        judged = by_pair[pair]
        grades = [judged[judge].judgment.grade if judge in judged else "" for judge in judges]
        notes = [f"{judge}: {_line(row.note)}" for judge, row in judged.items() if row.note]
        spent = [judged[judge][3:] if judge in judged else [""] * len(BESIDE_JUDGE) for judge in effort]
        cells = [*pair, grade, *[shares[pair]] * drawn, *grades, " | ".join(notes), *chain(*spent)]
        writer.writerow(cells)
    return file.getvalue()


def _line(note: str) -> str:
    return " ".join(note.split())
