"""Measure how well the shape of topics ranks systems, compared with votes of other systems.

DeShaTo (see `leadline unjudged`) uses topics fitted to the retrieved documents, several times and with
several numbers of topics. DeShaTo and the voting estimators are compared with MAP@30 and with MAP by
Kendall's tau, at several depths. DeShaTo and nruns are then compared on random sets of few systems, where
nruns has few votes.
Source: Ionescu, Chifu and Mothe 2015, section 3.4, table 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline import read_qrels
from leadline.data.arrays import Floats
from leadline.data.reading import Reading
from leadline.data.table import ResultWarning, RunInfo, Table, plain
from leadline.data.wording import queries, rounded
from leadline.errors import UsageError, one_of
from leadline.estimation.system_lists import Systems, Topics, read_systems
from leadline.estimation.unjudged import estimate_systems, fit_topics
from leadline.estimation.unjudged_methods import METHODS, DeShaTo, NRuns
from leadline.evaluation.join import judge_runs
from leadline.io.read import QrelsLike
from leadline.io.texts import TextsLike
from leadline.measures.average_precision import AP
from leadline.stats.correlation import kendall
from leadline.stats.moments import mean_of_defined
from leadline.topics.infer import Vectors, vectors_of
from leadline_studies import (
    FITS,
    LEVEL,
    SEED,
    SWEEPS,
    VECTORS,
    Claim,
    Given,
    Option,
    Outcome,
    of_judged,
    with_options,
)
from leadline_studies.common.tables import sheet

CLAIM = Claim(
    "The shape of topics ranks systems about as well as votes of other systems do.",
    "Tau on Robust is 0.61, and 0.62 for nruns.",
)
TOPICS = (50, 100, 250)  # the paper's
OF_TOPICS = (
    Option("docs", str, "Texts of the documents. Topics are fitted to the retrieved ones.", metavar="DOCS"),
    VECTORS,
    Option("topics", int, "Number of topics to fit to --docs (repeatable).", TOPICS),
    FITS,
    SWEEPS,
)
OPTIONS = (
    *OF_TOPICS,
    Option("subsets", int, "Number of random sets of systems for each set size.", 100),
    LEVEL,
    SEED,
)
EXAMPLE = ("--docs DOCS",)
DEPTHS = (10, 30, 100)
SIZES = (5, 10, 20)
PAPER = 30  # the paper's depth
NAMED = "deshato, {} topics"
TOO_FEW = "no verdict, because at least 15 systems and 5 fits are needed"


class Ranked(NamedTuple):
    """Systems on the judged queries, and their true values: systems x queries by measure."""

    systems: Systems
    queries: list[str]
    truths: dict[str, Floats]
    inputs: list[RunInfo]
    warnings: list[ResultWarning]

    @property
    def names(self) -> list[str]:
        """Return the names of the systems."""
        return [info.name for info in self.systems.infos]


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs over a collection with texts."""
    ranked = read_ranked(qrels, runs, given)
    fits = topics_by_number(ranked.systems, given, given.docs, given.vectors, given.topics)
    means = {name: values.mean(axis=1) for name, values in ranked.truths.items()}
    shapes = {number: shapes_of(ranked.systems, models) for number, models in fits.items()}
    depths = by_depth(ranked.systems, means, shapes)
    at_paper_depth = {number: scores[PAPER] for number, scores in shapes.items()}
    data: dict[str, Any] = {
        "systems": len(ranked.names),
        "queries": len(ranked.queries),
        "topics": list(fits),
        "fits": min(map(len, fits.values())),
        "depths": depths,
        "few": few_systems(ranked.systems, means["MAP@30"], at_paper_depth, given.subsets, given.seed),
    }
    drawn = _figures(ranked, means["MAP@30"], at_paper_depth)
    options = fitted(given, fits, data["fits"])
    return Outcome(data, ranked.inputs, ranked.warnings, options, figures=drawn)


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return tau at all depths, and in sets of few systems."""
    ends = ["worst fit=lowest", "best fit=highest"]
    heads = ["method", "depth", "truth", "tau", *ends, "p of the worst=p"]
    few = sheet(data["few"], ["systems", "method", "mean tau=tau", *ends], digits=3)
    return {"depths": sheet(data["depths"], heads, digits=3), "few": few}


def fitted(given: Given, topics: Iterable[int], fits: int) -> dict[str, Any]:
    """Return the options of the topic models: what was fitted, or read."""
    sweeps = None if given.vectors else given.sweeps
    return {"vectors": len(given.vectors), "topics": list(topics), "fits": fits, "sweeps": sweeps}


def topics_by_number(
    systems: Systems,
    given: Given,
    documents: TextsLike | None,
    vectors: Sequence[str | Vectors],
    topics: Sequence[int],
) -> dict[int, list[Topics]]:
    """Return topic vectors by number of topics, in ascending order.

    Vectors are read from files (`vectors`; files of the same width are fits with the same number of topics),
    or from LDA models for each number in `topics`, fitted to the texts of the retrieved `documents`.
    """
    check_topic_source(documents, vectors)
    by_number: dict[int, list[Topics]] = {}
    if documents is None:
        for source in vectors:
            read = vectors_of(source)
            aligned = systems.align(read.ids, read.theta)
            by_number.setdefault(aligned.theta.shape[1], []).append(aligned)
        return dict(sorted(by_number.items()))
    DeShaTo().check_topics(min(topics, default=0))
    how = {"fits": given.fits, "sweeps": given.sweeps, "seed": given.seed}
    return {number: list(fit_topics(systems, documents, number, **how)) for number in sorted(set(topics))}


def check_topic_source(documents: object, vectors: Sequence[object]) -> None:
    """Refuse topics from both texts and vectors, or from neither."""
    one_of({"--docs": documents, "--vectors": vectors})
    if documents is None and not vectors:
        raise UsageError("need --docs or --vectors")


def read_ranked(qrels: QrelsLike, runs: Any, given: Given) -> Ranked:
    """Read runs and judgments, excluding queries without judgments."""
    table = read_qrels(qrels)
    reading = Reading()
    systems = read_systems(runs, reading, on_run=given.on_run)
    asked = of_judged(systems, table)
    measures = {"MAP@30": AP(rel=given.level, cutoff=PAPER), "MAP": AP(rel=given.level)}
    _, values = judge_runs(
        runs, table, lambda judged: [measure.values(judged) for measure in measures.values()], reading=reading
    )
    stacked = np.nan_to_num(np.array(values))
    NRuns().check(len(systems.infos))
    left = len(systems.queries) - len(asked.queries)
    warning = ResultWarning("unjudged_queries", f"left out {queries(left)} without judgments", left)
    return Ranked(
        asked,
        list(table.queries),
        {name: stacked[:, index] for index, name in enumerate(measures)},
        systems.infos,
        [warning] if left else [],
    )


def shapes_of(systems: Systems, topics: Sequence[Topics]) -> dict[int, Floats]:
    """Return DeShaTo's scores by depth: models x systems."""
    return {depth: estimate_systems(systems, DeShaTo(depth=depth), topics=topics).by_fit for depth in DEPTHS}


