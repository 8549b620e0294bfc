"""Comparison of estimates from drawn judgments: tests over queries, intervals for these queries, gates."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from leadline.comparison import engine
from leadline.comparison.gate import BELOW, NOT_WORSE, WORSE, condition_of, gates_of
from leadline.comparison.gate_reports import report_of
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import UsageError
from leadline.estimation.estimate import estimate
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import read_drawn_pool

Grades = dict[str, dict[str, float]]


def world(seed: int, queries: int = 40, gain: float = 0.8) -> tuple[Grades, dict[str, Grades]]:
    rng = random.Random(seed)
    grades: Grades = {}
    runs: dict[str, Grades] = {"old": {}, "new": {}}
    for number in range(queries):
        query = f"q{number}"
        grades[query] = {f"d{place}": float(rng.random() < 0.3) for place in range(50)}
        for name, share in (("old", 0.8), ("new", 0.8 + gain)):
            runs[name][query] = {
                document: share * grade + rng.gauss(0, 1) for document, grade in grades[query].items()
            }
    return grades, runs


def drawn_of(pool: DrawnPool, grades: Grades) -> Grades:
    judged: Grades = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            judged.setdefault(query, {})[document] = grades[query][document]
    return judged


def compared(seed: int, budget: float, **options: Any) -> tuple[Any, Any, Grades, dict[str, Grades]]:
    grades, runs = world(seed)
    pool = pool_for(runs, "P@10", budget=budget, seed=seed).pool
    judged = drawn_of(pool, grades)
    found = ll.compare(judged, runs, "P@10", pool=pool, **options)
    return found, estimate(judged, runs, "P@10", pool=pool), grades, runs


def test_estimates_are_compared_over_queries_by_their_values() -> None:
    found, results, _, _ = compared(1, 6)
    gap = results.values[1, :, 0] - results.values[0, :, 0]
    pair = found.pairs[0]
    assert (pair.a, pair.b, pair.wins) == ("new", "old", None)
    assert pair.difference == pytest.approx(gap.mean())
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    assert (pair.high - pair.low) / 2 == pytest.approx(2.0226909 * error)  # t quantile of 39 degrees


@pytest.mark.parametrize("order", [["old", "new"], ["new", "old"]])
def test_limits_for_these_queries_are_those_of_the_draw(order: list[str]) -> None:
    found, results, grades, runs = compared(2, 6)
    one = results.differences("P@10")[0]  # old - new
    assert found.these is not None
    assert found.these.limits[0, 0].tolist() == [-one.these_high, -one.these_low]
    data = found.to_dict()["pairs"][0]
    assert (data["these_low"], data["these_high"]) == pytest.approx((-one.these_high, -one.these_low))
    assert data["sentence"] in str(found)
    row = found.to_pandas().iloc[0]
    assert (row["these_low"], row["these_high"]) == pytest.approx((-one.these_high, -one.these_low))
    assert found.to_csv().splitlines()[0].split(",") == list(found.to_pandas().columns)
    pool = pool_for(runs, "P@10", budget=6, seed=2).pool
    named = {name: runs[name] for name in order}
    again = ll.compare(drawn_of(pool, grades), named, "P@10", pool=pool, baseline="new")
    assert again.these is not None
    assert again.these.limits[0, 0].tolist() == pytest.approx([one.these_low, one.these_high])


def test_where_all_that_matters_is_judged_the_values_are_those_of_all_judgments() -> None:
    found, _, grades, runs = compared(3, 40)
    all_judged = ll.compare(grades, runs, "P@10").pairs[0]
    pair = found.pairs[0]
    assert (pair.difference, pair.p) == pytest.approx((all_judged.difference, all_judged.p))
    assert found.these is not None
    assert found.these.limits[0, 0, 0] == found.these.limits[0, 0, 1]
    assert "exact for these queries" in str(found)


def test_intervals_for_these_queries_hold() -> None:
    held = 0
    for seed in range(60):
        found, _, grades, runs = compared(100 + seed, 5)
        truth = ll.compare(grades, runs, "P@10").pairs[0].difference
        assert found.these is not None
        low, high = found.these.limits[0, 0]
        held += low <= truth <= high
    assert 52 <= held <= 60  # 95 %: 57


def test_gates_cannot_tell_without_an_interval() -> None:
    grades, runs = world(4)
    pool = pool_for(runs, "P@10", total=40).pool  # below 50 judgments there is no interval
    judged = drawn_of(pool, grades)
    with pytest.raises(UsageError, match="interval"):
        ll.compare(judged, runs, "P@10", pool=pool, baseline="old")
    runs["third"] = {query: {f"x{place}": -float(place) for place in range(20)} for query in grades}
    pool = pool_for({name: runs[name] for name in ("old", "new")}, "P@10", budget=8).pool
    found = ll.compare(drawn_of(pool, grades), runs, "P@10", pool=pool, baseline="old")
    texts = [("P@10", WORSE), ("P@10:0.05", NOT_WORSE), ("P@10=0.1", BELOW)]
    gates = gates_of(found, [condition_of(text, kind) for text, kind in texts])
    assert [(gate.run, gate.failed, bool(gate.reason)) for gate in gates] == [
        (run, run == "third", run == "third") for _ in texts for run in ("new", "third")
    ]
    assert found.verdicts[0][1] == "undecided"
    assert "not_tested" in {one.code for one in found.warnings}


def test_an_error_advises_only_what_can_be_done() -> None:
    grades, runs = world(4)
    pool = pool_for(runs, "P@10", budget=8).pool
    judged = drawn_of(pool, grades)
    third = {query: {f"x{place}": -float(place) for place in range(20)} for query in grades}
    advice = {}
    for names in (("old",), ("old", "new")):  # with one other run, none could be left out
        with pytest.raises(UsageError, match="Judge more documents") as caught:
            ll.rank(judged, {name: runs[name] for name in names} | {"third": third}, "P@10", pool=pool)
        advice[len(names)] = "leave" in str(caught.value)
    assert advice == {1: False, 2: True}
    pool = pool_for(runs, "nDCG@10", budget=8).pool
    results = estimate(drawn_of(pool, grades), runs, "nDCG@10", pool=pool, machine=grades)
    with pytest.raises(UsageError, match=r"has no interval for old and new.*Leave out the labels"):
        ll.compare(results)


def test_what_was_not_drawn_is_known_from_a_pool_and_not_from_more_judgments(tmp_path: Path) -> None:
    grades, runs = world(4)
    drawn = [
        f"{query}\t{document}\t{grade:g}\t0.5\n"
        for query, judged in grades.items()
        for document, grade in list(judged.items())[::2]
    ]
    path = tmp_path / "drawn.tsv"
    path.write_text("".join(["query_id\tdoc_id\trelevance\tprobability\n", *drawn]))
    with pytest.raises(UsageError, match=r"documents that were not drawn.*\. Pass one as "):
        ll.compare(path, runs, "nDCG@10")


def test_a_floor_within_the_interval_of_an_estimate_is_not_decided() -> None:
    found, results, _, _ = compared(5, 6, baseline="old")
    one = results.estimate("new", "P@10")
    floors = [one.these_low - 0.001, (one.these_low + one.value) / 2, one.value + 0.001]
    gates = gates_of(found, [condition_of(f"P@10={floor}", BELOW) for floor in floors])
    assert [(gate.failed, bool(gate.reason)) for gate in gates] == [
        (False, False),
        (True, True),
        (True, False),
    ]


def test_a_report_has_no_estimates_of_single_queries() -> None:
    found, results, _, _ = compared(5, 6, baseline="new")
    texts = [("P@10=0.9", BELOW), ("P@10", WORSE)]
    reports = [
        report_of(gate, results)
        for gate in gates_of(found, [condition_of(text, kind) for text, kind in texts])
    ]
    assert all(text.startswith("FAILED: ") for text in reports)
    assert not [text for text in reports if "worst" in text or "lost most" in text]


def test_options_of_complete_judgments_are_refused() -> None:
    grades, runs = world(6)
    pool = pool_for(runs, "P@10", budget=6).pool
    judged = drawn_of(pool, grades)
    for options in ({"queries": "both"}, {"depth": 5}, {"judged_only": True}):
        with pytest.raises(UsageError, match=next(iter(options))):
            ll.compare(judged, runs, "P@10", pool=pool, **options)
    with pytest.raises(UsageError, match="pool"):
        ll.compare(judged, runs, "P@10", machine=grades)
    with pytest.raises(UsageError, match="estimates from a sample of judgments have no bounds"):
        _ = ll.evaluate(judged, runs, "P@10", pool=pool).mean_bounds
    with pytest.raises(UsageError, match="pool"):
        ll.rank(judged, runs, "P@10", machine=grades)
    for function in (ll.compare, ll.rank):
        with pytest.raises(UsageError, match="`machine` cannot be used with results"):
            function(ll.evaluate(grades, runs, "P@10"), machine=grades)
        with pytest.raises(
            UsageError, match="runs cannot be passed with results, which already contain runs"
        ):
            function(ll.evaluate(grades, runs, "P@10"), runs=runs)


def test_ranks_are_those_of_estimates() -> None:
    grades, runs = world(7)
    pool = pool_for(runs, "P@10", budget=6).pool
    judged = drawn_of(pool, grades)
    found = ll.rank(judged, runs, "P@10", pool=pool)
    assert [run.name for run in found.runs_of(0)] == ["new", "old"]
    assert found.to_dict() == ll.rank(estimate(judged, runs, "P@10", pool=pool)).to_dict()


def test_a_pool_its_judgments_and_a_gate(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    grades, runs = world(8)
    monkeypatch.chdir(tmp_path)
    for name, run in runs.items():
        ll.write_run(run, f"{name}.run")
    assert (
        leadline("pool", "old.run", "new.run", "--for", "P@10", "--budget", "6", "-o", "pool.tsv").status == 0
    )
    judged = drawn_of(read_drawn_pool("pool.tsv"), grades)
    lines = [f"{q} 0 {d} {int(g)}" for q, documents in judged.items() for d, g in documents.items()]
    Path("judged.qrels").write_text("\n".join(lines) + "\n")
    given = ["judged.qrels", "old.run", "new.run", "--pool", "pool.tsv", "-m", "P@10"]
    shown = leadline("compare", *given, "-f", "json")
    pair = json.loads(shown.out)["pairs"][0]
    assert (pair["a"], pair["verdict"]) == ("new", "better")
    assert pair["these_low"] < pair["difference"] < pair["these_high"]
    assert leadline("compare", *given, "--baseline", "old", "--fail-if-worse", "P@10").status == 0
    assert leadline("compare", *given, "--baseline", "new", "--fail-if-worse", "P@10").status == 1
    assert leadline("rank", *given).status == 0
    for command in ("compare", "rank"):
        assert leadline(command, *given, "-o", "pool.tsv").status == 2
        assert leadline(command, *given, "--depth", "5").status == 2
        assert leadline(command, *given, "--config", "read.kind=qrels").status == 0
    assert leadline("compare", *given, "--baseline-file", "kept.json").status == 2
    rows = [f"{q}\t{d}\t1\n" for q, documents in judged.items() for d in documents]
    Path("plain.tsv").write_text("query_id\tdoc_id\tprobability\n" + "".join(rows))
    complete = ("compare", *given[:3], "-m", "P@10", "-f", "json")
    plain = leadline(*complete, "--pool", "plain.tsv").data
    assert plain["inputs"][0]["rows"] == len(lines)
    assert plain["pairs"] == leadline(*complete).data["pairs"]


@pytest.mark.parametrize("options", [{"correction": "MaxT"}, {"correction": "Tukey"}, {"margin": 0.9}])
def test_a_pair_without_an_interval_has_no_verdict_by_any_procedure(options: dict[str, Any]) -> None:
    grades, runs = world(4)
    pool = pool_for(runs, "P@10", budget=8).pool
    runs["third"] = {query: {f"x{place}": -float(place) for place in range(20)} for query in grades}
    found = ll.compare(drawn_of(pool, grades), runs, "P@10", pool=pool, **options)
    for pair in found.pairs:
        assert (pair.verdict == "undecided") is math.isnan(pair.p_corrected) is ("third" in (pair.a, pair.b))
        assert math.isnan(pair.low) is ("third" in (pair.a, pair.b))
        assert math.isnan(pair.simultaneous_low) or "third" not in (pair.a, pair.b)


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_labels_that_a_pool_names_are_used_as_by_evaluate(
    command: str, tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    grades, runs = world(9)
    monkeypatch.chdir(tmp_path)
    for name, run in runs.items():
        ll.write_run(run, f"{name}.run")
    rng = random.Random(1)
    noisy = {
        q: {d: float(g if rng.random() < 0.8 else 1 - g) for d, g in one.items()} for q, one in grades.items()
    }
    for path, table in (("labels.qrels", noisy), ("judged.qrels", {})):
        rows = [f"{q} 0 {d} {int(g)}" for q, one in table.items() for d, g in one.items()]
        Path(path).write_text("\n".join(rows) + "\n")
    pool = ("pool", "old.run", "new.run", "--for", "P@10", "--budget", "6", "--machine", "labels.qrels")
    assert leadline(*pool, "-o", "pool.tsv").status == 0
    judged = drawn_of(read_drawn_pool("pool.tsv"), grades)
    rows = [f"{q} 0 {d} {int(g)}" for q, one in judged.items() for d, g in one.items()]
    Path("judged.qrels").write_text("\n".join(rows) + "\n")
    given = ("judged.qrels", "old.run", "new.run", "--pool", "pool.tsv", "-m", "P@10", "-f", "json")
    means = {run["name"]: run["mean"]["P@10"] for run in leadline("evaluate", *given).data["runs"]}
    for more in ((), ("--machine", "none")):
        found = leadline(command, *given, *more).data
        shown = (
            {one["a"]: one["mean_a"] for one in found["pairs"]}
            if command == "compare"
            else {one["name"]: one["mean"] for one in found["runs"]}
        )
        assert (shown["new"] == pytest.approx(means["new"])) is (not more)
        labels = "none" if more else None
        of_python = getattr(ll, command)(*given[:3], "P@10", pool="pool.tsv", machine=labels)
        assert of_python.results.mean("new", "P@10") == pytest.approx(shown["new"])
        paths = [Path(one["path"]).name for one in found["inputs"]]
        assert ("labels.qrels" in paths) is (not more)
        assert "pool.tsv" in paths
        assert found["options"]["pool"] == "pool.tsv"


def test_limits_of_new_runs_are_widened_as_those_for_these_queries_and_tests_agree() -> None:
    """Runs that did not contribute have documents outside the pool, whatever the number of queries."""
    grades, runs = world(8)
    pool = pool_for({"old": runs["old"]}, "P@10", budget=6).pool
    runs["other"] = {}
    for name, last in (("new", 9), ("other", 9)):  # a document in ten is outside
        for query, scores in runs["old"].items():
            ranked = sorted(scores, key=scores.__getitem__, reverse=True)[:10]
            listed = [*ranked[:last], f"x{name}"]
            runs[name][query] = {document: -float(place) for place, document in enumerate(listed)}
    found = ll.compare(drawn_of(pool, grades), runs, "P@10", pool=pool, baseline="old", correction="none")
    assert found.these is not None
    alone = engine.Tested(found.parts, found.rules)
    doubt = found.these.doubt[0]
    assert (doubt.sum(axis=1) > 0).any()
    for pair in range(len(found.pairing)):
        mean, (low, high), (down, up) = alone.means[0, pair], alone.limits[0, pair], doubt[pair]
        wide = (mean - np.hypot(mean - low, down), mean + np.hypot(high - mean, up))
        assert found.limits[0, pair] == pytest.approx(wide)
        assert found.p_uncorrected[0, pair] >= alone.p_uncorrected[0, pair]
        excludes = wide[0] > 0 or wide[1] < 0
        assert (found.p_uncorrected[0, pair] < 0.05) == excludes
    (gate, other) = gates_of(found, [condition_of("P@10:0.05", NOT_WORSE)])
    assert gate.limit <= alone.means[0, 0]
    assert other.p >= 0.0


def test_what_is_relative_to_the_pool_is_named_as_in_evaluate() -> None:
    grades, runs = world(3)
    pool = pool_for(runs, "nDCG@10", budget=12, machine=grades, seed=3).pool
    judged = drawn_of(pool, grades)
    found = ll.compare(judged, runs, "nDCG@10", pool=pool)
    assert "nDCG@10, pooled" in str(found)
    assert "relevant documents in the pool" in str(found)
    assert found.to_dict()["pairs"][0]["measure"] == "nDCG@10"
    assert "pooled" not in str(ll.compare(grades, runs, "nDCG@10"))


def test_a_measure_that_the_pool_was_not_drawn_for_is_remarked() -> None:
    grades, runs = world(4)
    pool = pool_for(runs, "P@10", budget=12, seed=4).pool
    judged = drawn_of(pool, grades)
    found = ll.compare(judged, runs, "P@5", pool=pool, baseline="old")
    assert "drawn for P@10, so P@5" in str(found)
    (gate,) = gates_of(found, [condition_of("P@5")])
    assert "p" in str(gate)
    assert "for a loss" in str(gate)
    assert "other_measure" not in {one.code for one in ll.compare(judged, runs, "P@10", pool=pool).warnings}


def test_each_measure_that_the_pool_was_not_drawn_for_is_remarked_once() -> None:
    grades, runs = world(4)
    pool = pool_for(runs, "P@10", budget=12, seed=4).pool
    found = ll.evaluate(drawn_of(pool, grades), runs, ["P@10", "P@5", "R@20", "AP"], pool=pool)
    assert [str(one) for one in found.warnings if "pool was drawn for" in str(one)] == [
        "the pool was drawn for P@10, so values and ranks of runs are unreliable for R@20 and AP",
        "the pool was drawn for P@10, so P@5 estimates are less precise",
    ]


def test_no_estimate_is_less_precise_where_every_document_that_matters_was_judged() -> None:
    grades, runs = world(4, queries=12)
    pool = pool_for(runs, "P@10", budget=100).pool
    found = ll.evaluate(drawn_of(pool, grades), runs, ["P@10", "P@5", "RBP"], pool=pool)
    assert [one.message for one in found.warnings if one.code == "other_measure"] == [
        "the pool was drawn for P@10, so RBP estimates are less precise"
    ]


def test_the_measures_for_which_the_runs_of_a_pair_have_no_interval_are_named() -> None:
    grades, runs = world(4)
    for query in list(grades)[:5]:  # both have the same first document, which is not judged
        ranked = runs["old"][query]
        runs["new"][query][max(ranked, key=lambda name: ranked[name])] = 9.0
    pool = pool_for(runs, "DCG@20", budget=100, pair=("old", "new"), seed=4).pool
    found = estimate(drawn_of(pool, grades), runs, ["DCG@1", "DCG@20"], pool=pool)
    assert not any(found.estimate(name, "DCG@20").reason for name in runs)
    assert "individual runs have no DCG@1 interval" in str(found)


def test_names_of_runs_with_braces_are_quoted_as_they_are() -> None:
    grades, runs = world(4)
    runs = {"a{x}": runs["old"], "b": runs["new"]}
    pool = pool_for(runs, "P@10", total=150, pair=("a{x}", "b"), seed=4).pool
    found = ll.evaluate(drawn_of(pool, grades), runs, "P@10", pool=pool)
    assert "individual runs have no interval, because the pool was drawn to compare a{x} and b" in [
        str(one) for one in found.warnings
    ]


def test_an_error_about_pairs_names_the_runs() -> None:
    grades, runs = world(5)
    pool = pool_for(runs, "P@10", budget=12, seed=5).pool
    with pytest.raises(
        UsageError,
        match=r"R@10 has no interval for old and new, because AP, R and F .*\. Choose another measure",
    ):
        ll.compare(drawn_of(pool, grades), runs, "R@10", pool=pool)
