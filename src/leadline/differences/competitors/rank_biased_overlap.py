"""Rank-biased overlap: the expected agreement at a random depth."""

from __future__ import annotations

import math

import numpy as np

from leadline.arrays import Codes, Floats
from leadline.differences.competitors import Competitor
from leadline.differences.ranked import Ranked
from leadline.naming import choice, number

NOTHING = 1e-18  # of the weight of a depth: deeper ranks change no digit of a sum near 1


class RBO(Competitor):
    """Agreement averaged over depths, depth d weighing (1 - p) p^(d - 1); undefined for two empty lists.

    Agreement at depth d is 2 X_d / (|A:d| + |B:d|), X_d the number of documents in both beginnings A:d and
    B:d; documents of equal score all come in at the first rank of their group. `form=ext` takes the lists
    to go on as they ended: from the end of the shorter one its documents go on to be found in the longer at
    the rate of its last depth, and after the longer one agreement stays. `min` and `max` are the bounds
    over all ways to go on, for which ties are ordered as the run is.

    >>> RBO(p=0.5).of(["a", "b"], ["b", "a"])  # agreement 0 at depth 1, then 1
    0.5
    """

    title = "rank-biased overlap"
    formula = "(1 - p) sum of p^(d-1) A_d; beyond the lists extrapolated, or bounded"
    source = "Webber, Moffat and Zobel 2010, equations 11, 30 and 32, section 4.3 for ties"

    p: float = number(0.9, low=0.0, high=1.0, open_ends=True)
    form: str = choice("ext", "min", "max")

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        size, lengths = ranked.size, ranked.lengths
        depth = min(int(lengths.max(initial=0)), math.ceil(math.log(NOTHING) / math.log(self.p)))
        entry = self._entries(ranked)
        held = _held(entry, depth)
        order, bounds = ranked.orders.order, ranked.orders.bounds
        found = np.full((size, size), np.nan)
        for s in range(size):
            documents = order[bounds[s] : bounds[s + 1]]
            documents = documents[entry[s, documents] <= depth]
            meet = np.minimum(np.maximum(entry[s:, documents], entry[s, documents]), depth + 1)
            rows = np.arange(size - s)[:, None] * (depth + 2)
            counts = np.bincount((rows + meet).ravel(), minlength=(size - s) * (depth + 2))
            common = counts.reshape(size - s, depth + 2)[:, 1 : depth + 1].cumsum(axis=1)
            lower = np.minimum(lengths[s:], lengths[s])
            upper = np.maximum(lengths[s:], lengths[s])
            value = self._value(common, held[s:] + held[s], lower, upper)
            found[s, s:] = found[s:, s] = np.where(upper == 0, np.nan, value)
        return found

    def _entries(self, ranked: Ranked) -> Codes:
        """Give systems x documents: the rank at which each comes in, beyond any depth where it does not."""
        place = ranked.orders.place
        entry = np.where(place >= 0, place + 1, np.iinfo(np.int32).max).astype(np.int32)
        if self.form == "ext":
            owner = np.repeat(np.arange(ranked.size), ranked.lengths)
            entry[owner, ranked.orders.order] = np.concatenate(
                [*ranked.entry, np.empty(0, np.int32)]
            )
        return entry

    def _value(self, common: Floats, held: Floats, lower: Floats, upper: Floats) -> Floats:
        """Give the value of one list against many: X_d and |A:d| + |B:d| at every depth, and both lengths."""
        depth = common.shape[1]
        d = np.arange(1, depth + 1)
        weight = (1 - self.p) * self.p ** (d - 1)
        if self.form == "ext":
            agreement = extrapolated(common, held, lower)
            last = np.clip(upper, 1, max(depth, 1)) - 1
            beyond = agreement[np.arange(len(upper)), last] if depth else np.zeros(len(upper))
            inside = d <= upper[:, None]
            value: Floats = (agreement * weight * inside).sum(axis=1) + beyond * self.p**upper
            return value
        ends = np.clip(upper, 1, max(depth, 1)) - 1
        seen = common[np.arange(len(upper)), ends] if depth else np.zeros(len(upper))
        # All of depth 1 to infinity at the final overlap is -ln(1-p) (1-p)/p X; the depths seen have less.
        least = -(1 - self.p) / self.p * math.log1p(-self.p) * seen
        least += (np.minimum(common - seen[:, None], 0) * weight / d).sum(axis=1)
        if self.form == "min":
            return np.asarray(least)
        return np.asarray(least + self._residual(seen, lower, upper))

    def _residual(self, seen: Floats, lower: Floats, upper: Floats) -> Floats:
        """Give how far the largest possible value is above the least: equation 30."""
        p = self.p
        whole = (lower + upper - seen).astype(np.int64)  # the depth at which all could agree
        steps = np.arange(1, int(whole.max(initial=0)) + 1)
        sums = np.concatenate(([0.0], np.cumsum(p**steps / steps)))
        part = lower * (sums[whole] - sums[lower]) + upper * (sums[whole] - sums[upper])
        part += seen * (-math.log1p(-p) - sums[whole])
        residual: Floats = p**lower + p**upper - p**whole - (1 - p) / p * part
        return residual


def extrapolated(common: Floats, held: Floats, lower: Floats) -> Floats:
    """Give the agreement at every depth; beyond the shorter list documents are found at its last rate."""
    depth = common.shape[1]
    d = np.arange(1, depth + 1)
    rows = np.arange(len(lower))
    agreement = np.divide(2.0 * common, held, out=np.zeros(common.shape), where=held > 0)
    ends = np.clip(lower, 1, max(depth, 1)) - 1
    rate = np.where(lower > 0, agreement[rows, ends], 0.0) if depth else np.zeros(len(lower))
    unseen = np.maximum(d - lower[:, None], 0)
    return np.where(unseen > 0, (common + rate[:, None] * unseen) / d, agreement)


def _held(entry: Codes, depth: int) -> Floats:
    """Give systems x depths: how many documents have come in."""
    capped = np.minimum(entry, depth + 1)
    rows = np.arange(len(entry))[:, None] * (depth + 2)
    counts = np.bincount((rows + capped).ravel(), minlength=len(entry) * (depth + 2))
    held: Floats = counts.reshape(len(entry), depth + 2)[:, 1 : depth + 1].cumsum(axis=1)
    return held.astype(np.float64)
