"""Formatting of counts, names and text for display."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from leadline.errors import either

# Characters that a terminal, browser or editor would interpret instead of displaying: control characters
# (C0, DEL, C1), line and paragraph separators, bidirectional controls, and zero-width characters, which
# could make two names look alike. The joiners U+200C and U+200D are allowed because some scripts need them.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # escape sequences written by this program
SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
MIN_CELLS = 3  # of a shortened name: a letter, the ellipsis, a letter


def counted(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun; `plural` is required unless it is formed with -s.

    >>> counted(1, "run"), counted(1200, "query", "queries")
    ('1 run', '1,200 queries')
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def in_columns(names: Sequence[str]) -> str:
    """Return where something was looked for.

    >>> in_columns(["qid"]), in_columns(["qid", "docno"])
    ("in column 'qid'", 'among the columns qid, docno')
    """
    return f"among the columns {', '.join(names)}" if len(names) > 1 else f"in column '{''.join(names)}'"


def terminal_columns(otherwise: int) -> int:
    """Return the width of the terminal; `shutil` would import three compression modules."""
    try:
        return int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size(1).columns or otherwise
    except (ValueError, OSError):
        return otherwise


def queries(count: int) -> str:
    """Return a number of queries with its noun.

    >>> queries(1)
    '1 query'
    """
    return counted(count, "query", "queries")


def queries_between(counts: Iterable[int]) -> str:
    """Return the smallest and the largest of some numbers of queries; zeros are left out.

    >>> queries_between([50, 50]), queries_between([0, 1250, 48])
    ('50 queries', '48 to 1,250 queries')
    """
    found = sorted({count for count in counts if count}) or [0]
    return f"{found[0]:,} to " * (len(found) > 1) + queries(found[-1])


def first_few(names: Sequence[object], most: int = 3) -> str:
    """Return the first of some names, and dots if there are more.

    >>> first_few(["q1", "q2"]), first_few(range(5)), first_few("abc", 2)
    ('q1, q2', '0, 1, 2, ...', 'a, b, ...')
    """
    return ", ".join(map(str, names[:most])) + ", ..." * (len(names) > most)


def listed(items: Sequence[object]) -> str:
    """Return items as an English list.

    >>> listed(["bm25"]), listed(["bm25", "dense"]), listed([1, 2, 3])
    ('bm25', 'bm25 and dense', '1, 2 and 3')
    """
    return either(map(str, items), "and")


def listed_few(names: Sequence[object], most: int = 3) -> str:
    """Return names as an English list, or the first few of many.

    >>> listed_few(["AP", "RR"]), listed_few("abcd")
    ('AP and RR', 'a, b, c, ...')
    """
    return listed(names) if 0 < len(names) <= most else first_few(names, most)


def percent(proportion: float) -> str:
    """Return a proportion in percent, with as few digits as are exact, or two decimals.

    >>> percent(0.95), percent(0.999), percent(1 - 0.05 / 3)
    ('95 %', '99.9 %', '98.33 %')
    """
    exact = f"{100 * proportion:.12g}"
    return f"{exact if len(exact) < 10 else round(100 * proportion, 2)} %"


def beyond(value: float, limit: float, digits: int = 3) -> str:
    """Return a number beyond a limit, with more than `digits` digits where these would show the limit.

    >>> beyond(90.123, 40), beyond(40.02, 40)
    ('90.1', '40.02')
    """
    texts = ((f"{value:.{size}g}", f"{limit:.{size}g}") for size in range(digits, 17))
    return next((text for text, of_limit in texts if text != of_limit), f"{value:.17g}")


def rounded(value: float | None) -> str:
    """Return a number with two decimals; "undefined" for None.

    >>> rounded(0.425), rounded(None)
    ('0.42', 'undefined')
    """
    return "undefined" if value is None else f"{value:.2f}"


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return text with control, invisible and bidirectional characters escaped.

    `lines` keeps line feeds. Surrogate escapes of bytes that are not UTF-8 are kept: output restores them.

    >>> print(visible("bm25\x1b[2J\nnext\u202e"))
    bm25\x1b[2J\nnext\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return UNSAFE.sub(lambda match: match[0] if lines and match[0] == "\n" else _escape(match[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return SHORT_ESCAPES.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def cells(text: str) -> int:
    """Return the width of a text in terminal cells: wide characters 2, combining characters and colors 0.

    >>> cells("bm25"), cells("検索")
    (4, 4)
    """
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Return names abbreviated to at most `width` cells, such that different names remain different.

    The middle of a name is omitted. Names that would become equal keep the part from their first
    difference; names that are still equal are numbered.

    >>> shortened(["bm25", "team-of-many-words-run-1"], 12)
    ['bm25', 'team-o…run-1']
    >>> shortened(["an-experiment-lr0.1-of-many-words", "an-experiment-lr0.3-of-many-words"], 14)
    ['an-e…1-of-man…', 'an-e…3-of-man…']
    """
    width = max(width, MIN_CELLS)
    abbreviated = {name: _without_middle(name, width) for name in names if cells(name) > width}
    if not abbreviated:
        return list(names)
    unchanged = {name for name in names if name not in abbreviated}
    result = dict(abbreviated)
    for short in _ambiguous(result, unchanged):
        same = [name for name, text in abbreviated.items() if text == short]
        for name in same:
            result[name] = _from_difference(name, same, width)
    ambiguous = _ambiguous(result, unchanged)
    number = 0
    for name, text in result.items():
        if text in ambiguous:
            number += 1
            while (suffix := f"({number})") and (
                short := _prefix(name, max(width - len(suffix) - 1, 0)) + "…" + suffix
            ) in unchanged:
                number += 1
            result[name] = short
    return [result.get(name, name) for name in names]


