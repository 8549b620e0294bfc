"""The grades that a judge may give: two to five, each with a name and a key."""

from __future__ import annotations

from typing import NamedTuple

from leadline.errors import UsageError
from leadline.wording import counted

DEFAULT = "0=not relevant,1=relevant"
EXAMPLE = '"0=no,1=partly,2=yes"'


class Grade(NamedTuple):
    """One grade of a scale: the number that goes into the qrels, which is also its key, and its name."""

    value: int
    name: str


def parse(text: str) -> tuple[Grade, ...]:
    """Read a scale, the lowest grade first.

    >>> parse("1=yes, 0=no")
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

    >>> written(parse("1=yes, 0=no"))
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
