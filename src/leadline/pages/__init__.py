"""HTML pages without external links, from templates, tables and figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from leadline.charts import FAINT, INK, LINE_STYLES, RULE, STYLE, picture
from leadline.data.wording import visible

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure


def fill(template: str, **data: object) -> str:
    """Return a filled template; text not marked as safe is escaped, and so are control characters."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("leadline.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    return environment.get_template(template).render(data)


RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # letters of such scripts


def _visible(value: object) -> object:
    """Return text with visible control characters, its words from right to left isolated from the others."""
    if type(value) is not str:
        return value
    return re.sub(r"\w(?:\S*\w)?", _isolated, visible(value))


def _isolated(word: re.Match[str]) -> str:
    return f"\u2068{word[0]}\u2069" if re.search(f"[{RIGHT_TO_LEFT}]", word[0]) else word[0]


@contextmanager
def colors_of_page() -> Iterator[None]:
    """Draw in the colors that follow the theme of the page, whatever colors the user's matplotlibrc sets."""
    import matplotlib as mpl

    with mpl.rc_context({name: mpl.rcParamsDefault[name] for name in STYLE if "color" in name}):
        yield


def inline(figure: Figure, key: str, title: str) -> Markup:
    """Return a figure as inline SVG with ids of its own, text as text, and the colors of the theme."""
    from markupsafe import Markup, escape

    drawn = picture(figure, "svg", live_text=True).decode()
    drawn = drawn[drawn.index("<svg") :]
    # the page has its own style
    drawn = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", drawn, flags=re.DOTALL)
    themed = {line_style.color: f"line-{index}" for index, line_style in enumerate(LINE_STYLES)}
    themed |= {INK: "ink", FAINT: "faint", RULE: "rule"}
    drawn = re.sub(r"<[^>]*>", lambda tag: _rewritten(tag[0], key, themed), drawn)
    drawn = re.sub(r'base64,[^"]*', lambda match: "".join(match[0].split()), drawn)
    head = f'<svg role="img" aria-labelledby="{key}-title"'
    name = f'<title id="{key}-title">{escape(title)}</title>'
    start, end = drawn.index("<svg"), drawn.index(">") + 1
    head += re.sub(r' (width|height|version)="[^"]*"', "", drawn[start + 4 : end])
    return Markup(head + name + drawn[end:])  # noqa: S704  # generated here; names are escaped


def _rewritten(tag: str, key: str, themed: dict[str, str]) -> str:
    """Return a tag with ids of its own and the colors of the theme."""
    tag = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{key}-", tag)
    for color, variable in themed.items():
        tag = tag.replace(color, f"var(--{variable}, {color})")
    return tag


def table_of(results: Any) -> dict[str, Any]:
    """Return the data of the template `_table.html`: runs in descending order, best values marked."""
    best = results.best()
    rows = [
        {
            "name": results.runs[run].name,
            "cells": [
                {"value": value, "best": run in best[column]}
                for column, value in enumerate(results.means[run].tolist())
            ],
        }
        for run in results.order()
    ]
    return {"columns": [str(measure) for measure in results.measures], "rows": rows}
