"""The joint tables of one query for pairs of lists: the kernel behind arrays of any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline import kernels
from leadline.arrays import Codes, Floats, Integers


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


def joint_tables(
    grade: Codes, weight: Floats, orders: Orders, first: Codes, second: Codes
) -> Floats:
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
        np.ascontiguousarray(grade, dtype=np.int32), weight.astype(np.float64), *orders[:2],
        orders.place.ravel(),
        first, second, np.empty(words, dtype=np.uint64), np.empty(2 * words, dtype=np.int32),
        np.empty(9 * classes**2 + 6 * classes, dtype=np.int64), table,
    )  # fmt: skip
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
