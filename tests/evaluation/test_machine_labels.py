"""Labels of machines are said to be that, in every form that has a column of judges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from conftest import Leadline
from leadline.data.results import Results


def machine_warnings(found: Results) -> list[int]:
    """Return the counts of warnings of machine labels."""
    return [one.count for one in found.warnings if one.code == "machine_labels"]


LABELLED = [
    {"query_id": "q1", "doc_id": "d1", "relevance": 1, "judge": "llama70b"},
    {"query_id": "q1", "doc_id": "d2", "relevance": 0, "judge": "ann"},
    {"query_id": "q1", "doc_id": "d3", "relevance": 0, "judge": "Team-GPT4o"},
]


def forms_of_labels(tmp_path: Path) -> Iterator[Any]:
    """Yield judgments with a column of judges in every form that has columns."""
    pd = pytest.importorskip("pandas")

    yield LABELLED
    yield pd.DataFrame(LABELLED)
    csv, lines, parquet = (tmp_path / f"labels.{suffix}" for suffix in ("csv", "jsonl", "parquet"))
    pd.DataFrame(LABELLED).to_csv(csv, index=False)
    lines.write_text("".join(json.dumps(row) + "\n" for row in LABELLED))
    pd.DataFrame(LABELLED).to_parquet(parquet)
    yield from (csv, lines, parquet)


def test_a_judge_that_is_a_machine_is_said_in_every_form(tmp_path: Path) -> None:
    run = {"q1": {"d1": 1.0}}
    for labels in forms_of_labels(tmp_path):
        assert machine_warnings(ll.evaluate(labels, run, "P@1")) == [2]
        assert machine_warnings(ll.evaluate(labels, run, "P@1", machine=labels)) == [2]


def test_judges_that_are_people_and_judgments_without_judges_are_not_warned_of() -> None:
    run = {"q1": {"d1": 1.0}}
    people = [
        row | {"judge": name} for row, name in zip(LABELLED, ("hallmark", "ann", "flanagan"), strict=True)
    ]
    assert machine_warnings(ll.evaluate(people, run, "P@1")) == []
    plain = {"q1": {"d1": 1, "d2": 0}}
    assert machine_warnings(ll.evaluate(plain, run, "P@1")) == []
    found = ll.evaluate(plain, run, "P@1", machine=plain)
    assert machine_warnings(found) == [2]
    assert found.mean("run", "P@1") == ll.evaluate(plain, run, "P@1").mean("run", "P@1")


def test_a_row_without_a_judge_is_read_as_before() -> None:
    rows = [LABELLED[0], {key: value for key, value in LABELLED[1].items() if key != "judge"}]
    assert machine_warnings(ll.evaluate(rows, {"q1": {"d1": 1.0}}, "P@1")) == [1]


def test_the_command_says_it_in_the_table_and_in_json(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1.0 t\n")
    words = ("evaluate", "a.qrels", "a.run", "-m", "P@1")
    plain, said = leadline(*words).out, leadline(*words, "--machine", "a.qrels").out
    (line,) = set(said.splitlines()) - set(plain.splitlines())
    assert "machine" in line
    data = leadline(*words, "--machine", "a.qrels", "-f", "json").data
    assert [one["count"] for one in data["warnings"] if one["code"] == "machine_labels"] == [2]
    assert data["options"]["machine"] is True
    assert leadline(*words, "--machine", "a.qrels", "-f", "trec").err.count("machine") > 0
