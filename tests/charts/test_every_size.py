"""Every figure of a result is legible with 3, 20 and 150 runs: nothing is cut, covered or too small."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import leadline as ll
from leadline.comparison.comparison_figures import KINDS as OF_COMPARISONS
from leadline.comparison.query_slices import slices_of
from leadline.comparison.suite_evaluation import suite
from leadline.comparison.suite_result import Suite
from leadline.estimation.estimate import estimate
from leadline.evaluation.curves import subtopic_curve
from leadline.evaluation.query_figures import KINDS as OF_RESULTS
from whole_pictures import least_size, results_with_figures, whole

QUERIES = [f"q{place}" for place in range(12)]
KINDS = {query: ("navigational", "informational")[place % 2] for place, query in enumerate(QUERIES)}
LONG = "university-of-somewhere-run-with-a-description-of-its-parameters-{:03d}"
MIXED = ("Größe-{}", LONG, "Поиск-{}", "αναζήτηση-{}", "検索システム-{}", "_hidden-{}", LONG, "a$b^c-{}")


def names_of(kind: str, size: int) -> list[str]:
    forms = MIXED if kind == "mixed" else ("team{:03d}-run",)
    return [forms[place % len(forms)].format(place) for place in range(size)]


@functools.cache
def lists(kind: str, size: int) -> dict[str, dict[str, dict[str, float]]]:
    """Return runs that are better the larger their number is, with a failed query each."""
    rng = np.random.default_rng(size)
    return {
        name: {
            query: {
                f"d{doc}": float(rng.normal() + (doc < 5) * 2 * place / size) for doc in rng.permutation(25)
            }
            for query in QUERIES
            if query != QUERIES[place % len(QUERIES)]
        }
        for place, name in enumerate(names_of(kind, size))
    }


QRELS = {query: {f"d{doc}": float(doc < 5) for doc in range(0, 25, 2)} for query in QUERIES}


@functools.cache
def results(kind: str, size: int) -> Any:
    return ll.evaluate(QRELS, lists(kind, size), ["nDCG@10", "AP"])


def opposite(kind: str, size: int) -> Any:
    """Return values by labels that turn the judgments around."""
    turned = {query: {doc: 1 - grade for doc, grade in grades.items()} for query, grades in QRELS.items()}
    return ll.evaluate(turned, lists(kind, size), "AP")


@functools.cache
def compared(kind: str, size: int, *, baseline: bool = False) -> Any:
    return ll.compare(results(kind, size), baseline=names_of(kind, size)[:1] if baseline else None)


def truth(kind: str, size: int) -> dict[str, dict[str, float]]:
    found = results(kind, size)
    values = found.values[:, :, 1].tolist()
    return {
        name: dict(zip(found.queries, row, strict=True))
        for name, row in zip(found.names, values, strict=True)
    }


def judges(kind: str, size: int, **options: Any) -> Any:
    rng = np.random.default_rng(size)
    base = rng.integers(0, 4, 60)
    rows = {
        name: {
            query: {f"d{doc}": float(grade) for doc, grade in enumerate(grades)}
            for query, grades in zip(
                QUERIES,
                np.where(rng.random(60) < 0.6, base, rng.integers(0, 4, 60)).reshape(12, 5),
                strict=True,
            )
        }
        for name in names_of(kind, size)
    }
    return ll.agreement(rows, draws=20, **options)


def of_suite(kind: str, size: int, folder: Path) -> Suite:
    (folder / "runs").mkdir(parents=True)
    for name, run in lists(kind, size).items():
        ll.write_run(ll.read_run(run), folder / "runs" / f"{name}.run")
    for number in range(4):
        kept = {query: QRELS[query] for query in QUERIES[number::4]}
        ll.write_qrels(ll.read_qrels(kept), folder / f"{number}.txt")
    parts = [f'[collections.collection-{n}]\nqrels = "{n}.txt"\nruns = "runs/*.run"\n' for n in range(4)]
    (folder / "suite.toml").write_text('measures = ["AP"]\n' + "".join(parts), "utf-8")
    return suite(folder / "suite.toml")


def log_of(size: int, folder: Path) -> Path:
    rng = np.random.default_rng(size)
    rows = [
        f"u{user},{arm},1,{int(rng.random() < 0.1 + 0.05 * arm)}"
        for user, arm in enumerate(rng.integers(0, 2, size * size * 2).tolist())
    ]
    folder.mkdir(parents=True)
    (folder / "log.csv").write_text("user,arm,rank,click\n" + "\n".join(rows) + "\n", "utf-8")
    return folder / "log.csv"


Draw = Callable[[str, int, Path], Any]
DRAWN: dict[str, Draw] = {
    "ABTest": lambda _, size, folder: ll.abtest(log_of(size, folder)).plot(),
    "ABTest counts": lambda _, size, __: ll.abtest(a=(size, 100 * size), b=(2 * size, 100 * size)).plot(),
    "Agreement": lambda kind, size, _: judges(kind, size).plot(),
    "Agreement reference": lambda kind, size, _: judges(kind, size, reference=True).plot(),
    "Comparison baseline forest": lambda kind, size, _: compared(kind, size, baseline=True).plot(),
    "Comparison baseline pairs": lambda kind, size, _: compared(kind, size, baseline=True).plot(
        figure="pairs", pairs="all"
    ),
    "Correlation": lambda kind, size, _: ll.correlate(
        *(
            dict(zip(names_of(kind, size), results(kind, size).means[:, n].tolist(), strict=True))
            for n in (0, 1)
        ),
        draws=20,
    ).plot(),
    "Curves": lambda kind, size, _: ll.curve(QRELS, lists(kind, size)).plot(),
    "Difference": lambda kind, size, _: ll.difference(QRELS, lists(kind, size)).plot(),
    "Difference tree": lambda kind, size, _: ll.difference(QRELS, lists(kind, size)).plot(figure="tree"),
    "Difference cumulative": lambda kind, size, _: ll.difference(QRELS, lists(kind, size)).plot(
        figure="cumulative"
    ),
    "EstimatedResults": lambda kind, size, _: estimate(QRELS, lists(kind, size), "P@5").plot(),
    "Estimates": lambda kind, size, _: ll.sampled(
        QRELS, lists(kind, size), "nDCG@10", population=500, draws=20
    ).plot(),
    "Histograms": lambda kind, size, _: ll.histogram(QRELS, lists(kind, size), bins=4).plot(),
    "Predictions": lambda kind, size, _: ll.predict(lists(kind, size), "NQC(tail)").plot(),
    "Predictions scatter": lambda kind, size, _: ll.predict(lists(kind, size), "NQC(tail)").plot(
        figure="scatter", truth=truth(kind, size), truth_measure="AP", draws=20
    ),
    "Ranking": lambda kind, size, _: ll.rank(results(kind, size), draws=50).plot(),
    "Replication": lambda kind, size, _: ll.replicate(
        [lists(kind, size)[name] for name in names_of(kind, size)[:2]],
        [lists(kind, size)[name] for name in names_of(kind, size)[-2:]],
        qrels=QRELS,
        measures=["AP", "P@5"],
        draws=99,
    ).plot(),
    "ScoreAudit": lambda kind, size, _: ll.audit_scores(
        {"people": ll.evaluate(QRELS, lists(kind, size), "AP"), "machine": opposite(kind, size)}, draws=20
    ).plot(),
    "Slices": lambda kind, size, _: slices_of(results(kind, size), KINDS).plot(),
    "Slices compared": lambda kind, size, _: slices_of(compared(kind, size, baseline=True), KINDS).plot(),
    "Suite": lambda kind, size, folder: of_suite(kind, size, folder).plot(),
    "SubtopicCurves": lambda kind, size, _: subtopic_curve(
        {query: {"1": {"d0": 1}, "2": {"d1": 1}} for query in QUERIES}, lists(kind, size)
    ).plot(),
    "Unjudged": lambda kind, size, _: ll.unjudged(lists(kind, size), method="nruns").plot(),
}


def _of_results(figure: str) -> Draw:
    return lambda kind, size, _: results(kind, size).plot(figure=figure)


def _of_comparison(figure: str) -> Draw:
    return lambda kind, size, _: compared(kind, size).plot(
        figure=figure, **({"pair": names_of(kind, size)[:2]} if figure in ("differences", "scatter") else {})
    )


DRAWN |= {f"Results {figure}": _of_results(figure) for figure in OF_RESULTS}
DRAWN |= {f"Comparison {figure}": _of_comparison(figure) for figure in OF_COMPARISONS if figure != "pairs"}


def test_every_result_with_a_figure_is_drawn_here() -> None:
    assert {name.split()[0] for name in DRAWN} == set(results_with_figures())


# Letters of 14 points are those of slides.
@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize(
    ("kind", "size", "letters"), [("plain", 3, 14), ("mixed", 20, 10), ("plain", 150, 10)]
)
def test_no_text_is_cut_covered_or_too_small(
    name: str, kind: str, size: int, letters: int, tmp_path: Path
) -> None:
    with mpl.rc_context({"font.size": letters}):
        figure = DRAWN[name](kind, size, tmp_path / "files")
        whole(figure)
    assert least_size(figure) >= 5


def test_letters_of_a_style_make_the_figure_larger_and_a_narrow_one_is_not_cut() -> None:
    for changed in ({"axes.labelsize": "large"}, {"font.size": 14, "figure.figsize": (3.4, 2)}):
        with mpl.rc_context(changed):
            whole(results("plain", 3).plot())
