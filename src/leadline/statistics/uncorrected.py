"""No correction."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.naming import Spellings
from leadline.statistics import Correction


class Uncorrected(Correction):
    """No correction: of many pairs that do not differ, one in twenty will seem to.

    >>> Uncorrected().corrected([0.01, 0.04]).tolist()
    [0.01, 0.04]
    """

    title = "no correction"
    controls = "the error of each test by itself"
    source = ""
    spellings: ClassVar[Spellings] = {"none": {}}

    def of_rising(self, p: Floats) -> Floats:
        """Give the p values back."""
        return p
