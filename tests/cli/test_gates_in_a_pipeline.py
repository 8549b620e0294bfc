"""Gates as a pipeline uses them: the status of the command alone, in a shell script too."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Leadline, Outcome

SCRIPT = """
"$PYTHON" -m leadline evaluate 50/qrels.txt 50/dead.run --fail-below RR=0.3 > out.txt 2> err.txt
echo "evaluate dead: $?"
if ! [ -s err.txt ]; then echo "silent"; fi
if grep -q Traceback err.txt; then echo "traceback"; fi
gate="compare 50/qrels.txt 50/base.run --baseline base --fail-if-worse RR"
if "$PYTHON" -m leadline $gate 50/better.run > out.txt
then echo deployed; fi
if "$PYTHON" -m leadline $gate 50/worse.run > out.txt
then echo deployed; else echo stopped; fi
"""
SIZES = (1, 2, 4, 5, 50)
SHELL = shutil.which("sh")


def lists(queries: int, *steps: int, prefix: str = "") -> str:
    """Write a run whose relevant document stands at ranks that go round in the steps."""
    return "".join(
        f"{query} Q0 {prefix}{'d' if place == steps[query % len(steps)] else f'x{place}'} "
        f"{place} {-place} t\n"
        for query in range(queries)
        for place in range(1, 9)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make judgments and runs of five sizes."""
    folder = tmp_path_factory.mktemp("pipeline")
    for queries in SIZES:
        here = folder / str(queries)
        here.mkdir()
        (here / "qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in range(queries)))
        base = lists(queries, 2, 3, 2, 4, 3)
        (here / "base.run").write_text(base)
        (here / "equal.run").write_text(base)
        (here / "better.run").write_text(lists(queries, 1, 1, 1, 2, 1))
        (here / "worse.run").write_text(lists(queries, 6, 7, 8, 8, 6))
        (here / "dead.run").write_text(lists(queries, 1, prefix="x"))
    return folder


@pytest.fixture(scope="module")
def statuses(folder: Path) -> list[str]:
    """Run the script."""
    if SHELL is None:
        pytest.skip("no shell is installed")
    (folder / "script.sh").write_text(SCRIPT)
    done = subprocess.run(
        [SHELL, "script.sh"],
        cwd=folder,
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
        timeout=560,
    )
    return done.stdout.splitlines()


def assert_said_once(done: Outcome) -> None:
    """Check that each condition that was not met is printed once."""
    said = re.findall(r"^(?:leadline: )?((?:FAILED|CANNOT TELL): .*)$", done.out + done.err, re.MULTILINE)
    assert len(set(said)) == len(said)
    assert bool(said) == (done.status == 1)


def expected(queries: int, run: str, *, required: bool) -> int:
    """Return the status that a pipeline should see."""
    if run == "dead":
        return 2
    if run == "equal":
        return 0  # not one query differs, however few there are
    if queries < 5:
        return 1  # the queries cannot tell
    return {"better": 0, "worse": 1}[run] if not required or run == "worse" else 0


@pytest.mark.parametrize("queries", SIZES)
@pytest.mark.parametrize("run", ["better", "equal", "worse", "dead"])
@pytest.mark.parametrize(
    "condition",
    ["--fail-if-worse RR", "--require-not-worse RR:0.05", "--fail-if-worse RR --fail-if-worse P@5"],
)
def test_every_status_is_the_one_a_pipeline_should_see(
    queries: int, run: str, condition: str, folder: Path, leadline: Leadline
) -> None:
    here = folder / str(queries)
    files = (here / "qrels.txt", here / f"{run}.run", here / "base.run")
    done = leadline("compare", *files, "--baseline", "base", *condition.split())
    assert done.status == expected(queries, run, required="require" in condition)
    assert_said_once(done)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize(("run", "status"), [("better", 0), ("worse", 1), ("dead", 2)])
def test_a_least_mean_stops_a_run_in_both_commands(
    command: str, run: str, status: int, folder: Path, leadline: Leadline
) -> None:
    runs = [folder / "50" / f"{run}.run", *([folder / "50" / "equal.run"] if command == "compare" else [])]
    done = leadline(command, folder / "50" / "qrels.txt", *runs, "--fail-below", "RR=0.3")
    assert done.status == status
    assert_said_once(done)


def test_a_script_sees_the_status_and_takes_the_right_branches(statuses: list[str]) -> None:
    assert statuses == ["evaluate dead: 2", "deployed", "stopped"]


OLD, NEW = "50/base.run", "50/worse.run"


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Copy the judgments and runs to the working folder, with a run of half the queries."""
    here = tmp_path / "work"
    shutil.copytree(folder, here)
    monkeypatch.chdir(here)
    lines = Path("50/base.run").read_text().splitlines(keepends=True)
    Path("half.run").write_text("".join(line for line in lines if int(line.split()[0]) % 2))
    return here


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("runs", [(OLD, NEW), (NEW, OLD)], ids=["old first", "new first"])
@pytest.mark.parametrize("condition", ["--fail-if-worse RR", "--require-not-worse RR:0.05"])
def test_a_gate_needs_a_baseline_and_the_order_of_runs_does_not_matter(
    leadline: Leadline, runs: tuple[str, str], condition: str
) -> None:
    assert "--baseline" in leadline("compare", "50/qrels.txt", *runs, *condition.split()).refusal
    for baseline, status in (("base", 1), (OLD, 1), ("worse", 0), ("bse", 2)):
        done = leadline("compare", "50/qrels.txt", *runs, "--baseline", baseline, *condition.split())
        assert done.status == status, baseline


@pytest.mark.usefixtures("here")
def test_the_later_run_is_compared_with_the_earlier_one(leadline: Leadline) -> None:
    for first, second, verdict in (("base", "worse", "worse"), ("worse", "base", "better")):
        data = leadline(
            "compare", "50/qrels.txt", f"50/{first}.run", f"50/{second}.run", "-m", "RR", "-f", "json"
        ).data
        (pair,) = data["pairs"]
        assert (pair["a"], pair["b"], pair["verdict"]) == (second, first, verdict)
        assert pair["difference"] == pytest.approx(pair["mean_a"] - pair["mean_b"])


@pytest.mark.usefixtures("here")
def test_a_baseline_may_be_the_path_of_a_run(leadline: Leadline) -> None:
    asked = ("compare", "50/qrels.txt", NEW, "--baseline", OLD, "--fail-if-worse", "RR", "-f", "json")
    (condition,) = leadline(*asked).data["conditions"]
    assert (condition["run"], condition["baseline"], condition["failed"]) == ("worse", "base", True)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("runs", [(OLD,), (OLD, NEW)])
def test_a_floor_needs_no_baseline_and_spares_no_run(leadline: Leadline, runs: tuple[str, ...]) -> None:
    asked = ("compare", "50/qrels.txt", *runs, "--fail-below", "RR=0.3", "-f", "json")
    done = leadline(*asked)
    assert [entry["failed"] for entry in done.data["conditions"]] == [False, True][: len(runs)]
    assert done.status == len(runs) - 1


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("averaging", ["all", "both"])
@pytest.mark.parametrize("condition", ["--fail-if-worse RR", "--require-not-worse RR:0.9"])
def test_half_a_run_cannot_tell(leadline: Leadline, averaging: str, condition: str) -> None:
    asked = ("compare", "50/qrels.txt", "-C", f"queries={averaging}", *condition.split())
    done = leadline(*asked, "half.run", "--baseline", OLD)
    assert done.status == 1
    assert re.search(r"CANNOT TELL: .* 25 judged queries .*\(0, 10, 12, \.\.\.\)", done.out)
    reversed_ = leadline(*asked, OLD, "--baseline", "half.run")
    if averaging == "both":
        assert (reversed_.status, "same RR on all 25 queries" in reversed_.out) == (0, True)
    else:
        assert reversed_.status == 1
        assert re.search(
            r"CANNOT TELL: .* half lacks 25 judged .* --config scores.queries=both", reversed_.out
        )


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize(
    ("measure", "floor", "averaging", "status"),
    [
        ("RR", 0.1, "both", 1),
        ("RR", 0.1, "all", 0),
        ("RR", 0.9, "all", 1),
        ("Unjudged@5", 0.9, "all", 1),
        ("Unjudged@5", 0.9, "both", 1),
    ],
)
def test_a_floor_is_not_reached_by_leaving_queries_out(
    leadline: Leadline, command: str, measure: str, floor: float, averaging: str, status: int
) -> None:
    files = ("50/qrels.txt", "half.run")
    asked = (*files, "-C", f"queries={averaging}", "--fail-below", f"{measure}={floor}", "-f", "json")
    done = leadline(command, *asked)
    (condition,) = done.data["conditions"]
    told = (measure, averaging) != ("RR", "all")
    assert (done.status, condition["failed"], condition["cannot_tell"]) == (status, status == 1, told)
    if told:
        assert "lacks 25 judged queries" in done.err


@pytest.mark.usefixtures("here")
def test_a_query_that_found_nothing_may_be_stated(leadline: Leadline) -> None:
    lists_of: dict[str, dict[str, float]] = {str(query): {} for query in range(50)}
    for line in Path("half.run").read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        lists_of[query][document] = float(score)
    Path("stated.json").write_text(json.dumps(lists_of))
    for averaging in ("all", "both"):
        done = leadline(
            *("compare", "50/qrels.txt", "stated.json", "--baseline", OLD, "-C", f"queries={averaging}"),
            *("--fail-if-worse", "RR", "-f", "json"),
        )
        (condition,) = done.data["conditions"]
        assert (done.status, condition["failed"], condition["cannot_tell"]) == (1, True, False)
        assert [one["count"] for one in done.data["warnings"] if one["code"] == "empty_queries"] == [25]
        (pair,) = done.data["pairs"]
        assert pair["mean_a"] == pytest.approx(pair["mean_b"] / 2, rel=0.2), "an empty list counts 0"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("suffix", ["json", "parquet"])
@pytest.mark.parametrize("averaging", ["all", "both"])
def test_no_baseline_is_made_of_half_a_run_unless_forced_and_it_is_told_forever(
    leadline: Leadline, averaging: str, suffix: str
) -> None:
    file = f"baseline.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    known = ("-C", f"queries={averaging}", "--baseline", file)
    write = ("compare", "50/qrels.txt", "half.run", "-m", "RR", *known, "--update-baseline", file)
    refused = leadline(*write)
    assert (refused.status, refused.out, Path(file).exists()) == (2, "", False)
    assert "--config output.force_update" in refused.err
    assert leadline(*write, "--config", "output.force_update").status == 0
    for run in (OLD, "half.run"):
        done = leadline("compare", "50/qrels.txt", run, *known, "--fail-if-worse", "RR", "-f", "json")
        counts = {entry["code"]: entry["count"] for entry in done.data["warnings"]}
        assert counts["baseline_missing_queries"] == 25
        (condition,) = done.data["conditions"]
        half_counts_0 = averaging == "all"  # on the other queries any run would be as good
        assert (done.status, condition["cannot_tell"]) == (int(half_counts_0), half_counts_0)
        assert ("to the baseline run, and save the baseline again" in done.err) == half_counts_0
        assert "scores.queries" not in done.err, "other options than those of the file are refused"


def scores(path: str, *rows: tuple[str, float]) -> str:
    """Write a table of latencies, run by run in the order of the rows."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("query,run,measure,value\n")
        for run, value in rows:
            file.writelines(f"q{query},{run},latency,{value + query % 7}\n" for query in range(20))
    return path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("order", [("old", "new"), ("new", "old")])
@pytest.mark.parametrize(
    "condition", ["--fail-if-worse latency", "--require-not-worse latency:2", "--fail-below latency=200"]
)
def test_tables_of_scores_need_a_baseline_and_a_direction(
    leadline: Leadline, order: tuple[str, str], condition: str
) -> None:
    means = {"old": 100.0, "new": 500.0}
    table = scores("scores.csv", *((run, means[run]) for run in order))
    asked = ("compare", table, *condition.split())
    unknown = leadline(*asked, "--baseline", "old")
    assert (unknown.status, unknown.out) == (2, "")
    assert "--config scores.lower_is_better=latency" in unknown.err
    slower = leadline(*asked, "--baseline", "old", "--config", "scores.lower_is_better=latency")
    assert slower.status == 1
    assert leadline(*asked, "--baseline", "old", "--config", "scores.higher_is_better=latency").status == 0
    if "below" not in condition:
        without = leadline(*asked, "--config", "scores.lower_is_better=latency")
        assert (without.status, without.out) == (2, "")
    assert leadline("compare", table).status == 0, "a comparison only notes the direction"


@pytest.mark.usefixtures("here")
def test_missing_values_are_not_to_be_counted_as_the_best_value(leadline: Leadline) -> None:
    table = scores("scores.csv", ("old", 100.0), ("new", 100.0))
    lines = Path(table).read_text().splitlines(keepends=True)
    Path(table).write_text("".join(lines[:-1]))  # new lacks a query
    asked = ["compare", table, "--baseline", "old", "--fail-below", "latency=50"]
    asked += ["--config", "scores.missing=drop", "--config"]
    advice = "scores.missing=zero"
    assert advice in leadline(*asked, "scores.higher_is_better=latency").out
    assert advice not in leadline(*asked, "scores.lower_is_better=latency").out
