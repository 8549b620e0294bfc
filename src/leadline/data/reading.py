"""Options of reading runs and qrels, validated once and passed from the public functions to the readers."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, get_args

from leadline.data.validation import call_of, check_flags, check_whole, check_word, keywords_of, refusal
from leadline.errors import UnknownOptionError, UsageError, did_you_mean, either, sentences

if TYPE_CHECKING:
    from leadline.data.qrels import QrelsColumns

Order: TypeAlias = Literal["score", "rank"]
OnDuplicate: TypeAlias = Literal["refuse", "first", "last", "max", "hold"]
OnNan: TypeAlias = Literal["refuse", "drop"]
NameBy: TypeAlias = Literal["file", "tag"]
Negative: TypeAlias = Literal["nonrelevant", "unjudged"]


class QueryFile(str):
    """Path of a file of query ids, which is read once."""

    __slots__ = ("ids", "order")

    def __init__(self, _path: str) -> None:
        self.ids: frozenset[bytes] | None = None
        self.order: tuple[str, ...] = ()


class ChunkIds(str):
    """What gives the document of a chunk: a pattern with a group, or a table, which is read once."""

    __slots__ = ("table",)

    def __init__(self, _given: str) -> None:
        self.table: Mapping[bytes, bytes] | None = None


class Lengths(str):
    """What gives the length of a document: FILE:COLUMN, which is read once, or a dictionary."""

    __slots__ = ("given", "table")

    def __init__(self, _given: str) -> None:
        self.given: Mapping[str, float] | None = None
        self.table: QrelsColumns | None = None  # lengths as grades of one query, by document


LengthsOf: TypeAlias = str | Mapping[str, float]
DocumentsOf: TypeAlias = str | os.PathLike[str] | re.Pattern[str] | Mapping[str, str]
QueriesIn: TypeAlias = str | os.PathLike[str] | Iterable[str | int]


class NegativeOptions(TypedDict, total=False):
    """Options of reading qrels without subtopics."""

    negative: Negative
    qrels_columns: str | None


class QrelsOptions(NegativeOptions, total=False):
    """Options of reading qrels."""

    subtopics: bool


class RunOptions(TypedDict, total=False):
    """Options of reading a run."""

    order: Order
    on_duplicate: OnDuplicate
    on_nan: OnNan
    columns: str | None
    drop_identical_ids: bool
    queries_in: QueriesIn | None
    documents_of: DocumentsOf | None


class ReadQrelsOptions(QrelsOptions, total=False):
    """Options of reading qrels from a file or from memory."""

    queries_in: QueriesIn | None


class RunsOptions(RunOptions, total=False):
    """Options of reading several runs."""

    name_by: NameBy


class JudgedOptions(NegativeOptions, RunsOptions, total=False):
    """Options of reading runs and qrels without subtopics."""


class ReadingOptions(QrelsOptions, RunsOptions, total=False):
    """Options of reading runs and qrels, with or without subtopics."""


class CutOptions(TypedDict, total=False):
    """Truncation of ranked lists."""

    depth: int | None
    judged_only: bool


class CutReadingOptions(ReadingOptions, CutOptions, total=False):
    """Options of reading runs and qrels, and truncation of ranked lists."""

    lengths: LengthsOf | None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reading:
    """Validated options of reading runs and qrels.

    Parameters
    ----------
    order : {"score", "rank"}
        Column that determines the order of a list.
    on_duplicate : {"refuse", "first", "last", "max", "hold"}
        Treatment of a document that occurs twice in a list: refuse it; keep the first, the last or the one
        with the highest score; or keep all ranks and count repetitions as non-relevant.
    on_nan : {"refuse", "drop"}
        Treatment of a NaN score: refuse it or drop the line.
    name_by : {"file", "tag"}
        Source of the name of a run.
    negative : {"nonrelevant", "unjudged"}
        Treatment of a negative grade in rank measures.
    subtopics : bool
        Whether column 2 of the qrels is a subtopic.
    columns : str, optional
        Names of the columns of runs without a header, separated by commas.
    qrels_columns : str, optional
        Names of the columns of judgments without a header, separated by commas.
    drop_identical_ids : bool
        Whether to drop documents of runs whose id is that of their query, as BEIR and MTEB do.
    queries_in : path or iterable of str, optional
        Queries that are read; the others are left out. A file holds one id a line, a table with a column of
        query ids, qrels or a run.
    documents_of : str, path, pattern or dict, optional
        What gives the document of a chunk in a run: a regular expression whose first group is the id of the
        document; the path of a table whose first columns, or `chunk_id` and `doc_id`, are both ids; or a
        dictionary. A document takes the place of its best chunk unless `on_duplicate` says otherwise.
    lengths : str or dict, optional
        Length of each document (of each chunk with `documents_of`), for measures with a budget such as
        R@500tokens: FILE:COLUMN, a table whose first column or `doc_id` is the id, or a dictionary.
    single_precision : bool
        Whether to compare scores as 32-bit floats, as trec_eval does; set by a profile.

    Raises
    ------
    UsageError
        If a value is not allowed.

    Examples
    --------
    >>> Reading(order="ranks")
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: order must be 'score' or 'rank', not 'ranks'
    """

    order: Order = "score"
    on_duplicate: OnDuplicate = "refuse"
    on_nan: OnNan = "refuse"
    name_by: NameBy = "file"
    negative: Negative = "nonrelevant"
    subtopics: bool = False
    columns: str | None = None
    qrels_columns: str | None = None
    drop_identical_ids: bool = False
    queries_in: QueriesIn | None = None
    documents_of: DocumentsOf | None = None
    lengths: LengthsOf | None = None
    single_precision: bool = False

    def __post_init__(self) -> None:
        check_word(get_args(Order), order=self.order)
        check_word(get_args(OnDuplicate), on_duplicate=self.on_duplicate)
        check_word(get_args(OnNan), on_nan=self.on_nan)
        check_word(get_args(NameBy), name_by=self.name_by)
        check_word(get_args(Negative), negative=self.negative)
        check_flags(subtopics=self.subtopics, drop_identical_ids=self.drop_identical_ids)
        for name, example in (("columns", "rank"), ("qrels_columns", "relevance")):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, str) or not given):
                expected = f"column names separated by commas, such as 'query_id,doc_id,{example}'"
                raise refusal(f"--config read.{name}", given, expected)
        object.__setattr__(self, "queries_in", _checked_queries(self.queries_in))
        object.__setattr__(self, "documents_of", _checked_documents(self.documents_of))
        object.__setattr__(self, "lengths", _checked_lengths(self.lengths))
        if self.documents_of is not None and self.on_duplicate == "refuse":
            object.__setattr__(self, "on_duplicate", "max")

    @classmethod
    def of(
        cls, function: Callable[..., Any], options: Mapping[str, object], known: type = ReadingOptions
    ) -> Reading:
        """Return the reading options in keyword arguments; raise UnknownOptionError for unknown ones."""
        refuse_unknown(function, options, known.__annotations__)
        return cls(**options)  # type: ignore[arg-type]  # checked in __post_init__

    @property
    def by_rank(self) -> bool:
        """Whether lists are ordered by the rank column."""
        return self.order == "rank"

    @property
    def by_row(self) -> bool:
        """Whether the rows of a run must be read one by one."""
        return self.by_rank or self.documents_of is not None

    @property
    def by_tag(self) -> bool:
        """Whether runs are named by their tag."""
        return self.name_by == "tag"

    @property
    def selects(self) -> bool:
        """Whether a part of every run is left out."""
        return self.queries_in is not None or self.drop_identical_ids

    def options(self, known: type = ReadingOptions) -> dict[str, Any]:
        """Return the values of some keywords, as stored in results.

        >>> Reading(order="rank").options(RunsOptions)["order"]
        'rank'
        """
        return {name: getattr(self, name) for name in known.__annotations__}


def _checked_queries(given: object) -> QueryFile | tuple[str, ...] | None:
    """Return what selects queries: a file, or ids in their order.

    >>> _checked_queries("dev.txt"), _checked_queries(["q2", 1, "q2"])
    ('dev.txt', ('q2', '1'))
    """
    if given is None or (isinstance(given, QueryFile) and given):
        return given
    if isinstance(given, (str, os.PathLike)) and os.fspath(given):
        return QueryFile(os.fspath(given))
    ids = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else []
    if not ids or not all(isinstance(each, (str, Integral)) and not isinstance(each, bool) for each in ids):
        wanted = "a path or a nonempty list of query ids, each a string or a whole number"
        raise refusal("--config read.queries_in", given, wanted)
    return tuple(dict.fromkeys(map(str, ids)))


def _checked_documents(given: object) -> ChunkIds | None:
    r"""Return what gives the document of a chunk.

    >>> _checked_documents({"d1#0": "d1"}), _checked_documents(re.compile(r"(.*)#\d+"))
    ('a dictionary of 1', '(.*)#\\d+')
    """
    if given is None or isinstance(given, ChunkIds):
        return given
    if isinstance(given, Mapping):
        made = ChunkIds(f"a dictionary of {len(given)}")
        if not given or not all(isinstance(name, str) for pair in given.items() for name in pair):
            raise UsageError(
                "documents_of must map at least one chunk id to a document id, and all ids must be strings"
            )
        made.table = {name.encode(): document.encode() for name, document in given.items()}
        return made
    if isinstance(given, re.Pattern) and isinstance(given.pattern, str):
        given = given.pattern
    if not isinstance(given, (str, os.PathLike)):
        raise refusal("documents_of", given, "a pattern, a dictionary or the path of a table")
    made = ChunkIds(os.fspath(given))
    if os.path.exists(made):
        return made
    try:
        groups = re.compile(made).groups
    except re.error as error:
        groups = 0
        wrong = f"is neither a file nor a valid regular expression ({error})"
    else:
        wrong = "is not a file, and as a pattern it has no capturing group for the document id"
    if not groups:
        raise UsageError(
            f"--config read.documents_of: '{made}' {wrong}. Use the path of a table, or a pattern such as "
            "'^(.*)#\\d+$'."
        )
    return made


def _checked_lengths(given: object) -> Lengths | None:
    """Return what gives the lengths of documents.

    >>> _checked_lengths("chunks.csv:tokens"), _checked_lengths({"d1": 180})
    ('chunks.csv:tokens', 'a dictionary of 1')
    """
    if given is None or isinstance(given, Lengths):
        return given
    if isinstance(given, str):
        return Lengths(given)
    if not isinstance(given, Mapping) or not given:
        raise refusal("lengths", given, "FILE:COLUMN or a dictionary {document: length}")
    made = Lengths(f"a dictionary of {len(given)}")
    made.given = given
    return made


@dataclass(frozen=True)
class Cut:
    """Truncation of ranked lists at `depth` documents, after which `judged_only` removes unjudged ones."""

    depth: int | None = None
    judged_only: bool = False

    def __post_init__(self) -> None:
        check_whole(1, depth=self.depth)
        check_flags(judged_only=self.judged_only)

    def options(self) -> dict[str, Any]:
        """Return the values by name, as stored in results."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


