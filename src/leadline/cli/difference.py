"""`leadline difference`: how systems differ in what they say of the judgments."""

from __future__ import annotations

from typing import Any

from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, inputs_of, progress
from leadline.comparison.information_difference.difference import difference
from leadline.comparison.information_difference.joint_tables import complete
from leadline.errors import UsageError, both, one_of
from leadline.io.id_lists import read_labels
from leadline.render import View

SECTION = "Evaluation"


def command(
    *,
    qrels: str,
    runs: tuple[str, ...],
    level: float,
    binary: bool,
    documents: str | None,
    competitors: tuple[str, ...],
    no_competitors: bool,
    group: str | None,
    parameter: str | None,
    per_query: bool,
    engine: str | None,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Compute the Information Difference and RIC of runs.

    RIC (Relevance Information Correlation) measures how much information, in bits, a ranking gives about
    which of two judged documents is more relevant. The Information Difference (id) of two lists is the
    information that one list has and the other does not, summed over both directions. The output also shows
    the concordance (the share of pairs in the right order minus the share in the wrong order), the number of
    reversed lists (those that rank most of their pairs in the wrong order), and the rank similarities of the
    lists.

    Example: leadline difference qrels.txt bm25.run dense.run -k 20 -o map.svg

    Options
    -------
    qrels
    runs...
    -k, --cutoff K | Measures | int 1..
        Compute RIC@k and id@k on lists cut at rank K. Pairs of documents are weighted by their ranks in an
        ideal list, and all values are divided by the RIC of the ideal list.
    -l, --level GRADE | Measures | float | (= 1.0)
        Lowest relevant grade. Lists are cut after their last relevant document. [default: 1]
    --binary | Measures | flag
        Use binary relevance instead of the grades.
    --exhaustive DOCS as documents | Reading
        File with all document ids, such as the corpus. Unjudged documents in DOCS count as non-relevant.
    --competitor NAME as competitors | Measures | SIMILARITY | many
        Rank similarity to report, such as RBO(p=0.9) or Jaccard@20 (repeatable). [default: Jaccard and
        Overlap, plus RBO and Kendall for up to 20 runs]
    --no-competitors | Measures | flag
        Leave out the rank similarities.
    --group FILE:COLUMN | Output
        Team or family of every run, for the figures.
    --parameter FILE:COLUMN | Output
        Parameter value of every run, for --figure parameter (needs --group).
    use per-query-json
    --engine ENGINE | Parts
        Compare runs in blocks, with threads (local), N processes (processes[:N]), N Dask workers (dask[:N])
        or a Dask cluster (dask:tcp://HOST:PORT). leadline then keeps only the means of each pair of runs, not
        the per-query values.
    use reading
    -C difference.signed, difference.printed6, difference.weighted, difference.normalise, difference.condense,
       difference.truncate
    -o | figures map/tree/cumulative/parameter | kinds Kind of figure to save with -o: map (distances between
       runs), tree (groups of runs), cumulative (distribution of id) or parameter (RIC by --parameter).
       [default: map]
    """
    if outputs.figure == "parameter" and (group is None or parameter is None):
        raise UsageError("--figure parameter needs --group FILE:COLUMN and --parameter FILE:COLUMN")
    if per_query and engine is not None:
        raise UsageError("--engine does not keep per-query values. Leave out --per-query or --engine.")
    outputs.needs_json(per_query)
    groups, parameters = (read_labels(path) if path is not None else {} for path in (group, parameter))
    outputs.needs_figure("group")
    both({"--parameter": parameter}, {"--figure parameter": outputs.figure == "parameter"})
    one_of({"--competitor": competitors, "--no-competitors": no_competitors})
    table = read_judgments(qrels, options, kind)
    judgments = len(table.grades)
    if documents is not None:
        from leadline.io.selection import read_document_ids

        table = complete(table, read_document_ids(documents))
    with progress("runs") as on_run, progress("queries" if engine is None else "blocks") as on_query:
        result = difference(
            table,
            runs,
            rel=level,
            graded=not binary,
            competitors=() if no_competitors else competitors or None,
            engine=engine,
            on_run=on_run,
            on_query=on_query,
            **options,
        )
    result.options |= {
        "kind": kind,
        "complete": documents,
        "group": group,
        "parameter": parameter,
    } | outputs.options()
    view = View(result, json={"per_query": per_query}, figure={"groups": groups, "parameters": parameters})
    outputs.write("difference", view, lambda: inputs_of(result, qrels, judgments))
