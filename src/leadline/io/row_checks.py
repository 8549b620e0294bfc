"""Rows of any format but TREC text: column names, checks, and lists as those of TREC text."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from numbers import Integral
from typing import Any

import numpy as np

from leadline.data.ids import to_bytes, to_text
from leadline.data.judgment_tables import DrawnPool, Judgment, merge
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import DEFAULT_READING, Reading
from leadline.data.table import MACHINE_LABELS, PART_JUDGED
from leadline.data.wording import first_few, in_code, in_columns
from leadline.errors import InputError, either, refuse_repeated, repeated
from leadline.io import selection
from leadline.io.row_columns import (
    BESIDE,
    GRADE,
    JUDGE,
    LISTED,
    MACHINE,
    ORDER,
    PLACE,
    QUERY,
    RANK,
    RATING,
    SCORE,
    SUBTOPIC,
    TAG,
    UNRATED,
    WITHOUT_IDS,
    Records,
    Row,
    Table,
    find,
    probability_in,
    share_of,
)
from leadline.io.run_lists import ListConsumer, Lists, ReadCounts, deliver, qrels_of_lists
from leadline.io.score_cells import number_in, refuse_steps
from leadline.io.trec_lists import about_remarks
from leadline.kernels import plain

LEAVE_OUT = "To leave out such rows, add `--config read.on_nan=drop`"
LONGEST_VALUE = 60  # characters of a value in an error
EMPTY = "Each row needs a query, a document and a grade"
TEXTS = ("text", "contents", "title")  # columns of documents and queries, which are no run and no judgments


def choose(present: Sequence[object], what: str, *, by_rank: bool = False) -> tuple[str, str, str, str]:
    """Return the columns of query, document, number, and rank (scores) or subtopic (grades); "" is none."""
    values = SCORE if what == "score" else (*GRADE, *SCORE)
    more = find(present, RANK if what == "score" else SUBTOPIC)
    if what == "score" and more is None and find(present, SCORE) is None:
        more = find(present, PLACE)
    if by_rank and more is None:
        raise _missing(present, "rank", RANK)
    found = [find(present, names) for names in (QUERY, LISTED)]
    value = find(present, values)
    used = (*found, value, more)
    refuse_repeated("column", [name for name in present if name in used])
    for noun, name, names in zip(("query id", "document id"), found, (QUERY, LISTED), strict=True):
        if name is None:
            raise _missing(present, noun, names)
    if value is None and not by_rank:
        ranked = more and what == "score"
        swapped = ORDER if what == "score" and find(present, GRADE) else ""
        hint = "To order documents by rank, add `--config read.order=rank`" if ranked else swapped
        raise _missing(present, what, values, hint=hint)
    return found[0] or "", found[1] or "", value or "", more or ""


def _missing(present: Iterable[object], what: str, names: Sequence[str], *, hint: str = "") -> InputError:
    columns = list(map(str, present))
    if not columns:
        return InputError("contains no table", hint="Add a header (in JSON, field names) and rows")
    refuse_steps(columns)
    numbers = (*SCORE, *GRADE, *RANK)
    if what == "document id" and "run" in columns and not find(columns, numbers):
        hint = "If these are per-query values, pass them to `leadline compare`, without judgments and runs"
    texts = [name for name in WITHOUT_IDS if name in columns]
    of_lists = [name for name in WITHOUT_IDS.values() if name in columns]
    ids = [WITHOUT_IDS[name] for name in texts] or of_lists
    asked = what.endswith(" id") or texts != ["passage"]  # whether an id may be missing
    if what == "grade" and {"probability", "contributors"} <= {*columns}:
        hint = "This is a pool, which has pairs to judge but no grades. Pass the judgments of these pairs"
    elif not hint and not texts and find(columns, TEXTS) and not find(columns, numbers):
        hint = plain.TEXTS
    elif what == "query id" and texts in ([], ["passage"]) and not of_lists and find(columns, LISTED) is None:
        hint = f"Rename the columns with the query ids and document ids to '{QUERY[0]}' and '{LISTED[0]}'"
    elif ids and asked and find(columns, LISTED[:-1]) is None:  # "id" may be that of a query
        hint = f"Column '{ids[0]}' must contain lists of ids, not text or null. CSV cannot store lists, so "
        hint += "save the data as JSON Lines (in Ragas, with `to_jsonl`)"
        if ids[0] not in columns:
            old, new = (either(map(repr, each), "and") for each in (texts, ids))
            hint = f"If columns {old} contain ids, rename them to {new}. If they contain texts, add columns "
            hint += f"{new} with their ids"
            if len(texts) == 1:
                hint = (
                    f"If column {old} contains ids, rename it to {new}. If it contains texts, add a column "
                )
                hint += f"{new} with their ids"
    named = {*QUERY, *LISTED, *numbers, *TAG}
    other = [one for one in columns if one not in named]
    near = next((found for one in other if (found := _nearest(one, names))), "")
    taken = {find(columns, QUERY), find(columns, LISTED), *numbers, *TAG, *SUBTOPIC, *BESIDE, *JUDGE}
    advice = f"Add a column '{names[0]}' with the {what}s"
    if near or not taken.issuperset(columns):
        advice = f"Did you mean {near}?" if near else f"Rename the column with the {what}s to '{names[0]}'"
    return InputError(
        f"no {what}s were found {in_columns(columns)} because no column is called {either(names)}",
        hint=hint or advice,
    )


def table_records(table: Table, what: str, *, by_rank: bool = False) -> Records:
    """Return the rows of a table, whose columns are found by name."""
    judges = _judges_in(table.names) if what == "grade" else []
    by_judge = _of_judges(table, judges) if judges else None
    table = by_judge or table
    found = Records((), path=table.path, unit=table.unit, text=table.text, convert=table.convert)
    if by_judge:
        words = f"columns of {table.path or 'a table'} read as judges: {', '.join(judges)}"
        found.remarks = (("columns_are_judges", words, len(judges)),)
    try:
        chosen = choose(table.names, what, by_rank=by_rank)
        beside = find(table.names, TAG) if what == "score" else probability_in(table.names)
    except InputError as error:
        raise found.at(error, table.place) from None
    found.columns, found.ranked = chosen[:2], bool(chosen[3])
    found.names = tuple(table.names)
    judge = find(table.names, JUDGE) if what == "grade" else None
    found.chosen = (*chosen, beside or "", judge or "")
    found.arrow, found.scan = table.arrow, table.scan
    found.rows = _table_rows(table, found.chosen, found, what)
    return found


def _of_judges(table: Table, judges: Sequence[str]) -> Table | None:
    """Return a table with a column of grades for each judge as one with a row for each; None for texts."""
    names = (*table.names[:2], RATING, JUDGE[0])
    rows = iter(table.cells(table.names))
    first = list(islice(rows, 1))
    if any(not _is_empty(cell) and number_in(cell) is None for _, row in first for cell in row[2:]):
        return None

    def cells(chosen: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        for place, (query, document, *grades) in chain(first, rows):
            said = [each for each in zip(grades, judges, strict=True) if not _is_empty(each[0])]
            for grade, judge in said or [(None, "")]:
                row = dict(zip(names, (query, document, grade, judge), strict=True))
                yield place, [row.get(name) for name in chosen]

    return replace(table, names=names, cells=cells, arrow=None, scan=None)


def _judges_in(names: Sequence[Any]) -> list[str]:
    """Return the columns after `query` and `docid` of a book of Quepid, which has one for each judge."""
    judges = [str(name) for name in names[2:]]
    if list(names[:2]) != ["query", "docid"] or find(names, (*GRADE, *SCORE, *RANK, *TAG, *JUDGE)):
        return []
    return [] if any(map(_nearest, judges)) else judges


def _nearest(name: str, names: Sequence[str] = (*GRADE, *SCORE, *RANK)) -> str:
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.75)
    return f"'{close[0]}' instead of '{name}'" if close else ""


def _is_empty(cell: object) -> bool:
    return cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell))


def _table_rows(table: Table, chosen: Sequence[str], records: Records, what: str) -> Iterator[Row]:
    named = bool(chosen[4])
    ratings = what == "grade" and (named or chosen[2].lower() == RATING)
    for place, (query, document, value, more, beside, judge) in table.cells(chosen):
        if ratings and _is_empty(value):
            records.unrated += 1
            records.drawn |= 0 < (number_in(beside) or 1) < 1
            if named:  # another judge may have judged the pair
                records.shares.setdefault((query, document), beside)
            continue
        if query and not document and what == "score" and chosen[3] == RANK[1]:
            records.empty.append(query)
            continue
        if table.text and not (query and document):
            column = chosen[1 if query else 0]
            raise records.at(InputError(f"there is no id in column '{column}'", code="id"), place)
        if named and what == "score":
            if not _is_empty(beside):
                records.tags[str(beside)] = None
        elif named:
            records.shares[query, document] = beside
        if chosen[5]:
            records.judges.append("" if judge is None else str(judge))
        yield place, query, document, value, more


def qrels(records: Records) -> QrelsColumns:
    """Return qrels; refuse a document that is judged twice for a query."""
    from leadline.io import columns

    found = columns.whole(records, "grade")
    made = None if found is None else qrels_of_lists(found, records.path)
    if made is None or made.duplicate is not None:
        lists = lists_of(records, "grade", Reading())
        try:
            resolve_duplicates(lists, records, Reading(), action="is judged")
        except InputError as error:
            if find(records.names, SUBTOPIC[:2]):
                error.hint = error.hint or "To read subtopics, add `--config read.subtopics`"
            raise
        if not len(lists.scores):
            raise InputError("contains no judgments", path=records.path, hint=EMPTY)
        made = with_shares(qrels_of_lists(lists, records.path), records)
    made.votes, made.pool = records.votes, records.pool or made.pool
    remarks = (*about_remarks(records.comments), *records.remarks, *machine_remarks(records.judges))
    made.remarks = (*remarks, *_remarks_on_sets(made, records))
    return made


def _remarks_on_sets(made: QrelsColumns, records: Records) -> tuple[tuple[str, str, int], ...]:
    found: list[tuple[str, str, int]] = []
    if records.listed:
        count = len(made.grades)
        found.append(
            ("relevant_sets", f"judgments without grades: {count:,} (each counts as grade 1)", count)
        )
    if records.unrated:
        drawn = made.pool is not None and records.pool is None
        count = records.unrated
        if drawn and made.pool:
            judged = made.to_dict()
            count = sum(document not in judged.get(query, {}) for query, document in made.pool.names())
        what = "pairs" if drawn else "rows"
        words = f"{what} without a grade: {count:,} (not counted as judgments)"
        found.append((PART_JUDGED if drawn else UNRATED, words, count))
    return tuple(found)


def with_shares(made: QrelsColumns, records: Records) -> QrelsColumns:
    """Return qrels with the inclusion probabilities of their rows, and the pool if some have no grade."""
    shares: dict[str, dict[str, float]] = {}
    unknown: list[tuple[str, str]] = []
    for (query, document), given in records.shares.items():
        if _is_empty(given):
            unknown.append((str(query), str(document)))
            continue
        try:
            shares.setdefault(str(query), {})[str(document)] = share_of(given)
        except InputError as error:
            found = f"document '{document}' for query '{query}': {error.found}"
            raise error.at(records.path, found=found) from None
    if shares or not (records.shares and any(records.chosen[4:5])):
        made = made.with_inclusion(shares) if shares else made
        if records.unrated and (records.drawn or made.is_sample):
            judged = made.to_dict()
            for query, document in unknown:
                if document not in judged.get(query, {}):
                    shares.setdefault(query, {})[document] = 1.0
            if any(each.keys() - judged.get(query, {}).keys() for query, each in shares.items()):
                made.pool = DrawnPool.of_shares(shares)
        return made
    raise InputError(
        f"the column '{records.chosen[4]}' is empty, so it is unknown whether the judgments are a sample",
        path=records.path,
        hint="Fill in the probabilities, or remove the column if the judgments are not a sample",
    )


def qrels_by_subtopic(records: Records) -> QrelsColumns:
    """Return qrels with a grade for each subtopic of a document."""
    if not records.ranked:
        found = "has no subtopics, but --config read.subtopics needs a column 'subtopic'"
        raise InputError(found, path=records.path)
    judged: dict[tuple[bytes, bytes], dict[bytes, float]] = {}
    check = _Gathered(records, "grade", Reading())
    for place, query, document, value, subtopic in records.rows:
        try:
            pair = (
                identify(query, records.columns[0], records.convert),
                identify(document, records.columns[1], records.convert),
            )
            name = identify(subtopic, "subtopic", records.convert)
            grades = judged.setdefault(pair, {})
            if name in grades:
                of = f"subtopic '{subtopic}' of query '{query}'"
                raise repeated(f"document '{document}'", verb="is judged", of=of)
            grades[name] = check.number(value, query, document)
        except InputError as error:
            raise records.at(error, place) from None
    if not judged:
        hint = "Each row needs a query, a document, a subtopic and a grade"
        raise InputError("contains no judgments", path=records.path, hint=hint)
    made = with_shares(QrelsColumns.of_subtopics(judged, source=records.path), records)
    made.remarks = (*made.remarks, *machine_remarks(records.judges))
    return made


def machine_remarks(judges: Sequence[str]) -> tuple[tuple[str, str, int], ...]:
    """Return a remark on judgments by machines, from the judge of every judgment.

    >>> machine_remarks(["ann", "ann"]), machine_remarks(["ann", "llama70b", "llama70b"])[0][::2]
    ((), ('machine_labels', 2))
    """
    counts = Counter(judges)
    machines = sorted(judge for judge in counts if re.search(MACHINE, judge))
    if not machines:
        return ()
    count = sum(counts[name] for name in machines)
    names = first_few(machines)
    share = "all" if 2 < count == len(judges) else f"{count:,} of"
    number = f"{share} {len(judges):,} judgments {'is' if count == 1 else 'are'}"
    by = "an automatic judge" if len(machines) == 1 else "automatic judges"
    words = f"{number} by {by} ({names}). {ABOUT_MACHINES}"
    return ((MACHINE_LABELS, words, count),)


ABOUT_MACHINES = (
    "Values may be far too high, may favor some runs and have no intervals. Measure the bias "
    "with `leadline agreement --runs` and correct it with `leadline evaluate --pool POOL --machine LABELS`"
)


def stream(records: Records, consumer: ListConsumer, *, reading: Reading = DEFAULT_READING) -> ReadCounts:
    """Pass the lists of a run to a consumer: Arrow columns batch by batch, else all at once."""
    from leadline.io import columns

    found = columns.stream(records, consumer, reading)
    if found is not None:
        return found
    lists = lists_of(records, "score", reading)
    try:
        selection.cleaned(lists, reading, records.path)
    except InputError as error:
        raise error if error.path else records.at(error, error.line) from None
    if records.listed and reading.on_duplicate == "refuse":
        reading = replace(reading, on_duplicate="hold")
    resolve_duplicates(lists, records, reading)
    counts = ReadCounts()
    deliver(lists, consumer, counts)
    counts.tag, counts.remarks = records.tag, records.comments
    return counts


def resolve_duplicates(lists: Lists, records: Records, reading: Reading, *, action: str = "appears") -> None:
    """Refuse or repair documents that occur twice in a list; an error has its location."""
    try:
        lists.resolve_duplicates(reading, action=action)
    except InputError as error:
        raise records.at(error, error.line) from None


def lists_of(
    records: Records, what: str, reading: Reading, *, on_fault: Callable[[InputError], None] | None = None
) -> Lists:
    """Check each row and merge the rows of a query; faults are raised, or reported and skipped."""
    if reading.by_rank and not records.ranked:
        raise InputError("has no ranks, but --config read.order=rank needs ranks", path=records.path)
    gathered = _Gathered(records, what, reading)
    for row in records.rows:
        try:
            gathered.add(row)
        except InputError as error:
            fault = records.at(error, row[0])
            if error.code == "id" and records.unit == "place":  # in the list of a query
                fault.path += f" of query '{row[1]}'"
            if on_fault is None:
                raise fault from None
            fault.line = row[0]
            on_fault(fault)
    if len(records.tags) > 1:
        names = f"{len(records.tags):,} runs ({first_few(list(records.tags))})"
        found = f"column '{records.chosen[4]}' names {names}, but leadline reads one run per table"
        hint = (
            "Save each run to its own file. In Python, `evaluate` also accepts a data frame with several runs"
        )
        fault = records.at(InputError(found, hint=hint, code="tags"), None)
        if on_fault is None:
            raise fault
        on_fault(fault)
    if len(set(gathered.judges)) > 1:
        gathered.merge(on_fault)
    lists = gathered.lists()
    lists.group()
    return lists


class _Gathered:
    """Checked rows, by column."""

    def __init__(self, records: Records, what: str, reading: Reading) -> None:
        self.records = records
        self.what = what
        self.by_rank = reading.by_rank
        self.drop_nan = reading.on_nan == "drop"
        self.queries: list[bytes] = []
        self.bounds: list[int] = []
        self.documents: list[bytes] = []
        self.values: list[float] = []
        self.ranks: list[int] = []
        self.places: list[int] = []
        self.judges: list[str] = []
        self.dropped = 0
        self.last: object = None

    def add(self, row: Row) -> None:
        """Check one row and keep it."""
        place, query, document, value, rank = row
        names, convert = self.records.columns, self.records.convert
        code = to_bytes(query) if type(query) is str else identify(query, names[0], convert)
        name = identify(document, names[1], convert)
        place_in_list = rank_of(rank, decimal=self.by_rank) if self.what == "score" else -1
        if self.by_rank:
            if place_in_list < 0:
                wrong = plain.wrong_rank(str(rank).encode("utf-8", "replace"))
                raise InputError(f"rank {rank!r} {wrong}", code="rank")
            found = float(-place_in_list)
        else:
            found = self.number(value, query, document)
        if self.what == "score" and math.isnan(found):
            self.dropped += 1
            return
        if not self.queries or code != self.queries[-1]:
            self.queries.append(code)
            self.bounds.append(len(self.documents))
        self.documents.append(name)
        self.values.append(found)
        self.ranks.append(place_in_list)
        self.places.append(place)
        if self.what == "grade" and any(self.records.chosen[5:]):
            self.judges.append(self.records.judges[-1])

    def merge(self, on_fault: Callable[[InputError], None] | None) -> None:
        """Keep one row a pair, with the grade of most judges; a judge's second grade of a pair is a fault."""
        first: dict[tuple[str, ...], int] = {}  # row of a judgment, and of a pair
        judgments = []
        sizes = np.diff([*self.bounds, len(self.documents)]).tolist()
        queries = (name for name, size in zip(self.queries, sizes, strict=True) for _ in range(size))
        rows = zip(queries, self.documents, self.judges, self.values, self.places, strict=True)
        for row, (query, document, judge, grade, place) in enumerate(rows):
            said = Judgment(to_text(query), to_text(document), judge, grade)
            if first.setdefault(said[:3], row) == row:
                judgments.append(said)
                first.setdefault(said[:2], row)
                continue
            before = f"{self.records.unit} {self.places[first[said[:3]]]}"
            of = f"query '{said.query}' by '{judge}'"
            error = repeated(f"document '{said.document}'", verb="is judged", of=of, first=before)
            fault = self.records.at(error, place)
            if on_fault is None:
                raise fault
            fault.line = place
            on_fault(fault)
        merged = merge(judgments)
        self.records.votes = merged.votes
        self.records.remarks = (*self.records.remarks, *merged.remarks)
        kept = [first[pair] for pair in merged.grades]
        self.queries = [to_bytes(query) for query, _ in merged.grades]
        self.bounds = list(range(len(kept)))
        self.documents = [self.documents[row] for row in kept]
        self.ranks, self.places = ([column[row] for row in kept] for column in (self.ranks, self.places))
        self.values = list(map(float, merged.grades.values()))

    def number(self, value: Any, query: str, document: str) -> float:
        """Return a score or grade as a float; NaN only if NaN scores are dropped."""
        if type(value) is float and math.isfinite(value):
            return value
        what = self.what
        if value is None and what == "score" and self.drop_nan:
            return math.nan
        try:
            found = plain.number(to_bytes(value), what, 0) if self.records.text else float(value)
        except (TypeError, ValueError, OverflowError, InputError):
            by_subtopic = what == "grade" and hasattr(value, "items")
            hint = "For judgments by subtopic, pass {query: {subtopic: {document: grade}}} and add "
            hint = f"{hint}`--config read.subtopics`" if by_subtopic else ""
            hint = LEAVE_OUT if value is None and what == "score" else hint
            fault = "is too large" if isinstance(value, Integral) else "is not a number"
            raise _no_number(what, value, query, document, hint, fault=fault) from None
        if isinstance(value, (str, bytes)) and not self.records.text:
            convert = self.records.convert.replace('"string"', '"double"').replace("str", "float")
            hint = f"Convert the column with {convert}" if convert else ""
            fault = "is text, not a number" if isinstance(value, str) else "is not a number"
            raise _no_number(what, value, query, document, hint, fault=fault)
        if math.isnan(found):
            if what == "score" and self.drop_nan:
                return found
            raise _no_number(what, value, query, document, LEAVE_OUT if what == "score" else "")
        if what == "grade" and math.isinf(found):
            raise _no_number(what, value, query, document, fault="is not a finite number")
        return found

    def lists(self) -> Lists:
        """Return the rows as lists, empty ones last."""
        known = set(self.queries)
        for query in self.records.empty if self.what == "score" else ():
            code = identify(query, self.records.columns[0], self.records.convert)
            if code not in known:
                known.add(code)
                self.queries.append(code)
                self.bounds.append(len(self.documents))
        bounds = [*self.bounds, len(self.documents)]
        columns = (self.queries, bounds, self.documents, self.values, self.ranks, self.places)
        lists = Lists.of_rows(plain.ParsedRows(*columns, 0, b"", self.dropped, 0, 0))
        lists.unit = self.records.unit or "place"
        return lists


