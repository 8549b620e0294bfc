"""The files that one command reads, so that none of its outputs replaces an input.

Every input reader records the files it opens, and the command line declares the outputs that were asked for;
whichever comes second is refused. Files are compared by device and inode, so a symbolic link, a hard link,
another spelling of the path and a redirected standard input or output are the same file. Python callers are
not recorded: a program may write to a file that it has read.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeAlias

from leadline.errors import UsageError

STANDARD_STREAM = "-"
Identity: TypeAlias = tuple[int, int]


class ReadPaths:
    """The inputs and the declared outputs of one command, by device and inode."""

    def __init__(self) -> None:
        self.inputs: dict[Identity, str] = {}
        self.outputs: dict[Identity, str] = {}

    def add_input(self, path: str) -> None:
        """Record a file that is read; refuse one that an output would replace."""
        identity = _identity(path)
        if identity is None:
            return
        self.inputs[identity] = path  # first, so that a caller who goes on cannot write either
        if identity in self.outputs:
            raise _refusal(self.outputs[identity], path)

    def add_output(self, path: str) -> None:
        """Declare a file that will be written; refuse one that has been read."""
        self.check_output(path)
        identity = _identity(path, output=True)
        if identity is not None:
            self.outputs[identity] = path

    def check_output(self, path: str) -> None:
        """Refuse to write to a file that has been read."""
        identity = _identity(path, output=True)
        if identity is not None and identity in self.inputs:
            raise _refusal(path, self.inputs[identity])


_current: list[ReadPaths] = []


@contextmanager
def recorded() -> Iterator[ReadPaths]:
    """Record the files of one command; standard output is declared when it is a file."""
    _current.append(ReadPaths())
    try:
        _current[-1].add_output(STANDARD_STREAM)
        yield _current[-1]
    finally:
        _current.pop()


def record_input(path: str) -> None:
    """Record that the running command reads a file (or `-`); refuse one of its outputs."""
    if _current:
        _current[-1].add_input(path)


def declare_output(path: str) -> None:
    """Declare that the running command will write to a file; refuse one of its inputs."""
    if _current:
        _current[-1].add_output(path)


def check_outputs(*paths: str) -> None:
    """Refuse to write when any of some files is an input of the running command."""
    if _current:
        for path in paths:
            _current[-1].check_output(path)


def _identity(path: str, *, output: bool = False) -> Identity | None:
    """Return device and inode of a regular file; None for anything else."""
    with suppress(OSError, ValueError):  # no such file; a stream without a descriptor
        if path == STANDARD_STREAM:
            found = os.fstat((sys.stdout if output else sys.stdin).fileno())
        else:
            found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_dev, found.st_ino
    return None


def _refusal(output: str, path: str) -> UsageError:
    written = "standard output" if output == STANDARD_STREAM else output
    read = "standard input" if path == STANDARD_STREAM else path
    same = "" if written == read else f" ({read})"
    return UsageError(f"{written} would overwrite an input{same}; expected another file")
