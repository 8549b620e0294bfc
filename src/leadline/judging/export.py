"""Export of a store as qrels: one merged grade per pair, and in tables the grades of every judge."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from leadline.data.judgment_tables import DrawnPool, Merged, merge
from leadline.data.wording import counted
from leadline.io import judgment_store, tables
from leadline.io.formats import BY_SUFFIX, TREC, suffix_of
from leadline.io.judgment_store import Given
from leadline.io.objects import read_qrels
from leadline.io.pool_files import DRAWN_COLUMNS, remarks_of
from leadline.io.row_checks import machine_remarks
from leadline.io.row_columns import BESIDE_JUDGE, JUDGES_LINE, MACHINE_LINE
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
    outside: int  # judged pairs that are not in the drawn pool

    @property
    def remarks(self) -> tuple[tuple[str, str, int], ...]:
        """Return code, message and count of merged pairs, and of what the pool or the format lacks."""
        found = list(self.merged.remarks)
        if self.outside:
            noun = counted(self.outside, "judged pair is", "judged pairs are")
            message = f"{noun} not in the pool that the store keeps, so estimates exclude them"
            found.append(("outside_pool", message, self.outside))
        if self.lost:
            message = (
                f"the file lacks {self.lost}, so use it only with --pool, as in `leadline evaluate --pool`; "
                "a .csv or .tsv file keeps them"
            )
            found.append(("probabilities", message, len(self.merged.grades)))
        return tuple(found)


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
    stored = judgment_store.read(store)
    rows, pool, shares = stored.given, stored.pool, stored.shares
    merged = merge((row.judgment for row in rows), rule)
    machine = tables.machine_of(machine_remarks([row.judgment.judge for row in rows]))
    suffix = suffix_of(target)
    bare = suffix == ".json" or BY_SUFFIX.get(suffix, TREC) is TREC  # query, document and grade alone
    if suffix in DELIMITERS:
        text = _table(rows, merged, DELIMITERS[suffix], pool=pool, path=target)
        mark = f"{MACHINE_LINE} {machine}\n" if machine else ""
        names = sorted({row.judgment.judge for row in rows})
        if rule == "majority" and merged.votes:  # else each pair counts with its merged grade
            mark += f"{JUDGES_LINE}{json.dumps(names, ensure_ascii=False)}\n"
        write_bytes(target, f"{mark}{text}".encode())
    else:
        more = () if pool is None or bare else ("probability",)
        if more:
            read_qrels(store).refuse_part_judged()
        judged = [(*pair, grade, *(shares.get(pair) for _ in more)) for pair, grade in merged.grades.items()]
        places = {query: place for place, query in enumerate(dict.fromkeys(row[0] for row in judged))}
        judged.sort(key=lambda row: places[row[0]])  # judges leave a query and return to it
        write_table(tables.OutputTable((*QRELS_COLUMNS, *more), judged, machine=machine), target)
    judges = Counter(row.judgment.judge for row in rows)
    notes = sum(bool(row.note) for row in rows)
    lost = ""
    if pool is not None and suffix not in DELIMITERS:
        unjudged = "pairs without a judgment" if shares.keys() - merged.grades.keys() else ""
        lost = " and ".join(filter(None, ("probabilities" if bare else "", unjudged)))
        lost = lost or "the order and design of the pool" * bool(pool.design)
    outside = 0 if pool is None else len(merged.grades.keys() - shares.keys())
    return ExportSummary(judges, merged, notes, lost, outside)


def _table(
    rows: Sequence[Given], merged: Merged, delimiter: str, *, pool: DrawnPool | None, path: str
) -> str:
    judges = sorted({row.judgment.judge for row in rows})
    by_pair: dict[tuple[str, str], dict[str, Given]] = {}
    for row in rows:
        by_pair.setdefault(row.judgment[:2], {})[row.judgment.judge] = row
    more = {} if pool is None else _of_pool(pool)
    columns: tuple[str, ...] = () if pool is None else DRAWN_COLUMNS[2:] if pool.design else ("probability",)
    file = io.StringIO()
    file.writelines(f"{remark}\n" for remark in (remarks_of(pool, path) if pool and pool.design else ()))
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    effort = judges if any(row.form or row.seconds is not None for row in rows) else []
    beside = [f"{judge} {column}" for judge in effort for column in BESIDE_JUDGE]
    writer.writerow([*QRELS_COLUMNS, *columns, *judges, "note", *beside])
    unjudged = [pair for pair in more if pair not in merged.grades]
    for pair in (*merged.grades, *unjudged):
        judged = by_pair.get(pair, {})
        grades = [judged[judge].judgment.grade if judge in judged else "" for judge in judges]
        notes = [f"{judge}: {' '.join(row.note.split())}" for judge, row in judged.items() if row.note]
        spent = [judged[judge][2:] if judge in judged else [""] * len(BESIDE_JUDGE) for judge in effort]
        of_pool = more.get(pair, [""] * len(columns))[: len(columns)]
        cells = [*pair, merged.grades.get(pair, ""), *of_pool, *grades, " | ".join(notes)]
        writer.writerow([*cells, *chain(*spent)])
    return file.getvalue()


def _of_pool(pool: DrawnPool) -> dict[tuple[str, str], Sequence[object]]:
    """Return probability, order and contributors of every drawn pair."""
    return {
        pair: (
            float(pool.probability[row]),
            float(pool.order[row]),
            json.dumps(dict(pool.contributors[row]), ensure_ascii=False, separators=(",", ":")),
        )
        for pair, row in pool.drawn_rows().items()
    }
