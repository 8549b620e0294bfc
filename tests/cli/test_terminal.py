"""Every command that prints a table on real terminals of three widths: no number cut, no line too long."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest

from conftest import REPOSITORY, example_of
from judging_pages import event, save
from leadline import demo
from leadline.cli import group
from leadline.data.wording import cells
from leadline.judging.events import parse_event
from leadline.judging.store import Store

EXAMPLES = REPOSITORY / "docs" / "examples"
WIDTHS = (80, 200)
MEASURES = "AP nDCG@10 nDCG(gain=exp)@10 RR P@5 P@10 P@20 R@10 R@100 ERR@20 Bpref RBP(p=0.8) Judged@10"
LONG = "a-run-with-a-name-as-people-write-them-lr0.0001-epoch-12-seed-{}"
RUNS = [LONG.format(place) for place in (1, 2, 3)]
DEMO = "cranfield/*.run"
WITH = [word for measure in MEASURES.split() for word in ("-m", measure)]

# A command line for each command that prints a table: without one here, the example of its help. `*` stands
# for the files that a pattern names.
CASES: dict[str, list[str]] = {
    "abtest": ["clicks.csv", "--click", "click", "--arm", "arm", "--user", "user"],
    "abtest assign": ["assign", "users.txt", "--fraction", "0.5", "--salt", "snippets"],
    "abtest deviations": ["deviations", "clicks.csv", "-C", "document=user", "--position", "rank"],
    "abtest plan": ["plan", "--rate", "0.05", "--lift", "0.1"],
    "agreement": ["judges.csv", "--runs", RUNS[0], "--runs", RUNS[1], "-q"],
    "check": ["qrels.txt", *RUNS],
    "compare": ["cranfield/qrels.txt", DEMO, "-m", "AP"],
    "correlate": ["one.json:AP", "one.json:nDCG@10", "--config", "test.draws=100"],
    "curve": ["cranfield/qrels.txt", DEMO],
    "demo": ["-o", "demo.html"],
    "difference": ["qrels.txt", *RUNS, "bm25.run"],
    "evaluate": ["qrels.txt", *RUNS, *WITH],
    "explain": ["qrels.txt", RUNS[0], "-m", "nDCG@10", "--query-id", "knots"],
    "fuse": [*RUNS, "--method", "CombSUM", "-o", "fused.run"],
    "histogram": ["cranfield/qrels.txt", DEMO, "--config", "test.draws=20"],
    "index": ["docs.jsonl", "-o", "new.index", "--overwrite"],
    "judge": ["--store", "store.db", "--export", "exported.txt"],
    "measures": [],
    "models": [],
    "merge": ["one.parquet"],
    "pool": [*RUNS, "--depth", "3", "-o", "pool.tsv"],
    "predict": [*RUNS, "--index", "docs.index", "--queries", "queries.jsonl"],
    "rank": ["cranfield/qrels.txt", DEMO, "-m", "AP", "-m", "nDCG@10", "--config", "test.draws=200"],
    "replicate": [*RUNS, "bm25.run", "qrels.txt", "-m", "AP", "-m", "nDCG@10"],
    "report": ["qrels.txt", *RUNS, *WITH[:2], "-o", "report.html"],
    "sampled": ["qrels.txt", *RUNS, "-m", "AP", "-m", "R@10", "--population", "14"],
    "score": ["docs.index", "queries.jsonl", "qrels.txt", "-m", "BM25(k1=0.9,b=0.4)", "-o", "s.run"],
    "search": ["docs.index", "queries.jsonl", "-m", "BM25(k1=0.9,b=0.4)", "-o", RUNS[0] + ".new.run"],
    "study": [*f"difference-similarity cranfield/qrels.txt {DEMO} -o study --team teams.csv:team".split()],
    "show": ["one.parquet"],
    "suite": ["suite.toml"],
    "summary": ["docs.jsonl", "--doc", "d01"],
    "topics fit": ["fit", "docs.jsonl", "-T", "2", "-C", "topics.sweeps=5", "-o", "new.npz"],
    "topics infer": ["infer", "model.npz", "docs.jsonl", "-o", "vectors.jsonl"],
    "topics perplexity": ["perplexity", "model.npz", "docs.jsonl"],
    "topics search": ["search", "model.npz", "docs.jsonl", "docs.jsonl", "-o", "topics.run"],
    "verify": ["one.parquet"],
    "unjudged": [*RUNS, "bm25.run", "--method", "nruns"],
    "why-different": [
        *["one.json:AP", "one.json:nDCG@10", "-m", "AP", "-C", "read.name=tf-dot"],
        *["--qrels", "cranfield/qrels.txt", "--run", "cranfield/tf-dot.run"],
    ],
}
TIMED = {"index", "search", "score"}  # print how long they took
WITHOUT_A_TABLE = {"help", "convert"}
CASES |= {
    name: example_of(name).split()[1:]
    for name in group.list_commands(click.Context(group))
    if name not in {*CASES, *WITHOUT_A_TABLE, "topics"}  # whose commands are above
}

# Runs many command lines in one process, each at the widths given (0: standard output is no terminal). The
# figures of pages are empty: drawing them would take most of the time.
DRIVER = """
import sys, fcntl, json, struct, termios
from matplotlib.figure import Figure
from leadline.cli import main
Figure.savefig = lambda self, target, **options: target.write(b"<svg></svg>")
for name, words, width in json.load(open(sys.argv[1])):
    if width:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    print(f"=== {width} {name}", flush=True)
    try:
        main(words)
    except SystemExit as end:
        if end.code not in (0, None):
            print(f"=== FAILED {name}: {end.code}", file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the examples, the demo's files, runs of long names and what is made of them."""
    folder = tmp_path_factory.mktemp("terminal")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    for name, source in zip(RUNS, ("bm25.run", "dense.run", "bm25.run"), strict=True):
        shutil.copy(folder / source, folder / name)
    (folder / "cranfield").mkdir()
    for file, content in demo.files():
        (folder / "cranfield" / file).write_bytes(content)
    piped(
        folder,
        {
            "index": ["index", "docs.jsonl", "-o", "docs.index", "--store-text"],
            "model": ["topics", "fit", "docs.jsonl", "-T", "2", "-C", "topics.sweeps=5", "-o", "model.npz"],
            "saved": ["evaluate", "qrels.txt", *RUNS, "-o", "one.parquet"],
            "values": ["evaluate", "cranfield/qrels.txt", DEMO, "-f", "json", "-o", "one.json", *WITH],
        },
    )
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
        save(store, name, [parse_event(act)])
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
    """Return the environment without what overrides the width of a terminal."""
    return {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")} | {
        "TERM": "xterm"
    }


def plan(folder: Path, commands: dict[str, list[str]], widths: Iterable[int]) -> Path:
    """Write what the driver is to do: every command at every width."""
    path = folder / "plan.json"
    path.write_text(
        json.dumps(
            [(name, expanded(folder, words), width) for name, words in commands.items() for width in widths]
        )
    )
    return path


def parts(printed: str, errors: str) -> dict[str, dict[int, str]]:
    """Take the output of the driver apart, by command and width."""
    assert "=== FAILED" not in errors, errors
    pieces = re.split(r"^=== (\d+) (.+)\n", printed, flags=re.MULTILINE)[1:]
    found: dict[str, dict[int, str]] = {}
    for width, name, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        found.setdefault(name, {})[int(width)] = text
    return found


def piped(folder: Path, commands: dict[str, list[str]], *, columns: int = 30) -> dict[str, str]:
    """Run commands whose output goes to a pipe."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(plan(folder, commands, [0]))],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment() | {"COLUMNS": str(columns)},
    )
    assert done.returncode == 0, done.stderr
    return {name: found[0] for name, found in parts(done.stdout, done.stderr).items()}


def on_terminals(folder: Path, commands: dict[str, list[str]]) -> dict[str, dict[int, str]]:
    """Run commands on a pseudo-terminal of each width; give what they printed without colours."""
    import pty

    main, other = pty.openpty()
    with (
        (folder / "errors.txt").open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(plan(folder, commands, WIDTHS))],
            cwd=folder,
            stdin=other,
            stdout=other,
            stderr=errors,
            env=clean_environment(),
        ) as running,
    ):
        os.close(other)
        printed = b"".join(read_all(main))
        assert running.wait() == 0, (folder / "errors.txt").read_text()
    text = printed.decode().replace("\r\n", "\n")
    return parts(re.sub(r"\x1b\[[0-9;]*m", "", text), (folder / "errors.txt").read_text())


def read_all(descriptor: int) -> Iterator[bytes]:
    """Read what comes out of a pseudo-terminal until its other end is closed."""
    with contextlib.suppress(OSError):
        while chunk := os.read(descriptor, 65536):
            yield chunk
    os.close(descriptor)


def numbers(text: str) -> set[str]:
    """Return the words of a text that are numbers, the marks of best values aside."""
    words = (word.rstrip("*.,;:)") for word in text.replace("(", " ").split())
    return {word for word in words if re.fullmatch(r"[-+<]?\d[\d.,]*(?:e[-+]?\d+)?", word)}


COMMANDS = {name: [*name.split()[:1], *words] for name, words in CASES.items()}


@pytest.fixture(scope="module")
def whole(folder: Path) -> dict[str, str]:
    """Return what every command writes to a pipe."""
    return piped(folder, COMMANDS)


@pytest.fixture(scope="module")
def printed(folder: Path) -> dict[str, dict[int, str]]:
    """Return what every command prints on terminals."""
    return on_terminals(folder, COMMANDS)


@pytest.mark.parametrize("name", CASES)
def test_a_table_fits_the_terminal_and_no_number_is_cut(
    name: str, whole: dict[str, str], printed: dict[str, dict[int, str]]
) -> None:
    assert list(printed[name]) == list(WIDTHS)
    for width, text in printed[name].items():
        assert max(map(cells, text.splitlines())) <= width, width
        assert not re.search(r"(?<!\S)[-+]?\d[\d.,]*(?:…|\.\.\.)", text), "a number is cut"
        if name not in TIMED:
            shown = re.sub(r"rows hidden: [\d,]+", "", text)
            assert numbers(shown) <= numbers(whole[name]), width


def test_what_goes_to_a_pipe_is_whole_whatever_the_width(folder: Path, whole: dict[str, str]) -> None:
    names = ["compare", "evaluate", "predict", "abtest assign"]
    wide = piped(folder, {name: COMMANDS[name] for name in names}, columns=300)
    assert wide == {name: whole[name] for name in names}
    assert "…" not in "".join(wide.values())


def test_what_is_not_shown_is_said(whole: dict[str, str], printed: dict[str, dict[int, str]]) -> None:
    tables = printed["evaluate"]
    heads = whole["evaluate"].splitlines()[0].split()
    for width, text in tables.items():
        shown = text.splitlines()[0].split()
        said = re.search(r"columns hidden at this width: ([^(]*) \(", text.replace("\n", " "))
        left_out = said[1].split(", ") if said else []
        assert shown == heads[: len(shown)]
        assert left_out == heads[len(shown) :], width
    assert len(tables[80].splitlines()[0].split()) < len(tables[200].splitlines()[0].split())


def test_shortened_names_stay_different(printed: dict[str, dict[int, str]]) -> None:
    table = printed["evaluate"][80].partition("\n\n")[0]
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
