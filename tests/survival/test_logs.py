"""Logs of times, by which a fit begins and priors have their scale."""

import numpy as np

import sgmc
from sgmc.arguments.data.survival import logs_of


def test_logs_of_times_and_of_intervals():
    """Of an interval the middle on the scale of logs, sqrt(2 * 8); of the others the time."""
    y = sgmc.Surv([2.0, 3.0, 5.0, np.nan], [8.0, 3.0, np.nan, 7.0], type="interval2")
    np.testing.assert_allclose(np.exp(logs_of(y)), [4.0, 3.0, 5.0, 7.0])
    y = sgmc.Surv([2.0, 3.0], [1, 0])
    np.testing.assert_allclose(np.exp(logs_of(y)), [2.0, 3.0])
