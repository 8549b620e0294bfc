"""Run the study of histograms over retrieval models, keep its numbers, and write its page.

    python docs/studies/histogram_models.py FOLDER DATA    runs what FOLDER lacks, keeps numbers and figures
    python docs/studies/histogram_models.py                writes the page again from histogram-models.json

DATA holds folders with docs.jsonl (or .gz), queries.jsonl and qrels.txt. Numbers come from `leadline study
histogram-models`; the printed values of the paper stand in `PAPER`; only the words are written here.
"""  # noqa: INP001

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = HERE / "histogram-models.json"
SETS = ("cisi", "cacm", "npl", "nfcorpus-test")
ASIDE = "cranfield"  # the defaults were chosen on it
ROUNDS = 3
MEASURES = ("AP", "P@10", "nDCG")
KINDS = {"R": "pearson", "rho": "spearman"}
BY_QUERY, BY_MODEL, ROBUST = "HSA by query", "HSA by model", "HSA robust"
PRINTED = "HSA by model, found only"
CONTROL, PLAIN_AP, WEIGHTED = "recall (control)", "AP as sampled", "AP weighted"
DO_QUERY, DO_PRINTED = "DO by query", "DO by model, found only"
SAMPLED = (BY_QUERY, BY_MODEL, ROBUST, DO_QUERY, PLAIN_AP, WEIGHTED)
SLOW = (
    "BM25RF",
    "RM1",
    "RM3",
    "SDM",
)  # they look at whole lists of postings before they score a pair
NOTE = "<!-- Made by docs/studies/histogram_models.py from the output of `leadline study`. -->"
FIGURES = {
    f"{name}/{title}": f"histogram-models-{name}-{title}.svg"
    for name, title in (
        ("cisi", "by-query"), ("cisi", "by-model"), ("nfcorpus-test", "by-query"), ("npl", "by-query"),
        ("npl", "bins"), ("cacm", "samples"), ("nfcorpus-test", "samples"),
    )
}  # fmt: skip
# Tables 3 and 4: MAP, P@10, NDCG by HSA and by DO, R and then rho.
PAPER = {
    "Web 2009": ((0.89, 0.91, 0.95, 0.82, 0.86, 0.86), (0.84, 0.88, 0.94, -0.86, -0.89, -0.89)),
    "Web 2010": ((0.88, 0.71, 0.93, 0.93, 0.79, 0.96), (0.64, 0.60, 0.79, -0.46, -0.68, -0.50)),
    "Web 2011": ((0.91, 0.93, 0.99, 1.00, 0.96, 1.00), (0.77, 0.81, 0.92, -0.82, -0.79, -0.82)),
    "Web 2012": ((0.89, 0.87, 0.97, 0.71, 0.82, 0.75), (0.79, 0.79, 0.92, -0.46, -0.61, -0.39)),
}
Found = dict[str, Any]


def collect(folder: Path, data: Path) -> Found:
    """Run the study where `folder` lacks it and read what it found."""
    kept = {name: study(data / name, folder / name) for name in (*SETS, ASIDE)}
    for source, target in FIGURES.items():
        shutil.copy(folder / f"{source}.svg", HERE / target)
    return kept


def study(place: Path, out: Path) -> Found:
    """Run the study unless its folder is filled, and read of its JSON what the page needs."""
    path = out / "histogram-models.json"
    if not path.exists():
        docs = next(place.glob("docs.jsonl*")).name
        words = [sys.executable, "-m", "leadline", "study", "histogram-models", docs, "queries.jsonl",
                 "qrels.txt", "-o", str(out.resolve())]  # fmt: skip
        words += ["--time", str(ROUNDS)] if place.name in SETS else []
        subprocess.run(words, cwd=place, check=True)  # noqa: S603
    found = json.loads(path.read_text())
    thin: Found = thinned({key: value for key, value in found.items() if key != "inputs"})
    return thin


def thinned(found: Any) -> Any:
    """Leave out Kendall and p, and round numbers to five places."""
    if isinstance(found, dict):
        return {key: thinned(value) for key, value in found.items() if key not in ("kendall", "p")}
    if isinstance(found, list):
        return [thinned(value) for value in found]
    return round(found, 5) if isinstance(found, float) else found


