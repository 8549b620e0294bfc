"""Write the page of the study of significance tests, its tables and figures.

    python -m leadline_studies.significance.page [MATRICES]
    python -m leadline_studies.significance.page --intervals DATA | --correlate DATA | --gates MATRICES

With MATRICES, a folder of score matrices, simulates first (about a quarter of an hour on one core).
`--intervals` simulates the intervals that commands print, from a folder of data sets, and writes
_significance_intervals.json; `--correlate` only those of `correlate` in it; `--gates` only the false alarms
of gates, in half a minute.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

import csv
import json
import math
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping
from typing import Any

from leadline.reporting.plots import picture
from leadline.stats.paired_tests import Bootstrap, Randomisation
from leadline_studies.common.figures import significance_errors
from leadline_studies.common.markdown import percent, table
from leadline_studies.common.pages import PAGES, read_numbers, write_page
from leadline_studies.significance import intervals_page as printed
from leadline_studies.significance.families import WORLDS
from leadline_studies.significance.populations import read_matrices
from leadline_studies.significance.simulation import FULL, simulate_all

NAME = "significance"
SEED = 0
Rows = list[dict[str, Any]]
NULLS = {"exchangeable": "exchangeable runs", "tilted": "real, reweighted", "shifted": "real, shifted"}
ESTIMATES = {
    "mean": "a mean",
    "difference": "a difference",
    "redrawn": "a difference, real ones redrawn",
    "ratio": "a ratio",
}
TESTS = ("T", "Randomisation", "Bootstrap", "Wilcoxon")
INTERVALS = ("Student", "BCa", "Percentile")
PROCEDURES = (
    "Tukey",
    "Holm(T)",
    "Holm(Randomisation)",
    "Hochberg(T)",
    "Bonferroni(T)",
    "BH(T)",
    "Uncorrected(T)",
)


def run(folder: str) -> None:
    """Simulate, and write the numbers: all as JSON, each table as CSV."""
    matrices = read_matrices(folder)
    start = time.process_time()
    tables = simulate_all(matrices, seed=SEED)
    facts = {
        "seed": SEED,
        "minutes": round((time.process_time() - start) / 60, 1),
        "extent": FULL._asdict(),
        "matrices": {name: list(matrix.shape) for name, matrix in matrices.items()},
    }
    rounded_tables = {name: [printed.rounded(row) for row in rows] for name, rows in tables.items()}
    with open(PAGES / "significance.json", "w", encoding="utf-8") as file:
        lines = [
            f"{json.dumps(name)}: [\n{printed.json_rows(rows)}\n]" for name, rows in rounded_tables.items()
        ]
        file.write("{\n" + ",\n".join([f'"facts": {json.dumps(facts)}', *lines]) + "\n}\n")
    for name, rows in rounded_tables.items():
        with open(PAGES / f"significance-{name}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


# Cells and tables


def with_error(value: float | None, error: float | None, digits: int = 1) -> str:
    """Return a proportion and its standard error in per cent, as text."""
    return percent(value, digits) + ("" if error is None else f" ({percent(error, digits)})")


def single_row(rows: Rows, **facts: object) -> dict[str, Any]:
    """Return the one row of which these facts are true."""
    (found,) = (row for row in rows if all(row[key] == value for key, value in facts.items()))
    return found


def sizes(rows: Rows) -> list[int]:
    """Return the numbers of queries that were simulated."""
    return sorted({row["queries"] for row in rows})


def groups(rows: Rows, by: str) -> list[str]:
    """Return the groups of one kind, in the order of the run."""
    return list(dict.fromkeys(row["group"] for row in rows if row["by"] == by))


def type_one(rows: Rows) -> str:
    """Write type I errors by null, test, level and number of queries."""
    head = ["null", "test"] + [
        f"{percent(level, 0)} %, {queries}" for level in (0.05, 0.01) for queries in sizes(rows)
    ]

    def cell(null: str, test: str, level: float, queries: int) -> str:
        row = single_row(rows, null=null, test=test, by="all", level=level, queries=queries)
        return with_error(row["rate"], row["se"], 1 if level > 0.01 else 2)

    return table(
        head,
        (
            [
                NULLS[null],
                test,
                *(cell(null, test, level, queries) for level in (0.05, 0.01) for queries in sizes(rows)),
            ]
            for null in NULLS
            for test in TESTS
        ),
        labels=2,
    )


def tails(rows: Rows) -> str:
    """Write how the rejections at 5 % fall on the two tails."""
    head = ["null", "test"] + [f"{side}, {queries}" for queries in sizes(rows) for side in ("below", "above")]

    def cells(null: str, test: str) -> list[str]:
        subset = [
            single_row(rows, null=null, test=test, by="all", level=0.05, queries=queries)
            for queries in sizes(rows)
        ]
        return [percent(row[side]) for row in subset for side in ("below", "above")]

    return table(
        head, ([NULLS[null], test, *cells(null, test)] for null in NULLS for test in TESTS), labels=2
    )


def by_group(rows: Rows, by: str, nulls: Iterable[str], queries: Iterable[int]) -> str:
    """Write type I errors at 5 % by measure, or by class of skewness."""
    wanted = groups(rows, by)

    def cell(null: str, test: str, number: int, group: str) -> str:
        subset = [
            row
            for row in rows
            if (row["null"], row["test"], row["queries"]) == (null, test, number)
            and (row["by"], row["group"], row["level"]) == (by, group, 0.05)
        ]
        return with_error(subset[0]["rate"], subset[0]["se"]) if subset else "-"

    return table(
        ["null", "queries", "test", *wanted],
        (
            [NULLS[null], str(number), test, *(cell(null, test, number, group) for group in wanted)]
            for null in nulls
            for number in queries
            for test in TESTS
        ),
        labels=3,
    )


def powers(rows: Rows) -> str:
    """Write power by test, number of queries and size of the true difference."""
    effects = list(dict.fromkeys(row["effect"] for row in rows))
    head = ["queries", "test", *(f"found, d = {effect}" for effect in effects), "wrong, d = " + effects[0]]

    def cells(queries: int, test: str) -> list[str]:
        subset = [single_row(rows, queries=queries, test=test, effect=effect) for effect in effects]
        rates = [with_error(row["found"], row["se"]) for row in subset]
        return [str(queries), test, *rates, percent(subset[0]["wrong"], 2)]

    return table(head, (cells(queries, test) for queries in sizes(rows) for test in TESTS), labels=2)


def coverages(rows: Rows) -> str:
    """Write coverage, misses and width by interval and number of queries."""
    least = sizes(rows)[0]
    head = [
        "of",
        "interval",
        *(str(queries) for queries in sizes(rows)),
        f"below, {least}",
        f"above, {least}",
        f"width, {least}",
    ]
    lines = []
    for quantity, description in ESTIMATES.items():
        for interval in INTERVALS if quantity != "ratio" else ("BCa",):
            subset = [
                single_row(rows, of=quantity, interval=interval, queries=queries, measure="all")
                for queries in sizes(rows)
            ]
            width = "-" if quantity == "ratio" else f"{subset[0]['width']:.3f}"
            lines.append(
                [
                    description,
                    interval,
                    *(with_error(row["coverage"], row["se"]) for row in subset),
                    percent(subset[0]["below"]),
                    percent(subset[0]["above"]),
                    width,
                ]
            )
    return table(head, lines, labels=2)


def coverages_by_measure(rows: Rows, queries: int) -> str:
    """Write coverage by measure for one number of queries."""
    measures = sorted({row["measure"] for row in rows} - {"all"})
    lines = []
    for quantity, description in ESTIMATES.items():
        for interval in INTERVALS if quantity != "ratio" else ("BCa",):
            subset = [
                single_row(rows, of=quantity, interval=interval, queries=queries, measure=measure)
                for measure in measures
            ]
            lines.append([description, interval, *(with_error(row["coverage"], row["se"]) for row in subset)])
    return table(["of", "interval", *measures], lines, labels=2)


def splits(rows: Rows) -> str:
    """Write the agreement of the conclusions from two halves of the queries."""
    columns = ("significant", "again", "minor", "major")
    subset = [single_row(rows, test=test) for test in TESTS]
    return table(
        ["test", *columns],
        (
            [
                row["test"],
                *(with_error(row[name], row[f"{name}_se"], 2 if name == "major" else 1) for name in columns),
            ]
            for row in subset
        ),
        labels=1,
    )


def family_errors(rows: Rows) -> str:
    """Write family-wise errors and power of the procedures for many runs."""
    head = [
        "runs, queries",
        "procedure",
        "all equal",
        "equal means",
        "equal in twos",
        "all different",
        "found, all different",
        "false, equal in twos",
    ]
    lines = []
    for runs, queries in dict.fromkeys((row["runs"], row["queries"]) for row in rows):
        for procedure in PROCEDURES:
            scenarios = {
                world: single_row(rows, runs=runs, queries=queries, procedure=procedure, world=world)
                for world in WORLDS
            }
            last = scenarios["all different"]
            lines.append(
                [
                    f"{runs}, {queries}",
                    procedure,
                    *(with_error(row["family"], row["family_se"]) for row in scenarios.values()),
                    with_error(last["found"], last["found_se"]),
                    percent(scenarios["equal in twos"]["false"], 2),
                ]
            )
    return table(head, lines, labels=2)


def draws(rows: Rows) -> str:
    """Write the effect of fewer draws."""
    return table(
        [
            "test",
            "sets",
            "draws here",
            "draws by default",
            "rejected here",
            "rejected by default",
            "decided otherwise",
        ],
        (
            [
                row["test"],
                str(row["sets"]),
                f"{row['draws']:,}",
                f"{row['default_draws']:,}",
                percent(row["few"], 2),
                percent(row["default"], 2),
                percent(row["differ"], 2),
            ]
            for row in rows
        ),
        labels=1,
    )


def most_runs(count: int) -> int:
    """Return for how many runs the smallest p of a test that draws so often still passes Holm at 5 %."""
    pairs = math.floor(0.05 * (count + 1) + 1e-9)
    return int((1 + math.sqrt(1 + 8 * pairs)) / 2)


def figures(data: Mapping[str, Any]) -> None:
    """Draw both figures."""
    rejections, covered = data["rejections"], data["coverage"]
    numbers = sizes(rejections)
    errors = {
        NULLS[null]: {
            test: [
                (row["rate"], row["se"])
                for queries in numbers
                for row in [
                    single_row(rejections, null=null, test=test, by="all", level=0.05, queries=queries)
                ]
            ]
            for test in TESTS
        }
        for null in NULLS
    }
    held = {
        ESTIMATES[quantity].replace(", ", ",\n"): {
            interval: [
                (row["coverage"], row["se"])
                for queries in numbers
                for row in [
                    single_row(covered, of=quantity, interval=interval, queries=queries, measure="all")
                ]
            ]
            for interval in (INTERVALS if quantity != "ratio" else ("BCa",))
        }
        for quantity in ESTIMATES
    }
    drawn = {
        "significance-errors.svg": significance_errors(
            errors, numbers, promised=0.05, label="share rejected at 0.05"
        ),
        "significance-coverage.svg": significance_errors(
            held, numbers, promised=0.95, label="share of intervals with the truth"
        ),
    }
    with open(PAGES / "significance-intervals.svg", "wb") as file:
        file.write(printed.figure(printed_numbers()))
    for name, figure in drawn.items():
        with open(PAGES / name, "wb") as file:
            file.write(picture(figure, "svg"))


def page(data: Mapping[str, Any]) -> str:
    """Write the page."""
    parts = (
        question,
        answer,
        method,
        errors_text,
        power_text,
        coverage_text,
        splits_text,
        families_text,
        printed_text,
    )
    texts = [*(part(data) for part in parts), limits_text()]
    paragraphs = "\n\n".join(text.strip("\n") for text in texts).split("\n\n")
    return NOTE + "\n\n".join(map(wrapped_text, paragraphs)) + "\n"


def wrapped_text(paragraph: str) -> str:
    """Wrap the lines of paragraphs; tables and lists stay as they are."""
    if paragraph.startswith(("|", "- ", "#", "!", "<")):
        return paragraph
    return textwrap.fill(paragraph, 110, break_long_words=False, break_on_hyphens=False)


NOTE = """<!-- Made by leadline_studies/significance/page.py from significance.json. -->

