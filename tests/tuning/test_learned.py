"""Races of samplers of posteriors whose priors have scales that are learned."""

import numpy as np
import pandas as pd
import pytest

import sgmc

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def table():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4))
    eta = X @ [0.8, -0.5, 0.0, 0.2]
    d = pd.DataFrame(X, columns=list("abcd"))
    return d.assign(y=(rng.random(300) < 1 / (1 + np.exp(-eta))).astype(int), z=eta)


def test_the_posterior_is_the_one_without_a_race():
    """Means within .12 sd, of 1,500 effective draws each, and the learned scale is among them."""
    how = dict(prior=sgmc.ridge(df=3), seed=1, draws=1500)
    plain = sgmc.logit("y ~ a + b + c + d", table(), **how)
    raced = sgmc.logit("y ~ a + b + c + d", table(), tune="default", **how)
    assert raced.tuning is not None and list(raced.names) == list(plain.names)
    assert "sd(ridge)" in raced.names
    assert (np.abs(raced.params - plain.params) < 0.12 * plain.bse).all()


@pytest.mark.parametrize("how", [{"tune": "default"}, {"tune": "mamba", "sampler": "lmsgld"}])
def test_arms_beside_crossed_factors_are_scored_whole(how):
    """Means within .15 sd, of some 500 effective draws each."""
    rng = np.random.default_rng(5)
    d = table().assign(g=rng.integers(0, 8, 300), h=rng.integers(0, 6, 300))
    formula, usual = "y ~ a + b + (1 | g) + (1 | h)", dict(seed=1, draws=1000)
    plain, raced = sgmc.logit(formula, d, **usual), sgmc.logit(formula, d, **usual, **how)
    assert raced.tuning.best["step_size"] is not None
    assert (np.abs(raced.params - plain.params)[:3] < 0.15 * plain.bse[:3]).all()


def test_draws_by_turns_have_no_step_to_tune():
    model = sgmc.OLS.from_formula("z ~ a + b + c + d", table().assign(z=lambda d: d.z + d.y))
    with pytest.raises(sgmc.errors.ArgumentError, match="'gibbs' has no step to tune"):
        model.fit(tune="default", prior=sgmc.horseshoe(learned=True), seed=1)
