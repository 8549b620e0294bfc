"""Documents and queries: the doors through which any text comes in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from leadline.errors import InputError
from leadline.formats import columns, smart, text_tables, trec_text
from leadline.formats.opening import PARQUET, first_bytes
from leadline.vocabulary import to_bytes

DOCUMENT = (*columns.DOCUMENT, "id", "_id")
QUERY = (*columns.QUERY, "num", "id", "_id")
# Where no field is named: the first of these that a record has.
DOCUMENT_FIELDS = (("title", "text"),)
QUERY_FIELDS = (("text",), ("title",), ("query",))
IR_DATASETS = "ir_datasets:"

TextsLike: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, str] | Iterable[Mapping[str, Any]] | Iterable[Document]"
)


class Document(NamedTuple):
    r"""One document or query: its id, title, text, other columns, and its line or place in the source.

    >>> Document("d1", "Wings", "They lift.").content.split("\n")
    ['Wings', 'They lift.']
    """

    id: str
    title: str
    text: str
    more: Mapping[str, Any] = {}  # never written to
    place: int = 0

    @property
    def content(self) -> str:
        """Give title and text as one field."""
        return f"{self.title}\n{self.text}" if self.title else self.text


def read_documents(
    source: TextsLike,
    *,
    fields: Sequence[str] = (),
    id_column: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Document]:
    """Read documents, one after the other, from a file of any format or from memory.

    Files are JSON Lines, JSON, CSV, TSV, Parquet, TREC text (`<DOC>`) or SMART (`.I`), plain or compressed;
    `ir_datasets:NAME` names a collection. In memory: `{id: text}`, or records. `fields` are the columns that
    make the text (default: title and text), `id_column` the one of the id. Other columns are kept in `more`.
    An id that comes twice is refused.

    >>> [document.id for document in read_documents({"d1": "wings", "d2": "tails"})]
    ['d1', 'd2']
    """
    return _read(source, "document", fields, id_column, encoding)


def read_queries(
    source: TextsLike,
    *,
    fields: Sequence[str] = (),
    id_column: str | None = None,
    encoding: str = "utf-8",
) -> list[Document]:
    """Read queries as `read_documents` reads documents, also TREC topic files (`<top>`).

    >>> [query.text for query in read_queries({"q1": "flow past a wing"})]
    ['flow past a wing']
    """
    found = list(_read(source, "query", fields, id_column, encoding))
    if not found:
        raise InputError("holds no queries", expected="queries", path=name_of(source))
    return found


def name_of(source: object) -> str:
    """Give what a source is called in messages."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""


def shown(source: object) -> str | None:
    """Give what stands for a source among the options of a result: its path, or where it was.

    >>> shown("docs.jsonl"), shown({"d1": "wings"}), shown(None)
    ('docs.jsonl', 'in memory', None)
    """
    return None if source is None else name_of(source) or "in memory"


def _read(
    source: Any, noun: str, fields: Sequence[str], id_column: str | None, encoding: str
) -> Iterator[Document]:
    path = name_of(source)
    seen: dict[bytes, int] = {}
    layout = _Layout(noun, fields, id_column, path)
    for place, found in rows_of(source, noun, encoding):
        document = found if isinstance(found, Document) else layout.document(found, place)
        try:
            key = to_bytes(document.id)
        except InputError as error:
            raise InputError(
                error.found, expected=error.expected, path=path, line=place, hint=error.hint
            ) from None
        if not key:
            raise InputError(f"a {noun} without an id", expected="one", path=path, line=place)
        if seen.setdefault(key, place) != place:
            raise InputError(
                f"{noun} '{document.id}' appears twice (first at {seen[key]})", expected="each once",
                path=path, line=place,
            )  # fmt: skip
        yield document


