"""`leadline compare`: differences between runs, confidence intervals, significance tests, gates."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import click
import numpy as np

from leadline.cli._options import (
    CONFIDENCE,
    OUTPUT,
    confidence_options,
    evaluation_options,
    output_options,
    progress,
    refuse_overwrite,
    refuse_same_output,
    write_output,
)
from leadline.cli._plots import check_plot, plot_options, write_plot
from leadline.cli._results import results_text
from leadline.comparison.compare import COMPARED, compare_results
from leadline.comparison.compared_pair import ComparedPair
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.gate import (
    BELOW,
    NOT_WORSE,
    WORSE,
    Condition,
    Gate,
    condition_of,
    gates,
    resolve_conditions,
)
from leadline.comparison.sentences import sentence, shown_limits
from leadline.data.results import plain
from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.io.read import read_qrels
from leadline.reporting.render import Cell, Preformatted, Probability, Table
from leadline.reporting.render.markdown import plain_text
from leadline.stats.corrections import BH
from leadline.stats.intervals import SMALLEST, Student
from leadline.stats.paired_tests import T

SECTION = "Measure runs against judgments"

SAID = 12  # pairs said in sentences under the table; JSON says them all
FIGURES = ("differences", "forest", "pairs", "groups", "critical-difference", "scatter")
VERDICTS = {"not told apart": "not significant"}  # as tables have it
DATA = ("csv", "json", "jsonl")  # forms for programs: all pairs, nothing clipped


class Pairs(click.ParamType[str | int]):
    """`significant`, `all`, or a number of pairs."""

    name = "pairs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """Read the option."""
        if value in ("significant", "all"):
            return str(value)
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"'{value}'; expected significant, all, or a number from 1", param, ctx)
        return number


@click.command(
    epilog="Example: leadline compare qrels.txt new.run old.run --baseline old --fail-if-worse AP:0.01"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help=f"A measure, as in nDCG@10 (repeatable; default: {' '.join(COMPARED)}). The first is the primary "
    "measure.",
)
@confidence_options
@click.option(
    "--per-pair",
    is_flag=True,
    help="Show and draw the confidence interval of each pair alone instead of simultaneous ones, which agree "
    "with the corrected p values.",
)
@click.option(
    "--pairs",
    type=Pairs(),
    metavar="significant|all|N",
    help="Pairs to show: those with a significant difference, all, or the N of smallest p of each measure. "
    f"[default: all in JSON and CSV; in tables all up to {SAID}, else significant]",
)
@click.option(
    "--fail-if-worse",
    multiple=True,
    metavar="MEASURE[:MARGIN]",
    help="Fail on evidence that a run is worse than the baseline, or worse by more than MARGIN: one-sided "
    "test of 'difference >= -MARGIN', p below alpha.",
)
@click.option(
    "--require-not-worse",
    multiple=True,
    metavar="MEASURE:MARGIN",
    help="Fail unless a run is shown not to be worse than the baseline by MARGIN or more (non-inferiority): "
    "the one-sided lower limit of the difference is above -MARGIN. The line printed says from which "
    "margin on these queries pass an equally good run with --power.",
)
@click.option(
    "--fail-below",
    multiple=True,
    metavar="MEASURE=VALUE",
    help="Fail if the mean of a run that is not a baseline is below VALUE (above it where less is better).",
)
@click.option("--summary", type=OUTPUT, metavar="FILE", help="Write a short summary in Markdown to FILE.")
@click.option(
    "--changed",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    metavar="N",
    help="Show the N queries of each pair that differ most.",
)
@click.option(
    "--plot", type=OUTPUT, metavar="FILE", help="Draw a figure into FILE.svg, FILE.pdf or FILE.png."
)
@click.option(
    "--figure",
    type=click.Choice(FIGURES),
    help="What --plot draws, by the primary measure: differences or scatter of a pair; pairs (mean "
    "differences of the pairs shown, with the intervals of the table); of all runs forest (means, with the "
    "interval of each mean alone), groups (bars join runs without a significant difference), or "
    "critical-difference (mean ranks with the critical difference of Nemenyi). Default: differences for one "
    "pair, else forest.",
)
@click.option(
    "--plot-pair",
    nargs=2,
    metavar="A B",
    help="The pair of runs that differences and scatter show (default: the first of the table).",
)
@plot_options
@evaluation_options
@output_options
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    level: float | None,
    per_pair: bool,
    pairs: str | int | None,
    fail_if_worse: tuple[str, ...],
    require_not_worse: tuple[str, ...],
    fail_below: tuple[str, ...],
    summary: str | None,
    changed: int,
    plot: str | None,
    figure: str | None,
    plot_pair: tuple[str, str] | None,
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Compare RUNS judged by QRELS: differences in means, confidence intervals, significance tests.

    A difference is the first run minus the second (the baseline, if one is named), over the same queries.
    Intervals are simultaneous over the pairs corrected together, and exclude 0 where the difference is
    significant. A run of which no document is judged is refused.

    Gates (--fail-if-worse, --require-not-worse, --fail-below) end with status 1 when a condition fails, or
    when the queries cannot tell: fewer than 5 queries (or groups), or a test that cannot become significant.
    A run without any difference passes. Each condition is tested alone, one-sided, at 1 - confidence
    (alpha). With k tests (conditions times runs) --fail-if-worse raises a false alarm with a probability of
    at most k alpha; --require-not-worse passes a run that is worse by the margin with a probability of at
    most alpha, however many there are. Without --baseline the last run is the baseline.
    """
    for path in (output, summary, plot):
        refuse_overwrite(path, qrels, *runs)
    refuse_same_output(output or "-", summary, plot)
    asked_for = {WORSE: fail_if_worse, NOT_WORSE: require_not_worse, BELOW: fail_below}
    wanted = [condition_of(text, gate) for gate, texts in asked_for.items() for text in texts]
    appearance = check_plot(plot)
    _check_figure(plot, figure, plot_pair, all_pairs=not wanted and not options["baseline"])
    table = read_qrels(qrels, subtopics=options["subtopics"], kind=kind)
    rules = {name: options.pop(name) for name in CONFIDENCE}
    asked = [*(measures or (() if wanted else COMPARED)), *(one.measure for one in wanted)]
    with progress("runs") as on_run:
        results = evaluate(table, runs, asked, rel=level, on_run=on_run, **options)
    if wanted and not rules["baseline"]:
        rules["baseline"] = results.names[-1:]
    comparison = compare_results(results, **rules)
    comparison.options |= {
        "kind": kind,
        "fail_if_worse": list(fail_if_worse),
        "require_not_worse": list(require_not_worse),
        "fail_below": list(fail_below),
        "changed": changed,
        "per_pair": per_pair,
        "pairs": pairs,
        "plot_pair": plot_pair or None,
    } | appearance
    tried = _tried(comparison, wanted, rules["baseline"], rel=level)
    if pairs is None:
        pairs = "all" if form in DATA or comparison.p.size <= SAID else "significant"
    chosen = comparison.chosen(pairs)
    text = results_text(
        "compare",
        comparison,
        lambda: _data(comparison, tried, changed, chosen),
        lambda: (
            _columns(comparison, chosen)
            if form == "csv"
            else sheet_of(comparison, tried, changed=changed, chosen=chosen, per_pair=per_pair)
        ),
        form=form,
        qrels=qrels,
        judgments=len(table),
        to_file=output is not None,
        records="pairs",
    )
    if plot is not None:
        _draw(comparison, plot, figure, plot_pair, chosen[0], per_pair=per_pair)
    if summary is not None:
        write_output(summary_of(comparison, tried, chosen), summary)
    write_output(text, output)
    failed = [gate for gate in tried if gate.failed]
    for gate in failed:
        click.echo(f"leadline: {gate}", err=True)
    if failed:
        context.exit(1)


