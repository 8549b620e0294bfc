"""`leadline explain`: every line can be checked by hand, and the value is that of `evaluate`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from leadline.errors import LeadlineError
from leadline.evaluation.derivations import DERIVATIONS
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.explain import Explanation, explain
from leadline.io.objects import Qrels, Run
from leadline.measures import MEASURES
from small_lists import forms, random_cases

QRELS = """\
q 0 a 2
q 0 b 1
q 0 c 0
q 0 d 1
p 0 a 1
"""
RUN = """\
q Q0 a 1 9 tag
q Q0 c 2 7.5 tag
q Q0 b 3 7.5 tag
q Q0 x 4 3 tag
r Q0 a 1 1 tag
"""
# The lecture's tables: rank, document, gain, CG, logarithm, ideal DCG; and DCG, ideal DCG, NDCG.
IDEAL = """\
1 588 1.0 1.0 0.00 1.00
2 592 1.0 2.0 1.00 2.00
3 590 0.8 2.8 1.58 2.50
4 589 0.6 3.4 2.00 2.80
5 772 0.2 3.6 2.32 2.89
6 576 0.0 3.6 2.58 2.89
7 986 0.0 3.6 2.81 2.89
8 984 0.0 3.6 3.00 2.89
9 988 0.0 3.6 3.17 2.89
10 578 0.0 3.6 3.32 2.89
11 985 0.0 3.6 3.46 2.89
12 103 0.0 3.6 3.58 2.89
13 591 0.0 3.6 3.70 2.89
14 990 0.0 3.6 3.81 2.89
"""
RANKED = """\
1 588 1.0 1.00 1.00 1.00
2 589 0.6 1.60 2.00 0.80
3 576 0.0 1.60 2.50 0.64
4 590 0.8 2.00 2.80 0.71
5 986 0.0 2.00 2.89 0.69
6 592 1.0 2.39 2.89 0.83
7 984 0.0 2.39 2.89 0.83
8 988 0.0 2.39 2.89 0.83
9 578 0.0 2.39 2.89 0.83
10 985 0.0 2.39 2.89 0.83
11 103 0.0 2.39 2.89 0.83
12 591 0.0 2.39 2.89 0.83
13 772 0.2 2.44 2.89 0.84
14 990 0.0 2.44 2.89 0.84
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with judgments and a run."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "my.run").write_text(RUN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lecture(table: str) -> Explanation:
    """Explain nDCG of a list that the lecture prints."""
    rows = [line.split() for line in table.splitlines()]
    qrels = {"1": {document: float(gain) for _, document, gain, *_ in rows}}
    run = {"1": {document: -float(rank) for rank, document, *_ in rows}}
    return explain(qrels, run, "nDCG(discount=jk)", "1", everything=True)


@pytest.mark.parametrize(
    ("table", "columns", "digits"),
    [
        (IDEAL, ("gain", "CG", "log2(rank)", "DCG"), (1, 1, 2, 2)),
        (RANKED, ("gain", "DCG", "ideal DCG", "nDCG"), (1, 2, 2, 2)),
    ],
)
def test_the_tables_of_the_lecture(table: str, columns: tuple[str, ...], digits: tuple[int, ...]) -> None:
    steps = lecture(table).to_dict()["steps"]
    lines = [
        " ".join(
            [
                f"{step['rank']} {step['document']}",
                *(f"{step[name]:.{size}f}" for name, size in zip(columns, digits, strict=True)),
            ]
        )
        for step in steps
    ]
    assert lines == table.splitlines()


@pytest.mark.parametrize("name", list(MEASURES.classes))
def test_the_value_is_that_of_evaluate_and_the_steps_lead_to_it(name: str) -> None:
    if MEASURES.classes[name].needs != "judgments":
        return
    for number, case in enumerate(random_cases(5, 3)):
        for measure in forms(name)[number % 3 :: 3]:
            try:
                found = explain({"q": case.grades}, {"q": case.scores}, measure, "q")
            except LeadlineError:
                with pytest.raises(LeadlineError):
                    evaluate({"q": case.grades}, {"q": case.scores}, measure)
                continue
            value = evaluate({"q": case.grades}, {"q": case.scores}, measure).value("run", "q", measure)
            assert found.value == value or math.isnan(value)
            assert found.steps.value == pytest.approx(value, abs=1e-12, nan_ok=True), case
            last = found.steps.lines[-1]
            assert last.startswith((str(measure), "F =", "E ="))
            assert found.shown <= len(case.scores)
            assert {len(column) for column in found.steps.columns.values()} <= {len(case.scores)}


DIVERSE = """\
q s1 a 1
q s1 b 1
q s2 c 1
"""
ALPHA_TEXT = """\
alpha_nDCG@3 of near, query q: 0.965195

rank  document  score  tie  grade  subtopics    gain     DCG  ideal DCG  alpha_nDCG
1     b             3           1  s1         1.0000  1.0000     1.0000      1.0000
2     a             2           1  s1         0.5000  1.3155     1.6309      0.8066
3     c             1           1  s2         1.0000  1.8155     1.8809      0.9652

a subtopic adds 0.5^n to the gain if n documents above cover it; discount 1/log2(rank+1)
DCG = 1 + 0.315465 + 0.5 = 1.815465
ideal DCG (each rank has the document that adds the most) = 1.88093
alpha_nDCG@3 = 1.815465 / 1.88093 = 0.965195
"""


