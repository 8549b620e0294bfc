"""Write the page of the study of estimates from few judgments.

    python -m leadline_studies.estimate.page [FOLDER DATA]

Runs the studies whose output is not in FOLDER. DATA contains trec-dl-2019-passage,
trec-dl-2019-machine-labels, trec-covid-r1, trec-covid-r2-top100 and trec-robust-2003.
Without arguments the page and its figures are made from the numbers kept in docs/studies.
"""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.estimation.withheld import MOST_GUESSED_OF_NEW
from leadline.reporting.plots import COLUMN, FAINT, INK, LINE_STYLES, picture, style
from leadline_studies.common.markdown import table, wrapped
from leadline_studies.common.pages import (
    PAGES,
    Json,
    cached,
    find_runs,
    read_numbers,
    rounded,
    run_study,
    update_page,
)
from leadline_studies.estimate.doubts import doubts, of_new_runs, outside, power
from leadline_studies.estimate.study import PAIR_TOTAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "estimate"
PASSAGES = "trec-dl-2019-passage"
MACHINES = {"llama70b-criteria": "llama-70B", "llama8b-direct": "llama-8B"}
GUESSES = {
    "none": "none",
    "centred": "centred",
    "votes": "votes",
    **MACHINES,
    "adverse, random labels": "adverse, random",
    "adverse, first documents": "adverse, first",
}
SHOWN = ("none", "centred", "votes", *MACHINES)
SUMS = ("P", "RBP", "DCG")
OTHERS = {
    "trec-covid-r1": "TREC-COVID round 1",
    "trec-covid-r2-top100": "TREC-COVID round 2, first 100",
    "trec-robust-2003": "Robust 2003",
}
# Folders of the runs on the passages: measures, and further options.
PARTS = {
    "dl-p": ["--measure", "P@10", "--measure", "RBP(p=0.8)@10", "--measure", "DCG@10"],
    "dl-rr": ["--measure", "RR@10", "--pairs", "0"],
}
MANY_RUNS = ["--measure", "P@10", "--budgets", "20,40", "--draws", "100", "--pairs", "0"]
ELSEWHERE = {
    "trec-covid-r1": MANY_RUNS,
    "trec-covid-r2-top100": MANY_RUNS,
    "trec-robust-2003": [
        *["--measure", "P@10", "--measure", "RBP(p=0.8)@10", "--measure", "RR@10"],
        *["--budgets", "10,20,40", "--pairs", "0"],
    ],
}
LOW, HIGH = 0.93, 0.97
LARGEST = {"DCG": 3 * sum(1 / math.log2(rank + 1) for rank in range(1, 11))}  # ten passages of grade 3
NEW = "later runs (5 % outside the frame or less)"
MIDDLE = 20  # judgments per query of the short tables


def collect(folder: Path, data: Path) -> Json:
    """Run the studies that `folder` lacks and read what they found."""
    place = data / PASSAGES
    words = [str(place / "qrels.txt"), *map(str, find_runs(place))]
    for path in sorted((place / "extra-runs").iterdir()):
        words += ["--new", str(path)]
    for name in MACHINES:
        words += ["--machine", str(data / f"trec-dl-2019-machine-labels/{name}.qrels")]
    parts = [
        (PASSAGES, run_study(NAME, data, folder / part, [*words, "--level", "2", *options]))
        for part, options in PARTS.items()
    ]
    for name in OTHERS:
        given = [str(data / name / "qrels.txt"), *map(str, find_runs(data / name))]
        parts.append((name, run_study(NAME, data, folder / name, [*given, *ELSEWHERE[name]])))
    return gathered(parts) | cached(lambda: doubts(data), folder / "doubts.json")


def gathered(parts: Sequence[tuple[str, Json]]) -> Json:
    """Put the numbers of several studies together; every row names its collection."""
    found: Json = {"sets": {}}
    for name, part in parts:
        known = ("draws", "systems", "pooled", "level", "queries", "frame")
        found["sets"][name] = {key: part[key] for key in known}
        for key in ("cells", "rivals", "nested", "exact", "pairs"):
            found.setdefault(key, []).extend({"set": name} | row for row in part[key])
    short: Json = rounded(found)
    return short


