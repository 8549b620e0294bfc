"""An experiment in `leadline.toml`: what a call without arguments does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Leadline

FILE = """
judgments = "qrels.txt"
runs = ["bm25.run", "new=dense.run"]
measures = ["AP"]
baseline = "bm25"
fail_below = "RR=0.1"

[test]
power = 0.9
draws = 50
"""
INPUTS = {"judgments": "qrels.txt", "runs": "bm25.run"}
TYPED = ("qrels.txt", "bm25.run", "new=dense.run")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    examples = Path(__file__).parents[2] / "docs" / "examples"
    for name in ("qrels.txt", "bm25.run", "dense.run"):
        (tmp_path / name).write_bytes((examples / name).read_bytes())
    (tmp_path / "leadline.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def without_inputs(text: str) -> object:
    found = json.loads(text)
    del found["inputs"]
    return found


@pytest.mark.usefixtures("here")
def test_a_call_without_arguments_is_the_call_with_those_of_the_file(leadline: Leadline) -> None:
    ran = leadline("compare", "-f", "json")
    assert ran.err == "leadline: experiment: leadline.toml\n"
    typed = ("-m", "AP", "--baseline", "bm25", "--fail-below", "RR=0.1", "--config", "test.power=0.9")
    assert without_inputs(ran.out) == without_inputs(leadline("compare", *TYPED, *typed, "-f", "json").out)


@pytest.mark.parametrize("kind", ["fail_if_worse", "require_not_worse", "fail_below"])
def test_conditions_may_be_a_table_of_measures(kind: str, here: Path, leadline: Leadline) -> None:
    text = FILE.replace('fail_below = "RR=0.1"', f'{kind} = {{RR = 0.1, "P@5" = 0.2}}')
    (here / "leadline.toml").write_text(text)
    sign = "=" if kind == "fail_below" else ":"
    options = leadline("compare", "-f", "json").data["options"]
    assert options[kind] == [f"RR{sign}0.1", f"P@5{sign}0.2"]


@pytest.mark.usefixtures("here")
def test_each_command_takes_what_it_knows_and_options_given_win(leadline: Leadline) -> None:
    assert leadline("evaluate", "-m", "P@5", "-f", "json").data["measures"] == ["P@5", "RR"]
    assert leadline("rank", "-f", "json").data["options"]["draws"] == 50
    assert leadline("rank", "-C", "draws=20", "-f", "json").data["options"]["draws"] == 20


@pytest.mark.parametrize("command", ["evaluate", "compare", "rank"])
def test_settings_for_another_command_are_not_refused(command: str, here: Path, leadline: Leadline) -> None:
    more = 'interval = "BCa"\n[scores]\nmissing = "zero"\n[figure]\nlabels = ["bm25=Okapi"]\n'
    more += "[pool]\nrandom = 2\n"
    (here / "leadline.toml").write_text(FILE + more)
    assert leadline(command, "-f", "none").status == 0


def test_paths_are_those_beside_the_file(
    here: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    assert leadline("compare").status == 2
    (here / "leadline.toml").rename(here / "other.toml")
    assert leadline("compare", "--config", "../other.toml", "-f", "json").data["primary"] == "AP"
    (here / "other.toml").write_text(FILE.replace('"RR=0.1"', "{RR = 0.1}"))
    assert leadline("compare", "--config", "../other.toml", "-f", "json").data["conditions"]
    (here / "third.toml").write_text(FILE)
    refusal = leadline("compare", "--config", "../other.toml", "-C", "../third.toml").refusal
    assert "../other.toml and ../third.toml both list runs. Pass only one of them." in refusal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FILE, ("compare", *TYPED, "--config", "leadline.toml")),
        ('runs = ["bm25.run"]\nmeasure = "AP"\n', ("compare",)),
        ('qrels = "qrels.txt"\n' + FILE, ("compare",)),
        (FILE + "[red]\norder = 'rank'\n", ("compare",)),
        (FILE + "[read]\nordr = 'rank'\n", ("compare",)),
        ("runs = [", ("compare",)),
    ],
)
def test_files_that_contradict_or_misspell_are_refused(
    text: str, words: tuple[str, ...], here: Path, leadline: Leadline
) -> None:
    (here / "leadline.toml").write_text(text)
    done = leadline(*words)
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)


@pytest.mark.parametrize(
    "line",
    [
        "judgments = ['qrels.txt', 'other.txt']",
        "judgments = ''",
        "measures = ['AP', 5]",
        "measures = {AP = 1}",
        "baseline = 5",
        "fail_if_worse = true",
        "runs = [['bm25.run']]",
        "runs = {bm25 = ['bm25.run']}",
    ],
)
def test_values_of_another_type_are_refused_with_their_key(line: str, here: Path, leadline: Leadline) -> None:
    key = line.partition(" ")[0]
    rest = [f"{name} = '{file}'" for name, file in INPUTS.items() if name != key]
    (here / "leadline.toml").write_text("\n".join([line, *rest]))
    assert f"leadline.toml: the key '{key}' must be" in leadline("compare").refusal


@pytest.mark.usefixtures("here")
def test_a_call_with_arguments_reads_no_file(leadline: Leadline) -> None:
    assert leadline("evaluate", *TYPED, "-f", "json").data["measures"] != ["AP", "RR"]
