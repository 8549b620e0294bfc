"""Comparing runs: which pairs, which queries, what is concluded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_families import results_of

import leadline as ll
from leadline.comparison.compare import compare
from leadline.comparison.compared_pair import ComparedPair
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.pair_texts import sentence
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.pages.report import marks

Lists = dict[str, dict[str, float]]
QUERIES = 24
QRELS = {f"q{query}": {"good": 1, "bad": 0} for query in range(QUERIES)}


def ranked(*places: int) -> Lists:
    """Return lists in which the relevant document of each query stands at a rank; 0 is not found."""
    found = {}
    for query, rank in enumerate(places):
        documents = [f"x{place}" for place in range(1, max(rank, 2))]
        documents.insert(rank - 1, "good") if rank else documents
        found[f"q{query}"] = {name: 100.0 - place for place, name in enumerate(documents)}
    return found


def varied(*steps: int) -> Lists:
    """Return lists whose ranks go round in the steps."""
    return ranked(*(steps[query % len(steps)] for query in range(QUERIES)))


RUNS = {"best": varied(1, 1, 2), "middle": varied(1, 2, 4, 2), "worst": varied(5, 9, 0, 7)}


def test_each_run_is_compared_with_every_earlier_one() -> None:
    found = compare(QRELS, RUNS, ["RR", "Success@1"]).pairs
    assert [(pair.a, pair.b) for pair in found[:3]] == [
        ("middle", "best"),
        ("worst", "best"),
        ("worst", "middle"),
    ]
    assert [pair.measure for pair in found] == ["RR"] * 3 + ["Success@1"] * 3


def test_with_a_baseline_every_other_run_comes_first() -> None:
    found = compare(QRELS, RUNS, "RR", baseline="middle").pairs
    assert [(pair.a, pair.b) for pair in found] == [("best", "middle"), ("worst", "middle")]


def test_two_baselines_meet_once() -> None:
    found = compare(QRELS, RUNS, "RR", baseline=["worst", "middle"]).pairs
    assert [(pair.a, pair.b) for pair in found] == [
        ("best", "worst"),
        ("middle", "worst"),
        ("best", "middle"),
    ]


def test_a_pair_is_what_scipy_says_of_the_same_values() -> None:
    comparison = compare(QRELS, RUNS, "RR", correction="none")
    values = comparison.results.values[:, :, 0]
    for pair, (first, second) in zip(comparison.pairs, [(1, 0), (2, 0), (2, 1)], strict=True):
        expected = stats.ttest_rel(values[first], values[second])
        limits = expected.confidence_interval(0.95)
        assert pair.p == pair.p_corrected == pytest.approx(expected.pvalue, abs=1e-14)
        assert (pair.low, pair.high) == pytest.approx((limits.low, limits.high))
        assert pair.difference == pytest.approx(pair.mean_a - pair.mean_b)
        difference = values[first] - values[second]
        assert (pair.wins, pair.ties, pair.losses) == (
            (difference > 0).sum(),
            (difference == 0).sum(),
            (difference < 0).sum(),
        )
        assert pair.effect == pytest.approx(difference.mean() / difference.std(ddof=1))


def test_holm_corrects_within_a_measure_or_over_all() -> None:
    within = compare(QRELS, RUNS, ["RR", "Success@1"])
    over = compare(QRELS, RUNS, ["RR", "Success@1"], family="all")
    assert within.p_corrected[0].tolist() == within.rules.corrected(within.p_uncorrected[0]).tolist()
    assert np.all(over.p_corrected >= within.p_corrected)
    assert float(over.p_corrected.min()) == pytest.approx(6 * float(over.p_uncorrected.min()))


def test_tukey_corrects_for_all_pairs_and_gives_intervals_for_all_at_once() -> None:
    plain, tukey = (compare(QRELS, RUNS, "RR", correction=name) for name in ("none", "Tukey"))
    assert np.all(tukey.p_corrected > plain.p_corrected)
    assert tukey.simultaneous is not None
    width = np.ptp(tukey.simultaneous[0], axis=1)
    assert width == pytest.approx(np.full(3, width[0]))
    assert tukey.limits.tolist() == plain.limits.tolist(), "those of each pair alone"
    inside = np.all(tukey.simultaneous[0] * [-1, 1] > 0, axis=1)
    assert inside.tolist() == (~tukey.rejected[0]).tolist()


@pytest.mark.parametrize("test", ["T", "Randomisation", "Bootstrap", "Wilcoxon"])
def test_every_test_tells_the_clearly_worse_run(test: str) -> None:
    verdicts = {(pair.a, pair.b): pair.verdict for pair in compare(QRELS, RUNS, "RR", test=test).pairs}
    assert verdicts["worst", "best"] == "worse"
    assert verdicts["worst", "middle"] == "worse"


def test_of_a_falling_measure_less_is_better() -> None:
    pair = compare(QRELS, RUNS, "RankOf(n=1)", baseline="middle").pairs[0]
    rising = compare(QRELS, RUNS, "RR", baseline="middle").pairs[0]
    assert pair.difference < 0 < rising.difference
    assert (pair.wins, pair.losses) == (rising.wins, rising.losses)
    assert pair.verdict == rising.verdict == "better"


def test_identical_runs_are_said_to_be_identical() -> None:
    pair = compare(QRELS, {"a": RUNS["best"], "b": RUNS["best"]}, "RR").pairs[0]
    assert (pair.verdict, pair.p, pair.effect, pair.ties) == ("identical", 1.0, 0.0, QUERIES)
    assert (pair.low, pair.high, pair.needed) == (0.0, 0.0, None)
    words = compare(QRELS, {"a": RUNS["best"], "b": RUNS["best"]}, "RR").sentences()
    assert words == ["b and a have the same RR on all 24 queries."]


def test_one_query_decides_nothing() -> None:
    qrels, runs = {"q0": QRELS["q0"]}, {"b": ranked(4), "a": ranked(1)}
    comparison = compare(qrels, runs, "RR", margin=0.1)
    pair = comparison.pairs[0]
    assert (pair.verdict, pair.difference) == ("undecided", 0.75)
    assert all(np.isnan([pair.p, pair.low, pair.high, pair.effect, pair.detectable]))
    assert comparison.sentences() == [
        "No significant difference between a and b on RR: +0.7500; 1 query cannot show which is better."
    ]
    data = comparison.to_dict()["pairs"][0]
    assert (data["p"], data["low"], data["p_equivalent"]) == (None, None, None)
    by_flips = compare(qrels, runs, "RR", test="Randomisation").pairs[0]
    assert (by_flips.p, by_flips.verdict) == (1.0, "not significant")


@pytest.mark.parametrize("test", ["T", "Randomisation", "Bootstrap", "Wilcoxon", "Sign"])
def test_the_sign_test_decides_where_every_difference_is_the_same(test: str) -> None:
    for queries in (3, 5, 6, 24):
        qrels = dict(list(QRELS.items())[:queries])
        comparison = compare(qrels, {"b": varied(2), "a": varied(1)}, "RR", test=test)
        pair = comparison.pairs[0]
        assert pair.p == pytest.approx(2.0 ** (1 - queries), abs=1e-4 if queries > 20 else 1e-12)
        assert pair.verdict == ("better" if queries > 5 else "not significant")
        assert (pair.low > 0) == (queries > 5), "0.5 twice, or no limit at all"
        told = "decided_by_sign" in {notice.code for notice in comparison.warnings}
        assert told == (test != "Sign"), "by Sign, it decides any difference"


def test_equivalence_needs_a_margin() -> None:
    runs = {"a": varied(1, 2, 3, 4), "b": varied(2, 1, 4, 3)}
    assert compare(QRELS, runs, "RR").pairs[0].p_equivalent is None
    near = compare(QRELS, runs, "RR", margin=0.3)
    assert near.pairs[0].verdict == "equivalent"
    assert "are equivalent on RR within 0.3: " in near.sentences()[0]
    assert compare(QRELS, runs, "RR", margin=0.01).pairs[0].verdict == "not significant"
    with pytest.raises(UsageError, match=r"'margin=5' makes any two .* 0 to 1\. .* such as margin=0\.01"):
        compare(QRELS, runs, "RR", margin=5)


def test_a_sure_difference_may_be_a_small_one() -> None:
    words = compare(QRELS, RUNS, "RR", baseline="worst", margin=0.9).sentences()
    assert all(" is significantly better than worst " in one for one in words)
    assert all(one.endswith("; equivalent within 0.9.") for one in words)


def test_queries_of_one_side_only_are_left_out_and_counted() -> None:
    runs: dict[str, Any] = {"a": RUNS["best"], "b": dict(list(RUNS["middle"].items())[:10])}
    all_queries = compare(QRELS, runs, "RR")
    both = compare(QRELS, runs, "RR", queries="both")
    assert (all_queries.pairs[0].queries, both.pairs[0].queries) == (QUERIES, 10)
    assert "pairs_of_fewer_queries" in {notice.code for notice in both.warnings}
    two = {notice.code: str(notice) for notice in compare(QRELS, runs, "RR", "AP", queries="both").warnings}
    assert "2 pairs" not in two["pairs_of_fewer_queries"]  # one pair by two measures
    assert "pairs_of_fewer_queries" not in {notice.code for notice in all_queries.warnings}
    shared = evaluate({name: QRELS[name] for name in runs["b"]}, runs, "RR").means[:, 0]
    assert both.pairs[0].difference == pytest.approx(float(shared[1] - shared[0]))
    assert "over 10 queries, with" in both.to_latex()
    three = compare(QRELS, {**runs, "c": RUNS["worst"]}, "RR", queries="both")
    assert f"over 10 to {QUERIES} queries, with" in three.to_latex()
    tukey = compare(QRELS, runs, "RR", queries="both", correction="Tukey")
    assert "incomplete_queries" in {notice.code for notice in tukey.warnings}


def test_tukey_leaves_out_queries_that_some_run_lacks_everywhere() -> None:
    few = dict(list(RUNS["worst"].items())[:10])
    tukey = compare(QRELS, RUNS | {"worst": few}, "RR", queries="both", correction="Tukey")
    qrels = {name: QRELS[name] for name in few}
    runs = {name: {query: run[query] for query in qrels} for name, run in RUNS.items()}
    alone = compare(qrels, runs, "RR", correction="Tukey")
    for pair, expected in zip(tukey.pairs, alone.pairs, strict=True):
        assert (pair.queries, pair.wins) == (10, expected.wins)
        assert pair.p == pytest.approx(expected.p)
        assert pair.difference == pytest.approx(expected.difference)
        assert (pair.simultaneous_low, pair.p_corrected) == pytest.approx(
            (expected.simultaneous_low, expected.p_corrected)
        )


def test_equivalence_is_corrected_beside_tukey_too() -> None:
    holm, tukey = (compare(QRELS, RUNS, "RR", margin=0.9, correction=name) for name in ("Holm", "Tukey"))
    assert holm.p_equivalent is not None
    assert tukey.p_equivalent is not None
    assert tukey.p_equivalent.tolist() == holm.p_equivalent.tolist()


@pytest.mark.usefixtures("undrawn")
def test_a_joint_procedure_is_named_as_what_decides(tmp_path: Path) -> None:
    found = compare(QRELS, RUNS, "RR", test="Sign", correction="MaxT", margin=0.1)
    lines = [
        "p: sign test, two-sided, uncorrected",
        "p (MaxT): max-t randomization test, two-sided, over 3 pairs, seed 0",
        "equivalence: two one-sided t-tests, Holm-corrected",
        "low, high: 95 % simultaneous CI (MaxT), approximate",
    ]
    assert "\n".join(lines) in found.text()
    assert "simultaneous confidence intervals (max-t randomization test, alpha = 0.05)" in found.to_latex()
    ll.report(found, tmp_path / "report.html")
    assert "; ".join(lines) in (tmp_path / "report.html").read_text()


def test_intervals_of_bh_are_not_called_simultaneous() -> None:
    found = compare(QRELS, RUNS, "RR", correction="BH")
    assert all("95 % BH-adjusted CI" in one for one in found.sentences())
    assert "95 \\% BH-adjusted confidence intervals (paired t-test, BH" in found.to_latex()


def test_only_the_p_of_equal_differences_is_by_the_sign_test() -> None:
    found = compare(results_of([[0.1] * 8, [0.2] * 8, [0.3] * 8]), correction="Tukey")
    words = "p = 0.0078 by the sign test (Tukey 0.14)"
    assert words in found.sentences()[0]


def test_equal_means_of_groups_are_not_called_equal_differences() -> None:
    groups = {f"q{query:03}": str(query // 2) for query in range(12)}
    grouped = compare(results_of([[0.2] * 12, [0.3, 0.5] * 6]), query_group=groups)
    assert "by the sign test" in grouped.sentences()[0]


def test_a_pair_without_a_significant_difference_says_which_ones_are_detectable() -> None:
    runs = RUNS | {"near": varied(1, 2, 1)}
    words = compare(QRELS, runs, "RR").text(long=True).splitlines()
    told = [one for one in words if one.startswith("No significant difference")]
    assert told
    assert all("detectable with 80 % power: " in one for one in told)
    assert not any("needed to detect" in one for one in told), "not from the difference seen"
    with_smallest = compare(QRELS, runs, "RR", smallest=0.05).sentences()
    assert all("queries needed to detect 0.05" in one for one in with_smallest if " the same " not in one)
    flat = compare(
        QRELS,
        {"a": varied(2), "b": varied(1), "c": varied(3)},
        "RR",
        baseline="b",
        correction="Tukey",
        confidence=0.9999,
    ).text(long=True)
    assert "power: 0" not in flat


def test_values_that_only_round_apart_are_the_same_everywhere() -> None:
    rounded = compare(results_of([[0.0] * QUERIES, [1e-17] * QUERIES])).pairs[0]
    assert (rounded.ties, rounded.changed, rounded.verdict) == (QUERIES, [], "identical")


def test_undefined_values_count_as_they_do_in_the_mean() -> None:
    qrels = QRELS | {"none": {"bad": 0}}
    pair, without = (compare(judged, RUNS, "RR").pairs[0] for judged in (qrels, QRELS))
    assert pair.ties is not None
    assert without.ties is not None
    assert (pair.queries, pair.ties - without.ties) == (QUERIES + 1, 1)
    ranks = compare(QRELS, RUNS, "RankOf(n=1)").pairs[1]  # never found in a quarter of the lists
    assert ranks.queries == QUERIES * 3 // 4


def test_the_queries_that_changed_most_come_first() -> None:
    changes = compare(QRELS, RUNS, "RR").records(changed=2)[1].changed
    assert [(one.query, one.a, one.b) for one in changes] == [("q10", 0.0, 1.0), ("q18", 0.0, 1.0)]
    assert changes[0].difference == -1.0


def test_letters_name_what_a_run_is_better_than() -> None:
    comparison = compare(QRELS, RUNS, "RR")
    told = comparison.rejected[0].tolist()
    assert told[1:] == [True, True]
    assert marks(comparison, 0, [0, 1, 2], None) == ["bc" if told[0] else "c", "c", ""]


@pytest.mark.parametrize(("test", "drawn"), [("T", False), ("Bootstrap(draws=99)", True)])
def test_a_seed_is_said_of_what_is_drawn(test: str, drawn: bool) -> None:
    said = str(compare(QRELS, RUNS, "RR", test=test, interval="BCa(draws=99)"))
    assert ["seed" in line for line in said.splitlines() if line.startswith(("p:", "low, high:"))] == [
        drawn,
        True,
    ]


def test_the_order_of_runs_and_the_seed_decide_nothing_else() -> None:
    one = compare(QRELS, RUNS, "RR", test="Randomisation(draws=500)", interval="BCa")
    turned = dict(reversed(RUNS.items()))
    other = compare(QRELS, turned, "RR", test="Randomisation(draws=500)", interval="BCa")
    there = {(pair.a, pair.b): pair for pair in one.pairs}
    for pair in other.pairs:
        mirror = there[pair.b, pair.a]
        assert pair.p == mirror.p
        assert pair.difference == pytest.approx(-mirror.difference)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baseline": "bset"}, "no run is named 'bset'. Did you mean 'best'"),
        ({"test": "Welch"}, "unknown test 'Welch'"),
        ({"correction": "Holmes"}, "unknown correction 'Holmes'. Did you mean Holm?"),
        ({"correction": "xyzzy"}, "are BH, Bonferroni, Hochberg, Holm, Uncorrected, MaxT, Tukey"),
        ({"interval": "BCA2"}, "unknown interval 'BCA2'. Did you mean BCa?"),
        ({"confidence": 95}, "the confidence level must be a fraction (at least 0.5 and below 1)"),
        ({"margin": 0.0}, "number above 0"),
        ({"margin": float("inf")}, "margin must be a number, not inf"),
        ({"power": 1.0}, "above 0 and below 1"),
        ({"family": "runs"}, "family='runs' is not valid. Use 'measure' or 'all'"),
        ({"family": "all", "correction": "Tukey"}, "family='measure'"),
        ({"margin": "wide"}, "margin must be a number, not 'wide'"),
        ({"power": "high"}, "power must be a number, not 'high'"),
        ({"correction": None}, "a name such as BH"),
        ({"interval": 3}, "a name such as BCa"),
        ({"test": 3}, "a name such as Bootstrap"),
        ({"baseline": 3}, "baseline=3 is not valid. Pass a run name or a list of run names"),
        ({"baseline": ["best", 3]}, "baseline=['best', 3]"),
        ({"seed": -1}, "whole number"),
        ({"measures": ["GMAP"]}, "GMAP"),
        ({"measures": ["NumRet", "AP"]}, "NumRet"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as rejected:
        compare(QRELS, RUNS, **({"measures": ["RR"]} | options))
    assert words in str(rejected.value)


def test_too_few_draws_for_the_correction_are_said() -> None:
    few = compare(QRELS, RUNS, "RR", test="Randomisation(draws=50)")
    found = [notice for notice in few.warnings if notice.code == "too_few_draws"]
    assert ["draws=60" in str(notice) for notice in found] == [True]
    assert not few.rejected.any()
    for options in ({"test": "Randomisation(draws=60)"}, {"correction": "none"}, {"test": "T"}):
        asked: dict[str, Any] = {"test": "Randomisation(draws=50)"} | options
        codes = {notice.code for notice in compare(QRELS, RUNS, "RR", **asked).warnings}
        assert "too_few_draws" not in codes


@pytest.mark.parametrize("correction", ["Holm", "MaxT"])
def test_more_draws_are_advised_only_where_they_help(correction: str) -> None:
    qrels = {f"q{place}": {"d": 1} for place in range(8)}
    best = {query: {"d": 1.0} for query in qrels}
    middle = {query: {"x": 2.0, "d": 1.0} for query in qrels}  # the sign test decides
    worst = {
        query: {"x": 3.0, "y": 2.0, **({"z": 1.5} if place % 2 else {}), "d": 1.0}
        for place, query in enumerate(qrels)
    }
    runs = {"best": best, "middle": middle, "worst": worst}
    asked: dict[str, Any] = {"test": "Randomisation(draws=5)", "correction": correction}
    three = {query: qrels[query] for query in list(qrels)[:3]}
    said = [notice.code for notice in compare(three, runs, "RR", **asked).warnings]
    assert "too_few_draws" not in said, "with three queries p is at least 0.25"
    assert "too_few_queries" in said
    eight = compare(qrels, runs, "RR", **asked)
    assert eight.rejected.any()
    assert not {"too_few_draws", "too_few_queries"} & {notice.code for notice in eight.warnings}
    ranked = ll.rank(qrels, runs, "RR", draws=0, **asked)
    assert "too_few_queries" not in {notice.code for notice in ranked.warnings}


def test_too_few_queries_for_the_test_are_said() -> None:
    qrels = {f"q{place}": {"d": 1} for place in range(5)}
    better = {query: {"d": 1.0} for query in qrels}
    worse = {query: {"x": 2.0, "d": 1.0} for query in qrels}
    worse["q0"] = {"x": 2.0, "y": 1.5, "d": 1.0}  # else all differences are equal
    comparison = compare(qrels, {"a": better, "b": worse}, "RR", test="Randomisation")
    said = next(notice for notice in comparison.warnings if notice.code == "too_few_queries")
    assert said.count == 5
    assert comparison.p == 0.0625
    assert not comparison.rejected.any()
    assert "too_few_queries" not in {
        notice.code for notice in compare(qrels, {"a": better, "b": worse}, "RR").warnings
    }


def test_one_run_is_nothing_to_compare() -> None:
    with pytest.raises(UsageError, match="a comparison needs at least two runs, not 1"):
        compare(QRELS, {"a": RUNS["best"]}, "RR")


def test_frames_and_the_public_name() -> None:
    comparison = ll.compare(QRELS, RUNS, ["RR", "AP"])
    frame = comparison.to_pandas()
    assert len(frame) == 6
    assert frame["verdict"].tolist() == [pair.verdict for pair in comparison.pairs]
    assert comparison.to_csv().splitlines()[0].split(",") == list(frame.columns)
    estimated = {"these_low", "these_high"}  # of estimates only
    assert {*frame.columns, "changed"} == set(ComparedPair._fields) - estimated
    for name in ("low", "simultaneous_low", "p_corrected", "effect_high"):
        expected = [getattr(pair, name) for pair in comparison.pairs]
        assert np.array_equal(frame[name], expected, equal_nan=True)
    assert repr(comparison) == "Comparison(3 pairs of 3 runs on RR, AP)"
    assert isinstance(compare(comparison.results), Comparison)


def test_a_limit_that_is_not_zero_does_not_look_like_zero() -> None:
    found = ll.compare(QRELS, {"a": varied(1, 2), "b": varied(2, 1, 3)}, "RR")
    pair = found.pairs[0]._replace(difference=-0.0173, low=-0.0345, high=-0.000_11)
    assert "-0.0345 to -0.0001" in sentence(pair, found.rules)
    assert "-0.035 to -0.001" in sentence(pair._replace(high=-0.001), found.rules)


@pytest.mark.parametrize(("draws", "stated"), [(1000, "1,000 random permutations"), (2**10, "")])
def test_a_randomization_test_states_how_many_permutations_were_drawn(draws: int, stated: str) -> None:
    runs = {"a": ranked(*([1] * QUERIES)), "b": ranked(*([2] * 12 + [1] * 12))}
    qrels = {query: QRELS[query] for query in list(QRELS)[:10]}  # which have 1,024 permutations
    text = str(ll.compare(qrels, runs, "RR", test=f"randomization(draws={draws})"))
    assert stated in text
    assert ("random permutations" in text) == bool(stated)


def test_a_correction_may_be_an_object_as_a_test_may() -> None:
    from leadline.stats import CORRECTIONS

    by_name, by_object = (
        compare(QRELS, RUNS, "RR", correction=one) for one in ("BH", CORRECTIONS.parse("BH"))
    )
    assert by_name.p_corrected.tolist() == by_object.p_corrected.tolist()


def test_one_pair_and_one_measure_need_no_list() -> None:
    found = compare(QRELS, {"old": RUNS["middle"], "new": RUNS["best"]}, ["RR"])
    (pair,) = found.pairs
    for name in ("verdict", "difference", "low", "high", "p"):
        assert getattr(found, name) == getattr(pair, name) == found[name].tolist()[0]
    assert found.verdict == "better"
    assert [found.sentence] == found.sentences()
    for several in (compare(QRELS, RUNS, ["RR"]), compare(QRELS, {"a": RUNS["middle"], "b": RUNS["best"]})):
        for name in ("verdict", "difference", "low", "high", "p", "sentence"):
            with pytest.raises(UsageError, match="pairs"):
                getattr(several, name)
        assert several["p"].tolist() == [pair.p for pair in several.pairs]
    with pytest.raises(UsageError, match="no column 'q'"):
        found["q"]
