"""`leadline study estimate`: what it finds on runs whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Leadline
from leadline_studies import study
from leadline_studies.common.pages import read_numbers
from tests.judged_runs import write_rows, write_runs

PROXIES = {"none", "centred", "votes", "labels", "adverse, random labels", "adverse, first documents"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write runs of different quality, complete judgments, and labels of which four in five are right."""
    folder = tmp_path_factory.mktemp("study")
    grades, rng = write_runs(folder, (2.0, 1.5, 1.0, 0.5, 0.2, 1.2))
    write_rows(
        folder / "labels.qrels", "{query} 0 d{one} {value:d}", grades != (rng.random(grades.shape) < 0.2)
    )
    return folder


@pytest.fixture(scope="module")
def cells(files: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    import json

    from click.testing import CliRunner

    from leadline.cli import group

    out = tmp_path_factory.mktemp("out")
    words = [
        *f"study estimate {files}/truth.qrels".split(),
        *(files / f"run{one}.run" for one in range(5)),
        *f"--new {files}/run5.run --machine {files}/labels.qrels --measure P@5 --measure RR@5".split(),
        *f"--budgets 5 --draws 60 --pairs 3 -o {out}".split(),
    ]
    done = CliRunner().invoke(group, list(map(str, words)))
    assert done.exit_code == 0, done.output
    data = json.loads((out / "estimate.json").read_text())
    return {(one["measure"], one["proxy"]): one for one in data["cells"]}


def test_every_proxy_is_tried_on_every_measure(cells: dict[tuple[str, str], Any]) -> None:
    assert set(cells) == {(measure, proxy) for measure in ("P@5", "RR@5") for proxy in PROXIES}


def test_sums_are_without_bias_and_their_intervals_hold(cells: dict[tuple[str, str], Any]) -> None:
    for proxy in PROXIES:
        found = cells["P@5", proxy]
        assert abs(found["bias_pooled"]) < 0.012
        assert 0.88 <= found["coverage_pooled"] <= 1
        assert 0.88 <= found["coverage_pairs"] <= 1


def test_a_guess_narrows_and_an_adverse_machine_costs_little(cells: dict[tuple[str, str], Any]) -> None:
    width = {proxy: cells["P@5", proxy]["half_width_pooled"] for proxy in PROXIES}
    assert width["centred"] < width["none"]
    assert width["labels"] < width["centred"]
    for proxy in PROXIES:
        if proxy.startswith("adverse"):
            assert width[proxy] < 1.03 * width["centred"]


def test_smaller_samples_are_part_of_larger_ones_and_certain_pools_are_exact() -> None:
    kept = read_numbers("estimate")
    assert {one["kept"] for one in kept["nested"]} == {None, 1.0}
    assert all(one["equal"] and one["certain"] for one in kept["exact"])


def test_what_cannot_be_studied_is_one_line(leadline: Leadline, files: Path) -> None:
    words = ("study", "estimate", files / "truth.qrels", files / "run0.run", "-o", files / "none")
    assert leadline(*words, "--draws", "1").err.count("\n") == 1
    other = files / "other.qrels"
    other.write_text("zz 0 d1 1\n")
    assert (
        "other.qrels: no pooled document has a label"
        in leadline(*words, "--draws", "2", "--machine", other).err
    )
    sample = files / "sample.csv"
    sample.write_text("query_id,doc_id,relevance,probability\nq0,d0,1,0.5\n")
    for truth, said in ((other, "no query of the runs has judgments"), (sample, "only a sample")):
        assert said in leadline(*words[:2], truth, *words[3:], "--draws", "2").err


def test_one_run_has_no_error_of_differences(files: Path) -> None:
    found = study("estimate").run(
        files / "truth.qrels", [files / "run0.run"], measure=("P@5",), budgets="5", draws=2
    )
    assert {cell["rmse_difference"] for cell in found.data["cells"]} == {None}
