"""Type checkers see the public functions: a wrong keyword is an error, a right call is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import REPOSITORY

CACHE = REPOSITORY / "build" / "typed-calls"  # kept: to read the package again takes half a minute
CALLS = {
    'll.compare("q", "a.run", "b.run", "nDCG@10", confidence=0.9, on_nan="drop")': "",
    'll.evaluate("q", {"a": {"q": {"d": 1.0}}}, measures=["AP"]).worst("a", n=3)': "",
    'll.pool({"a": {"q": ["d"]}}, measure="P@10", budget=8)': "",
    'll.compare("q", "a.run", "b.run", metrics=["AP"])': "metrics",
    'll.evaluate("q", "a.run", "AP", on_nann="drop")': "on_nann",
    'll.evaluate("q", "a.run", order="best")': "order",
    'll.read_run("a.run", on_duplicat="first")': "on_duplicat",
    "ll.evalute": "evalute",
    "nDCG()": "",
    'nDCG(cutoff=10, gain="exp")': "",
    'nDCG(gain="exp") @ 10': "",
    "IPrec(recall=0.1)": "",
    "AP(rel=2)": "",
    "nDCG(cutof=10)": 'Unexpected keyword argument "cutof" for "nDCG"',
    'nDCG(cutoff="ten")': 'Argument "cutoff" to "nDCG" has incompatible type "str"',
    "nDCG(10)": 'Too many positional arguments for "nDCG"',
    "IPrec()": 'Missing named argument "recall" for "IPrec"',
    "AP().rel = 3": 'Property "rel" defined in "AP" is read-only',
    "from leadline.measures import nDGC": 'Module "leadline.measures" has no attribute "nDGC"',
}
IMPORTS = "import leadline as ll; from leadline.measures import AP, IPrec, nDCG\n"


def test_a_wrong_keyword_fails_in_a_type_checker(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "calls.py"
    path.write_text(IMPORTS + "\n".join(CALLS) + "\n", encoding="utf-8")
    told, _, _ = api.run([str(path), "--follow-imports=silent", f"--cache-dir={CACHE}"])
    lines = told.splitlines()
    for number, (call, word) in enumerate(CALLS.items(), start=2):
        found = [line for line in lines if f"calls.py:{number}: error" in line]
        assert bool(found) == bool(word), (call, found)
        assert word in "".join(found)