def test_a_near_duplicate_gains_half_where_novelty_counts(leadline: Leadline, here: Path) -> None:
    (here / "diverse.txt").write_text(DIVERSE)
    (here / "near.run").write_text("q 0 b 1 3 t\nq 0 a 2 2 t\nq 0 c 3 1 t\n")
    done = leadline(
        *"explain diverse.txt near.run --config read.subtopics -m alpha_nDCG@3 --query-id q".split()
    )
    assert done.out == ALPHA_TEXT


@pytest.mark.parametrize("text", ["alpha_nDCG", "alpha_nDCG(alpha=0.3)@2", "StRecall"])
def test_diversity_is_derived_to_the_value_of_evaluate(text: str) -> None:
    random = np.random.default_rng(7)
    for _ in range(40):
        judgments = {
            (b"q", b"d%d" % place): {b"s%d" % subtopic: float(random.integers(0, 2)) for subtopic in range(3)}
            for place in range(6)
        }
        qrels = Qrels.of_subtopics(judgments)
        run = {"q": {f"d{place}": float(random.integers(0, 4)) for place in range(2, 8)}}
        found = explain(qrels, run, text, "q")
        assert found.steps.value == pytest.approx(found.value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("options", [{"depth": 2}, {"judged_only": True}, {"profile": "trec9"}])
@pytest.mark.parametrize("text", ["AP", "nDCG", "P@3", "Bpref", "RankOf", "ERR", "RBP"])
def test_a_list_is_cut_as_it_is_evaluated(text: str, options: dict[str, Any]) -> None:
    for case in random_cases(6, 15):
        if not case.scores.keys() & case.grades.keys():
            continue
        found = explain({"q": case.grades}, {"q": case.scores}, text, "q", **options)
        assert found.steps.value == pytest.approx(found.value, abs=1e-12, nan_ok=True)


def test_of_a_long_list_only_what_matters_is_shown() -> None:
    run = {"q": {f"d{rank:04}": -float(rank) for rank in range(1000)}}
    for text, shown in {"AP": 31, "P@500": 31, "P@5": 5, "nDCG": 31, "R": 31, "RR": 31}.items():
        assert explain({"q": {"d0030": 1}}, run, text, "q").shown == shown
    assert explain({"q": {"e": 1}}, run, "RR", "q").shown == 10


def test_every_derivation_names_a_measure() -> None:
    assert set(DERIVATIONS) <= set(MEASURES.classes)


def test_json_has_the_steps_and_the_value(leadline: Leadline) -> None:
    done = leadline("explain", "qrels.txt", "my.run", "-m", "AP", "--query-id", "q", "-f", "json")
    assert done.data["command"] == "explain"
    assert [entry["path"] for entry in done.data["inputs"]] == ["qrels.txt", "my.run"]
    assert done.data["options"]["negative"] == "nonrelevant"
    assert done.data["inputs"][1]["rows"] == 4, "those of the query"
    assert done.data["value"] == pytest.approx(5 / 9)
    assert done.data["steps"][1] == {
        "rank": 2,
        "document": "c",
        "score": 7.5,
        "tie": "2-3",
        "grade": 0.0,
        "relevant": 0,
        "found": 1,
        "precision": 0.5,
        "sum": 1.0,
    }


def test_a_measure_without_a_derivation_gets_ranks_grades_and_its_formula(leadline: Leadline) -> None:
    done = leadline("explain", "qrels.txt", "my.run", "-m", "binG", "--query-id", "q")
    assert "formula: sum over retrieved" in done.out
    assert "\nbinG = 0." in done.out


def test_a_run_may_be_named_by_its_tag(leadline: Leadline) -> None:
    asked = ("explain", "qrels.txt", "my.run", "-m", "AP", "--query-id", "q")
    assert leadline(*asked, "--config", "read.name_by=tag").out.startswith("AP of tag, query q: ")


def test_csv_has_a_row_for_every_rank(leadline: Leadline) -> None:
    done = leadline("explain", "qrels.txt", "my.run", "-m", "RR", "--query-id", "q", "-f", "csv")
    assert done.out == "rank,document,score,tie,grade,relevant\n1,a,9,,2,1\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-m", "AP", "--query-id", "k"), "query 'k' has no judgments"),
        (("-m", "q", "--query-id", "AP"), "'q' is a query, not a measure. Swap the measure and the query"),
        (("-m", "APP", "--query-id", "q"), "unknown measure 'APP'. Did you mean AP"),
        (("-m", "P.5,10", "--query-id", "q"), "'P.5,10' stands for 2 measures. Pass only one"),
        (
            ("-m", "AP", "--query-id", "p"),
            "my.run has no ranking for query 'p'. Choose a query with documents in the run",
        ),
    ],
)
def test_what_cannot_be_explained_is_said_in_one_line(
    leadline: Leadline, arguments: tuple[str, ...], words: str
) -> None:
    assert words in leadline("explain", "qrels.txt", "my.run", *arguments).refusal


