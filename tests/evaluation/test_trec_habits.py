"""What scripts that call trec_eval rely on: its groups, spellings, versions, and values of every measure."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.profiles import PROFILES, Request, name_of, profile_of
from leadline.measures import MEASURES
from test_peers import random_data

NINE, TEN = profile_of("trec9"), profile_of("trec10")


def names(profile: str, *texts: str) -> list[str]:
    """Return trec_eval's names of what is asked for."""
    return [request.name for request in profile_of(profile).requests(texts)]


def texts(profile: str, *asked: str) -> list[str]:
    """Return our names of what is asked for."""
    return list(map(str, profile_of(profile).measures(asked)))


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(300, 330))
def test_every_measure_of_version_9_equals_it_query_by_query(seed: int, level: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = random_data(seed)
    families = pytrec_eval.supported_measures - {"runid", "relstring"}
    wanted = pytrec_eval.RelevanceEvaluator(qrels, families, relevance_level=level).evaluate(run)
    requests = [one for one in NINE.requests(["all_trec"], rel=float(level)) if one.measure]
    found = evaluate(qrels, run, "all_trec", profile="trec9", rel=float(level))
    assert {one.name for one in requests} == set(next(iter(wanted.values())))
    places = [found.measure_index(one.measure) for one in requests]
    for query, values in wanted.items():
        mine = np.nan_to_num(found.values[0, found.queries.code(query), places])
        logs = np.array([one.name.startswith("gm_") for one in requests])  # there, logarithms
        mine[logs] = np.log(np.maximum(mine[logs], 0.00001))
        theirs = np.nan_to_num([values[one.name] for one in requests])
        differ = ~(np.abs(mine - theirs) <= 1e-12 * np.maximum(1.0, np.abs(theirs)))
        assert not differ.any(), (query, [requests[place].name for place in np.flatnonzero(differ)])


@pytest.mark.parametrize("seed", range(330, 340))
def test_means_equal_those_over_the_queries_of_both(seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = random_data(seed)
    families = {"map", "gm_map", "gm_bpref", "num_rel", "utility", "11pt_avg", "infAP"}
    wanted = pytrec_eval.RelevanceEvaluator(qrels, families).evaluate(run)
    found = evaluate(qrels, run, sorted(families), profile="trec9")
    for one in NINE.requests(sorted(families)):
        mean = pytrec_eval.compute_aggregated_measure(
            one.name, [values[one.name] for values in wanted.values()]
        )
        assert found.mean("run", one.measure) == pytest.approx(mean, rel=1e-12), one.name


def test_version_10_rounds_where_version_9_adds_nine_tenths() -> None:
    """Seven relevant documents, found at these ranks: levels 0.2, 0.3 and the mean of eleven."""
    ranks = (1, 3, 6, 7, 10, 14)
    qrels = {"q": {f"d{rank}": 1 for rank in (*ranks, 99)}}
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, 20)}}
    asked = ["iprec_at_recall_0.20", "iprec_at_recall_0.30", "11pt_avg"]
    values = {
        name: evaluate(qrels, run, asked, profile=name).values[0, 0].tolist() for name in ("trec9", "trec10")
    }
    at = [(nth + 1) / rank for nth, rank in enumerate(ranks)]  # 1, 2/3, 1/2, 4/7, 1/2, 3/7
    nine = [1, 1, at[1], at[3], at[3], at[3], at[4], at[4], at[5], 0, 0]
    ten = [1, 1, 1, at[1], at[3], at[3], at[3], at[4], at[5], at[5], 0]
    assert values["trec9"] == pytest.approx([2 / 3, 4 / 7, sum(nine) / 11])
    assert values["trec10"] == pytest.approx([1, 2 / 3, sum(ten) / 11])


def test_version_10_has_graded_rbp_with_the_largest_grade_of_the_query() -> None:
    qrels = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}}
    run = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
    asked = ["rbp", "rbp_resid", "rbp.p=0.5", "unj"]
    found = evaluate(qrels, run, asked, profile="trec10")
    assert found.values[0, 0].tolist() == pytest.approx(
        [0.1 * (1 / 2 + 0.81), 0.1 * 0.9 + 0.9**3, 0.5 * (1 / 2 + 1 / 4), 1 / 5, 1 / 10, 1 / 20]
    )
    assert found.values[0, 1].tolist() == pytest.approx([0.1, 0, 0.5, 0, 0, 0])


def test_scores_that_differ_beyond_32_bits_are_ties_in_version_9_only() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.000000001, "b": 1.0}}
    values = {name: evaluate(qrels, run, "map", profile=name).mean("run", "AP") for name in PROFILES}
    assert values == {"leadline": 1.0, "trec9": 0.5, "trec10": 1.0}


def test_the_official_group_is_what_trec_eval_prints_by_default() -> None:
    levels = [f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)]
    cutoffs = [f"P_{cutoff}" for cutoff in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]
    for profile in PROFILES:
        assert names(profile, "official") == [
            *"runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank".split(),
            *levels,
            *cutoffs,
        ]


def test_the_set_group() -> None:
    assert (
        names("trec10", "set")
        == """
            runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map
            set_F
        """.split()
    )


