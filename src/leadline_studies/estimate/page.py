"""Write the page of the study of estimates from few judgments.

    python -m leadline_studies.estimate.page [FOLDER DATA]

Runs the study if its output is not in FOLDER. DATA contains trec-dl-2019-passage and
trec-dl-2019-machine-labels.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from pathlib import Path

from leadline_studies.common.markdown import table
from leadline_studies.common.pages import Found, page_again, rounded, studied

NAME = "estimate"
MACHINE = "llama70b-criteria"
SHOWN = ("centred", "votes", MACHINE, "adverse, random labels", "adverse, first documents", "none")


def collect(folder: Path, data: Path) -> Found:
    """Run the study on TREC 2019 DL: 37 pooled runs, 24 later ones, labels of one machine."""
    place = data / "trec-dl-2019-passage"
    words = [str(place / "qrels.txt"), *map(str, sorted((place / "runs").iterdir()))]
    for path in sorted((place / "extra-runs").iterdir()):
        words += ["--new", str(path)]
    words += ["--machine", str(data / f"trec-dl-2019-machine-labels/{MACHINE}.qrels")]
    found = studied(NAME, data, folder, [*words, "--level", "2", "--budgets", "10,20,40", "--draws", "60"])
    kept = ("draws", "systems", "pooled", "level", "queries", "cells")
    return {key: rounded(found[key]) for key in kept}


def rows_of(kept: Found) -> str:
    """Write a row for each measure, budget and proxy."""
    cells = sorted(kept["cells"], key=lambda one: (one["measure"], one["budget"], SHOWN.index(one["proxy"])))
    rows = [
        [
            one["measure"],
            str(one["budget"]),
            one["proxy"],
            f"{one['bias_pooled']:+.3f} / {one['bias_new']:+.3f}",
            f"{one['coverage_pooled']:.3f} / {one['coverage_new']:.3f}",
            f"{one['coverage_pairs']:.3f}",
            f"{one['half_width_pooled']:.3f}",
            f"{one['tau']:.2f}",
            f"{one['decided']:.2f} / {one['wrong']:.3f}",
            f"{one['withheld_new']:.2f}",
        ]
        for one in cells
    ]
    return table(
        [
            "measure",
            "judgments per query",
            "guess",
            "bias, pooled / new",
            "coverage, pooled / new",
            "coverage, pairs",
            "half-width",
            "tau",
            "pairs decided / of these wrongly",
            "withheld, new",
        ],
        rows,
    )


def page(kept: Found) -> str:
    """Write the page."""
    return f"""# Study: estimates from few judgments

<!-- Made by src/leadline_studies/estimate/page.py from the output of `leadline study`. -->

TREC 2019 Deep Learning, passages: {kept["systems"]} runs, of which {kept["pooled"]}
are pooled and the
others are later ones; {kept["queries"]} queries, relevant from grade {kept["level"]:g}. The official
judgments are the truth; passages without one are not relevant. For each measure and budget documents
were drawn {kept["draws"]} times as `leadline pool --for` draws them. Labels of one machine (Llama-3
70B) are calibrated; two adverse machines guess at random, or mark the first documents of the runs. The
true nDCG is relative to the ideal list of the documents in the frame: the ideal list of all judged
passages is about 3 % larger.

Coverage is of 95 % intervals over draws, where one is given and has any width; pairs are of pooled
runs. `withheld` is the share of later runs that get none, since more than 5 % of their weight is
outside the frame.

{rows_of(kept)}

What it shows:

- Sums (P, RBP) have no bias worth speaking of, for pooled and for later runs, and their intervals hold.
- Intervals of RR, and of nDCG with 40 judgments per query, where little is left to draw, are too
  narrow: they are called approximate. nDCG without any guess (`none`) is far too high and gets no
  interval.
- The mean of the judged pairs as guess (centred) gains most; calibrated labels of a machine narrow the
  interval of P@10 by a further fifth to a quarter; adverse labels cost next to nothing.

The prior of the ratio behind nDCG was chosen on these data, with other draws; other collections were
not tried yet.

    leadline study estimate QRELS RUN... --new RUN --machine LABELS --level 2 \\
        --budgets 10,20,40 --draws 60 -o OUT

The numbers are in [estimate.json](estimate.json).
"""


if __name__ == "__main__":
    page_again(NAME, page, collect)
