"""Find which component of a retrieval system matters most: stemming, stop words or weighting.

Every text is indexed with and without stemming and with and without stop words, and searched with every
weighting. The effect of a component is what it adds to the measure per query, averaged over the settings of
the other components. Intervals and tests are paired by query. Source: the classic first experiment in
retrieval courses.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from leadline import Run, UsageError, build_index, read_queries, search
from leadline.data.arrays import Floats
from leadline.data.table import ResultWarning, Table, plain
from leadline.evaluation.evaluate import evaluate
from leadline.io.read_paths import path_of
from leadline.io.texts import TextsLike
from leadline.stats import CORRECTIONS, INTERVALS, TESTS
from leadline.stats.power import outcomes
from leadline.text.words import Words
from leadline_studies import Claim, Given, Option, Outcome, at_least, models_of, one_measure, with_options
from leadline_studies.common.tables import columns, sheet

CLAIM = Claim("Of stemming, stop words and weighting, weighting matters most.")
ARGUMENTS = ("docs", "queries", "qrels")
WEIGHTINGS = ("TF(dot)", "TF(cosine)", "TFIDF(dot)", "TFIDF(cosine)", "BM25")
OPTIONS = (
    Option(
        "model",
        str,
        "Retrieval model to use as weighting (repeatable). The first is the baseline.",
        WEIGHTINGS,
    ),
    Option("stem", str, "Stemmer to compare with no stemming.", "english", metavar="NAME"),
    Option("stop", str, "Stop word list to compare with no list.", "basic", metavar="NAME"),
    Option("measure", str, "Measure by which systems are compared.", "AP"),
)
LEVEL = 0.95
RULES = f"paired T, Student intervals of {100 * LEVEL:g} %, Holm over all effects"


class Grid(NamedTuple):
    """Values of every cell: stems x stop words x weightings x queries."""

    stem: str
    stop: str
    models: list[str]
    values: Floats


class Effects(NamedTuple):
    """Effects by name, and per query the gain: queries x effects."""

    names: list[tuple[str, str]]
    differences: Floats


@with_options(OPTIONS)
def run(docs: Any, queries: Any, qrels: Any, given: Given) -> Outcome:
    """Run the study on a collection."""
    models = models_of(given.model, 2, "weightings")
    if "none" in (given.stem, given.stop):
        raise UsageError(
            "--stem and --stop cannot be none, which is the baseline. Name a stemmer and a list."
        )
    wanted = one_measure(given.measure)  # refused before any work
    runs, warnings, documents = _runs(docs, queries, models, given)
    results = evaluate(qrels, runs, wanted)
    values = results.averaged_values(0)
    values = values[:, ~np.isnan(values).any(axis=0)]
    at_least(2, values.shape[1], f"queries with a value of {given.measure}")
    grid = Grid(given.stem, given.stop, models, values.reshape(2, 2, len(models), -1))
    data = {
        "measure": str(results.measures[0]),
        "queries": int(values.shape[1]),
        "rules": RULES,
        "documents": documents,
        "cells": _cells(grid),
        "effects": _test_effects(component_effects(grid)),
        "by_weighting": _test_effects(effects_by_weighting(grid)),
        "contests": _test_effects(component_contrasts(grid)),
    }
    inputs = [(path_of(docs), documents), (path_of(queries), len(read_queries(queries)))]
    return Outcome(data, inputs, [*warnings, *results.warnings], {"model": models})


def _runs(
    docs: TextsLike, queries: TextsLike, models: Sequence[str], given: Given
) -> tuple[dict[str, Run], list[ResultWarning], int]:
    """Return a run per cell, stems slowest and weightings fastest."""
    runs: dict[str, Run] = {}
    warnings: dict[str, ResultWarning] = {}
    documents = 0
    for stems, stops in given.each(product(("none", given.stem), ("none", given.stop))):
        analysis = str(Words(stem=stems, stop=stops))
        index = build_index(docs, analysis=analysis)
        documents = index.documents
        for model in models:
            result = search(index, queries, model)
            runs[f"{analysis} {model}"] = result[model]
            for notice in result.warnings:
                warnings[f"{analysis} {notice.code}"] = ResultWarning(
                    notice.code, f"{analysis}: {notice.message}", notice.count
                )
    return runs, list(warnings.values()), documents


def component_effects(grid: Grid) -> Effects:
    """Return the gain of each component per query, averaged over the settings of the others.

    >>> values = np.array([0.1, 0.2, 0.3, 0.4, 0.2, 0.3, 0.4, 0.5]).reshape(2, 2, 2, 1)
    >>> gains = component_effects(Grid("porter", "basic", ["TF(dot)", "BM25"], values))
    >>> gains.names
    [('stemming', 'none to porter'), ('stop words', 'none to basic'), ('weighting', 'TF(dot) to BM25')]
    >>> gains.differences.round(6).tolist()
    [[0.1, 0.2, 0.1]]
    """
    by_model = grid.values.mean(axis=(0, 1))
    names = [("stemming", f"none to {grid.stem}"), ("stop words", f"none to {grid.stop}")]
    names += [("weighting", f"{grid.models[0]} to {other}") for other in grid.models[1:]]
    columns = [
        (grid.values[1] - grid.values[0]).mean(axis=(0, 1)),
        (grid.values[:, 1] - grid.values[:, 0]).mean(axis=(0, 1)),
        *(by_model[1:] - by_model[0]),
    ]
    return Effects(names, np.stack(columns, axis=1))


def effects_by_weighting(grid: Grid) -> Effects:
    """Return the gains of stemming and stop word removal under each weighting."""
    stems = (grid.values[1] - grid.values[0]).mean(axis=0)
    stops = (grid.values[:, 1] - grid.values[:, 0]).mean(axis=0)
    names = [(component, text) for component in ("stemming", "stop words") for text in grid.models]
    return Effects(names, np.concatenate([stems, stops]).T)


def component_contrasts(grid: Grid) -> Effects:
    """Return the differences between the gains of two components per query."""
    gains = component_effects(grid)
    best = 2 + int(gains.differences[:, 2:].mean(axis=0).argmax())
    stems, stops, weighting = gains.differences[:, [0, 1, best]].T
    names = [("weighting", "stemming"), ("weighting", "stop words"), ("stemming", "stop words")]
    return Effects(names, np.stack([weighting - stems, weighting - stops, stems - stops], axis=1))


def _cells(grid: Grid) -> list[dict[str, Any]]:
    means = grid.values.mean(axis=-1)
    return [
        {"stem": stem, "stop": stop, "model": model, "mean": float(means[i, j, k])}
        for i, stem in enumerate(("none", grid.stem))
        for j, stop in enumerate(("none", grid.stop))
        for k, model in enumerate(grid.models)
    ]


def _test_effects(gains: Effects) -> list[dict[str, Any]]:
    """Return each effect with its interval and test; p is None if no query differs."""
    low, high = INTERVALS.parse("Student").limits(gains.differences, level=LEVEL, seed=0)
    p = TESTS.parse("T").p_values(gains.differences, seed=0)
    corrected = CORRECTIONS.parse("Holm").corrected(p)
    counts = outcomes(gains.differences)
    means = gains.differences.mean(axis=0)
    numbers = {"difference": means, "low": low, "high": high, "p": p, "p_corrected": corrected}
    return [
        {"component": component, "what": step}
        | {name: plain(float(values[column])) for name, values in numbers.items()}
        | {name: int(getattr(counts, name)[column]) for name in ("wins", "ties", "losses")}
        | {"told_apart": bool(corrected[column] < 1 - LEVEL)}
        for column, (component, step) in enumerate(gains.names)
    ]


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the mean of every cell, and the effects."""
    means: dict[tuple[str, str], list[float]] = {}
    for cell in data["cells"]:
        means.setdefault((cell["stem"], cell["stop"]), []).append(cell["mean"])
    models = dict.fromkeys(cell["model"] for cell in data["cells"])
    cells = Table(["stems", "stop words", *models], [[*key, *row] for key, row in means.items()])
    rest = [f"{data['measure']}=difference", "low", "high", "p=p?", "p Holm=p_corrected?"]
    rest += ["wins", "ties", "losses"]
    headings = {"effects": "step", "by_weighting": "weighting", "contests": "less"}
    return {"cells": cells} | {
        name: sheet(data[name], ["component", f"{heading}=what", *rest]) for name, heading in headings.items()
    }


