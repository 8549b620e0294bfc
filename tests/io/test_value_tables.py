"""Values of queries are told from judgments and runs by the beginning of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.evaluation.score_results import is_known
from leadline.io.score_tables import is_values

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "docs" / "examples"
MEANS = {"pyterrier_means.csv", "ranx_report.json"}  # without queries
TEXT = {
    "map\tq1\t0.5\nmap\tall\t0.5\n": True,
    "q1 AP 0.5\n": True,
    "q1 d1 0.5\nq1 d2 0.4\n": False,
    "query_id\tdoc_id\trelevance\nq1\td1\t1\n": False,
    "query_id,AP\nq1,0.5\n": True,
    "qid,chunk_id,score\nq1,d1,0.5\n": False,
    "run,query,measure,value\na,q1,AP,0.5\n": True,
    "run,measure,v\na,AP,0.5\n": True,
    "q1 0 d1 1\n": False,
    "q1 Q0 d1 1 2.5 bm25\n": False,
    "": False,
}


@pytest.mark.parametrize("path", sorted((HERE / "scores").iterdir()), ids=lambda path: path.name)
def test_scores_of_other_programs_are_values(path: Path) -> None:
    assert is_values(str(path), is_known) is (path.name not in MEANS and path.suffix != ".md")


@pytest.mark.parametrize(
    "path",
    [*sorted((HERE / "programs").iterdir()), *sorted(EXAMPLES.glob("[!s]*"))],
    ids=lambda path: path.name,
)
def test_judgments_and_runs_of_other_programs_are_not(path: Path) -> None:
    assert not is_values(str(path), is_known)


@pytest.mark.parametrize(("text", "values"), TEXT.items())
def test_tables_are_told_by_their_columns(text: str, values: bool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    assert is_values(str(tmp_path / "file"), is_known) is values


@pytest.mark.parametrize("queries", [1, 5000])
def test_json_is_told_by_its_keys_however_long_it_is(queries: int, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    names = [f"q{place}" for place in range(queries)]
    for found, values in (
        ({name: {"AP": 0.5, "nDCG@10": 0.25} for name in names}, True),
        ({"map": dict.fromkeys(names, 0.5)}, True),
        ({name: {"d1": 0.5, "d2": 0.25} for name in names}, False),
        ({"a": {name: {"AP": 0.5} for name in names}}, True),
        ({name: {} for name in names}, False),
    ):
        path.write_text(json.dumps(found))
        assert is_values(str(path), is_known) is values, str(found)[:50]
