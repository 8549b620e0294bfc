"""Options and settings that messages name exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import leadline
from leadline.cli import TRIED
from leadline.cli._help import table
from leadline.cli._settings import SETTINGS

SOURCES = sorted(Path(leadline.__file__).parent.rglob("*.py"))
OPTION = re.compile(r"(?<![\w-])--(?!leadline-)[a-z][a-z0-9-]*\w")
SETTING = re.compile(r"--config ([a-z]+\.[a-z_]+)")
# Of click, and of other programs.
OTHERS = {"--help", "--version", "--config", "--figures", "--upgrade"}


def options(entries: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names of the options of commands."""
    for entry in entries.values():
        for one in entry.get("params", ()):
            yield from (part for name in one["names"] for part in name.split("/"))
        yield from options(entry.get("commands", {}))


def messages(path: Path) -> Iterator[str]:
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
    known = {*options(table()), *TRIED, *OTHERS, *(name for one in SETTINGS.values() for name in one.tried)}
    unknown = {
        (name, path.name)
        for path in SOURCES
        for text in messages(path)
        for name in OPTION.findall(text)
        if name not in known
    }
    assert unknown == set()


def test_every_setting_that_a_message_names_exists() -> None:
    found = {name for path in SOURCES for text in messages(path) for name in SETTING.findall(text)}
    assert found
    assert found <= {*SETTINGS}


def test_no_command_has_too_many_options_nor_do_all() -> None:
    """Hidden options count, --config does not; the studies have theirs."""
    counts = {
        name: sum(one["kind"] == "option" for one in entry.get("params", ()))
        for name, entry in table().items()
    }
    counts |= {
        f"{name} {below}": sum(one["kind"] == "option" for one in part["params"])
        for name, entry in table().items()
        for below, part in entry.get("commands", {}).items()
    }
    assert {name: count for name, count in counts.items() if count > 29} == {}
    assert sum(counts.values()) <= 435
