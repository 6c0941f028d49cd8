"""Tails by the scores at the outermost draws: of chains that stayed, and of what has no sign."""

import warnings

import numpy as np
import pytest
from scipy import stats

from sgmc.results.checks.scores import edges
from sgmc.results.checks.scores.edges import Line, of_tail


@pytest.fixture
def scored(monkeypatch):
    """Draws with the scores of a t distribution with a number of degrees of freedom."""

    def of(df):
        def scores_at(fit, x, start, kind):
            return -(df + 1) * x / (df + x**2)

        monkeypatch.setattr(edges, "scores_at", scores_at)

    return of


def test_two_places_tell_no_curve(scored):
    """Of draws with two values a parabola is not determined: numpy warned, and gave one of many."""
    scored(3)
    x = np.where(np.arange(200) < 100, 0.0, 9.0)
    x[0] = 9.5
    x[100:] = np.where(np.arange(100) < 50, 9.0, 9.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = of_tail(None, x[:, None], x, Line(x, np.ones(1)), np.argsort(-x))
    assert np.isnan(found)


@pytest.mark.parametrize("df", [3, 8])
def test_tails_without_signs_are_those_of_either_sign(scored, df):
    """|x| of a t law, whose index there is 1 / ((df + 1) x^2 / (df + x^2) - 1), about 1 / df; its
    distance is from the median of |x|, not from zero, which makes it a quarter larger.
    """
    scored(df)
    x = stats.t(df).rvs(4000, random_state=np.random.default_rng(df))
    order = np.argsort(-np.abs(x))
    edge = x[order[:10]]
    expected = 1 / (np.mean((df + 1) * edge**2 / (df + edge**2)) - 1)
    found = of_tail(None, x[:, None], np.abs(x), Line(x, np.ones(1), np.sign(x)), order)
    assert found == pytest.approx(expected, rel=0.34)


def test_forgotten_signs_show(scored):
    """Without them values are no function of z, or of another slope."""
    scored(3)
    x = stats.t(3).rvs(4000, random_state=np.random.default_rng(3))
    found = of_tail(None, x[:, None], np.abs(x), Line(x, np.ones(1)), np.argsort(-np.abs(x)))
    assert found != pytest.approx(1 / 3, rel=0.34)
