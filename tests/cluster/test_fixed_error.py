"""Errors that a reservoir of rows leaves, estimated from one, against those of many reservoirs."""

import numpy as np
import pytest

from sgmc.cluster.fixed_error import estimated, measured

ROWS, GROUPS = 2000, 50


@pytest.mark.parametrize("kept", [500, 1500])
def test_estimated_sds_are_those_over_reservoirs(kept):
    """Of sums of rows without replacement: N sd sqrt((1 - R / N) / R), for shifts of means that are
    constant over draws, and for changes of sds, half of slopes that are linear in them.
    """
    rng = np.random.default_rng(5)
    remainders, z = rng.gamma(2.0, size=(ROWS, 2)), np.array([[1.0], [-1.0]])
    sample = rng.permutation(ROWS)[:kept]
    each = remainders[sample] * ROWS / kept  # of a row: a shift, and a slope along z
    sums = np.add.reduceat(each, np.linspace(0, kept, GROUPS, endpoint=False).astype(int))
    groups = sums[:, None, :1] + sums[:, None, 1:] * z
    mean_sd, sd_sd = estimated(groups, z, np.eye(1), kept / ROWS)
    wanted = ROWS * remainders.std(axis=0) * np.sqrt((1 - kept / ROWS) / kept)
    np.testing.assert_allclose(mean_sd, wanted[:1], rtol=0.25)
    np.testing.assert_allclose(sd_sd, wanted[1:] / 2, rtol=0.25)
    totals = [
        ROWS / kept * remainders[rng.permutation(ROWS)[:kept]].sum(axis=0) for _ in range(500)
    ]
    np.testing.assert_allclose(np.std(totals, axis=0), wanted, rtol=0.1)


def test_measured_errors_have_one_standard_error_more():
    rng = np.random.default_rng(2)
    z = rng.normal(size=(20, 1))
    z, e = np.concatenate([z, -z]), np.concatenate([rng.normal(0.3, 1, size=(20, 1))] * 2)
    mean, sd = measured(e, z, np.eye(1))
    error = e[:20].std(ddof=1) / np.sqrt(20)
    assert mean[0] == pytest.approx(abs(e[:20].mean()) + error)
    assert sd[0] == pytest.approx(0.0, abs=1e-12)  # e is the same at z and -z
