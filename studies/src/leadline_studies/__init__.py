"""Published experiments, one folder each: `study.py` is the experiment, `page.py` writes its page.

`leadline study` offers every folder that contains `study.py`. The pages are in docs/studies.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import wraps
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from leadline import InputError, Measure, Qrels, UsageError, read_qrels
from leadline.data.table import ResultWarning, RunInfo, Table
from leadline.data.validation import check_numbers, check_whole
from leadline.data.wording import docstring
from leadline.errors import UnknownNameError
from leadline.evaluation.profiles import profile_of
from leadline.io.read import QrelsLike
from leadline.io.read_paths import path_of
from leadline.io.texts import TextsLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.estimation.system_lists import Systems

T = TypeVar("T")


@dataclass(frozen=True)
class Option:
    """Option of a study; `kind` is the type of its value, a tuple as default makes it repeatable.

    Whole numbers are `least` or more.
    """

    name: str
    kind: type
    help: str
    default: Any = None
    required: bool = False
    metavar: str | None = None
    least: int = 1

    def __post_init__(self) -> None:
        named = {"model": "MODEL", "measure": "MEASURE"}.get(self.name, "N" if self.kind is int else None)
        object.__setattr__(self, "metavar", self.metavar or named)

    @property
    def repeatable(self) -> bool:
        """Whether the option may be given several times."""
        return isinstance(self.default, tuple)

    def check(self, given: Any) -> None:
        """Refuse a number that is out of range or undefined."""
        for value in given if self.repeatable else () if given is None else (given,):
            if self.kind is int:
                check_whole(self.least, **{self.name: value})
            elif self.kind is float:
                check_numbers(**{self.name: value})


class Claim(NamedTuple):
    """What a study tests, and the number that the paper prints."""

    text: str
    printed: str = ""


class Outcome(NamedTuple):
    """Result of a study: data for JSON, tables and figures by name, and conclusions in words.

    Functions named tables, figures and lines make these of the data. `run` gives those that need more.
    """

    data: dict[str, Any]
    inputs: Sequence[Any] = ()  # runs, and paths with numbers of rows
    warnings: Sequence[ResultWarning] = ()
    options: dict[str, Any] | None = None
    tables: Mapping[str, Table] = {}
    figures: Mapping[str, Figure] = {}
    lines: Sequence[str] = ()


# Options of several studies.
COMPLETE = Option(
    "complete",
    str,
    "Documents of the collection. Documents without a judgment then count as not relevant.",
    metavar="DOCS",
)
VECTORS = Option(
    "vectors",
    str,
    "Topic vectors from `leadline topics infer`, used instead of --docs (repeatable: one file per fit and "
    "number of topics).",
    (),
    metavar="FILE",
)
LEVEL = Option("level", float, "Lowest relevant grade.", 1.0, metavar="GRADE")
SAMPLES = Option(
    "samples", str, "Numbers of non-relevant documents to sample per query.", "10,30,100,300", metavar="N,N"
)
SEED = Option("seed", int, "Random seed.", 0, least=0)
TEAM = Option("team", str, "Table column with the team of each run.", required=True, metavar="FILE:COLUMN")
OF_TEAMS = Option(
    "team",
    str,
    "Table column with the team of each run. The bootstrap then resamples whole teams.",
    metavar="FILE:COLUMN",
)
FITS = Option("fits", int, "Number of topic models to fit to --docs for each number of topics.", 5)
SWEEPS = Option("sweeps", int, "Number of Gibbs sweeps over all tokens in each fit.", 500)

ARGUMENTS = ("qrels", "runs")  # of a study that names no others
Progress = Callable[[int, int], None]  # called with the number done and the total


class Given(SimpleNamespace):
    """The options of a study by name, and `on_run`, which is told the progress."""

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items, and tell how many are done."""
        listed = list(items)
        for done, item in enumerate(listed, start=1):
            yield item
            self.on_run(done, len(listed))


