"""leadline measures retrieval systems: with full judgments, with a sample of them, or with none."""

from __future__ import annotations

from leadline import version

TYPE_CHECKING = False  # as that of typing, without loading it before an interrupt can be caught
if TYPE_CHECKING:
    from leadline.agreements import agreement
    from leadline.comparison import compare
    from leadline.correlations import correlate
    from leadline.curves import curve
    from leadline.differences import difference
    from leadline.errors import InputError, LeadlineError, UsageError
    from leadline.estimators import unjudged
    from leadline.evaluation import evaluate
    from leadline.explanation import explain
    from leadline.formats import read_qrels, read_run
    from leadline.formats.texts import read_documents, read_queries
    from leadline.formats.writing import write_qrels, write_run
    from leadline.histograms import histogram
    from leadline.histograms.sampled import sampled
    from leadline.index import build_index, open_index
    from leadline.measures import MEASURES, Measure
    from leadline.models import MODELS
    from leadline.online import abtest
    from leadline.pooling import pool
    from leadline.prediction import predict
    from leadline.qrels import Qrels
    from leadline.results import Results
    from leadline.retrieval import score, search
    from leadline.run import Run

# Names of the front door and the room each comes from; a room is loaded when its name is first used.
_ROOMS = {
    "InputError": "errors",
    "LeadlineError": "errors",
    "MEASURES": "measures",
    "MODELS": "models",
    "Measure": "measures",
    "Qrels": "qrels",
    "Results": "results",
    "Run": "run",
    "UsageError": "errors",
    "abtest": "online",
    "agreement": "agreements",
    "build_index": "index",
    "compare": "comparison",
    "correlate": "correlations",
    "curve": "curves",
    "difference": "differences",
    "evaluate": "evaluation",
    "explain": "explanation",
    "histogram": "histograms",
    "open_index": "index",
    "pool": "pooling",
    "predict": "prediction",
    "read_documents": "formats.texts",
    "read_qrels": "formats",
    "read_queries": "formats.texts",
    "read_run": "formats",
    "sampled": "histograms.sampled",
    "score": "retrieval",
    "search": "retrieval",
    "unjudged": "estimators",
    "write_qrels": "formats.writing",
    "write_run": "formats.writing",
}

__all__ = [
    "MEASURES",
    "MODELS",
    "InputError",
    "LeadlineError",
    "Measure",
    "Qrels",
    "Results",
    "Run",
    "UsageError",
    "__version__",
    "abtest",
    "agreement",
    "build_index",
    "compare",
    "correlate",
    "curve",
    "difference",
    "evaluate",
    "explain",
    "histogram",
    "open_index",
    "pool",
    "predict",
    "read_documents",
    "read_qrels",
    "read_queries",
    "read_run",
    "sampled",
    "score",
    "search",
    "unjudged",
    "write_qrels",
    "write_run",
]


__version__ = version.VERSION


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module 'leadline' has no attribute '{name}'")
    import importlib

    value: object = getattr(importlib.import_module(f"leadline.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
