"""Predictions of saved fits, which have no data: of known and of new levels, the same numbers."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import registry
from sgmc.errors import ArgumentError
from sgmc.models.regression import model
from sgmc.models.regression.latent.effects import saved_effects
from sgmc.models.regression.latent.levels import split

from ..verdict import grouped
from .tables import table_of

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
NEW = 1000  # a level that no fit has seen


@cache
def nested():
    """A fit of nested groups, and its table."""
    frame, rng = grouped.table(6, 6, 9, 0.7, 0.4)
    frame = frame.assign(y=grouped.logit(frame, rng))
    return sgmc.logit("y ~ x + (1 | g/h)", frame, seed=1, draws=40), frame


@cache
def few(name, slopes):
    """A fit with very few draws, and its table."""
    kind, bars = registry.room("families")[name], "(1 + x1 | g)" if slopes else "(1 | g)"
    frame = table_of(kind.family)
    return kind.from_formula(f"y ~ x1 + x2 + {bars}", frame).fit(seed=1, draws=80), frame


@cache
def many():
    """A fit whose factor is integrated out, and its table."""
    rng = np.random.default_rng(3)
    g, x = rng.integers(0, 150, 1500), rng.normal(size=1500)
    y = x + 0.5 * rng.normal(size=150)[g] + 0.5 * rng.normal(size=1500)
    frame = pd.DataFrame({"y": y, "x": x, "g": [f"l{k}" for k in g]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "MANY", 100)
        patch.setattr(split, "worth_it", lambda *_: True)
        found = sgmc.ols("y ~ x + g", frame, seed=1, draws=50, prior=sgmc.normal(0, 1))
    return found, frame


def case(name):
    """Results and their table."""
    own = {"nested": nested, "many levels": many}
    return own[name]() if name in own else few(*name)


def loaded(results, folder):
    """The same from a file."""
    results.save(folder / "fit")
    return sgmc.load(folder / "fit")


def assert_same(one, other, rows, **how):
    """Whether all predictions of rows are the same to rounding of a product."""
    assert np.allclose(one.predict(rows, **how), other.predict(rows, **how), rtol=1e-9)
    spread = [res.get_prediction(rows, **how).summary_frame() for res in (one, other)]
    np.testing.assert_allclose(*spread, rtol=1e-9)
    drawn = [res.posterior_predict(rows, seed=2, **how) for res in (one, other)]
    np.testing.assert_allclose(*drawn, rtol=1e-9)


CASES = [("logit", False), ("logit", True), ("ols", True), ("gamma", False), "nested"]


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", [*CASES, "many levels"])
def test_known_levels_are_predicted_without_data(name, tmp_path):
    results, frame = case(name)
    assert_same(loaded(results, tmp_path), results, frame.iloc[::40])


@pytest.mark.extended("name1", "nested")
@pytest.mark.parametrize("name", CASES)
def test_new_levels_are_predicted_without_data(name, tmp_path):
    results, frame = case(name)
    saved, rows = loaded(results, tmp_path), frame.head(4)
    assert_same(saved, results, rows.assign(g=[NEW, NEW + 1, NEW, NEW]))
    assert_same(
        saved, results, rows.assign(g=[rows.g.iloc[0], NEW, NEW + 1, NEW])
    )  # beside known ones
    missing = saved.predict(rows.assign(g=[NEW, NEW, NEW, np.nan]))
    assert np.isnan(missing).tolist() == [False, False, False, True]


@pytest.mark.extended("name1", "nested")
@pytest.mark.parametrize("name", CASES)
def test_effects_of_levels_are_there_without_data(name, tmp_path):
    results, _ = case(name)
    saved = loaded(results, tmp_path)
    for factor in results.model.effects.factors:
        pd.testing.assert_frame_equal(saved.ranef(factor), results.ranef(factor), rtol=1e-9)
        drawn = [res.ranef_draws(factor) for res in (saved, results)]
        np.testing.assert_allclose(*drawn, rtol=1e-9)


def test_coefficients_of_very_many_levels_are_there_without_data(tmp_path):
    results, _ = many()
    assert len(results.model.split.columns) > 100  # they are integrated out
    saved = loaded(results, tmp_path)
    pd.testing.assert_frame_equal(saved.coefficients(), results.coefficients(), rtol=1e-9)


def test_results_that_left_their_data_are_those_of_a_file():
    results, frame = case(("logit", False))
    again = sgmc.logit("y ~ x1 + x2 + (1 | g)", frame, seed=1, draws=80)
    again.remove_data()
    assert_same(again, results, frame.iloc[::40])


def test_what_is_saved_is_bounded(tmp_path, monkeypatch):
    """Beyond the bound nodes are left out and draws thinned, evenly, and then all of it: means are
    off by the Monte Carlo error of 250 of 320 draws, and new levels stay as they were.
    """
    results, frame = case(("logit", False))
    levels, m = len(results.model.sizes[0]), len(results.flat)
    monkeypatch.setattr(saved_effects, "SAVED_BYTES", 8 * 3 * levels * 250)
    thinned, rows = loaded(results, tmp_path), frame.iloc[::40]
    assert len(thinned._levels.kept) == 250 < m and thinned._levels.effects[0].nodes is None
    sd = results.get_prediction(rows).summary_frame()["mean_se"]
    off = np.abs(thinned.predict(rows) - results.predict(rows)) / sd
    assert (off < 5 / np.sqrt(250)).all() and (off > 0).any()
    with pytest.raises(ArgumentError, match=r"were saved at 250 draws: give draws=250"):
        thinned.ranef_draws()
    assert thinned.ranef_draws(draws=250).shape == (250, levels, 1)
    monkeypatch.setattr(saved_effects, "SAVED_BYTES", 8 * 3 * levels * 199)
    bare = loaded(results, tmp_path)
    with pytest.raises(ArgumentError, match=r"levels of g were not saved.*resume\(data="):
        bare.predict(rows)
    with pytest.raises(ArgumentError, match="ranef needs the data of the fit"):
        bare.ranef()
    assert_same(bare, results, rows.assign(g=NEW))


def test_draws_of_another_seed_need_the_data(tmp_path):
    results, _ = case(("logit", False))
    with pytest.raises(ArgumentError, match=r"ranef_draws needs the data.*resume\(data="):
        loaded(results, tmp_path).ranef_draws(seed=5)


def test_files_of_earlier_releases_predict_new_levels(tmp_path):
    """These have no effects: new ones are made of sds and correlations, with the same law."""
    results, frame = case(("logit", True))
    earlier, rows = loaded(results, tmp_path), frame.head(4)
    del earlier.__dict__["_levels"]
    new = rows.assign(g=[NEW, NEW + 1, NEW, np.nan])
    assert np.allclose(earlier.predict(new), results.predict(new), rtol=1e-9, equal_nan=True)
    spread = [one.get_prediction(new).summary_frame()["mean_se"] for one in (earlier, results)]
    assert np.allclose(*spread, rtol=0.2, equal_nan=True)  # four Monte Carlo errors of 320 draws
    with pytest.raises(ArgumentError, match=r"levels of g are not in the file.*resume\(data="):
        earlier.predict(rows)


@pytest.mark.parametrize("name", ["smooths", "plot_smooth"])
def test_names_of_terms_that_are_not_there_say_so(name, tmp_path):
    for results in (case(("ols", True))[0], loaded(case(("ols", True))[0], tmp_path)):
        with pytest.raises(AttributeError, match=f"{name} belongs to smooths, such as s"):
            getattr(results, name)
