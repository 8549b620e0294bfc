"""Where parts are evaluated: threads of this process, worker processes, or a Dask cluster."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from leadline import kernels
from leadline.errors import UsageError
from leadline.evaluation.evaluate import Evaluation
from leadline.io.opening import Buffers
from leadline.scale.partial import Partial, evaluate_part
from leadline.scale.process_pool import Fault, Unit, Work, map_processes

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
    ) -> Iterator[tuple[Unit, Partial | Fault]]:
        """Yield every unit with its values, in the order in which they are finished."""
        if kernels.compiled is not None and self.kind != "local" and self.address is None:
            evaluation.qrels.slots  # noqa: B018  # hash tables, which the workers of this machine share
        return self.map(Work(evaluate_part, evaluation), units)

    def map(self, work: Work, units: Iterable[Unit]) -> Iterator[tuple[Unit, Any]]:
        """Yield every unit with its outcome, or a fault, in the order in which they are finished."""
        if self.kind == "processes":
            return map_processes(work, units, self.workers or os.cpu_count() or 1)
        if self.kind == "dask":
            from leadline.scale.dask_engine import map_dask

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
    raise UsageError(f"engine {text!r} is not valid. Use {FORMS} (N at most {MOST_WORKERS}).")


def map_threads(work: Work, units: Iterable[Unit]) -> Iterator[tuple[Unit, Any]]:
    """Work on units by threads of this process; kernels and NumPy release the GIL.

    The first part is evaluated alone: it fills the caches of the judgments. As few parts are read ahead as
    there are threads.
    """
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
    if count < 2:
        for unit in following:
            yield unit, outcome(unit)
        return
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
