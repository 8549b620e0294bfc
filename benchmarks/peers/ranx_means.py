"""Means of five measures by ranx, as its documentation shows: `SCRIPT QRELS RUN...`."""

from __future__ import annotations

import sys

from ranx import Qrels, Run, evaluate


def main(qrels_path: str, *run_paths: str) -> None:
    """Print the means of every run."""
    qrels = Qrels.from_file(qrels_path, kind="trec")
    measures = ["map", "ndcg@10", "mrr", "precision@10", "recall@1000"]
    for path in run_paths:
        run = Run.from_file(path, kind="trec")
        print(path, evaluate(qrels, run, measures, make_comparable=True))


main(*sys.argv[1:])
