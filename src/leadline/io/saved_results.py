"""The one saved format: the result of any command as JSON or Parquet, and what restores it exactly.

JSON has the keys that `-f json` prints, with the per-query values. Parquet has a row for each run, query and
measure, or the columns of the CSV. Both hold the object itself (`state`), a format number and a checksum.

In `state`, values that JSON has stay as they are. Any other value is an object with the key `@`, which names
its kind, or `module:Class` for an instance of a class of leadline. Reading makes such instances without
calling the class. It makes no other instances.
"""

from __future__ import annotations

import base64
import copy
import importlib
import io
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline.data.ids import Vocabulary, to_bytes, to_text
from leadline.data.optional import import_optional
from leadline.data.table import ResultWarning
from leadline.data.wording import UNSAFE
from leadline.errors import InputError, LeadlineError
from leadline.io.opening import LONGEST_LINE, PARQUET, first_bytes, read_whole, text_of, whole_content
from leadline.io.read_paths import record_input, release_input, remember_inputs
from leadline.version import VERSION

SEAL = b"leadline-sha256"  # last key of the metadata of Parquet
UNSEALED = b"0" * 64  # its value when the checksum is computed
LENGTH = 2  # number of bytes between key and value in the footer
CHECKSUM = "checksum"  # key of JSON
DAMAGED = "is damaged or was changed after leadline saved it. Save the result again"


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
    """Return the Arrow table of a Parquet file, whose checksum is compared if it has one."""
    parquet, arrow = import_optional("pyarrow.parquet"), import_optional("pyarrow")
    try:
        content = whole_content(path)
        import hashlib

        start = _place(content)
        if start:
            sealed = hashlib.sha256(content[:start])
            sealed.update(UNSEALED)
            sealed.update(content[start + len(UNSEALED) :])
        if start and sealed.hexdigest().encode() != content[start : start + len(UNSEALED)]:
            raise InputError(DAMAGED, path=path)
        file = arrow.BufferReader(content)
        # Of a dataset, as read_table makes one, a thread may still be running at exit, which would abort.
        table = parquet.ParquetFile(file, page_checksum_verification=True).read(use_threads=False)
        table.validate(full=True)  # the offsets and the text of strings, which Arrow does not check
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


KIND = "@"
PART = LONGEST_LINE // 2  # maximum number of letters in one string of an encoded array
SCALARS = (bool, int, str)
NUMBERS = "biuf"  # kinds of arrays whose bytes are written
TEXTS: tuple[type, ...] = (str, int, float)
PACKAGES = ("leadline", "leadline_studies")


def encoded(value: Any) -> Any:
    """Return an object as JSON.

    >>> encoded((1, 0.5)), encoded(float("inf"))
    ({'@': 'tuple', 'items': [1, 0.5]}, {'@': 'float', 'value': 'inf'})
    """
    kind = type(value)
    if value is None or kind in SCALARS or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, np.generic):
        return encoded(value.item())
    return (ENCODERS.get(kind) or _encoded_instance)(value)


def _encoded_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and key != KIND for key in value):
        return {key: encoded(item) for key, item in value.items()}
    return {KIND: "dict", "items": [[encoded(key), encoded(item)] for key, item in value.items()]}


def _encoded_items(value: Any) -> dict[str, Any]:
    items = value if isinstance(value, tuple) else sorted(value)
    return {KIND: type(value).__name__, "items": list(map(encoded, items))}


def _encoded_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if array.dtype.kind not in NUMBERS:
        return {KIND: "objects", "shape": list(array.shape), "items": list(map(encoded, array.ravel()))}
    whole = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    text = base64.b64encode(zlib.compress(whole.tobytes())).decode()
    data = text if len(text) <= PART else [text[at : at + PART] for at in range(0, len(text), PART)]
    return {KIND: "array", "dtype": whole.dtype.str, "shape": list(array.shape), "data": data}


def _encoded_instance(value: Any) -> dict[str, Any]:
    kind = type(value)
    if kind.__module__.partition(".")[0] not in PACKAGES:
        raise TypeError(
            f"an object of type {kind.__module__}.{kind.__qualname__} cannot be saved as JSON or Parquet. "
            "Save the result as .csv instead."
        )
    name: dict[str, Any] = {KIND: f"{kind.__module__}:{kind.__qualname__}"}
    if issubclass(kind, Enum):
        return name | {"name": value.name}
    if issubclass(kind, tuple):
        return name | {"fields": {key: encoded(item) for key, item in value._asdict().items()}}
    base = next((one for one in TEXTS if issubclass(kind, one)), None)
    if base is not None:
        return name | {"value": encoded(base(value))}
    return name | {"state": {key: encoded(item) for key, item in _state_of(value).items()}}


