"""Names to classes: samplers, gradient estimators, subsampling schemes.

A room's modules are imported once and searched for classes that carry `name` in their own body, so that a new leaf is one
file and a plain subclass never replaces its parent.  Other packages add theirs by entry points ``sgmc.samplers``,
``sgmc.gradients``, ``sgmc.subsampling``, or by `register`.
"""
import difflib
import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from sgmc.core.contract import Gradient, Subsampler
from sgmc.core.spec import SamplerSpec
from sgmc.errors import ArgumentError

ROOMS = {"samplers": SamplerSpec, "gradients": Gradient, "subsampling": Subsampler}
ALIASES = {"samplers": {"sgbd": "vsgbd"}}


@cache
def room(kind):
    """All classes of a room: name -> class."""
    package = importlib.import_module(f"sgmc.{kind}")
    found = {}
    for info in pkgutil.iter_modules(package.__path__):
        for value in vars(importlib.import_module(f"{package.__name__}.{info.name}")).values():
            named = isinstance(value, type) and issubclass(value, ROOMS[kind]) and isinstance(vars(value).get("name"), str)
            if named and getattr(value, "by_name", True):
                found[value.name] = value
    for point in entry_points(group=f"sgmc.{kind}"):
        found[point.name] = point.load()
    return found


def register(cls):
    """Add a sampler specification, gradient estimator or subsampler class under its `name`; returns the class.

    Raises
    ------
    ArgumentError
        If the class has no `name` of its own, or belongs to no room.
    """
    if not isinstance(vars(cls).get("name"), str):
        raise ArgumentError(f"{cls.__name__} needs a class attribute `name` of its own")
    for kind, base in ROOMS.items():
        if issubclass(cls, base):
            room(kind)[cls.name] = cls
            return cls
    raise ArgumentError(f"{cls.__name__} is neither a sampler specification, a gradient estimator nor a subsampler")


def lookup(kind, name, argument):
    """The class of that name; ArgumentError with the nearest name where there is none."""
    classes = room(kind)
    key = str(name).lower()
    key = ALIASES.get(kind, {}).get(key, key)
    if key in classes:
        return classes[key]
    near = sorted(difflib.get_close_matches(key, classes), key=lambda c: sorted(c) != sorted(key))      # swapped letters first
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(classes))}"
    raise ArgumentError(f"{argument}={name!r} is not known; {hint}")


def sampler_and_gradient(sampler, gradient):
    """A sampler specification and a gradient's name (or None) from ``sampler=`` and ``gradient=``.

    ``"sgld-cv"``, ``"SGLDCV"`` and ``"SGLD"`` with ``gradient="cv"`` are the same; the longest sampler name wins, so that
    ``"zzcv"`` can be a sampler.  ``"auto"`` gives None for the sampler.
    """
    if gradient is not None:
        gradient = lookup("gradients", gradient, "gradient").name
    if isinstance(sampler, SamplerSpec):
        return sampler, gradient
    if isinstance(sampler, type) and issubclass(sampler, SamplerSpec):
        return sampler(), gradient
    if not isinstance(sampler, str):
        raise ArgumentError(f"sampler={sampler!r} must be a name such as 'sgld', or a specification such as sgmc.SGLD()")
    name = sampler.lower().replace("-", "").replace("_", "")
    if name == "auto":
        return None, gradient
    names = {**room("samplers"), **{a: room("samplers")[b] for a, b in ALIASES["samplers"].items()}}
    for known in sorted(names, key=len, reverse=True):
        suffix = name[len(known):]
        if name.startswith(known) and (not suffix or suffix in room("gradients")):
            if suffix and gradient not in (None, suffix):
                raise ArgumentError(f"sampler={sampler!r} names the gradient {suffix!r}, but gradient={gradient!r}")
            return names[known](), suffix or gradient
    lookup("samplers", sampler, "sampler")
