"""Check of an index: all checksums, and the offsets of lists."""

from __future__ import annotations

from leadline.errors import InputError, LeadlineError
from leadline.io.check import Checked
from leadline.io.check_remarks import Problem
from leadline.retrieval.index.index_arrays import IndexArrays
from leadline.retrieval.index.reader import Index


def check_index(path: str) -> Checked:
    """Read an entire index and return all problems found, as `check` does for runs and qrels.

    Examples
    --------
    >>> from leadline.retrieval.index import build_index
    >>> index = build_index({"d1": "two wings"})
    >>> found = check_index(index.path)
    >>> found.kind, found.rows, found.problems
    ('index', 1, [])
    """
    checked = Checked(path, kind="index", form="index")
    try:
        arrays = IndexArrays(path)
    except InputError as error:
        checked.problems.append(_damaged(error, path))
        return checked
    checked.rows = arrays.header["documents"]
    for name in arrays.lengths:
        try:
            arrays.whole(name)
        except InputError as error:
            checked.problems.append(_damaged(error, path))
    if not checked.problems:
        try:
            outdated = Index(path).is_outdated()
        except LeadlineError as error:
            checked.problems.append(_damaged(error, path))
        else:
            if outdated:
                message = "the source of the index has changed since it was made"
                checked.problems.append(Problem("outdated", None, message, 1))
    return checked


def _damaged(error: LeadlineError, path: str) -> Problem:
    return Problem("damaged", None, str(error).removeprefix(f"{path}: "), 1, error=True)
