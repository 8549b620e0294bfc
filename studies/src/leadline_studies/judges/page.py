"""Write the page of the study of other judges.

    python -m leadline_studies.judges.page [FOLDER]

FOLDER contains the output of the commands on the page.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from leadline_studies.common.markdown import table, with_interval
from leadline_studies.common.pages import Json, copy_figures, read_result, update_page

NAME = "judges"
NOTE = "<!-- Made by leadline_studies/judges/page.py from the output of `study` and `agreement`. -->"
STUDIES = {
    "dl19": "all relevant grades, documents without a judgment as not relevant",
    "dl19-official": "the measures of the track",
    "dl19-judged": "documents without a judgment dropped",
}
FILES = (*("people", "people-binary", "people-ordinal"), *("machines", "machines-binary", "machines-ordinal"))
PRINTED = {
    "willia-umbrela1": 0.286,
    "h2oloo-zeroshot1": 0.282,
    "h2oloo-fewself": 0.277,
    "TREMA-nuggets": 0.060,
}


def per_judge(results: Json) -> str:
    """Write the changes of the systems' values and order under each judge."""
    measures = results["measures"]
    rows = []
    for judge in results["judges"]:
        cells = [judge, f"{results['kappa'][judge]['scott']:.2f}", f"{results['kappa'][judge]['cohen']:.2f}"]
        for measure in measures:
            entry = next(
                row for row in results["against_reference"] if (row["b"], row["measure"]) == (judge, measure)
            )
            cells += [
                f"{entry['tau']:.2f}",
                f"{entry['mean']:.3f} ({100 * entry['relative']:.0f} %)",
                f"{entry['largest']:.3f}",
                f"{entry['swapped']} of {entry['apart']}",
            ]
        rows.append(cells)
    heads = ["judge", "Scott", "Cohen"]
    for measure in measures:
        heads += [f"tau, {measure}", "mean change", "largest", "pairs that swap"]
    return table(heads, rows)


def summaries(studies: dict[str, Json]) -> str:
    """Write both halves of the claim in all forms of the study."""
    rows = []
    for name, description in STUDIES.items():
        for measure, entry in studies[name]["summary"].items():
            rows.append(
                [
                    f"{measure}; {description}",
                    f"{entry['tau']:.2f} ({entry['lowest_tau']:.2f} to {entry['highest_tau']:.2f})",
                    f"{entry['tau_among_all']:.2f}",
                    f"{100 * entry['relative']:.0f} %",
                    f"{entry['largest']:.3f}",
                    f"{100 * entry['swapped']:.0f} %",
                    f"{entry['widest']:.3f}",
                    "yes" if entry["large_effect"] else "no",
                    "yes" if entry["same_ranking"] else "no",
                ]
            )
    return table(
        [
            "",
            "median tau with the official judge",
            "median tau of any two",
            "median change",
            "largest change",
            "pairs that swap",
            "widest swap",
            "values change",
            "ranking is stable",
        ],
        rows,
    )


def people(files: dict[str, Json]) -> str:
    """Write the agreement of the human judges."""
    rows = []
    forms = {
        "people": "four grades",
        "people-ordinal": "four grades, order counts",
        "people-binary": "two grades (0, 1 and 2, 3)",
    }
    for name, description in forms.items():
        entry = files[name]
        rows.append(
            [
                description,
                with_interval(entry["agreement"]),
                with_interval(entry["scott"]),
                with_interval(entry["cohen"]),
                with_interval(entry["fleiss"]),
                with_interval(entry["krippendorff"]),
            ]
        )
    return table(["", "raw", "Scott", "Cohen", "Fleiss", "Krippendorff"], rows)


def pairs_of(results: Json, name: str) -> dict[str, Json]:
    """Return a coefficient of every judge with the reference."""
    return {entry["b"]: entry for entry in results[name]["between"]}


