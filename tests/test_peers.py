"""Equal to pytrec_eval (trec_eval 9.0.8) and ir_measures, query by query, on random data.

Known differences, each with a test below:
- pytrec_eval says 0 where a measure is undefined (nothing relevant, nothing retrieved); we say NaN.
- pytrec_eval leaves a query out of its answer that the run lacks; we give its value.
- trec_eval's set_F is 0/0 where nothing relevant was retrieved, and pytrec_eval says 0; F is 0 there.
- ir_measures counts a negative grade as a judgment in Judged, and parts ties there by rising id.
- ir_measures gives 0 for a query that the run lacks.
- pytrec_eval crashes on a query with negative grades only, or never comes back; here it is undefined.
- Fractional grades: both refuse them; here they count as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from leadline.errors import LeadlineError
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES

CUTOFFS = (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
LEVELS = [f"{tenth / 10:.2f}" for tenth in range(11)]
SHARED = [
    *"map ndcg recip_rank Rprec bpref set_P set_recall set_F num_ret num_rel num_rel_ret".split(),
    *(f"{name}_{cutoff}" for name in ("map_cut", "P", "recall", "ndcg_cut", "success") for cutoff in CUTOFFS),
    *(f"iprec_at_recall_{level}" for level in LEVELS),
]
FAMILIES = {
    *"""
        map map_cut P recall ndcg ndcg_cut recip_rank Rprec bpref success iprec_at_recall set_P
        set_recall set_F num_ret num_rel num_rel_ret
    """.split()
}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def random_data(seed: int) -> tuple[Qrels, Run]:
    """Return judgments and a run with all that data may hold.

    Ties, scores that differ only beyond 32 bits, negative grades, queries without a relevant document,
    queries of one side only, ids that sort differently as numbers and as bytes.
    """
    random = np.random.default_rng(seed)
    names = [*(f"d{number}" for number in range(60)), "é", "Ω1", "d-1", "D1", "_"]
    qrels: Qrels = {}
    run: Run = {}
    for query in (f"q{number}" for number in range(12)):
        judged = random.choice(names, size=random.integers(1, 40), replace=False).tolist()
        grades = random.choice([-2, -1, 0, 0, 0, 1, 1, 2, 3], size=len(judged)).tolist()
        if random.random() < 0.15:
            grades = [min(grade, 0) for grade in grades]
        if max(grades) < 0:  # pytrec_eval crashes or never comes back then
            grades[0] = 0
        found = random.choice(names, size=random.integers(1, 60), replace=False).tolist()
        scores = random.integers(0, random.choice([2, 8, 1000]), size=len(found)).astype(float)
        if random.random() < 0.5:
            scores = 1.0 + scores * 1e-9  # equal as 32-bit floats
        if random.random() < 0.9:
            qrels[query] = dict(zip(judged, grades, strict=True))
        if random.random() < 0.9:
            run[query] = dict(zip(found, scores.tolist(), strict=True))
    return qrels, run


def ours(qrels: Qrels, run: Run, level: int) -> dict[str, dict[str, float]]:
    """Return our values, by query and trec_eval's name of the measure."""
    found = evaluate(qrels, run, SHARED, profile="trec9", rel=float(level))
    texts = [str(measure) for measure in found.measures]
    assert len(texts) == len(SHARED)
    return {
        query: dict(zip(SHARED, row, strict=True))
        for query, row in zip(found.queries, found.values[0].tolist(), strict=True)
    }


def theirs(qrels: Qrels, run: Run, level: int) -> dict[str, dict[str, float]]:
    """Return the values of pytrec_eval."""
    pytrec_eval: Any = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    wanted = FAMILIES - {"map_cut", "P", "recall", "ndcg_cut", "success"}
    wanted |= {
        f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("map_cut", "P", "recall", "ndcg_cut", "success")
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, wanted, relevance_level=level)
    found: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return found


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_every_shared_measure_equals_pytrec_eval(seed: int, level: int) -> None:
    qrels, run = random_data(seed)
    found, wanted = ours(qrels, run, level), theirs(qrels, run, level)
    assert set(wanted) == set(qrels) & set(run)
    for query, values in wanted.items():
        assert set(values) == set(SHARED)
        for name, value in values.items():
            mine = found[query][name]
            if math.isnan(mine):  # undefined here, 0 there
                assert not any(grade >= level for grade in qrels[query].values()) or (
                    name.startswith("ndcg") and max(qrels[query].values()) <= 0
                )
                mine = 0.0
            assert mine == pytest.approx(value, rel=1e-12, abs=1e-12), (query, name)


def test_the_mean_of_trec9_is_over_the_queries_that_pytrec_eval_answers() -> None:
    qrels, run = random_data(7)
    assert set(qrels) - set(run)
    assert set(run) - set(qrels)
    wanted = theirs(qrels, run, 1)
    results = evaluate(qrels, run, ["map", "ndcg_cut_10", "num_ret"], profile="trec9")
    assert results.averaged_queries() == sorted(wanted)
    for name in ("map", "ndcg_cut_10"):
        column = [values[name] for values in wanted.values()]
        mean = results.mean("run", MEASURES.parse(name))
        assert mean == pytest.approx(sum(column) / len(column), rel=1e-12)
    total = sum(values["num_ret"] for values in wanted.values())
    assert results.mean("run", "NumRet") == total


