"""Numbers of the page on histograms over retrieval models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.stats.correlation import pearson, spearman
from leadline_studies.common.pages import Json, cached, find_documents, rounded, run_study
from leadline_studies.histogram_models.model_columns import (
    BY_MODEL,
    BY_QUERY,
    CONTROL,
    PLAIN_AP,
    PRINTED,
    ROBUST,
    WEIGHTED_AP,
)

NAME = "histogram-models"
SETS = ("cisi", "cacm", "npl", "nfcorpus-test")
NEAREST = "nfcorpus-test"
DEPTHS = (50, 100, 300, 1000)
COLUMNS = (BY_QUERY, BY_MODEL, PRINTED, "HSA from ranks", ROBUST, CONTROL)
SAMPLED = (BY_QUERY, BY_MODEL, ROBUST, PLAIN_AP, WEIGHTED_AP)
FIGURES = {
    f"{name}/{title}": f"{NAME}-{name}-{title}.svg"
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
PAPER = {"Web 2009": 0.89, "Web 2010": 0.88, "Web 2011": 0.91, "Web 2012": 0.89}  # table 3: R of HSA with MAP


def collect(out: Path, data: Path) -> Json:
    """Run the study on every collection, and try transformed scores and cut lists."""
    collected = {}
    for name in SETS:
        result = run_study(f"{NAME} docs.jsonl* queries.jsonl qrels.txt --time 3", data / name, out / name)
        for columns in result["samples"].values():
            for column, entry in columns.items():
                columns[column] = {key: entry[key] for key in ("AP", "nDCG", "rule")}
        tried = partial(probe, data / name, result["models"])
        result["probe"] = cached(tried, out / f"{name}-probe.json")
        collected[name] = rounded(_without_unused(result))
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
    """Correlate HSA and recall of lists cut at a depth with MAP of the whole lists: R and rho."""
    result = ll.histogram(qrels, runs, depth=depth, draws=0)
    columns = {
        BY_QUERY: result.hsa,
        PRINTED: ll.histogram(qrels, runs, depth=depth, draws=0, as_printed=True).hsa,
        "HSA from ranks": ll.histogram(qrels, runs, depth=depth, draws=0, from_ranks=True).hsa,
        ROBUST: result.hsa_robust,
        CONTROL: result.recall,
    }
    return {name: [pearson(quality, values), spearman(quality, values)] for name, values in columns.items()}


def _without_unused(data: Any) -> Any:
    """Leave out Kendall, p and intervals over models."""
    if isinstance(data, dict):
        left = {"kendall", "p"} | ({"low", "high"} if "queries_low" in data else set())
        return {key: _without_unused(value) for key, value in data.items() if key not in left}
    return [_without_unused(value) for value in data] if isinstance(data, list) else data


def facts(kept: Json) -> Json:
    """Return the columns by collection, where the rule holds, and the likely reasons."""
    sizes = list(kept["cisi"]["samples"])
    lists = {column: [data["lists"][column] for data in kept.values()] for column in COLUMNS}
    pairs = {
        column: [data["samples"][size][column] for data in kept.values() for size in sizes]
        for column in SAMPLED
    }
    near = kept[NEAREST]["models"]
    rest = [row for model, row in near.items() if model not in ("BM25RF", "RM1", "RM3")]
    bent = []
    for data in kept.values():
        spread, moved = ([row[BY_QUERY] for row in data["models"].values()], data["probe"]["hsa"].values())
        bent.append((max(moved) - min(moved)) / (max(spread) - min(spread)))
    return {
        "sets": kept,
        "sizes": sizes,
        "columns": COLUMNS,
        "sampled": SAMPLED,
        "lists": lists,
        "held": {name: sum(entry["rule"]["holds"] for entry in some) for name, some in lists.items()},
        "pairs_held": {name: sum(entry["rule"]["holds"] for entry in some) for name, some in pairs.items()},
        "pair_cells": len(pairs[BY_QUERY]),
        "paper": PAPER.values(),
        "near_rest": pearson(*(np.array([row[key] for row in rest]) for key in ("AP", BY_QUERY))),
        "bent": bent,
        "short": {
            name: [
                data["probe"]["depths"][str(depth)][name][0] for data in kept.values() for depth in DEPTHS[:3]
            ]
            for name in (BY_QUERY, ROBUST, CONTROL)
        },
        "ratios": {
            size: [data["time"]["all_models"][size]["ratio"] for data in kept.values()] for size in sizes
        },
    }
