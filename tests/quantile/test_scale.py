"""Posterior sds of quantiles of normal outcomes are their standard errors in large samples,
sqrt(tau (1 - tau) / n) / f, f being the density at the quantile (Koenker 2005, theorem 4.1).
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc

ROWS = 4000


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tau", [0.25, 0.5, 0.9])
def test_sds_are_standard_errors(tau, weighted):
    """Within 12 %, for the estimate of the density; frequencies count as rows."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"y": 2 * rng.normal(size=ROWS), "w": 4.0})
    how = {"weights": "w"} if weighted else {}
    found = sgmc.quantreg("y ~ 1", frame, tau=tau, sampler="laplace", seed=1, **how)
    place = stats.norm.ppf(tau)
    n = ROWS * (4 if weighted else 1)
    wanted = np.sqrt(tau * (1 - tau) / n) / (stats.norm.pdf(place) / 2)
    assert found.bse.iloc[0] == pytest.approx(wanted, rel=0.12)
    assert found.params.iloc[0] == pytest.approx(2 * place, abs=4 * wanted * (2 if weighted else 1))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_frequencies_are_rows_written_out():
    """Also in the bandwidth, but for how quartiles of weighted residuals are interpolated."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"y": rng.gamma(2.0, size=60), "x": rng.normal(size=60)})
    frame["w"] = rng.integers(1, 40, 60)
    long = frame.loc[frame.index.repeat(frame.w)].reset_index(drop=True)
    how = dict(tau=0.4, sampler="laplace", seed=1)
    one = sgmc.quantreg("y ~ x", frame, weights="w", **how)
    other = sgmc.quantreg("y ~ x", long, **how)
    bandwidths = [fit._fit.problem.model.bandwidth for fit in (one, other)]
    assert bandwidths[0] == pytest.approx(bandwidths[1], rel=0.04)
    np.testing.assert_allclose(one.params, other.params, atol=0.05 * other.bse.max())
    np.testing.assert_allclose(one.bse, other.bse, rtol=0.03)
