"""Options of a comparison: test, correction, intervals and levels."""

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

TUKEY = "Tukey"  # permutes the values of all runs within a query
MAX_T = "MaxT"  # flips the signs of all differences of a query together
JOINT = {"tukey": TUKEY, "max_t": MAX_T, "maxt": MAX_T}
MAX_T_DRAWS = 10_000
INVERTED = 100  # pairs x measures; inverting the randomisation test for more takes minutes


@dataclass(frozen=True)
class Rules:
    """Options of a comparison.

    Attributes
    ----------
    test : PairedTest
        Significance test.
    correction : Correction or None
        Correction of p-values; None with a joint procedure.
    joint : {"Tukey", "MaxT"} or None
        Joint procedure for all pairs.
    interval : Interval
        Confidence interval of differences.
    family : {"measure", "all"}
        Family of tests that are corrected together.
    confidence : float
        Confidence level.
    margin : float or None
        Equivalence margin.
    power : float
        Power for which detectable differences are computed.
    smallest : float or None
        Smallest difference of interest.
    query_group : str or None
        Source of the groups of queries.
    seed : int
        Seed of the random number generator.
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
        """Significance level, 1 - confidence."""
        return 1 - self.confidence

    @property
    def corrected_by(self) -> str:
        """Name of the correction or joint procedure."""
        return str(self.correction) if self.joint is None else self.joint

    @property
    def corrects(self) -> bool:
        """Whether p-values are corrected."""
        return self.joint is not None or self.corrected_by != "Uncorrected"

    @property
    def matched(self) -> bool:
        """Whether test and interval both concern the mean, so that they are made consistent."""
        from leadline.stats.intervals import Randomisation as Inverted

        return isinstance(self.test, (T, Randomisation)) and isinstance(self.interval, (Student, Inverted))

    def to_dict(self) -> dict[str, Any]:
        """Return the options as a dictionary."""
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
    """Parse and check the options of a comparison.

    The default interval is the inverted randomisation test if `tests` (pairs x measures) is at most 100 and
    the test is Randomisation, otherwise Student's t.
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
    differences = {"margin": margin, "smallest": smallest}
    check_numbers(
        power=rules.power, **{name: value for name, value in differences.items() if value is not None}
    )
    for name, value in differences.items():
        if value is not None and not value > 0:
            raise UsageError(f"{name} {value}; expected a number above 0, in units of the measure")
    if not 0 < rules.power < 1:
        raise UsageError(f"power {rules.power}; expected a number between 0 and 1, such as 0.8")
    if joint == TUKEY and family == "all":
        raise UsageError("Tukey with family='all'; expected family='measure', or another correction")
    if joint == TUKEY and query_group is not None:
        raise UsageError("Tukey cannot take groups of queries; expected --correction MaxT or Holm")
    return rules


def _correction(name: object) -> Correction:
    return CORRECTIONS.parse(name)  # type: ignore[arg-type]  # checked by the parser


def _interval(interval: str | Interval | None, test: PairedTest, tests: int) -> Interval:
    if isinstance(interval, Interval):
        return interval
    if interval is not None:
        return INTERVALS.parse(interval)
    if isinstance(test, Randomisation) and tests <= INVERTED:
        from leadline.stats.intervals import Randomisation as Inverted

        return Inverted(draws=test.draws)
    return Student()
