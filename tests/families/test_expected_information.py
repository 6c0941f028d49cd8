"""Expected information, which searches and metrics use, is the mean of the observed one over
outcomes of the law.
"""

import numpy as np
import pytest
from scipy import stats

from sgmc.core.designs.design import design
from sgmc.core.expansion import expand
from sgmc.models.regression.families.beta import BetaLogit
from sgmc.models.regression.families.gamma import GammaLog
from sgmc.models.regression.families.inversegaussian import InverseGaussianLog
from sgmc.models.regression.families.ols import GaussianIdentity, GaussianLogLink
from sgmc.models.regression.families.rlm import StudentT, StudentTLearned

ROWS, ETA = 100_000, 0.4
MEAN = np.exp(ETA)
SHARE = 1 / (1 + np.exp(-ETA))
# kernel, further arguments, auxiliary parameters, law of the outcomes
CASES = {
    "normal": (GaussianIdentity, {}, [0.7], lambda s: stats.norm(ETA, s)),
    "normal, log link": (GaussianLogLink, {}, [0.7], lambda s: stats.norm(MEAN, s)),
    "gamma": (GammaLog, {}, [0.5], lambda phi: stats.gamma(1 / phi, scale=MEAN * phi)),
    "inverse gaussian": (
        InverseGaussianLog,
        {},
        [0.5],
        lambda phi: stats.invgauss(MEAN * phi, scale=1 / phi),
    ),
    "t": (StudentT, {"df": 4.0}, [0.7], lambda s: stats.t(4, ETA, s)),
    "t, df learned": (StudentTLearned, {}, [0.7, 5.0], lambda s, df: stats.t(df, ETA, s)),
    "beta": (BetaLogit, {}, [6.0], lambda phi: stats.beta(SHARE * phi, (1 - SHARE) * phi)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_mean_of_the_observed_one(name):
    """To 3 % of its diagonal, five errors of 100,000 rows or more."""
    kernel, how, auxiliary, law = CASES[name]
    y = law(*auxiliary).rvs(ROWS, random_state=np.random.default_rng(5))
    theta = np.append(ETA, np.log(auxiliary))
    model = kernel(design(np.ones((ROWS, 1))), y, **how)
    observed = expand(model, theta)[2] / ROWS
    expected = expand(model, theta, expected=True)[2] / ROWS
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(observed / scale, expected / scale, atol=0.03)
