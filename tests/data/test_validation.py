"""What Python callers pass: a wrong type is one line that says what was expected, never a traceback."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import Leadline
from leadline.data.validation import check_arguments, name_keywords, refusal
from leadline.errors import LeadlineError, UsageError
from leadline.evaluation.curves import curve, subtopic_curve
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.explain import explain
from leadline.measures import MEASURES

QRELS = {"q": {"a": 1, "b": 0}}
RUN = {"q": {"b": 2.0, "a": 1.0}}
WRONG: list[tuple[str, Any, str]] = [
    ("rel", "1", "rel must be a number, not '1'"),
    ("rel", True, "rel must be a number, not True"),
    ("rel", float("nan"), "rel must be a number, not nan"),
    ("order", 5, "order must be 'score' or 'rank', not 5"),
    ("on_nan", ["drop"], "on_nan must be 'refuse' or 'drop', not ['drop']"),
    ("on_duplicate", None, "on_duplicate must be 'refuse', 'first'"),
    ("negative", np.zeros(3), "negative must be 'nonrelevant' or 'unjudged', not array"),
    ("name_by", "path", "name_by must be 'file' or 'tag', not 'path'"),
]
OF_EVALUATE: list[tuple[str, Any, str]] = [
    ("documents", 2.5, "documents must be a whole number of at least 0, not 2.5"),
    ("documents", -1, "documents must be a whole number of at least 0, not -1"),
    ("bounds", "yes", "bounds must be True or False, not 'yes'"),
    ("judged_only", 1, "judged_only must be True or False, not 1"),
    ("subtopics", None, "subtopics must be True or False, not None"),
    ("depth", True, "depth must be a whole number of at least 1, not True"),
    ("depth", "3", "depth must be a whole number of at least 1, not '3'"),
    ("profile", ["trec9"], "there is no profile ['trec9']. Use leadline, trec9 or trec10"),
    ("queries", "", "queries must be 'all', 'both'"),
    ("queries", ["q"], "queries must be 'all', 'both'"),
    ("relevance_strings", "5", "relevance_strings must be a whole number of at least 0, not '5'"),
]


def rejected(function: Any, *arguments: Any, **options: Any) -> str:
    """Return the one line of a refusal."""
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
    words = "ranks must be a whole number of at least 1, not '9'"
    assert rejected(subtopic_curve, {"q": {"s": {"a": 1}}}, RUN, ranks="9") == words
    assert rejected(curve, QRELS, RUN, interpolation=5).startswith("interpolation must be ")
    words = "everything must be True or False, not 'all'"
    assert rejected(explain, QRELS, RUN, "AP", "q", everything="all") == words
    assert rejected(ll.read_run, [["a"]], queries=5) == "queries must be a list or None, not 5"
    words = "documents must be a list (each item is text) or None, not 5"
    assert rejected(ll.read_run, [["a"]], queries=["q"], documents=5) == words
    said = "comparison must be a Comparison object or a Results object, not 5. Call gate(compare("
    assert rejected(ll.gate, 5, fail_if_worse="AP").startswith(said)
    assert rejected(MEASURES.parse, 5) == "measure 5 is not valid. Pass a name such as AP."


def test_numbers_and_flags_of_numpy_are_taken() -> None:
    options: dict[str, Any] = {"rel": np.float32(1), "depth": np.int64(1), "judged_only": np.bool_(False)}
    results = evaluate(QRELS, RUN, "AP", **options)
    assert results.mean("run", "AP") == 0.0
    assert '"rel": 1.0' in results.to_json(), "which has no numbers of NumPy"
    seed: Any = np.int64(3)
    assert ll.agreement({"a": QRELS, "b": QRELS}, seed=seed).to_json()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["alpha-nDCG@10"]), "subtopics=True"),
        (lambda: evaluate({"q": {"d": 1}}, {"q": {"d": math.nan}}), "on_nan='drop'"),
        (lambda: ll.read_scores({"a": {"q": {"AP": 1}}}, lower_is_better="AP"), "lower_is_better='AP' is"),
        (lambda: ll.read_scores({"a": {"q": {"P@5": 1}}}, lower_is_better="P@5"), "lower_is_better='P@5' is"),
        (
            lambda: ll.gate(
                ll.compare(
                    ll.read_scores(
                        [{"run": run, "query": f"q{n}", "s q": n} for run in "ab" for n in range(4)]
                    ),
                    baseline="a",
                ),
                fail_if_worse="s q",
            ),
            "Pass read_scores(..., higher_is_better='s q') or read_scores(..., lower_is_better='s q').",
        ),
        (
            lambda: ll.gate(ll.compare(QRELS, {"a": RUN, "b": RUN}), fail_if_worse="nDCG@10"),
            "fail_if_worse='nDCG@10' needs",
        ),
        (lambda: ll.agreement(*[{"q": {f"d{n}": n / 101 for n in range(101)}}] * 2), "`rel`"),
    ],
)
def test_errors_of_functions_name_keywords_and_not_options(call: Callable[[], object], said: str) -> None:
    with pytest.raises(LeadlineError) as caught:
        call()
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: ll.difference({"q": {"d": 1}}, {"a": RUN, "b": RUN}),
            "give all other documents grade 0 instead, as `leadline",
        ),
        (lambda: ll.pool([RUN], depth=1, documents="latin.tsv"), "read_documents(..., encoding='latin-1')"),
        (lambda: ll.pool([RUN], depth=1, queries="latin.tsv"), "read_queries(..., encoding='latin-1')"),
        (
            lambda: ll.pool([RUN], depth=1, queries="ids.json"),
            "rename it to 'query_id' or use `read_queries(..., id_column='keyid')`.",
        ),
        (
            lambda: ll.pool([RUN], depth=1, queries="titles.json"),
            "rename it to 'title' or use `read_queries(..., fields=['en-title'])`.",
        ),
        (lambda: ll.compare("a.json"), "or compare(results). To read saved results, use read_scores(path)."),
        (lambda: ll.pool([RUN], measure="P@5", level=2), "pool() has no option 'level'. Did you mean 'rel'?"),  # type: ignore[call-overload]
        (lambda: ll.pool([], measure="P@5", total=9), "no runs were given. Pass at least one run."),
        (lambda: ll.Results.from_json("{}"), "(in Python, with write(path))."),
        (lambda: ll.difference({"q": {"d": 1}}, RUN, printed6=True), "printed6=True needs weighted"),
        (
            lambda: ll.compare(QRELS, {"a": RUN, "b": RUN}, baseline="a").plot(figure="groups"),
            "Compare without a baseline, or choose another figure.",
        ),
        (
            lambda: ll.unjudged([RUN], method="deshato", vectors="v", documents="d"),
            "of vectors and documents",
        ),
        (lambda: ll.report("a.json", "a.html"), "To read saved results, use `read_scores(path)`."),
    ],
)
def test_advice_is_what_python_has(
    call: Callable[[], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.tsv").write_bytes(b"id\ttext\nd\tcaf\xe9\n")
    (tmp_path / "ids.json").write_text('[{"keyid": "q", "text": "a"}]')
    (tmp_path / "titles.json").write_text('[{"id": "q", "en-title": "a", "fr-title": "b"}]')
    with pytest.raises(LeadlineError) as caught:
        call()
    assert said in str(caught.value)


def test_further_positional_arguments_are_not_taken_for_options() -> None:
    check_arguments(ll.evaluate, (QRELS, RUN, ["AP"]), {})


def test_commands_name_options(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 nan a\n")
    assert "--config read.on_nan=drop" in leadline("evaluate", tmp_path / "qrels", tmp_path / "run").err


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("-C order=rank needs -C read.queries_in", "order='rank' needs queries_in"),
        ("Pass --docs DOCS, or --level 2", "Pass documents, or rel=2"),
        ("Pass --docs with -C pool.everything", "Pass documents with everything=True"),
        ("-C sampled.correction=none", "-C sampled.correction=none"),
    ],
)
def test_options_of_any_spelling_become_keywords(text: str, named: str) -> None:
    def cut(
        order: str, queries_in: str, documents: str, rel: int, *, everything: bool = False
    ) -> None:  # pragma: no cover
        """Take keywords."""

    error = UsageError(text)
    name_keywords(error, cut)
    assert str(error) == named


@pytest.mark.parametrize(("name", "helps"), [("log", True), ("index", False), ("path", False)])
def test_a_data_frame_is_written_as_csv_only_where_a_csv_file_is_read(name: str, *, helps: bool) -> None:
    class Frame:
        columns = ("arm",)

    refused = refusal(name, Frame(), "text or a path")
    assert ("CSV" in str(refused)) == helps
