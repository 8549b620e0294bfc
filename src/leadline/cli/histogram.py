"""`leadline histogram` and `sampled`: score distributions, and measures estimated with them."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import refuse_unused
from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, inputs_of, progress, refuse_same_output
from leadline.data.table import Cell, Table
from leadline.data.wording import counted, queries
from leadline.errors import UsageError, both, one_of
from leadline.estimation.histogram import histogram
from leadline.estimation.sampled import sampled as estimated
from leadline.io.id_lists import read_population
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
    --depth 100, recall correlates with MAP more strongly than HSA and DO do in 7 of 9 settings: the median
    Pearson correlation of recall with MAP over random sets of seven runs is 0.91 to 0.98. hsa_robust (column
    robust) is our own variant of HSA, chosen on four sets of runs. On other runs, its median correlation with
    MAP is 0.30 to 0.98, compared with 0.04 to 0.99 for HSA from ranks. hsa_robust has the higher correlation
    in 4 of 9 settings.

    Example: leadline histogram qrels.txt bm25.run dense.run --bins 4 -o hsa.svg

    Options
    -------
    qrels
    runs...
    --bins N | Measures | int 2..10000 | = 10
        Number of bins of equal width, from 2 to 10,000.
    --norm | Measures | query/model/none
        Normalize scores to the range 0 to 1 per query (query) or per run (model), or use
        scores that are already in this range (none). [default: query, or model with -C as_printed]
    --from-ranks | Measures | flag
        Use ranks as scores (recommended for submitted runs).
    --depth K | Reading | int 1..
        Number of documents to keep per query and run. Lists are cut before sampling and normalization.
        [default: all]
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


def sampled(
    context: click.Context,
    /,
    *,
    qrels: str,
    scores: tuple[str, ...],
    measures: tuple[str, ...],
    population: str | None,
    pairs: str | None,
    docs: str | None,
    per_query: bool,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Estimate rank measures from sampled candidate documents.

    Here, scores are sampled, and judgments are complete. To estimate from a sample of judgments, use
    `leadline evaluate JUDGMENTS RUN... --pool POOL`.

    SCORES are files with scores of the relevant documents in QRELS and of a random sample of non-relevant
    documents, so you do not need to rank the whole collection. The rank of a relevant document is estimated
    from the sampled documents above it, with the correction of Krichene and Rendle (2020). The sampling
    intervals account for the choice of the sampled documents. The intervals in the columns low and high also
    account for the choice of the queries. leadline omits an interval if simulations did not confirm its
    coverage, and says why.

    The correction makes values comparable with exact values, but does not improve the order in which the
    values rank systems. With few sampled documents per query, top-heavy measures (such as nDCG@10 and RR)
    order systems poorly unless half of the sample comes from the top of a good run (--certain). See
    docs/unjudged.md.

    Example: leadline sampled qrels.txt bm25.run dense.run -m AP -m RR --population 20

    Options
    -------
    qrels
    [scores]...
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure, such as AP (repeatable). [default: AP, nDCG@10, RR, P@10, R@100]
    --population N | Sampling
        Number of documents in the collection, or a file with a query and its number of non-relevant documents
        on each line.
        [default: the number of scored documents]
    --sample N | Sampling | int 1..
        Number of non-relevant documents per query to keep or, with --draw, to draw: those with the smallest
        SHA-256 hashes of seed, query and document. With --certain RUN:K, N - K are drawn and the
        non-relevant documents among the first K of RUN are added. If some of those K are relevant, the total
        is below N. [default: all scored documents]
    --certain RUN:K | Sampling
        Always include the first K documents of RUN for each query (stratified sampling), each with weight 1.
        The random sample is drawn from the other documents.
    --draw POOL as pairs | Sampling | OUTPUT
        Draw N non-relevant documents per query (--sample N) from --docs, add the relevant documents, and
        write to POOL the pairs that every system must score. Pass no SCORES.
    --docs DOCS | Sampling
        Collection (texts or an index) from which --draw samples documents.
    -l, --level GRADE as rel | Measures | float
        Lowest relevant grade, for measures with the parameter `rel`. [default: 1]
    use confidence
    --seed N | Statistics | int 0..4294967295 | = 0
        Random seed for the sample and the intervals.
    use per-query-json, reading
    -C test.draws = 40, scores.queries all/with_relevant = "all", sampled.correction
    -o | figure
    """
    if pairs is not None:
        one_of({"-o FILE.svg": outputs.drawn, "--draw": pairs})
        drawing = ("pairs", "docs", "sample", "certain", "seed", "negative", "qrels_columns", "kind")
        refuse_unused(context, "--draw", "qrels", "scores", *drawing)
        refuse_same_output(pairs, *outputs.files)
        _draw(qrels, scores, pairs, docs, outputs, options, kind=kind)
        return
    if not scores:
        raise click.UsageError("Missing argument 'SCORES...'.")
    both({"--docs": docs}, {"--draw": pairs})
    outputs.needs_json(per_query, "jsonl")
    size = None if population is None else read_population(population)
    table = read_judgments(qrels, options, kind)
    with progress("runs") as on_run:
        result = estimated(table, scores, measures or None, population=size, on_run=on_run, **options)
    result.options |= {"kind": kind} | outputs.options()
    view = View(result, json={"per_query": per_query})
    outputs.write("sampled", view, lambda: inputs_of(result, qrels, len(table.grades)))


def _draw(
    qrels: str,
    scores: tuple[str, ...],
    pairs: str,
    docs: str | None,
    outputs: Outputs,
    options: dict[str, Any],
    *,
    kind: str | None,
) -> None:
    from leadline.data.ids import to_text
    from leadline.estimation.sampled import sample_to_score
    from leadline.io.pool_files import write_pool
    from leadline.retrieval.collection import ids_of

    if scores:
        raise UsageError("--draw does not use scores. Leave out SCORES.")
    if docs is None or options["sample"] is None:
        raise UsageError("--draw needs --docs DOCS and --sample N")
    table = read_judgments(qrels, options, kind)
    names = [to_text(name) for name in ids_of(docs)]
    recorded = {name: options[name] for name in ("sample", "certain", "seed", "negative")}
    drawn = sample_to_score(table, names, **recorded)
    write_pool(drawn, pairs)
    number = len(set(drawn.queries))
    certain = int((drawn.probability == 1).sum())
    data = {"pool": pairs, "queries": number, "pairs": len(drawn.documents), "certain": certain}
    summary = (
        f"{pairs}: {counted(len(drawn.documents), 'pair')} ({certain:,} with inclusion probability 1) for "
        f"{queries(number)}"
    )
    inputs = [(qrels, len(table.grades)), (docs, len(names))]
    cells: list[Cell] = [pairs, number, len(drawn.documents), certain]
    outputs.write_facts("sampled", Table(list(data), [cells], notes=[summary]), data, inputs, recorded)
