"""The study of significance tests: populations have the means they say, and findings hold in small."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.charts import picture
from leadline.comparison.correlate import TITLES
from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary
from leadline.errors import InputError, UsageError
from leadline.io.objects import Qrels, Run
from leadline.judging.agreement_result import Judgments
from leadline.stats import INTERVALS, TESTS
from leadline_studies.common.figures import significance_errors
from leadline_studies.significance.decisions import Extent, Row, intervals, p_values, paired_tests, share
from leadline_studies.significance.estimates import coverage, power
from leadline_studies.significance.false_alarms import EXTENT, several_conditions, single_gates
from leadline_studies.significance.families import WORLDS, families, procedures
from leadline_studies.significance.page import simulate_all
from leadline_studies.significance.populations import (
    Atoms,
    best_runs,
    draw,
    margin,
    normal_correlations,
    populations,
    random_pairs,
    read_matrices,
    shifted,
    tilted,
)
from leadline_studies.significance.printed_intervals import agreements, correlations, recalls, tally
from leadline_studies.significance.rejections import halves, rejections


def made(runs: int = 8, *, queries: int = 50, seed: int = 7) -> Floats:
    """Make scores like those of a measure from 0 to 1: skewed, hard and easy queries, some zeros."""
    rng = np.random.default_rng(seed)
    ease = rng.beta(0.8, 2.0, size=(queries, 1))
    scores = ease * rng.uniform(0.3, 1.0, (queries, runs)) * np.linspace(1.0, 0.6, runs)
    return np.asarray(np.where(scores < 0.02, 0.0, scores))


def in_tenths(matrix: Floats) -> Floats:
    """Make the scores of a measure with eleven values."""
    return np.asarray(np.round(matrix, 1))


def one(rows: list[Row], **facts: object) -> dict[str, Any]:
    """Return the one row of which these facts are true."""
    found = [row for row in rows if all(row[key] == value for key, value in facts.items())]
    assert len(found) == 1
    return found[0]


def skewed(sets: int, *, queries: int = 25) -> Floats:
    """Draw sets of differences with mean 0 and a long tail to the right, queries x sets."""
    return np.random.default_rng(3).exponential(1.0, (queries, sets)) - 1.0


def within(rate: float, promised: float, sets: int) -> bool:
    """Tell whether a rate is within four standard errors of what is promised."""
    return abs(rate - promised) <= 4 * math.sqrt(promised * (1 - promised) / sets)


# Populations


@pytest.mark.parametrize("discrete", [False, True])
def test_the_mean_of_a_margin_is_that_of_what_it_gives(discrete: bool) -> None:
    matrix = in_tenths(made()) if discrete else made()
    fitted = margin(matrix[:, 0])
    assert fitted.steps == discrete
    shares = (np.arange(400_000) + 0.5) / 400_000
    assert fitted.at(shares).mean() == pytest.approx(fitted.mean, abs=1e-6)
    assert fitted.mean == pytest.approx(matrix[:, 0].mean(), abs=2e-3)


def test_a_margin_of_few_values_gives_those_values_as_often_as_they_were() -> None:
    values = np.array([0.0, 0.1, 0.1, 0.4])
    given_back = margin(values).at((np.arange(8) + 0.5) / 8)
    assert given_back.tolist() == [0.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.4, 0.4]


def test_equal_zeros_stay_equal_in_a_smooth_margin() -> None:
    fitted = margin(np.array([0.0, 0.0, 0.0, 0.1, 0.22, 0.35]))
    assert not fitted.steps
    assert fitted.at(np.array([0.05, 0.3])).tolist() == [0.0, 0.0]


def test_a_margin_needs_two_defined_scores() -> None:
    for values in ([0.1], [0.1, math.nan]):
        with pytest.raises(UsageError, match="at least two scores"):
            margin(np.array(values))


def test_scores_drawn_have_the_means_and_rank_correlation_of_the_fit() -> None:
    pair = made()[:, :2]
    margins = [margin(pair[:, 0]), margin(pair[:, 1])]
    correlations = normal_correlations(pair)
    drawn = draw(margins, correlations, queries=100, sets=2_000, rng=np.random.default_rng(1))
    assert drawn.shape == (2_000, 100, 2)
    for place, fitted in enumerate(margins):
        assert drawn[:, :, place].mean() == pytest.approx(fitted.mean, abs=0.003)

    def rank_correlation(scores: Floats) -> float:
        ranks = np.argsort(np.argsort(scores, axis=0), axis=0)
        return float(np.asarray(np.corrcoef(ranks, rowvar=False))[0, 1])

    assert rank_correlation(drawn.reshape(-1, 2)) == pytest.approx(rank_correlation(pair), abs=0.02)


def test_correlations_that_no_normal_has_are_made_such() -> None:
    many = made(runs=30, queries=12)
    found = normal_correlations(many)
    assert np.linalg.eigvalsh(found).min() > 0
    assert np.diag(found) == pytest.approx(1.0)


@given(st.lists(st.integers(-10, 10), min_size=4, max_size=30))
def test_populations_of_the_null_have_mean_zero(tenths: list[int]) -> None:
    differences = np.array(tenths) / 10
    moved = shifted(differences)
    assert abs(moved.values @ moved.weights) < 1e-12
    found = tilted(differences)
    if found is not None:
        assert found.values.tolist() == differences.tolist()
        assert found.weights.sum() == pytest.approx(1.0)
        assert abs(found.values @ found.weights) < 1e-9


def test_differences_of_one_sign_cannot_be_tilted() -> None:
    assert tilted(np.array([0.1, 0.2, 0.0])) is None
    assert tilted(np.array([-0.01] + [0.5] * 20)) is None  # possible, but on one query alone


def test_skewness_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(0).exponential(size=40)
    assert shifted(values).skewness == pytest.approx(stats.skew(values))


def test_atoms_are_drawn_as_often_as_they_weigh() -> None:
    atoms = Atoms(np.array([1.0, 2.0]), np.array([0.9, 0.1]))
    drawn = atoms.draw(100, 1_000, np.random.default_rng(0))
    assert (drawn == 2.0).mean() == pytest.approx(0.1, abs=0.005)


def test_pairs_are_of_the_best_runs_that_differ_on_ten_queries() -> None:
    matrix = np.column_stack([made(), made()[:, :1]])
    assert best_runs(matrix).shape == (50, 7)
    pairs = random_pairs(matrix, 1_000, np.random.default_rng(0))
    assert len(pairs) == 9 * 8 / 2 - 1  # all but a run and its copy
    assert all((pair[:, 0] != pair[:, 1]).sum() >= 10 for pair in pairs)


# Shares and their errors


def test_the_error_of_a_share_is_that_of_the_mean_over_sources() -> None:
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(30), 20)
    flags = rng.random(600) < rng.random(30)[source]
    rates = flags.reshape(30, 20).mean(axis=1)
    rate, error = share(flags, source)
    assert rate == pytest.approx(rates.mean())
    assert error == pytest.approx(rates.std(ddof=1) / math.sqrt(30))


def test_a_share_of_nothing_is_undefined() -> None:
    assert np.isnan(share(np.zeros(0), np.zeros(0, dtype=np.int64))).all()
    assert math.isnan(share(np.ones(3), np.zeros(3, dtype=np.int64))[1])


def test_every_test_and_interval_takes_part() -> None:
    assert list(paired_tests(199)) == list(TESTS.classes)
    assert list(intervals(199)) == list(INTERVALS.classes)
    assert {str(test) for test in paired_tests(199).values()} >= {"T", "Bootstrap(draws=199)"}


# What the study finds, in small


@pytest.mark.slow
@pytest.mark.parametrize("queries", [25, 50])
def test_every_test_keeps_its_level_where_runs_can_be_exchanged(queries: int) -> None:
    extent = Extent(pairs=10, sets=30, draws=399)
    found = rejections({"made_ap": made(), "made_p10": in_tenths(made())}, queries, extent)
    for name in ("T", "Randomisation", "Wilcoxon"):
        row = one(found, null="exchangeable", test=name, by="all")
        assert row["sets"] == 600
        assert within(row["rate"], 0.05, 600)


def test_wilcoxon_fails_for_means_of_skewed_differences_and_worse_with_more_queries() -> None:
    rates = {
        (name, queries): float(
            (p_values(paired_tests(199)[name], skewed(500, queries=queries)) <= 0.05).mean()
        )
        for name in ("Wilcoxon", "T")
        for queries in (25, 100)
    }
    assert rates["Wilcoxon", 25] > 0.09
    assert rates["Wilcoxon", 100] > rates["Wilcoxon", 25] + 0.1
    assert rates["T", 100] < 0.08
    assert within(rates["T", 100], 0.05, 400)


def test_the_tail_that_rejects_too_often_is_the_one_opposite_to_the_skew() -> None:
    differences = skewed(2_000)
    rejected = p_values(TESTS.classes["T"](), differences) <= 0.05
    signs = np.sign(differences.mean(axis=0))
    assert (rejected & (signs < 0)).mean() > 0.05  # of a share of 0.025 each
    assert (rejected & (signs > 0)).mean() < 0.025


@pytest.mark.slow
def test_the_t_interval_of_a_difference_holds_its_level_and_the_plain_bootstrap_does_not() -> None:
    found = coverage({"made_ap": made()}, 25, Extent(pairs=15, sets=100, ratio_sets=1, draws=399))
    of = {name: one(found, of="difference", interval=name, measure="all") for name in INTERVALS.classes}
    assert within(of["Student"]["coverage"], 0.95, 1_500)
    assert of["Percentile"]["coverage"] < of["Student"]["coverage"]
    assert of["Percentile"]["width"] < of["Student"]["width"] == 1.0
    for row in found:
        assert row["coverage"] + row["below"] + row["above"] == pytest.approx(1.0)


def test_power_grows_with_the_true_difference() -> None:
    found = power({"made_ap": made()}, 50, Extent(pairs=20, sets=20, draws=199))
    rates = [row["found"] for row in found if row["test"] == "T" and row["sets"]]
    assert rates == sorted(rates)
    assert len(rates) > 1


def test_halves_of_equal_queries_never_conflict() -> None:
    same = np.tile(np.linspace(0.5, 0.1, 8), (50, 1)) + made() / 50
    for row in halves({"same_ap": same}, Extent(pairs=5, splits=4, draws=199)):
        assert (row["significant"], row["again"], row["major"]) == (1.0, 1.0, 0.0)


@pytest.mark.slow
def test_corrections_keep_the_family_error_low_and_no_correction_does_not() -> None:
    found = families({"made_ap": made(runs=14)}, 8, 50, Extent(sets=60, draws=399))
    assert {row["world"] for row in found} == set(WORLDS)
    null = {row["procedure"]: row for row in found if row["world"] == "all equal"}
    for name in ("Tukey", "Holm(T)", "Hochberg(T)", "Bonferroni(T)", "Holm(Randomisation)"):
        assert float(null[name]["family"]) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 60)
    assert float(null["Uncorrected(T)"]["family"]) > 0.3
    assert math.isnan(float(null["Tukey"]["found"]))  # nothing there to be found
    other = {row["procedure"]: row for row in found if row["world"] == "all different"}
    assert other["Holm(T)"]["found"] >= other["Bonferroni(T)"]["found"]
    assert other["BH(T)"]["found"] >= other["Hochberg(T)"]["found"]


def test_procedures_give_one_p_for_each_pair() -> None:
    values = made(runs=5)
    adjusted, limits = procedures(values, draws=199, seed=0)
    for p in adjusted.values():
        assert p.shape == (10,)
        assert ((p > 0) & (p <= 1)).all()
    for low, high in limits.values():
        assert (low <= high).all()


@pytest.mark.slow
def test_simultaneous_intervals_hold_all_differences_at_once() -> None:
    found = families({"made_ap": made(runs=14)}, 6, 30, Extent(sets=60, draws=199))
    for row in found:
        if row["procedure"] in ("MaxT", "Bonferroni(T)"):
            assert float(row["held"]) > 0.95 - 4 * math.sqrt(0.05 * 0.95 / 60)
            assert float(row["width"]) == pytest.approx(1.0, abs=0.1)
        elif row["procedure"] != "Tukey":
            assert math.isnan(float(row["held"]))


# Intervals that commands print


def test_a_tally_counts_misses_on_both_sides_and_leaves_out_what_has_no_width() -> None:
    drawn = [{"x": limits} for limits in ((0.4, 0.6), (0.6, 0.7), (0.1, 0.2), (0.5, 0.5), (0.0, 0.5))]
    (row,) = tally({"x": 0.5}, drawn)
    assert (row["sets"], row["left_out"]) == (4, 1)
    assert (row["coverage"], row["below"], row["above"]) == (0.5, 0.25, 0.25)


@pytest.mark.slow
def test_intervals_of_correlate_are_not_biased_twice() -> None:
    rng = np.random.default_rng(5)
    shared = np.linspace(0, 0.15, 24) + rng.normal(0, 0.25, (60, 1))
    truth, estimate = (shared + rng.normal(0, 0.2, (60, 24)) for _ in range(2))
    found = correlations(truth, estimate, runs=8, queries=40, sets=30, draws=60)
    assert [row["what"] for row in found] == list(TITLES)
    for row in found:
        assert float(row["coverage"]) > 0.8
        assert float(row["below"]) < 0.2  # plain percentiles: 0.5 and more


@pytest.mark.slow
def test_intervals_of_agreement_hold_the_value_of_all_queries() -> None:
    rng = np.random.default_rng(6)
    query = np.repeat(np.arange(30), 20)
    level = rng.beta(1, 1, 30)[query]
    first = (rng.random(600) < level).astype(float)
    second = np.where(rng.random(600) < 0.8, first, 1 - first)
    whole = Judgments(
        ["a", "b"],
        np.stack([first, second], axis=1),
        query=query,
        queries=Vocabulary.of_bytes([b"%d" % place for place in range(30)]),
    )
    for pairs in (False, True):
        found = agreements(whole, sets=40, draws=200, pairs=pairs)
        assert {"cohen", "scott", "krippendorff, all judges"} <= {row["what"] for row in found}
        assert all(float(row["coverage"]) > 0.8 for row in found)


def test_intervals_of_pool_recall_hold_the_value_of_all_judgments() -> None:
    rng = np.random.default_rng(7)
    rows = [
        (b"q%d" % query, b"d%d" % place, float(rng.random() < 2 / (place + 2)))
        for query in range(15)
        for place in range(60)
    ]
    listed = [(query, name, -float(place % 60)) for place, (query, name, _) in enumerate(rows)]
    run = Run.of([row for place, row in enumerate(listed) if place % 60 < 30], name="a")
    found = recalls(Qrels.of(rows), run, depth=5, share=0.3, cutoff=20, sets=60)
    assert {row["what"] for row in found} == {"R", "recall"}
    for row in found:
        assert float(row["coverage"]) > 0.95 - 4 * math.sqrt(0.05 * 0.95 / 60)
        assert float(row["truth"]) > 0


def test_populations_of_gates_have_the_mean_that_is_asked_for() -> None:
    differences = made(2)[:, 0] - made(2)[:, 1]
    for truth in (0.0, -0.02):
        found = populations(differences, truth)
        assert "shifted" in found
        means = [float(one.values @ one.weights) for one in found.values()]
        assert means == pytest.approx([truth] * len(found))


def test_gates_err_about_as_often_as_they_say_where_runs_can_be_exchanged() -> None:
    rows = single_gates(
        {"made_ap": made(), "made_p10": in_tenths(made())}, EXTENT._replace(pairs=10, sets=60)
    )
    even = [row for row in rows if row["population"] == "exchangeable"]
    assert {(row["gate"], row["margin"]) for row in even} == {
        ("fail-if-worse", 0.0),
        ("fail-if-worse", 0.02),
        ("require-not-worse", 0.02),
    }
    assert {row["queries"] for row in even} == {5, 10, 25, 50}
    for row in even:
        assert row["sets"] == 1200
        assert 0.005 < float(row["rate"]) < 0.09


def test_more_conditions_raise_more_false_alarms_within_their_bound() -> None:
    matrix = made()
    tables = {"made_ap": matrix, "made_p10": in_tenths(matrix), "made_rr": np.sqrt(matrix)}
    rows = several_conditions(tables, Extent(pairs=10, sets=100, sizes=(25,)))
    even = [row for row in rows if row["population"] == "exchangeable"]
    rates = [float(row["rate"]) for row in even]
    assert [row["conditions"] for row in even] == [1, 2, 3]
    assert rates == sorted(rates)
    for row in even:
        assert float(row["rate"]) < float(row["bound"]) + 0.03
    assert several_conditions({"made_ap": matrix}, Extent(pairs=2, sets=10)) == []


def test_the_same_seed_gives_the_same_study() -> None:
    extent = Extent(2, 3, ratio_sets=1, splits=2, draws=99, sizes=(25,), families=((4, 25, 2),), seed=5)
    matrices = {"made_ap": made(), "made_p10": in_tenths(made())}
    first, again = (simulate_all(matrices, extent) for _ in range(2))
    assert json.dumps(first) == json.dumps(again)
    assert all(first.values())


# Matrices as files


def test_a_folder_without_matrices_is_refused(tmp_path: Path) -> None:
    (tmp_path / "systems.tsv").write_text("run\tteam\na\tb\n", encoding="utf-8")
    with pytest.raises(InputError, match="no score matrix here"):
        read_matrices(str(tmp_path))


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a_ap.tsv").write_text("topic_row\tr\n1\tx\n", encoding="utf-8")
    with pytest.raises(InputError, match="each row must have a score for every run, and all must be numbers"):
        read_matrices(str(tmp_path))


@pytest.mark.slow
def test_on_a_real_matrix_tests_of_the_mean_keep_near_their_level(shared_data: Path) -> None:
    matrices = read_matrices(str(shared_data / "score-matrices"))
    assert matrices["trec7-adhoc_ap"].shape == (50, 103)
    extent = Extent(pairs=25, sets=16, draws=399)
    found = rejections({"trec7-adhoc_ap": matrices["trec7-adhoc_ap"]}, 50, extent)
    rate = {
        (null, name): one(found, null=null, test=name, by="all")["rate"]
        for null in ("exchangeable", "tilted", "shifted")
        for name in TESTS.classes
    }
    assert all(within(rate["exchangeable", name], 0.05, 400) for name in ("T", "Randomisation"))
    assert rate["tilted", "T"] < 0.08
    assert rate["shifted", "Wilcoxon"] > rate["shifted", "T"] + 0.02


# The figure


def test_the_figure_has_a_line_with_bars_for_each_method() -> None:
    lines = {"T": [(0.05, 0.002), (0.051, 0.001)], "Wilcoxon": [(0.07, 0.002), (0.08, 0.001)]}
    figure = significance_errors(
        {"one": lines, "other": lines}, [25, 50], promised=0.05, label="share rejected"
    )
    assert [axes.get_title() for axes in figure.axes] == ["one", "other"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["T", "Wilcoxon"]
    assert len(figure.axes[0].lines) == 3  # with what is promised
    assert picture(figure, "svg") == picture(figure, "svg")
