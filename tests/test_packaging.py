"""The package installs where no C compiler works, and what it ships holds no debug symbols."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from conftest import REPOSITORY
from leadline.version import VERSION

pytestmark = pytest.mark.slow
BUILT = ("build", "compiled", "leadline.egg-info", "__pycache__")
EXAMPLES = REPOSITORY / "docs" / "examples"
EMPTY = ("__init__", "__main__")
EVALUATE = ["evaluate", "qrels.txt", "bm25.run", "dense.run", "-q", "-f", "json"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what a build needs; the builds share the C code that Cython writes."""
    pytest.importorskip("Cython", reason="Cython is needed to build the package")
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, folder)
    shutil.copytree(EXAMPLES, folder / "docs" / "examples")
    shutil.copytree(REPOSITORY / "src", folder / "src", ignore=shutil.ignore_patterns(*BUILT))
    compiled = folder / "src" / "leadline" / "kernels" / "compiled"
    compiled.mkdir()
    shutil.copy(REPOSITORY / "src" / "leadline" / "kernels" / "compiled" / "__init__.py", compiled)
    return folder


def build(source: Path, target: Path, name: str = "leadline", **variables: str) -> Path:
    """Build a wheel without the network and unpack it; give the folder that it makes."""
    for path in (source / "build").glob("*"):
        if path.is_dir() and path.name != "src":  # lib and temp of the build before
            shutil.rmtree(path)
    done = subprocess.run(
        [
            sys.executable,
            *"-m pip wheel --quiet --no-build-isolation --no-deps --no-index --wheel-dir".split(),
            str(target),
            str(source),
        ],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = target.glob(f"{name}-*.whl")
    zipfile.ZipFile(wheel).extractall(target / "installed")
    return target / "installed"


@pytest.fixture(scope="module")
def pure(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel for every system, of no known repository."""
    target = tmp_path_factory.mktemp("pure")
    return build(source, target, LEADLINE_BUILD="pure", LEADLINE_REPOSITORY="")


def run(installed: Path, *arguments: str, **variables: str) -> str:
    """Run the program of a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "leadline", *arguments],
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(installed)} | variables,
        check=True,
    )
    return done.stdout


def metadata(source: Path, target: Path, **variables: str) -> Path:
    """Make what a wheel says of itself, as pip does before it builds one; give the folder that holds it."""
    target.mkdir()
    made = "from setuptools import build_meta; build_meta.prepare_metadata_for_build_wheel({!r})"
    subprocess.run(
        [sys.executable, "-c", made.format(str(target))],
        cwd=source,
        env=os.environ | {"LEADLINE_BUILD": "pure"} | variables,
        capture_output=True,
        check=True,
    )
    return target


@pytest.mark.parametrize("compiler", ["fails", "is missing"])
def test_the_package_installs_where_the_compiler(compiler: str, source: Path, tmp_path: Path) -> None:
    false = shutil.which("false")
    if compiler == "is missing":
        (tmp_path / "bin").mkdir()
        variables = {"PATH": str(tmp_path / "bin")}
        name = (sysconfig.get_config_var("CC") or "cc").split()[0]
        if os.path.isabs(name):
            pytest.skip("the compiler is named by its whole path")
    elif false is None:
        pytest.skip("there is no program that always fails")
    else:
        variables = {"CC": false, "CXX": false}
    installed = build(source, tmp_path / "wheel", **variables)
    assert not list(installed.rglob("*.so")) + list(installed.rglob("*.pyd"))
    assert "kernels uncompiled" in run(installed, "--version")
    assert run(installed, *EVALUATE) == run(REPOSITORY / "src", *EVALUATE)


