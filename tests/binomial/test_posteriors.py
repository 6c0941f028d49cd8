"""Posteriors of counts on real data, in every storage and by minibatches."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from _ext.probes import Probe, block
from scipy import sparse

import sgmc
from sgmc.coordinates.approximations.mode import PriorTerms, posterior_mode
from sgmc.coordinates.priors.prior_table import Scales, resolve
from sgmc.core.designs.design import design
from sgmc.models.regression.rows.data import RegressionData
from sgmc.models.regression.rows.prepare import DesignTable

from ..families.tables import FAMILIES
from .counts import BUDWORM, CASES, LINK, MOTHS, ROLE, at_mode, data, errors, fitted

# ---- posteriors ----------------------------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.parametrize("prior", ["default", "flat"])
@pytest.mark.parametrize("name", CASES)
def test_posteriors_on_real_data_are_right_at_default_settings(name, prior):
    """0.1 sd for means, 5 % for sds: what is promised.

    Moths under cauchit have long tails, of which the fit warns.
    """
    mean, sd = errors(fitted(name, prior), name, prior)
    assert mean < 0.1 and sd < 0.05


MISTAKES = {
    "trials left out": property(lambda table: table.weight),
    "failures instead of trials": property(lambda table: table.trials - table.y),
}


@pytest.mark.extended
@pytest.mark.parametrize("mistake", MISTAKES)
def test_planted_mistakes_in_the_weight_of_a_row_are_seen(mistake, monkeypatch):
    monkeypatch.setattr(DesignTable, "multiplicity", MISTAKES[mistake])
    mean, sd = errors(sgmc.logit(MOTHS, BUDWORM, seed=1), "budworm logit")
    assert mean > 0.5 or sd > 0.25


@pytest.mark.extended
def test_another_link_is_another_posterior():
    """Planted: the complementary log-log's reference, the fit of its mirror image."""
    wrong = sgmc.loglog(ROLE, data("womensrole"), seed=1)
    assert errors(wrong, "womensrole cloglog")[0] > 1


@pytest.mark.parametrize("trials", [1, 10])
def test_the_mode_is_found_where_the_log_likelihood_is_not_concave(trials):
    """Cauchit with large coefficients: Newton's method begins at zero,
    and rows far out bend the other way.
    """
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = np.column_stack([np.ones(20), random.normal(size=(20, 3)) * random.choice([1, 5], 3)])
        model = FAMILIES["cauchit"].kernel(
            design(X),
            random.binomial(trials, LINK["cauchit"].inverse(X @ random.normal(size=4) * 10))
            / trials,
            None,
            np.full(20, trials * 1.0),
        )
        data = RegressionData(np.zeros(20), list("abcd"), {}, 0, "y", X)
        terms = PriorTerms(
            resolve(None, data, FAMILIES["cauchit"], Scales(X.std(axis=0, ddof=1))),
            np.r_[0, X.mean(axis=0)[1:]],
        )
        mode, concerns = posterior_mode(model, terms, np.zeros(4))
        slope = Probe(model).gradient(mode.theta, block(0, 20)) + terms(mode.theta)[1]
        assert not concerns and np.linalg.eigvalsh(mode.precision).min() > 0
        assert np.sqrt(slope @ np.linalg.solve(mode.precision, slope)) < 1e-3


def test_many_rows_are_fitted_by_minibatches():
    random = np.random.default_rng(2)
    table = pd.DataFrame({"x": random.normal(size=30_000), "n": random.integers(0, 30, 30_000)})
    table["y"] = random.binomial(table.n, 1 / (1 + np.exp(1 - table.x)))
    found = sgmc.logit(
        "y + z ~ x", table.assign(z=table.n - table.y), seed=1, prior="flat", sampler="lmsgld"
    )
    tried = table[table.n > 0]
    expected = sm.GLM(
        np.column_stack([tried.y, tried.n - tried.y]),
        sm.add_constant(tried[["x"]]),
        family=sm.families.Binomial(),
    ).fit()
    assert np.abs((found.params.to_numpy() - expected.params) / expected.bse).max() < 0.1
    assert np.abs(found.bse.to_numpy() / expected.bse - 1).max() < 0.05


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.parametrize(
    "how",
    [
        dict(subsample="stratified", batch_size=64),
        dict(subsample="preferential"),
        dict(precondition=None),
        dict(dtype="float32"),
        dict(precondition="diag", subsample="uniform"),
    ],
    ids=str,
)
@pytest.mark.parametrize("storage", [np.ascontiguousarray, sparse.csr_array], ids=["dense", "csr"])
def test_every_way_to_the_rows_has_their_trials(storage, how):
    """Modes and curvatures are those of single outcomes; float32 rounds the design to 1e-7."""
    random = np.random.default_rng(4)
    X, n = np.column_stack([np.ones(400), random.normal(size=(400, 2))]), random.integers(0, 6, 400)
    y = random.binomial(n, 1 / (1 + np.exp(-X @ [0.3, 1, -1])))
    counted = sgmc.Probit(np.column_stack([y, n - y]), storage(X)).fit(
        seed=1, draws=50, prior="flat", **how
    )
    single = np.concatenate([np.r_[np.ones(a), np.zeros(b)] for a, b in zip(y, n - y)])
    expected = sm.Probit(single, np.repeat(X, n, axis=0)).fit(disp=0)
    mode, covariance = at_mode(counted)
    np.testing.assert_allclose(mode, expected.params, atol=1e-5)
    np.testing.assert_allclose(covariance, expected.cov_params(), rtol=1e-4, atol=1e-7)
