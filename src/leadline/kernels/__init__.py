"""Hot loops: pure functions over arrays, compiled where possible.

`list_kernel.c`, `scan_records`, `lists` and `pairs` are compiled at installation if there is a C compiler;
`plain` is ordinary Python with the same results. `compiled` holds the compiled functions; it is None if there
are none or `LEADLINE_PURE=1` is set. `parallel_map` runs them on several threads.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


class Kernels(NamedTuple):
    """The functions of `list_kernel`, `scan_records`, `lists` and `pairs`."""

    scan: Callable[..., Any]
    hash_ids: Callable[..., Any]
    pack: Callable[..., Any]
    fill_slots: Callable[..., Any]
    match: Callable[..., Any]
    arrange: Callable[..., Any]
    joint_tables: Callable[..., Any]
    common_orders: Callable[..., Any]
    # What builds of earlier versions lack is None there; its callers have another way.
    plane_tables: Callable[..., Any] | None
    biased_overlaps: Callable[..., Any] | None
    number_ids: Callable[..., Any] | None
    numbers: Callable[..., Any] | None
    judge: Callable[..., Any] | None
    last_list: Callable[..., Any] | None
    numbers_of: Callable[..., Any] | None
    looked_up: Callable[..., Any] | None
    scan_records: Callable[..., Any] | None
    scan_mapping: Callable[..., Any] | None


def load() -> Kernels:
    """Import the compiled functions."""
    kernel, lists, pairs, records = (
        importlib.import_module(f"leadline.kernels.compiled.{name}")
        for name in ("list_kernel", "lists", "pairs", "scan_records")
    )
    return Kernels(
        kernel.scan,
        kernel.hash_ids,
        lists.pack,
        kernel.fill_slots,
        kernel.match,
        lists.arrange,
        pairs.joint_tables,
        pairs.common_orders,
        getattr(pairs, "plane_tables", None),
        getattr(lists, "biased_overlaps", None),
        getattr(lists, "number_ids", None),
        kernel.numbers,
        getattr(kernel, "judge", None),
        getattr(kernel, "last_list", None),
        getattr(kernel, "numbers_of", None),
        getattr(kernel, "looked_up", None),
        records.scan_records,
        records.scan_mapping,
    )


def find_compiled() -> Kernels | None:
    """Return the compiled kernels, or None if missing or disabled."""
    if os.environ.get("LEADLINE_PURE", "0") not in ("", "0"):
        return None
    try:
        return load()
    except (ImportError, AttributeError):  # none, or those of an earlier version
        return None


compiled: Kernels | None = find_compiled()


def parallel_map(
    function: Callable[[Item], Value], items: Sequence[Item], *, threads: int | None = None
) -> Iterator[Value]:
    """Apply a function to many items on several threads, in order; kernels and NumPy release the GIL.

    >>> list(parallel_map(abs, [-2, 1, -3], threads=2))
    [2, 1, 3]
    """
    count = min(os.cpu_count() or 1, len(items)) if threads is None else threads
    if count < 2:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(count)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)
