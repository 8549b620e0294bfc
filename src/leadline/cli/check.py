"""`leadline check`: what is wrong with runs and qrels, and a repaired copy."""

from __future__ import annotations

import os

import click

from leadline.cli._options import (
    FORMATS,
    OUTPUT,
    FormatChoice,
    display_options,
    refuse_overwrite,
    write_output,
)
from leadline.cli._results import describe_input, envelope, for_screen, json_text, say, table_text
from leadline.errors import InputError, UsageError
from leadline.evaluation.check_files import CheckResult, check
from leadline.reporting.tables.check_table import check_table, check_text, coverage_text

SECTION = "Begin, and look files over"


@click.command(epilog="Example: leadline check qrels.txt bm25.run")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--kind",
    type=click.Choice(["run", "qrels"]),
    help="What the files hold. By default told by their columns, else by their numbers.",
)
@click.option("--subtopics", is_flag=True, help="Column 2 of the qrels is a subtopic.")
@click.option(
    "--docs",
    metavar="DOCS",
    help="With --qrels: say how many of the relevant documents the corpus holds, texts or an index.",
)
@click.option(
    "--qrels",
    metavar="QRELS",
    help="Judgments to join with every run among FILE: the share of "
    "documents that are judged, and whether the ids match.",
)
@click.option("--fix", is_flag=True, help="Write a repaired copy to the file of -o.")
@click.option(
    "--on-duplicate",
    type=click.Choice(["refuse", "first", "last", "max"]),
    default="first",
    show_default=True,
    help="With --fix: which of repeated documents is kept.",
)
@click.option(
    "--on-nan",
    type=click.Choice(["refuse", "drop"]),
    default="drop",
    show_default=True,
    help="With --fix: what happens to rows with score NaN.",
)
@click.option(
    "-f",
    "--format",
    "form",
    type=FormatChoice(FORMATS),
    default="table",
    show_default=True,
    help="How the result is written.",
)
@display_options
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    metavar="FILE",
    help="Write the result to FILE; with --fix the repaired copy.",
)
def command(
    *,
    files: tuple[str, ...],
    kind: str | None,
    subtopics: bool,
    docs: str | None,
    qrels: str | None,
    fix: bool,
    on_duplicate: str,
    on_nan: str,
    form: str,
    output: str | None,
) -> None:
    """Check runs, qrels and indexes for errors, with lines and counts; how much a corpus covers.

    Of an index every checksum is verified, and whether its parts fit together.

    An error is what `evaluate` or `compare` refuses, a remark what they accept and a reader should know. With
    --qrels every run is joined with the judgments; that none of its documents is judged is an error. The exit
    status is 2 when any file would be refused, and not repaired.
    """
    if docs is not None and qrels is None:
        raise UsageError("--docs without --qrels; expected both")
    if qrels is not None and docs is None and not files:
        raise UsageError("--qrels alone; expected RUN..., or --docs DOCS")
    if not files and docs is None:
        raise UsageError("nothing to check; expected FILE..., or --docs DOCS --qrels QRELS")
    if fix:
        _check_fix(files, output)
    found = check(
        files,
        kind=kind,
        subtopics=subtopics,
        qrels=qrels,
        documents=docs,
        fix=output if fix else None,
        on_duplicate=on_duplicate,
        on_nan=on_nan,
    )
    to_file = output is not None and not fix
    write_output(_text(found, form, to_file=to_file), output if to_file else None)
    if found.rejected and not fix:
        raise InputError(
            f"{found.rejected} of {len(files)} files would be refused"
            if len(files) > 1
            else f"{files[0]}: would be refused"
        )


def _check_fix(files: tuple[str, ...], output: str | None) -> None:
    if len(files) != 1 or output is None:
        raise UsageError("--fix repairs one file and needs -o FILE for the copy")
    if os.path.isdir(files[0]):
        raise UsageError("--fix does not repair an index; `leadline index` makes it again")
    refuse_overwrite(output, *files)


def _text(found: CheckResult, form: str, *, to_file: bool) -> str:
    """Write what was found, and what was repaired."""
    data = found.to_dict()
    if form == "json":
        inputs = [describe_input(each.path, each.rows) for each in found.files]
        return json_text(envelope("check", inputs, found.options, []) | data)
    if form == "jsonl":
        import json

        lines = [*data["files"], *([{"coverage": found.coverage}] if found.coverage is not None else [])]
        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines)
    if form == "table":
        return for_screen(check_text(found), to_file=to_file)
    if found.coverage is not None:
        say(coverage_text(found.coverage).splitlines()[:1])
    return table_text(check_table(found), form, to_file=to_file)
