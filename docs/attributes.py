"""The attributes of results, read from their classes, and the keys of JSON, read from output."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import textwrap
import typing
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import leadline
from leadline.data.result import Result
from leadline.measures import MEASURES

COMMON = {
    "sources": "Files that were read; they are never overwritten.",
    "warnings": "What was counted on the way, as printed below the table.",
    "options": "Options in effect, as in the JSON.",
    "inputs": "Files that were read, with their hashes and numbers of rows.",
    "query": "Id of the query.",
    "queries": "Ids or number of the queries.",
    "documents": "Ids or number of the documents.",
    "measure": "Name of the measure.",
    "run": "Name of the run.",
    "runs": "The runs.",
    "name": "Name.",
    "path": "File.",
    "code": "Name of the condition, the same in all versions.",
    "count": "How often it occurred.",
    "message": "The line that is printed.",
    "a": "Value of the first run.",
    "b": "Value of the second run.",
    "value": "The value.",
    "wins": "Number won.",
    "ties": "Number of ties.",
    "losses": "Number lost.",
    "p": "p-value.",
    "p_corrected": "p-value corrected for multiple comparisons.",
    "low": "Lower limit of the interval.",
    "high": "Upper limit of the interval.",
    "verdict": "Outcome in words, as in the table.",
    "probability": "Inclusion probabilities.",
    "contributors": "Rank in every run that contributed the document.",
    "tag": "Last column of a TREC run.",
    "confidence": "Confidence level.",
    "seed": "Seed of the random numbers.",
    "measures": "The measures.",
    "values": "Values of runs x queries x measures; NaN is undefined.",
    "undefined": "Number of undefined values, by run and measure.",
    "averaged": "Whether a query is in the mean, by run, query and measure.",
    "present": "Whether a run has a query.",
    "qrels": "The judgments, or their digest.",
    "bounds": "Bounds of the values, where they were requested.",
    "intervals": "Confidence intervals of the means, where they were requested.",
    "estimates": "Estimated R and recall, where a pool was given.",
    "withheld": "Why an estimate has no interval, by measure and run.",
    "without_mean": "Whether the mean of a run is undefined.",
    "examples": "First query and document of runs of which no document is judged.",
    "judged_example": "The first judged document.",
    "relevance_strings": "Grades of the first documents, where they were requested.",
    "family": "Number of tests corrected together.",
    "cutoff": "Rank at which lists are truncated.",
    "arms": "The two arms, with their numbers of users, rows and clicks.",
    "compared": "Difference of the arms, with interval and p.",
    "always": "Always-valid p-value and interval.",
    "sizes": "Sizes of samples that detect given differences.",
    "split": "Test of the split of the users, where one was expected.",
    "audits": "What each judge does to each measure, by the first judge.",
    "between": "By coefficient: mean over pairs of judges, and the value of each pair.",
    "by_query": "By coefficient: mean over pairs of judges of each query.",
    "judgments": "The judgments compared, or their number.",
    "needed": "Numbers of judgments that kappa takes.",
    "of_all": "By coefficient: value over all judges, and the number of pairs.",
    "ranking": "Effect of the judges on the ranking of systems, where runs were given.",
    "reference": "Whether the first judge is the reference of the others.",
    "tables": "Confusion tables of the pairs of judges; rows are the first.",
    "pairs": "The pairs compared, as indices.",
    "grades": "The grades, or their numbers.",
    "size": "Bytes of text.",
    "sides": "The two scores, with their names.",
    "info": "Name and counts of the run.",
    "listed": "The documents of the list with grades and ties.",
    "shown": "Number of ranks shown.",
    "steps": "Columns and sums of the derivation.",
    "measured": "Histograms of each run.",
    "recipe": "Options of the histograms.",
    "brought": "By run: number of documents that it contributed, and of those that no other run contributed.",
    "new": "The pairs that were not known before.",
    "whole": "All pairs of the pool.",
    "read": "Numbers of rows of the inputs other than runs.",
    "interval": "Method of the confidence intervals.",
    "ranges": "Lowest and highest value of each measure.",
    "averages": "Published averages of the collections.",
    "columns": "Statistics by collection, or over pairs.",
    "rules": "Test, correction and levels.",
    "method": "The estimator.",
    "checks": "What was checked, with what was found and expected.",
    "rows": "Number of rows.",
    "findings": "What was found, as sentences.",
    "groups": "Groups of queries that differ alike.",
    "settings_tried": "Settings of measure and reading that were tried.",
    "tried": "Number of causes that were tried.",
    "counts": "What was counted while the run was read, by name.",
    "effect": "Standardised differences.",
    "effect_limits": "Limits of their intervals.",
    "found": "Means, standard errors and degrees of freedom.",
    "by": "What was resampled or assumed.",
    "limits": "Lower and upper limits.",
    "clusters": "Numbers of groups of queries.",
    "error": "Standard errors.",
    "mean": "Means.",
    "comparisons": "Number of comparisons.",
}
EXAMPLE_NAMES = {
    "run": {"bm25", "dense", "alike", "varied", "hybrid", "splade"},
    "query": {"knots", "tides", "anchors", "jaguar"},
    "judge": {"ann", "ben", "eva"},
    "collection": {"graded", "strict"},
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
    if "__init__" not in vars(kind) or dataclasses.is_dataclass(kind):
        return {}
    made = kind.__init__  # type: ignore[misc]  # only looked at
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
    found: dict[str, type] = {}
    below: list[type] = list(kinds)
    while below:
        for annotation in _annotations(below.pop()):
            for kind in _classes(annotation):
                tabular = dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
                ours = kind.__module__.startswith("leadline") and not issubclass(kind, Result)
                if ours and tabular and kind.__name__ not in found:
                    found[kind.__name__] = kind
                    below.append(kind)
    return [found[name] for name in sorted(found)]


def _annotations(kind: type) -> Iterator[Any]:
    """Yield the types of the public attributes of a class."""
    for base in kind.__mro__:
        getters = {
            name: getattr(value, "fget", None) or getattr(value, "func", None)
            for name, value in vars(base).items()
            if not name.startswith("_")
        }
        for source, wanted in ((base, None), *((getter, "return") for getter in getters.values() if getter)):
            try:
                hints = typing.get_type_hints(source)
            except (NameError, TypeError):
                continue
            yield from (
                form for name, form in hints.items() if wanted == name or (wanted is None and name[0] != "_")
            )


def _classes(annotation: Any) -> Iterator[type]:
    if inspect.isclass(annotation):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _classes(part)


def _plain(annotation: Any) -> str:
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"\b(?:np|numpy)\.ndarray\[[^\]]*\]", "ndarray", str(text))


def _as_noun(says: str) -> str:
    return (
        re.sub(r"^Return (?:the |a |an )?", "", says)[:1].upper()
        + re.sub(r"^Return (?:the |a |an )?", "", says)[1:]
    )


def table(kind: type) -> list[str]:
    """Return the attributes of a class as the rows of a table."""
    rows = [
        f"| `{name}` | {_cell(form)} | {says.replace('|', chr(92) + '|')} |"
        for name, (form, says) in attributes(kind).items()
    ]
    return ["| attribute | type | |", "| --- | --- | --- |", *rows] if rows else []


def _cell(form: str) -> str:
    return f"`{form}`".replace("|", "\\|") if form else ""


def keys(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of the keys in JSON with the kind of their values; names of runs are general."""
    if isinstance(value, dict) and path not in {".options", ".inputs[]"}:
        for key, below in value.items():
            yield from keys(below, f"{path}.{_general(key)}")
        if value or not path:
            return
    if isinstance(value, list) and value:
        for below in value:
            yield from keys(below, f"{path}[]")
        return
    kinds = {dict: "object", list: "list", str: "text", bool: "true or false", int: "number", float: "number"}
    yield path.removeprefix("."), "null" if value is None else kinds[type(value)]


def _general(key: str) -> str:
    for name, known in EXAMPLE_NAMES.items():
        if key in known:
            return f"<{name}>"
    if re.fullmatch(r"d\d\d|j\d", key):
        return "<document>"
    try:
        MEASURES.parse(key)
    except ValueError:
        return key
    return "<measure>" if re.search(r"[A-Z@]", key) else key


def meanings(name: str) -> dict[str, str]:
    """Return what the attributes of a result and of its records mean, where their docstrings say so."""
    (kind,) = [kind for kind in results() if kind.__name__ == name]
    return {
        attribute: says
        for one in (*records([kind]), kind)
        for attribute, (_, says) in documented(one).items()
    }
