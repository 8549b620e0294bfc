"""Write the page of the study of topic models (HSA, DO, perplexity).

    python -m leadline_studies.histogram_topics.page [FOLDER DATA]

Runs the studies whose output is not in FOLDER. DATA contains the collections. `PAPER` and `SECONDS` have the
values that the paper prints.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

import gzip
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leadline.stats.correlation import pearson, spearman
from leadline.stats.resampling import drawn_rows
from leadline_studies.common.markdown import number, table, value_range, with_interval, wrapped
from leadline_studies.common.pages import Json, copy_figures, run_study, update_page

NAME = "histogram-topics"
NOTE = "<!-- Made by leadline_studies/histogram_topics/page.py from the output of `leadline study`. -->"
PAIRS = 6000  # that the polylingual model is trained on
BINS = ("5", "10", "50", "200")
DRAWS = 1000  # of settings


def spaced(low: int, high: int, count: int = 37) -> tuple[int, ...]:
    """Return numbers of topics in nearly equal ratios.

    >>> spaced(10, 40, 3)
    (10, 20, 40)
    """
    return tuple(round(value) for value in np.geomspace(low, high, count).tolist())


class Fit(NamedTuple):
    """How the models of a trial are fitted: sweeps, seed, and numbers of topics."""

    sweeps: int
    seed: int
    topics: tuple[int, ...]


class Trial(NamedTuple):
    """One task: its title, its documents in DATA, its options, and its fits.

    The first fit is the main one; others with its sweeps and numbers of topics count as trials of their own.
    FOLDER and DATA are filled in.
    """

    title: str
    docs: str
    options: str
    fits: tuple[Fit, ...]

    @property
    def repeats(self) -> list[Fit]:
        """Return the fits that differ from the main one in their seed alone, the main one first."""
        main = self.fits[0]
        return [fit for fit in self.fits if (fit.sweeps, fit.topics) == (main.sweeps, main.topics)]


LEE = "--qrels FOLDER/lee.qrels --train DATA/lee-similarity/background.jsonl --sample 20 --level "
LEE_FITS = tuple(Fit(300, seed, (5, 10, 20, 30, 50, 100, 200)) for seed in range(3))
OTHERS = "--qrels DATA/{0}/qrels.txt --together --queries 372"
TO_500, TO_400, TO_600 = spaced(10, 500), spaced(10, 400), spaced(20, 600)
LISTS = {"TO_500": TO_500, "TO_400": TO_400, "TO_600": TO_600}
EARLIER = (10, 20, 50, 100, 200, 300, 500)
TRIALS = {
    "lee-0.6": Trial("Lee news, rated 0.6", "lee-similarity/docs.jsonl", LEE + "0.6", LEE_FITS),
    "lee-0.8": Trial("Lee news, rated 0.8", "lee-similarity/docs.jsonl", LEE + "0.8", LEE_FITS),
    "cranfield": Trial(
        "Cranfield",
        "cranfield/docs.jsonl",
        OTHERS.format("cranfield"),
        (
            Fit(500, 0, TO_500),
            Fit(500, 0, TO_500[::4]),
            Fit(200, 0, TO_500[::4]),
            Fit(200, 1, TO_500[::4]),
            *(Fit(100, seed, EARLIER) for seed in range(3)),
        ),
    ),
    "npl": Trial(
        "NPL",
        "npl/docs.jsonl.gz",
        OTHERS.format("npl"),
        (
            Fit(500, 0, TO_500),
            Fit(500, 0, TO_500[::4]),
            Fit(200, 0, TO_500[::4]),
            Fit(200, 1, TO_500[::4]),
            *(Fit(100, seed, (20, 50, 100, 200, 300, 500, 1000)) for seed in range(2)),
        ),
    ),
    "nfcorpus-test": Trial(
        "NFCorpus",
        "nfcorpus-test/docs.jsonl.gz",
        OTHERS.format("nfcorpus-test") + " --level 2",
        (
            Fit(500, 0, TO_400),
            Fit(500, 0, TO_400[::4]),
            Fit(200, 0, TO_400[::4]),
            Fit(200, 1, TO_400[::4]),
            Fit(100, 0, EARLIER),
        ),
    ),
    "multi30k": Trial(
        "Multi30k",
        "multi30k/val.tsv",
        "--languages de,en --id-column pair_id --train FOLDER/multi30k-train.tsv --alpha-sum 10",
        (
            Fit(500, 0, TO_600),
            Fit(500, 0, TO_600[::4]),
            Fit(200, 0, TO_600[::4]),
            Fit(200, 1, TO_600[::4]),
            *(Fit(200, seed, (100, 200, 300, 400, 500, 700, 1000)) for seed in range(2)),
        ),
    ),
}
SWEEPS = 500
TEN = 10  # numbers of topics that were tried with other sweeps and seeds too
OWN = [name for name in TRIALS if not name.startswith("lee")]
LARGE = [name for name, trial in TRIALS.items() if trial.fits[0].sweeps == SWEEPS]
# Table 1: DO, HSA, perplexity, Pearson and then Spearman.
PAPER = {
    "paper, patents, MAP of LDA": (-0.75, 0.92, -0.84, 0.64, 0.93, 0.89),
    "paper, speeches, P@1 of PLTM": (0.00, 0.71, -0.63, 0.11, 0.64, 0.25),
}
# Table 2: T, then seconds of MAP, DO, HSA, perplexity.
SECONDS = (
    (50, 288.1, 28.2, 28.2, 11.1),
    (100, 224.8, 33.0, 33.0, 27.2),
    (200, 240.1, 47.5, 47.6, 53.6),
    (500, 345.9, 99.2, 99.2, 143.1),
    (1000, 405.6, 176.3, 176.3, 3166.7),
    (2000, 559.5, 333.6, 333.6, 32930.0),
    (5000, 1037.4, 816.2, 816.2, 46340.0),
)
TIMED = ("npl", "multi30k")


def key_of(name: str, fit: Fit) -> str:
    """Name a trial and a fit."""
    return f"{name}-sweeps-{fit.sweeps}-seed-{fit.seed}-settings-{len(fit.topics)}"


MAIN = {name: key_of(name, trial.fits[0]) for name, trial in TRIALS.items()}
FIGURES = {
    f"{MAIN['multi30k']}/histograms": "histogram-topics-multi30k-histograms.svg",
    **{f"{MAIN[name]}/topics": f"histogram-topics-{name}.svg" for name in LARGE},
}


def collect(folder: Path, data: Path) -> Json:
    """Run the trials whose output is not in `folder`, and return their results."""
    prepare(folder, data)
    collected: Json = {}
    for name, trial in TRIALS.items():
        for fit in trial.fits:
            arguments = command(trial, fit).replace("DATA", str(data)).replace("FOLDER", str(folder))
            study_result = run_study(
                "histogram-topics",
                data,
                folder / key_of(name, fit),
                [*arguments.split()[3:], "--checkpoints", str(folder / "checkpoints")],
            )
            collected[key_of(name, fit)] = without_histograms(study_result)
    copy_figures(folder, FIGURES)
    return collected


def without_histograms(entry: Json) -> Json:
    """Leave out the histograms, which no table shows."""
    for setting in entry["settings"]:
        for norm in ("per query", "per model"):
            del setting[norm]["relevant"], setting[norm]["nonrelevant"]
    return entry


def prepare(folder: Path, data: Path) -> None:
    """Write the ratings as judgments, and the pairs that are trained on."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = (data / "lee-similarity/human_similarity.tsv").read_text().splitlines()
    names, *rest = (row.split("\t") for row in rows)
    lines = [
        f"{asked} 0 {name} {value}\n"
        for asked, *values in rest
        for name, value in zip(names[1:], values, strict=True)
        if name != asked
    ]
    (folder / "lee.qrels").write_text("".join(lines))
    with gzip.open(data / "multi30k/train.tsv.gz", "rt", encoding="utf-8") as file:
        subset = [line for line, _ in zip(file, range(PAIRS + 1), strict=False)]
    (folder / "multi30k-train.tsv").write_text("".join(subset), encoding="utf-8")


