"""Stand-ins for Cython when the kernels run uncompiled: decorators without effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def cfunc(function: F) -> F:
    """Mark a function called by compiled code only."""
    return function


inline = cfunc


def exceptval(*_values: float, check: bool = True) -> Callable[[F], F]:
    """Declare the return value that signals an exception."""
    _ = check
    return cfunc


def declare(_type: object, value: int) -> int:
    """Declare the type of a module constant."""
    return value


def cast(kind: Callable[[float], T], value: float) -> T:
    """Cast a value to a type."""
    return kind(value)


class _Lock:
    """Function decorator and context manager in place of `nogil`."""

    def __call__(self, function: F) -> F:
        return function

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


nogil = gil = _Lock()
double = float
uchar = uint = longlong = ulonglong = Py_ssize_t = int  # as Cython calls them
