"""Runs in parts: files, folders, patterns or URLs (read by fsspec), or an iterator of record batches."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from os.path import exists, isdir, isfile
from typing import Any, NamedTuple

from leadline.data.validation import check_run_name
from leadline.data.wording import counted
from leadline.errors import InputError, MissingPackageError, UsageError
from leadline.io.row_columns import QUERY, find
from leadline.io.run_names import STANDARD_INPUT, run_name, split_part

URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
PIECE = 1 << 22  # bytes that are copied at a time
# Packages of fsspec by protocol, for the message where one is missing.
PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "http": "aiohttp", "https": "aiohttp"}
MAGIC = re.compile(r"[*?\[]")
# Attempts of a request to S3, in place of five with growing pauses: a server that is down is soon named.
S3_OPTIONS = {"config_kwargs": {"retries": {"max_attempts": 2}}}


class LocalCopy(NamedTuple):
    """A local copy of a remote file, and the SHA-256 of its bytes."""

    path: str
    sha256: str


def is_url(path: str) -> bool:
    """Return whether a path names a remote file.

    >>> is_url("s3://bucket/run/part-0.parquet"), is_url("runs/part-0.run")
    (True, False)
    """
    return URL.match(path) is not None


def remote_files(url: str) -> list[str]:
    """Return the files in a remote folder, or those that a pattern matches, in order of name.

    Files whose name begins with `.` or `_` are left out of folders, as are folders that do.
    """
    system, path = _opened(url)
    kind = "is a pattern that matches no file"
    try:
        if MAGIC.search(path):
            found = [name for name in system.glob(path) if not system.isdir(name)]
        elif not url.startswith("http") and system.isdir(path):
            kind = "is a folder without visible files"
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
def local_copy(url: str) -> Iterator[LocalCopy]:
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
        yield LocalCopy(name, digest.hexdigest())
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
    except ImportError:
        package = PACKAGES.get(protocol)
        missing = f"{package} is not installed. Install it with `pip install {package}`."
        if package is None:
            missing = f"the fsspec package for {protocol}:// is not installed"
        raise MissingPackageError(f"{url}: {missing}") from None
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
    text = " ".join(str(error).split()) or type(error).__name__
    kind = type(error).__name__
    cause = error.__cause__  # HTTP calls every failure a missing file
    if url.startswith("http") and cause is not None and getattr(cause, "status", None) != 404:
        return InputError(f"the file cannot be read ({cause})", path=url)
    if isinstance(error, FileNotFoundError):
        if "bucket" in text and "does not exist" in text:
            return InputError(f"there is no bucket {url.split('/')[2]}", path=url)
        return InputError("no such file", path=url)
    if kind == "FileExpired":  # of s3fs
        return InputError("the file changed while it was being read", path=url, hint="Try again.")
    if isinstance(error, PermissionError) or kind == "NoCredentialsError":  # of botocore
        return InputError(f"access was refused ({text})", path=url, hint="Check your credentials.")
    return InputError(f"the file cannot be read ({text})", path=url)


NO_PARTS = "at least one part of the run is needed"
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
    """Return the files of a folder, pattern, URL or file, in order of name.

    Names that begin with `.` or `_`, as those that Spark writes besides the parts, are left out of folders.

    >>> part_files("-")
    ['-']
    """
    if is_url(path):
        return remote_files(path)
    kind = "is a pattern that matches no file"
    if isdir(path):
        kind = "is a folder without visible files"
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
