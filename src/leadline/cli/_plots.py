"""Options and output of figures, shared by the commands that plot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leadline.cli._help import add_options, option
from leadline.cli._options import OUTPUT, write_whole
from leadline.data.optional import require
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


F = TypeVar("F", bound=Callable[..., Any])
LARGEST = 200.0  # inches
LETTERS = (3.0, 72.0)  # points


def plot_option(text: str) -> Callable[[F], F]:
    """Add `--plot`, the file of the figure."""
    return option("Figure", "--plot", type=OUTPUT, metavar="FILE", help=text)


def plot_options(function: F) -> F:
    """Add `--plot-size`, `--font-size` and `--title`, which `write_plot` reads."""
    return add_options(
        function,
        (
            option(
                "Figure",
                "--plot-size",
                metavar="W[,H]",
                expose_value=False,
                callback=_remember,
                help="Width and height of the figure in inches, as in 3.4,2.5. [default: the width of one "
                "column of a paper, and a suitable height]",
            ),
            option(
                "Figure",
                "--font-size",
                type=click.FloatRange(*LETTERS),
                metavar="POINTS",
                expose_value=False,
                callback=_remember,
                help="Font size of the figure. [default: 7.5]",
            ),
            option(
                "Figure",
                "--title",
                metavar="TEXT",
                expose_value=False,
                callback=_remember,
                help="Title of the figure.",
            ),
        ),
    )


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    if option.name == "plot_size" and value is not None:
        value = size_of(value)
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


def check_plot(path: str | None) -> dict[str, Any]:
    """Return the options of the figure; raise UsageError, before any work, if they are invalid."""
    context = click.get_current_context(silent=True)
    options = {} if context is None else dict(context.meta.get("leadline.plot", {}))
    if path is None:
        for name, value in options.items():
            if value is not None:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} without --plot has no effect; expected --plot FILE too")
        return options
    from leadline.reporting.plots import form_of

    form_of(path)
    require("figures")
    return options


def write_plot(path: str, make: Callable[[float | None], Figure]) -> None:
    """Write a figure; `make` draws it at a width in inches (None: its default width)."""
    from leadline.reporting.plots import Appearance, drawn, form_of

    options = check_plot(path)
    size = options.get("plot_size") or []
    appearance = Appearance(
        width=size[0] if size else None,
        height=size[1] if len(size) > 1 else None,
        font_size=options.get("font_size"),
        title=options.get("title") or "",
    )
    write_whole(path, drawn(make, form_of(path), appearance))
