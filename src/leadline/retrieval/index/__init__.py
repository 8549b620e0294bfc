"""Inverted index with positions and collection statistics, stored on disk and memory-mapped."""

from __future__ import annotations

import os

from leadline.io.read_paths import public
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index, Postings

__all__ = ["Index", "Postings", "build_index", "open_index"]


@public
def open_index(path: str | os.PathLike[str], *, verify: bool = False) -> Index:
    """Open an index made by `build_index` or `leadline index`.

    File sizes are checked; `verify` also reads the files and compares checksums.

    Raises
    ------
    InputError
        If the index is damaged or of another version.
    """
    return Index(path, verify=verify)
