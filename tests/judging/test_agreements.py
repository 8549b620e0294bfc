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

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.io.judges import read_judges
from leadline.judging.agreement import agreement
from leadline.judging.agreement_result import Judgments, change
from leadline.stats.agreement_coefficients import Cohen, Krippendorff, PairwiseAgreement, UnitGroups

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
    assert str(notice) == (
        "query-document pairs not judged by all judges: 2 of 4; excluded (Krippendorff's alpha "
        "uses pairs judged by two or more)"
    )


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


def test_ten_queries_are_drawn_again_and_fewer_are_not() -> None:
    many = agreement(random_judges(2, 10, 8), draws=50)
    few = agreement(random_judges(2, 9, 8), draws=50)
    assert many.options["resample"] == "queries"
    assert few.options["resample"] == "pairs"
    assert any("too few to resample" in str(one) for one in few.warnings)
    assert not any(one.code == "few_queries" for one in many.warnings)


@pytest.mark.parametrize("resample", ["queries", "pairs"])
def test_the_interval_is_that_of_groups_drawn_again_one_by_one(resample: str) -> None:
    judges = random_judges(2, 12, 6)
    table = grades_of(judges)
    found = agreement(judges, draws=2000, resample=resample)["cohen"]
    owner = np.arange(len(table)) if resample == "pairs" else np.repeat(np.arange(12), 6)
    rng = np.random.default_rng(11)
    again = []
    for _ in range(2000):
        drawn = rng.integers(0, owner.max() + 1, owner.max() + 1)
        rows = np.concatenate([np.flatnonzero(owner == group) for group in drawn])
        again.append(Cohen().of(table[rows]))
    assert [found.low, found.high] == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.02)


def test_the_same_seed_gives_the_same_interval() -> None:
    judges = random_judges(3, 12, 5)
    one, same, other = (agreement(judges, draws=99, seed=seed).to_dict() for seed in (4, 4, 5))
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
    assert any("not 1" in str(one) for one in found.warnings)


def test_a_table_of_counts_gives_the_numbers_of_the_lecture() -> None:
    found = agreement(table=[300, 20, 10, 70])
    data = found.to_dict()
    assert data["pairs"] == 400
    assert (round(data["scott"]["value"], 4), round(data["cohen"]["value"], 4)) == (0.7759, 0.7761)
    assert data["scott"]["acceptable"] is True
    assert data["confusion"][0]["counts"] == [[300, 20], [10, 70]]
    assert data["per_query"] == {}
    assert data["ranking"] is None


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any))
def test_a_table_is_the_judgments_it_counts(cells: list[int]) -> None:
    rows = [[place // 2, place % 2] for place, count in enumerate(cells) for _ in range(count)]
    found, expected = agreement(table=cells, draws=0)["cohen"].value, Cohen().of(rows)
    assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_grades_that_one_judge_alone_gives_are_named() -> None:
    judges = random_judges(3, 2, 10)
    judges["j1"]["q0"]["d0"] = 7
    notice = next(one for one in agreement(judges, draws=0).warnings if one.code == "odd_grades")
    assert "7 (1 by j1)" in str(notice)
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
        ({"judges": {"a": {"q": {"d": 1}}}}, "1 judge (a); expected two or more"),
        ({"judges": {}}, "0 judges; expected two or more"),
        ({}, "neither judges nor a table of counts; expected one of them"),
        ({"judges": {"a": {"q": {"d": 1}}}, "table": [1, 2, 3, 4]}, "expected one of them"),
        ({"table": [1, 2, 3]}, "a table of 3 numbers; expected 4"),
        ({"table": [1, 2, -3, 4]}, "-3 in the table"),
        ({"table": [1, 2.5, 3, 4]}, "2.5 in the table"),
        ({"table": [1, 2, float("nan"), 4]}, "nan in the table"),
        ({"table": [0, 0, 0, 0]}, "nothing but 0"),
        ({"table": [1, 2, 3, 4], "resample": "queries"}, "has no queries"),
        ({"table": [1, 2, 3, 4], "runs": {"r": {"q": {"d": 1.0}}}}, "has no documents"),
        ({"table": [1, 2, 3, 4], "weights": "cubic"}, "weights=cubic"),
        ({"table": [1, 2, 3, 4], "over": "some"}, "over='some'"),
        ({"table": [1, 2, 3, 4], "draws": -1}, "draws=-1"),
        ({"table": [1, 2, 3, 4], "confidence": 2}, "confidence level 2"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_words(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as rejected:
        agreement(**given)
    assert says in str(rejected.value)


def test_judges_without_a_common_pair_are_refused() -> None:
    with pytest.raises(InputError, match=r"none of 2 pairs .* was judged by two judges; .* match\?$"):
        agreement({"a": {"q": {"d1": 1}}, "b": {"q": {"d2": 1}}})


def test_scores_are_no_grades() -> None:
    scores = {"q": {f"d{place}": place / 7 for place in range(101)}}
    with pytest.raises(UsageError, match="101 different grades; expected 100 or fewer"):
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
    assert "5 (2 by RMITIR-llama70B), 10 (1 by h2oloo-zeroshot2)" in str(odd)


def test_eight_people_differ_as_the_data_say(shared_data: Path) -> None:
    path = str(shared_data / "dl19-rejudged-8judges" / "labels.tsv")
    found = ll.agreement(path, draws=0)
    cohen = found.matrix("cohen")
    people, official = cohen[1:, 1:], cohen[0, 1:]
    assert (round(np.nanmin(people), 2), round(np.nanmax(people), 2)) == (0.09, 0.54)
    assert (round(np.nanmin(official), 2), round(np.nanmax(official), 2)) == (0.04, 0.33)
