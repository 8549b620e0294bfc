"""Help of the commands: options in groups, and shell completion of names and files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from leadline.errors import LeadlineError, UsageError, did_you_mean, either, one_of, sentences
from leadline.io.read_paths import STANDARD_STREAM, declare_output
from leadline.io.run_names import is_input, split_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from leadline.data.registry import Registry


# Groups of options in the order of the help, after the options that only the command has.
Title = Literal[
    "Selection",
    "Sampling",
    "Gates",
    "Measures",
    "Queries",
    "Statistics",
    "Reading",
    "Parts",
    "Texts",
    "Server",
    "Figure",
    "Output",
    "Settings",
]
TITLES = ("Options", *get_args(Title))
VALUES = "values"  # kind of inputs
WIDEST = 28  # a longer option has its text on the next line

SETTING_FILES = "leadline.config.files"  # key of the files of settings in the context
SHARED = "leadline.config.shared"  # key of the settings from an experiment, which is for several commands
# Metavars of files and folders, which a shell completes.
FILES = (
    "DIR DOCS DOCS-OR-INDEX ESTIMATE FILE FILE:COLUMN FILES FOLDER IN INDEX JUDGES JUDGMENTS LABELS LOG "
    "MODEL PAIRS POOL QRELS QUERIES RESULT RUN RUNS SCORES TRUTH USERS VECTORS"
)


@cache
def table() -> dict[str, Mapping[str, Any]]:
    """Return the declarations of the commands by name."""
    declarations: dict[str, Mapping[str, Any]] = _stored("commands.json")
    return declarations


@cache
def names_known() -> dict[str, dict[str, str]]:
    """Return the names in each registry with their titles."""
    names: dict[str, dict[str, str]] = _stored("names.json")
    return names


def _stored(name: str) -> Any:
    import json

    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return json.load(file)


class Option(click.Option):
    """Option with the title of its group in the help."""

    def __init__(self, names: list[str], *, group: Title, **attributes: Any) -> None:
        super().__init__(names, **attributes)
        self.group = group


def is_given(context: click.Context, name: str) -> bool:
    """Return whether a parameter was typed; only the function of a command may ask.

    A callback may not: in click 8.4.0 the source is known only after it. A setting in an experiment was not
    typed, as the experiment may be for several commands.
    """
    typed = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    return typed and name not in context.meta.get(SHARED, ())


def spelled(command: click.Command, name: str) -> str:
    """Return how a parameter of a command is given, as in --level or --config read.order."""
    found = [one for one in command.params if one.name == name]
    return max(found[0].opts, key=len) if found else "--" + name.replace("_", "-")


def typed(context: click.Context, *names: str) -> dict[str, object]:
    """Return those of the named parameters that were typed, as they are given."""
    files = context.meta.get(SETTING_FILES, {})
    given = [(spelled(context.command, name), files.get(name)) for name in names if is_given(context, name)]
    return {f"{text.removeprefix('--config ')} in {file}" if file else text: True for text, file in given}


def refuse_unused(context: click.Context, mode: str, *used: str) -> None:
    """Raise UsageError for typed parameters that the option `mode` does not use."""
    names = {str(one.name) for one in context.command.params} - {"config", "form", "output", *used}
    for name in typed(context, *sorted(names)):
        one_of({mode: True, name: True})


class Command(click.Command):
    """Command with grouped options in its help and shell completion of input files."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        for parameter in self.params:
            if type(parameter.type) is type(click.STRING) and is_file(parameter):
                parameter.type = INPUT
        settings: list[Any] = [one for one in self.params if one.param_type_name == "setting"]
        if settings:
            self.params.append(settings[0].config(one.opts[0].removeprefix("--config ") for one in settings))

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Read the command line; measures among the runs are as if -m had come before them."""
        file = None
        settings: list[Any] = [one for one in self.params if one.param_type_name == "setting"]
        given = [one.partition("=")[0] for one in args if re.match(r"-[a-z]{2}\w", one)]
        try:
            for text in given:  # -output would be -o utput
                if not context.resilient_parsing and any(f"-{text}" in one.opts for one in self.params):
                    raise click.NoSuchOption(text, possibilities=[f"-{text}"], ctx=context)
            if settings and not context.resilient_parsing:
                args, file = settings[0].experiment(self, context, args)
            rest = super().parse_args(context, args)
        except click.UsageError as error:  # the parser does not say of which command
            error.ctx = error.ctx or context
            if isinstance(error, click.NoSuchOption) and len(error.option_name) == len("-x"):
                for text in given:
                    if error.option_name[1:] in text:  # -qrels, not -r
                        raise click.NoSuchOption(text, ctx=error.ctx) from error
            raise
        if file is not None:
            click.echo(f"leadline: experiment: {file}", err=True)
        if isinstance(context.params.get("measures"), tuple) and not context.resilient_parsing:
            for argument in self.params:
                if argument.name in ("runs", "scores") and argument.nargs == -1:
                    move_measures(context, argument)
        return rest

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in TITLES}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None and isinstance(parameter, click.Option):
                title = "Output" if "--help" in parameter.opts else "Options"
                if isinstance(parameter, Option):
                    title = parameter.group
                groups[title].append((record[0], _plain(record[1])))
        filled = {title: records for title, records in groups.items() if records}
        widest = min(WIDEST, max(len(first) for records in filled.values() for first, _ in records))
        for title, records in filled.items():
            with formatter.section(title):
                formatter.write_dl([(first.ljust(widest), text) for first, text in records], col_max=WIDEST)
                if title == "Settings":
                    for parameter in self.params:
                        for row in getattr(parameter, "rows", ()):
                            formatter.write_text(row)


def are_values(paths: Iterable[str], kind: str | None = None, *, saved: bool = True) -> bool:
    """Return whether inputs are per-query values, or `saved` ones: all of them, or none."""
    from leadline.evaluation.score_results import is_known
    from leadline.io.score_tables import first_file, is_values

    if kind is not None:
        return kind == VALUES
    files = {path: split_name(path)[1] for path in paths}
    found = {path: is_values(file, is_known, saved=saved) for path, file in files.items() if first_file(file)}
    if any(found.values()) and not all(found.values()):
        if not saved:  # beside a table of values, those of a saved result are used
            return are_values(files)
        values, other = (
            next(path for path, is_one in found.items() if is_one is kind) for kind in (True, False)
        )
        kinds = next(
            one.type.choices
            for one in click.get_current_context().command.params
            if one.name == "kind" and isinstance(one.type, click.Choice)
        )
        raise UsageError(
            f"{values} contains per-query values, but {other} does not. Pass only files with per-query "
            "values, or only files without them. If leadline misidentified a file, add "
            + either(f"--config read.kind={kind}" for kind in (VALUES, "qrels") if kind in kinds)
            + "."
        )
    return any(found.values())


def move_measures(context: click.Context, argument: click.Parameter) -> None:
    """Move the measures among the values of an argument to the option -m."""
    name = argument.name
    given: tuple[str, ...] = context.params[name]
    moved = [text for text in given if not is_input(text)]
    if not moved:
        return
    context.params[name] = tuple(text for text in given if text not in moved)
    from leadline.evaluation.profiles import check_measures

    try:
        check_measures(moved, context.params.get("profile") or "leadline")
    except UsageError:
        inputs = [*filter(None, [context.params.get("qrels")]), *context.params[name]]
        takes_values = any(one.name == "lower_is_better" for one in context.command.params)
        if not (takes_values and are_values(inputs, context.params.get("kind"))):  # with any measure names
            raise
    if argument.required and not context.params[name]:
        raise click.MissingParameter(ctx=context, param=argument)
    context.params["measures"] += tuple(moved)
    context.set_parameter_source("measures", click.core.ParameterSource.COMMANDLINE)


def _plain(text: str) -> str:
    """Return the help of an option without the range of its numbers.

    >>> _plain("Random seed. [default: 0; 0<=x<=9]"), _plain("First N. [x>=1]")
    ('Random seed. [default: 0]', 'First N.')
    """
    return re.sub(r"; (?:\d+<=)?x[<>]=?\d+(?=\])| *\[(?:\d+<=?)?x[<>]=?\d+\]", "", text).rstrip()


def answers(section: str) -> dict[str, tuple[str, ...]]:
    """Return the answers to each word in a section of the file of words that people try."""
    with open(os.path.join(os.path.dirname(__file__), "tried.txt"), encoding="utf-8") as file:
        lines = file.read().partition(f"[{section}]\n")[2].partition("\n\n")[0]
    found: dict[str, tuple[str, ...]] = {}
    for words, answers in re.findall(r"^(\S.*)\n((?: .*\n?)+)", lines, re.MULTILINE):
        given = tuple(map(str.strip, answers.splitlines()))
        found |= {word.replace("/", " "): given for word in words.split()}
    return found


def looks_like_file(word: str) -> bool:
    """Return whether a word that is no command may be a file."""
    return os.path.exists(word) or os.path.splitext(word)[1] != ""


# A sentence of a refusal that advises a setting, and the end of one that advises a setting of reading.
ADVICE = r"Use `?--config ([a-z]+\.[a-z_]+)(?:[^.]|\.(?=\S))*\.?"
READ_AS = (
    r"(add|use|as in|pass it as) `?--config "
    r"(read\.(?:order|on_\w+|columns|qrels_columns|kind|queries_in|subtopics))((?:=[\w,]+)?)`?"
)
OPTIONAL = r" (?:If it contains [^`]*|or use )`--config (read\.encoding|text\.\w+)=[^`]+`\.?"
OWN = r"--config (?:test|text|topics)\.(\w+)="  # settings that some studies have as options


def advised(text: str, command: click.Command, path: str) -> str:
    """Return a refusal with the names of options, and without settings that the command does not have.

    >>> advised("rel must be a number", click.Command("x", params=[click.Option(["--level"])]), "leadline x")
    '--level must be a number'
    >>> advised("Novelty needs documents. Use --config read.known=FILE.", click.Command("x"), "leadline x")
    'Novelty needs documents. `leadline x` has no setting for this.'
    >>> advised("To keep one, add `--config read.on_duplicate=first`.", click.Command("x"), "leadline x")
    'To keep one, use `leadline convert --config read.on_duplicate=first`.'
    """
    named = {
        str(one.name): max(one.opts, key=len) for one in command.params if not isinstance(one, click.Argument)
    }
    named["rel"] = named.get("level", "rel")
    text = re.sub(r"^(\w+)(?= must be )", lambda found: named.get(found[1], found[1]), text)
    keys = {option.removeprefix("--config ") for option in named.values() if option.startswith("--config ")}
    if command.name == "convert":  # there, one setting names the columns of runs and of judgments
        text = text.replace("--config read.qrels_columns", "--config read.columns")
    options = {name: f"{option} " for name, option in named.items() if " " not in option}
    text = re.sub(OWN, lambda found: options.get(found[1], found[0]), text)
    text = re.sub(OPTIONAL, lambda found: found[0] if found[1] in keys else "", text)
    text = text if "level" in named else re.sub(r", or [^,.]* \(`--level`\)", "", text)
    instead = f"`{path}` has no setting for this."

    def elsewhere(found: re.Match[str]) -> str:
        verb, key, value = found.groups()
        if key in keys:
            return found[0]
        call = f"--config {key.replace('qrels_', '')}{value}"
        other = "evaluate" if key == "read.subtopics" else "convert"
        return f"{verb if verb == 'as in' else 'use'} `leadline {other} {call}`"

    text = re.sub(ADVICE, lambda found: found[0] if found[1] in keys else instead, text)
    return re.sub(READ_AS, elsewhere, text)


class Group(click.Group):
    """Group of commands, whose error for an unknown one says what may be meant."""

    def instead_of(self, word: str, context: click.Context) -> str:
        """Return what to use instead of a word that is no command."""
        if looks_like_file(word) and (extra := answers("extra").get(str(self.name))):
            return extra[0]
        known = self.list_commands(context)
        return did_you_mean(word, known, most=2) or f"See `{context.command_path} --help`."

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its refusals name its options, and advise no setting that it does not have."""
        try:
            return super().invoke(ctx)
        except LeadlineError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if command is None or isinstance(command, click.Group):
                raise
            text = advised(str(error), command, f"{ctx.command_path} {command.name}")
            if text == str(error):
                raise
            raise UsageError(text) from error

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command."""
        word = args[0]
        known = context.resilient_parsing or word.startswith("-") or word in self.list_commands(context)
        if not known:
            raise UsageError(sentences(f"unknown command '{word}'", self.instead_of(word, context)))
        return super().resolve_command(context, args)


class TakesRuns(Command):
    """A command whose `--runs` takes all names up to the next option, as a shell's `*` gives them."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Write `--runs` before each of its values."""
        spread: list[str] = []
        waiting = taking = False
        for each in args:
            if each == "--runs":
                waiting = taking = True
                continue
            if each.startswith("-") and each != "-":
                if waiting:
                    raise click.BadOptionUsage("--runs", "Option '--runs' requires an argument.", context)
                taking = False
            spread += ["--runs", each] if taking else [each]
            waiting = False
        return super().parse_args(context, [*spread, *(["--runs"] if waiting else [])])


