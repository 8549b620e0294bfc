"""Evaluation of parts on a Dask cluster: one on this machine, or one that runs already."""

from __future__ import annotations

import logging
import os
import pickle
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from leadline.data.optional import import_optional
from leadline.errors import MissingPackageError, UsageError
from leadline.io.opening import Buffers
from leadline.scale.process_pool import ATTEMPTS, Fault, Unit, Work, read_work, write_work

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
) -> Iterator[tuple[Unit, Any]]:
    """Yield every unit with its outcome, in the order in which they are finished.

    Every worker process keeps one copy of the judgments, also one that is started in place of another.
    """
    distributed = _distributed()
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
            raise UsageError(
                f"dask{'' if address is None else f':{address}'} does not respond ({error}). Check whether a "
                "scheduler is running."
            ) from None
        try:
            with tempfile.TemporaryDirectory(prefix="leadline-", ignore_cleanup_errors=True) as folder:
                payload = _payload(work, folder if address is None else None)
                yield from _mapped(distributed, client, payload, units)
        finally:
            client.close()
            if cluster is not None:
                cluster.close(timeout=5)


def _payload(work: Work, folder: str | None) -> bytes | str:
    """Return the judgments as bytes, which pass through the scheduler, or as the path of a file in a folder.

    Workers on this machine read the file, so that neither the client nor the scheduler holds copies of it.
    """
    if folder is None:
        return pickle.dumps(work, protocol=pickle.HIGHEST_PROTOCOL)
    return write_work(work, folder)


def _mapped(
    distributed: Any, client: Any, payload: bytes | str, units: Iterable[Unit]
) -> Iterator[tuple[Unit, Any]]:
    key = f"leadline-{uuid.uuid4().hex}"
    client.register_plugin(_plugin(distributed, key, payload))
    following = iter(units)
    of_future: dict[str, Unit] = {}
    attempts: dict[tuple[int, int], int] = {}

    def submitted(unit: Unit) -> Any:
        future = client.submit(held_outcome, key, unit.source, unit.label, pure=False)
        of_future[future.key] = unit
        return future

    try:
        threads = max(1, sum(client.nthreads().values()))
        done = distributed.as_completed([submitted(unit) for unit in islice(following, AHEAD * threads)])
        for future in done:
            unit = of_future.pop(future.key)
            outcome = _outcome(distributed, future)
            future.release()
            if isinstance(outcome, Fault) and outcome.error is None:
                place = unit.run, unit.part
                times = attempts[place] = attempts.get(place, 0) + 1
                if times < ATTEMPTS and not outcome.text.startswith("failed"):
                    done.add(submitted(unit))
                    continue
            more = next(following, None)
            if more is not None:
                done.add(submitted(more))
            yield unit, outcome
    finally:
        client.unregister_worker_plugin(key)


def _outcome(distributed: Any, future: Any) -> Any:
    try:
        return future.result()
    except distributed.KilledWorker:
        return Fault(None, f"failed {ATTEMPTS} times (the worker process ended)")
    except Exception as error:  # noqa: BLE001  # tried again, then named
        return Fault(None, f"{type(error).__name__}: {error}")


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


def _distributed() -> Any:
    try:
        return import_optional("distributed")
    except MissingPackageError:
        raise MissingPackageError(
            'dask is not installed. Install it with `pip install "leadline[dask]"`.'
        ) from None
