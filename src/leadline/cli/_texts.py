"""Options for reading and analysing texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from leadline.cli._help import MODEL, option
from leadline.cli._settings import setting, settings
from leadline.errors import one_of

F = TypeVar("F", bound=Callable[..., Any])


def text_options(function: F) -> F:
    """Add the settings for reading documents and queries."""
    return settings("text.fields", "text.id_column", "read.encoding")(function)


def analysis_options(function: F) -> F:
    """Add the option and the setting of text analysis."""
    return option(
        "Texts",
        "--language",
        metavar="LANGUAGE",
        help=("Language for stemming and stop words, such as german or de, or `none`. [default: english]"),
    )(setting("text.analysis")(function))


def analysis_of(language: str | None, analysis: str | None) -> str:
    """Return the name of the text analysis that the options select."""
    from leadline.text import ANALYSES
    from leadline.text.words import for_language

    one_of({"--language": language, "--config text.analysis": analysis})
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
        help="Retrieval model, such as BM25(k1=0.9,b=0.4) (repeatable). `leadline models` lists them.",
        **attributes,
    )
