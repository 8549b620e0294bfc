"""Novelty ratio."""

from __future__ import annotations

from agreement import agree, undefined, value
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse

KNOWN = Case(
    {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0},
    {"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0, "e": 1.0},
    frozenset({"a", "b", "e", "unheard"}),
)


def test_it_is_the_share_of_the_relevant_documents_found_that_were_new() -> None:
    assert value(of("Novelty"), KNOWN) == 2 / 3  # c and d of a, c and d


def test_the_cutoff_ends_the_list() -> None:
    assert value(of("Novelty@2"), KNOWN) == 0
    assert value(of("Novelty@3"), KNOWN) == 1 / 2


def test_where_nothing_was_known_everything_is_new() -> None:
    assert value(of("Novelty"), KNOWN._replace(known=frozenset())) == 1


def test_it_is_undefined_where_nothing_relevant_was_retrieved() -> None:
    assert undefined(value(of("Novelty"), KNOWN._replace(scores={"b": 1.0})))
    assert undefined(value(of("Novelty(rel=2)"), KNOWN))


def test_it_equals_its_oracle() -> None:
    agree("Novelty", "Novelty@2", "Novelty(rel=2)")
