"""Refuse a file that another program writes to while it is read, so that no value comes of half a run."""

from __future__ import annotations

import io
import os
import stat
from typing import TypeAlias

from leadline.errors import InputError

State: TypeAlias = tuple[int, int, int]


class Watch:
    """The state of a file when its reading begins; pipes have none, and are never refused.

    Parameters
    ----------
    path : str
        The file.
    descriptor : int, optional
        That of the file, if it is open.
    """

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        self.path = path
        self.target: str | int = path if descriptor is None else descriptor
        self.begun = _state(self.target)

    def check(self) -> None:
        """Refuse the file if its size or time has changed; another file of its name is no change."""
        now = _state(self.target)
        if self.begun is not None and now is not None and self.begun != now and self.begun[0] == now[0]:
            raise InputError("was written to while it was read", expected="a finished file", path=self.path)


class SteadyFile(io.FileIO):
    """A file that is checked when a reader reaches its end."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self.watch = Watch(path, self.fileno())

    def readinto(self, target: memoryview) -> int | None:  # type: ignore[override]  # narrower than Buffer
        """Read into a buffer."""
        size = super().readinto(target)
        if not size:
            self.watch.check()
        return size

    def read(self, size: int | None = -1) -> bytes:
        """Return some bytes, all without a size."""
        found = super().read(-1 if size is None else size)
        if not found:
            self.watch.check()
        return found


def _state(target: str | int) -> State | None:
    """Return the number of a file, its size and the time it was written; None for anything else."""
    try:
        found = os.stat(target)
    except (OSError, ValueError):
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
