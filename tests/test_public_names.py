"""`import leadline as ll`: every name works, loads late, and the module runs as a program."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import leadline as ll

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
RUN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 0.5}}


def python(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Run Python on its own and give what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def test_the_public_names_are_those_of_all_and_those_that_type_checkers_see() -> None:
    assert sorted(vars(ll)["__all__"]) == sorted(dir(ll))  # ruff sorts __all__ its own way
    typed = {
        alias.name
        for node in ast.parse(Path(f"{ll.__file__}i").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed | {"__version__"} == set(vars(ll)["__all__"])
    for name in vars(ll)["__all__"]:
        assert getattr(ll, name) is not None
        assert name == "__version__" or getattr(ll, name).__doc__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'leadline' has no attribute 'evalute'"):
        _ = ll.evalute  # type: ignore[attr-defined]


def test_python_adds_no_guess_to_the_right_call() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import leadline; leadline.load_run"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.endswith("has no attribute 'load_run'. Use read_run(path).\n")


def test_importing_leadline_loads_nothing_else_until_it_is_used() -> None:
    wanted = "('numpy', 'click', 'leadline')"
    loaded = f"sorted(name for name in sys.modules if name.split('.')[0] in {wanted})"
    assert python("-c", f"import sys, leadline; print({loaded})") == ("['leadline', 'leadline.version']\n")


def test_a_name_loads_its_package_and_no_more() -> None:
    program = "import sys, leadline as ll; ll.InputError; print('numpy' in sys.modules)"
    assert python("-c", program) == "False\n"


@pytest.mark.parametrize("name", ["AP", "map", "MAP", "ndcg_cut_10", "ndcg@10", ll.MEASURES.parse("AP")])
def test_results_understand_every_name_that_evaluate_understands(name: str) -> None:
    results = ll.evaluate(QRELS, RUN, ["map", "ndcg_cut.10"])
    assert results.mean("run", name) == results.means[0, int(str(name).startswith("ndcg"))]
    assert pickle.loads(pickle.dumps(results)).measure_index(name) == results.measure_index(name)


def test_results_understand_names_under_the_options_they_were_made_with() -> None:
    results = ll.evaluate(QRELS, RUN, "official", profile="trec9", rel=2)
    assert results.mean("run", "map") == results.mean("run", "AP(rel=2)") == 0.5
    with pytest.raises(ll.UsageError, match=r"'P' stands for 9 measures"):
        results.mean("run", "P")
    for name in ("ERR", "nothing", None, 5, ["AP"]):
        with pytest.raises(ll.UsageError, match="Use NumQ, "):
            results.mean("run", name)


def test_dictionaries_are_evaluated() -> None:
    results = ll.evaluate(QRELS, RUN, ["AP", "nDCG@10", "recip_rank"])
    assert isinstance(results, ll.Results)
    assert results.mean("run", "AP") == 0.75
    assert results.mean("run", "RR") == 0.75
    assert results.value("run", "q1", "AP") == 0.5
    assert results.to_dict()["measures"] == ["AP", "nDCG@10", "RR"]


def test_several_runs_are_given_by_name() -> None:
    results = ll.evaluate(QRELS, {"one": RUN, "two": {"q1": {"d1": 1.0}}}, "AP")
    assert results.names == ["one", "two"]
    assert results.mean("two", "AP") == 0.5


def test_a_measure_object_is_as_good_as_its_text() -> None:
    measure = ll.MEASURES.parse("P@1")
    assert isinstance(measure, ll.Measure)
    assert ll.evaluate(QRELS, RUN, measure).mean("run", measure) == 0.5


def test_tables_read_once_can_be_used_again() -> None:
    qrels, run = ll.read_qrels(QRELS), ll.read_run(RUN)
    assert isinstance(qrels, ll.Qrels)
    assert isinstance(run, ll.Run)
    assert ll.evaluate(qrels, run, "AP").means.tolist() == [[0.75]]


def test_a_refusal_is_a_leadline_error_and_a_value_error() -> None:
    with pytest.raises(ll.UsageError) as rejected:
        ll.evaluate(QRELS, RUN, "nDGC")
    assert isinstance(rejected.value, ll.LeadlineError)
    assert isinstance(rejected.value, ValueError)
    with pytest.raises(ll.InputError, match="a number"):
        ll.evaluate(QRELS, {"q1": {"d1": float("nan")}}, "AP")


def test_the_module_runs_as_the_command() -> None:
    assert python("-m", "leadline", "--version").startswith(f"leadline {ll.__version__}, kernels ")


def test_the_version_says_when_the_kernels_are_uncompiled() -> None:
    shown = python("-m", "leadline", "--version", environment={"LEADLINE_PURE": "1"})
    assert "kernels uncompiled" in shown


def test_the_version_says_when_the_kernels_are_compiled() -> None:
    from leadline import kernels

    if kernels.find_compiled() is None:
        pytest.skip("the kernels are not compiled here")
    shown = python("-m", "leadline", "--version", environment={"LEADLINE_PURE": ""})
    assert "kernels compiled" in shown
