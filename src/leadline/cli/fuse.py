"""`leadline fuse`: fuse several runs into one."""

from __future__ import annotations

from typing import Any

from leadline.cli._outputs import Outputs
from leadline.data.table import Cell, Table
from leadline.data.wording import counted, queries
from leadline.errors import UsageError

SECTION = "Retrieval"


def command(
    *,
    runs: tuple[str, ...],
    method: str,
    normalise: str | None,
    weights: str | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Fuse the ranked lists of several runs into one run.

    Tied documents are ordered by descending document id. A document's sum, mean, median, maximum or minimum
    is taken only over the runs that retrieved the document. With Borda, the documents that a run did not
    retrieve share the remaining points of that run. With Condorcet, documents that a run did not retrieve
    rank below all documents that the run retrieved.

    Example: leadline fuse bm25.run dense.run --method CombSUM --weights 0.3,0.7 -o both.run

    Options
    -------
    runs... : RUN...
    --method NAME | = "RRF"
        Fusion method: RRF(k=60), CombSUM, CombMNZ(gamma=1), CombANZ, CombMED, CombMAX, CombMIN, ISR,
        LogISR(sigma=0), RBC(p=0.8), Borda, Condorcet or Mixed.
    --normalise | min-max/max/sum/z/rank/borda/none
        Normalization of the scores in each list, for the Comb* methods and Mixed. [default: min-max]
    --weights X,X,...
        One weight per run, in the order of the runs. A weight of 0 leaves a run out. CombMED, CombMAX and
        CombMIN take no weights. [default: equal]
    --depth N | int 1..
        Maximum number of documents per query in the fused run. [default: all]
    --name NAME
        Name of the fused run. [default: the method]
    use repairs
    -o | thing RUN
    """
    from leadline.io.tables import table_of_run
    from leadline.io.write import write_lists
    from leadline.retrieval.fusion import fuse

    output = str(outputs.thing)
    run = fuse(runs, method, normalise=normalise, weights=_weights(weights), **options)
    unheld = write_lists(table_of_run(run), output, sources=run.sources)
    rows: list[list[Cell]] = [
        [one["name"], str(one["queries"]), str(one["documents"]), f"{one['weight']:g}"] for one in run.inputs
    ]
    size = f"{queries(len(run.queries))}, {counted(len(run.scores), 'document')}"
    made = f"{output}: {run.options['method']}, {size}"
    made += "".join(f"; left out: {words}" for words in unheld)
    table = Table(["run", "queries", "documents", "weight"], rows, notes=[made])
    inputs = [(one["path"], one["documents"]) for one in run.inputs]
    chosen = run.options | options | {"output": output}
    found = {"run": output, "queries": len(run.queries), "documents": len(run.scores), "runs": run.inputs}
    outputs.write_facts("fuse", table, found, inputs, chosen, warnings=run.warnings)


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--weights {text} is not valid. Pass numbers, such as 0.3,0.7.") from None
