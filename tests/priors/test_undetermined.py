"""Directions that the data do not determine: fitted under a proper prior, and named once."""

import numpy as np
import pandas as pd
import patsy
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import ConditionWarning, DataError

N, SIGMA = 400, 2.0


def crossed(levels, seed=1):
    """Two factors; rows lack the cells (c0, w), of the reference, and (c1, w)."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "city": [f"c{i}" for i in random.integers(0, levels, N)],
            "plan": random.choice(list("uvw"), N),
            "x": random.normal(size=N),
        }
    )
    frame.loc[:, "v"] = 5 + frame.x + SIGMA * random.normal(size=N)
    frame["y"] = (random.random(N) < 0.5).astype(int)
    gone = frame.city.isin(["c0", "c1"]) & (frame.plan == "w")
    return frame[~gone].reset_index(drop=True)


def posterior(X, y, scale):
    """Mean and sd of normal outcomes of known sigma; the intercept's prior at centred columns."""
    centred = X - np.where(np.arange(X.shape[1]) == 0, 0.0, X.mean(axis=0))
    location = np.zeros(X.shape[1])
    location[0] = y.mean()
    P = np.diag(scale**-2.0)
    S = np.linalg.inv(centred.T @ centred / SIGMA**2 + P)
    m = S @ (centred.T @ y / SIGMA**2 + P @ location)
    return m[1:], np.sqrt(np.diag(S))[1:]


@pytest.mark.parametrize("levels", [5, 20])
def test_empty_cells_have_the_prior_and_their_names(levels):
    """Dense, and with factors as codes.  Draws of an exact Gaussian: 0.1 sd and 8 % are five
    Monte Carlo errors of 4,000.
    """
    frame = crossed(levels)
    words = r"no row has city\[c0\]:plan\[w\], city\[c1\]:plan\[w\]\. The posterior"
    with pytest.warns(ConditionWarning, match=words) as caught:
        found = sgmc.ols("v ~ city * plan", frame, sigma=SIGMA, sampler="laplace", seed=1)
    assert len(caught) == 1
    design = np.asarray(patsy.dmatrix("city * plan", frame))
    mean, sd = posterior(
        design, frame.v.to_numpy(), np.full(design.shape[1], 2.5 * frame.v.std(ddof=0))
    )
    assert (np.abs(found.params[1:] - mean) < 0.1 * sd).all()
    assert (np.abs(found.bse[1:] / sd - 1) < 0.08).all()
    assert found.bse["city[T.c1]:plan[T.w]"] == pytest.approx(2.5 * frame.v.std(ddof=0), rel=0.08)


@pytest.mark.parametrize(
    "extra",
    {
        "twice": lambda f: f.x,
        "nearly twice": lambda f: f.x + 1e-8 * np.random.default_rng(2).normal(size=len(f)),
        "zero": lambda f: 0 * f.x,
        "constant": lambda f: 0 * f.x + 7,
    }.items(),
    ids=lambda pair: pair[0],
)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_other_columns_are_fitted_too(extra, kind):
    frame = crossed(5)
    X = np.column_stack([np.ones(len(frame)), frame.x, extra[1](frame)])
    model = sgmc.OLS(frame.v.to_numpy(), kind(X), names=["const", "x", "z"], sigma=SIGMA)
    with pytest.warns(ConditionWarning, match="the data do not determine") as caught:
        found = model.fit(sampler="laplace", seed=1)
    assert len(caught) == 1
    unit = 2.5 * frame.v.std(ddof=0)
    sds = X.std(axis=0, ddof=1)
    scale = np.array([unit, unit / sds[1], unit / (sds[2] if sds[2] > 1e-6 else 1.0)])
    mean, sd = posterior(X, frame.v.to_numpy(), scale)
    assert (np.abs(found.params[1:] - mean) < 0.1 * sd).all()
    assert (np.abs(found.bse[1:] / sd - 1) < 0.08).all()


def test_all_levels_beside_all_levels():
    frame = pd.get_dummies(crossed(5), columns=["plan"], dtype=int)
    with pytest.warns(ConditionWarning, match="1 combination of .*plan_u"):
        sgmc.logit("y ~ 0 + city + plan_u + plan_v + plan_w", frame, sampler="laplace", seed=1)


def test_flat_priors_are_improper_there():
    with pytest.raises(DataError, match="improper"):
        sgmc.ols("v ~ city * plan", crossed(5), prior="flat", seed=1)


@pytest.mark.parametrize("sd", [0.02, 1e-6])
def test_tight_priors_are_not_collinear(sd):
    """Warnings are errors here.  20 rows tell of x ten times less than a prior of sd .02."""
    frame = crossed(5)[:20]
    prior = {"x": sgmc.normal(0, sd), "Intercept": sgmc.normal(0, sd)}
    found = sgmc.logit("y ~ x", frame, prior=prior, sampler="laplace", seed=1)
    assert found.bse["x"] == pytest.approx(sd, rel=0.1)


def test_a_tight_prior_of_columns_twice_is():
    frame = crossed(5)
    with pytest.warns(ConditionWarning, match="collinear"):
        sgmc.logit("y ~ x + I(2 * x)", frame, prior=sgmc.normal(0, 0.02), sampler="laplace", seed=1)
