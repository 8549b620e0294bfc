"""Subtopic curves: new subtopics by rank, against subtopic recall at every rank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import Leadline
from leadline.charts.line_plots import covered_by_rank
from leadline.errors import UsageError
from leadline.evaluation.curves import subtopic_curve
from leadline.evaluation.evaluate import evaluate
from leadline.io.objects import Qrels
from whole_pictures import whole

QRELS = "q s1 a 1\nq s1 b 1\nq s2 b 2\nq s3 c 0\nq s3 d 1\np s1 a 1\n"
RUN = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "d": 1.0}}


@pytest.fixture
def judgments(tmp_path: Path) -> str:
    """Write judgments by subtopic."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    return str(tmp_path / "qrels.txt")


def test_by_hand(judgments: str) -> None:
    found = subtopic_curve(judgments, RUN, ranks=4)
    third, half = 1 / 3, 1 / 2  # q has three subtopics; p, which the run lacks, counts 0
    assert found.share[0].tolist() == pytest.approx([third * half, third * half, 2 / 3 * half, half])
    assert found.points("run") == {
        "p": [],
        "q": [[1, 1, pytest.approx(1 / 3)], [3, 1, pytest.approx(2 / 3)], [4, 1, 1.0]],
    }
    assert found.ranks == [1, 2, 3, 4]


def test_at_every_rank_it_is_subtopic_recall() -> None:
    random = np.random.default_rng(3)
    qrels = Qrels.of_subtopics(
        {
            (query, b"d%d" % place): {
                b"s%d" % subtopic: float(random.integers(0, 2)) for subtopic in range(4)
            }
            for query in (b"1", b"2", b"3")
            for place in range(9)
        }
    )
    run = {query: {f"d{place}": float(random.normal()) for place in range(12)} for query in "123"}
    curves = subtopic_curve(qrels, run, ranks=8)
    for rank, share in zip(curves.ranks, curves.share[0].tolist(), strict=True):
        assert share == pytest.approx(evaluate(qrels, run, f"StRecall@{rank}").means[0, 0])


def test_less_than_one_rank_and_unknown_runs_are_refused(judgments: str) -> None:
    with pytest.raises(UsageError, match="ranks must be"):
        subtopic_curve(judgments, RUN, ranks=0)
    with pytest.raises(UsageError, match="no run is named 'ruin'"):
        subtopic_curve(judgments, RUN).points("ruin")


def test_the_command_shows_some_ranks_and_draws_all(
    leadline: Leadline, judgments: str, tmp_path: Path
) -> None:
    (tmp_path / "my.run").write_text("q 0 a 1 2 t\nq 0 b 2 1 t\n")
    asked = ("curve", judgments, tmp_path / "my.run", "--config", "read.subtopics")
    done = leadline(*asked, "--ranks", "7", "-o", tmp_path / "curve.svg")
    head, row, *_ = done.out.splitlines()
    assert head.split() == ["run", "1", "2", "3", "4", "5", "6"]
    assert row.split() == ["my", "0.167", *["0.333"] * 5]
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")
    data = leadline(*asked, "-f", "json").data
    assert data["ranks"] == list(range(1, 21))
    assert [list(run) for run in data["runs"]] == [["name", "covered", "points"]]


def test_axes_say_what_they_show() -> None:
    axes = covered_by_rank(["a", "b"], range(1, 21), np.linspace(0.1, 0.9, 40).reshape(2, 20)).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rank", "subtopics covered (mean share)")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "2", "5", "10", "20"]


def test_many_ranks_have_labels_that_fit_and_few_markers() -> None:
    figure = covered_by_rank(["a"], range(1, 1001), np.linspace(0.1, 0.9, 1000)[None])
    whole(figure)
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == [
        "20",
        "100",
        "200",
        "500",
        "1000",
    ]
    assert figure.axes[0].lines[0].get_markevery() == 40
