"""The declarations of the commands, for `cli/commands.json`."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import click

from leadline.cli import _help
from leadline.cli._declared import MODULES, PLAIN
from leadline.cli._help import InputPath, Option
from leadline.cli._settings import SETTINGS, ConfigOption, SettingParameter

KEYS = ("required", "default", "nargs", "multiple", "is_flag", "metavar", "help", "show_default", "hidden")
KEYS += ("expose_value", "is_eager", "envvar", "flag_value", "type", "callback")


def table(modules: dict[str, ModuleType]) -> str:
    """Return the declarations of the commands in modules as JSON, with a line for each parameter."""
    entries = {
        name: {"section": module.SECTION, "says": module.command.get_short_help_str(limit=200).rstrip(".")}
        | ({} if name == "study" else _entry(module.command))
        for name, module in modules.items()
    }
    text = json.dumps(entries, ensure_ascii=False)
    for begin in ('"kind": "', '"help": "', '"section": "'):  # as a line, where it begins an object
        text = text.replace(f"{{{begin}", f"\n{{{begin}")
    assert json.loads(text) == entries
    return text.lstrip() + "\n"


def names() -> str:
    """Return the names in the registries as JSON, with a line for each registry."""
    kinds = [value for value in vars(_help).values() if isinstance(value, _help.NameOf)]
    found = {f"{kind.module}.{kind.registry}": kind.registered() for kind in kinds}
    lines = [f"{json.dumps(name)}: {json.dumps(found[name], ensure_ascii=False)}" for name in sorted(found)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(command: click.Command) -> dict[str, Any]:
    params = [_parameter(one) for one in command.params if not isinstance(one, ConfigOption)]
    entry: dict[str, Any] = {"help": command.help, "epilog": command.epilog, "params": params}
    if type(command).__name__ != "Command":
        entry["class"] = type(command).__name__
    if isinstance(command, click.Group):
        entry["commands"] = {name: _entry(below) for name, below in command.commands.items()}
    return entry


def _parameter(one: click.Parameter) -> dict[str, Any]:
    base: click.Parameter
    if isinstance(one, SettingParameter):
        kind, names, base = "setting", [one.setting.key], SettingParameter(SETTINGS[one.setting.key])
    elif isinstance(one, click.Argument):
        kind, names, base = "argument", [str(one.name)], click.Argument([str(one.name)])
    else:
        first, *rest = one.opts
        kind, names = "option", ["/".join([first, *one.secondary_opts]), *rest, str(one.name)]
        base = click.Option(names, is_flag=getattr(one, "is_flag", False), multiple=one.multiple)
    entry: dict[str, Any] = {"kind": kind, "names": names}
    entry |= {key: True for key in ("is_flag", "multiple") if getattr(one, key, False)}
    for key in KEYS:
        value = getattr(one, key, None)
        if value == getattr(base, key, None) and (kind, key) != ("argument", "required"):
            continue
        entry[key] = _type(value) if key == "type" else _name(value) if key == "callback" else value
    if "flag_value" in entry:
        entry.setdefault("is_flag", False)
    if isinstance(one, Option):
        entry["group"] = one.group
    return entry


def _type(kind: click.ParamType[Any]) -> Any:
    for name, plain in PLAIN.items():
        if kind is plain or type(kind) is type(plain):
            return name
    for module in MODULES:
        for name, value in vars(module).items():
            if value is kind:
                return name
    if isinstance(kind, click.Choice):
        return {type(kind).__name__: [list(kind.choices), kind.case_sensitive]}
    if isinstance(kind, InputPath):
        return {type(kind).__name__: []}
    assert isinstance(kind, (click.IntRange, click.FloatRange)), kind
    return {type(kind).__name__: [kind.min, kind.max, kind.min_open, kind.max_open]}


def _name(callback: Any) -> str:
    return f"{callback.__module__.rpartition('.')[2]}.{callback.__name__}"
