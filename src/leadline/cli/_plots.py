"""Options and output of figures, shared by the commands that plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leadline.cli._help import option
from leadline.cli._options import OUTPUT, refuse_same_output, write_whole
from leadline.cli._settings import setting
from leadline.data.optional import require
from leadline.errors import both

if TYPE_CHECKING:
    from leadline.data.result import Result


F = TypeVar("F", bound=Callable[..., Any])


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
    """Add the labels of figures, which `check_plots` and `write_plots` read."""
    return setting("figure.labels", expose_value=False, callback=_remember)(function)


def _remember(context: click.Context, _option: click.Parameter, value: Any) -> None:
    context.meta["leadline.plot"] = {"label": list(value) or None}


def check_plots(plots: Sequence[str], *, output: str | None = None, **figure: object) -> dict[str, Any]:
    """Return the options of the figure; raise UsageError, before any work, if they are invalid."""
    context = click.get_current_context(silent=True)
    options = {} if context is None else dict(context.meta.get("leadline.plot", {}))
    if not plots:
        for name, value in (options | figure).items():
            if value not in (None, ()):
                words = {"figure": f"--figure {value}", "label": "--config figure.labels"}
                both({words.get(name, "--config figure.pair"): True}, {"--plot FILE": None})
        return {"plot": None} | options
    from leadline.reporting.plots import form_of

    refuse_same_output(output, *plots)
    for path in plots:
        form_of(path)
    require("figures")
    return {"plot": plots[0] if len(plots) == 1 else list(plots)} | options


def write_plots(plots: Sequence[str], result: Result, **options: Any) -> None:
    """Write the figure of a result to files."""
    if not plots:
        return
    from leadline.reporting.plots import form_of, labelled, picture, width_of_user
    from leadline.reporting.plots.result_plots import checked_labels, figure_of_result

    labels = checked_labels(result, *_labels(check_plots(plots).get("label") or ()))
    make = figure_of_result(result, **options)
    with labelled(labels):
        made = [picture(make(width_of_user()), form_of(path)) for path in plots]
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
