"""Runs in parts (files, folders, patterns, URLs, batches), and the values of a part or of their sum."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from glob import glob, has_magic
from os.path import exists, isdir, isfile
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.table import RunInfo
from leadline.data.validation import check_run_name
from leadline.data.wording import counted
from leadline.errors import InputError, MissingPackageError, UsageError
from leadline.evaluation.evaluate import Evaluation, RunValues
from leadline.evaluation.join import judge
from leadline.evaluation.limits import Bounds
from leadline.evaluation.merging import example_of
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import Returned, counts_of
from leadline.io.opening import Buffers
from leadline.io.row_columns import QUERY, find
from leadline.io.run_names import STANDARD_INPUT, run_name, split_part

URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
PIECE = 1 << 22  # bytes that are copied at a time
MAGIC = re.compile(r"[*?\[]")
NO_FILES = "the folder has no files to read (leadline skips names that begin with _ or .)"
# Attempts of a request to S3, in place of five with growing pauses: a server that is down is soon named.
S3_OPTIONS = {"config_kwargs": {"retries": {"max_attempts": 2}}}


def is_url(path: str) -> bool:
    """Return whether a path names a remote file.

    >>> is_url("s3://bucket/run/part-0.parquet"), is_url("runs/part-0.run")
    (True, False)
    """
    return URL.match(path) is not None


def remote_files(url: str) -> list[str]:
    """Return the visible files in a remote folder, or those that a pattern matches, in order of name."""
    system, path = _opened(url)
    kind = "is a pattern that matches no file"
    try:
        if MAGIC.search(path):
            found = [name for name in system.glob(path) if not system.isdir(name)]
        elif not url.startswith("http") and system.isdir(path):
            kind = NO_FILES
            found = [name for name in system.find(path) if is_visible(str(name)[len(path) :])]
        else:
            return [url]
    except Exception as error:  # noqa: BLE001  # every storage has its own
        raise _fault(error, url) from None
    if not found:
        raise InputError(kind, path=url)
    return sorted(str(system.unstrip_protocol(name)) for name in found)


def is_visible(path: str) -> bool:
    """Return whether no name in a path is hidden: begins with `.` or `_`.

    >>> is_visible("/day=1/part-0.parquet"), is_visible("/_SUCCESS"), is_visible("/.part-0.crc")
    (True, False, False)
    """
    return not any(name.startswith((".", "_")) for name in path.split("/"))


@contextmanager
def local_file(path: str) -> Iterator[tuple[str, str | None]]:
    """Yield the path of a file; of a remote one that of a temporary copy, and the SHA-256 of its bytes."""
    if not is_url(path):
        yield path, None
        return
    with _local_copy(path) as (copy, sha256):
        try:
            yield copy, sha256
        except InputError as error:
            raise error.at(path) if error.path == copy else error from None


@contextmanager
def _local_copy(url: str) -> Iterator[tuple[str, str]]:
    """Copy a remote file to a temporary one, which is removed afterwards."""
    system, path = _opened(url)
    digest = hashlib.sha256()
    handle, name = tempfile.mkstemp(suffix="-" + path.rstrip("/").rpartition("/")[2][-80:])
    try:
        with os.fdopen(handle, "wb") as target:
            size = 0
            try:
                system.invalidate_cache()  # what a listing said may be out of date
                expected = system.info(path).get("size")
                with system.open(path, "rb") as source:
                    while piece := source.read(PIECE):
                        target.write(piece)
                        digest.update(piece)
                        size += len(piece)
            except Exception as error:  # noqa: BLE001  # every storage has its own
                raise _fault(error, url) from None
        if expected is not None and size != expected:
            raise InputError(
                f"the download has {counted(size, 'byte')}, but the file has {expected:,}",
                path=url,
                hint="Try again",
            )
        yield name, digest.hexdigest()
    finally:
        os.unlink(name)


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    protocol = url.partition("://")[0]
    try:
        import fsspec
    except ImportError:
        raise MissingPackageError(
            f'{url}: fsspec is not installed. Install it with `pip install "leadline[remote]"`.'
        ) from None
    try:
        system, path = fsspec.core.url_to_fs(url, **_options(protocol))
    except ImportError as error:
        raise MissingPackageError(f"{url}: a package that fsspec needs is not installed ({error})") from None
    except Exception as error:  # noqa: BLE001  # every storage has its own
        raise _fault(error, url) from None
    return system, str(path)


def _options(protocol: str) -> dict[str, Any]:
    """Return options of a file system, unless the user has set them."""
    from fsspec.config import conf

    if protocol not in {"s3", "s3a"} or "AWS_MAX_ATTEMPTS" in os.environ or conf.get(protocol):
        return {}
    return S3_OPTIONS


def _fault(error: Exception, url: str) -> InputError:
    """Return the error of a storage as one of the input, in one line."""
    cause = error.__cause__  # HTTP calls every failure a missing file
    unanswered = url.startswith("http") and cause is not None and getattr(cause, "status", None) != 404
    if isinstance(error, FileNotFoundError) and not unanswered:
        return InputError("no such file", path=url)
    shown = cause if unanswered else error
    text = " ".join(str(shown).split()) or type(shown).__name__
    return InputError(f"the URL cannot be read ({text})", path=url)


NO_PARTS = "the run has no parts. Pass at least one."
BATCH_ROWS = 1 << 18  # minimum number of rows of a part that is made of record batches


class RunParts:
    """One run in several parts; every query is in one of them.

    `paths` is a folder (with its subfolders, without names that begin with `.` or `_`), a pattern, a file, a
    URL such as `s3://bucket/run/` (with fsspec), or several of these; tables, runs or mappings; or an
    iterator of Arrow record batches, in which the rows of a query follow each other. By default the name is
    that of the first path.

    >>> RunParts([{"q1": {"d1": 1.0}}, {"q2": {"d1": 2.0}}], name="bm25")
    RunParts('bm25', 2 parts)
    """

    def __init__(self, paths: Any, *, name: str | None = None) -> None:
        if name is not None:
            check_run_name(name)
        single = isinstance(paths, (str, os.PathLike)) or not isinstance(paths, Iterable)
        self.paths: list[str] | None = None
        self._items: Any = [paths] if single else paths
        if not isinstance(self._items, Iterator):
            items = list(self._items)
            if not items:
                raise UsageError(NO_PARTS)
            self._items = items
            if all(isinstance(item, (str, os.PathLike)) for item in items):
                self.paths = [path for item in items for path in part_files(os.fspath(item))]
                name = name or _name(os.fspath(items[0]))
        self.name = name or "run"

    @property
    def size(self) -> int | None:
        """Number of parts; None for an iterator."""
        items = self._items if self.paths is None else self.paths
        return len(items) if isinstance(items, list) else None

    def __len__(self) -> int:
        """Return the number of parts, where it is known."""
        if self.size is None:
            raise TypeError("an iterator of parts has no length")
        return self.size

    def __repr__(self) -> str:
        return f"RunParts({self.name!r}, {'an iterator' if self.size is None else f'{self.size} parts'})"

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the parts: paths, or what else can be evaluated as a run."""
        if self.paths is not None:
            return iter(self.paths)
        return _whole_lists(iter(self._items))


