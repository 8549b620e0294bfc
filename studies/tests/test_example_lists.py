"""The good and the bad list of one query."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.data.reading import Reading
from leadline.estimation.system_lists import read_systems
from leadline.io.read import read_qrels
from leadline.topics.infer import Vectors
from leadline_studies.shape_discrimination.example_lists import best_and_worst_lists


def test_the_good_and_the_bad_list_are_chosen_by_relevance_alone() -> None:
    names = [f"d{place:02}" for place in range(60)]
    vectors = Vectors(names, np.random.default_rng(1).dirichlet(np.ones(4), 60))
    runs = {
        "early": {"q1": names, "q2": names[:30]},
        "late": {"q1": names[::-1], "q2": names[::-1]},
        "short": {"q1": names[:3]},
    }
    qrels = read_qrels({"q1": dict.fromkeys(names[:10], 1), "q2": {"d00": 1}})
    systems = read_systems(runs, Reading())
    good, bad = best_and_worst_lists(qrels, systems, vectors)
    assert (good.query, good.run, good.relevant) == ("q1", "early", 10)
    assert (bad.query, bad.run, bad.relevant) == ("q1", "late", 0)
    assert good.vectors[0] == pytest.approx(vectors.theta[:30].sum(axis=0))
    assert good.score == pytest.approx(sum(good.terms.values()))
    few = Vectors(names[:20], vectors.theta[:20])
    assert best_and_worst_lists(qrels, systems, few) == []
    assert str(bad) == f"bad list (late): 0 of 30 relevant, score {bad.score:.0f}"
    assert "vectors" not in good.to_dict()
