"""Each family: its density against scipy's where it has a row of the table, and against its
auxiliary mean, variance, simulated outcomes, deviance and compiled kernel.
"""

import numpy as np
import pytest
from scipy import special, stats

from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.models.regression.bases.family import Binary, Counts, Family, Positive
from sgmc.models.regression.bases.proportions import Proportions
from sgmc.models.regression.families.rlm import LearnedRlmFamily, RlmFamily
from sgmc.subsampling.uniform import FullBatch

from .tables import FAMILIES, LINKS


def bernoulli(link):
    """log P(y) by scipy's logpmf; successes by the link's complement where it is the more exact."""
    return lambda y, eta: stats.bernoulli.logpmf(y, link.inverse(eta))


def nbinom(y, eta, alpha):
    """By scipy's number of successes and their probability."""
    return stats.nbinom.logpmf(y, 1 / alpha, 1 / (1 + alpha * np.exp(eta)))


def invgauss(y, eta, phi):
    """By scipy's mu, mean over scale."""
    return stats.invgauss.logpdf(y, phi * np.exp(eta), scale=1 / phi)


def beta(y, eta, phi):
    """By scipy's two shapes; 1 - mu by itself, as a difference of it would be rounded."""
    return stats.beta.logpdf(y, phi * special.expit(eta), phi * special.expit(-eta))


SHARES = [1e-5, 0.2, 0.7, 1 - 1e-7]
COUNTED, POSITIVE, REAL = [0.0, 1.0, 7.0, 300.0], [1e-3, 0.7, 5.0, 300.0], [-40.0, 0.0, 0.3, 3.0]
# name: log density by scipy, outcomes, linear predictors, auxiliary parameters
DENSITIES = {
    "logit": (bernoulli(LINKS.Logit()), [0.0, 1.0], np.linspace(-8, 8, 9), [()]),
    "probit": (bernoulli(LINKS.Probit()), [0.0, 1.0], np.linspace(-4, 4, 9), [()]),
    "cloglog": (bernoulli(LINKS.CLogLog()), [0.0, 1.0], np.linspace(-8, 2.5, 9), [()]),
    "loglog": (bernoulli(LINKS.LogLog()), [0.0, 1.0], np.linspace(-2.5, 8, 9), [()]),
    "cauchit": (bernoulli(LINKS.Cauchy()), [0.0, 1.0], np.linspace(-50, 50, 9), [()]),
    "poisson": (
        lambda y, eta: stats.poisson.logpmf(y, np.exp(eta)),
        COUNTED,
        np.linspace(-8, 7, 9),
        [()],
    ),
    "negativebinomial": (nbinom, COUNTED, np.linspace(-4, 6, 9), [(0.03,), (0.7,), (5.0,)]),
    "ols": (
        lambda y, eta, s: stats.norm.logpdf(y, eta, s),
        REAL,
        np.linspace(-8, 8, 9),
        [(0.2,), (3.0,)],
    ),
    "gaussianlog": (
        lambda y, eta, s: stats.norm.logpdf(y, np.exp(eta), s),
        REAL,
        np.linspace(-8, 3, 9),
        [(0.2,), (3.0,)],
    ),
    "gamma": (
        lambda y, eta, phi: stats.gamma.logpdf(y, 1 / phi, scale=phi * np.exp(eta)),
        POSITIVE,
        np.linspace(-4, 6, 9),
        [(0.02,), (0.7,), (9.0,)],
    ),
    "inversegaussian": (invgauss, POSITIVE, np.linspace(-3, 6, 9), [(0.05,), (0.7,), (9.0,)]),
    "beta": (beta, SHARES, np.linspace(-6, 6, 9), [(0.05,), (0.7,), (30.0,), (1000.0,)]),
    "rlm": (
        lambda y, eta, s: stats.t.logpdf(y, 4, eta, s),
        REAL,
        np.linspace(-8, 8, 9),
        [(0.2,), (3.0,)],
    ),
    "rlm(df=None)": (
        lambda y, eta, s, df: stats.t.logpdf(y, df, eta, s),
        REAL,
        np.linspace(-8, 8, 9),
        [(0.2, 0.6), (3.0, 4.0), (1.0, 60.0), (1.0, 3000.0)],
    ),
}


