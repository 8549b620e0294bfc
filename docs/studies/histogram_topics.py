"""Run the study of topic models (HSA, DO, perplexity), keep its numbers, and write its page.

    python docs/studies/histogram_topics.py FOLDER DATA    runs what FOLDER lacks, then keeps the numbers
    python docs/studies/histogram_topics.py                writes the page again from histogram-topics.json

DATA holds the collections. Numbers come from `leadline study histogram-topics`; the printed values of the
paper stand in `PAPER` and `SECONDS`; only the words around them are written here.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from _markdown import extent, number, span, table
from _running import Found, copy_figures, keep, read_kept, studied, write
from leadline.statistics.correlation import pearson, spearman

NAME = "histogram-topics"
NOTE = "<!-- Made by docs/studies/histogram_topics.py from the output of `leadline study`. -->"
LEAST = 7  # numbers of topics a trial
PAIRS = 6000  # that the polylingual model is trained on
BINS = ("5", "10", "20", "50", "100", "200")


class Trial(NamedTuple):
    """One task: what it is called, its documents in DATA, and its options; FOLDER and DATA are filled in."""

    title: str
    docs: str
    options: str
    seeds: tuple[int, ...] = (0,)


LEE = "--qrels FOLDER/lee.qrels --train DATA/lee-similarity/background.jsonl --sample 20 --sweeps 300 "
LEE += "--topics 5,10,20,30,50,100,200 --level "
OTHERS = "--qrels DATA/{0}/qrels.txt --together --queries 372 --sweeps 100 --topics "
TRIALS = {
    "lee-0.6": Trial(
        "Lee news, rated 0.6", "lee-similarity/docs.jsonl", LEE + "0.6", (0, 1, 2)
    ),
    "lee-0.8": Trial(
        "Lee news, rated 0.8", "lee-similarity/docs.jsonl", LEE + "0.8", (0, 1, 2)
    ),
    "cranfield": Trial(
        "Cranfield", "cranfield/docs.jsonl",
        OTHERS.format("cranfield") + "10,20,50,100,200,300,500", (0, 1, 2),
    ),
    "nfcorpus-test": Trial(
        "NFCorpus, grade 2", "nfcorpus-test/docs.jsonl.gz",
        OTHERS.format("nfcorpus-test") + "10,20,50,100,200,300,500 --level 2",
    ),
    "npl": Trial(
        "NPL", "npl/docs.jsonl.gz", OTHERS.format("npl") + "20,50,100,200,300,500,1000", (0, 1)
    ),
    "multi30k": Trial(
        "Multi30k, German to English", "multi30k/val.tsv",
        "--languages de,en --id-column pair_id --train FOLDER/multi30k-train.tsv --alpha-sum 10 "
        "--sweeps 200 --topics 100,200,300,400,500,700,1000", (0, 1),
    ),
}  # fmt: skip
# Table 1: DO, HSA, perplexity, Pearson and then Spearman.
PAPER = {
    "paper, patents, MAP of LDA": (-0.75, 0.92, -0.84, 0.64, 0.93, 0.89),
    "paper, speeches, P@1 of PLTM": (0.00, 0.71, -0.63, 0.11, 0.64, 0.25),
}
# Table 2: T, then seconds of MAP, DO, HSA, perplexity.
SECONDS = (
    (50, 288.1, 28.2, 28.2, 11.1), (100, 224.8, 33.0, 33.0, 27.2), (200, 240.1, 47.5, 47.6, 53.6),
    (500, 345.9, 99.2, 99.2, 143.1), (1000, 405.6, 176.3, 176.3, 3166.7),
    (2000, 559.5, 333.6, 333.6, 32930.0), (5000, 1037.4, 816.2, 816.2, 46340.0),
)  # fmt: skip
TIMED = ("npl", "multi30k")
FIGURES = {
    "multi30k-seed-0/histograms": "histogram-topics-multi30k-histograms.svg",
    "multi30k-seed-0/topics": "histogram-topics-multi30k.svg",
    "npl-seed-0/topics": "histogram-topics-npl.svg",
}


def collect(folder: Path, data: Path) -> Found:
    """Run the trials that `folder` lacks and read what they found."""
    prepare(folder, data)
    found: Found = {}
    for name, trial in TRIALS.items():
        for seed in trial.seeds:
            words = command(trial, seed).replace("DATA", str(data)).replace("FOLDER", str(folder))
            found[f"{name}-seed-{seed}"] = studied(
                "histogram-topics", data, folder / f"{name}-seed-{seed}", words.split()[3:]
            )
    copy_figures(folder, FIGURES)
    return found


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
        some = [line for line, _ in zip(file, range(PAIRS + 1), strict=False)]
    (folder / "multi30k-train.tsv").write_text("".join(some), encoding="utf-8")


def command(trial: Trial, seed: int) -> str:
    """Give the command of a trial."""
    return f"leadline study histogram-topics DATA/{trial.docs} {trial.options} --seed {seed} --time"


def title_of(key: str) -> str:
    """Say which trial and which fit a key means."""
    name, _, seed = key.rpartition("-seed-")
    trial = TRIALS[name]
    return trial.title + (f", seed {seed}" if len(trial.seeds) > 1 else "")


def sizes(kept: Found) -> str:
    """Write how much there was to look at."""
    rows = []
    for name, trial in TRIALS.items():
        one = kept[f"{name}-seed-{trial.seeds[0]}"]
        options = one["options"]
        rows.append([
            trial.title, f"{one['documents']:,}",
            f"{one['trained']:,} ({one['trained_tokens']:,})", f"{one['held_out']:,}",
            f"{one['queries']:,}", f"{one['relevant'] / one['queries']:.1f}",
            f"{one['nonrelevant'] / one['queries']:.0f}", f"{one['share_of_pairs']:.1%}",
            f"{options['alpha_sum']:g}", str(options["sweeps"]), ", ".join(map(str, trial.seeds)),
        ])  # fmt: skip
    return table(
        ["task", "documents", "trained on (tokens)", "held out", "queries", "relevant a query",
         "others sampled", "pairs scored for HSA", "sum of alpha", "sweeps", "seeds"], rows,
    )  # fmt: skip


def beside(kept: Found) -> str:
    """Write the correlations beside those of the paper's Table 1."""
    rows = []
    for title, values in PAPER.items():
        overlap, slope, rival = (
            f"{number(values[place])} / {number(values[place + 3])}" for place in range(3)
        )
        rows.append([title, "", "", overlap, slope, rival, ""])
    for key, one in kept.items():
        cells = [
            "{} / {}".format(*(number(one["columns"][name][kind]["value"])
                               for kind in ("pearson", "spearman")))
            for name in ("DO per query", "HSA per query", "DO per model", "HSA per model", "perplexity")
        ]  # fmt: skip
        rows.append([title_of(key), *cells, "{:.2f} / {:.2f}".format(*control(one))])
    return table(
        ["task", "DO, by query", "HSA, by query", "DO, by model", "HSA, by model", "perplexity",
         "ln T (control)"], rows,
    )  # fmt: skip


