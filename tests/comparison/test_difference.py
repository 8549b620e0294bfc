"""RIC and id: worked by hand, against loops over pairs, and the facts that the definitions state."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.comparison.difference import difference
from leadline.comparison.difference_result import Difference
from leadline.errors import InputError, UsageError
from pair_loops import compare, cut_list, place_weights

Grades = dict[str, float]
Case = tuple[Grades, list[list[str]]]


def of_lists(grades: Grades, *lists: list[str], **options: object) -> Difference:
    """Compare ranked lists of one query."""
    runs = {f"s{place}": {"q": found} for place, found in enumerate(lists)}
    options = {"competitors": ()} | options
    return difference({"q": grades}, runs, **options)  # type: ignore[arg-type]


@st.composite
def cases(draw: st.DrawFn, *, levels: tuple[float, ...] = (0, 0, 0, 1, 1, 2, 3)) -> Case:
    """Return the grades of some documents and three lists of judged and unjudged ones."""
    grades = dict(enumerate(draw(st.lists(st.sampled_from(levels), min_size=2, max_size=10))))
    judged = {f"d{name}": grade for name, grade in grades.items()}
    judged |= {"r": max(1, *levels), "n": 0.0}  # so that there is always a pair
    names = st.permutations([*judged, "u1", "u2", "u3"])
    lists = [draw(names)[: draw(st.integers(1, len(judged)))] for _ in range(3)]
    return judged, lists


SETTINGS = st.fixed_dictionaries(
    {
        "cutoff": st.sampled_from([None, 1, 2, 4, 100]),
        "truncate": st.booleans(),
        "condense": st.booleans(),
        "printed6": st.booleans(),
        "normalise": st.sampled_from([None, True, False]),
        "weighted": st.sampled_from([None, True, False]),
        "graded": st.booleans(),
    }
)


@pytest.mark.usefixtures("form")
@given(case=cases(), options=SETTINGS)
def test_all_values_are_those_of_a_loop_over_pairs(case: Case, options: dict[str, object]) -> None:
    grades, lists = case
    k = options["cutoff"]
    weighted = options["weighted"] if options["weighted"] is not None else k is not None
    options |= {
        "printed6": options["printed6"] and weighted,
        "condense": options["condense"] and k is not None,
    }
    found = of_lists(grades, *lists, **options)
    if not options["graded"]:
        grades = {name: float(grade >= 1) for name, grade in grades.items()}
    weights = place_weights(grades, printed6=bool(options["printed6"])) if weighted else None
    rules = {"truncate": options["truncate"], "condense": options["condense"], "k": k}
    best = sorted(grades, key=lambda name: -grades[name])
    cut = [cut_list(one, grades, **rules) for one in [*lists, best]]  # type: ignore[arg-type]
    normalised = options["normalise"] if options["normalise"] is not None else k is not None
    over = compare(grades, cut[3], cut[3], weights).ric[0] if normalised else 1.0
    for i in range(3):
        for j in range(i + 1, 3):
            said = compare(grades, cut[i], cut[j], weights)
            assert found.ric[i, 0] == pytest.approx(said.ric[0] / over, abs=1e-12)
            assert found.ric[j, 0] == pytest.approx(said.ric[1] / over, abs=1e-12)
            assert found.concordance[i, 0] == pytest.approx(said.concordance[0] / over, abs=1e-12)
            assert found.only[0, i, j] == pytest.approx(said.only[0] / over, abs=1e-12)
            assert found.only[0, j, i] == pytest.approx(said.only[1] / over, abs=1e-12)


# Worked by hand.


def test_half_of_the_pairs_said_right_is_half_a_bit() -> None:
    # [a] of a, b relevant and n not: of the pairs (a, n) and (b, n) it says the first.
    assert of_lists({"a": 1, "b": 1, "n": 0}, ["a"]).mean_ric.tolist() == [0.5]


def test_one_more_relevant_document_can_make_ric_zero() -> None:
    # [a, n, b] says both pairs, one right and one wrong: w = 1, c = 1/2.
    grades = {"a": 1.0, "b": 1.0, "n": 0.0}
    assert of_lists(grades, ["a", "n", "b"]).mean_ric.tolist() == [0.0]


def test_three_right_of_four_is_one_minus_the_entropy_of_a_quarter() -> None:
    grades = {"a": 1.0, "b": 1.0, "n": 0.0, "m": 0.0}
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    found = of_lists(grades, ["a", "n", "b", "m"])  # (b, n) is wrong, m is cut off
    assert found.mean_ric[0] == pytest.approx(1 - entropy, abs=1e-15)
    assert found.mean_concordance[0] == 0.5


def test_lists_that_say_different_pairs_differ_by_the_sum_of_their_ric() -> None:
    grades = {"a": 1.0, "b": 1.0, "n": 0.0}
    found = of_lists(grades, ["a"], ["b"])
    assert found.mean_only.tolist() == [[0.0, 0.5], [0.5, 0.0]]
    assert found.mean_id[0, 1] == 1.0


def test_weights_at_k_are_mean_probabilities_of_ideal_ranks() -> None:
    # Grades 2, 1, 0 in ideal places 1, 2, 3, one document each: P = 0.369, 0.131, 0.069 (unnormalised).
    places = [1 / math.log2(rank + 1) - 1 / math.log2(rank + 2) for rank in (1, 2, 3)]
    pairs = [places[0] * places[1], places[0] * places[2], places[1] * places[2]]
    found = of_lists({"a": 2, "b": 1, "c": 0}, ["a"], cutoff=1, normalise=False)
    assert found.mean_ric[0] == pytest.approx((pairs[0] + pairs[1]) / sum(pairs), abs=1e-15)


def test_ric_at_k_is_not_bounded_by_one() -> None:
    # Ten relevant and one not; [n, r] says ten pairs wrong... of which the ideal list of two says two right.
    grades = {f"r{place}": 1.0 for place in range(10)} | {"n": 0.0}
    found = of_lists(grades, ["n", "r1"], cutoff=2)
    assert found.mean_ric[0] == pytest.approx(5.0, abs=1e-12)
    assert found.mean_concordance[0] == pytest.approx(-5.0, abs=1e-12)
    assert found.wrong_way.tolist() == [[True]]


# Facts.


@given(case=cases(), k=st.sampled_from([None, 3]))
def test_id_is_symmetric_and_never_negative_and_zero_to_itself(case: Case, k: int | None) -> None:
    grades, lists = case
    found = of_lists(grades, *lists, lists[0], cutoff=k)
    assert (found.mean_id == found.mean_id.T).all()
    assert (found.mean_id >= 0).all()
    assert found.mean_id[0, 3] == 0.0
    assert (np.diag(found.mean_id) == 0).all()


@given(case=cases(), k=st.sampled_from([None, 3]))
def test_id_to_an_empty_list_is_ric(case: Case, k: int | None) -> None:
    grades, lists = case
    found = of_lists(grades, lists[0], ["u1"], cutoff=k)
    assert found.mean_ric[1] == 0.0
    assert found.mean_id[0, 1] == pytest.approx(found.mean_ric[0], abs=1e-12)


@given(case=cases())
def test_the_ideal_list_and_its_reverse_have_ric_one(case: Case) -> None:
    grades, _ = case
    best = sorted(grades, key=lambda name: -grades[name])
    found = of_lists(grades, best, best[::-1], truncate=False)
    assert found.mean_ric.tolist() == pytest.approx([1.0, 1.0], abs=1e-12)
    assert found.mean_concordance.tolist() == pytest.approx([1.0, -1.0], abs=1e-12)
    assert of_lists(grades, best).mean_ric[0] == pytest.approx(1.0, abs=1e-12)


@given(case=cases())
def test_a_list_and_its_reverse_have_id_zero_when_nothing_is_cut(case: Case) -> None:
    grades, lists = case
    whole = [*[name for name in lists[0] if name in grades], *grades]
    whole = list(dict.fromkeys(whole))
    found = of_lists(grades, whole, whole[::-1], truncate=False)
    assert found.mean_id[0, 1] == pytest.approx(0.0, abs=1e-12)


@given(case=cases(levels=(0, 1)), k=st.integers(1, 6))
def test_with_binary_grades_the_weights_at_k_cancel(case: Case, k: int) -> None:
    grades, lists = case
    weighted, plain = (of_lists(grades, *lists, cutoff=k, weighted=w) for w in (True, False))
    assert weighted.mean_ric == pytest.approx(plain.mean_ric, abs=1e-12)
    assert weighted.mean_id == pytest.approx(plain.mean_id, abs=1e-12)
    relevant = sum(grade >= 1 for grade in grades.values())
    raw = of_lists(grades, *lists, cutoff=k, weighted=False, normalise=False)
    scale = relevant / min(k, relevant)
    assert plain.mean_ric == pytest.approx(raw.mean_ric * scale, abs=1e-12)


@given(case=cases(), odd=st.floats(0.1, 9))
def test_only_the_order_of_grades_matters_without_a_cutoff(case: Case, odd: float) -> None:
    grades, lists = case
    moved = {name: grade * odd + (1 if grade else 0) for name, grade in grades.items()}  # 1 or more, or 0
    assert of_lists(moved, *lists).mean_id == pytest.approx(of_lists(grades, *lists).mean_id, abs=1e-12)


def test_id_is_no_metric() -> None:
    # x and y tell apart different halves of the pairs; z tells which half is turned round.
    grades = {"a": 1.0, "b": 1.0, "m": 0.0, "n": 0.0}
    there, back = ["a", "b", "m", "n"], ["n", "m", "b", "a"]
    found = of_lists(grades, there, back, ["a", "m", "n", "b"], truncate=False)
    assert found.mean_id[0, 1] == 0.0  # different lists without a difference
    assert found.mean_id[0, 2] > 0


def test_the_triangle_inequality_fails() -> None:
    rng = np.random.default_rng(0)
    grades = {f"d{place}": float(place < 2) for place in range(6)}
    worst = 0.0
    for _ in range(150):
        lists = [rng.permutation(list(grades))[: rng.integers(1, 7)].tolist() for _ in range(3)]
        far = of_lists(grades, *lists, truncate=False).mean_id
        worst = max(worst, far[0, 1] - far[0, 2] - far[2, 1])
    assert worst > 0.5


# What is counted, left out or refused.


def test_negative_grades_count_as_zero() -> None:
    lists = ["a", "j"], ["j", "a"]
    found = of_lists({"a": 1, "n": 0, "j": -2}, *lists)
    assert found.mean_id.tolist() == of_lists({"a": 1, "n": 0, "j": 0}, *lists).mean_id.tolist()


def test_unjudged_documents_take_up_ranks_unless_condensed() -> None:
    grades = {"a": 1.0, "n": 0.0}
    lists = ["u1", "u2", "a"]
    assert of_lists(grades, lists, cutoff=2).mean_ric.tolist() == [0.0]
    assert of_lists(grades, lists, cutoff=2, condense=True).mean_ric.tolist() == [1.0]


def test_queries_without_relevant_documents_or_pairs_are_left_out_and_counted() -> None:
    qrels = {
        "none": {"a": 0, "b": 0},
        "all": {"a": 1, "b": 1},
        "good": {"a": 1, **{f"n{place}": 0 for place in range(6)}},
        "missing": {"a": 1, **{f"n{place}": 0 for place in range(6)}},
    }
    found = difference(qrels, {"q": {"good": ["a"], "all": ["a"], "none": ["a"]}})
    assert found.counted.tolist() == [False, True, True, False]  # all, good, missing, none
    assert found.mean_ric.tolist() == [0.5]  # 1 and, where the run has nothing, 0
    codes = {notice.code: notice.count for notice in found.warnings}
    assert codes == {"no_relevant": 1, "missing_queries": 1, "no_pairs": 1, "one_system": 1}


def test_few_judged_nonrelevant_documents_are_said() -> None:
    found = of_lists({"a": 1, "n": 0}, ["a"], ["n"])
    (notice,) = [one for one in found.warnings if one.code == "few_nonrelevant"]
    assert "fewer than 5" in notice.message


def test_qrels_without_any_pair_are_refused() -> None:
    with pytest.raises(InputError, match="judged document of a different grade"):
        of_lists({"a": 1, "b": 1}, ["a"])


@pytest.mark.parametrize("cutoff", [0, -3, 2.5, True, "10"])
def test_a_cutoff_that_is_no_positive_whole_number_is_refused(cutoff: object) -> None:
    with pytest.raises(UsageError, match="a whole number of at least 1"):
        of_lists({"a": 1, "n": 0}, ["a"], cutoff=cutoff)


def test_a_run_without_a_judged_document_has_ric_zero_and_is_said() -> None:
    found = of_lists({"a": 1, "n": 0}, ["a"], ["u1", "u2"])
    assert found.mean_ric.tolist() == [1.0, 0.0]
    (notice,) = [one for one in found.warnings if one.code == "nothing_kept"]
    assert "without a relevant document" in notice.message


def test_one_system_has_a_ric_and_a_matrix_of_one() -> None:
    found = of_lists({"a": 1, "n": 0}, ["a"])
    assert found.mean_id.tolist() == [[0.0]]
    assert found.nearest() == found.farthest() == found.same_score_far_apart() == []


def test_signed_makes_wrong_way_ric_negative_and_leaves_id() -> None:
    grades, lists = {"a": 1.0, "n": 0.0}, (["n", "a"], ["a"])
    assert of_lists(grades, *lists, signed=True).mean_ric.tolist() == [-1.0, 1.0]
    assert of_lists(grades, *lists, signed=True).mean_id[0, 1] == 0.0


def test_warnings_name_what_the_options_exclude() -> None:
    qrels = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1, "n": 0}}
    runs = {"one": {"q2": ["a", "x"]}, "none": {"q2": ["x", "n"]}}
    told = [str(one) for one in difference(qrels, runs, graded=False, cutoff=2, condense=True).warnings]
    assert "excluded 1 query whose judged documents are all relevant" in told
    assert "RIC is 0 for 1 run without a relevant document in the top 2 (none)" in told
    assert any("(removed from the lists)" in one for one in told)
