"""Four effects of each level: grids of nodes, and points of importance sampling."""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.core.designs.design import design
from sgmc.core.expansion import of_rows
from sgmc.errors import NotSupported, QuadratureWarning, SGMCWarning
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.latent.densities.quadrature import Quadrature
from sgmc.models.regression.latent.densities.rules import SETS, scattered_rule

from .tables import family_of, marginal, slopes

Q, GROUPS, ROWS = 4, 6, 8
SDS = np.array([0.8, 0.6, 0.5, 0.4])
THETA = np.array([-0.3, 0.4, 0.2, -0.2, *SDS])


def rows(groups=GROUPS, each=ROWS):
    """Groups of as many rows."""
    rng = np.random.default_rng(2)
    g = np.repeat(np.arange(groups), each)
    X = np.column_stack([np.ones(len(g)), rng.normal(size=(len(g), Q - 1))])
    eta = X @ THETA[:Q] + (X * SDS * rng.normal(size=(groups, Q))[g]).sum(axis=1)
    y = (rng.random(len(g)) < special.expit(eta)) * 1.0
    starts = np.arange(0, len(g) + 1, each)
    return dict(X=X, y=y, Z=X, starts=starts)


def by_points(table, sds):
    """The log density by 2^16 points of Sobol's sequence from the effects' law."""
    z = special.ndtri(stats.qmc.Sobol(Q, seed=3).random(1 << 16)) * sds
    total = 0.0
    for a, b in zip(table["starts"][:-1], table["starts"][1:]):
        X, y = table["X"][a:b], table["y"][a:b, None]
        eta = X @ THETA[:Q, None] + X @ z.T
        total += special.logsumexp((y * eta - np.logaddexp(0, eta)).sum(axis=0)) - np.log(len(z))
    return total


def by_nodes(table, nodes):
    """The compiled one."""
    model = marginal(family_of("logit"), table, THETA, [(Q, False)], nodes)
    return of_rows(model, THETA)[0]


def test_more_nodes_are_nearer():
    """The points are right to 1e-3; two nodes leave a twentieth, five nothing that they show."""
    table = rows()
    right = by_points(table, SDS)
    away = [abs(by_nodes(table, nodes) - right) for nodes in (2, 3, 5)]
    assert away[0] < 0.2 and away[1] < away[0] and away[2] < 3e-3
    assert abs(by_points(table, np.sqrt(2) * SDS) - right) > 0.1  # a mistake would be seen


def scattered(table, points, blocks=((Q, False),), theta=THETA):
    """The compiled density by points of importance sampling."""
    glm = family_of("logit").kernel(design(table["X"]), table["y"])
    loading = Loading(list(blocks))
    made = Quadrature(glm, table["starts"], table["Z"], loading, None, points, scattered_rule)
    return made.anchored(theta)


def differences(table, points, scale=1.0):
    """Errors of differences of log densities between two points that are a posterior sd apart."""
    moved = THETA + 0.2 * np.array([1, -1, 1, -1, 1, -1, 1, -1])
    kernel = scattered(table, points)
    found = of_rows(kernel, moved)[0] - of_rows(kernel, THETA)[0]
    grid = marginal(family_of("logit"), table, THETA, [(Q, False)], 9)
    moved[Q:] *= scale
    return abs(found - (of_rows(grid, moved)[0] - of_rows(grid, THETA)[0]))


def test_scattered_points_agree_with_grids():
    """Grids of 9^4 nodes are right to 1e-4; a mistake of a tenth of an sd would be seen."""
    table = rows()
    assert differences(table, 128) < 0.03 and differences(table, 1024) < 0.005
    assert differences(table, 1024, 1.1) > 0.02


def test_groups_have_points_of_their_own():
    """Six copies of a group, which have different errors, and all of them in 64 turns."""
    table = rows()
    X, y = np.tile(table["X"][:ROWS], (SETS + 1, 1)), np.tile(table["y"][:ROWS], SETS + 1)
    copies = dict(X=X, y=y, Z=X, starts=np.arange(0, len(y) + 1, ROWS))
    kernel = scattered(copies, 32)
    values = [of_rows(kernel, THETA, slice(g, g + 1))[0] for g in range(SETS + 1)]
    assert len(set(values[:SETS])) == SETS and values[SETS] == values[0]
    exact = by_nodes(dict(copies, X=X[:ROWS], y=y[:ROWS], Z=X[:ROWS], starts=[0, ROWS]), 9)
    apart = np.array(values[:SETS]) - exact
    assert abs(apart.mean()) < 4 * apart.std() / np.sqrt(SETS) + apart.var()


def test_gradients_through_scattered_points():
    """By differences; correlations too."""
    table = rows()
    theta = np.append(THETA, [0.3, -0.2, 0.1, 0.2, -0.1, 0.3])
    kernel = scattered(table, 64, [(Q, True)], theta)
    theta = theta + 0.05
    gradient = of_rows(kernel, theta)[1]
    by_differences = slopes(lambda at: of_rows(kernel, at, slope=False)[0], theta)
    assert np.allclose(gradient, by_differences, rtol=1e-6, atol=1e-6)


def fit(groups, **how):
    """Four effects of each level."""
    table = rows(groups, 15)
    frame = pd.DataFrame(table["X"][:, 1:], columns=["a", "b", "c"])
    frame = frame.assign(y=table["y"], g=np.repeat(np.arange(groups), 15))
    formula = "y ~ a + b + c + (a + b + c || g)"
    with pytest.warns(SGMCWarning):
        return sgmc.logit(formula, frame, seed=1, draws=100, warmup=100, **how), frame


@pytest.mark.extended
def test_fits_take_as_many_points_as_integrals_need():
    results, frame = fit(25)
    rule = results._fit.problem.own.rule
    assert rule.scheme.scattered and rule.error <= 0.05 and rule.nodes >= 128
    points = f"by {rule.nodes} points of importance sampling per group"
    assert points in str(results.summary(details=True))
    assert not any(isinstance(one, QuadratureWarning) for one in results.warnings)
    assert results.ranef("g").shape == (4 * 25, 4)
    assert np.isfinite(results.predict(frame)).all() and np.isfinite(results.loo(group=True).elpd)


@pytest.mark.extended
def test_rows_are_left_out_by_scattered_points():
    """As by a finer rule, whose posterior is the same to Monte Carlo error."""
    with pytest.warns(SGMCWarning):
        coarse, fine = (fit(10, nodes=nodes)[0].loo(seed=1) for nodes in (64, 256))
    assert abs(coarse.elpd - fine.elpd) < 1.0 and abs(coarse.elpd - fine.elpd) < 0.2 * fine.se


def test_fits_say_how_coarse_integrals_are():
    """Eight points are too few, which the verdict tells."""
    results, _ = fit(6, nodes=8)
    assert any("8 points of each level" in str(one) for one in results.warnings)
    assert not results.verdict.trustworthy and "too coarse" in str(results.verdict)


def test_a_single_node_is_laplace():
    """Effects have the law of its normal approximation; leaving out is refused."""
    table = rows()
    frame = pd.DataFrame({"y": table["y"], "g": np.repeat(np.arange(GROUPS), ROWS)})
    with pytest.warns(SGMCWarning):
        results, other = (
            sgmc.logit("y ~ 1 + (1 | g)", frame, nodes=nodes, seed=1, draws=300)
            for nodes in (1, None)
        )
    ratio = results.ranef()["sd"] / other.ranef()["sd"]
    assert (ratio > 0.5).all() and (ratio < 1.25).all()  # that of a node alone has no spread
    with pytest.raises(NotSupported, match="nodes=3"):
        results.loo()
