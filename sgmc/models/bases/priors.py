"""Priors of named parameters: the table of what holds for each number, and its compiled form."""

from dataclasses import dataclass, field

import numpy as np

from sgmc.coordinates.priors.prior_checks import check_together
from sgmc.coordinates.priors.prior_table import (
    PriorTable,
    density_of,
    give,
    one_of_several,
    spec_of,
)
from sgmc.coordinates.transforms.layout import SUM_BLOCKS
from sgmc.errors import ArgumentError
from sgmc.priors import JointNormal, PriorSpec, flat, normal

FLAT = flat()  # the default of what is bounded on both sides
# the default of what is not bounded on both sides; half of it where parameters are positive
FREE = normal(0, 10)


@dataclass(frozen=True)
class OwnPrior(PriorSpec):
    """What stands for a model's own prior in tables."""

    def __str__(self):
        return "the model's own"


OWN = OwnPrior("flat", 0.0, 1.0)


@dataclass(frozen=True)
class NamedPriors(PriorTable):
    """One prior a number of theta.

    Attributes
    ----------
    places : dict
        Name of a parameter -> slice of theta.
    """

    places: dict = field(default_factory=dict)

    @property
    def defaults(self):
        return np.flatnonzero([one is FREE for one in self.specified])

    def described(self):
        """All of them in a line: of each parameter the different ones, at most three."""
        parts = []
        if all(one == OWN for one in self.specified):
            return "Prior: the model's own."
        for name, where in self.places.items():
            different = list(dict.fromkeys(map(str, self.specified[where])))
            parts.append(f"{name}: {', '.join(different[:3])}{', ...' if different[3:] else ''}")
        return f"Prior: {'; '.join(parts)}."


def priors_of(model, prior):
    """A table of priors and their compiled form: the model's own, or independent ones by name."""
    layout = model.layout
    if model.prior is None:
        priors = named_priors(prior, layout)
        return priors, density_of(priors)
    if prior is not None:
        raise ArgumentError("prior: the model has a prior of its own")
    own = [OWN] * layout.size
    return NamedPriors(layout.names, own, own, [], False, places=layout.slices), model.prior


def named_priors(prior, layout):
    """One prior a number of theta, from what the user wrote.

    Parameters
    ----------
    prior : None, str, PriorSpec or dict
        One is for all parameters; keys of a dict are parameters (``"W"``), single numbers
        (``"W[0,1]"``), or ``"*"`` for all others.  Default: normal(0, 10); flat where both sides
        are bounded, and on a simplex.
    layout : Layout
    """
    (low, high), kinds = layout.bounds(), layout.kinds
    specified = [FLAT if np.isfinite(a) and np.isfinite(b) else FREE for a, b in zip(low, high)]
    places = {name: range(where.start, where.stop) for name, where in layout.slices.items()}
    places |= {name: [j] for j, name in enumerate(layout.names)}
    together = []
    wishes = prior if isinstance(prior, dict) else {} if prior is None else {"*": prior}
    for key, one in sorted(
        wishes.items(), key=lambda pair: (pair[0] != "*", pair[0] not in layout.slices)
    ):
        where = (
            range(layout.size)
            if key == "*"
            else places[key]
            if key in places
            else places[layout.known(key, "prior")]
        )
        spec = spec_of(one, "prior" if key == "*" and prior is not wishes else f"prior[{key!r}]")
        if isinstance(spec, JointNormal):
            together.append(one_of_several(spec, where, layout.names, layout.size))
            refuse_ends(spec, [layout.names[j] for j in where if kinds[j] != "free"])
        else:
            for j in where:
                check(spec, layout.names[j], kinds[j], (low[j], high[j]))
        give(spec, where, specified)
    check_together(together, specified, layout.names)
    places = layout.slices
    return NamedPriors(
        layout.names, specified, specified, [], False, together=together, places=places
    )


def refuse_ends(spec, names):
    """ArgumentError for a normal prior of several parameters with constraints."""
    if names:
        raise ArgumentError(
            f"prior: {spec} is for parameters without constraints, {names[0]!r} has one; give it a "
            "prior of its own"
        )


def check(spec, name, kind, ends):
    """Refuse priors that do not suit their parameter."""
    if spec.autoscale or spec.family == "horseshoe":
        raise ArgumentError(
            f"prior: {spec} belongs to slopes of predictors, whose sds scale it; use e.g. "
            f"sgmc.normal(0, 2.5) for {name!r}"
        )
    if spec.family == "lkj":
        raise ArgumentError(
            f"prior: {spec} is for correlations of a group's effects, {name!r} is none; use e.g. "
            "sgmc.normal(0, 2.5)"
        )
    if spec.family == "dirichlet" and kind not in SUM_BLOCKS:
        raise ArgumentError(
            f"prior: {spec} is for parameters on a simplex, {name!r} is not; use e.g. sgmc.gamma(2)"
        )
    if spec.positive and ends[0] < 0:
        raise ArgumentError(
            f"prior: {spec} is for positive parameters, {name!r} is not one; use e.g. "
            "sgmc.normal(0, 2.5)"
        )
    if spec.bounds[0] > ends[0] or spec.bounds[1] < ends[1]:
        inside = max(spec.bounds[0], ends[0]), min(spec.bounds[1], ends[1])
        raise ArgumentError(
            f"prior: {spec} has ends that {name!r} does not have: give the model "
            f"constraints={{{name!r}: ('interval', {inside[0]:g}, {inside[1]:g})}}"
        )
