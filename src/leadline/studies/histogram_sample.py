"""Whether HSA from a sample tracks MAP better than MAP computed on the same sample.

For each n, the relevant documents of every list and n of its others (by hash, the same for all estimates)
give HSA from scores and from ranks, its robust variant, AP of the sample as it stands, and AP with every
sampled document counted N/n times; each is correlated with AP of the whole lists over runs. Source:
Krstovski, Smith and Kurtz 2015, section 1 (the claim) and section 6 (the number of documents).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.arrays import Floats
from leadline.correlations import correlate
from leadline.errors import UsageError
from leadline.evaluation import evaluate
from leadline.formats import QrelsLike, read_qrels, repair_of
from leadline.formats.labels import read_labels
from leadline.histograms.measuring import measured
from leadline.histograms.recipe import Recipe
from leadline.histograms.strata import Query, estimated, strata
from leadline.judged import Judged
from leadline.judged_runs import judge_runs
from leadline.measures.average_precision import AP
from leadline.render import Cell, Sheet
from leadline.studies import Option, Outcome, Tell, whole_numbers

OPTIONS = (
    Option("level", float, "The least relevant grade.", 1.0, metavar="GRADE"),
    Option("samples", str, "Numbers of non-relevant documents a query.", "10,30,100,300", metavar="N,N"),
    Option("bins", int, "The number of bins.", 10, metavar="N"),
    Option("draws", int, "Resamples of runs.", 200, metavar="N"),
    Option("seed", int, "Chooses the samples and begins the random draws.", 0, metavar="N"),
    Option("team", str, "The team of every run: whole teams are drawn again.", metavar="FILE:COLUMN"),
)  # fmt: skip
ESTIMATES = ("HSA, scores", "HSA, ranks", "HSA, robust", "AP as sampled", "AP weighted")
LEAST = 3  # runs


def run(
    qrels: QrelsLike, runs: Any, *, level: float = 1.0, samples: str = "10,30,100,300", bins: int = 10,
    draws: int = 200, seed: int = 0, team: str | None = None, on_run: Tell | None = None,
) -> Outcome:  # fmt: skip
    """Try it on some runs; `team` is FILE:COLUMN, `samples` numbers with commas between."""
    table, sizes = read_qrels(qrels), whole_numbers(samples, "samples")
    recipe = Recipe(bins=bins, rel=level, seed=seed).checked()
    infos, found = judge_runs(
        runs, table, lambda judged: [_estimates(judged, recipe._replace(sample=n)) for n in sizes],
        repair=repair_of("score", "refuse", "refuse"), keep=True, on_run=on_run,
    )  # fmt: skip
    names = [info.name for info in infos]
    if len(names) < LEAST:
        raise UsageError(f"{len(names)} runs; expected {LEAST} or more")
    exact = evaluate(table, runs, "AP", rel=level, queries="with_relevant").means[:, 0]
    values = np.array(found)  # runs x samples x estimates
    teams = read_labels(team) if team else None
    data = {
        name: [
            _tracked(names, values[:, row, column], exact, teams, draws, seed) | {"sample": n}
            for row, n in enumerate(sizes)
        ]
        for column, name in enumerate(ESTIMATES)
    }
    return Outcome(
        {"samples": sizes, "bins": bins, "runs": len(names), "estimates": data,
         "mean_exact": float(exact.mean())},
        {"tracking": _sheet(data)}, {"tracking": _figure(data)}, lines_of(data, float(exact.mean())),
        (), [(info.path, info.counts["documents_read"]) for info in infos],
        {"level": level, "samples": samples, "bins": bins, "draws": draws, "seed": seed, "team": team},
    )  # fmt: skip


def _estimates(judged: Judged, recipe: Recipe) -> list[float]:
    """Give every estimate from one sample of one run, in the order of `ESTIMATES`."""
    scores = measured(judged, recipe, 0)
    ranks = measured(judged, recipe._replace(from_ranks=True), 0)
    parts = strata(judged, None, recipe.sample, recipe.seed, recipe.rel)
    plain = {code: one._replace(size=one.sampled) for code, one in parts.items()}
    return [
        scores.hsa, ranks.hsa, scores.hsa_robust,
        *(_mean_ap(judged, each, recipe.rel) for each in (plain, parts)),
    ]  # fmt: skip


def _mean_ap(judged: Judged, parts: dict[int, Query], level: float) -> float:
    ranks = {code: one.ranks(one.above(one.cells)) for code, one in parts.items()}
    values: Floats = AP(rel=level).values(estimated(judged, parts, ranks))
    counted = judged.qrels.relevant(level) > 0
    return float(np.nan_to_num(values[counted]).mean())


def _tracked(
    names: list[str], values: Floats, exact: Floats, teams: dict[str, str] | None, draws: int,
    seed: int,
) -> dict[str, Any]:  # fmt: skip
    found = correlate(
        dict(zip(names, exact.tolist(), strict=True)), dict(zip(names, values.tolist(), strict=True)),
        teams=teams, draws=draws, seed=seed,
    )  # fmt: skip
    kept = {name: found.to_dict()[name] for name in ("pearson", "spearman", "kendall", "tau_ap")}
    return kept | {"undefined": int(np.isnan(values).sum()), "mean": float(np.nanmean(values))}


def _sheet(data: dict[str, Any]) -> Sheet:
    heads = ["estimate", "n", "R", "low", "high", "rho", "tau", "tau-AP", "mean", "undefined"]
    rows: list[list[Cell]] = [
        [
            name, one["sample"], *(one["pearson"][key] for key in ("value", "low", "high")),
            *(one[kind]["value"] for kind in ("spearman", "kendall", "tau_ap")), one["mean"],
            one["undefined"],
        ]
        for name, found in data.items() for one in found
    ]  # fmt: skip
    return Sheet(heads, rows, digits=3)


def _figure(data: dict[str, Any]) -> Any:
    from leadline.plots.by_sample import by_sample

    lines = {
        name: [(one["sample"], float(one["pearson"]["value"] or np.nan)) for one in found]
        for name, found in data.items()
    }
    return by_sample(lines, label="Pearson with AP of the whole lists")


def lines_of(data: dict[str, Any], exact: float) -> list[str]:
    """Say for each n whether HSA tracks better than AP of the same sample, and what weighting does."""
    found = []
    for place, one in enumerate(data["AP as sampled"]):
        plain = one["pearson"]["value"] or 0.0
        slopes: dict[str, float] = {
            name: data[name][place]["pearson"]["value"] or -1.0 for name in ESTIMATES[:2]
        }
        best = max(slopes, key=slopes.__getitem__)
        weighted = data["AP weighted"][place]
        verdict = "holds" if slopes[best] > plain else "does not hold"
        found.append(
            f"n = {one['sample']}: R with AP of the whole lists {slopes[best]:.3f} for {best} (the better of "
            f"two), {plain:.3f} for AP of the same sample: the claim {verdict}; AP weighted "
            f"{weighted['pearson']['value'] or 0:.3f}, its mean {weighted['mean']:.3f} against {exact:.3f}"
        )
    return found
