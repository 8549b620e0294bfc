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
from leadline.errors import InputError, UsageError, repeated
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results
from leadline.io.read_paths import path_of
from leadline.io.result_files import damaged_result
from leadline.io.saved_results import Saved
from leadline.io.score_cells import Choices, placed
from leadline.io.score_tables import open_scores
from leadline.io.small_tables import split_place
from leadline.measures import Measure

ALL = frozenset({"all", "ALL", "mean", "amean", ""})  # names of the mean over queries
UNNAMED = "?"  # the run of a table without names of runs
ONE_NAME = "Give the measure the same name in both tables"
VALUES = "Pass per-query values or means of a measure"
Queries = dict[str, float]


class Scores(NamedTuple):
    """Values of one file: by run, measure and query, and means by run and measure."""

    path: str
    values: dict[str, dict[str, Queries]]
    means: dict[str, dict[str, float]]


class Side(NamedTuple):
    """The values of one of the two tables; NaN is undefined, also for a mean that the file does not give."""

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


def read_table(source: Any, asked: Collection[str] = ()) -> Scores:
    """Return the values and means of a table of scores, of results, or of dictionaries.

    >>> read_table({"q1": {"map": 0.5}, "q2": {"map": 1.0}, "all": {"map": 0.75}})
    Scores(path='', values={'': {'map': {'q1': 0.5, 'q2': 1.0}}}, means={'': {'map': 0.75}})
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
    columns = opened.columns(known)
    scores = Scores(columns.path, {}, {})
    cells = (columns.places, columns.runs, columns.measures, columns.queries, columns.values)
    for place, run, measure, query, value in zip(*cells, strict=True):
        owner = "" if run == UNNAMED else run
        values, means = scores.values.setdefault(owner, {}), scores.means.setdefault(owner, {})
        found = math.nan if value is None else value
        if query in ALL:
            means[measure] = found
            continue
        by_query = values.setdefault(measure, {})
        if query in by_query:
            raise placed(repeated(f"query '{query}'", of=measure), columns.path, columns.unit, place)
        by_query[query] = found
    return _checked(scores)


def _of_results(runs: Iterable[Any], path: str) -> Scores:
    scores = Scores(path, {}, {})
    for run in runs:
        if not isinstance(run, dict) or not isinstance(run.get("name"), str):
            raise InputError(
                "a run has no name, or its name is not a string", path=path, hint="Give every run a name"
            )
        name = run["name"]
        means = scores.means.setdefault(name, {})
        values = scores.values.setdefault(name, {})
        for measure, value in (run.get("mean") or {}).items():
            means[measure] = math.nan if value is None else float(value)
        for query, row in (run.get("queries") or {}).items():
            for measure, value in row.items():
                values.setdefault(measure, {})[query] = math.nan if value is None else float(value)
    return _checked(scores)


def _checked(scores: Scores) -> Scores:
    if not any(any(tables.values()) for tables in scores.values.values()) and not any(scores.means.values()):
        raise InputError("there are no values", path=scores.path, hint=VALUES)
    return scores


def two_sides(
    a: Any, b: Any, *, measure: str | None = None, name: str | None = None
) -> tuple[Side, Side, list[str]]:
    """Return the values of one measure and one run in two tables, and the other measures in both."""
    chosen, places = [], []
    for source in (a, b):
        place, said = (
            split_place(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else (source, "")
        )
        chosen.append(said)
        places.append(read_table(place, [one for one in (said, measure) if one]))
    runs = [_run_of(scores, name, places) for scores in places]
    names = [
        list(dict.fromkeys([*scores.values[run], *scores.means[run]]))
        for scores, run in zip(places, runs, strict=True)
    ]
    for scores, run, present in zip(places, runs, names, strict=True):
        if not present:
            raise InputError(f"run '{run}' has no values", path=scores.path, hint=VALUES)
    others: list[str] = []
    typed = any(chosen)
    if not typed:
        chosen, others = _shared(names, places, runs, measure)
    sides: list[Side] = []
    for scores, run, present, said in zip(places, runs, names, chosen, strict=True):
        wanted = said or measure or next(filter(None, chosen), "")
        found = _named(present, wanted)
        if found is None:
            in_file = os.path.exists(scores.path)
            table = "" if in_file else f" in the {('first', 'second')[len(sides)]} table"
            hint = _choice(names, places, present, scores.path, shared=measure is not None and not typed)
            raise InputError(f"there is no measure '{wanted}'{table}", path=scores.path, hint=hint)
        values = scores.values[run].get(found, {})
        sides.append(Side(scores.path, run, found, values, scores.means[run].get(found, math.nan)))
    return sides[0], sides[1], others


def _choice(
    names: list[list[str]], places: list[Scores], present: list[str], path: str, *, shared: bool
) -> str:
    """Return which measures there are, in both tables if one was asked for in both."""
    in_files = all(os.path.exists(scores.path) for scores in places)
    if shared:
        if both := [name for name in names[0] if _named(names[1], name)]:
            return f"Both tables have {first_few(both, 20)}"
        choice = ONE_NAME
        if in_files:
            first, second = (f"{scores.path}:{own[0]}" for scores, own in zip(places, names, strict=True))
            choice = f"Choose one from each, as in {first} {second}"
        return f"The tables have no measure in common. {choice}"
    choose = f"Choose {'one of ' * (len(present) > 1)}{first_few(present, 20)}"
    return choose + f", as in {path}:{present[0]}" * os.path.exists(path)


def _run_of(scores: Scores, name: str | None, both: list[Scores]) -> str:
    """Return the run of a file: the named one, the only one, or the only one in both files."""
    runs = list(scores.values)
    if len(runs) == 1 and (name is None or runs == [""] or any(name in other.values for other in both)):
        return runs[0]
    if name in runs:
        return str(name)
    several = [list(other.values) for other in both if len(other.values) > 1] or [runs]
    common = [run for run in several[0] if all(run in others for others in several)]
    single = [run for other in both if len(other.values) == 1 for run in other.values if run in common]
    if name is None and len(single or common) == 1:
        return (single or common)[0]
    if not common:
        raise _nothing_shared(
            "run", several, both, "Pass tables with one run each, or with the same run names"
        )
    raise InputError(
        f"there are {len(runs)} runs, but only one can be compared"
        if name is None
        else f"there is no run '{name}'",
        path=scores.path,
        hint=f"Set --config read.name to {'one of ' * (len(common) > 1)}{first_few(common, 10)}",
    )


def _nothing_shared(what: str, names: list[list[str]], places: list[Scores], hint: str) -> InputError:
    first, second = (first_few(each, 8) for each in names)
    found = f"no {what} in the second table ({second}) is also in the first ({first})"
    return InputError(found, path=places[1].path, hint=hint)


def _shared(
    names: list[list[str]], places: list[Scores], runs: list[str], wanted: str | None
) -> tuple[list[str], list[str]]:
    """Return the names of the measure in both files, and of the other measures in both that differ."""
    if wanted is not None:
        found = [_named(present, wanted) for present in names]
        alone = [present[0] if len(present) == 1 and _alike(present[0], wanted) else "" for present in names]
        return [one or other for one, other in zip(found, alone, strict=True)], []
    if all(len(present) == 1 for present in names):
        return [present[0] for present in names], []
    second = {str(measure_of(name) or name): name for name in reversed(names[1])}
    pairs = [(name, second[key]) for name in names[0] if (key := str(measure_of(name) or name)) in second]
    if not pairs:
        in_files = all(os.path.exists(scores.path) for scores in places)
        hint = "Choose one measure from each file with FILE:MEASURE" if in_files else ONE_NAME
        raise _nothing_shared("measure", names, places, hint)
    unequal = [
        pair
        for pair in pairs
        if places[0].values[runs[0]].get(pair[0]) != places[1].values[runs[1]].get(pair[1])
    ]
    first = (unequal or pairs)[0]
    return list(first), [pair[0] for pair in unequal if pair != first]


def _alike(name: str, wanted: str) -> bool:
    """Return whether a name may denote the values wanted, as those of another level or cutoff do."""
    kinds = [type(measure) for measure in map(measure_of, (name, wanted)) if measure is not None]
    return len({*kinds}) < 2


def _named(present: list[str], name: str) -> str | None:
    """Return the name in a table of the measure that a name denotes."""
    if name in present:
        return name
    measure = measure_of(name) if name else None
    return next((each for each in present if measure is not None and measure_of(each) == measure), None)


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


class CausePair(NamedTuple):
    """Two causes that together reproduce the values of more queries than either alone."""

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


Row: TypeAlias = tuple[int, ...]  # the number of the setting of every cause; 0 is the usual one


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
        self.settings = list(conventions.settings.values())
        self.values: dict[Row, Floats] = {}
        usual = (0,) * len(self.names)
        single = [
            (place, number)
            for place, name in enumerate(self.names)
            for number in range(1, len(self.settings[place]))
            if name not in ABSENT
        ]
        self.changes = [usual, *(_changed(usual, *each) for each in single)]
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
            self.values[changed] = self._values(changed)

    def found(self) -> tuple[list[Cause], CausePair | None, int]:
        """Return the causes, the best pair if one is not enough, and the number of combinations tried."""
        if not self.different.any():
            return [], None, 0
        for row in self.changes:
            self._add(row)
        self._tabulate()
        causes, pair = self.causes(), None
        total = int(self.different.sum())
        if not causes or len(causes[0].explained) < total or causes[0].contradicted:
            self._combine()
            self._tabulate()
            causes = self.causes()
            pair = self.pair(max(causes[0].net, 0) if causes else 0)
        return causes, pair, len(self.values)

    def _combine(self) -> None:
        """Add combinations of two settings that each change a value."""
        usual = self.values[self.changes[0]]
        active = [
            np.array(row)
            for row in self.changes
            if not np.allclose(self.values[row], usual, rtol=0, atol=1e-12, equal_nan=True)
        ]
        pairs = [one + two for one, two in combinations(active, 2) if not (one * two).any()]
        for row in pairs[:MOST_COMBINATIONS]:
            self._add(tuple(row.tolist()))

    def match(self, values: Floats, side: int) -> Flags:
        """Return flags of the values that agree with those of a side."""
        column = self.columns[side]
        with np.errstate(invalid="ignore"):
            near = np.abs(values - column) <= self.near[side] + SINGLE * np.abs(column)
        return np.asarray(near | (np.isnan(values) & np.isnan(column)))

    def in_range_of_ties(self) -> Cause | None:
        """Return the cause that one table has ties in some order, if its values are in their range."""
        limits = self.conventions.over_ties({})
        if limits is None:
            return None
        low, high = limits
        found = []
        for column, near, other in zip(self.columns, self.near, (1, 0), strict=True):
            with np.errstate(invalid="ignore"):
                inside = (column >= low - near) & (column <= high + near)
                tied = high > low + near
            hits = inside & self.match(self.values[self.changes[0]], other)
            found.append((hits & tied & self.different, int((~hits & ~self.different).sum())))
        side = int(found[1][0].sum() >= found[0][0].sum())
        hits, contradicted = found[side]
        if not hits.any():
            return None
        own = self.conventions.settings["ties"][0]
        ends = [
            own,
            Setting("ties", "another_order", "in another order (value within the range over all orders)"),
        ]
        a, b = ends if side else ends[::-1]
        explained = tuple(self.asked[hits].tolist())
        return Cause(
            "ties", CAUSES["ties"], a.name, b.name, a.says, b.says, "", explained, contradicted, exact=False
        )

    def _tabulate(self) -> None:
        """Count the queries that pairs of settings tried, for A and B, explain and contradict."""
        self.rows = np.array(list(self.values)).reshape(len(self.values), -1)
        values = np.stack(list(self.values.values()))
        self.hits = [self.match(values, side) for side in (0, 1)]
        numbers = [each.astype(np.float32) for each in self.hits]
        chosen = self.different
        self.explained = (numbers[0][:, chosen] @ numbers[1][:, chosen].T).astype(np.float64)
        agreed = numbers[0][:, ~chosen] @ numbers[1][:, ~chosen].T
        self.contradicted = (~chosen).sum() - agreed.astype(np.float64)
        self.apart = np.zeros(self.explained.shape)
        for column in self.rows.T:
            self.apart += column[:, None] != column

    def causes(self) -> list[Cause]:
        """Return the best settings of every cause, in descending order of queries explained, net."""
        found = []
        for place, numbers in enumerate(self.rows.T):
            best = self._best((self.apart == 1) & (numbers[:, None] != numbers))
            if best is not None:
                found.append(self._cause(place, *best))
        ranged = self.in_range_of_ties()
        if ranged is not None:
            known = [len(cause.explained) for cause in found if cause.cause == "ties"]
            if not known or known[0] < len(ranged.explained):
                found = [cause for cause in found if cause.cause != "ties"] + [ranged]
        order = list(CAUSES)
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

    def pair(self, alone: int) -> CausePair | None:
        """Return the best pair of causes if it explains more queries, net, than the best single cause."""
        best = self._best(self.apart == 2)
        if best is None or self.explained[best] - self.contradicted[best] <= alone:
            return None
        places = np.flatnonzero(self.rows[best[0]] != self.rows[best[1]]).tolist()
        one, two = (self._cause(place, *best)._replace(common="") for place in places)
        return CausePair((one, two), one.explained, one.contradicted)

    def _best(self, allowed: Flags) -> tuple[int, int] | None:
        """Return the settings that explain most queries, net, then contradict fewest, then are simplest."""
        usable = allowed & (self.explained > 0)
        if not usable.any():
            return None
        changes = (self.rows > 0).sum(axis=1)
        total = changes[:, None] + changes
        rows, columns = np.nonzero(usable)
        wrong = self.contradicted[usable]
        place = np.lexsort((total[usable], wrong, wrong - self.explained[usable]))[0]
        return int(rows[place]), int(columns[place])

    def _cause(self, place: int, first: int, second: int) -> Cause:
        """Return a cause whose settings reproduce A and B."""
        name = self.names[place]
        a, b = (self.settings[place][self.rows[row, place]] for row in (first, second))
        shared = [
            self.settings[other][number]
            for other, number in enumerate(self.rows[first].tolist())
            if number and other != place
        ]
        shared.sort(key=lambda each: each.cause in ABSENT)
        common = ", ".join(f"{CAUSES[each.cause]}: {each.says}" for each in shared)
        hits = self.hits[0][first] & self.hits[1][second]
        explained = tuple(self.asked[hits & self.different].tolist())
        contradicted = int((~hits & ~self.different).sum())
        return Cause(name, CAUSES[name], a.name, b.name, a.says, b.says, common, explained, contradicted)


def _changed(row: Row, place: int, number: int) -> Row:
    return (*row[:place], number, *row[place + 1 :])
