"""Pools of ranked lists that are given as lists of document ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.estimation.system_lists import RankedPool, number_teams


def pool_of(
    lists: Sequence[Sequence[str]],
    *,
    teams: Sequence[object] = (),
    vectors: dict[str, list[float]] | None = None,
) -> RankedPool:
    """Create the pool of one query from the ranked lists of all systems."""
    names = sorted({name for ranked in lists for name in ranked}, key=str.encode)
    numbers = {name: number for number, name in enumerate(names)}
    theta = row = None
    if vectors is not None:
        rows = {name: index for index, name in enumerate(vectors)}
        theta = np.array(list(vectors.values()), dtype=np.float64)
        row = np.array([rows.get(name, -1) for name in names], dtype=np.int32)
    return RankedPool(
        np.repeat(np.arange(len(lists)), [len(ranked) for ranked in lists]).astype(np.int32),
        np.array([rank for ranked in lists for rank in range(1, len(ranked) + 1)], dtype=np.int32),
        np.array([numbers[name] for ranked in lists for name in ranked], dtype=np.int32),
        len(names),
        number_teams(list(teams) or range(len(lists))),
        theta=theta,
        row=row,
    )
