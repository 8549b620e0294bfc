"""Run the studies of a page, and fill its template from the numbers kept in docs/studies.

Each page is a folder of this package with `page.md`, a template, and `page.py`: `NAME` of the page,
`collect(out, data)`, which runs what is not in `out` and returns the numbers, and `facts(kept)`, what the
template uses beside the numbers. `FIGURES` of the runs, by name without suffix, are copied under these names.
"""

from __future__ import annotations

import importlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

Json = dict[str, Any]
PACKAGE = Path(__file__).resolve().parents[1]
PAGES = PACKAGE.parents[2] / "docs" / "studies"  # in a checkout of the source
NOTE = "<!-- Made by leadline_studies/{}/page.md from {}.json. -->"
RUN_SETS = {
    "trec-covid-r1": "COVID 1",
    "trec-covid-r2-top100": "COVID 2",
    "trec-dl-2019-passage": "Passages 2019",
    "trec-robust-2003": "Robust 2003",
}


# Running studies


def run_study(command: str, data: Path, out: Path) -> Json:
    """Run `leadline study COMMAND` in the folder `data` unless `out` holds its result; return the result.

    Patterns in the command are names of files.
    """
    name, *words = shlex.split(command)
    path = out / f"{name}.json"
    if not path.exists():
        files = (sorted(map(str, data.glob(word))) if "*" in word else [word] for word in words)
        given = [file for of_word in files for file in of_word]
        leadline("study", name, *given, "-o", out.resolve(), folder=data)
    return read_result(path)


def leadline(*words: object, folder: Path) -> None:
    """Run leadline in a folder, on one thread."""
    program = [sys.executable, "-m", "leadline", *map(str, words)]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(program, cwd=folder, check=True, env=os.environ | one_thread)  # noqa: S603  # leadline itself


def run_all(commands: Mapping[str, tuple[str, str]], out: Path, data: Path) -> Json:
    """Run the commands, each in a folder of `data`, and return their results by name."""
    return {
        name: run_study(command, data / folder, out / name) for name, (folder, command) in commands.items()
    }


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
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(compute()), encoding="utf-8")
    data: Json = json.loads(path.read_text(encoding="utf-8"))
    return data


def find_documents(folder: Path) -> Path:
    """Return the path of the documents of a collection, compressed or not."""
    return next(folder.glob("docs.jsonl*"))


def find_runs(folder: Path) -> list[Path]:
    """Return the paths of the runs of a run set, sorted by name."""
    return sorted((folder / "runs").iterdir())


def rounded(data: Any, digits: int = 4) -> Any:
    """Return plain data with rounded numbers.

    >>> rounded({"tau": [0.123456789, None, 3]})
    {'tau': [0.1235, None, 3]}
    """
    if isinstance(data, dict):
        return {key: rounded(value, digits) for key, value in data.items()}
    if isinstance(data, list):
        return [rounded(value, digits) for value in data]
    return round(data, digits) if isinstance(data, float) else data


# Pages


def number(value: float | None, form: str = ".2f") -> str:
    """Return a number as text, or a dash for None; a zero has no sign."""
    if value is None:
        return "-"
    text = format(value, form)
    return text if text.strip("+-0.%") else text.lstrip("+-")


def percent(value: float | None, digits: int = 1) -> str:
    """Return a proportion in per cent, as text, or a dash for None."""
    return "-" if value is None else format(100 * value, f".{digits}f")


def interval(entry: Mapping[str, Any], form: str = ".2f", middle: str = "value") -> str:
    """Return a value with its interval: `value [low, high]`."""
    low, high = (number(entry[end], form) for end in ("low", "high"))
    return f"{number(entry[middle], form)} [{low}, {high}]"


def span(values: Iterable[float | None], form: str = ".2f") -> str:
    """Return the range of the known values: `low to high`.

    >>> span([0.2, None, 0.1])
    '0.10 to 0.20'
    """
    known = [value for value in values if value is not None]
    return f"{number(min(known), form)} to {number(max(known), form)}"


