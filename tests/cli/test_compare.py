"""`leadline compare`: shapes of the result, sentences, conditions, figures, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Leadline

PAIR = {*"a b measure difference low high p p_corrected effect wins ties losses".split()}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write qrels and three runs: the new one is worse than the old."""
    monkeypatch.chdir(tmp_path)
    queries = range(1, 21)
    Path("qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in queries))
    for name, rank in (("old", 1), ("new", 3), ("other", 2)):
        with open(f"{name}.run", "w", encoding="utf-8") as file:
            for query in queries:
                last = rank + query % 3
                file.writelines(
                    f"{query} Q0 {'d' if place == last else f'x{place}'} {place} {-place} t\n"
                    for place in range(1, 8)
                )
    return ["qrels.txt", "new.run", "other.run", "old.run"]


def test_json_has_the_keys_of_the_contract(leadline: Leadline, files: list[str]) -> None:
    data = leadline("compare", *files, "-f", "json").data
    assert set(data) == {*"leadline command inputs options warnings measures primary queries pairs".split()}
    assert data["measures"] == ["AP", "nDCG@10"]
    assert len(data["pairs"]) == 6
    assert all(set(pair) >= PAIR for pair in data["pairs"])
    options = data["options"]
    assert (options["test"], options["correction"], options["seed"]) == ("T", "Holm", 0)
    assert [entry["path"] for entry in data["inputs"]] == files
    first = data["pairs"][0]
    assert (first["a"], first["b"], first["verdict"]) == ("other", "new", "better")
    assert first["sentence"].startswith("other is significantly better than new on AP: +0.")
    assert data["primary"] == "AP"
    assert len(first["changed"]) == 3


def test_jsonl_is_one_pair_a_line(leadline: Leadline, files: list[str]) -> None:
    lines = leadline("compare", *files, "--baseline", "old", "-f", "jsonl").out.splitlines()
    pairs = [json.loads(line) for line in lines]
    assert [(pair["a"], pair["b"]) for pair in pairs[:2]] == [("new", "old"), ("other", "old")]


@pytest.mark.parametrize(
    "runs", [["[no]*.run"], ["{here}/new.run", "{here}/old.run"], ["new.run", "x=old.run"]]
)
def test_a_baseline_among_the_runs_is_read_once(
    runs: list[str], leadline: Leadline, files: list[str], tmp_path: Path
) -> None:
    given = [run.format(here=tmp_path) for run in runs]
    pairs = leadline("compare", files[0], *given, "--baseline", "old.run", "-m", "AP", "-f", "json").data[
        "pairs"
    ]
    assert [pair["a"] for pair in pairs if pair["a"] != "other"] == ["new"]


def test_of_many_pairs_the_verdicts_are_counted(leadline: Leadline, files: list[str]) -> None:
    more = [option for name in ("RR", "AP", "P@1", "P@3", "nDCG@3") for option in ("-m", name)]
    text = leadline("compare", *files, *more).out
    assert re.search(r"15 comparisons: \d+ better", text)
    assert " better than " not in text


def test_a_worse_run_fails_a_pipeline(leadline: Leadline, files: list[str]) -> None:
    asked = ("compare", *files, "--baseline", "old")
    done = leadline(*asked, "--fail-if-worse", "RR", "-o", "summary.md")
    assert done.status == 1
    assert (done.out + done.err).count("FAILED: ") == 2, "one line for each run that failed"
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert summary.count("FAILED: ") == 2
    assert summary.startswith("| a | b |")
    data = leadline(*asked, "--fail-if-worse", "RR:0.9", "-f", "json")
    assert data.status == 0
    assert [entry["failed"] for entry in data.data["conditions"]] == [False, False]
    assert data.data["conditions"][0]["margin"] == 0.9


def test_a_condition_may_be_spelled_as_others_spell_it(leadline: Leadline, files: list[str]) -> None:
    asked = ("--baseline", "old", "--fail-if-worse", "recip_rank", "--fail-if-worse", "ndcg@10")
    done = leadline("compare", *files, *asked)
    assert done.status == 1
    assert done.out.count("FAILED") == 4
    assert " on RR: " in done.out, "and is said by its canonical name"
    assert " on nDCG@10: " in done.out


@pytest.mark.parametrize("figure", ["differences", "forest", "groups", "critical-difference", "scatter"])
def test_every_figure_is_drawn(leadline: Leadline, files: list[str], figure: str) -> None:
    done = leadline("compare", *files, "-o", "picture.svg", "--figure", figure)
    assert done.status == 0
    assert Path("picture.svg").read_bytes().startswith(b"<?xml")


def test_the_same_seed_gives_the_same_bytes(leadline: Leadline, files: list[str]) -> None:
    asked = ("compare", *files, *"--test Randomisation(draws=200) --config test.interval=BCa -f json".split())
    first = leadline(*asked, "--seed", "5")
    assert first.out == leadline(*asked, "--seed", "5").out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--baseline", "odl"], "no run is named 'odl'. Did you mean 'old'"),
        (["--test", "tt"], "unknown test 'tt'"),
        (["--fail-if-worse", "AP:x"], "'AP:x' is not a valid condition. Write MEASURE, or"),
        (["--baseline", "old", "--fail-if-worse", "APP"], "unknown measure 'APP'. Did you mean AP"),
        (["-m", "NumRet"], "only arithmetic means over queries can be compared, not NumRet"),
        (["-o", "picture.gif"], "the name of a figure file must end in .svg, .pdf or .png"),
        (["--confidence", "2"], "the confidence level must be a fraction"),
        (["-o", "old.run"], "would overwrite an input"),
        (["-o", "x.md", "-o", "./x.md"], "two outputs would go to the same file"),
        (["-o", "x.svg", "-o", "x.svg"], "two outputs would go to the same file"),
        (["-o", "-", "-o", "-"], "standard output"),
        (["--figure", "scatter"], "--figure scatter needs -o FILE.svg"),
        (["-o", "x.svg", "--figure", "groups", "--baseline", "old"], "Compare without a baseline"),
    ],
    ids=" ".join,
)
def test_bad_usage_is_one_line(leadline: Leadline, files: list[str], more: list[str], words: str) -> None:
    assert words in leadline("compare", *files, *more).refusal


