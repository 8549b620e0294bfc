"""Measure which share of small changes to the statistics the tests notice.

    pip install coverage cosmic-ray
    python benchmarks/mutants.py OUTPUT.json [--count N] [--seed N]

A random sample of the mutants that cosmic-ray makes of `stats`, `estimation` and `comparison` is tried, each
with the tests of these packages that run the changed lines. A mutant is killed where one of them fails or
takes minutes. Those of annotations are left out, those of lines that no test runs are counted apart. The work
is done in a copy.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import coverage
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("stats", "estimation", "comparison")
SECONDS = 180
PLUGIN = """
import coverage, pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    coverage.Coverage.current().switch_context(item.nodeid)
    return (yield)
"""


def pytest_in(folder: Path, arguments: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
    """Run pytest on the copy."""
    paths = [str(folder / "src"), str(folder / "tests"), str(folder), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-B", *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, **more
    )


def covered(folder: Path) -> dict[str, dict[int, list[str]]]:
    """Return the tests that run each line, by file."""
    (folder / "contexts.py").write_text(PLUGIN)
    sources = ",".join(f"leadline.{package}" for package in PACKAGES)
    run = [
        "-m",
        "coverage",
        "run",
        f"--source={sources}",
        "--data-file=.lines",
        "-m",
        "pytest",
        "-n",
        "0",
        "-q",
    ]
    tests = [f"tests/{package}" for package in PACKAGES]
    done = pytest_in(folder, [*run, "-p", "contexts", "-p", "no:cacheprovider", *tests])
    if done.returncode:
        raise SystemExit(done.stdout[-2000:])
    data = coverage.CoverageData(str(folder / ".lines"))
    data.read()
    return {file: data.contexts_by_lineno(file) for file in data.measured_files()}


def annotated(file: Path) -> set[tuple[int, int]]:
    """Return the places (line, column) of all nodes of annotations."""
    places = set()
    for node in ast.walk(ast.parse(file.read_text())):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if part is not None:
                places |= {
                    (one.lineno, one.col_offset) for one in ast.walk(part) if isinstance(one, ast.expr)
                }
    return places


def outcome(folder: Path, mutation: Any, tests: list[str]) -> str:
    """Return the outcome of a mutant."""
    file = folder / mutation.module_path
    code = file.read_text()
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    mutated = mutate_code(code, operator, mutation.occurrence)
    if mutated is None or mutated == code:
        return "none"
    if not tests:
        return "no test"
    file.write_text(mutated)
    try:
        quick = ["-m", "pytest", "-n", "0", "-q", "-x", "-p", "no:cacheprovider", "--no-header"]
        done = pytest_in(folder, [*quick, *tests], timeout=SECONDS + 2 * len(tests))
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        file.write_text(code)
    return {0: "survived", 1: "killed", 2: "killed", 4: "killed"}.get(done.returncode, "killed")


def main() -> None:
    """Try a sample of mutants and write what became of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "copy"
        ignored = shutil.ignore_patterns(".git", ".venv", "build", "*_cache", "__pycache__")
        shutil.copytree(REPOSITORY, folder, ignore=ignored)
        if (REPOSITORY.parent / "shared").exists():
            (folder.parent / "shared").symlink_to(REPOSITORY.parent / "shared")
        lines = covered(folder)
        os.chdir(folder)
        modules = [
            file for package in PACKAGES for file in sorted(Path(f"src/leadline/{package}").rglob("*.py"))
        ]
        skipped = {file: annotated(file) for file in modules}
        found = [
            item.mutations[0]
            for item in _all_work_items(modules, {})
            if item.mutations[0].start_pos not in skipped[item.mutations[0].module_path]
        ]
        sample = random.Random(given.seed).sample(found, min(given.count, len(found)))
        results = []
        for one in sample:
            by_line = lines.get(str(folder / one.module_path), {})
            near = range(one.start_pos[0], one.end_pos[0] + 1)
            tests = sorted({test for line in near for test in by_line.get(line, []) if test})
            package = one.module_path.parts[2]
            imported = any(line in by_line for line in near) and not tests
            tests = [f"tests/{package}"] if imported else tests
            said = {
                "file": str(one.module_path),
                "line": one.start_pos[0],
                "operator": one.operator_name,
                "outcome": outcome(folder, one, tests),
            }
            results.append(said)
            print(len(results), *said.values(), flush=True)
            given.output.write_text(json.dumps({"mutants": len(found), "tried": results}, indent=1) + "\n")
    for package in PACKAGES:
        counts = Counter(one["outcome"] for one in results if one["file"].split("/")[2] == package)
        killed = counts["killed"] / max(1, sum(counts.values()) - counts["none"])
        print(f"{package}: {killed:.3f} killed of {dict(counts)}")


if __name__ == "__main__":
    main()
