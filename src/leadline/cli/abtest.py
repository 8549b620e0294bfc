"""`leadline abtest`: two arms of a deployed system compared by clickthrough."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import WithTest
from leadline.cli._options import confidence_option, whole
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._results import describe_input
from leadline.cli._settings import settings
from leadline.data.records import ResultWarning, plain
from leadline.data.table import Cell, Preformatted, Table
from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.io.opening import lines
from leadline.online.abtest import abtest
from leadline.online.planning import ARMS, arm_of, users_needed
from leadline.render.view import View
from leadline.result import Facts

SECTION = "Experiments"

USUAL = (0.01, 0.1)  # Manning, Raghavan and Schuetze 2008, section 8.6: 1 to 10 % of users
EXAMPLE = "leadline abtest --a 46/10000 --b 69/10000"


@click.group(cls=WithTest, epilog=f"Example: {EXAMPLE}")
def command() -> None:
    """Plan and analyze A/B tests of clickthrough.

    To test, pass two counts or a log of result impressions. `leadline abtest` is short for `leadline abtest
    test`.
    """


@command.command("test", epilog=f"Example: leadline abtest test clicks.csv --user user; {EXAMPLE}")
@click.argument("log", required=False)
@click.option("--a", metavar="CLICKS/USERS", help="Users in arm A who clicked, and all users in arm A.")
@click.option("--b", metavar="CLICKS/USERS", help="Users in arm B who clicked, and all users in arm B.")
@click.option("--a-log", metavar="FILE", help="Log of arm A only. The arm is named after the file.")
@click.option("--b-log", metavar="FILE", help="Log of arm B only.")
@click.option("--arm", default="arm", show_default=True, metavar="COLUMN", help="Column with the arm.")
@click.option(
    "--click",
    "clicked",
    default="click",
    show_default=True,
    metavar="COLUMN",
    help="Column with clicks: 0 or 1. Larger numbers count as 1.",
)
@click.option(
    "--user",
    metavar="COLUMN",
    help="Column with the user, the unit of randomization. Rows are grouped by user.",
)
@click.option(
    "--position",
    metavar="COLUMN",
    help="Column with the position of the result (or of the click in a page view).",
)
@click.option(
    "--within",
    type=whole(),
    metavar="K",
    help="Count clicks on the first K positions only; 1 is the top result. [default: 10]",
)
@click.option("--time", metavar="COLUMN", help="Column with the time. [default: rows are in time order]")
@click.option("--arms", nargs=2, metavar="A B", help="Arms to compare, A first. [default: in name order]")
@click.option(
    "--planned",
    type=float,
    metavar="SHARE",
    help="Planned share of users in arm B. Adds a test for sample ratio mismatch.",
)
@confidence_option
@settings("test.power", "test.smallest", "abtest.metric", "abtest.effect")
@output_options(figures=())
def test_command(
    *,
    log: str | None,
    a: str | None,
    b: str | None,
    clicked: str,
    arms: tuple[str, str] | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Test the difference in clickthrough between arms A and B.

    Shows the difference B - A with confidence intervals, the p-value, the lift and the detectable difference.
    LOG is a table with a header (CSV, TSV, JSON Lines, Parquet) and one row per result shown or per page
    view.
    """
    result = abtest(
        log, a=_counts("--a", a), b=_counts("--b", b), click=clicked, arms=arms or None, **options
    )
    result.options |= outputs.options()
    view = View(result, lines="arms")
    outputs.write("abtest", view, lambda: [describe_input(path, rows) for path, rows in result.inputs])


