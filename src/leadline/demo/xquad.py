"""XQuAD in English, German and Chinese: 240 paragraphs of Wikipedia, and 1,190 questions on them.

The paragraphs and questions are translations of each other with the same ids, and a question has one relevant
paragraph: the one on which it was asked. `python -m leadline.demo.xquad FOLDER` makes the embedded file from
`xquad.en.json`, `xquad.de.json` and `xquad.zh.json` of the publication, from which answers are left out.
"""

from __future__ import annotations

import json
import lzma
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from leadline.errors import InputError

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
LANGUAGES = ("en", "de", "zh")
PACKED = "xquad.json.xz"
LICENCE = "xquad.LICENSE.txt"


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the paragraphs and questions of every language, the judgments and the licence: name and content.

    >>> [name for name, _ in files()]  # doctest: +NORMALIZE_WHITESPACE
    ['docs.en.jsonl', 'queries.en.jsonl', 'docs.de.jsonl', 'queries.de.jsonl', 'docs.zh.jsonl',
     'queries.zh.jsonl', 'qrels.txt', 'LICENSE.txt']
    """
    with lzma.open(os.path.join(DATA, PACKED)) as packed:
        content = json.load(packed)
    asked = {
        f"a{article:02}p{number}": names
        for article, paragraphs in enumerate(content["questions"], start=1)
        for number, names in enumerate(paragraphs, start=1)
    }
    questions = [name for names in asked.values() for name in names]
    for language in LANGUAGES:
        for key, kind, names in (("doc_id", "docs", list(asked)), ("query_id", "queries", questions)):
            rows = zip(names, content[language][kind], strict=True)
            yield f"{kind}.{language}.jsonl", _lines(key, rows)
    pairs = (f"{name} 0 {paragraph} 1\n" for paragraph, names in asked.items() for name in names)
    yield "qrels.txt", "".join(pairs).encode()
    with open(os.path.join(DATA, LICENCE), "rb") as licence:
        yield "LICENSE.txt", licence.read()


def _lines(key: str, rows: Iterable[tuple[str, str]]) -> bytes:
    made = (json.dumps({key: name, "text": text}, ensure_ascii=False) + "\n" for name, text in rows)
    return "".join(made).encode()


def pack(folder: str) -> bytes:
    """Return the embedded file, each text and each id once, made of the published files of a folder.

    `questions` holds the ids by article and paragraph; each language has its texts in the same order.
    """
    content: dict[str, Any] = {}
    for language in LANGUAGES:
        with open(os.path.join(folder, f"xquad.{language}.json"), encoding="utf-8") as file:
            articles = [article["paragraphs"] for article in json.load(file)["data"]]
        names = [[[one["id"] for one in part["qas"]] for part in parts] for parts in articles]
        if content.setdefault("questions", names) != names:
            raise InputError("has other questions than the languages before", path=file.name)
        every = [part for parts in articles for part in parts]
        content[language] = {
            "docs": [part["context"] for part in every],
            "queries": [one["question"] for part in every for one in part["qas"]],
        }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    with open(os.path.join(DATA, PACKED), "wb") as target:
        target.write(pack(sys.argv[1]))
