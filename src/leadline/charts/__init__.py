"""Figures: the common style, and output as SVG, PDF and PNG.

What the user's matplotlibrc sets comes before the style. Lines differ in color, dashes and marker, so that
figures are legible in gray and with color vision deficiency. Equal figures give identical files.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from leadline.data import wording
from leadline.data.wording import first_few, visible
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FONT = 7.5  # points: default font size
COLUMN = 3.4  # inches: width of one column of a two-column paper
NARROWEST = 2.4  # inches: least width of a figure at the default font size
INK, FAINT, RULE = "#1a1a1a", "#8c8c8c", "#d9d9d9"
FORMS = ("svg", "pdf", "png")
NOTHING = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


class LineStyle(NamedTuple):
    """Color, dashes and marker of one of several lines."""

    color: str
    dashes: str | tuple[float, tuple[float, ...]]
    marker: str

    @property
    def line(self) -> dict[str, Any]:
        """Color and dashes as Matplotlib takes them."""
        return {"color": self.color, "linestyle": self.dashes}

    @property
    def point(self) -> dict[str, Any]:
        """Color and marker, without a line."""
        return {"color": self.color, "linestyle": "none", "marker": self.marker}


# Okabe and Ito (2008), Color universal design, with ink for black and a brown for yellow, which is too light
# for lines on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK, "#7f5539")
DASHES: tuple[str | tuple[float, tuple[float, ...]], ...] = (
    "solid",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
)
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")


class LineStyles:
    """The eight line styles, with the colors of the user's `axes.prop_cycle` if there is one."""

    def __len__(self) -> int:
        return len(MARKERS)

    def __iter__(self) -> Iterator[LineStyle]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> LineStyle:
        marker, colours = MARKERS[index], _colours()  # an IndexError beyond the last
        return LineStyle(colours[index % len(colours)], DASHES[index % len(DASHES)], marker)


def _changed(name: str) -> bool:
    """Return whether the user's matplotlibrc (or style) sets something else than the default."""
    import matplotlib as mpl

    return bool(mpl.rcParams[name] != mpl.rcParamsDefault[name])


def _colours() -> Sequence[str]:
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    cycle = mpl.rcParams["axes.prop_cycle"].by_key().get("color") if _changed("axes.prop_cycle") else None
    return list(map(to_hex, cycle)) if cycle else [ink() if one == INK else one for one in COLOURS]


def ink() -> Any:
    """Return the color of text, and of lines that have no other."""
    import matplotlib as mpl

    return mpl.rcParams["text.color"] if _changed("text.color") else INK


def paper() -> Any:
    """Return the color behind the figure."""
    import matplotlib as mpl

    return mpl.rcParams["figure.facecolor"] if _changed("figure.facecolor") else "white"


LINE_STYLES = LineStyles()

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
    "axes.labelpad": 4,
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
    "xtick.major.pad": 3.5,
    "ytick.major.pad": 3.5,
    "figure.constrained_layout.h_pad": 0.04167,
    "figure.constrained_layout.w_pad": 0.04167,
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


