"""The part of the study of significance about what commands print: its numbers, text and figure."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from leadline.reporting.plots import picture
from leadline_studies.common.figures import coverage_points
from leadline_studies.common.markdown import percent, table
from leadline_studies.significance.false_alarms import (
    MARGIN,
    POPULATIONS,
    SKEWED,
    several_conditions,
    single_gates,
)
from leadline_studies.significance.families import WORLDS, families
from leadline_studies.significance.populations import read_matrices
from leadline_studies.significance.printed_intervals import CONCENTRATION, every_correlation, every_interval

SETS = 200
FAMILIES = ((10, 25), (10, 50), (20, 50))  # runs, queries
FAMILY_DRAWS = 1_999
GATE_PAIRS = 40  # of runs, of each matrix
GATE_SETS = 100  # of each pair
PROCEDURES = ("MaxT", "Tukey", "Holm(T)", "Bonferroni(T)")
Rows = list[dict[str, Any]]


def simulate(folder: str, file: str, *, seed: int = 0) -> None:
    """Simulate from a folder of data sets and write the numbers as JSON."""
    start = time.process_time()
    results: dict[str, Any] = {}
    for name, rows in every_interval(folder, sets=SETS, seed=seed):
        results.setdefault(name, []).extend(rows)
    results["correlate"] = every_correlation(folder, seed=seed)
    matrices = read_matrices(os.path.join(folder, "score-matrices"))
    results["compare"] = [
        row
        for runs, queries in FAMILIES
        for row in families(
            matrices, runs=runs, queries=queries, sets=SETS // len(matrices), draws=FAMILY_DRAWS, seed=seed
        )
        if row["procedure"] in PROCEDURES
    ]
    minutes = round((time.process_time() - start) / 60, 1)
    results["facts"] = {"seed": seed, "sets": SETS, "minutes": minutes}
    write(results | gates(os.path.join(folder, "score-matrices"), seed=seed), file)


def simulate_correlations(folder: str, file: str, *, seed: int = 0) -> None:
    """Simulate the intervals of `correlate` only; the other numbers of the file stay."""
    with open(file, encoding="utf-8") as given:
        previous: dict[str, Any] = json.load(given)
    write(previous | {"correlate": every_correlation(folder, seed=seed)}, file)


def simulate_gates(folder: str, file: str, *, seed: int = 0) -> None:
    """Simulate the gates only, from a folder of score matrices; the other numbers of the file stay."""
    with open(file, encoding="utf-8") as given:
        previous: dict[str, Any] = json.load(given)
    write(previous | gates(folder, seed=seed), file)


def rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with numbers rounded to five decimal places; undefined values are None."""
    return {
        key: (None if math.isnan(value) else round(value, 5)) if isinstance(value, float) else value
        for key, value in row.items()
    }