def command(trial: Trial, fit: Fit) -> str:
    """Return the command of a trial."""
    topics = ",".join(map(str, fit.topics))
    return (
        f"leadline study histogram-topics DATA/{trial.docs} {trial.options} --topics {topics} "
        f"--sweeps {fit.sweeps} --seed {fit.seed} --time"
    )


def main_trials(results: Json, *, large: bool = False) -> Json:
    """Return the trials with all their numbers of topics, or the large ones alone, by key."""
    names = LARGE if large else TRIALS
    return {key_of(name, fit): results[key_of(name, fit)] for name in names for fit in TRIALS[name].repeats}


def main_result(results: Json, name: str) -> Json:
    """Return the results of the main fit of a trial."""
    entry: Json = results[MAIN[name]]
    return entry


def title_of(key: str) -> str:
    """Return the title of a trial, with the seed where it has several main fits."""
    name, _, rest = key.partition("-sweeps-")
    trial = TRIALS[name]
    seed = rest.partition("-seed-")[2].partition("-")[0]
    return trial.title + (f", seed {seed}" if len(trial.repeats) > 1 else "")


def sizes(results: Json) -> str:
    """Write the table of the data used."""
    rows = []
    for name, trial in TRIALS.items():
        entry = main_result(results, name)
        options = entry["options"]
        rows.append(
            [
                trial.title,
                f"{entry['documents']:,}",
                f"{entry['trained']:,} ({entry['trained_tokens']:,})",
                f"{entry['held_out']:,}",
                f"{entry['queries']:,}",
                f"{entry['relevant'] / entry['queries']:.1f}",
                f"{entry['nonrelevant'] / entry['queries']:.0f}",
                f"{entry['share_of_pairs']:.1%}",
                f"{options['alpha_sum']:g}",
                topic_range(trial.fits[0]),
                str(options["sweeps"]),
            ]
        )
    return table(
        [
            "task",
            "documents",
            "trained on (tokens)",
            "held out",
            "queries",
            "relevant a query",
            "others sampled",
            "pairs scored for HSA",
            "sum of alpha",
            "numbers of topics",
            "sweeps",
        ],
        rows,
    )


