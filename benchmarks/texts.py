"""Make a text collection from what is at hand: the docstrings of all installed packages.

    python benchmarks/texts.py FOLDER

Writes docs.jsonl (one docstring a document) and queries.jsonl (2 to 4 words cut from one), the same each time
for the same packages.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

QUERIES = 200


def docstrings(folder: Path) -> Iterator[str]:
    """Yield the docstrings of all files below a folder that parse."""
    for path in sorted(folder.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node)
                if text and len(text) > 40:
                    yield text


def main(target: Path) -> None:
    """Write documents and queries."""
    target.mkdir(parents=True, exist_ok=True)
    folders = {sysconfig.get_paths()[name] for name in ("purelib", "stdlib")}
    texts = list(dict.fromkeys(text for name in sorted(folders) for text in docstrings(Path(name))))
    with (target / "docs.jsonl").open("w", encoding="utf-8") as file:
        for place, text in enumerate(texts):
            clean = text.encode("utf-8", "replace").decode()
            file.write(json.dumps({"doc_id": f"d{place}", "text": clean}) + "\n")
    chosen = random.Random(0)
    with (target / "queries.jsonl").open("w", encoding="utf-8") as file:
        for place in range(QUERIES):
            words = re.findall(r"[a-z]{4,}", chosen.choice(texts).lower()) or ["value"]
            begin = chosen.randrange(len(words))
            text = " ".join(words[begin : begin + chosen.randint(2, 4)])
            file.write(json.dumps({"query_id": f"q{place}", "text": text}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
