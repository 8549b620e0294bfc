"""Agreement of judges: pairs compared, means, intervals, queries, what it does to systems."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as t_distribution

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.io.judges import read_judges
from leadline.judging.agreement import agreement
from leadline.judging.agreement_audit import change, needed_judgments
from leadline.judging.agreement_columns import agreement_tables
from leadline.judging.agreement_result import Judgments
from leadline.stats.agreement_coefficients import (
    Cohen,
    Fleiss,
    Krippendorff,
    PairwiseAgreement,
    PercentAgreement,
    Scott,
    UnitGroups,
    jackknife_limits,
    supported,
    without_each,
)
from leadline.stats.correlation import kendall, over_queries, tau_ap

Judges = dict[str, dict[str, dict[str, float]]]


def random_judges(judges: int, queries: int, documents: int, *, seed: int = 0) -> Judges:
    """Make judges who agree more often than by chance."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, (queries, documents))
    found: Judges = {}
    for judge in range(judges):
        own = np.where(rng.random(truth.shape) < 0.6, truth, rng.integers(0, 3, truth.shape))
        found[f"j{judge}"] = {
            f"q{query}": {f"d{place}": float(grade) for place, grade in enumerate(row)}
            for query, row in enumerate(own.tolist())
        }
    return found


def grades_of(judges: Judges) -> Any:
    return np.array([[grade for row in one.values() for grade in row.values()] for one in judges.values()]).T


def test_the_mean_over_pairs_of_judges_is_that_of_each_pair() -> None:
    judges = random_judges(4, 3, 20)
    table = grades_of(judges)
    each = [Cohen().of(table[:, [a, b]]) for a, b in combinations(range(4), 2)]
    found = agreement(judges, draws=0)
    assert [one.value for one in found.between["cohen"][1]] == pytest.approx(each)
    assert found["cohen"].value == pytest.approx(np.mean(each))
    assert found["krippendorff"].value == pytest.approx(Krippendorff().of(table))
    assert found.matrix("cohen")[2, 1] == pytest.approx(Cohen().of(table[:, [1, 2]]))


def test_pairs_that_not_all_judged_are_left_out_and_counted() -> None:
    judges = {"a": {"q1": {"d1": 1, "d2": 0, "d3": 1}}, "b": {"q1": {"d1": 1, "d2": 1, "d4": 0}}}
    found = agreement(judges, draws=0)
    assert len(found.judgments) == 2
    assert found["agreement"].value == 0.5
    notice = next(one for one in found.warnings if one.code == "left_out")
    assert str(notice) == "left out 2 of 4 query-document pairs, because not all judges judged them"
    found = agreement(judges | {"c": judges["a"]}, draws=0)
    assert "(Krippendorff's alpha uses pairs judged by two or more)" in str(found.warnings[0])


def test_grades_cannot_be_changed() -> None:
    made = Judgments(["a", "b"], np.array([[0.0, 2.0], [1.0, np.nan]]))
    for one in (made, made.keep(made.by_all), made.binary(1)):
        assert not one.grades.flags.writeable
    assert made.binary(2).grades.tolist()[0] == [0, 1]


def test_alpha_takes_what_two_judged_and_over_two_does_so_for_all() -> None:
    judges = random_judges(3, 2, 10)
    del judges["j2"]["q0"]["d0"]
    whole, two = (agreement(judges, draws=0, over=over) for over in ("all", "two"))
    assert whole.of_all["krippendorff"][1] == two.of_all["krippendorff"][1] == 20
    assert whole.of_all["fleiss"][1] == 19
    assert math.isnan(two["fleiss"].value)
    assert two.counted() == [20, 19, 19]
    assert "Fleiss" in " ".join(map(str, two.warnings))


def test_a_reference_is_compared_with_every_other_judge_alone() -> None:
    found = agreement(random_judges(4, 3, 10), reference=True, draws=0)
    assert found.named() == [("j0", "j1"), ("j0", "j2"), ("j0", "j3")]
    assert found.to_dict()["reference"] == "j0"
    assert np.isnan(found.matrix()[1, 2])


def test_relevance_can_be_made_binary() -> None:
    judges = {"a": {"q": {"d1": 1, "d2": 3, "d3": 0}}, "b": {"q": {"d1": 2, "d2": 1, "d3": 0}}}
    assert agreement(judges, draws=0)["agreement"].value == pytest.approx(1 / 3)
    assert agreement(judges, rel=1, draws=0)["agreement"].value == 1
    assert agreement(judges, rel=1, draws=0)["scott"].value == 1


