"""TREC documents (`<DOC>` with `<DOCNO>`) and TREC queries (`<top>` with `<num>`)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from leadline.errors import InputError
from leadline.formats.lines import lines
from leadline.formats.opening import LONGEST_TEXT, too_long

TAG = re.compile(r"<[^<>]*>")
FIELD = re.compile(r"<(\w+)(?:\s[^<>]*)?>(.*?)</\1\s*>", re.DOTALL)
TITLES = ("title", "headline", "hl", "head", "hdl", "ti", "tti")
LABELS = {
    "num": r"Number\s*:", "title": r"Topic\s*:", "desc": r"Description\s*:",
    "narr": r"Narrative\s*:",
}  # fmt: skip


def documents(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Give every document with the number of its first line: `docno`, `title`, `text`.

    The text is everything that is not the number or the title, tags taken out, so that no field of any
    collection is lost.
    """
    for began, block in _blocks(path, "doc", encoding):
        number = re.search(r"<docno>(.*?)</docno\s*>", block, re.DOTALL | re.IGNORECASE)
        if number is None:
            raise InputError("a <DOC> without <DOCNO>", expected="one", path=path, line=began)
        rest = block[: number.start()] + block[number.end() :]
        title = ""
        for found in FIELD.finditer(rest):
            if found[1].lower() in TITLES and not title:
                title = plain(found[2])
                rest = rest.replace(found[0], " ", 1)
        yield began, {"docno": number[1].strip(), "title": title, "text": plain(rest)}


def queries(path: str, *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Give every query with the number of its first line: `num`, `title`, `desc`, `narr`.

    The tags need not be closed, and labels such as `Number:` are left out.
    """
    for began, block in _blocks(path, "top", encoding):
        found: dict[str, Any] = {}
        for part in re.finditer(r"<(\w+)[^<>]*>([^<]*)", block):
            name = part[1].lower()
            text = re.sub(r"^\s*" + LABELS.get(name, "(?!)"), "", part[2], flags=re.IGNORECASE)
            found[name] = f"{found.get(name, '')} {plain(text)}".strip()
        if not found.get("num"):
            raise InputError("a <top> without <num>", expected="one", path=path, line=began)
        yield began, found


def plain(text: str) -> str:
    """Take tags out, and turn entities into what they mean.

    >>> plain("<p>AT&amp;T <b>wins</b></p>")
    'AT&T wins'
    """
    return " ".join(html.unescape(TAG.sub(" ", text)).split())


def _blocks(path: str, name: str, encoding: str) -> Iterator[tuple[int, str]]:
    """Give what stands between the tags of a name, one block at a time."""
    opening, closing = f"<{name}>", f"</{name}>"
    began, size, kept = 0, 0, [""]
    for number, line in lines(path, encoding=encoding):
        low = line.lower()
        if opening in low:
            if began:
                raise InputError(
                    f"{opening} inside {opening}", expected=closing, path=path, line=number
                )
            began, size, kept = number, 0, []
            line, low = line[low.index(opening) + len(opening) :], low[low.index(opening) :]  # noqa: PLW2901  # the rest of it
        if began and closing in low:
            yield began, "\n".join([*kept, line[: line.lower().index(closing)]])
            began = 0
        elif began:
            kept.append(line)
            size += len(line)
            if size > LONGEST_TEXT:
                raise too_long(path, f"from line {began:,}", LONGEST_TEXT, noun=opening)
    if began:
        raise InputError(f"{opening} that does not end", expected=closing, path=path, line=began)
