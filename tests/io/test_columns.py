"""Runs and judgments in columns: the same lists, the same values and the same refusals as row by row."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leadline as ll
from leadline import kernels
from leadline.errors import LeadlineError
from leadline.evaluation.join import judge
from leadline.io import columns, row_checks
from leadline.io.objects import read_qrels, read_run

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NAMES = ["query_id", "doc_id", "score", "rank", "tag"]
QRELS = {"q1": {"d1": 2, "d2": 0, "é": 1}, "q2": {"d1": 1}, "": {"d3": 1}}
JUDGED = ll.Qrels(QRELS)
RUN = [
    ("q1", "d2", 2.5, 1, "bm25"),
    ("q1", "d1", 2.5, 2, "bm25"),
    ("q1", "é", -1e-300, 3, "bm25"),
    ("q2", "d7", 0.1, 1, "bm25"),
    ("q3", "d1", 7.0, 1, "bm25"),
]


def table_of(rows: list[tuple[Any, ...]]) -> Any:
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(NAMES)})


def ipc_bytes(table: Any, *, stream: bool = False) -> bytes:
    target = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(target, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return target.getvalue()


def parquet_bytes(table: Any) -> bytes:
    target = io.BytesIO()
    parquet.write_table(table, target, row_group_size=2)
    return target.getvalue()


def as_csv(rows: list[tuple[Any, ...]], delimiter: str = ",") -> bytes:
    lines = [delimiter.join(NAMES), *(delimiter.join(map(str, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def as_json_lines(rows: list[tuple[Any, ...]]) -> bytes:
    lines = [json.dumps(dict(zip(NAMES, row, strict=True)), ensure_ascii=False) for row in rows]
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


def chunked(table: Any) -> Any:
    return pa.concat_tables([table.slice(place, 1) for place in range(len(table))])


def with_types(table: Any, text: Any) -> Any:
    for place, name in enumerate(("query_id", "doc_id")):
        table = table.set_column(place, name, table[name].cast(text))
    return table


FRAMES: dict[str, Callable[[Any], Any]] = {
    "arrow": lambda table: table,
    "chunks": chunked,
    "slice": lambda table: pa.concat_tables([table, table]).combine_chunks().slice(len(table)),
    "large": lambda table: with_types(table, pa.large_string()),
    "view": lambda table: with_types(table, pa.string_view()),
    "dictionary": lambda table: with_types(table, pa.dictionary(pa.int32(), pa.string())),
    "polars": pl.from_arrow,
    "lazy": lambda table: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]  # a frame, of a table
    "pandas": lambda table: table.to_pandas(),
    "objects": lambda table: table.to_pandas().astype({"query_id": object, "doc_id": object}),
}
FILES: dict[str, Callable[[list[tuple[Any, ...]]], bytes]] = {
    "a.parquet": lambda rows: parquet_bytes(table_of(rows)),
    "a.arrow": lambda rows: ipc_bytes(table_of(rows)),
    "b.arrow": lambda rows: ipc_bytes(table_of(rows), stream=True),
    "a.csv": as_csv,
    "a.tsv": lambda rows: as_csv(rows, "\t"),
    "a.jsonl": as_json_lines,
}


@pytest.fixture
def no_rows(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a row becomes an object, unless the kernels are not compiled."""
    if kernels.compiled is not None and kernels.compiled.scan_records is None:
        pytest.skip("the kernels are those of an earlier version")
    if form == "compiled":
        monkeypatch.setattr(row_checks, "lists_of", lambda *_, **__: pytest.fail("rows were read one by one"))


def values_of(run: Any) -> list[str]:
    """Return the values of all queries, to the last bit."""
    result = ll.evaluate(JUDGED, run, ["AP", "nDCG", "RR", "P@2"])
    (name,) = result.names
    return [repr(result.value(name, query, each)) for each in result.measures for query in result.queries]


@pytest.fixture
def text(tmp_path: Path) -> list[str]:
    path = tmp_path / "run.txt"
    path.write_text("".join(f"{q} Q0 {d} {rank} {score!r} {tag}\n" for q, d, score, rank, tag in RUN))
    return values_of(path)


@pytest.mark.usefixtures("form", "no_rows")
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_gives_the_values_of_the_text(name: str, text: list[str]) -> None:
    assert values_of(FRAMES[name](table_of(RUN))) == text


