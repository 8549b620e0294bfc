"""The reference of the Python interface, from the public names, their docstrings and their signatures."""

from __future__ import annotations

import inspect
import os
import re
import runpy
from collections import Counter
from functools import cache, cached_property
from types import FunctionType

import leadline
from leadline import errors
from leadline.result import Result

FOLDER = os.path.dirname(os.path.abspath(__file__))
ATTRIBUTES = runpy.run_path(os.path.join(FOLDER, "attributes.py"))
WORKING = re.compile(  # members of no use outside the package
    "averaged_values|count|chosen|cutoff_name|digest_with|duplicate|example|fields|has_persistence|hashes|ideal|"
    "keep|keys|limit_columns|lookup|measure_index|merge|of_(?:codes|columns|query|rows|subtopics)|post_init|"
    "print(?:ed_pairs|ed_tables)|query|reach|refuse_(?:duplicates|weights)|saved_columns|select_measures|sharing|"
    "slots|take_saved_values|text_with|with_(?:inclusion|known|one_subtopic|runs)|without_saved_columns"
)
PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}|\Z)", re.MULTILINE | re.DOTALL)
RAISES = re.compile(r"^Raises\n-+\n.*?(?=^\w[^\n]*\n-{3,}|\Z)", re.MULTILINE | re.DOTALL)
DEFAULT = re.compile(r"(?<=\S), (?:optional|default \S+)$", re.MULTILINE)  # which signatures show
PARAMETER = re.compile(r"^\S[^\n]*\n?(?:[ ]+[^\n]*\n?|\n(?=[ ]))*", re.MULTILINE)


def reference(note: str) -> str:
    """Return every public name with its docstring, and all results; `note` says who writes the page."""
    public = public_names()
    kinds = ATTRIBUTES["results"]()
    more = [kind for kind in kinds if kind not in [value for _, value in public]]
    lines = [
        "# Python reference",
        "",
        note,
        "",
        "The public names of `import leadline as ll`. Measures are classes of `leadline.measures`, listed in",
        "[Measures](measures.md). Retrieval models are classes of `leadline.models`, described in",
        "[search](search.md). Results that have no public name are [below](#more-results), and so are the",
        "[keys of JSON](#json), which the records in results have as attributes. Functions raise",
        "`InputError` for data that they cannot read, and `UsageError` for options that are invalid or",
        "contradict each other.",
        "",
        "- Functions: "
        + ", ".join(_link(name, value) for name, value in public if not inspect.isclass(value)),
        "- Classes: " + ", ".join(_link(name, value) for name, value in public if inspect.isclass(value)),
        "",
        "## Shared parameters",
        "",
        "These mean the same wherever they are in a signature, unless the description of the function says",
        "more.",
        "",
        "```text",
        "\n".join(sorted(shared_parameters())),
        "```",
        "",
        "## Errors",
        "",
        "```text",
        inspect.getdoc(errors) or "",
        "```",
    ]
    for name, value in public:
        lines += ["", f"## {heading(value, name)}", "", *described(name, value, value in kinds)]
    lines += [
        "",
        "## More results",
        "",
        "Functions and commands return them. In all results that have them:",
        "",
    ]
    lines += [f"- `{name}`: {ATTRIBUTES['COMMON'][name]}" for name in ATTRIBUTES["USUAL"]]
    for kind in more:
        lines += ["", f"### class {kind.__name__}", "", *described(kind.__name__, kind, attributes=True)]
    return "\n".join(lines) + "\n"


def public_names() -> list[tuple[str, object]]:
    """Return the public functions and classes by name."""
    return [(name, getattr(leadline, name)) for name in leadline.__all__ if callable(getattr(leadline, name))]


def _link(name: str, value: object) -> str:
    return f"[`{name}`](#{heading(value, name, '-')})"


@cache
def shared_parameters() -> frozenset[str]:
    """Return the descriptions of parameters that several functions share word for word."""
    counted: Counter[str] = Counter()
    for _, value in public_names():
        if found := PARAMETERS.search(inspect.cleandoc(getattr(value, "__doc__", None) or "")):
            counted.update(text.strip() for text in PARAMETER.findall(found[1]))
    names = Counter(text.split(" :")[0] for text, times in counted.items() if times > 1)
    return frozenset(text for text, times in counted.items() if times > 1 and names[text.split(" :")[0]] == 1)


def _without_shared(text: str) -> str:
    """Return a docstring without the parameters that are described once for all."""
    found = PARAMETERS.search(text)
    if found is None:
        return text
    own = [each.rstrip() for each in PARAMETER.findall(found[1]) if each.strip() not in shared_parameters()]
    block = "\n".join(["Parameters", "----------", *own, "", ""]) if own else ""
    return text[: found.start()] + block + text[found.end() :]


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
    text = DEFAULT.sub("", RAISES.sub("", _without_shared(text))).strip()
    made = "" if attributes else f"{name}{signature_of(value)}\n\n"  # results are not made by their users
    lines = ["```text", f"{made}{text}", "```"]
    if attributes:
        assert inspect.isclass(value)
        lines += ["", *ATTRIBUTES["listed"](value)]
        below = next(base for base in value.__mro__[1:] if issubclass(base, Result))
        return lines + members_of(value, properties=False, beside=below)
    if value is Result:
        lines += ["", *ATTRIBUTES["listed"](value, of_all=True)]
    return lines + (members_of(value) if inspect.isclass(value) else [])


def members_of(kind: type, *, properties: bool = True, beside: type = object) -> list[str]:
    """Return the public methods and properties of a class, of those alone that another does not have."""
    kinds: tuple[type, ...] = (classmethod, staticmethod, FunctionType)
    kinds += (property, cached_property) if properties else ()
    known = {name for base in beside.__mro__ if base is not object for name in vars(base)}
    rows = [
        f"- `{name}{signature_of(getattr(kind, name), bound=True)}`: {summary_of(value)}"
        for name, value in sorted(inspect.getmembers_static(kind))
        if not name.startswith("_")
        and not WORKING.fullmatch(name)
        and isinstance(value, kinds)
        and name not in known
        and not (Result in beside.__mro__ and name == "to_dict" and signature_of(value) == "(self)")
    ]
    return ["", "Methods:" if not properties else "Members:", "", *rows] if rows else []


def summary_of(value: object) -> str:
    """Return the first sentence of a docstring on one line."""
    value = getattr(value, "__func__", value)
    text = inspect.cleandoc(getattr(value, "__doc__", None) or "").split("\n\n")[0]
    return " ".join(text.split())


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
    return str(inspect.Signature(bare))


class _Shown:
    """A default value written as people would type it, without addresses."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(self.value))


def _shown(value: object) -> object:
    return value if value is inspect.Parameter.empty else _Shown(value)
