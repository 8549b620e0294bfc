"""`leadline compare`: differences between runs, confidence intervals, tests, gates and baseline files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import nan
from typing import Any

import click
import numpy as np

from leadline.cli._inputs import (
    WITHOUT_DRAW,
    files_among,
    given_scores,
    judgments_and_draw,
    plan_of,
    refuse_no_runs,
    values_given,
    values_of,
)
from leadline.cli._outputs import Outputs, inputs_of, progress, refuse_same_output
from leadline.comparison.baselines import (
    Baseline,
    check_baseline,
    check_target,
    is_baseline_name,
    read_baseline,
    save_baseline,
    with_baseline,
)
from leadline.comparison.compare import COMPARED, compare_results
from leadline.comparison.gate import (
    BELOW,
    NOT_WORSE,
    WORSE,
    Condition,
    Gate,
    condition_of,
    gates_of,
    refuse_without_baseline,
    resolve_conditions,
    thresholds,
    untestable,
)
from leadline.comparison.pairing import Pairs, Rules, baselines_of
from leadline.comparison.query_slices import slices_of
from leadline.data.wording import counted, queries
from leadline.errors import NoIntervalError, UsageError, both, one_of
from leadline.estimation.measured import default_measures
from leadline.evaluation.results import Results
from leadline.io.run_names import run_name, split_name
from leadline.io.saved_results import is_saved_file
from leadline.render import View

FORCED = "--config output.force_update"


class BaselineFile:
    """The saved values that one command compares with (`kept`, of `path`), and those that it saves.

    `kept` is None without a file, or if it is written for the first time. `runs` are the other baselines.
    """

    def __init__(
        self, baselines: Sequence[str], runs: Sequence[str], update: str | None, *, force: bool
    ) -> None:
        self.update = update
        self.force = force
        both({FORCED: force}, {"--update-baseline FILE": update})
        named = {run.partition("=")[0] for run in runs} | {run_name(run) for run in runs}
        saved = [
            one
            for one in baselines
            if one not in named
            and one not in runs
            and (is_saved_file(one) if os.path.isfile(one) else one == update)
        ]
        self.runs = [one for one in baselines if one not in saved]
        for one in self.runs:
            if one not in named and not os.path.exists(one) and is_baseline_name(one):
                create = f" To create it, add --update-baseline {one}." * (len(baselines) == 1)
                raise UsageError(f"--baseline {one}: no such file.{create}")
        if len(saved) > 1 or (saved and self.runs):
            raise UsageError(
                f"--baseline {saved[0]} is a baseline file and cannot be combined with another --baseline"
            )
        self.path = saved[0] if saved else None
        self.kept: Baseline | None = None
        if update is not None:
            check_target(update)
        if self.path is not None and os.path.exists(self.path):
            self.kept = read_baseline(self.path, to_update=self.path == update)
        self.measures = self.kept.measures if self.kept is not None else []

    def joined(self, results: Results) -> tuple[Results, Pairs | None]:
        """Return results with the runs of the baseline, and the pairs to compare; None without a baseline."""
        if self.kept is None:
            return results, None
        try:
            rewrite = f"--baseline {self.path} --update-baseline {self.path} {FORCED}"
            return with_baseline(results, self.kept, rewrite=rewrite)
        except UsageError as error:
            if not self.force:
                raise
            found = str(error).partition(". ")[0]  # without advice
            click.echo(f"leadline: {found}", err=True)
            self.kept = None
            return results, None

    def check(self, results: Results, *, floors: bool) -> None:
        """Raise InputError, before anything is tested, for results of which no baseline is made."""
        if self.update is not None:
            check_baseline(results, force=self.force, anyway=FORCED)
            if len(results.runs) == 1 and self.path is None and not floors:
                raise UsageError(
                    f"--update-baseline {self.update} needs a second run. To save a single run, add "
                    f"--baseline {self.update}."
                )

    def inputs(self, results: Results) -> list[tuple[str, int]]:
        """Return path and number of values of the file, as an input of the command."""
        if self.kept is None:
            return []
        values = results.values[len(results.runs) - len(self.kept.results.names) :]
        return [(self.kept.path, int((~np.isnan(values)).sum()))]

    def written(self, outcomes: Sequence[Gate]) -> bool:
        """Return whether the file is to be written, after the conditions were tested."""
        return self.update is not None and (self.force or not any(gate.failed for gate in outcomes))

    def to_dict(self, outcomes: Sequence[Gate]) -> dict[str, Any]:
        """Return the description of the file for JSON; empty without one."""
        path = self.path or self.update
        if path is None:
            return {}
        known = self.kept.to_dict() if self.kept is not None else {"path": path, "runs": []}
        return {"baseline_file": known | {"updated": self.written(outcomes)}}

    def write(self, results: Results, inputs: Sequence[dict[str, Any]], outcomes: Sequence[Gate]) -> None:
        """Write the file if it is to be written, and say so."""
        if self.update is None:
            return
        if not self.written(outcomes):
            click.echo(
                f"leadline: {self.update} was not written, because a check did not pass. To write it anyway, "
                f"use {FORCED}.",
                err=True,
            )
            return
        texts = list(map(str, results.measures))
        order = [name for name in self.measures if name in texts]
        order += [name for name in texts if name not in order]
        chosen = results.select_measures([texts.index(name) for name in order])
        chosen.qrels = results.qrels
        save_baseline(chosen, self.update, inputs, force=self.force, anyway=FORCED)
        size = f"{counted(len(results.runs), 'run')}, {queries(len(results.averaged_queries()))}"
        click.echo(f"wrote {self.update}: {size}, {', '.join(texts)}", err=True)


def least_means(results: Results, conditions: Sequence[Condition], *, rel: float | None) -> list[Gate]:
    """Test the conditions that need no baseline, and skip the others."""
    found = []
    for index, condition in resolve_conditions(results, conditions, rel=rel):
        if condition.kind == BELOW:
            found += thresholds(results, [(index, condition)])
        else:
            found += [Gate(run, None, condition, nan, failed=False, skipped=True) for run in results.names]
    return found


def without_values(path: str | None) -> str:
    """Return why there is nothing to compare with; `path` is the baseline file."""
    if path is None:
        return "there is only one run and no baseline"
    return f"{path} {'does not match this evaluation' if os.path.exists(path) else 'does not exist yet'}"


SECTION = "Evaluation"


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
    query_slice: tuple[str, ...],
    changed: int,
    long: bool,
    pair: tuple[str, str] | None,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Compare runs: differences with intervals and significance tests.

    `leadline compare QRELS OLD NEW` tells you whether NEW is better than OLD. In a pair, b is the baseline or
    else the run named first; a - b is the mean difference. Gates (docs/gates.md) exit with status 1 if a
    check fails or cannot be decided. M is a measure, such as AP.

    Example: leadline compare qrels.txt bm25.run dense.run --baseline bm25 --fail-if-worse AP:0.01

    Options
    -------
    qrels
    [runs]...
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure (repeatable). [default: those of gates and other inputs, or AP, nDCG@10]
    --baseline NAME | Statistics | many
        Run (repeatable) or baseline file to compare the other runs with. [default: all pairs]
    use differences
    --pairs WHICH | Output | PAIRS
        Pairs: all, significant, or N per measure (by p-value). [default: significant; all for CSV, JSON,
        LaTeX with --baseline, or up to 12 rows]
    --long | Output | flag
        Show more columns, such as effect sizes and wins.
    --fail-if-worse M[:MARGIN] | Gates | many
        Fail if any run is significantly worse than the baseline, by more than MARGIN if given.
    --require-not-worse M:MARGIN | Gates | many
        Fail unless every run is shown to be less than MARGIN worse than the baseline.
    --fail-below M=VALUE | Gates | many
        Fail if the mean of any non-baseline run is below VALUE, or above it if lower is better.
    --update-baseline FILE | Gates
        Save the runs' per-query values as a baseline (.json, .parquet) if the exit status is 0.
    use query-slice, query-weights, sample, evaluation, scores
    -C figure.pair, output.changed, test.half_width, test.per_pair, output.force_update
    -o | figures comparison.comparison_figures.KINDS/slices/evaluation.query_figures.SHAPES | kinds Figure
        to save with -o: {kinds}. [default: forest; for one pair, differences (pairs with --pool)] | digits
    """
    kept_in = {name: options.pop(name) for name in ("update_baseline", "force_update")}
    given_baselines = options.pop("baseline")
    file = BaselineFile(given_baselines, runs, kept_in["update_baseline"], force=kept_in["force_update"])
    path, baseline = file.path, file.runs
    refuse_same_output(*outputs.files, file.update)
    asked_for = {WORSE: fail_if_worse, NOT_WORSE: require_not_worse, BELOW: fail_below}
    conditions = [condition_of(text, gate) for gate, texts in asked_for.items() for text in texts]
    outputs.needs_figure("pair")
    figure = outputs.figure
    all_pairs = not baseline and path is None
    _check_figure(figure, pair, all_pairs=all_pairs, slices=bool(query_slice))
    rules, half_width = Rules.take(options), options.pop("half_width")
    one_of({"--config test.half_width": half_width, "--config test.smallest": rules.smallest})
    scores = values_given(context, (qrels, *runs), kind)
    if all_pairs:
        example = file.update or (_name_of_one(runs[0]) if len(runs) > 1 and not scores else "")
        place = f", such as --baseline {example}" if example else ""
        hint = f"Use --baseline to name the run or the baseline file to compare with{place}."
        refuse_without_baseline(conditions, hint)
    named = measures or (() if conditions else file.measures)
    needed = [*(one.measure for one in conditions), *(file.measures if file.update == path else [])]
    draw: Any = None
    more: list[tuple[str, int]] = []
    if scores:
        wanted = [*named, *needed] if measures or conditions else ()
        asked = [*options, "level"]
        own, ((qrels, judged), *more) = given_scores(context, asked, (qrels, *runs), wanted)
    else:
        refuse_no_runs(runs)
        others = files_among(baseline, runs)
        with progress("runs") as on_run:
            given = judgments_and_draw(qrels, options, kind, [*named, *needed] or None)
            draw = given[1]
            usual = () if conditions else default_measures(given[1], COMPARED) or ()
            requested = [*(named or usual), *needed]
            own, judged, more = values_of(
                given, (*others, *runs), requested, options, rules, rel=level, on_run=on_run
            )
        baseline = baselines_of(own, baseline)
        unknown = [one for one in baseline if one not in own.names]
        if folder := next(filter(os.path.isdir, unknown), None):
            raise UsageError(f"--baseline {folder} is a folder. Pass a run or a baseline file.")
        if unknown and len(own.names) == 1:
            raise UsageError(f"--baseline {unknown[0]}: no such file or run")
    file.check(own, floors=bool(conditions))
    results, pairing = file.joined(own)
    planned = draw is not None and draw.design.get("measures")
    if half_width is not None and not planned:
        raise UsageError(WITHOUT_DRAW)
    of_judgments = list(more)
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
        "half_width": half_width,
        **kept_in,
        **outputs.options(),
    }
    floors_alone = bool(conditions) and len(results.runs) == 1 and not baseline
    if pairing is None and (path is not None or floors_alone):
        if outputs.drawn or query_slice:
            option = "a figure" if outputs.drawn else "--query-slice"
            raise UsageError(
                f"{option} needs a comparison, but {without_values(path)}. Leave out "
                f"{'the figure' if outputs.drawn else option}."
            )
        outcomes = least_means(own, conditions, rel=level)
        shown = own.select_measures(list(range(len(own.measures))))  # options are added to a copy
        shown.options |= added
        extra = {"primary": str(own.measures[0]), "pairs": []} | _conditions(outcomes)
        notes = [f"nothing was compared, because {without_values(path)}"]
        skipped = sum(gate.skipped for gate in outcomes)
        if skipped:
            were = counted(skipped, "check was", "checks were")
            notes.append(f"{were} skipped, because {without_values(path)}")
            _tell(outputs, notes[1:])
        view = View(shown, notes=[*notes, *(str(gate) for gate in outcomes if not gate.skipped)])
        view.extra = extra | file.to_dict(outcomes)
    else:
        try:
            comparison = compare_results(results, rules, baseline=baseline, pairing=pairing)
        except NoIntervalError as error:
            if not conditions:
                raise
            outcomes = untestable(results, baseline, conditions, error, rel=level)
            view = View(own, notes=list(map(str, outcomes)))
            view.extra = {"pairs": []} | _conditions(outcomes) | file.to_dict(outcomes)
        else:
            comparison.options |= added
            outcomes = gates_of(comparison, conditions, rel=level) if conditions else []
            view = View(comparison, extra=_conditions(outcomes) | file.to_dict(outcomes), lines="pairs")
            if query_slice:
                view.more, view.lines = slices_of(comparison, query_slice), "slices"
            elif half_width is not None or (planned and rules.smallest):
                goal = {"smallest": rules.smallest} if half_width is None else {"half_width": half_width}
                view.more = plan_of(own, draw, differences=True, power=rules.power, **goal)
                comparison.warnings = [one for one in comparison.warnings if one.code != "no_plan"]
            table = comparison.printed_pairs(pairs)
            data = comparison.printed_pairs("all" if pairs is None else pairs)
            view.shown = {"chosen": data}
            view.json = {"changed": changed, "chosen": data}
            view.printed = {"chosen": table, "conditions": outcomes, "changed": changed, "per_pair": per_pair}
            view.printed["long"] = long
            if pairs is None and not all_pairs:  # a paper shows every difference from the baseline
                view.formats["latex"] = {"chosen": data}
            view.figure = {"pair": pair, "per_pair": per_pair, "chosen": table[0]}
    outputs.write("compare", view, lambda: inputs_of(view.result, qrels, judged, more))
    failed = [gate for gate in outcomes if gate.failed]
    _tell(outputs, failed)
    file.write(own, inputs_of(own, qrels, judged, of_judgments), outcomes)
    if failed:
        context.exit(1)


