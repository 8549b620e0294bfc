"""Checks of the arguments of Python functions, with one-line errors."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from functools import cache
from itertools import repeat
from numbers import Integral, Real
from types import UnionType
from typing import Any, TypeGuard, Union, get_origin

from leadline.errors import InputError, LeadlineError, UsageError, either, sentences

# Largest values of arguments whose cost in time or memory is proportional to them, by argument name.
LIMITS = {
    "documents": (1 << 63) - 1,  # size of a collection: not a cost
    "population": (1 << 63) - 1,
    "draws": 100_000,
    "sweeps": 100_000,
    "topics": 10_000,
    "particles": 10_000,
    "restarts": 1_000,
    "fits": 1_000,
}
LARGEST = 10**9  # of any other argument, as of the parameters of measures
# Arguments that read a table from a path but take no data frame.
TABLES = ("a_log", "b_log", "documents", "documents_of", "known", "log")


def check_flags(**arguments: object) -> None:
    """Raise UsageError for a value that is not a bool."""
    for name, value in arguments.items():
        if not is_flag(value):
            raise refusal(name, value, "True or False")


def check_whole(low: int, **arguments: object) -> None:
    """Raise UsageError unless each value is None or an integer from `low` to the limit of its name.

    Seeds have no limit.

    >>> check_whole(1, depth=None)
    >>> check_whole(1, depth=0)
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: depth must be a whole number of at least 1, not 0
    >>> check_whole(0, draws=10**9)
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: draws must be a whole number from 0 to 100000, not 1000000000
    """
    for name, value in arguments.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < low:
            raise refusal(name, value, f"a whole number of at least {low}")
        limit = LIMITS.get(name.partition("[")[0], LARGEST)
        if name != "seed" and int(value) > limit:
            raise refusal(name, value, f"a whole number from {low} to {limit}")


def is_flag(value: object) -> bool:
    """Return whether a value is True or False, of Python or of NumPy."""
    if isinstance(value, bool):
        return True
    import numpy as np

    return isinstance(value, np.bool_)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite number that a float can hold."""
    real = not isinstance(value, bool) and isinstance(value, Real)
    return real and abs(value) <= sys.float_info.max


def check_numbers(**arguments: object) -> None:
    """Raise UsageError for a value that is not a finite number."""
    for name, value in arguments.items():
        if not is_number(value):
            raise refusal(name, value, "a number")


def check_word(allowed: tuple[str, ...], **arguments: object) -> None:
    """Raise UsageError for a value that is not one of the allowed words."""
    for name, value in arguments.items():
        if not isinstance(value, str) or value not in allowed:
            raise refusal(name, value, either(map(repr, allowed)))


def check_nested(expected: str, **given: Mapping[str, object]) -> None:
    """Refuse a dictionary whose values are no dictionaries."""
    for name, value in given.items():
        if not isinstance(value, Mapping) or not all(isinstance(one, Mapping) for one in value.values()):
            raise refusal(name, value, expected)


def check_run_name(name: object) -> None:
    """Raise UsageError for the name of a run that is not a string.

    >>> check_run_name(7)
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: a run name must be a string, such as '7', but this one is of type int
    """
    if not isinstance(name, str):
        shown = " ".join(str(name).split())[:60]
        raise UsageError(
            f"a run name must be a string, such as {shown!r}, but this one is of type {type(name).__name__}"
        )


# Kinds of arguments by the name that they have in annotations: their types, and their name in messages. What
# is not here and is no class that the function knows is left to the function: it reads a run or a topic
# model, and says what it found there.
KINDS: dict[str, tuple[Any, str]] = {
    "NoneType": (type(None), "None"),
    "None": (type(None), "None"),
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
    "str": (str, "text"),
    "PathLike": (os.PathLike, "a path"),
    "tuple": ((tuple, list), "a tuple"),
    "Callable": (Callable, "a function"),
    "type": (type, "a class"),
    "Mapping": (Mapping, "a dictionary"),
    "Iterable": (Iterable, "a list"),
    "Sequence": (Sized, "a list"),
}

