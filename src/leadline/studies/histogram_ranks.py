"""Whether HSA and DO track rank measures over submitted runs, from ranks and from scores.

Every recipe is correlated with AP, P@10 and nDCG over all runs, with runs (or teams) drawn again, and over
random sevens of them, as the paper takes. Recall of the same lists is the control. Source: Krstovski, Smith
and Kurtz 2015, section 5.3, tables 5 and 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.correlations import correlate
from leadline.errors import UsageError
from leadline.evaluation import evaluate
from leadline.formats import QrelsLike, read_qrels, repair_of
from leadline.formats.labels import read_labels
from leadline.histograms.measuring import measured
from leadline.histograms.recipe import Recipe
from leadline.judged_runs import judge_runs
from leadline.render import Cell, Sheet
from leadline.results import plain
from leadline.statistics.correlation import pearson, spearman
from leadline.statistics.team_bootstrap import team_interval
from leadline.studies import Option, Outcome, Tell

OPTIONS = (
    Option("level", float, "The least relevant grade.", 1.0, metavar="GRADE"),
    Option("depth", int, "Cut every list here first.", 1000, metavar="K"),
    Option("bins", int, "The number of bins.", 10, metavar="N"),
    Option("draws", int, "Random sevens, and resamples of runs.", 200, metavar="N"),
    Option("seed", int, "Begins the random draws.", 0, metavar="N"),
    Option("team", str, "The team of every run: whole teams are drawn again.", metavar="FILE:COLUMN"),
)  # fmt: skip
SEVEN = 7
LEAST = 15  # runs, for random sevens to differ
MEASURES = ("AP", "P@10", "nDCG")
RANKS = "HSA, ranks"


def recipes(level: float, depth: int | None, bins: int) -> dict[str, Recipe]:
    """Give the recipes that are tried, by name."""
    plain = Recipe(bins=bins, depth=depth, rel=level)
    return {
        "HSA, scores, as printed": plain._replace(norm="model", missing="skip"),
        "HSA, scores": plain,
        "HSA, ranks, found only": plain._replace(from_ranks=True, missing="skip"),
        RANKS: plain._replace(from_ranks=True),
        "HSA, ranks, weighted": plain._replace(from_ranks=True, weighted=True, half_counts=True),
    }


def run(
    qrels: QrelsLike, runs: Any, *, level: float = 1.0, depth: int | None = 1000, bins: int = 10,
    draws: int = 200, seed: int = 0, team: str | None = None, on_run: Tell | None = None,
) -> Outcome:  # fmt: skip
    """Try it on some runs; `team` is FILE:COLUMN."""
    table = read_qrels(qrels)
    tried = {name: one.checked() for name, one in recipes(level, depth, bins).items()}
    infos, found = judge_runs(
        runs, table, lambda judged: [measured(judged, one, 0) for one in tried.values()],
        repair=repair_of("score", "refuse", "refuse"), keep=True, on_run=on_run,
    )  # fmt: skip
    names = [info.name for info in infos]
    if len(names) < LEAST:
        raise UsageError(f"{len(names)} runs; expected {LEAST} or more for random sevens")
    quality = evaluate(table, runs, MEASURES, rel=level, queries="with_relevant").means
    columns = {
        name: np.array([one[place].hsa for one in found]) for place, name in enumerate(tried)
    }
    columns["HSA, robust"] = np.array([one[0].hsa_robust for one in found])
    columns["DO, scores"] = np.array([one[1].do for one in found])
    columns["DO, ranks"] = np.array([one[3].do for one in found])
    columns["recall (control)"] = np.array([one[0].recall for one in found])
    teams = read_labels(team) if team else None
    data = {
        name: _tracked(names, values, quality, teams, draws, seed)
        for name, values in columns.items()
    }
    groups = [teams.get(name, name) for name in names] if teams else names
    gain = _gain(
        columns["HSA, robust"], columns["recall (control)"], quality[:, 0], groups, draws, seed
    )
    read = [(info.path, info.counts["documents_read"]) for info in infos]
    return Outcome(
        {"depth": depth, "bins": bins, "runs": len(names), "recipes": data, "robust_over_recall": gain},
        _tables(data),
        {"sevens": _figure(data), "all": _figure(data, "all")}, lines_of(data, gain), (), read,
        {"level": level, "depth": depth, "bins": bins, "draws": draws, "seed": seed, "team": team},
    )  # fmt: skip


def _gain(
    robust: Floats, control: Floats, quality: Floats, teams: list[str], draws: int, seed: int
) -> dict[str, float | None]:
    """Give how much better the robust variant tracks AP than recall does: Pearson, with an interval."""
    known = ~np.isnan(robust)

    def better(times: Integers | None) -> float:
        part = None if times is None else times[known]
        return pearson(quality[known], robust[known], part) - pearson(
            quality[known], control[known], part
        )

    low, high = team_interval(better, teams, samples=max(draws, 1), seed=seed)
    return {"value": plain(better(None)), "low": plain(low), "high": plain(high)}


def _tracked(
    names: list[str], values: Floats, quality: Floats, teams: dict[str, str] | None, draws: int,
    seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Correlate one column with every measure: over all runs, and over random sevens with AP."""
    entry: dict[str, Any] = {"undefined": int(np.isnan(values).sum())}
    for place, measure in enumerate(MEASURES):
        found = correlate(
            dict(zip(names, quality[:, place].tolist(), strict=True)),
            dict(zip(names, values.tolist(), strict=True)), teams=teams, draws=draws, seed=seed,
        )  # fmt: skip
        entry[measure] = {
            name: found.to_dict()[name] for name in ("pearson", "spearman", "kendall")
        }
    known = np.flatnonzero(~np.isnan(values))
    dice = np.random.default_rng([seed, 4])
    sevens = [dice.choice(known, SEVEN, replace=False) for _ in range(max(draws, 1))]
    for name, coefficient in (("pearson", pearson), ("spearman", spearman)):
        of_sevens = [coefficient(quality[chosen, 0], values[chosen]) for chosen in sevens]
        low, middle, high = np.nanquantile(of_sevens, [0.05, 0.5, 0.95]).tolist()
        entry[f"sevens_{name}"] = {"low": low, "median": middle, "high": high}
    return entry


