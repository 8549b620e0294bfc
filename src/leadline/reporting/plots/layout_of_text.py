"""Text in figures: widths, names that fit, rows of runs, legends, groups."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leadline.reporting.plots import FAINT, INK, LINE_STYLES, scaled, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LETTER = 4.3  # points: how wide a letter of the labels is, on average
FINE = 1440  # dots an inch to measure text with, so many that hinting does not count
LEAST = 7  # letters that even a wide name keeps


def width_of(text: str, size: float) -> float:
    """Return the width of a line of text in points, independent of the machine; call within the style.

    `size` is that of the letters before they are scaled.

    >>> from leadline.reporting.plots import style
    >>> with style():
    ...     20 < width_of("bm25", 7.5) < 24
    True
    """
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties()))
    font.set_size(scaled(size), FINE)
    font.set_text(text)
    return float(font.get_width_height()[0]) / 64 * 72 / FINE


def narrowed(names: Sequence[str], points: float, *, size: float, most: int) -> list[str]:
    """Shorten names to at most `most` letters, and further until none is wider than some points.

    >>> from leadline.reporting.plots import style
    >>> with style():
    ...     narrowed(["WWWWWWWWWWWW", "bm25"], 50, size=7, most=24)
    ['WWW…WWW', 'bm25']
    """
    found = shortened(names, most)
    while most > LEAST and max((width_of(name, size) for name in found), default=0.0) > points:
        most -= 1
        found = shortened(names, most)
    return found


def wrapped_to(text: str, points: float, size: float) -> list[str]:
    """Break a text between words into lines not wider than some points; call it in the style."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= points:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def wrapped(text: str, points: float) -> str:
    r"""Break a label into even lines, about so many points wide, as far as its words allow.

    >>> wrapped("AP, mean and 95 % interval over 50 queries", 130)
    'AP, mean and 95 %\ninterval over 50 queries'
    """
    broken = [_broken(text, letters) for letters in range(max(8, int(points / scaled(LETTER))), 7, -1)]
    return "\n".join([lines for lines in broken if len(lines) == len(broken[0])][-1])


def _broken(text: str, letters: int) -> list[str]:
    return textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False)


FEW = 30  # rows in letters of the usual size
NAMED = 400  # more rows than that are numbered: a sheet of paper would have to be longer than a metre
TALL, LOW = 0.15, 0.1  # inches of one of few rows, and of one of many
SIZE, SMALL = 7.0, 5.5  # points: letters of the names
STEPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def height_of(rows: int, *, least: float = 0.0) -> float:
    """Return the height of rows with one line of text each, in inches.

    >>> height_of(10), round(height_of(143), 2)
    (2.4, 15.2)
    """
    each = TALL if rows <= FEW else LOW if rows <= NAMED else 0.02
    return float(scaled(0.9 + max(each * rows, least)))


def size_of(rows: int) -> float:
    """Return the size of the letters of so many names, before they are scaled."""
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
    axes.set_ylabel(
        f"{len(names)} {what}, the best mean at the top" if what == "runs" else f"{len(names):,} {what}"
    )


def legend_below(figure: Figure, lines: Sequence[Any], labels: Sequence[str], width: float) -> None:
    """Add a legend of the lines below the axes and adjust the layout."""
    longest = max(map(len, labels), default=1)
    columns = max(1, min(3, int(width * 72 / (scaled(longest * 4.4 + 32))), len(labels)))
    rows = -(-len(labels) // columns)
    figure.set_figheight(figure.get_figheight() + scaled(0.15 + rows * 0.155))
    legend = figure.legend(
        lines,
        [str(place) for place in range(len(labels))],
        loc="outside lower center",
        ncols=columns,
        borderpad=0,
        labelspacing=0.35,
        borderaxespad=0.3,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)  # set late: a name that begins with `_` would be left out
        text.set_color(INK)


def large_groups(groups: Sequence[str]) -> list[str]:
    """Return the named groups with two or more members, in descending order of size."""
    counts = Counter(groups)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return [name for name in order if name and counts[name] > 1]


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Return a colour for each group of two or more, cyclically; all others are grey."""
    colours = dict.fromkeys(groups, FAINT)
    for place, name in enumerate(large_groups(groups)):
        colours[name] = LINE_STYLES[place % len(LINE_STYLES)].color
    return colours


def stretches(groups: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the runs of adjacent members of a group: name, first and last position.

    >>> stretches(["a", "a", "b"])
    [('a', 0, 1), ('b', 2, 2)]
    """
    found: list[tuple[str, int, int]] = []
    for place, name in enumerate(groups):
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1], place)
        else:
            found.append((name, place, place))
    return found


def mark_groups(axes: Any, groups: Sequence[str], *, step: float = 1.0, offset: float = 0.0) -> None:
    """Draw a vertical strip of colours, one cell per system."""
    colours = group_colours(groups)
    for place, name in enumerate(groups):
        axes.axhspan(
            offset + (place - 0.5) * step,
            offset + (place + 0.5) * step,
            facecolor=colours[name],
            linewidth=0,
            alpha=0.35 if colours[name] == FAINT else 1.0,
        )
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
