"""Runs in parts: several files, folders or patterns, or an iterator of Arrow record batches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from os.path import exists, isdir, isfile
from typing import Any

from leadline.data.validation import check_run_name
from leadline.errors import InputError, UsageError
from leadline.io.row_columns import QUERY, find
from leadline.io.run_names import STANDARD_INPUT, run_name, split_part
from leadline.scale.remote import is_url, is_visible, remote_files

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
                raise UsageError("at least one part of the run is needed")
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
    """Return the files of a folder, pattern, URL or file, in order of name.

    Names that begin with `.` or `_`, as those that Spark writes besides the parts, are left out of folders.

    >>> part_files("-")
    ['-']
    """
    if is_url(path):
        return remote_files(path)
    if isdir(path):
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
        raise InputError("no file matches", path=path)
    return sorted(found)


def _whole_lists(items: Iterator[Any]) -> Iterator[Any]:
    """Yield items; record batches are joined to tables that end where a query ends."""
    held: list[Any] = []
    rows = 0
    for item in items:
        if not _is_batch(item):
            if held:
                yield from _last(held)
                held, rows = [], 0
            if isinstance(item, (str, os.PathLike)):
                yield from part_files(os.fspath(item))
            else:
                yield item
            continue
        if not len(item):
            continue
        held.append(item)
        rows += len(item)
        if rows >= BATCH_ROWS:
            complete, held = _split(held)
            rows = sum(map(len, held))
            yield from _last(complete)
    yield from _last(held)


def _is_batch(item: object) -> bool:
    return type(item).__name__ == "RecordBatch" and type(item).__module__.startswith("pyarrow")


def _last(batches: list[Any]) -> Iterator[Any]:
    if batches:
        import pyarrow as pa

        yield pa.Table.from_batches(batches)


def _split(batches: list[Any]) -> tuple[list[Any], list[Any]]:
    """Split batches before the last query, which the next batch may continue."""
    from pyarrow import compute

    column = find(batches[-1].schema.names, QUERY)
    if column is None:
        return batches, []
    last = batches[-1].column(column)[-1]
    held: list[Any] = []
    for number in range(len(batches) - 1, -1, -1):
        batch = batches[number]
        other = compute.fill_null(compute.not_equal(batch.column(column), last), True)
        ends = compute.indices_nonzero(other)
        if len(ends):
            stop = ends[-1].as_py() + 1
            complete = [*batches[:number], batch.slice(0, stop)]
            return complete, ([batch.slice(stop)] if stop < len(batch) else []) + held
        held.insert(0, batch)
    return [], held
