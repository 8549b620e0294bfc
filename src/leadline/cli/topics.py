"""`leadline topics`: topic models of one or more languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from leadline.cli._help import Group, option
from leadline.cli._options import progress, seed_option, whole
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._results import describe_input
from leadline.cli._settings import settings
from leadline.data.records import ResultWarning
from leadline.data.table import Cell, Table
from leadline.data.validation import LIMITS
from leadline.data.wording import counted
from leadline.errors import both
from leadline.render.view import View
from leadline.result import Facts

SECTION = "Retrieval"

F = TypeVar("F", bound=Callable[..., Any])


def reading_options(function: F) -> F:
    """Add what tells how to read the documents of a model."""
    language = option(
        "Texts",
        "--language",
        metavar="LANGUAGE",
        help="Language of the documents, one that the model was fitted to.",
    )
    return language(seed_option(settings("topics.field", "text.id_column", "read.encoding")(function)))


@click.group(cls=Group, epilog="Example: leadline topics fit docs.jsonl -T 50 -o model.npz")
def command() -> None:
    """Fit and apply topic models: LDA and polylingual LDA.

    Here, a topic is a distribution over words. TREC topics are called queries.
    """


@command.command(epilog="Example: leadline topics fit pairs.tsv -T 100 --languages de,en -o model.npz")
@click.argument("docs")
@click.option(
    "-T", "count", type=whole(1, LIMITS["topics"]), required=True, metavar="T", help="Number of topics."
)
@option(
    "Texts",
    "--languages",
    metavar="A,B",
    help="Columns with the texts, one per language, for a polylingual model.",
)
@settings(
    *(f"topics.{name}" for name in ("alpha", "beta", "sweeps", "restarts")),
    *("text.analysis", "text.id_column", "read.encoding"),
)
@seed_option
@output_options(thing="MODEL")
def fit(*, docs: str, count: int, languages: str | None, outputs: Outputs, **options: Any) -> None:
    """Fit a topic model to a collection by Gibbs sampling."""
    from leadline.topics.fit import fit as work

    named = [name.strip() for name in languages.split(",")] if languages else []
    with progress("sweeps") as on_sweep:
        model = work(docs, count, languages=named, on_sweep=on_sweep, **options)
    model.save(str(outputs.thing))
    facts = model.facts
    data = {
        "languages": model.languages,
        "documents": facts["documents"],
        "tokens": facts["tokens"],
        "words": len(model.phi),
        "log_likelihood": facts["history"][-1][1],
        "history": facts["history"],
        "restarts": facts["restarts"],
    }
    rows: list[list[Cell]] = [
        ["documents", f"{facts['documents']:,}"],
        ["tokens", f"{facts['tokens']:,}"],
        ["words", f"{len(model.phi):,}"],
        ["log-likelihood per token", data["log_likelihood"]],
    ]
    empty = int(facts["empty"])
    warnings = [
        ResultWarning("empty_documents", f"ignored {counted(empty, 'document')} without any term", empty)
    ]
    recorded = {"k": count, "output": outputs.thing, "languages": named} | options
    inputs = [describe_input(docs, facts["documents"])]
    table = Table(["fact", "value"], rows, wrapped=frozenset({"value"}))
    view = View(Facts(table, data, warnings=warnings if empty else []), lines="*")
    outputs.write("topics fit", view, lambda: inputs, recorded)


@command.command(epilog="Example: leadline topics infer model.npz docs.jsonl -o vectors.jsonl")
@click.argument("model")
@click.argument("docs")
@reading_options
@output_options(thing="VECTORS")
def infer(*, model: str, docs: str, outputs: Outputs, **options: Any) -> None:
    """Infer the topic vectors of documents, seen or unseen."""
    from leadline.topics.infer import infer as work
    from leadline.topics.infer import write_vectors
    from leadline.topics.model import read_model

    vectors = work(read_model(model), docs, **options)
    write_vectors(vectors, output := str(outputs.thing))
    warnings = unknown_warnings(vectors.unknown, vectors.empty)
    data = {"documents": len(vectors.ids), "unknown_tokens": vectors.unknown}
    table = Table(
        ["fact", "value"],
        [["documents", f"{len(vectors.ids):,}"], ["written", output]],
        wrapped=frozenset({"value"}),
    )
    inputs = [describe_input(model, 1), describe_input(docs, len(vectors.ids))]
    recorded = {"output": output} | options
    view = View(Facts(table, data, warnings=warnings), lines="*")
    outputs.write("topics infer", view, lambda: inputs, recorded)


@command.command(epilog="Example: leadline topics perplexity model.npz held-out.jsonl")
@click.argument("model")
@click.argument("docs")
@settings("topics.estimator", "topics.particles")
@reading_options
@output_options()
def perplexity(*, model: str, docs: str, outputs: Outputs, **options: Any) -> None:
    """Compute the perplexity of a model on held-out documents (lower is better)."""
    from leadline.topics.infer import perplexity as work
    from leadline.topics.model import read_model

    result = work(read_model(model), docs, **options)
    data = {"perplexity": result.value, "tokens": result.tokens, "unknown_tokens": result.unknown}
    table = Table(["fact", "value"], [["perplexity", result.value], ["tokens", f"{result.tokens:,}"]])
    inputs = [describe_input(model, 1), describe_input(docs, result.documents)]
    warnings = unknown_warnings(result.unknown, 0)
    view = View(Facts(table, data, warnings=warnings), lines="*")
    outputs.write("topics perplexity", view, lambda: inputs, options)


@command.command(
    epilog="Example: leadline topics search m.npz en.tsv de.tsv --query-language de --language en -o p.run"
)
@click.argument("model")
@click.argument("docs")
@click.argument("queries")
@click.option(
    "-k", type=whole(), default=1000, show_default=True, help="Number of documents retrieved per query."
)
@option("Texts", "--query-language", "source", metavar="LANGUAGE", help="Language of QUERIES.")
@option("Texts", "--language", "target", metavar="LANGUAGE", help="Language of DOCS.")
@settings("topics.distance", "topics.field", "text.id_column", "read.encoding")
@seed_option
@output_options(thing="RUN")
def search(
    *,
    model: str,
    docs: str,
    queries: str,
    k: int,
    distance: str,
    source: str | None,
    target: str | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Rank the documents of DOCS by the distance of their topics from those of each query.

    QUERIES are also documents. --query-language and --language name two different languages. If some
    documents in DOCS have the same ids as queries, such as translations, P@1 is the share of these queries
    that rank the matching document first.
    """
    from leadline.io.objects import write_run
    from leadline.topics.distances import count_top_mates, nearest
    from leadline.topics.infer import infer as work
    from leadline.topics.model import read_model

    both({"--query-language": source}, {"--language": target})
    both({"--language": target}, {"--query-language": source})
    topic_model = read_model(model)
    query_vectors = work(topic_model, queries, language=source, **options)
    document_vectors = work(topic_model, docs, language=target, **options)
    run = nearest(query_vectors, document_vectors, k=k, distance=distance)
    write_run(run, output := str(outputs.thing))
    first, mates = count_top_mates(run)
    share = first / mates if mates else None
    data = {
        "queries": len(query_vectors.ids),
        "documents": len(document_vectors.ids),
        "run": output,
        "mates": mates,
        "p1": share,
    }
    rows: list[list[Cell]] = [
        ["queries", str(len(query_vectors.ids))],
        ["documents", str(len(document_vectors.ids))],
        ["queries with a matching document", str(mates)],
        ["P@1", share],
    ]
    warnings = unknown_warnings(
        query_vectors.unknown + document_vectors.unknown, query_vectors.empty + document_vectors.empty
    )
    inputs = [
        describe_input(model, 1),
        describe_input(docs, len(document_vectors.ids)),
        describe_input(queries, len(query_vectors.ids)),
    ]
    recorded = {"output": output, "k": k, "distance": distance, "from": source, "to": target} | options
    table = Table(["fact", "value"], rows, wrapped=frozenset({"value"}))
    view = View(Facts(table, data, warnings=warnings), lines="*")
    outputs.write("topics search", view, lambda: inputs, recorded)


def unknown_warnings(unknown: int, empty: int) -> list[ResultWarning]:
    """Return warnings about unknown tokens, and about documents without known ones."""
    warnings = [
        ResultWarning(
            "unknown_tokens", f"ignored {counted(unknown, 'token')} outside the model's vocabulary", unknown
        ),
        ResultWarning(
            "empty_documents",
            f"{counted(empty, 'document')} without any known token: the topics are the prior",
            empty,
        ),
    ]
    return [notice for notice in warnings if notice.count]
