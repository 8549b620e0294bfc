"""Say what is wrong with a run or qrels (the evaluator would refuse it) and what is odd about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leadline.errors import InputError, LeadlineError
from leadline.formats import Opened, faults, opened, trec_run
from leadline.formats.opening import Window
from leadline.formats.trec_lists import PlainLists, Repair
from leadline.kernels import plain
from leadline.qrels import Qrels
from leadline.vocabulary import to_text
from leadline.wording import percent


@dataclass(frozen=True)
class Problem:
    """One kind of problem in a file: the line of the first (None where there are none), and how many."""

    code: str
    line: int | None
    message: str
    count: int
    error: bool = False


@dataclass(frozen=True)
class Joined:
    """How a run and judgments fit together.

    `run_example` is a document of the run without a judgment, `qrels_example` a judged document, of the same
    query where that has any.
    """

    qrels: str
    queries: int
    documents: int
    judged: int
    run_example: str | None
    qrels_example: str | None

    @property
    def share(self) -> float:
        """Return the share of the documents that are judged."""
        return self.judged / self.documents

    def problem(self) -> Problem:
        """Say how much is judged; nothing at all is an error."""
        named = f"the run has {self.run_example!r}, {self.qrels} has {self.qrels_example!r}"
        if not self.queries:
            words = f"no query is judged; do the query ids match? For documents, {named}"
            return Problem("no_query_judged", None, words, 1, error=True)
        if not self.judged:
            words = (
                f"no document is judged; do the document ids match? {named[0].upper()}{named[1:]}"
            )
            return Problem("no_document_judged", None, words, 1, error=True)
        share = percent(round(self.share, 4))
        words = f"judged by {self.qrels}: {self.judged:,} of {self.documents:,} documents ({share})"
        return Problem("judged", None, words, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return vars(self) | {"share": self.share}


@dataclass
class Checked:
    """What was found in a file."""

    path: str
    kind: str = ""
    form: str = ""
    subtopics: bool = False
    problems: list[Problem] = field(default_factory=list)
    source: Opened | None = None
    lists: PlainLists | None = None
    rows: int = 0
    queries: int = 0
    tag: str = ""
    joined: Joined | None = None

    @property
    def refused(self) -> bool:
        """Say whether the evaluator would refuse the file."""
        return any(problem.error for problem in self.problems)

    @property
    def unit(self) -> str:
        """Say what the lines of problems count."""
        return "line" if self.lists is None else self.lists.unit


def check(
    path: str, *, kind: str | None = None, subtopics: bool = False, qrels: Qrels | None = None
) -> Checked:
    """Look for every problem of a run or qrels in any format; `qrels` are joined with a run."""
    from leadline.formats import kinds

    found = Checked(path, subtopics=subtopics)
    try:
        found.source = opened(path, read=True)
        found.form = found.source.form
        found.kind = kind or ("qrels" if subtopics else kinds.content_of(found.source))
        parsed = faults.find(found.source, found.kind)
    except LeadlineError as error:
        line = getattr(error, "line", None)
        code = "nul" if getattr(error, "found", "") == "a NUL byte" else "unreadable"
        found.problems.append(Problem(code, line, _words(error), 1, error=True))
        return found
    found.lists, found.tag = parsed.lists, parsed.tag
    found.rows, found.queries = len(parsed.lists.documents), len(parsed.lists.queries)
    found.problems += _errors(parsed.faults)
    if subtopics and found.form == "trec":
        found.problems += _repeats_by_subtopic(found.source)
    else:
        found.problems += _repeats(parsed.lists, found.kind, error=not parsed.listed)
    if not found.rows and not found.problems:
        found.problems.append(Problem("empty", None, f"holds no {found.kind}", 1, error=True))
    found.problems += [problem for problem in _remarks(found, parsed.returns) if problem.count]
    if qrels is not None and found.kind == "run" and found.rows:
        found.joined = join(parsed.lists, qrels)
        found.problems.append(found.joined.problem())
    return found


def join(lists: PlainLists, qrels: Qrels) -> Joined:
    """Count the documents of a run that are judged; a negative grade is no judgment."""
    codes = qrels.queries.encode(lists.queries)
    rows = lists.match(qrels, codes)
    judged = rows >= 0
    judged[judged] = qrels.grades[rows[judged]] >= 0
    unjudged = np.flatnonzero(~judged)
    begin = 0
    if len(unjudged):
        place = int(np.searchsorted(lists.bounds, unjudged[0], side="right")) - 1
        code = int(codes[place])
        if code >= 0 and qrels.begin[code] < qrels.end[code]:
            begin = int(qrels.begin[code])
    return Joined(
        qrels.source, int((codes >= 0).sum()), len(rows), int(judged.sum()),
        to_text(lists.documents[int(unjudged[0])]) if len(unjudged) else None,
        to_text(qrels.documents[begin]) if len(qrels) else None,
    )  # fmt: skip


def _remarks(found: Checked, returns: list[int]) -> Iterator[Problem]:
    """Give what the evaluator accepts and a reader should know."""
    assert found.source is not None
    assert found.lists is not None
    if found.source.whole is not None and found.form != "parquet":
        yield from _of_text(found.source.whole, found.form)
        if found.form == "trec" and found.kind == "run":
            yield from _of_columns(found.source.whole, set(found.lists.lines))
    yield _problem("mixed_queries", returns, "a query comes back after another one")
    yield from _of_lists(found.lists, found.kind, trec=found.form == "trec")
    yield from _of_ids(found.lists)


def _errors(found: faults.Faults) -> list[Problem]:
    """Give faults by their kind, in the order of first lines."""
    return [
        Problem(code, error.line, _words(error), found.counts[code], error=True)
        for code, error in found.first.items()
    ]


def _words(error: LeadlineError) -> str:
    if not isinstance(error, InputError):
        return str(error)
    return str(InputError(error.found, expected=error.expected, hint=error.hint))


def _repeats(lists: PlainLists, kind: str, *, error: bool) -> Iterator[Problem]:
    """Give the documents that a list holds twice; a bare ranked list may."""
    verb = "appears" if kind == "run" else "is judged"
    try:
        lists.settle(Repair(), verb=verb)
    except InputError as fault:
        count = sum(
            high - low - len(set(lists.documents[low:high])) for _, low, high in _spans(lists)
        )
        yield Problem("repeated_documents", fault.line, _words(fault), count, error=error)


def _repeats_by_subtopic(source: Opened) -> Iterator[Problem]:
    assert source.whole is not None
    try:
        plain.scan_subtopics(source.whole.text[: source.whole.end].tobytes(), 1)
    except InputError as error:
        if "is judged twice" in error.found:
            yield Problem("repeated_documents", error.line, _words(error), 1, error=True)


class _Tally:
    """The first of some lines, and how many they are."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.count = 0

    def add(self, lines: list[int]) -> None:
        """Count lines behind those counted before."""
        if lines and self.first is None:
            self.first = lines[0]
        self.count += len(lines)

    def problem(self, code: str, message: str) -> Problem:
        """Say what is odd about the lines."""
        return Problem(code, self.first, message, self.count)


