"""Coefficients with two bars each: units, scales, names, words."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported

from .conftest import LONG, N, fitted, random


def labels(ax):
    """Names of the lines, as written."""
    return [tick.get_text() for tick in ax.get_yticklabels()]


def bars(ax):
    """Ends of the long and of the short bars, (line, 2) each."""
    return [np.array([one[:, 0] for one in bar.get_segments()]) for bar in ax.collections[:2]]


def test_two_bars_for_each_slope(churn):
    ax = churn.plot_forest(alpha=0.1)
    assert labels(ax) == ["age", "income", "smoker"]
    outer, inner = bars(ax)
    names = labels(ax)
    np.testing.assert_allclose(outer, churn.conf_int(0.1).loc[names])
    np.testing.assert_allclose(inner, churn.conf_int(0.5).loc[names])
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), churn.params[names])
    assert ax.get_xlabel() == (
        "difference in log odds of churn = Yes\nposterior mean, 50 % and 90 % intervals"
    )
    low, high = ax.get_xlim()
    assert low < outer.min() and high > outer.max()


def test_the_overview_is_per_sd_of_numbers_and_per_step_of_levels(churn, people):
    """On raw scales income's bar would be a point at zero."""
    ax = churn.plot()
    sd = people[["age", "income"]].std()
    income = round(sd.income / 10) * 10  # three digits
    assert labels(ax) == [f"age (per {sd.age:.3g})", f"income (per {income})", "smoker"]
    unit = np.array([sd.age, sd.income, 1.0])
    np.testing.assert_allclose(
        ax.lines[-1].get_xdata(), churn.params[["age", "income", "smoker"]] * unit, rtol=1e-9
    )
    outer = bars(ax)[0]
    assert np.ptp(outer, axis=1).min() > 0.1 * np.ptp(outer)
    assert "numbers per sd" in ax.get_xlabel()


def test_units_of_products_and_of_levels(people):
    """Of a number times a level the number's sd counts, of levels nothing: as for priors."""
    fit = fitted("ols", "weight ~ age * C(site)", people, 50)
    names, sd = labels(fit.plot()), people.age.std()
    assert f"age (per {sd:.3g})" in names and "C(site)[T.3]" in names
    assert [one.endswith(f"(per {sd:.3g})") for one in names if one.startswith("age")] == [True] * 8


def test_arrays_have_units_too(people):
    X = people[["age", "smoker"]].to_numpy()
    fit = sgmc.OLS(people.weight.to_numpy(), X, names=["age", "smoker"]).fit(seed=1)
    assert labels(fit.plot()) == [f"age (per {people.age.std():.3g})", "smoker"]


def test_ratios_are_on_a_logarithmic_axis(churn):
    ax = churn.plot(exponentiate=True)
    assert ax.get_xscale() == "log" and ax.lines[0].get_xdata()[0] == 1.0
    assert ax.get_xlabel().startswith("odds ratio of churn = Yes\n")
    ax = churn.plot_forest("smoker", exponentiate=True)
    median = np.median(churn.draws[..., churn.names.index("smoker")])
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), np.exp(median), rtol=1e-9)
    np.testing.assert_allclose(bars(ax)[0], np.exp(churn.conf_int(cols="smoker")))
    ticks = [t for t in ax.get_xticks() if ax.get_xlim()[0] <= t <= ax.get_xlim()[1]]
    assert 2 <= len(ticks) <= 8


@pytest.mark.parametrize("low, high", [(0.98, 1.03), (0.6, 3), (0.05, 8), (1e-6, 1e5)])
def test_ratios_have_few_plain_ticks(plt, low, high):
    from sgmc.plots.lines import intervals

    one = np.ones(1)
    ax = intervals(["x"], one, low * one, high * one, "ratio", neutral=1.0, ratio=True)
    ax.figure.canvas.draw()
    inside = [t for t in ax.get_xticks() if ax.get_xlim()[0] <= t <= ax.get_xlim()[1]]
    assert 2 <= len(inside) <= 8


def test_long_names_are_whole_and_inside_the_figure(visits):
    ax = visits.plot(exponentiate=True)
    figure = ax.figure
    figure.canvas.draw()
    assert [one.replace("\n", "") for one in labels(ax)][-1].startswith(LONG)
    assert "region[T.the capital and its suburbs]" in [o.replace("\n", "") for o in labels(ax)]
    room = figure.bbox
    for tick in [*ax.get_yticklabels(), ax.xaxis.label]:
        box = tick.get_window_extent()
        assert room.x0 - 1 <= box.x0 and box.x1 <= room.x1 + 1
    assert ax.get_xlabel().startswith("ratio of mean visits\n")


@pytest.fixture(scope="module")
def forty():
    rng = random()
    X = rng.normal(size=(N, 40))
    df = pd.DataFrame(X, columns=[f"gene_{k}" for k in range(40)])
    return fitted("ols", "y ~ .", df.assign(y=X[:, 0] + rng.normal(size=N)), 50)


def test_forty_names_do_not_touch(forty):
    ax = forty.plot()
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert len(boxes) == 40
    assert all(above.y0 >= below.y1 for above, below in zip(boxes, boxes[1:]))


@pytest.mark.parametrize("alpha", [0, 1.5, "x"])
def test_levels_are_checked(churn, alpha):
    with pytest.raises(ArgumentError, match="alpha"):
        churn.plot_forest(alpha=alpha)


def test_what_is_refused(churn, weight, tmp_path):
    with pytest.raises(ArgumentError, match="'sigma' is none: choose cols="):
        weight.plot_forest(["age", "sigma"], exponentiate=True)
    with pytest.raises(ArgumentError, match="exp of 'age' per unit is beyond all numbers"):
        shifted = weight.__class__.__new__(weight.__class__)
        shifted.__dict__ = weight.__dict__ | {"draws": weight.draws + 1000}
        shifted.plot_forest(exponentiate=True)
    churn.save(tmp_path / "fit")
    loaded = sgmc.load(tmp_path / "fit")
    assert labels(loaded.plot()) == ["age", "income", "smoker"]
    assert "per sd" not in loaded.plot().get_xlabel()
    with pytest.raises(NotSupported, match="by_sd=True needs the rows of the fit"):
        loaded.plot_forest(by_sd=True)


def test_lines_of_smooths_are_left_to_their_curve(people):
    fit = fitted("ols", "weight ~ s(age) + smoker", people, 50)
    assert labels(fit.plot()) == ["smoker"]
    ax = fit.plot_smooth()
    assert ax.get_ylabel().replace("\n", " ") == "s(age): difference in mean weight"
    assert len(ax.collections[-1].get_positions()) == N  # marks of the rows
