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
from leadline_studies.common.markdown import bold, table, value_range, with_interval, wrapped
from leadline_studies.common.pages import (
    PAGES,
    Json,
    find_documents,
    read_numbers,
    require_checkout,
    write_numbers,
    write_page,
)
from leadline_studies.query_prediction.study import figures_of

NAME = "query-prediction"
SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
SWEEPS = 300
PARTS = {"correlations": "Kendall's tau with AP", "expansion": "Choices"}
NOTE = "<!-- Made by leadline_studies/query_prediction/page.py from the output of the study. -->"


def run(data: Path, name: str) -> None:
    """Run the study on a collection and store the results."""
    folder = data / name
    contents = (str(find_documents(folder)), str(folder / "queries.jsonl"), str(folder / "qrels.txt"))
    outcome = study(NAME).run(*contents, sweeps=SWEEPS)
    bolder = study(NAME).run(*contents, sweeps=SWEEPS, model=("QLDirichlet", "RM1"), fits=1, draws=1)
    results = read_numbers(NAME)["found"] | {
        name: outcome.data | {"lines": list(outcome.lines), "bolder": {"expansion": bolder.data["expansion"]}}
    }
    write_numbers(NAME, {"leadline": ll.__version__, "sweeps": SWEEPS, "found": results})
    sys.stderr.write(f"{name}: {outcome.lines[-1]}\n")


def tau(row: Json, name: str = "kendall") -> str:
    """Write a coefficient with its interval, bold when that is above 0."""
    value, _, ends = with_interval(row[name]).partition(" ")
    return f"{bold(value, row[name]['low'] > 0)} {ends}"


def rows_of(data: Json, model: str) -> dict[str, Json]:
    """Return the correlations of a model by predictor."""
    return {row["predictor"]: row for row in data["correlations"] if row["run"] == model}


def correlations(
    results: dict[str, Json], model: str, name: str = "kendall", *, intervals: bool = False
) -> str:
    """Write one coefficient of every predictor for one model, bold when its interval is above 0."""
    tables = [rows_of(data, model) for data in results.values()]

    def cell(row: Json) -> str:
        return tau(row, name) if intervals else tau(row, name).partition(" ")[0]

    return table(
        ["predictor", *results],
        [[f"`{predictor}`", *(cell(rows[predictor]) for rows in tables)] for predictor in tables[0]],
        labels=1,
    )


def fits(results: dict[str, Json]) -> str:
    """Write how far tau of DeShaTo(total) goes over fits."""
    lines = []
    for model in next(iter(results.values()))["models"]:
        spans = [rows_of(data, model)["DeShaTo(total)"]["by_fit"] for data in results.values()]
        lines.append([model, *map(value_range, spans)])
    return table(["model", *results], lines)


def intervals_above_zero(results: dict[str, Json], predictor: str) -> str:
    """Count the intervals of a predictor that lie above 0, with the range of its taus, as text."""
    rows = [
        rows_of(data, model)[predictor]["kendall"] for data in results.values() for model in data["models"]
    ]
    values = [row["value"] for row in rows]
    sure = sum(row["low"] > 0 for row in rows)
    return f"{value_range(values)}, above 0 in {sure} of {len(rows)}"


def deshato_ahead(results: dict[str, Json], other: str) -> str:
    """Count the models and collections in which DeShaTo(total) has the larger tau."""
    tables = [rows_of(data, model) for data in results.values() for model in data["models"]]
    values = [[table[name]["kendall"]["value"] for name in ("DeShaTo(total)", other)] for table in tables]
    return f"{sum(own > theirs for own, theirs in values)} of {len(values)}"


def collection_sizes(results: dict[str, Json]) -> str:
    """Return the sizes of the collections, as text."""
    return table(
        ["", *results],
        [[part, *(f"{data[part]:,}" for data in results.values())] for part in ("documents", "queries")],
    )


def policies(data: Json) -> dict[tuple[str, str], Json]:
    """Return the policies by name and rule."""
    return {(row["policy"], row["rule"]): row for row in data["expansion"]["policies"]}


def is_selection(row: Json) -> bool:
    """Return whether a policy chooses by a predictor."""
    return row["policy"] not in ("always", "oracle")


def is_significant(row: Json) -> bool:
    """Return whether a choice differs significantly from always the better model."""
    return row["p_corrected"] is not None and row["p_corrected"] < 0.05


