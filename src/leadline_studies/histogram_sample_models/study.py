"""Test whether HSA from a sample follows MAP better than MAP of that sample, over models.

Every model ranks the whole collection for its full MAP, and scores a share of the relevant documents and n
others of the collection (by hash, the same for every model) for the estimates of `histogram-sample`; ranks
are those within the sample. The rival is rescoring: each model re-ranks only the first documents of BM25.
Models that change the query by documents (expansion) find relevant documents that BM25 does not; how far
each estimate underrates them is said separately. Source: Krstovski, Smith and Kurtz 2015, section 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.hashing import keys_of
from leadline.data.ids import to_bytes, to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import Qrels
from leadline.data.reading import Reading
from leadline.data.results import ResultWarning
from leadline.data.run import Run
from leadline.data.wording import percent
from leadline.errors import UsageError
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.estimation.score_histograms.subsampling import RunSubsampler
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import judge
from leadline.io.read import QrelsLike, read_qrels
from leadline.io.texts import TextsLike, name_of, read_queries
from leadline.reporting.render import Cell, Table
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import MODELS, Model
from leadline.retrieval.search import score, search
from leadline.stats.correlation import average_ranks
from leadline_studies import Option, Outcome, Tell, whole_numbers
from leadline_studies.histogram_sample.study import (
    ESTIMATES,
    LEAST,
    SHARED,
    Found,
    Grid,
    against,
    figures,
    lines_of,
    sheet,
    spread,
    tracked,
)

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
    Option("model", str, "Retrieval model (repeatable).", TRIED, metavar="MODEL", many=True),
    Option("tops", str, "Numbers of BM25's first documents that are rescored.", "100,1000", metavar="K,K"),
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


def run(
    docs: TextsLike,
    queries: TextsLike,
    qrels: QrelsLike,
    *,
    model: Sequence[str] = TRIED,
    tops: str = "100,1000",
    level: float = 1.0,
    samples: str = "10,30,100,300",
    shares: str = "25,50,75,100",
    bins: int = 10,
    repeats: int = 10,
    draws: int = 200,
    seed: int = 0,
    on_run: Tell | None = None,
) -> Outcome:
    """Run the study on a collection; `samples`, `shares` and `tops` are comma-separated numbers."""
    models = list(MODELS.expand_all(list(model)))
    if len(models) < LEAST:
        raise UsageError(f"{len(models)} models; expected {LEAST} or more")
    table = read_qrels(qrels)
    recipe = HistogramOptions(bins=bins, rel=level, seed=seed).checked()
    grid = Grid.of(table, recipe, samples, shares, repeats, draws)
    index = build_index(docs)
    task = _task(index, queries, table, grid, whole_numbers(tops, "tops"))
    found = _ranked(task, models, grid, on_run)
    exact, rescored = grid.means(found.exact), grid.means(found.rescored)
    learns = np.array([one.learns for one in models])
    names = list(map(str, models))
    data: Found = {
        "documents": index.documents,
        "queries": int((grid.times[0, 0] > 0).sum()),
        "models": _models(names, learns, found, exact, rescored, task.tops),
        "samples": grid.sizes,
        "shares": grid.shares,
        "tops": task.tops,
        "bins": bins,
        "repeats": repeats,
        "estimates": tracked(grid, exact, found.estimates, None, draws),
        "mean_exact": float(exact[:, 0, 0].mean()),
        "underrated": _underrated(grid, exact, rescored, found.estimates, learns, task.tops),
    }
    inputs = [(name_of(docs), index.documents), (name_of(queries), len(task.queries))]
    return Outcome(
        data,
        tables(data),
        figures(data["estimates"], grid) | {"underrated": _figure(data)},
        [*lines_of(data["estimates"], grid), *rival_lines(data)],
        found.warnings,
        inputs,
        {
            "model": names,
            "tops": tops,
            "level": level,
            "samples": samples,
            "shares": shares,
            "bins": bins,
            "repeats": repeats,
            "draws": draws,
            "seed": seed,
        },
    )


def _task(index: Index, queries: TextsLike, table: Qrels, grid: Grid, tops: list[int]) -> Task:
    """Return the pairs to score: relevant documents, and the largest sample of others of every seed."""
    wanted = {
        query: [name for name, grade in grades.items() if grade >= grid.recipe.rel]
        for query, grades in table.to_dict().items()
    }
    texts = {one.id: one.content for one in read_queries(queries) if wanted.get(one.id)}
    names = list(index.ids)
    drawn = {}
    for query in texts:
        relevant = index.document_codes(map(to_bytes, wanted[query]))
        drawn[query] = _pairs(names, query, relevant[relevant >= 0], grid)
    pairs = {query: [to_text(names[code]) for code in one.document.tolist()] for query, one in drawn.items()}
    first = next(iter(search(index, texts, FIRST, k=max(tops)).values()))
    return Task(index, texts, table, grid.recipe.rel, tops, first, drawn, pairs)


def _pairs(names: Sequence[bytes], query: str, relevant: Integers, grid: Grid) -> Drawn:
    """Draw the largest sample of every seed from the non-relevant documents."""
    size = max(grid.sizes)
    turn = np.full((len(grid.kept), len(names)), len(names))
    others = np.delete(np.arange(len(names)), relevant)
    ids = [names[code] for code in others.tolist()]
    for place, row in enumerate(turn):
        keys = keys_of(to_bytes(query), ids, grid.recipe.seed + place)
        chosen = np.argsort(keys, kind="stable")[:size]
        row[others[chosen]] = np.arange(len(chosen))
    turn[:, relevant] = -1
    scored = np.flatnonzero((turn < len(names)).any(axis=0))
    return Drawn(scored, turn[:, scored])


def _turns(task: Task, thinned: RunSubsampler, ranked: Run) -> Integers:
    """Return the positions of a model's pairs in the samples: seeds x rows."""
    known = task.collection.document_codes(ranked.documents.names)
    codes = known[ranked.document[thinned.rows.place]]
    query = thinned.rows.query
    starts = np.flatnonzero(np.diff(query, prepend=-1)).tolist()
    found = []
    for low, high in zip(starts, [*starts[1:], len(query)], strict=True):
        drawn = task.drawn[task.table.queries[int(query[low])]]
        found.append(drawn.turn[:, np.searchsorted(drawn.document, codes[low:high])])
    return np.concatenate(found, axis=1)


