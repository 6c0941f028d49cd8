"""Estimators whose control values follow the chain, and what they remember."""

import numpy as np
from _ext.probes import Probe, listed
from _ext.toys import GaussianLocation, MatrixFactorisation, TanhNetwork

from sgmc.core.engine import Chain
from sgmc.core.schedules import Constant

from .cases import (
    GRADIENTS,
    SAMPLERS,
    estimator,
    normal_prior,
    regression,
    stream,
    table,
)

N, D, M = 31, 3, 7


X = table(N, D)


def models(n=N):
    """With and without scores, of one and of several numbers a row."""
    rng = np.random.default_rng(1)
    return {
        **{
            f"logit {s}": regression("logit", table(n, D), s) for s in ("dense64", "dense32", "csr")
        },
        "location": GaussianLocation(rng.normal(size=(n, D)), 0.7),
        "ratings": MatrixFactorisation(
            rng.integers(0, 4, n), rng.integers(0, 3, n), rng.normal(size=n), 4, 3, 2
        ),
        "network": TanhNetwork(rng.normal(size=(n, 2)), rng.integers(0, 3, n), 2, 3),
    }


MODELS, SMALL = models(), models(6)


FOLLOWING = [name for name, cls in GRADIENTS.items() if cls.staleness > 1]


VISIBLE = 1e-3


def rounding(name):
    """Relative: of sums over many steps; a float32 table rounds those of every tile."""
    return 1e-5 if "32" in name else 1e-9


def gradient_of(name, model, rows, **options):
    """An estimator with its anchor at a point of its own."""
    centre = np.random.default_rng(2).normal(size=model.dim) / 3
    return estimator(
        GRADIENTS[name],
        model,
        rows,
        stream(0),
        prior=normal_prior(model.dim),
        centre=centre,
        **options,
    )


def walk(gradient, steps, h=0.01, seed=3):
    """Follow a chain for some steps; returns where it ends."""
    chain = Chain(
        np.full(gradient.dim, 0.4),
        SAMPLERS["sgld"]().build(gradient.dim, h),
        gradient,
        stream(seed),
        Constant(h),
    )
    assert chain.run(steps, False) == 0
    return np.array(chain.x)


def terms(model, scores):
    """J_i' t_i of every row of a table, (n, dim)."""
    if model.width == 0:
        return scores.reshape(model.n, model.dim)
    rows = scores.reshape(model.n, model.width)
    return np.array([Probe(model).add_scores(listed([i]), rows[i]) for i in range(model.n)])


def drift(model, state):
    """Largest departure of the total from the table's, relative to the sum of absolute terms."""
    each = terms(model, state["table"])
    return (np.abs(state["total"] - each.sum(axis=0)) / np.abs(each).sum(axis=0)).max()
