"""`leadline topics`: topic models of one or more languages."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._outputs import Outputs, progress
from leadline.data.table import Cell, ResultWarning, Table, raised
from leadline.data.wording import counted
from leadline.errors import InputError, one_of, together

SECTION = "Retrieval"


def command() -> None:
    """Fit and apply topic models: LDA and polylingual LDA.

    Here, a topic is a distribution over words. TREC topics are called queries.

    Example: leadline topics fit docs.jsonl -T 50 -o model.npz
    """


def fit(*, docs: str, count: int, languages: str | None, outputs: Outputs, **options: Any) -> None:
    """Fit a topic model to a collection by Gibbs sampling.

    Example: leadline topics fit pairs.tsv -T 100 --languages de,en -o model.npz

    Options
    -------
    docs
    -T T as count | int 1..10000 | required
        Number of topics.
    --languages A,B | Texts
        Text columns for a polylingual model, each named after its language, such as de,en. With
        -C text.analysis, the columns can have any names.
    use seed
    -C read.encoding, text.id_column, text.analysis, topics.restarts, topics.sweeps, topics.beta, topics.alpha
    -o | thing MODEL
    """
    from leadline.topics.model import fit as work

    output = outputs.named()
    named = [name.strip() for name in languages.split(",")] if languages else []
    with progress("sweeps") as on_sweep:
        model = work(docs, count, languages=named, on_sweep=on_sweep, **options)
    model.save(output)
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
        ["documents", facts["documents"]],
        ["tokens", facts["tokens"]],
        ["words", len(model.phi)],
        ["log-likelihood per token", data["log_likelihood"]],
    ]
    empty = int(facts["empty"])
    no_terms = "empty_documents", f"ignored {counted(empty, 'document')} without any terms", empty
    recorded = {"k": count, "output": output, "languages": named} | options
    inputs = [(docs, facts["documents"])]
    warnings = raised(("unread_files", *facts["unread_files"]), no_terms)
    _write_facts("fit", rows, data, inputs, recorded, outputs, warnings)


def infer(*, model: str, docs: str, outputs: Outputs, **options: Any) -> None:
    """Infer the topic vectors of documents, seen or unseen.

    Example: leadline topics infer model.npz docs.jsonl -o vectors.jsonl

    Options
    -------
    model
    docs
    --language LANGUAGE | Texts
        Language of the documents. [default: all languages of the model, one text column per language]
    use seed
    -C read.encoding, text.id_column, topics.field
    -o | thing VECTORS
    """
    from leadline.topics.infer import infer as work
    from leadline.topics.infer import write_vectors
    from leadline.topics.model import read_model

    vectors = work(read_model(model), docs, **options)
    write_vectors(vectors, output := str(outputs.thing))
    warnings = unknown_warnings(vectors.unknown, vectors.empty)
    data = {"documents": len(vectors.ids), "unknown_tokens": vectors.unknown}
    rows: list[list[Cell]] = [["documents", len(vectors.ids)], ["written", output]]
    inputs = [(model, 1), (docs, len(vectors.ids))]
    _write_facts("infer", rows, data, inputs, {"output": output} | options, outputs, warnings)


def perplexity(context: click.Context, /, *, model: str, docs: str, outputs: Outputs, **options: Any) -> None:
    """Compute a model's perplexity on held-out documents.

    Lower perplexity is better.

    Example: leadline topics perplexity model.npz held-out.jsonl

    Options
    -------
    model
    docs
    --language LANGUAGE | Texts
        Language of the documents. [default: all languages of the model, one text column per language]
    use seed
    -C topics.particles, topics.estimator, read.encoding, text.id_column, topics.field
    -o
    """
    completion = options["estimator"] == "completion"
    one_of({"--config topics.estimator=completion": completion} | typed(context, "particles"))
    from leadline.topics.infer import perplexity as work
    from leadline.topics.model import read_model

    result = work(read_model(model), docs, **options)
    data = {"perplexity": result.value, "tokens": result.tokens, "unknown_tokens": result.unknown}
    rows: list[list[Cell]] = [["perplexity", result.value], ["tokens", result.tokens]]
    inputs = [(model, 1), (docs, result.documents)]
    _write_facts("perplexity", rows, data, inputs, options, outputs, unknown_warnings(result.unknown, 0))


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
    """Rank documents by the distance between topic vectors.

    For each query in QUERIES, leadline ranks the documents in DOCS. QUERIES can also be a document file. If
    the files are in different languages, add --query-language and --language. If some queries have the same
    ids as documents in DOCS (translations, for example), leadline also prints P@1: the share of these queries
    whose top-ranked document has the query's id.

    Example: leadline topics search m.npz en.tsv de.tsv --query-language de --language en -o p.run

    Options
    -------
    model
    docs
    queries
    -k N | int 1.. | = 1000
        Number of documents to retrieve per query.
    --query-language LANGUAGE as source | Texts
        Language of QUERIES. Needs --language. [default: all languages of the model]
    --language LANGUAGE as target | Texts
        Language of DOCS. Needs --query-language. [default: all languages of the model]
    use seed
    -C read.encoding, text.id_column, topics.field, topics.distance
    -o | thing RUN
    """
    from leadline.io.objects import write_run
    from leadline.topics.infer import count_top_mates, nearest
    from leadline.topics.infer import infer as work
    from leadline.topics.model import read_model

    together({"--query-language": source}, {"--language": target})
    topic_model = read_model(model)
    try:
        query_vectors = work(topic_model, queries, language=source, queries=True, **options)
        document_vectors = work(topic_model, docs, language=target, **options)
    except InputError as error:
        both = "name the languages of QUERIES and DOCS with --query-language and --language"
        error.hint = error.hint.replace("name it with --language", both)
        raise
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
        ["queries with the same id as a document", str(mates)],
        ["P@1", share],
    ]
    warnings = unknown_warnings(
        query_vectors.unknown + document_vectors.unknown, query_vectors.empty + document_vectors.empty
    )
    inputs = [(model, 1), (docs, len(document_vectors.ids)), (queries, len(query_vectors.ids))]
    recorded = {"output": output, "k": k, "distance": distance, "from": source, "to": target} | options
    _write_facts("search", rows, data, inputs, recorded, outputs, warnings)


def _write_facts(
    name: str,
    rows: list[list[Cell]],
    found: dict[str, Any],
    inputs: list[tuple[str, int]],
    options: dict[str, Any],
    outputs: Outputs,
    warnings: list[ResultWarning],
) -> None:
    table = Table(["fact", "value"], rows, wrapped=frozenset({"value"}))
    outputs.write_facts(f"topics {name}", table, found, inputs, options, warnings=warnings)


def unknown_warnings(unknown: int, empty: int) -> list[ResultWarning]:
    """Return warnings about unknown tokens, and about documents without known ones."""
    one = "text has no known tokens, so its topic vector is"
    several = "texts have no known tokens, so their topic vectors are"
    return raised(
        ("unknown_tokens", f"ignored {counted(unknown, 'token')} outside the model's vocabulary", unknown),
        ("empty_documents", f"{counted(empty, one, several)} the prior mean", empty),
    )


COMMANDS = {"fit": fit, "infer": infer, "perplexity": perplexity, "search": search}
