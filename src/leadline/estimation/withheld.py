"""Reasons for withholding the interval, or the value, of an estimate."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

FEWEST_JUDGMENTS = 50
FEWEST_QUERIES = 10
MOST_GUESSED = 0.05  # largest weight of guessed and unknown pairs with which an interval is given
MOST_GUESSED_OF_NEW = 0.3  # the same for runs that did not contribute to the pool, where grades are predicted


class NoInterval(Enum):
    """Reasons for which no confidence interval over draws is given; values are format strings."""

    FEW_JUDGMENTS = f"{{0}} judgments, fewer than {FEWEST_JUDGMENTS}"
    FEW_QUERIES = f"{{0}} queries, fewer than {FEWEST_QUERIES}"
    AVERAGE_PRECISION = "intervals of AP are not valid with drawn judgments"
    SHARE_OF_RELEVANT = "intervals of shares of all relevant documents are not valid with drawn judgments"
    UNKNOWN_IDEAL = "the ideal list cannot be estimated without predicted grades"
    NO_QUERY = "the run has no query in common with the pool or the judgments"
    NO_RELEVANT = "the variance cannot be estimated: no relevant document among the drawn"
    NO_VARIANCE = "the variance cannot be estimated: all drawn judgments equal their predictions"
    GUESSED = "{0:.0%} of the weight is guessed or unknown"
    NO_DIVISOR = "without predicted grades, the number of relevant documents cannot be estimated"
    EXPLODED = "the interval is wider than the range of the measure"


WITHOUT_VALUE = {NoInterval.NO_DIVISOR, NoInterval.EXPLODED}


class Withheld(NamedTuple):
    """A reason for withholding an interval, with the number that the reason is about."""

    code: NoInterval
    number: float = 0

    @property
    def message(self) -> str:
        """Return the reason as text."""
        return self.code.value.format(self.number)

    @property
    def summary(self) -> str:
        """Return the reason as text that is the same for all runs with this reason."""
        guessed = self.code is NoInterval.GUESSED
        return "too much of the weight is guessed or unknown" if guessed else self.message
