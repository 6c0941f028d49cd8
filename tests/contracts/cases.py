"""What the contract tests run over: rooms of the registry, tables in every storage, problems with
known posteriors.
"""

import importlib
import itertools
import math
import pkgutil
from functools import cache

import numpy as np
import pytest
from _ext import toys
from _ext.probes import draw, slope
from scipy import sparse

from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.transforms.maps import Affine, Scaling
from sgmc.core.contract import Anchor, Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import evaluate
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.targets.bounds import Bounds
from sgmc.core.targets.remainders import Remainders
from sgmc.models.regression import families as leaves
from sgmc.models.regression.bases.family import Counts, Family, Positive
from sgmc.models.regression.bases.proportions import Proportions
from sgmc.registry import room
from sgmc.samplers.bases.trajectory import Trajectory

SAMPLERS, GRADIENTS = room("samplers"), room("gradients")


def known_rows(n, m):
    """What a scheme may want to know of n rows: sizes of 1, 2 and 3; two strata,
    where a batch of m reaches both.
    """
    strata = np.arange(n) % min(2, m)
    return {"sizes": np.arange(n) % 3 + 1.0, "strata": strata, "spread": np.unique(strata) + 1.0}


def made_with(cls):
    """A subsampling scheme as a function of (n, m), whatever it needs."""

    def make(n, m):
        if not cls.needs:
            return cls(n, m)
        return cls(n, m, cls.share(**{need: known_rows(n, m)[need] for need in cls.needs}))

    return make


SCHEMES = {name: made_with(cls) for name, cls in room("subsampling").items()}
# successive batches are independent; of others see test_sweeps
INDEPENDENT = [name for name, cls in room("subsampling").items() if not cls.sweeps]
STORAGE = {
    "dense64": np.ascontiguousarray,
    "dense32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
}


def variants(cls, fixed=()):
    """Every combination of a specification's choices, by a readable name;
    those in `fixed` stay at their defaults.  Rates per step stand for others per unit of time
    before anything is built: see tests/plan/test_rates_per_step.
    """
    choices = [
        [(p.name, c) for c in p.choices]
        for p in cls.parameters
        if p.choices and not {p.name, f"{cls.name}.{p.name}"} & {*fixed, "per"}
    ]
    return {
        "-".join([cls.name, *(f"{k}={v}" for k, v in some)]): cls(**dict(some))
        for some in itertools.product(*choices)
    }


