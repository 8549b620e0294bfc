"""Text in figures: widths, names that fit, rows of runs, legends, groups."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from leadline.charts import FAINT, INK, LINE_STYLES, ink, paper, scaled, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LETTER = 4.3  # points: mean width of a letter of the labels
FINE = 1440  # resolution (dpi) at which text is measured, high enough to make hinting negligible
WIDE = 1.2  # widths of a font: an East Asian letter, or the box drawn where no installed font has it
LEAST = 7  # minimum number of letters of a shortened name


def width_of(text: str, size: float) -> float:
    """Return the width of a line of text in points, independent of the machine; call within the style.

    `size` is the font size before scaling.

    >>> from leadline.charts import style
    >>> with style():
    ...     20 < width_of("bm25", 7.5) < 24
    True
    """
    from matplotlib.font_manager import FontProperties, findfont

    return _width_of(text, scaled(size), findfont(FontProperties()))


@lru_cache(4096)
def _width_of(text: str, points: float, path: str) -> float:
    from matplotlib.font_manager import get_font

    font = get_font(path)
    font.set_size(points, FINE)
    wide = [letter for letter in text if unicodedata.east_asian_width(letter) in "WF"]  # of another font
    font.set_text(text.translate(dict.fromkeys(map(ord, wide))))
    return float(font.get_width_height()[0]) / 64 * 72 / FINE + WIDE * len(wide) * points


def narrowed(names: Sequence[str], points: float, *, size: float, most: int) -> list[str]:
    """Shorten names to at most `most` letters, and further until none is wider than `points`.

    >>> from leadline.charts import style
    >>> with style():
    ...     narrowed(["WWWWWWWWWWWW", "bm25"], 50, size=7, most=24)
    ['WWW…WWW', 'bm25']
    """
    short = shortened(names, most)
    while most > LEAST and max((width_of(name, size) for name in short), default=0.0) > points:
        most -= 1
        short = shortened(names, most)
    return short


def wrapped_to(text: str, points: float, size: float) -> list[str]:
    """Wrap a text into lines of at most `points`; call within the style."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= points:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def wrapped(text: str, points: float) -> str:
    r"""Wrap a label into lines of similar length of about `points`.

    >>> wrapped("AP, mean and 95 % interval over 50 queries", 130)
    'AP, mean and 95 %\ninterval over 50 queries'
    """
    broken = [_broken(text, letters) for letters in range(max(8, int(points / scaled(LETTER))), 7, -1)]
    return "\n".join([lines for lines in broken if len(lines) == len(broken[0])][-1])


def _broken(text: str, letters: int) -> list[str]:
    return textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False)


FEW = 30  # maximum number of rows with labels of the usual size
NAMED = 400  # maximum number of rows with labels; figures of more labeled rows would exceed a meter
TALL, LOW = 0.15, 0.1  # inches: height of a row, with few and with many rows
HIGHEST = NAMED * LOW  # inches: more rows are closer together
SIZE, SMALL = 7.0, 5.5  # points: font size of labels, with few and with many rows
BOLD = 1.15  # width of bold text relative to that of regular text, at most
NUMBERS = 40.0  # points: width of the row numbers of many rows
STEPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def height_of(rows: int, *, least: float = 0.0) -> float:
    """Return the height of rows with one line of text each, in inches.

    >>> height_of(10), round(height_of(143), 2)
    (2.4, 15.2)
    """
    row_height = TALL if rows <= FEW else LOW if rows <= NAMED else 0.02
    return float(scaled(0.9 + max(min(row_height * rows, HIGHEST), least)))


def size_of(rows: int) -> float:
    """Return the font size of row labels, before scaling."""
    return SIZE if rows <= FEW else SMALL


def name_rows(axes: Any, names: Sequence[str], *, what: str = "runs") -> None:
    """Label the rows, the first at position 0, or show their number if too many; call within the style."""
    if len(names) <= NAMED:
        available, size = 0.45 * axes.figure.get_figwidth() * 72, size_of(len(names))
        most = 24 if len(names) <= FEW else 30
        axes.set_yticks(
            range(len(names)), narrowed(names, available, size=size, most=most), fontsize=scaled(size)
        )
        return
    step = next((step for step in STEPS if len(names) <= 30 * step), len(names))
    axes.set_yticks([0, *range(step - 1, len(names), step)])
    axes.set_yticklabels([str(row + 1) for row in axes.get_yticks()])
    axes.set_ylabel(f"{len(names):,} {what}")


MOST_TICKS = 8  # maximum number of intervals between the ticks of an axis


