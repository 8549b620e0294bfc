"""What the kernels need of Cython when they run uncompiled: decorators that do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def cfunc(function: F) -> F:
    """Mark a function that only compiled code calls."""
    return function


inline = cfunc


def exceptval(*_values: float, check: bool = True) -> Callable[[F], F]:
    """Say which value of a compiled function tells of an exception."""
    return cfunc


def declare(_type: object, value: int) -> int:
    """Give a module constant its type."""
    return value


def cast(_type: object, value: int) -> int:
    """Give a value another type."""
    return value


uchar = ulonglong = int
