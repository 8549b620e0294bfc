"""Test whether HSA of a sample tracks MAP better than AP of the same sample does, across retrieval models.

Every model ranks the whole collection for its full MAP. For the estimates of `histogram-sample`, it scores
only a share of the relevant documents and n other documents of the collection, chosen by hash and the same
for every model. The alternative is rescoring, where each model re-ranks only the first documents of BM25.
Models that expand the query find relevant documents that BM25 does not find, so the study reports how far
each estimate underrates them. Source: Krstovski, Smith and Kurtz 2015, section 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline import MODELS, Qrels, Run, build_index, read_qrels, read_queries, score, search
from leadline.data.arrays import Flags, Floats, Integers, sampling_keys
from leadline.data.ids import to_bytes, to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading
from leadline.data.table import ResultWarning, Table
from leadline.data.wording import percent
from leadline.estimation.histogram_result import HistogramOptions
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import judge
from leadline.io.read_paths import path_of
from leadline.io.texts import TextsLike
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Model
from leadline.stats.correlation import average_ranks
from leadline_studies import Claim, Given, Option, Outcome, at_least, parse_integers, with_options
from leadline_studies.common.pages import interval
from leadline_studies.common.tables import columns, sheet
from leadline_studies.histogram_sample.run_subsampler import RunSubsampler
from leadline_studies.histogram_sample.study import (
    ESTIMATES,
    LEAST,
    SHARED,
    Grid,
    Json,
    correlation_with_ap,
    correlations_by_cell,
    figures,
    spread,
    summary_lines,
    tracking_table,
)

CLAIM = Claim("HSA from a sample of scores follows MAP of the collection better than MAP of the same sample.")
ARGUMENTS = ("docs", "queries", "qrels")
FIRST = "BM25"  # whose first documents are rescored
TRIED = (
    "BM25",
    "BM25(k1=0.9,b=0.4)",
    "BM25(b=0)",
    "QLDirichlet",
    "QLDirichlet(mu=300)",
    "QLJelinekMercer",
    "QLJelinekMercer(collection=0.7)",
    "QLHiemstra",
    "SDM",
    "PL2",
    "In_expB2",
    "TFIDF(cosine)",
    "TF(dot)",
    "BM25RF",
    "BM25RF(docs=5)",
    "RM1",
    "RM3",
    "RM3(original=0.8)",
)
OPTIONS = (
    Option("model", str, "Retrieval model to try (repeatable).", TRIED),
    Option(
        "tops",
        str,
        "Numbers of documents to rescore from the top of the BM25 ranking.",
        "100,1000",
        metavar="K,K",
    ),
    *SHARED,
)


class Ranked(NamedTuple):
    """Results of every model: AP by query, whole (models x queries) and rescored (tops x ...), estimates."""

    exact: Floats
    rescored: Floats
    new: Floats
    estimates: Floats
    warnings: list[ResultWarning]


class Drawn(NamedTuple):
    """Pairs of a query: document codes, increasing, and the position of each in every sample."""

    document: Integers
    turn: Integers


class Task(NamedTuple):
    """Input of each model: the queries with relevant documents, and the pairs to score."""

    collection: Index
    queries: dict[str, str]
    table: Qrels
    level: float
    tops: list[int]
    first: Run
    drawn: dict[str, Drawn]
    pairs: dict[str, list[str]]


@with_options(OPTIONS)
def run(docs: Any, queries: Any, qrels: Any, given: Given) -> Outcome:
    """Run the study on a collection; `samples`, `shares` and `tops` are comma-separated numbers."""
    models = list(MODELS.expand_all(list(given.model)))
    at_least(LEAST, len(models), "models (--model)")
    table = read_qrels(qrels)
    recipe = HistogramOptions(bins=given.bins, rel=given.level, seed=given.seed).checked()
    grid = Grid.of(table, recipe, given.samples, given.shares, given.repeats, given.draws)
    index = build_index(docs)
    task = _task(index, queries, table, grid, parse_integers(given.tops, "tops"))
    of_models = _ranked(task, models, grid, given)
    exact, rescored = grid.means(of_models.exact), grid.means(of_models.rescored)
    learns = np.array([scores.learns for scores in models])
    names = list(map(str, models))
    data: Json = {
        "documents": index.documents,
        "queries": int((grid.times[0, 0] > 0).sum()),
        "models": _models(names, learns, of_models, exact, rescored, task.tops),
        "samples": grid.sizes,
        "shares": grid.shares,
        "tops": task.tops,
        "bins": given.bins,
        "repeats": given.repeats,
        "estimates": correlations_by_cell(grid, exact, of_models.estimates, None, given.draws),
        "mean_exact": float(exact[:, 0, 0].mean()),
        "underrated": _underrated(grid, exact, rescored, of_models.estimates, learns, task.tops),
    }
    inputs = [(path_of(docs), index.documents), (path_of(queries), len(task.queries))]
    return Outcome(
        data,
        tables(data),
        figures(data["estimates"], grid) | {"underrated": _figure(data)},
        [*summary_lines(data["estimates"], grid, len(models)), *rival_lines(data)],
        of_models.warnings,
        inputs,
        {"model": names},
    )


def _task(index: Index, queries: TextsLike, table: Qrels, grid: Grid, tops: list[int]) -> Task:
    """Return the pairs to score: relevant documents, and the largest sample of others of every seed."""
    wanted = {
        query: [name for name, grade in grades.items() if grade >= grid.recipe.rel]
        for query, grades in table.to_dict().items()
    }
    texts = {text.id: text.content for text in read_queries(queries) if wanted.get(text.id)}
    names = list(index.ids)
    drawn = {}
    for query in texts:
        relevant = index.document_codes(map(to_bytes, wanted[query]))
        drawn[query] = _pairs(names, query, relevant[relevant >= 0], grid)
    pairs = {
        query: [to_text(names[code]) for code in of_query.document.tolist()]
        for query, of_query in drawn.items()
    }
    first = next(iter(search(index, texts, FIRST, k=max(tops)).values()))
    return Task(index, texts, table, grid.recipe.rel, tops, first, drawn, pairs)


def _pairs(names: Sequence[bytes], query: str, relevant: Integers, grid: Grid) -> Drawn:
    """Draw the largest sample of every seed from the non-relevant documents."""
    size = max(grid.sizes)
    turn = np.full((len(grid.kept), len(names)), len(names))
    others = np.delete(np.arange(len(names)), relevant)
    ids = [names[code] for code in others.tolist()]
    for position, row in enumerate(turn):
        keys = sampling_keys(to_bytes(query), ids, grid.recipe.seed + position)
        chosen = np.argsort(keys, kind="stable")[:size]
        row[others[chosen]] = np.arange(len(chosen))
    turn[:, relevant] = -1
    scored = np.flatnonzero((turn < len(names)).any(axis=0))
    return Drawn(scored, turn[:, scored])


def _turns(task: Task, subsampler: RunSubsampler, ranked: Run) -> Integers:
    """Return the positions of a model's pairs in the samples: seeds x rows."""
    code_of_document = task.collection.document_codes(ranked.documents.names)
    codes = code_of_document[ranked.document[subsampler.rows.position]]
    query = subsampler.rows.query
    starts = np.flatnonzero(np.diff(query, prepend=-1)).tolist()
    orders = []
    for low, high in zip(starts, [*starts[1:], len(query)], strict=True):
        drawn = task.drawn[task.table.queries[int(query[low])]]
        orders.append(drawn.turn[:, np.searchsorted(drawn.document, codes[low:high])])
    return np.concatenate(orders, axis=1)


