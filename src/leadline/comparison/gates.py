"""Quality gates from Python: conditions written as on the command line."""

from __future__ import annotations

from collections.abc import Iterable

from leadline.comparison.comparison_result import Comparison
from leadline.comparison.gate import BELOW, NOT_WORSE, WORSE, Gate, condition_of, gates_of
from leadline.errors import UsageError
from leadline.io.read_paths import public


@public
def gate(
    comparison: Comparison,
    *,
    fail_if_worse: str | Iterable[str] = (),
    require_not_worse: str | Iterable[str] = (),
    fail_below: str | Iterable[str] = (),
) -> list[Gate]:
    """Test conditions on the runs of a comparison, as the options of `leadline compare` of these names do.

    Parameters
    ----------
    comparison : Comparison
        Comparison with a baseline, unless there is only `fail_below`.
    fail_if_worse : str or iterable of str, optional
        MEASURE or MEASURE:MARGIN: fails on evidence that the loss is larger than the margin.
    require_not_worse : str or iterable of str, optional
        MEASURE:MARGIN: fails unless there is evidence that the loss is smaller than the margin.
    fail_below : str or iterable of str, optional
        MEASURE=VALUE: fails if a mean is below the value.

    Returns
    -------
    list of Gate
        Outcomes by condition and run; `failed` is also True where a condition cannot be tested.

    Raises
    ------
    UsageError
        If a condition is malformed or needs a baseline.

    Examples
    --------
    >>> from leadline.comparison.compare import compare
    >>> qrels = {f"q{n}": {"d": 1} for n in range(8)}
    >>> old, new = {q: ["d"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> comparison = compare(qrels, {"old": old, "new": new}, "RR", baseline="old")
    >>> [outcome.failed for outcome in gate(comparison, fail_if_worse="RR", fail_below="RR=0.4")]
    [True, False]
    """
    given = {WORSE: fail_if_worse, NOT_WORSE: require_not_worse, BELOW: fail_below}
    listed = {kind: [texts] if isinstance(texts, str) else list(texts) for kind, texts in given.items()}
    wanted = [condition_of(text, kind) for kind, texts in listed.items() for text in texts]
    if not wanted:
        raise UsageError('no condition; expected one, such as fail_if_worse="nDCG@10"')
    return gates_of(comparison, wanted)
