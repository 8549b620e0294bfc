"""Make the synthetic sets that the speed figures are measured on.

S, M and L are 50, 1,000 and 10,000 queries of 1,000 documents each; C is 100 runs of the size of S over one
qrels. `--shuffled` mixes all lines of a run, `--tied` rounds the scores so that many are equal (and mixes
the lines inside each list). The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

SETS = {"S": (50, 1), "M": (1_000, 1), "L": (10_000, 1), "C": (50, 100)}
DEPTH = 1_000
JUDGED_RETRIEVED = 208
JUDGED_OTHER = 92
GRADE_ODDS = (0.8, 0.13, 0.05, 0.02)


def document_id(number: int) -> str:
    """Spell a document number as a web collection does."""
    return f"clueweb12-{number // 10**7:04d}wb-{number // 10**5 % 100:02d}-{number % 10**5:05d}"


def make_list(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Draw one query's retrieved documents and its judged ones."""
    numbers = rng.choice(10**9, size=DEPTH + JUDGED_OTHER, replace=False)
    documents = [document_id(int(number)) for number in numbers]
    places = np.sort(rng.choice(DEPTH, size=JUDGED_RETRIEVED, replace=False))
    judged = [documents[place] for place in places] + documents[DEPTH:]
    return documents[:DEPTH], judged


def run_lines(query: int, documents: list[str], tied: bool, tag: str, rng: np.random.Generator) -> list[str]:
    """Write one list as TREC lines, best first unless tied."""
    scores = np.sort(rng.gamma(2.0, 4.0, size=len(documents)))[::-1]
    if tied:
        scores = np.round(scores)
    lines = [
        f"{query} Q0 {document} {rank} {score:.6f} {tag}\n"
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1)
    ]
    if tied:
        rng.shuffle(lines)
    return lines


def write_set(name: str, folder: Path, *, shuffled: bool, tied: bool, seed: int) -> None:
    """Write `qrels.txt` and the runs of one set into a folder."""
    queries, runs = SETS[name]
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    lists = []
    with (folder / "qrels.txt").open("w") as qrels:
        for query in range(1, queries + 1):
            documents, judged = make_list(rng)
            grades = rng.choice(len(GRADE_ODDS), size=len(judged), p=GRADE_ODDS)
            qrels.writelines(
                f"{query} 0 {document} {grade}\n" for document, grade in zip(judged, grades, strict=True)
            )
            lists.append(documents)
    for run in range(runs):
        lines: list[str] = []
        with (folder / f"{name}{run:03d}.run").open("w") as file:
            for query, documents in enumerate(lists, start=1):
                mixed = [documents[place] for place in rng.permutation(DEPTH)] if runs > 1 else documents
                lines += run_lines(query, mixed, tied, f"{name}{run:03d}", rng)
                if not shuffled:
                    file.writelines(lines)
                    lines.clear()
            rng.shuffle(lines)
            file.writelines(lines)


def main() -> None:
    """Read the command line and write the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sets", nargs="+", choices=SETS)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--tied", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.sets:
        suffix = "-shuffled" * arguments.shuffled + "-tied" * arguments.tied
        write_set(
            name,
            arguments.output / (name + suffix),
            shuffled=arguments.shuffled,
            tied=arguments.tied,
            seed=arguments.seed,
        )


if __name__ == "__main__":
    main()
