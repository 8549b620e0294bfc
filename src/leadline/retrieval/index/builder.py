"""Index construction in bounded memory: blocks of postings are written to disk and merged."""

from __future__ import annotations

import json
import operator
import os
import re
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Integers
from leadline.data.ids import to_bytes
from leadline.data.table import ResultWarning, raised
from leadline.data.validation import check_whole
from leadline.data.wording import counted, first_few
from leadline.errors import InputError, UsageError
from leadline.io import row_columns
from leadline.io.read_paths import check_outputs, path_of, public
from leadline.io.run_names import unread_files
from leadline.io.score_cells import number_in, number_of
from leadline.io.texts import DOCUMENT, Document, TextsLike, read_documents, rows_of
from leadline.retrieval.index import index_files
from leadline.retrieval.index.index_files import digest
from leadline.retrieval.index.reader import Index
from leadline.text import ANALYSES, Analysis
from leadline.version import VERSION

RULE = re.compile(r"(?P<path>.+):(?P<column>[^:<>=!]+)(?P<sign>>=|<=|!=|==|=|<|>)(?P<value>[^<>=!]+)")
SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def keep_rule(rule: str) -> Callable[[str], bool]:
    """Return a predicate of the ids to keep: in the table of a rule such as `spam.tsv:percentile>=60`."""
    parts = RULE.fullmatch(rule)
    if parts is None:
        raise UsageError(f"--keep '{rule}' is not valid. Use a rule such as FILE:COLUMN>=NUMBER.")
    limit = number_in(parts["value"])
    if limit is None:
        raise UsageError(f"--keep '{rule}': '{parts['value']}' is not a number")
    path, column, compare = parts["path"], parts["column"].strip(), SIGNS[parts["sign"]]
    good: set[str] = set()
    for line, row in rows_of(path, "document"):
        if column not in row:
            raise InputError(
                f"there is no column '{column}' among those read ({first_few(list(row))})",
                path=path,
                line=line,
                hint=f"Use a table with the columns doc_id and {column}.",
            )
        name = row_columns.find(row, DOCUMENT) or next(iter(row))
        if compare(number_of(row[column], column, path, line), limit):
            good.add(str(row[name]))
    return good.__contains__


class PostingBlock(NamedTuple):
    """Postings of some documents grouped by term, with the terms that occur and their numbers of postings."""

    terms: Codes
    postings: Integers
    occurrences: Integers
    document: Codes
    counts: Codes
    position: Codes


def invert(term: Codes, document: Codes, position: Codes) -> PostingBlock:
    """Group tokens in text order by term, then by document; -1 is a stop word and excluded.

    >>> block = invert(*(np.array(x, dtype=np.int32) for x in ([1, 0, 1], [0, 0, 1], [0, 1, 0])))
    >>> block.terms.tolist(), block.document.tolist(), block.counts.tolist()
    ([0, 1], [0, 0, 1], [1, 1, 1])
    """
    order = stable_order(term)
    order = order[np.searchsorted(term[order], 0) :] if len(order) else order
    term, document, position = term[order], document[order], position[order]
    new = np.ones(len(term), dtype=np.bool_)
    new[1:] = (term[1:] != term[:-1]) | (document[1:] != document[:-1])
    first = np.flatnonzero(new)
    count = np.diff(first, append=len(term)).astype(np.int32)
    posting_term = term[first]
    start = np.flatnonzero(np.diff(posting_term, prepend=-1))
    postings = np.diff(start, append=len(first))
    occurrences = np.add.reduceat(count, start, dtype=np.int64) if len(start) else postings
    return PostingBlock(posting_term[start], postings, occurrences, document[first], count, position)


def stable_order(term: Codes) -> Integers:
    """Return the stable sort order of codes from -1, by two radix passes of 16 bits each."""
    shifted = term.astype(np.int64) + 1
    order = np.argsort((shifted & 0xFFFF).astype(np.uint16), kind="stable")
    if len(term) and shifted.max() > 0xFFFF:
        high = (shifted >> 16).astype(np.uint16)[order]
        order = order[np.argsort(high, kind="stable")]
    return order


