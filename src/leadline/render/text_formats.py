"""Tables as aligned plain text, CSV, LaTeX, Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from leadline.data.table import Cell, Preformatted, Probability, RowLabel, Table
from leadline.data.wording import cells as width_of
from leadline.data.wording import visible


def text_columns(table: Table) -> set[int]:
    """Return the columns of text, which are aligned to the left; the first column is always one."""
    columns = {0}
    for index, column in enumerate(zip(*table.rows, strict=True)):
        texts = [cell for cell in column if isinstance(cell, str)]
        if texts and not any(isinstance(cell, Preformatted) for cell in texts):
            columns.add(index)
    return columns


def marked(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return header and cells as text, with stars after best values and letters of significance, aligned."""
    cells = [[shown(cell, table.digits) for cell in row] for row in table.rows]
    starred = {column for _, column in table.best}
    for column in starred:
        for index, row in enumerate(cells):
            row[column] += "*" if (index, column) in table.best else " "
    raised = {column: 0 for _, column in table.letters}
    for (_, column), letters in table.letters.items():
        raised[column] = max(raised[column], len(letters) + 1)
    for column, width in raised.items():
        for index, row in enumerate(cells):
            row[column] += f" {table.letters.get((index, column), '')}".ljust(width)
    padding = [" " * ((column in starred) + raised.get(column, 0)) for column in range(len(table.columns))]
    return [visible(name) + blanks for name, blanks in zip(table.columns, padding, strict=True)], cells


def aligned(text: str, width: int, *, left: bool) -> str:
    """Pad a text with blanks to a width in terminal cells."""
    blanks = " " * max(width - width_of(text), 0)
    return text + blanks if left else blanks + text


def shown(cell: Cell, digits: int) -> str:
    """Return the text of a cell; undefined values are dashes, control characters are escaped."""
    if cell is None:
        return "-"
    if isinstance(cell, Probability) and 0 < cell < 0.5 * 10.0**-digits:
        return f"<{10.0**-digits:.{digits}f}"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return visible(str(cell))


QUOTED = {",": r'[,"\r\n]', "\t": r'[\t"\r\n]'}
FORMULA = r"(?s)'*[=+\-@\t\r]."
PAPER = {"run": "System"}  # headings in LaTeX
LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
}
NEGATIVE = r"-(?=[0-9.]+$)"
# A backslash, a star, a backquote, the start of a tag, a character reference, strikethrough or mathematics,
# the end of the text of a link, and an underscore that is not inside a word.
MARKDOWN_SPECIAL = r"[\\*`~]|<(?=[a-zA-Z/!?])|&(?=#?\w+;)|\$|\](?=[(:\[])|(?<![^\W_])_|_(?![^\W_])"
LEFT, RIGHT = ' style="text-align: left"', ' style="text-align: right"'