DEFAULT_READING = Reading()
UNCUT = Cut()


def reading_and_cut(
    function: Callable[..., Any], options: Mapping[str, object], known: type = CutReadingOptions
) -> tuple[Reading, Cut]:
    """Return the reading options and the cut in keyword arguments; see `Reading.of`.

    >>> reading_and_cut(print, {"on_nan": "drop", "depth": 10})[1]
    Cut(depth=10, judged_only=False)
    """
    refuse_unknown(function, options, known.__annotations__)
    cut = {name: options[name] for name in options if name in CutOptions.__annotations__}
    reading = {name: options[name] for name in options if name not in cut}
    return Reading(**reading), Cut(**cut)  # type: ignore[arg-type]  # checked in __post_init__


TRUTH = "`leadline predict RUN --truth FILE.json` after evaluate(qrels, runs, measure).write('FILE.json')"
# Keywords of other programs and what says the same here, by what a function must have for the advice: its
# name or parameters. The first that fits is given.
_WORDS: dict[str, dict[str, str]] = {
    "alpha": {"confidence": "confidence (1 - alpha)"},
    "max_p": {"confidence": "confidence (1 - max_p)"},
    "metric metrics": {"measures": "measures"},
    "measure": {"predict": TRUTH, "measures": "measures"},
    "stat_test": {"test": "test='T' or 'Randomisation'"},
    "method": {
        "correction test": "correction='Holm' or 'Bonferroni', or test='T' or 'Randomisation' for the test",
        "predictors": "predictors",
        "correlate": "correlate({run: value}, {run: value})['kendall']",
        "models": "models",
    },
    "correction_method p_adjust": {"correction test": "correction='Holm' or 'Bonferroni'"},
    "names": {"runs": '{"name": run} in place of the run'},
    "qrel": {"qrels": "qrels"},
    "qrels": {"predict": TRUTH},
    "run": {"runs": "runs", "scores": "scores"},
    "depth limit size top_n": {"k": "k"},
    "k top_k": {
        "fuse": "method='RRF(k=60)' for the constant of RRF, or depth for the number of documents per query",
        "measures": "a measure with a cutoff, such as 'nDCG@10'",
        "depth": "depth",
    },
    "k_values ks cutoffs cutoff cut_offs": {"measures": "measures with cutoffs, such as 'nDCG@{1,5,10}'"},
    "ci conf_level confidence_interval confidence_intervals confidence_level": {
        "intervals": "intervals=True, and confidence=0.95 for their level",
        "confidence": "confidence=0.95 for the level of the intervals",
    },
    "intervals": {
        "interval confidence": "confidence for the level of the intervals, which are always included"
    },
    "n_permutations permutations num_permutations n_resamples iterations n_boot n_bootstrap draws": {
        "suite": "test='Randomisation(draws=2000)'",
        "test": "test='Randomisation(draws=2000)' or 'Bootstrap(draws=2000)'",
        "draws": "draws",
    },
    "sample n size n_documents n_docs num_documents": {
        "budget random": "measure='P@10' with total=100 to sample 100 documents for a measure (budget=20 for "
        "20 per query), or random=20 to add 20 random documents per query"
    },
    "llm llm_labels llm_qrels llm_judgments machine_labels labels synthetic judge llm_judge human": {
        "budget machine": "machine",
        "machine pool": "machine=labels with pool=pool, where pool = leadline.pool(runs, measure='P@10', "
        "budget=20) drew the documents that people judged",
        "sampled": "leadline.evaluate(judgments, runs, 'P@10', pool=pool, machine=labels), or "
        "leadline.agreement(judgments, labels, reference=True) to see how far you can trust the labels",
        "machine": "machine",
    },
    "model retriever": {"models": "models"},
    "query_ids": {"run_of_arrays": "queries", "read_run": "queries", "queries_in": "queries_in"},
    "doc_ids document_ids": {"run_of_arrays": "documents", "read_run": "documents"},
    "kind": {"fuse": "method", "qrels": "leadline.read_qrels(path, kind='qrels')"},
    "changed": {"compare": "comparison.records(changed=...)"},
    "per_query": {
        "compare": "comparison.results.per_query()",
        "rank": "ranking.results.per_query()",
        "evaluate": "results.per_query(), or results.write(path, per_query=True)",
        "predictors": "predictions.per_query(), or predictions.write(path, per_query=True)",
    },
    "query_slice": {
        "measures queries_in query_weights": "`leadline evaluate` or `leadline compare` with --query-slice "
        "FILE:COLUMN, or one call per slice with queries_in=IDS"
    },
    "baseline margin smallest power": {"rank": "compare, which has this keyword"},
    "config": {"on_duplicate": "one keyword per setting, as in on_duplicate='first'"},
    "fail_if_worse": {"compare": "leadline.gate(comparison, fail_if_worse=...)"},
    "require_not_worse": {"compare": "leadline.gate(comparison, require_not_worse=...)"},
}
WORDS = {word: advice for words, advice in _WORDS.items() for word in words.split()}


