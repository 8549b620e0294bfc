"""The only hot loops of the house: pure functions over arrays.

`trec` is compiled when the package is installed where there is a C compiler; `plain` is ordinary Python with
the same results. `compiled` is the compiled module, or None where there is none or `LEADLINE_PURE=1` is set.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType


def find_compiled() -> ModuleType | None:
    """Give the compiled kernels, or None where they are missing or not wanted."""
    if os.environ.get("LEADLINE_PURE", "0") not in ("", "0"):
        return None
    try:
        return importlib.import_module("leadline.kernels.compiled.trec")
    except ImportError:
        return None


compiled: ModuleType | None = find_compiled()
