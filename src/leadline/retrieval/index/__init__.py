"""An inverted index with positions and collection statistics, on disk, mapped when it is opened."""

from __future__ import annotations

import os

from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index, Postings

__all__ = ["Index", "Postings", "build_index", "open_index"]


def open_index(path: str | os.PathLike[str], *, verify: bool = False) -> Index:
    """Open an index that `build_index` or `leadline index` made; a broken or older one is refused.

    Sizes of all files are checked; `verify` also reads them and compares checksums.
    """
    return Index(path, verify=verify)
