"""Linear regressions agree with NIST's certified estimates and standard errors to six digits.

With a flat prior and sigma known, here NIST's residual sd, the posterior of the coefficients is
normal: its means are the least-squares estimates and its sds their standard errors.
"""

from functools import cache

import numpy as np
import pytest

import sgmc
from sgmc.errors import DataError

from .sets import SETS, at, exact, solved

SOLVABLE = [name for name in SETS if name != "Filip"]
RANDOM_SIGMA = ["Norris", "Pontius", "Longley", "Wampler5"]  # a posterior sd with many digits


def digits(values, wanted):
    """The number of digits that agree: -log10 of the largest relative error (McCullough 1998)."""
    values, wanted = np.asarray(values, float), np.asarray(wanted, float)
    error = np.max(np.abs(values - wanted) / np.where(wanted == 0, 1, np.abs(wanted)))
    return 15.0 if error < 1e-15 else -np.log10(error)


@cache
def fitted(name):
    """With sigma known: certified, or 1 where the outcomes are a polynomial without noise."""
    one = SETS[name]
    return sgmc.ols(
        one.formula(),
        one.frame(),
        prior="flat",
        sigma=one.sigma or 1.0,
        sampler="laplace",
        seed=1,
    )


def sds(results):
    """Posterior sds by the scores of the draws, which determine those of a normal posterior."""
    some = results.scored_draws("exact")
    centred = np.column_stack([np.ones(len(some.draws)), some.draws])
    back = np.linalg.lstsq(centred, results.flat[some.kept], rcond=None)[0][1:].T
    return sgmc.diagnostics.implied_moments(some.draws, some.scores, directions=back).sd


@pytest.mark.parametrize("name", SETS)
def test_data_and_certificates_are_typed_right(name):
    """Rational arithmetic on the data gives the certificates, which have 15 digits."""
    estimates, errors, sigma = exact(SETS[name])
    assert digits(estimates, SETS[name].estimates) > 13
    assert digits(errors, SETS[name].errors) > 13
    assert digits([sigma], [SETS[name].sigma]) > 13


def test_a_digit_typed_wrongly_is_seen():
    one = SETS["Norris"]
    wrong = one._replace(y=("0.2", *one.y[1:]))
    assert digits(exact(wrong)[0], one.estimates) < 4


@pytest.mark.parametrize("name", SOLVABLE)
def test_means_have_six_digits(name):
    assert digits(fitted(name).zv_means()["mean"], SETS[name].estimates) > 6


@pytest.mark.parametrize("name", SOLVABLE)
def test_sds_have_six_digits(name):
    """Where the outcomes have no noise, standard errors are those for sigma 1: of Wampler3."""
    one = SETS[name]
    wanted = np.array(one.errors)
    if not one.sigma:
        wanted = np.array(SETS["Wampler3"].errors) / SETS["Wampler3"].sigma
    assert digits(sds(fitted(name)), wanted) > 6


def test_a_sigma_with_a_wrong_digit_is_seen():
    """Planted: the fourth digit of sigma, which is the fourth of all sds."""
    one = SETS["Norris"]
    how = dict(prior="flat", sampler="laplace", seed=1)
    wrong = sgmc.ols(one.formula(), one.frame(), sigma=1.001 * one.sigma, **how)
    assert digits(sds(wrong), one.errors) < 4


@pytest.mark.parametrize("name", RANDOM_SIGMA)
def test_with_sigma_unknown_draws_have_their_monte_carlo_error(name):
    """The posterior is then a t, which draws alone tell: means within 0.1 sd, sds within 8 % (the
    posterior of sigma has few degrees of freedom) of those of the closed form.
    """
    one = SETS[name]
    results = sgmc.ols(one.formula(), one.frame(), prior="flat", seed=1)
    estimates, errors, _ = exact(one)
    n, d = len(one.y), len(estimates)
    sd = np.array(errors) * np.sqrt((n - d) / (n - d - 3))
    assert np.abs((results.params.iloc[:d] - estimates) / sd).max() < 0.1
    assert np.abs(results.bse.iloc[:d] / sd - 1).max() < 0.08


def test_filip_is_refused_by_name():
    """The ratio of its singular values is 1.8e15: binary numbers do not tell its directions."""
    one = SETS["Filip"]
    with pytest.raises(DataError, match=r"likelihood is constant in the direction .*x1 \*\* 2"):
        sgmc.ols(one.formula(), one.frame(), prior="flat", sigma=one.sigma)


def test_filip_by_orthogonal_polynomials():
    """The same model in other coordinates: fitted values have six digits."""
    one = SETS["Filip"]
    results = sgmc.ols(
        "y ~ poly(x1, 10)",
        one.frame(),
        prior="flat",
        sigma=one.sigma,
        sampler="laplace",
        seed=1,
    )
    means = results.zv_means()["mean"].to_numpy()
    beta = solved(one)[0]
    wanted = [float(at(beta, row)) for row in one.design()]
    assert digits(results.model.spec.matrix(one.frame()) @ means, wanted) > 6
