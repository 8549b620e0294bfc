"""Draws in blocks."""

from __future__ import annotations

import numpy as np
import pytest
from samples import holed, smooth

from leadline.stats.moments import COLUMNS, each_block, signs, supports, weights


@pytest.mark.parametrize("threads", [1, 2, 4, None])
def test_blocks_come_in_order_and_their_sizes_sum_to_the_draws(
    threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: threads)
    found = list(each_block(1000, 3, lambda _, size: size, block=300))
    assert found == [300, 300, 300, 100]


def test_each_block_has_a_generator_of_its_own() -> None:
    first = list(each_block(10, 3, lambda generator, _: float(generator.random()), block=2))
    assert len(set(first)) == 5
    assert first == [float(np.random.default_rng([3, place]).random()) for place in range(5)]


@pytest.mark.parametrize("queries", [1, 7, 8, 9, 50])
def test_signs_are_plus_and_minus_one_equally_often_and_independent(queries: int) -> None:
    drawn = signs(np.random.default_rng(0), 20_000, queries)
    assert drawn.shape == (20_000, queries)
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    together = drawn.T @ drawn / 20_000 - np.eye(queries)
    assert np.abs(drawn.mean(axis=0)).max() < 0.04
    assert np.abs(together).max() < 0.04


@pytest.mark.parametrize("queries", [1, 2, 30])
def test_weights_say_how_often_each_query_is_drawn(queries: int) -> None:
    drawn = weights(np.random.default_rng(0), 20_000, queries)
    assert drawn.shape == (20_000, queries)
    assert (drawn.sum(axis=1) == queries).all()
    np.testing.assert_allclose(drawn.mean(axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose(drawn.var(axis=0), 1 - 1 / queries, atol=0.08)
    chosen = np.random.default_rng(0).integers(0, queries, size=(20_000, queries))
    assert drawn[17].tolist() == np.bincount(chosen[17], minlength=queries).tolist()


def test_every_column_comes_once_with_its_own_queries() -> None:
    values = holed(smooth(4, 40))
    values[:, 0] = np.nan
    seen: list[int] = []
    for columns, rows in supports(values):
        known = values[np.ix_(rows, columns)]
        seen += columns.tolist()
        for place, column in enumerate(columns):
            whole = values[:, column]
            assert known[:, place].tolist() == whole[~np.isnan(whole)].tolist()
    assert sorted(seen) == list(range(40))


def test_many_columns_come_in_parts() -> None:
    values = np.zeros((2, 2 * COLUMNS + 1))
    parts = [columns for columns, _ in supports(values)]
    assert [len(part) for part in parts] == [COLUMNS, COLUMNS, 1]
    assert np.concatenate(parts).tolist() == list(range(2 * COLUMNS + 1))