# Lengths of the style, which are scaled with the font size.
LENGTHS = {
    name
    for name in STYLE
    if name.endswith(("size", "width", "pad")) and isinstance(STYLE[name], (int, float))
}
SIZES = ("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
_LABELS: ContextVar[Mapping[str, str]] = ContextVar("labels", default={})  # noqa: B039  # never written to


@contextmanager
def labelled(labels: Mapping[str, str]) -> Iterator[None]:
    """Draw with labels in place of names of runs."""
    token = _LABELS.set(labels)
    try:
        yield
    finally:
        _LABELS.reset(token)


def width_of_user() -> float | None:
    """Return the width that the user's matplotlibrc sets, but for `enlarged`; in less no text would fit."""
    import matplotlib as mpl

    width = mpl.rcParams["figure.figsize"][0] / enlarged(1.0)
    return max(float(width), NARROWEST) if _changed("figure.figsize") else None


def _points(name: str) -> float:
    """Return a font size of the user's matplotlibrc in points, or of the style where it sets none."""
    import matplotlib as mpl
    from matplotlib.font_manager import font_scalings

    size = mpl.rcParams[name] if _changed(name) else STYLE[name]
    return float(font_scalings[size] * _points("font.size") if size in font_scalings else size)


def scaled(length: float) -> float:
    """Return a length scaled with the largest font size that the user's matplotlibrc sets.

    >>> import matplotlib
    >>> with matplotlib.rc_context({"font.size": 15}):
    ...     scaled(7.0)
    14.0
    """
    set_by_user = [_points(name) / STYLE[name] for name in SIZES if _changed(name)]
    return float(length * max(set_by_user if _changed("font.size") else [1.0, *set_by_user]))


def enlarged(inches: float) -> float:
    """Return a length of a figure, which grows with the letters, so that as many fit into a line."""
    return max(inches, scaled(inches))


@contextmanager
def style(**changes: object) -> Iterator[None]:
    """Apply the style, but for what the user's matplotlibrc sets, while a figure is created or written."""
    import matplotlib as mpl

    lengths = {name: scaled(STYLE[name]) for name in LENGTHS}
    of_user = {name: mpl.rcParams[name] for name in STYLE if _changed(name)}
    of_user |= {name: _points(name) for name in SIZES if name in of_user}
    changes["axes.grid"] = False  # figures say which lines they have; none are wanted over cells
    with warnings.catch_warnings(), mpl.rc_context(STYLE | lengths | of_user | changes):
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        yield


def canvas(width: float, height: float) -> tuple[Figure, Any]:
    """Return a new figure and its axes; call within the style."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    write_numbers(axes)
    return figure, axes


def write_numbers(axes: Any) -> None:
    """Write the exponent into every tick label; at the end of an axis it would overlap the axis label."""
    from matplotlib.ticker import ScalarFormatter

    class Numbers(ScalarFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            exponent = super().get_offset().removeprefix("1")  # of 1e8, for example
            return super().__call__(x, pos) + (exponent if x else "")

        def get_offset(self) -> str:
            return ""

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(Numbers(useOffset=False, useMathText=False))


def dots(axes: Any, x: Any, y: Any, marker: str, size: float, color: str, **more: Any) -> Any:
    """Draw markers without a line, their size in points before scaling; return them."""
    (drawn,) = axes.plot(x, y, linestyle="none", marker=marker, markersize=scaled(size), color=color, **more)
    return drawn


def form_of(path: str) -> str:
    """Return the figure format from the suffix of a file name.

    >>> form_of("curves.PDF")
    'pdf'
    """
    form = os.path.splitext(path)[1][1:].lower()
    if form not in FORMS:
        raise UsageError(f"{path}: the name of a figure file must end in .svg, .pdf or .png")
    return form


def picture(figure: Figure, form: str, *, live_text: bool = False) -> bytes:
    """Return a figure as the content of a file."""
    target = BytesIO()
    with style(**{"svg.fonttype": "none" if live_text else "path"}):
        background: dict[str, Any] = {"facecolor": "none"} if live_text else {}
        unknown = show_all_letters(figure)
        figure.savefig(target, format=form, dpi=300, metadata=NOTHING[form], **background)
    if unknown and not live_text:
        warnings.warn(
            f"no installed font has {first_few(list(map(chr, unknown)))}, so the figure shows boxes "
            "instead. Install a font that has the missing characters.",
            stacklevel=2,
        )
    return target.getvalue()


def drawable(text: str) -> str:
    r"""Return a text with control characters and invalid UTF-8 as escapes, which every font can show.

    >>> print(drawable("bm25-\udcff\x1b"))
    bm25-\udcff\x1b
    """
    return visible(text).encode("utf-8", "backslashreplace").decode()


def label_of(name: str) -> str:
    """Return the label of a run: the one that was asked for, or its name."""
    return _LABELS.get().get(name, name)


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Shorten long labels of runs in the middle, where names of one team differ least; they stay distinct.

    >>> shortened(["bm25", "team-of-many-words-run-1"], 12)
    ['bm25', 'team-o…run-1']
    """
    return wording.shortened([drawable(label_of(name)) for name in names], most)


def show_all_letters(figure: Figure) -> list[int]:
    """Use other installed fonts for letters that the font lacks; return the letters that no font has."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.text import Text

    own = _letters_of(findfont(FontProperties()))
    unknown: set[int] = set()
    for text in figure.findobj(Text):
        words = text.get_text()
        lacking = set() if words.isascii() else {ord(each) for each in words if each.isprintable()} - own
        found = {letter: _family_with(letter) for letter in sorted(lacking)}
        unknown |= {letter for letter, family in found.items() if family is None}
        families = dict.fromkeys(filter(None, found.values()))
        if families:
            text.set_fontfamily([*mpl.rcParams["font.sans-serif"], *families])
    return sorted(unknown)


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
