"""Estimators without judgments: worked by hand, against slow loops, and their laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.estimation.unjudged_methods import (
    METHODS,
    AslamSavell,
    NRuns,
    ReferenceCount,
    Soboroff,
    Spoerri,
    UnjudgedEstimator,
    relevant_shares,
)
from leadline.io.objects import read_qrels
from ranked_pools import pool_of

Lists = list[list[str]]
LIST = st.permutations("abcdefghij").flatmap(
    lambda names: st.integers(0, len(names)).map(lambda size: list(names[:size]))
)
LISTS = st.lists(LIST, min_size=5, max_size=7)
TEAMS = st.lists(st.sampled_from("uvwxyz"), min_size=5, max_size=7)
VOTING = [
    NRuns(pseudo=3, depth=4),
    Soboroff(depth=4, draws=5),
    AslamSavell(),
    AslamSavell(depth=3),
    ReferenceCount(depth=4),
    Spoerri(depth=4),
]


def of(method: UnjudgedEstimator, lists: Lists, teams: str | list[str] = "") -> list[float]:
    found: list[float] = method.estimate(pool_of(lists, teams=list(teams))).values.tolist()
    return found


def test_a_run_that_found_what_others_found_first_has_the_best_nruns() -> None:
    # votes among the first two: b 3, a 2, c 1; so a and b are taken as relevant
    lists = [["a", "b"], ["b", "a"], ["c", "b", "a"]]
    method = NRuns(depth=2, pseudo=2)
    assert of(method, lists) == [1.0, 1.0, pytest.approx((1 / 2 + 2 / 3) / 2)]
    assert of(method.replace(eval_depth=2), lists)[2] == 0.25
    assert of(method.replace(share=0.3), lists) == [0.5, 1.0, 0.5]  # one document of three: b


def test_equal_votes_are_told_apart_by_ranks_and_then_by_id() -> None:
    pool = pool_of([["c", "b", "a"], ["a", "d", "c"]])  # a 3 + 1, c 1 + 3; b and d once, at rank 2
    assert np.flatnonzero(NRuns(pseudo=1).pseudo_relevant(pool)).tolist() == [0]
    assert np.flatnonzero(NRuns(pseudo=3).pseudo_relevant(pool)).tolist() == [0, 1, 2]


def test_reference_counts_add_the_other_runs_of_every_document() -> None:
    assert of(ReferenceCount(), [["a", "b", "c"], ["a", "b"], ["a"], []]) == [3, 3, 2, 0]
    assert of(ReferenceCount(depth=1), [["a", "b", "c"], ["a", "b"], ["b"]]) == [1, 1, 0]


def test_the_runs_of_a_team_vote_once_and_not_for_each_other() -> None:
    lists = [["a"], ["a"], ["b"], ["a", "b"]]
    assert of(ReferenceCount(), lists, "xxyz") == [1, 1, 1, 2]
    assert of(AslamSavell(), lists, "xxyz") == [0.25, 0.25, 0.25, 0.5]
    # without teams a wins 3 to 2; with teams both have two votes, and a the lower id
    assert of(NRuns(depth=1, pseudo=1), [["b"], ["b"], ["a"]]) == [1, 1, 0]
    assert of(NRuns(depth=1, pseudo=1), [["b"], ["b"], ["a"]], "xxy") == [0, 0, 1]


def slow_nruns(lists: Lists, depth: int, pseudo: int) -> list[float]:
    votes: dict[str, tuple[int, int]] = {}
    for one in lists:
        for rank, name in enumerate(one[:depth], start=1):
            count, ranks = votes.get(name, (0, 0))
            votes[name] = (count - 1, ranks + rank)
    relevant = sorted(votes, key=lambda name: (votes[name], name))[:pseudo]
    found = []
    for one in lists:
        hits = [rank for rank, name in enumerate(one, start=1) if name in relevant]
        total = sum(nth / rank for nth, rank in enumerate(hits, start=1))
        found.append(total / max(1, len(relevant)))
    return found


def slow_likeness(lists: Lists, depth: int) -> list[float]:
    sets = [set(one[:depth]) for one in lists]
    return [
        mean(len(own & other) / max(1, len(own | other)) for there, other in enumerate(sets) if there != here)
        for here, own in enumerate(sets)
    ]


def slow_references(lists: Lists, depth: int) -> list[float]:
    sets = [set(one[:depth]) for one in lists]
    return [sum(sum(name in other for other in sets) - 1 for name in own) for own in sets]


def slow_spoerri(lists: Lists, depth: int) -> list[float]:
    sets = [set(one[:depth]) for one in lists]
    found = []
    for here, own in enumerate(sets):
        groups = list(combinations([s for place, s in enumerate(sets) if place != here], 4))
        total = 0
        for group in groups:
            everyone = sum(all(name in other for other in group) for name in own)
            total += everyone - sum(not any(name in other for other in group) for name in own)
        found.append(total / len(groups) / max(1, len(own)))
    return found


SLOW: list[tuple[UnjudgedEstimator, Callable[[Lists], list[float]]]] = [
    (NRuns(depth=3, pseudo=4), lambda lists: slow_nruns(lists, 3, 4)),
    (NRuns(), lambda lists: slow_nruns(lists, 30, 30)),
    (AslamSavell(), lambda lists: slow_likeness(lists, 99)),
    (AslamSavell(depth=3), lambda lists: slow_likeness(lists, 3)),
    (ReferenceCount(depth=4), lambda lists: slow_references(lists, 4)),
    (Spoerri(depth=4), lambda lists: slow_spoerri(lists, 4)),
]


@given(lists=LISTS)
@pytest.mark.parametrize(("method", "slow"), SLOW, ids=[str(method) for method, _ in SLOW])
def test_slow_loops_give_the_same(
    method: UnjudgedEstimator, slow: Callable[[Lists], list[float]], lists: Lists
) -> None:
    assert of(method, lists) == pytest.approx(slow(lists), abs=1e-9)


def all_groups_of_teams(lists: Lists, teams: list[str]) -> list[float]:
    """Return Spoerri's value by every choice of one run for each of four other teams."""
    names = sorted(set(teams))
    found = []
    for here, own in enumerate(lists):
        total, weight = 0.0, 0.0
        for group in combinations([name for name in names if name != teams[here]], 4):
            for runs in _choices(
                [[run for run, team in zip(lists, teams, strict=True) if team == g] for g in group]
            ):
                chance = 1 / math.prod(teams.count(name) for name in group)
                weight += chance
                for name in own:
                    hits = sum(name in run for run in runs)
                    total += chance * ((hits == 4) - (hits == 0)) / len(own)
        found.append(total / weight)
    return found