def _no_number(
    what: str, value: Any, query: str, document: str, hint: str = "", *, fault: str = "is not a number"
) -> InputError:
    shown = in_code(value)
    if len(shown) > LONGEST_VALUE:
        shown = f"{shown[:LONGEST_VALUE]}..."
    found = f"{what} {shown} of document {document!r} for query {query!r} {fault}"
    return InputError(found, hint=hint, code="nan" if "on_nan" in hint else what)


def identify(value: Any, column: str, convert: str = "") -> bytes:
    """Return the bytes of an id; a whole number is its decimal text. `convert` is code for the column."""
    if isinstance(value, str):
        return to_bytes(value)
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if whole:
        return b"%d" % int(value)
    of = f" in column '{column}'" if column else ""
    if _is_empty(value):
        raise InputError(f"there is no id{of}", code="id")
    if isinstance(value, float) and value.is_integer():
        convert = convert.replace("(str)", "(int)")
    if isinstance(value, bytes):  # of which str() shows the quotes
        convert = convert.replace(".astype(str)", '.str.decode("utf-8")')
    more = f". To convert the column, use {convert}" if convert and column else ""
    raise InputError(
        f"id {value!r}{of} is of type {type(value).__name__}, not a string",
        hint="Only strings and integers can be ids" + more,
        code="id",
    )


def rank_of(value: Any, *, decimal: bool = False) -> int:
    """Read a rank; -1 if it is not a whole number of 0 or more.

    >>> rank_of("12"), rank_of(3.0), rank_of(None), rank_of("3.0", decimal=True)
    (12, 3, -1, 3)
    """
    if isinstance(value, str):
        return plain.rank_of(value.strip().encode("utf-8", "replace"), decimal=decimal)
    try:
        return int(value) if value >= 0 and int(value) == value else -1
    except (TypeError, ValueError, OverflowError):
        return -1


def named(lists: Lists) -> list[tuple[str, str, float]]:
    """Return lists as (query, document, number)."""
    bounds, scores, names = lists.bounds.tolist(), lists.scores.tolist(), list(lists.located())
    return [
        (to_text(query), to_text(names[row]), scores[row])
        for place, query in enumerate(lists.queries)
        for row in range(bounds[place], bounds[place + 1])
    ]