def with_options(options: Sequence[Option]) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Give a study its options as keywords with their defaults; the outcome names them."""

    def decorated(study: Callable[..., Outcome]) -> Callable[..., Outcome]:
        @wraps(study)
        def run(*inputs: Any, on_run: Progress | None = None, **named: Any) -> Outcome:
            defaults = {option.name: option.default for option in options}
            if unknown := named.keys() - defaults:
                raise TypeError(f"the study has no option {', '.join(sorted(unknown))}")
            given = defaults | named
            for option in options:
                option.check(given[option.name])
            found = study(*inputs, Given(**given, on_run=on_run or (lambda _done, _total: None)))
            read = [
                (one.path, one.counts["documents_read"]) if isinstance(one, RunInfo) else one
                for one in found.inputs
            ]
            module = sys.modules[study.__module__]
            parts = {
                part: getattr(module, part)(found.data)
                for part in ("tables", "figures", "lines")
                if hasattr(module, part)
            }
            return found._replace(**parts, inputs=read, options=_shown(given) | (found.options or {}))

        return run

    return decorated


def _shown(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that JSON can show; paths, and not what was given in memory."""
    lists = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    return {
        name: value
        for name, value in lists.items()
        for each in [value if isinstance(value, list) else [value]]
        if all(one is None or isinstance(one, (str, int, float)) for one in each)
    }


def read_judgments(qrels: QrelsLike, documents: str | None) -> Qrels:
    """Read judgments; with a file of documents, unjudged documents count as non-relevant."""
    table = read_qrels(qrels)
    if documents is None:
        return table
    from leadline.comparison.joint_tables import complete
    from leadline.io.selection import read_document_ids

    return complete(table, read_document_ids(documents))


def of_judged(systems: Systems, truth: Qrels) -> Systems:
    """Return systems on the judged queries, of which there must be some; a sample is not the truth."""
    from leadline.evaluation.estimated_recall import refuse_sample

    refuse_sample(truth)
    asked = systems.asked(truth.queries.names)
    if not len(asked.queries):
        raise InputError(
            "no query of the runs has judgments. Check that the query ids match.", path=truth.source
        )
    return asked


def check_texts(asked: Sized, queries: TextsLike) -> None:
    """Refuse queries of which no judged one has a text."""
    if not asked:
        raise InputError(
            "no query with a relevant document has a text. Check that the query ids match.",
            path=path_of(queries),
        )


def parse_integers(text: str, name: str) -> list[int]:
    """Parse the comma-separated numbers of an option.

    >>> parse_integers("10,100", "samples")
    [10, 100]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(
            f"--{name} '{text}' is not valid. Give positive integers separated by commas: 10,100."
        )
    for part in parts:
        check_whole(1, **{name: int(part)})
    return list(map(int, parts))


def at_least(least: int, number: int, what: str) -> None:
    """Refuse too few of something.

    >>> at_least(2, 1, "runs to compare")
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: need at least 2 runs to compare, not 1
    """
    if number < least:
        raise UsageError(f"need at least {least} {what}, not {number}")


def models_of(texts: Sequence[str], least: int, what: str = "models") -> list[str]:
    """Return the names of retrieval models, of which some number is needed."""
    from leadline.retrieval.models import MODELS

    models = list(map(str, MODELS.expand_all(list(texts))))
    at_least(least, len(models), f"{what} (--model)")
    return models


def one_measure(text: str) -> list[Measure]:
    """Parse a measure, which must not stand for several."""
    measures = profile_of("leadline").measures([text])
    if len(measures) != 1:
        raise UsageError(f"'{text}' stands for {len(measures)} measures. Give only one.")
    return measures


def studies() -> list[str]:
    """Return the names of all studies: those of the folders with a module `study`."""
    return [name.replace("_", "-") for name in folders_with("study")]


def folders_with(module: str) -> list[str]:
    """Return the folders of this package that contain a module of that name.

    >>> folders_with("votes")
    ['unjudged_systems']
    """
    names = (entry.name for entry in pkgutil.iter_modules(__path__) if entry.ispkg)
    return [name for name in names if importlib.util.find_spec(f"{__name__}.{name}.{module}")]


def source_of(module: ModuleType) -> str:
    """Return the papers of a study with sections and tables, which end its docstring; empty for our own.

    >>> source_of(study("difference-similarity"))
    'Golbus and Aslam 2014, section 3.1, figure 2'
    """
    named = re.search(r"(?:Sources?|Claims):\s+(.+?)\.?\Z", docstring(module), re.DOTALL)
    return " ".join(named[1].split()) if named else ""


def study(name: str) -> ModuleType:
    """Return the module of a study.

    >>> study("difference-models").OPTIONS[0].name
    'family'
    """
    if name not in studies():
        raise UnknownNameError(f"there is no study '{name}'. Choose one of " + ", ".join(studies()))
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}.study")
