"""Looks of a pool: verdicts are those of the last look reached, each with its share of alpha."""

from __future__ import annotations

import random

import numpy as np
import pytest

import leadline as ll
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import UsageError
from leadline.estimation.measured_pool import first_pairs, in_order, looks_of, places_of_looks
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import read_drawn_pool, write_drawn_pool

LOOKS = 4
RNG = random.Random(5)
GRADES = {f"q{n}": {f"d{place}": float(RNG.random() < 0.4) for place in range(60)} for n in range(40)}
RUNS = {
    name: {
        query: {one: gain * grade + RNG.gauss(0, 1) for one, grade in documents.items()}
        for query, documents in GRADES.items()
    }
    for name, gain in (("old", 0.2), ("new", 1.0))
}


@pytest.fixture(scope="module")
def pool() -> DrawnPool:
    return pool_for(RUNS, "P@10", budget=8, looks=LOOKS).pool


def judged(pool: DrawnPool, count: int, without: int = -1) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {}
    for place, row in enumerate(in_order(pool).tolist()[:count]):
        if place != without:
            query, document = pool.queries[row], pool.documents[row]
            grades.setdefault(query, {})[document] = GRADES[query][document]
    return grades


def test_more_looks_than_judgments_are_one_after_each() -> None:
    assert places_of_looks(60, 10**9) == list(range(50, 61))


def test_a_verdict_is_that_of_the_judgments_up_to_the_last_look(pool: DrawnPool) -> None:
    size = int(pool.drawn.sum())
    places = places_of_looks(size, LOOKS)
    assert len(places) == LOOKS
    for place, following in zip(places, [*places[1:], size + 1], strict=True):
        plain = first_pairs(pool, place)
        level = 1 - 0.05 / LOOKS
        whole = ll.compare(
            judged(pool, place), RUNS, "P@10", pool=without_looks(plain), confidence=level
        ).pairs[0]
        for count in {place, (place + following) // 2, following - 1}:
            found = ll.compare(judged(pool, count), RUNS, "P@10", pool=pool)
            assert repr(found.pairs[0]) == repr(whole)
            assert [one.code for one in found.warnings].count("look") == 1


def without_looks(pool: DrawnPool) -> DrawnPool:
    design = {key: value for key, value in pool.design.items() if key != "looks"}
    return DrawnPool(
        pool.queries, pool.documents, pool.probability, pool.order, pool.contributors, pool.drawn, design
    )


def test_before_the_first_look_there_is_no_verdict_but_values(pool: DrawnPool) -> None:
    first = places_of_looks(int(pool.drawn.sum()), LOOKS)[0]
    for given in (judged(pool, first - 1), judged(pool, first + 5, without=first - 1)):
        with pytest.raises(UsageError, match=f"the first {first}, .* So far, {first - 1} pairs are judged"):
            ll.compare(given, RUNS, "P@10", pool=pool)
        results = ll.evaluate(given, RUNS, "P@10", pool=pool)
        assert np.isfinite(results.means).all()
        with pytest.raises(UsageError, match="4 looks"):
            ll.compare(results)


def test_a_pool_too_small_for_several_looks_has_one_at_the_end() -> None:
    small = pool_for(RUNS, "P@10", total=60, pair=("old", "new"), looks=LOOKS)
    size = small.pairs
    assert looks_of(small.pool) == [size]
    assert size > 50
    assert any(f"verdict, after {size} judgments" in line for line in small.forecast())
    with pytest.raises(UsageError, match="no verdict yet"):
        ll.compare(judged(small.pool, size - 1), RUNS, "P@10", pool=small)
    found = ll.compare(judged(small.pool, size), RUNS, "P@10", pool=small)
    assert found.rules.confidence == 0.95


def test_enlarging_a_pool_with_looks_is_told_to_raise_the_error_rate(pool: DrawnPool) -> None:
    for earlier, told in ((pool, True), (without_looks(pool), False)):
        larger = pool_for(RUNS, "P@10", budget=9, earlier=earlier)
        assert ("earlier_looks" in [one.code for one in larger.warnings]) is told


def test_looks_are_written_with_the_pool_and_change_no_draw(pool: DrawnPool, tmp_path: object) -> None:
    path = f"{tmp_path}/pool.tsv"
    write_drawn_pool(pool, path, [])
    assert read_drawn_pool(path).design["looks"] == LOOKS
    other = pool_for(RUNS, "P@10", budget=8).pool
    assert "looks" not in other.design
    assert (other.drawn == pool.drawn).all()
    assert (other.probability == pool.probability).all()


def test_looks_divide_the_new_judgments_of_a_pool_with_existing_ones() -> None:
    known = {query: dict(list(documents.items())[:20]) for query, documents in GRADES.items()}
    pool = pool_for(RUNS, "P@10", budget=8, looks=LOOKS, judged=known).pool
    first, *others = looks_of(pool)
    assert len(others) == LOOKS - 1
    assert first >= int(pool.judged_before.sum()) + 50
    new = {
        query: {one: grade for one, grade in documents.items() if one not in known[query]}
        for query, documents in GRADES.items()
    }
    with pytest.raises(UsageError, match="Merge the judgments from before the draw"):
        ll.compare(new, RUNS, "P@10", pool=pool)
    with pytest.raises(UsageError, match="no verdict yet"):
        ll.compare(judged(pool, first - 1), RUNS, "P@10", pool=pool)
    assert np.isfinite(ll.compare(judged(pool, first), RUNS, "P@10", pool=pool).pairs[0].p)


def test_under_the_null_any_look_decides_in_at_most_alpha_of_the_cases() -> None:
    decided = 0
    trials = 60
    for seed in range(trials):
        rng = random.Random(seed)
        runs = {
            name: {query: {one: rng.gauss(0, 1) for one in documents} for query, documents in GRADES.items()}
            for name in ("a", "b")
        }
        pool = pool_for(runs, "P@5", budget=6, looks=3, seed=seed).pool
        places = places_of_looks(int(pool.drawn.sum()), 3)
        decided += any(
            ll.compare(judged(pool, place), runs, "P@5", pool=pool).pairs[0].p < 0.05 / 3 for place in places
        )
    assert decided <= 8  # 3 expected at most, and 8 or fewer in .996 of such tests
