"""Do one thing to many, on as many threads as help; kernels and numpy let go of the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
# More threads than this wait for each other: numpy holds the interpreter's lock between kernels.
MOST = 4


def in_order(
    do: Callable[[Item], Made], items: Sequence[Item], *, threads: int | None = None
) -> Iterator[Made]:
    """Yield what was made of every item, in the order of the items, whatever thread made it.

    >>> list(in_order(abs, [-2, 1, -3], threads=2))
    [2, 1, 3]
    """
    number = min(MOST, os.cpu_count() or 1, len(items)) if threads is None else threads
    if number < 2:
        yield from map(do, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(number)
    try:
        yield from pool.map(do, items)
    finally:
        pool.shutdown(cancel_futures=True)
