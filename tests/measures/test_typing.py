"""What a type checker knows of measures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from leadline import measures
from leadline.measures import MEASURES

REPOSITORY = Path(__file__).resolve().parents[2]
SNIPPET = """
from leadline.measures import AP, IPrec, nDCG

nDCG()
nDCG(cutoff=10, gain="exp")
nDCG(gain="exp") @ 10
IPrec(recall=0.1)
AP(rel=2)
nDCG(cutof=10)  # line 9
nDCG(cutoff="ten")  # line 10
nDCG(10)  # line 11
IPrec()  # line 12
AP().rel = 3  # line 13
from leadline.measures import nDGC  # line 14
"""
SAYS = {
    9: 'Unexpected keyword argument "cutof" for "nDCG"',
    10: 'Argument "cutoff" to "nDCG" has incompatible type "str"',
    11: 'Too many positional arguments for "nDCG"',
    12: 'Missing named argument "recall" for "IPrec"',
    13: 'Property "rel" defined in "AP" is read-only',
    14: 'Module "leadline.measures" has no attribute "nDGC"',
}


@pytest.mark.slow
def test_wrong_parameters_are_errors_of_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--hide-error-codes", "--no-pretty", str(path)],
        cwd=REPOSITORY,
        env={"MYPYPATH": str(REPOSITORY / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[int, str] = {}
    for line in done.stdout.splitlines():
        place, is_error, text = line.partition(": error: ")
        if is_error and "snippet.py:" in place:
            found.setdefault(int(place.rpartition(":")[2]), text)
    assert sorted(found) == sorted(SAYS), done.stdout + done.stderr
    assert [line for line in SAYS if not found[line].startswith(SAYS[line])] == []


def test_type_checkers_are_told_of_every_measure() -> None:
    source = Path(measures.__file__).read_text(encoding="utf-8")
    told = {
        line.split()[-1] for line in source.splitlines() if line.startswith("    from leadline.measures.")
    }
    assert told == set(MEASURES.classes)
