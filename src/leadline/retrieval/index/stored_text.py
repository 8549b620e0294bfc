"""Storage of the texts with the index, for summaries: bytes, and the offsets of the words."""

from __future__ import annotations

from array import array

from leadline.retrieval.index import index_files
from leadline.text import Analysis
from leadline.text.tokens import folded


class StoredText:
    """Stored texts of one build: a prefix of each document, cut at a character boundary.

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
        """Store a text and return its tokens."""
        raw = content.encode("utf-8", "surrogatepass")
        prefix = raw if self.prefix is None else raw[: self.prefix]
        while len(prefix) < len(raw) and raw[len(prefix)] & 0xC0 == 0x80:
            prefix = prefix[:-1]
        self.file.write(prefix)
        self.ends.append(self.ends[-1] + len(prefix))
        spans = analysis.spans(content)
        for begin, end in spans if len(raw) == len(content) else _in_bytes(content, spans):
            if end > len(prefix):
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
    """Convert character offsets to byte offsets; spans may overlap but begin in order."""
    offsets: list[tuple[int, int]] = []
    last = offset = 0
    for begin, end in spans:
        offset += len(content[last:begin].encode("utf-8", "surrogatepass"))
        last = begin
        offsets.append((offset, offset + len(content[begin:end].encode("utf-8", "surrogatepass"))))
    return offsets
