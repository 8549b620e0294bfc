"""`--config`: keys, values and files, and what is said of removed options."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from conftest import Leadline
from leadline.cli import group
from leadline.cli._settings import SETTINGS, SettingParameter

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.fixture(autouse=True)
def _examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)


ASKED = ("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "-f", "json")


@pytest.mark.parametrize(
    "given",
    [
        ("--config", "read.order=rank", "--config", "read.drop_identical_ids=true"),
        ("-C", "order=rank", "-C", "drop_identical_ids"),
        ("-C", "read.order=score", "-C", "order=rank drop-identical-ids=yes"),
    ],
)
def test_a_setting_is_given_in_several_ways_and_recorded(given: tuple[str, ...], leadline: Leadline) -> None:
    options = leadline(*ASKED, *given).data["options"]
    assert (options["order"], options["drop_identical_ids"]) == ("rank", True)


def test_a_file_sets_several_and_its_paths_are_relative_to_it(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "some.txt").write_text("knots\n")
    config = tmp_path / "my.toml"
    config.write_text(
        '[read]\norder = "rank"\nqueries_in = "some.txt"\n[figure]\nlabels = ["bm25=A", "x=B"]\n'
    )
    done = leadline(*ASKED, "-C", config, "-C", "order=score", "-o", tmp_path / "x.svg")
    assert "'x'" in done.err
    config.write_text('[read]\norder = "rank"\nqueries_in = "some.txt"\n')
    data = leadline(*ASKED, "-C", config, "-C", "order=score").data
    assert data["options"]["order"] == "score"
    assert data["queries"] == ["knots"]


def test_settings_given_one_by_one_win_in_any_order(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "my.toml").write_text('[read]\norder = "rank"\n')
    done = leadline(*ASKED, "-C", "order=score", "-C", tmp_path / "my.toml")
    assert done.data["options"]["order"] == "score"


def test_paths_and_patterns_in_a_file_elsewhere(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "some.txt").write_text("knots\n")
    (tmp_path / "labels.csv").write_text("run,label\nbm25,Okapi\n")
    config = tmp_path / "my.toml"
    config.write_text(
        "[read]\nqueries-in = 'some.txt'\ndocuments_of = '(.+)'\n"
        "[figure]\nlabels = ['labels.csv:label', 'bm25=A']\n"
    )
    assert leadline(*ASKED, "-C", config, "-o", tmp_path / "x.svg").data["queries"] == ["knots"]
    config.write_text("[read]\nqueries-in = 'some.txt'\nlengths = 'lengths.csv:tokens'\n")
    refusal = leadline(*ASKED, "-m", "R@9tokens", "-C", config).refusal
    assert f"{tmp_path}/lengths.csv: no such file" in refusal


def test_a_setting_in_a_file_that_has_no_effect_is_refused(tmp_path: Path, leadline: Leadline) -> None:
    config = tmp_path / "my.toml"
    config.write_text('[test]\ninterval = "BCa"\n')
    refusal = leadline(*ASKED, "-C", config).refusal
    assert refusal == f"leadline: error: test.interval in {config} needs --intervals\n"


def test_quotes_keep_blanks_in_a_value(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "x.svg"
    done = leadline(*ASKED, "-C", 'figure.labels="bm25=The usual one" order=rank', "-o", path)
    assert done.data["options"]["order"] == "rank"
    assert done.data["options"]["label"] == ["bm25=The usual one"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("ordr=rank", "has no setting 'ordr'. Did you mean read.order?"),
        ("ORDER=rank", "has no setting 'ORDER'. Did you mean read.order?"),
        ("order", "--config order needs a value, as in --config read.order=rank"),
        ("order=x", "'x' is not one of 'score', 'rank'"),
        ("smallest=1", "`leadline evaluate` has no setting 'smallest'"),
        ("none.toml", "none.toml: no such file"),
        ("zzz=1", "`leadline evaluate --help` lists its settings"),
    ],
)
def test_what_cannot_be_set_is_refused(given: str, said: str, leadline: Leadline) -> None:
    assert said in leadline(*ASKED, "--config", given).refusal


def test_the_example_of_a_value_is_one_that_the_command_takes(leadline: Leadline) -> None:
    assert "as in --config read.kind=values" in leadline("agreement", "a", "-C", "kind").refusal


def test_settings_of_other_commands_are_advised_where_they_help(leadline: Leadline) -> None:
    def said(*words: str) -> str:
        return leadline(*words).refusal

    assert "First use `leadline convert` with this setting on the run or qrels" in said(
        "agreement", "a", "-C", "read.columns=a"
    )
    assert "has no setting 'read.on_duplicate'" in said("search", "a", "b", "-C", "read.on_duplicate=first")
    assert "has no setting 'read.subtopics'" in said("difference", "a", "b", "-C", "read.subtopics")
    assert "First convert the qrels" in said("collection", "a", "-C", "read.qrels_columns=a")
    refused = said("convert", "a", "b", "-C", "read.qrels_columns=a")
    assert "has no setting 'read.qrels_columns'. Did you mean read.columns" in refused


def test_no_refusal_advises_a_setting_that_the_command_does_not_have(
    tmp_path: Path, leadline: Leadline
) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.qrels").write_text("q 0 d 1\n")
        (tmp_path / f"{number}.run").write_text("q Q0 d 1 1 t\n")
    first, second = tmp_path / "1.qrels", tmp_path / "2.qrels"
    runs = [tmp_path / f"{number}.run" for number in (1, 2)]
    said = "Novelty needs the documents that the user knew."
    refusal = leadline("compare", first, *runs, "-m", "Novelty").refusal
    assert f"{said} Use --config read.known=FILE." in refusal
    refusal = leadline("agreement", first, second, "--runs", *runs, "-m", "Novelty").refusal
    assert f"{said} `leadline agreement` has no setting for this." in refusal
    (tmp_path / "queries.json").write_text('[{"keyid": "q", "text": "a"}]')
    queries = ("--queries", tmp_path / "queries.json")
    refusal = leadline("convert", first, tmp_path / "out", "--to", "beir", *queries).refusal
    assert refusal.endswith("rename it to 'query_id'.\n")
    headerless = tmp_path / "headerless.csv"
    headerless.write_text("q,d,1\n")
    advice = "name all columns, as in `leadline convert --config read.columns=query_id,doc_id,grade`."
    assert advice in leadline("agreement", headerless, second).refusal
    (four := tmp_path / "four.csv").write_text("q,d,1,0.5\n")
    for asked in (("evaluate", first, four), ("evaluate", four, runs[0])):
        names = leadline(*asked).refusal.partition("columns=")[2].removesuffix(".").split(",")
        assert len(names) == 4
    advice = "or of judgments, as in --config read.columns=query_id,doc_id,grade."
    assert advice in leadline("convert", headerless, tmp_path / "x.qrels").refusal
    (headed := tmp_path / "headed.csv").write_text("query_id,doc_id,relevance\nq,d,1\n")
    named = ("-C", "read.columns=query_id,doc_id,grade")
    assert (
        "Leave out `--config read.columns`"
        in leadline("convert", headed, tmp_path / "x.qrels", *named).refusal
    )
    (ranked := tmp_path / "ranked.csv").write_text("query_id,doc_id,relevance,rank\nq,d,1,1\n")
    advice = "To treat the input as judgments anyway, use `leadline convert --config read.kind=qrels`."
    pooled = leadline("pool", runs[0], "-o", tmp_path / "p", "--depth", 5, "--judged", ranked)
    assert advice in pooled.refusal
    (repeated := tmp_path / "repeated.qrels").write_text("q 1 d 1\nq 2 d 1\n")
    advice = "If they name subtopics, use `leadline evaluate --config read.subtopics`."
    assert advice in leadline("agreement", repeated, first).refusal
    (latin := tmp_path / "latin.tsv").write_bytes(b"doc_id\ttext\nd\t\xe7a\n")
    pooled = leadline("pool", runs[0], "-o", tmp_path / "p", "--depth", 5, "--docs", latin)
    assert pooled.refusal.endswith("Convert the file to UTF-8.\n")
    assert "--config read.encoding=latin-1" in leadline("index", latin, "-o", tmp_path / "i").refusal


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("measures = 'AP'\n", "set 'runs' and 'judgments' (or 'qrels') in the file and use `leadline eval"),
        ("order = 1\n", "'order' is not a table of settings. Put"),
        ("[read\n", "invalid TOML"),
        (
            "[read]\nordr = 1\n",
            "my.toml: `leadline evaluate` has no setting 'read.ordr'. Did you mean read.order?",
        ),
        ("[test]\ndraws = 9\n", "has no setting 'test.draws'. `leadline evaluate --help`"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("[read]\nkind = {a = 1}\n", "my.toml: the setting 'read.kind' must be"),
        ("[read]\nqueries_in = ['q']\n", "my.toml: the setting 'read.queries_in' must be a path"),
        ("[read]\norder = 1\n", "Invalid value for 'read.order' in "),
        ("runs = ['a.run']\n[read]\norder = 'rank'\n", "already lists the runs"),
    ],
)
def test_a_faulty_file_is_refused(text: str, said: str, tmp_path: Path, leadline: Leadline) -> None:
    config = tmp_path / "my.toml"
    config.write_text(text)
    assert said in leadline(*ASKED, "--config", config).refusal


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path, leadline: Leadline) -> None:
    (config := tmp_path / "my.toml").write_text("[read]\norder = 'rank'\n", encoding="utf-8-sig")
    assert leadline(*ASKED, "--config", config).data["options"]["order"] == "rank"


def test_an_experiment_is_sent_to_a_command_that_runs_one(tmp_path: Path, leadline: Leadline) -> None:
    config = tmp_path / "my.toml"
    config.write_text("measures = 'AP'\n")
    assert f"use `leadline compare --config {config}`." in leadline("replicate", "-C", config).refusal


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("evaluate q r --on-duplicate first", "Use --config read.on_duplicate=first."),
        ("evaluate q r -N 5", "Use --config read.documents=VALUE."),
        ("compare q r --force-update", "Use --config output.force_update."),
        ("search i q --field title", "Use --config text.fields=VALUE."),
    ],
)
def test_an_option_that_is_a_setting_is_answered_with_it(line: str, said: str, leadline: Leadline) -> None:
    assert said in leadline(*line.split()).refusal


def commands(command: click.Command, context: click.Context) -> list[click.Command]:
    """Return all commands below one, those of studies left out."""
    if not isinstance(command, click.Group):
        return [command]
    found = (command.get_command(context, name) for name in command.list_commands(context) if name != "study")
    return [each for one in found if one is not None for each in commands(one, context)]


def test_every_setting_is_taken_by_a_command_and_listed(leadline: Leadline) -> None:
    every = commands(group, click.Context(group))
    taken = {one.setting.key for each in every for one in each.params if isinstance(one, SettingParameter)}
    assert taken == set(SETTINGS)
    text = leadline("help", "config").out
    assert [key for key in SETTINGS if key not in text] == []
