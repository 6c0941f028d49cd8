"""Sandwiches beside group terms, whose scores are those of groups."""

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels import api as sm

import sgmc
from sgmc.errors import ArgumentError, ClusterCountWarning, NotSupported

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
GROUPS, EACH = 80, 6
LAPLACE = dict(sampler="laplace", seed=1, draws=2000)


@pytest.fixture(scope="module")
def frame():
    """Rows whose variance grows with x, within groups and between."""
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(GROUPS), EACH)
    x = rng.normal(size=len(g)) + rng.normal(size=GROUPS)[g]
    effect = rng.normal(size=GROUPS)[g] * (1 + 0.8 * np.abs(x))
    y = 0.5 * x + effect + rng.normal(size=len(g)) * (0.5 + np.abs(x))
    return dict(x=x, g=g, y=y, pair=g // 2, cut=np.arange(len(g)) % 7)


def log_likelihoods(frame, theta):
    """Of each group: normal outcomes with covariance sd^2 11' + sigma^2 I."""
    intercept, x, log_sd, log_sigma = theta
    covariance = np.exp(2 * log_sd) + np.exp(2 * log_sigma) * np.eye(EACH)
    away = (frame["y"] - intercept - x * frame["x"]).reshape(GROUPS, EACH)
    return stats.multivariate_normal(np.zeros(EACH), covariance).logpdf(away)


def by_hand(frame):
    """Sds of intercept and slope by J^-1 V J^-1 of the log likelihoods' derivatives; without
    priors, whose share is less than 1 % with 80 groups.
    """
    start = [frame["y"].mean(), 0.5, 0.5, 0.5]
    place = optimize.minimize(lambda at: -log_likelihoods(frame, at).sum(), start).x

    def scores(at):
        steps = 1e-4 * np.eye(4)
        ups, downs = (
            [log_likelihoods(frame, at + sign * one) for one in steps] for sign in (1, -1)
        )
        return (np.array(ups) - np.array(downs)).T / 2e-4

    one = scores(place)
    ends = [scores(place + sign * 1e-3 * one).sum(axis=0) for one in np.eye(4) for sign in (-1, 1)]
    J = np.subtract(ends[::2], ends[1::2]) / 2e-3
    J = 0.5 * (J + J.T)
    half = np.linalg.solve(J, one.T)
    return np.sqrt(np.diag(half @ half.T))[:2]


def test_scores_of_groups_give_the_sandwich(frame):
    results = sgmc.ols("y ~ x + (1 | g)", frame, cov_type="robust", **LAPLACE)
    sds = results.bse[["Intercept", "x"]]
    # sds of 8,000 independent draws are right within 1 / sqrt(16,000) = .8 %, and priors 1 %
    assert np.abs(sds / by_hand(frame) - 1).max() < 0.035
    model = np.sqrt(np.diag(results.cov_params(cov_type="nonrobust")))[1]
    assert sds["x"] > 1.4 * model  # what a fit without the sandwich says


def test_the_slopes_sds_are_nearly_those_of_estimating_equations(frame):
    exog, groups = sm.add_constant(frame["x"]), frame["g"]
    working = sm.cov_struct.Exchangeable()
    other = sm.GEE(frame["y"], exog, groups=groups, cov_struct=working).fit()
    ours = sgmc.ols("y ~ x + (1 | g)", frame, cov_type="robust", **LAPLACE)
    # their weights are moments', ours the likelihood's: 2 % apart here
    assert np.abs(ours.bse.iloc[:2].to_numpy() / other.bse - 1).max() < 0.05


def test_clusters_of_whole_groups_have_their_factor(frame):
    """G / (G - 1) (n - 1) / (n - d) of rows, not of groups: clusters that are the groups."""
    how = dict(sampler="laplace", seed=1, draws=200)
    robust = sgmc.ols("y ~ x + (1 | g)", frame, cov_type="robust", **how)
    cluster = sgmc.ols("y ~ x + (1 | g)", frame, cov_type="cluster", groups="g", **how)
    n = GROUPS * EACH
    factor = np.sqrt(GROUPS / (GROUPS - 1) * (n - 1) / (n - 2))
    # V has the prior's share beside it, which is not multiplied: less than .1 %
    assert np.abs(cluster.bse / robust.bse / factor - 1)[:2].max() < 2e-3
    wider = sgmc.ols("y ~ x + (1 | g)", frame, cov_type="cluster", groups="pair", **how)
    assert wider.bse["Intercept"] > 1.1 * cluster.bse["Intercept"]  # pairs are alike by chance


@pytest.mark.extended
@pytest.mark.parametrize("formula", ["k ~ x + (1 | g)", "k ~ x + (x | g)", "k ~ x + (1 | pair/g)"])
def test_a_right_model_has_the_posteriors_sds(frame, formula):
    rng = np.random.default_rng(3)
    slope, effect, of_pair = rng.normal(size=(3, GROUPS))
    slope *= "(x" in formula
    eta = (
        (0.5 + slope[frame["g"]]) * frame["x"] + 2 * effect[frame["g"]] + 2 * of_pair[frame["pair"]]
    )
    data = frame | {"k": (eta + rng.logistic(size=len(eta)) > 0) * 1}
    robust = sgmc.logit(formula, data, cov_type="robust", **LAPLACE)
    model = np.sqrt(np.diag(robust.cov_params(cov_type="nonrobust")))
    # V of 80 groups has relative errors of about sqrt(2 / 80) = .16, its root half of that
    assert np.abs(robust.bse["x"] / model[1] - 1) < 0.25


def test_what_has_no_sandwich_is_refused(frame):
    for how, said in (
        (dict(cov_type="HC3"), "leverages"),
        (dict(cov_type="cluster", groups="cut"), "several clusters"),
    ):
        with pytest.raises((ArgumentError, NotSupported), match=said):
            sgmc.ols("y ~ x + (1 | g)", frame, **how)
    with pytest.raises(NotSupported, match="may be zero"):
        flat = frame | {"y": np.random.default_rng(1).normal(size=len(frame["g"]))}
        sgmc.ols("y ~ x + (1 | g)", flat, cov_type="robust")
    with pytest.raises(NotSupported, match="all rows depend on each other"):
        sgmc.ols("y ~ x + (1 | g) + (1 | cut)", frame, cov_type="robust")
    with pytest.raises(NotSupported, match="sums over rows, and that of an sd"):
        sgmc.ols("y ~ s(x)", frame, cov_type="robust")


@pytest.mark.filterwarnings("default::sgmc.errors.SGMCWarning")
def test_few_groups_are_warned_of(frame):
    few = {name: one[: 12 * EACH] for name, one in frame.items()}
    with pytest.warns(ClusterCountWarning, match="12 clusters"):
        sgmc.ols("y ~ x + (1 | g)", few, cov_type="robust", **LAPLACE)
