"""The text analysis that options select."""

from __future__ import annotations

from leadline.errors import one_of


def analysis_of(language: str | None, analysis: str | None) -> str:
    """Return the name of the text analysis that the options select."""
    from leadline.text import ANALYSES
    from leadline.text.words import for_language

    one_of({"--language": language, "--config text.analysis": analysis})
    return str(ANALYSES.parse(analysis or "Words") if language is None else for_language(language))