def constant(results: dict[str, Json]) -> str:
    """Write the means of never, always and the oracle, and for how many queries expansion is better."""
    first, second = next(iter(results.values()))["expansion"]["between"]
    names = {
        ("always", first): f"always {first}",
        ("always", second): f"always {second}",
        ("always", "the better one in the other half"): "the better one in the other half",
        ("oracle", ""): "oracle",
    }
    lines = [
        [label, *(with_interval(policies(data)[key], ".3f", "mean") for data in results.values())]
        for key, label in names.items()
    ]
    sides = [
        f"{part['wins']} / {part['queries'] - part['wins'] - part['losses']} / {part['losses']}"
        for part in (data["expansion"] for data in results.values())
    ]
    lines.append([f"queries that {second} helps / leaves / harms", *sides])
    return table(["", *results], lines)


def choices(results: dict[str, Json]) -> str:
    """Write every choice: its mean less that of always the better model, bold when significant."""
    tables = [policies(data) for data in results.values()]
    return table(
        ["choice by, rule", *results],
        [
            [f"`{key[0]}`, {key[1]}", *(choice(rows.get(key)) for rows in tables)]
            for key, row in tables[0].items()
            if is_selection(row)
        ],
    )


def choice(row: Json | None) -> str:
    """Write one choice; a dash for what was not tried."""
    if row is None:
        return "-"
    difference = bold(f"{row['difference']:+.4f}", is_significant(row))
    return f"{difference}, {row['expanded']:.0%}"


def count_significant(results: dict[str, Json]) -> dict[str, Any]:
    """Count the choices that are better and worse than always the better model."""
    rows = [row for data in results.values() for row in policies(data).values() if is_selection(row)]
    gaps = [policies(data)["oracle", ""]["difference"] for data in results.values()]
    learned = [row for row in rows if row["rule"] != "compare"]
    return {
        "tried": len(rows),
        "up": sum(is_significant(row) and row["difference"] > 0 for row in rows),
        "down": sum(is_significant(row) and row["difference"] < 0 for row in rows),
        "least": f"{min(gaps):+.3f}",
        "most": f"{max(gaps):+.3f}",
        "best": f"{max(row['difference'] for row in rows):+.4f}",
        "worst": f"{min(row['difference'] for row in learned):+.4f}",
        "positive": sum(row["difference"] > 1e-9 for row in learned),
        "learned": len(learned),
    }


def page(contents: Json) -> str:
    """Return the page from the numbers kept."""
    results = {name: contents["found"][name] for name in SETS if name in contents["found"]}
    first = next(iter(results.values()))
    bolder = {name: data["bolder"] for name, data in results.items() if "bolder" in data}
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=contents["leadline"],
            sweeps=contents["sweeps"],
            topics=first["topics"],
            fits=first["fits"],
            splits=first["splits"],
            models=", ".join(first["models"]),
            counts=collection_sizes(results),
            total=intervals_above_zero(results, "DeShaTo(total)"),
            best_term=intervals_above_zero(results, "DeShaTo(sum_s)"),
            product=intervals_above_zero(results, "DeShaTo(product_k)"),
            clarity=intervals_above_zero(results, "Clarity"),
            nqc=intervals_above_zero(results, "NQC(tail)"),
            wig=intervals_above_zero(results, "WIG(tail)"),
            over_clarity=deshato_ahead(results, "Clarity"),
            over_nqc=deshato_ahead(results, "NQC(tail)"),
            over_root=deshato_ahead(results, "WIG(tail,length=root)"),
            root=intervals_above_zero(results, "WIG(tail,length=root)"),
            length=intervals_above_zero(results, "QueryLength"),
            tau_first=correlations(results, first["models"][0], intervals=True),
            nqc_range=intervals_above_zero(results, "NQC(tail)").partition(",")[0],
            total_range=intervals_above_zero(results, "DeShaTo(total)").partition(",")[0],
            tables="\n\n".join(
                f"{model}:\n\n{correlations(results, model)}" for model in first["models"][1:]
            ),
            first=first["models"][0],
            fitted=fits(results),
            constant=constant(results),
            choices=choices(results),
            said="\n".join(f"- {name}: {data['lines'][-1]}" for name, data in results.items()),
            figures="\n".join(
                f"![{title}, {name}](query-prediction-{name}-{part}.svg)"
                for name in results
                for part, title in PARTS.items()
            ),
            bolder=constant(bolder),
            bolder_counts="{up} of {tried}".format(**count_significant(bolder)),
            bolder_gaps="{least} to {most}".format(**count_significant(bolder)),
            **count_significant(results),
        )
    )


