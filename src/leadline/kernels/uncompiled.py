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
    _ = check
    return cfunc


def declare(_type: object, value: int) -> int:
    """Give a module constant its type."""
    return value


def cast(_type: object, value: int) -> int:
    """Give a value another type."""
    return value


class _Lock:
    """A mark on functions and a block: with or without the interpreter's lock."""

    def __call__(self, function: F) -> F:
        return function

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


nogil = gil = _Lock()
double = float
uchar = longlong = ulonglong = Py_ssize_t = int  # as Cython calls them
