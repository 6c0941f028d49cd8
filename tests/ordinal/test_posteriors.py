"""Posteriors of ordinal regression: on data against importance sampling, of many rows against
statsmodels and R.
"""

import numpy as np
import pytest
from statsmodels.miscmodels.ordinal_model import OrderedModel

import sgmc

from ..importance import apart
from .cases import CASES, fitted, housing, large, reference

# R 4, MASS: f <- polr(Sat ~ Infl + Type + Cont, data = housing, weights = 50 * Freq,
#   method = "cloglog", Hess = TRUE, control = list(reltol = 1e-14, maxit = 1000))
#   coef(summary(f))[, 1:2]
POLR = {
    "Infl[T.Medium]": (0.38204696150, 0.009936239886),
    "Infl[T.High]": (0.91537475402, 0.013090019192),
    "Type[T.Apartment]": (-0.40719704913, 0.012172289576),
    "Type[T.Atrium]": (-0.28052765837, 0.015718880337),
    "Type[T.Terrace]": (-0.74245480133, 0.014330288820),
    "Cont[T.High]": (0.20922536573, 0.009207318856),
    "Low|Medium": (-0.79620819922, 0.012678323662),
    "Medium|High": (0.05537582618, 0.012105173211),
}


@pytest.mark.extended
@pytest.mark.parametrize("name", CASES)
def test_posteriors_are_right_at_default_settings(name):
    """0.1 sd and 5 % are promised; the reference has more than 8,000 effective draws, so that its
    own errors are below 0.03 sd and 2 %.
    """
    mean, sd, size = reference(name)
    assert size > 8_000
    off, wide = apart(fitted(name), mean, sd)
    assert off < 0.1 and wide < 0.05
    assert str(fitted(name).verdict).startswith("trustworthy")


@pytest.mark.extended
def test_a_dropped_jacobian_is_seen():
    """Of the rare level of the small table, whose gap then is drawn to zero."""
    mean, sd, _ = reference("small", jacobian=False)
    off, wide = apart(fitted("small"), mean, sd)
    assert off > 0.1 or wide > 0.05


@pytest.mark.extended
@pytest.mark.parametrize("name", CASES)
def test_a_threshold_off_by_one_is_seen(name):
    mean, sd, _ = reference(name)
    slopes = sum("|" not in one for one in fitted(name).names)
    moved = np.append(mean[:slopes], np.roll(mean[slopes:], 1))
    assert apart(fitted(name), moved, sd)[0] > 0.5


@pytest.mark.extended
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_many_rows_agree_with_statsmodels(link):
    """8,000 rows: the prior and skewness matter less than 0.02 sd; 4,000 draws have errors of
    0.02 sd and 1.2 %; means are asked for to 0.08 sd, which is 0.1 % of most estimates, sds to
    4 %, three errors.  Of thresholds statsmodels reports log gaps, whose estimates are compared.
    """
    frame = large(link)
    theirs = OrderedModel(frame.y, frame[["x", "z"]], distr=link).fit(method="bfgs", disp=0)
    results = sgmc.ordinal("y ~ x + z", frame, link=link, seed=1, draws=1000)
    cuts = theirs.model.transform_threshold_params(theirs.params.to_numpy())[1:-1]
    estimate = np.append(theirs.params[["x", "z"]], cuts)
    off = np.abs(results.params.to_numpy() - estimate) / results.bse.to_numpy()
    assert off.max() < 0.08
    np.testing.assert_allclose(results.params, estimate, rtol=0.02, atol=0.002)
    sds = results.bse[["x", "z", "a|b"]].to_numpy()
    np.testing.assert_allclose(sds, theirs.bse.to_numpy()[:3], rtol=0.04)
    means, exact = results.predict(frame[:5]), theirs.predict(frame[["x", "z"]][:5])
    np.testing.assert_allclose(means, exact, atol=0.002)


def test_weights_and_a_factor_agree_with_polr():
    """84,050 frequency-weighted outcomes: errors are those of the draws, see above."""
    frame = housing()
    results = sgmc.ordinal(
        "Sat ~ Infl + Type + Cont", frame.assign(w=50 * frame.Freq), weights="w", link="cloglog",
        seed=1,
    )  # fmt: skip
    assert results.names == list(POLR)
    estimates, sds = np.array(list(POLR.values())).T
    off, wide = apart(results, estimates, sds)
    assert off < 0.08 and wide < 0.04
    # predict(f, housing[1, ], type = "probs")
    np.testing.assert_allclose(
        results.predict(frame[:1])[["Low", "Medium", "High"]].to_numpy()[0],
        [0.3630320663, 0.2894495681, 0.3475183655],
        atol=1e-3,
    )


def test_another_link_is_not_that_of_polr():
    frame = housing()
    logit = sgmc.ordinal(
        "Sat ~ Infl + Type + Cont", frame.assign(w=50 * frame.Freq), weights="w", seed=1
    )
    estimates, sds = np.array(list(POLR.values())).T
    assert apart(logit, estimates, sds)[0] > 1
