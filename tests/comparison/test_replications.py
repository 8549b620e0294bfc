"""Reproductions and replications: a worked example, a slow twin, the values of repro_eval, refusals."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import leadline as ll
from leadline.comparison.replication import ReplicationRules, replication_values, tau_union
from leadline.comparison.replication_result import COVERAGE, REPLICATION_COVERAGE, Replication
from leadline.comparison.similarity_baselines import RBO, RankedLists
from leadline.data.ids import Vocabulary
from leadline.data.table import NamedMeasure, RunInfo
from leadline.errors import InputError, UsageError
from leadline.evaluation.results import Results

PEER = Path(__file__).parent / "repro_eval_values.json"
QRELS = {f"q{number}": {"d": 1} for number in range(4)}
SECOND = {query: ["x", "d"] for query in QRELS}  # RR 1/2
FIRST = {query: ["d", "x"] for query in QRELS}  # RR 1
THREE = FIRST | {"q3": ["x", "d"]}


def worked(**options: Any) -> Replication:
    """Return the worked example: the reproduced advanced run fails on one query."""
    return ll.replicate((SECOND, FIRST), (SECOND, THREE), qrels=QRELS, measures="RR", **options)


def test_values_worked_by_hand() -> None:
    result = worked()
    assert result.value("rmse", run="baseline").value == 0
    order = result.value("tau_union", run="baseline")
    assert result.value("tau_union", run="baseline", measure=result.measures[0]) == order, "has no measure"
    with pytest.raises(
        UsageError, match=r"no statistic 'rmse' with run=None. Use .*tau_union.* with run='baseline'; "
    ):
        result.value("rmse")
    assert result.value("rmse", run="advanced").value == 0.25  # sqrt(0.5 ** 2 / 4)
    assert result.value("nrmse", run="advanced").value == 0.25  # the largest error of 1 is 1
    assert result.value("difference", run="advanced").value == -0.125
    assert result.value("original_effect").value == 0.5
    assert result.value("reproduced_effect").value == 0.375
    assert result.value("effect_ratio").value == 0.75
    assert result.value("delta_ri").value == 0.25  # 1 - 0.75
    assert result.value("tau_union", run="advanced").value == 0.5  # 1, 1, 1, -1
    assert result.value("tau_union", run="baseline").value == 1


def results_of(*values: list[float]) -> Results:
    """Return AP of a baseline and an advanced run as results."""
    table = np.array(values)[:, :, None]
    names = Vocabulary([f"q{number}" for number in range(table.shape[1])])
    measure = NamedMeasure("AP", low=0.0, high=1.0)
    runs = [RunInfo("baseline"), RunInfo("advanced")]
    return Results(runs, names, [measure], table, np.ones(table.shape, dtype=np.bool_))


def test_errors_and_effects_worked_by_hand() -> None:
    original, reproduced = results_of([0.4, 0.2], [0.5, 0.3]), results_of([0.3, 0.2], [0.4, 0.3])
    orders = {"tau_union": np.ones((2, 2)), "rbo": np.ones((2, 2))}
    rules = ReplicationRules(draws=0, confidence=0.95, seed=0)
    found = {(v.statistic, v.run): v.value for v in replication_values(original, reproduced, orders, rules)}
    assert found["rmse", "baseline"] == pytest.approx(math.sqrt(0.01 / 2))  # .0707
    assert found["nrmse", "baseline"] == pytest.approx(0.1)  # largest errors .6 and .8: sqrt(1 / 2)
    assert found["effect_ratio", None] == pytest.approx(1.0)  # .1 / .1
    assert found["delta_ri", None] == pytest.approx(0.1 / 0.3 - 0.1 / 0.25)  # -.0667


def test_identical_runs_are_noticed() -> None:
    result = worked()
    assert result.to_dict()["kind"] == "reproduction"
    assert result.value("rmse", run="baseline").withheld == "every difference is 0"


def slow_tau_union(original: list[str], reproduced: list[str]) -> float:
    """Return Kendall's tau union by its definition."""
    depth = min(len(original), len(reproduced))
    first, second = original[:depth], reproduced[:depth]
    union = first + [name for name in second if name not in first]
    return float(
        stats.kendalltau(*([union.index(name) for name in part] for part in (first, second))).statistic
    )