def fit_ticks(*axes: Any) -> Any:
    """Set as many ticks as have room for their labels along the last axis, which must be horizontal."""
    from matplotlib.ticker import MaxNLocator

    class Fitting(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            frame = axes[-1].axes
            left, right, edge = (
                x * 72 / frame.figure.dpi for x in (*frame.bbox.intervalx, frame.figure.bbox.width)
            )
            room = max(right - left, 1.0) / ((vmax - vmin) or 1.0)
            for bins in range(MOST_TICKS, 0, -1):
                self.set_params(nbins=bins)
                ticks: Any = super().tick_values(vmin, vmax)
                seen = [tick for tick in map(float, ticks) if vmin <= tick <= vmax]
                labels = axes[-1].get_major_formatter().format_ticks(seen)
                widest = max((width_of(label, SIZE) for label in labels), default=0.0)
                if len(seen) < 2 or (seen[1] - seen[0]) * room > widest + scaled(8):
                    break
            else:  # there is no room for the fewest
                ticks = ticks[ticks >= vmin][
                    :: math.ceil((widest + scaled(8)) / ((seen[1] - seen[0]) * room))
                ]
            # a label that the layout did not expect at the very edge would be cut off, and read as another
            half = widest / 2 - 1
            return ticks[[half <= left + (tick - vmin) * room <= edge - half for tick in ticks]]

    locator = Fitting(steps=[1, 2, 5, 10])
    for axis in axes:
        axis.set_major_locator(locator)
    return locator


def finish_rows(
    axes: Any,
    names: Sequence[str],
    values: Any,
    label: str = "",
    *,
    what: str = "runs",
    both_ends: bool = True,
    headings: Mapping[int, str] | None = None,
) -> None:
    """Label rows and values, and mark rows whose value is NaN; number the axis of a tall figure at both ends.

    `headings` are rows of their own with a text of the whole width, without name and value.
    """
    heads = headings or {}
    for row, value in enumerate(values if len(names) <= NAMED else ()):
        if row in heads:
            _head(axes, row, heads[row], size_of(len(names)))
        elif not math.isfinite(value):
            axes.text(
                0.01, row, "undefined", size=scaled(6), va="center", transform=axes.get_yaxis_transform()
            )
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=True, axis="x")
    fit_ticks(axes.xaxis)
    if both_ends and len(names) > FEW:
        axes.tick_params(axis="x", top=True, labeltop=True)
    name_rows(axes, names, what=what)
    if label:
        axes.set_xlabel(wrapped(label, room_beside_names(axes, named=len(names) <= NAMED)))


def _head(axes: Any, row: int, text: str, size: float) -> None:
    """Write a heading across the figure, from its left edge."""
    from matplotlib.transforms import blended_transform_factory

    figure = axes.figure
    most = 72 * float(figure.get_figwidth()) - 12
    (short,) = narrowed([text], most / BOLD, size=size, most=200)
    axes.text(
        3 / 72 / float(figure.get_figwidth()),
        row,
        short,
        fontsize=scaled(size),
        fontweight="bold",
        va="center_baseline",
        transform=blended_transform_factory(figure.transFigure, axes.transData),
        bbox={"facecolor": paper(), "edgecolor": "none", "pad": 0.5},
        zorder=5,
    ).set_in_layout(False)


def room_beside_names(axes: Any, *, named: bool) -> float:
    """Return the width available to the label below rows with names, in points; call within the style."""
    names = [text.get_text() for text in axes.get_yticklabels()] if named else []
    label_width = max((width_of(name, size_of(len(names))) for name in names), default=NUMBERS)
    return float(axes.figure.get_figwidth() * 72 - label_width)


def legend_below(figure: Figure, lines: Sequence[Any], labels: Sequence[str], width: float) -> None:
    """Add a legend of the lines below the axes and adjust the layout."""
    longest = max(map(len, labels), default=1)
    columns = max(1, min(3, int(width * 72 / (scaled(longest * 4.4 + 32))), len(labels)))
    room = width * 72 - scaled(32)  # beside the key
    labels = [one if width_of(one, SIZE) < room else "\n".join(wrapped_to(one, room, SIZE)) for one in labels]
    rows = -(-sum(label.count("\n") + 1 for label in labels) // columns)
    figure.set_figheight(figure.get_figheight() + scaled(0.15 + rows * 0.155))
    legend = figure.legend(
        lines,
        [str(index) for index in range(len(labels))],
        loc="outside lower center",
        ncols=columns,
        borderpad=0,
        labelspacing=0.35,
        borderaxespad=0.3,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)  # set afterwards, since Matplotlib omits labels that begin with `_`
        text.set_color(ink())


def colour_bar(figure: Figure, axes: Any, drawn: Any, label: str) -> Any:
    """Add a color bar with a label below the axes, at a fixed distance; call within the style."""
    wide, high = (float(inches) for inches in figure.get_size_inches())
    share = min(0.05, scaled(0.16) / high)
    bar = figure.colorbar(
        drawn, ax=axes, location="bottom", aspect=40, fraction=share, pad=min(0.02, scaled(0.08) / high)
    )
    bar.set_label(wrapped(label, 0.62 * wide * 72))
    bar.outline.set_visible(False)
    return bar


def ink_on(colour: Sequence[float]) -> str:
    """Return the color of text on a background, ink or white, whichever has the higher contrast (WCAG 2.2).

    >>> ink_on((0.03, 0.19, 0.42)), ink_on((0.9, 0.6, 0.2))
    ('white', '#1a1a1a')
    """
    shade = _luminance(colour[:3])
    dark = _luminance([int(INK[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return "white" if 1.05 / (shade + 0.05) > (shade + 0.05) / (dark + 0.05) else INK


def _luminance(colour: Sequence[float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def large_groups(groups: Sequence[str]) -> list[str]:
    """Return the named groups with two or more members, in descending order of size."""
    counts = Counter(groups)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return [name for name in order if name and counts[name] > 1]


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Return a color for each group of two or more, cyclically; all others are gray."""
    colours = dict.fromkeys(groups, FAINT)
    for index, name in enumerate(large_groups(groups)):
        colours[name] = LINE_STYLES[index % len(LINE_STYLES)].color
    return colours


def stretches(groups: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the runs of adjacent members of a group: name, first and last position.

    >>> stretches(["a", "a", "b"])
    [('a', 0, 1), ('b', 2, 2)]
    """
    runs: list[tuple[str, int, int]] = []
    for index, name in enumerate(groups):
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1], index)
        else:
            runs.append((name, index, index))
    return runs


def mark_groups(axes: Any, groups: Sequence[str]) -> None:
    """Draw a vertical strip of colors, one cell per system."""
    colours = group_colours(groups)
    for index, name in enumerate(groups):
        axes.axhspan(
            index - 0.5,
            index + 0.5,
            facecolor=colours[name],
            linewidth=0,
            alpha=0.35 if colours[name] == FAINT else 1.0,
        )
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
