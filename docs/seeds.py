"""The page `studies/seeds.md`: what five documents on evaluation say, how to do it here, and what comes out.

Every command is run on the files of `seeds/` and `examples/`. A number that a document prints has to be in
the output, rounded as it is printed; where it is not, the row says why.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import tempfile
from typing import NamedTuple

from click.testing import CliRunner

from leadline.cli import group
from leadline.errors import LeadlineError
from leadline.judging.events import parse_event
from leadline.judging.store import Store

FOLDER = os.path.dirname(os.path.abspath(__file__))
NUMBER = re.compile(r"(?<![\w.@])-?\d+(?:\.\d+)?")


class Row(NamedTuple):
    """What a document says, with the numbers that it prints, and the commands that do it.

    `shows` is what is taken of the output of the last command; `but` explains printed numbers that do not
    come out.
    """

    says: str
    printed: str
    commands: tuple[str, ...]
    shows: str
    but: str = ""


EXAMPLES = "examples.qrels examples.run -C on_duplicate=hold"
LECTURE = (
    Row(
        "Example 1: precision at each relevant document",
        "1 1 0.75 0.667 0.38",
        (f"leadline evaluate {EXAMPLES} -m P@1,2,4,6,13 -q",),
        r"^examples +example1.*",
    ),
    Row(
        "Example 1: recall there; one relevant document is missing",
        "0.167 0.333 0.5 0.667 0.833",
        (f"leadline evaluate {EXAMPLES} -m R@1,2,4,6,13 -q",),
        r"^examples +example1.*",
    ),
    Row(
        "Example 2: precision at each relevant document; document 772 comes twice",
        "1 0.667 0.6 0.5 0.556 0.429",
        (f"leadline evaluate {EXAMPLES} -m P@1,3,5,8,9,14 -q",),
        r"^examples +example2.*",
    ),
    Row(
        "Interpolated precision at eleven levels of recall, averaged over queries",
        "",
        (f"leadline curve {EXAMPLES}",),
        r"^examples .*",
    ),
    Row("R-precision of example 1", "0.67", (f"leadline evaluate {EXAMPLES} -m Rprec -q",), r"^.*example1.*"),
    Row(
        "Average precision of example 1",
        "0.633",
        ("leadline explain examples.qrels example1.run -m AP --query-id example1",),
        r"^(?:sum|AP) = .*",
        "the slide adds 0.38 for 5/13 = 0.3846; exactly it is 0.634",
    ),
    Row(
        "Average precision of example 2",
        "0.625",
        (f"leadline evaluate {EXAMPLES} -m AP -q",),
        r"^.*example2.*",
    ),
    Row(
        "Mean average precision: the mean over queries",
        "",
        (f"leadline evaluate {EXAMPLES} -m AP",),
        r"^examples.*",
    ),
    Row(
        "F, the harmonic mean of precision and recall",
        "",
        (f"leadline evaluate {EXAMPLES} -m P -m R -m F",),
        r"^examples.*",
    ),
    Row(
        "E with weight beta, which the slide defines as F with beta",
        "",
        (f'leadline evaluate {EXAMPLES} -m "E(beta=2,form=lecture)" -m "F(beta=2)"',),
        r"^examples.*",
    ),
    Row(
        "How far down the list to find some or all relevant documents",
        "",
        (f'leadline evaluate {EXAMPLES} -m "RankOf(n=3)" -m "RankOf(n=all)" -q',),
        r"^examples +example\d.*",
    ),
    Row(
        "Cumulative gain of the ideal ranking",
        "1.0 2.0 2.8 3.4 3.6",
        ("leadline evaluate gains.qrels ideal.run -m CG@1,2,3,4,5",),
        r"^ideal .*",
    ),
    Row(
        "Discounted cumulative gain of the ideal ranking",
        "1.00 2.00 2.50 2.80 2.89",
        ('leadline evaluate gains.qrels ideal.run -m "DCG(discount=jk)@1,2,3,4,5"',),
        r"^ideal .*",
    ),
    Row(
        "Discounted cumulative gain of example 1",
        "1.00 1.60 2.00 2.39 2.44",
        ('leadline evaluate gains.qrels example1.run -m "DCG(discount=jk)@1,2,4,6,13"',),
        r"^example1 .*",
    ),
    Row(
        "Normalized discounted cumulative gain of example 1",
        "1.00 0.80 0.64 0.71 0.69 0.83 0.84",
        ('leadline evaluate gains.qrels example1.run -m "nDCG(discount=jk)@1,2,3,4,5,6,13"',),
        r"^example1 .*",
    ),
    Row(
        "Precision at 10, as on the web",
        "",
        ("leadline evaluate qrels.txt bm25.run dense.run -m P@10",),
        r"^(?:bm25|dense) .*",
    ),
    Row(
        "Better or worse: a test over queries",
        "",
        ("leadline compare qrels.txt bm25.run dense.run -m AP",),
        r"^.*(?:significant|better|worse).*\(95.*",
    ),
    Row(
        "Coverage ratio: the share of the relevant documents known before that came back; novelty",
        "",
        ("leadline evaluate qrels.txt bm25.run --config read.known=known.txt -m Coverage -m Novelty",),
        r"^bm25 .*",
    ),
    Row(
        "Marginal relevance: diversity and novelty",
        "",
        ("leadline evaluate jaguar.txt varied.run alike.run --config read.subtopics -m alpha_nDCG@5",),
        r"^(?:varied|alike) .*",
    ),
    Row(
        "Collection coverage: relevant items that the corpus includes",
        "",
        ("leadline collection islands.jsonl islands.queries.jsonl islands.qrels",),
        r"^collection coverage.*",
    ),
    Row(
        "Response time: from the query to the responses",
        "",
        (
            "leadline index islands.jsonl -o islands.index --store-text",
            "leadline search islands.index islands.queries.jsonl -m BM25 -q -f csv",
        ),
        r"^query,run.*|^1,BM25,\w+",
    ),
    Row(
        "User effort and form of presentation: static against dynamic summaries, as judges saw them on the "
        "page of `leadline judge --content static,dynamic` (made-up judgments)",
        "",
        ("leadline agreement judged.sqlite",),
        r"^(?:a +b .*|static +dynamic .*)",
    ),
    Row(
        "The same as a table: form, seconds, text opened",
        "",
        (
            "leadline judge --store judged.sqlite --export judged.csv",
            "leadline convert judged.csv judged.qrels",
        ),
        r"left out: .*",
    ),
    Row(
        "A/B test: a small fraction of the users, 1 to 10 %",
        "",
        ("leadline abtest assign users.txt --fraction 0.05 --salt snippets",),
        r"^user .*|^ann .*",
    ),
    Row(
        "A/B test: the change in clickthrough",
        "",
        ("leadline abtest --a 460/10000 --b 527/10000",),
        r"^significant difference[^,]*",
    ),
    Row(
        "A/B test: clickthrough on any or the first result, from a log",
        "",
        ("leadline abtest clicks.csv --arms old new --user user --time time --planned 0.5",),
        r"^(?:arm|old|new) .*",
    ),
    Row(
        "Total number of relevant items: pool the top k of several systems",
        "",
        ("leadline pool bm25.run dense.run --depth 3 -o pool3.tsv",),
        r"^pool3.*",
    ),
    Row(
        "Sample, and judge the sample",
        "",
        ("leadline pool bm25.run dense.run --for P@10 --budget 3 --seed 1 -o drawn.tsv",),
        r"^drawn.tsv.*",
    ),
    Row(
        "Cranfield: 225 queries",
        "225",
        ("leadline demo --files cranfield", "leadline check cranfield/qrels.txt"),
        r"^cranfield/qrels.*",
    ),
    Row("SMART: CISI lists relevant documents", "", ("leadline convert CISI.REL cisi.qrels",), r".*"),
    Row("SMART: CACM", "", ("leadline convert qrels.text cacm.qrels",), r".*"),
    Row("SMART: CRAN, with codes from 1, best", "", ("leadline convert cranqrel cran.qrels",), r".*"),
    Row("SMART: TIME", "", ("leadline convert TIME.REL time.qrels",), r".*"),
    Row("SMART: MED", "", ("leadline convert MED.REL med.qrels",), r".*"),
    Row(
        "GOV2: web pages",
        "",
        (
            "leadline index gov2.trec -o gov2.index --store-text",
            'leadline search gov2.index --query "radar altimeters"',
        ),
        r"^ +\S.*",
    ),
    Row(
        "CLEF: topics in European languages",
        "",
        (
            "leadline index islands.jsonl -o clef.index",
            "leadline search clef.index clef.topics --config text.fields=EN-title -m BM25 --show",
        ),
        r"^C041.*",
    ),
    Row(
        "NTCIR: topics of East Asian and cross-language tasks",
        "",
        (
            "leadline index islands.jsonl -o ntcir.index",
            "leadline search ntcir.index ntcir.topics --config text.fields=desc -m BM25 --show",
        ),
        r"^001.*",
    ),
    Row("Kappa: P(A) = 370/400", "0.925", ("leadline agreement --table 300,20,10,70",), r"P\(A\) [\d.]+"),
    Row(
        "Kappa: pooled marginals",
        "0.2125 0.7878",
        ("leadline agreement --table 300,20,10,70",),
        r"pooled proportions \(.*?\)",
        "630/800 is 0.7875; 0.7878 is a misprint",
    ),
    Row("Kappa: P(E)", "0.665", ("leadline agreement --table 300,20,10,70",), r"P\(E\) [\d.]+"),
    Row("Kappa", "0.776", ("leadline agreement --table 300,20,10,70",), r"^Scott's pi +[\d.]+"),
    Row(
        "Kappa in [2/3, 1] is acceptable", "", ("leadline agreement --table 300,20,10,70",), r"^Scott's pi.*"
    ),
    *(
        Row(
            f"Interjudge agreement at TREC, topic {topic}: {apart} disagreements, {judged} documents",
            f"{apart} {judged}",
            (f"leadline agreement --table {judged - apart},{apart},0,0",),
            r"disagreements: [^;]*; P\(A\) [\d.]+",
        )
        for topic, judged, apart in (
            (51, 211, 6),
            (62, 400, 157),
            (67, 400, 68),
            (95, 400, 110),
            (127, 400, 106),
        )
    ),
    Row("Several judges: agreement of every two", "", ("leadline agreement judges.csv",), r"^(?:ann|ben) .*"),
    Row(
        "Judges disagree; does the ranking of systems change?",
        "",
        ("leadline agreement judges.csv --runs bm25.run dense.run -m AP",),
        r"^AP +[-\d.]+ .*",
    ),
    Row(
        "Static summary: the first 50 or so words",
        "",
        ("leadline summary islands.jsonl --doc png --words 10",),
        r"^The mine.*",
    ),
    Row(
        "Static summary: key sentences",
        "",
        ("leadline summary islands.jsonl --doc png --words 20 --static sentences",),
        r"^(?!Papua).*\.",
    ),
    Row(
        'Dynamic summary for "new guinea economic development": windows, phrases first',
        "",
        ('leadline summary islands.jsonl --doc png --query "new guinea economic development" --words 20',),
        r"^(?!Papua).*",
    ),
    Row(
        "Result list: title, url, metadata, summary",
        "",
        (
            "leadline index islands.jsonl -o list.index --store-text",
            'leadline search list.index --query "economic growth" -k 1',
        ),
        r"^ +\S.*",
    ),
    Row(
        "The list as a page, with links and marked query terms",
        "",
        (
            "leadline index islands.jsonl -o page.index --store-text",
            'leadline search page.index --query "economic growth" -k 1 -f html',
        ),
        r"^<li>.*|^<p dir.*",
    ),
    Row(
        "Cache only a short prefix of long documents",
        "",
        (
            "leadline index islands.jsonl -o prefix.index --store-text -C prefix=60",
            "leadline summary prefix.index --doc png",
        ),
        r"^(?!Papua).*",
    ),
)
SCORES = (
    Row(
        "HSA, the slope of the log ratio of the score histograms of relevant and non-relevant documents; DO, "
        "their overlap",
        "",
        ("leadline histogram qrels.txt bm25.run dense.run --bins 4",),
        r"^(?:run|bm25|dense) .*",
    ),
    Row(
        "HSA and DO from normalised ranks instead of scores",
        "",
        ("leadline histogram qrels.txt bm25.run dense.run --bins 4 --from-ranks",),
        r"^(?:run|bm25|dense) .*",
    ),
    Row(
        "A fixed sample of non-relevant documents",
        "",
        ("leadline histogram qrels.txt bm25.run dense.run --bins 4 --sample 2 --seed 1",),
        r"^(?:run|bm25|dense) .*",
    ),
    Row(
        "Pearson's and Spearman's correlation of two metrics over systems; Kendall's tau",
        "",
        (
            "leadline evaluate qrels.txt bm25.run dense.run -m AP -m P@10 -o saved.json",
            "leadline correlate saved.json:AP saved.json:P@10",
        ),
        r"^(?:Pearson|Spearman|Kendall tau-b) +\S+",
    ),
    Row(
        "Perplexity on held-out documents",
        "",
        (
            "leadline topics fit docs.jsonl -T 3 -C sweeps=20 -o docs.model",
            "leadline topics perplexity docs.model docs.jsonl --seed 1",
        ),
        r"^.*perplexity.*",
    ),
    Row(
        "Spam filtering with a threshold of 60",
        "",
        ('leadline index islands.jsonl -o kept.index --keep "spam.tsv:percentile>=60"',),
        r"^documents .*",
    ),
    Row(
        "BM25, BM25RF, RM, SDM and query likelihood; divergence from randomness (In_eB2, PL2)",
        "",
        ("leadline models",),
        r"^(?:BM25|BM25RF|RM[13]|SDM|QL\w+|In_expB2|PL2)\(\S*",
    ),
    Row(
        "Relevance Information Correlation at k, and Information Difference: a symmetric matrix of systems",
        "",
        ("leadline difference qrels.txt bm25.run dense.run -k 5",),
        r"^system .*|^\d (?:bm25|dense) .*",
    ),
    Row(
        "DeShaTo: skewness and kurtosis of cumulative topic distributions",
        "",
        (
            "leadline topics fit docs.jsonl -T 3 -C sweeps=20 -o docs.model",
            "leadline topics infer docs.model docs.jsonl -o docs.topics",
            "leadline predict bm25.run dense.run --topics docs.topics -m DeShaTo",
        ),
        r"^(?:run .*|\w+ +mean .*)",
    ),
    Row("MAP@30", "", ("leadline evaluate qrels.txt bm25.run dense.run -m AP@30",), r"^(?:bm25|dense) .*"),
    Row(
        "nruns: systems ranked without judgments",
        "",
        ("leadline unjudged bm25.run dense.run",),
        r"^(?:bm25|dense) .*",
    ),
)
CLAIMS = {
    "Krstovski": "Evaluating Retrieval Models through Histogram Analysis",
    "Golbus": "On the Information Difference between Standard Retrieval Models",
    "Ionescu": "DeShaTo",
    "Voorhees 2000": "the lecture",
    "general": "the lecture",
}


def page(note: str) -> str:
    """Return the page, with a note on how it is made below its title."""
    lecture, scores = _table(LECTURE), _table(SCORES)
    return (
        TITLE
        + note
        + HEAD
        + f"## The lecture\n\n{lecture}\n## The papers\n\n{scores}\n{PAPERS}{_experiments()}"
    )


def _table(rows: tuple[Row, ...]) -> str:
    lines = ["| the document says | printed | here | what comes out |", "| --- | --- | --- | --- |"]
    for row in rows:
        out = output(row)
        wrong = missing(row.printed, out)
        if bool(wrong) != bool(row.but):
            raise LookupError(f"{row.says}: {wrong or 'no difference'} in {out!r}")
        commands = "<br>".join(_code(command.replace(EXAMPLES, "EXAMPLES")) for command in row.commands)
        shown = "<br>".join(map(_code, out.splitlines()))
        cells = [
            row.says,
            row.printed.replace(" ", ", "),
            commands,
            shown + (f"<br>{row.but}" if row.but else ""),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """Return text as code, also where it has a backtick."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def output(row: Row) -> str:
    """Run the commands of a row in a folder of its own and return what is shown of the last output."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "seeds"):
            shutil.copytree(os.path.join(FOLDER, name), folder, dirs_exist_ok=True)
        with contextlib.chdir(folder):
            if any("judged.sqlite" in command for command in row.commands):
                _judge("judged.sqlite")
            printed = [run(command) for command in row.commands][-1]
    found = re.findall(row.shows, printed, re.MULTILINE)
    if not any(found):
        raise LookupError(f"{row.commands[-1]} printed no {row.shows}:\n{printed}")
    return "\n".join(" ".join(line.split()) for line in found if line.strip())


def _judge(path: str) -> None:
    """Make the store of two judges who each saw half of the documents with static summaries."""
    with contextlib.closing(Store.open(path, grades="0=no,1=yes")) as store:
        store.add_pairs([(f"q{query}", f"d{document}", 1.0) for query in range(12) for document in (1, 2)])
        for judge in ("ann", "bob"):
            store.add_judge(judge)
            for pair in store.pairs():
                query, static = int(pair.query[1:]), pair.document == "d1"
                act = {"key": f"{judge}-{pair.id:08}", "kind": "judge", "pair": pair.id}
                act |= {
                    "grade": int(judge == "bob" and static and query % 3 == 0),
                    "opened": static and query % 2 == 0,
                }
                act |= {
                    "shown": "static" if static else "dynamic",
                    "seconds": 6.0 + query % 4 + query % 3 * static,
                }
                store.append_all([(judge, [parse_event(act)])])


def run(command: str) -> str:
    """Run a command in this process and return what it prints."""
    done = CliRunner().invoke(group, shlex.split(command)[1:])
    if isinstance(done.exception, LeadlineError) or done.exit_code:
        raise LookupError(f"{command}: {done.output or done.exception}")
    return done.output


def missing(printed: str, out: str) -> list[str]:
    """Return the printed numbers that no number of an output rounds to.

    >>> missing("0.38 7", "0.3846 6")
    ['7']
    """
    values = [float(number.replace(",", "")) for number in NUMBER.findall(out)]
    return [
        number
        for number in printed.split()
        if not any(f"{value:.{len(number.partition('.')[2])}f}" == number for value in values)
    ]


def _experiments() -> str:
    """Return the studies that repeat experiments of the documents, from their list."""
    with open(os.path.join(FOLDER, "studies", "README.md"), encoding="utf-8") as file:
        rows = [line.strip().strip("|").split(" | ") for line in file if line.startswith("| [")]
    lines = ["| document | question | answer here | page |", "| --- | --- | --- | --- |"]
    for author, document in CLAIMS.items():
        for title, question, answer, claims in rows:
            if author in claims:
                lines.append(f"| {document} | {question} | {answer} | {title.strip()} |")
    return "\n".join(lines) + "\n"


TITLE = "# Five documents on evaluation\n\n"
HEAD = """

What a lecture on evaluation and four papers say, how to do it with leadline, and what comes out. The papers
are Krstovski, Smith and Kurtz 2015 (histogram analysis, in two versions), Golbus and Aslam 2014 (Information
Difference), and Ionescu, Chifu and Mothe 2015 (DeShaTo). In the commands, EXAMPLES stands for
`examples.qrels examples.run -C on_duplicate=hold`.

`python docs/generate.py` makes this page. It runs each command on the files in `docs/seeds` and
`docs/examples`, and fails if a number that the document prints does not come out, unless the row says
why.

"""
PAPERS = """\
Definitions are checked against independent code: `python -m pytest tests/oracles`. The experiments of the
documents were repeated on public collections:

"""
