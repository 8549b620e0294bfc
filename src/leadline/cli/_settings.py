"""Settings: what `--config KEY=VALUE` sets, in one table that the commands draw from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from leadline.cli._help import ANALYSIS, INTERVAL, SETTING_FILES, SHARED, InputPath, Option, are_values
from leadline.data.registry import LARGEST
from leadline.data.validation import LIMITS
from leadline.errors import InputError, UsageError, did_you_mean, either, meant

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from leadline.data.reading import QueryFile

GIVEN = "leadline.config"  # key of the values in the context
TEXT = click.STRING


class Setting(NamedTuple):
    """One setting; the last part of its key is the keyword in Python; `tried` are options that people try."""

    key: str
    help: str
    kind: Any = TEXT
    default: Any = None
    many: bool = False
    tried: tuple[str, ...] = ()

    @property
    def keyword(self) -> str:
        """Return the keyword in Python."""
        return self.key.rpartition(".")[2]

    @property
    def usage(self) -> str:
        """Return how it is written, with a value it may have.

        >>> SETTINGS["read.order"].usage
        'read.order=rank'
        """
        if self.kind is click.BOOL:
            return f"{self.key}=false" if self.default else self.key
        choices = [one for one in getattr(self.kind, "choices", ()) if one not in (self.default, "refuse")]
        return f"{self.key}={choices[0] if choices else 'VALUE'}"


def one_in(*names: str) -> click.Choice[str]:
    """Return the type of a setting with a few possible values."""
    return click.Choice(names)


class PairOfNames(click.ParamType):  # type: ignore[type-arg]  # takes no parameter before click 8.4
    """Two names with a comma between them."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return both names."""
        names = tuple(value.split(",")) if isinstance(value, str) else tuple(value)
        if len(names) != 2:
            self.fail(f"pass the names of two runs, such as bm25,dense, not '{value}'.", param, ctx)
        return names


class PathOrText(InputPath):
    """Path of a table, or another text: a pattern or a label."""


