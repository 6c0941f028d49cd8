"""Types of what a file holds: checked when it is read, by the annotations of the class that gets
it, and by `FIELDS`, which has more of some.
"""

from dataclasses import is_dataclass
from functools import cache, cached_property
from types import MemberDescriptorType
from typing import Any, get_type_hints

from sgmc.core.system.types import fits
from sgmc.saved.classes import class_of, name_of
from sgmc.saved.fields import FIELDS, OPTIONAL

ATTRIBUTES = (type, cached_property, MemberDescriptorType)  # that objects may have their own of


@cache
def annotations(cls: Any) -> dict[str, Any]:
    """The types of the attributes of a class, by name."""
    found: dict[str, Any] = (
        get_type_hints(cls) if is_dataclass(cls) or issubclass(cls, tuple) else {}
    )
    for base in reversed(cls.__mro__):
        found |= FIELDS.get(name_of(base), {})
    return found


@cache
def needed(cls: Any) -> list[str]:
    """Names of `FIELDS` that each object of a class has of its own."""
    found = {name for base in cls.__mro__ for name in FIELDS.get(name_of(base), {})}
    return sorted(name for name in found - OPTIONAL if not hasattr(cls, name))


def wrong(cls: Any, state: dict[str, Any]) -> str:
    """What is wrong with the attributes that a file has of an object; empty where nothing is.

    None may take the place of a method, which would be called instead.
    """
    for name, value in state.items():
        own = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        field = name in getattr(cls, "_fields", ()) or isinstance(own, ATTRIBUTES)
        if name.startswith("__") or hasattr(own, "__get__") and not field:
            return f"an attribute {name!r} in the place of a method"
        if not fits(value, annotations(cls).get(name, object), class_of):
            return f"a {type(value).__name__} as its {name!r}"
    for name in needed(cls):
        if name not in state:
            return f"no {name!r}"
    return ""
