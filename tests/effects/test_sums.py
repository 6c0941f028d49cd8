"""Averages of all quantities in one pass against all tables at each draw, and averages of many rows
as quadratic functions of the coefficients.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.row_ends import moments_and_ends
from sgmc.results.effects import averages, sums
from sgmc.results.effects.columns import own_column
from sgmc.results.effects.places import variables_of

from .cases import table

# of values relative to their sd: differences of the slow way have errors of (1e-4 of the range)^2
STEPS_APART = 2e-6
N, MANY = 400, 40_000


def set_values(res):
    """Two values of x, and of g where it is in the formula."""
    given = {"x": [0, 1], "g": ["a", "c"]}
    return {name: given[name] for name in given if name == "x" or "g[T.b]" in res.params}


CALLS = {
    "slopes": lambda res, **how: res.avg_slopes(**how),
    "elasticities": lambda res, **how: res.avg_slopes(slope="dyex", **how),
    "differences": lambda res, **how: res.avg_comparisons(**how),
    "ratios": lambda res, **how: res.avg_comparisons(comparison="ratio", **how),
    "set": lambda res, **how: res.avg_comparisons(set_values(res), **how),
    "means": lambda res, **how: res.avg_predictions(**how),
    "link": lambda res, **how: res.avg_slopes(type="link", **how),
}
FORMULAS = {
    "plain": "x + z + g + b",
    "bent": "x * g + poly(z, 2) + np.exp(x / 4) + b",
    "offset": "x + z + offset(0.3 * x)",
}


def fit(verb="logit", formula="x + z + g + b", n=N, **how):
    """A fit of few draws; its verdict is not the subject."""
    outcome = {"logit": "hit", "poisson": "count", "ols": "y", "survreg": "t"}[verb]
    how = {"sampler": "laplace", "draws": 300, "seed": 1, "prior": "flat", **how}
    return getattr(sgmc, verb)(f"{outcome} ~ {formula}", table(n), **how)


def by_tables(monkeypatch, call):
    """The same by all tables at each draw, one quantity after the other."""
    with monkeypatch.context() as patch:
        patch.setattr(averages, "together", lambda *given: None)
        return call()


def apart(found, expected):
    """The largest difference of a draw, in sds."""
    labels = [name for name in ("term", "contrast", "g", "b") if name in expected]
    assert (found[labels] == expected[labels]).all(axis=None)
    sd = np.maximum(expected.draws.std(axis=1, keepdims=True), 1e-9)
    return np.abs((found.draws - expected.draws) / sd).max()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.cover(1)
@pytest.mark.parametrize("by", [None, "g", ["g", "b"]])
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("verb", ["logit", "poisson", "ols", "survreg"])
@pytest.mark.parametrize("call", CALLS)
def test_one_pass_is_all_tables(call, verb, formula, by, monkeypatch):
    res = fit(verb, FORMULAS[formula])

    def found():
        return CALLS[call](res, by=by)

    one = found()
    assert one.attrs["draws_error"] == 0.0
    assert apart(one, by_tables(monkeypatch, found)) < STEPS_APART


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.cover(1)
@pytest.mark.parametrize("how", [{}, {"slope": "dyex"}, {"type": "link"}])
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("verb", ["logit", "ols", "survreg"])
def test_slopes_of_rows_are_those_of_all_tables(verb, formula, how, monkeypatch):
    """Also in their order, where some variables are columns of their own and others are not."""
    res, new = fit(verb, FORMULAS[formula]), table(30, 3)
    new.loc[4, "z"] = np.nan
    found = res.slopes(data=new, **how)
    monkeypatch.setattr(averages, "slopes_together", lambda *given: {})
    expected = res.slopes(data=new, **how)
    labels = ["rowid", "term", "contrast", "x", "z"]
    pd.testing.assert_frame_equal(found[labels], expected[labels])
    assert np.isnan(found.estimate[found.rowid == 4]).all()
    known = ~np.isnan(expected.estimate.to_numpy())
    sd = np.maximum(expected.draws[known].std(axis=1, keepdims=True), 1e-9)
    assert np.abs((found.draws - expected.draws)[known] / sd).max() < STEPS_APART


@pytest.mark.parametrize("weights", [None, "w"])
def test_new_rows_weights_and_offsets(weights, monkeypatch):
    res = sgmc.poisson(
        "claims ~ x + z", table(N), exposure="t", sampler="laplace", draws=300, seed=1
    )

    def found():
        return res.avg_slopes(data=table(900, 3), weights=weights, by="g")

    assert apart(found(), by_tables(monkeypatch, found)) < STEPS_APART


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("how", [{}, {"type": "link"}])
@pytest.mark.parametrize("verb", ["logit", "ols"])
def test_a_row_without_a_variable_has_no_average(verb, how):
    new = table(30, 3)
    new.loc[4, "z"] = np.nan
    with pytest.raises(sgmc.errors.DataError, match="row 4 of the data lacks a variable"):
        fit(verb).avg_slopes("x", data=new, **how)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_arrays_are_columns_of_their_own(monkeypatch):
    df = table(N)
    X = np.column_stack([np.ones(N), df.x, df.z])
    for exog in (X, sparse.csr_array(X)):
        res = sgmc.Logit(df.hit, exog).fit(sampler="laplace", draws=300, seed=1)
        expected = by_tables(monkeypatch, res.avg_slopes)
        assert apart(res.avg_slopes(), expected) < STEPS_APART


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_which_variables_are_columns_of_their_own():
    def own(formula):
        res = fit("ols", formula)
        return {name: own_column(res, name) for name in variables_of(res)}

    assert own("x + z + g") == {"x": 3, "z": 4, "g": None}
    assert own("x * z") == {"x": None, "z": None}
    assert own("x + np.log(z)") == {"x": 1, "z": None}
    assert own("x + I(x**2)") == {"x": None}
    assert own("x + g + x:g") == {"x": None, "g": None}
    assert own("x + offset(0.3 * x) + z") == {"x": None, "z": 2}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_tables_that_do_not_fit_together_take_several_passes(monkeypatch):
    res = fit("logit", FORMULAS["bent"])
    whole, passes = res.avg_comparisons(), []
    monkeypatch.setattr(sums, "MOST_NUMBERS", 2 * N * len(res.model.exog_names) * 2)
    known = sums.Pass.run
    monkeypatch.setattr(sums.Pass, "run", lambda self: passes.append(self) or known(self))
    found = res.avg_comparisons()  # of x, z, two levels of g and one of b
    assert (found.draws == whole.draws).all() and [len(one.parts) for one in passes] == [2, 2, 1]


# ---- many rows -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    """A fit of many rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.LowESSWarning)
        return fit("logit", FORMULAS["plain"], MANY, draws=40)


