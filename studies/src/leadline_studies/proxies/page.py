"""Write the page of the study of proxies, and the table in docs/estimate.md.

    python -m leadline_studies.proxies.page [FOLDER DATA]

Runs the study, and the retrieval models of the collections without runs, if their output is not in FOLDER.
DATA contains the folders in `SETS`. Without arguments the page is written from the numbers kept in
docs/studies.
"""

from __future__ import annotations

import re
from math import nan
from pathlib import Path
from typing import Any

from leadline.io.write import write_run
from leadline.reporting.plots import COLUMN, picture
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.search import search
from leadline_studies.common.markdown import number, table, value_range, wrapped
from leadline_studies.common.pages import (
    PAGES,
    Json,
    find_documents,
    read_numbers,
    rounded,
    run_study,
    update_page,
)

NAME = "proxies"
SETS = {
    "trec-dl-2019-passage": "TREC 2019 DL, passages",
    "trec-robust-2003": "Robust 2003",
    "trec-covid-r1": "TREC-COVID round 1",
    "trec-covid-r2-top100": "TREC-COVID round 2",
    "cranfield": "Cranfield",
    "cacm": "CACM",
    "npl": "NPL",
}
LEVEL = {"trec-dl-2019-passage": "2"}
MODELS = (
    "BM25(k1=0.9,b=0.4)",
    "BM25",
    "RM3",
    "RM1",
    "SDM",
    "QLDirichlet",
    "QLJelinekMercer",
    "QLHiemstra",
    "PL2",
    "In_expB2",
    "TF(cosine)",
    "TFIDF(cosine)",
)
PROXIES = (
    "votes",
    "votes, cells by rank",
    "votes by nruns",
    "votes by reference-count",
    "votes by DeShaTo",
    "votes by HSA",
    "votes by true value",
    "adverse: random labels",
    "adverse: worst run",
    "none",
)
DRAWS = "50"
TITLE = "## Proxies"


def collect(folder: Path, data: Path) -> Json:
    """Run the study on every set."""
    results = {}
    for name in SETS:
        collection, output = data / name, folder / name
        arguments = ["--level", LEVEL.get(name, "1"), "--draws", DRAWS]
        if (collection / "runs").is_dir():
            runs = [path for part in ("runs", "extra-runs") for path in sorted((collection / part).glob("*"))]
        else:
            runs = searched(collection, output / "runs")
            arguments += ["--docs", str(find_documents(collection))]
        result = run_study(
            NAME, collection, output, [str(collection / "qrels.txt"), *map(str, runs), *arguments]
        )
        kept = ("draws", "budget", "systems", "queries", "pairs", "level", "cells")
        results[name] = rounded({key: result[key] for key in kept})
    return results


def searched(collection: Path, folder: Path) -> list[Path]:
    """Rank the documents of a collection by twelve retrieval models, unless that was done."""
    paths = [folder / f"{number:02}.run" for number in range(len(MODELS))]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        runs = search(build_index(str(find_documents(collection))), str(collection / "queries.jsonl"), MODELS)
        for run, path in zip(runs.values(), paths, strict=True):
            write_run(run, path)
    return paths


def cells_of(kept: Json, name: str, measure: str) -> dict[str, Any]:
    """Return the cells of one set and measure by proxy."""
    return {cell["proxy"]: cell for cell in kept[name]["cells"] if cell["measure"].startswith(measure)}


def of_models(kept: Json) -> str:
    """Name the collections whose runs are retrieval models, with texts for DeShaTo."""
    *names, last = (SETS[name] for name in kept if "votes by DeShaTo" in cells_of(kept, name, "P"))
    return f"{', '.join(names)} and {last}" if names else last


