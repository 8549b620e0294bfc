"""Commands as `commands.json` declares them: a help, a completion or an error imports nothing else.

docs/generate.py writes the file from the docstrings of the commands, which are imported when they are called.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from leadline.cli import _help, _inputs, _settings

MODULES = (_help, _inputs, _settings, click)  # of the classes, types and callbacks that it names
Entry = Mapping[str, Any]


# Commands that stand in the file of another, as functions of their name.
BESIDE = {
    "collection": "check",
    "curve": "explain",
    **dict.fromkeys(("difference", "rank"), "correlate"),
    **dict.fromkeys(("fuse", "index", "models", "score"), "search"),
    **dict.fromkeys(("merge", "verify"), "show"),
    "sampled": "histogram",
    **dict.fromkeys(("suite", "why-different"), "replicate"),
    "unjudged": "predict",
}


def module_of(name: str) -> str:
    """Return the module of a command.

    >>> module_of("evaluate"), module_of("score")
    ('leadline.cli.evaluate', 'leadline.cli.search')
    """
    return f"leadline.cli.{BESIDE.get(name, name)}"


def function_of(name: str) -> Any:
    """Return the function of a command, or the group that it is."""
    called = name.replace("-", "_") if name in BESIDE else "command"
    return getattr(importlib.import_module(module_of(name)), called)


def made(name: str, entry: Entry, parent: str = "") -> click.Command:
    """Return a command that imports its function when it is called."""

    def call(**options: Any) -> Any:
        if isinstance(options.get("qrels"), str):
            from leadline.io import ahead  # loads a kernel; no help needs it

            ahead.begin(options["qrels"])
        function = importlib.import_module(module_of(parent)).COMMANDS[name] if parent else function_of(name)
        if chosen := entry.get("outputs"):
            from leadline.cli._outputs import outputs_of

            options["outputs"] = outputs_of(options, **chosen)
        return function(*[click.get_current_context()] * ("context" in entry), **options)

    attributes = {key: entry[key] for key in ("help", "epilog") if key in entry}
    params = [_parameter(one) for one in entry["params"]]
    command: click.Command = named(entry.get("class", "Command"))(
        name, params=params, callback=call, **attributes
    )
    if isinstance(command, click.Group):
        for below, part in entry["commands"].items():
            command.add_command(made(below, part, name))
    return command


def _parameter(one: Entry) -> click.Parameter:
    given = dict(one)
    kind, names = given.pop("kind"), given.pop("names")
    for key in ("type", "callback"):
        if key in given:
            given[key] = _type(given[key]) if key == "type" else named(given[key])
    if kind == "setting":
        return _settings.SettingParameter(_settings.SETTINGS[names[0]], **given)
    if kind == "argument":
        return click.Argument(names, **given)
    return _help.Option(names, **given) if "group" in given else click.Option(names, **given)


def _type(text: Any) -> click.ParamType[Any]:
    if isinstance(text, str):
        found: click.ParamType[Any] = named(text)
    else:
        ((name, arguments),) = text.items()
        found = named(name)(*arguments)
    return found


def named(name: str) -> Any:
    """Return a class, type or callback by its name."""
    module, _, attribute = name.rpartition(".")
    for one in MODULES:
        if hasattr(one, attribute) and one.__name__.endswith(module):
            return getattr(one, attribute)
    raise LookupError(name)
