"""Test whether rankings differ more between retrieval models than between parameter values of one model.

A family is a retrieval model, and its runs differ in one parameter. leadline reads family and parameter from
the run names (the parameter is the number that varies, as in bm25-k1_0.9 and bm25-k1_1.2) or from two columns
of a table. The best runs of all families are compared with each other, and so are all pairs of runs within
each family. Source: Golbus and Aslam 2014, section 3.2, tables 1 and 2, figures 3 and 4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from leadline import Difference, InputError, Qrels, UsageError, difference, read_qrels
from leadline.data.ids import to_text
from leadline.data.reading import Reading
from leadline.data.table import Table
from leadline.data.validation import check_whole
from leadline.errors import both, one_of
from leadline.evaluation.join import each_run, readable_twice
from leadline.io.id_lists import read_labels
from leadline_studies import COMPLETE, Claim, Given, Option, Outcome, read_judgments, with_options
from leadline_studies.common.tables import sheet

NUMBER = re.compile(r"\d+(?:\.\d+)?")
CLAIM = Claim(
    "There is far more difference within a retrieval model than across models.",
    "The largest id between best models is smaller than that of roughly 40 % of the pairs of BM25 settings.",
)
OPTIONS = (
    Option(
        "family",
        str,
        "Table column with the family of each run, if the run names do not show it.",
        metavar="FILE:COLUMN",
    ),
    Option(
        "parameter",
        str,
        "Table column with the parameter of each run, if the run names do not show it.",
        metavar="FILE:COLUMN",
    ),
    Option("cutoff", int, "Cutoff of RIC@k and id@k, used instead of RIC and id."),
    COMPLETE,
    Option(
        "pool",
        int,
        "Judge only the first K documents of each run. A document without a grade in QRELS gets 0.",
        metavar="K",
    ),
)


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs; `family` and `parameter` are FILE:COLUMN, both or none."""
    both({"--family": given.family}, {"--parameter": given.parameter})
    both({"--parameter": given.parameter}, {"--family": given.family})
    one_of({"--pool": given.pool, "--complete": given.complete})
    if given.pool is None:
        judged = read_judgments(qrels, given.complete)
    else:
        runs = readable_twice(runs, Reading())
        judged = pooled_judgments(read_qrels(qrels), runs, given.pool)
    differences = difference(judged, runs, cutoff=given.cutoff, competitors=(), on_run=given.on_run)
    if given.family and given.parameter:
        families, parameters = read_labels(given.family), read_labels(given.parameter)
    else:
        families, parameters = grid_in_names(differences.names)
    grids = grids_of(differences, families, parameters)
    ric, distance = differences.mean_ric, differences.mean_id
    best = {name: max(points, key=lambda point: ric[point[0]]) for name, points in grids.items()}
    inside = {
        name: [float(distance[i, j]) for (i, _), (j, _) in combinations(points, 2)]
        for name, points in grids.items()
    }
    across = {f"{a} and {b}": float(distance[best[a][0], best[b][0]]) for a, b in combinations(best, 2)}
    families_found = {
        name: {
            "runs": len(points),
            "best": differences.names[best[name][0]],
            "parameter": best[name][1],
            "ric": float(ric[best[name][0]]),
            "id_median": float(np.median(inside[name])),
            "id_largest": max(inside[name]),
        }
        for name, points in grids.items()
    }

    def above(value: float) -> dict[str, float]:
        return {name: float(np.mean(np.array(inside[name]) > value)) for name in grids}

    data = {
        "k": given.cutoff,
        "queries": int(differences.counted.sum()),
        "families": families_found,
        "across": {pair: {"id": id_, "share_of_pairs_above": above(id_)} for pair, id_ in across.items()},
    }
    drawn = _figures(differences, grids, inside, across, given.cutoff)
    return Outcome(data, differences.runs, differences.warnings, {"k": given.cutoff}, figures=drawn)


