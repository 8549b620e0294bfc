"""Every model against its twin, by search and by score; hand-worked values; what texts they understand."""

from __future__ import annotations

import math
from math import log, log2, pi, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import TWINS, Facts, Texts

from conftest import examples
from leadline.errors import UnknownNameError, UsageError
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import MODELS
from leadline.retrieval.search import score, search

PLAIN = "Words(stem=none,stop=none)"
VARIANTS = """
        BM25 BM25(k1=0.9,b=0.4) BM25(k1=0) BM25(b=0) BM25(idf=rsj) BM25(idf=galago,k3=8) BM25RF
        BM25RF(docs=2,terms=2) BM25RF(terms=0) QLDirichlet QLDirichlet(mu=3)
        QLDirichlet(mu=3,form=terrier) QLJelinekMercer QLJelinekMercer(collection=0.7) QLHiemstra
        QLHiemstra(document=0.6) RM1 RM1(docs=2,terms=3,mu=5) RM3 RM3(docs=2,terms=3,original=0.25,mu=5)
        SDM SDM(terms=0.5,ordered=0.3,unordered=0.2,gap=2,window=3,mu=5) PL2 PL2(c=7)
        PL2(stirling=false) In_expB2 In_expB2(c=3) TF(dot) TF(cosine) TFIDF(dot) TFIDF(cosine)
    """.split()
WORDS = ["wing", "tail", "heat", "flow", "b"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=10), min_size=2, max_size=7)
QUERY = st.lists(st.sampled_from([*WORDS, "nowhere"]), min_size=1, max_size=4)
SMALL: Texts = {"d1": ["wing", "wing", "tail"], "d2": ["tail", "heat"], "d3": ["heat"] * 3 + ["flow"]}


def indexed(texts: Texts) -> Index:
    return build_index({name: " ".join(words) for name, words in texts.items()}, analysis=PLAIN)


def given_parameters(model: Any) -> dict[str, Any]:
    return {
        name: getattr(model, name)
        for name, parameter in model.parameters().items()
        if getattr(model, name) != parameter.default
    }


def test_every_model_has_a_twin_and_a_variant() -> None:
    assert set(MODELS.classes) == set(TWINS)
    assert {type(MODELS.parse(text)).__name__ for text in VARIANTS} == set(TWINS)


@examples(25)
@given(TEXTS, QUERY)
def test_search_and_score_give_what_the_twin_gives(lists: list[list[str]], words: list[str]) -> None:
    texts = {f"d{place}": found for place, found in enumerate(lists)}
    index, facts = indexed(texts), Facts(texts)
    query = {"q": " ".join(words)}
    if not facts.known(words):
        assert all(len(run.scores) == 0 for run in search(index, query, VARIANTS).values())
        return
    ranked = search(index, query, VARIANTS)
    pairs = score(index, query, {"q": texts}, VARIANTS)
    for text in VARIANTS:
        model = MODELS.parse(text)
        wanted = TWINS[type(model).__name__](facts, words, **given_parameters(model))
        scored = pairs[text].to_dict()["q"]
        assert scored == pytest.approx(wanted, rel=1e-9, abs=1e-9), text
        found = ranked[text].to_dict()["q"]
        assert {name: scored[name] for name in found} == pytest.approx(found, rel=1e-9, abs=1e-9)
        matching = {name for name in texts if set(texts[name]) & set(words)}
        assert type(model).learns or matching == set(found)
        order = [(value, name.encode()) for name, value in found.items()]
        assert order == sorted(order, reverse=True)


@given(TEXTS, QUERY, st.integers(1, 4))
def test_the_first_k_are_the_first_of_the_whole_list(
    lists: list[list[str]], words: list[str], k: int
) -> None:
    index = indexed({f"d{place}": found for place, found in enumerate(lists)})
    query = {"q": " ".join(words)}
    whole = search(index, query, "TF(dot)")["TF(dot)"].to_dict().get("q", {})
    cut = search(index, query, "TF(dot)", k=k)["TF(dot)"].to_dict().get("q", {})
    assert list(cut.items()) == list(whole.items())[:k]


