"""`leadline summary`: a static or dynamic summary of a document."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any, NamedTuple

import click

from leadline.cli._help import Command
from leadline.cli._options import displays, formats_option, output_option, whole, write_output
from leadline.cli._results import describe_input
from leadline.cli._texts import analysis_of, analysis_options, facts_text, text_options
from leadline.data.results import ResultWarning
from leadline.data.wording import folded, visible
from leadline.errors import UsageError
from leadline.reporting.render import Table
from leadline.text.summaries import dynamic_summary, static_summary
from leadline.text.summary_windows import Summary

SECTION = "Retrieval"

MOST = 100_000  # ids among which the nearest to an unknown one are looked for


class SummaryOutput(NamedTuple):
    """A document: its title and text, how its text becomes terms, and what should be said of it."""

    title: str
    text: str
    analysis: str
    warnings: list[ResultWarning]

    @property
    def heading(self) -> str:
        """Return the title, where it is not all that there is."""
        return "" if self.title == self.text else self.title


@click.command(
    cls=Command, epilog='Example: leadline summary docs.jsonl --doc d42 --query "flow past a wing" --words 30'
)
@click.argument("source", metavar="DOCS-or-INDEX")
@click.option("--doc", required=True, metavar="ID", help="Id of the document.")
@click.option("--query", metavar="TEXT", help="Query of a dynamic summary; matches are marked.")
@click.option(
    "--words",
    type=whole(),
    default=50,
    show_default=True,
    metavar="N",
    help="Maximum number of words of the summary.",
)
@click.option(
    "--windows",
    type=whole(),
    default=2,
    show_default=True,
    metavar="N",
    help="Maximum number of windows, with --query.",
)
@click.option(
    "--static",
    "kind",
    type=click.Choice(["first", "sentences"]),
    help="Kind of static summary: first words, or key sentences. [default: first]",
)
@analysis_options
@text_options
@formats_option("html")
@output_option
def command(
    *,
    source: str,
    doc: str,
    query: str | None,
    words: int,
    windows: int,
    kind: str | None,
    language: str | None,
    analysis: str | None,
    form: str,
    output: str | None,
    **reading: Any,
) -> None:
    """Summarise a document, statically or for a query.

    The document is one of DOCS, or one whose text is stored in INDEX (`leadline index --store-text`). A
    dynamic summary (with --query) shows the windows that contain the query as a phrase, else those that
    contain most of its words close together. A static summary shows the first words, or the sentences nearest
    to the centroid of the text.
    """
    if query is not None and kind is not None:
        raise UsageError("--query and --static; expected one of them")
    how = None if language is None and analysis is None else analysis_of(language, analysis)
    found = in_index(source, doc, how) if os.path.isdir(source) else in_documents(source, doc, how, reading)
    kind = "dynamic" if query is not None else kind or "first"
    made = (
        dynamic_summary(found.text, query, words=words, windows=windows, analysis=found.analysis)
        if query is not None
        else static_summary(found.text, words=words, kind=kind, analysis=found.analysis)
    )
    if query is not None and not made.highlights and made.text:
        found.warnings.append(
            ResultWarning("no_match", "nothing of the query is in the document: its first words", 1)
        )
    options = {
        "doc": doc,
        "query": query,
        "words": words,
        "windows": windows,
        "kind": kind,
        "analysis": found.analysis,
    } | reading
    data = {
        "doc": doc,
        "title": found.title,
        "summary": made.text,
        "highlights": [list(span) for span in made.highlights],
    }
    inputs = [describe_input(source, 1)]
    if form in {"table", "html"}:
        text = page_of(found, made) if form == "html" else plain_text(found, made, to_file=output is not None)
    else:
        sheet = Table(["doc", "title", "summary"], [[doc, found.title, made.text]])
        text = facts_text("summary", inputs, options, found.warnings, data, sheet, form)
    write_output(text, output)


def in_index(path: str, doc: str, how: str | None) -> SummaryOutput:
    """Find a document whose text is stored in an index."""
    from leadline.data.ids import to_bytes, to_text
    from leadline.retrieval.index import open_index

    index = open_index(path)
    code = int(index.document_codes([to_bytes(doc)])[0])
    if code < 0:
        known = map(to_text, index.ids) if index.documents <= MOST else ()
        raise UsageError(f"no document '{doc}' in {path}; {nearest(doc, list(known))}")
    title = str(index.record(code).get("title") or "")
    text = index.text(code).decode("utf-8", "replace")
    warnings = []
    if index.is_outdated():
        warnings.append(ResultWarning("outdated", "the source of the index has changed since", 1))
    if index.header["options"].get("prefix"):
        stored = f"only the first {index.header['options']['prefix']:,} bytes of a text are stored"
        warnings.append(ResultWarning("prefix", stored, 1))
    return SummaryOutput(title, body(title, text), how or str(index.analysis), warnings)


def in_documents(path: str, doc: str, how: str | None, reading: dict[str, Any]) -> SummaryOutput:
    """Find a document of a file; it is read no further than that."""
    from leadline.io.texts import read_documents

    known: list[str] = []
    for document in read_documents(path, **reading):
        if document.id == doc:
            return SummaryOutput(document.title, document.text or document.title, how or "Words", [])
        if len(known) < MOST:
            known.append(document.id)
    raise UsageError(f"no document '{doc}' in {path}; {nearest(doc, known)}")


def body(title: str, content: str) -> str:
    r"""Return the text of a document without its title, which the stored text begins with.

    A document without a text has its title for one.

    >>> body("Wings", "Wings\nThey lift."), body("Wings", "Wings\n")
    ('They lift.', 'Wings')
    """
    return content.removeprefix(f"{title}\n") or title if title else content


def nearest(doc: str, known: list[str]) -> str:
    """Return which ids come nearest to an unknown one."""
    import difflib

    close = difflib.get_close_matches(doc, known, n=3, cutoff=0.5)
    return "nearest: " + ", ".join(close) if close else "expected the id of a document"


def plain_text(found: SummaryOutput, made: Summary, *, to_file: bool) -> str:
    """Write it for people: the title, the summary, and what should be said."""
    bold = not to_file and sys.stdout.isatty()
    head = [Summary(found.heading).to_terminal()] if found.heading else []
    warnings = [] if displays("quiet") else [visible(str(notice)) for notice in found.warnings]
    lines = "\n".join([*head, made.to_terminal(bold=bold), *warnings]).split("\n")
    if bold:
        width = shutil.get_terminal_size((100, 24)).columns
        lines = [part for line in lines for part in folded(line, width)]
    return "\n".join(lines) + "\n"


def page_of(found: SummaryOutput, made: Summary) -> str:
    """Write it as a piece of a page; text of any direction is shown as it runs."""
    title = Summary(found.heading).to_html()
    head = f'<h3 dir="auto">{title}</h3>\n' if title else ""
    return f'{head}<p dir="auto">{made.to_html()}</p>\n'