def test_close_scores_are_ties_where_the_profile_compares_32_bit_floats() -> None:
    run = {"q": {"a": 1.0, "b": 1.0 + 1e-12}}
    wide = explain({"q": {"a": 1, "b": 0}}, run, "RR", "q")
    narrow = explain({"q": {"a": 1, "b": 0}}, run, "RR", "q", profile="trec9")
    assert wide.listed.ties == [None, None]
    assert narrow.listed.ties == ["1-2", "1-2"]


def test_json_has_what_was_tied_and_unjudged_for_this_query_only(leadline: Leadline) -> None:
    asked = ("explain", "qrels.txt", "my.run", "-m", "nDCG@2", "--query-id", "q", "-f", "json")
    assert [(each["code"], each["count"]) for each in leadline(*asked).data["warnings"]] == [
        ("unjudged_documents", 1),
        ("tied_lists", 1),
        ("tied_cutoffs", 1),
    ]


def test_what_reading_met_is_said_with_an_explanation(leadline: Leadline, here: Path) -> None:
    (here / "odd.run").write_text("q 0 a 2 2 t more\nq 0 a 3 1 t\nq 0 b 1 1.5 t\n")
    asked = ("odd.run", "-m", "AP", "--query-id", "q", "--config", "read.on_duplicate=first", "-f", "csv")
    assert (
        "leadline: 1 line with more than six columns in odd (extra columns ignored)\n"
        "leadline: 1 query whose ranks contradict the scores in odd (scores win, unless --config "
        "read.order=rank)\n"
        "leadline: 1 repeated document in odd (one of each kept)\n"
    ) in leadline("explain", "qrels.txt", *asked).err


def test_a_query_with_nothing_relevant_or_an_undefined_value_is_said() -> None:
    found = explain({"q": {"a": 0}, "p": {"a": 1}}, {"q": {"a": 1.0}}, "AP", "q")
    assert [(each.code, each.count) for each in found.warnings] == [("no_relevant", 1)]
    found = explain({"q": {"a": 1}, "p": {"a": 0}}, {"q": {"b": 1.0}}, "RankOf", "q")
    assert [each.code for each in found.warnings] == ["unjudged_documents", "undefined"]


def test_a_list_without_judged_documents_has_no_ranks_to_name() -> None:
    found = explain({"q": {"a": 1}}, {"q": {"x": 1.0}}, "Judged@5", "q", judged_only=True)
    assert math.isnan(found.value)
    assert "1..0" not in "".join(found.steps.lines)


def test_several_measures_are_refused_not_dropped(leadline: Leadline) -> None:
    asked = ("explain", "qrels.txt", "my.run", "-m", "AP", "-m", "RR", "--query-id", "q")
    expected = "leadline: error: explain takes only one measure, not 2 (AP, RR)\n"
    assert leadline(*asked) == (2, "", expected)


@pytest.mark.parametrize("on_duplicate", ["first", "hold"])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.usefixtures("form")
def test_a_file_gives_what_its_run_in_memory_gives(
    tmp_path: Path, on_duplicate: Any, *, grouped: bool
) -> None:
    rng = np.random.default_rng(7)
    rows = [
        (query, f"d{rng.integers(9)}", float(rng.integers(4))) for query in ("p", "q", "r") for _ in range(12)
    ]
    if not grouped:
        rows = [rows[place] for place in rng.permutation(len(rows)).tolist()]
    path = tmp_path / "a.run"
    path.write_text("".join(f"{query} Q0 {name} 1 {score} tag\n" for query, name, score in rows))
    qrels = {query: {f"d{place}": place % 3 for place in range(9)} for query in ("p", "q", "r")}
    for query in qrels:
        read = explain(qrels, path, "AP", query, on_duplicate=on_duplicate, everything=True)
        held = explain(qrels, Run(path, on_duplicate=on_duplicate), "AP", query, everything=True)
        names = [name.partition(" ")[0] for name in held.listed.documents]  # of repeats, which are numbered
        assert read.listed == held.listed._replace(documents=names)
        assert read.value == held.value
        assert read.steps == held.steps


def test_interpolation_is_explained_by_its_own_rule() -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}
    lines = [
        explain(qrels, run, f"IPrec(recall=0.5,rule={rule})", "q").steps.lines[1]
        for rule in ("standard", "trec10")
    ]
    assert "0.5 or above" in lines[0]
    assert "trec10" in lines[1]
    assert "or above" not in lines[1]
    assert "(0 if" in lines[0]
    nothing_relevant = explain({"q": {"a": 0}}, run, "IPrec@0.5", "q").steps.lines
    assert nothing_relevant[1:] == ["highest precision at recall 0.5 or above", "IPrec@0.5 = undefined"]
