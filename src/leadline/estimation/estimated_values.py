"""Estimated means of runs, and differences of runs, with their intervals."""

from __future__ import annotations

from typing import NamedTuple


class Estimate(NamedTuple):
    """One estimated mean.

    Attributes
    ----------
    value : float
        The estimate; NaN where undefined or withheld.
    rank : int or None
        Rank among the runs with an interval, or among all if none has one; None for the others.
    low, high : float
        Limits of the confidence interval over queries (and draws); NaN where that for these queries is
        withheld.
    these_low, these_high : float
        Limits of the confidence interval for these queries, over draws of documents; equal where every
        document that matters was judged, NaN where the interval is withheld.
    widened : float
        Share of the width of the interval for these queries that is due to documents outside the frame.
    to_halve : int or None
        Number of documents outside the frame to judge, drawn at random, to halve the widening; None where it
        is not known.
    lowest, highest : float
        Limits of the value over all grades of guessed and unknown pairs of the list; NaN for ratios (nDCG, R,
        F) and AP, whose divisors depend on the grades of documents outside the list too.
    judged : float
        Share of the weight of the value that is judged with certainty; the four shares add up to 1.
    drawn : float
        Share that was drawn and judged.
    guessed : float
        Share for which a grade is predicted.
    unknown : float
        Share without a prediction.
    reason : str
        Reason for withholding the interval; empty if it is given.
    target : {"pooled", "all"}
        Whether the value is relative to the relevant documents of the pool (nDCG, R, F, AP), or depends on
        those of the list only. Relative to all relevant documents of a collection, values are lower.
    """

    value: float
    rank: int | None
    low: float
    high: float
    these_low: float
    these_high: float
    widened: float
    to_halve: int | None
    lowest: float
    highest: float
    judged: float
    drawn: float
    guessed: float
    unknown: float
    reason: str
    target: str = "all"


class Difference(NamedTuple):
    """Estimated difference of two runs in a measure.

    Attributes
    ----------
    a, b : str
        Names of the runs.
    measure : str
        The measure.
    difference : float
        Mean of `a` minus mean of `b`.
    these_low, these_high : float
        Confidence interval for these queries, over draws of documents; NaN where it is withheld.
    reason : str
        Reason for withholding the interval; empty if it is given.
    """

    a: str
    b: str
    measure: str
    difference: float
    these_low: float
    these_high: float
    reason: str