def json_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as JSON, one per line."""
    return ",\n".join(map(json.dumps, rows))


def gates(folder: str, *, seed: int = 0) -> dict[str, Any]:
    """Simulate the gates of `compare`."""
    start = time.process_time()
    matrices = read_matrices(folder)
    single_results = single_gates(matrices, pairs=GATE_PAIRS, sets=GATE_SETS, seed=seed)
    conditions = several_conditions(matrices, pairs=GATE_PAIRS, sets=GATE_SETS, seed=seed)
    facts = {
        "seed": seed,
        "pairs": GATE_PAIRS,
        "sets": GATE_SETS,
        "seconds": round(time.process_time() - start),
    }
    return {"gate_facts": facts, "gates": single_results, "conditions": conditions}


def write(results: dict[str, Any], file: str) -> None:
    """Write the numbers to five decimal places, one row per line."""
    parts = [f'"{name}": {json.dumps(results[name])}' for name in ("facts", "gate_facts")]
    tables = ("compare", "correlate", "agreement", "pool", "gates", "conditions")
    parts += [f'"{name}": [\n{json_rows(map(rounded, results[name]))}\n]' for name in tables]
    with open(file, "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(parts) + "\n}\n")


def extent(values: Iterable[float]) -> str:
    """Return the range of some proportions in per cent, as text."""
    shares = list(values)
    return f"{percent(min(shares))} to {percent(max(shares))} %"


def mean_percent(values: Iterable[float]) -> str:
    """Return the mean of some proportions in per cent, as text."""
    return percent(float(np.mean(list(values))))


def coverage_of(rows: Rows, *names: str) -> list[float]:
    """Return the coverages of some quantities, or of all."""
    return [row["coverage"] for row in rows if not names or row["what"] in names]


def figure(data: dict[str, Any]) -> bytes:
    """Draw the coverages, of `correlate` those of Kendall's tau and tau-AP."""
    groups: dict[str, dict[str, tuple[float, float]]] = {}
    for row in data["compare"]:
        if row["procedure"] == "MaxT":
            name = f"{row['world']}, {row['runs']} runs, {row['queries']} queries"
            groups.setdefault("MaxT", {})[name] = (row["held"], row["held_se"])
    for row in (row for row in data["correlate"] if row["what"] in ("kendall", "tau_ap")):
        name = f"{row['data']}, {row['runs']} runs, {row['queries']} queries"
        groups.setdefault(row["what"], {})[name] = (row["coverage"], row["se"])
    for key in ("agreement", "pool"):
        for row in data[key]:
            name = row["data"] + (f", {row['depth']}, {row['share']}" if key == "pool" else "")
            groups.setdefault(row["what"], {})[name] = (row["coverage"], row["se"])
    return picture(coverage_points(groups), "svg")


def section(data: dict[str, Any]) -> str:
    """Write the part of the page."""
    sets = data["facts"]["sets"]
    compared = [row for row in data["compare"] if row["procedure"] != "Holm(T)"]

    def held(procedure: str) -> str:
        return extent(row["held"] for row in compared if row["procedure"] == procedure)

    def wrong(procedure: str) -> str:
        return extent(
            row["family"]
            for row in data["compare"]
            if row["procedure"] == procedure and row["world"] in ("all equal", "equal means")
        )

    pairs = [row for row in data["agreement"] if row["drawn"] == "pairs"]
    by_query = [row for row in data["agreement"] if row["drawn"] == "queries"]
    chosen = [row for row in data["correlate"] if row["data"].startswith("dl19")]
    others = [row for row in data["correlate"] if not row["data"].startswith("dl19")]
    lowest = min(data["correlate"], key=lambda row: row["coverage"])
    return f"""
## Intervals that commands print

The same question for every interval of `compare`, `correlate`, `agreement` and `evaluate --pool` that says
95 %: complete data are the population, {sets} samples are drawn from it with a fixed seed, and the
interval of each is compared with the value of the whole. Intervals of width 0 are left out. The Monte Carlo
standard error of a share near 95 % is 1.5 percentage points. These simulations took
{data["facts"]["minutes"]} minutes on one core:
`python -m leadline_studies.significance.page --intervals DATA`; all numbers are in
_significance_intervals.json. They are newer than the simulations above, which do not include `Sign`,
`MaxT`, the inverted randomisation test and the exact distribution of `Wilcoxon` with ties.

![Coverage of printed intervals](significance-intervals.svg)

**Simultaneous intervals of `compare`.** The share of families in which the intervals of *all* pairs contain
the true differences, in the worlds of "Many runs", beside the family-wise error (a significant pair that does
not differ, or differs the other way). Where all means are equal the family-wise error of `MaxT` is
{wrong("MaxT")}, of Tukey's procedure {wrong("Tukey")}, of Holm's correction {wrong("Holm(T)")}. The intervals
of `MaxT` cover in {held("MaxT")} of the families, Tukey's in {held("Tukey")}, Bonferroni's t intervals in
{held("Bonferroni(T)")}. The intervals of `MaxT` are bootstrap-t intervals. Where the topics of
real collections are the population, coverage with few queries is lower, also of Bonferroni's
([coverage](../comparing.md#many-runs)).

{_compared(data["compare"])}

**`correlate` and `agreement --runs`: intervals over queries of rank correlations.** Every sample has other
runs, and a population of its own: the queries of a collection with equal weights, or in every second sample
with random weights (Dirichlet, parameter {CONCENTRATION:g}). Queries are drawn with replacement. `machine`
are labels of Llama-3 70B for the same runs. Sampling error lowers rank correlations on average, most where
many runs are nearly equal, and resamples contain it twice, so that percentiles of a bootstrap are too low.
The interval used extrapolates this bias and is wider by a factor that was chosen on TREC 2019 Deep Learning
(`dl19`): there it covers in {extent(coverage_of(chosen))} of the samples,
{mean_percent(coverage_of(chosen))} % on average; on the other collections in
{extent(coverage_of(others))}, {mean_percent(coverage_of(others))} % on average. It is approximate. The
lowest coverage is that of {lowest["data"]} ({lowest["what"]}, {lowest["runs"]} runs). Where the
differences of runs are mostly sampling error (reliability of the means below 0.8) the interval may be too
low; `correlate` warns of it.

{_correlated(data["correlate"])}

**`agreement`.** Queries drawn with replacement from the 25 of LLMJudge ({len(by_query)} coefficients, two or
five judges): Student's t intervals of jackknifed values cover in {extent(coverage_of(by_query))} of the
samples ([with fewer queries](../agreement.md#confidence-intervals)). Pairs drawn from the 188 that eight
people judged, percentile intervals of 1,000 resamples: {extent(coverage_of(pairs))}.

{_agreed(data["agreement"])}

**`evaluate --pool`: R and recall.** Complete judgments are sampled: the first documents of a run with
certainty, the others with the given probability. Gamma intervals of R cover in
{extent(coverage_of(data["pool"], "R"))}, those of recall@100 in {extent(coverage_of(data["pool"], "recall"))}
of the samples, on these two collections.

{_pooled(data["pool"])}
{gates_section(data)}"""