@pytest.mark.usefixtures("form", "no_rows")
@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_the_values_of_the_text(name: str, text: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name](RUN))
    assert values_of(path) == text


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("size", [1, 100])
def test_a_file_of_several_runs_is_refused(
    size: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "BATCH_ROWS", size)
    path = tmp_path / name
    path.write_bytes(FILES[name]([*RUN[:4], (*RUN[4][:4], "dense")]))
    found = "column 'tag' names 2 runs (bm25, dense), but leadline reads one run per table"
    with pytest.raises(LeadlineError, match=re.escape(found)):
        read_run(path)
    assert found in str(ll.check(path))


@pytest.mark.usefixtures("form", "no_rows")
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lists_may_cross_stretches_and_come_back(
    size: int, text: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "BATCH_ROWS", size)
    mixed = [RUN[place] for place in (3, 0, 4, 2, 1)]
    assert values_of(table_of(RUN)) == values_of(table_of(mixed)) == text
    assert read_run(table_of(mixed)) == read_run(table_of(RUN))


@pytest.mark.usefixtures("form", "no_rows")
@pytest.mark.parametrize("name", FRAMES)
def test_judgments_in_columns(name: str) -> None:
    rows = [(query, name, grade) for query, found in QRELS.items() for name, grade in found.items()]
    rows.sort(key=lambda row: row[1])  # queries come back
    cells = zip(*rows, strict=True)
    made = read_qrels(FRAMES[name](pa.table(dict(zip(("query_id", "doc_id", "rel"), cells, strict=True)))))
    assert made == JUDGED
    assert made.relevant(1).sum() == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({2: ("q1", "d2", 1.0, 3, "bm25")}, ["row 3", "d2", "row 1"]),
        ({1: ("q1", "d1", float("nan"), 2, "bm25")}, ["row 2", "score"]),
        ({4: ("q3", None, 7.0, 1, "bm25")}, ["row 5", "doc_id"]),
        ({3: (None, "d1", 7.0, 1, "bm25")}, ["row 4", "query_id"]),
        ({3: ("q2", "d7", None, 1, "bm25")}, ["row 4", "score None"]),
    ],
)
@pytest.mark.parametrize("kind", ["arrow", "polars", "file"])
@pytest.mark.usefixtures("form")
def test_a_fault_is_named_with_its_row(
    change: dict[int, tuple[Any, ...]], said: list[str], kind: str, tmp_path: Path
) -> None:
    table = table_of([change.get(place, row) for place, row in enumerate(RUN)])
    source = FRAMES[kind](table) if kind in FRAMES else tmp_path / "a.parquet"
    if kind == "file":
        Path(source).write_bytes(parquet_bytes(table))
    with pytest.raises(LeadlineError) as refused:
        ll.evaluate(JUDGED, source, ["AP"])
    assert [words for words in said if words not in str(refused.value)] == []


@pytest.mark.usefixtures("form")
def test_whole_numbers_in_columns_of_ids_are_text() -> None:
    table = table_of(RUN).set_column(1, "doc_id", pa.array([1, 2, 3, 4, 5]))
    assert read_run(table)["q2"] == {"4": 0.1}


