"""Checks of what Python callers pass: one line that says what was found and what was expected."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

from leadline.errors import UsageError

# The largest value of what costs time or memory in proportion, by the name that it has everywhere.
LIMITS = {
    "documents": (1 << 63) - 1,  # collections are larger than any list
    "population": (1 << 63) - 1,
    "draws": 100_000,
    "sweeps": 100_000,
    "topics": 10_000,
    "particles": 10_000,
    "restarts": 1_000,
    "fits": 1_000,
}
LARGEST = 10**9  # of any other number, as of the parameters of measures


def check_flags(**given: object) -> None:
    """Refuse what is neither True nor False."""
    for name, value in given.items():
        if not isinstance(value, (bool, np.bool_)):
            raise _refused(name, value, "True or False")


def check_whole(low: int, **given: object) -> None:
    """Refuse what is neither None nor a whole number from `low` to the limit of its name.

    A seed may be of any size.

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
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < low:
            raise _refused(name, value, f"a whole number, {low} or more")
        limit = LIMITS.get(name, LARGEST)
        if name != "seed" and int(value) > limit:
            raise _refused(name, value, f"a whole number, {low} to {limit}")


def check_numbers(**given: object) -> None:
    """Refuse what is no finite number."""
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise _refused(name, value, "a number")


def check_word(allowed: tuple[str, ...], **given: object) -> None:
    """Refuse what is none of some words."""
    for name, value in given.items():
        if not isinstance(value, str) or value not in allowed:
            raise _refused(name, value, " or ".join(map(repr, allowed)))


def check_run_name(name: object) -> None:
    """Refuse the name of a run that is no text.

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


def _refused(name: str, value: object, expected: str) -> UsageError:
    found = " ".join(repr(value).split())
    return UsageError(f"{name}={found[:60]}{'...' * (len(found) > 60)}; expected {expected}")
