"""How a comparison is made: test, correction, intervals, levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leadline.data.validation import check_numbers
from leadline.errors import UsageError
from leadline.stats import (
    CORRECTIONS,
    INTERVALS,
    TESTS,
    Correction,
    Interval,
    PairedTest,
    checked_level,
    checked_seed,
)
from leadline.stats.intervals import Student
from leadline.stats.paired_tests import Randomisation, T

TUKEY = "Tukey"  # all runs are exchanged at once within a query
MAX_T = "MaxT"  # the signs of all differences of a query are flipped together
JOINT = {"tukey": TUKEY, "max_t": MAX_T, "maxt": MAX_T}
MAX_T_DRAWS = 10_000
INVERTED = 100  # pairs x measures; to invert the randomisation test for more takes minutes


@dataclass(frozen=True)
class Rules:
    """How a comparison was made.

    `correction` is None where `joint`, a procedure for all pairs at once (Tukey, MaxT), takes its place.
    """

    test: PairedTest
    correction: Correction | None
    joint: str | None
    interval: Interval
    family: str
    confidence: float
    margin: float | None
    power: float
    smallest: float | None
    query_group: str | None
    seed: int

    @property
    def alpha(self) -> float:
        """Return the significance level, 1 - confidence."""
        return 1 - self.confidence

    @property
    def corrected_by(self) -> str:
        """Name the correction."""
        return str(self.correction) if self.joint is None else self.joint

    @property
    def corrects(self) -> bool:
        """Say whether p values are corrected at all."""
        return self.joint is not None or self.corrected_by != "Uncorrected"

    @property
    def matched(self) -> bool:
        """Say whether test and interval ask the same question, of the mean, and are made to agree on 0."""
        from leadline.stats.intervals import Randomisation as Inverted

        return isinstance(self.test, (T, Randomisation)) and isinstance(self.interval, (Student, Inverted))

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain data."""
        return {
            "test": str(self.test),
            "correction": self.corrected_by,
            "interval": str(self.interval),
            "family": self.family,
            "confidence": self.confidence,
            "margin": self.margin,
            "power": self.power,
            "smallest": self.smallest,
            "query_group": self.query_group,
            "seed": self.seed,
        }


def rules_of(
    *,
    test: str | PairedTest,
    correction: str | Correction,
    interval: str | Interval | None,
    family: str,
    confidence: float,
    margin: float | None,
    power: float,
    smallest: float | None,
    query_group: str | None,
    seed: int,
    tests: int,
) -> Rules:
    """Read and check options; without an interval it is that of the test, or else Student's.

    `tests` is the number of pairs times measures.
    """
    joint = JOINT.get(correction.lower()) if isinstance(correction, str) else None
    chosen = test if isinstance(test, PairedTest) else TESTS.parse(test)
    if joint is not None:
        parsed = None
    else:
        parsed = correction if isinstance(correction, Correction) else _correction(correction)
    rules = Rules(
        test=chosen,
        correction=parsed,
        joint=joint,
        interval=_interval(interval, chosen, tests),
        family=family,
        confidence=checked_level(confidence),
        margin=margin,
        power=power,
        smallest=smallest,
        query_group=query_group,
        seed=checked_seed(seed),
    )
    if rules.family not in ("measure", "all"):
        raise UsageError(f"family={rules.family!r}; expected 'measure' or 'all'")
    given = {"margin": margin, "smallest": smallest}
    check_numbers(power=rules.power, **{name: value for name, value in given.items() if value is not None})
    for name, value in given.items():
        if value is not None and not value > 0:
            raise UsageError(f"{name} {value}; expected a number above 0, in units of the measure")
    if not 0 < rules.power < 1:
        raise UsageError(f"power {rules.power}; expected a share between 0 and 1, such as 0.8")
    if joint == TUKEY and family == "all":
        raise UsageError("Tukey corrects within a measure; expected another correction for all")
    if joint == TUKEY and query_group is not None:
        raise UsageError("Tukey cannot take groups of queries; expected --correction MaxT or Holm")
    return rules


def _correction(name: object) -> Correction:
    return CORRECTIONS.parse(name)  # type: ignore[arg-type]  # the parser says what is wrong


def _interval(interval: str | Interval | None, test: PairedTest, tests: int) -> Interval:
    if isinstance(interval, Interval):
        return interval
    if interval is not None:
        return INTERVALS.parse(interval)
    if isinstance(test, Randomisation) and tests <= INVERTED:
        from leadline.stats.intervals import Randomisation as Inverted

        return Inverted(draws=test.draws)
    return Student()
