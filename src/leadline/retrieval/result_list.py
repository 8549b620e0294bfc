"""Result lists for people: title, url, metadata and a summary of every document, as data and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from leadline.data.ids import to_bytes
from leadline.data.wording import visible
from leadline.retrieval.index.reader import Index
from leadline.retrieval.search import SearchResult
from leadline.text.summaries import Summary, dynamic_summary, matches, static_summary

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
