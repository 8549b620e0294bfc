"""Runs and qrels as dictionaries and data frames, and files of known documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.evaluation.join import judge
from leadline.io import id_lists
from leadline.io.objects import read_qrels, read_run

QRELS: dict[str, dict[str, float]] = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 0.5, "d3": -1}}
RUN: dict[str, dict[str, float]] = {"q1": {"d2": 2.5, "d1": 1.0}, "q2": {"d1": 7.0}}
QRELS_ROWS = [("q2", "d1", 0.5), ("q1", "d1", 2.0), ("q2", "d3", -1.0), ("q1", "d2", 0.0)]
RUN_ROWS = [("q1", "d1", 1.0), ("q2", "d1", 7.0), ("q1", "d2", 2.5)]

LIBRARIES: dict[str, Callable[[dict[str, Any]], Any]] = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
# (qrels columns, run columns, columns that are there too)
SCHOOLS = {
    "ir_measures": (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score"), ("iteration",)),
    "PyTerrier": (("qid", "docno", "label"), ("qid", "docno", "score"), ("rank", "query")),
    "ranx": (("q_id", "doc_id", "score"), ("q_id", "doc_id", "score"), ()),
    "trectools": (("query", "docid", "rel"), ("query", "docid", "score"), ("q0", "rank", "system")),
}


def frame(library: str, names: tuple[str, ...], rows: list[Any], more: tuple[str, ...] = ()) -> Any:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return LIBRARIES[library]({name: ["7"] * len(rows) for name in more} | columns)


def refusal(read: Callable[..., object], *given: object, **options: Any) -> str:
    with pytest.raises(InputError) as rejected:
        read(*given, **options)
    assert "\n" not in str(rejected.value)
    return str(rejected.value)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("school", SCHOOLS)
def test_the_column_names_of_the_field_are_known(library: str, school: str) -> None:
    qrels, run, more = SCHOOLS[school]
    judgments = read_qrels(frame(library, qrels, QRELS_ROWS, more))
    assert judgments.to_dict() == QRELS
    found = read_run(frame(library, run, RUN_ROWS, more))
    assert found.to_dict() == RUN
    assert list(found.to_dict()["q1"]) == ["d2", "d1"]
    results = ll.evaluate(judgments, {"mine": frame(library, run, RUN_ROWS, more)}, ["AP", "nDCG"])
    assert results.names == ["mine"]
    assert results.value("mine", "q1", "AP") == 0.5
    assert results.value("mine", "q2", "nDCG") == 1.0


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.int64, np.uint16])
@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_of_numpy_are_fine(library: str, kind: Any) -> None:
    numbers = np.array([3, 1, 2], dtype=kind)
    table = LIBRARIES[library]({"qid": ["q"] * 3, "docno": ["a", "b", "c"], "label": numbers})
    assert read_qrels(table).to_dict() == {"q": {"a": 3, "b": 1, "c": 2}}
    table = LIBRARIES[library]({"qid": ["q"] * 3, "docno": ["a", "b", "c"], "score": numbers})
    assert list(read_run(table).to_dict()["q"]) == ["a", "c", "b"]
    assert read_qrels({"q": dict(zip("abc", numbers, strict=True))}).to_dict()["q"]["c"] == 2
    assert read_run({"q": dict(zip("abc", numbers, strict=True))}).scores.tolist() == [3, 2, 1]


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("dtype", ["object", "str", "string", "category"])
def test_ids_of_any_string_type_of_pandas_are_fine(dtype: str) -> None:
    table = frame("pandas", ("qid", "docno", "score"), RUN_ROWS).astype({"qid": dtype, "docno": dtype})
    assert read_run(table).to_dict() == RUN


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("column", "place"), [("qid", 0), ("docno", 1)])
def test_ids_that_are_fractions_are_refused_and_the_column_is_named(
    library: str, column: str, place: int
) -> None:
    rows = [(str(row[0]), str(row[1]), row[2]) for row in RUN_ROWS]
    broken = [tuple(7.0 if at == place else value for at, value in enumerate(row)) for row in rows]
    for read, last in ((read_run, "score"), (read_qrels, "label")):
        assert (
            f"id 7.0 in column '{column}' is of type float, not a string. Only strings and "
            "integers can be ids"
        ) in refusal(read, frame(library, ("qid", "docno", last), broken))


@pytest.mark.parametrize("given", [7.0, b"7"])
def test_the_conversion_that_an_error_proposes_for_arrow_makes_ids_readable(given: float | bytes) -> None:
    table = pa.table({"qid": [given], "docno": ["d1"], "score": [1.0]})
    assert '.cast("string").' in refusal(read_run, table)
    table = table.set_column(0, "qid", table["qid"].cast("string"))
    assert read_run(table).to_dict() == {"7": {"d1": 1.0}}


@pytest.mark.parametrize("kind", ["Float64", "float64", "object"])
def test_missing_cells_of_pandas_are_empty_cells(kind: str) -> None:
    given = pd.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a", "b"]})
    numbers = pd.Series([0.5, None], dtype=kind)
    rated = given.assign(rating=numbers)
    assert read_qrels(rated).to_dict() == {"q": {"a": 0.5}}
    assert read_run(given.assign(score=numbers), on_nan="drop").to_dict() == {"q": {"a": 0.5}}
    drawn = read_qrels(given.assign(relevance=1, probability=numbers))
    assert drawn.inclusion_probabilities() == {"q": {"a": 0.5}}
    names = pd.Series(["a", None], dtype="object" if kind == "object" else "string")
    assert "row 2: there is no id" in refusal(read_qrels, rated.assign(rating=1, doc_id=names))
    assert "row 2: there is no id" in refusal(
        read_qrels, rated.assign(rating=1, subtopic=names), subtopics=True
    )


@pytest.mark.parametrize("row", [("tag", "t"), ("rank", 1), ("probability", 0.5)])
def test_members_that_are_not_needed_may_be_missing_in_any_row(row: tuple[str, Any]) -> None:
    rows = [{"query_id": "q", "doc_id": name, "score": 1.0} for name in "ab"]
    for with_member in (0, 1):
        given = [one | dict([row] * (place == with_member)) for place, one in enumerate(rows)]
        assert read_run(given).to_dict() == {"q": {"a": 1.0, "b": 1.0}}
    given[0] |= {row[0]: row[1]}
    del given[1]["score"]
    assert "needs query_id, doc_id, score" in refusal(read_run, given)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_missing_id_is_refused(library: str) -> None:
    rows = [("q1", "d1", 1.0), ("q1", None, 2.0)]
    assert "row 2: there is no id in column 'docno'" in refusal(
        read_run, frame(library, ("qid", "docno", "score"), rows)
    )


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("value", [float("nan"), None])
def test_a_missing_score_is_refused(library: str, value: float | None) -> None:
    rows = [("q1", "d1", 1.0), ("q1", "d2", value)]
    shown = "None" if value is None and library == "polars" else "nan"
    assert f"run, row 2: score {shown} of document 'd2' for query 'q1' is not a number" in refusal(
        read_run, frame(library, ("qid", "docno", "score"), rows)
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_without_a_needed_column_says_which(library: str) -> None:
    table = frame(library, ("qid", "docno", "closeness"), RUN_ROWS)
    assert refusal(read_run, table).endswith(
        "no scores were found among the columns qid, docno, closeness because no column is called score, "
        "similarity or relevance_score. Rename the column with the scores to 'score'."
    )
    table = frame(library, ("subject", "docno", "score"), RUN_ROWS)
    assert " because no column is called query_id, qid, q_id, query-id, " in refusal(read_run, table)


def test_whole_numbers_name_the_runs_of_a_frame() -> None:
    rows = {"run": [2, 1], "query": ["q", "q"], "doc": ["a", "b"], "score": [1.0, 1.0]}
    for table in (pd.DataFrame(rows), pl.DataFrame(rows)):
        assert ll.evaluate({"q": {"b": 1}}, table, "RR").to_pandas()["RR"].to_dict() == {"2": 0.0, "1": 1.0}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("column", ["name", "model", "method", "run", "run_id"])
def test_several_runs_in_one_frame_are_told_apart_by_their_names(library: str, column: str) -> None:
    rows = [("q1", "d1", 2.0, "a"), ("q1", "d2", 1.0, "a"), ("q1", "d2", 2.0, "b"), ("q1", "d1", 1.0, "b")]
    columns = ("qid", "docno", "score", column)
    results = ll.evaluate({"q1": {"d1": 1}}, frame(library, columns, rows), "RR")
    assert [(name, results.mean(name, "RR")) for name in results.names] == [("a", 1), ("b", 0.5)]
    alone = ll.evaluate({"q1": {"d1": 1}}, frame(library, columns, rows[:2]), "RR")
    assert alone.names == ["run"]  # a column of the documents, say
    apart = ll.evaluate({"q1": {"d1": 1}}, frame(library, columns, rows[::2]), "RR")
    assert apart.names == (["a", "b"] if column.startswith("run") else ["run"])


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_document_twice_in_a_frame_is_refused(library: str) -> None:
    rows = [("q1", "d1", 1.0), ("q2", "d1", 1.0), ("q1", "d1", 2.0)]
    found = refusal(read_run, frame(library, ("qid", "docno", "score"), rows), name="mine")
    assert found.startswith("mine")
    assert ": document 'd1' appears twice for query 'q1'" in found
    assert "To keep only one, add `on_duplicate='first'` (or last or max)" in found
    found = refusal(read_qrels, frame(library, ("qid", "docno", "label"), rows))
    assert ": document 'd1' is judged twice for query 'q1'" in found


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_without_rows_is_refused(library: str) -> None:
    assert " no judgments. " in refusal(read_qrels, frame(library, ("qid", "docno", "label"), []))
    with pytest.raises(InputError, match="contains no documents"):
        judge(frame(library, ("qid", "docno", "score"), []), read_qrels(QRELS))


@pytest.mark.usefixtures("form")
def test_a_dictionary_is_read_as_it_stands() -> None:
    assert read_qrels(QRELS).to_dict() == QRELS
    assert read_run(RUN).to_dict() == RUN
    name, judged, tally = judge(RUN | {"q7": {"x": 1.0}}, read_qrels(QRELS))
    assert name == "run"
    assert judged.rank.tolist() == [1, 2, 1]
    assert (tally.rows, tally.queries, tally.unjudged_queries) == (4, 3, 1)


@pytest.mark.usefixtures("form")
def test_odd_ids_in_a_dictionary_are_kept() -> None:
    names = ["", "a b", "a\tb", "a\nb", "\0", "\udcff", "é", "NA", "1", "01", "\u2028", "x" * 3000]
    run = read_run({name: dict.fromkeys(names, 1.0) for name in names})
    assert set(run.queries) == set(run.documents) == set(names)
    judged = judge(run, read_qrels({name: dict.fromkeys(names, 1) for name in names}))[1]
    assert len(judged.rank) == len(names) ** 2


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({1.0: {"d1": 1}}, "id 1.0 is of type float, not a string. Only strings and integers can be ids."),
        ({"q1": {7.0: 1}}, "id 7.0 is of type float, not a string. Only strings and integers can be ids."),
        ({None: {"d1": 1}}, "there is no id"),
        (
            {b"q1": {"d1": 1}},
            "id b'q1' is of type bytes, not a string. Only strings and integers can be ids.",
        ),
        ({"q1": {"\ud800": 1}}, "id '\\ud800' contains a lone surrogate, so it is not valid Unicode"),
        ({"q1": 7}, "the value for query 'q1' is of type int. Use the form {document: score}."),
        ({"q1": {"d1": "2"}}, "score '2' of document 'd1' for query 'q1' is text, not a number"),
        ({"q1": {"d1": b"2"}}, "score b'2' of document 'd1' for query 'q1' is not a number"),
        ({"q1": {"d1": None}}, "score None of document 'd1' for query 'q1' is not a number"),
        ({"q1": {"d1": [1]}}, "score [1] of document 'd1' for query 'q1' is not a number"),
        ({"q1": {"d1": float("nan")}}, "score nan of document 'd1' for query 'q1' is not a number"),
        ({"q1": {"d1": 1j}}, "score 1j of document 'd1' for query 'q1' is not a number"),
        ({"q1": {"d1": 10**400}}, f"score 1{59 * '0'}... of document 'd1' for query 'q1' is too large"),
    ],
    ids=lambda given: str(given)[:30],
)
def test_a_dictionary_with_a_fault_is_refused(given: Any, error: str) -> None:
    assert error in refusal(read_run, given)
    assert error.replace("score", "grade") in refusal(read_qrels, given)


def test_an_error_does_not_show_a_whole_dictionary() -> None:
    said = refusal(read_run, {"q1": {"d1": {f"d{number}": 1.0 for number in range(999)}}})
    assert "score {'d0': 1.0" in said
    assert len(said) < 200


@pytest.mark.parametrize("library", LIBRARIES)
def test_of_numbers_that_are_text_an_error_says_how_to_convert_them(library: str) -> None:
    said = refusal(read_qrels, frame(library, ("qid", "docno", "label"), [("q1", "d1", "2")]))
    assert "grade '2' of document 'd1' for query 'q1' is text, not a number" in said
    assert said.endswith((".astype(float).", ".cast(float).", '.cast("double").'))


def test_infinite_scores_are_fine_and_infinite_grades_are_not() -> None:
    infinite = {"q1": {"d1": float("inf"), "d2": float("-inf"), "d3": 0.0}}
    assert list(read_run(infinite).to_dict()["q1"]) == ["d1", "d3", "d2"]
    assert "grade inf of document 'd1'" in refusal(read_qrels, infinite)


def test_empty_judgments_are_refused() -> None:
    cases: list[dict[str, dict[str, float]]] = [{}, {"q1": {}}]
    for empty in cases:
        assert " no judgments. " in refusal(read_qrels, empty)


def test_an_empty_run_is_refused() -> None:
    cases: list[dict[str, dict[str, float]]] = [{}, {"q1": {}}]
    for empty in cases:
        with pytest.raises(InputError, match="contains no documents"):
            judge(empty, read_qrels(QRELS), name="mine")
    with pytest.raises(InputError, match=r"^a: contains no documents"):
        ll.evaluate(QRELS, {"a": {}, "b": {"q1": {"d1": 1.0}}}, "RR")


@pytest.mark.parametrize("given", [7, None, 1.5, object(), b"path"])
def test_what_is_neither_path_nor_dictionary_nor_frame_is_refused(given: Any) -> None:
    for read, name in ((read_run, "run"), (read_qrels, "qrels")):
        assert refusal(read, given).startswith(
            f"{name}: an object of type {type(given).__name__} cannot be read. Pass a path, a dictionary"
        )


def test_tables_pass_through_unchanged() -> None:
    qrels, run = read_qrels(QRELS), read_run(RUN)
    assert read_qrels(qrels) is qrels
    assert read_run(run) is run


@pytest.mark.usefixtures("form")
def test_negative_grades_may_count_as_unjudged() -> None:
    assert read_qrels(QRELS, negative="unjudged").to_dict() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 0.5}}
    with pytest.raises(UsageError, match="negative must be 'nonrelevant' or 'unjudged', not 'junk'"):
        read_qrels(QRELS, negative="junk")  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"order": "id"}, "order must be 'score' or 'rank', not 'id'"),
        (
            {"on_duplicate": "keep"},
            ("on_duplicate must be 'refuse', 'first', 'last', 'max' or 'hold', not 'keep'"),
        ),
        ({"on_nan": "zero"}, "on_nan must be 'refuse' or 'drop', not 'zero'"),
    ],
)
def test_repairs_that_do_not_exist_are_refused(options: Any, error: str) -> None:
    with pytest.raises(UsageError) as rejected:
        read_run(RUN, **options)
    assert str(rejected.value) == error


def test_known_documents_are_lines_of_two_columns_or_qrels(tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_bytes(
        b"# seen before\n\nq1 d1\r\nq1\td2 \nq2 0 d1 1\nq2 0 d2 0\nq2 0 d3 -1\nq\xff d\xc2\xa01\n"
    )
    assert id_lists.read(str(path)) == {b"q1": {b"d1", b"d2"}, b"q2": {b"d1"}, b"q\xff": {b"d\xc2\xa01"}}


NO_KNOWN = (
    ": contains no known documents. Write lines with a query and a known document, or judgments with a "
    "grade of at least 1."
)
WRITE = "Write a query and a document separated by a space, or the 4 columns of qrels."


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("q1 d1\nq1 d2 d3\n", f":2: the line has 3 columns. {WRITE}"),
        ("q1\n", f":1: the line has 1 column. {WRITE}"),
        ("", NO_KNOWN),
        ("# nothing\n", NO_KNOWN),
        ("q1 0 d1 0\n", NO_KNOWN),
    ],
)
def test_a_fault_among_known_documents_is_one_line(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text(text)
    assert refusal(id_lists.read, str(path)) == f"{path}{error}"


@pytest.mark.parametrize("grade", ["x", "1.5.2", "nan", "+-1", "--1", "1e999"])
def test_a_broken_grade_among_known_documents_is_refused(grade: str, tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")
    assert refusal(id_lists.read, str(path)).startswith(f"{path}:2: ")


def test_a_fractional_grade_among_known_documents_is_a_grade(tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text("q1 0 d1 1.0\nq1 0 d2 0.5\nq1 0 d3 +2\n")
    assert id_lists.read(str(path)) == {b"q1": {b"d1", b"d3"}}


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet"])
def test_known_documents_may_be_qrels_of_any_format(suffix: str, tmp_path: Path) -> None:
    ll.write_qrels({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0}}, tmp_path / f"known.{suffix}")
    assert id_lists.read(str(tmp_path / f"known.{suffix}")) == {b"q1": {b"d1"}}


def test_known_documents_may_be_a_dictionary() -> None:
    given = {"q1": ["d2"], "q2": {"d1", "d3"}}
    assert id_lists.of(given) == {b"q1": {b"d2"}, b"q2": {b"d1", b"d3"}}
    qrels, run = {"q1": {"d1": 1, "d2": 1}}, {"q1": {"d1": 2.0, "d2": 1.0}}
    results = ll.evaluate(qrels, run, ["Coverage", "Novelty"], known={"q1": ("d2",)})
    assert results.means.tolist() == [[1.0, 0.5]]
    assert results.options["known"] == {"q1": ["d2"]}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (5, "`known` cannot be of type int. Pass a path or {query: [document, ...]}."),
        ({"q1": "d1"}, "known: the value for query 'q1' is of type str. Use the form [document, ...]."),
        ({"q1": [1]}, "ids must be strings, but 1 is of type int. Convert the id to a string."),
    ],
)
def test_other_known_documents_are_refused(given: Any, error: str) -> None:
    with pytest.raises((InputError, UsageError)) as caught:
        ll.evaluate(QRELS, RUN, "Coverage", known=given)
    assert str(caught.value) == error


def test_what_can_be_read_can_be_written(tmp_path: Path) -> None:
    ll.write_run(RUN, tmp_path / "a.run")
    assert read_run(tmp_path / "a.run") == read_run(RUN)
    ll.write_qrels(pd.DataFrame(QRELS_ROWS, columns=["qid", "docno", "label"]), tmp_path / "q.json")
    assert read_qrels(tmp_path / "q.json") == read_qrels(QRELS)
    with pytest.raises(UsageError, match="path must be a file path, or '-' for standard output, not 5"):
        ll.write_run(RUN, 5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"an object of type int cannot be read\. Pass a path, a dictionary"):
        ll.write_qrels(5, tmp_path / "b")  # type: ignore[arg-type]


@given(st.data())
def test_arrays_are_the_run_of_their_rows(data: st.DataObject) -> None:
    queries = [f"q{number}" for number in range(data.draw(st.integers(1, 4)))]
    depth = data.draw(st.integers(1, 5))
    documents = [f"d{number}" for number in range(8)]
    ids = np.array([data.draw(st.permutations([*range(8), *[-1] * 3]))[:depth] for _ in queries])
    scores = np.array(
        [data.draw(st.lists(st.floats(-5, 5), min_size=depth, max_size=depth)) for _ in queries]
    )
    expected = {
        query: {documents[place]: -score for place, score in zip(row, row_scores, strict=True) if place >= 0}
        for query, row, row_scores in zip(queries, ids.tolist(), scores.tolist(), strict=True)
    }
    if not any(expected.values()):
        return
    run = ll.run_of_arrays(ids, scores, queries, documents=documents, lower_is_better=True)
    assert run.to_dict() == ll.read_run(expected).to_dict()
    named = np.where(ids < 0, -1, ids)
    by_name = np.array(documents, dtype=object)[np.where(ids < 0, 0, ids)]
    if (named >= 0).all():
        assert ll.run_of_arrays(by_name, -scores, queries).to_dict() == run.to_dict()


@pytest.mark.parametrize(
    ("found", "error"),
    [
        ({"ids": [[0, 0]], "scores": [[1, 2]], "queries": ["q"], "documents": ["a"]}, "'a' appears twice"),
        (
            {"ids": [[0, 5]], "scores": [[1, 2]], "queries": ["q"], "documents": ["a"]},
            "document 5 is not a position",
        ),
        ({"ids": [0], "scores": [1], "queries": ["q"]}, "dimension"),
        (
            {"ids": [["a"]], "scores": [[1]], "queries": ["q", "r"]},
            r"`ids` has shape \(1, 1\), `scores` has shape \(1, 1\), and `queries` has length 2",
        ),
        ({"ids": [["a"], ["b"]], "scores": [[1], [2]], "queries": ["q", "q"]}, "query 'q' appears twice"),
        ({"ids": [["a"]], "scores": [["x"]], "queries": ["q"]}, "numbers"),
        ({"ids": [["a"]], "scores": [[1]], "queries": ["q"], "documents": ["a"]}, "positions"),
        ({"ids": [["a"]], "scores": [[math.nan]], "queries": ["q"]}, "nan"),
    ],
)
def test_arrays_that_are_no_run_are_refused(found: dict[str, Any], error: str) -> None:
    with pytest.raises(ll.LeadlineError, match=error):
        ll.run_of_arrays(**found)


RISING = [[0.1, 0.2, 0.2], [0.5, 0.7, 0.9]]


@pytest.mark.parametrize(
    ("scores", "refused"),
    [
        (RISING, True),
        ([*RISING, [3.0, 3.0, 9.0]], True),
        (RISING[:1], False),
        ([RISING[0], [0.9, 0.7, 0.5]], False),
        ([RISING[0], [2.0, 2.0, 2.0]], False),
        ([row[:2] for row in RISING], False),
    ],
)
def test_scores_that_rise_along_every_row_are_distances(scores: list[list[float]], refused: bool) -> None:
    ids = [[place for place, _ in enumerate(row)] for row in scores]
    given: Any = {"queries": [f"q{place}" for place, _ in enumerate(scores)], "documents": ["a", "b", "c"]}
    as_they_are = ll.run_of_arrays(ids, scores, **given, lower_is_better=False).to_dict()
    turned = ll.run_of_arrays(ids, scores, **given, lower_is_better=True).to_dict()
    assert [found["q0"]["b"] for found in (as_they_are, turned)] == [scores[0][1], -scores[0][1]]
    if refused:
        with pytest.raises(ll.InputError, match="lower_is_better=True"):
            ll.run_of_arrays(ids, scores, **given)
    else:
        assert ll.run_of_arrays(ids, scores, **given).to_dict() == as_they_are


def test_places_without_a_document_say_nothing_about_the_order() -> None:
    ids, scores = [[0, 1, 2, -1], [2, 1, -1, -1], [1, 2, 0, -1]], [[1, 2, 3, 0], [2, 1, 9, 9], [2, 3, 4, -9]]
    with pytest.raises(ll.InputError, match="lower_is_better=True"):
        ll.run_of_arrays(ids, scores, ["q1", "q2", "q3"], documents=["a", "b", "c"])


LISTS = [
    {"user_input": "q1", "retrieved_context_ids": ["d2", "d1"], "reference_context_ids": ["d1"]},
    {"user_input": "q2", "retrieved_context_ids": ["d3"], "reference_context_ids": ["d3", "d4"]},
]


class Dumped:
    """An object with the one method of Pydantic that is used."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row

    def model_dump(self) -> dict[str, Any]:
        return self.row


