"""cov_type="robust" of ordered outcomes, whose thresholds are sums of what is sampled as logs."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.miscmodels.ordinal_model import OrderedModel

import sgmc

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(scope="module")
def frame():
    """Outcomes whose scale grows with |x|."""
    rng = np.random.default_rng(0)
    x, z, e = rng.normal(size=800), rng.normal(size=800), rng.logistic(size=800)
    return pd.DataFrame(
        dict(x=x, z=z, y=np.digitize(0.8 * x - 0.5 * z + e * (0.4 + np.abs(x)), [-1, 0.5, 1.5]))
    )


def test_sds_are_those_of_scores_and_hessian(frame):
    """Theirs are of the first threshold and of logs of the gaps."""
    other = OrderedModel(frame.y, frame[["x", "z"]], distr="logit")
    at = other.fit(disp=0, method="bfgs").params
    scores, inverse = np.asarray(other.score_obs(at)), np.linalg.inv(-other.hessian(at))
    gaps = np.exp(np.asarray(at[3:]))
    slopes = np.eye(5)
    slopes[3, 2:4] = 1, gaps[0]
    slopes[4, 2:5] = 1, *gaps
    sandwich, model = (
        slopes @ inverse @ middle @ inverse @ slopes.T
        for middle in (scores.T @ scores, np.linalg.inv(inverse))
    )
    how = dict(cov_type="robust", sampler="laplace", prior=sgmc.normal(0, 10), seed=1, draws=2000)
    results = sgmc.ordinal("y ~ x + z", frame, **how)
    # 8,000 independent draws: .8 %; priors and the curvature of the exponential: below 1 %
    assert np.abs(results.bse / np.sqrt(np.diag(sandwich)) - 1).max() < 0.03
    ours = results.cov_params(cov_type="nonrobust").to_numpy()
    assert np.abs(np.sqrt(np.diag(ours) / np.diag(model)) - 1).max() < 0.01
    assert results.bse["x"] > 1.15 * np.sqrt(model[0, 0])
