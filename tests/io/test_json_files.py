"""Runs and judgments as programs write them: the same lists from every one, and faults in one line."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from conftest import REPOSITORY, Leadline
from leadline.errors import InputError
from leadline.evaluation.evaluate import evaluate
from leadline.io.formats import content_of, opened
from leadline.io.judges import read_judges
from leadline.io.objects import read_qrels, read_run
from leadline.io.run_names import run_name

PROGRAMS = Path(__file__).parent / "programs"
RUN = {"q1": {"d2": 2.5, "d1": 0.5}, "q2": {"d3": 1.0}}
QRELS = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
LISTS_OF = {  # lists of programs that write more documents, or ids that are numbers
    "sentence_transformers.jsonl": {"q1": {"d2": 2.5, "d1": 0.5}, "q2": {"d3": 1.0, "d1": 0.25}},
    "mteb.json": {"q1": {"d2": 2.5, "d1": 0.5, "d3": 0.25}, "q2": {"d3": 1.0, "d1": 0.25, "d2": 0.0}},
    "pyserini.json": {"1": RUN["q1"], "2": RUN["q2"]},
}
RUNS = tuple(
    """
        sentence_transformers.jsonl mteb.json rank_llm.jsonl rank_llm.json dpr.json pyserini.json
        cast.json ikat.json elasticsearch.jsonl elasticsearch.json vespa.json hugging_face.json
    """.split()
)
HEADERLESS = (
    "ms_marco.tsv",
    "tevatron.tsv",
    "colbert.tsv",
    "ntcir.txt",
    "ntcir_letters.txt",
)  # test_tables.py
TABLES = (
    *("ranx.json", "ranx.parquet", "ranx_qrels.json", "ranx_qrels.parquet", "ranx.lz4"),
    *("pyterrier.csv", "pyterrier.res", "pyterrier_minimal.tsv"),
)
RANKED = {"q1": {"d2": -1, "d1": -2}, "q2": {"d3": -1}}
IDS_AS_TEXT = (
    "query_id,retrieved_context_ids\nq1,['d1']\n",
    "user_input,retrieved_context_ids,reference_context_ids\nq1,['d1'],['d1']\n",
    "user_input,retrieved_contexts,retrieved_context_ids\nq1,['a text'],['d1']\n",
)
BOTH = ("llama_index.jsonl", "ragas_dataset.jsonl")  # hold a run and judgments
ANSWERS = ("trec_rag.jsonl", "trec_rag_2025.jsonl")
IN_ORDER = ("msearch.json", "search.jsonl")  # without ids of queries
FOLDERS = {"hugging_face_disk", "hugging_face_disk_run"}
JUDGMENTS = tuple(
    """
        umbrela.jsonl quepid.csv rank_eval.json opensearch.json rre.json rre_grades.json rre_quepid.json
        quepid_book.json quepid_case.json
    """.split()
)


def written(folder: Path, value: Any, name: str = "a.json") -> Path:
    path = folder / name
    lines = value if name.endswith(".jsonl") else [value]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def refusal(read: Any, path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as rejected:
        read(path, **options)
    assert "\n" not in str(rejected.value)
    return str(rejected.value)


COMMON_RUNS = (
    "beir.txt",
    *(f"ir_datasets_scoreddocs.{suffix}" for suffix in ("txt", "jsonl", "tsv")),
    *(f"hugging_face_run.{suffix}" for suffix in ("jsonl", "csv", "parquet")),
)
COMMON_JUDGMENTS = (
    "beir_qrels.tsv",
    *("ir_datasets_qrels.txt", "ir_datasets_qrels.jsonl"),
    *(f"hugging_face_qrels.{suffix}" for suffix in ("jsonl", "csv", "parquet")),
)
COMMON = (*COMMON_RUNS, *COMMON_JUDGMENTS, "ir_datasets_qrels.tsv")


def test_every_file_is_named() -> None:
    files = {path.name for path in PROGRAMS.iterdir() if path.is_file() or path.name in FOLDERS}
    others = {"kilt.jsonl", "quepid_detail.csv", "llama_index_dataset.json", "relevance_score.jsonl"}
    others |= {"usearch.json", "rank_eval_response.json", "quepid_book.csv", "quepid_snapshot.csv"}
    tested = {*RUNS, *JUDGMENTS, *HEADERLESS, *TABLES, *COMMON, *BOTH, *ANSWERS, *IN_ORDER, *FOLDERS, *others}
    assert files == {*tested, "README.md", "make.py"}
    listed = (PROGRAMS / "README.md").read_text()
    assert all(f"`{name}`" in listed for name in files - {"README.md"})
    page = (REPOSITORY / "docs" / "program-files.md").read_text()
    table = page.partition("| program | version |")[2].partition("\n\n")[0]
    rows = [line.split("|")[4] for line in table.splitlines()[2:]]
    assert all(re.findall("`[^`]+`", row) for row in rows)
    made = (PROGRAMS / "make.py").read_text() + (PROGRAMS.parent / "scores" / "README.md").read_text()
    for cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]):
        program, version, what, names, maker = cells
        assert program
        assert what
        assert maker in {"program", "hand"}
        assert version or maker == "hand", program
        if maker == "program":  # the script that ran the program names its version or its file
            assert all(version in made + listed for version in re.findall(r"[\d.]+", version)), program
            assert all(f"`{name}" in made + listed for name in re.findall("`([^`]+)`", names)), program
    in_table = {name for row in rows for name in re.findall("`([^`]+)`", row)}
    scores = {path.name for path in (PROGRAMS.parent / "scores").iterdir()} - {"README.md"}
    assert in_table == tested | scores


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("suffix", [True, False])
def test_runs_of_every_program_are_read(name: str, suffix: bool, tmp_path: Path) -> None:
    path = PROGRAMS / name
    if not suffix:
        path = tmp_path / "results"
        path.write_bytes((PROGRAMS / name).read_bytes())
    assert read_run(path).to_dict() == LISTS_OF.get(name, RUN)
    assert read_run(path).name == run_name(str(path))
    if name not in {"mteb.json", "hugging_face.json"}:  # which say nothing about what they are
        assert content_of(opened(str(path), read=True))[0] == "run"
        assert "QRELS RUN" in refusal(read_qrels, path)


@pytest.mark.parametrize("name", [name for name in RUNS if name not in {"mteb.json", "hugging_face.json"}])
def test_the_order_of_a_list_is_its_ranks(name: str) -> None:
    expected = {}
    for query, found in LISTS_OF.get(name, RUN).items():
        falling = sorted((-score, document) for document, score in found.items())
        expected[query] = {document: -rank for rank, (_, document) in enumerate(falling, start=1)}
    assert read_run(PROGRAMS / name, order="rank").to_dict() == expected


@pytest.mark.parametrize(
    "name", ["ranx.json", "ranx.parquet", "pyterrier.csv", "pyterrier.res", *COMMON_RUNS]
)
def test_runs_of_programs_in_common_formats_are_read(name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    columns = "query_id,doc_id,score" if name == "ir_datasets_scoreddocs.tsv" else None
    assert read_run(PROGRAMS / name, columns=columns).to_dict() == RUN


@pytest.mark.parametrize("name", ["ranx_qrels.json", "ranx_qrels.parquet", *COMMON_JUDGMENTS])
def test_judgments_of_programs_are_read(name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    assert read_qrels(PROGRAMS / name).to_dict() == QRELS


def test_exported_judgments_without_a_header_need_the_names_of_their_columns() -> None:
    columns = "query_id,doc_id,grade,iteration"
    assert read_qrels(PROGRAMS / "ir_datasets_qrels.tsv", qrels_columns=columns).to_dict() == QRELS


def test_what_programs_write_and_nobody_else_reads_is_refused_with_a_way_out(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    features = tmp_path / "case_1_ltr.txt"
    features.write_text("\n3 qid:1 # d1 q1\n\n0 qid:1 # d2 q1\n")
    assert "export CSV or TREC files" in refusal(read_qrels, features)
    book = tmp_path / "book_export_1.json.zip"
    with zipfile.ZipFile(book, "w") as archive:
        archive.write(PROGRAMS / "quepid_book.json")
    assert "is a ZIP archive. Unpack the archive" in refusal(read_qrels, book)
    found = refusal(read_run, PROGRAMS / "ranx.lz4")  # CBOR, compressed twice
    assert found.endswith("In ranx, save the run as .json or .parquet.")
    path = PROGRAMS / "pyterrier_minimal.tsv"  # ranks from 0
    assert "3 columns but no header" in refusal(read_run, path)
    read = read_run(path, columns="query_id,doc_id,rank").to_dict()
    assert read == {"q1": {"d2": 0, "d1": -1}, "q2": {"d3": 0}}


@pytest.mark.parametrize("name", JUDGMENTS)
def test_judgments_of_every_program_are_read(name: str) -> None:
    path = PROGRAMS / name
    assert read_qrels(path).to_dict() == QRELS
    assert content_of(opened(str(path), read=True))[0] == "qrels"
    assert refusal(read_run, path)


def test_ratings_that_are_empty_are_no_judgments_and_counted(tmp_path: Path) -> None:
    assert [each[::2] for each in read_qrels(PROGRAMS / "quepid.csv").remarks] == [("unrated", 2)]
    path = written(tmp_path, [{"query": "q1", "docid": "d1", "rating": None}])
    assert "contains no judgments" in refusal(read_qrels, path)
    ratings = [{"docid": "d1", "rating": None}, {"docid": "d2", "rating": 2}, {"docid": "d3", "rating": 0}]
    listed = read_qrels(written(tmp_path, [{"query": "q1", "ratings": ratings}], "listed.json"))
    assert listed.to_dict() == {"q1": {"d2": 2, "d3": 0}}
    assert [each[::2] for each in listed.remarks] == [("unrated", 1)]
    path.write_text("query,docid,grade\nq1,d1,\n")
    assert "grade ''" in refusal(read_qrels, path)


@pytest.mark.parametrize("name", BOTH)
def test_results_with_what_was_expected_are_a_run_and_judgments(name: str, leadline: Leadline) -> None:
    path = PROGRAMS / name
    assert read_run(path).to_dict() == RANKED
    assert read_qrels(path).to_dict() == {"q1": {"d1": 1}, "q2": {"d3": 1}}
    found = leadline("evaluate", path, path, "-m", "RR", "-f", "json").data
    assert found["runs"][0]["mean"] == {"RR": 0.75}


@pytest.mark.parametrize("name", ANSWERS)
def test_references_of_answers_are_runs(name: str) -> None:
    assert read_run(PROGRAMS / name).to_dict() == RANKED
    assert "QRELS RUN" in refusal(read_qrels, PROGRAMS / name)


@pytest.mark.parametrize("name", IN_ORDER)
def test_responses_without_query_ids_are_in_the_order_of_the_queries(
    name: str, tmp_path: Path, leadline: Leadline
) -> None:
    path, queries = PROGRAMS / name, tmp_path / "queries.jsonl"
    queries.write_text('{"query_id": "q1", "text": "a"}\n{"query_id": "q2", "text": "b"}\n')
    assert read_run(path, queries_in=queries).to_dict() == RUN
    assert read_run(path, queries_in=["x", "b"]).to_dict() == {"x": RUN["q1"], "b": RUN["q2"]}
    assert refusal(read_run, path).endswith(
        "If a file lists the query ids in the order of the results, pass it as `queries_in`."
    )
    assert "the number of lists (2) differs from the number of queries (1)" in refusal(
        read_run, path, queries_in=["q1"]
    )
    given = ("evaluate", PROGRAMS / "rre.json", path, "-m", "RR", "-f", "json")
    found = leadline(*given, "--config", f"read.queries_in={queries}").data
    assert found["runs"][0]["mean"] == {"RR": 0.75}


def test_responses_to_rank_eval_are_runs_whose_ratings_are_no_judgments(tmp_path: Path) -> None:
    path = PROGRAMS / "rank_eval_response.json"
    assert read_run(path).to_dict() == RUN
    assert "QRELS RUN" in refusal(read_qrels, path)
    assert read_run(written(tmp_path, {"details": {"d1": 1.0}})).to_dict() == {"details": {"d1": 1.0}}


def test_a_failed_search_in_a_response_to_many_is_named(tmp_path: Path) -> None:
    made = json.loads((PROGRAMS / "msearch.json").read_text())
    made["responses"][1] = {"error": {"type": "some"}, "status": 400}
    path = written(tmp_path, made)
    assert "query 'q2' has the fields error, status, but no list at 'hits.hits'" in refusal(
        read_run, path, queries_in=["q1", "q2"]
    )


def test_detailed_exports_of_quepid_are_a_run_in_order_and_judgments() -> None:
    path = PROGRAMS / "quepid_detail.csv"
    assert read_qrels(path).to_dict() == QRELS
    assert read_run(path, order="rank").to_dict() == {**RANKED, "q3": {}}  # a row without documents
    assert "`order='rank'`" in refusal(read_run, path)


def test_snapshots_and_books_of_quepid_are_runs_in_order() -> None:
    assert read_run(PROGRAMS / "quepid_snapshot.csv", order="rank").to_dict() == RANKED
    read = read_run(PROGRAMS / "quepid_book.json", order="rank").to_dict()
    assert read == {"q1": {"d2": -1, "d1": -2, "d3": -3}, "q2": {"d3": -1}}


def test_books_of_quepid_are_judgments_of_several_judges(tmp_path: Path) -> None:
    table = read_qrels(PROGRAMS / "quepid_book.csv")
    book = read_qrels(PROGRAMS / "quepid_book.json")
    assert table.to_dict() == book.to_dict() == QRELS
    assert table.votes == book.votes == {"q1": {"d1": (3, 3, 2)}}
    assert [each[::2] for each in table.remarks] == [("columns_are_judges", 3), ("merged", 2)]
    assert [each[::2] for each in book.remarks] == [("merged", 2), ("unrated", 1)]  # one is not rateable
    said = [
        [judge.qrels.to_dict() for judge in read_judges([PROGRAMS / f"quepid_book.{suffix}"])]
        for suffix in ("csv", "json")
    ]
    ben = {"q1": {"d2": 0, "d1": 2}, "q2": {"d3": 1}}
    assert said == [[{"q1": {"d2": 0, "d1": 3}}, ben, {"q1": {"d1": 3}}]] * 2
    path = tmp_path / "a.csv"
    for header in ("query,docid,title", "query,docid,Ann,title", "query,docid,raiting", "query_id,docid,Ann"):
        path.write_text(f"{header}\nq1,d1,{'1,' * (header.count(',') - 2)}a text\n")
        found = f"among the columns {header.replace(',', ', ')} because no column is called relevance"
        assert f"no grades were found {found}" in refusal(read_qrels, path)
    broken = json.loads((PROGRAMS / "quepid_book.json").read_text())
    del broken["query_doc_pairs"][1]["doc_id"]
    assert "record 2: the record has the fields query_text" in refusal(read_qrels, written(tmp_path, broken))


def test_results_of_haystack_are_a_run_judgments_and_values(tmp_path: Path, leadline: Leadline) -> None:
    paths = PROGRAMS.parent / "scores" / "haystack_results.json", tmp_path / "other.json"
    assert read_run(paths[0]).to_dict() == RANKED
    assert read_qrels(paths[0]).to_dict() == {"q1": {"d1": 1}, "q2": {"d3": 1}}
    paths[1].write_bytes(paths[0].read_bytes())
    assert "per-query values" in leadline("compare", *paths, "-m", "recall").err
    mixed = ("compare", PROGRAMS / "rre.json", *paths, "-m", "RR")
    assert f"{paths[0]} contains per-query values" in leadline(*mixed).err
    assert "read.kind=qrels" in leadline(*mixed).err
    assert leadline(*mixed, "-C", "kind=qrels").status == 0


def test_datasets_of_programs_are_judgments() -> None:
    path = PROGRAMS / "llama_index_dataset.json"
    assert read_qrels(path).to_dict() == {"q1": {"d1": 1}, "q2": {"d3": 1}}
    assert "s judgments" in refusal(read_run, path)
    pytest.importorskip("pyarrow")
    assert read_qrels(PROGRAMS / "hugging_face_disk").to_dict() == QRELS
    assert read_qrels(PROGRAMS / "hugging_face_disk" / "test").to_dict() == QRELS


def test_a_folder_of_a_dataset_is_one_run(leadline: Leadline) -> None:
    pytest.importorskip("pyarrow")
    folder = PROGRAMS / "hugging_face_disk_run"
    assert read_run(folder).to_dict() == RUN
    judgments = PROGRAMS / "hugging_face_disk"
    done = leadline("evaluate", judgments, folder, f"named={folder}", "-m", "RR", "-f", "json")
    assert [one["name"] for one in done.data["runs"]] == ["hugging_face_disk_run", "named"]
    expected = leadline("evaluate", judgments, PROGRAMS / "hugging_face_run.csv", "-m", "RR", "-f", "json")
    assert done.data["runs"][0]["mean"] == expected.data["runs"][0]["mean"]


def test_a_dataset_of_several_splits_needs_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["dev", "train"]}')
    assert "a dataset whose split folders are missing" in refusal(read_qrels, tmp_path)
    for split in ("dev", "train"):
        (tmp_path / split).mkdir()
    assert str(tmp_path / "dev") in refusal(read_qrels, tmp_path)


def test_scores_of_rerankers_and_neighbours_of_usearch_are_runs() -> None:
    assert read_run(PROGRAMS / "relevance_score.jsonl").to_dict() == RUN
    found = json.loads((PROGRAMS / "usearch.json").read_text())
    run = ll.run_of_arrays(
        found["keys"], found["distances"], ["q1", "q2"], documents=["d1", "d2", "d3"], lower_is_better=True
    )
    assert [list(documents) for documents in run.to_dict().values()] == [["d2", "d1"], ["d3", "d1"]]


def test_texts_in_place_of_ids_are_refused_by_name(tmp_path: Path) -> None:
    path = PROGRAMS.parent / "scores" / "ragas.jsonl"
    assert "rename them to 'retrieved_context_ids'" in refusal(read_run, path)
    path = written(tmp_path, [{"query": "q1", "passage": "a text", "judgment": 2}], "judged.jsonl")
    assert "'passage'" in refusal(read_qrels, path)
    path = written(tmp_path, [{"passage": "a text", "docid": "d1", "score": 2}], "found.jsonl")
    assert "Rename the column with the query ids to 'query_id'" in refusal(read_run, path)
    path = tmp_path / "ragas.csv"
    for text in IDS_AS_TEXT:
        path.write_text(text)
        assert "'retrieved_context_ids' must contain lists of ids" in refusal(read_run, path)
    for name in ("doc_id", "id"):
        path = written(tmp_path, [{"query_id": "q1", name: "d1", "passage": "a text"}], "unscored.jsonl")
        assert "Rename the column with the scores to 'score'" in refusal(read_run, path)
    path = written(tmp_path, [{"query_ids": "q1", "docno": "d1", "score": 2}], "a.jsonl")
    assert "Did you mean 'query_id' instead of 'query_ids'?" in refusal(read_run, path)


def test_pages_of_kilt_are_ranked_in_a_run_and_relevant_in_qrels(tmp_path: Path) -> None:
    path = PROGRAMS / "kilt.jsonl"
    assert read_run(path).to_dict() == {"q1": {"d2": -1, "d1": -2}, "q2": {"d3": -1}}
    assert read_qrels(path).to_dict() == {"q1": {"d2": 1, "d1": 1}, "q2": {"d3": 1}}
    page = {"provenance": [{"wikipedia_id": "d1"}]}
    path = written(tmp_path, [{"id": "q1", "output": [page, page]}], "gold.jsonl")
    assert read_qrels(path).to_dict() == {"q1": {"d1": 1}}  # one page, named by two answers
    assert content_of(opened(str(path), read=True))[0] == "run"


def test_parts_of_mteb_are_named(tmp_path: Path, leadline: Leadline) -> None:
    other = {"q1": {"d1": 1.0}}
    value = {"mteb_model_meta": {}, "default": {"test": RUN, "dev": other}, "de": {"test": other}}
    path = written(tmp_path, value, "Task_predictions.json")
    assert refusal(read_run, path).endswith(f"Use {path}#default/test, {path}#default/dev or {path}#de/test.")
    part = f"{path}#default/test"
    assert read_run(part).to_dict() == RUN
    assert read_run(part).name == "Task_predictions#default/test"
    assert "no part #en/test. Use " in refusal(read_run, Path(f"{path}#en/test"))
    found = leadline(
        "evaluate", PROGRAMS / "rre.json", part, f"{path}#de/test", "-m", "RR", "-f", "json"
    ).data
    assert [run["mean"]["RR"] for run in found["runs"]] == [0.75, 0.5]
    assert found["inputs"][1]["sha256"] == found["inputs"][2]["sha256"] is not None
    odd = written(tmp_path, {"q1": {"d1": 1.0}}, "a#b.json")
    assert read_run(odd).to_dict() == other
    assert "MTEB predictions" in refusal(read_run, Path(f"{odd}#default/test"))


def test_lists_of_ids_and_of_pairs_are_read(tmp_path: Path) -> None:
    ranked = {"q1": {"d2": -1, "d1": -2}}
    assert read_run(written(tmp_path, [{"query_id": "q1", "results": ["d2", "d1"]}])).to_dict() == ranked
    numbers = read_run(written(tmp_path, [{"query_id": 1, "results": [12, 7]}]))
    assert numbers.to_dict() == {"1": {"12": -1, "7": -2}}
    path = written(tmp_path, [{"query_id": "q1", "relevant": ["d2", "d1"]}])
    assert read_qrels(path).to_dict() == {"q1": {"d2": 1, "d1": 1}}
    for value in (
        {"q1": [["d2", 2.5], ["d1", 0.5]], "q2": [["d3", 1.0]]},
        {
            "q1": [{"doc_id": "d2", "score": 2.5}, {"doc_id": "d1", "score": 0.5}],
            "q2": [{"doc_id": "d3", "score": 1}],
        },
        [{"qid": "q1", "results": {"d2": 2.5, "d1": 0.5}}, {"qid": "q2", "results": {"d3": 1}}],
    ):
        assert read_run(written(tmp_path, value)).to_dict() == RUN


def test_queries_may_be_called_as_members_of_programs_are(tmp_path: Path) -> None:
    value = {name: {"d1": 1.0} for name in ("results", "hits", "relevant", "query", "turns", "rows", "root")}
    assert read_run(written(tmp_path, value)).to_dict() == value
    assert read_qrels(written(tmp_path, value)).to_dict() == value
    lists = {name: ["d1"] for name in value}
    assert set(read_run(written(tmp_path, lists)).to_dict()) == set(value)


def test_a_query_without_results_is_no_fault(tmp_path: Path) -> None:
    empty = {"root": {"id": "toplevel", "fields": {"totalCount": 0}}}
    full = {"root": {"children": [{"id": "d1", "relevance": 1.0}]}}
    assert read_run(written(tmp_path, {"q1": empty, "q2": full})).to_dict() == {"q1": {}, "q2": {"d1": 1.0}}
    assert "contains no documents" in refusal(read_run, written(tmp_path, {"q1": empty}))


def test_hits_without_scores_are_ranked_as_they_stand(tmp_path: Path) -> None:
    hits = [{"_id": "d2", "_score": None, "sort": [9]}, {"_id": "d1", "_score": None, "sort": [8]}]
    path = written(tmp_path, {"q1": {"hits": {"hits": hits}}})
    assert read_run(path).to_dict() == {"q1": {"d2": -1, "d1": -2}}


ONE = {"query_id": "q1", "results": [{"corpus_id": "d1", "score": 1.0}]}
FAULTS: dict[str, tuple[Any, str]] = {
    "a list without ids": (
        [{"query_id": "q1", "results": [{"score": 1.0}]}],
        "a.json, record 1: the first entry has the field score, but no document id (text or a whole number)",
    ),
    "an id that is no id": (
        [{"query_id": "q1", "doc_ids": [1.5]}],
        "a.json, record 1: the first entry is of type float, but must be a document id (text or a whole",
    ),
    "an id missing later": (
        [ONE, {"query_id": "q2", "results": [{"id": "d1", "score": 1.0}]}],
        "a.json, record 2: entry 1 for query 'q2' has no 'corpus_id', unlike earlier entries",
    ),
    "no query id": (
        [{"question": "why", "ctxs": [{"id": "d1", "score": "1"}]}],
        "the record has the fields question, ctxs, but no query id (text or a whole number) in a field",
    ),
    "another query id": (
        [ONE, {"qid": "q2", "results": []}],
        "a.json, record 2: the record has the fields qid, results, but no 'query_id'",
    ),
    "an unknown level": (
        [ONE, {"query_id": "q2", "found": {"results": []}}],
        (
            "a.json, record 2: the value for query 'q2' has the fields query_id, found, but no list at "
            "'results'"
        ),
    ),
    "a record that is no object": (
        [ONE, "q2"],
        ", record 2: the record is of type text, but must be an object with 'query_id'",
    ),
    "an empty record": ([ONE, {}], "a.json, record 2: the record is an empty object, with no 'query_id'"),
    "a number in place of a response": (
        {"q1": {"hits": {"hits": [{"_id": "d1", "_score": 1.0}]}}, "q2": 7},
        "the value for query 'q2' is of type int, but must be an object with a list at 'hits.hits'",
    ),
    "mixed records": (
        [{"query_id": "q1", "results": [{"corpus_id": "d1", "score": 1.0}, "d2"]}],
        "record 1: entry 2 for query 'q1' is of type text, but earlier entries are objects with 'corpus_id'",
    ),
    "a score missing later": (
        [{"query_id": "q1", "results": [{"corpus_id": "d1", "score": 1.0}, {"corpus_id": "d2"}]}],
        "document 'd2' for query 'q1' has no value in 'score', unlike earlier documents",
    ),
    "a score missing first": (
        [{"query_id": "q1", "results": [{"corpus_id": "d1"}, {"corpus_id": "d2", "score": 1.0}]}],
        "document 'd2' for query 'q1' has a value in 'score', unlike earlier documents",
    ),
    "an empty list under another name first": (
        [{"query_id": "q0", "hits": []}, ONE],
        "record 1: the value for query 'q0' has the fields query_id, hits, but no list at 'results'",
    ),
    "judgments without a query id": ({"ratings": [{"_id": "d1", "rating": 1}]}, "judgments, not a run"),
    "a score that is no number": (
        [{"query_id": "q1", "results": [{"corpus_id": "d1", "score": "high"}]}],
        "a.json, record 1: score 'high' of document 'd1' for query 'q1' is not a number",
    ),
    "a document twice": (
        [{"query_id": "q1", "results": [{"corpus_id": "d1", "score": 1.0}] * 2}],
        ", record 1: document 'd1' appears twice for query 'q1'",
    ),
    "a response without a query id": (
        {"took": 5, "hits": {"total": {"value": 1}, "hits": [{"_id": "d1", "_score": 1.0}]}},
        ": the results have no query id. Use {query id: response}, or JSON Lines",
    ),
    "no parts": ({"mteb_model_meta": {}}, ": predictions"),
    "another task": ({"mteb_model_meta": {}, "a": {"b": [1, 0]}}, "task other than retrieval. Retrieval"),
    "a page of many": (
        {"rows": [{"row": {"qid": "q1", "docno": "d1", "score": 1.0}}], "num_rows_total": 1000},
        "is incomplete (1 of 1,000 rows). Download all rows of the dataset",
    ),
    "a part of a page": (
        {"rows": [{"row": {"qid": "q1", "docno": "d1", "score": 1.0}}], "partial": True},
        "is incomplete (1 row). Download all rows of the dataset",
    ),
    "a page with a cell cut off": (
        {"rows": [{"row": {"qid": "q1", "docno": "d", "score": 1.0}, "truncated_cells": ["docno"]}]},
        ", record 1: the dataset viewer truncated cells of this record. Download the dataset itself",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_one_line_with_their_place(fault: str, tmp_path: Path) -> None:
    value, message = FAULTS[fault]
    path = written(tmp_path, value)
    assert message in refusal(read_run, path)
    assert str(path) in refusal(read_run, path)


def test_a_file_of_unknown_kind_is_refused_for_what_it_contains(tmp_path: Path, leadline: Leadline) -> None:
    judged = written(tmp_path, {"ratings": [{"_id": "d1", "rating": 1}]}, "judged.json")
    found = written(tmp_path, [{"results": [{"doc_id": "d1", "score": 1.0}]}] * 2, "found.json")
    assert "the judgments have no query id" in leadline("check", judged).out
    assert "read.queries_in" not in leadline("convert", judged, tmp_path / "a.run").refusal
    assert "--config read.queries_in=QUERIES" in leadline("convert", found, tmp_path / "a.run").refusal
    assert "--config read.queries_in=QUERIES" in leadline("check", found).out
    assert "queries_in" not in refusal(read_qrels, found)  # which has no such keyword


def test_check_names_the_record_of_a_fault(tmp_path: Path, leadline: Leadline) -> None:
    path = written(tmp_path, [ONE, {"results": []}])
    assert "record 2: the record has the field results, but no 'query_id'" in leadline("check", path).out


def test_grades_are_in_all_entries_or_in_none(tmp_path: Path) -> None:
    path = written(tmp_path, [{"query_id": "q1", "ratings": [{"docid": "d1"}, {"docid": "d2", "grade": 2}]}])
    assert "document 'd2' for query 'q1' has a value in 'grade', unlike" in refusal(read_qrels, path)


def test_lines_are_named_in_json_lines(tmp_path: Path) -> None:
    path = written(tmp_path, [ONE, {"query_id": "q2", "results": [{"corpus_id": "d1"}]}], "a.jsonl")
    assert refusal(read_run, path).startswith(
        f"{path}:2: document 'd1' for query 'q2' has no value in 'score'"
    )
    assert read_run(written(tmp_path, [{**ONE, "query_id": 7}], "b.jsonl")).to_dict() == {"7": {"d1": 1.0}}


def test_the_names_of_other_tools_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for query, document in (("topic_id", "corpus_id"), ("topic", "item_id"), ("user_id", "docid")):
        for grade in ("gain", "judgment", "rating", "label"):
            path.write_text(f"{query},{document},{grade}\nq1,d1,2\n")
            assert read_qrels(path).to_dict() == {"q1": {"d1": 2}}
        path.write_text(f"{query},{document},score\nq1,d1,2.5\n")
        assert read_run(path).to_dict() == {"q1": {"d1": 2.5}}


def dumped(value: Any, **options: Any) -> str:
    return json.dumps(value, **options)


LISTS = {"q1": [("d2", 2.5), ("d1", 0.5)], "q2": [("d3", 1.0)]}
# The statements by which programs write: json.dumps(merged_data, indent=4) + "\n" (DPR).
FILES_BY_WRITERS = {
    "dpr.json": dumped(
        [
            {
                "id": query,
                "question": query,
                "answers": ["a"],
                "ctxs": [
                    {"id": document, "title": "t", "text": "x", "score": str(score), "has_answer": False}
                    for document, score in found
                ],
            }
            for query, found in LISTS.items()
        ],
        indent=4,
    )
    + "\n"
}


@pytest.mark.parametrize("name", FILES_BY_WRITERS)
def test_what_the_statements_of_writers_make_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FILES_BY_WRITERS[name])
    assert read_run(path).to_dict() == RUN


IDS = ("doc_id", "docid", "docId", "corpus_id", "_id", "id", "wikipedia_id", "docno")
LISTED = tuple("results ctxs contexts candidates children provenance passage_provenance ratings".split())


def changed(value: Any, change: Any, key: str = "") -> Any:
    """Return a value with a change of every list of records."""
    if isinstance(value, list):
        records = key in LISTED or (
            key == "hits" and any("_id" in each for each in value if isinstance(each, dict))
        )
        return change(value) if records and value else [changed(each, change, key) for each in value]
    if isinstance(value, dict):
        return {name: changed(each, change, name) for name, each in value.items()}
    return value


def without_ids(records: list[Any]) -> list[Any]:
    return [{name: each[name] for name in each if name not in IDS} for each in records]


BAD = {
    "a list without ids": without_ids,
    "mixed": lambda records: [*records, "d9"],
    "no list": lambda _: "none",
}


@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("name", [*RUNS, "kilt.jsonl", "rank_eval.json", "opensearch.json"])
def test_bad_variants_of_the_files_of_every_program_are_one_line(
    fault: str, name: str, tmp_path: Path
) -> None:
    if name in {"mteb.json", "hugging_face.json"}:  # no lists of records by query
        pytest.skip("tested above")
    text = (PROGRAMS / name).read_text()
    values = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    bad = changed(values, BAD[fault])
    assert bad != values
    path = written(tmp_path, bad, name)
    assert str(path) in refusal(read_qrels if name in JUDGMENTS else read_run, path)


@pytest.mark.parametrize("name", [*RUNS, *JUDGMENTS, "kilt.jsonl"])
def test_an_unknown_level_in_the_file_of_every_program_is_one_line(name: str, tmp_path: Path) -> None:
    text = (PROGRAMS / name).read_text()
    for level in (
        *LISTED,
        *"hits root turns responses output rows row relevant_documents rating judgment".split(),
    ):
        text = text.replace(f'"{level}":', f'"x{level}":')
    text = text.replace('"test":', '"test": [1], "x":').replace("docid,rating", "docid,xrating")
    path = tmp_path / name
    path.write_text(text)
    assert str(path) in refusal(read_qrels if name in JUDGMENTS else read_run, path)


EMPTY_FIRST = [
    '{"query_id": "q1", "hits": []}\n{"query_id": "q2", "hits": [{"doc_id": "d", "score": 1.0}]}\n',
    '{"qid": "q1", "results": []}\n{"qid": "q2", "results": {"d": 1.0}}\n',
    '{"query_id": "q2", "ctxs": [{"id": "d", "score": "1.0"}]}\n{"query_id": "q1", "ctxs": []}\n',
    '{"q1": {"hits": {"hits": []}}, "q2": {"hits": {"hits": [{"_id": "d", "_score": 1.0}]}}}',
    '{"q1": [], "q2": [{"doc_id": "d", "score": 1.0}]}',
    '{"q1": {}, "q2": {"d": 1.0}, "q1": {}}',
]


@pytest.mark.parametrize("text", EMPTY_FIRST)
def test_an_empty_list_states_that_nothing_was_found(tmp_path: Path, text: str) -> None:
    path = tmp_path / ("a.jsonl" if text.endswith("\n") else "a.json")
    path.write_text(text)
    run = read_run(path)
    assert run.to_dict() == {"q1": {}, "q2": {"d": 1.0}}
    results = evaluate({"q1": {"d": 1}, "q2": {"d": 1}}, path, "RR")
    assert (results.means[0, 0], results.present.tolist()) == (0.5, [[True, True]])


@pytest.mark.parametrize("name", ["docids", "doc_ids"])
def test_lists_of_ids_have_several_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"query_id": "q1", "{name}": ["d2", "d1"]}}\n{{"query_id": "q2", "{name}": []}}\n')
    assert read_run(path).to_dict() == {"q1": {"d2": -1, "d1": -2}, "q2": {}}


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".tsv", ".run", ".parquet"])
def test_empty_lists_are_written_or_counted(leadline: Leadline, tmp_path: Path, suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    lists: dict[str, dict[str, float]] = {"q1": {}, "q2": {"b": 2.0, "a": 1.0}, "q3": {}}
    source, target = written(tmp_path, lists), tmp_path / f"b{suffix}"
    fused = tmp_path / f"c{suffix}"
    done = leadline("convert", str(source), str(target))
    fusion = leadline("fuse", str(source), str(source), "-o", str(fused))
    held = suffix in {".json", ".jsonl"}
    for path, said in ((target, done), (fused, fusion)):
        assert set(read_run(path).queries) == (set(lists) if held else {"q2"})
        assert ("left out: 2 queries without documents" in said.out + said.err) == (not held)
    assert not held or read_run(target).to_dict() == lists


def test_a_byte_order_mark_hides_no_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"query_id": "q1", "doc_id": " 7 ", "rank": 1, "score": 1.5}\n')
    assert read_run(path).to_dict() == {"q1": {" 7 ": 1.5}}


def test_a_part_of_a_file_without_parts_is_refused_by_the_name_of_the_file(tmp_path: Path) -> None:
    for name, text in (("a.run", "q1 Q0 d1 1 1 t\n"), ("a.json", '{"q1": {"1": {"d1": 1}}}')):
        path = tmp_path / name
        path.write_text(text)
        found = f"{path}: has no part #x. Only MTEB predictions have parts."
        assert refusal(read_run, Path(f"{path}#x")) == found
        assert refusal(read_qrels, Path(f"{path}#x"), subtopics=True) == found


def test_judgements_of_a_book_that_are_no_objects_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text('{"query_doc_pairs": [{"query_text": "q", "doc_id": "d", "judgements": [3]}]}')
    assert refusal(read_qrels, path) == f"{path}, record 1: 'judgements' must be a list of objects"


def test_lists_of_relevant_documents_have_no_subtopics(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"query_id": "q1", "relevant_ids": ["d1"]}\n')
    found = f"{path}: has no subtopics, but subtopics=True needs a column 'subtopic'"
    assert refusal(read_qrels, path, subtopics=True) == found
