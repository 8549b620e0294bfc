"""Exclusive lock on a store, whatever path it is opened by."""

from __future__ import annotations

import errno
import os
import sqlite3
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from leadline.errors import InputError

# SQLite locks bytes from 1 GiB on; this byte is beyond any store, so that the two never meet.
LOCKED_BYTE = 1 << 40
HELD = (errno.EAGAIN, errno.EACCES)


@contextmanager
def exclusive(path: str) -> Iterator[None]:
    """Lock a store for one server; the operating system releases the lock when the process ends.

    Two locks are taken: one on a file next to the store (on every platform; symbolic links are resolved), and
    on Linux one on the store itself, which also covers hard links and renamed files. The second is an open
    file description lock: unlike a POSIX lock it is not lost when the process closes another descriptor of
    the same file.

    Raises
    ------
    InputError
        If another server holds the store, or if the store cannot be locked.
    """
    real = os.path.realpath(path)
    with ExitStack() as held:
        held.enter_context(_beside(real, path))
        if not os.path.lexists(real) or os.path.isfile(real):
            held.enter_context(_on_file(real, path))
        yield


def check_names(path: str) -> None:
    """Reject a store with several hard links: SQLite keeps a write-ahead log per path.

    Raises
    ------
    InputError
        If the file has more than one name.
    """
    try:
        names = os.stat(path).st_nlink
    except OSError:
        return
    if names > 1:
        raise InputError(
            f"has {names} names (hard links), and judgments saved under one are not seen under another",
            expected="a store with one name",
            path=path,
            hint="Copy it to a new file and judge in the copy",
        )


def _taken(path: str) -> InputError:
    return InputError(
        "is open in another judging page", expected="one page a store: judges can share it", path=path
    )


@contextmanager
def _beside(real: str, path: str) -> Iterator[None]:
    """Lock a file next to the store, as earlier versions do."""
    beside = f"{real}-serving"
    lock: sqlite3.Connection | None = None
    try:
        lock = sqlite3.connect(beside, timeout=0, isolation_level=None)
        lock.execute("PRAGMA journal_mode = MEMORY")  # no journal file
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if lock is not None:
            lock.close()
        if "locked" in str(error):
            raise _taken(path) from None
        raise InputError(
            f"cannot be locked ({error})", path=path, expected="a folder that can be written"
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(beside)
        lock.close()


@contextmanager
def _on_file(real: str, path: str) -> Iterator[None]:
    """Lock the store itself; an empty file is created if there is none, and removed if it stays empty."""
    made = False
    while True:
        try:
            file, made = _opened(real, made=made)
        except OSError as error:
            raise InputError(
                f"cannot be opened ({error.strerror})", expected="a store that can be written", path=path
            ) from None
        try:
            _lock(file, path)
        except BaseException:
            os.close(file)
            raise
        if _is_at(file, real):
            break
        os.close(file)  # it was removed or replaced meanwhile
    try:
        yield
    finally:
        if made and _is_at(file, real) and os.fstat(file).st_size == 0:
            with suppress(OSError):
                os.unlink(real)
        os.close(file)


def _opened(real: str, *, made: bool) -> tuple[int, bool]:
    """Open a file for writing; return its descriptor and whether this call or an earlier one created it."""
    flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(real, flags), made
    except FileNotFoundError:
        with suppress(FileExistsError):
            return os.open(real, flags | os.O_CREAT | os.O_EXCL, 0o644), True
        return os.open(real, flags), made


def _lock(file: int, path: str) -> None:
    if sys.platform != "linux":
        return
    import fcntl

    # struct flock: l_type, l_whence, l_start, l_len, l_pid
    request = struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, LOCKED_BYTE, 1, 0)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, request)
    except OSError as error:
        if error.errno in HELD:
            raise _taken(path) from None
        # The file system does not support these locks; the lock file must suffice.


def _is_at(file: int, real: str) -> bool:
    """Return whether a path still refers to an open file."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(real))
    except OSError:
        return False
