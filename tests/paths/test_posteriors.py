"""Samplers in continuous time have the posterior of mala."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import SGMCWarning

from .cases import FRAME, N, fit, reference

# ---- the posterior -------------------------------------------------------------------------------

CASES = {
    "plain": {},
    "raw": dict(precondition=None),
    "diagonal": dict(precondition="diag"),
    "float32": dict(dtype="float32"),
    "weights and offset": dict(weights="w", offset="off"),
    "laplace": dict(prior="laplace"),
    "cauchy": dict(prior="cauchy"),
    "flat": dict(prior="flat"),
    "by name": dict(prior={"a": sgmc.normal(0, 0.3), "Intercept": sgmc.student_t(4, 0, 1)}),
    "probit": dict(verb=sgmc.probit),
    "cauchit": dict(verb=sgmc.cauchit),
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["zigzag", "bps", "zzcv"])
def test_posteriors_agree_with_mala(name, case):
    """Path means in Monte Carlo errors of both, and sds within 15 %:
    200 draws in each of 4 chains know an sd to 3 %.
    """
    right, found = reference(**CASES[case]), fit(name, **CASES[case])
    path = found.path_summary()
    error = np.sqrt(right.mcse() ** 2 + path.mcse**2)
    assert (np.abs(path["mean"] - right.params) < 5 * error).all()
    assert np.abs(path.sd / right.bse - 1).max() < 0.15
    assert np.abs(found.bse / right.bse - 1).max() < 0.15


@pytest.mark.extended
@pytest.mark.parametrize("name", ["zzss", "lipsbps"])
def test_samplers_that_forget_slowly_agree_with_mala(name):
    right, path = reference(), fit(name).path_summary()
    assert (
        np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
    ).all()
    assert np.abs(path.sd / right.bse - 1).max() < 0.25


@pytest.mark.extended
@pytest.mark.parametrize("name", ["zigzag", "bps", "zzcv"])
def test_tables_of_other_kinds(name):
    """Sparse, read-only, and counts of successes in trials."""
    X = np.column_stack([np.ones(N), FRAME.a, FRAME.b])
    lent = X.copy()
    lent.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        for table, more in ((sparse.csr_array(X), {}), (lent, dict(subsample="uniform"))):
            right = sgmc.Logit(FRAME.y, table).fit(sampler="mala", draws=4000, seed=1)
            path = (
                sgmc.Logit(FRAME.y, table)
                .fit(sampler=name, draws=200, seed=1, **more)
                .path_summary()
            )
            assert (
                np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
            ).all()
    trials = FRAME.assign(
        failures=FRAME.w - np.minimum(FRAME.w, FRAME.y), y=np.minimum(FRAME.w, FRAME.y)
    )
    right, path = (
        fit(s, d, formula="y + failures ~ a", data=trials) for s, d in (("mala", 4000), (name, 200))
    )
    path = path.path_summary()
    assert (
        np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
    ).all()


def test_rows_with_large_bounds_more_often_need_fewer_events():
    """Predictors with heavy tails: the largest |z_ji| |z_j| counts no more,
    but about their mean.
    """
    frame = FRAME.assign(a=np.clip(np.random.default_rng(2).standard_cauchy(N), -20, 20))
    right, usual = reference(data=frame), fit("zzcv", data=frame)
    other = fit("zzcv", data=frame, subsample="preferential")
    for path in (usual.path_summary(), other.path_summary()):
        assert (
            np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
        ).all()
    cost = [r.chain_diagnostics().steps.sum() / r.path_summary().ess.min() for r in (usual, other)]
    assert cost[1] < 0.5 * cost[0]


def test_separated_outcomes_have_straight_lines_too():
    """Quantile maps bend lines: piecewise-deterministic samplers do without them."""
    frame = FRAME.assign(rare=np.arange(N) < 6, y=np.where(np.arange(N) < 6, 1, FRAME.y))
    right = reference(data=frame, formula="y ~ a + rare")
    found = fit("zigzag", 1000, data=frame, formula="y ~ a + rare")
    error = np.sqrt(right.mcse() ** 2 + found.path_summary().mcse ** 2)
    assert (np.abs(found.path_summary()["mean"] - right.params) < 5 * error).all()