class QueryFilePath(InputPath):
    """Path of a file of query ids, which is read once."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> QueryFile:
        """Return the path as a `QueryFile`."""
        from leadline.data.reading import QueryFile

        return QueryFile(str(super().convert(value, param, ctx)))


COUNT = click.IntRange(1, LARGEST)
SETTINGS = {
    setting.key: setting
    for setting in (
        Setting("read.columns", "Column names for runs (with `convert`, also for qrels) without a header, "
                "such as query_id,doc_id,rank."),
        Setting("read.documents", "Number of documents in the collection, for the measures Utility and "
                "FallOut.", click.IntRange(0, LARGEST), tried=("-N",)),
        Setting("read.documents_of", "How to find the document of each chunk in a run: a pattern whose "
                "first group is the document id, such as '^(.*)#\\d+$', or a table with both ids. A "
                "document gets the rank of its best chunk.", PathOrText()),
        Setting("read.drop_identical_ids", "Leave out retrieved documents that have the same id as their "
                "query, as BEIR and MTEB do.", click.BOOL, default=False),
        Setting("read.encoding", "Character encoding of texts, such as latin-1.", default="utf-8"),
        Setting("read.kind", "How to read files whose kind is not clear from their columns: as judgments "
                "(qrels), a run, or per-query values (values).", one_in("qrels", "run", "values")),
        Setting("read.known", "File with the documents that the user already knew for each query, as "
                "qrels or with a query and a document per line, for the measures Coverage and Novelty.",
                InputPath()),
        Setting("read.lengths", "Document lengths (with read.documents_of, chunk lengths) as FILE:COLUMN, "
                "for measures with a budget, such as R@500tokens. The file is a table with the ids in doc_id "
                "or chunk_id.", InputPath(), tried=("--tokens",)),
        Setting("read.name", "Name of the run to read from a file with several runs."),
        Setting("read.name_by", "What to name each run after: its file or its tag.", one_in("file", "tag"),
                "file", tried=("--names",)),
        Setting("read.negative", "How rank measures treat a document with a negative grade.",
                one_in("nonrelevant", "unjudged"), "nonrelevant"),
        Setting("read.on_duplicate", "What to do if a run retrieves a document twice for a query: report an "
                "error, keep the first, the last or the highest-scoring copy (max), or let repeats keep "
                "their ranks and count as non-relevant (hold). `check` defaults to first.",
                one_in("refuse", "first", "last", "max", "hold"), "refuse"),
        Setting("read.on_nan", "What to do if a score is NaN: report an error or drop the line. `check` "
                "defaults to drop.", one_in("refuse", "drop"), "refuse"),
        Setting("read.order", "Order of the documents of a run: by score or by the rank column.",
                one_in("score", "rank"), "score"),
        Setting("read.qrels_columns",
                "Column names for judgments without a header, such as query_id,doc_id,relevance."),
        Setting("read.queries_in",
                "File with the ids of the queries to read: qrels, a run, a table with the column query_id, "
                "or one id per line. Other queries are ignored. [default: all queries]", QueryFilePath()),
        Setting("read.second_judge", "File with a second judge's judgments of the pairs that `pool --twice` "
                "drew. Estimates then reflect the second judge.", InputPath()),
        Setting("read.second_pool", "Pool from `pool --twice`, needed with read.second_judge if the second "
                "judge's judgments have no probabilities.", InputPath()),
        Setting("read.subtopics", "Read column 2 of the judgments (in a table, the subtopic column) as "
                "subtopics, for diversity measures such as alpha_nDCG@10.", click.BOOL, default=False),
        Setting("text.analysis", "How to split texts into terms, such as Words(stem=porter,stop=none) or "
                "Characters(n=4). [default: depends on the language]", ANALYSIS),
        Setting("text.fields", "Column with the text. [default: title and text or, for queries, the first of "
                "text, title and query in the file]", many=True, tried=("--field",)),
        Setting("text.id_column", "Column with the ids of the texts. [default: found by name, such as "
                "doc_id or query_id]", tried=("--id",)),
        Setting("scores.higher_is_better", "Name of a custom measure for which higher is better. Gates on a "
                "custom measure need this setting or scores.lower_is_better.", many=True),
        Setting("scores.lower_is_better",
                "Name of a custom measure for which lower is better, such as latency.", many=True),
        Setting("scores.missing", "What to do if a run has no value for a query: report an error, use 0, or "
                "drop the query from the measure's means for all runs.",
                one_in("refuse", "zero", "drop"), "refuse"),
        Setting("scores.queries", "Queries to average over: all judged queries, those also in the run "
                "(both), or those with a relevant document. By default, a run that lacks a judged query has "
                "no mean with --profile trec10. [default: all, or both with --profile trec9]",
                one_in("all", "both", "with_relevant")),
        Setting("scores.wide", "What the columns of a table of per-query values are: runs or measures. "
                "[default: decided by their names]", one_in("runs", "measures")),
        Setting("test.draws", "Number of random resamples for confidence intervals. With 0, these intervals "
                "are left out. `rank` and `replicate` default to 10000, and `sampled` to 40.",
                click.IntRange(0, LIMITS["draws"]), 1000),
        Setting("test.family", "Tests to correct together: those of one measure, or of all measures.",
                one_in("measure", "all"), "measure"),
        Setting("test.half_width",
                "Half-width of confidence intervals to plan for, with a sampled pool. Shows how many "
                "queries you need to reach it, for different numbers of judgments per query.", click.FLOAT),
        Setting("test.interval", "Method for confidence intervals: Student, BCa or Percentile (both "
                "bootstrap), or Randomisation (in `compare` and `report`, only for differences). [default: "
                "Student, or Randomisation with --test Randomisation and at most 100 intervals]", INTERVAL),
        Setting("test.per_pair", "Show a separate confidence interval for each pair instead of simultaneous "
                "intervals.", click.BOOL, default=False),
        Setting("test.power", "Statistical power for sample sizes (test.smallest, `abtest plan`), detectable "
                "differences and the margins that gates suggest.", click.FLOAT, 0.8),
        Setting("test.smallest", "Smallest absolute difference worth detecting. Shows how many queries or "
                "users you need to detect it (with a sampled pool, for different numbers of judgments per "
                "query).", click.FLOAT),
        Setting("figure.labels", "Label, such as bm25=Okapi, of a run, assessor or arm in figures, or "
                "FILE:COLUMN with all labels.", PathOrText(), many=True, tried=("--label",)),
        Setting("figure.pair", "Pair of runs, such as bm25,dense, to show in the differences, scatter and "
                "slices figures. [default: the first, or all in slices]", PairOfNames(),
                tried=("--plot-pair",)),
        Setting("output.changed", "Number of queries to show per pair of runs and measure: those with the "
                "largest differences.", click.IntRange(0), 3),
        Setting("output.digits", "Digits after the decimal point in tables. [default: 4 or, with `show`, "
                "as in the original output]", click.IntRange(1, 10)),
        Setting("output.force_update", "Write a baseline file even if a check fails, a run lacks judged "
                "queries, or the judgments, measures or options have changed.", click.BOOL, default=False),
        Setting("output.top", "Number of runs to show in LaTeX and Markdown tables: the best on the first "
                "measure, plus the baseline if exactly one is given. [default: all]", COUNT),
        Setting("abtest.document", "Column with the document ids.", default="doc_id", tried=("--doc",)),
        Setting("abtest.effect", "Tune the always-valid (sequential) test for this relative difference "
                "between the arms.", click.FLOAT, 0.2),
        Setting("abtest.metric", "Metric to compare: share of users who click, or clicks per row (needs "
                "--user).", one_in("users", "rows"), "users"),
        Setting("abtest.query", "Column with the query ids. [default: all rows belong to one query]"),
        Setting("agreement.over", "Query-document pairs to compare: those that all assessors judged, or "
                "those that at least two judged (two).", one_in("all", "two"), "all"),
        Setting("agreement.resample", "What confidence intervals are computed over: queries (needs ten or "
                "more), pairs (intervals then apply to these queries only), or auto (queries, but pairs "
                "with --table).", one_in("auto", "queries", "pairs"), "auto"),
        Setting("agreement.top", "In an audit, number of best runs whose order is also compared separately.",
                click.IntRange(2, LARGEST), 10),
        Setting("agreement.weights",
                "Weights for disagreement in Cohen's kappa.", one_in("none", "linear", "quadratic"), "none"),
        Setting("agreement.within", "Half-width of kappa's confidence interval to plan for. Shows how many "
                "queries and judgments you need to reach it. [default with --runs: 0.05]", click.FLOAT),
        Setting("difference.condense", "With -k, remove unjudged documents from the lists before the lists "
                "are cut. [default: unjudged documents keep their ranks]", click.BOOL, default=False),
        Setting("difference.normalise",
                "Divide all values by the RIC of the ideal list. [default: true with -k]", click.BOOL),
        Setting("difference.printed6", "For document weights, use equation 6 exactly as printed in "
                "Golbus and Aslam (2014).", click.BOOL, default=False),
        Setting("difference.signed", "Report a negative RIC for lists that have most document pairs in the "
                "wrong order.", click.BOOL, default=False),
        Setting("difference.truncate", "End each list after its last relevant document.", click.BOOL, True),
        Setting("difference.weighted",
                "Weight documents by their ranks in an ideal list. [default: true with -k]", click.BOOL),
        Setting("histogram.as_printed", "Follow Krstovski et al. (2015) exactly: normalize scores per run, "
                "and leave out relevant documents that the run did not retrieve.", click.BOOL, default=False),
        Setting("histogram.missing", "Score for relevant documents that a run does not retrieve: the lowest "
                "score in the list (min), or none, so that they are left out (skip). [default: min, or skip "
                "with as_printed]", one_in("min", "skip")),
        Setting("histogram.nonrelevant",
                "Documents counted as non-relevant: all retrieved documents that are not judged relevant, "
                "or only those judged non-relevant.", one_in("retrieved", "judged"), "retrieved"),
        Setting("histogram.sample_from", "With --sample, documents to sample from: each run's own lists, or "
                "the union of the lists of all runs.", one_in("list", "union"), "list"),
        Setting("histogram.show", "Run to show in the figure (at most four runs). [default: all runs if at "
                "most four, otherwise the runs with the highest and lowest HSA]", many=True),
        Setting("index.positions", "Store term positions, which only the SDM model needs. An index without "
                "positions is smaller.", click.BOOL, default=True, tried=("--no-positions",)),
        Setting("index.prefix", "With --store-text, number of bytes to store from the start of each text. "
                "The whole text is indexed. [default: all bytes]", COUNT),
        Setting("judge.looks", "Number of times to check --stop-when, evenly spaced (never before 50 "
                "judgments). [default: the number set with `pool --looks`, or 10 if none was set]", COUNT),
        Setting("pool.batch", "Maximum number of new pairs per query in POOL. [default: no limit]", COUNT),
        Setting("pool.everything", "For every query, pool all documents in --docs or, without --docs, all "
                "documents retrieved for it.", click.BOOL, default=False, tried=("--all",)),
        Setting("pool.known",
                "File with query-document pairs to leave out of POOL: a pool or qrels.", InputPath()),
        Setting("pool.new_runs", "With --for, share of the budget for documents that every run ranks below "
                "the cutoff of the measure, but that later runs may rank higher.", click.FLOAT, 0.15),
        Setting("pool.random", "Number of unpooled documents to add per query, sampled from --docs or, "
                "without --docs, from the documents retrieved for the query.", click.IntRange(0, LARGEST), 0),
        Setting("pool.whole", "Write all pooled pairs to POOL, including known and judged ones. Ignores "
                "pool.batch.", click.BOOL, default=False),
        Setting("sampled.correction", "How to correct ranks: with a prior that is uniform on a log scale "
                "(log), or only by counting each of n documents sampled from N as N/n documents (none).",
                one_in("log", "none"), "log"),
        Setting("summary.windows", "With --query, maximum number of passages in the summary.", COUNT, 2),
        Setting("topics.alpha", "Dirichlet prior of each topic in a document. [default: 50 / number of "
                "topics]", click.FLOAT),
        Setting("topics.beta", "Dirichlet prior of each word in a topic.", click.FLOAT, 0.01),
        Setting("topics.distance", "Distance between topic vectors by which documents are ranked "
                "(js: Jensen-Shannon).", one_in("hellinger", "js", "cosine"), "hellinger"),
        Setting("topics.estimator", "Estimator of perplexity: left-to-right, which scores all tokens, or "
                "completion, which scores every second token given the others.",
                one_in("left-to-right", "completion"), "left-to-right"),
        Setting("topics.field", "Column with the text. [default: title and text or, with a polylingual "
                "model, the column named after the language]"),
        Setting("topics.fits", "With --docs, number of models to fit with different seeds. The scores are "
                "averaged over models.", click.IntRange(1, LIMITS["fits"]), 5),
        Setting("topics.particles", "Number of particles for the left-to-right estimator of perplexity.",
                click.IntRange(1, LIMITS["particles"]), 20),
        Setting("topics.restarts", "Number of Gibbs chains to run. leadline keeps the chain with the "
                "highest likelihood.", click.IntRange(1, LIMITS["restarts"]), 1),
        Setting("topics.sweeps", "Number of Gibbs sweeps over all tokens in each fit.",
                click.IntRange(1, LIMITS["sweeps"]), 500),
    )
}  # fmt: skip


class SettingParameter(click.Parameter):
    """Parameter of a command that only `--config` sets."""

    param_type_name = "setting"

    def __init__(self, setting: Setting, **attributes: Any) -> None:
        self.setting = setting
        given = {"type": setting.kind, "default": setting.default, "multiple": setting.many} | attributes
        if given["multiple"] and given["default"] is None:
            del given["default"]
        super().__init__([setting.key], **given)

    def config(self, keys: Iterable[str]) -> Option:
        """Return the option of the command that takes all settings."""
        return ConfigOption(keys)

    def experiment(
        self, command: click.Command, context: click.Context, args: list[str]
    ) -> tuple[list[str], str | None]:
        """Return the arguments of a call with those of the experiment that it runs, and the file of it."""
        return with_experiment(command, context, args)

    def _parse_decls(self, decls: Any, _expose_value: bool) -> tuple[str, list[str], list[str]]:
        (key,) = decls
        return self.setting.keyword, [f"--config {key}"], []

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add nothing: no argument of the command line is this parameter's own."""

    def make_metavar(self, _context: click.Context) -> str:
        """Return the word for a value."""
        return "VALUE"

    def get_error_hint(self, context: click.Context | None) -> str:
        """Return what an error calls it."""
        path = None if context is None else context.meta.get(SETTING_FILES, {}).get(self.setting.keyword)
        return f"'{self.setting.key}' in {path}" if path else f"'--config {self.setting.key}'"

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Return the value that `--config` gave, else the default."""
        return super().consume_value(ctx, {**opts, **ctx.meta.get(GIVEN, {})})


class ConfigOption(Option):
    """`--config`, which a command with settings has."""

    def __init__(self, keys: Iterable[str]) -> None:
        by_group: dict[str, list[str]] = {}
        for key in sorted(keys):
            by_group.setdefault(key.partition(".")[0], []).append(key.partition(".")[2])
        self.rows = [f"{group}: {', '.join(names)}" for group, names in by_group.items()]
        super().__init__(
            ["-C", "--config"],
            group="Settings",
            multiple=True,
            is_eager=True,
            expose_value=False,
            metavar="KEY=VALUE",
            callback=_remember,
            help="Change settings, or read them from FILE.toml. `leadline help config` explains the keys.",
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the keys of the command, and values after a key."""
        from click.shell_completion import CompletionItem

        key, equals, value = incomplete.partition("=")
        if not equals:
            known = [one for one in taken(ctx.command) if one.key.startswith(key)]
            return [
                CompletionItem(one.key + "=" * (one.kind is not click.BOOL), help=one.help) for one in known
            ]
        found: list[CompletionItem] = []
        for one in ctx.command.params:
            if isinstance(one, SettingParameter) and key in (one.setting.key, one.name):
                found = one.type.shell_complete(ctx, one, value)
        return [CompletionItem(f"{key}={one.value}", type=one.type, help=one.help) for one in found]


