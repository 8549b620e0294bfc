"""Every result prints, becomes frames and text, and is written to files, as its command writes it."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import pytest

import leadline as ll
from conftest import Leadline
from leadline.comparison.query_slices import slices_of
from leadline.comparison.suite_evaluation import suite
from leadline.data.table import Table
from leadline.errors import InputError, LeadlineError, MissingPackageError, UnknownOptionError, UsageError
from leadline.estimation.pool_designs import pool_for
from leadline.evaluation.curves import subtopic_curve
from leadline.io.read_paths import recorded
from leadline.result import Result
from leadline.retrieval.collection import collection
from leadline.scale.saved_files import Verification, verify
from whole_pictures import results_with_figures

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
RUNS = ["bm25.run", "dense.run"]
DRAWN = {"knots": {"d01": 1.0, "d02": 0.5}, "tides": {"d03": 0.25}}


def values_of(measure: str) -> dict[str, float]:
    """Return the values of a measure by query."""
    (run,) = ll.evaluate("qrels.txt", "bm25.run", measure).to_dict(per_query=True)["runs"]
    return {query: next(iter(values.values())) for query, values in run["queries"].items()}


def verification() -> Verification:
    """Save results, and verify the file."""
    ll.evaluate("qrels.txt", "bm25.run").write("saved.parquet")
    return verify("saved.parquet")


MAKERS: dict[str, Callable[[], Any]] = {
    "ABTest": lambda: ll.abtest(a=(46, 10000), b=(60, 10000)),
    "Agreement": lambda: ll.agreement("judges.csv"),
    "CheckResult": lambda: ll.check(["qrels.txt", "bm25.run"]),
    "Collection": lambda: collection("docs.jsonl", "queries.jsonl", "qrels.txt"),
    "Comparison": lambda: ll.compare("qrels.txt", RUNS),
    "Correlation": lambda: ll.correlate({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "b": 3.0, "c": 2.0}),
    "Curves": lambda: ll.curve("qrels.txt", RUNS),
    "Difference": lambda: ll.difference("qrels.txt", RUNS),
    "EstimatedResults": lambda: ll.evaluate("qrels.txt", RUNS, "P@5", pool=DRAWN),
    "Estimates": lambda: ll.sampled("qrels.txt", RUNS, ["AP", "RR"], population=20),
    "Explanation": lambda: ll.explain("qrels.txt", "bm25.run", "nDCG@10", "knots"),
    "Histograms": lambda: ll.histogram("qrels.txt", RUNS, bins=4),
    "MeasuredPool": lambda: pool_for(RUNS, "P@5", budget=2),
    "Pool": lambda: ll.pool(RUNS, depth=2),
    "Predictions": lambda: ll.predict(RUNS),
    "QueryValues": lambda: ll.evaluate("qrels.txt", RUNS, "AP").per_query(),
    "Ranking": lambda: ll.rank("qrels.txt", RUNS, ["AP"]),
    "Replication": lambda: ll.replicate(RUNS, RUNS[::-1], qrels="qrels.txt"),
    "Results": lambda: ll.evaluate("qrels.txt", RUNS),
    "ScoreAudit": lambda: ll.audit_scores(
        {"any": ll.evaluate("qrels.txt", RUNS, "AP"), "high": ll.evaluate("qrels.txt", RUNS, "AP(rel=2)")}
    ),
    "Slices": lambda: slices_of(ll.evaluate("qrels.txt", RUNS), {"knots": "short", "wings": "long"}),
    "Suite": lambda: suite("suite.toml"),
    "SubtopicCurves": lambda: subtopic_curve("jaguar.txt", ["varied.run", "alike.run"]),
    "Unjudged": lambda: ll.unjudged(RUNS, method="nruns"),
    "Verification": verification,
    "WhyDifferent": lambda: ll.why_different(
        *(
            {q: {"nDCG@10": v} for q, v in values_of(name).items()}
            for name in ("nDCG@10", "nDCG(gain=exp)@10")
        ),
        qrels="qrels.txt",
        run="bm25.run",
    ),
}
COMMANDS = {
    "ABTest": "abtest --a 46/10000 --b 60/10000",
    "Agreement": "agreement judges.csv",
    "CheckResult": "check qrels.txt bm25.run",
    "Collection": "collection docs.jsonl queries.jsonl qrels.txt",
    "Comparison": "compare qrels.txt bm25.run dense.run",
    "Curves": "curve qrels.txt bm25.run dense.run",
    "Difference": "difference qrels.txt bm25.run dense.run",
    "Estimates": "sampled qrels.txt bm25.run dense.run -m AP -m RR --population 20",
    "Explanation": "explain qrels.txt bm25.run -m nDCG@10 --query-id knots",
    "Histograms": "histogram qrels.txt bm25.run dense.run --bins 4",
    "Predictions": "predict bm25.run dense.run",
    "Results": "evaluate qrels.txt bm25.run dense.run",
    "SubtopicCurves": "curve jaguar.txt varied.run alike.run --config read.subtopics",
    "Unjudged": "unjudged bm25.run dense.run --method nruns",
}
ENVELOPE = {"leadline", "command", "inputs", "options", "warnings"}
every = pytest.mark.parametrize("name", list(MAKERS))


@pytest.fixture(autouse=True)
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the example files."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@every
def test_the_reference_lists_every_attribute(name: str) -> None:
    page = (EXAMPLES.parent / "api.md").read_text("utf-8")
    result = MAKERS[name]()
    kinds = "|".join(base.__name__ for base in type(result).__mro__)
    section = "".join(re.findall(rf"^##+ class (?:{kinds})\n(.*?)(?=^##+ )", page, re.MULTILINE | re.DOTALL))
    held = {attribute for attribute in vars(result) if not attribute.startswith("_")}
    assert (
        held
        - {
            attribute
            for names in re.findall(r"^- (.*?): ", section, re.MULTILINE)
            for attribute in re.findall(r"`(\w+)", names)
        }
        == set()
    )


def test_every_result_of_the_package_is_tried_here() -> None:
    kinds = {"Result"}
    sources = [file.read_text("utf-8") for file in Path(ll.__file__).parent.rglob("*.py")]
    pattern = re.compile(r"^class (\w+)\((?:\w+, )*(\w+)\):", re.MULTILINE)
    pairs = [pair for text in sources for pair in pattern.findall(text)]
    for _ in range(3):  # classes that are derived from others
        kinds |= {name for name, base in pairs if base in kinds}
    assert kinds - {"Result", "Facts"} == set(MAKERS)


class Tags(html.parser.HTMLParser):
    """Collect open tags, and fail where one is closed that is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@every
