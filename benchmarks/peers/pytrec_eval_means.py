"""Means of five measures by pytrec_eval, as its documentation shows: `SCRIPT QRELS RUN...`."""

from __future__ import annotations

import sys

import pytrec_eval

MEASURES = {"map", "ndcg_cut_10", "recip_rank", "P_10", "recall_1000"}


def main(qrels_path: str, *run_paths: str) -> None:
    """Print the means of every run."""
    with open(qrels_path) as file:
        qrels = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES)
    for path in run_paths:
        with open(path) as file:
            run = pytrec_eval.parse_run(file)
        values = evaluator.evaluate(run)
        means = {m: sum(v[m] for v in values.values()) / len(qrels) for m in sorted(MEASURES)}
        print(path, means)


main(*sys.argv[1:])
