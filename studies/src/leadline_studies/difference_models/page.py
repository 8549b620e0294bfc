"""Write the page of the study of models and parameters, after running it where DATA is named.

    python -m leadline_studies.difference_models.page [DATA]

DATA contains a folder per collection, with docs.jsonl (or .gz), queries.jsonl and qrels.txt.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leadline as ll
from leadline.reporting.plots import picture
from leadline_studies import study
from leadline_studies.common.markdown import table, value_range, wrapped
from leadline_studies.common.pages import PAGES, Json, find_documents, update_page

NAME = "difference-models"
SETS = ("cisi", "cacm", "npl", "nfcorpus-test")
CUTOFFS = (None, 20)
STEPS = range(21)
B = [f"{step * 0.05:.2g}" for step in STEPS]
EVEN, WIDE = "even", "wide"
COMPLETE = "complete"
JUDGED: dict[str, dict[str, int]] = {COMPLETE: {}, "pool of 100": {"pool": 100}, "pool of 30": {"pool": 30}}
DEEPEST = 100
GRIDS = {
    EVEN: {
        "b": B,
        "mu": [f"{250 * (step + 1)}" for step in STEPS],
        "c": [f"{0.5 * (step + 1):g}" for step in STEPS],
    },
    WIDE: {
        "b": B,
        "mu": [f"{10 * 500 ** (step / 20):.3g}" for step in STEPS],
        "c": [f"{0.05 * 400 ** (step / 20):.3g}" for step in STEPS],
    },
}
FAMILIES = ("BM25", "LM", "DFR")
PAPER_FAR = 0.40  # of the pairs of BM25, in the paper
NOTE = "<!-- Made by leadline_studies/difference_models/page.py from the output of the study. -->"


def grid(cutoff: int | None, values: dict[str, list[str]]) -> list[tuple[str, str, str]]:
    """Return model, family and parameter of every setting."""
    model = "In_expB2" if cutoff is None else "PL2"
    return [
        *((f"BM25(k1=1.2,b={value})", "BM25", value) for value in values["b"]),
        *((f"QLDirichlet(mu={float(value):g})", "LM", value) for value in values["mu"]),
        *((f"{model}(c={value})", "DFR", value) for value in values["c"]),
    ]


def collect(data: Path) -> Json:
    """Run the study on both grids with every kind of judgments."""
    results: Json = {"leadline": ll.__version__, "documents": {}, "grids": {}}
    for grid_name, values in GRIDS.items():
        results["grids"][grid_name] = {judged: {} for judged in JUDGED}
        for name in SETS:
            index = ll.build_index(str(find_documents(data / name)))
            results["documents"][name] = index.documents
            for cutoff in CUTOFFS:
                outcomes = run_grid(index, data / name, cutoff, values)
                for judged, outcome in outcomes.items():
                    messages = {"lines": list(outcome.lines), "notices": list(map(str, outcome.warnings))}
                    results["grids"][grid_name][judged][key(name, cutoff)] = outcome.data | messages
                    sys.stderr.write(f"{grid_name} {judged} {key(name, cutoff)}: {outcome.lines[1]}\n")
                if grid_name == EVEN:
                    for title, figure in outcomes[COMPLETE].figures.items():
                        path = PAGES / f"difference-models-{key(name, cutoff)}-{title}.svg"
                        path.write_bytes(picture(figure, "svg"))
    return dict(flat(results))


def flat(results: Json) -> list[tuple[str, Any]]:
    """Return the numbers with a line for each grid and its judgments."""
    lines: list[tuple[str, Any]] = [(key, results[key]) for key in ("leadline", "documents")]
    lines += [
        (f"{grid_name} {judged}", block)
        for grid_name, by_judged in results["grids"].items()
        for judged, block in by_judged.items()
    ]
    return lines


def key(name: str, cutoff: int | None) -> str:
    """Name a set and a cutoff."""
    return name if cutoff is None else f"{name}-at-{cutoff}"


def run_grid(index: Any, folder: Path, cutoff: int | None, values: dict[str, list[str]]) -> dict[str, Any]:
    """Search with one grid and conduct the study with each kind of judgments."""
    settings = grid(cutoff, values)
    depth = index.documents if cutoff is None else DEEPEST  # a pool is deeper than the cutoff
    models = [model for model, _, _ in settings]
    runs = ll.search(index, str(folder / "queries.jsonl"), models, k=depth)
    rows = [f"{name}\t{family}\t{value}\n" for name, (_, family, value) in zip(runs, settings, strict=True)]
    with tempfile.TemporaryDirectory() as temporary:
        grid_file = Path(temporary) / "grid.tsv"
        grid_file.write_text("run\tfamily\tparameter\n" + "".join(rows))
        contents: dict[str, Any] = {
            "family": f"{grid_file}:family",
            "parameter": f"{grid_file}:parameter",
            "cutoff": cutoff,
        }
        return {
            judged: study(NAME).run(
                str(folder / "qrels.txt"),
                runs,
                **contents,
                **({"complete": str(find_documents(folder))} if judged == COMPLETE else how),
            )
            for judged, how in JUDGED.items()
        }


def title(at: str) -> str:
    """Return a set and a cutoff as a title."""
    name, _, k = at.partition("-at-")
    return f"{name}, k = {k}" if k else name


def ends(data: Json) -> tuple[tuple[str, Json], tuple[str, Json]]:
    """Return the pairs of best runs that are nearest and farthest."""
    ordered = sorted(data["across"].items(), key=lambda item: item[1]["id"])
    return ordered[0], ordered[-1]


def by_family(results: dict[str, Json], cell: Callable[[Json], str]) -> str:
    """Write a cell for every family, sets and cutoffs beside each other."""
    rows = [[family, *(cell(data["families"][family]) for data in results.values())] for family in FAMILIES]
    return table(["family", *map(title, results)], rows, labels=1)


def best(results: dict[str, Json]) -> str:
    """Write table 1: the best RIC of every family and the parameter that has it."""
    return by_family(results, lambda row: f"{row['ric']:.3f} ({row['parameter']:g})")


def between(results: dict[str, Json]) -> str:
    """Write table 2: id between the best of the families."""
    rows = [
        [pair, *(f"{data['across'][pair]['id']:.3f}" for data in results.values())]
        for pair in next(iter(results.values()))["across"]
    ]
    return table(["pair", *map(title, results)], rows, labels=1)


def within(results: dict[str, Json]) -> str:
    """Write how far apart the settings of one family are."""
    return by_family(results, lambda row: f"{row['id_median']:.3f} / {row['id_largest']:.3f}")


def shares(results: dict[str, Json], which: int) -> str:
    """Write how many pairs of a family are farther apart than the nearest (0) or farthest (1) best pair."""
    rows = []
    for setting, data in results.items():
        pair, entry = ends(data)[which]
        cells = [f"{entry['share_of_pairs_above'][family]:.0%}" for family in FAMILIES]
        rows.append([title(setting), pair, f"{entry['id']:.3f}", *cells])
    return table(["set", "pair", "id", *(f"of {family}" for family in FAMILIES)], rows, labels=2)


def facts(results: dict[str, Json]) -> dict[str, Any]:
    """Return the counts that the verdict is based on."""
    values = list(results.values())
    far = [ends(data)[1] for data in values]
    near = [ends(data)[0] for data in values]
    least = [min(entry["share_of_pairs_above"].values()) for _, entry in far]
    cells = [share for _, entry in far for share in entry["share_of_pairs_above"].values()]
    nearest = [share for _, entry in near for share in entry["share_of_pairs_above"].values()]
    widest = [max(row["id_largest"] for row in data["families"].values()) for data in values]
    lowest = [data["families"]["LM"]["parameter"] == float(GRIDS[EVEN]["mu"][0]) for data in values]
    return {
        "settings": len(values),
        "cells": len(cells),
        "held": sum(share > 0.5 for share in least),
        "paper": sum(round(share, 2) >= PAPER_FAR for share in cells),
        "most": f"{max(cells):.0%}",
        "zeros": sum(share == 0 for share in cells),
        "near": sum(share > 0.5 for share in nearest),
        "range": value_range(nearest, ".0%"),
        "with_lm": sum("LM" in pair for pair, _ in far),
        "without_lm": sum("LM" not in pair for pair, _ in near),
        "ends": sum(wide > entry["id"] for wide, (_, entry) in zip(widest, far, strict=True)),
        "edge": sum(lowest),
        "ranges": {
            family: value_range([entry["share_of_pairs_above"][family] for _, entry in far], ".0%")
            for family in FAMILIES
        },
    }


def figures(results: dict[str, Json], which: str) -> str:
    """Return the Markdown of one figure for every set and cutoff."""
    return "\n".join(f"![{title(setting)}](difference-models-{setting}-{which}.svg)" for setting in results)


def block(contents: Json, grid_name: str, judged: str) -> dict[str, Json]:
    """Return the results with one grid and one kind of judgments."""
    results: dict[str, Json] = contents[f"{grid_name} {judged}"]
    return results


def judgments_table(contents: Json) -> str:
    """Write how many documents are judged, by set and kind of judgments."""
    rows = [
        [
            name,
            *(
                "{per_query:,.0f} ({relevant_per_query:.1f}); ".format(**data["judged"])
                + str(data["queries"])
                for judged in JUDGED
                for data in [block(contents, EVEN, judged)[key(name, None)]]
            ),
        ]
        for name in SETS
    ]
    return table(["set", *JUDGED], rows, labels=1)


def by_judgments(contents: Json) -> str:
    """Write the counts that the verdict is based on, by grid, judgments and cutoff."""
    rows = []
    for grid_name in GRIDS:
        for judged in JUDGED:
            full, cut = both_cutoffs(block(contents, grid_name, judged))
            for label, results in (("whole lists", full), ("at 20", cut)):
                counts = facts(results)
                far = [ends(data)[1][1]["id"] for data in results.values()]
                rows.append(
                    [
                        grid_name,
                        judged,
                        label,
                        value_range(far, ".3f"),
                        *counts["ranges"].values(),
                        f"{counts['paper']} of {counts['cells']}",
                        f"{counts['held']} of {counts['settings']}",
                        f"{counts['near']} of {counts['cells']}",
                    ]
                )
    heads = [
        "grid",
        "judged",
        "lists",
        "largest id between best",
        *(f"pairs of {counts} farther apart" for counts in FAMILIES),
        "cases of 40 % or more",
        "half in every family",
        "nearest two: above a half",
    ]
    return table(heads, rows, labels=3)


def both_cutoffs(results: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Split the results into those of whole lists and of lists cut at 20."""
    return (
        {setting: data for setting, data in results.items() if data["k"] is None},
        {setting: data for setting, data in results.items() if data["k"] is not None},
    )


