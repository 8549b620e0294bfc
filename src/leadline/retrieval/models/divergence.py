"""Divergence from randomness: PL2 and In_expB2."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Aliases, choice, number
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Model
from leadline.retrieval.models.query_plan import Gain, Plan, PlanPart, Query


class PL2(Model):
    """PL2: Poisson model, Laplace after-effect, normalization 2.

    With `stirling=true`, Stirling's formula includes the term 1/(12 tfn). Some engines omit it (`false`).
    This changes scores by up to 13 %.
    """

    title: ClassVar[str] = "divergence from randomness, PL2"
    formula: ClassVar[str] = (
        "sum of qtf/(tfn + 1) (tfn log2(tfn/lambda) + (lambda + 1/(12 tfn) - tfn) log2 e "
        "+ 0.5 log2(2 pi tfn)), lambda = cf/N, tfn = tf log2(1 + c avdl/dl)"
    )
    source: ClassVar[str] = "Amati and van Rijsbergen 2002"

    c: float = number(1, low=0.0, open_ends=True)
    stirling: str = choice("true", "false")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        return Plan(
            [
                PlanPart(index.postings(code), self._matched(index, code, times))
                for code, times in query.weights.items()
            ]
        )

    def _matched(self, index: Index, code: int, times: float) -> Gain:
        rate = index.cf(code) / index.documents
        more = 1 / 12 if self.stirling == "true" else 0.0

        def gain(counts: Floats, documents: Integers) -> Floats:
            tfn = normalised(counts, index, documents, self.c)
            information: Floats = (
                tfn * np.log2(tfn / rate)
                + (rate + more / tfn - tfn) * math.log2(math.e)
                + 0.5 * np.log2(2 * math.pi * tfn)
            )
            return times * information / (tfn + 1)

        return gain


def normalised(counts: Floats, index: Index, documents: Integers, c: float) -> Floats:
    """Return term frequencies by normalization 2: tf log2(1 + c avdl/dl)."""
    key = ("normalisation 2", c)
    if key not in index.made:
        with np.errstate(divide="ignore"):  # an empty document has no term to normalise
            index.made[key] = np.log2(1 + c * index.average_length / index.length)
    factor: Floats = index.made[key]
    return counts * factor[documents]


class In_expB2(Model):  # noqa: N801  # the field's spelling
    """In_expB2: inverse expected document frequency, Bernoulli after-effect, normalization 2.

    InB2, with df in place of n_exp, is a different model.
    """

    title: ClassVar[str] = "divergence from randomness, In_expB2"
    formula: ClassVar[str] = (
        "sum of qtf tfn (cf + 1)/(df (tfn + 1)) log2((N + 1)/(n_exp + 0.5)), n_exp = N (1 - exp(-cf/N)), "
        "tfn = tf log2(1 + c avdl/dl)"
    )
    source: ClassVar[str] = "Amati and van Rijsbergen 2002; the name is Terrier's"
    aliases: ClassVar[Aliases] = {"IneB2": {}, "In_eB2": {}, "InexpB2": {}, "DFR": {}}

    c: float = number(1, low=0.0, open_ends=True)

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        return Plan(
            [
                PlanPart(index.postings(code), self._matched(index, code, times))
                for code, times in query.weights.items()
            ]
        )

    def _matched(self, index: Index, code: int, times: float) -> Gain:
        size, cf, df = index.documents, index.cf(code), index.df(code)
        expected = size * -math.expm1(-cf / size)
        weight = times * (cf + 1) / df * math.log2((size + 1) / (expected + 0.5))

        def gain(counts: Floats, documents: Integers) -> Floats:
            tfn = normalised(counts, index, documents, self.c)
            return weight * tfn / (tfn + 1)

        return gain
