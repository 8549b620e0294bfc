"""`leadline compare`: differences between runs, confidence intervals, significance tests, gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import (
    CONFIDENCE,
    OUTPUT,
    confidence_options,
    evaluation_options,
    measure_option,
    output_options,
    progress,
    refuse_overwrite,
    refuse_same_output,
    saved_results,
    scores_option,
    write_output,
)
from leadline.cli._plots import check_plot, plot_option, plot_options, write_plot
from leadline.cli._results import results_text
from leadline.comparison.compare import COMPARED, compare_results
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
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.io.read import read_qrels
from leadline.reporting.tables.comparison_table import (
    SENTENCES,
    chosen_pairs,
    comparison_rows,
    comparison_summary,
    comparison_table,
)

SECTION = "Evaluation"

FIGURES = ("differences", "forest", "pairs", "groups", "critical-difference", "scatter")
DATA = ("csv", "json", "jsonl")  # formats for programs: all pairs, nothing truncated


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
    cls=Command,
    epilog="Example: leadline compare qrels.txt new.run old.run --baseline old --fail-if-worse AP:0.01",
)
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@scores_option
@measure_option(
    f"Measure, as in AP (its mean is MAP) or nDCG@10 (repeatable); the first is the primary measure. "
    f"[default: {', '.join(COMPARED)}]"
)
@confidence_options
@option(
    "Statistics",
    "--per-pair",
    is_flag=True,
    help="Show and draw the confidence interval of each pair alone instead of simultaneous ones, "
    "which agree with the corrected p-values.",
)
@option(
    "Output",
    "--pairs",
    type=Pairs(),
    metavar="significant|all|N",
    help=f"Pairs shown: those with a significant difference, all, or the N of smallest p-value per measure. "
    f"[default: all in JSON and CSV; in tables all up to {SENTENCES}, else significant]",
)
@option(
    "Gates",
    "--fail-if-worse",
    multiple=True,
    metavar="MEASURE[:MARGIN]",
    help="Fail if a run is significantly worse than the baseline, or worse by more than MARGIN "
    "(repeatable): one-sided test of 'difference >= -MARGIN', p below alpha.",
)
@option(
    "Gates",
    "--require-not-worse",
    multiple=True,
    metavar="MEASURE:MARGIN",
    help="Fail unless a run is non-inferior to the baseline with margin MARGIN (repeatable): the "
    "one-sided lower confidence limit of the difference is above -MARGIN. The output gives the "
    "smallest margin at which an equally good run passes on these queries with probability "
    "--power.",
)
@option(
    "Gates",
    "--fail-below",
    multiple=True,
    metavar="MEASURE=VALUE",
    help="Fail if the mean of a run other than the baseline is below VALUE (repeatable); above, for "
    "measures where less is better.",
)
@option(
    "Output", "--summary", type=OUTPUT, metavar="FILE", help="Output file of a short summary in Markdown."
)
@option(
    "Output",
    "--changed",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of queries with the largest differences shown per pair.",
)
@plot_option("Figure: FILE.svg, FILE.pdf or FILE.png.")
@option(
    "Figure",
    "--figure",
    type=click.Choice(FIGURES),
    help="Kind of figure, for the primary measure: differences or scatter of a pair; pairs (mean "
    "differences of the pairs shown, with the intervals of the table); forest (means of all "
    "runs, with the interval of each mean alone); groups (bars join runs without a significant "
    "difference); critical-difference (mean ranks with Nemenyi's critical difference). [default: "
    "differences for one pair, else forest]",
)
@option(
    "Figure",
    "--plot-pair",
    nargs=2,
    metavar="A B",
    help="Pair of runs for differences and scatter. [default: first pair of the table]",
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
    scores: bool,
    **options: Any,
) -> None:
    """Compare runs: differences with intervals and significance tests.

    A difference is the mean of the first run minus that of the second (the baseline, if one is named), over
    the same queries. Intervals are simultaneous over the pairs corrected together; they exclude 0 where the
    difference is significant. A run without any judged document is an error.

    Gates (--fail-if-worse, --require-not-worse, --fail-below) end with status 1 if a condition fails, or if
    it cannot be decided: fewer than 5 queries (or groups), or a test that cannot reach significance. A run
    without any difference passes. Each condition is a one-sided test at alpha = 1 - confidence, without
    correction. With k tests (conditions times runs) the nominal probability of a false alarm of --fail-if-
    worse is at most k alpha; that of --require-not-worse passing a run that is worse by the margin is
    alpha, however many tests there are. Measured at alpha = 5 %: 3 to 6 % and 4 to 7 % on scores of real
    runs, up to 15 % for very skewed differences on 5 queries (docs/comparing.md). Without --baseline the
    last run is the baseline.
    """
    for path in (output, summary, plot):
        refuse_overwrite(path, qrels, *runs)
    refuse_same_output(output or "-", summary, plot)
    asked_for = {WORSE: fail_if_worse, NOT_WORSE: require_not_worse, BELOW: fail_below}
    gate_conditions = [condition_of(text, gate) for gate, texts in asked_for.items() for text in texts]
    appearance = check_plot(plot)
    _check_figure(plot, figure, plot_pair, all_pairs=not gate_conditions and not options["baseline"])
    rules = {name: options.pop(name) for name in CONFIDENCE}
    requested = [
        *(measures or (() if gate_conditions else COMPARED)),
        *(condition.measure for condition in gate_conditions),
    ]
    if scores:
        kept = requested if measures or gate_conditions else ()
        results, judged, others = saved_results(context, options, (qrels, *runs), kept)
    else:
        if not runs:
            raise UsageError("no run; expected QRELS RUN RUN..., or --scores FILE...")
        table = read_qrels(
            qrels, subtopics=options["subtopics"], kind=kind, integer_ids=options["integer_ids"]
        )
        judged, others = len(table.grades), []
        with progress("runs") as on_run:
            results = evaluate(table, runs, requested, rel=level, on_run=on_run, **options)
    if gate_conditions and not rules["baseline"]:
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
    outcomes = _test_conditions(comparison, gate_conditions, rules["baseline"], rel=level)
    chosen = chosen_pairs(comparison, "all" if pairs is None and form in DATA else pairs)
    text = results_text(
        "compare",
        comparison,
        lambda: _data(comparison, outcomes, changed, chosen),
        lambda: (
            comparison_rows(comparison, chosen=chosen)
            if form == "csv"
            else comparison_table(
                comparison, conditions=outcomes, changed=changed, chosen=chosen, per_pair=per_pair
            )
        ),
        form=form,
        qrels=qrels,
        judgments=judged,
        to_file=output is not None,
        records="pairs",
        others=others,
    )
    if plot is not None:
        from leadline.reporting.plots.result_plots import figure_of_result

        write_plot(
            plot,
            figure_of_result(
                comparison, figure=figure, pair=plot_pair or None, per_pair=per_pair, chosen=chosen[0]
            ),
        )
    if summary is not None:
        write_output(comparison_summary(comparison, outcomes, chosen), summary)
    write_output(text, output)
    failed = [gate for gate in outcomes if gate.failed]
    for gate in failed:
        click.echo(f"leadline: {gate}", err=True)
    if failed:
        context.exit(1)


def _check_figure(
    plot: str | None, figure: str | None, pair: tuple[str, str] | None, *, all_pairs: bool
) -> None:
    """Raise UsageError, before any work, for options of figures that contradict each other."""
    if plot is None and (figure is not None or pair):
        option = f"--figure {figure}" if figure else "--plot-pair"
        raise UsageError(f"{option} without --plot has no effect; expected --plot FILE too")
    if pair and figure not in (None, "differences", "scatter"):
        raise UsageError(f"--plot-pair with --figure {figure}; expected --figure differences or scatter")
    if figure == "groups" and not all_pairs:
        raise UsageError(
            "--figure groups needs the tests of all pairs; expected no --baseline, or another --figure"
        )


def _test_conditions(
    comparison: Comparison, conditions: Sequence[Condition], baseline: Sequence[str], *, rel: float | None
) -> list[Gate]:
    """Test the conditions."""
    if not conditions:
        return []
    results, rules = comparison.results, comparison.rules
    resolved = resolve_conditions(results, conditions, rel=rel)
    return gates(results, resolved, baseline, rules, groups=comparison.groups)


def _data(
    comparison: Comparison, outcomes: Sequence[Gate], changed: int, chosen: Sequence[Sequence[int]]
) -> dict[str, Any]:
    data = comparison.to_dict(changed=changed, chosen=chosen)
    if outcomes:
        data["conditions"] = [gate.to_dict() for gate in outcomes]
    return data
