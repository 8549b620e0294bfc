"""Parametric classes, such as measures, with a common text form, and registries that find them by name.

`Parametric` objects are immutable; their text is `Name(k=v,...)@cutoff` without defaults. A `Registry`
contains the parametric classes of a package. Slow imports are inside functions, because every start
imports this module.
"""

from __future__ import annotations

import importlib
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from numbers import Real
from types import ModuleType
from typing import Any, ClassVar, Generic, NoReturn, TypeVar, dataclass_transform

from leadline.errors import UnknownNameError, UsageError, either, meant, sentences

# Name(k=v,...)@cutoff, and the forms of other tools: name_at_10, name_10, name.10, name@10-l2. A list of
# cutoffs, as in P.5,10, denotes several objects.
GRAMMAR = re.compile(
    r"(?P<name>[^\s()@=,]+?)(?:\((?P<parameters>[^()]*)\))?"
    r"(?:@(?P<at>[^()@]+?)|(?:_at_|[._])(?P<suffix>[0-9.]+(?:,[0-9.]+)*))?(?:-l(?P<rel>\d+))?"
)
# rbp.95, RBP0.95: a fraction after a dot is the persistence p, where a class has one.
PERSISTENCE = re.compile(r"(?P<name>[^\s()@=,]*[^\W\d_])[_@]?0?\.(?P<digits>\d+)")
Aliases = Mapping[str, Mapping[str, object]]
DefaultCutoffs = Mapping[str, tuple[object, ...]]
Rejected = Mapping[str, str]
SEPARATOR = re.compile(r"(\s*,\s*|\s+)")  # of names
# Text after one that continues the name before it: P.5,10 and ndcg.1=3,2=9, or nDCG @10
CONTINUATION = r"[-+]?[0-9.][-+0-9.eE]*(=.*|(?i:tokens?|words?|chars?|characters?))?|[@(=].*"
BRACES = re.compile(r"@\{([^{}]*)\}")  # P@{5,10} is P@5,10
LARGEST = 10**9  # of integers: longer than any list, and within every integer type


class Parameter:
    """Parameter of a parametric class: its default, type and allowed values."""

    def __init__(
        self,
        default: object,
        *,
        type_: type,
        low: float | None = None,
        high: float | None = None,
        open_ends: bool = False,
        options: tuple[str, ...] = (),
        at: bool = False,
        words: tuple[str, ...] = (),
    ) -> None:
        self.default = default
        self.type = type_
        self.low = low
        self.high = high
        self.open_ends = open_ends
        self.options = options
        self.at = at
        self.words = words

    def expected(self) -> str:
        """Return a description of the allowed values."""
        if self.options:
            return either(self.options)
        text = "a whole number" if self.type is int else "a number"
        if self.low is not None and self.high is not None:
            low, high = show(self.low), show(self.high)
            text += f" between {low} and {high}" if self.open_ends else f" from {low} to {high}"
        elif self.low is not None:
            text += f" above {show(self.low)}" if self.open_ends else f" of at least {show(self.low)}"
        return text + "".join(f", or {word}" for word in self.words)

    def refused(self, value: object) -> str:
        """Return what is allowed, with the limit of integers if the value is above it, and what was given."""
        expected, found = self.expected(), repr(value) if value == "" else value
        with suppress(ValueError):  # as text, an integer that no float can hold is infinite
            if self.type is int and self.low is not None and float(str(value)) > LARGEST:
                expected = expected.replace(f"of at least {self.low}", f"from {self.low} to {LARGEST}")
        return f"{expected}, not {found}"

    def read(self, value: object) -> object:
        """Return an allowed value from text or a value; raise ValueError if it is not allowed."""
        if value is None and self.default is None:
            return None
        if self.options or value in self.words:
            if value not in (*self.options, *self.words):
                raise ValueError
            return value
        if type(value) is bool or not isinstance(value, (str, Real)):
            raise ValueError
        if isinstance(value, str) and (not value.isascii() or "_" in value):
            raise ValueError
        number = float(value)
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        inside = low < number < high if self.open_ends else low <= number <= high
        if not inside or math.isinf(number):
            raise ValueError
        if self.type is float:
            return number + 0.0  # converts -0.0 to 0.0
        if number != int(number) or abs(number) > LARGEST:
            raise ValueError
        return int(number)