def _name(path: str) -> str:
    """Return the name of a run in parts: that of its first file, or of the folder in which a pattern looks.

    >>> _name("runs/bm25/"), _name("runs/bm25/*.parquet"), _name("bm25.run.gz")
    ('bm25', 'bm25', 'bm25')
    """
    if path == STANDARD_INPUT:
        return run_name(path)
    start = path.rstrip("/")
    while has_magic(os.path.basename(start)) and os.path.dirname(start):
        start = os.path.dirname(start)
    return run_name(start if is_url(path) else os.path.abspath(start))


def part_files(path: str) -> list[str]:
    """Return the files of a folder (visible ones), pattern, URL or file, in order of name.

    >>> part_files("-")
    ['-']
    """
    if is_url(path):
        return remote_files(path)
    kind = "is a pattern that matches no file"
    if isdir(path):
        kind = NO_FILES
        found = [
            os.path.join(folder, name)
            for folder, _, names in os.walk(path)
            for name in names
            if is_visible(os.path.relpath(os.path.join(folder, name), path))
        ]
    elif has_magic(path) and not exists(path):
        found = [name for name in glob(path) if isfile(name)]
    elif path != STANDARD_INPUT and not exists(path) and not split_part(path)[1]:
        raise InputError("no such file or folder", path=path)
    else:
        return [path]
    if not found:
        raise InputError(kind, path=path)
    return sorted(found)


