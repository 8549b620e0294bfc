"""`leadline difference`: shapes of the result, pictures, refusals."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from conftest import Leadline
from leadline.comparison.difference import difference
from leadline.render.text_formats import write_terminal

HEADS = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Write judgments of two queries and three runs: right, reversed, and half."""
    qrels = tmp_path / "qrels.txt"
    grades = [1, 1, 0, 0, 0, 0, 0]
    qrels.write_text(
        "".join(f"q{q} 0 d{place} {grade}\n" for q in (1, 2) for place, grade in enumerate(grades))
    )
    runs = {"right": range(7), "wrong": range(6, -1, -1), "half": [0, 2]}
    for name, order in runs.items():
        (tmp_path / f"{name}.run").write_text(
            "".join(f"q{q} Q0 d{place} 1 {-rank} t\n" for q in (1, 2) for rank, place in enumerate(order))
        )
    (tmp_path / "systems.tsv").write_text("run\tteam\tb\nright\tA\t0.1\nwrong\tA\t0.9\nhalf\tB\tx\n")
    return [qrels, *(tmp_path / f"{name}.run" for name in runs)]


@pytest.mark.parametrize("systems", [2, 3, 6, 37])
def test_every_distance_of_the_table_fits_into_80_columns(
    systems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    qrels = {f"q{q}": {f"d{place}": int(place < 4) for place in range(12)} for q in range(3)}
    runs = {
        f"bm25-tuned-rm3-{system:02}": {
            query: {f"d{d}": (d * (system + 2)) % 13 for d in range(12)} for query in qrels
        }
        for system in range(systems)
    }
    table = difference(qrels, runs, cutoff=10).table()
    lines = re.sub("\x1b\\[[0-9;]*m", "", write_terminal(table)).splitlines()
    assert max(map(len, lines)) <= 80
    for number in range(1, systems + 1) if systems <= 6 else ():
        assert f"to {number}" in lines[0]
    for column in ("system", "RIC@10", *(["nearest", "id@10", "mean id"] if systems > 6 else [])):
        assert column in lines[0]


def test_json_has_the_keys_of_the_contract(leadline: Leadline, files: list[Path]) -> None:
    data = leadline("difference", *files, "-f", "json").data
    assert set(data) >= {
        *"""
            leadline command inputs options warnings k systems ric concordance wrong_way id only_first
            competitors
        """.split()
    }
    assert "per_query" not in data
    assert data["k"] is None
    assert data["systems"] == ["right", "wrong", "half"]
    assert data["ric"] == {"right": 1.0, "wrong": 1.0, "half": 0.5}
    assert data["concordance"] == {"right": 1.0, "wrong": -1.0, "half": 0.5}
    assert data["wrong_way"] == {"right": 0, "wrong": 2, "half": 0}
    assert data["id"] == [[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]]
    assert data["only_first"] == [[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]]
    assert set(data["competitors"]) == {
        "Jaccard",
        "Overlap@10",
        "RBO",
        "Kendall",
        "correlation(AP)",
        "distance(RIC)",
    }
    assert data["competitors"]["Kendall"][0][1] == -1.0
    assert data["same_score_far_apart"] == []
    assert [entry["rows"] for entry in data["inputs"]] == [14, 14, 14, 4]


def test_per_query_values_are_there_on_request(leadline: Leadline, files: list[Path]) -> None:
    data = leadline("difference", *files, "-q", "-f", "json", "--no-competitors").data
    assert list(data["per_query"]) == ["q1", "q2"]
    assert data["per_query"]["q1"]["wrong_way"] == ["wrong"]
    assert data["competitors"] == {}


def test_csv_has_all_pairs_and_jsonl_all_systems(leadline: Leadline, files: list[Path]) -> None:
    rows = list(csv.reader(io.StringIO(leadline("difference", *files, "-f", "csv").out)))
    assert rows[0][:7] == ["a", "b", "id", "only_a", "only_b", "RIC_a", "RIC_b"]
    assert [row[:3] for row in rows[1:]] == [
        ["right", "wrong", "0.0"],
        ["right", "half", "0.5"],
        ["wrong", "half", "0.5"],
    ]
    lines = leadline("difference", *files, "-f", "jsonl").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["right", "wrong", "half"]


def test_the_table_names_the_pairs_worth_a_look(leadline: Leadline, files: list[Path]) -> None:
    text = leadline("difference", *files, "-k", "2").out
    assert "RIC@2" in text
    assert "right - half" in text


@pytest.mark.parametrize("form", HEADS)
@pytest.mark.parametrize("figure", ["map", "tree", "cumulative"])
def test_a_figure_is_written(leadline: Leadline, files: list[Path], figure: str, form: str) -> None:
    target = files[0].parent / f"out.{form}"
    teams = files[0].parent / "systems.tsv"
    done = leadline("difference", *files, "-o", target, "--figure", figure, "--group", f"{teams}:team")
    assert (done.status, done.err) == (0, f"wrote {target}\n")
    assert target.read_bytes().startswith(HEADS[form])


def test_performance_by_parameter_needs_numbers(leadline: Leadline, files: list[Path]) -> None:
    teams = files[0].parent / "systems.tsv"
    given = ("--group", f"{teams}:team", "--parameter", f"{teams}:b", "--figure", "parameter")
    target = files[0].parent / "out.svg"
    assert leadline("difference", *files[:3], *given, "-o", target).status == 0
    done = leadline("difference", *files, *given, "-o", target)
    assert done.err == "leadline: error: the parameter 'x' of run 'half' is not a number\n"
    done = leadline("difference", *files, "--figure", "parameter", "-o", target)
    assert "needs --group FILE:COLUMN" in done.err


def test_complete_counts_the_rest_of_the_collection_as_not_relevant(
    leadline: Leadline, files: list[Path]
) -> None:
    folder = files[0].parent
    folder.joinpath("only.txt").write_text("q1 0 d0 1\nq1 0 d1 1\n")
    done = leadline("difference", folder / "only.txt", *files[1:], "-f", "json")
    assert "no query has both a relevant document" in done.err
    for name, text in (
        ("docs.txt", "".join(f"d{place}\n" for place in range(7))),
        ("docs.jsonl", "".join(f'{{"doc_id": "d{place}"}}\n' for place in range(7))),
        ("docs.tsv", "doc_id\ttitle\n" + "".join(f"d{place}\tx\n" for place in range(7))),
    ):
        (folder / name).write_text(text)
        data = leadline(
            "difference", folder / "only.txt", *files[1:], "--exhaustive", folder / name, "-f", "json"
        ).data
        assert data["ric"] == {"right": 1.0, "wrong": 1.0, "half": 0.5}


def test_a_run_from_standard_input_is_read_once(leadline: Leadline, files: list[Path]) -> None:
    data = leadline("difference", files[0], files[1], "-", "-f", "json", stdin=files[3].read_bytes()).data
    assert data["id"][0][1] == 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-k", "0"], "0 is not between 1"),
        (["--competitor", "jacard"], "Did you mean Jaccard"),
        (["-o", "out.gif"], "must end in .svg, .pdf or .png"),
        (["--group", "nowhere"], "'nowhere' must have the form FILE:COLUMN"),
    ],
)
def test_bad_options_are_refused_in_one_line(
    leadline: Leadline, files: list[Path], options: list[str], words: str
) -> None:
    assert words in leadline("difference", *files, *options).refusal


