"""`leadline agreement`: shapes of the result, tables, figures, refusals."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from conftest import Leadline
from leadline.errors import LeadlineError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where two judges and a run lie."""
    monkeypatch.chdir(tmp_path)
    for name, shift in (("ann", 0), ("ben", 1), ("cat", 2)):
        (tmp_path / f"{name}.qrels").write_text(
            "".join(f"q{q} 0 d{d} {(q * d + (d % 3 == 0) * shift) % 3}\n" for q in range(3) for d in range(8))
        )
    for run in range(3):
        (tmp_path / f"r{run}.run").write_text(
            "".join(f"q{q} Q0 d{d} 1 {(d * (run + 2) + q) % 11} t\n" for q in range(3) for d in range(8))
        )
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_json_has_the_keys_of_the_contract(leadline: Leadline) -> None:
    data = leadline(
        "agreement", "ann.qrels", "ben.qrels", "-f", "json", "-C", "agreement.resample=pairs"
    ).data
    assert {"pairs", "agreement", "scott", "cohen", "fleiss", "krippendorff", "confusion", "ranking"} < set(
        data
    )
    assert data["pairs"] == 24
    for name in ("scott", "cohen", "fleiss", "krippendorff"):
        assert {"value", "low", "high", "acceptable"} <= set(data[name])
        assert data[name]["low"] <= data[name]["value"] <= data[name]["high"]
    assert data["ranking"] is None
    assert [one["rows"] for one in data["inputs"]] == [24, 24]
    assert data["judges"] == ["ann", "ben"]
    assert sum(map(sum, data["confusion"][0]["counts"])) == 24


def test_the_table_of_the_lecture_has_a_kappa_of_776_and_is_acceptable(leadline: Leadline) -> None:
    data = leadline("agreement", "--table", "300,20,10,70", "-f", "json").data
    assert round(data["scott"]["value"], 4) == 0.7759
    assert round(data["cohen"]["value"], 4) == 0.7761
    assert all(data[name]["acceptable"] for name in ("scott", "cohen", "fleiss", "krippendorff"))
    assert data["chance"] == [
        {
            "a": "judge 1",
            "b": "judge 2",
            "pairs": 400,
            "disagreements": 30,
            "observed": 0.925,
            "pooled": [0.7875, 0.2125],
            "expected": pytest.approx(0.7875**2 + 0.2125**2),
            "expected_own": pytest.approx(0.665),
        }
    ]
    low = leadline("agreement", "--table", "30,20,10,7", "-f", "json").data
    assert low["cohen"]["acceptable"] is False


@pytest.mark.parametrize(
    ("counts", "verdict"), [("16,7,4,9", False), ("30,3,2,14", False), ("30,3,2,15", True)]
)
def test_there_is_no_verdict_below_50_pairs(leadline: Leadline, counts: str, *, verdict: bool) -> None:
    data = leadline("agreement", "--table", counts, "-f", "json").data
    for name in ("scott", "cohen", "fleiss", "krippendorff"):
        assert (data[name]["acceptable"] is not None) == verdict
        assert data[name]["low"] <= data[name]["value"] <= data[name]["high"]
    assert ("few_pairs" in {one["code"] for one in data["warnings"]}) != verdict
    assert "insufficient. To improve" not in leadline("agreement", "--table", "6,4,4,4").out


def test_larger_tables_and_weights_go_by_the_numbers(leadline: Leadline) -> None:
    cells = "20,5,1,3,30,4,0,6,31"
    plain, far = (
        leadline("agreement", "--table", cells, "-C", f"agreement.weights={weights}", "-f", "json").data[
            "cohen"
        ]["value"]
        for weights in ("none", "quadratic")
    )
    assert plain < far


