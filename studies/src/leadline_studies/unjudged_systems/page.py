"""Write the page of the study of systems without judgments.

    python -m leadline_studies.unjudged_systems.page [FOLDER DATA]

FOLDER contains the output of `leadline study`, a folder per run set, as the commands on the page name them;
DATA contains the run sets, for the part on 41 to 99 runs.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from leadline_studies.common.markdown import table, value_range, with_interval, wrapped
from leadline_studies.common.pages import Json, cached, copy_figures, read_result, update_page
from leadline_studies.unjudged_systems.between_41_and_99 import between, between_table, between_text

NAME = "unjudged-systems"
SETS = {
    "trec-covid-r1": "COVID 1",
    "trec-covid-r2-top100": "COVID 2",
    "trec-dl-2019-passage": "Passages 2019",
    "trec-robust-2003": "Robust 2003",
}
BETWEEN = "41 to 99 runs"
VOTES = {"run": "a run", "team": "a team"}
NOTE = "<!-- Made by leadline_studies/unjudged_systems/page.py from the output of `leadline study`. -->"
FIGURES = {
    f"{name}/{figure}": f"unjudged-{name}-{figure}.svg"
    for name, figure in (
        ("trec-covid-r1", "nruns"),
        ("trec-robust-2003", "nruns"),
        ("trec-covid-r1", "sizes"),
    )
}
Results = dict[str, dict[str, Any]]


def methods(results: Results) -> list[str]:
    """Return the methods, the one with the largest mean tau first."""
    names = list(results["trec-covid-r1"]["methods"])

    def tau(name: str) -> float:
        return sum(float(of_set["methods"][name]["run"]["kendall"]["value"]) for of_set in results.values())

    return sorted(names, key=lambda name: -tau(name))


def agreement(results: Results, part: str, votes: str) -> str:
    """Write one statistic of all methods and sets."""
    return by_set(results, lambda name, of_set: with_interval(of_set["methods"][name][votes][part]))


def by_set(results: Results, cell: Callable[[str, dict[str, Any]], str]) -> str:
    """Write one cell for each method and set."""
    rows = [[name, *(cell(name, results[set_name]) for set_name in SETS)] for name in methods(results)]
    return table(["method", *SETS.values()], rows)


def best(results: Results) -> str:
    """Write the estimated ranks of the best systems, and tau within the better half."""

    def cell(values: dict[str, Any]) -> str:
        return (
            f"{values['place_of_best']}; {values['mean_place_of_best']:.1f} "
            f"({values['ideal_mean_place']:.1f}); {values['better_half']:.2f}"
        )

    rows = [
        [name, VOTES[votes], *(cell(results[set_name]["methods"][name][votes]) for set_name in SETS)]
        for name in methods(results)
        for votes in VOTES
    ]
    return table(["method", "votes", *SETS.values()], rows)


def list_change(results: Results) -> str:
    """Return by how much tau changes with MAP of the lists as they are, as text."""
    return value_range(
        (
            results[set_name]["lists"]["methods"][name]["kendall"]["value"]
            - results[set_name]["methods"][name]["run"]["kendall"]["value"]
            for set_name in SETS
            for name in methods(results)
        ),
        "+.2f",
    )


def team_change(results: Results) -> str:
    """Return by how much tau changes with one vote per team, as text."""
    return value_range(
        (
            of_method["team"]["kendall"]["value"] - of_method["run"]["kendall"]["value"]
            for set_name in SETS
            for of_method in results[set_name]["methods"].values()
        ),
        "+.2f",
    )


def sizes(results: Results) -> str:
    """Write mean tau of nruns by the number of systems."""
    numbers = ["5", "10", "20", "50", "100"]
    rows = []
    for set_name, title in SETS.items():
        values = results[set_name]["sizes"]["nruns"]
        cells = [
            with_interval(values[number]["kendall"], middle="mean") if number in values else "-"
            for number in numbers
        ]
        rows.append([title, *cells])
    return table(["set", *numbers], rows)


def left_out(results: Results) -> str:
    """Write the range of tau when one team is left out."""

    def cell(name: str, of_set: dict[str, Any]) -> str:
        span = of_set["left_out"][name]["kendall"]
        return f"{span['low']:.2f} to {span['high']:.2f}"

    return by_set(results, cell)


def siblings(results: Results) -> str:
    """Write how many places the runs of a team gain by each other's votes."""

    def cell(name: str, of_set: dict[str, Any]) -> str:
        values = of_set["left_out"][name]
        parts = [values[f"gain_{votes}"] for votes in VOTES]
        if values["with_siblings"] > 1:
            return "; ".join(with_interval(part, "+.1f") for part in parts)
        return "; ".join(f"{part['value']:+.1f}" for part in parts)

    return by_set(results, cell)


def several(results: Results) -> str:
    """Return the numbers of teams with several runs, as text."""
    return ", ".join(str(results[name]["left_out"]["nruns"]["with_siblings"]) for name in SETS)


def counts(results: Results) -> str:
    """Return the data used, as text."""
    return "; ".join(
        f"{title}, {results[name]['systems']} runs of {results[name]['teams']} teams, "
        f"{results[name]['queries']} queries"
        for name, title in SETS.items()
    )


