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

PAGES = Path(__file__).resolve().parents[4] / "docs" / "studies"  # in a checkout of the source
Json = dict[str, Any]


def require_checkout() -> None:
    """End with a message if docs/studies is not there, before any study is run."""
    if not PAGES.is_dir():
        raise SystemExit(f"{PAGES}: no such folder; pages are written in a checkout of the source alone")


def run_study(name: str, folder: Path, output: Path, arguments: Sequence[str]) -> Json:
    """Run `leadline study NAME` in `folder` unless `output` contains its result; return the result.

    It runs on one thread, so that processor times are comparable.
    """
    path = output / f"{name}.json"
    if not path.exists():
        command = [sys.executable, "-m", "leadline", "study", name, *arguments, "-o", str(output.resolve())]
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run(command, cwd=folder, check=True, env=os.environ | one_thread)  # noqa: S603  # leadline itself
    return read_result(path)


def read_result(path: Path) -> Json:
    """Read the JSON output of a command; paths of inputs are reduced to file names."""
    data: Json = json.loads(path.read_text(encoding="utf-8"))
    data["inputs"] = sorted(Path(info["path"]).name for info in data.get("inputs", ()))
    return dict(_without_folders(data))


def _without_folders(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_folders(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_without_folders(value) for value in data]
    is_path = isinstance(data, str) and data.startswith("/")
    return "/".join(Path(data).parts[-2:]) if is_path else data


def cached(compute: Callable[[], Json], path: Path) -> Json:
    """Return the value stored in `path`; compute and store it if the file does not exist."""
    if not path.exists():
        path.write_text(json.dumps(compute()), encoding="utf-8")
    data: Json = json.loads(path.read_text(encoding="utf-8"))
    return data


def find_documents(folder: Path) -> Path:
    """Return the path of the documents of a collection, compressed or not."""
    return next(folder.glob("docs.jsonl*"))


def find_runs(folder: Path) -> list[Path]:
    """Return the paths of the runs of a run set, sorted by name."""
    return sorted((folder / "runs").iterdir())


def rounded(data: Any) -> Any:
    """Return plain data with numbers rounded to four decimal places.

    >>> rounded({"tau": [0.123456789, None, 3]})
    {'tau': [0.1235, None, 3]}
    """
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    if isinstance(data, list):
        return [rounded(value) for value in data]
    return round(data, 4) if isinstance(data, float) else data


def write_numbers(name: str, numbers: Json) -> None:
    """Write the numbers of a page as JSON, one line per key."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in numbers.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (PAGES / f"{name}.json").write_text(text, encoding="utf-8")


def read_numbers(name: str) -> Json:
    """Read the numbers of a page."""
    require_checkout()
    numbers: Json = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    return numbers


def copy_figures(folder: Path, figures: Mapping[str, str]) -> None:
    """Copy figures from `folder` to the pages; keys are names without suffix, values file names."""
    for source, target in figures.items():
        shutil.copy(folder / f"{source}.svg", PAGES / target)


def write_page(name: str, page: str) -> None:
    """Write a page."""
    (PAGES / f"{name}.md").write_text(page, encoding="utf-8")


def update_page(name: str, page: Callable[[Json], str], collect: Callable[..., Json]) -> None:
    """Write a page from its numbers; `collect` makes new ones from the folders named as arguments."""
    require_checkout()
    if len(sys.argv) > 1:
        write_numbers(name, collect(*(Path(argument).resolve() for argument in sys.argv[1:])))
    write_page(name, page(read_numbers(name)))
