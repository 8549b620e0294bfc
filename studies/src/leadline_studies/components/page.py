"""Write the page of the study of components, after running it where DATA is named.

    python -m leadline_studies.components.page [DATA]

DATA contains a folder per collection, with docs.jsonl (or .gz), queries.jsonl and qrels.txt.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

import sys
from pathlib import Path

import leadline as ll
from leadline.reporting.plots import picture
from leadline_studies import study
from leadline_studies.common.markdown import bold, table, value_range, wrapped
from leadline_studies.common.pages import PAGES, Json, find_documents, update_page
from leadline_studies.components.study import best_of

SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
NAME = "components"
NOTE = "<!-- Made by leadline_studies/components/page.py from the output of the study. -->"


def collect(data: Path) -> Json:
    """Run the study on every collection and write its figure."""
    results: dict[str, Json] = {}
    for name in SETS:
        folder = data / name
        outcome = study("components").run(
            str(find_documents(folder)), str(folder / "queries.jsonl"), str(folder / "qrels.txt")
        )
        figure = PAGES / f"components-{name}.svg"
        figure.write_bytes(picture(outcome.figures["effects"], "svg"))
        results[name] = outcome.data | {"lines": list(outcome.lines)}
        sys.stderr.write(f"{name}: {outcome.lines[-1]}\n")
    return {"leadline": ll.__version__, "found": results}


def effect_cell(row: Json, *, digits: int = 3) -> str:
    """Write an effect with its interval, bold when it is significant."""
    text = bold(f"{row['difference']:+.{digits}f}", row["told_apart"])
    return f"{text} [{row['low']:+.{digits}f}, {row['high']:+.{digits}f}]"


def effects_table(
    results: dict[str, Json], part: str, first: str, second: str, *, rows: tuple[int, ...] | None = None
) -> str:
    """Write one kind of effect, all rows or some, collections beside each other."""
    by_row = list(zip(*(results[name][part] for name in SETS), strict=True))
    return table(
        [first, second, *SETS],
        [
            [of_sets[0]["component"], of_sets[0]["what"], *map(effect_cell, of_sets)]
            for of_sets in (by_row if rows is None else [by_row[row] for row in rows])
        ],
    )


def cells(results: dict[str, Json]) -> str:
    """Write the mean of every cell, bold the best of its collection."""
    largest = [max(cell["mean"] for cell in results[name]["cells"]) for name in SETS]
    lines = []
    for rows in zip(*(results[name]["cells"] for name in SETS), strict=True):
        means = [
            bold(f"{row['mean']:.3f}", row["mean"] == best) for row, best in zip(rows, largest, strict=True)
        ]
        lines.append([rows[0]["stem"], rows[0]["stop"], f"`{rows[0]['model']}`", *means])
    return table(["stems", "stop words", "weighting", *SETS], lines, labels=3)


def collection_sizes(results: dict[str, Json]) -> str:
    """Return the sizes of the collections, as text."""
    return "; ".join(
        f"{name}: {data['documents']:,} documents, {data['queries']} queries"
        for name, data in results.items()
    )


def effect_range(rows: list[Json]) -> str:
    """Write the smallest and the largest effect."""
    return value_range([row["difference"] for row in rows], "+.3f")


def significant_count(rows: list[Json]) -> str:
    """Return in how many collections an effect is significantly positive or negative, as text."""
    up = sum(row["told_apart"] and row["difference"] > 0 for row in rows)
    down = sum(row["told_apart"] and row["difference"] < 0 for row in rows)
    return f"helps in {up} of {len(rows)} collections" + (f" and harms in {down}" if down else "")


def gain_of_best_weighting(results: dict[str, Json]) -> str:
    """Write the gain of the last weighting over the first, with stems and without stop words."""
    last = [[cell["mean"] for cell in results[name]["cells"][15:]] for name in SETS]
    gaps = [means[4] - means[0] for means in last]
    return value_range(gaps, ".3f")


def page(contents: Json) -> str:
    """Return the page from the numbers kept."""
    results = contents["found"]
    effects = [[results[name]["effects"][index] for name in SETS] for index in range(6)]
    by_weighting = [[results[name]["by_weighting"][index] for name in SETS] for index in range(10)]
    verdicts = [best_of(results[name]) for name in SETS]
    weighting_first = sum(best == "weighting" for best, _ in verdicts)
    significant = [
        name for name, (_, sentence) in zip(SETS, verdicts, strict=True) if "no significant" not in sentence
    ]
    equal = [name for name in SETS if not results[name]["contests"][2]["told_apart"]]
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=contents["leadline"],
            rules=results[SETS[0]]["rules"],
            counts=collection_sizes(results),
            firsts=weighting_first,
            sets=len(SETS),
            clear=", ".join(significant) or "none",
            clears=len(significant),
            stems=effect_range(effects[0]),
            stems_helped=significant_count(effects[0]),
            stops=effect_range(effects[1]),
            stops_helped=significant_count(effects[1]),
            cosine=effect_range(effects[2]),
            cosine_helped=significant_count(effects[2]),
            idf=effect_range(effects[3]),
            bm25=effect_range(effects[5]),
            stops_tf=effect_range(by_weighting[5]),
            stops_idf=effect_range(by_weighting[7]),
            stops_bm25=effect_range(by_weighting[9]),
            full=gain_of_best_weighting(results),
            equals=len(equal),
            effects=effects_table(results, "effects", "component", "step"),
            by_weighting=effects_table(
                results, "by_weighting", "component", "weighting", rows=(0, 2, 4, 5, 7, 9)
            ),
            contests=effects_table(results, "contests", "component", "less"),
            cells=cells(results),
            figures="\n".join(f"![Effects, {name}](components-{name}.svg)" for name in SETS[1:]),
        )
    )


PAGE = """# Which component matters most: stemming, stop words or weighting?

