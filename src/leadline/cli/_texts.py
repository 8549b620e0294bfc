"""Options for reading and analysing texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from leadline.cli._help import ANALYSIS, MODEL, add_options, option
from leadline.errors import one_of

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

    one_of({"--language": language, "--analysis": analysis})
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
