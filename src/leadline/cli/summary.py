"""`leadline summary`: a static or dynamic summary of a document."""

from __future__ import annotations

import shutil
import sys
from typing import Any, NamedTuple

import click

from leadline.cli._help import typed
from leadline.cli._inputs import analysis_of
from leadline.cli._outputs import Outputs, describe_input
from leadline.data.table import ResultWarning, Table, raised
from leadline.data.wording import folded, visible
from leadline.errors import UsageError, both, did_you_mean, one_of
from leadline.render import View
from leadline.result import Facts
from leadline.text.summaries import Summary, dynamic_summary, static_summary

SECTION = "Retrieval"

MOST = 100_000  # ids among which similar ones to an unknown id are searched


class SummaryOutput(NamedTuple):
    """A document with its text analysis and warnings."""

    title: str
    text: str
    analysis: str
    warnings: list[ResultWarning]

    @property
    def heading(self) -> str:
        """Return the title, empty if the document has no other text."""
        return "" if self.title == self.text else self.title


def command(
    context: click.Context,
    /,
    *,
    source: str,
    doc: str,
    query: str | None,
    words: int,
    windows: int,
    kind: str | None,
    language: str | None,
    analysis: str | None,
    outputs: Outputs,
    **reading: Any,
) -> None:
    """Summarize a document, statically or for a query.

    The document is one of DOCS, or one whose text is stored in INDEX (`leadline index --store-text`). With
    INDEX, the default text analysis is that of the index. A dynamic summary (with --query) prefers passages
    that contain the query as a phrase, then passages with the most query words close together. A static
    summary shows the first words, or the sentences closest to the centroid of the text.

    Example: leadline summary docs.jsonl --doc d01 --query "bowline knot" --words 30

    Options
    -------
    source : DOCS-or-INDEX
    --doc ID | required
        Id of the document to summarize.
    --query TEXT
        Query for a dynamic summary. Matches are marked.
    --words N | int 1.. | = 50
        Maximum number of words in the summary.
    --static as kind | first/sentences
        Kind of static summary: the first words, or the key sentences. [default: first]
    use analysis, texts
    -C summary.windows
    -o
    """
    from leadline.retrieval.index.index_files import holds_index

    one_of({"--query": query, "--static": kind})
    both(typed(context, "windows"), {"--query": query})
    of_text = query or (kind == "sentences")
    both(typed(context, "language", "analysis"), {"--query or --static sentences": of_text})
    if holds_index(source):
        one_of({"INDEX": True} | typed(context, *reading))
    analysis_ = None if language is None and analysis is None else analysis_of(language, analysis)
    found = in_index if holds_index(source) else in_documents
    document = found(source, doc, analysis_, reading)
    how: dict[str, Any] = {"words": words, "analysis": document.analysis}
    if query is None:
        kind = kind or "first"
        summary = static_summary(document.text, kind=kind, **how)
    else:
        kind, where = "dynamic", "stored text" if holds_index(source) else "text"
        summary = dynamic_summary(document.text, query, windows=windows, **how)
        if summary.text and not summary.highlights:
            without_match = f"no query term occurs in the {where}, so its first words are shown"
            document.warnings.append(ResultWarning("no_match", without_match, 1))
    options = {
        "doc": doc,
        "query": query,
        "words": words,
        "windows": windows,
        "kind": kind,
        "analysis": document.analysis,
    } | reading
    data = {
        "doc": doc,
        "title": document.title,
        "summary": summary.text,
        "highlights": [list(span) for span in summary.highlights],
    }
    sheet = Table(["doc", "title", "summary"], [[doc, document.title, summary.text]])
    view = View(Facts(sheet, data, warnings=document.warnings), lines="*")
    view.texts = {
        "table": plain_text(document, summary, to_file=bool(outputs.files)),
        "html": page_of(document, summary),
    }
    outputs.write("summary", view, lambda: [describe_input(source, 1)], options)


def in_index(path: str, doc: str, requested: str | None, _reading: dict[str, Any]) -> SummaryOutput:
    """Find a document whose text is stored in an index."""
    from leadline.data.ids import to_bytes, to_text
    from leadline.retrieval.index import open_index
    from leadline.retrieval.search import body

    index = open_index(path)
    code = int(index.document_codes([to_bytes(doc)])[0])
    if code < 0:
        known = map(to_text, index.ids) if index.documents <= MOST else ()
        raise unknown(doc, path, list(known))
    title = str(index.record(code).get("title") or "")
    text = index.text(code).decode("utf-8", "replace")
    prefix = index.header["options"].get("prefix") or 0
    warnings = raised(
        ("outdated", index.outdated, int(index.is_outdated())),
        ("prefix", f"the index stores only the first {prefix:,} bytes of each text", int(prefix > 0)),
    )
    return SummaryOutput(title, body(title, text), requested or str(index.analysis), warnings)


def in_documents(path: str, doc: str, requested: str | None, reading: dict[str, Any]) -> SummaryOutput:
    """Find a document in a file, which is read no further."""
    from leadline.io.texts import read_documents

    known: list[str] = []
    for document in read_documents(path, **reading):
        if document.id == doc:
            return SummaryOutput(document.title, document.text or document.title, requested or "Words", [])
        if len(known) < MOST:
            known.append(document.id)
    raise unknown(doc, path, known)


def unknown(doc: str, path: str, known: list[str]) -> UsageError:
    """Return the error for an unknown id, with the most similar ones."""
    hint = did_you_mean(doc, known, cutoff=0.5) or "Check the document id."
    return UsageError(f"there is no document '{doc}' in {path}. {hint}")


def plain_text(document: SummaryOutput, summary: Summary, *, to_file: bool) -> str:
    """Return title, summary and warnings as printed text."""
    bold = not to_file and sys.stdout.isatty()
    title = [Summary(document.heading).to_terminal()] if document.heading else []
    warnings = [visible(str(notice)) for notice in document.warnings]
    lines = "\n".join([*title, summary.to_terminal(bold=bold), *warnings]).split("\n")
    if bold:
        width = shutil.get_terminal_size((100, 24)).columns
        lines = [part for line in lines for part in folded(line, width)]
    return "\n".join(lines) + "\n"


def page_of(document: SummaryOutput, summary: Summary) -> str:
    """Return title and summary as HTML; the direction of the text is detected by the browser."""
    title = Summary(document.heading).to_html()
    head = f'<h3 dir="auto">{title}</h3>\n' if title else ""
    return f'{head}<p dir="auto">{summary.to_html()}</p>\n'
