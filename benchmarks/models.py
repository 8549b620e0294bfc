"""AP and nDCG@10 of every retrieval model, with its defaults and tuned, as a table for docs/search.md.

    python benchmarks/models.py DATA

DATA holds folders with docs.jsonl, queries.jsonl and qrels.txt. Tuned: the setting of the grid with the
largest AP on the same queries, so it flatters; it shows how much there is to gain, not what a user would get.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import leadline as ll

COLLECTIONS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
MU = (100, 250, 500, 1000, 1500, 2500)
GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "BM25": {"k1": (0.6, 0.9, 1.2, 1.6, 2), "b": (0.2, 0.4, 0.6, 0.75, 0.9)},
    "BM25RF": {"docs": (3, 5, 10), "terms": (5, 10, 20, 40), "weight": (0.2, 0.33, 0.5)},
    "QLDirichlet": {"mu": MU},
    "QLJelinekMercer": {"collection": (0.1, 0.3, 0.5, 0.7, 0.9)},
    "QLHiemstra": {"document": (0.05, 0.15, 0.35, 0.6, 0.85)},
    "RM1": {"docs": (5, 10), "terms": (20, 50), "mu": (250, 500, 1500)},
    "RM3": {"docs": (5, 10), "original": (0.25, 0.5, 0.75), "mu": (250, 500, 1500)},
    "SDM": {"mu": MU},
    "PL2": {"c": (0.5, 1, 2, 4, 7, 10)},
    "In_expB2": {"c": (0.5, 1, 2, 4, 7, 10)},
    "TF": {},
    "TFIDF": {},
}
PLAIN = [
    "BM25(k1=0.9,b=0.4)",
    *(name for name in GRIDS if not name.startswith("TF")),
    "TF(dot)",
    "TF(cosine)",
    "TFIDF(dot)",
    "TFIDF(cosine)",
]


def settings(name: str) -> list[str]:
    """Return every setting of a model's grid."""
    grid = GRIDS[name]
    return [
        f"{name}(" + ",".join(f"{key}={value}" for key, value in zip(grid, values, strict=True)) + ")"
        for values in product(*grid.values())
    ]


def main(data: Path) -> None:
    """Print both tables."""
    plain: dict[str, list[str]] = {name: [] for name in PLAIN}
    tuned: dict[str, list[str]] = {name: [] for name, grid in GRIDS.items() if grid}
    for collection in COLLECTIONS:
        folder = data / collection
        index = ll.build_index(str(next(folder.glob("docs.jsonl*"))))
        queries, qrels = str(folder / "queries.jsonl"), ll.read_qrels(str(folder / "qrels.txt"))

        def means(models: list[str]) -> dict[str, tuple[float, float]]:
            found = ll.search(index, queries, models)  # noqa: B023  # used at once
            results = ll.evaluate(qrels, found, ["AP", "nDCG@10"])  # noqa: B023
            return {name: (results.mean(name, "AP"), results.mean(name, "nDCG@10")) for name in found}

        for cells, (ap, ndcg) in zip(plain.values(), means(PLAIN).values(), strict=True):
            cells.append(f"{ap:.3f} / {ndcg:.3f}")
        for name, cells in tuned.items():
            found = means(settings(name))
            best = max(found, key=lambda text: found[text][0])
            ap, ndcg = found[best]
            words = best.partition("(")[2].rstrip(")").replace(",", " ") or "defaults"
            cells.append(f"{ap:.3f} / {ndcg:.3f} {words}")
    for rows in (plain, tuned):
        print(f"| model | {' | '.join(COLLECTIONS)} |\n| --- |" + " --- |" * len(COLLECTIONS))
        for name, cells in rows.items():
            print(f"| `{name}` | {' | '.join(cells)} |")
        print()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
