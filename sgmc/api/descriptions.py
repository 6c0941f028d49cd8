"""What ``sgmc describe NAME`` prints: the documentation of any name of the package."""

import inspect
from collections.abc import Iterator

from sgmc.arguments.choices import nearest
from sgmc.arguments.declared.keywords import TABLE
from sgmc.elsewhere import (
    ARGUMENTS,
    SAME_ARGUMENTS,
    SAME_IN_MODULE,
    SAME_ON_RESULTS,
    in_module,
    on_results,
)
from sgmc.errors import ArgumentError


def description(name: str) -> str:
    """Return the documentation of a verb, a sampler, an argument, a gradient estimator, a scheme
    of subsampling, a prior or other function, a method of results, a warning or a data set.

    Raises
    ------
    ArgumentError
        For a name that nothing has; it names the nearest.
    """
    found = "\n\n".join(entries(name)) or elsewhere_named(name)
    if not found:
        raise ArgumentError(
            f"nothing here is named {name!r}{nearest(name, known(), misspelt=True)}; "
            "`sgmc families`, `sgmc samplers` and `sgmc datasets` list names"
        )
    return found


def entries(name: str) -> Iterator[str]:
    """The documentation of all that has a name."""
    import sgmc
    from sgmc import errors
    from sgmc.api import verbs
    from sgmc.datasets import licences, names
    from sgmc.models.regression.results import RegressionResults
    from sgmc.registry import headline, room

    key = name.lower().replace("-", "_")
    lines = [line for row in TABLE if row.name == key for line in row.lines()]
    if key in room("samplers"):
        yield room("samplers")[key].describe()
    elif key in room("families"):
        yield str(getattr(verbs, key).__doc__)
    elif lines:
        yield "\n".join(lines)
    elif name in vars(sgmc)["__all__"]:
        yield documented(name, getattr(sgmc, name))
    elif hasattr(RegressionResults, name) and not name.startswith("_"):
        yield documented(f"Results.{name}", getattr(RegressionResults, name))
    elif isinstance(getattr(errors, name, None), type):
        yield documented(name, getattr(errors, name))
    if key in room("terms"):
        yield documented(f"{key}() of a formula", room("terms")[key])
    for kind in ("gradients", "subsampling"):
        if key in room(kind):
            cls = room(kind)[key]
            # Cython writes the signature before the text
            told = headline(cls).removeprefix(f"{cls.__name__}(").partition(") ")
            yield f"{key} ({kind}): {told[2] or told[0]}"
    if key in names():
        source, licence = licences().loc[key, ["source", "licence"]]
        yield f"{key} (data set, dataset:{key}): {source} Licence: {licence}."


def elsewhere_named(name: str) -> str:
    """The documentation of what has another name here than in other packages, or what to use."""
    same = {name: ours for name, (ours, _) in SAME_ON_RESULTS.items()} | SAME_IN_MODULE
    same |= SAME_ARGUMENTS
    ours = same.get(name, "").removeprefix("model.")
    if ours and (found := "\n\n".join(entries(ours))):
        return f"{name} is {ours} here.\n\n{found}"
    said = ARGUMENTS.get(name)
    return on_results(name) or in_module(name) or (f"{name}= is none here; {said}" if said else "")


def documented(called: str, value: object) -> str:
    """A call with its arguments, and the documentation."""
    head = called
    if callable(value) and not isinstance(value, type):
        head += str(inspect.signature(value)).replace("(self, ", "(").replace("(self)", "()")
    return f"{head}\n\n{inspect.getdoc(value) or ''}".rstrip()


def known() -> list[str]:
    """Names for the nearest one."""
    import sgmc
    from sgmc.datasets import names
    from sgmc.models.regression.results import RegressionResults
    from sgmc.registry import room

    rooms = [name for kind in ("samplers", "gradients", "subsampling") for name in room(kind)]
    methods = [name for name in dir(RegressionResults) if not name.startswith("_")]
    return [*{row.name: None for row in TABLE}, *rooms, *vars(sgmc)["__all__"], *methods, *names()]
