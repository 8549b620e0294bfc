"""Text for people: counts in words, and names that are safe and short enough to show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# What a terminal, a browser or an editor would obey instead of showing: control characters (C0, DEL, C1),
# line and paragraph separators, marks that change the direction of text, and characters without a width
# that could make two names look alike. The joiners U+200C and U+200D are left: some scripts need them.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # what this program itself writes to a terminal
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
LEAST = 3  # cells of a shortened name: a letter, the mark, a letter


def counted(count: int, one: str, many: str = "") -> str:
    """Describe how many there are; `many` is the plural where it is not made with an s.

    >>> counted(1, "run"), counted(1200, "query", "queries")
    ('1 run', '1,200 queries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def queries(count: int) -> str:
    """Describe how many queries there are.

    >>> queries(1)
    '1 query'
    """
    return counted(count, "query", "queries")


def percent(share: float) -> str:
    """Write a share in percent, as short as it is exact.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * share:.12g} %"


def rounded(value: float | None) -> str:
    """Write a number to two places; what is undefined is said.

    >>> rounded(0.425), rounded(None)
    ('0.42', 'undefined')
    """
    return "undefined" if value is None else f"{value:.2f}"


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return text with control, invisible and bidirectional characters written as escapes.

    With `lines`, line feeds are kept. Bytes of an id that are not UTF-8 stay: output gives them back.

    >>> print(visible("bm25\x1b[2J\nnext\u202e"))
    bm25\x1b[2J\nnext\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return UNSAFE.sub(lambda found: found[0] if lines and found[0] == "\n" else _escape(found[0]), text)


def _escape(letter: str) -> str:
    code = ord(letter)
    if code <= 0xFF:
        return SHORT.get(letter, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def cells(text: str) -> int:
    """Return the number of terminal cells that a text takes: wide characters two, combining ones none.

    Codes for colours take none.

    >>> cells("bm25"), cells("検索")
    (4, 4)
    """
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Shorten names in the middle to at most `most` cells; names that differ stay different.

    Where the ends of two names are equal, what is kept begins at their first difference; where that is not
    enough, shortened names are numbered.

    >>> shortened(["bm25", "team-of-many-words-run-1"], 12)
    ['bm25', 'team-o…run-1']
    >>> shortened(["an-experiment-lr0.1-of-many-words", "an-experiment-lr0.3-of-many-words"], 14)
    ['an-e…1-of-man…', 'an-e…3-of-man…']
    """
    most = max(most, LEAST)
    long = {name: _middle(name, most) for name in names if cells(name) > most}
    if not long:
        return list(names)
    taken = {name for name in names if name not in long}
    found = dict(long)
    for short in _clashes(found, taken):
        mates = [name for name, text in long.items() if text == short]
        for name in mates:
            found[name] = _from_difference(name, mates, most)
    clashes = _clashes(found, taken)
    number = 0
    for name, text in found.items():
        if text in clashes:
            number += 1
            while (mark := f"({number})") and (
                short := _start(name, max(most - len(mark) - 1, 0)) + "…" + mark
            ) in taken:
                number += 1
            found[name] = short
    return [found.get(name, name) for name in names]


def _clashes(found: dict[str, str], taken: set[str]) -> set[str]:
    """Return the shortened names that stand for more than one name."""
    texts = list(found.values())
    return {text for text in texts if texts.count(text) > 1 or text in taken}


def _middle(name: str, most: int) -> str:
    return f"{_start(name, most // 2)}…{_start(name[::-1], (most - 1) // 2)[::-1]}"


def _start(text: str, most: int) -> str:
    """Return the longest beginning of a text that takes at most so many cells."""
    end = min(len(text), most)
    while cells(text[:end]) > most:
        end -= 1
    return text[:end]


def _from_difference(name: str, mates: Sequence[str], most: int) -> str:
    same = [len(set(letters)) == 1 for letters in zip(*mates, strict=False)]
    start = [*same, False].index(False)
    kept = _start(name, most // 3)
    rest = _start(name[start:], most - cells(kept) - 2)
    return f"{kept}…{rest}" + ("…" if start + len(rest) < len(name) else "")


def folded(text: str, most: int, *, indent: str | None = None) -> list[str]:
    """Break a text into lines of at most `most` cells, between words where that is possible.

    Further lines begin with `indent`, by default the blanks that the text begins with.

    >>> folded("  queries that differ most", 16)
    ['  queries that', '  differ most']
    """
    if cells(text) <= most:
        return [text]
    blank = text[: len(text) - len(text.lstrip(" "))]
    further = blank if indent is None else indent
    if cells(further) > most // 2:
        further = ""
    lines, line = [], blank if cells(blank) <= most // 2 else ""
    empty = line
    for word in filter(None, text.split(" ")):
        gap = "" if line == empty else " "
        if cells(line + gap + word) <= most:
            line += gap + word
            continue
        if line != empty:
            lines.append(line)
            line = empty = further
        rest = word
        while cells(line + rest) > most:
            part = _start(rest, most - cells(line)) or rest[0]
            lines.append(line + part)
            rest = rest[len(part) :]
            line = empty = further
        line += rest
    return [*lines, line] if line != empty else lines
