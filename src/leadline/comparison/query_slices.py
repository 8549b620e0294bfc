"""Slices: values and differences by type, length or language of the queries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count, product
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from leadline.comparison.compared_pair import shown_columns
from leadline.comparison.comparison_result import Comparison, note_in_data
from leadline.comparison.engine import Differences, Tested, few_queries_text, few_queries_texts
from leadline.comparison.pair_texts import p_text, signed
from leadline.comparison.pairing import Rules, check_intervals
from leadline.data.arrays import Flags
from leadline.data.ids import to_bytes
from leadline.data.table import (
    Column,
    ResultWarning,
    RowLabel,
    Table,
    named_columns,
    printed_table,
    raised,
    range_of,
)
from leadline.data.wording import counted, first_few, percent, queries
from leadline.errors import InputError, UsageError
from leadline.evaluation.limits import DEFAULT_INTERVAL, mean_intervals
from leadline.evaluation.results import Results
from leadline.result import Make, Result
from leadline.stats import INTERVALS, Interval
from leadline.stats.intervals import SMALLEST
from leadline.stats.simultaneous import Holm

MOST = 200  # slices of one column; more are hardly meant
LENGTH = "length"  # column that is computed from the text of a query, unless there is one of this name
LENGTHS = (2, 4, 8, 16)  # largest numbers of words of the slices of `length` but the last
IN_MEMORY = "in memory"


SliceSource: TypeAlias = str | Mapping[str, object]


# Columns of means; `reason` says why there is no interval. The slice of all queries is None.
MEANS = ("by", "slice", "run", "measure", "queries", "mean", "low", "high", "reason")


class Slicing(NamedTuple):
    """Slices of the queries of results: names of those with a query, and flags of slices x queries."""

    by: str
    names: list[str]
    members: Flags


def read_slices(source: str) -> dict[str, list[str]]:
    """Read the slices of queries from a column of a table or of queries."""
    from leadline.io.opening import BOM, first_bytes
    from leadline.io.small_tables import cells_by_id, file_and_column, need_columns, records, unguarded_table
    from leadline.io.texts import QUERY, read_queries, rows_of

    path, column = file_and_column(source, example="queries.tsv:type")
    topics = (first_bytes(path) or b"").removeprefix(BOM).lstrip().startswith(b"<")
    columns, rows = unguarded_table(rows_of(path, "query") if topics else records(path, quoted=True))
    if not rows:
        raise InputError("there are no queries", path=path, hint="Add at least one query")
    cells: list[tuple[str, object]]
    if column == LENGTH and column not in columns:
        cells = [(document.id, _length(document.text)) for document in read_queries(path)]
    else:
        need_columns(columns, [column], path, 1)
        cells = [(str(name), cell) for _, name, cell in cells_by_id(columns, rows, QUERY, column, path)]
    slices: dict[str, list[str]] = {}
    for query, value in cells:
        for name in _names(value):
            labels = slices.setdefault(query, [])
            if name not in labels:
                labels.append(name)
    return slices


def _length(text: str) -> str:
    """Return the slice of a query by its number of words; none without words.

    >>> _length("wing"), _length("flow past a wing"), _length("w " * 17), _length(" ")
    ('1-2 words', '3-4 words', '17 or more words', '')
    """
    words, low = len(text.split()), 1
    if not words:
        return ""
    for high in LENGTHS:
        if words <= high:
            return f"{low}-{high} words"
        low = high + 1
    return f"{low} or more words"


def _names(value: object) -> list[str]:
    """Return the slices that a cell names; none if it is empty."""
    values = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
    texts = [
        str(each).lower() if isinstance(each, bool) else str(each) for each in values if each is not None
    ]
    return [text.strip() for text in texts if text.strip()]


def slicings_of(results: Results, by: SliceSource | Iterable[SliceSource]) -> list[Slicing]:
    """Return the slices of the queries of results, by source; those in memory are numbered."""
    sources = by if isinstance(by, Iterable) and not isinstance(by, (str, Mapping)) else [by]
    slicings = [_slicing(source, results) for source in sources]
    times = Counter(each.by for each in slicings)
    twice = [name for name, number in times.items() if number > 1 and name != IN_MEMORY]
    if twice:
        raise UsageError(f"the slices '{twice[0]}' are repeated. Pass them only once.")
    if not slicings:
        raise UsageError("no slices were given. Pass FILE:COLUMN or {query: slice}.")
    later = [place for place, each in enumerate(slicings) if each.by == IN_MEMORY][1:]
    for number, place in enumerate(later, start=2):
        slicings[place] = slicings[place]._replace(by=f"{IN_MEMORY} {number}")
    return slicings


def _slicing(source: object, results: Results) -> Slicing:
    """Return the slices of the queries of results."""
    if isinstance(source, str):
        by, labels = source, read_slices(source)
    elif isinstance(source, Mapping):
        by, labels = IN_MEMORY, {str(query): _names(value) for query, value in source.items()}
    else:
        raise UsageError(
            f"slices cannot be of type {type(source).__name__}. Pass FILE:COLUMN or {{query: slice}}."
        )
    codes = results.queries.encode(map(to_bytes, labels))
    by_code = {
        int(code): names for code, names in zip(codes.tolist(), labels.values(), strict=True) if code >= 0
    }
    names = sorted({name for found in by_code.values() for name in found}, key=_natural)
    if not names:
        such = f", such as '{results.queries[0]}'" * bool(len(results.queries))
        hint = f"Assign a slice to at least one evaluated query{such}"
        path = by.rpartition(":")[0] or by
        raise InputError("none of the evaluated queries has a slice", path=path, hint=hint)
    if len(names) > MOST:
        raise InputError(
            f"there are {len(names):,} different slices",
            path=by,
            hint=f"Group the queries into at most {MOST} slices",
        )
    rows = {name: row for row, name in enumerate(names)}
    members = np.zeros((len(names), len(results.queries)), dtype=np.bool_)
    for code, found in by_code.items():
        for name in found:
            members[rows[name], code] = True
    return Slicing(by, names, members)


def _natural(name: str) -> list[tuple[int, float, str]]:
    """Return a key that sorts numbers in a text by size.

    >>> sorted(["10 words", "9 words", "de"], key=_natural)
    ['9 words', '10 words', 'de']
    """
    parts = [part for part in re.split(r"([0-9]+)", name) if part]
    return [(0, float(part), "") if part.isdecimal() and part.isascii() else (1, 0.0, part) for part in parts]


ALL = "all"
SHOWN = ("by", "slice", "run", "a", "b", "measure", "queries", "mean", "low", "high", "p", "verdict")
HEADINGS = {name: name for name in SHOWN} | {"difference": "a - b", "p_corrected": "p (Holm)"}


class Slices(Result):
    """Values by slice of the queries: means of runs, or differences of compared runs.

    Attributes
    ----------
    fields : dict of str to list
        Columns of `records`, of which `reason` says why there is no interval, or no test.
    without_slice : dict of str to int
        Number of averaged queries in no slice, by source.
    in_several : dict of str to int
        Number of averaged queries in more than one slice, by source.
    confidence : float
        Confidence level.
    rules : Rules or None
        Test and levels of differences; None for means.
    """

    def __init__(
        self,
        fields: Mapping[str, list[Any]],
        slicings: Sequence[Slicing],
        results: Results,
        *,
        interval: str,
        confidence: float,
        rules: Rules | None = None,
        per_pair: bool = False,
    ) -> None:
        self._per_pair = per_pair
        self.fields = dict(fields)
        self.confidence = confidence
        self.interval = interval
        self.rules = rules
        self.measures = list(map(str, results.measures))
        averaged = results.averaged.any(axis=2).any(axis=0)
        counts = {each.by: each.members[:, averaged].sum(axis=0) for each in slicings}
        self.without_slice = {by: int((count == 0).sum()) for by, count in counts.items()}
        self.in_several = {by: int((count > 1).sum()) for by, count in counts.items()}
        self.warnings = self._warnings()
        self.ranges = {str(measure): range_of(measure) for measure in results.measures}

    @cached_property
    def records(self) -> list[SimpleNamespace]:
        """Values by measure, run or pair, and slice; the first of each are those of all queries (None)."""
        rows = zip(*self.fields.values(), strict=True)
        return [SimpleNamespace(**dict(zip(self.fields, row, strict=True))) for row in rows]

    @property
    def moved(self) -> list[SimpleNamespace]:
        """Slices with a significant difference after the correction over slices."""
        sliced = [record for record in self.records if record.slice is not None]
        return [record for record in sliced if record.verdict in ("better", "worse")]

    def _warnings(self) -> list[ResultWarning]:
        """Return the warnings of queries without a slice and in several."""
        found = []
        for code, numbers, what in (
            ("queries_without_slice", self.without_slice, "no slice"),
            ("queries_in_several_slices", self.in_several, "several slices"),
        ):
            for by, number in numbers.items():
                source = f" in {by}" * (not by.startswith(IN_MEMORY))
                found.append((code, f"{counted(number, 'query has', 'queries have')} {what}{source}", number))
        return raised(*found)

    def _columns(self) -> list[Column]:
        hidden = () if len(self.without_slice) > 1 else ("by",)
        headings = {name: heading for name, heading in HEADINGS.items() if name not in hidden}
        return named_columns(self.fields, headings, dropped=["p"])

    def _tables(self) -> list[Table]:
        low, high = np.array([self.ranges[name] for name in self.fields["measure"]]).T
        shown: dict[str, Any] = {
            "slice": [RowLabel(ALL) if name is None else name for name in self.fields["slice"]]
        }
        if self.rules is None:
            shown |= {end: np.clip(self.fields[end], low, high) for end in ("low", "high")}
        else:
            alone = np.array([name is None for name in self.fields["slice"]]) & self._per_pair
            shown |= shown_columns(self.fields, high - low, alone=alone)
        return [
            printed_table(
                self._columns(),
                shown=shown,
                title="slices: " + ", ".join(self.without_slice),
                notes=[*self._moved(), *self._methods(), *map(str, self.warnings)],
            )
        ]

    def _in_data(self, note: str) -> str:
        return note_in_data(note)

    def _moved(self) -> list[str]:
        """Return a note for each slice with a significant difference, or that there is none."""
        if self.rules is None:
            return []
        notes = [
            f"{record.by}, {record.slice}: {record.a} is significantly {record.verdict} than {record.b} on "
            f"{record.measure}: {signed(record.difference, 3)}, Holm {p_text(record.p_corrected)}, "
            f"{queries(record.queries)}"
            for record in self.moved
        ]
        return [*(notes or ["no slice has a significant difference"]), ""]

    def _methods(self) -> list[str]:
        level = percent(self.confidence)
        sliced = [record for record in self.records if record.slice is not None]
        reasons = [f"{one.slice} ({one.reason})" for one in sliced if one.reason]
        nothing = "no interval" + " or test" * (self.rules is not None)
        words = f"{counted(len(reasons), 'value has', 'values have')} {nothing}"
        notes = [f"{words}: {first_few(list(dict.fromkeys(reasons)))}"] * bool(reasons)
        if self.rules is None:
            return [f"low, high: {level} CI of each mean ({self.interval})", *notes]
        tests = [one for one in sliced if not np.isnan(one.p)]
        by_measure = Counter(record.measure for record in tests)
        many, over = max(by_measure.values(), default=0), "per measure (slices x pairs)"
        most = "up to " * (len(set(by_measure.values())) > 1)
        if self.rules.family == "all":
            many, over, most = len(tests), "across all measures", ""
        ends = [limit for record in tests for limit in (record.simultaneous_low, record.simultaneous_high)]
        moved = "; approximate, because Holm moves some limits to 0"
        moved *= any(abs(limit) == SMALLEST for limit in ends)
        if not tests:
            return notes
        over = f"{most}{counted(many, 'test')} {over}"
        return [
            f"p: {self.rules.test.title}, two-sided; p (Holm): corrected over {over}",
            f"{ALL}: p, CI and verdict as in the comparison of all queries, not corrected over slices",
            f"low, high: {level} simultaneous CI over these tests (Bonferroni, {self.interval}){moved}",
            *notes,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys slices and without_slice; None is undefined."""
        return {
            "slices": self.to_rows(),
            "without_slice": self.without_slice,
            "in_several_slices": self.in_several,
        }

    def _labelled(self) -> Sequence[str]:
        sides = ("run", "a", "b")
        return list({getattr(one, side) for one in self.records for side in sides if hasattr(one, side)})

    def _figure(self, *, measure: object | None = None, pair: tuple[str, str] | None = None) -> Make:
        """Draw values by slice with intervals: of the first measure, and of one pair of runs if named."""
        from leadline.comparison.comparison_figures import by_slice

        return lambda width: by_slice(self, measure=measure, pair=pair, width=width)

    def __repr__(self) -> str:
        return f"Slices({counted(len(self.fields['by']), 'value')} by {', '.join(self.without_slice)})"


