"""Accepted irregularities of a file that may surprise, collected chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from leadline.data.arrays import Integers
from leadline.io.run_lists import Lists, RankedLists, disordered
from leadline.kernels import plain

BLOCK = 1 << 16  # number of bytes split into lines at a time


@dataclass(frozen=True)
class Problem:
    """One kind of problem in a file."""

    code: str  # name of the problem, the same in all versions
    line: int | None  # line of the first; None if there is none
    message: str
    count: int  # how often it occurs
    error: bool = False  # whether `evaluate` refuses the file for it


class Tally:
    """First of some lines, and their number."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.count = 0

    def add(self, count: int, line: int) -> None:
        """Count lines after those counted before; `line` is the first of them."""
        if count and self.first is None:
            self.first = line
        self.count += count

    def problem(self, code: str, message: str) -> Problem:
        """Describe the irregularity of the lines."""
        return Problem(code, self.first, message, self.count)


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


class TextRemarks:
    """Parts of TREC text ignored by readers: remarks, columns, tags."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.comments, self.extra = Tally(), Tally()
        self.tags: dict[bytes, int] = {}

    def add(
        self, text: bytes, line: int, *, clean: Lists | None = None, rows: set[int] | None = None
    ) -> None:
        """Examine some whole lines, of which `line` is the number of the first.

        `clean` are the lists in them where these tell what most lines are; `rows` are the lines that were
        parsed, where not all were.
        """
        top = line
        if line == 1:
            begin, comments = plain.after_remarks(text)
            top += text.count(b"\n", 0, begin)
            lines = text[:begin].split(b"\n")
            self.comments.add(
                comments, next((n for n, raw in enumerate(lines, 1) if raw.startswith(b"#")), 1)
            )
        if self.kind == "run":
            only_rows = clean is not None and len(clean.scores) == text.count(b"\n")
            if only_rows and clean is not None and _has_one_tag(text, clean):
                self.tags.setdefault(clean.tag, line)
            else:
                self._add_columns(text, line, top, rows)

    def _add_columns(self, text: bytes, line: int, top: int, rows: set[int] | None) -> None:
        split = plain.splitter_of(text)
        for first, lines in blocks(text, line):
            for number, raw in enumerate(lines, start=first):
                fields = split(raw)
                parsed = number >= top if rows is None else number in rows
                if len(fields) > 5 and parsed:
                    self.tags.setdefault(fields[5], number)
                    self.extra.add(len(fields) > 6, number)

    def problems(self) -> Iterator[Problem]:
        """Yield the problems found."""
        yield self.comments.problem("comments", "a comment, which trec_eval 9 refuses")
        yield self.extra.problem("extra_columns", "more than six columns (the extra columns are ignored)")
        if len(self.tags) > 1:
            (first_tag, _), (other, line) = list(self.tags.items())[:2]
            message = f"tag {plain.shown(other)} after {plain.shown(first_tag)} (the last one counts)"
            yield Problem("tags", line, message, len(self.tags) - 1)


def _has_one_tag(text: bytes, lists: Lists) -> bool:
    """Return whether all lines, which are rows, have six columns and the same tag."""
    ends = (b"\n", b"\r\n") if b"\r" in text else (b"\n",)
    same = sum(text.count(blank + lists.tag + end) for blank in (b" ", b"\t") for end in ends)
    return not lists.extra and same == len(lists.scores)


class ListRemarks:
    """Irregularities of the ranks and scores of the lists of a run."""

    def __init__(self, *, trec: bool) -> None:
        self.trec = trec
        self.against, self.no_rank, self.ties = Tally(), Tally(), Tally()

    def add(self, lists: Lists, line_of: Callable[[int], int]) -> None:
        """Examine some lists; `line_of` gives the line of a row."""
        ranked = RankedLists(lists)
        bounds, ranks, scores = ranked.bounds, ranked.ranks, ranked.scores
        inner = bounds[1:-1]
        inner = inner[(inner > 0) & (inner < len(scores))] - 1
        tied = scores[1:] == scores[:-1]
        tied[inner] = False
        for tally, found in (
            (self.ties, _lists_of(bounds, np.flatnonzero(tied))),
            (self.against, disordered(bounds, scores, ranks)),
        ):
            if found:
                tally.add(len(found), line_of(int(bounds[found[0]])))
        odd = np.flatnonzero(lists.ranks < 0)
        if self.trec and len(odd):
            self.no_rank.add(len(odd), line_of(int(odd[0])))

    def problems(self) -> Iterator[Problem]:
        """Yield the problems found."""
        yield self.against.problem(
            "rank_disagrees", "a query whose ranks contradict its scores (the scores win)"
        )
        message = "a rank that is not a number of one to nine digits (the scores win)"
        yield self.no_rank.problem("rank", message)
        yield self.ties.problem(
            "ties", "a query with tied scores (ties are ordered by descending document id)"
        )


class GradeRemarks:
    """Irregularities of the grades of judgments."""

    def __init__(self) -> None:
        self.negative, self.part, self.nothing = Tally(), Tally(), Tally()

    def add(self, lists: Lists, line_of: Callable[[int], int]) -> None:
        """Examine some lists; `line_of` gives the line of a row."""
        grades, bounds = lists.scores, lists.bounds
        starts = bounds[:-1][bounds[:-1] < bounds[1:]]
        best = np.maximum.reduceat(grades, starts) if len(starts) else grades[:0]
        for tally, rows in (
            (self.negative, np.flatnonzero(grades < 0)),
            (self.part, np.flatnonzero(grades != np.floor(grades))),
            (self.nothing, starts[best < 1]),
        ):
            if len(rows):
                tally.add(len(rows), min(map(line_of, rows.tolist())))

    def problems(self) -> Iterator[Problem]:
        """Yield the problems found."""
        yield self.negative.problem("negative_grades", "a negative grade (pooled but not judged)")
        yield self.part.problem("fractional_grades", "a fractional grade (trec_eval truncates it)")
        message = "a query without a relevant document (grade 1 or more)"
        yield self.nothing.problem("no_relevant", message)


def _lists_of(bounds: Integers, rows: Integers) -> list[int]:
    """Return the lists that contain some rows."""
    return np.unique(np.searchsorted(bounds, rows, side="right") - 1).tolist() if len(rows) else []