@pytest.fixture
def expand(monkeypatch):
    """Quadratic functions at any number of rows and draws."""
    monkeypatch.setattr(sums, "EXACT_WORK", 0.0)


@pytest.mark.usefixtures("expand")
@pytest.mark.cover(1)
@pytest.mark.parametrize("by", [None, "g"])
@pytest.mark.parametrize("call", CALLS)
def test_averages_of_many_rows_are_within_the_stated_error(call, by, many, monkeypatch):
    """Of all draws, of which some were looked at: the largest error is at most twice theirs."""
    found = CALLS[call](many, by=by)
    stated = found.attrs["draws_error"]
    assert (stated >= 0 if call == "link" else stated > 0) and stated < sums.EXPANSION_ERROR
    monkeypatch.setattr(sums, "EXACT_WORK", np.inf)
    exact = CALLS[call](many, by=by)
    assert exact.attrs["draws_error"] == 0.0
    assert apart(found, exact) <= 2 * stated + STEPS_APART
    assert np.abs((found.estimate - exact.estimate) / exact.std_error).max() < 1e-3


def half_bent(self, eta, slope, known=sums.MeanFunction.derivatives):
    """Derivatives with half of the curvature."""
    value, first, second = known(self, eta, slope)
    return value, first, second / 2


def tilted(self, eta, slope, known=sums.MeanFunction.derivatives):
    """Derivatives with a first one that is a tenth off."""
    value, first, second = known(self, eta, slope)
    return value, 1.1 * first, second


@pytest.mark.extended
@pytest.mark.usefixtures("expand")
@pytest.mark.parametrize("mistake", [half_bent, tilted])
def test_wrong_quadratic_functions_are_not_taken(mistake, many, monkeypatch):
    """The draws that are computed exactly tell, and then all are."""
    right = many.avg_slopes()
    monkeypatch.setattr(sums.MeanFunction, "derivatives", mistake)
    monkeypatch.setattr(sums, "EXPANSION_ERROR", 0.002)
    found = many.avg_slopes()
    assert found.attrs["draws_error"] == 0.0
    assert apart(found, right) < 2 * right.attrs["draws_error"] + STEPS_APART


@pytest.mark.usefixtures("expand")
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_few_rows_are_too_far_from_quadratic(monkeypatch):
    res = fit("logit", n=150)
    assert res.avg_slopes().attrs["draws_error"] == 0.0
    assert apart(res.avg_slopes(), by_tables(monkeypatch, res.avg_slopes)) < STEPS_APART


@pytest.mark.usefixtures("expand")
def test_medians_of_survival_times_depend_on_more_than_coefficients():
    res = fit("survreg", "x + z")
    assert res.avg_slopes().attrs["draws_error"] == 0.0


# ---- means and intervals of rows -----------------------------------------------------------------


@pytest.mark.parametrize("draws", [1, 2, 3, 50, 1001])
@pytest.mark.parametrize("levels", [[0.025, 0.975], [0.25, 0.5, 0.75], [0.0, 1.0], [0.9]])
def test_means_and_ends_of_rows_are_those_of_draws(draws, levels):
    """Quantiles to the digit, moments to rounding, of laws with and without tails and ties."""
    rng = np.random.default_rng(4)
    shape = (40, draws)
    laws = [
        rng.normal(3.0, 1e-3, shape),
        np.round(rng.normal(size=shape)),
        rng.standard_cauchy(shape),
        np.full(shape, 0.1),
        np.where(rng.random(shape) < 0.01, np.nan, rng.random(shape)),
    ]
    for values in laws:
        found, known = moments_and_ends(values, levels), values.T[None]
        with np.errstate(invalid="ignore", divide="ignore"):
            sd = moments.sd(known) if draws > 1 else np.full(40, np.nan)
        assert found[:, 0] == pytest.approx(moments.mean(known), rel=1e-12, abs=1e-12, nan_ok=True)
        assert found[:, 1] == pytest.approx(sd, rel=1e-9, abs=1e-12, nan_ok=True)
        expected = moments.quantile(known, levels).T
        assert np.array_equal(found[:, 2:], expected, equal_nan=True)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_summary_of_predictions_is_that_of_their_draws():
    res = fit()
    new = table(50, 9)
    draws = res.posterior_epred(new)
    frame = res.get_prediction(new).summary_frame(0.1)
    assert isinstance(frame, pd.DataFrame)
    ends = np.quantile(draws, [0.05, 0.95], axis=0)
    assert (frame[["mean_ci_lower", "mean_ci_upper"]].to_numpy() == ends.T).all()
    assert frame["mean_se"].to_numpy() == pytest.approx(draws.std(axis=0, ddof=1), rel=1e-9)
