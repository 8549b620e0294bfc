"""Search of a collection and scoring of given query-document pairs by the same models, and diverse lists."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.ids import Vocabulary, to_bytes
from leadline.data.table import ResultWarning, raised
from leadline.data.validation import check_numbers, check_whole, refusal
from leadline.data.wording import counted, visible
from leadline.data.wording import queries as queries_of
from leadline.errors import InputError, UnknownNameError, UsageError
from leadline.io.objects import Run, read_qrels, read_run
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.io.texts import TextsLike, read_queries
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import MODELS, Model, Query, ScoredDocuments, best, matching, scores_of
from leadline.text.summaries import Summary, dynamic_summary, matches, static_summary

IndexLike: TypeAlias = "Index | str | os.PathLike[str]"
ModelsLike: TypeAlias = "str | Model | Iterable[str | Model]"


class SearchResult(dict[str, Run]):
    """Runs by model name, with the time per query and warnings.

    Can be passed to `leadline.evaluate`; the names of the runs are the texts of the models, with every
    parameter that a grid varies.
    """

    def __init__(self, index: Index) -> None:
        super().__init__()
        self.index = index
        self.seconds: dict[str, Floats] = {}
        self.warnings: list[ResultWarning] = []

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the index, whose files are mapped into memory."""
        return vars(self) | {"index": None}

    def __missing__(self, name: str) -> Run:
        """Return the run of a model in another spelling, as `BM25` where a grid varies k1."""
        with suppress(UnknownNameError):
            wanted = MODELS.parse(name)
            for title in self:
                if MODELS.parse(title) == wanted:
                    return self[title]
        raise KeyError(name)


class _PreparedQuery(NamedTuple):
    """One query ready to be answered."""

    name: bytes
    text: str
    documents: Integers | None


