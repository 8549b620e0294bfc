"""Topic models: stored in one file, and fitted by collapsed Gibbs sampling (LDA, polylingual)."""

from __future__ import annotations

import importlib
import io
import json
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Codes, Floats
from leadline.data.ids import Ids, Vocabulary, to_bytes
from leadline.data.optional import import_optional, require
from leadline.data.validation import check_whole, check_word, refusal
from leadline.errors import InputError, UsageError, either
from leadline.io.opening import open_raw
from leadline.io.read_paths import path_of, public, record_input
from leadline.io.run_names import unread_files
from leadline.io.texts import Document, TextsLike, read_documents, read_either
from leadline.io.write import write_whole
from leadline.text import ANALYSES, Analysis
from leadline.text.words import for_language
from leadline.version import VERSION


def gibbs_kernel() -> Any:
    """Return the Gibbs sampling kernel, compiled if available."""
    package = "leadline.kernels" if kernels.compiled is None else "leadline.kernels.compiled"
    try:
        return importlib.import_module(f"{package}.gibbs")
    except ImportError:
        return importlib.import_module("leadline.kernels.gibbs")


def topic_counts(rows: Codes, latent: Codes, shape: tuple[int, int]) -> Floats:
    """Return counts of rows x topics."""
    flat = rows.astype(np.int64) * shape[1] + latent
    return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def draw_buffers(topics: int) -> tuple[Floats, Floats]:
    """Return buffers for the weights of a draw, padded to blocks of 16, and for the sums of blocks."""
    blocks = (topics + 15) // 16
    return np.zeros(16 * blocks), np.zeros(blocks)


class Sampler:
    """Collapsed Gibbs sampler: a sweep draws the topics of all tokens.

    The weight of topic t for a token of language l is (n_t(tuple, all languages) + alpha_t) (n_tw(l) + beta)
    / (n_t(l) + V_l beta), with counts that exclude the token.
    """

    def __init__(self, corpus: Corpus, alpha: Floats, beta: float, chance: np.random.Generator) -> None:
        topics = len(alpha)
        self.corpus = corpus
        self.alpha = alpha
        self.beta = beta
        self.chance = chance
        self.latent = chance.integers(0, topics, len(corpus.word)).astype(np.int32)
        languages, words = len(corpus.vocabularies), corpus.first[-1]
        self.by_document = topic_counts(corpus.document, self.latent, (len(corpus.ids), topics))
        self.by_word = topic_counts(corpus.word, self.latent, (words, topics))
        self.total = topic_counts(corpus.language, self.latent, (languages, topics))
        self.mass = np.array([max(len(vocabulary), 1) * beta for vocabulary in corpus.vocabularies])
        self.inverse = 1 / (self.total + self.mass[:, None])
        self.buffers = draw_buffers(topics)

    def train(self, sweeps: int, on_sweep: Callable[[int], None]) -> None:
        """Run the given number of sweeps, and report each."""
        for number in range(sweeps):
            self.sweep()
            on_sweep(number + 1)

    def sweep(self) -> None:
        """Draw the topic of every token once."""
        corpus = self.corpus
        gibbs_kernel().sweep(
            corpus.document,
            corpus.word,
            corpus.language,
            self.latent,
            self.chance.random(len(corpus.word)),
            self.alpha,
            np.full(len(self.mass), self.beta),
            self.mass,
            self.by_document,
            self.by_word,
            self.total,
            self.inverse,
            *self.buffers,
        )

    def phi(self) -> Floats:
        """Return the probability of every word under every topic, by language."""
        language = np.repeat(
            np.arange(len(self.mass)), [len(vocabulary) for vocabulary in self.corpus.vocabularies]
        )
        probabilities: Floats = (self.by_word + self.beta) * self.inverse[language]
        return probabilities

    def theta(self) -> Floats:
        """Return the topic distribution of every document."""
        probabilities: Floats = self.by_document + self.alpha
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities


def log_likelihood(corpus: Corpus, theta: Floats, phi: Floats) -> float:
    """Return the mean over tokens of ln sum_t theta_dt phi_tw; NaN where there is none."""
    if not len(corpus.word):
        return float("nan")
    total = 0.0
    block = 1 << 14  # small enough that both operands stay in the processor cache
    for begin in range(0, len(corpus.word), block):
        part = slice(begin, begin + block)
        distributions = theta[corpus.document[part]], phi[corpus.word[part]]
        total += float(np.log(np.einsum("ij,ij->i", *distributions)).sum())
    return total / len(corpus.word)


