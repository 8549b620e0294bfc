"""Options and output of figures, shared by the commands that plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leadline.cli._help import add_options, option
from leadline.cli._options import OUTPUT, refuse_overwrite, refuse_same_output, write_whole
from leadline.data.optional import require
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.data.result import Result


F = TypeVar("F", bound=Callable[..., Any])
LARGEST = 200.0  # inches
LETTERS = (3.0, 72.0)  # points


def plot_option(text: str) -> Callable[[F], F]:
    """Add `--plot`, the files of the figure."""
    return option(
        "Figure",
        "--plot",
        "plots",
        type=OUTPUT,
        multiple=True,
        metavar="FILE",
        help=f"{text}: FILE.svg, FILE.pdf or FILE.png (repeatable).",
    )


def figure_option(kinds: Sequence[str], text: str) -> Callable[[F], F]:
    """Add `--figure`, the kind of figure."""
    return option("Figure", "--figure", "--chart", "figure", type=click.Choice(kinds), help=text)


def plot_options(function: F) -> F:
    """Add the options of the appearance of figures, which `check_plots` and `write_plots` read."""
    return add_options(
        function,
        (
            _option(
                "--plot-size",
                "--size",
                metavar="W[,H]",
                help="Width and height of the figure in inches, as in 3.4,2.5. [default: the width of one "
                "column of a paper, and a suitable height]",
            ),
            _option(
                "--font-size",
                type=click.FloatRange(*LETTERS),
                metavar="POINTS",
                help="Font size of the figure. [default: 7.5]",
            ),
            _option("--title", metavar="TEXT", help="Title of the figure."),
            _option(
                "--palette",
                metavar="NAME",
                help="Colours of points and lines: okabe-ito or tol, which are distinguishable with colour "
                "vision deficiency; grey; or colours as in #0072b2,#d55e00. [default: okabe-ito]",
            ),
            _option(
                "--label",
                multiple=True,
                metavar="RUN=TEXT",
                help="Label of a run in the figure (repeatable), or FILE:COLUMN, a table with the labels of "
                "runs.",
            ),
        ),
    )


def _option(*names: str, **attributes: Any) -> Callable[[F], F]:
    return option("Figure", *names, expose_value=False, callback=_remember, **attributes)


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    if option.name == "plot_size" and value is not None:
        value = size_of(value)
    if option.name == "label":
        value = list(value) or None
    context.meta.setdefault("leadline.plot", {})[option.name] = value


def size_of(text: str) -> list[float]:
    """Return width, or width and height, from a text such as `3.4,2.5`.

    >>> size_of("3.4,2.5"), size_of("7")
    ([3.4, 2.5], [7.0])
    """
    try:
        sizes = [float(part) for part in text.split(",")]
    except ValueError:
        sizes = []
    if not 1 <= len(sizes) <= 2 or not all(0.5 <= size <= LARGEST for size in sizes):
        raise UsageError(
            f"--plot-size {text}; expected W or W,H in inches, from 0.5 to {LARGEST:g}, as in 3.4,2.5"
        )
    return sizes


def check_plots(
    plots: Sequence[str], *inputs: str, output: str | None = None, **figure: object
) -> dict[str, Any]:
    """Return the options of the figure; raise UsageError, before any work, if they are invalid."""
    context = click.get_current_context(silent=True)
    options = {} if context is None else dict(context.meta.get("leadline.plot", {}))
    if not plots:
        for name, value in (options | figure).items():
            if value not in (None, ()):
                words = [f"--{name.replace('_', '-')}", *([value] if name == "figure" else [])]
                raise UsageError(
                    f"{' '.join(map(str, words))} without --plot has no effect; expected --plot FILE too"
                )
        return {"plot": None} | options
    from leadline.reporting.plots import colours_of, form_of

    refuse_same_output(output, *plots)
    for path in plots:
        refuse_overwrite(path, *inputs)
        form_of(path)
    colours_of(options.get("palette") or "")
    require("figures")
    return {"plot": plots[0] if len(plots) == 1 else list(plots)} | options


def write_plots(plots: Sequence[str], result: Result, **options: Any) -> None:
    """Write the figure of a result to files."""
    if not plots:
        return
    from leadline.reporting.plots import Appearance, drawn, form_of
    from leadline.reporting.plots.result_plots import checked_labels, figure_of_result

    asked = check_plots(plots)
    size = asked.get("plot_size") or []
    appearance = Appearance(
        width=size[0] if size else None,
        height=size[1] if len(size) > 1 else None,
        font_size=asked.get("font_size"),
        title=asked.get("title") or "",
        palette=asked.get("palette") or "",
        labels=checked_labels(result, *_labels(asked.get("label") or ())),
    )
    make = figure_of_result(result, **options)
    made = [drawn(make, form_of(path), appearance) for path in plots]
    for path, content in zip(plots, made, strict=True):
        write_whole(path, content)


def _labels(texts: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the labels that were given one by one, and those of tables."""
    from leadline.io.id_lists import read_labels

    single: dict[str, str] = {}
    tables: dict[str, str] = {}
    for text in texts:
        name, equals, label = text.partition("=")
        if equals:
            single[name] = label
        else:
            tables |= read_labels(text)
    return single, tables
