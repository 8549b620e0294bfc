"""Words that people try for a command or an option, and what does it here."""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

import click

from leadline.cli._help import NameOf, answers, are_values, letters, looks_like_file, names_known, table
from leadline.errors import either, meant, sentences

# Registries whose names are explained by a command.
EXPLAINED = {"measures.MEASURES": "measures", "retrieval.models.MODELS": "models"}
TYPING = 0.8  # share of equal letters from which an option is the one that was meant
LONGEST = 100  # characters of an error about extra arguments
LONG = 8  # letters of a word that can be taken for a misspelt one
MISSPELT = 0.88  # the same for a word that people try
# Words of options that say nothing about what they set.
EMPTY = (
    "with from only show print file path name names list number type leadline total mean metric queries "
    "query docs runs samples level random score drop rank width"
)
HOLD_BOTH = (".json", ".jsonl", ".csv", ".tsv", ".parquet")  # files that may hold judgments and a run
# Words of answers, and the parameters of the commands that they are for.
ARGUMENTS = {
    "QRELS RUN": ("qrels", "runs"),
    "of a run.": ("runs",),
    "Per-query values": ("wide",),
    "All runs in the file": ("wide", "runs"),
    ".svg": ("labels",),
}
MOST = 3  # options whose names have a word, or commands that have an option; with more, it says nothing
# What may stand beside an input in an option, as in --qrels-file, --run2, --run-a and --gold-qrels.
ENDS = re.compile(r"(?<=\w)(?:-?(?:files?|paths?|dir|directory|folder)|-?\d+|-[ab])$")
STARTS = re.compile(
    "^(?:input|test|new|old|first|second|control|treatment|trec|system|reference|human|gold|llm)-"
)


TRIED_COMMANDS = {word: answer for word, (answer,) in answers("commands").items()}
TRIED_OPTIONS = answers("options")
PATTERNS = [word for word in TRIED_OPTIONS if "*" in word]
# Kinds of arguments that each word for an input may be, and the answer where a command has none of them.
TRIED_INPUTS = answers("inputs")
TRIED_EXTRA = {word: answer for word, (answer,) in answers("extra").items()}
TRIED_MISSING = {word: answer for word, (answer,) in answers("missing").items()}
EVALUATE = TRIED_COMMANDS["eval"]


def command_for(word: str) -> str:
    """Return what to use for a word that is no command; empty if nobody knows."""
    if word in TRIED_COMMANDS:
        return TRIED_COMMANDS[word]
    from leadline.cli._settings import SETTINGS

    if any(word == one.key for one in SETTINGS.values()):
        return f"'{word}' is a setting for --config. `leadline help config` explains it."
    for place, command in EXPLAINED.items():
        listed = {name.lower() for name in names_known()[place]}
        if re.split(r"[@(]", word.lower())[0] in listed:
            return f"`leadline {command} {shlex.quote(word)}` explains this {command[:-1]}."
    if word.lower().endswith(".toml"):
        run = f"`leadline evaluate --config {shlex.quote(word)}`"
        return f"Use {run} for an experiment, or `leadline suite {shlex.quote(word)}` for a suite."
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
    if os.path.exists(first) and not first.lower().endswith(".toml"):
        if are_values([first]):
            return f" {first} contains per-query values. Pass them to `leadline compare`, `rank` or `report`."
        both = first.lower().endswith(HOLD_BOTH)
        return f" If {first} also contains a run, pass the file twice." if both else ""
    answer = command_for(first)
    return "" if answer in ("", EVALUATE) else f" {answer}"


def shortened(text: str, command: click.Command | None, path: str) -> str:
    """Return an error about extra arguments, of which a pattern may give many, without most of them."""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]} ...)"
    if command is None:
        return text
    return sentences(text, TRIED_EXTRA.get(str(command.name)) or f"The usage is `{usage(command, path)}`.")


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
    """Return what to use for an option that a command does not have; if nothing is known, its usage.

    An input that is an argument is shown as one, and a word that people try has its answer. Then come
    settings of that name, names of methods, options that are spelled `like` it, and those whose names have
    its words. `path` is the command with its group.
    """
    if command is None:
        return answer_to(word, None, "")
    if path and isinstance(command, click.Group):
        below = command.list_commands(click.Context(command))
        return f"Name a `leadline {path}` command first, such as `leadline {path} {below[0]}`."
    name = path or str(command.name)
    option, _, value = word.partition(" ")
    if value and any(option in one.opts for one in command.params):
        return f"Pass the option and its value as two arguments, or as {option}={value.strip()}."
    return (
        as_argument(word, command, name)
        or answer_to(word, command, name)
        or as_setting(word, command)
        or as_value(word, command)
        or as_misspelt(word, command, name, like)
        or "".join(known_as_input(word)[1:2])
        or ("" if tried(word) else meant(map(repr, by_meaning(word, command))) or elsewhere(word))
        or (f"The usage is `{usage(command, path)}`." if path else "")
    )


def as_argument(word: str, command: click.Command, path: str) -> str:
    """Return how an input is passed that is an argument of a command; empty if it is none."""
    kinds, *more = known_as_input(word)
    asked = arguments_for(kinds, command)
    derived = word not in TRIED_INPUTS and answer_to(word, command, path)
    if not asked or tried(f"{path} {word}") or derived:
        return ""
    note = next((one for one in more[1:] if fits(one, command)), "")
    return f"Pass its value as an argument, as in `{usage(command, path, asked)}`. {note}".rstrip()


