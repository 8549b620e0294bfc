"""Test whether the histogram measures HSA and DO track rank measures across retrieval models on a collection.

DOCS is a collection or its index. Every model ranks the whole collection. HSA and DO (see `leadline
histogram`) come from the first `--depth` documents of each list, with scores normalized per query and per
model, and are compared with MAP, P@10 and nDCG. The study then tries the intended use, in which nothing is
ranked: the models score only the relevant documents of each query and n other documents, chosen by hash, the
same for all models. Source: Krstovski, Smith and Kurtz 2015, section 5.2, tables 3 and 4.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline import MODELS, Run, build_index, open_index, read_qrels, read_queries, score, search
from leadline.data.ids import to_text
from leadline.data.table import Table, plain
from leadline.data.wording import queries as counted_queries
from leadline.data.wording import rounded
from leadline.estimation.histogram_result import HistogramOptions
from leadline.estimation.score_sets import pairs_to_score
from leadline.io.read_paths import path_of
from leadline.io.texts import TextsLike
from leadline.retrieval.index.reader import Index
from leadline_studies import (
    LEVEL,
    SEED,
    Claim,
    Given,
    Option,
    Outcome,
    check_texts,
    models_of,
    parse_integers,
    with_options,
)
from leadline_studies.common.scoring_time import time_lines, time_table, times_of
from leadline_studies.common.tables import columns, known, sheet
from leadline_studies.common.tracking import (
    ASKED_COLLECTIONS,
    ASKED_QUERIES,
    COEFFICIENTS,
    MEASURES,
    SEVEN,
    six,
    tracking_figure,
    tracking_tables,
)
from leadline_studies.histogram_models.model_columns import (
    ASKED,
    BY_MODEL,
    BY_QUERY,
    CONTROL,
    NAMED,
    PLAIN_AP,
    PRINTED,
    ROBUST,
    WEIGHTED_AP,
    Columns,
    Truth,
    entries,
    from_lists,
    from_pairs,
    truth_of,
)

CLAIM = Claim("HSA follows MAP over retrieval models of one collection.", "R of 0.88 to 0.91 with MAP.")
ARGUMENTS = ("docs", "queries", "qrels")
SETTINGS = (
    "BM25(k1=0.9,b=0.4)",
    *NAMED,
    "RM1",
    "PL2",
    "In_expB2",
    "TF(dot)",
    "TF(cosine)",
    "TFIDF(dot)",
    "TFIDF(cosine)",
)
SIZES = "10,30,100,300,1000"
OPTIONS = (
    Option("model", str, "Retrieval model to try (repeatable).", SETTINGS),
    Option("depth", int, "Maximum number of documents per list.", 10_000, metavar="K"),
    Option("bins", int, "Number of histogram bins.", 10, least=2),
    Option("samples", str, "Numbers of non-relevant documents to sample per query.", SIZES, metavar="N,N"),
    LEVEL,
    Option(
        "draws",
        int,
        "Number of random sets of seven models, and number of bootstrap resamples.",
        200,
        least=0,
    ),
    SEED,
    Option("time", int, "Number of rounds in which each model is timed, or 0 to skip timing.", 0, least=0),
)
LEAST = 3  # models


@with_options(OPTIONS)
def run(docs: Any, queries: Any, qrels: Any, given: Given) -> Outcome:
    """Run the study on a collection; `samples` are comma-separated numbers."""
    depth = given.depth
    table, sizes = read_qrels(qrels), parse_integers(given.samples, "samples")
    models = models_of(given.model, LEAST)
    recipe = HistogramOptions(bins=given.bins, rel=given.level, seed=given.seed).checked()
    index, all_queries = _index(docs), read_queries(queries)
    documents = list(map(to_text, index.ids.take(np.arange(index.documents))))
    pairs = {n: pairs_to_score(table, documents, sample=n, seed=given.seed, rel=given.level) for n in sizes}
    asked = {query.id: query.content for query in all_queries if query.id in pairs[sizes[0]]}
    check_texts(asked, queries)
    depth = min(depth, index.documents)
    runs = search(index, asked, models, k=depth, on_query=given.on_run)
    truth, warnings = truth_of(table, runs, given.level)
    lists, doubts = from_lists(table, runs, recipe, truth, depth)
    scored = {n: score(index, asked, pairs[n], models) for n in sizes}
    data: dict[str, Any] = {
        "documents": index.documents,
        "depth": depth,
        "bins": given.bins,
        "queries": len(asked),
        "relevant": int(table.relevant(given.level).sum()),
        "models": _values_by_model(truth, lists, runs),
        "lacking": missing_requirements(models, len(asked)),
        "lists": entries(lists, truth, given.draws, given.seed),
        "samples": {
            str(n): entries(
                from_pairs(table, scores_of_sample, recipe, truth, documents), truth, given.draws, given.seed
            )
            for n, scores_of_sample in scored.items()
        },
    }
    if given.time:
        data["time"] = times_of(index, asked, table, models, depth, pairs, given)
    found = (*runs.warnings, *scored[sizes[0]].warnings, *warnings, *doubts)
    notices = {warning.code: warning for warning in found}
    notices.pop("missing_queries", None)  # only those with a relevant document were asked
    source = index.path if isinstance(docs, Index) else path_of(docs)
    inputs = [(source, index.documents), (path_of(queries), len(all_queries))]
    return Outcome(data, inputs, list(notices.values()), {"model": models})


def _index(docs: TextsLike | Index) -> Index:
    """Open an index, or build a temporary one."""
    if isinstance(docs, Index):
        return docs
    if isinstance(docs, (str, os.PathLike)) and os.path.isdir(docs):
        return open_index(docs)
    return build_index(docs)


def missing_requirements(models: Sequence[str], queries: int) -> list[str]:
    """Return the requirements of the rule that are not met.

    >>> missing_requirements(["BM25", "BM25RF", "RM3", "SDM", "QLDirichlet", "QLHiemstra"], 50)
    ['3 settings of query likelihood (2 here)', '7 models (6 here)']
    """
    kinds = [type(MODELS.parse(text)).__name__ for text in models]
    likelihoods = sum(kind.startswith("QL") for kind in kinds)
    missing = [f"{ASKED_QUERIES} queries ({queries:,} here)"] * (queries < ASKED_QUERIES)
    missing += [kind for kind in NAMED[:4] if kind not in kinds]
    missing += [f"3 settings of query likelihood ({likelihoods} here)"] * (likelihoods < 3)
    return missing + [f"{SEVEN} models ({len(models)} here)"] * (len(models) < SEVEN)


def _values_by_model(
    truth: Truth, columns: Columns, runs: dict[str, Run]
) -> dict[str, dict[str, float | None]]:
    """Return the measures, the columns and the mean list length of every model."""
    return {
        name: dict(zip(MEASURES, truth.quality[index].tolist(), strict=True))
        | {title: plain(float(column.values[index])) for title, column in columns.items()}
        | {"mean list": len(runs[name].scores) / len(truth.codes)}
        for index, name in enumerate(truth.names)
    }


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the values of all models, and their correlations by recipe, bins and sample."""
    bins = [{"recipe": name} | one for name, entry in data["lists"].items() for one in entry.get("bins", ())]
    models = [{"model": name} | entry for name, entry in data["models"].items()]
    named = [
        {"recipe": name} | entry["named_seven"]
        for name, entry in data["lists"].items()
        if "named_seven" in entry
    ]
    samples = [
        {"estimate": name, "n": int(size), "holds": _holds(entry)} | entry
        for size, by_recipe in data["samples"].items()
        for name, entry in by_recipe.items()
    ]
    more = ["R with AP, low=AP.pearson.queries_low", "high=AP.pearson.queries_high"]
    more += ["least over bins=rule.least_over_bins", "rule=holds"]
    return (
        {"models": sheet(models, list(models[0]))}
        | tracking_tables(data["lists"])
        | ({"named_seven": sheet(named, ["recipe", *six()], digits=2)} if named else {})
        | {
            "bins": sheet(bins, ["recipe", "bins", *six()], digits=2),
            "samples": sheet(samples, ["estimate", "n", *six(".value"), *more], digits=2),
        }
        | ({"time": time_table(data["time"])} if "time" in data else {})
    )


