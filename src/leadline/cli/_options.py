"""What the commands share: options, progress, and writing files."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leadline.data.registry import LARGEST
from leadline.data.validation import LIMITS
from leadline.errors import UsageError
from leadline.evaluation.profiles import PROFILES
from leadline.io.read_paths import STANDARD_STREAM, declare_output

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("table", "csv", "json", "jsonl", "markdown", "latex")
ALIASES = {"tex": "latex", "md": "markdown", "ndjson": "jsonl", "text": "table", "txt": "table"}


if TYPE_CHECKING:
    Choice = click.Choice[str]
else:  # takes no parameter before click 8.2
    Choice = click.Choice


class FormatChoice(Choice):
    """The formats of a result, also by the names that others give them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the format that a name means."""
        return super().convert(ALIASES.get(str(value), value), param, ctx)


def whole(low: int = 1, high: int = LARGEST) -> click.IntRange:
    """Return the type of an option that is a whole number."""
    return click.IntRange(low, high)


LARGEST_SEED = 2**32 - 1
MOST_DRAWS = LIMITS["draws"]
seed_type = whole(0, LARGEST_SEED)


class OutputPath(click.types.StringParamType):
    """A file or folder that the command writes; it must not be one that the command reads."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Declare the path as an output of this command."""
        path = str(super().convert(value, param, ctx))
        if path != STANDARD_STREAM:
            declare_output(path)
        return path


OUTPUT = OutputPath()


def output_options(function: F) -> F:
    """Add `-f/--format` and `-o/--output`."""
    return formats_option()(output_option(function))


def output_option(function: F) -> F:
    """Add `-o/--output`."""
    return click.option(
        "-o", "--output", type=OUTPUT, metavar="FILE", help="Write the result to FILE instead of the screen."
    )(function)


def formats_option(*more: str) -> Callable[[F], F]:
    """Add `-f/--format` with the formats that only this command has, `--quiet` and `--raw-csv`."""

    def add(function: F) -> F:
        return click.option(
            "-f",
            "--format",
            "form",
            type=FormatChoice((*FORMATS, *more)),
            default="table",
            show_default=True,
            help="How the result is written.",
        )(display_options(function))

    return add