# a metric is learned in warmup alone: kernels without warmup are the same for all of its choices;
# and without a metric's divergence the law is another one, for which see test_riemannian
# for which see test_scir; draws without a step are in tests/direct, and those from conditional
# distributions in tests/scales/test_turns; published forms of samplers in
# test_published
PUBLISHED = ["sign", "noise", "covariance", "anchored", "diffusion", "sghmc.integrator"]
STEPPING = {
    name: cls
    for name, cls in SAMPLERS.items()
    if not (cls.continuous or cls.probabilities or cls.needs_bounds or cls.direct)
    and not cls.conditional
}
SPECS = {
    name: spec
    for cls in STEPPING.values()
    for name, spec in variants(cls, ["metric", "divergence", "simplex", *PUBLISHED]).items()
    if getattr(spec, "adaptive", None) != "published"
}
LEARNING = {
    name: spec
    for cls in STEPPING.values()
    for name, spec in variants(cls, ["simplex", *PUBLISHED]).items()
    if getattr(spec, "adaptive", None) != "published"
}
# published forms, one at a time
LEARNING |= {
    f"{name}-{key}={value}": SAMPLERS[name](**{key: value})
    for key, value, names in (
        ("adaptive", "published", "vsgbd csgbd"),
        ("sign", "global", "vsgbd csgbd esgbd"),
        ("noise", "batch", "esgbd"),
        ("covariance", "full", "csgld msgld"),
        ("anchored", False, "sgrld sgrhmc"),
        ("diffusion", "metric", "sgrhmc"),
        ("integrator", "published", "sghmc"),
        ("integrator", "euler", "sghmc"),
    )
    for name in names.split()
}
EXACT = {name: spec for name, spec in SPECS.items() if spec.exact and spec.uses_gradient}
# which draw from a whole path, and reject none of it: their mistakes are in test_trajectories
TREES = {name for name, spec in EXACT.items() if isinstance(spec.build(2, 1.0), Trajectory)}
# steps whose ratio is thinned by bounds of remainders: see test_remainders
THINNED = {
    name: spec
    for cls in SAMPLERS.values()
    if cls.needs_bounds and not cls.continuous
    for order in (1, 2)
    for name, spec in (
        (f"{k}-order={order}", cls(**{**s.values(), "order": order}))
        for k, s in variants(cls).items()
    )
}
# their steps are events, and their draws lie on a path between them: see test_paths, test_events
CONTINUOUS = {
    name: spec
    for cls in SAMPLERS.values()
    if cls.continuous and cls.exact
    for name, spec in variants(cls).items()
}
# and these have predicted bounds, or rates that are held: see test_predicted_rates, test_bands,
# test_held_rates; drawn anew, as they also run without noise
PREDICTED = {
    name: cls(refresh=0.2)
    for name, cls in SAMPLERS.items()
    if cls.continuous and not cls.exact and not cls.holds
}
HELD = {
    name: spec for cls in SAMPLERS.values() if cls.holds for name, spec in variants(cls).items()
}


def families():
    """Regression families of the package: name -> Family, of those with state one by default.  A
    second one of a name, whose columns are of several predictors, is called ``"name | z"``.
    """
    found = {}
    for info in pkgutil.iter_modules(leaves.__path__):
        for value in vars(importlib.import_module(f"{leaves.__name__}.{info.name}")).values():
            of_family = isinstance(value, type) and issubclass(value, Family)
            if of_family and value.name and value.kernel is not None:
                second = value.name in found and type(found[value.name]) is not value
                found[value.name + " | z" * bool(second)] = value()
    return found


REGRESSIONS = {"known sigma": toys.KnownSigma, **{k: f.kernel for k, f in families().items()}}


def stream(seed, purpose="chain", index=0):
    """The package's random stream of that seed."""
    return Rng(seed_sequence(seed, purpose, index))


def table(n, d, seed=0):
    """A table whose rows have predictors of order one, a third of its entries zero."""
    rng = np.random.default_rng([seed, n, d])
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 2 / 3) / np.sqrt(d)


def outcomes(name, n, seed=0):
    """n outcomes of the kind that suits a family."""
    rng, family = np.random.default_rng(seed), families().get(name)
    if family is None or isinstance(family, Counts):
        return rng.poisson(1.5, n).astype(float)
    kinds = {"binary": 2, "ordered": 4, "category": 3}
    if family.outcome in kinds:
        return rng.integers(0, kinds[family.outcome], n).astype(float)
    if family.outcome == "survival":
        known = np.choose(np.arange(n) % 4, [0.0, -1.0, -2.0, 9.0])
        return np.minimum(rng.gamma(2.0, size=n), 8.0) + 1j * known
    if isinstance(family, Proportions):
        return rng.beta(1.2, 1.8, n)
    return rng.gamma(2.0, size=n) if isinstance(family, Positive) else rng.normal(0.3, 1.5, n)


def regression(name, X, storage="dense64", offset=None, weight=None, seed=0):
    """A regression of that family on a table, with outcomes of the right kind."""
    y = outcomes(name, len(X), seed)
    return REGRESSIONS[name](design(STORAGE[storage](X)), y, offset, weight)


def normal_prior(dim, scale=1.0, location=0.0):
    """Independent N(location, scale^2)."""
    ones = np.ones(dim)
    return Separable([FAMILIES["normal"]] * dim, location * ones, scale * ones, ones)


