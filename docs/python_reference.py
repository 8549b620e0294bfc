"""The reference of the Python interface, from the public names, their docstrings and their signatures."""

from __future__ import annotations

import inspect
import os
import re
import runpy
from functools import cached_property
from types import FunctionType

import leadline
from leadline.result import Result

FOLDER = os.path.dirname(os.path.abspath(__file__))
ATTRIBUTES = runpy.run_path(os.path.join(FOLDER, "attributes.py"))


def reference(note: str) -> str:
    """Return every public name with its docstring, and all results; `note` says who writes the page."""
    lines = [
        "# Python reference",
        "",
        note,
        "",
        "The public names of `import leadline as ll`. Measures are classes of `leadline.measures`, listed in",
        "[measures.md](measures.md); retrieval models are classes of `leadline.models`, described in",
        "[search](search.md). Results that have no public name are [below](#more-results), and so are the",
        "[keys of JSON](#json), which the records in results have as attributes.",
        "",
        "| name | |",
        "| --- | --- |",
    ]
    public = [
        (name, getattr(leadline, name)) for name in leadline.__all__ if callable(getattr(leadline, name))
    ]
    kinds = ATTRIBUTES["results"]()
    more = [kind for kind in kinds if kind not in [value for _, value in public]]
    lines += [f"| [`{name}`](#{heading(value, name, '-')}) | {summary_of(value)} |" for name, value in public]
    for name, value in public:
        lines += ["", f"## {heading(value, name)}", "", *described(name, value, value in kinds)]
    lines += [
        "",
        "## More results",
        "",
        "Functions and commands return them; they are not made directly.",
        "",
    ]
    lines += [f"- [`{kind.__name__}`](#class-{kind.__name__.lower()}): {summary_of(kind)}" for kind in more]
    for kind in more:
        lines += ["", f"### class {kind.__name__}", "", *described(kind.__name__, kind, attributes=True)]
    return "\n".join(lines) + "\n"


def heading(value: object, name: str, blank: str = " ") -> str:
    """Return the heading of a name in the reference, or its anchor: classes and functions may be homonyms."""
    text = f"class {name}" if inspect.isclass(value) else name
    return text if blank == " " else text.lower().replace(" ", blank)


def described(name: str, value: object, attributes: bool) -> list[str]:
    """Return the description of a public name; `attributes` gives those of a result as a table."""
    text = inspect.cleandoc(getattr(value, "__doc__", None) or "").strip()
    if attributes:
        text = re.sub(
            r"^Attributes\n-+\n.*?(?=^\w[^\n]*\n-{3,}|\Z)", "", text, flags=re.MULTILINE | re.DOTALL
        ).strip()
    lines = ["```text", f"{name}{signature_of(value)}", "", text, "```"]
    if attributes:
        assert inspect.isclass(value)
        lines += ["", *ATTRIBUTES["table"](value)]
        lines += members_of(value, properties=False, beside=Result)
        return [*lines, "", "and the methods of [`Result`](#class-result)."]
    return lines + (members_of(value) if inspect.isclass(value) else [])


def members_of(kind: type, *, properties: bool = True, beside: type = object) -> list[str]:
    """Return a table of the public methods and properties of a class that another does not have."""
    kinds: tuple[type, ...] = (classmethod, staticmethod, FunctionType)
    kinds += (property, cached_property) if properties else ()
    rows = [
        f"| `{name}{signature_of(getattr(kind, name), bound=True)}` | {summary_of(value)} |"
        for name, value in sorted(inspect.getmembers_static(kind))
        if not name.startswith("_") and isinstance(value, kinds) and vars(beside).get(name) is not value
    ]
    return ["", "| member | |", "| --- | --- |", *rows] if rows else []


def summary_of(value: object) -> str:
    """Return the first sentence of a docstring on one line."""
    value = getattr(value, "__func__", value)
    text = inspect.cleandoc(getattr(value, "__doc__", None) or "").split("\n\n")[0]
    return " ".join(text.split()).replace("|", "\\|")


def signature_of(value: object, *, bound: bool = False) -> str:
    """Return the parameters of a function or class; those of a property are none."""
    if isinstance(value, (property, cached_property)) or not callable(value):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(signature.parameters.values())
    if bound and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_shown(parameter.default))
        for parameter in parameters
    ]
    return str(inspect.Signature(bare)).replace("|", "\\|")


class _Shown:
    """A default value written as people would type it, without addresses."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(self.value))


def _shown(value: object) -> object:
    return value if value is inspect.Parameter.empty else _Shown(value)
