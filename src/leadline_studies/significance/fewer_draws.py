"""Effect of the smaller number of draws used in the simulations on decisions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leadline.data.arrays import Floats
from leadline.stats import TESTS
from leadline_studies.significance.decisions import Row, p_values, paired_tests, share
from leadline_studies.significance.rejections import simulate


def fewer_draws(
    matrices: Mapping[str, Floats],
    *,
    queries: int = 50,
    pairs: int = 40,
    sets: int = 5,
    draws: int = 1_999,
    level: float = 0.05,
    seed: int = 0,
) -> list[Row]:
    """Decide the same sets with few draws and with the default number."""
    simulated = simulate(matrices, queries=queries, pairs=pairs, sets=sets, seed=seed + 3)["tilted"]
    differences = np.concatenate(simulated.differences, axis=1)
    rows: list[Row] = []
    for name, test in paired_tests(draws).items():
        default = TESTS.classes[name]()
        if test != default:
            few = p_values(test, differences) <= level
            many = p_values(default, differences) <= level
            rates = [share(flags, simulated.pairs)[0] for flags in (few, many, few != many)]
            rows.append(
                {
                    "test": name,
                    "queries": queries,
                    "sets": len(few),
                    "draws": draws,
                    "default_draws": int(getattr(default, "draws")),  # noqa: B009  # not every test draws
                    "few": rates[0],
                    "default": rates[1],
                    "differ": rates[2],
                }
            )
    return rows
