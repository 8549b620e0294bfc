"""Values by query from the files of any program, and the search for conventions that reproduce them."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from leadline.comparison.why_different_conventions import ABSENT, CAUSES, Conventions, Setting
from leadline.data.arrays import Flags, Floats
from leadline.data.wording import first_few
from leadline.errors import InputError, UsageError, either, repeated
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results
from leadline.io.read_paths import path_of
from leadline.io.result_files import damaged_result
from leadline.io.saved_results import Saved
from leadline.io.score_cells import Choices
from leadline.io.score_tables import open_scores
from leadline.io.small_tables import split_place
from leadline.measures import Measure

ALL = frozenset({"all", "ALL", "mean", "amean", ""})  # names of the mean over queries
UNNAMED = "?"  # the run of a table without names of runs
VALUES = "Pass per-query values or means of a measure"
Queries = dict[str, float]


class Side(NamedTuple):
    """Values of one measure of a run in a table; NaN is undefined, also for a mean that is not given."""

    path: str
    run: str
    measure: str
    values: Queries
    mean: float


def measure_of(name: str) -> Measure | None:
    """Return the measure that a name of any program denotes; None if it denotes none or several.

    >>> measure_of("ndcg_cut_10"), measure_of("NDCG@10"), measure_of("map"), measure_of("latency")
    (nDCG@10, nDCG@10, AP, None)
    """
    for text in (name, name.rpartition("-l")[0]):
        for profile in ("leadline", "trec10"):
            try:
                found = profile_of(profile).measures([text]) if text else []
            except UsageError:
                continue
            if len(found) == 1:
                return found[0]
    return None


def read_table(source: Any, asked: Collection[str] = ()) -> list[Side]:
    """Return the columns of a table of scores, of results, or of dictionaries.

    >>> read_table({"q1": {"map": 0.5}, "q2": {"map": 1.0}, "all": {"map": 0.75}})
    [Side(path='', run='', measure='map', values={'q1': 0.5, 'q2': 1.0}, mean=0.75)]
    """
    if isinstance(source, Results):
        return _of_results(source.to_dict(per_query=True)["runs"], "results")
    path = path_of(source)
    opened = open_scores(source, name=UNNAMED)
    if isinstance(opened, Saved):
        return _of_results(opened.values.to_dict(per_query=True)["runs"], path)
    if isinstance(opened, dict):
        with damaged_result(path):
            return _of_results(opened["runs"], path)
    known = Choices(lambda name: measure_of(name) is not None, asked, "measures", means=True)
    table = opened.columns(known)
    sides = _Sides(table.path)
    cells = zip(table.places, table.runs, table.measures, table.queries, table.values, strict=True)
    for place, run, measure, query, value in cells:
        own = "" if run == UNNAMED else run
        if not sides.add(own, measure, value, None if query in ALL else query):
            raise repeated(f"query '{query}'", of=measure, path=table.path, line=place)
    return sides.columns()


def _of_results(runs: Iterable[Any], path: str) -> list[Side]:
    sides = _Sides(path)
    for run in runs:
        if not isinstance(run, dict) or not isinstance(run.get("name"), str):
            raise InputError(
                "a run has no name, or its name is not a string", path=path, hint="Give every run a name"
            )
        for query, row in ((None, run.get("mean")), *(run.get("queries") or {}).items()):
            for measure, value in (row or {}).items():
                sides.add(run["name"], measure, value, query)
    return sides.columns()


class _Sides:
    """The columns of a table as they are read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: dict[tuple[str, str], Side] = {}

    def add(self, run: str, measure: str, value: float | None, query: str | None) -> bool:
        """Add the value of a query, or without one the mean; return whether the query is a new one."""
        number = math.nan if value is None else float(value)
        side = self.found.setdefault((run, measure), Side(self.path, run, measure, {}, math.nan))
        if query is None:
            self.found[run, measure] = side._replace(mean=number)
            return True
        new = query not in side.values
        side.values[query] = number
        return new

    def columns(self) -> list[Side]:
        """Return the columns, at least one."""
        if not self.found:
            raise InputError("there are no values", path=self.path, hint=VALUES)
        return list(self.found.values())


