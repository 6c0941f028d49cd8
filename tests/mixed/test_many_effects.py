"""Four effects of each level, whose nodes are many."""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.errors import NotSupported, QuadratureWarning, SGMCWarning

from .tables import family_of, marginal

Q, GROUPS, ROWS = 4, 6, 8
SDS = np.array([0.8, 0.6, 0.5, 0.4])
THETA = np.array([-0.3, 0.4, 0.2, -0.2, *SDS])


def rows():
    """Six groups of eight rows."""
    rng = np.random.default_rng(2)
    g = np.repeat(np.arange(GROUPS), ROWS)
    X = np.column_stack([np.ones(len(g)), rng.normal(size=(len(g), Q - 1))])
    eta = X @ THETA[:Q] + (X * SDS * rng.normal(size=(GROUPS, Q))[g]).sum(axis=1)
    y = (rng.random(len(g)) < special.expit(eta)) * 1.0
    starts = np.arange(0, len(g) + 1, ROWS)
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


def test_fits_say_how_coarse_integrals_are():
    table = rows()
    frame = pd.DataFrame(table["X"][:, 1:], columns=["a", "b", "c"])
    frame = frame.assign(y=table["y"], g=np.repeat(np.arange(GROUPS), ROWS))
    formula = "y ~ a + b + c + (a + b + c || g)"
    with pytest.warns(SGMCWarning):
        results = sgmc.logit(formula, frame, seed=1, draws=100, warmup=100)
    assert any(isinstance(one, QuadratureWarning) for one in results.warnings)
    assert not results.verdict.trustworthy and results.ranef("g").shape == (4 * GROUPS, 4)
    assert np.isfinite(results.predict(frame)).all()


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