def machines(files: dict[str, Json]) -> str:
    """Write all machine judges, the highest kappa first."""
    raw, scott, cohen = (pairs_of(files["machines"], name) for name in ("agreement", "scott", "cohen"))
    binary = pairs_of(files["machines-binary"], "cohen")
    ordinal = pairs_of(files["machines-ordinal"], "krippendorff")
    quadratic = pairs_of(files["machines-ordinal"], "cohen")
    rows = [
        [
            name,
            f"{raw[name]['value']:.3f}",
            f"{scott[name]['value']:.3f}",
            with_interval(cohen[name], ".3f"),
            f"{PRINTED[name]:.3f}" if name in PRINTED else "",
            f"{quadratic[name]['value']:.3f}",
            f"{binary[name]['value']:.3f}",
            f"{ordinal[name]['value']:.3f}",
        ]
        for name in sorted(cohen, key=lambda name: -cohen[name]["value"])
    ]
    heads = [
        "judge",
        "raw",
        "Scott",
        "Cohen",
        "printed",
        "Cohen, quadratic",
        "Cohen, two grades",
        "alpha, ordinal",
    ]
    return table(heads, rows)


def inside(results: Json) -> int:
    """Count the judges that are acceptable by either kappa."""
    scott, cohen = pairs_of(results, "scott"), pairs_of(results, "cohen")
    return sum(bool(scott[name]["acceptable"] or cohen[name]["acceptable"]) for name in scott)


PAGE = """# Study: does the ranking of systems survive another judge?

{note}

The textbook claim on disagreement between assessors (Manning, Raghavan and Schuetze 2008) has two parts: a
large impact on absolute effectiveness values, virtually no impact on the ranking of systems. Eight assessors
judged 188 passages of three queries of TREC 2019 Deep Learning again; the {systems} submitted runs are
evaluated with each of them. leadline {version}, seed 0. By our rule the first part holds if the median judge
changes values by 10 % of their mean or more, the second if the median tau with the official judgments is 0.9
or more (Voorhees 2000 regards 0.9 as equivalent).

{words}

{summaries}

Tau is over systems; change is that of a system's value, relative to the mean; a swap is a pair of systems
in reversed order, and its width their difference by the official judgments.

## Each judge

By {first}, and all documents without a judgment as not relevant:

{per_judge}

![mean AP of the systems under each judge](judges-ap.svg)

Black: the official judgments, which order the systems. Lines above it are of more lenient judges.

## Agreement of the human judges

{people}

Brackets are 95 % bootstrap intervals over pairs, because three queries are too few to resample; they hold for
these queries only. Scott and Cohen are means over the 36 pairs of nine judges (including the official one).
Cohen's kappa of two human judges is between {least:.2f} and {most:.2f}, with the official judge between
{official_least:.2f} and {official_most:.2f}, as in the notes of the data set (0.09 to 0.54, 0.04 to 0.33).
{acceptable} of 36 pairs are in the range [2/3, 1].

![Cohen's kappa of every two judges](judges-people.svg)

## Agreement of machine judges with human judges

33 automatic judges of the LLMJudge challenge and the human grades: {pairs:,} pairs of {queries} queries, all
judged by all. Intervals are from a bootstrap over queries. Three grades are outside the scale (two 5, one
10); they are kept, and count as disagreement. "Printed" are the values in the notes of the data set.

{machines}

{inside} of 33 machines are in the range [2/3, 1] by Scott's pi or Cohen's kappa on four grades,
{inside_binary} on two; neither are the human judges above. Intervals are wide, and each is
of one machine alone: whether two machines differ is a question for the interval of their difference, because
they judge the same pairs.

![Cohen's kappa of each machine judge with people](judges-machines.svg)
![Cohen's kappa of every two judges, machines and people](judges-all.svg)

First each machine with the human judges, then all pairs: some machines of one team agree with each other,
none with the human judges.

## Reproducing the results

    cd trec-dl-2019-passage
    J=../dl19-rejudged-8judges/labels.tsv
    leadline study judges qrels.txt runs/* --judges $J:judge1 ... --judges $J:judge8 -o OUT/dl19
    leadline study judges ... --measure "AP(rel=2)" --measure nDCG@10 -o OUT/dl19-official
    leadline study judges ... --judged-only yes -o OUT/dl19-judged
    leadline agreement $J -f json -o OUT/people.json --plot OUT/people.svg
    leadline agreement $J -f json --rel 2 -o OUT/people-binary.json
    leadline agreement $J -f json --level ordinal --weights quadratic -o OUT/people-ordinal.json
    cd ../llmjudge-dl23
    M="human.qrels.txt judges/* --reference -f json"
    leadline agreement $M -o OUT/machines.json --plot OUT/machines.svg
    leadline agreement $M --rel 2 -o OUT/machines-binary.json
    leadline agreement $M --level ordinal --weights quadratic -o OUT/machines-ordinal.json
    leadline agreement human.qrels.txt judges/* -f json -o OUT/all.json --plot OUT/all.svg
    python -m leadline_studies.judges.page OUT
"""


