"""Expected utility, cost and depth of user models, with costs of documents."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Leadline
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.io.document_costs import CostsLike, read_costs
from leadline.measures import MEASURES
from oracles import DOCUMENTS, Case, cases, user_costs

of = MEASURES.parse
KINDS = ("EU", "ETU", "EC", "ETC", "ED")
LISTS = json.loads((Path(__file__).parent / "programs" / "values_of_programs.json").read_text())["cwl_eval"]
QRELS = {"q1": {"a": 1, "c": 1}, "q2": {"a": 1}}
RUN = {"q1": ["a", "b", "c"], "q2": ["b", "a"]}
COSTS = {"a": 10.0, "b": 20.0, "c": 40.0}


def quantities(form: str, costs: CostsLike | None = COSTS, query: str = "q1") -> list[float]:
    """Give EU, ETU, EC, ETC and ED."""
    head, _, at = form.partition("@")
    names = [f"{kind}({head},max_grade=1)" + (f"@{at}" if at else "") for kind in KINDS]
    results = evaluate(QRELS, RUN, names, costs=costs)
    return [results.value("run", query, name) for name in names]


def test_by_hand() -> None:
    # V = 1, 1/2, 1/4 of ranks with gain 1, 0, 1 and cost 10, 20, 40
    assert quantities("model=RBP,p=0.5@3") == [1.25 / 1.75, 1.25, 30 / 1.75, 30, 1.75]
    assert quantities("model=P@2") == [0.5, 1, 15, 30, 2]
    assert quantities("model=RR", query="q2") == [0.5, 1, 15, 30, 2]
    # shares of the gain to come: 1, 1/4, 1/4 (1/3 of 4/3)
    assert quantities("model=AP@3") == pytest.approx([1.25 / 1.5, 1.25, 25 / 1.5, 25, 1.5])
    # stops where 25 is spent: after two documents
    assert quantities("model=BPM,T=9@25") == [0.5, 1, 15, 30, 2]
    # 2^(-0/10), 2^(-10/10), 2^(-30/10)
    assert quantities("model=TBG,half_life=10@3") == [1.125 / 1.625, 1.125, 25 / 1.625, 25, 1.625]
    # 1 - 0/40, 1 - 10/40, 1 - 30/40, and nothing after 70
    assert quantities("model=U,length=40") == [0.625, 1.25, 17.5, 35, 2]


def test_below_the_list_and_without_a_cost_the_user_pays_what_is_asked() -> None:
    assert quantities("model=P,unlisted=3@4", {"a": 10.0})[3] == 10 + 3 * 3
    assert quantities("model=P@4", None)[2:] == [1, 4, 4]


@pytest.mark.parametrize("form", LISTS[0]["values"])
def test_what_cwl_eval_returns(form: str) -> None:
    head, _, at = form.partition("|")
    names = [f"{kind}({head},max_grade=1)" + (f"@{at}" if at else "") for kind in KINDS]
    for case in LISTS:
        documents = [f"d{place}" for place in range(len(case["gains"]))]
        results = evaluate(
            {"q": dict(zip(documents, case["gains"], strict=True))},
            {"q": documents},
            names,
            costs=dict(zip(documents, case["costs"], strict=True)),
        )
        found = [results.value("run", "q", name) for name in names]
        eu, etu, ec, etc, ed = case["values"][form]
        if head.startswith(("model=INSQ", "model=INST", "model=NERR11", "model=RR")):
            # It leaves those who read past rank 1000 out of both totals, but not out of the others.
            assert etu <= found[1] < etu + 0.05
            assert etc <= found[3] < (etc + 0.05 if any(case["gains"]) else 1100)
            etu, etc = eu * ed, ec * ed
        assert found == pytest.approx([eu, etu, ec, etc, ed], rel=1e-9, abs=1e-12)


def test_totals_are_values_per_document_times_depth() -> None:
    rng = random.Random(3)
    for _ in range(20):
        grades = [rng.choice([None, 0, 1, 4]) for _ in range(rng.randint(0, 9))]
        for model in ("RBP", "AP", "INST", "NERR9", "U"):
            eu, etu, ec, etc, ed = (of(f"{kind}(model={model})@20").of(grades) for kind in KINDS)
            assert etu == pytest.approx(eu * ed)
            assert etc == pytest.approx(ec * ed)
            assert ec == pytest.approx(1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("EU(model=RBP,p=0.5,gain=binary)", "RBP(p=0.5)"),
        ("EU(model=P,gain=binary)@3", "P@3"),
        ("EU(model=SDCG)@5", "SDCG@5"),
        ("EU(model=INSQ,T=2)", "INSQ(T=2)"),
        ("EU(model=INST,T=2)", "INST(T=2)"),
        ("EU(model=NERR8)@5", "NERR8@5"),
        ("EU(model=NERR10,p=0.5)", "NERR10(p=0.5)"),
        ("EU(model=BPM,T=0.5)@5", "BPM(T=0.5)@5"),
        ("EU(model=RR,gain=binary)", "RR"),
    ],
)
def test_the_utility_per_document_is_the_measure_of_the_model(one: str, other: str) -> None:
    for grades in ([4, None, 0, 1, 2], [0, 0, 3], [None, 2, 2, 2, 2, 2, 2, 1]):
        assert of(one).of(grades) == pytest.approx(of(other).of(grades))


@pytest.mark.parametrize("form", ["model=BPM,T=2@9", "model=TBG,half_life=8@12", "model=U,length=15@12"])
def test_random_lists_with_costs_against_the_loop(form: str) -> None:
    some = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.5, 1.0, 3.0, 8.0]))

    @given(cases(), some)
    def check(case: Case, costs: dict[str, float]) -> None:
        if not case.scores:
            return
        head, _, at = form.partition("@")
        for kind in KINDS:
            measure = of(f"{kind}({head},unlisted=2)@{at}")
            found = evaluate({"q": case.grades}, {"q": case.scores}, measure, costs=costs or {"other": 1.0})
            parameters = {name: getattr(measure, name) for name in measure.parameters()}
            wanted = getattr(user_costs, kind)(case, costs=costs, **parameters)
            assert found.values[0, 0, 0] == pytest.approx(wanted, rel=1e-12)

    check()


def test_costs_follow_the_cut_of_the_lists_and_the_query() -> None:
    whole = quantities("model=P@3")
    assert whole[3] == 70
    results = evaluate(QRELS, RUN, "ETC(model=P)@3", costs=COSTS, judged_only=True)
    assert results.value("run", "q1", "ETC(model=P)@3") == 10 + 40 + 1
    results = evaluate(QRELS, RUN, "ETC(model=P)@3", costs=COSTS, depth=1)
    assert results.value("run", "q1", "ETC(model=P)@3") == 10 + 1 + 1
    by_query = {"q1": {"a": 5.0}, "q2": {"a": 7.0}}
    results = evaluate(QRELS, RUN, "ETC(model=P)@2", costs=by_query)
    assert results.values[0, :, 0].tolist() == [6, 8]
    assert [(one.code, one.count) for one in results.warnings if one.code == "uncosted"] == [("uncosted", 3)]
    assert "3 of 5" in next(str(one) for one in results.warnings if one.code == "uncosted")


def test_a_file_of_costs(tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.qrels").write_text("q1 0 a 1\nq1 0 c 1\n")
    Path("r.run").write_text(
        "".join(f"q1 Q0 {name} {n} {9 - n} t\n" for n, name in enumerate("abc", start=1))
    )
    Path("costs.txt").write_text("# seconds\na 10\nb\t20\nc,40\nq1 c 50\n")
    costs = read_costs("costs.txt")
    assert costs.of(b"q1", [b"a", b"b", b"c"]).tolist() == [10, 20, 50]
    assert costs.of(b"q2", [b"c"]).tolist() == [40]
    words = ("evaluate", "q.qrels", "r.run", "-m", "ETC(model=P)@3", "-m", "ED(model=P)@3")
    data = leadline(*words, "--costs", "costs.txt", "-f", "json").data
    assert data["runs"][0]["mean"] == {"ETC(model=P)@3": 80, "ED(model=P)@3": 3}
    assert data["options"]["costs"] == "costs.txt"
    for refused, says in (
        (("evaluate", "q.qrels", "r.run", "-m", "AP", "--costs", "costs.txt"), "expected one of EU, ETU"),
        ((*words, "--costs", "none.txt"), "none.txt"),
        ((*words, "--costs", "costs.txt", "--profile", "trec9"), "expected the profile leadline"),
        ((*words, "--costs", "costs.txt", "--parts"), "costs with runs in parts"),
    ):
        done = leadline(*refused)
        assert (done.status, done.out) == (2, "")
        assert says in done.err
        assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a 1\nb\n", "costs.txt:2: 1 columns; expected document cost, or query document cost"),
        ("a 1\nb 0\n", "costs.txt:2: cost '0'; expected a number above 0"),
        ("a x\n", "costs.txt:1: cost 'x'"),
        ("a inf\n", "cost 'inf'"),
        ("a 1\na 2\n", "costs.txt:2: another cost of document 'a'; expected each document once"),
        ("# none\n", "contains no costs"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "costs.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(says)):
        read_costs(path)


@pytest.mark.parametrize("costs", [{"a": 0}, {"a": True}, {"a": "1"}, {"q1": {"a": -1}}, ["a"], {"a": None}])
def test_costs_of_python_that_are_none_are_refused(costs: object) -> None:
    with pytest.raises(LeadlineError, match="cost"):
        read_costs(costs)


def test_parameters_that_cannot_be_are_refused() -> None:
    with pytest.raises(UsageError, match=r"T=0\.2; expected 0\.5 or more"):
        of("EU(model=INST,T=0.2)")
    with pytest.raises(UsageError, match="write p"):
        of("EU(theta=0.2)")
    with pytest.raises(UsageError, match="expected 100000 or less"):
        of("EU@100001")
