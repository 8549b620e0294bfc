"""Words that people try for a command or an option, and what does it here."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from typing import Any

import click

from leadline.cli._help import answers, are_values, looks_like_file, names_known
from leadline.errors import meant, sentences

# Registries whose names are explained by a command.
EXPLAINED = {"measures.MEASURES": "measures", "retrieval.models.MODELS": "models"}
TYPING = 0.8  # share of equal letters from which an option is the one that was meant
LONGEST = 100  # characters of an error about extra arguments
LONG = 8  # letters of a word that can be taken for a misspelt one
MISSPELT = 0.88  # the same for a word that people try
# Words of options that say nothing about what they set.
EMPTY = "with from only show print file path name list number type leadline"
HOLD_BOTH = (".json", ".jsonl", ".csv", ".tsv", ".parquet")  # files that may hold judgments and a run
# Words of answers, and the parameters of the commands that they are for.
ARGUMENTS = {
    "QRELS RUN": ("qrels", "runs"),
    "of a run.": ("runs",),
    "Per-query values": ("wide",),
    ".svg": ("labels",),
}
MOST = 3  # options whose help has a word; with more, the word says nothing


TRIED_COMMANDS = {word: answer for word, (answer,) in answers("commands").items()}
TRIED_OPTIONS = answers("options")
TRIED_EXTRA = {word: answer for word, (answer,) in answers("extra").items()}
TRIED_MISSING = {word: answer for word, (answer,) in answers("missing").items()}
EVALUATE = TRIED_COMMANDS["eval"]


def command_for(word: str) -> str:
    """Return what to use for a word that is no command; empty if nobody knows."""
    if word in TRIED_COMMANDS:
        return TRIED_COMMANDS[word]
    from leadline.cli._settings import SETTINGS

    if any(word == one.key for one in SETTINGS.values()):
        return "It is a setting for --config. `leadline help config` explains it."
    for place, command in EXPLAINED.items():
        listed = {name.lower() for name in names_known()[place]}
        if re.split(r"[@(]", word.lower())[0] in listed:
            return f"Use `leadline {command} {word}`, which explains it."
    return EVALUATE if looks_like_file(word) else ""


def missing_for(context: click.Context) -> str:
    """Return what to use where an argument or option is missing; empty if nobody knows."""
    if context.params.get("pool") == "export":
        return " Use `leadline judge --store FILE --export QRELS`."
    answer = TRIED_MISSING.get(str(context.command.name), "")
    if answer and any(context.params.values()):
        return f" {answer}"
    first = context.params.get("qrels")
    if not isinstance(first, str):
        return ""
    if os.path.exists(first):
        if are_values([first]):
            return f" {first} contains per-query values. Pass them to `leadline compare`, `rank` or `report`."
        both = first.lower().endswith(HOLD_BOTH)
        return f" If {first} also contains a run, pass the file twice." if both else ""
    answer = command_for(first)
    return "" if answer in ("", EVALUATE) else f" {answer}"


def shortened(text: str, command: click.Command | None) -> str:
    """Return an error about extra arguments, of which a pattern may give many, without most of them."""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]} ...)"
    return sentences(text, TRIED_EXTRA.get("" if command is None else str(command.name), ""))


def in_words(text: str) -> str:
    """Return an error of click about a value without its terms of programming.

    >>> in_words("0 is not in the range 1<=x<=9."), in_words("-1 is not in the range x>=0.")
    ('0 is not between 1 and 9.', '-1 is less than 0.')
    """
    text = re.sub(r"is not in the range ([\d.]+)<=x<=([\d.]*\d)", r"is not between \1 and \2", text)
    text = re.sub(r"is not in the range x>=([\d.]*\d)", r"is less than \1", text)
    text = re.sub(r"a valid integer(?: range)?", "a whole number", text)
    text = re.sub(r"a valid boolean\. Recognized values: .*?\by, yes\b", "true or false", text)
    return text.replace("a valid float range", "a number").replace("a valid float", "a number")


def option_for(word: str, command: click.Command | None, like: Sequence[str] = (), path: str = "") -> str:
    """Return what to use for an option that a command does not have; empty if nobody knows.

    A word that people try has its answer; then come settings of that name, options that are spelled
    `like` it, and those whose help has its words. `path` is the command with its group.
    """
    if command is None:
        return answer_to(word, None, "")
    path = path or str(command.name)
    if answer := answer_to(word, command, path):
        return answer
    from leadline.cli._settings import replacing

    setting = replacing(command, word)
    if setting is not None:
        return f"Use --config {setting.usage}."
    spelled = [one for one in like if difflib.SequenceMatcher(None, one, word).ratio() >= TYPING]
    if not spelled and len(word) >= LONG:
        known = [one.removeprefix(f"{path} ") for one in TRIED_OPTIONS]
        for close in difflib.get_close_matches(word, known, cutoff=MISSPELT):
            opposite = ("-judged" in close) != ("-judged" in word)
            if not opposite and (answer := answer_to(close, command, path)):
                return answer
    return meant(map(repr, sorted(spelled) or by_meaning(word, command)))


def answer_to(word: str, command: click.Command | None, path: str) -> str:
    """Return the first answer to a word that names only options and settings of a command, if any."""
    own = TRIED_OPTIONS.get(f"{path} {word}", ())
    return next(
        (one for one in own or TRIED_OPTIONS.get(word, ()) if command is None or fits(one, command)), ""
    )


def fits(answer: str, command: click.Command) -> bool:
    """Return whether an answer names only what a command has: options, their values, arguments."""
    plain = re.sub("`[^`]*`", "", answer)
    named = dict(
        re.findall(r"(?<![\w`-])(--config [a-z]+\.[a-z_]+|--?[a-zA-Z][\w-]*)(?:[ =]'?(\w[^\s'.,]*))?", plain)
    )
    metavars = {name: one.metavar or "" for one in command.params for name in one.opts}
    choices = {name: getattr(one.type, "choices", ()) for one in command.params for name in one.opts}
    values = {"-m": "MODEL" if "model" in plain else "MEASURE", "-o": "FILE" if "-o FILE" in plain else ""}
    needed = {name for words, names in ARGUMENTS.items() if words in plain for name in names}
    return (
        named.keys() <= metavars.keys()
        and all(
            value in ("", value.upper()) or value.lower() in map(str.lower, choices[name])
            for name, value in named.items()
            if choices[name]
        )
        and all(value in metavars[name] for name, value in values.items() if name in named)
        and needed <= {one.name for one in command.params}
    )


def by_meaning(word: str, command: click.Command) -> list[str]:
    """Return the options and settings, at most two, whose names or helps have the words of an option."""
    from leadline.cli._settings import taken

    texts = {
        _usage(one): f"{' '.join(one.opts)} {one.help or ''}"
        for one in command.params
        if isinstance(one, click.Option)
    }
    texts |= {f"--config {one.usage}": f"{one.key} {one.help}" for one in taken(command)}
    found: dict[str, int] = {}
    for part in {*re.findall(r"[a-z]{4,}", word.lower())} - {*EMPTY.split()}:
        stem = re.compile(rf"\b{part[:-1] if part.endswith('s') else part[:6]}", re.IGNORECASE)
        having = [usage for usage, text in texts.items() if stem.search(text)]
        if len(having) <= MOST:
            for usage in having:
                found[usage] = found.get(usage, 0) + (2 if stem.search(usage) else 1)
    return sorted(found, key=lambda usage: -found[usage])[:2]


def _usage(one: click.Option) -> str:
    """Return an option with the word for its value."""
    longest = max(one.opts, key=len)
    return longest if one.is_flag or not one.metavar else f"{longest} {one.metavar}"


def with_value(text: str, command: click.Command) -> str:
    """Return an error about an option with the word for its value, as the help has it.

    >>> option = click.Option(["--store"], metavar="FILE")
    >>> with_value("Missing option '--store'.", click.Command("judge", params=[option]))
    "Missing option '--store FILE'."
    """
    options: list[Any] = [one for one in command.params if isinstance(one, click.Option) and one.metavar]
    for one in options:
        for name in one.opts:
            text = text.replace(f"'{name}'", f"'{name} {one.metavar}'")
    return text