@pytest.mark.usefixtures("form")
def test_tau_union_equals_its_definition_on_random_lists() -> None:
    random = np.random.default_rng(3)
    for _ in range(60):
        names = [f"d{number}" for number in range(30)]
        lists = [random.permutation(names)[: random.integers(2, 25)].tolist() for _ in range(2)]
        found = tau_union(RankedLists.of(lists), 0, 1)
        assert found == pytest.approx(slow_tau_union(*lists), abs=1e-12)


def test_tau_union_is_undefined_for_one_document() -> None:
    assert math.isnan(tau_union(RankedLists.of([["a"], ["a", "b"]]), 0, 1))


def peer_results() -> tuple[dict[str, Any], Replication, Replication]:
    """Return the values of repro_eval, and those of the same experiments."""
    data = json.loads(PEER.read_text())
    pairs = {
        name: (data[name]["baseline"], data[name]["advanced"]) for name in ("original", "reproduced", "other")
    }
    qrels, other = data["original"]["qrels"], data["other"]["qrels"]
    measures = ["AP", "nDCG@10", "P@10"]
    reproduction = ll.replicate(
        pairs["original"], pairs["reproduced"], qrels=qrels, measures=measures, rbo="RBO(p=0.5)"
    )
    replication = ll.replicate(
        pairs["original"], pairs["other"], qrels=qrels, qrels2=other, measures=measures
    )
    return data["values"], reproduction, replication


def test_values_equal_those_of_repro_eval() -> None:
    values, reproduction, replication = peer_results()
    counts = {"agree": 0, "differ with reason": 0, "differ": 0}

    def count(found: float, expected: float, reason: str = "", *, tolerance: float = 1e-12) -> None:
        agrees = abs(found - expected) <= tolerance
        counts["agree" if agrees else "differ with reason" if reason else "differ"] += 1

    for place, run in enumerate(("baseline", "advanced")):
        peer = values["reproduction"][run]
        by_query = {name: reproduction.orders[name][place].tolist() for name in ("tau_union", "rbo")}
        for index, query in enumerate(reproduction.original.queries):
            count(by_query["tau_union"][index], peer["tau_union"][query])
            sorted_ids = peer["tau_union_sorted"][query]
            count(by_query["tau_union"][index], sorted_ids, "the union is in the order of the ids")
            count(by_query["rbo"][index], peer["rbo"][query])
        for measure in reproduction.measures:
            for name in ("rmse", "nrmse"):
                found = reproduction.value(name, measure=measure, run=run).value
                count(found, peer[name][measure])
            found = reproduction.value("difference", measure=measure, run=run).p
            count(found, peer["p"][measure])
            pooled = values["replication"][run]["p"][measure]
            welch = replication.value("difference", measure=measure, run=run).p
            count(welch, pooled, "Welch's t test, repro_eval pools the variances")
    for peer, result in ((values["reproduction"], reproduction), (values["replication"], replication)):
        for measure in result.measures:
            for name in ("effect_ratio", "delta_ri"):
                count(result.value(name, measure=measure).value, peer[name][measure])
    assert counts == {"agree": 78, "differ with reason": 30, "differ": 0}


def test_the_pooled_test_of_repro_eval_is_explained() -> None:
    values, _, replication = peer_results()
    for index, measure in enumerate(replication.measures):
        for place, run in enumerate(("baseline", "advanced")):
            columns = [
                part.averaged_values(index)[place] for part in (replication.original, replication.reproduced)
            ]
            pooled = stats.ttest_ind(*columns).pvalue
            assert values["replication"][run]["p"][measure] == pytest.approx(pooled, rel=1e-9)


def test_rbo_is_that_of_difference() -> None:
    _, reproduction, _ = peer_results()
    data = json.loads(PEER.read_text())
    expected = [
        RBO(p=0.5).of(data["original"]["advanced"][query], data["reproduced"]["advanced"][query])
        for query in reproduction.original.queries
    ]
    assert reproduction.orders["rbo"][1] == pytest.approx(expected, abs=1e-12)


def test_the_interval_of_a_ratio_is_withheld_where_the_original_effect_is_unclear() -> None:
    mixed = {query: (FIRST if number % 2 else SECOND)[query] for number, query in enumerate(QRELS)}
    other = {query: (SECOND if number % 2 else FIRST)[query] for number, query in enumerate(QRELS)}
    other["q3"] = FIRST["q3"]
    result = ll.replicate((mixed, other), (SECOND, FIRST), qrels=QRELS, measures="RR")
    ratio = result.value("effect_ratio")
    assert result.value("original_effect").low < 0 < result.value("original_effect").high
    assert math.isnan(ratio.low)
    assert "original effect contains 0" in ratio.withheld
    assert ratio.value == pytest.approx(0.5 / result.value("original_effect").value)


