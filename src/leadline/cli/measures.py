"""`leadline measures`: the catalogue of measures, or one measure explained."""

from __future__ import annotations

import textwrap

import click

from leadline.cli._help import Command
from leadline.cli._options import output_options, write_output
from leadline.cli._results import envelope, for_screen, json_text, table_text
from leadline.errors import UsageError
from leadline.evaluation.catalogue import entry, explain, facts, limits, outline
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.trec_names import GROUPS
from leadline.measures import MEASURES, Measure
from leadline.reporting.render import Table

SECTION = "Evaluation"

HEADS = ["measure", "title", "range", "average"]


@click.command(cls=Command, epilog="Example: leadline measures nDCG")
@click.argument("name", required=False)
@output_options
def command(name: str | None, form: str, output: str | None) -> None:
    """List the measures, or explain one.

    NAME is any name that `leadline evaluate -m` accepts: `leadline measures ndcg_cut_10` explains nDCG. The
    groups of trec_eval are listed too.
    """
    kinds, asked = (list(MEASURES.classes.values()), "") if name is None else find(name)
    if form == "json":
        found = envelope("measures", [], {"name": name}, []) | {"measures": list(map(entry, kinds))}
        if name is None:
            found["groups"] = {group: list(names) for group, names in GROUPS.items()}
        text = json_text(found)
    elif form == "jsonl":
        import json

        text = "".join(json.dumps(entry(kind), ensure_ascii=False) + "\n" for kind in kinds)
    elif form == "table":
        text = (
            table_text(listing(kinds), form, to_file=output is not None)
            if name is None
            else for_screen(
                "\n".join(explain(kind, asked=asked) for kind in kinds), to_file=output is not None
            )
        )
    else:
        sheet = catalogue(kinds) if name is None else details(kinds)
        text = table_text(sheet, form, to_file=output is not None)
    write_output(text, output)


def find(text: str) -> tuple[list[type[Measure]], str]:
    """Return the measures that a text means, and in words what it means where that needs saying."""
    text = text.strip()
    known = MEASURES.find(text)
    try:
        found = profile_of("leadline").measures([text])
    except UsageError:
        if known is None:
            raise
        kind, preset = known  # a name that only lacks its cutoff can be explained all the same
        given = ",".join(f"{name}={value}" for name, value in preset.items())
        means = f"{kind.__name__}({given})" if given else kind.__name__
        return [kind], "" if text == means else f"'{text}' is {means}"
    kinds = list(dict.fromkeys(map(type, found)))
    means = ", ".join(map(str, found))
    return kinds, "" if text == means else f"'{text}' is {means}"


def catalogue(kinds: list[type[Measure]]) -> Table:
    """Lay the catalogue out: one measure a row."""
    rows = [[outline(kind), kind.title, limits(kind), kind.average] for kind in kinds]
    return Table(columns=HEADS, rows=[list(row) for row in rows])


def details(kinds: list[type[Measure]]) -> Table:
    """Lay everything known of some measures out: one fact a row."""
    rows = [
        [outline(kind), label, text.replace("\n", "; ")]
        for kind in kinds
        for label, text in ({"title": kind.title} | facts(kind)).items()
    ]
    return Table(columns=["measure", "fact", "text"], rows=[list(row) for row in rows])


def listing(kinds: list[type[Measure]]) -> Table:
    """Return the catalogue as a table for people, with what the columns mean below it."""
    groups = [
        line
        for group, names in GROUPS.items()
        for line in textwrap.wrap(f"{group}: {' '.join(names)}", 100, subsequent_indent="  ")
    ]
    notes = [
        "groups of trec_eval, which mean several of these:",
        *groups,
        "",
        "[@k] may be left out",
        "mean: an undefined value counts 0; defined: it is left out; geometric: the mean of logarithms",
        "`leadline measures NAME` explains one: formula, parameters, source, example",
    ]
    rows = catalogue(kinds).rows
    return Table(HEADS, rows, notes=notes, wrapped=frozenset({"measure", "title"}), whole=True)