def test_fewer_than_ten_queries_have_no_interval() -> None:
    many, few = (agreement(random_judges(3, size, 8), draws=50) for size in (10, 9))
    pairs = agreement(random_judges(3, 9, 8), draws=50, resample="pairs")
    for name in ("agreement", "scott", "cohen", "fleiss", "krippendorff"):
        assert many[name].low < many[name].value < many[name].high
        assert pairs[name].low < pairs[name].value < pairs[name].high
        assert math.isnan(few[name].low)
        assert math.isnan(few[name].high)
    codes = [{one.code for one in found.warnings} for found in (many, few, pairs)]
    assert codes == [set(), {"few_queries"}, {"pairs_resampled"}]


def test_the_interval_over_pairs_is_that_of_pairs_drawn_again_one_by_one() -> None:
    judges = random_judges(2, 12, 6)
    table = grades_of(judges)
    found = agreement(judges, draws=2000, resample="pairs")["cohen"]
    rng = np.random.default_rng(11)
    again = [Cohen().of(table[rng.integers(0, len(table), len(table))]) for _ in range(2000)]
    assert [found.low, found.high] == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.02)


def test_intervals_over_queries_are_those_of_leaving_each_out() -> None:
    judges, number = random_judges(3, 12, 6), 12
    table, found = grades_of(judges), agreement(judges)
    without = [np.delete(table, np.arange(6 * query, 6 * query + 6), axis=0) for query in range(number)]
    several = {"fleiss": Fleiss(), "krippendorff": Krippendorff()}
    two = {"cohen": Cohen(), "scott": Scott(), "agreement": PercentAgreement()}

    def of(name: str, rows: Any) -> float:
        if name in several:
            return several[name].of(rows)
        return float(np.mean([two[name].of(rows[:, [a, b]]) for a, b in combinations(range(3), 2)]))

    for name in several | two:
        values = [of(name, rows) for rows in without]
        pseudo = [number * of(name, table) - (number - 1) * value for value in values]
        half = t_distribution.ppf(0.975, number - 1) * np.std(pseudo, ddof=1) / math.sqrt(number)
        assert found[name].value - found[name].low == pytest.approx(half)
        assert found[name].high == pytest.approx(min(1.0, found[name].value + half))


@pytest.mark.parametrize(
    ("table", "printed"),
    [
        ([30, 0, 0, 20], False),
        ([97, 1, 1, 1], False),
        ([40, 3, 2, 5], True),
        ([40, 3, 1, 5], False),
        ([40, 3, 1, 4], False),
        ([2, 9, 9, 2], False),
        ([5, 9, 9, 5], True),
    ],
)
def test_tables_with_few_agreements_or_disagreements_have_no_interval(
    table: list[float], *, printed: bool
) -> None:
    found = agreement(table=table, draws=50)
    for name in ("agreement", "scott", "cohen", "fleiss", "krippendorff"):
        assert math.isnan(found[name].low) != printed
        assert math.isnan(found[name].high) != printed
    assert ("withheld_intervals" in {one.code for one in found.warnings}) != printed


@pytest.mark.parametrize("table", [[40, 3, 2, 4], [4, 9, 9, 4]])
def test_percent_agreement_has_an_interval_with_agreement_on_any_grade(table: list[float]) -> None:
    found = agreement(table=table, draws=50)
    assert found["agreement"].low < found["agreement"].value < found["agreement"].high
    assert math.isnan(found["cohen"].low)
    assert math.isnan(found["krippendorff"].low)
    assert any(str(one).startswith("no intervals of chance-corrected") for one in found.warnings)


def test_the_interval_of_percent_agreement_has_no_limit_below_0() -> None:
    a = {f"q{query}": dict.fromkeys(map(str, range(30)), 0) for query in range(40)}
    b = {name: dict.fromkeys(pairs, 1) for name, pairs in a.items()}
    b["q0"] = a["q0"]
    for query in range(1, 5):
        b[f"q{query}"]["0"] = 0
    found = agreement({"a": a, "b": b})["agreement"]
    assert (found.low, round(found.value, 4), round(found.high, 4)) == (0, 0.0283, 0.0788)


