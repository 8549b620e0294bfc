"""One file per HTML page; here is how templates and figures become one file without links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from leadline.data.wording import visible
from leadline.reporting.plots import FAINT, INK, LINE_STYLES, RULE, picture

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure


def fill(template: str, **data: object) -> str:
    """Fill a template of this package; everything that is not made here is escaped.

    Control characters of names are shown as their escapes; only text marked as safe keeps its lines.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("leadline.reporting.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    return environment.get_template(template).render(data)


def _visible(value: object) -> object:
    return visible(value) if type(value) is str else value


def inline(figure: Figure, key: str, title: str) -> Markup:
    """Return a figure as SVG for a page: own ids, live text, colours that follow the theme."""
    from markupsafe import Markup, escape

    drawn = picture(figure, "svg", live_text=True).decode()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", drawn, flags=re.DOTALL)  # the page has it
    drawn = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{key}-", drawn)
    drawn = re.sub(r'base64,[^"]*', lambda found: "".join(found[0].split()), drawn)
    for color, variable in _themed().items():
        drawn = drawn.replace(color, f"var(--{variable}, {color})")
    head = f'<svg role="img" aria-labelledby="{key}-title"'
    name = f'<title id="{key}-title">{escape(title)}</title>'
    start, end = drawn.index("<svg"), drawn.index(">") + 1
    head += re.sub(r' (width|height|version)="[^"]*"', "", drawn[start + 4 : end])
    return Markup(head + name + drawn[end:])  # noqa: S704  # drawn by us; names in it are escaped


def _themed() -> dict[str, str]:
    """Name the style variable of every colour that the pictures use."""
    lines = {look.color: f"line-{place}" for place, look in enumerate(LINE_STYLES)}
    return lines | {INK: "ink", FAINT: "faint", RULE: "rule"}


def table_of(results: Any) -> dict[str, Any]:
    """Lay results out for the template `_table.html`: the best run first, best values marked."""
    best = results.best()
    rows = [
        {
            "name": results.runs[place].name,
            "cells": [
                {"value": value, "best": place in best[column]}
                for column, value in enumerate(results.means[place].tolist())
            ],
        }
        for place in results.order()
    ]
    return {"columns": [str(measure) for measure in results.measures], "rows": rows}
