"""Find all faults of a run or qrels, and write a repaired copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.ids import to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, OnDuplicate, OnNan, Reading
from leadline.data.wording import counted, percent
from leadline.errors import InputError, LeadlineError, MissingPackageError
from leadline.io import row_columns
from leadline.io import write as writing
from leadline.io.check_remarks import Problem, Remarks, blocks
from leadline.io.formats import (
    BY_SUFFIX,
    TREC,
    Opened,
    content_of,
    kind_of_trec,
    left_out,
    opened,
    records_of,
    suffix_of,
)
from leadline.io.objects import write_run
from leadline.io.opening import Buffers, Chunk, first_bytes
from leadline.io.read import machine_line, qrels_of
from leadline.io.row_checks import lists_of, named, qrels, qrels_by_subtopic
from leadline.io.run_lists import Lists, run_of
from leadline.io.run_names import run_name
from leadline.io.tables import QRELS_COLUMNS, OutputTable
from leadline.io.trec_lists import looks_trec, scan_lists
from leadline.kernels import plain

BATCH_LINES = 256  # lines parsed at a time; fewer after a fault, so that each fault costs little


class Faults:
    """Faults by their kind, in the order of first lines: the first of each kind, and their number."""

    def __init__(self) -> None:
        self.first: dict[str, InputError] = {}
        self.counts: dict[str, int] = {}

    def add(self, error: InputError) -> None:
        """Count a fault; a copy of the first of its kind is kept, without the frames of its traceback."""
        self.first.setdefault(error.code, error.at(error.path))
        self.counts[error.code] = self.counts.get(error.code, 0) + 1


class Fault(NamedTuple):
    """The lists of a text without its faulty lines; `returns` are lines at which a query reappears."""

    lists: Lists
    faults: Faults
    returns: list[int]
    tag: str
    listed: bool = False  # bare ranked lists, where a repeat holds its rank


def find(source: Opened, kind: str, reading: Reading = DEFAULT_READING, *, subtopics: bool = False) -> Fault:
    """Parse a text and count its faults."""
    if source.format is TREC and (reading.columns if kind == "run" else reading.qrels_columns) is None:
        assert source.whole is not None
        return _in_trec(source.whole.content(), kind)
    faults, what = Faults(), "score" if kind == "run" else "grade"
    rows = records_of(source, what, reading, subtopics=subtopics)
    try:
        lists = lists_of(rows, what, Reading(), on_fault=faults.add)
    except InputError as error:  # the text itself is damaged: nothing after this place is known
        faults.add(error)
        rows.rows = ()
        lists = lists_of(rows, "score", Reading())
    return Fault(lists, faults, [], rows.tag, rows.listed)


def _in_trec(text: bytes, kind: str) -> Fault:
    faults = Faults()
    merged = plain.ParsedRows([], [], [], [], [], [], 0, b"", 0, 0, 0)
    returns: list[int] = []
    seen: set[bytes] = set()
    extra, tag = 0, b""
    for rows in _pieces(text, kind, faults):
        for query, low in zip(rows.queries, rows.bounds, strict=False):
            if merged.queries and query == merged.queries[-1]:
                continue
            if query in seen and low < len(rows.lines):
                returns.append(rows.lines[low])
            seen.add(query)
            merged.queries.append(query)
            merged.bounds.append(len(merged.documents) + low)
        merged.documents.extend(rows.documents)
        merged.values.extend(rows.values)
        merged.ranks.extend(rows.ranks)
        merged.lines.extend(rows.lines)
        extra, tag = extra + rows.extra, rows.tag or tag
    merged.bounds.append(len(merged.documents))
    lists = Lists.of_rows(merged._replace(extra=extra))
    lists.group()
    return Fault(lists, faults, returns, tag.decode("utf-8", "surrogateescape"))


def _pieces(text: bytes, kind: str, faults: Faults) -> Iterator[plain.ParsedRows]:
    begin, _ = plain.after_remarks(text)
    for line, lines in blocks(text[begin:], 1 + text.count(b"\n", 0, begin)):
        yield from _around(lines, line, kind, faults)


def _around(lines: list[bytes], line: int, kind: str, faults: Faults) -> Iterator[plain.ParsedRows]:
    """Parse some lines, skipping faulty ones."""
    place, size = 0, BATCH_LINES
    while place < len(lines):
        part, first = lines[place : place + size], line + place
        try:
            rows = _scan(part, first, kind)
        except InputError as error:
            faults.add(error)
            good = (error.line or first) - first
            if good:
                yield _scan(part[:good], first, kind)
            place, size = place + good + 1, max(1, size // 4)
        else:
            yield rows
            place, size = place + len(part), min(2 * size, BATCH_LINES)


def _scan(lines: list[bytes], line: int, kind: str) -> plain.ParsedRows:
    text = b"\n".join(lines)
    return plain.scan_run(text, line, True) if kind == "run" else plain.scan_qrels(text, line)


@dataclass
class Joined:
    """Agreement of the ids of a run and judgments; a negative grade is no judgment.

    Attributes
    ----------
    qrels : str
        File of the judgments.
    queries : int
        Number of judged queries that the run has.
    documents : int
        Number of documents of the run, for all its queries.
    judged : int
        Number of those that are judged.
    run_example : str or None
        A document of the run without a judgment.
    qrels_example : str or None
        A judged document, of the same query where that has any.
    """

    table: QrelsColumns
    queries: int = 0
    documents: int = 0
    judged: int = 0
    negative: int = 0  # documents with a negative grade
    query: str | None = None  # the first query of the run
    run_example: str | None = None
    begin: int = 0  # row of the judged document
    paired: bool = False  # whether the examples are of a judged query

    @property
    def qrels(self) -> str:
        """Return the file of the judgments."""
        return self.table.source

    @property
    def qrels_example(self) -> str | None:
        """Return a judged document."""
        return to_text(self.table.documents[self.begin]) if len(self.table.grades) else None

    @property
    def share(self) -> float:
        """Return the proportion of documents that are judged."""
        return self.judged / self.documents

    def add(self, lists: Lists, *, repeats: bool = False) -> bool:
        """Count some lists, unless one contains a document twice and `repeats` are not counted."""
        qrels = self.table
        codes = qrels.queries.encode(lists.queries)
        rows = lists.looked_up(qrels, codes) if repeats else lists.match(qrels, codes)
        if rows is None:
            return False
        if self.query is None and len(lists.queries):
            self.query = to_text(lists.queries[0])
        judged = rows >= 0
        judged[judged] = qrels.grades[rows[judged]] >= 0
        unjudged = np.flatnonzero(~judged)
        if len(unjudged) and not self.paired:
            code_of = codes[np.searchsorted(lists.bounds, unjudged, side="right") - 1]
            place = int(np.argmax(code_of >= 0))  # 0 if no query is judged
            code = int(code_of[place])
            self.paired = code >= 0
            if self.paired or self.run_example is None:
                self.run_example = to_text(lists.located()[int(unjudged[place])])
            if self.paired and qrels.begin[code] < qrels.end[code]:
                self.begin = int(qrels.begin[code])
        self.queries += int((codes >= 0).sum())
        self.documents += len(rows)
        self.judged += int(judged.sum())
        self.negative += int((rows >= 0).sum()) - int(judged.sum())
        return True

    def problem(self) -> Problem:
        """Describe the proportion judged; an error if nothing is."""
        qrels = self.qrels
        if self.judged:
            share = percent(round(self.share, 4))
            words = f"judged in {qrels}: {self.judged:,} of {self.documents:,} documents ({share})"
            return Problem("judged", None, words, 1)
        if self.queries and self.negative:
            words = (
                f"no document is judged, because {qrels} has only negative grades (pooled but not judged) "
            )
            words += "for the run's documents"
            return Problem("no_document_judged", None, words, 1, error=True)
        what, ours, theirs = "document", self.run_example, self.qrels_example
        if not self.queries:
            what, ours, theirs = "query", self.query, next(iter(self.table.queries), None)
        words = (
            f"no {what} is judged. Do the {what} ids match? The run has {ours!r}, and {qrels} has {theirs!r}."
        )
        return Problem(f"no_{what}_judged", None, words, 1, error=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        names = ("qrels", "queries", "documents", "judged", "run_example", "qrels_example", "share")
        return {name: getattr(self, name) for name in names}


@dataclass
class Checked:
    """Problems and counts of a file."""

    path: str
    kind: str = ""  # "run", "qrels" or "index"; empty if unknown
    form: str = ""
    reading: Reading = DEFAULT_READING  # names of columns, and whether judgments are by subtopic
    problems: list[Problem] = field(default_factory=list)
    source: Opened | None = None
    lists: Lists | None = None  # its rows, if they are kept for a repaired copy
    rows: int = 0
    queries: int = 0
    tag: str = ""  # last column of a TREC run
    unit: str = "line"  # what `Problem.line` counts, such as "line" or "row"
    joined: Joined | None = None  # agreement of its ids with judgments, where these were given

    @property
    def rejected(self) -> bool:
        """Return whether `evaluate` would refuse the file."""
        return any(problem.error for problem in self.problems)


def check(
    path: str,
    *,
    kind: str | None = None,
    subtopics: bool = False,
    qrels: QrelsColumns | None = None,
    keep: bool = False,
    workspace: Buffers | None = None,
    reading: Reading = DEFAULT_READING,
) -> Checked:
    """Look for every problem of a run or qrels in any format; `qrels` are joined with a run.

    What was read is kept on request, for `write_repaired`. `workspace` is memory to use, the same for one run
    after the other. `reading` has the names of columns.
    """
    if not (subtopics or keep or reading.columns or reading.qrels_columns):
        clean = _clean(path, kind, qrels, workspace or Buffers())
        if clean is not None:
            return clean
    found = Checked(path, reading=replace(reading, subtopics=subtopics))
    try:
        found.source = opened(path, read=True)
        found.form = found.source.format.name
        found.kind = kind or (
            "qrels" if subtopics and qrels is None else content_of(found.source, reading)[0]
        )
        subtopics = subtopics and found.kind == "qrels"
        parsed = find(found.source, found.kind, reading, subtopics=subtopics)
    except (InputError, MissingPackageError) as error:
        line = getattr(error, "line", None)
        code = "nul" if getattr(error, "found", "") == plain.NUL else "unreadable"
        found.problems.append(Problem(code, line, _words(error, path), 1, error=True))
        return found
    found.lists, found.tag, found.unit = parsed.lists, parsed.tag, parsed.lists.unit
    found.rows, found.queries = len(parsed.lists.scores), len(parsed.lists.queries)
    found.problems += [
        Problem(code, error.line, _words(error, path), parsed.faults.counts[code], error=True)
        for code, error in parsed.faults.first.items()
    ]
    if not subtopics:
        found.problems += _repeats(found, parsed.lists, error=not parsed.listed)
    if subtopics or (found.kind == "qrels" and found.source.format is not TREC and not found.problems):
        found.problems += _refused_grades(found.source, reading, subtopics, alone=not found.problems)
    if not found.rows and not found.problems:
        found.problems.append(Problem("empty", None, f"contains no {found.kind}", 1, error=True))
    about = Remarks(found.kind, trec=found.form == "trec")
    if found.source.whole is not None and about.trec:
        about.add_text(found.source.whole.content(), 1, rows=set(parsed.lists.lines))
    about.add("mixed_queries", len(parsed.returns), next(iter(parsed.returns), 0))
    about.add_lists(parsed.lists, parsed.lists.lines.__getitem__)
    found.problems += about.problems()
    if qrels is not None and found.kind == "run" and found.rows:
        found.joined = Joined(qrels)
        found.joined.add(parsed.lists, repeats=True)
        found.problems.append(found.joined.problem())
    if not keep:
        found.source = found.lists = None
    return found


def _clean(path: str, kind: str | None, qrels: QrelsColumns | None, workspace: Buffers) -> Checked | None:
    """Check a TREC file without errors, a chunk at a time; None for anything else."""
    try:
        head = first_bytes(path)
        if kernels.compiled is None or head is None or not looks_trec(head):
            return None
        kind = kind or kind_of_trec(head)
        with Chunk(path, workspace) as window:
            return _checked_stretches(window, kind, qrels if kind == "run" else None)
    except InputError:
        return None


def _checked_stretches(window: Chunk, kind: str, qrels: QrelsColumns | None) -> Checked | None:
    """Check a clean file; None if it is not clean, or a query reappears after another one."""
    about = Remarks(kind, trec=True)
    joined = Joined(QrelsColumns.of([]) if qrels is None else qrels)
    seen: set[bytes] = set()
    line, byte = 1, 0
    while not window.last:
        window.advance(byte)
        lists = scan_lists(window, line, run=kind == "run")
        if lists is None or not np.isfinite(lists.scores).all() or not joined.add(lists):
            return None
        expected = len(seen) + len(lists.queries)
        seen.update(lists.queries)
        if len(seen) < expected:
            return None
        text = window.text[: min(lists.next_byte, window.end)].tobytes()
        about.add_text(text, line, clean=lists)
        about.add_lists(lists, _lines_of(text, line, lists))
        line, byte = lists.next_line, lists.next_byte
    if not joined.documents:
        return None
    found = Checked(window.path, kind, "trec", problems=about.problems())
    found.rows, found.queries = joined.documents, len(seen)
    if qrels is not None:
        found.joined = joined
        found.problems.append(joined.problem())
    return found


def _lines_of(text: bytes, line: int, lists: Lists) -> Callable[[int], int]:
    """Return a function from rows to lines."""
    if lists.next_line - line == len(lists.scores):
        return range(line, lists.next_line).__getitem__
    return [number for number, _ in plain.data_lines(text, line)].__getitem__


def _words(error: LeadlineError, path: str = "") -> str:
    if not isinstance(error, InputError):
        return str(error)
    repair = re.sub(r"add `(?=--config read\.on_)", "use `leadline check FILE --fix -o COPY ", error.hint)
    repair = re.sub(
        r"(add|pass it as) `--config(?! read\.subtopics)", "use `leadline convert FILE COPY --config", repair
    )
    record = error.path.removeprefix(f"{path}, ") if error.line is None and path else ""  # "record 2"
    found = f"{record}: {error.found}" if record not in {"", error.path} else error.found
    return str(InputError(found, hint=repair))


def _repeats(found: Checked, lists: Lists, *, error: bool) -> Iterator[Problem]:
    """Yield documents that occur twice in a list, which is valid in lists of ids alone."""
    action = "appears" if found.kind == "run" else "is judged"
    try:
        lists.resolve_duplicates(Reading(), action=action)
    except InputError as fault:
        if found.kind == "qrels":
            try:  # the advice of the readers, such as to read subtopics
                qrels_of(opened(found.path), found.reading, sure=True)
            except InputError as refused:
                fault.hint = refused.hint if refused.line == fault.line else fault.hint
        names = list(lists.located())
        count = sum(high - low - len(set(names[low:high])) for low, high in pairwise(lists.bounds.tolist()))
        yield Problem("repeated_documents", fault.line, _words(fault), count, error=error)


def _refused_grades(source: Opened, reading: Reading, subtopics: bool, *, alone: bool) -> Iterator[Problem]:
    try:
        if source.format is TREC and reading.qrels_columns is None:
            assert source.whole is not None
            plain.scan_subtopics(source.whole.content(), 1)
        else:
            (qrels_by_subtopic if subtopics else qrels)(
                records_of(source, "grade", reading, subtopics=subtopics)
            )
    except InputError as error:
        twice = "is judged twice" in error.found
        if twice or alone:
            code = "repeated_documents" if twice else error.code
            yield Problem(code, error.line, _words(error), 1, error=True)


# Repairs of a copy, in words; {policy} is the choice between repeats.
DONE = {
    "repeated_documents": "kept one of each repeated document ({policy})",
    "nan": "dropped rows with score NaN",
    "comments": "removed comments",
    "extra_columns": "removed columns after the sixth",
    "tags": "kept only the last tag",
    "mixed_queries": "grouped the rows of each query",
    "rank_disagrees": "ranked by score",
    "rank": "ranked by score",
}


def write_repaired(
    found: Checked, path: str, *, on_duplicate: OnDuplicate = "first", on_nan: OnNan = "drop"
) -> list[Problem]:
    """Write a copy without the repairable faults and return these; refuse other faults."""
    able = {"repeated_documents": on_duplicate != "refuse", "nan": on_nan != "refuse"}
    left = [each for each in found.problems if each.error and not able.get(each.code, False)]
    if left or found.lists is None:
        hint = ""
        beyond = [each for each in left if each.code not in able]
        if {each.code for each in beyond} - {"unreadable", "empty", "tags"}:  # tags of TREC text are a remark
            number = counted(sum(each.count for each in beyond), "error")
            hint = f"{number} cannot be repaired, because leadline repairs only repeated documents, "
            hint += (
                "NaN scores, comments, columns after the sixth, several tags, rows not grouped by query, and "
                "wrong ranks"
            )
        first = (beyond or left)[0]
        raise InputError(
            first.message.removesuffix("."),
            path=found.path,
            hint=hint,
            line=first.line if found.unit == "line" else None,
        )
    policy = Reading(on_duplicate=on_duplicate)
    to_trec = suffix_of(path) not in BY_SUFFIX
    if found.kind == "run":
        found.lists.resolve_duplicates(policy, action="appears")
        write_run(run_of(found.lists, name=run_name(found.path), tag=found.tag), path)
    else:
        _refuse_design(found)
        if not found.reading.subtopics:
            found.lists.resolve_duplicates(policy, action="is judged")
        machine = machine_line(first_bytes(found.path))
        table = _judgments(found, found.lists, on_duplicate, to_trec=to_trec)
        writing.write_table(table._replace(machine=machine), path)
    lost = _left_out(found, to_trec=to_trec)
    made = DONE if to_trec else {code: words for code, words in DONE.items() if code != "tags"}
    done = [Problem("left_out", None, ", ".join(lost), len(lost))] if lost else []
    return [
        Problem(each.code, each.line, made[each.code].format(policy=on_duplicate), each.count)
        for each in found.problems
        if each.code in made
    ] + done


def _refuse_design(found: Checked) -> None:
    """Refuse judgments of which a copy of queries, documents and grades would not say how they were made."""
    assert found.source is not None
    reading = found.reading
    trec = found.form == "trec"
    names = () if trec else records_of(found.source, "grade", reading, subtopics=reading.subtopics).names
    if found.form == "sqlite" or {*names} & {*row_columns.PROBABILITY, *row_columns.JUDGE, "stratum"}:
        raise InputError(
            "leadline cannot repair judgments with inclusion probabilities, strata or judges, because the "
            "repaired copy would lose this information",
            path=found.path,
            hint="Correct the file itself, or export it again",
        )


def _left_out(found: Checked, *, to_trec: bool) -> list[str]:
    assert found.source is not None
    what, kept = ("score" if found.kind == "run" else "grade"), found.form == "trec" and to_trec
    reading = found.reading
    lost = [] if kept else left_out(found.source, what, reading, subtopics=reading.subtopics)
    tag = "all tags" if any(each.code == "tags" for each in found.problems) else f"tag {found.tag}"
    return [*lost, tag] if found.tag and not to_trec else lost


def _judgments(found: Checked, lists: Lists, policy: OnDuplicate, *, to_trec: bool) -> OutputTable:
    """Return the judgments in their order; TREC text keeps its second column in TREC text."""
    rows = [
        (query, document, int(grade) if grade == int(grade) else grade)
        for query, document, grade in named(lists)
    ]
    subtopics = found.reading.subtopics
    if not subtopics and not (found.form == "trec" and to_trec):
        return OutputTable(QRELS_COLUMNS, list(rows))
    second = _second_column(found, lists)
    if not subtopics:
        return OutputTable(
            (*QRELS_COLUMNS, "iteration"), [(*row, name) for row, name in zip(rows, second, strict=True)]
        )
    kept: dict[tuple[str, str, str], float] = {}
    for (query, document, grade), name in zip(rows, second, strict=True):
        first = kept.get((query, document, name), grade)
        kept[query, document, name] = {"last": grade, "max": max(first, grade)}.get(policy, first)
    judged = [(query, document, grade, name) for (query, document, name), grade in kept.items()]
    return OutputTable((*QRELS_COLUMNS, "subtopic"), judged)


def _second_column(found: Checked, lists: Lists) -> list[str]:
    """Return the second column of TREC text, or the subtopics of other rows."""
    assert found.source is not None
    whole = found.source.whole
    if found.form == "trec" and whole is not None and found.reading.qrels_columns is None:
        lines = whole.content().split(b"\n")
        return [to_text(lines[line - 1].split()[1]) for line in lists.lines]
    rows = records_of(found.source, "grade", found.reading, subtopics=True).rows
    named_by = {place: str(subtopic) for place, *_, subtopic in rows}
    return [named_by[line] for line in lists.lines]
