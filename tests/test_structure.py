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
# Packages and modules of `leadline` from the lowest layer to the highest; a module imports only from lower
# layers or from its own package.
LAYERS = (
    {"errors", "version"},
    {"kernels"},
    {"data"},
    {"stats", "text"},
    {"io"},
    {"measures"},
    {"topics"},
    {"retrieval"},
    {"evaluation"},
    {"comparison", "online"},
    {"estimation"},
    {"judging"},
    {"reporting"},
    {"demo"},
    {"cli"},
    {"__main__"},
    {"__init__"},
)
# The constructors `Run(...)` and `Qrels(...)` take what `read_run` and `read_qrels` take, and `write` writes
# it. The readers make these classes and so are above them; the methods import the readers when called.
UPWARD = {"data/run.py": {"io"}, "data/qrels.py": {"io"}}
MOST_FILES = 260
MOST_NAMES = 22  # of packages and modules at the top
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
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


def package_of(file: Path) -> str:
    """Return the package, or top-level module, that a file belongs to."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def layer_of(package: str) -> int:
    """Return the position of a package among the layers."""
    return next(layer for layer, members in enumerate(LAYERS) if package in members)


def tree_of(file: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def imported_packages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the packages that a file imports, wherever the import stands, with the line."""
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


def test_every_module_belongs_to_one_layer() -> None:
    known = frozenset().union(*LAYERS)
    assert {package_of(file) for file in FILES} <= known
    assert sum(map(len, LAYERS)) == len(known)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_module_imports_only_from_lower_layers_or_its_own_package(file: Path) -> None:
    package = package_of(file)
    wrong = [
        f"{name_of(file)}:{line} imports {other}"
        for line, other in imported_packages(tree_of(file))
        if other != package
        and layer_of(other) >= layer_of(package)
        and other not in UPWARD.get(name_of(file), ())
    ]
    assert wrong == []


@pytest.mark.parametrize("name", UPWARD)
def test_what_is_imported_upward_is_imported_where_it_is_called(name: str) -> None:
    top = ast.Module([node for node in tree_of(PACKAGE / name).body if not isinstance(node, ast.If)], [])
    for function in [node for node in ast.walk(top) if isinstance(node, FUNCTIONS)]:
        function.body = [ast.Pass()]
    assert not {other for _, other in imported_packages(top)} & UPWARD[name]
    assert {other for _, other in imported_packages(tree_of(PACKAGE / name))} >= UPWARD[name]


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_package_never_imports_the_studies(file: Path) -> None:
    tree = ast.walk(tree_of(file))
    modules = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
    assert not [name for name in modules if name.split(".")[0] == "leadline_studies"]


def test_the_package_stays_small_enough_to_find_things() -> None:
    assert len(FILES) <= MOST_FILES
    top = {package_of(file) for file in FILES} - {"__init__"}
    assert len(top) <= MOST_NAMES


def test_no_file_name_occurs_twice_outside_the_command_line() -> None:
    names = [file.name for file in FILES if package_of(file) != "cli" and file.name != "__init__.py"]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_file_is_longer_than_600_lines(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 600


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


def test_the_public_names_are_those_of_all() -> None:
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
from leadline.cli import main
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
        cwd=REPOSITORY / "docs" / "examples",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "status 0; loaded []"


def published() -> list[Path]:
    """Give the files of the repository as git sees them, new ones included."""
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("this is not a git checkout")
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in done.stdout.splitlines() if (path := REPOSITORY / name).is_file()]


def test_no_published_text_names_a_folder_of_one_machine_or_a_package_registry() -> None:
    folder = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
    registry = re.compile(r"://[^/\s]*(?:pypi|pythonhosted|npmjs|crates|anaconda|artifactory|nexus)")
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
