"""Keep only documents that a table says are good: `FILE:COLUMN>=60`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from leadline.errors import InputError, UsageError
from leadline.formats import columns
from leadline.formats.texts import DOCUMENT, rows_of

RULE = re.compile(
    r"(?P<path>.+):(?P<column>[^:<>=!]+)(?P<sign>>=|<=|!=|==|=|<|>)(?P<value>[^<>=!]+)"
)
SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def kept(rule: str) -> Callable[[str], bool]:
    """Give what says whether a document is kept; one that the table lacks is not.

    The first column, or one called `doc_id`, names the document, as in the spam filter of
    `spam.tsv:percentile>=60`.
    """
    parts = RULE.fullmatch(rule)
    if parts is None:
        raise UsageError(f"--keep {rule}; expected FILE:COLUMN>=NUMBER")
    try:
        limit = float(parts["value"])
    except ValueError:
        raise UsageError(f"--keep {rule}: '{parts['value']}'; expected a number") from None
    path, column, compare = parts["path"], parts["column"].strip(), SIGNS[parts["sign"]]
    good: set[str] = set()
    for place, row in rows_of(path, "document"):
        if column not in row:
            raise InputError(
                f"no column '{column}'", expected=", ".join(map(str, row)), path=path, line=place
            )
        name = columns.find(row, DOCUMENT) or next(iter(row))
        if compare(_number(row[column], column, path, place), limit):
            good.add(str(row[name]))
    return good.__contains__


def _number(value: Any, column: str, path: str, place: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"'{value}' in column '{column}'", expected="a number", path=path, line=place
        ) from None
