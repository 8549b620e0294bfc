"""The scripts of the GitHub Action as GitHub runs them, and the file of the pre-commit hook."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import leadline as ll
from conftest import REPOSITORY

SCRIPT = REPOSITORY / "action" / "compare.sh"
ACTION = (REPOSITORY / "action.yml").read_text(encoding="utf-8")
HOOKS = (REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
BASH = shutil.which("bash")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make judgments and runs, and a program called leadline that runs these sources."""
    ll.write_qrels({f"q{query}": {"d": 1} for query in range(30)}, tmp_path / "qrels.txt")
    for name, steps in {"old": (1, 2), "same": (1, 2), "worse": (6, 8)}.items():
        lists = {
            f"q{query}": {"d" if p == steps[query % 2] else f"x{p}": float(-p) for p in range(1, 9)}
            for query in range(30)
        }
        ll.write_run(lists, tmp_path / f"{name}.run")
    program = tmp_path / "bin" / "leadline"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m leadline "$@"\n')
    program.chmod(0o755)
    return tmp_path


def run(folder: Path, **variables: str) -> tuple[int, str, dict[str, str], str]:
    """Run the script with nothing but its variables; give status, summary, outputs and what was printed."""
    if BASH is None:
        pytest.skip("bash is not installed")
    summary, output = folder / "summary.md", folder / "output.txt"
    for path in (summary, output):
        path.write_text("")
    done = subprocess.run(
        [BASH, str(SCRIPT)],
        cwd=folder,
        env={
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY / "src"),
            "HOME": str(folder),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(output),
            "RUNNER_TEMP": str(folder),
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
    return done.returncode, summary.read_text(), outputs, done.stdout + done.stderr


def test_a_run_that_is_as_good_passes(folder: Path) -> None:
    status, summary, outputs, _ = run(
        folder,
        LEADLINE_QRELS="qrels.txt",
        LEADLINE_RUNS="same.run\n",
        LEADLINE_BASELINE="old.run",
        LEADLINE_FAIL_IF_WORSE="RR\n  nDCG@10:0.01  \n\n",
        LEADLINE_MEASURES="RR\nnDCG@10",
    )
    assert (status, outputs["status"], outputs["outcome"]) == (0, "0", "passed")
    assert Path(outputs["summary"]).read_text() == summary
    assert summary.startswith("### leadline: 0 of 2 conditions failed\n")


def test_a_worse_run_fails_with_an_annotation_and_a_summary(folder: Path) -> None:
    status, summary, outputs, printed = run(
        folder,
        LEADLINE_QRELS="qrels.txt",
        LEADLINE_RUNS="worse.run\nsame.run",
        LEADLINE_BASELINE="old.run",
        LEADLINE_REQUIRE_NOT_WORSE="RR:0.05",
    )
    assert (status, outputs["outcome"]) == (1, "failed")
    assert "### leadline: 1 of 2 conditions failed" in summary
    assert re.search(
        r"^::error title=leadline::FAILED: .*worse .* \(one-sided 95 %25 lower", printed, re.MULTILINE
    )


def test_bad_input_is_an_error_that_the_summary_shows(folder: Path) -> None:
    status, summary, outputs, printed = run(
        folder,
        LEADLINE_QRELS="qrels.txt",
        LEADLINE_RUNS="none.run",
        LEADLINE_BASELINE="old.run",
        LEADLINE_FAIL_IF_WORSE="RR",
    )
    assert (status, outputs["status"], outputs["outcome"]) == (2, "2", "error")
    assert "### leadline: no comparison (status 2)" in summary
    assert "none.run" in summary
    assert "::error title=leadline::error: none.run" in printed


def test_a_baseline_file_and_more_arguments_are_passed(folder: Path) -> None:
    here = {"LEADLINE_QRELS": "qrels.txt", "LEADLINE_BASELINE": "kept.json"}
    more = {"LEADLINE_ARGUMENTS": "--update-baseline\nkept.json\n-m\nRR", "LEADLINE_FAIL_BELOW": "RR=0.1"}
    assert run(folder, **here, LEADLINE_RUNS="old.run", **more)[0] == 0
    assert (folder / "kept.json").exists()
    assert run(folder, **here, LEADLINE_RUNS="same.run", LEADLINE_FAIL_IF_WORSE="RR")[0] == 0
    assert run(folder, **here, LEADLINE_RUNS="worse.run", LEADLINE_FAIL_IF_WORSE="RR")[0] == 1


GATE = {"LEADLINE_QRELS": "qrels.txt", "LEADLINE_RUNS": "worse.run", "LEADLINE_BASELINE": "old.run"}


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"LEADLINE_FAIL_IF_WORSE": " \n "},
        {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_ARGUMENTS": "--help"},
        {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_ARGUMENTS": "--version"},
        {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_BASELINE": ""},
        {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_BASELINE": "odl.run"},
        {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_QRELS": ""},
        {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_RUNS": " \n"},
    ],
    ids=["none", "blank", "help", "version", "no baseline", "wrong baseline", "no judgments", "no runs"],
)
def test_what_is_no_gate_is_an_error(folder: Path, inputs: dict[str, str]) -> None:
    status, summary, outputs, printed = run(folder, **(GATE | inputs))
    assert (status, outputs["status"], outputs["outcome"]) == (2, "2", "error")
    assert "no comparison (status 2)" in summary
    assert printed.count("::error title=leadline::error: ") == 1


@pytest.mark.parametrize("form", ["json", "csv", "latex", "html", "none"])
def test_the_format_of_the_arguments_changes_nothing(folder: Path, form: str) -> None:
    inputs = {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_ARGUMENTS": f"-f\n{form}"}
    status, summary, _, printed = run(folder, **(GATE | inputs))
    assert (status, printed.count("::error title=leadline::FAILED: ")) == (1, 1)
    assert "### leadline: 1 of 1 conditions failed" in summary


@pytest.mark.parametrize(
    ("floor", "expected"), [("", "1 condition skipped"), ("RR=0.1", "0 of 1 conditions failed, 1 skipped")]
)
def test_skipped_conditions_are_counted(folder: Path, floor: str, expected: str) -> None:
    inputs = {"LEADLINE_BASELINE": "b.json", "LEADLINE_ARGUMENTS": "--update-baseline\nb.json"}
    conditions = {"LEADLINE_FAIL_IF_WORSE": "RR", "LEADLINE_FAIL_BELOW": floor}
    assert f"### leadline: {expected}\n" in run(folder, **(GATE | inputs | conditions))[1]


@pytest.mark.parametrize("runs", ["worse.run", "worse.run\nsame.run"])
@pytest.mark.parametrize(("floor", "expected"), [("RR=0.1", 0), ("RR=0.3", 1)])
def test_a_floor_needs_no_baseline(folder: Path, runs: str, floor: str, expected: int) -> None:
    inputs = {"LEADLINE_RUNS": runs, "LEADLINE_BASELINE": "", "LEADLINE_FAIL_BELOW": floor}
    status, summary, _, printed = run(folder, **(GATE | inputs))
    assert status == expected
    assert f"### leadline: {expected} of {len(runs.split())} conditions failed" in summary
    assert printed.count("FAILED: ") == expected


def test_half_a_run_cannot_tell(folder: Path) -> None:
    lines = (folder / "same.run").read_text().splitlines(keepends=True)
    (folder / "half.run").write_text("".join(line for line in lines if not line.startswith("q1")))
    inputs = {"LEADLINE_RUNS": "half.run", "LEADLINE_FAIL_IF_WORSE": "RR"}
    for more in ("", "-C\nqueries=both"):
        status, _, _, printed = run(folder, **(GATE | inputs), LEADLINE_ARGUMENTS=more)
        assert status == 1
        assert printed.count("::error title=leadline::CANNOT TELL: ") == 1
    inputs = {"LEADLINE_RUNS": "same.run", "LEADLINE_BASELINE": "half.run", "LEADLINE_FAIL_IF_WORSE": "RR"}
    for more, expected in (("", 1), ("-C\nqueries=both", 0)):
        status, _, _, printed = run(folder, **(GATE | inputs), LEADLINE_ARGUMENTS=more)
        assert (status, printed.count("::error title=leadline::CANNOT TELL: ")) == (expected, expected)
    floor = {"LEADLINE_RUNS": "half.run", "LEADLINE_BASELINE": "", "LEADLINE_FAIL_BELOW": "RR=0.01"}
    for more, expected in (("", 0), ("-C\nqueries=both", 1)):
        status, _, _, printed = run(folder, **(GATE | floor), LEADLINE_ARGUMENTS=more)
        assert (status, printed.count("::error title=leadline::CANNOT TELL: ")) == (expected, expected)


def test_an_input_is_never_part_of_a_command_line(folder: Path) -> None:
    for evil in ("$(touch evil)", "`touch evil`", "; touch evil", '"; touch evil; "'):
        inputs = {"LEADLINE_BASELINE": "old.run", "LEADLINE_FAIL_IF_WORSE": "RR"}
        status, *_ = run(folder, LEADLINE_QRELS="qrels.txt", LEADLINE_RUNS=evil, **inputs)
        assert status == 2
        assert not (folder / "evil").exists()
    commands = re.findall(r"^ +run: (.*)$", ACTION, re.MULTILINE)
    assert len(commands) == 3
    assert not [line for line in commands if "${{" in line]


PYTHON = """#!/bin/sh
echo "$LEADLINE_BUILD|$*" >> "$LOG"
case "$*" in
  *version_info*) exit $OLD ;;
  "-m venv "*) for last; do :; done; mkdir -p "$last/bin"; cp "$FAKE" "$last/bin/leadline" ;;
  *" download "*)
    [ -n "$WHEEL" ] || exit 1
    mkdir -p "$RUNNER_TEMP/leadline-wheel"
    : > "$RUNNER_TEMP/leadline-wheel/$WHEEL" ;;
esac
"""


def installed(folder: Path, **variables: str) -> tuple[int, list[str]]:
    """Run the script that installs with an interpreter that only notes its calls; give status and calls."""
    if BASH is None:
        pytest.skip("bash is not installed")
    fake, log = folder / "python", folder / "log.txt"
    fake.write_text(PYTHON)
    fake.chmod(0o755)
    log.write_text("")
    given = {"LOG": str(log), "FAKE": str(fake), "OLD": "0", "WHEEL": "", "LEADLINE_PYTHON": str(fake)}
    places = {"RUNNER_TEMP": str(folder), "GITHUB_PATH": str(folder / "path.txt")}
    script = REPOSITORY / "action" / "install.sh"
    environment = {"PATH": os.environ["PATH"], **given, **places, **variables}
    done = subprocess.run([BASH, str(script)], env=environment, capture_output=True, check=False)
    return done.returncode, [
        line for line in log.read_text().splitlines() if " install " in line or " download " in line
    ]


PINNED = {"LEADLINE_TAG": "v1.2.3", "LEADLINE_RELEASE": "https://host.invalid/assets/v1.2.3"}
WHEEL = "leadline-1.2.3-py3-none-any.whl"


def test_an_action_pinned_to_a_tag_installs_the_wheel_of_its_release(tmp_path: Path) -> None:
    status, calls = installed(tmp_path, WHEEL=WHEEL, **PINNED)
    assert status == 0
    assert len(calls) == 2
    assert f"--no-index --only-binary :all: --find-links {PINNED['LEADLINE_RELEASE']}" in calls[0]
    assert calls[0].endswith("leadline==1.2.3")
    assert calls[1].endswith(f"leadline-wheel/{WHEEL}")
    assert (tmp_path / "path.txt").read_text() == f"{tmp_path}/leadline-environment/bin\n"


@pytest.mark.parametrize(
    "variables",
    [{}, PINNED, {**PINNED, "LEADLINE_TAG": "main", "WHEEL": WHEEL}],
    ids=["no tag", "no wheel", "branch"],
)
def test_elsewhere_the_checkout_is_built_without_a_compiler(
    variables: dict[str, str], tmp_path: Path
) -> None:
    status, calls = installed(tmp_path, **variables)
    assert status == 0
    assert calls[-1].startswith("pure|")
    assert calls[-1].endswith(f"--no-build-isolation {REPOSITORY}")


def test_parquet_is_installed_where_an_input_needs_it_and_a_package_replaces_all(tmp_path: Path) -> None:
    wanted = {"LEADLINE_INPUTS": "qrels.txt a.run\nb.parquet"}
    assert installed(tmp_path, **wanted)[1][-1].endswith(f"{REPOSITORY}[parquet]")
    assert installed(tmp_path, WHEEL=WHEEL, **PINNED, **wanted)[1][-1].endswith(f"{WHEEL}[parquet]")
    status, calls = installed(tmp_path, LEADLINE_PACKAGE="leadline==9", **PINNED)
    assert (status, len(calls)) == (0, 1)
    assert calls[0].endswith(" leadline==9")
    assert installed(tmp_path, OLD="1") == (2, [])


GH = """#!/bin/sh
echo "$*" >> "$LOG"
case "$*" in
  *--paginate*) [ -z "$DENIED" ] || exit 1; printf "$EARLIER" ;;
  *body=@*) for last; do :; done; cat "${last#body=@}" > "$BODY" ;;
esac
"""


@pytest.mark.parametrize(
    ("earlier", "call"),
    [
        ("", "--method POST repos/some/shop/issues/7/comments "),
        ("31\n40\n", "--method PATCH repos/some/shop/issues/comments/31 "),
    ],
)
def test_the_comment_is_written_once_and_then_replaced(earlier: str, call: str, tmp_path: Path) -> None:
    status, calls, body, printed = commented(tmp_path, EARLIER=earlier)
    assert (status, printed) == (0, "")
    assert call in calls[1]
    assert body == "<!-- leadline: ci search gate -->\n### one of two\n"


def test_a_comment_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    status, calls, body, printed = commented(tmp_path, EARLIER="", DENIED="1")
    assert (status, len(calls), body) == (0, 1, "")
    assert printed.startswith("::warning title=leadline::")


def commented(folder: Path, **variables: str) -> tuple[int, list[str], str, str]:
    """Run the script that comments with a gh that only notes its calls."""
    if BASH is None:
        pytest.skip("bash is not installed")
    log, body, summary = folder / "log.txt", folder / "body.md", folder / "summary.md"
    (folder / "gh").write_text(GH)
    (folder / "gh").chmod(0o755)
    for path, text in ((log, ""), (body, ""), (summary, "### one of two\n")):
        path.write_text(text)
    environment = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_REPOSITORY": "some/shop",
        "GITHUB_WORKFLOW": "ci",
        "GITHUB_JOB": "search",
        "GITHUB_ACTION": "gate",
        "LEADLINE_PULL_REQUEST": "7",
        "LEADLINE_SUMMARY": str(summary),
        "LOG": str(log),
        "BODY": str(body),
        "DENIED": "",
        **variables,
    }
    script = REPOSITORY / "action" / "comment.sh"
    done = subprocess.run([BASH, str(script)], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, log.read_text().splitlines(), body.read_text(), done.stdout + done.stderr


def test_inputs_variables_and_script_have_the_same_names() -> None:
    inputs = re.findall(r"^  ([a-z-]+):$", ACTION.split("\noutputs:")[0], re.MULTILINE)
    passed = dict(re.findall(r"(LEADLINE_[A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}", ACTION))
    of_steps = {"working-directory", "python-version", "comment", "github-token"}
    assert set(passed.values()) | of_steps == set(inputs)
    assert all(name == "LEADLINE_" + of.upper().replace("-", "_") for name, of in passed.items())
    read = set(re.findall(r"\$\{(LEADLINE_[A-Z_]+)", SCRIPT.read_text(encoding="utf-8")))
    assert read | {"LEADLINE_PACKAGE"} == set(passed)


@pytest.mark.parametrize(
    ("path", "checked"),
    [
        ("runs/bm25.run", True),
        ("runs/bm25.run.gz", True),
        ("data/qrels.txt", True),
        ("qrels-2024.tsv.zst", True),
        ("data/dev.qrels", True),
        ("src/main.py", False),
        ("README.md", False),
        ("runs/notes.txt", False),
        ("data/queries.jsonl", False),
    ],
)
def test_the_hook_checks_runs_and_judgments(path: str, checked: bool) -> None:
    found = re.search(r"^  files: '(.*)'$", HOOKS, re.MULTILINE)
    assert found is not None
    assert bool(re.search(found[1], path)) == checked