def topic_range(fit: Fit) -> str:
    """Return the number of topic settings and their range, as text."""
    return f"{len(fit.topics)}, {value_range(fit.topics, ',')}"


def paper_table(results: Json) -> str:
    """Write the correlations beside those of the paper's Table 1."""
    rows = []
    for title, values in PAPER.items():
        overlap, slope, rival = (
            f"{number(values[index])} / {number(values[index + 3])}" for index in range(3)
        )
        rows.append([title, "", "", overlap, slope, rival, ""])
    for key, entry in results.items():
        cells = [
            "{} / {}".format(
                *(number(entry["columns"][name][kind]["value"]) for kind in ("pearson", "spearman"))
            )
            for name in ("DO per query", "HSA per query", "DO per model", "HSA per model", "perplexity")
        ]
        rows.append([title_of(key), *cells, "{:.2f} / {:.2f}".format(*control(entry))])
    return table(
        [
            "task",
            "DO, by query",
            "HSA, by query",
            "DO, by model",
            "HSA, by model",
            "perplexity",
            "ln T (control)",
        ],
        rows,
    )


def control(entry: Json) -> tuple[float, float]:
    """Correlate the logarithm of T itself with quality: Pearson and Spearman."""
    quality = np.array([setting["quality"] for setting in entry["settings"]])
    size = np.log([setting["topics"] for setting in entry["settings"]])
    return pearson(quality, size), spearman(quality, size)


def difference_table(results: Json) -> str:
    """Write the difference of |R| between HSA and perplexity, with both kinds of intervals."""
    rows = []
    for key, entry in results.items():
        cells = [title_of(key)]
        for norm in ("per query", "per model"):
            over_queries, (low, high) = (
                entry["closer"][norm]["perplexity"]["pearson"],
                over_settings(entry, norm),
            )
            cells += [with_interval(over_queries), f"[{low:.2f}, {high:.2f}]"]
        rows.append([*cells, entry["lines"][0].rpartition("]: ")[2]])
    heads = ["by query", "drawing settings", "by model", "drawing settings", "by the rule"]
    return table(["task", *heads], rows)


def columns_of(entry: Json, norm: str) -> tuple[Any, Any, Any]:
    """Return quality, HSA and perplexity over the settings; those without HSA are left out."""
    rows = np.array(
        [
            [setting["quality"], setting[norm]["hsa"], setting["perplexity"]]
            for setting in entry["settings"]
            if setting[norm]["hsa"] is not None
        ]
    )
    return rows[:, 0], rows[:, 1], rows[:, 2]


