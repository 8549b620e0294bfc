"""Write the page of the study of sampled candidates.

    python -m leadline_studies.sampled_intervals.page [FOLDER DATA]

Runs the studies whose output is not in FOLDER. DATA contains the text collections.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from leadline_studies.common.markdown import number, percent, table, wrapped
from leadline_studies.common.pages import Json, copy_figures, find_documents, rounded, run_study, update_page

NAME = "sampled-intervals"
TUNED = "cranfield"  # the priors and the weight of the variance were chosen on it
TITLES = {"cranfield": "Cranfield", "cacm": "CACM", "nfcorpus-test": "NFCorpus", "npl": "NPL"}
MOST = {"cranfield": "225"}
FIGURES = {
    "cranfield/coverage": f"{NAME}-cranfield.svg",
    "nfcorpus-test/coverage": f"{NAME}-nfcorpus-test.svg",
}
NOTE = "<!-- Made by leadline_studies/sampled_intervals/page.py from the output of `leadline study`. -->"
LOW, HIGH = 0.93, 0.97
SHOWN = (10, 30, 100, 300)  # sampled documents
WAYS = ("none", "uniform", "log")


def collect(folder: Path, data: Path) -> Json:
    """Run the studies whose output is not in `folder`, and return their results."""
    collected: Json = {}
    for name in TITLES:
        arguments = [
            find_documents(data / name).name,
            "queries.jsonl",
            "qrels.txt",
            "--most",
            MOST.get(name, "100"),
        ]
        collected[name] = run_study(NAME, data / name, folder / name, arguments)
    copy_figures(folder, FIGURES)
    short: Json = rounded(collected)
    return short


def cells_of(part: Json, *, certain: bool) -> list[Json]:
    """Return the cells without or with certain documents."""
    return [cell for cell in part["cells"] if cell["certain"] == certain]


def offered(results: Json, *, certain: bool) -> list[tuple[str, Json]]:
    """Return the cells in which an interval is printed, with the collection."""
    return [
        (name, cell)
        for name, part in results.items()
        for cell in cells_of(part, certain=certain)
        if not cell["withheld"] and cell["sampling"]["intervals"]
    ]


def extent(values: Iterable[float]) -> str:
    """Write the least and the largest share."""
    ordered = sorted(values)
    return f"{100 * ordered[0]:.0f} to {100 * ordered[-1]:.0f} %"


def biases(results: Json) -> str:
    """Write the mean relative bias by number of documents: uncorrected, uniform prior, default."""
    sizes = [str(size) for size in SHOWN]
    rows = []
    for name, part in results.items():
        for certain in (False, True):
            cells = {(cell["measure"], cell["n"]): cell for cell in cells_of(part, certain=certain)}
            for measure in dict.fromkeys(measure for measure, _ in cells):
                values = [
                    " / ".join(f"{round(100 * cells[measure, size][way]['bias']):d}" for way in WAYS)
                    if (measure, size) in cells
                    else "-"
                    for size in SHOWN
                ]
                rows.append([TITLES[name], "half" if certain else "none", measure, *values])
    return table(["collection", "certain", "measure", *(f"n = {size}" for size in sizes)], rows, labels=3)


def closer(results: Json) -> dict[str, int]:
    """Count the cells in which the default has less bias, and less error, than no correction."""
    cells = [cell for part in results.values() for cell in cells_of(part, certain=False)]
    return {
        "cells": len(cells),
        "unbiased": sum(abs(cell["log"]["bias"]) < abs(cell["none"]["bias"]) for cell in cells),
        "uniform": sum(abs(cell["uniform"]["bias"]) < abs(cell["none"]["bias"]) for cell in cells),
        "exact": sum(cell["log"]["rmse"] < cell["none"]["rmse"] for cell in cells),
        "ordered": sum(cell["log"]["tau"] > cell["none"]["tau"] for cell in cells),
    }


def coverages(results: Json) -> str:
    """Write the coverage of both intervals in every cell in which they are printed."""
    heads = ["collection", "certain", "n", "measure", "sampling", "half-width, % of truth", "other queries"]
    rows = [
        [
            TITLES[name],
            "half" if cell["certain"] else "none",
            str(cell["n"]),
            cell["measure"],
            percent(cell["sampling"]["coverage"]),
            percent(cell["sampling"]["half_width"]),
            percent(cell["queries"]["coverage"]),
        ]
        for certain in (False, True)
        for name, cell in offered(results, certain=certain)
    ]
    return table(heads, rows, labels=4)


def verdict(results: Json, *, certain: bool) -> str:
    """Return the coverage of the printed intervals, as text."""
    cells = offered(results, certain=certain)
    shares = [cell["sampling"]["coverage"] for _, cell in cells]
    inside = sum(LOW <= share <= HIGH for share in shares)
    others = [cell["queries"]["coverage"] for _, cell in cells]
    return (
        f"{len(cells)} cells; coverage {extent(shares)}, mean {100 * sum(shares) / len(shares):.1f} %; in "
        f"{inside} within 93 to 97 %, in {sum(share > HIGH for share in shares)} above, in "
        f"{sum(share < LOW for share in shares)} below. The interval for other queries: {extent(others)}."
    )


def overall(results: Json) -> str:
    """Return the range of coverage over all printed intervals, as text."""
    cells = [cell for certain in (False, True) for _, cell in offered(results, certain=certain)]
    return extent(cell["sampling"]["coverage"] for cell in cells)


def mean_tau(results: Json, way: str, measure: str, size: int, *, certain: bool) -> float:
    """Return the mean tau over collections."""
    taus = [
        cell[way]["tau"]
        for part in results.values()
        for cell in cells_of(part, certain=certain)
        if cell["measure"] == measure and cell["n"] == size
    ]
    return float(sum(taus) / len(taus))


def ordering(results: Json) -> str:
    """Return the rank correlations of systems, as text."""
    rows = []
    for measure in ("AP", "nDCG@10", "RR", "R@100"):
        for size in (30, 100, 300):
            drawn, corrected, half = (
                mean_tau(results, way, measure, size, certain=certain)
                for way, certain in (("none", False), ("log", False), ("none", True))
            )
            rows.append([measure, str(size), number(drawn), number(corrected), number(half)])
    return table(
        ["measure", "n", "all drawn, uncorrected", "all drawn, default", "half certain, uncorrected"],
        rows,
        labels=1,
    )


def page(results: Json) -> str:
    """Write the page."""
    first = next(iter(results.values()))
    sizes = "; ".join(
        f"{TITLES[name]} {part['documents']:,} documents, {part['queries']} queries"
        for name, part in results.items()
    )
    counts = closer(results)
    drawn, corrected = (number(mean_tau(results, way, "AP", 100, certain=False)) for way in ("none", "log"))
    return wrapped(f"""# Do corrections remove the bias of sampled candidates?

