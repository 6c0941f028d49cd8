"""The figure of a comparison draws the numbers of its table."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError

pytest.importorskip("matplotlib")
COLUMNS = ["elpd", "se", "p", "elpd_diff", "diff_se", "subsampling_se", "bad_k"]


@pytest.fixture(scope="module")
def table():
    """Of three fits."""
    rng = np.random.default_rng(3)
    df = pd.DataFrame(rng.normal(size=(150, 2)), columns=["x", "z"])
    df["y"] = 0.6 * df.x + rng.normal(size=150)
    texts = {"none": "y ~ 1", "x": "y ~ x", "z": "y ~ z"}
    return sgmc.compare(**{name: sgmc.ols(text, df, seed=1) for name, text in texts.items()})


def drawn(ax):
    """Bars [(height, low, high)] of each collection, points (x, height) of each line by label."""
    bars = [
        np.array([(part[0, 1], *part[:, 0]) for part in one.get_segments()])
        for one in ax.collections
    ]
    points = {one.get_label(): np.array(one.get_data(), dtype=float).T for one in ax.lines}
    return bars, points


def assert_drawn(ax, table):
    bars, points = drawn(ax)
    heights = np.arange(len(table))[::-1]
    best = table.elpd.iloc[0]
    np.testing.assert_allclose(
        bars[0], np.column_stack([heights, table.elpd - table.se, table.elpd + table.se])
    )
    np.testing.assert_allclose(points["elpd, ± se"], np.column_stack([table.elpd, heights]))
    apart = best - table.elpd_diff.to_numpy()[1:]
    differences = points["difference to the best, ± se"]
    np.testing.assert_allclose(differences[:, 0], apart)
    error = table.diff_se.to_numpy()[1:]
    np.testing.assert_allclose(
        bars[1], np.column_stack([differences[:, 1], apart - error, apart + error])
    )
    assert ((heights[1:] - 1 < differences[:, 1]) & (differences[:, 1] < heights[1:])).all()
    assert [one.get_text() for one in ax.get_yticklabels()] == list(table.index)


def test_what_is_drawn_is_the_table(table):
    ax = sgmc.plot_compare(table)
    assert table.index[0] == "x"
    assert_drawn(ax, table)
    line = ax.lines[0]
    assert line.get_linestyle() == "--" and set(line.get_xdata()) == {table.elpd.iloc[0]}
    with pytest.raises(AssertionError):
        assert_drawn(ax, table.assign(diff_se=table.se))
    with pytest.raises(AssertionError):
        assert_drawn(ax, table[::-1])


def test_some_of_its_rows_have_the_same_best(table):
    ax = sgmc.plot_compare(table.iloc[1:])
    assert ax.lines[0].get_xdata()[0] == pytest.approx(table.elpd.iloc[0], rel=1e-12)


def test_unsure_models_are_hollow_and_errors_of_samples_thick():
    rows = [[-100.0, 5.0, 3.0, 0.0, 0.0, 0.0, 0.0], [-110.0, 6.0, 2.0, 10.0, 4.0, 1.5, 0.1]]
    table = pd.DataFrame(rows, ["good", "unsure"], COLUMNS)
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    ax = sgmc.plot_compare(table, axes)
    assert ax is axes
    bars, points = drawn(ax)
    np.testing.assert_array_equal(points["elpd, ± se; some Pareto k too large"], [[-110, 0]])
    np.testing.assert_array_equal(points["elpd, ± se"], [[-100, 1]])
    np.testing.assert_array_equal(bars[2][:, 1:], [[-111.5, -108.5]])


def test_other_things_are_refused(table):
    for wrong, text in [
        ([1, 2], "not list without elpd"),
        (table.drop(columns="diff_se"), "DataFrame without diff_se"),
        (table[:0], "without rows"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            sgmc.plot_compare(wrong)
