"""The shell and Python share their parameters: what both have has one name and one default."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import leadline
from leadline.cli._help import table
from leadline.cli._settings import SETTINGS

REQUIRED = inspect.Parameter.empty
# What only Python has: callbacks, what the shell spells as an argument or as another option, and the rest.
PYTHON: dict[str, str] = {
    "": "on_run on_query on_fit on_document runs_and_measures relevance_strings",  # the last: -f trec
    "agreement": "others",
    "check": "documents others",  # --docs, FILES
    "collection": "documents",
    "correlate": "teams",  # --team, several times
    "difference": "graded ap_rel",  # --binary
    "explain": "measure name pool",  # -m; estimates are not explained
    "histogram": "documents",
    "pool": "measure",  # --for
    "replicate": "pool name_by",  # the second is refused
    "report": "path options",
    "sampled": "documents",  # --docs
    "suite": "source name_by depth judged_only lengths negative profile qrels_columns queries subtopics",
    "verify": "path",
    "why_different": "options",  # those of evaluate, which it finds
}
RENAMED = {"rel": "level"}  # -l/--level, as in trec_eval
UNSET = ("evaluate", "confidence")  # None in Python, as it is refused without intervals


def shared() -> list[str]:
    """Return the commands that are also public functions, and have their parameters in the table."""
    names = (name.replace("-", "_") for name, entry in sorted(table().items()) if entry.get("params"))
    return [name for name in names if inspect.isroutine(getattr(leadline, name, None))]


def parameters(function: Any) -> dict[str, object]:
    """Return the keywords of a function with their defaults, those that it takes by `Unpack` too."""
    found: dict[str, object] = {}
    module = inspect.getmodule(inspect.unwrap(function))
    for name, one in inspect.signature(function).parameters.items():
        unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(one.annotation))
        if unpacked:
            found |= dict.fromkeys(getattr(module, unpacked[1]).__annotations__, REQUIRED)
        else:
            found[name] = one.default
    return found


def options(command: str) -> dict[str, object]:
    """Return the parameters of a command with their defaults, by the names that its function knows."""
    found: dict[str, object] = {}
    for one in table()[command]["params"]:
        names = one["names"]
        if one["kind"] == "setting":
            found[names[0].rpartition(".")[2]] = one.get("default", SETTINGS[names[0]].default)
            continue
        own = [name for name in names if not name.startswith("-")]
        long = [name[2:].partition("/")[0].replace("-", "_") for name in names if name.startswith("--")]
        found[(own or long or [names[0].lstrip("-")])[0]] = one.get("default")
    return found


@pytest.mark.parametrize("name", shared())
def test_the_shell_has_each_parameter_of_the_function_with_its_default(name: str) -> None:
    given = options(name.replace("_", "-"))
    known = {*PYTHON[""].split(), *PYTHON.get(name, "").split()}
    for key, default in parameters(getattr(leadline, name)).items():
        if key in known:
            continue
        shell = key if key in given else RENAMED.get(key, key)
        assert shell in given, f"only in Python: {key}"
        if given[shell] is not None and default is not REQUIRED and (name, key) != UNSET:
            assert plain(given[shell]) == plain(default), key


def plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str) else value


def test_what_only_python_has_is_there() -> None:
    for name in shared():
        assert set(PYTHON.get(name, "").split()) <= parameters(getattr(leadline, name)).keys(), name
    assert PYTHON.keys() - {""} <= set(shared())