{NOTE}

**Answer: partly.** Krichene and Rendle 2020 report that corrections reduce the bias of metrics from sampled
candidates, and that uncorrected metrics do not preserve the order of systems. With all others drawn at
random, the default correction has less bias than none in {counts["unbiased"]} of {counts["cells"]} cells (the
published one, with a uniform prior, in {counts["uniform"]}). But it orders systems better in only
{counts["ordered"]}: mean tau of AP at n = 100 is {corrected} corrected and {drawn} uncorrected. Printed
intervals cover the truth in {overall(results)} of the samples; else `leadline sampled` withholds them.

![Bias of AP on Cranfield, by n]({NAME}-cranfield.svg)

Cranfield: mean bias of AP over models by the number of sampled documents.

## How to repeat it

    leadline study sampled-intervals docs.jsonl queries.jsonl qrels.txt -o OUT/SET
    python -m leadline_studies.sampled_intervals.page OUT DATA    # in a checkout: everything, and this page

On Cranfield with `--most 225`. Processor time: 2 s on cisi with `--samples 30 --draws 20 --most 20`.
[Data](README.md#data): {sizes}; seed 0; all numbers in [{NAME}.json]({NAME}.json).

All relevant documents are scored, and n others per query. Every model scored the whole collection, so that
the truth is known; {first["draws"]} samples per cell, the same for all models ({", ".join(first["models"])}).
`half`: the first n/2 documents of BM25 were included with certainty, and n/2 drawn from the rest. The priors,
the weight of the variance and the rules were chosen on {TITLES[TUNED]}, the limits for measures without a
cutoff on CACM and NPL too: coverage there is optimistic. [The estimators](../sampled.md).

## Bias

Mean relative difference from the truth, in per cent, over models and samples: uncorrected / uniform prior
with gamma = 0.1, as published / default, the log-uniform prior (fitted with certain documents) with gamma = 1
/ queries. The root mean squared error of the default is smaller than that without correction in
{counts["exact"]} of {counts["cells"]} cells without certain documents.

{biases(results)}

![Bias of AP on NFCorpus, by n]({NAME}-nfcorpus-test.svg)

NFCorpus: mean bias of AP over models by the number of sampled documents.

## Order of systems

Kendall's tau between estimated and true means of the {len(first["models"])} models, averaged over samples and
collections. With half of the documents certain, uncorrected means order systems
well from n = 100:

{ordering(results)}

## Coverage of the printed intervals

- All documents drawn: {verdict(results, certain=False)}
- Half of them certain: {verdict(results, certain=True)}

`sampling`: proportion of intervals that cover the true value of this set of queries. `other queries`: queries
are resampled from those of the collection, and the Student interval is compared with the mean over all of
them. Intervals are of the models in turn; 200 trials of 95 % have a standard error of 1.5 percentage points.
Intervals of width 0 are excluded. Cells that the rules of `leadline sampled` withhold are in the JSON file
only.

{coverages(results)}""")


if __name__ == "__main__":
    update_page(NAME, page, collect)
