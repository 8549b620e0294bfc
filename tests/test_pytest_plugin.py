"""The plugin of pytest, in sessions of its own: what passes, what fails and with which report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy.fft  # noqa: F401  # as below
import pytest
import scipy.stats  # noqa: F401  # what a session loads is loaded again in the next one, which numpy refuses

import leadline as ll
from leadline.comparison import baselines, gate_reports  # noqa: F401  # as above

pytest_plugins = ["pytester"]
QUERIES = 30
INI = """
[pytest]
leadline_qrels = data/qrels.txt
"""
SETTINGS = ("-p", "leadline.pytest_plugin", "-p", "no:cacheprovider")


def lists(*steps: int, queries: int = QUERIES) -> dict[str, dict[str, float]]:
    """Return lists whose relevant document stands at ranks that go round in the steps."""
    return {
        f"q{query}": {
            "d" if place == steps[query % len(steps)] else f"x{place}": float(-place) for place in range(1, 9)
        }
        for query in range(queries)
    }


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Make a folder with judgments, runs and a configuration."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # else a test of the same second is run again
    (pytester.path / "data").mkdir()
    ll.write_qrels({f"q{query}": {"d": 1} for query in range(QUERIES)}, pytester.path / "data" / "qrels.txt")
    ll.write_qrels({f"q{query}": {"d": 1} for query in range(3)}, pytester.path / "data" / "few.txt")
    for name, steps in {"old": (2, 3, 2, 4), "same": (2, 3, 2, 4), "better": (1, 2), "worse": (6, 8)}.items():
        ll.write_run(lists(*steps), pytester.path / "data" / f"{name}.run")
    (pytester.path / "pytest.ini").write_text(INI)
    return pytester


def run(session: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    """Run one test in a session of its own."""
    session.makepyfile(test_it="def test_it(leadline_gate):\n    " + body.replace("\n", "\n    "))
    return session.runpytest_inprocess(*SETTINGS, *options)


@pytest.mark.parametrize("name", ["same", "better"])
@pytest.mark.parametrize("method", ["assert_not_worse", "assert_not_significantly_worse"])
def test_a_run_that_is_as_good_passes(method: str, name: str, session: pytest.Pytester) -> None:
    body = f"leadline_gate.{method}('data/{name}.run', 'data/old.run', 'RR', margin=0.01)"
    run(session, body).assert_outcomes(passed=1)


def test_a_worse_run_fails_with_a_report(session: pytest.Pytester) -> None:
    found = run(
        session, "leadline_gate.assert_not_worse('data/worse.run', 'data/old.run', 'nDCG@10', margin=0.01)"
    )
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(
        [
            ">*leadline_gate.assert_not_worse*",
            "E*FAILED: worse may be worse than old by 0.01 or more on nDCG@10: -0.* (one-sided 95 % lower *",
            "E*lost most: q* -0.* (0.* to 0.*), *",
        ]
    )
    assert "pytest_plugin.py" not in found.stdout.str(), "no frame of the plugin is shown"


def test_what_cannot_be_told_fails_with_its_reason(session: pytest.Pytester) -> None:
    found = run(
        session,
        "leadline_gate.assert_not_worse('data/better.run', 'data/old.run', 'RR', margin=.1, "
        "qrels='data/few.txt')",
    )
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["E*CANNOT TELL: *3 queries, but at least 5 are needed*"])


def test_a_least_mean(session: pytest.Pytester) -> None:
    run(session, "leadline_gate.assert_at_least('data/old.run', 'RR', 0.3)").assert_outcomes(passed=1)
    found = run(session, "leadline_gate.assert_at_least('data/worse.run', 'RR', 0.3)")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["E*FAILED: mean RR of worse is 0.*, below 0.3", "E*worst: q1 0.1250*"])


def test_columns_of_the_judgments_are_an_option(session: pytest.Pytester) -> None:
    rows = "".join(f"d,1,q{query}\n" for query in range(QUERIES))
    (session.path / "data" / "qrels.txt").write_text(rows)
    columns = "qrels_columns='doc_id,relevance,query_id'"
    body = f"leadline_gate.assert_at_least('data/old.run', 'RR', 0.3, {columns})"
    run(session, body).assert_outcomes(passed=1)


def test_runs_may_be_in_memory_and_have_the_same_name(session: pytest.Pytester) -> None:
    body = """
