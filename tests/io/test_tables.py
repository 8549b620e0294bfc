"""One reader of CSV and TSV for whatever is a table: comments, empty lines, quotes, numbers of lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from conftest import Leadline
from leadline.comparison.pairing import read_query_groups
from leadline.errors import InputError
from leadline.io import tables
from leadline.io.id_lists import read_labels
from leadline.io.judges import read_judges
from leadline.io.result_files import read_column
from leadline.io.small_tables import records, split_place
from leadline.io.texts import read_queries

COMMENTED = "# made by hand\n\n#too\n{header}\n\n{rows}\n"

# What a table is read as, its columns, one row, and what comes of it.
READERS: dict[str, tuple[Callable[[str], Any], str, str, Any]] = {
    "run": (lambda path: ll.read_run(path).to_dict(), "query,document,score", "q1,d1,2", {"q1": {"d1": 2.0}}),
    "qrels": (
        lambda path: ll.read_qrels(path).to_dict(),
        "query,document,grade",
        "q1,d1,1",
        {"q1": {"d1": 1}},
    ),
    "labels": (lambda path: read_labels(f"{path}:team"), "run,team", "a,one", {"a": "one"}),
    "groups": (lambda path: read_query_groups(f"{path}:set"), "query,set", "q1,x", {"q1": "x"}),
    "results": (lambda path: read_column(f"{path}:AP").values, "run,AP", "a,0.5", {"a": 0.5}),
    "rows": (lambda path: list(records(path)), "arm,click", "a,1", [(6, {"arm": "a", "click": "1"})]),
    "queries": (
        lambda path: [tuple(one)[:3] for one in read_queries(path)],
        "id,text",
        "q1,ships",
        [("q1", "", "ships")],
    ),
    "judges": (
        lambda path: [(one.name, one.qrels.to_dict()) for one in read_judges(f"{path}:ann")],
        "query,document,ann",
        "q1,d1,1",
        [("ann", {"q1": {"d1": 1}})],
    ),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_lines_that_begin_with_a_number_sign_are_remarks_before_the_header(
    name: str, suffix: str, tmp_path: Path
) -> None:
    read, header, rows, expected = READERS[name]
    path = tmp_path / f"a.{suffix}"
    text = COMMENTED.format(header=header, rows=rows)
    path.write_text(text.replace(",", "\t") if suffix == "tsv" else text)
    assert read(str(path)) == expected


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_below_the_header_they_are_rows(name: str, suffix: str, tmp_path: Path) -> None:
    read, header, rows, expected = READERS[name]
    path = tmp_path / f"a.{suffix}"
    text = COMMENTED.format(header=header, rows=f"#{rows}\n{rows}")
    path.write_text(text.replace(",", "\t") if suffix == "tsv" else text)
    found = read(str(path))
    first = rows.split(",")[0]
    assert f"#{first}" in repr(found)
    assert found != expected


@pytest.mark.parametrize("name", READERS)
def test_a_row_of_too_few_cells_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    read, header, rows, _ = READERS[name]
    path = tmp_path / "a.csv"
    path.write_text(COMMENTED.format(header=header, rows=rows) + rows.rpartition(",")[0] + "\n")
    with pytest.raises(InputError) as rejected:
        read(str(path))
    cells = header.count(",")
    assert str(rejected.value).startswith(f"{path}:7: the row has {cells} cell")


def test_a_comment_inside_quotes_is_text(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text('run,team\na,"one\n# two"\nb,three\n')
    assert read_labels(f"{path}:team") == {"a": "one\n# two", "b": "three"}


def test_a_table_of_comments_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text("# run,team\n# a,one\n")
    with pytest.raises(InputError, match=r"teams\.csv"):
        read_labels(f"{path}:team")


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_query_that_begins_with_a_number_sign_is_written_so_that_it_is_read(
    suffix: str, tmp_path: Path
) -> None:
    run = {"#1": {"#d": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}
    path = str(tmp_path / f"a{suffix}")
    ll.write_run(ll.read_run(run), path)
    assert ll.read_run(path).to_dict() == run


def test_file_and_column_are_split_where_a_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a:b.csv"
    path.write_text("run,AP\na,1\n")
    assert split_place(str(path)) == (str(path), "")
    assert split_place(f"{path}:AP") == (str(path), "AP")
    assert split_place(f"{path}:R(rel=1):x") == (str(path), "R(rel=1):x")
    assert split_place(f"{tmp_path}/none.csv:AP") == (f"{tmp_path}/none.csv", "AP")


# Without a header

PROGRAMS = Path(__file__).parent / "programs"
SCORED = {"q1": {"d2": 2.5, "d1": 0.5}, "q2": {"d3": 1.0}}
RANKED = {"q1": {"d2": -1.0, "d1": -2.0}, "q2": {"d3": -1.0}}


@pytest.mark.parametrize(
    ("name", "columns", "found"),
    [
        ("ms_marco.tsv", "query_id,doc_id,rank", RANKED),
        ("tevatron.tsv", "query_id,doc_id,score", SCORED),
        ("colbert.tsv", "query_id,doc_id,rank,score", SCORED),
    ],
)
@pytest.mark.parametrize("suffix", [".tsv", ".run", ""])
def test_runs_without_a_header_are_read_by_named_columns_alone(
    name: str,
    columns: str,
    found: dict[str, dict[str, float]],
    suffix: str,
    tmp_path: Path,
    leadline: Leadline,
) -> None:
    path = tmp_path / f"sys{suffix}"
    path.write_bytes((PROGRAMS / name).read_bytes())
    named = ("--config", f"read.columns={columns}")
    assert ll.read_run(path, columns=columns).to_dict() == found
    with pytest.raises(InputError, match="columns='query_id,doc_id,"):
        ll.read_run(path)
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 1\nq2 0 d3 1\n")
    results = leadline("evaluate", qrels, path, "-m", "RR", "-f", "json", *named).data
    assert results["runs"][0]["mean"] == {"RR": 0.75}
    piped = leadline("evaluate", qrels, "-", "-m", "RR", "-f", "json", *named, stdin=path.read_bytes()).data
    assert piped["runs"][0]["mean"] == {"RR": 0.75}
    leadline("convert", path, tmp_path / "sys.jsonl", "--config", "read.kind=run", *named)
    assert ll.read_run(tmp_path / "sys.jsonl").to_dict() == found
    assert leadline("check", path, "--config", "read.kind=run", *named).status == 0


def test_commas_separate_columns_without_a_header_too(tmp_path: Path) -> None:
    path = tmp_path / "sys.csv"
    path.write_text("# made by hand\n\nq1,d2,2.5\nq1,d1,1e-1\n")
    assert ll.read_run(path, columns="qid,docno,score").to_dict() == {"q1": {"d2": 2.5, "d1": 0.1}}
    path.write_text("q1,d2,2\nq1,d1,0\n")
    assert ll.read_qrels(path, qrels_columns="qid,docno,grade").to_dict() == {"q1": {"d2": 2, "d1": 0}}


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_cells_without_a_header_may_be_in_quotation_marks(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(delimiter.join(['"q,1"', '"a ""b"""', "2"]))
    assert ll.read_run(path, columns="qid,docno,score").to_dict() == {"q,1": {'a "b"': 2.0}}