def _whole_lists(items: Iterator[Any]) -> Iterator[Any]:
    """Yield items; record batches are joined to tables that end where a query ends."""
    held: list[Any] = []
    rows = 0
    for item in items:
        kind = type(item)
        if isinstance(item, (str, os.PathLike)):
            yield from part_files(os.fspath(item))
        elif kind.__name__ != "RecordBatch" or not kind.__module__.startswith("pyarrow"):
            yield item
        elif len(item):
            held.append(item)
            rows += len(item)
            if rows >= BATCH_ROWS:
                complete, held = _split(_joined(held))
                rows = sum(map(len, held))
                if len(complete):
                    yield complete
    if held:
        yield _joined(held)


def _joined(batches: list[Any]) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches(batches)


def _split(table: Any) -> tuple[Any, list[Any]]:
    """Split a table before its last query, which the next batch may continue."""
    from pyarrow import compute

    column = find(table.column_names, QUERY)
    if column is None:
        return table, []
    other = compute.not_equal(table.column(column), table.column(column)[-1])
    ends = compute.indices_nonzero(compute.fill_null(other, True))
    stop = ends[-1].as_py() + 1 if len(ends) else 0
    return table.slice(0, stop), table.slice(stop).to_batches()


class Partial(NamedTuple):
    """Values of the judged queries of one part, and the counts of the part.

    `unjudged` are its queries without judgments, `example` the first query and document if no document is
    judged. `sha256` is the digest of a remote file.
    """

    label: str
    queries: tuple[bytes, ...]
    values: RunValues
    unjudged: tuple[bytes, ...]
    example: tuple[str, str]
    counts: dict[str, int]
    tag: str
    sha256: str | None


def evaluate_part(
    evaluation: Evaluation, part: Any, *, label: str | None = None, workspaces: Sequence[Buffers] = ()
) -> Partial:
    """Evaluate a part of a run on its own queries; every engine calls this function for every part.

    The part is a path, URL, run, mapping, table or frame of whole ranked lists; `label` is its name in
    messages, by default its path, and `workspaces` is memory to reuse. `merge_partials` puts the values
    together.

    >>> evaluation = Evaluation({"q1": {"d1": 1}, "q2": {"d1": 1}}, "AP")
    >>> partial = evaluate_part(evaluation, {"q2": {"d2": 2.0, "d1": 1.0}})
    >>> partial.queries, partial.values.values.tolist()
    ((b'q2',), [[0.5]])
    """
    is_path = isinstance(part, (str, os.PathLike))
    if label is None:
        label = os.fspath(part) if is_path else "part"
    with ExitStack() as copies:
        source, sha256 = copies.enter_context(local_file(os.fspath(part))) if is_path else (part, None)
        _, judged, counts = judge(
            source,
            evaluation.qrels,
            name=None if is_path else label,
            reading=evaluation.reading,
            cut=evaluation.cut,
            workspaces=workspaces,
            measures=evaluation.measures,
        )
    judged = judged.of_present()
    return Partial(
        label,
        judged.qrels.queries.names,
        evaluation.values_of(judged),
        tuple(judged.unjudged),
        judged.example,
        counts_of(judged, counts, evaluation.measures),
        counts.tag,
        sha256,
    )


