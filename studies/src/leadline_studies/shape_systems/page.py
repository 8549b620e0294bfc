"""Numbers of the page on DeShaTo."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from leadline_studies.common.pages import Json, find_documents, leadline, pick, run_study
from leadline_studies.shape_systems.study import NAMED, at_depth

NAME = "shapes"
SETS = {"cranfield": "Cranfield", "cisi": "CISI", "cacm": "CACM", "npl": "NPL", "nfcorpus-test": "NFCorpus"}
SISTERS = {"cranfield": "npl", "npl": "cranfield", "cisi": "cacm", "cacm": "cisi"}
MIDDLE = 100  # the paper's number of topics for table 2
NUMBERS, SEEDS = (50, 100, 250), range(5)  # of topics and of fits
SWEEPS = {"npl": 150}
MODELS = (
    *("BM25", "BM25(b=0)", "BM25(b=1)", "BM25(k1=0.9,b=0.4)", "BM25(k1=3)", "BM25RF", "In_expB2", "PL2"),
    *("In_expB2(c=7)", "PL2(c=7)", "QLDirichlet", "QLDirichlet(mu=100)", "QLDirichlet(mu=5000)"),
    "QLHiemstra",
    *("QLJelinekMercer", "QLJelinekMercer(collection=0.7)", "RM1", "RM3", "RM3(docs=20,original=0.2)", "SDM"),
    *("TF(cosine)", "TF(dot)", "TFIDF(cosine)", "TFIDF(dot)"),
)
PLAIN = ("BM25", "PL2", "QLDirichlet", "RM3", "SDM", "TFIDF(cosine)")  # without stems and stop words
FEEDBACK = ("RM1", "RM3", "BM25RF")
FIGURES = {f"{name}-topics/topics": f"shapes-{name}-topics-topics.svg" for name in ("cranfield", "cisi")} | {
    f"cranfield-systems/{name}": f"shapes-cranfield-systems-{name}.svg" for name in ("deshato-250", "nruns")
}


def collect(out: Path, data: Path) -> Json:
    """Fit topics, search with all models and run the three studies on every set."""
    results: dict[str, Json] = {"systems": {}, "plain-systems": {}, "topics": {}, "discrimination": {}}
    for name in SETS:
        _prepare(out / name, data / name, SWEEPS.get(name, 300))
    for name in SETS:
        runs = sorted((out / name / "runs").iterdir())
        rest = [run for run in runs if not run.name.removeprefix("plain-").startswith(FEEDBACK)]
        vectors = _vectors(out / name)
        sister = ""
        if name in SISTERS:
            other = SISTERS[name]
            sister = f" --sister-qrels ../{other}/qrels.txt --sister-runs {out / other / 'runs'}"
            sister += _vectors(out / other).replace("--vectors", "--sister-vectors")
        for part, study, given, options in (
            ("systems", "shape-systems", runs, " --subsets 50"),
            ("plain-systems", "shape-systems", rest, " --subsets 50"),
            ("topics", "shape-topics", runs, sister),
            ("discrimination", "shape-discrimination", runs, ""),
        ):
            words = " ".join(f"'{run}'" for run in given)
            command = f"{study} qrels.txt {words}{vectors}{options}"
            results[part][name] = run_study(command, data / name, out / f"{name}-{part}")
    return results


def _vectors(folder: Path) -> str:
    paths = (folder / f"{topics}-{seed}.parquet" for topics in NUMBERS for seed in SEEDS)
    return "".join(f" --vectors {path}" for path in paths)


def _prepare(folder: Path, data: Path, sweeps: int) -> None:
    """Fit and infer topics, index and search, unless that was done."""

    def command(words: str) -> None:
        leadline(*words.split(), folder=data)

    documents, model = find_documents(data).name, folder / "model.npz"
    folder.mkdir(parents=True, exist_ok=True)
    for topics, seed in product(NUMBERS, SEEDS):
        path = folder / f"{topics}-{seed}.parquet"
        if not path.exists():
            command(f"topics fit {documents} -T {topics} -C topics.sweeps={sweeps} --seed {seed} -o {model}")
            command(f"topics infer {model} {documents} --seed {seed} -o {path}")
    if not (folder / "runs").exists():
        for models, options, prefix in ((MODELS, "", ""), (PLAIN, "--language none", "plain-")):
            index = folder / f"{prefix}index"
            command(f"index {documents} {options} -o {index}")
            wanted = " -m ".join(models)
            command(f"search {index} queries.jsonl -m {wanted} -k 100 -o {folder / f'{prefix}runs'}")
        for run in (folder / "plain-runs").iterdir():
            run.rename(folder / "runs" / f"plain-{run.name}")


def _taus(results: Json) -> Json:
    """Return tau with MAP@30 at the paper's depth, by set and number of topics, and of nruns."""
    return {
        name: {number: found[NAMED.format(number)]["tau"] for number in data["topics"]}
        | {"nruns": found["nruns"]["tau"]}
        for name, data in results.items()
        for found in [at_depth(data)]
    }


def _best(taus: Json) -> Any:
    """Return the number of topics with the largest tau."""
    return max((number for number in taus if number != "nruns"), key=taus.__getitem__)


def _ahead(sets: Json) -> list[str]:
    """Return the sets on which DeShaTo with its best number of topics is above nruns."""
    return [SETS[name] for name, taus in sets.items() if taus[_best(taus)] > taus["nruns"]]


def facts(kept: Json) -> Json:
    """Return accuracies, taus and the choices of the number of topics."""
    systems, plain = _taus(kept["systems"]), _taus(kept["plain-systems"])
    accuracy = {
        name: {(entry["other"], entry["topics"]): entry for entry in data["accuracy"]}
        for name, data in kept["discrimination"].items()
    }
    best = {name: _best(row) for name, row in systems.items()}
    chosen = {name: data["chosen"] for name, data in kept["topics"].items()}
    return {
        "titles": SETS,
        "first": kept["systems"]["cranfield"],
        "accuracy": accuracy,
        "random": [cells["random", MIDDLE]["value"] for cells in accuracy.values()],
        "hard": [
            entry["value"]
            for data in kept["discrimination"].values()
            for entry in pick(data["accuracy"], other="hard")
        ],
        "rows": [(name, "", row) for name, row in systems.items()]
        + [(name, ", no feedback", row) for name, row in plain.items()],
        "ahead": (_ahead(systems), _ahead(plain)),
        "largest": sum(max(kept["systems"][name]["topics"]) == number for name, number in best.items()),
        "missed": sum(best[name] != chosen[name] for name in chosen),
        "agreed": sum(len(set(data["chosen_by_fit"])) == 1 for data in kept["topics"].values()),
        "numbers": kept["systems"]["cranfield"]["topics"],
    }