def test_a_pure_wheel_is_for_every_system(pure: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    shutil.copytree(pure, installed)
    (wheel,) = pure.parent.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < 3e6
    examples = installed / "leadline" / "demo" / "examples"
    assert {path.name for path in examples.iterdir()} == {path.name for path in EXAMPLES.iterdir()}
    run(installed, "demo", "--files", str(tmp_path / "small"), "--collection", "examples")
    assert (tmp_path / "small" / "qrels.txt").read_bytes() == (EXAMPLES / "qrels.txt").read_bytes()
    shutil.rmtree(examples)
    files = [path for path in (installed / "leadline").rglob("*") if path.is_file()]
    suffixes = {path.suffix for path in files if path.parent.name != "__pycache__"}  # made by the run above
    texts = {".txt", ".js", ".json", ".css", ".svg", ".html"}
    assert suffixes <= {".py", ".pyi", ".bib", ".typed", ".xz"} | texts
    templates = {"judging", "pages"}  # no reports of Cython beside the kernels
    pages = {path.relative_to(installed / "leadline").parts[0] for path in installed.rglob("*.html")}
    assert pages == templates
    assert "kernels uncompiled" in run(installed, "--version")
    (notices,) = installed.glob("leadline-*.dist-info")
    assert "License-Expression: MIT\n" in (notices / "METADATA").read_text("utf-8")
    assert "xquad.json.xz" not in {path.name for path in files}, "CC BY-SA 4.0"
    assert (notices / "licenses" / "LICENSE").read_text("utf-8") == (REPOSITORY / "LICENSE").read_text(
        "utf-8"
    )


def described(installed: Path) -> tuple[dict[str, str], str]:
    """Return the addresses and the page in the metadata of a wheel."""
    (notices,) = installed.glob("leadline-*.dist-info")
    about = message_from_string((notices / "METADATA").read_text("utf-8"))
    assert about["Description-Content-Type"] == "text/markdown"
    return dict(line.split(", ", 1) for line in about.get_all("Project-URL", [])), str(about.get_payload())


def test_the_page_of_the_index_has_whole_links_where_the_repository_is_known(
    pure: Path, source: Path, tmp_path: Path
) -> None:
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    assert described(pure) == ({}, readme)
    place = "https://host.invalid/some/leadline"
    addresses, page = described(metadata(source, tmp_path / "named", LEADLINE_REPOSITORY=place + "/"))
    assert addresses["Homepage"] == place
    assert addresses["Report a vulnerability"] == f"{place}/security/advisories/new"
    assert addresses["Changelog"] == f"{place}/blob/v{VERSION}/CHANGELOG.md"
    before, after = (re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", text) for text in (readme, page))
    assert len(before) > 20
    for (image, old), (_, new) in zip(before, after, strict=True):
        assert (REPOSITORY / old.partition("#")[0]).is_file(), old
        path = f"raw/v{VERSION}/{old}?sanitize=true" if image else f"blob/v{VERSION}/{old}"
        assert new == f"{place}/{path}"
    assert re.sub(r"\]\([^)]*\)", "", page) == re.sub(r"\]\([^)]*\)", "", readme)
    shutil.copy(next((tmp_path / "named").glob("*.dist-info/METADATA")), source / "PKG-INFO")
    try:  # as in an sdist
        again = metadata(source, tmp_path / "sdist", LEADLINE_REPOSITORY="")
    finally:
        (source / "PKG-INFO").unlink()
    assert described(again) == (addresses, page)


def test_the_version_to_cite_is_that_of_the_package() -> None:
    text = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {VERSION}\n" in text


def test_compiled_kernels_are_found_and_hold_no_debug_symbols(source: Path, tmp_path: Path) -> None:
    named = sysconfig.get_config_var("CC") or "cc"
    if shutil.which(named.split()[0]) is None:
        pytest.skip("there is no C compiler here")
    quick = tmp_path / "quick"  # optimised kernels are those of the checkout, which other tests try
    quick.write_text(f'#!/bin/sh\nexec {named} "$@" -O0\n')
    quick.chmod(0o755)
    installed = build(source, tmp_path / "wheel", CC=str(quick))
    kernels = list((installed / "leadline" / "kernels" / "compiled").glob("*.so"))
    assert {path.name.partition(".")[0] for path in kernels} == {
        *("gibbs", "list_kernel", "lists", "pairs", "scan_records", "shared")
    }
    assert not [path.name for path in kernels if b".debug_info" in path.read_bytes()]
    assert sum(path.stat().st_size for path in kernels) < 1e6
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    assert wheel.stat().st_size < 3e6
    assert "kernels compiled" in run(installed, "--version")
    assert run(installed, *EVALUATE) == run(REPOSITORY / "src", *EVALUATE, LEADLINE_PURE="1")


def test_studies_are_a_wheel_of_their_own_that_is_imported_without_a_checkout(
    pure: Path, tmp_path: Path
) -> None:
    assert not (pure / "leadline_studies").exists()
    ignored = shutil.ignore_patterns("build", "tests", "*.egg-info", "__pycache__")
    shutil.copytree(REPOSITORY / "studies", tmp_path / "studies", ignore=ignored)
    installed = build(tmp_path / "studies", tmp_path / "wheel", name="leadline_studies")
    modules = [path.relative_to(installed).with_suffix("") for path in installed.rglob("*.py")]
    lines = [f"import {'.'.join(path.parts)}" for path in modules if path.name not in EMPTY]
    assert len(lines) > len(list((installed / "leadline_studies").iterdir()))
    subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (installed, REPOSITORY / "src")))},
        cwd=tmp_path,
        check=True,
    )


def test_studies_have_the_version_of_leadline() -> None:
    text = (REPOSITORY / "studies" / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{VERSION}"\n' in text
