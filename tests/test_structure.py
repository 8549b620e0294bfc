"""The rules of the layout, read from the sources: layers, sizes, names, start-up, what is published."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "leadline"
FILES = sorted(PACKAGE.rglob("*.py"))

# Packages and modules of `leadline` from the lowest layer to the highest; a module imports only from lower
# layers or from its own package.
LAYERS = (
    {"errors", "version"},
    {"kernels"},
    {"data"},
    {"render"},
    {"stats", "text"},
    {"charts"},
    {"io"},
    {"result"},
    {"measures"},
    {"topics"},
    {"retrieval"},
    {"evaluation"},
    {"estimation", "online"},
    {"scale"},
    {"comparison"},
    {"judging"},
    {"pages"},
    {"demo"},
    {"cli", "pytest_plugin"},
    {"__main__"},
    {"__init__"},
)
MOST_FILES = 240
MOST_NAMES = 24  # of packages and modules at the top
MOST_LINES = 600
HEAVY = tuple(
    """
        numpy.ma scipy matplotlib pandas polars jinja2 rich narwhals pyarrow starlette uvicorn sqlite3
        leadline.comparison leadline.io.texts
    """.split()
)


def name_of(file: Path) -> str:
    """Return a file's name inside the package, as in measures/ndcg.py."""
    return file.relative_to(PACKAGE).as_posix()


def package_of(file: Path) -> str:
    """Return the package, or top-level module, that a file belongs to."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def layer_of(package: str) -> int:
    """Return the position of a package among the layers."""
    found = [layer for layer, members in enumerate(LAYERS) if package in members]
    assert found, f"no layer has {package!r}: import a name from its module, not from leadline"
    return found[0]


@functools.cache
def nodes_of(file: Path) -> list[ast.AST]:
    """Return all nodes of a module."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def imported(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the modules that a file imports, wherever the import stands, with the line."""
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(file)}:{node.lineno}: imports say the whole name"
            module = node.module or ""
            names = [f"leadline.{alias.name}" for alias in node.names] if module == "leadline" else [module]
            yield from ((node.lineno, name) for name in names)


def test_every_module_belongs_to_one_layer() -> None:
    known = frozenset().union(*LAYERS)
    assert {package_of(file) for file in FILES} <= known
    assert sum(map(len, LAYERS)) == len(known)


def test_a_module_imports_only_from_lower_layers_or_its_own_package_and_never_the_studies() -> None:
    wrong = []
    for file in FILES:
        package = package_of(file)
        for line, name in imported(file):
            top, other, *_ = [*name.split("."), "__init__"]
            upward = top == "leadline" and other != package and layer_of(other) >= layer_of(package)
            if upward or top == "leadline_studies":
                wrong.append(f"{name_of(file)}:{line} imports {name}")
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle_imports_inside_functions_included() -> None:
    names = {
        name_of(file).removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in FILES
    }
    graph = {module: needed(file, names) for module, file in names.items()}
    circle = None
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert circle is None


def needed(file: Path, names: Collection[str]) -> set[str]:
    """Return the modules of the package that a file imports other than for type checkers."""
    checked = [
        inner
        for node in nodes_of(file)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for part in node.body
        for inner in ast.walk(part)
    ]
    found = set()
    for node in nodes_of(file):
        if isinstance(node, ast.ImportFrom) and node not in checked:
            module = (node.module or "").removeprefix("leadline").removeprefix(".")
            for alias in node.names:
                whole = f"{module}.{alias.name}".removeprefix(".")
                found.add(whole if whole in names else module)
    return found & set(names) - {""}


def test_the_package_stays_small_enough_to_find_things() -> None:
    assert len(FILES) <= MOST_FILES, "use a present file, or count one that readers look for in MOST_FILES"
    assert len({package_of(file) for file in FILES} - {"__init__"}) <= MOST_NAMES
    scripts = {file.name: file for file in (REPOSITORY / "docs").glob("*.py")}
    lengths = {
        name: len(file.read_text(encoding="utf-8").splitlines())
        for name, file in ({name_of(file): file for file in FILES} | scripts).items()
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_file_name_occurs_twice_outside_the_command_line() -> None:
    names = [file.name for file in FILES if package_of(file) != "cli" and file.name != "__init__.py"]
    assert sorted({name for name in names if names.count(name) > 1}) == []


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
    """Return the files of the repository as git sees them, new ones included."""
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
    built = {".so", ".pyd", ".pyc", ".o"}
    assert [path.name for path in published() if path.suffix in built] == []
    written = [path for path in published() if path.suffix == ".c"]  # by hand, not by Cython
    assert [path.name for path in written if path.with_suffix(".py").exists()] == []


def test_public_methods_have_a_docstring_or_that_of_their_base() -> None:
    names = [name_of(file).removesuffix(".py").removesuffix("/__init__") for file in FILES]
    modules = [
        importlib.import_module("leadline." + name.replace("/", "."))
        for name in names
        if not name.startswith(("kernels", "__"))
    ]
    classes = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    bare = [
        f"{kind.__module__}.{kind.__name__}.{name}"
        for kind in classes
        if not kind.__name__.startswith("_")
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and not name.startswith("_") and not inspect.getdoc(value)
    ]
    assert not bare