"""


def question(data: Mapping[str, Any]) -> str:
    """Write the answer in short, and the sections on the question and the data."""
    matrices = data["facts"]["matrices"]
    rows, covered, many = data["rejections"], data["coverage"], data["families"]
    errors = {test: span(rate for null in NULLS for rate in rates(rows, test, null)) for test in TESTS}
    families = {
        name: span(
            row["family"]
            for row in many
            if row["procedure"] == name and row["world"] in {"all equal", "equal means"}
        )
        for name in ("Holm(T)", "Tukey")
    }
    differences = span([*held(covered, "Student", "difference"), *held(covered, "Student", "redrawn")])
    rows = [
        [name.rpartition("_")[0], name.rpartition("_")[2], str(queries), str(runs)]
        for name, (queries, runs) in matrices.items()
    ]
    return f"""
# Which test, which interval, which correction

**Answer: the t test, Student's interval, and Holm's correction.** On average over pairs of real runs, with 25
to 100 queries, t rejects {errors["T"]} of true nulls at level 0.05, Student's 95 % intervals of a difference
cover in {differences}, and with Holm's correction {families["Holm(T)"]} of families without any difference
have a false finding. Not Wilcoxon as a test of means ({errors["Wilcoxon"]} of true nulls), and not the
randomised Tukey HSD ({families["Tukey"]} of families). With few queries and very skewed differences none
of the tests holds its level.

