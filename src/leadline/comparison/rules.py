"""Options of a comparison: test, correction, intervals and levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from leadline.data.arrays import Floats
from leadline.data.registry import Registry
from leadline.data.validation import check_numbers
from leadline.errors import UnknownNameError, UsageError
from leadline.stats import (
    CORRECTIONS,
    INTERVALS,
    TESTS,
    Correction,
    Interval,
    PairedTest,
    checked_level,
    checked_power,
    checked_seed,
)
from leadline.stats.corrections import Holm, Uncorrected
from leadline.stats.intervals import Randomisation as InvertedRandomisation
from leadline.stats.intervals import Student
from leadline.stats.moments import Groups
from leadline.stats.paired_tests import Randomisation, T

TUKEY = "Tukey"  # permutes the values of all runs within a query
MAX_T = "MaxT"  # flips the signs of all differences of a query together
JOINT = {"tukey": TUKEY, "max_t": MAX_T, "maxt": MAX_T}
MAX_T_DRAWS = 10_000
INVERTED = 100  # pairs x measures; inverting the randomization test for more takes minutes


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Options of a comparison, under the names that users give them.

    `correction` is "Tukey" or "MaxT" for a joint procedure. Without an interval, the default depends on the
    number of tests (`sized`).
    """

    test: PairedTest = field(default_factory=T)
    correction: Correction | str = field(default_factory=Holm)
    interval: Interval | None = None
    family: str = "measure"
    confidence: float = 0.95
    margin: float | None = None
    power: float = 0.8
    smallest: float | None = None
    query_group: str | Mapping[str, object] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        joint = JOINT.get(self.correction.lower()) if isinstance(self.correction, str) else None
        parsed = {
            "test": _parsed(self.test, PairedTest, TESTS),
            "correction": joint or self._one_by_one(),
            "interval": None if self.interval is None else _parsed(self.interval, Interval, INTERVALS),
        }
        for name, value in parsed.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "confidence", checked_level(self.confidence))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        if self.family not in ("measure", "all"):
            raise UsageError(f"family={self.family!r} is not valid. Use 'measure' or 'all'.")
        given = {name: getattr(self, name) for name in ("margin", "smallest")}
        given = {name: value for name, value in given.items() if value is not None}
        check_numbers(power=self.power, **given)
        for name, value in given.items():
            if not value > 0:
                raise UsageError(f"{name} must be a number above 0, in units of the measure, not {value}")
        checked_power(self.power)
        if self.joint == TUKEY and self.family == "all":
            raise UsageError(
                "Tukey does not support --config test.family=all. Use --config test.family=measure, or "
                "another correction."
            )
        if self.joint == TUKEY and self.query_group is not None:
            raise UsageError("Tukey does not support query groups. Use --correction MaxT.")

    def _one_by_one(self) -> Any:
        """Return the correction of p-values; the error for an unknown name lists joint procedures too."""
        try:
            return _parsed(self.correction, Correction, CORRECTIONS)
        except UnknownNameError as error:
            listed = ", ".join(CORRECTIONS.classes)
            joint = "" if isinstance(self, SuiteRules) else f", {MAX_T}, {TUKEY}"
            raise UnknownNameError(str(error).replace(listed, listed + joint)) from None

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Return the rules of options as a user gives them."""
        return cls(**options)

    @classmethod
    def take(cls, options: dict[str, Any]) -> Self:
        """Return the rules of the options that belong to a comparison, and remove these from all options."""
        return cls(**{each.name: options.pop(each.name) for each in fields(cls) if each.name in options})

    def sized(self, tests: int) -> Self:
        """Return the rules with the interval for this number of pairs x measures.

        By default it is the inverted test for Randomisation and up to 100 tests, otherwise Student's t.
        """
        if self.interval is not None:
            return self
        if isinstance(self.test, Randomisation) and tests <= INVERTED:
            return replace(self, interval=InvertedRandomisation(draws=self.test.draws))
        return replace(self, interval=Student())

    @property
    def alpha(self) -> float:
        """Significance level, 1 - confidence."""
        return 1 - self.confidence

    @property
    def joint(self) -> str | None:
        """Name of the joint procedure for all pairs; None with a correction of p-values."""
        return self.correction if isinstance(self.correction, str) else None

    @property
    def corrects(self) -> bool:
        """Whether p-values are corrected."""
        return not isinstance(self.correction, Uncorrected)

    @property
    def matched(self) -> bool:
        """Whether test and interval both concern the mean, so that they are made consistent."""
        return isinstance(self.test, (T, Randomisation)) and isinstance(
            self.interval, (Student, InvertedRandomisation)
        )

    def corrected(self, p: Floats) -> Floats:
        """Return the p-values of a family, corrected."""
        assert isinstance(self.correction, Correction)
        return self.correction.corrected(p)

    def limits(self, values: Floats, level: float, groups: Groups | None) -> tuple[Floats, Floats]:
        """Return the limits of the mean of each column; the rules must be `sized`."""
        assert self.interval is not None
        return self.interval.limits(values, level=level, seed=self.seed, groups=groups)

    def shown(self) -> dict[str, Any]:
        """Return the options as they are written in results."""
        return {each.name: _shown(getattr(self, each.name)) for each in fields(self)}


@dataclass(frozen=True, kw_only=True)
class SuiteRules(Rules):
    """Options of the tests of a suite; `partial` compares pairs on the collections that both have."""

    interval: Interval | None = field(default_factory=Student)
    baselines: tuple[str, ...] = ()
    partial: bool = False

    def __post_init__(self) -> None:
        given = self.correction
        super().__post_init__()
        if not isinstance(self.test, (T, Randomisation)):
            name = type(self.test).__name__
            raise UsageError(f"--test {name} does not apply to a suite. Use T or Randomisation.")
        if self.joint is not None:
            raise UsageError(
                f"--correction {given} does not apply to a suite. Use one of "
                f"{', '.join(CORRECTIONS.classes)}."
            )


def _parsed(given: Any, kind: type, known: Registry[Any]) -> Any:
    """Return what a name means, also as people write it: "paired t-test"."""
    if isinstance(given, kind):
        return given
    return known.parse("_".join(given.split()) if isinstance(given, str) and "(" not in given else given)


def _shown(value: object) -> object:
    if isinstance(value, Mapping):
        return "in memory"
    return str(value) if isinstance(value, (PairedTest, Correction, Interval)) else value
