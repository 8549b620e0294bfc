"""Write the page of the study of the run that a machine judge favours.

    python -m leadline_studies.circular.page [FOLDER DATA]

Runs the study and the simulation of coverage if their output is not in FOLDER. DATA contains
trec-dl-2019-passage, trec-dl-2019-machine-labels and llmjudge-dl23.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from leadline_studies.circular.coverage import every_interval
from leadline_studies.circular.study import NAME, shown
from leadline_studies.common.markdown import percent, table, wrapped
from leadline_studies.common.pages import (
    Json,
    cached,
    copy_figures,
    find_runs,
    rounded,
    run_study,
    update_page,
)

MACHINE = "llama70b-criteria"


def collect(folder: Path, data: Path) -> Json:
    """Run the study on TREC 2019 DL with the labels of one machine, and simulate the coverage."""
    folder.mkdir(parents=True, exist_ok=True)
    place = data / "trec-dl-2019-passage"
    words = [str(place / "qrels.txt"), *map(str, find_runs(place))]
    for path in sorted((place / "extra-runs").iterdir()):
        words += ["--new", str(path)]
    words += [
        "--machine",
        str(data / f"trec-dl-2019-machine-labels/{MACHINE}.qrels"),
        "--level",
        "2",
        "--draws",
        "200",
    ]
    found = run_study(NAME, data, folder, words)
    copy_figures(folder, {NAME: f"{NAME}.svg"})
    kept = ("measure", "level", "depth", "budget", "draws", "pooled", "queries", "runs", "lines")
    simulated = cached(lambda: dict(every_interval(data)), folder / "coverage.json")
    return {key: rounded(found[key]) for key in kept} | {"coverage": rounded(simulated)}


def runs_table(numbers: Json) -> str:
    """Write the circular run and the best others."""
    rows = [
        [
            f"**{row['name']}**" if row["name"] == NAME else row["name"],
            f"{row['machine']:.3f}",
            str(row["machine_place"]),
            f"{row['estimate']:.3f} ± {row['half_width']:.3f}",
            f"{row['place']:.1f} ({row['place_low']} to {row['place_high']})",
            f"{100 * row['covered']:.1f} %",
            f"{row['truth']:.3f}",
            str(row["truth_place"]),
        ]
        for row in shown(numbers)
    ]
    heads = ["run", "machine alone", "place", f"{numbers['budget']:g} judgments a query", "mean place (90 %)"]
    return table([*heads, "coverage", "truth", "place"], rows, labels=1)


def audits_table(numbers: Json) -> str:
    """Write the coverage of the intervals of audits."""
    rows = [
        [
            row["judge"],
            row["measure"],
            str(row["queries"]),
            *(percent(row[name]) for name in ("bias", "bias_worst_run", "mean_bias", "gains")),
            percent(row["wrongly_favoured"]),
            *(
                f"{percent(row[name])} ({row[f'{name}_width']:.2f})"
                for name in ("kendall_all", "tau_ap_all", "kendall_top", "tau_ap_top")
            ),
        ]
        for row in numbers["coverage"]["audits"]
    ]
    heads = ["judge", "measure", "queries", "bias of a run", "worst run", "mean bias", "all gains at once"]
    heads += ["sets with a run wrongly called favoured", "tau, all", "tau-AP, all", "tau, first 10"]
    return table([*heads, "tau-AP, first 10"], rows, labels=2)


def kappas_table(numbers: Json) -> str:
    """Write the coverage of kappa and its half-width."""
    rows = [
        [
            row["collection"],
            row["judge"],
            str(row["queries"]),
            f"{row['kappa']:.3f}",
            f"{row['design_effect']:.1f}",
            f"{row['half_width']:.3f}",
            f"{row['half_width_share']:.2f}",
            percent(row["coverage"]),
        ]
        for row in numbers["coverage"]["kappas"]
    ]
    heads = ["collection", "judge", "queries", "kappa", "design effect", "half-width", "of the true one"]
    return table([*heads, "coverage"], rows, labels=2)


def span(values: Iterable[float]) -> str:
    """Write the least and the largest share in percent."""
    known = list(values)
    return f"{100 * min(known):.0f} to {100 * max(known):.0f} %"


def page(numbers: Json) -> str:
    """Write the page."""
    (row,) = (row for row in numbers["runs"] if row["name"] == NAME)
    audits, kappas = numbers["coverage"]["audits"], numbers["coverage"]["kappas"]

    def of(*names: str) -> str:
        return span(row[name] for row in audits for name in names)

    text = f"""# Study: a run that the machine judge favours

