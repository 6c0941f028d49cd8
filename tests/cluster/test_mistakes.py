"""Mistakes planted into what partitions return: the verdict sees each of them.

The gradient of what is sampled is compared with that of all rows, by a pass of its own; so a
mistake shows in the error that the summary states, and the fit is not trusted.  Outcomes are rare,
so that what single rows say beyond the quadratic expansion moves the mean by 0.13 sds.
"""

from dataclasses import replace

import numpy as np
import pytest

import sgmc
from sgmc.cluster import mode as cluster_mode
from sgmc.cluster import passes, reservoir, surrogate
from sgmc.errors import DataError, ReservoirWarning, SGMCWarning

from .frames import Frames, rare

RIGHT_ERROR = 0.05  # of the right fit, in sds: seen .01


def fitted():
    """The fit of rare outcomes, in sorted partitions."""
    return sgmc.logit("y ~ x", Frames(rare(), 6), seed=1, reservoir=4000, draws=2000)


def counts_once(monkeypatch):
    """A row of the reservoir counts for itself, not for N/R rows."""
    right = reservoir.surrogate_rows

    def wrong(*given):
        rows, scale = right(*given)
        return replace(rows, weight=np.ones(len(rows))), scale

    monkeypatch.setattr(surrogate, "surrogate_rows", wrong)


def counts_twice(monkeypatch):
    """N/R doubled."""
    right = reservoir.surrogate_rows

    def wrong(*given):
        rows, scale = right(*given)
        return replace(rows, weight=2 * rows.weight), scale

    monkeypatch.setattr(surrogate, "surrogate_rows", wrong)


def first_rows(monkeypatch):
    """The reservoir takes the first rows of sorted partitions."""
    monkeypatch.setattr(
        reservoir, "keys", lambda seed, number, count: (number + np.arange(count) / count) / 6
    )


def one_partition(monkeypatch):
    """The anchor is of the last partition alone."""
    monkeypatch.setattr(cluster_mode, "merged", lambda parts, merge: parts[-1])


def half_a_gradient(monkeypatch):
    """A partition's gradient is lost."""
    right = passes.Expansion.__call__

    def wrong(self, number, data):
        found = right(self, number, data)
        return replace(found, gradient=found.gradient * (number != 5))

    monkeypatch.setattr(passes.Expansion, "__call__", wrong)


def test_the_right_fit_is_trusted():
    res = fitted()
    assert res.verdict.trustworthy and max(res.cluster.error.worst) < RIGHT_ERROR


@pytest.mark.extended
def test_a_lost_gradient_ends_the_search(monkeypatch):
    half_a_gradient(monkeypatch)
    with pytest.raises(DataError, match="stopped .* posterior sds away"):
        fitted()


@pytest.mark.extended
@pytest.mark.parametrize("plant", [counts_once, counts_twice, first_rows, one_partition])
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_mistake_is_seen(monkeypatch, plant):
    plant(monkeypatch)
    res = fitted()
    print(plant.__name__, res.cluster.error.worst, res.verdict)
    assert not res.verdict.trustworthy
    assert any(isinstance(one, ReservoirWarning) for one in res.warnings)
    assert "reservoir" in str(res.verdict) and issubclass(ReservoirWarning, SGMCWarning)
