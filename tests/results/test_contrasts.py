"""Linear combinations of coefficients, covariances of them,
and narrowest intervals, against numpy on the draws.
"""

import re

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats

import sgmc
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, DataError

WANTED = {"Intercept": 0, "g[T.b]": 1, "g[T.c]": 0, "x1": 2, "x2": -1}


def assert_is(table, posterior, normalised, weights, constant=0.0, alpha=0.05):
    """The one row of a table is the posterior of the combination."""
    draws, w = normalised(posterior)
    value = draws @ [weights[name] for name in posterior.names] + constant
    mean, row = w @ value, table.iloc[0]
    assert row["mean"] == pytest.approx(mean, rel=1e-10)
    assert row["sd"] == pytest.approx(
        np.sqrt(w @ (value - mean) ** 2 / (1 - (w**2).sum())), rel=1e-9
    )
    assert row["P(>0)"] == pytest.approx(w @ (value > 0), abs=1e-12)
    for limit, share in ((row.iloc[2], alpha / 2), (row.iloc[3], 1 - alpha / 2)):
        assert w[value < limit].sum() == pytest.approx(share, abs=0.001)


@pytest.mark.parametrize(
    "form", ["text", "equation", "list", "dict", "series", "frame", "vector", "matrix", "rows"]
)
def test_forms_of_a_contrast(posterior, normalised, form):
    vector = [WANTED[name] for name in posterior.names]
    wanted = {
        "text": "2*x1 - x2 + g[T.b]",
        "equation": "2*x1 + g[T.b] = x2",
        "list": ["2*x1 - x2 + `g[T.b]`"],
        "dict": {"x1": 2, "x2": -1, "g[T.b]": 1},
        "series": pd.Series({"x2": -1, "g[T.b]": 1, "x1": 2}),
        "frame": pd.DataFrame({"x2": [-1.0], "x1": [2.0], "g[T.b]": [1.0]}, index=["mine"]),
        "vector": vector,
        "matrix": np.array([vector]),
        "rows": [vector],
    }[form]
    assert_is(posterior.contrast(wanted), posterior, normalised, WANTED)
    pd.testing.assert_frame_equal(posterior.t_test(wanted), posterior.contrast(wanted))


def test_several_contrasts_with_constants(posterior, normalised):
    table = posterior.contrast(["x1 = 1", "x2"], alpha=0.2)
    assert table.index.tolist() == ["x1 = 1", "x2"]
    assert table.columns.tolist() == ["mean", "sd", "[0.1", "0.9]", "P(>0)"]
    zero = dict.fromkeys(WANTED, 0)
    assert_is(table.iloc[:1], posterior, normalised, {**zero, "x1": 1}, -1.0, 0.2)
    assert_is(table.iloc[1:], posterior, normalised, {**zero, "x2": 1}, 0.0, 0.2)


def test_a_coefficient_is_a_contrast(posterior):
    table, summary = posterior.contrast(np.eye(5)), posterior.summary_frame()
    np.testing.assert_allclose(table, summary[table.columns], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "wanted, error, text",
    [
        ("x1 = x2 = 0", ArgumentError, "contrast: 'x1 = x2 = 0' must be one expression"),
        ("x1 =", ArgumentError, "must be one expression"),
        ("x1, x2", ArgumentError, "not linear in the parameters; join several by &"),
        ("X11", ArgumentError, "contrast: 'X11' is not a parameter"),
        ("x1*x2", ArgumentError, "contrast: 'x1*x2' is not linear in the parameters; for other"),
        ({"x9": 1}, ArgumentError, "'x9' is not a parameter"),
        ([1, 2], ArgumentError, "contrast has shape (1, 2); it must have 5 columns"),
        ([], ArgumentError, "contrast has shape"),
        ([1, 0, 0, 0, np.nan], DataError, "missing or infinite"),
        (None, DataError, "contrast is None"),
        ("", ArgumentError, "must be one expression"),
        ("intercept", ArgumentError, "did you mean 'Intercept'"),
        ([["a", "b", "c", "d", "e"]], DataError, "contrast must hold numbers"),
        ("x1 >", ArgumentError, "cannot read"),
    ],
    ids=str,
)
def test_contrasts_refused(equal, wanted, error, text):
    with pytest.raises(error, match=re.escape(text)):
        equal.contrast(wanted)