class WithTest(Group):
    """A group whose command `test` is meant where no command is named."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Put `test` before anything but a command and a call for help."""
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["test", *args]
        return super().parse_args(context, args)


def is_file(parameter: click.Parameter) -> bool:
    """Return whether the metavar of a parameter denotes an input file or folder."""
    shown = parameter.metavar or ("" if isinstance(parameter, click.Option) else (parameter.name or ""))
    first = shown.replace("...", " ").partition("[")[0].partition(" ")[0]
    return first.upper() in FILES.split()


class InputPath(click.types.StringParamType):
    """Path of an input."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, which an unset variable of a shell would leave empty."""
        if isinstance(value, str) and not value.strip():
            self.fail("the name is empty. Pass the name of a file or folder.", param, ctx)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Let the shell complete file names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


INPUT = InputPath()


def letters(name: str) -> str:
    """Return a name without what people spell differently: its case and hyphens.

    >>> letters("Min-Max") == letters("minmax")
    True
    """
    return re.sub(r"[-_ ]", "", name).lower()


class Choice(click.Choice[str]):
    """A choice among names, of which case and hyphens do not matter."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is listed."""
        listed = {letters(name): name for name in self.choices}
        return super().convert(listed.get(letters(str(value)), value), param, ctx)


ALIASES = {"tex": "latex", "md": "markdown", "ndjson": "jsonl", "text": "table", "txt": "table"}