def kind(family):
    """The class of a family; those with state are objects."""
    return family if isinstance(family, type) else type(family)


def row(name):
    """A family's row of the table; where there is none, outcomes of its kind and its own
    density.
    """
    if name in DENSITIES:
        return DENSITIES[name]
    family = FAMILIES[name]
    kinds = {Binary: [0.0, 1.0], Counts: COUNTED, Positive: POSITIVE, Family: REAL}
    kinds = {Proportions: SHARES, **kinds}
    outcomes = next(values for base, values in kinds.items() if issubclass(kind(family), base))
    parameters = (
        [(value,) * len(family.auxiliary) for value in (0.3, 2.0)] if family.auxiliary else [()]
    )

    def own_density(y, eta, *auxiliary):
        return family.log_density(y, eta, np.array(auxiliary) if auxiliary else None)

    return own_density, outcomes, np.linspace(-4, 4, 9), parameters


def cells(name):
    """(y, auxiliary parameters) of all combinations."""
    _, outcomes, _, parameters = row(name)
    return [(y, auxiliary) for y in outcomes for auxiliary in parameters]


def density(name, y, eta, auxiliary):
    """The family's log density at one outcome."""
    return FAMILIES[name].log_density(
        np.full(len(eta), y), eta, np.array(auxiliary) if auxiliary else None
    )


def kernel(name, y):
    """Its compiled model of one row, as a gradient."""
    model = FAMILIES[name].kernel(design(np.ones((1, 1))), np.array([y]), None, None)
    return Simple(model, Prior(model.dim), FullBatch(1), Rng(seed_sequence(0, "chain")))


