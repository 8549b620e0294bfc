"""Write the page of the studies of evaluation from a sample.

    python -m leadline_studies.histogram_sample.page [FOLDER DATA]

Runs the studies whose output is not in FOLDER. DATA contains the run sets and the text collections.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.markdown import bold, number, table, value_range, with_interval, wrapped
from leadline_studies.common.pages import (
    Json,
    copy_figures,
    find_documents,
    find_runs,
    rounded,
    run_study,
    update_page,
)

NAME = "histogram-samples"
SETS = {
    "trec-robust-2003": "Robust 2003",
    "trec-dl-2019-passage": "Passages 2019",
    "trec-covid-r1": "COVID 1",
    "trec-covid-r2-top100": "COVID 2",
}
TEXTS = {"cisi": "CISI", "cacm": "CACM", "npl": "NPL", "nfcorpus-test": "NFCorpus"}
OPTIONS = {"trec-dl-2019-passage": ("--level", "2"), "trec-covid-r2-top100": ("--samples", "5,10,20,40")}
OF_TEXTS = ("--samples", "10,30,100", "--repeats", "5", "--draws", "100")
SHOWN = "nfcorpus-test"
NOTE = "<!-- Made by leadline_studies/histogram_sample/page.py from the output of `leadline study`. -->"
FIGURES = {
    "trec-dl-2019-passage-sample/tracking": "histogram-samples-trec-dl-2019-passage.svg",
    "trec-covid-r1-sample/shares": "histogram-samples-trec-covid-r1-shares.svg",
    f"{SHOWN}-sample-models/tracking": f"histogram-samples-{SHOWN}.svg",
    f"{SHOWN}-sample-models/underrated": f"histogram-samples-{SHOWN}-underrated.svg",
}
PLAIN, WEIGHTED = "AP as sampled", "AP weighted"
SLOPES = ("HSA, scores", "HSA, ranks")


def collect(folder: Path, data: Path) -> Json:
    """Run the studies whose output is not in `folder`, and return their results."""
    collected: Json = {"runs": {}, "models": {}}
    for name in SETS:
        runs = [f"runs/{run.name}" for run in find_runs(data / name)]
        arguments = ["qrels.txt", *runs, "--team", "systems.tsv:team", *OPTIONS.get(name, ())]
        out = folder / f"{name}-sample"
        collected["runs"][name] = run_study("histogram-sample", data / name, out, arguments)
    for name in TEXTS:
        arguments = [find_documents(data / name).name, "queries.jsonl", "qrels.txt", *OF_TEXTS]
        out = folder / f"{name}-sample-models"
        collected["models"][name] = run_study("histogram-sample-models", data / name, out, arguments)
    copy_figures(folder, FIGURES)
    short: Json = rounded(collected)
    return short


def better(of_set: Json, index: int) -> Json:
    """Return the better of HSA from scores and from ranks in one cell."""
    return max(
        (of_set["estimates"][name][index] for name in SLOPES),
        key=lambda entry: -2 if entry["pearson"]["value"] is None else entry["pearson"]["value"],
    )


def count_cells(part: Json) -> tuple[int, int, int, int, int]:
    """Count cells: all, HSA above AP of the same sample, clearly above, clearly below, AP weighted best."""
    cells = above = clear = below = weighted = 0
    for of_set in part.values():
        for index in range(len(of_set["estimates"][PLAIN])):
            over = better(of_set, index)["over_ap"]
            values = {
                name: entry[index]["pearson"]["value"] or -2 for name, entry in of_set["estimates"].items()
            }
            cells += 1
            above += (over["value"] or 0) > 0
            clear += (over["low"] or 0) > 0
            below += (over["high"] or 0) < 0
            weighted += values[WEIGHTED] == max(values.values())
    return cells, above, clear, below, weighted


def verdict(part: Json, titles: dict[str, str]) -> str:
    """Return in how many cells HSA from a sample tracks MAP better than AP of that sample, as text."""
    cells, above, clear, below, weighted = count_cells(part)
    by_set = "; ".join(
        f"{titles[name]} {entry[1]} of {entry[0]}"
        for name, entry in ((name, count_cells({name: of_set})) for name, of_set in part.items())
    )
    return (
        f"HSA is ahead of AP of the same sample in {above} of {cells} cells ({by_set}); the 95 % interval of "
        f"the difference lies above 0 in {clear} and below 0 in {below}. AP weighted is the best of all five "
        f"in {weighted}."
    )


def sizes(part: Json) -> list[str]:
    """Return the heads of the columns: the numbers of other documents of the first set."""
    return [f"n = {size}" for size in next(iter(part.values()))["samples"]]


def title_of(part: Json, titles: dict[str, str], name: str) -> str:
    """Return the title of a set, with its numbers of other documents if they are not those of the heads."""
    samples = part[name]["samples"]
    usual = samples == next(iter(part.values()))["samples"]
    return titles[name] if usual else f"{titles[name]} (n = {', '.join(map(str, samples))})"


def full_lists(part: Json, titles: dict[str, str]) -> str:
    """Write R with full MAP from all relevant documents, by n."""
    rows = []
    for name, of_set in part.items():
        most = max(of_set["shares"])
        for estimate, cells in of_set["estimates"].items():
            values = [with_interval(entry["pearson"]) for entry in cells if entry["share"] == most]
            rows.append([title_of(part, titles, name), estimate, *values])
    return table(["set", "estimate", *sizes(part)], rows, labels=2)


def crossed(part: Json, titles: dict[str, str]) -> str:
    """Write R from the smallest share of relevant documents: the better HSA, AP as sampled, AP weighted."""
    rows = []
    for name, of_set in part.items():
        row = [title_of(part, titles, name)]
        for index, entry in enumerate(of_set["estimates"][PLAIN]):
            if entry["share"] != min(of_set["shares"]):
                continue
            slope, plain, weighted = (
                estimate["pearson"]["value"]
                for estimate in (better(of_set, index), entry, of_set["estimates"][WEIGHTED][index])
            )
            first = bold(number(slope), better(of_set, index)["over_ap"]["value"] > 0)
            row.append(f"{first}, {number(plain)}, {number(weighted)}")
        rows.append(row)
    return table(["set", *sizes(part)], rows, labels=1)


def means(part: Json, titles: dict[str, str]) -> str:
    """Write the means of MAP, exact and from samples of all relevant documents."""
    rows = []
    for name, of_set in part.items():
        for estimate in (PLAIN, WEIGHTED):
            most = max(of_set["shares"])
            cells = [entry for entry in of_set["estimates"][estimate] if entry["share"] == most]
            values = [number(entry["mean"], ".3f") for entry in cells]
            exact = number(of_set["mean_exact"], ".3f")
            rows.append([title_of(part, titles, name), estimate, exact, *values])
    return table(["set", "estimate", "full MAP", *sizes(part)], rows, labels=2)


def rescoring_table(results: Json) -> str:
    """Write how rescoring tracks full MAP, and how models that expand fare."""
    rows = []
    for name, of_set in results["models"].items():
        largest = max(of_set["samples"])
        for entry in of_set["underrated"]:
            rescored = entry["estimate"].startswith("rescored")
            if not rescored and entry["estimate"] != f"{WEIGHTED}, n = {largest}":
                continue
            less = with_interval(entry["less"], ".3f") if rescored else ""
            rows.append(
                [
                    TEXTS[name],
                    entry["estimate"],
                    with_interval(entry["pearson"]),
                    with_interval(entry["without_expansion"]),
                    with_interval(entry["places"], ".1f"),
                    less,
                ]
            )
    heads = [
        "collection",
        "estimate",
        "R, all models",
        "R, without expansion",
        "places lost by expansion",
        "share of MAP lost more than others",
    ]
    return table(heads, rows)


def rescoring_text(results: Json) -> str:
    """Return the effect of rescoring on models with expansion, as text."""
    text = []
    for index, top in enumerate(next(iter(results["models"].values()))["tops"]):
        entries = {name: entry["underrated"][index] for name, entry in results["models"].items()}
        values = [entry["pearson"]["value"] for entry in entries.values()]
        low = [TEXTS[name] for name, entry in entries.items() if (entry["places"]["low"] or 0) > 0]
        less = [TEXTS[name] for name, entry in entries.items() if (entry["less"]["low"] or 0) > 0]
        text.append(
            f"Rescoring BM25's first {top}: R with full MAP {value_range(values, '.3f')}; models with "
            f"expansion lose places (95 % interval above 0) on {', '.join(low) or 'no collection'}, and "
            f"significantly more of their MAP than the others on {', '.join(less) or 'none'}."
        )
    return " ".join(text)


def against_sample(results: Json) -> str:
    """Return a comparison of rescoring with the best estimate from a sample, as text."""
    ahead = 0
    for of_set in results["models"].values():
        rescored = of_set["underrated"][0]["pearson"]["value"]
        sampled = max(
            entry["pearson"]["value"] or -1
            for name in of_set["estimates"]
            for entry in of_set["estimates"][name]
        )
        ahead += rescored > sampled
    size = next(iter(results["models"].values()))["tops"][0]
    return (
        f"Rescoring the first {size} tracks full MAP better than every estimate from a sample of others "
        f"here in {ahead} of {len(results['models'])} collections"
    )


def change_of_correlation(part: Json) -> str:
    """Return the change of R with more relevant and with more other documents, as text."""
    text = []
    for name in (*SLOPES, PLAIN, WEIGHTED):
        shares, sizes = [], []
        for of_set in part.values():
            cells = {
                (entry["share"], entry["sample"]): entry["pearson"]["value"]
                for entry in of_set["estimates"][name]
            }
            few, most = min(of_set["shares"]), max(of_set["shares"])
            low, high = min(of_set["samples"]), max(of_set["samples"])
            middle = of_set["samples"][len(of_set["samples"]) // 2]
            shares.append(cells[most, middle] - cells[few, middle])
            sizes.append(cells[most, high] - cells[most, low])
        text.append(f"{name}: {value_range(shares, '+.2f')} and {value_range(sizes, '+.2f')}")
    return "; ".join(text)


def correlation_range(part: Json, name: str) -> str:
    """Return the lowest and the highest R of an estimate over all cells."""
    values = [entry["pearson"]["value"] for of_set in part.values() for entry in of_set["estimates"][name]]
    return value_range(values)


def count_better(part: Json) -> int:
    """Count the cells in which the better HSA tracks full MAP better than weighted AP."""
    return sum(
        (better(of_set, index)["pearson"]["value"] or -2) > entry["pearson"]["value"]
        for of_set in part.values()
        for index, entry in enumerate(of_set["estimates"][WEIGHTED])
    )


def models(results: Json) -> str:
    """Write MAP of every model of one collection, whole and rescored."""
    of_set = results["models"][SHOWN]
    tops = list(map(str, of_set["tops"]))
    rows = [
        [
            entry["model"],
            number(entry["map"], ".3f"),
            *(number(entry["rescored"][top], ".3f") for top in tops),
            *(f"{entry['new'][top]:.1%}" for top in tops),
        ]
        for entry in of_set["models"]
        if entry["expands"] or entry["model"] == "BM25"
    ]
    heads = [
        "model",
        "MAP",
        *(f"MAP, BM25's first {top}" for top in tops),
        *(f"relevant that BM25 lacks, first {top}" for top in tops),
    ]
    return table(heads, rows, labels=1)


def most_new(results: Json) -> str:
    """Return the largest share of relevant documents that a model without expansion adds to BM25's first."""
    of_set = results["models"][SHOWN]
    top = str(of_set["tops"][0])
    return f"{max(entry['new'][top] for entry in of_set['models'] if not entry['expands']):.1%}"