def conclusions(studies: dict[str, Json]) -> str:
    """Return the conclusions with their numbers, as text."""
    first = studies["dl19"]
    ap, ndcg = first["summary"]["AP"], first["summary"]["nDCG"]
    few = first["few_queries"]
    moved = [entry for study in studies.values() for entry in study["summary"].values()]
    numbers = sum(bool(entry["large_effect"]) for entry in moved)
    stays = sum(bool(entry["same_ranking"]) for entry in moved)
    conclusion = (
        f"Values change: MAP by {100 * ap['relative']:.0f} % with the median judge and by up to "
        f"{100 * ap['largest_relative']:.0f} % with the most lenient one, nDCG by "
        f"{100 * ndcg['relative']:.0f} % and up to {100 * ndcg['largest_relative']:.0f} %; the first part "
        f"holds in {numbers} of the {len(moved)} rows below. The ranking changes far less, but not virtually "
        f"not at all: median tau is {ap['tau']:.2f} (MAP) and {ndcg['tau']:.2f} (nDCG), and the required 0.9 "
        f"is reached in {stays} of {len(moved)} rows; {100 * ap['swapped']:.0f} % of pairs of systems swap, "
        f"none with a difference above {ap['widest']:.3f} in MAP. The second part is **not reproduced** as "
        "stated, but in its direction: judges who agree hardly better than by chance still rank the systems "
        "similarly. A likely reason is the number of queries, about fifty in Voorhees' study and three here. "
        f"For comparison, with one and the same judge these {first['pairs']} pairs of {first['queries']} "
        f"queries against the judgments of all {first['reference_queries']} queries give tau "
        f"{few['AP']:.2f} (MAP) and {few['nDCG']:.2f} (nDCG): the number of judgments matters more here than "
        "the judge."
    )
    return textwrap.fill(f"**Results.** {conclusion}", 110)


def page(contents: Json) -> str:
    """Write the page."""
    studies, files = contents["studies"], contents["files"]
    every = files["people"]["cohen"]["between"]
    official = [entry["value"] for entry in every if "official" in (entry["a"], entry["b"])]
    between = [entry["value"] for entry in every if "official" not in (entry["a"], entry["b"])]
    return PAGE.format(
        note=NOTE,
        version=studies["dl19"]["leadline"],
        systems=len(studies["dl19"]["systems"]),
        words=conclusions(studies),
        summaries=summaries(studies),
        per_judge=per_judge(studies["dl19"]),
        first=" and ".join(studies["dl19"]["measures"]),
        people=people(files),
        least=min(between),
        most=max(between),
        official_least=min(official),
        official_most=max(official),
        acceptable=sum(bool(entry["acceptable"]) for entry in every),
        pairs=files["machines"]["pairs"],
        queries=len(files["machines"]["queries"]),
        machines=machines(files),
        inside=inside(files["machines"]),
        inside_binary=inside(files["machines-binary"]),
    )


def collect(folder: Path) -> Json:
    """Read the results in a folder, and copy the figures."""
    figures = {name: f"judges-{name}.svg" for name in ("people", "machines", "all")}
    copy_figures(folder, figures | {"dl19/AP": "judges-ap.svg"})
    return {
        "studies": {name: read_result(folder / name / "judges.json") for name in STUDIES},
        "files": {name: read_result(folder / f"{name}.json") for name in FILES},
    }


if __name__ == "__main__":
    update_page(NAME, page, collect)
