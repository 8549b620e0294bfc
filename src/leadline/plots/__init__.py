"""One file per figure; here is the thin style that all wear and how a figure becomes a file.

Colours are those of Okabe and Ito, told apart by colour-blind people; every line has its own dashes
and marker too, so that a figure reads in grey. The same figure gives the same bytes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from leadline import wording
from leadline.errors import UsageError
from leadline.wording import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN = 3.4  # inches: one column of a two-column paper
INK, FAINT, RULE = "#1a1a1a", "#8c8c8c", "#d9d9d9"
FORMS = ("svg", "pdf", "png")
NOTHING = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


class Look(NamedTuple):
    """How one of several lines looks: in colour, and by dashes and marker in grey."""

    color: str
    dashes: str | tuple[float, tuple[float, ...]]
    marker: str


LOOKS = (
    Look("#0072b2", "solid", "o"),
    Look("#d55e00", (0, (5, 1.5)), "s"),
    Look("#009e73", (0, (1.2, 1.2)), "^"),
    Look("#cc79a7", (0, (6, 1.5, 1.2, 1.5)), "D"),
    Look("#e69f00", "solid", "v"),
    Look("#56b4e9", (0, (5, 1.5)), "X"),
    Look(INK, (0, (1.2, 1.2)), "P"),
    Look("#7f5539", (0, (6, 1.5, 1.2, 1.5)), "*"),
)

STYLE: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "text.color": INK,
    "text.parse_math": False,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "lines.markeredgewidth": 0.0,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.2,
    "figure.facecolor": "white",
    "pdf.fonttype": 42,  # text in a PDF stays text
    "svg.hashsalt": "leadline",
}


@contextmanager
def style(**changes: object) -> Iterator[None]:
    """Wear the style while a figure is made or written; nothing of it stays behind."""
    import matplotlib as mpl

    with warnings.catch_warnings(), mpl.rc_context(STYLE | changes):
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        yield


def form_of(path: str) -> str:
    """Give the form that a file's name asks for by its ending.

    >>> form_of("curves.PDF")
    'pdf'
    """
    form = os.path.splitext(path)[1][1:].lower()
    if form not in FORMS:
        raise UsageError(f"{path}: a picture's name must end in .svg, .pdf or .png")
    return form


def picture(figure: Figure, form: str, *, live_text: bool = False) -> bytes:
    """Draw a figure; the text of an SVG is outlines, the same everywhere, unless it is live."""
    target = BytesIO()
    with style(**{"svg.fonttype": "none" if live_text else "path"}):
        facecolor = "none" if live_text else "white"
        figure.savefig(target, format=form, dpi=300, facecolor=facecolor, metadata=NOTHING[form])
    return target.getvalue()


def drawable(text: str) -> str:
    r"""Write control characters, and bytes that are not UTF-8, as their escapes; a font has no others.

    >>> print(drawable("bm25-\udcff\x1b"))
    bm25-\udcff\x1b
    """
    return visible(text).encode("utf-8", "backslashreplace").decode()


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Shorten long names in the middle, where runs of one team differ least; all stay different.

    >>> shortened(["bm25", "team-of-many-words-run-1"], 12)
    ['bm25', 'team-o…run-1']
    """
    return wording.shortened(list(map(drawable, names)), most)
