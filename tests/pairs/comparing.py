"""How results are compared with the reference.

What follows from the draws is equal to rounding: RTOL.  Effects of crossed factors, of smooths and
of several linear predictors are kept in fewer digits (KEPT).  What a method draws itself is within
six standard errors: a share of 2e-9 of correct results is further away.
"""

import warnings

import numpy as np
import pytest

import sgmc

from .factors import SEVERAL, STAGED

RTOL, KEPT = 1e-8, 1e-5
MARGIN = 6  # standard errors
REFUSALS = (sgmc.errors.SGMCError,)


def assert_same(made, found, wanted, what, rtol=None):
    """Equal to rounding, on the scale of what is wanted."""
    sampled = made.case.groups in ("crossed", "smooth")
    several = made.case.family in SEVERAL or made.case.terms in STAGED
    sampled |= several and made.case.groups != "none"
    rtol = rtol or (KEPT if sampled else RTOL)
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, {wanted.shape} wanted"
    gaps = np.isnan(wanted)
    assert (np.isnan(found) == gaps).all(), f"{what}: NaN at {np.isnan(found).nonzero()}"
    size = np.max(np.abs(wanted[~gaps]), initial=1e-12)
    away = np.max(np.abs(found - wanted)[~gaps], initial=0.0) / size
    assert away <= rtol, f"{what}: {away:.2g} of the largest value away, {found} for {wanted}"


def assert_near(found, wanted, error, what):
    """Within `MARGIN` standard errors."""
    away = np.abs(np.asarray(found, dtype=float) - wanted) / error
    assert np.nanmax(away) < MARGIN, f"{what}: {np.nanmax(away):.1f} standard errors away"


def assert_refused(call, *words):
    """An error of the package whose text has one of the words."""
    with pytest.raises(REFUSALS) as caught:
        quiet(call)
    assert not words or any(word in str(caught.value) for word in words), str(caught.value)


def quiet(call):
    """The result of a call, warnings aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()
