"""What a type checker knows of measures."""

from __future__ import annotations

import sys
from pathlib import Path

from leadline import measures
from leadline.measures import MEASURES


def test_type_checkers_are_told_of_every_measure() -> None:
    source = Path(measures.__file__).read_text(encoding="utf-8")
    told = {
        line.split()[1]
        for line in source.splitlines()
        if line.startswith("    from leadline.measures.") and line.endswith(" import *")
    }
    assert told == {kind.__module__ for kind in MEASURES.classes.values()}
    assert not [name for name in told if hasattr(sys.modules[name], "__all__")]  # which would hide some