def test_all_trec_has_what_the_version_has() -> None:
    nine, ten = names("trec9", "all_trec"), names("trec10", "all_trec")
    assert set(ten) - set(nine) == {"rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"}
    assert len(set(ten)) == len(ten)
    assert set(nine) < set(ten)


@pytest.mark.parametrize(
    ("spelling", "printed", "meant"),
    [
        ("P.5,7,3", ["P_3", "P_5", "P_7"], ["P@3", "P@5", "P@7"]),
        (
            "iprec_at_recall..10,.20",
            ["iprec_at_recall_0.10", "iprec_at_recall_0.20"],
            ["IPrec(rule=trec10)@0.1", "IPrec(rule=trec10)@0.2"],
        ),
        ("utility.2,-1,0,0", ["utility_2,-1,0,0"], ["Utility(a=2)"]),
        ("ndcg.1=3,2=9", ["ndcg_1=3,2=9"], ["GnDCG(gains=1:3/2:9)"]),
        ("G.1=3", ["G_1=3"], ["G(gains=1:3)"]),
        ("11pt_avg..25,.5", ["11pt_avg_.25,.5"], ["AvgIPrec(rule=trec10,levels=0.25/0.5)"]),
        ("Rprec_mult.5.0,0.2", ["Rprec_mult_0.20", "Rprec_mult_5.00"], ["RprecMult@0.2", "RprecMult@5"]),
        ("ndcg_cut.10,23.4", ["ndcg_cut_10", "ndcg_cut_23"], ["nDCG@10", "nDCG@23"]),
        ("set_F.4", ["set_F_4"], ["F(beta=4,form=linear)"]),
        ("rbp.p=0.8", ["rbp_p=0.8"], ["RBP(gain=scaled)"]),
    ],
)
def test_parameters_after_the_dot(spelling: str, printed: list[str], meant: list[str]) -> None:
    assert names("trec10", spelling) == printed
    assert texts("trec10", spelling) == meant


def test_a_name_without_parameters_is_trec_evals_under_its_profiles_only() -> None:
    assert texts("leadline", "P") == ["P"]
    assert texts("trec9", "P")[:2] == ["P@5", "P@10"]
    assert texts("leadline", "rbp") == ["RBP"]
    assert texts("trec10", "rbp") == ["RBP(p=0.9,gain=scaled)"]


def test_the_relevance_string_and_the_run_are_texts() -> None:
    assert TEN.requests(["relstring.20"]) == [Request("relstring_20", "relstring", None, True, 20)]
    with pytest.raises(
        UsageError, match=r"measures with text values \(runid, relstring\) are not supported here"
    ):
        TEN.measures(["runid", "relstring"])


@pytest.mark.parametrize("text", ["P.x", "P.", "P.0", "utility.1,2", "ndcg.1", "map.3", "foo", "rbp.x"])
def test_bad_parameters_are_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError, match=r"measure '"):
        TEN.measures([text])


def test_bad_names_are_all_reported_at_once() -> None:
    with pytest.raises(UsageError, match=r"'P\.x'.*'ndcg\.1'"):
        TEN.measures(["P.x", "map", "ndcg.1"])


def test_every_name_is_told_from_its_measure() -> None:
    for one in TEN.requests(["all_trec"]):
        if one.measure is not None:
            assert name_of(one.measure) == (one.name, one.family)


@pytest.mark.parametrize("text", ["IPrec@0.1", "P(rel=2)@5", "nDCG(gain=exp)@10", "RR@10", "RBP", "ERR@5"])
def test_a_measure_that_trec_eval_lacks_has_no_name_there(text: str) -> None:
    assert name_of(MEASURES.parse(text)) is None


def test_a_level_for_all_is_not_part_of_a_name() -> None:
    assert name_of(MEASURES.parse("P(rel=2)@5"), rel=2.0) == ("P_5", "P")


def test_the_size_of_the_collection_reaches_the_measure_that_needs_it() -> None:
    assert texts("trec10", "utility.0,0,0,1") == ["Utility(a=0,b=0,d=1)"]
    found = evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "x": 2.0}}, "utility.0,0,0,1", documents=100)
    assert found.values.item() == 100 - 3


def test_means_over_different_queries_say_how_many() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    runs = {"whole": {query: {"a": 1.0} for query in qrels}, "part": {"q1": {"a": 1.0}}}
    both = evaluate(qrels, runs, "P@1", queries="both")
    assert "2 runs, mean over 1 to 3 queries" in str(both)
    assert both.plot(figure="means").axes[0].get_xlabel() == "P@1, mean (1 to 3 queries)"
    assert "2 runs, mean over 3 queries" in str(evaluate(qrels, runs, "P@1"))


@pytest.mark.parametrize(
    ("measure", "profile", "said"),
    [
        ("iprec_at_recall_0.10", "leadline", True),
        ("11pt_avg", "leadline", True),
        ("IPrec@0.1", "leadline", False),
        ("iprec_at_recall_0.10", "trec9", False),
        ("iprec_at_recall_0.10", "trec10", False),
    ],
)
def test_the_rule_of_recall_levels_is_said_where_nobody_chose_it(
    measure: str, profile: str, said: bool
) -> None:
    found = evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, measure, profile=profile)
    assert ("recall_rule" in {one.code for one in found.warnings}) == said