def percents(values: Iterable[float | None], digits: int = 1) -> str:
    """Return the range of some proportions in per cent: `low to high %`."""
    return f"{span([None if value is None else 100 * value for value in values], f'.{digits}f')} %"


def bold(text: str, marked: bool = True) -> str:
    """Return a text in bold where it is marked."""
    return f"**{text}**" if marked else text


def wrapped(text: str) -> str:
    """Wrap paragraphs and items of lists; tables, figures and commands stay as they are."""
    return "\n\n".join(map(_wrapped, text.strip("\n").split("\n\n"))) + "\n"


def _wrapped(part: str) -> str:
    if part.startswith("- "):
        items = (f"- {' '.join(item.split())}" for item in part[2:].split("\n- "))
        return "\n".join(
            textwrap.fill(item, 110, subsequent_indent="  ", break_on_hyphens=False) for item in items
        )
    return part if part[0] in "|#!<> " else textwrap.fill(part, 110, break_on_hyphens=False)


def pick(rows: Iterable[Json], **wanted: object) -> list[Json]:
    """Return the rows with these values; `measure` may be the name without its parameters.

    >>> pick([{"measure": "P(rel=2)@10"}, {"measure": "RR@10"}], measure="P")
    [{'measure': 'P(rel=2)@10'}]
    """
    return [
        row
        for row in rows
        if all(row[key] == one or (key == "measure" and family(row) == one) for key, one in wanted.items())
    ]


def family(row: Json) -> str:
    """Return the name of a measure without its parameters."""
    return str(row["measure"]).partition("(")[0].partition("@")[0]


def fill(template: str, names: Mapping[str, Any]) -> str:
    """Fill a template.

    >>> fill("tau {{ tau | n }}, {{ all | span('.1f') }}", {"tau": 0.5, "all": [1, 2]})
    'tau 0.50, 1.0 to 2.0'
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(  # noqa: S701  # Markdown, of our own numbers
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "n": number,
        "pc": percent,
        "interval": interval,
        "span": span,
        "percents": percents,
        "bold": bold,
        "mean": fmean,
        "pick": pick,
    }
    return environment.from_string(template).render(names)


def require_checkout() -> None:
    """End with a message if docs/studies is not there, before any study is run."""
    if not PAGES.is_dir():
        raise SystemExit(f"{PAGES} does not exist. Pages can only be written in a clone of the source.")


def read_numbers(name: str) -> Json:
    """Read the numbers of a page."""
    require_checkout()
    numbers: Json = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    return numbers


def write_numbers(name: str, numbers: Json) -> None:
    """Write the numbers of a page as JSON, one line per key."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in numbers.items()]
    (PAGES / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def page_of(folder: str) -> Any:
    """Return the module `page` of a folder."""
    return importlib.import_module(f"leadline_studies.{folder}.page")


def page_text(folder: str, kept: Json) -> str:
    """Return the page of a folder, made from its numbers."""
    writer = page_of(folder)
    template = (PACKAGE / folder / "page.md").read_text(encoding="utf-8")
    title, _, rest = template.partition("\n")
    note = NOTE.format(folder, writer.NAME)
    return wrapped(f"{title}\n\n{note}\n{fill(rest, {'kept': kept} | writer.facts(kept))}")


def write_page(folder: str) -> None:
    """Write a page, and its figures if it draws any, from its numbers."""
    writer = page_of(folder)
    kept = read_numbers(writer.NAME)
    (PAGES / f"{writer.NAME}.md").write_text(page_text(folder, kept), encoding="utf-8")
    if hasattr(writer, "figures"):
        from leadline.charts import picture

        for name, figure in writer.figures(kept).items():
            (PAGES / f"{name}.svg").write_bytes(picture(figure, "svg"))


def collect_numbers(folder: str, out: Path, data: Path) -> None:
    """Run what a page needs and is not in `out`, and keep the numbers."""
    require_checkout()
    writer = page_of(folder)
    numbers = writer.collect(out, data)
    for source, target in getattr(writer, "FIGURES", {}).items():
        shutil.copy(out / f"{source}.svg", PAGES / target)
    write_numbers(writer.NAME, numbers)
