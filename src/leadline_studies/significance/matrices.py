"""Score matrices as files: one row per query, one column per run."""

from __future__ import annotations

import csv
import os

import numpy as np

from leadline.data.arrays import Floats
from leadline.errors import InputError
from leadline.io.read_paths import record_input


def read_matrices(folder: str) -> dict[str, Floats]:
    """Return the matrices of a folder by name, COLLECTION_MEASURE, as queries x runs."""
    matrices: dict[str, Floats] = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".tsv"):
            record_input(path)
            with open(path, encoding="utf-8", newline="") as file:
                head, *rows = csv.reader(file, delimiter="\t")
            if head[0] == "topic_row":
                matrices[name.removesuffix(".tsv")] = _numbers(rows, path)
    if not matrices:
        raise InputError("no score matrix", expected="files COLLECTION_MEASURE.tsv", path=folder)
    return matrices


def _numbers(rows: list[list[str]], path: str) -> Floats:
    try:
        return np.array([row[1:] for row in rows], dtype=np.float64)
    except ValueError:
        raise InputError("a score is no number", expected="numbers", path=path) from None


def measure_of(name: str) -> str:
    """Return the measure in the name of a matrix.

    >>> measure_of("trec7-adhoc_p10")
    'p10'
    """
    return name.rpartition("_")[2]
