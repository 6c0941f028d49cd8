"""Predictions of saved fits, which have no data: of new levels, from sds and correlations alone."""

from functools import cache

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError

from ..verdict import grouped
from .test_effects import fitted

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
NEW = 1000  # a level that no fit has seen


@cache
def nested():
    """A fit of nested groups, and its table."""
    frame, rng = grouped.table(6, 12, 9, 0.7, 0.4)
    frame = frame.assign(y=grouped.logit(frame, rng))
    return sgmc.logit("y ~ x + (1 | g/h)", frame, seed=1, draws=200), frame


def loaded(results, folder):
    """The same from a file."""
    results.save(folder / "fit")
    return sgmc.load(folder / "fit")


@pytest.mark.parametrize("name, slopes", [("logit", False), ("logit", True), ("ols", True)])
def test_new_levels_are_predicted_without_data(name, slopes, tmp_path):
    """Means are the same to rounding; intervals are of other draws with the same law."""
    results, frame = fitted(name, slopes)
    saved, new = loaded(results, tmp_path), frame.head(4).assign(g=[NEW, NEW + 1, NEW, np.nan])
    assert np.allclose(saved.predict(new), results.predict(new), rtol=1e-9, equal_nan=True)
    spread = [one.get_prediction(new).summary_frame()["mean_se"] for one in (saved, results)]
    assert np.allclose(*spread, rtol=0.1, equal_nan=True)  # four Monte Carlo errors of 2,000 draws
    assert not np.allclose(saved.predict(new, random=False)[:3], saved.predict(new)[:3]) or (
        name == "ols"  # whose effects have mean zero
    )


def test_nested_new_levels_are_predicted_without_data(tmp_path):
    results, frame = nested()
    saved, new = loaded(results, tmp_path), frame.head(3).assign(g=NEW, h=[1, 1, 2])
    spread = [one.get_prediction(new).summary_frame()["mean_se"] for one in (saved, results)]
    assert np.allclose(*spread, rtol=0.2)  # four Monte Carlo errors of 800 draws
    draws = saved.posterior_predict(new, draws=50)
    assert draws.shape == (50, 3)
    with pytest.raises(ArgumentError, match="effects of known levels of g need the data"):
        saved.predict(frame.head(2).assign(h=NEW))


def test_known_levels_need_the_data(tmp_path):
    results, frame = fitted("logit")
    with pytest.raises(ArgumentError, match="effects of known levels of g need the data"):
        loaded(results, tmp_path).predict(frame.head(2).assign(g=[3, NEW]))