PAGE = """# Does HSA from a sample order systems better than AP of the same sample?

{note}

**Answer: not confirmed.** Krstovski, Smith and Kurtz 2015 state in their introduction, without a table, that
HSA (Histogram Slope Analysis, [glossary](../glossary.md)) from a sample of scores tracks MAP of the full
collection better than MAP computed on the same sample. Here the better of HSA from scores and from ranks is
ahead in {above} of {cells} cells (set, proportion of relevant documents, number of others), significantly in
{clear}, and significantly behind in {below}. AP with every sampled document counted N/n times (`leadline
sampled`) is the best of five estimates in {weighted} of {cells}; HSA is above it in {beaten}. To rank systems
from a sample, weight it.

![Estimates from samples, TREC 2019 passages](histogram-samples-trec-dl-2019-passage.svg)

The passages, of the submitted runs the set most favourable to HSA: R with full AP by the number of documents
sampled; the axis does not begin at 0.

## How to repeat it

    cd SET
    leadline study histogram-sample qrels.txt runs/* --team systems.tsv:team -o OUT/SET-sample
    leadline study histogram-sample-models docs.jsonl queries.jsonl qrels.txt {of_texts} \\
        -o OUT/SET-sample-models
    python -m leadline_studies.histogram_sample.page OUT DATA    # in a checkout: everything, and this page

On the passages with `--level 2`, on TREC-COVID round 2 with `--samples 5,10,20,40`. One sample size, one
proportion and two repetitions take 5 s of processor time on the passages and 20 s on CISI.
[Data](README.md#data); leadline {version}, seed {seed}. The CSV files in OUT hold every cell, also with
Spearman, Kendall and tau-AP; this page is of [histogram-samples.json](histogram-samples.json).

A proportion of the relevant documents of every query and n others are sampled by hash, the same for all
estimates: HSA from scores and from ranks (normalised per query, {bins} bins), our robust variant, AP of the
sample alone, and AP weighted as above. R is Pearson with full AP, over systems: the median over {repeats}
samples (text collections: {repeats_texts}). Brackets are 95 % bootstrap intervals over samples and queries
together.

## Submitted runs

The n others come from each run's own list, N is its length, and ranks are those of the list. The lists of
TREC-COVID round 2 hold 100 documents: its full AP is AP of those, and n is smaller.

{verdict_runs}

From all relevant documents, R:

{whole_runs}

From 25 % of the relevant documents, R of HSA (the better of two; bold where its difference from AP as sampled
is above 0), AP as sampled, AP weighted:

{crossed_runs}

![R by the share of relevant documents, TREC-COVID round 1](histogram-samples-trec-covid-r1-shares.svg)

R by the proportion of the relevant documents kept, TREC-COVID round 1; the axis does not begin at 0.

An estimate that orders systems well may still be strongly biased. The mean over runs:

{means_runs}

## Models over a collection

Here only the pairs are scored, as the paper proposes: {models_number} settings of leadline's models
({expanding} of them use pseudo-relevance feedback: BM25RF, RM1, RM3), other documents sampled from the whole
collection, ranks within the sample, truth from a ranking of the collection.

{verdict_models}

{whole_models}

![Estimates from samples, NFCorpus](histogram-samples-nfcorpus-test.svg)

NFCorpus: R with full AP by the number of documents sampled.

From 25 % of the relevant documents:

{crossed_models}

The mean over models:

{means_models}

## Alternative: rescoring the documents retrieved by BM25

The paper warns that rescoring a baseline's list misses documents that only a new model retrieves.
{rival_words}

{against_sample}, but requires a BM25 ranking of the collection. On NFCorpus the warning is confirmed: BM25
retrieves only documents that share a term with the short queries, and models with expansion retrieve many
others (last table). Places lost are the rank by full MAP minus the rank by the estimate, averaged over the
models with expansion; negative: ranked too high. Estimates from samples: all relevant documents, the largest
n.

{rivals}

![Places lost by models that expand, NFCorpus](histogram-samples-nfcorpus-test-underrated.svg)

Places that models with expansion lose, NFCorpus.

Relevant documents retrieved by models and not by BM25, on NFCorpus:

{models}

The models without expansion retrieve at most {most_new} of the relevant documents that BM25's first 100 lack.

## Details

- R over all cells, submitted runs: HSA from ranks {ranks_runs}, from scores {scores_runs}; scored pairs:
  {ranks_models} and {scores_models}.
- Change of R from a quarter to all of the relevant documents (at the middle n), and from the smallest to the
  largest n (all relevant documents), over the sets. Runs: {moved_runs}. Models: {moved_models}.
- A likely reason: AP of a sample compares each relevant document with the same other documents, query by
  query, and no query can contribute more than 1. HSA pools queries with different score distributions, gives
  a bin of one document the weight of a bin of hundreds, and is undefined if relevant and other documents
  share no bin. """