@pytest.mark.parametrize("text", ["", "\n", "# by hand\n"])
def test_a_text_without_lines_is_refused_whatever_its_columns_are_called(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="contains no"):
        ll.read_run(path, columns="query_id,doc_id,score")
    with pytest.raises(InputError, match="contains no"):
        ll.read_qrels(path, qrels_columns="query_id,doc_id,grade")


@pytest.mark.parametrize(("name", "letters"), [("ntcir.txt", 0), ("ntcir_letters.txt", 3)])
def test_levels_of_ntcir_are_grades(name: str, letters: int, tmp_path: Path) -> None:
    found = ll.read_qrels(PROGRAMS / name, qrels_columns="topic,docno,relevance")
    assert found.to_dict() == {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
    assert [count for code, _, count in found.remarks if code == "letter_levels"] == [letters] * (letters > 0)
    path = tmp_path / "qrels"
    path.write_text("q1 0 d1 A\nq1 0 d2 L1\n")
    assert ll.read_qrels(path, qrels_columns="qid,-,docno,grade").to_dict() == {"q1": {"d1": 2, "d2": 1}}
    for refused in (PROGRAMS / name, path):
        with pytest.raises(InputError, match=r"qrels_columns='query_id,(iteration,)?doc_id,grade"):
            ll.read_qrels(refused)


@pytest.mark.parametrize(
    "line", ["q1,Q0,d1,1,0.5,tag", "q1,d1,0.5", "q1,d1,1,0.5", "q1,d1,0.5,x,y", "q1,d1,0.5,x,y,z,z"]
)
def test_columns_that_a_refusal_names_as_an_example_read_a_run_between_commas(
    line: str, tmp_path: Path
) -> None:
    path = tmp_path / "bm25.csv"
    path.write_text(line + "\n")
    with pytest.raises(InputError) as refused:
        ll.read_run(path)
    found = re.search(r"columns='([^']+)'", str(refused.value))
    assert found is not None
    assert ll.read_run(path, columns=found[1]).to_dict() == {"q1": {"d1": 0.5}}


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("q1\td1\t3\nq1\td2\t1\n", None, ":1: has 3 columns but no header. Add a header, or"),
        ("q1,Q0,d1,1,0.5,tag\n", None, ":1: has 6 columns but no header. Add a header, or"),
        (
            "q1 d1 1 0.5\n",
            None,
            ":1: the line has 4 columns. A line of a run has 6 columns (query Q0 document rank score tag).",
        ),
        (
            "q1\td1\t0.5\nq1\td2\n",
            "score",
            ":2: the line has 2 columns. Each line needs 3 (query_id, doc_id, score)",
        ),
        ("q1\td1\t0.5\nq1\td2\tx\n", "score", ":2: score 'x' of document 'd2' for query 'q1' is not a"),
        ("q1\td1\t0.5\nq1\t\t0.5\n", "score", ":2: there is no id in column 'doc_id'"),
        ("q1\td1\t1\nq1\td1\t2\n", "rank", ":2: document 'd1' appears twice for query 'q1' (first at line"),
        (
            "q1 d1 0.5\n",
            None,
            ":1: no query ids were found in column 'q1 d1 0.5' because no column is called query_id",
        ),
    ],
)
def test_faults_in_tables_without_a_header_are_refused(
    text: str, columns: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        ll.read_run(path, columns=columns and f"query_id,doc_id,{columns}")
    assert f"{path}{message}" in str(refused.value)


def test_columns_without_a_header_are_named(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "a.tsv"
    for text, columns, found in (
        ("q1\td1\t3\nq1\td2\t1\n", "query_id,doc_id,score", {"q1": {"d1": 3, "d2": 1}}),
        ("q1\td1\t3\nq1\td2\t1\n", "query_id,doc_id,rank", {"q1": {"d2": -1, "d1": -3}}),
        ("2.5,d1,x,q1\n", "score,docno,-,qid", {"q1": {"d1": 2.5}}),
        ("q1 0 d1 0.5\n", "qid,-,docno,score", {"q1": {"d1": 0.5}}),
        ("q1 Q0 d1 1 0.5 t\n", "qid,q0,docno,rank,score,tag", {"q1": {"d1": 0.5}}),
    ):
        path.write_text(text)
        assert ll.read_run(path, columns=columns).to_dict() == found
        qrels = {"q1": {"d1": 1}}
        assert ll.evaluate(qrels, str(path), ["Judged@1"], columns=columns).value("a", "q1", "Judged@1") == (
            next(iter(found["q1"])) == "d1"
        )
    qrels_path = tmp_path / "qrels"
    qrels_path.write_text("q1 0 d1 1\n")
    outcome = leadline(
        *f"evaluate {qrels_path} {path} --config read.columns=qid,q0,docno,rank,score,tag -m RR".split(),
        *"-f json".split(),
    )
    assert outcome.data["runs"][0]["tag"] == "t"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            "query_id,doc_id,text",
            (
                ":1: no scores were found among the columns query_id, doc_id, text because no column is "
                "called score"
            ),
        ),
        (
            "query_id,doc_id,rank,score",
            ":1: the line has 3 columns. Each line needs 4 (query_id, doc_id, rank, score)",
        ),
        ("query_id,query_id,score", ":1: column 'query_id' appears twice"),
        (
            "doc_id,-,score",
            (
                ":1: no query ids were found among the columns doc_id, -, score because no column is called "
                "query_id"
            ),
        ),
        (
            "query_id,doc_id,grade",
            (
                ":1: no scores were found among the columns query_id, doc_id, grade because no column is "
                "called score"
            ),
        ),
    ],
)
def test_names_of_columns_that_do_not_fit_are_refused(columns: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("q1\td1\t3\n")
    with pytest.raises(InputError) as refused:
        ll.read_run(path, columns=columns)
    assert f"{path}{message}" in str(refused.value)


@pytest.mark.parametrize("name", ["rank", "position", "pos"])
def test_ranks_have_several_names_and_a_header_is_told_from_data(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"docid,qid,{name}\nd2,q1,2\nd1,q1,1\n")
    assert list(ll.read_run(path, order="rank").to_dict()["q1"]) == ["d1", "d2"]
    with pytest.raises(InputError, match=r"the first line looks like a header \(docid, qid, "):
        ll.read_run(path, columns=f"doc_id,query_id,{name}")
    path.write_text("x,y,z\nd2,q1,2\nd1,q1,1\n")
    with pytest.raises(InputError, match=f"rename the columns to doc_id, query_id, {name}, or delete"):
        ll.read_run(path, columns=f"doc_id,query_id,{name}")
    path.write_text("d2,q1,2\nd1,q1,1\n")
    assert ll.read_run(path, columns=f"doc_id,query_id,{name}").to_dict() == {"q1": {"d1": -1, "d2": -2}}


def test_columns_are_named_in_texts_only(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"q1": {"d1": 1}}')
    with pytest.raises(InputError, match="`columns` applies only to text tables without a header"):
        ll.read_run(path, columns="query_id,doc_id,score")


def test_whole_numbers_of_ids_are_read_as_text_by_commands(tmp_path: Path, leadline: Leadline) -> None:
    run, qrels = tmp_path / "a.jsonl", tmp_path / "qrels.jsonl"
    run.write_text('{"query_id": 1, "doc_id": 7, "score": 0.5}\n')
    qrels.write_text('{"query_id": 1, "doc_id": 7, "grade": 1}\n')
    assert leadline("evaluate", qrels, run, "-m", "RR", "-f", "json").data["runs"]
    for path, kind in ((run, "run"), (qrels, "qrels")):
        target = tmp_path / f"{kind}.txt"
        assert leadline("convert", path, target, "--config", f"read.kind={kind}").status == 0
        assert target.read_text().split()[:3:2] == ["1", "7"]


@pytest.mark.parametrize("odd", [False, True])
def test_a_run_in_json_lines_has_the_records_of_a_json_writer(*, odd: bool) -> None:
    names = ["d1", 'a "b"', "back\\slash", "\u00e9\t", "\x7f", *(["\udcff"] if odd else [])]
    scores = [1.0, 0.1, -1e300, 5e-324, 3.5, *([float("inf")] if odd else [])]
    rows = [
        (query, name, score) for query in ("q1", "q'2") for name, score in zip(names, scores, strict=True)
    ]
    written = b"".join(tables.write_json_lines(tables.OutputTable(tables.RUN_COLUMNS, list(rows))))
    expected = [tables.dump_json(dict(zip(tables.RUN_COLUMNS, row, strict=True))) for row in rows]
    assert written.decode().splitlines() == expected


def test_damaged_text_in_an_arrow_file_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.arrow"
    ll.write_run({"query": {"document": 1.0}}, path)
    content = path.read_bytes()
    for sound in (b"query_id", b"document"):
        path.write_bytes(content.replace(sound, b"\xf5" + sound[1:]))
        with pytest.raises(InputError) as refused:
            ll.read_run(path)
        assert "\n" not in str(refused.value)


def test_a_table_of_ranks_without_scores_names_the_option_that_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "ranks.csv"
    path.write_text("query_id,doc_id,rank\nq1,d1,1\nq1,d2,2\n")
    with pytest.raises(InputError, match="order='rank'"):
        ll.read_run(path)
    assert ll.read_run(path, order="rank").to_dict() == {"q1": {"d1": -1.0, "d2": -2.0}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "query_id,doc_id,score,rank\nq1,d1,2,2.0\nq1,d2,1,1.\n"),
        ("a.run", "q1 Q0 d1 2.0 2 t\nq1 Q0 d2 1. 1 t\n"),
    ],
)
def test_whole_ranks_may_be_written_with_a_decimal_point(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert ll.read_run(tmp_path / name, order="rank").to_dict() == {"q1": {"d2": -1.0, "d1": -2.0}}
