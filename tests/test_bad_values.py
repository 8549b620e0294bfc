"""Values that no command can take end with one line and status 2, whatever they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest

from conftest import Leadline
from leadline.cli import group
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.io.objects import Qrels, Run, read_qrels, read_run
from leadline.io.texts import read_documents, read_queries

HUGE = "99999999999999999999"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "sys.run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 0\n")
    run.write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n")
    return qrels, run


def test_rows_with_text_ids_make_a_run_and_qrels() -> None:
    run = Run.of([("q1", "d1", 0.5), ("q1", "d2", 0.7)], name="mine")
    assert run == Run.of([(b"q1", b"d1", 0.5), (b"q1", b"d2", 0.7)])
    qrels = Qrels.of([("q1", "d1", 1), ("q1", "d2", 0)])
    assert evaluate(qrels, run, ["AP"]).mean("mine", "AP") == 0.5
    for kind in (Run, Qrels):
        with pytest.raises(InputError, match="is of type int"):
            kind.of([(1, "d1", 0.5)])  # type: ignore[list-item]  # what is refused


def test_negative_grades_only_are_no_judgments_where_they_are_left_out(
    files: tuple[Path, Path], leadline: Leadline
) -> None:
    qrels, run = files
    qrels.write_text("q1 0 d1 -1\nq1 0 d2 -2\n")
    assert leadline("evaluate", qrels, run, "--judged-only").status == 0
    for more in (["--judged-only"], []):
        assert leadline("evaluate", qrels, run, "--config", "read.negative=unjudged", *more).refusal
    with pytest.raises(InputError, match="only negative grades"):
        read_qrels({"q1": {"d1": -1}}, negative="unjudged")
    with pytest.raises(InputError, match="only negative grades for the selected queries"):
        read_qrels({"q1": {"d1": -1}, "q2": {"d1": 1}}, negative="unjudged", queries_in=["q1"])


@pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan"), "x", np.float64(1.5)])
def test_a_pool_in_memory_has_probabilities(share: Any) -> None:
    number = share if isinstance(share, str) else float(share) or 0
    with pytest.raises(
        InputError,
        match=rf"'d1' for query 'q1' has probability {re.escape(repr(number))}. Probabilities must be",
    ):
        evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, ["R@5"], pool={"q1": {"d1": share}})
    with pytest.raises(UsageError, match=r"pool must be .*\{query: \{document: probability\}\}"):
        evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, pool={"q1": 0.5})


@pytest.mark.parametrize(
    ("qrels", "options"),
    [
        ({"a": 1}, {"pool": {"q": {"a": np.float64(1.5)}}}),
        ({"a": np.float64("nan")}, {}),
        ({"a": 1}, {"query_weights": {"q": np.float64(-1)}}),
    ],
)
def test_a_refused_number_of_numpy_is_shown_as_a_number(qrels: Any, options: Any) -> None:
    with pytest.raises(LeadlineError) as refused:
        evaluate({"q": qrels}, {"q": {"a": 1.0}}, ["P@5"], **options)
    assert "float" not in str(refused.value)


def whole_number_options() -> list[tuple[str, str]]:
    """Return every option of every command whose value is a whole number."""
    found: list[tuple[str, str]] = []

    def walk(command: Any, path: str) -> None:
        if hasattr(command, "list_commands"):
            for name in command.list_commands(None):
                walk(command.get_command(None, name), f"{path} {name}".strip())
            return
        found.extend(
            (path, option.opts[-1]) for option in command.params if option.type.name.startswith("integer")
        )

    walk(group, "")
    return found


@pytest.mark.parametrize(("command", "option"), whole_number_options())
@pytest.mark.parametrize("value", [HUGE, "-" + HUGE, "1.5", "many"])
def test_a_whole_number_has_a_range(command: str, option: str, value: str, leadline: Leadline) -> None:
    joined = f"{option}={value}" if option.startswith("--") else f"{option}{value}"
    found = leadline(*command.split(), *joined.split())
    assert found.status == 2
    assert len(found.err.splitlines()) == 1
    if value.lstrip("-") == HUGE:
        limits = ("is not between ", "is less than ", "Missing")
        assert any(words in found.err for words in limits)


def test_ranges_are_kept_in_python_too() -> None:
    with pytest.raises(UsageError, match="1 to 1000000000"):
        evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, depth=int(HUGE))


@pytest.mark.parametrize(
    "text",
    [
        '{"q1": {"d1": {"score": 3}}}',
        '{"q1": {"d1": {"a": {"b": {"c": "' + "x" * 500 + '"}}}}}',
        '[{"query_id": "q1", "doc_id": {"a": 1}, "score": 2}]',
        '[{"query_id": {"a": 1}, "doc_id": "d1", "score": 2}]',
        '[{"query_id": "q1", "doc_id": "d1", "score": {"a": 2}}]',
    ],
)
def test_no_message_shows_the_address_of_an_object(
    text: str, files: tuple[Path, Path], tmp_path: Path, leadline: Leadline
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    for asked in (("evaluate", files[0], path), ("evaluate", path, files[1]), ("check", path)):
        found = leadline(*asked)
        assert found.status == 2
        said = found.err + found.out
        assert " at 0x" not in said
        assert "Members" not in said
        assert len(found.err) < 400


class Unreachable(Exception):  # noqa: N818  # as such packages call theirs
    """What a package raises whose server does not answer."""


def test_a_failed_download_is_one_line(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, leadline: Leadline
) -> None:
    def fail() -> NoReturn:
        raise Unreachable("no route to host\n  at line 3")

    collection = SimpleNamespace(has_qrels=lambda: True, qrels_iter=fail, docs_iter=fail, queries_iter=fail)
    package = ModuleType("ir_datasets")
    package.load = lambda _name: collection  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, "ir_datasets", package)
    assert "no route to host" in leadline("evaluate", "ir_datasets:cranfield", files[1]).refusal
    for read in (read_documents, read_queries):
        with pytest.raises(InputError, match="no route to host"):
            list(read("ir_datasets:cranfield"))


def test_an_interrupt_while_a_module_loads_ends_with_130(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    before = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, "-m", "leadline", "--version"],
        env=os.environ | {"PYTHONPATH": before},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 130
    assert len(found.stderr.splitlines()) == 1


def test_a_run_is_read_as_before(files: tuple[Path, Path]) -> None:
    assert read_run(files[1]).to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}}
