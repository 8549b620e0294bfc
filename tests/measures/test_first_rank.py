"""Measures of the rank at which relevant documents are reached."""

from __future__ import annotations

from case_values import undefined, value
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_one_over_the_rank_of_the_first_relevant_document() -> None:
    assert of("RR").of([0, None, 1, 1]) == 1 / 3
    assert of("RR").of([1]) == 1


def test_beyond_the_cutoff_it_is_0() -> None:
    assert of("RR@2").of([0, 0, 1]) == 0
    assert of("RR@3").of([0, 0, 1]) == 1 / 3
    assert of("RR@1000").of([0, 0, 1]) == 1 / 3


def test_it_is_0_and_never_undefined_where_nothing_was_found_or_is_relevant() -> None:
    assert of("RR").of([], judged=[1]) == 0
    assert of("RR").of([0], judged=[0]) == 0


def test_a_level_decides_what_is_relevant() -> None:
    assert of("RR(rel=2)").of([1, -1, 2]) == 1 / 3
    assert of("RR").of([0.99, 1]) == 1 / 2


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("RR"), Case({"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.0})) == 1 / 3


def test_it_is_the_rank_of_the_nth_relevant_document() -> None:
    assert of("RankOf").of([0, 1, 0, 1]) == 2
    assert of("RankOf(n=2)").of([0, 1, 0, 1]) == 4
    assert of("RankOf(n=all)").of([0, 1, 0, 1]) == 4


def test_it_is_undefined_where_it_is_never_reached() -> None:
    assert undefined(of("RankOf").of([0], judged=[0, 1]))
    assert undefined(of("RankOf(n=3)").of([1, 1]))
    assert undefined(of("RankOf(n=all)").of([1], judged=[1, 1]))
    assert undefined(of("RankOf(n=all)").of([0]))
    assert undefined(of("RankOf").of([], judged=[1]))


def test_undefined_queries_are_left_out_of_the_mean() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 1.0}}
    assert evaluate(qrels, run, "RankOf").mean("run", "RankOf") == 2


def test_the_search_length_counts_the_others_read_before() -> None:
    assert of("RankOf(form=search)").of([0, None, 1]) == 2
    assert of("RankOf(form=search,n=2)").of([1, 0, -1, 1]) == 2
    assert of("RankOf(form=search)").of([1]) == 0


def test_among_tied_documents_the_search_length_is_the_mean_over_their_orders() -> None:
    # one relevant among three: 0, 1 or 2 others before it
    assert value(of("RankOf(form=search)"), Case(dict.fromkeys("abc", 1.0), {"a": 1.0})) == 1
    # two relevant and three others: 1 * 3 / 3 and 2 * 3 / 3
    tied = Case(dict.fromkeys("abcde", 1.0), {"a": 1.0, "b": 1.0})
    assert value(of("RankOf(form=search)"), tied) == 1
    assert value(of("RankOf(form=search,n=2)"), tied) == 2


def test_groups_above_are_read_whole() -> None:
    case = Case({"a": 3.0, "b": 3.0, "c": 2.0, "d": 1.0, "e": 1.0}, {"a": 1.0, "d": 1.0})
    assert value(of("RankOf(form=search,n=2)"), case) == 2 + 1 / 2


def test_a_group_that_the_depth_cuts_ends_there() -> None:
    qrels, run = {"q": {"e": 1}}, {"q": dict.fromkeys("abcde", 1.0)}
    text = "RankOf(form=search)"
    assert evaluate(qrels, run, text).mean("run", text) == 2
    assert evaluate(qrels, run, text, depth=3).mean("run", text) == 1


def test_the_rank_itself_follows_the_order_of_falling_ids() -> None:
    assert value(of("RankOf"), Case(dict.fromkeys("abc", 1.0), {"a": 1.0})) == 3


def test_rank_of_a_level_decides_what_is_relevant() -> None:
    assert of("RankOf(rel=2)").of([1, -1, 2]) == 3
    assert of("RankOf(rel=0.5)").of([0.4, 0.5]) == 2


def test_many_queries_do_not_mix() -> None:
    lists = {f"q{place:05}": dict.fromkeys("abc", 1.0) for place in range(3000)}
    qrels = {query: {"a": 1, "b": 1} for query in lists}
    results = evaluate(qrels, lists, "RankOf(form=search,n=2)")
    assert set(results.values.ravel().tolist()) == {2 / 3}
