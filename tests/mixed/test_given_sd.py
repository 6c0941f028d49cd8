"""Coordinates given the sd of a group's effects, in which posteriors are nearly normal, and the
independent draws that they allow.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, special

import sgmc
from sgmc.coordinates.independent.conditioned import Conditioned
from sgmc.core.engine import full_many
from sgmc.errors import NotSupported
from sgmc.models.regression.latent.integrated import given_sd

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def table(n=300, groups=12, sd=1.0, seed=0):
    rng = np.random.default_rng(seed)
    g, x = rng.integers(0, groups, n), rng.normal(size=n)
    eta = 0.5 * x + sd * rng.normal(size=groups)[g]
    return {"x": x, "g": g, "y": (eta + rng.logistic(size=n) > 0) * 1}


def spread_of_weights(problem):
    """Sd of log posterior over the normal density, at 400 draws of it."""
    z = np.random.default_rng(5).normal(size=(400, problem.dim))
    value = full_many(problem.all_rows(), z, slopes=False)[0]
    return float(np.std(value + 0.5 * (z**2).sum(axis=1)))


def small_map(k=2):
    """A map of k + 1 parameters with smooth tables."""
    w = np.linspace(-3, 3, 25)
    t, slope = np.sinh(w / 2), np.cosh(w / 2) / 2
    columns, changes = [t], [slope]
    for j in range(k):
        columns.append(np.sin(w + j))
        changes.append(np.cos(w + j))
    for a in range(k):
        for b in range(k):
            diagonal = 1.5 + 0.3 * np.cos(w) if a == b else 0.2 * np.sin(2 * w + a)
            change = -0.3 * np.sin(w) if a == b else 0.4 * np.cos(2 * w + a)
            columns.append(diagonal * (b >= a))
            changes.append(change * (b >= a))
    return Conditioned(1, w, np.column_stack(columns), np.column_stack(changes))


@pytest.mark.parametrize("w", [-3.5, -1.23, 0.4, 2.99, 4.0])
def test_derivatives_of_the_map_are_those_of_differences(w):
    found, x, h = small_map(), np.array([0.7, w, -0.4]), 1e-6
    steps = h * np.eye(3)
    slopes = np.array([(found(x + s) - found(x - s)) / (2 * h) for s in steps]).T
    # rounding of differences: 1e-16 / 1e-6
    assert np.abs(found.jacobian(x) - slopes).max() < 1e-8
    logs = [np.linalg.slogdet(found.jacobian(x + s))[1] for s in [*steps, *-steps]]
    grad = np.array([0.3, -1.1, 0.8])
    wanted = slopes.T @ grad + np.subtract(logs[:3], logs[3:]) / (2 * h)
    assert np.abs(found.pulled(x, grad) - wanted).max() < 1e-7
    assert np.abs(found.inverse(found(x)) - x).max() < 1e-12


def exact(data):
    """Density of log sd at a grid, by quadrature over slope and effects, and the grid: of a model
    without intercept that is given the slope's mode, which hardly moves.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(31)
    sds, slopes = np.linspace(0.02, 6, 120), np.linspace(-0.5, 1.8, 31)
    intercepts = np.linspace(-3, 3, 41)
    y, x, g = (data[name] for name in "yxg")
    x = x - x.mean()
    first = np.full((len(sds), len(slopes), len(intercepts)), 0.0)
    for group in np.unique(g):
        rows = g == group
        eta = slopes[:, None, None] * x[rows] + intercepts[:, None]
        for i, sd in enumerate(sds):
            at = eta[..., None] + sd * nodes
            p = np.where(y[rows, None] == 1, special.log_expit(at), special.log_expit(-at))
            first[i] += special.logsumexp(p.sum(axis=-2), b=weights, axis=-1)
    prior = -0.5 * (intercepts / 2.5) ** 2 - 0.5 * (slopes[:, None] * x.std() / 2.5) ** 2
    first += prior - 2.0 * np.log1p((sds / 2.5) ** 2 / 3)[:, None, None]
    p = np.exp(first - first.max()).sum(axis=(1, 2))
    return sds, p / integrate.trapezoid(p, sds)


@pytest.mark.extended
@pytest.mark.parametrize("groups", [3, 8])
def test_quantiles_of_the_sd_are_those_of_quadrature(groups):
    data = table(60, groups, seed=groups)
    results = sgmc.logit("y ~ x + (1 | g)", data, seed=1, draws=4000)
    assert results.sampler.name == "imh"
    sds, p = exact(data)
    F = integrate.cumulative_trapezoid(p, sds, initial=0)
    draws = results.draws[..., -1].ravel()
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        # of 16,000 nearly independent draws a share has an sd of .004; the grid's error is less
        assert abs((draws < np.interp(share, F, sds)).mean() - share) < 0.016


@pytest.mark.parametrize("sd", [0.0, 0.3, 1.0])
def test_posteriors_are_nearly_normal_in_these_coordinates(sd):
    results = sgmc.logit("y ~ x + (1 | g)", table(sd=sd), seed=1, draws=100)
    problem = results._fit.problem
    assert isinstance(problem.coordinates.map, Conditioned) and results.sampler.name == "imh"
    assert spread_of_weights(problem) < 0.1
    assert results.ess().min() > 300


@pytest.mark.mistake("coordinates given the sd: {mistake}")
@pytest.mark.parametrize(
    "name, mistake",
    [("imh", one) for one in ("no determinant", "mean of the mode", "sds times root 2")],
)
def test_mistakes_in_the_table_leave_weights(monkeypatch, name, mistake):
    data = table()
    usual = given_sd.SdTable.of

    def wrong(*given):
        found = usual(*given)
        if mistake == "no determinant":
            logs = np.log(np.diagonal(found.root, axis1=1, axis2=2)).sum(axis=1)
            return replace(found, log_density=found.log_density - logs)
        if mistake == "mean of the mode":
            k = int(np.argmax(found.log_density))
            return replace(found, mean=np.broadcast_to(found.mean[k], found.mean.shape))
        return replace(found, root=np.sqrt(2) * found.root)

    monkeypatch.setattr(given_sd.SdTable, "of", wrong)
    results = sgmc.logit("y ~ x + (1 | g)", data, seed=1, draws=50)
    assert spread_of_weights(results._fit.problem) > 0.12  # .04 without


def test_numbers_of_draws_do_not_decide_how_they_are_made():
    """Of 8,000 rows they are taken without weights; the first ones are those of a longer run."""
    data = table(8000, 10)
    few, many = (sgmc.logit("y ~ x + (1 | g)", data, seed=1, draws=m) for m in (20, 2000))
    assert few.sampler.name == many.sampler.name == "direct"
    assert np.array_equal(few.draws, many.draws[:, :20])
    assert np.array_equal(few.resume(30).draws, many.draws[:, :50])
    named = sgmc.logit("y ~ x + (1 | g)", data, seed=1, draws=20, sampler="direct")
    assert np.array_equal(named.draws, few.draws)
    assert "without weights" in str(many.verdict)


def test_draws_that_need_weights_are_not_taken_without():
    with pytest.raises(NotSupported, match=r"log weights of its draws have an sd of 0\.\d"):
        sgmc.logit("y ~ x + (1 | g)", table(), sampler="direct", seed=1)
