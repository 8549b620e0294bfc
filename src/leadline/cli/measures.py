"""`leadline measures`: the catalogue of measures, or one measure explained."""

from __future__ import annotations

import textwrap
from typing import Any

from leadline.cli._outputs import Outputs, for_screen
from leadline.data.table import Cell, Table
from leadline.errors import UsageError, one_of
from leadline.evaluation.catalogue import entry, explain, facts, limits, outline
from leadline.evaluation.profiles import GROUPS, profile_of
from leadline.measures import MEASURES, Measure, WithinBudget
from leadline.render import View, render
from leadline.result import Facts

SECTION = "Evaluation"

HEADS = ["measure", "title", "range", "average"]


def command(name: str | None, *, bibtex: bool, outputs: Outputs) -> None:
    """List the measures, or explain one.

    Write NAME as for `leadline evaluate -m`. For example, `leadline measures ndcg_cut_10` explains nDCG. The
    list also shows the measure groups of trec_eval.

    Example: leadline measures nDCG

    Options
    -------
    [name] | MEASURE
    --bibtex | flag
        Print BibTeX entries for leadline and for the sources of NAME or, without NAME, of all measures.
    -o
    """
    others = [f"-f {outputs.form}"] if outputs.form not in ("table", "none") else []
    others += [f"-o {path}" for path in outputs.files if outputs.form_of(path) != "table"]
    one_of({"--bibtex": bibtex} | dict.fromkeys(others, bibtex))
    kinds, asked = (list(MEASURES.classes.values()), "") if name is None else find(name)
    found: dict[str, Any] = {"measures": list(map(entry, kinds))}
    if name is None:
        view = View(Facts(catalogue(kinds), found))
        view.texts = {"table": render(listing(kinds), "table", to_file=bool(outputs.files))}
        found["groups"] = {group: list(names) for group, names in GROUPS.items()}
    else:
        view = View(Facts(details(kinds), found))
        text = "\n".join(explain(kind, asked=asked) for kind in kinds)
        view.texts = {"table": for_screen(text, to_file=bool(outputs.files))}
    if bibtex:
        from leadline.evaluation.catalogue import bibliography

        view.texts = {"table": bibliography(kind.source for kind in kinds)}
    view.lines = "measures"
    outputs.write("measures", view, list, {"name": name})


def find(text: str) -> tuple[list[type[Measure]], str]:
    """Return the measures that a name stands for, and a sentence on it if it is not their name."""
    text = text.strip()
    known = MEASURES.find(text)
    try:
        parsed = profile_of("leadline").measures([text])
    except UsageError:
        if known is None:
            raise
        kind, preset = known  # a name that only lacks its cutoff can be explained all the same
        given = ",".join(f"{name}={value}" for name, value in preset.items())
        means = f"{kind.__name__}({given})" if given else kind.__name__
        return [kind], "" if text == means else f"'{text}' is {means}"
    wholes = (one.whole if isinstance(one, WithinBudget) else one for one in parsed)
    kinds = list(dict.fromkeys(map(type, wholes)))
    means = ", ".join(map(str, parsed))
    return kinds, "" if text == means else f"'{text}' is {means}"


def catalogue(kinds: list[type[Measure]]) -> Table:
    """Return the catalogue as a table, one row per measure."""
    return Table(HEADS, [[outline(kind), kind.title, limits(kind), kind.average] for kind in kinds])


def details(kinds: list[type[Measure]]) -> Table:
    """Return the facts on some measures as a table, one row per fact."""
    rows: list[list[Cell]] = [
        [outline(kind), label, text.replace("\n", "; ")]
        for kind in kinds
        for label, text in ({"title": kind.title} | facts(kind)).items()
    ]
    return Table(["measure", "fact", "text"], rows)


def listing(kinds: list[type[Measure]]) -> Table:
    """Return the catalogue as a printed table, with an explanation of the columns below it."""
    groups = [
        line
        for group, names in GROUPS.items()
        for line in textwrap.wrap(f"{group}: {' '.join(names)}", 100, subsequent_indent="  ")
    ]
    notes = [
        "measure groups of trec_eval:",
        *groups,
        "",
        "[@k] is optional",
        "average: mean (undefined values count as 0), defined (mean without them), geometric mean, or sum",
        "`leadline measures NAME` shows the formula, parameters, source and an example",
    ]
    rows = catalogue(kinds).rows
    return Table(HEADS, rows, notes=notes, wrapped=frozenset({"measure", "title"}), whole=True)
