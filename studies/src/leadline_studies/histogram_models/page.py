"""Write the page of the study of histograms over retrieval models.

    python -m leadline_studies.histogram_models.page [FOLDER DATA]

Runs the studies whose output is not in FOLDER. DATA contains a folder per collection, with docs.jsonl (or
.gz), queries.jsonl and qrels.txt. `PAPER` has the values that the paper prints.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.stats.correlation import pearson, spearman
from leadline_studies.common.markdown import number, table, value_range, with_interval, wrapped
from leadline_studies.common.pages import (
    Json,
    cached,
    copy_figures,
    find_documents,
    rounded,
    run_study,
    update_page,
)

NAME = "histogram-models"
SETS = ("cisi", "cacm", "npl", "nfcorpus-test")
NEAREST = "nfcorpus-test"
ASIDE = "cranfield"  # the defaults were chosen on it
ROUNDS = 3
DEPTHS = (50, 100, 300, 1000)
MEASURES = ("AP", "P@10", "nDCG")
KINDS = {"R": "pearson", "rho": "spearman"}
BY_QUERY, BY_MODEL, ROBUST = "HSA by query", "HSA by model", "HSA robust"
PRINTED = "HSA by model, found only"
CONTROL, PLAIN_AP, WEIGHTED = "recall (control)", "AP as sampled", "AP weighted"
DO_QUERY, DO_PRINTED = "DO by query", "DO by model, found only"
SAMPLED = (BY_QUERY, BY_MODEL, ROBUST, DO_QUERY, PLAIN_AP, WEIGHTED)
SLOW = ("BM25RF", "RM1", "RM3", "SDM")  # they look at whole lists of postings before they score a pair
SHOWN_SIZES = ("10", "100", "1000")
SHOWN_MODELS = ("BM25", "QLDirichlet", "RM3")
NOTE = "<!-- Made by leadline_studies/histogram_models/page.py from the output of `leadline study`. -->"
FIGURES = {
    f"{name}/{title}": f"histogram-models-{name}-{title}.svg"
    for name, title in (
        ("cisi", "by-query"),
        ("cisi", "by-model"),
        ("nfcorpus-test", "by-query"),
        ("npl", "by-query"),
        ("npl", "bins"),
        ("cacm", "samples"),
        ("nfcorpus-test", "samples"),
    )
}
# Tables 3 and 4: MAP, P@10, NDCG by HSA and by DO, R and then rho.
PAPER = {
    "Web 2009": ((0.89, 0.91, 0.95, 0.82, 0.86, 0.86), (0.84, 0.88, 0.94, -0.86, -0.89, -0.89)),
    "Web 2010": ((0.88, 0.71, 0.93, 0.93, 0.79, 0.96), (0.64, 0.60, 0.79, -0.46, -0.68, -0.50)),
    "Web 2011": ((0.91, 0.93, 0.99, 1.00, 0.96, 1.00), (0.77, 0.81, 0.92, -0.82, -0.79, -0.82)),
    "Web 2012": ((0.89, 0.87, 0.97, 0.71, 0.82, 0.75), (0.79, 0.79, 0.92, -0.46, -0.61, -0.39)),
}


def collect(folder: Path, data: Path) -> Json:
    """Run the study where its output is not in `folder`; return the results that the page uses."""
    collected = {}
    for name in (*SETS, ASIDE):
        folder_of_set = data / name
        arguments = [find_documents(folder_of_set).name, "queries.jsonl", "qrels.txt"]
        arguments += ["--time", str(ROUNDS)] if name in SETS else []
        study_result = run_study("histogram-models", folder_of_set, folder / name, arguments)
        for columns in study_result["samples"].values():
            for column, entry in columns.items():
                columns[column] = {key: entry[key] for key in ("AP", "nDCG", "rule")}
        if name in SETS:
            path = folder / f"{name}-probe.json"
            study_result["probe"] = cached(partial(probe, folder_of_set, study_result["models"]), path)
        collected[name] = rounded(without_unused(study_result))
    copy_figures(folder, FIGURES)
    return collected


def probe(folder: Path, models: Json) -> Json:
    """Return HSA of one run with transformed scores, and of all models with cut lists."""
    qrels = folder / "qrels.txt"
    index = ll.build_index(str(find_documents(folder)))
    runs = ll.search(index, str(folder / "queries.jsonl"), list(models), k=10_000)
    run = runs["BM25"].to_dict()
    bends: dict[str, Any] = {"as they are": np.array, "square root": np.sqrt, "square": np.square}
    result = {}
    for name, bend in bends.items():
        bent = {}
        for query, scores in run.items():
            values = np.array(list(scores.values()))
            shares = (values - values.min()) / (np.ptp(values) or 1.0)
            bent[query] = dict(zip(scores, bend(shares).tolist(), strict=True))
        result[name] = float(ll.histogram(qrels, bent, draws=0).hsa[0])
    tops = [max(scores.values()) for scores in run.values()]
    quality = np.array([model["AP"] for model in models.values()])
    return {
        "hsa": result,
        "tops": np.quantile(tops, [0.1, 0.9]).tolist(),
        "depths": {str(depth): cut(qrels, runs, depth, quality) for depth in DEPTHS},
    }


def cut(qrels: Path, runs: Any, depth: int, quality: Any) -> Json:
    """Correlate HSA, DO and recall of lists cut at a depth with MAP of the whole lists: R and rho."""
    result = ll.histogram(qrels, runs, depth=depth, draws=0)
    printed = ll.histogram(qrels, runs, depth=depth, draws=0, as_printed=True)
    ranks = ll.histogram(qrels, runs, depth=depth, draws=0, from_ranks=True)
    return {
        name: [pearson(quality, values), spearman(quality, values)]
        for name, values in {
            BY_QUERY: result.hsa,
            PRINTED: printed.hsa,
            "HSA from ranks": ranks.hsa,
            ROBUST: result.hsa_robust,
            CONTROL: result.recall,
        }.items()
    }


def without_unused(data: Any) -> Any:
    """Leave out Kendall, p and intervals over models."""
    if isinstance(data, dict):
        left = {"kendall", "p"} | ({"low", "high"} if "queries_low" in data else set())
        return {key: without_unused(value) for key, value in data.items() if key not in left}
    return [without_unused(value) for value in data] if isinstance(data, list) else data


def coefficient_cells(correlations: Json) -> list[str]:
    """Write R and rho with the three measures."""
    values = [correlations[measure][kind] for kind in KINDS.values() for measure in MEASURES]
    return [number(value["value"] if isinstance(value, dict) else value) for value in values]


def map_cell(correlations: Json) -> str:
    """Write R with MAP and its interval over queries."""
    part = correlations["AP"]["pearson"]
    low, high = number(part["queries_low"]), number(part["queries_high"])
    return f"{number(part['value'])} [{low}, {high}]"


def counts(results: Json) -> str:
    """Write the table of the data used."""
    rows = []
    for name in (*SETS, ASIDE):
        data = results[name]
        lengths = [model["mean list"] for model in data["models"].values()]
        ends = [
            min(model["AP"] for model in data["models"].values()),
            max(model["AP"] for model in data["models"].values()),
        ]
        rows.append(
            [
                name,
                f"{data['documents']:,}",
                str(data["queries"]),
                f"{data['relevant'] / data['queries']:.1f}",
                value_range(lengths, ",.0f"),
                f"{ends[0]:.3f} to {ends[1]:.3f}",
            ]
        )
    return table(
        ["collection", "documents", "queries", "relevant a query", "mean list of a model", "MAP of a model"],
        rows,
    )


def rule_row(results: Json, column: str) -> list[str]:
    """Return whether a column meets the rule on each collection, with the deciding numbers."""
    cells = []
    for name in SETS:
        rule = results[name]["lists"][column]["rule"]
        parts = [number(rule[part]) for part in ("pearson", "spearman", "least_over_bins")]
        cells.append(" / ".join(parts) + (" holds" if rule["holds"] else ""))
    return [column, *cells]


def collections_where_held(results: Json, column: str, size: str | None = None) -> list[str]:
    """Return the collections on which a column meets the rule, from lists or from pairs."""
    return [
        name
        for name in SETS
        if (results[name]["samples"][size] if size else results[name]["lists"])[column]["rule"]["holds"]
    ]


def collections_text(names: Sequence[str]) -> str:
    """Return the number of collections and their names, as text."""
    return f"{len(names)} of {len(SETS)} collections" + (f" ({', '.join(names)})" if names else "")


def held_at(results: Json, column: str) -> str:
    """Return on how many collections the rule holds from scored pairs, by size, as text."""
    return ", ".join(
        f"{len(collections_where_held(results, column, size))} (n = {size})"
        for size in results[SETS[0]]["samples"]
    )


def held_from_pairs(results: Json, column: str) -> int:
    """Count the collections and sizes at which the rule holds from scored pairs."""
    return sum(len(collections_where_held(results, column, size)) for size in results[SETS[0]]["samples"])


def with_map(results: Json, column: str) -> str:
    """Return the range of R with MAP over the collections, as text."""
    return value_range(results[name]["lists"][column]["AP"]["pearson"]["value"] for name in SETS)


def with_lower_bounds(entry: Json) -> bool:
    """Return whether a column meets the rule if the other numbers of bins are required of R only."""
    rule = entry["rule"]
    correlations = [
        of_bins[measure]["pearson"]
        for of_bins in entry["bins"]
        if 10 <= of_bins["bins"] <= 100
        for measure in ("AP", "nDCG")
    ]
    return bool(rule["pearson"] >= 0.8 and rule["spearman"] >= 0.7 and min(correlations) >= 0.6)


def ranks_of_overlap(results: Json) -> str:
    """Return the rank correlations of DO with MAP, as text."""
    parts = []
    for column in (DO_QUERY, DO_PRINTED):
        ranks = [number(results[name]["lists"][column]["AP"]["spearman"]["value"]) for name in SETS]
        parts.append(f"{column} {', '.join(ranks)}")
    return "; ".join(parts)


def time_verdict(results: Json) -> str:
    """Return the ratio of costs over all models together, as a table."""
    rows = []
    for size in results[SETS[0]]["samples"]:
        ratios = [results[name]["time"]["all_models"][size] for name in SETS]
        both = ("ratio", "ratio_with_drawing")
        rows.append([size, *(value_range(entry[key] for entry in ratios) for key in both)])
    return table(["n", "ratio", "with drawing the sample"], rows, labels=1)


def paper_table(results: Json) -> str:
    """Write the correlations beside those of the paper's Tables 3 and 4."""
    rows = [
        ["paper", "7", what, *map(value_range, zip(*values, strict=True))]
        for what, values in zip(("HSA", "DO"), zip(*PAPER.values(), strict=True), strict=True)
    ]
    for name in SETS:
        lists, all_models = results[name]["lists"], str(len(results[name]["models"]))
        for models, of in (("7", "named_seven"), (all_models, None)):
            rows += [
                [name, models, column, *coefficient_cells(lists[column][of] if of else lists[column])]
                for column in (BY_QUERY, PRINTED)
            ]
    heads = [f"{kind} {measure}" for kind in KINDS for measure in ("MAP", "P@10", "nDCG")]
    return table(["collection", "models", "number", *heads], rows)


