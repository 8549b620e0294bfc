"""`leadline abtest`: two arms of a deployed system compared by clickthrough."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._options import (
    OUTPUT,
    confidence_option,
    output_options,
    refuse_overwrite,
    refuse_same_output,
    whole,
    write_output,
)
from leadline.cli._plots import check_plot, plot_options, write_plot
from leadline.cli._results import describe_input, envelope, escaped, json_text, say, table_text
from leadline.cli._texts import facts_text
from leadline.data.results import ResultWarning, plain
from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.io.lines import lines
from leadline.online.abtest import abtest
from leadline.online.abtest_result import ABTest
from leadline.online.planning import ARMS, arm_of, users_needed
from leadline.reporting.render import Cell, Preformatted, Table
from leadline.reporting.tables.abtest_table import sheet_of

SECTION = "Try on users, and repeat experiments"

USUAL = (0.01, 0.1)  # the lecture: a small fraction of users
EXAMPLE = "leadline abtest --a 46/10000 --b 69/10000"


class WithTest(click.Group):
    """A group whose command `test` is meant where no command is named."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Put `test` before anything but a command and a call for help."""
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["test", *args]
        return super().parse_args(context, args)


@click.group(cls=WithTest, epilog=f"Example: {EXAMPLE}")
def command() -> None:
    """Compare two arms by clickthrough: counts, or a log whose columns are named.

    `leadline abtest` alone means `leadline abtest test`.
    """


@command.command(
    "test", epilog=f"Example: leadline abtest test log.csv --arm system --click clicked; {EXAMPLE}"
)
@click.argument("log", required=False)
@click.option("--a", metavar="CLICKS/USERS", help="Counts of A: users who clicked, of how many.")
@click.option("--b", metavar="CLICKS/USERS", help="Counts of B.")
@click.option("--a-log", metavar="FILE", help="The log of A alone; the file names the arm.")
@click.option("--b-log", metavar="FILE", help="The log of B alone.")
@click.option("--arm", default="arm", show_default=True, metavar="COLUMN", help="Which arm a row is of.")
@click.option(
    "--click",
    "clicked",
    default="click",
    show_default=True,
    metavar="COLUMN",
    help="Whether a row was clicked: 0 or 1; more counts once.",
)
@click.option("--user", metavar="COLUMN", help="Group rows by user: who was randomised.")
@click.option("--position", metavar="COLUMN", help="Where a result stood (or the click of a page view).")
@click.option(
    "--within",
    type=whole(),
    metavar="K",
    help="Only clicks on the first K results count (default 10; 1 is the top result).",
)
@click.option("--time", metavar="COLUMN", help="When a row was (default: rows are in order).")
@click.option("--arms", nargs=2, metavar="A B", help="Which two arms, and which is A (default: by name).")
@click.option(
    "--metric",
    type=click.Choice(["users", "rows"]),
    default="users",
    show_default=True,
    help="Compare the share of users who click, or (with --user) clicks a row.",
)
@click.option(
    "--planned", type=float, metavar="SHARE", help="The share of users planned for B: tests whether B got it."
)
@click.option(
    "--effect",
    type=float,
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="The relative difference that the always-valid test is tuned to.",
)
@confidence_option
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    metavar="SHARE",
    help="Power, for the detectable difference and the users needed.",
)
@click.option(
    "--smallest",
    type=float,
    metavar="X",
    help="Smallest difference of clickthrough that matters: gives the users needed.",
)
@click.option(
    "--plot", type=OUTPUT, metavar="FILE", help="Draw the arms into FILE.svg, FILE.pdf or FILE.png."
)
@plot_options
@output_options
def test_command(
    *,
    log: str | None,
    a: str | None,
    b: str | None,
    clicked: str,
    arms: tuple[str, str] | None,
    plot: str | None,
    form: str,
    output: str | None,
    **options: Any,
) -> None:
    """Compare the clickthrough of A and B: difference, p, intervals, lift, and what could be seen.

    LOG is a table with a header (CSV, TSV, JSON Lines, Parquet), a row a result shown or a page view. All
    differences are B - A.
    """
    appearance = check_plot(plot)
    inputs = [path for path in (log, options["a_log"], options["b_log"]) if path]
    refuse_overwrite(output, *inputs)
    refuse_overwrite(plot, *inputs)
    refuse_same_output(output, plot)
    found = abtest(log, a=_counts("--a", a), b=_counts("--b", b), click=clicked, arms=arms or None, **options)
    found.options |= {"plot": plot} | appearance
    text = _text(found, form, to_file=output is not None)
    if plot is not None:
        from leadline.reporting.plots.result_plots import figure_of_result

        write_plot(plot, figure_of_result(found))
    write_output(text, output)


