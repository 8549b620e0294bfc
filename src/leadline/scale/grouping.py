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
from leadline.io.formats import TREC, opened
from leadline.io.opening import BOM, open_bytes
from leadline.kernels import plain
from leadline.scale.remote import is_url, local_copy
from leadline.scale.run_parts import RunParts

GROUPS = 64  # temporary files; the rows of a query go to one of them
BLOCK = 1 << 22  # bytes that are read at a time


@contextmanager
def grouped_parts(parts: RunParts, reading: Reading) -> Iterator[tuple[RunParts, list[dict[str, Any]]]]:
    """Copy the lines of all parts, which are TREC text, to temporary parts by query."""
    with tempfile.TemporaryDirectory(prefix="leadline-parts-") as folder:
        inputs = []
        with ExitStack() as stack:
            groups = _Groups(folder, stack)
            for path in parts:
                if not isinstance(path, str):
                    raise InputError("a part in memory", expected="files for --group-parts", path=parts.name)
                with ExitStack() as copies:
                    copy = copies.enter_context(local_copy(path)) if is_url(path) else None
                    local = path if copy is None else copy.path
                    rows = groups.add(local, path, reading)
                inputs.append({"path": path, "sha256": copy and copy.sha256, "rows": rows})
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

    def add(self, path: str, label: str, reading: Reading) -> int:
        """Add the rows of a part; return their number."""
        source = opened(path)
        if source.format is not TREC or reading.columns is not None:
            raise InputError(f"is {source.format.name}", expected="TREC text for --group-parts", path=label)
        rows = self._add_text(path)
        if not rows:
            raise InputError("contains no lines of a run", expected="a part of a run", path=label)
        return rows

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
