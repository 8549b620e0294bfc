"""Write the page of the studies of DeShaTo.

    python -m leadline_studies.shape_systems.page [FOLDER]

FOLDER contains the output of `leadline study`: SET-systems, SET-plain-systems (without feedback), SET-topics
and SET-discrimination for every set.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leadline_studies.common.markdown import table, value_range, with_interval, wrapped
from leadline_studies.common.pages import Json, copy_figures, read_result, update_page

NAME = "shapes"
SETS = {"cranfield": "Cranfield", "cisi": "CISI", "cacm": "CACM", "npl": "NPL", "nfcorpus-test": "NFCorpus"}
PARTS = {
    "systems": "shape-systems",
    "plain-systems": "shape-systems",
    "topics": "shape-topics",
    "discrimination": "shape-discrimination",
}
SISTERS = {"cranfield": "npl", "npl": "cranfield", "cisi": "cacm", "cacm": "cisi"}
NOTE = "<!-- Made by leadline_studies/shape_systems/page.py from the output of `leadline study`. -->"
PAPER = 30  # the paper's depth
MIDDLE = 100  # the paper's number of topics for table 2
FEW = 5  # systems
VOTING = ("nruns", "soboroff", "reference-count", "spoerri", "aslam-savell")
FIGURES = {
    f"{name}/{figure}": f"shapes-{name}-{figure}.svg"
    for name, figure in (
        ("cranfield-topics", "topics"),
        ("cisi-topics", "topics"),
        ("cranfield-systems", "deshato-250"),
        ("cranfield-systems", "nruns"),
    )
}
Results = dict[str, dict[str, Any]]


def load(folder: Path, part: str, study: str) -> Results:
    """Read what a study found, by set; a set that was not tried is left out."""
    paths = {name: folder / f"{name}-{part}" / f"{study}.json" for name in SETS}
    return {name: read_result(path) for name, path in paths.items() if path.exists()}


def tau(row: dict[str, Any] | None, *, fits: bool = True) -> str:
    """Write a tau, with the lowest and highest over fits; what was not tried has none."""
    if row is None or row["tau"] is None:
        return "-"
    span = f" ({row['lowest']:.2f} to {row['highest']:.2f})" if fits else ""
    return f"{row['tau']:.2f}{span}"


def numbers(results: Results) -> list[int]:
    """Return the numbers of topics that were tried."""
    return list(next(iter(results.values()))["topics"])


def discrimination(results: Results) -> str:
    """Write the accuracy against random and hard documents."""
    rows = []
    for name, data in results.items():
        for kind in ("random", "hard"):
            accuracies = {entry["topics"]: entry for entry in data["accuracy"] if entry["other"] == kind}
            cells = [
                with_interval(accuracies[number], ".1%") if number in accuracies else "-"
                for number in numbers(results)
            ]
            rows.append([SETS[name], kind, str(next(iter(accuracies.values()))["queries"]), *cells])
    heads = [f"{number} topics" for number in numbers(results)]
    return table(["set", "other documents", "queries", *heads], rows)


def tuning(results: Results) -> str:
    """Write table 3: tau on the tuning part, by the number of topics."""
    rows = []
    for name, data in results.items():
        votes = data["chosen_by_fit"]
        share = data["used"]["observations"] / (data["queries"] * data["systems"])
        part = f"{data['used']['queries']} x {data['used']['systems']} ({share:.1%})"
        by_fit = ", ".join(f"{entry}: {votes.count(entry)}" for entry in sorted(set(votes)))
        by_number = {row["topics"]: row for row in data["tuning"]}
        cells = [tau(by_number.get(row["topics"])) for row in next(iter(results.values()))["tuning"]]
        rows.append([SETS[name], part, *cells, str(data["chosen"]), by_fit])
    first = next(iter(results.values()))
    for name, taus in first["paper"].items():
        part = "25 x 15 (1.4%)" if "Robust" in name else "5 x 15 (5.0%; 1.65% of both Web sets)"
        best = max(taus, key=lambda number: taus[number])
        rows.append([name, part, *(f"{value:.2f}" for value in taus.values()), best, "-"])
    heads = [f"{row['topics']} topics" for row in first["tuning"]]
    return table(["set", "queries x systems used", *heads, "chosen", "by single fits"], rows)


def transfer_table(results: Results) -> str:
    """Write tau of the choice on all data, on the data not used for tuning, and on a sister collection."""
    rows = []
    for name, data in results.items():
        for part in dict.fromkeys(row["part"] for row in data["ranking"]):
            rows_of_part = [row for row in data["ranking"] if row["part"] == part]
            chosen = next(row for row in rows_of_part if row["topics"] == data["chosen"])
            best = max(rows_of_part, key=lambda row: row["tau"])
            where = f"{part}: {SETS[SISTERS[name]]}" if part == "sister" else part
            rows.append(
                [
                    SETS[name],
                    where,
                    f"{chosen['queries']} x {chosen['systems']}",
                    str(data["chosen"]),
                    tau(chosen),
                    "<0.001" if chosen["p"] < 0.001 else f"{chosen['p']:.3f}",
                    f"{best['topics']}: {best['tau']:.2f}",
                    f"{chosen['nruns']:.2f}",
                ]
            )
    heads = ["set", "evaluated on", "queries x systems", "topics", "tau (fits)", "p of the worst fit"]
    return table([*heads, "best here", "nruns"], rows)


def depths(results: Results) -> str:
    """Write tau of DeShaTo and nruns with MAP@30 by depth."""
    rows = []
    for name, data in results.items():
        for depth in dict.fromkeys(entry["depth"] for entry in data["depths"]):
            by_method = at_depth(data, depth, "MAP@30")
            cells = [tau(by_method.get(f"deshato, {number} topics")) for number in numbers(results)]
            rows.append([SETS[name], str(depth), *cells, tau(by_method["nruns"], fits=False)])
    heads = [f"{number} topics (fits)" for number in numbers(results)]
    return table(["set", "depth", *heads, "nruns"], rows)


def at_depth(data: dict[str, Any], depth: int, truth: str) -> dict[str, dict[str, Any]]:
    """Return the rows of one depth and truth by method."""
    return {
        entry["method"]: entry
        for entry in data["depths"]
        if (entry["depth"], entry["truth"]) == (depth, truth)
    }


def all_methods(results: Results, plain: Results) -> str:
    """Write tau with MAP@30 at the paper's depth of all methods, with feedback and without."""
    rows = []
    for name in results:
        for data, text in ((results[name], ""), (plain.get(name), ", no feedback")):
            if data is None:
                continue
            by_method = at_depth(data, PAPER, "MAP@30")
            shapes = [by_method.get(f"deshato, {number} topics") for number in numbers(results)]
            cells = [tau(entry) + "*" * (entry is not None and is_significant(entry)) for entry in shapes]
            cells += [tau(by_method[method], fits=False) for method in VOTING]
            rows.append([SETS[name] + text, str(data["systems"]), *cells])
    heads = [f"DeShaTo, {number} topics" for number in numbers(results)]
    return table(["set", "systems", *heads, *VOTING], rows)


