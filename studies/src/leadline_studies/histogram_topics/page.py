"""Numbers of the page on topic models (HSA, DO, perplexity)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leadline.stats.correlation import pearson
from leadline_studies.common.pages import Json, run_study
from leadline_studies.histogram_topics.study import times_of_map

NAME = "histogram-topics"
PAIRS = 6000  # that the polylingual model is trained on
SWEEPS = 500


class Fit(NamedTuple):
    """How the models of a trial are fitted."""

    sweeps: int
    seed: int
    topics: tuple[int, ...]


class Trial(NamedTuple):
    """One task: title, documents in DATA, options, and fits, which differ in their seed alone."""

    title: str
    docs: str
    options: str
    fits: tuple[Fit, ...]


def spaced(low: int, high: int) -> tuple[Fit, ...]:
    """Return the fit of 37 numbers of topics in nearly equal ratios."""
    return (Fit(SWEEPS, 0, tuple(round(value) for value in np.geomspace(low, high, 37).tolist())),)


LEE = "--qrels OUT/lee.qrels --train ../lee-similarity/background.jsonl --sample 20 --level "
LEE_FITS = tuple(Fit(300, seed, (5, 10, 20, 30, 50, 100, 200)) for seed in range(3))
SAME = "--qrels ../{0}/qrels.txt --together --queries 372"
SPOT = ((SWEEPS, 0), (200, 0), (200, 1))  # sweeps and seeds of every fourth number of topics
FARTHER = tuple(Fit(100, seed, (20, 50, 100, 200, 300, 500, 1000)) for seed in range(2))  # of NPL
CAPTIONS = "--languages de,en --id-column pair_id --train OUT/multi30k-train.tsv --alpha-sum 10"
TRIALS = {
    "lee-0.6": Trial("Lee news, rated 0.6", "lee-similarity/docs.jsonl", LEE + "0.6", LEE_FITS),
    "lee-0.8": Trial("Lee news, rated 0.8", "lee-similarity/docs.jsonl", LEE + "0.8", LEE_FITS),
    "cranfield": Trial("Cranfield", "cranfield/docs.jsonl", SAME.format("cranfield"), spaced(10, 500)),
    "npl": Trial("NPL", "npl/docs.jsonl.gz", SAME.format("npl"), spaced(10, 500)),
    "nfcorpus-test": Trial(
        "NFCorpus",
        "nfcorpus-test/docs.jsonl.gz",
        SAME.format("nfcorpus-test") + " --level 2",
        spaced(10, 400),
    ),
    "multi30k": Trial("Multi30k", "multi30k/val.tsv", CAPTIONS, spaced(20, 600)),
}
LARGE = [name for name, trial in TRIALS.items() if trial.fits[0].sweeps == SWEEPS]
# Table 1, HSA and perplexity: Pearson.
PAPER = {"patents, MAP of LDA": (0.92, -0.84), "speeches, P@1 of polylingual LDA": (0.71, -0.63)}
CRITERIA = {"largest HSA": (("per query", "hsa"), 1), "least perplexity": (("perplexity",), -1)}


def key_of(name: str, fit: Fit) -> str:
    """Name a trial and a fit."""
    return f"{name}-sweeps-{fit.sweeps}-seed-{fit.seed}-settings-{len(fit.topics)}"


def checks(name: str) -> list[Fit]:
    """Return the fits that show how much sweeps, seeds and the range of T matter."""
    topics = TRIALS[name].fits[0].topics[::4]
    spot = [Fit(sweeps, seed, topics) for sweeps, seed in SPOT] if name in LARGE else []
    return [*spot, *FARTHER * (name == "npl")]


MAIN = {name: key_of(name, trial.fits[0]) for name, trial in TRIALS.items()}
FIGURES = {f"{MAIN[name]}/topics": f"{NAME}-{name}.svg" for name in LARGE}
FIGURES |= {f"{MAIN['multi30k']}/histograms": f"{NAME}-multi30k-histograms.svg"}


def collect(out: Path, data: Path) -> Json:
    """Run the trials; histograms, which no page shows, are left out."""
    _prepare(out, data)
    collected: Json = {}
    for name, trial in TRIALS.items():
        for fit in (*trial.fits, *checks(name)):
            topics = ",".join(map(str, fit.topics))
            command = f"{NAME} ../{trial.docs} {trial.options.replace('OUT', str(out))} --topics {topics}"
            command += f" --sweeps {fit.sweeps} --seed {fit.seed} --time"
            entry = run_study(command, data / "cranfield", out / key_of(name, fit))
            for setting in entry["settings"]:
                for norm in ("per query", "per model"):
                    del setting[norm]["relevant"], setting[norm]["nonrelevant"]
            collected[key_of(name, fit)] = entry
    return collected


def _prepare(out: Path, data: Path) -> None:
    """Write the ratings as judgments, and the pairs that are trained on."""
    out.mkdir(parents=True, exist_ok=True)
    rows = (data / "lee-similarity/human_similarity.tsv").read_text().splitlines()
    names, *rest = (row.split("\t") for row in rows)
    pairs = ((asked, *pair) for asked, *values in rest for pair in zip(names[1:], values, strict=True))
    lines = [f"{asked} 0 {name} {value}\n" for asked, name, value in pairs if name != asked]
    (out / "lee.qrels").write_text("".join(lines))
    with gzip.open(data / "multi30k/train.tsv.gz", "rt", encoding="utf-8") as file:
        subset = [line for line, _ in zip(file, range(PAIRS + 1), strict=False)]
    (out / "multi30k-train.tsv").write_text("".join(subset), encoding="utf-8")


def share_of_best(entry: Json, keys: tuple[str, ...], sign: int) -> float:
    """Return what proportion of the best quality the setting that a number chooses reaches."""

    def value(setting: Any) -> float:
        for key in keys:
            setting = setting[key]
        return float("-inf") if setting is None else sign * float(setting)

    best = max(setting["quality"] for setting in entry["settings"])
    return float(max(entry["settings"], key=value)["quality"] / best)


def facts(kept: Json) -> Json:
    """Return the main trials with their correlations, and what is counted over them."""
    main = {
        (trial.title + (f", seed {fit.seed}" if len(trial.fits) > 1 else "")): kept[key_of(name, fit)]
        for name, trial in TRIALS.items()
        for fit in trial.fits
    }
    large = [kept[MAIN[name]] for name in LARGE]
    gains = [entry["closer"]["per query"]["perplexity"]["pearson"] for entry in large]
    control = {
        title: pearson(
            np.array([setting["quality"] for setting in entry["settings"]]),
            np.log([setting["topics"] for setting in entry["settings"]]),
        )
        for title, entry in main.items()
    }
    return {
        "main": main,
        "first": large[0],
        "control": control,
        "paper": PAPER,
        "large": len(large),
        "ahead": sum((gain["value"] or 0) > 0 for gain in gains),
        "behind": sum((gain["high"] or 0) < 0 for gain in gains),
        "shares": {
            name: [share_of_best(entry, *rule) for entry in main.values()] for name, rule in CRITERIA.items()
        },
        "ratios": [ratio for key in MAIN.values() for ratio in times_of_map(kept[key])],
        "above_control": sum(
            abs(entry["columns"]["HSA per query"]["pearson"]["value"]) > abs(control[title])
            for title, entry in main.items()
        ),
        "sizes": {TRIALS[name].title: kept[MAIN[name]] for name in ("lee-0.6", *LARGE)},
        "farther": [kept[key_of("npl", fit)] for fit in FARTHER],
    }
