"""The demo's page as text: valid, of one piece, escaped, said in words."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from leadline.demo import Row, Trial, demo_page
from leadline.evaluation.curves import curve
from leadline.evaluation.evaluate import evaluate

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "wbr"}
JUDGMENTS = {"1": {"a": 1, "b": 1}, "2": {"a": 2}, "3": {"a": 0}}
LISTS = {"1": {"a": 2.0, "x": 1.0}, "2": {"x": 2.0, "a": 1.0}}
EVIL = '<script>alert("&1")</script>'


class Tree(HTMLParser):
    """The elements of a page in order; refuses what is not closed or closed twice."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element of a kind."""
        return [attributes for name, attributes in self.found if name == tag]


def made(*names: str) -> str:
    """Make the page of runs with these names."""
    runs = dict.fromkeys(names, LISTS) | {"best": {"2": {"a": 1.0}, "3": {"a": 1.0}}}
    results = evaluate(JUDGMENTS, runs, ["AP", "RankOf(n=1)"])
    return demo_page(results, curve(JUDGMENTS, runs), collection="a & b", judgments=4)


@pytest.fixture(scope="module")
def text() -> str:
    """Return a page with undefined values, notices and a name that must be escaped."""
    return made("plain", EVIL)


def test_every_element_is_closed_and_every_id_is_there_once(text: str) -> None:
    tree = Tree(text)
    ids = [attributes["id"] for _, attributes in tree.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = {
        match
        for _, attributes in tree.found
        for name, value in attributes.items()
        for match in re.findall(r"url\(#([^)]+)" if "href" not in name else r"^#(.+)", value or "")
    }
    assert used
    assert used <= set(ids)


def test_it_is_one_piece_and_names_nothing_on_the_network(text: str) -> None:
    tree = Tree(text)
    assert tree.all("script") == [{}]
    assert [link["href"] for link in tree.all("link")] == ["data:,"]
    addresses = {
        value
        for _, attributes in tree.found
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "action") and value
    }
    assert {re.sub("[:#].*", "", address) for address in addresses} <= {"data", ""}
    policy = next(meta for meta in tree.all("meta") if "http-equiv" in meta)
    assert (policy["content"] or "").startswith("default-src 'none'")


def test_names_are_escaped_in_table_and_pictures(text: str) -> None:
    assert EVIL not in text
    assert "&lt;script&gt;alert(" in text
    assert "a &amp; b" in text


def test_a_reader_who_does_not_see_it_is_told(text: str) -> None:
    tree = Tree(text)
    assert tree.all("html") == [{"lang": "en"}]
    assert {head["scope"] for head in tree.all("th")} == {"col", "row"}
    assert len(tree.all("caption")) == len(tree.all("table")) == 1
    pictures = tree.all("svg")
    assert [picture["role"] for picture in pictures] == ["img", "img"]
    titles = [title.get("id") for title in tree.all("title")[1:]]
    assert [picture["aria-labelledby"] for picture in pictures] == titles
    assert len(tree.all("figcaption")) == 2


def test_notices_stand_in_words_and_undefined_values_are_dashes(text: str) -> None:
    assert "<li>1 judged query without a relevant document (scored 0)</li>" in text
    undefined = evaluate({"1": {"a": 0}}, {"one": {"1": {"a": 1.0}}}, ["AP(rel=1)", "RankOf(n=1)"])
    curves = curve({"1": {"a": 0}}, {"one": {"1": {"a": 1.0}}})
    found = demo_page(undefined, curves, collection="c", judgments=1)
    assert '<td data-value="">-</td>' in found


def test_without_notices_the_page_says_that_all_is_whole() -> None:
    judgments, runs = {"1": {"a": 1}}, {"one": {"1": {"a": 1.0}}}
    results = evaluate(judgments, runs, ["AP"])
    found = demo_page(results, curve(judgments, runs), collection="c", judgments=1)
    assert "Nothing was missing, unjudged or tied." in found


def test_the_best_run_comes_first_and_the_best_values_are_marked() -> None:
    judgments = {"1": {"a": 1}}
    runs = {"second": {"1": {"x": 2.0, "a": 1.0}}, "first": {"1": {"a": 1.0}}}
    results = evaluate(judgments, runs, ["AP"])
    found = demo_page(results, curve(judgments, runs), collection="c", judgments=1)
    assert re.findall(r'<th scope="row" data-value="([^"]*)"', found) == ["first", "second"]
    assert re.findall(r'<td class="best" data-value="([^"]*)"', found) == ["1.0"]


def test_the_machine_has_a_table_of_its_own() -> None:
    runs = {EVIL: {"1": {"a": 1.0}}}
    results = evaluate({"1": {"a": 1}}, runs, ["AP"])
    trial = Trial([Row(EVIL, 0.9, 1, 0.25, 0.2, 0.3, 6, 0.24, 6)], judgments=20, queries=1, labels=10)
    found = demo_page(results, curve({"1": {"a": 1}}, runs), collection="c", judgments=1, circular=trial)
    assert "&lt;table" not in found
    assert EVIL not in found
    assert len(Tree(found).all("table")) == 2
    assert '<td data-value="0.25">0.250<small>rank 6; 0.200 to 0.300</small></td>' in found