def test_a_ratio_without_limits_is_blamed_on_few_queries_where_the_original_effect_is_clear() -> None:
    queries = [f"q{number}" for number in range(40)]
    better = {query: ["d", "x"] if place < 27 else ["x", "d"] for place, query in enumerate(queries)}
    worse = {query: found[::-1] for query, found in better.items()}
    few = ["q0", "q1", "q39"]
    again = ({query: runs[query] for query in few} for runs in (worse, better))
    whole, part = ({query: {"d": 1} for query in each} for each in (queries, few))
    result = ll.replicate((worse, better), tuple(again), qrels=whole, qrels2=part, measures="RR")
    assert result.value("original_effect").low > 0
    ratio = result.value("effect_ratio")
    assert math.isnan(ratio.low)
    assert ratio.withheld == "the replicated effect has too few queries for an interval of the ratio"


def test_an_original_effect_of_zero_has_no_ratio() -> None:
    ratio = ll.replicate((FIRST, FIRST), (SECOND, FIRST), qrels=QRELS, measures="RR").value("effect_ratio")
    assert math.isnan(ratio.value)
    assert ratio.withheld == "the original effect is 0"


def test_one_query_has_values_and_no_intervals() -> None:
    runs = ({"q0": ["x", "d"]}, {"q0": ["d", "x"]})
    result = ll.replicate(runs, runs, qrels={"q0": {"d": 1}}, measures="RR")
    assert result.value("effect_ratio").value == 1
    assert all(math.isnan(value.low) and value.withheld == "one query is too few" for value in result.values)
    other = ll.replicate(runs, runs, qrels={"q0": {"d": 1}}, qrels2={"q0": {"d": 1}}, measures="RR")
    (reason,) = (line for line in str(other).splitlines() if line.startswith("no interval for"))
    assert "replicated effect of RR" in reason  # as in the table
    assert "reproduced" not in reason


def test_queries_that_a_run_lacks_are_counted() -> None:
    lacking = {query: ranked for query, ranked in FIRST.items() if query != "q0"}
    result = ll.replicate((SECOND, FIRST), (SECOND, lacking), qrels=QRELS, measures="RR")
    assert result.value("tau_union", run="advanced").queries == 3
    assert result.value("rmse", run="advanced").queries == 4  # its value is 0
    assert {notice.code: notice.count for notice in result.warnings}["missing_from_order"] == 1
    result = ll.replicate((SECOND, FIRST), (SECOND, lacking), qrels=QRELS, measures="RR", queries="both")
    assert result.value("rmse", run="advanced").queries == 3
    assert {notice.code: notice.count for notice in result.warnings}["uncommon_queries"] == 1


def test_a_replication_has_no_values_by_query() -> None:
    other = {query.replace("q", "r"): ranked for query, ranked in THREE.items()}
    base = {query.replace("q", "r"): ranked for query, ranked in SECOND.items()}
    judged = {query: {"d": 1} for query in other}
    result = ll.replicate((SECOND, FIRST), (base, other), qrels=QRELS, qrels2=judged, measures="RR")
    assert {value.statistic for value in result.values} == {
        "difference",
        "original_effect",
        "reproduced_effect",
        "effect_ratio",
        "delta_ri",
    }
    assert result.value("effect_ratio").value == 0.75
    assert result.value("effect_ratio").queries == 8
    for refused in (result.differences, lambda: result.to_dict(per_query=True)):
        with pytest.raises(UsageError, match="replication"):
            refused()
    saved = result.to_json()
    assert type(result).from_json(saved).to_json() == saved


def test_values_by_query() -> None:
    found = worked().to_dict(per_query=True)["per_query"]["q3"]
    assert found == {
        "differences": {"RR": {"baseline": 0.0, "advanced": -0.5}},
        "tau_union": {"baseline": 1.0, "advanced": -1.0},
        "rbo": {"baseline": pytest.approx(1.0), "advanced": pytest.approx(0.95)},
    }


