"""Q-measure."""

from __future__ import annotations

import pytest
from hypothesis import given

from agreement import agree, undefined, value
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cases, count_relevant, cut, divide, is_relevant

of = MEASURES.parse


def oracle(case: Case, *, beta: float, rel: float, norm: str, cutoff: int | None) -> float:
    best = sorted((max(grade, 0) for grade in case.grades.values()), reverse=True)
    total, count, gain = 0.0, 0, 0.0
    for rank, name in enumerate(cut(case, cutoff), start=1):
        gain += max(case.grades.get(name, 0), 0)
        if is_relevant(case, name, rel):
            count += 1
            total += (count + beta * gain) / (rank + beta * sum(best[:rank]))
    size = count_relevant(case, rel)
    return divide(total, min(size, cutoff) if norm == "min" and cutoff else size)


def test_it_equals_its_oracle() -> None:
    agree("Q", "Q@2", "Q(beta=10)", "Q(beta=0)@3", "Q(rel=2)", "Q(rel=0)", "Q(norm=min)@2")


def test_by_hand() -> None:
    assert of("Q").of([1, 0, 2]) == pytest.approx((2 / 3 + 5 / 6) / 2)
    assert of("Q").of([3, 2, 1, 0]) == 1
    assert of("Q").of([0, 3], judged=[0, 3, 1]) == pytest.approx((1 + 3) / (2 + 4) / 2)
    assert of("Q(beta=2)").of([0, 1]) == pytest.approx((1 + 2) / (2 + 2))


def test_the_cutoff_divides_by_r_unless_told_otherwise() -> None:
    assert of("Q@1").of([1, 1]) == 0.5
    assert of("Q(norm=min)@1").of([1, 1]) == 1


def test_without_gain_it_is_average_precision() -> None:
    @given(cases().filter(lambda case: bool(case.scores)))
    def check(case: Case) -> None:
        one, two = value(of("Q(beta=0)"), case), value(of("AP"), case)
        assert one == two or (undefined(one) and undefined(two))

    check()


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("Q").of([0, 0]))
    assert of("Q").of([], judged=[1]) == 0


def test_bad_parameters_are_refused_when_parsed() -> None:
    with pytest.raises(UsageError, match="expected a number, 0 or more"):
        of("Q(beta=-1)")


@pytest.mark.parametrize("grades", [[3, 0, 1, 2, 0, 0, 1], [0, 0, 2], [1, 1, 0, 3]])
def test_it_equals_pyntcireval(grades: list[int]) -> None:
    package = pytest.importorskip("pyNTCIREVAL.metrics", reason="pyNTCIREVAL is not installed")
    judged = [*grades, 2, 1, 0]
    counts = [sum(grade == level for grade in judged) for level in range(4)]
    metric = package.QMeasure(counts, [1, 2, 3], 1.0)
    wanted = metric.compute(list(enumerate(grades)))
    assert of("Q").of(grades, judged=judged) == pytest.approx(wanted, rel=1e-12)
