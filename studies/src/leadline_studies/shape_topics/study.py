"""Use a few judgments to choose the number of topics, and measure how good the choice is on other data.

The choice is the number of topics for which DeShaTo (see `leadline unjudged`) has the largest tau with MAP@30
on one query in ten and on about 15 of the systems. It is then evaluated on all data, including those of the
choice, as in the paper; on the queries and systems that were not used for the choice; and on a sister
collection.
Source: Ionescu, Chifu and Mothe 2015, section 3.3, table 3; section 3.4, table 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline import UsageError
from leadline.data.arrays import Floats, Integers
from leadline.data.table import Table, plain
from leadline.data.wording import counted, queries, rounded
from leadline.estimation.system_lists import Systems, Topics
from leadline.estimation.unjudged import estimate_systems
from leadline.estimation.unjudged_methods import DeShaTo, NRuns
from leadline.io.read import QrelsLike
from leadline.stats.correlation import kendall
from leadline_studies import LEVEL, Claim, Given, Option, Outcome, with_options
from leadline_studies.common.tables import sheet
from leadline_studies.shape_systems.study import (
    OF_TOPICS,
    PAPER,
    Ranked,
    agreement,
    fits_of,
    fitted,
    read_ranked,
    topics_by_number,
    verdict,
)

CLAIM = Claim(
    "The number of topics can be chosen on few judgments.",
    "The choice is 50 topics on Robust and 250 on Web 2014.",
)
OPTIONS = (
    *OF_TOPICS,
    Option("one_in", int, "Use one query in N for the choice.", 10),
    Option("keep", int, "Approximate number of systems to use for the choice.", 15),
    Option(
        "sister_qrels",
        str,
        "Judgments of a sister collection, on which to try the chosen number of topics.",
        metavar="QRELS",
    ),
    Option("sister_runs", str, "Folder with the runs of the sister collection.", metavar="DIR"),
    Option("sister_docs", str, "Texts of the documents of the sister collection.", metavar="DOCS"),
    Option(
        "sister_vectors",
        str,
        "Topic vectors of the sister collection (repeatable, one file per fit).",
        (),
        metavar="FILE",
    ),
    LEVEL,
    Option("seed", int, "Random seed of the fits.", 0, least=0),
)
EXAMPLE = ("--docs DOCS",)
# Table 3, and the sizes behind the shares that section 3.3 prints: queries and systems of each set.
TABLE_3 = {
    "Robust (paper)": {50: 0.4286, 100: 0.3524, 250: 0.3143},
    "Web 2014 (paper)": {50: 0.1190, 100: 0.1905, 250: 0.3048},
}
FEWEST = 3  # systems, below which tau is one swap


class Part(NamedTuple):
    """Queries and systems of a subset."""

    queries: Integers
    systems: Integers

    @property
    def observations(self) -> int:
        """Return the number of lists: queries times systems."""
        return len(self.queries) * len(self.systems)


def part_of(queries: int, systems: int, one_in: int = 10, keep: int = 15) -> Part:
    """Return the tuning part: the first of every ten queries, and every m-th system, m = systems / 15.

    >>> robust, web = part_of(249, 110), part_of(50, 30)
    >>> len(robust.queries), len(robust.systems), len(web.queries), len(web.systems)
    (25, 15, 5, 15)
    """
    step = max(1, systems // keep)
    return Part(np.arange(0, queries, one_in), np.arange(step - 1, systems, step))


def share_of(part: Part, *sets: tuple[int, int]) -> float:
    """Return the proportion of all observations, queries x systems over the sets, in a part.

    >>> share_of(part_of(249, 110), (249, 110)).__round__(4)
    0.0137
    >>> share_of(part_of(50, 30), (50, 61), (50, 30)).__round__(4)
    0.0165
    """
    return part.observations / sum(queries * systems for queries, systems in sets)


class Tried(NamedTuple):
    """DeShaTo's values, fits x systems x queries by number of topics, nruns' values, and the truth."""

    ranked: Ranked
    shapes: dict[int, Floats]
    truth: Floats

    def at(self, name: str, part: Part) -> list[dict[str, Any]]:
        """Return tau with MAP@30 by number of topics, and of nruns, on a part."""
        cut = np.ix_(part.systems, part.queries)
        truth = self.truth[cut].mean(axis=1)
        size = {"part": name, "queries": len(part.queries), "systems": len(part.systems)}
        votes = _in_place(self.ranked, self.ranked.systems.only(part.systems.tolist()), NRuns(depth=PAPER))
        nruns = plain(kendall(votes[:, part.queries].mean(axis=1), truth))
        rows = []
        for number, values in self.shapes.items():
            scores = np.stack([values_of_fit[cut].mean(axis=1) for values_of_fit in values])
            taus = [plain(kendall(values_of_fit, truth)) for values_of_fit in scores]
            rows.append(size | {"topics": number} | agreement(scores, truth) | {"nruns": nruns, "fits": taus})
        return rows


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs over a collection with texts; `sister_runs` is a folder, or runs in memory."""
    of_sister = _sister(given)
    own = _tried(qrels, runs, given, given.docs, given.vectors, given.topics)
    part = part_of(own.truth.shape[1], len(own.truth), given.one_in, given.keep)
    tuning = own.at("tuning", part)
    chosen = best_of(tuning)
    rows = [
        row for name, collection in _parts(own.truth.shape, part).items() for row in own.at(name, collection)
    ]
    tried = [own]
    if of_sister:
        tried.append(_tried(*of_sister, [chosen]))
        rows += tried[1].at("sister", _whole(tried[1].truth.shape))
    sizes = [(collection.truth.shape[1], len(collection.truth)) for collection in tried]
    fits = min(len(row["fits"]) for row in tuning)
    data = {
        "systems": len(own.truth),
        "queries": own.truth.shape[1],
        "fits": fits,
        "used": {
            "queries": len(part.queries),
            "systems": len(part.systems),
            "observations": part.observations,
        },
        "tuning": tuning,
        "chosen": chosen,
        "chosen_by_fit": [
            best_of([row | {"tau": row["fits"][turn]} for row in tuning]) for turn in range(fits)
        ],
        "ranking": rows,
        "paper": {name: {str(number): tau for number, tau in taus.items()} for name, taus in TABLE_3.items()},
        "share": share_of(part, *sizes),
    }
    read = [file for collection in tried for file in collection.ranked.inputs]
    return Outcome(data, read, own.ranked.warnings, fitted(given, own.shapes, fits))


