"""Learned scales of coefficients in several linear predictors: log densities against plain numpy,
and a posterior against that of one part alone.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.core import engine

from ..reference import families

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
ROWS, COLUMNS = 400, ["a", "b", "c"]
HOW = dict(seed=1, chains=2, draws=200)


def table(seed=3):
    """Counts with zeros of their own, and outcomes of three kinds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 3)) * [1.0, 2.0, 0.5]
    none = rng.random(ROWS) < special.expit(-0.4 + 0.6 * X[:, 0])
    count = np.where(none, 0, rng.poisson(np.exp(0.6 + 0.3 * X[:, 1])))
    eta = np.array([np.zeros(ROWS), 0.3 + 0.7 * X[:, 0], -0.2 - 0.3 * X[:, 1]])
    shares = special.softmax(eta, axis=0)
    kind = (rng.random(ROWS) > np.cumsum(shares, axis=0)[:-1]).sum(axis=0)
    return pd.DataFrame(X, columns=COLUMNS).assign(
        y=count, kind=kind, named=np.array(["p", "q", "r"])[kind]
    )


TABLE = table()


def centred(problem):
    """Rows of the fit in its order, columns less their means."""
    rows = TABLE.iloc[problem.table.order]
    X = rows[COLUMNS].to_numpy()
    return rows, X - X.mean(axis=0), X.std(axis=0, ddof=1)


def counts(problem, beta):
    """Log likelihood of ``y ~ a + b | a + c`` and the scales of the slopes' prior, (4,)."""
    rows, X, sd = centred(problem)
    eta = [beta[0] + X[:, :2] @ beta[1:3], beta[3] + X[:, [0, 2]] @ beta[4:6]]
    density = families.inflated(rows.y.to_numpy(), np.array(eta).T, None)
    return density.sum(), 1 / sd[[0, 1, 0, 2]]


def kinds(problem, beta):
    """Log likelihood of ``named ~ a + b``, and the scales."""
    rows, X, sd = centred(problem)
    eta = np.array([np.zeros(ROWS), *(b[0] + X[:, :2] @ b[1:] for b in beta.reshape(2, 3))])
    value = (eta[rows.kind, np.arange(ROWS)] - special.logsumexp(eta, axis=0)).sum()
    return value, 1 / sd[[0, 1, 0, 1]]


CASES = {
    "zeroinflated": ("y ~ a + b | a + c", counts),
    "mnlogit": ("named ~ a + b", kinds),
}


@pytest.mark.parametrize("verb", CASES)
def test_densities_are_those_of_numpy(verb):
    """Of a ridge, whose sd is half_t(3, 2.5), to rounding; with the sd's own Jacobian left out they
    differ.
    """
    formula, likelihood = CASES[verb]
    fit = getattr(sgmc, verb)(formula, TABLE, prior=sgmc.ridge(), **HOW)
    problem = fit._fit.problem
    gradient, map = problem.all_rows(), problem.coordinates.map
    found, without = [], []
    for one in np.random.default_rng(5).normal(size=(5, problem.dim)):
        theta = map(one)
        beta, log_sd = theta[:6], theta[6]
        value, scale = likelihood(problem, beta)
        value += stats.norm.logpdf(beta[[0, 3]], 0, 2.5).sum()
        value += stats.norm.logpdf(beta[[1, 2, 4, 5]], 0, np.exp(log_sd) * scale).sum()
        value += stats.t.logpdf(np.exp(log_sd), 3, 0, 2.5)
        ours = engine.density(gradient, one) - log_jacobian(map, one)
        found.append(ours - value - log_sd)
        without.append(ours - value)
    assert np.ptp(found) < 1e-6 < np.ptp(without)


def log_jacobian(map, x, step=1e-6):
    """By central differences."""
    sides = [[map(x + s * step * e) for e in np.eye(len(x))] for s in (1, -1)]
    return np.linalg.slogdet((np.array(sides[0]) - np.array(sides[1])) / (2 * step))[1]


def test_zeros_of_a_hurdle_are_a_logit():
    """With a scale for the slopes of the zeros alone the two parts of the density share nothing:
    means within a tenth of an sd, sds within a tenth, with some 3,000 effective draws of each.
    """
    how = dict(seed=1, draws=1000)
    own = {f"zero:{name}": sgmc.ridge() for name in COLUMNS}
    both = sgmc.hurdle("y ~ a | a + b + c", TABLE, prior=own, **how)
    alone = sgmc.logit(
        "none ~ a + b + c", TABLE.assign(none=(TABLE.y == 0) * 1), prior=sgmc.ridge(), **how
    )
    names, of_one = [*own, "sd(ridge)"], [*COLUMNS, "sd(ridge)"]
    apart = both.params[names].to_numpy() - alone.params[of_one].to_numpy()
    assert np.abs(apart / alone.bse[of_one].to_numpy()).max() < 0.1
    assert np.abs(both.bse[names].to_numpy() / alone.bse[of_one].to_numpy() - 1).max() < 0.1


@pytest.mark.parametrize("verb", CASES)
@pytest.mark.parametrize(
    "prior", [sgmc.horseshoe(learned=True), sgmc.r2d2()], ids=["horseshoe", "r2d2"]
)
def test_other_learned_scales(verb, prior, tmp_path):
    fit = getattr(sgmc, verb)(CASES[verb][0], TABLE, prior=prior, **HOW)
    new = TABLE.head(4)
    expected = np.asarray(fit.predict())[:4]
    np.testing.assert_allclose(np.asarray(fit.predict(new)), expected, rtol=1e-9)
    fit.save(tmp_path / "a.sgmc")
    loaded = np.asarray(sgmc.load(tmp_path / "a.sgmc").predict(new))
    np.testing.assert_allclose(loaded, expected, rtol=1e-9)


def test_slopes_of_ordered_outcomes():
    """Log densities are numpy's to rounding; thresholds are printed behind the sd."""
    fit = sgmc.ordinal("kind ~ a + b", TABLE, prior=sgmc.ridge(), **HOW)
    assert fit.names == ["a", "b", "sd(ridge)", "0|1", "1|2"]
    problem = fit._fit.problem
    rows, X, sd = centred(problem)
    gradient, map = problem.all_rows(), problem.coordinates.map
    found = []
    for one in np.random.default_rng(5).normal(size=(5, problem.dim)):
        theta = map(one)
        beta, log_sd, log_gap = problem.coordinates.as_given(theta[:3]), theta[3], theta[4]
        beta[0] += rows[["a", "b"]].mean().to_numpy() @ beta[1:]  # columns are turned
        cuts = -beta[0] + np.array([0.0, np.exp(log_gap)])
        below = special.expit(cuts[:, None] - X[:, :2] @ beta[1:])
        shares = np.diff(np.vstack([np.zeros(ROWS), below, np.ones(ROWS)]), axis=0)
        value = np.log(shares[rows.kind, np.arange(ROWS)]).sum()
        value += stats.norm.logpdf(beta[0], 0, 2.5)
        value += stats.expon.logpdf(np.exp(log_gap), scale=2.5) + log_gap
        value += stats.norm.logpdf(beta[1:], 0, np.exp(log_sd) / sd[:2]).sum()
        value += stats.t.logpdf(np.exp(log_sd), 3, 0, 2.5) + log_sd
        found.append(engine.density(gradient, one) - value - log_jacobian(map, one))
    assert np.ptp(found) < 1e-6
    expected = np.asarray(fit.predict())[:4]
    np.testing.assert_allclose(np.asarray(fit.predict(TABLE.head(4))), expected, rtol=1e-9)
