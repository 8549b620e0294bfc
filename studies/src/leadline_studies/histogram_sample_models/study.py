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
from leadline.stats.correlation import average_ranks
from leadline_studies import (
    Claim,
    Given,
    Option,
    Outcome,
    check_texts,
    models_of,
    parse_integers,
    with_options,
)
from leadline_studies.common.pages import interval
from leadline_studies.common.tables import columns, sheet
from leadline_studies.histogram_sample import study as of_runs
from leadline_studies.histogram_sample.run_subsampler import RunSubsampler
from leadline_studies.histogram_sample.study import (
    ESTIMATES,
    LEAST,
    Grid,
    Json,
    coefficients,
    correlations_by_cell,
    spread,
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
    *of_runs.OPTIONS,
)


class Drawn(NamedTuple):
    """Pairs of a query: document codes, increasing, and the position of each in every sample."""

    document: Integers
    turn: Integers


@with_options(OPTIONS)
def run(docs: Any, queries: Any, qrels: Any, given: Given) -> Outcome:
    """Run the study on a collection; `samples`, `shares` and `tops` are comma-separated numbers."""
    models = models_of(given.model, LEAST)
    table = read_qrels(qrels)
    recipe = HistogramOptions(bins=given.bins, rel=given.level, seed=given.seed).checked()
    grid = Grid.of(table, recipe, given.samples, given.shares, given.repeats, given.draws)
    tops = parse_integers(given.tops, "tops")
    index = build_index(docs)
    names = list(index.ids)
    drawn = _drawn(index, queries, table, grid)
    texts = {text.id: text.content for text in read_queries(queries) if text.id in drawn}
    check_texts(texts, queries)
    pairs = {query: [to_text(names[code]) for code in one.document.tolist()] for query, one in drawn.items()}
    asked = int((grid.times[0, 0] > 0).sum())
    lost = asked - len(texts)
    message = f"every model gets AP 0 for judged queries without a text: {lost}"
    warnings = {"lost_queries": ResultWarning("lost_queries", message, lost)} if lost else {}

    def joined(ranked: Run) -> JudgedRun:
        return judge(ranked, table, reading=Reading(), keep=True)[1]

    def ap(ranked: Run) -> Floats:
        return np.nan_to_num(evaluate(table, ranked, "AP", rel=given.level).values[0, :, 0])

    def found(ranked: Run) -> list[Flags]:
        judged = joined(ranked)
        return [
            np.isin(np.arange(len(table.grades)), judged.row[judged.rank <= top])
            & (table.grades >= given.level)
            for top in tops
        ]

    first = next(iter(search(index, texts, FIRST, k=max(tops)).values()))
    listed = first.to_dict()
    firsts = [{query: list(scores)[:top] for query, scores in listed.items()} for top in tops]
    of_first = found(first)
    whole, rescored, new, estimates = [], [], [], []
    for model in given.each(models):
        full = search(index, texts, model, k=index.documents)
        whole.append(ap(full[model]))
        more = [flags & ~known for flags, known in zip(found(full[model]), of_first, strict=True)]
        new.append([float(flags.sum() / table.relevant(given.level).sum()) for flags in more])
        rescored.append([ap(score(index, texts, listed_top, model)[model]) for listed_top in firsts])
        scored = score(index, texts, pairs, model)
        subsampler = RunSubsampler(joined(scored[model]), recipe, index.documents)
        turns = _turns(index, table, drawn, subsampler, scored[model])
        estimates.append(grid.estimates(subsampler, turns))
        warnings |= {warning.code: warning for warning in (*full.warnings, *scored.warnings)}
    exact, again = grid.means(np.stack(whole)), grid.means(np.array(rescored).swapaxes(0, 1))
    tried = np.stack(estimates)
    learns = np.array([MODELS.parse(model).learns for model in models])
    underrated = {f"rescored, top {top}": again[place] for place, top in enumerate(tops)} | {
        f"{name}, n = {size}": tried[:, grid.shares.index(max(grid.shares)), column, place]
        for place, name in enumerate(ESTIMATES)
        for column, size in enumerate(grid.sizes)
    }
    data: Json = {
        "documents": index.documents,
        "queries": asked,
        "models": [
            {
                "model": model,
                "expands": bool(learns[place]),
                "map": float(exact[place, 0, 0]),
                "rescored": dict(zip(map(str, tops), again[:, place, 0, 0].tolist(), strict=True)),
                "new": dict(zip(map(str, tops), new[place], strict=True)),
            }
            for place, model in enumerate(models)
        ],
        "samples": grid.sizes,
        "shares": grid.shares,
        "tops": tops,
        "bins": given.bins,
        "repeats": given.repeats,
        "estimates": correlations_by_cell(grid, exact, tried),
        "mean_exact": float(exact[:, 0, 0].mean()),
        "underrated": [
            {
                "estimate": name,
                "pearson": spread(coefficients(exact, values)),
                "without_expansion": spread(coefficients(exact[~learns], values[~learns])),
                "places": spread(places_lost(exact, values, learns)),
            }
            for name, values in underrated.items()
        ],
    }
    inputs = [(path_of(docs), index.documents), (path_of(queries), len(texts))]
    return Outcome(data, inputs, list(warnings.values()), {"model": models})


