"""Documents and queries: JSON Lines, JSON, CSV, TSV, Parquet, TREC and SMART text."""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html.parser import HTMLParser
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from leadline.data.ids import to_bytes
from leadline.data.optional import import_optional
from leadline.data.validation import check_arguments, refusal
from leadline.data.wording import listed, type_of
from leadline.errors import FilePlace, InputError, LeadlineError, either, place_of, repeated
from leadline.io import row_columns
from leadline.io.opening import BOM, LONGEST_TEXT, first_bytes, lines, too_long, whole_text
from leadline.io.read_paths import path_of, public
from leadline.io.run_names import INDEX, IR_DATASETS, PICTURES, files_below
from leadline.io.small_tables import records

if TYPE_CHECKING:
    from leadline.io.formats import Opened
    from leadline.io.row_columns import Records, Table

TAG = re.compile(r"<[^<>]*>")
FIELD = re.compile(r"<(\w+)(?:\s[^<>]*)?>(.*?)</\1\s*>", re.DOTALL)
TITLES = ("title", "headline", "hl", "head", "hdl", "ti", "tti")
LANGUAGE = re.compile(r"<lang>(.*?)</lang\s*>", re.DOTALL | re.IGNORECASE)
TOPIC = r"top|topic(?:\s[^<>]*)?"
TOPIC_TAG = re.compile(r"<(/?)([\w-]+)[^<>]*>([^<]*)")
NUMBER = re.compile(r"(num|number)\s*=\s*[\"']([^\"']*)")
LABELS = {"num": r"Number\s*:", "title": r"Topic\s*:", "desc": r"Description\s*:", "narr": r"Narrative\s*:"}


