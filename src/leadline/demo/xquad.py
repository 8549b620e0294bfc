"""XQuAD in English, German and Chinese: 240 paragraphs of Wikipedia, and 1,190 questions on them.

The paragraphs and questions are translations of each other with the same ids, and a question has one relevant
paragraph: the one on which it was asked. Answers are left out. The texts are CC BY-SA 4.0: checkouts and
source distributions hold them in one file; wheels, which are MIT alone, download what was published.
`python -m leadline.demo.xquad` makes the file anew.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from leadline.errors import InputError

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
SOURCE = "https://raw.githubusercontent.com/google-deepmind/xquad/7d30520c717524000f0d9d2f9c10a069acd9d285/"
DIGESTS = {
    "en": "e4c57d1c9143aaa1c5d265ba5987a65f4e69528d2a98f29d6e75019b10344f29",
    "de": "990b5d746746ed65ed4702ea5f35f99ffa4e2f1c390c07d003642acd937916f9",
    "zh": "691d0b3359bc6b8faa8de931dfdfe21d50a65861ae348e32a0d1a0190b0c8835",
}
SECONDS = 30  # to wait for the server
PACKED = "xquad.json.xz"
LICENCE = "xquad.LICENSE.txt"
CLONE = "clone leadline (its repository includes the texts) and run `pip install -e .` in the clone"


def files() -> Iterator[tuple[str, bytes]]:
    """Yield names and contents: paragraphs and questions of every language, judgments, the license."""
    path = os.path.join(DATA, PACKED)
    if os.path.exists(path):
        with lzma.open(path) as packed:
            content = json.load(packed)
    else:
        content = texts_and_ids(downloaded())
    asked = {
        f"a{article:02}p{number}": names
        for article, paragraphs in enumerate(content["questions"], start=1)
        for number, names in enumerate(paragraphs, start=1)
    }
    questions = [name for names in asked.values() for name in names]
    for language in DIGESTS:
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


def downloaded() -> dict[str, bytes]:
    """Return the published file of every language; raise InputError unless it is what was published."""
    from http.client import HTTPException
    from urllib.request import urlopen

    published = {}
    for language, digest in DIGESTS.items():
        url = f"{SOURCE}xquad.{language}.json"
        try:
            with urlopen(url, timeout=SECONDS) as answer:  # noqa: S310  # our own https address
                published[language] = answer.read()
        except (OSError, HTTPException) as error:  # of the connection, and of an answer that breaks off
            reason = getattr(error, "reason", error)
            raise InputError(
                f"the file cannot be downloaded ({reason})",
                path=url,
                hint=f"Check the network connection, or {CLONE}.",
            ) from None
        if hashlib.sha256(published[language]).hexdigest() != digest:
            raise InputError(
                f"the downloaded file does not have the expected SHA-256 hash {digest}",
                path=url,
                hint=f"Try another network, or {CLONE}.",
            )
    return published


def texts_and_ids(published: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the content of the packed file: question ids by article and paragraph, texts by language."""
    content: dict[str, Any] = {}
    for language, text in published.items():
        articles = [article["paragraphs"] for article in json.loads(text)["data"]]
        names = [[[one["id"] for one in part["qas"]] for part in parts] for parts in articles]
        if content.setdefault("questions", names) != names:
            first = f"xquad.{next(iter(published))}.json"
            raise InputError(f"the question ids in xquad.{language}.json differ from those in {first}")
        every = [part for parts in articles for part in parts]
        content[language] = {
            "docs": [part["context"] for part in every],
            "queries": [one["question"] for part in every for one in part["qas"]],
        }
    return content


def pack(published: Mapping[str, bytes]) -> bytes:
    """Return the packed file."""
    text = json.dumps(texts_and_ids(published), ensure_ascii=False, separators=(",", ":")) + "\n"
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    with open(os.path.join(DATA, PACKED), "wb") as target:
        target.write(pack(downloaded()))
