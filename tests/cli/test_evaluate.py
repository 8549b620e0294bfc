"""`leadline evaluate`: what stands on the screen and in the files, to the letter."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from conftest import Leadline
from leadline import InputError, read_scores
from leadline.version import VERSION

QRELS = """\
q1 0 a 2
q1 0 b 1
q1 0 c 0
q2 0 d 1
q2 0 e 0
q2 0 f -1
"""
GOOD = """\
q1 Q0 a 1 9 good-tag
q1 Q0 b 2 8 good-tag
q1 Q0 x 3 7 good-tag
q2 Q0 e 1 5 good-tag
q2 Q0 d 2 4 good-tag
"""
POOR = """\
q1 Q0 c 1 3 poor-tag
q1 Q0 a 2 2 poor-tag
"""
TABLE = """\
run       AP      P@2   Judged@2
good  0.7500*  0.7500*    1.0000
poor  0.1250   0.2500     0.5000

* best

2 runs, mean over 2 queries
"""
MEASURES = ("-m", "AP", "-m", "P_2", "-m", "judged@2")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with judgments and two runs."""
    for name, text in {"qrels.txt": QRELS, "good.run": GOOD, "poor.run": POOR}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table_of(text: str) -> list[list[str]]:
    """Return the words of the lines above the first empty one."""
    return [line.split() for line in text.partition("\n\n")[0].splitlines()]


def test_the_table_has_runs_down_measures_across_and_says_what_was_missing(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "poor.run", "good.run", *MEASURES)
    assert done.status == 0
    assert done.err == ""
    assert done.out.startswith(TABLE)
    notes = done.out.removeprefix(TABLE).splitlines()
    (missing,) = [note for note in notes if "missing" in note]
    assert missing.startswith("1 judged query missing from poor")


def test_without_measures_the_default_set_is_shown(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "good.run")
    assert table_of(done.out)[0] == ["run", "AP", "nDCG@10", "RR", "P@10", "R@100", "Judged@10"]


def test_one_run_alone_has_no_best(leadline: Leadline) -> None:
    assert "*" not in leadline("evaluate", "qrels.txt", "good.run").out


def test_rows_are_sorted_by_the_first_measure_best_first(leadline: Leadline) -> None:
    rising = leadline("evaluate", "qrels.txt", "poor.run", "good.run", "-m", "AP")
    falling = leadline("evaluate", "qrels.txt", "good.run", "poor.run", "-m", "RankOf(n=all)")
    assert [row[0] for row in table_of(rising.out)] == ["run", "good", "poor"]
    assert [row[0] for row in table_of(falling.out)] == ["run", "good", "poor"]


def test_an_undefined_value_is_a_dash_and_does_not_win(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "poor.run", "good.run", "-m", "RankOf(n=2)")
    assert table_of(done.out)[1:] == [["good", "2.0000*"], ["poor", "-"]]
    assert "RankOf(n=2) is undefined" in done.out


def test_csv_holds_full_precision_and_nothing_but_the_table(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "poor.run", "good.run", "-m", "nDCG@2", "-f", "csv")
    rows = list(csv.reader(io.StringIO(done.out)))
    assert rows[0] == ["run", "nDCG@2"]
    assert [row[0] for row in rows[1:]] == ["good", "poor"]
    second = 0.6309297535714575  # 1 / log2(3), what rank 2 counts
    assert float(rows[1][1]) == pytest.approx((1 + second) / 2)
    assert float(rows[2][1]) == pytest.approx(2 * second / (2 + second) / 2)


def test_json_has_the_keys_of_every_result_and_its_own(leadline: Leadline, here: Path) -> None:
    done = leadline("evaluate", "qrels.txt", "good.run", "poor.run", *MEASURES, "-f", "json")
    data = done.data
    assert list(data) == "leadline command inputs options warnings measures queries runs".split()
    assert data["leadline"] == VERSION
    assert data["command"] == "evaluate"
    assert data["measures"] == ["AP", "P@2", "Judged@2"]
    assert data["queries"] == ["q1", "q2"]
    assert [list(run) for run in data["runs"]] == [["name", "tag", "mean", "missing", "counts"]] * 2
    assert data["runs"][1]["name"] == "poor"
    assert data["runs"][1]["tag"] == "poor-tag"
    assert data["runs"][1]["mean"] == {"AP": 0.125, "P@2": 0.25, "Judged@2": 0.5}
    assert data["runs"][1]["counts"]["missing_queries"] == 1
    assert [one["path"] for one in data["inputs"]] == ["qrels.txt", "good.run", "poor.run"]
    assert [one["rows"] for one in data["inputs"]] == [6, 5, 2]
    assert all(len(one["sha256"]) == 64 for one in data["inputs"])
    assert all(list(one) == ["code", "message", "count"] for one in data["warnings"])
    assert {"missing_queries": 1}.items() <= {one["code"]: one["count"] for one in data["warnings"]}.items()
    assert data["options"]["measures"] == ["AP", "P@2", "Judged@2"]
    assert (data["options"]["per_query"], data["options"]["no_means"]) == (False, False)
    assert {"profile", "queries", "negative", "order", "on_duplicate"} <= set(data["options"])
    assert here.joinpath("qrels.txt").read_text() == QRELS


