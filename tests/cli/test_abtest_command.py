"""`leadline abtest`: shapes of the result, sentences, figures, assignment, plans, refusals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from conftest import Leadline


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where a log of three arms and one of each arm lie."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{'old' if n % 2 else 'new'},{int(n % (5 if n % 2 else 3) == 0)},u{n},{n // 2 % 4 + 1}\n"
        for n in range(600)
    ]
    head = "system,clicked,visitor,rank\n"
    (tmp_path / "log.csv").write_text(head + "".join(rows))
    (tmp_path / "three.csv").write_text(head + "".join(rows) + "other,1,x,1\n")
    for name in ("old", "new"):
        (tmp_path / f"{name}.csv").write_text(head + "".join(row for row in rows if row.startswith(name)))
    (tmp_path / "users.txt").write_text("".join(f"user{n}\n" for n in range(1000)))
    return tmp_path


ASKED = ("abtest", "log.csv", "--arm", "system", "--click", "clicked")


@pytest.mark.usefixtures("folder")
def test_json_has_the_keys_of_the_contract(leadline: Leadline) -> None:
    data = leadline(*ASKED, "--user", "visitor", "-f", "json").data
    assert {"arms", "difference", "z", "p", "low", "high"} < set(data)
    assert [arm["name"] for arm in data["arms"]] == ["new", "old"]
    assert data["low"] <= data["difference"] <= data["high"]
    assert data["unit"] == "user"
    assert data["inputs"][0]["rows"] == 600
    assert data["always_valid"]["looks"] == 600
    same = leadline("abtest", "test", *ASKED[1:], "--user", "visitor", "-f", "json").data
    assert same == data


def test_counts_alone_are_enough(leadline: Leadline) -> None:
    data = leadline("abtest", "--a", "46/10000", "--b", "69/10000", "-f", "json").data
    assert round(data["z"], 3) == 2.151
    assert data["inputs"] == []


@pytest.mark.usefixtures("folder")
def test_a_log_of_each_arm_is_called_as_its_file(leadline: Leadline) -> None:
    done = leadline("abtest", "--a-log", "old.csv", "--b-log", "new.csv", "--click", "clicked")
    assert "new and old" in done.out


@pytest.mark.usefixtures("folder")
def test_csv_and_json_lines_hold_the_arms_and_say_the_rest_aside(leadline: Leadline) -> None:
    done = leadline(*ASKED, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["arm"] for row in rows] == ["new", "old"]
    assert "not grouped by user" in done.err
    lines = leadline(*ASKED, "-f", "jsonl").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["new", "old"]
    by_rows = (*ASKED, "--user", "visitor", "-C", "abtest.metric=rows")
    text = leadline(*by_rows, "-o", "rows.svg").out + leadline(*by_rows).out
    assert "Welch's t by the delta method" in text
    assert "no sequential test for clicks per row" in text
    assert leadline(*by_rows, "-f", "json").data["always_valid"] is None


@pytest.mark.parametrize(
    "more",
    [ASKED, ("abtest", "--a", "4/100", "--b", "9/100"), (*ASKED, "--position", "rank", "--within", "1")],
    ids=str,
)
def test_a_figure_is_drawn(leadline: Leadline, folder: Path, more: tuple[str, ...]) -> None:
    assert leadline(*more, "-o", "arms.svg").status == 0
    assert b"<svg" in (folder / "arms.svg").read_bytes()


def test_users_are_assigned_from_a_file_or_standard_input(leadline: Leadline, folder: Path) -> None:
    asked = ("--fraction", "0.05", "--salt", "snippets", "-f", "csv")
    done = leadline("abtest", "assign", "users.txt", *asked)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert len(rows) == 1000
    assert 20 < sum(row["arm"] == "variant" for row in rows) < 90
    piped = leadline("abtest", "assign", *asked, stdin=(folder / "users.txt").read_bytes())
    assert piped.out == done.out
    data = leadline("abtest", "assign", "users.txt", *asked[:-1], "json").data
    assert data["users"] == {row["user"]: row["arm"] for row in rows}
    (folder / "twice.txt").write_text("ann\nben\nann\n")
    text = leadline("abtest", "assign", "twice.txt", "--fraction", "0.5", "--salt", "s").out
    assert "1 % to 10 %" in text
    assert "of 2 users" in text
    assert "skipped 1 line that repeated an earlier user" in text


def test_a_plan_says_how_many_users(leadline: Leadline) -> None:
    assert "62,436" in leadline("abtest", "plan", "--rate", "0.05", "--lift", "0.1").out
    data = leadline(
        "abtest", "plan", "--rate", "0.05", "--lift", "0.1", "--fraction", "0.05", "-f", "json"
    ).data
    assert data["users"] == data["a"] + data["b"] == 328_606


def test_deviations_are_refused_as_judgments(leadline: Leadline, folder: Path) -> None:
    done = leadline(
        *"abtest deviations log.csv -C abtest.document=visitor -C abtest.query=system".split(),
        *"--position rank --click clicked -f csv -o soft.csv".split(),
    )
    assert "is not a relevance judgment" in done.err
    assert "several clicks" not in done.err
    (folder / "many.csv").write_text("doc_id,position,click\na,1,3\nb,1,0\n")
    assert (
        "counted only one click per row in 1 row with several clicks"
        in leadline("abtest", "deviations", "many.csv").out
    )
    assert (folder / "soft.csv").read_text().startswith("query_id,doc_id,click_deviation,")
    (folder / "a.run").write_text("new Q0 u0 1 1.0 t\n")
    rejected = leadline("evaluate", "soft.csv", "a.run")
    assert (
        rejected.status,
        "soft.csv:1: no grades were found among the columns query_id, doc_id, click_deviation"
        in rejected.err,
    ) == (2, True)
    data = leadline(
        *"abtest deviations log.csv -C abtest.document=system --position rank --click clicked -f json".split()
    ).data
    assert set(data["deviations"][0]) == {"doc_id", "click_deviation", "shown", "clicks", "expected", "z"}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--a", "5/4", "--b", "1/4"), "A: there are more clicks (5) than users (4)"),
        (("--a", "0/0", "--b", "1/4"), "users must be at least 1"),
        (("--a", "1/4"), "--a needs --b"),
        (("--a", "nan/4", "--b", "1/4"), "--a nan/4 is not valid. Pass CLICKS/USERS"),
        (("--a", "1.5/4", "--b", "1/4"), "--a 1.5/4 is not valid. Pass CLICKS/USERS"),
        (("log.csv",), "no column 'arm'"),
        (("log.csv", "--arm", "sytem"), "no column 'sytem'. Did you mean 'system'?"),
        (("log.csv", "--arm", "system"), "no column 'click'"),
        (("log.csv", "--arm", "system", "--click", "clicked", "--user", "user"), "no column 'user'"),
        (("three.csv", "--arm", "system", "--click", "clicked"), "3 arms (new, old, other)"),
        (
            ("three.csv", "--arm", "system", "--click", "clicked", "--arms", "new", "odl"),
            "Did you mean 'old'",
        ),
        (("old.csv", "--arm", "system", "--click", "clicked"), "1 arm (old)"),
        (("log.csv", "--arm", "system", "--click", "visitor"), ":2: 'u0' in column 'visitor'"),
        (("log.csv", "--arm", "system", "--click", "clicked", "--within", "1"), "--within needs --position"),
        (("log.csv", "--arm", "system", "--click", "clicked", "--within", "0"), "'--within'"),
        (("--a-log", "old.csv"), "--a-log needs --b-log"),
        (("no.csv",), "no.csv"),
        (("log.csv", "--arm", "system", "--click", "clicked", "-o", "log.csv"), "would overwrite an input"),
        (("assign", "users.txt", "--fraction", "5", "--salt", "s"), "fraction"),
        (("assign", "users.txt", "--fraction", "0.05", "--salt", ""), "--salt is empty"),
        (("plan", "--rate", "0", "--lift", "0.1"), "clickthrough"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_one_line(
    leadline: Leadline, arguments: tuple[str, ...], says: str
) -> None:
    assert says in leadline("abtest", *arguments).refusal


def test_help_shows_what_there_is_with_an_example(leadline: Leadline) -> None:
    text = leadline("abtest", "--help").out
    assert "leadline abtest --a 46/10000 --b 69/10000" in text
    for below in ("test", "assign", "plan", "deviations"):
        assert below in text
        assert "Example:" in leadline("abtest", below, "--help").out


def test_the_interval_of_the_sequential_test_is_shown_within_the_range_of_differences(
    leadline: Leadline,
) -> None:
    line = next(
        line
        for line in leadline("abtest", "--a", "1/2", "--b", "69/1000").out.splitlines()
        if "valid" in line
    )
    assert "interval -1.00000 to +1.00000" in line