def is_significant(row: dict[str, Any]) -> bool:
    """Return whether tau is above 0 with p below 0.05 in every fit."""
    return bool((row["lowest"] or 0) > 0 and row["p"] is not None and row["p"] < 0.05)


def few_table(results: Results, plain: Results) -> str:
    """Write mean tau in random sets of five systems."""
    rows = []
    for name in results:
        for data, text in ((results[name], ""), (plain.get(name), ", no feedback")):
            if data is None:
                continue
            by_method = {entry["method"]: entry for entry in data["few"] if entry["systems"] == FEW}
            names = [*(f"deshato, {number} topics" for number in numbers(results)), "nruns"]
            cells = [tau(by_method.get(method), fits=False) for method in names]
            rows.append([SETS[name] + text, *cells])
    heads = [f"DeShaTo, {number} topics" for number in numbers(results)]
    return table(["set", *heads, "nruns"], rows, labels=1)


def ranking_text(results: Results, plain: Results) -> str:
    """Count where tau above 0 is reproduced, and where few systems favour DeShaTo."""
    lines = []
    for data, text in ((results, "All systems"), (plain, "Without feedback")):
        cells = [
            at_depth(entry, PAPER, "MAP@30")[f"deshato, {number} topics"]
            for entry in data.values()
            for number in entry["topics"]
        ]
        wins = [
            {row["method"]: row["tau"] for row in entry["few"] if row["systems"] == FEW}
            for entry in data.values()
        ]
        ahead = sum(
            of_set[method] >= of_set["nruns"] for of_set in wins for method in of_set if method != "nruns"
        )
        lines.append(
            f"- {text}: tau with MAP@30 is above 0 with p < 0.05 in every fit in "
            f"{sum(map(is_significant, cells))} of {len(cells)} cells (sets times numbers of "
            f"topics), marked * above; with five systems DeShaTo's mean tau is at least nruns' in {ahead} of "
            f"{len(cells)}."
        )
    return "\n".join(lines)


def topics_text(results: Results) -> str:
    """Count how often the number chosen is the best one on the rest and on the sister."""

    def best(part: str) -> str:
        hits = tried = 0
        for data in results.values():
            rows_of_part = [row for row in data["ranking"] if row["part"] == part]
            if rows_of_part:
                tried += 1
                top = max(rows_of_part, key=lambda row: row["tau"])
                hits += top["topics"] == data["chosen"]
        return f"{hits} of {tried}"

    agree = [len(set(data["chosen_by_fit"])) == 1 for data in results.values()]
    return (
        "The number chosen is the best one on the held-out queries in "
        f"{best('held-out queries')} sets, on all data in {best('all')}, on the similar collection in "
        f"{best('sister')}. The five fits on the tuning data agree on it in {sum(agree)} of {len(agree)}."
    )


