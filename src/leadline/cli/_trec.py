"""Compatibility of `evaluate` with trec_eval: its options, and the format `-f trec`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from leadline.cli._help import add_options, option
from leadline.data.registry import split_names
from leadline.errors import one_of
from leadline.evaluation import trec_output
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import Results
from leadline.evaluation.trec_names import NAMES
from leadline.io.objects import Qrels

F = TypeVar("F", bound=Callable[..., Any])


def trec_options(function: F) -> F:
    """Add the options of trec_eval for averaging and output."""
    return add_options(
        function,
        (
            option(
                "Queries",
                "-c",
                "--complete",
                is_flag=True,
                help="Average over all judged queries, as without --profile.",
            ),
            option("Output", "-n", "--no-means", is_flag=True, help="Omit the means."),
        ),
    )


def queries_of(queries: str | None, *, complete: bool) -> str | None:
    """Return the queries of the mean from `scores.queries` and `-c`."""
    one_of({"-c": complete, f"--config scores.queries={queries}": queries not in (None, "all")})
    return "all" if complete else queries


def evaluate_as_trec(
    qrels: Qrels,
    runs: Sequence[str],
    measures: Sequence[str],
    *,
    rel: float | None,
    by: Callable[..., Results] = evaluate,
    **options: Any,
) -> tuple[Results, Callable[..., str]]:
    """Evaluate the measures that trec_eval prints; return the results and a function that formats them.

    `by` is `evaluate`, or a function with its parameters.
    """
    profile = profile_of(options["profile"])
    texts = [text.strip() for given in measures or ["official"] for text in split_names(given)]
    # As in trec_eval, parameters of a measure replace its defaults, also those in a group.
    replaced = {name for name, dot, _ in (text.partition(".") for text in texts) if dot} & {*NAMES}
    texts = [text for text in texts if text not in replaced]
    asked = [
        one
        for one in profile.requests(texts, rel=rel, documents=options["documents"])
        if one.given or one.family not in replaced
    ]
    wanted = dict.fromkeys(one.measure for one in asked if one.measure is not None)
    lengths = [one.length for one in asked if one.family == "relstring"]
    results = by(
        qrels,
        runs,
        list(wanted) or "NumQ",
        rel=rel,
        relevance_strings=lengths[-1] if lengths else None,
        **options,
    )

    def write(*, per_query: bool, means: bool) -> str:
        return trec_output.write(
            results,
            asked,
            rel=1.0 if rel is None else rel,
            per_query=per_query,
            means=means,
            prints_missing=profile.prints_missing,
        )

    return results, write
