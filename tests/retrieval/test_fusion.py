"""Fusion: worked examples, a slow twin with dictionaries, values of the tests of ranx, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from statistics import mean, median, pstdev
from typing import Any, cast

import numpy as np
import pytest

from leadline.errors import InputError, UsageError
from leadline.io.objects import Run
from leadline.retrieval import fusion_methods
from leadline.retrieval.fusion import fuse
from leadline.retrieval.fusion_lists import NORMALISATIONS, FusionLists, normalised
from leadline.retrieval.fusion_methods import FUSIONS

Lists = dict[str, dict[str, float]]
Scores = dict[str, float]

EXAMPLE: list[Lists] = [{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 5.0, "a": 4.0}}, {"q": {"c": 2.0}}]
# Worked by hand, as in the docstrings of the methods.
BY_HAND: dict[str, Scores] = {
    "CombSUM": {"a": 7, "b": 7, "c": 3},
    "CombMNZ": {"a": 14, "b": 14, "c": 6},
    "CombMNZ(gamma=0)": {"a": 7, "b": 7, "c": 3},
    "CombANZ": {"a": 3.5, "b": 3.5, "c": 1.5},
    "CombMED": {"a": 3.5, "b": 3.5, "c": 1.5},
    "CombMAX": {"a": 4, "b": 5, "c": 2},
    "CombMIN": {"a": 3, "b": 2, "c": 1},
    "Mixed": {"a": 7 * math.sqrt(2), "b": 7 * math.sqrt(2), "c": 3 * math.sqrt(2)},
    "RRF": {"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 61, "c": 1 / 63 + 1 / 61},
    "ISR": {"a": 2.5, "b": 2.5, "c": 20 / 9},
    "LogISR": {"a": 1.25 * math.log(2), "b": 1.25 * math.log(2), "c": 10 / 9 * math.log(2)},
    "RBC": {"a": 0.36, "b": 0.36, "c": 0.328},
    "Borda": {"a": 6.5, "b": 6.5, "c": 5},
    "Condorcet": {"a": 2.5, "b": 2.5, "c": 1},
}


def of(method: str) -> str | None:
    return "none" if FUSIONS.parse(method).uses_scores else None


@pytest.mark.parametrize("method", BY_HAND)
def test_the_worked_example_has_the_values_of_the_docstring(method: str) -> None:
    fused = fuse(EXAMPLE, method, normalise=of(method)).to_dict()["q"]
    assert fused == pytest.approx(BY_HAND[method], rel=1e-14)
    assert list(fused) == sorted(fused, key=lambda name: (fused[name], name), reverse=True)


def test_every_method_has_a_worked_example_and_a_twin() -> None:
    assert {method.split("(")[0] for method in BY_HAND} == set(FUSIONS.classes) == set(TWINS)


# The slow twin: one document at a time, from dictionaries in rank order.


def ranked(scores: Scores) -> list[str]:
    return sorted(scores, key=lambda name: (scores[name], name), reverse=True)


def normal(lists: list[Scores], name: str) -> list[Scores]:
    every = {document for scores in lists for document in scores}
    return [_normal(scores, name, every) for scores in lists]


def _normal(scores: Scores, name: str, every: set[str]) -> Scores:
    values, n = list(scores.values()), len(scores)
    place = {document: rank for rank, document in enumerate(ranked(scores))}
    low, high = min(values, default=0.0), max(values, default=0.0)
    if name == "borda" and not scores:
        return {}
    if name == "borda":
        return {
            document: 1 - place[document] / len(every)
            if document in scores
            else 0.5 - (n - 1) / (2 * len(every))
            for document in every
        }
    if name in ("rank", "max", "none"):
        divided = {"rank": n, "max": high, "none": 1}[name]
        return {
            document: (n - place[document] if name == "rank" else score) / divided
            for document, score in scores.items()
        }
    if low == high:
        return dict.fromkeys(scores, 0.0)
    if name == "z":
        return {document: (score - mean(values)) / pstdev(values) for document, score in scores.items()}
    whole = high - low if name == "min-max" else math.fsum(value - low for value in values)
    return {document: (score - low) / whole for document, score in scores.items()}


class Votes:
    """What is known of one document in one query."""

    def __init__(
        self, document: str, lists: list[Scores], originals: list[Scores], weights: list[float]
    ) -> None:
        self.document, self.lists, self.originals, self.weights = document, lists, originals, weights
        held = [index for index, scores in enumerate(lists) if document in scores]
        self.s = [lists[index][document] for index in held]
        self.w = [weights[index] for index in held]
        self.ws = math.fsum(weight * score for weight, score in zip(self.w, self.s, strict=True))
        self.n = len(held)

    def by_rank(self, value: Callable[[int], float]) -> float:
        return math.fsum(
            weight * value(ranked(scores).index(self.document) + 1)
            for weight, scores in zip(self.weights, self.originals, strict=True)
            if self.document in scores
        )


def borda(votes: Votes) -> float:
    every = {document for scores in votes.originals for document in scores}
    total = 0.0
    for weight, scores in zip(votes.weights, votes.originals, strict=True):
        if votes.document in scores:
            total += weight * (len(every) - ranked(scores).index(votes.document))
        elif scores:
            total += weight * (len(every) - len(scores) + 1) / 2
    return total


def condorcet(votes: Votes) -> float:
    every = {document for scores in votes.originals for document in scores} - {votes.document}
    points = 1.0
    for other in every:
        margin = 0.0
        for weight, scores in zip(votes.weights, votes.originals, strict=True):
            order = ranked(scores)
            places = [order.index(one) if one in order else len(every) + 9 for one in (votes.document, other)]
            margin += weight * ((places[0] < places[1]) - (places[0] > places[1]))
        points += 1 if margin > 1e-9 else 0.5 if margin > -1e-9 else 0
    return points


TWINS: dict[str, Callable[[Votes], float]] = {
    "CombSUM": lambda votes: votes.ws,
    "CombMNZ": lambda votes: math.fsum(votes.s) * math.fsum(votes.w),
    "CombANZ": lambda votes: votes.ws / math.fsum(votes.w),
    "CombMED": lambda votes: median(votes.s),
    "CombMAX": lambda votes: max(votes.s),
    "CombMIN": lambda votes: min(votes.s),
    "Mixed": lambda votes: votes.ws * math.sqrt(votes.n),
    "RRF": lambda votes: votes.by_rank(lambda rank: 1 / (60 + rank)),
    "ISR": lambda votes: votes.by_rank(lambda rank: 1 / rank**2) * votes.n,
    "LogISR": lambda votes: votes.by_rank(lambda rank: 1 / rank**2) * math.log(votes.n),
    "RBC": lambda votes: votes.by_rank(lambda rank: 0.2 * 0.8 ** (rank - 1)),
    "Borda": borda,
    "Condorcet": condorcet,
}


def random_runs(generator: np.random.Generator, *, low: int = 0) -> list[Lists]:
    names = [f"d{number}" for number in range(int(generator.integers(2, 12)))]
    runs = []
    for _ in range(int(generator.integers(2, 6))):
        lists: Lists = {}
        for query in ("q1", "q2", "q3"):
            chosen = [name for name in names if generator.random() < 0.6]
            if chosen and generator.random() < 0.85:
                lists[query] = {name: float(generator.integers(low, 8)) for name in chosen}
        runs.append(lists or {"q1": {"d0": 1.0}})
    return runs


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", FUSIONS.classes)
def test_random_runs_with_ties_have_the_values_of_the_twin(method: str, *, weighted: bool) -> None:
    if weighted and not FUSIONS.parse(method).weighted:
        return
    generator = np.random.default_rng(len(method))
    names = NORMALISATIONS if FUSIONS.parse(method).uses_scores else [None]
    for _ in range(6):
        for name in names:
            runs = random_runs(generator, low=1 if name == "max" else -3)
            weights = [float(generator.integers(1, 5)) / 4 if weighted else 1.0 for _ in runs]
            fused = fuse(runs, method, normalise=name, weights=weights if weighted else None)
            for query in sorted({query for run in runs for query in run}):
                originals = [run.get(query, {}) for run in runs]
                lists = normal(originals, name) if name else originals
                expected = {
                    document: TWINS[method](Votes(document, lists, originals, weights))
                    for document in {document for scores in originals for document in scores}
                }
                assert fused[query] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("method", ["RRF", "CombSUM", "ISR", "RBC", "CombANZ"])
def test_the_order_of_the_runs_changes_no_bit_of_the_result(method: str) -> None:
    generator = np.random.default_rng(5)
    runs = [{"q": {f"d{n}": float(generator.random()) for n in range(40)}} for _ in range(4)]
    first = fuse(runs, method).to_dict()
    for order in permutations(runs):
        assert fuse(list(order), method).to_dict() == first
        assert list(fuse(list(order), method)["q"]) == list(first["q"])


def test_a_run_of_weight_zero_is_left_out() -> None:
    first, second = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"c": 9.0, "a": 1.0}}
    assert list(fuse([first, second], "CombSUM", weights=[1, 0])["q"]) == ["a", "b"]


def test_a_query_that_runs_lack_is_fused_from_the_others_and_counted() -> None:
    fused = fuse({"a": {"q1": ["d1"], "q2": ["d2"]}, "b": {"q1": ["d2"]}}, "RRF")
    assert fused.to_dict()["q2"] == {"d2": pytest.approx(1 / 61, rel=1e-13)}
    assert [(one.code, one.count) for one in fused.warnings] == [("missing_queries", 1)]


def test_a_query_of_unused_runs_alone_is_left_out_and_counted() -> None:
    first, second = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"a": 1.0}}, {"q1": {"b": 1.0}, "q0": {}}
    fused = fuse([first, second], weights=[0, 1])
    assert {query: list(found) for query, found in fused.to_dict().items()} == {"q0": [], "q1": ["b"]}
    message = "left out 1 query found only in runs with weight 0"
    assert [(one.code, one.message) for one in fused.warnings] == [("unused_queries", message)]


def test_lists_of_equal_scores_and_negative_scores_are_counted() -> None:
    equal = fuse([{"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}], "CombSUM")
    assert [(one.code, one.count) for one in equal.warnings] == [("equal_scores", 1)]
    negative = fuse([{"q": {"a": -1.0}}, {"q": {"a": 2.0, "b": -1.0}}], "CombSUM", normalise="none")
    assert [(one.code, one.count) for one in negative.warnings] == [("negative_scores", 2)]
    for method in ("CombMAX", "CombANZ"):  # no sums
        assert not fuse([{"q": {"a": -1.0}}, {"q": {"a": 2.0, "b": -1.0}}], method, normalise="none").warnings


def test_depth_keeps_the_best_documents_of_each_query() -> None:
    runs = [{"q": ["a", "b", "c"], "r": ["a"]}, {"q": ["a", "b", "d"]}]
    assert {query: list(found) for query, found in fuse(runs, depth=2).to_dict().items()} == {
        "q": ["a", "b"],
        "r": ["a"],
    }


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fuse([EXAMPLE[0]]), "at least two runs"),
        (lambda: fuse("a.run"), "fusion needs at least two runs, not 1"),
        (lambda: fuse(EXAMPLE, "RFF"), "unknown fusion method 'RFF'. Did you mean RRF"),
        (lambda: fuse(EXAMPLE, "RRF", normalise="max"), "uses only ranks. Use CombANZ"),
        (lambda: fuse(EXAMPLE, "CombSUM", normalise="minmax"), "not 'minmax'"),
        (lambda: fuse(EXAMPLE, "CombMAX", weights=[1, 1, 1]), "takes no weights. To weight runs, use Borda"),
        (lambda: fuse(EXAMPLE, weights=[1, 1]), "3 runs cannot have 2 weights"),
        (lambda: fuse(EXAMPLE, weights=[1, -1, 1]), "weights must be numbers of 0 or more, not -1"),
        (lambda: fuse(EXAMPLE, weights=[1, math.inf, 1]), "weights must be numbers of 0 or more, not inf"),
        (lambda: fuse(EXAMPLE, weights=[1, True, 1]), "weights must be numbers of 0 or more, not True"),
        (lambda: fuse(EXAMPLE, weights=[1, 10**400, 1]), "weights must be numbers of 0 or more, not 10000"),
        (lambda: fuse(EXAMPLE, weights=cast("Any", "1,2,3")), "weights must be a list of numbers"),
        (lambda: fuse(EXAMPLE, weights=[0, 0, 0]), "at least one weight must be above 0"),
        (lambda: fuse(EXAMPLE, on_duplicate="hold"), "refuse, first, last or max"),
        (lambda: fuse("a.run", "b.run"), "'b.run' is not a fusion method. In Python, pass all"),
        (lambda: fuse(*EXAMPLE[:2]), "type dict is not a fusion method"),  # type: ignore[arg-type]  # it is not
    ],
)
def test_what_cannot_be_fused_is_refused_in_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        call()
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_with_the_name_of_a_method_is_no_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "RRF").touch()
    assert list(fuse(EXAMPLE, "RRF")) == list(fuse(EXAMPLE, "RRF(k=60)"))


def test_scores_that_are_dropped_are_counted_as_documents() -> None:
    fused = fuse([{"q": {"a": 1.0, "b": math.nan}}, {"q": {"a": 1.0}}], on_nan="drop")
    assert [(one.code, one.count, str(one)) for one in fused.warnings] == [
        ("dropped_scores", 1, "1 document with score NaN in run (dropped as requested)")
    ]


def test_documents_that_are_their_query_are_dropped_and_counted() -> None:
    runs = [{"a": {"a": 2.0, "b": 1.0}}, {"a": {"b": 1.0}}]
    fused = fuse(runs, drop_identical_ids=True)
    assert list(fused.to_dict()["a"]) == ["b"]
    assert [(one.code, one.count) for one in fused.warnings] == [("identical_ids", 1)]


def test_scores_that_cannot_be_normalised_are_refused_with_query_and_run() -> None:
    runs = {"a": {"q": {"d": -2.0}}, "b": {"q": {"d": 1.0}}}
    with pytest.raises(
        InputError, match=r"needs a score above 0, but the largest score for query 'q' in run 'a' is -2"
    ):
        fuse(runs, "CombSUM", normalise="max")
    with pytest.raises(
        InputError, match=r"'d' for query 'q' in run 'a' has the score inf, which is not finite"
    ):
        fuse({"a": {"q": {"d": math.inf}}, "b": {"q": {"d": 1.0}}}, "CombSUM")


# Values of the unit tests of ranx (fusion and normalisation), as facts: runs, method, options, values.
ONE: list[Lists] = [
    {"q1": {"d1": 1, "d2": 2, "d3": 3}, "q2": {"d1": 1, "d2": 2}},
    {"q1": {"d1": 3, "d2": 2}, "q2": {"d1": 1, "d3": 3}},
    {"q1": {"d3": 1}, "q2": {"d2": 2, "d3": 3}},
]
TWO: list[Lists] = [
    ONE[0],
    {"q1": {"d1": 2, "d2": 3}, "q2": {"d1": 1, "d3": 3}},
    {"q1": {"d3": 3}, "q2": ONE[2]["q2"]},
]
LOG, LOGN, ROOT = math.log(2), math.log(2.1), math.sqrt(2)
RANX: list[tuple[list[Lists], str, list[float] | None, list[list[float]]]] = [
    (ONE, "CombSUM", None, [[4, 4, 4], [2, 4, 6]]),
    (ONE, "CombANZ", None, [[2, 2, 2], [1, 2, 3]]),
    (ONE, "CombMNZ", None, [[8, 8, 8], [4, 8, 12]]),
    (ONE, "CombMNZ(gamma=1)", None, [[8, 8, 8], [4, 8, 12]]),
    (ONE, "CombMNZ(gamma=0)", None, [[4, 4, 4], [2, 4, 6]]),
    (ONE, "CombMAX", None, [[3, 2, 3], [1, 2, 3]]),
    (ONE, "CombMIN", None, [[1, 2, 1], [1, 2, 3]]),
    (ONE, "CombMED", None, [[2, 2, 2], [1, 2, 3]]),
    (ONE, "ISR", None, [[20 / 9, 1, 4], [1, 2.5, 4]]),
    (ONE, "LogISR", None, [[10 / 9 * LOG, 0.5 * LOG, 2 * LOG], [0.5 * LOG, 1.25 * LOG, 2 * LOG]]),
    (
        ONE,
        "LogISR(sigma=0.1)",
        None,
        [[10 / 9 * LOGN, 0.5 * LOGN, 2 * LOGN], [0.5 * LOGN, 1.25 * LOGN, 2 * LOGN]],
    ),
    (ONE, "RRF", None, [[1 / 63 + 1 / 61, 2 / 62, 2 / 61], [2 / 62, 1 / 61 + 1 / 62, 2 / 61]]),
    (ONE, "Borda", None, [[5.5, 5.5, 7], [5, 6, 7]]),
    (ONE, "Borda", [1, 1, 1], [[5.5, 5.5, 7], [5, 6, 7]]),
    (ONE, "Borda", [3, 2, 1], [[10.5, 11.5, 14], [11, 13, 12]]),
    (ONE, "CombSUM", [0.3, 0.2, 0.5], [[0.9, 1.0, 1.4], [0.5, 1.6, 2.1]]),
    (ONE, "CombMNZ", [1, 1, 1], [[8, 8, 8], [4, 8, 12]]),
    (ONE, "CombMNZ", [0.3, 0.2, 0.5], [[2, 2, 3.2], [1, 3.2, 4.2]]),
    (ONE, "Mixed", [1, 1, 1], [[4 * ROOT, 4 * ROOT, 4 * ROOT], [2 * ROOT, 4 * ROOT, 6 * ROOT]]),
    (ONE, "Mixed", [0.3, 0.2, 0.5], [[0.9 * ROOT, ROOT, 1.4 * ROOT], [0.5 * ROOT, 1.6 * ROOT, 2.1 * ROOT]]),
    (TWO, "Condorcet", None, [[1, 2, 3], [1, 2, 3]]),
    (TWO, "Condorcet", [1, 1, 1], [[1, 2, 3], [1, 2, 3]]),
    (TWO, "Condorcet", [1, 5, 2], [[2, 3, 1], [2, 1, 3]]),
]


@pytest.mark.parametrize(("runs", "method", "weights", "values"), RANX)
def test_the_values_are_those_of_the_tests_of_ranx(
    runs: list[Lists], method: str, weights: list[float] | None, values: list[list[float]]
) -> None:
    fused = fuse(runs, method, normalise=of(method), weights=weights).to_dict()
    assert fused == {
        query: pytest.approx(dict(zip(("d1", "d2", "d3"), found, strict=True)), rel=1e-14)
        for query, found in zip(("q1", "q2"), values, strict=True)
    }


@pytest.mark.parametrize(
    ("p", "values"),
    [
        (0.6, {"A": 0.89, "D": 0.86, "B": 0.78, "G": 0.50, "E": 0.31, "C": 0.29, "F": 0.11}),
        (0.8, {"D": 0.61, "A": 0.50, "B": 0.49, "C": 0.37, "G": 0.36, "E": 0.31, "F": 0.21}),
        (0.9, {"D": 0.35, "C": 0.28, "A": 0.27, "B": 0.27, "G": 0.23, "E": 0.22, "F": 0.18}),
    ],
)
def test_rank_biased_centroids_have_the_values_of_the_paper(p: float, values: Scores) -> None:
    lists = ["ADBCGF", "BDEC", "ABDCGFE", "GDEAFC"]
    fused = fuse([{"q1": list(letters)} for letters in lists], f"RBC(p={p})")["q1"]
    assert {name: round(score, 2) for name, score in fused.items()} == values


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("max", [[1 / 3, 2 / 3, 1], [1 / 2, 1]]),
        ("min-max", [[0, 1 / 2, 1], [0, 1]]),
        ("sum", [[0, 1 / 3, 2 / 3], [0, 1]]),
        ("rank", [[1 / 3, 2 / 3, 1], [1 / 2, 1]]),
        ("z", [[-1 / 0.816496580927726, 0, 1 / 0.816496580927726], [-1, 1]]),
    ],
)
def test_normalised_scores_are_those_of_the_tests_of_ranx(name: str, values: list[list[float]]) -> None:
    lists = normalised(FusionLists([Run(ONE[0])]), name)
    assert lists.score.tolist() == pytest.approx([*values[0], *values[1]], abs=1e-15)


def test_the_normalisation_borda_gives_every_run_every_candidate() -> None:
    lists = normalised(FusionLists([Run(run) for run in ONE]), "borda")
    by_run: list[list[float]] = [lists.score[lists.source == run].tolist() for run in range(3)]
    expected: list[list[float]] = [[1, 2, 3, 2, 3, 1], [3, 2, 1, 2, 1, 3], [1.5, 1.5, 3, 1, 2, 3]]
    assert by_run == [pytest.approx([value / 3 for value in row]) for row in expected]


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.3, 0.5, 0.2], [1.0, 2.0, 1.0], [2.5, 1.0], [4.0]])
@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 200, 331])
def test_votes_counted_in_bits_equal_those_of_compared_pairs(
    weights: list[float], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(size)
    absent = np.iinfo(np.int64).max
    rank = np.full((len(weights), size), absent)
    for ranks in rank:
        kept = random.permutation(size)[: random.integers(1, size + 1)]
        ranks[kept] = np.arange(1, len(kept) + 1)
    whole = fusion_methods.whole_weights(np.array(weights))
    assert whole is not None
    expected = fusion_methods._compared(rank, np.array(weights))  # the slow twin
    for block in (1 << 22, 64 * size * 2):
        monkeypatch.setattr(fusion_methods, "BLOCK", block)
        assert fusion_methods._counted_in_bits(rank, whole).tolist() == expected.tolist()


def test_condorcet_of_long_lists_equals_that_of_compared_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    runs = [
        {"q": {f"d{number}": float(score) for number, score in enumerate(random.permutation(300)[:250])}}
        for _ in range(3)
    ]
    runs[0]["r"], runs[2]["r"] = runs[1]["q"], runs[0]["q"]  # a query that one run lacks
    for weights in ([1.0, 1.0, 1.0], [2.0, 1.0, 1.0], [1.0, np.pi, 3.0]):
        found = fuse(runs, "Condorcet", weights=weights).to_dict()
        monkeypatch.setattr(fusion_methods, "MANY", 1000)
        assert found == fuse(runs, "Condorcet", weights=weights).to_dict()
        monkeypatch.undo()


def test_equal_sums_of_different_terms_are_ties() -> None:
    down = {"q": [f"d{place}" for place in range(5)]}
    up = {"q": down["q"][::-1]}
    fused = fuse({"down": down, "up": up}, "CombSUM", normalise="rank")
    assert fused["q"] == dict.fromkeys(sorted(down["q"], reverse=True), 1.2)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("method", ["CombMAX", "CombMIN", "CombMED"])
def test_scores_that_a_run_gave_keep_all_digits(method: str, sign: float) -> None:
    given = {"z": sign * (1e15 + 1), "m": sign * (1e15 + 2), "a": sign * (1e15 + 3)}
    fused = fuse([{"q": given}, {"q": {"m": given["m"]}}], method, normalise="none").to_dict()["q"]
    assert fused == given
    assert list(fused) == sorted(given, key=lambda name: -given[name])


def test_z_scores_that_cancel_are_ties_at_zero() -> None:
    generator = np.random.default_rng(8)
    for size in range(2, 40):
        scores = (generator.integers(0, 1000, size) / 1000).tolist()
        first = {"q": dict(zip(map(str, range(size)), scores, strict=True))}
        second = {"q": {name: 1 - score for name, score in first["q"].items()}}
        fused = fuse([first, second], "CombSUM", normalise="z").to_dict()["q"]
        assert list(fused.items()) == [(name, 0.0) for name in sorted(first["q"], reverse=True)]


def test_scores_that_cancel_are_ties_beside_a_very_large_one() -> None:
    first = {"q": {"a": 0.3, "b": 0.1, "c": 0.05, "d": -1e30}}
    runs = [first, {"q": {"a": -0.2, "b": 0.2, "c": 0.0}}, {"q": {"a": -0.1, "b": -0.3, "c": -0.05}}]
    fused = fuse(runs, "CombSUM", normalise="none").to_dict()["q"]
    assert fused == {"c": 0.0, "b": 0.0, "a": 0.0, "d": -1e30}
    runs[1]["q"]["c"] = 1e-9
    assert fuse(runs, "CombSUM", normalise="none").to_dict()["q"]["c"] == pytest.approx(1e-9)


def test_scores_beyond_the_largest_number_are_refused() -> None:
    with pytest.raises(UsageError, match=r"the weights are too large to fuse\. Use smaller weights"):
        fuse({"x": {"q": ["a"]}, "y": {"q": ["a"]}}, "CombSUM", normalise="rank", weights=[1e308, 1e308])
    with pytest.raises(UsageError, match="too large to fuse"):  # without a warning of NumPy
        fuse(
            {"x": {"q": {"a": 2.0}}, "y": {"q": {"a": 1.0}}}, "CombSUM", normalise="none", weights=[1e308, 1]
        )


@pytest.mark.parametrize("normalise", ["min-max", "z", "sum"])
def test_scores_too_large_to_be_normalised_are_refused(normalise: str) -> None:
    runs = {"x": {"q": {"a": 1e308, "b": -1e308, "c": -1e308}}, "y": {"q": {"a": 1.0, "b": 0.0}}}
    with pytest.raises(InputError, match=f"too large for normalization '{normalise}'"):
        fuse(runs, "CombSUM", normalise=normalise)


def test_a_folder_is_fused_as_its_files_and_equal_names_are_told_apart(tmp_path: Path) -> None:
    for folder, score in (("old", 1), ("new", 2)):
        (tmp_path / folder).mkdir()
        for name in ("a", "b"):
            (tmp_path / folder / f"{name}.run").write_text(f"q Q0 {name} 1 {score} t\nq Q0 d 2 0 t\n")
    old = tmp_path / "old"
    files = [old / "a.run", old / "b.run"]
    assert fuse(str(old)).to_dict() == fuse(files).to_dict()
    fused = fuse([files[0], tmp_path / "new" / "a.run"])
    assert fused.options["runs"] == ["old/a", "new/a"]