def _counts(option: str, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    clicks, slash, users = text.replace("_", "").partition("/")
    if not (slash and clicks.strip().isdecimal() and users.strip().isdecimal()):
        raise UsageError(
            f"{option} {text} is not valid. Give CLICKS/USERS as whole numbers, such as 46/10000."
        )
    return int(clicks), int(users)


@command.command("assign", epilog="Example: leadline abtest assign users.txt --fraction 0.05 --salt snippets")
@click.argument("users", default="-")
@click.option(
    "--fraction",
    type=float,
    required=True,
    metavar="SHARE",
    help="Share of users who get the variant, usually 0.01 to 0.1.",
)
@click.option(
    "--salt",
    required=True,
    metavar="TEXT",
    help="Name of the experiment. A different name gives an independent assignment.",
)
@output_options()
def assign(*, users: str, fraction: float, salt: str, outputs: Outputs) -> None:
    """Assign users to arms.

    USERS is a file with one user per line, or standard input. The arm is a stable hash of salt and user. The
    same user always gets the same arm, on any machine. If you raise the fraction, everyone who already has
    the variant keeps it.
    """
    if not salt:
        raise UsageError("--salt is empty. Give the name of the experiment.")
    assignments = [
        (name, arm_of(name, fraction=fraction, salt=salt))
        for _, line in lines(users)
        if (name := line.strip())
    ]
    if not assignments:
        raise UsageError(f"{users} contains no users. List one user per line.")
    count = sum(arm == ARMS[1] for _, arm in assignments)
    outside = not USUAL[0] <= fraction <= USUAL[1]
    warnings = [
        ResultWarning(
            "unusual_fraction",
            f"a fraction of {percent(fraction)} is unusual. With 1 % to 10 %, only a few users see a variant "
            "that may be worse.",
            1,
        )
    ][: int(outside)]
    share = percent(round(count / len(assignments), 4))
    summary = f"{count:,} of {counted(len(assignments), 'user')} ({share}) in the variant"
    table = Table(["user", "arm"], [list(pair) for pair in assignments], notes=[summary])
    made = Facts(table, {"users": dict(assignments), "variant": count}, warnings=warnings)
    outputs.write(
        "abtest",
        View(made, lines=""),
        lambda: [describe_input(users, len(assignments))],
        {"fraction": fraction, "salt": salt},
    )


@command.command("plan", epilog="Example: leadline abtest plan --rate 0.05 --lift 0.1 --fraction 0.05")
@click.option("--rate", type=float, required=True, metavar="SHARE", help="Clickthrough rate of arm A.")
@click.option(
    "--lift",
    type=float,
    required=True,
    metavar="SHARE",
    help="Relative change to detect: 0.1 is an increase of one tenth.",
)
@click.option(
    "--fraction", type=float, default=0.5, show_default=True, metavar="SHARE", help="Share of users in arm B."
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="Confidence level, 1 - alpha.",
)
@settings("test.power")
@output_options()
def plan(*, rate: float, lift: float, outputs: Outputs, **options: float) -> None:
    """Compute how many users a test needs."""
    a, b = users_needed(
        rate,
        lift,
        fraction=options["fraction"],
        power_wanted=options["power"],
        confidence=options["confidence"],
    )
    data = {"users": a + b, "a": a, "b": b}
    note = (
        f"users needed to detect a change from {rate:g} to {rate * (1 + lift):g} with "
        f"{percent(options['power'])} power (more for a sequential test)"
    )
    rows: list[list[Cell]] = [[name, Preformatted(f"{count:,}")] for name, count in data.items()]
    table = Table(["", "users"], rows, notes=[note])
    view = View(Facts(table, data), lines="*")
    outputs.write("abtest", view, list, {"rate": rate, "lift": lift} | options)


@command.command(
    "deviations", epilog="Example: leadline abtest deviations log.csv -C document=item --position rank -f csv"
)
@click.argument("log")
@click.option(
    "--position", default="position", show_default=True, metavar="COLUMN", help="Column with the position."
)
@click.option(
    "--click", "clicked", default="click", show_default=True, metavar="COLUMN", help="Column with clicks."
)
@settings("abtest.document", "abtest.query")
@output_options()
def deviations(
    *, log: str, document: str, query: str | None, position: str, clicked: str, outputs: Outputs
) -> None:
    """Compute click deviations of documents.

    The click deviation of a document is the part of its clicks that its positions do not explain. Click
    deviations are not relevance judgments, because clicks depend on the summary, the other results and the
    user, and a document that was never shown has no clicks. No command reads the column click_deviation as a
    grade.
    """
    from leadline.online.logs import click_deviations

    records = click_deviations(log, document=document, position=position, click=clicked, query=query)
    heads = ["query_id", "doc_id", "click_deviation", "shown", "clicks", "expected", "z"]
    if query is None:
        heads = heads[1:]
    rows: list[list[Cell]] = [
        [cell if not isinstance(cell, float) else plain(cell) for cell in record][int(query is None) :]
        for record in records
    ]
    note = ResultWarning("no_judgments", "click_deviation is not a relevance judgment", len(rows))
    found = {"deviations": [dict(zip(heads, row, strict=True)) for row in rows]}
    shown = sum(record.shown for record in records)
    outputs.write(
        "abtest",
        View(Facts(Table(heads, rows, digits=5), found, warnings=[note]), lines="deviations"),
        lambda: [describe_input(log, shown)],
        {"doc": document, "query": query, "position": position, "click": clicked},
    )