class FormatChoice(Choice):
    """Output formats and their aliases."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the canonical name of a format."""
        return super().convert(ALIASES.get(str(value), value), param, ctx)


class OutputPath(InputPath):
    """Path of an output, which must differ from all inputs."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Declare the path as an output of this command."""
        path = str(super().convert(value, param, ctx))
        if path != STANDARD_STREAM:
            declare_output(path)
        return path


class Pairs(click.ParamType):  # type: ignore[type-arg]  # takes no parameter before click 8.4
    """`significant`, `all`, or a number of pairs."""

    name = "pairs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """Read the option."""
        if value in ("significant", "all"):
            return str(value)
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"pass significant, all, or a whole number of at least 1, not '{value}'.", param, ctx)
        return number


class NameOf(click.types.StringParamType):
    """Name in a registry of `module`, which completion does not import, or in `more`; `listed`: several."""

    name = "text"

    def __init__(
        self, module: str, registry: str, *, more: tuple[str, ...] = (), listed: bool = False
    ) -> None:
        self.module = module
        self.registry = registry
        self.more = more
        self.listed = listed

    def names(self) -> dict[str, str]:
        """Return the names with their titles, as `names.json` lists them; aliases follow."""
        return {**names_known()[f"{self.module}.{self.registry}"], **dict.fromkeys(self.more, "")}

    def registered(self) -> dict[str, str]:
        """Return the names with their titles, for `names.json`."""
        import importlib

        kinds: Registry[Any] = getattr(importlib.import_module(f"leadline.{self.module}"), self.registry)
        names = {getattr(kind, "called", name): str(kind.title) for name, kind in kinds.classes.items()}
        aliases = {alias: str(kind.title) for kind in kinds.classes.values() for alias in kind.aliases}
        return names | aliases

    def shell_complete(
        self, _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the incomplete word; the case counts if any begins so."""
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",") if self.listed else ("", "", incomplete)
        if before.count("(") > before.count(")"):
            return []
        names = self.names()
        found = [name for name in names if name.startswith(last)] or [
            name for name in names if name.lower().startswith(last.lower())
        ]
        return [CompletionItem(f"{before}{comma}{name}", help=names[name] or None) for name in found]