def test_json_per_query_has_null_for_undefined(leadline: Leadline) -> None:
    arguments = ("evaluate", "qrels.txt", "poor.run", "-m", "RankOf", "-f", "json", "-q")
    (run,) = leadline(*arguments).data["runs"]
    assert list(run) == ["name", "tag", "mean", "queries", "missing", "counts"]
    assert run["queries"] == {"q1": {"RankOf": 2.0}, "q2": {"RankOf": None}}


def test_jsonl_has_one_run_a_line(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "good.run", "poor.run", *MEASURES, "-f", "jsonl")
    assert [json.loads(line)["name"] for line in done.out.splitlines()] == ["good", "poor"]


def test_per_query_rows_come_before_the_mean_of_their_run(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "good.run", "poor.run", "-m", "AP", "-q")
    assert [row[:2] for row in table_of(done.out)] == [
        ["run", "query"],
        ["good", "q1"],
        ["good", "q2"],
        ["good", "mean"],
        ["poor", "q1"],
        ["poor", "q2"],
        ["poor", "mean"],
    ]


def test_a_level_is_the_least_relevant_grade_and_the_name_shows_it(leadline: Leadline) -> None:
    options = ("-m", "P@2", "-m", "P(rel=1.5)@2", "-m", "nDCG", "-l", "2")
    done = leadline("evaluate", "qrels.txt", "good.run", *options)
    assert table_of(done.out)[0] == ["run", "P(rel=2)@2", "P(rel=1.5)@2", "nDCG"]
    assert table_of(done.out)[1][1] == "0.2500"


@pytest.mark.parametrize(("queries", "mean"), [("all", 0.125), ("both", 0.25), ("with_relevant", 0.125)])
def test_the_queries_of_a_mean_can_be_chosen(leadline: Leadline, queries: str, mean: float) -> None:
    arguments = ("evaluate", "qrels.txt", "poor.run", "-m", "AP", "-f", "json")
    assert leadline(*arguments, "-C", f"queries={queries}").data["runs"][0]["mean"]["AP"] == mean


def test_queries_with_something_relevant_leave_the_others_out(leadline: Leadline, here: Path) -> None:
    (here / "qrels.txt").write_text(QRELS + "q3 0 z 0\n")
    arguments = ("evaluate", "qrels.txt", "good.run", "-m", "AP", "-f", "json")
    assert leadline(*arguments).data["runs"][0]["mean"]["AP"] == 0.5
    data = leadline(*arguments, "-C", "queries=with_relevant").data
    assert data["runs"][0]["mean"]["AP"] == 0.75
    assert data["queries"] == ["q1", "q2"]


def test_negative_grades_are_non_relevant_or_unjudged(leadline: Leadline, here: Path) -> None:
    (here / "other.run").write_text("q2 Q0 f 1 2 x\nq2 Q0 d 2 1 x\n")
    arguments = ("evaluate", "qrels.txt", "other.run", "-m", "P@1", "-f", "json")
    kept = leadline(*arguments).data
    gone = leadline(*arguments, "--config", "read.negative=unjudged").data
    assert kept["inputs"][0]["rows"] == 6
    assert gone["inputs"][0]["rows"] == 6
    assert gone["options"]["negative"] == "unjudged"
    assert kept["runs"][0]["mean"] == gone["runs"][0]["mean"] == {"P@1": 0.0}


def test_coverage_and_novelty_need_what_the_user_knew(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "good.run", "-m", "Coverage", "-m", "Novelty")
    assert done.status == 2
    assert done.err.startswith("leadline: error: Coverage needs the documents that the user knew")
    assert "--config read.known=FILE" in done.err


