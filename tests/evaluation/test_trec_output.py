"""`evaluate -f trec` and the flags of trec_eval, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Leadline

QRELS = """\
1 0 a 2
1 0 b 1
1 0 c 0
1 0 e -1
2 0 d 1
3 0 a 1
"""
RUN = """\
1 Q0 x 1 9 first
1 Q0 a 2 8 first
1 Q0 c 3 7 first
1 Q0 e 4 6 first
2 Q0 d 1 5 mine
"""
OFFICIAL = """\
runid                 	all	mine
num_q                 	all	3
num_ret               	all	5
num_rel               	all	4
num_rel_ret           	all	2
map                   	all	0.4167
gm_map                	all	0.0136
Rprec                 	all	0.5000
bpref                 	all	0.5000
recip_rank            	all	0.5000
iprec_at_recall_0.00  	all	0.5000
iprec_at_recall_0.10  	all	0.5000
iprec_at_recall_0.20  	all	0.5000
iprec_at_recall_0.30  	all	0.5000
iprec_at_recall_0.40  	all	0.5000
iprec_at_recall_0.50  	all	0.5000
iprec_at_recall_0.60  	all	0.5000
iprec_at_recall_0.70  	all	0.5000
iprec_at_recall_0.80  	all	0.3333
iprec_at_recall_0.90  	all	0.3333
iprec_at_recall_1.00  	all	0.3333
P_5                   	all	0.1333
P_10                  	all	0.0667
P_15                  	all	0.0444
P_20                  	all	0.0333
P_30                  	all	0.0222
P_100                 	all	0.0067
P_200                 	all	0.0033
P_500                 	all	0.0013
P_1000                	all	0.0007
"""
PER_QUERY = """\
num_ret               	1	4
map                   	1	0.2500
relstring             	1	'-20.'
ndcg_cut_5            	1	0.4796
num_ret               	2	1
map                   	2	1.0000
relstring             	2	'1'
ndcg_cut_5            	2	1.0000
"""
MISSING = """\
num_ret               	3	0
map                   	3	0.0000
relstring             	3	''
ndcg_cut_5            	3	0.0000
"""
COMPLETE = """\
num_q                 	all	3
num_ret               	all	5
map                   	all	0.4167
ndcg_cut_5            	all	0.4932
"""
INTERSECTION = """\
num_q                 	all	2
num_ret               	all	5
map                   	all	0.6250
ndcg_cut_5            	all	0.7398
"""
ASKED = ("-m", "ndcg_cut.5", "-m", "map", "-m", "num_ret", "-m", "num_q", "-m", "relstring", "-f", "trec")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with judgments and a run that lacks a query."""
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    monkeypatch.chdir(tmp_path)


def test_without_measures_it_prints_the_official_ones(leadline: Leadline) -> None:
    done = leadline("evaluate", "-c", "--profile", "trec10", "qrels", "run", "-f", "trec")
    assert done.out == OFFICIAL
    assert done.status == 0


