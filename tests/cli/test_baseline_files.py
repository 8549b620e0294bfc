"""`compare --update-baseline`: when the file is written, when it stays as it is, what it is refused for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from test_gates_in_a_pipeline import lists

from conftest import Leadline

GATE = ("--fail-if-worse", "RR")


def both(path: object) -> tuple[str, ...]:
    """Compare with a file, and write it."""
    return ("--baseline", str(path), "--update-baseline", str(path))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make judgments, a run, a better and a worse one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in range(30)))
    for name, steps in {"run": (2, 3, 2, 4), "better": (1, 1, 1, 2), "worse": (6, 7, 8, 8)}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "new.run").write_text(lists(30, *steps))
    return tmp_path


@pytest.fixture(params=["b.json", "b.parquet"])
def path(request: pytest.FixtureRequest, leadline: Leadline) -> Path:
    """Write the first baseline."""
    if request.param == "b.parquet":
        pytest.importorskip("pyarrow")
    done = leadline("compare", "qrels.txt", "run/new.run", *both(request.param), *GATE)
    assert done.status == 0
    assert "wrote b." in done.err
    assert f"1 check was skipped, because {request.param} does not exist yet" in done.out
    return Path(request.param)


@pytest.mark.parametrize("form", ["table", "csv", "json", "none"])
def test_skipped_checks_are_told_once_in_every_format(form: str, leadline: Leadline) -> None:
    done = leadline("compare", "qrels.txt", "run/new.run", *both("b.json"), *GATE, "-f", form)
    assert (done.out + done.err).count("1 check was skipped, because b.json does not exist yet") == 1
    if form == "json":
        assert [(one["run"], one["skipped"], one["failed"]) for one in done.data["conditions"]] == [
            ("new", True, False)
        ]


def tried(leadline: Leadline, path: Path, run: str, *more: str) -> tuple[int, str]:
    """Compare a run with the baseline; give the status and what was said."""
    done = leadline("compare", "qrels.txt", f"{run}/new.run", "--baseline", path, *more)
    return done.status, done.err


@pytest.mark.parametrize(("run", "status"), [("run", 0), ("better", 0), ("worse", 1)])
def test_a_gate_reads_the_file_and_leaves_it_as_it_is(
    run: str, status: int, path: Path, leadline: Leadline
) -> None:
    before = path.read_bytes()
    assert tried(leadline, path, run, *GATE)[0] == status
    assert path.read_bytes() == before


def test_a_failed_gate_writes_nothing_unless_it_is_asked_for(path: Path, leadline: Leadline) -> None:
    before = path.read_bytes()
    status, said = tried(leadline, path, "worse", *GATE, "--update-baseline", str(path))
    assert (status, path.read_bytes()) == (1, before)
    assert (
        "was not written, because a check did not pass. To write it anyway, use --config output.force_update."
        in said
    )
    status, said = tried(
        leadline, path, "worse", *GATE, "--update-baseline", str(path), "--config", "output.force_update"
    )
    assert status == 1, "the condition failed all the same"
    assert path.read_bytes() != before
    assert tried(leadline, path, "worse", *GATE)[0] == 0


def test_a_gate_that_cannot_tell_writes_nothing(leadline: Leadline, folder: Path) -> None:
    (folder / "qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in range(3)))
    kept = "few.json"
    files = ("compare", "qrels.txt", "run/new.run", *both(kept))
    assert leadline(*files, "-m", "RR").status == 0
    before = Path(kept).read_bytes()
    done = leadline("compare", "qrels.txt", "better/new.run", *both(kept), *GATE)
    assert (done.status, Path(kept).read_bytes()) == (1, before)
    assert "CANNOT TELL" in done.out


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "none"])
def test_a_gate_without_an_interval_says_so_once_and_writes_by_force(form: str, leadline: Leadline) -> None:
    rows = [f"{query},{pair},0.5" for query in range(9) for pair in ("d,1", "d2,0")]
    Path("drawn.csv").write_text("\n".join(["query_id,doc_id,relevance,probability", *rows]) + "\n")
    runs = "drawn.csv new=worse/new.run old=run/new.run --baseline old --fail-if-worse P@2".split()
    for force in ((), ("-C", "force_update"), ("-C", "force_update", "-m", "AP", "-m", "P@2")):
        done = leadline("compare", *runs, "-f", form, "--update-baseline", "b.json", *force)
        assert done.status == 1
        assert (done.out + done.err).count(
            "CANNOT TELL: whether new is worse than old on P@2: P@2 has no"
        ) == 1
        assert ("b.json was not written" in done.err, Path("b.json").exists()) == (not force, bool(force))


def test_a_passed_gate_writes_the_new_values(path: Path, leadline: Leadline) -> None:
    assert tried(leadline, path, "better", *GATE, "--update-baseline", str(path))[0] == 0
    assert tried(leadline, path, "run", *GATE)[0] == 1, "which was the baseline and is now worse"


def test_a_first_baseline_is_not_written_below_the_least_mean(leadline: Leadline) -> None:
    files = ("compare", "qrels.txt", "worse/new.run", *both("b.json"))
    assert leadline(*files, "--fail-below", "RR=0.9").status == 1
    assert not Path("b.json").exists()
    assert leadline(*files, "--fail-below", "RR=0.01").status == 0
    assert Path("b.json").exists()


def test_a_file_that_is_not_there_is_an_error(leadline: Leadline) -> None:
    status, said = tried(leadline, Path("none.json"), "run", *GATE)
    assert status == 2
    assert "none.json" in said


def test_changed_judgments_are_refused_and_written_again_by_force(
    path: Path, leadline: Leadline, folder: Path
) -> None:
    before = path.read_bytes()
    (folder / "qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in range(29)))
    for more in ((), ("--update-baseline", str(path))):
        status, said = tried(leadline, path, "run", *GATE, *more)
        assert (status, path.read_bytes()) == (2, before)
        assert "the judgments differ" in said
        assert "30 judgments before, 29 now" in said
    status, said = tried(
        leadline, path, "run", *GATE, "--update-baseline", str(path), "--config", "output.force_update"
    )
    assert status == 0
    assert "the judgments differ" in said
    assert tried(leadline, path, "run", *GATE)[0] == 0


def test_selected_judgments_are_counted_before_and_now(leadline: Leadline) -> None:
    for number, expected in ((9, ""), (5, "9 judgments before, 5 now")):
        Path("ids.txt").write_text("".join(f"{query}\n" for query in range(number)))
        more = () if expected else ("--update-baseline", "b.json")
        status, said = tried(leadline, Path("b.json"), "run", "-m", "RR", "-C", "queries_in=ids.txt", *more)
        assert status == (2 if expected else 0)
        assert expected in said


def test_no_measure_is_lost_when_it_is_written_again(path: Path, leadline: Leadline) -> None:
    assert tried(leadline, path, "run", "-m", "RR", "-m", "AP", *GATE)[0] == 2, "the file has no AP"
    again = ("-m", "AP", "-m", "P@5", "--update-baseline", str(path), "--config", "output.force_update")
    assert tried(leadline, path, "run", *again)[0] == 0
    assert tried(leadline, path, "run", "--fail-if-worse", "P@5", "--update-baseline", str(path))[0] == 0
    done = leadline("compare", "qrels.txt", "run/new.run", "--baseline", path, "-f", "json")
    assert done.data["measures"] == ["RR", "AP", "P@5"], "all of them are the default"


def test_a_file_is_written_whole_or_not_at_all(
    path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert tried(leadline, path, "better", *GATE, "--update-baseline", str(path))[0] == 2
    assert path.read_bytes() == before
    assert not [name for name in os.listdir() if name.startswith(".leadline-")]


def test_json_says_what_the_file_was_and_whether_it_was_written(path: Path, leadline: Leadline) -> None:
    files = ("compare", "qrels.txt", "better/new.run", "--baseline", path, *GATE, "-f", "json")
    data = leadline(*files).data
    assert data["baseline_file"]["runs"] == ["new"]
    assert data["baseline_file"]["measures"] == ["RR"]
    assert data["baseline_file"]["queries"] == 30
    assert data["baseline_file"]["updated"] is False
    assert data["inputs"][-1]["path"] == str(path)
    assert data["inputs"][-1]["sha256"] == data["baseline_file"]["sha256"]
    assert (data["pairs"][0]["a"], data["pairs"][0]["b"]) == ("new", "new (baseline)")
    assert data["conditions"][0]["baseline"] == "new (baseline)"
    assert leadline(*files, "--update-baseline", path).data["baseline_file"]["updated"] is True


def test_json_of_the_first_baseline_has_no_pairs(leadline: Leadline) -> None:
    files = ("compare", "qrels.txt", "run/new.run", *both("b.json"))
    data = leadline(*files, "-m", "RR", "-f", "json", "-o", "summary.md").data
    assert data["pairs"] == []
    assert data["baseline_file"] == {"path": "b.json", "runs": [], "updated": True}
    assert [run["name"] for run in data["runs"]] == ["new"]
    assert "nothing was compared" in Path("summary.md").read_text()


def test_json_of_evaluate_is_a_baseline(leadline: Leadline) -> None:
    saved = ("evaluate", "qrels.txt", "run/new.run", "-m", "RR", "-o", "kept.json")
    assert leadline(*saved).status == 0
    assert tried(leadline, Path("kept.json"), "run", *GATE)[0] == 0
    assert tried(leadline, Path("kept.json"), "worse", *GATE)[0] == 1
    assert json.loads(Path("kept.json").read_text())["command"] == "evaluate"


@pytest.mark.parametrize(
    "line",
    [
        "--update-baseline",
        "--config output.force_update",
        "--baseline b.json --config output.force_update",
        "--baseline b.json --baseline new",
        "--update-baseline b.txt",
        "--update-baseline qrels.txt",
        "--baseline new.json --update-baseline new.json -o a.svg",
        "-o b.json --update-baseline b.json",
    ],
)
def test_options_that_do_not_go_together_are_refused(line: str, leadline: Leadline) -> None:
    (kept := Path("b.json")).write_text("{}")
    assert leadline("compare", "qrels.txt", "run/new.run", *line.split()).refusal
    assert kept.read_text() == "{}"


def test_a_second_baseline_is_not_advised_to_be_written(leadline: Leadline) -> None:
    baselines = ("--baseline", "run/new.run", "--baseline", "new.json")
    done = leadline("compare", "qrels.txt", "run/new.run", "better/new.run", *baselines)
    assert done.refusal
    assert "no such file" in done.err
    assert "--update-baseline" not in done.err


def test_scores_have_no_baseline_file(path: Path, leadline: Leadline) -> None:
    scores = Path("scores.csv")
    scores.write_text("run,query,RR\n" + "".join(f"new,{query},0.5\n" for query in range(30)))
    done = leadline("compare", scores, "--baseline", path)
    assert done.status == 2
    assert "judgments" in done.err
    assert "option 'missing'" not in done.err, "whose default was not recorded"


def test_no_output_replaces_the_baseline(path: Path, leadline: Leadline) -> None:
    before = path.read_bytes()
    for more in (("-o", path), ("-f", "none", "-o", path)):
        done = leadline("compare", "qrels.txt", "run/new.run", "--baseline", path, *more)
        assert (done.status, path.read_bytes()) == (2, before)


@pytest.mark.parametrize("runs", [("run/new.run",), ("run/new.run", "better/new.run")])
def test_a_folder_is_called_a_folder(runs: tuple[str, ...], leadline: Leadline) -> None:
    assert "worse is a folder" in leadline("compare", "qrels.txt", *runs, "RR", "--baseline", "worse").refusal


@pytest.mark.parametrize(
    ("run", "example"), [("old=run/new.run", "--baseline old."), ("run/new.run", "--baseline run/new.run.")]
)
def test_the_baseline_in_the_hint_is_one_that_the_command_takes(
    run: str, example: str, leadline: Leadline
) -> None:
    assert leadline("compare", "qrels.txt", run, "better/new.run", *GATE).refusal.strip().endswith(example)


@pytest.mark.parametrize("runs", [("run/*.run", "better/new.run"), ("b.csv", "c.csv")])
def test_what_is_no_single_run_is_no_example_of_a_baseline(runs: tuple[str, ...], leadline: Leadline) -> None:
    for name in "abc":
        Path(f"{name}.csv").write_text(f"run,query,RR\n{name},1,0.5\n{name},2,0.5\n")
    first = "a.csv" if runs[0] == "b.csv" else "qrels.txt"
    assert "such as" not in leadline("compare", first, *runs, *GATE).refusal
