"""ROC curve, area under it, and decisions by a threshold."""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Flags, Floats


def area_under_curve(score: Floats, positive: Flags, weight: Floats | None = None) -> float:
    """Return the probability that a positive scores above a negative, ties counted half (ROC AUC).

    `weight` are frequency weights. NaN if either class is empty.

    References
    ----------
    Hanley and McNeil (1982), Radiology 143(1).

    Examples
    --------
    >>> area_under_curve(np.array([3.0, 2.0, 1.0]), np.array([True, False, False]))
    1.0
    """
    weights = np.ones(len(score)) if weight is None else weight
    _, group = np.unique(score, return_inverse=True)
    size = int(group.max(initial=-1)) + 1
    up = np.bincount(group[positive], weights[positive], minlength=size)
    down = np.bincount(group[~positive], weights[~positive], minlength=size)
    pairs = up.sum() * down.sum()
    if pairs == 0:
        return float("nan")
    below = np.cumsum(down) - down
    return float((up * (below + down / 2)).sum() / pairs)


def roc_curve(score: Floats, positive: Flags) -> tuple[Floats, Floats]:
    """Return false and true positive rates from (0, 0) to (1, 1), one point per distinct score.

    >>> roc_curve(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
    (array([0., 0., 1., 1.]), array([0. , 0.5, 0.5, 1. ]))
    """
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)  # the last point is always included
    true = np.cumsum(positive[order])[last]
    false = np.cumsum(~positive[order])[last]
    return (
        np.concatenate(([0.0], false / max(int((~positive).sum()), 1))),
        np.concatenate(([0.0], true / max(int(positive.sum()), 1))),
    )


def decide(score: Floats, positive: Flags, threshold: float) -> dict[str, float]:
    """Return the quality of the classifier that predicts positive for scores of at least `threshold`.

    Accuracy is uninformative for a rare class: `larger` is that of always predicting the larger class.

    >>> decide(np.array([3.0, 2.0, 1.0]), np.array([True, False, False]), 2.0)["precision"]
    0.5
    """
    predicted = score >= threshold
    hits = int((predicted & positive).sum())
    prevalence = float(positive.mean())
    return {
        "accuracy": float((predicted == positive).mean()),
        "precision": hits / int(predicted.sum()) if predicted.any() else float("nan"),
        "recall": hits / int(positive.sum()),
        "larger": max(prevalence, 1 - prevalence),
    }
