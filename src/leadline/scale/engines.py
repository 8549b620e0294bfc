"""Where parts are evaluated: threads of this process, worker processes, or a Dask cluster."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from leadline import kernels
from leadline.data.optional import import_optional
from leadline.errors import LeadlineError, UsageError
from leadline.evaluation.evaluate import Evaluation
from leadline.io.opening import Buffers
from leadline.scale.run_parts import Partial, evaluate_part

ALIGNED = 64  # bytes of which arrays in a file begin at a multiple
ATTEMPTS = 3  # times that a part is tried before it is given up


class Work(NamedTuple):
    """What workers do: `function(held, source, label=..., workspaces=...)`, with a copy of what it holds."""

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


def map_processes(work: Work, units: Iterable[Unit], workers: int) -> Generator[tuple[Unit, Any]]:
    """Yield units with their outcomes as they are finished; workers end when the iterator is closed."""
    context = multiprocessing.get_context("spawn")
    folder = tempfile.TemporaryDirectory(prefix="leadline-", ignore_cleanup_errors=True)
    path = ""
    following = iter(units)
    tried = Counter[tuple[int, int]]()
    pool: list[_Worker] = []

    def give(unit: Unit | None, worker: _Worker | None = None) -> None:
        """Hand a unit to a worker, or to a new one."""
        if unit is None:
            return
        if worker is None:
            worker = _Worker(context, path)
            pool.append(worker)
        with suppress(OSError):  # it died while idle, which is found below
            worker.send(unit)

    try:
        path = write_work(work, folder.name)
        for _ in range(workers):
            give(next(following, None))
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
                failed = isinstance(outcome, Fault) and outcome.error is None
                tried[unit.run, unit.part] += failed
                again = failed and tried[unit.run, unit.part] < ATTEMPTS
                give(unit if again else next(following, None), None if dead else worker)
                if not again:
                    yield (
                        unit,
                        Fault(None, f"failed {ATTEMPTS} times ({outcome.text})") if failed else outcome,
                    )
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
    how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
    return Fault(None, f"the worker process {how}")


AHEAD = 2  # units that are handed out for each thread of the cluster
# Of a cluster of our own, whose profiler and monitors, a tenth of a processor, nobody looks at.
QUIET = {
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
}
_held: dict[str, tuple[Work, list[Buffers]]] = {}  # of this process, by the name of the plugin


def map_dask(
    work: Work, units: Iterable[Unit], workers: int | None, address: str | None
) -> Generator[tuple[Unit, Any]]:
    """Yield units with their outcomes as they are finished; each worker process has one copy of the work."""
    import logging

    distributed = import_optional("distributed")
    cluster = None
    settings = {
        "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
        "distributed.logging.distributed": "error",
    } | (QUIET if address is None else {})
    with import_optional("dask").config.set(settings):
        if address is None:
            cluster = distributed.LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
        try:
            client = distributed.Client(cluster if address is None else address, timeout=30)
        except OSError as error:
            hint = "Use --engine processes." if address is None else "Check that the scheduler is running."
            raise UsageError(
                f"dask{'' if address is None else f':{address}'} does not respond ({error}). {hint}"
            ) from None
        try:
            with tempfile.TemporaryDirectory(prefix="leadline-", ignore_cleanup_errors=True) as folder:
                # Workers on this machine read a file: neither client nor scheduler holds copies of it.
                payload: bytes | str = (
                    write_work(work, folder)
                    if address is None
                    else pickle.dumps(work, protocol=pickle.HIGHEST_PROTOCOL)
                )
                yield from _mapped(distributed, client, payload, units)
        finally:
            client.close()
            if cluster is not None:
                cluster.close(timeout=5)


def _mapped(
    distributed: Any, client: Any, payload: bytes | str, units: Iterable[Unit]
) -> Generator[tuple[Unit, Any]]:
    key = f"leadline-{os.urandom(16).hex()}"
    client.register_plugin(_plugin(distributed, key, payload))
    following = iter(units)
    of_future: dict[str, Unit] = {}

    def submitted(unit: Unit) -> Any:
        future = client.submit(held_outcome, key, unit.source, unit.label, pure=False, retries=ATTEMPTS - 1)
        of_future[future.key] = unit
        return future

    try:
        threads = max(1, sum(client.nthreads().values()))
        done = distributed.as_completed([submitted(unit) for unit in islice(following, AHEAD * threads)])
        for future in done:
            unit = of_future.pop(future.key)
            try:
                outcome = future.result()
            except distributed.KilledWorker as error:  # a cluster has its own number of attempts
                outcome = Fault(None, f"failed {error.allowed_failures + 1} times (the worker process ended)")
            except Exception as error:  # noqa: BLE001  # whatever a part raised, each time
                outcome = Fault(None, f"failed {ATTEMPTS} times ({type(error).__name__}: {error})")
            future.release()
            more = next(following, None)
            if more is not None:
                done.add(submitted(more))
            yield unit, outcome
    finally:
        client.unregister_worker_plugin(key)


def held_outcome(key: str, source: Any, label: str) -> Any:
    """Work on a part with the judgments that this worker keeps."""
    work, workspaces = _held[key]
    return work.outcome(source, label, workspaces)


def hold(key: str, payload: bytes | str) -> None:
    """Keep judgments in this process, in place of any others."""
    _held.clear()
    work = pickle.loads(payload) if isinstance(payload, bytes) else read_work(payload)  # noqa: S301  # of the client
    _held[key] = work, [Buffers()]


def release(key: str) -> None:
    """Let go of the judgments; a function of the module, as the plugin is pickled with what it refers to."""
    _held.pop(key, None)


def _plugin(distributed: Any, key: str, payload: bytes | str) -> Any:
    """Return a plugin that hands the judgments to every worker, also to those that start later."""

    class Judgments(distributed.WorkerPlugin):  # type: ignore[misc]  # Dask is optional
        """Judgments of a worker."""

        name = key

        def setup(self, worker: Any) -> None:  # noqa: ARG002  # Dask's interface
            """Keep the judgments."""
            hold(key, payload)

        def teardown(self, worker: Any) -> None:  # noqa: ARG002  # Dask's interface
            """Let go of them."""
            release(key)

    return Judgments()


FORMS = "local, processes, processes:N, dask, dask:N or dask:tcp://HOST:PORT"
MOST_WORKERS = 1024


class Engine(NamedTuple):
    """Where parts are evaluated: the kind, the number of workers, and the address of a cluster."""

    kind: str
    workers: int | None = None
    address: str | None = None

    def __str__(self) -> str:
        more = self.address or self.workers
        return self.kind if more is None else f"{self.kind}:{more}"

    def evaluate(
        self, evaluation: Evaluation, units: Iterable[Unit]
    ) -> Generator[tuple[Unit, Partial | Fault]]:
        """Yield every unit with its values, in the order in which they are finished."""
        if kernels.compiled is not None and self.kind != "local" and self.address is None:
            evaluation.qrels.slots  # noqa: B018  # hash tables, which the workers of this machine share
        return self.map(Work(evaluate_part, evaluation), units)

    def map(self, work: Work, units: Iterable[Unit]) -> Generator[tuple[Unit, Any]]:
        """Yield every unit with its outcome, or a fault, in the order in which they are finished."""
        if self.kind == "processes":
            return map_processes(work, units, self.workers or os.cpu_count() or 1)
        if self.kind == "dask":
            return map_dask(work, units, self.workers, self.address)
        return map_threads(work, units)


def engine_of(text: str) -> Engine:
    """Return the engine that a text names.

    >>> engine_of("processes:2"), str(engine_of("dask:tcp://host:8786"))
    (Engine(kind='processes', workers=2, address=None), 'dask:tcp://host:8786')
    """
    kind, colon, more = text.partition(":") if isinstance(text, str) else ("", "", "")
    workers = int(more) if more.isascii() and more.isdigit() and len(more) < 5 else 0
    if kind == "dask" and more.startswith(("tcp://", "tls://", "ucx://", "ws://", "wss://")):
        return Engine(kind, address=more)
    if not colon and kind in ("local", "processes", "dask"):
        return Engine(kind)
    if kind in ("processes", "dask") and 1 <= workers <= MOST_WORKERS:
        return Engine(kind, workers)
    raise UsageError(f"engine {text!r} is not valid. Use {FORMS} (N from 1 to {MOST_WORKERS}).")


def map_threads(work: Work, units: Iterable[Unit]) -> Generator[tuple[Unit, Any]]:
    """Work on units by threads; kernels and NumPy release the GIL. The first unit fills the caches, alone."""
    own = threading.local()
    count = os.cpu_count() or 1

    def outcome(unit: Unit) -> Any:
        if not hasattr(own, "workspaces"):
            own.workspaces = [Buffers()]
        return work.outcome(unit.source, unit.label, own.workspaces)

    following = iter(units)
    first = next(following, None)
    if first is None:
        return
    yield first, work.outcome(first.source, first.label, [Buffers() for _ in range(min(2, count))])
    from concurrent.futures import Future, ThreadPoolExecutor

    pool = ThreadPoolExecutor(count)
    futures: deque[tuple[Unit, Future[Any]]] = deque()
    try:
        for unit in following:
            futures.append((unit, pool.submit(outcome, unit)))
            if len(futures) > count:
                done, future = futures.popleft()
                yield done, future.result()
        while futures:
            done, future = futures.popleft()
            yield done, future.result()
    finally:
        pool.shutdown(cancel_futures=True)
