"""Options and settings that messages name exist."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import leadline
from conftest import Leadline
from leadline.cli._help import FILES, table
from leadline.cli._settings import SETTINGS
from leadline.cli._tried import TRIED_OPTIONS

SOURCES = sorted(Path(leadline.__file__).parent.rglob("*.py"))
OPTION = re.compile(r"(?<![\w-])--(?!leadline-)[a-z][a-z0-9-]*\w")
SETTING = re.compile(r"--config ([a-z]+\.[a-z_0-9]+)")
# Of click, and of other programs.
OTHERS = {"--help", "--version", "--config", "--figures", "--upgrade"}


def options(entries: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names of the options of commands."""
    for entry in entries.values():
        for one in entry.get("params", ()):
            yield from (part for name in one["names"] for part in name.split("/"))
        yield from options(entry.get("commands", {}))


@functools.cache
def messages() -> list[str]:
    """Return the string literals of all modules except docstrings."""
    return [text for path in SOURCES for text in messages_of(path)]


def messages_of(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    notes = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, places) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            yield node.value


def test_every_option_that_a_message_names_exists() -> None:
    known = {
        *options(table()),
        *(word.rpartition(" ")[2] for word in TRIED_OPTIONS),
        *OTHERS,
        *(name for one in SETTINGS.values() for name in one.tried),
    }
    unknown = {(name, text) for text in messages() for name in OPTION.findall(text) if name not in known}
    assert unknown == set()


def test_every_setting_that_a_message_names_exists() -> None:
    found = {name for text in messages() for name in SETTING.findall(text)}
    assert found
    assert found <= {*SETTINGS}


def declared() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the commands with their parameters, those of groups below them."""
    for name, entry in table().items():
        if "commands" in entry:
            yield from ((f"{name} {below}", part) for below, part in entry["commands"].items())
        elif "params" in entry:
            yield name, entry


def test_no_command_has_too_many_options_nor_do_all() -> None:
    """Hidden options count, as does --config; the studies have theirs."""
    counts = {
        name: sum(one["kind"] == "option" for one in entry["params"])
        + any(one["kind"] == "setting" for one in entry["params"])
        for name, entry in declared()
    }
    assert {name: count for name, count in counts.items() if count > 27} == {}
    assert sum(counts.values()) <= 400


def test_no_help_is_longer_than_80_lines(leadline: Leadline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = {name: len(leadline(*name.split(), "--help").out.splitlines()) for name, _ in declared()}
    assert {name: count for name, count in lines.items() if count > 80} == {}


# Options that take another kind of value in a command, though they mean the same.
SAME = {"-m": "the thing that a command takes by name: measures, models of search, predictors"}


def test_one_option_has_one_meaning() -> None:
    """An option takes the same kind of value in all commands."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for command, entry in declared():
        for one in entry["params"]:
            if one["kind"] == "option":
                shown, kind = one.get("metavar", ""), str(one.get("type"))
                if shown in FILES.split() or kind == "OUTPUT":
                    kind = "file"
                elif "IntRange" in kind:
                    kind = "number"
                elif one.get("is_flag"):
                    kind = "flag"
                elif shown:
                    kind = shown
                for name in one["names"][:-1]:
                    kinds.setdefault(name, {}).setdefault(kind, []).append(command)
    assert {name: found for name, found in kinds.items() if len(found) > 1 and name not in SAME} == {}
