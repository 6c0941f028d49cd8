"""Leaving out rows and levels of crossed factors: normal outcomes by closed forms, others by grids
and by fits without them.
"""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.errors import ArgumentError, InfluenceWarning
from sgmc.models.regression.refits import folds
from sgmc.results.outcomes.criticism.loo import leave_one_out

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
G, H, N = 9, 5, 45
FORMULA = "y ~ x + (1 | g) + (1 | h)"
# does not depend on the rows, as x has mean zero
PRIOR = {
    "*": sgmc.normal(0, 2),
    "Intercept": sgmc.normal(0, 2),
    "sd": sgmc.half_normal(1),
    "sigma": sgmc.exponential(1),
}


@cache
def table(name):
    """Rows at random in nine and five levels, the first levels twice as often."""
    rng = np.random.default_rng(11)
    g, h = (np.minimum(rng.integers(0, k + 1, N), k - 1) for k in (G, H))
    x = rng.normal(size=N)
    eta = 0.3 + 0.8 * rng.normal(size=G)[g] + 0.4 * rng.normal(size=H)[h] + 0.5 * (x - x.mean())
    noise = rng.normal(size=N)
    y = {
        "ols": eta + 0.7 * noise,
        "logit": (rng.random(N) < special.expit(2 * eta)).astype(int),
        "poisson": rng.poisson(np.exp(eta)),
    }[name]
    return pd.DataFrame(dict(x=x - x.mean(), g=g, h=h, y=y, w=rng.integers(1, 3, N)))


@cache
def fitted(name, without=(), formula=FORMULA, **how):
    """Of 20 chains, so that there are 2,500 whole draws."""
    frame = table(name)
    prior = {key: one for key, one in PRIOR.items() if name == "ols" or key != "sigma"}
    kept = frame.drop(index=list(without))
    given = dict(prior=prior, seed=2, chains=20, draws=250) | how
    return getattr(sgmc, name)(formula, kept, **given)


@cache
def posterior():
    """Of normal outcomes over Gauss-Legendre nodes of the sds, whose sums are right to 0.01: the
    precision matrix of the outcomes P (point, n, n), P y, log probabilities, and sigma.
    """
    frame = table("ols")
    y, X = frame.y.to_numpy(), np.column_stack([np.ones(N), frame.x])
    t, weight = np.polynomial.legendre.leggauss(14)
    sides = [a + (b - a) * (t + 1) / 2 for a, b in ((0.3, 4.2), (0, 2.4), (0.42, 1.25))]
    at = np.array(np.meshgrid(*sides)).reshape(3, -1)
    weight = np.prod(np.meshgrid(weight, weight, weight), axis=0).ravel()
    same = [np.equal.outer(frame[one].to_numpy(), frame[one].to_numpy()) for one in "gh"]
    P = np.linalg.inv(4 * X @ X.T + np.tensordot(at.T**2, np.array([*same, np.eye(N)]), 1))
    a = P @ y
    log_p = 0.5 * np.linalg.slogdet(P)[1] - 0.5 * a @ y
    log_p += np.log(weight) - 0.5 * (at[:2] ** 2).sum(axis=0) - at[2]
    return P, a, log_p - special.logsumexp(log_p), at[2]


@cache
def truth(by=None):
    """log p(y_u | y without u) of rows u, or of levels of a factor: of a Gaussian by blocks of the
    precision matrix.
    """
    (P, a, log_p, _), out = posterior(), []
    units = np.arange(N) if by is None else table("ols")[by].to_numpy()
    for u in np.unique(units):
        rows = np.flatnonzero(units == u)
        own = P[:, rows][:, :, rows]
        far = np.einsum("gi,gij,gj->g", a[:, rows], np.linalg.inv(own), a[:, rows])
        each = 0.5 * (np.linalg.slogdet(own)[1] - far - len(rows) * np.log(2 * np.pi))
        out.append(-special.logsumexp(log_p - each))
    return np.array(out)


