"""Evaluate query performance prediction (QPP) and its use for selective query expansion.

Every predictor is correlated with the measure over the queries of each model: DeShaTo and its terms, Clarity,
NQC and WIG of the tail of the list, and query length as a control. Then each predictor chooses per query
between the first model and the second, which expands queries. There are three rules. `compare` expands a
query if the predictor is larger for the second list than for the first, `threshold` if it is above a
threshold for the first list, and `difference` if the second value minus the first is above a threshold.
Thresholds are learned on one half of the queries and used on the other half, over many random halvings. The
rules are ours, and the paper on DeShaTo gives no numbers for either use.
Sources: Ionescu, Chifu and Mothe 2015; Cronen-Townsend, Zhou and Croft 2002 and 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from leadline import Results, build_index, predict, read_documents, read_queries, search
from leadline.data.arrays import Flags, Floats
from leadline.data.optional import require
from leadline.data.table import Table, plain
from leadline.estimation.predict import over_queries
from leadline.estimation.predictors import DeShaTo
from leadline.evaluation.evaluate import evaluate
from leadline.io.read_paths import path_of
from leadline.io.texts import TextsLike
from leadline.retrieval.search import SearchResult
from leadline.stats import CORRECTIONS, INTERVALS, TESTS
from leadline.topics.infer import infer
from leadline.topics.model import fit
from leadline_studies import (
    SEED,
    SWEEPS,
    Claim,
    Given,
    Option,
    Outcome,
    at_least,
    models_of,
    one_measure,
    with_options,
)
from leadline_studies.common.tables import columns, sheet
from leadline_studies.query_prediction.text_predictors import with_text_predictors, with_values

CLAIM = Claim("DeShaTo predicts which queries do well and which to expand.")
ARGUMENTS = ("docs", "queries", "qrels")
SYSTEMS = ("QLDirichlet", "RM3", "BM25")
OPTIONS = (
    Option(
        "model", str, "Retrieval model to try (repeatable). The choice is between the first two.", SYSTEMS
    ),
    Option("measure", str, "Measure to predict.", "AP"),
    Option("topics", int, "Number of topics in each topic model.", 100),
    Option("fits", int, "Number of topic models to fit. DeShaTo is the mean over them.", 5),
    SWEEPS,
    Option("splits", int, "Number of random halvings of the queries per threshold.", 100),
    Option("draws", int, "Number of bootstrap resamples of queries.", 1000),
    SEED,
)
LEVEL = 0.95
RULES = ("compare", "threshold", "difference")


@with_options(OPTIONS)
def run(docs: Any, queries: Any, qrels: Any, given: Given) -> Outcome:
    """Run the study on a collection."""
    require("LDA of one language")
    models = models_of(given.model, 2)
    measures = one_measure(given.measure)
    index = build_index(docs)
    result = search(index, queries, models)
    results = evaluate(qrels, result, measures)
    predictions = with_text_predictors(predict(result, index=index, queries=queries), result, index, queries)
    prediction = _with_deshato(predictions, list(_deshato_by_fit(result, docs, given)))
    values_by_run = {
        name: dict(zip(results.queries, values, strict=True))
        for name, values in zip(results.names, results.averaged_values(0).tolist(), strict=True)
    }
    data = {
        "measure": str(results.measures[0]),
        "models": models,
        "documents": index.documents,
        "queries": len(results.queries),
        "topics": given.topics,
        "fits": given.fits,
        "splits": given.splits,
        "correlations": over_queries(
            prediction, values_by_run, draws=given.draws, confidence=LEVEL, seed=given.seed
        ),
        "expansion": select_models(prediction, results, given.splits, given.seed),
    }
    inputs = [(path_of(docs), index.documents), (path_of(queries), len(read_queries(queries)))]
    warnings = [*result.warnings, *results.warnings, *prediction.warnings]
    return Outcome(data, inputs, warnings, {"model": models})


def _deshato_by_fit(result: SearchResult, docs: TextsLike, given: Given) -> Iterator[Results]:
    """Return the predictions of DeShaTo by every topic model of all documents."""
    texts = {document.id: document.content for document in read_documents(docs)}
    for seed in given.each(range(given.seed, given.seed + given.fits)):
        model = fit(texts, given.topics, sweeps=given.sweeps, seed=seed)
        yield predict(result, DeShaTo.usual(), vectors=infer(model, texts, seed=seed))


def _with_deshato(predictions: Results, shapes: Sequence[Results]) -> Results:
    """Return the mean of DeShaTo over models, then the other predictors."""
    mean = np.mean([shape.values for shape in shapes], axis=0)
    values = np.concatenate([mean, predictions.values], axis=2)
    return with_values(predictions, [*shapes[0].measures, *predictions.measures], values)


def select_models(prediction: Results, results: Results, splits: int, seed: int) -> dict[str, Any]:
    """Select between the first two models by every predictor and rule, and test against the better one."""
    baseline, expanded = results.averaged_values(0)[:2]
    judged = ~np.isnan(baseline + expanded)
    codes = [prediction.queries.code(name) for name in results.queries]
    values_of_two = np.full((2, len(codes), len(prediction.measures)), np.nan)
    for index, code in enumerate(codes):
        if code is not None:
            values_of_two[:, index] = prediction.values[:2, code]
    baseline, expanded, values_of_two = baseline[judged], expanded[judged], values_of_two[:, judged]
    at_least(4, len(baseline), "queries to halve")
    gain = expanded - baseline
    halved = list(halves(len(gain), splits, seed))
    names = results.names[:2]
    shares: dict[tuple[str, str], Floats] = {
        ("always", names[0]): np.zeros(len(gain)),
        ("always", names[1]): np.ones(len(gain)),
        ("always", "the better one in the other half"): held_out(np.zeros(len(gain)), gain, halved),
        ("oracle", ""): (gain > 0).astype(np.float64),
    }
    for column, predictor in enumerate(map(str, prediction.measures)):
        first, second = values_of_two[:, :, column]
        difference = second - first
        shares[predictor, "threshold"] = held_out(first, gain, halved)
        if np.nan_to_num(difference).any():  # a property of the query alone does not differ
            shares[predictor, "compare"] = (difference > 0).astype(np.float64)
            shares[predictor, "difference"] = held_out(difference, gain, halved)
    better = max(names, key=lambda name: float((baseline + shares["always", name] * gain).mean()))
    values = np.stack([baseline + share * gain for share in shares.values()], axis=1)
    return {
        "between": names,
        "better": better,
        "queries": len(gain),
        "wins": int((gain > 0).sum()),
        "losses": int((gain < 0).sum()),
        "policies": _test_policies(shares, values, baseline + shares["always", better] * gain),
    }


def halves(size: int, splits: int, seed: int) -> Iterator[Flags]:
    """Return random halves of the queries, as flags of the first half."""
    rng = np.random.default_rng((seed, 8))
    for _ in range(splits):
        first = np.zeros(size, dtype=np.bool_)
        first[rng.permutation(size)[: size // 2]] = True
        yield first


def held_out(values: Floats, gain: Floats, halved: Sequence[Flags]) -> Floats:
    """Return the proportion of splits in which a query is expanded by the other half's threshold.

    >>> gain = np.array([0.1, -0.1, 0.2, -0.2])
    >>> held_out(gain, gain, [np.array([True, True, False, False])]).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    times = np.zeros(len(gain))
    for first in halved:
        for learn in (first, ~first):
            times[~learn] += values[~learn] > threshold(values[learn], gain[learn])
    return times / len(halved)