def whole(default: int | None, *, low: int | None = 1, words: tuple[str, ...] = ()) -> Any:
    """Declare an integer parameter."""
    return Parameter(default, type_=int, low=low, words=words)


def number(
    default: float, *, low: float | None = None, high: float | None = None, open_ends: bool = False
) -> Any:
    """Declare a real parameter; `open_ends` excludes the ends of the interval."""
    return Parameter(default, type_=float, low=low, high=high, open_ends=open_ends)


def choice(default: str, *options: str) -> Any:
    """Declare a parameter with a list of options, the default first."""
    return Parameter(default, type_=str, options=(default, *options))


def cutoff() -> Any:
    """Declare an optional cutoff, written after `@`."""
    return Parameter(None, type_=int, low=1, at=True)


def needed_cutoff() -> Any:
    """Declare a required cutoff, written after `@`."""
    return Parameter(..., type_=int, low=1, at=True)


def recall_level() -> Any:
    """Declare a required recall level, written after `@`."""
    return Parameter(..., type_=float, low=0.0, high=1.0, at=True)


def show(value: object) -> str:
    """Return the shortest text of a parameter value."""
    return f"{value:.17g}" if isinstance(value, float) and value.is_integer() else str(value)


def split_names(text: str) -> list[str]:
    """Split a list of names at the commas and blanks between names.

    >>> split_names("AP nDCG(gain=exp,discount=jk)@10,P.5,10 P@{5,10}")
    ['AP', 'nDCG(gain=exp,discount=jk)@10', 'P.5,10', 'P@{5,10}']
    """
    first, *rest = SEPARATOR.split(text.strip())
    names = [first]
    for separator, part in zip(rest[::2], rest[1::2], strict=True):
        inside = sum(map(names[-1].count, "({")) > sum(map(names[-1].count, ")}"))
        if inside or re.fullmatch(CONTINUATION, part):
            names[-1] += separator + part
        else:
            names.append(part)
    return names if all(names) else [text]


def collapsed(name: str) -> str:
    """Return a name in lower case without hyphens and underscores.

    >>> collapsed("Benjamini-Hochberg"), collapsed("t-test")
    ('benjaminihochberg', 'ttest')
    """
    return name.lower().replace("-", "").replace("_", "")


class ParametricType(type):
    """Metaclass of parametric classes: `nDCG @ 10` is `nDCG(cutoff=10)`."""

    def __matmul__(cls, value: object) -> Any:
        """Return an object with this cutoff."""
        return cls(**{_cutoff_name(cls, value): value})


def _cutoff_name(class_: Any, value: object) -> str:
    """Return the name of the parameter written after `@`; raise UsageError if the class has none."""
    name: str | None = class_.cutoff_name()
    if name is None:
        raise UsageError(f"{class_.__name__} takes no cutoff. Remove @{value}")
    return name


