"""Krippendorff's alpha for many judges and missing judgments."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.naming import choice
from leadline.statistics.agreement import Coefficient


class Krippendorff(Coefficient):
    """Krippendorff's alpha: 1 - D(A) / D(E), for any number of judges and with judgments missing.

    With o the table of coincidences, n_c its sums and n its total: D(A) is the sum of o_ck d_ck / n, D(E)
    that of n_c n_k d_ck / (n (n - 1)). `level` says how far apart grades are, d_ck: `nominal` 1 for any two;
    `ordinal` the square of how many judgments lie from one to the other, half of each end counted; `interval`
    (c - k)^2. At most 1; below 0 where judges avoid each other.

    >>> nan = float("nan")
    >>> round(Krippendorff().of([[1, 1], [1, 0], [0, 0], [0, nan]]), 4)
    0.4444
    """

    title = "Krippendorff's alpha"
    called = "krippendorff"
    source = "Krippendorff 2004, section 11.3; Hayes and Krippendorff 2007"
    many = True

    level: str = choice("nominal", "ordinal", "interval")

    def of_tables(self, tables: Floats, values: Floats) -> Floats:
        """Give 1 less the disagreement seen over that expected."""
        sums = tables.sum(axis=-1)
        whole = sums.sum(axis=-1)
        far = self._apart(sums, values)
        seen = (tables * far).sum(axis=(-2, -1))
        expected = (sums[..., :, None] * sums[..., None, :] * far).sum(axis=(-2, -1))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = np.where(expected > 0, 1 - (whole - 1) * seen / expected, np.nan)
        return found

    def _apart(self, sums: Floats, values: Floats) -> Floats:
        if self.level == "ordinal":
            middle = np.cumsum(sums, axis=-1) - sums / 2
            between: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
            return between
        apart = values[:, None] - values
        return apart**2 if self.level == "interval" else (apart != 0).astype(np.float64)
