"""Test whether HSA and DO track the retrieval quality of topic models better than perplexity does.

For each number of topics T, a topic model ranks documents by the Hellinger distance between their topics and
those of a query document. Quality is MAP over documents with known similar documents (`--qrels`), or P@1 of
translations (`--languages`). HSA and DO (see `leadline histogram`) use only the relevant documents and a
sample of other documents. Perplexity is computed on held-out documents. Source: Krstovski, Smith and Kurtz
2015, section 5.1, tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline import UsageError, read_qrels
from leadline.data.table import ResultWarning, Table, plain
from leadline.data.wording import rounded
from leadline.errors import one_of
from leadline.estimation.histogram_result import overlap, slope
from leadline.io.read_paths import path_of
from leadline_studies import SEED, SWEEPS, Claim, Given, Option, Outcome, parse_integers, with_options
from leadline_studies.common.scoring_time import machine
from leadline_studies.common.tables import columns, known, sheet
from leadline_studies.common.tracking import WORDS
from leadline_studies.histogram_topics.pairs import read_texts
from leadline_studies.histogram_topics.rival_tracking import correlate_predictors
from leadline_studies.histogram_topics.topic_retrieval import NORMS, Setting, Task, measure_setting, task_of

CLAIM = Claim(
    "HSA follows the retrieval quality of topic models better than perplexity.",
    "R with MAP is 0.92 for HSA and -0.84 for perplexity.",
)
ARGUMENTS = ("docs",)
EXAMPLE = ("--qrels similar.txt",)
OPTIONS = (
    Option("topics", str, "Numbers of topics to try.", "50,100,200,500,1000,2000,5000", metavar="T,T"),
    Option(
        "qrels",
        str,
        "Judgments of which documents are similar. The query ids are ids of documents in DOCS.",
        metavar="QRELS",
    ),
    Option(
        "together",
        bool,
        "Allow any query ids in QRELS. Documents relevant to the same query then count as similar.",
        False,
    ),
    Option(
        "languages",
        str,
        "Columns with translations: language of the queries, then language of the documents.",
        metavar="A,B",
    ),
    Option("id_column", str, "Column with the document ids.", metavar="COLUMN"),
    Option("train", str, "Training texts. All of DOCS is then held out.", metavar="DOCS"),
    Option(
        "held_out", float, "Share of DOCS to hold out for perplexity, without --train.", 0.1, metavar="SHARE"
    ),
    Option("level", float, "Lowest grade of a similar document.", 1.0, metavar="GRADE"),
    Option("queries", int, "Maximum number of query documents, sampled at random if there are more."),
    Option("sample", int, "Number of non-relevant documents to sample per query for HSA and DO.", 100),
    Option("bins", int, "Number of histogram bins.", 10, least=2),
    Option(
        "alpha_sum", float, "Sum of the Dirichlet priors of a document over all topics.", 50.0, metavar="A"
    ),
    SWEEPS,
    Option("particles", int, "Number of particles for the left-to-right estimate of perplexity.", 20),
    Option("draws", int, "Number of bootstrap resamples of queries.", 1000, least=0),
    SEED,
    Option("time", bool, "Also report processor times, which differ from run to run.", False),
)
LEAST = 7  # numbers of topics, as many as the paper tried
FEWEST = 3
RIVAL = "perplexity"
TIMES = (*("MAP scoring", "MAP computing", "HSA scoring", "HSA computing", "DO computing", RIVAL),)


@with_options(OPTIONS)
def run(docs: Any, given: Given) -> Outcome:
    """Run the study on documents, with `qrels` or with `languages`."""
    sizes = _sizes(given.topics)
    if given.alpha_sum <= 0:
        raise UsageError(f"--alpha-sum must be above 0, not {given.alpha_sum:g}")
    texts = read_texts(
        docs,
        given.train,
        languages=_languages(given.languages, given.qrels is not None),
        held_out=given.held_out,
        seed=given.seed,
        id_column=given.id_column,
    )
    table = None if given.qrels is None else read_qrels(given.qrels)
    task = task_of(texts, table, given)
    settings = [measure_setting(task, size, given) for size in given.each(sizes)]
    data = data_of(task, settings, given.draws, given.seed)
    if given.time:
        parts = [
            {"topics": setting.topics} | {key: setting.seconds[key] for key in TIMES} for setting in settings
        ]
        data["seconds"] = {"machine": machine(), "drawing": task.drawing, "settings": parts}
    read = [
        (path_of(docs), len(texts.all)),
        (path_of(given.train), len(texts.train)),
        (path_of(given.qrels), 0 if table is None else len(table.grades)),
    ]
    return Outcome(data, [source for source in read if source[0]], _notices(task, settings))


def _sizes(topics: str) -> list[int]:
    sizes = sorted(parse_integers(topics, "topics"))
    if len(set(sizes)) < max(FEWEST, len(sizes)):
        raise UsageError(f"--topics '{topics}' is not valid. Give {FEWEST} or more numbers, each once.")
    return sizes


def _languages(languages: str | None, judged: bool) -> list[str]:
    named = [name.strip() for name in languages.split(",")] if languages else []
    one_of({"--qrels": judged, "--languages": named})
    if not judged and not named:
        raise UsageError("need --qrels or --languages")
    if len(named) not in (0, 2):
        raise UsageError(f"--languages '{languages}' is not valid. Give two columns, such as de,en.")
    return named


def data_of(task: Task, settings: Sequence[Setting], draws: int, seed: int) -> dict[str, Any]:
    """Return all results: by number of topics, and the correlation of the columns with quality."""
    quality = np.stack([setting.quality for setting in settings])
    counts = {f"per {norm}": np.stack([setting.counts[norm] for setting in settings]) for norm in NORMS}
    rivals = {RIVAL: np.array([setting.perplexity for setting in settings])}
    pairs = task.pairs
    return {
        "measure": "MAP" if task.measure == "AP" else task.measure,
        "documents": len(task.texts.all),
        "trained": len(task.texts.train),
        "held_out": len(task.texts.held_out),
        "queries": len(task.relevant),
        "relevant": int(pairs.relevant.sum()),
        "nonrelevant": int((~pairs.relevant).sum()),
        "share_of_pairs": len(pairs.query) / (len(task.relevant) * len(task.texts.all)),
        "settings": list(map(_entry, settings)),
        **correlate_predictors(quality, counts, rivals, draws=draws, seed=seed),
    }


def _entry(setting: Setting) -> dict[str, Any]:
    pooled = {norm: counts.sum(axis=0) for norm, counts in setting.counts.items()}
    return {
        "topics": setting.topics,
        "quality": float(setting.quality.mean()),
        RIVAL: setting.perplexity,
        **{
            f"per {norm}": {
                "hsa": plain(float(slope(*both))),
                "do": plain(float(overlap(*both))),
                "relevant": both[0].astype(int).tolist(),
                "nonrelevant": both[1].astype(int).tolist(),
            }
            for norm, both in pooled.items()
        },
    }


def _notices(task: Task, settings: Sequence[Setting]) -> list[ResultWarning]:
    unknown, empty = settings[0].unknown, settings[0].empty
    slopes = [slope(*setting.counts[norm].sum(axis=0)) for setting in settings for norm in NORMS]
    undefined = int(np.isnan(slopes).sum())
    few = int(np.bincount(task.pairs.query[~task.pairs.relevant], minlength=len(task.relevant)).min())
    found = [
        ("unknown_documents", f"left out judged ids without a document: {task.unknown}", task.unknown),
        ("unknown_tokens", f"left out tokens that the models do not know: {unknown:,}", unknown),
        ("empty_documents", f"the prior is used for documents without a known token: {empty}", empty),
        ("undefined_hsa", f"left out undefined values of HSA: {undefined}", undefined),
        ("no_others", "at least one query has only relevant documents in its sample", int(few == 0)),
    ]
    return [ResultWarning(*notice) for notice in found if notice[-1]]


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the results by number of topics, the correlations, and the times."""
    heads = ["T=topics", f"{data['measure']}=quality", RIVAL]
    heads += [f"{key.upper()}, per {norm}=per {norm}.{key}" for norm in NORMS for key in ("hsa", "do")]
    closer = {f"|HSA {name}| - |{RIVAL}|": setting[RIVAL] for name, setting in data["closer"].items()}
    over = ({"column": name} | entry for name, entry in (data["columns"] | closer).items())
    limits = [
        f"{word if end == 'value' else end}={kind}.{end}"
        for word, kind in WORDS.items()
        for end in ("value", "low", "high")
    ]
    found = {
        "settings": sheet(data["settings"], heads, digits=3),
        "correlations": sheet(over, ["column", *limits], digits=2),
    }
    if "seconds" in data:
        found["seconds"] = sheet(data["seconds"]["settings"], ["T=topics", *TIMES], digits=3)
    return found