def figures(data: dict[str, Any]) -> dict[str, Any]:
    """Draw the correlations, and HSA against MAP."""
    from leadline_studies.common.figures import SAMPLED, by_size, named_points

    lists, map_label = data["lists"], f"MAP of lists to {data['depth']:,}"
    drawn = {"all": tracking_figure(lists, "all", systems="models")}
    if lists[BY_QUERY]["sevens_pearson"]["median"] is not None:
        drawn["sevens"] = tracking_figure(lists, "sevens", systems="models")
    for title, name in (("by-query", BY_QUERY), ("by-model", PRINTED)):
        quality, values = columns(data["models"].values(), "AP", name)
        drawn[title] = named_points(quality, values, list(data["models"]), across=map_label, up=name)
    bins = {
        name: [(one["bins"], known(one["AP"]["pearson"])) for one in entry["bins"]]
        for name, entry in lists.items()
        if "bins" in entry
    }
    samples = {
        name: [(int(n), known(entry[name]["AP"]["pearson"]["value"])) for n, entry in data["samples"].items()]
        for name in next(iter(data["samples"].values()))
    }
    drawn["bins"] = by_size(bins, label="Pearson with AP", sizes="bins", zero=False)
    whole = "Pearson with AP of whole lists"
    drawn["samples"] = by_size(samples, label=whole, sizes=SAMPLED, zero=False)
    return drawn


