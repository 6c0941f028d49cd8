"""Observed information is minus the derivative of the slopes, by differences, at outcomes that do
not lie on their means.
"""

import numpy as np
import pytest

from sgmc.core.designs.design import design
from sgmc.core.expansion import expand, of_rows
from sgmc.models.regression.families.beta import BetaLogit
from sgmc.models.regression.families.cauchit import BernoulliCauchit
from sgmc.models.regression.families.cloglog import BernoulliCloglog, BernoulliLoglog
from sgmc.models.regression.families.gamma import GammaLog
from sgmc.models.regression.families.inversegaussian import InverseGaussianLog
from sgmc.models.regression.families.logit import BernoulliLogit
from sgmc.models.regression.families.negativebinomial import NegativeBinomialLog
from sgmc.models.regression.families.ols import GaussianIdentity, GaussianLogLink
from sgmc.models.regression.families.poisson import PoissonLog
from sgmc.models.regression.families.probit import BernoulliProbit
from sgmc.models.regression.families.rlm import StudentT, StudentTLearned

ROWS = 12
SIGNS, SHARES = np.arange(ROWS) % 3 == 0, np.linspace(0.02, 0.97, ROWS)
# kernel: outcomes, number of auxiliary parameters
CASES = {
    BernoulliLogit: (SIGNS, 0),
    BernoulliProbit: (SIGNS, 0),
    BernoulliCauchit: (SIGNS, 0),
    BernoulliCloglog: (SIGNS, 0),
    BernoulliLoglog: (SIGNS, 0),
    PoissonLog: (np.arange(ROWS), 0),
    NegativeBinomialLog: (np.arange(ROWS), 1),
    GaussianIdentity: (3 * SHARES - 1, 1),
    GaussianLogLink: (3 * SHARES - 1, 1),
    GammaLog: (4 * SHARES, 1),
    InverseGaussianLog: (4 * SHARES, 1),
    BetaLogit: (SHARES, 1),
    StudentT: (9 * SHARES - 4, 1),
    StudentTLearned: (9 * SHARES - 4, 2),
}


@pytest.mark.parametrize("kernel", CASES, ids=lambda one: one.__name__)
def test_it_is_the_slope_of_slopes(kernel):
    y, auxiliary = CASES[kernel]
    rng = np.random.default_rng(8)
    X = np.column_stack([np.ones(ROWS), rng.normal(size=ROWS)])
    model = kernel(design(X), np.asarray(y, dtype=float))
    for _ in range(3):
        theta = np.append(rng.normal(size=2) / 2, rng.normal(0.3, 0.4, auxiliary))
        steps = 1e-5 * np.eye(len(theta))
        wanted = [
            (of_rows(model, theta - one)[1] - of_rows(model, theta + one)[1]) / 2e-5
            for one in steps
        ]
        found = expand(model, theta)[2]
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * np.abs(found).max())
