"""Samplers that compute many densities by one pass over the rows: `imh`, and walkers of `mala` and
`hmc`; against quadrature, and like any other fit.
"""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported, ProposalWarning, SGMCWarning
from sgmc.results.checks.weights import pareto_k

from .contracts.cases import families
from .contracts.montecarlo import LIMIT, standard_errors

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

SAMPLERS = {
    "imh": sgmc.IMH(),
    "imh plain": sgmc.IMH(skew=False),
    "mala": sgmc.MALA(walkers=16),
    "hmc": sgmc.HMC(walkers=16),
}
ROWS, PRIOR_SD = 30, 1.5
GRID = np.linspace(-6, 6, 401)  # of each coefficient; its steps are a tenth of the least sd


def data(family, n=ROWS, seed=3):
    """Two predictors, and outcomes that go with them."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    eta = 0.7 * a - 0.4 * b
    y = {
        "logit": lambda: rng.random(n) < 1 / (1 + np.exp(-eta)),
        "probit": lambda: rng.random(n) < 1 / (1 + np.exp(-eta)),
        "poisson": lambda: rng.poisson(np.exp(eta)),
        "cloglog": lambda: rng.random(n) < 1 - np.exp(-np.exp(eta)),
    }[family]()
    return {"a": a, "b": b, "y": y.astype(float)}


def quadrature(family, table, prior_sd=PRIOR_SD):
    """Means, and central moments of order 2 and 3, of both coefficients: exact to 1e-6."""
    a, b = np.meshgrid(GRID, GRID, indexing="ij")
    value = np.zeros_like(a)
    for u, v, y in zip(table["a"], table["b"], table["y"]):
        value += families()[family].log_density(y, u * a + v * b)
    if prior_sd:
        value -= (a**2 + b**2) / (2 * prior_sd**2)
    p = np.exp(value - value.max())
    p /= p.sum()
    means = [(p * c).sum() for c in (a, b)]
    return np.array(
        [means, *([(p * (c - m) ** k).sum() for c, m in zip((a, b), means)] for k in (2, 3))]
    )


def errors(draws, expected):
    """Departures of the draws' moments from the expected ones, in Monte Carlo errors."""
    e = draws.reshape(-1, 2) - expected[0]
    samples = np.hstack([e, e**2, e**3])
    return standard_errors(samples, np.concatenate([0 * expected[0], *expected[1:]])).max()


def fitted(family, sampler, **options):
    """A fit of that family's data."""
    options = {"draws": 5000, "seed": 1, "prior": sgmc.normal(0, PRIOR_SD), **options}
    return getattr(sgmc, family)("y ~ 0 + a + b", data(family), sampler=sampler, **options)


@pytest.mark.cover(1)
@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("family", ["logit", "probit", "poisson", "cloglog"])
def test_moments_are_those_of_quadrature(family, name):
    """Of a skewed posterior; batches of 400 draws are long beside the correlation."""
    draws = fitted(family, SAMPLERS[name]).draws
    assert errors(draws, quadrature(family, data(family))) < LIMIT


@pytest.mark.cover(0)
@pytest.mark.mistake("prior dropped")
@pytest.mark.parametrize("name", SAMPLERS)
def test_quadrature_without_the_prior_is_told_apart(name):
    draws = fitted("logit", SAMPLERS[name]).draws
    assert errors(draws, quadrature("logit", data("logit"), prior_sd=None)) > LIMIT


