"""Log densities of compiled models of ordered levels, and of their families, against numpy."""

import numpy as np
import pytest
from _ext.probes import block


def assert_density(probe, family, place, steps, y, right, extra=None):
    """Assert that the compiled model, the family's density and its mean have a log density, to
    1e-10.

    Parameters
    ----------
    probe : Probe
        Of one outcome.
    family : Family
    place : sequence
        The linear predictors of its row.
    steps : array (k,)
        What the compiled model has behind these.
    y : int
        The outcome.
    right : float
    extra : array (k,), optional
        What the family has in the place of `steps`; default: the same.
    """
    found = probe.value([*place, *steps], block(0, 1))
    assert found == pytest.approx(right, rel=1e-10, abs=1e-10)
    extra = np.asarray(steps if extra is None else extra)[:, None]
    eta = family.predictors(np.ones((1, len(place))), np.array([place]), np.zeros(1), extra)
    own = family.log_density(np.array([[y]]), eta, extra)[0, 0]
    assert own == pytest.approx(right, rel=1e-10, abs=1e-10)
    assert np.log(family.mean(eta)[y, 0, 0]) == pytest.approx(right, rel=1e-10, abs=1e-10)
