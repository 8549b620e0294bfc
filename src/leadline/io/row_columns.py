"""Rows of any format, before they are checked, and the names of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from leadline.data.wording import in_code
from leadline.errors import InputError
from leadline.io.score_cells import number_in

if TYPE_CHECKING:
    from leadline.data.judgment_tables import DrawnPool
    from leadline.io.run_lists import Lists

# In the order in which they are searched.
QUERY = (
    *("query_id", "qid", "q_id", "query-id", "topic_id", "user_id", "question_id"),
    *("query", "topic", "Query Text"),
)
DOCUMENT = ("doc_id", "docno", "docid", "corpus-id", "corpus_id", "item_id", "document", "Doc ID")
# Of runs and judgments only: in texts, "doc" is a text.
LISTED = (*DOCUMENT, "doc", "chunk_id", "passage_id", "pid", "text_id", "id")
# What to do where judgments and runs may have changed places.
ORDER = "Judgments come before runs, except in `replicate`, where they come after"
NO_TEXTS = (
    "Qrels and runs contain no texts. Use a file with texts. To count queries, use `leadline check FILE`"
)
# Of Quepid (also "Rating"): an empty cell is not judged yet, as in tables with probabilities.
RATING = "rating"
GRADE = ("relevance", "label", "rel", "grade", RATING, "Rating", "gain", "judgment")
SCORE = ("score", "similarity", "relevance_score")
RANK = ("rank", "Doc Position")
PLACE = ("position", "pos")  # ranks too, in a table of results without scores
# Columns of texts where ids are needed, and the column of the same program that has them.
WITHOUT_IDS = {
    "retrieved_contexts": "retrieved_context_ids",
    "reference_contexts": "reference_context_ids",
    "retrieved_texts": "retrieved_ids",
    "passage": "docid",
}
SUBTOPIC = ("subtopic", "subtopic_id", "iteration", "iter", "q0")
PROBABILITY = ("probability", "inclusion_probability")
UNRATED = "unrated"  # code of the remark on rows without a grade
TAG = ("tag", "system", "run_id", "run")
JUDGE = ("judge", "judge_id", "assessor", "annotator")
BESIDE = (*PROBABILITY, "order", "contributors", "note")  # what the judging page writes beside grades
BESIDE_JUDGE = ("form", "seconds", "opened")  # and, after the name of a judge, about each judgment
MACHINE_LINE = "# machine:"  # how a file of labels by an automatic judge begins
JUDGES_LINE = "# judges: "  # before the names of columns with the grades of several judges, as JSON
# Names of judges that are machines: the word itself, and families of language models.
MACHINE = (  # compiled where it is used, which takes milliseconds
    r"(?i)(?<![a-z])(?:machine|llm|model|chatgpt|gpt|llama|gemini|mistral|mixtral|qwen|deepseek|umbrela|flan-?t5)"
)


def find(present: Iterable[object], names: Iterable[str]) -> str | None:
    """Return the first of some names that is present.

    >>> find(["docno", "qid"], QUERY)
    'qid'
    """
    known = set(present)
    return next((name for name in names if name in known), None)


def run_column(present: Iterable[object], ranks: Iterable[str]) -> str | None:
    """Return the first column that only runs have; `run` beside grades names what a judgment is from.

    >>> run_column(["doc_id", "score", "run"], RANK), run_column(["doc_id", "relevance", "run"], RANK)
    ('run', None)
    """
    known = set(present)
    pooled = find(known, GRADE) is not None
    return find(known - {"run"} if pooled else known, (*ranks, *TAG))


def is_header(cells: Iterable[str]) -> bool:
    """Return whether one of the cells of a line names a column of ids.

    >>> is_header(["doc_id", "score"]), is_header(["q1", "d1"])
    (True, False)
    """
    return find((cell.strip('"') for cell in cells), (*QUERY, *DOCUMENT)) is not None


def probability_in(names: Iterable[object]) -> str | None:
    """Return the column of inclusion probabilities; refuse one whose name is spelled differently.

    >>> probability_in(["query_id", "doc_id", "relevance", "probability"])
    'probability'
    """
    present = list(map(str, names))
    found = find(present, PROBABILITY)
    if found is not None:
        return found
    for name in present:
        meant = name.strip().lower().replace(" ", "_").replace("-", "_")
        if meant in PROBABILITY:
            raise InputError(
                f"the column '{name}' seems to contain inclusion probabilities, but leadline does not "
                "recognize this name",
                hint=f"Rename the column to '{meant}'",
            )
    return None


def share_of(given: object) -> float:
    """Read an inclusion probability; 1 if missing.

    >>> share_of("0.25"), share_of(None)
    (0.25, 1.0)
    """
    if given is None:
        return 1.0
    share = number_in(given)
    if share is None or not 0 < share <= 1:
        raise InputError(f"probability {in_code(given)} must be a number greater than 0 and at most 1")
    return share


# Place, query, document, score or grade, and rank (of a score) or subtopic (of a grade), None if unknown.
Row: TypeAlias = "tuple[int, Any, Any, Any, Any]"
ArrowColumns: TypeAlias = "Callable[[Sequence[str]], Iterable[Any]]"


class Scan(Protocol):
    """The lists of a text that compiled kernels find."""

    def __call__(self, roles: Mapping[str, int], /, *, whole: bool) -> Iterable[Lists]:
        """Return the lists chunk by chunk, or at once, given what columns hold: 0 query, 1 document, ..."""


@dataclass(repr=False, eq=False)
class Records:
    """Unchecked rows of a source; `unit` is the unit of their places, such as "line"."""

    rows: Iterable[Row]
    path: str = ""
    unit: str = ""
    columns: tuple[str, ...] = ("", "")
    tags: dict[str, None] = field(default_factory=dict)  # names of runs, known after rows
    ranked: bool = False  # every row has a rank or a subtopic
    listed: bool = False  # lists of ids alone: ranked in a run, relevant in qrels
    unrated: int = 0  # number of rows skipped because they have no grade
    drawn: bool = False  # one of them has a probability below 1
    text: bool = False  # numbers are text
    names: tuple[str, ...] = ()  # of all columns
    remarks: tuple[tuple[str, str, int], ...] = ()  # code, text and count
    empty: list[Any] = field(default_factory=list)  # queries with a list without documents, known after rows
    comments: int = 0  # number of remarks at the top of a text without a header
    convert: str = ""  # how the caller can convert a column of ids
    judges: list[str] = field(default_factory=list)  # of every row, known after rows
    arrow: ArrowColumns | None = None  # the same rows as Arrow batches, if available
    scan: Scan | None = None  # the same rows as lists, if available
    chosen: tuple[str, ...] = ()  # query, document, number, rank or subtopic, tag or probability, judge
    # Inclusion probabilities, as read.
    shares: dict[tuple[str, str], object] = field(default_factory=dict)
    pool: DrawnPool | None = None  # pool that the rows were drawn from
    # Unlike grades by several judges.
    votes: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)

    @property
    def tag(self) -> str:
        """The last of the names of runs; empty without any."""
        return next(reversed(self.tags), "")

    def at(self, error: InputError, place: int | None) -> InputError:
        """Return an error with its location."""
        if place is None or self.unit in {"", "line"}:
            error.line = place if self.unit == "line" else None
            return error.at(self.path)
        error.line = None
        return error.at(f"{self.path}, {self.unit} {place}")


@dataclass(repr=False, eq=False)
class Table:
    """A header and the rows below it, as a file or a frame gives them.

    `cells` is told the names of columns, and yields the place of every row and its cells there: None in a
    column whose name is empty. `place` is that of the header, `unit` says what places count.
    """

    names: Sequence[Any]
    cells: Callable[[Sequence[str]], Iterable[tuple[int, Sequence[Any]]]]
    path: str
    unit: str
    place: int | None = None
    text: bool = False  # all cells are text
    convert: str = ""  # how the caller can convert a column of ids
    arrow: ArrowColumns | None = None  # gives the columns of some names as batches of Arrow
    scan: Scan | None = None  # gives lists