{note}

**Answer: weighting, as textbooks say.** Its effect on AP is the largest in {firsts} of {sets} collections,
and significantly larger than both others in {clears} ({clear}). The gain comes from idf: {idf} AP from
`TF(dot)` to `TFIDF(dot)`, {bm25} to `BM25`; cosine normalisation alone changes it by {cosine}
({cosine_helped}). Stemming changes it by {stems} ({stems_helped}), stop word removal by {stops}
({stops_helped}); the difference between these two is not significant in {equals} of {sets}.

![Effects on AP, cranfield](components-cranfield.svg)

Cranfield: mean difference in AP that each step makes, with 95 % intervals over queries; the steps of
weighting are from `TF(dot)`.

## How to repeat it

    leadline study components docs.jsonl queries.jsonl qrels.txt -o OUT/SET
    python -m leadline_studies.components.page DATA    # in a checkout: all five, and this page

Processor time: 5 s on cranfield. [Data](README.md#data): {counts}. Lists of 1,000 documents, leadline
{version}; numbers in [components.json](components.json).

## Effects

Difference in AP for a query, averaged over the settings of the other components and paired by query: {rules},
per table and collection. Bold: significant (p corrected below 0.05).

{effects}

## One component against another

Effect of the first component minus effect of the second; for weighting, the best one of the collection.

{contests}

## Limitations

- The size of an effect depends on the baseline, and `TF(dot)` is a weak one. With stemming and without stop
  words `BM25` is still {full} above it (no interval).
- The best of four weightings is selected on the same queries, which overestimates its effect slightly; the
  intervals do not account for it.
- The effects are not additive: removing stop words adds {stops_tf} with `TF(dot)`, {stops_idf} with
  `TFIDF(dot)`, where idf already gives them little weight, and {stops_bm25} with `BM25`.
- One stop list (`basic`) and one stemmer (Snowball) were tested. The texts of nfcorpus-test come with stop
  words removed.

## Details: stemming and stop words under three weightings

{by_weighting}

## Details: AP of every system

{cells}

Bold: the best of its collection.

## Details: figures of the other collections

{figures}

The axes differ in scale.
"""

if __name__ == "__main__":
    update_page(NAME, page, collect)