def page(results: Json) -> str:
    """Write the page."""
    runs, texts = results["runs"], results["models"]
    first, model = next(iter(runs.values())), next(iter(texts.values()))
    both = count_cells(runs), count_cells(texts)
    names = ("cells", "above", "clear", "below", "weighted")
    return wrapped(
        PAGE.format(
            note=NOTE,
            bins=first["bins"],
            repeats=first["repeats"],
            repeats_texts=model["repeats"],
            version=first["leadline"],
            seed=first["options"]["seed"],
            verdict_runs=verdict(runs, SETS),
            whole_runs=full_lists(runs, SETS),
            crossed_runs=crossed(runs, SETS),
            means_runs=means(runs, SETS),
            models_number=len(model["models"]),
            expanding=sum(entry["expands"] for entry in model["models"]),
            verdict_models=verdict(texts, TEXTS),
            whole_models=full_lists(texts, TEXTS),
            crossed_models=crossed(texts, TEXTS),
            means_models=means(texts, TEXTS),
            rival_words=rescoring_text(results),
            against_sample=against_sample(results),
            rivals=rescoring_table(results),
            models=models(results),
            **{name: sum(pair) for name, pair in zip(names, zip(*both, strict=True), strict=True)},
            most_new=most_new(results),
            beaten=count_better(runs) + count_better(texts),
            moved_runs=change_of_correlation(runs),
            moved_models=change_of_correlation(texts),
            ranks_runs=correlation_range(runs, "HSA, ranks"),
            scores_runs=correlation_range(runs, "HSA, scores"),
            ranks_models=correlation_range(texts, "HSA, ranks"),
            scores_models=correlation_range(texts, "HSA, scores"),
            of_texts=" ".join(OF_TEXTS),
        )
    )


if __name__ == "__main__":
    update_page(NAME, page, collect)