MEASURE = NameOf("measures", "MEASURES", more=("official", "set", "all_trec"), listed=True)
MODEL = NameOf("retrieval.models", "MODELS")
TEST = NameOf("stats", "TESTS")
CORRECTION = NameOf("stats", "CORRECTIONS", more=("MaxT", "Tukey"))
INTERVAL = NameOf("stats", "INTERVALS")
ESTIMATOR = NameOf("estimation.unjudged_methods", "METHODS")
FUSION = NameOf("retrieval.fusion_methods", "FUSIONS")
POOLING = NameOf("judging.pooling_methods", "POOLS")
PREDICTOR = NameOf("estimation.predictors", "PREDICTORS")
SIMILARITY = NameOf("comparison.similarity_baselines", "SIMILARITIES")
ANALYSIS = NameOf("text", "ANALYSES")
OUTPUT = OutputPath()
PAIRS = Pairs()


def complete_whole_words() -> None:
    """Let completion in bash join the words that bash splits at each `=`, as in `-C read.order=rank`."""
    from click.shell_completion import BashComplete, CompletionItem, add_completion_class

    class WholeWords(BashComplete):
        def get_completion_args(self) -> tuple[list[str], str]:
            args, incomplete = super().get_completion_args()
            words: list[str] = []
            for word in [*args, incomplete]:
                if words and (word == "=" or words[-1].endswith("=")):
                    words[-1] += word
                else:
                    words.append(word)
            return words[:-1], words[-1]

        def format_completion(self, item: CompletionItem) -> str:
            """Return what bash inserts: the part from the last `=` on."""
            key, equals, value = item.value.rpartition("=")
            whole = not equals or not value or item.type != "plain" or "(" in key
            return super().format_completion(item if whole else CompletionItem(value, item.type))

    add_completion_class(WholeWords)
