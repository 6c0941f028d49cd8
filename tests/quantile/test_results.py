"""What fits of quantiles go with, what they tell, and what is refused by name."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import (
    ArgumentError,
    ClusterCountWarning,
    ExtremeQuantileWarning,
    NotSupported,
)

from .cases import design, spreading

SHORT = dict(seed=1, draws=500, tau=0.3)
CLOSE = 0.15  # standard errors: Monte Carlo errors of two fits of 2,000 draws


def table(n=1500):
    """A table with weights, groups, strata and a factor."""
    rng = np.random.default_rng(3)
    return spreading(n, 3).assign(
        w=rng.integers(0, 4, n),
        village=rng.integers(0, 60, n),
        s=rng.integers(0, 3, n),
        g=rng.choice(list("abc"), n),
        o=rng.normal(size=n),
    )


@pytest.fixture(scope="module")
def frame():
    """The table."""
    return table()


@pytest.fixture(scope="module")
def res(frame):
    """A fit of it."""
    return sgmc.quantreg("y ~ x + z", frame, **SHORT)


def test_the_summary_has_tau_and_the_covariance(res):
    text = res.summary().as_text()
    assert "Quantile (tau 0.3)" in text and "robust (sandwich)" in text and "sd model" in text
    assert "Bandwidth of the density at the quantile" in text
    assert max(map(len, text.splitlines())) <= 78
    assert res.cov_type == "robust" and res.verdict.trustworthy
    assert repr(sgmc.QuantReg.from_formula("y ~ x", table(50))).startswith("<Quantile (tau 0.5)")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_the_verdict_sees_a_step_that_is_too_large(frame):
    wide = sgmc.quantreg("y ~ x + z", frame, **SHORT, sampler="sgld", step_size=1.5)
    assert not wide.verdict.trustworthy and wide.accuracy().sd_error.min() > 0.15


def test_predictions_are_quantiles_with_their_intervals(res, frame):
    """Averages over draws of x . theta; a share tau of outcomes is below, to the rows that the
    quantile goes through and what draws move of it.
    """
    new = frame.head(5)
    eta = design(new, ["x", "z"]) @ res.draws.reshape(-1, 3).T
    assert res.predict(new).to_numpy() == pytest.approx(eta.mean(axis=1))
    assert res.fittedvalues[:5].to_numpy() == pytest.approx(eta.mean(axis=1))
    found = res.get_prediction(new).summary_frame()
    assert list(found) == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    assert found.mean_ci_upper.to_numpy() == pytest.approx(np.quantile(eta, 0.975, axis=1))
    assert np.mean(res.residuals() < 0) == pytest.approx(0.3, abs=0.01)
    assert res.avg_slopes().estimate.to_numpy() == pytest.approx(res.params[["x", "z"]], rel=1e-6)


@pytest.mark.extended("more3", "more4", "more5")
@pytest.mark.parametrize(
    "more",
    [
        dict(cov_type="cluster", groups="village"),
        dict(cov_type="HC3"),
        dict(dtype="float32"),
        dict(subsample="stratified", strata="s"),
        dict(sampler="sgld"),
        dict(gradient="saga"),
        dict(prior="cauchy"),
    ],
)
def test_it_goes_with_what_else_there_is(more, res, frame):
    other = sgmc.quantreg("y ~ x + z", frame, **SHORT, **more)
    assert ((other.params - res.params) / res.bse).abs().max() < CLOSE
    assert (other.bse / res.bse - 1).abs().max() < 0.25  # of clusters that do not matter


def test_weights_are_copies_of_rows(frame):
    how = dict(SHORT, sampler="laplace")
    weighted = sgmc.quantreg("y ~ x + z", frame, weights="w", **how)
    copies = sgmc.quantreg("y ~ x + z", frame.loc[frame.index.repeat(frame.w)], **how)
    assert weighted.params.to_numpy() == pytest.approx(copies.params.to_numpy(), abs=1e-4)
    assert weighted.bse.to_numpy() == pytest.approx(copies.bse.to_numpy(), rel=1e-3)


def test_offsets_shift_the_quantile(frame, res):
    shifted = frame.assign(y=frame.y + frame.o)
    other = sgmc.quantreg("y ~ x + z", shifted, offset="o", **SHORT)
    # priors are in units of the sd of the outcome, which is another one
    assert other.params.to_numpy() == pytest.approx(res.params.to_numpy(), abs=1e-3)


def test_arrays_sparse_tables_and_factors(frame, res):
    X, how = design(frame, ["x", "z"]), dict(seed=1, draws=500)
    for exog in (X, sparse.csr_array(X)):
        other = sgmc.QuantReg(frame.y, exog, tau=0.3).fit(**how)
        assert (np.abs(other.params - res.params.to_numpy()) / res.bse.to_numpy()).max() < CLOSE
    coded = sgmc.quantreg("y ~ g", frame, **SHORT)
    for level, name in zip("abc", ("Intercept", "g[T.b]", "g[T.c]"), strict=True):
        quantile = np.quantile(frame.y[frame.g == level], 0.3)
        found = coded.params["Intercept"] + (coded.params[name] if level != "a" else 0)
        assert found == pytest.approx(quantile, abs=0.3 * coded.bse[name])


@pytest.mark.extended
def test_files_give_what_tables_give(frame, res, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    read = sgmc.quantreg("y ~ x + z", tmp_path / "rows.parquet", **SHORT)
    assert (read.draws == res.draws).all()
    prepared = sgmc.prepare("y ~ x + z", frame, tmp_path / "sealed")
    sealed = sgmc.quantreg("y ~ x + z", prepared, **SHORT)
    assert ((sealed.params - res.params) / res.bse).abs().max() < CLOSE
    streamed = res.predict(tmp_path / "rows.parquet")
    assert np.asarray(streamed) == pytest.approx(res.predict(frame).to_numpy())
    res.save(tmp_path / "fit")
    assert (sgmc.load(tmp_path / "fit").predict(frame) == res.predict(frame)).all()


def test_runs_go_on_bit_by_bit(frame, res):
    longer = sgmc.quantreg("y ~ x + z", frame, **{**SHORT, "draws": 800})
    assert (res.resume(300).draws == longer.draws).all()


NO_LAW = {
    "posterior_predict": lambda res: res.posterior_predict(),
    "loo": lambda res: res.loo(),
    "cross-validation": lambda res: res.kfold(table(), 3),
    "bayes_factor": lambda res: res.bayes_factor("x = 0"),
    "sensitivity": lambda res: res.sensitivity(),
    "pp_check": lambda res: res.pp_check(),
    "loo_pit": lambda res: res.loo_pit(),
    "r2": lambda res: res.r2(),
    "llf": lambda res: res.llf,
    "log_lik": lambda res: res.log_lik(),
    "deviance": lambda res: res.deviance,
    "null_deviance": lambda res: res.null_deviance,
    "resid_pearson": lambda res: res.resid_pearson,
    "resid_deviance": lambda res: res.residuals("deviance"),
    "to_arviz": lambda res: res.to_arviz(posterior_predictive=True),
}


@pytest.mark.parametrize("what", NO_LAW)
def test_what_needs_a_law_of_outcomes_is_refused_by_name(what, res):
    with pytest.raises(NotSupported, match=f"{what}.* needs a model of the outcomes.*predict"):
        NO_LAW[what](res)


FORMULA, RIDGE = "y ~ x", sgmc.ridge()
REFUSED = {
    "posterior": (FORMULA, dict(cov_type="nonrobust"), "'nonrobust' with quantreg.*'cluster'"),
    "exact": (FORMULA, dict(sampler="mala"), "sampler='mala'.*sampler='auto'"),
    "groups": ("y ~ x + (1 | g)", {}, r"leave \(1 \| g\) out.*cov_type='cluster'"),
    "smooths": ("y ~ s(x)", {}, r"leave s\(x\) out"),
    "horseshoe": (FORMULA, dict(prior="horseshoe"), r"another prior, such as sgmc\.normal"),
    "scales": (FORMULA, dict(prior=RIDGE), "scales that are learned.*quantreg"),
    "modes": (FORMULA, dict(modes="search"), "leave modes='one'"),
    "tune": (FORMULA, dict(tune="default", sampler="sgld"), "a sandwich is no density"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_sandwich_is_refused_by_name(case, frame):
    formula, how, text = REFUSED[case]
    with pytest.raises(NotSupported, match=text):
        sgmc.quantreg(formula, frame, **{**SHORT, **how})


@pytest.mark.parametrize("tau", [0, 1, 1.5, "half", None, np.nan])
def test_tau_is_a_probability(tau, frame):
    with pytest.raises(ArgumentError, match="tau=.* must be a number between 0 and 1"):
        sgmc.quantreg(FORMULA, frame, tau=tau)


def test_prior_draws_are_there_and_outcomes_are_not(frame):
    model = sgmc.QuantReg.from_formula(FORMULA, frame)
    assert model.prior_draws(draws=5).shape == (5, 2)
    with pytest.raises(NotSupported, match="prior_predict needs a model of the outcomes"):
        model.prior_predict()


def test_few_rows_beyond_the_quantile_are_warned_of():
    with pytest.warns(ExtremeQuantileWarning, match="only 3 of 60 rows .* 0.05-quantile"):
        res = sgmc.quantreg(FORMULA, table(60), tau=0.05, seed=1)
    assert not res.verdict.trustworthy and "beyond the quantile" in str(res.verdict)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExtremeQuantileWarning)
        sgmc.quantreg(FORMULA, table(2500), tau=0.05, seed=1, sampler="laplace")


@pytest.mark.extended("0.99-25000")
@pytest.mark.parametrize(("tau", "rows"), [(0.99, 2000), (0.95, 400), (0.01, 6000), (0.99, 25000)])
def test_quantiles_in_the_tails_are_not_trusted(tau, rows):
    """Twenty rows and more are beyond them; intervals of data whose errors spread with x cover .74
    to .90, see benchmarks/quantiles.py.
    """
    with pytest.warns(ExtremeQuantileWarning, match=f"of {rows} rows are expected beyond"):
        res = sgmc.quantreg(FORMULA, table(rows), tau=tau, seed=1, sampler="laplace")
    assert not res.verdict.trustworthy and "beyond the quantile" in res.verdict.text


def test_clusters_matter_where_rows_depend_on_each_other():
    """40 villages with effects of their own: the sd of the median is that between villages."""
    rng = np.random.default_rng(2)
    village = rng.integers(0, 40, 2000)
    frame = pd.DataFrame({"y": rng.normal(size=40)[village] + rng.normal(size=2000), "v": village})
    plain = sgmc.quantreg("y ~ 1", frame, seed=1, sampler="laplace")
    how = dict(cov_type="cluster", groups="v", seed=1, sampler="laplace")
    clustered = sgmc.quantreg("y ~ 1", frame, **how)
    assert clustered.bse["Intercept"] > 3 * plain.bse["Intercept"]
    with pytest.warns(ClusterCountWarning):
        sgmc.quantreg("y ~ 1", frame.assign(v=village % 10), **how)


def test_time_limits_hold(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        res = sgmc.quantreg("y ~ x + z", frame, tau=0.3, time_limit=1e-3, seed=1)
    assert not res.verdict.trustworthy
