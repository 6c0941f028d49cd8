"""Lopsided and separated outcomes, collinear columns."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ConditionWarning, DataError, SeparationWarning, ShapeWarning

from .cases import default_priors, departure, expected, table, with_ones

# ---- lopsided and separated outcomes -------------------------------------------------------------


def lopsided(contrary, rows, n=300):
    """A dummy that is 1 in `rows` rows, `contrary` of which have the rarer outcome 1."""
    d = np.repeat([1, 0], [rows, n - rows])
    y = np.concatenate([np.arange(rows) < contrary, np.arange(n - rows) % 5 < 2]).astype(int)
    return pd.DataFrame({"y": y, "d": d}).sample(frac=1, random_state=1, ignore_index=True)


@cache
def lopsided_reference(contrary, rows):
    """Posterior of `lopsided` under the default priors."""
    df = lopsided(contrary, rows)
    return expected(with_ones(df.d), df.y.to_numpy(), default_priors(df.d), centre=df.d.mean())


@pytest.mark.cover(0)
@pytest.mark.parametrize("sampler", ["auto", "mala", "lmsgld", "sgld", "vsgbd"])
@pytest.mark.parametrize("contrary, rows", [(0, 7), (1, 12), (3, 40)])
def test_few_or_no_contrary_outcomes(contrary, rows, sampler):
    df = lopsided(contrary, rows)
    if contrary:
        results = sgmc.logit("y ~ d", df, sampler=sampler, draws=2000, seed=1)
    else:
        with pytest.warns(SeparationWarning, match="^some values of d have only one outcome"):
            results = sgmc.logit("y ~ d", df, sampler=sampler, draws=2000, seed=1)
        assert "[SeparationWarning]" in results.summary().as_text()
    assert departure(results, lopsided_reference(contrary, rows)) < 1


def test_laplace_says_where_it_is_wrong():
    df = lopsided(1, 12)
    with pytest.warns(ShapeWarning, match="mala"):
        results = sgmc.logit("y ~ d", df, sampler="laplace", seed=1)
    assert departure(results, lopsided_reference(1, 12)) > 1


@pytest.mark.parametrize("gap", [1.0, 0.0])  # with 0 the mode itself does not classify every row
def test_complete_separation(gap):
    df = table(60, seed=3).assign(y=lambda t: (t.x > 0.1).astype(int))
    df["x"] += gap * df.y
    reference = expected(with_ones(df.x), df.y.to_numpy(), default_priors(df.x), centre=df.x.mean())
    with pytest.warns(SeparationWarning, match="completely"):
        results = sgmc.logit("y ~ x", df, draws=2000, seed=1)
    assert departure(results, reference) < 1


def test_collinear_columns():
    df = table(200).assign(twice=lambda t: 2 * t.x)
    with pytest.warns(ConditionWarning, match="x, twice|twice, x"):
        results = sgmc.logit("y ~ x + twice", df, prior=sgmc.normal(0, 1), seed=1)
    # a priori N(0, 5); the likelihood sees it alone
    sum_of_both = results.draws[..., 1] + 2 * results.draws[..., 2]
    mean, sd = expected(
        with_ones(df.x),
        df.y.to_numpy(),
        [stats.norm(0, 2.5), stats.norm(0, 5**0.5)],
        centre=df.x.mean(),
    )
    assert abs(sum_of_both.mean() - mean[1]) < 0.1 * sd[1]
    assert abs(sum_of_both.std() / sd[1] - 1) < 0.05
    other = 2 * results.draws[..., 1] - results.draws[..., 2]  # the prior alone: N(0, 5)
    assert abs(other.mean()) < 0.1 * 5**0.5 and abs(other.std() / 5**0.5 - 1) < 0.05


@pytest.mark.parametrize("formula", ["y ~ x + twice", "y ~ x + ones"])
def test_flat_priors_of_collinear_columns_are_improper(formula):
    df = table(200).assign(twice=lambda t: 2 * t.x, ones=1.0)
    with pytest.raises(DataError, match="improper"):
        sgmc.logit(formula, df, prior="flat", seed=1)