def share_far(results: dict[str, Json]) -> dict[tuple[str, str], float]:
    """Return the share of pairs farther apart than the farthest two best, by set and family."""
    return {
        (setting, family): ends(data)[1][1]["share_of_pairs_above"][family]
        for setting, data in results.items()
        for family in FAMILIES
    }


def change(first: dict[str, Json], second: dict[str, Json]) -> float:
    """Return the mean absolute change of those shares."""
    before, after = share_far(first), share_far(second)
    return sum(abs(before[setting] - after[setting]) for setting in before) / len(before)


def times(contents: Json, judged: str) -> str:
    """Return by how much the largest id between best models grows with pooled judgments."""
    complete, pooled = (block(contents, EVEN, kind) for kind in (COMPLETE, judged))
    return value_range(
        [ends(pooled[setting])[1][1]["id"] / ends(complete[setting])[1][1]["id"] for setting in complete],
        ".1f",
    )


def held_settings(contents: Json) -> str:
    """Name the cases in which the largest id is smaller than half of the pairs of every family."""
    names = [
        f"{grid_name} grid, {judged}, {title(setting)}"
        for grid_name in GRIDS
        for judged in JUDGED
        for setting, data in block(contents, grid_name, judged).items()
        if min(ends(data)[1][1]["share_of_pairs_above"].values()) > 0.5
    ]
    return "; ".join(names) or "none"


