"""Without the extras: what needs one says so in one line before any work, and all else runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

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
import contextlib, io, json, os
from leadline.__main__ import main
found = []
for arguments in json.loads(sys.argv[2]):
    sys.argv[:] = ["leadline", *arguments]
    before, out, err, status = set(os.listdir()), io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    found.append((status, out.getvalue(), err.getvalue(), sorted(set(os.listdir()) - before)))
json.dump(found, sys.stdout)
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


def run(folder: Path, *commands: tuple[str, ...]) -> list[tuple[int, str, str, list[str]]]:
    """Run command lines with all packages of extras blocked; give status, output, errors and new files."""
    (folder / "qrels.txt").write_text(QRELS)
    for name, text in RUNS.items():
        (folder / f"{name}.run").write_text(text)
    (folder / "docs.jsonl").write_text('{"doc_id": "d1", "text": "the wing of an aircraft"}\n')
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, ",".join(EVERY), json.dumps(commands)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONWARNINGS": "error"},
        check=True,
    )
    return [tuple(each) for each in json.loads(done.stdout)]


def test_commands_without_extras(tmp_path: Path) -> None:
    lines = """evaluate qrels.txt a.run b.run
        compare qrels.txt a.run b.run c.run
        check qrels.txt a.run
        convert a.run a.jsonl
        curve qrels.txt a.run
        difference qrels.txt a.run b.run
        explain qrels.txt a.run -m AP --query-id q1
        histogram qrels.txt a.run
        unjudged a.run b.run c.run --method nruns
        pool a.run b.run --depth 2 -o pool.tsv
        agreement --table 300,20,10,70
        abtest --a 300/1000 --b 350/1000
        measures
        measures nDCG@10
        models
        --help
        demo --files cranfield
        demo"""
    commands = [tuple(line.split()) for line in lines.splitlines()]
    found = run(tmp_path, *commands)
    for command, (status, _, err, _) in zip(commands, found, strict=True):
        assert (status, "Traceback" in err) == (0, False), (command, err)
    _, out, err, made = found[-1]  # the demo prints its tables, and names the extra of the page
    assert (out.count("bm25-titles") >= 2, made) == (True, [])
    assert 'pip install "leadline[plots]"' in err


MISSING = {
    "report qrels.txt missing.run": "plots",
    "curve qrels.txt missing.run -o curve.svg": "plots",
    "compare qrels.txt missing.run b.run -o c.png": "plots",
    "study unjudged-systems missing a.run --team t:c -o out": "plots",
    "judge a.run --docs docs.jsonl --queries q.jsonl --store s.db": "judge",
    "index docs.jsonl -o index": "search",
    "topics fit missing.jsonl -T 2 -o model": "topics",  # brings what [search] does; no document is read
    "convert a.run a.parquet": "frames",
}


def test_a_missing_extra_is_named_in_one_line_before_any_work(tmp_path: Path) -> None:
    found = run(tmp_path, *(tuple(line.split()) for line in MISSING))
    for (line, extra), (status, _, err, made) in zip(MISSING.items(), found, strict=True):
        assert (status, err.count("\n"), made) == (2, 1, []), (line, err)
        assert f'pip install "leadline[{extra}]"' in err


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
