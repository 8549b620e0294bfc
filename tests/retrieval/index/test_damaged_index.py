"""A damaged index gives the answers of the whole one or a one-line error, never anything else."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import REPOSITORY, Leadline
from leadline.retrieval.index import index_files
from leadline.retrieval.index.builder import build_index

EXAMPLES = REPOSITORY / "docs" / "examples"
# Each corruption runs one of these; between them they read every array.
LINES = (
    "search index queries.jsonl -k 5 --show -m BM25 -m SDM -m RM3 -m TFIDF(cosine) -m PL2",
    "score index queries.jsonl pairs.tsv -m QLDirichlet -o -",
    "summary index --doc d03 --query rope -f json",
    "check index -f json",
    "pool bm25.run -C random=2 --docs index -o -",
)
NUMBER = int(os.environ.get("LEADLINE_CORRUPTIONS", "4"))  # of every kind for every file


def flip(rng: random.Random, content: bytearray) -> None:
    """Change one to four bits."""
    for _ in range(rng.randint(1, 4)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def overwrite(rng: random.Random, content: bytearray) -> None:
    """Write random bytes over a stretch."""
    begin = rng.randrange(len(content))
    size = min(rng.randint(1, 64), len(content) - begin)
    content[begin : begin + size] = rng.randbytes(size)


def zero(rng: random.Random, content: bytearray) -> None:
    """Clear a page."""
    begin = rng.randrange(len(content)) & ~0x1FF
    size = min(0x200, len(content) - begin)
    content[begin : begin + size] = bytes(size)


def cut(rng: random.Random, content: bytearray) -> None:
    """Lose the end."""
    del content[rng.randrange(len(content)) :]


def grow(rng: random.Random, content: bytearray) -> None:
    """Append bytes."""
    content += rng.randbytes(rng.randint(1, 16))


def move(rng: random.Random, content: bytearray) -> None:
    """Exchange two stretches of eight bytes."""
    a, b = (rng.randrange(max(1, len(content) - 8)) & ~7 for _ in range(2))
    content[a : a + 8], content[b : b + 8] = content[b : b + 8], content[a : a + 8]


def untimed(out: str) -> str:
    """Leave out the table of `score`, which tells the time per query."""
    return out.partition("model ")[0]


KINDS: tuple[Callable[[random.Random, bytearray], None], ...] = (flip, overwrite, zero, cut, grow, move)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an index of several blocks per array, and the files that its searches need."""
    for name in ("docs.jsonl", "queries.jsonl", "bm25.run"):
        shutil.copy(EXAMPLES / name, tmp_path)
    names = [json.loads(line)["doc_id"] for line in (tmp_path / "docs.jsonl").read_text().splitlines()]
    pairs = [f"knots\t{name}\n" for name in names]
    (tmp_path / "pairs.tsv").write_text("query_id\tdoc_id\n" + "".join(pairs))
    monkeypatch.setattr(index_files, "BLOCK", 128)
    monkeypatch.chdir(tmp_path)
    build_index("docs.jsonl", "whole", store_text=True)
    shutil.copytree("whole", "index")
    return tmp_path


def test_a_corruption_changes_no_answer_and_ends_in_one_line(folder: Path, leadline: Leadline) -> None:
    def answers(number: int) -> tuple[int, str, str]:
        done = leadline(*LINES[number].split())
        return done.status, untimed(done.out), done.err

    wanted = [answers(number) for number in range(len(LINES))]
    assert [status for status, _, _ in wanted] == [0] * len(LINES), wanted
    files = sorted(path.name for path in (folder / "whole").iterdir())
    counts: Counter[str] = Counter()
    for name in files:
        whole = (folder / "whole" / name).read_bytes()
        for kind in KINDS:
            for number in range(NUMBER):
                rng = random.Random(f"{name} {kind.__name__} {number}")
                content = bytearray(whole)
                if content:
                    kind(rng, content)
                if content == whole:
                    continue
                (folder / "index" / name).write_bytes(content)
                line = rng.randrange(len(LINES))
                status, out, err = answers(line)
                what = f"{kind.__name__} {number} of {name}: {LINES[line]}: {status} {err}"
                if status == 0:
                    assert (out, err) == wanted[line][1:], what
                else:
                    assert status == 2, what
                    assert err.startswith("leadline: error: "), what
                    assert err.count("\n") == 1, what
                if LINES[line].startswith("check") and name != index_files.HEADER:
                    assert status == 2, what
                counts["refused" if status else "the same answer"] += 1
        (folder / "index" / name).write_bytes(whole)
    print(dict(counts))  # noqa: T201  # shown by -s, for the counts of a long run
    assert counts["refused"] > counts["the same answer"] > 0


def test_files_in_each_others_place_are_refused(folder: Path, leadline: Leadline) -> None:
    files = sorted(path.name for path in (folder / "whole").iterdir())
    wanted = [untimed(leadline(*line.split()).out) for line in LINES]
    for a, first in enumerate(files):
        for second in files[a + 1 :]:
            shutil.copy(folder / "whole" / first, folder / "index" / second)
            shutil.copy(folder / "whole" / second, folder / "index" / first)
            line = (a + len(second)) % len(LINES)
            done = leadline(*LINES[line].split())
            assert done.status == 2 or untimed(done.out) == wanted[line], (first, second, done)
            same = (folder / "whole" / first).read_bytes() == (folder / "whole" / second).read_bytes()
            assert (leadline("check", "index").status == 0) == same
            for name in (first, second):
                shutil.copy(folder / "whole" / name, folder / "index" / name)


def test_arrays_of_another_index_are_refused(folder: Path, leadline: Leadline) -> None:
    text = (folder / "docs.jsonl").read_text().replace("rope", "pore")
    (folder / "docs.jsonl").write_text(text)
    build_index("docs.jsonl", "other", store_text=True)
    different = 0
    for path in sorted((folder / "other").iterdir()):
        if path.read_bytes() == (folder / "whole" / path.name).read_bytes():
            continue
        different += 1
        shutil.copy(path, folder / "index" / path.name)
        assert leadline("check", "index").status == 2, path.name
        shutil.copy(folder / "whole" / path.name, folder / "index" / path.name)
    assert different > 5


def test_an_index_without_a_header_or_of_an_unknown_analysis_is_one_broken_index(
    folder: Path, leadline: Leadline
) -> None:
    path = folder / "index" / index_files.HEADER
    header = json.loads(path.read_text()) | {"analysis": "Letters"}
    path.write_text(json.dumps(header | {"build": index_files.build_id(header)}))
    assert "index: unknown analysis 'Letters'" in leadline("search", "index", "--query", "knots").refusal
    path.unlink()
    (found,) = leadline("check", "index", "-f", "json").data["files"]
    assert (found["kind"], len(found["problems"])) == ("index", 1)
