"""What Python callers pass: a wrong type is one line that says what was expected, never a traceback."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from leadline.errors import LeadlineError, UsageError
from leadline.evaluation.curves import curve, subtopic_curve
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.explain import explain
from leadline.measures import MEASURES

QRELS = {"q": {"a": 1, "b": 0}}
RUN = {"q": {"b": 2.0, "a": 1.0}}
WRONG: list[tuple[str, Any, str]] = [
    ("rel", "1", "rel='1'; expected a number"),
    ("rel", True, "rel=True; expected a number"),
    ("rel", float("nan"), "rel=nan; expected a number"),
    ("order", 5, "order=5; expected 'score' or 'rank'"),
    ("on_nan", ["drop"], "on_nan=['drop']; expected 'refuse' or 'drop'"),
    ("on_duplicate", None, "on_duplicate=None; expected 'refuse' or 'first' or"),
    ("negative", np.zeros(3), "negative=array([0., 0., 0.]); expected 'nonrelevant' or"),
    ("name_by", "path", "name_by='path'; expected 'file' or 'tag'"),
]
OF_EVALUATE: list[tuple[str, Any, str]] = [
    ("documents", 2.5, "documents=2.5; expected a whole number, 0 or more"),
    ("documents", -1, "documents=-1; expected a whole number, 0 or more"),
    ("bounds", "yes", "bounds='yes'; expected True or False"),
    ("judged_only", 1, "judged_only=1; expected True or False"),
    ("subtopics", None, "subtopics=None; expected True or False"),
    ("depth", True, "depth=True; expected a whole number, 1 or more"),
    ("depth", "3", "depth='3'; expected a whole number, 1 or more"),
    ("profile", ["trec9"], "unknown profile ['trec9']; known: leadline, "),
    ("queries", "", "queries=''; expected 'all' or 'both' or"),
    ("queries", ["q"], "queries=['q']; expected 'all' or 'both' or"),
    ("relevance_strings", "5", "relevance_strings='5'; expected a whole number, 0 or more"),
]


def rejected(function: Any, *arguments: Any, **options: Any) -> str:
    """Give the one line of a refusal."""
    with pytest.raises(UsageError) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("name", "value", "words"), [*WRONG, *OF_EVALUATE])
def test_evaluate_and_explain_refuse_a_wrong_type(name: str, value: Any, words: str) -> None:
    assert rejected(evaluate, QRELS, RUN, "AP", **{name: value}).startswith(words)
    if name != "bounds":  # which explain does not have
        assert rejected(explain, QRELS, RUN, "AP", "q", **{name: value}).startswith(words)


@pytest.mark.parametrize(("name", "value", "words"), WRONG)
def test_curves_refuse_a_wrong_type(name: str, value: Any, words: str) -> None:
    assert rejected(curve, QRELS, RUN, **{name: value}).startswith(words)


def test_other_arguments_are_checked_too() -> None:
    words = "ranks='9'; expected a whole number, 1 or more"
    assert rejected(subtopic_curve, {"q": {"s": {"a": 1}}}, RUN, ranks="9") == words
    assert rejected(curve, QRELS, RUN, interpolation=5).startswith("interpolation=5; expected ")
    words = "everything='all'; expected True or False"
    assert rejected(explain, QRELS, RUN, "AP", "q", everything="all") == words
    assert rejected(MEASURES.parse, 5) == "measure 5 is not valid; give a name such as alpha_DCG"


def test_numbers_and_flags_of_numpy_are_taken() -> None:
    options: dict[str, Any] = {"rel": np.float32(1), "depth": np.int64(1), "judged_only": np.bool_(False)}
    assert evaluate(QRELS, RUN, "AP", **options).mean("run", "AP") == 0.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["alpha-nDCG@10"]), "subtopics=True"),
        (lambda: evaluate({"q": {"d": 1}}, {"q": {"d": math.nan}}), "on_nan='drop'"),
    ],
)
def test_errors_of_functions_name_keywords_and_not_options(call: Callable[[], object], said: str) -> None:
    with pytest.raises(LeadlineError) as caught:
        call()
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


def test_commands_name_options(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 nan a\n")
    assert "--config read.on_nan=drop" in leadline("evaluate", tmp_path / "qrels", tmp_path / "run").err