# The call that was meant, by the function that was called with other arguments.
CALLS = {
    "correlate": "Call correlate({run: value}, {run: value}), or correlate(evaluate(qrels, runs, 'AP'), "
    "evaluate(qrels, runs, 'nDCG@10')) for two measures.",
    "curve": "curve() returns precision at recall levels. For values at cutoffs, call evaluate(qrels, runs, "
    "'R@{1,5,10}').",
    "difference": "difference() compares ranked lists. For a measure, call compare(qrels, old, new, "
    "measure). For its value on each query, call compare(qrels, old, new, measure).results.per_query().",
    "evaluate": "Call evaluate(qrels, runs, measures).",
    "explain": "Call explain(qrels, run, measure, query).",
    "fuse": "Call fuse([run, run]).",
    "gate": "Call gate(compare(qrels, runs, measures, baseline=name), fail_if_worse='nDCG@10:0.01'), "
    "or, without a baseline, gate(evaluate(qrels, runs, measures), fail_below='nDCG@10=0.3').",
    "histogram": "histogram() bins retrieval scores. To plot per-query values of a measure, call "
    "evaluate(qrels, runs, measure).plot('values.svg', figure='violin').",
    "pool": "Call pool([run, run], depth=10).",
    "run_of_arrays": "Call run_of_arrays(ids, scores, queries).",
    "sampled": "Call sampled(qrels, scores, measures).",
    "score": "score() scores documents with a retrieval model. To evaluate a ranking, call "
    "evaluate({'q': {'d1': 3}}, {'q': ['d2', 'd1']}, 'nDCG@10').",
    "search": "Call search(index, {'q1': 'text of a query'}).",
    "unjudged": "unjudged() ranks systems without judgments. For the share of judged documents, call "
    "evaluate(qrels, runs, 'Judged@10').",
    "why_different": "why_different() compares values of two programs. To see how a query's value is "
    "computed, call explain(qrels, run, measure, query) for each run.",
    "write_baseline": "Call write_baseline(evaluate(qrels, runs, measures), path).",
    "write_pool": "Call write_pool(pool, path).",
}

# Classes and protocols as errors name them.
PLAIN_NAMES = {"RunColumns": "a run", "QrelsColumns": "judgments", "IntoFrame": "a data frame"}

# Classes that modules import for type checkers only: told by the name of the class.
NOT_IMPORTED = ("DrawnPool", "Pooled", "Vectors")


