"""Quantile maps reach as far as priors do: posteriors of coefficients that no outcome bounds,
against quadrature.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.shapes.separation_transform import GRID, Outcomes, SeparatedDensity
from sgmc.models.regression.families.logit import LogitFamily

PROBABILITIES = (0.5, 0.9, 0.975, 0.995, 0.999)


def lopsided():
    """A rare value that goes with one outcome alone."""
    rng = np.random.default_rng(0)
    g = (rng.uniform(size=1000) < 0.03) * 1.0
    return pd.DataFrame({"y": np.where(g == 1, 1, rng.integers(0, 2, 1000)), "g": g})


def log_prior(spec, x):
    """Log density of a prior, up to a constant, by its own formula."""
    e = (x - spec.location) / spec.scale
    if spec.family == "student_t":
        return stats.t.logpdf(e, spec.df)
    return -np.abs(e) if spec.family == "laplace" else -0.5 * e**2


def quadrature(df, priors, shift):
    """Values and distribution function of the slope: sums over the intercept, nodes of the slope
    ever farther apart out to 1e9.
    """
    ones, zeros = (df[df.g == value].y for value in (1.0, 0.0))
    slope = np.sinh(np.linspace(-3, np.arcsinh(1e9), 20_001))[None]
    free = np.log(zeros.mean() / (1 - zeros.mean())) + np.linspace(-1, 1, 401)[:, None]
    log = zeros.sum() * free - len(zeros) * np.logaddexp(0, free)
    log = log - len(ones) * np.logaddexp(0, -free - slope)
    log = log + log_prior(priors[0], free + shift * slope) + log_prior(priors[1], slope)
    mass = np.exp(log - log.max()).sum(axis=0) * np.gradient(slope[0])
    return slope[0], np.cumsum(mass) / mass.sum()


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "prior", ["cauchy", sgmc.student_t(3), sgmc.student_t(4), sgmc.laplace(2.5), sgmc.normal(0, 2)]
)
def test_quantiles_to_three_in_a_thousand_are_those_of_quadrature(prior):
    """40,000 draws: the distribution function at a quantile with probability p beyond it is known
    to sqrt(p / n_eff), 0.0002 at 0.001; five such errors.  A map that ends at 12 prior scales has
    no draws beyond those.
    """
    df = lopsided()
    results = sgmc.logit("y ~ g", df, prior=prior, sampler="mala", draws=10_000, seed=1)
    value, below = quadrature(df, results.priors.used, df.g.mean())
    slope = results.draws[..., 1]
    size = float(results.ess("tail").iloc[1])
    for p in PROBABILITIES:
        share = (slope <= np.interp(p, below, value)).mean()
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / size)


@pytest.mark.parametrize("df", [0.5, 1.0, 3.0, 30.0])
def test_the_map_of_a_t_prior_far_out_is_its_quantiles(df):
    """Beyond the wall the density is the prior's own: t(x) of Phi(x) = 1 - p is the prior's upper
    quantile of p times the mass beyond the wall, to 1 % (the wall rounds the mass itself).
    """
    prior = sgmc.student_t(df, 0, 2.0)
    wall = -40.0  # everything but a far tail of the prior is beyond it
    at, log_slope, _ = SeparatedDensity(prior, 30, 0, wall, Outcomes(LogitFamily, 1)).quantiles()
    mass = stats.t.sf(wall / 2.0, df)
    for x in (3.0, 5.0, 7.0):
        expected = 2.0 * stats.t.isf(stats.norm.sf(x) * mass, df)
        assert np.interp(x, GRID, at) == pytest.approx(expected, rel=0.01)
    slope = np.gradient(at, GRID)[5:-5]
    np.testing.assert_allclose(np.exp(log_slope[5:-5]), slope, rtol=0.02)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_horseshoe_without_slab_reaches_its_tails():
    """A horseshoe's tail falls as t^-2: some of 4,000 draws lie beyond a hundred scales; a map that
    ends before them mixes at a fiftieth of the draws.
    """
    prior = sgmc.horseshoe(1.0, slab=np.inf)
    results = sgmc.logit("y ~ g", lopsided(), prior=prior, seed=1)
    assert results.ess().min() > 500 and results.rhat().max() < 1.02


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_tails_of_powers_are_sampled_exactly():
    results = sgmc.logit("y ~ g", lopsided(), prior=sgmc.student_t(3), seed=1, draws=200)
    assert results.sampler.exact and "tails of a t prior" in " ".join(
        str(results.summary(details=True)).split()
    )
