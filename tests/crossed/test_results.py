"""What results of fits with crossed factors have, and what they refuse."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported, SGMCWarning
from sgmc.models.regression.latent.sampled import results as crossed_results

from .tables import table

FORMULA = "y ~ x + (1 | g) + (1 | h)"


@pytest.fixture(scope="module")
def frame():
    return table("logit", 600)


def fit(frame, formula=FORMULA, verb=sgmc.logit, **how):
    """Results with few draws, whose warnings are of these."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return verb(formula, frame, **{"seed": 1, "draws": 300, "chains": 2, **how})


@pytest.fixture(scope="module")
def results(frame):
    return fit(frame)


@pytest.mark.extended
def test_the_summary_has_factors_and_sds(results):
    text = str(results.summary())
    assert "12 x 7" in text and "sd(1|g)" in text and "7 levels of h" in text
    assert results.names == ["Intercept", "x", "sd(1|g)", "sd(1|h)"]


def test_effects_of_levels(results):
    found = results.ranef()
    assert list(found) == ["g", "h"] and found["g"].shape == (12, 4)
    draws = results.ranef_draws("g", [3, 0])
    assert draws.shape[1:] == (2, 1)
    # of 400 whole draws: their means' errors are a twentieth of an sd
    apart = draws.mean(axis=0)[:, 0] - found["g"].loc[[3, 0], "mean"]
    assert (np.abs(apart) < 0.3 * found["g"].loc[[3, 0], "sd"]).all()
    with pytest.raises(ArgumentError, match="there are 'g' and 'h'; name one"):
        results.ranef_draws()


def test_arviz_has_effects_at_the_draws_that_were_kept(results):
    """Their numbers are those of the parameters' draws: the slope of a whole draw, in float32, is
    the one that the parameters have there.
    """
    pytest.importorskip("arviz_base")
    tree = results.to_arviz(effects=True)
    effects, posterior = tree["effects"], tree["posterior"]
    assert dict(effects.sizes) == {"chain": 2, "draw": 150, "g": 12, "h": 7}
    np.testing.assert_array_equal(
        effects["1|g"].to_numpy().reshape(-1, 12), results.ranef_draws("g")[..., 0]
    )
    whole = results.whole("slopes").reshape(2, 150, -1)
    numbers = np.searchsorted(posterior["draw"].to_numpy(), effects["draw"].to_numpy())
    slopes = results.draws[:, numbers, results.names.index("x")]
    np.testing.assert_allclose(whole[..., 1], slopes, rtol=1e-5, atol=1e-7)
    assert "effects" not in results.to_arviz().children
    tree = results.to_arviz(log_likelihood=True, posterior_predictive=True)
    density = tree["log_likelihood"]["y"]
    np.testing.assert_array_equal(density["draw"], effects["draw"])
    np.testing.assert_array_equal(density.to_numpy().reshape(300, -1), results.log_lik())
    assert tree["posterior_predictive"]["y"].shape == density.shape


def test_predictions_of_known_levels_have_their_effects(results, frame):
    rows = frame.drop_duplicates("g").sort_values("g").assign(x=0.0, h=0)
    effects = results.ranef("g")["mean"].to_numpy()
    assert np.corrcoef(results.predict(rows), effects)[0, 1] > 0.99
    flat = results.predict(rows, random=False)
    assert np.ptp(flat) == pytest.approx(0, abs=1e-12)


def test_new_levels_have_effects_of_their_own(results, frame):
    new = frame.head(2).assign(g=["new", "newer"], x=0.0, h=0)
    [(_, eta)] = results.table_rows(new, new_levels="sample").blocks()
    beta = eta - eta.mean(axis=1, keepdims=True)
    assert abs(np.corrcoef(beta)[0, 1]) < 0.9 and not np.allclose(eta[0], eta[1])
    with pytest.raises(ArgumentError, match="levels of g that the fit has not seen"):
        results.predict(new, new_levels="error")


def test_missing_labels_are_missing_predictions(results, frame):
    new = frame.head(3).assign(g=[0.0, np.nan, 1.0])
    assert list(np.isnan(results.predict(new))) == [False, True, False]