def lines(data: dict[str, Any]) -> list[str]:
    """Return the verdicts on whole lists, sevens and scored pairs, then on DO and times."""
    lists = data["lists"]
    first = (
        f"{BY_QUERY}, over {len(data['models'])} models and {counted_queries(data['queries'])}, lists to "
        f"{data['depth']:,}: {_conclusion(lists[BY_QUERY])} (required: R {ASKED['pearson']:g}, rho "
        f"{ASKED['spearman']:g}, least {ASKED['least_over_bins']:g}): {_verdict(data)}"
    )
    others = [f"{name}: {_conclusion(lists[name])}" for name in (BY_MODEL, PRINTED, ROBUST, CONTROL)]
    with_map = lists[BY_QUERY.replace("HSA", "DO")]["AP"]
    overlap = [rounded(with_map[kind]["value"]) for kind in COEFFICIENTS]
    return [
        first,
        *others,
        *_sevens(lists[BY_QUERY]),
        *(_of_sample(size, entries) for size, entries in data["samples"].items()),
        f"DO by query, with MAP: R {overlap[0]}, rho {overlap[1]}; the paper makes no claim",
        *(time_lines(data["time"]) if "time" in data else ()),
    ]


def _conclusion(entry: dict[str, Any]) -> str:
    """Return a column's correlations with MAP and nDCG, and whether they meet the rule."""
    parts = [
        f"{word} {rounded(entry['AP'][kind]['value'])} with MAP, "
        f"{rounded(entry['nDCG'][kind]['value'])} with nDCG"
        for word, kind in (("R", "pearson"), ("rho", "spearman"))
    ]
    if "bins" in entry:
        parts.append(f"least of 10 to 100 bins {rounded(entry['rule']['least_over_bins'])}")
    return f"{'; '.join(parts)}: the relation {_holds(entry)} here"


def _holds(entry: dict[str, Any]) -> str:
    return "holds" if entry["rule"]["holds"] else "does not hold"


def _verdict(data: dict[str, Any]) -> str:
    """Return the verdict: a single collection can refute the claim, not reproduce it."""
    if data["lacking"]:
        return f"no verdict, because the rule requires {', '.join(data['lacking'])}"
    if not data["lists"][BY_QUERY]["rule"]["holds"]:
        return "not reproduced"
    return (
        f"reproduced in kind if {ASKED_COLLECTIONS} collections of at least {ASKED_QUERIES} queries agree, "
        "not counting Cranfield"
    )


def _sevens(entry: dict[str, Any]) -> list[str]:
    parts = []
    if "named_seven" in entry:
        with_map = entry["named_seven"]["AP"]
        parts.append(
            f"the paper's seven models: R with MAP {rounded(with_map['pearson'])}, rho "
            f"{rounded(with_map['spearman'])}"
        )
    drawn = entry["sevens_pearson"]
    if drawn["median"] is not None:
        parts.append(f"random sevens: median R {rounded(drawn['median'])}, 5 % {rounded(drawn['low'])}")
    return [f"{BY_QUERY}, {'; '.join(parts)}"] if parts else []


def _of_sample(size: str, entries: dict[str, Any]) -> str:
    names = (BY_QUERY, BY_MODEL, ROBUST, PLAIN_AP, WEIGHTED_AP)
    parts = [f"{name} {rounded(entries[name]['AP']['pearson']['value'])}" for name in names]
    return (
        f"scored pairs, n = {size}: R with MAP of whole lists: {', '.join(parts)}; {BY_QUERY}, the relation "
        f"{_holds(entries[BY_QUERY])} here"
    )
