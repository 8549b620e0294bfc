"""Which documents are alike, and which a model is trained on."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.errors import InputError, UsageError
from leadline.topics.infer import ranked
from leadline_studies.histogram_topics.pairs import read_texts, relevant_pairs

TEXTS = {f"d{place}": f"wing {place}" for place in range(10)}


def test_documents_relevant_to_one_query_are_alike() -> None:
    qrels = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"b": 1, "d": 1, "x": 1}, "q3": {"e": 1}}
    known = list("abcde")
    assert relevant_pairs(qrels, known, together=True) == ({"a": ["b"], "b": ["a", "d"], "d": ["b"]}, 1)
    with pytest.raises(InputError, match="no document has a similar one with grade 2 or more"):
        relevant_pairs(qrels, known, together=True, level=2)


def test_judged_documents_are_asked_about_and_none_is_like_itself() -> None:
    qrels = {"a": {"a": 1.0, "b": 0.6, "c": 0.59}, "b": {"c": 0.7}, "z": {"a": 1.0}}
    assert relevant_pairs(qrels, list("abc"), level=0.6) == ({"a": ["b"], "b": ["c"]}, 1)
    with pytest.raises(InputError, match="--together"):
        relevant_pairs({"q": {"a": 1, "b": 1}}, list("abc"))


def test_held_out_documents_are_not_trained_on() -> None:
    texts = read_texts(TEXTS, None, held_out=0.3)
    train, held = ({one["doc_id"] for one in part} for part in (texts.train, texts.held_out))
    assert (len(train), len(held), train & held) == (7, 3, set())
    assert texts.ids == list(TEXTS)
    assert read_texts(TEXTS, None, held_out=0.3) == texts
    assert read_texts(TEXTS, None, held_out=0.3, seed=1) != texts


def test_with_texts_to_train_on_all_documents_are_held_out() -> None:
    texts = read_texts(TEXTS, {"x": "heat"})
    assert [one["doc_id"] for one in texts.train] == ["x"]
    assert texts.held_out == texts.all


@pytest.mark.parametrize("share", [0.0, 0.04, 1.0, 2.0, -1.0])
def test_a_share_that_leaves_nothing_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match="leaves none of 10 documents to hold out, or none to train on"):
        read_texts(TEXTS, None, held_out=share)


def test_rankings_leave_out_the_query_itself_and_put_equal_scores_by_falling_id() -> None:
    scores = np.array([[0.0, -0.5, -0.5, -0.1], [-0.1, 0.0, -0.3, -0.3]])
    documents = ["a", "b", "c", "d"]
    run = ranked(lambda row: scores[row], ["b", "a"], documents, own=False)
    assert {query: list(found) for query, found in run.to_dict().items()} == {
        "a": ["b", "d", "c"],
        "b": ["a", "d", "c"],
    }
    short = ranked(lambda row: scores[row], ["b", "a"], documents, k=1)
    assert {query: list(found) for query, found in short.to_dict().items()} == {"a": ["b"], "b": ["a"]}
