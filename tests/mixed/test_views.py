"""Figures of effects, and effects as ArviZ has them."""

import numpy as np
import pytest

from sgmc.errors import ArgumentError
from sgmc.plots.effects import MOST_LEVELS, caterpillar, ranked

from .test_effects import fitted
from .test_nested_effects import fitted as fitted_nested

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(autouse=True)
def agg():
    pytest.importorskip("matplotlib").use("Agg")


@pytest.mark.extended
def test_levels_are_sorted_by_their_means():
    results, _ = fitted("logit", slopes=True)
    axes, table = results.plot_ranef("g"), results.ranef("g")
    assert [one.get_title() for one in axes] == ["1 | g", "x1 | g"]
    for one, effect in zip(axes, ("1", "x1")):
        means = table.xs(effect, level="effect")["mean"].sort_values()
        assert np.allclose(one.lines[-1].get_xdata(), means)
        assert [label.get_text() for label in one.get_yticklabels()] == list(map(str, means.index))
    assert len(fitted_nested("logit")[0].plot_ranef("g:h")) == 1
    with pytest.raises(ArgumentError, match="name one"):
        fitted_nested("logit")[0].plot_ranef()


def test_few_of_many_levels_are_shown():
    mean = np.random.default_rng(1).normal(size=500)
    shown = ranked(mean)
    assert len(set(shown)) == MOST_LEVELS
    assert shown[0] == mean.argmin() and shown[-1] == mean.argmax()
    assert (np.diff(mean[shown]) > 0).all()
    effects = np.stack([mean, mean - 1, mean + 1], axis=1)[:, None]
    (one,) = caterpillar(effects, [str(k) for k in range(500)], ["1 | g"], ["effect"])
    assert one.get_title() == "1 | g\n60 of 500 levels by rank"


@pytest.mark.extended
def test_effects_in_arviz():
    pytest.importorskip("arviz_base")
    results, _ = fitted_nested("ols", slopes=True)
    tree = results.to_arviz(effects=True)["posterior"]
    assert tree["1|g"].dims == ("chain", "draw", "g") and tree["x|g"].shape[2] == 8
    assert list(tree["g:h"].values[:4]) == ["0:0", "0:1", "0:2", "1:0"]
    draws = results.ranef_draws("g:h", [(2, 1)])[:, 0, 0]
    assert np.array_equal(tree["1|g:h"].sel({"g:h": "2:1"}).values.ravel(), draws)
    assert "1|g" not in results.to_arviz()["posterior"]
