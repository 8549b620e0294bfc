"""`leadline histogram`: shapes of the result, pictures, refusals."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Leadline

HEADS = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Write judgments of two queries and three runs: good, bad, and one of equal scores."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"q{q} 0 d{place} {int(place < 4)}\n" for q in (1, 2) for place in range(12)))
    scores: dict[str, Callable[[int], int]] = {
        "good": lambda place: 20 - 2 * place + 5 * (place % 3),
        "bad": lambda place: 2 * place + 5 * (place % 3),
        "flat": lambda _place: 1,
    }
    for name, score in scores.items():
        (tmp_path / f"{name}.run").write_text(
            "".join(f"q{q} Q0 d{place} 1 {score(place)} t\n" for q in (1, 2) for place in range(12))
        )
    return [qrels, *(tmp_path / f"{name}.run" for name in scores)]


def test_json_has_the_keys_of_the_contract(leadline: Leadline, files: list[Path]) -> None:
    data = leadline("histogram", *files, "-f", "json", "--bins", "3").data
    assert set(data) >= {"leadline", "command", "inputs", "options", "warnings", "runs", "definition"}
    good, bad, flat = data["runs"]
    assert set(good) >= {"name", "hsa", "hsa_robust", "do", "recall", "relevant", "nonrelevant", "bins"}
    assert [run["name"] for run in data["runs"]] == ["good", "bad", "flat"]
    assert (good["relevant"], good["nonrelevant"], good["recall"]) == (8, 16, 1.0)
    assert [one["center"] for one in good["bins"]] == pytest.approx([1 / 6, 1 / 2, 5 / 6])
    assert sum(one["relevant"] for one in good["bins"]) == 8
    assert good["hsa_robust"] > 0 > bad["hsa_robust"]
    assert flat["hsa"] is None
    assert [one["bins"] for one in good["sensitivity"]] == [5, 10, 20, 50, 100, 200]
    assert data["options"]["norm"] == "query"
    assert not data["as_printed"]
    printed = leadline("histogram", *files, "-f", "json", "-C", "as_printed").data
    assert (printed["options"]["norm"], printed["options"]["missing"]) == ("model", "skip")
    assert printed["as_printed"]


def test_csv_and_jsonl_have_one_run_a_row(leadline: Leadline, files: list[Path]) -> None:
    rows = list(csv.reader(io.StringIO(leadline("histogram", *files, "-f", "csv").out)))
    assert rows[0][:6] == ["run", "HSA", "low", "high", "robust", "DO"]
    assert [row[0] for row in rows[1:]] == ["good", "bad", "flat"]
    lines = leadline("histogram", *files, "-f", "jsonl").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["good", "bad", "flat"]


@pytest.mark.parametrize("form", HEADS)
def test_a_figure_is_written(leadline: Leadline, files: list[Path], form: str) -> None:
    target = files[0].parent / f"out.{form}"
    done = leadline(
        "histogram", *files, "-o", target, "-C", "histogram.show=good", "-C", "histogram.show=flat"
    )
    assert (done.status, done.err) == (0, f"wrote {target}\n")
    assert target.read_bytes().startswith(HEADS[form])


def test_what_cannot_be_is_refused(leadline: Leadline, files: list[Path]) -> None:
    for more, words in (
        (["--bins", "1"], "1 is not between 2 and 10000"),
        (["--bins", "99999"], "99999 is not between 2 and 10000"),
        (["--norm", "none"], "needs scores from 0 to 1"),
        (["-C", "as_printed", "--norm", "none"], "--config histogram.as_printed needs --norm model"),
        (["-o", "x.gif"], "must end in .svg"),
        (["-C", "histogram.show=nobody", "-o", "x.svg"], "no run is named 'nobody'"),
    ):
        assert words in leadline("histogram", *files, *more).refusal


def test_a_sample_has_its_own_interval(leadline: Leadline, files: list[Path]) -> None:
    heads = leadline("histogram", *files, "--sample", "3", "-f", "csv").out.splitlines()[0]
    assert "high,sampling low,sampling high,robust" in heads
    assert "sampling" not in leadline("histogram", *files).out


def test_no_resamples_are_not_said_to_make_an_interval(files: list[Path], leadline: Leadline) -> None:
    assert "interval" in leadline("histogram", *files).out
    assert "interval" not in leadline("histogram", *files, "-C", "test.draws=0").out
