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

from leadline.cli._help import CORRECTION, INTERVAL, MEASURE, TEST, InputPath, add_options, option
from leadline.cli._reading_options import (
    columns_option,
    identical_option,
    qrels_columns_option,
    queries_option,
)
from leadline.data.registry import LARGEST
from leadline.data.validation import LIMITS
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
MOST_DRAWS = LIMITS["draws"]
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
    """Add the options for ties and faults in runs."""
    return add_options(
        function,
        (
            option(
                "Reading",
                "--order",
                type=click.Choice(["score", "rank"]),
                default="score",
                help="Order of the documents of a run: by score or by the rank column. [default: score]",
            ),
            option(
                "Reading",
                "--on-duplicate",
                type=click.Choice(["refuse", "first", "last", "max", "hold"]),
                default="refuse",
                help="Document retrieved twice for a query: report an error, keep the first, the last or the "
                "one of highest score, or let it hold its rank as non-relevant. [default: refuse]",
            ),
            option(
                "Reading",
                "--on-nan",
                type=click.Choice(["refuse", "drop"]),
                default="refuse",
                help="Score that is NaN: report an error or drop the line. [default: refuse]",
            ),
            columns_option,
            identical_option,
            queries_option,
        ),
    )


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
name_by_option = option(
    "Reading",
    "--name-by",
    type=click.Choice(["file", "tag"]),
    default="file",
    help="Name of a run: its file name or its tag. [default: file]",
)


def draws_option(text: str, default: int = 1000) -> Callable[[F], F]:
    """Add `--draws`, the number of resamples."""
    return option(
        "Statistics",
        "--draws",
        type=whole(0, MOST_DRAWS),
        default=default,
        show_default=True,
        metavar="N",
        help=text,
    )


def interval_options(function: F) -> F:
    """Add the options of confidence intervals of means."""
    return add_options(
        function,
        (
            confidence_option,
            option(
                "Statistics",
                "--interval",
                type=INTERVAL,
                default="Student",
                show_default=True,
                metavar="NAME",
                help="Method of the confidence intervals: Student, BCa (bootstrap), Percentile (bootstrap).",
            ),
            seed_option,
        ),
    )


def reading_options(function: F) -> F:
    """Add the options for reading runs and qrels."""
    return repair_options(
        add_options(
            function,
            (
                option(
                    "Reading",
                    "--negative",
                    type=click.Choice(["nonrelevant", "unjudged"]),
                    default="nonrelevant",
                    help="Meaning of negative grades in rank measures. [default: nonrelevant]",
                ),
                name_by_option,
                qrels_columns_option,
                option(
                    "Reading",
                    "--kind",
                    type=click.Choice(["qrels"]),
                    help="Read QRELS as judgments even if the file looks like a run.",
                ),
            ),
        )
    )


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
            "Measures",
            "--known",
            metavar="FILE",
            help="Documents that the user already knew, for Coverage and Novelty.",
        ),
        option(
            "Reading",
            "--subtopics",
            is_flag=True,
            help="Read column 2 of the qrels as subtopic, for diversity measures such as alpha_nDCG@10.",
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
        option(
            "Measures",
            "-N",
            "--documents",
            type=whole(0),
            metavar="N",
            help="Number of documents in the collection, for Utility and FallOut.",
        ),
    )
    return reading_options(add_options(function, options))


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
            "--family",
            type=click.Choice(["measure", "all"]),
            default="measure",
            show_default=True,
            help="Family of tests corrected together: the pairs of one measure, or of all measures.",
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
            "--smallest",
            type=float,
            metavar="X",
            help="Smallest difference of interest; adds the number of queries needed to detect it, from the "
            "upper confidence limit of the standard deviation.",
        ),
        option(
            "Statistics",
            "--power",
            type=float,
            default=0.8,
            show_default=True,
            metavar="SHARE",
            help="Power for --smallest, detectable differences and the margins of gates.",
        ),
        option(
            "Statistics",
            "--query-group",
            metavar="FILE:COLUMN",
            help="Groups (clusters) of dependent queries, such as paraphrases, users or translations; tests, "
            "intervals and resampling are by group. The first column of FILE is the query id.",
        ),
        confidence_option,
        option(
            "Statistics",
            "--interval",
            type=INTERVAL,
            metavar="NAME",
            help="Method of the confidence intervals: Student, BCa (bootstrap), Percentile (bootstrap), "
            "Randomisation. [default: Randomisation with the test of that name, else Student]",
        ),
        seed_option,
    )
    return add_options(function, options)


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
