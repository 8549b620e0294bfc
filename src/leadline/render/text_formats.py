"""Tables as text fitted to a terminal, aligned plain text, CSV, LaTeX, Markdown and HTML."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from leadline.data.table import Cell, Limit, Preformatted, Probability, RowLabel, Table, digits_beside_zero
from leadline.data.wording import cells as width_of
from leadline.data.wording import folded, shortened, terminal_columns, visible


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
    if isinstance(cell, Probability) and 0 < cell < 10.0**-digits:
        return f"<{10.0**-digits:.{digits}f}"
    if isinstance(cell, Limit):
        digits = digits_beside_zero(digits, cell)
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
# the end of the text of a link, an underscore not inside a word, and the start of a quote, list or heading.
MARKDOWN_SPECIAL = (
    r"[\\*`~]|<(?=[a-zA-Z/!?])|&(?=#?\w+;)|\$|\](?=[(:\[])|(?<![^\W_])_|_(?![^\W_])|^>|^[-+#](?=#*\s)"
)
NUMBERED = r"^(\d+)(?=[.)]\s)"  # start of a numbered list
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
        *(f"% {visible(note)}" for note in table.notes if note),
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
    lines += [line for note in filter(None, table.notes) for line in ("", plain_text(note))]
    return "\n".join(lines) + "\n"


def _markdown_cell(text: str) -> str:
    return re.sub(r"(?<!\\)_|\|", lambda match: "\\" + match[0], plain_text(text))


def plain_text(text: str) -> str:
    r"""Escape a sentence so that Markdown does not format it.

    >>> print(plain_text("<b> and *x* and ql_jm"))
    \<b> and \*x\* and ql_jm
    """
    text = re.sub(MARKDOWN_SPECIAL, lambda match: "\\" + match[0], visible(text))
    return re.sub(NUMBERED, r"\1\\", text)


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


HEAD, TAIL = 20, 5
NAME = 12  # minimum width of names as long as columns can be dropped instead
PROSE = 24  # minimum width of columns of sentences
GAP = 2  # blanks between columns
NUMBER = re.compile(r"[-+<]?[\d.,:]*\d[\d.,:]*(?:e[-+]?\d+)?(?: ?%)?\*? ?", re.IGNORECASE)
BEST, HEADING, PLAIN = "\x1b[1;32m", "\x1b[1m", "\x1b[0m"


class Layout(NamedTuple):
    """Columns that are shown, their widths, and columns that are dropped."""

    shown: list[int]
    widths: dict[int, int]
    dropped: list[int]


def write_terminal(table: Table) -> str:
    """Return a table as text for the width of the terminal; omitted rows and columns are noted below.

    Names are shortened in the middle and sentences are wrapped. If that is not enough, columns are dropped:
    first those of `table.optional` in their order, then columns of numbers from the right, then columns of
    text from the right. The first column and the first column of numbers are kept.
    """
    width = max(terminal_columns(100), 10)
    head, body = marked(table)
    rows = list(enumerate(body)) if table.whole else _chosen(body)
    layout = fit(table, head, [row for _, row in rows], width)
    lines = [*folded(visible(table.title), width), ""] if table.title else []
    lines += _table(table, head, rows, layout)
    if table.best:
        lines += ["", f"{_paint('*', BEST)} best"]
    omitted = _left_out(table, layout, len(body) - len([index for index, _ in rows if index >= 0]))
    if table.notes or omitted:
        lines += ["", *(line for note in table.notes for line in folded(visible(note), width))]
        lines += [line for note in omitted for line in folded(note, width)]
    return "\n".join(lines) + "\n"


def fit(table: Table, head: list[str], body: list[list[str]], width: int) -> Layout:
    """Return the columns and widths with which rows fit into a width in terminal cells."""
    columns = list(zip(head, *body, strict=True))
    natural = [max(map(width_of, column)) for column in columns]
    text = text_columns(table)
    minimal = list(natural)
    for index in text:
        prose = table.columns[index] in table.wrapped
        numbers = [width_of(column) for column in columns[index] if NUMBER.fullmatch(column)]
        lower_limit = PROSE if prose else NAME
        minimal[index] = min(natural[index], max(lower_limit, width_of(head[index]), *numbers, 0))
    columns_shown = list(range(len(columns)))
    dropped: list[int] = []
    for index in drop_order(table):
        if _width(columns_shown, minimal) <= width:
            break
        columns_shown.remove(index)
        dropped.append(index)
    widths = {index: minimal[index] for index in columns_shown}
    over = _width(columns_shown, minimal) - width
    for index in sorted(text & set(columns_shown), key=lambda index: -widths[index]):
        if over > 0:  # on a very narrow terminal names are truncated rather than numbers
            removed = min(over, max(widths[index] - 3, 0))
            widths[index] -= removed
            over -= removed
    _grow(widths, natural, -over, [p for p in columns_shown if table.columns[p] not in table.wrapped])
    _grow(widths, natural, width - _width(columns_shown, widths), columns_shown)
    return Layout(columns_shown, widths, sorted(dropped))


def drop_order(table: Table) -> list[int]:
    """Return the columns in the order in which they are dropped."""
    first = [table.columns.index(name) for name in table.optional if name in table.columns]
    text = text_columns(table)
    from_right = range(len(table.columns) - 1, 0, -1)
    numbers = [column for column in from_right if column not in text]
    later = [*numbers[:-1], *(column for column in from_right if column in text)]
    return [*first, *(column for column in later if column not in first)]


def _width(columns: list[int], widths: list[int] | dict[int, int]) -> int:
    return sum(widths[place] for place in columns) + GAP * max(len(columns) - 1, 0)


def _grow(widths: dict[int, int], natural: list[int], spare: int, columns: list[int]) -> None:
    """Distribute spare width_of, always to the narrowest column that is below its natural width."""
    while spare > 0:
        wanting = [column for column in columns if widths[column] < natural[column]]
        if not wanting:
            return
        widths[min(wanting, key=lambda column: widths[column])] += 1
        spare -= 1


def _table(table: Table, head: list[str], rows: list[tuple[int, list[str]]], layout: Layout) -> list[str]:
    """Return the lines of the header and the rows."""
    left = text_columns(table)
    columns = {}
    for index in layout.shown:
        column = [head[index], *(row[index] for _, row in rows)]
        width = layout.widths[index]
        if table.columns[index] in table.wrapped:
            columns[index] = [folded(text, width) for text in column]
        else:
            short = dict(zip(column[1:], shortened(column[1:], width), strict=True))
            columns[index] = [shortened(column[:1], width), *([short[text]] for text in column[1:])]
    lines = []
    for number, row_index in enumerate([None, *(index for index, _ in rows)]):
        height = max(len(columns[index][number]) for index in layout.shown)
        for level in range(height):
            parts = []
            for index in layout.shown:
                texts = columns[index][number]
                text = texts[level] if level < len(texts) else ""
                padded = aligned(text, layout.widths[index], left=index in left)
                content = text.strip()
                if row_index is None:
                    padded = padded.replace(content, _paint(content, HEADING))
                elif (row_index, index) in table.best:
                    padded = padded.replace(content, _paint(content, BEST))
                parts.append(padded)
            lines.append((" " * GAP).join(parts).rstrip(" "))
    return lines


def _left_out(table: Table, layout: Layout, rows: int) -> list[str]:
    """Return notes on omitted rows and columns."""
    notes = []
    if layout.dropped:
        names = ", ".join(visible(table.columns[column]) for column in layout.dropped)
        notes.append(f"columns hidden at this width: {names} (to see all, add `| less -S`)")
    if rows:
        notes.append(f"rows hidden: {rows:,} (to see all, add `| less`)")
    return notes


def _paint(text: str, code: str) -> str:
    """Return a text in color, unless NO_COLOR is set or the terminal has no colors."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not text.strip():
        return text
    return f"{code}{text}{PLAIN}"


def _chosen(body: list[list[str]]) -> list[tuple[int, list[str]]]:
    """Return the rows to show with their indices: all, or head, dots (index -1) and tail."""
    rows = list(enumerate(body))
    if len(rows) <= HEAD + TAIL + 1:
        return rows
    dots = (-1, ["...", *([""] * (len(body[0]) - 1))])
    return [*rows[:HEAD], dots, *rows[-TAIL:]]