def _name_of_one(run: str) -> str:
    """Return what names a run on the command line: its name or file; empty for several runs."""
    name, path = split_name(run)
    return name or (path if os.path.isfile(path) else "")


def _tell(outputs: Outputs, notes: Sequence[object]) -> None:
    """Print notes to standard error where they are neither in the table nor below it."""
    for note in notes if outputs.form in ("json", "none") else ():
        click.echo(f"leadline: {note}", err=True)


def _conditions(outcomes: Sequence[Gate]) -> dict[str, Any]:
    return {"conditions": [gate.to_dict() for gate in outcomes]} if outcomes else {}


def _check_figure(figure: str | None, pair: tuple[str, str] | None, *, all_pairs: bool, slices: bool) -> None:
    """Raise UsageError, before any work, for options of figures that contradict each other."""
    if pair and figure not in (None, "differences", "scatter", "slices"):
        raise UsageError(
            f"--config figure.pair does not apply to --figure {figure}. Use --figure differences, "
            "scatter or slices."
        )
    both({"--figure slices": figure == "slices"}, {"--query-slice FILE:COLUMN": slices})
    if figure == "groups" and not all_pairs:
        from leadline.comparison.comparison_figures import NEEDS_ALL_PAIRS

        raise UsageError(NEEDS_ALL_PAIRS)
