"""`leadline unjudged`: systems ranked without relevance judgments."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._outputs import Outputs, describe_input, progress, read_of
from leadline.errors import UsageError, both
from leadline.estimation.unjudged import unjudged
from leadline.estimation.unjudged_methods import METHODS
from leadline.render import View

SECTION = "Estimation"


def command(
    context: click.Context,
    /,
    *,
    runs: tuple[str, ...],
    method: str,
    share_from: str | None,
    per_query: bool,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Rank systems without relevance judgments.

    Systems are scored by their agreement with other systems, or by the topics of the retrieved documents. The
    scores order systems (higher is better) but do not estimate any measure. They are better at spotting bad
    systems than at finding the best one. docs/unjudged.md says when to use which method.

    Example: leadline unjudged runs/*.run --method nruns --one-vote-per runs.tsv:team

    Options
    -------
    runs...
    --method NAME | ESTIMATOR | = "nruns"
        Method: aslam-savell, deshato, nruns, reference-count, soboroff or spoerri. All methods use the
        agreement between systems, except deshato, which uses topics. Parameters go in parentheses, as in
        nruns(pseudo=10).
    --depth K | Reading | int 1..
        Number of documents used per ranked list. [default: 30 for nruns and deshato, 100 for soboroff and
        reference-count, 50 for spoerri, all for aslam-savell]
    --one-vote-per FILE:COLUMN
        Table column with the team of each run. Runs of the same team share one vote.
    --topics VECTORS as vectors
        Document topic vectors for deshato, as written by `leadline topics infer`.
    --docs DOCS as documents
        Document texts for deshato, instead of --topics. leadline fits LDA to the retrieved documents.
    -T T as topics | int 1..10000 | = 50
        Number of LDA topics (used with --docs).
    --share-from QRELS
        Judgments from which --method soboroff takes the share of relevant documents (mean and standard
        deviation over queries). [default: 5 % and 3 %]
    use seed, per-query-json, repairs
    -C read.encoding, text.id_column, topics.sweeps, topics.fits, read.name_by
    -o | figure
    """
    of_docs = ("topics", "fits", "sweeps", "id_column", "encoding")
    both(typed(context, *of_docs), {"--docs": options["documents"]})
    outputs.needs_json(per_query)
    estimator = METHODS.parse(method)
    if share_from is not None:
        estimator = _with_shares(estimator, share_from)
    with progress("runs") as on_run, progress("queries") as on_query, progress("fits") as on_fit:
        result = unjudged(runs, method=estimator, on_run=on_run, on_query=on_query, on_fit=on_fit, **options)
    result.options |= {"share_from": share_from} | outputs.options()
    view = View(result, json={"per_query": per_query}, lines="")
    outputs.write("unjudged", view, lambda: [describe_input(*one) for one in read_of(result.runs)])


def _with_shares(method: Any, path: str) -> Any:
    from leadline.estimation.unjudged_methods import Soboroff, relevant_shares
    from leadline.io.objects import read_qrels

    if not isinstance(method, Soboroff):
        raise UsageError(f"--share-from does not apply to --method {method.called}. Use --method soboroff.")
    mean, deviation = relevant_shares(read_qrels(path))
    return method.replace(share_mean=mean, share_sd=deviation)
