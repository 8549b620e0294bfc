"""Joint distributions of document orders in two lists, and their mutual information in bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.ids import Ids, to_bytes
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.io.objects import Qrels


def ideal_rank_weights(counts: Integers, *, printed6: bool = False) -> Floats:
    """Return the weight of a document of each grade, from document counts in ascending order of grade.

    Documents of a grade have ranks kmin to kmax in an ideal list, where kmin is 1 + the number of better
    documents and kmax = kmin + count - 1. The weight is the mean over these ranks of P_DCG(k) = 1/log2(k+1)
    - 1/log2(k+2), that is (1/log2(kmin+1) - 1/log2(kmax+2)) / count. With `printed6`, kmax = kmin + count as
    printed in equation 6, so that adjacent grades share a rank. Weights are not normalized.

    Source: Golbus and Aslam (2014), section 2, equations 4 to 7, with ranks from 1.

    >>> ideal_rank_weights(np.array([2, 1])).round(4)  # ranks 2 and 3 of non-relevant documents, rank 1
    array([0.1001, 0.3691])
    """
    counts = np.asarray(counts, dtype=np.int64)
    better = counts[::-1].cumsum()[::-1] - counts
    low = 1 + better
    high = low + counts - (0 if printed6 else 1)
    return np.asarray((1 / np.log2(low + 1) - 1 / np.log2(high + 2)) / counts)


def information(right: Floats, wrong: Floats) -> Floats:
    """Return the information about the better document of a pair, w (1 - h(c)), in bits.

    >>> information(np.array([0.5, 0.3]), np.array([0.0, 0.3]))
    array([0.5, 0. ])
    """
    right, wrong = np.asarray(right, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    whole = right + wrong
    bits = whole.copy()
    for part in (right, wrong):
        share = np.divide(part, whole, out=np.ones_like(whole), where=part > 0)
        bits += part * np.log2(share)
    return np.asarray(np.maximum(bits, 0.0))


def joint_information(tables: Floats) -> Floats:
    """Return the joint mutual information I(R1, R2; Q) of each table.

    `tables[p, 1 - a, 1 - b]` is the probability of pairs with R1 = a and R2 = b (1: the better document is
    ranked higher, -1: lower, 0: neither is retrieved). Exchanging the documents of a pair changes both signs,
    so that each cell and its mirror image contribute one term w (1 - h(c)).
    """
    flat = tables.reshape(-1, 9)
    return np.asarray(information(flat[:, :4], flat[:, :4:-1]).sum(axis=1))


def conditional(tables: Floats) -> tuple[Floats, Floats]:
    """Return I(R1; Q | R2) and I(R2; Q | R1) of each table; their sum is the Information Difference.

    By the chain rule, the first is I(R1, R2; Q) - I(R2; Q).

    Source: Golbus and Aslam (2014), equation 10.

    >>> same = np.zeros((1, 3, 3))
    >>> same[0, 0, 0], same[0, 2, 2] = 0.9, 0.1
    >>> [float(part[0]) for part in conditional(same)]
    [0.0, 0.0]
    """
    both = joint_information(tables)
    first, second = tables.sum(axis=2), tables.sum(axis=1)
    only_first = both - information(second[:, 0], second[:, 2])
    only_second = both - information(first[:, 0], first[:, 2])
    return np.maximum(only_first, 0.0), np.maximum(only_second, 0.0)


def complete(qrels: Qrels, docids: Iterable[str]) -> Qrels:
    """Return qrels in which all documents of `docids` are judged for all queries, with grade 0 if unjudged.

    For exhaustively judged collections that list relevant documents only; not valid for pooled judgments.

    >>> from leadline import read_qrels
    >>> complete(read_qrels({"q1": {"d1": 1}}), ["d1", "d2"]).to_dict()
    {'q1': {'d1': 1, 'd2': 0}}
    """
    documents = sorted({to_bytes(name) for name in docids})
    if not documents:
        raise UsageError("no document ids were given. Pass the ids of all documents in the collection.")
    names: list[bytes] = []
    grades: list[float] = []
    bounds = [0]
    listed = list(qrels.documents)
    for low, high in zip(qrels.begin.tolist(), qrels.end.tolist(), strict=True):
        judged = set(listed[low:high])
        names += listed[low:high]
        grades += qrels.grades[low:high].tolist()
        rest = [name for name in documents if name not in judged]
        names += rest
        grades += [0.0] * len(rest)
        bounds.append(len(names))
    ends = np.array(bounds, dtype=np.int64)
    return Qrels.of_columns(
        qrels.queries,
        ends[:-1].copy(),
        ends[1:].copy(),
        Ids.of(names),
        np.array(grades, dtype=np.float64),
        source=qrels.source,
    )


class DifferenceRules(NamedTuple):
    """Options of `difference`; documents that are cut off count as not retrieved."""

    cutoff: int | None = None
    rel: float = 1.0
    graded: bool = True
    truncate: bool = True
    condense: bool = False
    normalise: bool = False
    weighted: bool = False
    printed6: bool = False


class TruncatedLists(NamedTuple):
    """Judged documents of truncated lists: rows of the qrels in rank order, by query."""

    offsets: Integers
    row: Codes


def truncate_lists(judged: JudgedRun, rules: DifferenceRules) -> TruncatedLists:
    """Truncate the lists of a run."""
    rows = np.arange(len(judged.rank))
    query = judged.query
    rank = rows - judged.offsets[query] + 1 if rules.condense else judged.rank
    keep = np.ones(len(rows), dtype=np.bool_) if rules.cutoff is None else rank <= rules.cutoff
    if rules.truncate:
        last = np.full(len(judged.present), -1)
        hits = np.flatnonzero(keep & (judged.grade >= rules.rel))
        np.maximum.at(last, query[hits], hits)
        keep &= rows <= last[query]
    offsets = np.concatenate(([0], np.cumsum(keep))).astype(np.int64)[judged.offsets]
    return TruncatedLists(offsets, judged.row[keep])


def ideal(grades: Floats, rules: DifferenceRules) -> Codes:
    """Return the truncated ideal list of the judged documents of one query; ties keep their order.

    >>> ideal(np.array([0.0, 2.0, 1.0, 0.0]), DifferenceRules()).tolist()
    [1, 2]
    """
    order = np.argsort(-grades, kind="stable")[: rules.cutoff]
    if rules.truncate:
        order = order[: np.count_nonzero(grades[order] >= rules.rel)]
    return order.astype(np.int32)


class Orders(NamedTuple):
    """Ranked lists of numbered documents, as passed to the kernel.

    List s is `order[bounds[s]:bounds[s + 1]]`. `position` (lists x documents) counts from 0, and is -1 if a
    document is not in the list.
    """

    bounds: Integers
    order: Codes
    position: Codes


def orders_of(lists: Sequence[Codes], documents: int) -> Orders:
    """Return the lists with the positions of all documents in each of them."""
    lengths = [len(ranked) for ranked in lists]
    bounds = np.cumsum([0, *lengths], dtype=np.int64)
    order = np.concatenate([*lists, np.empty(0, dtype=np.int32)]).astype(np.int32)
    position = np.full((len(lists), documents), -1, dtype=np.int32)
    owner = np.repeat(np.arange(len(lists)), lengths)
    position[owner, order] = np.arange(len(order)) - bounds[owner]
    return Orders(bounds, order, position)


def joint_tables(grade: Codes, weight: Floats, orders: Orders, first: Codes, second: Codes) -> Floats:
    """Return for each pair of lists the 3 x 3 table of document pairs by their order in both lists.

    Entry `[p, 1 - a, 1 - b]` is the total weight of the pairs (a better and a worse document) with order a in
    list `first[p]` and b in list `second[p]`: 1 if the better document is ranked higher, -1 if lower, 0 if
    neither is retrieved. Time is O(classes x n log n) per pair of lists for n documents.

    >>> orders = orders_of([np.array([0, 1]), np.array([1])], 2)  # document 0 is better
    >>> ends = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    >>> joint_tables(np.array([1, 0]), np.ones(2), orders, *ends)[0]  # first list right, second wrong
    array([[0., 0., 1.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    grade = np.ascontiguousarray(grade, dtype=np.int32)
    weight = weight.astype(np.float64)
    planes = Planes.of(grade, len(weight))
    lists, classes = len(orders.bounds) - 1, len(weight)
    few = planes.words * lists <= PLANE_WORDS * len(orders.order)
    if few and kernels.compiled is None and hasattr(np, "bitwise_count"):
        return plain_plane_tables(grade, weight, orders, first, second)
    table = np.empty(9 * len(first), dtype=np.float64)
    columns = (grade, weight, *orders[:2], orders.position.ravel(), first, second)
    if few and kernels.compiled is not None:
        sound = call_kernel(
            "plane_tables",
            *columns,
            *planes[:4],
            np.empty(planes.start[-1], dtype=np.uint64),
            np.empty(planes.words * lists, dtype=np.uint64),
            np.empty(4 * classes**2 * (lists + 1) + classes, dtype=np.int64),
            table,
        )
    else:
        words = max(classes - 1, 0) * ((len(grade) >> 6) + 1)
        sound = call_kernel(
            "joint_tables",
            *columns,
            np.empty(words, dtype=np.uint64),
            np.empty(2 * words + LEVELS * classes, dtype=np.int32),
            np.empty(9 * classes**2 + 6 * classes, dtype=np.int64),
            table,
        )
    if not sound:
        raise ValueError("a list number, a document, a position or a grade is out of range")
    return table.reshape(-1, 3, 3)


def plain_plane_tables(grade: Codes, weight: Floats, orders: Orders, first: Codes, second: Codes) -> Floats:
    """Return the tables of `joint_tables` from bit planes in NumPy, for when nothing is compiled."""
    tables = np.zeros((len(first), 3, 3))
    place = np.where(orders.position < 0, len(grade), orders.position)
    for g, h in zip(*np.tril_indices(len(weight), -1), strict=True):
        better, worse = place[:, grade == g], place[:, grade == h]
        lacks = np.stack([better < len(grade), better == len(grade)])
        rows = np.zeros((*better.shape, -(-worse.shape[1] // 64) * 8), dtype=np.uint8)
        for one, own, other in zip(rows, better, worse, strict=True):  # the worse document is not above
            one[:, : -(-len(other) // 8)] = np.packbits(own[:, None] <= other, axis=1)
        planes = rows.view(np.uint64)
        own = np.bitwise_count(planes).sum(axis=2, dtype=np.int64)
        up, none = (own * lacks).sum(axis=2)
        cells = np.empty((len(first), 3, 3), dtype=np.int64)
        for s in np.unique(first):
            pairs = np.flatnonzero(first == s)
            t = second[pairs]
            both = np.bitwise_count(planes[s] & planes[t]).sum(axis=2, dtype=np.int64)
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
                cells[pairs, i, j] = (both * (lacks[i, s] & lacks[j, t])).sum(axis=1)
        cells[:, 0, 2] = up[first] - cells[:, 0, 0] - cells[:, 0, 1]
        cells[:, 1, 2] = none[first] - cells[:, 1, 0] - cells[:, 1, 1]
        cells[:, 2, 0] = up[second] - cells[:, 0, 0] - cells[:, 1, 0]
        cells[:, 2, 1] = none[second] - cells[:, 0, 1] - cells[:, 1, 1]
        cells[:, 2, 2] = (
            better.shape[1] * worse.shape[1] - up[first] - none[first] - cells[:, 2, :2].sum(axis=1)
        )
        tables += weight[g] * weight[h] * cells
    return tables


LEVELS = 128  # nodes more that the trees of the kernels need, each
PLANE_WORDS = 16  # words of bits that are counted in the time of one document of a list by `joint_tables`


class Planes(NamedTuple):
    """Layout of the bit planes of documents, as `leadline.kernels.pairs.plane_tables` needs it."""

    better: Codes
    bit: Integers
    row: Integers
    start: Integers
    words: int

    @classmethod
    def of(cls, grade: Codes, classes: int) -> Planes:
        """Return the bit positions of the documents by class; each class begins at a new 64-bit word.

        >>> Planes.of(np.array([1, 0, 0], dtype=np.int32), 2)[1:]
        (array([64,  0,  1]), array([0, 0, 0]), array([0, 1, 2]), 1)
        """
        sizes = np.bincount(grade, minlength=classes)
        start = np.cumsum([0, *(-(-sizes // 64))], dtype=np.int64)
        order = np.argsort(grade, kind="stable").astype(np.int32)
        nth = np.empty(len(grade), dtype=np.int64)
        nth[order] = np.arange(len(grade)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        row = np.empty(len(grade), dtype=np.int64)
        ends = np.cumsum(start[grade[order]])
        row[order] = ends - start[grade[order]]
        better = order[int(sizes[0]) if classes else 0 :]
        return cls(better, 64 * start[grade] + nth, row, start, int(ends[-1]) if len(ends) else 0)


def call_kernel(kernel: str, *columns: object) -> Any:
    """Call a kernel, compiled or not; pure Python kernels receive memory views, which are faster."""
    if kernels.compiled is not None:
        return getattr(kernels.compiled, kernel)(*columns)
    from leadline.kernels import lists, pairs

    views = (part.data if isinstance(part, np.ndarray) else part for part in columns)
    return getattr(pairs if hasattr(pairs, kernel) else lists, kernel)(*views)


PAIRS = 1 << 18  # pairs of lists whose tables are in memory at a time


class QueryDifference(NamedTuple):
    """Values of one query: RIC in bits, concordance and direction by system.

    `only` is the conditional mutual information I(R_i; Q | R_j) in bits, systems x systems.
    """

    ric: Floats
    concordance: Floats
    wrong_way: Flags
    only: Floats


def difference_of_query(
    grades: Floats, lists: Sequence[Codes], rules: DifferenceRules
) -> QueryDifference | None:
    """Compare the lists of one query."""
    grades = np.maximum(grades, 0.0)
    if not rules.graded:
        grades = (grades >= rules.rel).astype(np.float64)
        rules = rules._replace(rel=1.0)
    levels, grade = np.unique(grades, return_inverse=True)
    if len(levels) < 2 or levels[-1] < rules.rel:
        return None
    counts = np.bincount(grade)
    weight = np.ones(len(levels))
    if rules.weighted:
        weight = ideal_rank_weights(counts, printed6=rules.printed6)
    orders = orders_of([*lists, ideal(grades, rules)], len(grades))
    size = len(lists)
    weights = counts * weight
    mass = (weights.sum() ** 2 - (weights**2).sum()) / 2

    def tables_of(first: Codes, second: Codes) -> Floats:
        tables = joint_tables(grade.astype(np.int32), weight, orders, first, second)
        tables /= mass
        return tables

    own = np.arange(size + 1, dtype=np.int32)
    tables = tables_of(own, own)
    right, wrong = tables[:, 0, 0], tables[:, 2, 2]
    best = right[size] - wrong[size] if rules.normalise else 1.0
    only = np.zeros((size, size))
    firsts, seconds = np.triu_indices(size, 1)
    for start in range(0, len(firsts), PAIRS):
        first, second = (ends[start : start + PAIRS].astype(np.int32) for ends in (firsts, seconds))
        only[first, second], only[second, first] = conditional(tables_of(first, second))
    return QueryDifference(
        information(right[:size], wrong[:size]) / best,
        (right[:size] - wrong[:size]) / best,
        right[:size] < wrong[:size],
        only / best,
    )
