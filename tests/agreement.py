"""Measures beside their oracles: every form of a class, its values, their comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Parameter
from leadline.io.read import read_qrels, read_run
from leadline.measures import MEASURES, Measure
from oracles import ORACLES, Case, collections


def join(cases: Mapping[str, Case]) -> JudgedRun:
    """Join queries as the package does."""
    known = {query.encode(): {name.encode() for name in case.known} for query, case in cases.items()}
    qrels = read_qrels({query: case.grades for query, case in cases.items()}).with_known(known)
    qrels = qrels.with_one_subtopic()
    run = read_run({query: case.scores for query, case in cases.items() if case.scores})
    return JudgedRun.of_run(run, qrels)


def values(measure: Measure, judged: JudgedRun) -> dict[str, float]:
    """Give the value of every query."""
    found = measure.values(judged)
    assert found.dtype == np.float64
    return dict(zip(judged.qrels.queries, found.tolist(), strict=True))


# Measures whose oracle is named after what they measure, in the test file of their family.
ORACLE_NAMES = {
    "Accuracy": "accuracy",
    "alpha_DCG": "alpha_dcg",
    "alpha_nDCG": "alpha_ndcg",
    "AP_IA": "ap_ia",
    "Levels": "average_interpolated_precision",
    "AvgIPrec": "average_interpolated_precision",
    "AP": "average_precision",
    "BPM": "bejeweled_player",
    "binG": "binary_gain",
    "Bpref": "bpref",
    "Compat": "compatibility",
    "Coverage": "coverage",
    "CG": "cumulative_gain",
    "D_nDCG": "d_ndcg",
    "Dsharp_nDCG": "d_sharp_ndcg",
    "DCG": "discounted_gain",
    "E": "e",
    "ERR_IA": "err_ia",
    "ERR": "expected_reciprocal_rank",
    "F": "f",
    "GMAP": "geometric_average_precision",
    "GMBpref": "geometric_bpref",
    "infAP": "inferred_average_precision",
    "INSQ": "insq",
    "INST": "inst",
    "IPrec": "interpolated_precision",
    "Judged": "judged_share",
    "nDCG": "ndcg",
    "RnDCG": "ndcg_at_levels",
    "nDCGrel": "ndcg_at_relevant",
    "GnDCG": "ndcg_of_gains",
    "NERR10": "nerr10",
    "NERR11": "nerr11",
    "NERR8": "nerr8",
    "NERR9": "nerr9",
    "nERR_IA": "nerr_ia",
    "nNRBP": "nnrbp",
    "G": "normalised_gain",
    "Novelty": "novelty",
    "NRBP": "nrbp",
    "NumNonrelRet": "num_nonrel_ret",
    "NumQ": "num_q",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "NumRet": "num_ret",
    "P_IA": "p_ia",
    "P": "precision",
    "Q": "q_measure",
    "Rprec": "r_precision",
    "RprecMult": "r_precision_multiple",
    "RBP": "rank_biased",
    "RBPResidual": "rank_biased_residual",
    "RBPUnjudged": "rank_biased_unjudged",
    "RankOf": "rank_of",
    "R": "recall",
    "RR": "reciprocal_rank",
    "RelP": "relative_precision",
    "SDCG": "scaled_discounted_gain",
    "SetAP": "set_average_precision",
    "SetRelP": "set_relative_precision",
    "StRecall": "subtopic_recall",
    "Success": "success",
    "Unj": "unjudged_share",
    "Utility": "utility",
}


def value(measure: Measure, case: Case) -> float:
    """Give the value of one query alone."""
    return values(measure, join({"q": case}))["q"]


def expected(measure: Measure, case: Case) -> float:
    """Give what the oracle says."""
    given = {name: getattr(measure, name) for name in measure.parameters()}
    return float(oracle_of(type(measure))(case, **given))


def oracle_of(kind: type[Measure]) -> Callable[..., float]:
    """Give the slow twin of a measure: from the table, or from the test file of its family."""
    if kind.__name__ in ORACLES:
        return ORACLES[kind.__name__]
    return mirrored_oracle(kind.__module__.rpartition(".")[2], ORACLE_NAMES[kind.__name__])


@cache
def mirrored_oracle(family: str, name: str) -> Callable[..., float]:
    """Return the oracle of a measure from the test file of its family."""
    path = Path(__file__).parent / "measures" / f"test_{family}.py"
    spec = spec_from_file_location(f"oracles_of_{family}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., float] = getattr(module, f"oracle_{name}")
    return found


def agree(*texts: str) -> None:
    """Assert that measures equal their oracles on random queries."""
    measures = [MEASURES.parse(text) for text in texts]

    @given(collections())
    def check(cases: dict[str, Case]) -> None:
        judged = join(cases)
        for measure in measures:
            found = values(measure, judged)
            for query, case in cases.items():
                wanted = pytest.approx(expected(measure, case), rel=1e-12, abs=1e-15, nan_ok=True)
                assert found[query] == wanted, (measure, case)

    check()


def undefined(value: float) -> bool:
    """Say whether a value is NaN."""
    return math.isnan(value)


def variants(kind: type[Measure]) -> list[Measure]:
    """Give a measure in many forms: each parameter in turn takes several values."""
    sample = MEASURES.parse(kind.sample())
    found = {sample: None}
    at = kind.at_name()
    bases = [sample] if at is None else [sample, sample.replace(**{at: next(others(kind, at))})]
    for base in bases:
        for name in kind.parameters():
            for value in others(kind, name):
                found[base.replace(**{name: value})] = None
    return list(found)


def others(kind: type[Measure], name: str) -> Iterator[object]:
    """Give several values that a parameter may take."""
    parameter: Parameter = kind.parameters()[name]
    yield from (*parameter.options, *parameter.words)
    if parameter.options:
        return
    numbers = [1, 2, 3, 10] if parameter.kind is int else [0.0, 0.35, 0.5, 0.7, 1.0, 2.0]
    if name == "max_grade":  # smaller ones refuse the grades of the random lists
        numbers = [3, 4, 10]
    for number in numbers:
        try:
            yield parameter.read(number)
        except ValueError:
            continue
