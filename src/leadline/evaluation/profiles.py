"""Profiles: arithmetic, averaging and names of measures as in other programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from leadline.data.registry import all_errors, split_names
from leadline.errors import UsageError
from leadline.evaluation import trec_names
from leadline.evaluation.trec_names import Request, is_text
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
    """Conventions of a program that differ from the default profile.

    Attributes
    ----------
    name : str
        Name of the profile.
    says : str
        Description.
    narrow : bool
        Whether scores are compared as 32-bit floats.
    queries : str
        Default of the queries to average over.
    interpolation : str
        Default rule of IPrec and AvgIPrec.
    whole_grades : bool
        Whether the program truncates fractional grades; here they are kept and counted in a warning.
    own_names : bool
        Whether names without parameters have trec_eval's default parameters.
    version : int
        Version of trec_eval, which determines the group `all_trec`.
    prints_missing : bool
        Whether `-f trec -q` prints queries that are missing from the run and count in its mean.
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
        """Return the measures that names denote in this profile, without repeats."""
        names = _split(wanted)
        texts = [name for name in names if isinstance(name, str) and is_text(name)]
        if texts:
            raise UsageError(
                f"the value of {', '.join(texts)} is text; expected a measure, or `evaluate -f trec`"
            )
        requests = self.requests(names, rel=rel, documents=documents)
        measures = dict.fromkeys(request.measure for request in requests if request.measure is not None)
        printed = list(map(str, measures))
        for name in printed:
            if printed.count(name) > 1:
                raise UsageError(f"two measures are called '{name}'; expected different names")
        if not measures:
            raise UsageError("no measures; expected at least one, such as AP or nDCG@10")
        return list(measures)

    def requests(
        self, wanted: Iterable[str | Measure], *, rel: float | None = None, documents: int | None = None
    ) -> list[Request]:
        """Return the requested measures with trec_eval's names, which `-f trec` prints."""
        requests: list[Request] = []
        errors: list[UsageError] = []
        for name in _split(wanted):
            try:
                requests += self._parsed(name)
            except UsageError as error:
                errors.append(error)
        if errors:
            raise all_errors(errors, " (see `leadline measures`)")
        options: dict[str, object] = {"rel": rel, "documents": documents}
        options = {name: value for name, value in options.items() if value is not None}
        return [
            request
            if request.measure is None
            else request._replace(measure=self._adapted(request.measure, options))
            for request in requests
        ]

    def facts(self) -> dict[str, str]:
        """Return the conventions of the profile by topic, for the documentation."""
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

    def _parsed(self, name: str | Measure) -> list[Request]:
        if isinstance(name, Measure):
            return [Request("", "", name)]
        text = name.strip()
        requests = trec_names.expand(text, strict=self.own_names, nine=self.version == 9)
        return requests or [Request("", "", measure) for measure in MEASURES.expand(text)]

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
    """Split texts at the commas between names."""
    return [name for item in wanted for name in ([item] if isinstance(item, Measure) else split_names(item))]


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