def agreement(scores: Floats, truth: Floats) -> dict[str, Any]:
    """Return mean, smallest and largest tau over topic models (models x systems), and p of the smallest."""
    taus = [kendall(estimate, truth) for estimate in scores]
    defined = [tau for tau in taus if not np.isnan(tau)]
    least = scores[taus.index(min(defined))] if defined else scores[0]
    return {
        "tau": plain(float(np.mean(taus))),
        "lowest": min(defined, default=None),
        "highest": max(defined, default=None),
        "p": plain(exact_p(least, truth)),
    }


def by_depth(
    systems: Systems, truths: dict[str, Floats], shapes: dict[int, dict[int, Floats]]
) -> list[dict[str, Any]]:
    """Return tau of DeShaTo by number of topics and of every voting method, by depth and truth."""
    voting = [kind() for kind in METHODS.classes.values() if kind.voting]
    voting = [estimate for estimate in voting if estimate.fewest <= len(systems.infos)]
    rows = []
    for depth in DEPTHS:
        scores = {NAMED.format(number): of_depth[depth] for number, of_depth in shapes.items()}
        for method in voting:
            scores[method.called] = estimate_systems(systems, method.replace(depth=depth)).scores[None]
        for name, truth in truths.items():
            rows += [
                {"method": method, "depth": depth, "truth": name} | agreement(estimate, truth)
                for method, estimate in scores.items()
            ]
    return rows


def exact_p(estimate: Floats, truth: Floats) -> float:
    """Return the two-sided p of Kendall's tau."""
    from scipy.stats import kendalltau

    return float(kendalltau(estimate, truth).pvalue)