def test_coverage_and_novelty_follow_the_hand_worked_example(leadline: Leadline, here: Path) -> None:
    # q1: relevant a and b, both retrieved; the user knew a: covered 1 of 1, new 1 of 2.
    # q2: relevant d, retrieved; the user knew e only, which is not relevant: coverage undefined.
    (here / "known.txt").write_text("# what the user knew\nq1 a\nq2 e\n")
    arguments = ("evaluate", "qrels.txt", "good.run", "-m", "Coverage", "-m", "Novelty")
    done = leadline(*arguments, "--config", "read.known=known.txt", "-f", "json", "-q")
    assert done.data["runs"][0]["queries"] == {
        "q1": {"Coverage": 1.0, "Novelty": 0.5},
        "q2": {"Coverage": None, "Novelty": 1.0},
    }
    assert done.data["runs"][0]["mean"] == {"Coverage": 0.5, "Novelty": 0.75}


def test_runs_can_be_named_by_their_tag(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "good.run", "poor.run", "--config", "read.name_by=tag")
    assert [row[0] for row in table_of(done.out)[1:]] == ["good-tag", "poor-tag"]
    done = leadline("evaluate", "qrels.txt", "a=good.run", "b=good.run", "--config", "read.name_by=tag")
    named = "two runs are both named 'good-tag' (good.run and good.run)"
    assert done.refusal == f"leadline: error: {named}. Leave out --config read.name_by=tag.\n"


def test_printed_means_are_refused_as_scores_with_what_saves_values(leadline: Leadline, here: Path) -> None:
    run = ("evaluate", "qrels.txt", "good.run")
    (here / "means.json").write_text(leadline(*run, "-f", "json").out)
    with pytest.raises(InputError, match=r"-o FILE\.json` \(in Python, with write\(path\)\)"):
        read_scores(str(here / "means.json"))
    assert leadline(*run, "-o", "values.json").status == 0
    assert read_scores(str(here / "values.json")).names == ["good"]


def test_profile_trec9_averages_over_the_queries_of_both_files(leadline: Leadline) -> None:
    arguments = ("evaluate", "qrels.txt", "poor.run", "-m", "AP", "-f", "json")
    data = leadline(*arguments, "--profile", "trec9").data
    assert data["runs"][0]["mean"]["AP"] == 0.25
    assert data["options"]["profile"] == "trec9"


def test_profile_trec10_gives_no_mean_when_a_query_is_missing(leadline: Leadline) -> None:
    arguments = ("evaluate", "qrels.txt", "poor.run", "good.run", "-m", "AP")
    done = leadline(*arguments, "--profile", "trec10")
    assert table_of(done.out)[1:] == [["good", "0.7500*"], ["poor", "-"]]
    # `compare` has no --complete
    assert "--config scores.queries=all" in done.out
    compared = ("compare", *arguments[1:], "--profile", "trec10", "--config", "scores.queries=all")
    assert "scored 0" in leadline(*compared).out


def many_runs(here: Path) -> list[str]:
    """Make forty runs, the better the lower their number."""
    names = [f"run{place:02d}" for place in range(40)]
    for place, name in enumerate(names):
        below = "".join(f"q1 Q0 x{rank} 1 {100 - rank} t\n" for rank in range(place))
        (here / f"{name}.run").write_text(below + "q1 Q0 a 1 1 t\n")
    return [f"{name}.run" for name in names]


def test_a_long_table_on_a_terminal_shows_head_and_tail_and_says_so(
    leadline: Leadline, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = many_runs(here)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _stream: True, raising=False)
    done = leadline("evaluate", "qrels.txt", *runs, "-m", "AP")
    assert "run00" in done.out
    assert "run39" in done.out
    assert "run30" not in done.out
    assert "not" in done.out


def test_a_file_holds_every_run_even_when_asked_for_on_a_terminal(
    leadline: Leadline, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = many_runs(here)
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _stream: True, raising=False)
    done = leadline("evaluate", "qrels.txt", *runs, "-m", "AP", "-o", "table.txt", "-f", "none")
    assert done.out == ""
    text = (here / "table.txt").read_text()
    assert all(f"run{place:02d}" in text for place in range(40))
    assert "hidden" not in text
    assert "\x1b" not in text


