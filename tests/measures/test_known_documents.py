"""Measures that depend on the documents a user knew before: coverage and novelty."""

from __future__ import annotations

import re

import pytest

import leadline as ll
from case_values import undefined, value
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse

KNOWN = Case(
    {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0},
    {"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0, "e": 1.0},
    frozenset({"a", "b", "e", "unheard"}),
)


def test_it_is_the_share_of_the_known_relevant_documents_that_were_retrieved() -> None:
    assert value(of("Coverage"), KNOWN) == 1 / 2  # a of a and e


def test_known_documents_that_are_not_relevant_do_not_count() -> None:
    assert value(of("Coverage"), KNOWN._replace(known=frozenset("ab"))) == 1


def test_the_cutoff_ends_the_list() -> None:
    case = KNOWN._replace(known=frozenset("ac"))
    assert value(of("Coverage@2"), case) == 1 / 2
    assert value(of("Coverage@100"), case) == 1


def test_it_is_undefined_where_the_user_knew_nothing_relevant() -> None:
    assert undefined(value(of("Coverage"), KNOWN._replace(known=frozenset("b"))))
    assert undefined(value(of("Coverage"), KNOWN._replace(known=frozenset())))


def test_a_level_decides_what_is_relevant() -> None:
    case = Case({"a": 2.0, "b": 1.0}, {"a": 2.0, "b": 1.0, "c": -1.0}, frozenset("abc"))
    assert value(of("Coverage(rel=2)@1"), case) == 1
    assert value(of("Coverage@1"), case) == 1 / 2


@pytest.mark.parametrize("name", ["Coverage", "Novelty"])
def test_without_the_known_documents_it_asks_for_them(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} cannot be computed from grades alone"):
        of(name).of([1, 0])
    says = f"{name} needs the documents that the user knew. Use known={{query: [document, ...]}}"
    with pytest.raises(UsageError, match=re.escape(says)):
        ll.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, name)
    ll.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, name, known={"q": ["a"]})


NOVELTY_KNOWN = Case(
    {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0},
    {"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0, "e": 1.0},
    frozenset({"a", "b", "e", "unheard"}),
)


def test_it_is_the_share_of_the_relevant_documents_found_that_were_new() -> None:
    assert value(of("Novelty"), NOVELTY_KNOWN) == 2 / 3  # c and d of a, c and d


def test_novelty_the_cutoff_ends_the_list() -> None:
    assert value(of("Novelty@2"), NOVELTY_KNOWN) == 0
    assert value(of("Novelty@3"), NOVELTY_KNOWN) == 1 / 2


def test_where_nothing_was_known_everything_is_new() -> None:
    assert value(of("Novelty"), NOVELTY_KNOWN._replace(known=frozenset())) == 1


def test_it_is_undefined_where_nothing_relevant_was_retrieved() -> None:
    assert undefined(value(of("Novelty"), NOVELTY_KNOWN._replace(scores={"b": 1.0})))
    assert undefined(value(of("Novelty(rel=2)"), NOVELTY_KNOWN))