def _ranked(task: Task, models: Sequence[Model], grid: Grid, on_run: Tell | None) -> Ranked:
    """Rank, rescore and score the pairs by every model."""
    exact, rescored, new, estimates = [], [], [], []
    lost = int((task.table.relevant(task.level) > 0).sum()) - len(task.queries)
    words = f"judged queries without a text: {lost}; AP 0 for every model"
    warnings = {"lost_queries": ResultWarning("lost_queries", words, lost)} if lost else {}
    of_first = [_found(task, task.first, top) for top in task.tops]
    listed = task.first.to_dict()
    firsts = [{query: list(one)[:top] for query, one in listed.items()} for top in task.tops]
    size = task.table.relevant(task.level).sum()
    for done, model in enumerate(models, start=1):
        whole = search(task.collection, task.queries, model, k=task.collection.documents)
        exact.append(_ap(task, whole[str(model)]))
        here = [_found(task, whole[str(model)], top) for top in task.tops]
        new.append([(one & ~first).sum() / size for one, first in zip(here, of_first, strict=True)])
        rescored.append([_ap(task, _scored(task, model, first)) for first in firsts])
        given = score(task.collection, task.queries, task.pairs, model)
        pairs = given[str(model)]
        thinned = RunSubsampler(_joined(task, pairs), grid.recipe, task.collection.documents)
        estimates.append(grid.estimates(thinned, _turns(task, thinned, pairs)))
        warnings |= {one.code: one for one in (*whole.warnings, *given.warnings)}
        if on_run is not None:
            on_run(done, len(models))
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
    names: list[str], learns: Flags, found: Ranked, exact: Floats, rescored: Floats, tops: list[int]
) -> list[Found]:
    """Return MAP, MAP after rescoring and the documents that each model adds to BM25."""
    return [
        {
            "model": name,
            "expands": bool(learns[place]),
            "map": float(exact[place, 0, 0]),
            "rescored": {str(top): float(rescored[row, place, 0, 0]) for row, top in enumerate(tops)},
            "new": {str(top): float(found.new[row, place]) for row, top in enumerate(tops)},
        }
        for place, name in enumerate(names)
    ]


