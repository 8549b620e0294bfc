"""Options of `leadline compare`: which pairs, which intervals, groups of queries, unjudged runs."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline

RUNS = [f"r{place}.run" for place in range(6)]
QUERIES = 30


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write qrels and six runs, in three levels of two."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    Path("qrels.txt").write_text("".join(f"q{query} 0 d 1\n" for query in range(QUERIES)))
    for place, name in enumerate(RUNS):
        lines = []
        for query in range(QUERIES):
            rank = int(rng.integers(1, 3 + 4 * (place // 2)))
            lines += [f"q{query} Q0 {'d' if at == rank else f'x{at}'} {at} {-at} t\n" for at in range(1, 12)]
        Path(name).write_text("".join(lines))
    return ["qrels.txt", *RUNS]


def test_a_table_of_many_pairs_shows_the_significant_ones_and_counts_the_rest(
    leadline: Leadline, files: list[str]
) -> None:
    data = leadline("compare", *files, "-m", "RR", "-f", "json").data["pairs"]
    significant = sum(pair["verdict"] in ("better", "worse") for pair in data)
    assert 0 < significant < 15
    text = leadline("compare", *files, "-m", "RR").out
    rows = [line for line in text.splitlines() if line.startswith("r") and " RR " in line]
    shown = [line for line in rows if line.rstrip().endswith(("better", "worse"))]
    assert len(shown) == significant
    assert f"not shown: {15 - significant} not significant (--pairs all)" in text
    every = leadline("compare", *files, "-m", "RR", "--pairs", "all").out
    assert "not shown" not in every
    assert len([line for line in every.splitlines() if " RR " in line[:20]]) == 15


@pytest.mark.parametrize(("pairs", "count"), [("all", 15), ("4", 4), ("significant", None)])
@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_programs_get_all_pairs_unless_they_ask_for_fewer(
    leadline: Leadline, files: list[str], form: str, pairs: str, count: int | None
) -> None:
    def number(*more: str) -> int:
        out = leadline("compare", *files, "-m", "RR", "-f", form, *more).out
        return len(json.loads(out)["pairs"]) if form == "json" else len(out.splitlines()) - (form == "csv")

    assert number() == 15
    assert number("--pairs", pairs) == count or (count is None and 0 < number("--pairs", pairs) < 15)


@pytest.mark.parametrize("pairs", ["0", "-1", "some", "1.5"])
def test_pairs_is_one_of_two_words_or_a_number(leadline: Leadline, files: list[str], pairs: str) -> None:
    assert "significant, all, or a whole number" in leadline("compare", *files, "--pairs", pairs).refusal


def neighbours(line: str) -> list[list[str]]:
    """Yield the adjacent words of a line."""
    return list(map(list, pairwise(line.split())))


def test_the_table_shows_simultaneous_intervals_unless_asked_for_those_of_a_pair(
    leadline: Leadline, files: list[str]
) -> None:
    pair = leadline("compare", *files, "-m", "RR", "-f", "json").data["pairs"][0]
    assert pair["simultaneous_low"] < pair["low"] < pair["high"] < pair["simultaneous_high"]
    assert pair["effect_low"] < pair["effect"] < pair["effect_high"]
    shown = leadline("compare", *files, "-m", "RR", "--pairs", "all").out.splitlines()[1]
    assert [f"{pair['simultaneous_low']:.4f}", f"{pair['simultaneous_high']:.4f}"] in neighbours(shown)
    alone = leadline("compare", *files, "-m", "RR", "--pairs", "all", "--config", "test.per_pair").out
    assert [f"{pair['low']:.4f}", f"{pair['high']:.4f}"] in neighbours(alone.splitlines()[1])
    own = leadline("compare", *files, "-m", "RR", "-C", "per_pair", "-f", "json").data["pairs"][0]
    assert ["simultaneous CI" in one["sentence"] for one in (pair, own)] == [True, False]


def test_intervals_of_each_pair_are_not_told_as_simultaneous_ones(
    leadline: Leadline, files: list[str]
) -> None:
    Path("few.txt").write_text("".join(f"q{query} 0 d 1\n" for query in range(8)))
    asked = ("compare", "few.txt", *files[1:], "-m", "RR", "-C", "test.interval=BCa")
    assert "simultaneous CIs are approximate" in leadline(*asked).out
    alone = leadline(*asked, "-C", "per_pair").out
    assert "simultaneous" not in alone
    assert "CIs are approximate" in alone


@pytest.mark.usefixtures("files")
def test_tables_clip_to_the_range_of_the_measure_and_json_does_not(leadline: Leadline) -> None:
    Path("few.txt").write_text("q0 0 d 1\nq1 0 d 1\n")
    asked = ("compare", "few.txt", "r5.run", "r0.run", "-m", "RR")
    pair = leadline(*asked, "-f", "json").data["pairs"][0]
    assert pair["low"] < -1
    assert ["-1.0000", "1.0000"] in neighbours(leadline(*asked).out.splitlines()[1])
    intervals = leadline("evaluate", "few.txt", "r5.run", "--intervals", "-m", "RR")
    assert all(0 <= float(cell) <= 1 for cell in intervals.out.splitlines()[1].split()[-2:])


def test_csv_has_both_intervals_in_columns_of_their_own(leadline: Leadline, files: list[str]) -> None:
    out = leadline("compare", *files, "-m", "RR", "-f", "csv").out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert float(rows[0]["simultaneous_low"]) < float(rows[0]["low"])
    assert {row["verdict"] for row in rows} <= {"better", "worse", "not significant"}


def test_the_first_measure_is_the_primary_one(leadline: Leadline, files: list[str]) -> None:
    asked = ("compare", *files[:3], "-m", "RR", "-m", "AP")
    assert leadline(*asked, "-f", "json").data["primary"] == "RR"
    assert "primary measure: RR" in leadline(*asked, "--long").out


def test_the_queries_needed_are_told_for_the_smallest_difference_only(
    leadline: Leadline, files: list[str]
) -> None:
    asked = ("compare", *files[:3], "-m", "RR", "-f", "json")
    assert leadline(*asked).data["pairs"][0]["needed"] is None
    needed = [
        leadline(*asked, "--config", f"test.smallest={x}").data["pairs"][0]["needed"] for x in ("0.1", "0.05")
    ]
    assert needed[1] == pytest.approx(4 * needed[0], rel=0.05)
    assert leadline(*asked, "--config", "test.smallest=0").status == 2


def test_groups_of_queries_are_read_from_the_first_column(leadline: Leadline, files: list[str]) -> None:
    table = "id,run,name\n" + "".join(f"q{at},{at // 3},x\n" for at in range(QUERIES))
    Path("groups.csv").write_text(table)
    asked = ("compare", *files, "-m", "RR", "-f", "json")
    grouped = leadline(*asked, "--query-group", "groups.csv:run").data
    assert {pair["groups"] for pair in grouped["pairs"]} == {QUERIES // 3}
    assert grouped["options"]["query_group"] == "groups.csv:run"
    alone = leadline(*asked).data
    assert [pair["p"] for pair in grouped["pairs"]] != [pair["p"] for pair in alone["pairs"]]
    assert {pair["groups"] for pair in alone["pairs"]} == {None}
    text = leadline("compare", *files, "-m", "RR", "--query-group", "groups.csv:run").out
    assert "queries in groups (groups.csv:run): 10 groups" in text


@pytest.mark.parametrize(
    ("table", "more", "words"),
    [
        ("id,g\nq0,1\n", (), "29 queries have no group (q1, "),
        ("id,g\nq0,1\nq0,2\n", (), "groups.csv:3: query 'q0' is in two groups"),
        ("id,g\nq0,\nq1,\n", (), "30 queries have no group (q0, "),
        ("id,g\n,1\n", (), "groups.csv:2: the row has no id in column 'id'"),
        ("id,h\nq0,1\n", (), "no column 'g'. The columns are id, h"),
        (None, ("--correction", "Tukey"), "Tukey does not support query groups"),
        (None, ("--test", "Wilcoxon"), "Wilcoxon does not support groups"),
    ],
)
def test_groups_that_cannot_be_used_are_one_line(
    leadline: Leadline, files: list[str], table: str | None, more: tuple[str, ...], words: str
) -> None:
    every = "id,g\n" + "".join(f"q{at},{at // 3}\n" for at in range(QUERIES))
    Path("groups.csv").write_text(every if table is None else table)
    assert words in leadline("compare", *files, "--query-group", "groups.csv:g", *more).refusal


def dead() -> str:
    """Write a run whose document ids are those of r0 with a prefix."""
    text = Path("r0.run").read_text(encoding="utf-8").replace(" Q0 ", " Q0 doc_")
    Path("dead.run").write_text(text)
    return "dead.run"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", ["compare", "report"])
def test_a_run_of_which_no_document_is_judged_is_refused(leadline: Leadline, command: str) -> None:
    more = ("-o", "page.html") if command == "report" else ()
    done = leadline(command, "qrels.txt", "r1.run", dead(), *more).refusal
    assert "no document in dead is judged. Do the document ids match?" in done
    assert "'doc_" in done
    assert "'d'" in done
    assert not Path("page.html").exists()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("more", [(), ("-J",), ("--config", "read.order=rank")], ids=str)
def test_evaluate_says_first_which_run_has_no_judged_document(
    leadline: Leadline, more: tuple[str, ...]
) -> None:
    data: dict[str, Any] = leadline("evaluate", "qrels.txt", "r1.run", dead(), "-f", "json", *more).data
    first = data["warnings"][0]
    assert (first["code"], first["count"]) == ("no_judged_document", 1)
    assert first["message"].startswith("no document in dead is judged")
    assert data["runs"][1]["mean"]["AP"] == 0.0, "the numbers stay"


@pytest.mark.usefixtures("files")
def test_evaluate_reads_a_dead_run_from_standard_input(leadline: Leadline) -> None:
    content = Path(dead()).read_bytes()
    done = leadline("evaluate", "qrels.txt", "-", "-f", "json", stdin=content)
    assert "no document in - is judged" in done.data["warnings"][0]["message"].replace("stdin", "-")


@pytest.mark.usefixtures("files")
def test_runs_without_a_judged_query_come_first_and_are_refused(leadline: Leadline) -> None:
    Path("other.run").write_text("z1 Q0 d 1 1.0 t\n")
    done = leadline("evaluate", "qrels.txt", "r1.run", "other.run", "-f", "json")
    assert done.data["warnings"][0]["code"] == "no_overlap"
    rejected = leadline("compare", "qrels.txt", "r1.run", "other.run")
    assert (rejected.status, "no query in other is judged" in rejected.err) == (2, True)


def test_unjudged_shares_that_differ_much_are_said_per_run(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("".join(f"q 0 d{at} {at % 2}\n" for at in range(10)))
    for name, judged in (("a", 10), ("b", 9), ("c", 6)):
        Path(f"{name}.run").write_text(
            "".join(f"q Q0 {'d' if at < judged else 'x'}{at} 0 {-at} t\n" for at in range(10))
        )

    def codes(*runs: str) -> list[str]:
        found = leadline("evaluate", "qrels.txt", *runs, "-f", "json").data["warnings"]
        return [entry["code"] for entry in found]

    assert "uneven_judgments" not in codes("a.run", "b.run"), "0 % and 10 %"
    data = leadline("evaluate", "qrels.txt", "a.run", "b.run", "c.run", "-f", "json").data
    said = next(one for one in data["warnings"] if one["code"] == "uneven_judgments")
    assert "a 0 %, b 10 %, c 40 %" in said["message"]
    assert data["runs"][2]["counts"]["unjudged_top_documents"] == 4


def test_a_least_mean_in_evaluate_is_one_of_its_measures(leadline: Leadline, files: list[str]) -> None:
    done = leadline("evaluate", *files, "-m", "AP", "--fail-below", "recip_rank=0.5", "-f", "json")
    assert done.status == 1
    assert done.data["measures"] == ["AP", "RR"]
    assert {entry["kind"] for entry in done.data["conditions"]} == {"fail-below"}
    assert set(done.data["conditions"][0]) == {
        *"run baseline kind measure margin difference limit p failed cannot_tell skipped".split()
    }
    trec = leadline("evaluate", files[0], files[-1], "-f", "trec", "-m", "map", "--fail-below", "map=0.9")
    assert trec.status == 1
    assert trec.out.startswith("map")
    assert "FAILED: mean AP of r5" in trec.err
    passed = leadline("evaluate", *files, "--fail-below", "AP=0.01")
    assert (passed.status, passed.err) == (0, "")


def test_conditions_have_the_keys_of_the_contract(leadline: Leadline, files: list[str]) -> None:
    done = leadline(
        "compare",
        *files[:3],
        *"--baseline r1 --fail-if-worse RR --require-not-worse RR:0.5 --fail-below RR=0.1 -f json".split(),
    )
    found = done.data["conditions"]
    assert [entry["kind"] for entry in found] == ["fail-if-worse", "require-not-worse", "fail-below"]
    for entry in found:
        assert set(entry) == {
            *"run baseline kind measure margin difference limit p failed cannot_tell skipped".split()
        }
    assert (found[0]["baseline"], found[2]["baseline"]) == ("r1", None)


def test_p_has_three_digits_where_decisions_are_made() -> None:
    from leadline.comparison.pair_texts import p_text

    assert [p_text(p) for p in (0.04963, 0.0512, 0.01, 0.2345, 0.00123)] == [
        "p = 0.0496",
        "p = 0.0512",
        "p = 0.01",
        "p = 0.23",
        "p = 0.0012",
    ]


def test_a_parquet_file_has_the_columns_of_the_csv(leadline: Leadline, files: list[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = list(csv.DictReader(io.StringIO(leadline("compare", *files, "-f", "csv").out)))
    done = leadline("compare", *files, "-f", "none", "-o", "out.parquet")
    assert (done.status, done.out) == (0, "")
    table = parquet.read_table("out.parquet")
    assert table.column_names == list(rows[0])
    assert len(rows) == table.num_rows > 15
    for name in table.column_names:
        for cell, value in zip((row[name] for row in rows), table[name].to_pylist(), strict=True):
            if value is None:
                assert cell == "", name
            elif isinstance(value, float):
                assert cell == "" if np.isnan(value) else float(cell) == value, name
            else:
                assert cell == str(value), name


def test_a_gate_decides_beside_a_parquet_file(leadline: Leadline, files: list[str]) -> None:
    pytest.importorskip("pyarrow")
    done = leadline("compare", *files, "--fail-below", "RR=1.01", "-o", "out.parquet")
    assert done.status == 1
    assert Path("out.parquet").exists()


def test_columns_of_a_comparison_are_its_rows(files: list[str]) -> None:
    found = ll.compare(ll.evaluate(files[0], files[1:], ["RR", "P@2"]))
    rows = found.to_rows()
    columns = found.to_columns()
    assert list(columns) == list(rows[0])
    for name in columns:
        wanted: Any = [float("nan") if row[name] is None else row[name] for row in rows]
        assert np.array_equal(columns[name], wanted, equal_nan=columns[name][0].__class__ is float), name
    assert len(found.to_columns(pairs=3)["a"]) == 6


def test_latex_has_every_difference_from_the_baseline_however_many(
    leadline: Leadline, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"q{at} 0 d 1\n" for at in range(6)))
    for name in range(16):
        lines = (f"q{at} Q0 {'d' if (at + name) % 3 else 'x'} 1 1 t\n" for at in range(6))
        (tmp_path / f"s{name:02}.run").write_text("".join(lines))
    runs = sorted(tmp_path.glob("s*.run"))
    asked = ("compare", tmp_path / "qrels.txt", *runs, "--baseline", "s00", "-m", "P@1")
    assert leadline(*asked, "-f", "latex").out.count(" & s00 & ") == 15
    assert leadline(*asked, "-f", "latex", "--pairs", "3").out.count(" & s00 & ") == 3
    saved = tmp_path / "saved.json"
    leadline("evaluate", tmp_path / "qrels.txt", runs[0], "-m", "P@1", "-q", "-o", saved)
    of_file = ("compare", tmp_path / "qrels.txt", *runs[1:], "--baseline", saved, "-m", "P@1", "-f", "latex")
    assert leadline(*of_file).out.count(" & s00 (baseline) & ") == 15
    (tmp_path / "kinds.tsv").write_text("query_id\tkind\n" + "".join(f"q{at}\t{at % 2}\n" for at in range(6)))
    sliced = leadline(*asked, "-f", "latex", "--query-slice", f"{tmp_path / 'kinds.tsv'}:kind").out
    assert sliced.count(r"\begin{tabular}") == 2
