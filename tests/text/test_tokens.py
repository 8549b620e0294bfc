"""Words of every script, and where they stand."""

from __future__ import annotations

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.text import ANALYSES
from leadline.text.words import Characters, Words, for_language


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't re-enter l'été", ["don", "t", "re", "enter", "l", "été"]),
        ("x_y 3.14 U.S.", ["x", "y", "3", "14", "u", "s"]),
        ("東京タワー tower", ["東京", "京タ", "タワ", "ワー", "tower"]),
        ("日", ["日"]),
        ("iPhone東京15", ["iphone", "東京", "15"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs do not part a word
        ("한국어 문장", ["한국어", "문장"]),  # Hangul has blanks
        ("\ufb01ne \uff21\uff22", ["fine", "ab"]),
        ("İstanbul", ["i̇stanbul"]),
        ("", []),
    ],
)
def test_words_of_every_script(text: str, words: list[str]) -> None:
    assert Words(stem="none", stop="none").split(text) == words


@given(st.text())
def test_the_bounds_are_where_the_tokens_stand(text: str) -> None:
    for analysis in (Words(), Characters(n=3)):
        begin, end = analysis.bounds(text)
        spans = list(zip(begin.tolist(), end.tolist(), strict=True))
        assert [analysis.split(text[begin:end]) for begin, end in spans] == [
            [token] for token in analysis.split(text)
        ]
        assert spans == sorted(spans)


def test_a_stop_word_keeps_its_place_and_has_no_term() -> None:
    analysis = Words()
    assert analysis.terms_of(analysis.split("flow past the wings")) == ["flow", "past", None, "wing"]


def test_the_text_of_an_analysis_names_what_differs_from_the_defaults() -> None:
    assert str(ANALYSES.parse("Words(stem=de,stop=none)")) == "Words(stem=german,stop=none)"
    assert str(ANALYSES.parse("words(stem=porter)")) == "Words(stem=porter)"
    assert str(ANALYSES.parse("Characters(n=5)")) == "Characters(n=5)"


def test_a_language_chooses_stems_and_stop_words_as_far_as_there_are_such() -> None:
    assert for_language("en") == Words()
    stem = "czech" if "czech" in Stemmer.algorithms() else "none"  # not before Snowball 3.1
    assert for_language("cs") == Words(stem=stem, stop="czech")
    assert for_language("basque") == Words(stem="basque", stop="none")


def test_an_unknown_analysis_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown analysis 'Qqqqq'\. The analyses are Characters, Words\.$"):
        ANALYSES.parse("Qqqqq")


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown language 'klingon'. Use none, .*german"):
        for_language("klingon")
    with pytest.raises(UsageError, match=r"stem must be none"):
        Words(stem="klingon")
    with pytest.raises(UsageError, match=r"stop must be basic, none, "):
        Words(stop="klingon")