def figures(data: dict[str, Any]) -> dict[str, Any]:
    """Draw the effects."""
    from leadline.charts.interval_plots import forest

    names = ["no change", *map(_short, data["effects"])]
    ends = ([0.0, *values] for values in columns(data["effects"], "difference", "low", "high"))
    label = f"difference in {data['measure']}, mean of {data['queries']} queries ({100 * LEVEL:g} %)"
    return {"effects": forest(names, *ends, label=label, reference=0)}


def _short(row: dict[str, Any]) -> str:
    """Return a short name of an effect for a figure."""
    new = str(row["what"]).rpartition(" to ")[2]
    return {"stemming": f"stems: {new}", "stop words": f"stop words: {new}"}.get(row["component"], new)


def lines(data: dict[str, Any]) -> list[str]:
    """Return conclusions on the gain of every component, and the best one."""
    conclusions = [
        f"{row['component']} ({row['what']}) changes {data['measure']} by {row['difference']:+.3f} "
        f"[{row['low']:+.3f}, {row['high']:+.3f}]: {_verdict(row)}"
        for row in data["effects"]
    ]
    return [*conclusions, f"The best component is {best_of(data)[1]}."]


def _verdict(row: dict[str, Any]) -> str:
    if not row["told_apart"]:
        return "no significant difference"
    return "a significant gain" if row["difference"] > 0 else "a significant loss"


def best_of(data: dict[str, Any]) -> tuple[str, str]:
    """Return the component with the largest best gain, and a sentence on its lead."""
    largest: dict[str, float] = {}
    for row in data["effects"]:
        name = row["component"]
        largest[name] = max(largest.get(name, row["difference"]), row["difference"])
    best = max(largest, key=largest.__getitem__)
    unsure = [
        ({row["component"], row["what"]} - {best}).pop()
        for row in data["contests"]
        if best in (row["component"], row["what"]) and not row["told_apart"]
    ]
    tail = (
        f"no significant difference from {' and '.join(unsure)}"
        if unsure
        else "a significant difference from both other components"
    )
    return best, f"{best} ({largest[best]:+.3f}), with {tail}"
