"""Effects of groups within groups and predictions with them, against matrices and grids."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc import registry
from sgmc.errors import ArgumentError
from sgmc.models.regression.latent.effects.random_effects import effects_of_fit

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
COPIES = 20_000  # of one draw of the parameters
G, H = 2, (2, 1)  # the levels that are looked at; labels of h are used again in each g


def table(name, slopes=False):
    """Eight levels of g with three of h each, four rows a level of h."""
    rng = np.random.default_rng(3)
    g, h = np.repeat(np.arange(8), 12), np.tile(np.repeat(np.arange(3), 4), 8)
    x = rng.normal(size=96)
    eta = 0.3 + 0.5 * x + 0.8 * rng.normal(size=8)[g] + 0.6 * rng.normal(size=(8, 3))[g, h]
    eta += 0.5 * rng.normal(size=8)[g] * x if slopes else 0.0
    family = registry.room("families")[name].family
    y = family.simulate(eta, rng, np.array([[0.7]]) if family.auxiliary else None)
    return pd.DataFrame(dict(y=y, x=x, g=g, h=h))


@cache
def fitted(name, slopes=False):
    """A fit with few draws, whose law does not matter here, and its table."""
    frame = table(name, slopes)
    bars = "(1 + x | g) + (1 | g:h)" if slopes else "(1 | g/h)"
    model = registry.room("families")[name].from_formula(f"y ~ x + {bars}", frame)
    return model.fit(seed=1, draws=300), frame


@cache
def drawn(name, slopes=False):
    """Draws of (effects of G, effect of H) given one draw of the parameters, (COPIES, k), the mean
    of the inner effect given the outer ones, averaged, and the parameters.
    """
    results, _ = fitted(name, slopes)
    outer, inner = (
        one.with_draws(np.full(COPIES, 11))
        for one in effects_of_fit(results._fit, 1, results.model.sizes)
    )
    at = results.model.factor_levels[1].get_loc(H)
    b, (c, mean, _) = outer.known(np.array([G]))[0][0], inner.known(np.array([at]))
    return np.column_stack([b, c[0]]), mean[0].mean(), results.flat[11]


def by_matrices(slopes, wrong=""):
    """Mean and covariance of (effects of G, effect of H) given one draw, of normal outcomes."""
    results, frame = fitted("ols", slopes)
    theta, rows = results.flat[11], frame[frame.g == G]
    q = 2 if slopes else 1
    X = results.model.spec.matrix(rows)
    Z = np.column_stack([X[:, :q], (rows.h.to_numpy()[:, None] == np.arange(3)) * 1.0])
    sds = np.append(theta[2 : 2 + q], np.full(3, theta[2 + q]))
    cor = np.eye(q + 3)
    if slopes:
        cor[0, 1] = cor[1, 0] = theta[5]
    D = cor * np.outer(sds, sds)
    if wrong == "sds exchanged":
        D = np.diag(np.append(theta[3], np.full(3, theta[2])) ** 2)
    V = Z @ D @ Z.T + theta[-1] ** 2 * np.eye(len(rows))
    mean = D @ Z.T @ np.linalg.solve(V, rows.y - X @ theta[:2])
    cov = D - D @ Z.T @ np.linalg.solve(V, Z @ D)
    kept = [*range(q), q + H[1]]
    cov = cov[np.ix_(kept, kept)]
    return mean[kept], np.diag(np.diag(cov)) if wrong == "inner apart from outer" else cov


def by_grid(name, wrong=""):
    """The same of one effect of either level and any family, on a grid of both."""
    results, frame = fitted(name)
    theta, family = results.flat[11], results.model.family
    rows, sds = frame[frame.g == G], theta[2:4]
    if wrong == "sds exchanged":
        sds = sds[::-1]
    b, c = (np.linspace(-6 * sd, 6 * sd, 161) for sd in sds)
    extra = theta[4:].reshape(-1, 1, 1, 1) if len(theta) > 4 else None
    total = -0.5 * (b / sds[0]) ** 2
    for h in range(3):
        one = rows[rows.h == h]
        eta = (results.model.spec.matrix(one) @ theta[:2])[:, None, None] + b[:, None] + c
        value = family.log_density(one.y.to_numpy()[:, None, None], eta, extra).sum(axis=0)
        value = value - 0.5 * (c / sds[1]) ** 2
        whole = special.logsumexp(value, axis=1)
        total = total + whole
        if h == H[1]:
            inside = np.exp(value - whole[:, None])
    p = np.exp(total - special.logsumexp(total))
    first, second = inside @ c, inside @ c**2
    mean = np.array([p @ b, p @ first])
    cross = p @ (b * first) - mean.prod()
    cov = np.array([[p @ b**2 - mean[0] ** 2, cross], [cross, p @ second - mean[1] ** 2]])
    return mean, np.diag(np.diag(cov)) if wrong == "inner apart from outer" else cov


def errors(name, slopes=False, wrong=""):
    """Of means in sds, of sds, and of correlations, the largest."""
    draws, centre, _ = drawn(name, slopes)
    mean, cov = by_matrices(slopes, wrong) if name == "ols" else by_grid(name, wrong)
    sd = np.sqrt(np.diag(cov))
    return max(
        np.abs((draws.mean(axis=0) - mean) / sd).max(),
        np.abs((centre - mean[-1]) / sd[-1]),
        np.abs(draws.std(axis=0) / sd - 1).max(),
        np.abs(np.corrcoef(draws.T) - cov / np.outer(sd, sd)).max(),
    )


@pytest.mark.extended
@pytest.mark.parametrize(
    "name, slopes",
    [("ols", False), ("ols", True), ("logit", False), ("poisson", False), ("gamma", False)],
)
def test_effects_given_parameters(name, slopes):
    """20,000 draws: four Monte Carlo errors are 0.03, of correlations too."""
    assert errors(name, slopes) < 0.03


@pytest.mark.extended
@pytest.mark.mistake("nested effects: {mistake}")
@pytest.mark.parametrize("name", ["ols", "logit"])
@pytest.mark.parametrize("mistake", ["sds exchanged", "inner apart from outer"])
def test_mistakes_are_seen(name, mistake):
    assert errors(name, wrong=mistake) > 0.06


@pytest.mark.extended
def test_tables_of_effects_have_the_levels():
    results, frame = fitted("logit")
    found = results.ranef()
    assert list(found) == ["g", "g:h"] == list(results.random_effects)
    assert list(found["g"].index) == list(range(8)) and found["g"].index.name == "g"
    assert found["g:h"].index.names == ["g", "h"] and len(found["g:h"]) == 24
    assert results.random_effects["g:h"][H]["1"] == found["g:h"].loc[H, "mean"]
    draws = results.ranef_draws("g:h", [H])[:, 0, 0]
    assert np.allclose(found["g:h"].loc[H, "2.5%"], np.quantile(draws, 0.025))
    assert list(results.cov_re.index) == ["1|g", "1|g:h"]
    both = fitted("ols", slopes=True)[0].ranef("g")
    assert both.index.names == ["g", "effect"] and len(both) == 16
    with pytest.raises(ArgumentError, match="'g' and 'g:h'; name one"):
        results.ranef_draws()
    with pytest.raises(ArgumentError, match="no grouping factor 'h'"):
        results.ranef("h")
    with pytest.raises(ArgumentError, match=r"there is no \(2, 9\)"):
        results.ranef_draws("g:h", [(2, 9)])


def linear(results, new):
    """Linear predictors of new rows, (row, draw), without the fixed part."""
    rows = results.table_rows(new)
    eta = np.empty((len(new), rows.m))
    for at, part in rows.blocks():
        eta[rows.place(at)] = part
    return eta - results.model.spec.matrix(new) @ results.flat[:, :2].T


@pytest.mark.extended
def test_predictions_of_known_levels():
    results, frame = fitted("logit")
    some = frame.iloc[[30, 31, 60]]
    b, c = results.ranef_draws("g")[..., 0], results.ranef_draws("g:h")[..., 0]
    levels = results.model.factor_levels[1].get_indexer(list(zip(some.g, some.h)))
    expected = b[:, some.g].T + c[:, levels].T
    assert np.allclose(linear(results, some), expected)
    eta = results.model.spec.matrix(some) @ results.flat[:, :2].T + expected
    assert np.allclose(results.predict(some), special.expit(eta).mean(axis=1))
    assert np.allclose(results.predict()[some.index], results.predict(some))


@pytest.mark.extended
def test_predictions_of_new_levels():
    """A new h in a known g has its effect and one of its own; those of new levels are independent,
    with the sds of the population, within four Monte Carlo errors.
    """
    results, frame = fitted("logit")
    new = pd.DataFrame(dict(x=0.0, g=[2, 2, 2, 90, 90, 91], h=[7, 7, 8, 1, 2, 1]))
    eta, few = linear(results, new), 4 / np.sqrt(len(results.flat))
    own = eta - np.vstack(
        [np.tile(results.ranef_draws("g", [2])[:, 0, 0], (3, 1)), np.zeros_like(eta[:3])]
    )
    assert np.array_equal(eta[0], eta[1]) and not np.array_equal(eta[0], eta[2])
    share = own[[0, 2]] / results.flat[:, 3]
    assert np.abs(share.std(axis=1) - 1).max() < few and np.abs(np.corrcoef(share)[0, 1]) < few
    outer, inner = results.flat[:, 2] ** 2, results.flat[:, 3] ** 2
    assert abs((eta[3] * eta[4]).mean() / outer.mean() - 1) < 3 * few  # the same g
    assert abs((eta[3] * eta[5]).mean() / outer.mean()) < 3 * few
    assert abs((eta[3] ** 2).mean() / (outer + inner).mean() - 1) < 3 * few
    for column in ("g", "h"):
        lacking = new.astype({column: object}).assign(**{column: None})
        assert np.isnan(results.predict(lacking)).all()
    with pytest.raises(ArgumentError, match=r"levels of g:h that the fit has not seen: \(2, 7\)"):
        results.predict(new.head(3), new_levels="error")
    with pytest.raises(ArgumentError, match="levels of g that the fit has not seen: 90, 91"):
        results.predict(new, new_levels="error")


def test_labels_that_are_not_used_again_are_nested_as_they_are():
    frame = table("ols").assign(u=lambda t: 10 * t.g + t.h)
    results = sgmc.ols("y ~ x + (1 | g) + (1 | u)", frame, draws=50, seed=1)
    assert list(results.ranef()) == ["g", "u"] and 21 in results.ranef("u").index
    known = linear(results, frame.head(1))
    assert np.allclose(
        known, (results.ranef_draws("g", [0]) + results.ranef_draws("u", [0]))[:, 0].T
    )
