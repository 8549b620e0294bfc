"""A pool of worker processes; a worker that is killed costs the part it was working on."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from leadline.errors import LeadlineError
from leadline.io.opening import Buffers

ALIGNED = 64  # bytes of which arrays in a file begin at a multiple
ATTEMPTS = 3  # times that a part is tried before it is given up


class Work(NamedTuple):
    """What workers do: a function of a module, and what it needs for all parts, of which a worker has a copy.

    The function is called as `function(held, source, label=..., workspaces=...)`.
    """

    function: Callable[..., Any]
    held: Any

    def outcome(self, source: Any, label: str, workspaces: list[Buffers]) -> Any:
        """Return the outcome of a part, or an error of the input as a fault."""
        try:
            return self.function(self.held, source, label=label, workspaces=workspaces)
        except LeadlineError as error:
            return Fault(error, str(error))


def write_work(work: Work, folder: str) -> str:
    """Write work to a file in a folder, its arrays as they are in memory; return the path."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(work, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    path = os.path.join(folder, "work")
    with open(path, "wb") as file:
        parts: list[bytes | memoryview] = [head, *(buffer.raw() for buffer in buffers)]
        pickle.dump([len(part) for part in parts], file)
        for part in parts:
            file.write(bytes(-file.tell() % ALIGNED))
            file.write(part)
    return path


def read_work(path: str) -> Work:
    """Return what `write_work` has written; all processes of a machine share the memory of its arrays."""
    with open(path, "rb") as file:
        sizes = pickle.load(file)  # noqa: S301  # of the parent
        place = file.tell()
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    parts = []
    for size in sizes:
        place += -place % ALIGNED
        parts.append(view[place : place + size])
        place += size
    work: Work = pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301  # of the parent
    return work


class Unit(NamedTuple):
    """A part of a run to evaluate: the numbers of the run and of the part, the part, and its label."""

    run: int
    part: int
    source: Any
    label: str


class Fault(NamedTuple):
    """Why a part has no values: an error of the input, or what happened three times."""

    error: LeadlineError | None
    text: str


class _Worker:
    """A worker process, its connection, and the part it works on."""

    def __init__(self, context: Any, path: str) -> None:
        self.connection, remote = context.Pipe()
        self.process = context.Process(target=serve, args=(remote, path), daemon=True)
        self.process.start()
        remote.close()
        self.unit: Unit | None = None

    def send(self, unit: Unit) -> None:
        """Hand over a part."""
        self.unit = unit
        self.connection.send((unit.source, unit.label))

    def end(self) -> None:
        """End the process now."""
        self.connection.close()
        self.process.terminate()
        self.process.join()


def serve(connection: Connection, path: str) -> None:
    """Work on parts until the connection ends; runs in a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    work = read_work(path)
    workspaces = [Buffers()]
    while True:
        try:
            source, label = connection.recv()
        except EOFError:
            return
        try:
            outcome = work.outcome(source, label, workspaces)
        except Exception as error:  # noqa: BLE001  # tried again, then named by the parent
            outcome = Fault(None, f"{type(error).__name__}: {error}")
        connection.send(outcome)


def map_processes(work: Work, units: Iterable[Unit], workers: int) -> Iterator[tuple[Unit, Any]]:
    """Yield every unit with its outcome, in the order in which they are finished.

    Errors of the input are not tried again. Workers are ended when the iterator is closed or fails.
    """
    context = multiprocessing.get_context("spawn")
    folder = tempfile.TemporaryDirectory(prefix="leadline-", ignore_cleanup_errors=True)
    path = ""
    following = iter(units)
    again: deque[Unit] = deque()
    attempts: dict[tuple[int, int], int] = {}
    pool: list[_Worker] = []

    def give(worker: _Worker | None = None) -> None:
        """Hand the next unit to a worker, or to a new one."""
        unit = again.popleft() if again else next(following, None)
        if unit is None:
            return
        if worker is None:
            worker = _Worker(context, path)
            pool.append(worker)
        with suppress(OSError):  # it died while idle, which is found below
            worker.send(unit)

    def retried(unit: Unit, text: str) -> Fault | None:
        """Queue a unit again; a fault if it has failed too often."""
        key = unit.run, unit.part
        attempts[key] = attempts.get(key, 0) + 1
        if attempts[key] < ATTEMPTS:
            again.append(unit)
            return None
        return Fault(None, f"failed {ATTEMPTS} times ({text})")

    try:
        path = write_work(work, folder.name)
        for _ in range(workers):
            give()
        while any(worker.unit is not None for worker in pool):
            busy = [worker for worker in pool if worker.unit is not None]
            wait([each for worker in busy for each in (worker.connection, worker.process.sentinel)])
            for worker in busy:
                unit = worker.unit
                assert unit is not None
                outcome = _outcome(worker)
                if outcome is None:
                    continue
                dead = worker.unit is not None
                if dead:
                    pool.remove(worker)
                    worker.end()
                if isinstance(outcome, Fault) and outcome.error is None:
                    outcome = retried(unit, outcome.text)
                give(None if dead else worker)
                if outcome is not None:
                    yield unit, outcome
    finally:
        for worker in pool:
            worker.end()
        folder.cleanup()


def _outcome(worker: _Worker) -> Any:
    """Return what a worker sent; a fault, with its unit left in place, if it died; None if it still works."""
    try:
        if worker.connection.poll():
            outcome = worker.connection.recv()
            worker.unit = None
            return outcome
    except (EOFError, OSError, pickle.UnpicklingError):
        worker.process.join()
    if worker.process.exitcode is None:
        return None
    code = worker.process.exitcode
    how = f"by signal {-code}" if code < 0 else f"with status {code}"
    return Fault(None, f"the worker process ended {how}")
