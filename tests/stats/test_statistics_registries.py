"""The registries of tests, intervals and corrections."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.data.registry import Parametric, Registry
from leadline.errors import UnknownNameError, UsageError
from leadline.stats import CORRECTIONS, INTERVALS, TESTS, checked_level, checked_seed, column

REGISTRIES: list[Registry[Parametric]] = [TESTS, INTERVALS, CORRECTIONS]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("registry", "written", "canonical"),
    [
        (TESTS, "t", "T"),
        (TESTS, "T", "T"),
        (TESTS, "ttest", "T"),
        (TESTS, "student", "T"),
        (TESTS, "randomisation", "Randomisation"),
        (TESTS, "randomization", "Randomisation"),
        (TESTS, "permutation", "Randomisation"),
        (TESTS, "sign_flip", "Randomisation"),
        (TESTS, "Randomisation(draws=1000)", "Randomisation(draws=1000)"),
        (TESTS, "randomization( draws = 1000 )", "Randomisation(draws=1000)"),
        (TESTS, "Randomisation(draws=100000)", "Randomisation"),
        (TESTS, "wilcoxon", "Wilcoxon"),
        (TESTS, "Wilcoxon(zeros=pratt)", "Wilcoxon(zeros=pratt)"),
        (TESTS, "bootstrap", "Bootstrap"),
        (TESTS, "bootstrap_t", "Bootstrap"),
        (INTERVALS, "t", "Student"),
        (INTERVALS, "student", "Student"),
        (INTERVALS, "bca", "BCa"),
        (INTERVALS, "bootstrap", "BCa"),
        (INTERVALS, "percentile", "Percentile"),
        (INTERVALS, "sign_flip", "Randomisation"),
        (TESTS, "sign", "Sign"),
        (TESTS, "binomial", "Sign"),
        (INTERVALS, "randomization", "Randomisation"),
        (INTERVALS, "BCa(draws=999)", "BCa(draws=999)"),
        (CORRECTIONS, "none", "Uncorrected"),
        (CORRECTIONS, "holm", "Holm"),
        (CORRECTIONS, "fdr", "BH"),
        (CORRECTIONS, "bh", "BH"),
        (CORRECTIONS, "hochberg", "Hochberg"),
        (CORRECTIONS, "BONFERRONI", "Bonferroni"),
    ],
)
def test_a_text_means_one_thing(registry: Registry[Parametric], written: str, canonical: str) -> None:
    assert str(registry.parse(written)) == canonical


@pytest.mark.parametrize(
    ("registry", "written", "says"),
    [
        (TESTS, "randomisaton", "unknown test 'randomisaton'. Did you mean Randomisation?"),
        (TESTS, "wilcoxn", "unknown test 'wilcoxn'. Did you mean Wilcoxon?"),
        (TESTS, "xyzzy", f"unknown test 'xyzzy'. The tests are {', '.join(sorted(TESTS.classes))}"),
        (INTERVALS, "studnet", "unknown interval 'studnet'. Did you mean Student?"),
        (INTERVALS, "percentil", "unknown interval 'percentil'. Did you mean Percentile or"),
        (CORRECTIONS, "holmm", "unknown correction 'holmm'. Did you mean Holm?"),
        (CORRECTIONS, "bonferoni", "unknown correction 'bonferoni'. Did you mean Bonferroni or"),
        (CORRECTIONS, "xyzzy", "The corrections are BH, Bonferroni, Hochberg, Holm, Uncorrected"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    registry: Registry[Parametric], written: str, says: str
) -> None:
    with pytest.raises(UnknownNameError) as refusal:
        registry.parse(written)
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("registry", "written", "says"),
    [
        (TESTS, "T(draws=5)", "T has no parameter 'draws'. It has no parameters"),
        (TESTS, "Randomisation(draws=0)", "draws must be a whole number of at least 1"),
        (INTERVALS, "BCa(draws=98)", "draws must be a whole number of at least 99, not 98"),
        (INTERVALS, "Percentile(draws=9.5)", "draws must be a whole number"),
        (TESTS, "T@10", "T takes no cutoff. Use T"),
    ],
)
def test_a_wrong_parameter_is_refused_when_it_is_read(
    registry: Registry[Parametric], written: str, says: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        registry.parse(written)
    assert says in str(refusal.value)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.noun)
def test_everything_says_what_it_is(registry: Registry[Parametric]) -> None:
    assert registry.classes
    for name, kind in registry.classes.items():
        words = vars(kind)
        assert words["title"]
        assert words["title"][-1] != "."
        assert words["source"] or name == "Uncorrected"
        if registry is REGISTRIES[0]:
            assert words["null"]
        if registry is REGISTRIES[2]:
            assert words["controls"]


def test_titles_are_all_different() -> None:
    titles = [vars(kind)["title"] for registry in REGISTRIES for kind in registry.classes.values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("values", [[[0.1, 0.2]], 0.1])
def test_a_list_of_another_shape_is_refused(values: object) -> None:
    with pytest.raises(UsageError, match=r"values have the shape .*\. Pass a list with one value per query"):
        column(values)  # type: ignore[arg-type]


def test_levels_and_seeds_come_back() -> None:
    assert checked_level(0.95) == 0.95
    assert checked_level(0.5) == 0.5
    assert checked_seed(0) == 0
    assert (checked_level(np.float32(0.75)), checked_seed(np.int64(3))) == (0.75, 3), "as NumPy counts"


@pytest.mark.parametrize("seed", [-1, 1.0, True, "0"])
def test_a_seed_that_is_none_is_refused(seed: int) -> None:
    with pytest.raises(UsageError, match="seed must be a whole number"):
        checked_seed(seed)
    with pytest.raises(UsageError, match="seed must be a whole number"):
        INTERVALS.parse("BCa").of([0.1, 0.2], seed=seed)


def test_undefined_p_values_stay_and_do_not_count() -> None:
    for kind in CORRECTIONS.classes.values():
        found = kind().corrected([np.nan, 0.04, 0.01, np.nan, 0.03])
        alone = kind().corrected([0.04, 0.01, 0.03])
        np.testing.assert_array_equal(found, [np.nan, alone[0], alone[1], np.nan, alone[2]])


def test_a_family_without_p_values_stays_empty() -> None:
    for kind in CORRECTIONS.classes.values():
        assert kind().corrected([]).tolist() == []
        assert np.isnan(kind().corrected([np.nan, np.nan])).all()
