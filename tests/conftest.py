"""What any test may ask for: both forms of the kernels, the command line, files, the real data."""

from __future__ import annotations

import gc
import io
import json
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

import click
import pytest
from hypothesis import HealthCheck, settings

from leadline import cli, kernels

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED_DATA = REPOSITORY.parent / "shared" / "data"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--process-per-site", "--renderer-process-limit=1"]
FORMS: dict[str, kernels.Kernels | None] = {"compiled": kernels.compiled, "uncompiled": None}

# Tests that are started in the background of a script ignore interrupts, as would the programs they start,
# of which some are interrupted.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Every run tries the same examples, so that a failure comes back when it is looked for. LEADLINE_EXAMPLES
# multiplies their number, to look for new ones.
EXAMPLES = float(os.environ.get("LEADLINE_EXAMPLES", "1"))
settings.register_profile(
    "leadline",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=round(40 * EXAMPLES),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("leadline")


def pytest_collection_finish() -> None:
    """Leave the tests, which stay to the end, out of every garbage collection."""
    gc.freeze()


def examples(number: int) -> settings:
    """Try a number of random examples, times LEADLINE_EXAMPLES."""
    return settings(max_examples=round(number * EXAMPLES))


def example_of(command: str) -> str:
    """Return the example from the help of a command, without its output option."""
    found = cli.group.get_command(click.Context(cli.group), command)
    assert found is not None
    words = (found.epilog or "").removeprefix("Example: leadline ").partition(";")[0]
    return re.sub(r" -o \S+", "", words)


class Outcome(NamedTuple):
    """What one command came to."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """Return the JSON result."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def refusal(self) -> str:
        """Return the one-line usage error; check that nothing else is printed."""
        assert (self.status, self.out, self.err.count("\n")) == (2, "", 1), self
        return self.err


class Leadline(Protocol):
    """The command line, run in this process."""

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Outcome:
        """Run one command, as in leadline("evaluate", qrels, run, "-f", "json")."""


@pytest.fixture(params=list(FORMS))
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test once with the compiled kernels and once without."""
    name: str = request.param
    if name == "compiled" and FORMS[name] is None:
        pytest.skip("the kernels are not compiled here")
    monkeypatch.setattr(kernels, "compiled", FORMS[name])
    return name


@pytest.fixture
def leadline(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Leadline]:
    """Return the command line as a function that returns status, standard output and standard error."""
    thresholds = gc.get_threshold()
    monkeypatch.setattr(gc, "freeze", lambda: None)

    def call(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        written = capsys.readouterr()
        code = stopped.value.code
        assert isinstance(code, int)
        assert "Traceback" not in written.err
        return Outcome(code, written.out, written.err)

    yield call
    gc.set_threshold(*thresholds)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save empty figures, for tests of what is beside them: drawing takes most of the time of a page."""
    from matplotlib.figure import Figure

    monkeypatch.setattr(Figure, "savefig", lambda _, target, **__: target.write(b"<svg></svg>"))


@pytest.fixture
def shared_data() -> Path:
    """Return the folder of real runs and judgments that lies beside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not here")
    return SHARED_DATA


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return a real browser; without one a test is skipped, or fails where LEADLINE_NEEDS_BROWSER is set."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        _lacks("no Chromium is installed: " + ", ".join(BROWSERS))
    try:
        from playwright import sync_api
    except ImportError:
        _lacks("playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=CHROMIUM)
        yield launched
        launched.close()


def _lacks(reason: str) -> NoReturn:
    if os.environ.get("LEADLINE_NEEDS_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)
