"""Posteriors at default settings against importance sampling in numpy, and planted mistakes."""

from functools import cache

import numpy as np
import pytest

import sgmc

from .reference import posterior
from .tables import FORMULAS, outcomes, remissions, simulated

# law, kind of censoring, rows (0: Gehan's table)
CASES = {
    "remissions weibull": ("weibull", "right", 0),
    "remissions lognormal": ("lognormal", "right", 0),
    "remissions loglogistic": ("loglogistic", "right", 0),
    "remissions exponential": ("exponential", "right", 0),
    "interval lognormal": ("lognormal", "interval", 60),
    "interval weibull": ("weibull", "interval", 60),
    "left loglogistic": ("loglogistic", "left", 60),
}
FAST = ("remissions weibull", "interval lognormal")


def parts(name):
    """Formula, table, and outcomes as `Surv` has them."""
    law, kind, n = CASES[name]
    if n == 0:
        frame = remissions()
        return law, "Surv(time, event) ~ placebo", frame, outcomes(frame, kind)
    frame = simulated(law, n, 4, kind)
    return law, FORMULAS[kind], frame, outcomes(frame, kind)


@cache
def fitted(name):
    """Defaults only, but for draws enough to know sds to 1 %."""
    law, formula, frame, _ = parts(name)
    return sgmc.survreg(formula, frame, dist=law, seed=1, draws=3000)


@cache
def reference(name, **wrong):
    """See `posterior`."""
    law, _, frame, y = parts(name)
    results = fitted(name)
    X, draws = results.model.spec.matrix(frame), results.flat
    if law == "exponential":
        return known_scale(X, y)
    return posterior(law, X, y, draws, **wrong)


def known_scale(X, y):
    """The exponential law: a posterior of two coefficients by quadrature on a grid."""
    logs = np.log(y.real)
    unit = logs.std()
    centre, reach = np.array([np.log(20.0), -1.5]), np.array([2.5, 4.0])
    line = np.linspace(-1, 1, 401)
    grid = centre + reach * np.array(np.meshgrid(line, line, indexing="ij")).reshape(2, -1).T
    eta, event = grid @ X.T, y.imag == 0
    value = -(eta * event).sum(axis=1) - (y.real * np.exp(-eta)).sum(axis=1)
    value -= 0.5 * (grid[:, 1] * X[:, 1].std(ddof=1) / (2.5 * unit)) ** 2
    value -= 0.5 * ((grid @ X.mean(axis=0) - logs.mean()) / (2.5 * unit)) ** 2
    weight = np.exp(value - value.max())
    weight /= weight.sum()
    mean = weight @ grid
    return mean, np.sqrt(weight @ (grid - mean) ** 2), np.inf


def apart(name, results=None, **wrong):
    """Largest differences of means, in sds, and of sds, relatively."""
    (mean, sd, size), results = reference(name, **wrong), results or fitted(name)
    assert size > 5000
    return np.abs((results.params - mean) / sd).max(), np.abs(results.bse / sd - 1).max()


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in FAST else pytest.mark.extended) for one in CASES],
)
def test_posteriors_are_right_at_default_settings(name):
    """0.1 sd for means, 5 % for sds; errors of the references are below 0.02 sd and 1.5 %."""
    mean, sd = apart(name)
    assert mean < 0.1 and sd < 0.05


@pytest.mark.extended("prior-remissions weibull", "jacobian-remissions weibull")
@pytest.mark.mistake("survival: no {mistake}")
@pytest.mark.parametrize("name", ["remissions weibull"])
@pytest.mark.parametrize("mistake", ["prior", "jacobian", "censoring"])
def test_what_is_left_out_shows(name, mistake):
    """The priors, the Jacobian of log sigma, and that some times are censored."""
    if mistake == "censoring":
        wrong = sgmc.survreg("time ~ placebo", remissions(), seed=1)
        assert apart(name, wrong)[0] > 1
    else:
        assert apart(name, **{mistake: 0})[0] > 0.13


def test_gehans_table_has_rs_estimates():
    """R prints 3.5157, -1.2673, scale 0.7322 and log likelihood -106.6 for MASS's ``gehan``: a
    maximum, from where every way leads down.
    """
    _, _, frame, y = parts("remissions weibull")
    family = sgmc.Survreg.family
    best = np.array([3.515687, -1.267335, np.log(0.7321944)])

    def likelihood(theta):
        eta = theta[0] + theta[1] * frame.placebo.to_numpy()
        return family.log_density(y, eta, np.exp(theta[2:])).sum()

    assert likelihood(best) == pytest.approx(-106.6, abs=0.05)
    for step in 1e-3 * np.eye(3):
        assert max(likelihood(best + step), likelihood(best - step)) < likelihood(best)