good = {f"q{n}": {"d": 1.0} for n in range(30)}
bad = {f"q{n}": {"x": 2.0, "d": 1.0} for n in range(30)}
leadline_gate.assert_not_significantly_worse(good, bad, "AP")
leadline_gate.assert_not_significantly_worse(bad, good, "AP")"""
    found = run(session, body)
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["E*FAILED: run is worse than run (baseline) on AP: *"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("leadline_confidence = 0.99", "one-sided 99 % lower limit"),
        ("leadline_test = Sign\nleadline_confidence = 0.9999999999", "p (Sign) is at least"),
    ],
)
def test_the_configuration_sets_the_test(settings: str, said: str, session: pytest.Pytester) -> None:
    (session.path / "pytest.ini").write_text(f"{INI}{settings}\n")
    found = run(
        session, "leadline_gate.assert_not_worse('data/worse.run', 'data/old.run', 'RR', margin=0.01)"
    )
    found.assert_outcomes(failed=1)
    assert said in found.stdout.str()


def test_options_of_pyproject_are_read(session: pytest.Pytester) -> None:
    (session.path / "pytest.ini").unlink()
    (session.path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nleadline_qrels = "data/qrels.txt"\nleadline_seed = "7"\n'
    )
    run(session, "leadline_gate.assert_at_least('data/old.run', 'RR', 0.3)").assert_outcomes(passed=1)
    (session.path / "elsewhere").mkdir()
    done = session.run(sys.executable, "-m", "pytest", *SETTINGS, "--rootdir", ".", "test_it.py")
    done.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("assert_at_least('data/old.run', 'RR', .3, depth=0)", "UsageError: depth"),
        ("assert_at_least('data/none.run', 'RR', .3)", "InputError: data/none.run"),
        ("assert_not_worse('data/old.run', 'none.json', 'RR', margin=.1)", "--leadline-update-baselines"),
        (
            "assert_not_worse('data/old.run', 'data/old.run', 'RR', margin=0)",
            "UsageError: margin must be a number above 0, not 0",
        ),
    ],
)
def test_what_is_asked_wrongly_is_an_error_of_one_line(
    body: str, said: str, session: pytest.Pytester
) -> None:
    found = run(session, f"leadline_gate.{body}")
    found.assert_outcomes(failed=1)
    assert said in found.stdout.str()


def test_without_judgments_the_setting_is_named(session: pytest.Pytester) -> None:
    (session.path / "pytest.ini").write_text("[pytest]\n")
    found = run(session, "leadline_gate.assert_at_least('data/old.run', 'RR', 0.3)")
    found.assert_outcomes(failed=1)
    assert "`leadline_qrels` in the pytest configuration" in found.stdout.str()


UPDATE, FORCE = "--leadline-update-baselines", "--leadline-force-update"


def test_a_baseline_is_written_when_asked_and_then_guards(session: pytest.Pytester) -> None:
    kept = session.path / "kept.json"

    def tried(name: str, *options: str) -> pytest.RunResult:
        body = f"leadline_gate.assert_not_worse('data/{name}.run', 'kept.json', 'RR', margin=0.01)"
        return run(session, body, *options)

    tried("old").assert_outcomes(failed=1)
    assert not kept.exists()
    written = tried("old", UPDATE)
    written.assert_outcomes(passed=1)
    written.stdout.fnmatch_lines(["leadline: wrote kept.json"])
    before = kept.read_bytes()
    tried("old").assert_outcomes(passed=1)
    tried("worse").assert_outcomes(failed=1)
    tried("worse", UPDATE).assert_outcomes(failed=1)
    assert kept.read_bytes() == before
    tried("worse", UPDATE, FORCE).assert_outcomes(failed=1)
    assert kept.read_bytes() != before
    tried("worse").assert_outcomes(passed=1)
    ll.write_qrels({f"q{query}": {"d": 1} for query in range(20)}, session.path / "data" / "qrels.txt")
    refused = tried("worse", UPDATE)
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(["E*the judgments differ*30 judgments before, 20 now*"])
    tried("worse", UPDATE, FORCE).assert_outcomes(passed=1)


@pytest.mark.parametrize("averaging", ["all", "both"])
def test_half_a_run_cannot_tell_and_becomes_no_baseline(session: pytest.Pytester, averaging: str) -> None:
    half = {query: found for query, found in lists(2, 3, 2, 4).items() if int(query[1:]) % 2}
    ll.write_run(half, session.path / "data" / "half.run")
    for method in ("assert_not_worse", "assert_not_significantly_worse"):
        body = (
            f"leadline_gate.{method}('data/half.run', 'data/old.run', 'RR', margin=.9, queries='{averaging}')"
        )
        found = run(session, body)
        found.assert_outcomes(failed=1)
        found.stdout.fnmatch_lines(["E*CANNOT TELL: *15 judged queries *(q0, q10, q12, ...)*"])
    body = f"leadline_gate.assert_at_least('data/half.run', 'RR', 0.01, queries='{averaging}')"
    run(session, body).assert_outcomes(**{"failed" if averaging == "both" else "passed": 1})
    body = (
        "leadline_gate.assert_not_significantly_worse("
        f"'data/old.run', 'data/half.run', 'RR', queries='{averaging}')"
    )
    other = run(session, body)
    other.assert_outcomes(**{"failed" if averaging == "all" else "passed": 1})
    other.stdout.fnmatch_lines(["leadline: 15 judged queries missing from half *"])
    body = (
        "leadline_gate.assert_not_worse("
        f"'data/NAME.run', 'kept.json', 'RR', margin=.9, queries='{averaging}')"
    )
    refused = run(session, body.replace("NAME", "half"), UPDATE)
    refused.assert_outcomes(failed=1)
    assert "15 judged queries" in refused.stdout.str()
    assert not (session.path / "kept.json").exists()
    run(session, body.replace("NAME", "half"), UPDATE, FORCE).assert_outcomes(passed=1)
    noted = run(session, body.replace("NAME", "old"))
    noted.assert_outcomes(**{"failed" if averaging == "all" else "passed": 1})
    noted.stdout.fnmatch_lines(["leadline: kept.json: * lacks 15 of 30 judged queries *"])


def test_a_baseline_is_not_written_where_an_assertion_on_it_is_refused(session: pytest.Pytester) -> None:
    session.makepyfile(
        test_other="def test_other(leadline_gate):\n"
        "    leadline_gate.assert_not_worse('data/old.run', 'kept.json', 'RR', margin=0)"
    )
    body = "leadline_gate.assert_not_worse('data/old.run', 'kept.json', 'RR', margin=0.01)"
    run(session, body, UPDATE).assert_outcomes(failed=1, passed=1)
    assert not (session.path / "kept.json").exists()


def test_several_tests_share_a_baseline_and_keep_its_measures(session: pytest.Pytester) -> None:
    body = """
