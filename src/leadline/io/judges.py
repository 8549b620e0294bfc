"""Read the judgments of several judges, and make one grade of them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from leadline.data.ids import to_bytes
from leadline.data.qrels import QrelsColumns
from leadline.data.table import DRAWN_POOL
from leadline.data.wording import listed
from leadline.errors import InputError, UsageError, either
from leadline.io import row_columns
from leadline.io.formats import SQLITE_STORE, opened, records_of
from leadline.io.id_lists import Row, grade_in, rows_by_judge
from leadline.io.objects import read_qrels
from leadline.io.opening import PARQUET, first_bytes
from leadline.io.python_inputs import open_frame, rows_of_frame
from leadline.io.read import QrelsLike, qrels_of
from leadline.io.row_checks import EMPTY
from leadline.io.row_columns import DOCUMENT, GRADE, JUDGE, QUERY, RANK, SCORE, find
from leadline.io.run_names import run_name
from leadline.io.small_tables import Rows, need_columns, records, split_place

JudgesLike: TypeAlias = "str | os.PathLike[str] | Sequence[QrelsLike] | Mapping[str, QrelsLike]"

GRADES = (*GRADE, *SCORE)  # columns that `read_qrels` takes as grades


class Judge(NamedTuple):
    """What one judge said; `path` is where it was read, empty for memory."""

    name: str
    qrels: QrelsColumns
    path: str = ""


def read_judges(source: JudgesLike) -> list[Judge]:
    """Read judges from files, or from a dictionary of qrels by name, in the order given.

    A file of qrels is one judge, called as the file. A table with a column `judge` (or judge_id, assessor,
    annotator) holds one judgment a line. A table with ids and no column of grades has one judge a column; an
    empty cell was not judged. `FILE:COLUMN` is one column of such a table, `FILE:*` all but the grades,
    probabilities and notes. The store of a judging page holds all its judges, `STORE:NAME` is one of them.

    >>> judges = read_judges({"ann": {"q1": {"d1": 1}}, "ben": {"q1": {"d1": 0}}})
    >>> [judge.name for judge in judges]
    ['ann', 'ben']
    """
    if isinstance(source, Mapping):
        found = [Judge(name, read_qrels(qrels)) for name, qrels in source.items()]
    else:
        alone = isinstance(source, (str, os.PathLike)) or open_frame(source) is not None
        places: Any = [source] if alone else source
        found = [judge for number, place in enumerate(places, start=1) for judge in _given(place, number)]
    seen: dict[str, Judge] = {}
    for judge in found:
        other = seen.setdefault(judge.name, judge)
        if other is not judge:
            paths = list(dict.fromkeys(filter(None, (other.path, judge.path))))
            files = f" ({listed(paths)})" if paths else ""
            raise UsageError(
                f"two judges are both named '{judge.name}'{files}. Rename one of the judges, or pass "
                "each judge only once"
            )
    return found


def _given(place: Any, number: int) -> list[Judge]:
    if isinstance(place, (str, os.PathLike)):
        return _of_file(os.fspath(place))
    frame = open_frame(place)
    if frame is not None and (find(frame.columns, JUDGE) or not find(frame.columns, GRADES)):
        rows = (
            {
                name: None if isinstance(cell, float) and math.isnan(cell) else cell
                for name, cell in row.items()
            }
            for row in rows_of_frame(frame)
        )
        return _of_table(enumerate(rows, start=1), frame.columns, "", "")
    return [Judge(f"judge {number}", read_qrels(place))]


def judge_name(path: str) -> str:
    """Return the name of a judge: the file's less its ending, and less `.qrels`.

    >>> judge_name("judges/ann.qrels.txt"), judge_name("qrels.txt.gz")
    ('ann', 'qrels')
    """
    return run_name(path).removesuffix(".qrels")


def _of_file(place: str) -> list[Judge]:
    path, column = split_place(place)
    file = opened(path)
    if file.format is SQLITE_STORE:
        return _of_store(path, column)
    binary = file.format.name == "parquet" and (first_bytes(path) or b"").startswith(PARQUET)
    if binary or file.format.name in {"csv", "jsonl"}:
        header = next((list(row) for _, row in records(path, quoted=True)), [])
        if not header:
            raise InputError("contains no judgments", path=path, hint=EMPTY)
        if not column and find(header, GRADE) is None and find(header, SCORE) and find(header, RANK):
            raise InputError(
                f"has the columns {find(header, SCORE)} and {find(header, RANK)}, as a run does",
                path=path,
                hint="Pass judgments. To see how similar runs are, use `leadline difference QRELS RUN RUN`",
            )
        one = find(header, GRADE) is not None or _judges_in(header) == [find(header, SCORE)]
        if column or not one or find(header, JUDGE):
            return _of_table(records(path, quoted=True), header, path, column)
    elif file.format.name == "json" and not column:
        rows = records_of(file, "grade")
        if any(rows.chosen[5:]):
            by_judge = _by_judge(rows)
            return [Judge(name, QrelsColumns.of(said, source=path), path) for name, said in by_judge.items()]
        file = opened(path)
    elif column:
        raise InputError(
            f"column '{column}' cannot be selected in this file format",
            path=path,
            hint="Pass CSV, TSV, JSON Lines or Parquet with one column per judge",
        )
    return [Judge(judge_name(path), qrels_of(file, sure=True), path)]


def _by_judge(rows: row_columns.Records) -> dict[str, list[Row]]:
    """Return the rows of each judge, as of a book of Quepid."""
    found: dict[str, list[Row]] = {}
    for place, query, document, value, _ in rows.rows:
        grade = grade_in(value, "rating", place)
        if grade is not None:
            row = to_bytes(str(query)), to_bytes(str(document)), grade
            found.setdefault(rows.judges[-1], []).append(row)
    return found


def _of_store(path: str, wanted: str) -> list[Judge]:
    from leadline.io import judgment_store

    found: dict[str, list[Row]] = {}
    stored = judgment_store.read(path)
    for given in stored.given:
        query, document, judge, grade = given.judgment
        row = to_bytes(query), to_bytes(document), float(grade)
        found.setdefault(judge, []).append(row)
    if wanted not in ("", "*", *found):
        raise InputError(f"has no judge '{wanted}'", path=path, hint=f"Use {either(found)}")
    return [
        _judge(name, rows, path, drawn=stored.pool is not None)
        for name, rows in sorted(found.items())
        if wanted in ("", "*", name)
    ]


def _ids_of(header: Sequence[str], path: str) -> tuple[str, str]:
    """Return the columns of queries and documents."""
    for names in (QUERY, DOCUMENT):
        need_columns(header, [] if find(header, names) else names[:1], path, 1 if path else None)
    return str(find(header, QUERY)), str(find(header, DOCUMENT))


def _judges_in(header: Sequence[str]) -> list[str]:
    """Return the columns with the grades of one judge each; one without a name is an index."""
    beside = {"", *QUERY, *DOCUMENT, *JUDGE, *GRADE, *row_columns.SUBTOPIC, *row_columns.BESIDE}
    beside |= {f"{name} {column}" for name in header for column in row_columns.BESIDE_JUDGE}
    return [name for name in header if name not in beside]


def _of_table(rows: Rows, header: Sequence[str], path: str, column: str) -> list[Judge]:
    """Return the judges of a table with a column `judge`, or with a column for each."""
    owner, grade = find(header, JUDGE), find(header, GRADE)
    ids = _ids_of(header, path)
    if column not in ("", "*"):
        owner, chosen = None, [column]
    else:
        chosen = [find(header, GRADES) or "grade"] if owner else _judges_in(header)
    need_columns(header, chosen, path, 1 if path else None)
    if not chosen:
        found = "the table has no grade column"
        hint = "Add one grade column per judge"
        if grade is not None:
            found = "the table does not name judges"
            hint = f"Add a `judge` column. If all grades are from one judge, leave out ':{column}'"
        raise InputError(found, path=path, line=1 if path else None, hint=hint)
    share = row_columns.probability_in(header)
    shares: list[float] = []

    def noted() -> Rows:
        for place, row in rows:
            try:
                shares.append(row_columns.share_of(row.get(str(share)) or None))
            except InputError as error:
                raise error.at(path, place) from None
            yield place, row

    by_judge = rows_by_judge(noted(), path, ids, chosen, owner)
    drawn = min(shares, default=1.0) < 1
    return [_judge(name, said, path, drawn=drawn) for name, said in by_judge.items()]


def _judge(name: str, rows: Sequence[Row], path: str, *, drawn: bool) -> Judge:
    qrels = QrelsColumns.of(rows, source=path)
    if drawn:
        qrels.remarks = ((DRAWN_POOL, f"judgments from a drawn pool: {len(rows):,}", len(rows)),)
    return Judge(name, qrels, path)
