"""Numbers and figures of the page on significance: tests, intervals, corrections, gates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from leadline.data.arrays import Floats
from leadline.stats.paired_tests import Bootstrap, Randomisation
from leadline_studies.common.figures import significance_errors
from leadline_studies.common.pages import Json, cached, pick, rounded
from leadline_studies.significance.decisions import Extent, Row
from leadline_studies.significance.estimates import coverage, power
from leadline_studies.significance.false_alarms import EXTENT, several_conditions, single_gates
from leadline_studies.significance.families import WORLDS, families
from leadline_studies.significance.populations import read_matrices
from leadline_studies.significance.printed_intervals import every_correlation, every_interval
from leadline_studies.significance.rejections import halves, rejections

NAME = "significance"
SETS = 200  # samples of each printed interval
FAMILIES = ((10, 25), (10, 50), (20, 50))  # runs, queries
NULLS = {"exchangeable": "exchangeable runs", "tilted": "real, reweighted", "shifted": "real, shifted"}
ESTIMATES = {"mean": "a mean", "difference": "a difference", "redrawn": "a difference, real ones redrawn"}
TESTS = ("T", "Randomisation", "Bootstrap", "Wilcoxon")
INTERVALS = ("Student", "BCa", "Percentile")
PROCEDURES = ("Holm(T)", "Tukey", "BH(T)", "Uncorrected(T)")
SIMULTANEOUS = ("MaxT", "Tukey", "Holm(T)", "Bonferroni(T)")
Rows = list[dict[str, Any]]


def collect(out: Path, data: Path) -> Json:
    """Simulate: tests and corrections, intervals that commands print, gates."""
    matrices = read_matrices(str(data / "score-matrices"))
    extent = Extent()
    sizes = {name: list(matrix.shape) for name, matrix in matrices.items()}
    found = cached(partial(simulate_all, matrices, extent), out / "tests.json")
    printed = cached(lambda: printed_intervals(data, extent), out / "intervals.json")
    facts = {"extent": extent._asdict(), "matrices": sizes}
    return {"facts": facts, **rounded(found | {"printed": printed}, 5)}


def simulate_all(matrices: Mapping[str, Floats], extent: Extent) -> dict[str, list[Row]]:
    """Return the rows of the tables of tests and corrections by name."""
    tables: dict[str, list[Row]] = {"rejections": [], "power": [], "coverage": [], "families": []}
    for queries in extent.sizes:
        tables["rejections"] += rejections(matrices, queries, extent)
        tables["power"] += power(matrices, queries, extent)
        tables["coverage"] += coverage(matrices, queries, extent)
    tables["halves"] = halves(matrices, extent)
    for runs, queries, sets in extent.families:
        tables["families"] += families(matrices, runs, queries, extent._replace(sets=sets))
    return tables


def printed_intervals(data: Path, extent: Extent) -> Json:
    """Return the coverage of intervals that commands print, and the error rates of gates."""
    matrices = read_matrices(str(data / "score-matrices"))
    results: Json = {"facts": {"sets": SETS}, "gate_facts": {"pairs": EXTENT.pairs, "sets": EXTENT.sets}}
    for name, rows in every_interval(str(data), sets=SETS, seed=0):
        results.setdefault(name, []).extend(rows)
    results["correlate"] = every_correlation(str(data), seed=0)
    each = extent._replace(sets=SETS // len(matrices))
    results["compare"] = [
        row
        for runs, queries in FAMILIES
        for row in families(matrices, runs, queries, each)
        if row["procedure"] in SIMULTANEOUS
    ]
    return results | {
        "gates": single_gates(matrices, EXTENT),
        "conditions": several_conditions(matrices, EXTENT),
    }


def rates(data: Json, test: str, null: str) -> list[float]:
    """Return the type I errors of a test under a null at 5 %, by number of queries."""
    return [row["rate"] for row in pick(data["rejections"], null=null, test=test, by="all")]


def covered(data: Json, interval: str, quantity: str) -> list[float]:
    """Return the coverage of an interval, by number of queries."""
    return [row["coverage"] for row in pick(data["coverage"], of=quantity, interval=interval, measure="all")]


def most_runs(draws: int) -> int:
    """Return for how many runs the smallest p of a test that draws so often still passes Holm at 5 %."""
    pairs = math.floor(0.05 * (draws + 1) + 1e-9)
    return int((1 + math.sqrt(1 + 8 * pairs)) / 2)


def facts(kept: Json) -> Json:
    """Return rates and coverages by test, interval and correction."""
    printed, many = kept["printed"], kept["families"]
    skewed = pick(kept["rejections"], null="shifted", by="skewness", queries=25)
    last = skewed[-1]["group"]
    return {
        "nulls": NULLS,
        "tests": {test: {null: rates(kept, test, null) for null in NULLS} for test in TESTS},
        "skewed": {row["test"]: row["rate"] for row in skewed if row["group"] == last},
        "quantities": ESTIMATES,
        "intervals": {name: {of: covered(kept, name, of) for of in ESTIMATES} for name in INTERVALS},
        "worlds": WORLDS,
        "families": {
            name: {world: pick(many, procedure=name, world=world) for world in WORLDS} for name in PROCEDURES
        },
        "correlate": {
            part: [row["coverage"] for row in printed["correlate"] if row["data"].startswith("dl19") == part]
            for part in (True, False)
        },
        "lowest": min(printed["correlate"], key=lambda row: float(row["coverage"])),
        "gates": {
            population: {
                (gate, margin): pick(printed["gates"], gate=gate, margin=margin, population=population)
                for gate, margin in dict.fromkeys((row["gate"], row["margin"]) for row in printed["gates"])
            }
            for population in dict.fromkeys(row["population"] for row in printed["gates"])
        },
        "most": (most_runs(Randomisation().draws), most_runs(Bootstrap().draws)),
    }


def figures(kept: Json) -> dict[str, Any]:
    """Draw type I errors and coverage, with two standard errors."""
    sizes = sorted({row["queries"] for row in kept["rejections"]})

    def points(rows: Rows, value: str) -> list[tuple[float, float]]:
        return [(row[value], row["se"]) for row in rows]

    errors = {
        words: {
            test: points(pick(kept["rejections"], null=null, test=test, by="all"), "rate") for test in TESTS
        }
        for null, words in NULLS.items()
    }
    held = {
        words.replace(", ", ",\n"): {
            name: points(pick(kept["coverage"], of=of, interval=name, measure="all"), "coverage")
            for name in INTERVALS
        }
        for of, words in ESTIMATES.items()
    }
    return {
        f"{NAME}-errors": significance_errors(errors, sizes, promised=0.05, label="share rejected at 0.05"),
        f"{NAME}-coverage": significance_errors(
            held, sizes, promised=0.95, label="share of intervals with the truth"
        ),
    }