def as_setting(word: str, command: click.Command) -> str:
    """Return the setting that an option stands for; empty if it stands for none."""
    from leadline.cli._settings import replacing

    setting = replacing(command, word)
    return "" if setting is None else f"Use --config {setting.usage}."


def as_misspelt(word: str, command: click.Command, path: str, like: Sequence[str]) -> str:
    """Return what to use for an option that is spelled `like` others, or like a word that people try."""
    if tried(word):  # known, but no answer holds here
        return ""
    spelled = [one for one in like if difflib.SequenceMatcher(None, one, word).ratio() >= TYPING]
    if not spelled and len(word) >= LONG:
        known = [one.removeprefix(f"{path} ") for one in TRIED_OPTIONS]
        for close in difflib.get_close_matches(word, known, cutoff=MISSPELT):
            opposite = ("-judged" in close) != ("-judged" in word)
            if not opposite and (answer := answer_to(close, command, path)):
                return answer
    return meant(map(repr, sorted(spelled)))


def known_as_input(word: str) -> tuple[str, ...]:
    """Return the kinds of arguments that an option may be, and what is said of them; empty if of none.

    >>> known_as_input("--topics")[0] == known_as_input("--topic-file2")[0], known_as_input("--seed")
    (True, ('seed',))
    """
    plain = word.lstrip("-").lower().replace("_", "-")
    while (shorter := ENDS.sub("", plain)) != plain:
        plain = shorter
    dashes = "--" if word.startswith("--") else "-"
    return TRIED_INPUTS.get(dashes + plain) or TRIED_INPUTS.get(dashes + STARTS.sub("", plain)) or (plain,)


def arguments_for(kinds: str, command: click.Command) -> list[str]:
    """Return the names of the arguments of a command that are of some kinds; the first if any will do."""
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    if kinds == "any":
        return [str(one.name) for one in arguments[:1]]
    wanted = {kind.rstrip("s") for kind in kinds.split()}
    found = []
    for one in arguments:
        shown = re.findall(r"[A-Z](?:[A-Z-]*[A-Z])?", re.sub(r"\[:.*?\]", "", one.metavar or ""))
        if wanted & {text.lower().replace("_", "-").rstrip("s") for text in (str(one.name), *shown)}:
            found.append(str(one.name))
    return found


def usage(command: click.Command, path: str, asked: Sequence[str] = ()) -> str:
    """Return how a command is called, with what it must have, and the arguments that were `asked` for.

    >>> optional = click.Command("report", params=[click.Argument(["runs"], nargs=-1)])
    >>> usage(optional, "report"), usage(optional, "report", ["runs"])
    ('leadline report [RUNS]...', 'leadline report RUNS...')
    """
    context = click.Context(command)
    words = ["leadline", path]
    for one in command.params:
        if isinstance(one, click.Argument):
            (piece,) = one.get_usage_pieces(context)
            words.append(re.sub(r"^\[([^\[\]]*)\]", r"\1", piece) if one.name in asked else piece)
    for one in command.params:
        if isinstance(one, click.Option) and one.required:
            value = one.metavar or one.opts[0].rpartition("-")[2].upper()
            words.append(f"{min(one.opts, key=len)} {value}")
    return " ".join(filter(None, words))


def as_value(word: str, command: click.Command) -> str:
    """Return the option that takes a word as its value, such as a method; empty if there is none."""
    base, rest = re.findall(r"^(?:--)?([\w-]*)(.*)", word)[0]
    for one in command.params:
        if isinstance(one, click.Option) and isinstance(one.type, NameOf):
            for name in one.type.names():
                if letters(name) == letters(base):
                    return f"Use {min(one.opts, key=len)} {name}{rest}."
    return ""


def elsewhere(word: str) -> str:
    """Return which commands have an option; empty if none or too many do."""
    having = [
        " ".join(filter(None, ["leadline", name, word, one.get("metavar", "")]))
        for name, entry in table().items()
        for one in entry.get("params", ())
        if one["kind"] == "option" and word in one["names"]
    ]
    if not word.startswith("--") or not 0 < len(having) <= MOST:
        return ""
    return f"Only {either(map('`{}`'.format, having), 'and')} {'takes' if len(having) == 1 else 'take'} it."


def answer_to(word: str, command: click.Command | None, path: str) -> str:
    """Return the first answer to a word that names only options and settings of a command, if any."""
    given = tried(f"{path} {word}") or tried(word)
    return next((one for one in given if command is None or fits(one, command)), "")


def tried(word: str) -> tuple[str, ...]:
    """Return the answers to a word that people try, which may be one of a pattern such as --*-column."""
    if word in TRIED_OPTIONS:
        return TRIED_OPTIONS[word]
    return next((TRIED_OPTIONS[one] for one in PATTERNS if fnmatch.fnmatchcase(word, one)), ())


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
    """Return the options and settings, at most two, whose names have the words of an option."""
    from leadline.cli._settings import taken

    names = {_usage(one): " ".join(one.opts) for one in command.params if isinstance(one, click.Option)}
    names |= {f"--config {one.usage}": one.keyword.replace("_", "-") for one in taken(command)}
    found: dict[str, int] = {}
    for part in {*re.findall(r"[a-z]{4,}", word.lower())} - {*EMPTY.split()}:
        stem = re.compile(rf"\b{part[:-1] if part.endswith('s') else part[:6]}", re.IGNORECASE)
        having = [usage for usage, name in names.items() if stem.search(name)]
        if len(having) <= MOST:
            found |= {usage: found.get(usage, 0) + 1 for usage in having}
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