def over_all(results: Json) -> str:
    """Write R with MAP over all models by column."""
    names = (*SETS, ASIDE)
    columns = results[SETS[0]]["lists"]
    rows = [[column, *(map_cell(results[name]["lists"][column]) for name in names)] for column in columns]
    return table(["number", *names], rows)


def sevens(results: Json) -> str:
    """Write the medians of random sevens with their 5 % and 95 % quantiles."""
    rows = []
    for column in (BY_QUERY, PRINTED, ROBUST, CONTROL):
        cells = []
        for name in SETS:
            quantiles = results[name]["lists"][column]["sevens_pearson"]
            cells.append(with_interval(quantiles, middle="median"))
        rows.append([column, *cells])
    return table(["number", *SETS], rows)


def sampled(results: Json) -> str:
    """Write how well estimates from scored pairs track MAP of whole lists."""
    sizes = SHOWN_SIZES
    rows = [
        [name, column, *(map_cell(results[name]["samples"][size][column]) for size in sizes)]
        for name in SETS
        for column in SAMPLED
    ]
    return table(["collection", "number", *(f"n = {size}" for size in sizes)], rows)


def times(results: Json) -> str:
    """Write the times per model: ranking, scoring, and the ratio."""
    sizes = SHOWN_SIZES
    rows = []
    for name in SETS:
        for row in results[name]["time"]["models"]:
            if row["model"] not in SHOWN_MODELS:
                continue
            full = 1000 * (row["search"] + row["evaluate"])
            cells = [f"{full:,.0f}"]
            for size in sizes:
                part = row["samples"][size]
                cells.append(f"{1000 * (part['score'] + part['histogram']):,.0f}")
                cells.append(number(part["ratio"]))
            rows.append([name, row["model"], *cells])
    heads = [head for size in sizes for head in (f"score, n = {size} (ms)", "ratio")]
    return table(["collection", "model", "rank (ms)", *heads], rows)


