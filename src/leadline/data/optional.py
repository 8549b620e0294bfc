"""Packages that a plain installation does not bring, and the extras of leadline that bring them."""

from __future__ import annotations

from typing import Any

from leadline.errors import MissingPackageError

# By what the work needs them for: the extra, and its packages by the names that are imported. A package
# that is missing is reported for the first of them.
EXTRAS = {
    "figures": ("plots", ("matplotlib",)),
    "HTML pages": ("plots", ("jinja2", "matplotlib")),
    "stemming and stop words": ("search", ("Stemmer", "stop_words")),
    "LDA of one language": ("topics", ("tomotopy",)),
    "Parquet and Arrow files": ("frames", ("pyarrow",)),
    "collections by name": ("ir-datasets", ("ir_datasets",)),
    "work with Dask": ("dask", ("distributed",)),
    "the judging page": ("judge", ("jinja2", "starlette", "uvicorn", "Stemmer", "stop_words")),
}


def require(purpose: str) -> None:
    """Raise MissingPackageError if a package is missing, before any work; nothing is imported.

    >>> require("figures")
    """
    from importlib.util import find_spec

    extra, packages = EXTRAS[purpose]
    missing = []
    for package in packages:
        try:
            found = find_spec(package) is not None
        except ImportError:
            found = False
        if not found:
            missing.append(package)
    if missing:
        raise MissingPackageError(_message(purpose, extra, missing))


def import_optional(package: str) -> Any:
    """Import an optional package; raise MissingPackageError if it is not installed."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        top = package.partition(".")[0]
        for purpose, (extra, packages) in EXTRAS.items():
            if top in packages:
                raise MissingPackageError(_message(purpose, extra, [top])) from None
        raise MissingPackageError(
            f"{package} is not installed. Install it with `pip install {package}`."
        ) from None


def _message(purpose: str, extra: str, packages: list[str]) -> str:
    needed = " and ".join(filter(None, (", ".join(packages[:-1]), packages[-1])))
    verb, them = ("are", "them") if len(packages) > 1 else ("is", "it")
    command = f'`pip install "leadline[{extra}]"`'
    return f"{needed}, needed for {purpose}, {verb} not installed. Install {them} with {command}."
