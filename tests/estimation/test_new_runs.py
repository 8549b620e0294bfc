"""Runs that did not contribute to the pool: widened intervals, ranks, and values that are withheld."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import UsageError
from leadline.estimation.designs import Cascade, Linear, kind_of
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.estimators import Estimator
from leadline.estimation.pool_designs import pool_for
from leadline.estimation.samples import evidence_of
from leadline.estimation.sampling_errors import MOST_GUESSED_OF_NEW, NONE, RunEstimate, widening
from leadline.io.objects import read_run
from leadline.measures import MEASURES

QUERIES = [f"q{number}" for number in range(40)]
RNG = np.random.default_rng(3)
GRADES = {query: {f"d{one}": int(RNG.random() < 0.3) for one in range(80)} for query in QUERIES}
POOLED = {
    name: {query: [f"d{one}" for one in RNG.permutation(60)[:20]] for query in QUERIES} for name in "abc"
}


def run_with(outside: int, ranks: tuple[int, ...] = (4, 7, 1, 9, 0)) -> dict[str, list[str]]:
    """Return a run with `outside` documents of each first ten outside the frame."""
    found = {}
    for query in QUERIES:
        ranked = list(POOLED["a"][query])
        for number, rank in enumerate(ranks[:outside]):
            ranked[rank] = f"d{60 + number}"
        found[query] = ranked
    return found


RUNS: dict[str, Any] = POOLED | {"near": run_with(1), "far": run_with(5)}
POOL = pool_for(POOLED, "P@10", budget=9).pool


def judged(pool: DrawnPool) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn, strict=True):
        if drawn:
            found.setdefault(query, {})[document] = GRADES[query][document]
    return found


def estimated(measures: list[str], pool: DrawnPool = POOL, **options: Any) -> EstimatedResults:
    return estimate(judged(pool), RUNS, measures, pool=pool, **options)


def test_widening_worked_by_hand() -> None:
    # From .05 to .13 and .13: the widening is 1 - .05/.13 of the width; half of it is at .09.
    part = RunEstimate(NONE, NONE, NONE, NONE, np.array([0.12, 0.12]), open=(50.0, 0.001))
    found = widening(0.05, part, 0.95)
    assert [found.low, found.high] == pytest.approx([0.13, 0.13])
    assert found.share == pytest.approx(1 - 0.05 / 0.13)
    share = 1.959964**2 * 0.001 / (1.959964**2 * 0.001 + 0.09**2 - 0.05**2)
    assert found.to_halve == math.ceil(50 * share)
    assert widening(0.05, part._replace(doubt=np.zeros(2)), 0.95) == (0.05, 0.05, 0.0, 0)


@pytest.mark.parametrize("measure", ["P@10", "RBP(p=0.8)@10", "P", "RR@10"])
def test_documents_outside_the_frame_are_counted_as_by_loops(measure: str) -> None:
    sample = evidence_of(judged(POOL), POOL, None, None, skipped=False, seed=0).sample
    kind = kind_of(MEASURES.parse(measure))
    estimator = Estimator(sample, kind)
    run = read_run(RUNS["far"])
    part = estimator.of(JudgedRun.of_run(run, sample.table))
    framed = set(zip(POOL.queries, POOL.documents, strict=True))
    assert isinstance(kind, (Linear, Cascade))
    count, spread = 0, 0.0
    for row, query in enumerate(sample.table.queries.names):
        ranked = RUNS["far"][query.decode()]
        cut = len(ranked) if kind.cutoff is None else kind.cutoff
        m, reach = float(estimator.outside[row]), 1.0
        for rank, document in enumerate(ranked[:cut], start=1):
            weight = float(kind.weights(np.array([float(rank)]))[0])
            weight = 1 / len(ranked) if measure == "P" else weight
            inside = (query.decode(), document) in framed
            if not inside:
                count += 1
                spread += (weight * reach / len(QUERIES)) ** 2 * m * (1 - m)
            if measure.startswith("RR"):
                place = sample.table.begin[row]
                names = list(sample.table.documents)[place : sample.table.end[row]]
                pseudo = estimator.pseudo[place + names.index(document.encode())] if inside else m
                reach *= min(max(1 - float(pseudo), 0.0), 1.0)
    assert part.open[0] == count
    assert part.open[1] == pytest.approx(spread)


def test_drawing_as_many_documents_as_are_named_halves_the_widening() -> None:
    one = estimated(["P@10"]).estimate("near", "P@10")
    assert one.to_halve is not None
    framed = set(zip(POOL.queries, POOL.documents, strict=True))
    others = [
        (query, document)
        for query in QUERIES
        for document in RUNS["near"][query][:10]
        if (query, document) not in framed
    ]
    share = one.to_halve / len(others)
    rng, widths = np.random.default_rng(1), []
    for _ in range(20):
        more = DrawnPool(
            [*POOL.queries, *(query for query, _ in others)],
            [*POOL.documents, *(document for _, document in others)],
            np.append(POOL.probability, np.full(len(others), share)),
            np.append(POOL.order, np.full(len(others), np.nan)),
            [*POOL.contributors, *({} for _ in others)],
            np.append(POOL.drawn, rng.random(len(others)) < share),
            POOL.design,
        )
        again = estimated(["P@10"], more).estimate("near", "P@10")
        assert again.widened == 0
        widths.append(again.these_high - again.these_low)
    width = one.these_high - one.these_low
    assert np.mean(widths) == pytest.approx(width * (1 - one.widened / 2), rel=0.05)


def test_new_runs_have_an_interval_up_to_a_larger_weight_outside_the_frame() -> None:
    results = estimated(["P@10"])
    near, far = results.estimate("near", "P@10"), results.estimate("far", "P@10")
    assert 0.05 < near.guessed <= MOST_GUESSED_OF_NEW < far.guessed
    assert near.these_low < near.value < near.these_high
    assert 0 < near.widened < 1
    assert math.isnan(far.these_low)
    assert (far.rank, math.isnan(far.widened), far.to_halve) == (None, True, None)
    assert math.isnan(estimated(["P@10"], proxy="none").estimate("near", "P@10").these_low)


def test_only_sums_are_said_to_have_conservative_intervals() -> None:
    found = estimated(["RR@10", "P@10"])
    assert not found.estimate("near", "RR@10").reason
    (said,) = [one.message for one in found.warnings if one.code == "conservative_intervals"]
    assert said.startswith("P@10 intervals")


def test_runs_without_an_interval_have_no_rank_beside_others() -> None:
    results = estimated(["P@10", "AP"])
    found = {name: results.estimate(name, "P@10") for name in RUNS}
    ranked = sorted((one for name, one in found.items() if name != "far"), key=lambda one: -one.value)
    assert [one.rank for one in ranked] == [1, 2, 3, 4]
    assert sorted(str(results.estimate(name, "AP").rank) for name in RUNS) == ["1", "2", "3", "4", "5"]
    table = results.table()
    rank = table.columns.index("rank")
    assert {row[0]: row[rank] for row in table.rows if row[2] == "P@10"}["far"] is None
    far = results.to_dict()["runs"][4]["estimate"]["P@10"]
    assert (far["rank"], far["widened"], far["to_halve"]) == (None, None, None)


def test_horvitz_thompson_values_that_are_far_off_are_withheld() -> None:
    names = ["P@10", "RR@10", "nDCG@10", "R@10", "AP"]
    plain, without = estimated(names), estimated(names, proxy="none")
    for run in POOLED:
        assert not math.isnan(without.estimate(run, "P@10").value)
        for measure in ("nDCG@10", "R@10", "AP"):
            assert not math.isnan(plain.estimate(run, measure).value)
            assert math.isnan(without.estimate(run, measure).value)
            assert without.estimate(run, measure).reason
            assert without.to_dict()["runs"][0]["mean"][measure] is None
        one = without.estimate(run, "RR@10")
        assert math.isnan(one.value) or one.these_high - one.these_low <= 1.0
    certain = {query: dict.fromkeys(row, 1.0) for query, row in GRADES.items()}
    exact = estimate(GRADES, POOLED, ["nDCG@10", "AP"], pool=certain, proxy="none")
    assert not math.isnan(exact.estimate("a", "nDCG@10").value)


def test_the_judge_is_named_once() -> None:
    results = estimated(["P@10", "RBP@10"])
    assert [notice.code for notice in results.warnings].count("one_judge") == 1
    notice = next(str(one) for one in results.warnings if one.code == "one_judge")
    assert list(results.table().notes).count(notice) == 1
    assert notice.endswith("intervals suggest")
    withheld = estimate({"q0": GRADES["q0"]}, POOLED, "P@10", pool={"q0": dict.fromkeys(GRADES["q0"], 0.5)})
    assert "intervals suggest" not in str(withheld.warnings)


def test_the_first_query_of_a_pool_is_that_of_its_first_row() -> None:
    pool = {"q2": {"d": 0.5}, "q10": {"d": 0.5}}
    with pytest.raises(UsageError, match=r"in the pool: q2\)"):
        estimate(
            {"q2": {"d": 1}, "q10": {"d": 1}}, {"a": {"q2": ["d"]}}, "P@1", pool=pool, machine={"x": {"d": 1}}
        )
