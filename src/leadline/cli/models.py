"""`leadline models`: the catalogue of retrieval models, or one explained."""

from __future__ import annotations

from typing import Any

from leadline.cli._outputs import Outputs, for_screen
from leadline.data.registry import show
from leadline.data.table import Cell, Table
from leadline.evaluation.catalogue import outline, paragraphs
from leadline.render import View
from leadline.result import Facts
from leadline.retrieval.models import MODELS, Model

SECTION = "Retrieval"

NOTES = [
    "all parameters are optional, and TF(dot) or TFIDF(cosine) chooses a variant of TF or TFIDF",
    "`leadline models NAME` shows the formula, parameters and source",
]


def command(name: str | None, outputs: Outputs) -> None:
    """List the retrieval models, or explain one.

    The values in parentheses are the parameter defaults.

    Example: leadline models BM25

    Options
    -------
    [name]
    -o
    """
    kinds = list(MODELS.classes.values()) if name is None else [type(MODELS.parse(name))]
    rows: list[list[Cell]] = [[outline(kind, defaults=True), kind.title] for kind in kinds]
    heads = ["model", "title"]
    view = View(Facts(Table(heads, rows), {"models": list(map(entry, kinds))}), lines="models")
    if name is None:
        view.tables = {"table": Table(heads, rows, notes=NOTES, wrapped=frozenset(heads), whole=True)}
    else:
        view.texts = {"table": for_screen(explained(kinds[0]), to_file=bool(outputs.files))}
    outputs.write("models", view, list, {"name": name})


def entry(kind: type[Model]) -> dict[str, Any]:
    """Return the facts on a model as plain data."""
    return {
        "name": kind.__name__,
        "parameters": {
            name: {"default": parameter.default, "allowed": parameter.expected()}
            for name, parameter in kind.parameters().items()
        },
        "description": " ".join(paragraphs(kind)),
        "title": kind.title,
        "formula": kind.formula,
        "source": kind.source,
        "spellings": list(kind.aliases),
    }


def explained(kind: type[Model]) -> str:
    """Return the explanation of a model as text."""
    import textwrap

    lines = [f"{outline(kind, defaults=True)} - {kind.title}", ""]
    for part in paragraphs(kind):
        lines += [*textwrap.wrap(part, 100, initial_indent="  ", subsequent_indent="  "), ""]
    facts = {"formula": kind.formula, "source": kind.source}
    if kind.aliases:
        facts["spellings"] = ", ".join(kind.aliases)
    for name, parameter in kind.parameters().items():
        facts[name] = f"{parameter.expected()}; default {show(parameter.default)}"
    for label, text in facts.items():
        lines += textwrap.wrap(text, 100, initial_indent=f"  {label:<12}", subsequent_indent=" " * 14)
    return "\n".join(lines) + "\n"
