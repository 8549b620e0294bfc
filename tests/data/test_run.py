"""Runs as Python callers use them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from leadline.data.run import RunColumns
from leadline.errors import InputError, MissingPackageError, UnknownIdError, UsageError

GIVEN: dict[str, dict[str, float]] = {"q2": {"d1": 7.0}, "q1": {"d1": 1.0, "d2": 2.5, "d3": 2.5}}
ROWS = [(query, document, score) for query, found in GIVEN.items() for document, score in found.items()]
COLUMNS = ("query_id", "doc_id", "score")
ORDERED = {"q1": {"d3": 2.5, "d2": 2.5, "d1": 1.0}, "q2": {"d1": 7.0}}
IDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
LISTS = st.dictionaries(IDS, st.floats(-1e9, 1e9), min_size=1, max_size=5)
RUNS = st.dictionaries(IDS, LISTS, min_size=1, max_size=4)


def in_file(path: Path) -> Path:
    ll.write_run(GIVEN, path)
    return path


@pytest.mark.parametrize(
    "make",
    [
        lambda _: GIVEN,
        lambda _: ROWS,
        lambda _: iter(ROWS),
        lambda _: pd.DataFrame(ROWS, columns=list(COLUMNS)),
        lambda _: pl.DataFrame(ROWS, schema=list(COLUMNS), orient="row"),
        lambda _: pl.DataFrame(ROWS, schema=list(COLUMNS), orient="row").to_arrow(),
        lambda folder: in_file(folder / "a.run"),
        lambda folder: str(in_file(folder / "a.json")),
        lambda _: ll.Run(GIVEN, name="another"),
    ],
    ids=["dictionary", "rows", "iterator", "pandas", "polars", "arrow", "path", "text path", "run"],
)
def test_a_run_is_made_of_anything_that_read_run_takes(make: Callable[[Path], Any], tmp_path: Path) -> None:
    run = ll.Run(make(tmp_path), name="bm25")
    assert run.to_dict() == GIVEN
    assert [list(found) for found in run.to_dict().values()] == [list(found) for found in ORDERED.values()]
    assert (run.name, repr(run)) == ("bm25", "Run('bm25', 2 queries, 4 rows)")


def test_a_run_has_the_name_of_its_file_unless_it_is_given_one(tmp_path: Path) -> None:
    path = in_file(tmp_path / "bm25.run.gz")
    assert ll.Run(path).name == "bm25"
    assert ll.Run(path, name="mine").name == "mine"
    assert ll.Run(GIVEN).name == "run"
    run = ll.Run(GIVEN, name="first")
    assert ll.Run(run).name == "first"
    assert (ll.read_run(run, name="second").name, run.name) == ("second", "first")


def test_a_run_is_used_as_a_mapping_of_its_queries() -> None:
    run = ll.Run(GIVEN)
    assert len(run) == 2
    assert list(run) == ["q1", "q2"]
    assert "q1" in run
    assert "q3" not in run
    assert 7 not in run
    assert list(run["q1"].items()) == [("d3", 2.5), ("d2", 2.5), ("d1", 1.0)]
    assert {query: run[query] for query in run} == run.to_dict()


OTHER: Any = 3  # no name


def test_dict_makes_a_dictionary_of_the_lists_and_of_the_judgments() -> None:
    run, qrels = ll.Run(GIVEN), ll.Qrels({"q1": {"d1": 1}, "q2": {"d2": 0}})
    assert dict(run) == run.to_dict()
    assert dict(qrels) == qrels.to_dict()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ll.Run(GIVEN, name=OTHER),
        lambda: ll.Run(GIVEN).renamed(OTHER),
        lambda: ll.evaluate({"q1": {"d1": 1}}, {OTHER: GIVEN, "b": GIVEN}, "AP"),
        lambda: ll.unjudged({"a": GIVEN, OTHER: GIVEN}),
    ],
)
def test_the_name_of_a_run_is_text(make: Callable[[], Any]) -> None:
    with pytest.raises(
        UsageError, match=r"^a run name must be a string, such as '3', but this one is of type int$"
    ):
        make()


def test_a_run_without_a_name_is_not_named_by_empty_quotes() -> None:
    with pytest.raises(UnknownIdError, match=r"there is no query 'q9' in the run\. "):
        RunColumns.of([("q1", "d1", 0.5)])["q9"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            ll.evaluate,
            (
                "a Qrels object was passed where a run is expected. Judgments come before runs, "
                "except in `replicate`, where they come after."
            ),
        ),
        (lambda _, qrels: ll.Run(qrels), "run: an object of type Qrels was passed where a run is expected"),
        (
            lambda run, qrels: ll.evaluate(qrels, cast("Any", ll.evaluate(qrels, run))),
            "run: an object of type Results was passed where a run is expected",
        ),
        (
            lambda run, qrels: ll.Qrels(cast("Any", ll.curve(qrels, run))),
            "qrels: an object of type Curves was passed where judgments are expected",
        ),
    ],
)
def test_what_was_read_as_another_thing_is_named(make: Callable[[Any, Any], Any], says: str) -> None:
    with pytest.raises(InputError) as error:
        make(ll.Run(GIVEN), ll.Qrels({"q1": {"d1": 1}}))
    assert str(error.value) == says


def test_text_in_the_place_of_a_path_is_refused_in_one_line() -> None:
    with pytest.raises(InputError) as error:
        ll.Run("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t\n")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (7, "int"),
        (GIVEN, "dict"),
        ([GIVEN], "dict"),
        (ll.Run({"q": ["d"]}), "Run"),
        (ll.Qrels({"q": {"d": 1}}), "Qrels"),
    ],
)
def test_check_is_for_paths(files: Any, says: str) -> None:
    with pytest.raises(UsageError, match=rf"^an object of type {says} cannot be checked. Pass file paths\.$"):
        ll.check(files)


def test_several_files_are_checked(tmp_path: Path) -> None:
    paths = [tmp_path / "a.qrels", tmp_path / "a.run"]
    paths[0].write_text("q1 0 d1 1\n")
    paths[1].write_text("q1 Q0 d1 1 0.5 t\n")
    assert [one.kind for one in ll.check(*paths).files] == ["qrels", "run"]


def test_grades_that_are_not_among_the_judged_ones_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^grade 0 occurs more often in `grades` than in `judged`\. Include"
    ):
        (ll.measures.nDCG @ 3).of([1, 0, 2], [1, 2, 3])


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("q10", "there is no query 'q10' in run 'bm25'. Did you mean 'q1'?"),
        ("zzz", "there is no query 'zzz' in run 'bm25'. The queries are 'q1', 'q2'."),
        (1, "there is no query 1 in run 'bm25'. Ids are text. Use '1'."),
        (b"q1", "there is no query b'q1' in run 'bm25'. Ids are text. Use 'q1'."),
    ],
)
def test_a_query_that_is_not_there_is_a_key_error_that_names_the_nearest(query: Any, says: str) -> None:
    run = ll.Run(GIVEN, name="bm25")
    with pytest.raises(KeyError) as refused:
        run[query]
    assert isinstance(refused.value, UnknownIdError)
    assert isinstance(refused.value, ll.LeadlineError)
    assert str(refused.value) == says
    with pytest.raises(KeyError, match="The only query is 'q1'"):
        ll.Run({"q1": {"d1": 1.0}})["zzz"]


@given(RUNS)
def test_a_dictionary_comes_back(given: dict[str, dict[str, float]]) -> None:
    run = ll.Run(given)
    assert run.to_dict() == given
    assert ll.Run(run.to_dict()) == run
    for query in run:
        listed = run[query]
        assert listed == given[query]
        order = sorted(given[query], key=lambda name: (given[query][name], name.encode()), reverse=True)
        assert list(listed) == order


@given(RUNS)
def test_frames_of_pandas_and_polars_give_the_same_run(given: dict[str, dict[str, float]]) -> None:
    run = ll.Run(given)
    one, two = run.to_pandas(), run.to_polars()
    assert tuple(one.columns) == tuple(two.columns) == COLUMNS
    assert [tuple(row) for row in one.itertuples(index=False)] == two.rows()
    assert ll.Run(one) == ll.Run(two) == run


@given(RUNS, st.sampled_from(["a.json", "a.jsonl", "a.parquet", "a.json.gz"]))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, dict[str, float]], name: str
) -> None:
    path = tmp_path_factory.mktemp("runs") / name
    ll.Run(given).write(path)
    assert ll.Run(path) == ll.Run(given)


def test_a_suffix_says_the_format_where_the_path_does_not(tmp_path: Path) -> None:
    ll.Run(GIVEN).write(tmp_path / "a.txt", suffix=".csv")
    assert (tmp_path / "a.txt").read_text().splitlines()[0] == "query_id,doc_id,score"


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_a_package_that_is_missing_is_named_with_its_pip_line(
    monkeypatch: pytest.MonkeyPatch, package: str, method: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for made in (ll.Run(GIVEN), ll.Qrels(GIVEN)):
        with pytest.raises(MissingPackageError, match=f"pip install {package}"):
            getattr(made, method)()


def test_an_id_that_is_not_unicode_is_refused_in_one_line_by_polars() -> None:
    run = ll.Run({"q1": {"d\udcff": 1.0}})
    with pytest.raises(InputError, match="an id or a run name is not valid UTF-8"):
        run.to_polars()


def test_runs_are_equal_by_content() -> None:
    assert ll.Run(GIVEN, name="a") == ll.Run(ROWS, name="b")
    assert ll.Run(GIVEN) != ll.Run(GIVEN | {"q2": {"d1": 7.5}})
    assert ll.Run(GIVEN) != GIVEN
    with pytest.raises(TypeError):
        hash(ll.Run(GIVEN))


@pytest.mark.parametrize("make", [ll.Run.of, ll.Qrels.of])
@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (GIVEN, "row 1 of the dict"),
        (5, "row 1 of the int"),
        ([("q1", "d1", 1), ("q1", "d2")], "row 2 of the list"),
        ([("q1", "d1", 1), ("q1", "d2", 1, 1)], "row 2 of the list"),
        ([("q1", "d1", "0.5")], "row 1 of the list"),
        ([("q1", "d1", 10**400)], "row 1 of the list"),
        ([("q1", "d1", None)], "row 1 of the list"),
    ],
    ids=str,
)
def test_rows_of_another_form_are_one_line(make: Callable[[Any], Any], rows: Any, says: str) -> None:
    with pytest.raises(InputError) as refused:
        make(rows)
    assert str(refused.value).startswith(f"{says} has the wrong form. Each row must be (query, document, ")
    assert "\n" not in str(refused.value)


NUMBERED = [(1, 7, 0.5), (1, 8, 1.5), (2, 7, 1.0)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: {1: {7: 0.5, 8: 1.5}, 2: {7: 1.0}},
        lambda: NUMBERED,
        lambda: pd.DataFrame(NUMBERED, columns=list(COLUMNS)),
        lambda: pl.DataFrame(NUMBERED, schema=list(COLUMNS), orient="row"),
    ],
    ids=["dictionary", "rows", "pandas", "polars"],
)
def test_ids_that_are_whole_numbers_are_text(make: Callable[[], Any]) -> None:
    whole = {"1": {"8": 1.5, "7": 0.5}, "2": {"7": 1.0}}
    for read in (ll.Run, ll.Qrels, ll.read_run, ll.read_qrels):
        assert read(make()).to_dict() == whole


def test_the_cure_of_a_frame_is_that_of_its_library() -> None:
    rows = [(1.0, "d7", 0.5)]
    with pytest.raises(InputError, match=r"\. To convert the column, use \.astype\(int\)"):
        ll.Run(pd.DataFrame(rows, columns=list(COLUMNS)))
    with pytest.raises(InputError, match=r"\. To convert the column, use \.cast\(int\)"):
        ll.Run(pl.DataFrame(rows, schema=list(COLUMNS), orient="row"))


@pytest.mark.parametrize(
    ("identifier", "told"),
    [
        (1.0, r"not a string\."),
        (True, r"not a string\."),
        (b"1", r"not a string\."),
        (None, "there is no id"),
    ],
)
def test_other_ids_are_never_text(identifier: object, told: str) -> None:
    given: Any = {identifier: {"d1": 1.0}}
    with pytest.raises(InputError, match=told):
        ll.Run(given)


def test_whole_numbers_of_ids_in_files_are_text_and_others_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame(NUMBERED, schema=list(COLUMNS), orient="row")
    frame.write_parquet(path)
    assert ll.Run(path).to_dict()["2"] == {"7": 1.0}
    frame.with_columns(query_id=pl.lit(1.5)).write_parquet(path)
    with pytest.raises(InputError, match=r"a\.parquet, row 1: id 1\.5 in column 'query_id' is of type float"):
        ll.Run(path)
