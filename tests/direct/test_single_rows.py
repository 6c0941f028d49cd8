"""Groups most of which have a single row tell the sum of two variances, and hardly their ratio:
independent draws have the posterior of quadrature over both sds, from zero on.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.independent import ratios
from sgmc.models.regression.rows import effect_sums

from .cases import departures
from .test_groups import DRAWS, LIMIT, PRIOR, assert_right, conditional

ANGLES, LENGTHS = 200, 80  # of quadrature: means are the same to 1e-3 sds with twice as many
SHORTEST, LONGEST = 0.2, 3.0  # roots of the sum of variances, which is 0.7 or 1 with an sd of 0.1

# rows of groups that have two, among 40 groups, and the sd of single rows; with two pairs alike the
# sd of single rows may be far below that of groups
CASES = {"none": (0, 0.7), "a pair": (1, 0.7), "pairs nearly alike": (3, 0.05)}


def rows(pairs, noise):
    """Rows of 40 groups, some of which have two."""
    random = np.random.default_rng(8)
    g = np.append(np.arange(40), np.arange(pairs))
    x = random.normal(size=len(g))
    y = 1 + 0.5 * x + 0.7 * random.normal(size=40)[g] + noise * random.normal(size=len(g))
    return pd.DataFrame({"x": x, "g": g, "y": y})


@cache
def quadrature(name):
    """Means and sds of beta, sd and sigma of a case, by Gauss-Legendre rules of the angle and the
    length of (sd, sigma): the density is smooth where either is zero.
    """
    frame = rows(*CASES[name])
    X = np.column_stack([np.ones(len(frame)), frame.x])
    Z = (frame.g.to_numpy()[:, None] == np.arange(40)).astype(float)
    angle, own = np.polynomial.legendre.leggauss(ANGLES)
    length, other = np.polynomial.legendre.leggauss(LENGTHS)
    angle, length = np.meshgrid(
        0.25 * np.pi * (1 + angle),
        SHORTEST + 0.5 * (LONGEST - SHORTEST) * (1 + length),
        indexing="ij",
    )
    mass = (np.outer(own, other) * length).ravel()
    scales = np.column_stack([(length * np.sin(angle)).ravel(), (length * np.cos(angle)).ravel()])
    w = np.ones(len(frame))
    parts = [
        conditional(X, [Z], frame.y.to_numpy(), w, some) for some in np.array_split(scales, 80)
    ]
    value, mean, variance, _ = (np.concatenate(one) for one in zip(*parts))
    value -= np.log(scales).sum(axis=1)  # of sds, not of their logs
    p = mass * np.exp(value - value.max())
    p /= p.sum()
    mean, variance = np.hstack([mean, scales]), np.hstack([variance, 0 * scales])
    level = p @ mean
    return level, np.sqrt(p @ (variance + (mean - level) ** 2))


def fitted(name):
    """The fit of a case, and its numbers by quadrature."""
    frame = rows(*CASES[name])
    results = sgmc.ols("y ~ x + (1 | g)", frame, prior=PRIOR, seed=1, draws=DRAWS)
    return results, quadrature(name)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", CASES)
def test_single_rows_have_the_posterior_of_quadrature(name):
    assert_right(*fitted(name))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_weights_that_count_rows_more_than_once_have_no_such_table():
    frame = rows(0, 0.7).assign(w=1.01)
    results = sgmc.ols("y ~ x + (1 | g)", frame, prior=PRIOR, weights="w", seed=1, draws=50)
    assert results.sampler != sgmc.Direct()


def stretch_forgotten(monkeypatch):
    """A density of ratios that is taken for one of their coordinates."""
    plain = ratios.Ratios.steepness
    monkeypatch.setattr(ratios.Ratios, "steepness", lambda self, psi: plain(self, psi) ** 0)


def determinant_forgotten(monkeypatch):
    """A covariance of the rows whose determinant has the noise of single rows alone."""
    plain = effect_sums.GroupSums.at
    forgotten = lambda self, r: (plain(self, r)[0], np.zeros(len(r)))
    monkeypatch.setattr(effect_sums.GroupSums, "at", forgotten)


MISTAKES = {
    "stretch forgotten": stretch_forgotten,
    "determinant forgotten": determinant_forgotten,
}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.mistake("independent draws of groups with single rows: {mistake}")
@pytest.mark.parametrize(("mistake", "name"), [(one, "none") for one in MISTAKES])
def test_planted_mistakes_are_seen(mistake, name, monkeypatch):
    MISTAKES[mistake](monkeypatch)
    results, expected = fitted(name)
    assert results.sampler == sgmc.Direct()
    assert max(np.abs(one).max() for one in departures(results, expected)) > 2 * LIMIT
