"""Words that people try for a command or an option, and what does it here."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from typing import Any

import click

from leadline.cli._help import names_known

EVALUATE = "Use `leadline evaluate QRELS RUN...`."
TESTS = "Use `leadline compare QRELS OLD NEW` to test whether runs differ."
FIGURES = (
    "Use `leadline curve QRELS RUN... -o FILE.svg` for precision and recall, or add -o FILE.svg to "
    "`leadline compare QRELS RUN...`."
)
SORTED = (
    "Use --config output.changed=N for the queries with the largest differences.",
    "Use --per-query and sort, as in `leadline evaluate QRELS RUN -m AP -q -n -f tsv | sort -k3,3g | head`.",
    "Use -o FILE.csv and sort the file.",
)
FUSE = "Use `leadline fuse RUN... -o FUSED`."
CHECK = "Use `leadline check FILE...`, or `leadline check --qrels QRELS RUN...`."
UNJUDGED = "Use `leadline pool RUN... --depth K --judged QRELS -o POOL`, which selects unjudged documents."
# Words that people try for a command or an option, with what does it here.
TRIED_COMMANDS = {
    "version": "Use `leadline --version`.",
    **dict.fromkeys(
        ("init", "example", "examples", "quickstart", "tutorial", "datasets", "download"),
        "Use `leadline demo --files . --collection examples`, which writes files to try.",
    ),
    **dict.fromkeys(("unjudged-docs", "holes", "missing"), UNJUDGED),
    **dict.fromkeys(
        ("worst", "failures", "per-query", "perquery", "queries"),
        "Use `leadline evaluate QRELS RUN -m AP -q -n -f tsv`, and sort it with `sort -k3,3g | head`.",
    ),
    **dict.fromkeys(
        ("subset", "filter"),
        "Use `leadline convert IN OUT --config read.queries_in=FILE`, which keeps the queries in FILE.",
    ),
    "estimate": "Use `leadline evaluate JUDGMENTS RUN... --pool POOL`.",
    **dict.fromkeys(("eval", "score-runs", "metrics", "trec_eval"), EVALUATE),
    **dict.fromkeys(("significance", "ttest", "t-test", "test"), TESTS),
    **dict.fromkeys(
        ("stats", "info", "describe", "count", "head"),
        "Use `leadline check FILE...` to count queries and documents, or `leadline compare QRELS OLD NEW` to "
        "test.",
    ),
    "diff": (
        "Use `leadline compare QRELS OLD NEW` for runs, `leadline difference QRELS RUN RUN --competitor "
        "'RBO(p=0.9)'` for their overlap, or `leadline why-different FILE FILE` for values."
    ),
    **dict.fromkeys(
        ("baseline", "baselines", "snapshot"),
        "Use `leadline compare QRELS RUN -m MEASURE --baseline FILE.json --update-baseline FILE.json`. The "
        "first call creates FILE.json, and later calls compare their run with it.",
    ),
    "bounds": "Use `leadline evaluate QRELS RUN... --bounds`.",
    **dict.fromkeys(("slice", "slices"), "Use `leadline compare QRELS RUN... --query-slice FILE:COLUMN`."),
    **dict.fromkeys(("ab", "ab-test"), "Use `leadline abtest FILE`."),
    **dict.fromkeys(
        ("llm", "umbrela", "llm-judge"),
        "Use `leadline evaluate JUDGMENTS RUN... --pool POOL --machine LABELS`, or `leadline agreement "
        "JUDGMENTS LABELS --reference` to see how far you can trust the labels.",
    ),
    **dict.fromkeys(
        ("completion", "completions"),
        'In bash, type `eval "$(_LEADLINE_COMPLETE=bash_source leadline)"`. In zsh, write zsh_source. In '
        "fish, type `_LEADLINE_COMPLETE=fish_source leadline | source`.",
    ),
    **dict.fromkeys(
        ("gate", "ci"),
        "Use `leadline evaluate QRELS RUN --fail-below MEASURE=VALUE`, or against a baseline "
        "`leadline compare QRELS RUN --baseline OLD --fail-if-worse MEASURE`.",
    ),
    **dict.fromkeys(
        ("power", "plan", "sample-size"),
        "Use `leadline compare QRELS OLD NEW --config test.smallest=X` for the number of queries that can "
        "show a difference of X, or `leadline pool RUN... --depth K -o POOL` for the number of judgments.",
    ),
    **dict.fromkeys(
        ("rbo", "overlap", "jaccard"), "Use `leadline difference QRELS RUN RUN --competitor 'RBO(p=0.9)'`."
    ),
    **dict.fromkeys(
        ("table", "latex", "tex"), "Use `leadline report QRELS RUN...`, with -f latex for a paper."
    ),
    **dict.fromkeys(("leaderboard", "ranking"), "Use `leadline rank QRELS RUN...`."),
    **dict.fromkeys(("html", "dashboard"), "Use `leadline report QRELS RUN... -o FILE.html`."),
    **dict.fromkeys(("kappa", "iaa", "agree"), "Use `leadline agreement QRELS QRELS...`."),
    **dict.fromkeys(("validate", "lint", "verify-run"), CHECK),
    **dict.fromkeys(("plot", "figure"), FIGURES),
    **dict.fromkeys(("pr-curve", "precision-recall"), "Use `leadline curve QRELS RUN... -o FILE.svg`."),
    "retrieve": "Use `leadline index DOCS -o INDEX`, then `leadline search INDEX QUERIES -o RUN`.",
    "measure": "Use `leadline measures NAME`.",
    "list": "Use `leadline measures`, `leadline models`, or `leadline help --all`.",
    **dict.fromkeys(("update", "upgrade"), "Use `pip install --upgrade leadline`."),
    **dict.fromkeys(("sample", "draw"), "Use `leadline pool RUN... --for MEASURE --budget B -o POOL`."),
    **dict.fromkeys(
        ("annotate", "label", "serve", "ui"),
        "Use `leadline judge POOL --docs DOCS --queries QUERIES --store FILE`.",
    ),
    **dict.fromkeys(("kendall", "tau", "correlation"), "Use `leadline correlate RESULT RESULT`."),
    **dict.fromkeys(("fusion", "rrf"), FUSE),
    **dict.fromkeys(("summarize", "snippet"), "Use `leadline summary DOCS --doc ID`."),
    **dict.fromkeys(("config", "settings"), "Use `leadline help config` for a list of the settings."),
    "export": "Use `leadline show RESULT -o FILE.csv`, or `leadline convert IN OUT` for runs and judgments.",
}
# Registries whose names are explained by a command.
EXPLAINED = {"measures.MEASURES": "measures", "retrieval.models.MODELS": "models"}
MEASURES = ("Use -m MEASURE.", "Use --for MEASURE.")
ALPHA = "Use --confidence, which is 1 - alpha, as in --confidence 0.99 for alpha = 0.01."
IN_MEASURE = "Write it into the measure, as in -m 'RBP(p=0.8)' or -m 'alpha_nDCG(alpha=0.5)@10'."
ALL_SHOWN = (
    "Leave it out. Kappa and alpha are always shown. For weighted kappa, use --config "
    "agreement.weights=quadratic."
)
RESIDUAL = (
    "Take the pairs in FEEDBACK out of the qrels and the runs first. For TREC text, use "
    "`awk 'NR==FNR{seen[$1,$3];next} !(($1,$3) in seen)' FEEDBACK RUN > REST`."
)
SAVED_ONLY = (
    "`leadline show` prints a saved result. `leadline explain QRELS RUN -m MEASURE --query-id ID --long` "
    "shows the documents of a query, and `leadline pool RUN --depth K --judged QRELS -o POOL` selects those "
    "that are not judged."
)
GRADE = ("Use -l GRADE.", "Use --level GRADE.")
TEST = "Use --test 'Randomisation(draws=1000)'."
FLOOR = "Use --fail-below MEASURE=VALUE."
PARAMETERS = "Make it part of the model name, as in -m 'BM25(k1=0.9,b=0.4)'."
PLACES = "Runs need no option. List them after the judgments, as in QRELS RUN..."
CHUNKS = (
    r"Use --config read.documents_of='^(.*)#\d+$', a pattern whose group is the document id, or --config "
    "read.documents_of=FILE, a table of both ids."
)
NO_LLM = (
    "leadline does not call an LLM. Save its grades as qrels (LABELS). `leadline agreement JUDGMENTS LABELS "
    "--reference` shows how far to trust them, and `leadline evaluate JUDGMENTS RUN... --pool POOL --machine "
    "LABELS` combines them with human judgments."
)
JUNIT = (
    "pytest writes JUnit files. Save `def test_gate(leadline_gate): leadline_gate.assert_at_least('RUN', "
    "'nDCG@10', 0.3, qrels='QRELS')` as test_gate.py, then run `pytest test_gate.py --junitxml=FILE`."
)
NO_JUDGMENTS = (
    "`leadline unjudged` uses no judgments. To compare its order with that of judgments, use `leadline "
    "unjudged RUN... -o A.json`, `leadline evaluate QRELS RUN... -m AP -o B.json` and `leadline correlate "
    "A.json B.json`."
)
ALONE = ("fuse", "pool", "unjudged")  # commands whose runs follow no judgments
# An answer that names an option is for commands that have it; the first that fits is given. A word after the
# name of a command is answered for this command alone.
TRIED_OPTIONS: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(("--latex", "--tex"), "Use -f latex, or -o FILE.tex."),
    "--csv": "Use -f csv, or -o FILE.csv.",
    "--json": "Use -f json, or -o FILE.json.",
    "--html": "Use -f html, or -o FILE.html. `leadline report` writes a full page.",
    "--markdown": "Use -f markdown.",
    **dict.fromkeys(("--quiet", "--silent"), "Use -f none."),
    **dict.fromkeys(
        ("--out", "--outfile", "--output-file", "--save"), "Use -o FILE. Its suffix sets the format."
    ),
    "--plot": ("Use -o FILE.svg, and --figure KIND.", "Use -o FILE.svg."),
    "--chart": "Use --figure KIND.",
    "--summary": "Use -o FILE.md.",
    "--baseline-file": "Use --baseline FILE, and write the file with --update-baseline FILE.",
    "--scores": "Leave it out. Per-query values are recognized automatically.",
    "-Z": (
        "leadline does not compute trec_eval's z-scores. Use `leadline compare` to test runs against "
        "each other."
    ),
    "-R": (
        "Formats are detected automatically. trec_eval's preference files and judgment groups are not "
        "supported."
    ),
    "-T": "Formats are detected automatically.",
    **dict.fromkeys(("--metric", "--metrics", "--measures"), MEASURES),
    **dict.fromkeys(("--rel", "--relevance-level", "--min-rel", "--binary", "--threshold-rel"), GRADE),
    **dict.fromkeys(
        ("-k", "--k", "--cutoff", "--cutoffs", "--at", "--top", "--top-k", "--topk", "--hits"),
        (
            "Use -k N.",
            "Make the cutoff part of the measure, as in -m nDCG@10.",
            "Use --depth K.",
            "Use -T N.",
        ),
    ),
    **dict.fromkeys(("--qrels", "--run", "--runs", "--systems", "--old", "--new"), PLACES),
    **dict.fromkeys(("--alpha", "--significance", "--max-p", "--p-value"), ALPHA),
    **dict.fromkeys(("explain --alpha", "--beta", "--gamma", "--persistence"), IN_MEASURE),
    "evaluate --alpha": f"{IN_MEASURE} --confidence is 1 - alpha of the intervals.",
    "--p": f"{IN_MEASURE} `leadline difference QRELS RUN RUN --competitor 'RBO(p=0.9)'` computes RBO.",
    **dict.fromkeys(("--stat-test", "--statistic", "--method", "--paired"), "Use --test NAME."),
    "rank --method": (
        "`leadline unjudged RUN... --method NAME` ranks runs without judgments. --test NAME sets the "
        "significance test of `leadline rank`."
    ),
    **dict.fromkeys(("unjudged --qrels", "unjudged --judgments", "unjudged --judged"), NO_JUDGMENTS),
    **{
        f"{name} {word}": "Runs need no option. List them, as in RUN..."
        for name in ALONE
        for word in ("--run", "--runs")
    },
    **dict.fromkeys(
        ("--rbo", "--overlap", "--jaccard"),
        "Use `leadline difference QRELS RUN RUN --competitor 'RBO(p=0.9)'`.",
    ),
    **dict.fromkeys(
        ("--non-inferiority", "--noninferiority"), "Use --baseline OLD --require-not-worse MEASURE:MARGIN."
    ),
    **dict.fromkeys(("--equivalence", "--tost", "--rope"), "Use --margin X."),
    **dict.fromkeys(
        ("--one-sided", "--two-sided", "--alternative", "--tail"),
        "Leave it out. p is two-sided. --baseline OLD --fail-if-worse MEASURE makes a one-sided test.",
    ),
    **{
        f"{name} --{word}": f"Use --figure {kind} -o FILE.svg."
        for name in ("evaluate", "compare")
        for word, kind in (("boxplot", "box"), ("box", "box"), ("violin", "violin"))
    },
    **{f"compare --{kind}": f"Use --figure {kind} -o FILE.svg." for kind in ("scatter", "forest")},
    "rank --by": "Use -m MEASURE.",
    "--pdf": "Use -o FILE.html for a page to print, -o FILE.tex for LaTeX, or -o FILE.svg for figures.",
    **dict.fromkeys(("--open", "--browser", "--show-browser"), "Use -o FILE.html, and open FILE.html."),
    "pool --shuffle": "Leave it out. `leadline judge` shows the documents in random order.",
    **dict.fromkeys(("pool --stratified", "pool --random", "pool --uniform"), "Use --for MEASURE --total N."),
    **dict.fromkeys(
        ("index --stemmer", "index --stem", "index --stopwords", "index --analyzer", "index --tokenizer"),
        "Use --language LANGUAGE, or --config text.analysis='Words(stem=porter,stop=none)'.",
    ),
    **dict.fromkeys(
        ("index --chunk", "index --chunk-size", "index --chunks", "index --passages"),
        "leadline does not split texts. Index chunks with ids such as d1#2; `leadline evaluate QRELS RUN "
        r"--config read.documents_of='^(.*)#\d+$'` scores their documents.",
    ),
    **{
        f"fuse --{word}": f"Use --method {name}."
        for word, name in (("rrf", "RRF"), ("combsum", "CombSUM"), ("combmnz", "CombMNZ"), ("borda", "Borda"))
    },
    **dict.fromkeys(
        ("convert --tag", "convert --run-name", "convert --name"),
        "Change the tags of TREC text with `awk '{$6=\"NAME\"} 1' RUN > OUT`.",
    ),
    **dict.fromkeys(
        ("agreement --gold", "agreement --human", "agreement --truth"),
        "Put these judgments first and add --reference, as in `leadline agreement GOLD LABELS --reference`.",
    ),
    "--no-header": "Use -f tsv, and remove the first line with `tail -n +2`.",
    **dict.fromkeys(
        ("--summary-only", "--mean-only", "--means"), "Leave it out. Without -q, leadline shows the means."
    ),
    **dict.fromkeys(("--junit-xml", "--junitxml", "--junit", "--xml", "--junit-report"), JUNIT),
    **dict.fromkeys(("--llm", "--llm-judge", "--gpt", "--openai", "--umbrela", "judge --model"), NO_LLM),
    **dict.fromkeys(
        ("search --queries", "search --topics", "search --query-file", "search --queries-file"),
        "Queries need no option. Use `leadline search INDEX QUERIES -o RUN`.",
    ),
    **dict.fromkeys(
        ("search --docs", "search --corpus", "search --documents"),
        "Use `leadline index DOCS -o INDEX`, then `leadline search INDEX QUERIES -o RUN`.",
    ),
    **dict.fromkeys(("--permutations", "--iterations", "--resamples"), TEST),
    "--bootstrap": (
        "Use --test Bootstrap for the test, or --config test.interval=BCa for the intervals.",
        "Use --intervals --config test.interval=BCa.",
        "Use --test Bootstrap.",
    ),
    **dict.fromkeys(
        ("--groups", "--group-by", "--by-group", "--by", "--slice", "--slices", "--per-group", "--breakdown"),
        "Use --query-slice FILE:COLUMN.",
    ),
    **dict.fromkeys(("--sort", "--sort-by", "--order-by", "--worst", "--hardest", "--bottom"), SORTED),
    **dict.fromkeys(("--regressions", "--losses", "--losers"), SORTED),
    "convert --sort": "Leave it out. Runs are always sorted by query and score.",
    **dict.fromkeys(
        ("--tau", "--kendall"),
        "Use `leadline evaluate QRELS RUN... -m AP -m nDCG -o FILE.json`, then "
        "`leadline correlate FILE.json:AP FILE.json:nDCG`.",
    ),
    "--residual": "Use -m 'RBPResidual(p=0.8)', or --bounds for what unjudged documents can change.",
    **dict.fromkeys(("--residual-qrels", "--residual-collection", "--without", "--exclude-qrels"), RESIDUAL),
    **dict.fromkeys(
        ("--common", "--intersect", "--ignore-missing", "--missing-queries"),
        "Use --config scores.queries=both.",
    ),
    **dict.fromkeys(
        ("--name", "--run-name", "--rename"), "Write NAME=FILE instead of the file name of a run."
    ),
    **dict.fromkeys(("--output-format", "--out-format", "--fmt"), "Use -f FORMAT."),
    **dict.fromkeys(("convert --force", "convert -y", "convert --replace"), "Use --overwrite."),
    **{
        f"judge --{word}{plural}": "Use --judges NAMES."
        for word in ("annotator", "assessor", "user", "rater", "judge")
        for plural in ("", "s")[: 1 if word == "judge" else 2]
    },
    **dict.fromkeys(
        ("--unjudged", "--show-unjudged", "--list-unjudged"),
        "Use `leadline pool RUN --depth K --judged QRELS -o POOL`, which selects unjudged documents.",
    ),
    **dict.fromkeys(
        ("--no-answer", "--noanswer", "--unanswerable"),
        "Use -m 'NoAnswer(above=SCORE)'. A query whose judgments are all 0 has no answer.",
    ),
    **dict.fromkeys(
        (
            *("--chunks", "--chunk-map", "--chunk-sep", "--chunk-separator", "--chunk-delimiter"),
            *("--passages", "--passage-sep", "--max-passage", "--max-passage-delimiter", "--maxp"),
        ),
        CHUNKS,
    ),
    **dict.fromkeys(("--dedup", "--deduplicate", "--unique"), "Use --config read.on_duplicate=first."),
    "--ci": (
        "Use --intervals. With --pool, intervals are always shown.",
        "Intervals are always shown. --confidence sets their level.",
    ),
    **dict.fromkeys(("--adjust", "--bonferroni", "--holm", "--fdr", "--bh"), "Use --correction NAME."),
    "--per-query": (
        "Use `leadline evaluate -q`. --config output.changed=N shows the largest differences.",
        "Use `leadline evaluate QRELS RUN... -q`.",
    ),
    **dict.fromkeys(("--max-drop", "--tolerance"), "Use --baseline OLD --fail-if-worse MEASURE:MARGIN."),
    **dict.fromkeys(
        ("--exclude", "--known", "--skip-judged", "--already-judged"),
        ("Use --judged QRELS.", "Use --known FILE."),
    ),
    **dict.fromkeys(("--strategy", "--algorithm", "--type"), ("Use --method NAME.", "Use --figure KIND.")),
    "--queries-file": "Use --queries FILE.",
    **dict.fromkeys(
        ("--human", "--gold"), "Human judgments are the first argument. Use --machine LABELS for LLM labels."
    ),
    "--threshold": ("Use --baseline OLD --fail-if-worse MEASURE:MARGIN.", FLOOR),
    **dict.fromkeys(("--min", "--fail-under", "--min-score"), FLOOR),
    **dict.fromkeys(
        ("--digits", "--precision", "--decimals", "--round"),
        (
            "Use --config output.digits=N. -f csv shows all digits.",
            "Use -f csv or -o FILE.json, which show all digits.",
        ),
    ),
    **dict.fromkeys(
        ("--sample", "--sampled", "--sample-size"), ("Use --pool POOL.", "Use --for MEASURE --total N.")
    ),
    "pool --qrels": "Use --judged QRELS to leave out judged pairs.",
    **{f"show {word}": SAVED_ONLY for word in ("-k", "--query", "--qrels", "--run", "--unjudged", "--docs")},
    **{
        f"agreement --{word}": ALL_SHOWN
        for word in ("kappa", "metric", "coefficient", "krippendorff", "cohen", "fleiss", "method", "alpha")
    },
    **{
        f"evaluate --{word}": TESTS.replace("OLD NEW", "RUN RUN")
        for word in (
            *("baseline", "test", "compare", "correction", "significance", "p-value", "stat-test"),
            *("fdr", "holm", "bonferroni"),
        )
    },
    **{
        f"agreement --{word}": "Leave it out. The table of grades is always shown."
        for word in ("confusion", "matrix")
    },
    "agreement --threshold": "Use -l GRADE.",
    **dict.fromkeys(
        ("judge --scale", "judge --labels"), "Use --grades SCALE, as in --grades 0=no,1=partly,2=yes."
    ),
    "judge --resume": "Leave it out. The same command resumes.",
    **dict.fromkeys(("--cohens-d", "--cohen-d", "--effect"), "Use --long."),
    **dict.fromkeys(
        ("--bold", "--stars", "--daggers", "--letters"),
        "Use `leadline report QRELS RUN... -f latex`, which marks significant differences.",
    ),
    **dict.fromkeys(("--gain", "--gains"), "Write it into the measure, as in -m 'nDCG(gain=exp)@10'."),
    "--tag": "Use --name NAME.",
    "explain -q": "Use --query-id ID.",
    "agreement --tau": "Use --runs RUN..., which shows whether the order of the runs changes.",
    "pool --strategy": "Use --for MEASURE --total N for a sample, or --method NAME.",
    **dict.fromkeys(
        ("judge --status", "judge --progress", "judge --summary"),
        "Use --export FILE, which also counts each judge's judgments.",
    ),
    "agreement --judges": "Leave it out. All judges in a store or table are compared.",
    **dict.fromkeys(
        ("merge --conflict", "merge --merge", "merge --how"),
        "`leadline convert QRELS QRELS MERGED` merges judgments by majority.",
    ),
    **dict.fromkeys(
        ("merge --qrels", "merge --judgments"),
        "`leadline convert QRELS QRELS MERGED` merges judgments by majority.",
    ),
    **dict.fromkeys(("convert -f", "convert --format"), "Use --to FORMAT. OUT may be - for standard output."),
    **dict.fromkeys(
        (
            *("--ignore-unjudged", "--skip-unjudged", "--drop-unjudged", "--exclude-unjudged", "--condensed"),
            *("--judged", "--judged-docs-only-flag"),
        ),
        "Use --judged-only.",
    ),
    **dict.fromkeys(("--k1", "--b", "--mu"), PARAMETERS),
    **dict.fromkeys(("--norm", "--normalize"), "Use --normalise NAME."),
    **dict.fromkeys(("--corpus", "--collection", "--documents"), "Use --docs DOCS."),
    **dict.fromkeys(("--variant", "--group", "--treatment"), "Use --arm COLUMN."),
    **dict.fromkeys(("--clicked", "--conversion"), "Use --click COLUMN."),
    **dict.fromkeys(("--db", "--database"), "Use --store FILE."),
    **dict.fromkeys(
        ("--workers", "--jobs", "--threads", "--parallel", "--processes"), "Use --engine processes:N."
    ),
    **dict.fromkeys(
        ("fuse -k", "fuse --k", "fuse --rrf-k", "fuse --cutoff"),
        "Make k part of the method, as in --method 'RRF(k=60)'.",
    ),
    **dict.fromkeys(
        ("agreement --weights", "agreement --weighted", "agreement --kappa-weights"),
        "Use --config agreement.weights=quadratic.",
    ),
    **dict.fromkeys(
        ("--queries", "--query", "--topics", "--topic", "--query-ids", "--qid", "--only"),
        (
            "Use --queries FILE.",
            "Use --query-id ID.",
            "Use --query-slice FILE:COLUMN for groups, or --config read.queries_in=FILE to read only some.",
            "Use --config read.queries_in=FILE to read only some queries.",
        ),
    ),
    **dict.fromkeys(
        ("check --fail-under", "check --strict", "check --exit-code"),
        "`leadline check` exits with 1 if it finds an error.",
    ),
    **dict.fromkeys(
        ("convert --from", "convert --type", "convert --input-format"),
        "The format of IN is detected automatically. --config read.kind=qrels sets what it contains.",
    ),
    "report --title": "The title of a report cannot be set.",
    "measures --search": "Give just the name, as in `leadline measures recall`.",
    "--from": "Use --query-language LANGUAGE.",
    "--to": "Use --language LANGUAGE.",
    "--all": "Use --long.",
}
TYPING = 0.8  # share of equal letters from which an option is the one that was meant
LONGEST = 100  # characters of an error about extra arguments
LONG = 8  # letters of a word that can be taken for a misspelt one
MISSPELT = 0.88  # the same for a word that people try
# Words of options that say nothing about what they set.
EMPTY = {
    "with",
    "from",
    "only",
    "show",
    "print",
    "file",
    "path",
    "name",
    "list",
    "number",
    "type",
    "leadline",
}
HOLD_BOTH = (".json", ".jsonl", ".csv", ".tsv", ".parquet")  # files that may hold judgments and a run
MOST = 3  # options whose help has a word; with more, the word says nothing


def command_for(word: str) -> str:
    """Return what to use for a word that is no command; empty if nobody knows."""
    if word in TRIED_COMMANDS:
        return TRIED_COMMANDS[word]
    for place, command in EXPLAINED.items():
        listed = {name.lower() for name in names_known()[place]}
        if re.split(r"[@(]", word.lower())[0] in listed:
            return f"Use `leadline {command} {word}`, which explains it."
    looks_like_file = os.path.exists(word) or os.path.splitext(word)[1] != ""
    return EVALUATE if looks_like_file else ""


def missing_for(context: click.Context) -> str:
    """Return what to use where an argument or option is missing; empty if nobody knows."""
    if context.params.get("pool") == "export":
        return " Use `leadline judge --store FILE --export QRELS`."
    first = context.params.get("qrels")
    if not isinstance(first, str):
        return ""
    if os.path.exists(first):
        both = first.lower().endswith(HOLD_BOTH)
        return f" If {first} also contains a run, name it twice." if both else ""
    answer = command_for(first)
    return "" if answer in ("", EVALUATE) else f" {answer}"


def shortened(text: str, command: click.Command | None) -> str:
    """Return an error about extra arguments, of which a pattern may give many, without most of them."""
    name = "" if command is None else command.name
    hint = " DOCS is one file or folder: `leadline index FOLDER -o INDEX`." if name == "index" else ""
    return (text if len(text) <= LONGEST else f"{text[:LONGEST]} ...).") + hint


def option_for(word: str, command: click.Command | None, like: Sequence[str] = ()) -> str:
    """Return what to use for an option that a command does not have; empty if nobody knows.

    A word that people try has its answer; then come settings of that name, options that are spelled
    `like` it, and those whose help has its words.
    """
    if answer := answer_to(word, command):
        return answer
    if command is None:
        return ""
    from leadline.cli._settings import replacing

    setting = replacing(command, word)
    if setting is not None:
        return f"Use --config {setting.usage}."
    spelled = [one for one in like if difflib.SequenceMatcher(None, one, word).ratio() >= TYPING]
    if not spelled and len(word) >= LONG:
        known = [one.removeprefix(f"{command.name} ") for one in TRIED_OPTIONS]
        for close in difflib.get_close_matches(word, known, cutoff=MISSPELT):
            if answer := answer_to(close, command):
                return answer
    nearest = sorted(spelled) or by_meaning(word, command)
    quoted = " or ".join(f"'{one}'" for one in nearest)
    return f"Did you mean {quoted}?" if nearest else ""


def answer_to(word: str, command: click.Command | None) -> str:
    """Return the first answer to a word that names only options and settings of a command, if any."""
    own = "" if command is None else TRIED_OPTIONS.get(f"{command.name} {word}", "")
    answers = own or TRIED_OPTIONS.get(word, ())
    has = {name for one in command.params for name in one.opts} if command is not None else set()
    for answer in (answers,) if isinstance(answers, str) else answers:
        plain = re.sub("`[^`]*`", "", answer)
        named = re.findall(r"(?<![\w`-])(?:--config [a-z]+\.[a-z_]+|--?[a-zA-Z][\w-]*)", plain)
        if command is None or {*named} <= has:
            return answer
    return ""


def by_meaning(word: str, command: click.Command) -> list[str]:
    """Return the options and settings, at most two, whose names or helps have the words of an option."""
    from leadline.cli._settings import taken

    texts = {
        _usage(one): f"{' '.join(one.opts)} {one.help or ''}"
        for one in command.params
        if isinstance(one, click.Option)
    }
    texts |= {f"--config {one.usage}": f"{one.key} {one.help}" for one in taken(command)}
    found: dict[str, int] = {}
    for part in {*re.findall(r"[a-z]{4,}", word.lower())} - EMPTY:
        stem = re.compile(rf"\b{part[:-1] if part.endswith('s') else part[:6]}", re.IGNORECASE)
        having = [usage for usage, text in texts.items() if stem.search(text)]
        if len(having) <= MOST:
            for usage in having:
                found[usage] = found.get(usage, 0) + (2 if stem.search(usage) else 1)
    return sorted(found, key=lambda usage: -found[usage])[:2]


def _usage(one: click.Option) -> str:
    """Return an option with the word for its value."""
    longest = max(one.opts, key=len)
    return longest if one.is_flag or not one.metavar else f"{longest} {one.metavar}"


def with_value(text: str, command: click.Command) -> str:
    """Return an error about an option with the word for its value, as the help has it.

    >>> option = click.Option(["--store"], metavar="FILE")
    >>> with_value("Missing option '--store'.", click.Command("judge", params=[option]))
    "Missing option '--store FILE'."
    """
    options: list[Any] = [one for one in command.params if isinstance(one, click.Option) and one.metavar]
    for one in options:
        for name in one.opts:
            text = text.replace(f"'{name}'", f"'{name} {one.metavar}'")
    return text
