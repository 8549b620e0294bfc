"""The attributes of results, read from their classes, and the keys of JSON, read from output."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import groupby
from typing import Any

import leadline
from leadline.measures import MEASURES
from leadline.result import Result

COMMON = {
    "names": "Names of the runs.",
    "sources": "Files that were read; they are never overwritten.",
    "warnings": "What was counted on the way, as printed below the table.",
    "options": "Options in effect, as in the JSON.",
    "inputs": "Files that were read, with their hashes and numbers of rows.",
    "query": "Id of the query.",
    "queries": "Ids of the queries.",
    "documents": "Ids or number of the documents.",
    "measure": "Name of the measure.",
    "run": "Name of the run.",
    "runs": "The runs.",
    "name": "Name of the run.",
    "path": "File that was read.",
    "code": "Name of the condition, the same in all versions.",
    "count": "How often it occurred.",
    "message": "The line that is printed.",
    "a": "Value of the first run.",
    "b": "Value of the second run.",
    "value": "The value.",
    "p": "p-value.",
    "p_corrected": "p-value corrected for multiple comparisons.",
    "low": "Lower limit of the interval.",
    "high": "Upper limit of the interval.",
    "contributors": "Rank in every run that contributed the document.",
    "tag": "Last column of a TREC run.",
    "confidence": "Confidence level.",
    "seed": "Seed of the random numbers.",
    "measures": "The measures.",
    "family": "Tests that are corrected together.",
    "cutoff": "Rank at which lists are truncated.",
    "sides": "The two scores, with their names.",
    "measured": "Histograms and values of each run.",
    "recipe": "Options of the histograms.",
    "interval": "Method of the confidence intervals.",
    "ranges": "Lowest and highest value of each measure.",
    "rules": "Test, correction and levels.",
    "method": "The estimator.",
    "findings": "What was found, as sentences.",
    "groups": "Groups of queries that differ alike.",
    "settings_tried": "Settings of measure and reading that were tried.",
    "tried": "Number of causes that were tried.",
    "counts": "What was counted while the run was read, by name.",
}
USUAL = ("inputs", "measures", "names", "queries", "runs", "confidence")  # described once for all results
OF_ALL = ("options", "sources", "warnings")  # described with the base class of results
WORKING = {"leadline.io.formats"}  # of no use outside the package
EXAMPLE_NAMES = {
    "run": {"bm25", "dense", "alike", "varied", "hybrid", "splade"},
    "query": {"knots", "tides", "anchors", "jaguar"},
    "judge": {"ann", "ben", "eva"},
    "collection": {"graded", "strict"},
    "coefficient": {"agreement", "scott", "cohen", "fleiss", "krippendorff"},
}


def results() -> list[type[Result]]:
    """Return all classes of results by name."""
    for found in pkgutil.walk_packages(leadline.__path__, "leadline."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    kinds, below = [], [Result]
    while below:
        kind = below.pop()
        kinds.append(kind)
        below += kind.__subclasses__()
    return sorted(set(kinds) - {Result}, key=lambda kind: kind.__name__)


def attributes(kind: type) -> dict[str, tuple[str, str]]:
    """Return type and description of the public attributes of a class."""
    found: dict[str, tuple[str, str]] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("leadline"):
            continue
        for name, annotation in inspect.get_annotations(base).items():
            if not str(annotation).startswith("ClassVar"):
                found[name] = (_plain(annotation), found.get(name, ("", ""))[1])
        for name, value in vars(base).items():
            getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
            if isinstance(value, (property, cached_property)) and getter is not None:
                says = " ".join(inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].split())
                found[name] = (_plain(inspect.get_annotations(getter).get("return", "")), _as_noun(says))
        for name, form in _assigned(base).items():
            found.setdefault(name, (form, ""))
        for name, (form, says) in documented(base).items():
            if name in found:
                found[name] = (form or found[name][0], says)
    return {
        name: (form, says or COMMON.get(name, ""))
        for name, (form, says) in sorted(found.items())
        if not name.startswith("_")
    }


def _assigned(kind: type) -> dict[str, str]:
    """Return the attributes that the constructor of a class sets, with the types of their parameters."""
    made = vars(kind).get("__post_init__" if "__dataclass_params__" in vars(kind) else "__init__")
    if made is None:
        return {}
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(made)))
    except (OSError, TypeError):
        return {}
    types = {name: _plain(form) for name, form in inspect.get_annotations(made).items()}
    found = {}
    for node in ast.walk(body):
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                if (
                    isinstance(one, ast.Attribute)
                    and isinstance(one.value, ast.Name)
                    and one.value.id == "self"
                ):
                    noted = (
                        ast.unparse(node.annotation)
                        if isinstance(node, ast.AnnAssign)
                        else types.get(one.attr, "")
                    )
                    found[one.attr] = noted
    return found


def documented(kind: type) -> dict[str, tuple[str, str]]:
    """Return type and description of the attributes in the docstring of a class, as numpydoc writes them."""
    text = inspect.cleandoc(vars(kind).get("__doc__") or "")
    part = re.search(
        r"^(?:Attributes|Parameters)\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}|\Z)", text, re.MULTILINE | re.DOTALL
    )
    if part is None:
        return {}
    found: dict[str, tuple[str, str]] = {}
    for names, form, says in re.findall(
        r"^(\w[\w, ]*?)(?: : ([^\n]*))?\n((?:[ ]+[^\n]*\n?|\n)*)", part[1], re.MULTILINE
    ):
        for name in names.split(","):
            found[name.strip()] = (form, " ".join(says.split()))
    return found


def records(kinds: list[type[Result]]) -> list[type]:
    """Return the classes of records that attributes of results hold, themselves not results."""
    named = {kind.__name__: kind for kind in kinds}
    found: dict[str, type] = {}
    below: list[type] = list(kinds)
    while below:
        holder = below.pop()
        texts = [form for form, _ in attributes(holder).values()] + [*_returned(holder)]
        for name in re.findall(r"\b[A-Z]\w+", " ".join(texts)):
            kind = _class_of(name, holder)
            if kind is None or name in found or name in named or kind.__module__ in WORKING:
                continue
            if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
                found[name] = kind
                below.append(kind)
    return [found[name] for name in sorted(found)]


def _returned(kind: type) -> Iterator[str]:
    """Yield what the public methods of a class return."""
    for name, value in vars(kind).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            yield _plain(inspect.get_annotations(value).get("return", ""))


def _class_of(name: str, holder: type) -> type | None:
    """Return the class that a name stands for in the module of a class, or in those of its bases."""
    for base in holder.__mro__:
        if base.__module__.startswith("leadline"):
            found = getattr(importlib.import_module(base.__module__), name, None) or _imported(
                base.__module__, name
            )
            if inspect.isclass(found) and found.__module__.startswith("leadline"):
                return found
    return None


def _imported(module: str, name: str) -> object:
    """Return what a module imports under a name for type checkers only."""
    source = _sources(module).get(name)
    return source and getattr(importlib.import_module(source), name, None)


@cache
def _sources(module: str) -> dict[str, str]:
    """Return the modules from which a module imports names, by name."""
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                found.setdefault(each.name, node.module)
    return found


def _plain(annotation: Any) -> str:
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"\b(?:np|numpy)\.ndarray\[[^\]]*\]", "ndarray", str(text))


def _as_noun(says: str) -> str:
    return (
        re.sub(r"^Return (?:the |a |an )?", "", says)[:1].upper()
        + re.sub(r"^Return (?:the |a |an )?", "", says)[1:]
    )


SIMPLE = re.compile(r"(?:bool|float|int|str|list(?:\[| of )str\]?|tuple\[str, \.\.\.\])(?: (?:\||or) None)?")


def listed(kind: type, *, of_all: bool = False) -> list[str]:
    """Return the own attributes of a class, or those `of_all` results, with types where these say more."""
    below = next((base for base in kind.__mro__[1:] if issubclass(base, Result)), Result)
    known = attributes(below) if below is not Result else {}
    own = {
        name: (form, says)
        for name, (form, says) in attributes(kind).items()
        if (name in OF_ALL) == of_all and known.get(name) != (form, says)
    }
    usual = [f"`{name}`" for name, (_, says) in own.items() if name in USUAL and says == COMMON[name]]
    rows = [f"- {', '.join(usual)}: as in [all results](#more-results)"] if usual else []
    rows += merged(
        {
            name: says + ("" if SIMPLE.fullmatch(form) or not form else f" *{_short(form)}*")
            for name, (form, says) in own.items()
            if f"`{name}`" not in usual
        }
    )
    also = f", and those of [`{below.__name__}`](#class-{below.__name__.lower()})" if known else ""
    return [f"Attributes{also}:", "", *rows] if rows else []


def _short(form: str) -> str:
    """Return a type as the page shows it: an array by its shape."""
    return re.sub(r"ndarray(?: of \w+)?, shape (\([^)]*\))", r"array \1", form)


def merged(meanings_by_name: dict[str, str]) -> list[str]:
    """Return an item for each name and its meaning; neighbors of one meaning share an item."""
    rows: list[str] = []
    for says, pairs in groupby(meanings_by_name.items(), key=lambda pair: pair[1]):
        rows.append(f"- {', '.join(f'`{name}`' for name, _ in pairs)}: {says}")
    return rows


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the keys in JSON; names of runs are general."""
    if isinstance(value, dict) and path not in {".options", ".inputs[]"}:
        for key, below in value.items():
            yield from keys(below, f"{path}.{_general(key)}")
        if value or not path:
            return
    if isinstance(value, list) and value:
        for below in value:
            yield from keys(below, f"{path}[]")
        return
    yield path.removeprefix(".")


def _general(key: str) -> str:
    for name, known in EXAMPLE_NAMES.items():
        if key in known:
            return f"<{name}>"
    if re.fullmatch(r"d\d\d|j\d", key):
        return "<document>"
    if key.isdigit():
        return "<grade>"
    if key in {"NQC(tail)", "WIG(tail)"}:
        return "<predictor>"
    try:
        MEASURES.parse(key)
    except ValueError:
        return key
    return "<measure>" if re.search(r"[A-Z@]", key) else key


@cache
def meanings(name: str) -> dict[str, str]:
    """Return what the fields of a record or a result mean, by its docstring."""
    kinds = results()
    (kind,) = [kind for kind in (*kinds, *records(kinds)) if kind.__name__ == name]
    return {attribute: says for attribute, (_, says) in documented(kind).items()}