def example(results: Results) -> str:
    """Write of a good and a bad list how much of their mass the largest topics hold."""
    rows, figures = [], []
    heads: list[str] = []
    for name, data in results.items():
        for entry in data.get("examples") or ():
            heads = ["set, query", "list", "system", "relevant", "DeShaTo", *entry["terms"]]
            rows.append(
                [
                    f"{SETS[name]}, {entry['query']}",
                    entry["kind"],
                    entry["run"],
                    f"{entry['relevant']} of {entry['documents']}",
                    f"{entry['score']:.1f}",
                    *(f"{value:.1f}" for value in entry["terms"].values()),
                ]
            )
        if data.get("examples"):
            figures.append(f"![Cumulated topics, {SETS[name]}](shapes-{name}-topics.svg)")
    return f"{table(heads, rows, labels=4)}\n\n" + "\n".join(figures)


PAGE = """# Do topics tell good lists from bad ones, and rank systems (DeShaTo)?

{note}

**Answer: partly.** Ionescu, Chifu and Mothe 2015 report that DeShaTo (the shape of the topics of a list,
[glossary](../glossary.md)) tells relevant documents from others in 92.8 % to 100 % of the queries, and ranks
systems about as well as votes of other systems (nruns; tau 0.61 against 0.62 on Robust). {words}

![DeShaTo against MAP@30, Cranfield](shapes-cranfield-systems-deshato-250.svg)

Cranfield: DeShaTo with 250 topics against MAP@30 of {systems} systems, the set most favourable to it. Ringed:
the best three by either; the axes do not begin at 0.

## How to repeat it

For T = 50, 100, 250 and S = 0 to 4 (`[...]`: `--vectors vectors/T-S.parquet` for all of them):

    leadline topics fit DOCS -k T --sweeps 300 --seed S -o model.npz
    leadline topics infer model.npz DOCS --seed S -o vectors/T-S.parquet
    leadline index DOCS -o IX; leadline index DOCS --language none -o PLAIN
    leadline search IX QUERIES -m MODEL ... -k 100 -o runs
    leadline study shape-systems qrels.txt runs/* [...] -o OUT/SET-systems
    leadline study shape-topics qrels.txt runs/* [...] --sister-qrels QRELS --sister-runs FOLDER \\
        --sister-vectors FILE ... -o OUT/SET-topics
    leadline study shape-discrimination qrels.txt runs/* [...] -o OUT/SET-discrimination
    python -m leadline_studies.shape_systems.page OUT    # in a checkout: this page

With `--docs DOCS` the studies fit the topics themselves; one fit of 20 topics and 50 sweeps for five runs of
CACM takes 3 s of processor time. [Data](README.md#data); leadline {version}; numbers in
[shapes.json](shapes.json).

Systems are {systems} settings of leadline's own on each of {count} collections, at most 100 documents per
query. LDA with 50, 100 and 250 topics on whole collections, {fits} fits of 300 sweeps each (on NPL 150);
values are means over fits, with the range over fits in brackets.

## Relevant and other documents (table 2 of the paper)

Proportion of queries in which DeShaTo of relevant documents is the larger one; the paper, with 100 topics:
92.8 % on Robust, 100 % on the two Web tracks. Every document that is not judged relevant counts as other;
`hard` ones are among the first {hard} of a run. Square brackets: 95 % intervals over queries.

{discrimination}

Accuracy is lower against retrieved documents, which DeShaTo must tell apart to rank systems.

## Ranking systems (table 4 of the paper)

Tau with MAP@30 at depth 30. The paper, DeShaTo and nruns: 0.61 and 0.62 on Robust, 0.23 and 0.10, 0.50 and
0.45 on the Web tracks. `no feedback` is without the {feedback} systems that expand queries (RM1, RM3,
BM25RF).

{methods}

{ranked}

Systems that expand queries retrieve documents that no other system retrieves, which lowers their votes, and
that are similar to each other, which raises DeShaTo: a likely but untested reason for differences between the
two rows of a set.

![nruns against MAP@30, Cranfield](shapes-cranfield-systems-nruns.svg)

nruns against MAP@30 on Cranfield, as above.

In random sets of five systems, mean tau with MAP@30:

{few}

## Number of topics (table 3 of the paper)

Tau with MAP@30 on one query in ten and every m-th system, about 15:

{tuning}

The number chosen there, evaluated on all data as in the paper (including the tuning data), on the rest, and
on a similar collection (`sister`):

{carried}

{tuned}

![tau by the number of topics, Cranfield](shapes-cranfield-topics-topics.svg)
![tau by the number of topics, CISI](shapes-cisi-topics-topics.svg)

Tau by the number of topics on the tuning data, on all data, on the rest and on the similar collection:
Cranfield, then CISI. Bars: the lowest and the highest fit.

## Limitations

These systems share components, on small collections: results for runs of many teams on a large collection may
differ. With one set of systems per collection there is no interval over systems.

## Details: tau by depth

With MAP@30, all systems:

{depths}

## Details: examples

Kurtosis (k) and skewness (s) of the sum (S), the minimum (M) and the product (P) of the topic vectors of a
good and a bad list; the figures show the proportion of the mass in the largest topics. The lists are those
with most and fewest relevant documents among their first 30, of the query with the largest difference:
extreme examples, selected by relevance and not by DeShaTo, with the first topic model. If k(P) is near 98,
the maximum with 100 topics, the product consists of one topic, and only the other terms can tell the lists
apart.

{example}

## Details: the systems

{models}. Those that begin with `plain-` search an index without stemming and stop words.
"""


