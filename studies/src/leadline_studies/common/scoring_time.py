"""Processor time of scoring relevant documents and a sample, against a full ranking and evaluation."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from leadline import Qrels, histogram, score, search
from leadline.data.table import Table
from leadline.estimation.score_sets import pairs_to_score
from leadline.evaluation.evaluate import evaluate
from leadline.retrieval.index.reader import Index
from leadline_studies import Given
from leadline_studies.common.tables import sheet
from leadline_studies.common.tracking import MEASURES

T = TypeVar("T")
SEARCH, EVALUATE, SCORE, HISTOGRAM = "search", "evaluate", "score", "histogram"


def seconds(work: Callable[[], T]) -> tuple[float, T]:
    """Return the processor time of a call in seconds, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def machine() -> str:
    """Return a description of the machine used for timing."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}"
    )


def times_of(
    index: Index,
    queries: Mapping[str, str],
    qrels: Qrels,
    models: Sequence[str],
    depth: int,
    sizes: Sequence[int],
    documents: Sequence[str],
    given: Given,
) -> dict[str, Any]:
    """Return median times of every model by both ways, over rounds, and their ratios."""
    level, rounds = given.level, given.time
    pairs = partial(pairs_to_score, qrels, documents, seed=given.seed, rel=level)
    samples = {size: seconds(partial(pairs, sample=size)) for size in sizes}
    drawing = {size: spent for size, (spent, _) in samples.items()}

    def ranked(model: str) -> list[float]:
        index.made.pop("windows", None)
        search_time, runs = seconds(lambda: search(index, queries, model, k=depth))
        return [search_time, seconds(lambda: evaluate(qrels, runs, MEASURES, rel=level))[0]]

    def scored(model: str, size: int) -> list[float]:
        index.made.pop("windows", None)
        score_time, runs = seconds(lambda: score(index, queries, samples[size][1], model))
        return [score_time, seconds(lambda: histogram(qrels, runs, rel=level, draws=0))[0]]

    rows: list[dict[str, Any]] = []
    for model in models:
        ranked(model)  # what is read once is read
        table = [[ranked(model), *(scored(model, size) for size in sizes)] for _ in range(rounds)]
        rows.append(_row(model, np.array(table), sizes))
    return {
        "rounds": rounds,
        "unit": "processor seconds of all queries, median of the rounds",
        "machine": machine(),
        "drawing": {str(size): spent for size, spent in drawing.items()},
        "models": rows,
        "all_models": _totals(rows, drawing),
    }


def _row(model: str, table: Any, sizes: Sequence[int]) -> dict[str, Any]:
    """Return one row of rounds x (ranking, each size) x (first, second part)."""
    medians = np.median(table, axis=0).tolist()
    totals = table.sum(axis=2)
    ratios = np.median(totals[:, :1] / np.maximum(totals[:, 1:], 1e-9), axis=0).tolist()
    samples = {
        str(size): {SCORE: parts[0], HISTOGRAM: parts[1], "ratio": ratio}
        for size, parts, ratio in zip(sizes, medians[1:], ratios, strict=True)
    }
    return {"model": model, SEARCH: medians[0][0], EVALUATE: medians[0][1], "samples": samples}


def _totals(rows: list[dict[str, Any]], drawing: dict[int, float]) -> dict[str, Any]:
    """Return the overall ratio, the time of sampling counted as scoring."""
    ranking = sum(row[SEARCH] + row[EVALUATE] for row in rows)
    ratios = {}
    for size, sampling_time in drawing.items():
        parts = [row["samples"][str(size)] for row in rows]
        scoring = sum(part[SCORE] + part[HISTOGRAM] for part in parts)
        ratios[str(size)] = {
            "ratio": ranking / max(scoring, 1e-9),
            "ratio_with_drawing": ranking / max(scoring + sampling_time, 1e-9),
        }
    return ratios


def time_table(data: dict[str, Any]) -> Table:
    """Return the times as a table."""
    parts = (("score s", SCORE), ("histogram s", HISTOGRAM), ("ratio", "ratio"))
    heads = ["model", f"search s={SEARCH}", f"evaluate s={EVALUATE}"]
    heads += [f"{word}, n = {n}=samples.{n}.{key}" for n in data["drawing"] for word, key in parts]
    return sheet(data["models"], heads, digits=3)


def time_lines(data: dict[str, Any]) -> list[str]:
    """Return sentences on the cost of scoring relative to ranking, by sample size."""
    lines = []
    for size, entry in data["all_models"].items():
        ratios = {row["model"]: row["samples"][size]["ratio"] for row in data["models"]}
        least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        lines.append(
            f"Time, n = {size}: ranking and evaluating everything takes {ratios[least]:.2f} ({least}) to "
            f"{ratios[most]:.2f} ({most}) times as long as scoring the sample. Over all models, it takes "
            f"{entry['ratio']:.2f} times as long, or {entry['ratio_with_drawing']:.2f} with drawing the "
            "sample once."
        )
    return lines
