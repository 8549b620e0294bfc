"""`leadline agreement`: inter-assessor agreement on the same pairs of query and document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from leadline.cli._help import is_given, typed
from leadline.cli._inputs import given_scores, values_given
from leadline.cli._outputs import Outputs, describe_input, progress, read_of
from leadline.errors import UsageError, one_of
from leadline.evaluation.results import Results
from leadline.io.run_names import run_name, split_name
from leadline.io.small_tables import split_place
from leadline.judging.agreement import agreement
from leadline.judging.score_audit import ScoreAudit, audit_scores
from leadline.render import View

SECTION = "Judging"
CLASS = "TakesRuns"
OF_LABELS = ("table", "weights", "level", "rel", "over", "resample", "runs", "within", "per_query")


def command(
    context: click.Context,
    /,
    *,
    judges: tuple[str, ...],
    table: str | None,
    kind: str | None,
    runs: tuple[str, ...],
    per_query: bool,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Measure inter-assessor agreement: kappa, Krippendorff's alpha.

    QRELS is one assessor's file, or a table of several assessors with a column `judge` or with one column per
    assessor (FILE:COLUMN selects one assessor). leadline compares the query-document pairs that all assessors
    judged. Krippendorff's alpha uses every pair that at least two assessors judged. A kappa or alpha of 0
    means chance agreement, and 1 means perfect agreement. Confidence intervals are over queries (jackknife)
    and require at least ten queries. With --table, leadline computes bootstrap intervals over pairs.

    With --runs, leadline shows how the choice of assessor changes scores and system rankings. With --runs and
    either two assessors or --reference, leadline also takes the first assessor as the truth and audits the
    others, such as an LLM. The audit shows how much the labels bias each run's score, which runs they favor,
    and how well they reproduce the ranking of the runs (docs/agreement.md). For the audit alone, you can pass
    one table of per-query values per assessor, with the same runs in each, in place of judgments and --runs
    (REFERENCE[:MEASURE] LABELS[:MEASURE]...).

    Example: leadline agreement judges.csv; leadline agreement --table 300,20,10,70

    Options
    -------
    [judges]... : QRELS QRELS...
    --table N,N,N,N
        Counts of query-document pairs, instead of files: yes-yes, yes-no, no-yes, no-no (the first assessor's
        grade first). For three or more grades, pass 9, 16, ... counts, one row per grade of the first
        assessor, lowest grade first.
    --reference | flag
        Compare the first assessor with each of the others, instead of comparing every pair of assessors.
    --scale SCALE as level | nominal/ordinal/interval | = "nominal"
        Scale of the grades, for Krippendorff's alpha: nominal, ordinal or interval.
    -l, --level GRADE as rel | float
        Treat grades as binary: GRADE and above count as relevant. This also applies to the measures for
        --runs, except those that use the grades themselves, such as nDCG and ERR.
    use confidence, seed
    --runs RUN... | many
        Also show how the choice of assessor changes the scores and ranking of these runs.
    --used-the-judge RUN | many
        Run of a system built with the audited judge (repeatable). The audit then shows how much the labels
        favor such runs over the other runs.
    -m, --measure MEASURE as measures | Measures | MEASURE | many | (= ["AP", "nDCG"])
        Measure for --runs or for per-query values (repeatable). [default: AP and nDCG for --runs, all shared
        measures for per-query values]
    -q, --per-query | Queries | flag
        Also show the agreement per query.
    use scores
    -C agreement.within, agreement.top, agreement.resample, agreement.over, agreement.weights, test.draws,
       read.kind values
    -o | figure
    """
    if table is None and values_given(context, [split_place(judge)[0] for judge in judges], kind):
        audited, inputs = _audited(context, judges, options)
        audited.options |= outputs.options()
        view = View(audited, lines="")
        outputs.write("agreement", view, lambda: [describe_input(path, rows) for path, rows in inputs])
        return
    if table is not None:
        scores = context.meta.get("leadline.scores", {})
        one_of({"--table": table} | typed(context, "per_query", "over", "kind", *scores))
    if is_given(context, "measures") and not runs:
        raise UsageError("-m needs --runs, because measures apply to runs, not to judgments")
    with progress("judges") as on_run:
        result = agreement(
            list(judges) or None, table=_counts(table), runs=list(runs) or None, on_run=on_run, **options
        )
    result.options |= outputs.options()
    view = View(result, shown={"per_query": per_query}, lines="")
    read = [(path, rows) for path, rows in result.judgments.paths if path]
    read += read_of(result.ranking.runs if result.ranking else [])
    outputs.write("agreement", view, lambda: [describe_input(*one) for one in read])


def _audited(
    context: click.Context, judges: Sequence[str], options: Mapping[str, Any]
) -> tuple[ScoreAudit, list[tuple[str, int]]]:
    """Return the audit of values, and path and number of rows of each file."""
    if len(judges) < 2:
        raise UsageError(
            f"an audit needs at least two tables of per-query values, not {len(judges)}. Pass "
            "REFERENCE[:MEASURE] LABELS[:MEASURE]..."
        )
    asked = is_given(context, "measures")
    found: dict[str, Results] = {}
    inputs = []
    places = [split_place(judge) for judge in judges]
    once = len({path for path, _ in places}) == len(places)
    for path, measure in places:
        if measure and asked:
            raise UsageError(f"use only one of -m and {path}:{measure}")
        given, file = split_name(path)
        name = given or (run_name(file) if once else measure or run_name(file))
        if name in found:
            place = f"{file}:{measure}" if measure else file
            raise UsageError(f"two judges are both named '{name}'. Rename one of them, as in other={place}.")
        measures = [measure] if measure else options["measures"] if asked else ()
        found[name], files = given_scores(context, OF_LABELS, [file], measures)
        inputs += files
    rules = {name: options[name] for name in ("top", "draws", "confidence", "seed", "used_the_judge")}
    return audit_scores(found, **rules), inputs


def _counts(table: str | None) -> list[float]:
    if table is None:
        return []
    try:
        return [float(cell) for cell in table.replace(";", ",").split(",")]
    except ValueError:
        raise UsageError(f"--table {table} is not valid. Pass counts, such as 300,20,10,70.") from None
