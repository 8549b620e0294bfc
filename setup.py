"""Build configuration: compiled kernels where a C compiler works, the uncompiled ones elsewhere.

With LEADLINE_BUILD=pure in the environment nothing is compiled, and the wheel is one for every system
(py3-none-any). With LEADLINE_BUILD=checked the kernels check every index, for tests; with
LEADLINE_BUILD=scalar the list kernel has no instructions of one kind of processor.

LEADLINE_REPOSITORY is the address of the repository. With it the metadata have the addresses of the project,
and the README, which the index of packages shows outside the repository, has whole links. Wheels built from
an sdist have those of the sdist.
"""

import os
import re
import shutil
import sys
from email import message_from_file
from pathlib import Path
from platform import machine

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

X86_64 = ("x86_64", "amd64")  # all that NumPy supports count bits in one instruction
KERNELS = ("scan_records", "lists", "pairs", "gibbs")  # in the language of Cython
BUILD = os.environ.get("LEADLINE_BUILD", "")
DIRECTIVES = {
    "boundscheck": BUILD == "checked",  # else kernels prove at entry that no index is out of range
    "cdivision": True,
    "initializedcheck": False,
    "wraparound": False,
}
EXAMPLES = os.path.join("docs", "examples")
SHARED = "leadline.kernels.compiled.shared"  # what Cython would otherwise repeat in every kernel


RELATIVE_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")
PAGES = {
    "Homepage": "",
    "Documentation": "/blob/{tag}/docs/start.md",
    "Changelog": "/blob/{tag}/CHANGELOG.md",
    "Issues": "/issues",
    "Security": "/blob/{tag}/SECURITY.md",
    "Report a vulnerability": "/security/advisories/new",
}


class BuildPackages(build_py):  # type: ignore[misc]
    """Add the examples of the documentation, which `leadline demo --files` writes."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # which finds them in docs
            shutil.copytree(
                EXAMPLES, os.path.join(self.build_lib, "leadline", "demo", "examples"), dirs_exist_ok=True
            )


class BuildKernels(build_ext):  # type: ignore[misc]  # setuptools has no types for mypy here
    """Compile the kernels with full optimisation and without debug symbols."""

    def build_extensions(self) -> None:
        compile_args, link_args = arguments_for(self.compiler.compiler_type, sys.platform)
        for extension in self.extensions:
            extension.extra_compile_args = compile_args
            extension.extra_link_args = link_args
        super().build_extensions()


def arguments_for(compiler: str, platform: str) -> tuple[list[str], list[str]]:
    """Return the arguments of compiler and linker for a kind of compiler, as setuptools names it."""
    if compiler not in ("unix", "mingw32", "cygwin"):
        return [], []  # MSVC optimises by default and keeps debug symbols in a file of their own
    if platform == "darwin":
        return ["-O3", "-g0"], []  # Apple's linker has no -s; debug symbols stay out of its output
    more = ["-mpopcnt"] if platform == "linux" and machine().lower() in X86_64 else []
    return ["-O3", "-g0", *more], ["-Wl,-s"]


def kernels() -> list[Extension]:
    """Return the extensions; each may fail to compile, and installation goes on without it."""
    if BUILD == "pure":
        return []
    from Cython.Build import cythonize

    sources = [
        Extension(f"leadline.kernels.compiled.{name}", [f"src/leadline/kernels/{name}.py"])
        for name in KERNELS
    ]
    sources.append(Extension(SHARED, ["shared.c"]))  # written by Cython, into build
    sources.append(
        Extension(
            "leadline.kernels.compiled.list_kernel",
            ["src/leadline/kernels/list_kernel.c"],
            depends=["src/leadline/kernels/list_kernel.h", "src/leadline/kernels/list_join.h"],
            define_macros=[("LEADLINE_SCALAR", "1")] if BUILD == "scalar" else [],
        )
    )
    extensions: list[Extension] = cythonize(
        sources,
        build_dir=os.path.join("build", BUILD),
        compiler_directives=DIRECTIVES,
        language_level=3,
        shared_utility_qualified_name=SHARED,
    )
    for extension in extensions:
        extension.optional = True  # cythonize() makes new extensions and drops it
    return extensions


def project() -> tuple[dict[str, str], str]:
    """Return the addresses of the project and the text of its page in the index of packages."""
    text = Path("README.md").read_text(encoding="utf-8")
    repository = os.environ.get("LEADLINE_REPOSITORY", "").rstrip("/")
    if repository:
        found = re.search(r'VERSION = "(.+)"', Path("src/leadline/version.py").read_text(encoding="utf-8"))
        assert found is not None
        tag = f"v{found[1]}"
        addresses = {name: repository + path.format(tag=tag) for name, path in PAGES.items()}
        return addresses, with_whole_links(text, repository, tag)
    if not os.path.exists("PKG-INFO"):  # no sdist
        return {}, text
    with open("PKG-INFO", encoding="utf-8") as file:
        about = message_from_file(file)
    return dict(line.split(", ", 1) for line in about.get_all("Project-URL", [])), str(about.get_payload())


def with_whole_links(text: str, repository: str, tag: str) -> str:
    """Return Markdown whose links to files of the repository are whole addresses at a tag."""

    def whole(link: re.Match[str]) -> str:
        image, shown, path = link.groups()
        place = f"raw/{tag}/{path}?sanitize=true" if image else f"blob/{tag}/{path}"
        return f"{image}{shown}({repository}/{place})"

    return RELATIVE_LINK.sub(whole, text)


ADDRESSES, PAGE = project()
setup(
    cmdclass={"build_ext": BuildKernels, "build_py": BuildPackages},
    ext_modules=kernels(),
    long_description=PAGE,
    long_description_content_type="text/markdown",
    project_urls=ADDRESSES,
)
