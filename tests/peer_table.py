"""Every measure of pytrec_eval and ir_measures beside ours: run both, say equal or not, make docs/peers.md.

    python tests/peer_table.py

writes the page anew from what it measured; `tests/test_peer_table.py` fails when the page is stale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leadline.errors import LeadlineError
from leadline.evaluation.evaluate import evaluate
from test_peers import Qrels, Run, random_data

PAGE = Path(__file__).parent.parent / "docs" / "peers.md"
Values = dict[str, dict[str, float]]
Data = tuple[Qrels, Run]

HEAD = """# Other programs' numbers

leadline gives the values of trec_eval and ir_measures. `python tests/peer_table.py` compares it with
pytrec_eval (the arithmetic of trec_eval 9.0.8) and ir_measures, query by query, on random judgments and runs
with ties, negative grades, missing queries and queries without a relevant document, and writes this page.
*Equal* means within 1e-9 for every query. A value that is 0 there and undefined in leadline counts as equal,
because both count 0 in the mean. Names in parentheses are leadline's, where they differ.

If two programs disagree about your run, `leadline why-different` [finds the
reason](replication.md#why-do-two-programs-disagree). [Profiles](measures.md#profiles) compute and print like
trec_eval 9 or 10.
"""

PRINTED = """leadline reads the text that ir_measures prints for a measure, such as
`nDCG(dcg='exp-log2')@10`, and takes its [objects](python.md#ir_measures). One name means something else:
`Accuracy@10` is `Success@10` here, and the pairwise measure of ir_measures is `PairAccuracy@10`.

These are refused by name: `judged_only=True` (use `--judged-only`), `min_rel` other than 0,
`Compat(normalize=False)`, nDCG with both `gains` and `dcg='exp-log2'`, the object `RBP` without `rel`, whose
largest gain is unknown, and ERR_IA and alpha_DCG without a cutoff. A grade above `max_rel` is an error;
ir_measures lowers it to `max_rel`.
"""
# pytrec_eval gives the logarithm of these for one query; the mean is where they meet.
LOGARITHMS = {"gm_map": "AP", "gm_bpref": "Bpref"}
TEXTS = {"runid", "relstring"}

# ir_measures' text -> (ours, why it may differ).
IR_MEASURES: Mapping[str, tuple[str, str]] = {
    "P@5": ("P@5", ""),
    "P(rel=2)@10": ("P(rel=2)@10", ""),
    "R@10": ("R@10", ""),
    "AP": ("AP", ""),
    "AP@10": ("AP@10", ""),
    "RR": ("RR", ""),
    "RR@10": ("RR@10", "ir_measures uses its msmarco provider, which breaks ties by ascending id"),
    "Rprec": ("Rprec", ""),
    "nDCG": ("nDCG", ""),
    "nDCG@10": ("nDCG@10", ""),
    "nDCG(gains={1:1,2:5})@10": ("GnDCG(gains=1:1/2:5)@10", ""),
    "Success@5": ("Success@5", ""),
    "Bpref": ("Bpref", ""),
    "infAP": ("infAP", ""),
    "IPrec@0.1": ("IPrec(rule=trec9)@0.1", ""),
    "SetP": ("set_P", ""),
    "SetR": ("R", ""),
    "SetF": ("F", ""),
    "SetF(beta=2.0)": ("F(beta=2,form=linear)", ""),
    "SetF(beta=0.5)": ("F(beta=0.5,form=linear)", ""),
    "SetAP": ("SetAP", ""),
    "SetRelP": ("SetRelP", ""),
    "NumRet": ("NumRet", ""),
    "NumRet(rel=2)": ("NumRelRet(rel=2)", ""),
    "NumRel": ("NumRel", ""),
    "NumRelRet": ("NumRelRet", ""),
    "NumQ": ("NumQ", ""),
    "Judged@10": (
        "Judged@10",
        "ir_measures counts a negative grade as a judgment and breaks ties by ascending id",
    ),
    "Accuracy": ("PairAccuracy", "ir_measures breaks ties in an order of its own"),
    "Compat": (
        "Compat",
        "ir_measures breaks ties in an order of its own, and ranks documents that were not retrieved as if \
their score were 0, so negative scores change the value",
    ),
    "RBP(rel=1)": ("RBP", "cwl_eval keeps tied documents in the order of the file"),
    "INSQ(max_rel=4)": ("INSQ", "cwl_eval keeps tied documents in the order of the file"),
    "INST(max_rel=4)": ("INST", "cwl_eval keeps tied documents in the order of the file"),
    "BPM(max_rel=4)@10": ("BPM@10", "cwl_eval keeps tied documents in the order of the file"),
    "SDCG(max_rel=4)@10": ("SDCG@10", "cwl_eval keeps tied documents in the order of the file"),
    "NERR8(max_rel=4)@10": ("NERR8@10", "cwl_eval keeps tied documents in the order of the file"),
    "NERR9(max_rel=4)@10": ("NERR9@10", "cwl_eval keeps tied documents in the order of the file"),
    "NERR10(max_rel=4)": ("NERR10", "cwl_eval keeps tied documents in the order of the file"),
    "NERR11(max_rel=4)": ("NERR11", "cwl_eval keeps tied documents in the order of the file"),
}
NEED_PERL: Mapping[str, tuple[str, str]] = {
    "ERR@10": ("ERR@10", "ir_measures needs Perl, numeric query ids and grades of 4 or less"),
    "nDCG(dcg='exp-log2')@10": ("nDCG(gain=exp)@10", "ir_measures needs Perl"),
}
DIVERSITY: Mapping[str, tuple[str, str]] = {
    name: (name, "")
    for name in "alpha_nDCG@10 alpha_DCG@10 ERR_IA@10 nERR_IA@10 NRBP nNRBP AP_IA P_IA@10 StRecall@10".split()
}

OTHERS = """
## Values in the tests and documentation of other programs

`tests/test_peer_examples.py` computes the examples in the tests of ranx, ir_measures, MTEB, torchmetrics,
scikit-learn and pyNTCIREVAL. All are equal except these:

| program | example | there | leadline | reason |
| --- | --- | --- | --- | --- |
| scikit-learn `ndcg_score`, k=1 | gains 10, 0, 0, 1, 5 with scores 1, 0, 0, 0, 1 | 0.75 | 0.5 | \
scikit-learn averages over all orders of tied documents (0.5 with `ignore_ties=True`). leadline breaks ties \
by descending id; `bounds=True` gives the best and the worst order. |
| scikit-learn `dcg_score` | gains 0 to 4, all scores 0 | 5.9 | 7.3 | the same |
| torchmetrics nDCG | documents whose score is 0 or less | no gain | ranked by score | torchmetrics \
treats them as not retrieved. |
| torchmetrics `RetrievalMAP(top_k=2)` | two relevant documents, one of them at rank 2 | 0.5 | 0.25 | \
torchmetrics divides by the number of relevant documents found, leadline and trec_eval by all of them. |
| MTEB `ndcg_float_at_k` | tied documents | mean over all orders | descending id | MTEB's other measures \
are those of pytrec_eval, and equal. |
| pyNTCIREVAL `MSnDCG`, README | levels 0, 1, 2 with `grades = [0, 1, 2]` | 0.6131 | 0.6886 | The first \
grade belongs to level 1 there, so level 1 has gain 0. With the gains 0, 0, 1 the values are equal. |
| pyNTCIREVAL `nDCG` | its sample, L3 to L0 with gains 3 to 0 | 0.3380 | 0.2760 | pyNTCIREVAL discounts like \
Jarvelin and Kekalainen (2002), base 2; leadline by log2(rank + 1), like `MSnDCG` there. |
| ranx `rbp` | TREC 2019 Deep Learning, run ICT-BERT2, p = 0.8 | 1.6647 | 0.7660 | In ranx the gain is the \
grade, although its documentation says 0 or 1, so values exceed 1. With grades up to 3 it is 3 times \
`RBP(gain=graded,max_grade=3)`, 0.5549. |
"""


class Row(NamedTuple):
    """One measure of a peer and what was found."""

    theirs: str
    ours: str
    found: str
    why: str


def data_sets() -> list[Data]:
    """Return the random sets that the page is made on."""
    return [random_data(seed) for seed in range(8)]


def without_ties(data: Data) -> Data:
    """Return the same with scores that all differ and no negative grade, where habits cannot differ."""
    qrels, run = data
    ranked = {
        query: {name: 1.0 + place for place, name in enumerate(sorted(scores, key=scores.get))}  # type: ignore[arg-type]  # every name has a score
        for query, scores in run.items()
    }
    kept = {query: {d: max(g, 0) for d, g in grades.items()} for query, grades in qrels.items()}
    return kept, ranked


def compared(ask: Callable[[Data], Values], text: str, sets: list[Data], profile: str) -> bool:
    """Say whether every query of every set has the same value in both programs."""
    for data in sets:
        results = evaluate(*data, [text], profile=profile)
        for query, values in ask(data).items():
            code = results.queries.code(query)
            if code is None:
                continue
            mine = results.values[0, code].tolist()
            for one, other in zip(mine, values.values(), strict=True):
                if not math.isclose(0.0 if math.isnan(one) else one, other, rel_tol=1e-9, abs_tol=1e-9):
                    return False
    return True


def verdict(ask: Callable[[Data], Values], text: str, profile: str) -> str:
    """Say equal, equal but for ties and negative grades, or different."""
    sets = data_sets()
    if compared(ask, text, sets, profile):
        return "equal"
    if compared(ask, text, list(map(without_ties, sets)), profile):
        return "equal without ties and negative grades"
    return "different"


def pytrec_eval_rows() -> Iterator[Row]:
    """Compare every measure that pytrec_eval supports."""
    import pytrec_eval

    for name in sorted(pytrec_eval.supported_measures):
        if name in TEXTS:
            yield Row(name, "-", "printed by `-f trec`", "a text, not a number")
            continue
        if name in LOGARITHMS:
            yield Row(name, ours_of(name), *geometric(name))
            continue

        yield Row(name, ours_of(name), verdict(by_pytrec_eval(name), name, "trec9"), "")


def by_pytrec_eval(name: str) -> Callable[[Data], Values]:
    """Return what asks pytrec_eval for one measure; several cutoffs come in their order."""
    import pytrec_eval

    def ask(data: Data) -> Values:
        found: Values = pytrec_eval.RelevanceEvaluator(data[0], {name}).evaluate(data[1])
        order = sorted(next(iter(found.values())), key=place) if found else []
        return {query: {key: row[key] for key in order} for query, row in found.items()}

    return ask


def place(name: str) -> float:
    """Order names of one family by their cutoff or level."""
    last = name.rpartition("_")[2]
    return float(last) if last.replace(".", "").isdigit() else 0.0


def ours_of(name: str) -> str:
    """Name our measure for a spelling of trec_eval."""
    results = evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, [name], profile="trec9")
    texts = [str(measure) for measure in results.measures]
    return texts[0] if len(texts) == 1 else f"{texts[0]} ... {texts[-1]}"


def geometric(name: str) -> tuple[str, str]:
    """Compare a geometric mean, which pytrec_eval keeps as logarithms."""
    import pytrec_eval

    for qrels, run in data_sets():
        found = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
        mean = math.exp(sum(row[name] for row in found.values()) / len(found))
        results = evaluate(qrels, run, [name], profile="trec9")
        if not math.isclose(float(results.means[0, 0]), mean, rel_tol=1e-9):
            return "different", ""
    return "equal", "the mean; pytrec_eval gives logarithms for single queries"


def ir_measures_rows() -> Iterator[Row]:
    """Compare the families of ir_measures."""
    import ir_measures

    for text, (ours, why) in IR_MEASURES.items():
        parsed = ir_measures.parse_measure(text)

        def ask(data: Data, parsed: Any = parsed) -> Values:
            return answers(ir_measures.iter_calc([parsed], *data), data[1])

        try:
            found = verdict(ask, ours, "trec9")
        except LeadlineError as error:
            found = f"refused ({error})"
        yield Row(text, ours, found, "" if found == "equal" else why)
    for text, (ours, why) in NEED_PERL.items():
        yield Row(text, ours, "not run; tested on examples worked by hand", why)


def answers(metrics: Iterator[Any], run: Run) -> Values:
    """Return the values of ir_measures for the queries of the run."""
    return {metric.query_id: {"value": float(metric.value)} for metric in metrics if metric.query_id in run}


def diversity_rows() -> Iterator[Row]:
    """Compare the measures over subtopics."""
    import ir_measures

    for text, (ours, why) in DIVERSITY.items():
        parsed = ir_measures.parse_measure(text)
        same = True
        for seed in range(8):
            judged, run = random_subtopics(seed)
            listed = [
                ir_measures.Qrel(query, document, grade, subtopic)
                for query, subtopics in judged.items()
                for subtopic, grades in subtopics.items()
                for document, grade in grades.items()
            ]
            theirs = answers(ir_measures.iter_calc([parsed], listed, run), run)
            results = evaluate(judged, run, [ours], subtopics=True)
            for query, value in theirs.items():
                mine = results.value("run", query, ours)
                mine = 0.0 if math.isnan(mine) else mine
                same &= math.isclose(mine, value["value"], rel_tol=1e-5, abs_tol=1e-5)
        yield Row(text, ours, "equal to 5 digits" if same else "different", "" if same else why)


def random_subtopics(seed: int) -> tuple[dict[str, dict[str, dict[str, int]]], Run]:
    """Return judgments by subtopic and a run without ties, whose ids fall where ndeval parts ties."""
    random = np.random.default_rng(seed)
    names = [f"d{number:02d}" for number in range(30)]
    judged: dict[str, dict[str, dict[str, int]]] = {}
    run: Run = {}
    for query in map(str, range(1, 7)):
        judged[query] = {
            str(subtopic): {
                document: int(random.integers(0, 2))
                for document in random.choice(names, size=12, replace=False).tolist()
            }
            for subtopic in range(1, int(random.integers(2, 6)))
        }
        found = random.permutation(names)[:20].tolist()
        run[query] = {document: float(-rank) for rank, document in enumerate(found)}
    return judged, run


def table(rows: Iterator[Row]) -> list[str]:
    """Lay rows out as Markdown: an item for each result and remark, with the measures that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        ours = "" if row.ours in {row.theirs, "-"} else f" (`{row.ours}`)"
        found.setdefault((row.found, row.why), []).append(f"`{row.theirs}`{ours}")
    return [
        f"- **{result}**: {', '.join(names)}" + (f"; {why}" if why else "")
        for (result, why), names in found.items()
    ]


def page() -> str:
    """Make the page."""
    lines = [HEAD, "## trec_eval (through pytrec_eval)", "", *table(pytrec_eval_rows()), ""]
    lines += ["## ir_measures", "", PRINTED, *table(ir_measures_rows()), ""]
    lines += ["## Subtopics: ndeval (six digits) through ir_measures", "", *table(diversity_rows())]
    return "\n".join(lines) + "\n" + OTHERS


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
