"""`leadline check`: errors in runs and qrels, and a repaired copy."""

from __future__ import annotations

import os
from typing import Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import (
    FORMATS,
    OUTPUT,
    FormatChoice,
    display_options,
    refuse_overwrite,
    write_output,
)
from leadline.cli._results import describe_input, envelope, for_screen, json_text, say, table_text
from leadline.data.qrels import Qrels
from leadline.data.reading import OnDuplicate, OnNan
from leadline.data.wording import counted, percent, queries
from leadline.errors import InputError, UsageError
from leadline.io import check as lint
from leadline.io import check as repairing
from leadline.io.check import Checked, Problem
from leadline.io.read import read_qrels
from leadline.reporting.render import Cell, Table

SECTION = "Files and collections"

WORST = 5  # queries that are shown


@click.command(cls=Command, epilog="Example: leadline check qrels.txt bm25.run")
@click.argument("files", nargs=-1, metavar="FILE...")
@option(
    "Reading",
    "--kind",
    type=click.Choice(["run", "qrels"]),
    help="Kind of the files. [default: told from their columns, else from their numbers]",
)
@option("Reading", "--subtopics", is_flag=True, help="Read column 2 of the qrels as subtopic.")
@click.option(
    "--docs",
    metavar="DOCS",
    help="Corpus, as texts or as an index: with --qrels, report how many of the relevant documents it "
    "contains.",
)
@click.option(
    "--qrels",
    metavar="QRELS",
    help="Judgments to join with every run: report the share of judged documents and whether the "
    "document ids match.",
)
@click.option("--fix", is_flag=True, help="Write a repaired copy to the file of -o.")
@option(
    "Reading",
    "--on-duplicate",
    type=click.Choice(["refuse", "first", "last", "max"]),
    default="first",
    show_default=True,
    help="Document that occurs twice for a query, with --fix: the row that is kept.",
)
@option(
    "Reading",
    "--on-nan",
    type=click.Choice(["refuse", "drop"]),
    default="drop",
    show_default=True,
    help="Score that is NaN, with --fix: drop the row, or report an error.",
)
@option(
    "Output",
    "-f",
    "--format",
    "form",
    type=FormatChoice(FORMATS),
    default="table",
    show_default=True,
    help="Output format.",
)
@display_options
@option(
    "Output",
    "-o",
    "--output",
    type=OUTPUT,
    metavar="FILE",
    help="Output file; with --fix the repaired copy. [default: standard output]",
)
def command(
    *,
    files: tuple[str, ...],
    kind: str | None,
    subtopics: bool,
    docs: str | None,
    qrels: str | None,
    fix: bool,
    on_duplicate: OnDuplicate,
    on_nan: OnNan,
    form: str,
    output: str | None,
) -> None:
    """Check runs, qrels and indexes for errors.

    Problems are listed with line numbers and counts. An error is refused by `evaluate` and `compare`; a
    remark is accepted by them. With --qrels every run is joined with the judgments, and a run without any
    judged document is an error. With --docs the share of judged documents in the corpus is reported. For an
    index all checksums and the consistency of its parts are verified.

    The exit status is 2 if a file would be refused and was not repaired.
    """
    if docs is not None and qrels is None:
        raise UsageError("--docs is given without --qrels; expected both")
    if qrels is not None and docs is None and not files:
        raise UsageError("--qrels is given without runs; expected FILE..., or --docs DOCS")
    if not files and docs is None:
        raise UsageError("nothing to check; expected FILE..., or --docs DOCS --qrels QRELS")
    if fix:
        _check_fix(files, output)
    coverage = None if docs is None or qrels is None else _coverage(docs, qrels)
    judgments = read_qrels(qrels) if qrels is not None and files else None
    found = [_checked(path, kind, subtopics=subtopics, qrels=judgments) for path in files]
    done: list[Problem] | None = None
    if fix and output is not None:
        done = repairing.reading(found[0], output, on_duplicate=on_duplicate, on_nan=on_nan)
    options = {
        "kind": kind,
        "subtopics": subtopics,
        "fix": fix,
        "on_duplicate": on_duplicate,
        "on_nan": on_nan,
    }
    options |= {"docs": docs, "qrels": qrels} if qrels is not None else {}
    to_file = output is not None and not fix
    text = _text(found, done, form, options, output, coverage, to_file=to_file)
    write_output(text, output if to_file else None)
    rejected = sum(each.rejected for each in found)
    if rejected and not fix:
        raise InputError(
            f"{rejected} of {len(found)} files would be refused"
            if len(found) > 1
            else f"{found[0].path}: would be refused"
        )


