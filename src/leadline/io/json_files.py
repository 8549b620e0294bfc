"""Runs and qrels in JSON and JSON Lines: objects, records, and lists by query under the names of programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from leadline.data.ids import to_bytes, to_text
from leadline.data.wording import counted, type_of
from leadline.errors import InputError, either, refuse_repeated
from leadline.io import python_inputs, row_columns, swapped_arguments
from leadline.io.columns import json_lines_scan, mapping_lists
from leadline.io.opening import Chunk, text_of
from leadline.io.row_columns import Records, Row, Table
from leadline.io.run_lists import Lists
from leadline.io.run_names import no_part
from leadline.io.score_cells import Members, json_of
from leadline.io.tables import byte_lines
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.formats import Opened

AN_ID = "(text or a whole number)"


def json_rows(source: Opened, what: str, subtopics: bool) -> Table | Records:
    """Return the table in a JSON list of records, or the rows of a JSON object."""
    path, window = source.path, source.text
    lists = None if subtopics or source.part else mapping_lists(window)
    # `next_line` counts queries without documents; the kernels make no list of them
    if lists is None or lists.next_line > 0 or to_bytes(MTEB_META) in lists.queries:
        return _parsed_rows(source, what, subtopics)

    def rows() -> Iterator[Row]:
        parsed = _parsed_rows(source, what, subtopics)
        assert isinstance(parsed, Records)
        yield from parsed.rows

    found = [lists]  # for the first who asks, who may change it

    def scan(_roles: Mapping[str, int], *, whole: bool) -> Iterator[Lists]:  # noqa: ARG001  # as of every scan
        lists = found.pop() if found else mapping_lists(window)
        if lists is not None:
            yield lists

    return Records(rows(), path=path, unit="record", scan=scan)


def _parsed_rows(source: Opened, what: str, subtopics: bool) -> Table | Records:
    path, window = source.path, source.text
    found = json_of(text_of(window), path, repeats=True)
    if source.part and not (isinstance(found, Members) and MTEB_META in found):
        raise no_part(path.removesuffix(f"#{source.part}"), source.part)
    if isinstance(found, Members) and {"leadline", "command", "inputs"} <= found.keys():
        noun = "a run" if what == "score" else "relevance judgments"
        hint = "Pass a result saved with -o to `leadline show`, or per-query values to `leadline compare`"
        raise InputError(f"is a leadline result, not {noun}", path=path, hint=hint)
    if isinstance(found, Members) and isinstance(found.get(BOOK), list):
        return python_inputs.table_of_rows(_book_rows(found[BOOK], what, path), path=path)
    if isinstance(found, (Members, list)) and not subtopics:
        lists = rows_of_json(found, what, path=path, part=source.part, queries=source.queries)
        if lists is not None:
            return lists
    if isinstance(found, Members):
        if what == "grade" and not subtopics:
            swapped_arguments.refuse_runs(found, path)
        return python_inputs.mapping_records(found, what, path=path, unit="record", subtopics=subtopics)
    if isinstance(found, list):
        return python_inputs.table_of_rows(enumerate(found, start=1), path=path)
    raise InputError(f"the JSON value is of type {type_of(found)}, not an object or a list", path=path)


def json_lines_table(source: Opened, what: str, _subtopics: bool) -> Table | Records:
    """Return the table in JSON Lines, or the rows of lists, one per line."""
    first = list(islice(_json_lines(source.head or source.text), 1))

    def lines() -> Iterator[tuple[int, Any]]:
        yield from first
        yield from islice(_json_lines(source.text), 1, None)

    if first and begins_list(first[0][1], named=False):
        return rows_of_entries(lines(), what, path=source.path, unit="line", queries=source.queries)
    found = python_inputs.table_of_rows(lines(), path=source.path, unit="line")
    if isinstance(found, Table):
        found.scan = json_lines_scan(source, found.names)
    return found


def _json_lines(window: Chunk) -> Iterator[tuple[int, Any]]:
    for line, raw in enumerate(byte_lines(window), start=1):
        if not raw.strip():
            continue
        found = json_of(to_text(raw), window.path, line, repeats=True)
        if not isinstance(found, Members):
            raise InputError(
                f"the JSON value is of type {type_of(found)}, not an object", path=window.path, line=line
            )
        if len(found.pairs) > len(found):
            refuse_repeated("key", (name for name, _ in found.pairs), path=window.path, line=line)
        yield line, found


# Paths of members from the object of a query to its list.
RESULTS = (
    ("results",),  # sentence-transformers
    ("ctxs",),  # DPR
    ("contexts",),  # Pyserini
    ("candidates",),  # RankLLM
    ("hits", "hits"),  # a response of Elasticsearch or OpenSearch
    ("hits",),
    ("root", "children"),  # a response of Vespa
    ("children",),
    ("responses", "passage_provenance"),  # iKAT
    ("responses", "provenance"),  # CAsT
    ("output", "provenance"),  # KILT
    ("retrieved_context_ids",),  # Ragas
    ("retrieved_ids",),  # LlamaIndex
    ("doc_ids",),
    ("docids",),
    ("retrieved_documents",),  # Haystack
    ("references",),  # answers of TREC RAG
)
JUDGMENTS = (
    ("ratings",),  # Elasticsearch's _rank_eval, OpenSearch
    ("relevant_documents",),  # RRE
    ("relevant_docs",),
    ("relevant_ids",),
    ("relevant",),
    ("reference_context_ids",),  # Ragas
    ("expected_ids",),  # LlamaIndex
    ("ground_truth_documents",),  # Haystack
)
EITHER = ("output", "provenance")  # the pages of an answer: those found in a run, the relevant ones in qrels
ABSENT_IF_EMPTY = {"hits", "children"}  # lists missing from a response without results
# Paths of members from the top of a text to the list of queries.
QUERY_LISTS = (
    ("turns",),  # CAsT, iKAT
    ("requests",),  # _rank_eval
    ("judgmentRatings",),  # OpenSearch
    ("hits", "hits", "_source", "judgmentRatings"),  # the same in a response to GET
    ("topics", "query_groups"),  # RRE
    ("query_groups",),
    ("queries",),  # RRE, as exported by Quepid
    ("responses",),  # a response to _msearch, whose queries are those of `queries_in`
)
# Members with an object by query, and the member beside them.
BY_QUERY = {"details": "metric_score", "relevant_docs": "corpus"}  # response to _rank_eval; LlamaIndex
QUERY = (
    *(name for name in row_columns.QUERY if name != "query"),
    *("narrative_id", "turn_id", "id", "_id", "user_input", "query", "query_text", "name", "$query"),
)
DOCUMENT = (*row_columns.DOCUMENT, "docId", "wikipedia_id", "passage_id", "pid", "_id", "id")
SCORE = (*row_columns.SCORE, "_score", "relevance")
NUMBERS = {"score": SCORE, "grade": (*row_columns.GRADE, *SCORE)}
QUESTIONS = ("query", "question", "queries", "questions")  # of Haystack
BOOK, ANONYMOUS = "query_doc_pairs", "Anonymous"  # of Quepid
BOOK_FIELDS = ("query_text", "doc_id")
MTEB_META = "mteb_model_meta"
WITHOUT_QUERY = 'Use {query id: %s}, or JSON Lines such as {"query_id": ..., "%s": ...}'

ORDERED = (
    "If a file lists the query ids in the order of the results, pass it as `--config read.queries_in=QUERIES`"
)

# The place of a query in its file, its id, and what holds its list.
Entry: TypeAlias = tuple[int, Any, Any]


class Names(NamedTuple):
    """Names of the members of records, which are those of the first record; empty if missing."""

    document: str
    number: str


def rows_of_json(
    text: Any, what: str, *, path: str, part: str = "", queries: Sequence[str] = ()
) -> Table | Records | None:
    """Return the rows of a parsed JSON text that holds lists of records by query; None for any other text.

    `queries` are the queries of lists without an id, in their order.
    """
    if isinstance(text, Mapping) and MTEB_META in text:
        return python_inputs.mapping_records(_part_of(text, part, path), what, path=path, unit="record")
    if isinstance(text, Mapping):
        text = _by_place(text) or text
    within = next((name for name, beside in BY_QUERY.items() if name in text and beside in text), "")
    if within == "relevant_docs" and what == "score":
        raise InputError("contains judgments, not a run", path=path)
    if within and isinstance(text[within], Mapping):
        found = rows_of_json(text[within], what, path=path)
        return found or python_inputs.mapping_records(text[within], what, path=path, unit="record")
    if isinstance(text, list):
        entries = text if _has_list(text[:1]) else None
    elif _is_page(text):
        return _page(text, path)
    else:
        filled = next((value for _, value in text.items() if value), None)
        entries = _queries_in(text, filled, what, path, ordered=bool(queries))
        if entries is None and (_has_list([filled]) or (isinstance(filled, list) and _is_record(filled[0]))):
            keyed = ((place, *item) for place, item in enumerate(text.items(), start=1))
            return _records(keyed, what, path, "record", "")
    if entries is None:
        return None
    return rows_of_entries(enumerate(entries, start=1), what, path=path, queries=queries)


def _by_place(text: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the queries of Haystack, whose members are lists in the order of queries; None for others."""
    rows = python_inputs.rows_of_columns(text, QUESTIONS)
    query = row_columns.find(rows[0], QUESTIONS) if _has_list(rows[:1]) else None
    if query is None:
        return None
    return [{**row, "query": row[query]} for row in rows]