def number(value: float | None, form: str = ".2f") -> str:
    """Write a number, or a dash for none."""
    return "-" if value is None else format(value, form)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " --- |" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def six(one: Found) -> list[str]:
    """Write R and rho with the three measures."""
    values = [one[measure][kind] for kind in KINDS.values() for measure in MEASURES]
    return [number(value["value"] if isinstance(value, dict) else value) for value in values]


def span(one: Found) -> str:
    """Write R with MAP and its interval over queries."""
    part = one["AP"]["pearson"]
    low, high = number(part["queries_low"]), number(part["queries_high"])
    return f"{number(part['value'])} [{low}, {high}]"


def counts(kept: Found) -> str:
    """Write how much there was to look at."""
    rows = []
    for name in (*SETS, ASIDE):
        one = kept[name]
        lengths = [model["mean list"] for model in one["models"].values()]
        ends = [min(model["AP"] for model in one["models"].values()),
                max(model["AP"] for model in one["models"].values())]  # fmt: skip
        rows.append([
            name, f"{one['documents']:,}", str(one["queries"]), f"{one['relevant'] / one['queries']:.1f}",
            f"{min(lengths):,.0f} to {max(lengths):,.0f}", f"{ends[0]:.3f} to {ends[1]:.3f}",
        ])  # fmt: skip
    return table(
        [
            "collection",
            "documents",
            "queries",
            "relevant a query",
            "mean list of a model",
            "MAP of a model",
        ],
        rows,
    )


def rule_row(kept: Found, column: str) -> list[str]:
    """Write where a column keeps the rule, with the numbers that decide."""
    cells = []
    for name in SETS:
        rule = kept[name]["lists"][column]["rule"]
        parts = [number(rule[part]) for part in ("pearson", "spearman", "least_over_bins")]
        cells.append(" / ".join(parts) + (" holds" if rule["holds"] else ""))
    return [column, *cells]


def where(kept: Found, column: str, size: str | None = None) -> list[str]:
    """Name the collections on which a column keeps the rule, from lists or from pairs."""
    return [
        name for name in SETS
        if (kept[name]["samples"][size] if size else kept[name]["lists"])[column]["rule"]["holds"]
    ]  # fmt: skip


def on(names: list[str]) -> str:
    """Say on how many of the collections, and on which."""
    return f"{len(names)} of {len(SETS)} collections" + (f" ({', '.join(names)})" if names else "")


def verdicts(kept: Found) -> str:
    """Write the verdict on each claim."""
    good = where(kept, BY_QUERY)
    word = "reproduced in kind" if len(good) == len(SETS) else "not reproduced"
    lists = f"**{word}** as the rule asks, on each collection: it holds on {on(good)}"
    letter = f"**not reproduced**: holds on {on(where(kept, PRINTED))}"
    if len(where(kept, PRINTED)) == len(SETS):
        letter = f"**reproduced in kind**: holds on {on(SETS)}"
    sizes = list(kept[SETS[0]]["samples"])
    pairs = "; ".join(f"n = {size}: {on(where(kept, BY_QUERY, size))}" for size in sizes)
    weighted = "; ".join(f"n = {size}: {on(where(kept, WEIGHTED, size))}" for size in sizes)
    return table(["claim", "verdict"], [
        ["HSA tracks MAP and NDCG over models (Tables 3, 4), scores normalised by query", lists],
        ["the same by the paper's letter: normalised by model, unretrieved documents left out", letter],
        ["the same from scored pairs, where nothing is ranked", f"by the same rule, HSA by query holds at {pairs}. "
         f"AP with each sampled document counted as often as it stands for others holds at {weighted}"],
        ["cheaper than MAP (Table 2, there for topic models)", time_verdict(kept)],
        ["DO", "no claim. R with MAP: " + signs(kept)],
    ])  # fmt: skip


def signs(kept: Found) -> str:
    """Say where DO has which sign."""
    parts = []
    for column in (DO_QUERY, DO_PRINTED):
        ones = [kept[name]["lists"][column]["AP"] for name in SETS]
        values = [number(one["pearson"]["value"]) for one in ones]
        ranks = [number(one["spearman"]["value"]) for one in ones]
        parts.append(f"{column} {', '.join(values)} (rho {', '.join(ranks)})")
    return "; ".join(parts) + f" on {', '.join(SETS)}"


