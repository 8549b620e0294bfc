"""Write the page of the studies of DeShaTo from the folders that `leadline study` filled.

    python docs/studies/shapes.py FOLDER

FOLDER holds SET-systems and SET-discrimination for every set. Numbers come from their JSON; only the words
around them are written here.
"""  # noqa: INP001

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SETS = {
    "cranfield": "Cranfield",
    "cisi": "CISI",
    "cranfield-plain": "Cranfield, no feedback",
    "cisi-plain": "CISI, no feedback",
}
NOTE = "<!-- Made by docs/studies/shapes.py from the output of `leadline study`. -->"


def load(folder: Path, study: str) -> dict[str, dict[str, Any]]:
    """Read what a study found, by set; a set that was not tried is left out."""
    paths = {
        name: folder / f"{name}-{study.removeprefix('shape-')}" / f"{study}.json" for name in SETS
    }
    return {name: json.loads(path.read_text()) for name, path in paths.items() if path.exists()}


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " --- |" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def discrimination(found: dict[str, dict[str, Any]]) -> str:
    """Write the accuracy against random and hard documents."""
    rows = []
    for name, data in found.items():
        for kind, one in data["accuracy"].items():
            value = f"{one['value']:.1%} [{one['low']:.1%}, {one['high']:.1%}]"
            fits = f"{one['lowest_fit']:.1%} to {one['highest_fit']:.1%}"
            rows.append([SETS[name], kind, str(one["queries"]), value, fits])
    return table(["set", "other documents", "queries", "right", "by fit"], rows)


def depths(found: dict[str, dict[str, Any]]) -> str:
    """Write tau by depth and truth."""
    rows = [
        [SETS[name], str(one["depth"]), one["truth"],
         f"{one['deshato']:.2f} ({one['lowest']:.2f} to {one['highest']:.2f})", f"{one['p']:.3f}",
         f"{one['nruns']:.2f}"]
        for name, data in found.items()
        for one in data["depths"]
    ]  # fmt: skip
    heads = ["set", "depth", "truth", "DeShaTo, mean (fits)", "p of the worst fit", "nruns"]
    return table(heads, rows)


def few(found: dict[str, dict[str, Any]]) -> str:
    """Write mean tau in random sets of few systems."""
    rows = [
        [SETS[name], size, f"{one['deshato']:.2f}", f"{one['nruns']:.2f}"]
        for name, data in found.items()
        for size, one in data["few"].items()
    ]
    return table(["set", "systems", "DeShaTo", "nruns"], rows)


def example(folder: Path, found: dict[str, dict[str, Any]]) -> str:
    """Write of a good and a bad list how much of their mass the largest topics hold, and copy the figures."""
    parts = []
    for name, data in found.items():
        figure = folder / f"{name}-discrimination" / "topics.svg"
        if not (figure.exists() and data.get("examples")):
            continue
        shutil.copy(figure, HERE / f"shapes-{name}-topics.svg")
        good, bad = data["examples"]
        rows = [
            [one["kind"], one["run"], f"{one['relevant']} of {one['documents']}", f"{one['score']:.1f}",
             *(f"{value:.1f}" for value in one["terms"].values())]
            for one in (good, bad)
        ]  # fmt: skip
        heads = ["list", "system", "relevant", "DeShaTo", *good["terms"]]
        parts.append(
            f"{SETS[name]}, query {good['query']}:\n\n{table(heads, rows)}\n\n"
            f"![Cumulated topics, {SETS[name]}](shapes-{name}-topics.svg)"
        )
    return EXAMPLE.format(parts="\n\n".join(parts)) if parts else ""


EXAMPLE = """### What the score looks at

The sum, the minimum and the product of the topic vectors of a good and a bad list: how much of the mass the
largest topics hold. The lists are those with most and fewest relevant documents among their first 30, of the
query where these are furthest apart: an extreme example, chosen by relevance and not by DeShaTo, with the
first fit of the topics. Where k(P) is near 98, the most that 100 topics can have, the product is one topic
alone, and the two lists are told apart by the other terms or not at all.

{parts}

"""

PAGE = """# Study: the shape of topics (DeShaTo)

{note}

Ionescu, Chifu and Mothe 2015 on public collections and leadline's own systems ({systems}),
at most 100 documents a query. LDA with {topics} topics ({more} for the first table), {fits} fits of
{sweeps} sweeps; leadline {version}, seed 0.

## Relevant documents against others (their table 2)

The paper: right for 92.8 % of the queries on Robust, 100 % on the two Web tracks. Here every document that
is not judged relevant counts as another one; `hard` ones are among the first {hard} of some run.

{discrimination}

{said}

{example}## Ranking systems (their table 4)

The paper, tau with MAP@30 of DeShaTo and nruns: 0.61 and 0.62 on Robust, 0.23 and 0.10, 0.50 and 0.45 on
the Web tracks.

{depths}

In random sets of few systems, mean tau with MAP@30:

{few}

{ranked}

The sets without feedback lack the three models that expand queries (RM1, RM3, BM25RF; on Cranfield the
best three by MAP@30). Without them the verdict turns round on both collections: nruns is ahead, and
DeShaTo's worst fit is not told from 0 at any depth. A likely reason, not tested: such models find
documents that no other system finds, which votes punish, and that resemble each other, which DeShaTo
rewards. So a verdict above holds for its set of systems alone.

These are home-made systems that share components, on small collections: runs of many teams on a large
collection may behave otherwise. With one set of systems per collection there is no interval over systems.

## To repeat it

    leadline index DOCS -o IX
    leadline search IX QUERIES -m MODEL ... -k 100 -o runs
    leadline study shape-systems qrels.txt runs/* --docs DOCS --sweeps {sweeps} -o OUT/SET-systems
    leadline study shape-discrimination qrels.txt runs/* --docs DOCS --sweeps {sweeps} \\
        -o OUT/SET-discrimination
    python docs/studies/shapes.py OUT
"""


def main(folder: Path) -> None:
    """Write the page."""
    systems, parts = load(folder, "shape-systems"), load(folder, "shape-discrimination")
    first, other = next(iter(systems.values())), next(iter(parts.values()))
    page = PAGE.format(
        note=NOTE, version=first["leadline"], fits=first["fits"], topics=first["topics"],
        more=other["topics"], sweeps=first["options"]["sweeps"], hard=other["options"]["hard"],
        systems=", ".join(f"{data['systems']} on {SETS[name]}" for name, data in systems.items()),
        discrimination=discrimination(parts), depths=depths(systems), few=few(systems),
        example=example(folder, parts),
        said=lines(parts), ranked=lines(systems),
    )  # fmt: skip
    (HERE / "shapes.md").write_text(page, encoding="utf-8")


def lines(found: dict[str, dict[str, Any]]) -> str:
    """Write what the studies said of themselves."""
    return "\n".join(
        f"- {SETS[name]}: {line}" for name, data in found.items() for line in data["lines"]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
