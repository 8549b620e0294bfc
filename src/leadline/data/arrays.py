"""The array types that the tables are made of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


def bytes_of(array: Bytes) -> memoryview:
    """Return the bytes of an array without copying them."""
    return memoryview(array)  # type: ignore[arg-type]  # numpy's stubs do not say Buffer


def freeze(*arrays: npt.NDArray[np.generic]) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.setflags(write=False)
