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
from leadline.cli._help import PAIRS, Command, option
from leadline.cli._options import (
    OUTPUT,
    confidence_options,
    evaluation_options,
    measure_option,
    output_options,
    progress,
    refuse_same_output,
    sample_options,
    slice_option,
    write_output,
)
from leadline.cli._plots import check_plots, figure_option, plot_option, plot_options, write_plots
from leadline.cli._reading_options import judgments_and_draw, values_of
from leadline.cli._results import inputs_of, print_warnings, result_text, table_text, with_notes
from leadline.cli._scores import given_scores, scores_options, values_given
from leadline.cli._settings import settings
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
from leadline.data.table import Table
from leadline.errors import UsageError
from leadline.estimation.measured import default_measures
from leadline.evaluation.results import Results
from leadline.render.text_formats import plain_text

SECTION = "Evaluation"

FIGURES: tuple[str, ...] = ("differences", "forest", "pairs", "groups", "critical-difference", "scatter")
FIGURES += ("slices", "box", "violin", "line")
DATA = ("csv", "json", "jsonl")  # formats for programs: all pairs, nothing truncated


@click.command(
    cls=Command,
    epilog="Example: leadline compare qrels.txt bm25.run dense.run --baseline bm25 --fail-if-worse AP:0.01",
)
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@scores_options
@measure_option(f"Measure, as in map or nDCG@10 (repeatable). [default: {', '.join(COMPARED)}]")
@confidence_options
@settings("test.per_pair", "output.changed", "figure.pair")
@option(
    "Output",
    "--pairs",
    type=PAIRS,
    metavar="WHICH",
    help=f"Show significant pairs, all, or the N with the smallest p. [default: all up to {SENTENCES}]",
)
@option("Output", "--long", is_flag=True, help="Also show effects, wins, ties and losses.")
@option(
    "Gates",
    "--fail-if-worse",
    multiple=True,
    metavar="M[:MARGIN]",
    help="Fail if a run is significantly worse than the baseline, by more than MARGIN if given.",
)
@option(
    "Gates",
    "--require-not-worse",
    multiple=True,
    metavar="M:MARGIN",
    help="Fail unless a run is shown to be worse than the baseline by less than MARGIN.",
)
@option(
    "Gates",
    "--fail-below",
    multiple=True,
    metavar="M=VALUE",
    help="Fail if the mean of a run is below VALUE, or above it where less is better.",
)
@baseline_options
@slice_option
@option(
    "Output", "--summary", type=OUTPUT, metavar="FILE", help="Output file of a short summary in Markdown."
)
@plot_option("Figure")
@figure_option(FIGURES, f"{', '.join(FIGURES[:-1])} or {FIGURES[-1]}.")
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
    long: bool,
    plots: tuple[str, ...],
    figure: str | None,
    pair: tuple[str, str] | None,
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Compare runs: differences with intervals and significance tests.

    `leadline compare QRELS OLD NEW` tells you whether NEW is better than OLD. In every pair, b is the run
    that you named first, or the baseline, and a - b is the mean difference over the same queries.

    With --fail-if-worse, --require-not-worse or --fail-below, leadline exits with status 1 if a run fails the
    check or if there are too few queries to tell. Repeat and combine them freely (docs/gates.md).
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
    scores = values_given(context, (qrels, *runs), kind)
    others = [name for name, given in (("baseline", baseline), ("values of queries", scores)) if given]
    file = BaselineFile(path, update=kept_in["update_baseline"], force=kept_in["force_update"], others=others)
    named = measures or (() if conditions else file.measures)
    needed = [*(one.measure for one in conditions), *(file.measures if file.update else [])]
    qrels_table: Qrels | None = None
    pairing: pairings.Pairs | None = None
    more: list[tuple[str, int]] = []
    if scores:
        wanted = [*named, *needed] if measures or conditions else ()
        asked = [*options, "level"]
        results, ((qrels, judged), *more) = given_scores(context, asked, (qrels, *runs), wanted)
        own = results
    else:
        if not runs:
            raise UsageError("no run; expected QRELS RUN RUN..., or values of queries")
        others = [one for one in baseline if one not in runs and os.path.isfile(one)]
        with progress("runs") as on_run:
            given = judgments_and_draw(qrels, options, kind, [*named, *needed] or None)
            usual = () if conditions else default_measures(given[1], COMPARED) or ()
            requested = [*(named or usual), *needed]
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
        printed = {"conditions": outcomes, "changed": changed, "per_pair": per_pair, "long": long}
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
