"""A provider for ir_measures: its measures, judgments and runs with the values of leadline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from leadline.data.reading import Reading
from leadline.data.registry import only
from leadline.data.validation import check_flags
from leadline.errors import MissingPackageError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.profiles import profile_of
from leadline.io.objects import judgments_of
from leadline.io.row_columns import probability_in
from leadline.measures import Measure, text_of

NAME = "leadline"


def register(*, first: bool = False) -> Any:
    """Register leadline with ir_measures, and return the provider, which is then `ir_measures.leadline`.

    The provider computes the measures of ir_measures, but for these parameters: `min_rel` other than 0,
    `normalize=False`, `gains` together with `dcg='exp-log2'`, and RBP without `rel`; ERR_IA and alpha_DCG
    need a cutoff. A grade above `max_rel` is an error. An undefined value is 0, and so is that of a query
    that the run lacks, as in all providers. Later calls return the same provider. `calc_aggregate` of
    ir_measures, and so `pt.Experiment`, asks it last, for measures that no other provider has.

    Parameters
    ----------
    first : bool, default False
        Whether ir_measures asks leadline before all other providers.

    Returns
    -------
    ir_measures.Provider

    Raises
    ------
    MissingPackageError
        If ir_measures is not installed.

    Examples
    --------
    >>> import pytest
    >>> ir_measures = pytest.importorskip("ir_measures")
    >>> provider = register()
    >>> qrels, run = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}
    >>> ir_measures.leadline.calc_aggregate([ir_measures.RR, ir_measures.P @ 1], qrels, run)
    {RR: 0.5, P@1: 0.0}
    """
    check_flags(first=first)
    try:
        import ir_measures
    except ImportError:
        raise MissingPackageError(
            "ir_measures is not installed. Install it with `pip install ir-measures`."
        ) from None
    known = ir_measures.providers.registry.get(NAME)
    if known is None:
        known = _provider(ir_measures)
        ir_measures.providers.register(known)
        ir_measures.leadline = known
    asked = ir_measures.DefaultPipeline.providers
    if first and known in asked:
        asked.remove(known)
    if known not in asked:
        asked.insert(0 if first else len(asked), known)
    return known


def ir_measure(measure: str | Measure) -> Any:
    """Return a measure of leadline as an object of ir_measures, for `pt.Experiment` and `calc_aggregate`.

    Parameters
    ----------
    measure : str or Measure
        One measure, such as "Q@10".

    Returns
    -------
    ir_measures.Measure
        Measure whose values leadline computes; leadline is registered with ir_measures.

    Raises
    ------
    MissingPackageError
        If ir_measures is not installed.
    UsageError
        If the text does not name exactly one measure.

    Examples
    --------
    >>> import pytest
    >>> ir_measures = pytest.importorskip("ir_measures")
    >>> qrels, run = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}
    >>> ir_measures.calc_aggregate([ir_measure("Q@10"), ir_measures.RR], qrels, run)[ir_measure("Q@10")]
    0.6666666666666666
    """
    register()
    import ir_measures

    found = only(measure, profile_of("leadline").measures([measure]))
    fields = {"NAME": str(found), "__name__": str(found), "ours": found, "__module__": "ir_measures"}
    return type("LeadlineMeasure", (ir_measures.Measure,), fields)()


def _is_judged_only(measure: Any) -> bool:
    return bool(getattr(measure, "params", {}).get("judged_only"))


def _measure(measure: Any) -> Measure | str:
    """Return the measure of leadline that has the text of one of ir_measures, or why there is none.

    >>> str(_measure("SetF(beta=2.0)")), _measure("nDCG@5,10")
    ('F(beta=2,form=linear)', 'nDCG@5,10 means 2 measures')
    """
    plain = measure(judged_only=False) if _is_judged_only(measure) else measure
    try:
        found = profile_of("leadline").measures([text_of(plain)])
    except UsageError as error:
        return str(error)
    return found[0] if len(found) == 1 else f"{measure} means {len(found)} measures"


def _provider(package: Any) -> Any:
    """Return the provider, whose classes derive from those of ir_measures."""

    class LeadlineEvaluator(package.Evaluator):  # type: ignore[misc]  # a class of an untyped package
        """Values of some measures for some judgments."""

        def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
            wanted = list(measures)
            found = {measure: _measure(measure) for measure in wanted}
            unknown = [ours for ours in found.values() if isinstance(ours, str)]
            if unknown:
                raise ValueError(f"unsupported measures: {'; '.join(unknown)}")
            self.ours = {measure: ours for measure, ours in found.items() if isinstance(ours, Measure)}
            column = probability_in(getattr(qrels, "columns", ()))  # of a frame; ir_measures ignores it
            if column is not None and not (qrels[column] == 1).all():
                raise ValueError(
                    "the judgments are only a sample, but ir_measures would treat them as complete. Use "
                    "`leadline.evaluate(judgments, runs)`, which accounts for the inclusion probabilities."
                )
            subtopics = any(ours.needs == "subtopics" for ours in self.ours.values())
            converter = package.util.QrelsConverter(qrels)
            self.judgments = judgments_of(
                _by_subtopic(converter) if subtopics else converter.as_dict_of_dict(),
                Reading(subtopics=subtopics),
            )
            super().__init__(wanted, set(self.judgments.queries))

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            """Yield the values of the queries that the run has, those of the first measure first."""
            lists = package.util.RunConverter(run).as_dict_of_dict()
            if not any(lists.get(query) for query in self.judgments.queries):
                return
            by_condition = {}
            for judged_only in set(map(_is_judged_only, self.ours)):
                alike = [found for each, found in self.ours.items() if _is_judged_only(each) is judged_only]
                measures = list({str(found): found for found in alike}.values())
                given = {NAME: lists}
                by_condition[judged_only] = evaluate(self.judgments, given, measures, judged_only=judged_only)
            for measure, found in self.ours.items():
                results = by_condition[_is_judged_only(measure)]
                for query in filter(lists.get, results.queries):
                    value = results.value(NAME, query, found)
                    shown = 0.0 if math.isnan(value) else value
                    yield package.Metric(query_id=query, measure=measure, value=shown)

    class LeadlineProvider(package.Provider):  # type: ignore[misc]  # a class of an untyped package
        """Measures as computed by leadline."""

        NAME = "leadline"
        SUPPORTED_MEASURES: tuple[Any, ...] = ()

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
            return LeadlineEvaluator(measures, qrels)

        def supports(self, measure: Any) -> bool:
            """Return whether leadline has the measure."""
            measure.validate_params()
            return isinstance(_measure(measure), Measure)

    return LeadlineProvider()


def _by_subtopic(converter: Any) -> dict[str, dict[str, dict[str, float]]]:
    """Return judgments whose iteration is the subtopic."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in converter.as_namedtuple_iter():
        found.setdefault(row.query_id, {}).setdefault(row.iteration, {})[row.doc_id] = row.relevance
    return found
