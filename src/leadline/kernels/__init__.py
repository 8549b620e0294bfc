"""Hot loops: pure functions over arrays, compiled where possible.

`list_kernel.c`, `scan_records`, `lists` and `pairs` are compiled at installation if there is a C compiler;
`plain` is ordinary Python with the same results. `compiled` has the compiled functions; it is None if there
are none or `LEADLINE_PURE=1` is set. `parallel_map` runs them on several threads.
"""

from __future__ import annotations

import importlib
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


PACKAGE = "leadline.kernels.compiled."
MODULES = {
    "list_kernel": (
        *("scan", "judge", "last_list", "hash_ids", "pack", "fill_slots", "match"),
        *("numbers", "numbers_of", "looked_up"),
    ),
    "lists": ("arrange", "biased_overlaps", "number_ids"),
    "pairs": ("joint_tables", "common_orders", "plane_tables"),
    "scan_records": ("scan_records", "scan_mapping"),
}
MODULE_OF = {function: module for module, functions in MODULES.items() for function in functions}


class Kernels:
    """The functions of the compiled modules; a module is loaded when one of its functions is used."""

    def __getattr__(self, name: str) -> Any:
        if name not in MODULE_OF:
            raise AttributeError(name)
        function = getattr(importlib.import_module(PACKAGE + MODULE_OF[name]), name)
        setattr(self, name, function)
        return function


def find_compiled() -> Kernels | None:
    """Return the compiled kernels, or None if one is missing, or they are disabled."""
    if os.environ.get("LEADLINE_PURE", "0") not in ("", "0"):
        return None
    found = Kernels()
    try:
        complete = callable(found.scan) and all(find_spec(PACKAGE + module) for module in MODULES)
    except ImportError:  # none, or those of another machine
        return None
    return found if complete else None


compiled: Kernels | None = find_compiled()


HUGE = 1 << 21  # bytes of a huge page
PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}


def reserved(size: int, *, huge: bool = True) -> mmap.mmap:
    """Return memory of at least so many bytes, all 0; `huge` is for memory that will be filled.

    To touch new memory for the first time costs as much as to copy it, page by page: in huge pages less.
    """
    try:
        memory = mmap.mmap(-1, -(-size // HUGE) * HUGE, **PRIVATE)
    except OSError as error:
        raise MemoryError(f"{size:,} bytes") from error
    if huge and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


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
