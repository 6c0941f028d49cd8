"""Priors with learned scales beside groups, smooths and structured terms."""

import json
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core import engine
from sgmc.core.expansion import of_prior, of_rows
from sgmc.errors import NotSupported
from sgmc.fit.settings import check_settings

from .beside import LEVELS, SLAB, TAU, Scales, by_grid, cells_of_grid, log_density, logistic
from .differences import assert_map_and_gradient

SIGMA = 1.3
PRIORS = {
    "ridge": sgmc.ridge(),
    "horseshoe": sgmc.horseshoe(scale=TAU, slab=SLAB, learned=True),
    "r2d2": sgmc.r2d2(),
}
GLOBAL = {"ridge": "sd(ridge)", "horseshoe": "tau(horseshoe)", "r2d2": "tau2(r2d2)"}
HMC = Path(__file__).with_name("beside.json")
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@cache
def table():
    random = np.random.default_rng(3)
    n = 120
    frame = pd.DataFrame({"x": random.normal(size=n), "g": random.integers(0, 8, n)})
    frame["z"] = 3 * random.normal(size=n) + 1.5 * frame.x
    frame["h"], frame["q"] = np.arange(n) % 7, random.uniform(-2, 2, n)
    eta = 0.35 * frame.x + 0.02 * frame.z + 0.8 * random.normal(size=8)[frame.g]
    frame["y"] = eta + SIGMA * random.normal(size=n)
    frame["k"] = (eta + random.logistic(size=n) > 0) * 1.0
    frame["count"] = random.poisson(np.exp(0.5 * eta))
    frame["grade"] = np.digitize(eta + random.logistic(size=n), [-1, 0.5])
    return frame


def of_kind(kind, verb):
    """X and `Scales`."""
    X = table()[["x", "z"]].to_numpy()
    return X, Scales(kind, X.std(axis=0, ddof=1), table().y.std(ddof=0) if verb == "ols" else 1.0)


def problem_of(model, prior):
    """The posterior of a model under a prior."""
    settings = check_settings(seed=1)
    return model.suited(prior, settings).problem(prior, settings)


def apart(verb, kind, **planted):
    """Largest difference of log densities at points but for a constant, relative to their size."""
    y = "y" if verb == "ols" else "k"
    model = getattr(sgmc, verb.upper() if verb == "ols" else "Logit")
    model = model.from_formula(f"{y} ~ x + z + (1 | g) + (1 | h)", table())
    problem = problem_of(model, PRIORS[kind])
    rows, (X, scales) = problem.own.rows, of_kind(kind, verb)
    order, scale = rows.fixed.order, np.asarray(rows.blocks.loading.scale)
    random, found = np.random.default_rng(1), []
    for _ in range(5):
        theta = problem.coordinates.map(random.normal(size=problem.dim))
        ours = of_rows(problem.model, theta)[0] + of_prior(problem.prior, theta)[0]
        data = X[order], table()[y].to_numpy()[order], rows.codes.T
        found.append(ours - log_density(verb, scales, *data, theta, scale, **planted))
    return np.ptp(found) / abs(ours)


@pytest.mark.parametrize("verb", ["ols", "logit"])
@pytest.mark.parametrize("kind", PRIORS)
def test_densities_are_those_of_numpy(verb, kind):
    assert apart(verb, kind) < 1e-10
    assert apart(verb, kind, heed=False) > 1e-4  # the prior of the global parameter is there
    assert apart(verb, kind, factor=1.5) > 1e-4  # and scales have the unit that they should


@pytest.mark.parametrize("kind", PRIORS)
@pytest.mark.parametrize("term", ["(x | g) + (1 | h)", "s(q, k=5)", "ar1(h)", "gp(q)", "rw1(h)"])
def test_gradients_and_jacobians_are_those_of_differences(kind, term):
    model = sgmc.OLS.from_formula(f"y ~ x + z + {term}", table())
    assert_map_and_gradient(problem_of(model, PRIORS[kind]))


@pytest.mark.parametrize("sign", [-1, 1])
def test_what_levels_share_has_its_gradient_on_either_side_of_an_sd_of_zero(sign):
    problem = problem_of(
        sgmc.OLS.from_formula("y ~ x + z + (1 | g) + (1 | h)", table()), PRIORS["ridge"]
    )
    gradient, blocks = problem.all_rows(), problem.own.rows.blocks
    x = 0.5 * np.random.default_rng(4).normal(size=problem.dim)
    x[blocks.phi] += 15.0 * sign
    theta = problem.coordinates.map(x)
    assert (np.sign(theta[blocks.phi]) == sign).all()
    assert np.abs(problem.coordinates.map.inverse(theta) - x).max() < 1e-4
    step, each = 1e-5, np.eye(problem.dim)
    rises = [engine.density(gradient, x + e) - engine.density(gradient, x - e) for e in step * each]
    slope = engine.full(gradient, x)[1]
    assert np.abs(slope - np.array(rises) / (2 * step)).max() < 1e-5 * (1 + np.abs(slope).max())


