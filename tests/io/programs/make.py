"""Write the files of this folder and of `../scores` again, each by the program itself.

    python tests/io/programs/make.py PROGRAM

runs in an environment where PROGRAM is installed; README.md has the versions. No test needs any of them.
Models are replaced by fixed vectors, so that nothing is downloaded.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

HERE = Path(__file__).resolve().parent
SCORES = HERE.parent / "scores"
RUN = {"q1": {"d2": 2.5, "d1": 0.5}, "q2": {"d3": 1.0}}
QRELS = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
QUERIES = {"q1": "how long is a river", "q2": "how high is a hill"}
DOCUMENTS = {"d1": "short", "d2": "long", "d3": "high"}
VECTORS = {
    QUERIES["q1"]: (1.0, 0.0),
    QUERIES["q2"]: (0.0, 1.0),
    "short": (0.5, 0.25),
    "long": (2.5, 0.0),
    "high": (0.25, 1.0),
}


def ranx() -> None:
    """Runs, judgments, per-query values and a report of ranx."""
    library = importlib.import_module("ranx")
    run, qrels = library.Run(RUN, name="some"), library.Qrels(QRELS)
    for suffix in ("json", "parquet", "lz4"):
        run.save(str(HERE / f"ranx.{suffix}"))
    for suffix in ("json", "parquet"):
        qrels.save(str(HERE / f"ranx_qrels.{suffix}"))
    library.evaluate(qrels, run, ["ndcg@10", "map@100", "mrr"], save_results_in_run=True)
    (SCORES / "ranx.json").write_text(json.dumps(run.scores) + "\n")
    other = library.Run({"q1": {"d1": 2.5, "d2": 0.5}, "q2": {"d3": 1.0}}, name="other")
    library.compare(qrels, [run, other], metrics=["map@100"]).save(str(SCORES / "ranx_report.json"))


def sentence_transformers() -> None:
    """Predictions of the evaluator of sentence-transformers; two documents a query."""
    name = "sentence_transformers.sentence_transformer.evaluation"
    torch = importlib.import_module("torch")
    evaluator = importlib.import_module(name).InformationRetrievalEvaluator

    def encode(texts: list[str], **_: object) -> Any:
        return torch.tensor([VECTORS[text] for text in texts])

    model = SimpleNamespace(
        encode_query=encode,
        encode_document=encode,
        model_card_data=SimpleNamespace(set_evaluation_metrics=lambda *_, **__: None),
    )
    ranks = {f"{measure}_at_k": [2] for measure in ("mrr", "ndcg", "accuracy", "precision_recall", "map")}
    relevant = {query: {name for name, grade in found.items() if grade} for query, found in QRELS.items()}
    scores = {"dot": lambda queries, documents: queries @ documents.T}
    with tempfile.TemporaryDirectory() as folder:
        made = evaluator(
            QUERIES, DOCUMENTS, relevant, score_functions=scores, write_predictions=True, name="some", **ranks
        )
        made(model, folder)
        (found,) = Path(folder).glob("*.jsonl")
        (HERE / "sentence_transformers.jsonl").write_bytes(found.read_bytes())


def mteb() -> None:
    """Predictions of MTEB, and the folder of its results."""
    library: Any = importlib.import_module("mteb")
    numpy = importlib.import_module("numpy")
    retrieval: Any = importlib.import_module("mteb.abstasks.retrieval")
    described: Any = importlib.import_module("mteb.abstasks.task_metadata")
    meta: Any = importlib.import_module("mteb.models.model_meta")
    unknown = (
        *("reference", "date", "domains", "task_subtypes", "license", "annotations_creators", "dialect"),
        *("sample_creation", "bibtex_citation"),
    )

    class Task(retrieval.AbsTaskRetrieval):  # type: ignore[misc]  # of a package without types
        metadata = described.TaskMetadata(
            name="Hydrology",
            description="Two queries.",
            dataset={"path": "some/hydrology", "revision": "1"},
            type="Retrieval",
            category="t2t",
            modalities=["text"],
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
            **dict.fromkeys(unknown),
        )
        k_values = (1, 3, 10)

        def load_data(self, *_: object, **__: object) -> None:
            if not getattr(self, "data_loaded", False):
                self.corpus = {
                    "test": {name: {"title": "", "text": text} for name, text in DOCUMENTS.items()}
                }
                self.queries = {"test": QUERIES}
                self.relevant_docs = {"test": QRELS}
                self.convert_v1_dataset_format_to_v2(None)
                self.data_loaded = True

    class Model:
        mteb_model_meta = meta.ModelMeta.create_empty({"name": "some/model", "revision": "1"})

        def encode(self, inputs: Any, **_: object) -> Any:
            return numpy.array([VECTORS[text.strip()] for batch in inputs for text in batch["text"]])

        def similarity(self, first: Any, second: Any) -> Any:
            return numpy.asarray(first) @ numpy.asarray(second).T

        def similarity_pairwise(self, first: Any, second: Any) -> Any:
            return (numpy.asarray(first) * numpy.asarray(second)).sum(axis=1)

    with tempfile.TemporaryDirectory() as folder:
        cache = library.ResultCache(folder)
        library.evaluate(Model(), Task(), prediction_folder=folder, cache=cache)
        (HERE / "mteb.json").write_bytes(Path(folder, "Hydrology_predictions.json").read_bytes())
        target = SCORES / "mteb" / "some__model" / "1"
        target.mkdir(parents=True, exist_ok=True)
        for path in Path(folder, "results", "some__model", "1").iterdir():
            (target / path.name).write_bytes(path.read_bytes())


def rank_llm() -> None:
    """Results of RankLLM as JSON and JSON Lines."""
    library: Any = importlib.import_module("rank_llm.data")
    results = [
        library.Result(
            query=library.Query(text=QUERIES[query], qid=query),
            candidates=[
                library.Candidate(docid=name, score=score, doc={"contents": DOCUMENTS[name]})
                for name, score in found.items()
            ],
        )
        for query, found in RUN.items()
    ]
    writer = library.DataWriter(results)
    writer.write_in_json_format(str(HERE / "rank_llm.json"))
    writer.write_in_jsonl_format(str(HERE / "rank_llm.jsonl"))


def pyserini() -> None:
    """Runs of Pyserini for MS MARCO, KILT and DPR; its search, which needs Java, is replaced."""
    for name in ("pyserini.search", "pyserini.search.lucene", "pyserini.eval.evaluate_dpr_retrieval"):
        sys.modules[name] = ModuleType(name)
    search, lucene, dpr = (
        sys.modules[f"pyserini.{name}"] for name in ("search", "search.lucene", "eval.evaluate_dpr_retrieval")
    )
    texts = {name: json.dumps({"contents": f"Title\n{text}"}) for name, text in DOCUMENTS.items()}
    index = SimpleNamespace(doc=lambda name: SimpleNamespace(raw=lambda: texts[name]))
    titles = {
        number: {"title": QUERIES[f"q{number}"], "answers": f"['{name}']"}
        for number, name in ((1, "long"), (2, "high"))
    }
    vars(lucene).update(
        JScoredDoc=object, LuceneSearcher=SimpleNamespace(from_prebuilt_index=lambda _: index)
    )
    vars(search).update(get_topics=lambda _: titles, get_topics_with_reader=None)
    vars(dpr).update(SimpleTokenizer=object, has_answers=lambda text, answers, *_: text in answers)
    writers: Any = importlib.import_module("pyserini.output_writer")
    topics = {query: {"id": query, "input": text} for query, text in QUERIES.items()}
    for form, name in (
        (writers.OutputFormat.MSMARCO, "ms_marco.tsv"),
        (writers.OutputFormat.KILT, "kilt.jsonl"),
    ):
        with writers.get_output_writer(str(HERE / name), form, topics=topics) as writer:
            for query, found in RUN.items():
                writer.write(
                    query, [SimpleNamespace(docid=name, score=score) for name, score in found.items()]
                )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "some.run")
        lines = [
            f"{query[1:]} Q0 {name} 0 {score} t\n"
            for query, found in RUN.items()
            for name, score in found.items()
        ]
        path.write_text("".join(lines))
        given = [
            "--topics",
            "some",
            "--index",
            "some",
            "--input",
            str(path),
            "--output",
            str(HERE / "pyserini.json"),
        ]
        sys.argv = ["convert", *given]
        runpy.run_module("pyserini.eval.convert_trec_run_to_dpr_retrieval_run", run_name="__main__")


def tevatron() -> None:
    """Write a ranking as the retriever of Tevatron does."""
    numpy = importlib.import_module("numpy")
    sys.modules["faiss"] = ModuleType("faiss")
    library: Any = importlib.import_module("tevatron.faiss_retriever.__main__")
    scores = [numpy.array(list(found.values()), dtype=numpy.float32) for found in RUN.values()]
    library.write_ranking(list(map(list, RUN.values())), scores, list(RUN), str(HERE / "tevatron.tsv"))


def pyterrier() -> None:
    """Results of PyTerrier as a frame and in its formats, and the tables of an experiment."""
    os.environ["JAVA_HOME"] = ""  # none is needed
    pandas = importlib.import_module("pandas")
    library: Any = importlib.import_module("pyterrier")

    def results(run: dict[str, dict[str, float]]) -> Any:
        rows = [(query, name, score) for query, found in run.items() for name, score in found.items()]
        return library.model.add_ranks(pandas.DataFrame(rows, columns=["qid", "docno", "score"]))

    first = results(RUN)
    second = results({"q1": {"d1": 2.5, "d2": 0.5}, "q2": {"d1": 1.0, "d3": 0.5}})
    first.to_csv(HERE / "pyterrier.csv", index=False)
    library.io.write_results(first, str(HERE / "pyterrier.res"), format="trec")
    library.io.write_results(first, str(HERE / "pyterrier_minimal.tsv"), format="minimal")
    topics = pandas.DataFrame(QUERIES.items(), columns=["qid", "query"])
    judged = [(query, name, grade) for query, found in QRELS.items() for name, grade in found.items()]
    qrels = pandas.DataFrame(judged, columns=["qid", "docno", "label"])
    given = ([first, second], topics, qrels, ["map", "ndcg_cut_10"])
    library.Experiment(*given, names=["BM25", "PL2"], perquery=True).to_csv(SCORES / "pyterrier.csv")
    library.Experiment(*given, names=["BM25", "PL2"]).to_csv(SCORES / "pyterrier_means.csv")


def ragas() -> None:
    """Tables of Ragas, of measures that need no language model."""
    library: Any = importlib.import_module("ragas")
    metrics: Any = importlib.import_module("ragas.metrics")
    names = (
        "NonLLMContextPrecisionWithReference",
        "NonLLMContextRecall",
        "NonLLMStringSimilarity",
        "ExactMatch",
    )
    sample = library.SingleTurnSample
    samples = [
        sample(
            user_input="Who wrote it?",
            retrieved_contexts=["A book, of 1900.", "A writer."],
            reference_contexts=["A writer."],
            response="A writer, surely.",
            reference="A writer",
        ),
        sample(
            user_input="When was it?",
            retrieved_contexts=["It was in 1900."],
            reference_contexts=["It was in 1900."],
            response="1900",
            reference="1900",
        ),
    ]
    found = library.evaluate(
        library.EvaluationDataset(samples=samples), metrics=[getattr(metrics, name)() for name in names]
    )
    frame = found.to_pandas()
    frame.to_csv(SCORES / "ragas.csv", index=False)
    frame.to_json(SCORES / "ragas.jsonl", orient="records", lines=True)


def ir_datasets() -> None:
    """Judgments and scored documents as the export command of ir_datasets writes them."""
    library: Any = importlib.import_module("ir_datasets")
    command: Any = importlib.import_module("ir_datasets.commands.export")
    formats: Any = importlib.import_module("ir_datasets.formats")
    judged = [(query, name, grade) for query, found in QRELS.items() for name, grade in found.items()]
    scored = [(query, name, score) for query, found in RUN.items() for name, score in found.items()]

    class Judgments(formats.BaseQrels):  # type: ignore[misc]  # of a package without types
        def qrels_iter(self) -> Any:
            return (formats.TrecQrel(*row, "0") for row in judged)

        def qrels_cls(self) -> Any:
            return formats.TrecQrel

        def qrels_handler(self) -> Any:
            return self

    class Scored(formats.BaseScoredDocs):  # type: ignore[misc]
        def scoreddocs_iter(self) -> Any:
            return (formats.GenericScoredDoc(*row) for row in scored)

        def scoreddocs_cls(self) -> Any:
            return formats.GenericScoredDoc

        def scoreddocs_handler(self) -> Any:
            return self

    dataset = library.Dataset(Judgments(), Scored())
    for form, ending in (("trec", "txt"), ("jsonl", "jsonl"), ("tsv", "tsv")):
        for what, write in (("qrels", command.main_qrels), ("scoreddocs", command.main_scoreddocs)):
            with (HERE / f"ir_datasets_{what}.{ending}").open("w") as out:
                write(dataset, SimpleNamespace(format=form, out=out, fields=None, runtag="some"))


def beir() -> None:
    """Write a run and judgments with the utilities of BEIR; torch, which they do not need, is replaced."""
    sys.modules["torch"] = ModuleType("torch")
    library: Any = importlib.import_module("beir.util")
    library.save_runfile(str(HERE / "beir.txt"), RUN, "some")
    library.write_to_tsv(str(HERE / "beir_qrels.tsv"), QRELS)


def datasets() -> None:
    """Judgments and a run as tables that the datasets library of Hugging Face writes."""
    library: Any = importlib.import_module("datasets")
    for what, value, table in (("run", "score", RUN), ("qrels", "score", QRELS)):
        rows = [(query, name, number) for query, found in table.items() for name, number in found.items()]
        columns = dict(zip(("query-id", "corpus-id", value), map(list, zip(*rows, strict=True)), strict=True))
        made = library.Dataset.from_dict(columns)
        made.to_json(HERE / f"hugging_face_{what}.jsonl")
        made.to_csv(HERE / f"hugging_face_{what}.csv")
        made.to_parquet(HERE / f"hugging_face_{what}.parquet")
        if what == "qrels":
            library.DatasetDict({"test": made}).save_to_disk(HERE / "hugging_face_disk")
        else:
            made.save_to_disk(HERE / "hugging_face_disk_run")


def haystack() -> None:
    """Results of Haystack: their members as JSON, and per-query values in detailed reports."""
    library: Any = importlib.import_module("haystack.evaluation")
    evaluators: Any = importlib.import_module("haystack.components.evaluators")
    document = importlib.import_module("haystack").Document
    listed = [[document(id=name, content=DOCUMENTS[name]) for name in found] for found in RUN.values()]
    wanted = [
        [document(id=name, content=DOCUMENTS[name]) for name, grade in found.items() if grade > 0]
        for found in QRELS.values()
    ]
    kinds = {"mrr": evaluators.DocumentMRREvaluator, "recall": evaluators.DocumentRecallEvaluator}
    values = {
        name: kind().run(ground_truth_documents=wanted, retrieved_documents=listed)
        for name, kind in kinds.items()
    }
    made = library.EvaluationRunResult("some", inputs={"query": list(RUN)}, results=values)
    made.detailed_report(output_format="csv", csv_file=str(SCORES / "haystack.csv"))
    lists = {"ground_truth_documents": wanted, "retrieved_documents": listed}
    inputs = {name: [[one.to_dict() for one in found] for found in value] for name, value in lists.items()}
    made = library.EvaluationRunResult("some", inputs={"query": list(RUN), **inputs}, results=values)
    report = made.detailed_report(output_format="json")
    (SCORES / "haystack.json").write_text(json.dumps(report, indent=1) + "\n")
    (SCORES / "haystack_results.json").write_text(json.dumps(vars(made), indent=1) + "\n")


def llama_index() -> None:
    """Results of LlamaIndex, in which the text of a query is its id."""
    base: Any = importlib.import_module("llama_index.core.evaluation.retrieval.base")
    relevant = {query: [name for name, grade in found.items() if grade] for query, found in QRELS.items()}
    lines = []
    for query, found in RUN.items():
        ids = sorted(found, key=lambda name: -found[name])
        made = base.RetrievalEvalResult(
            query=query,
            expected_ids=relevant[query],
            retrieved_ids=ids,
            retrieved_texts=[DOCUMENTS[name] for name in ids],
            metric_dict={"mrr": base.RetrievalMetricResult(score=1.0)},
        )
        lines.append(made.model_dump_json() + "\n")
    (HERE / "llama_index.jsonl").write_text("".join(lines))


def ragas_dataset() -> None:
    """Write a dataset of Ragas with the ids of contexts."""
    library: Any = importlib.import_module("ragas")
    samples = [
        library.SingleTurnSample(
            user_input=query,
            retrieved_context_ids=sorted(found, key=lambda name: -found[name]),
            reference_context_ids=[name for name, grade in QRELS[query].items() if grade],
        )
        for query, found in RUN.items()
    ]
    library.EvaluationDataset(samples=samples).to_jsonl(str(HERE / "ragas_dataset.jsonl"))


def usearch() -> None:
    """Keys and distances of neighbours, as lists of the arrays that usearch returns."""
    numpy = importlib.import_module("numpy")
    index = importlib.import_module("usearch.index").Index(ndim=2, metric="ip", dtype="f32")
    for key, name in enumerate(DOCUMENTS):
        index.add(key, numpy.array(VECTORS[DOCUMENTS[name]], dtype=numpy.float32))
    asked = numpy.array([VECTORS[text] for text in QUERIES.values()], dtype=numpy.float32)
    found = index.search(asked, 2)
    made = {"keys": found.keys.tolist(), "distances": found.distances.tolist()}
    (HERE / "usearch.json").write_text(json.dumps(made) + "\n")


MAKERS = (
    ranx,
    sentence_transformers,
    mteb,
    rank_llm,
    pyserini,
    tevatron,
    pyterrier,
    ragas,
    ir_datasets,
    beir,
    datasets,
    haystack,
    llama_index,
    ragas_dataset,
    usearch,
)

if __name__ == "__main__":
    next(maker for maker in MAKERS if maker.__name__ == sys.argv[1])()
