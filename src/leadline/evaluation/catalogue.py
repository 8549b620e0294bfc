"""What people read about a measure, taken from its class: text for the terminal, pages and JSON."""

from __future__ import annotations

import doctest
import inspect
import math
import textwrap
from typing import Any

from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Parameter, Parametric, show
from leadline.errors import LeadlineError
from leadline.measures import MEASURES, Measure

AVERAGES = {"mean": "mean", "defined": "mean of defined", "geometric": "geometric mean", "sum": "sum"}
UNDEFINED = {
    "mean": "such a query counts 0 in the mean",
    "defined": "such a query is left out of the mean",
    "geometric": "such a query counts 0.00001 in the mean",
    "sum": "such a query adds nothing",
}
NEEDS = {
    "known": "the documents that the user knew before (--known FILE)",
    "subtopics": "judgments by subtopic (--subtopics)",
}
BOTH = "nothing is relevant nor retrieved"
# Lists from the general to the special: what is undefined for the first is undefined for the rest.
CASES: dict[str, tuple[list[float], list[float]]] = {
    "nothing relevant is retrieved": ([0], [1, 0]),
    "nothing is retrieved": ([], [1, 0]),
    "nothing is relevant": ([0], [0]),
    BOTH: ([], [0]),
}
ALONE: dict[str, tuple[list[float], list[float]]] = {"nothing is judged non-relevant": ([1], [1])}


def outline(kind: type[Parametric], *, defaults: bool = False) -> str:
    """Write a name with its optional parts.

    >>> outline(MEASURES.classes["nDCG"]), outline(MEASURES.classes["Success"], defaults=True)
    ('nDCG(gain,discount)[@k]', 'Success(rel=1)@k')
    """
    inside = [
        f"{name}={show(parameter.default)}" if defaults else name
        for name, parameter in kind.parameters().items()
        if not parameter.at
    ]
    text = kind.__name__ + (f"({','.join(inside)})" if inside else "")
    at = kind.at_name()
    if at is None:
        return text
    place = f"@{symbol(at)}"
    return text + (place if kind.parameters()[at].default is ... else f"[{place}]")


def symbol(at: str) -> str:
    """Return the short name of what stands after `@`."""
    return "k" if at == "cutoff" else at


def paragraphs(kind: type) -> list[str]:
    """Return the paragraphs of a class's docstring, its examples left out.

    >>> paragraphs(MEASURES.classes["RR"])[1:]
    ['The mean over queries is MRR.']
    """
    words, _, _ = (inspect.getdoc(kind) or "").partition(">>>")
    return [" ".join(part.split()) for part in words.split("\n\n") if part.strip()]


def example(kind: type) -> str:
    """Return the examples of a class's docstring with the import that they need."""
    found = doctest.DocTestParser().get_examples(inspect.getdoc(kind) or "")
    if not found:
        return ""
    lines = [f">>> from {kind.__module__} import {kind.__name__}"]
    for part in found:
        first, *more = part.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in more), *part.want.splitlines()]
    return "\n".join(lines)


def limits(kind: type[Measure]) -> str:
    """Write the range of a measure.

    >>> limits(MEASURES.classes["AP"]), limits(MEASURES.classes["CG"])
    ('0..1', '0..')
    """
    return f"{_end(kind.low)}..{_end(kind.high)}"


def _end(value: float) -> str:
    return show(float(value)) if math.isfinite(value) else ""


def undefined(kind: type[Measure]) -> list[str] | None:
    """Describe when a measure is undefined by asking it about small lists; None if it cannot be."""
    forms = [kind.sample()] if "@" in kind.sample() else [kind.sample(), _with_cutoff(kind)]
    measures = list(dict.fromkeys(map(MEASURES.parse, forms)))
    try:
        found = {
            words: [_is_undefined(measure, *lists) for measure in measures]
            for words, lists in (CASES | ALONE).items()
        }
    except LeadlineError:
        return None
    if all(all(found[words]) for words in CASES):  # the most general case says it all
        return [words for words in (next(iter(CASES)), *ALONE) if found[words][0]]
    said = [words for words, cases in found.items() if cases[0]]
    if len(said) > 1 and BOTH in said:
        said.remove(BOTH)
    return [words if all(found[words]) else f"{words} (without a cutoff)" for words in said]


def _with_cutoff(kind: type[Parametric]) -> str:
    """Return a text of this class with a cutoff where it takes one."""
    sample = kind.sample()
    return sample if "@" in sample or kind.at_name() is None else f"{sample}@10"