ENCODERS: dict[type, Callable[[Any], Any]] = {
    float: lambda value: {KIND: "float", "value": repr(value)},
    list: lambda value: list(map(encoded, value)),
    dict: _encoded_dict,
    tuple: _encoded_items,
    set: _encoded_items,
    frozenset: _encoded_items,
    bytes: lambda value: {KIND: "bytes", "data": base64.b64encode(value).decode()},
    np.ndarray: _encoded_array,
    Vocabulary: lambda value: {KIND: "ids", "names": list(map(to_text, value.names))},
}


def _state_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an instance, without those of `UNSAVED` and those computed when asked for."""
    state: Any = value.__getstate__() or {}
    if isinstance(state, tuple):  # attributes in slots
        state = (state[0] or {}) | state[1]
    left_out = getattr(type(value), "UNSAVED", ())
    return {
        name: item
        for name, item in state.items()
        if name not in left_out and not isinstance(getattr(type(value), name, None), cached_property)
    }


def decoded(value: Any) -> Any:
    """Return the object that JSON of `encoded` holds.

    >>> decoded(encoded({2: b"x"}))
    {2: b'x'}
    """
    if isinstance(value, list):
        return list(map(decoded, value))
    if not isinstance(value, dict):
        return value
    kind = value.get(KIND)
    if kind is None:
        return {key: decoded(item) for key, item in value.items()}
    return DECODERS[kind](value) if kind in DECODERS else _decoded_instance(_class_of(kind), value)


def _decoded_array(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    content = zlib.decompress(base64.b64decode("".join(value["data"])))
    return np.frombuffer(content, dtype=np.dtype(value["dtype"])).reshape(value["shape"])


def _decoded_objects(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(value["items"]), dtype=object)
    array[:] = list(map(decoded, value["items"]))
    return array.reshape(value["shape"])


DECODERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "float": lambda value: float(value["value"]),
    "dict": lambda value: {decoded(key): decoded(item) for key, item in value["items"]},
    "tuple": lambda value: tuple(map(decoded, value["items"])),
    "set": lambda value: set(map(decoded, value["items"])),
    "frozenset": lambda value: frozenset(map(decoded, value["items"])),
    "bytes": lambda value: base64.b64decode(value["data"]),
    "array": _decoded_array,
    "objects": _decoded_objects,
    "ids": lambda value: Vocabulary.of_sorted(map(to_bytes, value["names"])),
}


def _class_of(name: str) -> type:
    """Return the class of an instance, which is one of leadline."""
    module, _, path = name.partition(":")
    if module.partition(".")[0] not in PACKAGES:
        raise ValueError(name)
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not isinstance(found, type) or found.__module__ != module:
        raise TypeError(name)
    return found


def _decoded_instance(kind: Any, value: dict[str, Any]) -> Any:
    if issubclass(kind, Enum):
        return kind[value["name"]]
    if issubclass(kind, tuple):
        fields = {name: decoded(item) for name, item in value["fields"].items()}
        return tuple.__new__(kind, [fields[name] for name in kind._fields])
    base: Any = next((one for one in TEXTS if issubclass(kind, one)), None)
    if base is not None:
        return base.__new__(kind, decoded(value["value"]))
    made = object.__new__(kind)
    state = {name: decoded(item) for name, item in value["state"].items()}
    if hasattr(kind, "__setstate__"):
        made.__setstate__(state)
    else:
        for name, item in state.items():
            object.__setattr__(made, name, item)
    return made


FORMAT = 2  # of saved results
PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
MANIFEST = b"leadline"  # key of the metadata of Parquet
# Hint where another kind of file is given.
SAVED_HINT = "Pass a result saved with -o FILE.json or -o FILE.parquet (in Python, with write(path))"
SAVE_HINT = "Save the result with -o FILE.json or -o FILE.parquet (in Python, with write(path))"


class Saved(NamedTuple):
    """A saved result."""

    path: str
    command: str  # the command that made it; empty for Python
    inputs: list[dict[str, Any]]  # path, digest and number of rows of its inputs
    view: Any  # the result and how the command showed it
    options: dict[str, Any]  # that the JSON names

    @property
    def kind(self) -> str:
        """What was saved, in words: a result of a command, or of a class if Python saved it."""
        return (
            f"result of `{self.command}`"
            if self.command
            else f"result of type {type(self.view.result).__name__}"
        )

    @property
    def values(self) -> Any:
        """The per-query values, as `Results`: the result, or those that it was made of."""
        own = self.view.result
        found = own if hasattr(own, "averaged_values") else getattr(own, "results", None)
        if not hasattr(found, "averaged_values"):
            raise InputError(
                f"is a saved {self.kind} without per-query values",
                path=self.path,
                hint="Pass a result of `evaluate`, `compare` or `rank`",
            )
        return found


def envelope(
    command: str, inputs: Sequence[dict[str, Any]], options: dict[str, Any], warnings: Sequence[ResultWarning]
) -> dict[str, Any]:
    """Return the keys common to all JSON results."""
    return {
        "leadline": VERSION,
        "command": command,
        "inputs": list(inputs),
        "options": options,
        "warnings": [
            {"code": notice.code, "message": notice.message, "count": notice.count} for notice in warnings
        ],
    }


def saved_json(view: Any, about: Mapping[str, Any]) -> bytes:
    """Return a view as JSON; `about` are the keys of `envelope`."""
    data = {"format": FORMAT, **about, **view.data(whole=True), "state": encoded(_packed(view))}
    data = json.loads(json.dumps(data, allow_nan=False))  # as it is read
    return json_text(data | {CHECKSUM: json_checksum(data)}).encode("utf-8", "surrogateescape")


def saved_parquet(view: Any, about: Mapping[str, Any]) -> bytes:
    """Return a view as Parquet."""
    try:
        table = arrow_table(view.result.saved_columns())
    except UnicodeEncodeError:
        raise InputError(
            "an id or a run name is not valid UTF-8, so Parquet cannot store it. Save the result as .json "
            "instead"
        ) from None
    manifest = {"format": FORMAT, **about, "state": encoded(_packed(view))}
    text = json.dumps(manifest, ensure_ascii=True, allow_nan=False)
    return sealed_parquet(table.replace_schema_metadata({MANIFEST: text}))


def arrow_table(columns: Mapping[str, Any]) -> Any:
    """Return columns as an Arrow table; a column of numbers and texts is text."""
    arrow = import_optional("pyarrow")
    made = {}
    for name, values in columns.items():
        mixed = (
            not isinstance(values, np.ndarray)
            and len({isinstance(one, str) for one in values if one is not None}) > 1
        )
        plain = [None if one is None else str(one) for one in values] if mixed else values
        made[name] = arrow.array(plain, from_pandas=True)  # NaN is null
    return arrow.table(made)


def _packed(view: Any) -> Any:
    """Return a view without the values that the rows hold."""
    packed = copy.copy(view)
    packed.result = view.result.without_saved_columns()
    return packed


def read_saved(path: str, *, to_update: bool = False) -> Saved:
    """Read a saved result; with `to_update` the running command may replace the file."""
    record_input(path)
    table = None
    if (first_bytes(path) or b"").startswith(PARQUET):
        table = read_parquet(path, hint=SAVED_HINT)
        with restoring(path):
            data = json.loads((table.schema.metadata or {}).get(MANIFEST, b"{}"))
    else:
        text = text_of(read_whole(path))
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError("is neither valid JSON nor Parquet", path=path, hint=SAVED_HINT) from None
    if to_update:
        release_input(path)
    return restored(data, path, table)


def restored(data: Any, path: str = "", table: Any = None) -> Saved:
    """Return a saved result from its JSON, or the manifest and the rows of its Parquet."""
    check_format(data, path)
    if table is None and CHECKSUM not in data:
        raise InputError(DAMAGED, path=path)
    check_json(data, path)
    with restoring(path):
        view = decoded(data["state"])
        if hasattr(view.result, "averaged_values"):
            queries = () if table is not None else (run["queries"].values() for run in data["runs"])
            values = [[list(row.values()) for row in rows] for rows in queries]
            view.result.take_saved_values(values if table is None else table["value"].to_numpy())
        remember_inputs(view.result, data["inputs"])
        return Saved(path, data["command"], data["inputs"], view, data["options"])
    raise AssertionError


def is_saved_file(path: str) -> bool:
    """Return whether a file holds a saved result, rather than a run."""
    try:
        head = first_bytes(path) or b""
    except (OSError, ValueError, LeadlineError):
        return False
    if head.startswith(PARQUET):
        return MANIFEST in (read_parquet(path).schema.metadata or {})
    compact = b"".join(head.split())
    return compact.startswith((b'{"leadline":', b'{"format":'))


def is_saved(data: object) -> bool:
    """Return whether JSON is a saved result."""
    return isinstance(data, dict) and "state" in data and "format" in data


def check_format(data: object, path: str) -> None:
    """Raise InputError for anything but a saved result of this format."""
    if not isinstance(data, dict) or "leadline" not in data or isinstance(data.get("format"), str):
        raise InputError("is not a saved result", path=path, hint=SAVED_HINT)
    version, found = data["leadline"], data.get("format")
    if found == FORMAT:
        if "state" in data:
            return
        raise InputError(DAMAGED, path=path)
    if found is None and data.get("command") == "study":
        message = "is the result of a study, which leadline cannot show or verify"
        raise InputError(message, path=path, hint="Open index.html in the same folder")
    if found is None:
        message = "was printed with -f json, so it lacks the data needed to restore the result"
        raise InputError(message, path=path, hint=SAVE_HINT)
    message = (
        f"was saved by leadline {version} in format {found}, but this version supports only format {FORMAT}"
    )
    raise InputError(
        message,
        path=path,
        hint="Save the result again with this version (-o FILE.json, or write(path) in Python)",
    )


@contextmanager
def restoring(
    path: str,
    found: str = "is damaged or was saved by a different version of leadline",
    hint: str = "Save the result again",
) -> Iterator[None]:
    """Convert the errors of restoring what a file lacks into an InputError."""
    try:
        yield
    except LeadlineError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ImportError, OSError):
        raise InputError(found, path=path, hint=hint) from None


def json_text(data: Any) -> str:
    """Return indented JSON with one record per line.

    >>> print(json_text({"pairs": [{"a": "x", "low": 0.5}, {"a": "y", "low": None}], "queries": 2}), end="")
    {
      "pairs": [
        {"a": "x", "low": 0.5},
        {"a": "y", "low": null}
      ],
      "queries": 2
    }
    >>> print(json_text({"results": {"runs": [{"queries": {"1": {"AP": 0.5}, "2": {"AP": 1}}}]}}), end="")
    {
      "results": {
        "runs": [
          {
            "queries": {
              "1": {"AP": 0.5},
              "2": {"AP": 1}
            }
          }
        ]
      }
    }
    """
    return escaped("".join(_indented(data, "\n"))) + "\n"


def _indented(data: Any, line: str) -> Iterator[str]:
    """Yield JSON of which only what holds dictionaries takes several lines; C writes the rest."""
    if isinstance(data, dict) and (line == "\n" or any(map(_holds_more, data.values()))):
        begin, end = "{}"
        members = [(f"{PLAIN(str(key))}: ", one) for key, one in data.items()]
    elif isinstance(data, (list, tuple)) and any(isinstance(one, dict | list) for one in data):
        begin, end = "[]"
        members = [("", one) for one in data]
    else:
        yield PLAIN(data)
        return
    before = begin
    for key, one in members:
        yield f"{before}{line}  {key}"
        yield from _indented(one, line + "  ")
        before = ","
    yield f"{line}{end}" if members else begin + end


def _holds_more(value: Any) -> bool:
    """Return whether a member takes a line of its own: a dictionary, or a list of such as hold some."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict) and any(map(_holds_more, value[0].values()))
    return isinstance(value, dict)


def json_lines(records: Iterable[Any]) -> str:
    """Return records as JSON, one per line."""
    return "".join(escaped(json.dumps(record, ensure_ascii=False)) + "\n" for record in records)


def escaped(text: str) -> str:
    """Escape control and direction characters in JSON, which could change the state of a terminal.

    Surrogates, which represent bytes of ids that are not UTF-8, are escaped too, so that the output is valid
    UTF-8.
    """
    if text.isascii() and "\x7f" not in text:  # JSON has escaped the other control characters
        return text
    return re.sub(f"{UNSAFE.pattern}|[\ud800-\udfff]", _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\n":  # between values; within strings JSON has escaped it
        return match[0]
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
