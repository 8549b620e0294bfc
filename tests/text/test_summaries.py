"""Static and dynamic summaries: which words and windows, what is marked, and that nothing breaks out."""

from __future__ import annotations

import html
import random
import re

import numpy as np
import pytest
import summary_loops
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.text.summaries import (
    Layout,
    Summary,
    UnitMatches,
    best,
    dynamic_summary,
    matches,
    merged,
    normalised,
    static_summary,
)
from leadline.text.words import Words, word_bounds

# In the manner of the lecture's example: the query occurs scattered, jointly, and once as a phrase.
ISLANDS = """Coffee, copper and oil are what the highlands and the coast of Papua New Guinea sell abroad. When
a mine was shut by a revolt, the treasury lost a fifth of its income, and the economic outlook turned dark
within months. Dr. A. Mathew of the U.N. mission wrote that roads matter more than mines.

Forty years of New Guinea economic development can be read from its roads! Where one was built, markets
followed. Where it washed away, they closed again. The economics of developing a new road are
simple: it must be kept.

Birds of paradise, of which the country has more kinds than any other, bring visitors in the dry months of the
year, and the visitors bring a little money. It rains for the rest of the time."""
QUERY = "new guinea economic development"

SCRIPTS = st.text(
    st.sampled_from(
        'ab B.!? \n\u0301\u05d0\u05d1\u0645\u0627\u0e01\u0e34\u0e02北京大学。猫\u200d👩👧🇩🇪🏽\u202e\x1b<&"'
    )
    | st.characters(),
    max_size=200,
)
WORDS = st.text(st.sampled_from("ab c.A \n北京"), max_size=120)


def marked(summary: Summary) -> list[str]:
    return [summary.text[begin:end] for begin, end in summary.highlights]


def test_the_first_words_are_counted_and_a_cut_sentence_has_an_ellipsis() -> None:
    found = static_summary(ISLANDS)
    assert len(word_bounds(found.text)[0]) == 50
    assert found.text.startswith("Coffee, copper and oil")
    assert found.text.endswith("dark within months. Dr. A. Mathew of the U.N. mission wrote …")
    assert found.highlights == ()
    assert static_summary("One two.\n\nThree.", words=5).text == "One two. Three."
    assert static_summary("One two. Three.", words=2).text == "One two."


def test_key_sentences_are_whole_in_the_order_of_the_text_and_do_not_repeat() -> None:
    text = "Wings lift. It rained on us. Swept wings lift less than straight wings do. Wings lift. Dogs bark."
    found = static_summary(text, words=11, kind="sentences")
    assert found.text == "Wings lift. … Swept wings lift less than straight wings do."
    # "Wings lift." comes twice, and what all sentences share is wings that lift; rain and dogs stand alone
    long = "Rain. " * 3 + "Swept wings lift wings and tails and more of all that lifts."
    assert static_summary(long, words=3, kind="sentences").text.endswith(" …")


def test_the_phrase_goes_before_words_that_are_scattered() -> None:
    found = dynamic_summary(ISLANDS, QUERY, words=30, windows=1)
    assert found.text == (
        "Forty years of New Guinea economic development can be read from its roads! Where one was built, "
        "markets followed. Where it washed away, they closed again."
    )
    assert marked(found) == ["New Guinea economic development"]


def test_two_windows_stand_in_the_order_of_the_text_with_an_ellipsis_between_them() -> None:
    found = dynamic_summary(ISLANDS, "mine visitors", words=40)
    assert found.text == (
        "When a mine was shut by a revolt, the treasury lost a fifth of its income, and the economic outlook "
        "… kinds than any other, bring visitors in the dry months of the year, and the visitors bring "
        "a little money."
    )
    assert marked(found) == ["mine", "visitors", "visitors"]
    # The economics of developing a new road: three of the four terms, and it touches the first window.
    found = dynamic_summary(ISLANDS, QUERY, words=40)
    assert " … " not in found.text
    assert marked(found) == ["New Guinea economic development", "economics", "developing", "new"]


def test_without_a_phrase_the_smallest_stretch_with_most_terms_wins() -> None:
    text = "A wing and, much later in the same line, a tail. Then tail or wing. The wing. The wing. The wing."
    assert dynamic_summary(text, "wings of tails", words=8).text == "Then tail or wing. The wing. The wing."
    found = dynamic_summary(text, "wings of tails", words=4, windows=1)
    assert (found.text, marked(found)) == ("Then tail or wing.", ["tail", "wing"])


def test_among_equals_the_window_that_shows_most_matches_wins_then_the_earliest() -> None:
    text = "One wing. Nothing here at all. One wing. Two wings. Nothing here again. Wing two. Wing."
    assert dynamic_summary(text, "wing", words=4).text == "One wing. Two wings."
    assert dynamic_summary("A wing. B. A wing. C.", "wing", words=2).text == "A wing."


