"""`leadline check`: what is wrong with runs and qrels, and a repaired copy."""

from __future__ import annotations

import os
from typing import Any

import click

from leadline.commands._options import FORMATS, deliver
from leadline.commands._results import describe_input, envelope, json_text
from leadline.errors import InputError, UsageError
from leadline.formats import lint, repairing
from leadline.formats.lint import Checked, Problem
from leadline.render import Cell, Sheet, render
from leadline.wording import counted, queries


@click.command(epilog="Example: leadline check qrels.txt bm25.run")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--kind",
    type=click.Choice(["run", "qrels"]),
    help="What the files hold. By default told by their columns, else by their numbers.",
)
@click.option("--subtopics", is_flag=True, help="Column 2 of the qrels is a subtopic.")
@click.option("--fix", is_flag=True, help="Write a repaired copy to the file of -o.")
@click.option(
    "--on-duplicate", type=click.Choice(["refuse", "first", "last", "max"]), default="first",
    show_default=True, help="With --fix: which of repeated documents is kept.",
)  # fmt: skip
@click.option(
    "--on-nan", type=click.Choice(["refuse", "drop"]), default="drop", show_default=True,
    help="With --fix: what happens to rows with score NaN.",
)  # fmt: skip
@click.option(
    "-f", "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True,
    help="How the result is written.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE",
    help="Write the result to FILE; with --fix the repaired copy.",
)  # fmt: skip
def command(
    *, files: tuple[str, ...], kind: str | None, subtopics: bool, fix: bool, on_duplicate: str,
    on_nan: str, form: str, output: str | None,
) -> None:  # fmt: skip
    """Find what is wrong or odd in runs and qrels, with lines and counts.

    An error is what `evaluate` refuses, a remark what it accepts and a reader should know. The exit status is
    2 when any file would be refused, and not repaired.
    """
    if fix:
        _check_fix(files, output)
    found = [lint.check(path, kind=kind, subtopics=subtopics) for path in files]
    done: list[Problem] | None = None
    if fix and output is not None:
        done = repairing.repair(found[0], output, on_duplicate=on_duplicate, on_nan=on_nan)
    options = {
        "kind": kind, "subtopics": subtopics, "fix": fix, "on_duplicate": on_duplicate,
        "on_nan": on_nan,
    }  # fmt: skip
    deliver(_text(found, done, form, options, output), None if fix else output)
    refused = sum(each.refused for each in found)
    if refused and not fix:
        raise InputError(
            f"{refused} of {len(found)} files would be refused"
            if len(found) > 1
            else f"{found[0].path}: would be refused"
        )


def _check_fix(files: tuple[str, ...], output: str | None) -> None:
    if len(files) > 1 or output is None:
        raise UsageError("--fix repairs one file and needs -o FILE for the copy")
    if os.path.exists(output) and os.path.exists(files[0]) and os.path.samefile(files[0], output):
        raise UsageError(f"{output}: is the file itself; expected another name for the copy")


def _text(
    found: list[Checked],
    done: list[Problem] | None,
    form: str,
    options: dict[str, Any],
    copy: str | None,
) -> str:
    """Write what was found, and what was repaired."""
    data = [_data(each) for each in found]
    if done is not None:
        data[0]["repaired"] = [_entry(each) for each in done]
    if form == "json":
        inputs = [describe_input(each.path, each.rows) for each in found]
        return json_text(envelope("check", inputs, options, []) | {"files": data})
    if form == "jsonl":
        import json

        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in data)
    if form == "table":
        return "\n".join(map(_listing, found)) + ("" if done is None else _repaired(done, copy))
    rows: list[list[Cell]] = [
        [
            each.path,
            each.kind,
            _level(problem),
            problem.code,
            problem.line,
            problem.count,
            problem.message,
        ]
        for each in found
        for problem in each.problems
    ]
    return render(Sheet(["file", "kind", "level", "code", "line", "count", "message"], rows), form)


def _data(found: Checked) -> dict[str, Any]:
    problems = [_entry(problem) | {"level": _level(problem)} for problem in found.problems]
    return {
        "path": found.path, "kind": found.kind, "format": found.form, "queries": found.queries,
        "rows": found.rows, "problems": problems,
    }  # fmt: skip


def _entry(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code, "line": problem.line, "message": problem.message,
        "count": problem.count,
    }  # fmt: skip


def _level(problem: Problem) -> str:
    return "error" if problem.error else "remark"


def _listing(found: Checked) -> str:
    """Write the problems of a file for people, the errors first."""
    noun = "document" if found.kind == "run" else "judgment"
    head = f"{found.path}: " + (
        f"{found.kind}, {queries(found.queries)}, {counted(found.rows, noun)}"
        if found.kind
        else "unread"
    )
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