def documents(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every document with the number of its first line: `docno`, `title`, `text`.

    The text is everything that is not the number or the title, tags taken out, so that no field of any
    collection is lost. A web page loses scripts and style sheets; its header gives `url` and metadata.
    """
    for began, _, block in _blocks(path, "doc", encoding):
        number = re.search(r"<docno>(.*?)</docno\s*>", block, re.DOTALL | re.IGNORECASE)
        if number is None:
            raise InputError("the <DOC> element has no <DOCNO>ID</DOCNO>", path=path, line=began)
        rest = block[: number.start()] + block[number.end() :]
        if is_page(rest):
            yield began, {"docno": number[1].strip()} | page(rest)
            continue
        language = LANGUAGE.search(rest)
        more = {"lang": language[1].strip()} if language else {}
        title, rest = "", LANGUAGE.sub(" ", rest)
        for found in FIELD.finditer(rest):
            if found[1].lower() in TITLES and not title:
                title = plain(found[2])
                rest = rest.replace(found[0], " ", 1)
        yield began, {"docno": number[1].strip(), "title": title, "text": plain(rest)} | more


def queries(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every query with the number of its first line: `num`, and its fields, such as `title`, `en-desc`.

    The tags need not be closed, and labels such as `Number:` are left out. A field inside another one, as in
    topics of NTCIR, is part of both. The number may be an attribute or, at CLEF, the `identifier`.
    """
    for began, tag, block in _blocks(path, TOPIC, encoding):
        found: dict[str, Any] = dict(NUMBER.findall(tag.lower()))
        closed, inside = set(re.findall(r"</([\w-]+)", block.lower())), list[str]()
        for end, tag_name, content in TOPIC_TAG.findall(block):
            name = tag_name.lower()
            if end:
                inside = inside[: inside.index(name)] if name in inside else inside
            elif name in closed:
                inside.append(name)
            label = LABELS.get(name.rpartition("-")[2], "(?!)")
            text = plain(re.sub(r"^\s*" + label, "", content, flags=re.IGNORECASE))
            for each in inside if end or name in closed else [name]:
                found[each] = f"{found.get(each, '')} {text}".strip()
        number = next((found.pop(name) for name in ("num", "number", "identifier") if found.get(name)), "")
        if not number:
            name = re.split(r"[\s>]", tag, maxsplit=1)[0]
            raise InputError(f"the {name}> element has no id in <num> or <identifier>", path=path, line=began)
        yield began, {"num": number} | found


def plain(text: str) -> str:
    """Take tags out, and turn entities into what they mean.

    >>> plain("<p>AT&amp;T <b>wins</b></p>")
    'AT&T wins'
    """
    return " ".join(html.unescape(TAG.sub(" ", text)).split())


def _cut(path: str, ends: re.Pattern[str], encoding: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, cut after each closing tag."""
    for number, line in lines(path, encoding=encoding):
        for part in ends.sub("\\g<0>\n", line).split("\n") if "</" in line else [line]:
            yield number, part


def _blocks(path: str, name: str, encoding: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the opening tag, and what stands between the tags of a name, one block at a time."""
    begins, ends = (re.compile(f"<{end}(?:{name})>", re.IGNORECASE) for end in ("", "/"))
    opening, closing, began, size, tag, kept = "", "", 0, 0, "", [""]
    for number, line in _cut(path, ends, encoding):
        start = begins.search(line) if "<" in line else None
        if start:
            if began:
                raise InputError(
                    f"{opening} is not closed with {closing} before the next {opening}",
                    path=path,
                    line=number,
                )
            began, size, tag, kept = number, 0, start[0], []
            opening = re.split(r"[\s>]", tag, maxsplit=1)[0] + ">"
            closing = "</" + opening[1:]
            line = line[start.end() :]  # noqa: PLW2901  # the rest of it
        end = ends.search(line) if began and "<" in line else None
        if end:
            yield began, tag, "\n".join([*kept, line[: end.start()]])
            began = 0
        elif began:
            kept.append(line)
            size += len(line)
            if size > LONGEST_TEXT:
                raise too_long(path, f"line {began:,}", LONGEST_TEXT, noun=opening)
    if began:
        raise InputError(f"{opening} is not closed with {closing}", path=path, line=began)


FIELDS = {
    ".T": "title",
    ".W": "text",
    ".A": "author",
    ".B": "bib",
    ".K": "keywords",
    ".N": "entered",
    ".C": "categories",
    ".X": "references",
}
MARK = re.compile(r"\.[A-Z]\s*$")
START = re.compile(r"\.I\s+(\S+)\s*$")
BEGINS = re.compile(r"\.I(\s|$)")


def marked(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every record with the number of its first line; its id is in column `id`.

    A field that comes twice, as the texts of some CISI records do, is one text.
    """
    found: dict[str, list[str]] = {}
    began, size, field = 0, 0, ""
    for number, line in lines(path, encoding=encoding):
        start = START.fullmatch(line)
        if start:
            if began:
                yield began, _record(found)
            began, size, field, found = number, 0, "", {"id": [start[1]]}
        elif BEGINS.match(line) or (not began and line.strip()):
            raise InputError(
                "a record must begin with '.I ID' (without spaces in the ID), not with "
                f"'{line[:40].rstrip()}'",
                path=path,
                line=number,
            )
        elif MARK.fullmatch(line):
            field = FIELDS.get(line.strip(), line.strip())
            found.setdefault(field, [])
        elif field:
            found[field].append(line)
            size += len(line)
            if size > LONGEST_TEXT:
                raise too_long(path, f"line {began:,}", LONGEST_TEXT, noun="record")
        elif line.strip():
            raise InputError(
                f"'{line[:40]}' does not belong to a field. A field begins with a line such as .T or .W",
                path=path,
                line=number,
            )
    if began:
        yield began, _record(found)


def numbered(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every query with its number in the file: the relevance of Cranfield refers to this `place`."""
    for place, (began, row) in enumerate(marked(path, encoding=encoding), start=1):
        yield began, row | {"place": str(place)}


def _record(found: dict[str, list[str]]) -> dict[str, Any]:
    texts = {name: "\n".join(parts).strip() for name, parts in found.items()}
    return {"title": "", "text": ""} | texts


DOCUMENT = (*row_columns.DOCUMENT, "id", "_id")
# A topic or query may be a text there.
TEXTS = ("query", "topic")
QUERY = (*(name for name in row_columns.QUERY if name not in TEXTS), "num", "id", "_id", *TEXTS)
# Where no field is named: the first of these that a record has.
FIELDS_OF: dict[str, tuple[tuple[str, ...], ...]] = {
    "document": (("title", "text"),),
    "query": (("text",), ("title",), ("query",)),
    "text": (("title", "text"), ("query",)),  # a query or a document
}
BODIES = ("body", "content", "contents", "abstract")  # beside one of these, a title is not the whole text
IDS = {
    "document": DOCUMENT,
    "query": QUERY,
    "text": (*(name for name in row_columns.QUERY if name not in TEXTS), *DOCUMENT, "num", *TEXTS),
}

Numbered: TypeAlias = Iterator[tuple[int, Any]]
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
        """Return title and text as one field."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@public
def read_documents(
    source: TextsLike, *, fields: Sequence[str] = (), id_column: str | None = None, encoding: str = "utf-8"
) -> Iterator[Document]:
    """Read documents, one after the other, from a file of any format or from memory.

    Files are JSON Lines, JSON, CSV, TSV, Parquet, TREC text (`<DOC>`) or SMART (`.I`), plain or compressed;
    `ir_datasets:NAME` names a collection. In a folder, each file in .txt, .md, .rst or .html is a document,
    whose id is its path in the folder. In memory: `{id: text}`, or records. `fields` are the columns that
    make the text (default: title and text), `id_column` the one of the id. Other columns are kept in `more`.
    An id that comes twice is refused.

    >>> [document.id for document in read_documents({"d1": "wings", "d2": "tails"})]
    ['d1', 'd2']
    """
    check_arguments(read_documents, (), {"fields": fields, "id_column": id_column, "encoding": encoding})
    return _read(source, "document", fields, id_column, encoding)


@public
def read_queries(
    source: TextsLike, *, fields: Sequence[str] = (), id_column: str | None = None, encoding: str = "utf-8"
) -> list[Document]:
    """Read queries as `read_documents` reads documents, also TREC topic files (`<top>`).

    >>> [query.text for query in read_queries({"q1": "flow past a wing"})]
    ['flow past a wing']
    """
    check_arguments(read_queries, (), {"fields": fields, "id_column": id_column, "encoding": encoding})
    found = list(_read(source, "query", fields, id_column, encoding))
    if not found:
        path = path_of(source)
        raise InputError("contains no queries" if path else "there are no queries", path=path)
    return found


def read_either(
    source: TextsLike, *, fields: Sequence[str] = (), id_column: str | None = None, encoding: str = "utf-8"
) -> Iterator[Document]:
    """Read queries, or documents in the place of queries; `id_column` need not be there."""
    return _read(source, "text", fields, id_column, encoding)


def _read(
    source: Any, noun: str, fields: Sequence[str], id_column: str | None, encoding: str
) -> Iterator[Document]:
    path = path_of(source)
    seen: dict[bytes, int] = {}
    layout = _Layout(noun, fields, id_column, path)
    read = partial(rows_of, source, noun, encoding, columns=[*fields, *filter(None, [id_column])])
    for place, found in read():
        document = found if isinstance(found, Document) else layout.document(found, place)
        given: object = document.id
        if not isinstance(given, bool) and isinstance(given, Integral):
            document = document._replace(id=str(int(given)))
        try:
            key = b"" if given is None or given != given else to_bytes(document.id)  # noqa: PLR0124  # not NaN
        except InputError as error:
            raise error.at(path, place) from None
        if not key:
            raise InputError(f"the {noun} has no id", path=path, line=place)
        known = len(seen)
        first = seen.setdefault(key, int(place) if isinstance(place, FilePlace) else place)
        if len(seen) == known:
            if isinstance(place, FilePlace):  # too large to be kept of every document
                first = next(each for each, _ in read() if each == first)
            raise repeated(f"{noun} '{document.id}'", first=place_of(path, first), path=path, line=place)
        yield document


class _Layout:
    """Which columns of a record are its id and its text; records with the same columns share it."""

    def __init__(self, noun: str, fields: Sequence[str], id_column: str | None, path: str) -> None:
        self.noun = noun
        self.fields = fields
        self.path = path
        self.ids: tuple[str, ...] = (id_column,) if id_column else ()
        if not id_column or noun == "text":  # the id column may be that of documents alone
            self.ids = (*self.ids, *IDS[noun])
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

    def _columns(self, names: tuple[str, ...], place: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Return the columns of the id, of the text, and the others."""
        key = row_columns.find(names, self.ids)
        if key is None:
            raise self._lacks(names, self.ids, place)
        fields = [_of_any_language(name, names) for name in self.fields]
        usual = (*FIELDS_OF[self.noun], (_of_any_language("title", names),))
        groups = (tuple(fields),) if fields else usual
        chosen = next((group for group in groups if set(group) & set(names)), ())
        missing = [name for name in fields if name not in names]
        body = chosen == ("title", "text") and "text" not in names and row_columns.find(names, BODIES)
        if not chosen or missing or body:
            raise self._lacks(names, missing or ["text"], place)
        present = tuple(name for name in chosen if name in names)
        return key, present, tuple(name for name in names if name != key and name not in chosen)

    def _lacks(self, names: tuple[str, ...], wanted: Iterable[str], place: int) -> InputError:
        titles = [name for name in names if str(name).endswith("-title")]
        keys = [name for name in names if str(name).lower().endswith("id")]
        kinds = row_columns.QUERY, row_columns.DOCUMENT, (*row_columns.GRADE, *row_columns.SCORE)
        pairs = all(row_columns.find(names, kind) for kind in kinds)
        hint = row_columns.NO_TEXTS * (pairs or " ".join(map(str, names)).split()[1:2] in (["0"], ["Q0"]))
        if wanted is self.ids and keys:
            rename = f"rename it to '{self.ids[0]}' or " * (len(self.ids) > 1)
            hint = f"If the ids are in column '{keys[0]}', {rename}use `--config text.id_column={keys[0]}`"
        elif wanted is not self.ids and set(",".join(wanted).split(",")) <= set(names):
            hint = "Pass each column separately"
        elif wanted is not self.ids and not self.fields and (body := row_columns.find(names, BODIES)):
            hint = f"If it is column '{body}', rename it to 'text' or use `--config text.fields={body}`"
        elif titles and wanted is not self.ids:
            rename = "rename it to 'title' or " * (not self.fields or "title" in wanted)
            hint = f"To read only '{titles[0]}', {rename}use `--config text.fields={titles[0]}`"
        elif len(names) > 1 and not (self.fields or hint) and (wanted is not self.ids or len(self.ids) > 1):
            hint = f"Rename the {'id' if wanted is self.ids else 'text'} column to '{next(iter(wanted))}'"
        found = f"the {self.noun} has no column {either(map(repr, wanted))}"
        found += f", only {listed(names)}" if names else ""
        return InputError(found, path=self.path, line=getattr(place, "header", place), hint=hint)


def _of_any_language(field: str, names: Sequence[str]) -> str:
    """Return the column of a field, or the only one of this field in some language, as `en-title` at CLEF.

    >>> _of_any_language("title", ["num", "en-title", "en-desc"]), _of_any_language("EN-title", ["en-title"])
    ('en-title', 'en-title')
    """
    found = [name for name in map(str, names) if name.endswith("-" + field) or name == field.lower()]
    return found[0] if field not in names and len(found) == 1 else field


def _text(value: object, name: str, place: int, path: str) -> str:
    """Check that a field is text; null is an empty one, as is NaN, which pandas has for it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        raise InputError(
            f"column '{name}' contains a value of type {type_of(value)}, not text", path=path, line=place
        )
    return value


def rows_of(
    source: Any, noun: str, encoding: str = "utf-8", *, quoted: bool = False, columns: Sequence[str] = ()
) -> Numbered:
    """Yield the records of any source, numbered; `columns` of other names tell a header from a first row."""
    if isinstance(source, (str, os.PathLike)):
        yield from _file_rows(os.fspath(source), noun, encoding, quoted, columns)
    elif isinstance(source, Mapping):
        for place, (key, text) in enumerate(source.items(), start=1):
            yield place, {"id": key, "text": text}
    else:
        from leadline.io import python_inputs

        frame = None if isinstance(source, (list, tuple, Iterator)) else python_inputs.open_frame(source)
        rows = source if frame is None else python_inputs.rows_of_frame(frame)
        if not isinstance(rows, Iterable):
            kind = "queries" if noun == "query" else "documents"
            found = f"an object of type {type(source).__name__} cannot be loaded as {kind}"
            raise InputError(found, hint="Pass a path, a data frame, a dictionary or pairs (id, text)")
        for place, row in enumerate(rows, start=1):
            if isinstance(row, tuple) and not isinstance(row, Document) and len(row) == 2:
                yield place, {"id": row[0], "text": row[1]}
            elif isinstance(row, (Mapping, Document)):
                yield place, row
            else:
                raise refusal(f"{noun} {place}", row, "a dictionary or a pair (id, text)")


def _file_rows(path: str, noun: str, encoding: str, quoted: bool, columns: Sequence[str]) -> Numbered:
    if path.startswith(IR_DATASETS):
        return _collection(path, noun)
    if noun != "query" and os.path.isdir(path):
        return _folder_rows(path, encoding, columns)
    head = first_bytes(path, 1 << 16)
    start = (head or b"").removeprefix(BOM).lstrip()
    of_topics = noun == "query" or (noun == "text" and b"<top" in start[:1024].lower())
    blocks = queries if of_topics else documents
    if start[:2].upper() == b".I":
        return (numbered if noun == "query" else marked)(path, encoding=encoding)
    if start.startswith(b"<"):  # some files open with a line of XML
        return blocks(path, encoding=encoding)
    return records(path, known=(*DOCUMENT, *QUERY, *columns), encoding=encoding, quoted=quoted)


# Files of a folder that are one document each.
ONE_EACH = (".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm")


def _folder_rows(folder: str, encoding: str, columns: Sequence[str]) -> Numbered:
    """Yield the documents of a folder and of the folders in it, numbered."""
    place = 0
    if set(os.listdir(folder)) >= INDEX:
        raise InputError("this is an index, not documents", path=folder, hint="Pass what it was built from.")
    for path in files_below(folder):
        for line, row in _rows_of_member(path, os.path.relpath(path, folder), encoding, columns):
            place += 1
            at = FilePlace(place)
            at.path, at.line = path, line
            yield at, row._replace(place=at) if isinstance(row, Document) else row
    if not place:
        raise InputError("the folder contains no documents", path=folder, hint="Pass one with documents.")


def _rows_of_member(path: str, name: str, encoding: str, columns: Sequence[str]) -> Iterable[tuple[int, Any]]:
    """Return the documents of a file in a folder: one text named by its path, or those of its format."""
    suffix = os.path.splitext(name)[1].lower()
    head = (first_bytes(path, 1 << 10) or b"").lstrip().lower()
    if suffix not in ONE_EACH or head.startswith((b"<doc>", b".i ")):
        return [] if suffix in PICTURES else _file_rows(path, "document", encoding, False, columns)
    text = whole_text(path, encoding=encoding)
    found = page(text) if suffix.startswith(".htm") else {"title": "", "text": text}
    return [(1, Document(name.replace(os.sep, "/"), found["title"], found["text"]))]


def _collection(path: str, noun: str) -> Numbered:
    """Yield the documents or queries of a collection of ir_datasets."""
    collection = _load_collection(path)
    rows = collection.queries_iter if noun == "query" else collection.docs_iter
    for place, row in enumerate(_downloaded(path, rows), start=1):
        yield place, row._asdict()


def collection_table(source: Opened, *_: object) -> Table | Records:
    """Return the judgments of a collection."""
    from leadline.io import python_inputs

    path = source.path
    collection = _load_collection(path)
    if not collection.has_qrels():
        raise InputError(
            "has no qrels", path=path, hint="Use a subset with qrels, such as ir_datasets:msmarco-passage/dev"
        )
    return python_inputs.table_of_rows(
        enumerate(_downloaded(path, collection.qrels_iter), start=1), path=path
    )


def _load_collection(path: str) -> Any:
    """Return a collection by its name; it is downloaded when it is first read."""
    ir_datasets = import_optional("ir_datasets")
    try:
        return ir_datasets.load(path.removeprefix(IR_DATASETS))
    except KeyError:
        raise InputError("ir_datasets has no such collection", path=path) from None


def _downloaded(path: str, rows: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Yield rows of a collection; whatever fails while they are fetched is one line."""
    try:
        yield from rows()
    except Exception as error:  # the package raises what its many libraries raise
        if isinstance(error, LeadlineError):
            raise
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"cannot be downloaded or read ({type(error).__name__}{': ' * bool(reason)}{reason})",
            path=path,
            hint="Check the network connection. Some collections must be downloaded by hand",
        ) from None


HEADER = re.compile(r"<dochdr>\s*(.*?)</dochdr\s*>", re.DOTALL | re.IGNORECASE)
PAGE = re.compile(r"<dochdr>|<html[\s>]", re.IGNORECASE)
OLD_NUMBER = re.compile(r"<docoldno>.*?</docoldno\s*>", re.DOTALL | re.IGNORECASE)
# Columns made of lines of the HTTP header.
METADATA = {"content-type": "content_type", "date": "date", "last-modified": "last_modified"}
HIDDEN = {"script", "style", "template"}
# Tags within a word or a sentence; any other tag separates words.
INLINE = {"a", "abbr", "acronym", "b", "big", "cite", "code", "em", "font", "i", "s", "small", "span"}
INLINE |= {"strike", "strong", "sub", "sup", "tt", "u", "wbr"}


class _Reader(HTMLParser):
    """The visible text of a page, and its title."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.text: list[str] = []
        self.hidden = ""
        self.in_title = False

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        """Begin the title or what is hidden; separate words."""
        if tag in HIDDEN:
            self.hidden = self.hidden or tag
        self.in_title = tag == "title" and not self.title
        if tag not in INLINE:
            self.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """End the title or what is hidden; separate words."""
        if tag == self.hidden:
            self.hidden = ""
        self.in_title = False
        if tag not in INLINE:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        """Keep what is visible."""
        if not self.hidden:
            (self.title if self.in_title else self.text).append(data)

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002  # the base's
        """Skip `<![...>`, of which the parser would refuse unknown kinds."""
        return self.rawdata.find(">", i) + 1 or -1


def is_page(block: str) -> bool:
    """Return whether a document is a web page.

    >>> is_page("<DOCHDR>http://a.example</DOCHDR><p>Wings"), is_page("<TEXT><P>Wings</TEXT>")
    (True, False)
    """
    return PAGE.search(block) is not None


def page(block: str) -> dict[str, str]:
    r"""Return title, text, url and metadata of a page; scripts, style sheets and comments are left out.

    >>> page("<DOCHDR>\nhttp://a.example/ 1.2.3.4\n</DOCHDR><title>A</title><style>b{}</style>W<b>in</b>gs")
    {'title': 'A', 'text': 'Wings', 'url': 'http://a.example/'}
    """
    header = HEADER.search(block)
    reader = _Reader()
    reader.feed(OLD_NUMBER.sub("", HEADER.sub("", block, count=1)))
    reader.close()
    found = {"title": " ".join("".join(reader.title).split()), "text": " ".join("".join(reader.text).split())}
    if header is None or not header[1]:
        return found
    first, *lines = header[1].splitlines()
    found["url"] = first.split()[0]
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and name.strip().lower() in METADATA:
            found[METADATA[name.strip().lower()]] = value.strip()
    return found
