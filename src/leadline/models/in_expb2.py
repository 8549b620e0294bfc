"""In_expB2 of the divergence from randomness."""

from __future__ import annotations

import math
from typing import ClassVar

from leadline.arrays import Floats, Integers
from leadline.index import Index
from leadline.models import Model
from leadline.models._plan import Gain, Part, Plan, Query
from leadline.models.pl2 import normalised
from leadline.naming import Spellings, number


class In_expB2(Model):  # noqa: N801  # the field's spelling
    """Inverse expected document frequency, after-effect of Bernoulli, normalisation 2.

    InB2, with df in place of n_exp, is another model.
    """

    title: ClassVar[str] = "divergence from randomness, In_expB2"
    formula: ClassVar[str] = (
        "sum of qtf tfn (cf + 1)/(df (tfn + 1)) log2((N + 1)/(n_exp + 0.5)), n_exp = N (1 - exp(-cf/N)), "
        "tfn = tf log2(1 + c avdl/dl)"
    )
    source: ClassVar[str] = "Amati and van Rijsbergen 2002; the name is Terrier's"
    spellings: ClassVar[Spellings] = {"IneB2": {}, "In_eB2": {}, "InexpB2": {}, "DFR": {}}

    c: float = number(1, low=0.0, open_ends=True)

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        """Give the plan of a query."""
        return Plan([
            Part(index.postings(code), self._matched(index, code, times))
            for code, times in query.weights.items()
        ])  # fmt: skip

    def _matched(self, index: Index, code: int, times: float) -> Gain:
        size, cf, df = index.documents, index.cf(code), index.df(code)
        expected = size * -math.expm1(-cf / size)
        weight = times * (cf + 1) / df * math.log2((size + 1) / (expected + 0.5))

        def gain(counts: Floats, documents: Integers) -> Floats:
            tfn = normalised(counts, index, documents, self.c)
            return weight * tfn / (tfn + 1)

        return gain
