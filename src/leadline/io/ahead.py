"""What runs on other threads: calls in the background, and judgments scanned while a command loads.

NumPy takes longer to load than many judgments to scan, so nothing here needs it.
"""

from __future__ import annotations

import _thread
import math
import os
from array import array
from collections.abc import Callable, Generator
from typing import Generic, NamedTuple, ParamSpec, TypeVar

from leadline import kernels
from leadline.io.read_paths import STANDARD_STREAM, State, state_of

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class BackgroundTask(Generic[T]):
    """A call that runs on another thread.

    >>> call = BackgroundTask(pow, 2, 10)
    >>> call.result()
    1024
    """

    def __init__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> None:
        self._results: list[T] = []
        self._faults: list[BaseException] = []

        def run() -> None:
            try:
                self._results.append(function(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001  # raised again by `result`
                self._faults.append(error)

            finally:
                self._running.release()

        self._running = _thread.allocate_lock()
        self._running.acquire()
        try:
            _thread.start_new_thread(run, ())
        except RuntimeError:  # no more threads
            run()

    def wait(self) -> None:
        """Wait for the end of the call and ignore its outcome."""
        with self._running:
            pass

    def result(self) -> T:
        """Wait for the end of the call; return its value or raise its exception."""
        self.wait()
        if self._faults:
            raise self._faults[0]
        return self._results[0]


def computed_ahead(
    step: Callable[[S], tuple[T, S | None]], state: S, *, background: bool
) -> Generator[T, None, None]:
    """Yield the result of every step; in the background, the next is computed while one is in use.

    A step returns its result and the state of the next one, None after the last.

    >>> list(computed_ahead(lambda n: (n, n - 1 if n else None), 3, background=True))
    [3, 2, 1, 0]
    """
    result, following = step(state)
    while following is not None:
        if not background:
            yield result
            result, following = step(following)
            continue
        task = BackgroundTask(step, following)
        try:
            yield result
        except GeneratorExit:
            task.wait()  # what the step reads is closed on the way out
            raise
        result, following = task.result()
    yield result


def _powers() -> array[float]:
    """Return the powers of ten and of two that the list kernel uses, as they are laid out there.

    >>> _powers()[:3].tolist(), len(_powers())
    ([1.0, 10.0, 100.0], 1340)
    """
    found = array("d", [float(10**exponent) for exponent in range(23)])
    for exponent in range(-64, 65):
        ten = 10 ** abs(exponent)
        wide = ten << 512 if exponent >= 0 else (1 << 1024) // ten
        wide >>= wide.bit_length() - 128
        found.extend([(wide >> shift) & 0xFFFFFFFF for shift in (96, 64, 32, 0)])
    found.extend([math.ldexp(1.0, exponent) for exponent in range(-400, 401)])
    return found


POWERS = _powers()
SHORTEST_LINE = 8  # "q 0 d 1\n"
# What the compiled scan fills, in the order of its arguments.
COLUMNS = (
    *("start", "stop", "hashes", "values", "ranks"),
    *("bounds", "query_start", "query_stop", "list_line", "list_byte"),
)
VALUES, RANKS = 3, 4
LEAST, MOST = 1 << 20, 1 << 24  # bytes of judgments: less takes no time, more too much memory at once


class Scan(NamedTuple):
    """The text of judgments and what the compiled scan filled, in bytes."""

    text: memoryview
    columns: dict[str, memoryview]
    tally: list[int]


_begun: dict[str, tuple[State, BackgroundTask[Scan | None]]] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begun.clear)  # a child has no thread that ends a scan


def begin(path: str) -> None:
    """Begin to scan judgments that a command is about to read."""
    state = None if path == STANDARD_STREAM else state_of(path)
    if state is None or not LEAST <= state[1] <= MOST:
        return
    if kernels.compiled is not None and not _is_limited():
        _begun[path] = state, BackgroundTask(_scan, path, state[1])


def _is_limited() -> bool:
    """Return whether the memory of this process is limited: what a scan reserves may be missing elsewhere."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def taken(path: str) -> Scan | None:
    """Return the scan of judgments that has begun; None if there is none, or it cannot be used."""
    if path not in _begun:
        return None
    state, task = _begun.pop(path)
    found = task.result()
    return found if state_of(path) == state else None


def _scan(path: str, size: int) -> Scan | None:
    """Scan a whole text; None if it is not clean or cannot be read: whoever reads it then says why."""
    assert kernels.compiled is not None
    room, end = (size + 1) // SHORTEST_LINE + 2, 0
    try:
        text = memoryview(kernels.reserved(size + 1))
        columns = {name: memoryview(kernels.reserved(8 * room, huge=False)) for name in COLUMNS}
        with open(path, "rb", buffering=0) as file:
            while read := file.readinto(text[end:]):
                end += read
    except (OSError, MemoryError):
        return None
    if end != size or not text[:1].tobytes().isalnum():  # another size, a remark, a byte order mark
        return None
    if text[end - 1] != ord("\n"):
        text[end] = ord("\n")
        end += 1
    typed: list[memoryview[int] | memoryview[float]] = [column.cast("q") for column in columns.values()]
    typed[VALUES], typed[RANKS] = columns["values"].cast("d"), columns["ranks"].cast("i")
    tally = array("q", bytes(8 * 8))
    clean = kernels.compiled.scan(text, 0, end, 1, False, True, POWERS, *typed, tally)
    return Scan(text[:end], columns, tally.tolist()) if clean else None
