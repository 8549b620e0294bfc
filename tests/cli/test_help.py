"""What `leadline --help`, `leadline help` and the helps of the commands show."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from conftest import Leadline
from leadline.cli import COMMON, SECTIONS, _help, convert, group, search
from leadline.cli._declared import BESIDE, module_of
from leadline.cli._help import table
from leadline.cli._settings import SETTINGS, described, taken
from leadline.cli._tried import TRIED_COMMANDS, TRIED_INPUTS, TRIED_OPTIONS, answer_to, arguments_for, usage
from leadline.comparison.compare import COMPARED
from leadline.comparison.pair_texts import SENTENCES
from leadline.comparison.similarity_baselines import MOST_COMPARED
from leadline.data.validation import LIMITS
from leadline.errors import either
from leadline.estimation import sampled
from leadline.estimation.predictors import PREDICTORS
from leadline.estimation.unjudged_methods import METHODS
from leadline.evaluation.evaluate import DEFAULT_MEASURES
from leadline.evaluation.profiles import PROFILES
from leadline.measures.average_precision import RULES
from leadline.retrieval.fusion_lists import NORMALISATIONS

COMMANDS = {name: (entry["section"], entry["says"]) for name, entry in table().items()}
FOLDER = Path(inspect.getfile(import_module("leadline.cli"))).parent
NAMES = sorted([*BESIDE, *(path.stem for path in FOLDER.glob("[!_]*.py"))])
LONGEST = 66  # of a first sentence: it fits a line of 80 columns


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and those below it, with their full names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from walk(found, f"{name} {below}")


EVERY = dict(walk(group, "leadline"))


@pytest.mark.parametrize("name", NAMES)
def test_the_list_of_commands_is_fresh(name: str) -> None:
    section, says = COMMANDS[name]
    assert section == import_module(module_of(name)).SECTION, "run `make docs`"
    assert section in SECTIONS
    assert len(says) <= LONGEST


def test_every_file_is_a_command_and_no_section_is_empty() -> None:
    assert sorted(COMMANDS) == NAMES
    assert {section for section, _ in COMMANDS.values()} == set(SECTIONS)


@pytest.mark.parametrize("width", ["60", "66", "72", "76"])
def test_the_help_explains_the_common_commands_and_names_the_others(
    leadline: Leadline, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    text = leadline("--help").out
    common, _, others = text.partition("Other commands:")
    assert re.findall(r"^  ([a-z]+) +([A-Z].*)", common, re.MULTILINE) == [
        (name, COMMANDS[name][1]) for name in COMMON
    ]
    named = re.findall(r"[a-z-]+", others.partition("More help:")[0])
    assert {*named} >= {*NAMES} - {*COMMON} - {"help"}
    assert not {*named} & {*COMMON}
    assert "leadline help --all" in others
    monkeypatch.setenv("COLUMNS", width)
    assert {*re.findall(r"[a-z-]+", leadline("--help").out)} >= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_help_fits_on_a_long_page(leadline: Leadline, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert leadline(name, "--help").out.count("\n") <= 80


def test_all_commands_are_listed_on_request(leadline: Leadline) -> None:
    done = leadline("help", "--all")
    assert sorted(re.findall(r"^  ([a-z-]+) +[A-Z]", done.out, re.MULTILINE)) == NAMES
    assert [line for line in done.out.splitlines() if line.endswith(":")] == [f"{one}:" for one in SECTIONS]
    assert leadline("help", "--all", "evaluate").status == 2


@pytest.mark.parametrize("words", ["evaluate", "topics fit", "study judges", ""])
def test_help_shows_the_help_of_a_command(words: str, leadline: Leadline) -> None:
    assert leadline("help", *words.split()).out == leadline(*words.split(), "--help").out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("evaluat", "unknown command 'evaluat'. Did you mean 'evaluate'?\n"),
        ("evaluate more", "`leadline evaluate` has no subcommands"),
        ("study nothing", "there is no study 'nothing'. Choose one of "),
        ("topics nothing", "unknown command 'nothing'. See `leadline topics --help`.\n"),
        ("topics fti", "unknown command 'fti'. Did you mean 'fit'?\n"),
        ("nothing", "unknown command 'nothing'. `leadline help --all` lists all commands.\n"),
        ("mde", "unknown command 'mde'. Use `leadline compare QRELS OLD NEW --config test.smallest=X` "),
        ("bootstrap", "unknown command 'bootstrap'. Use `leadline compare QRELS OLD NEW --test NAME`"),
        ("histogram.show", "unknown command 'histogram.show'. 'histogram.show' is a setting for --config. "),
    ],
)
def test_help_of_what_is_not_there_is_one_line(words: str, error: str, leadline: Leadline) -> None:
    done = leadline("help", *words.split())
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"leadline: error: {error}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "line", ["--help", "--version", "compare --help", "evaluate --tset", "evaluate", "evalaute", "help"]
)
def test_helps_and_errors_of_usage_import_no_command_and_not_numpy(line: str) -> None:
    program = (
        "import sys\n"
        "from leadline.cli import main\n"
        "try:\n"
        f"    main({line.split()!r})\n"
        "except SystemExit:\n"
        "    ours = [name for name in sys.modules if name.startswith('leadline.cli.')]\n"
        "    print([name for name in ours if not name.startswith('leadline.cli._')], file=sys.stderr)\n"
        "    print('numpy' in sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    *_, ours, numpy = done.stderr.splitlines()
    assert (ours, numpy) == ("['leadline.cli.help']" if line == "help" else "[]", "False")


def test_help_and_catalogues_are_whole_where_python_drops_docstrings() -> None:
    for words in (["--help"], ["abtest", "--help"], ["measures", "nDCG"], ["models", "BM25"]):
        whole, dropped = (
            subprocess.run(
                [sys.executable, *options, "-m", "leadline", *words],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                capture_output=True,
                text=True,
                check=True,
            )
            for options in ((), ("-OO",))
        )
        assert whole.stdout.count("\n") > 10
        assert dropped.stdout == whole.stdout


@pytest.mark.parametrize("name", EVERY)
def test_every_option_stands_once_in_a_group_of_the_help(name: str, leadline: Leadline) -> None:
    command = EVERY[name]
    text = leadline(*name.split()[1:], "--help").out
    text = "".join(re.split(r"^(?=[A-Z]\w+:$)", text, flags=re.MULTILINE)[1:]).partition("  Example:")[0]
    titles = re.findall(r"^([A-Z]\w+):$", text, re.MULTILINE)
    if isinstance(command, _help.Command):
        assert [title for title in _help.TITLES if title in titles] == titles
    shown = re.findall(r"^  (-[^ ,]+(?:, --?[^ ,]+)*)", text, re.MULTILINE)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert [one for one in shown if parameter.opts[-1] in re.split(", | / ", one)], parameter.opts
    assert len(shown) == len(set(shown))


@pytest.mark.parametrize("name", EVERY)
def test_every_command_groups_its_options(name: str) -> None:
    assert isinstance(EVERY[name], (_help.Command, click.Group))


@pytest.mark.parametrize("name", EVERY)
def test_a_help_is_written_as_a_manual_is(name: str) -> None:
    command = EVERY[name]
    first = str(command.help).partition("\n")[0]
    assert re.match(r"[A-Z][a-z]+ ", first)
    assert not re.match(r"(Whether|How|What|Which|The|A) ", first)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            text = parameter.help or ""
            assert re.match(r"[A-Z1]", text), parameter.opts
            assert re.search(r"(\.|\])$", text), parameter.opts
            assert not re.match(r"(The|A|An|What|Which|How|Whether|Where) ", text), parameter.opts
            assert "again for more" not in text, parameter.opts


@pytest.mark.parametrize(
    ("command", "terms"),
    [
        ("evaluate", "MAP MRR topic"),
        ("predict", "query.performance QPP"),
        ("curve", "precision-recall"),
        ("agreement", "inter-assessor kappa bootstrap"),
        ("pool", "stratified.sampling pooling topics"),
        ("sampled", "stratified.sampling"),
        ("compare", "bootstrap significance p-value"),
    ],
)
def test_terms_that_people_search_for_are_in_the_help(command: str, terms: str, leadline: Leadline) -> None:
    text = " ".join(leadline(command, "--help").out.split())
    assert [term for term in terms.split() if not re.search(term, text, re.IGNORECASE)] == []


@pytest.mark.parametrize("word", sorted(TRIED_COMMANDS))
def test_words_that_people_try_are_answered_with_a_command_that_exists(word: str, leadline: Leadline) -> None:
    assert TRIED_COMMANDS[word] in leadline(word).refusal
    for name, rest in re.findall(r"`leadline ([a-z]+)(.*?)`", TRIED_COMMANDS[word]):
        text = leadline(name, "--help").out
        assert all(option in text for option in re.findall(r" (--?[a-z-]+)", rest))


@pytest.mark.parametrize("word", sorted(TRIED_OPTIONS))
def test_options_that_people_try_are_answered_where_the_answer_holds(word: str, leadline: Leadline) -> None:
    answers = TRIED_OPTIONS[word]
    names = [
        f"{name} {below}".strip()
        for name, entry in _help.table().items()
        if "params" in entry and name != "help"
        for below in entry.get("commands", [""])
        if word.rpartition(" ")[0] in ("", name, f"{name} {below}")
    ]
    option = word.rpartition(" ")[2]
    answered = [one for one in names if answer_to(option, EVERY[f"leadline {one}"], one)]
    assert any(answer in leadline(*name.split(), option).err for name in answered for answer in answers)


@pytest.mark.parametrize("word", sorted(TRIED_INPUTS))
def test_an_input_is_an_argument_of_a_command_or_named_with_the_one_that_reads_it(word: str) -> None:
    kinds, reads, *_ = TRIED_INPUTS[word]
    usages = [
        usage(command, name, asked)
        for name, command in EVERY.items()
        if not isinstance(command, click.Group) and (asked := arguments_for(kinds, command))
    ]
    assert usages
    called = re.findall(r"`leadline ([a-z-]+)", reads)
    assert called
    assert all(f"leadline {name}" in EVERY for name in called)


def test_no_word_that_people_try_has_two_answers() -> None:
    for section in (FOLDER / "tried.txt").read_text(encoding="utf-8").split("\n\n"):
        words = " ".join(line for line in section.splitlines() if line[:1] not in (" ", "#")).split()
        assert len(words) == len({*words}), section[:50]


def test_every_default_of_a_setting_is_said() -> None:
    texts = dict(described())
    given = [one for one in SETTINGS.values() if one.default is not None and one.default is not False]
    assert len(given) > 9
    assert all("default: " in texts[one.key] for one in given)


@pytest.mark.parametrize("command", [each for each in EVERY.values() if not isinstance(each, click.Group)])
def test_an_answer_names_only_settings_that_the_command_has(command: click.Command) -> None:
    """Words that are spelled like one of these have its answer."""
    has = {one.key for one in taken(command)}
    for word in {word.rpartition(" ")[2] for word in TRIED_OPTIONS}:
        answer = re.sub("`[^`]*`", "", answer_to(word, command, str(command.name)))
        assert {*re.findall(r"--config ([a-z]+\.[a-z_]+)", answer)} <= has, word


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("evaluate q r --metrcs AP", "Use -m MEASURE."),
        ("compare q r --corection holm", "Did you mean '--correction'?"),
        ("evaluate q r --worst 5", "leadline evaluate QRELS RUN -m AP -q -n -f tsv | sort"),
        ("compare q r --worst 5", "--config output.changed=N"),
        ("search i q --top 5", "Use -k N."),
        ("score i q p --cutoff 5", "The usage is `leadline score INDEX QUERIES PAIRS -m MODEL -o RUN`."),
        ("predict r --metrc AP", "No such option '--metrc'. The usage is"),
        ("report q r --plot", "Leave it out. The page"),
        ("check f --version", "Use `leadline --version`."),
        ("evaluate q r --verbose", "Leave it out. Progress"),
        ("fuse r r --overwrite", "Files given with -o are replaced"),
        ("evaluate q r --stopwords english", "`leadline index DOCS -o INDEX --config text.analysis="),
        ("curve q r --ci", "Use `leadline evaluate QRELS RUN... --intervals`"),
        ("check f --plot", "Use `leadline compare QRELS RUN RUN -o FILE.svg`"),
        ("index d --runs r", "Runs are for `leadline evaluate QRELS RUN...`"),
        ("evaluate q r --skip-unjudgd", "Use --judged-only."),
        ("rank q r --skip-judged", "The usage is `leadline rank QRELS [RUNS]...`."),
        ("show saved.json --query q1", "`leadline show` prints a saved result."),
        ("suite s --bootstrap", "No such option '--bootstrap'. The usage is"),
        ("suite s --permutations 9", "Use --test Randomisation."),
        ("sampled q r --common", "No such option '--common'. The usage is"),
        ("sampled q r --sort", "Use -o FILE.csv"),
        ("sampled q r --no-answer", "Use `leadline evaluate QRELS RUN -m 'NoAnswer"),
        ("topics search m --queries q", "as in `leadline topics search MODEL DOCS QUERIES -o RUN`."),
        ("check r --dedup", "Use --fix -o FILE"),
        ("explain --qrels q r", "as in `leadline explain QRELS RUN -m MEASURE --query-id ID`"),
        ("pool r -l 2 --depth 3 -o p", "--level needs"),
        ("pool r --depth 5,10 -o p", "'5,10' is not a whole number"),
        ("pool r --method RRF --budget 5 -o p", "--budget needs --for MEASURE instead of --method"),
        ("evaluate q r.run -m RBO(p=0.8)", "Use `leadline difference QRELS RUN RUN`"),
        ("explain nDCG@10", "`leadline measures nDCG@10` explains this measure."),
        ("explain P(k=5)", "`leadline measures 'P(k=5)'` explains this measure."),
        ("evaluate both.json", "If both.json also contains a run, pass the file twice."),
        ("evaluate values.csv", "`leadline compare`"),
        ("evaluate q values.csv", "`leadline compare`"),
        ("evaluate values.csv q", "`leadline compare`"),
        ("evaluate q", "Missing argument 'RUNS...'. The usage is `leadline evaluate QRELS RUNS...`. See"),
        ("judge export j.db -o x", "Use `leadline judge --store FILE --export QRELS`."),
        ("search i wing", "To search for one query, use --query wing."),
        (f"index {' '.join(f'docs/{n}.txt' for n in range(99))} -o x", "`leadline index FOLDER -o INDEX`"),
        ("search both.json --query knot", "index them first with `leadline index both.json -o both.index`"),
        ("search . --query knot", "`leadline index . -o /"),
        ("evaluate q r --ties run-order", "Use --config read.order=rank"),
        ("evaluate q r --trec-eval", "Use --profile trec9 -f trec,"),
        ("compare q r --trec-eval", "Use --profile trec9."),
        ("difference q a b -m AP --top 10", "Use `leadline compare QRELS RUN RUN -m MEASURE`"),
        ("histogram q a b -m AP -o hist.svg", "Use `leadline compare QRELS RUN RUN -m MEASURE -o FILE.svg`"),
        ("why-different q a b --query 3", "for all queries whose values differ between two files of values"),
        ("unjudged q q --depth 10", "`leadline evaluate QRELS RUN... -m Judged@10`"),
        ("evaluate q r --unjudged", "`leadline evaluate QRELS RUN... -m Judged@10`"),
        ("why-different q a b --query 3", "Use `leadline explain QRELS RUN -m MEASURE --query-id ID`"),
        ("why-different q a b", "use `leadline compare QRELS RUN RUN"),
        ("explain q a b -m AP --query-id 3", "Explain one run at a time"),
        ("search i q --bm25", "BM25 is the default model"),
        ("topics topics.xml --to tsv", "`leadline search INDEX QUERIES -o RUN`"),
        ("correlate a.csv b.csv --method kendall", "All coefficients are always shown"),
        ("summary two --doc d1", "use `leadline check FILE`"),
        ("index two -o x", "use `leadline check FILE`"),
        ("collection q", "use `leadline check FILE`"),
        ("correlate q q --runs r", "then `leadline correlate FILE.json FILE.json`"),
        ("summary q --words 9", "use `leadline check FILE`"),
        ("convert q new/", "use `--to beir`"),
        (
            "convert texts.tsv out.run",
            "`leadline index DOCUMENTS -o INDEX`, then `leadline search INDEX QUERIES",
        ),
        ("convert topics.xml out.tsv", "`leadline search INDEX QUERIES -o RUN`"),
        ("evaluate topics.xml q", "`leadline search INDEX QUERIES -o RUN`"),
        ("suite suite.yaml", "`[collections.cran]`"),
        ("correlate q q q q -m AP", "pass both files to `leadline correlate`."),
        ("correlate none.csv -m AP", "none.csv: no such file"),
        ("abtest clicks.csv --method team-draft", "leadline does not analyze interleaved lists"),
        ("abtest clicks.csv --control A --treatment B", "use --arms CONTROL TREATMENT"),
        ("abtest --control 12/90 --treatment 19/90", "use --a CLICKS/USERS and --b CLICKS/USERS"),
        ("replicate a b --qrels q", "`leadline compare QRELS ORIGINAL REPRODUCED`"),
        ("replicate --original a --replicated b", "`leadline compare QRELS ORIGINAL REPRODUCED`"),
        (
            "compare values.csv --system b",
            "as in `leadline compare QRELS RUNS...`. Per-query values need no runs.",
        ),
        ("pool --run-file1 a --run_file2 b", "as in `leadline pool RUNS... -o POOL`."),
        ("search --index i --topics t", "as in `leadline search INDEX [QUERIES]`."),
        ("judge --pool p", "as in `leadline judge POOL --store FILE`."),
        (
            "correlate --estimate a",
            "as in `leadline correlate TRUTH[:MEASURE] ESTIMATE[:MEASURE] [FILE]...`.",
        ),
        ("why-different --a x --b y", "`leadline why-different RESULT[:MEASURE] RESULT[:MEASURE]`."),
        ("summary --index i --doc d", "as in `leadline summary DOCS-or-INDEX --doc ID`."),
        ("convert --input-file q", "as in `leadline convert IN [IN]... OUT`."),
        ("fuse a b --qrels q", "Judgments are for `leadline evaluate QRELS RUN...`"),
        ("search i q --qrels q", "Judgments are for `leadline evaluate QRELS RUN...`"),
        ("evaluate q r --index i", "An index is for `leadline search INDEX QUERIES -o RUN`"),
        ("agreement values.csv --columns a,b", "Leave it out. All judges in a store or table are compared."),
        ("convert q o --query-col query_id", "Leave it out. Formats and columns are detected automatically."),
        ("index d --text-column text", "--config text.fields=COLUMN."),
        ("report values.csv --sep ;", "Leave it out. Formats and columns are detected automatically."),
        ("correlate a.csv b.csv --header 0", "Leave it out. Formats and columns are detected automatically."),
        ("abtest log.csv --user-col user", "Use --arm, --click, --user, --time or --position"),
        ("fuse a b -m combmnz", "Use --method NAME, as in --method CombMNZ."),
        ("fuse a b --borda-fuse", "Use --method bordafuse."),
        ("evaluate q r --ndcg@10", "Use -m nDCG@10."),
        ("rank q r --wilcoxon", "Use --test Wilcoxon."),
        ("predict r --method clarity", f"The predictors are {either(PREDICTORS.classes, 'and')}."),
        ("predict r --qrels q", "Use --truth RESULT:MEASURE, as in"),
        ("check q r --baseline b", "Use `leadline compare QRELS RUN --baseline OLD --fail-if-worse MEASURE`"),
        ("evaluate q r --max-drop 0.01", "fails only if the drop is shown to be above MARGIN. --fail-below"),
        ("report q r --fail-below AP=1", "Use `leadline evaluate QRELS RUN --fail-below MEASURE=VALUE`"),
        ("sampled pool r --budget 9", "use `leadline pool RUN... --for MEASURE --total N -o POOL`."),
        ("show a.run --qid 1", "`leadline explain QRELS RUN -m MEASURE --query-id ID --long`"),
        ("show a.json --bins 9", "Only `leadline histogram --bins N` takes it."),
        ("measures --list", "Leave it out. Without a name, all are listed."),
        ("topics --k 9", "Name a `leadline topics` command first, such as `leadline topics fit`."),
        ("merge q q --strategy max", "`leadline convert QRELS QRELS MERGED` merges judgments by majority"),
        ("compare q a b --n-boot 99", "Use --test 'Randomisation(draws=1000)'."),
        ("compare q a b --error-bars", "The usage is `leadline compare QRELS [RUNS]...`."),
        ("search -index i -topics t", "No such option '-index'. Pass its value as an argument"),
        ("evaluate -qrels q -run r", "No such option '-qrels'. Pass its value as an argument"),
        ("evaluate q r -output x.csv", "Did you mean '--output'?"),
        ("search i q -hits 10", "No such option '-hits'. Use -k N."),
        ("evaluate q r -x", "No such option '-x'."),
        ("explain q r --doc d1", "Leave it out. --long shows all documents."),
        ("abtest --a-clicks 9 --a-users 99", "use --a CLICKS/USERS"),
        ("curve q r --dpi 300", "Use -o FILE.svg"),
        ("topics fit d --num-topics 9", "Use -T T."),
        ("check --type qrels q", "--config read.kind=qrels sets it."),
        ("rank --unsupervised r", "`leadline unjudged RUN...`"),
        ("index docs", "The usage is `leadline index DOCS -o INDEX`."),
        ("search i q more", "The usage is `leadline search INDEX [QUERIES]`."),
        ("compare q --system-a a --system-b b", "as in `leadline compare QRELS RUNS...`."),
        ("agreement --human-judgments a --llm-labels b", "as in `leadline agreement QRELS QRELS...`."),
        ("agreement --first a --second b", "as in `leadline agreement QRELS QRELS...`."),
        ("replicate --original-run a --reproduced-run b", "`leadline compare QRELS ORIGINAL REPRODUCED`"),
        ("compare q --baseline-run a --test-run b", "Use --baseline NAME."),
        ("correlate --a x.json --b y.json", "ESTIMATE[:MEASURE] [FILE]...`. See"),
        ("abtest 12/90 19/90", "For counts, use --a CLICKS/USERS and --b CLICKS/USERS."),
        ("evaluate q r --labels l", "Use --machine LABELS for LLM labels"),
        ("curve q r --labels l", "Use --config figure.labels=bm25=Okapi"),
        ("convert a --out b", "Use -o."),
        ("search i q --method bm25", "Use -m MODEL"),
        ("unjudged a b -m soboroff", "Use --method NAME."),
        ("fuse a b --alpha 0.3", "Use --weights X,X,..., as in --weights 0.3,0.7."),
        ("fuse a b -n minmax", "No such option '-n'. The usage is `leadline fuse RUN... -o RUN`."),
        (
            "index d --model bm25",
            "Only `leadline score --model MODEL` and `leadline search --model MODEL` take it.",
        ),
        ("evaluate q r --csv", "Use -f csv, or -o FILE.csv."),
        ("evaluate q r --per-topic", "Use --per-query."),
        ("compare q r --control bm25", "Use --baseline NAME."),
        ("convert a b --top 9", "The usage is `leadline convert IN [IN]... OUT`."),
        ("agreement a b --cohens-kappa", "Leave it out. Kappa and alpha are always shown."),
        ("search i q --similarity bm25", "Use -m MODEL"),
        ("suite s --collection c", "as in `leadline suite SUITE`."),
        ("abtest plan --mde 0.01", "Use --lift SHARE"),
        ("replicate a b q", "use `leadline compare QRELS ORIGINAL REPRODUCED`"),
        (
            "my.toml",
            "Use `leadline evaluate --config my.toml` for an experiment, or `leadline suite my.toml`",
        ),
        ("evaluate my.toml", "Use `leadline evaluate --config my.toml` for an experiment"),
        ("help config read", "Leave out 'read'."),
    ],
)
def test_an_error_names_the_call_that_was_meant(
    call: str, answer: str, leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "both.json").write_text("[]")
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "two").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    (tmp_path / "topics.xml").write_text('<topics>\n<topic number="1"><query>wing</query></topic>\n')
    (tmp_path / "texts.tsv").write_text("doc_id\ttext\nd1\twings\n")
    (tmp_path / "suite.yaml").write_text("collections:\n  cran:\n")
    (tmp_path / "values.csv").write_text("run,query,AP\na,q1,0.5\n")
    done = leadline(*call.split())
    assert (done.status, answer in done.err) == (2, True), done.err


def test_an_option_in_one_word_with_its_value_is_answered_with_both(leadline: Leadline) -> None:
    refusal = leadline("compare", "q", "a", "b", "--confidence 0.99").refusal
    assert "two arguments, or as --confidence=0.99." in refusal


def option(call: str) -> click.Parameter:
    """Return an option of a command, such as "topics fit -T"."""
    name, _, word = call.rpartition(" ")
    (found,) = (one for one in EVERY[f"leadline {name}"].params if word in one.opts)
    return found


@pytest.mark.parametrize(
    ("call", "choices"),
    [
        ("convert --to", [*convert.SUFFIXES, convert.BEIR, convert.RANK_EVAL]),
        *((f"{name} --profile", PROFILES) for name in ("compare", "evaluate", "rank", "replicate", "report")),
        ("curve --interpolation", RULES),
        ("fuse --normalise", NORMALISATIONS),
        ("search --show", search.SHOWN),
    ],
)
def test_the_choices_of_an_option_are_those_of_the_code(call: str, choices: Iterable[str]) -> None:
    kind = option(call).type
    assert isinstance(kind, click.Choice)
    assert list(kind.choices) == list(choices)


def test_case_and_hyphens_of_a_choice_do_not_matter() -> None:
    assert option("fuse --normalise").type.convert("MinMax", None, None) == "min-max"
    assert option("suite --test").type.convert("randomisation", None, None) == "Randomisation"
    with pytest.raises(click.BadParameter, match="'min-max', 'max', 'sum', 'z'"):
        option("fuse --normalise").type.convert("zmuv", None, None)


@pytest.mark.parametrize("call", ["topics fit -T", "unjudged -T"])
def test_as_many_topics_may_be_asked_for_as_are_fitted(call: str) -> None:
    kind = option(call).type
    assert isinstance(kind, click.IntRange)
    assert (kind.min, kind.max) == (1, LIMITS["topics"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("compare -m", f"[default: those of gates and other inputs, or {', '.join(COMPARED)}]"),
        (
            "rank -m",
            f"[default: {', '.join(COMPARED)}; with a pool or per-query values, all of their measures]",
        ),
        ("replicate -m", f"[default: {', '.join(COMPARED)}]"),
        ("evaluate -m", f"[default: {', '.join(DEFAULT_MEASURES)}; with a pool, its measures]"),
        ("sampled -m", f"[default: {', '.join(sampled.DEFAULT_MEASURES)}]"),
        ("compare --pairs", f"all for CSV, JSON, LaTeX with --baseline, or up to {SENTENCES} rows]"),
        ("difference --competitor", f"plus RBO and Kendall for up to {MOST_COMPARED} runs]"),
        ("unjudged --method", f"Method: {either(kind.called for kind in METHODS.classes.values())}."),
        (
            "predict -m",
            f"Predictor (repeatable): {either(str(one()) for one in PREDICTORS.classes.values())}.",
        ),
    ],
)
def test_a_help_lists_what_the_code_has(call: str, words: str) -> None:
    found = option(call)
    assert isinstance(found, click.Option)
    assert words in (found.help or "")


@pytest.mark.parametrize("name", ["compare", "rank", "report"])
def test_judgments_without_runs_are_refused(name: str, leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "q"
    path.write_text("q1 0 d1 1\n")
    error = "no runs were given. Pass QRELS RUN RUN..., or per-query values."
    assert leadline(name, path) == (2, "", f"leadline: error: {error}\n")
