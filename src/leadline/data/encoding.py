"""Objects as JSON, and back exactly: results with their arrays, tables and records.

Plain values stay as they are. What JSON lacks is an object with the key `@`, which names its kind; `@` of an
instance of a class of leadline is `module:Class`. Reading makes such instances without calling the class, and
no other objects.
"""

from __future__ import annotations

import base64
import importlib
import math
import zlib
from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from leadline.data.ids import Vocabulary, to_bytes, to_text

KIND = "@"
PLAIN = (bool, int, str)
NUMBERS = "biuf"  # kinds of arrays whose bytes are written
TEXTS: tuple[type, ...] = (str, int, float)
PACKAGES = ("leadline", "leadline_studies")


def encoded(value: Any) -> Any:
    """Return an object as JSON.

    >>> encoded((1, 0.5)), encoded(float("inf"))
    ({'@': 'tuple', 'items': [1, 0.5]}, {'@': 'float', 'value': 'inf'})
    """
    kind = type(value)
    if value is None or kind in PLAIN or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, np.generic):
        return encoded(value.item())
    return (ENCODERS.get(kind) or _encoded_instance)(value)


def _encoded_float(value: float) -> dict[str, Any]:
    return {KIND: "float", "value": repr(value)}


def _encoded_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and key != KIND for key in value):
        return {key: encoded(item) for key, item in value.items()}
    return {KIND: "dict", "items": [[encoded(key), encoded(item)] for key, item in value.items()]}


def _encoded_items(value: Any) -> dict[str, Any]:
    items = value if isinstance(value, tuple) else sorted(value)
    return {KIND: type(value).__name__, "items": list(map(encoded, items))}


def _encoded_bytes(value: bytes) -> dict[str, Any]:
    return {KIND: "bytes", "data": base64.b64encode(value).decode()}


def _encoded_ids(value: Vocabulary) -> dict[str, Any]:
    return {KIND: "ids", "names": list(map(to_text, value.names))}


def _encoded_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if array.dtype.kind not in NUMBERS:
        return {KIND: "objects", "shape": list(array.shape), "items": list(map(encoded, array.ravel()))}
    whole = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(zlib.compress(whole.tobytes())).decode()
    return {KIND: "array", "dtype": whole.dtype.str, "shape": list(array.shape), "data": data}


def _encoded_instance(value: Any) -> dict[str, Any]:
    kind = type(value)
    if kind.__module__.partition(".")[0] not in PACKAGES:
        raise TypeError(f"an object of {kind.__module__}.{kind.__qualname__} cannot be saved")
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
    float: _encoded_float,
    list: lambda value: list(map(encoded, value)),
    dict: _encoded_dict,
    tuple: _encoded_items,
    set: _encoded_items,
    frozenset: _encoded_items,
    bytes: _encoded_bytes,
    np.ndarray: _encoded_array,
    Vocabulary: _encoded_ids,
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
    content = zlib.decompress(base64.b64decode(value["data"]))
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
