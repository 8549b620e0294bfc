"""Why two tables of the same measure differ: the conventions that reproduce the values of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.comparison.why_different_conventions import Conventions
from leadline.comparison.why_different_search import (
    SINGLE,
    Cause,
    Search,
    Side,
    decimals_of,
    measure_of,
    tolerance,
    two_sides,
)
from leadline.data.arrays import Flags, Floats
from leadline.data.reading import Reading, ReadQrelsOptions
from leadline.data.table import (
    Column,
    ResultWarning,
    Table,
    columns_of,
    flagged,
    plain,
    printed_table,
    raised,
)
from leadline.data.wording import counted, first_few, listed
from leadline.errors import UsageError, together
from leadline.evaluation.profiles import profile_of
from leadline.io.objects import judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public, shown
from leadline.measures import Measure
from leadline.result import Result

MOST = 8  # causes shown
NAMED = 10  # unexplained queries named
EXACT = 1e-12  # relative difference of equal values
NUMERIC = {
    "scale": "unit of the values",
    "arithmetic": "precision of the arithmetic",
    "rounding": "rounding of the values",
}
KINDS = {
    "equal": "equal",
    "rounding": "equal but for rounding",
    "arithmetic": "equal to within 1e-6 (relative)",
    "different": "different",
}
ONE_SIDED = {"only_a": "only in A", "only_b": "only in B"}  # which differ, too


@dataclass(repr=False, eq=False)
class WhyDifferent(Result):
    """Differences of two tables and their causes.

    Attributes
    ----------
    a, b : Side
        The tables.
    measure : str
        The measure.
    different : list of str
        Queries with other values than rounding, arithmetic and unit explain, or in one table only.
    numbers : list of Cause
        Causes that are evident from the numbers alone.
    causes : list of Cause
        Causes that were tried, in descending order of the queries explained less those contradicted.
    pair : list of Cause
        The best two causes together, where no single one explains all queries.
    tried : bool
        Whether causes were tried.
    """

    a: Side
    b: Side
    measure: str
    groups: dict[str, list[str]]
    numbers: list[Cause]
    causes: list[Cause]
    pair: list[Cause]
    tried: bool

    @property
    def different(self) -> list[str]:
        """Queries that differ by more than rounding, arithmetic and unit."""
        return self.groups["different"]

    @property
    def _best(self) -> Sequence[Cause]:
        """The best pair or cause, unless it contradicts as many queries as it explains, by chance."""
        return self.pair or [one for one in self.causes[:1] if one.net > 0]

    @property
    def cause(self) -> str | None:
        """Name of the cause that explains most queries; None if none was found."""
        found = [one for one in self.causes[:1] if one.net > 0] if self.different else self.numbers[:1]
        return found[0].cause if found else None

    @property
    def explained(self) -> list[str]:
        """Differing queries of which the best cause, or pair of causes, reproduces both values."""
        return list(self._best[0].explained) if self._best else []

    @property
    def not_explained(self) -> list[str]:
        """Differing queries that remain."""
        found = set(self.explained)
        return [query for query in self.different if query not in found]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return the result as built-in types.

        Parameters
        ----------
        per_query : bool, default False
            Add the values of the queries that are not equal, and what explains them.
        """
        data: dict[str, Any] = {
            "measure": self.measure,
            **{name: _side(side) for name, side in (("a", self.a), ("b", self.b))},
            "queries": {name: len(found) for name, found in self.groups.items()},
            "numbers": [_cause(cause) for cause in self.numbers],
            "tried": self.tried,
            "cause": self.cause,
            "causes": [_cause(cause) for cause in self.causes],
            "pair": [_cause(cause) for cause in self.pair],
            "explained": len(self.explained),
            "not_explained": len(self.not_explained),
            "unexplained_queries": self.not_explained,
        }
        return data | {"per_query": self.rows()} if per_query else data

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return the values of every query that is not equal, and what explains them."""
        by: dict[str, str] = {query: cause.cause for cause in self.numbers for query in cause.explained}
        by |= dict.fromkeys(self.explained, " and ".join(cause.cause for cause in self._best))
        wanted = [query for name in ("rounding", "arithmetic", "different") for query in self.groups[name]]
        return {
            query: {
                **{
                    name: plain(side.values.get(query, math.nan))
                    for name, side in (("a", self.a), ("b", self.b))
                },
                "explained_by": by.get(query),
            }
            for query in wanted
        }

    def _columns(self, *, per_query: bool = False) -> list[Column]:
        if per_query:
            rows = []
            for query, row in self.rows().items():
                a, b, why = row.values()
                apart = None if a is None or b is None else b - a
                rows.append([query, a, b, apart, why or "not explained"])
            return columns_of(("query", "A", "B", "B - A", "explained by"), rows)
        causes = [*self.numbers, *self.causes[:MOST]]
        common = [f" (both: {cause.common})" * bool(cause.common) for cause in causes]
        return [
            Column(
                "cause", [one.says + both for one, both in zip(causes, common, strict=True)], wrapped=True
            ),
            Column("A", [cause.a_says for cause in causes], wrapped=True),
            Column("B", [cause.b_says for cause in causes], wrapped=True),
            Column("explains", [len(cause.explained) for cause in causes]),
            Column("contradicts", [cause.contradicted for cause in causes], dropped=1),
        ]

    def _tables(self, *, per_query: bool = False) -> list[Table]:
        columns = self._columns() if self.numbers or self.causes else [Column("cause", ["none found"])]
        tables = [printed_table(columns, notes=self._notes())]
        return [*tables, printed_table(self._columns(per_query=True), digits=6)] if per_query else tables

    def _notes(self) -> list[str]:
        sides = [
            f"{name}: {one.measure}" + f" of {one.path}" * bool(one.path) + f", run {one.run}" * bool(one.run)
            for name, one in (("A", self.a), ("B", self.b))
        ]
        notes = [self._summary(), "; ".join(sides), self._counts()]
        if self.causes:
            notes += [
                "explains: differing values that the settings in columns A and B reproduce",
                "contradicts: equal values not reproduced; the cause must explain more than it contradicts",
            ]
        if self.pair:
            both = " and ".join(f"{one.says} (A: {one.a_says}; B: {one.b_says})" for one in self.pair)
            notes.append(f"two causes together explain {counted(len(self.explained), 'value')}: {both}")
        if self.not_explained and self.tried:
            notes.append(f"not explained: {first_few(self.not_explained, NAMED)}")
        return [*notes, *super()._notes()]

    def _counts(self) -> str:
        """Return the numbers of values by kind of difference."""
        sizes = {name: len(found) for name, found in self.groups.items()}
        kinds, alone = (
            [f"{sizes[name]} {says}" for name, says in each.items() if sizes[name] or name == "different"]
            for each in (KINDS, ONE_SIDED)
        )
        return f"values: {', '.join(kinds)}" + f" ({', '.join(alone)})" * bool(alone)

    def _summary(self) -> str:
        """Return the finding in one sentence."""
        size, differing = len(set(self.a.values) | set(self.b.values)), self.different
        if not differing and not self.numbers:
            return f"{self.measure}: all values are equal"
        number = len(differing or {query for cause in self.numbers for query in cause.explained})
        verb = "differs" if number == 1 else "differ"
        says = f"{self.measure}: {number} of {counted(size, 'value')} {verb}"
        if not differing:
            return f"{says} only in {listed([f'the {cause.says}' for cause in self.numbers])}"
        if self._best:
            says += f"; cause: {' together with '.join(cause.says for cause in self._best)}"
        if self.tried and self.not_explained:
            says += f"; {len(self.not_explained)} not explained"
        return says

    def __repr__(self) -> str:
        return f"WhyDifferent({self._summary()})"


def _side(side: Side) -> dict[str, Any]:
    return {
        "path": side.path,
        "run": side.run,
        "measure": side.measure,
        "queries": len(side.values),
        "mean": plain(side.mean),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return cause._asdict() | {"explained": len(cause.explained), "queries": list(cause.explained)}


@public
def why_different(
    a: Any,
    b: Any,
    *,
    qrels: QrelsLike | None = None,
    run: RunLike | None = None,
    measure: str | Measure | None = None,
    name: str | None = None,
    rel: float | None = None,
    **options: Any,
) -> WhyDifferent:
    """Find the conventions in which two tables of the same measure differ.

    With the run and the judgments, the measure is computed under the known conventions of evaluation
    programs. A cause explains a query if one setting of it reproduces the value of A and another one the
    value of B, to the precision in which they were written. If no single cause explains all differing
    queries, pairs of causes are tried.

    Parameters
    ----------
    a, b : path, Results or mapping
        Values of queries: the output of `trec_eval -q` or `ir_measures -q`, a JSON or CSV result, saved
        results, or `{query: {measure: value}}`. A file may be FILE:MEASURE.
    qrels : qrels, optional
        Relevance judgments.
    run : run, optional
        The run.
    measure : str or Measure, optional
        The measure; by default the first that is in both tables and differs.
    name : str, optional
        Name of the run, for tables of several.
    rel : float, optional
        Minimum relevant grade of both programs, if it is not 1.
    **options
        How judgments are read: `qrels_columns`, `queries_in`.

    Returns
    -------
    WhyDifferent

    Raises
    ------
    UsageError
        If only one of `qrels` and `run` is given, or the measure is unknown here.

    Examples
    --------
    >>> qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}}
    >>> found = why_different({"q1": {"map": 0.5}}, {"q1": {"map": 1.0}}, qrels=qrels, run=run)
    >>> found.cause, found.causes[0].a, found.causes[0].b
    ('ties', 'descending_id', 'ascending_id')
    """
    together({"--qrels": qrels}, {"--run": run})
    reading = Reading.of(why_different, options, ReadQrelsOptions)
    text = None if measure is None else str(measure)
    first, second, others = two_sides(a, b, measure=text, name=name)
    meant = measure if isinstance(measure, Measure) else measure_of(text or first.measure)
    if meant is None and qrels is not None:
        meant = measure_of(second.measure)
        if meant is None:
            raise UsageError(
                f"leadline does not know the measure '{text or first.measure}'. Set --measure to leadline's "
                "own name for it. In a file with several measures, choose the measure with FILE:MEASURE."
            )
    if meant is not None and rel is not None:
        meant = profile_of("leadline").measures([meant], rel=rel)[0]
    only_means = not first.values or not second.values
    if only_means:  # the only value of each table is its mean
        first, second = (side._replace(values={"mean": _mean(side)}) for side in (first, second))
    asked = sorted(set(first.values) | set(second.values))
    columns = [np.array([side.values.get(query, math.nan) for query in asked]) for side in (first, second)]
    scaled, scale = _one_scale(columns, meant)
    groups, numbers = _by_numbers(asked, scaled, scale)
    different = np.isin(asked, groups["different"])
    findings = _findings(first, second, scaled, asked, different)
    causes: list[Cause] = []
    pair: list[Cause] = []
    tried = False
    if qrels is not None and run is not None and meant is not None:
        judged = judgments_of(qrels, reading)
        conventions = Conventions(run, judged, meant, [] if only_means else asked, mean=only_means)
        causes, pair = Search(conventions, asked, scaled, different).found()
        tried = True
    return WhyDifferent(
        first,
        second,
        str(meant) if meant is not None else first.measure,
        groups=groups,
        numbers=numbers,
        causes=causes,
        pair=pair,
        tried=tried,
        warnings=findings + _warnings(others, only_means=only_means, tried=tried or not different.any()),
        options={
            "a": first.path,
            "b": second.path,
            "qrels": shown(qrels),
            "run": shown(run),
            "measure": text,
            "name": name,
            "rel": rel,
        },
    )


def _mean(side: Side) -> float:
    if math.isnan(side.mean) and side.values:
        return float(np.nan_to_num(list(side.values.values())).mean())
    return side.mean


def _warnings(others: Sequence[str], *, only_means: bool, tried: bool) -> list[ResultWarning]:
    shown = first_few(others, 5)
    means = "at least one table has no per-query values, so means are compared"
    return raised(
        ("other_measures", f"other measures that differ: {shown} (choose one with `--measure`)", len(others)),
        ("only_means", means, int(only_means)),
        ("not_tried", "to find causes, add the judgments (`--qrels`) and the run (`--run`)", int(not tried)),
    )


def _one_scale(columns: Sequence[Floats], measure: Measure | None) -> tuple[list[Floats], int]:
    """Return both columns as proportions, and which of them (1, 2 or 0) was in per cent."""
    if measure is not None and (measure.high != 1 or measure.average == "sum"):
        return list(columns), 0
    largest = [float(np.nanmax(column, initial=0.0)) for column in columns]
    for index in (0, 1):
        if largest[index] > 1.5 >= largest[1 - index] and largest[index] <= 100:
            scaled = list(columns)
            scaled[index] = columns[index] / 100
            return scaled, index + 1
    return list(columns), 0


def _by_numbers(
    asked: Sequence[str], columns: Sequence[Floats], scale: int
) -> tuple[dict[str, list[str]], list[Cause]]:
    """Return the queries by kind of difference, and the causes that the numbers show."""
    a, b = columns
    in_a, in_b = ~np.isnan(a), ~np.isnan(b)
    coarse = [decimals_of(column) for column in columns]
    units = tolerance(a) + tolerance(b)
    with np.errstate(invalid="ignore"):
        apart = np.abs(a - b)
        size = np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-9)
        near = {
            "equal": (apart <= EXACT * np.maximum(size, 1.0)) | ~(in_a | in_b),
            "arithmetic": apart <= SINGLE * size,
            "rounding": apart <= units * (1 + 1e-6) + 1e-9 if units else np.zeros_like(in_a),
        }
    kinds = list(near)
    if coarse[0] != coarse[1]:  # differences below 1e-6 are rounding if a table is rounded
        kinds = ["equal", "rounding", "arithmetic"]
    kind = np.select([near[name] for name in kinds], kinds, "different")
    flags = {name: kind == name for name in KINDS} | {"only_a": in_a & ~in_b, "only_b": in_b & ~in_a}
    groups = {name: flagged(asked, found) for name, found in flags.items()}
    causes = []
    if scale:
        says = ["proportions"] * 2
        says[scale - 1] = "per cent"
        matched = [query for name in ("equal", "arithmetic", "rounding") for query in groups[name]]
        causes.append(_numeric("scale", says, matched))
    if groups["rounding"]:
        says = ["full precision" if digits is None else f"{digits} decimals" for digits in coarse]
        causes.append(_numeric("rounding", says, groups["rounding"]))
    if groups["arithmetic"]:
        causes.append(_numeric("arithmetic", ["as written", "within 1e-6"], groups["arithmetic"]))
    return groups, sorted(causes, key=lambda cause: -len(cause.explained))


def _numeric(name: str, says: Sequence[str], found: Sequence[str]) -> Cause:
    return Cause(name, NUMERIC[name], says[0], says[1], says[0], says[1], "", tuple(found), 0)


def _findings(
    a: Side, b: Side, columns: Sequence[Floats], asked: Sequence[str], different: Flags
) -> list[ResultWarning]:
    """Return what the numbers say without a run: a constant factor, and what the means count as 0."""
    first, second = (column[different] for column in columns)
    ratio = second / np.where(first == 0, np.nan, first)
    ratio = ratio[~np.isnan(ratio)]
    found, size = [], len(asked)
    if len(ratio) > 2 and np.ptp(ratio) <= 1e-3 * abs(float(np.median(ratio))):
        text = f"{len(ratio):,} values in B are {float(np.median(ratio)):.6g} times those in A"
        found.append(ResultWarning("constant_factor", text, len(ratio)))
    for name, side in (("A", a), ("B", b)):
        given = np.array([value for value in side.values.values() if not math.isnan(value)])
        if math.isnan(side.mean) or len(given) < 2:
            continue
        near = max(tolerance(np.array([side.mean])), tolerance(given), 1e-9) * 2
        own, over_all = float(given.mean()), float(given.sum()) / size
        if abs(side.mean - own) <= near:
            continue
        count = 1
        says = f"the stated mean of {name}, {side.mean:.6g}, differs from the mean of its values, {own:.6g}"
        if abs(side.mean - over_all) <= near:
            count = size - len(given)
            nouns = f"query missing from {name} counts", f"queries missing from {name} count"
            says = f"{counted(count, *nouns)} as 0 in the mean of {name}"
        found.append(ResultWarning(f"mean_of_{name.lower()}", says, count))
    return found
