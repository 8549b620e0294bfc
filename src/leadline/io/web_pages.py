"""Web pages in TREC collections (TRECWEB: WT2g, WT10g, .GOV, GOV2): title, text, url and metadata."""

from __future__ import annotations

import re
from html.parser import HTMLParser

HEADER = re.compile(r"<dochdr>\s*(.*?)</dochdr\s*>", re.DOTALL | re.IGNORECASE)
PAGE = re.compile(r"<dochdr>|<html[\s>]", re.IGNORECASE)
OLD_NUMBER = re.compile(r"<docoldno>.*?</docoldno\s*>", re.DOTALL | re.IGNORECASE)
# Columns made of lines of the HTTP header.
METADATA = {"content-type": "content_type", "date": "date", "last-modified": "last_modified"}
HIDDEN = {"script", "style", "template"}
# Tags within a word or a sentence; any other tag separates words.
INLINE = {"a", "abbr", "acronym", "b", "big", "cite", "code", "em", "font", "i", "s", "small", "span"}
INLINE |= {"strike", "strong", "sub", "sup", "tt", "u", "wbr"}


class _Reader(HTMLParser):
    """The visible text of a page, and its title."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.text: list[str] = []
        self.hidden = ""
        self.in_title = False

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        """Begin the title or what is hidden; separate words."""
        if tag in HIDDEN:
            self.hidden = self.hidden or tag
        self.in_title = tag == "title" and not self.title
        if tag not in INLINE:
            self.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """End the title or what is hidden; separate words."""
        if tag == self.hidden:
            self.hidden = ""
        self.in_title = False
        if tag not in INLINE:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        """Keep what is visible."""
        if not self.hidden:
            (self.title if self.in_title else self.text).append(data)

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002  # the base's
        """Skip `<![...>`, of which the parser would refuse unknown kinds."""
        return self.rawdata.find(">", i) + 1 or -1


def is_page(block: str) -> bool:
    """Return whether a document is a web page.

    >>> is_page("<DOCHDR>http://a.example</DOCHDR><p>Wings"), is_page("<TEXT><P>Wings</TEXT>")
    (True, False)
    """
    return PAGE.search(block) is not None


def page(block: str) -> dict[str, str]:
    r"""Return title, text, url and metadata of a page; scripts, style sheets and comments are left out.

    >>> page("<DOCHDR>\nhttp://a.example/ 1.2.3.4\n</DOCHDR><title>A</title><style>b{}</style>W<b>in</b>gs")
    {'title': 'A', 'text': 'Wings', 'url': 'http://a.example/'}
    """
    header = HEADER.search(block)
    reader = _Reader()
    reader.feed(OLD_NUMBER.sub("", HEADER.sub("", block, count=1)))
    reader.close()
    found = {"title": " ".join("".join(reader.title).split()), "text": " ".join("".join(reader.text).split())}
    if header is None or not header[1]:
        return found
    first, *lines = header[1].splitlines()
    found["url"] = first.split()[0]
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and name.strip().lower() in METADATA:
            found[METADATA[name.strip().lower()]] = value.strip()
    return found