def pick(rows: Iterable[Json], **wanted: object) -> list[Json]:
    """Return the rows with these values; `measure` may be the name without its parameters."""
    return [
        row
        for row in rows
        if all(row[key] == one or (key == "measure" and family(row) == one) for key, one in wanted.items())
    ]


def family(row: Json) -> str:
    """Return the name of a measure without its parameters.

    >>> family({"measure": "P(rel=2)@10"})
    'P'
    """
    return str(row["measure"]).partition("(")[0].partition("@")[0]


def shown(value: float | None, form: str = ".3f") -> str:
    """Write a number, or a dash for none."""
    return "-" if value is None else format(value, form).replace("+0.000", "0.000").replace("-0.000", "0.000")


def both(row: Json, key: str, groups: Sequence[str] = ("pooled", "new"), form: str = ".3f") -> str:
    """Write a number by group: `pooled / new`."""
    return " / ".join(shown(row.get(f"{key}_{group}"), form) for group in groups)


def extent(values: Iterable[float | None], form: str = ".3f") -> str:
    """Write the least and the largest of the known values."""
    known = [value for value in values if value is not None]
    return f"{shown(min(known), form)} to {shown(max(known), form)}"


def answer(kept: Json) -> str:
    """Write the short table: 20 judgments per query, by measure and guess."""
    rows = [
        [
            f"{name}@10",
            GUESSES[guess],
            both(one, "bias", form="+.3f"),
            both(one, "coverage", ("pooled", "new", "pairs")),
            shown(one["half_width_pooled"]),
            shown(one["tau"], ".2f"),
            f"{one['decided_pairs']:.2f} / {one['wrong_pairs']:.3f}",
            shown(one["spread_of_draws"]),
        ]
        for name in (*SUMS, "RR")
        for guess in ("centred", "votes", "llama70b-criteria")
        for one in pick(kept["cells"], set=PASSAGES, measure=name, budget=MIDDLE, proxy=guess)
    ]
    heads = [
        "measure",
        "guess",
        "bias, pooled / new",
        "coverage, pooled / new / pairs",
        "half-width",
        "tau",
        "pairs decided / of these wrongly",
        "spread of draws",
    ]
    return table(heads, rows, labels=2)


def targets(kept: Json) -> str:
    """Write what was asked beforehand and what was measured, at 20 judgments per query."""
    at = {
        (family(one), one["proxy"]): one
        for one in pick(kept["cells"], set=PASSAGES, budget=MIDDLE)
        if one["proxy"] in SHOWN
    }
    sums = [at[name, guess] for name in SUMS for guess in SHOWN[1:]]
    machine, votes = at["P", "llama70b-criteria"], at["P", "votes"]
    rows: list[tuple[str, str, bool]] = []
    for group in ("pooled", "new"):
        errors = {
            f"{family(one)}@10, {GUESSES[one['proxy']]}": abs(one[f"bias_{group}"])
            / LARGEST.get(family(one), 1.0)
            for one in sums
        }
        which = max(errors, key=errors.__getitem__)
        over = sum(error > 0.005 for error in errors.values())
        value = f"at most {errors[which]:.3f} ({which}); above in {over} of {len(errors)}"
        rows.append((f"bias of sums at most .005 of the range, {group} runs", value, not over))
    rows.append(("tau of P@10 at least .81 with llama-70B", f"{machine['tau']:.3f}", machine["tau"] >= 0.81))
    rows.append(("tau of P@10 at least .75 with votes", f"{votes['tau']:.3f}", votes["tau"] >= 0.75))
    decided = machine["decided_pairs"] >= 0.7 and machine["wrong_pairs"] <= 0.004
    value = f"{machine['decided_pairs']:.2f}, of these {machine['wrong_pairs']:.3f}"
    rows.append(
        ("70 % of pairs decided by P@10 with llama-70B, at most .4 % of these wrongly", value, decided)
    )
    for group in ("pooled", "new", "pairs"):
        shares = [one[f"coverage_{group}"] for one in sums]
        inside = all(LOW <= share <= HIGH for share in shares)
        rows.append((f"coverage of sums .93 to .97, {group}", extent(shares), inside))
    shares = [at["RR", guess]["coverage_pooled"] for guess in SHOWN[1:]]
    rows.append(
        ("coverage of RR .93 to .97, pooled", extent(shares), all(LOW <= one <= HIGH for one in shares))
    )
    cost = max(ratio for _, _, ratio in costs(kept))
    rows.append(
        ("adverse machines widen intervals by at most 3 %", f"at most {100 * (cost - 1):.1f} %", cost <= 1.03)
    )
    return table(
        ["asked beforehand", "measured", "met"],
        [[text, value, "yes" if met else "**no**"] for text, value, met in rows],
    )


