"""Types of arrays, named after their contents."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.kernels import HUGE, reserved

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Small = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


def bytes_of(array: Bytes) -> memoryview:
    """Return a memoryview of an array of bytes."""
    return memoryview(array)  # type: ignore[arg-type]  # the stubs of NumPy do not declare Buffer


def zeros(size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros in memory that is about to be filled.

    >>> zeros(2, np.int8).tolist(), len(zeros(HUGE + 1, np.int8))
    ([0, 0], 2097153)
    """
    needed = size * np.dtype(dtype).itemsize
    return np.zeros(size, dtype) if needed < HUGE else np.frombuffer(reserved(needed), dtype, size)


def freeze(*arrays: npt.NDArray[np.generic]) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.setflags(write=False)


def are_small(grades: Floats) -> bool:
    """Return whether all grades are whole numbers of one byte.

    >>> are_small(np.array([1.0, -2.0])), are_small(np.array([0.5])), are_small(np.array([200.0]))
    (True, False, False)
    """
    return bool((np.abs(grades) < 128).all() and (grades == np.trunc(grades)).all())
