"""Put the chosen windows of a text together, an ellipsis between them and where a sentence is cut."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.text.summaries.layout import PARAGRAPH, Layout, unbroken
from leadline.text.summaries.showing import Summary, merged

ELLIPSIS = "\u2026"


def compose(
    layout: Layout, windows: Sequence[tuple[int, int]], matched: Sequence[tuple[int, int]]
) -> Summary:
    """Make the summary of windows (in units) and matches (in characters of the tidy text)."""
    parts: list[str] = []
    length = 0
    marks: list[tuple[int, int]] = []
    spans = merged((unbroken(layout.text, begin), end) for begin, end in matched)

    def add(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for number, (first, last) in enumerate(windows):
        begin, end = layout.place(first), layout.stop(last)
        text = layout.text[begin:end].rstrip()
        if number or not layout.is_edge(first):
            add(f" {ELLIPSIS} " if number else f"{ELLIPSIS} ")
        marks += [
            (length + max(start, begin) - begin, length + min(stop, begin + len(text)) - begin)
            for start, stop in spans
            if start < begin + len(text) and stop > begin
        ]
        add(text.replace(PARAGRAPH, " "))
    if windows and not layout.is_edge(windows[-1][1]):
        add(f" {ELLIPSIS}")
    return Summary("".join(parts), tuple(marks))