@pytest.mark.parametrize(("rate", "queries"), [(0.1, 20), (0.2, 20), (0.9, 20), (0.95, 100)])
def test_intervals_of_percent_agreement_cover_where_they_are_printed(rate: float, queries: int) -> None:
    rng = np.random.default_rng(2)
    same = rng.binomial(5, rng.beta(3 * rate, 3 * (1 - rate), (2000, queries)))  # queries differ
    zero = np.zeros_like(same)
    tables = np.stack([np.stack([same, 5 - same], -1), np.stack([zero, zero], -1)], -2).astype(float)
    coefficient, grades = PercentAgreement(), np.arange(2.0)
    left = without_each(tables, coefficient, grades).T
    low, high = jackknife_limits(coefficient.of_tables(tables.sum(axis=1), grades), left)
    held = ((low <= rate) & (rate <= high))[supported(tables, coefficient)]
    assert len(held) > 400
    assert 0.9 < held.mean() < 0.99


def test_intervals_over_queries_cover_where_they_are_printed() -> None:
    rng = np.random.default_rng(2)
    cells = rng.dirichlet([0.7, 0.08, 0.08, 0.14], (4000, 20))  # queries differ
    tables = rng.multinomial(5, cells).reshape(4000, 20, 2, 2).astype(float)
    truth = Cohen().of_tables(np.array([[0.7, 0.08], [0.08, 0.14]]), np.arange(2.0))
    values = Cohen().of_tables(tables.sum(axis=1), np.arange(2.0))
    low, high = jackknife_limits(values, without_each(tables, Cohen(), np.arange(2.0)).T)
    held, printed = (low <= truth) & (truth <= high), supported(tables, Cohen())
    assert 0.2 < printed.mean() < 0.9
    assert held[~printed].mean() < 0.9
    assert 0.93 < held[printed].mean() < 0.99


def test_the_needed_judgments_have_the_interval_of_the_coefficient() -> None:
    found = agreement(random_judges(2, 12, 6), within=0.1)
    assert found.needed[0].coefficient == pytest.approx(tuple(found["cohen"])[:3], abs=1e-12)


def test_three_judges_have_intervals_where_two_of_them_do() -> None:
    judges = random_judges(2, 12, 6)
    three = agreement(judges | {"copy": judges["j0"]}, draws=50)
    assert [math.isnan(each.low) for each in three.between["cohen"][1]] == [False, True, False]
    assert not math.isnan(three["cohen"].low)
    (notice,) = three.warnings
    assert str(notice).startswith("no intervals in 1 of 3 comparisons: an interval needs at least 5 queries")


def test_the_same_seed_gives_the_same_interval() -> None:
    judges = random_judges(3, 12, 5)
    one, same, other = (
        agreement(judges, draws=99, seed=seed, resample="pairs").to_dict() for seed in (4, 4, 5)
    )
    assert one == same
    assert one["cohen"]["low"] != other["cohen"]["low"]


def test_drawing_does_not_depend_on_how_many_pairs_go_together(monkeypatch: Any) -> None:
    table = grades_of(random_judges(5, 4, 9)).astype(np.int64)
    pairs = list(combinations(range(5), 2))
    between = PairwiseAgreement(table, np.arange(3.0), pairs, UnitGroups(np.arange(36), 36))
    whole = between.drawn([Cohen()], 40, 3)
    monkeypatch.setattr("leadline.stats.agreement_coefficients.PAIRS_PER_BLOCK", 3)
    assert np.allclose(between.drawn([Cohen()], 40, 3), whole)


def test_queries_are_broken_down() -> None:
    judges = {
        "a": {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d2": 0}},
        "b": {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}},
    }
    rows = agreement(judges, draws=0).to_dict()["per_query"]
    assert rows["q1"] == {"agreement": 1, "scott": 1, "cohen": 1, "krippendorff": 1}
    assert rows["q2"]["cohen"] == -1


def test_one_grade_alone_is_undefined_and_said() -> None:
    judges = {"a": {"q": {"d1": 1, "d2": 1}}, "b": {"q": {"d1": 1, "d2": 1}}}
    found = agreement(judges, draws=20)
    assert found["agreement"].value == 1
    for name in ("scott", "cohen", "fleiss", "krippendorff"):
        assert math.isnan(found[name].value)
        assert found.to_dict()[name]["acceptable"] is None
    assert any("are undefined for" in str(one) for one in found.warnings)


