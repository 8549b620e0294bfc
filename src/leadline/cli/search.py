"""`leadline index`, `search`, `score`, `fuse` and `models`: ranked documents and what ranks them."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from leadline.cli._help import typed
from leadline.cli._inputs import analysis_of
from leadline.cli._outputs import Outputs, describe_input, progress
from leadline.data.ids import to_text
from leadline.data.table import Cell, ResultWarning, Table
from leadline.data.wording import counted, visible
from leadline.data.wording import queries as counted_queries
from leadline.errors import InputError, UsageError, both, one_of
from leadline.io.read_paths import STANDARD_STREAM, check_outputs
from leadline.render import View, render
from leadline.result import Facts

if TYPE_CHECKING:
    from leadline.retrieval.search import Hit, ResultList


from leadline.cli._outputs import for_screen
from leadline.data.registry import show
from leadline.evaluation.catalogue import explanation, outline, paragraphs
from leadline.retrieval.models import MODELS, Model

SECTION = "Retrieval"

SHOWN = ("dynamic", "static")
TYPED = 10  # documents shown for a query that is typed
SUFFIX = ".run"
INDENT = 6 * " "


def command(
    context: click.Context,
    /,
    *,
    index: str,
    queries: str | None,
    query: str | None,
    models: tuple[str, ...],
    k: int | None,
    outputs: Outputs,
    show: str | None,
    feedback: str | None,
    per_query: bool,
    **reading: Any,
) -> None:
    """Search an index and write a run.

    QUERIES is a table with the columns query_id and text (JSON Lines, JSON, CSV, TSV or Parquet), TREC
    topics, or SMART text. With several models, RUN is a folder with one run per model. With --query, --show
    or --per-query, you can leave out -o. Without --per-query, the summary printed with -o has the median and
    95th percentile of the time per query, from query text to ranked list, in milliseconds (in JSON, seconds).

    Example: leadline search docs.index queries.jsonl -m "BM25(k1=0.9)" -o bm25.run; leadline search
    docs.index --query "tying knots"

    Options
    -------
    index
    [queries]
    --query TEXT
        Single query to search for, instead of QUERIES. With -f table or html, the results are
        printed.
    -m, --model MODEL as models | MODEL | many | = ["BM25"]
        Retrieval model, such as BM25(k1=0.9,b=0.4) (repeatable). `leadline models` lists all models.
    -k N | int 1..
        Number of documents to retrieve per query. [default: 1000, or 10 with --query]
    --show | Output | dynamic/static | flag_value dynamic
        Print readable result lists, with dynamic (default) or static summaries if the index stores texts.
        With -f html, the lists are printed as an HTML page.
    use feedback
    -q, --per-query | Queries | flag
        Show the time for each query and, if the index stores texts, for summarizing the query's top ten
        documents, in milliseconds. `leadline compare` reads this output if you add -f csv.
    use texts
    -o | thing RUN | optional
    """
    from leadline.io.texts import read_queries
    from leadline.retrieval.index import open_index
    from leadline.retrieval.search import page, result_lists, search

    output, form = outputs.thing, outputs.form
    if queries is not None and query is None:
        if not os.path.exists(queries) and (" " in queries or queries.isalnum()):
            query = shlex.quote(queries)
            raise UsageError(f"{queries}: no such file. To search for one query, use --query {query}.")
        query_texts = read_queries(queries, **reading)
    elif query is not None and queries is None:
        query_texts = read_queries({"query": query})
    else:
        raise UsageError("pass either QUERIES or --query TEXT")
    both(typed(context, *reading), {"QUERIES": queries})
    if output == STANDARD_STREAM:
        one_of({"-o -": True, "--show": show, "--per-query": per_query and not outputs.files})
    readable = form == "html" or "table" in outputs.forms  # an .html file beside a table has the summary
    if show and not readable:
        raise UsageError("--show applies only to tables and HTML. Use -f table or -f html.")
    one_of({"-f html": form == "html", "--per-query": per_query})
    show = show or (SHOWN[0] if form == "html" or query is not None else None)
    if output is None and show is None and not per_query:
        more = ", --show" * readable
        raise UsageError(f"no output was requested. Add -o RUN{more} or --per-query.")
    if output is not None and output.lower().endswith((".html", ".htm")):
        raise UsageError(
            f"-o {output} would contain the run, not a page. To write a page, use `--show -f html "
            f"> {output}`."
        )
    k = k or (1000 if query is None else TYPED)
    opened_index = open_index(index)
    with progress("queries") as on_query:
        runs = search(opened_index, query_texts, models, k=k, feedback=feedback, on_query=on_query)
    options = {"query": query, "models": list(runs), "k": k, "output": output, "feedback": feedback} | reading
    inputs = [describe_input(index, opened_index.documents)]
    inputs += [] if queries is None else [describe_input(queries, len(query_texts))]
    paths = write_runs(runs, output)
    texts: dict[str, str] = {}
    if show is not None:
        if opened_index.has_text and opened_index.is_outdated():
            runs.warnings.append(ResultWarning("outdated", opened_index.outdated, 1))
        lists = result_lists(runs, {query.id: query.content for query in query_texts}, show)
        notes = list(map(str, runs.warnings))
        if form == "html":
            texts["html"] = page(lists, notes)
        else:
            bold = sys.stdout.isatty() and not outputs.files
            texts["table"] = "\n".join(shown(lists, notes, bold=bold)) + "\n"
    data: dict[str, Any] = {"models": list(runs), "runs": paths, "seconds": seconds_of(runs)}
    table = search_table(runs, paths)
    if per_query:
        rows = time_rows(runs, {query.id: query.content for query in query_texts})
        table = Table(["query", "run", "measure", "value"], rows)
        data["per_query"] = [dict(zip(table.columns, row, strict=True)) for row in rows]
    if "table" in texts and (output is not None or per_query):
        texts["table"] += render(table, "table", to_file=bool(outputs.files))
    view = View(Facts(table, data, warnings=list(runs.warnings)), texts=texts, lines="*")
    outputs.write("search", view, lambda: inputs, options)


def write_runs(runs: Any, output: str | None) -> dict[str, str]:
    """Write one run to a file, several to a folder; return their paths by model."""
    from leadline.io.objects import write_run
    from leadline.retrieval.index.index_files import holds_index

    non_empty = {name: run for name, run in runs.items() if len(run.scores)}
    if output is None:
        return {}
    if not non_empty:
        untaught = [warning.message for warning in runs.warnings if warning.code == "no_feedback"]
        reason = (
            f"no model found a document (leadline {untaught[0]})"
            if untaught
            else "no query matches any document"
        )
        raise UsageError(f"{reason}, so there is no run to write")
    made = len(runs) > 1 and not os.path.exists(output)
    if len(runs) == 1:
        paths = dict.fromkeys(non_empty, output)
    else:
        fault = "an index" if holds_index(output) else ""
        fault = "standard output" if output == STANDARD_STREAM else fault
        try:
            if not fault:
                os.makedirs(output, exist_ok=True)
        except OSError as error:
            fault = str(error.strerror)
        if fault:
            raise UsageError(
                f"{output}: cannot create a folder for the runs of several models ({fault}). Choose another "
                "name, or use one model."
            )
        paths = {name: os.path.join(output, name + SUFFIX) for name in non_empty}
    check_outputs(*paths.values())
    for name, run in non_empty.items():
        try:
            write_run(run, paths[name])
        except InputError as error:
            if len(runs) == 1:
                raise
            if made and not os.listdir(output):
                os.rmdir(output)
            hint = "Use one model at a time, and write each run to a .json file"
            raise InputError(error.found, path=error.path, hint=hint) from None
    return paths


def seconds_of(runs: Any) -> dict[str, dict[str, float]]:
    """Return the median and the 95th percentile of the time per query."""
    return {
        name: {"median": float(np.median(times)), "p95": float(np.quantile(times, 0.95))}
        for name, times in runs.seconds.items()
    }


def time_rows(runs: Any, texts: dict[str, str]) -> list[list[Cell]]:
    """Return query, run, measure and value: milliseconds of every query, and of making its summaries."""
    from leadline.retrieval.search import hits_of

    rows: list[list[Cell]] = []
    for name, times in runs.seconds.items():
        lists = runs[name].to_dict()
        for (query, text), seconds in zip(texts.items(), times.tolist(), strict=True):
            rows.append([query, name, "ms", 1000 * seconds])
            if runs.index.has_text:
                began = time.perf_counter()
                hits_of(runs.index, text, dict(islice(lists.get(query, {}).items(), TYPED)))
                rows.append([query, name, "summary_ms", 1000 * (time.perf_counter() - began)])
    return rows


def search_table(runs: Any, paths: dict[str, str]) -> Table:
    """Return the table of the runs, one row per model."""
    rows: list[list[Cell]] = []
    for name, times in seconds_of(runs).items():
        sizes = [str(len(runs[name].queries)), str(len(runs[name].scores))]
        rows.append([name, *sizes, *(f"{1000 * time:.2f}" for time in times.values()), paths.get(name, "-")])
    return Table(["model", "queries", "documents", "median ms", "p95 ms", "run"], rows)


def shown(lists: Iterator[ResultList], notes: Sequence[str], *, bold: bool) -> Iterator[str]:
    """Yield the lines of the printed result lists: rank, score, id, title, other fields and summary."""
    for model, of_model in groupby(lists, key=lambda each: each.model):
        yield model
        for found in of_model:
            yield f"\n{visible(found.query)}: {_short(found.text)}"
            if not found.hits:
                yield "  nothing found"
            for hit in found.hits:
                yield from _lines(hit, bold=bold)
        yield ""
    yield from map(visible, notes)


def _lines(hit: Hit, *, bold: bool) -> Iterator[str]:
    yield f"{hit.rank:>4}  {hit.score:.4f}  {visible(hit.id)}  {_short(hit.title.text)}".rstrip()
    yield from (f"{INDENT}{visible(name)}: {_short(text)}" for name, text in hit.facts.items())
    if hit.summary is not None:
        yield from textwrap.wrap(
            hit.summary.to_terminal(bold=bold),
            100,
            initial_indent=INDENT,
            subsequent_indent=INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _short(text: str) -> str:
    line = " ".join(text.split()).encode("utf-8", "replace").decode()  # unpaired surrogates are shown as ?
    return visible(line if len(line) <= 90 else line[:87] + "...")


def score(
    *,
    index: str,
    queries: str,
    pairs: str,
    models: tuple[str, ...],
    outputs: Outputs,
    feedback: str | None,
    **reading: Any,
) -> None:
    """Score query-document pairs with a retrieval model.

    PAIRS is a qrels file, a run, or a table with the columns query_id and doc_id. Only these pairs are
    scored, and their scores are the same as in `leadline search`. Pairs with score 0 are also in the run.
    Pairs whose query has no text or whose document is not indexed are left out, and notes say how many. With
    several models, RUN is a folder with one run per model.

    Example: leadline score docs.index queries.jsonl pairs.tsv -m BM25 -o bm25.run

    Options
    -------
    index
    queries
    pairs
    -m, --model MODEL as models | MODEL | many | required
        Retrieval model, such as BM25(k1=0.9,b=0.4) (repeatable). `leadline models` lists all models.
    use feedback, texts
    -o | thing RUN
    """
    from leadline.io.id_lists import read_pairs
    from leadline.io.texts import read_queries
    from leadline.retrieval.index import open_index
    from leadline.retrieval.search import score

    query_texts, requested = read_queries(queries, **reading), read_pairs(pairs)
    opened_index = open_index(index)
    with progress("queries") as on_query:
        runs = score(opened_index, query_texts, requested, models, feedback=feedback, on_query=on_query)
    options = {"models": list(runs), "output": outputs.thing, "feedback": feedback} | reading
    inputs = [(index, opened_index.documents), (queries, len(query_texts)), (pairs, len(requested))]
    paths = write_runs(runs, outputs.thing)
    data = {
        "models": list(runs),
        "runs": paths,
        "seconds": seconds_of(runs),
        "pairs": len(next(iter(runs.values())).scores),
    }
    table = search_table(runs, paths)
    outputs.write_facts("score", table, data, inputs, options, warnings=runs.warnings)


def index(*, docs: str, outputs: Outputs, language: str | None, analysis: str | None, **options: Any) -> None:
    """Index a document collection.

    DOCS is JSON Lines (doc_id, title, text), JSON, CSV, TSV, Parquet, TREC text or SMART, plain or
    compressed, or a folder of text files (.txt, .md, .rst, .html). Title and text are indexed as one field.
    Other columns are stored and shown in search results. The index is a folder, and its index.json records
    how it was made. If leadline rejects an index made by an earlier version, rebuild the index.

    Example: leadline index docs.jsonl -o docs.index --language english

    Options
    -------
    docs
    --overwrite | Output | flag
        Replace INDEX if it exists.
    use analysis
    --keep FILE:COLUMN>=NUMBER
        Index only documents whose value in a table column meets a condition, such as
        "spam.tsv:percentile>=60". Documents missing from the table are left out.
    --store-text | flag
        Store the texts in the index, for summaries and for `leadline judge`.
    use texts
    -C index.positions, index.prefix
    -o | thing INDEX
    """
    from leadline.retrieval.index.builder import build_index

    analysis_ = analysis_of(language, analysis)
    output, began = outputs.named(), time.perf_counter()
    with progress("documents") as on_document:
        index = build_index(docs, output, analysis=analysis_, on_document=on_document, **options)
    data: dict[str, Any] = {
        "documents": index.documents,
        "tokens": index.tokens,
        "terms": index.terms,
        "analysis": analysis_,
        "bytes": index.size,
        "seconds": time.perf_counter() - began,
    }
    shown = {name: data[name] for name in ("documents", "tokens", "terms", "analysis")}
    shown |= {"first id": to_text(index.ids[0])} if index.documents else {}
    shown |= {"size": f"{index.size / 1e6:.1f} MB", "time": f"{data['seconds']:.1f} s"}
    table = Table(["fact", "value"], [list(row) for row in shown.items()], wrapped=frozenset({"value"}))
    recorded = {"output": output, "analysis": analysis_} | options
    inputs = [(docs, index.documents)]
    outputs.write_facts("index", table, data, inputs, recorded, warnings=index.warnings)


def fuse(
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
    --method NAME | FUSION | = "RRF"
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
    size = f"{counted_queries(len(run.queries))}, {counted(len(run.scores), 'document')}"
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
        raise UsageError(
            f"--weights {text} is not valid. Pass one number per run, such as 0.3,0.7."
        ) from None


NOTES = [
    "all parameters are optional; TF and TFIDF have the forms dot and cosine, as in TFIDF(cosine)",
    "`leadline models NAME` shows the formula, parameters and source",
]


def models(name: str | None, outputs: Outputs) -> None:
    """List the retrieval models, or explain one.

    The values in parentheses are the parameter defaults.

    Example: leadline models BM25

    Options
    -------
    [name] | MODEL
    -o
    """
    kinds = list(MODELS.classes.values()) if name is None else [type(MODELS.parse(name))]
    rows: list[list[Cell]] = [[outline(kind, defaults=True), kind.title] for kind in kinds]
    heads = ["model", "title"]
    view = View(Facts(Table(heads, rows), {"models": list(map(entry, kinds))}), lines="models")
    if name is None:
        view.tables = {"table": Table(heads, rows, notes=NOTES, wrapped=frozenset(heads), whole=True)}
    else:
        view.texts = {"table": for_screen(explained(kinds[0]), to_file=bool(outputs.files))}
    outputs.write("models", view, list, {"name": name})


def entry(kind: type[Model]) -> dict[str, Any]:
    """Return the facts on a model as plain data."""
    return {
        "name": kind.__name__,
        "parameters": {
            name: {"default": parameter.default, "allowed": parameter.expected()}
            for name, parameter in kind.parameters().items()
        },
        "description": " ".join(paragraphs(kind)),
        "title": kind.title,
        "formula": kind.formula,
        "source": kind.source,
        "spellings": list(kind.aliases),
    }


def explained(kind: type[Model]) -> str:
    """Return the explanation of a model as text."""
    facts = {"formula": kind.formula, "source": kind.source}
    if kind.aliases:
        facts["spellings"] = ", ".join(kind.aliases)
    for name, parameter in kind.parameters().items():
        facts[name] = f"{parameter.expected()}; default {show(parameter.default)}"
    return explanation(kind, kind.title, facts)
