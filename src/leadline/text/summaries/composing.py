"""Put the chosen windows of a text together, an ellipsis between them and where a sentence is cut."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.text.summaries.layout import PARAGRAPH, Layout, unbroken
from leadline.text.summaries.occurrences import Found
from leadline.text.summaries.showing import Summary, merged

ELLIPSIS = "\u2026"


def compose(
    layout: Layout, windows: Sequence[tuple[int, int]], found: Found | None = None
) -> Summary:
    """Make the summary of windows (in units) and of what matches in the tidy text."""
    parts: list[str] = []
    length = 0
    marks: list[tuple[int, int]] = []

    def add(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for number, (first, last) in enumerate(windows):
        begin, end = layout.place(first), layout.stop(last)
        text = layout.text[begin:end].rstrip()
        if number or not layout.is_edge(first):
            add(f" {ELLIPSIS} " if number else f"{ELLIPSIS} ")
        end = begin + len(text)
        spans = found.spans(begin, end) if found else ()
        marks += [
            (length + max(low, begin) - begin, length + min(high, end) - begin)
            for low, high in merged((unbroken(layout.text, low), high) for low, high in spans)
            if low < end
        ]
        add(text.replace(PARAGRAPH, " "))
    if windows and not layout.is_edge(windows[-1][1]):
        add(f" {ELLIPSIS}")
    return Summary("".join(parts), tuple(marks))
