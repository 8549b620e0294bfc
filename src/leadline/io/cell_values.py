"""Numbers and JSON in cells and lines of text."""

from __future__ import annotations

import json
from typing import Any

from leadline.errors import InputError


def number_in(cell: Any) -> float | None:
    """Return the number in a cell, NaN included; None if it holds none.

    >>> number_in("0.5"), number_in(2), number_in("1_000"), number_in("high"), number_in(None)
    (0.5, 2.0, None, None, None)
    """
    sign, letters = ("_", str.isascii) if isinstance(cell, str) else (b"_", bytes.isascii)
    if isinstance(cell, (str, bytes)) and (sign in cell or not letters(cell)):  # type: ignore[operator, arg-type]  # both are text or both bytes
        return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def number_of(cell: Any, column: str, path: str, line: int) -> float:
    """Return the number in a cell of a column."""
    number = number_in(cell)
    if number is None:
        raise InputError(f"'{cell}' in column '{column}' is not a number", path=path, line=line)
    return number


def json_or_none(text: str | bytes) -> Any:
    """Return the value of a JSON text; None if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_of(
    text: str, path: str, line: int | None = None, *, hint: str = "Each line must be a JSON object"
) -> Any:
    """Return the value of a JSON text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError("the JSON is nested too deeply", path=path, line=line) from None
    except ValueError as error:
        reason = f" ({error.msg.lower()})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"invalid JSON{reason}", path=path, line=line, hint=hint) from None


def object_of(text: str, path: str, line: int) -> dict[str, Any]:
    """Return the object of a line."""
    return checked_object(json_of(text, path, line), path, line)


def checked_object(found: Any, path: str, line: int) -> dict[str, Any]:
    """Return a value that is an object."""
    if not isinstance(found, dict):
        raise InputError(
            f"the JSON value is of type {type(found).__name__}, not an object", path=path, line=line
        )
    return found
