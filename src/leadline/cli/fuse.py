"""`leadline fuse`: fuse several runs into one."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import Command, InputPath, is_given, option
from leadline.cli._options import OUTPUT, formats_option, repair_options, seed_option, whole, write_output
from leadline.cli._results import describe_input
from leadline.cli._texts import summary_text
from leadline.errors import UsageError
from leadline.reporting.render import Cell, Table

SECTION = "Retrieval"
NORMALISE = ("min-max", "max", "sum", "z", "rank", "borda", "none")


@click.command(
    cls=Command,
    epilog="Example: leadline fuse bm25.run dense.run --method CombSUM --weights 0.3,0.7 -o both.run",
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=InputPath())
@click.option(
    "--method",
    default="RRF",
    show_default=True,
    metavar="METHOD",
    help="RRF(k=60), CombSUM, CombMNZ(gamma=1), CombANZ, CombMED, CombMAX, CombMIN, ISR, LogISR(sigma=0), "
    "RBC(p=0.8), Borda, Condorcet, Mixed.",
)
@click.option(
    "--normalise",
    type=click.Choice(NORMALISE),
    help="Normalisation of the scores of each list. [default: min-max for Comb* and Mixed]",
)
@click.option("--weights", metavar="X,X,...", help="Weight of each run; 0 leaves a run out. [default: equal]")
@click.option("--depth", type=whole(), metavar="N", help="Number of documents kept per query. [default: all]")
@click.option("--name", metavar="NAME", help="Name of the fused run. [default: the method]")
@option(
    "Measures", "--train", metavar="QRELS", type=InputPath(), help="Choose the weights by these judgments."
)
@option("Measures", "-m", "--measure", metavar="MEASURE", help="Measure to optimise. [default: nDCG@10]")
@option(
    "Statistics",
    "--steps",
    type=whole(),
    default=10,
    show_default=True,
    metavar="N",
    help="Steps of the grid of weights from 0 to 1.",
)
@option(
    "Statistics", "--folds", type=whole(2), default=5, show_default=True, metavar="N", help="Number of folds."
)
@option(
    "Statistics",
    "--held-out",
    is_flag=True,
    help="Write the run in which each query has the weights chosen on the other folds, for evaluation with "
    "the same judgments.",
)
@seed_option
@option(
    "Output",
    "-o",
    "--output",
    type=OUTPUT,
    metavar="RUN",
    required=True,
    help="Output file of the run, in the format of its suffix.",
)
@repair_options
@formats_option()
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    runs: tuple[str, ...],
    method: str,
    normalise: str | None,
    weights: str | None,
    train: str | None,
    measure: str | None,
    steps: int,
    folds: int,
    held_out: bool,
    seed: int,
    output: str,
    form: str,
    **options: Any,
) -> None:
    """Fuse the ranked lists of several runs into one run.

    Tied documents are in decreasing order of document id. A document that a run did not retrieve adds nothing
    to sums and is not in means, medians and extremes; in Borda it shares the remaining points, in Condorcet
    it is below what the run retrieved. With --train, weights are the multiples of 1/STEPS that maximise the
    mean of the measure; their cross-validated value and the optimism (value on the training queries minus
    cross-validated value) are printed.
    """
    from leadline.io.write import write_run
    from leadline.retrieval.fusion import fuse

    if train is None:
        _refuse(context, ("measure", "steps", "folds", "held_out", "seed"))
        run = fuse(runs, method, normalise=normalise, weights=_weights(weights), **options)
        table, data = _table(run.inputs), {}
        warnings = run.warnings
    else:
        from leadline.comparison.fusion_training import train_fusion
        from leadline.reporting.tables.fusion_table import fusion_table

        if weights is not None:
            raise UsageError("--weights with --train, which chooses them; expected one of the two")
        if not is_given(context, "method"):
            method = "CombSUM"
        trained = train_fusion(
            runs,
            train,
            measure or "nDCG@10",
            method=method,
            normalise=normalise,
            steps=steps,
            folds=folds,
            seed=seed,
            **options,
        )
        run = trained.held_out if held_out else trained.run
        if held_out:
            trained.warnings = run.warnings
        table, data, warnings = fusion_table(trained), {"training": trained.to_dict()}, run.warnings
    write_run(run, output)
    made = f"{output}: {run.options['method']}, {len(run.queries)} queries, {len(run.scores)} documents"
    table.notes.insert(0, made)
    inputs = [describe_input(one["path"], one["documents"]) for one in run.inputs]
    inputs += [] if train is None else [describe_input(train, _judgments(train))]
    chosen = run.options | options | {"train": train, "held_out": held_out, "output": output}
    found = {"run": output, "queries": len(run.queries), "documents": len(run.scores), "runs": run.inputs}
    write_output(summary_text("fuse", inputs, chosen, warnings, found | data, table, form), None)


def _refuse(context: click.Context, names: tuple[str, ...]) -> None:
    for name in names:
        if is_given(context, name):
            raise UsageError(f"--{name.replace('_', '-')} without --train QRELS; expected both or none")


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--weights {text}; expected numbers, as in 0.3,0.7") from None


def _judgments(path: str) -> int:
    from leadline.io.read import read_qrels

    return len(read_qrels(path).grades)


def _table(inputs: list[dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = [
        [one["name"], str(one["queries"]), str(one["documents"]), f"{one['weight']:g}"] for one in inputs
    ]
    return Table(["run", "queries", "documents", "weight"], rows, notes=[])
