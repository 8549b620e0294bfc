"""Run studies, and read and write the numbers, figures and pages in docs/studies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGES = Path(__file__).resolve().parents[3] / "docs" / "studies"  # of the checkout
Found = dict[str, Any]


def studied(name: str, place: Path, out: Path, words: Sequence[str]) -> Found:
    """Run `leadline study NAME` in `place` unless its output is in `out`; return its JSON.

    One thread, so that times can be compared.
    """
    path = out / f"{name}.json"
    if not path.exists():
        command = [sys.executable, "-m", "leadline", "study", name, *words, "-o", str(out.resolve())]
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run(command, cwd=place, check=True, env=os.environ | one_thread)  # noqa: S603  # leadline itself
    return result(path)


def result(path: Path) -> Found:
    """Read the JSON output of a command; paths of inputs are reduced to file names."""
    found: Found = json.loads(path.read_text(encoding="utf-8"))
    found["inputs"] = sorted(Path(one["path"]).name for one in found.get("inputs", ()))
    return dict(_without_folders(found))


def _without_folders(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _without_folders(one) for key, one in found.items()}
    if isinstance(found, list):
        return [_without_folders(one) for one in found]
    is_path = isinstance(found, str) and found.startswith("/")
    return "/".join(Path(found).parts[-2:]) if is_path else found


def once(do: Callable[[], Found], path: Path) -> Found:
    """Call a function unless its result is already stored; return the stored result."""
    if not path.exists():
        path.write_text(json.dumps(do()), encoding="utf-8")
    found: Found = json.loads(path.read_text(encoding="utf-8"))
    return found


def docs_of(place: Path) -> Path:
    """Find the documents of a collection, compressed or not."""
    return next(place.glob("docs.jsonl*"))


def runs_of(place: Path) -> list[Path]:
    """Find the runs of a set, by name."""
    return sorted((place / "runs").iterdir())


def rounded(found: Any) -> Any:
    """Return plain data with numbers to four places.

    >>> rounded({"tau": [0.123456789, None, 3]})
    {'tau': [0.1235, None, 3]}
    """
    if isinstance(found, dict):
        return {key: rounded(one) for key, one in found.items()}
    if isinstance(found, list):
        return [rounded(one) for one in found]
    return round(found, 4) if isinstance(found, float) else found


def keep(name: str, found: Found) -> None:
    """Write the numbers of a page as JSON, one line per key."""
    lines = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in found.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (PAGES / f"{name}.json").write_text(text, encoding="utf-8")


def read_kept(name: str) -> Found:
    """Read the numbers of a page."""
    found: Found = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def copy_figures(folder: Path, figures: Mapping[str, str]) -> None:
    """Copy figures of `folder`, named without suffix, to the folder of pages."""
    for source, target in figures.items():
        shutil.copy(folder / f"{source}.svg", PAGES / target)


def write(name: str, page: str) -> None:
    """Write a page."""
    (PAGES / f"{name}.md").write_text(page, encoding="utf-8")


def page_again(name: str, page: Callable[[Found], str], collect: Callable[[Path, Path], Found]) -> None:
    """Write a page from its numbers, which are collected first if FOLDER and DATA are named."""
    if words := sys.argv[1:]:
        keep(name, collect(Path(words[0]), Path(words[1])))
    write(name, page(read_kept(name)))
