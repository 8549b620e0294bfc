"""Without the extras: what needs one says so in one line before any work, and all else runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from leadline.data.optional import EXTRAS

ROOT = Path(__file__).parent.parent
BLOCKED = """
import sys
names = set(sys.argv[1].split(","))
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
from leadline.__main__ import main
sys.argv[:] = ["leadline", *sys.argv[2:]]
sys.exit(main())
"""
EVERY = sorted(
    {"pandas", "polars", "rich"} | {package for _, packages in EXTRAS.values() for package in packages}
)
QRELS = "".join(f"q{q} 0 d{d} {(d + q) % 2}\n" for q in range(1, 7) for d in range(1, 5))
RUNS = {
    name: "".join(
        f"q{q} Q0 d{d} {rank} {5 - rank} {name}\n"
        for q in range(1, 7)
        for rank, d in enumerate(order if q % 3 else sorted(order), start=1)
    )
    for name, order in {"a": (1, 2, 3, 4), "b": (4, 3, 2, 1), "c": (2, 4, 1, 3)}.items()
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line with all packages of extras blocked."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, ",".join(EVERY), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONWARNINGS": "error"},
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with judgments and three runs."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / f"{name}.run").write_text(text)
    (tmp_path / "docs.jsonl").write_text('{"doc_id": "d1", "text": "the wing of an aircraft"}\n')
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "qrels.txt", "a.run", "b.run"),
        ("compare", "qrels.txt", "a.run", "b.run", "c.run"),
        ("check", "qrels.txt", "a.run"),
        ("convert", "a.run", "a.jsonl"),
        ("curve", "qrels.txt", "a.run"),
        ("difference", "qrels.txt", "a.run", "b.run"),
        ("explain", "qrels.txt", "a.run", "-m", "AP", "--query-id", "q1"),
        ("histogram", "qrels.txt", "a.run"),
        ("unjudged", "a.run", "b.run", "c.run", "--method", "nruns"),
        ("pool", "a.run", "b.run", "--depth", "2", "-o", "pool.tsv"),
        ("agreement", "--table", "300,20,10,70"),
        ("abtest", "--a", "300/1000", "--b", "350/1000"),
        ("measures",),
        ("measures", "nDCG@10"),
        ("models",),
        ("--help",),
        ("demo", "--files", "cranfield"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_commands_without_extras(folder: Path, arguments: tuple[str, ...]) -> None:
    found = run(folder, *arguments)
    assert found.returncode == 0, found.stderr
    assert "Traceback" not in found.stderr


def test_the_demo_prints_its_tables_and_names_the_extra_of_the_page(folder: Path) -> None:
    found = run(folder, "demo")
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("bm25-titles") >= 2
    assert 'pip install "leadline[plots]"' in found.stderr
    assert not (folder / "leadline-demo.html").exists()


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("plots", ("report", "qrels.txt", "missing.run")),
        ("plots", ("curve", "qrels.txt", "missing.run", "-o", "curve.svg")),
        ("plots", ("compare", "qrels.txt", "missing.run", "b.run", "-o", "c.png")),
        ("plots", ("study", "unjudged-systems", "missing", "a.run", "--team", "t:c", "-o", "out")),
        ("judge", ("judge", "a.run", "--docs", "docs.jsonl", "--queries", "q.jsonl", "--store", "s.db")),
        ("search", ("index", "docs.jsonl", "-o", "index")),
        # [topics] brings what [search] does, and no document is read before
        ("topics", ("topics", "fit", "missing.jsonl", "-T", "2", "-o", "model")),
        ("frames", ("convert", "a.run", "a.parquet")),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_missing_extra_is_named_in_one_line_before_any_work(
    folder: Path, extra: str, arguments: tuple[str, ...]
) -> None:
    before = {path.name for path in folder.iterdir()}
    found = run(folder, *arguments)
    assert found.returncode == 2
    assert f'pip install "leadline[{extra}]"' in found.stderr
    assert len(found.stderr.splitlines()) == 1, found.stderr
    assert {path.name for path in folder.iterdir()} == before


def test_every_extra_brings_what_it_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {
        name: {need.partition(">")[0].replace("-", "_").replace("Py", "").lower() for need in needs}
        for name, needs in project["optional-dependencies"].items()
    }
    for extra, packages in EXTRAS.values():
        assert {package.lower() for package in packages} <= brought[extra]
    base = {need.partition(">")[0] for need in project["dependencies"]}
    assert base == {"backports.zstd", "click", "narwhals", "numpy", "scipy"}
