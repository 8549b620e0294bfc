"""Cohen's kappa, plain and weighted."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.naming import choice
from leadline.statistics.agreement import Coefficient, shares


class Cohen(Coefficient):
    """Cohen's kappa: agreement above chance, where chance is the product of each judge's own marginals.

    1 - D(A) / D(E), the disagreement seen over that expected by chance; `weights` says how far apart two
    grades are: `none` 1 for any two, `linear` |a - b|, `quadratic` (a - b)^2 of the grades as numbers (most
    programs take their places in the list of grades, which is the same where no grade is skipped). From -1
    to 1.

    >>> lists = [[1, 1]] * 300 + [[1, 0]] * 20 + [[0, 1]] * 10 + [[0, 0]] * 70
    >>> round(Cohen().of(lists), 4)
    0.7761
    >>> round(Cohen(weights="quadratic").of([[0, 1], [1, 1], [2, 2], [3, 1]]), 4)
    0.1667
    """

    title = "Cohen's kappa"
    called = "cohen"
    source = "Cohen 1960; weighted: Cohen 1968"

    weights: str = choice("none", "linear", "quadratic")

    def of_tables(self, tables: Floats, values: Floats) -> Floats:
        """Give 1 less the disagreement seen over that expected."""
        cells = shares(tables)
        apart = np.abs(values[:, None] - values)
        distance = {"none": (apart > 0).astype(float), "linear": apart, "quadratic": apart**2}
        far = distance[self.weights]
        by_chance = cells.sum(axis=-1)[..., :, None] * cells.sum(axis=-2)[..., None, :]
        expected = (by_chance * far).sum(axis=(-2, -1))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = np.where(
                expected > 0, 1 - (cells * far).sum(axis=(-2, -1)) / expected, np.nan
            )
        return found