def over_settings(entry: Json, norm: str) -> tuple[float, float]:
    """Return a 95 % percentile interval of |R| of HSA less |R| of perplexity, drawing settings again."""
    quality, slopes, rival = columns_of(entry, norm)
    gains = [
        abs(pearson(quality[rows], slopes[rows])) - abs(pearson(quality[rows], rival[rows]))
        for rows in drawn_rows(np.random.default_rng(0), DRAWS, len(quality))
    ]
    low, high = np.nanquantile(gains, [0.025, 0.975]).tolist()
    return low, high


def by_fit(results: Json) -> str:
    """Write R with quality by fit: sweeps, seed and numbers of topics."""
    rows = []
    for name in LARGE:
        trial = TRIALS[name]
        for fit in trial.fits[1:]:
            entry = results[key_of(name, fit)]
            columns = entry["columns"]
            rows.append(
                [
                    trial.title,
                    str(fit.sweeps),
                    str(fit.seed),
                    topic_range(fit),
                    *(
                        number(columns[column]["pearson"]["value"])
                        for column in ("HSA per query", "HSA per model", "perplexity")
                    ),
                    with_interval(entry["closer"]["per query"]["perplexity"]["pearson"]),
                ]
            )
    return table(
        [
            "task",
            "sweeps",
            "seed",
            "numbers of topics",
            "R of HSA, by query",
            "R of HSA, by model",
            "R of perplexity",
            "HSA less perplexity",
        ],
        rows,
    )


def variation_of_fits(results: Json) -> str:
    """Return the range of R where only the sweeps or only the seed differ, as text."""
    parts = []
    for label, same in (("sweeps (500 and 200)", "seed"), ("seeds", "sweeps")):
        for title, column in (("HSA by query", "HSA per query"), ("perplexity", "perplexity")):
            gaps = [
                abs(first - second)
                for name in LARGE
                for entry, other in combinations(TRIALS[name].fits, 2)
                if entry.topics == other.topics and len(entry.topics) == TEN
                if getattr(entry, same) == getattr(other, same)
                for first, second in [
                    [
                        results[key_of(name, fit)]["columns"][column]["pearson"]["value"]
                        for fit in (entry, other)
                    ]
                ]
            ]
            parts.append(f"of {title} by {value_range(gaps)} between {label}")
    return f"Over the same ten numbers of topics R changes: {'; '.join(parts)}."