def _sister(given: Given) -> list[Any]:
    """Return the sister collection, which must be given completely or not at all."""
    docs, vectors = given.sister_docs, given.sister_vectors
    parts = [given.sister_qrels is not None, given.sister_runs is not None, docs is not None or bool(vectors)]
    if any(parts) and not all(parts):
        raise UsageError(
            "a sister collection needs --sister-qrels, --sister-runs, and --sister-docs or --sister-vectors"
        )
    return [given.sister_qrels, given.sister_runs, given, docs, vectors] if all(parts) else []


def _tried(qrels: QrelsLike, runs: Any, given: Given, *of_topics: Any) -> Tried:
    ranked = read_ranked(qrels, runs, given)
    shapes = {
        number: np.stack([_in_place(ranked, ranked.systems, DeShaTo(depth=PAPER), model) for model in models])
        for number, models in topics_by_number(ranked.systems, given, *of_topics).items()
    }
    return Tried(ranked, shapes, ranked.truths["MAP@30"])


def _in_place(
    ranked: Ranked, systems: Systems, method: DeShaTo | NRuns, topics: Topics | None = None
) -> Floats:
    """Return estimates in the order of the judged queries; 0 where no system has a list."""
    estimates = estimate_systems(systems, method, topics=[topics])
    values = np.zeros((len(systems.infos), len(ranked.queries)))
    for index, name in enumerate(ranked.queries):
        code = estimates.queries.code(name)
        if code is not None:
            values[:, index] = estimates.values[:, code]
    return values


