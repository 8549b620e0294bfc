"""Write the judgments of a store as qrels: one grade a pair, and in a table what every judge gave."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from leadline.io import judgment_store, tables
from leadline.io.judges import Merged, merge
from leadline.io.judgment_store import Given
from leadline.io.sniff import suffix_of
from leadline.io.tables import QRELS_COLUMNS
from leadline.io.write import write_bytes, write_judgments

DELIMITERS = {".csv": ",", ".tsv": "\t"}


class Exported(NamedTuple):
    """What was written: judgments of all judges, pairs after merging, how many have a note.

    `uncertain` pairs had less than the whole chance to be in the pool, which not every format can say.
    """

    judges: dict[str, int]
    merged: Merged
    notes: int
    uncertain: int
    lost: bool

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Give code, words and count of what was merged and of what the format could not hold."""
        if not (self.lost and self.uncertain):
            return self.merged.remarks
        words = f"probabilities left out: {self.uncertain:,}; a .csv keeps them, for estimated recall"
        return (*self.merged.remarks, ("probabilities", words, self.uncertain))


def export(store: str, target: str, *, rule: str = "majority") -> Exported:
    """Write the judgments of a store to a file, in the format of its suffix.

    CSV and TSV have the columns query_id, doc_id, relevance, probability (where the pool was drawn in part),
    then one for each judge, and note. All other formats hold the merged grade only. The page may be judging
    meanwhile.
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
    return Exported(judges, merged, notes, uncertain, lost=suffix not in DELIMITERS)


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
        given = by_pair[pair]
        grades = [given[judge].judgment.grade if judge in given else "" for judge in judges]
        notes = [f"{judge}: {_line(row.note)}" for judge, row in given.items() if row.note]
        writer.writerow([*pair, grade, *(shares[pair] for _ in drawn), *grades, " | ".join(notes)])
    return file.getvalue()


def _line(note: str) -> str:
    return " ".join(note.split())
