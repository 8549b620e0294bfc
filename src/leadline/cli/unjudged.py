"""`leadline unjudged`: systems ranked without relevance judgments."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import ESTIMATOR, Command, option
from leadline.cli._options import per_query_option, progress, repair_options, seed_option, whole
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._results import describe_input
from leadline.cli._settings import settings
from leadline.errors import UsageError
from leadline.estimation.unjudged import unjudged
from leadline.estimation.unjudged_methods import METHODS
from leadline.render.view import View

SECTION = "Estimation"

NAMES = ", ".join(sorted(kind.called for kind in METHODS.classes.values()))


@click.command(
    cls=Command, epilog="Example: leadline unjudged runs/*.run --method nruns --one-vote-per runs.tsv:team"
)
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--method",
    type=ESTIMATOR,
    default="nruns",
    show_default=True,
    metavar="NAME",
    help=f"Method: {NAMES}. Parameters go in parentheses, as in NRuns(pseudo=10).",
)
@option(
    "Reading",
    "--depth",
    type=whole(),
    metavar="K",
    help="Number of documents used per list. [default: 30 for nruns and deshato, 100 for soboroff and "
    "reference-count, 50 for spoerri, all for aslam-savell]",
)
@click.option(
    "--one-vote-per", metavar="FILE:COLUMN", help="Team of every run. The runs of a team share one vote."
)
@click.option(
    "--topics",
    "vectors",
    metavar="VECTORS",
    help="Document topic vectors for deshato, as written by `leadline topics infer`.",
)
@click.option(
    "--docs",
    "documents",
    metavar="DOCS",
    help="Document texts for deshato. leadline fits LDA to the retrieved documents.",
)
@click.option(
    "-T",
    "topics",
    type=whole(1, 10**5),
    default=50,
    show_default=True,
    metavar="T",
    help="Number of topics, with --docs.",
)
@settings("topics.fits", "topics.sweeps", "text.id_column", "read.encoding")
@click.option(
    "--share-from",
    metavar="QRELS",
    help="Judgments to take Soboroff's proportion of relevant documents from.",
)
@seed_option
@per_query_option("Add per-query values to the JSON.")
@settings("read.name_by")
@repair_options
@output_options(figures=())
def command(
    *,
    runs: tuple[str, ...],
    method: str,
    share_from: str | None,
    per_query: bool,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Rank systems without relevance judgments.

    Systems are scored by agreement with other systems, or by the topics of the retrieved documents. Scores
    order systems but do not estimate any measure. They are better at spotting bad systems than at finding the
    best one. docs/unjudged.md says which method to use when.
    """
    estimator = METHODS.parse(method)
    if share_from is not None:
        estimator = _with_shares(estimator, share_from)
    with progress("runs") as on_run, progress("queries") as on_query, progress("fits") as on_fit:
        result = unjudged(runs, method=estimator, on_run=on_run, on_query=on_query, on_fit=on_fit, **options)
    result.options |= {"share_from": share_from} | outputs.options()
    runs_read = [(run.path, run.counts["documents_read"]) for run in result.runs]
    view = View(result, json={"per_query": per_query}, lines="")
    outputs.write("unjudged", view, lambda: [describe_input(*each) for each in runs_read])


def _with_shares(method: Any, path: str) -> Any:
    from leadline.estimation.unjudged_methods import Soboroff, relevant_shares
    from leadline.io.objects import read_qrels

    if not isinstance(method, Soboroff):
        raise UsageError(f"--share-from does not apply to --method {method.called}. Use --method soboroff.")
    mean, deviation = relevant_shares(read_qrels(path))
    return method.replace(share_mean=mean, share_sd=deviation)
