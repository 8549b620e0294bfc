"""Figures: the common style, and output as SVG, PDF and PNG.

The default colours are those of Okabe and Ito, which are distinguishable with colour vision deficiency.
Lines also differ in dashes and marker, so that figures are legible in grey. Equal figures give identical
files.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, overload
from weakref import WeakKeyDictionary

from leadline.data import wording
from leadline.data.wording import visible
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FONT = 7.5  # points: default font size
TITLE = 8.5  # points
COLUMN = 3.4  # inches: width of one column of a two-column paper
INK, FAINT, RULE = "#1a1a1a", "#8c8c8c", "#d9d9d9"
FORMS = ("svg", "pdf", "png")
NOTHING = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


class LineStyle(NamedTuple):
    """Colour, dashes and marker of one of several lines."""

    color: str
    dashes: str | tuple[float, tuple[float, ...]]
    marker: str


# Okabe and Ito (2008), Color universal design, with ink for black and a brown for yellow, which is too light
# for lines on white; Tol (2021), Colour schemes, "muted"; greys of different lightness.
PALETTES: dict[str, tuple[str, ...]] = {
    "okabe-ito": ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK, "#7f5539"),
    "tol": ("#332288", "#cc6677", "#117733", "#aa4499", "#ddaa33", "#44aa99", INK, "#882255"),
    "grey": ("#1a1a1a", "#8c8c8c", "#595959", "#a6a6a6", "#404040", "#b3b3b3", INK, "#737373"),
}
DASHES: tuple[str | tuple[float, tuple[float, ...]], ...] = (
    "solid",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
)
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
_PALETTE: ContextVar[tuple[str, ...]] = ContextVar("palette", default=PALETTES["okabe-ito"])


class LineStyles(Sequence[LineStyle]):
    """The eight line styles, with the colours of the palette in use."""

    def __len__(self) -> int:
        return len(MARKERS)

    @overload
    def __getitem__(self, index: int) -> LineStyle: ...

    @overload
    def __getitem__(self, index: slice) -> list[LineStyle]: ...

    def __getitem__(self, index: int | slice) -> LineStyle | list[LineStyle]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        place, colours = index % len(self), _PALETTE.get()
        return LineStyle(colours[place % len(colours)], DASHES[place % len(DASHES)], MARKERS[place])


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


# Lengths of the style, which are scaled with the font size.
LENGTHS = {
    name for name in STYLE if name.endswith(("size", "width")) and isinstance(STYLE[name], (int, float))
}
_SCALE: ContextVar[float] = ContextVar("scale", default=1.0)


_LABELS: ContextVar[Mapping[str, str]] = ContextVar("labels", default={})  # noqa: B039  # never written to


class Appearance(NamedTuple):
    """Appearance of a figure.

    Attributes
    ----------
    width, height : float or None
        Size in inches.
    font_size : float or None
        Font size in points.
    title : str
        Title above the figure.
    palette : str or sequence of str
        Name of a palette, or colours such as "#0072b2"; empty for the default.
    labels : mapping of str to str
        Names of runs to replace in the figure, and what to show in their place.
    """

    width: float | None = None
    height: float | None = None
    font_size: float | None = None
    title: str = ""
    palette: str | Sequence[str] = ""
    labels: Mapping[str, str] = {}


@contextmanager
def appearing(appearance: Appearance) -> Iterator[None]:
    """Draw with the palette, labels and font size of an appearance."""
    tokens = _PALETTE.set(colours_of(appearance.palette)), _LABELS.set(appearance.labels)
    try:
        with letters_of(appearance.font_size):
            yield
    finally:
        _PALETTE.reset(tokens[0])
        _LABELS.reset(tokens[1])


@contextmanager
def letters_of(size: float | None) -> Iterator[None]:
    """Set the font size of figures in points; lines, markers and rows are scaled with it."""
    token = _SCALE.set(1.0 if size is None else size / FONT)
    try:
        yield
    finally:
        _SCALE.reset(token)


def colours_of(palette: str | Sequence[str]) -> tuple[str, ...]:
    """Return the colours of a palette, given by its name, or as hexadecimal colours with commas between them.

    >>> colours_of("#0072B2,#d55e00")
    ('#0072b2', '#d55e00')
    """
    if not palette:
        return PALETTES["okabe-ito"]
    parts = palette.split(",") if isinstance(palette, str) else list(map(str, palette))
    if len(parts) == 1 and parts[0].lower() in PALETTES:
        return PALETTES[parts[0].lower()]
    colours = tuple(part.strip().lower() for part in parts)
    if not all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours):
        shown = palette if isinstance(palette, str) else ", ".join(parts)
        raise UsageError(f"palette {shown}; expected {', '.join(PALETTES)}, or colours as in #0072b2,#d55e00")
    return colours


def scaled(length: float) -> float:
    """Return a length scaled with the font size.

    >>> with letters_of(15):
    ...     scaled(7.0)
    14.0
    """
    return length * _SCALE.get()


@contextmanager
def style(**changes: object) -> Iterator[None]:
    """Apply the style temporarily, while a figure is created or written."""
    import matplotlib as mpl

    lengths = {name: scaled(STYLE[name]) for name in LENGTHS}
    with warnings.catch_warnings(), mpl.rc_context(STYLE | lengths | changes):
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        yield


def form_of(path: str) -> str:
    """Return the figure format from the suffix of a file name.

    >>> form_of("curves.PDF")
    'pdf'
    """
    form = os.path.splitext(path)[1][1:].lower()
    if form not in FORMS:
        raise UsageError(f"{path}: a picture's name must end in .svg, .pdf or .png")
    return form


def picture(
    figure: Figure, form: str, *, live_text: bool = False, title: str = "", height: float | None = None
) -> bytes:
    """Return a figure as the content of a file."""
    from leadline.reporting.plots.text_layout import show_all_letters

    target = BytesIO()
    with style(**{"svg.fonttype": "none" if live_text else "path"}):
        facecolor = "none" if live_text else "white"
        show_all_letters(figure)
        box = _titled(figure, title, height)
        show_all_letters(figure)  # of the title too
        if figure in _LAST:
            _LAST[figure]()
        figure.savefig(
            target, format=form, dpi=300, facecolor=facecolor, metadata=NOTHING[form], bbox_inches=box
        )
    return target.getvalue()


_LAST: WeakKeyDictionary[Figure, Callable[[], None]] = WeakKeyDictionary()


def before_writing(figure: Figure, place: Callable[[], None]) -> None:
    """Place texts that depend on the layout of a figure: now, and again once its final height is set."""
    _LAST[figure] = place
    with style():
        place()


def drawn(make: Callable[[float | None], Figure], form: str, appearance: Appearance) -> bytes:
    """Return a figure, created by a function of its width, as a file in a given appearance."""
    with appearing(appearance):
        figure = make(appearance.width)
        return picture(figure, form, title=appearance.title, height=appearance.height)


def _titled(figure: Figure, title: str, height: float | None) -> Any:
    """Set height and title of a figure; return its bounding box, None without a title."""
    from matplotlib.transforms import Bbox

    from leadline.reporting.plots.text_layout import wrapped_to

    width, natural = map(float, figure.get_size_inches())
    lines = wrapped_to(drawable(title), width * 72 - 8, TITLE) if title else []
    band = (len(lines) * 1.3 * scaled(TITLE) + 3) / 72 if lines else 0.0
    if height is not None:
        if height - band < 0.3:
            raise UsageError(f"a height of {height:g} inches; expected more, for what is drawn")
        figure.set_figheight(height - band)
        natural = height - band
    if not lines:
        return None
    figure.text(
        0.5,
        1 + 2 / 72 / natural,
        "\n".join(lines),
        ha="center",
        va="bottom",
        fontsize=scaled(TITLE),
        linespacing=1.2,
    )
    # Legends are anchored after layout, otherwise they would move to the edge of the enlarged box.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for legend in figure.legends:
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
    return Bbox.from_extents(0, 0, width, natural + band)


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
