"""From the weights of document pairs to bits: RIC, and what one system knows beyond another."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats


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