def costs(kept: Json) -> list[tuple[Json, str, float]]:
    """Return the half-widths with adverse machines relative to centred, by cell."""
    found = []
    for one in kept["cells"]:
        if not one["proxy"].startswith("adverse") or not one["half_width_pooled"]:
            continue
        same = {key: one[key] for key in ("set", "measure", "budget")}
        centred = pick(kept["cells"], **same, proxy="centred")[0]["half_width_pooled"]
        if centred and centred >= 0.001:  # the kept numbers have four places
            found.append((one, one["proxy"], one["half_width_pooled"] / centred))
    return found


def coverages(kept: Json) -> str:
    """Write the coverage by measure and budget."""
    rows = []
    for name in (*SUMS, "RR"):
        for centred in pick(kept["cells"], set=PASSAGES, measure=name, proxy="centred"):
            same = {"set": PASSAGES, "measure": name, "budget": centred["budget"]}
            groups = ("pooled", "new", "pairs")
            cells = [pick(kept["cells"], **same, proxy=guess)[0] for guess in SHOWN]
            rows.append(
                [f"{name}@10", str(centred["budget"]), *(both(one, "coverage", groups) for one in cells)]
            )
    return table(["measure", "judgments", *(GUESSES[guess] for guess in SHOWN)], rows)


def widths(kept: Json) -> str:
    """Write half-width, tau and withheld intervals of P@10 by guess and budget."""
    rows = [
        [
            str(one["budget"]),
            GUESSES[one["proxy"]],
            both(one, "bias", form="+.3f"),
            both(one, "half_width"),
            shown(one["half_width_pairs"]),
            shown(one["rmse_difference"]),
            shown(one["tau"], ".2f"),
            f"{one['decided_pairs']:.2f} / {one['wrong_pairs']:.3f}",
            both(one, "withheld", form=".2f"),
            both(one, "spread"),
        ]
        for one in pick(kept["cells"], set=PASSAGES, measure="P")
        if one["proxy"] in SHOWN
    ]
    heads = [
        "judgments",
        "guess",
        "bias, pooled / new",
        "half-width, pooled / new",
        "of pairs",
        "rmse of differences",
        "tau",
        "decided / wrongly",
        "withheld, pooled / new",
        "spread of draws, pooled / new",
    ]
    return table(heads, rows, labels=2)


def rivals(kept: Json) -> str:
    """Write depth pools, MoveToFront and estimates of about the same cost."""
    rows = []
    for budget in sorted({one["budget"] for one in pick(kept["rivals"], set=PASSAGES, measure="P")}):
        for one in pick(kept["rivals"], set=PASSAGES, measure="P", budget=budget):
            found = [both(one, "bias", form="+.3f"), shown(one["rmse_difference"]), shown(one["tau"], ".2f")]
            rows.append([one["method"], f"{one['cost']:.1f}", *found])
        for guess in ("centred", "llama70b-criteria"):
            for one in pick(kept["cells"], set=PASSAGES, measure="P", budget=budget, proxy=guess):
                found = [
                    both(one, "bias", form="+.3f"),
                    shown(one["rmse_difference"]),
                    shown(one["tau"], ".2f"),
                ]
                rows.append([f"drawn, {GUESSES[guess]}", f"{budget}.0", *found])
    heads = ["pool", "judgments per query", "bias of P@10, pooled / new", "rmse of differences", "tau"]
    return table(heads, rows, labels=1)


