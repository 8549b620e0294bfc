"""What the tests of pictures ask of a drawn picture."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

import leadline
from leadline.charts import FAINT, INK, LINE_STYLES, RULE, picture
from leadline.result import Result

KNOWN = {look.color for look in LINE_STYLES} | {FAINT, INK, RULE, "#ffffff", "#000000"}


def texts(figure: Any) -> Iterator[Any]:
    """Return the texts that are seen: not the labels of ticks that are beyond the ends of an axis."""
    unseen = {
        id(label)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in unseen:
            yield text


def least_size(figure: Any) -> float:
    """Return the smallest font size of the texts that are seen, in points."""
    return min((float(text.get_fontsize()) for text in texts(figure)), default=float("inf"))


def whole(figure: Any) -> None:
    """See that a picture is whole: all inside, no text over another, only known colours."""
    seen: dict[int, tuple[float, str, Any]] = {}
    draw = Text.draw
    to_pixels = Affine2D().scale(figure.dpi / 72)  # an SVG is drawn in points

    def drawn(self: Text, renderer: Any, *given: Any, **options: Any) -> None:
        draw(self, renderer, *given, **options)
        if self.get_visible() and self.get_text().strip():
            box = self.get_window_extent(renderer).transformed(to_pixels)
            seen[id(self)] = (self.get_rotation() % 90, self.get_text(), box)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Text, "draw", drawn)
        picture_text = picture(figure, "svg", live_text=True).decode()
    assert set(re.findall(r"#[0-9a-f]{6}\b", picture_text)) <= KNOWN
    size = figure.get_size_inches() * figure.dpi
    boxes = [(words, box) for _, words, box in seen.values()]
    for words, box in boxes:
        assert box.x0 > -1, words
        assert box.y0 > -1, words
        assert box.x1 < size[0] + 1, words
        assert box.y1 < size[1] + 1, words
    # the rectangles of parallel oblique texts overlap although the texts do not
    for (one, first), (other, second) in combinations([each[1:] for each in seen.values() if not each[0]], 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        high = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert wide < 1 or high < 2, f"{one!r} lies over {other!r}"


def results_with_figures() -> list[str]:
    """Name the results that have a figure of their own."""
    for module in pkgutil.walk_packages(leadline.__path__, "leadline."):
        if not module.name.startswith(("leadline.kernels", "leadline.__main__", "leadline.pytest_plugin")):
            importlib.import_module(module.name)
    kinds, found = [Result], []
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        found += [kind.__name__] * ("_figure" in vars(kind) and kind is not Result)
    return sorted(set(found))