def test_a_missing_column_is_refused_with_those_there(leadline: Leadline, files: list[Path]) -> None:
    done = leadline("difference", *files, "--group", f"{files[0].parent / 'systems.tsv'}:tem")
    assert "no column 'tem'. Did you mean 'team'? The columns are run, team, b" in done.err


def test_one_system_has_no_map(leadline: Leadline, files: list[Path]) -> None:
    assert "at least two systems, not one" in leadline("difference", *files[:2]).out
    done = leadline("difference", *files[:2], "-o", files[0].parent / "out.svg")
    assert "needs at least two systems" in done.err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--group", "{}:run"], "--group needs -o FILE.svg"),
        (["--parameter", "{}:run"], "--parameter needs --figure parameter"),
        (
            ["--no-competitors", "--competitor", "Jaccard"],
            "use only one of --competitor and --no-competitors",
        ),
        (["-C", "difference.condense"], "--config difference.condense needs --cutoff"),
        (["-C", "difference.printed6"], "difference.printed6 needs --config difference.weighted"),
    ],
)
def test_no_option_is_ignored(given: list[str], words: str, leadline: Leadline, files: list[Path]) -> None:
    teams = files[0].parent / "systems.tsv"
    teams.write_text("run\tteam\na\tb\n")
    assert words in leadline("difference", *files, *(one.format(teams) for one in given)).refusal


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_notes_beside_data_do_not_explain_columns_of_the_table(
    form: str, leadline: Leadline, files: list[Path]
) -> None:
    told = leadline("difference", *files, "-f", form).err
    assert "nearest pairs" in told
    assert "to 1, to 2" not in told
    assert "reversed: " not in told
