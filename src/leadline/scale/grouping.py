"""Grouping of rows by query: parts among which the rows of a query are spread become parts of whole lists."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from leadline.data.reading import Reading
from leadline.errors import InputError
from leadline.io.formats import PARQUET, TREC, opened
from leadline.io.opening import BOM, open_bytes
from leadline.io.row_checks import QUERY, find
from leadline.kernels import plain
from leadline.scale.remote import is_url, local_copy
from leadline.scale.run_parts import RunParts

GROUPS = 64  # temporary files; the rows of a query go to one of them
BLOCK = 1 << 22  # bytes that are read at a time


@contextmanager
def grouped_parts(parts: RunParts, reading: Reading) -> Iterator[tuple[RunParts, list[dict[str, Any]]]]:
    """Copy the rows of all parts, TREC text or Parquet, to temporary parts by query."""
    with tempfile.TemporaryDirectory(prefix="leadline-parts-") as folder:
        inputs, kinds = [], set()
        with ExitStack() as stack:
            groups = _Groups(folder, stack)
            for path in parts:
                if not isinstance(path, str):
                    raise InputError("a part in memory", expected="files for --group-parts", path=parts.name)
                with ExitStack() as copies:
                    copy = copies.enter_context(local_copy(path)) if is_url(path) else None
                    local = path if copy is None else copy.path
                    rows, kind = groups.add(local, path, reading)
                inputs.append({"path": path, "sha256": copy and copy.sha256, "rows": rows})
                kinds.add(kind)
                if len(kinds) > 1:
                    raise InputError(f"is {kind}", expected="parts of one format", path=path)
        names = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        grouped = RunParts(names, name=parts.name)
        try:
            yield grouped, inputs
        except InputError as error:
            if not error.path.startswith(folder):
                raise
            raise error.at(f"{parts.name} (parts grouped by query)") from None


class _Groups:
    """Temporary files, of which each has all rows of its queries."""

    def __init__(self, folder: str, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.files: dict[int, BinaryIO] = {}
        self.writers: dict[int, Any] = {}

    def add(self, path: str, label: str, reading: Reading) -> tuple[int, str]:
        """Add the rows of a part; return their number and the format."""
        source = opened(path)
        if source.format is TREC and reading.columns is None:
            rows = self._add_text(path)
        elif source.format is PARQUET:
            rows = self._add_table(path, label)
        else:
            raise InputError(
                f"is {source.format.name}", expected="TREC text or Parquet for --group-parts", path=label
            )
        if not rows:
            raise InputError("contains no lines of a run", expected="a part of a run", path=label)
        return rows, source.format.name

    def _add_text(self, path: str) -> int:
        stream, file = open_bytes(path)
        rows, rest = 0, b""
        with file, stream:
            while block := stream.read(BLOCK):
                if not rows and not rest:
                    block = block.removeprefix(BOM)
                *lines, rest = (rest + block).split(b"\n")
                rows += self._write(lines, top=not rows)
        return rows + self._write([rest], top=not rows)

    def _write(self, lines: list[bytes], *, top: bool) -> int:
        """Write lines to the files of their queries; neighbours of one query at once."""
        rows = 0
        held: dict[int, list[bytes]] = {}
        last, target = b"", held.setdefault(0, [])
        for line in lines:
            fields = line.split(None, 1)
            if not fields or (top and not rows and plain.after_remarks(line)[1]):
                continue
            rows += 1
            if fields[0] != last:
                last = fields[0]
                target = held.setdefault(zlib.crc32(last) % GROUPS, [])
            target.append(b" " + line if line.startswith(b"#") else line)  # no remark of that file
        for group, every in held.items():
            if every:
                self._file(group).write(b"\n".join(every) + b"\n")
        return rows

    def _file(self, group: int) -> BinaryIO:
        if group not in self.files:
            path = os.path.join(self.folder, f"group-{group:03}.run")
            file = open(path, "wb")  # noqa: SIM115  # closed by the stack
            self.files[group] = self.stack.enter_context(file)
        return self.files[group]

    def _add_table(self, path: str, label: str) -> int:
        import pyarrow as pa
        from pyarrow import parquet

        rows = 0
        try:
            with parquet.ParquetFile(path) as file:
                column = find(file.schema_arrow.names, QUERY)
                if column is None:
                    raise InputError("no column of queries", expected="query_id", path=label)
                for batch in file.iter_batches():
                    rows += len(batch)
                    self._write_batch(batch, batch.column(column))
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot be read ({error})", expected="Parquet", path=label) from None
        return rows

    def _write_batch(self, batch: Any, query: Any) -> None:
        import numpy as np
        import pyarrow as pa
        from pyarrow import parquet

        encoded = query.dictionary_encode() if not pa.types.is_dictionary(query.type) else query
        names = [str(name).encode("utf-8", "surrogatepass") for name in encoded.dictionary.to_pylist()]
        groups = np.array([zlib.crc32(name) % GROUPS for name in names] or [0], dtype=np.int64)
        codes = np.asarray(encoded.indices.fill_null(0))
        of_row = groups[codes] if len(codes) else codes
        for group in np.unique(of_row).tolist():
            if group not in self.writers:
                path = os.path.join(self.folder, f"group-{group:03}.parquet")
                self.writers[group] = self.stack.enter_context(parquet.ParquetWriter(path, batch.schema))
            self.writers[group].write_batch(batch.filter(pa.array(of_row == group)))
