"""Restoration of a comparison from its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from leadline.comparison.pairing import check_averages, check_judged, pairs_of
from leadline.comparison.rules import Rules
from leadline.errors import UsageError
from leadline.evaluation.restored_results import results_of
from leadline.evaluation.results import Results

if TYPE_CHECKING:
    from leadline.comparison.comparison_result import Comparison


def comparison_of(make: type[Comparison], data: Mapping[str, Any]) -> Comparison:
    """Repeat a comparison from the values and rules in JSON; raise UsageError if its pairs differ."""
    stored, rules = data.get("results"), data.get("rules")
    if not isinstance(stored, dict) or not isinstance(rules, dict):
        raise UsageError(
            "JSON of a comparison without the values of queries; expected to_json(per_query=True)"
        )
    if rules.get("query_group") is not None:
        raise UsageError("a comparison by query groups is not restored: the groups are not in the JSON")
    pairs = data.get("pairs")
    if not isinstance(pairs, list) or not all(
        isinstance(pair, dict) and isinstance(pair.get("b"), str) for pair in pairs
    ):
        raise UsageError("JSON without 'pairs' of runs; expected what Comparison.to_json gives")
    lacking = [each.name for each in fields(Rules) if each.name not in {"query_group", *rules}]
    if lacking:
        raise UsageError(f"a comparison without the rule '{lacking[0]}'; expected to_json(per_query=True)")
    results, repeated = results_of(Results, stored), Rules.take(dict(rules))
    check_averages(results)
    check_judged(results)
    for baselines in ([], list(dict.fromkeys(pair["b"] for pair in pairs))):
        comparison = make(results, pairs_of(results, baselines or None), repeated, None, baselines=baselines)
        if all(value == data.get(key) for key, value in comparison.to_dict().items()):
            return comparison
    raise UsageError("comparing the values in the JSON gives other pairs than it lists; was it changed?")
