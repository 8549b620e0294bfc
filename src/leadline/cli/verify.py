"""`leadline verify`: saved results, compared with their inputs."""

from __future__ import annotations

import click

from leadline.cli._outputs import Outputs, describe_input
from leadline.render import View

SECTION = "Evaluation"


def command(context: click.Context, /, *, saved: str, sample: int, seed: int, outputs: Outputs) -> None:
    """Verify saved results: hashes of the inputs and a sample of values.

    FILE is a result that a command saved with -o FILE.json or -o FILE.parquet. leadline recomputes the
    SHA-256 of every input and, for `evaluate` and `merge`, the values of a sample of queries. The exit status
    is 1 if anything differs. Whatever cannot be checked, such as a missing input or an estimate, is listed
    but does not change the exit status.

    Example: leadline verify saved.parquet --sample 20

    Options
    -------
    saved : FILE
    --sample N | Sampling | int 0.. | = 100
        Number of queries per run to recompute, or 0 for none.
    use seed
    -o
    """
    from leadline.scale.saved_files import verify

    result = verify(saved, sample=sample, seed=seed)
    outputs.write("verify", View(result, lines="checks"), lambda: [describe_input(saved, result.rows)])
    if not result.verified:
        context.exit(1)
