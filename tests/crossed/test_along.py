"""Slopes of log densities along directions, which some samplers take instead of gradients: those
of differences, with smooths, whose coordinates are centred at estimates, and crossed factors.
"""

import numpy as np
import pandas as pd
import pytest
from _ext.probes import slope

import sgmc
from sgmc.core import engine
from sgmc.fit.settings import check_settings

from ..contracts.cases import stream

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
STEP = 1e-5


def table(verb):
    """Rows with a curve and two crossed factors."""
    rng, n = np.random.default_rng(6), 150
    frame = pd.DataFrame({"x": rng.uniform(size=n), "z": rng.normal(size=n)})
    frame = frame.assign(g=rng.integers(0, 6, n), h=rng.integers(0, 4, n))
    eta = np.sin(6 * frame.x) + rng.normal(size=6)[frame.g] / 2
    frame["y"] = rng.poisson(np.exp(eta)) if verb == "Poisson" else eta + rng.normal(size=n) / 2
    return frame


def along(found):
    """Slopes along random directions are those of differences."""
    gradient, rng = found.all_rows(), np.random.default_rng(2)
    for _ in range(4):
        x, v = rng.normal(size=(2, found.dim))
        ends = [engine.density(gradient, x + sign * STEP * v) for sign in (1, -1)]
        wanted = (ends[0] - ends[1]) / (2 * STEP)
        assert slope(gradient, x, v, stream(0))[0] == pytest.approx(wanted, rel=1e-5, abs=1e-4)
        assert engine.full(gradient, x)[1] @ v == pytest.approx(wanted, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize(
    "verb, formula",
    [
        ("OLS", "y ~ s(x, k=6)"),
        ("Poisson", "y ~ z + s(x, k=6) + (1 | g)"),
        ("OLS", "y ~ z + (1 + z | g) + (1 | h)"),
    ],
)
def test_slopes_along_directions_are_those_of_differences(verb, formula):
    model = getattr(sgmc, verb).from_formula(formula, table(verb))
    found = model.problem(None, check_settings(seed=1))
    if "s(" in formula:
        assert (
            np.asarray(found.own.rows.blocks.row_precision) > 0
        ).any()  # estimates are in the coordinates
    along(found)


@pytest.mark.parametrize("prior", [sgmc.ridge(), sgmc.horseshoe(learned=True)])
def test_slopes_beside_learned_scales(prior):
    """Maps of what levels share, and of scales, are behind those of effects there."""
    frame = table("OLS")
    model = sgmc.OLS.from_formula("y ~ z + x + (1 | g) + (1 | h)", frame)
    along(model.problem(prior, check_settings(seed=1)))
