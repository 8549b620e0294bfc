"""Every number that the lecture on evaluation prints about rankings, misprints included.

Printed numbers are compared as printed. Where print and arithmetic part, the test says what was rounded.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from leadline.data.judged_run import JudgedRun
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from leadline.measures.average_precision import ELEVEN_LEVELS, interpolate

EXAMPLE_1 = [588, 589, 576, 590, 986, 592, 984, 988, 578, 985, 103, 591, 772, 990]
RELEVANT_1 = {588, 589, 590, 592, 772, 321}  # the sixth, never retrieved, is 321 by example 2
EXAMPLE_2 = [588, 576, 589, 342, 590, 717, 984, 772, 321, 498, 113, 628, 772, 592]
RELEVANT_2 = {588, 589, 590, 772, 321, 592}  # 772 stands at ranks 8 and 13
GAINS = {588: 1.0, 589: 0.6, 590: 0.8, 592: 1.0, 772: 0.2}  # of example 1

# n, rel, CG_n, log2 n, IDCG_n of "Ideal ranking"
IDEAL = [
    (1, 1.0, 1.0, 0.00, 1.00),
    (2, 1.0, 2.0, 1.00, 2.00),
    (3, 0.8, 2.8, 1.58, 2.50),
    (4, 0.6, 3.4, 2.00, 2.80),
    (5, 0.2, 3.6, 2.32, 2.89),
    (6, 0.0, 3.6, 2.58, 2.89),
    (7, 0.0, 3.6, 2.81, 2.89),
    (8, 0.0, 3.6, 3.00, 2.89),
    (9, 0.0, 3.6, 3.17, 2.89),
    (10, 0.0, 3.6, 3.32, 2.89),
    (11, 0.0, 3.6, 3.46, 2.89),
    (12, 0.0, 3.6, 3.58, 2.89),
    (13, 0.0, 3.6, 3.70, 2.89),
    (14, 0.0, 3.6, 3.81, 2.89),
]
# n, rel, DCG_n, IDCG_n, NDCG_n of example 1
NORMALISED = [
    (1, 1.0, 1.00, 1.00, 1.00),
    (2, 0.6, 1.60, 2.00, 0.80),
    (3, 0.0, 1.60, 2.50, 0.64),
    (4, 0.8, 2.00, 2.80, 0.71),
    (5, 0.0, 2.00, 2.89, 0.69),
    (6, 1.0, 2.39, 2.89, 0.83),
    (7, 0.0, 2.39, 2.89, 0.83),
    (8, 0.0, 2.39, 2.89, 0.83),
    (9, 0.0, 2.39, 2.89, 0.83),
    (10, 0.0, 2.39, 2.89, 0.83),
    (11, 0.0, 2.39, 2.89, 0.83),
    (12, 0.0, 2.39, 2.89, 0.83),
    (13, 0.2, 2.44, 2.89, 0.84),
    (14, 0.0, 2.44, 2.89, 0.84),
]


def grades(documents: list[int], relevant: set[int]) -> list[float]:
    """Return the grades in the order of a list; a document that comes again is not relevant."""
    return [
        float(document in relevant and document not in documents[:place])
        for place, document in enumerate(documents)
    ]


LISTS = {1: grades(EXAMPLE_1, RELEVANT_1), 2: grades(EXAMPLE_2, RELEVANT_2)}
TABLE = [GAINS.get(document, 0.0) for document in EXAMPLE_1]


def value(text: str, example: int) -> float:
    judged = [1.0] * 6 + [0.0] * 9
    return MEASURES.parse(text).of(LISTS[example], judged=judged)


def points(example: int) -> list[tuple[int, Fraction, Fraction]]:
    """Return rank, recall and precision at every relevant document, from P@k and R@k."""
    found = []
    for rank, grade in enumerate(LISTS[example], start=1):
        if grade:
            recall, precision = value(f"R@{rank}", example), value(f"P@{rank}", example)
            found.append(
                (rank, Fraction(recall).limit_denominator(100), Fraction(precision).limit_denominator(100))
            )
    return found


def test_example_1_prints_these_recall_and_precision_points() -> None:
    assert points(1) == [
        (1, Fraction(1, 6), Fraction(1, 1)),
        (2, Fraction(2, 6), Fraction(2, 2)),
        (4, Fraction(3, 6), Fraction(3, 4)),
        (6, Fraction(4, 6), Fraction(4, 6)),
        (13, Fraction(5, 6), Fraction(5, 13)),
    ]
    assert [round(float(recall), 3) for _, recall, _ in points(1)] == [0.167, 0.333, 0.5, 0.667, 0.833]
    precisions = [float(precision) for _, _, precision in points(1)]
    assert [round(precision, 3) for precision in precisions[:4]] == [1, 1, 0.75, 0.667]
    assert round(precisions[4], 2) == 0.38  # to two digits only; see the average below


def test_example_1_never_reaches_full_recall() -> None:
    assert value("R", 1) == 5 / 6
    assert value("IPrec@1", 1) == 0


def test_example_2_prints_these_recall_and_precision_points() -> None:
    assert points(2) == [
        (1, Fraction(1, 6), Fraction(1, 1)),
        (3, Fraction(2, 6), Fraction(2, 3)),
        (5, Fraction(3, 6), Fraction(3, 5)),
        (8, Fraction(4, 6), Fraction(4, 8)),
        (9, Fraction(5, 6), Fraction(5, 9)),
        (14, Fraction(6, 6), Fraction(6, 14)),
    ]
    assert [round(float(recall), 3) for _, recall, _ in points(2)] == [0.167, 0.333, 0.5, 0.667, 0.833, 1.0]
    assert [round(float(precision), 3) for _, _, precision in points(2)] == [1, 0.667, 0.6, 0.5, 0.556, 0.429]


@pytest.mark.parametrize("filler", [0.0, None], ids=["non-relevant", "unjudged"])
def test_the_repeat_in_example_2_keeps_its_rank_and_is_not_relevant(filler: float | None) -> None:
    again: list[float | None] = [*LISTS[2][:12], filler, LISTS[2][13]]
    assert MEASURES.parse("AP").of(again, judged=[1.0] * 6 + [0.0] * 8) == value("AP", 2)


def test_a_run_file_with_the_repeat_held_gives_the_printed_value(tmp_path: Path) -> None:
    run, qrels = tmp_path / "example2.run", tmp_path / "qrels.txt"
    run.write_text("".join(f"q Q0 {name} {rank} {-rank} t\n" for rank, name in enumerate(EXAMPLE_2, start=1)))
    qrels.write_text("".join(f"q 0 {name} 1\n" for name in sorted(RELEVANT_2)))
    results = evaluate(qrels, run, ["AP", "P@13", "Rprec"], on_duplicate="hold")
    assert round(results.mean("example2", "AP"), 3) == 0.625
    assert results.mean("example2", "P@13") == 5 / 13
    assert results.mean("example2", "AP") == value("AP", 2)


def test_removing_the_repeat_would_change_average_precision() -> None:
    shorter = LISTS[2][:12] + LISTS[2][13:]
    removed = MEASURES.parse("AP").of(shorter)
    assert removed == pytest.approx((1 + 2 / 3 + 3 / 5 + 4 / 8 + 5 / 9 + 6 / 13) / 6)
    assert round(removed, 3) == 0.631


def test_r_precision_of_example_1() -> None:
    assert value("Rprec", 1) == 4 / 6
    assert round(value("Rprec", 1), 2) == 0.67


def test_average_precision_of_example_1_is_printed_from_a_rounded_term() -> None:
    printed = (1 + 1 + 0.75 + 0.667 + 0.38 + 0) / 6
    assert round(printed, 3) == 0.633
    assert value("AP", 1) == pytest.approx((1 + 1 + 3 / 4 + 4 / 6 + 5 / 13 + 0) / 6, rel=1e-15)
    assert round(value("AP", 1), 5) == 0.63355
    assert round(value("AP", 1), 3) == 0.634


def test_average_precision_of_example_2() -> None:
    printed = (1 + 0.667 + 0.6 + 0.5 + 0.556 + 0.429) / 6
    assert round(printed, 3) == 0.625
    assert round(value("AP", 2), 5) == 0.62513
    assert round(value("AP", 2), 3) == 0.625


def test_mean_average_precision_is_the_mean_over_the_queries() -> None:
    lists = {"1": EXAMPLE_1, "2": [*EXAMPLE_2[:12], 7720, 592]}
    runs = {
        query: {str(name): -float(rank) for rank, name in enumerate(names)} for query, names in lists.items()
    }
    qrels = {"1": dict.fromkeys(map(str, RELEVANT_1), 1), "2": dict.fromkeys(map(str, RELEVANT_2), 1)}
    mean = evaluate(qrels, runs, "map").mean("run", "AP")
    assert mean == pytest.approx((value("AP", 1) + value("AP", 2)) / 2, rel=1e-15)
    assert round(mean, 4) == 0.6293


@pytest.mark.parametrize(("n", "rel", "cg", "log", "idcg"), IDEAL)
def test_the_ideal_ranking_table(n: int, rel: float, cg: float, log: float, idcg: float) -> None:
    best = sorted(TABLE, reverse=True)
    assert best[n - 1] == rel
    assert round(MEASURES.parse(f"CG@{n}").of(best), 1) == cg
    assert round(MEASURES.parse(f"DCG(discount=jk)@{n}").of(best), 2) == idcg
    one = MEASURES.parse("DCG(discount=jk)").of([0.0] * (n - 1) + [1.0])  # 1 / log of the rank
    assert round(1 / one, 2) == (log if n > 1 else 1.00)  # "1/log(1)": the table leaves it out


@pytest.mark.parametrize(("n", "rel", "dcg", "idcg", "ndcg"), NORMALISED)
def test_the_normalised_table(n: int, rel: float, dcg: float, idcg: float, ndcg: float) -> None:
    assert TABLE[n - 1] == rel
    found = MEASURES.parse(f"DCG(discount=jk)@{n}").of(TABLE)
    best = MEASURES.parse(f"DCG(discount=jk)@{n}").of(sorted(TABLE, reverse=True))
    normalised = MEASURES.parse(f"nDCG(discount=jk)@{n}").of(TABLE)
    assert (round(found, 2), round(best, 2), round(normalised, 2)) == (dcg, idcg, ndcg)
    assert normalised == found / best
    assert normalised <= 1


def test_the_gains_of_the_table_add_up_to_the_cumulative_gains() -> None:
    column = [MEASURES.parse(f"CG@{n}").of(TABLE) for n in range(1, 15)]
    assert [round(found, 1) for found in column] == [
        1.0,
        1.6,
        1.6,
        2.4,
        2.4,
        3.4,
        3.4,
        3.4,
        3.4,
        3.4,
        3.4,
        3.4,
        3.6,
        3.6,
    ]


def test_the_ideal_of_the_slide_holds_the_retrieved_gains_only() -> None:
    """The sixth relevant document has no gain on the slide; by definition it belongs to the ideal."""
    measure = MEASURES.parse("nDCG(discount=jk)")
    assert round(measure.of(TABLE), 2) == 0.84
    assert measure.of(TABLE, judged=[*TABLE, 1.0]) < 0.84


def test_the_usual_discount_is_not_the_one_that_is_printed() -> None:
    assert MEASURES.parse("nDCG@2").of(TABLE) != MEASURES.parse("nDCG(discount=jk)@2").of(TABLE)


@pytest.mark.parametrize("example", [1, 2])
@pytest.mark.parametrize("cutoff", ["", "@5", "@14"])
def test_f_is_the_harmonic_mean_in_all_three_printed_forms(example: int, cutoff: str) -> None:
    p, r = value(f"P{cutoff}", example), value(f"R{cutoff}", example)
    f = value(f"F{cutoff}", example)
    assert f == pytest.approx(2 * p * r / (p + r), rel=1e-15)
    assert f == pytest.approx(2 / (1 / r + 1 / p), rel=1e-15)
    assert 1 / f == pytest.approx(1 / 2 * (1 / p + 1 / r), rel=1e-15)


@pytest.mark.parametrize("example", [1, 2])
@pytest.mark.parametrize("beta", [0.5, 1, 2, 3.7])
def test_the_printed_e_is_f_and_ours_is_its_complement(example: int, beta: float) -> None:
    p, r = value("P", example), value("R", example)
    printed = (1 + beta**2) * p * r / (beta**2 * p + r)
    assert value(f"F(beta={beta})", example) == pytest.approx(printed, rel=1e-14)
    assert printed == pytest.approx((1 + beta**2) / (beta**2 / r + 1 / p), rel=1e-14)
    assert value(f"E(beta={beta},form=lecture)", example) == value(f"F(beta={beta})", example)
    assert value(f"E(beta={beta})", example) == 1 - value(f"F(beta={beta})", example)


def test_with_beta_one_the_printed_e_equals_f() -> None:
    assert value("E(form=lecture)", 1) == value("F", 1)


def test_beta_above_one_weights_recall_and_below_one_precision() -> None:
    p, r = value("P", 1), value("R", 1)
    assert p < r
    assert p < value("F(beta=0.5)", 1) < value("F", 1) < value("F(beta=2)", 1) < r


STANDARD = {
    1: [1, 1, 1, 1, 0.75, 0.75, 2 / 3, 5 / 13, 5 / 13, 0, 0],
    2: [1, 1, 2 / 3, 2 / 3, 0.6, 0.6, 5 / 9, 5 / 9, 5 / 9, 3 / 7, 3 / 7],
}


@pytest.mark.parametrize("example", [1, 2])
def test_standard_interpolation_of_the_examples(example: int) -> None:
    curve = [value(f"IPrec@{level}", example) for level in ELEVEN_LEVELS]
    assert curve == pytest.approx(STANDARD[example], rel=1e-15)


def test_on_example_1_the_printed_rule_with_the_next_level_is_the_standard_one() -> None:
    curve = [value(f"IPrec(rule=printed-next)@{level}", 1) for level in ELEVEN_LEVELS]
    assert curve == pytest.approx(STANDARD[1], rel=1e-15)


def test_on_example_2_the_printed_rule_differs_at_one_level() -> None:
    curve = [value(f"IPrec(rule=printed-next)@{level}", 2) for level in ELEVEN_LEVELS]
    assert curve[6] == 0.5  # from 0.6 to 0.7 there is only the point (0.667, 0.5)
    assert round(STANDARD[2][6], 3) == 0.556
    assert [*curve[:6], *curve[7:]] == pytest.approx(STANDARD[2][:6] + STANDARD[2][7:], rel=1e-15)


def test_the_letter_of_the_printed_rule_leaves_levels_without_a_value() -> None:
    curve = [value(f"IPrec(rule=printed-zero)@{level}", 2) for level in ELEVEN_LEVELS]
    assert [round(found, 3) for found in curve] == [0, 1, 0, 0.667, 0.6, 0.6, 0.5, 0, 0.556, 0.429, 0.429]


def test_a_curve_over_queries_is_the_mean_at_each_level() -> None:
    mean = [sum(pair) / 2 for pair in zip(STANDARD[1], STANDARD[2], strict=True)]
    found = [
        interpolate(JudgedRun.of_grades(LISTS[example], [1.0] * 6 + [0.0] * 9), ELEVEN_LEVELS)[0]
        for example in (1, 2)
    ]
    assert ((found[0] + found[1]) / 2).tolist() == pytest.approx(mean, rel=1e-15)


def test_how_far_down_a_user_must_look() -> None:
    assert [value(f"RankOf(n={n})", 1) for n in range(1, 6)] == [1, 2, 4, 6, 13]
    assert value("RankOf(n=all)", 2) == 14


def test_coverage_is_the_share_of_the_known_relevant_documents_that_came_back() -> None:
    from leadline.io.objects import read_qrels, read_run

    qrels = read_qrels({"q": dict.fromkeys(map(str, RELEVANT_1), 1)})
    qrels = qrels.with_known({b"q": {b"588", b"592", b"321", b"990"}})
    run = read_run({"q": {str(name): -float(rank) for rank, name in enumerate(EXAMPLE_1)}})
    judged = JudgedRun.of_run(run, qrels)
    assert MEASURES.parse("Coverage").values(judged).tolist() == [2 / 3]
    assert MEASURES.parse("Novelty").values(judged).tolist() == [3 / 5]
