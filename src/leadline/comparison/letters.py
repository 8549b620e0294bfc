"""Significance letters: behind each value the runs that it is significantly better than."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from leadline.comparison.table import Comparison

MOST = len(ascii_lowercase)  # runs with a letter; more are counted


def beaten(comparison: Comparison, place: int) -> list[list[int]]:
    """Give, for every run, the places of the runs that it is significantly better than."""
    found: list[list[int]] = [[] for _ in comparison.names]
    rising = comparison.results.measures[place].rising
    for pair in np.flatnonzero(comparison.told_apart[place]).tolist():
        first, second = int(comparison.pairing.first[pair]), int(comparison.pairing.second[pair])
        better = (comparison.means[place, pair] > 0) == rising
        winner, loser = (first, second) if better else (second, first)
        found[winner].append(loser)
    return found


def letters_of(comparison: Comparison, place: int, order: list[int]) -> list[str]:
    """Give the letters of every run in order, where the first run in order is called a, the next b.

    With more runs than letters it is the number of runs instead.
    """
    lost = beaten(comparison, place)
    if len(order) > MOST:
        return [str(len(lost[run])) for run in order]
    name = {run: ascii_lowercase[row] for row, run in enumerate(order)}
    return ["".join(sorted(name[loser] for loser in lost[run])) for run in order]
