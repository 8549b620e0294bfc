"""Write the page of the study of query performance prediction, after running it where DATA is named.

    python -m leadline_studies.query_prediction.page [DATA [COLLECTION...]]

DATA contains a folder per collection, with docs.jsonl (or .gz), queries.jsonl and qrels.txt. Numbers of
collections that are not named stay.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import leadline as ll
from leadline.reporting.plots import picture
from leadline_studies import study
from leadline_studies.common.markdown import bold, extent, span, table
from leadline_studies.common.pages import PAGES, Found, docs_of, keep, read_kept, write
from leadline_studies.query_prediction.study import figures_of

NAME = "query-prediction"
SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
SWEEPS = 300
PARTS = {"correlations": "Kendall's tau with AP", "expansion": "Choices"}
NOTE = "<!-- Made by src/leadline_studies/query_prediction/page.py from the output of the study. -->"


def run(data: Path, name: str) -> None:
    """Conduct the study on a collection and keep what it found."""
    folder = data / name
    given = (str(docs_of(folder)), str(folder / "queries.jsonl"), str(folder / "qrels.txt"))
    outcome = study(NAME).run(*given, sweeps=SWEEPS)
    bolder = study(NAME).run(*given, sweeps=SWEEPS, model=("QLDirichlet", "RM1"), fits=1, draws=1)
    found = read_kept(NAME)["found"] | {
        name: outcome.data | {"lines": list(outcome.lines), "bolder": {"expansion": bolder.data["expansion"]}}
    }
    keep(NAME, {"leadline": ll.__version__, "sweeps": SWEEPS, "found": found})
    sys.stderr.write(f"{name}: {outcome.lines[-1]}\n")


def tau(row: Found, name: str = "kendall") -> str:
    """Write a coefficient with its interval, bold when that is above 0."""
    value, _, ends = span(row[name]).partition(" ")
    return f"{bold(value, row[name]['low'] > 0)} {ends}"


def rows_of(data: Found, model: str) -> dict[str, Found]:
    """Return the correlations of a model by predictor."""
    return {row["predictor"]: row for row in data["correlations"] if row["run"] == model}


def correlations(found: dict[str, Found], model: str, name: str = "kendall") -> str:
    """Write one coefficient of every predictor for one model."""
    tables = [rows_of(data, model) for data in found.values()]
    return table(
        ["predictor", *found],
        [[f"`{predictor}`", *(tau(rows[predictor], name) for rows in tables)] for predictor in tables[0]],
    )


def fits(found: dict[str, Found]) -> str:
    """Write how far tau of DeShaTo(total) goes over fits."""
    lines = []
    for model in next(iter(found.values()))["models"]:
        spans = [rows_of(data, model)["DeShaTo(total)"]["by_fit"] for data in found.values()]
        lines.append([model, *map(extent, spans)])
    return table(["model", *found], lines)


def above(found: dict[str, Found], predictor: str) -> str:
    """Describe how often the interval of a predictor is above 0, and its taus."""
    rows = [rows_of(data, model)[predictor]["kendall"] for data in found.values() for model in data["models"]]
    values = [row["value"] for row in rows]
    sure = sum(row["low"] > 0 for row in rows)
    return f"{extent(values)}, above 0 in {sure} of {len(rows)}"


def ahead(found: dict[str, Found], other: str) -> str:
    """Describe in how many models and collections DeShaTo(total) has the larger tau."""
    tables = [rows_of(data, model) for data in found.values() for model in data["models"]]
    values = [[table[name]["kendall"]["value"] for name in ("DeShaTo(total)", other)] for table in tables]
    return f"{sum(own > theirs for own, theirs in values)} of {len(values)}"


def counts(found: dict[str, Found]) -> str:
    """Describe how large the collections are."""
    return table(
        ["", *found],
        [[part, *(f"{data[part]:,}" for data in found.values())] for part in ("documents", "queries")],
    )


def policies(data: Found) -> dict[tuple[str, str], Found]:
    """Return the policies by name and rule."""
    return {(row["policy"], row["rule"]): row for row in data["expansion"]["policies"]}


def chosen(row: Found) -> bool:
    """Return whether a policy chooses by a predictor."""
    return row["policy"] not in ("always", "oracle")


def told(row: Found) -> bool:
    """Return whether a choice differs significantly from always the better model."""
    return row["p_corrected"] is not None and row["p_corrected"] < 0.05


def constant(found: dict[str, Found]) -> str:
    """Write what never, always, and the oracle come to, and for how many queries expansion is better."""
    first, second = next(iter(found.values()))["expansion"]["between"]
    names = {
        ("always", first): f"always {first}",
        ("always", second): f"always {second}",
        ("always", "the better one in the other half"): "the better one in the other half",
        ("oracle", ""): "oracle",
    }
    lines = [
        [said, *(span(policies(data)[key], ".3f", "mean") for data in found.values())]
        for key, said in names.items()
    ]
    sides = [
        f"{part['wins']} / {part['queries'] - part['wins'] - part['losses']} / {part['losses']}"
        for part in (data["expansion"] for data in found.values())
    ]
    lines.append([f"queries that {second} helps / leaves / harms", *sides])
    return table(["", *found], lines)


def choices(found: dict[str, Found]) -> str:
    """Write every choice: its mean less that of always the better model, bold when significant."""
    tables = [policies(data) for data in found.values()]
    return table(
        ["choice by, rule", *found],
        [
            [f"`{key[0]}`, {key[1]}", *(choice(rows.get(key)) for rows in tables)]
            for key, row in tables[0].items()
            if chosen(row)
        ],
    )


def choice(row: Found | None) -> str:
    """Write one choice; a dash for what was not tried."""
    if row is None:
        return "-"
    low, high = row["difference_low"], row["difference_high"]
    text = bold(f"{row['difference']:+.4f}", told(row))
    return f"{text} [{low:+.4f}, {high:+.4f}], {row['expanded']:.0%}"


def counted(found: dict[str, Found]) -> dict[str, Any]:
    """Count the choices that are better and worse than always the better model."""
    rows = [row for data in found.values() for row in policies(data).values() if chosen(row)]
    gaps = [policies(data)["oracle", ""]["difference"] for data in found.values()]
    learned = [row for row in rows if row["rule"] != "compare"]
    return {
        "tried": len(rows),
        "up": sum(told(row) and row["difference"] > 0 for row in rows),
        "down": sum(told(row) and row["difference"] < 0 for row in rows),
        "least": f"{min(gaps):+.3f}",
        "most": f"{max(gaps):+.3f}",
        "best": f"{max(row['difference'] for row in rows):+.4f}",
        "worst": f"{min(row['difference'] for row in learned):+.4f}",
        "positive": sum(row["difference"] > 1e-9 for row in learned),
        "learned": len(learned),
    }


def page(given: Found) -> str:
    """Write the page: the words below with the numbers found."""
    found = {name: given["found"][name] for name in SETS if name in given["found"]}
    first = next(iter(found.values()))
    bolder = {name: data["bolder"] for name, data in found.items() if "bolder" in data}
    return PAGE.format(
        note=NOTE,
        version=given["leadline"],
        sweeps=given["sweeps"],
        topics=first["topics"],
        fits=first["fits"],
        splits=first["splits"],
        models=", ".join(first["models"]),
        counts=counts(found),
        total=above(found, "DeShaTo(total)"),
        best_term=above(found, "DeShaTo(sum_s)"),
        product=above(found, "DeShaTo(product_k)"),
        clarity=above(found, "Clarity"),
        nqc=above(found, "NQC(tail)"),
        wig=above(found, "WIG(tail)"),
        over_clarity=ahead(found, "Clarity"),
        over_nqc=ahead(found, "NQC(tail)"),
        over_root=ahead(found, "WIG(tail,length=root)"),
        root=above(found, "WIG(tail,length=root)"),
        length=above(found, "QueryLength"),
        tables="\n\n".join(f"### {model}\n\n{correlations(found, model)}" for model in first["models"]),
        first=first["models"][0],
        fitted=fits(found),
        pearson=correlations(found, first["models"][0], "pearson"),
        constant=constant(found),
        choices=choices(found),
        said="\n".join(f"- {name}: {data['lines'][-1]}" for name, data in found.items()),
        figures="\n".join(
            f"![{title}, {name}](query-prediction-{name}-{part}.svg)"
            for name in found
            for part, title in PARTS.items()
        ),
        bolder=constant(bolder),
        bolder_counts="{up} of {tried}".format(**counted(bolder)),
        bolder_gaps="{least} to {most}".format(**counted(bolder)),
        **counted(found),
    )


PAGE = """# Study: which queries were answered well, and which should be expanded?

