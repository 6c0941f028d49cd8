"""Priors of positive parameters, whose logs are sampled: against scipy,
and as the search for the mode sees them.
"""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.approximations.mode import PriorTerms
from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.priors.prior_table import PriorTable
from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError
from sgmc.gradients.simple import Simple
from sgmc.models.regression.families.rlm import LearnedRlmFamily
from sgmc.subsampling.uniform import FullBatch

# prior, log density by scipy: of positive numbers, up to a constant
PRIORS = {
    "exponential": (sgmc.exponential(scale=0.7), lambda v: stats.expon.logpdf(v, scale=0.7)),
    "gamma": (sgmc.gamma(2.0, scale=10.0), lambda v: stats.gamma.logpdf(v, 2.0, scale=10.0)),
    "inverse gamma": (
        sgmc.inverse_gamma(2.0, 10.0),
        lambda v: stats.invgamma.logpdf(v, 2.0, scale=10.0),
    ),
    "lognormal": (
        sgmc.lognormal(0.5, 0.8),
        lambda v: stats.lognorm.logpdf(v, 0.8, scale=np.exp(0.5)),
    ),
    "gamma below one": (
        sgmc.gamma(0.3, scale=2.0),
        lambda v: stats.gamma.logpdf(v, 0.3, scale=2.0),
    ),
    "half normal": (sgmc.normal(0, 2.5), lambda v: stats.halfnorm.logpdf(v, scale=2.5)),
    "truncated normal": (sgmc.normal(1.5, 0.5), lambda v: stats.norm.logpdf(v, 1.5, 0.5)),
    "half t": (sgmc.student_t(3, 0, 2.5), lambda v: stats.t.logpdf(v, 3, 0, 2.5)),
    "half cauchy": (sgmc.cauchy(0, 1.5), lambda v: stats.halfcauchy.logpdf(v, scale=1.5)),
    "laplace": (sgmc.laplace(0.4, 0.8), lambda v: stats.laplace.logpdf(v, 0.4, 0.8)),
    "flat": (sgmc.flat(), lambda v: 0.0 * v),
}
PLACES = [np.array([0.3, a, b]) for a in (-2.0, 0.1, 1.7) for b in (-1.0, 0.6, 2.5)]


def table(first, second):
    """Priors of a slope, sigma and df."""
    used = [sgmc.normal(0.2, 1.3), first, second]
    return PriorTable(["x", "sigma", "df"], used, used, [], True, 2)


def separable(priors, log_params=2):
    """The same, compiled."""
    return Separable(
        [FAMILIES[f] for f in priors.columns("family")],
        *(priors.columns(a) for a in ("location", "scale", "df")),
        log_params=log_params,
    )


def evaluated(prior, at):
    """Value and gradient of a prior: of a posterior whose only row weighs nothing."""
    model = LearnedRlmFamily.kernel(design(np.ones((1, 1))), np.zeros(1), None, np.zeros(1))
    return full(Simple(model, prior, FullBatch(1), Rng(seed_sequence(0, "chain"))), at)


def by_scipy(first, second, at):
    """Log density of (slope, log sigma, log df)."""
    return (
        stats.norm.logpdf(at[0], 0.2, 1.3)
        + first(np.exp(at[1]))
        + second(np.exp(at[2]))
        + at[1]
        + at[2]
    )


def departure(prior, first, second):
    """Largest difference to scipy of values, but for a constant, and of gradients by central
    differences, relative beyond 1.
    """
    values = np.array([by_scipy(first, second, at) for at in PLACES])
    found = [evaluated(prior, at) for at in PLACES]
    off = np.array([value for value, _ in found]) - values
    slopes = np.array(
        [
            [
                (by_scipy(first, second, at + e) - by_scipy(first, second, at - e)) / 2e-5
                for e in 1e-5 * np.eye(3)
            ]
            for at in PLACES
        ]
    )
    return max(
        np.abs(off - off[0]).max(),
        (np.abs(np.array([g for _, g in found]) - slopes) / np.maximum(np.abs(slopes), 1)).max(),
    )


def test_the_likelihood_is_left_out():
    assert evaluated(Prior(3), PLACES[0])[0] == 0.0