leadline_gate.assert_not_worse("data/old.run", "kept.json", "RR", margin=0.01)
leadline_gate.assert_not_worse("data/old.run", "kept.json", "AP", margin=0.01)"""
    run(session, body, UPDATE).assert_outcomes(passed=1)
    kept = session.path / "kept.json"
    assert json.loads(kept.read_text())["measures"] == ["RR", "AP"]
    run(session, body).assert_outcomes(passed=1)
    run(session, body.replace("AP", "P@5"), UPDATE).assert_outcomes(passed=1)
    before = kept.read_text()
    assert json.loads(before)["measures"] == ["RR", "AP", "P@5"]
    session.makepyfile(
        test_other="def test_other(leadline_gate):\n"
        "    leadline_gate.assert_not_worse('data/worse.run', 'kept.json', 'R@8', margin=0.01)"
    )
    refused = run(session, body.replace("old", "worse"), UPDATE)
    refused.assert_outcomes(failed=1, passed=1)
    refused.stdout.fnmatch_lines(
        ["leadline: kept.json was not written because an assertion failed or raised an error. *"]
    )
    assert kept.read_text() == before, "no measure of the file is replaced if a check of another one failed"


def test_the_first_of_two_runs_becomes_the_baseline_of_the_second(session: pytest.Pytester) -> None:
    body = """
