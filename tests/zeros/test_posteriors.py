"""Posteriors of zero-inflated and hurdle counts: on data against importance sampling, of many rows
against statsmodels.
"""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.discrete import count_model
from statsmodels.discrete.truncated_model import HurdleCountModel

import sgmc

from ..importance import apart
from .cases import CASES, fitted, reference, simulated

MODELS = {
    "poisson": count_model.ZeroInflatedPoisson,
    "negativebinomial": count_model.ZeroInflatedNegativeBinomialP,
}


@pytest.mark.extended
@pytest.mark.parametrize("name", CASES)
def test_posteriors_are_right_at_default_settings(name):
    """0.1 sd and 5 % are promised; the reference has more than 30,000 effective draws, so that its
    own errors are below 0.01 sd and 1 %.
    """
    mean, sd, size = reference(name)
    assert size > 30_000
    off, wide = apart(fitted(name), mean, sd)
    assert off < 0.1 and wide < 0.05
    assert fitted(name).verdict.trustworthy


@pytest.mark.extended
def test_a_dropped_jacobian_is_seen():
    """Of log alpha, in the table where alpha is least certain."""
    mean, sd, _ = reference("zinb", jacobian=False)
    off, wide = apart(fitted("zinb"), mean, sd)
    assert off > 0.1 or wide > 0.05


@pytest.mark.extended
@pytest.mark.parametrize("name", ["zip", "hurdle"])
def test_another_model_is_seen(name):
    """Planted: the reference of the other verb."""
    mean, sd, _ = reference({"zip": "hurdle", "hurdle": "zip"}[name])
    assert apart(fitted(name), mean, sd)[0] > 0.5


@pytest.mark.extended
@pytest.mark.parametrize("dist", MODELS)
def test_many_rows_agree_with_statsmodels(dist):
    """20,000 rows: 4,000 draws have errors of 0.02 sd and 1.2 %; the prior and skewness matter
    less than 0.04 sd, but for alpha, whose posterior is skewed: 0.08 sd.
    """
    frame = simulated("zeroinflated", dist, n=20_000)
    results = sgmc.zeroinflated("y ~ g + x | z", frame, dist=dist, exposure="e", seed=1)
    X = np.column_stack([np.ones(len(frame)), frame.g == "v", frame.x])
    model = MODELS[dist](frame.y, X, exog_infl=sm.add_constant(frame.z), exposure=frame.e)
    start = results.params.to_numpy()[[3, 4, 0, 1, 2, *range(5, len(results.names))]]
    theirs = model.fit(start_params=start, method="bfgs", maxiter=500, disp=0)
    order = [2, 3, 4, 0, 1, *range(5, len(results.names))]
    estimate, sds = np.asarray(theirs.params)[order], np.asarray(theirs.bse)[order]
    off, wide = apart(results, estimate, sds)
    assert off < 0.12 and wide < 0.04
    np.testing.assert_allclose(results.params, estimate, rtol=0.02, atol=0.003)
    new = slice(0, 5)
    zero = theirs.predict(
        X[new], exog_infl=sm.add_constant(frame.z)[new], exposure=frame.e[new], which="prob-zero"
    )
    ours = results.zero_probability(frame[new], exposure=frame.e[new])
    np.testing.assert_allclose(ours, zero, atol=0.004)


@pytest.mark.extended
@pytest.mark.parametrize("dist", MODELS)
def test_hurdles_of_many_rows_agree_with_statsmodels(dist):
    """Its hurdle has other zeros: of the count part, which does not depend on these, and the zero
    part against a logit of its own.
    """
    frame = simulated("hurdle", dist, n=20_000)
    results = sgmc.hurdle("y ~ g + x | z", frame, dist=dist, seed=1)
    X = np.column_stack([np.ones(len(frame)), frame.g == "v", frame.x])
    short = {"poisson": "poisson", "negativebinomial": "negbin"}[dist]
    theirs = HurdleCountModel(frame.y, X, dist=short, zerodist="poisson").fit(disp=0)
    k, more = X.shape[1], dist != "poisson"
    count = np.asarray(theirs.params)[k:], np.asarray(theirs.bse)[k:]
    logit = sm.Logit(frame.y == 0, sm.add_constant(frame.z)).fit(disp=0)
    mean = np.concatenate([count[0][:3], logit.params, count[0][3:]])
    sd = np.concatenate([count[1][:3], logit.bse, count[1][3:]])
    assert len(mean) == 5 + more
    off, wide = apart(results, mean, sd)
    assert off < 0.12 and wide < 0.05