def alone(kept: Json) -> str:
    """Write the comparison of single pairs."""
    rows = [
        [
            _pair_method(one["method"]),
            f"{one['judgments']:.0f}",
            shown(one["half_width"]),
            shown(one["coverage"]),
            shown(one["rmse"]),
        ]
        for one in kept["pairs"]
    ]
    return table(["judged", "judgments in all", "half-width", "coverage", "rmse"], rows, labels=1)


def _pair_method(name: str) -> str:
    """Write how a pair was judged.

    >>> _pair_method("uniform, none"), _pair_method("whole queries, such queries")
    ('drawn uniformly, none', 'whole queries, interval for such queries')
    """
    way, _, guess = name.partition(", ")
    if way == "whole queries":
        return f"{way}, interval for {guess}"
    return f"drawn {'uniformly' if way == 'uniform' else f'from {way}'}, {GUESSES[guess]}"


def _others(kept: Json) -> dict[str, str]:
    """Return the other collections that were run, with their titles."""
    return {name: title for name, title in OTHERS.items() if name in kept["sets"]}


def elsewhere(kept: Json) -> str:
    """Write the other collections at 20 judgments per query."""
    rows = []
    for name, title in _others(kept).items():
        heading = f"{title} ({kept['sets'][name]['draws']} draws)"
        for measure in ("P", "RBP"):
            same = {"set": name, "measure": measure, "budget": MIDDLE}
            pools = [
                (f"{one['method']} ({one['cost']:.0f} judgments)", one)
                for one in pick(kept["rivals"], **same)
            ]
            for guess in ("none", "centred", "votes"):
                pools += [(f"drawn, {guess}", one) for one in pick(kept["cells"], **same, proxy=guess)]
            rows += [[heading, f"{measure}@10", pool, *_quality(one)] for pool, one in pools]
    heads = [
        "runs",
        "measure",
        "pool",
        "bias",
        "coverage, runs / pairs",
        "half-width",
        "rmse of differences",
        "tau",
        "decided / wrongly",
    ]
    return table(heads, rows, labels=3)


def _quality(one: Json) -> list[str]:
    drawn = "coverage_pooled" in one
    return [
        shown(one["bias_pooled"], "+.3f"),
        both(one, "coverage", ("pooled", "pairs")) if drawn else "-",
        shown(one.get("half_width_pooled")),
        shown(one["rmse_difference"]),
        shown(one["tau"], ".2f"),
        f"{one['decided_pairs']:.2f} / {one['wrong_pairs']:.3f}" if drawn else "-",
    ]


def facts(kept: Json) -> str:
    """Write the rows that docs/estimate.md shows."""
    at = {(family(one), one["proxy"]): one for one in pick(kept["cells"], set=PASSAGES, budget=MIDDLE)}
    sums = [at[name, guess] for name in SUMS for guess in SHOWN[1:]]
    plain, machine = at["P", "centred"], at["P", "llama70b-criteria"]
    groups = {"pooled": "pooled runs", "new": NEW, "pairs": "differences of pooled runs"}
    rows = [
        (
            f"coverage of 95 % intervals of P, RBP and DCG, {text}",
            extent(one[f"coverage_{group}"] for one in sums),
        )
        for group, text in groups.items()
    ]
    rows += [
        (
            f"coverage of intervals of {name}, pooled runs",
            extent(at[name, guess]["coverage_pooled"] for guess in SHOWN[1:]),
        )
        for name in ("RR",)
    ]
    rows += [
        ("bias of P@10, pooled / later runs", both(plain, "bias", form="+.3f")),
        ("the same with labels of a machine", both(machine, "bias", form="+.3f")),
        ("half-width of P@10", shown(plain["half_width_pooled"])),
        ("the same with labels of a machine", shown(machine["half_width_pooled"])),
        ("Kendall tau with the true order by P@10", f"{plain['tau']:.2f}"),
        ("the same with labels of a machine", f"{machine['tau']:.2f}"),
        (
            "pairs of runs decided, of these wrongly",
            f"{plain['decided_pairs']:.0%}, {plain['wrong_pairs']:.1%}",
        ),
        (
            "the same with labels of a machine",
            f"{machine['decided_pairs']:.0%}, {machine['wrong_pairs']:.1%}",
        ),
    ]
    return "\n".join(f"| {text} | {value} |" for text, value in rows)


