"""The files that a command or a public function reads: no output replaces them, and they may not change.

Every input reader records the files it opens, and the command line declares the outputs that were asked for;
whichever comes second is refused. Files are compared by device and inode, so a symbolic link, a hard link,
another spelling of the path and a redirected standard input or output are the same file. Run, qrels and
results remember the files that they were made of; a program may write to any other file. A file that another
program writes to while it is read is refused, so that no value comes of half a run.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, BinaryIO, ParamSpec, TypeAlias, TypeVar, cast

from leadline.data.validation import check_arguments, name_keywords, with_keywords
from leadline.errors import InputError, LeadlineError, UsageError

P = ParamSpec("P")
T = TypeVar("T")

STANDARD_STREAM = "-"
Identity: TypeAlias = tuple[int, int]
State: TypeAlias = tuple[int, int, int]


class ReadPaths:
    """The inputs and the declared outputs of one command, by device and inode."""

    def __init__(self) -> None:
        self.inputs: dict[Identity, str] = {}
        self.outputs: dict[Identity, str] = {}
        self.copies: dict[str, BinaryIO] = {}  # of pipes, for every reading
        self.of_command = False

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

    def close(self) -> None:
        """Close the copies of pipes."""
        for copy in self.copies.values():
            copy.close()


_current: list[ReadPaths] = []  # that of a command, and those of the calls that are under way


@contextmanager
def recorded() -> Iterator[ReadPaths]:
    """Record the files of one command; standard output is declared when it is a file."""
    with _recording() as record:
        record.of_command = True
        record.add_output(STANDARD_STREAM)
        yield record


@contextmanager
def _recording() -> Iterator[ReadPaths]:
    record = ReadPaths()
    _current.append(record)
    try:
        yield record
    finally:
        _current.remove(record)
        record.close()


def pipe_copies() -> dict[str, BinaryIO]:
    """Return the copies of pipes of the running command or outermost call; none are kept outside of one."""
    return _current[0].copies if _current else {}


def warn_in_python(result: object, function: Callable[..., Any]) -> None:
    """Let the warnings of a result name keywords of a function, not options of the command line."""
    import dataclasses

    words = vars(function).get("words_of", function)
    vars(result)["warnings"] = [
        dataclasses.replace(one, message=with_keywords(one.message, words))
        for one in vars(result)["warnings"]
    ]


def worded_here(notes: Iterable[str], made_by: str, method: Callable[..., Any]) -> list[str]:
    """Return notes that name keywords, except in a command: those of what made a result, or of a method."""
    if _current and _current[0].of_command:
        return list(notes)
    maker = getattr(sys.modules["leadline"], made_by, method)  # a saved one may be of another version
    return [with_keywords(with_keywords(note, maker), method) for note in notes]


def _named(values: Iterator[T], function: Callable[..., Any]) -> Iterator[T]:
    """Yield what a public generator yields, from one copy of a pipe; its refusals name keywords."""
    record, end = ReadPaths(), object()

    def advance() -> Any:
        _current.append(record)
        try:
            return next(values, end)
        finally:
            _current.remove(record)

    try:
        yield from iter(advance, end)
    except LeadlineError as error:
        name_keywords(error, function)
        raise
    finally:
        record.close()


def with_words_of(other: Callable[..., Any]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let the warnings of a public function name the keywords of another one, which made its arguments."""

    def marked(function: Callable[P, T]) -> Callable[P, T]:
        vars(function)["words_of"] = other
        return function

    return marked


