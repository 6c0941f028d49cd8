"""Beta regression against statsmodels' and R's maximum likelihood, and against importance sampling
in plain numpy.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from statsmodels.othermod.betareg import BetaModel

import sgmc
from sgmc.api import verbs
from sgmc.errors import ArgumentError, DataError
from tests.prior_scales import prior_scales

from ..importance import in_units_of_the_last

# Prater (1956), Petroleum Refiner 35, 236-238: percent of crude oil that becomes gasoline, by batch
# the temperature (degrees F) at which all of it has vaporised and the yield
BATCHES = [
    [(205, 12.2), (275, 22.3), (345, 34.7), (407, 45.7)],
    [(218, 8.0), (273, 13.1), (347, 26.6)],
    [(212, 7.4), (272, 18.2), (340, 30.4)],
    [(235, 6.9), (300, 15.2), (365, 26.0), (410, 33.6)],
    [(307, 14.4), (367, 26.8), (395, 34.9)],
    [(267, 10.0), (360, 24.8), (402, 31.7)],
    [(235, 2.8), (275, 6.4), (358, 16.1), (416, 27.8)],
    [(285, 5.0), (365, 17.6), (444, 32.1)],
    [(351, 14.0), (424, 23.2)],
    [(365, 8.5), (379, 14.7), (428, 18.0)],
]
# of those rows by R's betareg, Ferrari & Cribari-Neto (2004), table 1: batches against the tenth
PRINTED = [
    -6.15957,
    1.72773,
    1.32260,
    1.57231,
    1.05971,
    1.13375,
    1.04016,
    0.54369,
    0.49590,
    0.38579,
]
PRINTED_SLOPE, PRINTED_PHI = 0.010967, 440.27838


def gasoline():
    """The yields as shares, the temperatures, and the batches as letters, the tenth first."""
    rows = [(t, y / 100, b) for b, batch in enumerate(BATCHES) for t, y in batch]
    frame = pd.DataFrame(rows, columns=["temp", "y", "batch"])
    return frame.assign(batch=[" abcdefghi"[(b + 1) % 10].strip() or "_" for b in frame.batch])


def spread(n=80, phi=2.5, seed=3):
    """Simulated shares that are far apart: many lie near 0 and near 1."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.integers(0, 2, n)
    eta = 0.6 - 0.9 * x + 0.7 * z
    y = rng.beta(phi * special.expit(eta), phi * special.expit(-eta))
    return pd.DataFrame({"y": y, "x": x, "z": z})


TABLES = {"gasoline": (gasoline, "y ~ batch + temp"), "spread": (spread, "y ~ x + z")}


@cache
def fitted(name):
    """Defaults only, but for draws enough to know sds to 1 %."""
    make, formula = TABLES[name]
    return sgmc.beta(formula, make(), seed=1, draws=3000)


@cache
def reference(name, prior=1.0, jacobian=1.0):
    """Means and sds by 25,000 draws from t's with 5 degrees of freedom, and the effective size;
    0 for `prior` or `jacobian` of phi leaves it out, a mistake.

    The prior is N(0, 2.5 / sd) of slopes, N(0, 2.5) of the intercept at centred predictors, and a
    half-Cauchy of phi with 5 times the moment estimate of a model without predictors as its scale.
    Coefficients are sampled in units of phi^(-1/2).
    """
    results, frame = fitted(name), TABLES[name][0]()
    X, y = results.model.spec.matrix(frame), frame.y.to_numpy()
    d = X.shape[1]
    scale = 5 * (y.mean() * (1 - y.mean()) / y.var() - 1)

    def log_posterior(theta):
        mu, phi = special.expit(theta[:, :d] @ X.T), np.exp(theta[:, d:])
        value = stats.beta.logpdf(y, mu * phi, (1 - mu) * phi).sum(axis=1)
        slopes = theta[:, 1:d] * prior_scales(X[:, 1:]) / 2.5
        value -= 0.5 * (slopes**2).sum(axis=1) + 0.5 * (theta[:, :d] @ X.mean(axis=0) / 2.5) ** 2
        value -= prior * np.log1p((phi[:, 0] / scale) ** 2)
        return value + jacobian * theta[:, d]

    found = np.hstack([results.flat[:, :d], np.log(results.flat[:, d:])])
    return in_units_of_the_last(log_posterior, found, -0.5)


def apart(name, **wrong):
    """Largest differences of means, in sds, and of sds, relatively."""
    (mean, sd, size), results = reference(name, **wrong), fitted(name)
    assert size > 5000
    return (
        np.abs((results.params - mean) / sd).max(),
        np.abs(results.bse / sd - 1).max(),
    )


@pytest.mark.extended
@pytest.mark.parametrize("name", ["gasoline", pytest.param("spread", marks=pytest.mark.extended)])
def test_posteriors_are_right_at_default_settings(name):
    """0.1 sd for means, 5 % for sds; errors of the references are below 0.02 sd and 1.5 %."""
    mean, sd = apart(name)
    assert mean < 0.1 and sd < 0.05
    assert fitted(name).verdict.trustworthy