def sheet(kept: Json) -> str:
    """Return all cells as CSV."""
    names = list(dict.fromkeys(key for one in kept["cells"] for key in one))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept["cells"])
    return out.getvalue()


def figures(kept: Json) -> Mapping[str, Figure]:
    """Draw the figures of the page."""
    cells = pick(kept["cells"], set=PASSAGES)
    return {
        "coverage": coverage_figure(cells),
        "width": width_figure(pick(cells, measure="P")),
        "bias": bias_figure(pick(cells, measure="P"), pick(kept["rivals"], set=PASSAGES, measure="P")),
    }


def _points(rows: Sequence[Json], key: str) -> tuple[list[float], list[float]]:
    known = [row for row in rows if row.get(key) is not None]
    return [float(row["cost" if "cost" in row else "budget"]) for row in known], [
        float(row[key]) for row in known
    ]


def _ticks(axes: Any, cells: Sequence[Json]) -> None:
    sizes = sorted({one["budget"] for one in cells})
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(sizes, list(map(str, sizes)))
    axes.grid(visible=True, axis="y")


def coverage_figure(cells: Sequence[Json]) -> Figure:
    """Plot coverage against the budget: a column of panels by measure, a row by guess."""
    from matplotlib.figure import Figure

    measures = list(dict.fromkeys(one["measure"] for one in cells))
    with style():
        figure = Figure(figsize=(2 * COLUMN, 3.1), layout="constrained")
        panels = figure.subplots(2, len(measures), sharex=True, sharey=True, squeeze=False)
        drawn: dict[str, Any] = {}
        for row, guess in zip(panels, ("centred", "llama70b-criteria"), strict=True):
            for axes, measure in zip(row, measures, strict=True):
                axes.axhspan(LOW, HIGH, color=FAINT, alpha=0.35, linewidth=0)
                axes.axhline(0.95, color=INK, linewidth=0.6)
                some = pick(cells, measure=measure, proxy=guess)
                for group, look in zip(("pooled", "new", "pairs"), LINE_STYLES, strict=False):
                    (drawn[group],) = axes.plot(
                        *_points(some, f"coverage_{group}"),
                        color=look.color,
                        linestyle=look.dashes,
                        marker=look.marker,
                        markersize=3,
                        linewidth=0.9,
                    )
                _ticks(axes, cells)
            row[0].set_ylabel(f"coverage, {GUESSES[guess]}")
        for axes, measure in zip(panels[0], measures, strict=True):
            axes.set_title(f"{family({'measure': measure})}@10", fontsize=7.5, color=INK)
        figure.supxlabel("judgments per query", fontsize=7.5, color=INK)
        names = {"pooled": "pooled runs", "new": "later runs", "pairs": "pairs of pooled runs"}
        figure.legend(drawn.values(), [names[one] for one in drawn], loc="outside upper center", ncols=3)
    return figure