# N = 3, C = 9, avdl = 3; wing: df 1, cf 2; tail: df 2, cf 2; heat: df 2, cf 4. Query: wing tail.
HAND = {
    "BM25": log(1 + 2.5 / 1.5) * 2.2 * 2 / (2 + 1.2) + log(1 + 1.5 / 2.5) * 2.2 / (1 + 1.2),
    "QLDirichlet(mu=9)": log((2 + 2) / 12) + log((1 + 2) / 12),
    "QLJelinekMercer(collection=0.5)": log(0.5 * 2 / 3 + 0.5 * 2 / 9) + log(0.5 / 3 + 0.5 * 2 / 9),
    "QLHiemstra(document=0.5)": log(1 + 2 * 9 / (2 * 3)) + log(1 + 1 * 9 / (2 * 3)),
    # tfn = tf, for dl = avdl and c = 1; wing: lambda 2/3, tail: lambda 2/3
    "PL2": (2 * log2(3) + (2 / 3 + 1 / 24 - 2) * log2(math.e) + 0.5 * log2(4 * pi)) / 3
    + (log2(1.5) + (2 / 3 + 1 / 12 - 1) * log2(math.e) + 0.5 * log2(2 * pi)) / 2,
    "In_expB2": 2 * 3 / (1 * 3) * log2(4 / (3 * (1 - math.exp(-2 / 3)) + 0.5))
    + 1 * 3 / (2 * 2) * log2(4 / (3 * (1 - math.exp(-2 / 3)) + 0.5)),
    "TF(dot)": (1 + log(2)) + 1,
    "TF(cosine)": (2 + log(2)) / (sqrt(2) * sqrt((1 + log(2)) ** 2 + 1)),
    "TFIDF(dot)": (1 + log(2)) * log(3) ** 2 + log(1.5) ** 2,
    # d1 alone has windows: one ordered; two unordered, for either wing begins one; mu p = 1 and 2
    "SDM(mu=9)": 0.85 * (log(4 / 12) + log(3 / 12)) / 2 + 0.1 * log(2 / 12) + 0.05 * log(4 / 12),
    # one document to learn from: P(wing) = 2/3, P(tail) = 1/3
    "RM1(docs=1,mu=9)": 2 / 3 * log(4 / 12) + 1 / 3 * log(3 / 12),
    "RM3(docs=1,mu=9)": (1 / 4 + 1 / 3) * log(4 / 12) + (1 / 4 + 1 / 6) * log(3 / 12),
    # R = 1; wing: r 1, df 1; tail: r 1, df 2
    "BM25RF(docs=1)": log(1.5 / 0.5 / (0.5 / 2.5)) * 2.2 * 2 / 3.2 + log(1.5 / 0.5 / (1.5 / 1.5)) * 2.2 / 2.2,
}


@pytest.mark.parametrize("text", HAND)
def test_a_value_worked_by_hand(text: str) -> None:
    found = score(indexed(SMALL), {"q": "wing tail"}, [("q", "d1")], text)
    assert found[text].to_dict()["q"]["d1"] == pytest.approx(HAND[text], rel=1e-12)


def test_an_empty_document_scores_as_the_collection_alone() -> None:
    index = indexed(SMALL | {"d4": []})
    models = ["QLDirichlet(mu=9)", "QLJelinekMercer", "BM25", "TFIDF(cosine)", "PL2"]
    found = score(index, {"q": "wing"}, [("q", "d4")], models)
    values = [found[text].to_dict()["q"]["d4"] for text in models]
    assert values == pytest.approx([log(2 / 9), log(0.1 * 2 / 9), 0.0, 0.0, 0.0])


def test_names_are_understood_and_printed_back_canonically() -> None:
    asked = [
        "bm25(k1=0.9, b=0.4)",
        *"TF(cosine) tfidf TF-IDF(form=cosine) ql(mu=2500) rm3 DFR BM25(k3=8) BM25(k1=1.2)".split(),
    ]
    assert (
        list(map(str, MODELS.expand_all(asked)))
        == """
            BM25(k1=0.9,b=0.4) TF(cosine) TFIDF(dot) TFIDF(cosine) QLDirichlet(mu=2500) RM3 In_expB2
            BM25(k3=8) BM25
        """.split()
    )
    for text in VARIANTS:
        assert str(MODELS.parse(str(MODELS.parse(text)))) == str(MODELS.parse(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BM26", "unknown model 'BM26'. Did you mean BM25"),
        ("BM25(k=1)", "BM25 has no parameter 'k'. Its parameters are k1, b, idf, k3"),
        ("BM25(b=2)", "b must be a number from 0 to 1, not 2"),
        ("BM25(0.9)", "'0.9' is not of the form name=value"),
        ("TF(sine)", "form must be dot or cosine, not sine"),
        ("QLDirichlet(mu=0)", "mu must be a number above 0, not 0"),
        ("SDM@10", "SDM takes no cutoff"),
    ],
)
def test_a_bad_name_says_what_would_do(text: str, message: str) -> None:
    with pytest.raises((UsageError, UnknownNameError), match=message.replace("(", r"\(")):
        search(indexed(SMALL), {"q": "wing"}, [text])
