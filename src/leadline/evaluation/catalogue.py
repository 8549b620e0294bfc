"""Documentation of measures, from their classes, for the terminal, the pages and JSON; their references."""

from __future__ import annotations

import doctest
import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Parametric, show
from leadline.data.wording import docstring
from leadline.errors import LeadlineError
from leadline.measures import MEASURES, Measure
from leadline.version import VERSION

AVERAGES = {"mean": "mean", "defined": "mean of defined", "geometric": "geometric mean", "sum": "sum"}
UNDEFINED = {
    "mean": "such a query counts as 0 in the mean",
    "defined": "such a query is excluded from the mean",
    "geometric": "such a query counts as 0.00001 in the mean",
    "sum": "such a query adds nothing to the sum",
}
NEEDS = {
    "known": "the documents that the user already knew (--config read.known=FILE)",
    "subtopics": "judgments by subtopic (--config read.subtopics)",
}
MOST_PARAMETERS = 6  # of an outline
BOTH = "nothing is relevant and nothing is retrieved"
# Grades of a list and of all judged documents, from the most general case to the most special one: a measure
# that is undefined in the first case is undefined in all.
CASES: dict[str, tuple[list[float | None], list[float]]] = {
    "nothing relevant is retrieved": ([0], [1, 0]),
    "nothing is retrieved": ([], [1, 0]),
    "nothing is relevant": ([0], [0]),
    BOTH: ([], [0]),
}
ALONE: dict[str, tuple[list[float | None], list[float]]] = {
    "nothing is judged non-relevant": ([1, None], [1]),
    "everything retrieved is relevant": ([1], [1, 0]),
}


def outline(cls: type[Parametric], *, defaults: bool = False) -> str:
    """Return the name of a measure or model with its parameters; optional cutoffs are in brackets.

    Of more than six parameters the first three are named.

    >>> outline(MEASURES.classes["nDCG"]), outline(MEASURES.classes["Success"], defaults=True)
    ('nDCG(gain,discount)[@k]', 'Success(rel=1)@k')
    """
    parameters = [
        f"{name}={show(parameter.default)}" if defaults else name
        for name, parameter in cls.parameters().items()
        if not parameter.at
    ]
    if len(parameters) > MOST_PARAMETERS:
        parameters[3:] = ["..."]
    text = cls.__name__ + (f"({','.join(parameters)})" if parameters else "")
    at = cls.cutoff_name()
    if at is None:
        return text
    suffix = f"@{symbol(at)}"
    return text + (suffix if cls.parameters()[at].default is ... else f"[{suffix}]")


def symbol(at: str) -> str:
    """Return the symbol of the parameter after `@`."""
    return "k" if at == "cutoff" else at


def paragraphs(cls: type) -> list[str]:
    """Return the paragraphs of the docstring of a class, without examples.

    >>> paragraphs(MEASURES.classes["RR"])[1:]
    ['The mean over queries is MRR.']
    """
    text, _, _ = docstring(cls).partition(">>>")
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def example(cls: type) -> str:
    """Return the examples of the docstring of a class, preceded by the import that they need."""
    examples = doctest.DocTestParser().get_examples(docstring(cls))
    if not examples:
        return ""
    lines = [f">>> from {cls.__module__} import {cls.__name__}"]
    for item in examples:
        first, *more = item.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in more), *item.want.splitlines()]
    return "\n".join(lines)


def limits(cls: type[Measure]) -> str:
    """Return the range of a measure as text.

    >>> limits(MEASURES.classes["AP"]), limits(MEASURES.classes["CG"])
    ('0..1', '0..')
    """
    low, high = (show(float(end)) if math.isfinite(end) else "" for end in (cls.low, cls.high))
    return f"{low}..{high}"


def undefined(cls: type[Measure]) -> list[str] | None:
    """Return the cases in which a measure is undefined, from its values on small lists; None on errors."""
    if cls.unanswered:
        return ["something is relevant"]
    forms = [cls.example()] if "@" in cls.example() else [cls.example(), _with_cutoff(cls)]
    measures = list(dict.fromkeys(map(MEASURES.parse, forms)))
    try:
        cases_undefined = {
            words: [_is_undefined(measure, *lists) for measure in measures]
            for words, lists in (CASES | ALONE).items()
        }
    except LeadlineError:
        return None
    if all(all(cases_undefined[words]) for words in CASES):  # the most general case implies the others
        return [words for words in (next(iter(CASES)), *ALONE) if cases_undefined[words][0]]
    without_cutoff = [words for words, cases in cases_undefined.items() if cases[0]]
    if len(without_cutoff) > 1 and BOTH in without_cutoff:
        without_cutoff.remove(BOTH)
    return [
        words if all(cases_undefined[words]) else f"{words} (without a cutoff)" for words in without_cutoff
    ]