class PostingBlocks:
    """Blocks of one build: all but the last are on disk."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.waiting = 0
        self.last: PostingBlock | None = None

    def add(self, block: PostingBlock) -> None:
        """Add the next block; the previous one is written to disk."""
        if self.last is not None:
            np.savez(self._path(self.waiting), **self.last._asdict())
            self.waiting += 1
        self.last = block

    def _path(self, number: int) -> str:
        return os.path.join(self.folder, f"block{number}.npz")

    def _take(self, number: int) -> PostingBlock:
        if number == self.waiting:
            assert self.last is not None
            return self.last
        with np.load(self._path(number)) as file:
            return PostingBlock(**file)

    def _sizes(self, terms: int) -> tuple[Integers, Integers]:
        """Return the numbers of postings and occurrences of every term over all blocks."""
        postings, occurrences = (np.zeros(terms, dtype=np.int64) for _ in range(2))
        for number in range(self.waiting + 1):
            block = self._take(number)
            postings[block.terms] += block.postings
            occurrences[block.terms] += block.occurrences
        return postings, occurrences

    def merge(self, rank: Codes, *, positions: bool) -> int:
        """Write the postings of all blocks by the final codes of terms; return their number."""
        postings, occurrences = self._sizes(len(rank))
        df, cf = np.empty_like(postings), np.empty_like(occurrences)
        df[rank], cf[rank] = postings, occurrences
        of_postings, of_positions = index_files.offsets(df), index_files.offsets(cf)
        index_files.save(self.folder, "posting_offset", of_postings)
        index_files.save(self.folder, "position_offset", of_positions)
        self._write(("document", "counts"), "postings", of_postings, rank)
        if positions:
            self._write(("position",), "occurrences", of_positions, rank)
        for number in range(self.waiting):
            os.unlink(self._path(number))
        return int(of_postings[-1])

    def _write(self, names: Sequence[str], size: str, offset: Integers, rank: Codes) -> None:
        """Write columns of all blocks, ordered by term; `offset` tells where the lists of the terms begin."""
        files = [index_files.create(self.folder, name, int(offset[-1])) for name in names]
        starts = offset[rank]
        for number in range(self.waiting + 1):
            block = self._take(number)
            grown = getattr(block, size)
            source = np.cumsum(grown) - grown
            target = np.repeat(starts[block.terms] - source, grown) + np.arange(grown.sum())
            for name, file in zip(names, files, strict=True):
                file[target] = getattr(block, name)
            starts[block.terms] += grown


SORTED = 1 << 20  # tokens that are sorted by document at a time
BLOCK = 1 << 21  # tokens that are held at a time; some 100 bytes of memory each while they are sorted


@public
def build_index(
    documents: TextsLike,
    path: str | os.PathLike[str] | None = None,
    *,
    analysis: str | Analysis = "Words",
    fields: Sequence[str] = (),
    id_column: str | None = None,
    encoding: str = "utf-8",
    keep: str | None = None,
    store_text: bool = False,
    prefix: int | None = None,
    positions: bool = True,
    overwrite: bool = False,
    on_document: Callable[[int, int], None] | None = None,
) -> Index:
    """Build an inverted index of documents.

    Memory use grows with the vocabulary and the ids, not with the text. Without a path, the index is
    temporary.

    Parameters
    ----------
    documents : str, mapping or iterable
        Documents, as for `read_documents`.
    path : str, optional
        Folder of the index.
    analysis : str
        Text analysis, from text to terms.
    store_text : bool
        Whether to store the texts, for summaries.
    prefix : int
        Maximum number of bytes stored of each text.
    positions : bool, default True
        Whether to store the positions of terms, which models of windows (SDM) need.
    keep : str, optional
        Filter of documents, such as `spam.tsv:percentile>=60`.

    Examples
    --------
    >>> index = build_index({"d1": "wings and tails", "d2": "two wings"})
    >>> index.documents, index.tokens, index.terms
    (2, 4, 3)
    """
    how = analysis if isinstance(analysis, Analysis) else ANALYSES.parse(analysis)
    good = keep_rule(keep) if keep else None
    check_whole(1, prefix=prefix)
    if prefix is not None and not store_text:
        raise UsageError("--config index.prefix needs --store-text")
    target = None if path is None else os.fspath(path)
    if target is not None and os.path.lexists(target) and not overwrite:
        other = ", or use --overwrite" if index_files.is_index(target) else ""
        raise UsageError(f"{target} already exists. Choose a new name{other}.")
    if target is not None and os.path.exists(target):
        _check_replaceable(target)
    folder, beside = "", None if target is None else os.path.dirname(os.path.abspath(target))
    try:
        folder = tempfile.mkdtemp(dir=beside, prefix=".leadline-")
        builder = Builder(folder, how, store_text=store_text, prefix=prefix)
        records = read_documents(documents, fields=fields, id_column=id_column, encoding=encoding)
        builder.read(records, good, on_document)
        options = {"fields": list(fields), "keep": keep, "prefix": prefix}
        builder.finish(path_of(documents), options, positions=positions)
        if target is None:
            return Index(folder, temporary=True)
        _replace(folder, target)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise UsageError(f"cannot write {target or 'the index'} ({error.strerror or error})") from None
        raise
    return Index(target)


def _check_replaceable(target: str) -> None:
    """Refuse to replace anything but an index, which may be damaged or of another version."""
    if not index_files.is_index(target):
        raise InputError(
            f"{target} is not a folder that contains only an index, so --overwrite does not replace it",
            hint="Choose a new name.",
        )
    check_outputs(*(entry.path for entry in os.scandir(target)))


def _replace(folder: str, target: str) -> None:
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(folder, 0o777 & ~mask)  # a temporary folder is closed to others
    old = None
    if os.path.exists(target):
        _check_replaceable(target)  # again: the documents have been read by now
        old = tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(target)), prefix=".leadline-")
        os.replace(target, os.path.join(old, "index"))
    os.replace(folder, target)
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def _prefix(content: str, size: int | None) -> bytes:
    """Return the first bytes of a text, cut at a character boundary."""
    raw = content.encode("utf-8", "surrogatepass")
    if size is None or size >= len(raw):
        return raw
    while raw[size] & 0xC0 == 0x80:
        size -= 1
    return raw[:size]


def _in_bytes(content: str, offsets: Integers) -> Integers:
    """Convert character offsets to byte offsets."""
    if content.isascii():
        return offsets
    codes = np.frombuffer(content.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    ends = np.cumsum(1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF), dtype=np.int64)
    return np.concatenate(([0], ends))[offsets]


class Codebook(dict[str, int]):
    """Mapping that assigns the next code to every new token."""

    def __missing__(self, token: str) -> int:
        code = self[token] = len(self)
        return code


class Builder:
    """State of one build: tokens of the current block, the vocabulary, and the document records."""

    def __init__(self, folder: str, analysis: Analysis, *, store_text: bool, prefix: int | None) -> None:
        self.folder = folder
        self.analysis = analysis
        self.store_text = store_text
        self.prefix = prefix
        self.tokens = Codebook()
        self.terms = Codebook()
        self.term_of: list[int] = []  # token code -> term code, -1 for a stop word
        self.block: list[int] = []
        self.sizes = array("i")  # tokens of each document, stop words counted
        self.lengths: list[Codes] = []
        self.ids: list[bytes] = []
        self.record_ends = array("q", [0])
        self.text_ends = array("q", [0])
        self.token_ends = array("q", [0])  # of the tokens whose places in the stored texts follow
        self.token_begin, self.token_end = array("i"), array("i")
        self.blocks = PostingBlocks(folder)
        self.left_out = 0
        self.files = set[str]()  # with documents, in a folder
        self.done = 0

    def read(
        self,
        documents: Iterable[Document],
        good: Callable[[str], bool] | None,
        on_document: Callable[[int, int], None] | None,
    ) -> None:
        """Read all documents."""
        code_of = self.tokens.__getitem__
        text = index_files.file_of(self.folder, "text")
        with (
            open(index_files.file_of(self.folder, "record_text"), "wb") as records,
            open(text, "wb") if self.store_text else nullcontext() as texts,
            open(os.path.join(self.folder, "stream.raw"), "wb") as stream,
        ):
            for document in documents:
                self.files.add(getattr(document.place, "path", ""))
                if good is not None and not good(document.id):
                    self.left_out += 1
                    continue
                content = document.content
                if texts is not None:
                    self._store(content, texts)
                tokens = self.analysis.split(content)
                self.block.extend(map(code_of, tokens))
                self.sizes.append(len(tokens))
                self.ids.append(to_bytes(document.id))
                self.record_ends.append(self.record_ends[-1] + records.write(_record(document)))
                if on_document is not None and len(self.ids) % 1024 == 0:
                    on_document(len(self.ids), 0)
                if len(self.block) >= BLOCK:
                    self._flush(stream)
            self._flush(stream)

    def _store(self, content: str, texts: BinaryIO) -> None:
        """Store a text, or its prefix, and where the tokens stand in it."""
        size = texts.write(_prefix(content, self.prefix))
        self.text_ends.append(self.text_ends[-1] + size)
        begin, end = (_in_bytes(content, offsets) for offsets in self.analysis.bounds(content))
        self.token_begin.extend(begin[end <= size].tolist())
        self.token_end.extend(end[end <= size].tolist())
        self.token_ends.append(len(self.token_begin))

    def _flush(self, stream: Any) -> None:
        """Invert the current block."""
        new = list(self.tokens)[len(self.term_of) :]
        self.term_of += [-1 if term is None else self.terms[term] for term in self.analysis.terms_of(new)]
        sizes = np.array(self.sizes, dtype=np.int64)
        code = np.array(self.term_of, dtype=np.int32)[np.array(self.block, dtype=np.int32)]
        document = np.repeat(np.arange(self.done, self.done + len(sizes), dtype=np.int32), sizes)
        start = np.cumsum(sizes) - sizes
        position = (np.arange(len(code)) - np.repeat(start, sizes)).astype(np.int32)
        terms = code >= 0
        stream.write(code[terms].astype("<i4").data)
        self.lengths.append(np.bincount(document[terms] - self.done, minlength=len(sizes)).astype(np.int32))
        self.blocks.add(invert(code, document, position))
        self.done += len(sizes)
        self.block, self.sizes = [], array("i")

    def finish(self, source: str, options: dict[str, Any], *, positions: bool) -> None:
        """Write the remaining files, the header last."""
        if not self.ids and self.left_out:
            raise InputError(
                f"no document passes --keep '{options['keep']}'",
                path=source,
                hint="Check the rule and the document ids in its table.",
            )
        if not self.ids:
            raise InputError("no documents found", path=source)
        names = [to_bytes(term) for term in self.terms]
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), dtype=np.int32)
        rank[order] = np.arange(len(names), dtype=np.int32)
        lengths = np.concatenate(self.lengths)
        self._write_forward(rank, lengths, self.blocks.merge(rank, positions=positions))
        _save_names(self.folder, "term", [names[index] for index in order])
        _save_names(self.folder, "id", self.ids)
        index_files.save(self.folder, "length", lengths)
        index_files.save(self.folder, "by_id", sorted(range(len(self.ids)), key=self.ids.__getitem__))
        index_files.save(self.folder, "record_offset", self.record_ends)
        if self.store_text:
            index_files.save(self.folder, "text_offset", self.text_ends)
            index_files.save(self.folder, "token_offset", self.token_ends)
            index_files.save(self.folder, "token_begin", self.token_begin)
            index_files.save(self.folder, "token_end", self.token_end)
        index_files.write_header(
            self.folder,
            {
                "leadline": VERSION,
                "analysis": str(self.analysis),
                "source": source,
                "sha256": digest(source),
                "options": options,
                "positions": positions,
                "documents": len(self.ids),
                "tokens": int(lengths.sum()),
                "terms": len(names),
                "warnings": [vars(notice) for notice in self._warnings(lengths, source)],
            },
        )

    def _write_forward(self, rank: Codes, lengths: Codes, postings: int) -> None:
        """Write the terms of every document and their frequencies."""
        bounds, sizes, done = index_files.offsets(lengths), [], 0
        terms, frequencies = (
            index_files.create(self.folder, name, postings) for name in ("forward_term", "forward_counts")
        )
        with open(os.path.join(self.folder, "stream.raw"), "rb") as file:
            for begin, end in _parts(bounds):
                tokens = np.fromfile(file, dtype="<i4", count=int(bounds[end] - bounds[begin]))
                document = np.repeat(np.arange(end - begin), lengths[begin:end])
                key = np.sort(document * len(rank) + rank[tokens])
                first = np.flatnonzero(np.diff(key, prepend=-1))
                document = document[first]  # sorting leaves the documents in their order
                terms[done : done + len(first)] = key[first] - document * len(rank)
                frequencies[done : done + len(first)] = np.diff(first, append=len(key))
                sizes.append(np.bincount(document, minlength=end - begin))
                done += len(first)
        os.unlink(os.path.join(self.folder, "stream.raw"))
        index_files.save(self.folder, "forward_offset", index_files.offsets(np.concatenate(sizes)))

    def _warnings(self, lengths: Codes, source: str) -> list[ResultWarning]:
        empty = int((lengths == 0).sum())
        found = f"{counted(empty, 'document has', 'documents have')} no terms, so no search can find "
        found += "it" if empty == 1 else "them"
        blanks = sum(name.split() != [name] for name in self.ids)
        ids = f"{counted(blanks, 'document id')} with blanks"
        return raised(
            unread_files(source, self.files),
            ("empty_documents", found, empty),
            ("ids_with_blanks", f"{ids} cannot appear in TREC runs, so write runs as .json or .csv", blanks),
            ("not_kept", f"the `keep` rule left out {counted(self.left_out, 'document')}", self.left_out),
        )


def _parts(bounds: Integers) -> Iterator[tuple[int, int]]:
    """Divide documents into parts of at most `SORTED` tokens, or of one document."""
    begin, documents = 0, len(bounds) - 1
    while begin < documents:
        end = int(np.searchsorted(bounds, bounds[begin] + SORTED, side="right")) - 1
        end = min(max(end, begin + 1), documents)
        yield begin, end
        begin = end


def _record(document: Document) -> bytes:
    """Write title and other fields, to be shown with a result."""
    facts = ({"title": document.title} if document.title else {}) | dict(document.more)
    if not facts:
        return b"{}\n"
    text = json.dumps(facts, ensure_ascii=False, default=str)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _save_names(folder: str, noun: str, names: Sequence[bytes]) -> None:
    index_files.save(folder, f"{noun}_text", np.frombuffer(b"".join(names), dtype=np.uint8))
    index_files.save(folder, f"{noun}_offset", index_files.offsets(list(map(len, names))))