def test_an_output_file_is_absent_when_the_input_is_refused(leadline: Leadline, here: Path) -> None:
    (here / "bad.run").write_text("q1 Q0 a 1 abc t\n")
    done = leadline("evaluate", "qrels.txt", "bad.run", "-o", "out.txt")
    assert done.status == 2
    assert done.err.startswith("leadline: error: bad.run:1: score 'abc'")
    assert not (here / "out.txt").exists()


@pytest.mark.parametrize("more", [(), ("-J",)])
def test_a_depth_that_parts_equal_scores_is_counted_even_where_it_cuts_the_judged_one_away(
    leadline: Leadline, here: Path, more: tuple[str, ...]
) -> None:
    (here / "tied.run").write_text("q1 0 z 1 2 t\nq1 0 y 2 1 t\nq1 0 a 3 1 t\n")
    asked = ("evaluate", "qrels.txt", "tied.run", "-m", "AP", "-f", "json", *more)
    counts = [leadline(*asked, "-M", depth).data["runs"][0]["counts"]["tied_cutoffs"] for depth in (1, 2, 3)]
    assert counts == [0, 1, 0]


def test_one_run_and_one_query_are_said_in_the_singular(leadline: Leadline, here: Path) -> None:
    (here / "one.txt").write_text("q1 0 a 1\n")
    for more in ((), ("--bounds",)):
        done = leadline("evaluate", "one.txt", "good.run", "-m", "AP", *more)
        assert "\n1 run, mean over 1 query\n" in done.out
    assert "\n1 run, 1 query\n" in leadline("curve", "one.txt", "good.run").out


@pytest.mark.parametrize("order", [("old", "new"), ("new", "new")])
def test_several_tags_in_a_file_are_said_where_the_tag_names_the_run(
    leadline: Leadline, here: Path, order: tuple[str, str]
) -> None:
    first, last = order
    text = f"q1 Q0 a 1 9 {first}\nq2 Q0 d 1 8 {last} \n"
    (here / "tags.run").write_text(text)
    said = "1 further run tag in new (runs are named after their last tag)"
    for asked in (
        ("evaluate", "qrels.txt", "tags.run"),
        ("evaluate", "qrels.txt", "-"),
        ("explain", "qrels.txt", "tags.run", "--query-id", "q1"),
    ):
        done = leadline(*asked, "-m", "AP", "--config", "read.name_by=tag", stdin=text.encode())
        assert (said in done.out) == (first != last)
        assert "further run tag" not in leadline(*asked, "-m", "AP", stdin=text.encode()).out


@pytest.mark.parametrize("more", [(), ("--bounds",)])
def test_a_query_called_mean_is_no_mean_in_csv(leadline: Leadline, here: Path, more: tuple[str, ...]) -> None:
    (here / "qrels.txt").write_text("mean 0 a 1\nother 0 b 1\n")
    (here / "one.run").write_text("mean 0 a 1 2 t\n")
    asked = ("evaluate", "qrels.txt", "one.run", "-m", "AP", "-q", "-f", "csv", *more)
    rows = [line.split(",") for line in leadline(*asked).out.splitlines()]
    place, value = rows[0].index("query"), rows[0].index("value" if more else "AP")
    assert [(row[place], row[value]) for row in rows[1:]] == [("mean", "1.0"), ("other", "0.0"), ("", "0.5")]


@pytest.mark.parametrize("name", ["relstring.5", "relstring", "runid"])
def test_a_value_that_is_text_is_refused_where_only_numbers_are_shown(leadline: Leadline, name: str) -> None:
    done = leadline("evaluate", "qrels.txt", "good.run", "-m", "AP", "-m", name)
    words = f"measures with text values ({name}) are not supported here. "
    words += "Use a different measure, or run `leadline evaluate -q -f trec`."
    assert done == (2, "", f"leadline: error: {words}\n")
    assert leadline("evaluate", "qrels.txt", "good.run", "-m", "official").status == 0


@pytest.mark.parametrize("command", ["evaluate", "sampled"])
def test_no_setting_for_per_query_values_is_advised_where_they_are_not_taken(
    leadline: Leadline, here: Path, command: str
) -> None:
    (here / "values.csv").write_text("query,run,measure,value\nq1,good,AP,1\nq2,good,AP,0.5\n")
    done = leadline(command, "qrels.txt", "values.csv", "Unknown")
    assert done.status == 2
    assert "read.kind" not in done.err
    assert "'Unknown'" in done.err