def public(function: Callable[P, T]) -> Callable[P, T]:
    """Let the result of a public function remember the files it is made of.

    Where the function fails with another error than a refusal, arguments that do not fit or are of a wrong
    type are refused. Refusals and warnings name keywords of the function, not options of the command line.
    Keywords may be NumPy numbers.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        outermost = not _current  # neither a command nor another public function called this one
        with _recording() as record:
            try:
                found = function(*args, **{name: _plain(name, value) for name, value in kwargs.items()})
            except LeadlineError as error:
                if outermost:
                    name_keywords(error, function, *args, **kwargs)
                    if getattr(error, "results", None) is not None:  # of the parts that did not fail
                        warn_in_python(vars(error)["results"], function)
                raise
            except Exception as error:
                from leadline.data.reading import refuse_unfit  # loads NumPy

                if isinstance(error, TypeError):
                    refuse_unfit(function, args, kwargs)
                check_arguments(function, args, kwargs)
                raise
            if outermost and isinstance(found, Generator):
                return cast("T", _named(found, function))
        if _has_sources(found):
            read = [os.path.abspath(path) for path in record.inputs.values() if path != STANDARD_STREAM]
            sources = tuple(dict.fromkeys([*read, *_sources([found, *args, *kwargs.values()])]))
            for each in filter(_has_sources, (found, vars(found).get("results"))):
                vars(each)["sources"] = sources
                if hasattr(each, "_made_by"):
                    vars(each)["_made_by"] = vars(function).get("words_of", function).__name__
                if outermost and vars(each).get("warnings"):
                    warn_in_python(each, function)
        return found

    return call


def _plain(name: str, value: Any) -> Any:
    """Return a NumPy number as one of Python, which JSON can hold, and ids that are read twice as a list."""
    if name == "queries_in" and isinstance(value, Iterator):
        return list(value)
    return value.item() if getattr(value, "shape", None) == () else value


def _has_sources(value: object) -> bool:
    """Return whether a value is a run, qrels or a result, which remember files."""
    return hasattr(type(value), "sources")


def _sources(values: Iterable[Any]) -> Iterator[str]:
    """Yield the files of which arguments, or the members of lists and dictionaries, were made."""
    for value in values:
        if _has_sources(value):
            yield from value.sources
        elif isinstance(value, (list, tuple, Mapping)):
            members = value.values() if isinstance(value, Mapping) else value
            yield from _sources(filter(_has_sources, members))


def remember_inputs(result: object, inputs: list[dict[str, Any]]) -> None:
    """Let a restored result remember the files that it is made of; the running command replaces none."""
    paths = [info["path"] for info in inputs if info["path"] not in ("", STANDARD_STREAM)]
    for path in paths:
        record_input(path)
    for each in filter(_has_sources, (result, vars(result).get("results"))):
        vars(each).update(sources=tuple(map(os.path.abspath, paths)), _saved_inputs=inputs)


def refuse_sources(path: str, sources: Iterable[str]) -> None:
    """Refuse to write to a file that a run, qrels or a result was made of."""
    identity = _identity(path, output=True)
    for source in sources:
        if identity is not None and identity == _identity(source):
            raise _refusal(path, path)


def path_of(source: object) -> str:
    """Return the path of an input; empty if it is in memory."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""


def shown(source: object) -> str | None:
    """Return what stands for a source among the options of a result: its path, or where it was.

    >>> shown("docs.jsonl"), shown({"d1": "wings"}), shown(None)
    ('docs.jsonl', 'in memory', None)
    """
    return None if source is None else path_of(source) or "in memory"


def record_input(path: str) -> None:
    """Record that a file (or `-`) is read; refuse one of the outputs of the running command."""
    try:
        impossible = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        impossible = True
    if impossible:
        raise InputError("is not a valid file name", path=ascii(path))
    identity = _identity(path)
    for record in tuple(_current):
        if identity is not None:
            record.inputs[identity] = path  # first, so that a caller who goes on cannot write either
            if identity in record.outputs:
                raise _refusal(record.outputs[identity], path)


def release_input(path: str) -> None:
    """Allow the running command to replace a file that it has read."""
    identity = _identity(path)
    for record in tuple(_current):
        if identity is not None:
            record.inputs.pop(identity, None)


def declare_output(path: str) -> None:
    """Declare that the running command will write to a file; refuse one of its inputs."""
    if _current:
        _current[0].add_output(path)


def check_outputs(*paths: str) -> None:
    """Refuse to write when any of some files is an input of the running command or call."""
    for record in tuple(_current):
        for path in paths:
            record.check_output(path)


def _identity(path: str, *, output: bool = False) -> Identity | None:
    """Return device and inode of a regular file; None for anything else."""
    with suppress(OSError, ValueError, AttributeError):  # no such file; a stream that is closed
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
    return UsageError(f"writing to {written} would overwrite an input{same}. Choose a different output file")


class Watch:
    """The state of a file when its reading begins; pipes have none, and are never refused."""

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        self.path = path
        self.target: str | int = path if descriptor is None else descriptor
        self.begun = state_of(self.target)

    def check(self) -> None:
        """Refuse the file if its size or time has changed; another file of its name is no change."""
        now = state_of(self.target)
        if self.begun is not None and now is not None and self.begun != now and self.begun[0] == now[0]:
            raise InputError(
                "changed while it was being read",
                path=self.path,
                hint="Wait until the file is complete and try again",
            )


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


def state_of(target: str | int) -> State | None:
    """Return the number of a file, its size and the time it was written; None for anything else."""
    try:
        found = os.stat(target)
    except (OSError, ValueError):
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