def refuse_unknown(
    function: Callable[..., Any], options: Mapping[str, object], known: Collection[str]
) -> None:
    """Raise UnknownOptionError for keywords that a function does not accept, naming the nearest ones."""
    unknown = [name for name in options if name not in known]
    if not unknown:
        return
    parameters = inspect.signature(function).parameters.values()
    explicit = [
        one.name
        for one in parameters
        if one.kind is one.KEYWORD_ONLY
        or (one.kind is one.POSITIONAL_OR_KEYWORD and one.default is not one.empty)
    ]
    allowed = [*explicit, *(option for option in known if option not in explicit)]
    has = {function.__name__, *allowed, *(one.name for one in parameters)}
    found: dict[str, str] = {}  # what to use, and the keyword in whose place
    for name in unknown:
        advice = did_you_mean(name, allowed, most=1, cutoff=0.5)
        for needed, text in WORDS.get(name, {}).items():
            if {*needed.split()} <= has:
                advice = f"Use {text}."
                break
        found.setdefault(advice or f"Its options are {', '.join(allowed)}.", name)
    texts = [f"no option '{name}'. {advice}" for advice, name in found.items()]
    raise UnknownOptionError(f"{function.__name__}() has {' It has '.join(texts)}")


def refuse_unfit(function: Callable[..., Any], args: tuple[object, ...], given: Mapping[str, object]) -> None:
    """Raise UnknownOptionError for arguments that do not fit the signature of a function, naming its call.

    >>> def count(runs: str, *, rel: float = 1.0) -> None: ...
    >>> refuse_unfit(count, ("a.run", "b.run"), {})
    Traceback (most recent call last):
        ...
    leadline.errors.UnknownOptionError: count() takes only `runs` by position. Pass several runs as one list.
    """
    parameters = inspect.signature(function).parameters.values()
    placed = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    names = [one.name for one in placed]
    if not any(one.kind is one.VAR_POSITIONAL for one in parameters) and len(args) > len(placed):
        runs = ". Pass several runs as one list." * ("runs" in names)
        found = f"{function.__name__}() takes only {_quoted(names)} by position{runs}"
        raise UnknownOptionError(sentences(found, *call_of(function))) from None
    known = keywords_of(function)
    if known is not None:
        refuse_unknown(function, {name: None for name in given if name not in known}, known)
    needed = [
        one.name
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    missing = [name for name in needed if name not in given and name not in names[: len(args)]]
    if missing:
        also = "also " * bool(args or given)
        found = f"{function.__name__}() {also}needs {_quoted(missing)}"
        raise UnknownOptionError(sentences(found, *call_of(function))) from None


def _quoted(names: Iterable[str]) -> str:
    return either((f"`{name}`" for name in names), "and")