class TomotopyChain:
    """Chain of tomotopy for one language, with fixed priors and one worker for reproducibility."""

    def __init__(self, corpus: Corpus, alpha: Floats, beta: float, seed: int) -> None:
        self.corpus = corpus
        self.alpha = alpha
        with warnings.catch_warnings():  # at import, which would be mistaken for a missing package
            warnings.simplefilter("ignore")
            tomotopy = import_optional("tomotopy")
        self.model: Any = tomotopy.LDAModel(
            k=len(alpha), alpha=float(alpha[0]), eta=beta, seed=seed % (1 << 63)
        )
        self.model.optim_interval = 0
        ends = np.searchsorted(corpus.document, np.arange(len(corpus.ids) + 1))
        self.filled = np.flatnonzero(np.diff(ends))
        names = [str(code) for code in range(corpus.first[-1])]
        for index in self.filled.tolist():
            words = corpus.word[ends[index] : ends[index + 1]].tolist()
            self.model.add_doc([names[code] for code in words])

    def train(self, sweeps: int, on_sweep: Callable[[int], None]) -> None:
        """Run the given number of sweeps."""
        self.model.train(sweeps, workers=1)  # one worker repeats exactly
        on_sweep(sweeps)

    def phi(self) -> Floats:
        """Return the probability of every word under every topic."""
        codes = [int(name) for name in self.model.used_vocabs]
        probabilities = np.zeros((self.corpus.first[-1], len(self.alpha)))
        for topic in range(len(self.alpha)):
            probabilities[codes, topic] = self.model.get_topic_word_dist(topic)
        return probabilities

    def theta(self) -> Floats:
        """Return the topic distribution of every document."""
        probabilities = np.full((len(self.corpus.ids), len(self.alpha)), 1 / len(self.alpha))
        probabilities[self.filled] = [document.get_topic_dist() for document in self.model.docs]
        return probabilities


# Number of times the likelihood of a chain is computed; with tomotopy each takes the time of some sweeps.
LOOKS = {"leadline": 10, "tomotopy": 2}


class _Chain(NamedTuple):
    phi: Floats
    history: list[tuple[int, float]]


@public
def fit(
    documents: TextsLike,
    topics: int,
    *,
    languages: Sequence[str] = (),
    analysis: str | Analysis | None = None,
    alpha: float | None = None,
    beta: float = 0.01,
    sweeps: int = 500,
    restarts: int = 1,
    seed: int = 0,
    sampler: str | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
    on_sweep: Callable[[int, int], None] | None = None,
) -> TopicModel:
    """Fit a topic model: LDA, or with several languages a polylingual topic model.

    The same seed gives the same model.

    >>> model = fit({"a": "wing tail wing", "b": "heat flow"}, 2, sweeps=20)
    >>> model.topics, len(model.phi)
    (2, 4)
    """
    named = check_languages(languages)
    engine = sampler or ("tomotopy" if len(named) == 1 else "leadline")
    check_whole(0, seed=seed)
    check_whole(1, topics=topics, sweeps=sweeps, restarts=restarts)
    for name, given in (("beta", beta), ("alpha", alpha)):
        if given is not None and not 1e-30 <= given <= 1e30:  # single precision in tomotopy
            raise refusal(name, given, "a number from 1e-30 to 1e30")
    check_word(("tomotopy", "leadline"), sampler=engine)
    if engine == "tomotopy" and len(named) > 1:
        raise UsageError("sampler='tomotopy' does not support several languages. Use sampler='leadline'.")
    if engine == "tomotopy":
        require("LDA of one language")
    analyses = analyses_of(named, analysis)
    read = _read(documents, named, id_column, encoding)
    unread = unread_files(documents, {getattr(one.place, "path", "") for one in read})
    corpus = corpus_of(*_columns_of(read, named, documents), analyses)
    del read  # the texts need not stay in memory while topics are drawn
    if not len(corpus.word):
        raise InputError(
            "no words are left in the documents after the text analysis",
            path=path_of(documents),
            hint="Check that the documents contain text and that the analysis does not remove every word.",
        )
    prior = np.full(topics, 50 / topics if alpha is None else alpha)
    chains = []
    for restart in range(restarts):

        def advance(done: int, before: int = restart * sweeps) -> None:
            if on_sweep is not None:
                on_sweep(before + done, restarts * sweeps)

        chains.append(_run(corpus, prior, beta, sweeps, (seed, restart), engine, advance))
    best = max(range(restarts), key=lambda restart: (chains[restart].history[-1][1], -restart))
    facts: dict[str, Any] = {
        "seed": seed,
        "sweeps": sweeps,
        "beta": beta,
        "sampler": engine,
        "kept": best,
        "restarts": [chain.history[-1][1] for chain in chains],
        "history": chains[best].history,
        "documents": len(corpus.ids),
        "tokens": len(corpus.word),
        "empty": corpus.empty,
        "unread_files": list(unread[1:]),
    }
    return TopicModel(named, analyses, corpus.vocabularies, chains[best].phi, prior, facts)


