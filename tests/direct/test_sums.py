"""Few rows have the log density of all, and draws do not depend on how columns are written."""

from dataclasses import replace

import numpy as np
import pytest

import sgmc
from sgmc.core.engine import full
from sgmc.models.regression.rows import summed

from .cases import formula, table

FITS = {
    "numbers": ("y ~ x0 + x1", {}),
    "weights": ("y ~ x0 + x1", dict(weights="w")),
    "offset": ("y ~ x0 + x1", dict(offset="o")),
    "factor": ("y ~ x0 + C(g)", {}),
    "many levels": ("y ~ x0 + C(g200)", {}),
    "float32": ("y ~ x0 + x1", dict(dtype="float32")),
    "collinear": ("y ~ x0 + I(2 * x0)", {}),
    "known sigma": ("y ~ x0 + x1", dict(sigma=2.0)),
    "standard errors": ("y ~ x0 + x1", dict(se="w")),
}


def frame():
    """Rows with factors."""
    random = np.random.default_rng(2)
    return table(2000, 2).assign(
        g=random.choice(list("abc"), 2000), g200=random.integers(0, 200, 2000).astype(str)
    )


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", FITS)
def test_few_rows_have_the_log_density_of_all(name):
    """Differences of log densities and gradients, at places some sds apart, to rounding errors of
    2,000 rows (of float32 where the table is).
    """
    what, how = FITS[name]
    problem = sgmc.ols(what, frame(), seed=1, **how)._fit.problem
    few, all_rows = problem.all_rows(), replace(problem, summed=None).all_rows()
    assert problem.summed.n == problem.table.X.shape[1] + 1
    x = 2 * np.random.default_rng(1).normal(size=(6, problem.dim))
    values, slopes = zip(*(full(few, one) for one in x))
    expected, right = zip(*(full(all_rows, one) for one in x))
    tolerance = 2e-4 if how.get("dtype") else 1e-6
    np.testing.assert_allclose(np.diff(values), np.diff(expected), atol=tolerance, rtol=1e-7)
    np.testing.assert_allclose(slopes, right, atol=tolerance, rtol=1e-6)


EFFECTS = {
    "slopes of groups": ("y ~ x0 + (1 + x1 | g)", dict(weights="w", offset="o")),
    "an effect of groups": ("y ~ x0 + (1 | g)", {}),
    "one smooth": ("y ~ s(x0) + x1", dict(weights="w", offset="o")),
    "several smooths": ("y ~ s(x0, k=5) + s(x1, k=5)", {}),
}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", EFFECTS)
def test_few_rows_with_effects_have_the_log_density_of_all(name):
    """As above, to 1e-5 where second derivatives of groups are by nodes."""
    what, how = EFFECTS[name]
    problem = sgmc.ols(what, frame(), seed=1, draws=20, **how)._fit.problem
    few, all_rows = problem.all_rows(), replace(problem, summed=None).all_rows()
    design = problem.summed.glm if hasattr(problem.summed, "glm") else problem.summed
    assert len(design.y) < 60
    x = np.random.default_rng(1).normal(size=(6, problem.dim))
    values, slopes = zip(*(full(few, one) for one in x))
    expected, right = zip(*(full(all_rows, one) for one in x))
    np.testing.assert_allclose(np.diff(values), np.diff(expected), atol=1e-5, rtol=1e-7)
    np.testing.assert_allclose(slopes, right, atol=1e-5, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_many_groups_keep_their_rows():
    """Where mini-batches of groups cost less than exact steps of few rows."""
    results = sgmc.ols("y ~ x0 + (1 + x1 | g200)", frame(), seed=1, draws=20)
    assert results._fit.problem.summed is None


def test_predictors_far_from_zero_have_the_draws_of_centred_ones():
    """The table is centred before products are made; planted: sums of the columns as they are."""
    data = frame()
    near = sgmc.ols("y ~ x0 + x1", data, seed=1)
    far = sgmc.ols("y ~ x0 + x1", data.assign(x0=data.x0 + 1e9), seed=1)
    assert far.sampler == sgmc.Direct()
    np.testing.assert_allclose(far.draws[..., 1:], near.draws[..., 1:], rtol=2e-4, atol=1e-6)


def test_outcomes_far_from_zero_keep_their_residuals():
    data = frame()
    near = sgmc.ols("y ~ x0 + x1", data, seed=1)
    far = sgmc.ols("y ~ x0 + x1", data.assign(y=data.y + 1e9), seed=1)
    np.testing.assert_allclose(far.draws[..., 1:], near.draws[..., 1:], rtol=1e-4, atol=1e-6)


def test_nearly_collinear_columns_have_the_usual_sampler():
    """Sums do not tell a difference of 1e-5 sds from rounding: rows do."""
    data = frame().assign(z=lambda df: df.x0 + 1e-5 * df.x1)
    results = sgmc.ols("y ~ x0 + z", data, seed=1, prior="flat")
    assert results.sampler != sgmc.Direct()
    near = data.assign(z=data.x0 + 1e-3 * data.x1)
    assert sgmc.ols("y ~ x0 + z", near, seed=1, prior="flat").sampler == sgmc.Direct()


def test_exact_fits_keep_their_warning():
    with pytest.warns(sgmc.errors.ExactFitWarning, match="fit the outcomes exactly"):
        results = sgmc.ols("y ~ x0 + x1", frame().assign(y=lambda df: 1 + 2 * df.x0), seed=1)
    assert results.sampler != sgmc.Direct()


def test_two_passes_tell_residuals_from_products():
    """Residuals of 1e-7 of the outcomes: by one pass their sum of squares would be rounding."""
    data = frame()
    data["y"] = 1e6 * (1 + data.x0) + 0.1 * data.y
    results = sgmc.ols(formula(2), data, seed=1)
    X = np.column_stack([np.ones(2000), data.x0, data.x1])
    e = data.y - X @ np.linalg.lstsq(X, data.y)[0]
    assert results.sampler == sgmc.Direct()
    assert abs(results.params["sigma"] / np.sqrt(e @ e / 1997) - 1) < 0.01


def test_a_time_limit_that_is_up_leaves_the_rows(monkeypatch):
    """Sums that are not made are not used."""

    def late(rows, beta):
        raise summed.OutOfTime

    monkeypatch.setattr(summed, "sums", late)
    assert sgmc.ols("y ~ x0", frame(), seed=1).sampler != sgmc.Direct()