def slices_of(
    compared: Results | Comparison,
    by: SliceSource | Iterable[SliceSource],
    *,
    interval: str | Interval | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Slices:
    """Return values by slice of the queries, with confidence intervals.

    Means of evaluated runs have their own interval and level; differences of compared runs have the test,
    level and groups of the comparison. Their p-values are corrected by Holm over all slices and pairs of a
    measure (with `family="all"`, of all measures), and simultaneous intervals have Bonferroni's level. Slices
    of fewer than five queries (or groups of queries) have no interval and no test, and do not count in the
    correction; slices of estimates need ten queries and 50 judgments. `by` is FILE:COLUMN, `{query: slice}`
    or `{query: [slice, ...]}`, or several of these.

    >>> from leadline.evaluation.evaluate import evaluate
    >>> qrels = {f"q{number}": {"d": 1} for number in range(6)}
    >>> run = {query: {"d": 1.0} for query in qrels}
    >>> found = slices_of(evaluate(qrels, run, "AP"), {"q0": "short", "q1": "short", "q2": "long"})
    >>> [(record.slice, record.queries, record.mean) for record in found.records]
    [(None, 6, 1.0), ('long', 1, 1.0), ('short', 2, 1.0)]
    >>> found.without_slice
    {'in memory': 3}
    """
    if isinstance(compared, Results):
        check_intervals(compared)
        slicings = slicings_of(compared, by)
        chosen = DEFAULT_INTERVAL if interval is None else interval
        chosen = INTERVALS.parse(chosen) if isinstance(chosen, str) else chosen
        rows = zip(*_means(compared, slicings, chosen, confidence, seed), strict=True)
        means = dict(zip(MEANS, map(list, rows), strict=True))
        return Slices(means, slicings, compared, interval=str(chosen), confidence=confidence)
    slicings = slicings_of(compared.results, by)
    rules = replace(compared.rules, correction=Holm())
    return Slices(
        _differences(compared, slicings, rules),
        slicings,
        compared.results,
        interval=str(rules.interval),
        confidence=rules.confidence,
        rules=rules,
        per_pair=bool(compared.options.get("per_pair")),
    )


def _means(
    results: Results, slicings: Sequence[Slicing], interval: Interval, confidence: float, seed: int
) -> Iterator[tuple[Any, ...]]:
    every = np.ones(len(results.queries), dtype=np.bool_)
    parts = [
        (by, name, members, results.changed(averaged=results.averaged & members[:, None], warnings=[]))
        for by, names, table in slicings
        for name, members in [(None, every), *zip(names, table, strict=True)]
    ]
    limits = [mean_intervals(part, interval, confidence=confidence, seed=seed).limits for *_, part in parts]
    for index, measure in enumerate(results.measures):
        for run, name_of_run in enumerate(results.names):
            for (by, name, members, part), low_high in zip(parts, limits, strict=True):
                averaged = int((~np.isnan(part.averaged_values(index)[run])).sum())
                reason = few_queries_text(averaged) or results._withheld_over(members, run, index)  # noqa: SLF001  # not for users
                low, high = low_high[run, index].tolist()
                if not reason and np.isnan(low):
                    reason = "a sum over queries" if measure.average == "sum" else "no interval"
                withheld = bool(reason)
                yield (
                    by,
                    name,
                    name_of_run,
                    str(measure),
                    averaged,
                    float(part.means[run, index]) if averaged else np.nan,
                    np.nan if withheld else low,
                    np.nan if withheld else high,
                    reason,
                )


def _differences(comparison: Comparison, slicings: Sequence[Slicing], rules: Rules) -> dict[str, list[Any]]:
    """Return the columns of differences by measure, pair, source and slice; all queries are as compared."""
    members = np.concatenate([each.members for each in slicings])
    tables = [
        np.concatenate([np.where(members.T, column[:, None], np.nan) for column in table.T], axis=1)
        for table in comparison.differences
    ]
    untested = comparison.results._untested_over  # noqa: SLF001  # not for users
    runs_of_pairs = list(zip(*(side.tolist() for side in comparison.pairing), strict=True))
    parts = []
    for place, (table, part) in enumerate(zip(tables, comparison.parts, strict=True)):
        few = few_queries_texts(table, comparison.groups)
        owners = product(runs_of_pairs, members)
        reasons = [one or untested(each, pair, place) for one, (pair, each) in zip(few, owners, strict=True)]
        parts.append(Differences(table, rising=part.rising, reasons=reasons))
    tested = Tested(parts, rules, comparison.groups)
    whole = comparison.fields()
    pairs, slices = len(whole["a"]), len(members)  # pairs by every measure
    found: dict[str, Any] = {name: np.repeat(np.array(whole[name]), slices) for name in ("a", "b", "measure")}
    found |= {
        "queries": [(~np.isnan(table)).sum(axis=0) for table in tested.differences],
        "difference": tested.means,
        "low": tested.limits[..., 0],
        "high": tested.limits[..., 1],
        "simultaneous_low": tested.shown_limits[..., 0],
        "simultaneous_high": tested.shown_limits[..., 1],
        "p": tested.p_uncorrected,
        "p_corrected": tested.p_corrected,
        "verdict": tested.verdicts,
        "reason": [part.reasons for part in parts],
    }
    size = len(runs_of_pairs)
    whole["reason"] = [reason for part in comparison.parts for reason in part.reasons or [""] * size]
    rows_of_slices = count(pairs)
    rows = [
        (each.by, name, None if name is None else next(rows_of_slices))
        for each in slicings
        for name in [None, *each.names]
    ]
    order = [pair if row is None else row + pair * slices for pair in range(pairs) for *_, row in rows]
    columns: dict[str, list[Any]] = {
        name: np.concatenate([np.array(whole[name]), np.ravel(values)])[order].tolist()
        for name, values in found.items()
    }
    for row, verdict in enumerate(columns["verdict"]):
        if verdict == "undecided":
            columns["verdict"][row] = "cannot tell"
            columns["reason"][row] = columns["reason"][row] or "p is undefined"
        else:
            columns["reason"][row] = ""
    return {"by": [row[0] for row in rows] * pairs, "slice": [row[1] for row in rows] * pairs, **columns}
