"""Query likelihood of weighted terms, smoothed by Dirichlet: what several models are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.index import Index, Postings
from leadline.models._plan import Gain, Part, Plan


class Weighted(NamedTuple):
    """A term or window: where it occurs, how often in the whole collection, and its weight."""

    postings: Postings
    occurrences: int
    weight: float


def smoothed(index: Index, weighted: Sequence[Weighted], mu: float) -> Plan:
    """Add w ln (tf + mu cf/C)/(dl + mu) over terms or windows, whether a document has them or not.

    A term adds w ln(1 + tf/(mu p)) where it occurs, and w ln(mu p) - w ln(dl + mu) to every document.
    """
    parts: list[Part] = []
    constant = total = 0.0
    for postings, occurrences, weight in weighted:
        if not occurrences or not weight:
            continue
        mass = mu * occurrences / index.tokens
        parts.append(Part(postings, _seen(weight, mass)))
        constant += weight * math.log(mass)
        total += weight

    def base(documents: Integers) -> Floats:
        return constant - total * np.log(index.length[documents] + mu)

    return Plan(parts, base if parts else None)


def _seen(weight: float, mass: float) -> Gain:
    return lambda counts, _documents: weight * np.log1p(counts / mass)


def of_terms(index: Index, weights: Mapping[int, float], mu: float) -> Plan:
    """Smooth the terms of a query."""
    return smoothed(index, [of_term(index, code, weight) for code, weight in weights.items()], mu)


def of_term(index: Index, code: int, weight: float) -> Weighted:
    """Give a term with its weight."""
    return Weighted(index.postings(code), index.cf(code), weight)
