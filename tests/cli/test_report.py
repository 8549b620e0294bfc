"""`leadline report`: the page, what is on it, and what is written beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import leadline as ll
from conftest import REPOSITORY, Leadline
from leadline.comparison.compare import compare
from leadline.pages import _visible
from leadline.pages.report import OVERLAP, story, tally

EXAMPLES = REPOSITORY / "docs" / "examples"
ASKED = ("report", "qrels.txt", "bm25.run", "dense.run")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where the examples are."""
    monkeypatch.chdir(EXAMPLES)


def test_the_page_tells_the_whole_story_and_the_same_inputs_give_the_same(
    leadline: Leadline, tmp_path: Path
) -> None:
    path, again = tmp_path / "page.html", tmp_path / "again" / "page.html"
    again.parent.mkdir()
    asked = (*ASKED, "-m", "AP", "-m", "RR", "-o")
    assert leadline(*asked, again).status == 0
    done = leadline(*asked, path)
    page = path.read_text(encoding="utf-8")
    assert page == again.read_text(encoding="utf-8").replace(str(again), str(path))
    assert done.status == 0
    assert f"wrote {path}\n" in done.err
    assert "0.6667" in page
    assert page.count("<svg") == 1 + 2 * 4  # curves, then forest, map, differences, scatter of both
    assert "fe5ad17b79c675eaa09262cb695877ef17f2bd165f8bd075eb0d3f8b08410685" in page
    assert r"\begin{tabular}" in page
    assert re.findall(r"(?:href|src)=\"(?!#|data:)[^\"]*", page) == [], "it links to nothing"


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("measures", "words"),
    [
        ("AP", "AP 0. Other comparisons: 1 not significant."),
        ("AP RR", "AP 0, RR 0. Other comparisons: 2 not significant."),
    ],
)
def test_the_page_counts_significant_differences(
    measures: str, words: str, leadline: Leadline, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    assert leadline(*ASKED, *(f"-m{name}" for name in measures.split()), "-o", path).status == 0
    said = f"<p>Significant differences by measure (1 pair of runs): {words}</p>"
    assert said in path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_the_baseline_may_be_a_file_of_its_own(leadline: Leadline, tmp_path: Path) -> None:
    options = ("--baseline", "bm25.run", "-m", "AP", "-f", "json", "-o", tmp_path / "page.html")
    found = [
        leadline(*words, *options).data
        for words in (ASKED, ("report", "qrels.txt", "dense.run"), ("compare", "qrels.txt", "dense.run"))
    ]
    assert found[0]["pairs"] == found[1]["pairs"] == found[2]["pairs"]
    assert compare("qrels.txt", ["bm25.run", "dense.run"], baseline="bm25.run").baselines == ["bm25"]
    saved = tmp_path / "saved.json"
    forced = ("--config", "output.force_update")
    assert (
        leadline("compare", *ASKED[1:], "--baseline", saved, "--update-baseline", saved, *forced).status == 0
    )
    assert f"{saved} is a saved result" in leadline(*ASKED, "--baseline", saved).refusal


@pytest.mark.usefixtures("undrawn")
def test_digits_are_those_of_the_table_too(leadline: Leadline, tmp_path: Path) -> None:
    table = tmp_path / "means.txt"
    asked = (*ASKED, "-m", "AP", "-o", tmp_path / "page.html", "-o", table, "-C", "output.digits=2")
    assert " 0.67 " in leadline(*asked).out
    assert " 0.67 " in table.read_text()


def test_a_report_on_a_sampled_pool_plans_nothing(leadline: Leadline, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.csv"
    drawn.write_text("query_id,doc_id,relevance,probability\nknots,d1,1,0.5\n")
    asked = ("report", drawn, *ASKED[2:], "-C", "test.smallest=0.1", "-o", tmp_path / "page.html")
    assert "--config test.smallest does not apply to a report on a sampled pool." in leadline(*asked).refusal


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_values_alone_does_not_say_that_nothing_was_unjudged(tmp_path: Path) -> None:
    rows = [
        {"query": f"q{query}", "run": run, "measure": "AP", "value": value * query**0.5 / 3}
        for run, value in (("a", 0.5), ("b", 0.25))
        for query in range(10)
    ]
    page = tmp_path / "page.html"
    assert not ll.report(ll.read_scores(rows), page).warnings
    assert "Nothing was missing" not in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_a_page_made_in_python_says_its_judgments(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    runs: dict[str, str | Path] = {"a": "bm25.run", "b": Path("dense.run")}
    ll.report("qrels.txt", runs, page, measures=["P@5"], confidence=0.9, test="Wilcoxon", rel=2)
    text = page.read_text(encoding="utf-8")
    number = len((EXAMPLES / "qrels.txt").read_text().splitlines())
    assert f"{number} judgments." in text
    assert f'<th scope="row">qrels.txt</th><td>{number}</td>' in text


def test_the_best_run_is_not_said_to_be_better_than_a_run_that_beats_it_on_shared_queries() -> None:
    def found(rank: int) -> dict[str, float]:
        return {f"x{place}": 9.0 - place for place in range(1, rank)} | {"d": 1.0}

    qrels = {f"q{query}": {"d": 1} for query in range(30)}
    easy = {f"q{query}": found(1) for query in range(15, 30)}
    runs = {
        "best": easy | {f"q{query}": found(4 + query % 2) for query in range(15)},
        "part": {f"q{query}": found(3) for query in range(15)},
        "poor": dict.fromkeys(qrels, found(8)),
    }
    told = story(compare(ll.evaluate(qrels, runs, "RR", queries="both")))
    assert told[1].startswith("part is significantly better than best")
    assert told[2] == "best is significantly better on RR than 1 of the 2 runs compared with it."


@pytest.mark.usefixtures("undrawn")
def test_runs_that_no_sentence_describes_are_counted(tmp_path: Path) -> None:
    qrels = {f"q{query}": {"d": 1} for query in range(5)}
    runs = {
        f"r{k}": {query: {"d": float(k > n), "x": 0.5} for n, query in enumerate(qrels)} for k in range(12)
    }
    ll.report(qrels, runs, tmp_path / "page.html", measures="RR")
    said = (tmp_path / "page.html").read_text(encoding="utf-8").partition("compared with the others</h3>")[2]
    assert "<p>2 more runs are not described here.</p>" in said


@pytest.mark.usefixtures("undrawn")
def test_columns_of_judgments_are_named_in_python_too(tmp_path: Path) -> None:
    judged = tmp_path / "judged.csv"
    rows = (line.split() for line in (EXAMPLES / "qrels.txt").read_text().splitlines())
    judged.write_text("".join(f"{document},{grade},{query}\n" for query, _, document, grade in rows))
    page, columns = tmp_path / "page.html", "doc_id,relevance,query_id"
    given = ll.report(judged, ["bm25.run", "dense.run"], page, measures="AP", qrels_columns=columns)
    assert (
        given.results.means.tolist()
        == ll.evaluate("qrels.txt", ["bm25.run", "dense.run"], "AP").means.tolist()
    )


def test_where_all_differences_are_significant_no_others_are_counted() -> None:
    qrels = {f"q{query}": {"a": 1} for query in range(20)}
    good, bad = {"a": 1.0}, {"b": 1.0}
    runs = {"good": dict.fromkeys(qrels, good), "bad": dict.fromkeys(qrels, bad) | {"q0": good}}
    assert tally(compare(qrels, runs, measures="AP")) == (
        "Significant differences by measure (1 pair of runs): AP 1."
    )


def test_the_story_does_not_tell_how_the_best_run_differs_from_runs_that_are_not_tested() -> None:
    runs = {
        "x": {"q": {"a": 1.0}},
        "y": {"q": {"b": 2.0, "a": 1.0}},
        "z": {"q": {"b": 2.0, "c": 1.5, "a": 1.0}},
    }
    found = compare(ll.evaluate({"q": {"a": 1}}, runs, "RR"))
    assert set(found.verdicts[0]) == {"undecided"}
    assert "differ significantly" not in story(found)[-1]
    assert "approximate_intervals" not in [one.code for one in found.warnings]


def test_the_story_names_the_runs_that_are_as_good_as_the_best_one() -> None:
    qrels = {f"q{query}": {"a": 1} for query in range(6)}
    good = {query: {"a": 1.0} for query in qrels}
    bad = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    told = story(compare(ll.evaluate(qrels, {"x": good, "y": good, "z": bad}, "RR")))
    assert told[0].endswith("tied with y.")
    assert "tied" not in story(compare(ll.evaluate(qrels, {"x": good, "z": bad}, "RR")))[0]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("queries", [1, 3])
def test_intervals_are_explained_where_there_are_any(queries: int, tmp_path: Path) -> None:
    qrels = {f"q{query}": {"a": 1} for query in range(queries)}
    run = {f"q{query}": {"b": 1.0 + query % 2, "a": 1.5} for query in range(queries)}
    ll.report(qrels, {"x": run, "y": run}, tmp_path / "page.html", measures="RR")
    assert (OVERLAP in (tmp_path / "page.html").read_text(encoding="utf-8")) == (queries > 1)


@pytest.mark.usefixtures("undrawn")
def test_names_from_right_to_left_are_isolated_from_the_numbers_after_them(tmp_path: Path) -> None:
    page, name = tmp_path / "page.html", "\u0646\u0638\u0645-2"
    ll.report("qrels.txt", {name: "bm25.run", "b": "dense.run"}, page, measures="AP")
    text = page.read_text(encoding="utf-8")
    assert f"\u2068{name}\u2069" in text


def test_long_words_are_looked_through_once() -> None:
    assert str(_visible("\u0646" * 3 + ", b" + "a" * 1_000_000)).startswith(
        "\u2068" + "\u0646" * 3 + "\u2069, b"
    )


def test_names_are_escaped(leadline: Leadline, tmp_path: Path) -> None:
    odd = tmp_path / "<script>alert(1)<!--.run"
    odd.write_bytes((EXAMPLES / "bm25.run").read_bytes())
    page = tmp_path / "page.html"
    assert leadline(*ASKED, odd, "-m", "AP", "-o", page).status == 0
    assert "<script>alert" not in page.read_text(encoding="utf-8")


def test_names_that_look_like_colors_or_ids_are_left_as_they_are(leadline: Leadline, tmp_path: Path) -> None:
    page, odd = tmp_path / "page.html", [tmp_path / "#0072b2.run", tmp_path / "url(#a).run"]
    for path in odd:
        path.write_bytes((EXAMPLES / "bm25.run").read_bytes())
    assert leadline("report", "qrels.txt", *odd, "-m", "AP", "-o", page).status == 0
    drawn = page.read_text(encoding="utf-8")
    assert ">#0072b2</text>" in drawn
    assert ">url(#a)</text>" in drawn


@pytest.mark.usefixtures("undrawn")
def test_latex_has_letters_and_json_has_runs_and_pairs(leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    (tmp_path / "third.run").write_bytes((EXAMPLES / "bm25.run").read_bytes())
    asked = ("report", "qrels.txt", "bm25.run", "dense.run", tmp_path / "third.run", "-m", "AP", "-o", path)
    assert r"\toprule" in leadline(*asked, "-f", "latex").out
    data = leadline(*asked, "-f", "json").data
    assert data["command"] == "report"
    assert [run["name"] for run in data["runs"]] == ["bm25", "dense", "third"]
    assert len(data["pairs"]) == 3
    assert set(data["runs"][0]["intervals"]) == set(data["measures"])


def test_143_runs_fit_a_page(leadline: Leadline, shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "trec-covid-r1"
    runs = sorted((folder / "runs").iterdir())[::5]
    path = tmp_path / "page.html"
    assert leadline("report", folder / "qrels.txt", *runs, "-m", "AP", "-o", path).status == 0
    page = path.read_text(encoding="utf-8")
    assert page.count("<svg") == 6
    assert len(page) < 3_000_000


@pytest.mark.usefixtures("undrawn")
def test_the_page_may_go_to_standard_output(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [str(EXAMPLES / name) for name in ASKED[1:]]
    monkeypatch.chdir(tmp_path)
    out = leadline("report", *asked, "-m", "AP", "-f", "html", "-o", "-").out
    assert out.lower().startswith("<!doctype html>")
    assert out.rstrip().endswith("</html>")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("undrawn")
def test_runs_without_a_mean_have_no_best(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("tides 0 d07 0\ntides 0 d04 0\n")
    asked = ("report", tmp_path / "none.txt", *ASKED[2:], "-m", "RankOf(n=1)")
    done = leadline(*asked, "-o", tmp_path / "page.html")
    assert done.status == 0
    assert "RankOf has no mean for any run." in done.out
    assert "nan" not in done.out


@pytest.mark.usefixtures("undrawn")
def test_the_options_are_those_of_the_table(leadline: Leadline, tmp_path: Path) -> None:
    data = leadline(*ASKED, "-m", "AP", "-f", "json", "-o", tmp_path / "page.html").data
    assert (data["options"]["measures"], data["options"]["intervals"]) == (["AP"], "Student")


@pytest.mark.usefixtures("undrawn")
def test_of_a_falling_measure_the_page_says_that_less_is_better(leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    leadline(*ASKED, "-m", "RankOf(n=1)", "-o", path)
    page = path.read_text(encoding="utf-8")
    assert "Lower is better." in page
    assert "largest gain" not in page
    leadline(*ASKED, "-m", "AP", "-o", path)
    assert "Lower is better." not in path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_another_suffix_is_the_table(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline(*ASKED, "-m", "AP", "-o", tmp_path / "t.tex")
    assert done.status == 0
    assert (tmp_path / "t.tex").read_text() == leadline(*ASKED, "-m", "AP", "-f", "latex", "-o", "-").out
    assert leadline(*ASKED, "-m", "AP", "-o", tmp_path / "t.pdf").status == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.tex"]


def test_one_run_is_refused_and_nothing_is_written(leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    done = leadline("report", "qrels.txt", "bm25.run", "-o", path)
    assert (done.status, path.exists()) == (2, False)
    assert "a comparison needs at least two runs, not 1" in done.err
