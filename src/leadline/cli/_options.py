"""Options, progress bars and file output shared by the commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, TypeVar

import click

from leadline.cli._help import CORRECTION, MEASURE, TEST, add_options, option
from leadline.cli._settings import one_in, setting, settings
from leadline.data.registry import LARGEST
from leadline.evaluation.profiles import PROFILES

F = TypeVar("F", bound=Callable[..., Any])


def whole(low: int = 1, high: int = LARGEST) -> click.IntRange:
    """Return the type of integer options."""
    return click.IntRange(low, high)


LARGEST_SEED = 2**32 - 1
OF_RUNS = tuple(
    f"read.{name}"
    for name in (
        "order",
        "on_duplicate",
        "on_nan",
        "columns",
        "drop_identical_ids",
        "queries_in",
        "documents_of",
    )
)
seed_type = whole(0, LARGEST_SEED)


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
    text: str = "Lowest relevant grade. [default: 1]", *, name: str = "level", **attributes: Any
) -> Callable[[F], F]:
    """Add `-l/--level`, the minimum relevant grade, as the parameter `name`."""
    return option("Measures", "-l", "--level", name, type=float, metavar="GRADE", help=text, **attributes)


def per_query_option(text: str = "Also show the per-query values.") -> Callable[[F], F]:
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
    help="Confidence level, 1 - alpha.",
)
seed_option = option(
    "Statistics", "--seed", type=seed_type, default=0, show_default=True, help="Random seed.", metavar="N"
)


def interval_options(function: F) -> F:
    """Add the options of confidence intervals of means."""
    return confidence_option(seed_option(setting("test.interval", default="Student")(function)))


def reading_options(function: F) -> F:
    """Add the settings for reading runs and qrels."""
    keys = ("read.negative", "read.name_by", "read.qrels_columns")
    return repair_options(settings(*keys)(setting("read.kind", type=one_in("qrels", "values"))(function)))


def evaluation_options(function: F) -> F:
    """Add the options of evaluation and those for reading runs and qrels."""
    options = (
        level_option(),
        option(
            "Measures",
            "--profile",
            type=click.Choice(list(PROFILES)),
            default="leadline",
            show_default=True,
            help="Compute and name measures like leadline, trec9 or trec10.",
            metavar="NAME",
        ),
        option(
            "Measures",
            "-M",
            "--depth",
            type=whole(),
            metavar="N",
            help="Keep only the first N documents per query.",
        ),
        option(
            "Measures", "-J", "--judged-only", is_flag=True, help="Drop unjudged documents from the runs."
        ),
    )
    rare = ("scores.queries", "read.known", "read.subtopics", "read.documents", "read.lengths")
    return reading_options(settings(*rare)(add_options(function, options)))


def sample_options(function: F) -> F:
    """Add the options of judgments that were drawn."""
    options = (
        option(
            "Measures",
            "--pool",
            metavar="POOL",
            help="Pool that the judgments were sampled from (`pool --for`). Scores become estimates.",
        ),
        option(
            "Measures",
            "--machine",
            metavar="LABELS",
            help="Labels from an LLM or another automatic judge. `none` ignores labels that the pool names.",
        ),
    )
    return settings("read.second_judge", "read.second_pool")(add_options(function, options))


test_option = option(
    "Statistics",
    "--test",
    type=TEST,
    default="T",
    show_default=True,
    metavar="NAME",
    help="Paired test: T, Randomisation, Bootstrap, Wilcoxon or Sign.",
)
correction_option = option(
    "Statistics",
    "--correction",
    type=CORRECTION,
    default="Holm",
    show_default=True,
    metavar="NAME",
    help="Correction: Holm, Hochberg, Bonferroni, BH, MaxT, Tukey or Uncorrected.",
)
group_option = option(
    "Statistics", "--query-group", metavar="FILE:COLUMN", help="Groups of related queries, tested as units."
)


def confidence_options(function: F) -> F:
    """Add the options of significance tests and intervals."""
    options = (
        option(
            "Statistics",
            "--baseline",
            multiple=True,
            metavar="NAME",
            help="Compare all other runs with this run only (repeatable). [default: all pairs]",
        ),
        test_option,
        correction_option,
        option("Statistics", "--margin", type=float, metavar="X", help="Also test equivalence within X."),
        group_option,
        confidence_option,
        seed_option,
    )
    rare = ("test.family", "test.smallest", "test.power", "test.interval")
    return settings(*rare)(add_options(function, options))


slice_option = option(
    "Queries",
    "--query-slice",
    multiple=True,
    metavar="FILE:COLUMN",
    help="Also show results by query type, language or other group (repeatable).",
)

weights_option = option(
    "Queries", "--query-weights", metavar="FILE:COLUMN", help="Weight of each query, such as its traffic."
)


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
