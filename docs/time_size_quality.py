"""Make the page `time-size-quality.md` and its figure: run the commands that the page shows.

Times differ from run to run, so the page is not made with the others: `python docs/time_size_quality.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import statistics
import sys
import tempfile

from click.testing import CliRunner

from leadline.cli import group

FOLDER = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(FOLDER, "time-size-quality.md")
FIGURE = "time-quality.svg"

MODELS = ("BM25", "QLDirichlet", "TFIDF", "RM3", "SDM")
INDEXES = (("words.index", ""), ("texts.index", "--store-text"), ("small.index", "-C positions=false"))
ASKED = " ".join(f"-m {model}" for model in MODELS)
SEARCH = f"leadline search texts.index xquad/queries.en.jsonl {ASKED}"
COMMANDS = (
    "leadline demo --files xquad --collection xquad",
    *(f"leadline index xquad/docs.en.jsonl -o {name} {more}".strip() for name, more in INDEXES),
    f"{SEARCH} -o runs",
    f"{SEARCH} -q -f csv > times.csv",
    "leadline evaluate xquad/qrels.txt 'runs/*.run' -m nDCG@10 -q -f csv -o quality.csv",
    "leadline correlate quality.csv times.csv -m nDCG@10 -m ms -o time-quality.svg",
    "leadline compare times.csv -m ms --baseline BM25",
)


def run(command: str) -> str:
    """Run a command in this process and return its standard output."""
    done = CliRunner().invoke(group, shlex.split(command)[1:])
    if done.exit_code:
        raise LookupError(f"{command}: {done.output or done.exception}")
    return done.stdout


def indexed() -> list[list[str]]:
    """Make the collection and the indexes in the current folder; return their sizes and times."""
    run(COMMANDS[0])
    rows = []
    for (_, more), command in zip(INDEXES, COMMANDS[1:4], strict=True):
        fact = json.loads(run(f"{command} -f json"))
        rows.append([more or "default", f"{fact['bytes'] / 1e6:.2f} MB", f"{fact['seconds']:.2f} s"])
    return rows


def qualities() -> dict[str, float]:
    """Make the runs in the current folder; return nDCG@10 of every model."""
    run(COMMANDS[4])
    found = json.loads(run("leadline evaluate xquad/qrels.txt 'runs/*.run' -m nDCG@10 -f json"))
    return {one["name"]: one["mean"]["nDCG@10"] for one in found["runs"]}


def page() -> str:
    """Run all commands in the current folder and return the page; the figure is then there too."""
    sizes, quality = indexed(), qualities()
    printed = run(COMMANDS[5].partition(" > ")[0])
    with open("times.csv", "w", encoding="utf-8") as file:
        file.write(printed)
    for command in COMMANDS[6:8]:
        run(command)
    times: dict[tuple[str, str], list[float]] = {}
    for line in printed.splitlines()[1:]:
        _, model, measure, value = line.rsplit(",", 3)
        times.setdefault((model, measure), []).append(float(value))
    rows = [
        [
            model,
            f"{quality[model]:.4f}",
            f"{statistics.median(times[model, 'ms']):.2f}",
            f"{statistics.quantiles(times[model, 'ms'], n=20)[-1]:.2f}",
            f"{statistics.median(times[model, 'summary_ms']):.1f}",
        ]
        for model in sorted(quality, key=lambda model: -quality[model])
    ]
    head = ["model", "nDCG@10", "ms, median", "ms, 95th percentile", "ms of ten summaries, median"]
    return TEXT.format(
        commands="\n".join(f"    {command}" for command in COMMANDS),
        models=_table(head, rows),
        indexes=_table(["leadline index", "size", "build time"], sizes),
        verdict=next(line for line in run(COMMANDS[8]).splitlines() if line.startswith("RM3 is")),
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([f"`{row[0]}`", *row[1:]] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


TEXT = """\
# Time, size, quality

Is the better ranking worth its time? These commands measure how long each query takes, how large the index
is, and how good the results are. They use only files that are part of leadline.

{commands}

`search -q` prints the milliseconds that each query took (`ms`). If the index has stored texts, it also prints
the milliseconds for the summaries of the first ten documents (`summary_ms`). `compare`, `rank` and `report`
take this table, and know that less is better.

![Five models: nDCG@10 against milliseconds per query](time-quality.svg)

{models}

The last command tests the differences in time. For one of them it says:

> {verdict}

`leadline index` prints the size of the index and the time that it took to build it:

{indexes}

Without positions, models that use proximity or phrases (SDM) are not available.

- Times are from one machine and one process. Compare only times that were measured together.
- The first query of a process is slower than the rest, because files and code are read then.
- The tests treat queries as a sample. They do not cover the noise of the machine, so repeat the measurement.

`python docs/time_size_quality.py` measures everything again and writes this page.
"""


def main() -> int:
    """Write the page and the figure."""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.chdir(folder):
            text = page()
        shutil.copy(os.path.join(folder, "time-quality.svg"), os.path.join(FOLDER, FIGURE))
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
