"""Values that pytrec_eval-terrier 0.5.11 (trec_eval 9.0.8) gave, to the four digits that it prints.

`random.run` and `qrels.txt` hold ties, scores that differ only beyond 32 bits, negative grades, queries of
one side and queries without a relevant document; `level1.txt` and `level2.txt` are the per-query values.
Here an undefined value is NaN, which trec_eval prints as 0.0000.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from leadline.evaluation.evaluate import evaluate

GOLDEN = Path(__file__).parent


@pytest.mark.parametrize("level", [1, 2])
def test_every_stored_value_comes_out_to_the_last_digit(level: int) -> None:
    lines = (GOLDEN / f"level{level}.txt").read_text().splitlines()
    stored = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in lines}
    names = list(dict.fromkeys(name for name, _ in stored))
    results = evaluate(GOLDEN / "qrels.txt", GOLDEN / "random.run", names, profile="trec9", rel=float(level))
    assert results.averaged_queries() == sorted({query for _, query in stored})
    for (name, query), value in stored.items():
        found = results.values[0, results.queries.codes[query.encode()], names.index(name)]
        assert f"{0.0 if math.isnan(found) else found:.4f}" == value, (name, query)
