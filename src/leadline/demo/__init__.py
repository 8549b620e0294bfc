"""The embedded data, read where it stands: Cranfield's judgments and eight runs, ids and numbers only.

Judgments are those of the Glasgow files as gains 0 to 4 (the original codes run from 1, best, to 4).
`benchmarks/demo_runs.py` makes the runs. The tour ends with a run tuned to the labels of an automatic judge.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.charts.interval_plots import against_truth
from leadline.charts.line_plots import recall_precision
from leadline.data.arrays import Floats
from leadline.data.table import Cell, Preformatted, Table
from leadline.data.wording import queries
from leadline.estimation.estimate import estimate
from leadline.estimation.guesses import VOTE_CONSTANT
from leadline.estimation.pool_designs import pool_for
from leadline.evaluation.curves import Curves
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.query_figures import per_query
from leadline.evaluation.results import Results
from leadline.io.objects import Qrels, read_qrels, read_run
from leadline.pages import colors_of_page, fill, inline, table_of
from leadline.version import VERSION

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")


def qrels_path() -> str:
    """Return the path of the judgments."""
    return os.path.join(DATA, "cranfield.qrels.xz")


def run_paths() -> list[str]:
    """Return the paths of the runs, by name.

    >>> [os.path.basename(path) for path in run_paths()][-2:]
    ['tf-dot.run.xz', 'tfidf-cosine.run.xz']
    """
    return [os.path.join(DATA, name) for name in sorted(os.listdir(DATA)) if name.endswith(".run.xz")]


def labels_path() -> str:
    """Return the path of labels made by a retrieval model that reads titles only."""
    return os.path.join(DATA, "machine-labels.qrels.xz")


def circular_path() -> str:
    """Return the path of a run that is made by these labels."""
    return os.path.join(DATA, "circular.txt.xz")


def files() -> Iterator[tuple[str, bytes]]:
    """Yield judgments, runs, an automatic judge's labels and a run tuned to them, each as name and content.

    >>> [name for name, _ in files()][:2]
    ['qrels.txt', 'bm25-k1_0.9-b_0.4.run']
    """
    for path in (qrels_path(), *run_paths(), labels_path(), circular_path()):
        name = os.path.basename(path).removesuffix(".xz")
        with lzma.open(path) as file:
            content = file.read()
        if path == qrels_path():
            yield "qrels.txt", content
        else:
            yield name, content if path == labels_path() else ranked(content)


def example_files() -> Iterator[tuple[str, bytes]]:
    """Yield the small files on which the pages of the documentation show commands: name and content.

    >>> [name for name, _ in example_files()][:2]
    ['alike.run', 'bm25.run']
    """
    folder = os.path.join(HERE, "examples")  # where setup.py copies those of a checkout
    if not os.path.isdir(folder):
        folder = os.path.join(HERE, os.pardir, os.pardir, os.pardir, "docs", "examples")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            yield name, file.read()


def ranked(content: bytes) -> bytes:
    r"""Return a run with its ranks, which the embedded files do not hold: the lines of a query are in order.

    >>> ranked(b"1 Q0 b 0 2.5 r\n1 Q0 a 0 2 r\n2 Q0 a 0 7 r\n").decode().splitlines()
    ['1 Q0 b 1 2.5 r', '1 Q0 a 2 2 r', '2 Q0 a 1 7 r']
    """
    lines, last, rank = [], b"", 0
    for line in content.splitlines(keepends=True):
        query, zero, document, _, rest = line.split(b" ", 4)
        rank = rank + 1 if query == last else 1
        last = query
        lines.append(b" ".join((query, zero, document, b"%d" % rank, rest)))
    return b"".join(lines)


MEASURE = "P@10"
BUDGET = 20
NAME = "circular"
ESTIMATED = f"{BUDGET} judgments per query"
Lists = dict[str, dict[str, float]]


def circular_lists(
    lists: Sequence[Mapping[str, Sequence[str]]],
    labels: Mapping[str, Mapping[str, float]],
    *,
    depth: int = 100,
) -> Lists:
    """Return scores by which the first documents by votes are ordered by their labels, ties by votes.

    >>> votes = [{"q": ["a", "b"]}, {"q": ["a", "c"]}]
    >>> circular_lists(votes, {"q": {"b": 2, "c": 2}}, depth=3)["q"]
    {'b': 3.0, 'c': 2.0, 'a': 1.0}
    """
    found: Lists = {}
    for query in dict.fromkeys(query for one in lists for query in one):
        votes: dict[str, float] = {}
        for one in lists:
            for rank, document in enumerate(one.get(query, ()), start=1):
                votes[document] = votes.get(document, 0.0) + 1.0 / (VOTE_CONSTANT + rank)
        first = sorted(votes, key=lambda document: (-votes[document], document))[:depth]
        label = labels.get(query, {})
        order = sorted(first, key=lambda document: -label.get(document, float("-inf")))
        found[query] = {document: float(len(order) - place) for place, document in enumerate(order)}
    return found


def places(values: Floats) -> Floats:
    """Return the place of every run: 1 and the number of better runs.

    >>> places(np.array([0.5, 0.9, 0.5])).tolist()
    [2, 1, 2]
    """
    return np.asarray((values[None, :] > values[:, None]).sum(axis=1) + 1)


class Row(NamedTuple):
    """One run: value and place by the labels alone, estimated from few judgments, and by all judgments."""

    run: str
    machine: float
    machine_place: int
    estimate: float
    low: float
    high: float
    place: int
    truth: float
    truth_place: int


class Trial(NamedTuple):
    """All runs by labels, few judgments and all judgments, in the order of the labels."""

    rows: list[Row]
    judgments: int
    queries: int
    labels: int


def trial(qrels: Qrels, paths: Sequence[str]) -> Trial:
    """Measure the embedded runs and the circular one by an automatic judge, a sample, and all judgments."""
    labels = read_qrels(labels_path())
    runs = [*map(read_run, paths), read_run(circular_path(), name=NAME)]
    pool = pool_for(runs, MEASURE, budget=BUDGET).pool
    grades = qrels.to_dict()
    judged: dict[str, dict[str, float]] = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:  # Cranfield lists the relevant documents: all others are not relevant
            judged.setdefault(query, {})[document] = grades.get(query, {}).get(document, 0)
    estimates = estimate(judged, runs, MEASURE, pool=pool, machine=labels)
    alone, truth = (evaluate(qrels_, runs, MEASURE).means[:, 0] for qrels_ in (labels, qrels))
    ranks = [places(values) for values in (alone, estimates.means[:, 0], truth)]
    rows = []
    for number in np.argsort(-alone, kind="stable").tolist():
        estimate_ = estimates.estimate(estimates.names[number], MEASURE)
        by_labels, by_sample, by_all = (int(places_[number]) for places_ in ranks)
        limits = estimate_.value, estimate_.these_low, estimate_.these_high
        values = (float(alone[number]), by_labels, *limits, by_sample, float(truth[number]), by_all)
        rows.append(Row(estimates.names[number], *values))
    return Trial(rows, estimates.judgments, len(judged), len(labels.grades))


def trial_table(trial: Trial) -> Table:
    """Return the table of the trial: by the labels alone, by few judgments, by all."""
    rows: list[list[Cell]] = []
    for row in trial.rows:
        ranks = [Preformatted(f"{rank}.") for rank in (row.machine_place, row.place, row.truth_place)]
        numbers = (row.machine, ranks[0], row.estimate, row.low, row.high, ranks[1], row.truth, ranks[2])
        rows.append([row.run, *numbers])
    heads = ["run", "labels alone", "", f"{BUDGET} judgments", "low", "high", "", "truth", ""]
    (circular,) = (row for row in trial.rows if row.run == NAME)
    outcome = (
        f"The run tuned to the labels has rank {circular.machine_place} on the labels alone, rank "
        f"{circular.place} with {BUDGET} human judgments per query, and rank {circular.truth_place} on all "
        "judgments."
    )
    heading = f"{MEASURE} and rank over {queries(trial.queries)}; labels alone: {trial.labels:,} labels"
    sample = f"leadline pool RUN... --for {MEASURE} --budget {BUDGET} -o POOL"
    estimated = "leadline evaluate JUDGMENTS RUN... --pool POOL --machine LABELS"
    notes = [
        f"{heading}; truth: all judgments",
        f"{BUDGET} judgments: estimate from {BUDGET} human judgments per query and the labels",
        "low, high: 95 % confidence interval for these queries, over samples of documents",
        f"for your own runs: `{sample}`, judge the pairs, then `{estimated}`",
        outcome,
    ]
    return Table(heads, rows, notes=notes, digits=3, whole=True)


PAGE_WIDTH = 3.8  # inches: text of a picture is readable on a phone and not too large on a wide screen


@colors_of_page()
def demo_page(
    results: Results, curves: Curves, *, collection: str, judgments: int, circular: Trial | None = None
) -> str:
    """Make the page of results and curves of the same runs, and of a machine as judge."""
    curve = recall_precision(curves.names, curves.levels, curves.precision, width=PAGE_WIDTH)
    machine_figure: Any = ""
    if circular is not None:
        fields = ("run", "machine", "estimate", "low", "high", "truth")
        columns = [[getattr(row, name) for row in circular.rows] for name in fields]
        drawn = against_truth(*columns, label=MEASURE, estimated=ESTIMATED, marked=NAME)
        figure_title = f"{MEASURE} from labels alone, {BUDGET} judgments per query, and all judgments"
        machine_figure = inline(drawn, "machine", figure_title)
    first = str(results.measures[0])
    order = results.order()
    return fill(
        "demo.html",
        version=VERSION,
        collection=collection,
        queries=len(results.queries),
        judgments=judgments,
        runs=len(results.runs),
        first=first,
        best=results.names[order[0]],
        best_value=float(results.means[order[0], 0]),
        table=table_of(results),
        curve=inline(curve, "curve", f"Recall-precision curves of {len(results.runs)} runs"),
        map=inline(
            per_query(results, width=PAGE_WIDTH), "map", f"{first} per query for {len(results.runs)} runs"
        ),
        trial=circular,
        measure=MEASURE,
        budget=BUDGET,
        machine_figure=machine_figure,
        warnings=[str(notice) for notice in results.warnings],
    )
