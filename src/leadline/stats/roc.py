"""How well a score tells two kinds apart: ROC curve, area under it, thresholds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats


def area_under_curve(score: Floats, positive: Flags, weight: Floats | None = None) -> float:
    """Give the probability that a positive scores above a negative, ties half; NaN without one of each.

    `weight` counts observations more than once, or not at all. Source: Hanley and McNeil 1982.

    >>> area_under_curve(np.array([3.0, 2.0, 1.0]), np.array([True, False, False]))
    1.0
    """
    weights = np.ones(len(score)) if weight is None else weight
    _, group = np.unique(score, return_inverse=True)
    size = int(group.max(initial=-1)) + 1
    up = np.bincount(group[positive], weights[positive], minlength=size)
    down = np.bincount(group[~positive], weights[~positive], minlength=size)
    whole = up.sum() * down.sum()
    if whole == 0:
        return float("nan")
    below = np.cumsum(down) - down
    return float((up * (below + down / 2)).sum() / whole)


def roc_curve(score: Floats, positive: Flags) -> tuple[Floats, Floats]:
    """Give false and true positive rates from (0, 0) to (1, 1), one point per different score.

    >>> roc_curve(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
    (array([0., 0., 1., 1.]), array([0. , 0.5, 0.5, 1. ]))
    """
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)  # the last point stands always
    true = np.cumsum(positive[order])[last]
    false = np.cumsum(~positive[order])[last]
    return (
        np.concatenate(([0.0], false / max(int((~positive).sum()), 1))),
        np.concatenate(([0.0], true / max(int(positive.sum()), 1))),
    )


class Decision(NamedTuple):
    """How a threshold does: accuracy, precision, recall; and the share of the larger kind."""

    threshold: float
    accuracy: float
    precision: float
    recall: float
    larger: float


def decide(score: Floats, positive: Flags, threshold: float) -> Decision:
    """Take scores of `threshold` or more for positive.

    Accuracy means little alone where one kind is rare: `larger` is what always saying the larger kind would
    have.

    >>> decide(np.array([3.0, 2.0, 1.0]), np.array([True, False, False]), 2.0).precision
    0.5
    """
    taken = score >= threshold
    hits = int((taken & positive).sum())
    share = float(positive.mean()) if len(positive) else float("nan")
    return Decision(
        threshold,
        float((taken == positive).mean()) if len(positive) else float("nan"),
        hits / int(taken.sum()) if taken.any() else float("nan"),
        hits / int(positive.sum()) if positive.any() else float("nan"),
        max(share, 1 - share),
    )


def best_threshold(score: Floats, positive: Flags) -> float:
    """Give the threshold of highest accuracy; of several the one that takes the fewest."""
    order = np.argsort(-score, kind="stable")
    gain = np.cumsum(np.where(positive[order], 1, -1))
    gain[np.append(np.diff(score[order]) == 0, False)] = -len(score) - 1  # inside a tie
    best = int(np.argmax(gain)) if len(gain) else -1
    if best < 0 or gain[best] <= 0:
        return float("inf")
    return float(score[order][best])
