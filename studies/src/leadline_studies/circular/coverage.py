"""Coverage of the intervals of `agreement --runs`, by simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leadline import agreement, read_qrels
from leadline.data.arrays import Floats
from leadline.judging.agreement_audit import Interval, audit, needed_judgments
from leadline.judging.agreement_result import Agreement
from leadline.stats.agreement_coefficients import Cohen, coded, confusions
from leadline.stats.correlation import kendall, tau_ap
from leadline_studies.common.coverage import covers
from leadline_studies.common.pages import find_runs

FLIPS = 1_999
DRAWS = 199
TOP = 10


def _covers(interval: Interval, truth: float) -> bool:
    return bool(covers(interval.low, interval.high, truth))


def audits(
    reference: Floats, labels: Floats, *, queries: int, sets: int = 200, seed: int = 0
) -> dict[str, float]:
    """Return the coverage of the intervals of an audit."""
    rng = np.random.default_rng([seed, queries])
    size, runs = reference.shape
    names = [str(run) for run in range(runs)]
    bias = (labels - reference).mean(axis=0)
    gain = (bias - bias.mean()) * runs / (runs - 1)
    rows: list[dict[str, float]] = []
    each_run = np.zeros(runs)
    for sample_number in range(sets):
        drawn = rng.integers(0, size, queries)
        values = reference[drawn], labels[drawn]
        result = audit(("", ""), "", names, *values, top=TOP, draws=DRAWS, seed=sample_number, flips=FLIPS)
        held = np.array([_covers(run.bias, bias[index]) for index, run in enumerate(result.runs)])
        each_run += held
        best = np.argsort(-values[0].mean(axis=0), kind="stable")[:TOP]
        row = {
            "bias": float(held.mean()),
            "mean_bias": float(_covers(result.bias, float(bias.mean()))),
            "gains": float(all(_covers(run.gain, gain[index]) for index, run in enumerate(result.runs))),
            "wrongly_favored": float(
                any(run.favored and gain[index] <= 0 for index, run in enumerate(result.runs))
            ),
        }
        for name, taus, chosen in (("all", result.taus, np.arange(runs)), ("top", result.top_taus, best)):
            means = reference[:, chosen].mean(axis=0), labels[:, chosen].mean(axis=0)
            truth = kendall(*means), tau_ap(means[1], means[0])
            for which, interval, value in zip(taus._fields, taus, truth, strict=True):
                row[f"{which}_{name}"] = float(_covers(interval, value))
                row[f"{which}_{name}_width"] = min(interval.high, 1.0) - max(interval.low, -1.0)
        rows.append(row)
    worst = {"bias_worst_run": float(each_run.min() / sets)}
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]} | worst


def kappas(tables: Floats, *, queries: int, sets: int = 1000, seed: int = 0) -> dict[str, float]:
    """Return the coverage of kappa plus and minus its jackknife half-width, and the design effect."""
    rng = np.random.default_rng([seed, queries])
    grades = np.arange(float(tables.shape[1]))
    whole = needed_judgments(("", ""), tables, Cohen(), grades)
    truth = whole.coefficient.value
    results: Sequence[Any] = [
        needed_judgments(("", ""), tables[rng.integers(0, len(tables), queries)], Cohen(), grades)
        for _ in range(sets)
    ]
    values = np.array([result.coefficient for result in results])
    held = covers(values[:, 1], values[:, 2], truth)
    return {"kappa": truth, "design_effect": whole.design_effect, "coverage": float(held.mean())}


JUDGES = ("llama70b-criteria", "flant5large-criteria")
MEASURES = ("P(rel=2)@10", "AP(rel=2)")
SIZES = (25, 43)
CHALLENGE = ("willia-umbrela1", "Olz-gpt4o", "TREMA-nuggets")


def every_interval(data: Path, *, sets: int = 200) -> dict[str, list[dict[str, Any]]]:
    """Simulate all cells: audits on TREC 2019 DL, kappa there and on the LLMJudge challenge."""
    folder = data / "trec-dl-2019-passage"
    labels = {name: data / "trec-dl-2019-machine-labels" / f"{name}.qrels" for name in JUDGES}
    runs = [str(path) for path in (*find_runs(folder), *sorted((folder / "extra-runs").iterdir()))]
    first = _agreement({"official": folder / "qrels.txt"} | labels, runs=runs, measures=MEASURES)
    assert first.ranking is not None
    rows = []
    for number, judge in enumerate(JUDGES, start=1):
        for measure, values in zip(MEASURES, first.ranking.by_query, strict=True):
            assert values is not None
            for queries in SIZES:
                cell: dict[str, Any] = {"judge": judge, "measure": measure, "queries": queries}
                rows.append(cell | audits(values[0], values[number], queries=queries, sets=sets))
    challenge = data / "llmjudge-dl23"
    others = {name: challenge / "judges" / f"{name}.qrels.txt" for name in CHALLENGE}
    second = _agreement({"people": challenge / "human.qrels.txt"} | others)
    kappa_rows: list[dict[str, Any]] = []
    for collection, names, result in (("TREC 2019 DL", JUDGES, first), ("LLMJudge", CHALLENGE, second)):
        judged = result.judgments
        values, codes = coded(judged.grades)
        for number, name in enumerate(names, start=1):
            both = codes[:, 0], codes[:, number], len(values)
            tables = confusions(*both, judged.query, len(judged.queries))
            for queries in (25, 50):
                one = {"collection": collection, "judge": name, "queries": queries}
                kappa_rows.append(one | kappas(tables, queries=queries, sets=5 * sets))
    return {"audits": rows, "kappas": kappa_rows}


def _agreement(judges: Mapping[str, Path], **how: Any) -> Agreement:
    """Compare judges with the first of them."""
    tables = {name: read_qrels(path) for name, path in judges.items()}
    return agreement(tables, reference=True, draws=0, **how)
