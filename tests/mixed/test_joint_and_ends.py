"""Priors with ends, horseshoes, and priors of several coefficients, beside groups and smooths."""

import numpy as np
import pytest
from scipy import special

import sgmc

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
ABOVE = sgmc.truncated(sgmc.normal(0, 1), low=0)
GROUPS = "(1 | g)"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 200
    data = dict(x=rng.normal(size=n), z=rng.normal(size=n), g=rng.integers(0, 8, n))
    data["u"], data["q"] = rng.integers(0, 9, n), rng.uniform(-2, 2, n)
    eta = 0.1 * data["x"] + rng.normal(size=8)[data["g"]]
    return data | dict(y=eta + rng.normal(size=n), k=(eta + rng.logistic(size=n) > 0) * 1)


def whole(results):
    """Draws of all chains, (m, k)."""
    return results.draws.reshape(-1, results.draws.shape[-1])


@pytest.mark.parametrize(
    "verb, formula, low",
    [
        (sgmc.logit, "k ~ x + z + (1 | g)", 0.3),
        (sgmc.logit, "k ~ x + z + s(q, k=5)", 0.3),
        (sgmc.ols, "y ~ x + z + (1 | g) + (1 | u)", 0.17),
        pytest.param(sgmc.ols, "y ~ x + z + (z | g)", 0.17, marks=pytest.mark.extended),
        pytest.param(sgmc.ols, "y ~ x + z + (1 | g/u)", 0.17, marks=pytest.mark.extended),
    ],
)
def test_ends_leave_the_draws_without_them_that_are_inside(frame, verb, formula, low):
    prior = {"x": sgmc.truncated(sgmc.normal(0, 1), low=low)}
    cut = verb(formula, frame, prior=prior, seed=1, draws=1500)
    free = whole(verb(formula, frame, prior={"x": sgmc.normal(0, 1)}, seed=2, draws=4000))
    j = list(cut.params.index).index("x")
    inside = free[free[:, j] > low]
    mean, sd = inside.mean(axis=0), inside.std(axis=0)
    assert cut.draws[..., j].min() > low
    # 6,000 draws against some 8,000, thousands in effect each: errors of means are about .03 sd,
    # those of sds, which are skewed, twice as large
    assert np.abs((cut.params - mean) / sd).max() < 0.12
    assert np.abs(cut.bse / sd - 1).max() < 0.2
    assert abs(free[:, j].mean() - mean[j]) > 0.5 * sd[j]  # what a fit without ends has


@pytest.mark.parametrize(
    "how",
    [
        dict(prior={"x": sgmc.uniform(-0.2, 0.3)}),
        dict(prior={"Intercept": sgmc.truncated(sgmc.normal(0, 2), low=0.1)}),
        dict(prior={"Intercept": sgmc.truncated(sgmc.normal(0, 2), low=0.1)}, terms="ar1(g)"),
        dict(prior={"x": sgmc.uniform(-0.2, 0.3)}, terms="(1 | g) + (1 | u)"),
        pytest.param(
            dict(prior={"x": ABOVE}, precondition="diag", sampler="mala"),
            marks=pytest.mark.extended,
        ),
        pytest.param(
            dict(prior={"x": ABOVE}, sampler="lmsgld", batch_size=4), marks=pytest.mark.extended
        ),
    ],
)
def test_draws_keep_between_ends(frame, how):
    how = dict(how)
    terms = how.pop("terms", GROUPS)
    results = sgmc.logit(f"k ~ x + {terms}", frame, seed=1, draws=200, **how)
    (name, one), draws = next(iter(how["prior"].items())), whole(results)
    j = list(results.params.index).index(name)
    low, high = one.bounds
    assert low < draws[:, j].min() and draws[:, j].max() < high
    assert np.isfinite(results.predict(frame)).all()


