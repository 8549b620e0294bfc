"""What is written is true: pages are fresh, links lead somewhere, and every example runs."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import Leadline
from leadline import cli, demo, measures
from leadline.charts import line_plots
from leadline.cli import _help, group
from leadline.evaluation import query_figures
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.profiles import PROFILES
from leadline.io import formats
from leadline.measures import MEASURES
from oracles import Case
from whole_pictures import whole

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
PAGES = sorted([*REPOSITORY.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("howto/*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(path: Path) -> str:
    """Return a page's name inside the repository."""
    return path.relative_to(REPOSITORY).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    return [found[2] for found in BLOCK.finditer(text) if found[1] == language]


def generator() -> ModuleType:
    """Load docs/generate.py."""
    spec = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def demo_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the files that `leadline demo --files` writes."""
    folder = tmp_path_factory.mktemp("demo")
    for name, content in demo.files():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the example files."""
    shutil.copytree(DOCS / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


QUICK = ("../src/leadline/cli/commands.json", "measures.md", "statistics.md")


@pytest.mark.parametrize("page", list(generator().PAGES))
def test_a_page_made_from_the_code_is_fresh(page: str) -> None:
    module = generator()
    assert module.current(page) == module.PAGES[page](), "run `make docs`"


def test_every_page_that_shows_output_is_kept_fresh_by_make_docs() -> None:
    assert {name_of((DOCS / name).resolve()) for name in generator().by_hand()} == {
        name_of(page) for page in PAGES if blocks(page, "console")
    }


def test_check_names_a_stale_page_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = generator()
    folder = tmp_path / "docs"
    (tmp_path / "src" / "leadline" / "cli").mkdir(parents=True)
    folder.mkdir()
    monkeypatch.setattr(module, "FOLDER", str(folder))
    monkeypatch.setattr(module, "PAGES", {name: module.PAGES[name] for name in QUICK})
    assert module.main([]) == 0
    assert {path.name for path in folder.iterdir()} == {"measures.md", "statistics.md"}
    assert module.main(["--check"]) == 0
    (folder / "measures.md").write_text("old")
    assert module.main(["--check"]) == 1
    assert "docs/measures.md is stale; `make docs`" in capsys.readouterr().err
    assert (folder / "measures.md").read_text() == "old"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
@pytest.mark.usefixtures("examples")
def test_the_python_examples_of_a_page_run(page: Path, demo_files: Path) -> None:
    source = "\n".join(blocks(page, "python"))
    if "cranfield/" in source:
        shutil.copytree(demo_files, "cranfield")
    test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    told: list[str] = []
    outcome = doctest.DocTestRunner().run(test, out=told.append)
    assert outcome.attempted > 0
    assert outcome.failed == 0, "".join(told)


def shell_examples() -> Iterator[tuple[str, str]]:
    """Return the console blocks of the pages that run a command."""
    for page in PAGES:
        for block in blocks(page, "console"):
            if block.startswith("$ leadline "):
                yield name_of(page), block


@pytest.mark.parametrize(("page", "block"), list(shell_examples()))
@pytest.mark.usefixtures("examples", "undrawn")
def test_a_shell_example_prints_what_the_page_says(
    leadline: Leadline, demo_files: Path, page: str, block: str
) -> None:
    if "cranfield/" in block:
        shutil.copytree(demo_files, "cranfield")
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        done = leadline(*shlex.split(command)[1:])
        assert (done.out + done.err).rstrip() == expected.rstrip(), page


def test_the_measure_of_the_guide_works_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "nCG" in MEASURES.classes:
        pytest.skip("somebody followed the guide")
    module, oracle, claims = blocks(REPOSITORY / "CONTRIBUTING.md", "py")[:3]
    (tmp_path / "cumulative_gain_share.py").write_text(module)
    monkeypatch.setattr(measures, "__path__", [*measures.__path__, str(tmp_path)])
    for found in ("classes", "_by_name"):  # the registry looks again
        monkeypatch.delitem(vars(MEASURES), found, raising=False)
    try:
        assert str(MEASURES.parse("normalised_cg_2")) == "nCG@2"
        twin: dict[str, Any] = {}
        exec(compile(oracle, "cumulative_gain_share.py", "exec"), twin)
        assert twin["nCG"](Case({"a": 2.0, "b": 1.0}, {"a": 1.0, "c": 2.0}), cutoff=2) == 1 / 3
        namespace: dict[str, Any] = {}
        exec(compile(claims, "test_cumulative_gain_share.py", "exec"), namespace)
        tests = [name for name in namespace if name.startswith("test_")]
        assert len(tests) == 2
        for name in tests:
            namespace[name]()
        (example,) = doctest.DocTestFinder(recurse=False).find(MEASURES.classes["nCG"])
        assert doctest.DocTestRunner().run(example) == (0, 1)
    finally:
        sys.modules.pop("leadline.measures.cumulative_gain_share", None)
        for found in ("classes", "_by_name"):
            vars(MEASURES).pop(found, None)


@pytest.mark.usefixtures("examples")
def test_the_command_of_the_guide_works_as_written(
    leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("leadline.retrieval.run_sizes", "leadline.cli.sizes")
    texts = blocks(REPOSITORY / "CONTRIBUTING.md", "py")[3:5]
    for name, text in zip(names, texts, strict=True):
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(text, name, "exec"), vars(module))
    entry = json.loads(generator().TABLE["table"]({"sizes": sys.modules[names[1]]}))
    monkeypatch.setattr(cli, "table", lambda: _help.table() | entry)
    (_, *words) = shlex.split(entry["sizes"]["epilog"].removeprefix("Example: "))
    first, second = leadline(*words, "-f", "json").data["runs"]
    assert (first["run"], first["queries"], first["documents"]) == ("bm25", 3, 10)
    assert second["mean"] == second["documents"] / second["queries"]
    assert "run,queries,documents,mean" in leadline(*words, "-f", "csv").out
    assert "mean: of documents per query" in leadline(*words).out


def test_the_file_format_of_the_guide_works_as_written(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, entry, claims = blocks(REPOSITORY / "CONTRIBUTING.md", "py")[5:8]
    name = "leadline.io.pipe_files"
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(reader, name, "exec"), vars(module))
    namespace = vars(formats).copy()
    exec(compile(entry, "formats.py", "exec"), namespace)
    place = formats.FORMATS.index(formats.HEADERLESS)
    added = (*formats.FORMATS[:place], namespace["PIPES"], *formats.FORMATS[place:])
    monkeypatch.setattr(formats, "FORMATS", added)
    monkeypatch.setitem(formats.BY_SUFFIX, ".pipes", namespace["PIPES"])
    exec(compile(claims, "test_pipe_files.py", "exec"), namespace)
    for given in ("bm25.pipes", "bm25"):
        namespace["test_a_run_is_read"](tmp_path, given)
    namespace["test_an_empty_id_is_refused_with_its_line"](tmp_path)
    told = leadline("convert", tmp_path / "bm25", tmp_path / "bm25.run").err
    assert "bm25 was read as a run, because" in told


def test_the_figure_of_the_guide_works_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    chart, caller = blocks(REPOSITORY / "CONTRIBUTING.md", "py")[8:]
    charts = vars(line_plots).copy()
    exec(compile(chart, "line_plots.py", "exec"), charts)
    namespace = vars(query_figures) | {"ascending": charts["ascending"]}
    exec(compile(caller, "query_figures.py", "exec"), namespace)
    monkeypatch.setitem(query_figures.KINDS, "ascending", namespace["_ascending"])
    scores = {name: {f"q{query}": {"d": 1.0} for query in range(5)} for name in ("bm25", "dense")}
    qrels = {f"q{query}": {"d": query % 2, "e": query > 1} for query in range(5)}
    figure: Any = evaluate(qrels, scores, "AP").plot(figure="ascending")
    whole(figure)
    first = figure.axes[0].lines[0].get_ydata().tolist()
    assert first == sorted(first)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", text)
    missing = [file for file, _ in targets if file and not (page.parent / file).exists()]
    anchors = {
        re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")
        for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    missing += [anchor for file, anchor in targets if not file and anchor[1:] not in anchors]
    assert missing == []


def test_the_readme_names_the_two_commands_to_begin_with() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    first_screen = "\n".join(text.splitlines()[:40])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r"^(demo|test|lint|docs):", makefile, re.MULTILINE) == ["demo", "test", "lint", "docs"]


def test_every_command_has_an_example_in_its_help(leadline: Leadline) -> None:
    for name, command in generator().walk(group, "leadline"):
        shown = leadline(*name.split()[1:], "--help")
        assert shown.status == 0
        assert re.search(rf"Example: {name}\b", shown.out), name
        assert command.help


def test_every_attribute_of_results_and_of_their_records_is_described() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert re.findall(r"^- `[^`]*`: ?$", page, re.MULTILINE) == []


def test_a_key_of_json_without_a_meaning_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"no meaning of `runs\[\]\.novel` of evaluate"):
        generator().meaning_of("evaluate", "runs[].novel")


def test_every_profile_says_what_it_does_point_by_point() -> None:
    found = [generator().conventions(profile) for profile in PROFILES.values()]
    labels = list(map(list, found))
    assert labels[0] == labels[1] == labels[2]
    assert all(text for conventions in found for text in conventions.values())
