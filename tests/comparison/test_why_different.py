"""The cause of differences between tables, of which every one is made by running two programs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from leadline.comparison.why_different import WhyDifferent, why_different
from leadline.comparison.why_different_conventions import Conventions
from leadline.comparison.why_different_search import decimals_of, measure_of, read_table
from leadline.errors import InputError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.score_results import read_scores
from leadline.io.objects import Qrels, write_qrels, write_run
from leadline.measures import MEASURES

QrelsOf = dict[str, dict[str, int]]
RunOf = dict[str, dict[str, float]]
RANX = Path(__file__).parent / "ranx_values.json"


def collection(
    seed: int, *, queries: int = 20, listed: int = 30, levels: int = 4, tied: int = 0, numbered: bool = False
) -> tuple[QrelsOf, RunOf]:
    """Return judgments and a run: `tied` is the number of distinct scores, and 0 that all differ."""
    random = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(60)]
    qrels: QrelsOf = {}
    run: RunOf = {}
    for number in range(queries):
        query = names[number] if numbered else f"q{number}"
        judged = random.choice(names, size=35, replace=False).tolist()
        grades = random.integers(0, levels, size=len(judged)).tolist()
        qrels[query] = dict(zip(judged, grades, strict=True)) | {judged[0]: levels - 1}
        found = random.choice(names, size=listed, replace=False).tolist()
        scores = random.permutation(listed) if not tied else random.integers(0, tied, size=listed)
        run[query] = dict(zip(found, map(float, scores.tolist()), strict=True))
    return qrels, run


def by_pytrec_eval(qrels: QrelsOf, run: RunOf, name: str, *, level: int = 1) -> dict[str, dict[str, float]]:
    """Return the values of pytrec_eval, as its dictionaries."""
    package: Any = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    found: dict[str, dict[str, float]] = package.RelevanceEvaluator(
        qrels, {name}, relevance_level=level
    ).evaluate(run)
    return found


def by_ir_measures(qrels: QrelsOf, run: RunOf, name: str, path: Path) -> str:
    """Write the values of ir_measures as its command line does with -q."""
    package: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    measure = package.parse_measure(name)
    found = list(package.iter_calc([measure], qrels, run))
    lines = [f"{each.query_id}\t{each.measure}\t{each.value:.4f}\n" for each in found]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def by_mteb(qrels: QrelsOf, run: RunOf) -> dict[str, dict[str, float]]:
    """Return nDCG@10 as MTEB does: by pytrec_eval, without the documents that have the id of the query."""
    rest = {
        query: {name: score for name, score in found.items() if name != query} for query, found in run.items()
    }
    return by_pytrec_eval(qrels, rest, "ndcg_cut_10")


def by_mteb_rr(qrels: QrelsOf, run: RunOf) -> dict[str, dict[str, float]]:
    """Return RR@10 as MTEB does: a stable sort by falling score, and 0 below rank 10."""
    values = {}
    for query, found in run.items():
        top = sorted(found.items(), key=lambda item: item[1], reverse=True)[:10]
        ranks = [rank for rank, (name, _) in enumerate(top, start=1) if qrels[query].get(name, 0) > 0]
        values[query] = {"mrr@10": 1 / ranks[0] if ranks else 0.0}
    return values


def by_trec_eval(
    leadline: Leadline, folder: Path, qrels: QrelsOf, run: RunOf, name: str, profile: str
) -> str:
    """Write the output of `trec_eval -q` under the rules of one of its versions."""
    write_qrels(qrels, folder / "qrels.txt")
    write_run(run, folder / "a.run")
    found = leadline(
        "evaluate", str(folder / "qrels.txt"), str(folder / "a.run"), "-m", name, "-f", "trec", "-q",
        "--profile", profile,
    )  # fmt: skip
    assert found.status == 0
    path = folder / f"{profile}.txt"
    path.write_text(found.out, encoding="utf-8")
    return str(path)


def by_leadline(qrels: QrelsOf, run: RunOf, name: str) -> dict[str, dict[str, float | None]]:
    """Return our per-query values; None is undefined."""
    found = evaluate(qrels, {"mine": run}, name).to_dict(per_query=True)
    values: dict[str, dict[str, float | None]] = found["runs"][0]["queries"]
    return values


def all_explained(found: WhyDifferent, cause: str) -> None:
    assert found.different
    assert found.cause == cause, found.to_dict()
    assert found.not_explained == []
    assert not found.pair
    assert found.causes[0].contradicted == 0


# Pairs of programs that differ in one convention.


def test_trec_eval_9_compares_scores_as_32_bit_floats(leadline: Leadline, tmp_path: Path) -> None:
    qrels, run = collection(1)
    run = {
        query: {name: 1000 + score * 1e-6 for name, score in found.items()} for query, found in run.items()
    }
    files = [by_trec_eval(leadline, tmp_path, qrels, run, "map", name) for name in ("trec9", "trec10")]
    found = why_different(*files, qrels=qrels, run=run)
    all_explained(found, "single_precision")
    assert (found.causes[0].a, found.causes[0].b) == ("single", "double")


def test_trec_eval_9_and_10_round_recall_levels_differently(leadline: Leadline, tmp_path: Path) -> None:
    qrels, run = collection(2, levels=3, queries=60, listed=50)
    name = "iprec_at_recall.0.3"
    files = [by_trec_eval(leadline, tmp_path, qrels, run, name, each) for each in ("trec9", "trec10")]
    found = why_different(*files, qrels=qrels, run=run)
    all_explained(found, "rule")
    assert (found.causes[0].a, found.causes[0].b) == ("trec9", "trec10")


def test_pytrec_eval_leaves_missing_queries_out() -> None:
    qrels, run = collection(3)
    for query in ("q3", "q11", "q12"):
        del run[query]
    found = why_different(
        by_pytrec_eval(qrels, run, "map"), by_leadline(qrels, run, "map"), qrels=qrels, run=run
    )
    all_explained(found, "missing_queries")
    assert found.different == ["q11", "q12", "q3"]


def test_ranx_orders_ties_its_own_way() -> None:
    data = json.loads(RANX.read_text(encoding="utf-8"))["ties"]
    theirs = by_pytrec_eval(data["qrels"], data["run"], "map")
    found = why_different(data["values"], theirs, qrels=data["qrels"], run=data["run"])
    assert found.cause == "ties", found.to_dict()
    assert found.not_explained == []


def test_ranx_gives_no_gain_below_the_level() -> None:
    data = json.loads(RANX.read_text(encoding="utf-8"))["level"]
    theirs = by_pytrec_eval(data["qrels"], data["run"], "ndcg_cut_10")
    found = why_different(data["values"], theirs, qrels=data["qrels"], run=data["run"], measure="nDCG@10")
    all_explained(found, "gain")


def test_ranx_does_not_divide_the_grades_of_rbp() -> None:
    data = json.loads(RANX.read_text(encoding="utf-8"))["gain"]
    assert max(data["values"].values()) > 1
    results = evaluate(data["qrels"], data["run"], "RBP(gain=graded,max_grade=3)", rel=1)
    for query, value in data["values"].items():
        divided = results.value("run", query, results.measures[0])
        assert 3 * divided == pytest.approx(value, rel=1e-12)
    ours = evaluate(data["qrels"], data["run"], "RBP")
    binary = {query: ours.value("run", query, "RBP") for query in data["values"]}
    found = why_different(data["values"], binary, qrels=data["qrels"], run=data["run"], measure="RBP")
    all_explained(found, "gain")
    assert (found.causes[0].a, found.causes[0].b) == ("undivided", "binary")


def test_ir_measures_orders_ties_of_rr_by_ascending_id(tmp_path: Path) -> None:
    qrels, run = collection(4, levels=2, listed=10, tied=3)
    ours = by_ir_measures(qrels, run, "RR@10", tmp_path / "irm.txt")
    found = why_different(
        f"{ours}:RR@10", by_pytrec_eval(qrels, run, "recip_rank"), qrels=qrels, run=run, measure="RR"
    )
    all_explained(found, "ties")
    assert (found.causes[0].a, found.causes[0].b) == ("ascending_id", "descending_id")


def test_mteb_drops_the_document_with_the_id_of_the_query(leadline: Leadline, tmp_path: Path) -> None:
    qrels, run = collection(5, numbered=True)
    ours = by_trec_eval(leadline, tmp_path, qrels, run, "ndcg_cut.10", "trec10")
    all_explained(why_different(by_mteb(qrels, run), ours, qrels=qrels, run=run), "identical_ids")


def test_mteb_orders_ties_of_rr_as_they_come() -> None:
    qrels, run = collection(6, levels=2, listed=10, tied=3)
    theirs = by_pytrec_eval(qrels, run, "recip_rank")
    found = why_different(by_mteb_rr(qrels, run), theirs, qrels=qrels, run=run)
    all_explained(found, "ties")
    assert found.causes[0].a == "input_order"


def test_ir_measures_has_exponential_gains(tmp_path: Path) -> None:
    graded, ranked = collection(7)  # gdeval, which ir_measures runs, wants numbers for queries
    qrels = {query.removeprefix("q"): found for query, found in graded.items()}
    run = {query.removeprefix("q"): found for query, found in ranked.items()}
    theirs = by_ir_measures(qrels, run, "nDCG(dcg='exp-log2')@10", tmp_path / "irm.txt")
    found = why_different(
        f"{theirs}:nDCG(dcg='exp-log2')@10",
        by_pytrec_eval(qrels, run, "ndcg_cut_10"),
        qrels=qrels,
        run=run,
        measure="nDCG@10",
    )
    all_explained(found, "gain")
    assert (found.causes[0].a, found.causes[0].b) == ("exp", "linear")


def test_ir_measures_removes_unjudged_documents(tmp_path: Path) -> None:
    qrels, run = collection(8)
    theirs = by_ir_measures(qrels, run, "nDCG(judged_only=True)@10", tmp_path / "irm.txt")
    found = why_different(
        theirs, by_pytrec_eval(qrels, run, "ndcg_cut_10"), qrels=qrels, run=run, measure="nDCG@10"
    )
    all_explained(found, "unjudged")


def test_pytrec_eval_with_another_relevance_level() -> None:
    qrels, run = collection(9)
    tables = [by_pytrec_eval(qrels, run, "map", level=level) for level in (2, 1)]
    found = why_different(*tables, qrels=qrels, run=run)
    all_explained(found, "level")
    assert (found.causes[0].a, found.causes[0].b) == ("2", "1")


def test_a_dictionary_keeps_the_last_of_repeated_documents(tmp_path: Path) -> None:
    qrels, run = collection(10, listed=20)
    random = np.random.default_rng(10)
    rows = [(query, name, score) for query, found in run.items() for name, score in found.items()]
    again = [rows[place] for place in random.choice(len(rows), size=60, replace=False)]
    rows += [(query, name, float(random.integers(20))) for query, name, _ in again]
    path = tmp_path / "repeats.run"
    lines = [f"{query} Q0 {name} 0 {score} tag\n" for query, name, score in rows]
    path.write_text("".join(lines), encoding="utf-8")
    last: RunOf = {query: {} for query in run}
    for query, name, score in rows:
        last[query][name] = score
    best = evaluate(qrels, str(path), "map", on_duplicate="max").to_dict(per_query=True)
    found = why_different(
        by_pytrec_eval(qrels, last, "map"), best["runs"][0]["queries"], qrels=qrels, run=str(path)
    )
    all_explained(found, "duplicates")
    assert (found.causes[0].a, found.causes[0].b) == ("last", "max")


def test_queries_without_relevant_documents_are_0_in_pytrec_eval() -> None:
    qrels, run = collection(11)
    for query in ("q2", "q5"):
        qrels[query] = dict.fromkeys(qrels[query], 0)
    found = why_different(
        by_pytrec_eval(qrels, run, "map"), by_leadline(qrels, run, "AP"), qrels=qrels, run=run
    )
    all_explained(found, "no_relevant")


def test_another_cutoff() -> None:
    qrels, run = collection(12)
    tables = [by_pytrec_eval(qrels, run, name) for name in ("ndcg_cut_10", "ndcg_cut_20")]
    found = why_different(*tables, qrels=qrels, run=run, measure="nDCG@10")
    assert found.cause == "cutoff"
    assert found.not_explained == []


def test_lists_cut_before_evaluation() -> None:
    qrels, run = collection(13)
    cut = {query: dict(sorted(found.items(), key=lambda item: -item[1])[:10]) for query, found in run.items()}
    tables = [by_pytrec_eval(qrels, one, "map") for one in (run, cut)]
    found = why_different(*tables, qrels=qrels, run=run)
    assert {cause.cause for cause in found.causes if not set(found.different) - set(cause.explained)} >= {
        "depth"
    }
    assert found.not_explained == []


# More than one cause, and what is not known.


def test_two_causes_are_found_together() -> None:
    qrels, run = collection(14, levels=2, listed=10, tied=3)
    for query in ("q1", "q7"):
        del run[query]
    theirs = by_mteb_rr(qrels, run)
    ours = by_leadline(qrels, run, "RR")
    found = why_different(theirs, ours, qrels=qrels, run=run, measure="RR")
    assert {cause.cause for cause in found.pair} == {"ties", "missing_queries"}
    assert found.not_explained == []
    assert len(found.pair[0].explained) == len(found.different) > len(found.causes[0].explained)


def test_a_convention_that_both_share_is_said() -> None:
    qrels, run = collection(15, listed=20, tied=4)
    judged = Qrels(qrels)
    conventions = Conventions(run, judged, MEASURES.parse("AP"), list(run))
    tables = [
        dict(zip(run, conventions.values({"level": "2", "ties": name}).tolist(), strict=True))
        for name in ("ascending_id", "descending_id")
    ]
    found = why_different(*tables, qrels=qrels, run=run, measure="AP")
    assert found.cause == "ties"
    assert "grade 2 or more" in found.causes[0].common
    assert found.not_explained == []


@pytest.mark.parametrize("measure", ["Hole@5", "NoAnswer(above=0)"])
def test_measures_of_documents_and_scores_are_computed(measure: str) -> None:
    qrels, run = collection(15, listed=20)
    ours = {query: {measure: 0.25} for query in run}
    found = why_different(ours, {query: {measure: 0.5} for query in run}, qrels=qrels, run=run)
    assert len(found.not_explained) == len(run)


def test_values_of_no_known_convention_are_not_explained() -> None:
    qrels, run = collection(16)
    ours = by_pytrec_eval(qrels, run, "map")
    random = np.random.default_rng(16)
    theirs = {query: {"map": float(random.random())} for query in ours}
    found = why_different(ours, theirs, qrels=qrels, run=run)
    assert len(found.different) == 20
    assert len(found.not_explained) >= 19
    one = {query: dict(row) for query, row in ours.items()}
    one["q4"]["map"] += 0.1
    found = why_different(ours, one, qrels=qrels, run=run)
    assert found.not_explained == ["q4"]
    assert found.to_dict()["unexplained_queries"] == ["q4"]


def test_equal_tables_have_no_cause() -> None:
    qrels, run = collection(17)
    ours = by_pytrec_eval(qrels, run, "map")
    found = why_different(ours, ours, qrels=qrels, run=run)
    assert (found.cause, found.different, found.causes) == (None, [], [])
    assert len(found.printed_tables()[0].rows) == 1


# The numbers alone.


def test_rounding_is_seen_without_a_run(leadline: Leadline, tmp_path: Path) -> None:
    qrels, run = collection(18)
    text = by_trec_eval(leadline, tmp_path, qrels, run, "map", "trec10")
    found = why_different(text, by_pytrec_eval(qrels, run, "map"))
    assert found.cause == "rounding"
    assert (found.numbers[0].a, found.numbers[0].b) == ("4 decimals", "full precision")
    assert found.different == []
    assert len(found.groups["rounding"]) == len(found.numbers[0].explained) > 0


def test_per_cent_and_32_bit_values_are_seen_without_a_run() -> None:
    values = {f"q{number}": {"map": 1 / (number + 3)} for number in range(9)}
    hundredfold = {query: {"map": 100 * row["map"]} for query, row in values.items()}
    found = why_different(values, hundredfold, measure="AP")
    assert found.cause == "scale"
    assert found.different == []
    narrow = {query: {"map": float(np.float32(row["map"]))} for query, row in values.items()}
    assert why_different(values, narrow).cause == "arithmetic"


def test_a_mean_that_counts_missing_queries_as_0_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("map\tq1\t0.5000\nmap\tq2\t0.3000\nmap\tall\t0.2000\n", encoding="utf-8")
    other = {f"q{number}": {"map": value} for number, value in enumerate((0.5, 0.3, 0.1, 0.3), start=1)}
    found = why_different(str(path), other)
    assert {one.code: one.count for one in found.warnings} == {"mean_of_a": 2, "not_tried": 1}
    assert found.different == ["q3", "q4"]
    assert found.to_dict()["queries"]["only_b"] == 2


def test_a_constant_factor_is_said() -> None:
    values = {f"q{number}": {"x": 1 / (number + 3)} for number in range(9)}
    other = {query: {"x": row["x"] * math.log(2)} for query, row in values.items()}
    assert "constant_factor" in {one.code for one in why_different(values, other).warnings}


def test_means_alone_are_compared() -> None:
    qrels, run = collection(19)
    tables = [
        {"all": {"map": float(np.mean([row["map"] for row in found.values()]))}}
        for found in (by_pytrec_eval(qrels, run, "map"), by_pytrec_eval(qrels, run, "map", level=2))
    ]
    found = why_different(*tables, qrels=qrels, run=run)
    assert found.cause == "level"
    assert [one.code for one in found.warnings] == ["only_means"]


# Tables, conventions, errors.


@pytest.mark.parametrize(
    ("name", "measure"),
    [("ndcg_cut_10", "nDCG@10"), ("recip_rank", "RR"), ("map", "AP"), ("P_5", "P@5"), ("nope", "None")],
)
def test_names_of_any_program_are_known(name: str, measure: str) -> None:
    assert str(measure_of(name)) == measure


def test_tables_of_all_forms_hold_the_same_values(leadline: Leadline, tmp_path: Path) -> None:
    qrels, run = collection(20, queries=3)
    text = by_trec_eval(leadline, tmp_path, qrels, run, "map", "trec10")
    (wanted,) = read_table(text)
    by_query = {query: {"map": value} for query, value in wanted.values.items()}
    forms = {
        "a.json": json.dumps(by_query),
        "b.json": json.dumps({"map": {query: row["map"] for query, row in by_query.items()}}),
        "c.csv": "query,map\n" + "".join(f"{query},{row['map']}\n" for query, row in by_query.items()),
        "d.csv": "query,measure,value\n"
        + "".join(f"{query},map,{row['map']}\n" for query, row in by_query.items()),
        "e.txt": "".join(f"{query}\tmap\t{row['map']}\n" for query, row in by_query.items()),
        "f.txt": "".join(f"map\t{query}\t{row['map']}\n" for query, row in by_query.items()),
    }
    for name, content in forms.items():
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        (found,) = read_table(str(path))
        assert (found.measure, found.values) == ("map", wanted.values), name


def test_the_first_convention_is_that_of_evaluate() -> None:
    qrels, run = collection(21, listed=25, tied=5)
    for name in ("AP", "nDCG@10", "P@5", "RR", "Bpref", "IPrec@0.3"):
        wanted = {query: row[name] for query, row in by_leadline(qrels, run, name).items()}
        conventions = Conventions(run, Qrels(qrels), MEASURES.parse(name), list(wanted))
        assert conventions.values({}).tolist() == pytest.approx(list(wanted.values()), abs=1e-12), name


def test_decimals_are_recognised() -> None:
    assert decimals_of(np.array([0.12345, 0.5])) == 5
    assert decimals_of(np.array([1 / 3])) is None


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    values = {"q1": {"map": 0.5}}
    with pytest.raises(UsageError, match=r"^qrels needs run$"):
        why_different(values, values, qrels={"q1": {"d": 1}})
    with pytest.raises(InputError, match="no measure"):
        why_different(values, {"q1": {"P_5": 0.5, "P_10": 0.2}})
    both = ({"q1": {"map": 0.5, "P_5": 1}}, {"q1": {"map": 0.2, "recip_rank": 1}})
    with pytest.raises(InputError, match=r"no measure 'P@5' in table B. Use map, or choose"):
        why_different(*both, measure="P@5")
    with pytest.raises(
        InputError, match=r"no measure .AP. in table A\. Choose one from .* \(this one has P_5\)"
    ):
        why_different({"q1": {"P_5": 0.5}}, {"q1": {"recip_rank": 0.5}}, measure="AP")
    results = [evaluate({"q1": {"d": 1}}, {"q1": ["d"]}, names) for names in (["AP", "RR"], "AP")]
    with pytest.raises(InputError, match="no measure 'RR' in table B"):
        why_different(*results, measure="RR")
    with pytest.raises(UsageError, match="does not know the measure 'x'"):
        why_different({"q1": {"x": 1}}, {"q1": {"x": 2}}, qrels={"q1": {"d": 1}}, run={"q1": {"d": 1.0}})
    path = tmp_path / "a.txt"
    path.write_text("map q1 0.5\nmap q1 0.6\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.txt:2: query 'q1' appears twice"):
        why_different(str(path), values)
    path.write_text("map q1 0.5\nmap q2 high\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.txt:2: 'high'"):
        why_different(str(path), values)


def test_a_level_that_leaves_a_query_without_relevant_documents_is_one_cause() -> None:
    qrels = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1, "b": 0}}
    run = {query: {"c": 3.0, "a": 2.0, "b": 1.0} for query in qrels}
    found = why_different(
        by_leadline(qrels, run, "AP"),
        by_leadline(qrels, run, "AP(rel=2)"),
        qrels=qrels,
        run=run,
        measure="AP",
    )
    assert found.cause == "level"
    assert found.not_explained == []
    assert "queries without a relevant document" in found.causes[0].common


def test_undefined_values_and_means_are_read_from_tables_of_any_form(tmp_path: Path) -> None:
    forms = {
        "a.txt": "map q1 0.5\nmap q2 nan\nmap all 0.5\n",
        "b.csv": "query,map\nq1,0.5\nq2,\nall,0.5\n",
        "c.csv": "query,measure,value\nq1,map,0.5\nq2,map,-\nmean,map,0.5\n",
        "d.json": '{"q1": {"map": 0.5}, "q2": {"map": null}, "all": {"map": 0.5}}',
    }
    for name, content in forms.items():
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        (found,) = read_table(str(path))
        assert (found.run, found.measure, found.mean) == ("", "map", 0.5), name
        assert found.values["q1"] == 0.5, name
        assert math.isnan(found.values["q2"]), name


def test_one_reader_reads_what_comparisons_read(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("query\tsystem\tmap\nq1\ta\t0.5\nq1\tb\t0.25\nq2\ta\t1\nq2\tb\t0\n", encoding="utf-8")
    table, results = read_table(str(path)), read_scores(str(path))
    assert {
        run: {query: results.value(run, query, "AP") for query in ("q1", "q2")} for run in results.names
    } == {side.run: side.values for side in table}


def test_a_value_a_query_is_a_table_for_comparisons_too(tmp_path: Path) -> None:
    for name, values in (("a", {"q1": 0.5, "q2": 1.0}), ("b", {"q1": 0.25, "q2": 0.5})):
        (tmp_path / f"{name}.json").write_text(json.dumps(values), encoding="utf-8")
    found = read_scores([str(tmp_path / "a.json"), str(tmp_path / "b.json")], measures=["AP"])
    assert [found.mean(name, "AP") for name in ("a", "b")] == [0.75, 0.375]


def test_a_table_of_one_run_needs_no_name_and_unknown_options_are_refused() -> None:
    both = {"a": {"q1": {"d": 1.0}}, "b": {"q1": {"x": 2.0, "d": 1.0}}}
    two, other = (
        evaluate({"q1": {"d": 1}}, runs, ["AP"]) for runs in (both, {"c": both["b"], "d": both["b"]})
    )
    one = evaluate({"q1": {"d": 1}}, {"c": both["b"]}, ["AP"])
    found = why_different(two, one, name="a")
    assert (found.a.run, found.b.run, found.different) == ("a", "c", ["q1"])
    same = r"\. Use the same run name in both tables"  # no value of `name` would do
    for name, words in (
        (None, "there are 2 runs, but .*"),
        ("a", "there is no run 'a'"),
        ("z", "no run 'z'"),
    ):
        with pytest.raises(InputError, match=words + same):
            why_different(two, other, name=name)
    with pytest.raises(UsageError, match="has no option 'foo'"):
        why_different({"q1": {"AP": 0.5}}, {"q1": {"AP": 0.5}}, foo=1)


def test_a_run_without_values_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"runs": [{"name": "a", "mean": {}}, {"name": "b", "mean": {"AP": 0.5}}]}))
    for given in (path, f"{path}:AP"):
        with pytest.raises(InputError, match=r"no run 'a'\. Set name to one of b"):
            why_different(given, {"q1": {"AP": 0.5}}, name="a")


def test_means_are_not_told_as_queries() -> None:
    same, other = ({"all": {"AP": value}} for value in (0.5, 0.6))
    assert "AP: all values are equal" in str(why_different(same, same))
    told = str(why_different(same, other))
    assert "AP: 1 of 1 value differs" in told
    assert "1 query" not in told
    qrels, run = {"q1": {"a": 1, "b": 2}, "q2": {"a": 2}}, {"q1": {"a": 2.0, "b": 1.0}}
    for a, b in ((0.5, 0.25), (1.0, 0.25)):  # explained by one cause, and by two
        found = why_different({"all": {"AP": a}}, {"all": {"AP": b}}, qrels=qrels, run=run)
        assert not found.not_explained
        assert "quer" not in str(found).replace("queries that the run lacks", "").replace("per-query", "")


def test_queries_of_one_table_are_not_counted_twice() -> None:
    a, b = ({"q1": {"AP": 0.5}}, {"q1": {"AP": 0.5}, "q2": {"AP": 0.0}})
    assert "values: 1 equal, 1 different (1 only in B)" in str(why_different(a, b))
    rounded = why_different(
        {"q1": {"AP": 0.3333}, "q2": {"AP": 0.5}}, {"q1": {"AP": 1 / 3}, "q2": {"AP": 0.5}}
    )
    assert "AP: 1 of 2 values differs only in the rounding" in str(rounded)


def test_a_run_is_asked_for_only_where_there_is_a_cause_to_find() -> None:
    same, other = ({"q1": {"AP": value}, "q2": {"AP": 0.1}} for value in (0.5, 0.6))
    assert [one.code for one in why_different(same, other).warnings] == ["not_tried"]
    assert not why_different(same, same).warnings


def test_advice_names_options_on_the_command_line_and_keywords_in_python(
    leadline: Leadline, tmp_path: Path
) -> None:
    tables = [{"q1": {"AP": value, "RR": value}} for value in (0.5, 0.6)]
    advice = " ".join(one.message for one in why_different(*tables).warnings)
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, table in zip(paths, tables, strict=True):
        path.write_text(json.dumps(table))
    output = leadline("why-different", *paths)[1]
    for name in ("measure", "qrels", "run"):
        assert f"`{name}`" in advice
        assert f"`--{name}`" in output


def test_a_cause_that_contradicts_more_than_it_explains_is_no_explanation() -> None:
    names = [f"q{n}" for n in range(20)]
    qrels = {query: {"a": 1, "c": 1} for query in names}
    run = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in names}
    b = {query: {"map": 5 / 6} for query in names}
    found = why_different(b | {"q0": {"map": 0.5}}, b, qrels=qrels, run=run)  # as AP@1, by chance
    assert found.causes[0].explained == ("q0",)
    assert found.causes[0].contradicted == 19
    assert (found.cause, found.pair, found.explained, found.not_explained) == (None, [], [], ["q0"])
    assert found.rows()["q0"]["explained_by"] is None
    most = {query: {"map": 0.5 if query != "q0" else 5 / 6} for query in names}
    found = why_different(most, b, qrels=qrels, run=run)  # one query that is equal for another reason
    assert (found.causes[0].contradicted, len(found.explained)) == (1, 19)