def test_rows_have_the_density_without_them():
    """Of normal outcomes.  Monte Carlo errors of a row are about 0.003, 0.06 where draws have seen
    it most; that of the sum is told within a factor of two.
    """
    loo, exact = fitted("ols").loo(), truth()
    assert loo.draws == len(fitted("ols").whole("")) == 2500
    assert np.abs(loo.elpd_i - exact).max() < 0.15
    assert np.median(np.abs(loo.elpd_i - exact)) < 0.006
    assert loo.pareto_k.max() < loo.good_k
    assert abs(loo.elpd - exact.sum()) < 3 * loo.mcse < 0.6
    assert f"Monte Carlo error {loo.mcse:.2g}" in str(loo)


def test_levels_have_the_density_without_them():
    """Of the factor of many levels: errors are those of a Monte Carlo error of 0.1 in the sum."""
    loo, exact = fitted("ols").loo(group="g"), truth("g")
    assert loo.unit == "groups" and loo.n == G
    assert np.abs(loo.elpd_i - exact).max() < 0.3
    assert abs(loo.elpd - exact.sum()) < 4 * loo.mcse < 1


@pytest.mark.mistake("leaving out of crossed factors: {mistake}")
@pytest.mark.parametrize("name", ["ols"])
@pytest.mark.parametrize("mistake", ["own effect plugged in", "own effect has seen the row"])
def test_mistakes_move_densities(name, mistake):
    """By more than the tolerances of the first test."""
    results, exact = fitted(name), truth()
    if mistake == "own effect plugged in":  # with the same weights
        found, _, k, _ = leave_one_out(results.table_rows(), 1.0)
        found[results.table_rows().order] = found.copy()
        assert k.max() > results.loo().good_k > results.loo().pareto_k.max()
    else:
        left = results.left_out(False)
        found = np.empty(N)
        found[left.order] = special.logsumexp(left.densities(left.X[:, 0])[1], axis=1)
        found -= np.log(left.m)
        assert abs(found.sum() - exact.sum()) > 1
    assert np.median(np.abs(found - exact)) > 0.006 or np.abs(found - exact).max() > 0.15


def by_grid(name, rows, draw=7, q=1):
    """log p(y_i | y of its level without i, rest) at a whole draw, over a grid of the effect."""
    results, frame = fitted(name), table(name)
    theta, family = results.whole("")[draw], results.model.family
    [own] = results.table_rows().with_draws([draw]).blocks()
    left = results.left_out(False)
    full = np.empty(N)
    held = results._fit.problem.own.rows
    full[results.table_rows().order] = own[1][:, 0]
    out = []
    for i in rows:
        k = left.factor[np.flatnonzero(results.table_rows().order == i)[0]]
        level = frame["gh"[k]].to_numpy()
        mine = np.flatnonzero(level == level[i])
        sd = abs(results._fit.problem.own.effects.loading.root(theta[held.blocks.phi])[k, k])
        b = np.linspace(-9 * sd, 9 * sd, 6001)
        eta = full[mine] - theta[held.places(k)[level[i], 0]]
        y = frame.y.to_numpy()[mine]
        extra = np.exp(theta[-1:]).reshape(1, 1, 1) if name == "ols" else None
        value = family.log_density(
            y[:, None], eta[:, None] + b, None if extra is None else extra[0]
        )
        whole = value.sum(axis=0) - 0.5 * (b / sd) ** 2
        without = whole - value[mine == i][0]
        out.append(special.logsumexp(whole) - special.logsumexp(without))
    return np.array(out)


@pytest.mark.extended("ols", "poisson")
@pytest.mark.parametrize("name", ["ols", "logit", "poisson"])
def test_densities_at_a_draw_are_those_of_a_grid(name):
    """Nodes are right to some thousandths, closed forms to float32 of the whole draws."""
    left = fitted(name).left_out(False).with_draws(np.array([7]))
    found = left.densities(left.X[:, 0])[0, :, 0]
    expected = by_grid(name, left.order)
    assert np.abs(found - expected).max() < (1e-5 if name == "ols" else 5e-3)
    assert set(left.factor) == {0, 1}  # of a row in a frequent level of g, that of h


