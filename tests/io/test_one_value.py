"""A run or judgments in any form are the same values, or refused: never other values."""

from __future__ import annotations

import importlib.util
import random
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

FUZZ = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    if not FUZZ.exists():
        pytest.skip("benchmarks are not here")
    spec = importlib.util.spec_from_file_location("fuzz", FUZZ)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("run", [True, False], ids=["run", "qrels"])
def test_random_tables_are_read_alike_in_every_form(run: bool, fuzz: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    tally: Counter[str] = Counter()
    for number in range(60):
        rng = random.Random(f"one value {run} {number}")
        table = fuzz.a_table(rng, run=run)
        assert fuzz.set_fault(table, tmp_path, tally, run=run, rng=rng) == ""
    assert tally["a.jsonl read"] == 60
    assert min(tally["trec read"], tally["a.csv read"]) > 10


DOCUMENTS = ["#d", "# d", "doc A", "doc 7", "d\x0b1", "\x0cd", 'a"b', "a,b", "a\tb", "d\x1c1", "d "]
DOCUMENTS += ["\ufeffd", "x 4 5 y"]
OF = ["q1", "#q", "#", "a b", "q\x0b1", " q", "\ufeffq", "q\t1", "x 3 4"]  # queries
TRAPS = {
    **dict.fromkeys((document, "q1") for document in DOCUMENTS),
    **dict.fromkeys(("#d", query) for query in OF),
    **dict.fromkeys((document, OF[(place + 5) % len(OF)]) for place, document in enumerate(DOCUMENTS)),
}


@pytest.mark.parametrize("run", [True, False], ids=["run", "qrels"])
@pytest.mark.parametrize(("document", "query"), TRAPS)
def test_known_traps(run: bool, document: str, query: str, fuzz: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    lists = {"p": {"d1": 1.0, "d2": 2.0}, query: {document: 2.0, "d1": 1.0, "d2": 0.0}}
    table = lists if (len(document) + len(query) + run) % 2 else dict(reversed(lists.items()))
    assert fuzz.set_fault(table, tmp_path, Counter(), run=run, rng=random.Random(1)) == ""
