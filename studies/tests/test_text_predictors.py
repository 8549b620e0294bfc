"""Predictors that need texts: worked by hand, and against slow loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Query
from leadline_studies.query_prediction.text_predictors import Clarity, QueryLength

DOCS = {
    "d1": "wing wing lift",
    "d2": "wing drag",
    "d3": "heat flow heat",
    "d4": "flow of heat and wing",
    "empty": "",
}


@pytest.fixture(scope="module")
def index() -> Index:
    return build_index(DOCS)


def clarity(index: Index, query: str, names: list[str], **parameters: Any) -> float:
    """Return the clarity of a list of documents."""
    codes = index.document_codes([name.encode() for name in names])
    return Clarity(**parameters).of_texts(index, codes, Query.of(index, query))


def test_stop_words_do_not_lengthen_a_query(index: Index) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert QueryLength().of_texts(index, nothing, Query.of(index, "wing drag of unknown wing")) == 4
    assert math.isnan(QueryLength().of_texts(index, nothing, None))


def test_clarity_is_worked_by_hand() -> None:
    index = build_index({"d1": "wing wing lift drag", "d2": "heat flow flow flow"})
    # P(w|d1) = 0.6 tf/4 + 0.4 cf/8: wing 0.4, lift and drag 0.2 each, heat 0.05, flow 0.15
    parts = [(0.4, 2 / 8), (0.2, 1 / 8), (0.2, 1 / 8), (0.05, 1 / 8), (0.15, 3 / 8)]
    by_hand = sum(p * math.log2(p / q) for p, q in parts)
    assert clarity(index, "wing", ["d1"]) == pytest.approx(by_hand)


def slow_clarity(index: Index, query: str, names: list[str], own: float) -> float:
    """Return clarity by its definition, a term at a time over the whole vocabulary."""
    terms = {name: index.analysis.terms(text) for name, text in DOCS.items()}
    everything = [term for name in DOCS for term in terms[name]]
    words = [term for term in index.analysis.terms(query) if term in everything]
    lists = [terms[name] for name in names if terms.get(name)]

    def chance(term: str, of: list[str]) -> float:
        whole = everything.count(term) / len(everything)
        return own * of.count(term) / len(of) + (1 - own) * whole

    weights = [math.prod(chance(w, of) for w in words) for of in lists]
    total = 0.0
    for term in set(everything):
        p = sum(w * chance(term, of) for w, of in zip(weights, lists, strict=True)) / sum(weights)
        total += p * math.log2(p * len(everything) / everything.count(term))
    return total


@given(
    names=st.permutations([*DOCS, "gone"]).flatmap(
        lambda names: st.integers(1, 6).map(lambda size: list(names[:size]))
    ),
    query=st.sampled_from(["wing", "heat wing wing", "flow unknown drag"]),
    own=st.sampled_from([0.1, 0.6, 0.9]),
)
def test_a_slow_loop_gives_the_same_clarity(index: Index, names: list[str], query: str, own: float) -> None:
    value = clarity(index, query, names, own=own)
    if not {"d1", "d2", "d3", "d4"} & set(names):
        assert math.isnan(value)
        return
    assert value == pytest.approx(slow_clarity(index, query, names, own), abs=1e-12)
    assert value >= 0


def test_clarity_without_text_is_undefined(index: Index) -> None:
    assert math.isnan(clarity(index, "wing", ["gone", "empty"]))
    assert math.isnan(clarity(index, "unknown", ["d1"]))
    assert math.isnan(Clarity().of_texts(index, np.zeros(1, dtype=np.int64), None))
    first = clarity(index, "wing", ["d3", "d1"], docs=1)
    assert first == clarity(index, "wing", ["d3"])