def display_options(function: F) -> F:
    """Add `--quiet` and `--raw-csv`; `displays` tells whether they were given."""
    options = (
        click.option(
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Print the table alone, without the notes below it (JSON keeps its warnings).",
        ),
        click.option(
            "--raw-csv",
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="CSV: no apostrophe before text that begins with =, +, - or @ and that a spreadsheet "
            "would take for a formula.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _remember(context: click.Context, option: click.Parameter, value: object) -> None:
    context.meta[f"leadline.{option.name}"] = value


def displays(name: str) -> bool:
    """Tell whether the command that runs was given `--quiet` (`quiet`) or `--raw-csv` (`raw_csv`)."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(f"leadline.{name}"))


def repair_options(function: F) -> F:
    """Add what says what is done with faults in runs."""
    options = (
        click.option(
            "--order",
            type=click.Choice(["score", "rank"]),
            default="score",
            help="What orders a list: the score (default), or the rank column.",
        ),
        click.option(
            "--on-duplicate",
            type=click.Choice(["refuse", "first", "last", "max", "hold"]),
            default="refuse",
            help="A document twice in a list: refuse it (default), keep the "
            "first, the last, the one of highest score, or hold its rank as non-relevant.",
        ),
        click.option(
            "--on-nan",
            type=click.Choice(["refuse", "drop"]),
            default="refuse",
            help="A score that is no number: refuse it (default) or drop the line.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


confidence_option = click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="Confidence level of the intervals; the significance level is 1 - SHARE.",
)
seed_option = click.option(
    "--seed",
    type=seed_type,
    default=0,
    show_default=True,
    help="Seed of the random number generator; the same seed gives the same result.",
)


def interval_options(function: F) -> F:
    """Add what says how intervals are made."""
    options = (
        confidence_option,
        click.option(
            "--interval",
            default="Student",
            show_default=True,
            metavar="NAME",
            help="How intervals are made: Student, BCa, Percentile.",
        ),
        seed_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


def reading_options(function: F) -> F:
    """Add what says how runs and qrels are read."""
    options = (
        click.option(
            "--negative",
            type=click.Choice(["nonrelevant", "unjudged"]),
            default="nonrelevant",
            help="What a negative grade means in rank measures.",
        ),
        click.option(
            "--name-by", type=click.Choice(["file", "tag"]), default="file", help="What names a run."
        ),
        click.option(
            "--kind",
            type=click.Choice(["qrels"]),
            help="Read QRELS as judgments although they look like a run.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return repair_options(function)


def evaluation_options(function: F) -> F:
    """Add what says how runs are evaluated, and how they are read."""
    options = (
        click.option(
            "-l",
            "--level",
            type=float,
            metavar="GRADE",
            help="The least relevant grade, for measures that have `rel`.",
        ),
        click.option(
            "--queries",
            type=click.Choice(["all", "both", "with_relevant"]),
            help="The queries of the mean: all judged ones (default), those in both files, "
            "those with a relevant document.",
        ),
        click.option(
            "--profile",
            type=click.Choice(list(PROFILES)),
            default="leadline",
            show_default=True,
            help="Compute as another program does.",
        ),
        click.option(
            "--known", metavar="FILE", help="Documents that the user knew before, for Coverage and Novelty."
        ),
        click.option(
            "--subtopics",
            is_flag=True,
            help="Column 2 of the qrels is a subtopic, for measures of diversity such as alpha_nDCG@10.",
        ),
        click.option(
            "-M", "--depth", type=whole(), metavar="N", help="Keep the first N documents of every list."
        ),
        click.option("-J", "--judged-only", is_flag=True, help="Drop unjudged documents from the lists."),
        click.option(
            "-N", "--documents", type=whole(0), metavar="N", help="The size of the collection, for Utility."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return reading_options(function)


CONFIDENCE = (
    "baseline",
    "test",
    "correction",
    "family",
    "interval",
    "confidence",
    "margin",
    "smallest",
    "power",
    "query_group",
    "seed",
)


def confidence_options(function: F) -> F:
    """Add what says how runs are compared; `CONFIDENCE` names these options."""
    options = (
        click.option(
            "--baseline",
            multiple=True,
            metavar="NAME",
            help="Compare every run with this one only (repeatable); default: all pairs.",
        ),
        click.option(
            "--test",
            default="T",
            show_default=True,
            metavar="NAME",
            help="Paired significance test: T, Randomisation, Bootstrap, Wilcoxon, Sign.",
        ),
        click.option(
            "--correction",
            default="Holm",
            show_default=True,
            metavar="NAME",
            help="Correction for multiple comparisons: Holm, Hochberg, Bonferroni, BH, "
            "Uncorrected; MaxT (randomised max-t, step-down; with --baseline over the pairs with "
            "it) or Tukey (randomised) over all pairs at once.",
        ),
        click.option(
            "--family",
            type=click.Choice(["measure", "all"]),
            default="measure",
            show_default=True,
            help="Tests corrected together: the pairs of one measure, or of all measures.",
        ),
        click.option(
            "--margin",
            type=float,
            metavar="X",
            help="Test equivalence too: differences smaller than X (in units of the measure).",
        ),
        click.option(
            "--smallest",
            type=float,
            metavar="X",
            help="Smallest difference that matters: gives the number of queries needed to detect "
            "it, from the upper confidence limit of the standard deviation.",
        ),
        click.option(
            "--power",
            type=float,
            default=0.8,
            show_default=True,
            metavar="SHARE",
            help="Power of --smallest, of detectable differences and of the margins of gates.",
        ),
        click.option(
            "--query-group",
            metavar="FILE:COLUMN",
            help="Queries that go together (paragraph, user, translation): tests, intervals and "
            "random draws by group. The first column of FILE is the query id.",
        ),
        confidence_option,
        click.option(
            "--interval",
            metavar="NAME",
            help="Confidence interval: Student, BCa, Percentile, Randomisation. [default: "
            "Randomisation with the test of that name, else Student]",
        ),
        seed_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


def refuse_overwrite(output: str | None, *inputs: str) -> None:
    """Refuse to write over what is read."""
    for path in inputs:
        if output is not None and os.path.exists(output) and os.path.exists(path):
            same = os.path.samefile(output, path) and os.path.isfile(path)
            if same:
                raise UsageError(f"{output} would overwrite an input; expected another file")


def refuse_same_output(*outputs: str | None) -> None:
    """Refuse to write two things to one place."""
    places = [os.path.realpath(path) for path in outputs if path is not None and path != "-"]
    if len(set(places)) < len(places):
        raise UsageError("two results would go to one file; expected a file for each")
    if outputs.count("-") > 1:
        raise UsageError("two results would go to standard output; expected a file for one of them")


def write_output(text: str, output: str | None) -> None:
    """Write text to a file, complete or not at all, or to standard output."""
    if output in (None, "-"):
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # an id that is not UTF-8: its bytes go out as they came in
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
        return
    write_whole(str(output), text.encode("utf-8", "surrogateescape"))


def write_whole(path: str, content: bytes) -> None:
    """Write a file so that it is complete or absent."""
    from leadline.io import write as writing

    writing.write_whole(path, content)


@contextmanager
def progress(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error when that is a terminal and the work takes over a second."""
    started = time.monotonic()
    bar: Any = None
    task: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar, task
        begins = bar is None and time.monotonic() - started > 1
        if begins and (done < total or not total) and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task(noun, total=total or None)  # 0: nobody knows
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()
