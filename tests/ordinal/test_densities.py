"""Densities of ordinal regression: the compiled model and the family's own against differences of
distribution functions, in more digits where these cancel.
"""

import numpy as np
import pytest
from _ext.probes import Probe, block
from scipy import stats

from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.models.regression.bases.predictors.cumulative import Cumulative
from sgmc.models.regression.families.ordinal import OrdinalFamily
from sgmc.subsampling.uniform import FullBatch

LINKS = ["logit", "probit", "cloglog"]
FUNCTIONS = {
    "logit": stats.logistic.cdf,
    "probit": stats.norm.cdf,
    "cloglog": lambda z: -np.expm1(-np.exp(z)),
}
GAPS = np.array([0.3, 1.7])  # of four levels


def family(link, levels=4):
    """With its levels known."""
    shares = np.full(levels, 1 / levels)
    return OrdinalFamily(link, tuple("abcdefgh"[:levels]), shares, ["Intercept"], 0)


def gradient(link, y, levels=4):
    """The compiled log density of one outcome at (eta, logs of gaps)."""
    model = family(link, levels).kernel(design(np.ones((1, 1))), np.array([float(y)]))
    return Simple(model, Prior(model.dim), FullBatch(1), Rng(seed_sequence(0, "chain")))


def eta_of(one, eta, extra):
    """What the family's functions take, of one row and as many draws as there are gaps."""
    return one.predictors(np.ones((1, 1)), np.full((extra.shape[1], 1), eta), np.zeros(1), extra)


def density(link, y, eta, gaps):
    """The family's own, at one linear predictor."""
    one, extra = family(link, len(gaps) + 2), np.array(gaps)[:, None]
    return one.log_density(np.array([[y]]), eta_of(one, eta, extra), extra)[0, 0]


