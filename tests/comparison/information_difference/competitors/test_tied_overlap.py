"""Rank-biased overlap with ties: by hand, against loops over the definitions, and the published program."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.comparison.information_difference.similarity_baselines import RBO, RankedLists
from leadline.comparison.information_difference.tied_overlap import TiedList, tied_overlap
from leadline.errors import UsageError

Groups = list[list[str]]  # a ranking: groups of tied documents
PUBLISHED = Path(__file__).parent / "published_rbo.json"
FORMS = ("ext", "min", "max", "res")


def similarity(first: Groups, second: Groups, **options: Any) -> float:
    """Give the value of the package for two rankings."""
    names, ranks = [], []
    for groups in (first, second):
        names.append([name for group in groups for name in group])
        ranks.append([1 + sum(map(len, groups[:place])) for place, group in enumerate(groups) for _ in group])
    return float(RBO(**options).values(RankedLists.of(names, ranks))[0, 1])


def contribution(groups: Groups, name: str, depth: int, ties: str) -> float:
    """Give what a document adds to its list at a depth, as section 3 of the paper defines it."""
    top = 1
    for group in groups:
        bottom = top + len(group) - 1
        if name in group:
            if depth < top:
                return 0.0
            if ties == "w" or depth >= bottom:
                return 1.0
            return (depth - top + 1) / (bottom - top + 1)
        top = bottom + 1
    return 0.0


def by_definition(first: Groups, second: Groups, p: float, ties: str) -> dict[str, float]:
    """Give EXT, MIN, MAX and RES, by loops over depths and documents."""
    short, long = sorted((first, second), key=lambda groups: sum(map(len, groups)))
    order = [[name for group in groups for name in group] for groups in (short, long)]
    s, size = map(len, order)
    names = sorted(set(order[0]) | set(order[1]))
    alone = [name for name in order[1] if name not in order[0]]

    def agreement(depth: int, more: float) -> float:
        one = {name: contribution(short, name, depth, ties) for name in names}
        two = {name: contribution(long, name, depth, ties) for name in names}
        overlap = sum(one[name] * two[name] for name in names) + more
        unseen = max(depth - s, 0)  # untied documents of the shorter list beyond its end
        if ties == "w":
            return 2 * overlap / (sum(one.values()) + unseen + sum(two.values()))
        if ties == "a":
            return overlap / depth
        squares = [sum(value**2 for value in each.values()) for each in (one, two)]
        return overlap / math.sqrt((squares[0] + unseen) * squares[1])

    def more_of(depth: int, form: str) -> float:
        if depth <= s or form == "min":
            return 0.0
        parts = [contribution(long, name, depth, ties) for name in alone]
        if form == "max":
            return sum(parts[: depth - s])
        active = [part for part in parts if part > 0]
        return (depth - s) * agreement(s, 0.0) * sum(active) / len(active)

    common = len(set(order[0]) & set(order[1]))
    found = {}
    for form in FORMS[:3]:
        total = sum(p ** (d - 1) * agreement(d, more_of(d, form)) for d in range(1, size + 1))
        deep = range(size + 1, 500)
        if form == "ext":
            final = (common + (size - s) * agreement(s, 0.0)) / size
            total += sum(p ** (d - 1) * final for d in deep)
        elif form == "min":
            total += sum(p ** (d - 1) * common / d for d in deep)
        else:  # both lists take up what the other has, one document each at every depth
            total += sum(p ** (d - 1) * min(1.0, (2 * d - s - size + common) / d) for d in deep)
        found[form] = (1 - p) * total
    return found | {"res": found["max"] - found["min"]}


@st.composite
def rankings(draw: Any) -> Groups:
    """Give a ranking of some of ten documents, with ties."""
    names = draw(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=10, unique=True))
    together = draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    groups: Groups = []
    for name, tied in zip(names, together, strict=True):
        if groups and tied:
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def test_a_worked_pair() -> None:
    # {a b} against a, b. Depth 1: X is 1 in w and 1/2 in a and b; the sizes are 2 and 1.
    tied, plain = [["a", "b"]], [["a"], ["b"]]
    assert similarity(tied, plain, p=0.5) == pytest.approx(0.5 * 2 / 3 + 0.5, abs=1e-15)
    assert similarity(tied, plain, p=0.5, ties="a") == pytest.approx(0.5 * 1 / 2 + 0.5, abs=1e-15)
    # the squares of the tied list sum to 1/4 + 1/4
    assert similarity(tied, plain, p=0.5, ties="b") == pytest.approx(0.5 * 0.5 / 0.5**0.5 + 0.5, abs=1e-15)


@pytest.mark.usefixtures("form")
@given(first=rankings(), second=rankings(), p=st.sampled_from([0.3, 0.8, 0.9]))
def test_all_variants_are_their_definitions(first: Groups, second: Groups, p: float) -> None:
    for ties in "wab":
        wanted = by_definition(first, second, p, ties)
        for form in FORMS:
            assert similarity(first, second, p=p, ties=ties, form=form) == pytest.approx(
                wanted[form], abs=1e-12
            ), (ties, form)


def test_all_variants_are_those_of_the_published_program() -> None:
    rows = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert len(rows) >= 200
    for row in rows:
        for ties, form in product("wab", FORMS):
            found = similarity(row["x"], row["y"], p=row["p"], ties=ties, form=form)
            assert found == pytest.approx(row[ties][form], abs=1e-12), (row, ties, form)


def orders(groups: Groups) -> Iterator[Groups]:
    """Give the ranking with its ties broken in every way."""
    for parts in product(*(permutations(group) for group in groups)):
        yield [[name] for part in parts for name in part]


@pytest.mark.parametrize("form", ["ext", "min", "max"])
def test_variant_a_is_the_mean_over_all_orders_of_tied_documents(form: str) -> None:
    first, second = [["a", "b", "c"], ["d"]], [["b"], ["d", "e"], ["a"]]
    values = [similarity(one, two, p=0.8, form=form) for one, two in product(orders(first), orders(second))]
    assert similarity(first, second, p=0.8, ties="a", form=form) == pytest.approx(
        sum(values) / len(values), abs=1e-12
    )


@given(ranking=rankings())
def test_a_list_agrees_completely_with_itself_in_w_and_b(ranking: Groups) -> None:
    assert similarity(ranking, ranking, ties="w") == pytest.approx(1.0, abs=1e-12)
    assert similarity(ranking, ranking, ties="b") == pytest.approx(1.0, abs=1e-12)
    if any(len(group) > 1 for group in ranking):
        assert similarity(ranking, ranking, ties="a") < 1


@given(first=rankings(), second=rankings(), p=st.sampled_from([0.5, 0.9]))
def test_the_extrapolated_value_lies_between_the_bounds(first: Groups, second: Groups, p: float) -> None:
    for ties in "wab":
        low, value, high = (
            similarity(first, second, p=p, ties=ties, form=form) for form in ("min", "ext", "max")
        )
        assert low - 1e-12 <= value <= high + 1e-12


def test_persistence_1_is_average_overlap() -> None:
    # agreements of abc and bad at depths 1 to 3: 0, 1, 2/3
    lists = [["a"], ["b"], ["c"]], [["b"], ["a"], ["d"]]
    assert similarity(*lists, p=1.0) == pytest.approx((0 + 1 + 2 / 3) / 3, abs=1e-15)
    tied = [["a", "b"], ["c"]]
    assert similarity(tied, lists[1], p=1.0, ties="a") == pytest.approx((1 / 2 + 1 + 2 / 3) / 3, abs=1e-15)


@pytest.mark.parametrize("options", [{"p": 0.0}, {"p": 1.0, "form": "min"}, {"p": 1.0, "form": "res"}])
def test_what_has_no_value_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RBO(**options)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("p", [0.3, 0.9, 1.0])
def test_the_kernel_equals_the_arrays_on_random_lists_of_different_lengths(p: float) -> None:
    random = np.random.default_rng(int(10 * p))
    for _ in range(20):
        names = [random.permutation(60)[: random.integers(1, 50)].tolist() for _ in range(4)]
        starts = [np.append(True, random.random(len(found) - 1) < 0.4) for found in names]
        ranks = [np.maximum.accumulate(np.where(new, np.arange(len(new)), 0)) + 1 for new in starts]
        found = RBO(p=p).values(RankedLists.of(names, [each.tolist() for each in ranks]))
        for pair in product(range(4), repeat=2):
            short, long = sorted(pair, key=[len(found) for found in names].__getitem__)
            place = {name: rank for rank, name in enumerate(names[long])}
            common = [(rank, place[name]) for rank, name in enumerate(names[short]) if name in place]
            columns = np.array(common, dtype=np.int64).reshape(-1, 2).T
            one, other = TiedList.of(ranks[short]), TiedList.of(ranks[long])
            expected = tied_overlap(one, other, (columns[0], columns[1]), p=p, ties="w", bounded=False).ext
            assert found[pair] == pytest.approx(expected, abs=1e-12)
