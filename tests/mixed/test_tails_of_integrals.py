"""Groups whose likelihood levels off: a rule of few nodes misses what large sds have there."""

import numpy as np
import pandas as pd
import pytest

import sgmc

# three groups of 8 rows whose levels differ much, as simulated, to three digits
TIMES = """
3.53 33.1 0.0308 0.377 167.0 0.135 2.03 12.2 0.00999 2.76 48.1 0.127
3.53 52.1 0.0749 0.227 87.2 0.0176 0.117 79.0 0.104 0.624 30.0 0.0156
"""
X = """
-0.669 -0.836 0.316 -0.14 0.332 1.0 1.01 -1.11 -0.856 -0.256 0.124 0.938
-0.962 -0.437 0.247 1.23 1.38 -1.01 -0.212 -0.808 0.847 0.447 -0.358 -0.611
"""


@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")  # three groups
def test_the_tail_of_an_sd_does_not_depend_on_the_number_of_nodes():
    """With inverse Gaussian outcomes the likelihood of an effect levels off on one side, where its
    normal prior alone ends it: 39 nodes lost a sixth of the posterior sd of ``sd(1|g)``, and the
    fit was trusted to 0.08. Twice the sum of both Monte Carlo errors, some 0.02 each, is 0.08.
    """
    df = pd.DataFrame({"t": np.array(TIMES.split(), float), "x": np.array(X.split(), float)})
    df["g"] = np.arange(len(df)) % 3
    fits = [
        sgmc.inversegaussian("t ~ x + (1 | g)", df, seed=3, nodes=nodes, draws=4000)
        for nodes in (None, 159)
    ]
    mean, right = (fit.params["sd(1|g)"] for fit in fits)
    sd, spread = (fit.bse["sd(1|g)"] for fit in fits)
    assert mean == pytest.approx(right, abs=0.08 * spread)
    assert sd == pytest.approx(spread, rel=0.12)
