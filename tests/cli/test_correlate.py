"""`leadline correlate`: shapes of the result, files of other commands, refusals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from conftest import Leadline
from leadline.io.result_files import read_column


@pytest.fixture
def results(tmp_path: Path, leadline: Leadline) -> list[Path]:
    """Write a result of `evaluate` with queries, one of `histogram`, and teams."""
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{q} 0 d{d} {int(d < 3)}\n" for q in range(4) for d in range(9))
    )
    for run in range(5):
        (tmp_path / f"r{run}.run").write_text(
            "".join(f"q{q} Q0 d{d} 1 {(d * (run + 2) + q) % 11} t\n" for q in range(4) for d in range(9))
        )
    runs = [tmp_path / f"r{run}.run" for run in range(5)]
    for command, more in (("evaluate", ["-q"]), ("histogram", [])):
        done = leadline(command, tmp_path / "qrels.txt", *runs, *more, "-f", "json")
        (tmp_path / f"{command}.json").write_text(done.out)
    (tmp_path / "teams.tsv").write_text("run\tteam\n" + "".join(f"r{run}\t{run // 2}\n" for run in range(5)))
    return [tmp_path / "evaluate.json", tmp_path / "histogram.json", tmp_path / "teams.tsv"]


def test_json_has_the_keys_of_the_contract(leadline: Leadline, results: list[Path]) -> None:
    data = leadline(
        *f"correlate {results[0]}:AP {results[1]}:hsa_robust -f json --team {results[2]}:team".split()
    ).data
    assert data["n"] == 5
    for name in ("pearson", "spearman", "kendall", "tau_ap"):
        assert set(data[name]) == {"value", "low", "high", "p", "queries_low", "queries_high"}
    assert data["tau_ap"]["p"] is None
    assert data["kendall"]["queries_low"] <= data["kendall"]["queries_high"]
    assert [one["rows"] for one in data["inputs"]] == [5, 5]
    assert (data["truth"], data["estimate"]) == ("AP", "hsa_robust")


def test_every_form_has_all_coefficients(leadline: Leadline, results: list[Path]) -> None:
    rows = list(csv.reader(io.StringIO(leadline("correlate", *results[:2], "-f", "csv").out)))
    names = ["Pearson", "Spearman", "Kendall tau-b", "tau-AP", "tau-AP,b"]
    assert [row[0] for row in rows] == ["coefficient", *names]
    lines = leadline("correlate", *results[:2], "-f", "jsonl").out.splitlines()
    assert [json.loads(line)["coefficient"] for line in lines] == [
        *("pearson", "spearman", "kendall", "tau_ap", "tau_ap_b")
    ]
    text = leadline("correlate", *results[:2]).out
    assert "over 5 runs" in text
    assert "coefficients are unreliable and have no intervals over runs: 5 runs" in text


def test_json_lines_of_evaluate_are_its_json(leadline: Leadline, results: list[Path]) -> None:
    folder = results[0].parent
    runs = [folder / f"r{run}.run" for run in range(5)]
    lines = folder / "evaluate.jsonl"
    lines.write_text(leadline("evaluate", folder / "qrels.txt", *runs, "-q", "-f", "jsonl").out)
    assert read_column(f"{lines}:AP") == read_column(f"{results[0]}:AP")._replace(path=str(lines))


def test_what_cannot_be_is_one_line(leadline: Leadline, results: list[Path]) -> None:
    for arguments, words in (
        ([f"{results[0]}:MAP", results[1]], "there is no measure 'MAP'"),
        (["none.json:AP", results[1]], "none.json: no such file"),
        ([results[0], results[1], "-o", results[0]], "would overwrite an input"),
    ):
        assert words in leadline("correlate", *arguments).refusal


def test_saved_ranks_have_the_means_of_their_runs(tmp_path: Path) -> None:
    means = (("a", 0.5), ("b", 0.4))
    ranks = [{"name": name, "measure": "AP", "mean": mean, "rank": 1.0} for name, mean in means]
    path = tmp_path / "ranks.json"
    path.write_text(json.dumps({"runs": ranks}))
    assert read_column(str(path)).values == {"a": 0.5, "b": 0.4}


def test_settings_of_an_experiment_do_not_make_tables_of_runs_per_query_values(
    tmp_path: Path, leadline: Leadline
) -> None:
    (tmp_path / "a.csv").write_text("run,a\nx,1\ny,2\nz,3\n")
    (tmp_path / "b.csv").write_text("run,b\nx,1\ny,2\nz,4\n")
    (tmp_path / "mine.toml").write_text('qrels = "q"\nruns = ["r"]\n[scores]\nmissing = "zero"\n')
    files = (tmp_path / name for name in ("a.csv", "b.csv"))
    done = leadline("correlate", *files, "-C", tmp_path / "mine.toml", "-f", "json")
    assert done.data["n"] == 3


def test_a_saved_result_gives_its_values_beside_a_table_of_values(
    leadline: Leadline, results: list[Path], tmp_path: Path
) -> None:
    saved, table = tmp_path / "saved.json", tmp_path / "values.csv"
    runs = [tmp_path / f"r{run}.run" for run in range(5)]
    assert leadline("evaluate", tmp_path / "qrels.txt", *runs, "-o", saved).status == 0
    table.write_text(
        "query,run,measure,value\n"
        + "".join(f"q{q},r{run},mine,{run + q}\n" for run in range(5) for q in range(4))
    )
    for pair in ((table, saved), (saved, table)):
        assert leadline("correlate", *pair, "-f", "json").data["n"] == 5
    refused = leadline("correlate", table, results[1])
    assert refused.status == 2
    assert f"error: {results[1]}: " in refused.err


def test_a_table_with_a_row_per_measure_is_no_table_of_per_query_values(
    leadline: Leadline, tmp_path: Path
) -> None:
    (tmp_path / "means.csv").write_text("run,measure,estimate,low\nx,AP,.3,.2\nx,RR,.4,.3\ny,AP,.1,0\n")
    (tmp_path / "b.csv").write_text("run,b\nx,1\ny,2\n")
    for first in ("means.csv", "means.csv:estimate"):
        refused = leadline("correlate", tmp_path / first, tmp_path / "b.csv").refusal
        assert "means.csv: has a column 'measure'" in refused
        assert "pass FILE.json:MEASURE" in refused
    (tmp_path / "means.csv").write_text("run,measure,value\nx,AP,.3\nx,RR,.4\ny,AP,.1\ny,RR,1\n")
    assert leadline("correlate", tmp_path / "means.csv:RR", tmp_path / "b.csv", "-f", "json").data["n"] == 2
