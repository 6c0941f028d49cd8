"""Rates held over a step: the error on a standard normal is the documented one, of first order;
planted mistakes are not.

`SGPDMP.inflation` is first order in h: at the steps here the second order is within SECOND of it.
"""

import numpy as np
import pytest
from _ext.mistakes import Astray
from _ext.probes import Misscaled

from .cases import HELD, SCHEMES
from .montecarlo import LIMIT
from .noisy_normal import BATCH, N, inflation

# relative: at h sqrt(V) = 0.45 the zig-zag's error was 9 to 19 % above the formula,
# at half of it 0 to 9 %
SECOND = 0.2
# relative: the bouncy form's factor is a fit to 5 to 100 dimensions from above,
# and the error is less in fewer
MEASURED = 0.45
EVENTS = 800_000


def allowed(name):
    """Relative error of the formula."""
    return MEASURED if HELD[name].values().get("dynamics") == "bouncy" else SECOND


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "dim, noise, h",
    [(1, 2.0, 0.2), (5, 2.0, 0.1), (5, 20.0, 0.05), (20, 2.0, 0.1), (20, 20.0, 0.05)],
)
@pytest.mark.parametrize("name", HELD)
def test_the_error_is_that_of_the_formula(name, dim, noise, h):
    found, error, _ = inflation(HELD[name], dim, noise, step=h, events=EVENTS)
    expected = HELD[name].inflation(h, noise)
    if dim == 1 and allowed(name) == MEASURED:
        assert 0 < found < expected + LIMIT * error
    else:
        assert abs(found - expected) < allowed(name) * expected + LIMIT * error
    assert error < 0.25 * expected


@pytest.mark.extended
@pytest.mark.parametrize("name", HELD)
def test_it_halves_with_the_step(name):
    """First order: the ratio of the errors at h and h/2, in the Monte Carlo error of it, is 2 but
    for a second order of a tenth of h.
    """
    (a, da, _), (b, db, _) = (
        inflation(HELD[name], 5, 5.0, step=h, events=4 * EVENTS) for h in (0.16, 0.08)
    )
    ratio = a / b
    assert abs(ratio - 2) < 0.3 + LIMIT * ratio * np.hypot(da / a, db / b)
    assert LIMIT * np.hypot(da / a, db / b) < 0.4  # so that neither order 0 nor 2 would pass


@pytest.mark.mistake("held: sign of the reflection")
@pytest.mark.parametrize("name", HELD)
def test_a_wrong_sign_is_caught(name):
    found, error, _ = inflation(HELD[name], 5, 2.0, step=0.1, transition=Astray)
    assert abs(found - HELD[name].inflation(0.1, 2.0)) > LIMIT * error + allowed(name)


@pytest.mark.extended
@pytest.mark.mistake("held: scale x {factor}")
@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("name", HELD)
def test_a_wrong_scale_is_caught(name, factor):
    found, error, _ = inflation(
        HELD[name],
        5,
        2.0,
        step=0.02,
        events=EVENTS,
        rows=Misscaled(SCHEMES["uniform"](N, BATCH), factor),
    )
    expected = HELD[name].inflation(0.02, 2.0)
    assert abs(found - expected) > allowed(name) * expected + LIMIT * error
