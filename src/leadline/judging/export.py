"""Export of a store as qrels: one merged grade per pair, and in tables the grades of every judge."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from leadline.data.judgment_tables import DrawnPool
from leadline.io import judgment_store, tables
from leadline.io.formats import BY_SUFFIX, TREC, suffix_of
from leadline.io.judges import BESIDE_JUDGE
from leadline.io.judgment_store import Given
from leadline.io.merged_judgments import Merged, merge
from leadline.io.objects import read_qrels
from leadline.io.pool_files import DRAWN_COLUMNS, remarks_of
from leadline.io.row_checks import machine_remarks
from leadline.io.row_columns import JUDGES_LINE, MACHINE_LINE
from leadline.io.tables import QRELS_COLUMNS
from leadline.io.write import write_bytes, write_table

DELIMITERS = {".csv": ",", ".tsv": "\t"}


class ExportSummary(NamedTuple):
    """Summary of an export: numbers of judgments, of pairs after merging, and of notes.

    `lost` is what of a drawn pool the format has no place for: probabilities, pairs without a judgment.
    """

    judges: dict[str, int]
    merged: Merged
    notes: int
    lost: str

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Return code, message and count of merged pairs and of what the format could not store."""
        if not self.lost:
            return self.merged.remarks
        pairs = len(self.merged.grades)
        message = (
            f"the file lacks {self.lost}, so use it only with `leadline evaluate --pool`; a .csv or .tsv "
            "file keeps everything"
        )
        return (*self.merged.remarks, ("probabilities", message, pairs))


def export(store: str, target: str, *, rule: str = "majority") -> ExportSummary:
    """Write the judgments of a store to a file, in the format of its suffix.

    CSV and TSV have the columns query_id, doc_id, relevance, one column per judge, and note; then for each
    judge the form of presentation, the seconds, and whether the full text was opened, if the page recorded
    them. Those of a drawn pool are that pool too: they have the columns probability, order and contributors,
    its pairs without a judgment as rows without a grade, and the rest of its frame as remarks. Other tables
    have the merged grade and the probability, TREC files the grade only. If judges gave unlike grades, CSV
    and TSV begin with a remark that names their columns, by which each of them counts. Files are marked if a
    judge is an automatic one; those that cannot be are refused. The store may be in use by the judging page.
    """
    rows, drawn = judgment_store.read(store)
    merged = merge((row.judgment for row in rows), rule)
    machine = tables.machine_of(machine_remarks([row.judgment.judge for row in rows]))
    suffix = suffix_of(target)
    bare = suffix == ".json" or BY_SUFFIX.get(suffix, TREC) is TREC  # query, document and grade alone
    if suffix in DELIMITERS:
        pool = judgment_store.pool(store) if drawn else None
        pool = None if pool is None else replace(pool, owners=judgment_store.owners(store))
        pairs = judgment_store.pairs(store) if drawn else []
        text = _table(rows, merged, DELIMITERS[suffix], pairs=pairs, pool=pool, path=target)
        mark = f"{MACHINE_LINE} {machine}\n" if machine else ""
        names = sorted({row.judgment.judge for row in rows})
        if rule == "majority" and merged.votes:  # else each pair counts with its merged grade
            mark += f"{JUDGES_LINE}{json.dumps(names, ensure_ascii=False)}\n"
        write_bytes(target, f"{mark}{text}".encode())
    else:
        shares = _shares(rows) if drawn and not bare else None
        if shares is not None:
            read_qrels(store).refuse_part_judged()
        judged = [
            (*pair, grade) if shares is None else (*pair, grade, shares[pair])
            for pair, grade in merged.grades.items()
        ]
        places = {query: place for place, query in enumerate(dict.fromkeys(row[0] for row in judged))}
        judged.sort(key=lambda row: places[row[0]])  # judges leave a query and return to it
        more = () if shares is None else ("probability",)
        write_table(tables.OutputTable((*QRELS_COLUMNS, *more), judged, machine=machine), target)
    judges: dict[str, int] = {}
    for row in rows:
        judges[row.judgment.judge] = judges.get(row.judgment.judge, 0) + 1
    notes = sum(bool(row.note) for row in rows)
    lost = ""
    if drawn and suffix not in DELIMITERS:
        lost = "pairs without a judgment"
        if bare:
            lost = f"probabilities and {lost}"
    return ExportSummary(judges, merged, notes, lost)


def _shares(rows: Sequence[Given]) -> dict[tuple[str, str], float]:
    """Return the probability of every judged pair."""
    return {row.judgment[:2]: row.probability for row in rows}


def _table(
    rows: Sequence[Given],
    merged: Merged,
    delimiter: str,
    *,
    pairs: Sequence[tuple[str, str, float]],
    pool: DrawnPool | None,
    path: str,
) -> str:
    judges = sorted({row.judgment.judge for row in rows})
    by_pair: dict[tuple[str, str], dict[str, Given]] = {}
    for row in rows:
        by_pair.setdefault(row.judgment[:2], {})[row.judgment.judge] = row
    more: dict[tuple[str, str], tuple[object, ...]] = {pair[:2]: pair[2:] for pair in pairs}
    columns: tuple[str, ...] = ("probability",) if pairs else ()
    remarks: list[str] = []
    if pool is not None:
        listed = _of_pool(pool)
        if by_pair.keys() <= listed.keys():  # else the store has pairs of another pool too
            more, columns, remarks = listed, DRAWN_COLUMNS[2:], remarks_of(pool, path)
    file = io.StringIO()
    file.writelines(f"{remark}\n" for remark in remarks)
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    effort = judges if any(row.form or row.seconds is not None for row in rows) else []
    beside = [f"{judge} {column}" for judge in effort for column in BESIDE_JUDGE]
    writer.writerow([*QRELS_COLUMNS, *columns, *judges, "note", *beside])
    unjudged = [pair for pair in more if pair not in merged.grades]
    for pair in (*merged.grades, *unjudged):
        judged = by_pair.get(pair, {})
        grades = [judged[judge].judgment.grade if judge in judged else "" for judge in judges]
        notes = [f"{judge}: {_line(row.note)}" for judge, row in judged.items() if row.note]
        spent = [judged[judge][3:] if judge in judged else [""] * len(BESIDE_JUDGE) for judge in effort]
        cells = [*pair, merged.grades.get(pair, ""), *more.get(pair, ()), *grades, " | ".join(notes)]
        writer.writerow([*cells, *chain(*spent)])
    return file.getvalue()


def _of_pool(pool: DrawnPool) -> dict[tuple[str, str], tuple[object, ...]]:
    """Return probability, order and contributors of every drawn pair."""
    return {
        (pool.queries[row], pool.documents[row]): (
            float(pool.probability[row]),
            float(pool.order[row]),
            json.dumps(dict(pool.contributors[row]), ensure_ascii=False, separators=(",", ":")),
        )
        for row in np.flatnonzero(pool.drawn).tolist()
    }


def _line(note: str) -> str:
    return " ".join(note.split())
