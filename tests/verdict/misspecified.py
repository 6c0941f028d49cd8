"""Mistakes in the mode that a regression goes by."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from sgmc.models.regression import problem as problems


@contextmanager
def misspecified(shift, stretch):
    """Within it, the search for the mode finds a wrong one."""
    real = problems.find_regression_mode

    def wrong(*arguments):
        found = real(*arguments)
        sd = 1 / np.sqrt(np.diag(found.mode.precision))
        mode = replace(
            found.mode,
            theta=found.mode.theta + shift * sd,
            likelihood=found.mode.likelihood / stretch**2,
        )
        return replace(found, mode=mode)

    problems.find_regression_mode = real if (shift, stretch) == (0, 1) else wrong
    try:
        yield
    finally:
        problems.find_regression_mode = real
