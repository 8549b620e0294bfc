"""The keys of the JSON results, and the types of their values, as they were before the redesign.

`keys/COMMAND.json` was written by commit 4171b34. A key that is missing or has another type breaks programs
that read our results. New keys are free: `python tests/golden/test_json_keys.py COMMAND` adds them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from conftest import Leadline

KEYS = Path(__file__).parent / "keys"
EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
RUNS = "bm25.run dense.run"
INDEX = "index docs.jsonl -o docs.index"
MODEL = "topics fit docs.jsonl -T 3 -C sweeps=20 -o docs.model"
POOL = f"pool {RUNS} --for P@10 --budget 3 --seed 1 -o drawn.tsv"
SAVED = f"evaluate qrels.txt {RUNS} -m AP -m P@10 -o saved.json"
PREDICTED = f"predict {RUNS} -m WIG -m NQC -o predicted.json"
# What is run before, and then the command whose result is looked at.
COMMANDS = {
    "abtest": ["abtest clicks.csv --arms old new --user user --time time --planned 0.5"],
    "abtest-assign": ["abtest assign users.txt --fraction 0.1 --salt snippets"],
    "abtest-counts": ["abtest --a 460/10000 --b 527/10000 --planned 0.5 --config test.smallest=0.005"],
    "abtest-deviations": ["abtest deviations clicks.csv -C document=user --position rank"],
    "abtest-plan": ["abtest plan --rate 0.05 --lift 0.1 --fraction 0.05"],
    "agreement": ["agreement judges.csv -q -C resample=pairs"],
    "agreement-table": ["agreement --table 300,20,10,70"],
    "check": [f"check qrels.txt {RUNS}"],
    "collection": ["collection docs.jsonl queries.jsonl qrels.txt"],
    "compare": [f"compare qrels.txt {RUNS} -m AP -m nDCG@10 --config test.smallest=0.1"],
    "compare-conditions": [f"compare qrels.txt {RUNS} -m AP --baseline bm25 --fail-below AP=0.1"],
    "correlate": [SAVED, PREDICTED, "correlate saved.json:AP saved.json:P@10"],
    "curve": [f"curve qrels.txt {RUNS}"],
    "difference": [f"difference qrels.txt {RUNS} -k 5 -q"],
    "evaluate": [f"evaluate qrels.txt {RUNS}"],
    "evaluate-pool": [POOL, f"evaluate qrels.txt {RUNS} --pool drawn.tsv -m P@10 -m AP"],
    "evaluate-bounds": [f"evaluate qrels.txt {RUNS} -m P@10 -m RBP --bounds"],
    "evaluate-diversity": [
        "evaluate jaguar.txt varied.run alike.run --config read.subtopics -m alpha_nDCG@5 -q"
    ],
    "evaluate-per-query": [f"evaluate qrels.txt {RUNS} -m AP -m nDCG@10 --per-query"],
    "explain": ["explain qrels.txt bm25.run -m nDCG@10 --query-id knots"],
    "histogram": [f"histogram qrels.txt {RUNS} --bins 4"],
    "index": [INDEX],
    "measures": ["measures"],
    "measures-one": ["measures nDCG"],
    "models": ["models"],
    "models-one": ["models BM25"],
    "pool": [f"pool {RUNS} --depth 3 -o deep.tsv"],
    "pool-for": [POOL],
    "predict": [f"predict {RUNS} -m WIG -m NQC"],
    "predict-correlated": [SAVED, f"predict {RUNS} -m NQC --truth saved.json:AP"],
    "rank": [f"rank qrels.txt {RUNS} -m AP -m nDCG@10"],
    "replicate": [f"replicate {RUNS} {RUNS} qrels.txt -m AP -q"],
    "report": [f"report qrels.txt {RUNS} -o report.html"],
    "sampled": [f"sampled qrels.txt {RUNS} -m AP -m RR --population 20"],
    "score": [INDEX, "score docs.index queries.jsonl qrels.txt -m BM25 -o scored.run"],
    "search": [INDEX, "search docs.index queries.jsonl -m BM25 -k 5 -o found.run"],
    "suite": ["suite suite.toml"],
    "summary": ["summary docs.jsonl --doc d01 --query knots"],
    "topics-fit": [MODEL],
    "topics-infer": [MODEL, "topics infer docs.model docs.jsonl -o docs.vectors"],
    "topics-perplexity": [MODEL, "topics perplexity docs.model docs.jsonl"],
    "topics-search": [MODEL, "topics search docs.model docs.jsonl docs.jsonl -o by_topics.run"],
    "unjudged": [f"unjudged {RUNS} --method nruns -q"],
    "unjudged-soboroff": [f"unjudged {RUNS} --method soboroff"],
}


def keys_of(value: Any, path: str = "") -> dict[str, str]:
    """Return the path of every key with the types of what it holds; the elements of a list share a path."""
    if isinstance(value, dict):
        found = [keys_of(inner, f"{path}.{key}".strip(".")) for key, inner in value.items()]
    elif isinstance(value, list):
        found = [{path: "list"}, *(keys_of(inner, f"{path}[]") for inner in value)]
    else:
        names = {bool: "boolean", int: "number", float: "number", str: "text", type(None): "null"}
        return {path: names[type(value)]}
    kinds: dict[str, set[str]] = {}
    for part in found:
        for key, kind in part.items():
            kinds.setdefault(key, set()).update(kind.split(" or "))
    return {key: " or ".join(sorted(kinds[key])) for key in sorted(kinds)}


def prepare(folder: Path, name: str) -> list[list[str]]:
    """Copy the examples, and give the arguments of the commands to run there."""
    for file in EXAMPLES.iterdir():
        shutil.copy(file, folder)
    lines = [line.split() for line in COMMANDS[name]]
    return [*lines[:-1], [*lines[-1], "-f", "json"]]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_keys_are_those_of_before(
    name: str, leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in prepare(tmp_path, name):
        done = leadline(*arguments)
        assert done.status == 0, done.err
    wanted = json.loads((KEYS / f"{name}.json").read_text(encoding="utf-8"))
    found = keys_of(done.data)
    assert {key: found.get(key) for key in wanted} == wanted


def test_every_golden_file_is_compared() -> None:
    assert {file.stem for file in KEYS.iterdir()} == set(COMMANDS)


def write(name: str) -> None:
    """Write the golden file of one command, run as a user does."""
    with tempfile.TemporaryDirectory() as folder:
        for arguments in prepare(Path(folder), name):
            command = [sys.executable, "-m", "leadline", *arguments]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    text = json.dumps(keys_of(json.loads(done.stdout)), indent=1, ensure_ascii=False)
    (KEYS / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for command in sys.argv[1:] or COMMANDS:
        write(command)
