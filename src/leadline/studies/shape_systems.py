"""How well the shape of topics ranks systems, beside nruns, and whether it does better with few systems.

DeShaTo over topics fitted to the retrieved documents, several times, and nruns are compared by Kendall's tau
with MAP@30 and with MAP, at several depths; then on random sets of few systems, where nruns has few votes.
Source: Ionescu, Chifu and Mothe 2015, section 3.4, table 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.estimators import Systems, estimated, read_systems
from leadline.estimators.fitting import fitted
from leadline.estimators.methods.deshato import DeShaTo
from leadline.estimators.methods.nruns import NRuns
from leadline.formats import QrelsLike, read_qrels, repair_of
from leadline.judged_runs import judge_runs
from leadline.measures.average_precision import AP
from leadline.render import Cell, Sheet
from leadline.statistics.correlation import kendall
from leadline.studies import Option, Outcome, Tell

OPTIONS = (
    Option("docs", str, "Texts of the documents.", needed=True, metavar="DOCS"),
    Option("topics", int, "How many topics.", 50),
    Option("fits", int, "How many models are fitted.", 5),
    Option("sweeps", int, "Sweeps over all tokens in every fit.", 500),
    Option("subsets", int, "How many random sets of systems of each size.", 100),
    Option("level", float, "The least relevant grade.", 1.0),
    Option("seed", int, "Seeds fits and draws.", 0),
)
DEPTHS = (10, 30, 100)
SIZES = (5, 10, 20)
PAPER = 30  # the paper's depth


def run(
    qrels: QrelsLike, runs: Any, *, docs: Any, topics: int = 50, fits: int = 5, sweeps: int = 500,
    subsets: int = 100, level: float = 1.0, seed: int = 0, on_run: Tell | None = None,
) -> Outcome:  # fmt: skip
    """Try it on runs over a collection with texts."""
    if subsets < 1:
        raise UsageError(f"subsets={subsets}; expected 1 or more")
    table = read_qrels(qrels)
    repair = repair_of("score", "refuse", "refuse")
    systems = read_systems(runs, repair, on_run=on_run)
    NRuns().check(len(systems.infos))
    measures = {"MAP@30": AP(rel=level, cutoff=PAPER), "MAP": AP(rel=level)}
    _, values = judge_runs(
        runs, table, lambda judged: [one.values(judged) for one in measures.values()], repair=repair
    )
    means = np.nan_to_num(np.array(values)).mean(axis=2).T
    truths: dict[str, Floats] = dict(zip(measures, means, strict=True))
    shapes = shapes_of(systems, list(fitted(
        systems, docs, topics, fits=fits, sweeps=sweeps, seed=seed
    )))  # fmt: skip
    depths = by_depth(systems, truths, shapes)
    data: dict[str, Any] = {
        "systems": len(systems.infos), "queries": len(systems.queries), "topics": topics, "fits": fits,
        "depths": depths, "few": few_systems(systems, truths["MAP@30"], shapes[PAPER], subsets, seed),
    }  # fmt: skip
    return Outcome(
        data, {"depths": _sheet(depths), "few": _few_sheet(data["few"])}, {}, lines_of(data), [],
        [(info.path, info.counts["documents_read"]) for info in systems.infos],
        {"docs": docs if isinstance(docs, str) else None, "topics": topics, "fits": fits,
         "sweeps": sweeps, "subsets": subsets, "level": level, "seed": seed},
    )  # fmt: skip


def shapes_of(systems: Systems, topics: list[Any]) -> dict[int, Floats]:
    """Give DeShaTo's scores by depth: fits x systems."""
    return {
        depth: estimated(systems, DeShaTo(depth=depth), topics=topics).by_fit for depth in DEPTHS
    }


def by_depth(
    systems: Systems, truths: dict[str, Floats], shapes: dict[int, Floats]
) -> list[dict[str, Any]]:
    """Give tau of DeShaTo (over fits, with p of the lowest) and of nruns, by depth and truth."""
    found = []
    for depth in DEPTHS:
        votes = estimated(systems, NRuns(depth=depth)).scores
        for name, truth in truths.items():
            taus = [kendall(scores, truth) for scores in shapes[depth]]
            found.append(
                {
                    "depth": depth, "truth": name, "deshato": float(np.mean(taus)), "lowest": min(taus),
                    "highest": max(taus), "p": chance(shapes[depth][int(np.argmin(taus))], truth),
                    "nruns": kendall(votes, truth),
                }
            )  # fmt: skip
    return found


def chance(estimate: Floats, truth: Floats) -> float:
    """Give the two-sided p of Kendall's tau."""
    from scipy.stats import kendalltau

    return float(kendalltau(estimate, truth).pvalue)


def few_systems(
    systems: Systems, truth: Floats, shapes: Floats, subsets: int, seed: int
) -> dict[str, dict[str, float]]:
    """Give mean tau of both in random sets of few systems; only nruns must vote anew."""
    dice = np.random.default_rng(seed)
    found = {}
    for size in [size for size in SIZES if size < len(truth)]:
        taus = []
        for _ in range(subsets):
            chosen = np.sort(dice.permutation(len(truth))[:size])
            votes = estimated(systems.only(chosen.tolist()), NRuns(depth=PAPER)).scores
            own = np.nanmean([kendall(scores[chosen], truth[chosen]) for scores in shapes])
            taus.append((float(own), kendall(votes, truth[chosen])))
        both = np.nanmean(np.array(taus), axis=0)
        found[str(size)] = {"deshato": float(both[0]), "nruns": float(both[1])}
    return found


def _sheet(depths: list[dict[str, Any]]) -> Sheet:
    heads = [
        "depth",
        "truth",
        "DeShaTo tau",
        "worst fit",
        "best fit",
        "p of the worst",
        "nruns tau",
    ]
    return Sheet(heads, [list(one.values()) for one in depths], digits=3)


def _few_sheet(few: dict[str, dict[str, float]]) -> Sheet:
    rows: list[list[Cell]] = [
        [int(size), one["deshato"], one["nruns"]] for size, one in few.items()
    ]
    return Sheet(["systems", "DeShaTo mean tau", "nruns mean tau"], rows, digits=3)


def lines_of(data: dict[str, Any]) -> list[str]:
    """Say what of table 4 holds: tau above 0 for every fit, and more than nruns' with five systems."""
    at = next(one for one in data["depths"] if (one["depth"], one["truth"]) == (PAPER, "MAP@30"))
    enough = data["systems"] >= 15 and data["fits"] >= 5
    held = at["lowest"] > 0 and at["p"] < 0.05
    verdict = (
        "no verdict: 15 systems and 5 fits are the least" if not enough
        else "reproduced in kind (above 0, p < 0.05 in every fit)" if held else "not reproduced"
    )  # fmt: skip
    first = (
        f"tau with MAP@30: DeShaTo {at['deshato']:.2f} (fits {at['lowest']:.2f} to {at['highest']:.2f}), "
        f"nruns {at['nruns']:.2f}: {verdict}"
    )
    five = data["few"].get("5")
    if five is None:
        return [first, "five systems or fewer: nothing is said of few systems"]
    better = "reproduced" if five["deshato"] >= five["nruns"] else "not reproduced"
    second = (
        f"with five systems DeShaTo's mean tau is {five['deshato']:.2f} and that of nruns "
        f"{five['nruns']:.2f}; the claim that few systems favour DeShaTo is {better}"
    )
    return [first, second]
