"""Texts as arrays of word codes, for topic models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from leadline.data.arrays import Codes
from leadline.data.ids import Vocabulary, to_bytes
from leadline.errors import InputError, UsageError
from leadline.io.texts import Document, TextsLike, name_of, read_documents
from leadline.text import ANALYSES, Analysis
from leadline.text.words import for_language

WHOLE = "text"  # name of the language of a monolingual model


@dataclass(frozen=True)
class Corpus:
    """Tokens by document, then language, then position; the words of all languages share one numbering.

    `first[l]` is the number of the first word of language l. `unknown` counts the tokens not in the
    vocabularies.
    """

    ids: list[str]
    vocabularies: list[Vocabulary]
    document: Codes
    word: Codes
    language: Codes
    unknown: int = 0

    @property
    def first(self) -> list[int]:
        """Number of the first word of every language, and the number of words."""
        return list(accumulate(map(len, self.vocabularies), initial=0))

    @property
    def empty(self) -> int:
        """Number of documents without a token."""
        return len(self.ids) - len(np.unique(self.document))


def analyses_of(languages: Sequence[str], analysis: str | Analysis | None) -> list[Analysis]:
    """Return the analysis of every language: its stemmer and stop words, or the given analysis."""
    if analysis is not None:
        parsed = analysis if isinstance(analysis, Analysis) else ANALYSES.parse(analysis)
        return [parsed] * len(languages)
    return [ANALYSES.parse("Words") if name == WHOLE else for_language(name) for name in languages]


def read_columns(
    source: TextsLike, columns: Sequence[str], id_column: str | None, encoding: str
) -> tuple[list[str], list[list[str]]]:
    """Read the texts of some columns: ids, and per column the text of every document."""
    single_text = list(columns) == [WHOLE]
    fields = () if single_text else (columns[0],)
    documents = list(read_documents(source, fields=fields, id_column=id_column, encoding=encoding))
    if not documents:
        raise InputError("there are no documents", path=name_of(source), hint="Pass at least one document.")
    rest = [[_text_of(document, name, source) for document in documents] for name in columns[1:]]
    return [document.id for document in documents], [[document.content for document in documents], *rest]


def _text_of(document: Document, column: str, source: Any) -> str:
    value = document.more.get(column, "")
    if column not in document.more or not isinstance(value, str | None):
        raise InputError(
            f"document '{document.id}' has no text in column '{column}'",
            path=name_of(source),
            line=document.place,
            hint="Write a text in each language for every document.",
        )
    return value or ""


def corpus_of(
    ids: list[str],
    texts: Sequence[Sequence[str]],
    analyses: Sequence[Analysis],
    vocabularies: Sequence[Vocabulary] | None = None,
) -> Corpus:
    """Tokenize texts, one column per language; vocabularies are built unless given."""
    terms = [
        [list(map(to_bytes, how.terms(text))) for text in column]
        for column, how in zip(texts, analyses, strict=True)
    ]
    by_language = (
        list(vocabularies)
        if vocabularies is not None
        else [
            Vocabulary.of_bytes(term for terms_of_document in column for term in terms_of_document)
            for column in terms
        ]
    )
    first = np.cumsum([0, *map(len, by_language)])
    columns = []
    unknown = 0
    for language, (column, vocabulary) in enumerate(zip(terms, by_language, strict=True)):
        sizes = list(map(len, column))
        code = vocabulary.encode(term for terms_of_document in column for term in terms_of_document)
        document = np.repeat(np.arange(len(ids)), sizes)
        unknown += int((code < 0).sum())
        in_vocabulary = code >= 0
        columns.append(
            (
                document[in_vocabulary],
                code[in_vocabulary] + first[language],
                np.full(in_vocabulary.sum(), language),
            )
        )
    document, word, spoken = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.argsort(document, kind="stable")
    ordered = [column[order].astype(np.int32) for column in (document, word, spoken)]
    return Corpus(ids, by_language, ordered[0], ordered[1], ordered[2], unknown)


def check_languages(languages: Sequence[str]) -> list[str]:
    """Return the languages of a model without duplicates; none means monolingual text."""
    checked = list(languages) or [WHOLE]
    if len(set(checked)) < len(checked):
        raise UsageError(
            f"the languages {', '.join(checked)} are not all different. Name each language once."
        )
    return checked