def test_a_second_window_shows_what_the_first_could_not() -> None:
    text = "The tail is here. " + "Nothing is said of it now. " * 9 + "Wing flow wing flow. " * 9 + "End."
    found = dynamic_summary(text, "wing flow tail", words=16)
    assert marked(found)[0] == "tail"
    assert found.text.count(" … ") == 1


def test_a_long_sentence_is_cut_around_its_match_and_says_so() -> None:
    text = " ".join([*["so"] * 40, "wing", *["on"] * 40]) + "."
    found = dynamic_summary(text, "wings", words=9, windows=1)
    assert found.text == "… so so so so wing on on on on …"
    assert found.highlights == ((14, 18),)


def test_what_matches_nothing_gets_the_first_words() -> None:
    assert dynamic_summary(ISLANDS, "zebra", words=5) == static_summary(ISLANDS, words=5)
    assert dynamic_summary(ISLANDS, "", words=5) == static_summary(ISLANDS, words=5)
    assert dynamic_summary("", "wing") == Summary("", ())


def test_stems_match_and_stop_words_only_when_there_is_nothing_else() -> None:
    assert [ISLANDS[b:e] for b, e in matches(ISLANDS, "developing roads")] == [
        "roads",
        "development",
        "roads",
        "developing",
        "road",
    ]
    assert matches("to be or not to be", "to be") == ((0, 5), (13, 18))
    assert matches("to be a wing", "to be a tail") == ()
    assert matches("Strömungen", "strömung", analysis=Words(stem="german")) == ((0, 10),)


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("我在北京大学读书。上海很大。", "北京大学", ["北京大学"]),
        ("黑猫在家。白猫不在。", "猫", ["猫", "猫"]),
        ("東京タワーは高い", "タワー", ["タワー"]),
        ("ภาษาไทยง่าย", "ภาษาไทย", ["ภาษาไทย"]),
        ("כנף המטוס הרימה את המטוס", "המטוס", ["המטוס", "המטוס"]),
        ("جناح الطائرة", "الطائرة", ["الطائرة"]),
        ("un cafe\u0301 noir", "CAF\u00c9", ["cafe\u0301"]),
        ("हिन्दी भाषा सरल है", "भाषा", ["भाषा"]),
        ("go 👩\u200d👩\u200d👧 wing", "wing", ["wing"]),
    ],
)
def test_every_script_is_matched(text: str, query: str, found: list[str]) -> None:
    assert [text[begin:end] for begin, end in matches(text, query)] == found
    assert marked(dynamic_summary(text, query, words=50)) == found


def test_a_text_without_blanks_is_summarised_by_characters() -> None:
    text = "北京大学在北京。" + "上海很大。" * 40 + "南京大学在南京。" + "上海很大。" * 40
    found = dynamic_summary(text, "南京大学", words=20, windows=1)
    assert found.text.startswith("南京大学在南京。上海很大。")
    assert len(found.text) == 28  # 20 pairs of neighbours


def test_joined_signs_and_marks_are_not_parted() -> None:
    family = "👩\u200d👩\u200d👧"
    for text in (family * 60, "🇩🇪" * 90, "👍🏽" * 90, "กิ" * 90):
        cut = static_summary(text, words=3).text.removesuffix(" …")
        assert text.startswith(cut)
        rest = text[len(cut) :]
        assert rest[0] not in "\u200d🏽\u0e34"
        assert text.count("🇩🇪") == 0 or len(cut) % 2 == 0
        assert not text.startswith(family) or len(cut) % len(family) == 0


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ('He said "Go." Then left. Why?! So.', ['He said "Go."', "Then left.", "Why?!", "So."]),
        (
            "Dr. J. Smith of the U.S. Navy, fig. 3, e.g. this, at 3.5 km. ok then... no. Yes",
            ["Dr. J. Smith of the U.S. Navy, fig. 3, e.g. this, at 3.5 km. ok then... no.", "Yes"],
        ),
        (
            "the flow is laminar . the wing is thin. it lifts",
            ["the flow is laminar .", "the wing is thin.", "it lifts"],
        ),
        ("我喜欢。你好。「是。」他说。", ["我喜欢。", "你好。", "「是。」", "他说。"]),
        ("سؤال؟ نعم\u06d4 لا", ["سؤال؟", "نعم\u06d4", "لا"]),
        ("A title\n \nthen a text\nof two lines", ["A title", "then a text of two lines"]),
    ],
)
def test_sentences_end_where_they_end(text: str, sentences: list[str]) -> None:
    layout = Layout.of(text)
    found = zip(layout.starts.tolist(), layout.stops[1:].tolist(), strict=False)
    assert [layout.text[begin:end].strip(" \u2029") for begin, end in found] == sentences


