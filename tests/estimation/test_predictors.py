"""Predictors of how well a query was answered: worked by hand, against slow loops, and their laws."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.data.registry import Parametric
from leadline.errors import UsageError
from leadline.estimation.predictors import (
    INDEX,
    NQC,
    PREDICTORS,
    TERMS,
    VECTORS,
    WIG,
    Answer,
    DeShaTo,
    Predictor,
)
from leadline.estimation.unjudged_methods import DeShaTo as Shape
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Query
from ranked_pools import pool_of

DOCS = {
    "d1": "wing wing lift",
    "d2": "wing drag",
    "d3": "heat flow heat",
    "d4": "flow of heat and wing",
    "empty": "",
}
THETA = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
SCORES = st.lists(st.integers(-40, 40).map(lambda n: n / 4), min_size=2, max_size=30).map(
    lambda scores: sorted(scores, reverse=True)
)
KINDS = pytest.mark.parametrize("kind", list(PREDICTORS.classes.values()), ids=str)


@pytest.fixture(scope="module")
def index() -> Index:
    return build_index(DOCS)


def answer(index: Index, query: str, names: list[str]) -> Answer:
    """Make an answer with everything that can be known."""
    row = np.array([place if place < 3 else -1 for place in range(len(names))], dtype=np.int32)
    scores = np.arange(len(names), 0, -1, dtype=np.float64)
    return Answer(scores, Query.of(index, query), THETA, row)


def forms(kind: type[Parametric]) -> list[Parametric]:
    """Return a class with its defaults and with every choice in turn."""
    choices = [
        {name: option} for name, parameter in kind.parameters().items() for option in parameter.options
    ]
    return [kind(), *(kind(**choice) for choice in choices)]


def test_nqc_and_wig_are_worked_by_hand() -> None:
    scores = Answer.of([9, 7, 5, 3, 2, 2, 1, 1, 1, 1])
    # the last tenth is one document of score 1; the first three have deviation sqrt(8/3) and mean 7
    assert NQC(k=3).value(scores) == pytest.approx(math.sqrt(8 / 3))
    assert WIG(k=3).value(scores) == pytest.approx(6)
    # of the last half the scores are 2, 1, 1, 1, 1
    assert NQC(k=3, share=0.5).value(scores) == pytest.approx(math.sqrt(8 / 3) / 1.2)
    assert WIG(k=3, share=0.5).value(scores) == pytest.approx(7 - 1.2)


@given(scores=SCORES, k=st.integers(1, 12), share=st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_slow_loops_give_the_same_nqc_and_wig(scores: list[float], k: int, share: float) -> None:
    last = scores[-max(1, round(share * len(scores))) :]
    below = sum(last) / len(last)
    given_scores = Answer.of(scores)
    wig = WIG(k=k, share=share).value(given_scores)
    assert wig == pytest.approx(max(0.0, statistics.mean(scores[:k]) - below), abs=1e-9)
    nqc = NQC(k=k, share=share).value(given_scores)
    if abs(below) < 1e-12:
        assert math.isnan(nqc) or nqc > 1e6 or nqc == 0
    else:
        assert nqc == pytest.approx(statistics.pstdev(scores[:k]) / abs(below), abs=1e-9)


@given(scores=SCORES, factor=st.sampled_from([0.5, 2.0, 64.0]))
def test_nqc_is_free_of_scale_and_wig_of_what_is_added(scores: list[float], factor: float) -> None:
    larger, moved = Answer.of([factor * x for x in scores]), Answer.of([x + 8 for x in scores])
    assert NQC().value(larger) == pytest.approx(NQC().value(Answer.of(scores)), nan_ok=True)
    assert WIG().value(moved) == pytest.approx(WIG().value(Answer.of(scores)), abs=1e-9)


@pytest.mark.parametrize("kind", [NQC, WIG])
def test_equal_scores_have_0_and_what_has_no_tail_is_undefined(kind: type[Predictor]) -> None:
    assert kind().value(Answer.of([0.1] * 7)) == 0
    assert math.isnan(kind().value(Answer.of([3])))
    assert math.isnan(kind().value(Answer.of([])))
    assert math.isnan(kind().value(Answer.of([math.inf, 1])))
    assert math.isnan(NQC().value(Answer.of([1, 0])))  # a tail of mean 0


def test_wig_may_be_divided_by_the_root_of_the_number_of_terms(index: Index) -> None:
    found = answer(index, "wing drag of unknown wing", ["d1", "d2"])
    assert WIG(length="root").value(found) == pytest.approx(WIG().value(found) / 2)  # `of` is a stop word
    assert math.isnan(WIG(length="root").value(answer(index, "of the", ["d1", "d2"])))
    assert math.isnan(WIG(length="root").value(Answer.of([2, 1])))


def test_deshato_is_the_estimator_of_one_list(index: Index) -> None:
    found = answer(index, "wing", ["d1", "d2", "d3", "d4"])
    vectors = dict(zip("abc", THETA.tolist(), strict=True))
    estimate = Shape().estimate(pool_of([["a", "b", "c"]], vectors=vectors))
    assert DeShaTo().value(found) == pytest.approx(estimate.values[0])
    terms = [DeShaTo(term=term).value(found) for term in TERMS]
    assert terms == pytest.approx([values[0] for values in estimate.terms.values()])
    assert sum(terms) == pytest.approx(DeShaTo().value(found))
    two = Shape().estimate(pool_of([["a", "b"]], vectors=vectors)).values[0]
    assert DeShaTo(depth=2).value(found) == pytest.approx(two)


def test_deshato_of_documents_without_vectors_is_undefined() -> None:
    found = Answer.of([2, 1])
    nothing = np.full(2, -1, dtype=np.int32)
    assert math.isnan(DeShaTo().value(found._replace(theta=np.eye(3), row=nothing)))
    with pytest.raises(UsageError, match="topic vectors"):
        DeShaTo().value(found)


@KINDS
def test_its_text_is_read_back_as_itself(kind: type[Predictor]) -> None:
    for form in forms(kind):
        twin = PREDICTORS.parse(str(form))
        assert (twin, hash(twin)) == (form, hash(form))
    assert all(isinstance(one, kind) for one in kind.usual())


@KINDS
def test_it_says_what_it_is(kind: type[Predictor]) -> None:
    assert all(len(words) > 2 for words in (kind.title, kind.formula, kind.source))
    assert all(form.needs() <= {INDEX, VECTORS} for form in kind.usual())
    assert (kind.rising, kind.average) == (True, "defined")


@KINDS
@given(names=st.permutations(["d1", "d2", "d3", "d4", "gone"]), query=st.sampled_from(["wing", "heat wing"]))
def test_a_value_is_in_its_range_and_the_same_again(
    index: Index, kind: type[Predictor], names: list[str], query: str
) -> None:
    for one in kind.usual():
        value = one.value(answer(index, query, list(names)))
        assert value >= kind.low or math.isnan(value)
        assert value == one.value(answer(index, query, list(names)))


def test_scores_alone_normalised_by_the_tail_say_so_in_their_names() -> None:
    assert (str(NQC()), str(WIG())) == ("NQC(tail)", "WIG(tail)")
    assert PREDICTORS.parse("nqc") == NQC()
    with pytest.raises(UsageError, match="norm must be tail, not corpus"):
        PREDICTORS.parse("NQC(corpus)")
