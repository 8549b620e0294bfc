"""Grades, and the events that the judging page sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from leadline.data.judgment_tables import RULES
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.io import row_columns

DEFAULT = "0=not relevant,1=relevant"
MOST_GRADES, HIGHEST = 5, 9  # of a scale
EXAMPLE = '"0=no,1=partly,2=yes"'


class Grade(NamedTuple):
    """A grade of the scale: its value, which is also the key to press, and its name."""

    value: int
    name: str


def parse_scale(text: str) -> tuple[Grade, ...]:
    """Parse a grade scale; the result is in increasing order.

    >>> parse_scale("1=yes, 0=no")
    (Grade(value=0, name='no'), Grade(value=1, name='yes'))
    """
    parts = [part.strip() for part in text.split(",")]
    grades = sorted(_grade(part, text) for part in parts)
    if not 2 <= len(grades) <= MOST_GRADES:
        raise _refused(text, counted(len(grades), "grade"))
    for noun, values in (
        ("grade", [str(grade.value) for grade in grades]),
        ("name", [grade.name for grade in grades]),
    ):
        for value in values:
            if values.count(value) > 1:
                raise _refused(text, f"the {noun} '{value}' twice")
    return tuple(grades)


def written(grades: tuple[Grade, ...]) -> str:
    """Return a scale in the format of `parse_scale`.

    >>> written(parse_scale("1=yes, 0=no"))
    '0=no,1=yes'
    """
    return ",".join(f"{grade.value}={grade.name}" for grade in grades)


def _grade(part: str, text: str) -> Grade:
    value, _, name = part.partition("=")
    if len(value.strip()) != 1 or value.strip() not in "0123456789":
        raise _refused(text, f"the grade '{value.strip()}', which is not a single digit")
    if not name.strip():
        raise _refused(text, f"no name for grade {value.strip()}")
    return Grade(int(value), name.strip())


def _refused(text: str, problem: str) -> UsageError:
    return UsageError(
        f"the grade scale '{text}' contains {problem}. Use two to five digits, each with a name, as in "
        f"{EXAMPLE}."
    )


RELOAD = "Reload the judging page."
KINDS = ("judge", "skip", "undo")
FORMS = ("title", "static", "dynamic", "full")
LONGEST_NOTE = 10_000
LONGEST_NAME = 100
# Where a judge is named, a merge rule or a column may stand too.
RESERVED = frozenset(
    (
        *RULES,
        *row_columns.QUERY,
        *row_columns.DOCUMENT,
        *row_columns.GRADE,
        *row_columns.SCORE,
        *row_columns.RANK,
        *row_columns.SUBTOPIC,
        *row_columns.TAG,
        *row_columns.JUDGE,
        *row_columns.BESIDE,
    )
)
OF_A_JUDGE = tuple(f" {column}" for column in row_columns.BESIDE_JUDGE)  # ends of names of columns


class ConflictError(UsageError):
    """An act that can never be saved: the text has changed since, or its key is that of another act."""


class Event(NamedTuple):
    """One event of a judge; `key` is made by the page, `undoes` is the key of the event undone.

    `digest` is that of the text the judge saw.
    """

    key: str
    kind: str
    pair: int
    grade: int | None = None
    note: str = ""
    seconds: float | None = None
    shown: str = ""
    opened: bool = False
    given: str = ""
    undoes: str = ""
    digest: str = ""


def parse_event(data: Any) -> Event:
    """Parse an event sent by the page; raise UsageError if it is invalid."""
    if not isinstance(data, Mapping):
        raise _refused_field("events", data)
    key, pair, grade = data.get("key"), data.get("pair"), data.get("grade")
    texts = {name: data.get(name, "") for name in ("note", "shown", "given", "undoes", "digest")}
    if not isinstance(key, str) or not 8 <= len(key) <= 64:
        raise _refused_field("key", key)
    if data.get("kind") not in KINDS:
        raise _refused_field("kind", data.get("kind"))
    if not _is_whole(pair):
        raise _refused_field("pair", pair)
    if (grade is not None) != (data["kind"] == "judge") or not (grade is None or _is_whole(grade)):
        raise _refused_field("grade", grade)
    for name, text in texts.items():
        if not isinstance(text, str) or len(text) > (LONGEST_NOTE if name == "note" else 64):
            raise _refused_field(name, text)
    if texts["shown"] not in ("", *FORMS):
        raise _refused_field("shown", texts["shown"])
    return Event(
        _whole_text(key),
        data["kind"],
        pair,
        grade,
        seconds=_seconds(data.get("seconds")),
        opened=data.get("opened") is True,
        **{name: _whole_text(text) for name, text in texts.items()},
    )


def check_judge(name: str) -> str:
    """Return a judge's name in normalized form; raise UsageError if it is invalid.

    >>> check_judge("  Ann  Lee ")
    'Ann Lee'
    """
    clean = " ".join(_whole_text(name).split())
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable() or "," in clean:
        raise UsageError(
            f"'{clean[:40]}' cannot be the name of a judge. Use 1 to {LONGEST_NAME} printable characters "
            "without a comma."
        )
    if clean.casefold() in RESERVED or clean.casefold().endswith(OF_A_JUDGE):
        raise UsageError(
            f"'{clean}' cannot be the name of a judge, because it is reserved for a merge rule or a column. "
            "Choose a different name."
        )
    return clean


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refused_field("seconds", value)
    if not 0 <= value < 1e6:
        raise _refused_field("seconds", value)
    return float(value)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def _whole_text(text: str) -> str:
    """Replace unpaired surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def _refused_field(name: str, value: object) -> UsageError:
    return UsageError(f"the page sent the invalid value {str(value)[:40]!r} for '{name}'. {RELOAD}")