{note}

Ionescu, Chifu and Mothe 2015 name two uses of DeShaTo besides ranking systems, and give no numbers for them:
to predict how difficult a query is, and to expand queries selectively. So there is nothing to reproduce; the
study, its name and its rules are ours. Predictors are those of [predicting.md](../predicting.md), models
{models} with their defaults, first 1,000 documents. LDA on all documents of a collection, {topics} topics,
{fits} fits of {sweeps} sweeps, DeShaTo the mean over fits; leadline {version}, seed 0.

{counts}

**Prediction.** Most predictors tell something, none tells much. Kendall's tau with AP over queries, lowest
and highest over models and collections, and how often its interval is above 0. These are the ranges on these
collections; other data leave them:

| predictor | tau |
| --- | --- |
| `WIG(tail,length=root)` | {root} |
| `WIG(tail)` | {wig} |
| `NQC(tail)` | {nqc} |
| `Clarity` | {clarity} |
| `DeShaTo(total)` | {total} |
| its skewness of the sum, `sum_s` | {best_term} |
| its kurtosis of the product, `product_k` | {product} |
| the control, `QueryLength` | {length} |

Of the cells (models times collections) DeShaTo has a larger tau than Clarity in {over_clarity}, than NQC in
{over_nqc}, than WIG by the root of the length in {over_root}; these count, they test nothing.

