"""Qrels by the name that ir_datasets gives them: `ir_datasets:NAME`; the extra `ir-datasets`."""

from __future__ import annotations

from leadline.errors import InputError, MissingPackageError
from leadline.formats import tuples
from leadline.formats.records import Records

PREFIX = "ir_datasets:"


def records(path: str) -> Records:
    """Give the judgments of a collection."""
    try:
        import ir_datasets
    except ImportError:
        raise MissingPackageError(
            f"{path} needs ir_datasets: pip install 'leadline[ir-datasets]'"
        ) from None
    name = path.removeprefix(PREFIX)
    try:
        collection = ir_datasets.load(name)
    except KeyError:
        raise InputError(
            "no such collection", expected="a name of ir_datasets", path=path
        ) from None
    if not collection.has_qrels():
        raise InputError("has no qrels", expected="a collection with judgments", path=path)
    return tuples.records(collection.qrels_iter(), "grade", path=path)