def test_everything_that_is_made_of_rows(results, frame):
    n = len(frame)
    assert results.predict().shape == (n,)
    assert results.posterior_predict(draws=5, seed=1).shape == (5, n)
    assert np.isfinite(results.log_lik()).all()
    table_of = results.get_prediction(frame.head(4)).summary_frame()
    assert (table_of["mean_ci_lower"] < table_of["mean_ci_upper"]).all()
    assert results.resid_response.shape == (n,)
    fitted = results.fittedvalues
    assert np.corrcoef(fitted, frame["y"])[0, 1] > 0.3


def test_what_is_not_there_is_refused_by_name(results, frame):
    for how, said in (
        (dict(sampler="bps"), "bps"),
        (dict(sampler="esgbd"), "noise of single coordinates.*use sampler='lmsgld'"),
        (dict(sampler="sgld", batch_size="adaptive"), "adaptive.*leave batch_size=None"),
        (dict(sampler="sgld", thin="distance"), "their draws have weights"),
        (dict(keep=["x"]), "keep does not apply to crossed factors"),
        (dict(strata="h"), "strata does not apply"),
        (dict(precondition="diag"), "precondition='diag'"),
        (dict(cov_type="robust"), "cov_type='robust'"),
        (dict(modes="search"), "modes='search'"),
    ):
        with pytest.raises((ArgumentError, NotSupported), match=said):
            fit(frame, **how)
    with pytest.raises(DataError, match="'h' has a single level"):
        several = frame.assign(h=0, k=np.arange(len(frame)) % 5)
        fit(several, "y ~ x + (1 | g) + (1 | h) + (1 | k)")


@pytest.mark.extended
def test_samplers_agree(frame):
    """Means of exact samplers within 5 standard errors of their difference."""
    one, other = fit(frame, draws=1000), fit(frame, sampler="mala", thin=4, draws=1000)
    error = np.hypot(one.mcse(), other.mcse())
    assert (np.abs(one.params - other.params) < 5 * error).all()


@pytest.mark.extended
def test_threads_change_no_bit(frame, results):
    other = fit(frame, threads=1)
    np.testing.assert_array_equal(other.draws, results.draws)
    pd.testing.assert_frame_equal(other.ranef("g"), results.ranef("g"))


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_resumed_runs_are_those_without_a_break(frame):
    whole, half = fit(frame, draws=200), fit(frame, draws=100)
    np.testing.assert_array_equal(half.resume(draws=100).draws, whole.draws)


def test_saved_results_keep_what_needs_no_data(results, tmp_path):
    results.save(tmp_path / "fit.pkl")
    loaded = sgmc.load(tmp_path / "fit.pkl")
    pd.testing.assert_series_equal(loaded.params, results.params)
    new = pd.DataFrame({"x": [0.0], "g": [1], "h": [2]})
    assert loaded.predict(new, random=False).shape == (1,)
    pd.testing.assert_frame_equal(loaded.ranef("g"), results.ranef("g"))
    assert pickle.loads(pickle.dumps(loaded)).names == results.names


@pytest.mark.extended
@pytest.mark.parametrize("smooth", ["", " + s(w)"])
def test_saved_results_predict_known_and_new_levels(frame, smooth, tmp_path, monkeypatch):
    """The same numbers, of the same whole draws: effects of slopes that are apart in the formula go
    with their own sds.
    """
    made = frame.assign(z=np.arange(len(frame)) % 5 - 2.0, w=np.linspace(0, 1, len(frame)))
    results = fit(made, f"y ~ x + (1 | g) + (1 | h) + (0 + z | g){smooth}", draws=100)
    results.save(tmp_path / "fit")
    again, rows = sgmc.load(tmp_path / "fit"), made.head(3)
    for new in (rows, rows.assign(g=[-1, -2, -1], h=-1), rows.assign(g=[1, -2, -1])):
        for one, other in zip(predicted(again, new), predicted(results, new)):
            np.testing.assert_array_equal(one, other)
    pd.testing.assert_frame_equal(again.ranef("g"), results.ranef("g"))
    monkeypatch.setattr(crossed_results, "SAVED_BYTES", 100)
    results.save(tmp_path / "large")
    large, new = sgmc.load(tmp_path / "large"), rows.assign(g=[-1, -2, -1], h=-1)
    for one, other in zip(predicted(large, new), predicted(results, new)):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ArgumentError, match=r"known levels of g were not saved.*resume\(data="):
        large.predict(rows)
    del large.__dict__["_levels"]  # as files of earlier releases are
    if smooth:
        with pytest.raises(ArgumentError, match=r"needs whole draws.*resume\(data="):
            large.predict(new, new_levels="sample")
    else:
        late = large.predict(new, new_levels="sample")
        np.testing.assert_allclose(late, results.predict(new, new_levels="sample"), atol=0.1)


