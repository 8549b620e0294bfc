"""What the profiles change, and nothing else: width of ties, missing queries, interpolation."""

from __future__ import annotations

import math
from typing import Any

import pytest

from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.profiles import PROFILES, profile_of
from leadline.measures import MEASURES, Measure
from leadline.measures.average_precision import ELEVEN_LEVELS

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
ONE_QUERY = {"q1": {"a": 1.000000001, "b": 1.0}}

# One query with 7 relevant documents, retrieved at these ranks.
RANKS = [1, 3, 6, 7, 10, 14]
# Documents asked for at the levels 0, 0.1 .. 1 of 7: the ceiling, int(7 level + 0.9), round(7 level).
ASKED = {
    "leadline": [0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7],
    "trec9": [0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7],
    "trec10": [0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7],
}


def curve(profile: str, ranks: list[int], size: int) -> list[float]:
    """Return the interpolated precision of one list at the eleven levels."""
    names = [f"d{rank}" for rank in ranks] + [f"lost{rank}" for rank in range(size - len(ranks))]
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, max(ranks, default=1) + 1)}}
    levels = [f"IPrec@{level}" for level in ELEVEN_LEVELS]
    results = evaluate({"q": dict.fromkeys(names, 1)}, run, levels, profile=profile)
    found: list[float] = results.values[0, 0].tolist()
    return found


def best(asked: int, ranks: list[int]) -> float:
    """Return the highest precision where at least that many relevant documents were found."""
    return max((n / rank for n, rank in enumerate(ranks, start=1) if n >= asked), default=0.0)


@pytest.mark.parametrize("profile", list(ASKED))
def test_each_profile_asks_for_its_own_number_of_documents(profile: str) -> None:
    assert curve(profile, RANKS, 7) == [best(asked, RANKS) for asked in ASKED[profile]]


def test_trec10_changed_the_curve_of_a_query_with_7_relevant_documents() -> None:
    nine, ten = curve("trec9", RANKS, 7), curve("trec10", RANKS, 7)
    assert [round(value, 3) for value in nine[2:4]] == [0.667, 0.571]
    assert [round(value, 3) for value in ten[2:4]] == [1.0, 0.667]
    assert nine == curve("leadline", RANKS, 7)
    assert sum(ten) > sum(nine)


def test_trec9_asks_too_little_where_floating_point_falls_short() -> None:
    """0.7 of 3 is 2.1, so 3 documents; 0.7 * 3 + 0.9 is 2.9999999999999996."""
    assert curve("trec9", [1, 2, 10], 3)[7] == 1.0
    assert curve("leadline", [1, 2, 10], 3)[7] == 0.3


@pytest.mark.parametrize("size", range(1, 60))
def test_the_default_asks_for_the_exact_ceiling(size: int) -> None:
    ranks = list(range(1, 2 * size, 2))
    exact = [-(-tenth * size // 10) for tenth in range(11)]
    assert curve("leadline", ranks, size) == [best(asked, ranks) for asked in exact]


def test_a_spelling_of_trec_eval_follows_the_version_of_the_profile() -> None:
    texts = {name: str(profile_of(name).measures(["iprec_at_recall_0.20"])[0]) for name in PROFILES}
    assert texts == {
        "leadline": "IPrec(rule=trec10)@0.2",
        "trec9": "IPrec(rule=trec9)@0.2",
        "trec10": "IPrec(rule=trec10)@0.2",
    }


def test_a_rule_of_the_lecture_stays_in_any_profile() -> None:
    for name in PROFILES:
        (measure,) = profile_of(name).measures(["IPrec(rule=printed-next)@0.2"])
        assert str(measure) == "IPrec(rule=printed-next)@0.2"


@pytest.mark.parametrize(("profile", "value"), [("leadline", 1), ("trec9", 0.5), ("trec10", 1)])
def test_only_trec9_compares_scores_as_32_bit_floats(profile: str, value: float) -> None:
    assert evaluate(QRELS, ONE_QUERY, "AP", profile=profile).value("run", "q1", "AP") == value


def test_a_score_beyond_32_bits_is_tied_with_infinity_under_trec9() -> None:
    run = {"q1": {"a": 1e300, "b": math.inf}}
    assert evaluate(QRELS, run, "AP", profile="trec9").value("run", "q1", "AP") == 0.5
    assert evaluate(QRELS, {"q1": {"a": -1e300, "b": -math.inf}}, "AP").value("run", "q1", "AP") == 1


def test_a_missing_query_counts_0_is_left_out_or_leaves_no_mean() -> None:
    run = {"q1": {"a": 1.0}}
    assert evaluate(QRELS, run, "AP").mean("run", "AP") == 0.5
    assert evaluate(QRELS, run, "AP", profile="trec9").mean("run", "AP") == 1.0
    assert math.isnan(evaluate(QRELS, run, "AP", profile="trec10").mean("run", "AP"))


def test_notes_say_over_how_many_queries_the_values_are() -> None:
    runs = {"one": {"q1": {"a": 1.0}}, "both": {"q1": {"a": 1.0}, "q2": {"a": 1.0}}}

    def note(measures: list[str], **options: Any) -> str:
        return str(evaluate(QRELS, runs, measures, **options)).split("\n2 runs, ")[1].splitlines()[0]

    assert note(["AP"]) == "mean over 2 queries"
    assert note(["AP"], profile="trec9") == "mean over 1 to 2 queries"
    assert note(["AP"], profile="trec10") == "mean over 2 queries"
    assert note(["NumRet"]) == "sum over 2 queries"
    assert note(["NumRet", "AP"]) == "mean or sum over 2 queries"
    assert note(["NoAnswer"]) == "2 queries"


@pytest.mark.parametrize("profile", list(PROFILES))
def test_every_profile_has_a_mean_when_no_query_is_missing(profile: str) -> None:
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    assert evaluate(QRELS, run, "AP", profile=profile).mean("run", "AP") == 0.75


@pytest.mark.parametrize("profile", list(PROFILES))
def test_who_names_the_queries_of_the_mean_is_obeyed_in_any_profile(profile: str) -> None:
    results = evaluate(QRELS, {"q1": {"a": 1.0}}, "AP", profile=profile, queries="all")
    assert results.mean("run", "AP") == 0.5


@pytest.mark.parametrize("profile", list(PROFILES))
def test_a_query_without_relevant_documents_counts_0_in_any_profile(profile: str) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    results = evaluate(qrels, run, ["AP", "num_rel"], profile=profile)
    assert results.mean("run", "AP") == 0.5
    assert results.mean("run", "NumRel") == 1


def test_a_level_is_for_every_measure_that_has_one_and_was_not_given_it() -> None:
    wanted: list[str | Measure] = ["AP", "AP(rel=3)", "nDCG@10", "P@5", "Judged@10", MEASURES.parse("RR")]
    found = profile_of("leadline").measures(wanted, rel=2)
    assert [str(measure) for measure in found] == [
        "AP(rel=2)",
        "AP(rel=3)",
        "nDCG@10",
        "P(rel=2)@5",
        "Judged@10",
        "RR(rel=2)",
    ]


def test_measures_that_become_equal_come_once() -> None:
    assert list(map(str, profile_of("trec9").measures(["AP", "map", "AP(rel=2)"], rel=2))) == ["AP(rel=2)"]


def test_no_measures_and_unknown_profiles_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one"):
        profile_of("trec9").measures([])
    with pytest.raises(UsageError, match=r"Use leadline, trec9 or trec10"):
        profile_of("trec8")
