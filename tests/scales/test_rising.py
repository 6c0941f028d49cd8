"""Monotonic effects, and priors with ends, beside priors with learned scales."""

import json
import pickle
from functools import cache

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.core.expansion import of_prior, of_rows
from sgmc.errors import NotSupported
from sgmc.fit.settings import check_settings

from .beside import LEVELS, SLAB, TAU
from .differences import assert_map_and_gradient
from .rising import HELD, KINDS, NAMES, VERBS, log_density, table, unit_of

PRIORS = {
    "ridge": sgmc.ridge(),
    "horseshoe": sgmc.horseshoe(scale=TAU, slab=SLAB, learned=True),
    "r2d2": sgmc.r2d2(),
}
GLOBAL = {"ridge": "sd(ridge)", "horseshoe": "tau(horseshoe)", "r2d2": "tau2(r2d2)"}
TERMS = {"": "", ", groups": " + (1 | g)"}
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def problem_of(verb, kind, terms, prior=None):
    """The posterior of a model."""
    settings = check_settings(seed=1)
    model = sgmc.OLS if verb == "ols" else sgmc.Logit
    model = model.from_formula(f"{VERBS[verb]} ~ mo(x) + z + w{terms}", table())
    prior = PRIORS[kind] if prior is None else prior
    return model.suited(prior, settings).problem(prior, settings)


def apart(verb, kind, terms, **planted):
    """Largest difference of log densities at points but for a constant, relative to their size."""
    problem = problem_of(verb, kind, terms)
    order, codes, scale = problem.table.order, [], np.zeros(0)
    if terms:
        rows = problem.own.rows
        order, codes = rows.fixed.order, list(rows.codes.T)
        scale = np.asarray(rows.blocks.loading.scale)
    order = np.arange(len(table())) if order is None else order
    random, found = np.random.default_rng(1), []
    for _ in range(5):
        theta = problem.coordinates.map(random.normal(size=problem.dim))
        ours = of_rows(problem.model, theta)[0] + of_prior(problem.prior, theta)[0]
        if not terms:  # a ridge is sampled in axes of its own
            theta[:6] = problem.coordinates.back @ theta[:6]
            theta[0] += problem.table.mean[1:] @ theta[1:6]
        found.append(ours - log_density(kind, verb, order, codes, theta, scale, **planted))
    return np.ptp(found) / abs(ours)


@pytest.mark.parametrize("terms", TERMS.values())
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", KINDS)
def test_densities_are_those_of_numpy(verb, kind, terms):
    assert apart(verb, kind, terms) < 1e-10
    assert apart(verb, kind, terms, pole=2) > 1e-4  # the Jacobian counted twice


@pytest.mark.parametrize("terms", TERMS.values())
@pytest.mark.parametrize(
    "prior",
    [
        *PRIORS.values(),
        {"z": sgmc.ridge(), "w": sgmc.uniform(-0.2, 0.4), "sigma": sgmc.uniform(0.5, 2)},
    ],
)
def test_gradients_and_jacobians_are_those_of_differences(prior, terms):
    assert_map_and_gradient(problem_of("ols", None, terms, prior))


@cache
def fitted(verb, kind, terms, draws=4000):
    """A fit with so many draws of each of four chains."""
    call = sgmc.ols if verb == "ols" else sgmc.logit
    formula = f"{VERBS[verb]} ~ mo(x) + z + w{terms}"
    return call(formula, table(), prior=PRIORS[kind], seed=1, draws=draws)


