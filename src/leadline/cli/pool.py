"""`leadline pool`: the pairs of query and document that are to be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leadline.cli._help import refuse_unused, typed
from leadline.cli._outputs import Outputs, progress, read_of
from leadline.data.reading import RunsOptions
from leadline.data.table import Table
from leadline.errors import UsageError, both, one_of

if TYPE_CHECKING:
    from leadline.data.judgment_tables import DrawnPool
    from leadline.estimation.measured_pool import MeasuredPool
    from leadline.judging.pool import Pool


SECTION = "Judging"

DRAWING = ("wanted", "budget", "total", "pair", "new_runs", "machine", "earlier", "looks")
NAMES = {"pair": "--for-pair", "earlier": "--from", "documents": "--docs"}  # else as the parameter
NAMES |= {name: f"--config pool.{name}" for name in ("everything", "batch", "random", "known")}


def command(
    context: click.Context, /, *, runs: tuple[str, ...], outputs: Outputs, whole: bool, **options: Any
) -> None:
    """Select documents to judge, by pooling or by sampling.

    To find relevant documents, pool with --depth or --method. To measure systems, sample with --for MEASURE
    and --budget or --total (an alternative to stratified sampling). A document's inclusion probability then
    depends on its weight in the measure. `leadline evaluate --pool` estimates the measure, usually with a
    confidence interval (AP, R and F need a fully judged pool).

    POOL is a table with the columns query_id, doc_id, probability and contributors (as JSON, the document's
    rank in each run that contributed it). With --for or --twice, it also has the column `order`, the judging
    order.

    Example: leadline pool bm25.run dense.run --depth 50 -o pool.tsv

    Options
    -------
    [runs]...
    --depth K | Selection | int 1..
        Pool depth: the first K documents of every run. With --for, only these documents can be sampled.
        [default with --for: twice the largest cutoff, and at least 200 if a measure has no cutoff]
    --method NAME | Selection | POOLING
        Pooling method to use instead of --depth, with the number of documents per query: RRF(documents=100),
        RBP(documents=100,p=0.8) or MoveToFront(documents=100) (docs/judging.md).
    --docs DOCS as documents
        Collection (texts or an index). Documents outside the collection are left out. Cannot be
        combined with --for. [default: all retrieved documents]
    --queries QUERIES
        Queries (topics) to add if no run contains them. They get documents only with --docs and
        -C pool.random or -C pool.everything.
    --judged QRELS
        Existing judgments, used by MoveToFront. POOL omits judged pairs or, with --for, includes them with
        probability 1. Merge all judgments before you evaluate (docs/judging.md). With --for, no judgment may
        come from a pool drawn with the same --seed.
    -l, --level GRADE as rel | Selection | float | (= 1.0)
        Lowest relevant grade, used by MoveToFront and the --for measures. [default: 1]
    --for MEASURE as wanted | Sampling | MEASURE | many
        Measure to estimate from the sample (repeatable). Needs --budget or --total.
    --budget B | Sampling | float
        Expected mean number of judgments per query.
    --total N | Sampling | int 1..
        Expected number of judgments over all queries. The actual number is random.
    --for-pair A B as pair | Sampling | nargs 2
        Sample only documents whose weights in runs A and B differ. Estimates for single runs have no
        interval.
    --machine LABELS | Sampling
        LLM labels, used for the expected interval half-widths and for estimates from the pool. The labels do
        not change the draw.
    --from POOL as earlier | Sampling
        Earlier pool from `pool --for`, to use with --twice or --leave-out, or to enlarge with --for and the
        same --seed (all its pairs are kept).
    --twice M | Sampling | int 1..
        Draw about M pairs of the pool in --from for a second judge, to measure the first judge's error.
    --leave-out FILE:COLUMN | Sampling
        Column with the team of each run in --from. Saves a table, not a pool, that shows which values would
        have no interval without their run's team.
    --looks N | Sampling | int 1.. | = 1
        Number of times you may test for a difference while judging, evenly spaced (none before 50 judgments).
        Each test uses alpha divided by the number of tests.
    --seed N | Sampling | int 0..4294967295 | = 0
        Random seed for sampling.
    use repairs
    -C pool.new_runs, pool.whole, pool.batch, pool.known, pool.everything, pool.random, read.name_by
    -o | thing POOL
    """
    from leadline.io.pool_files import write_pool
    from leadline.judging.pool import pool
    from leadline.judging.pooling_methods import POOLS

    output = str(outputs.thing)
    drawing = {name: options.pop(name) for name in DRAWING}
    twice, teams = options.pop("twice"), options.pop("leave_out")
    if teams is not None:
        reading = ("runs", "judged", *RunsOptions.__annotations__) if runs or options["judged"] else ()
        refuse_unused(context, "--leave-out", "leave_out", "earlier", *reading)
        _leave_out(teams, runs, outputs, drawing["earlier"], options)
        return
    if twice is not None:
        refuse_unused(context, "--twice", "twice", "earlier", "runs", "wanted")
        _draw_twice(twice, outputs, {"RUN": runs, "--for": drawing["wanted"]}, drawing["earlier"])
        return
    if drawing["wanted"]:
        one_of({"--for": True} | typed(context, "whole"))
        one_of({"--for-pair": drawing["pair"]} | typed(context, "new_runs"))
        _draw(runs, outputs, drawing, options)
        return
    drawn = ("budget", "total", "pair", "machine", "earlier")
    asked = {NAMES.get(name, f"--{name}"): drawing[name] for name in drawn}
    asked |= {"--looks": drawing["looks"] > 1}
    both(typed(context, "new_runs"), {"--for MEASURE": None})
    of_grades = options["method"] is not None and POOLS.parse(options["method"]).adaptive
    both(typed(context, "rel"), {"--for MEASURE or --method MoveToFront": of_grades})
    both(asked, {"--for MEASURE instead of --method" if options["method"] else "--for MEASURE": None})
    files = {name: options[name] for name in ("documents", "queries", "known", "judged")}
    with progress("queries") as on_query:
        result = pool(runs, on_query=on_query, **options)
    selected = result.whole if whole else result.new
    if not result.whole.documents:
        raise UsageError(
            "there is nothing to judge, because no pooled document is in the collection. Check that --docs "
            "and the runs use the same document ids."
        )
    if not selected.documents:
        raise UsageError(
            "there is nothing to judge, because all pairs are already known or judged. To include these "
            "pairs, add --config pool.whole."
        )
    write_pool(selected, output)
    inputs = [(path, result.read[name]) for name, path in files.items() if path]
    _write(result, outputs, inputs, files | {"whole": whole})


def _write(
    result: Pool | MeasuredPool, outputs: Outputs, inputs: list[tuple[str, int]], options: dict[str, Any]
) -> None:
    """Print and save what was pooled or drawn, with the name of the written file before the first note."""
    output, table = str(outputs.thing), result.table()
    table.notes[0] = f"{output}: {table.notes[0]}"
    outputs.write_facts(
        "pool",
        table,
        result.to_dict() | {"pool": output},
        read_of(result.runs) + inputs,
        result.options | options,
        warnings=result.warnings,
    )


def _draw(runs: tuple[str, ...], outputs: Outputs, drawing: dict[str, Any], options: dict[str, Any]) -> None:
    """Draw a pool for measures, write it, and print the forecast."""
    from leadline.estimation.pool_designs import pool_for
    from leadline.io.formats import suffix_of
    from leadline.io.pool_files import OTHERS, write_drawn_pool

    output = str(outputs.thing)
    for name in ("documents", "queries", "known", "method", "batch", "random", "everything"):
        one_of({"--for": True, NAMES.get(name, f"--{name}"): options[name]})
    suffix = suffix_of(output)
    if suffix in OTHERS | {".jsonl", ".ndjson"}:
        raise UsageError(f"{output}: a pool drawn with --for cannot be written as {suffix}. Use .tsv.")
    files = {name: drawing[name] for name in ("machine", "earlier")} | {"judged": options["judged"]}
    shared = ("rel", "depth", "judged", "seed", *RunsOptions.__annotations__)
    given = drawing | {"pair": drawing["pair"] or None} | {name: options[name] for name in shared}
    with progress("runs") as on_run:
        result = pool_for(runs, given.pop("wanted"), on_run=on_run, **given)
    size, *others = result.forecast()
    write_drawn_pool(result.pool, output, [f"{output}: {size}", *others])
    _write(result, outputs, [], files)


def _leave_out(
    teams: str, runs: tuple[str, ...], outputs: Outputs, earlier: str | None, options: dict[str, Any]
) -> None:
    """Show what runs would lose had their team not contributed to an earlier pool."""
    from leadline.estimation.pool_designs import left_out
    from leadline.io.pool_files import read_drawn_pool
    from leadline.io.write import write_bytes

    both({"--leave-out": True}, {"--from POOL": earlier})
    both({"RUN with --leave-out": runs}, {"--judged QRELS": options["judged"]})
    both({"--judged with --leave-out": options["judged"]}, {"RUN...": runs})
    reading = {name: options[name] for name in RunsOptions.__annotations__}
    found = left_out(read_drawn_pool(str(earlier)), teams, options["judged"], list(runs) or None, **reading)
    output, lost = str(outputs.thing), sum(one.lost for one in found)
    notes = [
        f"{output}: {lost} of {len(found)} values would have no interval without their run's team",
        "outside: share of the run's weight on documents that only its team contributed",
        *["bias: estimate without the team minus estimate with it"] * bool(runs),
    ]
    heads = ["team", "run", "measure", "outside", "lost", *["bias"] * bool(runs)]
    rows: list[list[Any]] = [
        [*one[:4], "yes" if one.lost else "no", *list(one[5:]) * bool(runs)] for one in found
    ]
    lines = ["\t".join(map(str, row)) for row in (heads, *rows)]
    write_bytes(output, ("\n".join(lines) + "\n").encode())
    data = {"left_out": [one._asdict() for one in found]}
    table, inputs = Table(heads, rows, notes=notes), [(str(earlier), len(found))]
    outputs.write_facts("pool", table, data, inputs, {"leave_out": teams}, lines="left_out")


def _draw_twice(number: int, outputs: Outputs, others: dict[str, Any], earlier: str | None) -> None:
    """Draw pairs of an earlier pool for a second judge, and write them."""
    from leadline.data.wording import counted, percent
    from leadline.estimation.measured_pool import draw_twice
    from leadline.io.pool_files import read_drawn_pool, write_drawn_pool
    from leadline.judging.half_widths import DISAGREE

    both({"--twice": True}, {"--from POOL": earlier})
    for name, given in others.items():
        one_of({"--twice": True, name: given})
    output = str(outputs.thing)
    first = read_drawn_pool(str(earlier))
    second = draw_twice(first, number)
    count, pairs = int(second.drawn.sum()), int(first.drawn.sum())
    note = f"{count:,} of the {pairs:,} pairs in {earlier}, drawn at random for a second judge"
    widths = _widths_twice(first, {size for size in (number, 2 * number) if size < pairs} | {pairs})
    notes = [f"{output}: {note}"]
    for measure, of_sizes in widths.items():
        words = ", ".join(f"{half:.3f} with {counted(size, 'pair')}" for size, half in of_sizes.items())
        of = "for the difference" if first.design.get("for_pair") else "per run"
        share = f"if the two judges disagree on {percent(DISAGREE)} of the pairs"
        notes.append(f"expected 95 % interval half-width of {measure} {of}, {share}: {words}")
    write_drawn_pool(second, output, notes)
    data = {"pairs": count, "expected": number, "pool": output, "half_widths": widths}
    table = Table(["pairs", "drawn"], [[pairs, count]], notes=notes)
    outputs.write_facts("pool", table, data, [(str(earlier), pairs)], {"twice": number})


def _widths_twice(pool: DrawnPool, sizes: set[int]) -> dict[str, dict[int, float]]:
    """Return half-widths to expect by measure and number of pairs that a second judge judges."""
    from leadline.estimation.measured_pool import draw_twice
    from leadline.judging.half_widths import PoolPrecision

    precision, found = PoolPrecision(pool), dict[str, dict[int, float]]()
    chances = {size: draw_twice(pool, size).probability for size in sorted(sizes)}
    for measure in precision.measures:
        halves = {size: precision.judged_twice(measure, chance) for size, chance in chances.items()}
        known = {size: half for size, half in halves.items() if half is not None}
        found |= {measure: known} if known else {}
    return found
