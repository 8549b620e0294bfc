"""A LaTeX table in the manner of booktabs, the best values in bold."""

from __future__ import annotations

from leadline.data.wording import visible
from leadline.reporting.render import Table, shown, text_columns

SPECIAL = {
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
}


def write(sheet: Table) -> str:
    """Write a sheet as LaTeX; needs the package booktabs."""
    left = text_columns(sheet)
    sides = "".join("l" if place in left else "r" for place in range(len(sheet.columns)))
    lines = [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        " & ".join(map(escaped, sheet.columns)) + r" \\",
        r"\midrule",
    ]
    for place, row in enumerate(sheet.rows):
        cells = [escaped(shown(cell, sheet.digits)) for cell in row]
        for column in range(len(cells)):
            if (place, column) in sheet.best:
                cells[column] = rf"\textbf{{{cells[column]}}}"
        for column in range(len(cells)):
            if letters := sheet.letters.get((place, column)):
                cells[column] += rf"\rlap{{\textsuperscript{{{escaped(letters)}}}}}"
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [f"% {visible(note)}" for note in sheet.notes]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Write text so that LaTeX shows it as it is; a control character is shown as its escape."""
    return "".join(SPECIAL.get(letter, letter) for letter in visible(text))
