"""`leadline judge`: the judging page in a browser, and its judgments as qrels."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._help import refuse_unused, typed
from leadline.cli._inputs import analysis_of
from leadline.cli._outputs import Outputs, print_line, progress, refuse_same_output
from leadline.data.optional import require
from leadline.data.table import ResultWarning, Table
from leadline.data.wording import counted, queries
from leadline.errors import InputError, UsageError, both
from leadline.io.read_paths import record_input

if TYPE_CHECKING:
    from leadline.judging.startup import JudgingPage


SECTION = "Judging"


def command(
    context: click.Context,
    /,
    *,
    pool: str | None,
    docs: str | None,
    queries: str | None,
    store: str,
    simulate: str | None,
    target: str | None,
    merge: str,
    outputs: Outputs,
    language: str | None,
    analysis: str | None,
    **options: Any,
) -> None:
    """Judge pooled documents on a page in the browser.

    Press a digit to grade the document, U to undo, S to skip, N to write a note, or T to see the full text. A
    pool from `pool --for` or `pool --twice` is judged in the order given in the pool. Any other pool is
    judged query by query, in a random order for each assessor. The page hides systems and ranks. Each
    judgment is written to --store before the page says it is saved. Press Ctrl-C to stop the server, and run
    the same command again to resume. The page needs --docs and --queries. `leadline evaluate` reads the store
    as qrels, and --export writes a qrels file.

    Example: leadline judge pool.tsv --docs docs.jsonl --queries queries.jsonl --store judged.sqlite
    --grades "0=no,1=partly,2=yes"

    Options
    -------
    [pool]
    --docs DOCS
        Document file, folder of text files, or index with stored texts.
    --queries QUERIES
        Query (topic) file. Press D for topic descriptions.
    --store FILE | required
        SQLite file for the judgments, created if it does not exist.
    --grades SCALE
        Two to five digits with names, such as "0=no,1=yes", for new stores. [default:
        0=not relevant,1=relevant; with --simulate, 0, 1 and the grades in QRELS]
    --judges NAMES
        Names of assessors who share the queries, such as ann,bob. [default: every assessor judges all
        queries]
    --overlap SHARE | share 0..1
        Share of the pooled pairs graded by two of the --judges, to measure agreement. [default: 0.1]
    --stop-when RULE | Sampling
        Rule that ends judging, such as "P@10 half-width < 0.05", for a pool from `pool --for`. It applies to
        the run with the widest 95 % interval or, after `pool --for-pair A B`, to the difference A - B.
    --content FORMS as forms | = "full"
        Content below the title: nothing (title), a summary (static or dynamic), or the text (full). Give
        several, such as static,dynamic, to assign one at random per assessor and pair.
    --simulate QRELS
        Let simulated assessors grade the pool with these judgments, and start no server. Pairs without a
        judgment get grade 0.
    --export QRELS as target | Output | OUTPUT
        Write the judgments in --store to QRELS and start no server. The suffix sets the format (default:
        TREC). A .csv or .tsv file also has a column per assessor.
    --merge RULE | Output | = "majority"
        With --export, how to combine several assessors' grades for a pair: majority (ties: the lowest grade),
        max, mean, or one assessor's name (only that assessor's grades count).
    --host NAME | Server | = "127.0.0.1"
        Address to listen on. An address that other machines can reach requires a token.
    --port N | Server | int 0..65535 | = 8765
        Port of the server, or 0 for any free port.
    --token TEXT | Server | envvar LEADLINE_TOKEN
        Token of at least 8 characters to open the page (or set LEADLINE_TOKEN). By default, leadline
        generates one if other machines can reach --host.
    --no-browser | Server | flag
        Do not open a browser.
    --seed N | int 0..4294967295
        Random seed for a new store. It sets random orders, the pairs judged twice and the content. [default:
        0]
    use analysis, texts
    -C judge.looks
    -o
    """
    for path in filter(None, (store, pool, docs, queries)):
        record_input(path)
    refuse_same_output(store if target is None else target, *outputs.files)
    # The call that opens the page may be repeated with another option, so its files are not refused.
    files = ("store", "pool", "docs", "queries")
    if target is not None:
        refuse_unused(context, "--export", "target", "merge", *files)
        _export(store, target, merge, outputs)
        return
    if simulate is not None:
        refuse_unused(context, "--simulate", "simulate", "grades", "judges", "overlap", "seed", *files)
        _simulate(pool, store, simulate, outputs, **options)
        return
    both(typed(context, "merge"), {"--export": target})
    both(typed(context, "looks"), {"--stop-when": options["stop_when"]})
    if outputs.files:
        export = shlex.join(["leadline", "judge", "--store", store, "--export", outputs.files[0]])
        raise UsageError(
            f"-o {outputs.files[0]} does not apply to the judging page. After judging, export the judgments "
            f"with `{export}`."
        )
    both(typed(context, "form"), {"--export or --simulate": None})
    require("the judging page")
    if docs is None or queries is None:
        raise UsageError(
            "the judging page needs --docs and --queries, because it shows their texts."
            + " To export judgments instead, add --export QRELS." * os.path.exists(store)
        )
    if pool is None and not os.path.exists(store):
        raise UsageError(
            f"no pool was given, and the store {store} does not exist. Pass POOL or an existing --store."
        )
    _serve(pool, docs, queries, store, options | {"analysis": analysis_of(language, analysis)})


def _export(store: str, target: str, merge: str, outputs: Outputs) -> None:
    from leadline.data.judgment_tables import RULES
    from leadline.judging.export import export

    exported = export(store, target, rule=merge)
    merged = exported.merged
    warnings = [ResultWarning(*remark) for remark in exported.remarks]
    data = {
        "judgments": sum(exported.judges.values()),
        "pairs": len(merged.grades),
        "judges": dict(exported.judges),
        "shared": merged.shared,
        "split": sum(map(len, merged.votes.values())),
        "tied": merged.tied,
        "notes": exported.notes,
    }
    table = Table(["judge", "judgments"], [[judge, str(count)] for judge, count in exported.judges.items()])
    n_queries = queries(len({query for query, _ in merged.grades}))
    how = "merged" if merge in RULES else "judged"
    table.notes = [f"{target}: {counted(len(merged.grades), 'pair')} for {n_queries}, {how} by {merge}"]
    if target == "-":
        outputs.form, outputs.thing = "none", target
    options = {"merge": merge, "export": target}
    outputs.write_facts("judge", table, data, [(store, len(merged.grades))], options, warnings=warnings)


def _simulate(pool: str | None, store: str, qrels: str, outputs: Outputs, **options: Any) -> None:
    from leadline.judging import lock
    from leadline.judging.startup import simulate

    if pool is None:
        raise UsageError(
            "simulated judges need a pool. Use `leadline judge POOL --simulate QRELS --store FILE`."
        )
    wanted = {name: options[name] for name in ("grades", "judges", "overlap", "seed")}
    with lock.exclusive(store):
        done = simulate(pool, store, qrels, **wanted)
    table = Table(["judge", "judgments"], [[judge, str(count)] for judge, count in done.judges.items()])
    if not any(done.judges.values()):
        table.notes = [f"every pair in {pool} is already judged, so nothing was added to {store}"]
    elif done.unjudged:
        known = "standard input" if qrels == "-" else qrels
        table.notes = [f"{counted(done.unjudged, 'pair')} without a judgment in {known} got grade 0"]
        if done.queries:
            table.notes.append(
                f"{known} has no judgments for {queries(done.queries)} in {store}, so `leadline compare "
                f"{qrels}` leaves {'it' if done.queries == 1 else 'them'} out"
            )
    data = {"judges": done.judges, "unjudged": done.unjudged, "unjudged_queries": done.queries}
    inputs = [(store, sum(done.judges.values()))]
    outputs.write_facts("judge", table, data, inputs, {"simulate": qrels}, warnings=done.warnings)


def _serve(pool: str | None, docs: str, queries: str, store: str, options: dict[str, Any]) -> None:
    from leadline.judging import lock, serving, startup

    host, port, no_browser = (options.pop(name) for name in ("host", "port", "no_browser"))
    token = serving.token_for(host, options.pop("token"))
    reading = {name: options.pop(name) for name in ("fields", "id_column", "encoding")}
    with lock.exclusive(store), progress("documents") as on_document:
        socket = serving.listen(host, port)
        opened = startup.opened(
            pool, docs, queries, store, on_document=on_document, reading=reading, **options
        )
        with socket, opened as page:
            app = page.app(token=token, local=serving.is_loopback(host))
            link = serving.link(socket, host, token)
            try:
                serving.run(app, socket, lambda: _started(page, link, no_browser=no_browser))
            finally:
                _stopped(page, store)


def _started(page: JudgingPage, link: str, *, no_browser: bool) -> None:
    """Print a summary and the address, and open a browser."""
    for line in (*page.facts(), *map(str, page.warnings)):
        print_line(line)
    click.echo(f"open {link}\nPress Ctrl-C to stop the server. Judgments are saved in {page.store.path}")
    if not no_browser:
        from leadline.judging.serving import show

        show(link)


def _stopped(page: JudgingPage, store: str) -> None:
    """Print the number of judgments; if the store was deleted meanwhile, copy the open file."""
    from leadline.estimation.sampling_errors import FEWEST_JUDGMENTS

    number = sum(map(len, page.queues.judgments().values()))
    count = counted(number, "judgment")
    try:
        page.store.check_files()
    except InputError as error:
        click.echo(f"leadline: error: {InputError(error.found, path=error.path)}", err=True)
        try:
            click.echo(f"{count} copied to {page.store.rescue()}", err=True)
        except InputError as rescue_error:
            click.echo(f"leadline: error: {rescue_error}", err=True)
        return
    command = shlex.join(["leadline", "judge", "--store", store, "--export", "qrels.txt"])
    text = f"{count} in {store}. To export, use `{command}`."
    if page.precision is not None:
        alone = len(page.precision.pool.runs) < 2 or number < FEWEST_JUDGMENTS  # `compare` needs more
        name, runs = ("evaluate", "RUN") if alone else ("compare", "OLD NEW")
        command = f"leadline {name} {shlex.quote(store)} {runs}"
        text = f"{count} in {store}. Next, use `{command}` with {'a run' if alone else 'runs'} of the pool."
    print_line(text if number else f"{count} in {store}")
