"""Options, progress bars and file output shared by the commands."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, TypeVar

import click

from leadline.cli._help import CORRECTION, MEASURE, TEST, InputPath, add_options, option
from leadline.cli._settings import one_in, setting, settings
from leadline.data.registry import LARGEST
from leadline.errors import UsageError
from leadline.evaluation.profiles import PROFILES
from leadline.io.read_paths import STANDARD_STREAM, declare_output

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("table", "csv", "json", "jsonl", "markdown", "latex")
ALIASES = {"tex": "latex", "md": "markdown", "ndjson": "jsonl", "text": "table", "txt": "table"}


class FormatChoice(click.Choice[str]):
    """Output formats and their aliases."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the canonical name of a format."""
        return super().convert(ALIASES.get(str(value), value), param, ctx)


def whole(low: int = 1, high: int = LARGEST) -> click.IntRange:
    """Return the type of integer options."""
    return click.IntRange(low, high)


LARGEST_SEED = 2**32 - 1
OF_RUNS = tuple(
    f"read.{name}"
    for name in ("order", "on_duplicate", "on_nan", "columns", "drop_identical_ids", "queries_in")
)
seed_type = whole(0, LARGEST_SEED)


class OutputPath(InputPath):
    """Path of an output, which must differ from all inputs."""

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
    return option(
        "Output",
        "-o",
        "--output",
        type=OUTPUT,
        metavar="FILE",
        help="Output file. [default: standard output]",
    )(function)


def formats_option(*more: str) -> Callable[[F], F]:
    """Add `-f/--format` with the formats that only this command has."""

    def add(function: F) -> F:
        return option(
            "Output",
            "-f",
            "--format",
            "form",
            type=FormatChoice((*FORMATS, *more)),
            default="table",
            show_default=True,
            help="Output format.",
        )(function)

    return add


def measure_option(text: str, **attributes: Any) -> Callable[[F], F]:
    """Add `-m/--measure`, which may be repeated, with a help text."""
    return option(
        "Measures",
        "-m",
        "--measure",
        "measures",
        type=MEASURE,
        multiple=True,
        metavar="MEASURE",
        help=text,
        **attributes,
    )


def level_option(
    text: str = "Minimum relevant grade. [default: 1]", *, name: str = "level", **attributes: Any
) -> Callable[[F], F]:
    """Add `-l/--level`, the minimum relevant grade, as the parameter `name`."""
    return option("Measures", "-l", "--level", name, type=float, metavar="GRADE", help=text, **attributes)


def per_query_option(text: str = "Add the values of single queries.") -> Callable[[F], F]:
    """Add `-q/--per-query`."""
    return option("Queries", "-q", "--per-query", is_flag=True, help=text)


def engine_option(text: str, default: str | None = "local") -> Callable[[F], F]:
    """Add `--engine`."""
    return option(
        "Parts",
        "--engine",
        default=default,
        show_default=default is not None,
        metavar="ENGINE",
        help=f"{text}: local, processes[:N], dask[:N] or dask:tcp://HOST:PORT.",
    )


def repair_options(function: F) -> F:
    """Add the settings for ties and faults in runs."""
    return settings(*OF_RUNS)(function)


confidence_option = option(
    "Statistics",
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="Confidence level of the intervals; the significance level is 1 - SHARE.",
)
seed_option = option(
    "Statistics",
    "--seed",
    type=seed_type,
    default=0,
    show_default=True,
    help="Seed of the random number generator.",
)


def interval_options(function: F) -> F:
    """Add the options of confidence intervals of means."""
    return confidence_option(seed_option(setting("test.interval", default="Student")(function)))


def reading_options(function: F) -> F:
    """Add the settings for reading runs and qrels."""
    keys = ("read.negative", "read.name_by", "read.qrels_columns")
    return repair_options(settings(*keys)(setting("read.kind", type=one_in("qrels"))(function)))


