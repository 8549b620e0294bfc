"""The sample repository of docs/gates.md, made from the page and tried with pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline

PAGE = (REPOSITORY / "docs" / "gates.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./-]+)`\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = [
    line.partition("#")[0].split()
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("pytest")
]


@pytest.fixture
def sample(tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the repository: the files of the page, judgments and a run."""
    monkeypatch.chdir(tmp_path)
    assert leadline("demo", "--files", "cranfield").status == 0
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "runs").mkdir()
    (tmp_path / "cranfield" / "qrels.txt").rename(tmp_path / "qrels.txt")
    put(tmp_path, "tfidf-cosine")
    return tmp_path


def put(sample: Path, name: str) -> None:
    """Let the search engine of the sample give a run."""
    (sample / "runs" / "search.run").write_bytes((sample / "cranfield" / f"{name}.run").read_bytes())


def tried(sample: Path, words: list[str]) -> tuple[int, str]:
    """Run a command of the page; give its status and what it printed."""
    assert words[0] == "pytest"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "leadline.pytest_plugin", *words[1:]],
        cwd=sample,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(REPOSITORY / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_the_gates_of_the_sample_pass_fail_and_pass_again(sample: Path) -> None:
    update, check = COMMANDS
    assert tried(sample, check)[0] == 1, "there is no baseline yet"
    assert tried(sample, update)[0] == 0
    assert tried(sample, check)[0] == 0
    put(sample, "tf-dot-plain")
    status, printed = tried(sample, check)
    assert status == 1
    shown = re.findall(r"^E  .*$", PAGE, re.MULTILINE)
    assert shown[:-1] == [line for line in printed.splitlines() if line.startswith("E ")][: len(shown) - 1]
    assert tried(sample, update)[0] == 1
    put(sample, "tfidf-cosine")
    assert tried(sample, check)[0] == 0, "the baseline stayed as it was"


def test_the_page_has_the_files_of_a_repository() -> None:
    assert set(FILES) == {
        "pyproject.toml",
        "tests/test_search.py",
        ".github/workflows/search.yml",
        ".pre-commit-config.yaml",
    }
    inputs = set(re.findall(r"^  ([a-z-]+):$", (REPOSITORY / "action.yml").read_text(), re.MULTILINE))
    used = set(re.findall(r"^          ([a-z-]+):", FILES[".github/workflows/search.yml"], re.MULTILINE))
    assert used
    assert used <= inputs