def width_figure(cells: Sequence[Json]) -> Figure:
    """Plot half-width and rank correlation of P@10 against the budget, by guess."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(2 * COLUMN, 2.5), layout="constrained")
        panels = figure.subplots(1, 2)
        drawn: dict[str, Any] = {}
        labels = ("half-width of 95 % intervals, P@10", "Kendall tau with the true order")
        for axes, key, label in zip(panels, ("half_width_pooled", "tau"), labels, strict=True):
            for guess, look in zip(SHOWN, LINE_STYLES, strict=False):
                (drawn[guess],) = axes.plot(
                    *_points(pick(cells, proxy=guess), key),
                    color=look.color,
                    linestyle=look.dashes,
                    marker=look.marker,
                    markersize=3.5,
                )
            _ticks(axes, cells)
            axes.set_ylabel(label)
            axes.set_xlabel("judgments per query")
        panels[0].set_ylim(bottom=0)
        figure.legend(
            drawn.values(), [GUESSES[one] for one in drawn], loc="outside upper center", ncols=len(drawn)
        )
    return figure


def bias_figure(cells: Sequence[Json], others: Sequence[Json]) -> Figure:
    """Plot the bias of P@10 against the number of judgments, for pooled and later runs."""
    from matplotlib.figure import Figure

    lines = {
        "depth pool": [one for one in others if one["method"].startswith("depth")],
        "MoveToFront": pick(others, method="MoveToFront"),
        "drawn, centred": pick(cells, proxy="centred"),
        "drawn, llama-70B": pick(cells, proxy="llama70b-criteria"),
    }
    with style():
        figure = Figure(figsize=(2 * COLUMN, 2.3), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        drawn: dict[str, Any] = {}
        for axes, group, title in zip(panels, ("pooled", "new"), ("pooled runs", "later runs"), strict=True):
            axes.axhline(0, color=INK, linewidth=0.7)
            for (name, rows), look in zip(lines.items(), LINE_STYLES, strict=False):
                (drawn[name],) = axes.plot(
                    *_points(rows, f"bias_{group}"),
                    color=look.color,
                    linestyle=look.dashes,
                    marker=look.marker,
                    markersize=3.5,
                )
            _ticks(axes, cells)
            axes.set_title(title, fontsize=7.5, color=INK)
            axes.set_xlabel("judgments per query")
        panels[0].set_ylabel("mean error of P@10")
        figure.legend(drawn.values(), list(drawn), loc="outside upper center", ncols=4)
    return figure


def page(kept: Json) -> str:
    """Write the page."""
    passages = kept["sets"][PASSAGES]
    sums = [
        one for one in pick(kept["cells"], set=PASSAGES) if family(one) in SUMS and one["proxy"] in SHOWN[1:]
    ]
    middle = pick(sums, budget=MIDDLE)
    deep = [one for one in kept["cells"] if family(one) == "RR" and one["proxy"] != "none"]
    ratio = {
        name: extent((ratio for _, proxy, ratio in costs(kept) if proxy == name), ".3f")
        for name in list(GUESSES)[-2:]
    }
    adverse = "; ".join(f"{GUESSES[name]}: {text} times as wide as centred" for name, text in ratio.items())
    equal = all(one["equal"] and one["certain"] for one in kept["exact"])
    nested = [one["kept"] for one in kept["nested"] if one["kept"] is not None]
    one_pair = {one["method"]: one["half_width"] for one in kept["pairs"]}
    return _with_items(
        PAGE.format(
            systems=passages["systems"],
            pooled=passages["pooled"],
            queries=passages["queries"],
            draws=passages["draws"],
            frame=passages["frame"]["20"] / passages["queries"],
            bias_pooled=extent([one["bias_pooled"] for one in middle if family(one) != "DCG"], "+.3f"),
            bias_new=extent([one["bias_new"] for one in middle if family(one) != "DCG"], "+.3f"),
            covered=extent([one["coverage_pooled"] for one in middle]),
            covered_new=extent([one["coverage_new"] for one in middle]),
            covered_pairs=extent([one["coverage_pairs"] for one in middle]),
            rr=extent([one["coverage_pooled"] for one in deep], ".2f"),
            pair=one_pair["differing documents, centred"],
            such=one_pair["whole queries, such queries"],
            whole=one_pair["whole queries, these queries"],
            labelled=one_pair["differing documents, llama70b-criteria"],
            answer=answer(kept),
            outside=outside(kept),
            power=power(kept),
            files=kept["labels"][0]["files"],
            most=f"{MOST_GUESSED_OF_NEW:.0%}",
            **of_new_runs(kept),
            targets=targets(kept),
            coverages=coverages(kept),
            widths=widths(kept),
            adverse=adverse,
            rivals=rivals(kept),
            alone=alone(kept),
            count=kept["pairs"][0]["pairs"],
            budget=PAIR_TOTAL,
            gain=gain(kept),
            elsewhere=elsewhere(kept),
            equal="equal" if equal else "are not all equal to",
            exact=len(kept["exact"]),
            nested="all" if min(nested) == 1 else f"at least {min(nested):.3f}",
        )
    )


PAGE = """
# Study: estimates from few judgments