def test_names_with_signs_of_statements():
    names = ["I(x > 0)[T.True]", "g[T.a=b]", "x"]
    rng = np.random.default_rng(3)
    fit = sgmc.Logit(rng.integers(0, 2, 200), rng.normal(size=(200, 3)), names=names).fit(seed=1)
    a, b, c = fit.params
    assert fit.contrast("g[T.a=b] = x").loc["g[T.a=b] = x", "mean"] == pytest.approx(
        b - c, rel=1e-9
    )
    assert fit.hypothesis("I(x > 0)[T.True] > x")["mean"] == pytest.approx(a - c, rel=1e-9)


def test_covariances_of_combinations(posterior, normalised):
    R = np.array([[0, 1, 0, 2, -1.0], [1, 0, 0, 0, 0]])
    whole = posterior.cov_params().to_numpy()
    np.testing.assert_allclose(posterior.cov_params(R), R @ whole @ R.T, rtol=1e-12)
    difference = posterior.cov_params(r_matrix="x1 - x2")
    assert difference.iloc[0, 0] == pytest.approx(
        posterior.contrast("x1 - x2")["sd"].iloc[0] ** 2, rel=1e-9
    )
    part = posterior.cov_params(column=["x2", "x1"])
    assert part.index.tolist() == part.columns.tolist() == ["x2", "x1"]
    assert part.loc["x1", "x2"] == posterior.cov_params().loc["x1", "x2"]
    with pytest.raises(ArgumentError, match="'x9' is not a parameter"):
        posterior.cov_params(column="x9")
    with pytest.raises(ArgumentError, match="r_matrix or column"):
        posterior.cov_params(R, "x1")


def test_probability_of_direction(posterior):
    p = posterior.prob_positive
    np.testing.assert_array_equal(posterior.prob_direction, np.where(p > 0.5, p, 1 - p))


# ---- narrowest intervals -------------------------------------------------------------------------


def test_narrowest_intervals_are_those_of_arviz(equal):
    ours = equal.conf_int(method="hdi")
    np.testing.assert_allclose(
        ours, array_stats.hdi(equal.flat, 0.95, axis=0, method="nearest"), rtol=1e-12
    )
    assert (ours[1] - ours[0] <= equal.conf_int()[1] - equal.conf_int()[0]).all()


def test_weighted_narrowest_interval_of_an_exponential():
    # draws of a uniform weighted by exp(-x): an exponential cut off at 20, whose narrowest 90 %
    # interval is (0, log 10)
    x = np.random.default_rng(0).uniform(0, 20, 200_000)
    low, high = moments.hdi(x[None, :, None], 0.9, np.exp(-x))[:, 0]
    assert low == pytest.approx(0, abs=0.01) and high == pytest.approx(np.log(10), abs=0.03)
    assert moments.hdi(x[None, :, None], 0.9)[1, 0] > 10  # without the weights


def test_a_narrowest_interval_holds_what_it_says(decaying, normalised):
    draws, w = normalised(decaying)
    limits = decaying.conf_int(0.2, method="hdi")
    for j, (low, high) in enumerate(limits.to_numpy()):
        held = w[(draws[:, j] >= low) & (draws[:, j] <= high)].sum()
        assert 0.8 <= held + 1e-12 < 0.802


def test_other_kinds_of_intervals(equal):
    for method in ("HDI", None, 3):
        with pytest.raises(ArgumentError, match="method=.* must be one of 'eti', 'hdi'"):
            equal.conf_int(method=method)


@pytest.mark.parametrize("count", [1, 7, 100, 5000])
def test_systematic_resampling(count):
    w = np.random.default_rng(1).gamma(1, size=100)
    taken = np.bincount(moments.systematic(w, count), minlength=100)
    assert taken.sum() == count and (np.diff(moments.systematic(w, count)) >= 0).all()
    assert np.abs(taken - count * w / w.sum()).max() < 1  # rounded up or down
