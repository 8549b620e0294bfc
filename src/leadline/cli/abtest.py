"""`leadline abtest`: two arms of a deployed system compared by clickthrough."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._outputs import Outputs, describe_input
from leadline.data.table import Cell, Table, plain, raised
from leadline.data.wording import counted, percent
from leadline.errors import UsageError, both, one_of
from leadline.io.opening import lines
from leadline.io.read_paths import STANDARD_STREAM
from leadline.online.abtest import ARMS, abtest, arm_of
from leadline.online.proportions import users_needed
from leadline.render import View

SECTION = "Experiments"
CLASS = "WithTest"

USUAL = (0.01, 0.1)  # Manning, Raghavan and Schuetze 2008, section 8.6: 1 to 10 % of users


def command() -> None:
    """Plan and analyze A/B tests of clickthrough.

    To analyze a test, pass counts (--a and --b), one log of both arms, or one log per arm (--a-log and
    --b-log). `leadline abtest` is short for `leadline abtest test`. leadline does not analyze
    interleaving.

    Example: leadline abtest --a 46/10000 --b 69/10000
    """


def test_command(
    context: click.Context,
    /,
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

    The output shows the difference B - A with its confidence interval, the p-value, the lift, the
    smallest difference that the test can detect, and a sequential test. LOG is a table with a
    header (CSV, TSV, JSON Lines, Parquet) and one row per result shown or per page view.

    Example: leadline abtest test clicks.csv --user user; leadline abtest --a 46/10000 --b 69/10000

    Options
    -------
    [log]
    --a CLICKS/USERS
        Users in arm A who clicked, and all users in arm A, such as 46/10000.
    --b CLICKS/USERS
        Users in arm B who clicked, and all users in arm B, such as 69/10000.
    --a-log FILE
        Log of arm A only, instead of LOG. The arm is named after the file.
    --b-log FILE
        Log of arm B only, passed together with --a-log. The arm is named after the file.
    --arm COLUMN | = "arm"
        Column of LOG with the arm of each row.
    --click COLUMN as clicked | = "click"
        Column with the clicks of each row: 0 or 1. Larger numbers count as 1.
    --user COLUMN
        Column with the user, the unit of randomization. Without --user, each row counts as one user.
    --position COLUMN
        Column with the position of the result (or of the click in a page view). With --position,
        only clicks at the first 10 positions count (see --within).
    --within K | int 1..
        With --position, count only clicks at positions 1 (the top) to K. [default: 10]
    --time COLUMN
        Column with the time of each row, for the sequential test. [default: order of the rows, with separate
        logs interleaved evenly]
    --arms A B | nargs 2
        Arms in LOG to compare, A first. [default: the two arms in the log, sorted by name]
    --planned SHARE | float
        Planned share of users in arm B. Adds a test for sample ratio mismatch.
    use confidence
    -C abtest.effect, abtest.metric, test.smallest, test.power
    -o | figure
    """
    both(typed(context, "arm"), {"LOG": log})
    one_of({"--a": a} | typed(context, "clicked"))
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
            f"{option} {text} is not valid. Pass CLICKS/USERS as whole numbers, such as 46/10000."
        )
    return int(clicks), int(users)


