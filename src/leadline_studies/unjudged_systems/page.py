"""Write the page of the study of systems without judgments.

    python -m leadline_studies.unjudged_systems.page [FOLDER DATA]

FOLDER contains the output of `leadline study`, a folder per run set, as the commands on the page name them;
DATA contains the run sets, for the part on 41 to 99 runs.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from leadline_studies.common.markdown import table, value_range, with_interval
from leadline_studies.common.pages import Json, cached, copy_figures, read_result, update_page
from leadline_studies.unjudged_systems.between_41_and_99 import between, between_table, between_text

NAME = "unjudged-systems"
SETS = {
    "trec-covid-r1": "TREC-COVID round 1",
    "trec-covid-r2-top100": "TREC-COVID round 2, first 100",
    "trec-dl-2019-passage": "TREC 2019 Deep Learning, passages",
    "trec-robust-2003": "TREC 2003 Robust",
}
BETWEEN = "41 to 99 runs"
VOTES = {"run": "a run", "team": "a team"}
NOTE = "<!-- Made by src/leadline_studies/unjudged_systems/page.py from the output of `leadline study`. -->"
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
    rows = [
        [name, *(with_interval(results[set_name]["methods"][name][votes][part]) for set_name in SETS)]
        for name in methods(results)
    ]
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


def list_table(results: Results) -> str:
    """Write tau with MAP of the lists as they are, and what it has with the published MAP."""
    rows = [
        [name, *(with_interval(results[set_name]["lists"]["methods"][name]["kendall"]) for set_name in SETS)]
        for name in methods(results)
    ]
    rows.append(["published MAP", *(f"{results[set_name]['lists']['kendall']:.3f}" for set_name in SETS)])
    return table(["method", *SETS.values()], rows)


def sizes(results: Results) -> str:
    """Write mean tau by the number of systems."""

    def cell(values: dict[str, Any]) -> str:
        return with_interval(values["kendall"], middle="mean")

    return by_number(results, cell)


def other_sizes(results: Results) -> str:
    """Write mean tau-AP and Pearson by the number of systems, and tau with one vote a team."""

    def cell(values: dict[str, Any]) -> str:
        return "; ".join(f"{values[part]['mean']:.2f}" for part in ("tau_ap", "pearson", "team"))

    return by_number(results, cell)


def by_number(results: Results, cell: Callable[[dict[str, Any]], str]) -> str:
    """Write one cell for each set, method and number of systems."""
    numbers = ["5", "10", "20", "50", "100"]
    rows = []
    for set_name, title in SETS.items():
        for name in methods(results):
            values = results[set_name]["sizes"][name]
            cells = [cell(values[number]) if number in values else "-" for number in numbers]
            rows.append([title, name, *cells])
    return table(["set", "method", *numbers], rows)


def left_out(results: Results) -> str:
    """Write the range of the statistics when one team is left out."""
    rows = []
    for set_name, title in SETS.items():
        for name in methods(results):
            values = results[set_name]["left_out"][name]
            spans = [
                f"{values[part]['low']:.2f} to {values[part]['high']:.2f}"
                for part in ("kendall", "tau_ap", "pearson")
            ]
            rows.append([title, name, str(values["teams"]), *spans])
    return table(["set", "method", "teams left out", "tau", "tau-AP", "Pearson"], rows)


def siblings(results: Results) -> str:
    """Write how many places the runs of a team gain by each other's votes."""
    rows = []
    for set_name, title in SETS.items():
        for name in methods(results):
            values = results[set_name]["left_out"][name]
            run, team = (values[f"gain_{votes}"] for votes in VOTES)
            cells = [f"{part['value']:+.1f}" for part in (run, team)]
            if values["with_siblings"] > 1:
                cells = [with_interval(part, "+.1f") for part in (run, team)]
            most = f"{run['largest']:+.1f} ({run['team']})"
            rows.append([title, name, str(values["with_siblings"]), cells[0], most, cells[1]])
    heads = ["set", "method", "teams of several runs", "ranks gained", "most"]
    return table([*heads, "with one vote per team"], rows)


def counts(results: Results) -> str:
    """Write the table of the data used."""
    parts = ("systems", "teams", "queries")
    rows = [[title, *(str(results[set_name][part]) for part in parts)] for set_name, title in SETS.items()]
    return table(["set", "runs", "teams", "queries"], rows)