def _ambiguous(result: dict[str, str], unchanged: set[str]) -> set[str]:
    """Return the abbreviations that stand for more than one name."""
    texts = list(result.values())
    return {text for text in texts if texts.count(text) > 1 or text in unchanged}


def _without_middle(name: str, width: int) -> str:
    return f"{_prefix(name, width // 2)}…{_prefix(name[::-1], (width - 1) // 2)[::-1]}"


def _prefix(text: str, width: int) -> str:
    """Return the longest prefix of a text of at most `width` cells."""
    end = min(len(text), width)
    while cells(text[:end]) > width:
        end -= 1
    return text[:end]


def _from_difference(name: str, names: Sequence[str], width: int) -> str:
    """Return the start of a name and its part from the first difference to other names."""
    equal = [len(set(characters)) == 1 for characters in zip(*names, strict=False)]
    start = [*equal, False].index(False)
    prefix = _prefix(name, width // 3)
    rest = _prefix(name[start:], width - cells(prefix) - 2)
    return f"{prefix}…{rest}" + ("…" if start + len(rest) < len(name) else "")


def folded(text: str, width: int, *, indent: str | None = None) -> list[str]:
    """Wrap a text into lines of at most `width` cells, between words if possible.

    Continuation lines begin with `indent`, by default the indentation of the text.

    >>> folded("  queries that differ most", 16)
    ['  queries that', '  differ most']
    """
    if cells(text) <= width:
        return [text]
    blank = text[: len(text) - len(text.lstrip(" "))]
    continuation = blank if indent is None else indent
    if cells(continuation) > width // 2:
        continuation = ""
    lines, line = [], blank if cells(blank) <= width // 2 else ""
    empty = line
    for word in filter(None, text.split(" ")):
        gap = "" if line == empty else " "
        if cells(line + gap + word) <= width:
            line += gap + word
            continue
        if line != empty:
            lines.append(line)
            line = empty = continuation
        rest = word
        while cells(line + rest) > width:
            part = _prefix(rest, width - cells(line)) or rest[0]
            lines.append(line + part)
            rest = rest[len(part) :]
            line = empty = continuation
        line += rest
    return [*lines, line] if line != empty else lines


def docstring(thing: ModuleType | type | Callable[..., Any]) -> str:
    """Return the docstring of a module, class or function; empty if it has none.

    Under `-OO`, which drops docstrings, it is read from the source.

    >>> docstring(docstring).partition(".")[0]
    'Return the docstring of a module, class or function; empty if it has none'
    """
    import inspect

    if sys.flags.optimize < 2:
        return inspect.getdoc(thing) or ""
    import ast
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except OSError:  # no source is installed
        return ""
    node: Any = tree if isinstance(thing, ModuleType) else tree.body[0]
    return ast.get_docstring(node) or ""


def in_code(value: object) -> str:
    """Return a value as Python code has it, a NumPy number as one of Python.

    >>> import numpy as np
    >>> in_code(np.float64(1.5)), in_code("1.5")
    ('1.5', "'1.5'")
    """
    return repr(getattr(value, "item", lambda: value)() if getattr(value, "shape", None) == () else value)


def type_of(value: object) -> str:
    """Return the name of the type of a value, in the words of JSON where it is null or text.

    >>> type_of(None), type_of("d1"), type_of(3)
    ('null', 'text', 'int')
    """
    name = type(value).__name__
    return {"NoneType": "null", "str": "text"}.get(name, name)


def counted_in(template: tuple[str, str, str], counts: Sequence[int], **parts: str) -> str:
    """Return a message about the counts of some runs; the same query may count in each of them.

    `template` is what is counted, once and several times, and the rest of the message.

    >>> counted_in(("query", "queries", "with ties{in_runs}"), [1], runs="bm25")
    '1 query with ties in bm25'
    >>> counted_in(("query", "queries", "with ties{in_runs}"), [6, 20], runs="2 runs")
    '2 runs: 6 to 20 queries per run with ties'
    """
    one, several, text = template
    low, high = min(counts), max(counts)
    words = f"{counted(sum(counts), one, several)} " if one else ""
    if len(counts) > 1 and several.endswith("queries"):
        words = f"{counted(high, one, several)} per run "
        words = f"{parts['runs']}: " + (f"{low:,} to {words}" if low < high else words)
        return words + text.format(**parts, in_runs="", from_runs="")
    return words + text.format(**parts, in_runs=f" in {parts['runs']}", from_runs=f" from {parts['runs']}")
