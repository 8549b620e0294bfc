"""Grades, and the events that the judging page sends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.io import row_checks
from leadline.io.judges import RULES

DEFAULT = "0=not relevant,1=relevant"
EXAMPLE = '"0=no,1=partly,2=yes"'


class Grade(NamedTuple):
    """One grade of a scale: the number that goes into the qrels, which is also its key, and its name."""

    value: int
    name: str


def parse_scale(text: str) -> tuple[Grade, ...]:
    """Read a scale, the lowest grade first.

    >>> parse_scale("1=yes, 0=no")
    (Grade(value=0, name='no'), Grade(value=1, name='yes'))
    """
    parts = [part.strip() for part in text.split(",")]
    grades = sorted(_grade(part, text) for part in parts)
    if not 2 <= len(grades) <= 5:
        raise _refused(text, counted(len(grades), "grade"))
    for said, found in (
        ("grade", [str(grade.value) for grade in grades]),
        ("name", [grade.name for grade in grades]),
    ):
        for one in found:
            if found.count(one) > 1:
                raise _refused(text, f"the {said} '{one}' twice")
    return tuple(grades)


def written(grades: tuple[Grade, ...]) -> str:
    """Write a scale as `parse` reads it.

    >>> written(parse_scale("1=yes, 0=no"))
    '0=no,1=yes'
    """
    return ",".join(f"{grade.value}={grade.name}" for grade in grades)


def _grade(part: str, text: str) -> Grade:
    value, _, name = part.partition("=")
    if len(value.strip()) != 1 or value.strip() not in "0123456789":
        raise _refused(text, f"the grade '{value.strip()}'")
    if not name.strip():
        raise _refused(text, f"no name for grade {value.strip()}")
    return Grade(int(value), name.strip())


def _refused(text: str, found: str) -> UsageError:
    return UsageError(
        f"grades '{text}': {found}; expected two to five, each a digit with its own name, as in {EXAMPLE}"
    )


KINDS = ("judge", "skip", "undo")
FORMS = ("title", "static", "dynamic", "full")
LONGEST_NOTE = 10_000
LONGEST_NAME = 100
# Where a judge is named, a merge rule or a column may stand too.
RESERVED = frozenset(
    (
        *RULES,
        *row_checks.QUERY,
        *row_checks.DOCUMENT,
        *row_checks.GRADE,
        *row_checks.SCORE,
        *row_checks.RANK,
        *row_checks.SUBTOPIC,
        *row_checks.TAG,
        "probability",
        "note",
    )
)


class ChangedTextError(UsageError):
    """The text of a document is no longer the one that the judge saw."""


class Event(NamedTuple):
    """One act of a judge; `key` is made by the page, `undoes` is the key of the act taken back.

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


def parse_event(found: Any) -> Event:
    """Read an act that the page sent; refuses what no page sends."""
    if not isinstance(found, Mapping):
        raise _events_refused("an act", found)
    key, pair, grade = found.get("key"), found.get("pair"), found.get("grade")
    texts = {name: found.get(name, "") for name in ("note", "shown", "given", "undoes", "digest")}
    if not isinstance(key, str) or not 8 <= len(key) <= 64:
        raise _events_refused("key", key)
    if found.get("kind") not in KINDS:
        raise _events_refused("kind", found.get("kind"))
    if not _is_whole(pair):
        raise _events_refused("pair", pair)
    if (grade is not None) != (found["kind"] == "judge") or not (grade is None or _is_whole(grade)):
        raise _events_refused("grade", grade)
    for name, text in texts.items():
        if not isinstance(text, str) or len(text) > (LONGEST_NOTE if name == "note" else 64):
            raise _events_refused(name, text)
    if texts["shown"] not in ("", *FORMS):
        raise _events_refused("shown", texts["shown"])
    return Event(
        _whole_text(key),
        found["kind"],
        pair,
        grade,
        seconds=_seconds(found.get("seconds")),
        opened=found.get("opened") is True,
        **{name: _whole_text(text) for name, text in texts.items()},
    )


def check_judge(name: str) -> str:
    """Give the name of a judge as it is kept; refuses what cannot be a name.

    >>> check_judge("  Ann  Lee ")
    'Ann Lee'
    """
    kept = " ".join(_whole_text(name).split())
    if not kept or len(kept) > LONGEST_NAME or not kept.isprintable() or "," in kept:
        raise UsageError(
            f"a judge called '{kept[:40]}'; expected a name of up to {LONGEST_NAME} letters without a comma"
        )
    if kept.casefold() in RESERVED:
        raise UsageError(
            f"a judge called '{kept}'; expected another name: it means something else in a table"
        )
    return kept


def _seconds(found: Any) -> float | None:
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise _events_refused("seconds", found)
    if not math.isfinite(found) or not 0 <= found < 1e6:
        raise _events_refused("seconds", found)
    return float(found)


def _is_whole(found: Any) -> TypeGuard[int]:
    return isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 53


def _whole_text(text: str) -> str:
    """Replace half letters, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _events_refused(name: str, found: object) -> UsageError:
    return UsageError(f"{name} {str(found)[:40]!r}; expected what the judging page sends")