def few_systems(
    systems: Systems, truth: Floats, shapes: dict[int, Floats], subsets: int, seed: int
) -> list[dict[str, Any]]:
    """Return mean tau in random sets of few systems, the same for all methods; only nruns revotes."""
    rng = np.random.default_rng(seed)
    rows = []
    for size in [size for size in SIZES if size < len(truth)]:
        drawn = [np.sort(rng.permutation(len(truth))[:size]) for _ in range(subsets)]
        taus = {
            NAMED.format(number): [
                [kendall(of_fit[chosen], truth[chosen]) for chosen in drawn] for of_fit in scores
            ]
            for number, scores in shapes.items()
        }
        votes = (estimate_systems(systems.only(one.tolist()), NRuns(depth=PAPER)).scores for one in drawn)
        taus["nruns"] = [[kendall(one, truth[chosen]) for one, chosen in zip(votes, drawn, strict=True)]]
        for name, values in taus.items():
            means = mean_of_defined(np.array(values))
            ends = {"tau": means.mean(), "lowest": means.min(), "highest": means.max()}
            row: dict[str, Any] = {"systems": size, "method": name}
            rows.append(row | {key: plain(float(value)) for key, value in ends.items()})
    return rows


def _figures(ranked: Ranked, truth: Floats, shapes: dict[int, Floats]) -> dict[str, Any]:
    """Plot estimates against MAP@30, with labels for the best systems."""
    from leadline_studies.common.figures import named_points

    votes = estimate_systems(ranked.systems, NRuns(depth=PAPER)).scores
    drawn = {"nruns": ("nruns", votes)} | {
        f"deshato-{number}": (NAMED.format(number), scores.mean(axis=0)) for number, scores in shapes.items()
    }
    return {
        name: named_points(truth, scores, ranked.names, across="MAP@30", up=label)
        for name, (label, scores) in drawn.items()
    }


def too_few(systems: int, fits: int) -> bool:
    """Return whether systems or fits are too few for a verdict."""
    return systems < 15 or fits < 5


def verdict(agreement: dict[str, Any], systems: int, fits: int) -> str:
    """Return whether tau above 0 is reproduced: p below 0.05 in all of 5 or more fits, 15 or more systems."""
    if too_few(systems, fits):
        return TOO_FEW
    held = (agreement["lowest"] or 0) > 0 and agreement["p"] is not None and agreement["p"] < 0.05
    return "reproduced in kind (above 0, p < 0.05 in every fit)" if held else "not reproduced"


def lines(data: dict[str, Any]) -> list[str]:
    """Return what of table 4 holds: tau above 0 for every fit, and above nruns' with five systems."""
    by_method = at_depth(data)
    names = [NAMED.format(number) for number in data["topics"]]
    conclusions = []
    for name in names:
        row = by_method[name]
        conclusions.append(
            f"{name}: tau with MAP@30 is {rounded(row['tau'])} ({fits_of(row)}), and "
            f"{rounded(by_method['nruns']['tau'])} for nruns: {verdict(row, data['systems'], data['fits'])}"
        )
    five = {row["method"]: row for row in data["few"] if row["systems"] == min(SIZES)}
    if not five:
        return [*conclusions, "There are too few systems to draw sets of five."]
    votes = five["nruns"]["tau"] or 0
    better = [name for name in names if (five[name]["lowest"] or 0) > votes]
    undecided = [name for name in names if name not in better and (five[name]["highest"] or 0) > votes]
    of_numbers = f" of {len(names)} numbers of topics"
    found = (
        TOO_FEW
        if too_few(data["systems"], data["fits"])
        else f"reproduced (above in every fit) with {len(better)}{of_numbers}"
        if better
        else "not reproduced" + f" (fits on both sides with {len(undecided)}{of_numbers})" * bool(undecided)
    )
    taus = ", ".join(f"{rounded(five[name]['tau'])} ({fits_of(five[name])}; {name})" for name in names)
    last = (
        f"With five systems, the mean tau is {taus} and {rounded(five['nruns']['tau'])} (nruns). Few systems "
        f"favor DeShaTo: {found}"
    )
    return [*conclusions, last]


def at_depth(data: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of the paper's depth with MAP@30 by method."""
    return {row["method"]: row for row in data["depths"] if (row["depth"], row["truth"]) == (PAPER, "MAP@30")}


def fits_of(row: dict[str, Any]) -> str:
    """Return the range over fits in words."""
    return f"fits {rounded(row['lowest'])} to {rounded(row['highest'])}"