def page(contents: Json) -> str:
    """Return the page from the numbers kept."""
    results = block(contents, EVEN, COMPLETE)
    sizes = "; ".join(
        f"{name}: {contents['documents'][name]:,} documents, {results[name]['queries']} queries"
        for name in SETS
    )
    full, cut = both_cutoffs(results)
    every = [facts(block(contents, grid_name, judged)) for grid_name in GRIDS for judged in JUDGED]
    wide_pair = [block(contents, WIDE, name) for name in (COMPLETE, "pool of 30")]
    pooled = [block(contents, EVEN, grid_name) for grid_name in list(JUDGED)[1:]]
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=contents["leadline"],
            sizes=sizes,
            **facts(results),
            best=best(results),
            between=between(results),
            within=within(results),
            far=shares(results, 1),
            nearest=shares(results, 0),
            wide=facts(block(contents, WIDE, COMPLETE)),
            wide_100=facts(block(contents, WIDE, "pool of 100")),
            wide_30=facts(block(contents, WIDE, "pool of 30")),
            wide_30_cut=facts(both_cutoffs(block(contents, WIDE, "pool of 30"))[1]),
            even_30=facts(pooled[1]),
            even_100=facts(pooled[0]),
            wide_far=shares(block(contents, WIDE, COMPLETE), 1),
            whole=facts(full),
            cut=facts(cut),
            judgments=judgments_table(contents),
            by_judgments=by_judgments(contents),
            times_100=times(contents, "pool of 100"),
            times_30=times(contents, "pool of 30"),
            by_grid=f"{change(results, block(contents, WIDE, COMPLETE)):.2f}",
            by_pool_100=f"{change(results, pooled[0]):.2f}",
            by_pool_30=f"{change(results, pooled[1]):.2f}",
            wide_by_pool_30=f"{change(*wide_pair):.2f}",
            all_held=sum(counts["held"] for counts in every),
            all_settings=sum(counts["settings"] for counts in every),
            held_names=held_settings(contents),
            parameter=figures(results, "parameter"),
            cumulative=figures(results, "cumulative"),
        )
    )


