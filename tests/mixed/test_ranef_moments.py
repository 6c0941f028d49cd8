"""Means and sds of `ranef`, from the draws of the parameters in closed form: with normal outcomes
the effects of a level given the parameters are normal, and their posterior is the mixture.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc

LEVELS = 8

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    g = np.repeat(np.arange(LEVELS), 2 + np.arange(LEVELS) // 2)
    x = rng.normal(size=len(g))
    y = 1 + 0.5 * x + rng.normal(size=LEVELS)[g] + rng.normal(size=len(g))
    frame = pd.DataFrame({"y": y, "x": x, "g": g})
    return frame, sgmc.ols("y ~ x + (1 | g)", frame, seed=2, draws=300)


def moments(frame, results):
    """(mean, sd within) of each level at each draw, (level, draw)."""
    a, b, tau, sigma = results.flat.T
    found = []
    for _, rows in frame.groupby("g"):
        residual = rows.y.to_numpy()[:, None] - a - b * rows.x.to_numpy()[:, None]
        variance = 1 / (len(rows) / sigma**2 + 1 / tau**2)
        found.append((variance * residual.sum(axis=0) / sigma**2, np.sqrt(variance)))
    return np.array(found).swapaxes(0, 1)


def test_means_and_sds_are_those_of_the_mixture(fitted):
    mean, within = moments(*fitted)
    table = fitted[1].ranef()
    np.testing.assert_allclose(table["mean"], mean.mean(axis=1), rtol=1e-6)
    wanted = np.sqrt(mean.var(axis=1) + (within**2).mean(axis=1))
    np.testing.assert_allclose(table["sd"], wanted, rtol=1e-6)
    assert (mean.std(axis=1) < 0.8 * wanted).all()  # what is left within a draw is seen


def test_quantiles_are_those_of_draws_with_that_spread(fitted):
    """95 % of a level's draws lie between its ends; their sd is the table's to 10 %."""
    table, draws = fitted[1].ranef(), fitted[1].ranef_draws()[..., 0]
    between = (draws > table["2.5%"].to_numpy()) & (draws < table["97.5%"].to_numpy())
    np.testing.assert_allclose(between.mean(axis=0), 0.95, atol=0.005)
    np.testing.assert_allclose(draws.std(axis=0), table["sd"], rtol=0.1)