def _choices(groups: list[Lists]) -> list[Lists]:
    if not groups:
        return [[]]
    return [[one, *rest] for one in groups[0] for rest in _choices(groups[1:])]


@given(lists=st.lists(LIST, min_size=8, max_size=8))
def test_groups_of_teams_hold_a_random_run_of_each(lists: Lists) -> None:
    teams = list("uuvwxyyz")
    assert of(Spoerri(), lists, teams) == pytest.approx(all_groups_of_teams(lists, teams), abs=1e-6)


@given(lists=LISTS, data=st.data())
@pytest.mark.parametrize("method", VOTING, ids=str)
def test_the_order_of_systems_does_not_matter(
    method: UnjudgedEstimator, lists: Lists, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(lists))))
    teams = [data.draw(st.sampled_from("uvw")) if method.fewest < 5 else str(n) for n in order]
    teams[0] = "only"
    before = of(method, lists, teams)
    after = of(method, [lists[n] for n in order], [teams[n] for n in order])
    assert after == [before[n] for n in order]


@given(lists=LISTS)
@pytest.mark.parametrize("method", VOTING, ids=str)
def test_equal_runs_have_equal_estimates(method: UnjudgedEstimator, lists: Lists) -> None:
    values = of(method, [*lists, lists[0]])
    assert values[0] == values[-1]


@given(lists=LISTS)
@pytest.mark.parametrize("method", VOTING, ids=str)
def test_teams_of_one_run_are_no_teams(method: UnjudgedEstimator, lists: Lists) -> None:
    assert of(method, lists, [str(place) for place in range(len(lists))]) == of(method, lists)


@pytest.mark.parametrize("method", VOTING, ids=str)
def test_an_empty_list_has_nothing(method: UnjudgedEstimator) -> None:
    assert of(method, [["a"], ["a"], ["a"], ["b"], []])[-1] == 0


def test_drawing_everything_is_average_precision_over_the_pool() -> None:
    method = Soboroff(share_mean=1, share_sd=0, draws=3)
    assert of(method, [["a", "b"], ["b", "c"], []]) == pytest.approx([2 / 3, 2 / 3, 0])


def test_a_document_is_drawn_as_often_as_its_entries_say() -> None:
    lists = [["a"], ["a"], ["a"], ["b"]]  # one document a draw: a in three of four
    values = of(Soboroff(draws=4000, share_mean=0, share_sd=0), lists)
    assert values[0] == pytest.approx(0.75, abs=0.03)
    assert values[0] + values[3] == pytest.approx(1)
    # a team of three has one vote
    fair = of(Soboroff(draws=4000, share_mean=0, share_sd=0), lists, "xxxy")
    assert fair[0] == pytest.approx(0.5, abs=0.03)


def test_shares_can_come_from_known_judgments() -> None:
    qrels = read_qrels({"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 0, "c": 0, "d": 1}})
    assert relevant_shares(qrels) == (0.375, 0.125)
    assert relevant_shares(qrels, rel=2) == (0, 0)


@pytest.mark.parametrize(
    "name", ["nruns", "soboroff", "aslam-savell", "reference-count", "spoerri", "deshato"]
)
def test_methods_have_their_names(name: str) -> None:
    assert METHODS.parse(name).called == name
    assert METHODS.parse(name).replace(depth=7).depth == 7


def test_all_methods_are_found() -> None:
    assert {kind.called for kind in METHODS.classes.values()} >= {"nruns", "deshato"}
    for kind in METHODS.classes.values():
        assert METHODS.parse(kind.called) == METHODS.parse(kind.__name__)
        assert all(len(words) > 3 for words in (kind.title, kind.formula, kind.source))


@pytest.mark.parametrize(("method", "teams"), [(Spoerri(), 4), (NRuns(), 1), (AslamSavell(), 1)])
def test_too_few_systems_are_refused(method: UnjudgedEstimator, teams: int) -> None:
    with pytest.raises(UsageError, match="needs at least"):
        method.check(teams)
    method.check(method.fewest)