**Selective expansion.** {up} of {tried} choices (predictor, rule, collection) are significantly better than
always the better model of the collection, and {down} are worse (paired T, Holm over the choices of a
collection). The oracle would add {least} to {most} AP. The largest difference of any choice is {best}, picked
after looking; of the choices with a learned threshold {positive} of {learned} are above 0, the lowest is
{worst}: where one model is better for most queries, a threshold learns to take it nearly always.

{said}

## Tau with AP over queries

Bold: the interval (95 %, queries drawn again 1,000 times) is above 0. Intervals are of each predictor
alone: two that overlap may still differ.

{tables}

### Over the fits of topics

The lowest and the highest tau of `DeShaTo(total)` when one fit is taken alone.

{fitted}

## Pearson with AP over queries, {first}

{pearson}

## Selective expansion

Mean AP, with Student intervals:

{constant}

Each choice less always the better model of its collection, with the interval of the difference and the share
of queries that are expanded; bold: significant difference (p < 0.05, Holm). Rules: `compare` expands where
the predictor's value of the expanded list is larger; `threshold` where that of the plain list is above a
threshold; `difference` where the difference of the two is. A threshold maximises mean AP on one half of the
queries and serves the other half, {splits} random halvings of all queries; the value of a query is its mean
over them. That the halvings share queries is not in the intervals. Which model is the better one was seen on
all queries; the row `the better one in the other half` does without. `compare` needs values on one scale.
WIG is not: the weights of a query of RM3 add up to 1, those of the plain model to the number of terms, so
that `compare` by WIG says little. A query whose value is undefined (a list of one document, a query that
finds nothing) is not expanded; they are frequent on nfcorpus-test only, where 16 lists of the plain model
hold one document, which NQC and WIG pay for.

{choices}

### A bolder expansion

RM3 keeps the query's own words, so that little is lost where it harms. RM1 drops them, and there is more to
win by choosing: the oracle adds {bolder_gaps} AP to the better model. Of the choices {bolder_counts} are
significantly better than always that one (one fit of the topics).

{bolder}

## Figures

{figures}

## To repeat it

    leadline study query-prediction SET/docs.jsonl SET/queries.jsonl SET/qrels.txt \\
        --sweeps {sweeps} -o OUT/SET
    python -m leadline_studies.query_prediction.page DATA
"""


def main(arguments: list[str]) -> None:
    """Run what was asked for, and make figures and page."""
    if arguments:
        for name in arguments[1:] or SETS:
            run(Path(arguments[0]), name)
    given = read_kept(NAME)
    for name, data in given["found"].items():
        for part, figure in figures_of(data).items():
            path = PAGES / f"query-prediction-{name}-{part}.svg"
            path.write_bytes(picture(figure, "svg"))
    write(NAME, page(given))


if __name__ == "__main__":
    main(sys.argv[1:])