def drawing(results: Json) -> str:
    """Return the time of drawing the samples, as text."""
    parts = [
        f"{name} {1000 * seconds['10']:,.0f} ms"
        for name in SETS
        if (seconds := results[name]["time"]["drawing"])
    ]
    return ", ".join(parts)


def bent_shares(results: Json) -> str:
    """Return what a transformation of scores changes, as a share of the range of HSA over models."""
    shares = []
    for name in SETS:
        of_models = [of_collection[BY_QUERY] for of_collection in results[name]["models"].values()]
        bent = results[name]["probe"]["hsa"].values()
        shares.append((max(bent) - min(bent)) / (max(of_models) - min(of_models)))
    return value_range(shares, ".0%")


def cut_table(results: Json) -> str:
    """Write R and rho with MAP of whole lists when lists are cut."""
    rows = [
        [
            name,
            column,
            *(
                f"{number(correlations[column][0])} / {number(correlations[column][1])}"
                for correlations in results[name]["probe"]["depths"].values()
            ),
        ]
        for name in SETS
        for column in (BY_QUERY, ROBUST, CONTROL)
    ]
    return table(["collection", "number", *(f"first {depth}" for depth in DEPTHS)], rows)


def without_term_counts(results: Json) -> str:
    """Return R with MAP without the models of plain term counts, as text."""
    parts = []
    for name in SETS:
        full = results[name]["lists"][BY_QUERY]["AP"]["pearson"]["value"]
        parts.append(
            f"{name} {full:.2f} to {correlation_without(results[name], ('TF(dot)', 'TF(cosine)')):.2f}"
        )
    return ", ".join(parts)