def taken(command: click.Command) -> list[Setting]:
    """Return the settings that a command takes, with the values that it allows."""
    own = (one for one in command.params if isinstance(one, SettingParameter))
    return [one.setting._replace(kind=one.type) for one in own]


OPPOSITE = {"higher_is_better": "lower_is_better", "lower_is_better": "higher_is_better"}


def replacing(command: click.Command, option: str) -> Setting | None:
    """Return the setting that an option stands for which people try; None if it stands for none."""
    keyword = option.lstrip("-").replace("-", "_")
    for one in taken(command):
        if option in one.tried or (option.startswith("--") and keyword == one.keyword):
            return one
    return None


def _remember(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> None:
    known = {one.key: one for one in taken(context.command)}
    given: dict[str, Any] = {}
    files: dict[str, str] = {}
    for key, value, path in _pairs(sorted(texts, key=lambda text: not _is_file(text)), context.command):
        one = _resolve(key, known, context, path)
        files |= {one.keyword: path}
        if value is None and one.kind is not click.BOOL:
            raise UsageError(f"--config {key} needs a value, as in --config {one.usage}")
        if one.many:
            given.setdefault(one.keyword, []).append(value)
            other = OPPOSITE.get(one.keyword, "")
            if not path and files.get(other):  # what is typed takes precedence over a file
                given[other] = [name for name in given[other] if name != value]
        else:
            given[one.keyword] = "true" if value is None else value
    experiments = [text for text in texts if _is_file(text) and "runs" in _content(text)]
    shared = {keyword for keyword, path in files.items() if path in experiments}
    context.meta.update({GIVEN: given, SETTING_FILES: files, SHARED: shared})


def _pairs(texts: Iterable[str], command: click.Command) -> Iterator[tuple[str, str | None, str]]:
    """Yield keys, values and files of settings; a bare key has the value None."""
    for text in texts:
        if _is_file(text):
            yield from ((key, value, text) for key, value in _in_file(text, command))
            continue
        for part in re.findall(r'(?:[^\s"]|"[^"]*"|")+', text):
            key, equals, value = part.partition("=")
            yield key, value.replace('"', "") if equals else None, ""


EXPERIMENT = "leadline.toml"  # in the folder, the experiment of a call without arguments
EXPERIMENTAL = ("compare", "evaluate", "rank", "report")  # commands that run one
# Keys of an experiment with the options that they stand for; those of judgments and runs are arguments.
KEYS = {
    "judgments": "",
    "qrels": "",
    "runs": "",
    "measures": "measures",
    **{name: name for name in ("baseline", "fail_if_worse", "require_not_worse", "fail_below")},
    **{name: name for name in ("pool", "machine")},
}


def with_experiment(
    command: click.Command, context: click.Context, args: list[str]
) -> tuple[list[str], str | None]:
    """Return the arguments of a call with those of the experiment that it runs, and the file of it."""
    if command.name not in EXPERIMENTAL:
        return args, None
    given, _, _ = command.make_parser(context).parse_args(args=list(args))
    typed = [*_listed(given.get("qrels")), *_listed(given.get("runs"))]
    named = [text for text in _listed(given.get("config")) if _is_file(text) and "runs" in _content(text)]
    if len(named) > 1:
        raise UsageError(f"{named[0]} and {named[1]} both list runs. Pass only one of them.")
    if named and typed:
        raise UsageError(f"{named[0]} already lists the runs. Pass this file or QRELS RUN..., not both.")
    if typed or not (named or os.path.isfile(EXPERIMENT)):
        return args, None
    path = named[0] if named else EXPERIMENT
    content = {name: value for name, value in _content(path).items() if not _is_table(name, value)}
    for name in content:
        if name not in KEYS:
            hint = did_you_mean(name, KEYS, most=1) or f"The keys are {', '.join(KEYS)}."
            raise InputError(f"unknown key '{name}'", path=path, hint=hint)
    if {"judgments", "qrels"} <= content.keys():
        raise InputError(
            "the keys 'judgments' and 'qrels' mean the same thing", path=path, hint="Use only one of them"
        )
    options = {each.name: each for each in command.params if isinstance(each, click.Option)}
    made = [] if named else ["--config", path]
    for name, value in content.items():
        option = options.get(KEYS.get(name, ""))
        if option is not None and not _listed(given.get(str(option.name))):
            made += [part for text in _texts(name, value, path) for part in (max(option.opts, key=len), text)]
    judgments, runs = (
        [text for name in names for text in _texts(name, content.get(name), path)]
        for names in (("judgments", "qrels"), ("runs",))
    )
    of_experiment = content.keys() & (KEYS.keys() - {"pool"})
    # per-query values need no judgments
    if of_experiment and not (runs and (judgments or (command.name != "evaluate" and are_values(runs)))):
        lacking = "judgments" if runs else "runs"
        raise InputError(f"an experiment needs a value for the key '{lacking}'", path=path)
    return [*made, *args, "--", *judgments, *runs], path


def _is_table(name: str, value: object) -> bool:
    """Return whether an entry of a file of an experiment is a table of settings, as [pool] is, and no key."""
    return isinstance(value, dict) and (name not in KEYS or name == "pool")


def _listed(value: object) -> list[str]:
    """Return what was given for a parameter, nothing if it is not."""
    return [value] if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else []


def _texts(key: str, value: Any, path: str) -> list[str]:
    """Return the values of a key of an experiment as on a command line; paths are relative to its file."""
    conditions = key in ("fail_if_worse", "require_not_worse", "fail_below")
    named = isinstance(value, dict) and (conditions or key == "runs")  # by run, or by measure
    single = key in ("judgments", "qrels", "pool", "machine")
    given = (
        [] if value is None else value if isinstance(value, list) else [*value.values()] if named else [value]
    )
    wanted = (str, int, float) if named and conditions else str
    if (single and len(given) > 1) or not all(isinstance(one, wanted) and one != "" for one in given):
        table = ["a table of paths"] * (key == "runs") + ["a table of numbers"] * conditions
        expected = "the path of one file" if single else either(["text", "a list of texts", *table])
        raise InputError(f"the key '{key}' must be {expected}", path=path)
    if named:
        by = ":" if key in ("fail_if_worse", "require_not_worse") else "="
        return [f"{name}{by}{_relative(one, path) if key == 'runs' else one}" for name, one in value.items()]
    if conditions or key == "measures":
        return given
    parts, there = (text.rpartition("=") for text in given), key in ("baseline", "machine")
    return [name + equals + _relative(file, path, only_there=there) for name, equals, file in parts]


def _relative(text: object, path: str, *, only_there: bool = False) -> str:
    """Return a path beside that of a file; with `only_there`, any text that names no file stays as it is."""
    beside = os.path.join(os.path.dirname(path), str(text))
    there = any(map(os.path.isfile, (beside, beside.rpartition(":")[0]))) or not only_there
    return beside if there and "://" not in beside else str(text)


def _is_file(text: str) -> bool:
    return "=" not in text and text.lower().endswith(".toml")


def _content(path: str) -> dict[str, Any]:
    from leadline.io.opening import read_toml

    return read_toml(path)


def _in_file(path: str, command: click.Command) -> Iterator[tuple[str, str]]:
    """Yield the settings in a file; those of an experiment that a command does not take are for others."""
    tables = _content(path)
    own = {one.key for one in taken(command)} if "runs" in tables else {*SETTINGS}
    if "runs" in tables:
        tables = {name: table for name, table in tables.items() if _is_table(name, table)}
    for group, table in tables.items():
        if not isinstance(table, dict):
            keys = [one.key for one in SETTINGS.values() if group in (one.key, one.keyword)]
            place, _, key = (keys[0] if keys else "read.order").partition(".")
            wrong = f"'{group}' is not a table of settings"
            hint = f"Put each setting in its table, such as {key} under [{place}]."
            if group in KEYS:
                wrong = f"'{group}' is a key of an experiment, but this file has no key 'runs'"
                name = command.name if command.name in EXPERIMENTAL else "compare"
                hint = "To run an experiment, set 'runs' and 'judgments' (or 'qrels') in the file and use "
                hint += f"`leadline {name} --config {path}`."
            raise InputError(wrong, path=path, hint=hint)
        for name, content in table.items():
            known = SETTINGS.get(f"{group}.{name}".replace("-", "_"))
            if known is not None and known.key not in own:
                continue
            paths = known is not None and not known.many and isinstance(known.kind, InputPath)
            if known is not None and isinstance(content, (dict, list) if paths else dict):
                kind = "a path" if paths else "a list or a single value" if known.many else "a single value"
                raise InputError(f"the setting '{known.key}' must be {kind}", path=path)
            values = content if isinstance(content, list) and known is not None and known.many else [content]
            for value in values:
                text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
                if known is not None and isinstance(known.kind, InputPath):
                    text = _relative(text, path, only_there=isinstance(known.kind, PathOrText))
                yield f"{group}.{name}", text


def _resolve(text: str, known: Mapping[str, Setting], context: click.Context, path: str) -> Setting:
    """Return the setting of a key, or of the last part of one."""
    import difflib

    key = text.replace("-", "_")
    found = [one for one in known.values() if key in (one.key, one.keyword)]
    if len(found) == 1:
        return found[0]
    name = f"{path}{': ' * bool(path)}`{context.command_path}`"
    if found:
        raise UsageError(f"--config {text} is ambiguous. Use {either(one.key for one in found)}.")
    refused = f"{name} does not use the setting '{text}'."
    read = {one.name for one in context.command.params} & {"qrels", "runs", "run"}
    if key in ("qrels_columns", "read.qrels_columns") and "qrels" in read:
        raise UsageError(
            f"{refused} First convert the qrels with `leadline convert` and --config read.columns."
        )
    if read and key not in ("subtopics", "read.subtopics"):
        group = context.find_root().command
        convert = group.get_command(context, "convert") if isinstance(group, click.Group) else None
        if convert is not None and any(key in (one.key, one.keyword) for one in taken(convert)):
            raise UsageError(f"{refused} First use `leadline convert` with this setting on the run or qrels.")
    keywords = {one.keyword: one.key for one in known.values()}
    close = difflib.get_close_matches(key.lower(), [*known, *keywords], n=2, cutoff=0.75)
    nearest = dict.fromkeys(keywords.get(one, one) for one in close)
    hint = meant(nearest) or f"`{context.command_path} --help` lists its settings."
    raise UsageError(f"{name} has no setting '{text}'. {hint}")


def described() -> list[tuple[str, str]]:
    """Return the settings with what they set and their default, for the help."""
    rows = []
    for one in SETTINGS.values():
        notes = "|".join(getattr(one.kind, "choices", ()))
        if one.default is not None and one.default is not False:
            default = "true" if one.default is True else one.default
            notes += f"{', ' * bool(notes)}default: {default}"
        notes += "repeatable" * one.many
        rows.append((one.key, f"{one.help} [{notes}]" if notes else one.help))
    return rows
