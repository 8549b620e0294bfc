"""`leadline convert`: runs and qrels between formats."""

from __future__ import annotations

import os

import click

from leadline.commands._options import repair_options
from leadline.errors import UsageError
from leadline.formats import Opened, kinds, opened, qrels_of, records_of, repair_of, run_of, writing
from leadline.formats.opening import STANDARD_INPUT
from leadline.formats.trec_run import Tally

FORMATS = {
    "trec": "", "json": ".json", "jsonl": ".jsonl", "csv": ".csv", "tsv": ".tsv",
    "parquet": ".parquet", "arrow": ".arrow",
}  # fmt: skip


@click.command(epilog="Example: leadline convert bm25.run bm25.parquet")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--kind",
    type=click.Choice(["run", "qrels"]),
    help="What IN holds. By default told by its columns, else by its numbers: all whole is qrels.",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(list(FORMATS)),
    help="The format of OUT (default: its suffix).",
)
@click.option("--subtopics", is_flag=True, help="Column 2 of the qrels is a subtopic: keep it.")
@click.option("--overwrite", is_flag=True, help="Replace OUT where it exists.")
@repair_options
def command(
    *, source: str, target: str, kind: str | None, form: str | None, subtopics: bool, overwrite: bool,
    order: str, on_duplicate: str, on_nan: str,
) -> None:  # fmt: skip
    """Write a run or qrels in another format.

    The suffix of OUT says the format and the compression: .json .jsonl .csv .tsv .parquet .arrow, with .gz
    .bz2 .xz .zst; any other means TREC. A file that exists is kept unless --overwrite is given. OUT may be -
    for standard output.
    """
    if on_duplicate == "hold":
        raise UsageError(
            "--on-duplicate hold; expected first, last or max: a file cannot say that a rank is held"
        )
    if not overwrite and target != STANDARD_INPUT and os.path.exists(target):
        raise UsageError(f"{target}: exists; expected a new name, or --overwrite")
    suffix = None if form is None else FORMATS[form]
    file = opened(source, read=True)
    kind = kind or ("qrels" if subtopics else kinds.content_of(file))
    if kind == "run":
        if on_duplicate == "refuse" and is_listed(file):
            on_duplicate = "first"
        run, tally = run_of(file, repair=repair_of(order, on_duplicate, on_nan))
        writing.write_run(run, target, suffix=suffix)
        said = f"{len(run.queries):,} queries, {len(run):,} documents" + repairs(tally)
    else:
        qrels = qrels_of(file, subtopics=subtopics)
        writing.write_qrels(qrels, target, suffix=suffix)
        said = f"{len(qrels.queries):,} queries, {len(qrels):,} judgments"
    if target != STANDARD_INPUT:
        click.echo(f"{target}: {kind}, {said}")


def is_listed(file: Opened) -> bool:
    """Say whether a file holds bare ranked lists, where the first place of a repeat counts."""
    return file.form == "json" and records_of(file, "score").listed


def repairs(tally: Tally) -> str:
    """Say what was left out."""
    found = {
        "repeated documents": tally.repeated,
        "scores NaN": tally.dropped,
        "lines with columns after the sixth": tally.extra_columns,
    }
    left_out = ", ".join(f"{count:,} {words}" for words, count in found.items() if count)
    return f"; left out: {left_out}" if left_out else ""
