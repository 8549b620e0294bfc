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
NOTE = "<!-- Made by src/leadline_studies/sampled_intervals/page.py from the output of `leadline study`. -->"
LOW, HIGH = 0.93, 0.97


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
    """Write the mean relative bias by correction."""
    heads = [
        "collection",
        "certain",
        "n",
        "measure",
        "uncorrected",
        "uniform prior",
        "default",
        "standard error",
        "error uncorrected",
        "error default",
    ]
    rows = [
        [
            TITLES[name],
            "half" if cell["certain"] else "none",
            str(cell["n"]),
            cell["measure"],
            *(percent(cell[way]["bias"]) for way in ("none", "uniform", "log")),
            percent(cell["sd"]),
            *(percent(cell[way]["rmse"]) for way in ("none", "log")),
        ]
        for name, part in results.items()
        for cell in part["cells"]
    ]
    return table(heads, rows, labels=4)


def coverages(results: Json) -> str:
    """Write the coverage of both intervals in every cell that has a variance."""
    heads = [
        "collection",
        "certain",
        "n",
        "measure",
        "printed",
        "sampling",
        "of intervals",
        "half-width, % of truth",
        "other queries",
    ]
    rows = [
        [
            TITLES[name],
            "half" if cell["certain"] else "none",
            str(cell["n"]),
            cell["measure"],
            "no" if cell["withheld"] else "yes",
            percent(cell["sampling"]["coverage"]),
            str(cell["sampling"]["intervals"]),
            percent(cell["sampling"]["half_width"]),
            percent(cell["queries"]["coverage"]),
        ]
        for name, part in results.items()
        for cell in part["cells"]
        if cell["sampling"]["intervals"]
    ]
    return table(heads, rows, labels=5)


def orders(results: Json) -> str:
    """Write Kendall's tau between estimated and true means of the systems, averaged over samples."""
    names = list(dict.fromkeys(cell["measure"] for part in results.values() for cell in part["cells"]))
    heads = ["collection", "certain", "n", *names]
    rows = []
    for name, part in results.items():
        for certain in (False, True):
            for size in part["samples"]:
                row = {cell["measure"]: cell for cell in cells_of(part, certain=certain) if cell["n"] == size}
                if row:
                    rows.append(
                        [
                            TITLES[name],
                            "half" if certain else "none",
                            str(size),
                            *(
                                ", ".join(number(row[cell][way]["tau"]) for way in ("none", "log"))
                                for cell in names
                            ),
                        ]
                    )
    return table(heads, rows, labels=3)


def verdict(results: Json, *, certain: bool) -> str:
    """Return the coverage of the printed intervals, as text."""
    cells = offered(results, certain=certain)
    shares = [cell["sampling"]["coverage"] for _, cell in cells]
    inside = sum(LOW <= share <= HIGH for share in shares)
    below = [
        f"{TITLES[name]} {cell['measure']} n = {cell['n']}: {100 * cell['sampling']['coverage']:.1f} %"
        for name, cell in cells
        if cell["sampling"]["coverage"] < LOW
    ]
    others = [cell["queries"]["coverage"] for _, cell in cells]
    return (
        f"{len(cells)} cells with a printed interval; it covered the true value in {extent(shares)} of the "
        f"samples (mean {100 * sum(shares) / len(shares):.1f} %), in {inside} cells within 93 to 97 %, in "
        f"{sum(share > HIGH for share in shares)} above. Below 93 %: {'; '.join(below) or 'none'}. The "
        f"interval for other queries covered it in {extent(others)}."
    )


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
    return wrapped(f"""# Estimates from sampled candidates: bias, coverage, order of systems

{NOTE}

All relevant documents are scored, and n others per query. Here every model scored the whole collection,
so that the truth is known; {first["draws"]} samples per cell, the same for all models
({", ".join(first["models"])}). With "half" the first n/2 documents of BM25 were included with certainty and
n/2 were drawn from the rest. Collections: {sizes}. The priors, the weight of the variance
and the rules were chosen on {TITLES[TUNED]}, the limits for measures without a cutoff on CACM and NPL
too. The estimators are described in [docs/sampled.md](../sampled.md).

## Intervals

All documents drawn: {verdict(results, certain=False)}

Half of them certain: {verdict(results, certain=True)}

A cell is a collection, a size and a measure, with or without certain documents; the intervals are of the
models in turn. Intervals of width 0 (nothing was uncertain) are excluded; 200 trials of 95 % have a
standard error of 1.5 percentage points. "Other queries": queries are resampled from those of the collection,
and the Student interval is compared with the mean over all of them. Where "printed" is "no", the rules of
`leadline sampled` withhold both intervals; the values are those they would have had.

{coverages(results)}

## Bias

Mean relative difference from the truth, in per cent, over models and samples. "Uniform prior" is the
correction as published with gamma = 0.1; "default" is the log-uniform prior (fitted with certain
documents) with gamma = 1 / queries. Standard error: of the default estimate over samples. Error: root mean
squared relative error. Bias, error and order are over every fourth sample, all models.

![Bias of AP on Cranfield, by n]({NAME}-cranfield.svg)

![Bias of AP on NFCorpus, by n]({NAME}-nfcorpus-test.svg)

{biases(results)}

## Order of systems

Kendall's tau between estimated and true means of the {len(first["models"])} models, averaged over samples
and collections:

{ordering(results)}

By collection, uncorrected and default:

{orders(results)}

## Reproducing the results

`python -m leadline_studies.sampled_intervals.page FOLDER DATA` runs `leadline study sampled-intervals DOCS
QUERIES QRELS` on each collection (seed 0) and writes this page; numbers are in [{NAME}.json]({NAME}.json).
""")


if __name__ == "__main__":
    update_page(NAME, page, collect)
