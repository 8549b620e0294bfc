"""Keep the texts beside the index, for summaries: bytes, and where each word stands in them."""

from __future__ import annotations

from array import array

from leadline.retrieval.index import index_files
from leadline.text import Analysis
from leadline.text.tokens import folded


class StoredText:
    """The stored texts of one build: of each document its first bytes, cut between characters.

    `token_begin[token_offset[d] + p]` is the byte where the word at position p of document d begins.
    """

    def __init__(self, folder: str, prefix: int | None) -> None:
        self.folder = folder
        self.prefix = prefix
        self.file = open(index_files.file_of(folder, "text"), "wb")  # noqa: SIM115  # closed by `finish`
        self.ends = array("q", [0])
        self.offsets = array("q", [0])
        self.begin = array("i")
        self.end = array("i")

    def add(self, content: str, analysis: Analysis) -> list[str]:
        """Store a text; give its tokens."""
        raw = content.encode("utf-8", "surrogatepass")
        kept = raw if self.prefix is None else raw[: self.prefix]
        while len(kept) < len(raw) and raw[len(kept)] & 0xC0 == 0x80:
            kept = kept[:-1]
        self.file.write(kept)
        self.ends.append(self.ends[-1] + len(kept))
        spans = analysis.spans(content)
        for begin, end in spans if len(raw) == len(content) else _in_bytes(content, spans):
            if end > len(kept):
                break
            self.begin.append(begin)
            self.end.append(end)
        self.offsets.append(len(self.begin))
        return [folded(content[begin:end]) for begin, end in spans]

    def finish(self) -> None:
        """Write the arrays."""
        self.file.close()
        for name, values in (
            ("text_offset", self.ends),
            ("token_offset", self.offsets),
            ("token_begin", self.begin),
            ("token_end", self.end),
        ):
            index_files.save(self.folder, name, values)


def _in_bytes(content: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Turn places in characters into places in bytes; spans may overlap but begin in order."""
    found: list[tuple[int, int]] = []
    last = place = 0
    for begin, end in spans:
        place += len(content[last:begin].encode("utf-8", "surrogatepass"))
        last = begin
        found.append((place, place + len(content[begin:end].encode("utf-8", "surrogatepass"))))
    return found