@pytest.mark.extended
@pytest.mark.parametrize("name", ["logit", "poisson"])
def test_rows_and_levels_against_fits_without_them(name):
    """log E[p(y_i | x, g, h)] of fits without the row, or the level: errors of rows are about 0.03,
    those of levels as large as weights of the draws tell, for as many draws on both sides.
    """
    frame, results = table(name), fitted(name)
    loo = results.loo()
    for i in (3, int(np.argmin(loo.elpd_i))):
        density = fitted(name, (i,)).log_lik(frame.loc[[i]], "y")
        assert loo.elpd_i[i] == pytest.approx(np.log(np.exp(density).mean()), abs=0.1)
    loo = results.loo(group="g")
    for g in (1, 4):
        gone = frame.index[frame.g == g]
        density = fitted(name, tuple(gone)).log_lik(frame.loc[gone], "y", new_levels="sample")
        density = density.sum(axis=1)
        weight = np.exp(density - special.logsumexp(density))
        error = np.sqrt(weight.var() * 2 * len(weight))
        density = special.logsumexp(density) - np.log(len(density))
        assert loo.elpd_i[g] == pytest.approx(density, abs=4 * error)
        assert error < 0.15


def test_slopes_beside_a_curve_have_closed_forms():
    """Two correlated effects of a level: log p(y_i | y of its level without i, rest) of normal
    outcomes, by the precision matrix of those of the level at each draw.
    """
    # closed forms hold at each draw: of 1,000 whole ones two are looked at
    results, frame = fitted("ols", formula="y ~ (1 + x | g) + s(x)", chains=8), table("ols")
    rows, own, draws = results.table_rows(), results._fit.problem.own, results.whole("")
    [(_, eta)] = rows.with_draws([7, 900]).blocks()
    left = results.left_out(False).with_draws(np.array([7, 900]))
    found, slots = left.densities(left.X[:, 0])[0], own.rows.places(0)
    for j, s in enumerate((7, 900)):
        root = own.effects.loading.root(draws[s, own.rows.blocks.phi])[:2, :2]
        for g in range(G):
            place = np.flatnonzero(frame.g.to_numpy()[rows.order] == g)
            mine = rows.order[place]
            Z = np.column_stack([np.ones(len(mine)), frame.x.to_numpy()[mine]])
            away = frame.y.to_numpy()[mine] - eta[place, j] + Z @ draws[s, slots[g]]
            noise = np.exp(2 * draws[s, -1]) * np.eye(len(mine))
            P = np.linalg.inv(Z @ root @ root.T @ Z.T + noise)
            alone, own_p = P @ away, np.diag(P)
            exact = 0.5 * (np.log(own_p / (2 * np.pi)) - alone**2 / own_p)
            here = [int(np.flatnonzero(left.order == i)[0]) for i in mine]
            np.testing.assert_allclose(found[here, j], exact, atol=1e-8)
    assert results.loo(group=True).elpd == results.loo(group="g").elpd


def test_what_is_made_of_these(monkeypatch):
    """Comparisons, weights of models, ranks and probabilities have the same numbers."""
    results = fitted("ols")
    flat = sgmc.ols("y ~ x", table("ols"), seed=1, draws=300)
    found = sgmc.compare(crossed=results, flat=flat)
    assert found.elpd["crossed"] == pytest.approx(results.loo().elpd, abs=1e-6)
    assert sgmc.model_weights({"crossed": results, "flat": flat})["crossed"] > 0.7
    with pytest.raises(ArgumentError, match="there are 'g' and 'h'; name one"):
        results.loo(group=True)
    monkeypatch.setattr("sgmc.results.outcomes.criticism.loo.MOST_ERROR", 1e-3)
    with pytest.warns(InfluenceWarning, match="200 whole draws are kept, 2500 in all"):
        results.loo()