def test_a_table_of_counts_gives_the_numbers_of_the_lecture() -> None:
    found = agreement(table=[300, 20, 10, 70])
    data = found.to_dict()
    assert data["pairs"] == 400
    assert (round(data["scott"]["value"], 4), round(data["cohen"]["value"], 4)) == (0.7759, 0.7761)
    assert data["scott"]["acceptable"] is True
    assert data["confusion"][0]["counts"] == [[300, 20], [10, 70]]
    assert data["per_query"] == {}
    assert data["ranking"] is None


def test_disagreements_of_queries_are_counted_as_in_the_table_of_the_lecture() -> None:
    disagreements = {"51": (211, 6), "62": (400, 157), "67": (400, 68), "95": (400, 110), "127": (400, 106)}
    first = {query: dict.fromkeys(map(str, range(judged)), 0) for query, (judged, _) in disagreements.items()}
    second = {
        query: {document: int(int(document) < apart) for document in first[query]}
        for query, (_, apart) in disagreements.items()
    }
    found = agreement({"one": first, "two": second}, draws=0)
    assert found.chance()[0].disagreements == sum(apart for _, apart in disagreements.values())
    table = agreement_tables(found, per_query=True)[2]
    rows = {row[0]: row[1:3] for row in table.rows}
    assert rows == {query: list(counts) for query, counts in disagreements.items()}


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any))
def test_a_table_is_the_judgments_it_counts(cells: list[int]) -> None:
    rows = [[place // 2, place % 2] for place, count in enumerate(cells) for _ in range(count)]
    found, expected = agreement(table=cells, draws=0)["cohen"].value, Cohen().of(rows)
    assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_grades_that_one_judge_alone_gives_are_named() -> None:
    judges = random_judges(3, 2, 10)
    judges["j1"]["q0"]["d0"] = 7
    notice = next(one for one in agreement(judges, draws=0).warnings if one.code == "odd_grades")
    assert "grade 7 (1 judgment by j1)" in str(notice)
    assert notice.count == 1


def test_another_judge_is_seen_in_the_values_and_the_order_of_systems() -> None:
    judges = {"a": {"q": {"d1": 1, "d2": 0, "d3": 0}}, "b": {"q": {"d1": 0, "d2": 1, "d3": 1}}}
    runs = {"one": {"q": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, "two": {"q": {"d3": 3.0, "d2": 2.0, "d1": 1.0}}}
    ranking = agreement(judges, draws=0, runs=runs, measures=["RR"]).to_dict()["ranking"]
    assert ranking["means"]["a"] == {"one": {"RR": 1.0}, "two": {"RR": pytest.approx(1 / 3)}}
    assert ranking["between"] == [
        {
            "a": "a",
            "b": "b",
            "measure": "RR",
            "tau": -1.0,
            "mean": pytest.approx(7 / 12),
            "largest": pytest.approx(2 / 3),
            "relative": pytest.approx(7 / 8),
            "swapped": 1,
            "apart": 1,
            "widest": pytest.approx(2 / 3),
        }
    ]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_swaps_are_what_a_loop_over_pairs_counts(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    apart = [
        (x, y)
        for x, y in combinations(range(len(pairs)), 2)
        if first[x] != first[y] and second[x] != second[y]
    ]
    swapped = [(x, y) for x, y in apart if (first[x] > first[y]) != (second[x] > second[y])]
    found = change(first, second)
    assert (found.apart, found.swapped) == (len(apart), len(swapped))
    assert found.widest == max((abs(first[x] - first[y]) for x, y in swapped), default=0)
    assert found.largest == np.abs(first - second).max()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"judges": {"a": {"q": {"d": 1}}}}, "agreement needs at least two judges, not 1 (a)"),
        ({"judges": {}}, "judges"),
        ({}, "agreement needs either judges (qrels) or table (counts), but neither was given"),
        ({"judges": {"a": {"q": {"d": 1}}}, "table": [1, 2, 3, 4]}, "not both"),
        ({"table": [1, 2, 3]}, "3 numbers"),
        ({"table": [1, 2, -3, 4]}, "counts in a table"),
        ({"table": [1, 2.5, 3, 4]}, "counts in a table"),
        ({"table": [1, 2, float("nan"), 4]}, "counts in a table"),
        ({"table": [1, 2, 10_000_001, 4]}, "not 10000001"),
        ({"table": [1, 2, 123456.7, 4]}, "not 123456.7"),
        ({"table": [0, 0, 0, 0]}, "all counts in the table are 0"),
        ({"table": [1, 2, 3, 4], "resample": "queries"}, "has no queries"),
        ({"table": [1, 2, 3, 4], "runs": {"r": {"q": {"d": 1.0}}}}, "has no documents"),
        ({"table": [1, 2, 3, 4], "weights": "cubic"}, "weights must be none, linear or quadratic, not cubic"),
        ({"table": [1, 2, 3, 4], "over": "some"}, "over must be"),
        ({"table": [1, 2, 3, 4], "draws": -1}, "draws must be"),
        ({"table": [1, 2, 3, 4], "confidence": 2}, "not 2"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_words(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as rejected:
        agreement(**given)
    assert says in str(rejected.value)


def test_judges_without_a_common_pair_are_refused() -> None:
    with pytest.raises(InputError, match=r"no query-document pair was judged by two judges\."):
        agreement({"a": {"q": {"d1": 1}}, "b": {"q": {"d2": 1}}})


def test_scores_are_no_grades() -> None:
    scores = {"q": {f"d{place}": place / 7 for place in range(101)}}
    with pytest.raises(UsageError, match="101 different grades"):
        agreement({"a": scores, "b": scores})
    assert agreement({"a": scores, "b": scores}, rel=1, draws=0)["scott"].value == 1


def test_judgments_go_back_to_qrels() -> None:
    judges = random_judges(2, 2, 3)
    table = Judgments.of_judges(read_judges(judges))
    assert table.qrels(1).to_dict() == {
        query: {name: int(grade) for name, grade in row.items()} for query, row in judges["j1"].items()
    }


def test_machine_judges_agree_with_people_as_the_data_say(shared_data: Path) -> None:
    folder = shared_data / "llmjudge-dl23"
    places = [folder / "human.qrels.txt", *sorted((folder / "judges").iterdir())]
    found = ll.agreement(list(map(str, places)), reference=True, draws=0)
    values = dict(zip(found.judges[1:], (one.value for one in found.between["cohen"][1]), strict=True))
    assert len(values) == 33
    assert len(found.judgments) == 4423
    printed = {"willia-umbrela1": 0.286, "h2oloo-zeroshot1": 0.282, "h2oloo-fewself": 0.277}
    assert {name: round(values[name], 3) for name in printed} == printed
    assert round(min(values.values()), 3) == round(values["TREMA-nuggets"], 3) == 0.060
    odd = next(one for one in found.warnings if one.code == "odd_grades")
    assert odd.count == 3
    assert "grade 5 (2 judgments by RMITIR-llama70B), grade 10 (1 judgment by h2oloo-zeroshot2)" in str(odd)


def test_eight_people_differ_as_the_data_say(shared_data: Path) -> None:
    path = str(shared_data / "dl19-rejudged-8judges" / "labels.tsv")
    found = ll.agreement(path, draws=0)
    cohen = found.matrix("cohen")
    people, official = cohen[1:, 1:], cohen[0, 1:]
    assert (round(np.nanmin(people), 2), round(np.nanmax(people), 2)) == (0.09, 0.54)
    assert (round(np.nanmin(official), 2), round(np.nanmax(official), 2)) == (0.04, 0.33)


def audited(seed: int = 0, queries: int = 12, runs: int = 5) -> tuple[Judges, dict[str, Any]]:
    """Make a reference, labels that are kinder, and runs."""
    rng = np.random.default_rng(seed)
    truth = rng.random((queries, 30)) < 0.3
    kind = truth | (rng.random(truth.shape) < 0.3)
    judges = {
        name: {f"q{q}": {f"d{d}": float(row[d]) for d in range(30)} for q, row in enumerate(grades)}
        for name, grades in (("people", truth), ("machine", kind))
    }
    lists = {}
    for run in range(runs):
        scores = (run * 0.5) * truth + (0.8 if run == 1 else 0.0) * kind + rng.normal(size=truth.shape)
        lists[f"r{run}"] = {
            f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(scores)
        }
    return judges, lists


def precision(lists: dict[str, dict[str, float]], grades: dict[str, dict[str, float]], k: int) -> list[float]:
    """Return P@k of every query by a loop."""
    values = []
    for query, scores in lists.items():
        best = sorted(scores, key=lambda name: (-scores[name], name))[:k]
        values.append(sum(grades[query][name] for name in best) / k)
    return values


def test_bias_and_gain_of_runs_are_those_of_a_loop() -> None:
    judges, runs = audited()
    found = agreement(judges, runs=runs, measures=["P@5"], draws=0)
    (one,) = found.audits
    biases = {}
    for name, lists in runs.items():
        pair = (precision(lists, judges[judge], 5) for judge in ("people", "machine"))
        differences = [labels - truth for truth, labels in zip(*pair, strict=True)]
        biases[name] = differences
    for run in one.runs:
        values = biases[run.name]
        mean, error = np.mean(values), np.std(values, ddof=1) / math.sqrt(12)
        assert run.bias == pytest.approx((mean, mean - 2.2009851600 * error, mean + 2.2009851600 * error))
        others = np.mean([np.mean(each) for name, each in biases.items() if name != run.name])
        assert run.gain.value == pytest.approx(mean - others)
        assert run.gain.low < run.gain.value < run.gain.high
        assert run.labels - run.reference == pytest.approx(mean)
    assert one.bias.value == pytest.approx(np.mean(list(biases.values())))
    assert [run.gain.value for run in one.gainers()] == sorted(
        (run.gain.value for run in one.runs), reverse=True
    )


def test_rank_correlations_are_those_of_the_means_with_limits_over_queries() -> None:
    judges, runs = audited(3)
    (one,) = agreement(judges, runs=runs, measures=["P@5"], draws=50, top=3, seed=4).audits
    tables = [np.array([precision(lists, judges[judge], 5) for lists in runs.values()]).T for judge in judges]
    order = np.argsort([f"q{query}" for query in range(12)])  # that of the draws
    best = np.argsort(-tables[0].mean(axis=0), kind="stable")[:3].tolist()
    for each, chosen in ((one.taus, list(range(5))), (one.top_taus, best)):
        sides = tables[0][order][:, chosen], tables[1][order][:, chosen]
        truth, labels = (side.mean(axis=0) for side in sides)
        limits = over_queries(*sides, ["kendall", "tau_ap"], draws=50, seed=4).tolist()
        values = kendall(truth, labels), tau_ap(labels, truth)
        for value, whole, row in zip(each, values, limits, strict=True):
            assert value == pytest.approx((whole, *row))
    (without,) = agreement(judges, runs=runs, measures=["P@5"], draws=0).audits
    assert math.isnan(without.taus.kendall.low)


def test_runs_that_return_what_the_machine_likes_are_favoured_and_no_others_are() -> None:
    judges, runs = audited(1, queries=40)
    liked = {
        query: {name: grade + 0.001 * place for place, (name, grade) in enumerate(row.items())}
        for query, row in judges["machine"].items()
    }
    found = agreement(judges, runs=runs | {"circular": liked}, measures=["P@5"], draws=0)
    (one,) = found.audits
    assert one.gainers()[0].name == "circular"
    assert one.gainers()[0].rank_labels == 1
    assert [run.name for run in one.runs if run.favored] == ["r1", "circular"]  # r1 follows the machine too
    assert found.to_dict()["audit"][0]["runs"][-1]["favored"] is True


def test_labels_that_are_the_reference_change_nothing() -> None:
    judges, runs = audited()
    found = agreement({"a": judges["people"], "b": judges["people"]}, runs=runs, measures=["P@5"], draws=0)
    (one,) = found.audits
    assert one.taus.kendall.value == one.taus.tau_ap.value == 1
    assert {tuple(run.bias) for run in one.runs} == {(0, 0, 0)}
    assert [run.favored for run in one.runs] == [False] * 5


def test_a_measure_without_a_value_leaves_its_row_empty() -> None:
    judges = {"a": {"q": {"d1": 1, "d2": 0}}, "b": {"q": {"d1": 1, "d2": 1}}}
    runs = {"x": {"q": ["d1", "d2"]}, "y": {"q": ["d2", "d1"]}}
    found = agreement(judges, runs=runs, measures=["NoAnswer", "RR"], draws=0)  # of queries without an answer
    assert {"NoAnswer", "RR"} <= set(str(found).split())


def test_gain_and_rank_follow_measures_of_which_less_is_better() -> None:
    judges, runs = audited(5)
    found = agreement(judges, runs=runs, measures=["E@5"], draws=0)
    (one,) = found.audits
    best = min(one.runs, key=lambda run: run.labels)
    assert best.rank_labels == 1
    most = min(one.runs, key=lambda run: run.bias.value)
    assert one.gainers()[0].name == most.name


@pytest.mark.parametrize("rel", [None, 2])
def test_runs_are_measured_at_the_level_of_the_agreement(rel: float | None) -> None:
    judges = random_judges(2, 12, 9)
    runs = {"a": {query: list(one) for query, one in judges["j0"].items()}, "b": judges["j1"]}
    found = agreement(judges, runs=runs, measures="P@3, RR nDCG", rel=rel)
    assert found.ranking is not None
    for judge, means in zip(judges.values(), found.ranking.values, strict=True):
        assert np.array_equal(means, ll.evaluate(judge, runs, "P@3 RR nDCG", rel=rel).means)
    assert found.ranking.measures[0] == ("P@3" if rel is None else "P(rel=2)@3")


def test_few_queries_and_measures_without_an_arithmetic_mean_have_no_interval() -> None:
    judges, runs = audited(queries=9)
    found = agreement(judges, runs=runs, measures=["P@5", "GMAP"], draws=0)
    assert [one.measure for one in found.audits] == ["P@5"]
    (one,) = found.audits
    intervals = [one.bias, *one.taus, *one.top_taus, *(run.bias for run in one.runs)]
    assert all(math.isnan(each.low) for each in [*intervals, *(run.gain for run in one.runs)])
    assert one.runs[0].favored is None
    assert found.needed[0].queries is None
    assert found.to_dict()["audit"][0]["bias"]["low"] is None


def test_three_judges_are_audited_by_the_reference_alone() -> None:
    judges, runs = audited()
    three = judges | {"other": judges["machine"]}
    assert agreement(three, runs=runs, measures=["P@5"], draws=0).audits == []
    found = agreement(three, runs=runs, measures=["P@5"], draws=0, reference=True)
    assert [(one.reference, one.judge) for one in found.audits] == [
        ("people", "machine"),
        ("people", "other"),
    ]


def test_systems_tied_but_for_rounding_do_not_swap() -> None:
    found = change(np.array([0.1 + 0.2, 0.3, 0.6]), np.array([0.1, 0.2, 0.3]))
    assert (found.swapped, found.apart, found.widest) == (0, 2, 0.0)
    found = change(np.array([0.5, 0.3, 0.6]), np.array([0.1, 0.2, 0.3]))
    assert (found.swapped, found.apart, round(found.widest, 9)) == (1, 3, 0.2)


@given(st.integers(0, 200))
def test_needed_judgments_are_those_of_a_jackknife_over_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 11)
    query = np.repeat(np.arange(11), sizes)
    grades = rng.integers(0, 3, (len(query), 2))
    tables = np.zeros((11, 3, 3))
    np.add.at(tables, (query, grades[:, 0], grades[:, 1]), 1)
    found = needed_judgments(("a", "b"), tables, Cohen(), np.arange(3.0), within=0.1)
    by_query = np.array([Cohen().of(grades[query != one]) for one in range(11)])
    by_pair = np.array([Cohen().of(np.delete(grades, row, axis=0)) for row in range(len(grades))])
    errors = [
        math.sqrt((len(each) - 1) / len(each) * ((each - each.mean()) ** 2).sum())
        for each in (by_query, by_pair)
    ]
    assert found.coefficient.value == pytest.approx(Cohen().of(grades))
    if any(map(math.isnan, errors)):
        assert found.queries is None or found.independent is None
        return
    assert found.design_effect == pytest.approx((errors[0] / errors[1]) ** 2)
    if not supported(tables, Cohen()):
        assert (found.queries, found.judgments, found.independent) == (None, None, None)
        assert math.isnan(found.coefficient.low)
        return

    def half(number: int, error: float, units: int) -> float:
        return float(t_distribution.ppf(0.975, number - 1)) * error * math.sqrt(units / number)

    assert found.coefficient.value - found.coefficient.low == pytest.approx(half(11, errors[0], 11))
    assert found.coefficient.high == pytest.approx(
        min(1.0, found.coefficient.value + half(11, errors[0], 11))
    )
    for needed, error, units, least in (
        (found.queries, errors[0], 11, 10),
        (found.independent, errors[1], len(grades), 2),
    ):
        assert needed is not None
        assert half(needed, error, units) <= 0.1
        assert needed == least or half(needed - 1, error, units) > 0.1


def test_equal_judgments_within_queries_have_the_size_of_queries_as_design_effect() -> None:
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, 2, (400, 2))
    tables = np.zeros((400, 2, 2))
    tables[np.arange(400), pairs[:, 0], pairs[:, 1]] = 5  # five pairs of a query, all alike
    found = needed_judgments(("a", "b"), tables, Cohen(), np.arange(2.0))
    assert found.design_effect == pytest.approx(5, rel=0.01)
    assert found.judgments == found.queries * 5 if found.queries else False


def test_trec_2019_labels_of_a_machine_are_far_too_high(shared_data: Path) -> None:
    folder = shared_data / "trec-dl-2019-passage"
    labels = shared_data / "trec-dl-2019-machine-labels" / "llama70b-criteria.qrels"
    runs = sorted((folder / "runs").iterdir())[:6]
    found = agreement(
        [str(folder / "qrels.txt"), str(labels)], runs=list(map(str, runs)), measures=["P(rel=2)@10"], draws=0
    )
    (one,) = found.audits
    assert one.queries == 43
    assert 0.25 < one.bias.value < 0.32
    assert one.bias.low > 0.15
    assert 15 < found.needed[0].design_effect < 30
    assert "judgments of one query are correlated" in str(found)


def test_judgments_without_a_design_effect_are_not_called_correlated() -> None:
    rng = np.random.default_rng(1)
    people, labels = (
        {f"q{q}": {f"d{d}": int(rng.random() < 0.5) for d in range(6)} for q in range(12)} for _ in range(2)
    )
    found = agreement([people, labels], within=0.1)
    assert found.needed[0].design_effect < 1
    assert "correlated" not in str(found)


def test_limits_and_verdicts_that_nothing_has_are_neither_printed_nor_explained() -> None:
    few = {f"q{q}": {f"d{d}": (q + d) % 2 for d in range(4)} for q in range(3)}
    other = {query: {**row, "d0": 1} for query, row in few.items()}
    for judges in ([few, other], [few, other, few]):
        assert not [word for word in ("low", "2/3") if word in str(agreement(judges))]


def test_there_is_no_design_effect_where_kappa_has_no_interval() -> None:
    grades = {f"q{q}": {f"d{d}": int((q + d) % 3 == 0) for d in range(6)} for q in range(12)}
    found = agreement([grades, {query: dict.fromkeys(row, 1) for query, row in grades.items()}], within=0.1)
    assert found.needed[0].queries is None
    (table,) = (one for one in found.printed_tables() if "design effect" in one.columns)
    assert str(table.rows[0][4]) == "-"


def test_noisy_rankings_are_said_where_they_have_intervals() -> None:
    """The intervals of rank correlations are too low where means of runs are mostly error of queries."""
    rng = np.random.default_rng(3)
    documents = [f"d{number}" for number in range(20)]
    for spread, count in ((0.0, 2), (0.5, 0)):
        grades = {
            judge: {f"q{q}": {d: int(rng.random() < 0.5) for d in documents} for q in range(12)}
            for judge in ("people", "machine")
        }
        if spread:  # both judges agree, and runs differ in how many relevant documents they rank first
            grades["machine"] = grades["people"]
        runs = {
            f"r{run}": {
                query: sorted(
                    documents,
                    key=lambda d, run=run, judged=judged: (  # type: ignore[misc]
                        rng.random() - spread * run * judged[d]
                    ),
                )
                for query, judged in grades["people"].items()
            }
            for run in range(5)
        }
        found = agreement(grades, runs=runs, measures=["P@5"], draws=50)
        (one,) = found.audits
        values = [one.reliability.reference, one.reliability.labels]
        assert sum(value < 0.8 for value in values) == count
        codes = {each.code: each.count for each in found.warnings}
        assert codes.get("noisy_means", 0) == count
        without = agreement(grades, runs=runs, measures=["P@5"], draws=0)
        assert "noisy_means" not in {each.code for each in without.warnings}
