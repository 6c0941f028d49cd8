"""Predicted means with effects integrated out: against grids, draws, and rows one by one."""

import numpy as np
import pytest

from sgmc.models.regression.latent.effects import integrated_means as integrated
from sgmc.results.outcomes.data.rows import Rows

from .test_effects import LEVEL, VERBS, at_one_point, fitted

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
DRAW = 7  # the one that `at_one_point` has
WITHIN = 1e-3  # of nine nodes, relative to means


def conditional_law(name, new):
    """A grid of effects of a level at one draw, and their probabilities given its outcomes, or
    those of a level without any.
    """
    results, frame = fitted(name)
    draw, family = at_one_point(name, 1)[1], results.model.family
    b = np.linspace(-8 * draw[3], 8 * draw[3], 4001)
    value = -0.5 * (b / draw[3]) ** 2
    if not new:
        rows = frame[frame.g == LEVEL]
        eta = (results.model.spec.matrix(rows) @ draw[:3])[:, None] + b
        extra = draw[4:, None] if len(draw) > 4 else None
        value = value + family.log_density(rows.y.to_numpy()[:, None], eta, extra).sum(axis=0)
    p = np.exp(value - value.max())
    return b, p / p.sum()


def error(name, new=False, scale=1.0):
    """The largest relative difference of means at one draw to those of a grid of scaled effects."""
    results, frame = fitted(name)
    rows = frame[frame.g == LEVEL].assign(g=99 if new else LEVEL)
    found = results.table_rows(rows).with_draws(np.array([DRAW])).mean()
    b, p = conditional_law(name, new)
    eta = (results.model.spec.matrix(rows) @ results.flat[DRAW, :3])[:, None] + scale * b
    return np.abs(found / (results.model.family.mean(eta) @ p) - 1).max()


@pytest.mark.extended("logit-known", "poisson-known", "cloglog-known", "gamma-known")
@pytest.mark.parametrize("new", [False, True], ids=["known", "new"])
@pytest.mark.parametrize("name", VERBS)
def test_means_are_those_of_a_grid(name, new):
    assert error(name, new) < WITHIN


@pytest.mark.mistake("predicted means: {mistake}")
@pytest.mark.parametrize("mistake", ["effects x sqrt 2"])
@pytest.mark.parametrize("new", [False, True], ids=["known", "new"])
@pytest.mark.parametrize("name", ["poisson"])
def test_scaled_effects_are_seen(name, mistake, new):
    assert error(name, new, np.sqrt(2)) > 10 * WITHIN


@pytest.mark.extended
def test_slopes_have_the_means_of_draws():
    """Within four Monte Carlo errors of one draw of the effects for each of 2,000 of the
    parameters, which have correlation with each other: the errors are those of the rest.
    """
    results, frame = fitted("logit", slopes=True)
    rows = results.table_rows(frame)
    by_draws = np.empty((rows.n, rows.m))
    for at, eta in rows.blocks():
        by_draws[rows.place(at)] = rows.family.mean(eta)
    error = by_draws.std(axis=1) / np.sqrt(rows.m)
    assert (np.abs(rows.mean() - by_draws.mean(axis=1)) < 4 * error).all()


def test_rows_of_any_levels_in_any_order():
    """Known, new and missing ones, one by one."""
    results, frame = fitted("logit")
    new = frame.head(6).assign(g=[5.0, 99.0, 2.0, np.nan, 5.0, -1.0])
    together = results.predict(new)
    alone = [results.predict(new.iloc[[k]]).iloc[0] for k in range(6)]
    assert np.allclose(together, alone, equal_nan=True) and np.isnan(together.iloc[3])
    assert np.isfinite(together.drop(3)).all()
    assert np.allclose(results.predict(frame), results.fittedvalues)


def test_many_rows_have_fewer_draws(monkeypatch):
    """As many as are affordable, and 100 at least: a tenth of a posterior sd."""
    results, frame = fitted("logit")
    rows = results.table_rows(frame)
    assert integrated.thinned(rows) is rows
    monkeypatch.setattr(integrated, "ROWS_WORK", 1e5)
    few = integrated.thinned(rows)
    assert few.m == integrated.FEWEST_POINTS
    spread = np.array([rows.with_draws(np.array([k])).mean() for k in range(0, rows.m, 20)])
    assert (np.abs(few.mean() - rows.mean()) < 0.4 * spread.std(axis=0)).all()  # four times that


def test_means_at_a_single_point_are_those_of_draws():
    """Mean effects have no law."""
    results, frame = fitted("logit")
    centre = results.table_rows(frame).at_mean()
    assert not integrated.integrable(centre) and np.allclose(centre.mean(), Rows.mean(centre))