def _with_cutoff(cls: type[Parametric]) -> str:
    """Return the name of a sample of this class, with a cutoff if it takes one."""
    sample = cls.example()
    return sample if "@" in sample or cls.cutoff_name() is None else f"{sample}@10"


def _is_undefined(measure: Measure, grades: list[float | None], judged: list[float]) -> bool:
    table = JudgedRun.of_grades(grades, judged)
    if measure.needs == "subtopics":
        table.qrels = table.qrels.with_one_subtopic()
    if measure.needs == "known":
        table.qrels = table.qrels.with_known({b"1": set(table.qrels.documents)})
    return math.isnan(float(measure.values(table)[0]))


def aliases(cls: type[Parametric]) -> list[str]:
    """Return the aliases of a name, with the parameters that each sets."""
    texts: dict[str, str] = {cls.__name__.lower(): ""}
    for spelling, preset in cls.aliases.items():
        settings = [f"{name}={show(value)}" for name, value in preset.items()]
        default_cutoffs = cls.default_cutoffs.get(spelling.lower())
        if default_cutoffs:
            settings.append("without a cutoff @" + ",".join(map(show, default_cutoffs)))
        entry_text = f"{spelling} ({', '.join(settings)})" if settings else spelling
        texts.setdefault(spelling.lower(), entry_text)
    return [text for text in texts.values() if text]


def entry(cls: type[Measure]) -> dict[str, Any]:
    """Return the documentation of a measure as a dictionary."""
    return {
        "name": cls.__name__,
        "outline": outline(cls, defaults=True),
        "title": cls.title,
        "description": paragraphs(cls),
        "formula": cls.formula,
        "parameters": [
            {
                "name": name,
                "at": parameter.at,
                "needed": parameter.default is ...,
                "default": None if parameter.default is ... else parameter.default,
                "allowed": parameter.expected(),
            }
            for name, parameter in cls.parameters().items()
        ],
        "low": cls.low if math.isfinite(cls.low) else None,
        "high": cls.high if math.isfinite(cls.high) else None,
        "larger_is_better": cls.rising,
        "average": cls.average,
        "needs": cls.needs,
        "undefined": undefined(cls),
        "source": cls.source,
        "references": [
            {"key": reference.key, "text": reference.text, "doi": reference.doi or None}
            for reference in cited_in(cls.source)
        ],
        "spellings": aliases(cls),
        "example": example(cls),
    }


def _direction(cls: type[Measure]) -> str:
    if not cls.quality:
        return "; does not measure the quality of a run"
    if cls.rising:
        return "" if cls.average == "sum" else "; larger is better"
    return "; smaller is better"


def facts(cls: type[Measure]) -> dict[str, str]:
    """Return the documentation of a measure as text by label."""
    when = undefined(cls)
    lines = {
        "formula": cls.formula,
        "parameters": "\n".join(parameter_lines(cls)) or "none",
        "range": limits(cls) + _direction(cls),
        "average": AVERAGES[cls.average],
    }
    if when is not None:
        lines["undefined"] = "; ".join(f"when {words}" for words in when) or "never"
        if when:
            lines["undefined"] += f"; {UNDEFINED[cls.average]}"
    if cls.needs in NEEDS:
        lines["needs"] = NEEDS[cls.needs]
    lines["source"] = cls.source
    if aliases(cls):
        lines["spellings"] = ", ".join(aliases(cls))
    if cls.cutoff_name() is not None:
        lines["cutoffs"] = ", ".join(f"{cls.__name__}{suffix}" for suffix in _cutoffs(cls))
    return lines


def _cutoffs(cls: type[Parametric]) -> list[str]:
    number = _with_cutoff(cls).partition("@")[2]
    return [f"@{number}", f"_{number}", *([] if cls.has_persistence() else [f".{number}"]), f"_at_{number}"]


def parameter_lines(cls: type[Parametric]) -> list[str]:
    """Return a line for each parameter: name, allowed values, default."""
    lines = []
    for name, parameter in cls.parameters().items():
        if parameter.at:
            requirement = "must be given" if parameter.default is ... else "may be left out"
            lines.append(f"@{symbol(name)}: {parameter.expected()}; {requirement}")
        else:
            lines.append(f"{name}: {parameter.expected()}; default {show(parameter.default)}")
    return lines


def explain(cls: type[Measure], *, asked: str = "") -> str:
    """Return the documentation of a measure as text; `asked` is what the user typed and its meaning."""
    text = explanation(cls, cls.title, facts(cls), asked=asked)
    if example(cls):
        text += "\n".join(["", "  example", *(f"    {line}" for line in example(cls).splitlines()), ""])
    return text


