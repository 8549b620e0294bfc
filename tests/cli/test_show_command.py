"""`leadline show`: what was saved is printed, exported and drawn as the command that made it does."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

import leadline as ll
from conftest import Leadline
from leadline.errors import UsageError

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
RUNS = "bm25.run dense.run"
LINES = {
    "abtest": "abtest --a 460/10000 --b 527/10000",
    "agreement": "agreement judges.csv",
    "collection": "collection docs.jsonl queries.jsonl qrels.txt",
    "check": f"check qrels.txt {RUNS}",
    "check --docs": f"check {RUNS} --qrels qrels.txt --docs docs.jsonl",
    "check --fix": "check bm25.run --fix -o fixed.run",
    "compare": f"compare qrels.txt {RUNS} -m AP -m RR --baseline bm25 --fail-below AP=0.1",
    "curve": f"curve qrels.txt {RUNS}",
    "difference": f"difference qrels.txt {RUNS} -k 5",
    "evaluate": f"evaluate qrels.txt {RUNS} -m P@10 --bounds --intervals",
    "evaluate digits": f"evaluate qrels.txt {RUNS} -C digits=2",
    "explain": "explain qrels.txt bm25.run -m nDCG@10 --query-id knots",
    "histogram": f"histogram qrels.txt {RUNS} --bins 4 --config test.draws=20",
    "measures": "measures nDCG",
    "predict": f"predict {RUNS} -m NQC",
    "rank": f"rank qrels.txt {RUNS} -m AP --config test.draws=100",
    "pool": f"pool {RUNS} --depth 5 -o pool.tsv",
    "replicate": f"replicate {RUNS} {RUNS} qrels.txt -m RR",
    "replicate on others": f"replicate {RUNS} {RUNS} qrels.txt qrels.txt -m RR",
    "sampled": f"sampled qrels.txt {RUNS} -m AP --population 20",
    "suite": "suite suite.toml",
    "unjudged": f"unjudged {RUNS} --method nruns",
}
WITHOUT_FIGURE = {"collection", "check", "explain", "measures", "pool"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the examples."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", LINES)
def test_it_shows_what_the_command_showed(command: str, leadline: Leadline) -> None:
    figures = () if command.split(maxsplit=1)[0] in WITHOUT_FIGURE else ("-o", "a.svg")
    words = LINES[command].split()
    done = leadline(*words, "-o", "kept.json", "-o", "kept.parquet", *figures)
    assert done.status == 0
    as_csv, as_lines, as_markdown = (
        leadline(*words, "-f", form).out for form in ("csv", "jsonl", "markdown")
    )
    options = leadline(*words, "-f", "json").data["options"]
    again = leadline("show", "kept.parquet", *("-o", "b.svg") * bool(figures))
    assert again.status == 0
    assert not figures or Path("b.svg").read_bytes() == Path("a.svg").read_bytes()
    for kept in ("kept.json", "kept.parquet"):
        assert leadline("show", kept).out == done.out
        assert leadline("show", kept, "-f", "csv").out == as_csv
        assert leadline("show", kept, "-f", "jsonl").out == as_lines
        assert leadline("show", kept, "-f", "markdown").out == as_markdown
        shown = leadline("show", kept, "-f", "json").data["options"]
        assert {name: shown[name] for name in options if name not in ("figure", "label")} == {
            name: options[name] for name in options if name not in ("figure", "label")
        }


def test_what_is_saved_comes_compressed_or_from_standard_input(leadline: Leadline) -> None:
    ll.compare("qrels.txt", RUNS.split(), "AP").write("kept.parquet")
    content = Path("kept.parquet").read_bytes()
    Path("kept.parquet.gz").write_bytes(gzip.compress(content))
    shown = leadline("show", "kept.parquet").out
    assert leadline("show", "kept.parquet.gz").out == shown
    assert leadline("show", "-", stdin=content).out == shown


def test_what_python_saved_is_shown_by_lines_and_by_query(leadline: Leadline) -> None:
    compared = ll.compare("qrels.txt", RUNS.split(), "AP")
    compared.write("kept.json")
    lines = [json.loads(line) for line in leadline("show", "kept.json", "-f", "jsonl").out.splitlines()]
    assert lines == compared.to_rows()
    compared.results.write("kept.json")
    assert "knots" in leadline("show", "kept.json", "-q").out
    with pytest.raises(UsageError, match="needs tests of all pairs"):
        ll.compare("qrels.txt", RUNS.split(), "AP", baseline="bm25").plot(figure="groups")


@pytest.mark.parametrize("command", ["replicate", "sampled", "unjudged"])
def test_values_per_query_that_only_json_has_are_not_left_out_silently(
    command: str, leadline: Leadline
) -> None:
    leadline(*LINES[command].split(), "-f", "none", "-o", "kept.json")
    assert "a format with per-query values" in leadline("show", "kept.json", "-q").refusal
    assert "knots" in leadline("show", "kept.json", "-q", "-f", "json").out


def test_what_was_saved_has_all_queries_whatever_was_printed(leadline: Leadline) -> None:
    words = f"evaluate qrels.txt {RUNS} -m AP".split()
    assert leadline(*words, "-f", "none", "-o", "kept.json").out == ""
    assert leadline("show", "kept.json", "-q").out == leadline(*words, "-q").out
    assert set(json.loads(Path("kept.json").read_text())["runs"][0]["queries"]) >= {"knots", "tides"}


def test_another_figure_is_drawn_and_one_that_is_not_there_is_refused(leadline: Leadline) -> None:
    leadline(*f"compare qrels.txt {RUNS} -m AP -o kept.json -o forest.svg --figure forest".split())
    assert leadline("show", "kept.json", "-o", "again.svg", "--figure", "forest").status == 0
    assert Path("again.svg").read_bytes() == Path("forest.svg").read_bytes()
    for more in (("-o", "x.svg", "--figure", "nothing"), ("--figure", "forest"), ("-q", "-o", "x.gif")):
        done = leadline("show", "kept.json", *more)
        assert (done.status, done.err.count("\n")) == (2, 1)


def test_a_kind_of_figure_is_refused_of_a_result_that_has_none(leadline: Leadline) -> None:
    leadline("check", "--qrels", "qrels.txt", "bm25.run", "-o", "kept.json")
    for more in ((), ("--figure", "box")):
        assert "this result has no figure" in leadline("show", "kept.json", "-o", "x.svg", *more).refusal


def test_the_inputs_of_what_was_saved_are_not_overwritten(leadline: Leadline, folder: Path) -> None:
    leadline("evaluate", "qrels.txt", "bm25.run", "-o", "saved.json")
    before = (folder / "qrels.txt").read_bytes()
    assert "would overwrite an input" in leadline("show", "saved.json", "-o", "qrels.txt").refusal
    assert (folder / "qrels.txt").read_bytes() == before


def test_what_is_no_saved_result_is_refused_with_what_to_do(leadline: Leadline, folder: Path) -> None:
    (folder / "printed.json").write_text(leadline("evaluate", "qrels.txt", "bm25.run", "-f", "json").out)
    (folder / "old.json").write_text('{"leadline": "0.1", "format": 1, "state": {}}')
    for name, words in (("printed.json", "-o FILE.json"), ("old.json", "format 1"), ("qrels.txt", "")):
        assert words in leadline("show", name).refusal


def test_values_of_another_program_are_shown_too(leadline: Leadline, folder: Path) -> None:
    (folder / "map.txt").write_text("map\tq1\t0.5\nmap\tq2\t0.25\n")
    assert "0.3750" in leadline("show", "map.txt").out


def test_values_per_query_are_shown_of_every_result_that_has_them(leadline: Leadline) -> None:
    for words in (f"compare qrels.txt {RUNS} -m AP", "agreement judges.csv"):
        assert leadline(*words.split(), "-f", "none", "-o", "kept.json").status == 0
        shown = leadline("show", "kept.json", "-q", "-f", "json")
        assert "knots" in json.dumps(shown.data)
    assert leadline("show", "kept.json", "-q").out == leadline("agreement", "judges.csv", "-q").out


def test_notes_on_a_table_advise_nothing_that_show_has_no_option_for(
    folder: Path, leadline: Leadline
) -> None:
    (folder / "values.csv").write_text("query,latency,num_ret\nq1,5,3\n")
    shown = leadline("show", "values.csv").out
    assert "assuming higher is better: latency" in shown
    assert "NumRet (left out)" in shown
    assert "--config" not in shown


def test_settings_of_a_program_without_values_are_named_by_their_folder(
    folder: Path, leadline: Leadline
) -> None:
    (folder / "model").mkdir()
    (folder / "model" / "model_meta.json").write_text('{"name": "org/m"}')
    assert "model: contains MTEB metadata" in leadline("show", "model").refusal