def _check_figure(
    plot: str | None, figure: str | None, pair: tuple[str, str] | None, *, all_pairs: bool
) -> None:
    """Refuse, before any work, what cannot be drawn."""
    if plot is None and (figure is not None or pair):
        option = f"--figure {figure}" if figure else "--plot-pair"
        raise UsageError(f"{option} without --plot; expected --plot FILE too")
    if pair and figure not in (None, "differences", "scatter"):
        raise UsageError(f"--plot-pair is for differences and scatter; found --figure {figure}")
    if figure == "groups" and not all_pairs:
        raise UsageError(
            "groups joins runs without a significant difference, of all pairs, and a baseline leaves pairs "
            "out; expected another --figure"
        )


def _tried(
    comparison: Comparison, wanted: Sequence[Condition], baseline: Sequence[str], *, rel: float | None
) -> list[Gate]:
    """Test the conditions."""
    if not wanted:
        return []
    results, rules = comparison.results, comparison.rules
    conditions = resolve_conditions(results, wanted, rel=rel)
    return gates(results, conditions, baseline, rules, groups=comparison.groups)


def _data(
    comparison: Comparison, tried: Sequence[Gate], changed: int, chosen: Sequence[Sequence[int]]
) -> dict[str, Any]:
    data = comparison.to_dict(changed=changed, chosen=chosen)
    if tried:
        data["conditions"] = [gate.to_dict() for gate in tried]
    return data