# Type checkers read the parameters of a class from its annotations, so that `nDCG(cutof=10)` is an error.
# Fields declared by `needed_cutoff` and `recall_level` are required; all others have a default.
@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(needed_cutoff, recall_level)
)
class Parametric(metaclass=ParametricType):
    """Base class of immutable objects with parameters, a text form, equality and a hash.

    `aliases` are other names of the class, with the parameters that each sets; `cutoff_aliases` are other
    names that require a cutoff. `default_cutoffs` are the cutoffs of an alias without one; an empty tuple
    means that the alias takes none. `rejected` explains why a parameter that a user might expect does not
    exist. `positional` is the parameter written without its name, as in `TF(dot)`.
    """

    aliases: ClassVar[Aliases] = {}
    cutoff_aliases: ClassVar[Aliases] = {}
    default_cutoffs: ClassVar[DefaultCutoffs] = {}
    rejected: ClassVar[Rejected] = {}
    positional: ClassVar[str] = ""

    def __init__(self, **arguments: object) -> None:
        parameters = self.parameters()
        for name in arguments:
            if name not in parameters:
                words = (vars(base).get("rejected", {}).get(name) for base in type(self).__mro__)
                verb = "parameters are" if len(parameters) > 1 else "only parameter is"
                listed = f"Its {verb} {', '.join(parameters)}" if parameters else "It has no parameters"
                reason = next(filter(None, words), listed)
                raise UsageError(f"{type(self).__name__} has no parameter '{name}'. {reason}.")
        for name, parameter in parameters.items():
            value = arguments.get(name, parameter.default)
            if value is ...:
                raise UsageError(f"{type(self).__name__} needs a cutoff. Write {self.example()}.")
            try:
                object.__setattr__(self, name, parameter.read(value))
            except (ValueError, OverflowError):
                label = "the cutoff" if parameter.at else name
                raise UsageError(f"{label} must be {parameter.refused(value)}") from None
        self.post_init()

    def post_init(self) -> None:
        """Validate or complete parameters that depend on one another, after all are set."""

    @classmethod
    @cache
    def parameters(cls) -> dict[str, Parameter]:
        """Return the parameters by name, in the order of declaration."""
        parameters: dict[str, Parameter] = {}
        for base in reversed(cls.__mro__):
            parameters |= {name: value for name, value in vars(base).items() if isinstance(value, Parameter)}
        return parameters

    @classmethod
    def cutoff_name(cls) -> str | None:
        """Return the name of the parameter written after `@`; None if there is none."""
        return next((name for name, parameter in cls.parameters().items() if parameter.at), None)

    @classmethod
    def has_persistence(cls) -> bool:
        """Return whether a parameter p is a probability, which other programs write as in `rbp.95`."""
        p = cls.parameters().get("p")
        return p is not None and p.high == 1.0

    @classmethod
    def example(cls) -> str:
        """Return a valid text of this class."""
        at = cls.cutoff_name()
        if at is None or cls.parameters()[at].default is None:
            return cls.__name__
        return f"{cls.__name__}@{10 if cls.parameters()[at].type is int else 0.1}"

    def replace(self, **changes: object) -> Any:
        """Return a copy with some parameters changed."""
        return type(self)(**{name: getattr(self, name) for name in self.parameters()} | changes)

    def __matmul__(self, value: object) -> Any:
        """Return a copy with this cutoff: `nDCG(gain="exp") @ 10`."""
        return self.replace(**{_cutoff_name(type(self), value): value})

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return self.text_with()

    def text_with(self, shown: Collection[str] = ()) -> str:
        """Return the text, with the parameters `shown` also where they have their defaults."""
        parameters = ",".join(
            ("" if name == self.positional else f"{name}=") + show(getattr(self, name))
            for name, parameter in self.parameters().items()
            if name == self.positional
            or (not parameter.at and (name in shown or getattr(self, name) != parameter.default))
        )
        at = self.cutoff_name()
        value = None if at is None else getattr(self, at)
        return (
            type(self).__name__
            + (f"({parameters})" if parameters else "")
            + (f"@{show(value)}" if value is not None else "")
        )

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is read-only. Use replace({name}=...).")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is read-only; {name} cannot be removed")


N = TypeVar("N", bound=Parametric)
T = TypeVar("T")