def _ranked(task: Task, models: Sequence[Model], grid: Grid, given: Given) -> Ranked:
    """Rank, rescore and score the pairs by every model."""
    exact, rescored, new, estimates = [], [], [], []
    lost = int((task.table.relevant(task.level) > 0).sum()) - len(task.queries)
    message = f"every model gets AP 0 for judged queries without a text: {lost}"
    warnings = {"lost_queries": ResultWarning("lost_queries", message, lost)} if lost else {}
    of_first = [_found(task, task.first, top) for top in task.tops]
    listed = task.first.to_dict()
    firsts = [{query: list(scores)[:top] for query, scores in listed.items()} for top in task.tops]
    size = task.table.relevant(task.level).sum()
    for model in given.each(models):
        full = search(task.collection, task.queries, model, k=task.collection.documents)
        exact.append(_ap(task, full[str(model)]))
        retrieved = [_found(task, full[str(model)], top) for top in task.tops]
        new.append([(flags & ~first).sum() / size for flags, first in zip(retrieved, of_first, strict=True)])
        rescored.append([_ap(task, _scored(task, model, first)) for first in firsts])
        scored = score(task.collection, task.queries, task.pairs, model)
        pairs = scored[str(model)]
        subsampler = RunSubsampler(_joined(task, pairs), grid.recipe, task.collection.documents)
        estimates.append(grid.estimates(subsampler, _turns(task, subsampler, pairs)))
        warnings |= {warning.code: warning for warning in (*full.warnings, *scored.warnings)}
    return Ranked(
        np.stack(exact),
        np.moveaxis(np.array(rescored), 1, 0),
        np.array(new).T,
        np.stack(estimates),
        list(warnings.values()),
    )


def _scored(task: Task, model: Model, pairs: dict[str, list[str]]) -> Run:
    return score(task.collection, task.queries, pairs, model)[str(model)]


def _ap(task: Task, ranked: Run) -> Floats:
    """Return AP of every query, 0 if undefined."""
    return np.nan_to_num(evaluate(task.table, ranked, "AP", rel=task.level).values[0, :, 0])


def _joined(task: Task, ranked: Run) -> JudgedRun:
    return judge(ranked, task.table, reading=Reading(), keep=True)[1]


def _found(task: Task, ranked: Run, top: int) -> Flags:
    """Return which judged rows are relevant and in the top documents."""
    judged = _joined(task, ranked)
    rows = judged.row[judged.rank <= top]
    flags = np.zeros(len(task.table.grades), dtype=np.bool_)
    flags[rows[task.table.grades[rows] >= task.level]] = True
    return flags


