"""No run is read twice, whatever is asked of it."""

from __future__ import annotations

import io
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from leadline.data.reading import Reading
from leadline.io import opening
from strategies import judged_by

LINES = "".join(f"q{query} Q0 d{rank} {rank} {10 - rank} old\n" for query in (1, 2) for rank in range(1, 6))
QRELS = {"q1": {"d1": 1, "d2": 0, "d4": 1}, "q2": {"d1": 0, "d3": 1}}

CALLS: dict[str, Callable[[list[str]], Any]] = {
    "evaluate": lambda runs: ll.evaluate(QRELS, runs),
    "evaluate, no document judged": lambda runs: ll.evaluate({"q1": {"x": 1}}, runs),
    "evaluate, named by tag": lambda runs: ll.evaluate(QRELS, runs, name_by="tag"),
    "compare": lambda runs: ll.compare(QRELS, runs),
    "curve": lambda runs: ll.curve(QRELS, runs),
    "difference, with baselines": lambda runs: ll.difference(QRELS, runs),
    "difference, named by tag": lambda runs: ll.difference(QRELS, runs, name_by="tag"),
    "explain, named by tag": lambda runs: ll.explain(QRELS, runs[0], "RR", "q1", name_by="tag"),
    "histogram": lambda runs: ll.histogram(QRELS, runs),
    "pool, named by tag": lambda runs: ll.pool(runs, depth=2, name_by="tag"),
    "predict": ll.predict,
    "read_run": lambda runs: ll.read_run(runs[0]),
    "sampled": lambda runs: ll.sampled(QRELS, runs, population=100),
    "unjudged": lambda runs: ll.unjudged(runs, method="reference-count"),
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count, by name, how often a file is read further than its format has to be told from."""
    counts: Counter[str] = Counter()
    kept: Callable[..., None] = opening.Chunk.__init__

    def counting(chunk: opening.Chunk, path: str, *more: Any, **given: Any) -> None:
        counts[Path(path).name] += 1
        kept(chunk, path, *more, **given)

    monkeypatch.setattr(opening.Chunk, "__init__", counting)
    return counts


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("suffix", [".run", ".csv"])
def test_a_run_is_read_once(name: str, suffix: str, tmp_path: Path, opened: Counter[str]) -> None:
    text = LINES
    if suffix == ".csv":
        rows = [line.split() for line in LINES.splitlines()]
        text = "query,document,score,tag\n" + "".join(
            f"{row[0]},{row[2]},{row[4]},{row[5]}\n" for row in rows
        )
    runs = []
    for tag in ("a", "b", "c"):
        path = tmp_path / f"{tag}{suffix}"
        path.write_text(text.replace("old", tag))
        runs.append(str(path))
    CALLS[name](runs)
    assert set(opened.values()) == {1}


def test_a_run_whose_queries_come_back_is_read_as_a_whole(tmp_path: Path, opened: Counter[str]) -> None:
    lines = LINES.splitlines(keepends=True)
    path = tmp_path / "mixed.run"
    path.write_text("".join(lines[::2] + lines[1::2]))
    (tmp_path / "sorted.run").write_text(LINES)
    mixed = ll.evaluate(QRELS, str(path))
    assert opened["mixed.run"] == 2
    assert mixed.means.tolist() == ll.evaluate(QRELS, str(tmp_path / "sorted.run")).means.tolist()


@pytest.mark.parametrize("window", [64, 1 << 16])
def test_tags_of_a_run_in_many_stretches_are_counted(window: int, tmp_path: Path) -> None:
    path = tmp_path / "tags.run"
    path.write_text("".join(f"q{place} Q0 d1 1 1.0 tag{place % 3}\n" for place in range(1, 51)))
    table = ll.read_qrels({"q1": {"d1": 1}})
    _, counts = judged_by(path, table, window=window, reading=Reading(name_by="tag"))
    assert (counts.tag, counts.other_tags) == ("tag2", 2)
    assert judged_by(path, table, window=window)[1].other_tags == 0


def test_an_example_is_shown_of_a_run_that_can_be_read_once_only() -> None:
    found = ll.evaluate({"q1": {"x": 1}}, iter([("q2", "d2", 2.0), ("q1", "d9", 1.0), ("q1", "d1", 2.0)]))
    assert "run has 'd1', but the judgments have 'x'" in str(found.warnings[0])


def test_standard_input_may_have_baselines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "other.run"
    path.write_text(LINES)
    piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(LINES.encode())))
    monkeypatch.setattr("sys.stdin", piped)
    found = ll.difference(QRELS, ["-", str(path)], competitors=["Jaccard@2"])
    assert found.competitors["Jaccard@2"][0, 1] == 1.0


def test_documents_come_from_standard_input_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'{"doc_id": "a", "text": "wing"}\n{"doc_id": "b", "text": "tail"}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))
    documents = ll.read_documents("-")
    assert next(documents).id == "a"
    with pytest.raises(ll.UsageError, match=r"^depth "):  # a keyword: no command is under way
        ll.evaluate(QRELS, {"q1": ["d1"]}, depth=0)
    assert [document.id for document in documents] == ["b"]


def test_a_copy_of_standard_input_that_is_refused_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = LINES.encode() + b"q3 Q0 d\0 1 1 old\n" * opening.BINARY
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))
    monkeypatch.setattr(opening, "PROBE", 64)
    made: list[Any] = []
    kept = tempfile.TemporaryFile

    def temporary() -> Any:
        made.append(kept())
        return made[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", temporary)
    with pytest.raises(ll.InputError, match="NUL"):
        ll.read_run("-")
    assert [copy.closed for copy in made] == [True]