def check_arguments(
    function: Callable[..., Any], args: tuple[object, ...], given: Mapping[str, object]
) -> None:
    """Refuse an argument whose type is none of those that the annotation of its parameter allows.

    >>> def depth_of(run: str, depth: int | None = None) -> None: ...
    >>> check_arguments(depth_of, ("bm25",), {"depth": "ten"})
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: depth must be a whole number or None, not 'ten'
    """
    function = inspect.unwrap(function)
    parameters = _annotations(function)
    names = [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    for name, value in (*zip(names, args, strict=False), *given.items()):
        if name not in parameters:
            continue
        text, default = parameters[name]
        if value is not default and not _is_of(value, text, function.__globals__):
            error = refusal(name, value, _in_words(text, function.__globals__))
            call = call_of(function) if name in names else []
            raise UsageError(sentences(str(error), *call)) from None


def call_of(function: Callable[..., Any]) -> list[str]:
    """Return a sentence with the call of a function that people mean to make, if any is known."""
    return [CALLS[function.__name__]] if function.__name__ in CALLS else []


def keywords_of(function: Callable[..., Any]) -> list[str] | None:
    """Return the names of the arguments that a function takes by keyword; None if it takes any."""
    parameters = inspect.signature(function).parameters.values()
    if any(
        one.kind is one.VAR_KEYWORD and not str(one.annotation).startswith("Unpack[") for one in parameters
    ):
        return None
    return list(_annotations(function))


# A setting or option of the command line in a message, perhaps with its value; commands in backticks stay.
OPTION = (
    r"`leadline [^`]*`|(?:--config [a-z]+\.|-C (?:[a-z]+\.)?)([a-z_0-9]+)"
    r"(?:=('[^']+'|[\w|:@/%+-]+(?:[.,][\w|:@/%+-]+)*))?"
    r"|--([a-z](?:[a-z-]*[a-z])?)(?: ([A-Z]{2,}(?::[A-Z]+)?|\w+(?:\([\w=.,]+\))?(?:[.,@]\w+)*)(?![\w-]))?"
)
# Settings that only some functions take; the readers take them for all others.
READERS = {
    "read_queries": ("encoding", "fields", "id_column"),
    "read_documents": ("encoding", "fields", "id_column"),
    "read_qrels": ("kind", "negative", "qrels_columns", "subtopics"),
    "read_run": ("columns", "documents_of", "drop_identical_ids", "on_duplicate", "on_nan", "order"),
    "read_scores": ("higher_is_better", "lower_is_better", "missing"),
}
# Options whose keyword has another name.
SPELLED = {"level": "rel", "docs": "documents", "competitor": "competitors", "measure": "measures"}
COMMANDS = {  # as calls
    "`leadline pool --for`": "`pool(runs, measure=...)`",
    "`leadline pool --for MEASURE --judged QRELS`": "`pool(runs, measure=..., judged=qrels)`",
    "`leadline evaluate JUDGMENTS RUN... --pool POOL`": "`evaluate(qrels, runs, pool=pool)`",
    "`leadline evaluate --pool POOL --machine LABELS`": "`evaluate(qrels, runs, pool=pool, machine=labels)`",
    "`leadline evaluate QRELS RUN -m infAP`": "`evaluate(qrels, run, 'infAP')`",
    "`leadline agreement --runs`": "`agreement(a, b, runs=runs)`",
    "`leadline agreement QRELS QRELS`": "`agreement(qrels, qrels)`",
    "`leadline correlate RESULT RESULT`": "`correlate(result, result)`",
    "`leadline evaluate QRELS RUN... -o FILE.json`": "`evaluate(qrels, runs).write('FILE.json')`",
    "`leadline explain QRELS RUN -m MEASURE --query-id ID --long`": (
        "`explain(qrels, run, measure, query, everything=True)`"
    ),
    "`leadline histogram QRELS RUN`": "`histogram(qrels, run)`",
    "`leadline index DOCS -o INDEX --overwrite`": "`build_index(documents, path, overwrite=True)`",
    "`leadline merge --name NAME`": "`merge_files(paths, name=name)`",
    "`leadline pool --from`": "`pool(..., earlier=pool)`",
    "`leadline pool --for MEASURE --from POOL --total N`": "`pool(runs, measure=..., earlier=pool, total=N)`",
    "`leadline explain --long`": "`explain(..., everything=True)`",
    "`leadline check FILE`": "`check(path)`",
    "`leadline difference QRELS RUN RUN`": "`difference(qrels, runs)`",
    "`leadline evaluate JUDGMENTS RUN...`": "`evaluate(qrels, runs)`",
    "`leadline evaluate QRELS RUN... -m Judged@10`": "`evaluate(qrels, runs, 'Judged@10')`",
    "`leadline fuse RUN RUN --method CombMAX --normalise none -o MERGED`": (
        "`fuse(runs, 'CombMAX', normalise='none')`"
    ),
    "`leadline index`": "`build_index`",
    "`leadline index DOCUMENTS -o INDEX`": "`build_index(documents)`",
    "`leadline pool RUN... --depth K --judged QRELS -o POOL`": "`pool(runs, depth=k, judged=qrels)`",
    "`leadline search INDEX QUERIES -o RUN`": "`search(index, queries)`",
    "`leadline unjudged RUN RUN...`": "`unjudged(runs)`",
    "`leadline measures`": "`leadline.MEASURES.classes`",
    "`leadline models`": "`leadline.MODELS.classes`",
}
FORMS = {  # commands that are calls of the same name, or have names or settings of their own
    r"`leadline (agreement|compare|correlate|curve|evaluate|pool|rank|replicate|suite)`": r"`\1`",
    r"`leadline check FILE --fix -o COPY --config read\.(\w+)=(\w+)`": r"`check(path, fix=copy, \1='\2')`",
    r"`leadline convert FILE COPY --config read\.(\w+)=(\w+)`": (
        r"`write_run(read_run(path, \1='\2'), copy)`"
    ),
    r"`leadline evaluate (\S+) RUN\.\.\.`": r"`evaluate('\1', runs)`",
    r"`leadline index (\S+) -o (\S+)`": r"`build_index('\1', '\2')`",
}
IN_MEMORY = {  # what Python takes in place of a file
    ("known", "FILE"): "known={query: [document, ...]}",
    ("lengths", "FILE:COLUMN"): "lengths={document: length}",
}
PROSE = {  # not the value of an option
    *("and", "apply", "applies", "as", "cannot", "does", "for", "has", "if", "is"),
    *("must", "needs", "or", "so", "takes", "to", "with", "without"),
}


def name_keywords(
    error: LeadlineError, function: Callable[..., Any], /, *args: object, **given: object
) -> None:
    """Name settings and options of the command line in the message of an error as keywords of a function.

    The reader of a file is that of the argument with its path.

    >>> def cut(run: str, order: str = "score", queries_in: str = "") -> None: ...
    >>> error = UsageError("--config read.queries_in=FILE needs --config read.order=rank and --force")
    >>> name_keywords(error, cut)
    >>> print(error)
    queries_in needs order='rank' and --force
    >>> error = UsageError("-C order=rank needs -C read.queries_in")
    >>> name_keywords(error, cut)
    >>> print(error)
    order='rank' needs queries_in
    """
    path = getattr(error, "path", "")
    arguments = inspect.signature(function).bind_partial(*args, **given).arguments.items()
    likely = {
        f"read_{name}"
        for name, value in arguments
        if isinstance(value, (str, os.PathLike)) and str(value) == path
    }
    if isinstance(error, InputError):
        error.found, error.hint = (
            with_keywords(part, function, likely) for part in (error.found, error.hint)
        )
    elif error.args and isinstance(error.args[0], str):
        error.args = (with_keywords(error.args[0], function, likely), *error.args[1:])


def with_keywords(text: str, function: Callable[..., Any], likely: Collection[str] = ()) -> str:
    """Return a message whose settings and options are keywords of a function, or of a `likely` reader.

    >>> def cut(run: str, order: str = "score") -> None: ...
    >>> with_keywords("if not, use --config scores.lower_is_better=MEASURE or -C read.order=rank", cut)
    "if not, use read_scores(..., lower_is_better='MEASURE') or order='rank'"
    """
    parameters = _annotations(inspect.unwrap(function))

    def keyword(found: re.Match[str]) -> str:
        name, value = found[1] or (found[3] or "").replace("-", "_"), (found[2] or found[4] or "").strip("'")
        spelled = SPELLED.get(name, name)  # `agreement` has a `level` of its own
        name = spelled if name not in parameters or (found[3] and spelled in parameters) else name
        file = value.isupper() and value.lower() in parameters  # named as its value, as in --topics VECTORS
        readers = {one for one, names in READERS.items() if name in names}
        reader = min(readers & {*likely} or readers, default="")
        if name not in parameters and reader and found[1]:
            return f"{reader}(..., {name}={[value] if name == 'fields' else value or True!r})"
        if name not in parameters or (file and parameters[name][0] == "int"):
            return value.lower() if file else _call(found[0])
        if (name, value) in IN_MEMORY:
            return IN_MEMORY[name, value]
        if parameters[name][0] == "bool":
            return f"{name}=True" + f" {value}" * bool(value)
        if value in PROSE:
            return f"{name} {value}"
        shown = value if re.fullmatch(r"\d+(\.\d+)?", value) else repr(value)
        if parameters[name][0].startswith("Sequence["):
            shown = f"[{shown}]"
        placeholder = value.isupper() and not name.endswith("_is_better")  # a measure may be in capitals
        return name if not value or placeholder or (":" in value and "(?" not in value) else f"{name}={shown}"

    return re.sub(OPTION, keyword, text)


def _call(command: str) -> str:
    """Return a command as the call that does the same, or as it is."""
    found = ((re.fullmatch(form, command), call) for form, call in FORMS.items())
    return COMMANDS.get(command) or next((one.expand(call) for one, call in found if one), command)


@cache
def _annotations(function: Callable[..., Any]) -> dict[str, tuple[str, object]]:
    """Return annotation and default of every parameter, those of an unpacked dictionary too."""
    found: dict[str, tuple[str, object]] = {}
    for name, each in inspect.signature(function).parameters.items():
        text = str(each.annotation)
        if text.startswith("Unpack["):
            options = function.__globals__[text.removeprefix("Unpack[").removesuffix("]")].__annotations__
            found |= {
                option: (getattr(kind, "__forward_arg__", "Any"), inspect.Parameter.empty)
                for option, kind in options.items()
            }
        elif each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            found[name] = text, each.default
    return found


def _is_of(value: object, text: str, known: Mapping[str, Any]) -> bool:
    return any(_is_one(value, member, known) for member in _parts(text, "|"))


def _is_one(value: object, text: str, known: Mapping[str, Any]) -> bool:
    name, inside = _name_of(text), text.partition("[")[2]
    if name == "bool" or isinstance(value, bool):
        return name == "bool" and is_flag(value)
    if name in KINDS:
        return isinstance(value, KINDS[name][0]) and _holds(value, name, _parts(inside[:-1], ","), known)
    if name in NOT_IMPORTED:
        return any(kind.__name__ == name for kind in type(value).__mro__)
    named = _named(name, known)
    if isinstance(named, str):
        return _is_of(value, named, known)
    if not isinstance(named, type) or named is Any or getattr(named, "_is_protocol", False):
        return True
    return isinstance(value, named)


def _holds(value: Any, name: str, inside: tuple[str, ...], known: Mapping[str, Any]) -> bool:
    """Return whether what a value holds is of the kinds in brackets; an iterator is not read."""
    if name == "tuple":
        return len(value) == len(inside) and all(map(_is_of, value, inside, repeat(known)))
    if name == "Mapping" and inside == ("str", "str"):
        return all(isinstance(each, str) for pair in value.items() for each in pair)
    if name not in ("Iterable", "Sequence") or isinstance(value, Iterator):
        return True
    listed = not isinstance(value, (str, bytes, Mapping))
    return listed and all(_is_of(each, inside[0], known) for each in value)


def _name_of(text: str) -> str:
    return text.partition("[")[0].rpartition(".")[2]


def _named(name: str, known: Mapping[str, Any]) -> Any:
    """Return the class of a name, the annotation that the name stands for, or None."""
    named = known.get(name)
    return str(named) if get_origin(named) in (Union, UnionType, Callable) else named


@cache
def _parts(text: str, mark: str) -> tuple[str, ...]:
    """Return the parts of an annotation between marks that stand outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == mark and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts)


def _in_words(text: str, known: Mapping[str, Any]) -> str:
    """Describe what an annotation allows."""
    return either(dict.fromkeys(_words(text, known)))


def _words(text: str, known: Mapping[str, Any]) -> Iterator[str]:
    for part in _parts(text, "|"):
        name, inside = _name_of(part), part.partition("[")[2].removesuffix("]")
        if name in PLAIN_NAMES:
            yield PLAIN_NAMES[name]
        elif name == "tuple" and "..." not in inside:
            yield f"a tuple ({', '.join(_in_words(each, known) for each in _parts(inside, ','))})"
        elif name in ("Iterable", "Sequence"):
            yield "a list" if inside == "Any" else f"a list (each item is {_in_words(inside, known)})"
        elif name == "bool":
            yield from ("True", "False")
        elif name in KINDS:
            yield KINDS[name][1]
        elif isinstance(named := _named(name, known), str):
            yield from _words(named, known)
        else:
            yield f"a{'n' * (name[0] in 'AEIOU')} {name} object"


def refusal(name: str, value: object, expected: str) -> UsageError:
    """Return the error that says argument, value and what was expected."""
    try:
        found = repr(value)
    except RecursionError:
        found = "\n"
    if " at 0x" in found or "\n" in found:  # no value of its own, or a table
        found = f"an object of type {type(value).__name__}"
    frame = hasattr(value, "columns") and "path" in expected and name in TABLES
    written = ". Write it to a CSV file, and pass the path" * frame
    return UsageError(f"{name} must be {expected}, not {found[:60]}{'...' * (len(found) > 60)}{written}")