def test_intercepts_beside_groups_move_fast():
    """Effective sizes of 4,000 draws are 2,300 and more; without `Shared` some 500, or 100."""
    for terms in ("(1 | g)", "(1 | g) + (1 | h)"):
        results = sgmc.ols(f"y ~ x + z + {terms}", table(), prior=sgmc.ridge(), seed=1, draws=1000)
        assert np.min(results._ess) > 1000


def quantile_shares(results, name, values):
    """Shares of draws up to some values."""
    draws = results.draws[..., list(results.params.index).index(name)]
    return np.array([np.mean(draws <= one) for one in values])


@pytest.mark.parametrize("kind", PRIORS)
def test_posteriors_are_those_of_sums_over_a_grid(kind):
    """16,000 draws with effective sizes of 8,000 and more: errors of means are .011 sd, of sds 1 %
    or, of those with long tails, 2 %; of a share of one half .006.
    """
    (X, scales), frame = of_kind(kind, "ols"), table()
    y, code = frame.y.to_numpy(), frame.g.to_numpy()
    results = sgmc.ols(
        "y ~ x + z + (1 | g)", frame, prior=PRIORS[kind], sigma=SIGMA, seed=1, draws=4000
    )
    data = scales, X, y, code, SIGMA
    grid = cells_of_grid(*data)
    mean, sd, scale = by_grid(scales, grid)
    names = ["x", "z", "sd(1|g)"]
    assert np.abs((results.params[names] - mean) / sd).max() < 0.05
    assert np.abs(results.bse[names] / sd - 1).max() < 0.05
    assert np.abs(quantile_shares(results, GLOBAL[kind], scale) - LEVELS).max() < 0.025
    no_prior = by_grid(scales, grid, heed=False)
    wider = by_grid(scales, cells_of_grid(*data, factor=4.0))
    for other in (no_prior[2], wider[2]):
        assert np.abs(quantile_shares(results, GLOBAL[kind], other) - LEVELS).max() > 0.05


@pytest.mark.parametrize("kind", PRIORS)
def test_logit_posteriors_are_those_of_hmc_in_numpy(kind):
    """The numpy chains have effective sizes of tens of thousands; 4 x 4,000 draws here of some
    1,500 of the intercept, more of the others.
    """
    held = json.loads(HMC.read_text())[kind]
    X, y, code = logistic()
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "g": code, "y": y})
    results = sgmc.logit("y ~ x + z + (1 | g)", frame, prior=PRIORS[kind], seed=1, draws=4000)
    names = ["x", "z", "sd(1|g)"]
    mean, sd = np.array(held["mean"]), np.array(held["sd"])
    assert np.abs((results.params[names] - mean) / sd).max() < 0.1
    assert np.abs(results.bse[names] / sd - 1).max() < 0.05
    shares = quantile_shares(results, GLOBAL[kind], held["quantiles"])
    assert np.abs(shares - LEVELS).max() < 0.03


@pytest.mark.parametrize(
    "verb, y",
    [
        pytest.param(sgmc.poisson, "count", marks=pytest.mark.extended),
        (sgmc.ordinal, "grade"),
        pytest.param(sgmc.logit, "k", marks=pytest.mark.extended),
        (sgmc.negativebinomial, "count"),
        pytest.param(sgmc.zeroinflated, "count", marks=pytest.mark.extended),
    ],
)
def test_a_ridge_of_levels_is_a_group_term(verb, y):
    """Columns of levels under one learned sd are effects of groups: beside (1 | h), (1 | g)."""
    frame = table()
    levels = [f"g{j}" for j in range(8)]
    wide = frame.assign(**{name: (frame.g == j) * 1.0 for j, name in enumerate(levels)})
    own = {"Intercept": sgmc.normal(0, 2.5)}  # at effects of zero
    rest = " | 1" if verb is sgmc.zeroinflated else ""
    how = dict(seed=1, draws=4000)
    ridge = verb(
        f"{y} ~ {' + '.join(levels)} + (1 | h){rest}",
        wide,
        prior=own | {tuple(levels): sgmc.ridge()},
        **how,
    )
    groups = verb(f"{y} ~ (1 | g) + (1 | h){rest}", frame, prior=own, **how)
    pairs = {"sd(ridge)": "sd(1|g)", "sd(1|h)": "sd(1|h)"}
    # effective sizes are above 1,000 on either side: an error of .045 sd
    for one, other in pairs.items():
        sd = groups.bse[other]
        assert abs(ridge.params[one] - groups.params[other]) < 0.12 * sd
        assert abs(ridge.bse[one] / sd - 1) < 0.15
    effects = groups.ranef("g")
    found = np.abs((ridge.params[levels].to_numpy() - effects["mean"]) / effects["sd"])
    assert found.max() < 0.12
    assert np.abs(ridge.bse[levels].to_numpy() / effects["sd"] - 1).max() < 0.1


