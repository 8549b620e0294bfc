"""The complete output of a few command lines of every command that prints a table: the test of wording.

After a change of wording, `PYTHONPATH=tests python tests/golden/test_outputs.py [COMMAND ...]` writes the
files `outputs/COMMAND.txt` again; read the difference before you commit it. Other tests look at values.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

from conftest import Leadline, Outcome, example_of
from leadline.cli import group

OUTPUTS = Path(__file__).parent / "outputs"
EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
RUNS = "bm25.run dense.run"
# What is run before, then `$ leadline` lines whose output is kept. A line that fails keeps its error. A
# command without lines is tried with the example of its help.
BEFORE = {
    "correlate": [f"evaluate qrels.txt {RUNS} -m AP -m P@10 -o saved.json"],
    "evaluate": [f"pool {RUNS} --for P@10 --budget 3 --seed 1 -o drawn.tsv"],
    "merge": [f"evaluate qrels.txt {RUNS} -m AP -m RR -o saved.parquet"],
    "show": [f"compare qrels.txt {RUNS} -m AP -o saved.json"],
    "topics": ["topics fit docs.jsonl -T 3 -C sweeps=20 -o docs.model"],
    "verify": [f"evaluate qrels.txt {RUNS} -m AP -m RR -o saved.parquet"],
    "why-different": [
        "evaluate qrels.txt dense.run -m map -q -f trec --profile trec9 -o one.txt",
        "evaluate qrels.txt dense.run -m AP -l 2 -o two.json",
        "evaluate qrels.txt dense.run -m AP -o three.json",
    ],
}
LINES = {
    "abtest": [
        "abtest clicks.csv --arms old new --user user --time time --planned 0.5",
        "abtest --a 460/10000 --b 527/10000 --config test.smallest=0.005",
        "abtest --a 38/10000 --b 42/10000 --planned 0.5",
        "abtest plan --rate 0.05 --lift 0.1",
        "abtest --a 46/10",
    ],
    "agreement": [
        "agreement judges.csv",
        "agreement --table 300,20,10,70",
        "agreement --table 20,5,1,3,30,4,0,6,31 -C weights=linear --scale ordinal",
        "agreement qrels.txt",
    ],
    "check": [f"check qrels.txt {RUNS}", "check clicks.csv"],
    "collection": ["collection docs.jsonl queries.jsonl qrels.txt"],
    "compare": [
        f"compare qrels.txt {RUNS} -m AP -m RR",
        f"compare qrels.txt {RUNS} -m AP --test Wilcoxon --baseline bm25 --fail-if-worse AP",
        f"compare qrels.txt {RUNS} --fail-if-worse AP",
        f"compare qrels.txt {RUNS} -m AP -f markdown",
        "compare qrels.txt bm25.run",
    ],
    "correlate": ["correlate saved.json:AP saved.json:P@10"],
    "curve": [f"curve qrels.txt {RUNS}", "curve jaguar.txt varied.run alike.run --config read.subtopics"],
    "difference": [f"difference qrels.txt {RUNS} -k 5", "difference qrels.txt bm25.run"],
    "evaluate": [
        f"evaluate qrels.txt {RUNS}",
        f"evaluate qrels.txt {RUNS} -m AP --per-query",
        f"evaluate qrels.txt {RUNS} -m P@10 --bounds --intervals",
        f"evaluate qrels.txt {RUNS} --pool drawn.tsv -m P@10",
        f"estimate qrels.txt {RUNS} --pool drawn.tsv",
        f"evaluate qrels.txt {RUNS} -m AP -m RR -f latex",
        f"evaluate qrels.txt {RUNS} -m AP -m RR -f markdown",
        "evaluate qrels.txt missing.run",
        "evaluate qrels.txt bm25.run -m nDGC@10",
    ],
    "explain": [
        "explain qrels.txt bm25.run -m nDCG@10 --query-id knots",
        "explain qrels.txt bm25.run -m map --query-id tides",
        "explain qrels.txt bm25.run -m RR -l 1.5 --query-id knots --long",
        "explain jaguar.txt varied.run --config read.subtopics -m alpha_nDCG@5 --query-id jaguar",
        "explain qrels.txt bm25.run -m AP --query-id nots",
    ],
    "fuse": [
        "fuse bm25.run dense.run --method CombMNZ --weights 0.25,0.75 -o fused.run",
        "fuse bm25.run dense.run --normalise max -o fused.run",
        "fuse bm25.run dense.run --method RFF -o fused.run",
    ],
    "histogram": [
        f"histogram qrels.txt {RUNS} --bins 4 --config test.draws=20",
        f"histogram qrels.txt {RUNS} --bins 4 --config test.draws=20 -C as_printed --sample 3",
    ],
    "merge": [
        "merge saved.parquet",
        "merge saved.parquet -C queries=both -f csv -q",
        "merge saved.parquet saved.parquet",
    ],
    "pool": [
        f"pool {RUNS} --depth 3 -o deep.tsv",
        f"pool {RUNS} --for P@10 --budget 3 --seed 1 -o drawn.tsv",
    ],
    "predict": ["predict bm25.run dense.run -m WIG -m NQC"],
    "rank": [
        f"rank qrels.txt {RUNS} -m AP -m RR --config test.draws=1000",
        f"rank qrels.txt {RUNS} -m AP --config test.draws=0 -f markdown",
        "rank scores.csv --config scores.lower_is_better=latency --config test.draws=1000",
        "rank qrels.txt",
    ],
    "replicate": [
        f"replicate {RUNS} dense.run bm25.run qrels.txt -m AP",
        f"replicate {RUNS} {RUNS} qrels.txt qrels.txt -m AP -m RR -f markdown",
        f"replicate {RUNS} {RUNS} qrels.txt -m RR -f csv",
        f"replicate {RUNS} bm25.run qrels.txt missing.txt",
    ],
    "report": [f"report qrels.txt {RUNS} -m AP -o report.html", "report qrels.txt bm25.run -o report.html"],
    "sampled": [
        f"sampled qrels.txt {RUNS} -m AP -m RR --population 20",
        "sampled qrels.txt bm25.run -m Bpref",
    ],
    "show": ["show saved.json", "show saved.json -f latex", "show qrels.txt"],
    "suite": ["suite suite.toml", "suite suite.toml --partial -m AP -f csv"],
    "summary": ["summary docs.jsonl --doc d01 --query knots"],
    "topics": ["topics perplexity docs.model docs.jsonl"],
    "unjudged": [f"unjudged {RUNS} --method nruns", f"unjudged {RUNS} --method soboroff"],
    "verify": ["verify saved.parquet", "verify qrels.txt"],
    "why-different": [
        "why-different one.txt two.json --qrels qrels.txt --run dense.run -m AP -q",
        "why-different one.txt three.json",
        "why-different one.txt three.json --qrels qrels.txt",
        "why-different one.txt bm25.run",
    ],
}


# Their output is help, a file, a time taken, or that of other commands.
NOT_KEPT = {"convert", "demo", "help", "index", "judge", "score", "search", "study"}
COMMANDS = set(group.list_commands(click.Context(group)))
LINES |= {command: [example_of(command)] for command in sorted(COMMANDS - NOT_KEPT - set(LINES))}


def shown(line: str, done: Outcome) -> str:
    """Return a command line and its standard output, standard error and nonzero status."""
    return f"$ leadline {line}\n{done.out}{done.err}" + (f"[status {done.status}]\n" if done.status else "")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("command", LINES)
def test_the_output_is_the_stored_one(
    command: str, leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for line in BEFORE.get(command, []):
        assert leadline(*line.split()).status == 0
    printed = "\n".join(shown(line, leadline(*line.split())) for line in LINES[command])
    assert printed == (OUTPUTS / f"{command}.txt").read_text(encoding="utf-8")


def test_every_command_has_a_file() -> None:
    how = "`PYTHONPATH=tests python tests/golden/test_outputs.py COMMAND` writes the file of a new command"
    assert {file.stem for file in OUTPUTS.iterdir()} == set(LINES), how
    assert set(LINES) | NOT_KEPT == COMMANDS


def run(line: str, folder: str) -> Outcome:
    """Run a command line as a user does."""
    command = [sys.executable, "-m", "leadline", *line.split()]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def write(command: str) -> None:
    """Write the file of one command."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
        for line in BEFORE.get(command, []):
            run(line, folder)
        text = "\n".join(shown(line, run(line, folder)) for line in LINES[command])
    (OUTPUTS / f"{command}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    OUTPUTS.mkdir(exist_ok=True)
    for name in sys.argv[1:] or LINES:
        write(name)