PAGE = """# Does the retrieval model matter more than its parameter?

{note}

**Answer: the claim is not confirmed on the even grid, and partly on the wide one.** Golbus and Aslam 2014
(section 3.2) conclude that there is far more difference within a model than across models: the largest
Information Difference (id, [glossary](../glossary.md)) between best models is smaller than roughly 40 % of
the pairs of settings of BM25. Here that holds, for a family and a setting, in {paper} of {cells} cases on the
even grid with complete judgments, and in {wide[paper]} on the wide grid; with pooled judgments in
{even_100[paper]} and {even_30[paper]} on the even, {wide_100[paper]} and {wide_30[paper]} on the wide grid
(pools of 100 and 30). Which grid is compared decides the outcome.

![Cumulative distribution of id within a family, cisi](difference-models-cisi-cumulative.svg)

cisi, whole lists, even grid: share of the 210 pairs of a family up to an id. Dashed: id between the best
settings of two families. By the claim, dashed lines are to the left of much of the curves.

## How to repeat it

    python -m leadline_studies.difference_models.page DATA    # in a checkout: all, and this page

With runs of your own, named in a table with their family and parameter (`--complete docs.jsonl` in place of
`--pool 30` takes all other documents as judged):

    leadline study difference-models qrels.txt runs/* --pool 30 \\
        --family grid.tsv:family --parameter grid.tsv:parameter -o OUT

Processor time: 24 s for the even grid on cisi. [Data](README.md#data): {sizes}. leadline {version}; numbers
in [difference-models.json](difference-models.json).

## Method

BM25, a language model with Dirichlet smoothing (LM) and divergence from randomness (DFR: In_expB2 for RIC,
PL2 for RIC at 20, as in the paper), 21 settings each. Every family is represented by the setting with the
largest RIC on the same queries, as in the paper. The paper gives neither its grids nor the depth of its
pools, hence two grids and three kinds of judgments:

- even grid: b = 0, 0.05 to 1 (k1 = 1.2), mu = 250, 500 to 5250, c = 0.5, 1 to 10.5
- wide grid, chosen after seeing the results of the first, in equal ratios: mu = 10 to 5000, c = 0.05 to 20, b
  as before
- `complete`: every document without a judgment counts as not relevant (an assumption for nfcorpus-test)
- `pool of 100`, `pool of 30`: only the first 100 or 30 documents of the 63 runs are judged, as in a TREC
  track

Judged documents per query on the even grid, relevant ones in brackets, and the number of queries used (those
whose pool contains a relevant document):

{judgments}

## Pairs of a family that are farther apart than the best models

Proportion of the pairs of a family that are farther apart than the most distant best models; ranges over
collections. `Nearest two`: the same for the closest best models.

{by_judgments}

- In the paper the largest id between best models is 0.149 (LM and BM25, TREC 8 at 20), the smallest 0.056,
  smaller than roughly 55 % of the pairs of LM. Closest to it is the wide grid at 20 with a pool of 30:
  {wide_30_cut[paper]} of {wide_30_cut[cells]} cases, {wide_30_cut[ranges][LM]} of the pairs of LM,
  {wide_30_cut[ranges][DFR]} of DFR, {wide_30_cut[ranges][BM25]} of BM25.
- The largest id is smaller than half of the pairs of every family in {all_held} of {all_settings} settings
  ({held_names}).
- Effect of the grid: with complete judgments the shares are {ranges[LM]} on the even and {wide[ranges][LM]}
  on the wide grid for LM, {ranges[DFR]} and {wide[ranges][DFR]} for DFR; for BM25, whose grid is the same,
  {ranges[BM25]} and {wide[ranges][BM25]}. A grid that includes poor values makes every pair of best settings
  look similar.
- Effect of the judgments: with pools the largest id between best models is {times_100} (pool of 100) and
  {times_30} times (pool of 30) as large, so that values of id are comparable only if judgments are the same.
  The shares change by {by_pool_100} and {by_pool_30} on average on the even grid ({wide_by_pool_30} on the
  wide one, pool of 30), and by {by_grid} from the even to the wide grid.

The collections are small, their pools consist of these 63 runs only, and the data of the paper (TREC 8 and 9)
are not public.

## Details: complete judgments, even grid

The most distant best models, and the proportion of pairs of each family that are farther apart:

{far}

The closest two:

{nearest}

{whole[zeros]} of the {whole[cells]} shares of the most distant pair are 0 % with whole lists, {cut[zeros]} of
{cut[cells]} at 20. The closest two are closer than half of the pairs of a family in {near} of {cells} cases
({cut[near]} of {cut[cells]} at 20, {whole[near]} of {whole[cells]} with whole lists; shares {range}); they
are BM25 and DFR in {without_lm} of {settings} settings, and the most distant two include LM in {with_lm}. The
most distant settings of one family are farther apart than any two best models in {ends} of {settings}. LM's
grid starts at mu = 250, which is its best setting in {edge}.

The most distant two on the wide grid:

{wide_far}

Table 1 of the paper, the best of every family: RIC (parameter b, mu or c).

{best}

Table 2, id between the best:

{between}

Median and largest id of the 210 pairs of a family:

{within}

## Details: figures 3 and 4 of the paper

RIC by parameter (vertical axes differ and do not begin at 0; ringed: the best setting):

{parameter}

Cumulative distribution of id within a family; dashed: id between the best of two families.

{cumulative}
"""

if __name__ == "__main__":
    update_page(NAME, page, collect)