def test_a_result_has_every_form(name: str) -> None:
    result = MAKERS[name]()
    assert type(result).__name__ == name
    assert isinstance(result, Result)
    table = result.table()
    assert isinstance(table, Table)
    assert table.rows
    assert all(len(row) == len(table.columns) for row in table.rows)
    saved = json.loads(result.to_json())
    assert json.loads(json.dumps(result.to_dict())).keys() <= saved.keys()
    assert str(type(result).from_json(result.to_json())) == str(result)
    columns = result.to_columns()
    (length,) = {len(column) for column in columns.values()}
    assert length > 0
    if name not in ("EstimatedResults", "MeasuredPool", "Pool", "Predictions"):
        assert next(csv.reader(io.StringIO(result.to_csv()))) == list(columns)
    assert result.to_polars().shape == (length, len(columns))
    assert result.to_arrow().num_rows == length
    assert len(result.to_pandas()) == length
    assert r"\begin{tabular}" in result.to_latex()
    assert result.to_markdown().startswith("| ")
    parser = Tags()
    parser.feed(result._repr_html_())
    parser.close()
    assert parser.open == []
    assert "table" in parser.seen
    assert repr(result) != str(result)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_result_prints_and_is_written_as_its_command_does(name: str, leadline: Leadline) -> None:
    result, command = MAKERS[name](), COMMANDS[name].split()
    with recorded():  # notes name options then
        texts = {"table": f"{result}\n", "csv": result.to_csv(), "latex": result.to_latex()}
        texts["markdown"] = result.to_markdown()
    for form, text in texts.items():
        assert leadline(*command, "-f", form).out == text
    own = {k: v for k, v in json.loads(leadline(*command, "-f", "json").out).items() if k not in ENVELOPE}
    assert own == json.loads(json.dumps(result.to_dict()))