def time_verdict(kept: Found) -> str:
    """Say how much cheaper it is, over all models together."""
    parts = []
    for size in next(iter(kept.values()))["samples"]:
        ones = [kept[name]["time"]["all_models"][size] for name in SETS]
        plain, with_drawing = (
            [one[key] for one in ones] for key in ("ratio", "ratio_with_drawing")
        )
        parts.append(
            f"n = {size}: {min(plain):.2f} to {max(plain):.2f} ({min(with_drawing):.2f} to "
            f"{max(with_drawing):.2f} with drawing the sample)"
        )
    return (
        "time of ranking and evaluating everything by the time of scoring the sample, all models "
        "together, over the four collections: " + "; ".join(parts)
    )


def beside(kept: Found) -> str:
    """Write the correlations beside those of the paper's Tables 3 and 4."""
    rows = [
        [year, "7", f"{what}, paper", *map(number, values)]
        for year, both in PAPER.items() for what, values in zip(("HSA", "DO"), both, strict=True)
    ]  # fmt: skip
    for name in SETS:
        lists = kept[name]["lists"]
        for column in (BY_QUERY, PRINTED, DO_QUERY, DO_PRINTED):
            rows.append([name, "7", column, *six(lists[column]["named_seven"])])
        for column in (BY_QUERY, PRINTED, DO_QUERY, DO_PRINTED):
            rows.append([name, str(len(kept[name]["models"])), column, *six(lists[column])])
    heads = [f"{kind} {measure}" for kind in KINDS for measure in ("MAP", "P@10", "nDCG")]
    return table(["collection", "models", "number", *heads], rows)


def over_all(kept: Found) -> str:
    """Write R with MAP over all models by column."""
    names = (*SETS, ASIDE)
    columns = kept[SETS[0]]["lists"]
    rows = [[column, *(span(kept[name]["lists"][column]) for name in names)] for column in columns]
    return table(["number", *names], rows)


def sevens(kept: Found) -> str:
    """Write the medians of random sevens with their 5 % and 95 % quantiles."""
    rows = []
    for column in kept[SETS[0]]["lists"]:
        cells = []
        for name in SETS:
            one = kept[name]["lists"][column]["sevens_pearson"]
            ends = f"[{number(one['low'])}, {number(one['high'])}]"
            cells.append(f"{number(one['median'])} {ends}")
        rows.append([column, *cells])
    return table(["number", *SETS], rows)


def bins_table(kept: Found) -> str:
    """Write R with MAP by the number of bins."""
    sizes = [one["bins"] for one in kept[SETS[0]]["lists"][BY_QUERY]["bins"]]
    rows = [
        [
            name,
            column,
            *(number(one["AP"]["pearson"]) for one in kept[name]["lists"][column]["bins"]),
        ]
        for name in SETS
        for column in (BY_QUERY, PRINTED, ROBUST)
    ]
    return table(["collection", "number", *map(str, sizes)], rows)


def sampled(kept: Found) -> str:
    """Write how well estimates from scored pairs track MAP of whole lists."""
    sizes = list(kept[SETS[0]]["samples"])
    rows = [
        [name, column, *(span(kept[name]["samples"][size][column]) for size in sizes)]
        for name in SETS
        for column in SAMPLED
    ]
    return table(["collection", "number", *(f"n = {size}" for size in sizes)], rows)


def times(kept: Found) -> str:
    """Write the times per model: ranking, scoring, and the ratio."""
    sizes = ("10", "100", "1000")
    rows = []
    for name in SETS:
        for row in kept[name]["time"]["models"]:
            whole = 1000 * (row["search"] + row["evaluate"])
            cells = [f"{whole:,.0f}"]
            for size in sizes:
                part = row["samples"][size]
                cells.append(f"{1000 * (part['score'] + part['histogram']):,.0f}")
                cells.append(number(part["ratio"]))
            rows.append([name, row["model"], *cells])
    heads = [head for size in sizes for head in (f"score, n = {size} (ms)", "ratio")]
    return table(["collection", "model", "rank (ms)", *heads], rows)


def drawing(kept: Found) -> str:
    """Say how long drawing the samples takes."""
    parts = [
        f"{name} {1000 * one['10']:,.0f} ms"
        for name in SETS if (one := kept[name]["time"]["drawing"])
    ]  # fmt: skip
    return ", ".join(parts)
