"""Each judge has a queue of their own that tells nothing, loses nothing and comes to an end."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from judging_pages import event
from leadline.data.arrays import hashed_uniform
from leadline.errors import UsageError
from leadline.judging.events import parse_event
from leadline.judging.queue import Queues, deal, second
from leadline.judging.store import Act, JudgingPair, Store

SIZE = 40
PAIRS = [(f"q{query}", f"d{place}", 1.0) for query in range(4) for place in range(10)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store.open(str(tmp_path / "judged.sqlite"))
    made.add_pairs(PAIRS)
    yield made
    made.close()


def judge(queues: Queues, name: str, pair: JudgingPair, kind: str = "judge", undoes: str = "") -> str:
    found = event(pair.id, len(queues.store.acts()), kind, undoes=undoes)
    found["key"] += f"-{name}-{len(undoes)}"
    queues.append(name, [parse_event(found)])
    key: str = found["key"]
    return key


def finish(queues: Queues, name: str) -> list[JudgingPair]:
    queues.join(name)
    done = []
    while found := queues.upcoming(name, 1):
        done += found
        judge(queues, name, found[0])
    return done


def test_everybody_who_gives_a_name_judges_every_pair_once(store: Store) -> None:
    queues = Queues(store)
    for name in ("ann", "bob"):
        done = finish(queues, name)
        assert len({pair.id for pair in done}) == len(done) == SIZE
        assert queues.count(name) == (SIZE, SIZE, 0)


def test_a_judge_stays_with_a_query_until_it_is_done(store: Store) -> None:
    done = [pair.query for pair in finish(Queues(store), "ann")]
    assert [query for query, last in zip(done, ["", *done], strict=False) if query != last] == list(
        dict.fromkeys(done)
    )


def test_the_order_depends_on_judge_and_pair_and_not_on_the_pool(store: Store, tmp_path: Path) -> None:
    queues = Queues(store)
    orders = {
        name: [pair[1:3] for pair in queues.upcoming(queues.join(name), SIZE)] for name in ("ann", "bob")
    }
    assert orders["ann"] != orders["bob"]
    other = Store.open(str(tmp_path / "other.sqlite"))
    other.add_pairs(reversed(PAIRS))
    again = Queues(other)
    assert [pair[1:3] for pair in again.upcoming(again.join("ann"), SIZE)] == orders["ann"]
    other.close()


def test_a_queue_goes_on_where_it_was_left(store: Store) -> None:
    queues = Queues(store)
    queues.join("ann")
    for pair in queues.upcoming("ann", 7):
        judge(queues, "ann", pair)
    left = queues.upcoming("ann", SIZE)
    assert Queues(store).upcoming("ann", SIZE) == left
    assert len(left) == SIZE - 7


def test_what_is_skipped_comes_last_in_the_order_of_skipping(store: Store) -> None:
    queues = Queues(store)
    queues.join("ann")
    first, second_, third = queues.upcoming("ann", 3)
    judge(queues, "ann", second_, "skip")
    judge(queues, "ann", first, "skip")
    assert queues.count("ann") == (0, SIZE, 2)
    for again in (queues, Queues(store)):
        found = again.upcoming("ann", SIZE)
        assert found[0] == third
        assert found[-2:] == [second_, first]
    assert queues.is_skipped("ann", first.id)
    judge(queues, "ann", first)
    assert queues.count("ann") == (1, SIZE, 1)


def test_an_undone_judgment_and_an_undone_skip_come_back_to_their_place(store: Store) -> None:
    queues = Queues(store)
    queues.join("ann")
    before = queues.upcoming("ann", SIZE)
    keys = [
        (pair, judge(queues, "ann", pair, kind))
        for pair, kind in zip(before, ("judge", "skip"), strict=False)
    ]
    for pair, key in reversed(keys):
        judge(queues, "ann", pair, "undo", key)
    assert queues.upcoming("ann", SIZE) == before


def test_the_page_is_not_given_what_it_holds(store: Store) -> None:
    queues = Queues(store)
    queues.join("ann")
    whole = queues.upcoming("ann", SIZE)
    held = {pair.id for pair in whole[:5]}
    assert queues.upcoming("ann", 4, held) == whole[5:9]


def test_named_judges_share_the_queries_and_some_pairs_go_to_two(store: Store) -> None:
    queues = Queues(store, judges=["ann", "bob"], overlap=0.3)
    done = {name: finish(queues, name) for name in ("ann", "bob")}
    times = Counter(pair.id for pairs in done.values() for pair in pairs)
    assert times.keys() == {pair.id for pair in store.pairs()}
    twice = [pair for pair, count in times.items() if count == 2]
    assert set(twice) == {
        pair.id for pair in store.pairs() if hashed_uniform(0, "overlap", pair.query, pair.document) < 0.3
    }
    assert 4 <= len(twice) <= 20
    whole = Counter(pair.query for pair in done["ann"] if pair.id not in twice or pair in done["ann"])
    assert sorted(whole.values())[-2:] == [10, 10]  # two queries whole, of others the shared pairs


def test_only_named_judges_come_in(store: Store) -> None:
    queues = Queues(store, judges=["ann", "bob"])
    with pytest.raises(UsageError, match="'eve' is not on the list"):
        queues.join("eve")


def test_a_judge_who_leaves_is_replaced_and_nothing_is_judged_again(store: Store) -> None:
    queues = Queues(store, judges=["ann", "bob"])
    queues.join("ann")
    started = queues.upcoming("ann", 3)
    for pair in started:
        judge(queues, "ann", pair)
    later = Queues(store, judges=["bob", "cid"])
    done = finish(later, "bob") + finish(later, "cid")
    assert sorted(pair.id for pair in done + started) == list(range(1, SIZE + 1))
    assert later.count("bob").done == later.count("bob").total


def test_a_query_that_was_begun_stays_with_its_judge(store: Store) -> None:
    queues = Queues(store, judges=["ann", "bob"])
    queues.join("ann")
    begun = queues.upcoming("ann", 1)[0]
    judge(queues, "ann", begun)
    later = Queues(store, judges=["ann", "bob", "cid", "dan"])
    rest = [pair for pair in later.upcoming("ann", SIZE) if pair.query == begun.query]
    assert len(rest) == 9
    sizes = [later.count(name).total for name in ("ann", "bob", "cid", "dan")]
    assert sizes == [10, 10, 10, 10]


def test_the_same_judges_have_the_same_queues_after_a_restart(store: Store) -> None:
    queues = Queues(store, judges=["ann", "bob"], overlap=0.2)
    queues.join("bob")
    ahead = {name: queues.upcoming(name, SIZE) for name in ("ann", "bob")}
    for pair in ahead["bob"][:11]:  # in the second of bob's queries, while ann has begun none
        judge(queues, "bob", pair)
    later = Queues(store, judges=["bob", "ann"], overlap=0.2)
    assert later.upcoming("bob", SIZE) == ahead["bob"][11:]
    assert later.upcoming("ann", SIZE) == ahead["ann"]


def test_pairs_without_a_text_are_in_no_queue(store: Store) -> None:
    queues = Queues(store, known={1, 2, 3})
    assert {pair.id for pair in finish(queues, "ann")} == {1, 2, 3}


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5, unique=True),
    st.integers(0, 99),
)
def test_queries_are_dealt_whole_and_evenly(sizes: list[int], judges: list[str], seed: int) -> None:
    rows = [(f"q{query}", f"d{place}") for query, size in enumerate(sizes) for place in range(size)]
    pairs = [JudgingPair(place, query, name, 1.0) for place, (query, name) in enumerate(rows)]
    dealt = deal(judges, pairs, {}, [], seed=seed)
    assert dealt.keys() == {query for query, _ in rows}
    load = Counter(dict.fromkeys(judges, 0))
    for query, _ in rows:
        load[dealt[query]] += 1
    assert max(load.values()) - min(load.values()) <= max(sizes)
    assert deal(judges, pairs, dealt, [], seed=seed) == {}


@given(st.lists(st.integers(1, 9), min_size=2, max_size=12), st.sets(st.integers(0, 107)), st.integers(0, 9))
def test_what_was_begun_does_not_move_what_was_not(sizes: list[int], done: set[int], seed: int) -> None:
    rows = [(f"q{query}", f"d{place}") for query, size in enumerate(sizes) for place in range(size)]
    pairs = [JudgingPair(place, query, name, 1.0) for place, (query, name) in enumerate(rows)]
    dealt = deal(["ann", "bob"], pairs, {}, [], seed=seed)
    acts = [
        Act(place, f"k{place}", "judge", dealt[pair.query], pair.id, 1, "", 1.0, "full", True)
        for place, pair in enumerate(pairs)
        if pair.id in done
    ]
    assert deal(["bob", "ann"], pairs, dealt, acts, seed=seed) == {}


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_for_two_holds_the_smaller(one: float, other: float) -> None:
    pairs = [JudgingPair(place, "q", f"d{place}", 1.0) for place in range(50)]
    low, high = (
        {p.id for p in pairs if second(["a", "b", "c"], "a", p, seed=0, overlap=share)}
        for share in sorted((one, other))
    )
    assert low <= high


def test_draws_are_spread_evenly() -> None:
    draws = sorted(hashed_uniform(3, "ann", str(place)) for place in range(10_000))
    assert all(abs(value - place / 10_000) < 0.02 for place, value in enumerate(draws))


ACTS = st.tuples(
    st.sampled_from(["ann", "bob"]),
    st.integers(1, 4),
    st.sampled_from(["judge", "skip", "undo", "again"]),
    st.integers(0, 1),
)


@examples(25)
@given(st.lists(ACTS, max_size=14))
def test_whatever_judges_do_store_and_queues_agree_with_a_plain_account(
    acts: list[tuple[str, int, str, int]],
) -> None:
    done: list[tuple[str, int, str, int, str]] = []  # judge, pair, kind, grade, key: what was not undone
    sent: list[tuple[str, dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder, closing(Store.open(f"{folder}/s.sqlite")) as store:
        store.add_pairs([("q", f"d{place}", 1.0) for place in range(1, 5)])
        queues = Queues(store)
        for name in ("ann", "bob"):
            queues.join(name)
        for place, (name, pair, kind, grade) in enumerate(acts):
            found = event(pair, place, "judge" if kind == "again" else kind)
            if kind == "judge":
                found["grade"] = grade
            if kind == "undo":
                mine = [act for act in done if act[0] == name]
                if not mine:
                    continue
                done.remove(mine[-1])
                found |= {"pair": mine[-1][1], "undoes": mine[-1][4]}
            elif kind == "again":  # the page sends once more what it sent before
                if not sent:
                    continue
                name, found = sent[grade * (len(sent) - 1)]  # noqa: PLW2901  # its own judge
            else:
                done.append((name, pair, kind, grade, found["key"]))
            sent.append((name, found))
            queues.append(name, [parse_event(found)])
        judged = {(name, pair): grade for name, pair, kind, grade, _ in done if kind == "judge"}
        for fresh in (queues, Queues(store)):
            known = {
                (name, pair): act.grade
                for name, of_judge in fresh.judgments().items()
                for pair, act in of_judge.items()
            }
            assert known == judged
            for name in ("ann", "bob"):
                open_pairs = {pair for pair in range(1, 5) if (name, pair) not in judged}
                assert {pair.id for pair in fresh.upcoming(name, 9)} == open_pairs
                assert fresh.upcoming(name, 9) == queues.upcoming(name, 9)
                assert fresh.count(name) == queues.count(name)
                assert fresh.count(name).done == 4 - len(open_pairs)