def _underrated(
    grid: Grid, exact: Floats, rescored: Floats, estimates: Floats, learns: Flags, tops: list[int]
) -> list[Found]:
    """Return how rescoring, and estimates from all relevant documents, rank models with expansion."""
    whole = grid.shares.index(max(grid.shares))
    tried = {f"rescored, top {top}": rescored[row] for row, top in enumerate(tops)}
    tried |= {
        f"{name}, n = {size}": estimates[:, whole, column, place]
        for place, name in enumerate(ESTIMATES)
        for column, size in enumerate(grid.sizes)
    }
    nothing = np.full(exact.shape[1:], np.nan)
    found = []
    for name, values in tried.items():
        entry = {"estimate": name} | {
            key: one for key, one in against(exact, values, nothing).items() if key != "over_ap"
        }
        fixed_queries = against(exact[~learns], values[~learns], nothing)
        entry["without_expansion"] = fixed_queries["pearson"]
        entry["places"] = spread(places_lost(exact, values, learns))
        if name.startswith("rescored"):
            entry["less"] = spread(_lost(exact, values, learns))
        found.append(entry)
    return found


def places_lost(exact: Floats, values: Floats, learns: Flags) -> Floats:
    """Return the mean number of ranks by which an estimate underrates expansion, by seed and draw."""
    found = np.full(values.shape[1:], np.nan)
    for place in np.ndindex(*found.shape) if learns.any() else ():
        estimate = np.nan_to_num(values[:, *place], nan=-np.inf)
        lower = average_ranks(exact[:, *place]) - average_ranks(estimate)
        found[place] = lower[learns].mean()
    return found


def _lost(exact: Floats, values: Floats, learns: Flags) -> Floats:
    """Return the additional proportion of MAP lost by models with expansion, by seed and draw."""
    if learns.all() or not learns.any():
        return np.full(values.shape[1:], np.nan)
    lost = 1 - values / np.maximum(exact, 1e-12)
    found: Floats = lost[learns].mean(axis=0) - lost[~learns].mean(axis=0)
    return found


def tables(data: Found) -> dict[str, Table]:
    """Return the tables: estimates, models, and the underrating of expansion."""
    tops = list(map(str, data["tops"]))
    models: list[list[Cell]] = [
        [
            one["model"],
            "yes" if one["expands"] else "no",
            one["map"],
            *(one["rescored"][top] for top in tops),
            *(one["new"][top] for top in tops),
        ]
        for one in data["models"]
    ]
    heads = [
        "model",
        "expands",
        "MAP",
        *(f"MAP, rescored {top}" for top in tops),
        *(f"new relevant, {top}" for top in tops),
    ]
    parts = ("pearson", "without_expansion", "places")
    rivals: list[list[Cell]] = [
        [
            one["estimate"],
            *(one[part][key] for part in parts for key in ("value", "low", "high")),
            one["spearman"],
            one["mean"],
        ]
        for one in data["underrated"]
    ]
    limits = [
        f"{name}{end}"
        for name in ("R", "R without expansion", "places lost by expansion")
        for end in ("", ", low", ", high")
    ]
    return {
        "tracking": sheet(data["estimates"]),
        "models": Table(heads, models, digits=3),
        "rescoring": Table(["estimate", *limits, "rho", "mean"], rivals, digits=3),
    }


def _figure(data: Found) -> Any:
    from leadline.reporting.plots.interval_plots import forest

    middle = data["samples"][len(data["samples"]) // 2]
    rows = [
        one
        for one in data["underrated"]
        if one["estimate"].startswith("rescored") or one["estimate"].endswith(f"n = {middle}")
    ]
    ends = [
        [np.nan if one["places"][key] is None else one["places"][key] for one in rows]
        for key in ("value", "low", "high")
    ]
    label = f"places that models with expansion lose, of {len(data['models'])} (95 %)"
    return forest([one["estimate"] for one in rows], *ends, label=label)


def rival_lines(data: Found) -> list[str]:
    """Return how rescoring tracks MAP, and what models with expansion lose by it."""
    found = []
    models = data["models"]
    for one, top in zip(data["underrated"], data["tops"], strict=False):
        new = [float(each["new"][str(top)]) for each in models if each["expands"]]
        if one["places"]["value"] is None or not new or one["less"]["value"] is None:
            found.append(f"rescoring BM25's first {top}: R {_text(one['pearson'])} with full MAP")
            continue
        share = percent(round(sum(new) / len(new), 3))
        found.append(
            f"rescoring BM25's first {top}: R with full MAP {_text(one['pearson'])}, without expansion "
            f"{_text(one['without_expansion'])}; models that expand (they find {share} more of the relevant "
            f"documents among as many) lose {_text(one['places'], '+.1f')} places and "
            f"{_text(one['less'], '+.3f')} of their MAP more than the others"
        )
    return found


def _text(one: Found, form: str = ".3f") -> str:
    low, middle, high = (
        "-" if one[key] is None else format(one[key], form) for key in ("low", "value", "high")
    )
    return f"{middle} [{low}, {high}]"
