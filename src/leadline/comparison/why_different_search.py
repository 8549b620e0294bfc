"""Search for the conventions that reproduce two columns of values of a measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from leadline.comparison.why_different_conventions import ABSENT, CAUSES, Conventions, Setting
from leadline.data.arrays import Flags, Floats

SINGLE = 1e-6  # relative difference of values computed with 32-bit floats
MOST_COMBINATIONS = 400  # of two settings of different causes
TWICE_ROUNDED = 1.1  # half units of a value that was rounded to one more decimal before, as gdeval's
DIGITS = range(3, 8)  # numbers of decimals that are recognised as rounding


class Cause(NamedTuple):
    """A cause, and the settings under which both tables are reproduced.

    Attributes
    ----------
    cause : str
        Name: a key of `CAUSES`, or rounding, arithmetic or scale.
    says : str
        Description.
    a, b : str
        Setting that reproduces the values of A, and of B.
    a_says, b_says : str
        Their descriptions.
    common : str
        Setting of another cause that both tables share and that is not the default; empty if there is none.
    explained : tuple of str
        Differing queries of which both values are reproduced.
    contradicted : int
        Number of equal queries of which a value is not reproduced.
    exact : bool
        False if values of one table are only shown to lie within the range over all orders of tied documents.
    """

    cause: str
    says: str
    a: str
    b: str
    a_says: str
    b_says: str
    common: str
    explained: tuple[str, ...]
    contradicted: int
    exact: bool = True


class CausePair(NamedTuple):
    """Two causes that together reproduce the values of more queries than either alone.

    Attributes
    ----------
    causes : tuple of Cause
        The two causes.
    explained : tuple of str
        Queries of which both values are reproduced.
    contradicted : int
        Number of queries that the two causes would change although they agree.
    """

    causes: tuple[Cause, Cause]
    explained: tuple[str, ...]
    contradicted: int


def decimals_of(values: Sequence[float]) -> int | None:
    """Return the number of decimals to which values are rounded; None if they are in full precision.

    >>> decimals_of([0.3333, 0.25]), decimals_of([1 / 3, 0.25])
    (4, None)
    """
    given = np.array([value for value in values if math.isfinite(value)])
    for digits in DIGITS:
        scaled = given * 10.0**digits
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)):
            return digits
    return None


def tolerance(values: Floats) -> float:
    """Return half a unit of the last decimal to which values are rounded; 0 in full precision."""
    digits = decimals_of(values.tolist())
    return 0.0 if digits is None else 0.5 * 10.0**-digits


class Search:
    """The search for the conventions that reproduce two columns of values."""

    def __init__(
        self, conventions: Conventions, asked: Sequence[str], columns: Sequence[Floats], different: Flags
    ) -> None:
        self.conventions = conventions
        self.asked = np.array(asked)
        self.columns = columns
        self.different = different
        self.near = [max(tolerance(column) * TWICE_ROUNDED, SINGLE) for column in columns]
        self.names = list(conventions.settings)
        self.tables: list[tuple[dict[str, str], Floats]] = []
        self.changes: list[dict[str, str]] = [{}]
        for cause, settings in conventions.settings.items():
            self.changes += [{cause: each.name} for each in settings[1:] if cause not in ABSENT]
        self.absent = [cause for cause in ABSENT if self._matters(cause)]

    def _matters(self, cause: str) -> bool:
        """Return whether a treatment of absent values changes one, under any other single setting."""
        for setting in self.conventions.settings.get(cause, ())[1:]:
            for changed in self.changes:
                values = self.conventions.values(changed)
                other = self.conventions.values(changed | {cause: setting.name})
                if not np.array_equal(values, other, equal_nan=True):
                    return True
        return False

    def _add(self, changed: dict[str, str]) -> None:
        """Add the values under some conventions, with every treatment of absent values that matters."""
        for chosen in product(*(self.conventions.settings[cause] for cause in self.absent)):
            absent = {
                each.cause: each.name for each in chosen if each.name != self.conventions.base(each.cause)
            }
            self.tables.append((changed | absent, self.conventions.values(changed | absent)))

    def found(self) -> tuple[list[Cause], CausePair | None, int]:
        """Return the causes, the best pair if one is not enough, and the number of combinations tried."""
        if not self.different.any():
            return [], None, 0
        for changed in self.changes:
            self._add(changed)
        causes = self._single()
        pair = None
        total = int(self.different.sum())
        if not causes or len(causes[0].explained) < total or causes[0].contradicted:
            self._combine()
            causes = self._single()
            pair = self._pair(len(causes[0].explained) if causes else 0)
        return causes, pair, len(self.tables)

    def _combine(self) -> None:
        """Add combinations of two settings that each change a value."""
        base = self.tables[0][1]
        values = {frozenset(changed.items()): found for changed, found in self.tables}
        active = [
            changed
            for changed in self.changes
            if not np.allclose(values[frozenset(changed.items())], base, rtol=0, atol=1e-12, equal_nan=True)
        ]
        pairs = [one | two for one, two in combinations(active, 2) if set(one) != set(two)]
        for changed in pairs[:MOST_COMBINATIONS]:
            self._add(changed)

    def _matches(self) -> tuple[Floats, Floats, Floats]:
        """Return, of all pairs of tables, the number of queries explained and of equal ones contradicted."""
        values = np.stack([found for _, found in self.tables])
        hits = [self._match(values, side).astype(np.float32) for side in (0, 1)]
        chosen, equal = self.different, ~self.different
        explained = hits[0][:, chosen] @ hits[1][:, chosen].T
        agreed = hits[0][:, equal] @ hits[1][:, equal].T
        numbers = np.array(
            [[self._number(cause, changed.get(cause)) for cause in self.names] for changed, _ in self.tables]
        ).reshape(len(self.tables), -1)
        distance = np.zeros(explained.shape)
        for column in numbers.T:
            distance += column[:, None] != column
        return explained.astype(np.float64), equal.sum() - agreed.astype(np.float64), distance

    def _match(self, values: Floats, side: int) -> Flags:
        column = self.columns[side]
        with np.errstate(invalid="ignore"):
            near = np.abs(values - column) <= self.near[side] + SINGLE * np.abs(column)
        matched: Flags = near | (np.isnan(values) & np.isnan(column))
        return matched

    def _number(self, cause: str, name: str | None) -> int:
        settings = self.conventions.settings[cause]
        return next((place for place, setting in enumerate(settings) if setting.name == name), 0)

    def _single(self) -> list[Cause]:
        """Return the best settings of every cause, those that explain most queries first."""
        explained, contradicted, distance = self._matches()
        sizes = np.array([len(changed) for changed, _ in self.tables])
        total = sizes[:, None] + sizes
        found = []
        for cause in self.names:
            alone = (distance == 1) & self._differs(cause)
            best = self._best(explained, contradicted, total, alone)
            if best is not None:
                found.append(self._cause(cause, *best))
        ranged = self._ranged()
        if ranged is not None:
            known = [cause for cause in found if cause.cause == "ties"]
            if not known or len(known[0].explained) < len(ranged.explained):
                found = [cause for cause in found if cause.cause != "ties"] + [ranged]
        order = list(CAUSES)
        return sorted(
            found,
            key=lambda cause: (
                -len(cause.explained),
                cause.contradicted,
                not cause.exact,
                bool(cause.common),
                order.index(cause.cause),
            ),
        )

    def _differs(self, cause: str) -> Flags:
        numbers = np.array([self._number(cause, changed.get(cause)) for changed, _ in self.tables])
        return np.asarray(numbers[:, None] != numbers)

    def _best(
        self, explained: Floats, contradicted: Floats, total: Floats, allowed: Flags
    ) -> tuple[int, int] | None:
        """Return the tables that explain most queries, then contradict fewest, then are simplest."""
        usable = allowed & (explained > 0)
        if not usable.any():
            return None
        rows, columns = np.nonzero(usable)
        keys = (total[usable], contradicted[usable], -explained[usable])
        place = np.lexsort(keys)[0]
        return int(rows[place]), int(columns[place])

    def _setting(self, cause: str, changed: Mapping[str, str]) -> Setting:
        settings = self.conventions.settings[cause]
        return settings[self._number(cause, changed.get(cause))]

    def _explained(self, first: int, second: int) -> tuple[tuple[str, ...], int]:
        hits = self._match(self.tables[first][1], 0) & self._match(self.tables[second][1], 1)
        return tuple(self.asked[hits & self.different].tolist()), int((~hits & ~self.different).sum())

    def _cause(self, cause: str, first: int, second: int) -> Cause:
        changed, other = self.tables[first][0], self.tables[second][0]
        shared = [self._setting(name, changed) for name in changed if name != cause]
        a, b = (self._setting(cause, each) for each in (changed, other))
        common = ", ".join(f"{CAUSES[each.cause]}: {each.says}" for each in shared)
        explained, contradicted = self._explained(first, second)
        return Cause(cause, CAUSES[cause], a.name, b.name, a.says, b.says, common, explained, contradicted)

    def _ranged(self) -> Cause | None:
        """Return the cause that one table has ties in some order, if its values are in their range."""
        limits = self.conventions.over_ties({})
        if limits is None:
            return None
        low, high = limits
        base, found = self.tables[0][1], []
        for side in (0, 1):
            column, near = self.columns[side], self.near[side]
            with np.errstate(invalid="ignore"):
                inside = (column >= low - near) & (column <= high + near)
                tied = high > low + near
            known = self._match(base, 1 - side)
            hits = inside & known
            found.append((hits & tied & self.different, int((~hits & ~self.different).sum())))
        side = int(found[1][0].sum() >= found[0][0].sum())
        hits, contradicted = found[side]
        if not hits.any():
            return None
        own = self.conventions.settings["ties"][0]
        says = ["", ""]
        names = ["", ""]
        says[side], names[side] = "in another order: within the range over all orders", "another_order"
        says[1 - side], names[1 - side] = own.says, own.name
        return Cause(
            "ties",
            CAUSES["ties"],
            names[0],
            names[1],
            says[0],
            says[1],
            "",
            tuple(self.asked[hits].tolist()),
            contradicted,
            exact=False,
        )

    def _pair(self, alone: int) -> CausePair | None:
        """Return the best pair of causes if it explains more queries than the best single cause."""
        explained, contradicted, distance = self._matches()
        sizes = np.array([len(changed) for changed, _ in self.tables])
        best = self._best(explained, contradicted, sizes[:, None] + sizes, distance == 2)
        if best is None or explained[best] <= alone:
            return None
        first, second = best
        changed, other = self.tables[first][0], self.tables[second][0]
        names = [
            name
            for name in self.names
            if self._number(name, changed.get(name)) != self._number(name, other.get(name))
        ]
        hits, wrong = self._explained(first, second)
        one, two = (
            self._cause(name, first, second)._replace(common="", explained=hits, contradicted=wrong)
            for name in names
        )
        return CausePair((one, two), hits, wrong)
