"""Whether the files of an open store are still those that were opened."""

from __future__ import annotations

import os
from typing import NamedTuple

from leadline.errors import InputError


class Place(NamedTuple):
    """Device and inode of a file."""

    device: int
    inode: int


def place_of(path: str) -> Place | None:
    """Give device and inode of the file at a path, None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return Place(found.st_dev, found.st_ino)


class Identity:
    """Device and inode of the database, its write-ahead log and its shared memory, as they were opened.

    A deleted or replaced file stays open: SQLite goes on writing to it and reports success, but no other
    program, and no later start, will find what was written.

    Parameters
    ----------
    path : str
        The store, under the name by which it was opened.

    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._shown = path
        real = os.path.realpath(path)  # SQLite names the other two after the real path
        self._places = {
            name: place
            for name in (self.path, f"{real}-wal", f"{real}-shm")
            if (place := place_of(name)) is not None
        }
        self._content = self._stamp()

    def check(self) -> None:
        """Compare the files at the paths with those that were opened.

        Raises
        ------
        InputError
            If one of them was deleted, moved or replaced.

        """
        for name, place in self._places.items():
            found = place_of(name)
            if found != place:
                what = "deleted or moved" if found is None else "replaced by another file"
                which = "" if name == self.path else f"{os.path.basename(name)} "
                raise InputError(
                    f"{which}was {what} while the page was running; nothing more is saved",
                    expected="the file that was opened", path=self._shown,
                    hint="Put it back, or stop the page and start it again",
                )  # fmt: skip

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns

    def is_changed(self) -> bool:
        """Return whether the database file was written to since `note_content`."""
        return self._stamp() != self._content

    def note_content(self) -> None:
        """Take the database file as it is now for known: this process wrote it, or checked it."""
        self._content = self._stamp()