def figures(data: dict[str, Any]) -> dict[str, Any]:
    """Draw two histograms, and all columns by number of topics."""
    from leadline.charts.distribution_plots import histograms
    from leadline_studies.common.figures import panels

    settings, norm = data["settings"], f"per {NORMS[0]}"
    ends = [settings[0], settings[-1]]
    slopes, overlaps = columns(ends, f"{norm}.hsa", f"{norm}.do")
    drawn = histograms(
        [f"T = {setting['topics']:,}, {data['measure']} {setting['quality']:.3f}" for setting in ends],
        [[setting[norm]["relevant"], setting[norm]["nonrelevant"]] for setting in ends],
        hsa=slopes,
        do=overlaps,
    )
    shown = columns(settings, "quality", f"{norm}.hsa", f"{norm}.do", RIVAL)
    lines = dict(zip((data["measure"], "HSA", "DO", RIVAL), shown, strict=True))
    return {
        "histograms": drawn,
        "topics": panels(lines, [setting["topics"] for setting in settings], label="topics"),
    }


def lines(data: dict[str, Any]) -> list[str]:
    """Return whether HSA tracks quality better than perplexity, and whether it is cheaper."""
    size = len(data["settings"])
    conclusions = []
    for norm in NORMS:
        slopes = data["columns"][f"HSA per {norm}"]
        gain = data["closer"][f"per {norm}"][RIVAL]["pearson"]
        conclusions.append(
            f"HSA, normalized per {norm}, with {data['measure']} over {size} numbers of topics: "
            f"{_coefficients(slopes)}; {RIVAL}: {_coefficients(data['columns'][RIVAL])}. |R| of HSA minus "
            f"|R| of {RIVAL} is {rounded(gain['value'])} [{rounded(gain['low'])}, {rounded(gain['high'])}]: "
            f"{verdict(gain, size)}"
        )
    overlaps = "; ".join(f"per {norm} {_coefficients(data['columns'][f'DO per {norm}'])}" for norm in NORMS)
    conclusions.append(f"DO: {overlaps}. The paper makes no claim.")
    if "seconds" in data:
        ratios = times_of_map(data)
        conclusions.append(
            f"With topics of documents known, MAP takes {min(ratios):.1f} to {max(ratios):.1f} times the "
            f"processor time of HSA. HSA scores {data['share_of_pairs']:.1%} of the pairs."
        )
    return conclusions


def times_of_map(data: dict[str, Any]) -> list[float]:
    """Return how many times the time of HSA MAP takes, by number of topics."""
    return [
        (setting["MAP scoring"] + setting["MAP computing"])
        / (setting["HSA scoring"] + setting["HSA computing"])
        for setting in data["seconds"]["settings"]
    ]


def verdict(gain: dict[str, float | None], settings: int) -> str:
    """Return the verdict: the absolute Pearson's r of HSA is larger, also in the interval over queries."""
    if settings < LEAST:
        return f"no verdict, because at least {LEAST} numbers of topics are needed"
    if known(gain["low"]) > 0:
        return "reproduced in kind"
    return "not reproduced" + (" (larger, but the interval contains 0)" if known(gain["value"]) > 0 else "")


def _coefficients(column: dict[str, Any]) -> str:
    return f"R {rounded(column['pearson']['value'])}, rho {rounded(column['spearman']['value'])}"
