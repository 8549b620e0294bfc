"""leadline evaluates search and retrieval systems with full judgments, a sample of them, or none."""

from __future__ import annotations

from leadline import version

# Public names by module; a module is imported when one of its names is first used. An empty tuple of
# names: the module itself is public.
_MODULES = {
    "comparison.compare": ("compare",),
    "comparison.comparison_result": ("Comparison",),
    "comparison.correlate": ("correlate",),
    "comparison.gate_reports": ("gate",),
    "comparison.difference": ("difference",),
    "comparison.difference_result": ("Difference",),
    "comparison.rank": ("Ranking", "rank"),
    "comparison.replication": ("replicate",),
    "comparison.why_different": ("why_different",),
    "result": ("Result",),
    "evaluation.results": ("Results",),
    "errors": ("InputError", "LeadlineError", "UsageError"),
    "estimation.measured": ("evaluate",),
    "estimation.predict": ("predict",),
    "estimation.sampled": ("sampled",),
    "estimation.histogram": ("histogram",),
    "estimation.unjudged": ("unjudged",),
    "evaluation.check_files": ("check",),
    "evaluation.curves": ("curve",),
    "evaluation.explain": ("explain",),
    "evaluation.ir_measures_provider": ("ir_measure", "register"),
    "io.texts": ("read_documents", "read_queries"),
    "io.objects": ("Qrels", "Run", "read_qrels", "read_run", "run_of_arrays", "write_qrels", "write_run"),
    "judging.agreement": ("agreement",),
    "judging.pool": ("pool", "write_pool"),
    "judging.score_audit": ("audit_scores",),
    "measures": ("MEASURES", "Measure"),
    "online.abtest": ("abtest",),
    "comparison.baselines": ("write_baseline",),
    "pages.report": ("report",),
    "evaluation.score_results": ("read_scores",),
    "retrieval.collection": ("collection",),
    "retrieval.fusion": ("fuse",),
    "retrieval.index": ("build_index", "open_index"),
    "retrieval.models": ("MODELS",),
    "retrieval.search": ("mmr", "score", "search"),
    "scale.saved_files": ("merge_files", "verify"),
    "comparison.suite_evaluation": ("suite",),
    "text.summaries": ("dynamic_summary", "static_summary"),
}
_PACKAGES = {"measures": "leadline.measures", "models": "leadline.retrieval.models"}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__version__ = version.VERSION
__all__ = sorted([*_HOMES, *_PACKAGES, "__version__"])  # noqa: PLE0605  # which is a list


def __getattr__(name: str) -> object:
    if name not in _HOMES and name not in _PACKAGES:
        hint = _instead(name)
        # With a name but no object, Python adds no guess of its own to the hint.
        about = {"name": name} if hint else {}
        raise AttributeError(f"module 'leadline' has no attribute '{name}'{hint}", **about)
    import importlib

    if name in _PACKAGES:
        value: object = importlib.import_module(_PACKAGES[name])
    else:
        value = getattr(importlib.import_module(f"leadline.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


# What people try, and the right call.
_INSTEAD = {
    "compare(qrels, runs, measures)": "significance ttest t_test test stats paired_ttest wilcoxon bootstrap",
    "evaluate(qrels, runs, measures)": "eval calc iter_calc calc_aggregate RelevanceEvaluator evaluator "
    "Evaluator ndcg_score average_precision_score ndcg map mrr precision recall hit_rate metrics",
    "a string for the measure, as in evaluate(qrels, runs, 'nDCG@10')": "nDCG NDCG AP MAP RR MRR P Precision "
    "R Recall",
    "evaluate(judgments, runs, pool=pool)": "estimate",
    "read_run(path)": "load_run read_results load_results parse_run read_trec_run",
    "read_qrels(path)": "load_qrels parse_qrels read_trec_qrels read_judgments load_judgments",
    "agreement(a, b)": "kappa cohen_kappa cohen_kappa_score krippendorff fleiss inter_rater",
    "fuse(runs)": "rrf fusion combine merge",
    "result.plot(path)": "plot figure show",
    "result.to_latex()": "latex table",
    "result.write(path)": "save write export",
    "build_index(documents)": "index Index",
    "open_index(path)": "read_index load_index",
    "pool(runs, depth=10)": "Pool make_pool pooling",
    "gate(comparison, fail_if_worse=measure)": "check_regression assert_not_worse fail_if_worse",
}


def _instead(name: str) -> str:
    call = next((call for call, words in _INSTEAD.items() if name in words.split()), "")
    return f". Use {call}." if call else ""


def __dir__() -> list[str]:
    return __all__
