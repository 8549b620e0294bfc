"""Similar-document retrieval by a topic model, measured by full ranking, HSA, DO and perplexity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.estimation.histogram_result import overlap, slope
from leadline.evaluation.evaluate import evaluate
from leadline.io.read import QrelsLike
from leadline.topics.infer import from_roots, infer, perplexity, ranked
from leadline.topics.model import TopicModel, fit
from leadline_studies.common.scoring_time import seconds
from leadline_studies.histogram_topics.pairs import Pairs, TopicTexts, draw_pairs, relevant_pairs

T = TypeVar("T")
NORMS = ("query", "model")


class Task(NamedTuple):
    """Texts, relevant documents of each query, measure of rankings, and the pairs to score."""

    texts: TopicTexts
    relevant: Mapping[str, list[str]]
    measure: str
    own: bool
    pairs: Pairs
    drawing: float
    unknown: int = 0


class Setting(NamedTuple):
    """Results of one number of topics; `counts` by norm are queries x 2 x bins."""

    topics: int
    quality: Floats
    counts: dict[str, Floats]
    perplexity: float
    unknown: int
    empty: int
    seconds: dict[str, float]


def task_of(texts: TopicTexts, qrels: QrelsLike | None, given: Any) -> Task:
    """Return queries, relevant documents and sampled pairs; without qrels the translation is relevant."""
    own, seed = qrels is None, given.seed
    relevant, unknown = (
        ({name: [name] for name in texts.ids}, 0)
        if qrels is None
        else relevant_pairs(qrels, texts.ids, level=given.level, together=given.together)
    )
    if given.queries is not None and given.queries < len(relevant):
        chosen = np.random.default_rng([seed, 7]).choice(sorted(relevant), given.queries, replace=False)
        relevant = {name: relevant[name] for name in sorted(chosen.tolist())}
    drawing, pairs = seconds(lambda: draw_pairs(relevant, texts.ids, sample=given.sample, seed=seed, own=own))
    return Task(texts, relevant, "P@1" if own else "AP", own, pairs, drawing, unknown)


def measure_setting(task: Task, topics: int, given: Any) -> Setting:
    """Fit a model to the training texts and measure it in every way, with timing."""
    texts, pairs, seed, bins = task.texts, task.pairs, given.seed, given.bins
    spent: dict[str, float] = {}

    def clock(name: str, work: Callable[[], T]) -> T:
        spent[name], result = seconds(work)
        return result

    how = {"languages": texts.languages, "sweeps": given.sweeps, "seed": seed}
    model = fit(texts.train, topics, alpha=given.alpha_sum / topics, **how)
    held_out = clock(
        "perplexity", lambda: perplexity(model, texts.held_out, particles=given.particles, seed=seed)
    )
    query_roots, roots, unknown, empty = roots_of(model, task, seed)
    scores = clock("MAP scoring", lambda: np.stack([score_query(row, roots) for row in query_roots]))
    quality = clock("MAP computing", lambda: quality_of(task, scores))
    values = clock("HSA scoring", lambda: pair_scores(pairs, query_roots, roots))
    clock("HSA computing", lambda: slope(*pairs.histograms(values, bins=bins).sum(axis=0)))
    clock("DO computing", lambda: overlap(*pairs.histograms(values, bins=bins).sum(axis=0)))
    return Setting(
        topics,
        quality,
        {norm: pairs.histograms(values, norm=norm, bins=bins) for norm in NORMS},
        held_out.value,
        unknown,
        empty,
        spent,
    )


def roots_of(model: TopicModel, task: Task, seed: int) -> tuple[Floats, Floats, int, int]:
    """Return square roots of topic distributions of queries and documents, with counts of unknown tokens."""
    records, languages = task.texts.all, task.texts.languages
    document_topics = infer(model, records, seed=seed, language=languages[-1])
    query_topics = (
        document_topics if len(languages) == 1 else infer(model, records, seed=seed, language=languages[0])
    )
    position = {name: row for row, name in enumerate(query_topics.ids)}
    rows = [position[name] for name in task.relevant]
    sides = {id(side): side for side in (query_topics, document_topics)}.values()
    return (
        np.sqrt(query_topics.theta[rows]),
        np.sqrt(document_topics.theta),
        sum(side.unknown for side in sides),
        sum(side.empty for side in sides),
    )


def score_query(row: Floats, documents: Floats) -> Floats:
    """Score documents query by query, as in interactive search."""
    scores: Floats = from_roots(row[None], documents)[0]
    return scores


def pair_scores(pairs: Pairs, queries: Floats, documents: Floats) -> Floats:
    """Score only the pairs, query by query."""
    ends = np.searchsorted(pairs.query, np.arange(len(queries) + 1)).tolist()
    return np.concatenate(
        [
            score_query(row, documents[pairs.document[low:high]])
            for row, low, high in zip(queries, ends[:-1], ends[1:], strict=True)
        ]
    )


def quality_of(task: Task, scores: Floats) -> Floats:
    """Rank all documents for every query and return the measure, in the order of the queries."""
    names = list(task.relevant)
    run = ranked(lambda row: scores[row], names, task.texts.ids, k=len(task.texts.all), own=task.own)
    truth = {name: dict.fromkeys(wanted, 1) for name, wanted in task.relevant.items()}
    results = evaluate(truth, run, task.measure)
    values = dict(zip(results.queries, results.values[0, :, 0].tolist(), strict=True))
    return np.array([values[name] for name in names])