<!-- Made by leadline_studies/estimate/page.py from the output of `leadline study`. -->

Can systems be measured from 20 judgments per query? On TREC 2019 Deep Learning, passages ({systems} runs,
of which {pooled} are pooled and the others are later ones, {queries} queries, relevant from grade 2), yes
for sums over ranks (P, RBP, DCG at 10). With 20 judgments of about {frame:.0f} in the frame, the bias of
P and RBP is {bias_pooled} for pooled runs and {bias_new} for later ones ({bias_elsewhere} where fewer
runs are pooled, see [below](#new-runs)); 95 % intervals of sums contain the truth in {covered} of the
cases for pooled runs, {covered_new} for later runs and {covered_pairs} for differences of pooled runs.
These intervals are for these queries: an interval for other queries is wider. With 5 to 40 judgments and
a guess, intervals of RR of pooled runs contain it in {rr} of the cases; `evaluate` prints this range.
nDCG has [its own simulation](../ndcg-intervals.md).

{answer}

The official judgments are the truth; passages without one are not relevant. Documents were drawn {draws}
times as `leadline pool --for` draws them. The guess is the grade that is predicted for a document: `none`
(0), the mean of the judged documents (centred), the mean by votes of the runs, or by the label of a
machine (Llama-3 70B, prompt with four criteria, and the weaker Llama-3 8B). Intervals of width 0 are left
out of the coverage. The errors of one draw are common to all runs: the spread is the standard deviation over
draws of the mean error over the runs. The bias is the mean over draws, and its standard error is the spread
divided by the square root of {draws}.

## What was asked beforehand

At 20 judgments per query; sums are P, RBP and DCG at 10, with the guesses centred, votes and both machines.

{targets}

Causes of what is missed:

- Bias of later runs: their documents outside the frame are predicted by the judged documents that no pooled
  run has above the cutoff, which are the most similar ones but not the same.
- Coverage of later runs above .97: the interval of a later run is widened by what its documents outside the
  frame could change, although they hardly ever change that much. It is conservative, not wrong.
- RR with many judgments: few documents are left undrawn, and most of these change nothing. The error is zero
  in most draws and large in a few, so that the variance is the mean of two: estimated from the drawn
  documents, and predicted for all sampled documents.
- RR without a guess (`none`): a product of factors 1 - I/p is far below 0 if p is small, so that RR varies
  widely.

## Coverage by measure and budget

Coverage of 95 % intervals: pooled runs / later runs / pairs of pooled runs.

![Coverage by measure and budget](estimate-coverage.svg)

{coverages}

## Width and order by guess

![Half-width and rank correlation by budget](estimate-width.svg)

P@10. `withheld`: the share of runs with more than 5 % of their weight outside the frame, which are left
out of the coverage here; [below](#new-runs) are their intervals. The column of the bias is of all runs.

{widths}

Adverse machines, on all collections below: {adverse}.

## New runs

The interval of a run that did not contribute to the pool is widened by what its documents outside the
frame could change. Coverage and half-width by their share of the weight, 10 to 40 judgments per query,
guess centred; cells of fewer than 50 estimates are left out. Errors of a draw are common to all runs, and
a cell has 20 to 100 draws.

{outside}

`evaluate` prints intervals of new runs up to {most} (5 % with the guess `none`, whose coverage falls to
{unpredicted} in a cell). Values of new runs are too low where much is outside: the bias of P@10 is
{by_bins} with 0 to 5, 5 to 10, 10 to 20 and 20 to 30 % outside, and for runs with an interval
{bias_elsewhere} by set of pooled runs. The interval covers this; the order of such runs is not reliable.

## Labels that saw the judgments

The share of {files} files of labels per cell (six LLM judges) that the tests of `evaluate` exclude, by
the share of the judged documents whose grade replaced the label. TREC 2019 DL, P@10.

{power}

## Pools of the same cost

A pool by depth or MoveToFront counts unjudged documents as not relevant. Its values are too low, more so
for later runs, and their order is worse.

![Bias of P@10 by pool](estimate-bias.svg)

{rivals}

## One pair of runs

{count} random pairs of pooled runs, P@10. `drawn` are on average {budget} judgments of the documents that
only one of both has in its first ten. Whole queries are judged completely, as many as 250 judgments allow.
With the guess centred the half-width from {budget} drawn judgments is {pair:.3f}; from 250 on whole queries
it is {such:.3f} by the usual t interval (for such queries). As 250 judgments cover two fifths of these
queries, an interval for these queries alone is narrower, {whole:.3f}; the {budget} drawn judgments reach
that with labels of a machine ({labelled:.3f}), not without.

{alone}

## Other collections

Without a machine, all runs pooled, relevant from grade 1, 20 judgments per query.

{elsewhere}

{gain}

## Identities

- Each draw of a budget contains {nested} of the pairs drawn for the smaller budget with the same seed: the
  rows above are those of samples that were topped up from 5 to 10, 20, 40 and 80, and coverage does not
  depend on how a sample came about.
- Where every document that matters is judged (p = 1), the estimated values {equal} the exact ones,
  bit by bit, for all {exact} combinations of collection and measure.
- With one stratum and the guess 0, the expectation is that of infAP (Yilmaz and Aslam 2006); a test
  enumerates all draws of a list.

## What did not repeat

Simulations on collections that are not in the tables above, with 100 to 300 draws per cell, gave less than
these: a bias of later runs down to -0.019 (above at most -0.004), 62 to 90 % of the later runs without an
interval (above 42 %), and up to 1.7 % wrong among the decided pairs with few queries (above 0.2 %). Coverage
of P and RR repeated. As intervals for the mean over other queries, those of these tables held in 0.68.

## What was not simulated

Measures other than these. Judgments of others than the official assessors: with those of real second
judges, intervals contain the P@10 by the first judge in 0 to 62 % of the cases, and differences in 17 to
66 %. Stopping when an interval is narrow enough was simulated with the judging page
([judging.md](../judging.md)).

## To repeat

    leadline study estimate QRELS RUN... --new RUN --machine LABELS --level 2 -o OUT

All numbers, by collection, measure, budget and guess, are in [estimate.csv](estimate.csv), and with those
of the pools and pairs in [estimate.json](estimate.json).
"""


def _with_items(text: str) -> str:
    """Break the lines of paragraphs and of list items."""
    parts = []
    for part in wrapped(text).split("\n\n"):
        items = part.strip("\n").split("\n- ") if part.startswith("- ") else []
        parts.append(
            "\n".join(
                textwrap.fill(
                    f"- {' '.join(item.removeprefix('- ').split())}",
                    110,
                    subsequent_indent="  ",
                    break_on_hyphens=False,
                )
                for item in items
            )
            or part
        )
    return "\n\n".join(parts).rstrip("\n") + "\n"


def gain(kept: Json) -> str:
    """Write what drawing gains over MoveToFront on the other collections, and where it gains nothing."""
    parts = []
    for name, title in _others(kept).items():
        best = pick(kept["cells"], set=name, measure="P", budget=MIDDLE, proxy="centred")[0]
        front = pick(kept["rivals"], set=name, measure="P", budget=MIDDLE, method="MoveToFront")[0]
        gained = best["tau"] - front["tau"]
        word = "better" if gained > 0.02 else "worse" if gained < -0.02 else "no better"
        parts.append(
            f"- {title}: the order by P@10 is {word} than with MoveToFront (tau {best['tau']:.2f} against "
            f"{front['tau']:.2f}); the bias is {shown(best['bias_pooled'], '+.3f')} in place of "
            f"{shown(front['bias_pooled'], '+.3f')}."
        )
    return "\n".join(parts)


def redraw() -> None:
    """Write the figures and the CSV beside the page."""
    kept = read_numbers(NAME)
    for title, figure in figures(kept).items():
        (PAGES / f"{NAME}-{title}.svg").write_bytes(picture(figure, "svg"))
    (PAGES / f"{NAME}.csv").write_text(sheet(kept), encoding="utf-8")


if __name__ == "__main__":
    update_page(NAME, page, collect)
    redraw()