def evaluation_options(function: F) -> F:
    """Add the options of evaluation and those for reading runs and qrels."""
    options = (
        level_option("Minimum relevant grade, for measures with the parameter `rel`. [default: 1]"),
        option(
            "Queries",
            "--queries",
            type=click.Choice(["all", "both", "with_relevant"]),
            help="Queries (TREC topics) averaged: all judged ones, those in both files, or those with a "
            "relevant document. [default: all]",
        ),
        option(
            "Measures",
            "--profile",
            type=click.Choice(list(PROFILES)),
            default="leadline",
            show_default=True,
            help="Arithmetic, averaging and measure names: of leadline or of a version of trec_eval.",
        ),
        option(
            "Reading",
            "-M",
            "--depth",
            type=whole(),
            metavar="N",
            help="Number of documents kept per query, after sorting.",
        ),
        option(
            "Reading", "-J", "--judged-only", is_flag=True, help="Remove unjudged documents from the runs."
        ),
    )
    rare = ("read.known", "read.subtopics", "read.documents")
    return reading_options(settings(*rare)(add_options(function, options)))


def sample_options(function: F) -> F:
    """Add the options of judgments that were drawn."""
    options = (
        option(
            "Reading",
            "--pool",
            metavar="POOL",
            help="Pool that the judgments were drawn from (`leadline pool --for`): values are estimates.",
        ),
        option(
            "Reading",
            "--machine",
            metavar="LABELS",
            help="Labels by an automatic judge, for documents of the pool that were not judged; none ignores "
            "those that the pool names. [default: those that the pool names]",
        ),
    )
    return add_options(function, options)


def confidence_options(function: F) -> F:
    """Add the options of significance tests and intervals."""
    options = (
        option(
            "Statistics",
            "--baseline",
            multiple=True,
            metavar="NAME",
            help="Run that every other run is compared with (repeatable). [default: all pairs of runs]",
        ),
        option(
            "Statistics",
            "--test",
            type=TEST,
            default="T",
            show_default=True,
            metavar="NAME",
            help="Paired significance test: T, Randomisation, Bootstrap, Wilcoxon, Sign.",
        ),
        option(
            "Statistics",
            "--correction",
            type=CORRECTION,
            default="Holm",
            show_default=True,
            metavar="NAME",
            help="Correction for multiple comparisons: Holm, Hochberg, Bonferroni, BH, Uncorrected; MaxT "
            "(step-down randomised max-t; with --baseline over its pairs) or Tukey (randomised HSD) over all "
            "pairs jointly.",
        ),
        option(
            "Statistics",
            "--margin",
            type=float,
            metavar="X",
            help="Equivalence margin, in units of the measure; adds an equivalence test.",
        ),
        option(
            "Statistics",
            "--query-group",
            metavar="FILE:COLUMN",
            help="Groups (clusters) of dependent queries, such as paraphrases, users or translations; tests, "
            "intervals and resampling are by group. The first column of FILE is the query id.",
        ),
        confidence_option,
        seed_option,
    )
    rare = ("test.family", "test.smallest", "test.power", "test.interval")
    return settings(*rare)(add_options(function, options))


def refuse_same_output(*outputs: str | None) -> None:
    """Raise UsageError if two outputs are the same file."""
    paths = [os.path.realpath(path) for path in outputs if path is not None and path != "-"]
    if len(set(paths)) < len(paths):
        raise UsageError("two outputs name the same file; expected different files")
    if outputs.count("-") > 1:
        raise UsageError("two outputs are -, standard output; expected a file for one of them")


def write_output(text: str, output: str | None) -> None:
    """Write text to standard output, or atomically to a file."""
    if output in (None, "-"):
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # an id that is not UTF-8: write its original bytes
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
        return
    write_whole(str(output), text.encode("utf-8", "surrogateescape"))


def write_whole(path: str, content: bytes) -> None:
    """Write a file atomically."""
    from leadline.io import write as writing

    writing.write_whole(path, content)


@contextmanager
def progress(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error if it is a terminal and the work takes over a second."""
    started = time.monotonic()
    bar: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        begins = bar is None and time.monotonic() - started > 1
        if begins and (done < total or not total) and sys.stderr.isatty():
            steps = None if total else repeat(None)  # 0: the total is unknown
            bar = click.progressbar(
                steps, length=total or None, label=noun, file=sys.stderr, show_pos=True, update_min_steps=1
            )
            bar.render_progress()
        if bar is not None:
            bar.update(done - bar.pos)

    try:
        yield advance
    finally:
        if bar is not None:
            sys.stderr.write("\r\x1b[2K\x1b[?25h")  # clear the line, show the cursor
            sys.stderr.flush()
