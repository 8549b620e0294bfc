"""Options for reading and analysing texts, and the output of commands without runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from leadline.cli._help import ANALYSIS, MODEL, add_options, option
from leadline.cli._results import envelope, escaped, json_text, print_warnings, table_text
from leadline.data.results import ResultWarning
from leadline.data.table import Table
from leadline.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def text_options(function: F) -> F:
    """Add the options for reading documents and queries."""
    return add_options(
        function,
        (
            option(
                "Texts",
                "--field",
                "fields",
                multiple=True,
                metavar="COLUMN",
                help="Column of the text (repeatable). [default: title and text]",
            ),
            option("Texts", "--id", "id_column", metavar="COLUMN", help="Column of the ids."),
            option(
                "Texts",
                "--encoding",
                default="utf-8",
                show_default=True,
                help="Character encoding of text files, as in latin-1.",
            ),
        ),
    )


def analysis_options(function: F) -> F:
    """Add the options of text analysis."""
    return add_options(
        function,
        (
            option(
                "Texts",
                "--language",
                metavar="LANGUAGE",
                help="Language of the stemmer and the stop words, as in german or de; `none` for neither. "
                "[default: english]",
            ),
            option(
                "Texts",
                "--analysis",
                type=ANALYSIS,
                metavar="NAME",
                help="Text analysis, as in Words(stem=porter,stop=none) or Characters(n=4).",
            ),
        ),
    )


def analysis_of(language: str | None, analysis: str | None) -> str:
    """Return the name of the text analysis that the options select."""
    from leadline.text import ANALYSES
    from leadline.text.words import for_language

    if language is not None and analysis is not None:
        raise UsageError("--language and --analysis; expected one of them")
    return str(ANALYSES.parse(analysis or "Words") if language is None else for_language(language))


def models_option(**attributes: Any) -> Callable[[F], F]:
    """Add `-m/--model`."""
    return click.option(
        "-m",
        "--model",
        "models",
        type=MODEL,
        multiple=True,
        metavar="MODEL",
        help="Retrieval model, as in BM25(k1=0.9,b=0.4) (repeatable); `leadline models` lists them.",
        **attributes,
    )


def summary_text(
    command: str,
    inputs: Sequence[dict[str, Any]],
    options: dict[str, Any],
    warnings: Sequence[ResultWarning],
    data: dict[str, Any],
    table: Table,
    form: str,
    *,
    to_file: bool = False,
) -> str:
    """Return a result as JSON with its envelope, as JSON Lines, or as a table with the warnings below it."""
    if form == "json":
        return json_text(envelope(command, inputs, options, warnings) | data)
    if form == "jsonl":
        import json

        print_warnings(warnings)
        return escaped(json.dumps(data, ensure_ascii=False)) + "\n"
    table.notes = list(dict.fromkeys([*table.notes, *map(str, warnings)]))  # the table may have them already
    if form == "csv":
        print_warnings(warnings)
    return table_text(table, form, to_file=to_file)
