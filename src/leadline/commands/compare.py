"""`leadline compare`: is A better than B."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from leadline.commands._options import (
    CONFIDENCE,
    confidence_options,
    deliver,
    evaluation_options,
    keep_apart,
    keep_inputs,
    output_options,
    progress,
    write_whole,
)
from leadline.commands._results import results_text
from leadline.comparison import COMPARED, compare_results
from leadline.comparison.gate import Condition, Gate, condition_of, gates
from leadline.comparison.table import Comparison, Pair
from leadline.comparison.wording import sentence
from leadline.errors import UsageError
from leadline.evaluation import evaluate
from leadline.formats import read_qrels
from leadline.render import Cell, Share, Sheet
from leadline.render.markdown import plain_text
from leadline.results import Results, plain
from leadline.wording import counted, percent

SECTION = "Measure runs against judgments"

SAID = 12  # pairs said in sentences under the table; JSON says them all
FIGURES = ("differences", "forest", "critical-difference", "scatter")


@click.command(
    epilog="Example: leadline compare qrels.txt new.run old.run --baseline old --fail-if-worse AP:0.01"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE",
    help=f"A measure, as in nDCG@10 (again for more; default: {' '.join(COMPARED)}).",
)  # fmt: skip
@confidence_options
@click.option(
    "--fail-if-worse", "conditions", multiple=True, metavar="MEASURE[:MARGIN]",
    help="Exit with status 1 when a run is worse than the baseline (the last run, if none is named) "
    "by this measure, or by more than the margin.",
)  # fmt: skip
@click.option("--summary", metavar="FILE", help="Write a short summary in Markdown to FILE.")
@click.option(
    "--changed", type=click.IntRange(0), default=3, show_default=True, metavar="N",
    help="Show the N queries of each pair that differ most.",
)  # fmt: skip
@click.option("--plot", metavar="FILE", help="Draw a figure into FILE.svg, FILE.pdf or FILE.png.")
@click.option(
    "--figure", type=click.Choice(FIGURES),
    help="What --plot draws, by the first measure: differences or scatter of the first pair, forest or "
    "critical-difference of all runs (default: differences for one pair, else forest).",
)  # fmt: skip
@evaluation_options
@output_options
@click.pass_context
def command(
    context: click.Context, /, *, qrels: str, runs: tuple[str, ...], measures: tuple[str, ...],
    level: float | None, conditions: tuple[str, ...], summary: str | None, changed: int,
    plot: str | None, figure: str | None, form: str, output: str | None, kind: str | None, **options: Any,
) -> None:  # fmt: skip
    """Say whether RUNS differ, judged by QRELS: differences with intervals, tests and corrections.

    A difference is the first run minus the second (the baseline, if one is named), over the same queries.
    Every pair gets a sentence: better, worse, not told apart, or equivalent within a margin.
    """
    for path in (output, summary, plot):
        keep_inputs(path, qrels, *runs)
    keep_apart(output or "-", summary, plot)
    _check_figure(plot, figure, all_pairs=not conditions and not options["baseline"])
    wanted = [condition_of(text) for text in conditions]
    table = read_qrels(qrels, subtopics=options["subtopics"], kind=kind)
    rules = {name: options.pop(name) for name in CONFIDENCE}
    asked = [*(measures or (() if wanted else COMPARED)), *(one.measure for one in wanted)]
    with progress("runs") as on_run:
        results = evaluate(table, runs, asked, rel=level, on_run=on_run, **options)
    if wanted and not rules["baseline"]:
        rules["baseline"] = results.names[-1:]
    comparison = compare_results(results, **rules)
    comparison.options |= {"kind": kind, "fail_if_worse": list(conditions), "changed": changed}
    tried = _tried(results, wanted, comparison, rules["baseline"], rel=level)
    text = results_text(
        "compare", comparison, lambda: _data(comparison, tried, changed),
        lambda: sheet_of(comparison, tried, changed=changed),
        form=form, qrels=qrels, judgments=len(table), to_file=output is not None, records="pairs",
    )  # fmt: skip
    if plot is not None:
        _draw(comparison, plot, figure)
    if summary is not None:
        deliver(summary_of(comparison, tried), summary)
    deliver(text, output)
    failed = [gate for gate in tried if gate.failed]
    for gate in failed:
        click.echo(f"leadline: {gate}", err=True)
    if failed:
        context.exit(1)


def _check_figure(plot: str | None, figure: str | None, *, all_pairs: bool) -> None:
    """Refuse, before any work, what cannot be drawn."""
    if plot is None:
        if figure is not None:
            raise UsageError(f"--figure {figure} without --plot; expected --plot FILE too")
        return
    from leadline.plots import form_of

    form_of(plot)
    if figure == "critical-difference" and not all_pairs:
        raise UsageError(
            "critical-difference joins runs that are not told apart, of all pairs, and a baseline leaves "
            "pairs out; expected another --figure"
        )


def _tried(
    results: Results, wanted: Sequence[Condition], comparison: Comparison, baseline: Sequence[str],
    *, rel: float | None,
) -> list[Gate]:  # fmt: skip
    """Try the conditions."""
    if not wanted:
        return []
    from leadline.profiles import profile_of

    placed = []
    for one in wanted:
        chosen = profile_of(results.options["profile"])
        found = chosen.measures([one.measure], rel=rel, documents=results.options["documents"])
        if len(found) != 1:
            raise UsageError(f"'{one.measure}' means {len(found)} measures; expected one")
        placed.append((results.place(found[0]), one._replace(measure=str(found[0]))))
    return gates(results, placed, baseline, comparison.rules)


def _data(comparison: Comparison, tried: Sequence[Gate], changed: int) -> dict[str, Any]:
    data = comparison.to_dict(changed=changed)
    if tried:
        data["conditions"] = [
            {
                "run": gate.run, "baseline": gate.baseline, "measure": gate.condition.measure,
                "margin": gate.condition.margin, "difference": plain(gate.difference),
                "worst": plain(gate.worst), "p_corrected": plain(gate.p), "failed": gate.failed,
            }
            for gate in tried
        ]  # fmt: skip
    return data


def sheet_of(comparison: Comparison, tried: Sequence[Gate] = (), *, changed: int = 3) -> Sheet:
    """Lay a comparison out: pairs down, measure by measure, and under them what it means."""
    few = comparison.p.size <= SAID
    pairs = comparison.records(changed=changed if few else 0)
    rows: list[list[Cell]] = [
        [
            pair.a, pair.b, pair.measure, plain(pair.difference), plain(pair.low), plain(pair.high),
            *(None if value != value else Share(value) for value in (pair.p, pair.p_corrected)),  # noqa: PLR0124  # NaN
            plain(pair.effect), pair.wins, pair.ties, pair.losses, pair.verdict,
        ]
        for pair in pairs
    ]  # fmt: skip
    said = _said(comparison, pairs) if few else _tally(comparison)
    by = comparison.rules.corrected_by
    return Sheet(
        columns=["a", "b", "measure", "a - b", "low", "high", "p", f"p {by}", "effect", "wins",
                 "ties", "losses", "a is"],
        rows=rows,
        notes=[*said, *map(str, tried), "", *_how(comparison), *map(str, comparison.notices)],
    )  # fmt: skip


def _tally(comparison: Comparison) -> list[str]:
    """Count the verdicts of many pairs."""
    words = [word for row in comparison.verdicts for word in row]
    counts = {word: words.count(word) for word in dict.fromkeys(words)}
    return [f"{len(words)} pairs: " + ", ".join(f"{word} {n}" for word, n in counts.items())]


def _said(comparison: Comparison, pairs: Sequence[Pair]) -> list[str]:
    """Say each pair in a sentence, with the queries that changed most."""
    notes = []
    for pair in pairs:
        notes.append(sentence(pair, comparison.rules))
        if pair.changed:
            listed = (f"{one.query} {one.difference:+.4f}" for one in pair.changed)
            notes.append("  queries that differ most: " + ", ".join(listed))
    return notes


def _how(comparison: Comparison) -> list[str]:
    """Say how the numbers were made."""
    rules = comparison.rules
    runs, pairs = len(comparison.names), len(comparison.pairing)
    if rules.correction is None:
        pairs = runs * (runs - 1) // 2  # Tukey takes all runs, with a baseline too
    size = pairs * (len(comparison.results.measures) if rules.family == "all" else 1)
    over = "all measures" if rules.family == "all" else "each measure"
    interval = (
        f"Tukey, for {counted(pairs, 'pair')} at once"
        if rules.correction is None
        else str(rules.interval)
    )
    effect = "effect: mean over deviation of the differences; wins: queries that a wins"
    corrected = f"corrected: {rules.corrected_by} over {counted(size, 'pair')} of {over}"
    return [
        f"p: {rules.test}, two-sided, against '{rules.test.null}'; {corrected}; seed {rules.seed}",
        f"low, high: {percent(rules.confidence)} interval ({interval}); {effect}",
    ]


def summary_of(comparison: Comparison, tried: Sequence[Gate]) -> str:
    """Write what a pipeline shows: passed or failed, then a sentence a pair."""
    failed = sum(gate.failed for gate in tried)
    head = f"{failed} of {len(tried)} conditions failed" if tried else "comparison"
    lines = [f"### leadline: {head}", ""]
    for gate in tried:
        word, colon, rest = plain_text(str(gate)).partition(":")
        lines.append(f"- **{word}**{colon}{rest}")
    lines += [""] * bool(tried)
    few = comparison.p.size <= SAID
    said = _said(comparison, comparison.pairs) if few else _tally(comparison)
    lines += [f"- {plain_text(note.strip())}" for note in said]
    lines += ["", *(f"{plain_text(note)}  " for note in _how(comparison))]
    return "\n".join(lines) + "\n"


def _draw(comparison: Comparison, path: str, figure: str | None) -> None:
    from leadline.plots import form_of, picture
    from leadline.plots.of_comparison import figure_of

    kind = figure or ("differences" if len(comparison.pairing) == 1 else "forest")
    write_whole(path, picture(figure_of(comparison, kind), form_of(path)))
