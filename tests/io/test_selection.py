"""A subset of queries and documents that are their query: left out wherever a run comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline, examples
from leadline.data.reading import Reading
from leadline.errors import InputError, UsageError
from leadline.io.read import counted_run
from leadline.io.selection import read_query_ids, selected_qrels
from run_sources import SOURCES, Run, as_trec
from strategies import FORMS, in_form

RUN: Run = {
    "a": {"a": 3.0, "b": 2.0, "c": 1.0},
    "b": {"c": 2.0, "b": 1.0},
    "cc": {"cc": 1.0},
    "d": {"cc": 1.0},
}
QRELS = {"a": {"a": 1, "c": 1}, "b": {"c": 1}, "d": {"x": 1}}


def slow(run: Run, queries: set[str] | None, *, drop: bool) -> tuple[Run, int]:
    """Select as the definition says; count the documents that are their query."""
    found: Run = {}
    identical = 0
    for query, documents in run.items():
        if queries is not None and query not in queries:
            continue
        for document, score in documents.items():
            if drop and document == query:
                identical += 1
            else:
                found.setdefault(query, {})[document] = score
    return found, identical


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("queries", [None, {"a", "cc", "z"}, {"d"}])
def test_every_source_is_selected_as_the_definition_says(
    source: str, drop: bool, queries: set[str] | None, tmp_path: Path
) -> None:
    wanted, identical = slow(RUN, queries, drop=drop)
    given_run = SOURCES[source](RUN, tmp_path)
    reading = Reading(drop_identical_ids=drop, queries_in=None if queries is None else sorted(queries))
    run, counts = counted_run(given_run, reading=reading)
    assert run.to_dict() == wanted
    assert counts.identical == identical
    assert counts.queries == len(wanted)
    measured = ll.evaluate(QRELS, {"r": given_run}, "AP", drop_identical_ids=drop, queries_in=queries)
    judged = {query: found for query, found in QRELS.items() if queries is None or query in queries}
    expected = ll.evaluate(judged, {"r": wanted}, "AP")
    assert measured.queries == expected.queries
    assert measured.mean("r", "AP") == expected.mean("r", "AP")
    found = {notice.code: notice.count for notice in measured.warnings}
    assert [notice.code for notice in measured.warnings].count("unknown_queries") < 2
    assert found.get("identical_ids", 0) == identical
    assert found.get("unknown_queries", 0) == len((queries or set()) - set(QRELS))


@examples(40)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "ab", "é"]),
        st.dictionaries(
            st.sampled_from(["a", "b", "ab", "é", "c"]), st.sampled_from([1.0, 2.0, 0.5]), min_size=1
        ),
        min_size=1,
    ),
    st.none() | st.sets(st.sampled_from(["a", "b", "ab", "é", "z"]), min_size=1),
    st.booleans(),
    st.booleans(),
)
def test_both_forms_select_as_the_definition_says(
    run: Run, queries: set[str] | None, drop: bool, text: bool
) -> None:
    import tempfile

    wanted, identical = slow(run, queries, drop=drop)
    reading = Reading(drop_identical_ids=drop, queries_in=None if queries is None else sorted(queries))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.run"
        path.write_text(as_trec(run))
        source: Any = path if text else run
        for form in FORMS:
            with in_form(form):
                if not wanted:
                    with pytest.raises(InputError, match="contains"):
                        counted_run(source, reading=reading)
                    continue
                found, counts = counted_run(source, reading=reading)
                assert found.to_dict() == wanted
                assert counts.identical == identical


@pytest.mark.usefixtures("form")
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("documents", [{"d": 1.0}, {"q1": 2.0, "d": 1.0}])
def test_a_list_that_is_empty_before_the_selection_stays(documents: dict[str, float], tmp_path: Path) -> None:
    run = {"q1": documents, "q2": {}, "q3": {}, "q4": {"q4": 1.0}}
    (tmp_path / "a.json").write_text(json.dumps(run))
    for source in (run, tmp_path / "a.json"):
        reading = Reading(drop_identical_ids=True, queries_in=["q1", "q2", "q4"])
        assert counted_run(source, reading=reading)[0].to_dict() == {"q1": {"d": 1.0}, "q2": {}}


def test_a_repeat_outside_the_selection_is_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\nq2 Q0 d1 2 1 t\n")
    assert ll.read_run(path, queries_in=["q1"]).to_dict() == {"q1": {"d1": 2.0}}
    with pytest.raises(InputError, match="twice"):
        ll.read_run(path, queries_in=["q2"])


FILES = {
    "ids.txt": "q1\nq 2\n",
    "list.txt": "# dev\n\nq1\nq2\n",
    "qrels.txt": "q1 0 d1 1\nq2 0 d1 0\nq2 0 d2 0\n",
    "a.run": "q1 Q0 d1 1 0.5 t\nq2 Q0 d1 1 0.5 t\n",
    "a.tsv": "query_id\ttext\nq1\twings\nq2\ttails\n",
    "queries.dev.tsv": "q1\twhat is a wing\nq2\twhat is a tail\n",
    "a.csv": 'qid,group\n"q1",x\nq2,y\n',
    "texts.csv": "id,query\nq1,wings\nq2,tails\n",
    "one.csv": "query_id\nq1\nq2\n",
    "a.jsonl": '{"_id": "q1", "text": "wings"}\n{"_id": "q2", "text": "tails"}\n',
    "a.json": '[{"query_id": "q1"}, {"query_id": "q2"}]',
    "ids.json": '["q1", "q2"]',
    "qrels.json": '{"q1": {"d1": 1}, "q2": {"d1": 0}}',
}


@pytest.mark.parametrize("name", [name for name in FILES if name != "ids.txt"])
def test_queries_are_read_from_files_of_any_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FILES[name])
    assert read_query_ids(str(path)) == ["q1", "q2"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (FILES["ids.txt"], "ids.txt:2: the line has 2 words"),
        ("", "no query ids"),
        (
            '{"text": "a"}\n{"text": "b"}\n',
            "each record needs a query_id that is nonempty text or a whole number",
        ),
        ("[1.5]", "each record needs a query_id that is nonempty text or a whole number"),
    ],
)
def test_what_is_no_list_of_queries_is_refused_in_one_line(text: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=found) as refused:
        read_query_ids(str(path))
    assert "\n" not in str(refused.value)


def test_queries_that_nothing_has_are_refused() -> None:
    with pytest.raises(InputError, match="has no judgments for any of the 2 selected queries"):
        ll.evaluate(QRELS, RUN, "AP", queries_in=["x", "y"])
    with pytest.raises(InputError, match=r"contains no documents for the selected query$"):
        ll.read_run(RUN, queries_in=["x"])
    with pytest.raises(InputError, match=r"as their query, so drop_identical_ids=True leaves no documents$"):
        ll.read_run({"q": {"q": 1.0}}, drop_identical_ids=True)
    for wrong in ([], 3, [1.5], {"a": 1} and [None]):
        with pytest.raises(UsageError, match="queries_in"):
            ll.read_run(RUN, queries_in=wrong)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.usefixtures("form")
def test_queries_that_a_table_lacks_are_refused_also_where_its_queries_are_mixed(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    rows = [("a", "x"), ("b", "x"), ("a", "y")]
    path.write_text(
        "".join(f'{{"qid": "{query}", "docid": "{name}", "score": 1.5}}\n' for query, name in rows)
    )
    with pytest.raises(InputError, match=r"contains no documents for the selected query$"):
        ll.read_run(path, queries_in=["z"])


def test_selected_queries_may_be_columns_and_whole_numbers(tmp_path: Path) -> None:
    numbers = tmp_path / "ids.json"
    numbers.write_text("[2, 1]")
    run = {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"a": 1.0}}
    for chosen in (np.array(["1", "2"]), pd.Series(["1", "2"]), pd.Index([1, 2]), [1, 2], numbers):
        assert list(ll.read_run(run, queries_in=chosen).to_dict()) == ["1", "2"]


def test_commands_select_and_count(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "qrels.txt").write_text("a 0 c 1\na 0 a 1\nb 0 c 1\nd 0 x 1\n")
    (tmp_path / "a.run").write_text(as_trec(RUN))
    (tmp_path / "b.run").write_text(as_trec(RUN))
    (tmp_path / "dev.txt").write_text("a\nb\nzz\n")
    files = [tmp_path / "qrels.txt", tmp_path / "a.run"]
    options = ["--config", "read.drop_identical_ids", "--config", f"read.queries_in={tmp_path / 'dev.txt'}"]
    found = leadline("evaluate", *files, "-m", "AP", "-m", "NumQ", *options, "-f", "json").data
    assert found["runs"][0]["mean"] == {"AP": (0.25 + 1) / 2, "NumQ": 2}
    assert found["options"]["queries_in"] == str(tmp_path / "dev.txt")
    counts = {notice["code"]: notice["count"] for notice in found["warnings"]}
    assert counts["identical_ids"] == 2
    assert counts["unknown_queries"] == 1
    for command in (
        ["pool", files[1], "--depth", "2", "-o", tmp_path / "pool.tsv"],
        ["unjudged", files[1], tmp_path / "b.run", "--method", "nruns"],
        ["convert", files[1], "-"],
        ["explain", *files, "-m", "AP", "--query-id", "a"],
        ["curve", *files],
        ["compare", *files, files[1], "--config", "read.name_by=file"],
    ):
        outcome = leadline(*command, *options)
        assert outcome.status == (2 if command[0] == "compare" else 0), outcome.err
    assert leadline("convert", files[1], "-", *options).out.count("\n") == 3
    assert (
        leadline("convert", files[0], "-", "--config", f"read.queries_in={tmp_path / 'dev.txt'}").out.count(
            "\n"
        )
        == 3
    )


def test_selected_judgments_keep_the_highest_grade_of_all_on_which_bounds_depend() -> None:
    qrels = ll.Qrels({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 3}})
    chosen = selected_qrels(qrels, Reading(queries_in=["q1"]))
    assert chosen.to_dict() == {"q1": {"d1": 1, "d2": 0}}
    assert chosen.highest_grade == 3
