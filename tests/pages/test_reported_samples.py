"""Reports, assertions of pytest and the Action on judgments that were drawn."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import leadline as ll
from conftest import REPOSITORY, Leadline
from leadline.io.pool_files import read_drawn_pool

pytest_plugins = ["pytester"]
RNG = random.Random(5)
TRUTH = {f"q{one}": {f"d{two}": int(RNG.random() < 0.3) for two in range(30)} for one in range(30)}
RUNS = {
    name: {
        query: {doc: share * grade + RNG.gauss(0, 1) for doc, grade in row.items()}
        for query, row in TRUTH.items()
    }
    for name, share in (("old", 0.5), ("new", 2.0))
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline) -> Path:
    """Write runs, a drawn pool and its judgments."""
    monkeypatch.chdir(tmp_path)
    for name, run in RUNS.items():
        ll.write_run(run, f"{name}.run")
    drawing = ("pool", "old.run", "new.run", "--for", "P@10", "--budget", "7", "-o", "pool.tsv")
    assert leadline(*drawing).status == 0
    pool = read_drawn_pool("pool.tsv")
    judged: dict[str, dict[str, int]] = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            judged.setdefault(query, {})[document] = TRUTH[query][document]
    ll.write_qrels(judged, "judged.qrels")
    return tmp_path


GIVEN = ("judged.qrels", "old.run", "new.run", "--pool", "pool.tsv")


@pytest.mark.usefixtures("here", "undrawn")
def test_a_report_has_the_estimates_and_the_comparison_of_them(leadline: Leadline) -> None:
    done = leadline("report", *GIVEN, "-m", "P@10", "-o", "page.html", "-f", "json")
    assert done.status == 0
    known = leadline("evaluate", *GIVEN, "-m", "P@10", "-f", "json").data
    pairs = leadline("compare", *GIVEN, "-m", "P@10", "-f", "json").data["pairs"]
    assert [run["estimate"] for run in done.data["runs"]] == [run["estimate"] for run in known["runs"]]
    assert done.data["pairs"] == pairs
    assert [one["path"] for one in done.data["inputs"]] == [one["path"] for one in known["inputs"]]
    page = Path("page.html").read_text()
    for run in known["runs"]:
        assert f"{run['mean']['P@10']:.4f}" in page
    assert leadline("report", *GIVEN, "-m", "AP", "-o", "page.html").status == 2  # no interval is given
    found = ll.report("judged.qrels", ["old.run", "new.run"], "again.html", pool="pool.tsv", measures="P@10")
    assert found.pairs[0].difference == pairs[0]["difference"]


@pytest.mark.usefixtures("here")
def test_a_report_says_that_its_values_are_estimates(leadline: Leadline) -> None:
    ll.write_run({query: dict.fromkeys(row, 1.0) | {"x": 2.0} for query, row in TRUTH.items()}, "late.run")
    asked = ("judged.qrels", "old.run", "new.run", "late.run", "--pool", "pool.tsv", "-m", "P@10")
    assert leadline("report", *asked, "-o", "page.html", "-o", "page.tex").status == 0
    told = leadline("evaluate", *asked).out.splitlines()
    basis = next(line for line in told if line.startswith("estimated from"))
    page = Path("page.html").read_text()
    assert basis in page
    assert basis in Path("page.tex").read_text()
    assert "None" not in page
    assert "W/T/L" not in page
    assert ">c  late (new)<" in page
    assert "2 undecided" in page
    first = leadline("evaluate", *asked, "-f", "json").data["runs"][0]["estimate"]["P@10"]
    assert f"({first['these_low']:.4f} to {first['these_high']:.4f})" in page
    figure = ll.compare(*asked[:1], list(asked[1:4]), "P@10", pool="pool.tsv").plot(figure="forest")
    assert "estimated mean" in figure.axes[0].get_xlabel()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][-1] == "late (new)"


BODY = """
def test_met(leadline_gate):
    leadline_gate.assert_not_worse('new.run', 'old.run', 'P@10', margin=0.01)
    leadline_gate.assert_at_least('new.run', 'P@10', 0.1)

def test_worse(leadline_gate):
    leadline_gate.assert_not_significantly_worse('old.run', 'new.run', 'P@10')

def test_not_told(leadline_gate):
    leadline_gate.assert_at_least('new.run', 'P@10', VALUE)

def test_no_interval(leadline_gate):
    leadline_gate.assert_at_least('new.run', 'AP', 0.001)

def test_complete(leadline_gate):
    leadline_gate.assert_at_least('new.run', 'AP', 0.001, qrels='truth.qrels', pool=None)
"""


def test_assertions_are_on_the_estimates(
    here: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in here.iterdir():
        shutil.copy(path, pytester.path)
    ll.write_qrels(TRUTH, pytester.path / "truth.qrels")
    monkeypatch.chdir(pytester.path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (pytester.path / "pytest.ini").write_text(
        "[pytest]\nleadline_qrels = judged.qrels\nleadline_pool = pool.tsv\n"
    )
    value = ll.evaluate("judged.qrels", "new.run", "P@10", pool="pool.tsv").mean("new", "P@10")
    pytester.makepyfile(test_it=BODY.replace("VALUE", repr(value - 0.001)))
    found = pytester.runpytest_subprocess("-p", "leadline.pytest_plugin", "-p", "no:cacheprovider", "-rA")
    found.assert_outcomes(passed=2, failed=3)
    found.stdout.fnmatch_lines(["PASSED*test_met*", "PASSED*test_complete*"])
    found.stdout.fnmatch_lines(["*CANNOT TELL*"])


@pytest.mark.parametrize(("baseline", "status"), [("old", 0), ("new", 1)])
def test_the_action_takes_the_pool(here: Path, baseline: str, status: int) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    program = here / "bin" / "leadline"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m leadline "$@"\n')
    program.chmod(0o755)
    variables = {
        "LEADLINE_QRELS": "judged.qrels",
        "LEADLINE_RUNS": "old.run\nnew.run",
        "LEADLINE_POOL": "pool.tsv",
        "LEADLINE_BASELINE": baseline,
        "LEADLINE_FAIL_IF_WORSE": "P@10",
    }
    done = subprocess.run(
        [bash, str(REPOSITORY / "action" / "compare.sh")],
        env={"PATH": f"{program.parent}:/usr/bin:/bin", "PYTHONPATH": str(REPOSITORY / "src"), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "P@10" in done.stdout
