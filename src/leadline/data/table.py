"""Tables of results, independent of how they are written: their columns, and the parts they describe."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.errors import InputError, punctuated

DRAWN_POOL = "drawn_pool"  # code of the remark on judgments from the store of a drawn pool
MERGED = "merged"  # code of the remark on pairs with several judges
PART_JUDGED = "part_judged"  # code of the remark on a sample with pairs that have no grade yet
MACHINE_LABELS = "machine_labels"  # code of the warning that judgments are labels by an automatic judge


@dataclass(frozen=True)
class ResultWarning:
    """Warning about a result: code, message, and number of occurrences."""

    code: str
    message: str
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", int(self.count))  # JSON holds no NumPy numbers

    def __str__(self) -> str:
        return punctuated(self.message)


def raised(*found: tuple[str, str, int]) -> list[ResultWarning]:
    """Return the warnings of codes, messages and counts whose counts are not 0.

    >>> raised(("few_runs", "only 2 runs", 2), ("few_queries", "only 0 queries", 0))
    [ResultWarning(code='few_runs', message='only 2 runs', count=2)]
    """
    return [ResultWarning(*one) for one in found if one[2]]


@dataclass(frozen=True)
class RunInfo:
    """Name, tag, path and counts of a run."""

    name: str
    tag: str = ""
    path: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def plain(value: float) -> float | None:
    """Return a number; None if it is NaN or infinite."""
    return value if math.isfinite(value) else None


def keyed(record: Any) -> dict[str, Any]:
    """Return the fields of a NamedTuple as JSON holds them: None for an undefined number."""

    def shown(value: Any) -> Any:
        if isinstance(value, float):
            return plain(value)
        return keyed(value) if hasattr(value, "_asdict") else value

    return {name: shown(value) for name, value in record._asdict().items()}


def flagged(names: Sequence[str], flags: Flags) -> list[str]:
    """Return the queries that are flagged."""
    return [names[code] for code in np.flatnonzero(flags).tolist()]


GEOMETRIC_FLOOR = 0.00001  # minimum value in a geometric mean, as in trec_eval


class Averaged(Protocol):
    """Attributes of a measure that results require."""

    @property
    def average(self) -> str:
        """Average over queries: mean, defined, geometric or sum."""

    @property
    def rising(self) -> bool:
        """Whether larger values are better."""


@dataclass(frozen=True)
class NamedMeasure:
    """Measure of a table of scores that is known by its name alone; its range is unknown.

    >>> str(NamedMeasure("latency", rising=False))
    'latency'
    """

    name: str
    rising: bool = True
    low: float = -math.inf
    high: float = math.inf
    average: str = "mean"
    quality: bool = True
    assumed: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def direction(self) -> str:
        """What is better: "higher", "lower", or "unknown" where higher is only assumed."""
        return "unknown" if self.assumed else "higher" if self.rising else "lower"


def range_of(measure: object) -> tuple[float, float]:
    """Return the lowest and the highest value of a measure, infinite where they are unknown."""
    return float(getattr(measure, "low", -math.inf)), float(getattr(measure, "high", math.inf))


def summary(values: Floats, averaged: Flags, average: str, weights: Floats | None = None) -> Floats:
    """Return the average of each run (row) over the included queries (columns), added in order.

    >>> summary(np.array([[0.5, 0.1]]), np.array([[True, True]]), "mean", np.array([3.0, 1.0])).tolist()
    [0.4]
    """
    if average == "geometric":
        floored = np.log(np.maximum(np.nan_to_num(values), GEOMETRIC_FLOOR))
        return np.exp(summary(floored, averaged, "mean", weights))
    addends = np.where(averaged & ~np.isnan(values), values, 0.0)
    addends = addends if weights is None else addends * weights
    # A cumulative sum adds in order; np.sum adds pairwise, with other rounding errors than trec_eval.
    total: Floats = addends.cumsum(axis=1)[:, -1] if addends.size else addends.sum(axis=1)
    if average == "sum":
        return total
    included = averaged & ~np.isnan(values) if average == "defined" else averaged
    size = included.sum(axis=1) if weights is None else (included * weights).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size == 0, np.nan, total / size)


Cell: TypeAlias = "str | float | int | None"
PROBABILITY = "p"  # form of a column of probabilities
WORDS = {True: "yes", False: "no"}


class Probability(float):
    """Probability; one below a unit of the last digit is shown as less than that."""

    __slots__ = ()


class Limit(float):
    """Confidence limit; one that is not 0 is shown with as many digits as tell it from 0."""

    __slots__ = ()


def digits_beside_zero(digits: int, *limits: float) -> int:
    """Return the digits after the point, six at most, with which no limit that is not 0 looks like 0.

    >>> digits_beside_zero(3, -0.0345, -0.0001), digits_beside_zero(4, 0.0, 0.00002)
    (4, 5)
    """
    sizes = [abs(limit) for limit in limits if 0.5e-6 <= abs(limit) < 0.5]
    return max([digits, *(math.ceil(-math.log10(2 * size)) for size in sizes)])


class RowLabel(str):
    """Label in a column of ids, such as `mean` for all queries; empty in CSV."""

    __slots__ = ()


class Preformatted(str):
    """Number that is already formatted."""

    __slots__ = ()


@dataclass
class Table:
    """Table of results, independent of the format in which it is written."""

    columns: list[str]
    rows: list[list[Cell]]
    best: set[tuple[int, int]] = field(default_factory=set)  # row and column of the best cells of columns
    # Letters of significance by row and column: superscripts where a format has them, else after the cell.
    letters: dict[tuple[int, int], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # sentences below the table
    title: str = ""
    digits: int = 4  # after the decimal point
    wrapped: frozenset[str] = frozenset()  # columns of sentences, which are wrapped on a terminal
    optional: tuple[str, ...] = ()  # columns that a narrow terminal drops first, in this order
    whole: bool = False  # whether a terminal shows every row
    caption: str = ""  # in LaTeX
    paper: dict[str, str] = field(default_factory=dict)  # headings in LaTeX, by those of the other formats


class Column(NamedTuple):
    """A column of a result: its values, and how they are shown."""

    name: str  # name in CSV, JSON and data frames
    values: Sequence[Any] | np.ndarray[Any, Any]  # numbers or texts; None, NaN and infinity are undefined
    heading: str | None = None  # heading of the printed table; by default the name
    # How a number is printed: a format as `.1f`, or `p` for probabilities; by default with the digits
    # of the table.
    form: str = ""
    best: Collection[int] = ()  # rows with the best value, which are marked
    dropped: int = 0  # order in which a narrow terminal drops columns, from 1; 0 if it drops others first
    wrapped: bool = False  # whether the texts are sentences, which a terminal wraps
    printed_only: bool = False  # whether CSV and data frames are without the column
    hidden: bool = False  # whether the printed table is without the column

    @property
    def title(self) -> str:
        """Heading of the printed table."""
        return self.name if self.heading is None else self.heading

    def cells(self) -> list[Cell]:
        """Return the values as cells; None is undefined, and flags are yes and no."""
        cells = [WORDS[value] if isinstance(value, bool) else value for value in self._defined()]
        if self.form != PROBABILITY:
            return cells
        return [Probability(cell) if isinstance(cell, float) else cell for cell in cells]

    def plain(self) -> list[Any]:
        """Return the values as built-in types; None is undefined, or the id in a row of means."""
        return [None if isinstance(value, RowLabel) else value for value in self._defined()]

    def _defined(self) -> list[Any]:
        values = self.values.tolist() if isinstance(self.values, np.ndarray) else self.values
        return [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]

    def printed(self) -> list[Cell]:
        """Return the cells of the printed table."""
        if self.form in ("", PROBABILITY):
            return self.cells()
        return [
            cell if cell is None or isinstance(cell, str) else Preformatted(format(cell, self.form))
            for cell in self.cells()
        ]


def columns_of(
    names: Sequence[str], rows: Sequence[Sequence[Any]], *, dropped: Sequence[str] = ()
) -> list[Column]:
    """Return rows as columns; a narrow terminal drops those of the names `dropped` first.

    >>> columns_of(("run", "AP"), [("a", 0.5), ("b", 0.25)])[1].values
    [0.5, 0.25]
    """
    columns = [Column(name, [row[place] for row in rows]) for place, name in enumerate(names)]
    for order, name in enumerate(dropped, start=1):
        place = names.index(name)
        columns[place] = columns[place]._replace(dropped=order)
    return columns


def named_columns(
    fields: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]],
    headings: Mapping[str, str],
    *,
    dropped: Sequence[str] = (),
) -> list[Column]:
    """Return values by name as columns, of which those with headings are printed.

    `p`, and what begins with `p_`, are probabilities; a narrow terminal drops the names in `dropped` first.
    """
    return [
        Column(
            name,
            values,
            headings.get(name),
            form=PROBABILITY if name.partition("_")[0] == "p" else "",
            dropped=dropped.index(name) + 1 if name in dropped else 0,
            hidden=name not in headings,
        )
        for name, values in fields.items()
    ]


def interval_texts(low: np.ndarray[Any, Any], high: np.ndarray[Any, Any]) -> list[Preformatted | None]:
    """Return intervals as text, as in "0.1200 to 0.2500"; "exact" where both limits are equal.

    >>> interval_texts(np.array([0.12, 0.5, np.nan]), np.array([0.25, 0.5, np.nan]))
    ['0.1200 to 0.2500', 'exact', None]
    """
    return [
        None
        if np.isnan(below)
        else Preformatted("exact" if below == above else f"{below:.{digits}f} to {above:.{digits}f}")
        for below, above in zip(low.tolist(), high.tolist(), strict=True)
        for digits in (digits_beside_zero(4, below, above),)
    ]


def printed_table(
    columns: Iterable[Column], *, shown: Mapping[str, Any] | None = None, **parts: Any
) -> Table:
    """Return the printed table of columns; `parts` are notes, title and other fields of `Table`.

    `shown` are values printed in place of those of a column.

    >>> printed_table([Column("run", ["a", "b"]), Column("p", np.array([0.5, np.nan]), form=".1f")]).rows
    [['a', '0.5'], ['b', None]]
    """
    given = shown or {}
    printed = [
        column._replace(values=given.get(column.name, column.values))
        for column in columns
        if not column.hidden
    ]
    dropped = sorted((column.dropped, column.title) for column in printed if column.dropped)
    return Table(
        [column.title for column in printed],
        _rows([column.printed() for column in printed]),
        best={(row, place) for place, column in enumerate(printed) for row in column.best},
        wrapped=frozenset(column.title for column in printed if column.wrapped),
        optional=tuple(title for _, title in dropped),
        **parts,
    )


def full_table(columns: Iterable[Column]) -> Table:
    """Return the table for CSV and data frames: every column, with nothing formatted."""
    named = [column for column in columns if not column.printed_only]
    return Table([column.name for column in named], _rows([column.cells() for column in named]))


def _rows(columns: list[list[Cell]]) -> list[list[Cell]]:
    return list(map(list, zip(*columns, strict=True)))


def by_name(columns: Iterable[Column]) -> dict[str, list[Any]]:
    """Return the values of columns by name, for data frames; repeated names are numbered.

    >>> by_name([Column("low", [0.5, None]), Column("low", [1, 2])])
    {'low': [0.5, nan], 'low 2': [1, 2]}
    """
    named: dict[str, list[Any]] = {}
    for column in columns:
        if column.printed_only:
            continue
        name, number = column.name, 1
        while name in named:
            number += 1
            name = f"{column.name} {number}"
        named[name] = _values(column)
    return named


def _values(column: Column) -> list[Any]:
    """Return the values of a column as numbers or texts; undefined numbers are NaN, infinite limits stay."""
    listed = list(column.values.tolist() if isinstance(column.values, np.ndarray) else column.values)
    kinds = set(map(type, listed))
    if isinstance(column.values, np.ndarray) or kinds <= {str, int}:
        return listed
    if kinds == {type(None)}:
        return [math.nan] * len(listed)
    values = [None if isinstance(cell, RowLabel) else cell for cell in column.cells()]
    if all(value is None or isinstance(value, float) for value in values):
        return [float("nan") if value is None else float(value) for value in values]
    return [str(value) if isinstance(value, Preformatted) else value for value in values]


def make_frame(constructor: Callable[..., Any], columns: Mapping[str, list[Any]], **options: Any) -> Any:
    """Return a data frame of columns; raise InputError for ids that are not valid Unicode."""
    try:
        return constructor(dict(columns), **options)
    except UnicodeEncodeError:
        raise InputError(
            "an id or a run name is not valid UTF-8, so a data frame cannot store it",
            hint="Use `to_dict` instead",
        ) from None
