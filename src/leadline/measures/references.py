"""A publication or program, as text and as BibTeX."""

from __future__ import annotations

import re
from typing import NamedTuple

VENUES = {
    "article": "journal",
    "inproceedings": "booktitle",
    "book": "publisher",
    "techreport": "institution",
}
ACCENTS = {"ä": r"{\"a}", "é": r"{\'e}", "ó": r"{\'o}", "ü": r"{\"u}", "&": r"\&", "_": r"\_", "#": r"\#"}

OTHERS = " and others"  # in BibTeX, for authors who are not named


class Reference(NamedTuple):
    """A publication or program.

    Attributes
    ----------
    cited : str
        How sources name it, as in "Chapelle et al. 2009".
    key : str
        Its BibTeX key.
    kind : {"article", "inproceedings", "book", "techreport", "misc"}
        Type of the BibTeX entry.
    authors : str
        As in BibTeX: family name, then given names, joined by `and`; an organisation in braces.
    title : str
        Title; what follows a colon begins in upper case.
    year : int or None
        Year of publication; None for programs.
    venue : str
        Journal, proceedings, publisher or institution.
    volume, number, pages, doi, url : str
        Further fields; empty where there is none, or none that we are sure of.
    """

    cited: str
    key: str
    kind: str
    authors: str
    title: str
    year: int | None = None
    venue: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    doi: str = ""
    url: str = ""

    @property
    def text(self) -> str:
        """The reference in one line.

        >>> Reference("Doe 1999", "doe1999", "book", "Doe, Jane and others", "A Book", 1999, "Press").text
        'Jane Doe et al. A Book. Press, 1999.'
        """
        names = [
            " ".join(reversed(name.strip("{}").split(", ")))
            for name in re.split(r" and (?![^{]*\})", self.authors.removesuffix(OTHERS))
        ]
        authors = ", ".join(names) + (" et al" if self.authors.endswith(OTHERS) else "")
        volume = f"{self.volume}({self.number})" if self.number else self.volume
        where = f"{self.venue} {volume}".strip()
        pages = self.pages.replace("--", "-")
        year = "" if self.year is None else str(self.year)
        place = ", ".join(part for part in (where, pages, year) if part)
        link = f"https://doi.org/{self.doi}" if self.doi else self.url
        parts = [authors, self.title, place]
        return ". ".join(part for part in parts if part) + "." + (f" {link}" if link else "")

    @property
    def bibtex(self) -> str:
        """The BibTeX entry."""
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            VENUES.get(self.kind, "howpublished"): self.venue,
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages,
            "year": "" if self.year is None else str(self.year),
        }
        lines = [f"  {name} = {{{_escaped(value)}}}," for name, value in fields.items() if value]
        links = {"doi": self.doi, "url": self.url}
        lines += [f"  {name} = {{{value}}}," for name, value in links.items() if value]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"]) + "\n"


def _escaped(text: str) -> str:
    return "".join(ACCENTS.get(letter, letter) for letter in text)
