"""Score matrices as files: one row a query, one column a run."""

from __future__ import annotations

import csv
import os

import numpy as np

from leadline.data.arrays import Floats
from leadline.errors import InputError
from leadline.io.read_paths import record_input


def read_matrices(folder: str) -> dict[str, Floats]:
    """Give every matrix of a folder by its name, COLLECTION_MEASURE, as queries x runs.

    Read are files that end in .tsv and have `topic_row` at their head; others are left alone.
    """
    found: dict[str, Floats] = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".tsv"):
            record_input(path)
            with open(path, encoding="utf-8", newline="") as file:
                head, *rows = csv.reader(file, delimiter="\t")
            if head[0] == "topic_row":
                found[name.removesuffix(".tsv")] = _numbers(rows, path)
    if not found:
        raise InputError("no score matrix", expected="files COLLECTION_MEASURE.tsv", path=folder)
    return found


def _numbers(rows: list[list[str]], path: str) -> Floats:
    try:
        return np.array([row[1:] for row in rows], dtype=np.float64)
    except ValueError:
        raise InputError("a score is no number", expected="numbers", path=path) from None


def measure_of(name: str) -> str:
    """Give the measure of a matrix from its name.

    >>> measure_of("trec7-adhoc_p10")
    'p10'
    """
    return name.rpartition("_")[2]