class Registry(Generic[N]):
    """The parametric classes of a package, found in its modules.

    `prefixes` are ignored before a name with a cutoff, as in `cosine_ndcg@10`; `rewrite` changes the text of
    another program into ours; `refused` are names in lower case that have no meaning, and what to write;
    `usual` is the name that errors suggest, by default the first.
    """

    def __init__(
        self,
        package: ModuleType,
        base: type[N],
        noun: str,
        *,
        prefixes: Sequence[str] = (),
        rewrite: Callable[[str], str] = str,
        refused: Mapping[str, str] | None = None,
        usual: str = "",
    ) -> None:
        self.package = package
        self.base = base
        self.noun = noun
        self.prefixes = prefixes
        self.rewrite = rewrite
        self.refused = refused or {}
        self.usual = usual

    def __repr__(self) -> str:
        return f"Registry({self.package.__name__}, {self.noun})"

    @cached_property
    def classes(self) -> dict[str, type[N]]:
        """Public classes by name."""
        classes: dict[str, type[N]] = {}
        for module in self._modules():
            for name, value in self._classes_of(module).items():
                if name in classes:
                    raise TypeError(f"two classes in {self.package.__name__} are named {name}")
                classes[name] = value
        return dict(sorted(classes.items(), key=lambda item: item[0].lower()))

    def _modules(self) -> Iterator[ModuleType]:
        if not hasattr(self.package, "__path__"):
            yield self.package
            return
        import pkgutil

        for entry in pkgutil.iter_modules(self.package.__path__):
            yield importlib.import_module(f"{self.package.__name__}.{entry.name}")

    @cached_property
    def _by_name(self) -> dict[str, tuple[type[N], Mapping[str, object]]]:
        """Class and parameters of every name and alias, in lower case."""
        by_name: dict[str, tuple[type[N], Mapping[str, object]]] = {
            name.lower(): (class_, {}) for name, class_ in self.classes.items()
        }
        for class_ in self.classes.values():
            for alias, preset in class_.aliases.items():
                if by_name.setdefault(alias.lower(), (class_, preset)) != (class_, preset):
                    raise TypeError(f"the alias {alias} of {class_.__name__} already has another meaning")
        return by_name

    @cached_property
    def _by_collapsed_name(self) -> dict[str, tuple[type[N], Mapping[str, object]]]:
        """Class and parameters of every unambiguous name without hyphens and underscores."""
        by_name: dict[str, list[tuple[type[N], Mapping[str, object]]]] = {}
        for name, meaning in self._by_name.items():
            meanings = by_name.setdefault(collapsed(name), [])
            meanings += [meaning] * (meaning not in meanings)
        return {name: meanings[0] for name, meanings in by_name.items() if len(meanings) == 1}

    @cached_property
    def _by_cutoff_alias(self) -> dict[str, tuple[type[N], Mapping[str, object]]]:
        """Class and parameters of the names that differ in meaning with a cutoff."""
        return {
            collapsed(alias): (class_, preset)
            for class_ in self.classes.values()
            for alias, preset in class_.cutoff_aliases.items()
        }

    def find(self, name: str, *, cut: bool = False) -> tuple[type[N], Mapping[str, object]] | None:
        """Return the class of a name or alias, and the parameters that the alias sets."""
        class_ = self._import_class(name)
        if class_ is not None:
            return class_, {}
        if name in self.classes:
            return self.classes[name], {}
        key = collapsed(name)
        if cut and key in self._by_cutoff_alias:
            return self._by_cutoff_alias[key]
        meaning = self._by_name.get(name.lower()) or self._by_collapsed_name.get(key)
        prefix, _, rest = name.partition("_")
        if meaning is None and cut and rest and prefix.lower() in self.prefixes:
            return self.find(rest, cut=True)
        return meaning

    def class_named(self, name: str) -> type[N] | None:
        """Return the class with exactly this name; None if there is none. Imports at most one module."""
        if "classes" in vars(self):
            return self.classes.get(name)
        return self._import_class(name)

    def _import_class(self, name: str) -> type[N] | None:
        """Return a class by importing only the module that defines it; None if all are imported."""
        if "classes" in vars(self) or name not in self._module_of_class:
            return None
        module = importlib.import_module(f"{self.package.__name__}.{self._module_of_class[name]}")
        return self._classes_of(module).get(name)

    @cached_property
    def _module_of_class(self) -> dict[str, str]:
        """Names of the modules by class, from their source text, without importing them."""
        modules: dict[str, str] = {}
        for folder in getattr(self.package, "__path__", ()):
            for entry in os.scandir(folder):
                if entry.name.endswith(".py") and not entry.name.startswith("_"):
                    with open(entry.path, encoding="utf-8") as file:
                        names = re.findall(r"^class (\w+)\(", file.read(), re.MULTILINE)
                    modules |= dict.fromkeys(names, entry.name.removesuffix(".py"))
        return modules

    def _classes_of(self, module: ModuleType) -> dict[str, type[N]]:
        """Return the public subclasses of the base class defined in a module."""
        return {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, type)
            and issubclass(value, self.base)
            and value.__module__ == module.__name__
            and not name.startswith("_")
            and value is not self.base
        }

    def parse(self, text: str) -> N:
        """Return the object that a text denotes."""
        objects = self.expand(text)
        return only(text, objects, self.noun)

    def expand(self, text: str) -> list[N]:
        """Return the objects that a text denotes; a list of cutoffs such as `P.5,10` denotes several."""
        if not isinstance(text, str) or not text.strip():
            name = self.usual or next(iter(self.classes))
            raise UsageError(f"{self.noun} {text!r} is not valid. Pass a name such as {name}.")
        text = BRACES.sub(r"@\1", " ".join(text.split()))
        persistence = PERSISTENCE.fullmatch(text)
        meaning = self.find(persistence["name"]) if persistence else None
        if persistence and meaning and meaning[0].has_persistence():
            return [meaning[0](**meaning[1], p=f"0.{persistence['digits']}")]
        parts = GRAMMAR.fullmatch(self.rewrite(text))
        cut = parts is not None and (parts["at"] or parts["suffix"]) is not None
        meaning = self.find(parts["name"], cut=cut) if parts else None
        if parts is not None and meaning is None and parts["name"].lower() in self.refused:
            raise UsageError(f"{self.noun} '{text}': {self.refused[parts['name'].lower()]}")
        if parts is None or meaning is None:
            raise UnknownNameError(f"unknown {self.noun} '{text}'. {self.nearest(text)}")
        class_, preset = meaning
        try:
            arguments = {**preset, **_parse_parameters(parts, class_.positional)}
            return [class_(**arguments, **at) for at in _parse_cutoffs(class_, parts, arguments)]
        except UsageError as error:
            raise UsageError(f"{self.noun} '{text}': {error}") from None

    def expand_all(self, texts: Iterable[str] | str) -> list[N]:
        """Return the distinct objects that texts denote, in order; the error lists all invalid texts."""
        objects: dict[N, None] = {}
        errors: list[UsageError] = []
        texts = [texts] if isinstance(texts, str) else texts
        parts = [part for text in texts for part in (split_names(text) if isinstance(text, str) else [text])]
        for text in parts:
            try:
                objects |= dict.fromkeys(self.expand(text))
            except UsageError as error:
                errors.append(error)
        if errors:
            raise all_errors(errors, plural(self.noun))
        return list(objects)

    def nearest(self, text: str, *, likeness: float = 0.5, offered: Iterable[str] = ()) -> str:
        """Return the known names nearest to an unknown one, or those offered, as text for the error."""
        import difflib

        parts = GRAMMAR.fullmatch(text)
        name = parts["name"] if parts else re.split(r"[\s()@=,]", text, maxsplit=1)[0]
        without_mark = re.fullmatch(r"(.*[^\d_.])(\d+)", text)  # ndcg10
        meaning = self.find(without_mark[1], cut=True) if without_mark else None
        if without_mark and meaning and meaning[0].cutoff_name():
            return meant([_example(meaning[0], without_mark[2])])
        close = difflib.get_close_matches(name.lower(), self._by_name, n=3, cutoff=likeness)
        if not close:
            return f"The {plural(self.noun)} are {', '.join(offered or self.classes)}."
        cutoff_text = (parts["at"] or parts["suffix"]) if parts else None
        classes = dict.fromkeys(self._by_name[match][0] for match in close)
        cutoff = "@cutoff" * any(class_.cutoff_name() for class_ in classes)
        form = "" if parts else f"Write Name(k=v,...){cutoff}. "
        return form + meant(_example(class_, cutoff_text) for class_ in classes)


