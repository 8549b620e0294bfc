"""Profiles: the arithmetic and averaging habits of other programs, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from leadline.data.registry import split_names
from leadline.errors import UsageError
from leadline.evaluation import trec_names
from leadline.evaluation.trec_names import Asked, is_text
from leadline.measures import MEASURES, Measure

Averaging = Literal["all", "both", "with_relevant", "complete"]
MISSING: dict[Averaging, str] = {
    "all": "counts 0 in the mean",
    "both": "is left out of the mean",
    "with_relevant": "counts 0 in the mean",
    "complete": "leaves the run without a mean; a notice says so, and the exit status is 0",
}
LEVELS = {
    "standard": "reached exactly",
    "trec9": "int(level R + 0.9) relevant documents",
    "trec10": "level R relevant documents, rounded",
}


class Profile(NamedTuple):
    """How one program computes: everything that differs from ours, and nothing else.

    `narrow` compares scores as 32-bit floats; `queries` says which queries are averaged when nobody says
    (`complete`: no mean when a query is missing); `interpolation` is the rule of IPrec and AvgIPrec
    without one; `whole_grades` says that fractions are cut off there (here they are kept and counted);
    `own_names` reads a name without parameters as trec_eval does, and `all_trec` has what `version` has;
    `prints_missing`: `-f trec -q` prints a query that the run lacks if it is averaged.
    """

    name: str
    says: str
    narrow: bool = False
    queries: Averaging = "all"
    interpolation: str = "standard"
    whole_grades: bool = False
    own_names: bool = False
    version: int = 10
    prints_missing: bool = True

    def measures(
        self, wanted: Iterable[str | Measure], *, rel: float | None = None, documents: int | None = None
    ) -> list[Measure]:
        """Make measures as this profile understands them, each once.

        `rel` is the least relevant grade of every measure that has one and was not given it,
        `documents` the size of the collection for those that need it.
        """
        wanted = _split(wanted)
        texts = [one for one in wanted if isinstance(one, str) and is_text(one)]
        if texts:
            raise UsageError(
                f"the value of {', '.join(texts)} is text; expected a measure, or `evaluate -f trec`"
            )
        asked = self.asked(wanted, rel=rel, documents=documents)
        found = dict.fromkeys(one.measure for one in asked if one.measure is not None)
        texts = list(map(str, found))
        for text in texts:
            if texts.count(text) > 1:
                raise UsageError(f"two measures are called '{text}'; expected different names")
        if not found:
            raise UsageError("no measures; expected at least one, such as AP or nDCG@10")
        return list(found)

    def asked(
        self, wanted: Iterable[str | Measure], *, rel: float | None = None, documents: int | None = None
    ) -> list[Asked]:
        """Return what is asked for under trec_eval's names where it has any; `-f trec` prints that."""
        found: list[Asked] = []
        faults: list[str] = []
        for one in _split(wanted):
            try:
                found += self._meant(one)
            except UsageError as error:
                faults.append(str(error))
        if faults:
            raise UsageError("; ".join(faults) + " (see `leadline measures`)")
        given: dict[str, object] = {"rel": rel, "documents": documents}
        given = {name: value for name, value in given.items() if value is not None}
        return [
            one if one.measure is None else one._replace(measure=self._adapted(one.measure, given))
            for one in found
        ]

    def facts(self) -> dict[str, str]:
        """Say, point by point, what this profile does; the page of profiles is made from it."""
        return {
            "scores compared as": "32-bit floats, so that close scores are ties"
            if self.narrow
            else "64-bit floats",
            "a query that the run lacks": MISSING[self.queries],
            "the same with `-c`": "counts 0 in the mean"
            + ("" if self.prints_missing else "; `-f trec -q` does not print it"),
            "recall levels of IPrec and AvgIPrec": LEVELS[self.interpolation],
            "names without parameters": "as in trec_eval: `P` is `P_5` .. `P_1000`"
            if self.own_names
            else "as in this program: `P` is the precision of the whole list",
            "`rbp`, `rbp_resid` and `unj` in `all_trec`": "no" if self.version == 9 else "yes",
            "fractional grades": "kept, and counted in a notice; trec_eval cuts them off"
            if self.whole_grades
            else "kept",
            "lines that begin with `#`": "skipped" + "; trec_eval 9 refuses them" * (self.version == 9),
        }

    def _meant(self, one: str | Measure) -> list[Asked]:
        if isinstance(one, Measure):
            return [Asked("", "", one)]
        text = one.strip()
        spelled = trec_names.expand(text, strict=self.own_names, nine=self.version == 9)
        return spelled or [Asked("", "", measure) for measure in MEASURES.expand(text)]

    def _adapted(self, measure: Measure, given: dict[str, object]) -> Measure:
        parameters = measure.parameters()
        changes: dict[str, object] = {
            name: value
            for name, value in given.items()
            if name in parameters and getattr(measure, name) == parameters[name].default
        }
        rule = parameters.get("rule")
        if (
            self.interpolation != "standard"
            and rule is not None
            and self.interpolation in rule.options
            and not getattr(measure, "rule", "").startswith("printed")
        ):
            changes["rule"] = self.interpolation
        adapted: Measure = measure.replace(**changes) if changes else measure
        return adapted


def _split(wanted: Iterable[str | Measure]) -> list[str | Measure]:
    """Split texts that hold several names with commas between them."""
    return [part for one in wanted for part in ([one] if isinstance(one, Measure) else split_names(one))]


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("leadline", "nothing else: these are our own conventions"),
        Profile(
            "trec9",
            "trec_eval 9.0.8 and pytrec_eval: scores compared as 32-bit floats; the mean is over the "
            "queries that both files have",
            narrow=True,
            queries="both",
            interpolation="trec9",
            whole_grades=True,
            own_names=True,
            version=9,
            prints_missing=False,
        ),
        Profile(
            "trec10",
            "trec_eval 10.0: scores compared as 64-bit floats; no mean when a query is missing",
            queries="complete",
            interpolation="trec10",
            whole_grades=True,
            own_names=True,
        ),
    )
}


def profile_of(name: str) -> Profile:
    """Return a profile by name."""
    if not isinstance(name, str) or name not in PROFILES:
        raise UsageError(f"unknown profile {name!r}; known: " + ", ".join(PROFILES))
    return PROFILES[name]
