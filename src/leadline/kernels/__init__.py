"""Hot loops: pure functions over arrays, compiled where possible.

`scan`, `lists` and `pairs` are compiled at installation if there is a C compiler; `plain` is ordinary Python
with the same results. `compiled` holds the compiled functions; it is None if there are none or
`LEADLINE_PURE=1` is set.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, NamedTuple


class Kernels(NamedTuple):
    """The functions of `scan`, `lists` and `pairs`."""

    scan: Callable[..., Any]
    hash_ids: Callable[..., Any]
    fill_slots: Callable[..., Any]
    match: Callable[..., Any]
    arrange: Callable[..., Any]
    joint_tables: Callable[..., Any]
    common_orders: Callable[..., Any]
    # What builds of earlier versions lack is None there; its callers have another way.
    plane_tables: Callable[..., Any] | None
    rank_biased: Callable[..., Any] | None
    number_ids: Callable[..., Any] | None


def load(package: str) -> Kernels:
    """Import the functions from a package: the compiled ones, or `leadline.kernels`, their source."""
    scan = importlib.import_module(f"{package}.scan")
    lists = importlib.import_module(f"{package}.lists")
    pairs = importlib.import_module(f"{package}.pairs")
    return Kernels(
        scan.scan,
        scan.hash_ids,
        lists.fill_slots,
        lists.match,
        lists.arrange,
        pairs.joint_tables,
        pairs.common_orders,
        getattr(pairs, "plane_tables", None),
        getattr(lists, "rank_biased", None),
        getattr(lists, "number_ids", None),
    )


def find_compiled() -> Kernels | None:
    """Return the compiled kernels, or None if missing or disabled."""
    if os.environ.get("LEADLINE_PURE", "0") not in ("", "0"):
        return None
    try:
        return load("leadline.kernels.compiled")
    except ImportError:
        return None


compiled: Kernels | None = find_compiled()
