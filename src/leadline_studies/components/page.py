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
from leadline_studies.common.markdown import bold, extent, table, wrapped
from leadline_studies.common.pages import PAGES, Found, docs_of, keep, read_kept, write
from leadline_studies.components.study import best_of

SETS = ("cranfield", "cisi", "cacm", "npl", "nfcorpus-test")
NAME = "components"
NOTE = "<!-- Made by src/leadline_studies/components/page.py from the output of the study. -->"


def run(data: Path) -> None:
    """Conduct the study on every collection, draw its figure, keep what it found."""
    found: dict[str, Found] = {}
    for name in SETS:
        folder = data / name
        outcome = study("components").run(
            str(docs_of(folder)), str(folder / "queries.jsonl"), str(folder / "qrels.txt")
        )
        figure = PAGES / f"components-{name}.svg"
        figure.write_bytes(picture(outcome.figures["effects"], "svg"))
        found[name] = outcome.data | {"lines": list(outcome.lines)}
        sys.stderr.write(f"{name}: {outcome.lines[-1]}\n")
    keep(NAME, {"leadline": ll.__version__, "found": found})


def shown(row: Found, *, digits: int = 3) -> str:
    """Write an effect with its interval, bold when it is significant."""
    text = bold(f"{row['difference']:+.{digits}f}", row["told_apart"])
    return f"{text} [{row['low']:+.{digits}f}, {row['high']:+.{digits}f}]"


def across(found: dict[str, Found], part: str, first: str, second: str) -> str:
    """Write one kind of effect, a row each, collections beside each other."""
    return table(
        [first, second, *SETS],
        [
            [rows[0]["component"], rows[0]["what"], *map(shown, rows)]
            for rows in zip(*(found[name][part] for name in SETS), strict=True)
        ],
    )


def cells(found: dict[str, Found]) -> str:
    """Write the mean of every cell, bold the best of its collection."""
    most = [max(cell["mean"] for cell in found[name]["cells"]) for name in SETS]
    lines = []
    for rows in zip(*(found[name]["cells"] for name in SETS), strict=True):
        means = [
            bold(f"{row['mean']:.3f}", row["mean"] == best) for row, best in zip(rows, most, strict=True)
        ]
        lines.append([rows[0]["stem"], rows[0]["stop"], f"`{rows[0]['model']}`", *means])
    return table(["stems", "stop words", "weighting", *SETS], lines, labels=3)


def counts(found: dict[str, Found]) -> str:
    """Describe how large the collections are."""
    return "; ".join(
        f"{name}: {data['documents']:,} documents, {data['queries']} queries" for name, data in found.items()
    )


def span(rows: list[Found]) -> str:
    """Write the smallest and the largest effect."""
    return extent([row["difference"] for row in rows], "+.3f")


def helped(rows: list[Found]) -> str:
    """Describe in how many collections an effect is significant, and which way."""
    up = sum(row["told_apart"] and row["difference"] > 0 for row in rows)
    down = sum(row["told_apart"] and row["difference"] < 0 for row in rows)
    return f"helps in {up} of {len(rows)} collections" + (f" and harms in {down}" if down else "")


def full(found: dict[str, Found]) -> str:
    """Write what the last weighting has above the first where stems and stop words are dealt with."""
    last = [[cell["mean"] for cell in found[name]["cells"][15:]] for name in SETS]
    gaps = [means[4] - means[0] for means in last]
    return extent(gaps, ".3f")


