"""Names to classes: samplers, gradient estimators, subsampling schemes, regression families, terms
of formulas.

A room is a folder.  Its modules are imported once and searched for classes that carry `name` in
their own body, so that a new leaf is one file and a plain subclass never replaces its parent.
Other packages add theirs by entry points ``sgmc.samplers``, ``sgmc.gradients``,
``sgmc.subsampling``, ``sgmc.families`` and ``sgmc.terms``, or by `register`.
"""

import importlib
import inspect
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from sgmc.arguments.choices import nearest
from sgmc.arguments.messages import must_be
from sgmc.arguments.types import Same
from sgmc.core.spec import SamplerSpec
from sgmc.errors import ArgumentError

ROOMS = {
    "samplers": "sgmc.samplers",
    "gradients": "sgmc.gradients",
    "subsampling": "sgmc.subsampling",
    "families": "sgmc.models.regression.families",
    "terms": "sgmc.terms",
    "grouped": "sgmc.models.regression.latent.integrated",
    "levels": "sgmc.models.regression.latent.levels",
    "crossed": "sgmc.models.regression.latent.sampled",
    "scales": "sgmc.models.regression.latent.shrunk",
    "updates": "sgmc.models.regression.updated",
    "cluster": "sgmc.cluster",
}
ALIASES = {"samplers": {"sgbd": "vsgbd"}}


@cache
def room(kind: str) -> dict[str, Any]:
    """Return all classes of a room: name -> class."""
    package = importlib.import_module(ROOMS[kind])
    found: dict[str, Any] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if not info.ispkg:
            found |= leaves(importlib.import_module(f"{package.__name__}.{info.name}"), kind)
    for point in entry_points(group=f"sgmc.{kind}"):
        found[point.name] = point.load()
    return found


def leaves(module: ModuleType, kind: str) -> dict[str, Any]:
    """Return the classes of a module that belong to a room: name -> class."""
    classes = (value for value in vars(module).values() if belongs(value, kind))
    return {cls.name: cls for cls in classes if getattr(cls, "by_name", True)}


def belongs(value: object, kind: str) -> bool:
    """Return whether an object is a class of that room with a name of its own."""
    return (
        isinstance(value, type)
        and getattr(value, "room", None) == kind
        and isinstance(vars(value).get("name"), str)
    )


def headline(cls: type) -> str:
    """Return the first paragraph of a class's docstring as one line."""
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


def register(cls: type[Same]) -> type[Same]:
    """Add a class under its `name`, and return it.

    Parameters
    ----------
    cls : type
        A sampler specification, gradient estimator, subsampler, regression model or penalised term.

    Raises
    ------
    ArgumentError
        If the class has no `name` of its own, or is of none of these kinds.
    """
    kind = getattr(cls, "room", None)
    if kind not in ROOMS:
        raise ArgumentError(
            f"{cls.__name__} is neither a sampler specification, a gradient estimator, a "
            "subsampler, a regression model nor a term"
        )
    if not belongs(cls, kind):
        raise ArgumentError(f"{cls.__name__} needs a class attribute `name` of its own")
    room(kind)[vars(cls)["name"]] = cls
    return cls


def lookup(kind: str, name: object, argument: str) -> Any:
    """Return the class of that name; raise ArgumentError with the nearest name if none has it."""
    classes = room(kind)
    key = str(name).lower()
    key = ALIASES.get(kind, {}).get(key, key)
    if key in classes:
        return classes[key]
    hint = nearest(key, sorted(classes), "known")
    raise ArgumentError(f"{argument}={name!r} is not known{hint}")


def sampler_and_gradient(
    sampler: object, gradient: str | None
) -> tuple[SamplerSpec | None, str | None]:
    """Return a sampler specification and a gradient's name, or None, from the two arguments.

    ``"sgld-cv"``, ``"SGLDCV"`` and ``"SGLD"`` with ``gradient="cv"`` are the same; the longest
    sampler name wins, so that ``"zzcv"`` can be a sampler.  ``"auto"`` gives None for the sampler.
    """
    if gradient is not None:
        gradient = lookup("gradients", gradient, "gradient").name
    if isinstance(sampler, SamplerSpec):
        return sampler, gradient
    if isinstance(sampler, type) and issubclass(sampler, SamplerSpec):
        return sampler(), gradient
    if not isinstance(sampler, str):
        wanted = "a name such as 'sgld', or a specification such as sgmc.SGLD()"
        raise must_be("sampler", sampler, wanted)
    name = sampler.lower().replace("-", "").replace("_", "")
    if name == "auto":
        return None, gradient
    names = room("samplers") | {
        alias: room("samplers")[known] for alias, known in ALIASES["samplers"].items()
    }
    for known in sorted(names, key=len, reverse=True):
        suffix = name[len(known) :]
        if name.startswith(known) and (not suffix or suffix in room("gradients")):
            if suffix and gradient not in (None, suffix):
                raise ArgumentError(
                    f"sampler={sampler!r} names the gradient {suffix!r}, but gradient={gradient!r}"
                )
            return names[known](), suffix or gradient
    return lookup("samplers", sampler, "sampler")  # which has no such name, and raises
