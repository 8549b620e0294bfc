"""Designs: probabilities, nested draws, prefixes, and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leadline.data.judgment_tables import DrawnPool
from leadline.data.reading import Reading
from leadline.errors import InputError, UsageError
from leadline.estimation.designs import at_scale, draw, listed_frame, random_numbers, scaled
from leadline.estimation.estimate import estimate
from leadline.estimation.measured_pool import draw_twice
from leadline.estimation.pool_designs import pool_for
from leadline.estimation.sampling_errors import half_width
from leadline.estimation.system_lists import read_systems
from leadline.evaluation.evaluate import evaluate
from leadline.io.objects import Run
from leadline.io.pool_files import read_drawn_pool, write_drawn_pool

RNG = np.random.default_rng(3)
QUERIES = [f"q{number:02}" for number in range(12)]
RUNS = {
    name: {query: [f"d{one}" for one in RNG.permutation(60)[:40]] for query in QUERIES}
    for name in ("a", "b", "c")
}
TRUTH = {query: {f"d{one}": int(RNG.random() < 0.4) for one in range(60)} for query in QUERIES}


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=30), st.floats(0.1, 40))
def test_scaled_probabilities_add_up_to_the_budget(weights: list[float], budget: float) -> None:
    p, scale = scaled(np.array(weights), budget)
    assert ((p > 0) & (p <= 1)).all()
    assert p.sum() == pytest.approx(min(budget, len(weights)))
    if budget < len(weights):
        assert p == pytest.approx(np.minimum(1, scale * np.array(weights)))


def test_a_larger_budget_only_adds_pairs() -> None:
    small, large = (pool_for(RUNS, "P@10", budget=budget).pool for budget in (5, 9))
    drawn = [
        {(q, d) for q, d, yes in zip(p.queries, p.documents, p.drawn, strict=True) if yes}
        for p in (small, large)
    ]
    assert drawn[0] < drawn[1]


def test_the_budget_is_kept_and_probabilities_follow_weights() -> None:
    found = pool_for(RUNS, "P@10", budget=8)
    assert found.pool.probability.sum() == pytest.approx(8 * 12)
    assert 0.5 * 96 < found.pairs < 1.5 * 96
    assert found.pool.probability.min() >= 0.02


def test_where_the_budget_covers_all_that_matters_it_is_certain() -> None:
    found = pool_for(RUNS, "P@5", budget=20)
    top = {(q, d) for run in RUNS.values() for q, ranked in run.items() for d in ranked[:5]}
    certain = {
        (q, d)
        for q, d, p in zip(found.pool.queries, found.pool.documents, found.pool.probability, strict=True)
        if p == 1
    }
    assert top <= certain
    results = estimate(TRUTH, RUNS, "P@5", pool=found.pool)
    exact = evaluate(TRUTH, RUNS, "P@5")
    assert results.means == pytest.approx(exact.means, abs=1e-12)
    assert results.estimate("a", "P@5").these_low == pytest.approx(results.mean("a", "P@5"))


def test_pairs_in_order_are_a_smaller_draw() -> None:
    pool = pool_for(RUNS, "P@10", budget=8).pool
    frame, *_ = listed_frame([q.encode() for q in QUERIES], [[[]] for _ in QUERIES], [], 1)
    numbers = random_numbers(frame, 0)
    assert len(numbers) == 0
    kept = sorted(pool.order[pool.drawn])[: int(pool.drawn.sum()) // 2]
    end = kept[-1]
    judged: dict[str, dict[str, int]] = {}
    for q, d, order, yes in zip(pool.queries, pool.documents, pool.order, pool.drawn, strict=True):
        if yes and order < end:
            judged.setdefault(q, {})[d] = TRUTH[q][d]
    found = estimate(judged, RUNS, "P@10", pool=pool)
    assert [notice.code for notice in found.warnings if notice.code == "smaller_draw"]


def test_a_smaller_draw_has_smaller_probabilities() -> None:
    p, number = np.array([0.5, 1.0]), np.array([0.2, 0.3])
    order = number / np.array([0.5, 2.0])  # scale 1
    assert at_scale(p, order, number, 0.4).tolist() == pytest.approx([0.2, 0.8])
    assert at_scale(p, np.array([0.4, 0.0]), number, 0.0).tolist() == [0.0, 0.0]  # before a pair at order 0


def test_a_gap_in_the_order_is_counted_and_no_interval_is_given() -> None:
    pool = pool_for(RUNS, "P@10", budget=8).pool
    first = min(
        (order, q, d)
        for q, d, order, yes in zip(pool.queries, pool.documents, pool.order, pool.drawn, strict=True)
        if yes
    )
    judged = {q: {d: g for d, g in grades.items() if (q, d) != first[1:]} for q, grades in TRUTH.items()}
    undrawn = replace(
        pool,
        drawn=np.array(
            [
                yes and (q, d) != first[1:]
                for q, d, yes in zip(pool.queries, pool.documents, pool.drawn, strict=True)
            ]
        ),
    )
    found, shown, known = (
        estimate(judged, RUNS, "P@10", pool=one, skipped=skipped)
        for one, skipped in ((pool, False), (pool, True), (undrawn, False))
    )
    assert {notice.code: notice.count for notice in found.warnings}["skipped_pairs"] == 1
    assert found.means.tolist() == shown.means.tolist() == known.means.tolist()
    for name in RUNS:
        assert found.estimate(name, "P@10").reason == "judgments are missing for 1 drawn pair"
        assert not shown.estimate(name, "P@10").reason


def test_a_pool_is_read_as_it_was_written(tmp_path: Path) -> None:
    pool = pool_for(RUNS, ["P@10", "RR@5"], budget=6, seed=7).pool
    path = tmp_path / "pool.tsv"
    write_drawn_pool(pool, path, ["a note"])
    again = read_drawn_pool(path)
    rows = [
        sorted(zip(one.queries, one.documents, one.probability, one.order, one.drawn, strict=True))
        for one in (pool, again)
    ]
    assert rows[0] == rows[1]
    assert again.design == pool.design
    first, second = (estimate(TRUTH, RUNS, "P@10", pool=one) for one in (pool, again))
    assert first.means == pytest.approx(second.means, abs=1e-15)


@pytest.mark.parametrize(
    "line", ["# frame\tq\td\t2\t1\t{}", "# frame\tq\td", "# leadline pool {", "# frame\tq\td\t.5\t1\t[]"]
)
def test_a_damaged_pool_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pool.tsv"
    path.write_text(f"{line}\nquery_id\tdoc_id\tprobability\torder\tcontributors\nq\ta\t1\t0\t{{}}\n")
    with pytest.raises(InputError) as caught:
        read_drawn_pool(path)
    assert str(caught.value).startswith(f"{path}:1:")


def test_an_enlarged_pool_keeps_what_was_drawn() -> None:
    first = pool_for(RUNS, "P@10", budget=5)
    larger = pool_for(RUNS, "RR@10", budget=5, earlier=first.pool, depth=20)
    one, two = (
        {
            (q, d): (p, yes)
            for q, d, p, yes in zip(
                f.pool.queries, f.pool.documents, f.pool.probability, f.pool.drawn, strict=True
            )
        }
        for f in (first, larger)
    )
    assert all(two[pair][0] >= p - 1e-12 for pair, (p, _) in one.items())
    assert all(two[pair][1] for pair, (_, yes) in one.items() if yes)
    with pytest.raises(UsageError, match="seed"):
        pool_for(RUNS, "RR@10", budget=5, earlier=first.pool, depth=20, seed=1)


def test_known_judgments_enter_with_certainty_and_cost_nothing() -> None:
    judged = {query: {ranked[0]: 1} for query, ranked in RUNS["a"].items()}
    found = pool_for(RUNS, "P@10", budget=6, judged=judged)
    shares = {
        (q, d): p
        for q, d, p in zip(found.pool.queries, found.pool.documents, found.pool.probability, strict=True)
    }
    assert all(shares[query, ranked[0]] == 1 for query, ranked in RUNS["a"].items())
    assert sum(shares.values()) == pytest.approx(6 * 12 + 12)
    given = drawn_of(found.pool)
    next(iter(given.values()))["elsewhere"] = 1
    (outside,) = [one for one in estimate(given, RUNS, "P@10", pool=found.pool).warnings if one.count == 1][
        :1
    ]
    assert outside.code == "outside_pool"
    assert "--judged" not in outside.message, "which was given"


def drawn_of(pool: DrawnPool) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for q, d, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            judged.setdefault(q, {})[d] = TRUTH[q][d]
    return judged


def test_judgments_drawn_with_the_same_seed_are_refused() -> None:
    judged = drawn_of(pool_for(RUNS, "P@10", budget=6).pool)
    with pytest.raises(UsageError, match="seed 0"):
        pool_for(RUNS, "P@10", budget=9, judged=judged)
    pool_for(RUNS, "P@10", budget=9, judged=judged, seed=1)
    for seed in range(20):  # complete judgments depend on no seed
        pool_for(RUNS, "P@10", budget=9, judged=TRUTH, seed=seed)


def test_judgments_of_another_seed_leave_the_estimate_unbiased() -> None:
    exact = evaluate(TRUTH, RUNS, "P@10").means
    errors = []
    for seed in range(0, 60, 2):
        first = drawn_of(pool_for(RUNS, "P@10", budget=5, seed=seed).pool)
        pool = pool_for(RUNS, "P@10", budget=5, seed=seed + 1, judged=first).pool
        found = estimate(drawn_of(pool), RUNS, "P@10", pool=pool, proxy="none")
        errors.append(float((found.means - exact).mean()))
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(len(errors))


@pytest.mark.parametrize(
    ("budget", "relevant", "reason"),
    [(2, 60, "at least 50 judgments, not "), (7, 10, "at least 10 relevant documents"), (7, 60, "")],
)
def test_judgments_from_before_the_draw_do_not_count_for_an_interval(
    budget: float, relevant: int, reason: str
) -> None:
    truth = {
        query: {name: int(grade and int(name[1:]) < relevant) for name, grade in grades.items()}
        for query, grades in TRUTH.items()
    }
    known = {query: {name: truth[query][name] for name in RUNS["c"][query][:20]} for query in QUERIES}
    runs = {name: RUNS[name] for name in ("a", "b")}
    pool = pool_for(runs, "P@10", budget=budget, judged=known).pool
    found = estimate(truth, runs, "P@10", pool=pool).estimate("a", "P@10")
    new = int((pool.drawn & (pool.order > 0)).sum())
    assert reason in found.reason
    assert (new < 50) == (f"{new} (excluding those made before the draw)" in found.reason)
    assert np.isfinite(found.these_low) == (not reason)


def test_judgments_from_before_the_draw_are_asked_for_where_they_are_missing() -> None:
    known = {query: {name: TRUTH[query][name] for name in RUNS["c"][query][:5]} for query in QUERIES}
    pool = pool_for(RUNS, "P@10", budget=6, judged=known).pool
    pairs = [(query, name) for query, name in pool.drawn_rows() if name not in known[query]]
    new: dict[str, dict[str, int]] = {query: {} for query, _ in pairs}
    for query, name in pairs[1:]:
        new[query][name] = TRUTH[query][name]
    both = {query: known[query] | new.get(query, {}) for query in QUERIES}
    for grades, asked in ((new, True), (both, False)):
        warnings = str(estimate(grades, RUNS, "P@10", pool=pool).warnings)
        assert ("judgments from before the draw" in warnings) is asked


def test_few_sampled_documents_that_affect_a_score_give_no_interval_of_a_run_but_of_a_difference() -> None:
    known = {query: {name: TRUTH[query][name] for name in RUNS["a"][query][:10]} for query in QUERIES}
    for query in QUERIES[:2]:  # here RR of "a" depends on documents at ranks 11 and beyond
        known[query] = dict.fromkeys(known[query], 0)
    truth = {query: TRUTH[query] | known[query] for query in QUERIES}
    runs = {name: RUNS[name] for name in ("a", "b")}
    pool = pool_for(runs, "RR", budget=12, judged=known).pool
    found = estimate(truth, runs, "RR", pool=pool)
    assert "30 sampled documents that affect its score" in found.estimate("a", "RR").reason
    assert np.isnan(found.estimate("a", "RR").these_low)
    (difference,) = found.differences()
    assert not difference.reason
    assert difference.these_low < difference.these_high


def test_judgments_of_the_earlier_pool_are_not_judged_before_it() -> None:
    first = pool_for(RUNS, "P@10", budget=6).pool
    with pytest.raises(UsageError, match="judgments of the pool itself"):
        pool_for(RUNS, "P@10", budget=9, earlier=first, judged=drawn_of(first))
    known = {query: {ranked[0]: 1} for query, ranked in RUNS["a"].items()}
    second = pool_for(RUNS, "P@10", budget=6, judged=known).pool
    pool_for(RUNS, "P@10", budget=9, earlier=second, judged=known)
    plain = DrawnPool(
        first.queries, first.documents, first.probability, first.order, first.contributors, first.drawn
    )
    with pytest.raises(UsageError, match="was not drawn with `leadline pool --for`"):
        pool_for(RUNS, "P@10", budget=9, earlier=plain)
    with pytest.raises(UsageError, match="was not drawn with `leadline pool --for`"):
        pool_for(RUNS, "P@10", budget=9, earlier=draw_twice(first, 60))


def test_an_earlier_pool_may_be_the_result_that_holds_it() -> None:
    first = pool_for(RUNS, "P@10", budget=6)
    larger = [pool_for(RUNS, "P@10", budget=9, earlier=each).pool for each in (first, first.pool)]
    assert larger[0].probability.tolist() == larger[1].probability.tolist()


def by_hand(squares: dict[tuple[str, str], float], pool: DrawnPool) -> float:
    total = sum(
        squares.get((q, d), 0.0) * 0.25 * (1 - p) / p
        for q, d, p in zip(pool.queries, pool.documents, pool.probability.tolist(), strict=True)
        if p > 0
    )
    return float(1.959964 * np.sqrt(total) / len(QUERIES))


def test_the_expected_half_width_of_a_pair_is_that_of_the_difference() -> None:
    found = pool_for(RUNS, "P@10", total=60, pair=("a", "b"))
    squares = {(q, d): 0.01 for q in QUERIES for d in set(RUNS["a"][q][:10]) ^ set(RUNS["b"][q][:10])}
    assert found.expected["P@10"]["half_width"] == pytest.approx(by_hand(squares, found.pool))


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"budget": 8}, True),
        ({"budget": 0.1}, False),
        ({"budget": 8, "depth": 5}, False),
        ({"budget": 8, "pair": ("a", "b")}, True),
        ({"budget": 0.05, "pair": ("a", "b")}, False),
        ({"budget": 8, "depth": 5, "pair": ("a", "b")}, False),
    ],
)
def test_a_frame_without_much_of_the_weight_has_no_forecast(options: dict[str, Any], given: bool) -> None:
    found = pool_for(RUNS, "P@10", **options)
    assert (found.expected["P@10"]["half_width"] is not None) is given
    assert ("no_forecast" in {one.code for one in found.warnings}) is not given


def test_exactly_the_largest_share_outside_the_frame_has_a_forecast_and_an_interval() -> None:
    found = pool_for(RUNS, "P@20", budget=10, depth=19)  # one of 20 documents is outside
    assert found.expected["P@20"]["half_width"] is not None
    results = estimate(drawn_of(found.pool), RUNS, "P@20", pool=found.pool, proxy="none")
    assert not any(np.isnan(results.estimate(name, "P@20").these_low) for name in RUNS)


def test_a_larger_budget_is_advised_only_where_it_helps() -> None:
    assert not pool_for(RUNS, "P@10", total=60, depth=10).warnings  # the same budget does with a larger depth
    for total, advised in ((40, True), (60, False), (100_000, False)):
        (found,) = pool_for(RUNS, "P@10", total=total, depth=5).warnings
        assert ("a larger budget and" in str(found), "a depth of at least 10)" in str(found)) == (
            advised,
            True,
        )
    shallow = pool_for(RUNS, "RBP", total=10, depth=30)  # little weight is below rank 30
    assert "(use a larger budget)" in str(shallow.warnings)
    few = {name: {q: run[q][:3] for q in QUERIES[:3]} for name, run in RUNS.items()}  # fewer than 50 pairs
    assert "larger" not in str(pool_for(few, "P@3", total=5).warnings)


def test_no_depth_below_the_longest_list_is_advised() -> None:
    short = {name: {q: ranked[:10] for q, ranked in run.items()} for name, run in RUNS.items()}
    for measure in ("ERR", "P@20"):  # both depend on more than 10 ranks
        found = pool_for(short, measure, budget=100, depth=4).warnings[0]
        assert "a depth of at least 10)" in str(found)


@pytest.mark.parametrize(("measure", "depth"), [("P@10", 3), ("P@3", None), ("RBP", 3)])
def test_runs_alike_where_documents_are_drawn_are_refused(measure: str, depth: int | None) -> None:
    top = {q: ["x1", "x2", "x3"] for q in QUERIES}
    alike = {name: {q: top[q] + ranked for q, ranked in RUNS[name].items()} for name in ("a", "b")}
    with pytest.raises(UsageError, match="Choose two runs that differ at the ranks on which a measure"):
        pool_for(alike, measure, budget=5, depth=depth, pair=("a", "b"))


def test_all_documents_of_a_pair_make_its_difference_exact() -> None:
    found = pool_for(RUNS, "P@10", budget=8, pair=("a", "b"))
    assert "would make the difference exact" in found.forecast()[1]
    assert "exact difference" in str(found).splitlines()[0]


@pytest.mark.parametrize(
    ("measure", "total", "given"),
    [
        ("P@10", 40, False),
        ("P@10", 90, True),
        ("nDCG@5", 40, False),
        ("nDCG@5", 90, False),  # it depends on how many documents are relevant
        ("P@1", 36, True),  # all three first documents of every query, with certainty
        ("nDCG@1", 45, False),  # the list is certain, the ideal is not
    ],
)
def test_a_forecast_is_given_where_estimate_gives_an_interval(measure: str, total: int, given: bool) -> None:
    found = pool_for(RUNS, measure, total=total)
    results = estimate(drawn_of(found.pool), RUNS, measure, pool=found.pool)
    assert (found.expected[measure]["half_width"] is not None) is given
    assert ("no_forecast" in {one.code for one in found.warnings}) is not given
    assert all(not results.estimate(name, measure).reason for name in RUNS) is given


def test_a_total_beyond_the_frame_takes_all_pairs() -> None:
    found = pool_for(RUNS, "P@5", total=100_000)
    assert found.pairs == found.frame
    assert "sampled" not in found.forecast()[0]


def test_where_all_is_judged_no_judgments_are_advised() -> None:
    found = pool_for(RUNS, "P@5", budget=5, judged=TRUTH)
    assert found.expected["P@5"]["exact_budget"] == 0
    assert "would make" not in " ".join(found.forecast())


def test_fewer_than_ten_queries_have_no_forecast() -> None:
    few = {name: dict(list(run.items())[:9]) for name, run in RUNS.items()}
    assert pool_for(few, "P@10", total=80).expected["P@10"]["half_width"] is None


@pytest.mark.parametrize("new_runs", [0.0, 0.15])
@pytest.mark.parametrize("measure", ["P@5", "RR@5", "nDCG@5", "R@5", "AP@5", "P", "RBP", "P@10"])
def test_the_exact_budget_is_the_smallest_that_makes_the_values_exact(measure: str, new_runs: float) -> None:
    def exact(size: float) -> bool:
        pool = pool_for(RUNS, measure, budget=size, new_runs=new_runs).pool
        results = estimate(drawn_of(pool), RUNS, measure, pool=pool)
        return all(
            one.these_low == one.these_high for one in (results.estimate(name, measure) for name in RUNS)
        )

    budget = pool_for(RUNS, measure, budget=6, new_runs=new_runs).expected[measure]["exact_budget"]
    assert budget is not None
    assert exact(budget)
    assert not exact(budget - 1 / len(QUERIES))


@pytest.mark.parametrize(
    ("measure", "options"), [("P@10", {"depth": 8}), ("RBP@10", {"depth": 9}), ("P", {"depth": 39})]
)
def test_without_all_documents_that_matter_there_is_no_exact_budget(
    measure: str, options: dict[str, Any]
) -> None:
    found = pool_for(RUNS, measure, budget=8, **options)
    assert found.expected[measure]["exact_budget"] is None
    assert {one.code for one in found.warnings} & {"no_exact_budget", "no_forecast"}


def test_a_pair_drawn_for_a_measure_with_an_ideal_has_no_interval() -> None:
    """Documents that both runs have alike are not drawn, but are in the ideal list."""
    shared = {name: {q: [*RUNS["c"][q][:4], *RUNS[name][q]] for q in QUERIES} for name in "ab"}
    pair = {name: {q: list(dict.fromkeys(one)) for q, one in run.items()} for name, run in shared.items()}
    found = pool_for(pair, ["P@10", "nDCG@10"], total=90, pair=("a", "b"))
    assert found.expected["nDCG@10"]["half_width"] is None
    assert found.expected["P@10"]["half_width"] is not None
    results = estimate(drawn_of(found.pool), pair, ["P@10", "nDCG@10"], pool=found.pool)
    precision, ratio = results.differences()
    assert not precision.reason
    assert precision.these_low < precision.difference < precision.these_high
    assert ratio.reason
    assert np.isnan([ratio.these_low, ratio.these_high]).all()


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_a_measure_without_a_forecast_for_a_pair_has_a_reason(measure: str) -> None:
    found = pool_for(RUNS, ["P@10", measure], total=90, pair=("a", "b"))
    reasons = [one.message for one in found.warnings if one.code == "no_forecast"]
    assert any(one.startswith(f"{measure}: ") and " because " in one for one in reasons)


@pytest.mark.parametrize("measures", ["nDCG@10", ["nDCG@10", "AP"]])
def test_a_pool_for_a_pair_is_refused_if_no_measure_would_have_a_verdict(measures: str | list[str]) -> None:
    with pytest.raises(UsageError, match="no verdict"):
        pool_for(RUNS, measures, total=90, pair=("a", "b"))


@pytest.mark.parametrize(
    ("measure", "helps"), [("nDCG@10", True), ("nDCG@5", False), ("AP", False), ("R@10", False)]
)
def test_a_pool_for_all_runs_is_advised_where_it_gives_intervals(measure: str, helps: bool) -> None:
    with pytest.raises(UsageError) as caught:
        pool_for(RUNS, measure, total=90, pair=("a", "b"))
    assert ("all runs" in str(caught.value)) == helps


def test_a_difference_whose_few_documents_are_all_judged_is_exact() -> None:
    """Two runs that differ on ten queries alone: twenty judgments say all about their difference."""
    pair = {"a": dict(RUNS["a"]), "b": dict(RUNS["a"])}
    for query in QUERIES[:10]:
        first, *rest = RUNS["a"][query]
        pair["b"][query] = [rest[-1], *rest[:-1], first]
    pool = pool_for(pair, "P@5", budget=8, pair=("a", "b")).pool
    assert 0 < pool.drawn.sum() < 50
    results = estimate(drawn_of(pool), pair, "P@5", pool=pool)
    (one,) = results.differences()
    assert not one.reason
    assert one.these_low == one.these_high == one.difference


def test_an_exact_measure_needs_no_judgments_for_half_the_width() -> None:
    entry = pool_for(RUNS, "P@5", budget=20).expected["P@5"]
    assert (entry["half_width"], entry["half_budget"]) == (0.0, None)


def test_a_pair_of_runs_draws_only_what_differs() -> None:
    found = pool_for(RUNS, "P@10", total=60, pair=("a", "b"))
    for q, d, p in zip(found.pool.queries, found.pool.documents, found.pool.probability, strict=True):
        assert p == 0 or (d in RUNS["a"][q][:10]) != (d in RUNS["b"][q][:10])


def test_a_pair_of_runs_has_an_interval_though_documents_of_both_are_not_judged(tmp_path: Path) -> None:
    pair = {name: {query: [*RUNS["c"][query][:4], *RUNS[name][query]] for query in QUERIES} for name in "ab"}
    pair = {
        name: {query: list(dict.fromkeys(one)) for query, one in run.items()} for name, run in pair.items()
    }
    found = pool_for(pair, "P@10", total=80, pair=("a", "b"))
    write_drawn_pool(found.pool, tmp_path / "pool.tsv", [])
    judged: dict[str, dict[str, int]] = {}
    for q, d, drawn in zip(found.pool.queries, found.pool.documents, found.pool.drawn.tolist(), strict=True):
        if drawn:
            judged.setdefault(q, {})[d] = TRUTH[q][d]
    results = estimate(judged, pair, "P@10", pool=tmp_path / "pool.tsv")
    one = results.differences()[0]
    assert "guessed" in results.estimate("a", "P@10").reason
    errors = results._parts[0][0].errors - results._parts[1][0].errors
    half = half_width(errors, np.zeros(0), results._probability, 0.95)
    assert one.these_high - one.these_low == pytest.approx(2 * half)  # nothing else is in doubt


def test_intervals_over_queries_are_those_of_the_values_of_each_run() -> None:
    found = estimate(TRUTH, RUNS, ["P@10", "RR@5"], pool=pool_for(RUNS, "P@10", budget=8).pool)
    for place, measure in enumerate(found.measures):
        for run, name in enumerate(found.names):
            values = found.values[run, :, place]
            reach = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
            one = found.estimate(name, measure)
            expected = (np.nan, np.nan) if one.reason else (one.value - reach, one.value + reach)
            assert (one.low, one.high) == pytest.approx(expected, nan_ok=True)


def test_the_interval_over_queries_is_withheld_where_that_of_the_draw_is() -> None:
    pool = pool_for({"a": RUNS["a"]}, "P@10", budget=8).pool
    found = estimate(TRUTH, RUNS, ["P@10", "AP"], pool=pool)
    for place, measure in enumerate(found.measures):
        for run, name in enumerate(found.names):
            one = found.estimate(name, measure)
            assert np.isnan(one.low) == np.isnan(one.high) == np.isnan(one.these_low) == bool(one.reason)
            if one.reason:
                continue
            values, doubt = found.values[run, :, place], found._parts[run][place].doubt
            reach = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
            ends = one.value - np.hypot(reach, doubt[0]), one.value + np.hypot(reach, doubt[1])
            assert (one.low, one.high) == pytest.approx(ends)
            assert one.high - one.low > 2 * reach or not doubt.any()


@pytest.mark.parametrize("on_duplicate", ["refuse", "hold", "first"])
def test_runs_read_to_a_depth_are_those_read_whole(tmp_path: Path, on_duplicate: str) -> None:
    lines = {
        name: [f"{q} Q0 {d} 1 {RNG.integers(9)} r" for q, one in run.items() for d in one]
        for name, run in RUNS.items()
    }
    RNG.shuffle(lines["b"])
    if on_duplicate != "refuse":
        lines["c"].append(lines["c"][0])
    for name, rows in lines.items():
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    reading = Reading(on_duplicate=on_duplicate)  # type: ignore[arg-type]  # one of its words
    runs = [*(tmp_path / name for name in lines), Run.of([(b"q00", b"d9", 1.0), (b"q00", b"x", 2.0)])]
    whole, cut = read_systems(runs, reading), read_systems(runs, reading, depth=7)
    assert (whole.infos, whole.queries) == (cut.infos, cut.queries)
    for query in whole.queries.names:
        for one, other in zip(whole.lists(query), cut.lists(query), strict=True):
            expected = [whole.documents[code] for code in one[:7].tolist()]
            assert [cut.documents[code] for code in other.tolist()] == expected


def test_a_run_that_is_read_to_a_depth_must_hold_documents_once(tmp_path: Path) -> None:
    lines = [f"q Q0 d{one % 30} 1 {99 - one} r" for one in range(31)]  # d0 comes back below the depth
    (tmp_path / "a.run").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="d0"):
        read_systems([tmp_path / "a.run"], Reading(), depth=5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 5, "total": 9}, "only one of `--budget` .judgments per query. and `--total`"),
        ({}, "`--budget` .judgments per query. or `--total`"),
        ({"budget": -1}, "above 0"),
        ({"budget": 5, "new_runs": 1.0}, "new_runs"),
        ({"budget": 5, "pair": ("a", "z")}, "no run is named 'z'"),
        ({"budget": 5, "pair": ("a", "a")}, "twice"),
        ({"budget": 5, "pair": ("a", "x/a")}, "twice"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        pool_for(RUNS, "P@10", **options)  # type: ignore[arg-type]  # wrong on purpose


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(1, 30))
def test_what_is_drawn_is_what_the_order_says(seed: int, budget: float) -> None:
    lists = [[[d.encode() for d in RUNS[name][q]] for name in RUNS] for q in QUERIES]
    frame, *_ = listed_frame([q.encode() for q in QUERIES], lists, [np.full(10, 0.1)], 20)
    found = draw(frame, budget * 12, seed=seed)
    numbers = random_numbers(frame, seed)
    assert (found.drawn == (numbers < found.probability)).all()


def test_labels_that_are_all_alike_do_not_make_a_forecast_certain() -> None:
    runs = {
        name: {f"q{query}": {f"{name}{rank}": -rank for rank in range(10)} for query in range(30)}
        for name in "ab"
    }
    alike = {query: dict.fromkeys(documents, 1) for query, documents in runs["a"].items()}
    plain, labelled = (pool_for(runs, "P@10", budget=5, machine=labels).expected for labels in (None, alike))
    assert labelled == plain


@pytest.mark.parametrize(("measure", "least"), [("nDCG@5", 0.1), ("P@5", 0.0)])
def test_an_ideal_list_needs_documents_below_the_cutoff(measure: str, least: float) -> None:
    """The first documents become certain only when enough judgments are left for the others."""
    frame = pool_for(RUNS, measure, budget=1000).pool
    first = np.array([min(ranks.values()) <= 5 for ranks in frame.contributors])
    matter = first.sum() / len(QUERIES)
    for budget in (matter + 0.01, matter + 0.11 * (~first).sum() / len(QUERIES)):
        pool = pool_for(RUNS, measure, budget=float(budget)).pool
        known = dict(zip(zip(pool.queries, pool.documents, strict=True), pool.probability, strict=True))
        p = np.array([known[pair] for pair in zip(frame.queries, frame.documents, strict=True)])
        assert p.sum() / len(QUERIES) == pytest.approx(budget)
        certain = bool((p[first] == 1).all())
        assert p[~first].mean() >= least
        assert certain == (measure == "P@5" or budget > matter + 0.02)