def explanation(cls: type[Parametric], title: str, facts: Mapping[str, str], *, asked: str = "") -> str:
    """Return outline, paragraphs and facts of a measure or model as text."""
    lines = [f"{outline(cls, defaults=True)} - {title}", ""]
    for paragraph in filter(None, [asked, *paragraphs(cls)]):
        lines += [*_wrapped(paragraph, "  ", "  "), ""]
    for label, text in facts.items():
        for index, line in enumerate(text.splitlines()):
            lines += _wrapped(line, f"  {'' if index else label:<12}", " " * 14)
    return "\n".join(lines) + "\n"


def _wrapped(text: str, initial_indent: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, 100, initial_indent=initial_indent, subsequent_indent=indent, break_on_hyphens=False
    )


# Publications and programs that the sources of measures name: entries of measures/publications.bib.
ACCENTS = {r"{\"a}": "ä", r"{\'e}": "é", r"{\'o}": "ó", r"{\"u}": "ü", r"\&": "&", r"\_": "_", r"\#": "#"}
OTHERS = " and others"  # in BibTeX, for authors who are not named
ENTRY = re.compile(r"^@(\w+)\{(\S+),\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)


class Reference(NamedTuple):
    """A publication or program."""

    cited: str  # how sources name it, as in "Chapelle et al. 2009"
    key: str  # key of its BibTeX entry
    kind: str  # type of the entry, such as article
    fields: dict[str, str]  # fields of the entry

    def __hash__(self) -> int:
        return hash(self.key)

    def __getattr__(self, name: str) -> str:
        """Return a field as text, empty if the entry lacks it."""
        if name.startswith("_"):
            raise AttributeError(name)
        text = self.fields.get(name, "")
        for written, letter in ACCENTS.items():
            text = text.replace(written, letter)
        return text.removeprefix("{").removesuffix("}") if name == "title" else text

    @property
    def venue(self) -> str:
        """Journal, proceedings, publisher or institution."""
        return self.journal or self.booktitle or self.publisher or self.institution or self.howpublished

    @property
    def text(self) -> str:
        """The reference in one line.

        >>> REFERENCES["Moffat and Zobel 2008"].text[:64]
        'Alistair Moffat, Justin Zobel. Rank-Biased Precision for Measure'
        """
        names = [
            " ".join(reversed(name.strip("{}").split(", ")))
            for name in re.split(r" and (?![^{]*\})", self.author.removesuffix(OTHERS))
        ]
        authors = ", ".join(names) + (" et al" if self.author.endswith(OTHERS) else "")
        volume = f"{self.volume}({self.number})" if self.number else self.volume
        where = f"{self.venue} {volume}".strip()
        place = ", ".join(part for part in (where, self.pages.replace("--", "-"), self.year) if part)
        link = f"https://doi.org/{self.doi}" if self.doi else self.url
        parts = [authors, self.title, place]
        return ". ".join(part for part in parts if part) + "." + (f" {link}" if link else "")

    @property
    def bibtex(self) -> str:
        """The BibTeX entry."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"]) + "\n"


def _entries(text: str) -> Iterable[Reference]:
    for kind, key, body in ENTRY.findall(text):
        fields = dict(FIELD.findall(body))
        yield Reference(fields.pop("cited"), key, kind, fields)


REFERENCES = {
    entry.cited: entry
    for entry in _entries(files("leadline.measures").joinpath("publications.bib").read_text(encoding="utf-8"))
}
LEADLINE = Reference(
    "leadline",
    "leadline",
    "misc",
    {
        "author": "{The leadline developers}",
        "title": "{leadline: A Python toolkit that measures retrieval systems}",
        "howpublished": f"Version {VERSION}",
    },
)


def cited_in(source: str) -> list[Reference]:
    """Return the references that a source names, in the order of the source.

    >>> [reference.key for reference in cited_in("Jarvelin and Kekalainen 2002; trec_eval ndcg, ndcg_cut")]
    ['jarvelin2002', 'trec_eval']
    """
    places = {}
    for cited, reference in REFERENCES.items():
        found = re.search(rf"(?<![\w-]){re.escape(cited)}(?!\w)", source)
        if found:
            places[reference] = found.start()
    return sorted(places, key=places.__getitem__)


def bibliography(sources: Iterable[str]) -> str:
    """Return BibTeX of leadline and of all references that sources name, each once."""
    found = dict.fromkeys(reference for source in sources for reference in cited_in(source))
    return "\n".join(reference.bibtex for reference in (LEADLINE, *found))
