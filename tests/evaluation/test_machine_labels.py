"""Labels of machines are said to be that, in every form that has a column of judges."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from leadline.errors import InputError, UsageError
from leadline.evaluation.results import Results


def machine_warnings(found: Results) -> list[int]:
    """Return the counts of warnings of machine labels."""
    return [one.count for one in found.warnings if one.code == "machine_labels"]


LABELLED = [
    {"query_id": "q1", "doc_id": "d1", "relevance": 1, "judge": "llama70b"},
    {"query_id": "q1", "doc_id": "d2", "relevance": 0, "judge": "ann"},
    {"query_id": "q1", "doc_id": "d3", "relevance": 0, "judge": "Team-GPT4o"},
]


def forms_of_labels(tmp_path: Path) -> Iterator[Any]:
    """Yield judgments with a column of judges in every form that has columns."""
    pd = pytest.importorskip("pandas")

    yield LABELLED
    yield pd.DataFrame(LABELLED)
    csv, lines, parquet = (tmp_path / f"labels.{suffix}" for suffix in ("csv", "jsonl", "parquet"))
    pd.DataFrame(LABELLED).to_csv(csv, index=False)
    lines.write_text("".join(json.dumps(row) + "\n" for row in LABELLED))
    pd.DataFrame(LABELLED).to_parquet(parquet)
    yield from (csv, lines, parquet)


def test_a_judge_that_is_a_machine_is_said_in_every_form(tmp_path: Path) -> None:
    run = {"q1": {"d1": 1.0}}
    for labels in forms_of_labels(tmp_path):
        assert machine_warnings(ll.evaluate(labels, run, "P@1")) == [2]
        assert machine_warnings(ll.evaluate(labels, run, "P@1", machine=labels)) == [2]


def test_ranks_and_pairs_say_how_many_judgments_are_labels() -> None:
    runs = {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}}
    says = "2 of 3 judgments are by automatic judges (Team-GPT4o, llama70b)"
    with pytest.raises(UsageError, match=re.escape(f"{says}, so ranks have no interval. Use only human")):
        ll.rank(LABELLED, runs, "P@1")
    notes = [one.message for one in ll.compare(LABELLED, runs, "P@1").warnings if one.code == "not_tested"]
    assert notes == [f"1 pair is not tested: {says}"]
    both = ll.compare(LABELLED, runs, ["P@1", "P@2"])  # one pair by two measures
    assert [one.message.partition(":")[0] for one in both.warnings if one.code == "not_tested"] == [
        "2 comparisons are not tested"
    ]
    assert "sample" not in both.sentences()[0]


def test_judges_that_are_people_and_judgments_without_judges_are_not_warned_of() -> None:
    run = {"q1": {"d1": 1.0}}
    people = [
        row | {"judge": name} for row, name in zip(LABELLED, ("hallmark", "ann", "flanagan"), strict=True)
    ]
    assert machine_warnings(ll.evaluate(people, run, "P@1")) == []
    plain = {"q1": {"d1": 1, "d2": 0}}
    assert machine_warnings(ll.evaluate(plain, run, "P@1")) == []
    found = ll.evaluate(plain, run, "P@1", machine=plain)
    assert machine_warnings(found) == [2]
    assert found.mean("run", "P@1") == ll.evaluate(plain, run, "P@1").mean("run", "P@1")


def test_the_line_that_names_the_judge_is_no_skipped_comment(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    for comments in range(3):
        path.write_text("# machine: llama70b\n" + "# a comment\n" * comments + "q1 0 d1 1\n", "utf-8")
        counts = {code: count for code, _, count in ll.read_qrels(path).remarks}
        assert counts.get("machine_labels") == 1
        assert counts.get("qrels_remark_lines", 0) == comments


def test_a_row_without_a_judge_is_read_as_before() -> None:
    rows = [LABELLED[0], {key: value for key, value in LABELLED[1].items() if key != "judge"}]
    assert machine_warnings(ll.evaluate(rows, {"q1": {"d1": 1.0}}, "P@1")) == [1]


def test_the_command_says_it_in_the_table_and_in_json(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1.0 t\n")
    words = ("evaluate", "a.qrels", "a.run", "-m", "P@1")
    plain, said = leadline(*words).out, leadline(*words, "--machine", "a.qrels").out
    (line,) = set(said.splitlines()) - set(plain.splitlines())
    assert "machine" in line
    data = leadline(*words, "--machine", "a.qrels", "-f", "json").data
    assert [one["count"] for one in data["warnings"] if one["code"] == "machine_labels"] == [2]
    assert data["options"]["machine"] is True
    assert leadline(*words, "--machine", "a.qrels", "-f", "trec").err.count("machine") > 0


QRELS = {f"q{one}": {"d": one % 2, "e": 1} for one in range(12)}
RUNS = {
    "old": {query: {"d": 2.0, "x": 1.0} for query in QRELS},
    "new": {query: {"e": 2.0, "d": 1.0} for query in QRELS},
}


NAMES = ["qrels", "csv", "tsv.gz", "jsonl", "parquet", "arrow"]


@pytest.mark.parametrize("name", [f"labels.{suffix}" for suffix in NAMES])
def test_the_first_line_says_it_and_is_written_again(
    name: str, leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = [f"{query} 0 {doc} {grade}" for query, row in QRELS.items() for doc, grade in row.items()]
    Path("first.qrels").write_text("\n".join(["# machine: llama", *plain]) + "\n")
    ll.write_qrels("first.qrels", name)
    assert ll.read_qrels(name) == ll.Qrels(QRELS)
    assert leadline("convert", "first.qrels", f"again.{name}").status == 0
    assert leadline("convert", "first.qrels", "again.json").status == 2
    with pytest.raises(InputError, match="cannot store the names of automatic judges"):
        ll.write_qrels("first.qrels", "labels.json")
    for path in ("first.qrels", name, f"again.{name}"):
        (notice,) = (one for one in ll.evaluate(path, RUNS, "P@1").warnings if one.code == "machine_labels")
        assert (notice.count, "llama" in notice.message) == (len(plain), True)


def test_values_by_labels_have_no_interval_and_gates_cannot_tell(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ll.write_qrels(QRELS, "plain.qrels")
    Path("labels.qrels").write_text("# machine: llama\n" + Path("plain.qrels").read_text())
    for name, run in RUNS.items():
        ll.write_run(run, f"{name}.run")
    gates = ("--fail-if-worse", "P@1"), ("--require-not-worse", "P@1:0.5"), ("--fail-below", "P@1=0.01")
    given = ("old.run", "new.run", "-m", "P@1", "--baseline", "old")
    plain, labelled = (
        leadline("compare", path, *given, "-f", "json").data["pairs"][0]
        for path in ("plain.qrels", "labels.qrels")
    )
    assert labelled["difference"] == plain["difference"]
    assert (plain["verdict"], labelled["verdict"]) == ("better", "undecided")
    assert [labelled[name] for name in ("low", "high", "p", "p_corrected")] == [None] * 4
    for gate in gates:
        assert leadline("compare", "plain.qrels", *given, *gate).status == 0
        done = leadline("compare", "labels.qrels", *given, *gate, "-f", "json")
        assert (done.status, done.data["conditions"][0]["cannot_tell"]) == (1, True)
        assert [done.data["conditions"][0][name] for name in ("limit", "p")] == [None, None]
    shown = leadline("evaluate", "labels.qrels", "old.run", "-m", "P@1", "--intervals", "-f", "json")
    (run,) = shown.data["runs"]
    assert run["intervals"] == {"P@1": {"low": None, "high": None}}
    assert leadline("rank", "labels.qrels", *given[:4]).status == 2


def drawn(judge: str) -> list[dict[str, Any]]:
    """Return judgments of a drawn sample by a judge."""
    return [
        {"query_id": f"q{one}", "doc_id": doc, "relevance": grade, "probability": 0.9, "judge": judge}
        for one in range(40)
        for doc, grade in (("d", one % 2), ("e", one % 4 > 0))
    ]


def test_drawn_judgments_by_a_machine_have_no_interval_and_no_verdict(tmp_path: Path) -> None:
    runs = {name: {f"q{one}": {doc: 1.0} for one in range(40)} for name, doc in (("old", "d"), ("new", "e"))}
    people, labels = (ll.compare(drawn(judge), runs, "P@1", baseline="old") for judge in ("ann", "machine a"))
    assert (people.verdict, labels.verdict) == ("better", "undecided")
    assert machine_warnings(people.results) == []
    table = tmp_path / "drawn.csv"
    ll.write_qrels(drawn("ann"), table)
    named = {"q0": {"d": 0.9}}
    estimates = (ll.evaluate(drawn("machine a"), runs, "P@1"), ll.evaluate(table, runs, "P@1", machine=table))
    for found in estimates:
        assert machine_warnings(found) == [80]
        assert found.withheld == {"P@1": dict.fromkeys(runs, "the judgments are by an automatic judge")}
    with pytest.raises(UsageError, match="automatic judge cannot correct"):
        ll.evaluate(drawn("ann"), runs, "P@1", second_judge=drawn("machine a"), second_pool=named)


def test_other_results_from_labels_have_no_interval_either() -> None:
    rng = np.random.default_rng(1)
    qrels = {f"q{one}": {f"d{doc}": int(rng.random() < 0.3) for doc in range(20)} for one in range(20)}
    old, new = (
        {
            query: {doc: grade * weight + rng.random() for doc, grade in row.items()}
            for query, row in qrels.items()
        }
        for weight in (0.2, 0.5)
    )
    judged = [
        {"query_id": query, "doc_id": doc, "relevance": grade, "judge": "machine a"}
        for query, row in qrels.items()
        for doc, grade in row.items()
    ]
    for labels, withheld in ((qrels, False), (judged, True)):
        runs: dict[str, Any] = {"old": old, "new": new}
        histogram = ll.histogram(labels, runs)
        assert [math.isnan(one.low + one.robust_low) for one in histogram.measured] == [withheld] * 2
        rows = ll.sampled(labels, runs, "P@5").to_rows()
        assert [row["low"] is None or math.isnan(row["low"]) for row in rows] == [withheld] * 2
        for qrels2 in (None, labels):
            replicated = ll.replicate((old, new), (old, new), qrels=labels, qrels2=qrels2, measures="P@5")
            effect = replicated.value("original_effect")
            assert (math.isnan(effect.low), math.isnan(effect.p)) == (withheld, withheld)
            assert not any("contains 0" in one.message for one in replicated.warnings)
        (pair,) = ll.suite({"collections": {"one": {"qrels": labels, "runs": runs}}}, measures="P@5").pairs
        assert (pair.within.verdict, math.isnan(pair.within.p)) == (
            ("cannot tell", True) if withheld else ("better", False)
        )


def test_a_repaired_copy_keeps_the_mark(tmp_path: Path) -> None:
    given, copy = tmp_path / "labels.txt", tmp_path / "copy.txt"
    given.write_text("# machine: gpt\n1 0 d1 1\n1 0 d1 0\n1 0 d2 1\n")
    ll.check(given, fix=copy)
    assert copy.read_text() == "# machine: gpt\n1 0 d1 1\n1 0 d2 1\n"


def test_a_figure_of_means_says_whose_labels_they_are_by_and_announces_no_interval() -> None:
    runs = {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}}
    figure = ll.evaluate(LABELLED, runs, "P@1", intervals=True).plot(figure="means")
    assert figure.axes[0].get_xlabel() == "P@1, mean (1 query); labels by an automatic judge"