<!-- Made by leadline_studies/circular/page.py from the output of `leadline study`. -->

How wrong is an evaluation by the labels of a machine of a run that was built from these labels, and do a few
human judgments mend it? **Answer: the labels alone put the run on place {row["machine_place"]}, all human
judgments on place {row["truth_place"]}; {numbers["budget"]:g} human judgments a query give it a mean place of
{row["place"]:.1f}, with intervals of P@10 that contain the truth in {100 * row["covered"]:.1f} % of the
draws.** The 95 % intervals of `agreement --runs` are approximate: those of the bias of a run cover in
{of("bias")} on average over runs, but those of all gains at once in {of("gains")}.

TREC 2019 Deep Learning, passages: {len(numbers["runs"])} runs, {numbers["queries"]} queries, relevant
from grade {numbers["level"]:g}. The machine is Llama-3 70B (`{MACHINE}`). The run `circular` takes the first
{numbers["depth"]}
documents by the votes of the submitted runs (reciprocal rank fusion) and orders them by the labels of the
machine. It
is pooled with the {numbers["pooled"] - 1} submitted runs; the others are later ones.
{numbers["draws"]} times, {numbers["budget"]:g} documents a query were drawn as `leadline pool --for P@10`
draws them, judged by the official judgments, and all runs were estimated as by `leadline
evaluate --machine`. The truth is all official judgments; passages without one are not relevant.

{runs_table(numbers)}

![P@10 by the machine alone, by {numbers["budget"]:g} judgments a query, and by all judgments](circular.svg)

The table and the figure show the circular run and the best submitted runs by the truth; places are among all
{len(numbers["runs"])} runs. Half-width and place are means over the draws; coverage is the share of draws
whose interval
contains the truth.

- By the labels alone the circular run has P@10 {row["machine"]:.2f} and place {row["machine_place"]}.
  Nothing in the
  result shows that this is wrong, and an interval over queries would be narrow around it.
- With {numbers["budget"]:g} judgments a query it has {row["estimate"]:.3f} ± {row["half_width"]:.3f} and
  mean place
  {row["place"]:.0f} (90 % of the draws: {row["place_low"]} to {row["place_high"]}); in truth
  {row["truth"]:.3f} and
  place {row["truth_place"]}. The same labels, calibrated by the judgments, do not favour it.

## Coverage of the intervals of `agreement --runs`

The {numbers["queries"]} queries are the population, from which queries were drawn with replacement; official
judgments
are the reference. Coverage in percent, 200 samples a row (standard error 1.5 points); mean width of rank
correlations
in brackets.

{audits_table(numbers)}

- Bias of a run (Student): {of("bias")} on average over runs, {of("bias_worst_run")} for the worst run. Mean
  bias: {of("mean_bias")}.
- Gains, all at once (randomised max-t): {of("gains")}; a run is wrongly called favoured in
  {of("wrongly_favoured")} of the samples.
- Rank correlations of all runs (corrected bootstrap): {of("kendall_all", "tau_ap_all")}.
- Of the first ten runs: {of("kendall_top", "tau_ap_top")}, but so wide that they exclude little. The
  order of the
  best ten runs is not known from {numbers["queries"]} queries.

Cohen's kappa plus and minus its half-width, 1,000 samples a row; `of the true one`: mean half-width
divided by 1.96
standard deviations over samples.

{kappas_table(numbers)}

- The half-width, from which the number of judgments needed is computed, is right to
  {100 * max(abs(row["half_width_share"] - 1) for row in kappas):.0f} %; the interval contains kappa in
  {span(row["coverage"] for row in kappas)}.
- The design effect is {min(row["design_effect"] for row in kappas):.0f} to
  {max(row["design_effect"] for row in kappas):.0f}: judgments of one query are alike, and the number of
  queries counts.

## Reproducing the results

    leadline study circular QRELS RUN... --new RUN --machine LABELS --level 2 --draws 200 -o OUT
    python -m leadline_studies.circular.page OUT DATA

The numbers are in [circular.json](circular.json).
"""
    return wrapped(text)


if __name__ == "__main__":
    update_page(NAME, page, collect)