def _is_undefined(measure: Measure, grades: list[float], judged: list[float]) -> bool:
    table = JudgedRun.of_grades(grades, judged)
    if measure.needs == "subtopics":
        table.qrels = table.qrels.with_one_subtopic()
    if measure.needs == "known":
        table.qrels = table.qrels.with_known({b"1": set(table.qrels.documents)})
    return math.isnan(float(measure.values(table)[0]))


def aliases(kind: type[Parametric]) -> list[str]:
    """Return the other spellings of a name, with the parameters that each sets."""
    found: dict[str, str] = {kind.__name__.lower(): ""}
    for spelling, preset in kind.aliases.items():
        given = [f"{name}={show(value)}" for name, value in preset.items()]
        default_cutoffs = kind.default_cutoffs.get(spelling.lower())
        if default_cutoffs:
            given.append("without a cutoff @" + ",".join(map(show, default_cutoffs)))
        words = f"{spelling} ({', '.join(given)})" if given else spelling
        found.setdefault(spelling.lower(), words)
    return [text for text in found.values() if text]


def entry(kind: type[Measure]) -> dict[str, Any]:
    """Return everything that is known of a measure as plain data."""
    return {
        "name": kind.__name__,
        "outline": outline(kind, defaults=True),
        "title": kind.title,
        "description": paragraphs(kind),
        "formula": kind.formula,
        "parameters": [
            {
                "name": name,
                "at": parameter.at,
                "needed": parameter.default is ...,
                "default": None if parameter.default is ... else parameter.default,
                "allowed": parameter.expected(),
            }
            for name, parameter in kind.parameters().items()
        ],
        "low": kind.low if math.isfinite(kind.low) else None,
        "high": kind.high if math.isfinite(kind.high) else None,
        "larger_is_better": kind.rising,
        "average": kind.average,
        "needs": kind.needs,
        "undefined": undefined(kind),
        "source": kind.source,
        "spellings": aliases(kind),
        "example": example(kind),
    }


def facts(kind: type[Measure]) -> dict[str, str]:
    """Return what is known of a measure as labelled lines, for people."""
    when = undefined(kind)
    found = {
        "formula": kind.formula,
        "parameters": "\n".join(parameter_lines(kind)) or "none",
        "range": f"{limits(kind)}; {'larger' if kind.rising else 'smaller'} is better",
        "average": AVERAGES[kind.average],
    }
    if when is not None:
        found["undefined"] = "; ".join(f"when {words}" for words in when) or "never"
        if when:
            found["undefined"] += f"; {UNDEFINED[kind.average]}"
    if kind.needs in NEEDS:
        found["needs"] = NEEDS[kind.needs]
    found["source"] = kind.source
    if aliases(kind):
        found["spellings"] = ", ".join(aliases(kind)) + "; upper and lower case are one"
    if kind.at_name() is not None:
        found["cutoffs"] = ", ".join(f"{kind.__name__}{way}" for way in _cutoffs(kind))
    return found


def _cutoffs(kind: type[Parametric]) -> list[str]:
    number = _with_cutoff(kind).partition("@")[2]
    return [f"@{number}", f"_{number}", f".{number}", f"_at_{number}"]


def parameter_lines(kind: type[Parametric]) -> list[str]:
    """Return a line for each parameter: its name, what is allowed, its default."""
    return [_parameter_line(name, parameter) for name, parameter in kind.parameters().items()]


def _parameter_line(name: str, parameter: Parameter) -> str:
    if parameter.at:
        rest = "must be given" if parameter.default is ... else "may be left out"
        return f"@{symbol(name)}: {parameter.expected()}; {rest}"
    return f"{name}: {parameter.expected()}; default {show(parameter.default)}"


def explain(kind: type[Measure], *, asked: str = "") -> str:
    """Write all that is known of a measure; `asked` says what was typed and what it means."""
    lines = [f"{outline(kind, defaults=True)} - {kind.title}", ""]
    if asked:
        lines += [*_wrapped(asked, "  ", "  "), ""]
    for paragraph in paragraphs(kind):
        lines += [*_wrapped(paragraph, "  ", "  "), ""]
    for label, text in facts(kind).items():
        for place, line in enumerate(text.splitlines()):
            lines += _wrapped(line, f"  {'' if place else label:<12}", " " * 14)
    if example(kind):
        lines += ["", "  example", *(f"    {line}" for line in example(kind).splitlines())]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
