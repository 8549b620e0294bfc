"""Means of five measures by ir_measures, as its documentation shows: `SCRIPT QRELS RUN...`."""

from __future__ import annotations

import sys

import ir_measures
from ir_measures import AP, RR, P, R, nDCG


def main(qrels_path: str, *run_paths: str) -> None:
    """Print the means of every run."""
    qrels = list(ir_measures.read_trec_qrels(qrels_path))
    evaluator = ir_measures.evaluator([AP, nDCG @ 10, RR, P @ 10, R @ 1000], qrels)
    for path in run_paths:
        print(path, evaluator.calc_aggregate(ir_measures.read_trec_run(path)))


main(*sys.argv[1:])
