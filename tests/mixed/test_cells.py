"""Cells of two factors integrated out beside the factors' own coefficients: group-level predictors,
with the posterior of the whole design.
"""

import numpy as np
import pandas as pd
import patsy
import pytest

import sgmc
from sgmc.core.expansion import expand
from sgmc.models.regression import model
from sgmc.models.regression.latent.densities.group_level import GroupLevel
from sgmc.models.regression.latent.levels import problem as levels_problem

SIGMA, ROWS = 0.7, 1500
FORMULA = "y ~ x + f * g"


def table(link, rows=ROWS):
    """A number x, factors f of 4 and g of 20 levels with an interaction, c of 3, h of 40, k of 300,
    outcomes y.
    """
    random = np.random.default_rng(5)
    f, g, c = (random.integers(0, size, rows) for size in (4, 20, 3))
    x = random.normal(1, 2, rows)
    h, k = random.integers(0, 40, rows), random.integers(0, 300, rows)
    eta = 0.3 + 0.4 * x + 0.5 * random.normal(size=(4, 20))[f, g] + 0.3 * c
    columns = {
        name: pd.Categorical([f"{name}{j:02d}" for j in codes])
        for name, codes in (("f", f), ("g", g), ("c", c), ("h", h), ("k", k))
    }
    return pd.DataFrame({"y": link(random, eta), "x": x, "z": (g % 5) * 1.0, **columns})


def normal(random, eta):
    return eta + SIGMA * random.normal(size=len(eta))


def binary(random, eta):
    return (random.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


def count(random, eta):
    return random.poisson(np.exp(0.3 * eta))


def problem(verb, formula, df):
    """The compiled posterior of a fit of few draws."""
    how = dict(seed=1, draws=20, warmup=1, prior=sgmc.normal(0, 1))
    return getattr(sgmc, verb)(formula, df, **how)._fit.problem


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "verb, link, formula, width",
    [
        ("logit", binary, FORMULA, 2),  # x_g . beta and the coefficient of x
        ("logit", binary, "y ~ f * g", 1),
        ("ols", normal, FORMULA, 3),  # and log sigma
        ("poisson", count, "y ~ x + c + z + f * g", 4),  # c varies within cells, z does not
        ("logit", binary, "y ~ x + h + k", 13),  # 11 of the 39 coefficients of h
    ],
)
def test_densities_are_those_of_all_columns(few, monkeypatch, verb, link, formula, width):
    """Log density, gradient and Hessian at a point off the mode, in units of the largest: to
    rounding.  A group with another's predictors is seen.
    """
    df = table(link)
    found = problem(verb, formula, df)
    assert isinstance(found.model, GroupLevel) and found.model.width == width
    monkeypatch.setattr(levels_problem, "two_designs", lambda *all: None)
    whole = problem(verb, formula, df)
    assert whole.model.width == whole.dim == found.dim
    theta = whole.mode.theta + 0.1
    right = expand(whole.model.anchored(theta), theta)
    for kernel, apart in ((found.model, False), (rolled(found.model), True)):
        for one, other in zip(expand(kernel.anchored(theta), theta), right):
            assert (np.abs(one - other).max() < 1e-9 * np.abs(other).max()) != apart


def rolled(kernel):
    """The model of groups, each with the coefficients of its neighbour."""
    order, X = np.roll(np.arange(kernel.n), 1), kernel.X
    place = np.asarray(kernel.place)[order][:, : kernel.inner.p - 1]
    moved = type(X)(X.table[order], X.inner)
    return GroupLevel(kernel.inner, moved, place, kernel.unit, kernel.level)


def closed_form(df, scale, cells):
    """Means and sds of all coefficients, those of slopes N(0, scale^2), of cells N(0, cells^2)."""
    design = patsy.dmatrix("x + f * g", df)
    names, X = design.design_info.column_names, np.asarray(design)
    centre, tau = X.mean(axis=0), 2.5 * df.y.std(ddof=0)
    own = np.where([":" in name for name in names], cells, scale)
    precision = X.T @ X / SIGMA**2 + np.outer(centre, centre) / tau**2
    precision[1:, 1:] += np.diag(1 / own[1:] ** 2)
    covariance = np.linalg.inv(precision)
    mean = covariance @ (X.T @ df.y.to_numpy() / SIGMA**2 + centre * df.y.mean() / tau**2)
    return pd.Series(mean, names), pd.Series(np.sqrt(np.diag(covariance)), names)


@pytest.mark.cover(0)
@pytest.mark.mistake("cells integrated out: {mistake}")
@pytest.mark.parametrize(
    "name, mistake",
    [("auto", ""), ("auto", "prior of the cells dropped"), ("auto", "their mean ignored")],
)
def test_normal_outcomes_in_closed_form(few, monkeypatch, name, mistake):
    """Means to 0.15 sd and sds to 5 %, four Monte Carlo errors of 800 draws and more in 81
    coefficients; the mode, which is the mean, to rounding, 1e-9 sd.  Without the cells' prior means
    are off; the intercept's prior is at centred predictors, cells included: without them the mode
    is off by 2e-5 sd.
    """
    df = table(normal)
    if mistake.startswith("their"):
        monkeypatch.setattr(levels_problem, "centred_with_levels", lambda *all: all[:2])
    res = sgmc.ols(FORMULA, df, sigma=SIGMA, prior=sgmc.normal(0, 0.3), seed=1, sampler=name)
    mean, sd = closed_form(df, 0.3, 30.0 if mistake.startswith("prior") else 0.3)
    found = res.coefficients(draws=800).loc[mean.index]
    assert len(res.names) == 1 + 1 + 3 + 19 and len(found) == 81
    head = res._fit.problem
    mode = pd.Series(head.coordinates.back @ head.mode.theta, res.names)
    met = (
        (np.abs(found["mean"] - mean) < 0.15 * sd).all()
        and np.allclose(found["sd"], sd, rtol=0.05)
        and (np.abs(mode - mean[res.names]) < 1e-9 * sd[res.names]).all()
    )
    assert met == (not mistake)
    if not mistake:
        drawn = res.coefficient_draws(list(mean.index[-3:]), draws=800)
        assert (np.abs(drawn.mean(axis=0) - mean[-3:]) < 0.15 * sd[-3:]).all()
        fitted = np.asarray(patsy.dmatrix("x + f * g", df.iloc[:50])) @ mean
        np.testing.assert_allclose(res.predict(df.iloc[:50]), fitted, atol=0.03)
        np.testing.assert_allclose(res.predict()[:50], fitted, atol=0.03)
        assert "57 coefficients of f:g" in str(res.summary())


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of the whole design
def test_binary_outcomes_as_the_whole_design(few, monkeypatch):
    """As an exact sampler has it: the tolerance is three Monte Carlo errors of both."""
    df, prior = table(binary), sgmc.normal(0, 1)
    res = sgmc.logit(FORMULA, df, prior=prior, seed=1)
    assert res.verdict.trustworthy
    monkeypatch.setattr(model, "MANY", 512)
    whole = sgmc.logit(FORMULA, df, prior=prior, seed=2, sampler="hmc", draws=1000)
    found = res.coefficients(draws=200).loc[whole.names]
    mcse = whole.bse / np.sqrt(np.asarray(whole.ess()))
    apart = np.abs(found["mean"] - whole.params)
    assert (apart < 0.1 * whole.bse + 3 * mcse).all()
    np.testing.assert_allclose(found["sd"] / whole.bse, 1, atol=0.05 + 0.06)