## The question

Run A has a higher mean than run B over a sample of queries. Does it over the population of such queries? A
test gives a p-value, an interval the plausible differences of the means, and a correction limits false
findings among many comparisons. All rest on assumptions that retrieval scores do not meet: scores lie between
0 and 1, are skewed, take few values or are often equal. The question is how well the nominal rates hold:

- of a test at level 0.05, that it rejects a true null in 5 % of all sets of queries;
- of a 95 % interval, that it covers the true value in 95 % of them;
- of a correction, that at most 5 % of all families contain a false finding.

Everything is measured with leadline's own code: every test of `leadline.stats.TESTS`, every interval of
`INTERVALS`, every correction of `CORRECTIONS`, and the randomised Tukey HSD.

## The data

Scores of submitted runs, {len(matrices)} matrices of queries x runs, published by Urbano, Lima and Hanjalic
(github.com/julian-urbano/sigir2019-statistical, data under CC BY-SA 4.0). As in their work the worst quarter
of the runs of each matrix, by mean, is left out; so are, here, pairs that differ on fewer than ten
queries.

{table(["collection", "measure", "queries", "runs"], rows, labels=2)}
"""


def method(data: Mapping[str, Any]) -> str:
    """Write the section on the method."""
    facts = data["facts"]
    extent = facts["extent"]
    return f"""