leadline_gate.assert_not_worse("data/old.run", "kept.json", "RR", margin=0.01)
leadline_gate.assert_not_worse("data/worse.run", "kept.json", "RR", margin=0.01)"""
    run(session, body, UPDATE).assert_outcomes(failed=1)
    assert not (session.path / "kept.json").exists()
    found = run(session, body.replace("0.01", "0.99"), UPDATE)
    found.stdout.fnmatch_lines(["leadline: kept.json: the values of worse replaced those of old from *"])
    assert [one["name"] for one in json.loads((session.path / "kept.json").read_text())["runs"]] == ["worse"]


def test_a_file_that_cannot_be_written_fails_its_own_test_and_loses_no_other(
    session: pytest.Pytester,
) -> None:
    check = "leadline_gate.assert_not_worse('data/old.run', '{}', 'RR', margin=0.01)"
    lines = [
        f"def test_{number}(leadline_gate):\n    {check.format(name)}\n"
        for number, name in enumerate(("none/a.json", "b.csv", "c.json", "d.json"))
    ]
    session.makepyfile(test_it="".join(lines) + "    import os; os.mkdir('c.json')\n")
    found = session.runpytest_inprocess(*SETTINGS, UPDATE)
    found.assert_outcomes(failed=2, passed=2, errors=1)  # the folder c.json appeared too late for its test
    found.stdout.fnmatch_lines(
        [
            "E*cannot write */c.json (Is a directory)",
            "E*cannot write none/a.json, because its folder does not exist. Create the folder first.",
            "E*b.csv: the name of a baseline file must end in .parquet or .json",
            "leadline: wrote d.json",
        ]
    )
    found.stdout.no_fnmatch_line("leadline: *was not written*")  # force would not write them either


def test_a_worker_of_xdist_updates_no_baseline(session: pytest.Pytester) -> None:
    session.makeconftest("def pytest_configure(config):\n    config.workerinput = {}\n")
    body = "leadline_gate.assert_not_worse('data/old.run', 'kept.json', 'RR', margin=0.01)"
    found = run(session, body, UPDATE)
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["E*does not work with pytest-xdist*Run pytest without -n."])


def test_pytest_starts_without_numpy(session: pytest.Pytester) -> None:
    session.makepyfile(
        test_it="import sys\ndef test_it():\n    loaded = {name.split('.')[0] for name in sys.modules}\n"
        "    assert not loaded & {'numpy', 'scipy', 'click', 'pyarrow'}\n"
        "    assert {n for n in sys.modules if n.startswith('leadline')} == "
        "{'leadline', 'leadline.version', 'leadline.pytest_plugin'}\n"
    )
    session.runpytest_subprocess(*SETTINGS).assert_outcomes(passed=1)


def test_the_plugin_is_declared_for_every_session() -> None:
    import tomllib

    from conftest import REPOSITORY

    data = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert data["project"]["entry-points"]["pytest11"] == {"leadline": "leadline.pytest_plugin"}


def test_a_session_without_gates_lists_its_options_and_fixture(session: pytest.Pytester) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *SETTINGS, "--help"],
        cwd=session.path,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in (UPDATE, FORCE, "leadline_qrels", "leadline_confidence", "leadline_test", "leadline_seed"):
        assert name in done.stdout
    assert Path(session.path).is_dir()


def test_a_stratified_sample_is_told(session: pytest.Pytester) -> None:
    rows = "".join(f"q{query} 0 d 1 1\nq{query} 0 e 2 -1\n" for query in range(QUERIES))
    (session.path / "data" / "qrels.txt").write_text(rows)
    found = run(session, "leadline_gate.assert_at_least('data/old.run', 'RR', 0.3)")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["leadline: unjudged documents in a stratified sample: 30 of 60*"])


def test_an_estimate_without_an_interval_cannot_tell(session: pytest.Pytester) -> None:
    rows = [f"q{query},{pair},0.5" for query in range(9) for pair in ("d,1", "x1,0")]
    text = "\n".join(["query_id,doc_id,relevance,probability", *rows])
    (session.path / "drawn.csv").write_text(text + "\n")
    body = (
        "leadline_gate.assert_not_significantly_worse('data/worse.run', 'data/old.run', 'P@2', "
        "qrels='drawn.csv')"
    )
    done = run(session, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E*CANNOT TELL: whether worse is worse than old on P@2: P@2 has no interval*"])
