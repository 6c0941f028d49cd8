"""Nested groups beside factors of the fixed part that stay codes: the density of the dense part."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.expansion import expand
from sgmc.formula.designs import design

N = 300
FORMULAS = {
    "random intercepts": "c ~ x + f + (1 | g/h)",
    "random slopes": "c ~ x + f + (1 + x | g) + (1 | g:h)",
    "no intercept": "c ~ 0 + x + f + (1 | g/h)",
}


def table():
    """Counts, a number, a factor, and groups within groups."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=N), "f": random.choice(list("abcd"), N)})
    frame["g"], frame["h"] = (random.integers(0, k, N).astype(str) for k in (8, 3))
    return frame.assign(c=random.poisson(np.exp(0.3 * frame.x)))


@pytest.mark.cover(0)
@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_densities_are_those_of_the_dense_design(formula, monkeypatch):
    """At the same coefficients of the columns as they are, to rounding: of a dense design the means
    of dummies are taken off, too, and the intercept has them.
    """
    found = []
    for columns in (design.CODED_COLUMNS, 1):
        monkeypatch.setattr(design, "CODED_COLUMNS", columns)
        problem = sgmc.poisson(formula, table(), seed=1, draws=4, warmup=4)._fit.problem
        theta = 0.3 * np.random.default_rng(3).normal(size=(2, problem.model.dim))
        shift = problem.own.rows.table.shift
        theta[:, 0] += theta[:, : len(shift)] @ shift
        found.append([expand(problem.model, one)[0] for one in theta])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10)