## Method

Whether two real runs differ over all queries is unknown. So queries are simulated from populations that
are fitted to real runs and whose means are known. From each matrix {extent["pairs"]} pairs of runs are drawn,
and {extent["sets"]} sets of queries from each pair, for {", ".join(map(str, extent["sizes"]))} queries.

Three populations in which the means are equal (true nulls):

- **{NULLS["exchangeable"]}**: both runs have the margin of the first run, and a normal copula with the rank
  correlation of the two. The margin is the run's own scores: smooth (linear between the sorted scores) where
  they differ, the scores themselves where the measure takes few values (P@10, RR). The runs can be exchanged,
  so differences are symmetric. This is the design of Urbano, Lima and Hanjalic (2019), with the simplest of
  their copulas.
- **{NULLS["tilted"]}**: the real differences of the two runs, drawn with replacement with the probabilities,
  nearest to equal, that make their mean exactly 0 (exponential tilting, Efron 1981). Zeros and ties are
  preserved; the differences are as skewed as real ones. Pairs with an effective sample size below half of the
  queries are excluded: they differ too much for this to be a credible null.
- **{NULLS["shifted"]}**: the real differences minus their mean, drawn with replacement, also of pairs that
  differ much. This is the hardest: differences that are skewed because one run is far better stay skewed,
  and ties are no longer at 0.

