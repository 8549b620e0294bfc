"""Labels that saw the judgments are found: worked by hand, against loops, and on labels of real machines."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.data.arrays import Flags, Floats, Integers
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.guesses import label_tests
from leadline.estimation.pool_designs import pool_for
from leadline.io.objects import read_qrels

HALF = np.full(4, 0.5)
DRAWN = np.array([True, True, False, False])
NO_CELL = np.zeros(4, dtype=np.int64)


def test_the_mean_label_worked_by_hand() -> None:
    # The gaps from the mean 1/2 are 1/2, 1/2, -1/2, -1/2, and I/p - 1 is 1, 1, -1, -1: 4 x 1/2 = 2.
    # The variance is the sum of (1 - p)/p x gap^2 = 4 x 1/4 = 1.
    labels = np.array([1.0, 1.0, 0.0, 0.0])
    tests = label_tests(labels, NO_CELL, HALF, DRAWN, NO_CELL, 0)
    assert tests.z == pytest.approx(2)
    assert (tests.cells, tests.p, tests.failed) == (0, 1.0, False)  # variance 1 is too small for a cell


def test_the_cells_worked_by_hand() -> None:
    # 16 pairs with p = 1/2 in one cell, all drawn: T = 8, its variance 4, T^2 / 4 = 16.
    one = np.ones(16)
    tests = label_tests(one, one.astype(np.int64), one / 2, one > 0, one.astype(np.int64), 0)
    assert (tests.statistic, tests.cells, tests.z) == (16.0, 1, 0.0)
    assert tests.failed


def test_pairs_that_are_certain_or_outside_the_frame_do_not_matter() -> None:
    labels = np.array([1.0, 1.0, 0.0, 0.0])
    for p in (0.0, 1.0):
        more = label_tests(
            np.append(labels, 9.0),
            np.append(NO_CELL, 9),
            np.append(HALF, p),
            np.append(DRAWN, True),
            np.append(NO_CELL, 1),
            0,
        )
        assert more == label_tests(labels, NO_CELL, HALF, DRAWN, NO_CELL, 0)


def by_loops(
    labels: Floats, cell: Integers, probability: Floats, drawn: Flags, best: Integers
) -> tuple[float, float]:
    """Return z and the statistic."""
    rows = [row for row, p in enumerate(probability) if 0 < p < 1]
    known = [row for row in rows if not math.isnan(labels[row])]
    gap = variance = 0.0
    for row in known:
        p, off = probability[row], labels[row] - sum(labels[known]) / len(known)
        gap += ((1 / p if drawn[row] else 0) - 1) * off
        variance += (1 - p) / p * off**2
    sums: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        depth = 0 if best[row] <= 3 else 1 if best[row] <= 6 else 2 if best[row] <= 10 else 3
        entry = sums.setdefault((int(cell[row]), depth), [0.0, 0.0])
        entry[0] += float(drawn[row]) - probability[row]
        entry[1] += probability[row] * (1 - probability[row])
    found = sum(excess**2 / spread for excess, spread in sums.values() if spread >= 3)
    return gap / math.sqrt(variance) if variance > 1e-12 else 0.0, found


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
def test_both_tests_equal_loops(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.choice([0.0, 1.0, 2.0, np.nan], size)
    probability = rng.choice([0.0, 0.1, 0.4, 0.7, 1.0], size)
    best = rng.integers(1, 20, size)
    drawn = rng.random(size) < probability
    cell = np.where(np.isnan(labels), 0, np.nan_to_num(labels) + 1).astype(np.int64)
    tests = label_tests(labels, cell, probability, drawn, best, 0)
    z, statistic = by_loops(labels, cell, probability, drawn, best)
    assert tests.z == pytest.approx(z, abs=1e-9)
    assert tests.statistic == pytest.approx(statistic)
    assert tests == label_tests(labels, cell, probability, drawn, best, 0)


def test_labels_of_six_machines_with_and_without_the_judgments(shared_data: Path) -> None:
    place = shared_data / "trec-dl-2019-passage"
    official = read_qrels(str(place / "qrels.txt")).to_dict()
    runs = [str(path) for path in sorted((place / "runs").iterdir())][::6]
    pool = pool_for(runs, "P@10", budget=12).pool
    pairs = list(zip(pool.queries, pool.documents, strict=True))
    best = np.array([min(ranks.values()) for ranks in pool.contributors])
    grades = np.array([official[query].get(document, 0) for query, document in pairs], dtype=np.float64)
    rng = np.random.default_rng(1)
    found = {0.0: 0, 0.9: 0, 1.0: 0}
    files = sorted((shared_data / "trec-dl-2019-machine-labels").glob("*.qrels"))
    for path in files:
        by_query = read_qrels(str(path)).to_dict()
        labels = np.array([by_query[query].get(document, np.nan) for query, document in pairs])
        for draw in range(10):
            drawn = rng.random(len(pairs)) < pool.probability
            for share in found:
                copied = drawn & (rng.random(len(pairs)) < share)
                mixed = np.where(copied, grades, labels)
                cell = np.where(np.isnan(mixed), 0, np.nan_to_num(mixed) + 1).astype(np.int64)
                found[share] += label_tests(mixed, cell, pool.probability, drawn, best, draw).failed
    assert len(files) == 6
    assert found == {0.0: 0, 0.9: 60, 1.0: 60}


def _collection() -> tuple[
    dict[str, dict[str, int]], dict[str, dict[str, int]], dict[str, dict[str, list[str]]]
]:
    """Return grades, labels of a lenient machine, and runs."""
    rng = np.random.default_rng(3)
    queries, documents = [f"q{number}" for number in range(40)], [f"d{number}" for number in range(60)]
    grades = {query: {one: int(rng.random() < 0.3) for one in documents} for query in queries}
    labels = {
        query: {one: int(rng.random() < (0.9 if grade else 0.5)) for one, grade in row.items()}
        for query, row in grades.items()
    }
    runs = {
        name: {query: [f"d{one}" for one in rng.permutation(60)[:20]] for query in queries}
        for name in ("a", "b", "c")
    }
    return grades, labels, runs


def test_labels_overwritten_by_the_judgments_are_not_used() -> None:
    grades, labels, runs = _collection()
    pool = pool_for(runs, "P@10", budget=8).pool
    judged: dict[str, dict[str, int]] = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn, strict=True):
        if drawn:
            judged.setdefault(query, {})[document] = grades[query][document]
    merged = {query: row | judged.get(query, {}) for query, row in labels.items()}

    def estimated(**options: object) -> EstimatedResults:
        return estimate(judged, runs, "P@10", pool=pool, **options)  # type: ignore[arg-type]

    honest, cheated, without = (
        estimated(machine=labels),
        estimated(machine=merged),
        estimated(proxy="centered"),
    )
    assert honest.proxy == "machine"
    assert not {notice.code for notice in honest.warnings} & {
        "labels_depend_on_draw",
        "labels_equal_judgments",
    }
    codes = [notice.code for notice in cheated.warnings]
    assert codes[:2] == ["labels_depend_on_draw", "labels_equal_judgments"]
    assert cheated.proxy == "centered"
    np.testing.assert_array_equal(cheated.values, without.values)
    for name in runs:
        assert cheated.estimate(name, "P@10") == without.estimate(name, "P@10")