def _columns(comparison: Comparison, chosen: Sequence[Sequence[int]]) -> Table:
    """Lay a comparison out for programs: nothing clipped or merged."""
    rows: list[list[Cell]] = [
        [
            pair.a,
            pair.b,
            pair.measure,
            plain(pair.difference),
            plain(pair.low),
            plain(pair.high),
            _share(pair.p),
            _share(pair.p_corrected),
            plain(pair.effect),
            pair.wins,
            pair.ties,
            pair.losses,
            pair.verdict,
            plain(pair.simultaneous_low),
            plain(pair.simultaneous_high),
            plain(pair.effect_low),
            plain(pair.effect_high),
        ]
        for pair in comparison.records(changed=0, chosen=chosen)
    ]
    return Table(
        columns=[
            "a",
            "b",
            "measure",
            "a - b",
            "low",
            "high",
            "p",
            f"p {comparison.rules.corrected_by}",
            "effect",
            "wins",
            "ties",
            "losses",
            "a is",
            "simultaneous low",
            "simultaneous high",
            "effect low",
            "effect high",
        ],
        rows=rows,
    )


def _share(value: float) -> Probability | None:
    return None if isnan(value) else Probability(value)


def sheet_of(
    comparison: Comparison,
    tried: Sequence[Gate] = (),
    *,
    changed: int = 3,
    chosen: Sequence[Sequence[int]] | None = None,
    per_pair: bool = False,
) -> Table:
    """Lay a comparison out: pairs down, measure by measure, and under them what it means.

    `chosen` are the places of the pairs to show, measure by measure; the rest is counted.
    """
    chosen = comparison.chosen("all") if chosen is None else chosen
    shown = sum(map(len, chosen))
    few = shown <= SAID
    pairs = comparison.records(changed=changed if few else 0, chosen=chosen)
    rows: list[list[Cell]] = []
    for pair in pairs:
        low, high = shown_limits(pair, comparison.reach(pair.measure), per_pair=per_pair)
        rows.append(
            [
                pair.a,
                pair.b,
                pair.measure,
                plain(pair.difference),
                plain(low),
                plain(high),
                _share(pair.p),
                _share(pair.p_corrected),
                _effect(pair),
                pair.wins,
                pair.ties,
                pair.losses,
                VERDICTS.get(pair.verdict, pair.verdict),
            ]
        )
    notes = _said(comparison, pairs, per_pair=per_pair) if few else []
    notes += _tally(comparison, chosen) if shown < comparison.p.size or not few else []
    by = comparison.rules.corrected_by
    return Table(
        columns=[
            "a",
            "b",
            "measure",
            "a - b",
            "low",
            "high",
            "p",
            f"p {by}",
            "effect",
            "wins",
            "ties",
            "losses",
            "a is",
        ],
        rows=rows,
        notes=[
            *notes,
            *map(str, tried),
            "",
            *_how(comparison, per_pair=per_pair),
            *_alarms(comparison, tried),
            *map(str, comparison.warnings),
        ],
        optional=("ties", "losses", "wins", "effect", "p"),
    )


def _effect(pair: ComparedPair) -> Cell:
    """Write an effect size with its interval."""
    if not isfinite(pair.effect_low):
        return plain(pair.effect)
    return Preformatted(f"{pair.effect:.2f} [{pair.effect_low:.2f}, {pair.effect_high:.2f}]")


def _tally(comparison: Comparison, chosen: Sequence[Sequence[int]]) -> list[str]:
    """Count the verdicts, and those of the pairs that are not shown."""
    every, hidden = [], []
    for words, places in zip(comparison.verdicts, chosen, strict=True):
        every += words
        left = set(range(len(words))) - set(places)
        hidden += [words[place] for place in sorted(left)]
    notes = [f"{counted(len(every), 'pair')}: {_counts(every)}"]
    if hidden:
        notes.append(f"not shown: {_counts(hidden)} (--pairs all)")
    return notes


def _counts(words: Sequence[str]) -> str:
    return ", ".join(f"{VERDICTS.get(word, word)} {words.count(word):,}" for word in dict.fromkeys(words))


