"""What people compare lists with: worked by hand, against slow loops, and against SciPy."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from leadline.comparison.difference import difference
from leadline.comparison.similarity_baselines import (
    RBO,
    SIMILARITIES,
    Jaccard,
    Kendall,
    Overlap,
    RankedLists,
    correlations,
    distances,
    parse_competitors,
    system_lists,
)
from leadline.data.ids import DocumentNumbers, Ids
from leadline.data.judged_run import JudgedRun
from leadline.data.run import MatchedLists
from leadline.errors import UsageError
from leadline.io.objects import Qrels
from strategies import FORMS, ORIGINAL, Colliding, Interpreted, in_form

LISTS = st.permutations("abcdefgh").flatmap(
    lambda names: st.integers(0, len(names)).map(lambda size: names[:size])
)
PUBLISHED = Path(__file__).parent / "published_rbo.json"


def agreement(first: list[str], second: list[str], depth: int) -> float:
    return len(set(first[:depth]) & set(second[:depth])) / depth


@pytest.mark.usefixtures("form")
@given(first=LISTS, second=LISTS, p=st.sampled_from([0.5, 0.8, 0.95]))
def test_extrapolated_rbo_is_equation_32(first: list[str], second: list[str], p: float) -> None:
    short, long = sorted((first, second), key=len)
    if not short:
        return
    s, many = len(short), len(long)
    x = [
        len(set(short) & set(long[:d])) if d > s else d * agreement(short, long, d)
        for d in range(1, many + 1)
    ]
    total = sum(x[d - 1] / d * p**d for d in range(1, many + 1))
    total += sum(x[s - 1] * (d - s) / (s * d) * p**d for d in range(s + 1, many + 1))
    value = (1 - p) / p * total + ((x[-1] - x[s - 1]) / many + x[s - 1] / s) * p**many
    assert RBO(p=p).of(first, second) == pytest.approx(value, abs=1e-12)


def test_tied_documents_come_in_together() -> None:
    # a and b share a score in the first list: both are in at depth 1, where the second has a.
    ranked = RankedLists.of([["a", "b"], ["a", "b"]], [[1, 1], [1, 2]])
    # depth 1: 2 * 1 / (2 + 1), from depth 2 on: 1
    assert RBO(p=0.5).values(ranked)[0, 1] == pytest.approx(0.5 * 2 / 3 + 0.5, abs=1e-15)


def test_values_are_those_of_the_published_program() -> None:
    rows = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert len(rows) >= 200
    for row in rows:
        names = [[name for group in groups for name in group] for groups in (row["x"], row["y"])]
        ranks = [
            [1 + sum(map(len, groups[:place])) for place, group in enumerate(groups) for _ in group]
            for groups in (row["x"], row["y"])
        ]
        found = RBO(p=row["p"]).values(RankedLists.of(names, ranks))[0, 1]
        assert found == pytest.approx(row["value"], abs=1e-12), row


def test_persistence_1_is_average_overlap_and_0_is_refused() -> None:
    # agreements at depths 1 to 3: 0, 1, 2/3
    assert RBO(p=1.0).of(["a", "b", "c"], ["b", "a", "d"]) == pytest.approx((0 + 1 + 2 / 3) / 3, abs=1e-15)
    with pytest.raises(UsageError):
        RBO(p=0.0)


def slow_rbo(lists: list[list[str]], entry: list[list[int]], p: float) -> float:
    """Sum agreements, with A:d the documents whose group of tied ones begins at rank d or above."""
    lower, upper = sorted(map(len, lists))
    total = last = rate = 0.0
    for d in range(1, upper + 1):
        tops = [
            {name for name, rank in zip(names, ranks, strict=True) if rank <= d}
            for names, ranks in zip(lists, entry, strict=True)
        ]
        common = len(tops[0] & tops[1])
        if d <= lower:
            last = rate = 2 * common / (len(tops[0]) + len(tops[1]))
        else:
            last = 2 * (common + rate * (d - lower)) / (d + max(map(len, tops)))
        total += (1 - p) * p ** (d - 1) * last
    return total + last * p**upper


@st.composite
def tied_lists(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    """Return a list and the first rank of the group of tied documents of each document."""
    names = draw(LISTS)
    ranks = [1]
    for rank in range(2, len(names) + 1):
        ranks.append(ranks[-1] if draw(st.booleans()) else rank)
    return names, ranks[: len(names)]


@pytest.mark.usefixtures("form")
@given(found=st.lists(tied_lists(), min_size=2, max_size=4), p=st.sampled_from([0.1, 0.8, 0.95]))
def test_extrapolated_rbo_of_tied_lists_is_a_loop_over_depths(
    found: list[tuple[list[str], list[int]]], p: float
) -> None:
    lists, entry = [names for names, _ in found], [ranks for _, ranks in found]
    values = RBO(p=p).values(RankedLists.of(lists, entry))
    for i, j in np.ndindex(values.shape):
        if lists[i] or lists[j]:
            wanted = slow_rbo([lists[i], lists[j]], [entry[i], entry[j]], p)
            assert values[i, j] == pytest.approx(wanted, abs=1e-14)
        else:
            assert math.isnan(values[i, j])


def judged_lists(runs: list[list[list[int]]]) -> list[JudgedRun]:
    """Return runs of two queries whose joins keep their lists, with repeats as `hold` keeps them."""
    qrels = Qrels({"q1": {"d1": 1}, "q2": {"d1": 1}})
    return [
        JudgedRun.of_lists(
            qrels,
            [
                MatchedLists(
                    np.arange(2),
                    np.cumsum([0, *map(len, lists)], dtype=np.int64),
                    np.full(sum(map(len, lists)), -1, dtype=np.int32),
                    -np.arange(sum(map(len, lists)), dtype=np.float64),
                    Ids.of(f"d{number}".encode() for listed in lists for number in listed),
                )
            ],
            keep=True,
        )
        for lists in runs
    ]


RUNS = st.lists(
    st.lists(st.lists(st.integers(0, 12), max_size=12), min_size=2, max_size=2), min_size=1, max_size=4
)


@pytest.mark.parametrize(
    "kernel", [*FORMS, *(() if ORIGINAL is None else (Colliding(ORIGINAL),)), Interpreted()]
)
@given(runs=RUNS)
def test_documents_of_one_id_have_one_number_and_repeats_one_of_their_own(
    kernel: Any, runs: list[list[list[int]]]
) -> None:
    with in_form(kernel):
        numbers = DocumentNumbers()
        found = [system_lists(judged, numbers).document.tolist() for judged in judged_lists(runs)]
    by_id: dict[int, int] = {}
    used: set[int] = set()
    for lists, document in zip(runs, found, strict=True):
        rest = iter(document)
        for listed in lists:
            seen: set[int] = set()
            for name in listed:
                number = next(rest)
                if name in seen:
                    assert number not in used
                else:
                    assert by_id.setdefault(name, number) == number
                seen.add(name)
                used.add(number)
    assert len(set(by_id.values())) == len(by_id)


@pytest.mark.skipif(ORIGINAL is None, reason="the kernels are not compiled here")
def test_compiled_kernels_give_the_same() -> None:
    rng = np.random.default_rng(3)
    runs = {
        name: {
            query: {f"d{number}": float(rng.integers(9)) for number in rng.permutation(40)[:30].tolist()}
            for query in ("q1", "q2")
        }
        for name in "abc"
    }
    qrels = {query: {f"d{number}": int(rng.integers(3)) for number in range(40)} for query in ("q1", "q2")}
    results = []
    for kernel in (ORIGINAL, None):
        with in_form(kernel):
            results.append(difference(qrels, runs))
    compiled, plain = results
    assert plain.mean_id == pytest.approx(compiled.mean_id, abs=5e-16)
    for name, table in compiled.competitors.items():
        assert plain.competitors[name] == pytest.approx(table, abs=1e-15)


@given(found=LISTS)
def test_a_list_is_most_like_itself(found: list[str]) -> None:
    if len(found) < 2:
        return
    assert RBO().of(found, found) == pytest.approx(1.0, abs=1e-12)
    assert Jaccard().of(found, found) == 1.0
    assert Kendall().of(found, found) == 1.0
    assert Kendall().of(found, found[::-1]) == -1.0
    assert Overlap(cutoff=len(found)).of(found, found) == 1.0


@pytest.mark.usefixtures("form")
@given(first=LISTS, second=LISTS)
def test_tau_of_common_documents_is_scipys(first: list[str], second: list[str]) -> None:
    shared = [name for name in first if name in second]
    found = Kendall().of(first, second)
    if len(shared) < 2:
        assert math.isnan(found)
        return
    places = [second.index(name) for name in shared]
    assert found == pytest.approx(kendalltau(range(len(shared)), places).statistic, abs=1e-12)


@given(first=LISTS, second=LISTS, k=st.integers(1, 10))
def test_overlap_and_jaccard_count_sets(first: list[str], second: list[str], k: int) -> None:
    one, two = set(first[:k]), set(second[:k])
    assert Overlap(cutoff=k).of(first, second) == pytest.approx(len(one & two) / k, abs=1e-15)
    found = Jaccard(cutoff=k).of(first, second)
    assert math.isnan(found) if not one | two else found == len(one & two) / len(one | two)


def test_lists_that_are_empty_have_no_likeness() -> None:
    assert all(math.isnan(one.of([], [])) for one in (RBO(), Jaccard(), Kendall()))
    assert RBO().of([], ["a"]) == Jaccard().of([], ["a"]) == 0.0


@given(values=st.integers(2, 6))
def test_correlations_are_numpys(values: int) -> None:
    table = np.random.default_rng(values).random((4, values))
    assert correlations(table) == pytest.approx(np.corrcoef(table), abs=1e-12)


def test_a_system_with_one_value_has_no_correlation() -> None:
    found = correlations(np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.3]]))
    assert np.isnan(found).tolist() == [[True, True], [True, False]]


def test_distances_average_before_nothing_is_subtracted() -> None:
    # Equal means, different queries.
    assert distances(np.array([[0.2, 0.4], [0.4, 0.2]]))[0, 1] == pytest.approx(0.2)


def test_the_default_follows_the_cutoff() -> None:
    assert list(map(str, parse_competitors(None, 20))) == ["Jaccard@20", "Overlap@20", "RBO", "Kendall"]
    assert list(map(str, parse_competitors(["rbo(p=0.8)"], None))) == ["RBO(p=0.8)"]


def test_an_unknown_competitor_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean Jaccard"):
        parse_competitors(["jacard"], None)
    with pytest.raises(UsageError, match="a list of names"):
        parse_competitors("RBO", None)


def test_every_competitor_says_what_it_is() -> None:
    names = list(SIMILARITIES.classes)
    assert all(a.lower() < b.lower() for a, b in pairwise(names))
    for kind in SIMILARITIES.classes.values():
        assert kind.title