def _tables(data: dict[str, Any]) -> dict[str, Sheet]:
    heads = ["recipe", *(f"{name} {measure}" for name in ("R", "rho") for measure in MEASURES),
             "R with AP, low", "high", "undefined"]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            name, *(one[measure][kind]["value"] for kind in ("pearson", "spearman") for measure in MEASURES),
            one["AP"]["pearson"]["low"], one["AP"]["pearson"]["high"], one["undefined"],
        ]
        for name, one in data.items()
    ]  # fmt: skip
    sevens: list[list[Cell]] = [
        [name, *one["sevens_pearson"].values(), *one["sevens_spearman"].values()]
        for name, one in data.items()
    ]
    columns = [f"{kind} {part}" for kind in ("R", "rho") for part in ("5 %", "median", "95 %")]
    return {
        "correlations": Sheet(heads, rows, digits=2),
        "sevens": Sheet(["recipe", *columns], sevens, digits=2),
    }


def _figure(data: dict[str, Any], which: str = "sevens") -> Any:
    from leadline.plots.forest import forest

    if which == "sevens":
        parts = [one["sevens_pearson"] for one in data.values()]
        label = "Pearson with AP, random sevens of runs: median, 5 to 95 %"
        middle = [part["median"] for part in parts]
    else:
        parts = [one["AP"]["pearson"] for one in data.values()]
        label = "Pearson with AP over all runs, 95 % interval"
        middle = [part["value"] for part in parts]
    ends = [
        [np.nan if part[end] is None else part[end] for part in parts] for end in ("low", "high")
    ]
    middle = [np.nan if one is None else one for one in middle]
    return forest(list(data), middle, ends[0], ends[1], label=label)


def lines_of(data: dict[str, Any], gain: dict[str, float | None]) -> list[str]:
    """Say whether HSA from ranks tracks AP over random sevens, and whether recall does as well."""
    found = data[RANKS]["sevens_pearson"]
    good = found["median"] > 0.5 and found["low"] > 0
    whole = {name: one["AP"]["pearson"]["value"] for name, one in data.items()}
    control, robust = whole["recall (control)"], whole["HSA, robust"]
    low, high = gain["low"] or 0.0, gain["high"] or 0.0
    beats = "more" if low > 0 else "less" if high < 0 else "not clearly more or less"
    verdict = "reproduced in kind" if good else "not reproduced"
    sevens = (
        f"HSA from ranks with AP over random sevens: median R {found['median']:.2f}, 5 % {found['low']:.2f} "
        f"(asked: above 0.5 and above 0): {verdict}"
    )
    over_all = (
        f"over all runs R with AP: as printed from scores {whole['HSA, scores, as printed']:.2f}, from ranks "
        f"{whole[RANKS]:.2f}, robust {robust:.2f}; recall alone {control:.2f}: the robust variant says "
        f"{beats} than recall (95 % interval of the difference {low:+.2f} to {high:+.2f})"
    )
    scores, ranks = whole["DO, scores"], whole["DO, ranks"]
    overlap = f"DO with AP: R {scores:.2f} from scores, {ranks:.2f} from ranks; no claim"
    return [sevens, over_all, overlap]
