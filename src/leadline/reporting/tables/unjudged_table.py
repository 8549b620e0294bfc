"""Systems ranked without judgments as a table."""

from __future__ import annotations

from leadline.data.wording import counted, queries
from leadline.estimation.unjudged_result import Unjudged
from leadline.reporting.render import Cell, Table


def unjudged_table(found: Unjudged) -> Table:
    """Lay systems down, the best first: score, mean number of documents, terms, spread over fits."""
    data = found.to_dict()
    heads = ["system", found.method.called, "documents", *found.terms]
    if found.spread is not None:
        heads.append("spread")
    rows: list[list[Cell]] = []
    for place in found.order():
        name = found.names[place]
        cells: list[Cell] = [name, data["scores"][name], float(found.used[place].mean())]
        cells += [data["terms"][term][name] for term in found.terms]
        if found.spread is not None:
            cells.append(data["spread"][name])
        rows.append(cells)
    size = f"{counted(len(rows), 'system')}, mean over {queries(len(found.queries))}"
    notes = [
        f"{found.method}: {size}; no judgments",
        "documents: looked at per query; scores order systems and are no estimate of a measure's value",
    ]
    if found.spread is not None:
        notes.append(f"spread: standard deviation of the score over {len(found.by_fit)} fits of the topics")
    return Table(heads, rows, notes=[*notes, *map(str, found.warnings)])
