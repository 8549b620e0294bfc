"""Topic models, stored in one file, and texts as arrays of word codes."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from leadline.data.arrays import Codes, Floats
from leadline.data.ids import Ids, Vocabulary, to_bytes
from leadline.errors import InputError, UsageError, either
from leadline.io.read_paths import record_input
from leadline.io.texts import Document, TextsLike, name_of, read_documents
from leadline.io.write import write_whole
from leadline.text import ANALYSES, Analysis
from leadline.text.words import for_language
from leadline.version import VERSION

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
    try:
        return [ANALYSES.parse("Words") if name == WHOLE else for_language(name) for name in languages]
    except UsageError as error:
        raise UsageError(f"{error} With --config text.analysis, the columns can have any names.") from None


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
    if column not in document.more:
        raise InputError(
            f"document '{document.id}' has no column '{column}'", path=name_of(source), line=document.place
        )
    if not isinstance(value, str | None):
        raise InputError(
            f"column '{column}' of document '{document.id}' is of type {type(value).__name__}, not text",
            path=name_of(source),
            line=document.place,
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


FORMAT = "leadline topics 1"


@dataclass(frozen=True)
class TopicModel:
    """Topics of one or more languages.

    `phi[w, t]` is the probability of word w under topic t; the words of all languages share one numbering,
    and the probabilities of each language sum to 1. `alpha[t]` is the Dirichlet prior. `facts["restarts"]`
    has the last log-likelihood of every restart.
    """

    languages: list[str]
    analyses: list[Analysis]
    vocabularies: list[Vocabulary]
    phi: Floats
    alpha: Floats
    facts: dict[str, Any]

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.alpha)

    @property
    def history(self) -> list[tuple[int, float]]:
        """Pairs of sweep and log-likelihood per training token."""
        return [(int(sweep), float(value)) for sweep, value in self.facts["history"]]

    def words(self, topic: int, *, language: str | None = None, count: int = 10) -> list[str]:
        """Return the most probable words of a topic."""
        index = self.language_index(language)
        first = int(sum(map(len, self.vocabularies[:index])))
        vocabulary = self.vocabularies[index]
        probabilities = self.phi[first : first + len(vocabulary), topic]
        return [vocabulary[code] for code in np.argsort(-probabilities, kind="stable")[:count].tolist()]

    def language_index(self, language: str | None) -> int:
        """Return the index of a language; optional for a monolingual model."""
        if language is None and len(self.languages) == 1:
            return 0
        if language not in self.languages:
            found = "no language was given" if language is None else f"the model has no language '{language}'"
            one = self.languages == [WHOLE]
            if one:
                found += ", because it was fitted without --languages. Leave out the language options"
            else:
                found += f". Use {either(self.languages)}"
            raise UsageError(found)
        return self.languages.index(language)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically."""
        header = {
            "format": FORMAT,
            "leadline": VERSION,
            "languages": self.languages,
            "analyses": list(map(str, self.analyses)),
            "facts": self.facts,
        }
        arrays: dict[str, Any] = {"phi": self.phi, "alpha": self.alpha}
        for index, vocabulary in enumerate(self.vocabularies):
            names = Ids.of(vocabulary.names)
            arrays |= {f"text{index}": names.text, f"stop{index}": names.stop}
        target = io.BytesIO()
        np.savez_compressed(target, header=np.array(json.dumps(header)), **arrays)
        write_whole(os.fspath(path), target.getvalue())

    def __repr__(self) -> str:
        return f"TopicModel({self.topics} topics, {', '.join(self.languages)}, {len(self.phi)} words)"


def read_model(path: str | os.PathLike[str]) -> TopicModel:
    """Read a model written by `save`; raise InputError if it is damaged or another file."""
    name = os.fspath(path)
    record_input(name)
    try:
        with open(name, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            if header["format"] != FORMAT:
                raise InputError(
                    f"the topic model has the format '{header['format']}', not '{FORMAT}'",
                    path=name,
                    hint="Fit it again with `leadline topics fit`.",
                )
            vocabularies = [
                _vocabulary(file[f"text{index}"], file[f"stop{index}"])
                for index in range(len(header["languages"]))
            ]
            phi, alpha = file["phi"], file["alpha"]
            languages, facts = list(header["languages"]), dict(header["facts"])
            analyses: list[Analysis] = [ANALYSES.parse(text) for text in header["analyses"]]
    except FileNotFoundError:
        raise InputError("no such file", path=name) from None
    except (OSError, KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        unread = isinstance(error, OSError) and error.strerror
        raise InputError(
            f"cannot be read ({unread})" if unread else "this is not a complete topic model",
            path=name,
            hint="Pass a file from `leadline topics fit`.",
        ) from None
    if phi.shape != (sum(map(len, vocabularies)), len(alpha)):
        raise InputError(
            "the parts of the topic model are inconsistent",
            path=name,
            hint="Fit it again with `leadline topics fit`.",
        )
    return TopicModel(languages, analyses, vocabularies, phi, alpha, facts)


def _vocabulary(text: Any, stop: Any) -> Vocabulary:
    start = np.concatenate(([0], stop[:-1])) if len(stop) else stop
    return Vocabulary.of_bytes(Ids(text, start, stop))
