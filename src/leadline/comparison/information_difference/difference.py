"""Relevance Information Correlation and Information Difference of systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.comparison.information_difference.difference_result import Difference
from leadline.comparison.information_difference.joint_tables import (
    TruncatedLists,
    Truncation,
    by_ideal_place,
    complete,
    conditional,
    ideal,
    information,
    joint_tables,
    kept,
    orders_of,
)
from leadline.comparison.information_difference.similarity import (
    AP_CORRELATION,
    RIC_DISTANCE,
    chosen_competitors,
    correlations,
    distances,
    means_over_queries,
)
from leadline.comparison.information_difference.similarity_baselines import DocumentNumbers, Similarity
from leadline.data.arrays import Codes, Flags, Floats
from leadline.data.qrels import Qrels
from leadline.data.reading import JudgedOptions, Reading
from leadline.data.results import ResultWarning, RunInfo
from leadline.data.threads import in_order
from leadline.data.validation import check_whole
from leadline.errors import InputError
from leadline.evaluation.join import judge_runs
from leadline.evaluation.run_warnings import warnings_of
from leadline.io.read import QrelsLike, RunLike, judgments_of
from leadline.measures.average_precision import AP


class Rules(NamedTuple):
    """How pairs are weighed: `graded` or relevant against not, `weighted` by ideal place, `printed6`."""

    cut: Truncation
    graded: bool = True
    weighted: bool = False
    printed6: bool = False
    normalise: bool = False


class Query(NamedTuple):
    """What one query says: RIC, concordance and direction by system, conditional terms by pair.

    `only[i, j]` is I(R_i; Q | R_j) in bits.
    """

    ric: Floats
    concordance: Floats
    wrong_way: Flags
    only: Floats


def difference_of_query(grades: Floats, lists: Sequence[Codes], rules: Rules) -> Query | None:
    """Compare the lists of one query; None where no relevant document was judged or no pair differs.

    `grades` are those of the judged documents; a list holds places in `grades`, best first, already cut.
    """
    grades = np.maximum(grades, 0.0)
    if not rules.graded:
        grades = (grades >= rules.cut.rel).astype(np.float64)
    cut = rules.cut if rules.graded else rules.cut._replace(rel=1.0)
    levels, grade = np.unique(grades, return_inverse=True)
    if len(levels) < 2 or levels[-1] < cut.rel:
        return None
    counts = np.bincount(grade)
    weight = np.ones(len(levels))
    if rules.weighted:
        weight = by_ideal_place(counts, printed6=rules.printed6)
    orders = orders_of([*lists, ideal(grades, cut)], len(grades))
    size = len(lists)
    first, second = (ends.astype(np.int32) for ends in np.triu_indices(size, 1))
    own = np.arange(size + 1, dtype=np.int32)
    tables = joint_tables(
        grade.astype(np.int32), weight, orders, np.concatenate([own, first]), np.concatenate([own, second])
    )
    weights = counts * weight
    tables /= (weights.sum() ** 2 - (weights**2).sum()) / 2
    right, wrong = tables[: size + 1, 0, 0], tables[: size + 1, 2, 2]
    best = right[size] - wrong[size] if rules.normalise else 1.0
    only = np.zeros((size, size))
    only[first, second], only[second, first] = conditional(tables[size + 1 :])
    return Query(
        information(right[:size], wrong[:size]) / best,
        (right[:size] - wrong[:size]) / best,
        right[:size] < wrong[:size],
        only / best,
    )


FEW = 5  # judged non-relevant documents in the median query, below which RIC is noise


def difference_notices(
    infos: Sequence[RunInfo], qrels: Qrels, lists: Sequence[TruncatedLists], counted: Flags, rel: float
) -> list[ResultWarning]:
    """Put in words what was counted; unjudged documents are in no pair here, whatever other measures do."""
    found = []
    for notice in warnings_of(infos, qrels, averaging="with_relevant", levels=[rel]):
        words = notice.message.replace("they count as not relevant", "they are in no pair, and take up ranks")
        found.append(ResultWarning(notice.code, words, notice.count))
    relevant = qrels.relevant(rel) > 0
    pairless = int(np.count_nonzero(~counted & relevant))
    empty = [info.name for info, part in zip(infos, lists, strict=True) if not len(part.row)]
    known = (qrels.count(qrels.grades < rel))[relevant]
    few = int(np.count_nonzero(known < FEW))
    thin = len(known) > 0 and np.median(known) < FEW
    found += [
        ResultWarning(
            "no_pairs", f"queries whose judged documents all have one grade: {pairless}; left out", pairless
        ),
        ResultWarning(
            "nothing_kept",
            f"runs without a relevant judged document where the list is cut: {len(empty)} "
            f"({', '.join(empty[:3])}); RIC 0",
            len(empty),
        ),
        ResultWarning(
            "few_nonrelevant",
            f"queries with fewer than {FEW} judged non-relevant documents: {few} of {len(known)}; RIC "
            "and id need them (--complete DOCS counts every other document of the collection as one)",
            few if thin else 0,
        ),
        ResultWarning("one_system", "only one system; nothing to compare it with", int(len(infos) == 1)),
    ]
    return [notice for notice in found if notice.count]


# Named `differences` because `leadline.difference` is a function.

__all__ = ["Difference", "complete", "difference"]


def difference(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    cutoff: int | None = None,
    rel: float = 1.0,
    graded: bool = True,
    truncate: bool = True,
    condense: bool = False,
    normalise: bool | None = None,
    weighted: bool | None = None,
    printed6: bool = False,
    signed: bool = False,
    competitors: Sequence[str | Similarity] | None = None,
    ap_rel: float | None = None,
    threads: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
    on_query: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> Difference:
    """Compare systems by what they say of which judged document is better: RIC and id, in bits.

    Of all pairs of judged documents of different grade, Q says which is better and R what a list says: 1
    its first is above, -1 below, 0 neither is retrieved. RIC = I(R; Q) = w (1 - h(c)), w the share of pairs
    of which the list says anything, c the share of those in the right order; id = I(R1; Q | R2) + I(R2; Q |
    R1). Lists end after their last document of grade `rel` (`truncate`); unjudged documents take up ranks
    (`condense` drops them).

    `cutoff` k makes RIC@k and id@k: lists are cut at k first, pairs weigh by the places of their documents
    in an ideal list (`weighted`, `printed6`: see `joint_tables`), and values are divided by
    those of the ideal list cut likewise (`normalise`); without a cutoff neither is done unless asked for.
    RIC has no direction: `wrong_way` counts lists that put most pairs wrong, `signed` makes their RIC
    negative. Negative grades count as 0. Queries without a relevant document or without a pair are left out
    and counted in `warnings`.

    `competitors` are what else says how alike lists are, such as "RBO(p=0.9)" or "Jaccard@20" (none: `()`);
    they are in `competitors` with the correlation of per-query AP (`ap_rel` is its
    least relevant grade, `rel` unless given) and the mean per-query distance in RIC.

    id is at least 0, symmetric, 0 for equal lists, RIC against a list without judged documents. It is no
    metric: two different lists may have 0 (a list and its reverse), and the triangle inequality fails.

    `options` say how runs and judgments are read: `order`, `on_duplicate`, `on_nan`, `name_by` and
    `negative` of `leadline.data.reading.Reading`.

    Source: Golbus and Aslam 2014, section 2.

    >>> judgments = {"q1": {"d1": 1, "d2": 1, "d3": 0, "d4": 0}}
    >>> runs = {"a": {"q1": {"d1": 2.0, "d3": 1.0}}, "b": {"q1": {"d2": 2.0, "d4": 1.0}}}
    >>> found = difference(judgments, runs)
    >>> found.mean_ric.tolist(), found.id_of("a", "b")  # each says 2 of the 4 pairs, of different ones
    ([0.5, 0.5], 1.0)
    """
    reading = Reading.of(difference, options, JudgedOptions)
    check_whole(1, cutoff=cutoff)
    cut = Truncation(cutoff, rel, truncate, condense)
    deep = cutoff is not None
    rules = Rules(
        cut,
        graded,
        deep if weighted is None else weighted,
        printed6,
        deep if normalise is None else normalise,
    )
    beside = chosen_competitors(competitors, cutoff)
    table = judgments_of(qrels, reading)
    numbers = DocumentNumbers()
    ap = AP(rel=rel if ap_rel is None else ap_rel)
    infos, found = judge_runs(
        runs,
        table,
        lambda judged: (kept(judged, cut), ap.values(judged), numbers.system(judged) if beside else None),
        reading=reading,
        keep=bool(beside),
        on_run=on_run,
    )
    lists = [part[0] for part in found]
    parts = list(_each(table, lists, rules, threads, on_query))
    counted = np.array([part is not None for part in parts], dtype=np.bool_)
    if not counted.any():
        raise _no_pairs(table)
    ric, *rest = _stacked(parts, len(infos))
    precision = np.nan_to_num(np.stack([part[1] for part in found]))
    more: dict[str, Floats] = {}
    if beside:
        systems = [part[2] for part in found if part[2] is not None]
        more = means_over_queries(systems, counted, beside, on_query)
        more[AP_CORRELATION] = correlations(precision[:, counted])
        more[RIC_DISTANCE] = distances(ric[:, counted])
    return Difference(
        infos,
        table.queries,
        np.where(rest[1], -ric, ric) if signed else ric,
        *rest,
        ap=precision,
        cutoff=cutoff,
        competitors=more,
        warnings=difference_notices(infos, table, lists, counted, rel),
        options={
            "k": cutoff,
            "rel": rel,
            "graded": graded,
            "truncate": truncate,
            "condense": condense,
            "normalise": rules.normalise,
            "weighted": rules.weighted,
            "printed6": printed6,
            "signed": signed,
            "competitors": list(map(str, beside)),
            "ap_rel": ap.rel,
            **reading.options(JudgedOptions),
        },
    )


def _no_pairs(qrels: Qrels) -> InputError:
    return InputError(
        "no query has judged documents of two grades, one of them relevant",
        expected="at least one",
        path=qrels.source,
        hint="--complete DOCS counts every other document of a collection as not relevant",
    )


def _each(
    qrels: Qrels,
    lists: Sequence[TruncatedLists],
    rules: Rules,
    threads: int | None,
    on_query: Callable[[int, int], None] | None,
) -> Iterator[Query | None]:
    """Compare the lists of every query, in order, on as many threads as help."""
    total = len(qrels.queries)

    def one(query: int) -> Query | None:
        low, high = int(qrels.begin[query]), int(qrels.end[query])
        found = [part.row[slice(*part.offsets[query : query + 2])] - low for part in lists]
        return difference_of_query(qrels.grades[low:high], found, rules)

    for done, part in enumerate(in_order(one, range(total), threads=threads), start=1):
        if on_query:
            on_query(done, total)
        yield part


def _stacked(parts: Sequence[Query | None], systems: int) -> list[Any]:
    """Put the queries together; one that does not count is NaN, and never wrong."""
    shapes = ((systems,), (systems,), (systems,), (systems, systems))
    columns = []
    for place, shape in enumerate(shapes):
        empty = np.zeros(shape, dtype=np.bool_) if place == 2 else np.full(shape, np.nan)
        columns.append(np.stack([empty if part is None else part[place] for part in parts]))
    return [columns[0].T.copy(), columns[1].T.copy(), columns[2].T.copy(), columns[3]]
