"""Words in figures: how wide they are, names that fit and stay different, counts in words."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from leadline.plots import scaled, shortened

LETTER = 4.3  # points: how wide a letter of the labels is, on average
FINE = 1440  # dots an inch to measure text with, so many that hinting does not count
LEAST = 7  # letters that even a wide name keeps


def width_of(text: str, size: float) -> float:
    """Give the width of a line of text in points, the same on every machine; call it in the style.

    `size` is that of the letters before they are scaled.

    >>> from leadline.plots import style
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

    >>> from leadline.plots import style
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
    broken = [
        _broken(text, letters) for letters in range(max(8, int(points / scaled(LETTER))), 7, -1)
    ]
    return "\n".join([lines for lines in broken if len(lines) == len(broken[0])][-1])


def _broken(text: str, letters: int) -> list[str]:
    return textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False)