def outcome(read: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Return what a reader gives, or what it says."""
    try:
        return read(*given, **options)
    except LeadlineError as error:
        return str(error)


def counts_and_lists(source: Any) -> Any:
    name, judged, counts = judge(source, JUDGED, keep=True)
    assert judged.lists is not None
    assert judged.lists.ids is not None
    return (
        name,
        counts,
        [part.tolist() for part in (judged.present, judged.length, judged.rank, judged.row)],
        sorted(zip(judged.lists.ids, judged.lists.scores.tolist(), judged.lists.rows.tolist(), strict=True)),
    )


IDS = st.sampled_from(["q1", "q2", "d1", "d2", "d7", "é", "1", " a", ""])
NUMBERS = st.one_of(st.integers(-3, 3), st.floats(-2, 2), st.sampled_from([float("nan"), float("inf"), -0.0]))
ROWS = st.lists(st.tuples(IDS, IDS, NUMBERS, st.integers(-1, 4), st.sampled_from(["a", "b"])), max_size=12)
CELLS = ["", "x", "nan", "1e3", "+1", " 2", "1_0", "0x1", "inf", '"a"', "#", "a\rb", "\x00", "NULL", "1e999"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=ROWS, name=st.sampled_from([*FRAMES, *FILES]), size=st.integers(1, 5))
def test_columns_and_rows_agree(rows: list[tuple[Any, ...]], name: str, size: int, tmp_path: Path) -> None:
    if name in FRAMES:
        if not rows:
            return
        rows = [(*row[:2], float(row[2]), *row[3:]) for row in rows]
        source = FRAMES[name](table_of(rows))
    else:
        if name.endswith(("parquet", "arrow")):
            rows = [(*row[:2], float(row[2]), *row[3:]) for row in rows]
        source = tmp_path / name
        source.write_bytes(FILES[name](rows))
    compare(source, size)


def compare(source: Any, size: int = 3) -> None:
    """Read a source by columns and by rows, as a run and as judgments."""

    def every() -> list[Any]:
        made = [outcome(counts_and_lists, source), outcome(read_run, source)]
        return [*made, outcome(read_qrels, source, kind="qrels")]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "BATCH_ROWS", size)
        found = every()
        patch.setattr(columns, "_readable", lambda *_: False)
        assert found == every()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    place=st.integers(0, 4),
    column=st.integers(0, 4),
    cell=st.sampled_from(CELLS),
    name=st.sampled_from(["a.csv", "a.tsv"]),
    end=st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \n", b"\n#x\n", b""]),
)
def test_cells_of_text_mean_the_same(
    place: int, column: int, cell: str, name: str, end: bytes, tmp_path: Path
) -> None:
    rows = [list(row) for row in RUN]
    rows[place][column] = cell
    path = tmp_path / name
    path.write_bytes(FILES[name]([tuple(row) for row in rows]).removesuffix(b"\n") + end)
    compare(path)


ODD = [
    b'{"query_id": "q1", "doc_id": "d1", "score": 1}',
    b'{"query_id": "q1", "doc_id": "d2", "score": "1"}',
    b'{"query_id": "q1", "doc_id": "d3", "score": true}',
    b'{"query_id": "q1", "doc_id": 4, "score": 1}',
    b'{"query_id": "q1", "query_id": "q2", "doc_id": "d5", "score": 1}',
    b'{"query_id": "q1", "doc_id": "d6", "score": 1, "x": 1, "x": 2}',
    b'{"query_id": "q1", "doc_id": "d7", "score": 1, "x": {"y": 1, "y": 2}}',
    b'{"query_id": "q1", "doc_id": "d8", "score": NaN}',
    b'{"query_id": "q1", "doc_id": "d9", "score": -Infinity}',
    b'{"query_id": "q1", "doc_id": "d\xff", "score": 1}',
    b'{"query_id": "q1", "doc_id": "d\\udc80", "score": 1}',
    b'{"query_id": "q1", "doc_id": "d\\u0000", "score": 1}',
    b'{"query_id": "q1", "doc_id": "da", "score": 1}{"query_id": "q1", "doc_id": "db", "score": 1}',
    b'{"query_id": "q1", "doc_id": "dc"',
    b', "score": 1}',
    b'{"query_id": "q1", "doc_id": "dd", "score": null}',
    b'{"query_id": "q1", "doc_id": "de"}',
    b'{"query_id": "q1", "doc_id": "df", "score": 123456789012345678901234567890}',
    b' {"query_id": "q2", "doc_id": "dg", "score": 1e-7}',
    b"",
    b"[]",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lines=st.lists(st.sampled_from(ODD), max_size=4))
def test_json_lines_mean_the_same(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([ODD[0].replace(b"d1", b"d0"), *lines]))
    compare(path)


@pytest.mark.usefixtures("no_rows")
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_numbers_in_text_are_read_to_the_last_bit(numbers: list[float]) -> None:
    rows = [("q1", f"d{place}", number, 1, "t") for place, number in enumerate(numbers)]
    for name in ("a.csv", "a.jsonl"):
        found = dict(read_texts(name, FILES[name](rows)))
        assert [np.float64(found[f"d{place}"]).tobytes() for place in range(len(numbers))] == [
            np.float64(number).tobytes() for number in numbers
        ]


def read_texts(name: str, content: bytes) -> list[tuple[str, float]]:
    """Read a run from the bytes of a file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return list(read_run(path)["q1"].items())


def test_nothing_of_a_frame_is_left_behind_in_pandas_objects() -> None:
    frame = pd.DataFrame(RUN, columns=NAMES).astype({"doc_id": object})
    frame.loc[0, "doc_id"] = b"d2"
    with pytest.raises(LeadlineError, match="row 1"):
        ll.evaluate(JUDGED, frame, ["AP"])
