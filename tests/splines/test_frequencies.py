"""A smooth of rows with frequencies is the one of the rows written out as often."""

import numpy as np
import pandas as pd
import pytest

import sgmc

ROWS = 40
FORMULAS = ["y ~ s(x, k=6)", "y ~ s(x, k=5, bs='cc')", "y ~ s(x, k=5, by=z)", "y ~ te(x, z, k=4)"]


@pytest.fixture(scope="module")
def frame():
    """Rows whose frequencies go with x: without them the curves are others."""
    rng = np.random.default_rng(5)
    x, z = np.sort(rng.gamma(2.0, size=ROWS)), rng.normal(size=ROWS)
    return pd.DataFrame({"x": x, "z": z, "y": np.sin(x), "times": 1 + np.arange(ROWS) // 8})


def smooth(formula, frame, **how):
    """The smooth of a formula."""
    (found,) = sgmc.OLS.from_formula(formula, frame, **how).grouping.spec.smooths
    return found


def columns(one, frame):
    """The smooth's columns at rows."""
    return one.matrix(*one.read(frame))


@pytest.mark.parametrize("formula", FORMULAS)
def test_frequencies_are_rows_written_out(formula, frame):
    long = frame.loc[frame.index.repeat(frame.times)].reset_index(drop=True)
    weighted, written, once = (
        smooth(formula, frame, weights="times"),
        smooth(formula, long),
        smooth(formula, frame),
    )
    wanted = columns(written, frame)
    signs = np.sign((columns(weighted, frame) * wanted).sum(axis=0))  # of eigenvectors
    np.testing.assert_allclose(signs * columns(weighted, frame), wanted, atol=1e-8)
    np.testing.assert_allclose(weighted.means, written.means, atol=1e-12)
    assert np.abs(columns(once, frame) - wanted).max() > 0.05


def test_rows_of_frequency_zero_are_not_there(frame):
    """Not for the knots, either."""
    frame = frame.assign(times=(frame.x < 3).astype(int))
    some = frame[frame.times > 0].reset_index(drop=True)
    one, other = smooth(FORMULAS[0], frame, weights="times"), smooth(FORMULAS[0], some)
    assert one.bases[0].high == some.x.max()
    signs = np.sign((columns(one, some) * columns(other, some)).sum(axis=0))
    np.testing.assert_allclose(signs * columns(one, some), columns(other, some), atol=1e-8)


def test_columns_have_a_mean_square_of_one_per_row_counted(frame):
    """Orthogonal to one another and to the line, over rows counted by their frequency."""
    one = smooth(FORMULAS[0], frame, weights="times")
    P, w = columns(one, frame), frame.times.to_numpy() / frame.times.sum()
    line = np.column_stack([np.ones(ROWS), frame.x])
    products = P.T @ (w[:, None] * P)
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-10)
    np.testing.assert_allclose(np.trace(products), 1.0)
    np.testing.assert_allclose(line.T @ (w[:, None] * P), 0.0, atol=1e-10)