def plural(noun: str) -> str:
    """Return the plural of what a registry holds.

    >>> plural("measure"), plural("analysis")
    ('measures', 'analyses')
    """
    return noun.removesuffix("is") + "es" if noun.endswith("sis") else f"{noun}s"


def only(text: object, found: Sequence[T], noun: str = "measure") -> T:
    """Return what a text means; raise UsageError if it means several things.

    >>> only("P@5,10", ["P@5", "P@10"])
    Traceback (most recent call last):
        ...
    leadline.errors.UsageError: 'P@5,10' stands for 2 measures. Pass only one, such as P@5.
    """
    if len(found) != 1:
        raise UsageError(
            f"{text!r} stands for {len(found)} {plural(noun)}. Pass only one, such as {found[0]}."
        )
    return found[0]


def all_errors(errors: Sequence[UsageError], command: str) -> UsageError:
    """Return one error for several; it is an unknown name if all of them are. A command lists the names.

    >>> all_errors([UnknownNameError("unknown measure 'XY'")], "measures")
    UnknownNameError("unknown measure 'XY'. See `leadline measures`.")
    """
    unknown = all(isinstance(error, UnknownNameError) for error in errors)
    kind = UnknownNameError if unknown else UsageError
    first, *more = map(str, errors)
    more = [text[0].upper() + text[1:] for text in more]
    return kind(sentences(first, *more, f"See `leadline {command}`."))


