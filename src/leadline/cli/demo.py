"""`leadline demo`: the tour on the embedded data."""

from __future__ import annotations

import os

import click

from leadline.cli._help import typed
from leadline.cli._outputs import Outputs, inputs_of, print_line, write_output
from leadline.data.optional import require
from leadline.data.wording import counted
from leadline.errors import MissingPackageError, UsageError, both, one_of
from leadline.io.read_paths import check_outputs
from leadline.io.write import write_whole
from leadline.render import View, render, suffix_of

SECTION = "Files and collections"

MEASURES = ("AP", "nDCG@10", "P@5", "R@100", "Judged@10")
ABOUT = """\
Can an LLM do the judging? Here a title-only retriever stands in for one: it calls its own top ten
relevant. The run `circular` ranks exactly those on top."""


def command(
    context: click.Context, /, output: str, form: str, folder: str | None, collection: str | None
) -> None:
    """Evaluate eight bundled runs on Cranfield and write a report.

    The demo ends by ranking the runs three times: with an automatic judge's labels, with these labels and 20
    human judgments per query, and with all human judgments.

    All data is part of the package, except the texts of XQuAD, which --collection xquad downloads if they are
    missing.

    Example: leadline demo -o tour.html

    Options
    -------
    -o, --output FILE | Output | OUTPUT | = "leadline-demo.html"
        Write the HTML report to FILE.
    -f, --format FORMAT as form | Output | FORMATS | = "table"
        Print as table, csv, tsv, json, jsonl, markdown, latex, html or none (nothing).
    --files FOLDER as folder | OUTPUT
        Write the files of a bundled collection to FOLDER, instead of running the demo. If any of the files
        already exists with different content, nothing is written.
    --collection | cranfield/xquad/examples
        Collection to write with --files: cranfield (judgments, runs and an automatic judge's labels), xquad
        (judgments, and paragraphs and questions in English, German and Chinese) or examples (the small files
        used in the documentation). [default: cranfield]
    """
    if folder is not None:
        one_of({"--files": folder} | typed(context, "output", "form"))
        _write_files(folder, collection)
        return
    both({"--collection": collection}, {"--files FOLDER": folder})
    if suffix_of(output) not in (".html", ".htm"):
        raise UsageError(f"-o {output}: the demo writes an HTML page. Use a name that ends in .html.")
    from leadline.demo import qrels_path, run_paths
    from leadline.io.objects import read_qrels

    qrels, runs = read_qrels(qrels_path()), run_paths()
    verbose = form == "table"
    if verbose:
        print_line(
            f"leadline demo: Cranfield, {len(qrels.queries)} queries, {len(qrels.grades):,} judgments, "
            f"{len(runs)} runs (bundled with leadline, no download)\n"
        )
    from leadline.evaluation.evaluate import evaluate

    results = evaluate(qrels, runs, MEASURES)
    from leadline.demo import trial, trial_table

    circular = trial(qrels, runs)
    view = View(results, extra={"circular": [row._asdict() for row in circular.rows]})
    Outputs(form, ()).write("demo", view, lambda: inputs_of(results, qrels_path(), len(qrels.grades)))
    if verbose:
        print_line("\n" + ABOUT + "\n")
        write_output(render(trial_table(circular), form))
    try:
        require("HTML pages")
    except MissingPackageError as error:
        click.echo(f"leadline: could not write {output}: {error}", err=True)
        return
    from leadline.demo import demo_page
    from leadline.evaluation.curves import curve

    content = demo_page(
        results, curve(qrels, runs), collection="Cranfield", judgments=len(qrels.grades), circular=circular
    )
    write_whole(output, content.encode())
    if verbose:
        print_line(f"\nwrote {output} (open it in a browser)")
        print_line("next: `leadline evaluate QRELS RUN...` or `leadline measures nDCG`")


def _write_files(folder: str, collection: str | None) -> None:
    """Write the embedded files of a collection without compression."""
    if collection == "xquad":
        from leadline.demo.xquad import files
    elif collection == "examples":
        from leadline.demo import example_files as files
    else:
        from leadline.demo import files

    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--files {folder} is a file. Pass a folder instead.")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--files {folder}: cannot create this folder ({error.strerror})") from None
    contents = {os.path.join(folder, name): content for name, content in files()}
    check_outputs(*contents)
    kept = [path for path, content in contents.items() if _differs(path, content)]
    if kept:
        more = (
            f" and {counted(len(kept) - 1, 'more file')} already exist"
            if len(kept) > 1
            else " already exists"
        )
        raise UsageError(
            f"{kept[0]}{more} with different content, so nothing was written. Choose another folder."
        )
    for path, content in contents.items():
        write_whole(path, content)
    names = list(map(os.path.basename, contents))
    click.echo(f"wrote {len(names)} files to {folder}: {', '.join(names)}")


def _differs(path: str, content: bytes) -> bool:
    """Return whether a file exists and has other content."""
    try:
        with open(path, "rb") as file:
            return file.read() != content
    except FileNotFoundError:
        return False
