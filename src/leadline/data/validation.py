"""Checks of the arguments of Python functions, with one-line errors."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

from leadline.errors import UsageError

# Largest values of arguments whose cost in time or memory is proportional to them, by argument name.
LIMITS = {
    "documents": (1 << 63) - 1,  # size of a collection: not a cost
    "population": (1 << 63) - 1,
    "draws": 100_000,
    "sweeps": 100_000,
    "topics": 10_000,
    "particles": 10_000,
    "restarts": 1_000,
    "fits": 1_000,
}
LARGEST = 10**9  # of any other argument, as of the parameters of measures


def check_flags(**arguments: object) -> None:
    """Raise UsageError for a value that is not a bool."""
    for name, value in arguments.items():
        if not isinstance(value, (bool, np.bool_)):
            raise _error(name, value, "True or False")


def check_whole(low: int, **arguments: object) -> None:
    """Raise UsageError unless each value is None or an integer from `low` to the limit of its name.

    Seeds have no limit.

    >>> check_whole(1, depth=None)
    >>> check_whole(1, depth=0)
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: depth=0; expected a whole number, 1 or more
    >>> check_whole(0, draws=10**9)
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: draws=1000000000; expected a whole number, 0 to 100000
    """
    for name, value in arguments.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < low:
            raise _error(name, value, f"a whole number, {low} or more")
        limit = LIMITS.get(name, LARGEST)
        if name != "seed" and int(value) > limit:
            raise _error(name, value, f"a whole number, {low} to {limit}")


def check_numbers(**arguments: object) -> None:
    """Raise UsageError for a value that is not a finite number."""
    for name, value in arguments.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise _error(name, value, "a number")


def check_word(allowed: tuple[str, ...], **arguments: object) -> None:
    """Raise UsageError for a value that is not one of the allowed words."""
    for name, value in arguments.items():
        if not isinstance(value, str) or value not in allowed:
            raise _error(name, value, " or ".join(map(repr, allowed)))


def check_run_name(name: object) -> None:
    """Raise UsageError for the name of a run that is not a string.

    >>> check_run_name(7)
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: a run called 7, of type int; expected text, as in '7'
    """
    if not isinstance(name, str):
        shown = " ".join(str(name).split())[:60]
        raise UsageError(
            f"a run called {shown}, of type {type(name).__name__}; expected text, as in {shown!r}"
        )


def _error(name: str, value: object, expected: str) -> UsageError:
    shown = " ".join(repr(value).split())
    return UsageError(f"{name}={shown[:60]}{'...' * (len(shown) > 60)}; expected {expected}")