def test_names_do_not_format_a_summary(leadline: Leadline, files: list[str]) -> None:
    Path("<b>*x*.run").write_bytes(Path("new.run").read_bytes())
    asked = ("--baseline", "old", "-o", "summary.md", "--fail-if-worse", "RR")
    leadline("compare", files[0], "<b>*x*.run", "old.run", *asked)
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert r"FAILED: \<b>\*x\* is worse than old" in summary
    assert r"\<b>\*x\* is significantly worse than old" in summary


def test_a_name_that_is_not_utf_8_goes_everywhere(leadline: Leadline, files: list[str]) -> None:
    odd = "new\udcff.run"
    Path(odd).write_bytes(Path("new.run").read_bytes())
    asked = ("compare", files[0], odd, "old.run", "-f", "none", "-o", "summary.md", "-o", "table.txt")
    for figure in ("differences", "forest", "groups", "critical-difference", "scatter"):
        assert leadline(*asked, "-o", "x.png", "--figure", figure).status == 0
    assert b"old is significantly better than new\xff" in Path("summary.md").read_bytes()
    page = leadline("report", files[0], odd, "old.run", "-m", "AP", "-o", "page.html", "-f", "none")
    assert page.status == 0


def test_one_run_is_refused(leadline: Leadline, files: list[str]) -> None:
    done = leadline("compare", *files[:2])
    assert (done.status, done.err) == (2, "leadline: error: a comparison needs at least two runs, not 1\n")
    done = leadline("compare", *files[:2], "--update-baseline", "kept.json")
    assert done.refusal.endswith(
        "kept.json needs a second run. To save a single run, add --baseline kept.json.\n"
    )
    both = ("--baseline", "kept.json", "--update-baseline", "kept.json")
    assert leadline("compare", *files[:2], *both).status == 0


def test_help_names_everything_that_there_is(leadline: Leadline) -> None:
    from leadline.stats import CORRECTIONS, INTERVALS, TESTS

    registries: list[Any] = [TESTS, CORRECTIONS, INTERVALS]
    text = leadline("compare", "--help").out + leadline("help", "config").out
    assert [name for registry in registries for name in registry.classes if name not in text] == []


def test_143_official_runs_are_compared_in_one_call(leadline: Leadline, shared_data: Path) -> None:
    folder = shared_data / "trec-covid-r1"
    runs = sorted((folder / "runs").iterdir())
    asked = ("compare", folder / "qrels.txt", *runs[:20], "-m", "AP", "-f", "json")
    pairs = leadline(*asked).data["pairs"]
    assert len(pairs) == 190
    tukey = leadline(
        "compare", folder / "qrels.txt", *runs[::12], "--correction", "Tukey", "-m", "AP", "-f", "json"
    ).data["pairs"]
    assert all(pair["p_corrected"] >= pair["p"] or pair["p"] > 0.5 for pair in tukey)


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_values_of_queries_come_from_standard_input(command: str, leadline: Leadline) -> None:
    rows = "".join(
        f"q{query},{run},AP,0.{query}{place}\n" for query in range(9) for place, run in enumerate("ab")
    )
    done = leadline(command, "-", "-f", "json", stdin=f"query,run,measure,value\n{rows}".encode())
    assert done.data["measures"] == ["AP"]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_printed_values_of_queries_are_compared_as_the_runs_are(
    form: str, leadline: Leadline, files: list[str]
) -> None:
    compared = leadline("compare", *files, "-m", "AP", "-f", "json").data["pairs"]
    printed = leadline("evaluate", *files, "-m", "AP", "-q", "-f", form).out.encode()
    assert leadline("compare", "-", "-f", "json", stdin=printed).data["pairs"] == compared
    for name, run in (("new", files[1]), ("old", files[3])):
        leadline("evaluate", files[0], run, "-m", "AP", "-q", "-f", form, "-o", f"{name}.{form}")
    old = leadline("compare", f"new.{form}", f"old.{form}", "-f", "json").data["pairs"]
    runs = (files[0], files[1], files[3])
    assert old == leadline("compare", *runs, "-m", "AP", "-f", "json").data["pairs"]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_notes_beside_data_name_its_columns(form: str, leadline: Leadline, files: list[str]) -> None:
    """In CSV, `low`, `high` and `p` are those of each pair alone; the table shows those of the family."""
    table = leadline("compare", *files, "-m", "AP").out
    assert {"low, high", "p"} <= {note.partition(": ")[0] for note in table.splitlines()}
    err = leadline("compare", *files, "-m", "AP", "-f", form).err
    named = {note.removeprefix("leadline: ").partition(": ")[0] for note in err.splitlines()}
    assert {"simultaneous_low, simultaneous_high", "p_corrected"} <= named
    assert not named & {"low, high", "p"}
