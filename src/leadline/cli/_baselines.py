"""Options of baseline files, and what `compare` does with them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from leadline.comparison.baselines import Baseline, is_baseline, read_baseline, with_baseline
from leadline.comparison.gate import BELOW, Condition, Gate, resolve_conditions, thresholds
from leadline.comparison.pairing import Pairs
from leadline.data.wording import counted, queries
from leadline.errors import UsageError, both
from leadline.evaluation.results import Results
from leadline.io.run_names import run_name
from leadline.render.view import suffix_of

OPTIONS = ("update_baseline", "force_update")
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
        both({"--config output.force_update": force}, {"--update-baseline FILE": update})
        named = {run.partition("=")[0] for run in runs} | {run_name(run) for run in runs}
        saved = [
            one
            for one in baselines
            if one not in named
            and one not in runs
            and (is_baseline(one) if os.path.isfile(one) else one == update)
        ]
        self.runs = [one for one in baselines if one not in saved]
        for one in self.runs:
            if one not in named and not os.path.exists(one) and suffix_of(one) in (".json", ".parquet"):
                raise UsageError(
                    f"--baseline {one}: no such file. To create it, add --update-baseline {one}."
                )
        if len(saved) > 1 or (saved and self.runs):
            raise UsageError(
                f"--baseline {saved[0]} is a baseline file and cannot be combined with another --baseline"
            )
        self.path = saved[0] if saved else None
        self.kept: Baseline | None = None
        if update is not None:
            from leadline.comparison.baselines import check_suffix

            check_suffix(update)
        if self.path is not None and os.path.exists(self.path):
            self.kept = read_baseline(self.path, to_update=self.path == update)
        self.measures = self.kept.measures if self.kept is not None else []

    def joined(self, results: Results) -> tuple[Results, Pairs | None]:
        """Return results with the runs of the baseline, and the pairs to compare; None without a baseline."""
        if self.kept is None:
            return results, None
        try:
            rewrite = f"--update-baseline {self.path} {FORCED}"
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
            from leadline.comparison.baselines import check_baseline

            check_baseline(results, force=self.force, anyway=FORCED)
            if len(results.runs) == 1 and self.path is None and not floors:
                raise UsageError(
                    f"--update-baseline {self.update} needs a second run. To save one run, add --baseline "
                    f"{self.update}."
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
                f"leadline: {self.update} was not written because a check failed. To write it anyway, use "
                "--config output.force_update.",
                err=True,
            )
            return
        from leadline.comparison.baselines import save_baseline

        texts = list(map(str, results.measures))
        order = [name for name in self.measures if name in texts]
        order += [name for name in texts if name not in order]
        chosen = results.select_measures([texts.index(name) for name in order])
        chosen.qrels = results.qrels
        save_baseline(chosen, self.update, inputs, force=self.force, anyway=FORCED)
        click.echo(f"wrote {self.update}: {_size(results)}", err=True)


def least_means(results: Results, conditions: Sequence[Condition], *, rel: float | None) -> list[Gate]:
    """Test the conditions that need no baseline."""
    lowest = [condition for condition in conditions if condition.kind == BELOW]
    return thresholds(results, resolve_conditions(results, lowest, rel=rel))


def without_values(path: str | None) -> str:
    """Return why there is nothing to compare with; `path` is the baseline file."""
    if path is None:
        return "there is only one run and no baseline"
    return f"{path} {'has no matching values' if os.path.exists(path) else 'contains no values yet'}"


def first_notes(path: str | None, conditions: Sequence[Condition]) -> list[str]:
    """Return the notes on a file that holds nothing to compare with yet, or on a single run."""
    untested = sum(condition.kind != BELOW for condition in conditions)
    notes = [f"nothing was compared, because {without_values(path)}"]
    if untested and path is not None:
        notes.append(f"{counted(untested, 'check')} skipped because there is no baseline")
    return notes


def _size(results: Results) -> str:
    measures = ", ".join(map(str, results.measures))
    return f"{counted(len(results.runs), 'run')}, {queries(len(results.averaged_queries()))}, {measures}"
