"""Independent draws of priors with learned scales, and outcomes by them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.regression.latent.shrunk import prior_draws

COUNT = 100_000
# right draws are below it once in 1e5 seeds, and those with scales x sqrt 2 always
LEAST_P = 1e-5
PRIORS = {
    "ridge": ("OLS", "y", sgmc.ridge(df=3, scale=2.0)),
    "horseshoe": ("Logit", "b", sgmc.horseshoe(learned=True, scale=0.1, slab=1.5)),
    "r2d2": ("OLS", "y", sgmc.r2d2(0.5, 1.0)),
}


def table():
    rng = np.random.default_rng(3)
    d = pd.DataFrame(rng.normal([3.0, 0.0], [2.0, 0.5], size=(200, 2)), columns=["x", "z"])
    return d.assign(y=4 * d.x + rng.normal(size=200), b=(d.z > rng.normal(size=200)).astype(int))


def by_hand(kind, d, rng):
    """The global parameter and the slope of x, for r2d2 in units of sigma, by the definitions in
    the docstrings of the priors.
    """
    unit, noise = 1 / d.x.std(), rng.normal(size=COUNT)
    if kind == "ridge":
        top = 2.0 * np.abs(rng.standard_t(3, COUNT))
        return top, d.y.std() * unit * top * noise
    if kind == "horseshoe":
        top = 0.1 * np.abs(rng.standard_cauchy(COUNT))
        wide = top * np.abs(rng.standard_cauchy(COUNT))
        return top, unit * noise / np.sqrt(1 / wide**2 + 1 / 1.5**2)
    top = 1 / rng.gamma((1 - 0.5) * 1.0, size=COUNT)
    return top, unit * np.sqrt(top * rng.gamma(0.5 * 1.0 / 2, size=COUNT)) * noise


def agreement(kind):
    """The smaller of the p values of the global parameter and of a slope."""
    name, outcome, prior = PRIORS[kind]
    d = table()
    model = getattr(sgmc, name).from_formula(f"{outcome} ~ x + z", d)
    found = model.prior_draws(prior, draws=COUNT, seed=1)
    top, slope = by_hand(kind, d, np.random.default_rng(7))
    ours = found.x / found.sigma if kind == "r2d2" else found.x
    shared = found[next(one for one in found if "(" in one)]
    return min(stats.ks_2samp(shared, top).pvalue, stats.ks_2samp(ours, slope).pvalue)


@pytest.mark.parametrize("kind", PRIORS)
def test_draws_are_those_of_the_definitions(kind):
    assert agreement(kind) > LEAST_P


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.mistake("prior draws under {name}, scales x sqrt 2")
def test_other_scales_are_seen(name, monkeypatch):
    sds = prior_draws.sds_of
    monkeypatch.setattr(prior_draws, "sds_of", lambda *given: np.sqrt(2) * sds(*given))
    assert agreement(name) < LEAST_P


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
@pytest.mark.parametrize("kind", PRIORS)
def test_names_are_those_of_a_fit(kind):
    name, outcome, prior = PRIORS[kind]
    model = getattr(sgmc, name).from_formula(f"{outcome} ~ x + z", table())
    found = model.prior_draws(prior, draws=2, seed=1)
    assert list(found) == list(model.fit(prior=prior, seed=1, draws=50).names)


def test_outcomes_have_the_spread_of_the_draws():
    d = table()
    model = sgmc.OLS.from_formula("y ~ x + z", d)
    drawn = model.prior_draws(sgmc.ridge(), draws=2000, seed=4)
    outcomes = model.prior_predict(sgmc.ridge(), draws=2000, seed=4)
    mean = drawn[["Intercept", "x", "z"]].to_numpy() @ np.array([1.0, d.x[0], d.z[0]])
    residual = (outcomes[:, 0] - mean) / drawn.sigma
    assert stats.kstest(residual, "norm").pvalue > LEAST_P


def test_what_has_no_draws_is_refused():
    model = sgmc.Logit.from_formula("b ~ x + z", table())
    with pytest.raises(ArgumentError, match=r"'tau\(horseshoe\)'.*from the outcomes: give scale="):
        model.prior_draws(sgmc.horseshoe(learned=True))
    with pytest.raises(NotSupported, match=r"take prior_draws\(\) of the model"):
        model.fit(prior=sgmc.ridge(), prior_only=True)
