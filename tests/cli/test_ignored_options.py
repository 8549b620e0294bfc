"""Options that nothing would use in a call are refused, never ignored."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import leadline as ll
from conftest import Leadline

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
BEFORE = {
    "depth.tsv": "pool bm25.run dense.run --depth 5 -o depth.tsv",
    "drawn.tsv": "pool bm25.run dense.run --for P@10 --budget 3 -o drawn.tsv",
    "docs.index": "index docs.jsonl -o docs.index --store-text",
}
FOR = "pool bm25.run dense.run --for P@10 --budget 3 -o new.tsv"
CALLS = {
    "abtest --a 46/10000 --b 69/10000 --arm arm": "--arm needs LOG",
    "abtest --a 46/10000 --b 69/10000 --click click": "use only one of --a and --click",
    "agreement --table 300,20,10,70 -q": "use only one of --table and --per-query",
    "agreement --table 300,20,10,70 -C scores.missing=zero": "--table and --config scores.missing",
    "agreement judges.csv -C agreement.top=3": "--config agreement.top needs --runs",
    "check bm25.run -C read.on_nan=refuse": "--config read.on_nan needs --fix",
    "check qrels.txt --qrels qrels.txt": "--qrels needs runs or documents to check",
    "check --docs docs.jsonl --qrels qrels.txt -C read.kind=run": "--config read.kind needs FILE",
    "convert qrels.txt new.csv -C read.order=rank": "--config read.order applies only to runs",
    "demo --files new -o new.html": "use only one of --files and --output",
    "demo --files new -o new.html -f json": "--files cannot be combined with --output or --format",
    "difference qrels.txt bm25.run dense.run -q": "--per-query needs a format with per-query values",
    "evaluate qrels.txt bm25.run --confidence 0.9 --pool depth.tsv": "--confidence needs --intervals",
    "histogram qrels.txt bm25.run -C histogram.show=bm25": "--config histogram.show needs -o FILE.svg",
    "judge --store new.db --export new.txt --simulate qrels.txt": "use only one of --export and --simulate",
    "judge p.tsv --store new.db --simulate qrels.txt --merge max": "use only one of --simulate and --merge",
    "judge pool.tsv --store new.db --simulate qrels.txt --port 1": "use only one of --simulate and --port",
    "judge pool.tsv --store new.db -C judge.looks=3": "--config judge.looks needs --stop-when",
    "judge pool.tsv --store new.db -f json": "--format needs --export or --simulate",
    "pool bm25.run --depth 3 --level 2 -o new.tsv": "--level needs --for MEASURE or --method MoveToFront",
    "pool bm25.run --depth 3 -C pool.new_runs=0.3 -o new.tsv": "--config pool.new_runs needs --for",
    f"{FOR} -C pool.whole": "use only one of --for and --config pool.whole",
    f"{FOR} --for-pair bm25 dense -C new_runs=0.3": "use only one of --for-pair and --config pool.new_runs",
    "pool --from drawn.tsv --twice 3 --depth 3 -o new.tsv": "use only one of --twice and --depth",
    "pool --from drawn.tsv --twice 3 --seed 3 -o new.tsv": "use only one of --twice and --seed",
    "pool --from drawn.tsv --leave-out t.tsv:a --looks 2 -o new.tsv": "--leave-out and --looks",
    "predict bm25.run --confidence 0.9": "--confidence needs --truth",
    "predict bm25.run -C text.fields=text": "--config text.fields needs --queries",
    "replicate bm25.run dense.run bm25.run dense.run qrels.txt qrels.txt --rbo RBO(p=0.5)": "and --rbo",
    "sampled qrels.txt bm25.run -q": "--per-query needs a format with per-query values",
    "sampled qrels.txt --draw new.tsv --docs docs.jsonl --sample 3 -m AP": "--draw and --measure",
    "search docs.index --query knots -C text.fields=text": "--config text.fields needs QUERIES",
    "search docs.index queries.jsonl --show -f json": "Use -f table or -f html",
    "search docs.index queries.jsonl -q -f html": "use only one of -f html and --per-query",
    "summary docs.index --doc d01 -C text.fields=text": "use only one of INDEX and --config text.fields",
    "summary docs.jsonl --doc d01 -C summary.windows=1": "--config summary.windows needs --query",
    "summary docs.jsonl --doc d01 --language de": "--language needs --query or --static sentences",
    "topics perplexity new.model docs.jsonl -C estimator=completion -C particles=3": "topics.particles",
    "unjudged bm25.run dense.run -T 3": "-T needs --docs",
    "unjudged bm25.run dense.run -q": "--per-query needs a format with per-query values",
}


@pytest.mark.parametrize("call", CALLS)
def test_no_option_is_ignored(
    call: str, leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for made, line in BEFORE.items():
        assert made not in call or leadline(*line.split()).status == 0
    assert CALLS[call] in leadline(*call.split()).refusal
    assert not list(tmp_path.glob("new*"))


@pytest.mark.parametrize("method", ["MTF", "mtf", "MoveToFront(documents=50)"])
def test_move_to_front_uses_the_level_under_any_name(
    method: str, leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    words = ("pool", "bm25.run", "dense.run", "--level", "2", "--judged", "qrels.txt", "--method", method)
    assert leadline(*words, "-o", tmp_path / "pool.tsv").status == 0


def test_no_keyword_is_ignored() -> None:
    runs = {"a": {"q": ["d"]}, "b": {"q": ["d"]}, "c": {"q": ["e"]}}
    with pytest.raises(ll.UsageError, match="top needs runs"):
        ll.agreement(table=[3, 2, 1, 4], top=3)
    with pytest.raises(ll.UsageError, match="fits needs documents"):
        ll.unjudged(runs, fits=2)
