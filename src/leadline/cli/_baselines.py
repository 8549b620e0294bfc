"""Options of baseline files, and what `compare` does with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import numpy as np

from leadline.cli._help import InputPath, add_options, option
from leadline.cli._settings import setting
from leadline.comparison.baselines import Baseline, fingerprint, read_baseline, with_baseline
from leadline.comparison.gate import BELOW, Condition, Gate, resolve_conditions, thresholds
from leadline.comparison.pairing import Pairs
from leadline.data.qrels import Qrels
from leadline.data.results import Results
from leadline.data.wording import counted, queries
from leadline.errors import UsageError, both, one_of
from leadline.reporting.render.text_formats import plain_text

F = TypeVar("F", bound=Callable[..., Any])
OPTIONS = ("baseline_file", "update_baseline", "force_update")


def baseline_options(function: F) -> F:
    """Add `--baseline-file`, `--update-baseline` and `output.force_update`."""
    return add_options(
        setting("output.force_update")(function),
        (
            option(
                "Gates",
                "--baseline-file",
                type=InputPath(),
                metavar="FILE",
                help="File of --update-baseline, or JSON of evaluate --per-query, with which every run is "
                "compared: with its only run, or of several with the one of the same name. It is refused if "
                "judgments, measures or options are others. [default of -m: its measures]",
            ),
            option(
                "Gates",
                "--update-baseline",
                is_flag=True,
                help="Write the values of the runs to --baseline-file (FILE.parquet or FILE.json) unless a "
                "condition fails.",
            ),
        ),
    )


class BaselineFile:
    """The baseline file of one command.

    Attributes
    ----------
    path : str or None
        The file.
    kept : Baseline or None
        Its content; None without a file, or if it is written for the first time.
    measures : list of str
        Measures of its content; they are kept when it is written again.
    """

    def __init__(self, path: str | None, *, update: bool, force: bool, others: Sequence[str]) -> None:
        self.path = path
        self.update = update
        self.force = force
        both(
            {"--update-baseline": update, "--config output.force_update": force},
            {"--baseline-file FILE": path},
        )
        both({"--config output.force_update": force}, {"--update-baseline": update})
        for name in others:
            one_of({"--baseline-file": path, f"--{name}": True})
        self.kept: Baseline | None = None
        if path is not None:
            if update:
                from leadline.reporting.baseline_files import check_suffix

                check_suffix(path)
            if os.path.exists(path) or not update:
                self.kept = read_baseline(path, to_update=update)
        self.measures = self.kept.measures if self.kept is not None else []

    def joined(self, results: Results, qrels: Qrels) -> tuple[Results, Pairs | None]:
        """Return results with the runs of the baseline, and the pairs to compare; None without a baseline."""
        if self.kept is None:
            return results, None
        try:
            return with_baseline(results, self.kept, fingerprint(qrels))
        except UsageError as error:
            if not self.force:
                raise
            click.echo(f"leadline: {error}", err=True)
            self.kept = None
            return results, None

    def check(self, results: Results) -> None:
        """Raise InputError, before anything is tested, for results of which no baseline is made."""
        if self.update:
            from leadline.reporting.baseline_files import check_baseline

            check_baseline(results, force=self.force)

    def inputs(self, results: Results) -> list[tuple[str, int]]:
        """Return path and number of values of the file, as an input of the command."""
        if self.kept is None:
            return []
        values = results.values[len(results.runs) - len(self.kept.names) :]
        return [(self.kept.path, int((~np.isnan(values)).sum()))]

    def written(self, outcomes: Sequence[Gate]) -> bool:
        """Return whether the file is to be written, after the conditions were tested."""
        return self.update and (self.force or not any(gate.failed for gate in outcomes))

    def to_dict(self, outcomes: Sequence[Gate]) -> dict[str, Any]:
        """Return the description of the file for JSON; empty without one."""
        if self.path is None:
            return {}
        known = self.kept.to_dict() if self.kept is not None else {"path": self.path, "runs": []}
        return {"baseline_file": known | {"updated": self.written(outcomes)}}

    def write(self, results: Results, qrels: Qrels | None, outcomes: Sequence[Gate]) -> None:
        """Write the file if it is to be written, and say so."""
        if not self.written(outcomes):
            if self.update:
                click.echo(
                    f"leadline: {self.path} was not written, because a condition failed "
                    "(--config output.force_update writes it all the same)",
                    err=True,
                )
            return
        from leadline.reporting.baseline_files import write_baseline

        assert self.path is not None
        assert qrels is not None
        texts = list(map(str, results.measures))
        order = [name for name in self.measures if name in texts]
        order += [name for name in texts if name not in order]
        chosen = results.select_measures([texts.index(name) for name in order])
        write_baseline(chosen, self.path, qrels, force=self.force)
        click.echo(f"leadline: wrote {self.path}: {_size(results)}", err=True)


def least_means(results: Results, conditions: Sequence[Condition], *, rel: float | None) -> list[Gate]:
    """Test the conditions that need no baseline."""
    lowest = [condition for condition in conditions if condition.kind == BELOW]
    return thresholds(results, resolve_conditions(results, lowest, rel=rel))


def first_notes(path: str | None, conditions: Sequence[Condition]) -> list[str]:
    """Return the notes on a file that holds nothing to compare with yet, or on a single run."""
    if path is None:
        return ["no comparison: one run, without a baseline"]
    untested = sum(condition.kind != BELOW for condition in conditions)
    notes = [f"no comparison: {path} holds no values to compare with"]
    if untested:
        notes.append(f"conditions that need a baseline and were not tested: {untested}")
    return notes


def first_summary(results: Results, notes: Sequence[str], outcomes: Sequence[Gate]) -> str:
    """Return the Markdown summary of a run without a baseline to compare with."""
    failed = sum(gate.failed for gate in outcomes)
    head = f"{failed} of {len(outcomes)} conditions failed" if outcomes else "first baseline"
    lines = [f"### leadline: {head}", "", *(f"- {plain_text(note)}" for note in notes)]
    lines += [f"- {plain_text(str(gate))}" for gate in outcomes]
    lines += [f"- {plain_text(_size(results))}"]
    return "\n".join(lines) + "\n"


def _size(results: Results) -> str:
    measures = ", ".join(map(str, results.measures))
    return f"{counted(len(results.runs), 'run')}, {queries(len(results.averaged_queries()))}, {measures}"
