"""A run where judgments are expected is refused in every format, and judgments of any kind are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # no stubs
import pytest

from conftest import Leadline
from leadline.errors import InputError
from leadline.evaluation.evaluate import evaluate
from leadline.io.check import check
from leadline.io.objects import read_qrels, read_run, write_run

RUN = {
    f"q{query}": {f"d{rank}": 14.5 - rank * 1.37 - query * 0.01 for rank in range(12)} for query in range(3)
}
COSINE = {
    f"q{query}": {f"d{rank}": 0.99 - rank * 0.0137 - query * 0.001 for rank in range(12)}
    for query in range(3)
}
QRELS = {f"q{query}": {f"d{rank}": rank % 3 for rank in range(12)} for query in range(3)}
SUFFIXES = [".json", ".jsonl", ".csv", ".tsv", ".parquet"]


def rows(
    values: Mapping[str, Mapping[str, float]], number: str = "score", /, **more: object
) -> list[dict[str, object]]:
    return [
        {"query_id": query, "doc_id": document, number: value}
        | {name: place if given is None else given for name, given in more.items()}
        for query, documents in values.items()
        for place, (document, value) in enumerate(documents.items(), start=1)
    ]


def written(
    path: Path, values: Mapping[str, Mapping[str, float]], number: str = "score", /, **more: object
) -> Path:
    table = rows(values, number, **more)
    if path.suffix == ".json":
        path.write_text(json.dumps(table if more else values))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
    elif path.suffix == ".parquet":
        pd.DataFrame(table).to_parquet(path)
    else:
        pd.DataFrame(table).to_csv(path, sep="\t" if path.suffix == ".tsv" else ",", index=False)
    return path


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "command",
    [["evaluate"], ["compare"], ["curve"], ["histogram"], ["difference"], ["report", "-o", "x.html"]],
    ids=lambda command: command[0],
)
def test_swapped_arguments_are_refused_and_the_error_names_the_way_out(
    command: list[str], suffix: str, tmp_path: Path, leadline: Leadline
) -> None:
    run = written(tmp_path / f"run{suffix}", RUN)
    qrels = written(tmp_path / f"qrels{suffix}", QRELS)
    assert "--config read.kind=qrels" in leadline(command[0], run, qrels, run, *command[1:]).refusal
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("column", ["rank", "tag", "run", "run_id", "system"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_column_that_only_runs_have_makes_a_run(
    column: str, suffix: str, tmp_path: Path, leadline: Leadline
) -> None:
    path = written(tmp_path / f"a{suffix}", COSINE, **{column: None if column == "rank" else "bm25"})
    with pytest.raises(InputError, match=f"'{column}'"):
        read_qrels(path)
    run = written(tmp_path / f"b{suffix}", COSINE)
    assert leadline("evaluate", path, run, "-m", "CG@2").status == 2
    read = leadline("evaluate", path, run, "-m", "CG@2", "--config", "read.kind=qrels", "-f", "json")
    assert read.data["runs"][0]["mean"]["CG@2"] == pytest.approx(0.99 * 2 - 0.0137 - 0.002)
    assert read.data["options"]["kind"] == "qrels"
    assert read_qrels(path, kind="qrels").to_dict() == COSINE


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_grades_with_the_run_that_found_the_document_are_judgments(
    suffix: str, tmp_path: Path, leadline: Leadline
) -> None:
    for name in ("run", "tag", "system", "run_id", "rank"):
        path = written(tmp_path / f"{name}{suffix}", QRELS, "relevance", **{name: "bm25"})
        assert read_qrels(pd.DataFrame(rows(QRELS, "relevance", **{name: "bm25"}))).to_dict() == QRELS
        if name != "run":
            with pytest.raises(InputError, match=f"'{name}'"):
                read_qrels(path)
        else:
            assert read_qrels(path).to_dict() == QRELS
            assert leadline("convert", path, tmp_path / "qrels.txt").status == 0
            assert read_qrels(tmp_path / "qrels.txt").to_dict() == QRELS


def test_a_frame_of_a_run_is_refused_too() -> None:
    frame = pd.DataFrame(rows(RUN, rank=None))
    with pytest.raises(InputError, match="'rank'"):
        evaluate(frame, frame)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "values",
    [
        QRELS,
        COSINE,  # fractional grades
        {"q1": {"d1": 0.5, "d2": 0.25, "d3": -1.0, "d4": 0.5, "d5": 0.25, "d6": 1.0}},
        {"q1": {"d1": 100, "d2": 0, "d3": 37}},  # per cent
        {"q1": {"d1": 12.5, "d2": 12.5, "d3": 12.5, "d4": 0.0}},
        {"q1": {"d1": -2, "d2": 1}},
    ],
)
def test_grades_of_any_kind_are_read(
    values: dict[str, dict[str, float]], suffix: str, tmp_path: Path
) -> None:
    assert read_qrels(written(tmp_path / f"a{suffix}", values)).to_dict() == values


def test_grades_that_may_be_scores_are_remarked(tmp_path: Path, leadline: Leadline) -> None:
    qrels, run = written(tmp_path / "a.json", COSINE), written(tmp_path / "b.json", RUN)
    codes = [
        [one["code"] for one in leadline("evaluate", path, run, "-f", "json").data["warnings"]]
        for path in (qrels, written(tmp_path / "c.json", QRELS))
    ]
    assert ["grades_like_scores" in found for found in codes] == [True, False]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_remark_on_grades_does_not_depend_on_the_form(suffix: str, tmp_path: Path) -> None:
    for source in (written(tmp_path / f"a{suffix}", COSINE), COSINE, rows(COSINE)):
        assert [code for code, _, _ in read_qrels(source).remarks] == ["grades_like_scores"]
    assert read_qrels(COSINE, kind="qrels").remarks == ()
    mixed = {"q1": {f"d{grade}": grade / 7 for grade in range(1, 7)} | {f"e{place}": 1 for place in range(4)}}
    assert [count for _, _, count in read_qrels(mixed).remarks] == [6]  # of ten


@pytest.mark.usefixtures("form")
def test_four_columns_that_count_are_a_ranking(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "ranking.txt"
    path.write_text("q1 d7 1 0.9\nq1 d3 2 0.8\nq2 d7 1 0.5\n")
    run = tmp_path / "sys.run"
    run.write_text("q1 Q0 1 1 2 t\nq2 Q0 1 1 2 t\n")
    assert "--config read.kind=qrels" in leadline("evaluate", path, run).refusal
    assert leadline("evaluate", path, run, "--config", "read.kind=qrels").status == 0


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "text",
    [
        "q1 0 1 1\nq1 0 2 0\nq2 0 1 1\n",  # ids that count
        "q1 Q0 1 1\nq2 Q0 1 1\n",
        "q1 a 1 1\nq1 b 3 0\n",  # subtopics, and an id is missing
        "q1 a d1 1\nq1 b d2 0\n",
    ],
)
def test_judgments_whose_ids_count_are_judgments(text: str, tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(text)
    assert len(read_qrels(path).grades) == text.count("\n")
    assert check(str(path)).kind == "qrels"


def test_check_and_convert_tell_a_ranking_and_obey_kind(tmp_path: Path, leadline: Leadline) -> None:
    path = written(tmp_path / "a.csv", COSINE, system="bm25")
    assert leadline("check", path, "-f", "json").data["files"][0]["kind"] == "run"
    assert (
        leadline("check", path, "--config", "read.kind=qrels", "-f", "json").data["files"][0]["kind"]
        == "qrels"
    )
    out = tmp_path / "b.json"
    assert leadline("convert", path, out, "--config", "read.kind=qrels").status == 0
    assert json.loads(out.read_text()) == COSINE


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "tsv", "parquet"])
def test_scores_with_few_digits_are_scores_too(tmp_path: Path, suffix: str) -> None:
    # many queries share the values of four digits, although within a query hardly any is shared
    run = {
        f"q{query}": {f"d{one}": 12.0 + (37 * one + query) % 400 / 10000 for one in range(50)}
        for query in range(60)
    }
    path = tmp_path / f"run.{suffix}"
    write_run(run, path)
    with pytest.raises(InputError, match="look like scores"):
        read_qrels(path)
    assert len(read_qrels(path, kind="qrels").grades) == 3000


def test_judgments_in_the_order_of_ir_datasets_are_refused_with_the_option_that_reads_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "qrels.tsv"
    path.write_text("q1\td1\t3\t0\nq1\td2\t0\t0\nq2\td3\t1\t0\n", "utf-8")
    with pytest.raises(InputError, match=r"one-digit numbers.*qrels_columns"):
        read_qrels(path)
    found = read_qrels(path, qrels_columns="query_id,doc_id,grade,iteration")
    assert found.to_dict() == {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
    assert len(read_qrels(path, kind="qrels").grades) == 3
    path.write_text("q1\t0\t3\t0\nq1\t0\t1\t0\nq2\t0\t1\t0\n", "utf-8")  # documents called 3 and 1
    assert read_qrels(path).to_dict() == {"q1": {"3": 0, "1": 0}, "q2": {"1": 0}}


IN_MEMORY = {
    "scores": RUN,
    "cosines": COSINE,
    "distances": {query: {d: -s for d, s in scores.items()} for query, scores in COSINE.items()},
    "ranks": {query: {f"d{rank}": 100.0 - rank for rank in range(12)} for query in RUN},
    "two documents": {"q0": {"d1": 0.9, "d2": 0.4}},
}


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_dictionaries_in_the_wrong_order_are_refused_where_it_can_be_told(kind: str) -> None:
    run = IN_MEMORY[kind]
    judged = {"q0": {"d1": 1, "d2": 0}} if kind == "two documents" else QRELS
    for runs in (judged, {"bm25": judged}):
        with pytest.raises(
            InputError, match="Judgments come before runs, except in `replicate`, where they come after"
        ):
            evaluate(run, runs, "AP")
        assert evaluate(judged, run, "AP").queries
    assert evaluate(run, run, "nDCG").queries, "labels with fractions beside scores"
    ranked = {query: {f"d{rank}": 12 - rank for rank in range(12)} for query in run}
    assert evaluate(COSINE, ranked, "nDCG").queries, "whole scores that all differ"


def test_objects_runs_by_name_and_frames_in_the_wrong_order_are_refused() -> None:
    run, qrels = read_run(RUN), read_qrels(QRELS)
    frames = [pd.DataFrame(rows(RUN)), pd.DataFrame(rows(QRELS)).rename(columns={"score": "relevance"})]
    swapped = [(run, qrels), (run, QRELS), (RUN, qrels), ({"a": RUN, "b": RUN}, QRELS), ([RUN, RUN], QRELS)]
    for judged, found in [*swapped, (run, {"a": qrels}), tuple(frames)]:
        with pytest.raises(InputError, match="come before runs"):
            evaluate(judged, found, "AP")


def test_runs_without_a_common_query_are_refused_with_an_id_of_both(
    tmp_path: Path, leadline: Leadline
) -> None:
    with pytest.raises(InputError, match=r"'topic-1'.*'1'"):
        evaluate({"1": {"d": 1}}, {"topic-1": {"d": 1.0}}, "AP")
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    (tmp_path / "a.run").write_text("topic-1 Q0 d 1 1.0 a\n")
    (tmp_path / "b.run").write_text("1 Q0 d 1 1.0 b\n")
    for command in ("evaluate", "compare"):
        done = leadline(command, tmp_path / "qrels", tmp_path / "a.run", "-m", "AP")
        assert (done.status, done.out) == (2, "")
    some = leadline("evaluate", *(tmp_path / name for name in ("qrels", "b.run", "a.run")), "-f", "json")
    assert some.status == 0
    assert (some.data["warnings"][0]["code"], "a" in some.data["warnings"][0]["message"]) == (
        "no_overlap",
        True,
    )


def test_files_of_trec_eval_that_are_no_qrels_are_called_by_their_name(tmp_path: Path) -> None:
    path = tmp_path / "prefs"
    for text in ("1 A A d1 2.0\n1 A A d2 1.5\n", "1 0 0 d1 2\n1 0 0 d2 1\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="reference judgments"):
            read_qrels(path)
    path.write_text("1 1 d1 1\n1 2 d1 0\n")
    with pytest.raises(InputError, match="judgment groups"):
        read_qrels(path)