def page(kept: Found) -> str:
    """Write the page: words with the numbers found."""
    found = kept["found"]
    effects = [[found[name]["effects"][place] for name in SETS] for place in range(6)]
    by_weighting = [[found[name]["by_weighting"][place] for name in SETS] for place in range(10)]
    verdicts = [best_of(found[name]) for name in SETS]
    firsts = sum(best == "weighting" for best, _ in verdicts)
    clear = [name for name, (_, said) in zip(SETS, verdicts, strict=True) if "no significant" not in said]
    equal = [name for name in SETS if not found[name]["contests"][2]["told_apart"]]
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=kept["leadline"],
            rules=found[SETS[0]]["rules"],
            counts=counts(found),
            firsts=firsts,
            sets=len(SETS),
            clear=", ".join(clear) or "none",
            clears=len(clear),
            stems=span(effects[0]),
            stems_helped=helped(effects[0]),
            stops=span(effects[1]),
            stops_helped=helped(effects[1]),
            cosine=span(effects[2]),
            cosine_helped=helped(effects[2]),
            idf=span(effects[3]),
            idf_helped=helped(effects[3]),
            bm25=span(effects[5]),
            bm25_helped=helped(effects[5]),
            stops_tf=span(by_weighting[5]),
            stops_idf=span(by_weighting[7]),
            stops_bm25=span(by_weighting[9]),
            full=full(found),
            equal=", ".join(equal) or "none",
            equals=len(equal),
            verdicts="\n".join(f"- {name}: {said}" for name, (_, said) in zip(SETS, verdicts, strict=True)),
            effects=across(found, "effects", "component", "step"),
            by_weighting=across(found, "by_weighting", "component", "weighting"),
            contests=across(found, "contests", "component", "less"),
            cells=cells(found),
            figures="\n".join(f"![Effects, {name}](components-{name}.svg)" for name in SETS),
        )
    )


PAGE = """# Which component is best: stemming, stop words, weighting

{note}

A question of every course on retrieval, asked of five public collections. Each text is indexed with and
without stems, with and without stop words, and searched with five weightings: 20 systems a collection. The
effect of a component is what it adds to the AP of a query, in the mean over the settings of the others; it is
paired by query. Method: {rules}, per table and collection.
leadline {version}; {counts}; first 1,000 documents.

**Answer.** Weighting has the largest effect in {firsts} of {sets} collections, and in {clears} the
difference from both other components is significant ({clear}). What makes the difference is idf: from
`TF(dot)` to `TFIDF(dot)` AP changes by {idf} ({idf_helped}), from `TF(dot)` to `BM25` by {bm25}
({bm25_helped}). The cosine alone, `TF(dot)` to `TF(cosine)`, changes it by {cosine}
({cosine_helped}). Stemming changes AP by {stems}
({stems_helped}), removing stop words by {stops} ({stops_helped}). There is no significant difference
between these two in {equals} of {sets} collections ({equal}).

{verdicts}

**How far it carries.** The size of an effect depends on what it is set against. `TF(dot)` is a weak start:
weighting would have less to add to a better one. The best of four weightings is chosen after looking, so it
is flattered a little; the intervals do not know that. With stems and without stop words `BM25` is
still {full} above `TF(dot)` (no
interval). And the components overlap: removing stop words adds
{stops_tf} under `TF(dot)`, but {stops_idf} under `TFIDF(dot)`, where idf has made them light already, and
{stops_bm25} under `BM25`. Stop words are the short list of leadline (`basic`), stems are Snowball's; other
lists and stems were not tried. The texts of nfcorpus-test come with stop words already removed.

## Effects

Difference in AP with its interval; bold: significant (p corrected below 0.05).

{effects}

{figures}

## One component against another

What the first adds less what the second adds; of the weightings the best of the collection takes part.

{contests}

## Stemming and stop words under each weighting

{by_weighting}

## AP of every system

{cells}

Bold: the best of its collection.

## To repeat it

    leadline study components SET/docs.jsonl SET/queries.jsonl SET/qrels.txt -o OUT/SET
    python -m leadline_studies.components.page DATA
"""


def main(arguments: list[str]) -> None:
    """Run what was asked for and write the page."""
    if arguments:
        run(Path(arguments[0]))
    write(NAME, page(read_kept(NAME)))


if __name__ == "__main__":
    main(sys.argv[1:])
