"""Plain trees to objects: without executing anything of what is in them."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from sgmc.errors import ArgumentError, FormulaError, SGMCError
from sgmc.formula import DesignSpec
from sgmc.formula.data.places import PLACEHOLDER
from sgmc.formula.designs.groups import GroupSpec
from sgmc.formula.evaluation import allowlist
from sgmc.formula.evaluation.code import Refused
from sgmc.saved import classes
from sgmc.saved.designs import check_groups, check_spec
from sgmc.saved.foreign import KINDS, NOTHING
from sgmc.saved.types import wrong

UNMADE = object()  # in the place of an object whose parts are read


@dataclass(frozen=True)
class LoadPermissions:
    """What the user allows when a file is opened.

    Attributes
    ----------
    functions : dict
        Functions, modules and classes of the user's by the names that the file has of them; None
        for those that it is to be opened without.
    formulas : bool
        Whether formulas in the file may have any code.
    """

    functions: dict[Any, Any] = field(default_factory=dict)
    formulas: bool = False

    def __reduce__(self) -> tuple[Any, ...]:  # to another process; modules go by name
        modules = {k: v.__name__ for k, v in self.functions.items() if isinstance(v, ModuleType)}
        others = {k: v for k, v in self.functions.items() if k not in modules}
        return _trust, (others, modules, self.formulas)


def _trust(functions: Any, modules: Any, formulas: Any) -> LoadPermissions:
    return LoadPermissions(
        {**functions, **{k: import_module(v) for k, v in modules.items()}}, formulas
    )


class Unreadable(ValueError):
    """A tree that is not one of `plain_tree`, or of another release: why."""


class Absent:
    """In the place of a function that the user has not given; FormulaError where it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_given: Any, **_how: Any) -> NoReturn:
        raise FormulaError(
            f"{self._name}() was not given when these results were opened: "
            f"sgmc.load(path, functions={{{self._name!r}: {self._name}}})"
        )

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def restored(tree: Any, trust: LoadPermissions, opened: str) -> Any:
    """The value that `plain_tree` has made the tree of.

    Parameters
    ----------
    tree : object
    trust : Trust
    opened : str
        The call that opens the file, for messages: ``"sgmc.load(path"``.

    Raises
    ------
    Unreadable
        For classes, functions and fields that this release does not have.
    Damaged
        For designs whose parts do not belong together.
    ArgumentError
        For functions that the user has to give, and formulas with other code than formulas from
        outside may have.
    """
    check_functions(trust.functions)
    reader = ObjectReader(trust)
    value = reader.grown(tree)
    for one in reader.objects:
        if isinstance(one, DesignSpec):
            check_spec(one, len(one.exog_names))
        elif isinstance(one, GroupSpec):
            check_groups(one)
    reader.ask(opened)
    if not trust.formulas:
        reader.refuse_code(opened)
    return value


def check_functions(functions: Mapping[str, Any]) -> None:
    """ArgumentError for what is no dict of functions, modules and classes by name."""
    if not isinstance(functions, dict) or not all(isinstance(name, str) for name in functions):
        raise ArgumentError(
            "functions must be a dict of names and functions, such as {'mine': mine}, not "
            f"{functions!r}"
        )
    for name, one in functions.items():
        if one is not None and not callable(one) and not isinstance(one, ModuleType):
            raise ArgumentError(f"functions[{name!r}] must be a function or None, not {one!r}")