def _whole(shape: tuple[int, ...]) -> Part:
    return Part(np.arange(shape[1]), np.arange(shape[0]))


def _parts(shape: tuple[int, ...], part: Part) -> dict[str, Part]:
    """Return the parts on which the choice is evaluated: all, and the rest."""
    whole = _whole(shape)
    rest = Part(np.setdiff1d(whole.queries, part.queries), np.setdiff1d(whole.systems, part.systems))
    parts = {"all": whole}
    if len(rest.queries):
        parts["held-out queries"] = Part(rest.queries, whole.systems)
        if len(rest.systems) >= FEWEST:
            parts["held-out queries, systems"] = rest
    return parts


def best_of(rows: Sequence[dict[str, Any]]) -> int:
    """Return the number of topics with the largest mean tau; ties go to the fewest."""
    best = max(rows, key=lambda row: (-2 if row["tau"] is None else row["tau"], -row["topics"]))
    return int(best["topics"])


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return table 3 with the paper's values below ours, and the ranking of all parts."""
    tuning = [{"data": "here"} | row for row in data["tuning"]]
    tuning += [
        {"data": name, "topics": number, "tau": tau}
        for name, taus in TABLE_3.items()
        for number, tau in taus.items()
    ]
    taus = ["topics", "tau", "worst fit=lowest", "best fit=highest"]
    ranking = ["part", "queries", "systems", *taus, "p of the worst=p", "nruns"]
    return {
        "tuning": sheet(tuning, ["data", *taus, "nruns"], digits=3),
        "ranking": sheet(data["ranking"], ranking, digits=3),
    }


def figures(data: dict[str, Any]) -> dict[str, Any]:
    """Plot tau by the number of topics on every part."""
    from leadline_studies.common.figures import by_size

    defined = [row for row in (*data["tuning"], *data["ranking"]) if row["tau"] is not None]
    lines: dict[str, list[tuple[float, float]]] = {}
    spans: dict[str, list[tuple[float, float]]] = {}
    for row in defined:
        lines.setdefault(row["part"], []).append((row["topics"], row["tau"]))
        spans.setdefault(row["part"], []).append((row["lowest"], row["highest"]))
    label = "Kendall tau with MAP@30"
    return {"topics": by_size(lines, spans=spans, label=label, sizes="topics")} if lines else {}


def lines(data: dict[str, Any]) -> list[str]:
    """Return the choice, its data, its stability, and its quality on the rest."""
    used, chosen, votes = data["used"], data["chosen"], data["chosen_by_fit"]
    taus = ", ".join(f"{row['topics']}: {rounded(row['tau'])}" for row in data["tuning"])
    part = f"{used['queries']} of {queries(data['queries'])} x {used['systems']} of {data['systems']} systems"
    fits = ", ".join(f"{number} topics {votes.count(number)}" for number in sorted(set(votes)))
    conclusions = [
        (
            f"On {part}, {100 * data['share']:.2f} % of all observations (1.37 % and 1.65 % in the paper), "
            f"the choice is {chosen} topics (tau by number of topics: {taus})."
        ),
        f"Choices of {counted(len(votes), 'fit')} one by one: {fits}",
    ]
    for part in dict.fromkeys(row["part"] for row in data["ranking"]):
        rows = {row["topics"]: row for row in data["ranking"] if row["part"] == part}
        if chosen not in rows:
            conclusions.append(f"{part}: there are no vectors of {chosen} topics")
            continue
        row, best = rows[chosen], best_of(list(rows.values()))
        rank = ", the best number here" if len(rows) > 1 else ""
        if best != chosen:
            rank = f", {rounded(rows[best]['tau'])} with the best number here, {best}"
        conclusions.append(
            f"{part}, {queries(row['queries'])} x {row['systems']} systems: tau is {rounded(row['tau'])} "
            f"({fits_of(row)}) with {chosen} topics{rank}, and {rounded(row['nruns'])} for nruns: "
            f"{verdict(row, row['systems'], data['fits'])}"
        )
    return conclusions
