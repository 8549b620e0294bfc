"""When estimates without judgments should not be trusted."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.estimators.methods import Estimator
from leadline.estimators.methods.deshato import saturation
from leadline.estimators.systems import Systems, Topics
from leadline.results import Notice
from leadline.wording import counted

FEW = 10  # systems or teams, below which votes are few
SHORT = 0.5  # of the documents that could be used, or of the median system's
SATURATED = 0.95  # of the largest kurtosis there can be


def notices_of_estimates(
    method: Estimator, systems: Systems, used: Floats, voters: int, *, teams: bool = False
) -> list[Notice]:
    """Say what speaks against the numbers: few votes, short lists, missing queries."""
    few = voters if method.voting and voters < FEW else 0
    missing = int(np.count_nonzero(~systems.present))
    without = [
        info.name for info, row in zip(systems.infos, systems.present, strict=True) if not row.all()
    ]
    mean = used.mean(axis=1)
    full = float(method.depth or np.median(mean))
    short = [
        info.name
        for info, size in zip(systems.infos, mean.tolist(), strict=True)
        if size < SHORT * min(full, float(np.median(mean)))
    ]
    noun = "teams" if teams else "systems"
    found = [
        Notice("few_systems", f"{noun} that vote: {few}; with under {FEW}, {method.called} is unsteady", few),
        Notice(
            "missing_queries",
            f"lists that runs lack: {missing} ({', '.join(without[:3])}); each counts as an empty one",
            missing,
        ),
        Notice(
            "short_lists",
            f"systems with less than half of the usual documents: {len(short)} ({', '.join(short[:3])}); "
            "their estimates are not comparable", len(short),
        ),
    ]  # fmt: skip
    return [notice for notice in found if notice.count]


def notices_of_topics(
    systems: Systems, topics: Topics, terms: dict[str, Floats], used: Floats
) -> list[Notice]:
    """Say what speaks against DeShaTo: documents without a vector, a product that is one topic alone."""
    absent = int(np.count_nonzero(topics.row < 0))
    most = saturation(topics.theta.shape[1])
    peaks = terms.get("k(P)", np.zeros((0, 0)))[used > 0] if "k(P)" in terms else np.zeros(0)
    share = float(peaks.mean()) / most if len(peaks) and most else 0.0
    empty = int(np.count_nonzero((used == 0) & systems.present))
    single = int(np.count_nonzero(used == 1))
    found = [
        Notice(
            "single_documents",
            f"{counted(single, 'list')} with one document that has a vector: its shape alone, and so a large "
            "score", single,
        ),
        Notice(
            "without_vectors",
            f"retrieved documents without a topic vector: {absent} of {len(systems.documents)}; passed over",
            absent,
        ),
        Notice("no_vectors", f"{counted(empty, 'list')} without any topic vector", empty),
        Notice(
            "saturated_product",
            f"k(P) is {share:.0%} of the largest there can be: products hold one topic and say little",
            int(share >= SATURATED),
        ),
    ]  # fmt: skip
    return [notice for notice in found if notice.count]
