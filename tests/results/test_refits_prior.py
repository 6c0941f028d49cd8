"""Fits without some of the rows have the prior of the fit, its scales and centre included."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.models.regression.refits import Refitted
from sgmc.results.outcomes.criticism.loo import begun

SIGMA = 1.5
PRIOR = sgmc.normal(0, 0.2, autoscale=True)
FEW = {"sampler": "laplace", "draws": 4000, "prior": PRIOR}


def frame():
    """Fourteen rows, one of them far out and with more weight, so that sds without it, or without
    weights, are others.
    """
    random = np.random.default_rng(4)
    x = np.append(random.normal(size=13), 9.0)
    y = 20 + 2 * x + SIGMA * random.normal(size=14)
    return pd.DataFrame({"x": x, "y": y, "w": np.append(np.ones(13, dtype=int), 6)})


def exact(data, scaled="by all rows"):
    """log p(y_i | the others) of each row, sigma known: under the prior of all rows and their
    weights, or by mistake scaled "anew" for each of them, or "unweighted".
    """
    x, y, w, out = data.x.to_numpy(), data.y.to_numpy(), data.w.to_numpy(), np.empty(len(data))
    for i in range(len(data)):
        counts = w - (np.arange(len(data)) == i) * w
        of = {"by all rows": w, "anew": counts, "unweighted": np.ones(len(w), dtype=int)}[scaled]
        centre, location = np.average(x, weights=of), np.average(y, weights=of)
        unit = np.sqrt(np.cov(y, fweights=of, ddof=0))
        scale = unit * np.array([2.5, 0.2 / np.sqrt(np.cov(x, fweights=of))])
        X = np.column_stack([np.ones(len(x)), x - centre])
        P = np.diag(scale**-2.0)
        S = np.linalg.inv((X.T * counts) @ X / SIGMA**2 + P)
        m = S @ ((X.T * counts) @ y / SIGMA**2 + P @ [location, 0.0])
        sd = np.sqrt(SIGMA**2 + X[i] @ S @ X[i])
        out[i] = stats.norm.logpdf(y[i], X[i] @ m, sd)
    return out


@pytest.mark.extended
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("arrays", [False, True])
def test_leaving_out_each_row_is_exact(weights, arrays):
    """Tolerance .15: five Monte Carlo errors of the row far out, with 4,000 exact draws (.03);
    scaled anew, that row differs by more than .3.
    """
    data = frame()
    if weights is None:
        data["w"] = 1
    given = {} if weights is None else {"weights": data.w.to_numpy() if arrays else "w"}
    if arrays:
        X = np.column_stack([np.ones(len(data)), data.x])
        told = sgmc.OLS(data.y.to_numpy(), X, sigma=SIGMA, **given)
        found = told.fit(seed=1, **FEW)
    else:
        told = data
        found = sgmc.ols("y ~ x", data, sigma=SIGMA, seed=1, **given, **FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folds = found.kfold(told, len(data), seed=3)
    right = exact(data)
    np.testing.assert_allclose(folds.elpd_i, right, atol=0.15)
    assert folds.elpd == pytest.approx(data.w @ right, abs=0.3)
    for planted in ("anew", "unweighted") if weights else ("anew",):
        assert np.abs(exact(data, planted) - right).max() > 0.3, planted


def test_scales_of_products_have_the_weights_of_the_fit():
    """A slope within levels is scaled by the sd of all x, which no column of the design has."""
    data = frame().assign(g=["a", "b"] * 7)
    found = sgmc.ols("y ~ g:x", data, weights="w", sigma=SIGMA, seed=1, **FEW)
    again = Refitted(begun(found), data, {}).fit(data.w.to_numpy() * (np.arange(14) != 13))
    assert [one.scale for one in again.priors.used] == [one.scale for one in found.priors.used]
    sd = np.sqrt(np.cov(data.x, fweights=data.w))
    assert found.priors.used[1].scale * sd == pytest.approx(0.2 * data.y.repeat(data.w).std(ddof=0))


def test_rows_that_are_fitted_again_have_it_too():
    data = frame().assign(w=1)
    found = sgmc.ols("y ~ x", data, sigma=SIGMA, seed=1, **FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = found.loo()
        first.pareto_k[13] = np.inf
        again = found.reloo(first, data)
    assert again.elpd_i[13] == pytest.approx(exact(data)[13], abs=0.15)
