"""Scott's pi, the kappa of the lecture."""

from __future__ import annotations

from leadline.arrays import Floats
from leadline.statistics.agreement import Coefficient, above_chance, shares


class Scott(Coefficient):
    """Scott's pi: (P(A) - P(E)) / (1 - P(E)), chance by the pooled marginals of both judges.

    P(E) is the sum over grades of the square of the mean share of both judges. It takes the judges as
    exchangeable: what one likes better than the other counts as disagreement. From -1 to 1.

    >>> round(Scott().of([[1, 1]] * 300 + [[1, 0]] * 20 + [[0, 1]] * 10 + [[0, 0]] * 70), 4)
    0.7759
    """

    title = "Scott's pi (pooled marginals)"
    called = "scott"
    source = "Scott 1955; lecture, calculating the kappa statistic"

    def of_tables(self, tables: Floats, _values: Floats) -> Floats:
        """Give agreement above that of the pooled marginals."""
        cells = shares(tables)
        pooled = (cells.sum(axis=-1) + cells.sum(axis=-2)) / 2
        return above_chance(cells.trace(axis1=-2, axis2=-1), (pooled**2).sum(axis=-1))
