"""The embedded data: Cranfield's judgments and eight runs over it, ids and numbers only.

Judgments are those of the classical Glasgow files as gains 0 to 4 (the original codes run from 1,
best, to 4). `make_runs.py` says how the runs were made. Files are read where they stand; nothing is
downloaded.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def qrels_path() -> str:
    """Return the path of the judgments."""
    return os.path.join(DATA, "cranfield.qrels.xz")


def run_paths() -> list[str]:
    """Return the paths of the runs, by name.

    >>> [os.path.basename(path) for path in run_paths()][-2:]
    ['tf-dot.run.xz', 'tfidf-cosine.run.xz']
    """
    return [os.path.join(DATA, name) for name in sorted(os.listdir(DATA)) if name.endswith(".run.xz")]


def labels_path() -> str:
    """Return the path of labels made by a retrieval model that reads titles only (`make_runs.py`)."""
    return os.path.join(DATA, "machine-labels.qrels.xz")


def circular_path() -> str:
    """Return the path of a run that is made by these labels."""
    return os.path.join(DATA, "circular.txt.xz")


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the judgments, the runs, the labels of a machine and a run made by these: name and content.

    >>> [name for name, _ in files()][:2]
    ['qrels.txt', 'bm25-k1_0.9-b_0.4.run']
    """
    for path in (qrels_path(), *run_paths(), labels_path(), circular_path()):
        name = os.path.basename(path).removesuffix(".xz")
        with lzma.open(path) as file:
            yield "qrels.txt" if path == qrels_path() else name, file.read()
