"""Runs of every kind, and when two of them are the same."""

import numpy as np
import pandas as pd

import sgmc

N = 300


rng = np.random.default_rng(5)


FRAME = pd.DataFrame(
    {"a": rng.normal(size=N), "b": rng.exponential(size=N), "w": rng.integers(1, 4, N)}
)


FRAME["y"] = (rng.random(N) < 1 / (1 + np.exp(0.5 - FRAME.a))).astype(int)


FORMULA = "y ~ a + b"


RUNS = [
    dict(sampler="lmsgld"),
    dict(sampler="sgld-simple", subsample="uniform"),
    dict(sampler="csgbd", precondition=None),
    dict(sampler="mala"),
    dict(sampler="laplace"),
    dict(sampler="auto", weights="w"),
    dict(sampler="sgld", init=[0.1, 0, 0]),
    dict(sampler="sgld", step_size=sgmc.Polynomial(0.5, 10, 0.33), subsample="replacement"),
]


def fit(draws=60, frame=FRAME, **how):
    """A short fit of the frame."""
    return sgmc.logit(FORMULA, frame, **{"draws": draws, "seed": 3, **how})


def same(one, other):
    """Whether two results have the same draws, weights, facts (but for seconds) and diagnostics."""
    facts = [
        [pair for side in r.header[:2] for pair in side if pair[0] != "Time (s)"]
        for r in (one, other)
    ]
    weights = (one.weights is None) == (other.weights is None) and (
        one.weights is None or np.array_equal(one.weights, other.weights)
    )
    return (
        np.array_equal(one.draws, other.draws)
        and weights
        and facts[0] == facts[1]
        and one.ksd() == other.ksd()
    )
