"""Tables of comparisons: pairs of runs, and means with marks of significance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isnan
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.compared_pair import ComparedPair
from leadline.comparison.comparison_result import MOST_LETTERS, Comparison
from leadline.comparison.gate import WORSE as GATE_WORSE
from leadline.comparison.gate import Gate
from leadline.comparison.sentences import few_groups_text, groups_text, sentence, shown_limits
from leadline.data.results import plain
from leadline.data.table import Cell, Preformatted, Probability, Table
from leadline.data.wording import counted, percent, queries
from leadline.reporting.render.text_formats import plain_text
from leadline.stats.corrections import BH
from leadline.stats.intervals import SMALLEST, Student
from leadline.stats.paired_tests import T

SENTENCES = 12  # maximum number of pairs described in sentences; JSON has a sentence for every pair


def chosen_pairs(comparison: Comparison, pairs: str | int | None = None) -> list[list[int]]:
    """Return the indices of the pairs to show, by measure."""
    if pairs is None:
        pairs = "all" if comparison.p.size <= SENTENCES else "significant"
    return comparison.chosen(pairs)


class Column(NamedTuple):
    """A column of a comparison.

    Attributes
    ----------
    name : str
        Field of `ComparedPair`, and the name of the column in CSV and data frames.
    heading : str
        Heading in the printed table, where {correction} is the correction; empty if it is not printed.
    dropped : int
        Order in which a narrow terminal drops columns, from 1; 0 if it keeps this one.
    printed : callable, optional
        Printed cell of a pair; by default the value.
    """

    name: str
    heading: str = ""
    dropped: int = 0
    printed: Callable[[ComparedPair], Cell] | None = None

    def value(self, pair: ComparedPair) -> Cell:
        """Return the value of a pair; None is undefined."""
        value: Any = getattr(pair, self.name)
        if not isinstance(value, float):
            return value  # type: ignore[no-any-return]  # the fields in COLUMNS are texts and numbers
        return _probability(value) if self.name.partition("_")[0] == "p" else plain(value)

    def cell(self, pair: ComparedPair) -> Cell:
        """Return the printed cell of a pair."""
        return self.value(pair) if self.printed is None else self.printed(pair)


def _effect(pair: ComparedPair) -> Cell:
    """Return an effect size with its interval as text."""
    if not isfinite(pair.effect_low):
        return plain(pair.effect)
    return Preformatted(f"{pair.effect:.2f} [{pair.effect_low:.2f}, {pair.effect_high:.2f}]")


# Every column of a comparison, in the order of the printed table and of CSV and data frames.
COLUMNS = (
    Column("a", "a"),
    Column("b", "b"),
    Column("measure", "measure"),
    Column("mean_a"),
    Column("mean_b"),
    Column("difference", "a - b"),
    Column("low", "low"),
    Column("high", "high"),
    Column("simultaneous_low"),
    Column("simultaneous_high"),
    Column("p", "p", dropped=5),
    Column("p_corrected", "p {correction}"),
    Column("p_equivalent"),
    Column("effect", "effect", dropped=4, printed=_effect),
    Column("effect_low"),
    Column("effect_high"),
    Column("wins", "wins", dropped=3),
    Column("ties", "ties", dropped=1),
    Column("losses", "losses", dropped=2),
    Column("queries"),
    Column("groups"),
    Column("effective_groups"),
    Column("these_low"),
    Column("these_high"),
    Column("needed"),
    Column("detectable"),
    Column("verdict", "a is"),
)


def comparison_rows(
    comparison: Comparison, *, pairs: str | int = "all", chosen: Sequence[Sequence[int]] | None = None
) -> Table:
    """Return the table of a comparison for programs: nothing clipped or merged."""
    chosen = comparison.chosen(pairs) if chosen is None else chosen
    records = comparison.records(changed=0, chosen=chosen)
    shown = [column for column in COLUMNS if column.name not in comparison.unused]
    return Table(
        columns=[column.name for column in shown],
        rows=[[column.value(pair) for column in shown] for pair in records],
    )


def comparison_columns(
    comparison: Comparison, *, pairs: str | int = "all", chosen: Sequence[Sequence[int]] | None = None
) -> dict[str, list[Any]]:
    """Return the columns of `comparison_rows` by name, without a record for each pair."""
    chosen = comparison.chosen(pairs) if chosen is None else chosen
    parts = [comparison.fields(index, np.array(rows, np.int64)) for index, rows in enumerate(chosen)]
    names = [column.name for column in COLUMNS if column.name not in comparison.unused]
    columns = {name: [value for part in parts for value in part[name]] for name in names}
    undefined = [name for name, values in columns.items() if all(value is None for value in values)]
    return columns | {name: [float("nan")] * len(columns[name]) for name in undefined}


def _probability(value: float) -> Probability | None:
    return None if isnan(value) else Probability(value)


def comparison_table(
    comparison: Comparison,
    *,
    pairs: str | int | None = None,
    chosen: Sequence[Sequence[int]] | None = None,
    changed: int = 3,
    per_pair: bool = False,
    conditions: Sequence[Gate] = (),
) -> Table:
    """Return the table of pairs, measure by measure, with sentences, methods and warnings as notes."""
    chosen = chosen_pairs(comparison, pairs) if chosen is None else chosen
    shown = sum(map(len, chosen))
    few = shown <= SENTENCES
    records = comparison.records(changed=changed if few else 0, chosen=chosen)
    unknown = {"wins", "ties", "losses"} if comparison.results.withheld is not None else set()
    printed = [column for column in COLUMNS if column.heading and column.name not in unknown]
    rows: list[list[Cell]] = []
    for pair in records:
        low, high = shown_limits(pair, comparison.reach(pair.measure), per_pair=per_pair)
        shown_pair = pair._replace(low=low, high=high)
        rows.append([column.cell(shown_pair) for column in printed])
    notes = _sentence_notes(comparison, records, per_pair=per_pair) if few else []
    notes += _verdict_counts(comparison, chosen) if shown < comparison.p.size or not few else []
    headings = {
        column.heading.format(correction=comparison.rules.correction): column.dropped for column in printed
    }
    return Table(
        columns=list(headings),
        rows=rows,
        notes=[
            *notes,
            *map(str, conditions),
            "",
            *_method_notes(comparison, per_pair=per_pair),
            *_false_alarm_note(comparison, conditions),
            *map(str, comparison.warnings),
        ],
        optional=tuple(sorted(filter(headings.get, headings), key=headings.__getitem__)),
    )


def _verdict_counts(comparison: Comparison, chosen: Sequence[Sequence[int]]) -> list[str]:
    """Return notes with the numbers of verdicts, of all pairs and of those not shown."""
    every, hidden = [], []
    for verdicts, shown in zip(comparison.verdicts, chosen, strict=True):
        every += verdicts
        left = set(range(len(verdicts))) - set(shown)
        hidden += [verdicts[index] for index in sorted(left)]
    notes = [f"{counted(len(every), 'pair')}: {_counts(every)}"]
    if hidden:
        notes.append(f"not shown: {_counts(hidden)} (--pairs all)")
    return notes


def _counts(verdicts: Sequence[str]) -> str:
    return ", ".join(f"{word} {verdicts.count(word):,}" for word in dict.fromkeys(verdicts))


def _sentence_notes(
    comparison: Comparison, pairs: Sequence[ComparedPair], *, per_pair: bool = False
) -> list[str]:
    """Return a sentence for each pair, with the queries of the largest differences."""
    notes = []
    for pair in pairs:
        reach = comparison.reach(pair.measure)
        notes.append(sentence(pair, comparison.rules, reach, per_pair=per_pair))
        if pair.changed:
            listed = (f"{change.query} {change.difference:+.4f}" for change in pair.changed)
            notes.append("  queries that differ most: " + ", ".join(listed))
    return notes


def _method_notes(comparison: Comparison, *, per_pair: bool = False) -> list[str]:
    """Return notes on test, correction, intervals and effect size."""
    rules, size = comparison.rules, comparison.size
    over = "all measures" if rules.family == "all" else "each measure"
    corrected = f"corrected: {rules.correction} over {counted(size, 'pair')} of {over}"
    notes = [
        f"p: {rules.test}, two-sided, H0: {rules.test.null}; {corrected}; seed {rules.seed}",
        f"low, high: {percent(rules.confidence)} {_kind(comparison, per_pair=per_pair)}",
        "effect: mean / standard deviation of "
        + ("the differences [interval]" if comparison.groups is None else "effective groups")
        + ("; wins: queries on which a is better" if comparison.results.withheld is None else ""),
    ]
    if len(comparison.results.measures) > 1:
        others = ", ".join(str(measure) for measure in comparison.results.measures[1:])
        notes.append(f"primary measure: {comparison.primary}; secondary: {others}")
    if comparison.groups is not None:
        table = max((table.found for table in comparison.columns), key=lambda found: found.effective.max())
        number, effective = int(table.clusters.max()), float(table.effective.max())
        notes.append(
            f"queries in groups ({rules.shown()['query_group']}): "
            + (few_groups_text(number, effective) or groups_text(number, effective))
        )
    return notes


def _kind(comparison: Comparison, *, per_pair: bool) -> str:
    """Return the description of the intervals that are shown, and whether they match the test."""
    rules = comparison.rules
    if comparison.simultaneous is None or per_pair:
        own = rules.joint if rules.joint and comparison.size == 1 else rules.interval
        text = f"interval of each pair alone ({own})"
        if per_pair and comparison.simultaneous is not None:
            text += "; it may exclude 0 where the corrected p is not significant"
    elif rules.joint is not None:
        text = f"simultaneous intervals, approximate ({rules.joint})"
    elif isinstance(rules.correction, BH):
        text = f"intervals by the false coverage rate (Benjamini and Yekutieli; {rules.interval})"
    else:
        text = f"simultaneous intervals (Bonferroni; {rules.interval})"
        if (np.abs(comparison.simultaneous) == SMALLEST).any():
            text += f", approximate: some limits are moved to 0 by later steps of {rules.correction}"
    inverted = isinstance(rules.test, T) or not isinstance(rules.interval, Student)
    if rules.matched and not inverted and rules.joint is None:
        text += f"; Student's, not inverted from {rules.test}"
    if not rules.matched and (rules.joint is None or per_pair):
        text += f"; of the mean difference, not inverted from {rules.test}: test and interval may disagree"
    return text


def _false_alarm_note(comparison: Comparison, tried: Sequence[Gate]) -> list[str]:
    """Return a note on the false alarm probability of several tests by --fail-if-worse."""
    tests = sum(gate.condition.kind == GATE_WORSE and not gate.unchanged for gate in tried)
    if tests < 2:
        return []
    alpha = comparison.rules.alpha
    most = min(1.0, tests * alpha)
    return [
        f"{tests} tests by --fail-if-worse, each at {alpha:.3g}: false alarm probability at most {most:.3g}"
    ]


def comparison_summary(
    comparison: Comparison, tried: Sequence[Gate], chosen: Sequence[Sequence[int]] | None = None
) -> str:
    """Return a Markdown summary for continuous integration: outcomes of conditions, sentences, methods."""
    chosen = comparison.chosen("all") if chosen is None else chosen
    failed = sum(gate.failed for gate in tried)
    head = f"{failed} of {len(tried)} conditions failed" if tried else "comparison"
    lines = [f"### leadline: {head}", ""]
    for gate in tried:
        word, colon, text = plain_text(str(gate)).partition(":")
        lines.append(f"- **{word}**{colon}{text}")
    lines += [""] * bool(tried)
    few = sum(map(len, chosen)) <= SENTENCES
    sentences = _sentence_notes(comparison, comparison.records(chosen=chosen)) if few else []
    sentences += (
        [] if few and sum(map(len, chosen)) == comparison.p.size else _verdict_counts(comparison, chosen)
    )
    lines += [f"- {plain_text(note.strip())}" for note in sentences]
    lines += ["", *(f"{plain_text(note)}  " for note in _method_notes(comparison))]
    return "\n".join(lines) + "\n"


def significance_table(
    comparison: Comparison, *, baseline: str | None = None, top: int | None = None, digits: int = 4
) -> Table:
    """Return the table of means with marks of significant differences.

    Parameters
    ----------
    comparison : Comparison
        Compared runs.
    baseline : str, optional
        Run from which significant differences are marked by daggers. Without one, letters name the runs that
        a value is significantly better than; with more than 26 runs they are counted.
    top : int, optional
        Number of best runs to show, besides the baseline.
    digits : int, default 4
        Digits after the decimal point.
    """
    from leadline.reporting.pages.report_page import BETTER, WORSE, marks

    results, rules = comparison.results, comparison.rules
    runs = len(results.runs)
    base = None if baseline is None else results.names.index(baseline)
    order = results.order()
    if top is not None:
        order = [run for row, run in enumerate(order) if row < top or run == base]
    raised = [marks(comparison, index, order, baseline) for index in range(len(results.measures))]
    named = base is None and len(order) <= MOST_LETTERS
    before = 1 + named
    rows: list[list[Cell]] = [
        [
            *([ascii_lowercase[row]] if named else []),
            results.names[run] + (" (baseline)" if run == base else ""),
            *map(plain, results.means[run].tolist()),
        ]
        for row, run in enumerate(order)
    ]
    best = {
        (order.index(run), index + before)
        for index, winners in enumerate(results.best())
        for run in winners
        if run in order
    }
    method = f"({rules.test}, {rules.correction}, level {1 - rules.confidence:.3g})"
    if base is not None:
        name = results.names[base]
        legend = f"{BETTER} significantly better than {name}, {WORSE} significantly worse {method}"
    elif named:
        legend = f"letters: runs that a value is significantly better than {method}"
    else:
        legend = f"raised: the number of runs that a value is significantly better than {method}"
    size = counted(len(order), "run") + (f" of {runs}" if len(order) < runs else "")
    return Table(
        columns=[*([""] if named else []), "run", *map(str, results.measures)],
        rows=rows,
        best=best,
        digits=digits,
        letters={
            (row, index + before): text
            for index, texts in enumerate(raised)
            for row, text in enumerate(texts)
            if text
        },
        notes=[f"{size}, {queries(len(results.averaged_queries()))}", legend, *map(str, comparison.warnings)],
    )
