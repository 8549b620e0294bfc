"""What a judge did, as the page tells it: checked before anything is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from leadline.errors import UsageError
from leadline.formats import columns
from leadline.formats.merging import RULES

KINDS = ("judge", "skip", "undo")
FORMS = ("title", "static", "dynamic", "full")
LONGEST_NOTE = 10_000
LONGEST_NAME = 100
# Where a judge is named, a merge rule or a column may stand too.
RESERVED = frozenset(
    (*RULES, *columns.QUERY, *columns.DOCUMENT, *columns.GRADE, *columns.SCORE, *columns.RANK,
     *columns.SUBTOPIC, *columns.TAG, "probability", "note")
)  # fmt: skip


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


def parse(found: Any) -> Event:
    """Read an act that the page sent; refuses what no page sends."""
    if not isinstance(found, Mapping):
        raise _refused("an act", found)
    key, pair, grade = found.get("key"), found.get("pair"), found.get("grade")
    texts = {name: found.get(name, "") for name in ("note", "shown", "given", "undoes", "digest")}
    if not isinstance(key, str) or not 8 <= len(key) <= 64:
        raise _refused("key", key)
    if found.get("kind") not in KINDS:
        raise _refused("kind", found.get("kind"))
    if not _is_whole(pair):
        raise _refused("pair", pair)
    if (grade is not None) != (found["kind"] == "judge") or not (grade is None or _is_whole(grade)):
        raise _refused("grade", grade)
    for name, text in texts.items():
        if not isinstance(text, str) or len(text) > (LONGEST_NOTE if name == "note" else 64):
            raise _refused(name, text)
    if texts["shown"] not in ("", *FORMS):
        raise _refused("shown", texts["shown"])
    return Event(
        _whole_text(key), found["kind"], pair, grade, seconds=_seconds(found.get("seconds")),
        opened=found.get("opened") is True, **{name: _whole_text(text) for name, text in texts.items()},
    )  # fmt: skip


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
        raise _refused("seconds", found)
    if not math.isfinite(found) or not 0 <= found < 1e6:
        raise _refused("seconds", found)
    return float(found)


def _is_whole(found: Any) -> TypeGuard[int]:
    return isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 53


def _whole_text(text: str) -> str:
    """Replace half letters, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _refused(name: str, found: object) -> UsageError:
    return UsageError(f"{name} {str(found)[:40]!r}; expected what the judging page sends")
