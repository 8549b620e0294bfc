"""Values in the tests and documentation of other programs, through our entry points.

The numbers are those of the file named beside each test. Where a program computes something else, the case
stands in `docs/peers.md` with the reason, and what leadline gives is asserted here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, permutations

import pytest

import leadline as ll

Qrels = dict[str, dict[str, float]]
Run = dict[str, dict[str, float]]


def ranked(*documents: object) -> dict[str, float]:
    """Return a list as scores that fall."""
    return {str(document): float(-place) for place, document in enumerate(documents)}


def judged(*documents: object) -> dict[str, float]:
    return {str(document): 1 for document in documents}


def means(qrels: Qrels, run: Run, *measures: str, **options: object) -> list[float]:
    found = ll.evaluate(qrels, run, list(measures), **options)  # type: ignore[arg-type]  # options of reading
    return [found.mean("run", measure) for measure in measures]


def mean(qrels: Qrels, run: Run, measure: str) -> float:
    return means(qrels, run, measure)[0]


# ranx, tests/unit/ranx/metrics_test.py


def test_ranx_hits_and_hit_rate() -> None:
    qrels = {"1": judged(1, 4, 5, 6), "2": judged(1, 4, 6)}
    run = {"1": ranked(1, 2, 3, 4, 5, 7), "2": ranked(1, 2, 4, 3, 5, 7)}
    assert sum(ll.evaluate(qrels, run, "P@5").values[0, :, 0] * 5) / 2 == 2.5
    qrels = {"1": judged(9, 6, 8), "2": judged(1, 2, 4)}
    run = {"1": ranked(1, 2, 3, 4, 5, 7), "2": ranked(1, 2, 4, 3, 5, 7)}
    assert mean(qrels, run, "Success@5") == 0.5


def test_ranx_reciprocal_rank() -> None:
    assert mean({"q": judged(3)}, {"q": ranked(2, 3, 1, 4, 5)}, "RR@5") == 0.5
    assert mean({"q": judged(3)}, {"q": ranked(2, 1, 4, 5)}, "RR@5") == 0.0


def test_ranx_r_precision_and_recall() -> None:
    listed = ranked(2, 4, 3, 1, 5, 6, 7)
    qrels, run = {"1": judged(1, 2, 3), "2": judged(1, 2)}, {"1": listed, "2": listed}
    assert mean(qrels, run, "Rprec") == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert mean(qrels, run, "R@2") == pytest.approx((1 / 3 + 1 / 2) / 2)


GAINS = {"q": {"2": 5.0, "4": 4.0, "5": 3.0, "10": 2.0}}


@pytest.mark.parametrize(
    ("listed", "grades"),
    [
        ((1, 2, 3, 4, 5), (0, 5, 0, 4, 3)),
        ((10, 5, 2, 4, 3), (2, 3, 5, 4, 0)),
        ((1, 3, 6, 7, 8), (0, 0, 0, 0, 0)),
    ],
)
def test_ranx_dcg_of_jarvelin_and_of_burges(listed: Sequence[int], grades: Sequence[int]) -> None:
    logarithms = [math.log2(rank) for rank in range(2, 7)]
    linear = sum(grade / log for grade, log in zip(grades, logarithms, strict=True))
    powers = sum((2**grade - 1) / log for grade, log in zip(grades, logarithms, strict=True))
    best = sum(grade / log for grade, log in zip((5, 4, 3, 2), logarithms, strict=False))
    best_powers = sum((2**grade - 1) / log for grade, log in zip((5, 4, 3, 2), logarithms, strict=False))
    found = means(GAINS, {"q": ranked(*listed)}, "DCG@10", "nDCG@10", "DCG(gain=exp)@10", "nDCG(gain=exp)@10")
    assert found == pytest.approx([linear, linear / best, powers, powers / best_powers])


def test_ranx_rank_biased_precision() -> None:
    """rank_biased_precision_test.py."""
    qrels = {"q1": judged("d1", "d2", "d6", "d11", "d17")}
    run = {"q1": ranked(*(f"d{number}" for number in range(1, 21)))}
    found = means(qrels, run, "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
    assert [round(value, 4) for value in found] == [0.7661, 0.4526, 0.1881]


def test_ranx_bpref() -> None:
    """bpref_test.py; N is the number of judged non-relevant documents there, as here."""
    qrels: Qrels = {
        "q1": {"d2": 1, "d5": 1, "d1": 0, "d4": 0},
        "q2": {"d2": 1, "d5": 1, "d1": 0, "d6": 0},
        "q3": {"d2": 1, "d5": 1, "d7": 1, "d1": 0, "d6": 0, "d8": 0},
        "q4": {"d2": 1, "d4": 1, "d6": 1, "d9": 1, "d1": 0, "d3": 0, "d7": 0, "d8": 0},
    }
    run = {
        "q1": ranked("d1", "d2", "d3", "d4"),
        "q2": ranked("d1", "d2", "d3", "d4", "d5", "d6"),
        "q3": ranked("d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"),
        "q4": ranked("d1", "d2", "d3", "d4", "d6", "d7", "d8"),
    }
    values = ll.evaluate(qrels, run, "Bpref").values[0, :, 0].tolist()
    assert values == pytest.approx([1 / 4, 1 / 2, (2 / 3 + 2 / 3 + 1 / 3) / 3, (3 / 4 + 2 / 4 + 2 / 4) / 4])


# ir_measures, test/test_pytrec_eval.py: the values of query 0, of query 1, and their mean or sum

NUMBERS: Qrels = {"0": {"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 2}}
SETS: Qrels = {"0": {"D0": 0, "D1": 1, "D2": 2, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 0}}
RECALLS: Qrels = {"0": {"D0": 1, "D1": 1, "D2": 2, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 0}}
NEGATIVE: Qrels = {
    "0": {"D0": 1, "D1": -1, "D2": 0, "D3": 2, "D4": 0},
    "1": {"D0": 1, "D3": 2, "D4": -1, "D5": 0},
}
FIRST: dict[str, float] = {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1}
THREE: Run = {"0": FIRST, "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4}}
FOUR: Run = {"0": FIRST, "1": {"D1": 0.8, "D4": 0.7, "D3": 0.3, "D2": 0.4}}


@pytest.mark.parametrize(
    ("measure", "qrels", "run", "values", "total"),
    [
        ("NumRet", NUMBERS, THREE, (5, 4), 9),
        ("NumRelRet", NUMBERS, THREE, (3, 1), 4),
        ("NumRelRet(rel=2)", NUMBERS, THREE, (1, 1), 2),
        ("NumRelRet(rel=3)", NUMBERS, THREE, (0, 0), 0),
        ("NumQ", NUMBERS, THREE, (1, 1), 2),
        ("NumRel", SETS, THREE, (3, 2), 5),
        ("Success@2", SETS, FOUR, (1, 0), 0.5),
        ("Success(rel=2)@2", SETS, FOUR, (1, 0), 0.5),
        ("SetP", SETS, FOUR, (0.6, 0.25), 0.425),
        ("SetP(rel=2)", SETS, FOUR, (0.4, 0.25), 0.325),
        ("SetR", SETS, FOUR, (1.0, 0.5), 0.75),
        ("SetR(rel=2)", SETS, FOUR, (1.0, 1.0), 1.0),
        ("IPrec@0.25", RECALLS, FOUR, (1.0, 0.25), 0.625),
        ("IPrec@0.5", RECALLS, FOUR, (1.0, 0.25), 0.625),
        ("IPrec@0.75", RECALLS, FOUR, (1.0, 0.0), 0.5),
        ("IPrec(rel=2)@0.1", RECALLS, FOUR, (2 / 3, 0.25), 0.4583),
        ("IPrec(rel=2)@0.75", RECALLS, FOUR, (2 / 3, 0.25), 0.4583),
        ("AP", NEGATIVE, FOUR, (0.8333, 0.125), 0.4792),
        ("infAP", NEGATIVE, FOUR, (0.8333, 0.1875), 0.5104),
        ("AP(rel=2)", NEGATIVE, FOUR, (0.3333, 0.25), 0.2917),
        ("infAP(rel=2)", NEGATIVE, FOUR, (0.3333, 0.375), 0.3542),
    ],
)
def test_ir_measures(measure: str, qrels: Qrels, run: Run, values: Sequence[float], total: float) -> None:
    results = ll.evaluate(qrels, run, measure)
    assert results.values[0, :, 0].tolist() == pytest.approx(values, abs=5e-5)
    assert results.mean("run", results.measures[0]) == pytest.approx(total, abs=5e-5)


# MTEB, tests/test_evaluators/test_RetrievalEvaluator.py; its ties are broken by descending id, as here

MTEB_QRELS: Qrels = {"0": {"0": 1, "1": 1}, "1": {"1": 1}}
MTEB_RUN: Run = {"0": {"0": 1.0, "1": 0.9, "2": 0.8}, "1": {"0": 0.0, "1": 1.0, "2": 0.0}}
MTEB_NAMES = {"nDCG": "NDCG", "AP": "MAP", "R": "Recall", "P": "P"}


@pytest.mark.parametrize(
    ("identical", "wanted"),
    [
        (False, {"nDCG": (1, 1, 1), "AP": (0.75, 1, 1), "R": (0.75, 1, 1), "P": (1, 0.75, 0.5)}),
        (
            True,
            {"nDCG": (0.5, 0.30657, 0.30657), "AP": (0.25,) * 3, "R": (0.25,) * 3, "P": (0.5, 0.25, 0.16667)},
        ),
    ],
)
def test_mteb_with_and_without_documents_that_are_their_query(
    identical: bool, wanted: dict[str, Sequence[float]]
) -> None:
    for name, values in wanted.items():
        measures = [f"{name}@{cutoff}" for cutoff in (1, 2, 3)]
        found = means(MTEB_QRELS, MTEB_RUN, *measures, drop_identical_ids=identical)
        assert found == pytest.approx(values, abs=5e-6), name


def test_mteb_gains_that_are_fractions() -> None:
    """test_retrieval_metrics_float_gains.py; ties are averaged there, see docs/peers.md."""
    qrels = {"q1": {"d1": 1.0, "d2": 0.5, "d3": 0.0}}
    run = {"q1": {"d2": 0.9, "d1": 0.7, "d3": 0.1}}
    third = 1 / math.log2(3)
    assert mean(qrels, run, "nDCG@2") == pytest.approx((0.5 + third) / (1 + 0.5 * third))
    assert mean({"q1": {"d1": 1.0}}, {"q1": {"d1": 0.9, "d_unjudged": 0.8}}, "nDCG@2") == 1.0
    assert mean({"q1": {"d1": 0.0, "d2": 0.0}}, {"q1": {"d1": 0.9, "d2": 0.1}}, "nDCG@10") == 0.0


# torchmetrics, the examples of functional/retrieval/*.py


@pytest.mark.parametrize(
    ("measure", "target", "value"),
    [
        ("AP", (1, 0, 1), 0.8333),
        ("RR", (0, 1, 0), 0.5),
        ("P@2", (1, 0, 1), 0.5),
        ("R@2", (1, 0, 1), 0.5),
        ("Success@2", (1, 1, 1), 1.0),
        ("Rprec", (1, 0, 1), 0.5),
    ],
)
def test_torchmetrics_of_one_query(measure: str, target: Sequence[int], value: float) -> None:
    qrels = {"q": {f"d{place}": float(grade) for place, grade in enumerate(target)}}
    run = {"q": {"d0": 0.2, "d1": 0.3, "d2": 0.5}}
    assert mean(qrels, run, measure) == pytest.approx(value, abs=5e-5)


# torchmetrics 1.9.0, two queries in one call; values computed by it

TWO: Qrels = {"a": {"d0": 0, "d1": 0, "d2": 1}, "b": {"d0": 0, "d1": 1, "d2": 0, "d3": 1}}
TWO_RUN: Run = {"a": {"d0": 0.2, "d1": 0.3, "d2": 0.5}, "b": {"d0": 0.1, "d1": 0.3, "d2": 0.5, "d3": 0.2}}


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("AP", 0.7916666865348816),
        ("RR", 0.75),
        ("P@2", 0.5),
        ("R@2", 0.75),
        ("Success@2", 1.0),
        ("Rprec", 0.75),
        ("nDCG", 0.8467131853103638),
        ("nDCG@2", 0.6934263706207275),
    ],
)
def test_torchmetrics_of_two_queries(measure: str, value: float) -> None:
    assert mean(TWO, TWO_RUN, measure) == pytest.approx(value, rel=1e-7)  # single precision there


def test_torchmetrics_divides_average_precision_at_a_cutoff_by_what_is_found() -> None:
    """RetrievalMAP(top_k=2) is 0.75: see docs/peers.md."""
    values = ll.evaluate(TWO, TWO_RUN, "AP@2").values[0, :, 0].tolist()
    assert values == [1.0, 0.25]
    assert (values[0] * 1 / 1 + values[1] * 2 / 1) / 2 == 0.75  # by 1 of 1, and 1 of 2 relevant documents


# scikit-learn, the examples of ndcg_score and tests/test_ranking.py

TRUE = {"q": {"d0": 10.0, "d1": 0.0, "d2": 0.0, "d3": 1.0, "d4": 5.0}}


def scored(*scores: float) -> Run:
    return {"q": {f"d{place}": score for place, score in enumerate(scores)}}


def test_scikit_learn_and_torchmetrics_ndcg_without_ties() -> None:
    assert mean(TRUE, scored(0.1, 0.2, 0.3, 4, 70), "nDCG") == pytest.approx(0.6957, abs=5e-5)  # torchmetrics
    assert math.floor(100 * mean(TRUE, scored(0.05, 1.1, 1.0, 0.5, 0.0), "nDCG")) == 49
    assert math.floor(100 * mean(TRUE, scored(0.05, 1.1, 1.0, 0.5, 0.0), "nDCG@4")) == 35
    for place in range(5):  # test_ndcg_toy_examples: one document of gain 3 among seven
        qrels = {"q": {f"d{place}": 3.0}}
        run = scored(6, 5, 4, 3, 2, 1, 0)
        assert means(qrels, run, "DCG", "nDCG") == pytest.approx(
            [3 / math.log2(place + 2), 1 / math.log2(place + 2)]
        )


def test_scikit_learn_of_two_queries() -> None:
    """Values computed by scikit-learn 1.9.1: ndcg_score, dcg_score, label_ranking_average_precision_score."""
    qrels = {**TRUE, "r": {"d0": 0.0, "d1": 3.0, "d2": 2.0, "d3": 0.0, "d4": 1.0}}
    run = {**scored(0.1, 0.2, 0.3, 4, 70), "r": scored(0.5, 0.1, 0.9, 0.2, 0.3)["q"]}
    for cutoff, ndcg, dcg in (
        ("", 0.7322093092565249, 6.5800081238102495),
        ("@1", 0.5833333333333333, 3.5),
        ("@2", 0.4486674930261586, 3.815464876785729),
        ("@4", 0.46869343556918164, 4.065464876785729),
    ):
        assert means(qrels, run, f"nDCG{cutoff}", f"DCG{cutoff}") == pytest.approx([ndcg, dcg], rel=1e-14)
    values = ll.evaluate(qrels, run, "AP").values[0, :, 0].tolist()
    assert values == pytest.approx([0.8666666666666667, 0.7555555555555555], rel=1e-14)


def averaged(qrels: Qrels, scores: Sequence[float], measure: str) -> float:
    """Return the mean over all orders of tied documents, as scikit-learn and MTEB do."""
    values = [
        mean(qrels, {"q": ranked(*(f"d{place}" for place in order))}, measure)
        for order in permutations(range(len(scores)))
        if all(scores[above] >= scores[below] for above, below in pairwise(order))
    ]
    return sum(values) / len(values)


def test_scikit_learn_and_mteb_average_tied_documents_and_we_order_them() -> None:
    ties = [1, 0, 0, 0, 1]
    assert averaged(TRUE, ties, "nDCG@1") == pytest.approx(0.75)
    assert mean(TRUE, scored(*ties), "nDCG@1") == 0.5  # as with ignore_ties=True there: d4 before d0
    discounts = [1 / math.log2(rank) for rank in range(2, 7)]
    rising = {"q": {f"d{place}": float(place) for place in range(5)}}
    assert averaged(rising, [0] * 5, "DCG") == pytest.approx(sum(discounts) * 2)
    falling = sum(discount * gain for discount, gain in zip(discounts, (4, 3, 2, 1, 0), strict=True))
    assert mean(rising, scored(*[0] * 5), "DCG") == pytest.approx(falling)  # dcg_ignore_ties there
    half = sum(discounts[:2]) * 3.5 + sum(discounts[2:])
    assert averaged(rising, [0, 0, 0, 1, 1], "DCG") == pytest.approx(half)
    one = {"q": {"d0": 1.0, "d1": 0.0, "d2": 0.0}}
    assert averaged(one, [0.5] * 3, "nDCG@10") == pytest.approx(sum(discounts[:3]) / 3)
    crossing = {"q": {"d0": 0.0, "d1": 1.0, "d2": 0.0}}
    assert averaged(crossing, [1, 0.5, 0.5], "nDCG@2") == pytest.approx(0.5 / math.log2(3))


def test_bounds_over_orders_of_ties_contain_the_value_of_scikit_learn() -> None:
    results = ll.evaluate(TRUE, scored(1, 0, 0, 0, 1), "nDCG@1", bounds=True)
    assert results.mean("run", "nDCG@1") == 0.5
    assert results.bounds is not None


# pyNTCIREVAL, tests/dat: dummy01 to 03 have level 3, 04 to 06 level 2, 07 to 10 level 1, 11 level 0

NTCIR: Qrels = {
    "q": {
        f"dummy{number:02}": float(level)
        for number, level in enumerate([3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0], start=1)
    }
}
NTCIR_RUN: Run = {"q": ranked("dummy11", "dummy01", "dummy12", "dummy04")}


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("RR", 0.5),
        ("AP", 0.1),
        ("Q", 0.0967),
        ("nDCG", 0.2760),
        ("nDCG@2", 0.3869),
        ("P@2", 0.5),
        ("P@1000", 0.002),
        ("Success@2", 1.0),
        ("Success@1000", 1.0),
    ],
)
def test_pyntcireval(measure: str, value: float) -> None:
    assert mean(NTCIR, NTCIR_RUN, measure) == pytest.approx(value, abs=5e-5)


def test_pyntcireval_readme() -> None:
    """Its example of MSnDCG gives the lowest grade to level 1: gains are levels less one."""
    levels = [2, 0, 1, 0, 1, 0, 0, 2, 0, 0]
    run = {"q": ranked(*(f"d{place}" for place in range(10)))}
    qrels = {"q": {f"d{place}": float(max(level - 1, 0)) for place, level in enumerate(levels)}}
    assert mean(qrels, run, "nDCG@5") == pytest.approx(0.6131471927654584, rel=1e-14)
    qrels = {"q": judged("d0", "d4", "d7") | {f"d{place}": 0 for place in (1, 2, 3, 5, 6, 8, 9)}}
    assert mean(qrels, run, "P@5") == 0.4
