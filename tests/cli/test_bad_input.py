"""Bad usage is one line on standard error and status 2; nothing is half-written, nothing is a traceback."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Leadline, examples
from leadline.data.registry import split_names
from leadline.data.wording import visible
from leadline.errors import UsageError
from leadline.measures import MEASURES

HINT = ". See `leadline measures`.\n"
EVALUATE_USAGE = " The usage is `leadline evaluate QRELS RUNS...`."
EVALUATE_HINT = " See `leadline evaluate --help`.\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, which one stands in, with qrels `q` and the runs `r` and `more/r`."""
    (tmp_path / "more").mkdir()
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    for name in ("r", "more/r"):
        (tmp_path / name).write_text("q1 Q0 d1 1 2 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(leadline: Leadline, *arguments: object) -> str:
    """Run a command that must be refused; give its line without what every refusal begins with."""
    before = content(Path.cwd())
    found = leadline(*arguments)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith("leadline: error: ")
    assert found.err.count("\n") == 1
    assert content(Path.cwd()) == before, "something was written"
    return found.err.removeprefix("leadline: error: ")


@pytest.mark.usefixtures("files")
def test_all_bad_measures_are_reported_at_once_with_the_nearest_good_ones(leadline: Leadline) -> None:
    asked = ("evaluate", "q", "r", "-m", "nDGC@10", "-m", "AP", "-m", "P@0", "-m", "presicion@5")
    found = refusal(leadline, *asked).removesuffix(HINT)
    first, second, third = re.split("[.?] (?=Unknown measure|Measure)", found)
    assert first.startswith("unknown measure 'nDGC@10'. Did you mean nDCG@10")
    assert second == "Measure 'P@0': the cutoff must be a whole number of at least 1, not 0"
    assert third.startswith("Unknown measure 'presicion@5'. Did you mean P@5")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("measure", ["zzz", "nDCG @10", "", " ", "-", "P@\x00", "P@\uff11\uff10x"])
def test_a_bad_measure_is_one_line_that_names_it(measure: str, leadline: Leadline) -> None:
    found = refusal(leadline, "evaluate", "q", "r", "-m", measure)
    assert f"measure '{visible(measure.strip())}'" in found
    assert "See `leadline measures`" in found


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("evaluat q r", "unknown command 'evaluat'. Did you mean 'evaluate'?\n"),
        ("--zzz", "No such option '--zzz'. See `leadline --help`.\n"),
        ("evaluate", "Missing argument 'QRELS'." + EVALUATE_USAGE + EVALUATE_HINT),
        ("evaluate q", "Missing argument 'RUNS...'." + EVALUATE_USAGE + EVALUATE_HINT),
        ("evaluate q r -m", "Option '-m MEASURE' requires an argument. See `leadline evaluate --help`.\n"),
        ("evaluate q r -l x", "Invalid value for '-l' / '--level': 'x' is not a number." + EVALUATE_HINT),
        ("evaluate none r", "none: no such file\n"),
        ("evaluate q none", "'none' is neither a file nor a measure\n"),
        ("evaluate q r --config read.known=none", "none: no such file\n"),
        ("evaluate more r", "more: is a folder, not a file\n"),
        (
            "evaluate q r r",
            "two runs are both named 'r' (r and r). Give them different names with NAME=FILE.\n",
        ),
        (
            "evaluate r q",
            (
                "r:1: the line has 6 columns. A line of qrels has 4 columns (query iteration document grade)."
                " "
                "This looks like a run, but qrels are needed here. Most commands that take both as arguments "
                "expect the qrels first (QRELS RUN...), but `leadline replicate` expects them last. If you "
                "have no qrels, `leadline unjudged RUN RUN...` ranks two or more runs.\n"
            ),
        ),
        (
            "evaluate q -",
            ("-: contains no run lines. A line of a run has 6 columns (query Q0 document rank score tag).\n"),
        ),
        ("evaluate q r -o more", "cannot write more (Is a directory)\n"),
        ("evaluate q r -o new/", "cannot write new/, because a name that ends in '/' is a folder name\n"),
        ("fuse r x=r -o new/", "cannot write new/, because a name that ends in '/' is a folder name\n"),
        ("evaluate q r -o none/out", "cannot write none/out (No such file or directory)\n"),
        ("evaluate q r -o q/out", "cannot write q/out (Not a directory)\n"),
    ],
)
def test_bad_usage_is_one_line(arguments: str, error: str, leadline: Leadline) -> None:
    assert refusal(leadline, *arguments.split()).rstrip(".\n") == error.rstrip(".\n")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "option",
    [
        "--profile",
        "--config scores.queries",
        "-f",
        "--config read.order",
        "--config read.on_duplicate",
        "--config read.on_nan",
    ],
)
def test_a_choice_that_does_not_exist_lists_those_that_do(option: str, leadline: Leadline) -> None:
    found = refusal(leadline, *f"evaluate q r {option}{'=' if '.' in option else ' '}nonsense".split())
    assert f"{option}" in found
    assert "'nonsense' is not one of '" in found