def test_ranks_are_those_of_closed_forms():
    """P(y_new < y_i | y without i) from the closed form at each draw, weighted; 2,500 simulated
    outcomes have an error of 0.01, weights as much again.
    """
    results = fitted("ols")
    left = results.left_out(False)
    eta, extra = left.unseen(np.random.default_rng(1))
    assert eta.shape == (N, 2500) and extra.shape == (1, 2500)
    ranks, exact = results.loo_pit(), exact_ranks()
    assert np.abs(ranks - exact).max() < 0.06 and np.abs(ranks - exact).mean() < 0.015
    [(_, seen)] = results.table_rows().blocks()  # planted: effects that have seen the row
    noise = extra[0] * np.random.default_rng(2).normal(size=seen.shape)
    order = results.table_rows().order
    planted = (seen + noise < table("ols").y.to_numpy()[order, None]).mean(axis=1)
    assert np.abs(planted - exact[order]).mean() > 0.03


def exact_ranks():
    """P(y_new < y_i | y without i)."""
    P, a, log_p, _ = posterior()
    own = np.einsum("gii->gi", P)
    weight = log_p[:, None] - 0.5 * np.log(own) + 0.5 * a**2 / own
    weight = np.exp(weight - weight.max(axis=0))
    return (weight * special.ndtr(a / np.sqrt(own))).sum(axis=0) / weight.sum(axis=0)


def test_factors_within_others_are_refused():
    """Their effects are told by the rows that are left out alone."""
    frame = table("ols").assign(k=lambda t: 3 * t.g + t.index % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = sgmc.ols("y ~ (1 | g) + (1 | k) + (1 | h)", frame, seed=1, draws=100, chains=2)
    with pytest.raises(ArgumentError, match="each level of k is within one of g"):
        results.loo(group="g")
    assert np.isfinite(results.loo(group="k").elpd)


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["rows", "levels"])
def test_folds_have_the_density_without_them(kind):
    """Rows of folds, and of whole levels of g, by the Gaussian without them.  The Monte Carlo error
    of log E[p] by m draws is sqrt((E[p^2] / E[p]^2 - 1) / m), which the Gaussian has too: large for
    rows far out, whose densities at most draws are near zero.  Errors are within four of them, m
    being half of the 2,500 whole draws, as neighbours are correlated.  Planted: rows that are left
    in.
    """
    results, frame = fitted("ols"), table("ols")
    P, a, log_p, sigma = posterior()
    labels = frame.g.to_numpy() if kind == "levels" else None
    found = results.kfold(frame, 3, groups=labels, seed=1, draws=250)
    fold = folds(N, 3, labels, 1)
    wanted, allowed = np.empty(N), np.empty(N)
    for one in range(3):
        rows = np.flatnonzero(fold == one)
        cov = np.linalg.inv(P[:, rows][:, :, rows])  # of these given the others, at each point
        away = np.einsum("gij,gj->gi", cov, a[:, rows])
        joint = 0.5 * np.linalg.slogdet(cov)[1] + 0.5 * np.einsum("gi,gi->g", a[:, rows], away)
        without = log_p + joint
        without -= special.logsumexp(without)
        var = np.einsum("gii->gi", cov)
        each = -0.5 * (np.log(2 * np.pi * var) + away**2 / var)
        wanted[rows] = special.logsumexp(without[:, None] + each, axis=0)
        # N(y; eta, sigma^2) squared is N(y; eta, sigma^2 / 2) / (2 sqrt(pi) sigma)
        s, narrow = sigma[:, None], var - sigma[:, None] ** 2 / 2
        square = -0.5 * (np.log(2 * np.pi * narrow) + away**2 / narrow)
        square -= np.log(2 * np.sqrt(np.pi) * s)
        square = special.logsumexp(without[:, None] + square, axis=0)
        allowed[rows] = 4 * np.sqrt(np.expm1(square - 2 * wanted[rows]) / 1250)
    np.testing.assert_array_less(np.abs(found.elpd_i - wanted), allowed)
    full = special.logsumexp(results.log_lik(), axis=0) - np.log(2500)
    assert (np.abs(full - wanted) > allowed).any() and np.abs(full - wanted).max() > 0.5
