"""Exclusive lock on a store, whatever path it is opened by, and the identity of its files."""

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
    """
    real = os.path.realpath(path)
    check_folder(path)
    with ExitStack() as held:
        held.enter_context(_beside(real, path))
        if not os.path.lexists(real) or os.path.isfile(real):
            held.enter_context(_on_file(real, path))
        yield


def check_folder(path: str) -> None:
    """Reject a store without a name, or in a folder that does not exist."""
    if os.path.basename(path) in ("", "-"):
        raise InputError(f"the store needs a file name, not '{path}'", hint="Use --store judged.sqlite")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise InputError("no such folder", path=folder, hint="Create the folder for the store first.")


def check_names(path: str) -> None:
    """Reject a store with several hard links: SQLite keeps a write-ahead log per path."""
    status = _status(path)
    if status is not None and status.st_nlink > 1:
        raise InputError(
            f"the store has {status.st_nlink} names (hard links), and judgments saved under one name are not "
            "visible under another",
            path=path,
            hint="Copy the store to a new file, and judge in the copy.",
        )


def _taken(path: str) -> InputError:
    return InputError(
        "the store is open in another `leadline judge` process",
        path=path,
        hint="Stop that process, or let all judges share its page.",
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
            f"the lock file {os.path.basename(beside)} cannot be written ({error})",
            path=path,
            hint="Copy the store to a folder that you can write to, and use the copy."
            if os.path.exists(path)
            else "Choose a store in a folder that you can write to.",
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
    created = False
    while True:
        try:
            file, created = _opened(real, created=created)
        except OSError as error:
            raise InputError(
                f"the store cannot be opened ({error.strerror})",
                path=path,
                hint="Choose a file that you can write to.",
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
        if created and _is_at(file, real) and os.fstat(file).st_size == 0:
            with suppress(OSError):
                os.unlink(real)
        os.close(file)


def _opened(real: str, *, created: bool) -> tuple[int, bool]:
    """Open a file for writing; return its descriptor and whether this call or an earlier one created it."""
    flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(real, flags), created
    except FileNotFoundError:
        with suppress(FileExistsError):
            return os.open(real, flags | os.O_CREAT | os.O_EXCL, 0o644), True
        return os.open(real, flags), created


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
    status = _status(real)
    return status is not None and os.path.samestat(os.fstat(file), status)


def _status(path: str) -> os.stat_result | None:
    """Return the status of the file at a path; None if there is none."""
    try:
        return os.stat(path)
    except OSError:
        return None


class Identity:
    """Device and inode of the database, its write-ahead log and shared memory, as opened.

    A deleted or replaced file stays open: SQLite continues to write to it without an error, but no other
    program, and no later start, will see what was written.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._shown = path
        real = os.path.realpath(path)  # SQLite names the other two after the real path
        self._files = {
            name: status
            for name in (self.path, f"{real}-wal", f"{real}-shm")
            if (status := _status(name)) is not None
        }
        self._content = self._stamp()

    def check(self) -> None:
        """Compare the files at the paths with those that were opened."""
        for name, status in self._files.items():
            current = _status(name)
            if current is None or not os.path.samestat(current, status):
                change = "deleted or moved" if current is None else "replaced by another file"
                which = "the store" if name == self.path else os.path.basename(name)
                raise InputError(
                    f"{which} was {change} while the server was running, so judgments are no longer being "
                    "saved",
                    path=self._shown,
                    hint="Restore the original file, or stop the server to get a copy of the store.",
                )

    def _stamp(self) -> tuple[int, int] | None:
        status = _status(self.path)
        return None if status is None else (status.st_size, status.st_mtime_ns)

    def is_changed(self) -> bool:
        """Return whether the database file was written to since `note_content`."""
        return self._stamp() != self._content

    def note_content(self) -> None:
        """Record the current state of the database file as known."""
        self._content = self._stamp()