def _models(
    names: list[str], learns: Flags, of_models: Ranked, exact: Floats, rescored: Floats, tops: list[int]
) -> list[Json]:
    """Return MAP, MAP after rescoring and the documents that each model adds to BM25."""
    return [
        {
            "model": name,
            "expands": bool(learns[index]),
            "map": float(exact[index, 0, 0]),
            "rescored": {str(top): float(rescored[row, index, 0, 0]) for row, top in enumerate(tops)},
            "new": {str(top): float(of_models.new[row, index]) for row, top in enumerate(tops)},
        }
        for index, name in enumerate(names)
    ]


def _underrated(
    grid: Grid, exact: Floats, rescored: Floats, estimates: Floats, learns: Flags, tops: list[int]
) -> list[Json]:
    """Return how rescoring, and estimates from all relevant documents, rank models with expansion."""
    full_share = grid.shares.index(max(grid.shares))
    tried = {f"rescored, top {top}": rescored[row] for row, top in enumerate(tops)}
    tried |= {
        f"{name}, n = {size}": estimates[:, full_share, column, index]
        for index, name in enumerate(ESTIMATES)
        for column, size in enumerate(grid.sizes)
    }
    nothing = np.full(exact.shape[1:], np.nan)
    entries = []
    for name, values in tried.items():
        entry: Json = {"estimate": name} | correlation_with_ap(exact, values, nothing)
        del entry["over_ap"]
        entry["without_expansion"] = correlation_with_ap(exact[~learns], values[~learns], nothing)["pearson"]
        entry["places"] = spread(places_lost(exact, values, learns))
        if name.startswith("rescored"):
            entry["less"] = spread(_lost(exact, values, learns))
        entries.append(entry)
    return entries


def places_lost(exact: Floats, values: Floats, learns: Flags) -> Floats:
    """Return the mean number of ranks by which an estimate underrates expansion, by seed and draw."""
    differences = np.full(values.shape[1:], np.nan)
    for cell in np.ndindex(*differences.shape) if learns.any() else ():
        estimate = np.nan_to_num(values[:, *cell], nan=-np.inf)
        lower = average_ranks(exact[:, *cell]) - average_ranks(estimate)
        differences[cell] = lower[learns].mean()
    return differences


def _lost(exact: Floats, values: Floats, learns: Flags) -> Floats:
    """Return the additional proportion of MAP lost by models with expansion, by seed and draw."""
    if learns.all() or not learns.any():
        return np.full(values.shape[1:], np.nan)
    lost = 1 - values / np.maximum(exact, 1e-12)
    difference: Floats = lost[learns].mean(axis=0) - lost[~learns].mean(axis=0)
    return difference


def tables(data: Json) -> dict[str, Table]:
    """Return the tables: estimates, models, and the underrating of expansion."""
    tops = data["tops"]
    models = [row | {"yes": "yes" if row["expands"] else "no"} for row in data["models"]]
    heads = ["model", "expands=yes", "MAP=map", *(f"MAP, rescored {top}=rescored.{top}" for top in tops)]
    heads += [f"new relevant, {top}=new.{top}" for top in tops]
    parts = {"R": "pearson", "R without expansion": "without_expansion", "ranks lost by expansion": "places"}
    ends = {"": "value", ", low": "low", ", high": "high"}
    limits = [f"{head}{word}={part}.{key}" for head, part in parts.items() for word, key in ends.items()]
    return {
        "tracking": tracking_table(data["estimates"]),
        "models": sheet(models, heads, digits=3),
        "rescoring": sheet(data["underrated"], ["estimate", *limits, "rho=spearman", "mean"], digits=3),
    }


def _figure(data: Json) -> Any:
    from leadline.charts.interval_plots import forest

    middle = data["samples"][len(data["samples"]) // 2]
    shown = re.compile(rf"rescored|.*n = {middle}$")
    rows = [row for row in data["underrated"] if shown.match(row["estimate"])]
    label = f"ranks that models with expansion lose, of {len(data['models'])} (95 %)"
    ends = columns(rows, *(f"places.{key}" for key in ("value", "low", "high")))
    return forest([row["estimate"] for row in rows], *ends, label=label)


def rival_lines(data: Json) -> list[str]:
    """Return how rescoring tracks MAP, and what models with expansion lose by it."""
    conclusions = []
    for entry, top in zip(data["underrated"], data["tops"], strict=False):
        tracked = f"Rescoring the first {top} documents of BM25 has R {interval(entry['pearson'], '.3f')}"
        tracked += " with full MAP"
        new = [float(model["new"][str(top)]) for model in data["models"] if model["expands"]]
        if entry["places"]["value"] is None or not new or entry["less"]["value"] is None:
            conclusions.append(f"{tracked}.")
            continue
        conclusions.append(
            f"{tracked}, and {interval(entry['without_expansion'], '.3f')} without expansion. Models with "
            f"expansion find {percent(round(sum(new) / len(new), 3))} more of the relevant documents at "
            f"that depth. They lose {interval(entry['places'], '+.1f')} ranks, and "
            f"{interval(entry['less'], '+.3f')} more of their MAP than other models."
        )
    return conclusions
