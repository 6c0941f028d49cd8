"""Fits with much gradient noise, and that noise measured."""

import numpy as np
import pandas as pd

import sgmc
from sgmc.core.engine import evaluate
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.fit.noise import draws_of_laplace, subsampler

N = 2000


rng = np.random.default_rng(8)


FRAME = pd.DataFrame(
    {
        "a": rng.normal(size=N),
        "b": rng.exponential(size=N) * 10,
        "g": rng.choice(list("uvw"), N, p=[0.7, 0.2, 0.1]),
    }
)


FRAME["y"] = (rng.random(N) < 1 / (1 + np.exp(1 - FRAME.a))).astype(int)


def fit(sampler="sgld-simple", frame=FRAME, **how):
    """A short fit."""
    return sgmc.logit("y ~ a + b + g", frame, sampler=sampler, **{"draws": 100, "seed": 3, **how})


def header(results):
    """Its facts as a dict."""
    return dict(pair for side in results.header[:2] for pair in side)


def noise_at(results, points, gradient, batch, repeats=500):
    """Mean over points of the covariance of gradient estimates there, from fresh batches."""
    done, stream = results._fit, Rng(seed_sequence(9, "chain", 0))
    rows = subsampler(done.plan.choice(gradient=gradient), batch)
    estimator = done.problem.gradient(gradient, rows, stream)
    at = [
        np.cov([evaluate(estimator, x, stream)[0] for _ in range(repeats)], rowvar=False)
        for x in points
    ]
    return np.mean(at, axis=0)


def pilot_points(results):
    """Where the pilot of a fit looked."""
    z = draws_of_laplace(3, len(results.names))
    return [results._fit.problem.coordinates.from_white(one) for one in np.concatenate([z, -z])]
