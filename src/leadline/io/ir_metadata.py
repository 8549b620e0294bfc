"""The ir_metadata header of a run: comment lines with YAML at the head of the file, carried as text."""

from __future__ import annotations

from leadline.io.opening import BOM, first_bytes

START, END = b"# ir_metadata.start", b"# ir_metadata.end"
LONGEST = 1 << 20  # bytes: where the end of a header is looked for


def header_in(text: bytes) -> bytes:
    r"""Return the lines of the header at the beginning of a text, with both marks; empty without one.

    A header without an end mark ends before the first line that is no comment.

    >>> header_in(b"# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n1 Q0 d 1 2 bm25\n")
    b'# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n'
    >>> header_in(b"# a comment\n1 Q0 d 1 2 bm25\n")
    b''
    """
    text = text.removeprefix(BOM)
    if not text.startswith(START):
        return b""
    kept = []
    for line in text.splitlines(keepends=True):
        if not line.startswith(b"#"):
            break
        kept.append(line.rstrip(b"\r\n") + b"\n")
        if line.rstrip() == END:
            break
    return b"".join(kept)


def header_of(path: str) -> str | None:
    """Return the YAML in the header of a file, without the comment signs; None without a header."""
    head = first_bytes(path)
    if not head or not head.removeprefix(BOM).startswith(START):
        return None
    lines = header_in(first_bytes(path, LONGEST) or b"").splitlines()
    inner = [line[1:].removeprefix(b" ") for line in lines if line.rstrip() not in {START, END}]
    return b"\n".join(inner).decode("utf-8", "surrogateescape") + "\n"
