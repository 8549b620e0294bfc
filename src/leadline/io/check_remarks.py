"""Accepted irregularities of a file that may surprise, collected chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from leadline.data.arrays import Codes, Integers
from leadline.data.ids import to_text
from leadline.io import trec_runs
from leadline.io.trec_lists import CompiledLists, PlainLists, RankedLists, TrecLists
from leadline.kernels import plain

BLOCK = 1 << 16  # number of bytes split into lines at a time
ODD = (
    (
        "odd_spaces",
        "[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]",
        "a space character other than a blank",
    ),
    ("control_characters", "[\x00-\x1f\x7f-\x9f]", "a control character"),
    ("quotes", "[\"']", "a quotation mark"),
    ("not_utf8", "[\udc80-\udcff]", "bytes that are not UTF-8"),
)
ODD_BYTES = re.compile(rb"[\x00-\x1f\x7f-\xff\"']")  # ids without any of these bytes are regular
IS_ODD = np.array([ODD_BYTES.match(bytes([byte])) is not None for byte in range(256)])


@dataclass(frozen=True)
class Problem:
    """One kind of problem in a file.

    Attributes
    ----------
    code : str
        Name of the problem, the same in all versions.
    line : int or None
        Line of the first; None if there is none.
    message : str
        What is printed.
    count : int
        How often it occurs.
    error : bool
        Whether `evaluate` refuses the file for it.
    """

    code: str
    line: int | None
    message: str
    count: int
    error: bool = False


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
    """Parts of text ignored by readers: marks, ends of lines, blank lines, remarks, columns, tags."""

    def __init__(self, form: str, kind: str) -> None:
        self.trec = form == "trec"
        self.kind = kind
        self.changed = 0  # bytes added minus bytes removed: byte order mark removed, final newline added
        self.last = 0
        self.crlf, self.blank, self.comments, self.extra = Tally(), Tally(), Tally(), Tally()
        self.tags: dict[bytes, int] = {}

    def add(
        self, text: bytes, line: int, *, clean: CompiledLists | None = None, rows: set[int] | None = None
    ) -> None:
        """Examine some whole lines, of which `line` is the number of the first.

        `clean` are the lists in them where these tell what most lines are; `rows` are the lines that were
        parsed, where not all were.
        """
        ends = text.count(b"\r\n")
        if ends:
            self.crlf.add(ends, line + text.count(b"\n", 0, text.find(b"\r\n")))
        if not self.trec or not text:
            return
        self.last = line + text.count(b"\n") - 1
        only_rows = clean is not None and len(clean.scores) == self.last - line + 1
        if not only_rows:
            self._add_empty(text, line)
        if self.kind == "run":
            if only_rows and clean is not None and _has_one_tag(text, clean, ends):
                self.tags.setdefault(clean.tag, line)
            else:
                self._add_columns(text, line, rows)

    def _add_empty(self, text: bytes, line: int) -> None:
        top = line + text.count(b"\n", 0, plain.after_remarks(text)[0] if line == 1 else 0)
        for first, lines in blocks(text.removesuffix(b"\n"), line):
            for number, raw in enumerate(lines, first):
                if number < top and raw.startswith(b"#"):
                    self.comments.add(1, number)
                elif not raw.split():
                    self.blank.add(1, number)

    def _add_columns(self, text: bytes, line: int, rows: set[int] | None) -> None:
        top = line + text.count(b"\n", 0, plain.after_remarks(text)[0] if line == 1 else 0)
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
        yield Problem("bom", 1, "a byte order mark before the first line", int(self.changed < 0))
        yield self.crlf.problem("crlf", "a line that ends in CR LF")
        if not self.trec:
            return
        yield self.blank.problem("blank_lines", "a blank line")
        yield self.comments.problem("comments", "a remark, which trec_eval 9 refuses")
        missing = Tally()
        missing.add(int(self.changed in {1, -2}), self.last)
        yield missing.problem("no_final_newline", "the last line has no newline")
        yield self.extra.problem("extra_columns", "more than six columns; the others are ignored")
        if len(self.tags) > 1:
            (first_tag, _), (other, line) = list(self.tags.items())[:2]
            message = f"tag {plain.shown(other)} after {plain.shown(first_tag)}; the last one counts"
            yield Problem("tags", line, message, len(self.tags) - 1)


def _has_one_tag(text: bytes, lists: CompiledLists, carriage_returns: int) -> bool:
    """Return whether all lines, which are rows, have six columns and the same tag."""
    ends = [b"\n", b"\r\n"] if carriage_returns else [b"\n"]
    same = sum(text.count(blank + lists.tag + end) for blank in (b" ", b"\t") for end in ends)
    return not lists.extra and same == len(lists.scores)


class ListRemarks:
    """Irregularities of the ranks, scores and lengths of the lists of a run, and of ids."""

    def __init__(self, *, trec: bool) -> None:
        self.trec = trec
        self.against, self.again, self.zero, self.no_rank, self.ties = (Tally() for _ in range(5))
        self.sizes: list[int] = []
        self.lines: list[int] = []
        self.odd: dict[str, tuple[Tally, str]] = {}

    def add(self, lists: TrecLists, line_of: Callable[[int], int]) -> None:
        """Examine some lists; `line_of` gives the line of a row."""
        ranked = RankedLists(lists)
        bounds, ranks, scores = ranked.bounds, ranked.ranks, ranked.scores
        inner = bounds[1:-1]
        inner = inner[(inner > 0) & (inner < len(scores))] - 1
        tied = scores[1:] == scores[:-1]
        tied[inner] = False
        rising = ranks[1:] > ranks[:-1]
        rising[inner] = True
        doubtful = _lists_of(bounds, np.flatnonzero(~rising))
        for tally, found in (
            (self.ties, _lists_of(bounds, np.flatnonzero(tied))),
            (self.against, trec_runs.disordered_lists(bounds, scores, ranks)),
            (self.again, [place for place in doubtful if _repeats(ranks[bounds[place] : bounds[place + 1]])]),
            (self.zero, _lists_of(bounds, np.flatnonzero(ranks == 0))),
        ):
            if found:
                tally.add(len(found), line_of(int(bounds[found[0]])))
        odd = np.flatnonzero(lists.ranks < 0)
        if self.trec and len(odd):
            self.no_rank.add(len(odd), line_of(int(odd[0])))
        self.sizes += np.diff(bounds).tolist()
        self.lines += [line_of(low) if low < len(scores) else 0 for low in bounds[:-1].tolist()]

    def problems(self) -> Iterator[Problem]:
        """Yield the problems found."""
        yield self.against.problem(
            "rank_disagrees", "a list whose ranks contradict its scores; scores decide"
        )
        yield self.again.problem("rank_repeats", "a list in which a rank appears twice")
        yield self.zero.problem("rank_from_0", "a list whose ranks begin at 0")
        yield self.no_rank.problem("rank", "a rank that is not a whole number")
        yield self.ties.problem("ties", "a list with tied scores; ties are ordered by descending document id")
        low, high = min(self.sizes, default=0), max(self.sizes, default=0)
        short = Tally()
        for size, line in zip(self.sizes, self.lines, strict=True):
            short.add(0 < size < high, line)
        message = f"a list shorter than the longest; lengths are {low:,} to {high:,}"
        yield short.problem("list_lengths", message)


def _lists_of(bounds: Integers, rows: Integers) -> list[int]:
    """Return the lists that contain some rows."""
    return np.unique(np.searchsorted(bounds, rows, side="right") - 1).tolist() if len(rows) else []


def _repeats(ranks: Integers | Codes) -> bool:
    known = ranks[ranks >= 0].tolist()
    return len(set(known)) < len(known)


class IdRemarks:
    """Accepted ids that other programs may misread."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[Tally, str]] = {}

    def add(self, lists: TrecLists, line_of: Callable[[int], int], *, text: bytes = b"") -> None:
        """Examine the ids of some lists; `text` is the text of compiled lists."""
        queries = [place for place, query in enumerate(lists.queries) if ODD_BYTES.search(query)]
        rows = _odd_rows(lists, text)
        if not queries and not len(rows):
            return
        names = lists.documents if isinstance(lists, PlainLists) else lists.ids()
        bounds = lists.bounds.tolist()
        for code, pattern, _ in ODD:
            search = re.compile(pattern).search
            shown = {row: names[row] for row in rows if search(to_text(names[row]))}
            for place in queries:
                if search(to_text(lists.queries[place])):
                    shown |= dict.fromkeys(range(bounds[place], bounds[place + 1]), lists.queries[place])
            if shown:
                first = min(shown)
                tally, _ = self.found.setdefault(code, (Tally(), to_text(shown[first])))
                tally.add(len(shown), line_of(first))

    def problems(self) -> Iterator[Problem]:
        """Yield the problems found."""
        for code, _, words in ODD:
            if code in self.found:
                tally, first = self.found[code]
                yield tally.problem(code, f"an id with {words}: {first!r}; kept unchanged")


def _odd_rows(lists: TrecLists, text: bytes) -> list[int]:
    """Return the rows whose document ids have an irregular byte."""
    if isinstance(lists, CompiledLists):
        if text.isascii() and not any(byte in text for byte in (b'"', b"'", b"\x7f")):
            return []
        places = np.flatnonzero(IS_ODD[lists.text[: len(text)]])
        rows = np.searchsorted(lists.start, places, side="right") - 1
        return np.unique(rows[(rows >= 0) & (places < lists.stop[rows])]).tolist() if len(lists.start) else []
    names = lists.documents if isinstance(lists, PlainLists) else list(lists.ids())
    if not ODD_BYTES.search(b" ".join(names)):
        return []
    return [row for row, name in enumerate(names) if ODD_BYTES.search(name)]
