"""Leave-one-out of rows whose frequency weight is zero: they leave it as it is without them."""

import numpy as np
import pandas as pd
import pytest

import sgmc


def table():
    """Rows in groups and subgroups; of weight zero are a whole group and three rows far out."""
    rng = np.random.default_rng(4)
    n = 90
    df = pd.DataFrame({"x": rng.normal(size=n), "g": np.arange(n) % 6, "u": np.arange(n) % 15})
    df["y"] = df.x + rng.normal(size=6)[df.g] + rng.normal(size=n)
    df["k"] = rng.poisson(np.exp(0.3 * df.x))
    df["w"] = np.where(df.g == 5, 0, rng.integers(1, 3, n))
    df.loc[:2, ["w", "x", "y", "k"]] = [0, 9.0, 80.0, 400]
    return df.astype({"w": int, "k": int})


# six groups; rows that count may have a large k
@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
@pytest.mark.filterwarnings("ignore::sgmc.errors.InfluenceWarning")
@pytest.mark.parametrize(
    "verb, formula",
    [
        ("ols", "y ~ x"),
        ("ols", "y ~ x + (1 | g)"),
        ("poisson", "k ~ x + (1 | g)"),
        ("poisson", "k ~ x"),
        ("ols", "y ~ x + (1 | g/u)"),
        ("ols", "y ~ x + (1 | g) + (1 | u)"),
    ],
)
def test_rows_that_count_zero_times_leave_loo_as_it_is(verb, formula):
    """A row of weight zero was taken out of a group that it had no part in: variances became
    negative, and elpd NaN; and warnings named rows far out that no draw had seen.

    Four Monte Carlo errors of the difference, and 0.1 for how these are estimated.
    """
    df = table()
    whole, kept = (
        getattr(sgmc, verb)(formula, rows, weights="w", seed=1) for rows in (df, df[df.w > 0])
    )
    found, right = whole.loo(), kept.loo()
    error = 0.1 + 4 * np.hypot(found.mcse, right.mcse)
    assert found.elpd == pytest.approx(right.elpd, abs=error)
    assert found.p == pytest.approx(right.p, abs=error)
    assert (found.pareto_k[df.w == 0] == 0).all()
    assert np.isfinite(found.elpd_i).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
def test_a_row_that_counts_zero_times_is_judged_by_the_others():
    """log p(y_i | y) where y has no row i: the mean of normal densities over the draws, whose
    effect of the group is known from the others; by Gaussian algebra in each draw.  0.02 is four
    Monte Carlo errors.
    """
    df = table()
    df.loc[:2, ["x", "y"]] = [0.5, 1.0]
    res = sgmc.ols("y ~ x + (1 | g)", df, weights="w", seed=1)
    draws = pd.DataFrame(res.flat, columns=res.names)
    for row in (0, 5):  # in a group that others tell of; in one of weight zero
        i = np.flatnonzero((df.g == df.g[row]) & (df.w > 0))
        eta = draws.Intercept.to_numpy()[:, None] + np.outer(draws.x, df.x)
        precision = 1 / draws["sd(1|g)"] ** 2 + df.w[i].sum() / draws.sigma**2
        told = ((df.y.to_numpy() - eta)[:, i] * df.w.to_numpy()[i]).sum(axis=1)
        mean = eta[:, row] + told / draws.sigma**2 / precision
        variance = 1 / precision + draws.sigma**2
        density = np.exp(-((df.y[row] - mean) ** 2) / 2 / variance) / np.sqrt(2 * np.pi * variance)
        assert res.loo().elpd_i[row] == pytest.approx(np.log(density.mean()), abs=0.02)