def _said(comparison: Comparison, pairs: Sequence[ComparedPair], *, per_pair: bool = False) -> list[str]:
    """Write a sentence for each pair, with the queries that changed most."""
    notes = []
    for pair in pairs:
        reach = comparison.reach(pair.measure)
        notes.append(sentence(pair, comparison.rules, reach, per_pair=per_pair))
        if pair.changed:
            listed = (f"{one.query} {one.difference:+.4f}" for one in pair.changed)
            notes.append("  queries that differ most: " + ", ".join(listed))
    return notes


def _how(comparison: Comparison, *, per_pair: bool = False) -> list[str]:
    """Say how the numbers were made."""
    rules, size = comparison.rules, comparison.family.size
    over = "all measures" if rules.family == "all" else "each measure"
    corrected = f"corrected: {rules.corrected_by} over {counted(size, 'pair')} of {over}"
    notes = [
        f"p: {rules.test}, two-sided, H0: {rules.test.null}; {corrected}; seed {rules.seed}",
        f"low, high: {percent(rules.confidence)} {_kind(comparison, per_pair=per_pair)}",
        "effect: mean over standard deviation of the differences [interval]; wins: queries a is better on",
    ]
    if len(comparison.results.measures) > 1:
        others = ", ".join(str(each) for each in comparison.results.measures[1:])
        notes.append(f"primary measure: {comparison.primary}; secondary: {others}")
    if comparison.groups is not None:
        groups = max(int(table.found.clusters.max()) for table in comparison.columns)
        notes.append(f"queries in groups ({rules.query_group}): {counted(groups, 'group')}")
    return notes


def _kind(comparison: Comparison, *, per_pair: bool) -> str:
    """Name the intervals that are shown, and say where they are not those of the test."""
    rules = comparison.rules
    if comparison.simultaneous is None or per_pair:
        own = rules.joint if rules.joint and comparison.family.size == 1 else rules.interval
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
            text += f", approximate: some end at 0, by later steps of {rules.corrected_by}"
    inverted = isinstance(rules.test, T) or not isinstance(rules.interval, Student)
    if rules.matched and not inverted and rules.joint is None:
        text += f"; Student's, not inverted from {rules.test}"
    if not rules.matched and (rules.joint is None or per_pair):
        text += f"; of the mean difference, not inverted from {rules.test}: both may disagree"
    return text


def _alarms(comparison: Comparison, tried: Sequence[Gate]) -> list[str]:
    """Say how often gates raise a false alarm."""
    tests = sum(gate.condition.kind == WORSE and not gate.unchanged for gate in tried)
    if tests < 2:
        return []
    alpha = comparison.rules.alpha
    most = min(1.0, tests * alpha)
    return [
        f"{tests} tests by --fail-if-worse, each at {alpha:.3g}: false alarm probability at most {most:.3g}"
    ]


def summary_of(
    comparison: Comparison, tried: Sequence[Gate], chosen: Sequence[Sequence[int]] | None = None
) -> str:
    """Write what a pipeline shows: passed or failed, then a sentence a pair."""
    chosen = comparison.chosen("all") if chosen is None else chosen
    failed = sum(gate.failed for gate in tried)
    head = f"{failed} of {len(tried)} conditions failed" if tried else "comparison"
    lines = [f"### leadline: {head}", ""]
    for gate in tried:
        word, colon, rest = plain_text(str(gate)).partition(":")
        lines.append(f"- **{word}**{colon}{rest}")
    lines += [""] * bool(tried)
    few = sum(map(len, chosen)) <= SAID
    said = _said(comparison, comparison.records(chosen=chosen)) if few else []
    said += [] if few and sum(map(len, chosen)) == comparison.p.size else _tally(comparison, chosen)
    lines += [f"- {plain_text(note.strip())}" for note in said]
    lines += ["", *(f"{plain_text(note)}  " for note in _how(comparison))]
    return "\n".join(lines) + "\n"


def _draw(
    comparison: Comparison,
    path: str,
    figure: str | None,
    pair: tuple[str, str] | None,
    chosen: Sequence[int],
    *,
    per_pair: bool,
) -> None:
    from leadline.reporting.plots.comparison_plots import figure_of, pair_of

    one = bool(pair) or len(comparison.pairing) == 1
    kind = figure or ("differences" if one else "forest")
    place = pair_of(comparison, *pair) if pair else 0
    write_plot(
        path,
        lambda width: figure_of(comparison, kind, pair=place, width=width, per_pair=per_pair, pairs=chosen),
    )
