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
# The one import upward: the methods of the base of all results print, draw and write, and ask `reporting` for
# it when they are called. `import leadline.data` loads nothing of it.
UPWARD_IMPORTS = {("data/result.py", "reporting")}
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


def imported_packages(tree: ast.AST) -> Iterator[tuple[int, str]]:
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
        and (name_of(file), other) not in UPWARD_IMPORTS
    ]
    assert wrong == []


def test_imports_upward_stand_inside_functions() -> None:
    for name, other in UPWARD_IMPORTS:
        tree = tree_of(PACKAGE / name)
        assert other in {package for _, package in imported_packages(tree)}
        blocks = [node for node in tree.body if not isinstance(node, (ast.ClassDef, ast.If, *FUNCTIONS))]
        assert other not in {package for node in blocks for _, package in imported_packages(node)}


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