class Split:
    """An iterable of rows that knows its columns, as of Hugging Face."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.column_names = list(rows[0])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


LISTS_IN: dict[str, Callable[[Path], Any]] = {
    "rows": lambda _: LISTS,
    "rows whose first member is a list": lambda _: [dict(reversed(row.items())) for row in LISTS],
    "objects": lambda _: list(map(Dumped, LISTS)),
    "a split": lambda _: Split(LISTS),
    "splits": lambda _: {"train": Split(LISTS[:1]), "test": Split(LISTS)},
    "pandas": lambda _: pd.DataFrame(LISTS),
    "arrays": lambda _: pd.DataFrame(
        {key: [np.array(row[key]) if key != "user_input" else row[key] for row in LISTS] for key in LISTS[0]}
    ),
    "polars": lambda _: pl.DataFrame(LISTS),
    "Parquet": lambda folder: pl.DataFrame(LISTS).write_parquet(folder / "a.parquet") or folder / "a.parquet",
}


@pytest.mark.parametrize("form", LISTS_IN)
def test_rows_with_a_list_of_each_query_are_a_run_and_judgments(form: str, tmp_path: Path) -> None:
    if form == "Parquet":
        pytest.importorskip("pyarrow")
    source = LISTS_IN[form](tmp_path)
    assert read_qrels(source).to_dict() == {"q1": {"d1": 1}, "q2": {"d3": 1, "d4": 1}}
    assert read_run(source).to_dict() == {"q1": {"d2": -1, "d1": -2}, "q2": {"d3": -1}}
    found = ll.evaluate(source, {"new": source, "old": RUN}, ["RR", "R"])
    assert [found.mean("new", measure) for measure in ("RR", "R")] == [0.75, 0.75]
    if form != "splits":  # a dictionary as runs is {name: run}
        assert ll.evaluate(source, source, "RR")["a" if form == "Parquet" else "run"]["RR"] == 0.75


def test_a_dataset_of_splits_is_its_only_one_or_the_one_called_test() -> None:
    rows = Split([{"query-id": "q1", "corpus-id": "d1", "score": 2}])
    assert read_qrels({"dev": rows}).to_dict() == {"q1": {"d1": 2}}
    assert read_run({"dev": rows}).to_dict() == {"q1": {"d1": 2}}
    found = refusal(read_qrels, {"dev": rows, "train": rows})
    assert found == "qrels: is a dataset with 2 splits. Pass dataset['dev'] or dataset['train']."


@pytest.mark.parametrize(
    ("hits", "options", "error"),
    [
        (
            [5],
            {},
            (
                "if you pass `queries`, the hits must be a list of lists, one per query, but item 1 is of "
                "type int"
            ),
        ),
        (
            [{"hits": [{"id": "d1", "score": 1}]}],
            {},
            (
                "if you pass `queries`, the hits must be a list of lists, one per query, but item 1 is of "
                "type dict"
            ),
        ),
        (
            [[{"corpus_id": 0, "score": 1}, {"x": 1}]],
            {"documents": ["a"]},
            "hit 2 of query 'q1' does not have the form of the run's first hit",
        ),
        ([[("d1", 0.5), "d2"]], {}, "hit 2 of query 'q1' does not have the form of the run's first hit"),
    ],
)
def test_hits_of_another_form_are_refused(hits: Any, options: Any, error: str) -> None:
    assert refusal(read_run, hits, queries=["q1"], **options) == f"run: {error}"