def test_what_was_counted_is_said_on_standard_error(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels", "run", "-f", "trec")
    assert "1 judged query missing from run" in done.err
    assert all(line.startswith("leadline: ") for line in done.err.splitlines())


def test_measures_stand_in_the_order_of_trec_eval_and_queries_above_all(leadline: Leadline) -> None:
    done = leadline("evaluate", "-q", "qrels", "run", *ASKED)
    assert done.out == PER_QUERY + MISSING + COMPLETE


def test_version_9_averages_over_both_and_says_nothing_of_a_missing_query(leadline: Leadline) -> None:
    done = leadline("evaluate", "-q", "--profile", "trec9", "qrels", "run", *ASKED)
    assert done.out == PER_QUERY + INTERSECTION
    done = leadline("evaluate", "-qc", "--profile", "trec9", "qrels", "run", *ASKED)
    assert done.out == PER_QUERY + COMPLETE


def test_version_10_has_no_summary_when_a_query_is_missing(leadline: Leadline) -> None:
    done = leadline("evaluate", "-q", "--profile", "trec10", "qrels", "run", *ASKED)
    assert (done.status, done.out) == (0, PER_QUERY)
    assert "no mean, as in trec_eval 10" in done.err
    done = leadline("evaluate", "-q", "-c", "--profile", "trec10", "qrels", "run", *ASKED)
    assert done.out == PER_QUERY + MISSING + COMPLETE


def test_n_leaves_the_summary_out(leadline: Leadline) -> None:
    assert leadline("evaluate", "-qn", "qrels", "run", *ASKED).out == PER_QUERY + MISSING
    assert leadline("evaluate", "-n", "qrels", "run", *ASKED).out == ""


def test_l_changes_the_level_and_no_name(leadline: Leadline) -> None:
    done = leadline("evaluate", "-l2", "qrels", "run", "-m", "num_rel", "-m", "P.2", "-f", "trec")
    assert done.out == "num_rel               \tall\t1\nP_2                   \tall\t0.1667\n"


def test_m_keeps_documents_after_sorting_and_j_drops_unjudged_ones(leadline: Leadline) -> None:
    asked = ("-q", "-m", "relstring", "-m", "num_ret", "-f", "trec", "qrels", "run")
    first = "num_ret               \t1\t{}\nrelstring             \t1\t'{}'\n"
    assert leadline("evaluate", "-M3", *asked).out.startswith(first.format(3, "-20"))
    assert leadline("evaluate", "-J", *asked).out.startswith(first.format(2, "20"))
    assert leadline("evaluate", "-J", "-M", 2, *asked).out.startswith(first.format(1, "2"))


def test_the_size_of_the_collection_is_a_setting(leadline: Leadline) -> None:
    done = leadline("evaluate", "-C", "documents=100", "-m", "utility.0,0,0,1", "qrels", "run", "-f", "trec")
    wanted = ((100 - 5) + (100 - 1) + (100 - 1)) / 3  # all that is relevant or retrieved is left out
    assert done.out == f"utility_0,0,0,1       \tall\t{wanted:.4f}\n"


def test_parameters_that_are_written_replace_those_of_a_group(leadline: Leadline) -> None:
    done = leadline(
        "evaluate", "-q", "-m", "all_trec", "-mrelstring.2", "-m", "P.3", "qrels", "run", "-ftrec"
    )
    lines = [line.split() for line in done.out.splitlines()]
    assert [line[2] for line in lines if line[0] == "relstring_2"] == ["'-2'", "'1'", "''"]
    assert {line[0] for line in lines if line[0].startswith("P_")} == {"P_3"}
    assert not [line for line in lines if line[0] == "relstring"]


def test_a_measure_that_trec_eval_lacks_comes_last_under_our_name(leadline: Leadline) -> None:
    done = leadline("evaluate", "-m", "Judged@2", "-m", "map", "qrels", "run", "-f", "trec")
    assert [line.split("\t")[0] for line in done.out.splitlines()] == [f"{'map':22}", f"{'Judged@2':22}"]


def test_several_runs_are_one_block_after_the_other(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "other").write_text(RUN.replace("mine", "other"))
    done = leadline("evaluate", "qrels", "run", "other", "-m", "runid", "-m", "map", "-f", "trec")
    assert [line.split()[2] for line in done.out.splitlines()] == ["mine", "0.4167", "other", "0.4167"]


def test_a_run_without_a_judged_query_is_refused_as_in_other_formats(
    leadline: Leadline, tmp_path: Path
) -> None:
    (tmp_path / "run").write_text("9 Q0 a 1 1 t\n")
    done = leadline("evaluate", "--profile", "trec9", "qrels", "run", "-f", "trec")
    assert (done.status, done.out) == (2, "")


def test_it_can_be_written_to_a_file(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline("evaluate", "-c", "qrels", "run", "-f", "trec", "-o", "result")
    assert done.out == OFFICIAL  # the screen shows it too
    assert (tmp_path / "result").read_text() == OFFICIAL


def test_c_and_another_choice_of_queries_are_refused(leadline: Leadline) -> None:
    assert (
        "use only one of -c and --config scores.queries=both"
        in leadline("evaluate", "-c", "-C", "queries=both", "qrels", "run").refusal
    )


def test_in_other_forms_n_leaves_the_means_out_too(leadline: Leadline) -> None:
    done = leadline("evaluate", "-qn", "-m", "map", "qrels", "run", "-f", "csv")
    assert done.out.splitlines() == ["run,query,AP", "run,1,0.25", "run,2,1.0", "run,3,0.0"]
    data = leadline("evaluate", "-qn", "-m", "map", "qrels", "run", "-f", "json").data
    assert sorted(data["runs"][0]) == ["counts", "missing", "name", "queries", "tag"]
    rejected = leadline("evaluate", "-n", "qrels", "run")
    assert (rejected.status, rejected.out) == (2, "")


def test_percent_signs_in_ids_are_only_letters(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("%d 0 a 1\n")
    (tmp_path / "run").write_text("%d Q0 a 1 1 100%s\n")
    done = leadline("evaluate", "-q", "-m", "map", "-m", "runid", "qrels", "run", "-f", "trec")
    assert [line.split("\t")[1:] for line in done.out.splitlines()] == [
        ["%d", "1.0000"],
        ["all", "100%s"],
        ["all", "1.0000"],
    ]