def section(kept: Json) -> str:
    """Write the section of docs/estimate.md."""
    shown = ("votes", "votes by nruns", "votes by DeShaTo", "votes by HSA", "votes by true value", "none")
    rows = []
    for name in kept:
        cells = cells_of(kept, name, "P")
        rows.append(
            [
                f"{SETS[name]} ({kept[name]['systems']} runs)",
                *(f"{cells[cell]['ratio']:.3f}" if cell in cells else "" for cell in shown),
                f"{cells['votes']['coverage']:.3f}",
                f"{max(cells[cell]['ratio'] for cell in PROXIES[7:9]):.3f}",
            ]
        )
    heads = ("", *shown, "coverage, votes", "worst adverse")
    without_runs = of_models(kept)
    every = [cell for part in kept.values() for cell in part["cells"]]
    adverse = max(cell["ratio"] for cell in every if cell["proxy"].startswith("adverse"))
    votes = [cell["ratio"] for cell in every if cell["proxy"] == "votes"]
    pairs = [cells_of(kept, name, measure) for name in kept for measure in ("P", "RBP")]
    most = max(100 * (cell["votes"]["ratio"] - cell["votes by true value"]["ratio"]) for cell in pairs)
    low = min(kept, key=lambda name: cells_of(kept, name, "P")["votes"]["coverage"])
    worst = cells_of(kept, low, "P")
    least_rbp = min(cells_of(kept, name, "RBP")["votes"]["coverage"] for name in kept)
    return f"""{TITLE}

A proxy made without the judgments predicts the grades of unjudged pairs: the argument `proxy` of
`leadline.estimation.estimate.estimate`, the estimator behind `evaluate`. It changes the width of
the intervals, not what is estimated.
The table has the mean width for P@10 with {kept["cacm"]["budget"]} judgments per query, divided by that of
the default (`centred`), over {DRAWS} draws. DeShaTo needs the texts; on {without_runs} the runs are twelve
retrieval models of leadline.

{table(heads, rows, labels=1)}

- `proxy="votes"` divides the pairs into eight cells by their votes, the sum of 1 / (60 + rank) over the
  pooled runs. Its intervals of P@10 and RBP@10 are {value_range(votes, ".3f")} times as wide as those of the
  default.
- Votes weighted by the estimated quality of each run are no option, because the weights hardly matter:
  weights by the true values save at most {most:.1f} percentage points more than equal ones.
- Proxies without information (random labels, or the ranks of the worst run) widen the intervals to at most
  {adverse:.3f} times those of the default.
- Coverage of P@10 is lowest on {SETS[low]}: {number(worst["votes"]["coverage"], ".3f")} with votes and
  {number(worst["centred"]["coverage"], ".3f")} with the default, where the budget is
  {100 * kept[low]["budget"] / kept[low]["pairs"]:.0f} % of the frame. Of RBP@10
  with votes it is {least_rbp:.3f} or more. The standard error of these shares is up to 3 percentage points,
  as errors of a draw are common to all runs.
- `proxy="FILE:COLUMN"` takes any other number for each pair, such as a weighted vote, the score of a
  re-ranker or of a classifier. FILE is a table with the columns query_id, doc_id and COLUMN. Up to eight
  distinct values are a cell each, more are divided by quantiles, and pairs without a value are a separate
  cell.

[The study](studies/proxies.md) has all proxies, RBP and the spread between draws.
"""


def drawn(kept: Json) -> Any:
    """Draw the relative width for P@10 of each proxy and set, with the range of the draws."""
    from leadline_studies.common.figures import grouped_intervals

    sets = {SETS[name]: cells_of(kept, name, "P") for name in kept}
    nothing = dict.fromkeys(("ratio", "ratio_low", "ratio_high"), nan)
    groups = {
        name: [
            tuple(cells.get(proxy, nothing)[field] for field in ("ratio", "ratio_low", "ratio_high"))
            for proxy in PROXIES
        ]
        for name, cells in sets.items()
    }
    label = "width of the interval of P@10 relative to that of the default (centred); "
    label += f"mean, smallest and largest of {DRAWS} draws"
    return grouped_intervals(PROXIES, groups, label=label, mark=1.0, width=1.6 * COLUMN)