def _counts(option: str, given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    clicks, slash, users = given.replace("_", "").partition("/")
    if not (slash and clicks.strip().isdecimal() and users.strip().isdecimal()):
        raise UsageError(f"{option} {given}; expected CLICKS/USERS, whole numbers, as in 46/10000")
    return int(clicks), int(users)


def _text(found: ABTest, form: str, *, to_file: bool) -> str:
    if form == "json":
        inputs = [describe_input(path, rows) for path, rows in found.inputs]
        return json_text(envelope("abtest", inputs, found.options, found.warnings) | found.to_dict())
    if form == "jsonl":
        import json

        say(found.warnings)
        return "".join(escaped(json.dumps(arm, ensure_ascii=False)) + "\n" for arm in found.to_dict()["arms"])
    if form == "csv":
        say(found.warnings)
    return table_text(sheet_of(found), form, to_file=to_file)


@command.command("assign", epilog="Example: leadline abtest assign users.txt --fraction 0.05 --salt snippets")
@click.argument("users", default="-")
@click.option(
    "--fraction",
    type=float,
    required=True,
    metavar="SHARE",
    help="The share of users who get the variant, usually 0.01 to 0.1.",
)
@click.option(
    "--salt", required=True, metavar="TEXT", help="The name of the experiment: another one draws other users."
)
@output_options
def assign(*, users: str, fraction: float, salt: str, form: str, output: str | None) -> None:
    """Say for each user (one a line; a file or standard input) which arm is theirs.

    A stable hash of salt and user decides: the same user always gets the same arm, on any machine, and a
    larger fraction keeps everybody who has the variant.
    """
    refuse_overwrite(output, users)
    if not salt:
        raise UsageError("an empty salt; expected the name of the experiment")
    found = [
        (name, arm_of(name, fraction=fraction, salt=salt))
        for _, line in lines(users)
        if (name := line.strip())
    ]
    if not found:
        raise UsageError(f"no users in {users}; expected one a line")
    count = sum(arm == ARMS[1] for _, arm in found)
    outside = not USUAL[0] <= fraction <= USUAL[1]
    warnings = [
        ResultWarning(
            "unusual_fraction",
            f"a fraction of {percent(fraction)}: 1 % to 10 % is usual, so that few users "
            "meet what may be worse",
            1,
        )
    ][: int(outside)]
    seen = percent(round(count / len(found), 4))
    says = f"{counted(len(found), 'user')}: {count:,} see the variant ({seen})"
    if form == "json":
        data = {"users": dict(found), "variant": count}
        options = {"fraction": fraction, "salt": salt}
        text = json_text(envelope("abtest", [describe_input(users, len(found))], options, warnings) | data)
    else:
        text = _lines(
            ["user", "arm"],
            [list(pair) for pair in found],
            form,
            [says, *map(str, warnings)],
            to_file=output is not None,
        )
    write_output(text, output)


def _lines(heads: list[str], rows: list[list[Cell]], form: str, notes: list[str], *, to_file: bool) -> str:
    """Write rows in any form but JSON; notes go to standard error where there is no room for them."""
    if form in ("csv", "jsonl"):
        say(notes)
    if form == "jsonl":
        import json

        records = (dict(zip(heads, row, strict=True)) for row in rows)
        return "".join(escaped(json.dumps(one, ensure_ascii=False)) + "\n" for one in records)
    return table_text(Table(heads, rows, notes=notes, digits=5), form, to_file=to_file)


@command.command("plan", epilog="Example: leadline abtest plan --rate 0.05 --lift 0.1 --fraction 0.05")
@click.option("--rate", type=float, required=True, metavar="SHARE", help="The clickthrough of A.")
@click.option(
    "--lift",
    type=float,
    required=True,
    metavar="SHARE",
    help="The relative change to be seen: 0.1 is a tenth more.",
)
@click.option(
    "--fraction",
    type=float,
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="The share of users that B gets.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="1 less the error allowed where there is no difference.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    metavar="SHARE",
    help="The chance to see the change.",
)
@output_options
def plan(*, rate: float, lift: float, form: str, output: str | None, **options: float) -> None:
    """Say how many users a test needs, before it begins."""
    a, b = users_needed(
        rate,
        lift,
        fraction=options["fraction"],
        power_wanted=options["power"],
        confidence=options["confidence"],
    )
    data = {"users": a + b, "a": a, "b": b}
    note = (
        f"to see {rate:g} become {rate * (1 + lift):g} with a chance of {percent(options['power'])}; more if "
        "one means to peek"
    )
    rows: list[list[Cell]] = [[name, Preformatted(f"{count:,}")] for name, count in data.items()]
    sheet = Table(["", "users"], rows, notes=[note])
    write_output(
        facts_text("abtest", [], {"rate": rate, "lift": lift} | options, [], data, sheet, form), output
    )


@command.command(
    "deviations", epilog="Example: leadline abtest deviations log.csv --doc item --position rank -f csv"
)
@click.argument("log")
@click.option(
    "--doc",
    "document",
    default="doc_id",
    show_default=True,
    metavar="COLUMN",
    help="The document that was shown.",
)
@click.option("--query", metavar="COLUMN", help="The query (default: all rows are of one).")
@click.option("--position", default="position", show_default=True, metavar="COLUMN", help="Where it stood.")
@click.option(
    "--click", "clicked", default="click", show_default=True, metavar="COLUMN", help="Whether it was clicked."
)
@output_options
def deviations(
    *, log: str, document: str, query: str | None, position: str, clicked: str, form: str, output: str | None
) -> None:
    """Say how much more a document was clicked than its positions explain. These are no judgments.

    The column is called click_deviation, which no command reads as a grade: clicks tell of summaries, of
    what stood beside, and of who searched, and a document that was never shown has none.
    """
    from leadline.online.logs import click_deviations

    refuse_overwrite(output, log)
    found = click_deviations(log, document=document, position=position, click=clicked, query=query)
    heads = ["query_id", "doc_id", "click_deviation", "shown", "clicks", "expected", "z"]
    if query is None:
        heads = heads[1:]
    rows: list[list[Cell]] = [
        [cell if not isinstance(cell, float) else plain(cell) for cell in one][int(query is None) :]
        for one in found
    ]
    note = ResultWarning(
        "no_judgments", "click_deviation is no judgment: it is not a grade of relevance", len(rows)
    )
    if form == "json":
        data = {"deviations": [dict(zip(heads, row, strict=True)) for row in rows]}
        options = {"doc": document, "query": query, "position": position, "click": clicked}
        shown = sum(one.shown for one in found)
        text = json_text(envelope("abtest", [describe_input(log, shown)], options, [note]) | data)
    else:
        text = _lines(heads, rows, form, [str(note)], to_file=output is not None)
    write_output(text, output)
