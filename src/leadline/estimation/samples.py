"""From judgments, a pool and labels to the sample that estimators work on; what does not fit is counted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.ids import to_bytes
from leadline.data.qrels import Qrels
from leadline.data.results import ResultWarning
from leadline.errors import UsageError
from leadline.estimation.designs import at_scale, random_number
from leadline.estimation.estimators import Sample
from leadline.estimation.guesses import VOTE_EDGES, folds_of, vote_cells
from leadline.io.pool_files import DrawnPool, read_drawn_pool
from leadline.io.read import QrelsLike, read_qrels

PoolLike: TypeAlias = "str | os.PathLike[str] | DrawnPool | Mapping[str, Mapping[str, float]]"
PROXIES = ("votes", "centred", "none")
VOTE_CONSTANT = 60.0  # of reciprocal rank fusion: a vote is 1 / (60 + rank)


@dataclass
class _Pairs:
    """Columns of pairs, filled row by row."""

    row: dict[tuple[str, str], int] = field(default_factory=dict)
    probability: list[float] = field(default_factory=list)
    order: list[float] = field(default_factory=list)
    listed: list[bool] = field(default_factory=list)

    def add(self, pair: tuple[str, str], probability: float, order: float, *, listed: bool) -> None:
        """Append a pair."""
        self.row[pair] = len(self.row)
        self.probability.append(probability)
        self.order.append(order)
        self.listed.append(listed)


@dataclass(frozen=True)
class Evidence:
    """A sample, the runs that it was pooled from, and what a reader of estimates should know."""

    sample: Sample
    pooled: frozenset[str] | None
    proxy: str
    judgments: int
    warnings: list[ResultWarning]


def evidence_of(
    judgments: QrelsLike,
    pool: PoolLike | None,
    machine: QrelsLike | None,
    proxy: str | None,
    *,
    skipped: bool,
    seed: int,
) -> Evidence:
    """Join judgments, pool and machine labels into one table of pairs.

    Parameters
    ----------
    judgments : qrels
        Grades of pairs; those outside the pool are left out and counted.
    pool : path, DrawnPool or mapping, optional
        Inclusion probabilities. Without it every judged pair is certain.
    machine : qrels, optional
        Labels of a machine; they are calibrated by the judgments, never used as grades.
    proxy : {"votes", "centred", "none"}, optional
        What guesses unjudged pairs without machine labels.
    skipped : bool
        Whether drawn pairs may lack a judgment.
    seed : int
        Seed of the replicates.

    Raises
    ------
    UsageError
        If judgments, pool and labels have no common query, a drawn pair was passed over, or a proxy lacks
        what it is made of.
    """
    table = read_qrels(judgments)
    grades = {
        (query, document): float(grade)
        for query, documents in table.to_dict().items()
        for document, grade in documents.items()
        if grade >= 0
    }
    warnings: list[ResultWarning] = []
    found = None if pool is None else pool_of(pool)
    pairs = _pairs_of(found, grades, warnings)
    queries = sorted({query for query, _ in pairs.row})
    labels = _labels(machine, set(queries), warnings)
    known = np.zeros(len(pairs.row), dtype=np.bool_)
    for pair, row in pairs.row.items():
        known[row] = pair in grades
    probability = np.array(pairs.probability)
    if found is not None:
        probability, known = _without_gaps(pairs, probability, known, found, warnings, skipped=skipped)
    chosen = _proxy(proxy, labels, found, bool((probability < 1).any()))
    for pair in labels:
        if pair not in pairs.row:
            pairs.add(pair, 0.0, np.nan, listed=False)
    grown = len(pairs.row) - len(probability)
    probability = np.concatenate([probability, np.zeros(grown)])
    known = np.concatenate([known, np.zeros(grown, dtype=np.bool_)])
    return _evidence(pairs, probability, known, grades, found, labels, chosen, warnings, seed)


def pool_of(pool: PoolLike) -> DrawnPool:
    """Return a pool from a path, an object or `{query: {document: probability}}`."""
    if isinstance(pool, DrawnPool):
        return pool
    if isinstance(pool, (str, os.PathLike)):
        return read_drawn_pool(pool)
    rows = [
        (query, document, share) for query, documents in pool.items() for document, share in documents.items()
    ]
    for query, document, share in rows:
        if not 0 < share <= 1:
            raise UsageError(
                f"document '{document}' of query '{query}' has probability {share!r}; expected a number "
                "in (0, 1]"
            )
    return DrawnPool(
        [query for query, _, _ in rows],
        [document for _, document, _ in rows],
        np.array([share for _, _, share in rows], dtype=np.float64),
        np.full(len(rows), np.nan),
        [{} for _ in rows],
        np.ones(len(rows), dtype=np.bool_),
    )


def _pairs_of(
    found: DrawnPool | None, grades: Mapping[tuple[str, str], float], warnings: list[ResultWarning]
) -> _Pairs:
    pairs = _Pairs()
    if found is None:
        for pair in grades:
            pairs.add(pair, 1.0, np.nan, listed=True)
        if not pairs.row:
            raise UsageError("no judgments and no pool; expected one of them")
        return pairs
    for query, document, share, order, drawn in zip(
        found.queries,
        found.documents,
        found.probability.tolist(),
        found.order.tolist(),
        found.drawn.tolist(),
        strict=True,
    ):
        pairs.add((query, document), share, order, listed=drawn)
    queries = set(found.queries)
    if not any(query in queries for query, _ in grades):
        some = next(iter(grades), ("none",))[0]
        raise UsageError(
            f"no judged query is in the pool (judged: {some}; pooled: {found.queries[0]}); do the query "
            "ids match?"
        )
    outside = sum(pair not in pairs.row or not pairs.listed[pairs.row[pair]] for pair in grades)
    if outside:
        warnings.append(
            ResultWarning(
                "outside_pool",
                f"judgments of pairs that the pool did not draw: {outside:,}; left out (pool --judged QRELS "
                "brings judgments in)",
                outside,
            )
        )
    return pairs


def _labels(
    machine: QrelsLike | None, queries: set[str], warnings: list[ResultWarning]
) -> dict[tuple[str, str], float]:
    if machine is None:
        return {}
    read = read_qrels(machine).to_dict()
    found = {
        (query, document): float(label)
        for query, documents in read.items()
        if query in queries
        for document, label in documents.items()
        if label >= 0
    }
    if not found:
        raise UsageError(
            f"no label is for a query of the pool (labels: {next(iter(read), 'none')}; pool: "
            f"{min(queries)}); do the query ids match?"
        )
    others = sum(query not in queries for query in read)
    if others:
        warnings.append(
            ResultWarning(
                "other_queries", f"queries of labels that the pool lacks: {others}; left out", others
            )
        )
    lacking = sum(
        query not in read or not any(label >= 0 for label in read[query].values()) for query in queries
    )
    if lacking:
        words = f"queries without any label: {lacking}; their pairs are a cell of their own"
        warnings.append(ResultWarning("unlabelled_queries", words, lacking))
    return found


def _without_gaps(
    pairs: _Pairs,
    probability: Floats,
    known: Any,
    found: DrawnPool,
    warnings: list[ResultWarning],
    *,
    skipped: bool,
) -> tuple[Floats, Any]:
    """Make the judged pairs a draw: all of it, or the part below the first pair that was not judged."""
    listed, order = np.array(pairs.listed), np.array(pairs.order)
    usable = known & listed
    missing = listed & ~known
    count = int(missing.sum())
    if not count:
        return probability, usable
    if not int(usable.sum()):
        raise UsageError("no pair of the pool is judged; do the document ids match?")
    end = float(order[missing].min()) if not np.isnan(order[missing]).any() else 0.0
    late = int((usable & ~(order < end)).sum())
    if not late:
        numbers = np.array(
            [
                random_number(to_bytes(query), to_bytes(document), int(found.design["seed"]))
                for query, document in pairs.row
            ]
        )
        smaller = at_scale(probability, order, numbers, end)
        words = (
            f"drawn pairs not judged: {count:,}; the {int(usable.sum()):,} judged ones are taken "
            f"as a smaller "
            "draw, with its probabilities"
        )
        warnings.append(ResultWarning("smaller_draw", words, count))
        return smaller, usable
    if skipped:
        words = f"drawn pairs passed over: {count:,}; treated as not drawn, so estimates may be biased"
        warnings.append(ResultWarning("skipped_pairs", words, count))
        return probability, usable
    raise UsageError(
        f"{count:,} drawn pairs have no judgment although {late:,} later ones do; expected all, or the first "
        "ones by `order` (--skipped goes on and counts them)"
    )


def _proxy(proxy: str | None, labels: Mapping[Any, float], found: DrawnPool | None, drawn: bool) -> str:
    """Return what guesses: machine, votes, centred or none."""
    if labels:
        if proxy is not None:
            raise UsageError("machine labels and a proxy; expected one of them")
        return "machine"
    if proxy is None:
        return "centred" if drawn else "none"
    if proxy not in PROXIES:
        raise UsageError(f"proxy={proxy!r}; expected one of " + ", ".join(PROXIES))
    if proxy == "votes" and (found is None or not any(found.contributors)):
        raise UsageError(
            "votes need a pool that names its contributors; expected one of `leadline pool --for`"
        )
    return proxy


def _evidence(
    pairs: _Pairs,
    probability: Floats,
    known: Any,
    grades: Mapping[tuple[str, str], float],
    found: DrawnPool | None,
    labels: Mapping[tuple[str, str], float],
    proxy: str,
    warnings: list[ResultWarning],
    seed: int,
) -> Evidence:
    names = list(pairs.row)
    # By query and document, so that nothing depends on the order of the rows of a file.
    keys = [(to_bytes(query), to_bytes(document)) for query, document in names]
    order = np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.int64)
    table = Qrels.of((*keys[row], grades[names[row]] if known[row] else 0.0) for row in order.tolist())
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    brought, votes, runs = _brought(found, place)
    query = table.query.astype(np.int64)
    framed = probability[order] > 0
    cell, cells, outside, apart = np.zeros(len(order), dtype=np.int64), 1, 0, None
    if proxy == "votes":
        cell = vote_cells(query, votes, framed)
        cells, outside = len(VOTE_EDGES) + 2, len(VOTE_EDGES) + 1
        apart = outside
    elif proxy == "machine":
        levels = {label: number for number, label in enumerate(sorted(set(labels.values())), start=1)}
        cell = np.array(
            [levels[labels[names[row]]] if names[row] in labels else 0 for row in order.tolist()],
            dtype=np.int64,
        )
        cells, outside, apart = len(levels) + 1, 0, 0
    sample = Sample(
        table,
        probability[order],
        known[order],
        cell,
        cells,
        outside,
        apart,
        proxy != "none",
        folds_of(table.queries),
        brought,
        len(runs or ()),
        seed,
    )
    return Evidence(sample, runs, proxy, int(known.sum()), warnings)


def _brought(
    found: DrawnPool | None, place: Integers
) -> tuple[tuple[Integers, Integers], Floats, frozenset[str] | None]:
    """Return rows and ranks of contributors, votes by row, and the names of the pooled runs."""
    rows, ranks = [], []
    names: set[str] = set()
    for row, contributors in enumerate(() if found is None else found.contributors):
        for name, rank in contributors.items():
            names.add(name)
            rows.append(place[row])
            ranks.append(rank)
    brought = np.array(rows, dtype=np.int64), np.array(ranks, dtype=np.int64)
    votes = np.bincount(brought[0], 1.0 / (VOTE_CONSTANT + brought[1]), minlength=len(place))
    if found is not None and "runs" in found.design:
        names |= set(found.design["runs"])
    return brought, votes.astype(np.float64), frozenset(names) or None
