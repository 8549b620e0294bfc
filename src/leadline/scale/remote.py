"""Files on object storage and web servers, named by URL and read by fsspec."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from leadline.errors import InputError, MissingPackageError

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
    try:
        if MAGIC.search(path):
            found = [name for name in system.glob(path) if not system.isdir(name)]
        elif not url.startswith("http") and system.isdir(path):
            found = [name for name in system.find(path) if is_visible(str(name)[len(path) :])]
        else:
            return [url]
    except Exception as error:  # noqa: BLE001  # every storage has its own
        raise _fault(error, url) from None
    if not found:
        raise InputError("no file matches", path=url)
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
                f"received {size:,} bytes, but the storage lists {expected:,}", path=url, hint="Try again."
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
        raise MissingPackageError(f'{url}: fsspec is not installed: pip install "leadline[remote]"') from None
    try:
        system, path = fsspec.core.url_to_fs(url, **_options(protocol))
    except ImportError:
        package = PACKAGES.get(protocol)
        missing = f"{package} is not installed: pip install {package}"
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
    if isinstance(error, FileNotFoundError):
        if "bucket" in text and "does not exist" in text:
            return InputError(f"there is no bucket {url.split('/')[2]}", path=url)
        return InputError("no such file", path=url)
    if kind == "FileExpired":  # of s3fs
        return InputError("the file changed while it was being read", path=url, hint="Try again.")
    if isinstance(error, PermissionError) or kind == "NoCredentialsError":  # of botocore
        return InputError(f"access refused ({text})", path=url, hint="Check your credentials.")
    return InputError(f"the file cannot be read ({text})", path=url)