PAGE = """# Can predictors find hard queries, and choose which to expand?

{note}

**Answer: prediction partly, selection not.** Ionescu, Chifu and Mothe 2015 propose both uses of DeShaTo
([glossary](../glossary.md)) without results, so that there is no claim to confirm; the rules are ours. Most
predictors correlate with AP, none strongly: Kendall's tau of [NQC](../predicting.md) is {nqc_range}, of
DeShaTo {total_range}. No policy of selective expansion is reliable: {up} of {tried} (predictor, rule,
collection) are significantly better than always using the better model of the collection, and {down} are
worse; an oracle would add {least} to {most} AP.

![Kendall's tau with AP, cranfield](query-prediction-cranfield-correlations.svg)

Cranfield: Kendall's tau with AP over queries, with 95 % intervals.

## How to repeat it

    leadline study query-prediction docs.jsonl queries.jsonl qrels.txt --sweeps {sweeps} -o OUT/SET
    python -m leadline_studies.query_prediction.page DATA    # in a checkout: all collections, and this page

Processor time: 12 s on cisi with `--fits 1 --sweeps 50 --topics 50 --splits 20 --draws 100`.
[Data](README.md#data):

{counts}

[Predictors](../predicting.md); models {models} with their defaults, first 1,000 documents. LDA on all
documents of a collection, {topics} topics, {fits} fits of {sweeps} sweeps, DeShaTo the mean over fits;
leadline {version}, seed 0; numbers in [query-prediction.json](query-prediction.json).

## Prediction

Kendall's tau with AP over queries, lowest and highest over models and collections, and how often its interval
is above 0 (other data may leave these ranges):

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
{over_nqc}, than WIG by the root of the length in {over_root}; these are counts, not tests.

Tau by collection, {first}. Bold: the interval (95 %, bootstrap over queries, 1,000 resamples) is above 0.
Predictors with overlapping intervals may still differ significantly.

{tau_first}

## Selective expansion

{said}

The largest difference of any policy from always the better model is {best}, selected after the fact; of the
policies with a learned threshold {positive} of {learned} are above 0, the lowest is {worst}: where one model
is better for most queries, the learned threshold selects it nearly always. Mean AP, with Student intervals:

{constant}

Mean AP of each policy minus that of always using the better model, and the proportion of queries expanded;
bold: significant difference (paired t test, p < 0.05, Holm over the policies of a collection). Intervals are
in the figures.

{choices}

- `compare` expands if the predictor's value of the expanded list is larger; `threshold` if that of the plain
  list is above a threshold; `difference` if the difference of the two is.
- A threshold maximises mean AP on one half of the queries and is applied to the other half, over {splits}
  random halvings; the value of a query is its mean over them. The intervals do not account for the queries
  that halvings share.
- The better model is determined on all queries, except in the row `the better one in the other half`.
- `compare` by WIG is uninformative: the weights of a query of RM3 add up to 1, those of the plain model to
  the number of terms.
- Queries with undefined predictions (a list of one document or none) are not expanded; they are frequent on
  nfcorpus-test only, where 16 lists of the plain model hold one document.

### Without the original query terms

RM3 retains the original query terms, so that little is lost where it harms. RM1 does not, and selection can
gain more: the oracle adds {bolder_gaps} AP to the better model. {bolder_counts} policies are significantly
better than always using that one (one topic model).

{bolder}

## Details: tau with other models

Bold: the interval is above 0. Intervals and Pearson are in the JSON file.

{tables}

The lowest and the highest tau of `DeShaTo(total)` with a single fit:

{fitted}

## Details: figures of all collections

{figures}
"""


def main(arguments: list[str]) -> None:
    """Run the study if data are named, and write figures and page."""
    require_checkout()
    if arguments:
        for name in arguments[1:] or SETS:
            run(Path(arguments[0]), name)
    contents = read_numbers(NAME)
    for name, data in contents["found"].items():
        for part, figure in figures_of(data).items():
            path = PAGES / f"query-prediction-{name}-{part}.svg"
            path.write_bytes(picture(figure, "svg"))
    write_page(NAME, page(contents))


if __name__ == "__main__":
    main(sys.argv[1:])