def correlation_without(data: Json, models: tuple[str, ...]) -> float:
    """Return R of HSA by query with MAP without some models."""
    rows = [values for model, values in data["models"].items() if model not in models]
    columns = [np.array([values[which] for values in rows]) for which in ("AP", BY_QUERY)]
    return pearson(*columns)


def reasons(results: Json) -> str:
    """Return likely reasons, with the numbers that support them."""
    tops = [
        f"{name} {low:.1f} to {high:.1f}" for name in SETS for low, high in [results[name]["probe"]["tops"]]
    ]
    equal = [
        f"{len({round(model[CONTROL], 6) for model in results[name]['models'].values()})} on {name}"
        for name in SETS
    ]
    most = [best_model(results[name], which) for which in (BY_QUERY, "AP") for name in SETS]
    near = results[NEAREST]
    with_map = [near["lists"][column]["AP"]["pearson"]["value"] for column in (BY_QUERY, CONTROL)]
    pairs = [
        f"{number(correlations[BY_QUERY]['AP']['pearson']['value'])} (n = {size})"
        for size, correlations in near["samples"].items()
    ]
    return WHY.format(
        bent=bent_shares(results),
        models=", ".join(f"{name} {model}" for name, model in zip(SETS, most[: len(SETS)], strict=True)),
        best=", ".join(f"{name} {model}" for name, model in zip(SETS, most[len(SETS) :], strict=True)),
        without=without_term_counts(results),
        tops=", ".join(tops),
        equal=", ".join(equal),
        near=number(with_map[0]),
        near_recall=number(with_map[1]),
        near_pairs=", ".join(pairs),
        near_rest=number(correlation_without(near, ("BM25RF", "RM1", "RM3"))),
        size=len(near["models"]),
        short_robust=short(results, ROBUST),
        short=short(results, BY_QUERY),
        short_recall=short(results, CONTROL),
    )


def best_model(data: Json, which: str) -> str:
    """Name the model with the largest number."""
    values = {str(model): float(row[which]) for model, row in data["models"].items()}
    return max(values, key=values.__getitem__)


