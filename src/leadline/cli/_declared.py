"""Commands as `commands.json` declares them: a help, a completion or an error imports nothing else.

docs/generate.py writes the file from the files of the commands, which are imported when a command is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from leadline.cli import _help, _scores, _settings

MODULES = (_help, _scores, _settings)  # of the classes, types and callbacks that it names
PLAIN = {"str": click.STRING, "int": click.INT, "float": click.FLOAT, "bool": click.BOOL}
Entry = Mapping[str, Any]


def declared(name: str, load: Callable[[], click.Command]) -> click.Command | None:
    """Return a command that calls what `load` returns; None if the table does not declare it."""
    entry = _help.table().get(name)
    return None if entry is None or "params" not in entry else _command(name, entry, load)


def _command(name: str, entry: Entry, load: Callable[[], click.Command]) -> click.Command:
    def call(*arguments: Any, **options: Any) -> Any:
        function = load().callback
        assert function is not None
        return function(*arguments, **options)

    attributes = {key: entry[key] for key in ("help", "epilog") if key in entry}
    params = [_parameter(one) for one in entry["params"]]
    made: click.Command = named(entry.get("class", "Command"))(
        name, params=params, callback=call, **attributes
    )
    if isinstance(made, click.Group):
        for below, part in entry["commands"].items():
            made.add_command(_command(below, part, lambda below=below: load().commands[below]))  # type: ignore[misc, attr-defined]
    return made


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
        return PLAIN.get(text) or named(text)
    ((name, arguments),) = text.items()
    made: click.ParamType[Any] = (getattr(click, name, None) or named(name))(*arguments)
    return made


def named(name: str) -> Any:
    """Return a class, type or callback by its name."""
    module, _, attribute = name.rpartition(".")
    for one in MODULES:
        if hasattr(one, attribute) and one.__name__.endswith(module):
            return getattr(one, attribute)
    raise LookupError(name)
