"""`leadline convert`: what comes out, what is kept, what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from conftest import Leadline
from leadline.io.objects import read_qrels, read_run

RUN = b"q1 Q0 d1 1 0.30000000000000004 bm25\nq1 Q0 d,2 2 0.25 bm25\n01 Q0 NA 1 7 bm25\n"
QRELS = b"q1 0 d1 2\nq1 0 d,2 0\n01 0 NA 0.5\n"
GOLDEN = {
    "a.run": "01 Q0 NA 1 7.0 bm25\nq1 Q0 d1 1 0.30000000000000004 bm25\nq1 Q0 d,2 2 0.25 bm25\n",
    "a.json": '{\n"01": {"NA": 7.0},\n"q1": {"d1": 0.30000000000000004, "d,2": 0.25}\n}\n',
    "a.jsonl": '{"query_id": "01", "doc_id": "NA", "score": 7.0}\n'
    '{"query_id": "q1", "doc_id": "d1", "score": 0.30000000000000004}\n'
    '{"query_id": "q1", "doc_id": "d,2", "score": 0.25}\n',
    "a.csv": 'query_id,doc_id,score\n01,NA,7.0\nq1,d1,0.30000000000000004\nq1,"d,2",0.25\n',
    "a.tsv": "query_id\tdoc_id\tscore\n01\tNA\t7.0\nq1\td1\t0.30000000000000004\nq1\td,2\t0.25\n",
}
GOLDEN_QRELS = {
    "a.txt": "01 0 NA 0.5\nq1 0 d1 2\nq1 0 d,2 0\n",
    "a.json": '{\n"01": {"NA": 0.5},\n"q1": {"d1": 2, "d,2": 0}\n}\n',
    "a.csv": 'query_id,doc_id,relevance\n01,NA,0.5\nq1,d1,2\nq1,"d,2",0\n',
}


def file_of(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", GOLDEN)
def test_a_run_in_every_format_that_is_text(name: str, tmp_path: Path, leadline: Leadline) -> None:
    source, target = file_of(tmp_path, "in.run", RUN), tmp_path / name
    found = leadline("convert", source, target)
    lost = "" if name == "a.run" else "; left out: tag bm25"
    assert found == (0, f"{target}: run, 2 queries, 3 documents{lost}\n", "")
    assert target.read_text() == GOLDEN[name]
    again = tmp_path / f"again{target.suffix}"
    assert leadline("convert", target, again).status == 0
    if name != "a.run":
        assert again.read_text() == GOLDEN[name]
    assert read_run(again).to_dict() == read_run(source).to_dict()


@pytest.mark.parametrize("name", GOLDEN_QRELS)
def test_qrels_in_every_format_that_is_text(name: str, tmp_path: Path, leadline: Leadline) -> None:
    source, target = file_of(tmp_path, "qrels", QRELS), tmp_path / name
    found = leadline("convert", source, target)
    assert found == (0, f"{target}: qrels, 2 queries, 3 judgments\n", "")
    assert target.read_text() == GOLDEN_QRELS[name]
    assert read_qrels(target) == read_qrels(source)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("text", [b'{"q1": {"d1": 2}, "q2": {}}', b'{"q1": {"d1": 0.5, "d2": 1}, "q2": {}}'])
def test_queries_without_judgments_are_counted(text: bytes, tmp_path: Path, leadline: Leadline) -> None:
    source = file_of(tmp_path, "qrels.json", text)
    found = leadline("convert", source, tmp_path / "a.csv", "-C", "kind=qrels")
    assert found.out.endswith("; left out: 1 query without judgments\n")


def test_standard_input_and_output_and_a_named_format(tmp_path: Path, leadline: Leadline) -> None:
    found = leadline("convert", "-", tmp_path / "a.csv.gz", stdin=gzip.compress(RUN))
    assert found.status == 0
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode() == GOLDEN["a.csv"]
    found = leadline("convert", tmp_path / "a.csv.gz", tmp_path / "odd.name", "--to", "tsv")
    assert found.status == 0
    assert (tmp_path / "odd.name").read_text() == GOLDEN["a.tsv"]


def test_a_file_that_exists_is_kept_unless_asked(tmp_path: Path, leadline: Leadline) -> None:
    source, target = file_of(tmp_path, "in.run", RUN), file_of(tmp_path, "a.json", b"mine")
    expected = f"leadline: error: {target} already exists. Choose a new name, or use --overwrite.\n"
    assert leadline("convert", source, target) == (2, "", expected)
    assert target.read_bytes() == b"mine"
    assert leadline("convert", source, target, "--overwrite").status == 0
    assert target.read_text() == GOLDEN["a.json"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b'{"q1": {"d1": 1, "d2": 0}}', "qrels"),
        (b'{"q1": {"d1": 1, "d2": 0.0}}', "run"),
        (b'{"q1": ["d1", "d2"]}', "run"),
        (b"q_id,doc_id,score\nq1,d1,1\n", "qrels"),
        (b"q_id,doc_id,score\nq1,d1,1.0\n", "run"),
        (b"q_id,doc_id,score,rank\nq1,d1,1,1\n", "run"),
        (b"qid,docno,label\nq1,d1,0.5\n", "qrels"),
        (b"# run\nq1 Q0 d1 1 1 t\n", "run"),
    ],
)
def test_the_kind_is_told_by_content(text: bytes, kind: str, tmp_path: Path, leadline: Leadline) -> None:
    source = file_of(tmp_path, "in", text)
    assert f": {kind}, 1 query," in leadline("convert", source, tmp_path / "a.jsonl").out
    other = {"run": "qrels", "qrels": "run"}[kind]
    if text.startswith(b'{"q1": {') or b"score\n" in text:
        asked = ("convert", source, tmp_path / "b.jsonl", "--config", f"read.kind={other}")
        assert f": {other}, 1 query," in leadline(*asked).out


def test_repeats_and_nan_are_repaired_on_request_and_counted(tmp_path: Path, leadline: Leadline) -> None:
    text = b"q1 Q0 d1 1 3 t\nq1 Q0 d1 2 2 t\nq1 Q0 d2 3 nan t more\n"
    source, target = file_of(tmp_path, "in.run", text), tmp_path / "a.run"
    assert leadline("convert", source, target).status == 2
    assert not target.exists()
    found = leadline(
        "convert", source, target, "--config", "read.on_duplicate=last", "--config", "read.on_nan=drop"
    )
    assert found.out == (
        f"{target}: run, 1 query, 1 document; left out: 1 repeated document, "
        "1 document with score NaN, columns after the sixth in 1 line\n"
    )
    assert target.read_text() == "q1 Q0 d1 1 2.0 t\n"
    asked = ("convert", source, tmp_path / "b.run", "--config", "read.on_duplicate=hold")
    assert "Use refuse, first, last or max" in leadline(*asked).err


def test_bare_ranked_lists_become_a_run_of_first_places(tmp_path: Path, leadline: Leadline) -> None:
    source = file_of(tmp_path, "in.json", b'{"q1": ["x", "d1", "x", "d2"]}')
    assert leadline("convert", source, tmp_path / "a.run").status == 0
    assert (tmp_path / "a.run").read_text() == ("q1 Q0 x 1 -1.0 in\nq1 Q0 d1 2 -2.0 in\nq1 Q0 d2 3 -4.0 in\n")


def test_results_without_query_ids_get_those_of_a_file(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "queries.txt").write_text("q2\nq1\n")
    judges = tmp_path / "q.qrels", tmp_path / "other.qrels"
    for judge in judges:
        judge.write_text("q1 0 d1 1\nq2 0 d2 1\n")
    source, target = tmp_path / "responses.json", tmp_path / "a.run"
    source.write_text(
        '[{"hits": {"hits": [{"_id": "d2", "_score": 3}]}}, {"hits": {"hits": [{"_id": "d1", "_score": 1}]}}]'
    )
    queries = ("-C", f"read.queries_in={tmp_path / 'queries.txt'}")
    refused = leadline("agreement", *judges, "--runs", source).refusal
    assert "use `leadline convert --config read.queries_in=QUERIES`" in refused
    assert leadline("convert", source, target, *queries).status == 0
    assert read_run(target).to_dict() == {"q1": {"d1": 1.0}, "q2": {"d2": 3.0}}
    done = leadline("compare", judges[0], source, target, "-m", "RR", *queries)
    assert "have the same RR on both queries" in done.out


def test_subtopics_are_kept_on_request(tmp_path: Path, leadline: Leadline) -> None:
    text = b"q1 s1 d1 1\nq1 s2 d1 2\n"
    source, target = file_of(tmp_path, "qrels", text), tmp_path / "a.csv"
    assert "is judged twice" in leadline("convert", source, target).err
    assert leadline("convert", source, target, "--config", "read.subtopics").status == 0
    assert target.read_text() == "query_id,doc_id,relevance,subtopic\nq1,d1,1,s1\nq1,d1,2,s2\n"
    again = tmp_path / "again.txt"
    assert leadline("convert", target, again, "--config", "read.subtopics").status == 0
    assert again.read_bytes() == text


def test_what_cannot_be_read_or_written_is_one_line(tmp_path: Path, leadline: Leadline) -> None:
    source = file_of(tmp_path, "in.run", RUN)
    for asked in (
        (tmp_path / "none", tmp_path / "a"),
        (source, tmp_path / "no" / "a.json"),
        (file_of(tmp_path, "b.csv", b"qid,docno,score\nq 1,d,1.5\n"), tmp_path / "b.run"),
        (file_of(tmp_path, "c", b""), tmp_path / "c.json"),
    ):
        status, out, err = leadline("convert", *asked)
        assert (status, out, err.count("\n")) == (2, "", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.csv", "c", "in.run"]


@pytest.mark.parametrize(
    ("name", "text", "more", "lost"),
    [
        ("qrels", b"q1 0 d1 1\nq1 Q0 d2 1\nq1 s2 d3 1\n", (), "column 2 (not 0 in 2 lines)"),
        ("qrels", b"q1 s1 d1 1\nq1 s2 d2 1\n", ("--config", "read.subtopics"), ""),
        ("q.csv", b"qid,docno,label,subtopic,title\nq1,d1,1,s1,x\n", (), "column subtopic, column title"),
        ("q.csv", b"qid,docno,label,subtopic\nq1,d1,1,s1\n", ("--config", "read.subtopics"), ""),
        ("r.csv", b"qid,docno,rank,score,tag,text\nq1,d1,1,0.5,bm25,x\n", (), "column text, tag bm25"),
        ("a.run", b"q1 Q0 d1 1 2 old\nq1 Q0 d2 2 1 new\n", (), "1 tag before the last, tag new"),
    ],
)
def test_columns_and_tags_that_the_format_has_no_place_for_are_said(
    name: str, text: bytes, more: tuple[str, ...], lost: str, tmp_path: Path, leadline: Leadline
) -> None:
    source = file_of(tmp_path, name, text)
    found = leadline("convert", source, tmp_path / "out.jsonl", *more)
    assert found.out.partition("; left out: ")[2].strip() == lost
    found = leadline("convert", source, "-", "--to", "jsonl", *more)
    assert found.err == (f"leadline: left out: {lost}\n" if lost else "")


def test_automatic_judges_are_counted_without_advice_on_values(leadline: Leadline, tmp_path: Path) -> None:
    source = file_of(tmp_path, "in.csv", b"query_id,doc_id,relevance,assessor\nq1,d1,1,gpt-4\n")
    said = leadline("convert", source, tmp_path / "out.qrels")
    assert "1 of 1 judgments is by an automatic judge (gpt-4)" in said.out + said.err
    assert "leadline evaluate" not in said.out + said.err


def test_judgments_go_to_quepid(leadline: Leadline, tmp_path: Path) -> None:
    qrels, run, target = tmp_path / "qrels", tmp_path / "a.run", tmp_path / "ratings.csv"
    qrels.write_bytes(QRELS)
    run.write_bytes(RUN)
    assert leadline("convert", qrels, target, "--to", "quepid").status == 0
    assert target.read_text() == 'query,docid,rating\n01,NA,0.5\nq1,d1,2\nq1,"d,2",0\n'
    assert read_qrels(target) == read_qrels(qrels)
    for given in ((run,), (qrels, "--config", "read.subtopics")):
        assert leadline("convert", given[0], tmp_path / "other.csv", "--to", "quepid", *given[1:]).refusal
    assert not (tmp_path / "other.csv").exists()


def test_merged_files_that_look_like_runs_are_read_as_qrels_on_request(
    leadline: Leadline, tmp_path: Path
) -> None:
    first = file_of(tmp_path, "a.txt", b"q1 0 d1 1\n")
    second = file_of(tmp_path, "b.csv", b"query_id,doc_id,rank,grade\nq1,d2,1,2\n")
    assert "has a column 'rank'" in leadline("convert", first, second, "-").refusal
    found = leadline("convert", first, second, "-", "--config", "read.kind=qrels")
    assert found.out == "q1 0 d1 1\nq1 0 d2 2\n"


def test_the_qrels_of_several_assessors_are_merged(leadline: Leadline, tmp_path: Path) -> None:
    ann, bob, eve = (
        file_of(tmp_path, name, text)
        for name, text in (
            ("ann", b"q1 0 d1 1\nq1 0 d2 1\nq2 0 d1 2\n"),
            ("bob", b"q1 0 d1 0\nq1 0 d2 1\nq1 0 d3 1\nq2 0 d1 -1\nq2 0 d4 -1\n"),
            ("eve.csv", b"query_id,doc_id,relevance\nq1,d1,1\n"),
        )
    )
    target = tmp_path / "all"
    found = leadline("convert", ann, bob, target)
    note = "pairs with several judges: 2 (1 with different grades, merged by majority, 1 tie resolved to"
    assert found.out == f"{target}: qrels, 2 queries, 5 judgments; {note} the lowest tied grade)\n"
    assert target.read_text() == "q1 0 d1 0\nq1 0 d2 1\nq1 0 d3 1\nq2 0 d1 2\nq2 0 d4 -1\n"
    again = tmp_path / "again.json"
    assert leadline("convert", ann, bob, eve, "-o", again).status == 0
    assert read_qrels(again).to_dict() == {"q1": {"d1": 1, "d2": 1, "d3": 1}, "q2": {"d1": 2, "d4": -1}}
    refused = leadline("merge", ann, bob).err
    assert "use `leadline fuse RUN RUN --method CombMAX --normalise none -o MERGED`" in refused
    assert refused.endswith("To merge judgments, use `leadline convert QRELS QRELS MERGED`.\n")


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (
            ("a.run", "ann"),
            (),
            "a.run: this is a run, but only qrels can be merged. To combine runs, use `leadline fuse`",
        ),
        (("ann", "a.run"), (), "a.run: this is a run, but only qrels can be merged"),
        (("ann", "drawn.csv"), (), "drawn.csv: leadline cannot merge sampled judgments"),
        (("ann", "ann"), ("-C", "read.subtopics"), "ann: leadline cannot merge judgments by subtopic"),
        (("ann", "out", "ann"), (), "ann already exists"),
    ],
)
def test_what_cannot_be_merged_is_refused(
    names: tuple[str, ...], more: tuple[str, ...], message: str, leadline: Leadline, tmp_path: Path
) -> None:
    file_of(tmp_path, "ann", b"q1 0 d1 1\n")
    file_of(tmp_path, "a.run", RUN)
    file_of(tmp_path, "drawn.csv", b"query_id,doc_id,relevance,probability\nq1,d1,1,0.5\n")
    target = () if len(names) > 2 else (tmp_path / "merged",)
    found = leadline("convert", *(tmp_path / name for name in names), *target, *more)
    assert (found.status, message in found.err) == (2, True), found.err
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (b"q1,d1,3\nq1,d2,2\n", "query_id,doc_id,score"),
        (b"q1 d1 1 3\nq1 d2 2 2\n", "query_id,doc_id,rank,score"),
    ],
)
def test_a_run_without_usual_columns_is_not_taken_for_qrels(
    text: bytes, columns: str, tmp_path: Path, leadline: Leadline
) -> None:
    source, target = file_of(tmp_path, "a", text), tmp_path / "out.run"
    for found in (leadline("convert", source, target), leadline("check", source)):
        assert f"--config read.columns={columns}" in found.out + found.err
    assert not target.exists()
    assert leadline("convert", source, target, "-C", f"read.columns={columns}").status == 0
    assert read_run(target).to_dict() == {"q1": {"d1": 3.0, "d2": 2.0}}


def test_judgments_by_subtopic_go_there_and_back(tmp_path: Path, leadline: Leadline) -> None:
    source = file_of(tmp_path, "a.qrels", b"q1 1 d1 1\nq1 2 d1 0\nq2 3 d1 2\n")
    for name in ("a.json", "a.csv", "a.jsonl", "b.qrels"):
        target = tmp_path / name
        found = leadline("convert", source, target, "-C", "subtopics=true")
        assert found == (0, f"{target}: qrels, 2 queries, 3 judgments\n", "")
        source = target
    assert source.read_bytes() == b"q1 1 d1 1\nq1 2 d1 0\nq2 3 d1 2\n"


def test_a_kind_told_by_numbers_alone_is_said(tmp_path: Path, leadline: Leadline) -> None:
    source = file_of(tmp_path, "a.json", b'{"q1": {"d1": 0.5, "d2": 0.25}}')
    found = leadline("convert", source, tmp_path / "a.run")
    assert found.err == (
        f"leadline: {source} was read as a run, because not all numbers are written as integers. If they are "
        "grades, add `--config read.kind=qrels`.\n"
    )
    assert leadline("convert", source, tmp_path / "a.qrels", "-C", "kind=qrels").err == ""
    source = file_of(tmp_path, "b.json", b'{"q1": {"d1": 2, "d2": 1}}')
    refusal = leadline("convert", source, tmp_path / "b.run", "-C", "order=rank").refusal
    assert "If they are scores, add `--config read.kind=run`." in refusal


def test_scores_replaced_by_ranks_are_said(tmp_path: Path, leadline: Leadline) -> None:
    found = leadline("convert", file_of(tmp_path, "a.run", RUN), tmp_path / "b.run", "-C", "order=rank")
    assert found.out.endswith("; left out: scores (replaced by negative ranks)\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"query_id,doc_id,rank\nq1,d1,1\nq1,d2,2\n"),
        ("a.jsonl", b'{"query_id": "q1", "doc_id": "d1", "rank": 1}\n'),
        ("a.json", b'{"q1": ["d1", "d2"]}'),
    ],
)
def test_a_run_without_scores_loses_none_by_ranks(
    tmp_path: Path, leadline: Leadline, name: str, content: bytes
) -> None:
    source = file_of(tmp_path, name, content)
    found = leadline("convert", source, tmp_path / "b.run", "-C", "order=rank")
    assert found.status == 0
    assert "left out" not in found.out


def test_a_list_of_json_records_without_scores_is_ordered_by_rank(tmp_path: Path, leadline: Leadline) -> None:
    source = file_of(tmp_path, "a.json", b'[{"query_id":"q1","doc_id":"d2","rank":2}]')
    assert "read.order=rank" in leadline("convert", source, "-").refusal
    assert leadline("convert", source, "-", "-C", "read.order=rank").out == "q1 Q0 d2 1 -2.0 a\n"


def test_a_folder_of_beir_says_which_files_it_leaves_out(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "beir/qrels").mkdir(parents=True)
    (tmp_path / "beir/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    (tmp_path / "beir/corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n')
    (tmp_path / "beir/queries.jsonl").write_text('{"_id": "q1", "text": "a"}\n')
    done = leadline("convert", tmp_path / "beir", tmp_path / "out", "--to", "trec")
    assert done.out.endswith("left out: corpus.jsonl, queries.jsonl\n")


def test_a_folder_of_beir_is_not_written_to_standard_output(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    assert "not standard output" in leadline("convert", tmp_path / "a.qrels", "-", "--to", "beir").refusal
    done = leadline("convert", tmp_path / "a.qrels", "-o", "-", "--to", "beir")
    assert "not standard output" in done.refusal