def short(results: Json, column: str) -> str:
    """Return the range of R with MAP over the collections and the cuts at 50, 100 and 300."""
    values = [
        results[name]["probe"]["depths"][str(depth)][column][0] for name in SETS for depth in DEPTHS[:3]
    ]
    return value_range(values)


def time_text(results: Json) -> str:
    """Return the models for which scoring is cheaper, and the reason for the others, as text."""
    fast: list[float] = []
    slow: list[float] = []
    for name in SETS:
        for row in results[name]["time"]["models"]:
            (slow if row["model"] in SLOW else fast).append(row["samples"]["10"]["ratio"])
    return TIME.format(
        fast=value_range(fast), slow=value_range(slow), names=", ".join(SLOW), drawing=drawing(results)
    )


WHY = """\
- **By query.** HSA depends on the distribution of scores, and MAP does not: a monotone transformation of the
  scores of BM25 (square root, square) changes HSA by {bent} of its range over all models, and MAP not at all.
  HSA is largest for {models}; MAP for {best}. Without `TF(dot)` and `TF(cosine)` R with MAP changes:
  {without}.
- **Recall.** On nfcorpus-test R of HSA by query is {near}, that of recall {near_recall}: models that expand
  the query (BM25RF, RM1, RM3) retrieve documents that the others do not; without these three R is
  {near_rest}. In scored pairs, where no document is missing, it is {near_pairs}. On the other collections
  most models retrieve the same documents, and recall is uninformative (distinct values over the {size}
  models: {equal}).
- **By model.** The scores of different queries are on different scales: the highest BM25 score of a query
  ranges from {tops} (10 % to 90 % quantile). Pooled by model, the upper bins hold documents of long queries
  and rare words, relevant or not.
- **Depth.** The lists of the paper are the first 10,000 of many millions; here they are nearly the whole
  collection. Cut after 50, 100 or 300 documents (table), R with MAP of the whole lists is {short_robust} for
  the robust variant, {short} for HSA by query, and {short_recall} for recall of the cut lists."""

TIME = """\
With 10 sampled documents a query the ratio is {fast} for models that look up the terms of the query, and
{slow} for {names}, which search before they score, or read whole posting lists. An inverted index never
visits documents without the terms of the query, so that ranking a collection is cheap and scoring many
documents one by one is not. Sampling by hash, once for all models, takes {drawing} for n = 10. The paper
compares with models that compute a score for every document of the collection."""


