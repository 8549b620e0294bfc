"""`leadline sampled`: shapes of the result, populations, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Leadline


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Write judgments and the scores of two relevant documents and one other."""
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    (tmp_path / "mine.run").write_text("q1 Q0 d1 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 d2 3 1 t\n")
    return [tmp_path / "qrels.txt", tmp_path / "mine.run"]


def test_json_has_the_keys_of_the_contract(leadline: Leadline, files: list[Path]) -> None:
    data = leadline("sampled", *files, "-m", "AP", "--population", "12", "-f", "json").data
    assert data["measures"] == ["AP"]
    assert data["runs"][0]["name"] == "mine"
    found = data["runs"][0]["mean"]["AP"]
    assert list(found) == ["value", "low", "high", "sampling_low", "sampling_high", "bias"]
    assert found["value"] == pytest.approx((1 + 2 / 12) / 2)
    assert found["low"] is None  # of one query
    assert "queries" not in data["runs"][0]
    assert data["options"]["population"] == 12
    more = leadline("sampled", *files, "-q", "-f", "json").data
    assert more["runs"][0]["queries"]["q1"]["RR"] == 1.0


@pytest.mark.parametrize("text", ["q1 10\n", "query,documents\nq1,10\n", "# all\nq1\t10\n"])
def test_a_population_may_be_a_file(leadline: Leadline, files: list[Path], text: str) -> None:
    path = files[0].parent / "population.txt"
    path.write_text(text)
    data = leadline("sampled", *files, "-m", "AP", "--population", path, "-f", "json").data
    assert data["runs"][0]["mean"]["AP"]["value"] == pytest.approx((1 + 2 / 12) / 2)


def test_what_cannot_be_is_one_line(leadline: Leadline, files: list[Path]) -> None:
    path = files[0].parent / "population.txt"
    for text, words in (
        ("q1 10\nq1 11\n", "population.txt:2: query 'q1' again; expected each once"),
        ("q1 10\nq2 x\n", "population.txt:2: 'q2 x'; expected a query and a whole number"),
        ("", "holds no numbers"),
        ("q2 5\n", "no population for query 'q1'"),
    ):
        path.write_text(text)
        done = leadline("sampled", *files, "--population", path)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert words in done.err
    done = leadline("sampled", *files, "--population", "-3")
    assert "population -3; expected a whole number, 1 or more, or a file" in done.err
    assert "Bpref cannot be estimated" in leadline("sampled", *files, "-m", "Bpref").err


def test_the_table_shows_both_intervals(leadline: Leadline, files: list[Path]) -> None:
    text = leadline("sampled", *files, "-m", "AP", "-m", "P@2", "--population", "12").out
    assert "sampling low" in text
    assert "stands for up to 10 others, more than the smallest cutoff (2)" in text