def test_scores_that_differ_beyond_32_bits_are_ties_there_and_not_here() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.000000001, "b": 1.0}}
    assert theirs(qrels, run, 1)["q"]["map"] == 0.5
    assert evaluate(qrels, run, "map", profile="trec9").mean("run", "AP") == 0.5
    assert evaluate(qrels, run, "map").mean("run", "AP") == 1.0


def test_where_nothing_is_relevant_pytrec_eval_says_0_and_we_say_undefined() -> None:
    qrels = {"q": {"a": 0, "b": 0}}
    run = {"q": {"a": 1.0}}
    assert theirs(qrels, run, 1)["q"]["map"] == 0.0
    assert math.isnan(ours(qrels, run, 1)["q"]["map"])
    assert evaluate(qrels, run, "map", profile="trec9").mean("run", "AP") == 0.0


def test_a_query_with_negative_grades_only_is_undefined() -> None:
    found = ours({"q": {"a": -2, "b": -3}}, {"q": {"a": 1.0, "b": 0.5, "c": 0.2}}, 1)["q"]
    assert math.isnan(found["map"])
    assert found["num_ret"] == 3.0


def test_set_f_is_0_where_nothing_relevant_was_retrieved() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"b": 1.0}}
    assert ours(qrels, run, 1)["q"]["set_F"] == 0.0 == theirs(qrels, run, 1)["q"]["set_F"]


def test_a_query_that_the_run_lacks_has_a_value_here_and_none_there() -> None:
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    run = {"q": {"a": 1.0}}
    assert set(theirs(qrels, run, 1)) == {"q"}
    assert ours(qrels, run, 1)["r"]["map"] == 0.0


def test_fractional_grades_count_here_and_are_refused_there() -> None:
    qrels: Mapping[str, Mapping[str, Any]] = {"q": {"a": 0.5, "b": 1.0}}
    run = {"q": {"a": 2.0, "b": 1.0}}
    value = evaluate(qrels, run, "nDCG").mean("run", "nDCG")
    assert value == pytest.approx((0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3)))
    with pytest.raises(TypeError):
        theirs({"q": {"a": 0.5}}, run, 1)  # type: ignore[dict-item]  # the point of the test


IR_MEASURES = """
        P@5 P@10 P(rel=2)@5 R@5 R@100 R(rel=2)@10 AP AP(rel=2) AP@10 RR RR(rel=2) nDCG nDCG@10 nDCG@3
        Rprec Bpref Success@5 IPrec@0.1 NumRet NumRel NumRelRet SetP SetR SetF
    """.split()


def by_ir_measures(names: list[str], qrels: Qrels, run: Run) -> dict[str, dict[str, float]]:
    """Return the values of ir_measures by query."""
    package: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    asked = {package.parse_measure("NumRet(rel=1)" if name == "NumRelRet" else name): name for name in names}
    found: dict[str, dict[str, float]] = {}
    for metric in package.iter_calc(list(asked), qrels, run):
        found.setdefault(metric.query_id, {})[asked[metric.measure]] = metric.value
    return found


@pytest.mark.parametrize("seed", range(100, 115))
def test_every_shared_measure_equals_ir_measures(seed: int) -> None:
    qrels, run = random_data(seed)
    wanted = by_ir_measures(IR_MEASURES, qrels, run)
    results = evaluate(qrels, run, IR_MEASURES, profile="trec9")
    assert set(wanted) == set(qrels)  # a query that the run lacks has 0 there
    for query, values in wanted.items():
        for name, value in values.items():
            mine = results.value(
                "run",
                query,
                MEASURES.parse(name).replace(**({"rule": "trec9"} if name.startswith("IPrec") else {})),
            )
            if query not in run and name == "NumRel":
                continue  # 0 there; here the judgments are counted
            mine = 0.0 if math.isnan(mine) else mine
            assert mine == pytest.approx(value, rel=1e-12, abs=1e-12), (query, name)


@pytest.mark.parametrize("seed", range(200, 215))
def test_judged_equals_ir_measures_where_nothing_is_tied_and_no_grade_negative(seed: int) -> None:
    qrels, run = random_data(seed)
    qrels = {
        query: {name: max(grade, 0) for name, grade in grades.items()} for query, grades in qrels.items()
    }
    run = {query: {name: float(place) for place, name in enumerate(scores)} for query, scores in run.items()}
    names = ["Judged@1", "Judged@10", "Judged@50"]
    wanted = by_ir_measures(names, qrels, run)
    results = evaluate(qrels, run, names)
    for query, values in wanted.items():
        for name, value in values.items():
            mine = results.value("run", query, name)
            assert (0.0 if math.isnan(mine) else mine) == pytest.approx(value, rel=1e-12)


def test_ir_measures_counts_a_negative_grade_as_a_judgment() -> None:
    qrels, run = {"q": {"a": -1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    assert by_ir_measures(["Judged@2"], qrels, run)["q"]["Judged@2"] == 1.0
    assert evaluate(qrels, run, "Judged@2").mean("run", "Judged@2") == 0.5


def test_ir_measures_parts_ties_in_judged_by_rising_id() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert by_ir_measures(["Judged@1"], qrels, run)["q"]["Judged@1"] == 1.0
    assert evaluate(qrels, run, "Judged@1").mean("run", "Judged@1") == 0.0


@pytest.mark.parametrize("name", ["P@0", "IPrec@1.5"])
def test_what_peers_accept_or_die_of_is_refused_in_words(name: str) -> None:
    with pytest.raises(LeadlineError, match="must be"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, name)