@pytest.mark.parametrize(
    "terms",
    [GROUPS, "s(u, k=5)", pytest.param("(1 | g) + (1 | u)", marks=pytest.mark.extended)],
)
def test_a_joint_prior_is_that_of_columns_that_are_independent_a_priori(frame, terms):
    """With b = m + A c, A A' = V, a prior N(m, V) of b is N(0, I) of the coefficients c of X A,
    beside the offset X m.
    """
    m, V = np.array([0.5, -0.3]), np.array([[0.04, 0.03], [0.03, 0.05]])
    X, A = np.column_stack([frame["x"], frame["z"]]), np.linalg.cholesky(V)
    prior = {("x", "z"): sgmc.mvnormal(m, V)}
    together = sgmc.logit(f"k ~ x + z + {terms}", frame, prior=prior, seed=1, draws=1000)
    other = frame | dict(zip("pq", (X @ A).T))
    unit = {"p": sgmc.normal(0, 1), "q": sgmc.normal(0, 1)}
    how = dict(offset=X @ m, prior=unit, seed=1, draws=1000)
    apart = whole(sgmc.logit(f"k ~ p + q + {terms}", other, **how))[:, 1:3] @ A.T + m
    names = ["x", "z"]
    # means and sds of two times 4,000 draws, nearly independent: .022 sd and 2 % are one sd of a
    # difference; with V's correlation dropped the means differ by half an sd
    assert np.abs((together.params[names] - apart.mean(axis=0)) / apart.std(axis=0)).max() < 0.1
    assert np.abs(together.bse[names] / apart.std(axis=0) - 1).max() < 0.08


@pytest.mark.parametrize(
    "verb, formula",
    [
        (sgmc.ols, "y ~ x + z + (1 | g)"),
        (sgmc.logit, "k ~ x + z + s(q, k=5)"),
        (sgmc.ols, "y ~ x + z + (1 | g) + (1 | u)"),
        pytest.param(sgmc.logit, "k ~ x + z + (1 | g) + (1 | u)", marks=pytest.mark.extended),
        pytest.param(sgmc.ols, "y ~ x + z + ar1(g)", marks=pytest.mark.extended),
    ],
)
def test_a_horseshoe_weighs_the_draws_of_a_normal_prior(frame, verb, formula):
    """Of N(0, 0.2) draws with weights by the ratio of the densities: that of a horseshoe of scale s
    is proportional to exp(t) E1(t), t = b^2 / (2 s^2) (Carvalho, Polson & Scott 2010, theorem 1,
    doi:10.1093/biomet/asq017), and to N(b; 0, slab^2).
    """
    scale, slab, wide = 0.1, 0.5, 0.2
    one = sgmc.horseshoe(scale=scale, slab=slab, autoscale=False)
    shrunk = verb(formula, frame, prior=dict.fromkeys("xz", one), seed=1, draws=3000)
    normal = dict.fromkeys("xz", sgmc.normal(0, wide))
    free = whole(verb(formula, frame, prior=normal, seed=2, draws=6000))
    at = [list(shrunk.params.index).index(name) for name in "xz"]
    b = free[:, at]
    t = b**2 / (2 * scale**2)
    weight = np.exp(t) * special.exp1(t) * np.exp(b**2 / 2 * (1 / wide**2 - 1 / slab**2))
    weight = weight.prod(axis=1)
    weight /= weight.sum()
    assert 1 / (weight**2).sum() > 0.2 * len(free)
    mean = weight @ free
    sd = np.sqrt(weight @ (free - mean) ** 2)
    # 12,000 draws against 24,000 that are worth a quarter, thousands in effect each: errors of
    # means are about .02 sd, those of sds 2 %
    assert np.abs((shrunk.params - mean) / sd).iloc[at].max() < 0.1
    assert np.abs(shrunk.bse / sd - 1).iloc[at].max() < 0.08
    # what the fit under the normal prior has
    assert np.abs((mean - free.mean(axis=0)) / sd)[at].max() > 0.5
