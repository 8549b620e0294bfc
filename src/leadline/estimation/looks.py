"""Looks of a drawn pool: the numbers of judgments after which a verdict may be asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.estimation.designs import at_scale, random_numbers_of
from leadline.estimation.withheld import FEWEST_JUDGMENTS
from leadline.io.pool_files import DrawnPool


class Look(NamedTuple):
    """One of the looks of a pool: `number` of `looks`, after `pairs` of the `drawn` pairs in order.

    The number is 0 if all judgments were taken, whichever look they reach.
    """

    number: int
    looks: int
    pairs: int
    drawn: int

    @property
    def message(self) -> str:
        """Return a note on the look and the level of its verdict."""
        where = f"look {self.number} of {self.looks}, after {self.pairs:,} of {self.drawn:,} judgments"
        return f"{where}; a verdict at each look needs alpha / {self.looks} (Bonferroni)"


def places_of_looks(pairs: int, looks: int, judged: int = 0) -> list[int]:
    """Return the numbers of judgments of the looks, at equal steps of the pool.

    Those with fewer than 50 judgments, or with no more than `judged`, are left out.

    >>> places_of_looks(200, 5)
    [80, 120, 160, 200]
    """
    positions = {math.ceil(pairs * number / looks) for number in range(1, looks + 1)}
    return sorted(position for position in positions if position >= FEWEST_JUDGMENTS and position > judged)


def in_order(pool: DrawnPool) -> Integers:
    """Return the rows of the drawn pairs in the order in which they are judged."""
    rows = np.flatnonzero(pool.drawn)
    return rows[np.argsort(pool.order[rows], kind="stable")]


def probabilities_after(pool: DrawnPool, end: float, numbers: Floats | None = None) -> Floats:
    """Return the inclusion probabilities of the smaller draw of the pairs with an order below `end`."""
    if numbers is None:
        pairs = list(zip(pool.queries, pool.documents, strict=True))
        numbers = random_numbers_of(pairs, int(pool.design["seed"]))
    return at_scale(pool.probability, pool.order, numbers, end)


def first_pairs(pool: DrawnPool, count: int, numbers: Floats | None = None) -> DrawnPool:
    """Return the smaller draw of the first pairs in order; `numbers` are the random numbers of the pairs."""
    rows = in_order(pool)
    if count >= len(rows):
        return pool
    end = float(pool.order[rows[count]])
    return replace(
        pool, probability=probabilities_after(pool, end, numbers), drawn=pool.drawn & (pool.order < end)
    )


def at_look(pool: DrawnPool, grades: Mapping[str, Mapping[str, float]]) -> tuple[DrawnPool, Look | None]:
    """Return the part of a pool that was judged up to its last look, and that look.

    The pool itself and None if the only look is the end.

    Raises
    ------
    UsageError
        If fewer pairs were judged than the first look needs.
    """
    rows = in_order(pool).tolist()
    places = places_of_looks(len(rows), int(pool.design.get("looks", 1)))
    if len(places) < 2:
        return pool, None
    judged = (grades.get(pool.queries[row], {}).get(pool.documents[row], -1) >= 0 for row in rows)
    front = next((place for place, one in enumerate(judged) if not one), len(rows))
    reached = sum(place <= front for place in places)
    if not reached:
        raise UsageError(
            f"There is no verdict yet: {front:,} documents are judged in the order of the pool, and its "
            f"looks are after {', '.join(f'{place:,}' for place in places)}. `leadline evaluate` "
            "shows the values so far."
        )
    look = Look(reached, len(places), places[reached - 1], len(rows))
    return first_pairs(pool, look.pairs), look
