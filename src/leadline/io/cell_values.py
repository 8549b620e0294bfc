"""Numbers and JSON in cells and lines of text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from leadline.errors import InputError

SHOWN = 40  # maximum number of characters of an object in a message


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


def json_of(text: str, path: str, line: int = 1, *, hint: str = "") -> Any:
    """Return the value of a JSON text that begins at a line."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError("the JSON is nested too deeply", path=path, line=line) from None
    except ValueError as error:
        reason = ""
        if isinstance(error, json.JSONDecodeError):
            reason, line = f" ({error.msg.lower()})", line + error.lineno - 1
        raise InputError(f"invalid JSON{reason}", path=path, line=line, hint=hint) from None


def object_of(text: str, path: str, line: int) -> dict[str, Any]:
    """Return the object of a line."""
    return checked_object(json_of(text, path, line, hint="Each line must be a JSON object"), path, line)


def checked_object(found: Any, path: str, line: int | None = None) -> dict[str, Any]:
    """Return a value that is an object."""
    if not isinstance(found, dict):
        raise InputError(
            f"the JSON value is of type {type(found).__name__}, not an object", path=path, line=line
        )
    return found


class Members(Mapping[str, Any]):
    """An object of a JSON text: a dictionary whose `items` includes repeated names."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs
        self.named = dict(pairs)

    def __getitem__(self, name: str) -> Any:
        return self.named[name]

    def __iter__(self) -> Any:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def __repr__(self) -> str:
        text = repr(self.named)
        return text if len(text) <= SHOWN else text[:SHOWN] + "...}"

    def items(self) -> Any:
        """Return names and values in order, including repeated names."""
        return self.pairs


Members.__name__ = "object"  # its name in messages


def parse_json(text: bytes, path: str, line: int = 0) -> Any:
    """Read a JSON text; objects keep repeated names."""
    try:
        return json.loads(text.rstrip().decode("utf-8", "surrogateescape"), object_pairs_hook=Members)
    except json.JSONDecodeError as error:
        raise InputError(
            f"invalid JSON at column {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}",
            path=path,
            line=line or error.lineno,
        ) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", path=path, line=line or None) from None
    except ValueError:  # a whole number of thousands of digits
        raise InputError("contains a number with too many digits", path=path, line=line or None) from None