def _of_text(window: Window, form: str) -> Iterator[Problem]:
    """Give what readers of text step over: marks, ends of lines, blank lines, comments."""
    text = window.text[: window.end].tobytes().removesuffix(b"\n")
    change = window.filled - window.read  # a byte order mark was cut off, a final newline put on
    yield Problem("bom", 1, "a byte order mark before the first line", int(change < 0))
    crlf, blank, comments = _Tally(), _Tally(), _Tally()
    last = 0
    for first, lines in faults.blocks(text) if window.end else ():
        crlf.add([number for number, line in enumerate(lines, first) if line.endswith(b"\r")])
        if form == "trec":
            blank.add([number for number, line in enumerate(lines, first) if not line.split()])
            marked = [number for number, line in enumerate(lines, first) if line.startswith(b"#")]
            comments.add(marked)
        last = first + len(lines) - 1
    yield crlf.problem("crlf", "a line that ends in CR LF")
    if form == "trec":
        yield blank.problem("blank_lines", "a blank line")
        yield comments.problem("comments", "a comment, which trec_eval 9 refuses")
        missing = [last] if change in {1, -2} else []
        yield _problem("no_final_newline", missing, "the last line has no newline")


def _of_columns(window: Window, whole: set[int]) -> Iterator[Problem]:
    """Give columns that are ignored, and tags that differ."""
    extra = _Tally()
    tags: dict[bytes, int] = {}
    text = window.text[: window.end].tobytes()
    for first, lines in faults.blocks(text):
        for number, line in enumerate(lines, start=first):
            fields = line.split(None, 6)
            if len(fields) > 5 and number in whole:
                tags.setdefault(fields[5], number)
                if len(fields) > 6:
                    extra.add([number])
    yield extra.problem("extra_columns", "more than six columns; the rest is ignored")
    if len(tags) > 1:
        (first_tag, _), (other, line_number) = list(tags.items())[:2]
        message = f"tag {plain.shown(other)} after {plain.shown(first_tag)}; the last one counts"
        yield Problem("tags", line_number, message, len(tags) - 1)