def gates_section(data: dict[str, Any]) -> str:
    """Write the part of the page about gates."""
    facts, rows, many = data["gate_facts"], data["gates"], data["conditions"]
    even = [row for row in rows if row["population"] == "exchangeable"]
    uneven = [row for row in rows if row["population"] != "exchangeable"]
    few, many_queries = (end(row["queries"] for row in rows) for end in (min, max))

    def rates(results: Rows, key: str = "rate") -> str:
        return extent(row[key] for row in results)

    def of(gate: str, results: Rows) -> Rows:
        return [row for row in results if row["gate"] == gate]

    def worst(results: Rows, number: int) -> str:
        return percent(
            max(
                row[key]
                for row in results
                if row["queries"] == number and row["against"] is not None
                for key in ("against", "towards")
            )
        )

    first, last = of("fail-if-worse", uneven), of("require-not-worse", uneven)
    largest = {k: max(row["rate"] for row in many if row["conditions"] == k) for k in (1, 2, 3)}
    return f"""
## False alarms of gates

Error rates of the gates of `compare` where the truth lies on the border: `--fail-if-worse M` and
`--fail-if-worse M:{MARGIN:g}` fail although nothing is lost, or just the margin; `--require-not-worse
M:{MARGIN:g}` passes although just the margin is lost. Nominal is alpha, 5 %. Populations are the differences
of {facts["pairs"]} pairs of runs of each score matrix, {facts["sets"]} samples of each and of each number of
queries, with the mean on the border: *exchangeable*, every difference with either sign; *tilted*,
the differences reweighted; *shifted*, the differences less a constant. Test and interval are the defaults.
An inconclusive result is no false alarm here. The largest Monte Carlo standard error is
{percent(max(row["se"] for row in [*rows, *many]))} percentage points.
`python -m leadline_studies.significance.page --gates MATRICES` repeats this part
({facts["seconds"]} seconds).

With exchangeable runs every gate errs in {rates(even)}. With real distributions `--fail-if-worse` raises a
false alarm in {rates(first)} and `--require-not-worse` passes falsely in {rates(last)}: one-sided t tests are
sensitive to the skewness of the differences. With a skewness of {SKEWED:g} or more (a run that wins by rare
large differences) `--fail-if-worse` fails falsely in {rates(first, "towards")}, with {-SKEWED:g} or less in
{rates(first, "against")}; `--require-not-worse` passes falsely in {rates(last, "towards")} and
{rates(last, "against")}. The largest of these rates are at {few} queries; at {many_queries} they are up to
{worst(rows, many_queries)} %.

{_gates(rows)}

**Several conditions.** Any of k conditions of `--fail-if-worse` on k measures of the same two runs (AP, P@10,
RR of two collections), none of which differs. The bound is k alpha: 5, 10 and 15 %. The largest rates are
{percent(largest[1])}, {percent(largest[2])} and {percent(largest[3])} %: errors of measures of the same
queries are correlated, which compensates for the skewness.

{_conditions(many)}
"""


