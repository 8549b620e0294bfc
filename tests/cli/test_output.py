"""Where results go: files whole or absent, links and devices left as they are, inputs never overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from leadline.errors import UsageError
from leadline.io.write import write_whole

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q").write_text(QRELS)
    (tmp_path / "r").write_text(RUN)
    return tmp_path


def leadline(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which `leadline` is this one."""
    line = command.replace("leadline", f"{sys.executable} -m leadline", 1)
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


def test_an_input_is_never_overwritten(files: Path) -> None:
    for path, read in (("q", ""), ("./r", " (r)")):
        done = leadline(files, f"leadline evaluate q r -o {path}")
        assert done.returncode == 2
        expected = f"writing to {path} would overwrite an input{read}. Choose a different output file."
        assert done.stderr == f"leadline: error: {expected}\n"
    assert (files / "q").read_text() == QRELS
    assert (files / "r").read_text() == RUN


def test_a_link_stays_a_link_and_its_target_keeps_its_mode(files: Path) -> None:
    target = files / "target"
    target.write_text("old")
    target.chmod(0o600)
    (files / "link").symlink_to(target)
    assert leadline(files, "leadline evaluate q r -m AP -f csv -o link").returncode == 0
    assert (files / "link").is_symlink()
    assert target.read_text().startswith("run,AP\n")
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_file_without_write_permission_is_not_replaced(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = files / "kept"
    kept.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, _mode: os.fspath(path) != str(kept.resolve()))
    with pytest.raises(UsageError, match="Permission denied"):
        write_whole(str(kept), b"new")
    assert kept.read_text() == "old"
    assert {path.name for path in files.iterdir()} == {"q", "r", "kept"}


def test_a_pipe_is_written_to_and_stays_a_pipe(files: Path) -> None:
    os.mkfifo(files / "pipe")
    done = leadline(files, "cat pipe & leadline evaluate q r -m AP -f csv -o pipe; wait")
    assert done.stdout.startswith("run,AP\n")
    assert (files / "pipe").is_fifo()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full here")
def test_output_that_cannot_be_written_is_one_line(files: Path) -> None:
    for form in ("table", "json"):
        done = leadline(files, f"leadline evaluate q r -f {form} > /dev/full")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("leadline: error: cannot write the output (")


def test_a_closed_standard_output_is_one_line(files: Path) -> None:
    done = leadline(files, "leadline evaluate q r >&-")
    assert done.returncode == 2
    assert done.stderr == (
        "leadline: error: standard output is closed. Connect it to a file, a pipe or a terminal.\n"
    )


def test_a_reader_that_goes_away_is_no_failed_condition(files: Path) -> None:
    line = "leadline measures -f json | head -1 > head; exit ${PIPESTATUS[0]}"
    assert leadline(files, line).returncode in (0, 141)


def test_a_minus_is_standard_output(files: Path) -> None:
    done = leadline(files, "leadline evaluate q r -m AP -f csv -o -")
    assert done.stdout.startswith("run,AP\n")
    assert not (files / "-").exists()


def test_csv_has_its_notices_on_standard_error(files: Path) -> None:
    done = leadline(files, "leadline evaluate q r -m AP -f csv")
    assert done.stdout == "run,AP\nr,0.5\n"
    assert done.stderr.endswith("leadline: 1 judged query missing from r (scored 0)\n")


def test_a_query_left_out_of_the_mean_shows_no_value(files: Path) -> None:
    done = leadline(files, "leadline evaluate q r -m AP -f csv -q -C queries=both")
    assert done.stdout == "run,query,AP\nr,q1,1.0\nr,q2,\nr,,1.0\n"