def make_map(kind, dim, seed=3):
    """None, a Scaling, an Affine with a full matrix, or theta = exp x."""
    rng = np.random.default_rng(seed)
    centre, scale = rng.normal(size=dim) / 3, 0.5 + rng.random(dim)
    return {
        "none": lambda: None,
        "scaling": lambda: Scaling(centre, scale),
        "positive": lambda: toys.Positive(dim),
        "affine": lambda: Affine(centre, np.diag(scale) + rng.normal(size=(dim, dim)) / 4),
    }[kind]()


def estimator(cls, model, rows, rng, *, prior=None, map=None, centre=None, exact=(), **options):
    """A gradient estimator with what it needs; the anchor, where it needs one, is at
    `centre` (default: zero).
    """
    anchor = None
    if "anchor" in cls.needs:
        anchor = Anchor(
            model,
            np.zeros(model.dim) if centre is None else centre,
            "curvature" in cls.needs,
            exact,
        )
    return cls(
        model,
        Prior(model.dim) if prior is None else prior,
        rows,
        rng,
        map=map,
        anchor=anchor,
        **options,
    )


def event_gradient(
    spec, model, prior, rng, *, map=None, centre=None, rows=None, bounds=None, batch=1
):
    """A gradient for a sampler that thins, with the bounds that it needs at
    `centre` (default: zero).
    """
    centre = np.zeros(model.dim) if centre is None else centre
    rows = rows or SCHEMES["block"](model.n, batch if spec.minibatches else model.n)
    made = estimator(
        GRADIENTS[spec.estimator or "simple"],
        model,
        rows,
        rng,
        prior=prior,
        map=map,
        centre=centre if map is None else map(centre),
    )
    if spec.remainder:
        made.bounds = bounds or Remainders(model, map, centre, spec.remainder)
    elif spec.needs_bounds:
        made.bounds = bounds or Bounds(model, prior, map, centre, True)
    return made


def from_here(gradient, draws, ask):
    """ask() for each of the draws that the gradient's script holds, in turn, all from the state
    that the gradient is in now.

    Estimators with a memory change it with every draw.
    """
    before, found = gradient.state(), []
    for _ in draws:
        gradient.set_state(before)
        found.append(ask())
    gradient.set_state(before)
    return found


def estimates(gradient, draws, at, noise=False):
    """(g, sd or None) at a point, for each draw from the same state."""
    rng = stream(0)
    return from_here(gradient, draws, lambda: evaluate(gradient, at, rng, noise))


def slopes(gradient, draws, at, v):
    """(v . g, its variance) at a point, for each draw from the same state."""
    rng = stream(0)
    return from_here(gradient, draws, lambda: slope(gradient, at, v, rng))


@cache
def law(scheme, n, m, draws=20_000):
    """The different draws of a scheme, by drawing until none is new, and their probabilities:
    (draws, p, how often each came).

    Draws are compared in order, so that those of `uniform`, `replacement` and `stratified` are
    equally likely ones.  Where a row's weight is 1/(N p_i), the draw of some of them has the
    product of their p_i.  Of sweeps, one draw each is looked at, of every place in turn.
    """
    rows, rng, seen = scheme(n, m), stream(11), {}
    between = 2 * math.ceil(n / m) if type(rows).sweeps else 0
    for _ in range(draws):
        runs = draw(rows, rng)
        seen[runs] = seen.get(runs, 0) + 1
        for _ in range(between):
            draw(rows, rng)
    p = np.full(len(seen), 1 / len(seen))
    if all(run.weight for runs in seen for run in runs):
        p = np.array([np.prod([1 / (n * c) for run in runs for c in run.weight]) for runs in seen])
        assert p.sum() == pytest.approx(1, abs=1e-12), (
            "not all draws have come, or weights are not 1/(N p)"
        )
    return list(seen), p, np.array(list(seen.values()))
