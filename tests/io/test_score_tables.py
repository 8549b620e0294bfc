"""Tables of scores: every form gives the same results, and what is no table is refused with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import REPOSITORY
from leadline.errors import InputError, UsageError

SCORES = Path(__file__).parent / "scores"
PROGRAMS = SCORES.parent / "programs"
EXAMPLES = REPOSITORY / "docs" / "examples"
CELLS = [
    ("a", "q1", "AP", 0.5),
    ("a", "q1", "latency", 12.0),
    ("a", "q2", "AP", 0.25),
    ("a", "q2", "latency", 9.0),
    ("b", "q1", "AP", 1.0),
    ("b", "q1", "latency", 30.0),
    ("b", "q2", "AP", 0.0),
    ("b", "q2", "latency", 8.0),
]
INTERPOLATED = "IPrec(rule=trec10)@0.1"
NAMES = ("run", "query_id", "measure", "value")


def cells_of(results: ll.Results) -> list[tuple[str, str, str, float]]:
    """Return the values one by one."""
    frame = results.to_columns(per_query=True)
    return sorted(zip(frame["run"], frame["query"], frame["measure"], frame["value"], strict=True))


def text(rows: list[tuple[Any, ...]], header: tuple[str, ...], delimiter: str = ",") -> str:
    """Return a table as text."""
    return "".join(delimiter.join(map(str, row)) + "\n" for row in (header, *rows))


def by_measure(run: str | None = None) -> list[tuple[Any, ...]]:
    """Return rows with a column for each measure, of all runs or one."""
    rows = []
    for name in ("a", "b") if run is None else (run,):
        for query in ("q1", "q2"):
            values = [value for one, two, _, value in CELLS if (one, two) == (name, query)]
            rows.append((*((name,) if run is None else ()), query, *values))
    return rows


FORMS: dict[str, dict[str, str]] = {
    "long CSV": {"s.csv": text(CELLS, NAMES)},
    "long TSV with other names": {"s.tsv": text(CELLS, ("system", "qid", "metric", "score"), "\t")},
    "measures as columns": {"s.csv": text(by_measure(), ("run", "query", "AP", "latency"))},
    "a file a run": {
        f"{run}.csv": text(by_measure(run), ("query_id", "map", "latency")) for run in ("a", "b")
    },
    "runs as columns": {
        "s.csv": text(
            [("q1", "AP", 0.5, 1), ("q1", "latency", 12, 30), ("q2", "AP", 0.25, 0), ("q2", "latency", 9, 8)],
            ("qid", "measure", "a", "b"),
        )
    },
    "trec_eval": {
        f"{run}.txt": "".join(f"{m:<22}\t{q}\t{v}\n" for r, q, m, v in CELLS if r == run)
        + "map\tall\t0.1\nrunid\tall\tx\n"
        for run in ("a", "b")
    },
    "ir_measures": {
        f"{run}.tsv": "".join(f"{q}\t{m}\t{v}\n" for r, q, m, v in CELLS if r == run) + "all\tAP\t0.1\n"
        for run in ("a", "b")
    },
    "JSON records": {"s.json": json.dumps([dict(zip(NAMES, cell, strict=True)) for cell in CELLS])},
    "JSON Lines": {
        "s.jsonl": "".join(json.dumps(dict(zip(NAMES, cell, strict=True))) + "\n" for cell in CELLS)
    },
    "nested by query": {
        "s.json": json.dumps(
            {r: {q: {m: v for a, b, m, v in CELLS if (a, b) == (r, q)} for q in ("q1", "q2")} for r in "ab"}
        )
    },
    "nested by measure": {
        "s.json": json.dumps(
            {
                r: {m: {q: v for a, q, n, v in CELLS if (a, n) == (r, m)} for m in ("AP", "latency")}
                for r in "ab"
            }
        )
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_results(form: str, tmp_path: Path) -> None:
    for name, content in FORMS[form].items():
        (tmp_path / name).write_text(content)
    results = ll.read_scores([tmp_path / name for name in FORMS[form]], lower_is_better="latency")
    assert cells_of(results) == sorted(CELLS)
    assert {str(measure): measure.rising for measure in results.measures} == {"AP": True, "latency": False}
    assert results.mean("a", "map") == 0.375
    assert sum(entry["rows"] for entry in results.inputs) == 8


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("suffix", [None, ".parquet", ".feather"])
def test_frames_and_their_files_give_the_same_results(
    package: str, suffix: str | None, tmp_path: Path
) -> None:
    library = pytest.importorskip(package)
    columns = {name: [cell[place] for cell in CELLS] for place, name in enumerate(NAMES)}
    frame = library.table(columns) if package == "pyarrow" else library.DataFrame(columns)
    source: Any = frame
    if suffix is not None:
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table(columns)
        source = tmp_path / f"scores{suffix}"
        if suffix == ".parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, source)
        else:
            pytest.importorskip("pyarrow.feather").write_feather(table, source, compression="uncompressed")
    assert cells_of(ll.read_scores(source, lower_is_better=["latency"])) == sorted(CELLS)


def test_frames_by_run_and_rows_of_named_tuples_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    frames = {run: pandas.DataFrame(by_measure(run), columns=["qid", "map", "latency"]) for run in ("a", "b")}
    assert cells_of(ll.read_scores(frames)) == sorted(CELLS)
    rows = [dict(zip(NAMES, cell, strict=True)) for cell in CELLS]
    assert cells_of(ll.read_scores(rows)) == sorted(CELLS)
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = {"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": {"d": 1.0}, "q2": {"x": 2.0, "d": 1.0}}
    found = list(ir_measures.iter_calc([ir_measures.RR, ir_measures.P @ 1], qrels, run))
    values = ll.read_scores({"mine": found})
    assert values.names == ["mine"]
    assert (values.mean("mine", "RR"), values.mean("mine", "P@1")) == (0.75, 0.5)


def test_results_of_programs_are_those_of_leadline() -> None:
    ours = ll.evaluate(
        EXAMPLES / "qrels.txt",
        EXAMPLES / "bm25.run",
        ["AP", "nDCG@10", "P@5", "RR", "Rprec", INTERPOLATED, "Bpref"],
    )
    for name, measures in (
        ("trec_eval.txt", ["AP", "nDCG@10", "P@5", "RR", "Rprec", INTERPOLATED]),
        ("trec_eval_10.txt", ["AP", "P@5", "RR", "Rprec", "Bpref", INTERPOLATED]),
        ("ir_measures.tsv", ["AP", "nDCG@10"]),
        ("ir_measures.jsonl", ["AP", "nDCG@10"]),
    ):
        read = ll.read_scores(SCORES / name)
        assert set(measures) <= set(map(str, read.measures))
        run = read.names[0]
        assert run == name.rpartition(".")[0]
        for measure in measures:
            for query in ours.queries:
                expected = ours.value("bm25", query, measure)
                assert read.value(run, query, measure) == pytest.approx(expected, abs=6e-5)


def test_counts_of_trec_eval_are_left_out_and_said_unless_they_are_asked_for() -> None:
    read = ll.read_scores(SCORES / "trec_eval.txt")
    assert not {"NumRet", "NumRelRet", "NumQ"} & set(map(str, read.measures))
    assert [(notice.code, notice.count) for notice in read.warnings] == [("measures_left_out", 2)]
    asked = ll.read_scores(SCORES / "trec_eval.txt", measures=["num_ret"])
    assert list(map(str, asked.measures)) == ["NumRet"]


def test_names_of_trec_eval_8_mean_the_same() -> None:
    read = ll.read_scores(SCORES / "trec_eval_8.txt")
    assert set(map(str, read.measures)) == {"AP", "Rprec", INTERPOLATED, "P@10", "R@100"}
    assert read.value("trec_eval_8", "302", "P@10") == 0.7


def test_tasks_of_mteb_are_queries_and_folders_are_models(tmp_path: Path) -> None:
    folders = [SCORES / "mteb" / "first" / ("0123456789abcdef" * 2 + "01234567"), SCORES / "mteb" / "second"]
    read = ll.read_scores(folders)
    assert read.names == ["first", "team/second-model"]
    assert list(read.queries) == ["NFCorpus", "XQuAD"]
    assert read.values[:, :, 0].tolist() == [[0.31, pytest.approx(0.6)], [0.35, pytest.approx(0.55)]]
    assert ("averaged_tasks", 1) in [(notice.code, notice.count) for notice in read.warnings]
    parts = {"test": [{"main_score": 0.25}, {"main_score": 0.75}]}
    tasks = [[{"task_name": name, "scores": parts} for name in names] for names in ("AB", "BC")]
    models = [{"model_name": f"m{place}", "task_results": several} for place, several in enumerate(tasks)]
    (tmp_path / "both.json").write_text(json.dumps({"model_results": models}))
    read = ll.read_scores(tmp_path / "both.json", missing="zero")
    assert ("averaged_tasks", 3) in [(notice.code, notice.count) for notice in read.warnings]
    ndcg = ll.read_scores(folders, measures="ndcg_at_10")
    assert list(map(str, ndcg.measures)) == ["nDCG@10"]
    with pytest.raises(
        InputError, match=r"run 'first' has no AP@10 value for query 'XQuAD' \(missing values: 2 of 4\)"
    ):
        ll.read_scores(folders, measures="map_at_10")  # XQuAD has none


def test_a_collection_of_results_of_mteb_is_read(tmp_path: Path) -> None:
    task = json.loads((SCORES / "mteb" / "second" / "NFCorpus.json").read_text())
    other = task | {"task_name": "SciFact"}
    path = tmp_path / "all.json"
    models = [{"model_name": name, "task_results": [task, other]} for name in ("a", "b")]
    path.write_text(json.dumps({"model_results": models}))
    read = ll.read_scores(path)
    assert (read.names, list(read.queries)) == (["a", "b"], ["NFCorpus", "SciFact"])


def test_results_of_mteb_are_read_as_it_writes_them() -> None:
    folder = SCORES / "mteb" / "some__model" / "1"  # with NaN, and with a file of settings
    read = ll.read_scores(folder, measures=["AP@10", "ndcg_at_10", "RR@1", "hit_rate_at_3"])
    assert (read.names, list(read.queries)) == (["some/model"], ["Hydrology"])
    assert read.values.ravel().tolist() == [0.75, 0.81546, 0.5, 1.0]
    assert list(map(str, read.measures)) == ["AP@10", "nDCG@10", "RR@1", "Success@3"]
    ours = ll.evaluate(
        {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}, PROGRAMS / "mteb.json", ["AP@10", "nDCG@10"]
    )
    assert ours.means.ravel().tolist() == pytest.approx([0.75, 0.81546], abs=5e-6)
    with pytest.raises(
        InputError, match=r"run 'some/model' has no nauc_recall_at_3_max value for query 'Hydrology'"
    ):
        ll.read_scores(folder, measures="nauc_recall_at_3_max")


def test_values_of_ranx_are_those_of_leadline() -> None:
    ours = ll.evaluate(PROGRAMS / "ranx_qrels.json", PROGRAMS / "ranx.json", ["nDCG@10", "AP@100", "RR"])
    read = ll.read_scores(SCORES / "ranx.json")
    assert (read.names, list(map(str, read.measures))) == (["ranx"], ["nDCG@10", "AP@100", "RR"])
    assert read.values.ravel().tolist() == pytest.approx(ours.values.ravel().tolist(), rel=1e-14)
    with pytest.raises(InputError, match="report"):
        ll.read_scores(SCORES / "ranx_report.json")


def test_tables_of_experiments_of_pyterrier_are_read_by_query_only() -> None:
    read = ll.read_scores(SCORES / "pyterrier.csv")
    assert (read.names, list(map(str, read.measures))) == (["BM25", "PL2"], ["AP", "nDCG@10"])
    ours = ll.evaluate(
        {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}, PROGRAMS / "pyterrier.csv", ["AP", "nDCG@10"]
    )
    assert read.values[0].ravel().tolist() == pytest.approx(ours.values.ravel().tolist(), rel=1e-14)
    assert read.mean("PL2", "AP") == 0.75
    with pytest.raises(InputError, match=r"no query ids were found among the columns name, map, ndcg_cut_10"):
        ll.read_scores(SCORES / "pyterrier_means.csv")


@pytest.mark.parametrize("name", ["haystack.csv", "haystack.json", "haystack_results.json"])
def test_reports_and_results_of_haystack_are_values_of_queries(name: str) -> None:
    found = ll.read_scores([SCORES / name])
    assert found.to_dict(per_query=True)["runs"][0]["queries"] == {
        "q1": {"RR": 0.5, "recall": 1.0},
        "q2": {"RR": 1.0, "recall": 1.0},
    }


@pytest.mark.parametrize("name", ["ragas.csv", "ragas.jsonl"])
def test_tables_of_ragas_are_read_without_their_texts(name: str) -> None:
    ragas = ll.read_scores([SCORES / name], wide="measures")
    names = ["precision_with_reference", "recall"]
    assert list(map(str, ragas.measures)) == [
        *(f"non_llm_context_{one}" for one in names),
        "non_llm_string_similarity",
        "exact_match",
    ]
    assert ragas.value("ragas", "When was it?", "exact_match") == 1.0
    assert ragas.mean("ragas", "non_llm_context_precision_with_reference") == pytest.approx(0.75)
    left = next(notice for notice in ragas.warnings if notice.code == "columns_left_out")
    assert "response" in left.message
    assert left.count == 4


def test_columns_of_a_wide_table_are_runs_unless_they_name_measures(tmp_path: Path) -> None:
    path = tmp_path / "ap.tsv"
    path.write_text("topic\tacsys\tbrkly\n351\t0.5\t0.25\n352\t0.0\t1\n")
    read = ll.read_scores(path)
    assert (read.names, list(map(str, read.measures))) == (["acsys", "brkly"], ["AP"])  # called as the file
    assert [notice.code for notice in read.warnings] == ["columns_are_runs"]
    assert list(map(str, ll.read_scores(path, measures="bpref").measures)) == ["Bpref"]
    assert ll.read_scores(path, wide="measures").names == ["ap"]
    path.write_text("topic\tE\tF\n351\t0.5\t0.25\n")  # single letters may be runs as well
    assert ll.read_scores(path).names == ["E", "F"]


def test_columns_of_a_table_are_measures_where_the_caller_names_its_run() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query": ["q1", "q2"], "faithfulness": [0.5, 0.7], "answer_accuracy": [1, 0]})
    results = ll.read_scores({"rag_a": frame})
    assert results.names == ["rag_a"]
    assert [str(measure) for measure in results.measures] == ["faithfulness", "answer_accuracy"]
    assert results.mean("rag_a", "faithfulness") == pytest.approx(0.6)
    assert ll.read_scores({"latency": frame}, wide="runs").names == ["faithfulness", "answer_accuracy"]


def test_means_of_training_steps_are_not_values_of_queries(tmp_path: Path) -> None:
    path = tmp_path / "Information-Retrieval_evaluation_results.csv"
    path.write_text("epoch,steps,cosine-Accuracy@1,cosine-MRR@10\n0.5,100,0.61,0.7\n1.0,200,0.63,0.72\n")
    for read in (ll.read_scores, ll.read_run, ll.read_qrels):
        with pytest.raises(InputError, match="means from a sentence-transformers evaluator"):
            read(path)
    path.write_text("query,epoch,steps,AP\nq1,1,100,0.5\n")
    assert "AP" in map(str, ll.read_scores(path, wide="measures").measures)


def test_the_first_column_names_the_query_if_no_other_does(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("topic_row,a,b\n1,0.5,0.25\n2,0.5,0.75\n")
    assert list(ll.read_scores(path).queries) == ["1", "2"]
    path.write_text("a,b\n0.5,0.25\n0.5,0.75\n")
    with pytest.raises(InputError, match="no query ids were found among the columns"):
        ll.read_scores(path)


REFUSED: dict[str, tuple[str, str]] = {
    "text in a column of values": ("query,a,b\nq1,0.5,high\n", ":2: 'high' in column 'b'"),
    "NaN": ("query,a,b\nq1,0.5,0.2\nq2,nan,1\n", ":3: 'nan' in column 'a'"),
    "infinity": ("query,a,b\nq1,0.5,inf\n", ":2: inf in column 'b'"),
    "a repeated value": (
        "query,run,measure,value\nq1,a,AP,0.5\nq1,a,AP,0.5\n",
        ":3: AP of run 'a' for query 'q1' a",
    ),
    "two names of one measure": ("query,run,map,AP\nq1,a,0.5,0.5\n", "map and AP both mean AP"),
    "two columns of a name": ("query,a,a\nq1,0.5,0.5\n", "column 'a' appears twice"),
    "a ragged row": ("query,a,b\nq1,0.5\n", ":2: the row has 2 cells"),
    "a line of two columns in trec_eval": (
        "map all 0.5\nmap q1 0.5\nmap 0.5\n",
        ":3: the line has 2 columns",
    ),
    "no layout": ("x y 0.5\nz w 0.7\n", "names the measures"),
    "a ranking": ("q1 Q0 d1 1 0.5 tag\n", "This looks like a run, but per-query values are needed here."),
    "judgments": ("q1 0 d1 1\n", "This looks like qrels, but per-query values are needed here."),
    "means only": ("map all 0.5\n", "only means o"),
    "runs twice": (
        "query,run,measure,a,b\nq1,x,AP,1,1\n",
        "the table has the columns run and measure, but no column called value or score",
    ),
    "no values": ("query,run\nq1,a\n", "values"),
    "no values below comments": ("# a\n# b\nquery,run\nq1,a\n", "bad.txt:3: no values"),
    "an empty file": ("", "contains no scores"),
    "a run without a name": ("query,run,AP\nq1,,1\n", ":2: there is no run name in column 'run'"),
    "mixed records": (
        '{"query": "q1", "AP": 1}\n{"query": "q2", "RR": 1}\n',
        ":2: the fields (query, RR) differ from those of the first entry (query, AP)",
    ),
    "JSON": ('{"query": "q1", "AP": 1}\nquery\n', "JSON"),
    "a printed comparison": (
        '{"leadline": "0.2.0", "command": "compare", "differences": []}',
        "with -f json",
    ),
    "a value of JSON that is text": ('[{"query": "q1", "AP": "x"}]', "use null"),
    "a value of JSON Lines that is text": (
        '{"query": "q1", "AP": 1}\n{"query": "q2", "AP": "x"}\n',
        ":2: 'x' in column 'AP' is not a number. If the value is missing, use null (in Python, None).",
    ),
    "an infinite value by query": ('{"q1": 0.5, "q2": Infinity}', "for query 'q2' is not a finite number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused_in_one_line_with_its_place(case: str, tmp_path: Path) -> None:
    content, said = REFUSED[case]
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        ll.read_scores(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_value_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("query,run,AP\nq1,a,0.5\nq2,a,1\n")
    with pytest.raises(InputError, match=r"two.csv:2: AP of run 'a' .* \(first at .*one.csv:2\)"):
        ll.read_scores([tmp_path / "one.csv", tmp_path / "two.csv"])


GAPS = "query,run,AP,latency\nq1,a,0.5,3\nq2,a,1,4\nq1,b,0.25,\nq3,b,0.75,2\n"


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_rows_of_means_in_written_results_are_no_query(suffix: str, tmp_path: Path) -> None:
    runs = {"b": {"1": ["x", "d"], "2": ["d"]}, "a": {"1": ["d"], "2": ["d"]}}
    path = tmp_path / f"values.{suffix}"
    ll.evaluate({"1": {"d": 1}, "2": {"d": 1}}, runs, ["AP", "RR"]).write(path, per_query=True)
    frames = map(pytest.importorskip, ("pandas", "polars") if suffix == "csv" else ())
    for source in (path, *(library.read_csv(path) for library in frames)):
        found = ll.read_scores(source)
        assert (list(found.queries), found.mean("b", "AP")) == (["1", "2"], 0.75)
        assert ("rows_of_means", 2) in [(one.code, one.count) for one in found.warnings]
        assert found.names == ["b", "a"]  # as named: the order decides about the sign of a difference


def test_missing_values_are_refused_with_count_and_example(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text(GAPS)
    with pytest.raises(
        InputError, match=r"run 'a' has no AP value for query 'q3' \(missing values: 5 of 12\)"
    ):
        ll.read_scores(path)


def test_missing_values_count_nought_or_leave_their_queries_out(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text(GAPS)
    zero = ll.read_scores(path, missing="zero")
    assert [zero.mean(run, "AP") for run in "ab"] == [0.5, pytest.approx(1 / 3)]
    assert [(one.code, one.count) for one in zero.warnings] == [("assumed_direction", 1), ("missing_zero", 5)]
    drop = ll.read_scores(path, measures="AP", missing="drop")
    assert [drop.mean(run, "AP") for run in "ab"] == [0.5, 0.25]
    assert [(one.code, one.count) for one in drop.warnings] == [("missing_dropped", 2)]
    with pytest.raises(
        InputError, match="no query has latency values for every run, so missing='drop' leaves no queries"
    ):
        ll.read_scores(path, missing="drop")
    with pytest.raises(UsageError, match="lower values of latency are better"):
        ll.read_scores(path, missing="zero", lower_is_better="latency")


def test_the_direction_of_an_unknown_measure_is_said() -> None:
    rows = {"a": {"q": {"AP": 0.5, "latency": 1.0}}}
    (said,) = ll.read_scores(rows).warnings
    assert (said.code, said.count) == ("assumed_direction", 1)
    assert "latency" in said.message
    assert "AP" not in said.message
    assert not ll.read_scores(rows, lower_is_better="latency").warnings
    assert not ll.read_scores(rows, measures="AP").warnings


def test_a_direction_of_an_unknown_name_is_not_advised_for_known_measures() -> None:
    with pytest.raises(UsageError, match=r"no measure 'ms'\. Use latency"):
        ll.read_scores({"a": {"q": {"AP": 0.5, "latency": 1.0}}}, lower_is_better="ms")
    with pytest.raises(UsageError, match=r"no measure 'ms'(?!.*AP)"):
        ll.read_scores({"a": {"q": {"AP": 0.5}}}, lower_is_better="ms")


def test_a_value_repeated_in_a_second_table_in_memory_names_the_first() -> None:
    rows = {"a": {"q": {"AP": 0.5}}}
    with pytest.raises(InputError, match=r"\(first at table 1, record 1\)"):
        ll.read_scores([rows, rows])


def test_directions_of_known_measures_cannot_be_turned() -> None:
    rows = {"a": {"q": {"AP": 0.5, "latency": 1.0}}}
    for name, said in (("map", "higher values of AP are better"), ("speed", "no measure 'speed'")):
        with pytest.raises(UsageError, match=said):
            ll.read_scores(rows, lower_is_better=name)


def test_values_outside_the_range_of_a_measure_are_kept_with_a_warning() -> None:
    rows = {run: {q: {"nDCG@10": 40.0 + n} for n, q in enumerate("xyz")} for run in "ab"}
    read = ll.read_scores(rows)
    assert [notice.code for notice in read.warnings] == ["outside_range"]
    assert getattr(read.measures[0], "high", 1.0) == math.inf
    assert read.mean("a", "ndcg@10") == 41.0


def test_results_of_tables_are_restored_from_json_with_their_directions() -> None:
    rows = {run: {q: {"latency": 1.0 + n} for n, q in enumerate("xyz")} for run in "ab"}
    read = ll.read_scores(rows, lower_is_better="latency")
    again = ll.Results.from_json(read.to_json())
    assert again.to_dict(per_query=True) == read.to_dict(per_query=True)
    assert not again.measures[0].rising


def test_printed_estimates_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "printed.json"
    run = {"name": "a", "queries": {"q": {"AP": 1}}, "estimate": {"AP": {"these_low": 0.1}}}
    path.write_text(json.dumps({"leadline": "0", "options": {"pool": None}, "runs": [run]}))
    with pytest.raises(InputError, match="the sample itself is missing"):
        ll.read_scores(path)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_values_of_queries_say_that_they_are_estimates(tmp_path: Path, suffix: str) -> None:
    judged = {f"q{n}": {"d": 1} for n in range(12)}
    pool = {query: {"d": 1.0, "e": 0.5} for query in judged}
    runs = {name: {query: {name: 1.0} for query in judged} for name in "de"}
    values = ll.evaluate(judged, runs, "P@1", pool=pool).per_query()
    values.write(tmp_path / f"values.{suffix}")
    for source in (values, tmp_path / f"values.{suffix}"):
        with pytest.raises(InputError, match="the sample itself is missing"):
            ll.read_scores(source)


def test_saved_results_and_tables_are_not_mixed(tmp_path: Path) -> None:
    saved, table = tmp_path / "saved.json", tmp_path / "table.csv"
    results = ll.evaluate(EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run", "AP")
    results.write(saved)
    table.write_text("query,run,AP\nq1,a,0.5\n")
    assert ll.read_scores(saved).mean("bm25", "AP") == results.mean("bm25", "AP")
    with pytest.raises(UsageError, match=r"saved result, .*table.csv is not "):
        ll.read_scores([saved, table])


names = st.text("abcq1-", min_size=1, max_size=3)


@given(
    st.lists(names, min_size=1, max_size=3, unique=True),
    st.lists(names, min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(["AP", "nDCG@10", "latency", "P@5"]), min_size=1, max_size=3, unique=True),
    st.randoms(use_true_random=False),
)
def test_any_long_table_is_its_dictionary(
    runs: list[str], queries: list[str], measures: list[str], drawing: Any
) -> None:
    truth = {(r, q, m): round(drawing.random(), 3) for r in runs for q in queries for m in measures}
    rows = [{"run": r, "qid": q, "metric": m, "value": v} for (r, q, m), v in truth.items()]
    drawing.shuffle(rows)
    read = ll.read_scores(rows)
    assert {(r, q, m): v for r, q, m, v in cells_of(read)} == truth
    for run in runs:
        for measure in measures:
            plain = sum(truth[run, query, measure] for query in queries) / len(queries)
            assert read.mean(run, measure) == pytest.approx(plain)


def test_a_large_table_takes_time_in_proportion(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "large.tsv"
    lines = [f"q{q}\tr{r}\tAP\t{v:.4f}" for r in range(50) for q, v in enumerate(rng.random(400))]
    path.write_text("query\trun\tmeasure\tvalue\n" + "\n".join(lines) + "\n")
    read = ll.read_scores(path)
    assert read.values.shape == (50, 400, 1)
    check: Callable[[float], bool] = math.isfinite
    assert all(map(check, read.means.ravel().tolist()))


def test_json_with_a_number_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text('{"q1": {"AP": ' + "1" * 5000 + "}}")
    with pytest.raises(InputError, match=r"scores\.json: contains a number with too many digits"):
        ll.read_scores(path)


def test_saved_results_need_to_share_only_the_measures_that_are_asked_for(tmp_path: Path) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["b", "a"]}
    for name, measures in (("one", ["AP", "RR"]), ("two", ["RR", "P@1", "AP"]), ("three", ["RR", "AP"])):
        ll.evaluate(qrels, {name: run}, measures).write(tmp_path / f"{name}.json")
    paths = [str(tmp_path / f"{name}.json") for name in ("one", "two", "three")]
    assert ll.read_scores(paths, measures="AP").means.tolist() == [[0.5]] * 3
    assert list(map(str, ll.read_scores([paths[0], paths[2]]).measures)) == ["AP", "RR"]
    with pytest.raises(UsageError, match="different measures"):
        ll.read_scores(paths)


@pytest.mark.parametrize("measures", [["AP", "AP"], ["map", "AP"]])
def test_a_measure_named_twice_still_names_the_values_of_a_wide_table(
    measures: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("query_id,old,new\nq1,0.1,0.2\nq2,0.3,0.2\n")
    assert ll.read_scores(path, measures=measures).mean("old", "AP") == 0.2


def test_a_saved_result_with_scores_in_memory_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    ll.evaluate({"q": {"d": 1}}, {"a": {"q": ["d"]}}, "AP").write(path)
    with pytest.raises(UsageError, match="the scores in memory are not "):
        ll.read_scores([path, {"b": {"q": {"AP": 0.5}}}])
