"""The declarations of the commands, for `cli/commands.json`, and the page of their helps."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import click

from leadline.cli import _help
from leadline.cli._declared import MODULES, PLAIN
from leadline.cli._help import InputPath, Option
from leadline.cli._settings import SETTINGS, ConfigOption, SettingParameter
from leadline.cli.help import settings_help

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


COMPLETION = """## Completion in the shell

A shell can complete commands, options, the choices of an option, files, and the names of measures (`-m`;
aliases such as `map` and `recip_rank` too), tests (`--test`), corrections (`--correction`), intervals
(`-C interval=`), methods (`--method`) and retrieval models (`-m` of `search` and `score`, `--model` of
studies). Write the script of your shell to a file once, and again after an update of click:

```bash
# bash (4.4 or newer): then add the line `. ~/.leadline-complete.bash` to ~/.bashrc
_LEADLINE_COMPLETE=bash_source leadline > ~/.leadline-complete.bash

# zsh: then add the line `. ~/.leadline-complete.zsh` to ~/.zshrc, after compinit
_LEADLINE_COMPLETE=zsh_source leadline > ~/.leadline-complete.zsh

# fish
_LEADLINE_COMPLETE=fish_source leadline > ~/.config/fish/completions/leadline.fish
```"""

STATUS = """## Exit status

| status | meaning |
| --- | --- |
| 0 | done |
| 1 | a condition was not met, or could not be decided |
| 2 | invalid usage or input |
| 130 | stopped with Ctrl-C |

A command that rejects its input writes one line to standard error, with file, line, what is wrong and what to
do, and no part of an output file. In Python the same errors are exceptions with the same message."""


OPTION = re.compile(r"^  --?\w[^\n]*\n(?: {10,}[^\n]*\n)*", re.MULTILINE)
SHARED_BY = 4  # commands at least that have an option word for word: it is shown once for all


def page(note: str, commands: Iterable[tuple[str, click.Command]]) -> str:
    """Return the page of commands: their names and themselves; `note` says who writes the page."""
    helps = {
        name: _help_of(command, name) for name, command in commands if not name.startswith("leadline study ")
    }
    counted = Counter(_words(row) for text in helps.values() for row in OPTION.findall(text))
    shared = {row for row, times in counted.items() if times >= SHARED_BY}
    lines = [
        "# Commands",
        "",
        note,
        "",
        "What `--help` prints for every command, with the options of many commands shown once. Studies are",
        "installed apart (`leadline study NAME --help`).",
        "",
        COMPLETION,
        "",
        STATUS,
        "",
        "## Options of many commands",
        "",
        "The last line of a command, *Also*, names those that it takes.",
        "",
        "```text",
        *sorted(shared, key=lambda row: row.lstrip("-").lower()),
        "```",
        "",
        "## Settings",
        "",
        "```text",
        settings_help(click.Context(click.Command("config"), terminal_width=100, max_content_width=100)),
        "```",
    ]
    for name, text in helps.items():
        also = [row.split()[0].strip(",") for row in map(_words, OPTION.findall(text)) if row in shared]
        own = OPTION.sub(lambda row: "" if _words(row[0]) in shared else row[0], text)
        own = re.sub(r"^\w[\w ]*:\n\s*(?=^\w[\w ]*:\n|^  Example|\Z)", "", own, flags=re.MULTILINE).rstrip()
        lines += ["", f"## {name}", "", "```text", own]
        lines += [f"\n  Also: {', '.join(also)}"] if also else []
        lines += ["```"]
    return "\n".join(lines) + "\n"


def _words(row: str) -> str:
    return " ".join(row.split())


def _help_of(command: click.Command, name: str) -> str:
    context = click.Context(
        command, info_name=name, terminal_width=100, max_content_width=100, help_option_names=["-h", "--help"]
    )
    return command.get_help(context).rstrip() + "\n"
