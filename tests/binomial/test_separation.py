"""Separated and lopsided counts."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.identification.separation import lopsided_columns
from sgmc.errors import SeparationWarning

# ---- separation ----------------------------------------------------------------------------------


def grouped(contrary):
    """Two-valued g; all of the failures where it is 1 are `contrary`, spread over rows of many
    successes.
    """
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "g": [1.0] * 4 + [0.0] * 8,
            "x": random.normal(size=12),
            "y": [25, 30, 20, 28, 9, 12, 4, 15, 11, 7, 8, 10],
            "z": [contrary, 0, 0, 0, 10, 9, 12, 5, 9, 14, 8, 13],
        }
    )
    n = (table.y + table.z).to_numpy()
    single = table.loc[np.repeat(table.index, n), ["g", "x"]].assign(
        s=np.concatenate([np.r_[np.ones(a), np.zeros(b)] for a, b in zip(table.y, table.z)])
    )
    return table, single


@pytest.mark.parametrize("contrary", [0, 1, 4, 6])
def test_walls_are_of_trials(contrary):
    table, single = grouped(contrary)
    found = lopsided_columns(
        table[["g", "x"]].to_numpy(), table.y.to_numpy(float), table.z.to_numpy(float)
    )
    assert found == lopsided_columns(
        single[["g", "x"]].to_numpy(), single.s.to_numpy(), 1 - single.s.to_numpy()
    )
    assert [w.contrary for w in found] == ([contrary] if contrary < 5 else [])


def test_a_value_without_trials_is_no_wall():
    X = np.array([[1.0, 0], [0, 1], [0, 2], [0, 3]])
    assert lopsided_columns(X, np.array([0.0, 9, 8, 7]), np.array([0.0, 8, 8, 8])) == []


@pytest.mark.cover(0)
@pytest.mark.parametrize("contrary", [0, 2])
def test_lopsided_counts_have_the_posterior_of_their_single_outcomes(contrary):
    """To Monte Carlo error: 0.1 sd and 5 %."""
    table, single = grouped(contrary)
    how = dict(seed=1, draws=4000, prior={"*": sgmc.normal(0, 3), "Intercept": sgmc.normal(0, 5)})
    if contrary:
        one = sgmc.logit("y + z ~ g + x", table, **how)
        other = sgmc.logit("s ~ g + x", single, **how)
    else:
        with pytest.warns(SeparationWarning, match="some values of g have only one outcome"):
            one = sgmc.logit("y + z ~ g + x", table, **how)
        with pytest.warns(SeparationWarning):
            other = sgmc.logit("s ~ g + x", single, **how)
    assert np.abs((one.params - other.params) / other.bse).max() < 0.1
    assert np.abs(one.bse / other.bse - 1).max() < 0.05


def test_complete_separation_is_of_trials_and_not_of_the_majority_of_a_row():
    with pytest.warns(SeparationWarning, match="completely"):
        sgmc.logit(
            "y + z ~ x",
            pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0, 0, 5, 9], "z": [8, 6, 0, 0]}),
            seed=1,
        )
    majority = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [1, 1, 5, 9], "z": [8, 6, 1, 2]})
    results = sgmc.logit("y + z ~ x", majority, seed=1)
    assert not [w for w in results.warnings if isinstance(w, SeparationWarning)]