PAGE = """# Study: systems ranked without judgments

{note}

Five estimators that need only the ids of retrieved documents rank the runs of four tracks; how well do they
agree with the published MAP? Defaults of leadline {version}, seed 0; on the passages grades from 2 count as
relevant. Brackets are 95 % bootstrap intervals over whole teams ({samples:,} resamples); votes are not
recounted in a resample, so that the intervals treat the votes as fixed. Of TREC-COVID round 2 only the first
100 documents of each list are available: estimators use these, the published MAP is of the whole lists.

**Results.** {words}

{counts}

## Kendall's tau with MAP

{kendall}

With one vote per team instead of one per run:

{kendall_team}

## tau-AP, which weights errors near the top more

{tau_ap}

## Pearson

{pearson}

## MAP of the lists as they are

Tau with MAP computed from these files instead of the published one. The last row is tau between the two: they
are the same where lists are whole (published values are rounded), and nearly the same where they are cut.

{beside}

## The best systems

Estimated rank of the best run; mean rank of the best tenth (value of a perfect ranking); tau within the
better half (including the median).

{best}

![nruns against MAP, TREC-COVID round 1](unjudged-trec-covid-r1-nruns.svg)
![nruns against MAP, TREC 2003 Robust](unjudged-trec-robust-2003-nruns.svg)

nruns against MAP: TREC-COVID round 1, then TREC 2003 Robust. Ringed: the best three by either.

## Fewer systems

Mean tau over {subsets} random sets of systems, with the 5 % and 95 % quantiles.

{sizes}

![tau by the number of systems, TREC-COVID round 1](unjudged-trec-covid-r1-sizes.svg)

The same sets: mean tau-AP; mean Pearson; mean tau with one vote per team.

{other_sizes}

## 41 to 99 runs

Mean over 20 random sets of 41 to 99 runs, with the 5 % and 95 % quantiles; and the 37 runs of TREC 2019
passages with 24 later runs that were not pooled, with MAP computed from the lists. 18 of these re-rank
the first 100 documents of one of two systems, and those of one system count as a team; each of the
other six is a team. (For the random sets Soboroff has 10 draws.)

{between}

{between_words}

## Leave-one-team-out

Lowest and highest agreement among the other runs when one team is excluded (TREC-COVID: the twelve largest).

{left_out}

## Effect of runs of the same team

Ranks gained by a run, among the runs of other teams, from the votes of the other runs of its team. Means over
teams with several runs, with 95 % bootstrap intervals over teams, and the largest gain. (Here, and with
fewer systems or a team excluded, Soboroff has 10 draws instead of 50.)

{siblings}

## Reproducing the results

    cd SET
    leadline study unjudged-systems qrels.txt runs/* --team systems.tsv:team --truth systems.tsv:MAP \\
        -o OUT/SET
    python -m leadline_studies.unjudged_systems.page OUT DATA

(on TREC-COVID with `--teams 12`, on the passages with `--level 2`; the column is `official_map_l2` there, and
`official_map` for Robust)
"""


def conclusions(results: Results) -> str:
    """Return the conclusions with their numbers, as text."""
    order = methods(results)
    run = {name: [results[set_name]["methods"][name]["run"] for set_name in SETS] for name in order}
    above = {
        title: sum(results[set_name]["methods"][name]["run"]["kendall"]["low"] > 0 for name in order)
        for set_name, title in SETS.items()
    }
    first = run["nruns"]
    moved = [
        results[set_name]["methods"][name]["team"]["kendall"]["value"]
        - results[set_name]["methods"][name]["run"]["kendall"]["value"]
        for set_name in SETS
        for name in order
    ]
    covid = results["trec-covid-r1"]
    gains = {votes: [covid["left_out"][name][f"gain_{votes}"]["value"] for name in order] for votes in VOTES}
    last = (
        f"One vote per team changes tau by {value_range(moved, '+.2f')}. On TREC-COVID round 1 a run gains "
        f"{min(gains['run']):.1f} to {max(gains['run']):.1f} ranks by the votes of the other runs of its "
        f"team, and {min(gains['team']):.1f} to {max(gains['team']):.1f} with one vote per team."
    )
    lines = [
        "No method is best everywhere. nruns has tau "
        + ", ".join(f"{values['kendall']['value']:.2f}" for values in first)
        + " on the four sets in the order of the tables; the interval of tau lies above 0 for "
        + ", ".join(f"{count} of {len(order)} methods on {title}" for title, count in above.items())
        + ".",
        "All of them misrank the best systems: tau-AP of nruns is "
        + ", ".join(f"{values['tau_ap']['value']:.2f}" for values in first)
        + ", tau within the better half "
        + ", ".join(f"{values['better_half']:.2f}" for values in first)
        + f", and the best {first[0]['best']} of {covid['systems']} runs of TREC-COVID round 1 have mean "
        f"rank {first[0]['mean_place_of_best']:.1f} by nruns instead of "
        f"{first[0]['ideal_mean_place']:.1f}. All five underestimate systems that retrieve relevant "
        "documents which no other system retrieves: use these estimates to detect defective systems, not to "
        "select the best.",
        last,
    ]
    return "\n".join(lines)


def page(contents: Results) -> str:
    """Write the page."""
    results = {name: contents[name] for name in SETS}
    first = results["trec-covid-r1"]
    return PAGE.format(
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
        beside=list_table(results),
        sizes=sizes(results),
        other_sizes=other_sizes(results),
        left_out=left_out(results),
        siblings=siblings(results),
        between=between_table(contents[BETWEEN], methods(results)),
        between_words=between_text(contents[BETWEEN], methods(results)),
    )


def collect(folder: Path, data: Path) -> Json:
    """Read the results in `folder`, copy the figures, and test the methods on sets of 41 to 99 systems."""
    copy_figures(folder, FIGURES)
    results = {name: read_result(folder / name / f"{NAME}.json") for name in SETS}
    return results | {BETWEEN: cached(lambda: between(data), folder / "between.json")}


if __name__ == "__main__":
    update_page(NAME, page, collect)