@every
def test_a_result_is_written_by_suffix(name: str, tmp_path: Path) -> None:
    result = MAKERS[name]()
    texts = {"csv": result.to_csv(), "tex": result.to_latex(), "md": result.to_markdown()}
    for suffix, text in texts.items():
        result.write(tmp_path / f"r.{suffix}")
        assert (tmp_path / f"r.{suffix}").read_text("utf-8") == text
    result.write("r.json")
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == json.loads(result.to_json())
    result.write("r.HTML")
    page = (tmp_path / "r.HTML").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert result.to_html() in page
    import pyarrow.parquet

    result.write("r.parquet")
    again = pyarrow.parquet.read_table(tmp_path / "r.parquet")
    assert again.column_names == list(result.saved_columns())
    assert b"leadline" in again.schema.metadata


def test_values_of_queries_go_through_parquet(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    results = MAKERS["Results"]()
    results.write(tmp_path / "values.parquet", per_query=True)
    again = pl.read_parquet(tmp_path / "values.parquet")
    assert again.columns == ["run", "query_id", "measure", "value"]
    assert np.array_equal(again["value"].to_numpy(), results.shown.ravel(), equal_nan=True)
    assert len(results.to_csv(per_query=True).splitlines()) == 1 + len(RUNS) * (len(results.queries) + 1)


@pytest.mark.parametrize(("name", "given"), [("r.xlsx", ", not '.xlsx'"), ("r", ""), ("-", "")])
def test_another_suffix_is_refused_with_the_choices(name: str, given: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"the suffix must be \.txt, \.csv.* or \.png{given}$"):
        MAKERS["Results"]().write(name)
    assert not (tmp_path / name).exists()


def test_a_text_form_refuses_an_open_file(tmp_path: Path) -> None:
    with (
        (tmp_path / "r.csv").open("w") as file,
        pytest.raises(UsageError, match=r"does not write a file. Use `write\(path\)`"),
    ):
        MAKERS["Results"]().to_csv(file)


@pytest.mark.parametrize(
    ("name", "target"), [("means", "means.csv"), ("means.txt", "means.csv"), ("means.csv.gz", "means.csv.gz")]
)
def test_a_text_form_suggests_a_file_of_its_format(name: str, target: str) -> None:
    with pytest.raises(UsageError, match=rf"Use `write\('{target}'\)`"):
        MAKERS["Results"]().to_csv(name)


def test_a_result_does_not_replace_an_input_of_a_command(tmp_path: Path) -> None:
    from leadline.io.read_paths import recorded

    shutil.copy("judges.csv", "input.csv")
    with recorded():
        result = ll.agreement("input.csv")
        with pytest.raises(UsageError, match="would overwrite an input"):
            result.write("input.csv")
    assert (tmp_path / "input.csv").read_bytes() == (tmp_path / "judges.csv").read_bytes()


def test_names_are_escaped_in_html() -> None:
    name = "<script>alert('x')</script>&\x1b[31m"
    results = ll.evaluate({"q": {"d": 1}}, {name: {"q": {"d": 1.0}}, "b": {"q": {"x": 1.0}}}, "RR")
    text = results._repr_html_()
    assert "<script" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;\\x1b[31m" in text
    assert "<strong>1.0000</strong>" in text


def test_means_are_wide_and_values_of_queries_long() -> None:
    results = ll.evaluate("qrels.txt", RUNS, ["AP", "RR"])
    wide = results.to_pandas()
    assert list(wide.columns) == ["AP", "RR"]
    assert list(wide.index) == results.names
    assert np.array_equal(wide.to_numpy(), results.means)
    assert results.to_polars().columns == ["run", "AP", "RR"]
    assert results.to_arrow(long=True).column_names == ["run", "measure", "value"]
    assert list(results.to_pandas(per_query=True).columns) == ["run", "query", "measure", "value"]
    by_query = results.to_pandas(per_query=True, long=False)
    assert list(by_query.columns) == ["run", "query", "AP", "RR"]
    assert np.array_equal(by_query["RR"], results.shown[:, :, 1].ravel(), equal_nan=True)


@pytest.mark.parametrize("per_query", [False, True])
def test_frames_hold_intervals_and_bounds_as_the_csv_does(per_query: bool) -> None:
    results = ll.evaluate("qrels.txt", RUNS, ["AP", "RR"], bounds=True, intervals="Student")
    frame = results.to_pandas(per_query=True) if per_query else results.to_pandas()
    written = pd.read_csv(io.StringIO(results.to_csv(per_query=per_query)))
    if per_query:
        written = written[written["query"].notna()]
    key = ["run", "query", "measure"] if per_query else ["run", "measure"]
    assert set(frame.columns) == set(written.columns) > {"low", "high", "unjudged high"}
    for ours, theirs in ((frame, written), (results.to_polars(per_query=per_query).to_pandas(), written)):
        aligned = ours.set_index(key).sort_index(), theirs.set_index(key).sort_index()
        pd.testing.assert_frame_equal(*aligned, check_like=True, check_exact=True, check_dtype=False)
    assert list(results.to_pandas(long=False).columns) == ["AP", "RR"]


@pytest.mark.parametrize(
    ("package", "extra"),
    [("pandas", "pandas`.$"), ("polars", "polars`.$"), ("pyarrow", r'leadline\[frames\]"`.$')],
)
def test_a_frame_without_its_package_says_what_to_install(
    package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    result = MAKERS["Unjudged"]()
    monkeypatch.setitem(sys.modules, package, None)
    method = {"pyarrow": result.to_arrow}.get(package) or getattr(result, f"to_{package}")
    with pytest.raises(MissingPackageError, match=rf"^{package}.* is not installed\. Install .*{extra}"):
        method()


# Figures


@pytest.mark.parametrize("name", results_with_figures())
def test_a_result_with_a_figure_draws_and_writes_it(name: str, tmp_path: Path) -> None:
    result = MAKERS[name]()
    figure = result.plot()
    assert figure.get_size_inches().min() > 0
    result.plot(tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text("utf-8").startswith("<?xml")


def test_a_comparison_draws_what_the_command_draws(leadline: Leadline, tmp_path: Path) -> None:
    leadline("compare", "qrels.txt", *RUNS, "-o", "a.svg", "--figure", "scatter")
    MAKERS["Comparison"]().plot("b.svg", figure="scatter")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(UsageError, match="this result has no figure"):
        MAKERS["WhyDifferent"]().plot()
    with pytest.raises(UsageError, match="forrest"):
        MAKERS["Comparison"]().plot(figure="forrest")


# From JSON


@pytest.mark.parametrize(
    "options",
    [{}, {"queries": "both"}, {"queries": "with_relevant"}, {"rel": 2}, {"profile": "trec9"}],
    ids=str,
)
def test_results_come_back_from_json(options: dict[str, Any]) -> None:
    results = ll.evaluate("qrels.txt", RUNS, ["AP", "nDCG(gain=exp)@10", "RankOf", "RR"], **options)
    again = ll.Results.from_json(results.to_json())
    assert again.to_dict(per_query=True) == results.to_dict(per_query=True)
    assert np.array_equal(again.means, results.means, equal_nan=True)
    for place in range(len(results.measures)):
        assert np.array_equal(again.averaged_values(place), results.averaged_values(place), equal_nan=True)
    first = str(results.measures[0])
    pairs = [ll.compare(each, measures=first).to_dict() for each in (again, results)]
    assert pairs[0] == pairs[1]


def test_results_come_back_from_what_a_command_writes(leadline: Leadline) -> None:
    assert leadline("evaluate", "qrels.txt", *RUNS, "-o", "kept.json").status == 0
    again = ll.Results.from_json(Path("kept.json").read_text())
    results = ll.evaluate("qrels.txt", RUNS)
    assert str(again) == str(results)
    assert again.options["profile"] == "leadline"


def three_lists() -> dict[str, dict[str, float]]:
    """Return the lists of bm25, turned round."""
    lists = ll.read_run("bm25.run").to_dict()
    return {query: {name: -score for name, score in part.items()} for query, part in lists.items()}


def test_a_comparison_comes_back_from_json() -> None:
    for options in ({}, {"baseline": "a"}, {"test": "Randomisation", "seed": 7, "correction": "MaxT"}):
        runs: dict[str, Any] = {"a": "bm25.run", "b": "dense.run", "c": three_lists()}
        results = ll.evaluate("qrels.txt", runs, ["AP", "RR"])
        made = ll.compare(results, **options)
        again = ll.Comparison.from_json(made.to_json())
        assert again.to_dict(per_query=True) == made.to_dict(per_query=True)


@every
def test_every_result_comes_back_from_json_and_draws_its_figure(name: str) -> None:
    result = MAKERS[name]()
    again = type(result).from_json(result.to_json())
    assert again.to_dict() == result.to_dict()
    assert again.to_csv() == result.to_csv()
    assert again.to_json() == result.to_json(), "with its inputs"
    assert sorted(again.sources) == sorted(result.sources), "which are never overwritten"
    if type(result)._figure is not Result._figure:
        assert again.plot() is not None
    str(result)
    assert pickle.loads(pickle.dumps(result)).to_json() == result.to_json()


@pytest.mark.parametrize("more", [{"bounds": True}, {"intervals": True}])
def test_bounds_and_intervals_come_back_from_json(more: dict[str, Any]) -> None:
    results = ll.evaluate("qrels.txt", RUNS, "AP", **more)
    again = ll.Results.from_json(results.to_json())
    assert again.to_dict(per_query=True) == results.to_dict(per_query=True)


def test_another_class_and_other_json_are_refused() -> None:
    results = ll.evaluate("qrels.txt", RUNS, "RR")
    with pytest.raises(UsageError, match="the JSON contains a result of type Results, not Comparison"):
        ll.Comparison.from_json(results.to_json())
    for text in ("[]", "nothing", "{}", json.dumps(results.to_dict(per_query=True))):
        with pytest.raises(LeadlineError):
            ll.Results.from_json(text)
    with pytest.raises(UsageError, match="its type is null"):
        ll.Results.from_json("null")


def damaged(data: Any) -> Iterator[Any]:
    """Yield copies of plain data in which one thing is missing or something else."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield {name: each for name, each in data.items() if name != key}
            for other in (None, 7, "x", [], {}, [{"a": 1}], *damaged(value)):
                yield data | {key: other}
    elif isinstance(data, list):
        for place, value in enumerate(data[:2]):
            for other in (None, 7, "x", [], {}, *damaged(value)):
                yield [*data[:place], other, *data[place + 1 :]]


def test_damaged_json_is_refused_in_one_line_or_makes_a_result_that_prints() -> None:
    results = ll.evaluate("qrels.txt", RUNS, "RR")
    refused = []
    for data in damaged(json.loads(results.to_json())):
        try:
            made = ll.Results.from_json(json.dumps(data))
            assert str(made)
        except LeadlineError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert not any("\n" in each for each in refused)


@pytest.mark.parametrize("text", [None, 7, {}, "[" * 100_000])
def test_what_is_no_json_is_refused(text: Any) -> None:
    with pytest.raises(UsageError, match=r"Results\.to_json|needs the JSON as text"):
        ll.Results.from_json(text)


@pytest.mark.parametrize(
    ("name", "call", "says"),
    [
        ("Results", lambda it: it.to_csv(long=True), "Results.table has no option 'long'"),
        ("Results", lambda it: it.write("x.tex", foo=1), "Results.table has no option 'foo'"),
        ("Curves", lambda it: it.table(foo=1), "Curves.table has no option 'foo'. It takes no options."),
        ("Results", lambda it: it.plot(foo=1), "Results.plot has no option 'foo'. Use figure or measure"),
    ],
)
def test_an_option_that_a_form_does_not_take_is_one_line(
    name: str, call: Callable[[Any], Any], says: str
) -> None:
    with pytest.raises(UnknownOptionError) as error:
        call(MAKERS[name]())
    assert str(error.value).startswith(says)


@pytest.mark.parametrize("form", ["to_pandas", "to_polars", "to_arrow"])
def test_ids_that_are_not_unicode_are_no_frame_in_one_line(form: str) -> None:
    name = "bm25\udc80"
    results = ll.evaluate({"q": {"d": 1}}, {name: {"q": {"d": 1.0}}, "b": {"q": {"d": 2.0}}}, "RR")
    for result in (results, ll.unjudged({name: {"q": ["d"]}, "b": {"q": ["d"]}})):
        with pytest.raises(InputError, match=r"^an id or a run name is not valid UTF-8"):
            getattr(result, form)()


# Results already computed


def test_results_are_compared_as_their_runs_are() -> None:
    results = ll.evaluate("qrels.txt", RUNS, ["AP", "nDCG@10", "RR"])
    assert str(ll.compare(results, measures=["AP", "nDCG@10"])) == str(ll.compare("qrels.txt", RUNS))
    assert [str(one) for one in ll.compare(results).results.measures] == ["AP", "nDCG@10", "RR"]


def test_results_are_compared_with_the_same_checks() -> None:
    results = ll.evaluate("qrels.txt", RUNS, ["AP"])
    for options, says in (
        ({"runs": RUNS}, "results"),
        ({"depth": 3}, "results"),
        ({"measures": "RR"}, "no measure 'RR'"),
        ({"baseline": "nobody"}, "nobody"),
    ):
        with pytest.raises(UsageError, match=says):
            ll.compare(results, **options)
    runs: dict[str, Any] = {"a": "bm25.run", "b": {"knots": {"nothing": 1.0}}}
    unjudged = ll.evaluate("qrels.txt", runs, "AP")
    with pytest.raises(LeadlineError, match="no document in"):
        ll.compare(unjudged)
    with pytest.raises(UsageError, match="judgments but no runs"):
        ll.compare("qrels.txt")


def test_a_report_takes_files_results_or_a_comparison(tmp_path: Path) -> None:
    results = ll.evaluate("qrels.txt", RUNS, ["AP", "RR"])
    made = ll.report(results, tmp_path / "results.html", baseline="dense")
    assert str(made) == str(ll.compare(results, baseline="dense"))
    assert results.intervals is None
    ll.report(made, path="comparison.html")
    ll.report("qrels.txt", RUNS, "files.html", measures=["AP", "RR"], baseline="dense", rel=2)
    for name, judgments in (("results", False), ("comparison", False), ("files", True)):
        page = (tmp_path / f"{name}.html").read_text("utf-8")
        assert "2 retrieval runs compared over 3 queries" in page
        assert (" judgments. " in page) == judgments
        assert ("Recall and precision" in page) == judgments
        assert "bm25.run" in page


def test_a_report_says_how_it_is_called(tmp_path: Path) -> None:
    results = ll.evaluate("qrels.txt", RUNS, "AP")
    with pytest.raises(UsageError, match="both results and runs were given"):
        ll.report(results, RUNS, "page.html")
    with pytest.raises(UsageError, match="no path was given"):
        ll.report("qrels.txt", RUNS)
    with pytest.raises(UsageError, match="comparison"):
        ll.report(ll.compare(results), "page.html", baseline="dense")
    assert not (tmp_path / "page.html").exists()


def test_check_repairs_a_copy_and_counts_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "twice.run").write_text("q Q0 a 1 2.0 t\nq Q0 a 2 1.0 t\n")
    found = ll.check("twice.run")
    assert found.rejected == 1
    assert "error" in str(found)
    done = ll.check("twice.run", fix="once.run")
    assert done.repaired
    assert ll.read_run("once.run").to_dict() == {"q": {"a": 2.0}}
    assert ll.check("once.run").rejected == 0
    for options, says in (
        ({"files": ()}, "nothing to check"),
        ({"files": "twice.run", "documents": "docs.jsonl"}, "documents needs qrels"),
        ({"files": ["twice.run", "bm25.run"], "fix": "x.run"}, "2 files"),
        ({"files": "twice.run", "kind": "runs"}, "kind"),
    ):
        with pytest.raises(UsageError, match=says):
            ll.check(**options)
    covered = ll.check(qrels="qrels.txt", documents="docs.jsonl")
    assert covered.coverage is not None
    assert "relevant query-document pairs in qrels.txt" in str(covered)


SAVED: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: ll.evaluate("input.qrels", ll.Run({"q": {"d": 1.0}})),
    "evaluate in steps": lambda: ll.evaluate(ll.read_qrels("input.qrels"), {"a": {"q": {"d": 1.0}}}),
    "compare": lambda: ll.compare(
        ll.evaluate("input.qrels", {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}})
    ),
    "means of a comparison": lambda: (
        ll.compare("input.qrels", {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}).results
    ),
    "Run": lambda: ll.Run("input.run").renamed("other"),
    "read_run": lambda: ll.read_run(ll.read_run("input.run"), name="other"),
    "Qrels": lambda: ll.Qrels("input.qrels"),
    "pool": lambda: ll.pool([ll.read_run("input.run")], depth=5),
}


@pytest.mark.parametrize("name", SAVED)
def test_what_was_read_is_not_written_over(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file, text in (("input.qrels", "q 0 d 1\nq 0 e 0\n"), ("input.run", "q Q0 d 1 2.5 t\n")):
        (tmp_path / file).write_text(text)
    made = SAVED[name]()
    read = tmp_path / ("input.run" if name in ("Run", "read_run", "pool") else "input.qrels")
    assert made.sources == (str(read),)
    before = read.read_bytes()
    (tmp_path / "link.csv").symlink_to(read)
    with pytest.raises(UsageError, match=r"link\.csv would overwrite an input"):
        made.write("link.csv")
    assert read.read_bytes() == before
    made.write("new.csv")
    made.write("new.csv")  # what was written may be written again
    assert (tmp_path / "new.csv").stat().st_size > 0


@pytest.mark.usefixtures("undrawn")
def test_a_page_a_figure_and_a_copy_do_not_replace_an_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "input.qrels").write_text("q 0 d 1\nq 0 e 0\n")
    (tmp_path / "input.svg").symlink_to("input.qrels")
    runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}
    writers: tuple[Callable[[], object], ...] = (
        lambda: ll.report("input.qrels", runs, "input.qrels"),
        lambda: ll.evaluate("input.qrels", runs).plot("input.svg"),
        lambda: ll.write_qrels("input.qrels", "input.svg"),
        lambda: ll.check("input.qrels", fix="input.qrels"),
    )
    for write in writers:
        with pytest.raises(UsageError, match="would overwrite an input"):
            write()
    assert (tmp_path / "input.qrels").read_text() == "q 0 d 1\nq 0 e 0\n"
