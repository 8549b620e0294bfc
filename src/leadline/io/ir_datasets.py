"""Qrels by the name that ir_datasets gives them: `ir_datasets:NAME`; the extra `ir-datasets`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from leadline.errors import InputError, LeadlineError, MissingPackageError
from leadline.io import python_inputs
from leadline.io.row_columns import Records, Table
from leadline.io.run_names import IR_DATASETS

if TYPE_CHECKING:
    from leadline.io.formats import Opened


def table(source: Opened, *_: object) -> Table | Records:
    """Return the judgments of a collection."""
    path = source.path
    collection = load(path)
    if not collection.has_qrels():
        raise InputError("has no qrels", path=path, hint="Use a subset with qrels, such as NAME/dev")
    return python_inputs.table_of_rows(enumerate(downloaded(path, collection.qrels_iter), start=1), path=path)


def load(path: str) -> Any:
    """Return a collection by its name; it is downloaded when it is first read."""
    try:
        import ir_datasets
    except ImportError:
        raise MissingPackageError(
            'ir_datasets is not installed. Install it with `pip install "leadline[ir-datasets]"`.'
        ) from None
    try:
        return ir_datasets.load(path.removeprefix(IR_DATASETS))
    except KeyError:
        raise InputError("ir_datasets has no such collection", path=path) from None


def downloaded(path: str, rows: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Yield rows of a collection; whatever fails while they are fetched is one line."""
    try:
        yield from rows()
    except Exception as error:  # the package raises what its many libraries raise
        if isinstance(error, LeadlineError):
            raise
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"cannot be downloaded or read ({type(error).__name__}{': ' * bool(reason)}{reason})",
            path=path,
            hint="Check the network connection. Some collections must be downloaded by hand",
        ) from None
