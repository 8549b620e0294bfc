"""Every command that prints a table on real terminals of three widths: no number cut, no line too long."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from conftest import REPOSITORY
from judging_pages import event
from leadline.cli import group
from leadline.data.wording import cells
from leadline.judging.events import parse_event
from leadline.judging.store import Store

EXAMPLES = REPOSITORY / "docs" / "examples"
WIDTHS = (80, 120, 200)
MEASURES = "AP nDCG@10 nDCG(gain=exp)@10 RR P@5 P@10 P@20 R@10 R@100 ERR@20 Bpref RBP(p=0.8) Judged@10"
LONG = "a-run-with-a-name-as-people-write-them-lr0.0001-epoch-12-seed-{}"
RUNS = [LONG.format(place) for place in (1, 2, 3)]
DEMO = "cranfield/*.run"
WITH = [word for measure in MEASURES.split() for word in ("-m", measure)]

# A command line for each command that prints a table; `*` stands for the files that a pattern names.
CASES: dict[str, list[str]] = {
    "abtest": ["clicks.csv", "--click", "click", "--arm", "arm", "--user", "user"],
    "abtest assign": ["assign", "users.txt", "--fraction", "0.5", "--salt", "snippets"],
    "abtest deviations": ["deviations", "clicks.csv", "--doc", "user", "--position", "rank"],
    "abtest plan": ["plan", "--rate", "0.05", "--lift", "0.1"],
    "agreement": ["judges.csv", "--runs", RUNS[0], "--runs", RUNS[1], "-q"],
    "check": ["qrels.txt", *RUNS],
    "collection": ["docs.jsonl", "queries.jsonl", "qrels.txt"],
    "compare": ["cranfield/qrels.txt", DEMO, "-m", "AP"],
    "correlate": ["one.json:AP", "one.json:nDCG@10"],
    "curve": ["cranfield/qrels.txt", DEMO],
    "demo": ["-o", "demo.html"],
    "difference": ["qrels.txt", *RUNS, "bm25.run"],
    "evaluate": ["qrels.txt", *RUNS, *WITH],
    "explain": ["qrels.txt", RUNS[0], "-m", "nDCG@10", "--query", "knots"],
    "histogram": ["cranfield/qrels.txt", DEMO, "--draws", "20"],
    "index": ["docs.jsonl", "-o", "new.index", "--overwrite"],
    "judge": ["--store", "store.db", "--export", "exported.txt"],
    "measures": [],
    "models": [],
    "estimate": ["qrels.txt", *RUNS, "-m", "P@2", "-m", "nDCG@10"],
    "pool": [*RUNS, "--depth", "3", "-o", "pool.tsv"],
    "predict": [*RUNS, "--index", "docs.index", "--queries", "queries.jsonl"],
    "report": ["qrels.txt", *RUNS, *WITH, "-o", "report.html"],
    "sampled": ["qrels.txt", *RUNS, "-m", "AP", "-m", "R@10", "--population", "14"],
    "score": ["docs.index", "queries.jsonl", "qrels.txt", "-m", "BM25(k1=0.9,b=0.4)", "-o", "s.run"],
    "search": ["docs.index", "queries.jsonl", "-m", "BM25(k1=0.9,b=0.4)", "-o", RUNS[0] + ".new.run"],
    "study": [
        "difference-similarity",
        "cranfield/qrels.txt",
        DEMO,
        "-o",
        "study",
        "--team",
        "teams.csv:team",
    ],
    "summary": ["docs.jsonl", "--doc", "d01"],
    "topics fit": ["fit", "docs.jsonl", "-k", "2", "--sweeps", "5", "-o", "new.npz"],
    "topics infer": ["infer", "model.npz", "docs.jsonl", "-o", "vectors.jsonl"],
    "topics perplexity": ["perplexity", "model.npz", "docs.jsonl"],
    "topics search": ["search", "model.npz", "docs.jsonl", "docs.jsonl", "-o", "topics.run"],
    "unjudged": [*RUNS, "bm25.run", "--method", "nruns"],
}
TIMED = {"index", "search", "score"}  # print how long they took
WITHOUT_A_TABLE = {"convert"}

DRIVER = """
import sys, fcntl, struct, termios
from leadline.cli import main
for width in map(int, sys.argv[1].split(",")):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    print(f"=== {width}", flush=True)
    try:
        main(sys.argv[2:])
    except SystemExit as end:
        if end.code not in (0, None):
            raise
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the examples, the demo's files, runs of long names and what is made of them."""
    folder = tmp_path_factory.mktemp("terminal")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    for name, source in zip(RUNS, ("bm25.run", "dense.run", "bm25.run"), strict=True):
        shutil.copy(folder / source, folder / name)
    for words in (
        ["demo", "--files", "cranfield"],
        ["index", "docs.jsonl", "-o", "docs.index", "--store-text"],
        ["topics", "fit", "docs.jsonl", "-k", "2", "--sweeps", "5", "-o", "model.npz"],
        ["evaluate", "cranfield/qrels.txt", DEMO, "-f", "json", "-o", "one.json", *WITH],
    ):
        piped(folder, *words)
    teams = [f"{path.name.partition('.run')[0]},{path.name[0]}" for path in folder.glob(DEMO)]
    (folder / "teams.csv").write_text("\n".join(["run,team", *teams]))
    judge(folder / "store.db")
    return folder


