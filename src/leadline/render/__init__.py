"""Tables of results and their formats: terminal, plain text, CSV, LaTeX, Markdown, HTML, trec_eval."""

from __future__ import annotations

import sys

from leadline.data.table import Table
from leadline.data.wording import visible


def render(table: Table, form: str, *, to_file: bool = False) -> str:
    """Return a table in a format; a terminal gets the rows and columns that fit, a file all of them.

    Parameters
    ----------
    table : Table
        Table to write.
    form : {"table", "terminal", "csv", "tsv", "latex", "markdown", "html"}
        Format.
    to_file : bool, default False
        Whether the text goes to a file rather than to standard output.
    """
    on_terminal = not to_file and sys.stdout.isatty()
    if form == "terminal" or (form == "table" and on_terminal):
        from leadline.render import terminal

        return terminal.write(table)
    from leadline.render import text_formats

    if form in ("csv", "tsv"):
        text = text_formats.write_csv(table, "," if form == "csv" else "\t")
        return visible(text, lines=True) if on_terminal else text
    writers = {
        "table": text_formats.write_plain,
        "latex": text_formats.write_latex,
        "markdown": text_formats.write_markdown,
        "html": text_formats.write_html,
    }
    return writers[form](table)