def _parse_parameters(parts: re.Match[str], positional: str = "") -> dict[str, object]:
    """Return the parameters in parentheses, and the relevance level written as -l2 in ranx."""
    pairs = [part.partition("=") for part in (parts["parameters"] or "").split(",") if part.strip()]
    if parts["rel"] is not None:
        pairs.append(("rel", "=", parts["rel"]))
    parameters: dict[str, object] = {}
    for name, equals, value in pairs:
        if not equals and positional:
            name, value = positional, name  # noqa: PLW2901  # the text without "=" is the value
        elif not equals:
            raise UsageError(f"parameter '{name.strip()}' is not of the form name=value")
        if name.strip() in parameters:
            raise UsageError(f"{name.strip()} is given twice")
        parameters[name.strip()] = value.strip()
    return parameters


def _parse_cutoffs(
    class_: type[Parametric], parts: re.Match[str], arguments: Mapping[str, object]
) -> list[dict[str, object]]:
    """Return the cutoff of each object that a text denotes, as keyword arguments."""
    name = class_.cutoff_name()
    is_alias = parts["name"] != class_.__name__
    default_cutoffs = class_.default_cutoffs.get(parts["name"].lower()) if is_alias else None
    text = parts["at"] or parts["suffix"]
    if text is None:
        if name and name not in arguments and default_cutoffs:
            return [{name: value} for value in default_cutoffs]
        return [{}]
    if name is None or default_cutoffs == ():
        valid = parts["name"] + f" or {_example(class_, text)}" * (name is not None)
        raise UsageError(f"{parts['name']} takes no cutoff. Use {valid}.")
    if name in arguments:
        raise UsageError(f"{name} is given twice")
    if parts["suffix"] and class_.has_persistence() and parts[0][parts.start("suffix") - 1] == ".":
        whole = all(part.strip().isdigit() for part in text.split(","))
        cuts = f"{parts['name']}@{text if whole else 10}"
        raise UsageError(
            f"a number after a dot sets p: {parts['name']}.95 means p=0.95. For cutoffs, write {cuts}."
        )
    return [{name: value.strip()} for value in text.split(",")]


def _example(class_: type[Parametric], cutoff_text: str | None) -> str:
    """Return a valid text of a class, with the given cutoff if it is allowed."""
    name = class_.cutoff_name()
    try:
        return str(class_(**{name: cutoff_text})) if name and cutoff_text else class_.example()
    except UsageError:
        return class_.example()
