"""Pairs with different grades by two judges count by the mean of what each grade would give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import leadline as ll
from leadline.data.judgment_tables import DrawnPool
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.pool_designs import pool_for
from leadline.io.objects import Qrels

Grades = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def runs() -> dict[str, Grades]:
    rng = np.random.default_rng(5)
    return {
        name: {
            f"q{query}": {f"d{document}": -place for place, document in enumerate(rng.permutation(20)[:12])}
            for query in range(12)
        }
        for name in "ab"
    }


@pytest.fixture(scope="module")
def pool(runs: dict[str, Grades]) -> DrawnPool:
    return pool_for(runs, "P@10", budget=8, seed=1).pool


def judged(pool: DrawnPool) -> Grades:
    rng = np.random.default_rng(6)
    found: Grades = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            found.setdefault(query, {})[document] = float(rng.integers(0, 3))
    return found


def split_pairs(grades: Grades, count: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Unlike grades of some pairs, which differ in whether they are relevant."""
    pairs = [(query, document) for query, one in grades.items() for document in one]
    return dict(zip(pairs[:: len(pairs) // count][:count], itertools.cycle([(0, 2), (1, 0), (0, 1)])))


def estimated(
    grades: Grades, votes: dict[tuple[str, str], tuple[int, int]], *given: object
) -> EstimatedResults:
    table = Qrels(grades)
    by_query: dict[str, dict[str, tuple[int, int]]] = {}
    for (query, document), split in votes.items():
        by_query.setdefault(query, {})[document] = split
    table.votes = by_query
    runs, measure, pool, proxy = given
    return estimate(table, runs, measure, pool=pool, proxy=proxy)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("measure", "proxy", "count"),
    [
        ("P@10", None, 4),
        ("DCG@10", None, 4),
        ("RBP(p=0.8)", "votes", 4),
        ("RR", "none", 1),
        ("ERR", "none", 1),
    ],
)
def test_the_estimate_is_the_mean_over_all_choices_of_a_judge_for_each_pair(
    runs: dict[str, Grades], pool: DrawnPool, measure: str, proxy: str | None, count: int
) -> None:
    grades = judged(pool)
    votes = split_pairs(grades, count)
    found = estimated(grades, votes, runs, measure, pool, proxy)
    choices = []
    for chosen in itertools.product(*votes.values()):
        one = {query: dict(documents) for query, documents in grades.items()}
        for (query, document), grade in zip(votes, chosen, strict=True):
            one[query][document] = float(grade)
        choices.append(estimated(one, {}, runs, measure, pool, proxy).values)
    assert len(choices) == 2**count
    np.testing.assert_allclose(found.values, np.mean(choices, axis=0), atol=1e-12)
    assert np.nanmax(np.ptp(choices, axis=0)) > 0.01


def test_ndcg_takes_the_mean_grade(runs: dict[str, Grades], pool: DrawnPool) -> None:
    grades = judged(pool)
    votes = split_pairs(grades, 4)
    mean = {query: dict(documents) for query, documents in grades.items()}
    for (query, document), given in votes.items():
        mean[query][document] = sum(given) / 2
    found = estimated(grades, votes, runs, "nDCG@10", pool, None)
    assert found.values.tolist() == estimated(mean, {}, runs, "nDCG@10", pool, None).values.tolist()


def test_like_grades_change_nothing_and_pairs_outside_the_pool_are_left_out(
    runs: dict[str, Grades], pool: DrawnPool
) -> None:
    grades = judged(pool)
    plain = ll.evaluate(grades, runs, "P@10", pool=pool)
    found = estimated(grades, {("q0", "nowhere"): (0, 1)}, runs, "P@10", pool, None)
    assert found.values.tolist() == plain.values.tolist()
