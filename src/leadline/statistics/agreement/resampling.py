"""Coefficients of pairs of judges and of all judges, whole, by group, and with groups drawn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.statistics._draws import each_block, weights
from leadline.statistics.agreement import Coefficient
from leadline.statistics.agreement.tables import coincidences, confusions

TOGETHER = 32  # pairs of judges handled at once, so that draws x tables fit the memory
CELLS = 4_000_000  # numbers that a block of draws may take


class Groups(NamedTuple):
    """What is drawn again: the group of every unit, and how many groups there are."""

    of_unit: Integers
    number: int


def both_ways(coefficient: Coefficient, tables: Floats) -> Floats:
    """Give confusion tables as the coefficient wants them: as coincidences for one of many judges."""
    return tables + np.swapaxes(tables, -1, -2) if coefficient.many else tables


class Between:
    """The confusion tables of some pairs of judges."""

    def __init__(
        self, codes: Integers, values: Floats, pairs: Sequence[tuple[int, int]], whole: Groups
    ) -> None:
        self.codes = codes
        self.values = values
        self.pairs = list(pairs)
        self.groups = whole

    def tables(self, pairs: Sequence[tuple[int, int]], groups: Groups | None = None) -> Floats:
        """Give pairs x groups x grades x grades; one group without groups."""
        of_unit, number = (None, 1) if groups is None else groups
        size = len(self.values)
        return np.stack(
            [
                confusions(self.codes[:, a], self.codes[:, b], size, of_unit, number)
                for a, b in pairs
            ]
        )

    def values_of(self, coefficient: Coefficient, groups: Groups | None = None) -> Floats:
        """Give a coefficient of every pair of judges: pairs x groups."""
        tables = self.tables(self.pairs, groups)
        return coefficient.of_tables(both_ways(coefficient, tables), self.values)

    def drawn(self, coefficients: Sequence[Coefficient], draws: int, seed: int) -> Floats:
        """Give coefficients x draws x pairs, the groups drawn again in every draw."""
        found = np.full((len(coefficients), draws, len(self.pairs)), np.nan)
        for start in range(0, len(self.pairs) if draws else 0, TOGETHER):
            part = self.pairs[start : start + TOGETHER]
            tables = self.tables(part, self.groups)
            flat = np.swapaxes(tables, 0, 1).reshape(self.groups.number, -1)

            def measured(
                again: Floats, shape: tuple[int, ...] = (-1, len(part), *tables.shape[2:])
            ) -> Floats:
                each = again.reshape(shape)
                return np.stack(
                    [one.of_tables(both_ways(one, each), self.values) for one in coefficients]
                )

            found[:, :, start : start + TOGETHER] = _in_blocks(flat, measured, draws, seed)
        return found


def drawn_of_all(
    codes: Integers, values: Floats, coefficient: Coefficient, groups: Groups, draws: int, seed: int
) -> Floats:
    """Give a coefficient of all judges for every draw, the groups drawn again in each."""
    size = len(values)
    flat = coincidences(codes, size, groups.of_unit, groups.number).reshape(groups.number, -1)

    def measured(again: Floats) -> Floats:
        return coefficient.of_tables(again.reshape(-1, size, size), values)[None]

    return _in_blocks(flat, measured, draws, seed)[0] if draws else np.empty(0)


def _in_blocks(flat: Floats, measured: Callable[[Floats], Floats], draws: int, seed: int) -> Floats:
    """Measure sums of groups (rows) drawn with replacement, some draws at a time."""
    groups, cells = flat.shape
    size = max(1, min(256, CELLS // max(groups, cells, 1)))

    def one(dice: np.random.Generator, count: int) -> Floats:
        return measured(weights(dice, count, groups) @ flat)

    return np.concatenate(list(each_block(draws, seed, one, block=size)), axis=1)
