"""Names that other programs give to measures, tests, corrections and formats mean the right thing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conftest import Leadline
from leadline.data.registry import split_names
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.profiles import PROFILES, expand, profile_of
from leadline.measures import MEASURES
from leadline.stats import CORRECTIONS, TESTS

QRELS = {"q1": {"d1": 1, "d2": 2, "d3": 0}, "q2": {"d1": 1}}
RUN = {"q1": {"d2": 3.0, "x": 2.0, "d3": 1.5, "d1": 1.0}, "q2": {"y": 2.0, "d1": 1.0}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "sys.run"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, all_ in QRELS.items() for d, g in all_.items()))
    run.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, all_ in RUN.items() for d, s in all_.items()))
    return qrels, run


NAMES = {
    "Success@1": "accuracy@1",
    "Success@5": "accuracy_at_5 RetrievalHitRate@5",
    "Success@10": "accuracy_10",
    "Success@3": "cosine_accuracy@3 dot_accuracy@3 top_k_accuracy@3 Accuracy@3 ACCURACY_3",
    "PairAccuracy@3": "PairAccuracy@3",
    "RBP(p=0.95)": "rbp.95 RBP.95",
    "RBP(p=0.7)": "rbp0.7",
    "RBP(p=0.5)": "rbp_.5 RBP@0.5",
    "RBP@10": "RBP_10",
    "Compat(p=0.5)": "Compat.5",
    "P@5": "P.5",
    "nDCG(gain=exp)@10": "nDCG(dcg='exp-log2')@10",
    "NumRelRet(rel=2)": "NumRet(rel=2)",
    "BPM(max_grade=3)@5": "BPM(max_rel=3)@5",
    "nDCG@10": "cosine_ndcg@10 MSnDCG@0010 RetrievalNormalizedDCG@10",
    "RR@10": "dot_mrr@10",
    "R@5": "cosine_recall@5",
    "RelP@10": "R_cap@10 r_cap_at_10",
    "Unj@10": "hole_rate@10",
    "Hole@10": "hole@10",
    "F(beta=2,form=linear)": "SetF(beta=2) set_F(beta=2)",
    "alpha_nDCG@10": "alpha-nDCG@10",
    "ERR_IA@20": "ERR-IA@20",
    "O_measure": "O-measure",
    "P_plus": "P+",
    "NCUgu(beta=0)": "NCUguP",
    "P@10": "Prec@0010",
    "RR": "RetrievalMRR",
    "FallOut@5": "RetrievalFallOut@5",
}


@pytest.mark.parametrize("canonical", NAMES)
@pytest.mark.parametrize("profile", PROFILES)
def test_names_of_other_programs_mean_our_measure(canonical: str, profile: str) -> None:
    for written in NAMES[canonical].split():
        assert list(map(str, profile_of(profile).measures([written]))) == [canonical], written


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("RBP.5,9", "RBP@5,9"),
        ("accuracy", "PairAccuracy"),
        ("Accuracy(rel=2)", "PairAccuracy"),
        ("P(judged_only=True)@5", "--judged-only"),
        ("ndcg10", "nDCG@10"),
        ("P10", "P@10"),
        ("recall100", "R@100"),
        ("mrr10", "RR@10"),
        ("ERR(max_rel=4)@10", "max_grade"),
        ("RBP(max_rel=4)", "max_grade"),
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_name_that_could_mean_two_things_is_answered_with_the_right_one(
    written: str, right: str, profile: str
) -> None:
    with pytest.raises(UsageError, match=right.replace("(", r"\(").replace(")", r"\)")):
        profile_of(profile).measures([written])


def test_set_f_with_its_parameter_is_the_same_measure_in_both_spellings() -> None:
    (asked,) = expand("set_F.2")
    assert (asked.name, asked.measure) == ("set_F_2", MEASURES.parse("SetF(beta=2)"))
    value = evaluate(
        {"q": dict.fromkeys("abcdef", 1)},
        {"q": {"a": 4, "x": 3, "b": 2, "y": 1}},
        ["SetF(beta=2)", "F(beta=2)"],
    )
    assert value.mean("run", "SetF(beta=2)") == 0.375
    assert value.mean("run", "F(beta=2)") == pytest.approx(0.357, abs=5e-4)


def test_capped_recall_is_what_beir_says_and_unjudged_is_of_the_query() -> None:
    rng = random.Random(1)
    for _ in range(30):
        names = [f"d{number}" for number in range(12)]
        qrels = {"q": {name: rng.choice([0, 1, 2]) for name in rng.sample(names, 7)}}
        if not any(qrels["q"].values()):
            continue
        ranked = rng.sample(names, 12)
        for k in (1, 3, 10):
            hits = ranked[:k]
            relevant = [name for name, grade in qrels["q"].items() if grade > 0]
            found = evaluate(qrels, {"q": ranked}, [f"R_cap@{k}", f"Unj@{k}"])
            capped = len(set(hits) & set(relevant)) / min(len(relevant), k)
            assert found.values[0, 0].tolist() == [capped, sum(name not in qrels["q"] for name in hits) / k]


@pytest.mark.parametrize("name", ["all_prefs", "prefs_avgjg_ret", "qrels_jg", "map_avgjg", "P_avgjg"])
@pytest.mark.parametrize("profile", PROFILES)
def test_measures_of_preferences_and_judgment_groups_are_refused_by_name(name: str, profile: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}'.*needs preference judgments or judgment groups"):
        profile_of(profile).measures([name])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("AP,nDCG@10", ["AP", "nDCG@10"]),
        ("P.5,7,3", ["P.5,7,3"]),
        ("P@5,10,AP", ["P@5,10", "AP"]),
        ("nDCG(gain=exp,discount=jk)@5,10", ["nDCG(gain=exp,discount=jk)@5,10"]),
        ("ndcg.1=3,2=9,map", ["ndcg.1=3,2=9", "map"]),
        ("utility.2,-1,0,0", ["utility.2,-1,0,0"]),
        ("iprec_at_recall..10,.20,P", ["iprec_at_recall..10,.20", "P"]),
        ("map,11pt_avg", ["map", "11pt_avg"]),
        ("AP", ["AP"]),
        ("AP,", ["AP,"]),
    ],
)
def test_names_are_split_at_commas_that_a_name_follows(text: str, parts: list[str]) -> None:
    assert split_names(text) == parts


def test_one_option_may_name_several_measures(files: tuple[Path, Path], leadline: Leadline) -> None:
    found = leadline("evaluate", *files, "-m", "AP,nDCG@10,P.5,7,3", "-f", "json")
    assert found.data["measures"] == ["AP", "nDCG@10", "P@3", "P@5", "P@7"]
    wrong = leadline("evaluate", *files, "-m", "AP,nDGC@10,XY").refusal
    assert "'nDGC@10'" in wrong
    assert "'XY'" in wrong


@pytest.mark.parametrize("profile", ["leadline", "trec9", "trec10"])
@pytest.mark.parametrize(
    ("asked", "printed"),
    [
        (["ndcg_cut", "ndcg_cut.1,4"], ["ndcg_cut_1", "ndcg_cut_4"]),
        (["ndcg_cut.1,4", "ndcg_cut"], ["ndcg_cut_1", "ndcg_cut_4"]),
        (["map,P,P.2"], ["map", "P_2"]),
        (["set_F", "set_F.2"], ["set_F_2"]),
    ],
)
def test_explicit_cutoffs_replace_the_defaults_of_trec_eval(
    asked: list[str], printed: list[str], profile: str, files: tuple[Path, Path], leadline: Leadline
) -> None:
    given = [part for text in asked for part in ("-m", text)]
    found = leadline("evaluate", *files, "-f", "trec", "--profile", profile, *given)
    assert [line.split()[0] for line in found.out.splitlines()] == printed


def test_they_replace_those_of_a_group_too(files: tuple[Path, Path], leadline: Leadline) -> None:
    found = leadline("evaluate", *files, "-f", "trec", "-m", "official", "-m", "P.2")
    names = [line.split()[0] for line in found.out.splitlines()]
    assert [name for name in names if name.startswith("P_")] == ["P_2"]
    assert "map" in names


def test_tests_and_corrections_are_known_by_their_usual_names() -> None:
    for name in ("t-test", "ttest", "student", "T-Test", "paired-t"):
        assert str(TESTS.parse(name)) == "T"
    for name in ("benjamini-hochberg", "Benjamini-Hochberg", "fdr", "BH"):
        assert str(CORRECTIONS.parse(name)) == "BH"


@pytest.mark.parametrize(
    ("alias", "form"), [("tex", "latex"), ("md", "markdown"), ("ndjson", "jsonl"), ("text", "table")]
)
def test_formats_are_known_by_other_names(
    alias: str, form: str, files: tuple[Path, Path], leadline: Leadline
) -> None:
    for asked in (("evaluate", *files), ("check", *files)):
        assert leadline(*asked, "-f", alias) == leadline(*asked, "-f", form)
    assert leadline("evaluate", *files, "-f", "pdf").status == 2
