"""Join judgments, an inclusion-probability pool and machine labels into the sample that estimators use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import methodcaller

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import Ids, Vocabulary, to_bytes
from leadline.data.judgment_tables import DrawnPool
from leadline.data.table import MACHINE_LABELS, MERGED, ResultWarning, raised
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.estimation.designs import at_scale, random_numbers_of
from leadline.estimation.estimators import Sample
from leadline.estimation.guesses import Cells, all_equal, folds_of, label_tests
from leadline.io.objects import Qrels, read_qrels
from leadline.io.pool_files import PoolLike, pool_of
from leadline.io.read import QrelsLike


@dataclass(frozen=True)
class Evidence:
    """A sample of judgments with its provenance."""

    sample: Sample  # query-document pairs with inclusion probabilities and judgments
    pooled: frozenset[str] | None  # names of the pooled runs; None if the pool does not record them
    proxy: str  # source of the predicted grades: machine, centered (also if labels depend on the draw), none
    judgments: int  # number of judged pairs in the sample
    warnings: list[ResultWarning]  # judgments and labels that were left out, and gaps in the draw
    read: dict[str, int]  # number of pairs in the pool, and of labels
    known: Flags  # pairs of the sample that were judged before the draw (`pool --judged`)
    drawn_for: tuple[str, ...] = ()  # measures that the pool was drawn for; empty if it does not record them
    # number of drawn pairs without a judgment, those left out that are after all others in order
    gaps: int = 0
    # the two runs whose difference the pool was drawn for; empty if for single runs
    pair: tuple[str, ...] = ()


def evidence_of(
    judgments: QrelsLike,
    pool: PoolLike | None,
    machine: QrelsLike | None,
    proxy: str | None,
    *,
    skipped: bool,
    seed: int,
    twice: Mapping[tuple[str, str], tuple[float, float]] | None = None,
) -> Evidence:
    """Join judgments, pool and machine labels into one table of query-document pairs."""
    table = read_qrels(judgments)
    grades = grades_of(table)
    kept = {MERGED}
    if twice is None:  # else values are those that the second judge would give
        kept.add(MACHINE_LABELS)
    remarks = dict.fromkeys(table.remarks_by_judge)
    warnings = [ResultWarning(*remark) for remark in remarks if remark[0] in kept]
    given = draw_of(table, None) if pool is None else _of_selected(pool_of(pool), table)
    unknown = (table.selected or frozenset()) - set(table.queries if given is None else given.queries)
    words = f"{counted(len(unknown), 'selected query', 'selected queries')} not in the pool (left out)"
    warnings += raised(("unknown_queries", words, len(unknown)))
    if given is not None and ("seed" not in given.design or np.isnan(given.order).all()):
        judged = _of_queries(given, {query for query, _ in grades})  # its order is unknown
        left_out = len({*given.queries}) - len({*judged.queries})
        words = f"{counted(left_out, 'pooled query', 'pooled queries')} without judgments (left out)"
        warnings += raised(("unjudged_pool_queries", words, left_out))
        given = judged
    if not grades:
        raise UsageError("there are no judgments of grade 0 or more. Judge at least one pair.")
    pairs = DrawnPool.listed([(*pair, 1.0) for pair in grades]) if given is None else given
    if given is not None:
        _check_outside(given, grades, warnings)
    pooled = dict.fromkeys(pairs.queries)
    labels = {} if machine is None else _labels(machine, pooled, warnings, table.selected)
    grade = np.full(len(pairs.queries), np.nan)
    for pair, row in pairs.drawn_rows().items():
        grade[row] = grades.get(pair, np.nan)
    pairs, gaps = _without_gaps(pairs, ~np.isnan(grade), table, warnings)
    chosen = proxy or ("centered" if (pairs.probability < 1).any() else "none")
    chosen = chosen if machine is None else "machine"
    if labels:
        known = set(pairs.names())
        pairs = _with_framed_out(pairs, [pair for pair in labels if pair not in known])
        grade = np.concatenate([grade, np.full(len(pairs.queries) - len(grade), np.nan)])
    size = None if given is None else len(given.queries)
    found = _evidence(pairs, grade, size, labels, chosen, warnings, seed, table.votes, twice or {})
    return replace(found, gaps=0 if skipped else gaps)


def grades_of(table: Qrels) -> dict[tuple[str, str], float]:
    """Return the grade of every judged pair."""
    return {
        (query, document): float(grade)
        for query, documents in table.to_dict().items()
        for document, grade in documents.items()
        if grade >= 0
    }


def _with_framed_out(pool: DrawnPool, more: Sequence[tuple[str, str]]) -> DrawnPool:
    """Return the same pairs, then some outside the frame."""
    return DrawnPool(
        pool.queries + [query for query, _ in more],
        pool.documents + [document for _, document in more],
        np.concatenate([pool.probability, np.zeros(len(more))]),
        np.concatenate([pool.order, np.full(len(more), np.nan)]),
        pool.contributors,
        np.concatenate([pool.drawn, np.zeros(len(more), dtype=np.bool_)]),
        pool.design,
    )


def draw_of(judgments: Qrels, pool: PoolLike | None) -> DrawnPool | None:
    """Return the pool that judgments were drawn from; None if it held every pair with certainty.

    Without a pool it is that of a store or of an exported table, or the judged pairs with their probability.
    """
    if pool is not None:
        found = _of_selected(pool_of(pool), judgments)
        return found if found.design or (found.probability < 1).any() else None
    if judgments.pool is not None:
        return _of_selected(judgments.pool, judgments)
    if not judgments.is_sample:
        return None
    return DrawnPool.of_shares(judgments.inclusion_probabilities() or {})


def _of_selected(pool: DrawnPool, judgments: Qrels) -> DrawnPool:
    """Return the part of a pool for the selected queries, where queries of the judgments were selected."""
    return pool if judgments.selected is None else _of_queries(pool, judgments.selected)


def _of_queries(pool: DrawnPool, wanted: Collection[str]) -> DrawnPool:
    """Return the part of a pool for some queries; all of it if it has none of them."""
    kept = np.array([query in wanted for query in pool.queries], dtype=np.bool_)
    return pool.part(kept) if kept.any() and not kept.all() else pool


def _check_outside(
    pool: DrawnPool, grades: Mapping[tuple[str, str], float], warnings: list[ResultWarning], nth: str = ""
) -> None:
    """Refuse a pool without a judged query; warn of judgments of other pairs."""
    pooled = set(pool.queries)
    if not pooled:
        raise UsageError(f"the {nth}pool is empty. It needs at least one query-document pair.")
    if not any(query in pooled for query, _ in grades):
        example = next(iter(grades), ("none",))[0]
        judged = f"query with a {nth}judgment" if nth else "judged query"
        raise UsageError(
            f"no {judged} is in the {nth}pool (first {judged}: {example}, first query in the {nth}pool: "
            f"{pool.queries[0]}). Check that the query ids match."
        )
    listed = pool.drawn_rows()
    outside = sum(pair not in listed for pair in grades)
    words = f"excluded {counted(outside, f'{nth}judgment')} outside the {nth}sample"
    if not nth and not pool.judged_before.any():  # else this pool includes those that it can
        words += " (`leadline pool --for MEASURE --judged QRELS` includes existing judgments)"
    warnings += raised(("outside_pool", words, outside))


def _labels(
    machine: QrelsLike,
    pooled: Collection[str],
    warnings: list[ResultWarning],
    selected: Collection[str] | None,
) -> dict[tuple[str, str], float]:
    """Return the machine labels of the pairs of some queries."""
    by_query = {
        query: {document: label for document, label in documents.items() if label >= 0}
        for query, documents in read_qrels(machine, kind="qrels").to_dict().items()
    }
    labels = {
        (query, document): float(label)
        for query, documents in by_query.items()
        if query in pooled
        for document, label in documents.items()
    }
    if not any(by_query.values()):
        raise UsageError("there are no labels of grade 0 or more. Pass labels of pairs in the pool.")
    if not labels:
        first = next(query for query, one in by_query.items() if one)
        raise UsageError(
            f"no label belongs to a query in the pool (first query with labels: {first}, first query in "
            f"the pool: {next(iter(pooled))}). Check that the query ids match."
        )
    others = sum(query not in pooled for query in by_query if selected is None or query in selected)
    lacking = sum(not by_query.get(query) for query in pooled)
    not_pooled = f"{counted(others, 'labeled query', 'labeled queries')} not in the pool (left out)"
    unlabeled = f"{queries(lacking)} without any label (grades predicted from judgments alone)"
    warnings += raised(("other_queries", not_pooled, others), ("unlabeled_queries", unlabeled, lacking))
    return labels


def _without_gaps(
    pool: DrawnPool, usable: Flags, judgments: Qrels, warnings: list[ResultWarning], nth: str = ""
) -> tuple[DrawnPool, int]:
    """Return the pool with the probabilities of the complete draw, or of the part judged in order.

    Also return the number of drawn pairs without a judgment that are not after all others in this order.
    """
    listed, order, probability = pool.drawn, pool.order, pool.probability
    missing = listed & ~usable
    if not missing.any():
        return pool, 0
    if not usable.any():
        raise UsageError(
            f"none of the drawn pairs in the {nth}pool is judged. Check that the {nth}judgments are for "
            "this pool and use the same document ids."
        )
    if np.isnan(order[listed]).any() or "seed" not in pool.design:  # a table without orders
        order = np.where(missing, -1.0, 0.0)
    owners = {} if judgments.pool is None else judgments.pool.owners
    _, code = np.unique([owners.get(query, "") for query in pool.queries], return_inverse=True)
    end = _smallest(order, missing, code)
    gaps, before = 0, pool.judged_before & missing  # what was judged before comes first in any part
    if before.any() or (usable & (order >= end)).any():
        last = np.maximum(-_smallest(-order, usable, code), 0.0)
        end = _smallest(order, missing & (order > last), code)
        gaps = int((missing & (order < end)).sum())
        drawn = counted(int(listed.sum()), "drawn pair")
        words = (
            f"{gaps:,} of {drawn} without a judgment (treated as not drawn, so estimates may be biased, and "
            "are far too high if the judgments list only relevant documents)"
        )
        if before.any():
            words += ". Merge the judgments from before the draw with the new ones"
        warnings.append(ResultWarning("skipped_pairs", words, gaps))
    count = int((missing & (order >= end)).sum())
    if not count:
        return pool, gaps
    part = f" in the {nth}pool" if nth else ""
    words = (
        f"{counted(count, f'drawn pair{part} is', f'drawn pairs{part} are')} not judged, so the {nth}sample "
        f"is smaller, with its own inclusion probabilities ({counted(int(usable.sum()), 'judged pair')})"
    )
    warnings.append(ResultWarning("smaller_draw", words, count))
    numbers = random_numbers_of(pool.names(), int(pool.design["seed"]))
    smaller = at_scale(probability, order, numbers, end)
    return replace(pool, probability=np.where(np.isinf(end), probability, smaller)), gaps


def _smallest(order: Floats, among: Flags, code: Integers) -> Floats:
    """Return, for each pair, the smallest order among the flagged pairs of its part; infinite if none."""
    smallest = np.full(int(code.max(initial=0)) + 1, np.inf)
    np.minimum.at(smallest, code[among], order[among])
    return np.asarray(smallest[code])


def _evidence(
    pool: DrawnPool,
    grade: Floats,
    pooled: int | None,
    labels: Mapping[tuple[str, str], float],
    proxy: str,
    warnings: list[ResultWarning],
    seed: int,
    votes_of: Mapping[str, Mapping[str, Sequence[float]]],
    twice: Mapping[tuple[str, str], tuple[float, float]],
) -> Evidence:
    """Return the evidence of a pool of which the first `pooled` pairs were given; None without a pool."""
    table, order = _table(pool, np.nan_to_num(grade))
    table.votes = votes_of
    judged, probability = ~np.isnan(grade), pool.probability
    table.inclusion = np.where(judged & (probability > 0), probability, np.nan)[order]
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    contributions, run, runs = _contributions(pool, position)
    framed = probability[order] > 0
    cells = Cells.one(len(order), guessing=proxy != "none")
    if labels:
        values = np.array([labels.get(pair, np.nan) for pair in pool.names()])[order]
        if np.isnan(values[framed]).all():
            raise UsageError(
                "none of the pairs in the pool has an LLM label. Check that the labels are for this pool and "
                "use the same query and document ids."
            )
        cells = Cells.of_levels(values)
        grades = np.where(judged, grade, np.nan)[order]
        if _depend_on_draw(values, cells.cell, probability[order], grades, contributions, warnings, seed):
            cells, proxy = Cells.one(len(order))._replace(apart=0), "centered"
    sample = Sample(
        table,
        probability[order],
        judged[order],
        *cells,
        folds_of(table.queries),
        contributions,
        len(runs or ()),
        seed,
        run,
        None if pooled is None else order < pooled,
        frameless=pooled is not None and not pool.design and bool(pool.drawn[:pooled].all()),
        votes=_votes(pool, votes_of, position),
        twice=_twice(pool, judged, twice, position, warnings),
    )
    return Evidence(
        sample,
        runs,
        proxy,
        int(judged.sum()),
        warnings,
        {"pool": pooled or 0, "labels": len(labels)},
        pool.judged_before[order],
        tuple(map(str, pool.design.get("measures", ()))),
        pair=tuple(pool.design.get("for_pair") or ()),
    )


def _votes(
    pairs: DrawnPool, votes_of: Mapping[str, Mapping[str, Sequence[float]]], position: Integers
) -> tuple[Integers, Floats]:
    """Return row and grade of each judgment of the pairs with different grades."""
    known = pairs.drawn_rows() if votes_of else {}
    found = [
        (position[row], grade)
        for (query, document), row in known.items()
        for grade in votes_of.get(query, {}).get(document, ())
    ]
    return np.array([row for row, _ in found], dtype=np.int64), np.array(
        [grade for _, grade in found], dtype=np.float64
    )


def _twice(
    pairs: DrawnPool,
    judged: Flags,
    twice: Mapping[tuple[str, str], tuple[float, float]],
    position: Integers,
    warnings: list[ResultWarning],
) -> tuple[Integers, Floats, Floats]:
    """Return row, probability and second grade of the pairs that were judged again."""
    known = {pair: row for pair, row in pairs.drawn_rows().items() if judged[row]} if twice else {}
    rows = [(int(position[known[pair]]), *given) for pair, given in twice.items() if pair in known]
    lacking = len(twice) - len(rows)
    words = f"{counted(lacking, 'second judgment')} without a first judgment in the sample (left out)"
    warnings += raised(("second_alone", words, lacking))
    found = np.array(sorted(rows), dtype=np.float64).reshape(-1, 3)
    return found[:, 0].astype(np.int64), found[:, 1], found[:, 2]


def judged_part(
    table: Qrels, pool: PoolLike | None, warnings: list[ResultWarning]
) -> tuple[dict[tuple[str, str], tuple[float, float]], int]:
    """Return inclusion probability and grade of every judged pair of a draw, and the number of gaps."""
    grades = grades_of(table)
    drawn = draw_of(table, pool)
    if drawn is None:
        return {pair: (1.0, grade) for pair, grade in grades.items()}, 0
    _check_outside(drawn, grades, warnings, "second ")
    usable = np.array([pair in grades for pair in drawn.names()]) & drawn.drawn
    pairs, gaps = _without_gaps(drawn, usable, table, warnings, "second ")
    chances = dict(zip(pairs.names(), pairs.probability.tolist(), strict=True))
    return {
        pair: (chances[pair], grades[pair])
        for pair in pairs.drawn_rows()
        if chances[pair] > 0 and pair in grades
    }, gaps


def _depend_on_draw(
    values: Floats,
    cell: Integers,
    probability: Floats,
    grades: Floats,
    contributions: tuple[Integers, Integers],
    warnings: list[ResultWarning],
    seed: int,
) -> bool:
    """Return whether labels depend on the draw, as those made with the judgments do; warn of it first."""
    judged = ~np.isnan(grades)
    best = np.full(len(values), np.iinfo(np.int64).max)
    np.minimum.at(best, *contributions)
    tests = label_tests(values, cell, probability, judged, best, seed)
    count = int((judged & ~np.isnan(values)).sum())
    if all_equal(values[judged], grades[judged]):
        words = f"the labels equal the grades of all {count:,} judged pairs with a label"
        words += ". If the labels were made from these grades, do not use them."
        warnings.insert(0, ResultWarning("labels_equal_judgments", words, count))
    if tests.failed:
        words = (
            f"excluded all labels, because they depend on which pairs were drawn ({tests.reason}). These "
            "labels seem to have been made from the judgments and would bias the estimates."
        )
        warnings.insert(0, ResultWarning("labels_depend_on_draw", words, count))
    return tests.failed


def _table(pairs: DrawnPool, grade: Floats) -> tuple[Qrels, Integers]:
    """Return the qrels of the pairs, and the row of each of theirs."""
    documents = _encoded(pairs.documents)
    distinct = list(dict.fromkeys(pairs.queries))
    queries = Vocabulary(distinct)
    codes = dict(zip(distinct, queries.encode(_encoded(distinct)).tolist(), strict=True))
    query = np.fromiter(map(codes.__getitem__, pairs.queries), np.int64, len(pairs.queries))
    bounds = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=len(queries))))).astype(np.int64)
    by_document = np.array(sorted(range(len(documents)), key=documents.__getitem__), dtype=np.int64)
    order = by_document[np.argsort(query[by_document], kind="stable")]
    ids = Ids.of(map(documents.__getitem__, order.tolist()))
    table = Qrels.of_columns(queries, bounds[:-1], bounds[1:], ids, grade[order])
    table.refuse_duplicates()
    return table, order


def _encoded(names: Sequence[str]) -> list[bytes]:
    """Return ids as bytes."""
    try:
        return [name.encode("utf-8", "surrogateescape") for name in names]
    except (AttributeError, UnicodeEncodeError):
        return list(map(to_bytes, names))  # an error that names the id


def _contributions(
    pool: DrawnPool, position: Integers
) -> tuple[tuple[Integers, Integers], Integers, frozenset[str] | None]:
    """Return rows and ranks of the contributing runs, their numbers, and their names."""
    contributors = pool.contributors
    rows = np.repeat(position[: len(contributors)], [*map(len, contributors)])
    ranks = np.fromiter(chain.from_iterable(map(methodcaller("values"), contributors)), np.int64, len(rows))
    brought = set().union(*contributors)
    number = {name: place for place, name in enumerate(sorted(brought))}
    run = np.fromiter(map(number.__getitem__, chain.from_iterable(contributors)), np.int64, len(rows))
    names = frozenset(pool.design.get("runs", brought))
    return (rows, ranks), run, names or None
