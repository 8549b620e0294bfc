"""The publications and programs that the sources of the measures name: entries of publications.bib."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from leadline.version import VERSION

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
    for entry in _entries(files(__package__).joinpath("publications.bib").read_text(encoding="utf-8"))
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