def _gates(rows: Rows) -> str:
    sizes = list(dict.fromkeys(row["queries"] for row in rows))
    kinds = dict.fromkeys((row["gate"], row["margin"]) for row in rows)
    skewed = (("against", f"skewness {-SKEWED:g} or less"), ("towards", f"{SKEWED:g} or more"))
    lines = []
    for gate, margin in kinds:
        for population in POPULATIONS:
            cells = [
                row
                for row in rows
                if (row["gate"], row["margin"], row["population"]) == (gate, margin, population)
            ]
            lines.append(
                [
                    f"`--{gate} M{f':{margin:g}' * bool(margin)}`",
                    population,
                    *(percent(row["rate"]) for row in cells),
                    *(percent(cells[0][key]) for key, _ in skewed),
                ]
            )
    head = ["gate", "population", *map(str, sizes), *(f"{words}, {sizes[0]}" for _, words in skewed)]
    return table(head, lines, labels=2)


def _conditions(rows: Rows) -> str:
    sizes = list(dict.fromkeys(row["queries"] for row in rows))
    lines = []
    for population in dict.fromkeys(row["population"] for row in rows):
        for k in dict.fromkeys(row["conditions"] for row in rows):
            cells = [row for row in rows if (row["population"], row["conditions"]) == (population, k)]
            bound = percent(cells[0]["bound"])
            lines.append([population, str(k), bound, *(percent(row["rate"]) for row in cells)])
    return table(["population", "k", "bound", *map(str, sizes)], lines, labels=2)


def _compared(rows: Rows) -> str:
    lines = []
    for runs, queries in dict.fromkeys((row["runs"], row["queries"]) for row in rows):
        for procedure in PROCEDURES:
            cells = [
                row
                for world in WORLDS
                for row in rows
                if (row["runs"], row["queries"], row["procedure"], row["world"])
                == (runs, queries, procedure, world)
            ]
            width = cells[-1]["width"]
            lines.append(
                [
                    f"{runs}, {queries}",
                    procedure,
                    *(f"{percent(row['held'])} / {percent(row['family'])}" for row in cells),
                    "-" if width is None else f"{width:.2f}",
                ]
            )
    head = ["runs, queries", "procedure", *(f"{world}: coverage / error" for world in WORLDS), "width"]
    return table(head, lines, labels=2)


def _correlated(rows: Rows) -> str:
    kinds = list(dict.fromkeys(row["what"] for row in rows))
    cells = dict.fromkeys((row["data"], row["runs"], row["queries"]) for row in rows)
    lines = []
    for cell in cells:
        results = [row for row in rows if (row["data"], row["runs"], row["queries"]) == cell]
        shown = [percent(row["coverage"]) for row in results]
        lines.append([cell[0], f"{cell[1]}, {cell[2]}", *shown])
    return table(["measures", "runs, queries", *kinds], lines, labels=2)


def _agreed(rows: Rows) -> str:
    return table(
        ["judges", "drawn", "coefficient", "coverage", "below", "above", "width"],
        (
            [
                row["data"],
                row["drawn"],
                row["what"],
                percent(row["coverage"]),
                percent(row["below"]),
                percent(row["above"]),
                f"{row['width']:.3f}",
            ]
            for row in rows
        ),
        labels=3,
    )


def _pooled(rows: Rows) -> str:
    return table(
        ["judgments", "for certain, share", "of", "truth", "coverage", "below", "above"],
        (
            [
                row["data"],
                f"{row['depth']}, {row['share']:g}",
                row["what"],
                f"{row['truth']:.3f}",
                percent(row["coverage"]),
                percent(row["below"]),
                percent(row["above"]),
            ]
            for row in rows
        ),
        labels=3,
    )