def threshold(values: Floats, gain: Floats) -> float:
    """Return the threshold with the largest total gain; ties go to the one that expands fewest.

    >>> threshold(np.array([1.0, 2.0, 3.0]), np.array([-0.1, 0.3, 0.1]))
    1.5
    """
    defined = ~np.isnan(values)
    order = np.argsort(-values[defined], kind="stable")
    ordered = values[defined][order]
    total = np.cumsum(gain[defined][order])
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], [True] * (len(ordered) > 0)))
    if not len(ends) or total[ends].max() <= 0:
        return np.inf
    best = int(ends[int(np.argmax(total[ends]))])
    if best + 1 == len(ordered):
        return -np.inf
    return float((ordered[best] + ordered[best + 1]) / 2)


def _test_policies(
    shares: dict[tuple[str, str], Floats], values: Floats, reference: Floats
) -> list[dict[str, Any]]:
    """Return the mean of each policy and its difference from the better model, with intervals and tests."""
    differences = values - reference[:, None]
    interval = INTERVALS.parse("Student")
    p = TESTS.parse("T").p_values(differences)
    chosen = np.array([first not in ("always", "oracle") for first, _ in shares])
    corrected = np.full(len(p), np.nan)
    corrected[chosen] = CORRECTIONS.parse("Holm").corrected(p[chosen])
    expanded = np.array([share.mean() for share in shares.values()])
    found: dict[str, Floats] = {}
    for middle, start, part in (("mean", "", values), ("difference", "difference_", differences)):
        low, high = interval.limits(part, level=LEVEL)
        found |= {middle: part.mean(axis=0), f"{start}low": low, f"{start}high": high}
    found |= {"p": p, "p_corrected": corrected, "expanded": expanded}
    return [
        {"policy": first, "rule": rule} | {name: plain(float(of[index])) for name, of in found.items()}
        for index, (first, rule) in enumerate(shares)
    ]


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the correlations and the choices."""
    tau = ["tau=kendall.value", "tau low=kendall.low", "tau high=kendall.high"]
    columns = ["model=run", "predictor", "queries", "Pearson=pearson.value", "low=pearson.low"]
    columns += ["high=pearson.high", *tau]
    choices = ["choice by=policy", "rule", f"mean {data['measure']}=mean", "low", "high", "expanded"]
    choices += [f"less always {data['expansion']['better']}=difference", "its low=difference_low"]
    choices += ["its high=difference_high", "p=p?", "p Holm=p_corrected?"]
    return {
        "correlations": sheet(data["correlations"], columns, digits=3),
        "expansion": sheet(data["expansion"]["policies"], choices),
    }


def figures(data: dict[str, Any]) -> dict[str, Any]:
    """Plot the correlations and selections from the JSON data."""
    from leadline_studies.common.figures import grouped_intervals

    def limits(rows: Iterable[dict[str, Any]], *keys: str) -> Any:
        return list(zip(*columns(rows, *keys), strict=True))

    names = list(dict.fromkeys(row["predictor"] for row in data["correlations"]))
    taus = [f"kendall.{end}" for end in ("value", "low", "high")]
    by_model = {
        model: limits([row for row in data["correlations"] if row["run"] == model], *taus)
        for model in data["models"]
    }
    policies = {(row["policy"], row["rule"]): row for row in data["expansion"]["policies"]}
    ends = ("difference", "difference_low", "difference_high")
    by_rule = {rule: limits([policies.get((name, rule), {}) for name in names], *ends) for rule in RULES}
    tau = f"Kendall's tau with {data['measure']} over queries (95 %)"
    gain = f"mean {data['measure']} less that of always {data['expansion']['better']} (95 %)"
    gain += f"; oracle {policies['oracle', '']['difference']:+.3f}"
    return {
        "correlations": grouped_intervals(names, by_model, label=tau),
        "expansion": grouped_intervals(names, by_rule, label=gain),
    }


def lines(data: dict[str, Any]) -> list[str]:
    """Return conclusions: the best predictor, DeShaTo, and the gain of selection."""
    conclusions = []
    for model in data["models"]:
        rows = [row for row in data["correlations"] if row["run"] == model]
        defined = [row for row in rows if row["kendall"]["value"] is not None]
        best = max(defined or rows, key=lambda row: row["kendall"]["value"] if defined else 0)
        deshato = next(row for row in rows if row["predictor"] == "DeShaTo(total)")
        conclusions.append(
            f"{model}: over queries, {best['predictor']} follows {data['measure']} best with {_tau(best)}. "
            f"DeShaTo(total) has {_tau(deshato)}."
        )
    return [*conclusions, _verdict(data["expansion"], data["measure"])]


def _tau(row: dict[str, Any]) -> str:
    """Return Kendall's tau with its interval, as text."""
    value, low, high = (row["kendall"][end] for end in ("value", "low", "high"))
    return "no tau" if value is None or low is None else f"tau {value:.2f} [{low:.2f}, {high:.2f}]"


def _verdict(expansion: dict[str, Any], measure: str) -> str:
    """Return whether any selection differs significantly from always using the better model."""
    policies = expansion["policies"]
    oracle = next(row for row in policies if row["policy"] == "oracle")
    tried = [row for row in policies if row["policy"] not in ("always", "oracle")]
    best = max(tried, key=lambda row: row["mean"])
    sure = [row for row in tried if row["p_corrected"] is not None and row["p_corrected"] < 1 - LEVEL]
    up = sum(row["difference"] > 0 for row in sure)
    ahead = oracle["mean"] - oracle["difference"]
    verdict = (
        f"{up} of {len(tried)} choices are significantly better than always {expansion['better']}"
        if up
        else f"no choice is significantly better than always {expansion['better']}"
    )
    worse = f", and {len(sure) - up} are worse" if len(sure) > up else ""
    return (
        f"The mean {measure} is {ahead:.3f} with always {expansion['better']}, {oracle['mean']:.3f} with "
        f"the oracle and {best['mean']:.3f} with the best choice ({best['policy']}, {best['rule']}): "
        f"{verdict}{worse} (p < 0.05, Holm)"
    )