def grid_in_names(names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return family and parameter of the runs whose names are alike but for one number.

    >>> grid_in_names(["bm25-k1_0.9", "bm25-k1_1.2"])[0]
    {'bm25-k1_0.9': 'bm25-k1_*', 'bm25-k1_1.2': 'bm25-k1_*'}
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        alike.setdefault(tuple(NUMBER.split(name)), []).append(name)
    families, parameters = {}, {}
    for texts, members in alike.items():
        numbers = [NUMBER.findall(name) for name in members]
        varying = [place for place, column in enumerate(zip(*numbers, strict=True)) if len(set(column)) > 1]
        if len(varying) == 1:
            for name, found in zip(members, numbers, strict=True):
                parameters[name], found[varying[0]] = found[varying[0]], "*"
                families[name] = "".join(map("".join, zip(texts, [*found, ""], strict=True)))
    return families, parameters


def grids_of(
    differences: Difference, families: dict[str, str], parameters: dict[str, str]
) -> dict[str, list[tuple[int, float]]]:
    """Return, per family, index and parameter of its runs, in the order of the parameter."""
    grids: dict[str, list[tuple[int, float]]] = {}
    for index, name in enumerate(differences.names):
        if name not in families or name not in parameters:
            raise UsageError(
                f"run '{name}' has no family or no parameter. Use run names that differ in one number, or "
                "give both for every run with --family and --parameter."
            )
        try:
            value = float(parameters[name])
        except ValueError:
            raise UsageError(
                f"the parameter of run '{name}' must be a number, not '{parameters[name]}'"
            ) from None
        grids.setdefault(families[name], []).append((index, value))
    too_small = [name for name, points in grids.items() if len(points) < 2]
    if len(grids) < 2 or too_small:
        problem = f"family '{too_small[0]}' has one run" if too_small else "there is one family"
        raise UsageError(f"need at least two families of two runs, but {problem}")
    return {name: sorted(points, key=lambda point: point[1]) for name, points in grids.items()}


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the best run of each family, and the differences between these."""
    best = ({"family": name} | values for name, values in data["families"].items())
    pairs = ({"pair": name} | entry for name, entry in data["across"].items())
    heads = ["family", "runs", "best", "parameter", "RIC=ric"]
    above = [f"pairs above, {name}=share_of_pairs_above.{name}" for name in data["families"]]
    return {
        "best": sheet(best, [*heads, "median id inside=id_median", "largest id inside=id_largest"]),
        "across": sheet(pairs, ["best of=pair", "id", *above]),
    }


def _figures(
    differences: Difference,
    grids: dict[str, list[tuple[int, float]]],
    inside: dict[str, list[float]],
    across: dict[str, float],
    cutoff: int | None,
) -> dict[str, Any]:
    from leadline.charts.line_plots import by_parameter, cumulative

    ric = differences.mean_ric.tolist()
    lines = {name: [(value, ric[index]) for index, value in points] for name, points in grids.items()}
    # at k values are divided by those of the ideal list, so that they are no bits
    labels = ("RIC (bits)", "Information Difference (bits)")
    first, second = labels if cutoff is None else (f"RIC@{cutoff}", f"id@{cutoff}")
    return {
        "parameter": by_parameter(lines, label=first),
        "cumulative": cumulative(inside, marks=across, label=second),
    }


def lines(data: dict[str, Any]) -> list[str]:
    """Return whether the best runs of different families are closer than the typical pair of one family."""
    pair, entry = max(data["across"].items(), key=lambda item: item[1]["id"])
    medians = {name: values["id_median"] for name, values in data["families"].items()}
    failed = [name for name, median in medians.items() if entry["id"] >= median]
    verdict = f"not reproduced for {', '.join(failed)}" if failed else "reproduced"
    shares = entry["share_of_pairs_above"].items()
    within = ", ".join(f"{name} {median:.3f}" for name, median in medians.items())
    line = (
        f"The largest id between best runs is {entry['id']:.3f} ({pair}). The median id within a family is "
        f"{within}. Best runs are closer than the median pair of each family: {verdict}"
    )
    smaller = ", ".join(f"{share:.0%} of the pairs of {name}" for name, share in shares)
    return [line, f"The largest id between best runs is smaller than that of {smaller}."]


def pooled_judgments(qrels: Qrels, runs: Any, depth: int) -> Qrels:
    """Return judgments of the top `depth` documents of all runs, as if only these had been judged.

    Examples
    --------
    >>> truth = read_qrels({"q": {"a": 1, "b": 1}})
    >>> pooled_judgments(truth, {"x": {"q": ["a", "c", "b"]}}, 2).to_dict()
    {'q': {'a': 1, 'c': 0}}
    """
    check_whole(1, pool=depth)
    grades = qrels.to_dict()
    pooled: dict[str, dict[str, float]] = {}
    for _, run in each_run(runs, Reading()):
        names = run.documents.names
        for query, (low, high) in zip(run.queries.names, pairwise(run.offsets.tolist()), strict=True):
            known = grades.get(to_text(query))
            if known is not None:
                retrieved = map(to_text, (names[code] for code in run.document[low : min(high, low + depth)]))
                pooled.setdefault(to_text(query), {}).update(
                    (document, known.get(document, 0)) for document in retrieved
                )
    if not pooled:
        raise InputError("no query of the runs is judged. Check that the query ids match.", path=qrels.source)
    return read_qrels(pooled)