def _book_rows(pairs: list[Any], what: str, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the judgments of a book of Quepid, a row for each judge, or its documents and their positions."""
    known = Records((), path=path, unit="record")
    for place, pair in enumerate(pairs, start=1):
        for name in BOOK_FIELDS:
            if not isinstance(pair, Mapping) or name not in pair:
                raise known.at(InputError(f"the record {_without(pair, repr(name))}"), place)
        row = {"query": pair["query_text"], "docid": pair["doc_id"]}
        judged = pair.get("judgements") or ()
        if not isinstance(judged, (list, tuple)) or not all(isinstance(one, Mapping) for one in judged):
            raise known.at(InputError("'judgements' must be a list of objects"), place)
        said = [one for one in judged if one.get("rating") is not None]
        if what == "score":
            yield place, {**row, "rank": pair.get("position")}
            continue
        for one in said or [{}]:
            yield place, {**row, "rating": one.get("rating"), "judge": one.get("user_email", ANONYMOUS)}


def _queries_in(
    text: Mapping[str, Any], filled: Any, what: str, path: str, *, ordered: bool
) -> list[Any] | None:
    """Return the list of queries in an object, which may be one query itself; None if there is none."""
    if isinstance(filled, Mapping) and all(isinstance(value, (int, float)) for value in filled.values()):
        return None  # {query: {document: number}}, with any names of queries
    for names in QUERY_LISTS:
        entries = _list_at(text, names)
        if entries and _has_list(entries[:1]):
            return entries
    if not _has_list([text]):
        return None
    if ordered or _query_name(text) is not None:
        return [text]
    if isinstance(filled, list) and not isinstance(filled[0], Mapping):
        return None  # {query: [document, ...]}
    judged = _path_of(text, what) in JUDGMENTS
    if judged and what == "score":
        raise InputError("contains judgments, not a run", path=path)
    hint = WITHOUT_QUERY % (("judgments", "ratings") if judged else ("response", "hits"))
    if not judged and what == "score":
        hint += f". {ORDERED}"
    found = f"the {'judgments' if judged else 'results'} have no query id"
    raise InputError(found, path=path, hint=hint)


def rows_of_entries(
    entries: Iterable[tuple[int, Any]],
    what: str,
    *,
    path: str,
    unit: str = "record",
    queries: Sequence[str] = (),
) -> Records:
    """Return the rows of objects with a query id and a list each, given with their places."""
    rest = iter(entries)
    first = next(rest)
    name = _query_name(first[1]) or ""
    if not name and queries:
        lists = [first, *rest]
        if len(lists) != len(queries):
            found = (
                f"the number of lists ({len(lists):,}) differs from the number of queries ({len(queries):,})"
            )
            raise InputError(found, path=path, hint="In `--config read.queries_in`, name one query per list")
        ordered = ((place, query, one) for query, (place, one) in zip(queries, lists, strict=True))
        return _records(ordered, what, path, unit, "")
    hint = "" if name or what != "score" or _path_of(first[1], what) in JUDGMENTS else ORDERED
    known = Records((), path=path, unit=unit)
    return _records(_with_queries(chain([first], rest), name, known, hint), what, path, unit, name)


def rows_in_memory(
    entries: Iterable[Any], what: str, *, path: str, queries: Sequence[str] = ()
) -> Records | Table:
    """Return the rows of an iterable of rows, or of objects with a query id and a list each."""
    # Objects of Pydantic, as Ragas and LlamaIndex have, become dictionaries.
    plain_objects = (one.model_dump() if hasattr(one, "model_dump") else one for one in entries)
    rows = enumerate(plain_objects, start=1)
    first = next(rows, None)
    whole = rows if first is None else chain([first], rows)
    if first is not None and isinstance(first[1], Mapping) and begins_list(first[1], named=False):
        return rows_of_entries(whole, what, path=path, queries=queries)
    return python_inputs.table_of_rows(whole, path=path)


def begins_list(first: Any, *, named: bool = True) -> bool:
    """Return whether the first object of JSON Lines has a query id, or no other, and a list."""
    other = not named and row_columns.find(first, row_columns.LISTED) is None
    return _has_list([first]) and (other or _query_name(first) is not None)


def _part_of(text: Mapping[str, Any], part: str, path: str) -> Any:
    """Return the predictions of one subset and split; the only one needs no name."""
    path = path.removesuffix(f"#{part}")
    parts = {
        f"{subset}/{split}": predictions
        for subset, splits in text.items()
        if subset != MTEB_META
        for split, predictions in (splits.items() if isinstance(splits, Mapping) else ())
    }
    if not parts:
        raise InputError("has no predictions in the form {subset: {split: predictions}}", path=path)
    if part not in parts and (part or len(parts) > 1):
        found = f"has no part #{part}" if part else f"has predictions in {len(parts)} parts"
        raise InputError(found, path=path, hint="Use " + either(f"{path}#{name}" for name in parts))
    found = parts[part] if part else next(iter(parts.values()))
    if not isinstance(found, Mapping):
        hint = "Retrieval predictions have the form {query: {document: score}}"
        raise InputError("contains predictions for a task other than retrieval", path=path, hint=hint)
    return found


def _is_page(text: Mapping[str, Any]) -> bool:
    rows = text.get("rows")
    return isinstance(rows, list) and all(isinstance(row, Mapping) and "row" in row for row in rows[:1])


def _page(text: Mapping[str, Any], path: str) -> Table | Records:
    """Return the rows of a page of the dataset viewer of Hugging Face, which must be the only page."""
    rows, total = text["rows"], text.get("num_rows_total")
    incomplete = text.get("partial") or text.get("truncated")
    every = total if isinstance(total, int) else len(rows)
    if incomplete or every > len(rows):
        of = f"{len(rows):,} of " * isinstance(total, int)
        found = f"is incomplete ({of}{counted(every, 'row')})"
        raise InputError(found, path=path, hint="Download all rows of the dataset")
    return python_inputs.table_of_rows(_page_rows(rows, path), path=path)


def _page_rows(rows: Iterable[Any], path: str) -> Iterator[tuple[int, Any]]:
    known = Records((), path=path, unit="record")
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or "row" not in row:
            raise known.at(InputError(f"the record {_without(row, repr('row'))}"), place)
        if row.get("truncated_cells"):
            found = "the dataset viewer truncated cells of this record"
            raise known.at(InputError(found, hint="Download the dataset itself"), place)
        yield place, row["row"]


def _list_at(value: Any, names: Sequence[str], *, empty: bool = False) -> list[Any] | None:
    """Return the list at a path of members, also through other lists; None if a member is missing."""
    for place, name in enumerate(names):
        if isinstance(value, list):
            lists = [_list_at(each, names[place:], empty=empty) for each in value]
            return None if None in lists else [record for each in lists for record in each or ()]
        if not isinstance(value, Mapping):
            return None
        if name not in value:
            return [] if empty and place and name in ABSENT_IF_EMPTY else None
        value = value[name]
    if isinstance(value, Mapping) and names and names[-1] not in ABSENT_IF_EMPTY:
        return _pairs(value)
    value = value.tolist() if hasattr(value, "tolist") else value  # an array in a data frame
    return value if isinstance(value, list) else None


def _pairs(documents: Mapping[str, Any]) -> list[Any] | None:
    """Return `{document: number}`, `{document: {"gain": grade}}` or `{grade: [document, ...]}` as pairs."""
    found: list[Any] = []
    for name, value in documents.items():
        if isinstance(value, list):
            found += [[document, name] for document in value]
        elif isinstance(value, Mapping):
            grade = row_columns.find(value, row_columns.GRADE)
            if grade is None:
                return None
            found.append([name, value[grade]])
        else:
            found.append([name, value])
    return found


def _has_list(first: Sequence[Any]) -> bool:
    return bool(first) and any(
        _list_at(first[0], names, empty=True) is not None for names in RESULTS + JUDGMENTS
    )


def _is_record(value: object) -> bool:
    return isinstance(value, Mapping) or _is_pair(value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], (str, int))


def _query_name(entry: Any) -> str | None:
    """Return the name of the query id in an object."""
    holder = _holder(entry)
    if not isinstance(holder, Mapping):
        return None
    return next((name for name in QUERY if isinstance(holder.get(name), (str, int))), None)


def _holder(entry: Any) -> Any:
    """Return the object with the query id: an entry, or its member `query`, `placeholders` or `metadata`."""
    for name in ("query", "placeholders") if isinstance(entry, Mapping) else ():
        if isinstance(entry.get(name), Mapping):
            return entry[name]
    if isinstance(entry, Mapping) and isinstance(about := entry.get("metadata"), Mapping):
        return about if "narrative_id" in about else entry  # TREC RAG
    return entry


def _with_queries(
    entries: Iterable[tuple[int, Any]], name: str, known: Records, hint: str
) -> Iterator[Entry]:
    for place, entry in entries:
        holder = _holder(entry)
        if not isinstance(holder, Mapping) or name not in holder:
            wanted = repr(name) if name else f"query id {AN_ID} in a field such as 'query_id'"
            raise known.at(InputError(f"the record {_without(holder, wanted)}", hint=hint), place)
        yield place, holder[name], entry


def _records(entries: Iterator[Entry], what: str, path: str, unit: str, query: str) -> Records:
    """Return the rows of all lists; the first list that is not empty determines the names."""
    begun: list[Entry] = []
    for entry in entries:  # an empty list may be under other members too
        begun.append(entry)
        names = _path_of(entry[2], what)
        if names is not None and _list_at(entry[2], names, empty=True):
            break
    else:
        names = _path_of(begun[0][2], what)
    found = Records((), path=path, unit=unit, ranked=what == "score")
    if names in JUDGMENTS:
        if what == "score":
            raise InputError("contains judgments, not a run", path=path)
        found.names = ("query_id", "doc_id", "relevance")
    elif names not in {EITHER, ()}:
        found.names = ("query_id", "doc_id", "score", "rank")  # as a table that is a run
    lists = _lists(chain(begun, entries), names, found)
    ahead: list[tuple[int, Any, list[Any]]] = []
    known = Names("", "")
    for each in lists:
        ahead.append(each)
        if each[2]:
            known = _names_of(each[2][0], what, found, each[0])
            break
    found.columns = (query, known.document)
    found.listed = not known.number
    found.rows = _rows(chain(ahead, lists), known, what, found)
    return found


def _lists(
    entries: Iterable[Entry], names: tuple[str, ...] | None, found: Records
) -> Iterator[tuple[int, Any, list[Any]]]:
    """Yield the list of each query, which must be under the same members as that of the first query."""
    for place, query, entry in entries:
        records = None if names is None else _list_at(entry, names, empty=True)
        if records is None:
            lacks = "is not a list of documents"
            if names:
                lacks = _without(entry, f"list at '{'.'.join(names)}'")
            raise found.at(InputError(f"the value for query {query!r} {lacks}"), place)
        yield place, query, [_hit(record) for record in records] if names == ("hits",) else records


def _hit(record: Any) -> Any:
    """Return the hit in a response to _rank_eval, which has a rating beside it; any other record as it is."""
    return record["hit"] if isinstance(record, Mapping) and isinstance(record.get("hit"), Mapping) else record


def _path_of(entry: Any, what: str) -> tuple[str, ...] | None:
    if isinstance(entry, list):
        return ()
    known = [*RESULTS, *JUDGMENTS] if what == "score" else [*JUDGMENTS, *RESULTS]
    full = (names for names in known if _list_at(entry, names) is not None)
    return next(
        full, next((names for names in known if _list_at(entry, names, empty=True) is not None), None)
    )


def _names_of(first: Any, what: str, found: Records, place: int) -> Names:
    if isinstance(first, (str, int)) and not isinstance(first, bool):
        return Names("", "")
    if _is_pair(first):
        return Names("", "number")
    if isinstance(first, Mapping):
        document = next((name for name in DOCUMENT if isinstance(first.get(name), (str, int))), None)
        number = next((name for name in NUMBERS[what] if first.get(name) is not None), "")
        if not number and what == "grade" and row_columns.RATING in first:
            number = row_columns.RATING  # the first document is not rated yet
        if document is not None:
            return Names(document, number)
    wanted, field = f"document id {AN_ID}", "in a field such as 'doc_id'"
    fault = f"{_form(first)}, but must be a {wanted} or an object with one {field}"
    fault = _without(first, f"{wanted} {field}") if isinstance(first, Mapping) else fault
    raise found.at(InputError(f"the first entry {fault}"), place)


def _rows(
    lists: Iterable[tuple[int, Any, list[Any]]], names: Names, what: str, found: Records
) -> Iterator[Row]:
    for place, query, records in lists:
        if what == "score" and not records:
            found.empty.append(query)
        relevant: set[str | int] = set()  # several answers may have the same page
        for rank, record in enumerate(records, start=1):
            try:
                if what == "grade" and isinstance(record, Mapping) and row_columns.probability_in(record):
                    raise InputError(
                        "judgments listed by query cannot have inclusion probabilities",
                        hint="Use one record per judgment, with query_id, doc_id, relevance and probability",
                    )
                document, number = _cells(record, names, what, query, rank)
            except InputError as error:
                raise found.at(error, place) from None
            if number is None and names.number:
                found.unrated += 1
            elif names.number:
                yield place, query, document, number, rank
            elif what == "score":
                yield place, query, document, -rank, rank
            elif not isinstance(document, (str, int)) or document not in relevant:
                if isinstance(document, (str, int)):
                    relevant.add(document)
                yield place, query, document, 1, None


def _cells(record: Any, names: Names, what: str, query: object, place: int) -> tuple[Any, Any]:
    """Return the id and the number of a record, which must have the form of the first one."""
    if isinstance(record, Mapping) and names.document:
        if names.document not in record:
            lacking = f"has no '{names.document}', unlike earlier entries"
            raise InputError(f"entry {place} for query {query!r} {lacking}")
        document = record[names.document]
        number = record.get(names.number) if names.number else None
        if number is None and names.number and names.number != row_columns.RATING:
            lacking = f"has no value in '{names.number}', unlike earlier documents"
            raise InputError(f"document {document!r} for query {query!r} {lacking}")
        late = not names.number and next((name for name in NUMBERS[what] if record.get(name) is not None), "")
        if late:
            found = f"has a value in '{late}', unlike earlier documents"
            raise InputError(f"document {document!r} for query {query!r} {found}")
        return document, _number(number)
    if not names.document and names.number and _is_pair(record):
        return record[0], _number(record[1])
    if not names.document and not names.number and not isinstance(record, (Mapping, list)):
        return record, None
    earlier = "[document, number] pairs" if names.number else "document ids"
    if names.document:
        earlier = f"objects with '{names.document}'"
    raise InputError(f"entry {place} for query {query!r} {_form(record)}, but earlier entries are {earlier}")


def _number(value: Any) -> Any:
    """Return the number in a text, as in DPR and OpenSearch; other values are unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return plain.number(to_bytes(value), "score", 0)
    except InputError:
        return value


def _form(value: Any) -> str:
    """Return what a value is."""
    if isinstance(value, Mapping) and value:
        return f"has the field{'s' * (len(value) > 1)} {', '.join(map(str, value))}"
    return "is an empty object" if isinstance(value, Mapping) else f"is of type {type_of(value)}"


def _without(value: Any, wanted: str) -> str:
    """Return what a value is instead of an object with a field."""
    if isinstance(value, Mapping):
        return f"{_form(value)}, {'but' if value else 'with'} no {wanted}"
    article = "" if wanted.startswith("'") else "a "
    return f"{_form(value)}, but must be an object with {article}{wanted}"