def judge(path: Path) -> None:
    """Make a store in which two judges of long names have judged a pair."""
    store = Store.open(str(path))
    store.add_pairs([("knots", "d01", 1.0)])
    for number, name in enumerate(RUNS[:2]):
        store.add_judge(name)
        act = event(store.pairs()[0].id, grade=1) | {"key": f"judgment-{number}"}
        store.append(name, [parse_event(act)])
    store.close()


def expanded(folder: Path, words: list[str]) -> list[str]:
    """Replace patterns by the files that they name."""
    found: list[str] = []
    for word in words:
        names = (
            sorted(path.relative_to(folder).as_posix() for path in folder.glob(word)) if "*" in word else []
        )
        found += names or [word]
    return found


def clean_environment() -> dict[str, str]:
    """Give the environment without what overrides the width of a terminal."""
    return {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")} | {
        "TERM": "xterm"
    }


def piped(folder: Path, *words: str, columns: int = 30) -> str:
    """Run a command whose output goes to a pipe."""
    done = subprocess.run(
        [sys.executable, "-m", "leadline", *expanded(folder, list(words))],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment() | {"COLUMNS": str(columns)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_terminals(folder: Path, *words: str) -> dict[int, str]:
    """Run a command on a pseudo-terminal of each width; give what it printed without colours."""
    import pty

    main, other = pty.openpty()
    widths = ",".join(map(str, WIDTHS))
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, widths, *expanded(folder, list(words))],
        cwd=folder,
        stdin=other,
        stdout=other,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as running:
        os.close(other)
        printed = b"".join(read_all(main))
        assert running.stderr is not None
        errors = running.stderr.read().decode()
        assert running.wait() == 0, errors
    text = printed.decode().replace("\r\n", "\n")
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    parts = re.split(r"^=== (\d+)\n", text, flags=re.MULTILINE)[1:]
    return {int(width): part for width, part in zip(parts[::2], parts[1::2], strict=True)}


def read_all(descriptor: int) -> Iterator[bytes]:
    """Read what comes out of a pseudo-terminal until its other end is closed."""
    with contextlib.suppress(OSError):
        while chunk := os.read(descriptor, 65536):
            yield chunk
    os.close(descriptor)


def numbers(text: str) -> set[str]:
    """Give the words of a text that are numbers, the marks of best values aside."""
    words = (word.rstrip("*.,;:)") for word in text.replace("(", " ").split())
    return {word for word in words if re.fullmatch(r"[-+<]?\d[\d.,]*(?:e[-+]?\d+)?", word)}


@pytest.mark.parametrize("name", CASES)
def test_a_table_fits_the_terminal_and_no_number_is_cut(name: str, folder: Path) -> None:
    words = [*name.split()[:1], *CASES[name]]
    whole = piped(folder, *words)
    printed = on_terminals(folder, *words)
    assert list(printed) == list(WIDTHS)
    for width, text in printed.items():
        assert max(map(cells, text.splitlines())) <= width, width
        assert not re.search(r"(?<!\S)[-+]?\d[\d.,]*(?:…|\.\.\.)", text), "a number is cut"
        if name not in TIMED:
            shown = re.sub(r"rows not shown: \d+", "", text)
            assert numbers(shown) <= numbers(whole), width


@pytest.mark.parametrize("name", ["compare", "evaluate", "predict", "abtest assign"])
def test_what_goes_to_a_pipe_is_whole_whatever_the_width(name: str, folder: Path) -> None:
    words = [*name.split()[:1], *CASES[name]]
    assert piped(folder, *words) == piped(folder, *words, columns=300)
    assert "…" not in piped(folder, *words)


def test_what_is_not_shown_is_said(folder: Path) -> None:
    printed = on_terminals(folder, "evaluate", *CASES["evaluate"])
    heads = piped(folder, "evaluate", *CASES["evaluate"]).splitlines()[0].split()
    for width, text in printed.items():
        shown = text.splitlines()[0].split()
        said = re.search(r"columns not shown at this width: ([^;]*);", text.replace("\n", " "))
        left_out = said[1].split(", ") if said else []
        assert shown == heads[: len(shown)]
        assert left_out == heads[len(shown) :], width
    assert len(printed[80].splitlines()[0].split()) < len(printed[200].splitlines()[0].split())


def test_shortened_names_stay_different(folder: Path) -> None:
    table = on_terminals(folder, "evaluate", *CASES["evaluate"])[80].partition("\n\n")[0]
    names = [line.split()[0] for line in table.splitlines()[1:]]
    assert len(set(names)) == len(RUNS)


def test_every_command_is_tried() -> None:
    names = set()
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if name in ("topics", "abtest"):
            assert isinstance(command, click.Group)
            names |= {f"{name} {one}" for one in command.list_commands(context)}
        else:
            names.add(name)
    names = names - {"abtest test"} | {"abtest"}  # the same: `test` may be left out
    assert names == set(CASES) | WITHOUT_A_TABLE