def page(kept: Json) -> str:
    """Write the page."""
    parts = []
    for name, data in kept.items():
        both = [cells_of(kept, name, measure) for measure in ("P", "RBP")]
        rows = [
            [
                proxy,
                *(
                    text
                    for cells in both
                    for text in (
                        f"{cells[proxy]['ratio']:.3f} ({cells[proxy]['ratio_sd']:.3f})",
                        f"{cells[proxy]['half_width']:.4f}",
                        f"{cells[proxy]['coverage']:.3f}",
                    )
                ),
            ]
            for proxy in ("centred", *PROXIES)
            if proxy in both[0]
        ]
        heads = ("proxy", "P@10: width", "half-width", "coverage", "RBP@10: width", "half-width", "coverage")
        parts.append(
            f"""## {SETS[name]}

{data["systems"]} runs, {data["queries"]} queries, {data["pairs"]:.0f} documents per query in the frame.

{table(heads, rows, labels=1)}"""
        )
    own = of_models(kept)
    every = [cell for part in kept.values() for cell in part["cells"]]
    votes = [cell for cell in every if cell["proxy"] == "votes"]
    adverse = max(cell["ratio"] for cell in every if cell["proxy"].startswith("adverse"))
    blind = max(cell["ratio"] for cell in every if cell["proxy"] == "none")
    share = (
        value_range([100 * data["given"] for part in kept.values() for data in part["cells"]], ".0f") + " %"
    )
    text = f"""# Study: proxies of unjudged grades

<!-- Written by leadline_studies/proxies/page.py from the output of `leadline study`. -->

`leadline evaluate --pool` predicts the grades of unjudged documents. How much narrower do predictions make
the intervals of estimates, and what does a prediction without information cost?
**Answer: intervals with votes of the runs are {value_range([cell["ratio"] for cell in votes], ".2f")} times
as wide as those with one mean for all documents, and weighting the votes gains hardly more; a prediction
without information widens them to at most {adverse:.3f}, no prediction to {blind:.2f}.** With votes 95 %
intervals contain the truth in {value_range([cell["coverage"] for cell in votes], ".3f")} of the cases.
Errors of one of the {DRAWS} draws are common to all runs, so that the standard error of such a
share is up to 3 percentage points.

All runs of a set are pooled. Documents are drawn {DRAWS} times as `leadline pool --for` draws them, with
{kept["cacm"]["budget"]} judgments per query. Official judgments are the truth, and documents without one are
not relevant; grade 1 and above is relevant, grade 2 and above for TREC 2019 DL. On {own} the runs are twelve
retrieval models of leadline, and DeShaTo uses three LDA fits with 50 topics.

`width` is the mean over runs and draws of the width of the 95 % interval over draws, divided by its width
with `centred` (the mean grade of the judged pairs of other queries), with the standard deviation between
draws in parentheses; coverage is that of the true values. Both are of the intervals that
`evaluate` gives, with at most 5 % of the weight outside the frame: these are {share} of P@10 and RBP@10 of
each set. Votes are sums over the runs of 1 / (60 + rank).
`votes` divides them at quantiles, as the command does, `cells by rank` at ranks 3, 6, 11, 21, 41 and 81
within the query. The others weight the vote of a run from 0 (lowest score) to 1 (highest), by scores without
judgments (nruns, reference count, DeShaTo), by HSA of the judged ranks of other queries, and by the true
value of the measure, which shows how much weights can achieve. `none` predicts 0 (Horvitz and Thompson
1952). The adverse machines label pairs at random, or by their ranks in the worst run.

![Relative width for each proxy and set](proxies-widths.svg)

Widths for P@10 relative to the default (line at 1), and the smallest and the largest of the {DRAWS} draws.
Votes are narrower in every set, their weights change little, proxies without information are at 1, and
`none` is wider.

{(chr(10) * 2).join(parts)}

    leadline study proxies QRELS RUN... --level 1 --draws {DRAWS} -o OUT

The numbers are in [proxies.json](proxies.json).
"""
    return wrapped(text)


if __name__ == "__main__":
    update_page(NAME, page, collect)
    (PAGES / f"{NAME}-widths.svg").write_bytes(picture(drawn(read_numbers(NAME)), "svg"))
    guide = PAGES.parent / "estimate.md"
    parts = re.split(r"^(?=## )", guide.read_text(encoding="utf-8"), flags=re.MULTILINE)
    others = [part for part in parts if not part.startswith(TITLE)]
    guide.write_text("".join(others).rstrip() + "\n\n" + section(read_numbers(NAME)), encoding="utf-8")