@pytest.mark.parametrize("second", PRIORS)
@pytest.mark.parametrize("first", PRIORS)
def test_values_and_gradients_are_scipys(first, second):
    """To the 1e-8 that differences of gradients have."""
    (one, scipys_one), (two, scipys_two) = PRIORS[first], PRIORS[second]
    assert departure(separable(table(one, two)), scipys_one, scipys_two) < 1e-8


@pytest.mark.parametrize("name", PRIORS)
def test_a_jacobian_that_is_left_out_is_caught(name):
    """Planted: densities of sigma and df taken for those of their logs."""
    prior, scipys = PRIORS[name]
    assert departure(separable(table(prior, prior)), lambda v: scipys(v) - np.log(v), scipys) > 0.5


@pytest.mark.parametrize("name", PRIORS)
def test_logs_that_are_taken_for_the_parameters_are_caught(name):
    """Planted: no logs; a gamma density of a negative number is none."""
    prior, scipys = PRIORS[name]
    with np.errstate(invalid="ignore"):
        assert not departure(separable(table(prior, prior), log_params=0), scipys, scipys) <= 0.5


@pytest.mark.parametrize("name", [name for name in PRIORS if name != "laplace"])
def test_the_search_for_the_mode_has_the_same_prior(name):
    """But for Laplace's, which it rounds; curvatures are not negative."""
    priors = table(PRIORS[name][0], sgmc.exponential(scale=2.0))
    terms, compiled = PriorTerms(priors, np.zeros(1)), separable(priors)
    found, expected = [terms(at) for at in PLACES], [evaluated(compiled, at) for at in PLACES]
    off = np.array([one[0] for one in found]) - [one[0] for one in expected]
    np.testing.assert_allclose(off, off[0], atol=1e-12)
    np.testing.assert_allclose(
        [one[1] for one in found], [one[1] for one in expected], rtol=1e-12, atol=1e-12
    )
    assert min(np.linalg.eigvalsh(one[2]).min() for one in found) >= 0


def test_steps_that_overshoot_have_a_prior_without_warnings():
    value, gradient, _ = PriorTerms(
        table(sgmc.exponential(1.0), sgmc.gamma(2, scale=10)), np.zeros(1)
    )(np.array([0.0, -800.0, -900.0]))
    assert value < -2000 and np.isfinite(gradient).all()


def test_df_needs_a_prior():
    frame = {"y": [1.0, 2.0, 4.0, 4.5, 7.0], "x": [0.0, 1.0, 2.0, 3.0, 4.0]}
    with pytest.raises(
        ArgumentError,
        match="a flat one of 'df' makes the posterior improper; use e.g. .*sgmc.gamma",
    ):
        sgmc.rlm("y ~ x", frame, df=None, prior="flat")


# ---- a lognormal prior of sigma, by quadrature ----


def posterior_of_sigma(y, prior):
    """Mean and sd of sigma of normal outcomes with a flat constant, by quadrature."""
    sigma = np.linspace(1e-3, 12, 200_001)
    residual = ((y - y.mean()) ** 2).sum()
    log_density = -(len(y) - 1) * np.log(sigma) - residual / (2 * sigma**2) + prior(sigma)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean = weight @ sigma
    return mean, np.sqrt(weight @ (sigma - mean) ** 2)


def test_a_lognormal_prior_of_sigma_is_that_of_quadrature():
    """4,000 draws know a mean to 0.03 sd and an sd to 3 %; without the prior it is 2 sd off."""
    y = np.random.default_rng(4).normal(size=10)
    mean, sd = posterior_of_sigma(y, lambda v: stats.lognorm.logpdf(v, 0.3, scale=np.exp(0.9)))
    prior = {"*": "flat", "Intercept": "flat", "sigma": sgmc.lognormal(0.9, 0.3)}
    res = sgmc.ols("y ~ 1", {"y": y}, prior=prior, seed=1, sampler="mala", draws=2000)
    assert abs(res.params["sigma"] - mean) < 0.1 * sd
    assert res.bse["sigma"] == pytest.approx(sd, rel=0.08)
    without, _ = posterior_of_sigma(y, lambda v: 0 * v)
    assert abs(res.params["sigma"] - without) > 0.5 * sd
    assert "sigma: lognormal(0.9, 0.3)" in " ".join(str(res.summary()).split())


def test_a_lognormal_prior_has_a_positive_sd():
    with pytest.raises(ArgumentError, match="lognormal: sd of the log"):
        sgmc.lognormal(0, -1)