@public
def search(
    index: IndexLike,
    queries: TextsLike,
    models: ModelsLike = "BM25",
    *,
    k: int = 1000,
    feedback: QrelsLike | None = None,
    on_query: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Rank the documents of an index for every query, by one or more retrieval models.

    Documents that contain at least one query term are retrieved. Ties are in decreasing order of document id.
    A query without a known term retrieves nothing and is counted.

    Parameters
    ----------
    index : Index or path
        The index to search.
    queries : path, mapping or iterable
        Queries, as for `read_queries`.
    models : str, Model or sequence, default "BM25"
        Retrieval models, such as "QLDirichlet(mu=1000)".
    k : int, default 1000
        Number of documents retrieved per query.
    feedback : path, mapping or Qrels, optional
        Judgments for models with relevance feedback, such as `RM3(learn=judged)`; they must not be used to
        evaluate the result.

    Returns
    -------
    SearchResult
        One run per model.

    Examples
    --------
    >>> from leadline.retrieval.index import build_index
    >>> found = search(build_index({"d1": "two wings", "d2": "heat"}), {"q": "wings"}, "BM25")
    >>> list(found["BM25"].to_dict()["q"])
    ['d1']
    """
    check_whole(1, k=k)
    if isinstance(queries, str) and not os.path.splitext(queries)[1] and not os.path.exists(queries):
        raise UsageError(
            f"there is no query file named {queries!r}. To search for a text, pass {{'q': text}}."
        )
    opened, parsed = _ready(index, models, feedback)
    prepared = [_PreparedQuery(to_bytes(query.id), query.content, None) for query in read_queries(queries)]

    def answer(plan: Any, _documents: Integers | None) -> ScoredDocuments:
        return best(matching(plan, opened), opened, k)

    return _answered(opened, parsed, prepared, answer, feedback, on_query)


@public
def score(
    index: IndexLike,
    queries: TextsLike,
    pairs: Iterable[tuple[str, str]] | Mapping[str, Iterable[str]],
    models: ModelsLike,
    *,
    feedback: QrelsLike | None = None,
    on_query: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Score given (query, document) pairs by one or more retrieval models.

    The scores are those of `search`. Every pair of a known query and an indexed document is returned, also
    with score 0; others are counted. Models with pseudo-relevance feedback rank the collection once per
    query.

    Parameters
    ----------
    index : Index or path
        The index.
    queries : path, mapping or iterable
        Queries, as for `read_queries`.
    pairs : iterable of (str, str), or mapping of str to iterable of str
        Query and document ids.
    models : str, Model or sequence
        Retrieval models.
    feedback : path, mapping or Qrels, optional
        Judgments for models with relevance feedback.

    Returns
    -------
    SearchResult
        One run per model.

    Examples
    --------
    >>> from leadline.retrieval.index import build_index
    >>> found = score(build_index({"d1": "two wings", "d2": "heat"}), {"q": "wings"}, [("q", "d2")], "BM25")
    >>> found["BM25"].to_dict()
    {'q': {'d2': 0.0}}
    """
    opened, parsed = _ready(index, models, feedback)
    texts = {to_bytes(query.id): query.content for query in read_queries(queries)}
    documents_of = _grouped(pairs)
    without_text = [name for name in documents_of if name not in texts]
    prepared, unindexed = [], 0
    for name, names in documents_of.items():
        if name not in texts:
            continue
        codes = opened.document_codes(names)
        unindexed += int((codes < 0).sum())
        if (codes >= 0).any():
            prepared.append(_PreparedQuery(name, texts[name], codes[codes >= 0]))
    if not prepared:
        raise InputError(
            "no pair has both a query with a text and an indexed document", hint="Check that the ids match."
        )

    def answer(plan: Any, documents: Integers | None) -> ScoredDocuments:
        assert documents is not None
        scored = ScoredDocuments(documents, scores_of(plan, documents))
        return best(scored, opened, len(documents))

    result = _answered(opened, parsed, prepared, answer, feedback, on_query)
    result.warnings += raised(
        (
            "unindexed_documents",
            f"left out {counted(unindexed, 'pair')} whose document is not indexed",
            unindexed,
        ),
        (
            "unknown_queries",
            f"left out the pairs of {queries_of(len(without_text))} without a text",
            len(without_text),
        ),
    )
    return result


def _ready(index: IndexLike, models: ModelsLike, feedback: QrelsLike | None) -> tuple[Index, list[Model]]:
    """Open the index and parse the models; feedback judgments are required by some models only."""
    given = [models] if isinstance(models, (str, Model)) else list(models)
    parsed = {model: None for model in given if isinstance(model, Model)}
    parsed |= dict.fromkeys(MODELS.expand_all([text for text in given if isinstance(text, str)]))
    if not parsed:
        raise UsageError(
            "no retrieval model was given. Pass one, such as BM25 (`leadline models` lists all models)"
        )
    learns = [str(model) for model in parsed if getattr(model, "learn", "") == "judged"]
    if learns and feedback is None:
        raise UsageError(f"{learns[0]} needs judgments to learn from. Pass them as --feedback QRELS.")
    if feedback is not None and not learns:
        raise UsageError("--feedback needs a model that uses it, such as RM3(learn=judged)")
    return index if isinstance(index, Index) else Index(index), list(parsed)


def _grouped(pairs: Any) -> dict[bytes, list[bytes]]:
    """Group the documents of every query, without duplicates, in the given order."""
    documents_of: dict[bytes, dict[bytes, None]] = {}
    if isinstance(pairs, Mapping):
        for query, documents in pairs.items():
            if isinstance(documents, str) or not isinstance(documents, Iterable):
                raise refusal(f"pairs[{query!r}]", documents, "a list of documents")
            documents_of.setdefault(to_bytes(query), {}).update(dict.fromkeys(map(to_bytes, documents)))
    else:
        for query, document in pairs:
            documents_of.setdefault(to_bytes(query), {})[to_bytes(document)] = None
    return {query: list(documents) for query, documents in documents_of.items()}


def _answered(
    index: Index,
    models: Sequence[Model],
    prepared: Sequence[_PreparedQuery],
    answer: Callable[[Any, Integers | None], ScoredDocuments],
    feedback: QrelsLike | None,
    on_query: Callable[[int, int], None] | None,
) -> SearchResult:
    """Evaluate every query by every model and return the runs."""
    retrieved = SearchResult(index)
    relevant = {} if feedback is None else _relevant(index, feedback)
    unknown, silent = 0, set[bytes]()
    for number, (model, title) in enumerate(zip(models, titles_of(models), strict=True)):
        lists: dict[bytes, ScoredDocuments] = {}
        seconds = []
        for done, (name, text, documents) in enumerate(prepared):
            began = time.perf_counter()
            query = Query.of(index, text)
            with np.errstate(all="ignore"):  # scores that are not finite are refused
                plan = model.plan(index, query, relevant.get(name, np.empty(0, dtype=np.int64)))
                lists[name] = answer(plan, documents)
            seconds.append(time.perf_counter() - began)
            if number == 0:
                unknown += query.unknown
                silent |= set() if query.weights else {name}
            if plan.parts:  # also terms learned from judgments
                silent.discard(name)
            if on_query is not None:
                on_query(number * len(prepared) + done + 1, len(models) * len(prepared))
        retrieved[title] = _run(index, lists, title)
        retrieved.seconds[title] = np.array(seconds)
    learned = sum(len(relevant.get(name, ())) > 0 for name, *_ in prepared)
    untaught = 0 if feedback is None else len(prepared) - learned
    lacking = (
        f"learned nothing for {queries_of(untaught)} without an indexed relevant document in the feedback"
    )
    given = any(documents is not None for *_, documents in prepared)
    nothing = "gave score 0 to all documents for" if given else "found nothing for"
    retrieved.warnings = raised(
        ("no_known_term", f"{nothing} {queries_of(len(silent))} without a known term", len(silent)),
        ("unknown_terms", f"left out {counted(unknown, 'query term')} that no document contains", unknown),
        ("no_feedback", lacking, untaught),
        (
            "learned",
            "a model learned from the feedback judgments, so do not evaluate its run with the same judgments",
            int(learned > 0),
        ),
    )
    return retrieved


def titles_of(models: Sequence[Model]) -> list[str]:
    """Return the texts of models, in which a parameter that some of them vary is never left out.

    >>> titles_of([MODELS.parse("BM25(k1=0.9)"), MODELS.parse("BM25(k1=1.2)"), MODELS.parse("TF")])
    ['BM25(k1=0.9)', 'BM25(k1=1.2)', 'TF(dot)']
    """
    varied: dict[type[Model], set[str]] = {}
    for first, second in combinations(models, 2):
        if type(first) is type(second):
            changed = {name for name in first.parameters() if getattr(first, name) != getattr(second, name)}
            varied.setdefault(type(first), set()).update(changed)
    return [model.text_with(varied.get(type(model), ())) for model in models]


def _relevant(index: Index, feedback: QrelsLike) -> dict[bytes, Integers]:
    """Return the indexed documents of grade 1 or more by query."""
    relevant = {}
    for query, grades in read_qrels(feedback).to_dict().items():
        names = [to_bytes(document) for document, grade in grades.items() if grade >= 1]
        codes = index.document_codes(names)
        relevant[to_bytes(query)] = codes[codes >= 0]
    return relevant


def _run(index: Index, lists: Mapping[bytes, ScoredDocuments], name: str) -> Run:
    """Return a run of sorted lists; queries without results are omitted."""
    filled = sorted(query for query, scored in lists.items() if len(scored.document))
    scores = np.concatenate([lists[query].score for query in filled]) if filled else np.empty(0)
    if not np.isfinite(scores).all():
        raise UsageError(f"the scores by {name} are not finite. Use parameters nearer to their defaults.")
    rows = [index.id_rank[lists[query].document] for query in filled]
    ranks = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    used, codes = np.unique(ranks, return_inverse=True)
    by_id = index.array("by_id")
    return Run.of_columns(
        Vocabulary.of_bytes(filled),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        Vocabulary.of_bytes(index.ids.take(by_id[used])),
        codes.astype(np.int32),
        scores,
        name=name,
        tag=name,
    )


@public
def mmr(
    index: IndexLike,
    run: RunLike | SearchResult,
    *,
    share: float = 0.5,
    depth: int = 100,
    name: str | None = None,
) -> Run:
    """Reorder a run by maximal marginal relevance, so that documents near the top differ from each other.

    The next document is the one with the largest share * relevance - (1 - share) * similarity. Relevance is
    its score, scaled to 0 to 1 within the first `depth` documents. Similarity is the largest cosine with a
    document above it, of vectors (1 + ln tf) ln(1 + N / df). Scores of the result only count places.

    Source: Carbonell and Goldstein 1998.

    Parameters
    ----------
    index : Index or path
        Index of the documents.
    run : run
        The run to reorder, as for `read_run`, or a search result with one run.
    share : float, default 0.5
        Weight of relevance, 0 to 1; 1 keeps the order.
    depth : int, default 100
        Number of documents that are reordered per query; the others follow in their order.
    name : str, optional
        Name of the result; by default that of the run with "MMR(share)".

    Examples
    --------
    >>> from leadline.retrieval.index import build_index
    >>> index = build_index({"a": "jaguar cat", "b": "jaguar cat", "c": "jaguar car"})
    >>> list(mmr(index, {"q": {"a": 3.0, "b": 2.6, "c": 2.5}}).to_dict()["q"])
    ['a', 'c', 'b']
    """
    check_numbers(share=share)
    check_whole(1, depth=depth)
    if not 0 <= share <= 1:
        raise UsageError(f"share must be a number from 0 to 1, not {share}")
    opened = index if isinstance(index, Index) else Index(index)
    if isinstance(run, SearchResult):
        if len(run) > 1:
            raise UsageError(f"mmr reorders one run, but the search returned {len(run)}. Pass one of them.")
        (run,) = run.values()
    given = read_run(run)
    rows = []
    for query, scores in given.to_dict().items():
        documents = list(scores)
        for document, relevance in list(scores.items())[:depth]:
            if not math.isfinite(relevance):
                raise InputError(
                    f"document '{document}' for query '{query}' has the score {relevance:g}, "
                    "which is not finite",
                    path=given.name,
                    hint="Replace this score with a finite number.",
                )
        codes = opened.document_codes(map(to_bytes, documents[:depth]))
        if (codes < 0).any():
            lost = documents[int(np.argmin(codes))]
            raise InputError(
                f"document '{lost}' for query '{query}' is not in the index",
                hint="Pass an index that contains the run's documents.",
            )
        order = _order(_cosines(opened, codes), np.array(list(scores.values())[:depth]), share)
        places = [*(documents[place] for place in order), *documents[depth:]]
        rows += [(query, document, len(places) - rank) for rank, document in enumerate(places)]
    return Run.of(rows, name=name or f"{given.name} MMR({share:g})")


def _order(similarity: Floats, scores: Floats, share: float) -> list[int]:
    """Return the places of documents in the order in which they are chosen."""
    half = scores / 2  # the difference of two finite scores may be infinite
    relevance = (half - half.min()) / (half.max() - half.min() or 1.0)
    nearest, order = np.zeros(len(scores)), list[int]()
    for _ in scores:
        gain = np.round(share * relevance - (1 - share) * nearest, 12)  # what is equal but for rounding ties
        gain[order] = -np.inf
        order.append(int(gain.argmax()))
        nearest = np.maximum(nearest, similarity[order[-1]])
    return order


def _cosines(index: Index, codes: Integers) -> Floats:
    """Return the cosine of every two documents; 0 for one without a term."""
    bags = [index.bag_of(code) for code in codes.tolist()]
    terms, column = np.unique(np.concatenate([terms for terms, _ in bags]), return_inverse=True)
    counts = np.concatenate([counts for _, counts in bags])
    weights = np.zeros((len(bags), len(terms)))
    idf = np.log1p(index.documents / index.document_frequencies[terms])
    row = np.repeat(np.arange(len(bags)), [len(terms) for terms, _ in bags])
    weights[row, column] = (1 + np.log(counts)) * idf[column]
    norms = np.linalg.norm(weights, axis=1)
    unit = weights / np.where(norms > 0, norms, 1.0)[:, None]
    return unit @ unit.T


STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
li { margin: 0 0 1.1rem; } p { margin: .15rem 0; } .title { font-size: 1.05rem; }
.facts { color: light-dark(#555, #aaa); font-size: .85rem; overflow-wrap: anywhere; }
mark { background: none; color: inherit; font-weight: 700; }
"""


class Hit(NamedTuple):
    """A document in a result list; `facts` are its other columns, url first."""

    rank: int
    score: float
    id: str
    title: Summary
    facts: dict[str, str]
    summary: Summary | None


class ResultList(NamedTuple):
    """What a model found for a query."""

    model: str
    query: str
    text: str
    hits: list[Hit]


def result_lists(runs: SearchResult, texts: Mapping[str, str], form: str = "dynamic") -> Iterator[ResultList]:
    """Yield what every model found for every query."""
    for model, run in runs.items():
        lists = run.to_dict()
        for query, text in texts.items():
            yield ResultList(model, query, text, hits_of(runs.index, text, lists.get(query, {}), form))


def hits_of(index: Index, text: str, documents: Mapping[str, float], form: str = "dynamic") -> list[Hit]:
    """Return the documents with title, facts and any summary, the words of the query marked in them."""
    found = []
    codes = index.document_codes(map(to_bytes, documents)).tolist()
    for rank, (document, code) in enumerate(zip(documents, codes, strict=True), start=1):
        record = index.record(code)
        title = str(record.pop("title", "") or "")
        names = sorted((name for name in record if record[name]), key=lambda name: name != "url")
        summary = None
        if index.has_text:
            content = body(title, index.text(code).decode("utf-8", "replace"))
            summary = _summary(index, content, text, form)
        marked = Summary(title, matches(title, text, analysis=index.analysis))
        facts = {name: str(record[name]) for name in names}
        found.append(Hit(rank, documents[document], document, marked, facts, summary))
    return found


def _summary(index: Index, content: str, text: str, form: str) -> Summary:
    if form == "dynamic":
        return dynamic_summary(content, text, analysis=index.analysis)
    summary = static_summary(content, analysis=index.analysis)
    return summary._replace(highlights=matches(summary.text, text, analysis=index.analysis))


def body(title: str, content: str) -> str:
    r"""Return the stored text of a document without the title at its beginning.

    The text of a document that has only a title is the title.

    >>> body("Wings", "Wings\nThey lift."), body("Wings", "Wings\n")
    ('They lift.', 'Wings')
    """
    return content.removeprefix(f"{title}\n") or title if title else content


def page(lists: Iterable[ResultList], notes: Sequence[str] = ()) -> str:
    """Return result lists as an HTML page, which loads nothing and runs nothing."""
    parts = [
        (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Results</title>\n'
            f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style>\n<main>'
        )
    ]
    model = None
    for each in lists:
        if each.model != model:
            parts.append(f"<h1>{_safe(each.model)}</h1>")
            model = each.model
        parts.append(f'<h2 dir="auto">{_safe(each.query)}: {_safe(each.text)}</h2>')
        parts.append("<ol>" if each.hits else "<p>Nothing found.</p>")
        parts += map(_item, each.hits)
        parts += ["</ol>"] if each.hits else []
    parts += [f'<p class="facts">{_safe(note)}</p>' for note in notes]
    return "\n".join([*parts, "</main>\n</html>\n"])


def _item(hit: Hit) -> str:
    """Return a document as an item: the title leads to its url if that is one of the web."""
    title = hit.title.to_html() if hit.title.text else _safe(hit.id)
    url = hit.facts.get("url", "")
    if url.startswith(("http://", "https://")):
        title = f'<a href="{_safe(url)}" rel="noreferrer">{title}</a>'
    facts = [*hit.facts.items(), ("document", hit.id), ("score", f"{hit.score:.4f}")]
    lines = [f'<p class="title" dir="auto">{title}</p>']
    if hit.summary is not None and hit.summary.text:
        lines.append(f'<p dir="auto">{hit.summary.to_html()}</p>')
    shown = " · ".join(_safe(text if name == "url" else f"{name}: {text}") for name, text in facts)
    return "<li>" + "\n".join([*lines, f'<p class="facts">{shown}</p>']) + "</li>"


def _safe(text: str) -> str:
    return escape(visible(" ".join(text.encode("utf-8", "replace").decode().split())))
