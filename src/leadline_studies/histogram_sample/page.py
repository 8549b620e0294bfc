"""Write the page of the studies of evaluation from a sample.

    python -m leadline_studies.histogram_sample.page [FOLDER DATA]

Runs the studies whose output is not in FOLDER. DATA contains the run sets and the text collections.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.markdown import number, table, value_range, with_interval
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
    "trec-robust-2003": "TREC 2003 Robust",
    "trec-dl-2019-passage": "TREC 2019 Deep Learning, passages",
    "trec-covid-r1": "TREC-COVID round 1",
    "trec-covid-r2-top100": "TREC-COVID round 2, lists of 100",
}
TEXTS = {"cisi": "CISI", "cacm": "CACM", "npl": "NPL", "nfcorpus-test": "NFCorpus"}
OPTIONS = {"trec-dl-2019-passage": ("--level", "2"), "trec-covid-r2-top100": ("--samples", "5,10,20,40")}
OF_TEXTS = ("--samples", "10,30,100", "--repeats", "5", "--draws", "100")
SHOWN = "nfcorpus-test"
NOTE = "<!-- Made by src/leadline_studies/histogram_sample/page.py from the output of `leadline study`. -->"
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
    """Return whether HSA from a sample tracks MAP better than MAP of that sample."""
    cells, above, clear, below, weighted = count_cells(part)
    word = "does not hold" if 2 * above <= cells else "holds in most cells" if clear else "not clear"
    by_set = "; ".join(
        f"{titles[name]} {entry[1]} of {entry[0]}"
        for name, entry in ((name, count_cells({name: of_set})) for name, of_set in part.items())
    )
    return (
        f"{word}: the better of HSA from scores and from ranks (a selection that favours HSA) tracks full "
        f"MAP better than AP of the same sample in {above} of {cells} cells of proportion and n ({by_set}); "
        f"the 95 % interval of the difference lies above 0 in {clear} cells and below 0 in {below}. AP with "
        f"each sampled document counted N/n times is the best of all five estimates in {weighted} of {cells}."
    )


def full_lists(part: Json, titles: dict[str, str]) -> str:
    """Write R with full MAP from all relevant documents, by n."""
    rows = []
    for name, of_set in part.items():
        most = max(of_set["shares"])
        for estimate, cells in of_set["estimates"].items():
            cells_text = [
                f"n = {entry['sample']}: {with_interval(entry['pearson'])}"
                for entry in cells
                if entry["share"] == most
            ]
            rows.append([titles[name], estimate, *cells_text, *[""] * (4 - len(cells_text))])
    return table(["set", "estimate", *["R"] * 4], rows)


def crossed(part: Json, titles: dict[str, str]) -> str:
    """Write R by share and n: the better HSA, AP as sampled, AP weighted."""
    rows = []
    for name, of_set in part.items():
        for share in of_set["shares"]:
            row = [titles[name], f"{100 * share:g} %"]
            for index, entry in enumerate(of_set["estimates"][PLAIN]):
                if entry["share"] != share:
                    continue
                slope, plain, weighted = (
                    estimate["pearson"]["value"]
                    for estimate in (better(of_set, index), entry, of_set["estimates"][WEIGHTED][index])
                )
                mark = "**" if better(of_set, index)["over_ap"]["value"] > 0 else ""
                row.append(
                    f"n = {entry['sample']}: {mark}{number(slope)}{mark}, {number(plain)}, {number(weighted)}"
                )
            rows.append(row + [""] * (6 - len(row)))
    return table(["set", "relevant kept", *["HSA, AP as sampled, AP weighted"] * 4], rows)


def means(part: Json, titles: dict[str, str]) -> str:
    """Write the means of MAP, exact and from samples of all relevant documents."""
    rows = []
    for name, of_set in part.items():
        for estimate in (PLAIN, WEIGHTED):
            most = max(of_set["shares"])
            cells = [entry for entry in of_set["estimates"][estimate] if entry["share"] == most]
            cells_text = [f"n = {entry['sample']}: {number(entry['mean'], '.3f')}" for entry in cells]
            exact = number(of_set["mean_exact"], ".3f")
            rows.append([titles[name], estimate, exact, *cells_text, *[""] * (4 - len(cells_text))])
    return table(["set", "estimate", "full MAP", *["mean"] * 4], rows)


def rescoring_table(results: Json) -> str:
    """Write how rescoring tracks full MAP, and how models that expand fare."""
    rows = []
    for name, of_set in results["models"].items():
        largest = max(of_set["samples"])
        for entry in of_set["underrated"]:
            rescored = entry["estimate"].startswith("rescored")
            if not rescored and not entry["estimate"].endswith(f"n = {largest}"):
                continue
            less = with_interval(entry["less"], ".3f") if rescored else ""
            rows.append(
                [
                    f"{TEXTS[name]} ({of_set['documents']:,} documents)",
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
            f"expansion lose places (95 % interval above 0) in {len(low)} of {len(entries)} "
            f"collections ({', '.join(low) or 'none'}) and significantly more of their MAP than the others "
            f"in {len(less)} ({', '.join(less) or 'none'})."
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
            "yes" if entry["expands"] else "",
            number(entry["map"], ".3f"),
            *(number(entry["rescored"][top], ".3f") for top in tops),
            *(f"{entry['new'][top]:.1%}" for top in tops),
        ]
        for entry in of_set["models"]
    ]
    heads = [
        "model",
        "expands",
        "MAP",
        *(f"MAP, BM25's first {top}" for top in tops),
        *(f"relevant that BM25 lacks, first {top}" for top in tops),
    ]
    return table(heads, rows)


PAGE = """# Study: evaluating from a sample