TERMS = ["(1 | g)", "(1 | g) + (1 | h)", "s(q, k=5)", "ar1(h)"]


@cache
def fitted(kind, term):
    how = dict(prior=PRIORS[kind], seed=1, draws=300, warmup=200)
    return sgmc.ols(f"y ~ x + z + {term}", table(), **how)


@cache
def fitted_alone(kind):
    return sgmc.ols("y ~ x + z", table(), prior=PRIORS[kind], seed=1, draws=50)


# the horseshoe has every term, each prior a group term and one of another kind
@pytest.mark.extended("ridge-(1 | g)", "ridge-ar1(h)", "r2d2-(1 | g) + (1 | h)", "r2d2-ar1(h)")
@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("kind", PRIORS)
def test_results_have_the_scale_by_its_name_and_coefficients_as_coefficients(kind, term):
    results = fitted(kind, term)
    alone = fitted_alone(kind)
    names = list(results.params.index)
    assert names[:3] == list(alone.params.index)[:3]
    assert set(alone.params.index) <= set(names) and GLOBAL[kind] in results.bse.index
    assert GLOBAL[kind] in str(results.summary()) and GLOBAL[kind] in str(results.prior_summary())
    beta = results.draws[..., :3]
    contrast = results.contrast("x - 2 * z")["mean"].iloc[0]
    assert contrast == pytest.approx((beta[..., 1] - 2 * beta[..., 2]).mean(), rel=1e-9)
    rows = table().head(6)
    flat = np.column_stack([np.ones(6), rows[["x", "z"]]])
    if "|" in term:  # without effects the mean is that of the coefficients
        predicted = results.predict(rows, random=False)
        assert np.allclose(predicted, flat @ beta.reshape(-1, 3).mean(axis=0), atol=0.1)
    slope = results.avg_slopes("x")
    assert np.ravel(slope["estimate"])[0] == pytest.approx(results.params["x"], abs=0.03)
    assert np.isfinite(results.loo().elpd)


@pytest.mark.parametrize("term", TERMS)
def test_files_pickles_and_more_draws(term, tmp_path):
    results = fitted("horseshoe", term)
    results.save(tmp_path / "one.sgmc")
    loaded = sgmc.load(tmp_path / "one.sgmc", trust_formulas=True)
    assert str(loaded.summary()) == str(results.summary())
    assert np.array_equal(loaded.draws, results.draws)
    again = pickle.loads(pickle.dumps(results))
    assert np.array_equal(again.predict(table().head()), results.predict(table().head()))
    assert np.array_equal(loaded.predict(table().head()), results.predict(table().head()))
    more = results.resume(draws=20)
    assert more.draws.shape[1] == 20 + results.draws.shape[1]


def test_names_for_arviz():
    pytest.importorskip("arviz_base")
    results = fitted("horseshoe", "(1 | g)")
    posterior = results.to_arviz()["posterior"]
    assert np.array_equal(posterior["tau(horseshoe)"], results.draws[..., -2])


@pytest.mark.extended("(1 | g)")
@pytest.mark.parametrize("term", ["(1 | g)", "(1 | g) + (1 | h)", "s(q, k=5)"])
def test_default_fits_are_trusted_where_the_scale_has_an_sd(term):
    """A ridge's sd has a half-t prior of 3 degrees of freedom."""
    results = sgmc.ols(f"y ~ x + z + {term}", table(), prior=sgmc.ridge(), seed=1)
    assert str(results.verdict).startswith("trustworthy")


def test_a_tau_without_a_mean_is_told():
    """A horseshoe's tau is a half-Cauchy variable."""
    results = sgmc.ols("y ~ x + z + (1 | g)", table(), prior=PRIORS["horseshoe"], seed=1)
    assert "heavy tails" in str(results.verdict)


def test_a_time_limit_leaves_draws():
    results = sgmc.logit(
        "k ~ x + z + (1 | g)", table(), prior=sgmc.horseshoe(learned=True), time_limit=1e-3, seed=1
    )
    assert np.isfinite(results.draws).all()


@pytest.mark.parametrize(
    "how, error, text",
    [
        (dict(cov_type="robust"), NotSupported, "cov_type='robust'"),
        (dict(prior_only=True), NotSupported, "prior_only=True"),
        (dict(nodes=5), NotSupported, "effects are sampled"),
        (dict(sampler="esgbd"), NotSupported, "use sampler='lmsgld'"),
        (
            dict(prior={"x": sgmc.ridge(), "z": sgmc.horseshoe()}),
            NotSupported,
            "beside a prior whose scale is learned",
        ),
    ],
)
def test_what_does_not_go_with_it_is_refused(how, error, text):
    with pytest.raises(error, match=text):
        sgmc.logit("k ~ x + z + (1 | g)", table(), **{"prior": sgmc.ridge(), "seed": 1, **how})
