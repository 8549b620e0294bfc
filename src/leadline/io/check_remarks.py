"""Accepted irregularities of a file that may surprise, collected chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.data.arrays import Integers
from leadline.io.run_lists import Lists, RankedLists, disordered
from leadline.kernels import plain

BLOCK = 1 << 16  # number of bytes split into lines at a time
# What is remarked on, by code, in the order in which it is listed.
REMARKS = {
    "comments": "a comment, which trec_eval 9 refuses",
    "extra_columns": "more than six columns (the extra columns are ignored)",
    "tags": "tag {1} after {0} (the last one counts)",
    "mixed_queries": "a query reappears after a different query (leadline groups the rows by query)",
    "rank_disagrees": "a query whose ranks contradict its scores (the scores win)",
    "rank": "a rank that is not a number of one to nine digits (the scores win)",
    "ties": "a query with tied scores (ties are ordered by descending document id)",
    "negative_grades": "a negative grade (pooled but not judged)",
    "fractional_grades": "a fractional grade (trec_eval truncates it)",
    "no_relevant": "a query without a relevant document (grade 1 or more)",
}


@dataclass(frozen=True)
class Problem:
    """One kind of problem in a file."""

    code: str  # name of the problem, the same in all versions
    line: int | None  # line of the first; None if there is none
    message: str
    count: int  # how often it occurs
    error: bool = False  # whether `evaluate` refuses the file for it

    @property
    def level(self) -> str:
        """Return `error` if the file is refused, else `remark`."""
        return "error" if self.error else "remark"

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that JSON has of a problem and of a repair."""
        return {"code": self.code, "line": self.line, "message": self.message, "count": self.count}


def blocks(text: bytes, line: int = 1) -> Iterator[tuple[int, list[bytes]]]:
    r"""Yield the lines of a text in blocks, with the number of the first line of each.

    >>> list(blocks(b"a\n\nb"))
    [(1, [b'a', b'', b'b'])]
    """
    start = 0
    while start <= len(text):
        end = text.find(b"\n", start + BLOCK)
        end = len(text) if end < 0 else end
        lines = text[start:end].split(b"\n")
        yield line, lines
        line, start = line + len(lines), end + 1


class Remarks:
    """The first line and the number of each kind of irregularity, of a text and of its lists."""

    def __init__(self, kind: str, *, trec: bool) -> None:
        self.kind = kind
        self.trec = trec
        self.lines: dict[str, int] = {}
        self.counts: Counter[str] = Counter()
        self.tags: dict[bytes, int] = {}

    def add(self, code: str, count: int, line: int) -> None:
        """Count lines after those counted before; `line` is the first of them."""
        if count:
            self.lines.setdefault(code, line)
            self.counts[code] += count

    def add_text(
        self, text: bytes, line: int, *, clean: Lists | None = None, rows: set[int] | None = None
    ) -> None:
        """Examine what readers ignore in some whole lines of TREC text, of which `line` is the first.

        `clean` are the lists in them where these tell what most lines are; `rows` are the lines that were
        parsed, where not all were.
        """
        top = line
        if line == 1:
            begin, comments = plain.after_remarks(text)
            top += text.count(b"\n", 0, begin)
            lines = text[:begin].split(b"\n")
            first = next((n for n, raw in enumerate(lines, 1) if raw.startswith(b"#")), 1)
            self.add("comments", comments, first)
        if self.kind != "run":
            return
        if clean is not None and len(clean.scores) == text.count(b"\n") and _has_one_tag(text, clean):
            self.tags.setdefault(clean.tag, line)
            return
        split = plain.splitter_of(text)
        for first, lines in blocks(text, line):
            for number, raw in enumerate(lines, start=first):
                fields = split(raw)
                parsed = number >= top if rows is None else number in rows
                if len(fields) > 5 and parsed:
                    self.tags.setdefault(fields[5], number)
                    self.add("extra_columns", len(fields) > 6, number)

    def add_lists(self, lists: Lists, line_of: Callable[[int], int]) -> None:
        """Examine the ranks and scores of a run, or the grades; `line_of` gives the line of a row."""
        if self.kind != "run":
            self._add_grades(lists, line_of)
            return
        ranked = RankedLists(lists)
        bounds, ranks, scores = ranked.bounds, ranked.ranks, ranked.scores
        inner = bounds[1:-1]
        inner = inner[(inner > 0) & (inner < len(scores))] - 1
        tied = scores[1:] == scores[:-1]
        tied[inner] = False
        for code, found in (
            ("ties", _lists_of(bounds, np.flatnonzero(tied))),
            ("rank_disagrees", disordered(bounds, scores, ranks)),
        ):
            if found:
                self.add(code, len(found), line_of(int(bounds[found[0]])))
        odd = np.flatnonzero(lists.ranks < 0)
        if self.trec and len(odd):
            self.add("rank", len(odd), line_of(int(odd[0])))

    def _add_grades(self, lists: Lists, line_of: Callable[[int], int]) -> None:
        grades, bounds = lists.scores, lists.bounds
        starts = bounds[:-1][bounds[:-1] < bounds[1:]]
        best = np.maximum.reduceat(grades, starts) if len(starts) else grades[:0]
        for code, rows in (
            ("negative_grades", np.flatnonzero(grades < 0)),
            ("fractional_grades", np.flatnonzero(grades != np.floor(grades))),
            ("no_relevant", starts[best < 1]),
        ):
            if len(rows):
                self.add(code, len(rows), min(map(line_of, rows.tolist())))

    def problems(self) -> list[Problem]:
        """Return the problems found."""
        tags = list(self.tags)[:2]
        if len(tags) > 1:
            self.add("tags", len(self.tags) - 1, self.tags[tags[1]])
        shown = list(map(plain.shown, tags))
        return [
            Problem(code, self.lines[code], message.format(*shown), self.counts[code])
            for code, message in REMARKS.items()
            if code in self.counts
        ]


def _has_one_tag(text: bytes, lists: Lists) -> bool:
    """Return whether all lines, which are rows, have six columns and the same tag."""
    ends = (b"\n", b"\r\n") if b"\r" in text else (b"\n",)
    same = sum(text.count(blank + lists.tag + end) for blank in (b" ", b"\t") for end in ends)
    return not lists.extra and same == len(lists.scores)


def _lists_of(bounds: Integers, rows: Integers) -> list[int]:
    """Return the lists that contain some rows."""
    return np.unique(np.searchsorted(bounds, rows, side="right") - 1).tolist() if len(rows) else []