In the last two the sign of the differences is such that their population is skewed to the right.

Where runs differ, both have their own margins under the normal copula; the true means are those of the
margins, exactly. Coverage of differences is also measured on real differences drawn with replacement.

Numbers in brackets are Monte Carlo standard errors, from the variation over pairs of runs, which are drawn at
random too; all numbers but counts are in per cent. Randomised tests and bootstrap intervals use
{extent["draws"]:,} draws here, with a new seed for every 500 sets. The difference from the default number of
draws is small (tilted null, 50 queries, level 0.05):

{draws(data["fewer_draws"])}

The whole study took {facts["minutes"]:g} minutes of one core, with seed {facts["seed"]}:
`python -m leadline_studies.significance.page MATRICES`. All numbers are in significance.json and the CSV
files here.
"""


def errors_text(data: Mapping[str, Any]) -> str:
    """Write the section on type I errors."""
    rows = data["rejections"]
    return f"""
## Type I errors

Rejection rate of true nulls, by level and number of queries:

{type_one(rows)}

![Type I errors](significance-errors.svg)

Bars: two standard errors on both sides. Nominally each tail at level 0.05 has 2.5 %; "below" are the sets in
which the mean of differences skewed to the right is negative:

{tails(rows)}

By measure, level 0.05:

{by_group(rows, "measure", ["exchangeable", "tilted", "shifted"], [50])}

By absolute skewness of the population, level 0.05:

{by_group(rows, "skewness", ["tilted", "shifted"], [25, 100])}
"""


def power_text(data: Mapping[str, Any]) -> str:
    """Write the section on power."""
    return f"""
## Power

Rate of significant results with the correct sign at level 0.05, by the true standardised difference d (mean
divided by standard deviation of the differences); the last column is the rate of significant results with the
wrong sign, for the smallest differences:

{powers(data["power"])}
"""


def coverage_text(data: Mapping[str, Any]) -> str:
    """Write the section on intervals."""
    rows = data["coverage"]
    least = sizes(rows)[0]
    return f"""
## Intervals

Coverage of 95 % intervals by number of queries. "below" is the share of intervals that lie below the true
value, "above" above it, nominally 2.5 % each; the width is relative to that of the t interval:

{coverages(rows)}

![Coverage](significance-coverage.svg)

By measure, {least} queries:

{coverages_by_measure(rows, least)}
"""


def splits_text(data: Mapping[str, Any]) -> str:
    """Write the section on splits of the queries."""
    rows = data["halves"]
    return f"""
## Splitting real queries

Without a model: the queries of a matrix are split into two random halves ({rows[0]["splits"]:,} splits of
pairs of runs). `significant` is the proportion of splits with p <= 0.05 in the first half. Of these, the
second half is significant with the same sign (`again`), has the opposite sign without significance (`minor`),
or is significant with the opposite sign (`major`; Zobel 1998; Sanderson and Zobel 2005; Urbano, Marrero and
Martin 2013):

{splits(rows)}
"""


def families_text(data: Mapping[str, Any]) -> str:
    """Write the section on many runs."""
    rows = data["families"]
    return f"""
## Many runs

All pairs of 10 to 40 runs at once, in four scenarios, all with the rank correlations of real runs:

{table(["world", "what is true"], ([f"*{name}*", truth] for name, truth in WORLDS.items()), labels=2)}

The first four columns of numbers are the shares of families with at least one false finding (a pair that does
not differ, or differs the other way); nominal is 5 % (for BH only in the first two). Then the mean share
of truly different pairs that are found, where all are different, and the mean share of false ones among the
findings:

{family_errors(rows)}
"""


def printed_numbers() -> dict[str, Any]:
    """Read the simulated coverage of printed intervals."""
    with open(str(PAGES / "_significance_intervals.json"), encoding="utf-8") as file:
        numbers: dict[str, Any] = json.load(file)
        return numbers


def printed_text(data: Mapping[str, Any]) -> str:
    """Write the section on the intervals that commands print."""
    return printed.section(data.get("printed") or printed_numbers())


def span(values: Iterable[float]) -> str:
    """Return the range of some proportions in per cent, as text."""
    shares = list(values)
    return f"{percent(min(shares))} to {percent(max(shares))} %"


def rates(rows: Rows, test: str, null: str, level: float = 0.05) -> list[float]:
    """Return the type I errors of a test under a null, for rising numbers of queries."""
    return [
        single_row(rows, null=null, test=test, by="all", level=level, queries=queries)["rate"]
        for queries in sizes(rows)
    ]


def held(rows: Rows, interval: str, quantity: str) -> list[float]:
    """Return the coverage of an interval, for rising numbers of queries."""
    return [
        single_row(rows, of=quantity, interval=interval, queries=queries, measure="all")["coverage"]
        for queries in sizes(rows)
    ]


def answer(data: Mapping[str, Any]) -> str:
    """Write the conclusion."""
    rows, covered, many = data["rejections"], data["coverage"], data["families"]

    def family(procedure: str, key: str, world: str) -> str:
        return span(row[key] for row in many if row["procedure"] == procedure and row["world"] == world)

    few = sizes(rows)[0]
    careful = percent(rates(rows, "Bootstrap", "exchangeable")[0])

    def strong(test: str) -> str:
        group = groups(rows, "skewness")[-1]
        facts = {"null": "shifted", "level": 0.05, "queries": few, "group": group}
        return percent(single_row(rows, test=test, by="skewness", **facts)["rate"])

    lines = [[test, *(span(rates(rows, test, null)) for null in NULLS)] for test in TESTS]
    shared = [quantity for quantity in ESTIMATES if quantity != "ratio"]
    held_lines = [
        [interval, *(span(held(covered, interval, quantity)) for quantity in shared)]
        for interval in INTERVALS
    ]
    return f"""
## The answer

Type I errors at level 0.05, range over {", ".join(map(str, sizes(rows)))} queries:

{table(["test", *NULLS.values()], lines, labels=1)}

Coverage of 95 % intervals, range over the same:

{table(["interval", *(ESTIMATES[quantity] for quantity in shared)], held_lines, labels=1)}

**Test: t (`T`).** Its error rate is within a percentage point of the level on average in every population, as
is that of the randomisation test; the two hardly differ in errors or power. t needs no draws, has no minimum
p-value, and agrees with its interval. It fails with few queries and strong skewness: at {few}
queries and skewness of 2 or more it rejects {strong("T")} % of true shifted nulls, the randomisation test
{strong("Randomisation")} %, the bootstrap test {strong("Bootstrap")} %. Even where the two-sided rate is
correct, the tails are unequal: a run that wins by rare large differences is found significantly worse too
often, and significantly better too rarely. One-sided p-values of skewed differences are therefore less
reliable. `Randomisation` is an alternative that assumes only exchangeable runs. `Bootstrap` is best under
strong skewness, but with few queries it is conservative otherwise ({careful} % at {few} queries, exchangeable
runs) and slightly less powerful.

**Not Wilcoxon, for means.** It is exact for symmetric differences, and slightly more powerful. With real
distributions of equal means it rejects {span(rates(rows, "Wilcoxon", "tilted"))} (reweighted) and
{span(rates(rows, "Wilcoxon", "shifted"))} (shifted), and *more* with more queries, because it tests a
different hypothesis. It also has the highest rate of wrong signs. Splitting real queries does not show this,
because the truth is unknown there.

**Interval: t (`Student`).** For a difference its coverage is close to nominal
({span(held(covered, "Student", "difference"))}; {span(held(covered, "Student", "redrawn"))} on real
differences). `BCa` is too narrow for differences, {span(held(covered, "BCa", "difference"))}, and here no
better than `Percentile`: estimating the skewness from few queries costs more than the
correction gains. For the mean of one run both t and BCa fall short with few queries
({percent(held(covered, "Student", "mean")[0])} and {percent(held(covered, "BCa", "mean")[0])} % at {few});
BCa's errors are more evenly distributed over the two sides and it is narrower. For a ratio of means there is
only `BCa` ({span(held(covered, "BCa", "ratio"))}), and the lowest of these is with {few} queries.