def text(systems: Results, plain: Results, tuned: Results, parts: Results) -> str:
    """Return the conclusions with their numbers, as text."""

    def ahead(results: Results) -> str:
        rows = {name: at_depth(data, PAPER, "MAP@30") for name, data in results.items()}
        tops = {
            name: max(by_method[f"deshato, {number} topics"]["tau"] for number in results[name]["topics"])
            for name, by_method in rows.items()
        }
        won = [SETS[name] for name in results if tops[name] > rows[name]["nruns"]["tau"]]
        return f"{len(won)} of {len(results)} sets ({', '.join(won) or 'none'})"

    hard = [
        entry["value"] for data in parts.values() for entry in data["accuracy"] if entry["other"] == "hard"
    ]
    rising = sum(max(data["topics"]) == best_number(data) for data in systems.values())
    missed = sum(
        best_number(systems[name]) != data["chosen"] for name, data in tuned.items() if name in systems
    )
    right = [
        entry["value"] > 0.9
        for data in parts.values()
        for entry in data["accuracy"]
        if (entry["other"], entry["topics"]) == ("random", MIDDLE)
    ]
    return (
        "Here relevant documents are told from random ones in more than 90 % of the queries on "
        f"{sum(right)} of {len(right)} sets with {MIDDLE} topics, but from retrieved ones in "
        f"{value_range(hard, '.0%')}. With its best number of topics, known only with judgments, DeShaTo "
        f"ranks systems better than nruns on {ahead(systems)}, without feedback on {ahead(plain)}. The "
        f"largest number tested is the best one on {rising} of {len(systems)}; tuning on one query in ten "
        f"misses the best one on {missed} of {len(tuned)}."
    )


def best_number(data: dict[str, Any]) -> int:
    """Return the number of topics with the largest tau with MAP@30 at the paper's depth."""
    by_method = at_depth(data, PAPER, "MAP@30")
    taus = {int(number): by_method[f"deshato, {number} topics"]["tau"] for number in data["topics"]}
    return max(taus, key=taus.__getitem__)


def models(data: dict[str, Any]) -> str:
    """Name the systems by their files."""
    files = [name for name in data["inputs"] if name.endswith(".run")]
    return ", ".join(name.removesuffix(".run") for name in files)


def page(contents: Results) -> str:
    """Write the page."""
    systems, plain, tuned, parts = (contents[part] for part in PARTS)
    first = next(iter(systems.values()))
    left = first["systems"] - next(iter(plain.values()))["systems"]
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=first["leadline"],
            fits=first["fits"],
            hard=next(iter(parts.values()))["options"]["hard"],
            feedback=left,
            models=models(first),
            systems=" or ".join(sorted({str(data["systems"]) for data in systems.values()})),
            count=len(systems),
            words=text(systems, plain, tuned, parts),
            discrimination=discrimination(parts),
            tuning=tuning(tuned),
            example=example(parts),
            carried=transfer_table(tuned),
            tuned=topics_text(tuned),
            methods=all_methods(systems, plain),
            ranked=ranking_text(systems, plain),
            few=few_table(systems, plain),
            depths=depths(systems),
        )
    )


def collect(folder: Path) -> Json:
    """Read the results in a folder, and copy the figures."""
    results = {part: load(folder, part, study) for part, study in PARTS.items()}
    with_examples = [name for name, data in results["discrimination"].items() if data.get("examples")]
    examples = {f"{name}-discrimination/topics": f"shapes-{name}-topics.svg" for name in with_examples}
    copy_figures(folder, FIGURES | examples)
    return results


if __name__ == "__main__":
    update_page(NAME, page, collect)