def write_plain(table: Table) -> str:
    """Return a table as aligned plain text with all rows and columns, for files and pipes."""
    head, cells = marked(table)
    widths = [max(map(width_of, column)) for column in zip(head, *cells, strict=True)]
    left = text_columns(table)
    lines = [visible(table.title), ""] if table.title else []
    for row in (head, *cells):
        padded = (
            aligned(text, width, left=column in left)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(padded).rstrip())
    if table.best:
        lines += ["", "* best"]
    lines += ["", *map(visible, table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def write_csv(table: Table, comma: str = ",") -> str:
    """Return a table as CSV or TSV with a header; undefined values and row labels are empty.

    A spreadsheet takes a text cell that begins with `=`, `+`, `-` or `@` for a formula. Such a cell is
    prefixed with an apostrophe, and so is one that begins with apostrophes before such a character, so that
    removing one apostrophe restores the text. Commands that read result tables remove it. Numbers and text
    of a single character are not prefixed.
    """
    rows: list[Sequence[Cell]] = [table.columns, *table.rows]
    lines = (comma.join(_csv_cell(cell, QUOTED[comma]) for cell in row) for row in rows)
    return "".join(f"{line}\n" if line else '""\n' for line in lines)


def guarded(text: str) -> str:
    """Prefix a text with an apostrophe if a spreadsheet would take it for a formula.

    >>> guarded("=1+1"), guarded("bm25"), guarded("'-x"), guarded("-")
    ("'=1+1", 'bm25', "''-x", '-')
    """
    return f"'{text}" if re.match(FORMULA, text) else text


def _csv_cell(cell: Cell, quoted: str) -> str:
    if cell is None or isinstance(cell, RowLabel):
        return ""
    if isinstance(cell, float):
        return float.__repr__(cell)
    text = str(cell)
    if isinstance(cell, str) and not isinstance(cell, Preformatted):
        text = guarded(text)
    # The csv module leaves a carriage return unquoted, at which readers end the row.
    if re.search(quoted, text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _formatted_rows(
    table: Table, escaped: Callable[[str], str], *, best: str, letters: str
) -> Iterator[list[str]]:
    """Yield the cells of each row, with the formats `best` and `letters` applied where they hold."""
    for index, row in enumerate(table.rows):
        cells = []
        for column, cell in enumerate(row):
            text = escaped(shown(cell, table.digits))
            if (index, column) in table.best:
                text = best % text
            if raised := table.letters.get((index, column)):
                text += letters % escaped(raised)
            cells.append(text)
        yield cells


def write_latex(table: Table) -> str:
    """Return a table as LaTeX (booktabs), best values in bold; with a caption, a float of a paper."""
    left = text_columns(table)
    alignment = "".join("l" if column in left else "r" for column in range(len(table.columns)))
    rows = _formatted_rows(table, _latex_cell, best=r"\textbf{%s}", letters=r"\rlap{\textsuperscript{%s}}")
    headings = (table.paper.get(name, PAPER.get(name, name)) for name in table.columns)
    before = [r"\begin{table}", r"\centering", r"\small", rf"\caption{{{latex_text(table.caption)}}}"]
    lines = [
        *(before if table.caption else ()),
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(map(latex_text, headings)) + r" \\",
        r"\midrule",
        *(" & ".join(cells) + r" \\" for cells in rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([r"\end{table}"] if table.caption else ()),
        *(f"% {visible(note)}" for note in table.notes),
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(text: str) -> str:
    """Escape a cell; a negative number has the sign of mathematics."""
    return re.sub(NEGATIVE, r"$-$", text) if re.match(NEGATIVE, text) else latex_text(text)


def latex_text(text: str) -> str:
    """Escape a text for LaTeX; control characters are shown as their escapes."""
    return "".join(LATEX_SPECIAL.get(letter, letter) for letter in visible(text))


def write_markdown(table: Table) -> str:
    """Return a table as Markdown with the best values in bold."""
    left = text_columns(table)
    alignment = ["---" if column in left else "---:" for column in range(len(table.columns))]
    rows = _formatted_rows(table, _markdown_cell, best="**%s**", letters="<sup>%s</sup>")
    lines = [
        "| " + " | ".join(map(_markdown_cell, table.columns)) + " |",
        "|" + "".join(f" {rule} |" for rule in alignment),
        *("| " + " | ".join(cells) + " |" for cells in rows),
    ]
    lines += ["", *map(plain_text, table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def _markdown_cell(text: str) -> str:
    return re.sub(r"(?<!\\)_|\|", lambda match: "\\" + match[0], plain_text(text))


def plain_text(text: str) -> str:
    r"""Escape a sentence so that Markdown does not format it.

    >>> print(plain_text("<b> and *x* and ql_jm"))
    \<b> and \*x\* and ql_jm
    """
    return re.sub(MARKDOWN_SPECIAL, lambda match: "\\" + match[0], visible(text))


def write_html(table: Table) -> str:
    """Return an HTML table with the best values in bold and the notes below; all text is escaped."""
    left = text_columns(table)
    styles = [LEFT if column in left else RIGHT for column in range(len(table.columns))]
    lines = ["<table>"]
    if table.title:
        lines.append(f"<caption>{html_text(table.title)}</caption>")
    head = "".join(
        f"<th{style}>{html_text(name)}</th>" for style, name in zip(styles, table.columns, strict=True)
    )
    lines += ["<thead>", f"<tr>{head}</tr>", "</thead>", "<tbody>"]
    for row in _formatted_rows(table, html_text, best="<strong>%s</strong>", letters="<sup>%s</sup>"):
        cells = "".join(f"<td{style}>{cell}</td>" for style, cell in zip(styles, row, strict=True))
        lines.append(f"<tr>{cells}</tr>")
    lines += ["</tbody>", "</table>"]
    if table.notes:
        lines.append("<p>" + "<br>\n".join(map(html_text, table.notes)) + "</p>")
    return "\n".join(lines) + "\n"


def html_text(text: str) -> str:
    r"""Escape a text for HTML; control characters are shown as their escapes.

    >>> html_text("<b>\x1b")
    '&lt;b&gt;\\x1b'
    """
    from html import escape  # its table of entities is slow to import

    return escape(visible(text)).encode("utf-8", "backslashreplace").decode()
