"""Draw the figures of docs/figures with the commands that the gallery shows; `make figures` runs it.

Each figure is made by one command in a folder with the files of docs/examples and those of `leadline demo
--files cranfield`, and so can be drawn again by anybody. `python docs/figures.py NAME...` draws some of them;
`python docs/figures.py report judging` takes pictures of pages (with playwright and a Chromium).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

FOLDER = os.path.dirname(os.path.abspath(__file__))
QRELS = "cranfield/qrels.txt"
TWO = f"{QRELS} cranfield/bm25-titles.run cranfield/tfidf-cosine.run"
EIGHT = f"{QRELS} 'cranfield/*.run'"

WIDTH = 6  # inches
PAGES = ("report", "judging")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
JUDGE = ("pool.tsv", "--docs", "docs.jsonl", "--queries", "queries.jsonl", "--store", "s.db", "--port", "0")


class Drawn(NamedTuple):
    """One figure: what it shows, the command that draws it, and the page that explains it."""

    name: str
    title: str
    command: str
    says: str
    page: str

    @property
    def file(self) -> str:
        """Name of the file in docs/figures."""
        return f"{self.name}.svg"


FIGURES = [
    Drawn(
        "means",
        "Means of runs",
        f"leadline compare {EIGHT} -m AP --figure forest -o means.svg",
        "The mean of each run with a 95 % confidence interval. Runs share the queries, so two intervals may "
        "overlap although the difference is significant.",
        "comparing.md#figures",
    ),
    Drawn(
        "differences",
        "Differences by query",
        f"leadline compare {TWO} -m AP -o differences.svg",
        "The difference between two runs on every query, in descending order, with its mean and interval.",
        "comparing.md",
    ),
    Drawn(
        "scatter",
        "One run against another",
        f"leadline compare {TWO} -m AP --figure scatter -o scatter.svg",
        "One point per query. Above the diagonal, the second run is better.",
        "comparing.md",
    ),
    Drawn(
        "pairs",
        "Differences of pairs",
        f"leadline compare {EIGHT} -m AP --baseline tf-dot --figure pairs -o pairs.svg",
        "Mean differences from a baseline, with simultaneous intervals. An interval excludes 0 exactly when "
        "the corrected difference is significant.",
        "comparing.md",
    ),
    Drawn(
        "groups",
        "Groups without a significant difference",
        f"leadline compare {EIGHT} -m AP --figure groups -o groups.svg",
        "Bars join runs that do not differ significantly.",
        "comparing.md#many-runs",
    ),
    Drawn(
        "ranks",
        "Ranks with intervals",
        f"leadline rank {EIGHT} -m AP --config test.draws=0 -o ranks.svg",
        "The rank of each run, with a simultaneous 95 % confidence interval.",
        "comparing.md#rank-runs",
    ),
    Drawn(
        "curves",
        "Recall-precision curves",
        f"leadline curve {EIGHT} -o curves.svg",
        "Interpolated precision at eleven levels of recall, averaged over queries.",
        "commands.md#leadline-curve",
    ),
    Drawn(
        "subtopics",
        "Subtopics covered",
        "leadline curve jaguar.txt alike.run varied.run --config read.subtopics -o subtopics.svg",
        "The share of the subtopics of an ambiguous query that a run covers up to each rank.",
        "concepts.md#redundant-results",
    ),
    Drawn(
        "difference",
        "Information Difference",
        f"leadline difference {EIGHT} -o difference.svg",
        "Pairs of systems that reveal the same about the judgments have dark cells.",
        "concepts.md#how-systems-differ",
    ),
    Drawn(
        "histogram",
        "Scores of relevant and other documents",
        f"leadline histogram {QRELS} cranfield/bm25-k1_1.2-b_0.75.run cranfield/tf-dot-plain.run"
        " -o histogram.svg",
        "The distributions of the scores of relevant and other documents, and the slope between them (HSA).",
        "unjudged.md",
    ),
    Drawn(
        "agreement",
        "Agreement of judges",
        "leadline agreement judges.csv -o agreement.svg",
        "Cohen's kappa of every pair of judges.",
        "agreement.md",
    ),
    Drawn(
        "suite",
        "Many collections",
        "leadline suite suite.toml -o suite.svg",
        "The means of many runs on many collections. Cells without a run are hatched.",
        "scale.md",
    ),
]


def draw(chosen: list[Drawn], target: str) -> list[str]:
    """Draw figures into a folder; return the paths of the files."""
    import matplotlib as mpl

    from leadline.cli import group

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(FOLDER, "examples"), folder, dirs_exist_ok=True)
        said = io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            mpl.rc_context({"figure.figsize": (WIDTH, WIDTH)}),
        ):
            group.main(["demo", "--files", "cranfield"], standalone_mode=False)
            for figure in chosen:
                group.main(shlex.split(figure.command)[1:], standalone_mode=False)
        files = [figure.file for figure in chosen]
        return [shutil.copy(os.path.join(folder, file), os.path.join(target, file)) for file in files]


def take(name: str, target: str) -> str:
    """Take a picture of the page of `leadline report` or `leadline judge`; return the path of the file."""
    from playwright.sync_api import sync_playwright

    path = os.path.join(target, f"{name}.png")
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        shutil.copytree(os.path.join(FOLDER, "examples"), folder, dirs_exist_ok=True)
        leadline = [sys.executable, "-m", "leadline"]
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 760})
        if name == "report":
            subprocess.run(
                [*leadline, "demo", "--files", "cranfield"], cwd=folder, check=True, stdout=subprocess.DEVNULL
            )
            words = ["report", QRELS, "cranfield/*.run", "-m", "AP", "-m", "nDCG@10", "-o", "report.html"]
            subprocess.run([*leadline, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            page.goto(f"file://{folder}/report.html")
            page.screenshot(path=path)
        else:
            server = subprocess.Popen(
                [*leadline, "judge", *JUDGE], cwd=folder, stdout=subprocess.PIPE, text=True
            )
            try:
                assert server.stdout is not None
                address = next(filter(None, (re.search(r"http://[^/]*/", line) for line in server.stdout)))
                page.set_viewport_size({"width": 900, "height": 560})
                page.goto(f"{address[0]}judge?name=ann")
                page.wait_for_selector("#card:not([hidden])")
                page.screenshot(path=path)
            finally:
                server.terminate()
                server.wait()
        browser.close()
    return path


def main(names: list[str]) -> int:
    """Draw what is named, by default all figures but no pages."""
    target = os.path.join(FOLDER, "figures")
    paths = draw([figure for figure in FIGURES if not names or figure.name in names], target)
    paths += [take(name, target) for name in names if name in PAGES]
    for path in paths:
        sys.stdout.write(f"{os.path.relpath(path)}: {os.path.getsize(path):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