def test_no_command_shows_the_help(leadline: Leadline) -> None:
    found = leadline()
    assert (found.status, found.err) == (0, "")
    assert found.out.startswith("Usage: leadline ")


def test_a_failing_command_leaves_the_old_result_alone(files: Path, leadline: Leadline) -> None:
    out = files / "out.json"
    assert leadline("evaluate", "q", "r", "-o", out, "-f", "none") == (0, "", f"wrote {out}\n")
    before = out.read_bytes()
    assert before.endswith(b"}\n")
    refusal(leadline, "evaluate", "q", "none", "-f", "json", "-o", out)
    (files / "bad.run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 x x t\n")
    refusal(leadline, "evaluate", "q", "r", "bad.run", "-f", "json", "-o", out)
    assert out.read_bytes() == before


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("step", ["replace", "chmod"])
def test_a_disk_that_fails_leaves_no_half_written_file(
    step: str, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    found = refusal(leadline, "evaluate", "q", "r", "-o", "out.txt")
    assert found == "cannot write out.txt (No space left on device)\n"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_a_stopped_command_writes_one_line_and_nothing_else(
    stop: type[BaseException], files: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(*_given: object, **_options: Any) -> NoReturn:
        raise stop

    monkeypatch.setattr(importlib.import_module("leadline.cli.evaluate"), "evaluate", evaluate)
    before = content(files)
    found = leadline("evaluate", "q", "r", "-o", "out.txt")
    if stop is KeyboardInterrupt:
        assert (found.status, found.out) == (130, "")
        assert found.err.strip() == "leadline: interrupted"  # on a line of its own, after the ^C
    else:
        assert found == (2, "", "leadline: error: not enough memory for this input\n")
    assert content(files) == before


def test_a_number_too_large_is_refused_without_its_errno(files: Path, leadline: Leadline) -> None:
    (files / "q").write_text("q1 0 d1 5000\n")
    found = refusal(leadline, "explain", "q", "r", "-m", "nDCG(gain=exp)@10", "--query-id", "q1")
    assert found.startswith("a number is too large (")
    assert str(errno.ERANGE) not in found


def test_a_terminated_index_leaves_no_folder(tmp_path: Path) -> None:
    from_stdin = [sys.executable, "-m", "leadline", "index", "-", "-o", "docs.index"]
    with subprocess.Popen(from_stdin, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as running:
        assert running.stdin is not None
        running.stdin.write(b'{"doc_id": "d1", "text": "wing"}\n' * 9)
        running.stdin.flush()
        while not list(tmp_path.iterdir()):
            time.sleep(0.01)
        running.terminate()
        # A signal that comes just before a read is taken when the read ends, here with the input.
        running.communicate(timeout=60)
    assert running.returncode == 143
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\nb.run", "none\r.run", "\x1b[31m.run"])
def test_a_line_break_in_a_name_does_not_break_the_line(name: str, files: Path, leadline: Leadline) -> None:
    (files / name).write_text("q1 Q0 d1 1 x t\n")
    assert "score 'x' is not a number" in refusal(leadline, "evaluate", "q", name)


def run_apart(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command line as its own process, its output in strict UTF-8 as most terminals have it."""
    return subprocess.run(
        [sys.executable, "-m", "leadline", *arguments],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"} | environment,
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("pure", ["0", "1"])
def test_a_process_ends_with_status_2_and_one_line(pure: str) -> None:
    found = run_apart("evaluate", "q", "none", "-m", "AP", LEADLINE_PURE=pure)
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr == b"leadline: error: 'none' is neither a file nor a measure\n"


@pytest.mark.parametrize("form", ["json", "jsonl", "table", "csv"])
def test_ids_that_are_not_utf_8_come_out_as_they_went_in(form: str, files: Path) -> None:
    (files / "q").write_bytes(b"q\xff 0 d1 1\n")
    (files / "r").write_bytes(b"q\xff Q0 d1 1 2 t\n")
    found = run_apart("evaluate", "q", "r", "-q", "-f", form)
    assert (found.returncode, found.stderr.count(b"\n")) == (0, int(form in ("csv", "jsonl")))
    if form in ("json", "jsonl"):  # which must be UTF-8: Python reads the escape back as the same id
        assert json.loads(found.stdout)
        assert rb"q\udcff" in found.stdout
    else:
        assert b"q\xff" in found.stdout


def test_an_id_that_is_not_utf_8_can_be_complained_of(files: Path) -> None:
    (files / "r").write_bytes(b"q\xff Q0 d1 1 2 t\nq\xff Q0 d1 1 2 t\n")
    found = run_apart("evaluate", "q", "r")
    assert found.returncode == 2
    assert b"r:2: document 'd1' appears twice" in found.stderr
    assert b"Traceback" not in found.stderr


ALPHABET = "".join(
    sorted({*"PRAPnDCGIPrecRankOfBprefjudged@@@(((()))),,,===__..0123456789-+ erlgainxpk=*%é\x00\n"})
)
FRAGMENTS = st.sampled_from(
    [
        *MEASURES.classes,
        *"""
            map ndcg_cut recip_rank precision recall @ @10 @0.1 _5 .5,10 _at_ -l2 ( ) (rel=2) (gain=exp)
            (discount=jk) (n=all) (form=search) (beta=0.5) rel= , = 1e5 nan inf -1 0 007 1_0 ٣
        """.split(),
        " ",
    ]
)
TEXTS = st.one_of(
    st.text(ALPHABET, max_size=14), st.text(max_size=8), st.lists(FRAGMENTS, max_size=5).map("".join)
)


@examples(150)
@given(TEXTS)
def test_any_text_is_refused_or_means_measures_that_print_and_parse_back(text: str) -> None:
    try:
        found = MEASURES.expand(text)
    except UsageError as error:
        message = str(error)
        assert "\n" not in message
        return
    assert found
    for measure in found:
        again = MEASURES.parse(str(measure))
        assert again == measure
        assert str(again) == str(measure)
        assert type(again) is type(measure)
        assert all(getattr(again, name) == getattr(measure, name) for name in type(measure).parameters())


@examples(40)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_every_bad_text_among_several_is_reported(texts: list[str]) -> None:
    bad = []
    for text in (part for one in texts for part in split_names(one)):
        try:
            MEASURES.expand(text)
        except UsageError as error:
            bad.append(str(error))
    if not bad:
        assert MEASURES.expand_all(texts)
        return
    with pytest.raises(UsageError) as rejected:
        MEASURES.expand_all(texts)
    assert all(fault.lower() in str(rejected.value).lower() for fault in bad)


@pytest.mark.parametrize(
    "words", ["evaluate - r", "evaluate q -", "check -", "convert - -o x.run", "suite -"]
)
def test_a_closed_standard_input_is_one_line(words: str, files: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.stdin = None; from leadline.cli import main; main()",
            *words.split(),
        ],
        cwd=files,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["measures = " + "[" * 5000 + "]" * 5000, "collections.a.qrels." + ".".join("a" * 5000) + " = 1"]
)
def test_a_suite_that_is_nested_too_deep_is_one_line(text: str, files: Path, leadline: Leadline) -> None:
    (files / "suite.toml").write_text(text)
    assert "suite.toml" in leadline("suite", "suite.toml").refusal


@pytest.mark.parametrize("words", ["correlate saved.json saved.json", "why-different saved.json saved.json"])
@pytest.mark.parametrize(
    "run", [{"mean": {"AP": 0.5}, "queries": {"q1": "x"}}, {"queries": {"q1": {"AP": "x"}}}]
)
def test_a_damaged_result_is_one_line(words: str, run: object, files: Path, leadline: Leadline) -> None:
    (files / "saved.json").write_text(json.dumps({"runs": [{"name": "a", "AP": 1} | run]}))  # type: ignore[operator]
    done = leadline(*words.split())
    assert (done.status, done.err.count("\n")) == (2, 1)
