"""The declarations of the commands, for `cli/commands.json`, and the page of their helps.

The docstring of a command is its help, an example, and its parameters, each in a line with its help below:

    [runs]... : RUN...
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure, such as nDCG@10.
    use confidence, seed
    -C test.draws = 40, read.kind qrels/values, scores.wide remembered
    -o | figures box/violin | kinds TEXT | thing RUN | optional | default FILE | more FORMAT | digits

What stands between the bars is a group of the help, `flag`, `flag_value VALUE` (of an option without its
value), `many`, `required`, `nargs N`, `envvar NAME`, a default `= JSON` (in parentheses: not shown), choices
`a/b` (then ` (any case)`), a range `int 1..` or `share 0..1`, or the name of a type. `use` takes parameters
from shared_options.txt, and `-C` lists settings; one that is `remembered` is for `values_given` and not for
the function of the command. `-o` stands for the options of output; the words of `figures` are kinds, or
tables of kinds as MODULE.TABLE, and `kinds` is the help of its --figure. A long line of `-C` or `-o`
continues indented.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import click

from leadline.cli import _help
from leadline.cli._declared import function_of, made
from leadline.cli._outputs import FORMATS
from leadline.cli.help import settings_help
from leadline.data.registry import LARGEST
from leadline.errors import either

Entry = dict[str, Any]
TYPES = {name for name, value in vars(_help).items() if isinstance(value, click.ParamType)}
FLAGS = {"flag": "is_flag", "many": "multiple", "required": "required"}
OPTION_LINE = re.compile(r"((?:--?[\w-]+(?:, )?)+)(?: (?!as )(.*?))?(?: as (\w+))?$")


def table(modules: dict[str, ModuleType]) -> str:
    """Return the declarations of the commands in modules as JSON, with a line for each parameter."""
    entries = {name: {"section": module.SECTION} | _entry(name, module) for name, module in modules.items()}
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


def _entry(name: str, module: ModuleType) -> Entry:
    function = function_of(name)
    if not isinstance(function, FunctionType):  # the studies declare themselves
        return {"says": function.get_short_help_str(limit=200).rstrip(".")}
    entry = _declared(function)
    if hasattr(module, "CLASS"):
        entry["class"] = module.CLASS
    if hasattr(module, "COMMANDS"):
        entry.setdefault("class", "Group")
        entry["commands"] = {below: _declared(each) for below, each in module.COMMANDS.items()}
    return {"says": made(name, entry).get_short_help_str(limit=200).rstrip(".")} | entry


def _declared(function: FunctionType) -> Entry:
    text, _, listed = inspect.cleandoc(function.__doc__ or "").partition("\n\nOptions\n-------\n")
    text, example, epilog = text.partition("\n\nExample: ")
    entry: Entry = {"help": text, "epilog": " ".join((example + epilog).split())}
    params = list(_parameters(listed, entry))
    if next(iter(inspect.signature(function).parameters), "") == "context":
        entry["context"] = True
    return entry | {"params": params}


def _parameters(listed: str, entry: Entry) -> Iterator[Entry]:
    """Yield the parameters of a command; what it makes of the options of output goes into its entry."""
    lines = re.sub(r"\n +", " \0", listed).split("\n")
    for line in filter(None, lines):
        head, _, text = line.partition(" \0")
        if head.startswith("use "):
            for name in head[4:].split(", "):
                yield from _parameters(_shared()[name], entry)
        elif head.startswith("-C "):
            for one in line[3:].replace("\0", "").split(", "):
                yield _setting(one)
        elif head.split(" | ")[0] == "-o":
            yield from _of_output(re.sub("(?<=/) \0|\0", "", line).split(" | ")[1:], entry)
        else:
            yield _parameter(head) | ({"help": text.replace("\0", "")} if text else {})


@cache
def _shared() -> dict[str, str]:
    with open(os.path.join(os.path.dirname(__file__), "shared_options.txt"), encoding="utf-8") as file:
        parts = re.split(r"^\[(.*)\]\n", file.read(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], map(str.rstrip, parts[1::2]), strict=True))


def _setting(text: str) -> Entry:
    text, _, default = text.partition(" = ")
    key, _, choices = text.partition(" ")
    entry: Entry = {"kind": "setting", "names": [key]}
    if choices == "remembered":
        return entry | {"expose_value": False, "callback": "_inputs._remember"}
    entry |= {"type": {"Choice": [choices.split("/")]}} if choices else {}
    entry |= {"default": json.loads(default)} if default else {}
    return entry


def _parameter(head: str) -> Entry:
    first, *words = head.split(" | ")
    if found := OPTION_LINE.match(first):
        names, metavar, name = found[1].split(", "), found[2], found[3]
        entry: Entry = {"kind": "option", "names": [*names, name] if name else names}
    else:
        first, _, metavar = first.partition(" : ")
        name = first.strip("[].")
        entry = {"kind": "argument", "names": [name], "required": not first.startswith("[")}
        entry |= {"nargs": -1} if first.endswith("...") else {}
    entry |= {"metavar": metavar} if metavar else {}
    for word in words:
        entry |= _attribute(word)
    return entry


def _attribute(word: str) -> Entry:
    """Return what one part of the line of a parameter says."""
    key, _, value = word.partition(" ")
    if word in _help.TITLES:
        return {"group": word}
    if word in FLAGS:
        return {FLAGS[word]: True}
    if key == "=":
        return {"default": json.loads(value), "show_default": True}
    if key == "(=":
        return {"default": json.loads(value[:-1])}
    if key in ("nargs", "envvar"):
        return {key: int(value) if value.isdecimal() else value}
    return {"is_flag": False, key: value} if key == "flag_value" else {"type": _type(word, key, value)}


def _type(word: str, key: str, value: str) -> Any:
    if word in TYPES or word == "float":
        return word.upper()
    if word == "FORMATS":
        return {"FormatChoice": [list(FORMATS)]}
    if key in ("int", "share"):
        low, high = (int(end) if end else LARGEST for end in value.split(".."))
        return {"IntRange" if key == "int" else "FloatRange": [low, high]}
    choices = word.removesuffix(" (any case)")
    assert "/" in choices, f"{word} is not one of {', '.join(sorted(TYPES))}, and has no choices"
    return {"Choice": [choices.split("/"), *[False] * (choices != word)]}


def _of_output(words: list[str], entry: Entry) -> Iterator[Entry]:
    """Yield -o and -f, and with figures --figure and its labels."""
    given = {word.partition(" ")[0]: word.partition(" ")[2] for word in words}
    thing = given.get("thing", "")
    entry["outputs"] = {
        "drawn": bool({"figure", "figures"} & {*given}),
        "thing": bool(thing),
        "digits": "digits" in given,
    }
    if kinds := given.get("figures"):
        listed = [name for word in kinds.split("/") for name in _kinds(word)]
        text = given.get("kinds") or "Kind of figure to save with -o: {kinds}."
        choices = f" | {'/'.join(listed)}" * (len(listed) > 1)
        yield _parameter(f"--figure KIND | Output{choices}") | {"help": text.format(kinds=either(listed))}
    if entry["outputs"]["drawn"]:
        yield _setting("figure.labels")
    if entry["outputs"]["digits"]:
        yield _setting("output.digits")
    forms = [*FORMATS, *filter(None, [given.get("more")])]
    form = _parameter('-f, --format FORMAT as form | Output | = "table"')
    text = f"Print as {either('none (nothing)' if form == 'none' else form for form in forms)}."
    yield form | {"type": {"FormatChoice": [forms]}, "help": text}
    output = _parameter(f"-o, --output {thing or 'FILE'} | Output | OUTPUT | many")
    output |= {"required": True} if thing and "optional" not in given else {}
    if default := given.get("default"):
        output |= {"default": [default], "show_default": True}
    first = (
        f"Save the {thing.lower()}. Further -o options save the printed summary"
        if thing
        else "Save the result"
    )
    figure = ", or its figure as .svg, .pdf or .png" if entry["outputs"]["drawn"] else ""
    yield output | {"help": f"{first} as .csv, .tex, .md, .html, .json or .parquet{figure} (repeatable)."}


def _kinds(word: str) -> list[str]:
    """Return the names in a table of figures, such as evaluation.query_figures.KINDS, or the word itself."""
    module, _, table = word.rpartition(".")
    return list(getattr(import_module(f"leadline.{module}"), table)) if module else [word]


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
        "What `--help` prints for every command. Options of many commands are shown only once. Studies are",
        "installed separately (`leadline study NAME --help`).",
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
