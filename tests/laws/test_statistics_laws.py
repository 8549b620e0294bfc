"""What is true of every test, interval and correction; nothing here names one, but where rules differ."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from leadline.data.registry import Parametric, Registry
from leadline.stats import CORRECTIONS, INTERVALS, TESTS, Correction, Interval, PairedTest

every_test = pytest.mark.parametrize("kind", list(TESTS.classes.values()), ids=str)
every_interval = pytest.mark.parametrize("kind", list(INTERVALS.classes.values()), ids=str)
every_correction = pytest.mark.parametrize("kind", list(CORRECTIONS.classes.values()), ids=str)
few = examples(20)

# Twentieths, so that ties and zeros are frequent, with gaps.
twentieths = st.integers(-20, 20).map(lambda number: number / 20)
gapped = st.lists(st.one_of(twentieths, st.just(float("nan"))), max_size=20)
shares = st.lists(
    st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda number: number / 20)), min_size=1, max_size=30
)
DRAWS = 199


def forms(kind: type[Parametric]) -> list[Parametric]:
    """Return a class with its defaults and with every parameter changed in turn."""
    found = [kind()]
    for name, parameter in kind.parameters().items():
        default = parameter.default
        options: list[object] = [*parameter.options, *parameter.words]
        if not options:
            assert isinstance(default, (int, float))
            options = [parameter.read(default + 1), parameter.read(max(parameter.low or 1, 99))]
        found += [kind(**{name: option}) for option in options]
    return found


def quick(kind: type[PairedTest]) -> list[PairedTest]:
    """Return the forms of a test, with few draws where it draws."""
    few_draws = {"draws": DRAWS} if "draws" in kind.parameters() else {}
    return [form.replace(**few_draws) for form in forms(kind)]


def pairs_of_everything() -> list[tuple[Registry[Parametric], type[Parametric]]]:
    """Return every class with its registry."""
    registries: list[Registry[Parametric]] = [TESTS, INTERVALS, CORRECTIONS]  # type: ignore[list-item]
    return [(registry, kind) for registry in registries for kind in registry.classes.values()]


@pytest.mark.parametrize(("registry", "kind"), pairs_of_everything(), ids=str)
def test_its_text_is_read_back_as_itself(registry: Registry[Parametric], kind: type[Parametric]) -> None:
    for form in forms(kind):
        twin = registry.parse(str(form))
        assert twin == form
        assert hash(twin) == hash(form)
        assert pickle.loads(pickle.dumps(form)) == copy.copy(form) == form
    assert len({str(form) for form in forms(kind)}) == len(set(forms(kind)))


@every_test
@few
@given(values=gapped, seed=st.integers(0, 5))
def test_p_lies_above_zero_and_up_to_one_or_is_undefined(
    kind: type[PairedTest], values: list[float], seed: int
) -> None:
    for test in quick(kind):
        p = test.p(values, seed=seed)
        assert np.isnan(p) or 0 < p <= 1
        if not np.isfinite(values).any():
            assert np.isnan(p)
        elif not np.nan_to_num(values).any() and np.isfinite(values).sum() > 1:
            assert p == 1


@every_test
@few
@given(values=gapped)
def test_exchanging_the_runs_leaves_p(kind: type[PairedTest], values: list[float]) -> None:
    for test in quick(kind):
        one, other = test.p(values), test.p([-value for value in values])
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)


@every_test
@few
@given(values=gapped, power=st.integers(-3, 3))
def test_doubling_and_halving_leave_p(kind: type[PairedTest], values: list[float], power: int) -> None:
    for test in quick(kind):
        one, other = test.p(values), test.p([value * 2.0**power for value in values])
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)


@every_test
@few
@given(values=gapped, factor=st.floats(0.01, 100))
def test_any_other_unit_leaves_p(kind: type[PairedTest], values: list[float], factor: float) -> None:
    for test in quick(kind):
        one, other = test.p(values), test.p([value * factor for value in values])
        # a resample whose t ties with the one seen may fall to either side
        allowed = 3 / DRAWS if kind.__name__ == "Bootstrap" else 1e-9
        assert one == pytest.approx(other, abs=allowed, nan_ok=True)


@every_test
@few
@given(values=st.lists(twentieths, max_size=9), data=st.data())
def test_the_order_of_queries_does_not_matter(
    kind: type[PairedTest], values: list[float], data: st.DataObject
) -> None:
    other = data.draw(st.permutations(values))
    for test in forms(kind):
        assert isinstance(test, PairedTest)
        draws = getattr(test, "draws", None)
        if draws is None or (kind.__name__ == "Randomisation" and draws >= 2**9):
            assert test.p(values) == pytest.approx(test.p(other), abs=1e-9, nan_ok=True)


@every_test
@few
@given(values=st.lists(twentieths, min_size=2, max_size=9))
def test_an_undefined_query_at_the_end_is_no_query(kind: type[PairedTest], values: list[float]) -> None:
    for test in quick(kind):
        if kind.__name__ == "Randomisation" and 2 ** len(values) > DRAWS:
            continue  # it draws signs for the undefined query too
        longer = [*values, float("nan")]
        assert test.p(values) == pytest.approx(test.p(longer), abs=1e-12, nan_ok=True)


def quick_interval(kind: type[Interval]) -> Interval:
    """Return an interval with few draws where it draws."""
    return kind(**({"draws": DRAWS} if "draws" in kind.parameters() else {}))


levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])


@every_interval
@few
@given(values=gapped, level=levels)
def test_the_lower_limit_is_below_the_upper(kind: type[Interval], values: list[float], level: float) -> None:
    interval = quick_interval(kind)
    low, high = interval.of(values, level=level)
    known = [value for value in values if not np.isnan(value)]
    if len(known) < 2:
        assert np.isnan([low, high]).all()
        return
    assert low <= high
    if kind.__name__ == "Randomisation":  # infinite where too few queries reject nothing
        assert low <= np.mean(known) + 1e-12
        assert np.mean(known) - 1e-12 <= high
    elif "draws" in kind.parameters():  # means of resamples stay among the values
        assert min(known) - 1e-12 <= low
        assert high <= max(known) + 1e-12
    else:
        assert low <= np.mean(known) + 1e-12
        assert np.mean(known) - 1e-12 <= high


@every_interval
@few
@given(
    values=st.lists(twentieths, min_size=2, max_size=20),
    level=levels,
    shift=st.floats(-10, 10),
    factor=st.floats(0.01, 100),
)
def test_it_moves_and_stretches_with_the_values(
    kind: type[Interval], values: list[float], level: float, shift: float, factor: float
) -> None:
    interval = quick_interval(kind)
    low, high = interval.of(values, level=level)
    found = interval.of([value * factor + shift for value in values], level=level)
    assert found == pytest.approx((low * factor + shift, high * factor + shift), abs=1e-8)
    mirrored = interval.of([-value for value in values], level=level)
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)


@every_interval
@few
@given(values=st.lists(twentieths, min_size=2, max_size=20))
def test_a_higher_level_is_wider(kind: type[Interval], values: list[float]) -> None:
    interval = quick_interval(kind)
    inner, outer = interval.of(values, level=0.8), interval.of(values, level=0.95)
    assert outer[0] <= inner[0] + 1e-12
    assert inner[1] <= outer[1] + 1e-12


@every_correction
@few
@given(p=shares)
def test_a_corrected_p_is_never_below_p_never_above_one_and_keeps_the_order(
    kind: type[Correction], p: list[float]
) -> None:
    found = kind().corrected(p)
    assert (found >= np.array(p) * (1 - 1e-12)).all()
    assert (found <= 1).all()
    assert (np.diff(found[np.argsort(p, kind="stable")]) >= -1e-15).all()


@every_correction
@few
@given(p=shares, data=st.data())
def test_the_order_of_a_family_does_not_matter(
    kind: type[Correction], p: list[float], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(p))))
    found = kind().corrected(np.array(p)[order])
    np.testing.assert_allclose(found, kind().corrected(p)[order], rtol=1e-12)


@every_correction
@given(p=st.floats(0, 1))
def test_a_family_of_one_stays(kind: type[Correction], p: float) -> None:
    assert kind().corrected([p]).tolist() == [p]


@given(p=shares)
def test_corrections_stand_in_their_order(p: list[float]) -> None:
    names = ("none", "BH", "Hochberg", "Holm", "Bonferroni")  # the mildest first
    found = [CORRECTIONS.parse(name).corrected(p) for name in names]
    for milder, harder in pairwise(found):
        assert (milder <= harder * (1 + 1e-12)).all()