def values(results: Json) -> str:
    """Write the values by number of topics, one table per large task, five settings each."""
    parts = []
    for name in LARGE:
        entry = main_result(results, name)
        rows = [
            [
                f"{setting['topics']:,}",
                number(setting["quality"], ".3f"),
                number(setting["perplexity"], ".0f"),
                *(number(setting[norm][key]) for norm in ("per query", "per model") for key in ("hsa", "do")),
            ]
            for setting in entry["settings"][::9]
        ]
        heads = [
            "T",
            entry["measure"],
            "perplexity",
            "HSA, by query",
            "DO, by query",
            "HSA, by model",
            "DO, by model",
        ]
        parts.append(f"**{TRIALS[name].title}**\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def by_bins(results: Json) -> str:
    """Write R of HSA with quality by the number of bins."""
    rows = [
        [title_of(key), norm, *(number(entry["by_bins"][norm][count]) for count in BINS)]
        for name in TRIALS
        for key, entry in [(MAIN[name], main_result(results, name))]
        for norm in ("query", "model")
    ]
    return table(["task", "normalised by", *(f"{count} bins" for count in BINS)], rows)


def printed_ratio() -> str:
    """Return the ratio of MAP to HSA in the paper's Table 2, as text."""
    return value_range((row[1] / row[3] for row in SECONDS), ".1f")


def ratio(entry: Json) -> float:
    """Return how many times the time of HSA MAP takes."""
    return float(
        (entry["MAP scoring"] + entry["MAP computing"]) / (entry["HSA scoring"] + entry["HSA computing"])
    )


def seconds(results: Json) -> str:
    """Write the processor times of some tasks."""
    rows = [
        [
            TRIALS[name].title,
            f"{entry['topics']:,}",
            f"{entry['MAP scoring']:.3f} + {entry['MAP computing']:.3f}",
            f"{entry['HSA scoring']:.3f} + {entry['DO computing']:.3f}",
            f"{entry['HSA scoring']:.3f} + {entry['HSA computing']:.3f}",
            f"{entry['perplexity']:.1f}",
            f"{ratio(entry):.1f}",
            f"{entry['MAP scoring, all at once']:.3f}",
            f"{entry['infer']:.1f}",
            f"{entry['fit']:.1f}",
        ]
        for name in TIMED
        for entry in main_result(results, name)["seconds"]["settings"][::12]
    ]
    return table(
        [
            "task",
            "T",
            "MAP",
            "DO",
            "HSA",
            "perplexity",
            "MAP / HSA",
            "MAP scoring as one product",
            "topics of all documents",
            "fit",
        ],
        rows,
    )


def count_ahead(results: Json, norm: str) -> tuple[int, int, int]:
    """Count the trials in which HSA is ahead, ahead in both intervals, and behind in both."""
    gains = [entry["closer"][f"per {norm}"]["perplexity"]["pearson"] for entry in results.values()]
    both = [
        (gain, over_settings(entry, f"per {norm}"))
        for gain, entry in zip(gains, results.values(), strict=True)
    ]
    return (
        sum((gain["value"] or 0) > 0 for gain in gains),
        sum((gain["low"] or 0) > 0 and low > 0 for gain, (low, _) in both),
        sum((gain["high"] or 0) < 0 and high < 0 for gain, (_, high) in both),
    )


def counts(results: Json) -> str:
    """Count the trials in which HSA correlates better, by point estimate and by both intervals, as text."""
    parts = []
    for norm in ("query", "model"):
        larger, above, below = count_ahead(results, norm)
        parts.append(
            f"by {norm}, |R| of HSA is above that of perplexity in {larger} of {len(results)}, in both "
            f"intervals in {above}, and below it in both in {below}"
        )
    return "; ".join(parts)


def trials_ahead(results: Json) -> list[str]:
    """Return the trials where the rule holds: HSA by query is ahead in the interval over queries too."""
    return [
        key
        for key, entry in results.items()
        if (entry["closer"]["per query"]["perplexity"]["pearson"]["low"] or 0) > 0
    ]


def spread(results: Json) -> str:
    """Return the range of R over fits that differ only in their seed, as text."""
    parts = []
    for name, trial in TRIALS.items():
        repeats = trial.repeats
        if len(repeats) > 1:
            all_columns = [results[key_of(name, fit)]["columns"] for fit in repeats]
            ends = [
                "{} {:.2f} to {:.2f}".format(
                    column.replace(" per ", " by "), min(correlations), max(correlations)
                )
                for column in ("HSA per query", "HSA per model", "perplexity")
                if (correlations := [entry[column]["pearson"]["value"] for entry in all_columns])
            ]
            parts.append(f"- {trial.title}: " + ", ".join(ends))
    return "\n".join(parts)


def ratios(results: Json) -> str:
    """Write the ratio of the time of MAP to that of HSA, by task."""
    rows = []
    for name, trial in TRIALS.items():
        entry = main_result(results, name)
        span = value_range(map(ratio, entry["seconds"]["settings"]), ".1f")
        rows.append([trial.title, f"{entry['share_of_pairs']:.1%}", span])
    return table(["task", "pairs scored for HSA", "MAP / HSA"], rows, labels=1)


def cost_range(results: Json) -> str:
    """Return the range of the ratio over tasks and numbers of topics, as text."""
    timings = [main_result(results, name)["seconds"]["settings"] for name in TRIALS]
    return value_range((ratio(entry) for of_task in timings for entry in of_task), ".0f")


def fit_minutes(results: Json) -> float:
    """Return the processor time of all fits; trials of one name, sweeps and seed share theirs."""
    seconds = {
        (name, fit.sweeps, fit.seed, entry["topics"]): float(entry["fit"])
        for name, trial in TRIALS.items()
        for fit in trial.fits
        for entry in results[key_of(name, fit)]["seconds"]["settings"]
    }
    return sum(seconds.values()) / 60


def best_by(entry: Json, *keys: str, sign: int = 1) -> Json:
    """Return the setting that is largest (or with sign -1 least) by a number that lies under the keys."""

    def value(setting: Any) -> float:
        for key in keys:
            setting = setting[key]
        return float("-inf") if setting is None else sign * float(setting)

    best: Json = max(entry["settings"], key=value)
    return best


def choices(entry: Json) -> dict[str, Json]:
    """Return the setting that each number would choose."""
    return {
        "best": best_by(entry, "quality"),
        "largest HSA, by query": best_by(entry, "per query", "hsa"),
        "largest HSA, by model": best_by(entry, "per model", "hsa"),
        "least perplexity": best_by(entry, "perplexity", sign=-1),
    }


def chosen(results: Json) -> str:
    """Write the quality of the T that each number would choose."""
    rows = [
        [title_of(key)]
        + [f"{setting['quality']:.3f} (T = {setting['topics']:,})" for setting in choices(entry).values()]
        for key, entry in results.items()
    ]
    return table(["task", *choices(next(iter(results.values())))], rows)


def choice_shares(results: Json) -> dict[str, tuple[str, str]]:
    """Return the mean and the least proportion of the best quality that each choice of T reaches."""
    all_choices = [choices(entry) for entry in results.values()]
    found = {}
    for name in list(all_choices[0])[1:]:
        shares = [entry[name]["quality"] / entry["best"]["quality"] for entry in all_choices]
        found[name] = (f"{sum(shares) / len(shares):.0%}", f"{min(shares):.0%}")
    return found


def quality_of_choices(results: Json) -> str:
    """Return the proportion of the best quality that each choice of T reaches, as text."""
    return "; ".join(
        f"{name} {mean} (in the worst trial {least})"
        for name, (mean, least) in choice_shares(results).items()
    )


WHY = """\
- **Perplexity is better than in the paper.** R of HSA with quality is 0.7 or more in {good} of {total} trials
  by query, in {good_model} by model (the paper: 0.92 and 0.71). But |R| of perplexity is {least:.2f} to
  {most:.2f}, and 0.84 or more in {strong} trials (the paper: 0.84 and 0.63). The paper does not state how
  perplexity was estimated; ours is left to right, on documents of the same source as the queries.
- **Range of T.** If quality is monotone in T, every statistic that is monotone in T correlates with it: |R|
  of HSA by query is above that of ln T in {control} of {total} trials. The T of least perplexity is above the
  best T in {above} trials, below it in {below}, and the same in {same}. {apart}With 20 to 1,000 topics the
  claim seemed to hold on NPL, where MAP and HSA both decrease over most of that range; from 10 to 500 MAP
  increases first, and HSA does not.
- **Degree of similarity.** HSA weights all bins equally, including those of the least similar relevant
  documents, while MAP and P@1 depend on the first ranks. With the same models of the Lee news, HSA correlates
  with MAP if documents rated 0.8 count as relevant, and not with those rated 0.6.
- **Normalisation.** HSA by model has the larger R in {models} of {total} trials ({names}).
- **Intervals** over queries treat the fits as fixed, those over settings the queries; neighbouring settings
  are similar, and in our own task many pairs occur in both directions, so that both are too narrow.
- **Not tested.** Patents and speeches, and T above {largest_topics:,}: the largest collection here has
  {largest:,} documents, theirs 70,000."""


def reasons(every: Json) -> str:
    """Return the failures and their likely reasons, as text."""
    results = main_trials(every)
    columns = [entry["columns"] for entry in results.values()]
    slopes = [entry["HSA per query"]["pearson"]["value"] for entry in columns]
    models = [entry["HSA per model"]["pearson"]["value"] for entry in columns]
    rivals = [abs(entry["perplexity"]["pearson"]["value"]) for entry in columns]
    better = [title_of(key) for key, entry, two in zip(results, slopes, models, strict=True) if two > entry]
    pairs = [
        (choice["least perplexity"]["topics"], choice["best"]["topics"])
        for choice in map(choices, results.values())
    ]
    differences = "; ".join(
        f"{title_of(key)}: best T {choice['best']['topics']:,}, least perplexity with "
        f"{choice['least perplexity']['topics']:,}, |R| of HSA "
        f"{abs(results[key]['columns']['HSA per query']['pearson']['value']):.2f}, of the control, ln T, "
        f"{abs(control(results[key])[0]):.2f}"
        for key in trials_ahead(results)
        for choice in [choices(results[key])]
    )
    if differences:
        differences = f"HSA is ahead where the two differ ({differences}). "
    return WHY.format(
        good=sum(entry >= 0.7 for entry in slopes),
        good_model=sum(entry >= 0.7 for entry in models),
        total=len(results),
        least=min(rivals),
        most=max(rivals),
        strong=sum(entry >= 0.84 for entry in rivals),
        apart=differences,
        control=sum(
            abs(slope) > abs(control(entry)[0]) for slope, entry in zip(slopes, results.values(), strict=True)
        ),
        largest_topics=max(size for trial in TRIALS.values() for fit in trial.fits for size in fit.topics),
        above=sum(entry > two for entry, two in pairs),
        below=sum(entry < two for entry, two in pairs),
        same=sum(entry == two for entry, two in pairs),
        models=len(better),
        names="; ".join(better) or "none",
        largest=max(entry["documents"] for entry in results.values()),
    )


def drawing(results: Json) -> str:
    """Return the time of drawing the samples, as text."""
    parts = [
        f"{main_result(results, name)['seconds']['drawing']:.1f} s ({TRIALS[name].title})" for name in TIMED
    ]
    return ", ".join(parts)


def commands() -> str:
    """Write the commands of all trials, long lists of numbers of topics by name."""
    lines = [f"    {short}={','.join(map(str, topics))}" for short, topics in LISTS.items()]
    for name, trial in TRIALS.items():
        line = command(trial, trial.fits[0]).replace("FOLDER", "OUT")
        for short, topics in LISTS.items():
            line = line.replace(",".join(map(str, topics)), f"${short}")
        lines.append(f"    {line} -o OUT/{key_of(name, trial.fits[0])}")
    return "\n".join(lines)


PAGE = """# Does HSA choose the number of topics better than perplexity?

{note}

**Answer: not confirmed.** Krstovski, Smith and Kurtz 2015 (section 5.1) vary the number of topics T of LDA
and polylingual LDA, and report that HSA (Histogram Slope Analysis, [glossary](../glossary.md)) predicts how
well a model retrieves similar documents better than perplexity does (R 0.92 against -0.84 with MAP), and at
lower cost than MAP. Here |R| of HSA is above that of perplexity in {ahead} of {large} collections, and below
it with both intervals in {behind}. The T of least perplexity has {rival_share} of the best quality on
average, that of the largest HSA {share}. Scoring for MAP takes {cost} times as long as for HSA.

![Quality, HSA, DO and perplexity by T, Cranfield](histogram-topics-cranfield.svg)

Cranfield: MAP, HSA and DO (normalised per query) and perplexity by T; the vertical axes do not begin at 0.

## How to repeat it

    python -m leadline_studies.histogram_topics.page OUT DATA    # in a checkout: everything, and this page

An interrupted run resumes where it stopped. Processor time of all fits: {fit_minutes} minutes. In seconds, on
one collection:

    leadline study histogram-topics docs.jsonl --qrels qrels.txt --together --queries 50 \\
        --topics 10,20,50 --sweeps 50 --draws 100 -o OUT

The commands of all trials are [below](#details-commands). [Data](README.md#data); leadline {version}; numbers
of all settings in [histogram-topics.json](histogram-topics.json).

LDA is fitted by Gibbs sampling; documents are ranked by Hellinger distance; {bins} bins, {particles}
particles for perplexity. HSA and DO use the relevant documents of every query and a sample of others, drawn
by hash and the same for every T; MAP and P@1 rank all documents. Brackets are 95 % bootstrap intervals over
queries ({draws} resamples).

{sizes}

- Lee news: documents with a rated similarity of {low} or more, or of {high} or more are similar; models are
  trained on the background texts.
- Cranfield, NPL, NFCorpus: **our own task**; the patents and speeches of the paper are not public. Two
  documents are similar if both are relevant to one query of the collection; the queries are {queries}
  documents drawn at random. Of NFCorpus only grade 2 counts: with grade 1 a sixth of the collection would be
  similar to each document.
- Multi30k: the query is a German caption, its English translation the only relevant document. Models are
  trained on the first {pairs:,} pairs. The sum of alpha, {alpha:g}, was chosen by P@1 with T = 100.

Perplexity is of documents not used in training: all query documents where other training texts exist, else a
tenth of the collection.

## HSA against perplexity

The rule, fixed in advance: over seven or more T, |R| of HSA, normalised per query, with MAP or P@1 is larger
than that of perplexity, and the interval of the difference over queries is above 0. It is applied to the
trials of 500 sweeps; seven settings are too few to distinguish coefficients. Difference of |R|, HSA less
perplexity, with its interval over queries; then the interval over settings ({setting_draws:,} bootstrap
resamples, fixed queries):

{closer}

Trials of 500 sweeps: {counts}. All {total} trials: {all_counts}.

## Beside the paper's Table 1

Pearson / Spearman over T with MAP, or with P@1 for translations. `by query` normalises scores per query, `by
model` as in the paper. The paper's Spearman coefficients seem to be of lists with small DO and small
perplexity first, which reverses their sign; ours are not reversed. The logarithm of T is the control: a
statistic that correlates with quality no better than T itself is uninformative.

{beside}

## Choice of T

MAP or P@1 at the T with the best value of each criterion. Mean proportion of the best quality, over trials:
{lost}.

{chosen}

## Cost: beside the paper's Table 2

Ratio of the processor time of MAP to that of HSA, over T ({printed_ratio} in the paper, for PLTM 5.12):

{ratios}

Queries are scored one at a time, as in interactive search; scored as one matrix product, MAP costs less, and
part of the saving is lost. HSA, DO and MAP all need the topics of the documents, and inferring those of all
documents costs far more than either; HSA saves that too only if the pairs contain few documents. Seconds of
one thread, scoring + computing, one run each, so that only orders of magnitude and ratios are meaningful (the
sampling, {drawing}, is not included):

{seconds}

## Likely reasons

{why}

## Details: sweeps, seeds and ranges

R with quality by fit; "HSA less perplexity" is the difference of absolute values, by query, with its interval
over queries. {moved}

{by_fit}

R by seed on the Lee news, which changes the fit and the sample:

{spread}

## Details: the number of bins

R of HSA with MAP or P@1:

{by_bins}

## Details: values by number of topics

{values}

{figures}

MAP or P@1, HSA and DO (normalised per query) and perplexity by T: {figure_names}.

![Joint histograms of Multi30k](histogram-topics-multi30k-histograms.svg)

As the paper's Figure 1: translations and a sample of others, for the smallest and the largest T; counts on a
logarithmic axis.

## Details: commands

`python -m leadline_studies.histogram_topics.page OUT DATA` writes `lee.qrels` and `multi30k-train.tsv` to OUT
and runs the following, and further seeds, unless OUT contains their results:

{commands}
"""


def figures() -> str:
    """Return the Markdown of the figure of every large trial."""
    return "\n".join(f"![{TRIALS[name].title}](histogram-topics-{name}.svg)" for name in LARGE[1:])


def page(every: Json) -> str:
    """Write the page."""
    results, large = main_trials(every), main_trials(every, large=True)
    first = next(iter(results.values()))
    options = first["options"]
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=first["leadline"],
            bins=options["bins"],
            particles=options["particles"],
            draws=options["draws"],
            setting_draws=DRAWS,
            sizes=sizes(every),
            low=main_result(every, "lee-0.6")["options"]["level"],
            high=main_result(every, "lee-0.8")["options"]["level"],
            queries=main_result(every, "cranfield")["options"]["queries"],
            pairs=PAIRS,
            alpha=main_result(every, "multi30k")["options"]["alpha_sum"],
            ahead=count_ahead(large, "query")[0],
            behind=count_ahead(large, "query")[2],
            large=len(large),
            share=choice_shares(results)["largest HSA, by query"][0],
            rival_share=choice_shares(results)["least perplexity"][0],
            cost=cost_range(every),
            fit_minutes=f"{fit_minutes(every):.0f}",
            printed_ratio=printed_ratio(),
            spread=spread(every),
            figure_names="; ".join(TRIALS[name].title for name in LARGE[1:]),
            total=len(results),
            counts=counts(large),
            all_counts=counts(results),
            by_fit=by_fit(every),
            moved=variation_of_fits(every),
            beside=paper_table(results),
            closer=difference_table(results),
            values=values(every),
            figures=figures(),
            by_bins=by_bins(every),
            drawing=drawing(every),
            seconds=seconds(every),
            ratios=ratios(every),
            chosen=chosen(results),
            lost=quality_of_choices(results),
            why=reasons(every),
            commands=commands(),
        )
    )


if __name__ == "__main__":
    update_page(NAME, page, collect)