def _checked(path: str, kind: str | None, *, subtopics: bool, qrels: Qrels | None) -> Checked:
    """Check a run, qrels, or the folder of an index."""
    if not os.path.isdir(path):
        return lint.check(path, kind=kind, subtopics=subtopics, qrels=qrels)
    from leadline.retrieval.index.check_index import check_index

    return check_index(path)


def _coverage(docs: str, qrels: str) -> dict[str, Any]:
    """Count what a corpus holds of the judged documents."""
    from leadline.retrieval.collection import holdings

    return {"docs": docs, "qrels": qrels} | holdings(docs, qrels).to_dict()


def _covered(found: dict[str, Any]) -> str:
    """Say what a corpus holds for people, the worst queries too."""
    share = "" if found["share"] is None else f" ({percent(round(found['share'], 4))})"
    said = (
        f"{found['docs']}: {counted(found['documents'], 'document')}; holds {found['held']:,} of "
        f"{found['relevant']:,} relevant documents of {found['qrels']}{share}, and "
        f"{found['judged_held']:,} of {found['judged']:,} judged ones"
    )
    lines = [said]
    lacking = [row for row in found["queries"] if row["held"] < row["relevant"]]
    if lacking:
        worst = ", ".join(
            f"{row['query']} ({row['held']:,} of {row['relevant']:,})" for row in lacking[:WORST]
        )
        none = sum(not row["held"] for row in lacking)
        lines.append(f"  queries that lack some: {len(lacking):,}, all: {none:,}; the worst: {worst}")
    return "\n".join(lines) + "\n"


def _check_fix(files: tuple[str, ...], output: str | None) -> None:
    if len(files) != 1 or output is None:
        raise UsageError("--fix repairs one file; expected one FILE, and -o FILE for the copy")
    if os.path.isdir(files[0]):
        raise UsageError(
            "--fix cannot repair an index; expected a run or qrels (`leadline index` rebuilds an index)"
        )
    refuse_overwrite(output, *files)


def _text(
    found: list[Checked],
    done: list[Problem] | None,
    form: str,
    options: dict[str, Any],
    copy: str | None,
    coverage: dict[str, Any] | None = None,
    *,
    to_file: bool = False,
) -> str:
    """Write what was found, and what was repaired."""
    data = [_data(each) for each in found]
    more = {} if coverage is None else {"coverage": coverage}
    if done is not None:
        data[0]["repaired"] = [_entry(each) for each in done]
    if form == "json":
        inputs = [describe_input(each.path, each.rows) for each in found]
        return json_text(envelope("check", inputs, options, []) | {"files": data} | more)
    if form == "jsonl":
        import json

        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in [*data, *filter(None, [more])])
    if form == "table":
        said = [*map(_listing, found), *([] if coverage is None else [_covered(coverage)])]
        text = "\n".join(said) + ("" if done is None else _repaired(done, copy))
        return for_screen(text, to_file=to_file)
    rows: list[list[Cell]] = [
        [each.path, each.kind, _level(problem), problem.code, problem.line, problem.count, problem.message]
        for each in found
        for problem in each.problems
    ]
    if coverage is not None:
        say(_covered(coverage).splitlines()[:1])
    heads = ["file", "kind", "level", "code", "line", "count", "message"]
    return table_text(Table(heads, rows), form, to_file=to_file)


def _data(found: Checked) -> dict[str, Any]:
    problems = [_entry(problem) | {"level": _level(problem)} for problem in found.problems]
    return {
        "path": found.path,
        "kind": found.kind,
        "format": found.form,
        "queries": found.queries,
        "rows": found.rows,
        "problems": problems,
    } | ({} if found.joined is None else {"joined": found.joined.to_dict()})


def _entry(problem: Problem) -> dict[str, Any]:
    return {"code": problem.code, "line": problem.line, "message": problem.message, "count": problem.count}


def _level(problem: Problem) -> str:
    return "error" if problem.error else "remark"


def _listing(found: Checked) -> str:
    """Write the problems of a file for people, the errors first."""
    noun = "judgment" if found.kind == "qrels" else "document"
    held = [queries(found.queries)] if found.kind != "index" else []
    said = ", ".join([found.kind, *held, counted(found.rows, noun)]) if found.kind else "unread"
    head = f"{found.path}: {said}"
    if not found.problems:
        return head + ", nothing to remark\n"
    lines = [head]
    for problem in found.problems:
        place = "" if problem.line is None else f"{found.unit} {problem.line:,}: "
        more = f" (and {problem.count - 1:,} more)" if problem.count > 1 else ""
        lines.append(f"  {_level(problem):6}  {place}{problem.message}{more}")
    return "\n".join(lines) + "\n"


def _repaired(done: list[Problem], copy: str | None) -> str:
    lines = [f"  {problem.count:,} x {problem.code}: {problem.message}" for problem in done]
    return "\n".join([f"\n{copy}: written", *lines]) + "\n"
