"""Smooth terms in formulas: what is read, what is made of it, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from sgmc import formula
from sgmc.errors import DataError, FormulaError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        dict(
            y=rng.normal(size=80),
            x=rng.uniform(1, 9, size=80),
            z=rng.normal(size=80),
            g=rng.choice(list("abc"), size=80),
            s=rng.normal(size=80),
        )
    )


def read(text, frame, **how):
    return formula.read(text, frame, outcome="numeric", **how)


def design(text, frame):
    """Names of the coefficients, and the `Crossing`."""
    table = read(text, frame)
    return table.spec.exog_names, table.grouping()


@pytest.mark.parametrize(
    "text, columns, sds",
    [
        ("y ~ s(x)", ["Intercept", "x"], ["s(x)"]),
        ("y ~ s(x) + z", ["Intercept", "z", "x"], ["s(x)"]),
        ("y ~ z + s(np.log(x), k=6)", ["Intercept", "z", "np.log(x)"], ["s(np.log(x))"]),
        ("y ~ s(x, bs='cc')", ["Intercept"], ["s(x)"]),
        ("y ~ 0 + s(x)", ["x"], ["s(x)"]),
        ("y ~ s + s(s)", ["Intercept", "s"], ["s(s)"]),
        ("y ~ . + s(x)", ["Intercept", "g[T.b]", "g[T.c]", "x", "z", "s"], ["s(x)"]),
        (
            "y ~ s(x, by=g)",
            ["Intercept", "g[T.b]", "g[T.c]", "g[a]:x", "g[b]:x", "g[c]:x"],
            ["s(x):g[a]", "s(x):g[b]", "s(x):g[c]"],
        ),
        ("y ~ s(x, by=z)", ["Intercept", "z", "z:x"], ["s(x):z"]),
        (
            "y ~ te(x, z, k=(4, 5))",
            ["Intercept", "x", "z", "x:z"],
            ["te(x, z) by x", "te(x, z) by z", "te(x, z) by x:z"],
        ),
    ],
)
def test_lines_are_coefficients_and_the_rest_is_penalised(text, columns, sds, frame):
    names, found = design(text, frame)
    assert sorted(names) == sorted(columns)
    assert [name for one in found.spec.smooths for name in one.names] == sds


def test_columns_are_orthogonal_to_lines_and_have_a_mean_square_of_one(frame):
    for text in ("y ~ s(x)", "y ~ s(x, by=g)", "y ~ te(x, z)", "y ~ s(x, by=z)"):
        _, found = design(text, frame)
        (one,) = found.spec.smooths
        Z, (x, w) = found.curves, one.read(frame)
        lines = one.line_columns(x)
        begin = 0
        for block, size in zip(one.blocks, one.sizes):
            own, begin = Z[:, begin : begin + size], begin + size
            by = w[:, [block.by]]
            both = np.column_stack([by, by * lines])
            np.testing.assert_allclose(both.T @ own, 0.0, atol=1e-8)
            assert (own**2).sum() / len(own) == pytest.approx(1.0)
            gram = own.T @ own
            np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-8)


def test_new_rows_have_the_same_columns(frame):
    _, found = design("y ~ s(x, by=g) + te(x, z) + s(s, bs='bs')", frame)
    new = frame.iloc[[5, 3, 70]]
    Z = np.concatenate([one.matrix(*one.read(new)) for one in found.spec.smooths], axis=1)
    np.testing.assert_allclose(Z, found.curves[[5, 3, 70]], atol=1e-10)


def test_units_of_covariates_do_not_matter(frame):
    """Posteriors are the same in other units: so are the columns, but for their signs."""
    one = design("y ~ s(x)", frame)[1].curves
    other = design("y ~ s(x)", frame.assign(x=1e6 + 1e4 * frame.x))[1].curves
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-6)


def test_frequency_weights_are_rows_that_repeat(frame):
    weights = np.random.default_rng(1).integers(0, 4, size=80)
    again = frame.loc[np.repeat(frame.index, weights)].reset_index(drop=True)
    weighted = read("y ~ s(x)", frame, weights=weights.astype(float)).grouping().curves
    found, kept = read("y ~ s(x)", again).grouping().curves, weights > 0
    first = np.cumsum(weights)[kept] - 1
    np.testing.assert_allclose(
        weighted[kept] @ weighted[kept].T, found[first] @ found[first].T, atol=1e-8
    )


def test_rows_that_lack_a_covariate_are_left_out(frame):
    frame.loc[3, "x"] = np.nan
    frame.loc[4, "g"] = None
    table = read("y ~ s(x, by=g)", frame)
    assert table.dropped == 2
    assert table.grouping().curves.shape[0] == 78
    with pytest.raises(DataError, match="x"):
        read("y ~ s(x)", frame, missing="raise")


def test_the_expanded_formula_reads_the_same(frame):
    names, found = design("y ~ . + s(x, k=5) + (1 | g)", frame)
    again, other = design(read("y ~ . + s(x, k=5) + (1 | g)", frame).spec.expanded, frame)
    assert sorted(names) == sorted(again)
    np.testing.assert_allclose(found.curves, other.curves)


@pytest.mark.parametrize(
    "text, match",
    [
        ("y ~ s(x):z", "can only be added"),
        ("y ~ z * s(x)", "can only be added"),
        ("y ~ (z + s(x))", "can only be added"),
        ("y ~ s(x, z)", "one covariate"),
        ("y ~ te(x)", "two covariates"),
        ("y ~ s(x, m=3)", "no option 'm'"),
        ("y ~ s(x, k=2.5)", "whole number"),
        ("y ~ s(x, k=z)", "plain value"),
        ("y ~ s(g)", "smooths are of numbers"),
        ("y ~ s(w)", "neither a column"),
        ("y ~ s(.)", "dot"),
        ("y ~ s(x, k=100)", "different values"),
        ("y ~ te(x, z, knots=[0, 1])", "knots"),
        ("y ~ s(x, by=g + z)", "by must be one column"),
        ("y ~ s(x, by=)", "by must be one column"),
        ("y ~ s(x, knots=['a', 'b'])", "knots must be numbers"),
        ("y ~ s(x) + te(x, z)", r"has s\(x\) in it"),
        ("y ~ s(x) + s(x, k=5)", "twice"),
    ],
)
def test_what_cannot_be_read_is_said(text, match, frame):
    with pytest.raises(FormulaError, match=match):
        read(text, frame).grouping()


def test_patsys_own_tensor_products_stay(frame):
    names, found = design("y ~ te(cr(x, df=4), cr(z, df=4))", frame)
    assert found is None
    assert len(names) == 17
