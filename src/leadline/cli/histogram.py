"""`leadline histogram`: score distributions of relevant and non-relevant documents."""

from __future__ import annotations

from typing import Any

from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, inputs_of, progress
from leadline.estimation.score_histograms.histogram import histogram
from leadline.render import View

SECTION = "Estimation"


def command(
    *,
    qrels: str,
    runs: tuple[str, ...],
    level: float,
    show: tuple[str, ...],
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Compare score distributions of relevant and other documents.

    HSA (Histogram Slope Analysis) is the slope of ln(relevant / non-relevant) over bins of normalized scores.
    A higher HSA suggests a better run. DO (Distributional Overlap) is the sum of ln(min(relevant,
    non-relevant)) over the same bins. A higher DO does not consistently indicate a better or a worse run. You
    do not need to rank the whole collection: scores of the relevant documents and of a sample of the other
    documents are enough.

    We recommend --from-ranks for submitted runs. In 14 of 16 settings (each is a set of runs cut at a depth
    of 100 or 1000), HSA from ranks correlates with MAP more strongly than HSA from scores does. But with
    --depth 100, recall correlates with MAP as strongly as HSA and DO do: the median Pearson correlation of
    recall with MAP over random sets of seven runs is 0.91 to 0.98. hsa_robust is our own variant, chosen on
    four sets of runs. On other runs, its median correlation with MAP is 0.30 to 0.98, compared with 0.04 to
    0.99 for HSA from ranks. hsa_robust has the higher correlation in 4 of 9 settings.

    Example: leadline histogram qrels.txt bm25.run dense.run --bins 4 -o hsa.svg

    Options
    -------
    qrels
    runs...
    --bins N | Measures | int 2..10000 | = 10
        Number of bins of equal width, from 2 to 10,000.
    --norm | Measures | query/model/none
        Normalize scores to the range 0 to 1 per query (query) or per run (model), or use
        scores that are already in this range (none). [default: query]
    --from-ranks | Measures | flag
        Use ranks as scores (recommended for submitted runs).
    --depth K | Reading | int 1..
        Number of documents to keep per query and run. Lists are cut before anything else is done. [default:
        all]
    --sample N | Reading | int 1..
        Number of non-relevant documents to sample per query: those with the smallest SHA-256 hashes of seed,
        query and document. [default: all]
    -l, --level GRADE | Measures | float | (= 1.0)
        Lowest relevant grade. [default: 1]
    --seed N | Statistics | int 0..4294967295 | = 0
        Random seed.
    use reading
    -C histogram.show, histogram.as_printed, histogram.nonrelevant, histogram.missing, histogram.sample_from,
       test.draws
    -o | figure
    """
    outputs.needs_figure("show")
    table = read_judgments(qrels, options, kind)
    with progress("runs") as on_run:
        result = histogram(table, runs, rel=level, on_run=on_run, **options)
    for name in show:
        result.place(name)  # refuse an unknown one before anything is written
    result.options |= {"kind": kind, "show": list(show)} | outputs.options()
    view = View(result, figure={"runs": list(show)})
    outputs.write("histogram", view, lambda: inputs_of(result, qrels, len(table.grades)))