def two_sides(
    a: Any, b: Any, *, measure: str | None = None, name: str | None = None
) -> tuple[Side, Side, list[str]]:
    """Return the values of one measure and one run in two tables, and the other measures in both."""
    chosen, tables = [], []
    for source in (a, b):
        place, said = (
            split_place(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else (source, "")
        )
        chosen.append(said)
        tables.append(read_table(place, [one for one in (said, measure) if one]))
    runs = [list(dict.fromkeys(side.run for side in table)) for table in tables]
    columns = [
        {side.measure: side for side in table if side.run == _run_of(table[0].path, own, name, other)}
        for table, own, other in zip(tables, runs, runs[::-1], strict=True)
    ]
    if measure or any(chosen):
        wanted = [said or measure or next(filter(None, chosen)) for said in chosen]
        named = zip("AB", columns, wanted, strict=True)
        keys = [{name: str(measure_of(name) or name) for name in column} for column in columns]
        shared = [name for name, key in keys[0].items() if key in keys[1].values()]
        first, second = (_named(table, column, one, shared) for table, column, one in named)
        return first, second, []
    pairs = _shared(*columns)
    return *pairs[0], [side.measure for side, other in pairs[1:] if side.values != other.values]


def _run_of(path: str, runs: list[str], name: str | None, others: list[str]) -> str:
    """Return the run of a table: the only one, the one asked for, or the only one that both tables have."""
    if len(runs) == 1 and (name is None or runs == [""] or name in runs + others):
        return runs[0]
    common = [run for run in runs if run in others]
    if name in runs or (name is None and len(common) == 1):
        return name or common[0]
    found = f"there is no run '{name}'"
    if name is None:
        found = f"there are {len(runs)} runs, but only one can be compared"
    hint = f"Set --config read.name to one of {first_few(common or runs, 10)}"
    if not common and min(len(runs), len(others)) > 1:  # no name is one of both tables
        hint = f"Use the same run name in both tables (the names in this one are {first_few(runs, 10)})"
    raise InputError(found, path=path, hint=hint)


def _shared(first: dict[str, Side], second: dict[str, Side]) -> list[tuple[Side, Side]]:
    """Return the columns of both tables that are of one measure; those that differ are first."""
    if len(first) == len(second) == 1:
        return list(zip(first.values(), second.values(), strict=True))
    known = {str(measure_of(name) or name): side for name, side in reversed(second.items())}
    pairs = [
        (side, known[key]) for name, side in first.items() if (key := str(measure_of(name) or name)) in known
    ]
    if not pairs:
        raise InputError(
            f"no measure in table B ({first_few(list(second), 8)}) is also in table A "
            f"({first_few(list(first), 8)})",
            path=next(iter(second.values())).path,
            hint="Choose one measure from each file with FILE:MEASURE, or give it the same name in both",
        )
    return sorted(pairs, key=lambda pair: pair[0].values == pair[1].values)


def _named(table: str, columns: dict[str, Side], wanted: str, shared: Sequence[str]) -> Side:
    """Return the column of a measure; a single column may have other parameters or an unknown name.

    An error names the measures that one name can choose from both tables (`shared`), or those of this table.
    """
    if wanted in columns:
        return columns[wanted]
    measure = measure_of(wanted)
    known = {name: measure_of(name) for name in columns}
    found = [name for name, one in known.items() if measure is not None and one == measure]
    if len(columns) == 1:
        found += [name for name, one in known.items() if None in (one, measure) or type(one) is type(measure)]
    if found:
        return columns[found[0]]
    each = "one from each file with FILE:MEASURE"
    same = f"or give it the same name in both (this one has {first_few(list(columns), 20)})"
    raise InputError(
        f"there is no measure '{wanted}' in table {table}",
        path=next(iter(columns.values())).path,
        hint=f"Use {either(shared[:20])}, or choose {each}" if shared else f"Choose {each}, {same}",
    )


SINGLE = 1e-6  # relative difference of values computed with 32-bit floats
MOST_COMBINATIONS = 400  # of two settings of different causes
TWICE_ROUNDED = 1.1  # half units of a value that was rounded to one more decimal before, as gdeval's
DIGITS = range(3, 8)  # numbers of decimals that are recognized as rounding


class Cause(NamedTuple):
    """A cause, a key of `CAUSES` or `NUMERIC`, and the settings `a` and `b` that reproduce both tables.

    `common` is a setting of another cause that both tables share and that is not the default. `explained` are
    the differing queries of which both values are reproduced, `contradicted` is the number of equal ones of
    which a value is not. `exact` is False if values of one table only lie within the range over all orders of
    tied documents.
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

    @property
    def net(self) -> int:
        """Number of queries explained less those contradicted."""
        return len(self.explained) - self.contradicted


def decimals_of(values: Floats) -> int | None:
    """Return the number of decimals to which values are rounded; None if they are in full precision.

    >>> decimals_of(np.array([0.3333, 0.25])), decimals_of(np.array([1 / 3, 0.25]))
    (4, None)
    """
    given = values[np.isfinite(values)]
    for digits in DIGITS:
        scaled = given * 10.0**digits
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)):
            return digits
    return None


def tolerance(values: Floats) -> float:
    """Return half a unit of the last decimal to which values are rounded; 0 in full precision."""
    digits = decimals_of(values)
    return 0.0 if digits is None else 0.5 * 10.0**-digits


Row: TypeAlias = tuple[int, ...]  # the number of the setting of every cause; 0 is the usual one
ANOTHER_ORDER = Setting("ties", "another_order", "in another order (value within the range over all orders)")


class Search:
    """The search for the conventions that reproduce two columns of values."""

    def __init__(
        self, conventions: Conventions, asked: Sequence[str], columns: Sequence[Floats], different: Flags
    ) -> None:
        self.conventions = conventions
        self.asked = np.array(asked)
        self.columns = columns
        self.different = different
        self.names = list(conventions.settings)
        self.settings = list(conventions.settings.values())
        # Lowest and highest values, which differ only for ties.
        self.limits: dict[Row, tuple[Floats, Floats]] = {}
        usual = (0,) * len(self.names)
        self.changes = [
            usual,
            *(
                _changed(usual, place, number)
                for place, name in enumerate(self.names)
                for number in range(1, len(self.settings[place]))
                if name not in ABSENT
            ),
        ]
        self.absent = [
            place for place, name in enumerate(self.names) if name in ABSENT and self._matters(place)
        ]

    def _values(self, row: Row) -> Floats:
        """Return the values under the settings of a row."""
        chosen = zip(self.names, self.settings, row, strict=True)
        return self.conventions.values({name: found[number].name for name, found, number in chosen if number})

    def _matters(self, place: int) -> bool:
        """Return whether a treatment of absent values changes one, under any other single setting."""
        return any(
            not np.array_equal(self._values(row), self._values(_changed(row, place, number)), equal_nan=True)
            for row in self.changes
            for number in range(1, len(self.settings[place]))
        )

    def _add(self, row: Row) -> None:
        """Add the values under some settings, with every treatment of absent values that matters."""
        for chosen in product(*(range(len(self.settings[place])) for place in self.absent)):
            changed = row
            for place, number in zip(self.absent, chosen, strict=True):
                changed = _changed(changed, place, number)
            values = self._values(changed)
            self.limits[changed] = values, values

    def _add_range_of_ties(self) -> None:
        """Add the range of the values over all orders of tied documents, if it is proven."""
        limits = self.conventions.over_ties({})
        if limits is not None:
            place = self.names.index("ties")
            self.settings[place] = [*self.settings[place], ANOTHER_ORDER]
            self.limits[_changed(self.changes[0], place, len(self.settings[place]) - 1)] = limits

    def found(self) -> tuple[list[Cause], list[Cause]]:
        """Return the causes, and the best two together if one is not enough."""
        if not self.different.any():
            return [], []
        for row in self.changes:
            self._add(row)
        self._add_range_of_ties()
        causes = self._causes()
        pair: list[Cause] = []
        if not causes or causes[0].net < int(self.different.sum()):
            self._combine()
            causes = self._causes()
            pair = self._pair(max(causes[0].net, 0) if causes else 0)
        return causes, pair

    def _combine(self) -> None:
        """Add combinations of two settings that each change a value."""
        usual = self.limits[self.changes[0]][0]
        active = [
            np.array(row)
            for row in self.changes
            if not np.allclose(self.limits[row][0], usual, rtol=0, atol=1e-12, equal_nan=True)
        ]
        pairs = [one + two for one, two in combinations(active, 2) if not (one * two).any()]
        for row in pairs[:MOST_COMBINATIONS]:
            self._add(tuple(row.tolist()))

    def _tabulate(self) -> None:
        """Count the queries that pairs of settings tried, for A and B, explain and contradict."""
        self.rows = np.array(list(self.limits)).reshape(len(self.limits), -1)
        self.exact = np.array([low is high for low, high in self.limits.values()])
        low, high = np.stack(list(self.limits.values()), axis=1)
        self.hits = []
        for column in self.columns:
            near = max(tolerance(column) * TWICE_ROUNDED, SINGLE) + SINGLE * np.abs(column)
            with np.errstate(invalid="ignore"):
                inside = (column >= low - near) & (column <= high + near)
            self.hits.append(inside | (np.isnan(low) & np.isnan(column)))
        chosen = self.different
        numbers = [each.astype(np.float32) for each in self.hits]
        self.explained = (numbers[0][:, chosen] @ numbers[1][:, chosen].T).astype(np.float64)
        agreed = numbers[0][:, ~chosen] @ numbers[1][:, ~chosen].T
        self.contradicted = (~chosen).sum() - agreed.astype(np.float64)
        self.apart = np.zeros(self.explained.shape)
        for numbers_of_cause in self.rows.T:
            self.apart += numbers_of_cause[:, None] != numbers_of_cause

    def _causes(self) -> list[Cause]:
        """Return the best settings of every cause, in descending order of queries explained, net."""
        self._tabulate()
        order = list(CAUSES)
        found = []
        for place, numbers in enumerate(self.rows.T):
            best = self._best((self.apart == 1) & (numbers[:, None] != numbers))
            if best is not None:
                found.append(self._cause(place, *best))
        return sorted(
            found,
            key=lambda cause: (
                -cause.net,
                cause.contradicted,
                not cause.exact,
                bool(cause.common),
                order.index(cause.cause),
            ),
        )

    def _pair(self, alone: int) -> list[Cause]:
        """Return the best pair of causes if it explains more queries, net, than the best single cause."""
        best = self._best((self.apart == 2) & self.exact[:, None] & self.exact)
        if best is None or self.explained[best] - self.contradicted[best] <= alone:
            return []
        places = np.flatnonzero(self.rows[best[0]] != self.rows[best[1]]).tolist()
        return [self._cause(place, *best)._replace(common="") for place in places]

    def _best(self, allowed: Flags) -> tuple[int, int] | None:
        """Return the settings that explain most queries, net, then contradict fewest, then are simplest."""
        rows, columns = np.nonzero(allowed & (self.explained > 0))
        if not len(rows):
            return None
        changes = (self.rows > 0).sum(axis=1) + ~self.exact  # one order is simpler than any
        wrong = self.contradicted[rows, columns]
        net = self.explained[rows, columns] - wrong
        place = np.lexsort((changes[rows] + changes[columns], wrong, -net))[0]
        return int(rows[place]), int(columns[place])

    def _cause(self, place: int, first: int, second: int) -> Cause:
        """Return a cause whose settings reproduce A and B."""
        a, b = (self.settings[place][self.rows[row, place]] for row in (first, second))
        shared = [
            self.settings[other][number]
            for other, number in enumerate(self.rows[first].tolist())
            if number and other != place
        ]
        shared.sort(key=lambda each: each.cause in ABSENT)
        hits = self.hits[0][first] & self.hits[1][second]
        return Cause(
            a.cause,
            CAUSES[a.cause],
            a.name,
            b.name,
            a.says,
            b.says,
            common=", ".join(f"{CAUSES[each.cause]}: {each.says}" for each in shared),
            explained=tuple(self.asked[hits & self.different].tolist()),
            contradicted=int((~hits & ~self.different).sum()),
            exact=ANOTHER_ORDER not in (a, b),
        )


def _changed(row: Row, place: int, number: int) -> Row:
    return (*row[:place], number, *row[place + 1 :])