def _spans(lists: PlainLists) -> Iterator[tuple[bytes, int, int]]:
    bounds = lists.bounds.tolist()
    return zip(lists.queries, bounds[:-1], bounds[1:], strict=True)


def _of_lists(lists: PlainLists, kind: str, *, trec: bool) -> Iterator[Problem]:
    if kind == "qrels":
        yield from _of_grades(lists)
        return
    order = lists.order()
    scores = lists.scores if order is None else lists.scores[order]
    ranks = lists.ranks if order is None else lists.ranks[order]
    ties: list[int] = []
    against: list[int] = []
    again: list[int] = []
    zero: list[int] = []
    for _, low, high in _spans(lists):
        if low == high:
            continue
        rank, score = ranks[low:high], scores[low:high]
        line = lists.lines[low]
        ties += [line] * bool((score[1:] == score[:-1]).any())
        against += [line] * trec_run.disordered(np.array([0, high - low]), score, rank)
        again += [line] * (len(set(rank[rank >= 0].tolist())) < int((rank >= 0).sum()))
        zero += [line] * int(0 in rank)
    yield _problem(
        "rank_disagrees", against, "a list whose ranks contradict its scores; scores decide"
    )
    yield _problem("rank_repeats", again, "a list in which a rank appears twice")
    yield _problem("rank_from_0", zero, "a list whose ranks begin at 0")
    odd = [lists.lines[row] for row in np.flatnonzero(lists.ranks < 0).tolist()] if trec else []
    yield _problem("rank", odd, "a rank that is no whole number")
    yield _problem("ties", ties, "a list with equal scores; order there: document id falling")
    sizes = np.diff(lists.bounds)
    if len(sizes) and sizes.min() < sizes.max():
        short = [
            lists.lines[low] for _, low, high in _spans(lists) if low < high < low + sizes.max()
        ]
        message = f"a list shorter than the longest; lists hold {sizes.min():,} to {sizes.max():,}"
        yield _problem("list_lengths", short, message)


def _of_grades(lists: PlainLists) -> Iterator[Problem]:
    negative = np.flatnonzero(lists.scores < 0).tolist()
    message = "a negative grade: pooled, not judged"
    yield _problem("negative_grades", sorted(lists.lines[row] for row in negative), message)
    part = np.flatnonzero(lists.scores != np.floor(lists.scores)).tolist()
    message = "a grade that is not whole; trec_eval cuts it off"
    yield _problem("fractional_grades", sorted(lists.lines[row] for row in part), message)
    nothing = [
        lists.lines[low]
        for _, low, high in _spans(lists)
        if low < high and not (lists.scores[low:high] >= 1).any()
    ]
    yield _problem("no_relevant", nothing, "a query without a relevant document (grade 1 or more)")


ODD = (
    ("odd_spaces", "[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]",
     "a space that is no blank"),
    ("control_characters", "[\x00-\x1f\x7f-\x9f]", "a control character"),
    ("quotes", "[\"']", "a quotation mark"),
    ("not_utf8", "[\udc80-\udcff]", "bytes that are not UTF-8"),
)  # fmt: skip


def _of_ids(lists: PlainLists) -> Iterator[Problem]:
    """Give ids that are accepted as they are and that other programs may trip over."""
    for code, pattern, words in ODD:
        search = re.compile(pattern).search
        lines: list[int] = []
        first = ""
        for query, low, high in _spans(lists):
            whole = bool(search(to_text(query)))
            for row in range(low, high):
                if whole or search(to_text(lists.documents[row])):
                    first = first or to_text(query if whole else lists.documents[row])
                    lines.append(lists.lines[row])
        yield _problem(code, lines, f"an id with {words}: {first!r}; it is kept as it is")


def _problem(code: str, lines: list[int], message: str) -> Problem:
    return Problem(code, lines[0] if lines else None, message, len(lines))
