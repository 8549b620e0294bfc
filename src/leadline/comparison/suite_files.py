"""Suites of collections: the files that describe them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from glob import glob
from typing import Any, NamedTuple

from leadline.data.validation import check_run_name
from leadline.errors import InputError, LeadlineError, UsageError, did_you_mean
from leadline.io.opening import digest_of
from leadline.io.read_paths import record_input
from leadline.io.run_names import files_of, run_name

DEFAULT_MEASURES = ("nDCG@10",)
LONGEST_SUITE = 1 << 24  # maximum number of bytes of a suite
TOP = ("measures", "groups", "collections")
KEYS = ("qrels", "runs", "documents", "level")
FILE_HINT = "Pass a TOML file or a folder"
TABLES_HINT = "Write a table [collections.NAME] with qrels and runs for each collection"
QRELS = ("qrels.txt", "qrels.tsv", "qrels/test.tsv")  # of a folder; the last is that of BEIR


class Collection(NamedTuple):
    """Judgments and runs of one collection: a path or judgments, and runs by name."""

    name: str
    qrels: Any
    runs: dict[str, Any]
    documents: int | None = None
    level: float | None = None


class SuiteFile(NamedTuple):
    """What a suite consists of; `groups` are collections by the name of an average of them."""

    path: str
    collections: list[Collection]
    measures: tuple[Any, ...]
    groups: dict[str, list[str]] | None = None


def read_suite(source: str | os.PathLike[str] | Mapping[str, Any]) -> SuiteFile:
    """Return the collections and runs of a suite.

    >>> one = {"qrels": {"q1": {"d1": 1}}, "runs": {"bm25": {"q1": {"d1": 1.0}}}}
    >>> [each.name for each in read_suite({"collections": {"one": one}}).collections]
    ['one']
    """
    if isinstance(source, Mapping):
        return _suite_of(source, "suite", "")
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(f"A suite cannot be of type {type(source).__name__}. Pass a path or a mapping.")
    path = os.fspath(source)
    if os.path.isdir(path):
        return _of_folder(path)
    import tomllib

    record_input(path)
    try:
        with open(path, "rb") as file:
            content = file.read(LONGEST_SUITE + 1)
        if len(content) > LONGEST_SUITE:
            raise InputError("the file is larger than 16 MiB", path=path, hint=FILE_HINT)
        return _suite_of(tomllib.loads(content.decode("utf-8")), path, os.path.dirname(path))
    except RecursionError:
        raise InputError("the tables are nested too deeply", path=path, hint=TABLES_HINT) from None
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror})", path=path, hint=FILE_HINT) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        line = re.search(r"at line (\d+)", str(error))
        found = re.sub(r" \(at .*\)$", "", " ".join(str(error).split()))
        raise InputError(
            f"this is not valid TOML ({found})",
            path=path,
            line=int(line[1]) if line else None,
            hint=TABLES_HINT,
        ) from None


def _of_folder(path: str) -> SuiteFile:
    """Return the suite in a folder: each folder in it is a collection."""
    collections = []
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if not entry.is_dir() or entry.name.startswith("."):
            continue
        found = [os.path.join(entry.path, name) for name in QRELS]
        qrels = next(filter(os.path.isfile, found), None)
        if qrels is None:
            add = f"Add {', '.join(QRELS[:-1])} or {QRELS[-1]}"
            raise InputError("this folder has no judgments", path=entry.path, hint=add)
        runs = os.path.join(entry.path, "runs")
        if not os.path.isdir(runs):
            add = "Put the runs into a subfolder `runs`"
            raise InputError("this folder has no runs", path=entry.path, hint=add)
        named = _named(files_of(runs), path, entry.name)
        collections.append(Collection(entry.name, qrels, named))
    if not collections:
        add = "Add folders COLLECTION with qrels.txt and runs/"
        raise InputError("this folder has no collections", path=path, hint=add)
    return SuiteFile(path, collections, DEFAULT_MEASURES)


def _suite_of(data: Mapping[str, Any], path: str, folder: str) -> SuiteFile:
    _check_keys(data, TOP, "", path)
    tables = data.get("collections")
    if not isinstance(tables, Mapping) or not tables:
        raise InputError("there are no collections", path=path, hint=TABLES_HINT)
    collections = [_collection(str(name), table, path, folder) for name, table in tables.items()]
    names = [each.name for each in collections]
    groups = data.get("groups", {})
    if not isinstance(groups, Mapping):
        raise _wrong("groups", groups, 'a table such as english = ["cacm", "cisi"]', path)
    for group, members in groups.items():
        _listed(members, f"groups.{group}", "names of collections", path)
        for member in members:
            if member not in names:
                raise InputError(
                    f"groups.{group} refers to an unknown collection '{member}'",
                    path=path,
                    hint=nearest(member, names),
                )
    measures = data.get("measures", DEFAULT_MEASURES)
    return SuiteFile(
        path,
        collections,
        _listed(measures, "measures", "names of measures", path),
        {str(group): list(members) for group, members in groups.items()},
    )


def _collection(name: str, table: object, path: str, folder: str) -> Collection:
    place = f"collections.{name}"
    if not isinstance(table, Mapping):
        raise _wrong(place, table, "a table with qrels and runs", path)
    _check_keys(table, KEYS, place, path)
    for key in ("qrels", "runs"):
        if key not in table:
            raise InputError(f"{place} has no '{key}'", path=path, hint=f"Set {place}.{key}")
    documents, level = table.get("documents", 0), table.get("level")
    if isinstance(documents, bool) or not isinstance(documents, int) or documents < 0:
        raise _wrong(f"{place}.documents", documents, "a whole number, or 0 if it is unknown", path)
    if level is not None and (isinstance(level, bool) or not isinstance(level, (int, float))):
        raise _wrong(f"{place}.level", level, "a number, which is the lowest relevant grade", path)
    qrels = table["qrels"]
    if isinstance(qrels, str):
        qrels = os.path.join(folder, qrels)
    elif path != "suite":
        raise _wrong(f"{place}.qrels", qrels, "a path", path)
    return Collection(name, qrels, _runs(table["runs"], place, path, folder), documents or None, level)


def _runs(value: object, place: str, path: str, folder: str) -> dict[str, Any]:
    """Return runs by name: those of a pattern, of several, or of a table of names."""
    if isinstance(value, Mapping):
        for name in value:
            check_run_name(name)
        named = {
            name: os.path.join(folder, each) if isinstance(each, str) else each
            for name, each in value.items()
        }
        wrong = [name for name, each in named.items() if path != "suite" and not isinstance(each, str)]
        if wrong:
            raise _wrong(f"{place}.runs.{wrong[0]}", value[wrong[0]], "a path", path)
        if not named:
            raise InputError(f"{place}.runs is empty", path=path, hint="Name at least one run")
        return named
    patterns = [value] if isinstance(value, str) else value
    if not isinstance(patterns, Sequence) or not all(isinstance(each, str) for each in patterns):
        raise _wrong(f"{place}.runs", value, "a pattern, a list of patterns, or a table of paths", path)
    files: list[str] = []
    for pattern in patterns:
        whole = os.path.join(folder, pattern)
        found = [name for name in sorted(glob(whole, recursive=True)) if os.path.isfile(name)]
        if os.path.isdir(whole):
            found = files_of(whole)
        if not found:
            raise InputError(
                f"no file matches '{pattern}' of {place}.runs",
                path=path,
                hint="Check the pattern and the folder",
            )
        files += found
    if not files:
        raise InputError(f"{place}.runs is empty", path=path, hint="Name at least one run")
    return _named(list(dict.fromkeys(files)), path, place)


def _named(files: Sequence[str], path: str, place: str) -> dict[str, Any]:
    """Return files by the names of their runs."""
    named: dict[str, Any] = {}
    for file in files:
        name = run_name(file)
        if name in named:
            raise InputError(
                f"{named[name]} and {file} of {place} are both named '{name}'",
                path=path,
                hint="Rename one, or name the runs with runs = {NAME = PATH}",
            )
        named[name] = file
    return named


def _check_keys(table: Mapping[str, Any], known: Sequence[str], place: str, path: str) -> None:
    for key in table:
        if key not in known:
            where = f" in {place}" if place else ""
            raise InputError(f"there is no key '{key}'{where}", path=path, hint=nearest(str(key), known))


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the nearest known names, or the first of them, as a hint.

    >>> nearest("mesures", ["measures", "groups"]), nearest("x", ["measures", "groups"])
    ("Did you mean 'measures'?", 'Use measures or groups')
    """
    return did_you_mean(name, known, cutoff=0.5) or f"Use {' or '.join(known[:8])}"


def _listed(value: object, place: str, what: str, path: str) -> tuple[Any, ...]:
    texts = path == "suite" and place == "measures"  # measures of Python may be objects
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple)) or not all(texts or isinstance(each, str) for each in listed):
        raise _wrong(place, value, f"a list of {what}", path)
    return tuple(listed)


def _wrong(place: str, value: object, expected: str, path: str) -> InputError:
    shown = " ".join(repr(value).split())[:60]
    return InputError(f"{place} cannot be {shown}", path=path, hint=f"Set it to {expected}")


def input_digest(source: Any) -> str | None:
    """Return the SHA-256 of a file; None for what is not a file, or cannot be read again."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    try:
        return digest_of(os.fspath(source))
    except (OSError, LeadlineError):
        return None
