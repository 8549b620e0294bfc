"""Fonts for letters that the font of the style lacks."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def show_all_letters(figure: Figure) -> None:
    """Let texts with letters that the font lacks fall back on installed fonts that have them."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.text import Text

    own = _letters_of(findfont(FontProperties()))
    for text in figure.findobj(Text):
        words = text.get_text()
        lacking = set() if words.isascii() else {ord(each) for each in words if each.isprintable()} - own
        families = dict.fromkeys(filter(None, map(_family_with, sorted(lacking))))
        if families:
            text.set_fontfamily([*mpl.rcParams["font.sans-serif"], *families])


@cache
def _letters_of(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())


@cache
def _family_with(letter: int) -> str | None:
    """Return the first installed family, by name, that has a letter in its regular face."""
    return next((name for name, path in _faces() if letter in _letters_of(path)), None)


@cache
def _faces() -> list[tuple[str, str]]:
    """Return the families and files of the installed fonts, also of those newer than Matplotlib's list."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    for path in sorted({*findSystemFonts()} - {face.fname for face in fontManager.ttflist}):
        with suppress(OSError, RuntimeError):  # a font of a format that Matplotlib does not read
            fontManager.addfont(path)
    faces = {(face.name, face.fname) for face in fontManager.ttflist if face.style == "normal"}
    return sorted(face for face in faces if not face[0].startswith("Last Resort"))  # boxes for all letters
