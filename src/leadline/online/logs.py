"""Click logs, and click deviation."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.wording import counted, first_few
from leadline.errors import InputError, UsageError, did_you_mean, either
from leadline.io.run_names import run_name
from leadline.io.score_cells import number_in
from leadline.io.small_tables import need_columns, records

HINTS = {  # of values that are refused
    "a number of clicks": "Write a whole number of at least 0",
    "a position": "Write a whole number of at least 1",
    "a time": "Write a number, or a time such as 2019-11-24 00:00:17",
}
PAGE_VIEWS = "Leave the position empty only for a page view without a click"
YES = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


class Columns(NamedTuple):
    """Names of the columns of a log; `arm` is empty if each arm has its own file."""

    click: str
    arm: str = ""
    user: str | None = None
    position: str | None = None
    time: str | None = None

    def named(self) -> list[str]:
        """Return the required columns."""
        return [name for name in (self.arm, self.click, self.user, self.position, self.time) if name]


class Log(NamedTuple):
    """Rows in order of time: arm (index in `arms`), click 0 or 1, and user and position if known.

    `users` are codes, -1 without users; `position` is NaN where unknown. `repeated` marks rows with more than
    one click, which counts once, and `crossed` rows of users with rows in several arms of the files. `timed`:
    the order is that of a time column or of a single file. `others` counts rows of arms not compared.
    """

    arms: list[str]
    arm: Integers
    click: Floats
    users: Integers
    position: Floats
    repeated: Flags
    crossed: Flags
    timed: bool
    inputs: list[tuple[str, int]]
    others: int = 0


class LogRow(NamedTuple):
    """One row of a log; position NaN if unknown, `user` and `arm` empty if not read.

    `dated`: the time is a date, not a number.
    """

    arm: str
    click: float
    user: str
    position: float
    time: float
    dated: bool
    line: int


def read_log(path: str | os.PathLike[str], columns: Columns) -> Log:
    """Read a log of both arms."""
    file = os.fspath(path)
    rows = list(log_rows(file, columns))
    return _log(rows, sorted({row.arm for row in rows}), columns, [(file, len(rows))], timed=True)


def read_two(a: str | os.PathLike[str], b: str | os.PathLike[str], columns: Columns) -> Log:
    """Read one log per arm; without a time column their rows are interleaved evenly."""
    paths = [os.fspath(a), os.fspath(b)]
    names = [run_name(path) for path in paths]
    if names[0] == names[1]:
        names = paths
    if os.path.realpath(paths[0]) == os.path.realpath(paths[1]):
        raise UsageError(f"{paths[0]} is given as both A and B. Pass a different log for each arm.")
    rows: list[LogRow] = []
    inputs = []
    for name, path in zip(names, paths, strict=True):
        part = [row._replace(arm=name) for row in log_rows(path, columns)]
        if columns.time is None:
            part = [row._replace(time=(at + 0.5) / len(part)) for at, row in enumerate(part)]
        rows += part
        inputs.append((path, len(part)))
    return _log(rows, names, columns, inputs, timed=columns.time is not None)


def _log(
    rows: list[LogRow], arms: list[str], columns: Columns, inputs: list[tuple[str, int]], *, timed: bool
) -> Log:
    kinds = ("a number", "a date")
    for number, row in enumerate(rows):
        if row.dated != rows[0].dated:
            raise InputError(
                f"column '{columns.time}' has {kinds[row.dated]} here, but {kinds[not row.dated]} in the "
                f"first row of {inputs[0][0]}",
                path=inputs[number >= inputs[0][1]][0],
                line=row.line,
                hint="Write all times as numbers, or all as dates",
            )
    if columns.time is not None or len(inputs) > 1:
        rows.sort(key=lambda row: row.time)  # stable: rows with equal times keep their order
    codes: dict[str, int] = {}
    users = np.array([codes.setdefault(row.user, len(codes)) if columns.user else -1 for row in rows])
    arm = np.array([arms.index(row.arm) for row in rows], dtype=np.int64)
    crossed = np.zeros(len(rows), dtype=np.bool_)
    if columns.user:
        crossed = (np.bincount(np.unique(users * len(arms) + arm) // len(arms)) > 1)[users]
    click = np.array([row.click for row in rows], dtype=np.float64)
    return Log(
        arms,
        arm,
        np.minimum(click, 1.0),
        users,
        np.array([row.position for row in rows], dtype=np.float64),
        click > 1,
        crossed,
        timed,
        inputs,
    )


def chosen_arms(log: Log, names: Sequence[str] | None) -> Log:
    """Return the log of two arms, A and B: those named, or the only two, by name."""
    if names is None or len(names) == 0:
        if len(log.arms) != 2:
            shown = first_few(log.arms, 6)
            hint = "" if len(log.arms) < 2 else " Choose two arms with `--arms`."
            raise UsageError(
                f"a comparison needs two arms, but the log has {counted(len(log.arms), 'arm')} ({shown})."
                + hint
            )
        return log
    names = [names] if isinstance(names, str) else names
    for name in names:
        if name not in log.arms:
            meant = did_you_mean(name, log.arms, cutoff=0.4) or f"Arms in the log: {first_few(log.arms, 6)}."
            raise UsageError(f"there is no arm '{name}'. {meant}")
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"choose two different arms, not {either(map(repr, names), 'and')}")
    codes = np.array([names.index(arm) if arm in names else -1 for arm in log.arms])[log.arm]
    chosen = codes >= 0
    columns = ("click", "users", "position", "repeated", "crossed")
    kept = {name: getattr(log, name)[chosen] for name in columns}
    arm = codes[chosen].astype(np.int64)
    return log._replace(arms=list(names), arm=arm, others=int((~chosen).sum()), **kept)


def shown_within(log: Log, within: int) -> tuple[Flags, Floats]:
    """Return the rows that count and their clicks, if only the first `within` positions are considered.

    In a log of results shown (rows without a click have a position) rows below are excluded; in one of page
    views (the position is that of the click) they are kept, without a click.
    """
    inside = log.position <= within
    without = np.isnan(log.position[log.click == 0])
    count = int(without.sum())
    if 0 < count < len(without):
        verb = "has" if count == 1 else "have"
        raise InputError(
            f"{count:,} of {counted(len(without), 'row')} without a click {verb} no position, "
            "so leadline cannot tell whether each row is a page view or a result that was shown",
            hint="Give the position of every result shown, or of clicks only",
        )
    shown = len(without) > 0 and not without.any()
    kept = inside if shown else np.ones(len(log.click), dtype=np.bool_)
    return kept, np.where(inside, log.click, 0.0)


def log_rows(path: str, columns: Columns, options: Mapping[str, str] | None = None) -> Iterator[LogRow]:
    """Yield the columns of every row; raise InputError with the line for unreadable values.

    `options` choose the columns that are not chosen by `--arm`, `--click` and so on.
    """
    empty, names = True, columns.named()
    needed, hint = set(names), HINTS["a position"] + ("" if options else f". {PAGE_VIEWS}")
    for line, row in records(path):
        if not row.keys() >= needed:
            if not empty:  # a JSON record may lack a column that others have
                need_columns(row, names, path, line)
            _refuse_missing(row, columns, path, options or {})
        empty = False
        yield LogRow(
            _name(row, columns.arm, path, line) if columns.arm else "",
            _click(row, columns.click, path, line),
            _name(row, columns.user, path, line) if columns.user else "",
            _position(row, columns.position, path, line, hint) if columns.position else math.nan,
            *(_time(row, columns.time, path, line) if columns.time else (0.0, False)),
            line,
        )
    if empty:
        raise InputError("the log has no rows", path=path, hint="Pass a log with at least one row")


def _refuse_missing(row: Mapping[str, Any], columns: Columns, path: str, options: Mapping[str, str]) -> None:
    """Refuse a first row that lacks a column, naming the option that chooses it."""
    try:
        need_columns(row, columns.named(), path, 1)
    except InputError as error:
        missing = next(name for name in columns.named() if name not in row)
        field = next(field for field, name in columns._asdict().items() if name == missing)
        error.hint += f". Choose the column with `{options.get(field, f'--{field} COLUMN')}`"
        raise


def _name(row: Mapping[str, Any], column: str, path: str, line: int) -> str:
    value = row[column]
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        raise InputError(f"column '{column}' is empty here", path=path, line=line, hint="Fill in a value")
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _click(row: Mapping[str, Any], column: str, path: str, line: int) -> float:
    text = str(row[column])
    word = text.strip().lower()
    number = YES[word] if word in YES else number_in(word)
    if number is None or number < 0 or number % 1:  # NaN where the number is not finite
        raise _refused(text, "a number of clicks", column, path, line)
    return number


def _position(row: Mapping[str, Any], column: str, path: str, line: int, hint: str) -> float:
    """Return a position, 1 or more; NaN if empty."""
    text = "" if row[column] is None else str(row[column]).strip()
    if text.lower() in ("", "nan", "none", "null"):
        return math.nan
    number = number_in(text)
    if number is None or number < 1 or number % 1:
        raise _refused(text, "a position", column, path, line, hint)
    return number


def _time(row: Mapping[str, Any], column: str, path: str, line: int) -> tuple[float, bool]:
    """Return a time, and whether it is a date, not a number."""
    text = str(row[column]).strip()
    number = number_in(text)
    dated = number is None
    if dated:
        with suppress(ValueError):
            moment = datetime.fromisoformat(text)
            number = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if number is None or not math.isfinite(number):
        raise _refused(text, "a time", column, path, line)
    return number, dated


def _refused(text: str, kind: str, column: str, path: str, line: int, hint: str = "") -> InputError:
    found = f"'{text[:40]}' in column '{column}' is not {kind}"
    return InputError(found, path=path, line=line, hint=hint or HINTS[kind])


def repeated_clicks(count: int) -> tuple[str, str, int]:
    """Return code, message and count of the warning of rows with several clicks."""
    words = f"counted only one click per row in {counted(count, 'row')} with several clicks"
    return "repeated_clicks", words, count


class ClickDeviation(NamedTuple):
    """Click deviation of a document: clicks per row shown above those expected at its positions.

    `deviation` is (clicks - expected) / shown; `z` is clicks - expected divided by its standard deviation
    under the clickthrough of the positions alone, NaN if that is 0.
    """

    query: str
    document: str
    deviation: float
    shown: int
    clicks: int
    expected: float
    z: float


def click_deviations(
    path: str | os.PathLike[str], *, document: str, position: str, click: str, query: str | None = None
) -> tuple[list[ClickDeviation], int]:
    """Compare the clicks of every document (of a query) with the clickthrough of its positions.

    Also returned is the number of rows with several clicks, which count as one.

    Rows are results shown. Since users prefer top ranks, raw clicks reproduce the ranking; click deviation
    removes this position bias. The largest deviation comes first.

    Source: Agichtein, Brill and Dumais 2006.
    """
    file = os.fspath(path)
    # a document stands where a log of two arms has the arm, and a query where it has the user
    options = {"arm": "--config abtest.document=COLUMN", "user": "--config abtest.query=COLUMN"}
    rows = list(log_rows(file, Columns(click=click, arm=document, user=query, position=position), options))
    at = np.array([row.position for row in rows])
    if np.isnan(at).any():
        raise InputError(
            "the position is missing",
            path=file,
            line=rows[int(np.flatnonzero(np.isnan(at))[0])].line,
            hint="Give the position of every result that was shown",
        )
    _, where = np.unique(at, return_inverse=True)
    clicked = np.array([min(row.click, 1.0) for row in rows])
    rates = (np.bincount(where, weights=clicked) / np.bincount(where))[where]
    pairs: dict[tuple[str, str], int] = {}
    which = np.array([pairs.setdefault((row.user, row.arm), len(pairs)) for row in rows])
    sums = (
        np.bincount(which, weights=values).tolist()
        for values in (np.ones(len(at)), clicked, rates, rates * (1 - rates))
    )
    deviations = []
    for (of, name), shown, clicks, expected, spread in zip(pairs, *sums, strict=True):
        more = clicks - expected
        z = more / math.sqrt(spread) if spread > 0 else math.nan
        deviations.append(ClickDeviation(of, name, more / shown, int(shown), int(clicks), expected, z))
    deviations.sort(key=lambda item: (item.query, -item.deviation, item.document))
    return deviations, sum(row.click > 1 for row in rows)
