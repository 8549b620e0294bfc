"""Parquet and Arrow files; needs pyarrow, the extra `parquet`."""

from __future__ import annotations

import io
from typing import Any

from leadline.arrays import bytes_of
from leadline.errors import InputError, MissingPackageError
from leadline.formats import frames
from leadline.formats.opening import ARROW, STREAM, Window
from leadline.formats.records import Records
from leadline.formats.table import Table


def records(window: Window, what: str, *, by_rank: bool = False) -> Records:
    """Give the rows of a Parquet or Arrow file."""
    arrow = _pyarrow()
    content = arrow.py_buffer(bytes_of(window.text)[: window.read])
    try:
        table = _table(arrow, content, window.text[:6].tobytes())
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).split("\n", maxsplit=1)[0][:100]
        raise InputError(
            f"cannot be read ({reason})", expected="Parquet or Arrow", path=window.path
        ) from None
    frame = frames.open_frame(table)
    return frames.records(frame, what, path=window.path, by_rank=by_rank)


def _table(arrow: Any, content: Any, head: bytes) -> Any:
    if head.startswith(ARROW):
        return arrow.ipc.open_file(content).read_all()
    if head.startswith(STREAM):
        return arrow.ipc.open_stream(content).read_all()
    from pyarrow import parquet

    return parquet.read_table(arrow.BufferReader(content))


def write(table: Table) -> bytes:
    """Write a Parquet file, or an Arrow file where the suffix says so."""
    arrow = _pyarrow()
    from pyarrow import parquet

    whole = all(isinstance(row[2], int) for row in table.rows)
    number = arrow.int64() if whole else arrow.float64()
    text = arrow.string()
    more = [arrow.float64() if name == "probability" else text for name in table.columns[3:]]
    kinds = (text, text, number, *more)
    try:
        made = arrow.table(
            {
                name: arrow.array([row[place] for row in table.rows], type=kind)
                for place, (name, kind) in enumerate(zip(table.columns, kinds, strict=True))
            }
        )
    except (UnicodeEncodeError, arrow.ArrowInvalid):
        raise InputError("an id that is no Unicode", expected="JSON, which can hold it") from None
    target = io.BytesIO()
    if table.suffix == ".parquet":
        parquet.write_table(made, target)
    else:
        with arrow.ipc.new_file(target, made.schema) as writer:
            writer.write_table(made)
    return target.getvalue()


def _pyarrow() -> Any:
    try:
        import pyarrow.ipc
    except ImportError:
        raise MissingPackageError(
            "Parquet and Arrow files need pyarrow: pip install 'leadline[parquet]'"
        ) from None
    return pyarrow
