"""`leadline check`: every problem with its line and count, and a repaired copy."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from leadline import kernels
from leadline.errors import InputError
from leadline.io import check as faults
from leadline.io import check as lint
from leadline.io.formats import opened
from leadline.io.objects import Qrels, read_qrels, read_run
from leadline.io.opening import Buffers

RUN = (
    b"\xef\xbb\xbf# a remark\n"
    b"q1 Q0 d1 0 3 t\r\n"
    b"q1 Q0 d2 1 nan t\n"
    b"\n"
    b"q2 Q0 d1 1 5 u extra\n"
    b"q1 Q0 d1 3 1 t\n"
    b"q1 Q0 d3 3 2 t\n"
    b'q1 Q0 "d\xc2\xa04 x 3 t'
)
LISTING = (
    "{path}: run, 2 queries, 5 documents\n  error   line 3: score 'nan' of document 'd2' "
    "is not a number. To leave out such lines, use `leadline check FILE --fix -o COPY --config "
    "read.on_nan=drop`.\n  error   line 6: document 'd1' appears twice for query 'q1' (first at line 2). To "
    "keep only one, use `leadline check FILE --fix -o COPY --config read.on_duplicate=first` (or last or "
    "max).\n  remark  line 1: a comment, which trec_eval 9 refuses\n  remark  line 5: more than six columns "
    "(the extra columns are ignored)\n  remark  line 5: tag 'u' after 't' (the last one counts)\n  remark  "
    "line 6: a query reappears after a different query (leadline groups the rows by query)\n  remark  "
    "line 8: a rank that is not a number of one to nine digits (the scores win)\n"
    "  remark  line 2: a query with tied scores (ties are ordered by descending document id)\n"
)


def file_of(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def found_in(leadline: Leadline, path: Path, *options: str) -> dict[str, tuple[int | None, int]]:
    """Return line and count by code."""
    data = json.loads(leadline("check", path, "-f", "json", *options).out)
    problems = data["files"][0]["problems"]
    found = {each["code"]: (each["line"], each["count"]) for each in problems}
    assert len(found) == len(problems)
    return found


def test_the_listing_names_everything(tmp_path: Path, leadline: Leadline) -> None:
    path = file_of(tmp_path, "bad.run", RUN)
    assert leadline("check", path) == (
        2,
        LISTING.format(path=path),
        f"leadline: error: {path}: this file has errors\n",
    )


def test_standard_input_and_a_file_without_problems(tmp_path: Path, leadline: Leadline) -> None:
    text = b"q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n"
    expected = ": run, 1 query, 2 documents, no problems\n"
    assert leadline("check", "-", stdin=text) == (0, f"-{expected}", "")
    path = file_of(tmp_path, "a.run", text)
    assert leadline("check", path) == (0, f"{path}{expected}", "")


def test_a_query_that_is_a_byte_order_mark_is_no_error(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "qrels"
    path.write_text("\ufeff\ufeff\t0\td1\t0\n\ufeff\t0\td2\t1\n", encoding="utf-8")
    assert read_qrels(path).to_dict() == {"\ufeff": {"d1": 0, "d2": 1}}
    assert leadline("check", path).status == 0


def test_json_has_the_keys_of_the_contract(tmp_path: Path, leadline: Leadline) -> None:
    path = file_of(tmp_path, "a.txt", b"q1 0 d1 1\nq1 0 d1 2\n")
    found = leadline("check", path, "-f", "json")
    assert found.status == 2
    assert list(found.data) == ["leadline", "command", "inputs", "options", "warnings", "files"]
    assert found.data["command"] == "check"
    assert found.data["files"] == [
        {
            "path": str(path),
            "kind": "qrels",
            "format": "trec",
            "queries": 1,
            "rows": 2,
            "problems": [
                {
                    "code": "repeated_documents",
                    "line": 2,
                    "count": 1,
                    "level": "error",
                    "message": "document 'd1' is judged twice for query 'q1' (first at line 1)",
                }
            ],
        }
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl", "markdown", "latex"])
def test_the_other_forms_hold_every_problem(form: str, tmp_path: Path, leadline: Leadline) -> None:
    path = file_of(tmp_path, "bad.run", RUN)
    found = leadline("check", path, "-f", form)
    assert found.status == 2
    for words in ("nan", "twice", "six columns", "tied"):
        assert words in found.out


def test_every_fault_of_a_run_is_counted(tmp_path: Path, leadline: Leadline) -> None:
    lines = [b"q1 Q0 d%d %d %d t" % (row, row, 2000 - row) for row in range(1, 1500)]
    for row in (0, 255, 256, 257, 700):
        lines[row] = b"q1 Q0 d 1 abc t"
    for row in (300, 1400):
        lines[row] = b"q1 Q0 d"
    path = file_of(tmp_path, "a.run", b"\n".join(lines) + b"\n")
    assert found_in(leadline, path) == {"score": (1, 5), "columns": (301, 2)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"q1 Q0 a 1 1 t\nq1 Q0 b 2 2 t\n", {"rank_disagrees": (1, 1)}),
        (b"q1 Q0 a 1 1 t\nq1 Q0 \x01 2 1 t\n", {"ties": (1, 1)}),
        (b"q1 Q0 a 1 1 t\rq1 Q0 b 1 1 t\n", {"carriage_return": (1, 1)}),
        (b"q1 Q0 a\0 1 1 t\n", {"nul": (1, 1)}),
        (b"q1 Q0 a 1 1\n", {"columns": (1, 1)}),
        (
            b"q1 0 a -1\nq2 0 a 0.5\nq2 0 b 1\n",
            {"negative_grades": (1, 1), "fractional_grades": (2, 1), "no_relevant": (1, 1)},
        ),
        (b"q1 0 a inf\nq1 0 b x\nq1 0 c 1\n", {"grade": (1, 2)}),
        (b"", {"empty": (None, 1)}),
    ],
    ids=lambda text: str(text)[:30],
)
def test_each_problem_has_its_code(
    text: bytes, expected: dict[str, Any], tmp_path: Path, leadline: Leadline
) -> None:
    found = found_in(leadline, file_of(tmp_path, "a", text))
    assert {code: found[code] for code in found if code != "carriage_return" or code in expected} == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.json",
            b'{"q1": {"d1": 1.5, "d1": 2.5, "d2": NaN}}',
            {"nan": (3, 1), "repeated_documents": (2, 1)},
        ),
        ("a.json", b'{"q1": ["x", "y", "x"]}', {"repeated_documents": (3, 1)}),
        ("a.json", b'{"q1": ', {"unreadable": (1, 1)}),
        (
            "a.jsonl",
            b'{"qid": "q", "docno": 1.5, "score": 1}\n{"qid": "q", "docno": "d", "score": "x"}\n',
            {"id": (1, 1), "score": (2, 1)},
        ),
        ("a.csv", b"qid,docno,score\r\nq,d,1.5\r\nq,d,x\r\n", {"score": (3, 1)}),
        ("a.csv", b"qid,docno,score\nq,d,1.5\nq,d\nq,e,1\n", {"columns": (3, 1)}),
        ("a.csv", b"qid,docno,score\nq,d,1.5\nq,,2\n", {"id": (3, 1)}),
        ("none", None, {"unreadable": (None, 1)}),
    ],
)
def test_the_other_formats_are_checked_too(
    name: str, text: bytes | None, expected: dict[str, Any], tmp_path: Path, leadline: Leadline
) -> None:
    path = tmp_path / name if text is None else file_of(tmp_path, name, text)
    assert found_in(leadline, path, "--config", "read.kind=run") == expected


@pytest.mark.parametrize("share", ["", "2", "x"])
def test_probabilities_that_are_refused_are_errors(share: str, tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "qrels.csv"
    path.write_text(f"query_id,doc_id,relevance,probability\nq1,d1,1,{share}\n")
    checked = leadline("check", path)
    assert checked.status
    assert "probability" in checked.out


def test_several_files_are_counted(tmp_path: Path, leadline: Leadline) -> None:
    good, bad = (file_of(tmp_path, "a.run", b"q Q0 d 1 1 t\n"), file_of(tmp_path, "b.run", b"q Q0 d\n"))
    found = leadline("check", good, bad, bad)
    assert (found.status, found.err) == (2, "leadline: error: 2 of 3 files have errors\n")
    assert found.out.count("\n\n") == 2


def test_a_copy_is_repaired_and_every_repair_said(tmp_path: Path, leadline: Leadline) -> None:
    path, copy = file_of(tmp_path, "bad.run", RUN), tmp_path / "good.run"
    found = leadline("check", path, "--fix", "-o", copy)
    assert found.status == 0
    assert found.out == LISTING.format(path=path) + (
        f"\n{copy}: written\n  1 x nan: dropped rows with score NaN\n  1 x repeated_documents: kept "
        "one of each repeated document (first)\n  1 x comments: removed comments\n  1 x extra_columns: "
        "removed columns after the sixth\n  1 x tags: kept only the last tag\n  1 x mixed_queries: "
        "grouped the rows of each query\n  1 x rank: ranked by score\n"
    )
    assert copy.read_text() == (
        'q1 Q0 d1 1 3.0 t\nq1 Q0 "d\u00a04 2 3.0 t\nq1 Q0 d3 3 2.0 t\nq2 Q0 d1 1 5.0 t\n'
    )
    assert leadline("check", copy).status == 0
    assert read_run(copy) == read_run(path, on_duplicate="first", on_nan="drop")


@pytest.mark.parametrize("policy", ["first", "last", "max"])
def test_a_policy_decides_between_repeats(policy: str, tmp_path: Path, leadline: Leadline) -> None:
    path = file_of(tmp_path, "a.txt", b"q1 1 d1 1\nq1 2 d1 3\nq1 3 d1 2\nq0 4 d2 1\n")
    copy = tmp_path / "b.txt"
    assert leadline("check", path, "--fix", "-o", copy, "--config", f"read.on_duplicate={policy}").status == 0
    kept = {"first": "q1 1 d1 1", "last": "q1 3 d1 2", "max": "q1 2 d1 3"}[policy]
    assert copy.read_text() == f"{kept}\nq0 4 d2 1\n"  # the second column is kept
    assert len(read_qrels(copy).grades) == 2


def test_subtopics_make_a_repeat_none(tmp_path: Path, leadline: Leadline) -> None:
    path = file_of(tmp_path, "a.txt", b"q1 1 d1 1\nq1 2 d1 3\n")
    table = file_of(tmp_path, "a.csv", b"query_id,subtopic,doc_id,relevance\nq1,1,d1,1\nq1,2,d1,3\n")
    for one in (path, table):
        refused = leadline("check", one)
        assert (refused.status, "`--config read.subtopics`" in refused.out) == (2, True)
    assert leadline("check", path, "--config", "read.subtopics").status == 0
    run = file_of(tmp_path, "a.run", b"q1 Q0 d1 1 2 t\n")
    for files in ((path, run), (run, "--qrels", path)):
        told = leadline("check", *files, "--config", "read.subtopics")
        assert (told.status, "1 of 1 documents" in told.out) == (0, True)
    twice = file_of(tmp_path, "b.txt", b"q1 1 d1 1\nq1 1 d1 3\n")
    assert found_in(leadline, twice, "--config", "read.subtopics") == {"repeated_documents": (2, 1)}


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("a.json", b'{"q1": {"s": {"d1": 1}, "t": {"d1": 1}}}', 0),
        ("a.json", b'{"q1": {"d1": 1}}', 2),
        ("a.csv", b"query_id,subtopic,doc_id,relevance\nq1,s,d1,1\nq1,t,d1,1\n", 0),
        ("a.csv", b"query_id,subtopic,doc_id,relevance\nq1,s,d1,1\nq1,s,d1,1\n", 2),
        ("a.csv", b"query_id,doc_id,relevance\nq1,d1,1\n", 2),
    ],
)
def test_subtopics_in_other_formats_are_checked_as_they_are_read(
    tmp_path: Path, leadline: Leadline, name: str, text: bytes, status: int
) -> None:
    path = file_of(tmp_path, name, text)
    assert leadline("check", path, "--config", "read.subtopics").status == status
    run = file_of(tmp_path, "a.run", b"q1 Q0 d1 1 2 a\n")
    found = leadline("evaluate", path, run, "-m", "alpha_nDCG@5", "--config", "read.subtopics")
    assert found.status == status


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ((), "--fix needs an output file. Add -o FILE for the repaired copy."),
        (("a.run",), "--fix repairs one file at a time. Pass one file, and -o FILE for the repaired copy."),
        (("-o", "a.run"), "writing to a.run would overwrite an input. Choose a different output file."),
        (
            ("-o", "b.run"),
            (
                "a.run:1: the line has 3 columns. A line of a run has 6 columns (query Q0 document rank "
                "score tag). 1 error cannot be repaired, because leadline repairs only repeated documents, "
                "NaN scores, comments, columns after the sixth, several tags, rows not grouped by query, and "
                "wrong ranks."
            ),
        ),
    ],
)
def test_what_cannot_be_repaired_is_refused(
    options: tuple[str, ...], error: str, tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path, "a.run", b"q Q0 d\nq Q0 d 1 1 t\n")
    assert leadline("check", "a.run", "--fix", *options) == (2, "", f"leadline: error: {error}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a.run"]


def test_several_runs_in_a_table_are_not_said_to_be_repaired(tmp_path: Path, leadline: Leadline) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("query_id,doc_id,score,run\nq1,d1,1,a\nq1,d2,2,b\n")
    refused = leadline("check", table, "--fix", "-o", tmp_path / "b.run").refusal
    assert "column 'run' names 2 runs" in refused
    assert "leadline repairs" not in refused


def test_faults_that_options_keep_are_not_said_to_be_beyond_repair(
    tmp_path: Path, leadline: Leadline
) -> None:
    run = tmp_path / "a.run"
    run.write_text("q Q0 d 1 nan t\nq Q0 e 1 2 t\nq Q0 e 2 1 t\nq Q0 f\n")
    kept = ("-C", "read.on_duplicate=refuse", "-C", "read.on_nan=refuse")
    refused = leadline("check", run, "--fix", "-o", tmp_path / "b.run", *kept).refusal
    assert ":4: the line has 3 columns" in refused
    assert " 1 error cannot be repaired" in refused


def test_a_repair_that_was_not_allowed_is_refused(tmp_path: Path, leadline: Leadline) -> None:
    path = file_of(tmp_path, "bad.run", RUN)
    for option in (("--config", "read.on_duplicate=refuse"), ("--config", "read.on_nan=refuse")):
        found = leadline("check", path, "--fix", "-o", tmp_path / "b.run", *option)
        assert (found.status, found.err.count("\n")) == (2, 1)
    assert not (tmp_path / "b.run").exists()


def test_real_runs_have_no_fault(shared_data: Path, leadline: Leadline) -> None:
    for name in ("trec-covid-r1", "trec-dl-2019-passage"):
        run = min((shared_data / name / "runs").iterdir(), key=lambda path: path.stat().st_size)
        assert leadline("check", shared_data / name / "qrels.txt", run).status == 0


def test_what_a_corpus_holds_of_the_relevant_documents_is_counted(tmp_path: Path, leadline: Leadline) -> None:
    docs, qrels = tmp_path / "docs.jsonl", tmp_path / "qrels.txt"
    docs.write_text('{"doc_id": "d1", "text": "a"}\n{"doc_id": "d2", "text": "b"}\n')
    qrels.write_text("q1 0 d1 1\nq1 0 d9 1\nq2 0 d8 2\nq2 0 d2 0\nq3 0 d2 1\nq4 0 d7 0\n")
    done = leadline("check", "--docs", docs, "--qrels", qrels, "-f", "json")
    coverage = done.data["coverage"]
    assert (coverage["held"], coverage["relevant"], coverage["share"]) == (2, 4, 0.5)
    assert (coverage["judged_held"], coverage["judged"], coverage["documents"]) == (3, 6, 2)
    assert [row["query"] for row in coverage["queries"]] == ["q2", "q1", "q3"]
    shown = leadline("check", "--docs", docs, "--qrels", qrels).out
    assert shown == (
        f"{docs}: 2 documents, covering 2 of 4 relevant query-document pairs in {qrels} (50 %) and 3 of "
        "6 judged pairs\n  2 queries with relevant documents missing from the corpus (1 with all missing); "
        "worst: "
        "q2 (0 of 1), q1 (1 of 2)\n"
    )
    assert "--docs needs --qrels" in leadline("check", "--docs", docs).err
    assert "nothing to check" in leadline("check").err
    both = leadline("check", qrels, "--docs", docs, "--qrels", qrels).out
    assert "4 queries, 6 judgments" in both
    assert "covering 2 of 4" in both


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("suffix", [".run", ".json"])
def test_a_run_is_joined_with_judgments(suffix: str, tmp_path: Path, leadline: Leadline) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\nq1 0 d9 -1\nq2 0 d2 1\nq3 0 d1 1\n")
    runs = {
        "good": {"q1": {"d1": 2.0, "d9": 1.5, "x": 1.0}, "q2": {"d2": 1.0}},
        "dead": {"q1": {"xd1": 2.0}, "q2": {"xd2": 1.0}},
        "other": {"Q1": {"d1": 2.0}},
        "part": {"q0": {"d1": 2.0}, "q3": {"xd1": 1.0}},
    }
    paths = []
    for name, run in runs.items():
        paths.append(tmp_path / f"{name}{suffix}")
        lines = (f"{q} Q0 {d} 1 {s} t\n" for q, found in run.items() for d, s in found.items())
        paths[-1].write_text(json.dumps(run) if suffix == ".json" else "".join(lines))
    found = leadline("check", "--qrels", qrels, *paths, "-f", "json")
    assert found.status == 2
    joined = [each["joined"] for each in found.data["files"]]
    keys = ("queries", "documents", "judged", "run_example", "qrels_example")
    assert [tuple(each[key] for key in keys) for each in joined] == [
        (2, 4, 2, "d9", "d1"),
        (2, 2, 0, "xd1", "d1"),
        (0, 1, 0, "d1", "d1"),
        (1, 2, 0, "xd1", "d1"),  # of a judged query
    ]
    assert [each["share"] for each in joined] == [0.5, 0, 0, 0]
    errors = [
        [one["code"] for one in each["problems"] if one["level"] == "error"] for each in found.data["files"]
    ]
    assert errors == [[], ["no_document_judged"], ["no_query_judged"], ["no_document_judged"]]
    text = leadline("check", "--qrels", qrels, paths[1])
    assert text.status == 2
    assert "'xd1'" in text.out
    assert "'d1'" in text.out
    assert "The run has 'Q1', and" in leadline("check", "--qrels", qrels, paths[2]).out  # ids of queries
    assert leadline("check", "--qrels", qrels, paths[0]).status == 0


@pytest.mark.usefixtures("form")
def test_ids_that_match_are_not_asked_about_where_all_grades_are_negative(
    tmp_path: Path, leadline: Leadline
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q1 0 d1 -1\nq2 0 d1 1\n")
    run.write_text("q1 Q0 d1 1 2 t\nq1 Q0 x 2 1 t\n")
    found = leadline("check", "--qrels", qrels, run, "-f", "json")
    assert found.status == 2
    (problem,) = found.data["files"][0]["problems"]
    assert problem["code"] == "no_document_judged"
    assert "negative" in problem["message"]


def test_judgments_alone_are_nothing_to_join(tmp_path: Path, leadline: Leadline) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\n")
    assert leadline("check", "--qrels", qrels).status == 2
    assert leadline("check", "--docs", qrels).status == 2
    assert leadline("check", "--qrels", qrels, qrels).status == 2


def test_a_file_with_nothing_right_is_counted_and_little_is_kept(tmp_path: Path) -> None:
    lines = (f"{number} Q0 d x\n" if number % 2 else f"q Q0 d{number} 1 x t\n" for number in range(60_000))
    path = file_of(tmp_path, "wrong.run", "".join(lines).encode())
    parsed = faults.find(opened(str(path), read=True), "run")
    assert parsed.faults.counts == {"score": 30_000, "columns": 30_000}
    assert {code: error.line for code, error in parsed.faults.first.items()} == {"score": 1, "columns": 2}
    assert [error.__traceback__ for error in parsed.faults.first.values()] == [None, None]
    assert not len(parsed.lists.scores)
    kept = sum(issubclass(type(one), InputError) for one in gc.get_objects())
    assert kept < 100
    found = lint.check(str(path), kind="run")
    assert [(one.code, one.line, one.count) for one in found.problems] == [
        ("score", 1, 30_000),
        ("columns", 2, 30_000),
    ]


def test_lines_around_faults_are_all_read(tmp_path: Path) -> None:
    wrong = {3, 4, 5, 700, 5_000, 5_002, *range(9_000, 9_400)}
    text = "".join("wrong\n" if at in wrong else f"q{at // 1000} Q0 d{at} 1 1 t\n" for at in range(1, 10_001))
    path = file_of(tmp_path, "some.run", text.encode())
    parsed = faults.find(opened(str(path), read=True), "run")
    assert parsed.faults.counts == {"columns": len(wrong)}
    assert parsed.faults.first["columns"].line == 3
    assert sorted(parsed.lists.lines) == sorted(set(range(1, 10_001)) - wrong)
    assert len(parsed.lists.queries) == 11
    assert parsed.returns == []


def text_of(rng: np.random.Generator) -> bytes:
    """Make a run whose lines are mostly clean, with what check remarks on here and there."""
    odd = [0.0, 0.02, 0.3][rng.integers(3)]

    def some(*choices: bytes) -> bytes:
        return choices[rng.integers(1, len(choices))] if rng.random() < odd else choices[0]

    lines = []
    for query in (b"q%d" % place for place in range(rng.integers(1, 9))):
        name = some(query, query + b"'", "q\u00e9".encode() + query)
        documents = [b"d%02d" % number for number in rng.permutation(40)[: rng.integers(1, 30)]]
        for rank, document in enumerate(documents, start=int(rng.random() > odd)):
            score = b"%d" % (100 - rank if rng.random() > odd else rng.integers(3))
            lines.append(some(b"", b" \t\n", b"\r\n"))
            lines.append(
                b" ".join(
                    [
                        name,
                        b"Q0",
                        document + some(b"", b"\xc2\xa0", b"\xff", b'"', b"\x7f"),
                        some(b"%d" % rank, b"1", b"x"),
                        score,
                        some(b"tag", b"other", b"tag more", b"last tag"),
                    ]
                )
                + some(b"\n", b"\r\n", b" \n")
            )
    text = some(b"", b"# a remark\n") + b"".join(lines)
    return some(b"", b"\xef\xbb\xbf") + (text.removesuffix(b"\n") if rng.random() < odd else text)


def grades_of(rng: np.random.Generator) -> bytes:
    """Return judgments with a query without a relevant document, other grades and a repeat, at times."""
    lines = [b"# a remark"] if rng.random() < 0.2 else []
    for query in range(rng.integers(1, 9)):
        kinds = [b"0"] if rng.random() < 0.3 else [b"0", b"1", b"2", b"0.5", b"-1", b"1e3", b"2.0"]
        odd = rng.random(len(kinds)) * ([1] + [0.2] * (len(kinds) - 1)) + 1e-9
        for number in rng.permutation(40)[: rng.integers(1, 30)]:
            grade = kinds[rng.choice(len(kinds), p=odd / odd.sum())]
            lines.append(b"q%d 0 d%02d %s" % (query % 7, number, grade))
    return b"\n".join(lines) + b"\n" * int(rng.integers(0, 3))


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_a_clean_file_is_checked_in_stretches_as_it_is_as_a_whole(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kernels.compiled is None:
        pytest.skip("no compiled kernels")
    rng = np.random.default_rng(3)
    qrels = Qrels(
        {f"q{query}": {f"d{number:02d}": number % 3 - 1 for number in range(9)} for query in range(5)}
    )
    taken: list[lint.Checked | None] = []
    in_stretches = lint._checked_stretches

    def noted(*given: Any) -> lint.Checked | None:
        taken.append(in_stretches(*given))
        return taken[-1]

    monkeypatch.setattr(lint, "_checked_stretches", noted)
    for number in range(120):
        path = file_of(tmp_path, f"{number}.txt", text_of(rng) if kind == "run" else grades_of(rng))
        judged = qrels if number % 2 else None
        size = int(rng.integers(256, 4096))
        streamed = lint.check(str(path), qrels=judged, workspace=Buffers(size))
        whole = lint.check(str(path), qrels=judged, keep=True)
        assert streamed.problems == whole.problems
        assert streamed.joined == whole.joined
        assert [streamed.kind, streamed.form, streamed.rows, streamed.queries, streamed.unit] == [
            whole.kind,
            whole.form,
            whole.rows,
            whole.queries,
            whole.unit,
        ]
        assert streamed.kind == kind
    assert sum(found is not None for found in taken) > 60


def test_columns_and_folders_are_those_of_the_other_commands(tmp_path: Path, leadline: Leadline) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("b", "a"):
        (runs / f"{name}.tsv").write_text("d2\tq1\t2.5\nd1\tq1\t0.5\n")
    (tmp_path / "qrels.tsv").write_text("3\tx\tq1\td1\n")
    named = [
        "--config",
        "read.columns=doc_id,query_id,score",
        "--config",
        "read.qrels_columns=relevance,-,query_id,doc_id",
    ]
    for given in (runs, runs / "*.tsv"):
        found = leadline("check", given, *named, "-f", "json")
        assert found.status == 0
        checked = found.data["files"]
        assert [Path(each["path"]).name for each in checked] == ["a.tsv", "b.tsv"]
        assert [(each["kind"], each["queries"], each["rows"]) for each in checked] == [("run", 1, 2)] * 2
    found = leadline("check", runs, "--qrels", tmp_path / "qrels.tsv", *named, "-f", "json")
    assert [each["joined"]["judged"] for each in found.data["files"]] == [1, 1]
    checked = leadline("check", tmp_path / "qrels.tsv", *named, "-f", "json").data["files"]
    assert [(each["kind"], each["rows"]) for each in checked] == [("qrels", 1)]
    (tmp_path / "a.jsonl").write_text('{"query_id": 1, "doc_id": 2, "score": 0.5}\n')
    assert leadline("check", tmp_path / "a.jsonl").status == 0


def test_a_run_without_scores_is_converted_by_rank(tmp_path: Path, leadline: Leadline) -> None:
    run, ranked = tmp_path / "a.run", tmp_path / "b.run"
    run.write_text("q1 Q0 d1 1 NA t\n")
    assert "use `leadline convert FILE COPY --config read.order=rank`" in leadline("check", run).out
    assert leadline("convert", run, ranked, "--config", "read.order=rank").status == 0
    assert read_run(ranked).to_dict() == {"q1": {"d1": -1.0}}
    table = tmp_path / "a.csv"
    table.write_text("query_id,doc_id,rank\nq1,d1,1\nq1,d2,2\n")
    assert "use `leadline convert FILE COPY --config read.order=rank`" in leadline("check", table).out
    assert leadline("convert", table, ranked, "--overwrite", "--config", "read.order=rank").status == 0
    assert read_run(ranked).to_dict() == {"q1": {"d1": -1.0, "d2": -2.0}}
    run.write_text('{"results": [{"id": "d1", "score": 1}]}')
    found = leadline("check", run, "--config", "read.kind=run").out
    assert "use `leadline convert FILE COPY --config read.queries_in=QUERIES`" in found


@pytest.mark.parametrize("policy", ["first", "last", "max"])
@pytest.mark.parametrize("name", ["f.qrels", "f.json", "f.csv"])
def test_a_repair_keeps_the_judgments_of_each_subtopic(
    name: str, policy: str, tmp_path: Path, leadline: Leadline
) -> None:
    judged = tmp_path / "sub.qrels"
    judged.write_text("q1 1 d1 1\nq1 2 d1 0\nq1 2 d2 1\nq2 1 d1 -1\nq2 3 d1 2\nq1 2 d1 3\nq1 2 d1 2\n")
    options = ("-C", "subtopics=true", "-C", f"on_duplicate={policy}")
    assert leadline("check", judged, "--fix", "-o", tmp_path / name, *options).status == 0
    kept = {"first": 0, "last": 2, "max": 3}[policy]
    expected = {"q1": {"1": {"d1": 1}, "2": {"d1": kept, "d2": 1}}, "q2": {"1": {"d1": -1}, "3": {"d1": 2}}}
    assert read_qrels(tmp_path / name, subtopics=True).by_subtopic() == expected
    again = tmp_path / "again.csv"  # from each format
    assert leadline("check", tmp_path / name, "--fix", "-o", again, "-C", "subtopics=true").status == 0
    assert read_qrels(again, subtopics=True).by_subtopic() == expected


def test_a_repair_says_what_it_leaves_out(tmp_path: Path, leadline: Leadline) -> None:
    table, trec, copy = tmp_path / "n.csv", tmp_path / "t.run", tmp_path / "f.csv"
    table.write_text("query_id,doc_id,relevance,note\nq1,d1,2,hi\nq1,d2,1,\n")
    assert leadline("check", table, "--fix", "-o", copy).out.endswith("\n  1 x left_out: column note\n")
    trec.write_text("q1 0 d1 1 2.5 bm\n")
    assert leadline("check", trec, "--fix", "-o", copy).out.endswith("\n  1 x left_out: tag bm\n")
    assert leadline("check", trec, "--fix", "-o", tmp_path / "f.run").out.endswith("f.run: written\n")
    trec.write_text("q1 0 d1 1 2.5 bm\nq1 0 d2 2 1.5 other\n")
    done = leadline("check", trec, "--fix", "-o", copy).out
    assert done.endswith("f.csv: written\n  1 x left_out: all tags\n")