def test_measures_without_a_largest_value_have_no_normalised_error() -> None:
    value = ll.replicate((SECOND, FIRST), (SECOND, THREE), qrels=QRELS, measures="DCG@5").value(
        "nrmse", run="advanced"
    )
    assert math.isnan(value.value)
    assert "unbounded or unknown" in value.withheld


def test_intervals_depend_on_the_seed_only() -> None:
    first, again, other = (
        worked(seed=seed).value("rmse", run="advanced")._replace(withheld="") for seed in (0, 0, 1)
    )
    assert str(first) == str(again)
    assert str(worked(draws=0).value("rmse", run="advanced").withheld) == "the number of draws is 0"
    assert other.value == first.value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 5}, "draws=5"),
        ({"rbo": "Jaccard"}, "'Jaccard' is not valid for rbo. Pass RBO wit"),
        ({"name_by": "tag"}, "name_by"),
        ({"measures": "num_ret"}, "compare"),
        ({"confidence": 2}, "confidence level"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ll.replicate((SECOND, FIRST), (SECOND, THREE), qrels=QRELS, **options)


def test_runs_that_are_not_pairs_are_refused() -> None:
    with pytest.raises(UsageError, match=r"`original` must be a pair of runs, \(baseline, advanced\)"):
        ll.replicate((SECOND,), (SECOND, THREE), qrels=QRELS)


def test_a_run_of_another_collection_is_refused() -> None:
    unknown = {query: ["y", "z"] for query in QRELS}
    with pytest.raises(InputError, match="reproduced advanced"):
        ll.replicate((SECOND, FIRST), (SECOND, unknown), qrels=QRELS)


def test_the_coverage_that_is_printed_is_the_one_that_was_measured() -> None:
    page = (Path(__file__).parents[2] / "docs" / "replication.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-zA-Z ,]+) \|((?: [\d.]+ \|){6})$", page, re.MULTILINE)
    shares = {name: [float(cell) for cell in row.split("|")[:-1]] for name, row in rows}
    held = {name: row for name, row in shares.items() if min(row) > 50}  # the last row counts withheld ratios
    assert len(held) == len(shares) - 1 == 11
    replicated = {name for name in held if "replication" in name}
    kinds = [(held.keys() - replicated, COVERAGE), (replicated | {"effects"}, REPLICATION_COVERAGE)]
    for names, coverage in kinds:
        table = np.array([held[name] for name in names]) / 100
        for column, size in enumerate(coverage):
            found = table[:, [column, column + 3]]
            assert coverage[size] == pytest.approx((found.min(), found.max()))


def test_the_queries_of_a_reproduction_are_those_of_all_four_means() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(6)}
    first, better = ({q: ["x", "d"] for q in qrels}, {q: ["d", "x"] for q in qrels})
    less = {query: row for query, row in first.items() if query != "q3"}
    found = ll.replicate((first, better), (less, better), qrels=qrels, measures="AP", queries="both")
    assert "reproduction: 5 queries " in str(found)
    other = {f"p{n}": {"d": 1} for n in range(4)}
    again = tuple(dict.fromkeys(other, one["q0"]) for one in (first, better))
    found = ll.replicate((less, better), again, qrels=qrels, qrels2=other, measures="AP", queries="both")
    assert "replication: 5 queries in the original, 4 queries " in str(found)


def test_numbers_of_queries_that_depend_on_the_measure_are_told_as_a_range() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(6)}
    first, better = ({q: ["x", "d"] for q in qrels}, {q: ["d", "x"] for q in qrels})
    again = (first | {"q3": ["x"]}, better)
    measures = ["AP", "RankOf(n=1)"]
    found = str(ll.replicate((first, better), again, qrels=qrels, measures=measures))
    assert "reproduction: 5 to 6 queries" in found
    assert "left out up to 1 query per measure " in found
    found = str(ll.replicate((first, better), again, qrels=qrels, qrels2=qrels, measures=measures))
    assert "replication: 6 queries in the original, 5 to 6 queries " in found
    assert "both experiments have the same judgments" in found


def test_tau_union_of_single_documents_is_not_told_as_missing_documents() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(3)}
    runs = ({q: ["d"] for q in qrels}, {q: ["d", "x"] for q in qrels})
    found = ll.replicate(runs, runs, qrels=qrels, measures="AP")
    assert found.value("tau_union", run="baseline").withheld == (
        "for every query, the original or the reproduced list has fewer than two documents"
    )
