"""Objects to plain trees, see `sgmc.core.system.files.write_sealed`."""

from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from sgmc.errors import ArgumentError
from sgmc.formula.evaluation import allowlist
from sgmc.formula.evaluation.widths import TRANSFORM
from sgmc.saved import classes
from sgmc.saved.foreign import KINDS, NOTHING

PLAIN = str | bool | int | float | None
ALL_KINDS = tuple(kind for kind, _, _ in KINDS.values())
NOTHINGS = {id(value): name for name, value in NOTHING.items()}


def plain_tree(value: Any, what: str) -> dict[str, Any]:
    """A tree of dicts, lists, plain values and arrays, of which `restored` makes the value again.

    Parameters
    ----------
    value : object
    what : str
        What it is, for messages.

    Raises
    ------
    ArgumentError
        Naming the attribute that a file cannot hold.
    """
    return ObjectWriter(what).planted(value)


def storable(value: Any) -> str:
    """Why a file cannot hold a value with all that it needs; empty where it can."""
    writer = ObjectWriter("it")
    try:
        writer.planted(value)
    except ArgumentError as error:
        return str(error)
    return f"{writer.own[0]} is a function of yours" if writer.own else ""


class ObjectWriter:
    """Turns objects into plain values; what is met again is a reference to the first time.

    Attributes
    ----------
    own : list of str
        Names of the user's functions, of which a file holds the names alone.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.where: list[Any] = []
        self.own: list[str] = []
        self.numbers: dict[int, int] = {}
        self.alive: list[Any] = []

    def planted(self, value: Any, place: Any = None) -> Any:
        """The plain tree of a value, at a place of its owner."""
        if isinstance(value, PLAIN) and not isinstance(value, np.generic):
            return (
                value if value is None or type(value) in (str, bool, int, float) else plain(value)
            )
        if id(value) in self.numbers:
            return {"is": "same", "as": self.numbers[id(value)]}
        if id(value) in NOTHINGS:
            return {"is": NOTHINGS[id(value)]}
        self.where.append(place)
        try:
            return self.named(value, place) or self.numbered(value)
        finally:
            self.where.pop()

    def named(self, value: Any, place: Any) -> Any:
        """What is written by its name, or is no object of its own; None for any other."""
        if isinstance(value, tuple):
            tree = {"is": "tuple", "of": [self.planted(one, k) for k, one in enumerate(value)]}
            return tree if type(value) is tuple else {**tree, "class": self.class_name(value)}
        function = allowlist.name_of(value)
        if function is not None:
            return {"is": "function", "name": function}
        if isinstance(value, type):
            if classes.name_of(value) is not None:
                return {"is": "class", "name": classes.name_of(value)}
            place = value.__name__
        elif isinstance(value, ALL_KINDS) or classes.name_of(type(value)) is not None:
            return None
        if not callable(value) and not isinstance(value, ModuleType):
            return None
        if not isinstance(place, str) or not place.isidentifier():
            self.refuse(value)
        self.own.append(place)
        return {"is": "yours", "name": place}

    def numbered(self, value: Any) -> Any:
        """An object, a list, a dict or an array."""
        self.numbers[id(value)] = len(self.numbers)
        self.alive.append(value)  # so that no other object gets its id
        if type(value) is list:
            return [self.planted(one, k) for k, one in enumerate(value)]
        if type(value) is dict:
            keys = [self.planted(key) for key in value]
            return {
                "is": "dict",
                "keys": keys,
                "values": [*map(self.planted, value.values(), value)],
            }
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            if isinstance(value, np.ma.MaskedArray):
                self.refuse(value)
            return np.asarray(value)
        for name, (kind, state, _) in KINDS.items():
            if isinstance(value, kind):
                return {"is": name, "state": self.each(self.taken(state, value))}
        return self.object(value)

    def each(self, state: dict[str, Any]) -> dict[str, Any]:
        """The values of a dict as plain trees."""
        return {key: self.planted(one, key) for key, one in state.items()}

    def taken(self, state: Any, value: Any) -> Any:
        """The state of a value of another library."""
        try:
            return state(value)
        except TypeError:
            return self.refuse(value)

    def object(self, value: Any) -> dict[str, Any]:
        """An object of one of the package's classes: its name, and the state that it asks for."""
        cls = type(value)
        transform = TRANSFORM.fullmatch(str(self.where[-1]))
        if transform and classes.name_of(cls) is None:  # the user's own
            self.own.append(transform[1])
            return {"is": "transform", "name": transform[1], "state": self.each(vars(value))}
        name, tree = self.class_name(value), {"is": "object"}
        if classes.name_of(cls) is None:  # the user's subclass of a class of results
            tree["own"] = cls.__name__
            self.own.append(cls.__name__)
        if name in classes.ARGUMENTS:
            arguments = [getattr(value, one) for one in classes.ARGUMENTS[name]]
            return {**tree, "class": name, "arguments": arguments}
        if cls.__reduce__ is not object.__reduce__:
            made, arguments, *_ = self.taken(cls.__reduce__, value)
            if made is not cls:
                return self.refuse(value)
            given = [self.planted(one, k) for k, one in enumerate(arguments)]
            return {**tree, "class": name, "arguments": given}
        return {**tree, "class": name, "state": self.each(state_of(value))}

    def class_name(self, value: Any) -> str:
        """The name of the class of a value; for results of a user's class that of its base."""
        for cls in type(value).__mro__:
            name = classes.name_of(cls)
            if name is not None:
                return name
            if not hasattr(cls, "of_fit"):
                break
        return self.refuse(value)

    def refuse(self, value: Any) -> NoReturn:
        """Raise ArgumentError for a value that files do not hold."""
        place = ".".join(str(one) for one in self.where if one is not None) or "it"
        cls = type(value)
        raise ArgumentError(
            f"{self.what} cannot be saved: {place} is a {cls.__module__}.{cls.__qualname__}, and "
            "files hold arrays, plain values and the package's own objects, so that opening one "
            "executes nothing; leave it out, or keep these results by pickle, which opens only "
            "with your own code"
        )


def plain(value: Any) -> Any:
    """The plain value of an object of a subclass of str, bool, int or float."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind(value)
    return value


def state_of(value: Any) -> dict[str, Any]:
    """The attributes of an object that a file keeps, a dict."""
    if hasattr(value, "to_file"):
        return value.to_file()
    try:
        state = value.__getstate__()
    except NotImplementedError:  # patsy's transforms, which refuse to be pickled
        state = vars(value)
    if isinstance(state, tuple):
        state = {**(state[0] or {}), **(state[1] or {})}
    return state or {}