PAGE = """# Do HSA and DO order retrieval models as MAP does?

{note}

**Answer: not confirmed.** Krstovski, Smith and Kurtz 2015 (section 5.2, tables 3 and 4) report R of {paper}
with MAP for HSA (Histogram Slope Analysis, [glossary](../glossary.md)) over seven models of one engine. Here,
over {models} settings on four collections, R is {query_range} with scores normalised by query and
{printed_range} as printed in the paper; the rule fixed in advance holds on {query_held} and {printed_held} of
{sets}. From scored pairs, without a ranking, it holds on {pairs_held} of {pair_cells} collections and sizes
for HSA, on {weighted_held} for AP of the same pairs in which each sampled document counts N/n times: use that
instead.

![HSA by query against MAP, npl](histogram-models-npl-by-query.svg)

HSA by query against MAP, {models} models on npl; the axes do not begin at 0.

## How to repeat it

    cd SET
    leadline study histogram-models docs.jsonl queries.jsonl qrels.txt --time {rounds} -o OUT/SET
    python -m leadline_studies.histogram_models.page OUT DATA    # in a checkout: everything, and this page

Processor time: 41 s on cisi, without `--time`. [Data](README.md#data) below; leadline {version}, seed {seed};
all numbers in [histogram-models.json](histogram-models.json).

Models are the settings in [models](../models.md) with their defaults, chosen in advance; lists hold at most
{depth} documents, histograms {bins} bins. Truth is AP, P@10 and nDCG of those lists. R is Pearson, rho
Spearman. Brackets are 95 % bootstrap intervals over queries ({draws} resamples, fixed models) or, for {draws}
random sets of seven models, the 5 % and 95 % quantiles. Scores are normalised to [0, 1] `by query` or `by
model`. A relevant document that was not retrieved has the lowest score of its list; `found only` excludes it.
`HSA by model, found only` follows the paper literally. Recall of the same lists is the control.

{counts}

Cranfield does not count: the defaults were chosen on it.

## The rule

R at least 0.8 and rho at least 0.7 with MAP and nDCG on each collection, and the least of these four with 10,
20, 50 and 100 bins at least 0.6. Smallest R / smallest rho / smallest over the bins:

{rules}

If the other numbers of bins are required of R only, HSA by query meets the rule on {loose}.

## All models: R with MAP

{over_all}

The paper makes no claim on DO. Rho of DO with MAP on {names}: {do_rho}.

![HSA by query against MAP, nfcorpus-test](histogram-models-nfcorpus-test-by-query.svg)

nfcorpus-test, the highest correlation: the models that expand the query decide it.

## Scored pairs without a ranking

All relevant documents of a query and n others of the collection, sampled by hash and the same for every
model, are scored; truth is still MAP of whole lists. No document is missing, so that `HSA by model` follows
the paper literally. `AP as sampled` is AP of the same pairs; in `AP weighted` each sampled document counts
N/n times. R with MAP:

{sampled}

Collections of {sets} on which the rule holds: HSA by query {pairs}; AP weighted {weighted}.

![R with MAP by the size of the sample, cacm](histogram-models-cacm-samples.svg)

R with MAP of whole lists by the size of the sample, cacm.

## Cost

Ratio of the processor time of ranking and evaluating to that of scoring the sample and computing HSA and DO,
all models together, over the four collections (above 1: a gain):

{ratios}

By model (median of {rounds}
rounds, all queries; {machine}, shared with other processes):

{times}

{time_words}

## Likely reasons

{why}

R / rho with MAP of the whole lists, by depth of the lists:

{cut}

## Details: beside the paper's Tables 3 and 4

The paper's seven models are BM25, BM25RF, RM, SDM and three of query likelihood, without parameters; the rows
of 7 are our models of these names. With seven models one swap changes rho by 0.036. Of the paper, ranges over
Web 2009 to 2012:

{beside}

Random sevens of our models, R with MAP:

{sevens}

## Details: other figures

![HSA by query against MAP, cisi](histogram-models-cisi-by-query.svg)
![HSA by model against MAP, cisi](histogram-models-cisi-by-model.svg)

The models of cisi, normalised by query and by model.

![R with MAP by the number of bins, npl](histogram-models-npl-bins.svg)

All quantities computed from bins, npl.

![R with MAP by the size of the sample, nfcorpus-test](histogram-models-nfcorpus-test-samples.svg)

R with MAP of whole lists by the size of the sample, nfcorpus-test.
"""


def page(results: Json) -> str:
    """Write the page."""
    first = results[SETS[0]]
    columns = (BY_QUERY, "HSA by query, found only", BY_MODEL, PRINTED, "HSA from ranks", ROBUST, CONTROL)
    return wrapped(
        PAGE.format(
            note=NOTE,
            models=len(first["models"]),
            version=first["leadline"],
            seed=first["options"]["seed"],
            bins=first["bins"],
            depth="10,000",
            draws=first["options"]["draws"],
            counts=counts(results),
            paper=value_range(hsa[0] for hsa, _ in PAPER.values()),
            query_range=with_map(results, BY_QUERY),
            printed_range=with_map(results, PRINTED),
            query_held=len(collections_where_held(results, BY_QUERY)),
            printed_held=len(collections_where_held(results, PRINTED)),
            sets=len(SETS),
            pairs_held=held_from_pairs(results, BY_QUERY),
            weighted_held=held_from_pairs(results, WEIGHTED),
            pair_cells=len(SETS) * len(first["samples"]),
            pairs=held_at(results, BY_QUERY),
            weighted=held_at(results, WEIGHTED),
            loose=collections_text(
                [name for name in SETS if with_lower_bounds(results[name]["lists"][BY_QUERY])]
            ),
            names=", ".join(SETS),
            do_rho=ranks_of_overlap(results),
            ratios=time_verdict(results),
            rules=table(["number", *SETS], [rule_row(results, column) for column in columns]),
            why=reasons(results),
            cut=cut_table(results),
            beside=paper_table(results),
            over_all=over_all(results),
            sevens=sevens(results),
            sampled=sampled(results),
            rounds=first["time"]["rounds"],
            machine=first["time"]["machine"],
            times=times(results),
            time_words=time_text(results),
        )
    )


if __name__ == "__main__":
    update_page(NAME, page, collect)