@pytest.mark.mistake("Laplace approximation itself")
@pytest.mark.parametrize("name", ["laplace"])
def test_proposals_without_acceptance_are_told_apart(name):
    draws = fitted("logit", name).draws
    assert errors(draws, quadrature("logit", data("logit"))) > LIMIT


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_normal_posterior_is_known(name):
    """Linear regression with a known sigma: the posterior is normal, and imh accepts everything."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 30))
    y = X @ rng.normal(size=30) + rng.normal(size=400)
    results = sgmc.OLS(y, X, sigma=1.0).fit(
        sampler=SAMPLERS[name], seed=1, draws=2000, prior=sgmc.normal(0, 2)
    )
    covariance = np.linalg.inv(X.T @ X + np.eye(30) / 4)
    z = (results.draws.reshape(-1, 30) - covariance @ X.T @ y) / np.sqrt(np.diag(covariance))
    assert standard_errors(np.hstack([z, z**2]), np.r_[np.zeros(30), np.ones(30)]).max() < LIMIT
    if name.startswith("imh"):
        assert results.chain_diagnostics().acceptance.min() > 1 - 1e-6


# ---- like any other fit --------------------------------------------------------------------------


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_depend_neither_on_threads_nor_on_interruptions(name, tmp_path):
    whole = fitted("logit", SAMPLERS[name], draws=330, threads=1)
    assert np.array_equal(fitted("logit", SAMPLERS[name], draws=330, threads=3).draws, whole.draws)
    part = fitted("logit", SAMPLERS[name], draws=165)
    assert np.array_equal(part.resume(draws=165).draws, whole.draws)
    path = str(tmp_path / "run")
    fitted("logit", SAMPLERS[name], draws=165, checkpoint=path)
    again = fitted("logit", SAMPLERS[name], draws=330, checkpoint=path)
    assert np.array_equal(again.draws, whole.draws)


@pytest.mark.parametrize("name", ["mala", "hmc"])
def test_draws_are_those_of_one_walker_after_the_other(name):
    """The first draws of each walker are those of a run of fewer draws."""
    few, many = (fitted("logit", SAMPLERS[name], draws=n, chains=2).draws for n in (160, 320))
    for walker in range(16):
        assert np.array_equal(
            few[:, 10 * walker : 10 * walker + 10], many[:, 20 * walker : 20 * walker + 10]
        )


@pytest.mark.parametrize("name", ["mala", "hmc"])
def test_walkers_start_apart(name):
    draws = fitted("logit", SAMPLERS[name], draws=16, warmup=0, step_size=1e-6).draws
    assert len(np.unique(draws[..., 0].round(3))) > 30  # of 64 walkers


def test_facts_of_independent_proposals():
    """32 pairs of densities a block: all that were begun count as data passes."""
    results = fitted("logit", "imh", draws=500)
    found = results.chain_diagnostics()
    assert found.step_size.isna().all() and (found.steps == 600).all()
    assert (found.data_passes == 2 + 64 * np.ceil(600 / 32)).all()
    assert 0.5 < found.acceptance.min() < 1


# ---- refusals and warnings -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["imh", "mala", "hmc"])
def test_coordinates_that_are_not_whitened_are_refused(name):
    with pytest.raises(NotSupported, match="leave precondition='mode'"):
        fitted("logit", SAMPLERS[name], precondition="diag")


def test_a_step_does_not_apply_to_independent_proposals():
    with pytest.raises(ArgumentError, match="step_size does not apply to imh"):
        fitted("logit", "imh", step_size=0.1)


def test_weights_with_a_heavy_tail_are_warned_of():
    """A flat prior of few outcomes of a t distribution: tails fall as powers, and proposals as a
    normal density.
    """
    table = {"a": np.arange(5.0), "y": np.array([0.3, 0.8, 2.9, 2.7, 4.4])}
    with pytest.warns(SGMCWarning):
        results = sgmc.ols("y ~ a", table, prior="flat", sampler="imh", seed=1)
    found = [w for w in results.warnings if isinstance(w, ProposalWarning)]
    assert found and "Pareto k" in str(found[0])
    assert not results.verdict.trustworthy


@pytest.mark.parametrize("k", [0.3, 0.9])
def test_pareto_k_is_that_of_the_weights(k):
    """Its error is about (1 + k) / sqrt(3 sqrt(20,000)) = 0.08, of the fit alone 0.05."""
    weights = np.random.default_rng(1).pareto(1 / k, 20_000) + 1
    assert pareto_k(np.log(weights)) == pytest.approx(k, abs=0.15)