def off(results, held):
    """Largest difference of a mean, in sds, and of an sd, relative."""
    mean, sd = np.array(held["mean"]), np.array(held["sd"])
    means = (results.params[NAMES] - mean) / sd
    return np.abs(means).max(), np.abs(results.bse[NAMES] / sd - 1).max()


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_are_those_of_hmc_in_numpy(verb, kind, terms):
    """The numpy chains have effective sizes of tens of thousands, the draws here of a thousand and
    more: errors of means are .03 sd, of sds 2 %, of a share of one half .016.
    """
    held = json.loads(HELD.read_text())[f"{verb}, {kind}{terms}"]
    results = fitted(verb, kind, TERMS[terms])
    means, sds = off(results, held)
    assert means < 0.1 and sds < 0.05
    draws = results.draws[..., results.names.index(GLOBAL[kind])]
    shares = np.array([np.mean(draws <= one) for one in held["quantiles"]])
    assert np.abs(shares - LEVELS).max() < 0.04
    rising = results.flat[:, [results.names.index(one) for one in NAMES[:3]]]
    assert ((rising >= 0).all(axis=1) | (rising <= 0).all(axis=1)).all()


def test_another_prior_of_the_sum_is_seen():
    held = json.loads(HELD.read_text())["ols, ridge, another prior"]
    means, sds = off(fitted("ols", "ridge", ""), held)
    assert means > 0.1 or sds > 0.05


def test_ends_beside_learned_scales_are_those_of_numpy():
    """A coefficient between ends beside a ridge's: of draws without ends those between them are
    left, some thousands of 16,000, with errors of means of .02 sd.
    """
    formula, how = "y ~ z + g + w", dict(seed=1, draws=4000, sigma=1.0)
    low, high = 0.02, 0.1
    wide = {"w": sgmc.normal(0, 0.3), ("z", "g"): sgmc.ridge()}
    cut = {**wide, "w": sgmc.truncated(sgmc.normal(0, 0.3), low=low, high=high)}
    free, ended = (sgmc.ols(formula, table(), prior=prior, **how) for prior in (wide, cut))
    kept = free.flat[(free.flat[:, 3] > low) & (free.flat[:, 3] < high)]
    assert 2000 < len(kept) < 12_000
    mean, sd = kept.mean(axis=0), kept.std(axis=0)
    assert np.abs((ended.params.to_numpy() - mean) / sd)[:4].max() < 0.1
    assert np.abs(ended.bse.to_numpy() / sd - 1)[:4].max() < 0.05
    w = ended.flat[:, 3]
    assert (w > low).all() and (w < high).all()
    assert np.abs((free.params.to_numpy() - mean) / sd)[3] > 0.1


def test_prior_draws_have_both():
    model = sgmc.OLS.from_formula("y ~ mo(x) + z + w", table())
    drawn = model.prior_draws(prior=PRIORS["ridge"], draws=4000, seed=1)
    rising = drawn[NAMES[:3]].to_numpy()
    assert ((rising >= 0).all(axis=1) | (rising <= 0).all(axis=1)).all()
    total = stats.norm(0, 2.5 * unit_of("ols")).cdf(rising.sum(axis=1))
    assert stats.kstest(total, "uniform").pvalue > 0.01


def test_results_files_and_more_draws(tmp_path):
    results = sgmc.ols("y ~ mo(x) + z + w", table(), prior=sgmc.ridge(), seed=1, draws=100)
    assert "monotonic" in str(results.prior_summary()) and "sd(ridge)" in str(results.summary())
    assert np.isfinite(results.loo().elpd)
    results.save(tmp_path / "one.sgmc")
    loaded = sgmc.load(tmp_path / "one.sgmc", trust_formulas=True)
    assert np.array_equal(loaded.draws, results.draws)
    again = pickle.loads(pickle.dumps(results))
    assert np.array_equal(again.predict(table().head()), results.predict(table().head()))
    assert results.resume(draws=20).draws.shape[1] == 120


@pytest.mark.parametrize("terms", TERMS.values())
def test_a_time_limit_leaves_draws(terms):
    how = dict(prior=sgmc.horseshoe(learned=True), time_limit=1e-3, seed=1)
    assert np.isfinite(sgmc.logit(f"k ~ mo(x) + z + w{terms}", table(), **how).draws).all()


@pytest.mark.parametrize("terms", TERMS.values())
def test_what_does_not_go_with_ends_is_refused_here_too(terms):
    with pytest.raises(NotSupported, match="has one sign"):
        sgmc.logit(f"k ~ mo(x) + z{terms}", table(), prior=sgmc.ridge(), sampler="bps")