@pytest.mark.mistake("beta: no {mistake} of log phi")
@pytest.mark.parametrize("name", ["gasoline"])
@pytest.mark.parametrize("mistake", ["prior", "jacobian"])
def test_what_is_left_out_of_phi_shows(name, mistake):
    assert apart(name, **{mistake: 0.0})[0] > 0.15


def test_the_yields_are_those_that_were_published():
    """statsmodels' maximum of the likelihood of the table above has betareg's printed digits."""
    frame = gasoline()
    batches = pd.get_dummies(frame.batch, dtype=float).drop(columns="_")
    start = [*PRINTED, PRINTED_SLOPE, np.log(PRINTED_PHI)]
    model = BetaModel(frame.y, batches.assign(temp=frame.temp).assign(one=1.0).iloc[:, ::-1])
    order = [0, *range(10, 1, -1), 1, 11]
    found = model.fit(np.array(start)[np.argsort(order)], disp=0, method="bfgs").params.to_numpy()
    np.testing.assert_allclose(found[order], start, atol=2e-5)


@pytest.mark.extended
def test_many_rows_have_maximum_likelihood_estimates_and_errors():
    """Estimates of 20,000 rows within 0.05 standard errors, whose sds are within 2 %: four Monte
    Carlo errors of some 12,000 effective draws are 0.036 and 2.6 %, at this seed half of that; for
    phi by the delta rule.
    """
    frame = spread(20_000, 6.0)
    found = BetaModel.from_formula("y ~ x + z", frame).fit(disp=0)
    phi = np.exp(found.params.iloc[-1])
    estimates = np.append(found.params.iloc[:-1], phi)
    errors = np.append(found.bse.iloc[:-1], phi * found.bse.iloc[-1])
    results = sgmc.beta("y ~ x + z", frame, seed=1, draws=4000, prior="flat")
    assert (np.abs(results.params - estimates) / errors).max() < 0.05
    assert np.abs(results.bse / errors - 1).max() < 0.02
    assert results.llf == pytest.approx(found.llf, abs=0.01)


@pytest.mark.extended
def test_every_door_has_the_same_draws():
    frame, how = spread(), dict(seed=1, draws=800)
    results = sgmc.beta("y ~ x + z", frame, **how)
    assert results.names == ["Intercept", "x", "z", "phi"]
    for other in (
        sgmc.glm("y ~ x + z", frame, family="beta", **how),
        sgmc.glm("y ~ x + z", frame, family="Beta", link="logit", **how),
        sgmc.Beta.from_formula("y ~ x + z", frame).fit(**how),
        sgmc.Beta(frame.y, frame[["x", "z"]].assign(one=1.0)[["one", "x", "z"]]).fit(**how),
    ):
        np.testing.assert_array_equal(other.draws, results.draws)


@pytest.mark.extended
def test_what_results_have():
    frame = spread()
    results = fitted("spread")
    simulated = results.posterior_predict(frame, draws=200)
    assert simulated.min() > 0 and simulated.max() < 1
    assert ((results.predict(frame) > 0) & (results.predict(frame) < 1)).all()
    check = results.pp_check()
    assert ((check.p > 0.01) & (check.p < 0.99)).all()
    assert abs(np.mean(results.resid_pearson**2) - 1) < 0.3
    assert results.deviance < results.null_deviance and np.isfinite(results.loo().elpd)


def test_simulated_shares_of_tiny_shapes_stay_inside():
    family = sgmc.Beta.family
    eta = np.array([[-700.0, 0.0, 700.0]])
    y = family.simulate(np.repeat(eta, 100, axis=0), np.random.default_rng(1), np.array([1e-3] * 3))
    assert (y > 0).all() and (y < 1).all()


@pytest.mark.parametrize(
    "y, message",
    [
        ([0, 0.5, 0, 1], "outcome 'y' must lie .*excluded.*0 in 2 rows and 1 in 1 row: leave"),
        ([0.2, 0.5, 0.3, 1], "it is 1 in 1 row: leave .*(y \\* \\(n - 1\\) . 0.5)"),
        ([20.0, 35.0, 10.0, 3.0], "it has 20: divide percentages by 100"),
        ([-0.5, 0.2, 0.3, 0.1], "it has -0.5"),
        ([0.5, 0.5, 0.5, 0.5], "outcome 'y' is 0.5 in every row used"),
    ],
)
def test_outcomes_that_are_no_shares_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        verbs.beta("y ~ x", pd.DataFrame({"y": y, "x": [1.0, 2, 4, 7]}))


def test_arguments_that_do_not_apply():
    with pytest.raises(ArgumentError, match="phi=-1 must be a positive number; give None to learn"):
        sgmc.beta("y ~ x", spread(), phi=-1)
    with pytest.raises(ArgumentError, match="'probit' is not one of the beta family here; known"):
        sgmc.glm("y ~ x", spread(), family="beta", link="probit")


def test_rows_of_weight_zero_may_be_anything():
    frame = spread().assign(w=1.0)
    more = pd.concat([frame, frame.head(2).assign(y=[0.0, 1.0], w=0.0)], ignore_index=True)
    results = sgmc.beta("y ~ x", more, weights="w", seed=1, draws=500)
    assert results.nobs == 80 and np.isfinite(results.params).all()
