"""Figures show the numbers of the tables that they are drawn of."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError

from .cases import fitted

pyplot = pytest.importorskip("matplotlib.pyplot")
N = 2000


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def res():
    return fitted("logit", n=N, draws=500)


def test_predictions_along_a_number():
    axes = res().plot_predictions("x", by="g", points=7)
    x = res()._kept.frame.x
    grid = sgmc.datagrid(res(), x=np.linspace(x.min(), x.max(), 7), g=["a", "b", "c"])
    wanted = res().predictions(grid)
    assert [line.get_label() for line in axes.get_lines()] == ["a", "b", "c"]
    for line, level in zip(axes.get_lines(), "abc"):
        np.testing.assert_allclose(line.get_ydata(), wanted.estimate[wanted.g == level])
    assert axes.get_xlabel() == "x" and axes.get_legend().get_title().get_text() == "g"


def test_predictions_of_labels_are_points():
    axes = res().plot_predictions("g")
    wanted = res().predictions(sgmc.datagrid(res(), g=["a", "b", "c"]))
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), wanted.estimate)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]


def test_effects_along_another_variable():
    axes = res().plot_effects("g", x="x", points=5)
    assert [line.get_label() for line in axes.get_lines()] == ["b - a", "c - a"]
    slope = res().plot_effects("z", points=5).get_lines()[0].get_ydata()
    z = res()._kept.frame.z
    grid = sgmc.datagrid(res(), z=np.linspace(z.min(), z.max(), 5))
    np.testing.assert_allclose(slope, res().slopes("z", grid).estimate)


def test_average_comparisons_and_coefficients():
    axes = res().plot_comparisons("g", comparison="ratio")
    wanted = res().avg_comparisons("g", comparison="ratio")
    dots = axes.get_lines()[-1]
    np.testing.assert_allclose(dots.get_xdata(), wanted.estimate)
    assert axes.get_lines()[0].get_xdata()[0] == 1.0  # no effect
    axes = res().plot_forest()
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == [name for name in res().names if name != "Intercept"]
    np.testing.assert_allclose(axes.get_lines()[-1].get_xdata(), res().params[names])


def test_comparisons_of_numbers_are_over_an_sd():
    names = [tick.get_text() for tick in res().plot_comparisons().get_yticklabels()]
    places = {name.split(" (per ")[0]: k for k, name in enumerate(names)}
    sd = np.std(res()._kept.frame.z, ddof=1)
    assert names[places["z"]] == f"z (per {sd:.3g})" and "g: b - a" in names
    axes = res().plot_comparisons()
    assert "numbers per sd" in axes.get_xlabel()
    dot = axes.get_lines()[-1].get_xdata()[places["z"]]
    assert dot == pytest.approx(res().avg_comparisons({"z": "sd"}).estimate[0])
    assert res().plot_comparisons("z").get_yticklabels()[0].get_text() == "z: +1"


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda r: r.plot_predictions("q"), "x: 'q' is not a variable"),
        (lambda r: r.plot_predictions("x", by="x"), "variable of the axis"),
        (lambda r: r.plot_effects("g"), "give x="),
        (lambda r: r.plot_effects("qq", x="x"), "variable: 'qq'"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ArgumentError, match=words):
        call(res())