@pytest.mark.usefixtures("folder")
def test_runs_stand_behind_one_option_as_a_shell_writes_them(leadline: Leadline) -> None:
    done = leadline(
        "agreement", "ann.qrels", "ben.qrels", "--runs", "r0.run", "r1.run", "r2.run", "-f", "json"
    )
    assert set(done.data["ranking"]["means"]) == {"ann", "ben"}
    assert done.data["ranking"]["systems"] == ["r0", "r1", "r2"]
    assert [one["measure"] for one in done.data["ranking"]["between"]] == ["AP", "nDCG"]
    text = leadline("agreement", "ann.qrels", "ben.qrels", "--runs", "r0.run", "r1.run", "-m", "P@2").out
    assert "P@2" in text
    assert "--runs" in leadline("agreement", "ann.qrels", "ben.qrels", "--runs").refusal


def test_three_judges_are_shown_two_by_two_and_many_by_their_means(leadline: Leadline, folder: Path) -> None:
    text = leadline("agreement", "ann.qrels", "ben.qrels", "cat.qrels", "-q").out
    assert "ann  ben" in text
    assert "Cohen's kappa (mean)" in text
    assert "query  pairs" in text
    (folder / "many.csv").write_text(
        "query_id,doc_id,"
        + ",".join(f"j{place}" for place in range(34))
        + "\n"
        + "".join(f"q1,d{d}," + ",".join(str((d + p // 9) % 3) for p in range(34)) + "\n" for d in range(20))
    )
    text = leadline("agreement", "many.csv", "--config", "test.draws=0").out
    assert "Mean agreement with the other judges" in text
    assert max(map(len, text.splitlines()[:45])) <= 100
    assert (
        len(leadline("agreement", "many.csv", "--config", "test.draws=0", "--reference").out.splitlines())
        < 60
    )


@pytest.mark.usefixtures("folder")
def test_csv_and_json_lines_hold_every_number(leadline: Leadline) -> None:
    files = ("ann.qrels", "ben.qrels", "cat.qrels")
    rows = list(csv.DictReader(io.StringIO(leadline("agreement", *files, "-q", "-f", "csv").out)))
    assert {row["coefficient"] for row in rows} == {"agreement", "scott", "cohen", "fleiss", "krippendorff"}
    assert len([row for row in rows if row["coefficient"] == "cohen"]) == 1 + 3 + 3
    done = leadline("agreement", *files, "-f", "jsonl")
    assert "no intervals with" in done.err
    assert json.loads(done.out.splitlines()[0])["coefficient"] == "agreement"
    assert json.loads(done.out.splitlines()[1])["acceptable"] is None  # 24 pairs
    assert {row["acceptable"] for row in rows} == {""}
    table = leadline("agreement", "--table", "300,90,80,70", "-f", "csv").out
    assert [row["acceptable"] for row in csv.DictReader(io.StringIO(table))][:2] == ["", "no"]


@pytest.mark.parametrize("more", [(), ("--reference",)], ids=str)
def test_a_figure_is_drawn(leadline: Leadline, folder: Path, more: tuple[str, ...]) -> None:
    done = leadline(
        *"agreement ann.qrels ben.qrels cat.qrels".split(),
        *more,
        *"--config test.draws=50 -o kappa.svg".split(),
    )
    assert done.status == 0
    assert b"<svg" in (folder / "kappa.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "needs either judges (qrels) or --table (counts), but neither was given"),
        (("ann.qrels",), "judge"),
        (("ann.qrels", "ann.qrels"), "two judges are both named 'ann'"),
        (("ann.qrels", "nothing.qrels"), "nothing.qrels"),
        (("--table", "1,2,x,4"), "--table 1,2,x,4 is not valid"),
        (("--table", "1,2,3"), "3 numbers"),
        (("--table", "1,2,3,nan"), "counts in a table"),
        (("--table", "1,2,3,4", "ann.qrels"), "not both"),
        (("--table", "1,2,3,4", "--level", "2"), "--level"),
        (("ann.qrels", "ben.qrels", "-C", "agreement.weights=cubic"), "'cubic' is not one of"),
        (("ann.qrels", "ben.qrels", "-o", "x.bmp"), "x.bmp"),
        (("ann.qrels", "ben.qrels", "-o", "ann.qrels"), "would overwrite an input"),
        (("ann.qrels", "ben.qrels", "--runs", "r0.run", "-m", "nDGC"), "nDCG"),
        (("ann.qrels", "ben.qrels", "--runs", "no.run"), "no.run"),
        (("ann.qrels", "ben.qrels:x"), "column 'x' cannot be selected in this file format. Pass CSV"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_is_refused_in_one_line(
    leadline: Leadline, arguments: tuple[str, ...], says: str
) -> None:
    assert says in leadline("agreement", *arguments).refusal


@pytest.fixture
def queries(folder: Path) -> Path:
    """Make twelve queries of the judges and runs."""
    for name, shift in (("ann", 0), ("llm", 1)):
        (folder / f"{name}.qrels").write_text(
            "".join(
                f"q{q} 0 d{d} {int((q * d + d) % 3 == 0 or shift * (d + q) % 5 == 1)}\n"
                for q in range(12)
                for d in range(9)
            )
        )
    for run in range(3):
        (folder / f"r{run}.run").write_text(
            "".join(f"q{q} Q0 d{d} 1 {(d * (run + 2) + q) % 11} t\n" for q in range(12) for d in range(9))
        )
    return folder


@pytest.mark.usefixtures("queries")
def test_labels_are_audited_by_the_reference(leadline: Leadline) -> None:
    words = ("agreement", "ann.qrels", "llm.qrels", "--runs", "r0.run", "r1.run", "r2.run", "-m", "P@3")
    data = leadline(*words, "-C", "agreement.within=0.1", "-C", "agreement.top=2", "-f", "json").data
    (one,) = data["audit"]
    assert (one["reference"], one["judge"], one["measure"], one["queries"]) == ("ann", "llm", "P@3", 12)
    assert set(one["runs"][0]) == {*"name reference labels bias rank rank_labels gain favored".split()}
    assert one["top"]["runs"] == 2
    (needed,) = data["needed"]
    assert needed["within"] == 0.1
    assert needed["judgments"] == 9 * needed["queries"]
    assert (data["options"]["within"], data["options"]["top"]) == (0.1, 2)
    text = leadline(*words).out
    for run in one["runs"]:
        assert f"{run['bias']['value']:.3f}" in text
    rows = list(csv.DictReader(io.StringIO(leadline(*words, "-f", "csv").out)))
    gains = {row["run"]: float(row["value"]) for row in rows if row["coefficient"] == "gain"}
    assert gains == {run["name"]: run["gain"]["value"] for run in one["runs"]}
    for refused in (("-C", "agreement.within=0"), ("-C", "agreement.top=1")):
        done = leadline(*words, *refused)
        assert (done.status, done.out) == (2, "")
    assert leadline("agreement", "--table", "1,2,3,4", "-C", "agreement.within=0.1").err.count("\n") == 1
    done = leadline(*words[:-1], "GMAP", "-C", "agreement.top=2")
    assert (
        "agreement.top needs a measure with an arithmetic mean" in done.refusal
    )  # not --runs, which were given


@pytest.mark.usefixtures("queries")
def test_without_runs_the_judgments_needed_are_computed_on_request(leadline: Leadline) -> None:
    words = ("agreement", "ann.qrels", "llm.qrels", "-f", "json")
    assert leadline(*words).data["needed"] == []
    wide, narrow = (
        leadline(*words, "-C", f"agreement.within={width}").data["needed"][0] for width in ("0.2", "0.02")
    )
    assert narrow["queries"] > wide["queries"] >= 10
    assert narrow["design_effect"] == wide["design_effect"]


@pytest.fixture
def scores(queries: Path, leadline: Leadline) -> Path:
    """Write the values of all runs by each judge."""
    for judge in ("ann", "llm"):
        words = (f"{judge}.qrels", "r0.run", "r1.run", "r2.run", "-m", "P@3", "-m", "AP", "-q", "-f", "csv")
        assert leadline("evaluate", *words, "-o", f"{judge}.csv").status == 0
    return queries


@pytest.mark.usefixtures("scores")
def test_values_by_both_judges_give_the_audit_of_their_labels(leadline: Leadline) -> None:
    runs = ("--runs", "r0.run", "r1.run", "r2.run", "-m", "P@3", "-m", "AP")
    labels = leadline("agreement", "ann.qrels", "llm.qrels", *runs, "-f", "json").data
    values = leadline("agreement", "ann.csv", "llm.csv", "-f", "json").data
    for mine, theirs in zip(values["audit"], labels["audit"], strict=True):
        assert (mine["judge"], mine["measure"], mine["queries"]) == ("llm", theirs["measure"], 12)
        for part in ("bias", "kendall", "tau_ap"):
            assert mine[part] == pytest.approx(theirs[part], abs=1e-12)
        by_name = (sorted(each["runs"], key=lambda run: str(run["name"])) for each in (mine, theirs))
        for one, other in zip(*by_name, strict=True):  # a table has the runs in the order of their means
            assert (one["name"], one["favored"]) == (other["name"], other["favored"])
            assert one["gain"] == pytest.approx(other["gain"], abs=1e-12)
    for judge in ("ann", "llm"):
        means, expected = (data["ranking"]["means"][judge] for data in (values, labels))
        assert means == {run: pytest.approx(one, abs=1e-12) for run, one in expected.items()}
    swaps = [[one["swapped"], one["apart"]] for one in labels["ranking"]["between"]]
    assert [[one["swapped"], one["apart"]] for one in values["ranking"]["between"]] == swaps
    assert not {"cohen", "scott", "needed"} & set(values)
    assert [one["path"] for one in values["inputs"]] == ["ann.csv", "llm.csv"]
    assert (
        "For kappa and other coefficients, pass the labels" in leadline("agreement", "ann.csv", "llm.csv").out
    )


def test_a_judge_is_a_table_of_any_form(leadline: Leadline, scores: Path) -> None:
    """A wide table has the judges' values as two measures; a folder has a file of trec_eval for each run."""
    frames = {
        judge: list(csv.DictReader(io.StringIO((scores / f"{judge}.csv").read_text())))
        for judge in ("ann", "llm")
    }
    cells = {
        judge: {(row["run"], row["query"]): row["AP"] for row in rows if row["query"]}
        for judge, rows in frames.items()
    }
    both = ["run,query,by_ann,by_llm"]
    both += [
        f"{run},{query},{value},{cells['llm'][run, query]}" for (run, query), value in cells["ann"].items()
    ]
    (scores / "both.csv").write_text("\n".join(both) + "\n")
    for judge, values in cells.items():
        (scores / judge).mkdir()
        for name in ("r0", "r1", "r2"):
            lines = [f"map\t{query}\t{value}\n" for (run, query), value in values.items() if run == name]
            (scores / judge / f"{name}.txt").write_text("".join(lines))
    plain = leadline("agreement", "ann.csv", "llm.csv", "-m", "AP", "-f", "json").data["audit"][0]
    for words in (("both.csv:by_ann", "both.csv:by_llm"), ("ann", "llm")):
        (found,) = leadline("agreement", *words, "-f", "json").data["audit"]
        assert found["bias"] == pytest.approx(plain["bias"], abs=1e-12)
        assert found["kendall"] == pytest.approx(plain["kendall"], abs=1e-12)
    done = leadline("agreement", "ann", "llm", "--config", "test.draws=0", "-o", "means.svg")
    assert b"<svg" in (scores / "means.svg").read_bytes()
    assert "AP according to llm, compared with ann" in done.out
    rows = list(csv.DictReader(io.StringIO(leadline("agreement", "ann", "llm", "-f", "csv").out)))
    assert {row["coefficient"] for row in rows} == {"bias", "gain", *KENDALL}
    lines = leadline("agreement", "ann", "llm", "-f", "jsonl").out.splitlines()
    assert json.loads(lines[0])["value"] == float(rows[0]["value"])


KENDALL = ("kendall", "tau_ap", "kendall of the first 3", "tau_ap of the first 3")


def test_what_one_judge_lacks_is_left_out_and_counted(leadline: Leadline, scores: Path) -> None:
    lines = (scores / "llm.csv").read_text().splitlines(keepends=True)
    (scores / "less.csv").write_text("".join(line for line in lines if ",q7," not in line))
    data = leadline("agreement", "ann.csv", "less.csv", "-m", "AP", "-f", "json").data
    assert data["audit"][0]["queries"] == 11
    assert ("queries_left_out", 1) in {(one["code"], one["count"]) for one in data["warnings"]}
    (scores / "fewer.csv").write_text("".join(line for line in lines if not line.startswith("r1")))
    data = leadline("agreement", "ann.csv", "fewer.csv", "-f", "json").data
    assert [run["name"] for run in data["audit"][0]["runs"]] == ["r0", "r2"]
    assert ("runs_left_out", 1) in {(one["code"], one["count"]) for one in data["warnings"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ann.csv",), "not 1. Pass REFERENCE[:MEASURE] LABELS[:MEASURE]..."),
        (("ann.csv", "ann.csv"), "two judges are both named 'ann'"),
        (("ann.csv", "llm.csv", "--level", "2"), "--level does not apply to values"),
        (
            ("ann.csv", "llm.csv", "-C", "agreement.weights=linear"),
            "agreement.weights does not apply to values",
        ),
        (("ann.csv", "llm.csv", "-C", "agreement.within=0.1"), "agreement.within does not apply to values"),
        (("ann.csv", "llm.csv", "--runs", "r0.run"), "--runs does not apply to values"),
        (("ann.csv", "llm.csv", "-m", "RBP"), "has no measure 'RBP'. Use P@3 or AP."),
        (("ann.csv:AP", "llm.csv", "-m", "AP"), "use only one of -m and ann.csv:AP"),
        (("ann.csv", "llm.csv", "-o", "x.svg"), "2 combinations"),
        (("ann.csv", "llm.csv", "-o", "llm.csv"), "would overwrite an input"),
        (("ann.csv", "none.csv"), "none.csv"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("scores")
def test_scores_that_cannot_be_audited_are_refused_in_one_line(
    leadline: Leadline, arguments: tuple[str, ...], says: str
) -> None:
    done = leadline("agreement", *arguments)
    assert (done.status, done.out) == (2, "")
    assert says in done.err
    assert leadline("agreement", "ann.qrels", "llm.qrels", "--config", "scores.missing=zero").status == 2


def test_results_of_python_are_audited_or_refused() -> None:
    def results(shift: float, **more: float) -> Any:
        values = {f"r{run}": {f"q{q}": {"AP": (q + run * shift) % 1} for q in range(5)} for run in range(3)}
        return ll.read_scores(values | {name: {"q0": {"AP": value}} for name, value in more.items()})

    found = ll.audit_scores({"ann": results(0.1), "llm": results(0.2)}, draws=0)
    assert [one.judge for one in found.audits] == ["llm"]
    assert math.isnan(found.audits[0].bias.low)  # five queries: no interval
    first, second = ({"AP": 0.5}, {"RR": 0.5})
    for judges, says in (
        ({"ann": results(0.1)}, "(a reference and a judge), not 1"),
        ({"ann": results(0.1), "llm": {"r0": {}}}, "judge 'llm' must be Results, not dict"),
        (
            {
                "ann": ll.read_scores({"a": {"q1": first}, "b": {"q1": first}}),
                "llm": ll.read_scores({"x": {"q1": first}, "b": {"q1": first}}),
            },
            "share 1 run and 1 query",
        ),
        (
            {
                "ann": ll.read_scores({"a": {"q1": first | {"P@1": 1}}, "b": {"q1": first | {"P@1": 1}}}),
                "llm": ll.read_scores({"a": {"q1": second}, "b": {"q1": second}}),
            },
            "no measure in common (ann: AP, P@1; llm: RR)",
        ),
    ):
        with pytest.raises(LeadlineError, match=re.escape(says)):
            ll.audit_scores(judges)


@pytest.mark.usefixtures("scores")
def test_two_tables_of_one_name_can_be_named(leadline: Leadline) -> None:
    refusal = leadline("agreement", "ann.csv", "ann.csv").err
    assert "Rename one of them, as in other=ann.csv." in refusal
    assert (
        leadline("agreement", "ann.csv", "other=ann.csv", "-f", "json").data["audit"][0]["judge"] == "other"
    )


@pytest.mark.usefixtures("folder")
def test_an_option_is_no_run(leadline: Leadline) -> None:
    said = leadline("agreement", "ann.qrels", "ben.qrels", "--runs", "-m", "AP").refusal
    assert "Option '--runs RUN...' requires an argument" in said


def test_a_table_of_a_run_is_not_two_judges(leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,rank,score\nq1,d1,1,12.1\nq1,d2,2,9.8\n")
    refused = leadline("agreement", path).refusal
    assert "has the columns score and rank" in refused
    assert "`leadline difference QRELS RUN RUN`" in refused


def notes_of(*judges: dict[str, dict[str, int]], per_query: bool = False, **options: Any) -> str:
    """Return the notes below the tables of agreement."""
    tables = ll.agreement(dict(zip("abc", judges, strict=False)), **options)._tables(
        per_query=per_query
    )  # without the command line
    return "\n".join(note for table in tables for note in table.notes)


def test_a_judge_who_shares_no_pair_has_no_mean_agreement(leadline: Leadline, tmp_path: Path) -> None:
    rows = [
        f"q1,{doc},{judge},{grade}" for judge, doc, grade in zip("abcdefg", "xxyyzzw", "0101010", strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["query_id,doc_id,judge,grade", *rows, "q1,v,a,1", "q1,v,b,1"]))
    text = leadline("agreement", tmp_path / "t.csv", "-C", "agreement.over=two").out
    (alone,) = (line.split() for line in text.splitlines() if line.startswith("g "))
    assert alone[1:] == ["-"] * 4


def test_notes_give_the_reason_that_holds() -> None:
    first = {f"q{query}": {f"d{place}": (query + place) % 2 for place in range(8)} for query in range(12)}
    second = {query: row | {"d0": 1, "d1": 1, "d2": 0} for query, row in first.items()}
    third = second | {"q99": {"d0": 1, "d1": 0}}
    notes = notes_of(first, second, within=1e-6)
    assert "more than ten million queries would be needed" in notes
    assert "kappa has no interval" not in notes
    assert "use fewer grades" not in notes  # of two
    assert "use fewer grades" in notes_of(
        first, {query: row | {"d0": 2, "d1": 2, "d2": 2} for query, row in second.items()}
    )
    shared = notes_of(
        first, third, third, reference=True, over="two", per_query=True
    )  # q99 is judged by the others alone
    assert "or a judged none of the pairs" in shared


def test_the_pairs_that_runs_are_scored_on_are_those_that_all_judged() -> None:
    judges = {
        name: {"q": dict.fromkeys(documents, 1)}
        for name, documents in zip("abc", ["xy", "xy", "x"], strict=True)
    }
    for over, pairs in (("all", "these pairs"), ("two", "the pairs that all judged")):
        found = ll.agreement(judges, over=over, runs={"r": {"q": ["x"]}, "s": {"q": ["y", "x"]}})
        assert str(found.table().title).endswith(f"only on {pairs}")


def test_bias_and_gain_that_no_table_shows_are_said_to_be_in_csv() -> None:
    first = {f"q{query}": {f"d{place}": (query + place) % 2 for place in range(4)} for query in range(12)}
    second = {query: row | {"d0": 1} for query, row in first.items()}
    runs = {
        name: {query: {f"d{place}": float((place * step) % 5) for place in range(4)} for query in first}
        for name, step in (("x", 1), ("y", 2), ("z", 3))
    }
    more: dict[str, Any] = {"runs": runs, "reference": True, "measures": ["AP"], "draws": 0}
    assert "CSV and JSON also have each run's bias" in notes_of(first, second, second, **more)
    assert "bias: labels minus reference" in notes_of(first, second, **more)
    assert "if lower is better" not in notes_of(first, second, **more)
    assert "if lower is better" in notes_of(first, second, **more | {"measures": ["E"]})
    more |= {"runs": {"x": runs["x"], "y": runs["y"], "z": runs["y"]}, "used_the_judge": ["x"]}
    assert "Tau is undefined over the other runs and " in notes_of(first, second, **more)