class _Layout:
    """Which columns of a record are its id and its text; records with the same columns share it."""

    def __init__(self, noun: str, fields: Sequence[str], id_column: str | None, path: str) -> None:
        self.noun = noun
        self.fields = fields
        self.path = path
        self.ids = (id_column,) if id_column else QUERY if noun == "query" else DOCUMENT
        self.known: dict[tuple[str, ...], tuple[str, tuple[str, ...], tuple[str, ...]]] = {}

    def document(self, row: Mapping[str, Any], place: int) -> Document:
        """Make a document of a row: its id, the fields that make its text, and the rest."""
        names = tuple(row)
        if names not in self.known:
            self.known[names] = self._columns(names, place)
        key, chosen, rest = self.known[names]
        values = {name: _text(row[name], name, place, self.path) for name in chosen}
        title = values.pop("title", "") if len(values) > 1 else ""
        text = "\n".join(filter(None, values.values()))
        return Document(row[key], title, text, {name: row[name] for name in rest}, place)

    def _columns(
        self, names: tuple[str, ...], place: int
    ) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Give the columns of the id, of the text, and the others."""
        key = columns.find(names, self.ids)
        if key is None:
            raise self._lacks(names, " or ".join(self.ids), place)
        groups: tuple[tuple[str, ...], ...] = (
            QUERY_FIELDS if self.noun == "query" else DOCUMENT_FIELDS
        )
        groups = (tuple(self.fields),) if self.fields else groups
        chosen = next((group for group in groups if set(group) & set(names)), ())
        missing = [name for name in self.fields if name not in names]
        if not chosen or missing:
            raise self._lacks(names, " and ".join(missing) or "text", place)
        present = tuple(name for name in chosen if name in names)
        return key, present, tuple(name for name in names if name != key and name not in chosen)

    def _lacks(self, names: tuple[str, ...], wanted: str, place: int) -> InputError:
        return InputError(
            f"a {self.noun} with columns {', '.join(map(str, names))}",
            expected=f"a column called {wanted}", path=self.path, line=place,
        )  # fmt: skip


def _text(value: object, name: str, place: int, path: str) -> str:
    """Check that a field is text; null is an empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(
            f"column '{name}' holds a {type(value).__name__}", expected="text", path=path, line=place
        )  # fmt: skip
    return value


def rows_of(source: Any, noun: str, encoding: str = "utf-8") -> Iterator[tuple[int, Any]]:
    """Give the records of any source, numbered."""
    if isinstance(source, (str, os.PathLike)):
        yield from _file_rows(os.fspath(source), noun, encoding)
    elif isinstance(source, Mapping):
        for place, (key, text) in enumerate(source.items(), start=1):
            yield place, {"id": key, "text": text}
    else:
        from leadline.formats import frames

        frame = None if isinstance(source, (list, tuple, Iterator)) else frames.open_frame(source)
        rows = source if frame is None else frame.iter_rows(named=True)
        if not isinstance(rows, Iterable):
            raise InputError(f"an object of type {type(source).__name__}", expected=f"{noun}s")
        for place, row in enumerate(rows, start=1):
            if isinstance(row, tuple) and not isinstance(row, Document) and len(row) == 2:
                yield place, {"id": row[0], "text": row[1]}
            elif isinstance(row, (Mapping, Document)):
                yield place, row
            else:
                raise InputError(f"a {type(row).__name__}", expected=f"a {noun} as a dictionary")


def _file_rows(path: str, noun: str, encoding: str) -> Iterator[tuple[int, Any]]:
    if path.startswith(IR_DATASETS):
        return _collection(path, noun)
    head = first_bytes(path, 1 << 16)
    start = b"{" if head is None else head.removeprefix(b"\xef\xbb\xbf").lstrip()  # a pipe: JSONL
    if not start:
        return iter(())
    if start.startswith(PARQUET):
        return text_tables.parquet(path)
    blocks = trec_text.queries if noun == "query" else trec_text.documents
    readers = {b"{": text_tables.json_lines, b"[": text_tables.json_list, b".I": smart.records}
    readers[b"<top>" if noun == "query" else b"<doc>"] = blocks
    for sign, reader in readers.items():
        if start.lower().startswith(sign.lower()):
            return reader(path, encoding=encoding)
    if start.startswith(b"<"):  # some files open with a line of XML
        return blocks(path, encoding=encoding)
    return text_tables.table(path, (*DOCUMENT, *QUERY), encoding=encoding)


def _collection(path: str, noun: str) -> Iterator[tuple[int, Any]]:
    """Give the documents or queries of a collection of ir_datasets."""
    from leadline.formats import ir_datasets

    collection = ir_datasets.load(path)
    rows = collection.docs_iter if noun == "document" else collection.queries_iter
    for place, row in enumerate(ir_datasets.downloaded(path, rows), start=1):
        yield place, row._asdict()