{note}

Krstovski, Smith and Kurtz 2015 state in their introduction that HSA from a sample of scores tracks MAP of the
full collection better than MAP computed on the same sample. No table of the paper shows it, and there is no
threshold. They leave open the effect of the number of relevant and of non-relevant scores: the two factors
are crossed here.

A proportion of the relevant documents of every query and n others are sampled by hash, the same for all
estimates: HSA from scores and from ranks (normalised per query, {bins} bins), our robust variant, AP of the
sample alone, and AP with every sampled other document counted N/n times (`leadline sampled`). R is Pearson
with full AP, over systems: the median over {repeats} samples (text collections: {repeats_texts}). Brackets
are 95 % bootstrap intervals over samples and queries together. leadline {version}, seed {seed}.

## Submitted runs

The n others come from each run's own list, N is the length of the list, and ranks are those of the list.
The lists of TREC-COVID round 2 hold 100 documents, so that its full AP is AP of those, and n is smaller.

**Verdict:** {verdict_runs}

From all relevant documents:

{whole_runs}

![Estimates from samples, TREC 2019 passages](histogram-samples-trec-dl-2019-passage.svg)

The estimates on the passages, by the number of documents sampled.

By proportion of the relevant documents (HSA: the better of two; bold if above AP as sampled):

{crossed_runs}

![R by the share of relevant documents, TREC-COVID round 1](histogram-samples-trec-covid-r1-shares.svg)

R by the proportion of the relevant documents kept, TREC-COVID round 1.

An estimate with a high rank correlation may still be strongly biased. The mean over runs:

{means_runs}

## Models over a collection

Here only the pairs are scored, as the paper proposes: {models_number} settings of leadline's models
({expanding} of them use pseudo-relevance feedback: BM25RF, RM1, RM3), other documents sampled from the whole
collection, ranks within the sample, truth from a ranking of the collection.

**Verdict:** {verdict_models}

{whole_models}

![Estimates from samples, NFCorpus](histogram-samples-nfcorpus-test.svg)

The estimates on NFCorpus, by the number of documents sampled.

By proportion of the relevant documents:

{crossed_models}

The mean over models:

{means_models}

## Alternative: rescoring the documents retrieved by BM25

The paper warns that rescoring a baseline's list misses documents that only a new model retrieves.

{rival_words}

{against_sample}, but requires a BM25 ranking of the collection. On NFCorpus the warning is confirmed: its
queries are short, BM25 retrieves only documents that share a term with them, and models with expansion
retrieve many others (last table of this section): rescored, they are ranked like the rest; a weighted sample
ranks them correctly. Places lost are the rank by full MAP minus the rank by the estimate, averaged over the
models with expansion; negative values mean that they are ranked too high. Estimates from samples: all
relevant documents, the largest n.

{rivals}

![Places lost by models that expand, NFCorpus](histogram-samples-nfcorpus-test-underrated.svg)

Places that models with expansion lose, NFCorpus.

Relevant documents retrieved by each model and not by BM25, on NFCorpus:

{models}

Where 1,000 documents are most of a collection (CISI), rescoring them loses little.

## Recommendations

- To rank systems from a sample, weight it: `leadline sampled` with the size of the collection. Its ranking is
  the best here in {weighted} of {cells} cells; its values are too high if a sampled document represents many.
- HSA (the better of two) ranks systems better than weighted AP in {beaten} of {cells} cells.
  For submitted runs use ranks (R {ranks_runs} over all cells, from scores {scores_runs}); with scored
  pairs neither is reliable (ranks {ranks_models}, scores {scores_models}).
- Rescore a baseline's list only to compare models that retrieve the same documents.
- Change of R from a quarter to all of the relevant documents (at the middle n), and from the smallest to the
  largest n (all relevant documents), over the sets. Runs: {moved_runs}. Models: {moved_models}.

A likely reason: AP of a sample compares each relevant document with the same other documents, query by query,
and no query can contribute more than 1. HSA pools queries with different score distributions, gives a bin of
one document the weight of a bin of hundreds, and is undefined if relevant and other documents share no
bin.

## Reproducing the results

    cd SET
    leadline study histogram-sample qrels.txt runs/* --team systems.tsv:team -o OUT/SET-sample
    leadline study histogram-sample-models docs.jsonl queries.jsonl qrels.txt {of_texts} \\
        -o OUT/SET-sample-models
    python -m leadline_studies.histogram_sample.page OUT DATA

The last command alone runs everything (the passages with `--level 2`, TREC-COVID round 2 with `--samples
5,10,20,40`). CSV files of every cell are in OUT, with Spearman, Kendall, tau-AP, and intervals over teams.
"""


def page(results: Json) -> str:
    """Write the page."""
    runs, texts = results["runs"], results["models"]
    first, model = next(iter(runs.values())), next(iter(texts.values()))
    both = count_cells(runs), count_cells(texts)
    return PAGE.format(
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
        weighted=both[0][4] + both[1][4],
        cells=both[0][0] + both[1][0],
        beaten=count_better(runs) + count_better(texts),
        moved_runs=change_of_correlation(runs),
        moved_models=change_of_correlation(texts),
        ranks_runs=correlation_range(runs, "HSA, ranks"),
        scores_runs=correlation_range(runs, "HSA, scores"),
        ranks_models=correlation_range(texts, "HSA, ranks"),
        scores_models=correlation_range(texts, "HSA, scores"),
        of_texts=" ".join(OF_TEXTS),
    )


if __name__ == "__main__":
    update_page(NAME, page, collect)