def test_html_and_control_characters_of_a_document_do_nothing() -> None:
    text = "<script>alert(1)</script> wing & 'tail' \x1b[31m\x00 \ud800 \u202eevil\u202c </mark>"
    found = dynamic_summary(text, "wing script", words=50)
    page = found.to_html()
    assert page == (
        "&lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt; <mark>wing</mark> &amp; "
        "&#x27;tail&#x27; [31m \ufffd evil &lt;/mark&gt;"
    )
    assert "\x1b" not in found.to_terminal(bold=False)
    raw = Summary(text, ()).to_terminal()
    assert not set(raw) & {"\x1b", "\x00", "\u202e", "\ud800"}
    assert found.to_terminal().count("\x1b[1m") == 3
    lines = Summary("one\r\ntwo\rthree\tfour")
    assert lines.to_html() == "one\r\ntwo\rthree\tfour"
    assert lines.to_terminal() == "one\ntwo\nthree\tfour"


def test_five_megabytes_of_anything_are_no_trouble() -> None:
    draw = random.Random(1)
    words = [f"word{number}" for number in range(5000)]
    for text in (
        " ".join(draw.choices(words, k=300_000)),
        "a" * 10**6,
        "!" * 10**6,
        " \n" * 10**6,
        ".)" * 10**6,
        "e\u0301" * 10**6,
        "\u0301" * 10**6,
    ):
        found = dynamic_summary(text, "word7 a e")
        assert len(found.text) <= 50 * 24 + 10


def test_bad_numbers_and_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="words must be a whole number of at least 1, not 0"):
        static_summary("a", words=0)
    with pytest.raises(UsageError, match="kind must be 'first' or 'sentences', not 'last'"):
        static_summary("a", kind="last")
    with pytest.raises(UsageError, match="windows must be"):
        dynamic_summary("a", "a", windows=0)


@given(SCRIPTS)
def test_words_stand_where_the_plain_loop_finds_them(text: str) -> None:
    begin, end = word_bounds(text)
    assert list(zip(begin.tolist(), end.tolist(), strict=True)) == summary_loops.word_spans(text)


@given(SCRIPTS, SCRIPTS, st.integers(1, 12), st.integers(1, 3))
def test_a_summary_is_bounded_and_its_marks_are_words_of_the_text(
    text: str, query: str, words: int, windows: int
) -> None:
    for found in (
        dynamic_summary(text, query, words=words, windows=windows),
        static_summary(text, words=words),
        static_summary(text, words=words, kind="sentences"),
    ):
        pieces = [piece.strip(" …") for piece in found.text.split(" … ")]
        assert len(found.text) <= 24 * (words + 2) + 4 * len(pieces)
        for begin, end in found.highlights:
            assert 0 <= begin < end <= len(found.text)
        assert found.highlights == merged(found.highlights)
        shown = re.sub("</?mark>", "", found.to_html())
        assert html.unescape(shown) == found.text.replace("\r", "\n")
    assert all(text[begin:end].strip() for begin, end in matches(text, query))


@given(WORDS, WORDS, st.integers(8, 30), st.integers(1, 3))
def test_what_a_summary_shows_of_the_text_is_there_word_for_word(
    text: str, query: str, words: int, windows: int
) -> None:
    whole = normalised(text).replace("\u2029", " ")
    found = dynamic_summary(text, query, words=words, windows=windows)
    at = 0
    for piece in re.split(r" … |^… | …$", found.text):
        at = whole.index(piece, at) + len(piece)
    unit_count = len(word_bounds(found.text.replace("…", " "))[0])
    assert unit_count <= words + found.text.count("…")


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=14),
    st.lists(st.tuples(st.integers(0, 60), st.integers(2, 6)), max_size=2),
    st.lists(st.integers(1, 63), max_size=8),
    st.integers(1, 25),
)
def test_the_window_is_that_of_the_obvious_loops(
    drawn: list[tuple[int, int, int]], phrases: list[tuple[int, int]], edges: list[int], bound: int
) -> None:
    size = 70
    low = sorted({place for place, _, _ in drawn})
    high: list[int] = []
    for place in low:  # spans of matches rise at both ends
        length = next(length for at, length, _ in drawn if at == place)
        high.append(max([place + length, *high[-1:]]))
    term = [next(term for at, _, term in drawn if at == place) for place in low]
    found = UnitMatches(*(np.array(column, dtype=np.int64) for column in (low, high, term)))
    edge = np.array(sorted({0, size, *edges}), dtype=np.int64)
    units = np.arange(size)
    layout = Layout("x" * size, units, units + 1, edge, edge, edge)
    whole = sorted((place, place + length) for place, length in phrases)
    columns = np.array(whole, dtype=np.int64).reshape(-1, 2).T
    expected = summary_loops.best(
        list(zip(low, high, term, strict=True)),
        list(zip(low, high, term, strict=True)),
        whole,
        edge.tolist(),
        bound,
    )
    assert best(layout, found, found, (columns[0], columns[1]), bound) == expected