def assign(*, users: str, fraction: float, salt: str, outputs: Outputs) -> None:
    """Assign users to the arms of an A/B test.

    USERS is a file with one user per line (default: standard input). A hash of --salt and the user determines
    the arm (control or variant), so the same user always gets the same arm, on any machine. If you raise
    --fraction, all users who already have the variant keep it.

    Example: leadline abtest assign users.txt --fraction 0.05 --salt snippets

    Options
    -------
    [users] | (= "-")
    --fraction SHARE | float | required
        Share of users who get the variant, usually 0.01 to 0.1.
    --salt TEXT | required
        Name of the experiment. A different name gives an independent assignment.
    -o
    """
    if not salt:
        raise UsageError("--salt is empty. Pass the name of the experiment.")
    names = [name for _, line in lines(users) if (name := line.strip())]
    assignments = {name: arm_of(name, fraction=fraction, salt=salt) for name in names}
    if not assignments:
        source = "standard input" if users == STANDARD_STREAM else users
        raise UsageError(f"{source} contains no users. List one user per line.")
    count = sum(arm == ARMS[1] for arm in assignments.values())
    outside = not USUAL[0] <= fraction <= USUAL[1]
    repeated = len(names) - len(assignments)
    unusual = (
        f"a fraction of {percent(fraction)} is unusual. The usual 1 % to 10 % is often sufficient for "
        "a test and exposes few users to a variant that may be worse."
    )
    twice = f"skipped {counted(repeated, 'line')} that repeated an earlier user"
    warnings = raised(("unusual_fraction", unusual, int(outside)), ("repeated_users", twice, repeated))
    share = percent(round(count / len(assignments), 4))
    summary = f"{count:,} of {counted(len(assignments), 'user')} ({share}) in the variant"
    table = Table(["user", "arm"], [list(pair) for pair in assignments.items()], notes=[summary])
    found = {"users": assignments, "variant": count}
    options = {"fraction": fraction, "salt": salt}
    outputs.write_facts("abtest", table, found, [(users, len(names))], options, warnings=warnings, lines="")


def plan(*, rate: float, lift: float, outputs: Outputs, **options: float) -> None:
    """Compute how many users an A/B test needs.

    The table shows the number of users needed, in total and in each arm, to detect the change with
    80 % power (for 90 % power, add -C power=0.9).

    Example: leadline abtest plan --rate 0.05 --lift 0.1 --fraction 0.05

    Options
    -------
    --rate SHARE | float | required
        Clickthrough rate of arm A.
    --lift SHARE | float | required
        Relative change in the clickthrough rate to detect, such as 0.1 for an increase of 10 %.
    --fraction SHARE | float | = 0.5
        Share of users in arm B.
    --confidence SHARE | float | = 0.95
        Confidence level, 1 - alpha.
    -C test.power
    -o
    """
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
    rows: list[list[Cell]] = [["both", a + b], ["a", a], ["b", b]]
    table = Table(["arm", "users"], rows, notes=[note])
    outputs.write_facts("abtest", table, data, [], {"rate": rate, "lift": lift} | options)


def deviations(
    *, log: str, document: str, query: str | None, position: str, clicked: str, outputs: Outputs
) -> None:
    """Compute click deviations of documents.

    LOG has one row per result shown. The click deviation of a document is its clicks per row minus the clicks
    per row expected at its positions. Click deviations are not relevance judgments, because clicks depend on
    the summary, the other results and the user, and because a document that was never shown has no clicks. No
    leadline command reads the column click_deviation as a grade.

    Example: leadline abtest deviations log.csv -C document=item --position rank -f csv

    Options
    -------
    log
    --position COLUMN | = "position"
        Column with the position of the result.
    --click COLUMN as clicked | = "click"
        Column with the clicks of each row: 0 or 1. Larger numbers count as 1.
    -C abtest.query, abtest.document
    -o
    """
    from leadline.online.logs import click_deviations, repeated_clicks

    records, repeated = click_deviations(
        log, document=document, position=position, click=clicked, query=query
    )
    heads = ["query_id", "doc_id", "click_deviation", "shown", "clicks", "expected", "z"]
    if query is None:
        heads = heads[1:]
    rows: list[list[Cell]] = [
        [cell if not isinstance(cell, float) else plain(cell) for cell in record][int(query is None) :]
        for record in records
    ]
    notes = raised(
        ("no_judgments", "click_deviation is not a relevance judgment", len(rows)), repeated_clicks(repeated)
    )
    found = {"deviations": [dict(zip(heads, row, strict=True)) for row in rows]}
    inputs = [(log, sum(record.shown for record in records))]
    options = {"doc": document, "query": query, "position": position, "click": clicked}
    table = Table(heads, rows, digits=5)
    outputs.write_facts("abtest", table, found, inputs, options, warnings=notes, lines="deviations")


COMMANDS = {"test": test_command, "assign": assign, "plan": plan, "deviations": deviations}
