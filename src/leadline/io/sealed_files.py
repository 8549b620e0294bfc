"""Checksums of saved files: of all bytes of Parquet, and of the content of JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from leadline.data.optional import import_optional
from leadline.errors import InputError
from leadline.io.opening import PARQUET

SEAL = b"leadline-sha256"  # last key of the metadata of Parquet
UNSEALED = b"0" * 64  # its value when the checksum is computed
LENGTH = 2  # number of bytes between key and value in the footer
CHECKSUM = "checksum"  # key of JSON
DAMAGED = "is damaged or was changed after leadline saved it"


def sealed_parquet(table: Any) -> bytes:
    """Return an Arrow table as Parquet with a checksum: pages have their own, names and counts have none."""
    target = io.BytesIO()
    sealed = table.replace_schema_metadata({**(table.schema.metadata or {}), SEAL: UNSEALED})
    import_optional("pyarrow.parquet").write_table(sealed, target, write_page_checksum=True)
    import hashlib

    content = target.getvalue()
    start = _place(content)
    digest = hashlib.sha256(content).hexdigest().encode()
    return content[:start] + digest + content[start + len(digest) :]


def read_parquet(path: str, *, hint: str = "") -> Any:
    """Return the Arrow table of a Parquet file; one of an earlier version or another program has no checksum.

    Raises
    ------
    InputError
        If the file is damaged or no Parquet.
    """
    parquet, arrow = import_optional("pyarrow.parquet"), import_optional("pyarrow")
    try:
        with open(path, "rb") as file:
            content = file.read()
        if not content.startswith(PARQUET):
            raise InputError("is not a Parquet file", path=path, hint=hint)
        import hashlib

        start = _place(content)
        if start:
            whole = hashlib.sha256(content[:start])
            whole.update(UNSEALED)
            whole.update(content[start + len(UNSEALED) :])
        if start and whole.hexdigest().encode() != content[start : start + len(UNSEALED)]:
            raise InputError(DAMAGED, path=path, hint=hint)
        table = parquet.read_table(arrow.BufferReader(content), page_checksum_verification=True)
        table.validate(full=True)  # the offsets and the text of strings, which Arrow does not check
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint=hint) from None
    except InputError:
        raise
    except (OSError, ValueError, TypeError, LookupError, MemoryError, NotImplementedError) as error:
        found = " ".join(str(error).split())[:200]
        raise InputError(f"is not a valid Parquet file ({found})", path=path, hint=hint) from None
    return table


def _place(content: bytes) -> int:
    """Return where the checksum begins; 0 if there is none."""
    found = content.rfind(SEAL)
    return 0 if found < 0 else found + len(SEAL) + LENGTH


def json_checksum(data: Mapping[str, Any]) -> str:
    """Return the checksum of a JSON object without its own.

    >>> json_checksum({"runs": [], "checksum": "a"}) == json_checksum({"runs": []})
    True
    """
    content = {key: value for key, value in data.items() if key != CHECKSUM}
    import hashlib  # takes milliseconds, and few commands need it

    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_json(data: object, path: str) -> None:
    """Raise InputError for a JSON object that has a checksum, and another content."""
    if isinstance(data, dict) and CHECKSUM in data and data[CHECKSUM] != json_checksum(data):
        raise InputError(DAMAGED, path=path)