def _drawn(index: Index, queries: TextsLike, table: Qrels, grid: Grid) -> dict[str, Drawn]:
    """Return the pairs to score: relevant documents, and the largest sample of others of every seed."""
    names = list(index.ids)
    grades = table.to_dict()
    drawn = {}
    for query in (text.id for text in read_queries(queries)):
        wanted = [name for name, grade in grades.get(query, {}).items() if grade >= grid.recipe.rel]
        if wanted:
            relevant = index.document_codes(map(to_bytes, wanted))
            drawn[query] = _pairs(names, query, relevant[relevant >= 0], grid)
    return drawn


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


def _turns(
    index: Index, table: Qrels, drawn: dict[str, Drawn], subsampler: RunSubsampler, ranked: Run
) -> Integers:
    """Return the positions of a model's pairs in the samples: seeds x rows."""
    codes = index.document_codes(ranked.documents.names)[ranked.document[subsampler.rows.position]]
    query = subsampler.rows.query
    starts = np.flatnonzero(np.diff(query, prepend=-1)).tolist()
    orders = []
    for low, high in zip(starts, [*starts[1:], len(query)], strict=True):
        of_query = drawn[table.queries[int(query[low])]]
        orders.append(of_query.turn[:, np.searchsorted(of_query.document, codes[low:high])])
    return np.concatenate(orders, axis=1)


def places_lost(exact: Floats, values: Floats, learns: Flags) -> Floats:
    """Return the mean number of ranks by which an estimate underrates expansion, by seed and draw."""
    differences = np.full(values.shape[1:], np.nan)
    for cell in np.ndindex(*differences.shape) if learns.any() else ():
        estimate = np.nan_to_num(values[:, *cell], nan=-np.inf)
        lower = average_ranks(exact[:, *cell]) - average_ranks(estimate)
        differences[cell] = lower[learns].mean()
    return differences


def tables(data: Json) -> dict[str, Table]:
    """Return the tables: estimates, models, and the underrating of expansion."""
    tops = data["tops"]
    models = [row | {"yes": "yes" if row["expands"] else "no"} for row in data["models"]]
    heads = ["model", "expands=yes", "MAP=map", *(f"MAP, rescored {top}=rescored.{top}" for top in tops)]
    heads += [f"new relevant, {top}=new.{top}" for top in tops]
    parts = {"R": "pearson", "R without expansion": "without_expansion", "ranks lost by expansion": "places"}
    ends = {"": "value", ", low": "low", ", high": "high"}
    limits = [f"{head}{word}={part}.{key}" for head, part in parts.items() for word, key in ends.items()]
    return of_runs.tables(data) | {
        "models": sheet(models, heads, digits=3),
        "rescoring": sheet(data["underrated"], ["estimate", *limits], digits=3),
    }


def figures(data: Json) -> dict[str, Any]:
    """Draw the correlations, and the ranks that models with expansion lose."""
    from leadline.charts.interval_plots import forest

    middle = data["samples"][len(data["samples"]) // 2]
    shown = re.compile(rf"rescored|.*n = {middle}$")
    rows = [row for row in data["underrated"] if shown.match(row["estimate"])]
    label = f"ranks that models with expansion lose, of {len(data['models'])} (95 %)"
    ends = columns(rows, *(f"places.{key}" for key in ("value", "low", "high")))
    underrated = forest([row["estimate"] for row in rows], *ends, label=label)
    return of_runs.figures(data) | {"underrated": underrated}


def lines(data: Json) -> list[str]:
    """Return how samples and rescoring track MAP, and what models with expansion lose by it."""
    conclusions = of_runs.lines(data)
    for entry, top in zip(data["underrated"], data["tops"], strict=False):
        line = f"Rescoring the first {top} documents of BM25 has R {interval(entry['pearson'], '.3f')}"
        line += " with full MAP"
        new = [float(model["new"][str(top)]) for model in data["models"] if model["expands"]]
        if new:
            line += (
                f", and {interval(entry['without_expansion'], '.3f')} without expansion. Models with "
                f"expansion find {percent(round(sum(new) / len(new), 3))} more of the relevant documents at "
                f"that depth. They lose {interval(entry['places'], '+.1f')} ranks"
            )
        conclusions.append(f"{line}.")
    return conclusions
