"""xinfAP, infNDCG and statAP: judgments of a sample of the pool."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.measures import MEASURES
from oracles import Case
from oracles import preference as oracles

STRATA = """\
1 0 d1 1 2
1 0 d2 1 0
1 0 d3 1 1
1 0 d4 2 -1
1 0 d5 2 1
1 0 d6 2 0
1 0 d7 2 -1
1 0 d8 2 -1
2 0 d1 1 0
2 0 d2 1 1
2 0 d9 2 3
2 0 d4 2 -1
2 0 d5 2 -1
"""
RUN = {
    "1": dict(zip(["d4", "d1", "d0", "d5", "d7", "d3", "d6"], range(9, 2, -1), strict=True)),
    "2": dict(zip(["d5", "d9", "d1", "d2"], range(9, 5, -1), strict=True)),
}
# What NIST's sample_eval.pl (version of October 2011) prints for these judgments and this run.
SAMPLE_EVAL = {"xinfAP": (0.6574, 0.6875), "infNDCG": (0.6279, 0.6179)}


@pytest.fixture
def strata(tmp_path: Path) -> str:
    path = tmp_path / "sample.qrels"
    path.write_text(STRATA)
    return str(path)


@pytest.mark.parametrize("name", SAMPLE_EVAL)
def test_values_are_those_of_sample_eval(strata: str, name: str) -> None:
    results = ll.evaluate(strata, {"run": RUN}, name)
    for query, value in zip(("1", "2"), SAMPLE_EVAL[name], strict=True):
        assert round(results.value("run", query, name), 4) == value


@pytest.mark.parametrize("name", ["xinfAP", "infNDCG", "infNDCG@3"])
def test_values_are_those_of_the_oracle(strata: str, name: str) -> None:
    qrels = ll.read_qrels(strata)
    results = ll.evaluate(qrels, {"run": RUN}, name)
    label = {tuple(line.split()[::2][:2]): line.split()[3] for line in STRATA.splitlines()}
    for query, scores in RUN.items():
        grades = {document: float(grade) for document, grade in qrels[query].items()}
        mine = {document: label[query, document] for document in grades}
        case = Case({document: float(score) for document, score in scores.items()}, grades)
        measure = MEASURES.parse(name)
        parameters = {each: getattr(measure, each) for each in measure.parameters()}
        wanted = getattr(oracles, type(measure).__name__)(case, strata=mine, **parameters)
        assert results.value("run", query, name) == pytest.approx(wanted, rel=1e-12)


def test_the_numerator_of_statap_is_unbiased_over_all_independent_draws() -> None:
    """Its mean over every draw of a small list is R times AP, and that of its denominator is R."""
    grades = {"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0, "e": 0.0}
    inclusion = {"a": 0.5, "b": 0.3, "c": 0.7, "d": 0.2, "e": 0.9}
    scores = {document: float(-place) for place, document in enumerate(grades)}
    numerator = denominator = 0.0
    for drawn in product((False, True), repeat=len(grades)):
        kept = [document for document, taken in zip(grades, drawn, strict=True) if taken]
        chance = 1.0
        for document, taken in zip(grades, drawn, strict=True):
            chance *= inclusion[document] if taken else 1 - inclusion[document]
        total = sum(1 / inclusion[document] for document in kept if grades[document])
        denominator += chance * total
        if total:
            qrels = ll.Qrels({"q": {document: grades[document] for document in kept}}).with_inclusion(
                {"q": inclusion}
            )
            results = ll.evaluate(qrels, {"run": {"q": scores}}, "statAP")
            numerator += chance * total * results.value("run", "q", "statAP")
    assert denominator == pytest.approx(3, rel=1e-12)
    assert numerator == pytest.approx(1 + 2 / 3 + 3 / 4, rel=1e-12)


def test_statap_of_complete_judgments_is_ap() -> None:
    for grades in product((None, 0, 1), repeat=4):
        assert MEASURES.parse("statAP").of(list(grades), judged=[1, 1, 1, 1, 0, 0, 0, 0]) == pytest.approx(
            MEASURES.parse("AP").of(list(grades), judged=[1, 1, 1, 1, 0, 0, 0, 0]), abs=1e-15
        )


def test_probabilities_of_the_million_query_and_the_legal_track_are_read(tmp_path: Path) -> None:
    million = tmp_path / "prels"
    million.write_text("1 d1 1 1 0.5\n1 d2 0 2 0.25\n1 d3 2 0 -1\n")
    qrels = ll.read_qrels(million)
    assert qrels.to_dict() == {"1": {"d1": 1, "d2": 0, "d3": 2}}
    assert qrels.inclusion_probabilities() == {"1": {"d1": 0.5, "d2": 0.25}}
    with pytest.raises(ll.UsageError, match="an inclusion probability"):
        ll.evaluate(qrels, {"run": {"1": {"d1": 1.0}}}, "statAP")
    legal = tmp_path / "legal.probs"
    legal.write_text("1 0 d1 1 0.5\n1 0 d2 0 1.0\n")
    qrels = ll.read_qrels(legal)
    assert (qrels.to_dict(), qrels.inclusion_probabilities()) == (
        {"1": {"d1": 1, "d2": 0}},
        {"1": {"d1": 0.5, "d2": 1.0}},
    )
    results = ll.evaluate(qrels, {"run": {"1": {"d2": 2.0, "d1": 1.0}}}, "statAP")
    assert results.value("run", "1", "statAP") == 0.5
    with pytest.raises(ll.UsageError, match="statAP"):
        ll.evaluate(qrels, {"run": {"1": {"d2": 2.0, "d1": 1.0}}}, ["statAP", "AP"])
    for names in ("statAP,AP", "AP,statAP"):  # one text, as the command line passes it
        with pytest.raises(ll.UsageError, match="statAP"):
            ll.evaluate(qrels, {"run": {"1": {"d2": 2.0, "d1": 1.0}}}, names)


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("1 0 d1 1 1\n1 0 d2 1\n", 2, "the line has 4 columns"),
        (
            "1 0 d1 1 0.5\n1 0 d2 0 1.5\n",
            2,
            "column 5 is read as an inclusion probability, but its value, 1.5, is greater than 1",
        ),
        ("1 0 d1 1 0.5\n1 0 d2 0 often\n", 2, "column 5 must be a number, not 'often'"),
        ("1 0 d1 1 0.5\n1 0 d2 no 0.5\n", 2, "column 4 must be a number, not 'no'"),
    ],
)
def test_damage_is_named_with_its_line(tmp_path: Path, text: str, line: int, found: str) -> None:
    path = tmp_path / "sample.qrels"
    path.write_text(text)
    with pytest.raises(InputError, match=f":{line}: {found}"):
        ll.read_qrels(path)


def test_a_sample_is_no_run_and_a_document_is_judged_once(tmp_path: Path, strata: str) -> None:
    with pytest.raises(InputError, match="not a run"):
        ll.read_run(strata)
    twice = tmp_path / "twice.qrels"
    twice.write_text("1 0 d1 1 1\n1 0 d1 2 0\n")
    with pytest.raises(InputError, match="d1"):
        ll.read_qrels(twice)


def test_a_sample_is_checked_and_not_written_without_its_strata(strata: str, tmp_path: Path) -> None:
    assert ll.check(strata).rejected == 0
    for suffix in (".qrels", ".csv", ".json"):
        with pytest.raises(UsageError, match="strata"):
            ll.write_qrels(strata, tmp_path / f"plain{suffix}")


def test_that_judgments_are_a_sample_is_said(strata: str) -> None:
    results = ll.evaluate(strata, {"run": RUN}, "AP")
    assert [warning.count for warning in results.warnings if warning.code == "sampled_judgments"] == [13]


def test_a_sample_of_all_documents_is_no_sample_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "all.qrels"
    path.write_text("1 0 d1 1 1.0\n1 0 d2 0 1.0\n")
    rows = [
        {"query_id": "1", "doc_id": f"d{place}", "relevance": 2 - place, "probability": 1} for place in (1, 2)
    ]
    assert ll.read_qrels(path).remarks == ll.read_qrels(rows).remarks == ()


def test_the_iteration_is_no_document_where_documents_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "legal.qrels"
    path.write_text("1 0 51 1 0.7\n2 0 52 0 0.5\n")
    assert ll.read_qrels(path).to_dict() == {"1": {"51": 1.0}, "2": {"52": 0.0}}
    path.write_text("1 51 1 0 0.7\n1 52 0 0 0.5\n")  # query document grade method probability
    assert ll.read_qrels(path).to_dict() == {"1": {"51": 1.0, "52": 0.0}}
