"""Joint tables of the judged documents of two lists, and their information in bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.ids import Ids, to_bytes
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import Qrels
from leadline.errors import UsageError


def by_ideal_place(counts: Integers, *, printed6: bool = False) -> Floats:
    """Give the weight of one document of each grade; `counts` are documents per grade, the worst first.

    Documents of a grade can stand at ranks kmin to kmax of an ideal list, where kmin is 1 + the number of
    better ones and kmax = kmin + count - 1; each weighs the mean over these ranks of P_DCG(k) = 1/log2(k+1)
    - 1/log2(k+2), which adds up to (1/log2(kmin+1) - 1/log2(kmax+2)) / count. With `printed6` kmax is kmin
    + count, as equation 6 prints it; neighbouring grades then share a rank. Weights are not normalised:
    only ratios matter.

    Source: Golbus and Aslam 2014, section 2, equations 4 to 7, read with ranks from 1.

    >>> by_ideal_place(np.array([2, 1])).round(4)  # ranks 2 and 3 of non-relevant documents, rank 1
    array([0.1001, 0.3691])
    """
    counts = np.asarray(counts, dtype=np.int64)
    better = counts[::-1].cumsum()[::-1] - counts
    low = 1 + better
    high = low + counts - (0 if printed6 else 1)
    weights: Floats = (1 / np.log2(low + 1) - 1 / np.log2(high + 2)) / counts
    return weights


def information(right: Floats, wrong: Floats) -> Floats:
    """Give the bits that say which document of a pair is better: w (1 - h(c)).

    `right` and `wrong` are probabilities of pairs in the right and in the wrong order, w = right + wrong, c =
    right / w, and h is the binary entropy. It is 0 where c is a half, and w both where all are right and
    where all are wrong.

    >>> information(np.array([0.5, 0.3]), np.array([0.0, 0.3]))
    array([0.5, 0. ])
    """
    right, wrong = np.asarray(right, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    whole = right + wrong
    found = whole.copy()
    for part in (right, wrong):
        share = np.divide(part, whole, out=np.ones_like(whole), where=part > 0)
        found += part * np.log2(share)
    clipped: Floats = np.maximum(found, 0.0)
    return clipped


def together(tables: Floats) -> Floats:
    """Give I(R1, R2; Q) of each table: of all that two systems say of which document is better.

    `tables[p, 1 - a, 1 - b]` is the probability of pairs of which the first system says a and the second b
    (1: the better document first, -1: the worse first, 0: neither retrieved). Turning a pair of documents
    round turns both answers round, so each cell and its mirror make one term w (1 - h(c)).
    """
    flat = tables.reshape(-1, 9)
    found: Floats = information(flat[:, :4], flat[:, :4:-1]).sum(axis=1)
    return found


def conditional(tables: Floats) -> tuple[Floats, Floats]:
    """Give I(R1; Q | R2) and I(R2; Q | R1) of each table; their sum is the Information Difference.

    The chain rule makes the first I(R1, R2; Q) - I(R2; Q). Source: Golbus and Aslam 2014, equation 10.

    >>> same = np.zeros((1, 3, 3))
    >>> same[0, 0, 0], same[0, 2, 2] = 0.9, 0.1
    >>> [float(part[0]) for part in conditional(same)]
    [0.0, 0.0]
    """
    both = together(tables)
    first, second = tables.sum(axis=2), tables.sum(axis=1)
    only_first = both - information(second[:, 0], second[:, 2])
    only_second = both - information(first[:, 0], first[:, 2])
    return np.maximum(only_first, 0.0), np.maximum(only_second, 0.0)


def complete(qrels: Qrels, docids: Iterable[str]) -> Qrels:
    """Give qrels in which every document of `docids` is judged for every query, 0 where it was not.

    For collections that were judged exhaustively and list only what is relevant. Nothing calls this by
    itself: it is wrong where documents were left unjudged.

    >>> from leadline import read_qrels
    >>> complete(read_qrels({"q1": {"d1": 1}}), ["d1", "d2"]).to_dict()
    {'q1': {'d1': 1, 'd2': 0}}
    """
    documents = sorted({to_bytes(name) for name in docids})
    if not documents:
        raise UsageError("complete() without documents; expected the ids of the collection")
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


class Truncation(NamedTuple):
    """Where a list ends: rules 2, 3 and 8 of the definition.

    `cutoff` keeps the first k ranks (of judged documents only, with `condense`), then `truncate` ends the
    list after its last document of grade `rel` or more; what is cut off counts as not retrieved.
    """

    cutoff: int | None = None
    rel: float = 1.0
    truncate: bool = True
    condense: bool = False


class TruncatedLists(NamedTuple):
    """The judged documents that a run keeps: rows of the qrels in order of rank, by query."""

    offsets: Integers
    row: Codes


def kept(judged: JudgedRun, cut: Truncation) -> TruncatedLists:
    """Cut every list of a run."""
    places = np.arange(len(judged.rank))
    query = judged.query
    rank = places - judged.offsets[query] + 1 if cut.condense else judged.rank
    keep = np.ones(len(places), dtype=np.bool_) if cut.cutoff is None else rank <= cut.cutoff
    if cut.truncate:
        last = np.full(len(judged.present), -1)
        hits = np.flatnonzero(keep & (judged.grade >= cut.rel))
        np.maximum.at(last, query[hits], hits)
        keep &= places <= last[query]
    offsets = np.concatenate(([0], np.cumsum(keep))).astype(np.int64)[judged.offsets]
    return TruncatedLists(offsets, judged.row[keep])


def ideal(grades: Floats, cut: Truncation) -> Codes:
    """Give the judged documents of one query best first, cut as any list; ties keep the order given.

    >>> ideal(np.array([0.0, 2.0, 1.0, 0.0]), Truncation()).tolist()
    [1, 2]
    """
    order = np.argsort(-grades, kind="stable")[: cut.cutoff]
    if cut.truncate:
        order = order[: np.count_nonzero(grades[order] >= cut.rel)]
    return order.astype(np.int32)


class Orders(NamedTuple):
    """Lists of numbered documents as the kernel wants them.

    List s is `order[bounds[s]:bounds[s + 1]]`; `place[s, d]` is the place of document d in it, or -1.
    """

    bounds: Integers
    order: Codes
    place: Codes


def orders_of(lists: Sequence[Codes], documents: int) -> Orders:
    """Give the places of documents in every list, once and not once per pair."""
    lengths = [len(one) for one in lists]
    bounds = np.cumsum([0, *lengths], dtype=np.int64)
    order = np.concatenate([*lists, np.empty(0, dtype=np.int32)]).astype(np.int32)
    place = np.full((len(lists), documents), -1, dtype=np.int32)
    owner = np.repeat(np.arange(len(lists)), lengths)
    place[owner, order] = np.arange(len(order)) - bounds[owner]
    return Orders(bounds, order, place)


def joint_tables(grade: Codes, weight: Floats, orders: Orders, first: Codes, second: Codes) -> Floats:
    """Give, per pair of lists, the 3 x 3 table of document pairs by what each list says of them.

    `grade[d]` is the class of document d, the worst 0, and `weight[class]` what a document of it weighs.
    Entry `[p, 1 - a, 1 - b]` weighs the pairs (a better and a worse document) of which list `first[p]` says
    a and list `second[p]` says b: 1 the better first, -1 the worse first, 0 neither retrieved. All entries
    of a table add up to the weight of all pairs. O(classes x n log n) per pair of lists for n documents.

    >>> orders = orders_of([np.array([0, 1]), np.array([1])], 2)  # document 0 is the better one
    >>> ends = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    >>> joint_tables(np.array([1, 0]), np.ones(2), orders, *ends)[0]  # the first is right, the second wrong
    array([[0., 0., 1.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    classes = len(weight)
    words = max(classes - 1, 0) * ((len(grade) >> 6) + 1)
    table = np.empty(9 * len(first), dtype=np.float64)
    columns = (
        np.ascontiguousarray(grade, dtype=np.int32),
        weight.astype(np.float64),
        *orders[:2],
        orders.place.ravel(),
        first,
        second,
        np.empty(words, dtype=np.uint64),
        np.empty(2 * words, dtype=np.int32),
        np.empty(9 * classes**2 + 6 * classes, dtype=np.int64),
        table,
    )
    if not call("joint_tables", *columns):
        raise ValueError("a list, a place or a grade is out of range")
    return table.reshape(-1, 3, 3)


def call(kernel: str, *columns: object) -> bool:
    """Call a kernel, compiled or not; not compiled it reads memory views faster than arrays."""
    if kernels.compiled is not None:
        return bool(getattr(kernels.compiled, kernel)(*columns))
    from leadline.kernels import pairs

    views = (part.data if isinstance(part, np.ndarray) else part for part in columns)
    return bool(getattr(pairs, kernel)(*views))