def _run(
    corpus: Corpus,
    alpha: Floats,
    beta: float,
    sweeps: int,
    seed: tuple[int, int],
    engine: str,
    on_sweep: Callable[[int], None],
) -> _Chain:
    """Run one chain and record its likelihood at intervals."""
    count = LOOKS[engine]
    recorded = sorted({max(1, round(sweeps * step / count)) for step in range(1, count + 1)})
    history: list[tuple[int, float]] = []
    chain: Sampler | TomotopyChain
    if engine == "tomotopy":
        chain_seed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        chain = TomotopyChain(corpus, alpha, beta, chain_seed)
    else:
        chain = Sampler(corpus, alpha, beta, np.random.default_rng(seed))
    for begin, end in pairwise([0, *recorded]):
        chain.train(end - begin, lambda done, begin=begin: on_sweep(begin + done))  # type: ignore[misc]
        phi = chain.phi()
        history.append((end, log_likelihood(corpus, chain.theta(), phi)))
    return _Chain(phi, history)


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
        raise UsageError(
            f"{error} If the columns are not named after languages, pass an analysis, such as "
            "--config text.analysis=Words."
        ) from None


def read_columns(
    source: TextsLike, columns: Sequence[str], id_column: str | None, encoding: str, *, queries: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Read the texts of some columns: ids, and per column the text of every document."""
    read = _read(source, columns, id_column, encoding, queries=queries)
    return _columns_of(read, columns, source, "query" if queries else "document")


def _read(
    source: TextsLike, columns: Sequence[str], id_column: str | None, encoding: str, *, queries: bool = False
) -> list[Document]:
    read = read_either if queries else read_documents
    fields = () if list(columns) == [WHOLE] else (columns[0],)
    documents = list(read(source, fields=fields, id_column=id_column, encoding=encoding))
    if not documents:
        noun, one = ("queries", "query") if queries else ("documents", "document")
        raise InputError(f"there are no {noun}", path=path_of(source), hint=f"Pass at least one {one}.")
    return documents


def _columns_of(
    documents: list[Document], columns: Sequence[str], source: TextsLike, noun: str = "document"
) -> tuple[list[str], list[list[str]]]:
    rest = [[_text_of(document, name, source, noun) for document in documents] for name in columns[1:]]
    return [document.id for document in documents], [[document.content for document in documents], *rest]


def _text_of(document: Document, column: str, source: Any, noun: str) -> str:
    value = document.more.get(column, "")
    if column not in document.more:
        raise InputError(
            f"{noun} '{document.id}' has no column '{column}'",
            path=path_of(source),
            line=document.place,
            hint=f"Each {noun} needs one text column per language of the model",
        )
    if not isinstance(value, str | None):
        raise InputError(
            f"column '{column}' of {noun} '{document.id}' is of type {type(value).__name__}, not text",
            path=path_of(source),
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
    if isinstance(languages, str):
        raise refusal("languages", languages, "a list of languages")
    checked = list(languages) or [WHOLE]
    if len(set(checked)) < len(checked):
        raise UsageError(f"the languages {', '.join(checked)} include a duplicate. Name each language once.")
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
            if self.languages == [WHOLE]:
                raise UsageError(
                    f"there is no language '{language}' in a model fitted without languages. Leave the "
                    "language out."
                )
            found = "no language was given" if language is None else f"the model has no language '{language}'"
            raise UsageError(f"{found}. Use {either(self.languages)}.")
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
        with open_raw(name) as raw, np.load(raw, allow_pickle=False) as file:
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
    except InputError:
        raise
    except (OSError, KeyError, ValueError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
        raise InputError(
            "this is not a complete topic model", path=name, hint="Pass a file from `leadline topics fit`."
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
