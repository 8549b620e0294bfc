"""Write what repro_eval computes of small experiments, for tests/comparison/repro_eval_values.json.

    python benchmarks/peers/repro_eval_values.py > repro_eval_values.json

Needs repro_eval (tried: 0.5.0) and its requirements, in an environment of their own. The functions of
`repro_eval.measure` are called; its tests hold no values. Kendall's tau union is computed twice: with ids as
they are, which repro_eval sorts to make the union, and with ids that sort as the union of the original list
and then the other documents of the reproduced one.
"""

from __future__ import annotations

import json
import random
import sys
import types
from typing import Any

import scipy.stats

if "scipy.stats.stats" not in sys.modules:  # the name under which repro_eval imports SciPy's tests is gone
    sys.modules["scipy.stats.stats"] = types.ModuleType("scipy.stats.stats")
    vars(sys.modules["scipy.stats.stats"]).update(
        {name: getattr(scipy.stats, name) for name in ("kendalltau", "ttest_rel", "ttest_ind")}
    )

import ir_measures
from repro_eval.measure.document_order import KTU, RBO
from repro_eval.measure.effectiveness import RMSE, nRMSE
from repro_eval.measure.overall_effects import DRI, ER
from repro_eval.measure.statistics import ttest
from repro_eval.util import evaluate_run

DEPTH, DOCUMENTS, RELEVANT = 50, 80, 12
MEASURES = ["AP", "nDCG@10", "P@10"]
Lists = dict[str, list[str]]


def lists_of(queries: list[str], qrels: dict[str, Any], noise: float, seed: int) -> Lists:
    """Return ranked lists in which relevant documents tend to the top."""
    generator = random.Random(seed)
    lists = {}
    for query in queries:
        scores = {
            f"d{number:02d}": generator.gauss(qrels[query].get(f"d{number:02d}", 0), noise)
            for number in range(DOCUMENTS)
        }
        lists[query] = sorted(scores, key=scores.__getitem__, reverse=True)[:DEPTH]
    return lists


def perturbed(lists: Lists, spread: float, seed: int) -> Lists:
    """Return lists with documents moved by a few ranks, and some replaced."""
    generator = random.Random(seed)
    found = {}
    for query, ranked in lists.items():
        others = [f"d{number:02d}" for number in range(DOCUMENTS) if f"d{number:02d}" not in ranked]
        kept = [others.pop() if generator.random() < 0.05 else name for name in ranked]
        place = {name: rank + generator.gauss(0, spread) for rank, name in enumerate(kept)}
        found[query] = sorted(kept, key=place.__getitem__)
    return found


def scored(lists: Lists) -> dict[str, dict[str, float]]:
    """Return lists with falling scores."""
    return {
        query: {name: float(DEPTH - rank) for rank, name in enumerate(names)}
        for query, names in lists.items()
    }


def renamed(original: Lists, reproduced: Lists) -> tuple[Lists, Lists]:
    """Return both lists with ids that sort in the order of the union, the original documents first."""
    pairs: tuple[Lists, Lists] = ({}, {})
    for query, first in original.items():
        union = dict.fromkeys([*first, *reproduced[query]])
        name = {document: f"{number:04d}" for number, document in enumerate(union)}
        pairs[0][query], pairs[1][query] = (
            [name[one] for one in part] for part in (first, reproduced[query])
        )
    return pairs


def experiment(seed: int, queries: int) -> dict[str, Any]:
    """Return judgments and the lists of an original experiment."""
    generator = random.Random(seed)
    names = [f"q{number:02d}" for number in range(queries)]
    qrels = {
        query: {f"d{generator.randrange(DOCUMENTS):02d}": generator.randint(0, 2) for _ in range(RELEVANT)}
        for query in names
    }
    base, advanced = (lists_of(names, qrels, noise, seed + 1) for noise in (1.6, 1.0))
    return {"qrels": qrels, "baseline": base, "advanced": advanced}


def values_of(qrels: dict[str, Any], lists: Lists) -> dict[str, dict[str, float]]:
    """Return the values of queries, as repro_eval computes them."""
    found: dict[str, dict[str, float]] = evaluate_run(
        [ir_measures.parse_measure(name) for name in MEASURES], qrels, scored(lists)
    )
    return found


def main() -> None:
    """Print data and values."""
    original = experiment(1, 12)
    reproduced = {
        run: perturbed(original[run], 3.0, seed) for seed, run in enumerate(("baseline", "advanced"))
    }
    other = experiment(7, 15)
    runs = ("baseline", "advanced")
    first = {run: values_of(original["qrels"], original[run]) for run in runs}
    second = {run: values_of(original["qrels"], reproduced[run]) for run in runs}
    third = {run: values_of(other["qrels"], other[run]) for run in runs}
    found: dict[str, Any] = {"reproduction": {}, "replication": {}}
    for run in runs:
        lists = original[run], reproduced[run]
        found["reproduction"][run] = {
            "tau_union_sorted": KTU(*map(scored, lists), per_topic=True),
            "tau_union": KTU(*map(scored, renamed(*lists)), per_topic=True),
            "rbo": RBO(*map(scored, lists), p=0.5, depth=DEPTH, pbar=False, per_topic=True),
            "rmse": RMSE(first[run], second[run]),
            "nrmse": nRMSE(first[run], second[run]),
            "p": ttest(first[run], second[run]),
        }
        found["replication"][run] = {"p": ttest(first[run], third[run], rpd=False)}
    for name, scores in (("reproduction", second), ("replication", third)):
        arguments = (first["advanced"], first["baseline"], scores["advanced"], scores["baseline"])
        found[name] |= {"effect_ratio": ER(*arguments), "delta_ri": DRI(*arguments)}
    data = {"original": original, "reproduced": reproduced, "other": other}
    print(json.dumps(data | {"values": found}, separators=(",", ":")))


if __name__ == "__main__":
    main()