def control(one: Found) -> tuple[float, float]:
    """Correlate the logarithm of T itself with quality: Pearson and Spearman."""
    quality = np.array([each["quality"] for each in one["settings"]])
    size = np.log([each["topics"] for each in one["settings"]])
    return pearson(quality, size), spearman(quality, size)


def closer(kept: Found) -> str:
    """Write by how much HSA follows more closely than perplexity, and what the study says of it."""
    rows = [
        [title_of(key), *(
            span(one["closer"][norm]["perplexity"][kind])
            for norm in ("per query", "per model") for kind in ("pearson", "spearman")
        ), one["lines"][0].rpartition("]: ")[2]]
        for key, one in kept.items()
    ]  # fmt: skip
    heads = ["R, by query", "rho, by query", "R, by model", "rho, by model", "by the rule"]
    return table(["task", *heads], rows)


def values(kept: Found) -> str:
    """Write what was measured by number of topics, one table a task."""
    parts = []
    for name, trial in TRIALS.items():
        one = kept[f"{name}-seed-{trial.seeds[0]}"]
        rows = [
            [f"{each['topics']:,}", number(each["quality"], ".3f"), number(each["perplexity"], ".0f"),
             *(number(each[norm][key]) for norm in ("per query", "per model") for key in ("hsa", "do"))]
            for each in one["settings"]
        ]  # fmt: skip
        heads = ["T", one["measure"], "perplexity", "HSA, by query", "DO, by query", "HSA, by model",
                 "DO, by model"]  # fmt: skip
        said = f"**{trial.title}**" + (f", seed {trial.seeds[0]}" if len(trial.seeds) > 1 else "")
        parts.append(f"{said}\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def by_bins(kept: Found) -> str:
    """Write R of HSA with quality by the number of bins."""
    rows = [
        [title_of(key), norm, *(number(one["by_bins"][norm][count]) for count in BINS)]
        for key, one in kept.items()
        for norm in ("query", "model")
    ]
    return table(["task", "normalised by", *(f"{count} bins" for count in BINS)], rows)


def printed_seconds() -> str:
    """Write the paper's Table 2 with the ratio of MAP to HSA."""
    rows = [
        [f"{row[0]:,}", *(f"{value:,.1f}" for value in row[1:]), f"{row[1] / row[3]:.1f}"]
        for row in SECONDS
    ]
    return table(["T", "MAP", "DO", "HSA", "perplexity", "MAP / HSA"], rows)


def ratio(one: Found) -> float:
    """Give how many times the time of HSA MAP takes."""
    return float(
        (one["MAP scoring"] + one["MAP computing"]) / (one["HSA scoring"] + one["HSA computing"])
    )


def seconds(kept: Found) -> str:
    """Write the processor times of some tasks."""
    rows = [
        [TRIALS[name].title, f"{one['topics']:,}",
         f"{one['MAP scoring']:.3f} + {one['MAP computing']:.3f}",
         f"{one['HSA scoring']:.3f} + {one['DO computing']:.3f}",
         f"{one['HSA scoring']:.3f} + {one['HSA computing']:.3f}", f"{one['perplexity']:.1f}",
         f"{ratio(one):.1f}", f"{one['MAP scoring, all at once']:.3f}", f"{one['infer']:.1f}",
         f"{one['fit']:.1f}"]
        for name in TIMED
        for one in kept[f"{name}-seed-0"]["seconds"]["settings"]
    ]  # fmt: skip
    return table(
        ["task", "T", "MAP", "DO", "HSA", "perplexity", "MAP / HSA", "MAP scoring as one product",
         "topics of all documents", "fit"], rows,
    )  # fmt: skip


def counts(kept: Found) -> str:
    """Say how often HSA follows more closely, in the point and in the interval."""
    parts = []
    for norm in ("query", "model"):
        gains = [one["closer"][f"per {norm}"]["perplexity"]["pearson"] for one in kept.values()]
        larger = sum((one["value"] or 0) > 0 for one in gains)
        clear = sum((one["low"] or 0) > 0 for one in gains)
        below = sum((one["high"] or 0) < 0 for one in gains)
        parts.append(
            f"normalised per {norm}, |R| of HSA is above that of perplexity in {larger}, "
            f"clearly (interval above 0) in {clear}, and clearly below in {below}"
        )
    return "; ".join(parts)


def ahead(kept: Found) -> list[str]:
    """Give the trials where the rule holds: HSA by query is ahead in the interval too."""
    return [
        key
        for key, one in kept.items()
        if (one["closer"]["per query"]["perplexity"]["pearson"]["low"] or 0) > 0
    ]


def word(kept: Found) -> str:
    """Say for either task of the paper in which trials the rule holds."""
    parts = []
    for what, measure in (("LDA and MAP", "MAP"), ("polylingual LDA and P@1", "P@1")):
        some = [key for key in kept if kept[key]["measure"] == measure]
        good = [title_of(key) for key in ahead(kept) if key in some]
        if 0 < len(good) < len(some):
            said = f"reproduced in kind in {len(good)} of {len(some)} trials ({'; '.join(good)})"
        else:
            said = f"{'' if good else 'not '}reproduced{' in kind' if good else ''} (trials: {len(some)})"
        parts.append(f"{what}: {said}")
    return "; ".join(parts)


def spread(kept: Found) -> str:
    """Say how far R moves between fits that differ in their seed alone."""
    parts = []
    for name, trial in TRIALS.items():
        if len(trial.seeds) > 1:
            found = [kept[f"{name}-seed-{seed}"]["columns"] for seed in trial.seeds]
            ends = [
                "{} {:.2f} to {:.2f}".format(column.replace(" per ", " by "), min(ones), max(ones))
                for column in ("HSA per query", "HSA per model", "perplexity")
                if (ones := [one[column]["pearson"]["value"] for one in found])
            ]
            parts.append(f"  - {trial.title}: " + ", ".join(ends))
    return "\n".join(parts)


def ratios(kept: Found) -> str:
    """Say how many times the time of HSA MAP takes, by task."""
    parts = []
    for name, trial in TRIALS.items():
        found = kept[f"{name}-seed-{trial.seeds[0]}"]["seconds"]["settings"]
        some = [ratio(one) for one in found]
        share = kept[f"{name}-seed-{trial.seeds[0]}"]["share_of_pairs"]
        parts.append(f"{trial.title} {extent(some, '.1f')} ({share:.1%} of the pairs)")
    return "; ".join(parts)


def best_by(one: Found, *keys: str, sign: int = 1) -> Found:
    """Give the setting that is largest (or with sign -1 least) by a number that lies under the keys."""

    def value(setting: Any) -> float:
        for key in keys:
            setting = setting[key]
        return float("-inf") if setting is None else sign * float(setting)

    found: Found = max(one["settings"], key=value)
    return found


def choices(one: Found) -> dict[str, Found]:
    """Give the setting that each number would choose."""
    return {
        "best": best_by(one, "quality"),
        "largest HSA, by query": best_by(one, "per query", "hsa"),
        "largest HSA, by model": best_by(one, "per model", "hsa"),
        "least perplexity": best_by(one, "perplexity", sign=-1),
    }


def chosen(kept: Found) -> str:
    """Write the quality of the T that each number would choose."""
    rows = [
        [title_of(key)]
        + [f"{each['quality']:.3f} (T = {each['topics']:,})" for each in choices(one).values()]
        for key, one in kept.items()
    ]
    return table(["task", *choices(next(iter(kept.values())))], rows)


def lost(kept: Found) -> str:
    """Say how much of the best quality each choice of T reaches, in the mean over trials."""
    found = [choices(one) for one in kept.values()]
    parts = []
    for name in list(found[0])[1:]:
        shares = [one[name]["quality"] / one["best"]["quality"] for one in found]
        parts.append(
            f"{name} {sum(shares) / len(shares):.0%} (in the worst trial {min(shares):.0%})"
        )
    return "; ".join(parts)


WHY = """\
- **The comparison fails more than HSA does.** R of HSA with quality is 0.7 or more in {good} of {total}
  trials by query, in {good_model} by model; the paper has 0.92 and 0.71. But |R| of perplexity is
  {least:.2f} to {most:.2f} here, and 0.84 or more in {strong} trials; the paper has 0.84 and 0.63. It does
  not say how it estimated perplexity; ours is left to right, on documents of the same source as those that
  are asked about.
- **Range of T.** Where quality only falls, or only rises, with T, whatever moves with T follows it. The T of
  least perplexity is above the best T in {above} trials, below it in {below}, and the same in {same}. HSA is
  ahead where they lie far apart ({apart}):
  perplexity rewards more topics than finding similar documents does. Over all trials |R| of HSA by query is
  above that of the control in {control} of {total}.
- **One fit is noisy.** R by seed, which changes the fit, the sample and, without other texts to train on, the
  documents asked about and those held out:
{spread}
- **How similar.** HSA weighs all bins alike, so that it also asks where the least similar relevant documents
  lie, while MAP and P@1 live on the first ranks. That fits the Lee news: the same models, and HSA follows
  MAP where documents rated 0.8 count as relevant, and not where those rated 0.6 do.
- **Normalisation.** HSA by model has the larger R in {models} of {total} trials ({names}); the two often lie
  far apart, although scores of topic models are on one scale.
- **Few points.** Every coefficient is of {points} numbers, and one swap moves Spearman by 0.036. The
  intervals draw queries, not fits, and in our own task a pair of documents often asks in both directions, so
  that queries are less independent than the intervals take them to be.
- **Not tried.** Patents and speeches, and T of 2,000 and 5,000: the largest collection here has {largest:,}
  documents, theirs 70,000."""


def why(kept: Found) -> str:
    """Say what fails and what may be the reason."""
    columns = [one["columns"] for one in kept.values()]
    slopes = [one["HSA per query"]["pearson"]["value"] for one in columns]
    models = [one["HSA per model"]["pearson"]["value"] for one in columns]
    rivals = [abs(one["perplexity"]["pearson"]["value"]) for one in columns]
    better = [
        title_of(key) for key, one, two in zip(kept, slopes, models, strict=True) if two > one
    ]
    pairs = [
        (found["least perplexity"]["topics"], found["best"]["topics"])
        for found in map(choices, kept.values())
    ]
    apart = "; ".join(
        f"{title_of(key)}: best T {found['best']['topics']:,}, least perplexity with "
        f"{found['least perplexity']['topics']:,}, |R| of HSA "
        f"{abs(kept[key]['columns']['HSA per query']['pearson']['value']):.2f}, of the control, ln T, "
        f"{abs(control(kept[key])[0]):.2f}"
        for key in ahead(kept)
        for found in [choices(kept[key])]
    )
    return WHY.format(
        good=sum(one >= 0.7 for one in slopes), good_model=sum(one >= 0.7 for one in models),
        total=len(kept), least=min(rivals), most=max(rivals), strong=sum(one >= 0.84 for one in rivals),
        apart=apart, control=sum(
            abs(slope) > abs(control(one)[0]) for slope, one in zip(slopes, kept.values(), strict=True)
        ), spread=spread(kept),
        above=sum(one > two for one, two in pairs), below=sum(one < two for one, two in pairs),
        same=sum(one == two for one, two in pairs), models=len(better), names="; ".join(better) or "none",
        points=LEAST, largest=max(one["documents"] for one in kept.values()),
    )  # fmt: skip


def drawing(kept: Found) -> str:
    """Say how long it took to draw the samples."""
    parts = [
        f"{kept[f'{name}-seed-0']['seconds']['drawing']:.1f} s ({TRIALS[name].title})"
        for name in TIMED
    ]
    return ", ".join(parts)


def commands() -> str:
    """Write the commands of all trials."""
    lines = [
        "    " + command(trial, trial.seeds[0]).replace("FOLDER", "OUT") + f" -o OUT/{name}-seed-0"
        for name, trial in TRIALS.items()
    ]
    return "\n".join(lines)


PAGE = """# Study: histograms of topic models (HSA, DO, perplexity)

{note}

Krstovski, Smith and Kurtz 2015 look at the number of topics T of LDA and of polylingual LDA (PLTM), and say
that HSA tells how well a model finds similar documents: better than perplexity does, and for less work than
MAP. Their patents and speeches are not public. Here: leadline {version}, own fits by Gibbs sampling,
documents ranked by Hellinger distance (score = minus the distance), {bins} bins, {particles} particles for
perplexity. HSA and DO see the relevant documents of every query and a sample of others, chosen by hash and
the same for every T; MAP and P@1 rank all documents. Brackets are 95 % intervals from drawing the queries
again {draws} times.

{sizes}

What counts as similar:

- Lee news: documents that people rated {low} or more alike, or {high} or more; both fixed before looking.
  Trained on the background texts of the collection.
- Cranfield, NFCorpus, NPL: **our own task**. Two documents are similar where judges found both relevant to
  one query of the collection. {queries} documents drawn at random ask. Of NFCorpus only grade 2 counts (by
  grade 1 a sixth of the collection would be similar to each document), decided from these counts alone.
- Multi30k: a German caption asks, its English translation is the one relevant document. Trained on the first
  {pairs:,} pairs of the training part, asked about the validation part. The sum of alpha, {alpha:g}, came
  from an earlier look at P@1 with T = 100.

Perplexity is of documents that were not trained on: all asked about where there were other texts to train
on, else a tenth of the collection. There is one fit for every T and seed.

## Verdict

**{word}.** The rule, fixed before looking: over seven or more T the absolute Pearson coefficient of HSA,
normalised per query, with MAP or P@1 is larger than that of perplexity, in the interval over queries too.
Over all {total} trials: {counts}.

|R| or |rho| of HSA less that of perplexity, with intervals over queries:

{closer}

## Beside the paper's Table 1

Pearson / Spearman over T with MAP, or with P@1 for translations. `by query` normalises scores per query, `by
model` is the letter of the paper. The paper's Spearman coefficients seem to be of lists with small DO and
small perplexity first, which turns their sign; ours are plain. The logarithm of T stands beside them as a
control: a number that follows quality no more closely than that says nothing that T does not.

{beside}

## Which T each would choose

MAP or P@1 at the T that has the best value. In the mean over trials the choice reaches, of the best quality
tried: {lost}.

{chosen}

## By number of topics

{values}

![P@1, HSA, DO and perplexity by T, Multi30k](histogram-topics-multi30k.svg)

![MAP, HSA, DO and perplexity by T, NPL](histogram-topics-npl.svg)

Multi30k, then NPL: quality, HSA and DO (normalised per query) and perplexity.

![Joint histograms of Multi30k](histogram-topics-multi30k-histograms.svg)

As the paper's Figure 1: translations against a sample of others, for the smallest and the largest T.

## The number of bins

R of HSA with MAP or P@1:

{by_bins}

## Time, beside the paper's Table 2

The paper, in seconds, with the ratio that follows from it (for PLTM it says 5.12):

{printed}

Ours, in seconds of processor time of one thread, scoring + computing, as `--time` gives them: one run each
on Linux x86_64 with two processors (AMD EPYC) that others used too, good for sizes and ratios only. Queries
are scored one at a time, as they come. HSA, DO and MAP all need the topics of the documents first;
perplexity does not. To draw the samples by
hash, once for all T, took {drawing}; the
ratios are without it.

{seconds}

MAP takes so many times the processor time of HSA: {ratios}. Where all queries are known beforehand, scoring
them as one matrix product costs less a pair than one query at a time, and part of what HSA saves is gone. To
infer the topics of all documents costs far more than either; HSA saves that too only where few documents are
in the pairs.

## What was not reproduced, and why that may be

{why}

## To repeat it

    python docs/studies/histogram_topics.py OUT DATA

makes `lee.qrels` and `multi30k-train.tsv` in OUT and runs these, and further seeds, where OUT lacks them:

{commands}

The numbers are kept in `histogram-topics.json`.
"""


def page(kept: Found) -> str:
    """Write the page."""
    first = next(iter(kept.values()))
    options = first["options"]
    return PAGE.format(
        note=NOTE, version=first["leadline"], bins=options["bins"], particles=options["particles"],
        draws=options["draws"], sizes=sizes(kept), low=kept["lee-0.6-seed-0"]["options"]["level"],
        high=kept["lee-0.8-seed-0"]["options"]["level"],
        queries=kept["cranfield-seed-0"]["options"]["queries"], pairs=PAIRS,
        alpha=kept["multi30k-seed-0"]["options"]["alpha_sum"], word=word(kept), total=len(kept),
        counts=counts(kept),
        beside=beside(kept), closer=closer(kept), values=values(kept),
        by_bins=by_bins(kept), printed=printed_seconds(), drawing=drawing(kept), seconds=seconds(kept),
        ratios=ratios(kept), chosen=chosen(kept), lost=lost(kept), why=why(kept),
        commands=commands(),
    )  # fmt: skip


def main(words: list[str]) -> None:
    """Run what is asked and write the page."""
    if words:
        keep(NAME, collect(Path(words[0]).resolve(), Path(words[1]).resolve()))
    write(NAME, page(read_kept(NAME)))


if __name__ == "__main__":
    main(sys.argv[1:])