def test_means_of_new_levels_beside_a_smooth_are_exact_and_saved(frame, tmp_path):
    """E[y] of a new level of a Poisson regression is exp(eta + sd^2 / 2) at each draw, to the 1e-4
    of the quadrature; draws of one effect each would be off by their Monte Carlo error, .05.
    """
    made = frame.assign(w=np.linspace(0, 1, len(frame)))
    made["n"] = np.random.default_rng(4).poisson(
        np.exp(0.6 * (made["g"] % 3) + np.sin(6 * made["w"]))
    )
    results = fit(made, "n ~ s(w, k=4) + (1 | g)", sgmc.poisson, draws=100)
    new, how = made.head(3).assign(g=-1), dict(new_levels="sample")
    rows = results.table_rows(new, random=False)
    eta = next(rows.blocks())[1]
    sd = results.effects_at_draws(results.whole("sd"))[0].roots[:, 0, 0]
    exact = np.exp(eta + sd**2 / 2).mean(axis=1)
    np.testing.assert_allclose(results.predict(new, **how), exact, rtol=1e-4)
    results.save(tmp_path / "fit")
    some = pd.concat([new, made.head(3)])
    for asked in (new, some):
        again = sgmc.load(tmp_path / "fit").predict(asked, **how)
        np.testing.assert_array_equal(again, results.predict(asked, **how))


def predicted(results, new):
    """Means, their table and simulated outcomes."""
    how = dict(new_levels="sample")
    table = results.get_prediction(new, **how).summary_frame()
    return results.predict(new, **how), table, results.posterior_predict(new, draws=9, **how)


def test_a_time_limit_leaves_draws_of_the_approximation(frame):
    found = fit(frame, time_limit=0.001)
    assert found.stand_in and not found.verdict.trustworthy


def test_weights_repeat_rows(frame):
    """Two fits of one posterior: the same numbers but for rounding of sums, whatever the rows."""
    frame = frame.head(200)
    twice = pd.concat([frame, frame])
    one = fit(frame.assign(w=2.0), weights="w", draws=50)
    other = fit(twice, draws=50)
    np.testing.assert_allclose(one.draws[:, :5], other.draws[:, :5], rtol=1e-6)


def gamma(formula, frame, **how):
    """A verb."""
    return sgmc.glm(formula, frame, family="gamma", link="log", **how)


@pytest.mark.extended("cloglog")  # whose rows go as those of probit
@pytest.mark.parametrize(
    "verb, outcome",
    [
        (sgmc.probit, lambda y, rng: y),
        (sgmc.cloglog, lambda y, rng: y),
        (sgmc.rlm, lambda y, rng: y + rng.standard_t(4, len(y))),
        (gamma, lambda y, rng: np.exp(y) * rng.gamma(2, size=len(y))),
        (sgmc.negativebinomial, lambda y, rng: rng.poisson(1 + y)),
    ],
    ids=["probit", "cloglog", "rlm", "gamma", "negativebinomial"],
)
def test_every_family_is_fitted(frame, verb, outcome):
    rng = np.random.default_rng(2)
    found = fit(frame.assign(y=outcome(frame["y"].to_numpy(), rng)), verb=verb, draws=200)
    assert found.rhat().max() < 1.1 and np.isfinite(found.params).all()


@pytest.mark.extended  # a minute
def test_three_factors_and_nested_ones(frame):
    """A third factor, within the first, and a slope."""
    more = frame.assign(k=frame["g"] * 3 + np.arange(len(frame)) % 3)
    found = fit(more, "y ~ x + (1 + x | g) + (1 | h) + (1 | k)")
    assert [one for one in found.names if "(" in one] == [
        "sd(1|g)", "sd(x|g)", "sd(1|h)", "sd(1|k)", "cor(1,x|g)",
    ]  # fmt: skip
    assert found.cov_re.shape == (4, 4) and len(found.random_effects) == 3
