"""Gates as a pipeline uses them: the status of the command alone, in a shell script too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Leadline

SCRIPT = """
"$PYTHON" -m leadline evaluate 50/qrels.txt 50/dead.run --fail-below RR=0.3 > out.txt 2> err.txt
echo "evaluate dead: $?"
if ! [ -s err.txt ]; then echo "silent"; fi
if grep -q Traceback err.txt; then echo "traceback"; fi
if "$PYTHON" -m leadline compare 50/qrels.txt 50/better.run 50/base.run --fail-if-worse RR > out.txt
then echo deployed; fi
if "$PYTHON" -m leadline compare 50/qrels.txt 50/worse.run 50/base.run --fail-if-worse RR > out.txt 2> err.txt
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
    done = leadline("compare", *files, *condition.split())
    assert done.status == expected(queries, run, required="require" in condition)
    assert done.err or done.status != 1


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize(("run", "status"), [("better", 0), ("worse", 1), ("dead", 2)])
def test_a_least_mean_stops_a_run_in_both_commands(
    command: str, run: str, status: int, folder: Path, leadline: Leadline
) -> None:
    runs = [folder / "50" / f"{run}.run", *([folder / "50" / "base.run"] if command == "compare" else [])]
    done = leadline(command, folder / "50" / "qrels.txt", *runs, "--fail-below", "RR=0.3")
    assert done.status == status
    assert done.err or status == 0


def test_a_script_sees_the_status_and_takes_the_right_branches(statuses: list[str]) -> None:
    assert statuses == ["evaluate dead: 2", "deployed", "stopped"]