@pytest.mark.parametrize("y", range(4))
@pytest.mark.parametrize("link", LINKS)
def test_densities_are_differences_of_distribution_functions(link, y):
    """To 1e-10; the direct difference has an error of 1e-16 over the probability, above 1e-5."""
    F, cuts = FUNCTIONS[link], np.array([-np.inf, 0.0, *np.cumsum(GAPS), np.inf])
    compiled = gradient(link, y)
    for eta in np.linspace(-3, 2.2, 14):
        p = F(cuts[y + 1] - eta) - F(cuts[y] - eta)
        if p > 1e-5:
            assert density(link, y, eta, GAPS) == pytest.approx(np.log(p), rel=1e-10, abs=1e-10)
            value = full(compiled, [eta, *np.log(GAPS)])[0]
            assert value == pytest.approx(np.log(p), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("link", LINKS)
def test_a_threshold_off_by_one_is_seen(link):
    F, cuts = FUNCTIONS[link], np.array([-np.inf, 0.0, *np.cumsum(GAPS), np.inf])
    wrong = np.log(F(cuts[2] - 0.2) - F(cuts[1] - 0.2))
    assert abs(full(gradient(link, 2), [0.2, *np.log(GAPS)])[0] - wrong) > 0.1


LOG_DENSITIES = {  # and their slopes
    "logit": (lambda z: -z - 2 * np.logaddexp(0, -z), lambda z: -np.tanh(z / 2)),
    "probit": (stats.norm.logpdf, lambda z: -z),
    "cloglog": (lambda z: z - np.exp(z), lambda z: 1 - np.exp(z)),
}


def by_quadrature(link, eta, gap, panels=3000):
    """log P(-eta < error < gap - eta) and its slopes by eta and log gap, by Gauss and Legendre's
    rule on panels: nothing cancels.
    """
    x, w = np.polynomial.legendre.leggauss(8)
    panels = 1 if gap < 1e-2 else panels
    ends = np.linspace(-eta, gap - eta, panels + 1)
    half = gap / panels / 2
    z = (ends[:-1, None] + half * (x + 1)).ravel()
    of, slope = LOG_DENSITIES[link]
    logs = of(z) + np.log(np.tile(w, panels) * half)
    value = np.logaddexp.reduce(logs)
    return value, -np.exp(logs - value) @ slope(z), gap * np.exp(of(gap - eta) - value)


@pytest.mark.parametrize("gap", [1e-12, 1e-6, 3e-3, 9e-3, 0.02, 0.5, 8.0, 60.0])
@pytest.mark.parametrize("link", LINKS)
def test_narrow_levels_and_tails_keep_their_digits(link, gap):
    """The value to 1e-10 and its slopes to 1e-9, of probabilities down to 1e-200."""
    compiled = gradient(link, 1, 3)
    for eta in (-25.0, -3.0, -0.4, 0.0, 1.1, 6.0, 20.0):
        if link == "cloglog" and eta < -6:  # the probability is below 1e-100
            continue
        expected, *slopes = by_quadrature(link, eta, gap)
        value, found = full(compiled, [eta, np.log(gap)])
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert density(link, 1, eta, [gap]) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(found, slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_nothing_overflows(link):
    extreme = [(eta, u) for eta in (-1e6, -800.0, 800.0, 1e6) for u in (-900.0, 0.0, 900.0)]
    for y in range(3):
        for eta, u in extreme:
            value, slope = full(gradient(link, y, 3), [eta, u])
            assert not np.isnan(value) and np.isfinite(slope).all()
    one = family(link)
    for eta in (-800.0, 800.0):
        mean = one.mean(eta_of(one, eta, GAPS[:, None]))
        assert np.isfinite(mean).all() and mean.sum() == pytest.approx(1)


@pytest.mark.parametrize("link", LINKS)
def test_simulated_outcomes_have_the_probabilities(link):
    """20,000 outcomes: four errors of 0.0035."""
    one, extra = family(link), np.tile(GAPS[:, None], 20_000)
    Z = eta_of(one, 0.4, extra)
    share = np.bincount(one.simulate(Z, np.random.default_rng(1), extra)[0].astype(int)) / 20_000
    F, cuts = FUNCTIONS[link], np.array([-np.inf, 0.0, *np.cumsum(GAPS), np.inf])
    np.testing.assert_allclose(share, np.diff(F(cuts - 0.4)), atol=0.014)
    np.testing.assert_allclose(one.mean(Z)[:, 0, 0], np.diff(F(cuts - 0.4)), rtol=1e-12)


def informations(link, levels=4):
    """Observed and expected curvatures at some places, of a row for each level, and the levels'
    probabilities: (place, level, .., ..), (place, level).
    """
    one, u = family(link, levels), np.linspace(-0.5, 0.8, levels - 2)
    model = one.kernel(design(np.ones((levels, 1))), np.arange(float(levels)))
    found = []
    for eta in (-1.5, 0.2, 1.3):
        probe, at = Probe(model), [eta, *u]
        both = [probe.curvatures(at, block(0, levels), expected=e) for e in (False, True)]
        Z = eta_of(one, eta, np.exp(u)[:, None])
        found.append((*both, one.mean(Z)[:, 0, 0]))
    return [np.array(part) for part in zip(*found)]


@pytest.mark.parametrize("link", LINKS)
def test_informations_are_expected_curvatures(link):
    observed, expected, p = informations(link)
    np.testing.assert_allclose(
        np.einsum("ik,ikab->iab", p, observed.reshape(3, 4, 3, 3)),
        expected.reshape(3, 4, 3, 3)[:, 0],
        atol=1e-12,
    )


@pytest.mark.parametrize("levels", [2, 3, 7])
@pytest.mark.parametrize("link", LINKS)
def test_curvatures_are_minus_derivatives_of_scores(link, levels):
    """By differences, whose error is 1e-8."""
    rng = np.random.default_rng(2)
    model = family(link, levels).kernel(
        design(rng.normal(size=(40, 2))), rng.integers(0, levels, 40).astype(float)
    ) if levels > 2 else Cumulative(
        design(rng.normal(size=(40, 2))), rng.integers(0, 2, 40).astype(float), levels=2, link=link
    )  # fmt: skip
    at, probe, rows = rng.normal(size=model.dim) / 2, Probe(model), block(0, 40)
    steps = 1e-5 * np.eye(model.dim)
    slopes = [(probe.value(at + e, rows) - probe.value(at - e, rows)) / 2e-5 for e in steps]
    np.testing.assert_allclose(probe.gradient(at, rows), slopes, rtol=1e-6, atol=1e-6)
    bent = [(probe.gradient(at + e, rows) - probe.gradient(at - e, rows)) / 2e-5 for e in steps]
    np.testing.assert_allclose(probe.hessian(at, rows), -np.array(bent), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_two_levels_are_binary(link):
    """P(y = 1) of the highest level: eta of logit and probit, -eta of cloglog's failure."""
    eta = np.linspace(-2, 2, 5)
    for y in (0.0, 1.0):
        model = Cumulative(design(eta[:, None]), np.full(5, y), levels=2, link=link)
        p = FUNCTIONS[link](-eta)
        expected = np.log(p if y == 0 else 1 - p).sum()
        assert Probe(model).value(np.ones(1), block(0, 5)) == pytest.approx(expected, rel=1e-12)
