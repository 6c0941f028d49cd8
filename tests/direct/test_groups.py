"""One effect of each group, and one smooth: independent draws have the posterior of quadrature over
(log sd, log sigma), in which all effects are part of a dense covariance of the rows.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates import integrated
from sgmc.models.crossed import direct as crossed
from sgmc.models.mixed import direct

from .cases import departures

DRAWS = 5_000  # of each of 4 chains
LIMIT = 4.0
PRIOR = {
    "*": sgmc.normal(0.2, 1.5, autoscale=False),
    "Intercept": sgmc.normal(0, 5, autoscale=False),
    "sd": sgmc.half_t(5, 1, autoscale=False),
    "sigma": sgmc.exponential(scale=0.8, autoscale=False),
}
CENTRE = np.array([0.0, 0.2])
SDS = np.array([5.0, 1.5])


def groups(sizes, sd, seed=4):
    """Rows of unbalanced groups, with weights and a covariate of the effects."""
    random = np.random.default_rng(seed)
    g = np.repeat(np.arange(len(sizes)), sizes)
    n = len(g)
    x, z = random.normal(size=(2, n))
    effect = sd * random.normal(size=len(sizes))
    y = 1 + 0.5 * x + effect[g] * z + 0.6 * random.normal(size=n)
    w = random.integers(1, 4, n).astype(float)
    frame = pd.DataFrame({"x": x, "z": z, "g": g, "y": y, "w": w, "one": 1.0})
    return frame.sample(frac=1, random_state=1)


CASES = {
    "five groups": ([9, 3, 5, 8, 6], 1.0, "y ~ x + (0 + z | g)", "z", None),
    "weights": ([9, 3, 5, 8, 6], 1.0, "y ~ x + (0 + z | g)", "z", "w"),
    "no effect": ([6, 5, 7, 4], 0.0, "y ~ x + (1 | g)", "one", None),
    "three groups": ([10, 4, 8], 2.0, "y ~ x + (1 | g)", "one", None),
}


def quadrature(X, Z, y, w, nodes=70):
    """Means and sds of beta, sd and sigma, and mean predictions: effects with columns Z (n, k) of
    one sd, rows with the variances sigma^2 / w.
    """
    a, b = np.linspace(-9, 4, nodes), np.linspace(-2.5, 2.5, nodes)
    sd, sigma = (np.exp(one).ravel() for one in np.meshgrid(a, b, indexing="ij"))
    V = sd[:, None, None] ** 2 * (Z @ Z.T) + sigma[:, None, None] ** 2 * np.diag(1 / w)
    # the coefficients integrated out: y ~ N(X m, V + X P^-1 X')
    total = V + X @ np.diag(SDS**2) @ X.T
    root = np.linalg.cholesky(total)
    away = y - X @ CENTRE
    half = np.linalg.solve(root, np.broadcast_to(away[:, None], (len(sd), len(y), 1)))[..., 0]
    value = -0.5 * (half**2).sum(1) - np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1)
    value += (len(w) - w.sum()) * np.log(sigma)  # frequencies: a row counts w times
    value += stats.t(5).logpdf(sd) - sigma / 0.8 + np.log(sd) + np.log(sigma)
    p = np.exp(value - value.max())
    p /= p.sum()
    solved = np.linalg.solve(V, np.broadcast_to(X, (len(sd), *X.shape)))
    H = X.T @ solved + np.diag(SDS**-2.0)
    right = np.einsum("mnj,n->mj", solved, y) + CENTRE / SDS**2
    mean = np.linalg.solve(H, right[..., None])[..., 0]
    found = p @ mean
    inner = np.diagonal(np.linalg.inv(H), axis1=1, axis2=2)
    variance = p @ (inner + (mean - found) ** 2)
    scales = np.column_stack([sd, sigma])
    level = p @ scales
    spread = p @ (scales - level) ** 2
    left = np.linalg.solve(V, (y - mean @ X.T)[..., None])[..., 0]
    predicted = p @ (y - sigma[:, None] ** 2 * left / w)  # X beta + Z b, on average
    return np.append(found, level), np.sqrt(np.append(variance, spread)), predicted


def fitted(name):
    """The fit of a case, and its numbers by quadrature."""
    sizes, sd, formula, covariate, weights = CASES[name]
    frame = groups(sizes, sd)
    results = sgmc.ols(formula, frame, prior=PRIOR, weights=weights, seed=1, draws=DRAWS)
    X = np.column_stack([np.ones(len(frame)), frame.x])
    Z = (frame.g.to_numpy()[:, None] == np.arange(len(sizes))) * frame[[covariate]].to_numpy()
    w = np.ones(len(frame)) if weights is None else frame.w.to_numpy()
    return results, quadrature(X, Z, frame.y.to_numpy(), w)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", CASES)
def test_groups_have_the_posterior_of_quadrature(name):
    results, (*expected, _) = fitted(name)
    assert results.sampler == sgmc.Direct()
    mean, sd = departures(results, expected)
    assert np.abs(mean).max() < LIMIT
    assert np.abs(sd).max() < LIMIT


def curve():
    """Rows of a bent curve."""
    random = np.random.default_rng(5)
    x = random.uniform(-2, 2, 40)
    return pd.DataFrame({"x": x, "y": np.sin(2 * x) + 0.5 * random.normal(size=40)})


def fitted_curve():
    """The same of a smooth, whose columns are those of the fit."""
    prior = {key: PRIOR[key] for key in ("*", "Intercept", "sd", "sigma")}
    results = sgmc.ols("y ~ s(x, k=6)", curve(), prior=prior, seed=1, draws=DRAWS)
    rows = results._fit.problem.own.rows
    table = rows.fixed
    X = np.asarray(table.X) + table.shift
    return results, quadrature(X, rows.curves, table.y, np.ones(40))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_smooth_has_the_posterior_of_quadrature():
    results, (*expected, _) = fitted_curve()
    assert results.sampler == sgmc.Direct()
    mean, sd = departures(results, expected)
    assert np.abs(mean).max() < LIMIT
    assert np.abs(sd).max() < LIMIT
    assert curve_off(*fitted_curve()) < 0.02


def curve_off(results, expected):
    """The largest error of a mean prediction, in sds of the curve: of 20,000 draws below 0.005 by
    Monte Carlo error, and of predictions from 800 whole draws below 0.02.
    """
    frame = curve()
    predicted = results.get_prediction(frame).summary_frame()
    order = results._fit.problem.own.rows.fixed.order
    return np.abs((predicted["mean"].to_numpy()[order] - expected[-1]) / 0.5).max()


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.mistake("independent draws with effects: {name}")
@pytest.mark.parametrize("name", ["pull reversed"])
def test_a_curve_that_is_turned_is_seen(name, monkeypatch):
    pull_reversed(monkeypatch)
    assert curve_off(*fitted_curve()) > 0.1


def prior_dropped(monkeypatch):
    """The prior of (sd, sigma)."""
    monkeypatch.setattr(integrated, "of_prior", lambda prior, theta, slope: (0.0, None))


def rows_off(monkeypatch):
    """Two rows more in the exponent of sigma."""
    at = direct.GroupSums.at
    monkeypatch.setattr(
        direct.GroupSums,
        "at",
        lambda self, sd, u: (lambda K, logs: (K, logs + 2 * u))(*at(self, sd, u)),
    )
    given = crossed.CurveTransport.given
    monkeypatch.setattr(
        crossed.CurveTransport,
        "given",
        lambda self, pairs: (lambda H, s, v: (H, s, v - 2 * pairs[:, 1]))(*given(self, pairs)),
    )


def pull_reversed(monkeypatch):
    """Coefficients moved away from their means."""
    given = crossed.CurveTransport.given
    monkeypatch.setattr(
        crossed.CurveTransport,
        "given",
        lambda self, pairs: (lambda H, s, v: (H, -s, v))(*given(self, pairs)),
    )


def wide_noise(monkeypatch):
    """Standard normal numbers times sqrt 2."""
    draws = integrated.ConditionallyNormal.draws
    monkeypatch.setattr(
        integrated.ConditionallyNormal, "draws", lambda self, z: draws(self, np.sqrt(2) * z)
    )


MISTAKES = {
    "prior dropped": prior_dropped,
    "rows miscounted": rows_off,
    "noise x sqrt 2": wide_noise,
}


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.mistake("independent draws with effects: {mistake}")
@pytest.mark.parametrize(
    ("mistake", "name"),
    [(one, name) for one in MISTAKES for name in ("groups", "smooth")],
)
def test_planted_mistakes_are_seen(mistake, name, monkeypatch):
    MISTAKES[mistake](monkeypatch)
    results, (*expected, _) = fitted("five groups") if name == "groups" else fitted_curve()
    assert results.sampler == sgmc.Direct()
    assert max(np.abs(one).max() for one in departures(results, expected)) > 2 * LIMIT