PAGE = """# How well do estimators without judgments rank systems?

{note}

**Answer: partly; they order a track, not its best systems.** Five published estimators (Soboroff and others
2001, Aslam and Savell 2003, Wu and Crestani 2003, Spoerri 2007, Sakai and Lin 2010) need only the ids of
retrieved documents ([how](../unjudged.md)). {words}

![nruns against MAP, TREC-COVID round 1](unjudged-trec-covid-r1-nruns.svg)

TREC-COVID round 1: nruns against published MAP. Ringed: the best three by either.

## How to repeat it

    cd SET
    leadline study unjudged-systems qrels.txt runs/* --team systems.tsv:team --truth systems.tsv:MAP \\
        -o OUT/SET
    python -m leadline_studies.unjudged_systems.page OUT DATA    # in a checkout: this page

On TREC-COVID with `--teams 12`, on the passages with `--level 2`; the column is `official_map_l2` there, and
`official_map` for Robust. Processor time: 27 s on Robust 2003. [Data](README.md#data): {counts}. Defaults of
leadline {version}, seed 0; all numbers in [unjudged-systems.json](unjudged-systems.json).

Brackets are 95 % bootstrap intervals over whole teams ({samples:,} resamples); votes are not recounted in a
resample, so that the intervals treat them as fixed. Of COVID 2 only the first 100 documents of each list are
available: estimators use these, the published MAP is of the whole lists.

## Kendall's tau with MAP

{kendall}

With one vote per team instead of one per run, which changes tau by {moved}:

{kendall_team}

## The best systems

tau-AP, which weights errors near the top more:

{tau_ap}

Estimated rank of the best run; mean rank of the best tenth (value of a perfect ranking); tau within the
better half (including the median):

{best}

All five underestimate systems that retrieve relevant documents which no other system retrieves.

![nruns against MAP, TREC 2003 Robust](unjudged-trec-robust-2003-nruns.svg)

Robust 2003: nruns against MAP, as above; the axes do not begin at 0.

## Fewer systems

Mean tau of nruns over {subsets} random sets of systems, with the 5 % and 95 % quantiles:

{sizes}

![tau by the number of systems, TREC-COVID round 1](unjudged-trec-covid-r1-sizes.svg)

COVID 1: mean tau by the number of systems.

## Effect of runs of the same team

Ranks gained by a run, among the runs of other teams, from the votes of the other runs of its team; after the
semicolon with one vote per team. Means over teams with several runs ({several}), with 95 % bootstrap
intervals over teams:

{siblings}

## Details: 41 to 99 runs

Mean over 20 random sets of 41 to 99 runs, with the 5 % and 95 % quantiles; and the 37 runs of TREC 2019
passages with 24 later runs that were not pooled, with MAP computed from the lists. 18 of these re-rank the
first 100 documents of one of two systems, and those of one system count as a team; each of the other six is a
team. (Here, with fewer systems and with a team left out Soboroff has 10 draws instead of 50.)

{between}

{between_words}

## Details: leave one team out

Lowest and highest tau among the other runs when one team is excluded (TREC-COVID: the twelve largest):

{left_out}

## Details: other coefficients and truths

Pearson with published MAP:

{pearson}

With MAP computed from these files instead of the published one, tau changes by {list_moved}; tau between the
two is {list_tau} in the order of the columns (published values are rounded, and the lists of COVID 2 are
cut).
"""


def conclusions(results: Results) -> str:
    """Return the conclusions with their numbers, as text."""
    order = methods(results)
    first = [results[set_name]["methods"]["nruns"]["run"] for set_name in SETS]
    above = [
        sum(results[set_name]["methods"][name]["run"]["kendall"]["low"] > 0 for name in order)
        for set_name in SETS
    ]

    def listed(values: Iterable[float]) -> str:
        return ", ".join(f"{value:.2f}" for value in values)

    return (
        "Of nruns, the best on average, tau with MAP is "
        f"{listed(of_set['kendall']['value'] for of_set in first)} on four tracks "
        f"({', '.join(SETS.values())}); the interval lies above 0 for {', '.join(map(str, above))} of the "
        f"{len(order)} methods. All misrank the best systems: within the better half tau of nruns is "
        f"{listed(of_set['better_half'] for of_set in first)}, and the best {first[0]['best']} of "
        f"{results['trec-covid-r1']['systems']} runs of COVID 1 have by nruns mean rank "
        f"{first[0]['mean_place_of_best']:.1f} instead of {first[0]['ideal_mean_place']:.1f}. Use them to "
        "find defective systems, not to select the best."
    )


def page(contents: Results) -> str:
    """Write the page."""
    results = {name: contents[name] for name in SETS}
    first = results["trec-covid-r1"]
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=first["leadline"],
            samples=first["options"]["samples"],
            subsets=first["options"]["subsets"],
            words=conclusions(results),
            counts=counts(results),
            kendall=agreement(results, "kendall", "run"),
            kendall_team=agreement(results, "kendall", "team"),
            tau_ap=agreement(results, "tau_ap", "run"),
            pearson=agreement(results, "pearson", "run"),
            best=best(results),
            moved=team_change(results),
            list_moved=list_change(results),
            list_tau=", ".join(f"{results[name]['lists']['kendall']:.3f}" for name in SETS),
            several=several(results),
            sizes=sizes(results),
            left_out=left_out(results),
            siblings=siblings(results),
            between=between_table(contents[BETWEEN], methods(results)),
            between_words=between_text(contents[BETWEEN], methods(results)),
        )
    )


def collect(folder: Path, data: Path) -> Json:
    """Read the results in `folder`, copy the figures, and test the methods on sets of 41 to 99 systems."""
    copy_figures(folder, FIGURES)
    results = {name: read_result(folder / name / f"{NAME}.json") for name in SETS}
    return results | {BETWEEN: cached(lambda: between(data), folder / "between.json")}


if __name__ == "__main__":
    update_page(NAME, page, collect)
