"""Random runs as text, split at random into parts, and the equality of results."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from case_values import variants
from leadline.evaluation.results import Results
from leadline.measures import MEASURES, Measure

GRADES = ("0", "0", "1", "1", "2", "3", "-1")
# Measures of every family and of most parameters; all of them have subtopics and known documents to work on.
EVERY: list[Measure] = list(
    {str(form): form for kind in MEASURES.classes.values() for form in variants(kind)}.values()
)


class Split(NamedTuple):
    """Judgments, a run, its parts, and documents that the user knew."""

    qrels: str
    run: str
    parts: list[str]
    known: str


def split_run(folder: Path, seed: int, *, parts: int = 0, queries: int = 14) -> Split:
    """Write a random run with ties, unjudged queries, wrong ranks and long lines, whole and in parts."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    documents = [f"d{number}" for number in range(rng.choice([3, 12, 30]))]
    names = [f"q{number}" for number in rng.sample(range(100), queries)]
    judged, listed = names[rng.randint(0, 2) :], names[: queries - rng.randint(0, 4)]
    grades = rng.choice([GRADES, GRADES, ("0", "1"), ("0",), ("0", "0.5", "2")])
    lines = [
        f"{query} {rng.choice('12')} {name} {rng.choice(grades)}"
        for query in judged
        for name in rng.sample(documents, rng.randint(1, len(documents)))
    ]
    known = [f"{query} {name}" for query in judged for name in rng.sample(documents, 2)]
    foreign = "x" if rng.random() < 0.15 else ""  # no document is judged
    rng.shuffle(listed)
    lists = {query: _list(query, documents, foreign, rng) for query in listed}
    count = parts or rng.randint(1, len(listed))
    of_part: list[list[str]] = [[] for _ in range(count)]
    for place, query in enumerate(listed):
        of_part[place if place < count else rng.randrange(count)].append(query)
    return Split(
        _written(folder / "qrels.txt", lines),
        _written(folder / "bm25.run", [line for part in of_part for query in part for line in lists[query]]),
        [
            _written(folder / f"part-{number:02}.run", [line for query in part for line in lists[query]])
            for number, part in enumerate(of_part)
        ],
        _written(folder / "known.txt", known),
    )


def _list(query: str, documents: list[str], foreign: str, rng: random.Random) -> list[str]:
    chosen = rng.sample(documents, rng.randint(1, len(documents)))
    spread = rng.choice([1, 3, 1000])
    extra = " more" if rng.random() < 0.1 else ""
    return [
        f"{query} Q0 {foreign}{name} {rank} {rng.randint(0, spread) / 7} bm25{extra}"
        for rank, name in enumerate(chosen, start=1)
    ]


def _written(path: Path, lines: list[str]) -> str:
    path.write_text("".join(line + "\n" for line in lines))
    return str(path)


def assert_same(results: Results, whole: Results, *, bounds: bool = False) -> None:
    """Assert that results are equal to the bit, with counts, warnings and means."""
    assert list(results.queries) == list(whole.queries)
    assert results.values.tobytes() == whole.values.tobytes()
    for name in ("averaged", "present", "without_mean"):
        assert np.array_equal(getattr(results, name), getattr(whole, name)), name
    assert results.means.tobytes() == whole.means.tobytes()
    assert [(run.name, run.tag, run.counts) for run in results.runs] == [
        (run.name, run.tag, run.counts) for run in whole.runs
    ]
    assert results.warnings == whole.warnings
    assert results.relevance_strings == whole.relevance_strings
    assert results.to_dict(per_query=True) == whole.to_dict(per_query=True)
    if bounds:
        assert results.bounds is not None
        assert whole.bounds is not None
        assert results.bounds.limits.tobytes() == whole.bounds.limits.tobytes()


def options_of(seed: int) -> dict[str, Any]:
    """Return random options of an evaluation."""
    rng = random.Random(seed)
    return {
        "queries": rng.choice([None, "all", "both", "with_relevant", "complete"]),
        "profile": rng.choice(["leadline", "leadline", "trec9", "trec10"]),
        "depth": rng.choice([None, None, 1, 4]),
        "judged_only": rng.random() < 0.2,
        "negative": rng.choice(["nonrelevant", "nonrelevant", "unjudged"]),
        "machine": rng.random() < 0.2,
        "rel": rng.choice([None, None, 2]),
    }