class PartSum:
    """The parts of one run, added up as they are finished."""

    def __init__(self, evaluation: Evaluation, name: str, *, by_tag: bool = False, hint: str = "") -> None:
        size = len(evaluation.qrels.queries)
        self.evaluation = evaluation
        self.name = name
        self.by_tag = by_tag
        self.hint = hint  # to an error about a query in two parts
        self.values: Floats = np.full((size, len(evaluation.measures)), np.nan)
        self.averaged: Flags = np.zeros(self.values.shape, dtype=np.bool_)
        self.bounds: Bounds | None = None
        self.strings: list[str] | None = None if evaluation.relevance_strings is None else [""] * size
        self.part = np.full(size, -1, dtype=np.int32)  # the part that has a query
        self.returned = Returned()
        self.unjudged: dict[bytes, int] = {}
        self.counts: dict[str, int] = {}
        self.labels: dict[int, str] = {}
        self.tags: dict[int, str] = {}
        self.examples: list[tuple[str, str]] = []
        self.inputs: dict[int, dict[str, Any]] = {}
        self.nothing: InputError | None = None  # why the last part without selected queries has no values

    def add(self, number: int, part: Partial) -> None:
        """Add a part; raise InputError if a query is also in another part."""
        codes = self.evaluation.qrels.queries.encode(part.queries)
        again = np.flatnonzero(self.part[codes] >= 0)[:1].tolist()
        judged = ((part.queries[row], int(self.part[codes[row]])) for row in again)
        unjudged = ((name, self.unjudged[name]) for name in part.unjudged if name in self.unjudged)
        for query, earlier in (*judged, *unjudged):
            label = self.labels[earlier]
            other = "another part" if label == part.label else label  # tables have no names of their own
            raise InputError(f"query '{to_text(query)}' is also in {other}", path=part.label, hint=self.hint)
        self.part[codes] = number
        self.unjudged |= dict.fromkeys(part.unjudged, number)
        self._put(codes, part.values)
        self.returned = self.returned.plus(part.values.returned)
        for name, count in part.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.labels[number] = part.label
        self.tags[number] = part.tag
        self.examples.append(part.example)
        rows = part.counts["documents_read"]
        self.inputs[number] = {"path": part.label, "sha256": part.sha256, "rows": rows}

    def add_nothing(self, number: int, label: str, error: InputError) -> None:
        """Add a part of which the selection leaves nothing."""
        self.nothing = error
        self.inputs[number] = {"path": label, "sha256": None, "rows": 0}

    def _put(self, codes: Integers, values: RunValues) -> None:
        self.values[codes] = values.values
        self.averaged[codes] = values.averaged
        if values.limits is not None:
            if self.bounds is None:
                empty = np.full((len(self.values), *values.limits.limits.shape[1:]), np.nan)
                self.bounds = Bounds(empty, values.limits.available)
            self.bounds.limits[codes] = values.limits.limits
        if self.strings is not None and values.strings is not None:
            for code, text in zip(codes.tolist(), values.strings, strict=True):
                self.strings[code] = text

    def finished(self) -> tuple[RunInfo, RunValues]:
        """Return the description and the values of the run; queries in no part have empty lists."""
        if not self.labels:
            raise UsageError(NO_PARTS) if self.nothing is None else self.nothing.at(self.name)
        present = self.part >= 0
        missing = np.flatnonzero(~present)
        if len(missing):
            nothing = JudgedRun.of_lists(self.evaluation.qrels.of_codes(missing), [], tops=2)
            self._put(missing, self.evaluation.values_of(nothing))
        example = example_of(self.examples)
        tag = next((self.tags[number] for number in sorted(self.tags, reverse=True) if self.tags[number]), "")
        values = RunValues(
            self.values, present, self.averaged, self.bounds, self.strings, example, self.returned
        )
        counts = self.counts | {"missing_queries": len(missing)}
        name = (tag or self.name) if self.by_tag else self.name
        return RunInfo(name, tag, "", counts), values


def merge_partials(evaluation: Evaluation, partials: Iterable[Partial], *, name: str = "run") -> Results:
    """Merge what `evaluate_part` returned for all parts of a run, in any order.

    The results are those of `evaluate` of the undivided run; its tag is that of the last part.

    >>> evaluation = Evaluation({"q1": {"d1": 1}, "q2": {"d1": 1}}, "AP")
    >>> run = {"q1": {"d1": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    >>> partials = [evaluate_part(evaluation, {query: scores}) for query, scores in run.items()]
    >>> merge_partials(evaluation, partials, name="bm25").mean("bm25", "AP")
    0.75
    """
    total = PartSum(evaluation, name, hint="Put each query in only one part.")
    for number, partial in enumerate(partials):
        total.add(number, partial)
    info, values = total.finished()
    results = evaluation.results([info], [values])
    results.inputs = list(total.inputs.values())
    return results


def evaluate_batches(evaluation: Evaluation, batches: Iterable[Any]) -> Iterator[Any]:
    """Evaluate Arrow record batches; for engines that map iterators of batches, such as Spark's `mapInArrow`.

    Batches have the columns query_id, doc_id and score, and the rows of a query follow each other. Yields
    record batches of one row and column, `partial`, a pickled `Partial`.
    """
    import pickle

    import pyarrow as pa

    for part in RunParts(iter(batches)):
        payload = pickle.dumps(evaluate_part(evaluation, part))
        yield pa.record_batch([pa.array([payload], type=pa.binary())], names=["partial"])
