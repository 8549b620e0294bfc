"""`leadline compare`: differences between runs, confidence intervals, significance tests, gates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from leadline.cli._baselines import (
    OPTIONS,
    BaselineFile,
    baseline_options,
    first_notes,
    first_summary,
    least_means,
)
from leadline.cli._help import Command, option
from leadline.cli._options import (
    OUTPUT,
    confidence_options,
    evaluation_options,
    measure_option,
    output_options,
    progress,
    refuse_same_output,
    sample_options,
    write_output,
)
from leadline.cli._plots import check_plots, figure_option, plot_option, plot_options, write_plots
from leadline.cli._reading_options import judgments_and_draw, values_of
from leadline.cli._results import inputs_of, print_warnings, result_text, table_text, with_notes
from leadline.cli._scores import given_scores, refuse_without_scores, scores_options
from leadline.cli._settings import settings
from leadline.cli._slices import slice_option
from leadline.comparison import pairing as pairings
from leadline.comparison.baselines import refuse_estimates
from leadline.comparison.compare import COMPARED, compare_results
from leadline.comparison.comparison_notes import SENTENCES, method_notes, pair_notes
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.gate import (
    BELOW,
    NOT_WORSE,
    WORSE,
    Gate,
    condition_of,
    gates_of,
    refuse_without_baseline,
)
from leadline.comparison.query_slices import Slices, slices_of
from leadline.comparison.rules import Rules
from leadline.data.qrels import Qrels
from leadline.data.results import Results
from leadline.data.table import Table
from leadline.errors import UsageError
from leadline.reporting.render.text_formats import plain_text

SECTION = "Evaluation"

FIGURES: tuple[str, ...] = ("differences", "forest", "pairs", "groups", "critical-difference", "scatter")
FIGURES += ("slices", "box", "violin", "line")
DATA = ("csv", "json", "jsonl")  # formats for programs: all pairs, nothing truncated


class Pairs(click.ParamType):  # type: ignore[type-arg]  # takes no parameter before click 8.4
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
    epilog="Example: leadline compare qrels.txt bm25.run dense.run --baseline bm25 --fail-if-worse AP:0.01",
)
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@scores_options
@measure_option(
    f"Measure, as in AP (its mean is MAP) or nDCG@10 (repeatable); the first is the primary measure. "
    f"[default: {', '.join(COMPARED)}]"
)
@confidence_options
@settings("test.per_pair", "output.changed", "figure.pair")
@option(
    "Output",
    "--pairs",
    type=Pairs(),
    metavar="significant|all|N",
    help=f"Pairs shown: those with a significant difference, all, or the N of smallest p-value per measure. "
    f"[default: all in JSON, CSV and Parquet; in tables all up to {SENTENCES}, else significant]",
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
    "test.power.",
)
@option(
    "Gates",
    "--fail-below",
    multiple=True,
    metavar="MEASURE=VALUE",
    help="Fail if the mean of a run other than the baseline is below VALUE (repeatable); above, for "
    "measures where less is better.",
)
@baseline_options
@slice_option
@option(
    "Output", "--summary", type=OUTPUT, metavar="FILE", help="Output file of a short summary in Markdown."
)
@plot_option("Figure")
@figure_option(
    FIGURES,
    "Kind of figure, for the primary measure: differences or scatter of a pair; pairs (mean "
    "differences of the pairs shown, with the intervals of the table); forest (means of all "
    "runs, with the interval of each mean alone); groups (bars join runs without a significant "
    "difference); critical-difference (mean ranks with Nemenyi's critical difference); slices (mean "
    "differences by slice); box, violin or line (values of the queries by run). [default: "
    "differences for one pair, else forest]",
)
@plot_options
@sample_options
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
    query_slice: tuple[str, ...],
    changed: int,
    plots: tuple[str, ...],
    figure: str | None,
    pair: tuple[str, str] | None,
    form: str,
    output: str | None,
    kind: str | None,
    scores: bool,
    **options: Any,
) -> None:
    """Compare runs: differences with intervals and significance tests.

    In every pair the second run is the one named earlier, or the baseline. A difference is the mean of the
    first minus that of the second, over the same queries: `compare QRELS OLD NEW` tells whether NEW is
    better. Intervals are simultaneous over the pairs corrected together; they exclude 0 where the difference
    is significant; `-C interval=BCa` makes bootstrap intervals. A run without any judged document is an
    error.

    Gates (--fail-if-worse, --require-not-worse, --fail-below) end with status 1 if a condition fails, or if
    it cannot be decided: a run that lacks judged queries of its baseline, a baseline that lacks judged
    queries (unless --queries both), fewer than 5 queries (or groups), or a test that cannot reach
    significance. A run without any difference passes. Each condition is a one-sided test at alpha = 1 -
    confidence, without correction. With k tests (conditions times runs) the nominal probability of a false
    alarm of --fail-if-worse is at most k alpha; that of --require-not-worse passing a run that is worse by
    the margin is alpha, however many tests there are. Measured at alpha = 5 %: 3 to 6 % and 4 to 7 % on
    scores of real runs, up to 15 % for very skewed differences on 5 queries (docs/comparing.md).
    --fail-if-worse and --require-not-worse need --baseline or --baseline-file.

    With many runs, -o FILE.parquet writes the columns of the CSV in a small part of the space of JSON; in
    JSON, --pairs leaves out pairs, and -C changed=0 the queries with the largest differences.
    """
    columns = output is not None and output.lower().endswith(".parquet")
    if columns and (form != "table" or query_slice):
        raise UsageError(
            f"-o {output} with {'--query-slice' if query_slice else f'-f {form}'}; expected no .parquet"
        )
    kept_in = {name: options.pop(name) for name in OPTIONS}
    path = kept_in["baseline_file"]
    refuse_same_output(output or "-", summary, *plots, path)
    asked_for = {WORSE: fail_if_worse, NOT_WORSE: require_not_worse, BELOW: fail_below}
    conditions = [condition_of(text, gate) for gate, texts in asked_for.items() for text in texts]
    appearance = check_plots(plots, figure=figure, pair=pair)
    baseline = options.pop("baseline")
    all_pairs = not baseline and path is None
    _check_figure(figure, pair, all_pairs=all_pairs, slices=bool(query_slice))
    if all_pairs:
        refuse_without_baseline(conditions)
    rules = Rules.take(options)
    others = [name for name, given in (("baseline", baseline), ("scores", scores)) if given]
    file = BaselineFile(path, update=kept_in["update_baseline"], force=kept_in["force_update"], others=others)
    requested = [
        *(measures or (() if conditions else file.measures or COMPARED)),
        *(condition.measure for condition in conditions),
        *(file.measures if file.update else []),
    ]
    qrels_table: Qrels | None = None
    pairing: pairings.Pairs | None = None
    more: list[tuple[str, int]] = []
    if scores:
        wanted = requested if measures or conditions else ()
        asked = [*options, "level", "kind"]
        results, ((qrels, judged), *more) = given_scores(context, asked, (qrels, *runs), wanted)
        own = results
    else:
        refuse_without_scores(context)
        if not runs:
            raise UsageError("no run; expected QRELS RUN RUN..., or --scores FILE...")
        others = [one for one in baseline if one not in runs and os.path.isfile(one)]
        with progress("runs") as on_run:
            given = judgments_and_draw(qrels, options, kind, requested)
            own, qrels_table, judged, more = values_of(
                given, (*others, *runs), requested, options, rules, rel=level, on_run=on_run
            )
        by_path = {run.path: run.name for run in own.runs}
        baseline = [one if one in own.names else by_path.get(one, one) for one in baseline]
        file.check(own)
        if path is not None:
            refuse_estimates(own)
        results, pairing = (own, None) if qrels_table is None else file.joined(own, qrels_table)
        more += file.inputs(results)
    added = {
        "kind": kind,
        "fail_if_worse": list(fail_if_worse),
        "require_not_worse": list(require_not_worse),
        "fail_below": list(fail_below),
        "changed": changed,
        "per_pair": per_pair,
        "pairs": pairs,
        "plot_pair": pair,
        "query_slice": list(query_slice),
    }
    added |= kept_in | appearance

    def print_text(result: Any, **parts: Any) -> str:
        """Return a result in the format, with the judgments and runs as its inputs."""
        inputs = partial(inputs_of, result, qrels, judged, more)
        return result_text("compare", result, form, inputs=inputs, to_file=output is not None, **parts)

    floors_alone = bool(conditions) and len(results.runs) == 1 and not baseline
    if pairing is None and (path is not None or floors_alone):
        if plots or query_slice or columns:
            option = "-o FILE.parquet" if columns else "--plot or --query-slice"
            raise UsageError(f"there are no values to compare with; expected no {option}")
        outcomes = least_means(own, conditions, rel=level)
        notes = first_notes(path, conditions)
        shown = own.select_measures(list(range(len(own.measures))))  # options are added to a copy
        shown.options |= added
        text = print_text(
            shown,
            data=lambda: _data_without_pairs(own, outcomes) | file.to_dict(outcomes),
            table=lambda: _first_table(own, outcomes, notes),
        )
        brief = first_summary(own, notes, outcomes) if summary is not None else ""
    else:
        comparison = compare_results(results, rules, baseline=baseline, pairing=pairing)
        comparison.options |= added
        outcomes = gates_of(comparison, conditions, rel=level) if conditions else []
        chosen = comparison.printed_pairs("all" if pairs is None and (columns or form in DATA) else pairs)
        slices = slices_of(comparison, query_slice) if query_slice else None
        printed = {"conditions": outcomes, "changed": changed, "per_pair": per_pair}
        text = (
            ""
            if columns
            else print_text(
                comparison,
                data=lambda: _data(comparison, outcomes, changed, chosen, slices) | file.to_dict(outcomes),
                table=None if form != "csv" or slices is None else partial(slices.table, whole=True),
                lines="pairs" if slices is None else "slices",
                chosen=chosen,
                **({} if form == "csv" else printed),
            )
        )
        if slices is not None and form not in DATA:
            text += "\n" + table_text(slices.table(), form, to_file=output is not None)
        if columns:
            print_warnings(comparison.warnings)  # the file has no place for them
            comparison.write(str(output), chosen=chosen)
        if slices is not None and figure == "slices":
            write_plots(plots, slices, pair=pair)
        else:
            write_plots(plots, comparison, figure=figure, pair=pair, per_pair=per_pair, chosen=chosen[0])
        brief = _summary(comparison, outcomes, chosen) if summary is not None else ""
        if slices is not None and summary is not None:
            brief += "\n" + slices.to_markdown()
    if summary is not None:
        write_output(brief, summary)
    if not columns:
        write_output(text, output)
    failed = [gate for gate in outcomes if gate.failed]
    if form in DATA or output is not None:  # else they are in the table
        for gate in failed:
            click.echo(f"leadline: {gate}", err=True)
    file.write(own, qrels_table, outcomes)
    if failed:
        context.exit(1)


def _check_figure(figure: str | None, pair: tuple[str, str] | None, *, all_pairs: bool, slices: bool) -> None:
    """Raise UsageError, before any work, for options of figures that contradict each other."""
    if pair and figure not in (None, "differences", "scatter", "slices"):
        raise UsageError(
            f"--config figure.pair with --figure {figure}; expected --figure differences, scatter or slices"
        )
    if figure == "slices" and not slices:
        raise UsageError("--figure slices without slices; expected --query-slice FILE:COLUMN too")
    if figure == "groups" and not all_pairs:
        raise UsageError(
            "--figure groups needs the tests of all pairs; expected no --baseline, or another --figure"
        )


def _data(
    comparison: Comparison,
    outcomes: Sequence[Gate],
    changed: int,
    chosen: Sequence[Sequence[int]],
    slices: Slices | None,
) -> dict[str, Any]:
    data = comparison.to_dict(changed=changed, chosen=chosen)
    if outcomes:
        data["conditions"] = [gate.to_dict() for gate in outcomes]
    return data if slices is None else data | slices.to_dict()


def _data_without_pairs(results: Results, outcomes: Sequence[Gate]) -> dict[str, Any]:
    data = results.to_dict()
    data |= {"primary": data["measures"][0], "pairs": []}
    if outcomes:
        data["conditions"] = [gate.to_dict() for gate in outcomes]
    return data


def _first_table(results: Results, outcomes: Sequence[Gate], notes: Sequence[str]) -> Table:
    return with_notes(results.table(), [*notes, *outcomes])


def _summary(comparison: Comparison, tried: Sequence[Gate], chosen: Sequence[Sequence[int]]) -> str:
    """Return a Markdown summary for continuous integration: outcomes of conditions, sentences, methods."""
    failed = sum(gate.failed for gate in tried)
    head = f"{failed} of {len(tried)} conditions failed" if tried else "comparison"
    lines = [f"### leadline: {head}", ""]
    for gate in tried:
        word, colon, text = plain_text(str(gate)).partition(":")
        lines.append(f"- **{word}**{colon}{text}")
    lines += [""] * bool(tried)
    lines += [f"- {plain_text(note.strip())}" for note in pair_notes(comparison, chosen)]
    lines += ["", *(f"{plain_text(note)}  " for note in method_notes(comparison))]
    return "\n".join(lines) + "\n"
