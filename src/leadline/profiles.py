"""Profiles: the arithmetic and averaging habits of other programs, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from leadline.errors import UsageError
from leadline.measures import MEASURES, Measure

Averaging = Literal["all", "both", "with_relevant", "complete"]


class Profile(NamedTuple):
    """How one program computes: everything that differs from ours, and nothing else.

    `narrow` compares scores as 32-bit floats; `queries` says which queries are averaged when nobody says
    (`complete`: no mean when a query is missing); `interpolation` is the rule of IPrec without one;
    `whole_grades` says that fractions are cut off there (here they are kept and counted).
    """

    name: str
    says: str
    narrow: bool = False
    queries: Averaging = "all"
    interpolation: str = "standard"
    whole_grades: bool = False

    def measures(
        self, wanted: Iterable[str | Measure], *, rel: float | None = None
    ) -> list[Measure]:
        """Make measures as this profile understands them, each once.

        `rel` is the least relevant grade of every measure that has one and was not given it.
        """
        wanted = list(wanted)
        texts = MEASURES.expand_all([text for text in wanted if isinstance(text, str)])
        objects = [measure for measure in wanted if isinstance(measure, Measure)]
        found = [self._adapted(measure, rel) for measure in (*texts, *objects)]
        if not found:
            raise UsageError("no measures; expected at least one, such as AP or nDCG@10")
        return list(dict.fromkeys(found))

    def _adapted(self, measure: Measure, rel: float | None) -> Measure:
        changes: dict[str, object] = {}
        if self.interpolation != "standard" and not str(
            getattr(measure, "rule", "printed")
        ).startswith("printed"):
            changes["rule"] = self.interpolation
        if rel is not None and getattr(measure, "rel", None) == 1.0:
            changes["rel"] = rel
        adapted: Measure = measure.replace(**changes) if changes else measure
        return adapted


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("leadline", "scores compared as 64-bit floats; a missing query counts 0"),
        Profile(
            "trec9",
            "trec_eval 9.0.8 and pytrec_eval: scores compared as 32-bit floats; the mean is over the "
            "queries that both files have",
            narrow=True,
            queries="both",
            interpolation="trec9",
            whole_grades=True,
        ),
        Profile(
            "trec10",
            "trec_eval 10.0: scores compared as 64-bit floats; no mean when a query is missing",
            queries="complete",
            interpolation="trec10",
            whole_grades=True,
        ),
    )
}


def profile_of(name: str) -> Profile:
    """Give a profile by name."""
    if name not in PROFILES:
        raise UsageError(f"unknown profile '{name}'; known: " + ", ".join(PROFILES))
    return PROFILES[name]
