"""HC3 and the sandwich of clusters: R's sandwich package and statsmodels know them without us.

The matrix around which chains are built is compared to 1e-6, which is how far Newton's method goes
at the mode; covariances of 4,000 nearly independent draws to the 5 % of `cases`.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sgmc
from sgmc.coordinates.whitened import score_covariance
from sgmc.errors import (
    ArgumentError,
    ClusterCountWarning,
    DataError,
    NotSupported,
)
from sgmc.fit.settings import check_settings

from .cases import TOLERANCE, error

EXACT = 1e-6
X1 = [0.3, 1.1, 2.7, 4.2, 5.5, 7.9, 8.4, 9.6, 3.3, 6.1]
TEN = pd.DataFrame({"x1": X1, "y": [0, 2, 1, 3, 7, 5, 8, 12, 2, 9]})
TEN["rest"], TEN["b"] = 20 - TEN.y, [0, 1, 0, 0, 1, 1, 1, 1, 0, 0]
TEN["g"] = list("aabbccddee")
# vcovHC(fit, "HC3") of R's sandwich: variance of the intercept, covariance, variance of the slope
HC3 = {
    "poisson": ("y ~ x1", [0.145650232021203, -0.01560038153601103, 0.00189033098877443]),
    "counts": (
        "cbind(y, rest) ~ x1",
        [0.1912427651674885, -0.02378708530975636, 0.00400739225933043],
    ),
    "logit": ("b ~ x1", [6.656611014242376, -0.992269821311935, 0.163209142094747]),
}
# vcovCL(fit, g, type = "HC1") of the Poisson regression
CLUSTERS = [0.0862428421918943, -0.01023372779915989, 0.00134413570187329]


def target(verb, formula, frame, cov_type, **given):
    """The covariance that draws are to have, of the coefficients as they are reported."""
    kind = {"poisson": sgmc.Poisson, "counts": sgmc.Logit, "logit": sgmc.Logit, "ols": sgmc.OLS}
    model = kind[verb].from_formula(formula, frame, **given)
    where = model.problem("flat", check_settings(cov_type=cov_type, seed=1)).coordinates
    d = len(model.exog_names)
    return (where.white @ where.white.T)[:d, :d]


def ends(matrix):
    return matrix[[0, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize("verb", HC3)
def test_hc3_is_that_of_r(verb):
    formula, expected = HC3[verb]
    assert error(ends(target(verb, formula, TEN, "HC3")), expected) < EXACT
    assert error(ends(target(verb, formula, TEN, "robust")), expected) > 0.1  # leverages forgotten


def test_clusters_are_those_of_r():
    assert error(ends(target("poisson", "y ~ x1", TEN, "cluster", groups="g")), CLUSTERS) < EXACT


def villages(n=3000, count=50, seed=3):
    """Rows that share effects by village, and a predictor of villages."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, count, n)
    x1, x2 = rng.normal(size=count)[g], rng.normal(size=n)
    eta = 0.3 + 0.3 * x1 - 0.2 * x2 + 0.5 * rng.normal(size=count)[g]
    frame = pd.DataFrame({"x1": x1, "x2": x2, "g": [f"village {k}" for k in g], "k": g})
    frame["count"] = rng.poisson(np.exp(eta))
    frame["z"] = eta + rng.normal(size=n) * np.exp(0.3 * x2)
    frame["b"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    return frame


VILLAGES = villages()
CASES = {
    "poisson": ("count", sm.families.Poisson()),
    "logit": ("b", sm.families.Binomial()),
    "ols": ("z", sm.families.Gaussian()),
}


def statsmodels(verb, cov_type, **how):
    outcome, family = CASES[verb]
    design = sm.add_constant(VILLAGES[["x1", "x2"]])
    if verb == "ols":
        return sm.OLS(VILLAGES[outcome], design).fit(cov_type=cov_type, **how)
    return sm.GLM(VILLAGES[outcome], design, family=family).fit(cov_type=cov_type, **how)


def error_of_several_kinds(weighted, power=1.0):
    """How far HC3 of three kinds is from its definition: the sum of the products of what a step of
    Fisher scoring moves the estimate without a row, one of as many equal ones as its weight.
    """
    rng = np.random.default_rng(2)
    X = np.column_stack([np.ones(20), rng.standard_t(3, size=20)])
    w = rng.integers(1, 4, 20) if weighted else np.ones(20, dtype=int)
    frame = pd.DataFrame({"x": X[:, 1], "k": np.arange(20) % 3, "w": w})
    model = sgmc.MNLogit.from_formula("k ~ x", frame, weights="w" if weighted else None)
    where = model.problem("flat", check_settings(cov_type="HC3", seed=1)).coordinates
    fit = sm.MNLogit(np.repeat(frame.k.to_numpy(), w), np.repeat(X, w, axis=0)).fit(disp=0)
    p = np.exp(X @ fit.params)  # (column, equation)
    p /= 1 + p.sum(axis=1, keepdims=True)
    each = [np.kron(np.diag(one) - np.outer(one, one), np.outer(x, x)) for one, x in zip(p, X)]
    whole, moved = np.tensordot(w, each, 1), []
    for kind, count, one, x, information in zip(frame.k, w, p, X, each):
        score = np.kron((kind == np.arange(1, 3)) - one, x)
        moved.append(np.sqrt(count) * np.linalg.solve(whole - power * information, score))
    return error(where.white @ where.white.T, np.array(moved).T @ np.array(moved))


@pytest.mark.parametrize("weighted", [False, True])
def test_hc3_of_several_kinds_is_what_fits_without_a_row_move(weighted):
    assert error_of_several_kinds(weighted) < EXACT


@pytest.mark.parametrize("name, power", [("forgotten", 0.0), ("halved", 0.5)])
@pytest.mark.mistake("HC3 of several kinds, leverages {name}")
def test_other_leverages_of_several_kinds_are_seen(name, power):
    assert error_of_several_kinds(False, power) > 1e4 * EXACT


@pytest.mark.parametrize("verb", CASES)
def test_clusters_are_those_of_statsmodels(verb):
    expected = statsmodels(verb, "cluster", cov_kwds={"groups": VILLAGES.k}).cov_params()
    for groups in ("g", VILLAGES.k, VILLAGES.g.to_numpy()):
        found = target(verb, f"{CASES[verb][0]} ~ x1 + x2", VILLAGES, "cluster", groups=groups)
        assert error(found, expected) < EXACT


def test_hc3_is_that_of_statsmodels_ols():
    """(statsmodels' GLM gives HC0 by that name.)"""
    assert (
        error(target("ols", "z ~ x1 + x2", VILLAGES, "HC3"), statsmodels("ols", "HC3").cov_params())
        < EXACT
    )


MISTAKES = {
    "groups ignored": lambda f: lambda m, t, codes, *rest: f(m, t, np.arange(len(codes)), *rest),
    "groups in another order": lambda f: lambda m, t, codes, *rest: f(m, t, np.sort(codes), *rest),
    "without the factor of few clusters": lambda f: (
        lambda m, t, codes, w, d: f(m, t, codes, w, d) * (49 / 50)
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_past_the_tolerance(name, monkeypatch):
    expected = statsmodels("logit", "cluster", cov_kwds={"groups": VILLAGES.k}).cov_params()
    monkeypatch.setattr(
        score_covariance, "cluster_covariance", MISTAKES[name](score_covariance.cluster_covariance)
    )
    found = target("logit", "b ~ x1 + x2", VILLAGES, "cluster", groups="g")
    assert error(found, expected) > 1000 * EXACT


@pytest.mark.extended("poisson", "ols")
@pytest.mark.parametrize("verb", CASES)
def test_draws_have_the_covariance_of_clusters(verb):
    res = getattr(sgmc, verb)(
        f"{CASES[verb][0]} ~ x1 + x2",
        VILLAGES,
        cov_type="cluster",
        groups="g",
        prior="flat",
        seed=1,
        draws=2000,
    )
    fit = statsmodels(verb, "cluster", cov_kwds={"groups": VILLAGES.k})
    assert error(res.cov_params().iloc[:3, :3], fit.cov_params()) < 2 * TOLERANCE  # 3,000 draws
    assert (np.abs(res.params[:3] - fit.params.to_numpy()) < 0.1 * fit.bse.to_numpy()).all()
    assert res.bse["x1"] > 1.5 * np.sqrt(res.cov_params(cov_type="nonrobust").loc["x1", "x1"])
    assert res.cov_type == "cluster" and "cluster (sandwich)" in str(res.summary())


def test_frequency_weights_are_rows_of_the_same_cluster():
    weights = np.random.default_rng(0).integers(1, 4, len(VILLAGES))
    often = VILLAGES.loc[VILLAGES.index.repeat(weights)].reset_index(drop=True)
    for cov_type, how in (("cluster", dict(groups="g")), ("HC3", {})):
        one = target("logit", "b ~ x1 + x2", VILLAGES, cov_type, weights=weights, **how)
        other = target("logit", "b ~ x1 + x2", often, cov_type, **how)
        assert error(one, other) < EXACT


def test_rows_without_a_cluster_are_dropped_and_the_dot_leaves_its_column_out():
    frame = VILLAGES[["b", "x1", "x2", "g"]].copy()
    frame.loc[:9, "g"] = None
    model = sgmc.Logit.from_formula("b ~ .", frame, groups="g")
    assert model.exog_names == ["Intercept", "x1", "x2"] and model.data.dropped == 10
    found = target("logit", "b ~ .", frame, "cluster", groups="g")
    assert error(found, target("logit", "b ~ x1 + x2", frame[10:], "cluster", groups="g")) < EXACT


def test_arrays_have_groups_too():
    X = sm.add_constant(VILLAGES[["x1", "x2"]].to_numpy())
    model = sgmc.Logit(VILLAGES.b.to_numpy(), X, groups=VILLAGES.g.to_numpy())
    where = model.problem("flat", check_settings(cov_type="cluster", seed=1)).coordinates
    fit = statsmodels("logit", "cluster", cov_kwds={"groups": VILLAGES.k})
    assert error(where.white @ where.white.T, fit.cov_params()) < EXACT


def test_few_clusters_are_warned_of():
    few = villages(400, 12)
    with pytest.warns(ClusterCountWarning, match="12 clusters in groups, fewer than 30"):
        res = sgmc.ols("z ~ x1 + x2", few, cov_type="cluster", groups="g", prior="flat", seed=1)
    assert "ClusterCountWarning" in str(res.summary()) and not res.verdict.trustworthy
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterCountWarning)
        sgmc.ols("z ~ x1", VILLAGES, cov_type="cluster", groups="g", prior="flat", seed=1)


@pytest.mark.extended
def test_intervals_of_forty_clusters_cover_and_those_of_rows_do_not():
    """Of 80 data sets 95 % intervals cover 0.95 +- 0.05 (two standard errors), less the 0.02 that
    40 clusters fall short; a sandwich that ignores groups, and the model alone, are far below.
    """
    covered = {"cluster": [], "HC3": [], "nonrobust": []}
    for seed in range(80):
        frame = villages(800, 40, seed)
        for cov_type, found in covered.items():
            how = dict(groups="g") if cov_type == "cluster" else {}
            matrix = target("ols", "z ~ x1 + x2", frame, cov_type, **how)
            centre = np.linalg.lstsq(
                sm.add_constant(frame[["x1", "x2"]].to_numpy()), frame.z, rcond=None
            )[0][1]
            found.append(abs(centre - 0.3) < 1.96 * np.sqrt(matrix[1, 1]))
    share = {name: np.mean(found) for name, found in covered.items()}
    assert 0.88 < share["cluster"] < 0.995
    assert share["HC3"] < 0.75 and share["nonrobust"] < 0.75


@pytest.mark.filterwarnings("ignore::sgmc.errors.ClusterCountWarning")
def test_what_does_not_go_together_is_refused(tmp_path):
    fit = dict(seed=1, progress=False)
    for wrong, kind, text in (
        (dict(cov_type="cluster"), ArgumentError, "needs groups="),
        (dict(groups="g"), ArgumentError, "groups does not apply to cov_type='nonrobust'"),
        (dict(groups="h", cov_type="cluster"), DataError, "groups='h' is not a column"),
        (dict(groups=[1, 2], cov_type="cluster"), DataError, "groups has 2"),
        (dict(cov_type="HC9"), NotSupported, "'HC3' or 'cluster'"),
        (dict(cov_type="HC3", sampler="mala"), NotSupported, "cov_type='HC3' with sampler"),
    ):
        with pytest.raises(kind, match=text):
            sgmc.logit("b ~ x1", VILLAGES, **wrong, **fit)
    with pytest.raises(DataError, match="groups has 1 clusters"):
        sgmc.logit("b ~ x1", VILLAGES.assign(g=1), groups="g", cov_type="cluster", **fit)
    with pytest.raises(DataError, match="1 rows have leverage one"):
        sgmc.ols("z ~ x1 + I(x2 == x2.max())", VILLAGES, cov_type="HC3", **{**fit, "prior": "flat"})
    table = sgmc.prepare("b ~ x1", VILLAGES, tmp_path / "a.sgmc", seed=1)
    with pytest.raises(NotSupported, match="rows that are read at once"):
        sgmc.logit("b ~ x1", table, groups="g", cov_type="cluster", **fit)
    res = sgmc.logit("b ~ x1", VILLAGES, groups="g", cov_type="cluster", **fit)
    with pytest.raises(NotSupported, match="cov_type='cluster' draws the sandwich"):
        res.update(VILLAGES)
    with pytest.raises(ArgumentError, match="nonrobust' and 'cluster'; fit with cov_type='HC3'"):
        res.cov_params(cov_type="HC3")