class ObjectReader:
    """Makes objects of plain values.

    Attributes
    ----------
    known : list
        What has been made so far, in the order in which `Writer` has met it.
    objects : list
        Of the package's classes.
    asked : list of str
        Names of the user's functions that are not given.
    """

    def __init__(self, trust: LoadPermissions) -> None:
        self.trust = trust
        self.known: list[Any] = []
        self.objects: list[Any] = []
        self.asked: list[str] = []

    def grown(self, tree: Any) -> Any:
        """The value of a tree."""
        if isinstance(tree, np.ndarray):
            self.known.append(tree)
            return tree
        if isinstance(tree, list):
            place = self.place()
            self.known[place] = [self.grown(one) for one in tree]
            return self.known[place]
        if not isinstance(tree, dict):
            return tree
        kind = tree.get("is")
        if kind in NOTHING:
            return NOTHING[kind]
        if kind in KINDS:
            return self.foreign(kind, tree["state"])
        if kind not in WAYS:
            raise Unreadable(f"this release has no value of the kind {kind!r}")
        return WAYS[kind](self, tree)

    def each(self, state: dict[str, Any]) -> dict[str, Any]:
        """The values of the trees of a dict."""
        return {str(key): self.grown(one) for key, one in state.items()}

    def foreign(self, kind: str, state: dict[str, Any]) -> Any:
        """A value of another library."""
        place, state = self.place(), self.each(state)
        self.known[place] = KINDS[kind][2](state)
        return self.known[place]

    def place(self) -> int:
        """The number of an object whose parts are read first."""
        self.known.append(UNMADE)
        return len(self.known) - 1

    def same(self, tree: Any) -> Any:
        """What was made before."""
        number = tree["as"]
        if not 0 <= number < len(self.known) or self.known[number] is UNMADE:
            raise Unreadable("it refers to what is not there")
        return self.known[number]

    def tuple(self, tree: Any) -> Any:
        """A tuple, with names or without."""
        values = [self.grown(one) for one in tree["of"]]
        if "class" not in tree:
            return tuple(values)
        cls = self.class_of(tree["class"])
        if not issubclass(cls, tuple) or len(values) != len(cls._fields):
            raise Unreadable(f"{tree['class']} has other fields in this release")
        self.check(tree, cls, dict(zip(cls._fields, values)))
        return cls._make(values)

    def dict(self, tree: Any) -> Any:
        """A dict."""
        place, keys = self.place(), [self.grown(key) for key in tree["keys"]]
        values = [self.grown(one) for one in tree["values"]]
        self.known[place] = dict(zip(keys, values, strict=True))
        return self.known[place]

    def function(self, tree: Any) -> Any:
        """A function or module of the list."""
        found = allowlist.function_of(tree["name"])
        if found is None:
            raise Unreadable(
                f"{tree['name']!r} is not in this release's list of functions that files may name"
            )
        return found

    def yours(self, tree: Any) -> Any:
        """A function of the user's."""
        name = str(tree["name"])
        if name not in self.trust.functions:
            self.asked.append(name)
        given = self.trust.functions.get(name)
        return Absent(name) if given is None else given

    def cls(self, tree: Any) -> Any:
        """A class itself."""
        return self.class_of(tree["name"])

    def class_of(self, name: str) -> Any:
        """The class of a name."""
        found = classes.class_of(name)
        if found is None:
            more = ""
            if str(name).startswith(("regression ", "sampler ")):
                more = "; if it is yours, import the module that registers it first"
            raise Unreadable(f"this release has no {name!r} that files may hold{more}")
        return found

    def object(self, tree: Any) -> Any:
        """An object of one of the package's classes."""
        cls, place = self.class_of(tree["class"]), self.place()
        own = self.yours({"name": tree["own"]}) if "own" in tree else None
        if isinstance(own, type) and issubclass(own, cls):
            cls = own
        if classes.by_arguments(cls):
            arguments = [self.grown(one) for one in tree["arguments"]]
            try:
                self.known[place] = cls(*arguments)
            except SGMCError as error:  # a message for whoever calls it, not for a file
                raise ValueError(f"{tree['class']} of other arguments: {error}") from error
            return self.known[place]
        if classes.compiled(cls):  # whole only when it is made of its arguments
            raise Unreadable(f"files hold no {tree['class']!r}")
        made = self.known[place] = _new(cls)
        state = self.each(tree["state"])
        if is_dataclass(cls):
            check_fields(cls, state)
        self.check(tree, cls, state)
        if hasattr(made, "of_file"):
            made.of_file(state)
        elif "__setstate__" in dir(cls):
            made.__setstate__(state)
        else:
            for name, value in state.items():
                object.__setattr__(made, name, value)
        self.objects.append(made)
        return made

    @staticmethod
    def check(tree: Any, cls: Any, state: Any) -> None:
        """Unreadable where attributes of an object are of other types than its class has."""
        fault = wrong(cls, state)
        if fault:
            raise Unreadable(f"{tree['class']} has {fault}, which this release does not expect")

    def transform(self, tree: Any) -> Any:
        """A fitted transform of the user's, of the class behind its function."""
        place, given = self.place(), self.yours(tree)
        cls: Any = getattr(given, "__patsy_stateful_transform__", None)
        state = self.each(tree["state"])
        if not isinstance(cls, type):
            self.known[place] = Absent(str(tree["name"]))
        else:
            self.known[place] = _new(cls)
            vars(self.known[place]).update(state)
        return self.known[place]

    def ask(self, opened: str) -> None:
        """ArgumentError where functions of the user's are missing."""
        if not self.asked:
            return
        names = list(dict.fromkeys(self.asked))
        given = ", ".join(f"{name!r}: {name}" for name in names)
        without = ", ".join(f"{name!r}: None" for name in names)
        # where code is refused even with these, one opening has to allow both
        refused = None if self.trust.formulas else self.refused({*self.trust.functions, *names})
        trusted = ""
        if refused is not None:
            trusted = (
                ", trust_formulas=True), if the file is from someone you trust, as a formula in it "
                f"has {refused.piece!r}"
            )
        them = "it" if len(names) == 1 else "them"
        raise ArgumentError(
            f"the file needs {', '.join(names)}, of which it holds the name alone, no code. Give "
            f"{them}, {opened}, functions={{{given}}}{trusted or ')'}, or open it without what "
            f"needs {them}, such as predictions of new rows: {opened}, functions={{{without}}}"
            f"{', trust_formulas=True' if trusted else ''})"
        )

    def refuse_code(self, opened: str) -> None:
        """ArgumentError where a formula of the file has code that those from outside may not
        have.
        """
        error = self.refused(self.trust.functions)
        if error is not None:
            named = self.trust.functions.items()
            given = ", ".join(f"{k!r}: {k if v is not None else None}" for k, v in named)
            beside = f"functions={{{given}}}, " if given else ""
            raise ArgumentError(
                f"a formula in the file has {error.piece!r}: {error.reason}. Predictions would "
                f"execute it; if the file is from someone you trust, {opened}, "
                f"{beside}trust_formulas=True)"
            )

    def refused(self, own: Collection[str]) -> Refused | None:
        """Code that formulas from outside may not have, beside functions of these names, or None;
        columns have their names.
        """
        for one in self.objects:
            if not hasattr(one, "refuse_code"):
                continue
            try:
                one.refuse_code(frozenset(own))
            except Refused as error:
                columns = getattr(one, "inputs", {})
                piece = PLACEHOLDER.sub(lambda m: columns.get(m[0], m[0]), error.piece)
                return Refused(piece, error.reason)
        return None


WAYS = {
    "same": ObjectReader.same,
    "tuple": ObjectReader.tuple,
    "dict": ObjectReader.dict,
    "function": ObjectReader.function,
    "yours": ObjectReader.yours,
    "class": ObjectReader.cls,
    "object": ObjectReader.object,
    "transform": ObjectReader.transform,
}


def _new(cls: Any) -> Any:
    return cls.__new__(cls)


def check_fields(cls: Any, state: dict[str, Any]) -> None:
    """Unreadable where the fields of a dataclass are not those of a file."""
    known = {one.name: one for one in fields(cls)}
    cached = {name for name in state if name not in known and hasattr(cls, name)}
    unknown = sorted({*state} - {*known} - cached)
    missing = [
        name
        for name, one in known.items()
        if name not in state and one.default is MISSING and one.default_factory is MISSING
    ]
    if unknown or missing:
        what = f"has a field {unknown[0]!r} there" if unknown else f"lacks {missing[0]!r} there"
        raise Unreadable(f"{cls.__name__} {what}, which this release does not expect")
