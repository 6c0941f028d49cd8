"""Batches where nothing derives their size: a hundredth of the rows, at least SMALLEST_BATCH."""

import pytest

from sgmc.fit import tolerance


@pytest.mark.parametrize(
    "rows, wanted",
    [(5, 5), (tolerance.SMALLEST_BATCH, tolerance.SMALLEST_BATCH)]
    + [(100 * tolerance.SMALLEST_BATCH - 1, tolerance.SMALLEST_BATCH), (10**6, 10**4)],
)
def test_the_size_of_a_batch(rows, wanted):
    assert tolerance.batch_by_share(rows) == wanted
