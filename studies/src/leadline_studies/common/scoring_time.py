"""Processor time of scoring relevant documents and a sample, against a full ranking and evaluation."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from leadline import Qrels, histogram, score, search
from leadline.data.table import Table
from leadline.evaluation.evaluate import evaluate
from leadline.retrieval.index.reader import Index
from leadline_studies import Given
from leadline_studies.common.tables import sheet
from leadline_studies.common.tracking import MEASURES

T = TypeVar("T")


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
    pairs: Mapping[int, Mapping[str, Sequence[str]]],
    given: Given,
) -> dict[str, Any]:
    """Return median times of every model by both ways over rounds, and their ratios."""
    level = given.level

    def ranked(model: str) -> None:
        index.made.pop("windows", None)
        evaluate(qrels, search(index, queries, model, k=depth), MEASURES, rel=level)

    def scored(model: str, size: int) -> None:
        index.made.pop("windows", None)
        histogram(qrels, score(index, queries, pairs[size], model), rel=level, draws=0)

    rows: list[dict[str, Any]] = []
    totals = np.zeros(1 + len(pairs))
    for model in models:
        ranked(model)  # what is read once is read
        works = [partial(ranked, model), *(partial(scored, model, size) for size in pairs)]
        table = np.array([[seconds(work)[0] for work in works] for _ in range(given.time)])
        medians = np.median(table, axis=0)
        totals += medians
        ratios = np.median(table[:, :1] / np.maximum(table[:, 1:], 1e-9), axis=0)
        samples = [
            {"seconds": spent, "ratio": ratio}
            for spent, ratio in zip(medians[1:].tolist(), ratios.tolist(), strict=True)
        ]
        rows.append({"model": model, "seconds": float(medians[0])} | {"samples": _by_size(pairs, samples)})
    return {
        "rounds": given.time,
        "unit": "processor seconds of all queries, median of the rounds",
        "machine": machine(),
        "models": rows,
        "all_models": _by_size(pairs, [{"ratio": ratio} for ratio in (totals[0] / totals[1:]).tolist()]),
    }


def _by_size(sizes: Iterable[int], entries: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    return dict(zip(map(str, sizes), entries, strict=True))


def time_table(data: dict[str, Any]) -> Table:
    """Return the times as a table."""
    heads = ["model", "ranking s=seconds"]
    for size in data["all_models"]:
        heads += [f"scoring s, n = {size}=samples.{size}.seconds", f"ratio, n = {size}=samples.{size}.ratio"]
    return sheet(data["models"], heads, digits=3)


def time_lines(data: dict[str, Any]) -> list[str]:
    """Return sentences on the cost of scoring relative to ranking, by sample size."""
    lines = []
    for size, entry in data["all_models"].items():
        ratios = {row["model"]: row["samples"][size]["ratio"] for row in data["models"]}
        least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        lines.append(
            f"Time, n = {size}: ranking and evaluating everything takes {ratios[least]:.2f} ({least}) to "
            f"{ratios[most]:.2f} ({most}) times as long as scoring the sample. Over all models, it "
            f"takes {entry['ratio']:.2f} times as long."
        )
    return lines