**Correction: Holm with t.** Its family-wise error is below 5 % in every scenario
({family("Holm(T)", "family", "all equal")} and {family("Holm(T)", "family", "equal means")} where all means
are equal); it can be conservative. Hochberg's is the same here, Bonferroni's never better. The randomised
Tukey HSD finds slightly more pairs ({family("Tukey", "found", "all different")} against
{family("Holm(T)", "found", "all different")} of all), at the cost of errors:
{family("Tukey", "family", "all equal")} of families with a false finding where all runs have one margin,
{family("Tukey", "family", "equal means")} where they have different ones of equal mean. It assumes
equal variances of all differences, which real runs do not have, so that pairs with the largest variance are
found too often. For the ranking of many runs where a small proportion of false findings is acceptable, BH
finds most ({family("BH(T)", "found", "all different")}), with few false ones
({family("BH(T)", "false", "equal in twos")} of the findings), though in many families at least one. Without
correction {family("Uncorrected(T)", "family", "all equal")} of families have a false finding.

**Corrections need small p-values.** The minimum p-value of a randomised test is 1 / (draws + 1). With the
default number of draws, Holm's first step at 0.05 cannot be reached by `Randomisation` for all pairs of more
than {most_runs(Randomisation().draws)} runs, nor by `Bootstrap` for more than {most_runs(Bootstrap().draws)}:
no difference can be significant, whatever the data.
"""


def limits_text() -> str:
    """Write the section on limitations and sources."""
    return """
## Limitations

- Populations are fitted to about fifty queries of four collections, of classical runs. Differences between
  two versions of one system, where most queries do not change, are rarer here than in practice.
- The copula is normal. Urbano, Lima and Hanjalic (2019) fit many kinds, some of which make even runs of equal
  margins differ in skew; at 50 queries and level 0.05 they report, for AP, 5.1 % for t, 5.2 % for the
  randomisation test, 7.2 % for Wilcoxon and 6.0 % for a bootstrap test that shifts means without
  studentising. The last is not leadline's bootstrap test, which compares t.
- Queries are assumed to be an independent sample of the population of interest, documents and judgments
  fixed.
- Otero, Parapar and Barreiro (2025) recommend Wilcoxon with BH for many runs, for its power. Its errors for
  means of skewed differences, above, are the reason for not following them here.
- Comparisons of many runs with one baseline were not simulated.

## Sources

Carterette 2012, ACM TOIS 30(1), on many comparisons and the randomised Tukey HSD. Efron 1981, Canadian
Journal of Statistics 9, on tilting. Otero, Parapar and Barreiro 2025, ECIR (arXiv 2501.03930). Sakai 2006,
SIGIR, on the bootstrap test. Sanderson and Zobel 2005, SIGIR. Smucker, Allan and Carterette 2007, CIKM:
randomisation, bootstrap and t agree, Wilcoxon does not. Urbano, Lima and Hanjalic 2019, SIGIR, whose scores
and design are used here. Urbano, Marrero and Martin 2013, SIGIR. Zobel 1998, SIGIR.
"""


def main(arguments: list[str]) -> None:
    """Run the simulation named, if any, and write figures and page."""
    if arguments[:1] == ["--intervals"]:
        printed.simulate(arguments[1], str(PAGES / "_significance_intervals.json"), seed=SEED)
    elif arguments[:1] == ["--correlate"]:
        printed.simulate_correlations(arguments[1], str(PAGES / "_significance_intervals.json"), seed=SEED)
    elif arguments[:1] == ["--gates"]:
        printed.simulate_gates(arguments[1], str(PAGES / "_significance_intervals.json"), seed=SEED)
    elif arguments:
        run(arguments[0])
    numbers = read_numbers(NAME)
    figures(numbers)
    write_page(NAME, page(numbers))


if __name__ == "__main__":
    main(sys.argv[1:])
