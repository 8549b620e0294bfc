"""The rules of the house, read from the sources: floors, sizes, names, start-up, publication."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import leadline

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "leadline"
FILES = sorted(PACKAGE.rglob("*.py"))

# The floors, the lowest first; each is one or more steps of rooms. A room is a module or a folder
# of the package. The rule: a module imports only from lower steps, or from its own room. Rooms of one
# step do not know each other, and where a floor needs an order inside (profiles, then notices, then
# evaluation, then curves) it is the order of its steps.
FLOORS: tuple[tuple[frozenset[str], ...], ...] = tuple(
    tuple(frozenset(step.split()) for step in floor.split("<"))
    for floor in (
        "errors version wording threads < naming arguments",
        "arrays < vocabulary kernels",
        "qrels run results < judged",
        "formats text",
        "measures statistics index topics sampling",
        "trec_names < profiles catalogue models bounds < notices < judged_runs intervals < evaluation",
        "agreements correlations curves subtopic_curves explanation comparison retrieval collection",
        "histograms estimators differences online judging < pooling predictors < prediction estimation",
        "render < plots",
        "pages < studies demo",
        "commands < __main__ < __init__",
    )
)
STEPS = [step for floor in FLOORS for step in floor]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
TOPIC_ROOMS = {"topics", "estimators", "studies"}  # where a topic is one of a topic model
HEAVY = (
    "scipy",
    "matplotlib",
    "pandas",
    "polars",
    "jinja2",
    "rich",
    "narwhals",
    "pyarrow",
    "starlette",
    "uvicorn",
    "sqlite3",
)


def name_of(file: Path) -> str:
    """Give a file's name inside the package, as in measures/ndcg.py."""
    return file.relative_to(PACKAGE).as_posix()


def room_of(file: Path) -> str:
    """Give the room that a file is in."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def step_of(room: str) -> int:
    """Give the step that a room stands on."""
    return next(place for place, step in enumerate(STEPS) if room in step)


def tree_of(file: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def imported_rooms(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Give the rooms that a file imports, wherever the import stands, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "leadline":
            names = [f"leadline.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            assert node.level == 0, "imports say the whole name"
        else:
            continue
        for name in names:
            if name.split(".")[0] == "leadline":
                yield node.lineno, [*name.split("."), "__init__"][1]


def test_every_module_stands_on_a_floor() -> None:
    known = frozenset().union(*STEPS)
    assert {room_of(file) for file in FILES} <= known
    assert sum(map(len, STEPS)) == len(known)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_module_imports_only_from_lower_floors_or_its_own_room(file: Path) -> None:
    room = room_of(file)
    wrong = [
        f"{name_of(file)}:{line} imports {other}"
        for line, other in imported_rooms(tree_of(file))
        if other != room and step_of(other) >= step_of(room)
    ]
    assert wrong == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_file_is_longer_than_600_lines(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 600


@pytest.mark.parametrize(
    "file", [file for file in FILES if room_of(file) not in TOPIC_ROOMS], ids=name_of
)
def test_an_information_need_is_called_a_query_never_a_topic(file: Path) -> None:
    names = {
        name
        for node in ast.walk(tree_of(file))
        for name in (getattr(node, "id", None), getattr(node, "attr", None),
                     getattr(node, "name", None), getattr(node, "arg", None))
        if isinstance(name, str) and re.search("(?<!sub)topic", name.lower())
    }  # fmt: skip
    assert names == set()


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_module_class_and_function_for_others_has_a_docstring(file: Path) -> None:
    tree = tree_of(file)
    silent = [] if ast.get_docstring(tree) else [name_of(file)]
    owners: list[ast.Module | ast.ClassDef] = [tree]
    owners += [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for owner in owners:
        silent += [
            f"{name_of(file)}:{node.lineno} {node.name}"
            for node in owner.body
            if isinstance(node, (ast.ClassDef, *FUNCTIONS))
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ]
    assert silent == []


def test_the_front_door_offers_what_it_says() -> None:
    # ruff sorts __all__ its own way, so the order is its business
    assert sorted(leadline.__all__) == sorted(dir(leadline))
    typed = {
        alias.name
        for block in tree_of(PACKAGE / "__init__.py").body
        if isinstance(block, ast.If)  # if TYPE_CHECKING
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed | {"__version__"} == set(leadline.__all__)
    for name in leadline.__all__:
        assert getattr(leadline, name) is not None
        assert name == "__version__" or getattr(leadline, name).__doc__


PROBE = """
import sys
from leadline.commands import main
try:
    main(sys.argv[2:])
except SystemExit as stopped:
    found = [name for name in sys.argv[1].split(",") if name in sys.modules]
    sys.stderr.write(f"status {stopped.code}; loaded {found}")
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["evaluate", "--help"],
        ["evaluate", "qrels.txt", "bm25.run", "dense.run"],
        ["evaluate", "qrels.txt", "bm25.run", "-f", "json"],
        ["measures", "nDCG"],
    ],
    ids=" ".join,
)
def test_a_small_command_loads_no_heavy_package(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, ",".join(HEAVY), *arguments],
        cwd=REPOSITORY / "docs" / "examples", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == "status 0; loaded []"


def published() -> list[Path]:
    """Give the files of the repository as git sees them, new ones included."""
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("this is not a git checkout")
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for name in done.stdout.splitlines() if (path := REPOSITORY / name).is_file()]


def test_no_published_text_names_a_folder_of_one_machine_or_a_package_registry() -> None:
    folder = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
    registry = re.compile(
        r"://[^/\s]*(?:pypi|pythonhosted|npmjs|crates|anaconda|artifactory|nexus)"
    )
    wrong = []
    for path in published():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        wrong += [
            f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()[:80]}"
            for number, line in enumerate(text.splitlines(), start=1)
            if folder.search(line) or registry.search(line)
        ]
    assert wrong == []


def test_nothing_built_is_published() -> None:
    built = {".so", ".pyd", ".pyc", ".o", ".c"}
    assert [path.name for path in published() if path.suffix in built] == []
