"""Letters that mark significant differences in tables of runs."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from leadline.comparison.comparison_result import Comparison

MOST_LETTERS = len(ascii_lowercase)  # more runs are counted instead


def outperformed_runs(comparison: Comparison, index: int) -> list[list[int]]:
    """Return for each run the indices of the runs that it significantly outperforms.

    Parameters
    ----------
    comparison : Comparison
        Compared runs.
    index : int
        Index of the measure.
    """
    losers: list[list[int]] = [[] for _ in comparison.names]
    rising = comparison.results.measures[index].rising
    for pair in np.flatnonzero(comparison.significant[index]).tolist():
        first, second = int(comparison.pairing.first[pair]), int(comparison.pairing.second[pair])
        better = (comparison.means[index, pair] > 0) == rising
        winner, loser = (first, second) if better else (second, first)
        losers[winner].append(loser)
    return losers


def significance_letters(comparison: Comparison, index: int, order: list[int]) -> list[str]:
    """Return for each run the letters of the runs that it significantly outperforms.

    The first run in `order` has the letter a, the next b. With more than 26 runs, the number of outperformed
    runs is returned instead.
    """
    outperformed = outperformed_runs(comparison, index)
    if len(order) > MOST_LETTERS:
        return [str(len(outperformed[run])) for run in order]
    name = {run: ascii_lowercase[row] for row, run in enumerate(order)}
    return ["".join(sorted(name[loser] for loser in outperformed[run])) for run in order]