def test_every_row_is_of_a_family():
    assert set(DENSITIES) <= set(FAMILIES)


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_are_scipys(name):
    scipys, _, eta, _ = DENSITIES[name]
    for y, auxiliary in cells(name):
        np.testing.assert_allclose(
            density(name, y, eta, auxiliary), scipys(y, eta, *auxiliary), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("name", FAMILIES)
def test_the_kernel_has_that_density_up_to_a_constant(name):
    """The same constant for all parameters."""
    _, outcomes, eta, parameters = row(name)
    for y in outcomes:
        gradient = kernel(name, y)
        found = np.array(
            [full(gradient, [e, *np.log(auxiliary)])[0] for auxiliary in parameters for e in eta]
        )
        expected = np.concatenate([density(name, y, eta, auxiliary) for auxiliary in parameters])
        np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_kernel_has_the_gradient_of_that_density(name):
    """By central differences in the linear predictor and the logs; 1e-6 of the larger of 1, the
    gradient and the density.
    """
    reference, _, eta, _ = row(name)
    for y, auxiliary in cells(name):
        gradient = kernel(name, y)
        for e in eta:
            at, found = (
                np.array([e, *np.log(auxiliary)]),
                full(gradient, [e, *np.log(auxiliary)])[1],
            )

            def log_density(point):
                return float(reference(np.array(y), point[0], *np.exp(point[1:])))

            expected = np.array(
                [
                    (log_density(at + step) - log_density(at - step)) / 2e-5
                    for step in 1e-5 * np.eye(len(at))
                ]
            )
            size = max(1.0, np.abs(expected).max(), abs(log_density(at)))
            np.testing.assert_allclose(found, expected, atol=1e-6 * size)


@pytest.mark.parametrize("eta", [-800.0, 800.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_extreme_predictors_have_finite_densities_gradients_and_means(name, eta):
    assert np.isfinite(FAMILIES[name].mean(np.array([eta]))).all()
    for y, auxiliary in cells(name):
        assert np.isfinite(density(name, y, np.array([eta]), auxiliary)).all()
        value, slope = full(kernel(name, y), [eta, *np.log(auxiliary)])
        assert np.isfinite(value) and np.isfinite(slope).all()


def moderate(name):
    """The family with moderate auxiliary parameters; t errors with 12 degrees of freedom."""
    family = RlmFamily(12.0) if name == "rlm" else FAMILIES[name]
    auxiliary = {"rlm(df=None)": (0.7, 12.0), "beta": (5.0,)}.get(
        name, (0.3,) * len(family.auxiliary)
    )
    return family, np.array(auxiliary)[:, None] if auxiliary else None


def outcomes_of(family):
    """Outcomes (n, 1) and what each counts in a sum over all of them, or in an integral: on a
    logarithmic scale of positive numbers, on that of sinh of real ones.
    """
    if issubclass(kind(family), (Binary, Counts)):
        y = np.arange(2.0 if issubclass(kind(family), Binary) else 2000.0)
        return y[:, None], np.ones(len(y))
    x = np.linspace(-30, 30, 60_001)
    if issubclass(kind(family), Proportions):  # on the logit's scale
        y = special.expit(x)
        return y[:, None], y * special.expit(-x) * (x[1] - x[0])
    y, slope = (np.exp(x),) * 2 if issubclass(kind(family), Positive) else (np.sinh(x), np.cosh(x))
    return y[:, None], slope * (x[1] - x[0])


@pytest.mark.parametrize("eta", [-1.0, 0.4])
@pytest.mark.parametrize("name", FAMILIES)
def test_densities_have_the_mean_and_variance_of_the_family(name, eta):
    """And are densities, with every constant: they sum up to one."""
    family, auxiliary = moderate(name)
    y, counts = outcomes_of(family)
    at = np.full((1, 1), eta)
    p = counts * np.exp(family.log_density(y, np.broadcast_to(at, y.shape), auxiliary))[:, 0]
    mean = family.mean(at).item()
    assert p.sum() == pytest.approx(1, rel=1e-9)
    assert p @ y[:, 0] == pytest.approx(mean, rel=1e-7)
    variance = np.broadcast_to(family.variance(at, auxiliary), at.shape).item()
    assert p @ (y[:, 0] - mean) ** 2 == pytest.approx(variance, rel=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_variances_are_those_of_simulated_outcomes(name):
    """100,000 outcomes: mean and sd to five standard errors, by the outcomes' fourth moment."""
    family, auxiliary = moderate(name)
    eta = np.full((100_000, 1), 0.4)
    y = family.simulate(eta, np.random.default_rng(3), auxiliary)
    mean = family.mean(eta)[0, 0]
    variance = np.broadcast_to(family.variance(eta, auxiliary), eta.shape)[0, 0]
    error = (y - mean) ** 2
    assert abs(y.mean() - mean) < 5 * np.sqrt(variance / len(y))
    assert abs(error.mean() - variance) < 5 * error.std() / np.sqrt(len(y))


@pytest.mark.parametrize(
    "name", [name for name, family in FAMILIES.items() if not family.auxiliary]
)
def test_deviances_are_of_the_density(name):
    """2 (log p(y; y) - log p(y; mean)): least, and 0, where the mean is the outcome; between means,
    minus twice the difference of log densities.
    """
    family, (_, outcomes, eta, _) = FAMILIES[name], row(name)
    eta = eta[np.abs(eta) < 6]
    for y in outcomes:
        found = family.deviance(y, family.mean(eta))
        expected = -2 * density(name, y, eta, ())
        np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-7, atol=1e-7)
        assert family.deviance(y, np.array([y]))[0] == pytest.approx(0, abs=1e-9)
        assert (found >= 0).all()


def test_student_t_errors_without_a_variance():
    family, extra = LearnedRlmFamily(), np.array([[1.0, 1.0, 2.0], [1.5, 2.0, 4.0]])
    np.testing.assert_array_equal(
        family.variance(np.zeros((2, 3)), extra), [[np.inf, np.inf, 8.0]] * 2
    )
    assert np.isinf(RlmFamily(1.0).variance(np.zeros((2, 3)), extra[:1])).all()
