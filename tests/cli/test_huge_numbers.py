"""Numbers that are negative, or beyond what memory and time allow, are refused in one line with the limit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline
from leadline.data.validation import LARGEST, LIMITS, check_whole
from leadline.errors import UsageError

FIT = "topics fit docs.jsonl -o made.npz"
DESHATO = "unjudged bm25.run dense.run alike.run --method deshato --docs docs.jsonl"
# A line, one of its options, and the largest value that the option takes.
LIMITED = [
    ("agreement ann.qrels qrels.txt", "--config test.draws", LIMITS["draws"]),
    ("agreement ann.qrels qrels.txt --level 1", "--config test.draws", LIMITS["draws"]),
    ("correlate a.json:AP b.json:AP", "--config test.draws", LIMITS["draws"]),
    ("histogram qrels.txt bm25.run", "--config test.draws", LIMITS["draws"]),
    ("sampled qrels.txt bm25.run -m AP --population 20", "--config test.draws", LIMITS["draws"]),
    (f"{FIT} -C sweeps=2", "-T", LIMITS["topics"]),
    (f"{FIT} -T 2", "--config topics.sweeps", LIMITS["sweeps"]),
    (f"{FIT} -T 2 -C sweeps=2", "--config topics.restarts", LIMITS["restarts"]),
    ("topics perplexity model.npz docs.jsonl", "--config topics.particles", LIMITS["particles"]),
    (DESHATO, "-T", LIMITS["topics"]),
    (DESHATO, "--config topics.sweeps", LIMITS["sweeps"]),
    (DESHATO, "--config topics.fits", LIMITS["fits"]),
    ("search docs.index queries.jsonl -m BM25 -o made.run", "-k", LARGEST),
    ("topics search model.npz docs.jsonl docs.jsonl -o made.run", "-k", LARGEST),
    ("evaluate qrels.txt bm25.run", "-M", LARGEST),
    ("compare qrels.txt bm25.run dense.run", "-M", LARGEST),
    ("histogram qrels.txt bm25.run", "--depth", LARGEST),
    ("summary docs.jsonl --doc d01 --query rope", "--config summary.windows", LARGEST),
]
SEEDED = [
    f"{FIT} -T 2 -C sweeps=2",
    "topics infer model.npz docs.jsonl -o made.jsonl",
    "topics perplexity model.npz docs.jsonl",
    "topics search model.npz docs.jsonl docs.jsonl -o made.run",
    "agreement ann.qrels qrels.txt",
    "study difference-similarity qrels.txt bm25.run dense.run --team teams.tsv:team -o made",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leadline: Leadline) -> Path:
    for path in (REPOSITORY / "docs" / "examples").iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    shutil.copy(tmp_path / "qrels.txt", tmp_path / "ann.qrels")
    monkeypatch.chdir(tmp_path)
    assert leadline("index", "docs.jsonl", "-o", "docs.index").status == 0
    fit = FIT.replace("made", "model")
    assert leadline(*fit.split(), "-T", 2, "-C", "topics.sweeps=2").status == 0
    for name in ("a.json", "b.json"):
        runs = ["bm25.run", "dense.run", "alike.run"]
        done = leadline("evaluate", "qrels.txt", *runs, "-m", "AP", "-q", "-f", "json", "-o", name)
        assert done.status == 0
    return tmp_path


@pytest.mark.parametrize(("line", "option", "limit"), LIMITED)
def test_a_number_beyond_its_limit_is_refused(
    line: str, option: str, limit: int, folder: Path, leadline: Leadline
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    for value in (limit + 1, 10**20, 10**400, -1):
        done = leadline(*f"{line} {option}{'=' if '.' in option else ' '}{value}".split())
        assert (done.status, done.out) == (2, ""), (value, done)
        assert done.err.startswith("leadline: error: ")
        assert done.err.count("\n") == 1
        if value == limit + 1:
            assert str(limit) in done.err.replace(",", "")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("line", SEEDED)
@pytest.mark.usefixtures("folder")
def test_a_negative_seed_is_refused(line: str, leadline: Leadline) -> None:
    said = "-1 is less than 0" if line.startswith("study") else "-1 is not between 0 and 4294967295"
    assert said in leadline(*line.split(), "--seed=-1").refusal


@pytest.mark.usefixtures("folder")
def test_a_number_that_no_column_holds_is_one_line(leadline: Leadline) -> None:
    for population in (10**20, 10**30):
        assert leadline("sampled", "qrels.txt", "bm25.run", "-m", "AP", "--population", population).refusal


def test_the_limit_itself_is_taken() -> None:
    for name, limit in LIMITS.items():
        check_whole(1, **{name: limit})
        with pytest.raises(UsageError, match=f"{name} must be a whole number from 1 to"):
            check_whole(1, **{name: limit + 1})
    check_whole(0, seed=10**40)
    check_whole(0, depth=LARGEST)
    with pytest.raises(UsageError, match="depth must be a whole number from "):
        check_whole(0, depth=LARGEST + 1)
