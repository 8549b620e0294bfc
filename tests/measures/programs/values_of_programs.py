"""Write values_of_programs.json: what other programs print for random ranked lists.

Run it in an environment of its own with pyNTCIREVAL, torch, torchmetrics and beir, and give
the paths of two programs of NTCIREVAL, of June 2019 and of May 2020:

    python values_of_programs.py ntcir_eval_2019 ntcir_eval_2020
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GAINS = {"linear": [1, 2, 3], "exp": [1, 3, 7]}


def random_lists(rng: random.Random, number: int) -> list[dict[str, Any]]:
    """Return ranked lists of levels 0 to 3 or None, and the levels of the judged documents not retrieved."""
    lists = []
    for place in range(number):
        size = rng.randint(1, 14)
        listed = [rng.choice([None, None, 0, 0, 0, 1, 1, 2, 3]) for _ in range(size)]
        rest = [rng.choice([0, 0, 1, 1, 2, 3]) for _ in range(rng.randint(0, 8))] + [3, 0]
        if place % 4 and not any(listed):
            listed[rng.randrange(size)] = 2
        lists.append({"listed": listed, "rest": rest})
    return lists


def ntcireval(program: str, case: dict[str, Any], options: list[str], *, condensed: bool) -> dict[str, float]:
    """Return what NTCIREVAL prints for one list, by name."""
    named = [(f"d{place}", level) for place, level in enumerate(case["listed"])]
    judged = [(name, level) for name, level in named if level is not None]
    judged += [(f"r{place}", level) for place, level in enumerate(case["rest"])]
    listed = [(name, level) for name, level in named if level is not None or not condensed]
    with tempfile.TemporaryDirectory() as folder:
        rel, res = Path(folder, "rel"), Path(folder, "res")
        rel.write_text("".join(f"{name} L{level}\n" for name, level in judged))
        res.write_text(
            "".join(f"{name}\n" if level is None else f"{name} L{level}\n" for name, level in listed)
        )
        command = [program, "compute", "-r", str(rel), *options, *["-j"] * condensed, str(res)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line.split("=") for line in printed.splitlines() if "#" not in line]
    return {name.strip(): float(value) for name, value in lines}


def pyntcireval(case: dict[str, Any], gains: list[int]) -> dict[str, float]:
    """Return the values of pyNTCIREVAL, by the name of the class."""
    metrics: Any = import_module("pyNTCIREVAL.metrics")
    levels = [level for level in [*case["listed"], *case["rest"]] if level is not None]
    counts = [levels.count(level) for level in range(4)]
    listed = [(f"d{place}", level) for place, level in enumerate(case["listed"])]
    made = [
        metrics.OMeasure(counts, gains, 1.0),
        metrics.PMeasure(counts, gains, 1.0),
        metrics.PPlusMeasure(counts, gains, 1.0),
        metrics.QMeasure(counts, gains, 1.0),
        metrics.QMeasure(counts, gains, 2.5, 5),
        metrics.NCUguP(counts, gains, [1, 5, 6]),
        metrics.NCUguBR(counts, gains, [1, 5, 6], 1.0),
        metrics.NCUrbP(counts, gains, 0.8),
        metrics.NCUrbBR(counts, gains, 0.8, 1.0),
        metrics.ERR(counts, gains),
        metrics.nERR(counts, gains, 5),
    ]
    return {str(metric): float(metric.compute(listed)) for metric in made}


def torchmetrics(rng: random.Random) -> list[dict[str, Any]]:
    """Return fall-out and AUROC of lists with ties, where both are defined there and here."""
    torch: Any = import_module("torch")
    retrieval: Any = import_module("torchmetrics.retrieval")
    found: list[dict[str, Any]] = []
    while len(found) < 25:
        size = rng.randint(2, 12)
        target = [rng.randint(0, 1) for _ in range(size)]
        scores = [rng.randint(1, rng.choice([3, 50])) / 64 for _ in range(size)]
        if len(set(target)) < 2:
            continue
        distinct = len(set(scores)) == size
        index, values = torch.zeros(size, dtype=torch.long), {}
        for k in [None, 1, 3, 5] if distinct else [None]:  # which of tied documents are cut off is chance
            top = sorted(range(size), key=lambda place: -scores[place])[:k]
            given = (torch.tensor(scores), torch.tensor(target), index)
            values[f"FallOut@{k}"] = float(retrieval.RetrievalFallOut(top_k=k)(*given))
            if len({target[place] for place in top}) == 2:
                values[f"AUROC@{k}"] = float(retrieval.RetrievalAUROC(top_k=k)(*given))
        found.append({"target": target, "scores": scores, "values": values})
    return found


def beir(rng: random.Random) -> dict[str, Any]:
    """Return capped recall and the hole rate of documents that only one query has."""
    beir_metrics: Any = import_module("beir.retrieval.custom_metrics")
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in ("q1", "q2", "q3", "q4"):
        names = [f"{query}-{place}" for place in range(15)]
        qrels[query] = {name: rng.choice([0, 1, 2]) for name in rng.sample(names, 8)} | {names[0]: 1}
        run[query] = {name: rng.random() for name in rng.sample(names, rng.randint(5, 15))}
    ks = [1, 3, 5, 10]
    values = beir_metrics.recall_cap(qrels, run, ks) | beir_metrics.hole(qrels, run, ks)
    return {"qrels": qrels, "run": run, "values": values}


def main(old: str, new: str) -> None:
    """Write the file."""
    rng = random.Random(19)
    lists = random_lists(rng, 20)
    for case in lists:
        case["values"] = {}
        for name, gains in GAINS.items():
            options = ["-g", ":".join(map(str, gains)), "-gap", "-cutoffs", "3,8"]
            values = ntcireval(old, case, [*options, "-s", "1:5:6", "-rbup", "0.9"], condensed=False)
            more = ntcireval(new, case, [*options, "-rbup", "0.9"], condensed=False)
            values |= {key: value for key, value in more.items() if "@" not in key}
            case["values"][name] = values
            case["values"][f"{name} condensed"] = ntcireval(old, case, options, condensed=True)
            if any(case["listed"]):  # it fails on others
                case["values"][f"{name} pyNTCIREVAL"] = pyntcireval(case, gains)
    programs = ("pyNTCIREVAL", "torchmetrics", "beir")
    written = {
        "programs": {
            "NTCIREVAL": "versions of June 2019 and of 2020-05-27",
            **{name: metadata.version(name) for name in programs},
        },
        "lists": lists,
        "torchmetrics": torchmetrics(rng),
        "beir": beir(rng),
    }
    (HERE / "values_of_programs.json").write_text(json.dumps(written, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
