"""Priors with ends, and of several coefficients together, beside group terms and smooths."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import NotSupported

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
ABOVE = sgmc.truncated(sgmc.normal(0, 1), low=0)
GROUPS = "(1 | g)"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 200
    data = dict(x=rng.normal(size=n), z=rng.normal(size=n), g=rng.integers(0, 8, n))
    data["u"] = rng.integers(0, 9, n)
    eta = 0.1 * data["x"] + rng.normal(size=8)[data["g"]]
    return data | dict(y=eta + rng.normal(size=n), k=(eta + rng.logistic(size=n) > 0) * 1)


def whole(results):
    """Draws of all chains, (m, k)."""
    return results.draws.reshape(-1, results.draws.shape[-1])


@pytest.mark.parametrize(
    "verb, formula, low",
    [
        (sgmc.logit, "k ~ x + z + (1 | g)", 0.3),
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
    results = sgmc.logit(f"k ~ x + {GROUPS}", frame, seed=1, draws=200, **how)
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


def test_ends_beside_effects_that_are_sampled_are_refused(frame):
    for terms in ("(1 | g) + (1 | u)", "s(z, k=5)"):
        with pytest.raises(NotSupported, match="has ends, which does not go with crossed factors"):
            sgmc.logit(f"k ~ x + {terms}", frame, prior={"x": ABOVE})
